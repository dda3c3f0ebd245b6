/* Separate parts of runconf_fill.c: processors, files that options name, tools that are named
 * twice. */
#include "runconf_int.h"
#include "schema.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"

#define MAX_CPU (CPU_SETSIZE - 1)
#define MAX_OPTION_FILE ((size_t)4 << 20)

/* --- processors --- */

static char *ranges_of(const cpu_set_t *set)
{
	struct strbuf sb = STRBUF_INIT;

	for (int i = 0; i <= MAX_CPU; i++) {
		int last = i;

		if (!CPU_ISSET(i, set))
			continue;
		while (last < MAX_CPU && CPU_ISSET(last + 1, set))
			last++;
		strbuf_addf(&sb, last > i ? "%s%d-%d" : "%s%d", sb.len ? "," : "", i, last);
		i = last;
	}
	return strbuf_steal(&sb);
}

void runconf_fill_cpus(struct loader *l, const struct cfg_node *root)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const char *text = cfg_text(root, "cpus");
	uint64_t first, last;
	cpu_set_t set;
	int r = 0;

	if (!text || !strcmp(text, "all"))
		return;
	CPU_ZERO(&set);
	strvec_split(&words, text, ",");
	for (size_t i = 0; i < words.nr && r == 0; i++) {
		r = num_range(words.v[i], MAX_CPU, &first, &last);
		for (; r == 0 && first <= last; first++)
			CPU_SET(first, &set);
	}
	if (r < 0 || !words.nr)
		cfg_problem(l->p, cfg_get(root, "cpus"),
			    "cpus: want all, or numbers such as 0-7,16, not '%.80s'", text);
	else
		l->rc->cpus = ranges_of(&set);
}

/* --- options --- */

/* A variable is text; as an option it may be a number or a boolean. */
static const struct cfg_node *of_variable(struct loader *l, const struct cfg_node *env)
{
	struct cfg_node *n = pool_alloc(&l->tree.pool, sizeof(*n));
	size_t len = strlen(env->s);

	*n = *env;
	if (num_i64(n->s, len, &n->i) == 0)
		n->kind = CFG_INT;
	else if (num_f64(n->s, len, &n->f) == 0)
		n->kind = CFG_FLOAT;
	else if (!strcasecmp(n->s, "true") || !strcasecmp(n->s, "false"))
		n->kind = CFG_BOOL;
	if (n->kind == CFG_INT)
		n->f = (double)n->i;
	if (n->kind == CFG_BOOL)
		n->s = strcasecmp(n->s, "true") ? "false" : "true";
	return n;
}

const struct cfg_node *runconf_option_given(struct loader *l, const struct cfg_node *entry,
					    const struct tool_option *o)
{
	const struct cfg_node *options = cfg_get(entry, "options");
	const struct cfg_node *env = cfg_get(entry, "env");

	if (cfg_text(options, o->name))
		return cfg_get(options, o->name);
	return o->env && cfg_text(env, o->env) ? of_variable(l, cfg_get(env, o->env)) : NULL;
}

double runconf_period_s(const struct runconf_tool *rt)
{
	const char *name = rt->tool->sampler_period_option;

	for (size_t i = 0; name && i < rt->options.nr; i++) {
		const struct runconf_option *o = &rt->options.v[i];
		double v;

		if (!strcmp(o->name, name) && num_f64(o->value, strlen(o->value), &v) == 0 && v > 0)
			return v;
	}
	return rt->tool->sampler_period_s;
}

/* --- options of type file --- */

static uint64_t count_lines(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);
	uint64_t found = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		line += strspn(line, " \t");
		found += !strncmp(line, prefix, n);
	}
	return found;
}

/* The user's file: beside the configuration, else where the tool's own files are found. */
static char *find_file(const struct loader *l, const struct runconf_tool *rt,
		       const struct runconf_option *o, const struct cfg_node *given)
{
	char *path = given ? conf_resolve(l, given) : NULL;

	if (path && fs_is_file(path))
		return path;
	free(path);
	return tool_option_path(l->ts, rt->tool, o->value);
}

