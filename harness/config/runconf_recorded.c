/*
 * The configuration of a run as it goes into plan.json, and what a repeated run takes from there.
 * Paths are absolute, so that the run can be repeated from another folder. Values that hold a
 * secret, or bytes that JSON cannot hold, are left out by name.
 */
#include "runconf_int.h"
#include "schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/base/text.h"
#include "profrig/base/utf8.h"

/* --- written --- */

struct recording {
	const struct runconf *rc;
	const char *engine;
	struct json_out *j;
	struct strvec left_out;
};

/* The place of the walk: as the schema names it ("tools[].env"), and as cfg_path does. */
struct place {
	const char *pattern, *shown;
	const struct runconf_tool *tool; /* whose entry it is in; NULL */
};

static bool type_is(const struct schema_key *k, const char *type)
{
	return !strcmp(k->type, type);
}

/* Whether plan.json would hold the text as it is. */
static bool text_stays(const char *s)
{
	size_t n = strlen(s);
	CLEANUP(xfreep) char *copy = xstrndup(s, n);

	return utf8_valid(s) && redact(copy, n, REDACT_SURE) == n && !strcmp(copy, s);
}

static bool words_stay(const struct cfg_node *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!list->child[i]->s || !text_stays(list->child[i]->s))
			return false;
	return true;
}

static void put_text(struct recording *r, const char *key, const char *text, const char *shown)
{
	if (text_stays(text))
		json_str(r->j, key, text);
	else
		strvec_push(&r->left_out, shown);
}

static void put_words(struct recording *r, const struct cfg_node *n, const char *key,
		      const char *shown)
{
	if (!words_stay(n)) {
		strvec_push(&r->left_out, shown);
		return;
	}
	json_arr(r->j, key);
	for (size_t i = 0; i < n->nr; i++)
		json_str(r->j, NULL, n->child[i]->s);
	json_end(r->j);
}

/*
 * A number or truth, as one; a default of a tool's file was put into the tree as a text. False: it
 * is none.
 */
static bool put_typed(struct recording *r, const char *type, const struct cfg_node *n)
{
	int64_t i = n->i;
	double f = n->f;

	if (!strcmp(type, "bool") && (n->kind == CFG_BOOL || n->kind == CFG_STR)) {
		json_bool(r->j, n->key, n->kind == CFG_BOOL ? n->b : !strcmp(n->s, "true"));
		return true;
	}
	if (n->kind == CFG_INT || (n->kind == CFG_STR && num_i64(n->s, strlen(n->s), &i) == 0)) {
		json_i64(r->j, n->key, i);
		return true;
	}
	if (n->kind == CFG_FLOAT ||
	    (n->kind == CFG_STR && num_f64(n->s, strlen(n->s), &f) == 0 && isfinite(f))) {
		json_f64(r->j, n->key, f);
		return true;
	}
	return false;
}

static const char *option_type(const struct place *at, const struct runconf_option *o)
{
	const struct tool_option *to = o ? tool_option_find(at->tool->tool, o->name) : NULL;

	return to ? to->type : "";
}

static bool is_number(const char *type)
{
	return !strcmp(type, "int") || !strcmp(type, "float");
}

static const struct runconf_option *option_of(const struct place *at, const char *name)
{
	return at->tool && !strcmp(at->pattern, "tools[].options")
		       ? VEC_FIND(&at->tool->options, o, !strcmp(o->name, name))
		       : NULL;
}

static void put_texts(struct recording *r, const struct cfg_node *n, const struct place *at)
{
	json_obj(r->j, n->key);
	for (size_t i = 0; i < n->nr; i++) {
		const struct cfg_node *kid = n->child[i];
		CLEANUP(xfreep) char *shown = xasprintf("%s.%s", at->shown, kid->key);
		const struct runconf_option *o = option_of(at, kid->key);
		bool env = text_suffix(at->pattern, "env") || !strcmp(at->pattern, "env");

		/* A later run looks at its own machine, and for a file of the tool itself. */
		if (!kid->s || !strcmp(kid->file, CONF_OF_MACHINE) ||
		    (o && o->path && kid->layer == LAYER_TOOL))
			continue;
		const char *type = option_type(at, o);

		if (env && runconf_is_secret_name(kid->key))
			strvec_push(&r->left_out, shown);
		else if ((!is_number(type) && strcmp(type, "bool") != 0) ||
			 !put_typed(r, type, kid))
			put_text(r, kid->key, o && o->path ? o->path : kid->s, shown);
	}
	json_end(r->j);
}

