#include "profrig/config/runconf.h"
#include "conf_read.h"
#include "runconf_int.h"
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

static const char cli[] = "command line";

bool runconf_is_secret_name(const char *name)
{
	static const char *const words[] = { "TOKEN",      "SECRET",      "PASSWORD",
					     "CREDENTIAL", "CREDENTIALS", "KEY" };

	if (strstr(name, "MAD_SECRETS"))
		return true;
	while (*name) {
		size_t n = strcspn(name, "_");

		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (strlen(words[i]) == n && !strncasecmp(name, words[i], n))
				return true;
		name += n + (name[n] == '_');
	}
	return false;
}

void loader_bad_name(struct loader *l, const struct cfg_node *at, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	if (at && at->layer != LAYER_CLI)
		cfg_problem(l->p, at, "%s", sb.buf);
	else if (!l->usage.code)
		err_set(&l->usage, ENOENT, "%s", sb.buf);
	else if (!strstr(l->usage.msg, sb.buf))
		err_set(&l->usage, ENOENT, "%s; %s", l->usage.msg, sb.buf);
}

void loader_unknown(struct loader *l, const struct cfg_node *at, const char *what, const char *name,
		    const struct strvec *names)
{
	CLEANUP(xfreep) char *list = xasprintf(" (see 'profrig list %ss')", what);
	CLEANUP(xfreep) char *hint = cfg_hint(name, (const char *const *)names->v, list);

	loader_bad_name(l, at, "unknown %s '%.80s'%s", what, name, hint);
}

static char *model_in_dir(const char *model)
{
	size_t n = strlen(model);

	while (n > 1 && model[n - 1] == '/')
		n--;
	if (n == 1 && *model == '.')
		return xstrdup("profrig.yaml");
	return xasprintf("%.*s/profrig.yaml", (int)n, model);
}

static void unknown_model(struct loader *l, const struct catalog *cat)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	for (size_t i = 0; i < cat->models.nr; i++)
		strvec_push(&names, cat->models.v[i].name);
	if (strchr(l->rq->model, '/'))
		loader_bad_name(l, NULL, "model '%s': no such file or folder", l->rq->model);
	else
		loader_unknown(l, NULL, "model", l->rq->model, &names);
}

static bool is_configuration(const char *name)
{
	return text_suffix(name, ".yaml") || text_suffix(name, ".yml") ||
	       text_suffix(name, ".json");
}

/* A file that was named as the model. A common mistake is to name a program. */
static char *model_file(struct loader *l, const char *path)
{
	const char *model = l->rq->model;

	if (is_configuration(model) || access(path, X_OK) < 0)
		return xstrdup(model);
	loader_bad_name(l, NULL, "'%s' is a program and no model; to run it: profrig run -- %s%s",
			model, strchr(model, '/') ? "" : "./", model);
	return NULL;
}

/* A model's name in the catalogue, or a tag that only one model has; else the reason is reported.
 * It may also be a file: a model's program can have the model's name. */
static char *model_by_name(struct loader *l, const char *path)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	const struct catalog *cat = loader_catalog(l);
	char *found = NULL;

	if (!cat)
		return NULL;
	catalog_match(cat, l->rq->model, &paths);
	catalog_faults(cat, l->rq->model, l->p);
	if (paths.nr == 1) {
		found = xstrdup(paths.v[0]);
	} else if (fs_is_file(path)) {
		found = model_file(l, path);
	} else if (paths.nr > 1) {
		CLEANUP(xfreep) char *list = strvec_shell(&paths);

		loader_bad_name(l, NULL, "'%s' stands for %zu models: %s", l->rq->model, paths.nr,
				list);
	} else {
		unknown_model(l, cat);
	}
	return found;
}

static void load_file(struct loader *l, const char *shown, enum cfg_layer layer);

