/* campaign plan: cells, order, time and power of a campaign, without a run. campaign init. */
#include "campaign_dir.h"
#include "campaign_drive.h"
#include "campaign_power.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/table.h"

#define ORDER_SHOWN 24
#define CELLS_SHOWN 40

struct planning {
	const struct command *c;
	const char *campaigns;
	long max_cells;
	bool json, commands;
	struct run_options o;
	struct campaign_file file;
	struct cells cells;
	char *dir; /* where it would be */
	/* of an earlier campaign of this name, by cell; NAN unknown */
	double *mean_s;
	double cv; /* of its runs; NAN unknown */
};

/* ---- history ---- */

static size_t seconds_of(const struct campaign_job *j, const char *id, double *ret, size_t max)
{
	size_t nr = 0;

	for (uint32_t k = 1; k <= j->plan.repeat && nr < max; k++) {
		struct attempt_name name;
		const struct run_state *r;

		attempt_name_make(id, k, 0, &name);
		r = campaign_state_find(&j->state, name.run);
		if (r && r->stage == RUN_COMMITTED && r->ended_ns > r->begun_ns)
			ret[nr++] = (double)(r->ended_ns - r->begun_ns) / 1e9;
	}
	return nr;
}

/* Of logarithms: what the verdicts' model means by it. */
static void history_add(struct planning *p, size_t cell, const double *s, size_t nr,
			double *squares, size_t *df)
{
	double mean = 0, logs = 0;

	for (size_t i = 0; i < nr; i++) {
		mean += s[i] / (double)nr;
		logs += log(s[i]) / (double)nr;
	}
	p->mean_s[cell] = nr ? mean : NAN;
	for (size_t i = 0; nr > 1 && i < nr; i++)
		*squares += (log(s[i]) - logs) * (log(s[i]) - logs);
	*df += nr > 1 ? nr - 1 : 0;
}

static void history_find(struct planning *p)
{
	struct run_options o;
	struct campaign_job j;
	double s[1000], squares = 0;
	size_t df = 0;

	p->mean_s = xcalloc(p->cells.v.nr, sizeof(*p->mean_s));
	p->cv = NAN;
	for (size_t i = 0; i < p->cells.v.nr; i++)
		p->mean_s[i] = NAN;
	run_options_init(&o);
	if (campaign_job_look(p->dir, &o, false, &j, NULL) == 0) {
		for (size_t i = 0; i < p->cells.v.nr; i++)
			history_add(p, i, s, seconds_of(&j, p->cells.v.v[i].id, s, ARRAY_LEN(s)),
				    &squares, &df);
		campaign_job_close(&j);
	}
	run_options_release(&o);
	if (df)
		p->cv = sqrt(squares / (double)df);
}

/* Of all runs; NAN: of some cell nothing is known. */
static double seconds_all(const struct planning *p)
{
	double all = 0;

	for (size_t i = 0; i < p->cells.v.nr; i++)
		all += p->mean_s[i] * p->file.repeat + p->file.cooldown_s * p->file.repeat;
	return all / (p->file.slots ? (double)p->file.slots->nr : 1);
}

/* ---- power ---- */

static size_t pairs_of(const struct planning *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->cells.v.nr; i++)
		n += p->cells.v.v[i].baseline != CELL_NONE;
	return n;
}

static void power_find(const struct planning *p, const struct campaign_gate *g,
		       struct campaign_power *ret)
{
	const struct campaign_power_case of = { .metric = g->metric,
						.threshold = g->threshold,
						.sequential = p->file.order == ORDER_SEQUENTIAL,
						.repeat = p->file.repeat,
						.cv = p->cv,
						.tests = pairs_of(p) * p->file.gates.nr };

	campaign_power_find(&of, ret);
}

static void power_print(const struct planning *p)
{
	for (size_t i = 0; i < p->file.gates.nr; i++) {
		CLEANUP(xfreep) char *words = NULL;
		struct campaign_power w;

		if (!pairs_of(p)) {
			printf("gate on %s: no cell is compared with a baseline\n",
			       p->file.gates.v[i].metric);
			continue;
		}
		power_find(p, &p->file.gates.v[i], &w);
		words = campaign_power_words(&w);
		printf("%s\n", words);
	}
	if (p->file.repeat < 3 && p->file.baseline)
		printf("with fewer than 3 repeats every verdict is 'unclear'\n");
}

