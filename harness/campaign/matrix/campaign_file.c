#include "campaign_file.h"
#include "schema.h"
#include "slurm_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"

#define DAY_S 86400.0
#define EXTENDS_MAX 32
#define FILE_MAX ((size_t)4 << 20)
#define THRESHOLD 0.05
#define TEMPERATURE_K 3.0
#define POWER 0.05
#define LIMIT_S 300.0

const struct schema_key campaign_schema[] = {
	KEY("name", "string", "folder of the campaign below the campaigns' folder"),
	KEY("extends", "words", "campaign files that this one changes"),
	KEY("vars", "map of strings", "{var.NAME} in texts of the configuration"),
	KEY("models", "any", "names, paths, or maps of what stands under model:"),
	KEY("axes", "any", "a configuration path and its values; a map as value is a zip"),
	KEY("zip", "any", "lists of axes whose values go together"),
	KEY("exclude", "any", "cells that are left out"),
	KEY("include", "any", "values that are added to cells, or cells of their own"),
	KEY("repeat", "int", "how many runs each cell has", .def = "5", .min = 1,
	    .max = CAMPAIGN_REPEAT_MAX),
	KEY("order", "string", "of the runs: blocks there and back, at random, or cell by cell",
	    .def = "interleaved", .choices = "interleaved|random|sequential"),
	KEY("seed", "int", "of a random order", .def = "1", .min = 0, .max = 1e15),
	KEY("baseline", "any", "values of axes; cells are compared with the cell that has them"),
	KEY("gate", "list of maps", "metrics that must not get worse", .shorthand = "metric"),
	KEY("gate[].metric", "string", "its name", .required = true),
	KEY("gate[].threshold", "string", "by how much it may change, such as 5%", .def = "5%"),
	KEY("metrics", "words", "which metrics are compared"),
	KEY("cooldown", "map", "pause between two runs: a time, or what it waits for",
	    .shorthand = "seconds"),
	KEY("cooldown.seconds", "seconds", "the least", .def = "0", .max = DAY_S),
	KEY("cooldown.temperature", "float", "K above what it was before the first run", .def = "3",
	    .min = 0.1, .max = 100),
	KEY("cooldown.power", "string", "share above what it was before the first run",
	    .def = "5%"),
	KEY("cooldown.limit", "seconds", "then the next run begins all the same", .def = "5m",
	    .min = 1, .max = DAY_S),
	KEY("budget", "seconds", "no block begins after this time", .max = 365 * DAY_S),
	KEY("budget_runs", "int", "no block begins after so many runs", .min = 1, .max = 1e9),
	KEY("retry", "map", "which failed runs are made again"),
	KEY("retry.infrastructure", "int", "how often after failures of the machine", .def = "3",
	    .min = 0, .max = 100),
	KEY("retry.workload", "int", "how often after failures of the workload named in `on`",
	    .def = "1", .min = 0, .max = 100),
	KEY("retry.invalid", "int", "how often when the processor was throttled", .def = "2",
	    .min = 0, .max = 100),
	KEY("retry.on", "words", "exit, signal, timeout, oom, output"),
	KEY("stop_when", "map", "end before `repeat` blocks, once each cell's mean is known"),
	KEY("stop_when.metric", "string", "of what", .def = "duration"),
	KEY("stop_when.within", "string", "half of the interval", .def = "2%"),
	KEY("stop_when.first", "int", "blocks before the first look", .def = "10", .min = 3,
	    .max = CAMPAIGN_REPEAT_MAX),
	KEY("steps", "any", "commands of profrig, as lists of words, once the runs are done"),
	KEY("slots", "any", "maps of keys (gpus, cpus, env): a block runs in each, side by side"),
	KEY("scheduler", "string", "where runs are made", .def = "local", .choices = "local|slurm"),
	KEY("slurm", "any", "how jobs are submitted"),
	KEY("analyze", "bool", "analyse each run when it has ended", .def = "true"),
	{ 0 },
};

FIELD_TABLE(source_fields, TEXT_FIELDS(struct campaign_source, path, text));
FIELD_TABLE(sources_fields, FIELD_VEC(struct campaign_sources, v, source_fields));
FIELD_TABLE(entry_fields, TEXT_FIELDS(struct campaign_model_entry, word, label),
	    WORDS_FIELDS(struct campaign_model_entry, left_out));