/* "models.json#NAME:args", as catalog_match returns it; 1 when the model has this form. */
static int model_of_package(struct loader *l, const char *model)
{
	CLEANUP(strvec_release) struct strvec args = STRVEC_INIT;
	CLEANUP(xfreep) char *file = NULL;
	CLEANUP(xfreep) char *name = NULL;

	if (!catalog_path_split(model, &file, &name, &args))
		return 0;
	if (!*name) {
		l->model_file = xstrdup(file);
		load_file(l, file, LAYER_MODEL);
		loader_tag_args(l, &args);
		return 1;
	}
	loader_entry(l, file, name, &args);
	return 1;
}

static char *find_model(struct loader *l)
{
	const char *model = l->rq->model;
	CLEANUP(xfreep) char *path = fs_join(l->rq->cwd, model);
	char *inside;

	if (fs_is_file(path) && (strchr(model, '/') || is_configuration(model)))
		return model_file(l, path);
	if (fs_is_dir(path)) {
		CLEANUP(xfreep) char *full = fs_join(path, "profrig.yaml");

		inside = model_in_dir(model);
		if (fs_is_file(full))
			return inside;
		free(inside);
		if (strchr(model, '/') || !strcmp(model, ".")) {
			loader_bad_name(l, NULL, "folder '%s' holds no profrig.yaml", model);
			return NULL;
		}
	}
	return model_by_name(l, path);
}

static void load_file(struct loader *l, const char *shown, enum cfg_layer layer)
{
	CLEANUP(xfreep) char *path = fs_join(l->rq->cwd, shown);
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	struct cfg c;
	size_t n = 0, len = strlen(shown);
	bool json = len > 5 && !strcmp(shown + len - 5, ".json");
	int r;

	/* A pipe is accepted: --config <(…) */
	if (fs_is_dir(path) || !fs_exists(path)) {
		loader_bad_name(l, NULL,
				fs_is_dir(path) ? "'%s' is a folder, want a file"
						: "no such file: '%s'",
				shown);
		return;
	}
	cfg_init(&c);
	r = conf_read(path, (size_t)16 << 20, &text, &n, &err);
	if (r == 0)
		r = cfg_parse_text(&c, text, n, shown, json, layer, &err);
	if (!c.root) {
		cfg_problem(l->p, NULL, "%s", err.msg);
		l->broken = true;
	}
	for (size_t i = 0; i < c.problems.lines.nr; i++)
		cfg_problem(l->p, NULL, "%s", c.problems.lines.v[i]);
	if (c.root) {
		schema_expand(&c, schema_table);
		schema_check(c.root, schema_table, l->p);
		cfg_merge(&l->tree, &c);
	}
	cfg_release(&c);
}

/* The map at a key of the root; made, or replaced when it is no map, for the command line. */
static struct cfg_node *cli_map(struct loader *l, const char *key)
{
	struct cfg_node *n = cfg_get(l->tree.root, key);

	if (n && n->kind == CFG_MAP)
		return n;
	return cfg_put(&l->tree, l->tree.root, key, CFG_MAP, NULL, cli, LAYER_CLI);
}

/* The map that holds the key, made when it is not there. */
static struct cfg_node *given_map(struct cfg *given, const char *path, const char *dot)
{
	CLEANUP(xfreep) char *name = xstrndup(path, dot ? (size_t)(dot - path) : 0);
	struct cfg_node *map;

	if (!given->root)
		cfg_parse_text(given, "", 0, cli, false, LAYER_CLI, NULL);
	if (!dot)
		return given->root;
	map = cfg_get(given->root, name);
	return map ? map : cfg_put(given, given->root, name, CFG_MAP, NULL, cli, LAYER_CLI);
}

static void given_take_back(struct cfg_node *map, const char *key)
{
	size_t nr = 0;

	for (size_t i = 0; i < map->nr; i++)
		if (strcmp(map->child[i]->key, key) != 0)
			map->child[nr++] = map->child[i];
	map->nr = nr;
}