/* data[].path is a path for some providers only. */
static bool is_path(const struct schema_key *k, const struct cfg_node *map)
{
	const char *from = cfg_text(map, "provider");

	if (strcmp(k->path, "data[].path") != 0)
		return type_is(k, "path");
	return from && (!strcmp(from, "script") || !strcmp(from, "local") || !strcmp(from, "nas"));
}

static void put_scalar(struct recording *r, const struct schema_key *k, const struct cfg_node *map,
		       const struct cfg_node *n, const char *shown)
{
	/* A time may be a text, "5m". */
	bool number = is_number(k->type) || (type_is(k, "seconds") && n->kind != CFG_STR);

	if (is_path(k, map) && *n->s != '/') {
		CLEANUP(xfreep) char *path = conf_path_of(r->rc->cwd, n);

		put_text(r, n->key, path, shown);
	} else if ((!number && !type_is(k, "bool")) || !put_typed(r, k->type, n)) {
		put_text(r, n->key, n->s, shown);
	}
}

static void put_map(struct recording *r, const struct cfg_node *n, const struct place *at);

static void put_entry(struct recording *r, const struct cfg_node *n, const struct place *at)
{
	if (n->kind != CFG_MAP)
		return;
	json_obj(r->j, n->key);
	put_map(r, n, at);
	json_end(r->j);
}

static void put_entries(struct recording *r, const struct cfg_node *n, const struct place *at,
			bool map)
{
	CLEANUP(xfreep) char *pattern = xasprintf("%s%s", at->pattern, map ? ".*" : "[]");

	if (map)
		json_obj(r->j, n->key);
	else
		json_arr(r->j, n->key);
	for (size_t i = 0; i < n->nr; i++) {
		CLEANUP(xfreep)
		char *shown = map ? xasprintf("%s.%s", at->shown, n->child[i]->key)
				  : xasprintf("%s[%zu]", at->shown, i);
		const char *name = cfg_text(n->child[i], "name");

		put_entry(r, n->child[i],
			  &(struct place){
				  pattern, shown,
				  name && !strcmp(pattern, "tools[]")
					  ? VEC_FIND(&r->rc->tools, t, !strcmp(t->tool->name, name))
					  : NULL });
	}
	json_end(r->j);
}

static void put_value(struct recording *r, const struct schema_key *k, const struct cfg_node *map,
		      const struct cfg_node *n, const struct place *at)
{
	if (n->kind == CFG_NULL)
		return;
	if (type_is(k, "map"))
		put_entry(r, n, at);
	else if (type_is(k, "map of maps") || type_is(k, "list of maps"))
		put_entries(r, n, at, type_is(k, "map of maps"));
	else if (type_is(k, "map of strings"))
		put_texts(r, n, at);
	else if (n->kind == CFG_SEQ)
		put_words(r, n, n->key, at->shown);
	else if (n->kind != CFG_MAP && n->s)
		put_scalar(r, k, map, n, at->shown);
}

/* Keys that struct runconf has in a form that does not depend on the rest. */
static bool is_settled(const char *path)
{
	return !strcmp(path, "model") || !strcmp(path, "model.name") ||
	       !strcmp(path, "model.dir") || !strcmp(path, "engine");
}