FIELD_TABLE(gate_fields, TEXT_FIELDS(struct campaign_gate, metric));
FIELD_TABLE(step_fields, WORDS_FIELDS(struct campaign_step, words));
FIELD_TABLE(file_fields, TEXT_FIELDS(struct campaign_file, path, dir, name, scheduler, stop.metric),
	    FIELD_VEC(struct campaign_file, steps, step_fields),
	    FIELD_VEC(struct campaign_file, models, entry_fields),
	    FIELD_VEC(struct campaign_file, gates, gate_fields),
	    WORDS_FIELDS(struct campaign_file, metrics, retry.on));

void campaign_sources_release(struct campaign_sources *s)
{
	fields_release(s, sources_fields);
}

void campaign_file_release(struct campaign_file *f)
{
	for (size_t i = 0; i < f->models.nr; i++)
		free(f->models.v[i].recorded_tree);
	matrix_release(&f->matrix);
	cfg_release(&f->run);
	cfg_release(&f->tree);
	campaign_sources_release(&f->sources);
	fields_release(f, file_fields);
}

/* ---- files ---- */

struct reading {
	struct campaign_file *f;
	const struct campaign_sources *given;
	struct strvec open; /* paths that are being read: one again is a cycle */
	struct problems *p;
	struct err *err;
};

static int source_read(struct reading *rd, const char *path, struct campaign_source *ret)
{
	*ret = (struct campaign_source){ .path = xstrdup(path) };
	if (!rd->given)
		return fs_read(path, FILE_MAX, &ret->text, &ret->n, rd->err);
	for (size_t i = 0; i < rd->given->v.nr; i++) {
		const struct campaign_source *s = &rd->given->v.v[i];

		if (strcmp(s->path, path) != 0)
			continue;
		ret->text = xmemdup(s->text, s->n + 1);
		ret->n = s->n;
		return 0;
	}
	return err_set(rd->err, ENOENT, "the campaign's folder has no copy of '%s'", path);
}

static int tree_read(struct reading *rd, const char *path, struct cfg *ret);

/* The files that a tree extends, in their order, below it. */
static int bases_read(struct reading *rd, const char *path, const struct cfg *c, struct cfg *to)
{
	const struct cfg_node *list = cfg_get(c->root, "extends");
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = fs_dir(path);
	int r = 0;

	if (!list || list->kind == CFG_NULL)
		return 0;
	if (list->kind == CFG_SEQ)
		cfg_words(c->root, "extends", &words);
	else if (list->s)
		strvec_split(&words, list->s, ",");
	for (size_t i = 0; r == 0 && i < words.nr; i++) {
		CLEANUP(xfreep) char *joined = fs_join(dir, words.v[i] + strspn(words.v[i], " "));
		CLEANUP(xfreep) char *base = fs_abs(joined);
		struct cfg one;

		if (strvec_has(&rd->open, base)) {
			CLEANUP(xfreep) char *ring = strvec_join(&rd->open, " → ");

			cfg_problem(rd->p, list, "extends goes round: %.2000s → %s", ring, base);
			return 0;
		}
		cfg_init(&one);
		r = tree_read(rd, base, &one);
		if (r < 0)
			cfg_problem(rd->p, list, "extends: %s", rd->err->msg);
		else if (one.root)
			cfg_merge(to, &one);
		cfg_release(&one);
	}
	return r;
}

static int tree_read(struct reading *rd, const char *path, struct cfg *ret)
{
	struct campaign_source s;
	struct err why = ERR_INIT;
	struct cfg own;
	int r;

	if (rd->f->sources.v.nr >= EXTENDS_MAX)
		return err_set(rd->err, E2BIG, "more than %d files", EXTENDS_MAX);
	r = source_read(rd, path, &s);
	if (r < 0) {
		free(s.path);
		return r;
	}
	VEC_PUSH(&rd->f->sources.v, s);
	strvec_push(&rd->open, path);
	cfg_init(&own);
	cfg_parse_text(&own, s.text, s.n, path, text_suffix(path, ".json"), LAYER_FILE, &why);
	if (!own.root)
		cfg_problem(rd->p, NULL, "%s", why.msg);
	for (size_t i = 0; i < own.problems.lines.nr; i++)
		cfg_problem(rd->p, NULL, "%s", own.problems.lines.v[i]);
	if (own.root) {
		r = bases_read(rd, path, &own, ret);
		cfg_merge(ret, &own);
	}
	cfg_release(&own);
	strvec_remove(&rd->open, rd->open.nr - 1);
	return r;
}