void runconf_give(struct cfg *given, const char *path, enum cfg_kind kind, const char *text)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const char *dot = strchr(path, '.'), *key = dot ? dot + 1 : path;
	struct cfg_node *map, *n;

	if (kind == CFG_NULL && !cfg_path(given->root, path))
		return;
	map = given_map(given, path, dot);
	if (kind == CFG_NULL) {
		given_take_back(map, key);
		return;
	}
	n = cfg_put(given, map, key, kind, kind == CFG_SEQ ? NULL : text, cli, LAYER_CLI);
	if (kind == CFG_SEQ)
		strvec_split(&words, text, ",");
	for (size_t i = 0; i < words.nr; i++)
		cfg_add(given, n, CFG_STR, words.v[i], cli, LAYER_CLI);
}

static void cli_labels(struct loader *l)
{
	for (size_t i = 0; i < l->rq->labels.nr; i++) {
		const char *label = l->rq->labels.v[i], *eq = strchr(label, '=');

		if (!eq || eq == label) {
			loader_bad_name(l, NULL, "--label '%s': want KEY=VALUE", label);
			continue;
		}
		CLEANUP(xfreep) char *key = xstrndup(label, (size_t)(eq - label));

		cfg_put(&l->tree, cli_map(l, "labels"), key, CFG_STR, eq + 1, cli, LAYER_CLI);
	}
}

static void cli_command(struct loader *l)
{
	struct cfg_node *list =
		cfg_put(&l->tree, cli_map(l, "model"), "command", CFG_SEQ, NULL, cli, LAYER_CLI);

	for (char *const *w = l->rq->command; *w; w++)
		cfg_add(&l->tree, list, CFG_STR, *w, cli, LAYER_CLI);
}

static void keep_one_tool(struct loader *l)
{
	struct cfg_node *tools = cfg_get(l->tree.root, "tools");
	size_t nr = 0;

	CFG_EACH(kid, tools, CFG_SEQ) {
		const char *name = cfg_text(kid, "name");

		if (name && !strcmp(name, l->rq->only_tool))
			tools->child[nr++] = kid;
	}
	if (tools)
		tools->nr = nr;
	cfg_put(&l->tree, l->tree.root, "idle", CFG_FLOAT, "0", cli, LAYER_CLI);
	cfg_put(&l->tree, cli_map(l, "labels"), "alone", CFG_STR, l->rq->only_tool, cli, LAYER_CLI);
}

static void apply_command_line(struct loader *l)
{
	const struct runconf_request *rq = l->rq;
	struct cfg_node *root = l->tree.root;

	if (rq->command)
		cli_command(l);
	if (rq->given.root)
		cfg_merge(&l->tree, &rq->given);
	if (rq->image)
		cfg_put(&l->tree, cli_map(l, "model"), "image", CFG_STR, rq->image, cli, LAYER_CLI);
	cli_labels(l);
	/* --set tools[0].options.x=… needs a map as the entry. */
	schema_expand(&l->tree, schema_table);
	for (size_t i = 0; i < rq->sets.nr; i++) {
		struct err err = ERR_INIT;

		if (cfg_set(&l->tree, rq->sets.v[i], &err) < 0)
			loader_bad_name(l, NULL, "%s", err.msg);
	}
	if (rq->only_tool)
		keep_one_tool(l);
	/* Last, since --set may name the tools of the other run. */
	if (rq->bare) {
		cfg_put(&l->tree, root, "tools", CFG_SEQ, NULL, cli, LAYER_CLI);
		cfg_put(&l->tree, root, "idle", CFG_FLOAT, "0", cli, LAYER_CLI);
		cfg_put(&l->tree, root, "record", CFG_MAP, NULL, cli, LAYER_CLI);
		cfg_put(&l->tree, cli_map(l, "labels"), "baseline", CFG_STR, "true", cli,
			LAYER_CLI);
	}
}

/*
 * Checked here, because as a problem of the schema an unknown engine on the command line would give
 * exit code 3.
 */