static void count_passes(struct loader *l, struct runconf_tool *rt, const struct runconf_option *o)
{
	const char *prefix = rt->tool->passes.lines ? rt->tool->passes.lines : "";
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;

	if (fs_read(o->path, MAX_OPTION_FILE, &text, NULL, &err) < 0) {
		cfg_problem(l->p, NULL, "%s: option '%s' of tool '%s': %s", o->origin, o->name,
			    rt->tool->name, err.msg);
		return;
	}
	rt->passes = count_lines(text, prefix);
	if (!rt->passes)
		cfg_problem(l->p, NULL,
			    "%s: option '%s' of tool '%s': '%.200s' has no line that begins with "
			    "'%s'",
			    o->origin, o->name, rt->tool->name, o->value, prefix);
	rt->passes_why = xasprintf("once for each line '%s' of %s", prefix, o->value);
}

void runconf_fill_files(struct loader *l, struct runconf_tool *rt, const struct cfg_node *entry)
{
	const struct tool *t = rt->tool;
	const struct cfg_node *given = cfg_get(entry, "options");

	rt->passes = t->passes.least ? t->passes.least : 1;
	if (t->passes.about)
		rt->passes_why = xstrdup(t->passes.about);
	for (size_t i = 0; i < rt->options.nr; i++) {
		struct runconf_option *o = &rt->options.v[i];
		const struct tool_option *to = tool_option_find(t, o->name);
		const struct cfg_node *n = cfg_get(given, o->name);

		if (strcmp(to->type, "file") != 0 || !*o->value)
			continue;
		/* The value may be the tool's own default, added to be shown. */
		if (n && (n->kind == CFG_NULL || n->layer == LAYER_TOOL))
			n = NULL;
		o->path = find_file(l, rt, o, n);
		if (!o->path)
			cfg_problem(l->p, n, "option '%s' of tool '%s': no file '%.200s'", o->name,
				    t->name, o->value);
		else if (t->passes.option && !strcmp(t->passes.option, o->name))
			count_passes(l, rt, o);
	}
}

/* --- tools named twice --- */

static bool same_node(const struct cfg_node *a, const struct cfg_node *b);

static bool same_map(const struct cfg_node *a, const struct cfg_node *b)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct cfg_node *x = a->child[i], *y = cfg_get(b, x->key);

		/* Defaults were added only to the entries that were looked at already. */
		if (x->layer != LAYER_TOOL && x->kind != CFG_NULL && (!y || !same_node(x, y)))
			return false;
	}
	return true;
}

static bool same_node(const struct cfg_node *a, const struct cfg_node *b)
{
	if (a->kind == CFG_MAP)
		return b->kind == CFG_MAP && same_map(a, b) && same_map(b, a);
	if (a->kind != CFG_SEQ)
		return a->s && b->s && !strcmp(a->s, b->s);
	if (b->kind != CFG_SEQ || a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (!same_node(a->child[i], b->child[i]))
			return false;
	return true;
}

/* The earlier entry of this name, or NULL. */
static const struct cfg_node *first_entry(const struct loader *l, const struct cfg_node *entry,
					  const char *name)
{
	const struct cfg_node *list = cfg_get(l->tree.root, "tools");

	for (size_t i = 0; list && i < list->nr && list->child[i] != entry; i++) {
		const char *other = cfg_text(list->child[i], "name");

		if (other && !strcmp(other, name))
			return list->child[i];
	}
	return NULL;
}

static bool has_own(const struct cfg_node *map)
{
	for (size_t i = 0; i < map->nr; i++)
		if (map->child[i]->layer != LAYER_TOOL)
			return true;
	return false;
}

/*
 * same_map for whole entries: a map without values of the user's may be absent in the other entry.
 */
static bool node_covers(const struct cfg_node *a, const struct cfg_node *b)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct cfg_node *x = a->child[i], *y = cfg_get(b, x->key);

		if (x->kind == CFG_NULL || (x->kind == CFG_MAP && !has_own(x)))
			continue;
		if (!y || !same_node(x, y))
			return false;
	}
	return true;
}

bool runconf_known_tool(struct loader *l, const struct cfg_node *entry, const struct cfg_node *name)
{
	const struct cfg_node *first = first_entry(l, entry, name->s);

	if (!first)
		return false;
	if (!node_covers(first, entry) || !node_covers(entry, first))
		cfg_problem(l->p, name, "tool '%s' is in the list twice, with different settings",
			    name->s);
	return true;
}