/* ---- keys ---- */

static bool is_top_key(const struct schema_key *table, const char *key)
{
	for (; table->path; table++)
		if (!strcmp(table->path, key))
			return true;
	return false;
}

static void key_unknown(const struct cfg_node *n, struct problems *p)
{
	const char *names[512];
	size_t nr = 0;
	CLEANUP(xfreep) char *hint = NULL;

	for (const struct schema_key *k = campaign_schema; k->path && nr < 511; k++)
		if (!strpbrk(k->path, ".["))
			names[nr++] = k->path;
	for (const struct schema_key *k = schema_table; k->path && nr < 511; k++)
		if (!strpbrk(k->path, ".["))
			names[nr++] = k->path;
	names[nr] = NULL;
	hint = cfg_hint(n->key, names, "");
	cfg_problem(p, n, "unknown key '%.80s'%s", n->key, hint);
}

/* Keys of the campaign stay in `tree`, those of runs go to `run`. */
static void keys_split(struct campaign_file *f, struct cfg *tree, struct problems *p)
{
	struct cfg own = { .root = NULL };

	cfg_init(&own);
	cfg_parse_text(&own, "", 0, f->path, false, LAYER_FILE, NULL);
	cfg_parse_text(&f->run, "", 0, f->path, false, LAYER_FILE, NULL);
	CFG_EACH(n, tree->root, CFG_MAP) {
		if (is_top_key(campaign_schema, n->key))
			cfg_assign(&own, n->key, n, NULL);
		else if (is_top_key(schema_table, n->key))
			cfg_assign(&f->run, n->key, n, NULL);
		else
			key_unknown(n, p);
	}
	f->tree = own;
}

static void name_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *n = cfg_get(f->tree.root, "name");

	if (!n || !n->s)
		cfg_problem(p, n ? n : f->tree.root,
			    "a campaign needs a name: 'name: my-campaign'");
	else if (!schema_file_name(n->s) || strlen(n->s) > 100)
		cfg_problem(p, n,
			    "name '%.100s': letters, digits, '.', '_' and '-' alone, at most 100, "
			    "without '.' or '-' in front",
			    n->s);
	else
		f->name = xstrdup(n->s);
}

static char *word_base(const char *word)
{
	CLEANUP(xfreep) char *copy = xstrdup(word);
	size_t n = strlen(copy);

	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = 0;
	if (text_suffix(copy, "/profrig.yaml"))
		copy[n - strlen("/profrig.yaml")] = 0;
	return xstrdup(fs_base(copy));
}

/* A recorded configuration counts as a model's own, below that of files. */
static void layer_set(struct cfg_node *n, enum cfg_layer layer)
{
	n->layer = layer;
	for (size_t i = 0; i < n->nr; i++)
		layer_set(n->child[i], layer);
}

static void recorded_read(struct campaign_model_entry *m, struct problems *p)
{
	const struct cfg_node *n = cfg_get(m->node, "recorded"), *mad = cfg_get(n, "mad_model");
	struct cfg_node *tree = cfg_get(n, "configuration");

	if (!n)
		return;
	if (!tree || tree->kind != CFG_MAP || m->node->nr != 2) {
		cfg_problem(p, n, "'recorded' wants a configuration, and 'name' alone beside it");
		return;
	}
	layer_set(tree, LAYER_MODEL);
	cfg_words(n, "left_out", &m->left_out);
	m->recorded_tree = xcalloc(1, sizeof(*m->recorded_tree));
	m->recorded_tree->root = tree;
	m->recorded =
		(struct runconf_replay){ .tree = m->recorded_tree,
					 .mad_model = mad && mad->kind == CFG_BOOL && mad->b };
}