/* ---- printing ---- */

static void cells_print(const struct planning *p)
{
	struct table *t = table_of_texts("cells", "cell", "label", "compared with", "mean", "");
	char mean[32];

	for (size_t i = 0; i < p->cells.v.nr && i < CELLS_SHOWN; i++) {
		const struct cell *c = &p->cells.v.v[i];

		if (!isnan(p->mean_s[i]))
			cli_si(p->mean_s[i], "s", mean);
		table_texts(t, c->id, c->label,
			    c->is_baseline             ? "(baseline)"
			    : c->baseline == CELL_NONE ? ""
						       : p->cells.v.v[c->baseline].id,
			    isnan(p->mean_s[i]) ? "" : mean, "");
	}
	table_write_text(t, stdout, 0, 0);
	table_free(t);
	if (p->cells.v.nr > CELLS_SHOWN)
		printf("… and %zu more cells\n", p->cells.v.nr - CELLS_SHOWN);
}

static void order_print(const struct planning *p)
{
	struct order o;

	order_make((uint32_t)p->cells.v.nr, p->file.repeat, p->file.order, p->file.seed, &o);
	printf("order (%s):", run_order_name(p->file.order));
	for (size_t i = 0; i < o.runs.nr && i < ORDER_SHOWN; i++) {
		if (i && o.runs.v[i].block != o.runs.v[i - 1].block)
			printf(" |");
		printf(" %u", o.runs.v[i].cell + 1);
	}
	printf(o.runs.nr > ORDER_SHOWN ? " …\n" : "\n");
	order_release(&o);
}

/* The words of a cell's run, with the variables that its axes set. Owned. */
static char *command_of(struct planning *p, struct cell *c)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct prepared *ready = cell_ready(&p->o, &p->cells, c, NULL);

	for (size_t i = 0; i < c->axes->sets.nr; i++)
		if (!strncmp(c->axes->sets.v[i].path, "env.", 4) && c->axes->sets.v[i].value->s) {
			strbuf_addf(&sb, "%s=", c->axes->sets.v[i].path + 4);
			strbuf_add_shell(&sb, c->axes->sets.v[i].value->s);
			strbuf_addch(&sb, ' ');
		}
	for (size_t i = 0; ready && i < ready->plan.steps.nr; i++)
		if (ready->plan.steps.v[i].kind == STEP_WORKLOAD) {
			CLEANUP(xfreep) char *words = strvec_shell(&ready->plan.steps.v[i].argv);

			strbuf_addstr(&sb, words);
		}
	return strbuf_steal(&sb);
}

static void commands_print(struct planning *p)
{
	for (size_t i = 0; i < p->cells.v.nr; i++) {
		CLEANUP(xfreep) char *command = command_of(p, &p->cells.v.v[i]);

		printf("%s  %s\n", p->cells.v.v[i].id, command);
	}
}

static void plan_text(struct planning *p)
{
	double s = seconds_all(p);
	char time[32];

	printf("campaign %s: %zu cells × %" PRIu32 " repeats = %" PRIu64 " runs, in %s\n",
	       p->file.name, p->cells.v.nr, p->file.repeat,
	       (uint64_t)p->cells.v.nr * p->file.repeat, p->dir);
	cells_print(p);
	order_print(p);
	if (isnan(s))
		printf("time: unknown until each cell has run once\n");
	else
		printf("time: about %s, by earlier runs of these cells\n", cli_si(s, "s", time));
	power_print(p);
	if (p->commands)
		commands_print(p);
	else
		printf("--commands prints the exact command of each cell\n");
}