static void check_cli_engine(struct loader *l)
{
	const struct schema_key *k = schema_find(schema_table, "engine");
	CLEANUP(strvec_release) struct strvec known = STRVEC_INIT;
	struct cfg_node *n = cfg_get(l->tree.root, "engine");

	if (!n || n->layer != LAYER_CLI || n->kind != CFG_STR || schema_choice(k->choices, n->s))
		return;
	strvec_split(&known, k->choices, "|");
	loader_unknown(l, n, "engine", n->s, &known);
	n->s = k->def;
}

/* Values of secret variables are removed from the tree before it can be printed. */
static void env_redact(struct cfg_node *env)
{
	CFG_EACH(kid, env, CFG_MAP) {
		if (!runconf_is_secret_name(kid->key))
			continue;
		kid->kind = CFG_STR;
		kid->s = "***";
		kid->nr = 0;
	}
}

static void keep_effective(struct loader *l)
{
	struct cfg_node *tools = cfg_get(l->tree.root, "tools");
	struct cfg_node *secrets = cfg_get(l->tree.root, "secrets");

	env_redact(cfg_get(l->tree.root, "env"));
	for (size_t i = 0; tools && i < tools->nr; i++)
		env_redact(cfg_get(tools->child[i], "env"));
	/* Only {from_env: NAME} stays: another value was meant to be the secret itself. */
	for (size_t i = 0; secrets && i < secrets->nr; i++) {
		if (secrets->child[i]->kind == CFG_MAP)
			continue;
		secrets->child[i]->s = "***";
		secrets->child[i]->nr = 0;
	}
	l->rc->effective = l->tree;
	cfg_init(&l->tree);
}

static void load_layers(struct loader *l)
{
	const struct runconf_request *rq = l->rq;

	if (rq->model && rq->command) {
		loader_bad_name(l, NULL, "a model ('%s') and a command: want one of them",
				rq->model);
		return;
	}
	loader_recorded(l);
	if (rq->model && !model_of_package(l, rq->model)) {
		CLEANUP(xfreep) char *found = find_model(l);

		/* The name may also lead into a package. */
		if (found && !model_of_package(l, found)) {
			l->model_file = STEAL(found);
			load_file(l, l->model_file, LAYER_MODEL);
		}
	}
	for (size_t i = 0; i < rq->config_files.nr; i++)
		load_file(l, rq->config_files.v[i], LAYER_FILE);
	if (rq->over)
		cfg_merge(&l->tree, rq->over);
	loader_context(l);
}

int runconf_load(struct runconf *rc, const struct runconf_request *rq, const struct tool_set *ts,
		 struct problems *p, struct err *err)
{
	struct loader l = { .rc = rc, .rq = rq, .ts = ts, .p = p, .usage = ERR_INIT };
	size_t before = p->lines.nr;
	int r = 0;

	runconf_init(rc);
	cfg_init(&l.tree);
	cfg_parse_text(&l.tree, "", 0, "built-in", false, LAYER_BUILTIN, NULL);
	load_layers(&l);
	/* Without one of its files, errors would follow from what that file holds. */
	if (!l.usage.code && !l.broken) {
		apply_command_line(&l);
		loader_left_out(&l);
		check_cli_engine(&l);
		schema_expand(&l.tree, schema_table);
		schema_drop_nulls(&l.tree, schema_table);
		schema_defaults(&l.tree, schema_table);
		schema_check(l.tree.root, schema_table, p);
		runconf_fill(&l);
		keep_effective(&l);
	}
	if (p->lines.nr > before && l.usage.code)
		cfg_problem(p, NULL, "command line: %s", l.usage.msg);
	if (p->lines.nr > before)
		r = err_set(err, EINVAL, "%s", p->lines.v[before]);
	else if (l.usage.code)
		r = err_set(err, ENOENT, "%s", l.usage.msg);
	free(l.model_file);
	loader_package_release(&l);
	cfg_release(&l.tree);
	if (r == -ENOENT)
		runconf_release(rc);
	return r;
}