static void model_add(struct campaign_file *f, const struct cfg_node *n, struct problems *p)
{
	struct campaign_model_entry m = { .left_out = STRVEC_INIT };

	if (n->kind == CFG_MAP) {
		const char *name = cfg_text(n, "name");

		if (!name) {
			cfg_problem(p, n, "a model that is a map needs a name");
			return;
		}
		m.node = n;
		m.label = xstrdup(name);
		recorded_read(&m, p);
	} else if (n->s && *n->s) {
		CLEANUP(xfreep) char *dir = n->file ? fs_dir(n->file) : xstrdup(".");
		CLEANUP(xfreep) char *path = fs_join(dir, n->s);

		m.word = xstrdup(fs_exists(path) ? path : n->s);
		m.label = word_base(n->s);
	} else {
		cfg_problem(p, n, "a model is a name, a path, or a map");
		return;
	}
	for (size_t i = 0; i < f->models.nr; i++)
		if (!strcmp(f->models.v[i].label, m.label)) {
			cfg_problem(p, n, "two models are called '%s'", m.label);
			break;
		}
	VEC_PUSH(&f->models, m);
}

/* Without `models` the one of `model:`. */
static void models_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *list = cfg_get(f->tree.root, "models");
	const struct cfg_node *model = cfg_get(f->run.root, "model");
	const char *name = cfg_text(model, "name");

	CFG_EACH(n, list, CFG_SEQ)
		model_add(f, n, p);
	if (list && list->kind != CFG_SEQ && list->kind != CFG_NULL)
		model_add(f, list, p);
	/* they do not move any more */
	for (size_t i = 0; i < f->models.nr; i++)
		f->models.v[i].recorded.left_out = &f->models.v[i].left_out;
	if (f->models.nr)
		return;
	if (cfg_get(model, "command"))
		VEC_PUSH(&f->models,
			 ((struct campaign_model_entry){ .label = xstrdup(name ? name : "model"),
							 .left_out = STRVEC_INIT }));
	else if (!p->lines.nr)
		cfg_problem(p, list ? list : f->tree.root,
			    "no model: name some, 'models: [examples/mlp]'");
}

static bool percent_read(const char *s, double *ret)
{
	size_t n = strlen(s);
	bool percent = n && s[n - 1] == '%';

	if (num_f64(s, n - percent, ret) < 0 || !isfinite(*ret))
		return false;
	*ret /= percent ? 100 : 1;
	return *ret > 0 && *ret < 10;
}

static void gates_read(struct campaign_file *f, struct problems *p)
{
	CFG_EACH(n, cfg_get(f->tree.root, "gate"), CFG_SEQ) {
		const char *metric = cfg_text(n, "metric"), *t = cfg_text(n, "threshold");
		struct campaign_gate g = { .threshold = THRESHOLD };

		if (!metric)
			continue;
		if (t && !percent_read(t, &g.threshold))
			cfg_problem(p, n, "threshold '%.40s': want a share such as 5%%", t);
		g.metric = xstrdup(metric);
		VEC_PUSH(&f->gates, g);
	}
	if (f->gates.nr && !f->baseline)
		cfg_problem(p, cfg_get(f->tree.root, "gate"),
			    "a gate needs a baseline: which cells are the others compared with?");
}

static void baseline_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *b = cfg_get(f->tree.root, "baseline");

	if (!b || b->kind == CFG_NULL)
		return;
	if (b->kind != CFG_MAP || b->nr == 0) {
		cfg_problem(p, b, "'baseline' wants a map of axes and values");
		return;
	}
	f->baseline = b;
	CFG_EACH(n, b, CFG_MAP) {
		bool known = f->models.nr > 1 && !strcmp(n->key, "model");

		for (size_t i = 0; i < f->matrix.axes.nr; i++)
			known |= !strcmp(f->matrix.axes.v[i].path, n->key);
		CFG_EACH(entry, f->matrix.include, CFG_SEQ)
			known |= cfg_get(entry, n->key) != NULL;
		if (!known)
			cfg_problem(p, n, "baseline names '%.80s', which is no axis", n->key);
	}
}

static int64_t int_at(const struct cfg_node *root, const char *path, int64_t otherwise)
{
	const struct cfg_node *n = cfg_path(root, path);

	return n && n->kind == CFG_INT ? n->i : otherwise;
}

static double seconds_at(const struct cfg_node *root, const char *key)
{
	const struct cfg_node *n = cfg_get(root, key);
	double s;

	return n && n->kind != CFG_NULL && schema_seconds(n, &s) == 0 ? s : 0;
}