static void gates_json(const struct planning *p, struct json_out *j)
{
	json_arr(j, "gates");
	for (size_t i = 0; i < p->file.gates.nr; i++) {
		struct campaign_power w;

		power_find(p, &p->file.gates.v[i], &w);
		json_obj(j, NULL);
		json_str(j, "metric", p->file.gates.v[i].metric);
		json_f64(j, "threshold", p->file.gates.v[i].threshold);
		json_str(j, "method", p->file.order == ORDER_SEQUENTIAL ? "welch" : "paired");
		json_u64(j, "n", p->file.repeat);
		json_u64(j, "tests", w.of.tests);
		json_f64(j, "cv", w.cv);
		json_bool(j, "cv_measured", !isnan(p->cv));
		json_f64(j, "confidence", CAMPAIGN_CONFIDENCE);
		json_f64(j, "power_slower_10", w.slower);
		json_f64(j, "power_same", w.same);
		json_end(j);
	}
	json_end(j);
}

static void plan_json(struct planning *p)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "name", p->file.name);
	json_str(&j, "dir", p->dir);
	json_u64(&j, "repeat", p->file.repeat);
	json_u64(&j, "runs", (uint64_t)p->cells.v.nr * p->file.repeat);
	json_str(&j, "order", run_order_name(p->file.order));
	json_u64(&j, "seed", p->file.seed);
	json_f64(&j, "estimated_s", seconds_all(p));
	json_arr(&j, "cells");
	for (size_t i = 0; i < p->cells.v.nr; i++) {
		struct cell *c = &p->cells.v.v[i];
		CLEANUP(xfreep) char *command = command_of(p, c);

		json_obj(&j, NULL);
		json_str(&j, "id", c->id);
		json_str(&j, "label", c->label);
		json_str(&j, "model", c->model->label);
		json_bool(&j, "is_baseline", c->is_baseline);
		json_str(&j, "baseline",
			 c->baseline == CELL_NONE ? NULL : p->cells.v.v[c->baseline].id);
		json_f64(&j, "mean_s", p->mean_s[i]);
		json_str(&j, "command", command);
		json_raw(&j, "config", c->config);
		json_end(&j);
	}
	json_end(&j);
	gates_json(p, &j);
	json_end(&j);
	putchar('\n');
}

/* ---- the command ---- */

static int plan_make_all(struct planning *p, const char *path)
{
	CLEANUP(xfreep) char *campaigns = fs_abs(p->campaigns);
	CLEANUP(xfreep) char *runs = NULL;
	struct problems problems = PROBLEMS_INIT;
	struct said said = SAID_INIT;
	struct err err = ERR_INIT;
	int r = campaign_file_read(path, NULL, &p->file, &problems, &err), code;

	if (r == 0) {
		p->dir = fs_join(campaigns, p->file.name);
		runs = fs_join(p->dir, "runs");
		p->o.runs_dir = runs;
		r = cells_make(&p->o, &p->file, (uint64_t)p->max_cells, &p->cells, &problems, &said,
			       &err);
	}
	if (r == 0)
		r = cells_identify(&p->cells, campaigns, &cli_interrupt, &problems, &err);
	code = problems.lines.nr ? EXIT_CONFIG
	       : r == -ENOENT    ? EXIT_UNREADABLE
	       : r < 0           ? EXIT_CONFIG
				 : EXIT_DONE;
	cli_said(&said);
	cli_problems(&problems);
	if (r < 0 && !problems.lines.nr)
		log_error("%s", err.msg);
	if (code == EXIT_DONE) {
		history_find(p);
		if (p->json)
			plan_json(p);
		else
			plan_text(p);
	}
	said_release(&said);
	problems_release(&problems);
	p->o.runs_dir = "runs";
	return code;
}