static void put_map(struct recording *r, const struct cfg_node *n, const struct place *at)
{
	CFG_EACH(kid, n, CFG_MAP) {
		const char *dot = *at->pattern ? "." : "";
		CLEANUP(xfreep) char *pattern = xasprintf("%s%s%s", at->pattern, dot, kid->key);
		CLEANUP(xfreep) char *shown = xasprintf("%s%s%s", at->shown, dot, kid->key);
		const struct schema_key *k = schema_find(schema_table, pattern);

		if (k && !is_settled(pattern))
			put_value(r, k, n, kid, &(struct place){ pattern, shown, at->tool });
	}
}

void runconf_recorded_json(const struct runconf *rc, const char *engine, struct json_out *j)
{
	struct recording r = { .rc = rc, .engine = engine, .j = j, .left_out = STRVEC_INIT };
	const struct cfg_node *root = rc->effective.root;

	json_obj(j, "recorded");
	json_bool(j, "mad_model", rc->mad_model);
	json_obj(j, "configuration");
	json_obj(j, "model");
	if (rc->model_name)
		put_text(&r, "name", rc->model_name, "model.name");
	if (rc->dir)
		put_text(&r, "dir", rc->dir, "model.dir");
	put_map(&r, conf_map(root, "model"), &(struct place){ "model", "model", NULL });
	json_end(j);
	json_str(j, "engine", engine);
	put_map(&r, root, &(struct place){ "", "", NULL });
	json_end(j);
	json_words(j, "left_out", &r.left_out);
	json_end(j);
	strvec_release(&r.left_out);
}

/* --- read --- */

/* "env.NAME" and "tools[0].env.NAME": where the variable goes, and its name; NULL. */
static const char *left_variable(const char *key, char **ret_map)
{
	const char *dot = strrchr(key, '.');
	size_t n = dot ? (size_t)(dot - key) : 0;
	bool env = n == 3 && !strncmp(key, "env", n);
	bool of_tool = n > 4 && !strncmp(key, "tools[", 6) && !strncmp(dot - 4, ".env", 4);

	if ((!env && !of_tool) || !schema_env_name(dot + 1) || !runconf_is_secret_name(dot + 1))
		return NULL;
	*ret_map = xstrndup(key, n);
	return dot + 1;
}

static void take_variable(struct loader *l, struct cfg_node *map, const char *name, const char *key)
{
	const char *value = getenv(name);

	if (value)
		cfg_put(&l->tree, map, name, CFG_STR, value, "environment", LAYER_MODEL);
	else
		cfg_problem(l->p, NULL,
			    "%.200s: the run directory does not hold this secret: set the variable "
			    "%.80s, or put it under secrets in --config",
			    key, name);
}

static void take_left_out(struct loader *l, const char *key)
{
	CLEANUP(xfreep) char *at = NULL;
	const struct cfg_node *tools = cfg_get(l->tree.root, "tools");
	const struct cfg_node *secrets = conf_map(l->tree.root, "secrets");
	const char *name = left_variable(key, &at);
	struct cfg_node *map = name ? cfg_path(l->tree.root, at) : NULL;

	/* Other tools than the recorded ones have no use for it. */
	if (!strncmp(key, "tools[", 6) && (!tools || tools->layer > LAYER_MODEL))
		return;
	if ((*key && cfg_path(l->tree.root, key)) || (name && cfg_get(secrets, name)))
		return;
	if (map && map->kind == CFG_MAP)
		take_variable(l, map, name, key);
	else
		cfg_problem(l->p, NULL,
			    "%.200s: it held a secret, or bytes that are no UTF-8, so the run "
			    "directory does not hold it: give it with --set or --config",
			    key);
}

void loader_recorded(struct loader *l)
{
	const struct runconf_replay *rp = l->rq->replay;

	if (!rp)
		return;
	l->rc->mad_model = l->package = rp->mad_model;
	cfg_merge(&l->tree, rp->tree);
	schema_expand(&l->tree, schema_table);
}

void loader_left_out(struct loader *l)
{
	const struct runconf_replay *rp = l->rq->replay;

	for (size_t i = 0; rp && i < rp->left_out->nr; i++)
		take_left_out(l, rp->left_out->v[i]);
}