static void words_at(const struct cfg_node *root, const char *path, struct strvec *to)
{
	const struct cfg_node *n = cfg_path(root, path);

	if (n && n->kind == CFG_STR)
		strvec_split(to, n->s, ", ");
	CFG_EACH(one, n, CFG_SEQ)
		if (one->s)
			strvec_push(to, one->s);
}

/* One that the file has not is as long as the pause at least. */
static void steady_limit_read(struct campaign_file *f, const struct cfg_node *n, struct problems *p)
{
	double limit = seconds_at(n, "limit");

	f->steady_rule.limit_s = limit > 0 ? limit : fmax(LIMIT_S, f->cooldown_s);
	if (f->steady_rule.limit_s < f->cooldown_s)
		cfg_problem(p, n, "cooldown.limit is less than cooldown.seconds");
}

static void cooldown_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *n = cfg_get(f->tree.root, "cooldown"), *k;
	const char *power = cfg_text(n, "power");

	if (!n || n->kind != CFG_MAP) {
		f->cooldown_s = seconds_at(f->tree.root, "cooldown");
		return;
	}
	f->steady = true;
	f->cooldown_s = seconds_at(n, "seconds");
	f->steady_rule = (struct steady_rule){ TEMPERATURE_K, POWER, LIMIT_S };
	k = cfg_get(n, "temperature");
	if (k && k->kind != CFG_NULL)
		f->steady_rule.temperature_k = k->f;
	if (power && !percent_read(power, &f->steady_rule.power))
		cfg_problem(p, n, "cooldown.power '%.40s': want a share such as 5%%", power);
	steady_limit_read(f, n, p);
	if (f->slots && f->slots->nr > 1)
		cfg_problem(p, n,
			    "cooldown waits for an idle machine, which it is not beside other "
			    "slots: 'cooldown: 10s' is a time alone");
	if (strcmp(f->scheduler, "local") != 0)
		cfg_problem(p, n, "cooldown waits for this machine, and runs are made by %s",
			    f->scheduler);
}

static void retry_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *root = f->tree.root, *on = cfg_path(root, "retry.on");

	words_at(root, "retry.on", &f->retry.on);
	for (size_t i = 0; i < f->retry.on.nr; i++)
		if (!text_in_list("exit,signal,timeout,oom,output", ',', f->retry.on.v[i]))
			cfg_problem(p, on,
				    "retry.on '%.40s': want exit, signal, timeout, oom or output",
				    f->retry.on.v[i]);
	f->retry.infrastructure = (unsigned)int_at(root, "retry.infrastructure", 3);
	f->retry.invalid = (unsigned)int_at(root, "retry.invalid", 2);
	f->retry.workload = f->retry.on.nr ? (unsigned)int_at(root, "retry.workload", 1) : 0;
}

static void slots_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *n = cfg_get(f->tree.root, "slots");

	if (!n || n->kind == CFG_NULL)
		return;
	if (n->kind != CFG_SEQ || n->nr == 0)
		cfg_problem(p, n,
			    "'slots' wants a list of maps such as [{gpus: \"0\"}, {gpus: \"1\"}]");
	else if (n->nr > CAMPAIGN_SLOTS_MAX)
		cfg_problem(p, n, "more than %d slots", CAMPAIGN_SLOTS_MAX);
	else
		f->slots = n;
	CFG_EACH(slot, n, CFG_SEQ)
		if (slot->kind != CFG_MAP || slot->nr == 0)
			cfg_problem(p, slot, "a slot is a map of keys of a run's configuration");
}

static void slurm_check(const struct campaign_file *f, struct problems *p)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;

	slurm_settings_init(&s);
	slurm_settings_read(cfg_get(f->tree.root, "slurm"), &s, p);
	if (f->slots && !strcmp(f->scheduler, "slurm"))
		cfg_problem(p, f->slots,
			    "'slots' are of the local scheduler: slurm.max_running "
			    "and slurm.gpus_per_node say the same there");
}