static int plan_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	struct planning p = { .c = c,
			      .campaigns = CAMPAIGNS_DIR,
			      .max_cells = (long)MATRIX_CELLS_MAX,
			      .cells = CELLS_INIT };
	int code;

	run_options_init(&p.o);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &p.campaigns, "DIR",
		  "folder of campaigns (./campaigns)" },
		{ "set", 0, OPT_LIST, &p.o.conf.sets, "KEY=VALUE",
		  "set one value of all runs, such as model.timeout=60" },
		{ "tools-dir", 0, OPT_LIST, &p.o.tools_dirs, "DIR",
		  "look for tools here first (repeatable)" },
		{ "max-cells", 0, OPT_INT, &p.max_cells, "N", "allow so many cells (10000)" },
		{ "commands", 0, OPT_FLAG, &p.commands, NULL, "the exact command of each cell" },
		{ 0 },
	};
	code = cli_parse(c, opts, &p.json, argc, argv, &operands, NULL);
	if (code < 0 && operands.nr != 1)
		code = cli_usage(c, "name one campaign file");
	if (code < 0 && p.max_cells < 1)
		code = cli_usage(c, "--max-cells wants a number from 1 on");
	if (code < 0) {
		code = plan_make_all(&p, operands.v[0]);
		cells_release(&p.cells);
		campaign_file_release(&p.file);
		free(p.dir);
		free(p.mean_s);
	}
	run_options_release(&p.o);
	return code;
}

/* ---- init ---- */

static const char starter[] =
	"# A campaign: which runs, how often, and what is compared.\n"
	"#   profrig campaign plan %s     cells, order, time, power; starts nothing\n"
	"#   profrig campaign run %s      makes the runs; Ctrl-C once lets the current one end\n"
	"#   profrig campaign resume %s   goes on after anything\n"
	"name: %s\n"
	"models: [%s]        # names, paths, or maps of what stands under model:\n"
	"engine: auto        # any key of a run's configuration counts for all runs\n"
	"\n"
	"# The cells are the product of these; a key is a path of a run's configuration.\n"
	"axes:\n"
	"  env.OMP_NUM_THREADS: [\"1\", \"2\"]\n"
	"#  tools: [[], [blas_trace]]\n"
	"#  library:                       # a map is a zip: its lists go together\n"
	"#    model.image: [a:1, b:1]\n"
	"#    env.LIB: [x, y]\n"
	"#exclude: [{env.OMP_NUM_THREADS: \"2\", tools: [blas_trace]}]\n"
	"#include: [{env.OMP_NUM_THREADS: \"8\"}]\n"
	"\n"
	"repeat: 10                       # runs of each cell\n"
	"order: interleaved               # blocks there and back; or random, sequential\n"
	"baseline: {env.OMP_NUM_THREADS: \"1\"}   # each cell is compared with the one that has "
	"these\n"
	"#gate: [{metric: performance, threshold: 5%%}]   # exit 7 when it gets worse\n"
	"#cooldown: {seconds: 10, temperature: 3, power: 5%%, limit: 5m}  # or a time alone\n"
	"#budget: 2h\n"
	"#retry: {infrastructure: 3, on: [timeout]}\n"
	"#slots: [{gpus: \"0\"}, {gpus: \"1\"}]  # blocks side by side\n";

static int init_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(xfreep) char *models = NULL;
	const char *path = NULL, *name;
	struct err err = ERR_INIT;
	char base[80];
	int code;

	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &path, "FILE", "write it there, not to standard output" },
		{ 0 },
	};
	code = cli_parse(c, opts, NULL, argc, argv, &operands, NULL);
	if (code < 0 && operands.nr == 0)
		code = cli_usage(c, "name a model: its name, folder or file");
	if (code >= 0)
		return code;
	snprintf(base, sizeof(base), "%s", fs_base(operands.v[0]));
	base[strcspn(base, ".#:")] = 0;
	name = path ? path : "FILE";
	models = strvec_join(&operands, ", ");
	text = xasprintf(starter, name, name, name, *base ? base : "campaign", models);
	if (!path) {
		fputs(text, stdout);
		return EXIT_DONE;
	}
	if (fs_exists(path)) {
		log_error("'%s' is there already", path);
		return EXIT_USAGE;
	}
	if (fs_write_atomic(path, text, strlen(text), &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	printf("%s\n", path);
	return EXIT_DONE;
}

extern const struct command cmd_campaign_plan, cmd_campaign_init;
const struct command cmd_campaign_plan = { "campaign plan", "FILE",
					   "cells, order, time and power of a campaign",
					   "profrig campaign plan blas.yaml", plan_main };
const struct command cmd_campaign_init = { "campaign init", "MODEL…",
					   "a commented campaign file to begin with",
					   "profrig campaign init examples/mlp -o mlp.yaml",
					   init_main };