static void stop_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *n = cfg_get(f->tree.root, "stop_when");
	const char *metric = cfg_text(n, "metric"), *within = cfg_text(n, "within");

	if (!n || n->kind == CFG_NULL)
		return;
	f->stop = (struct campaign_stop){ .metric = xstrdup(metric ? metric : "duration"),
					  .within = 0.02,
					  .first = (uint32_t)int_at(n, "first", 10) };
	if (within && !percent_read(within, &f->stop.within))
		cfg_problem(p, n, "stop_when.within '%.40s': want a share such as 2%%", within);
	if (f->order == ORDER_SEQUENTIAL)
		cfg_problem(p, n, "stop_when counts blocks: with order: sequential there are none");
	if (strchr(f->stop.metric, '.'))
		cfg_problem(p, n, "stop_when.metric: a metric of the run, not of a table");
}

static void steps_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *list = cfg_get(f->tree.root, "steps");

	if (list && list->kind != CFG_SEQ && list->kind != CFG_NULL)
		cfg_problem(p, list, "'steps' wants lists of words: [[compare, \"{dir}\"]]");
	CFG_EACH(n, list, CFG_SEQ) {
		struct campaign_step s = { .words = STRVEC_INIT };

		CFG_EACH(word, n, CFG_SEQ)
			if (word->s)
				strvec_push(&s.words, word->s);
		if (!s.words.nr)
			cfg_problem(p, n, "a step is a list of words: [compare, \"{dir}\"]");
		VEC_PUSH(&f->steps, s);
	}
}

static void members_read(struct campaign_file *f, struct problems *p)
{
	const struct cfg_node *root = f->tree.root, *analyze;
	const char *order = cfg_text(root, "order"), *scheduler = cfg_text(root, "scheduler");

	name_read(f, p);
	models_read(f, p);
	matrix_read(&f->matrix, root, p);
	f->repeat = (uint32_t)int_at(root, "repeat", 5);
	if (order)
		run_order_parse(order, &f->order);
	f->seed = (uint64_t)int_at(root, "seed", 1);
	baseline_read(f, p);
	gates_read(f, p);
	words_at(root, "metrics", &f->metrics);
	f->budget_s = seconds_at(root, "budget");
	f->budget_runs = (uint64_t)int_at(root, "budget_runs", 0);
	retry_read(f, p);
	slots_read(f, p);
	stop_read(f, p);
	steps_read(f, p);
	f->scheduler = xstrdup(scheduler ? scheduler : "local");
	slurm_check(f, p);
	cooldown_read(f, p);
	analyze = cfg_get(root, "analyze");
	f->analyze = !analyze || analyze->kind != CFG_BOOL || analyze->b;
}

void campaign_slot_config(const struct campaign_file *f, size_t slot, struct cfg *given)
{
	if (!f->slots || slot >= f->slots->nr)
		return;
	if (!given->root)
		cfg_parse_text(given, "", 0, f->path, false, LAYER_CLI, NULL);
	CFG_EACH(n, f->slots->child[slot], CFG_MAP)
		cfg_assign(given, n->key, n, NULL);
}

size_t campaign_nodes(const struct campaign_file *f)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	struct problems ignored = PROBLEMS_INIT;
	size_t nodes = 1;

	slurm_settings_init(&s);
	if (f->scheduler && !strcmp(f->scheduler, "slurm")) {
		slurm_settings_read(cfg_get(f->tree.root, "slurm"), &s, &ignored);
		nodes = slurm_run_nodes(&s);
	}
	problems_release(&ignored);
	return nodes;
}

int campaign_file_read(const char *path, const struct campaign_sources *given,
		       struct campaign_file *ret, struct problems *problems, struct err *err)
{
	struct reading rd = { ret, given, STRVEC_INIT, problems, err };
	struct cfg all;
	size_t before = problems->lines.nr;
	int r;

	*ret = (struct campaign_file){ .metrics = STRVEC_INIT };
	fields_init(ret, file_fields);
	cfg_init(&ret->tree);
	cfg_init(&ret->run);
	cfg_init(&all);
	ret->path = fs_abs(path);
	ret->dir = fs_dir(ret->path);
	r = tree_read(&rd, ret->path, &all);
	strvec_release(&rd.open);
	if (r == 0 && all.root) {
		keys_split(ret, &all, problems);
		schema_expand(&ret->tree, campaign_schema);
		schema_check(ret->tree.root, campaign_schema, problems);
		if (problems->lines.nr == before)
			members_read(ret, problems);
	}
	cfg_release(&all);
	if (problems->lines.nr > before)
		return -EINVAL;
	return r;
}
