/*
 * tools.json:
 *
 *	{"tools": {"NAME": {"cmd": "…", "env_vars": {…}, "pre_scripts": [{"path": …, "args": …}],
 *	                    "post_scripts": […]}}}
 *
 * The file does not name the outputs of a tool. Its scripts and programs use fixed names, which are
 * searched for.
 */
#include "mad_int.h"
#include "schema.h"
#include "tool_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/config/runconf.h"

static const struct schema_key tools_table[] = {
	{ .path = "tools", .type = "map of maps", .required = true },
	{ .path = "tools.*.cmd", .type = "scalar" },
	{ .path = "tools.*.env_vars", .type = "map of strings" },
	{ .path = "tools.*.pre_scripts", .type = "list of maps" },
	{ .path = "tools.*.pre_scripts[].path", .type = "string", .required = true },
	{ .path = "tools.*.pre_scripts[].args", .type = "scalar" },
	{ .path = "tools.*.post_scripts", .type = "list of maps" },
	{ .path = "tools.*.post_scripts[].path", .type = "string", .required = true },
	{ .path = "tools.*.post_scripts[].args", .type = "scalar" },
	{ .path = NULL },
};

/* In the workload's folder, where the scripts of these tools write them. */
static const char *const outputs[] = {
	"./*_profiler_output.csv", "./*_output.csv",  "./*_trace.csv",
	"./rocprof_output/**",     "./rpd_output/**", "./rocm_trace_lite_output/**",
};

static void add_scripts(struct tool *t, const struct cfg_node *list, const char *dir, bool pre)
{
	CFG_EACH(n, list, CFG_SEQ) {
		const struct cfg_node *path = cfg_get(n, "path");
		struct tool_script s = { .args = STRVEC_INIT, .bash = true };

		if (!path || !path->s)
			continue;
		CLEANUP(xfreep) char *full = fs_join(dir, path->s);

		s.path = fs_abs(full);
		s.missing = !fs_is_file(s.path);
		if (s.missing)
			cfg_problem(&t->problems, path, "script '%.300s' is not there", s.path);
		mad_shell_words(cfg_get(n, "args"), "args", &s.args, &t->problems, &t->notes);
		if (pre)
			VEC_PUSH(&t->pre, s);
		else
			VEC_PUSH(&t->post, s);
	}
}

/* Escapes braces, because commands of tools.json have no placeholders. */
static char *brace_literal(const char *text)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const char *s = text;

	while (*s) {
		size_t n = *s == '{' ? strcspn(s, "}") : 0;

		if (n && s[n] == '}' &&
		    strspn(s + 1, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == n - 1) {
			strbuf_addf(&sb, "{%.*s}", (int)n + 1, s);
			s += n + 1;
		} else {
			strbuf_addch(&sb, *s++);
		}
	}
	return strbuf_steal(&sb);
}

/* Their output goes to the workload's folder, where it is searched for. */
static void add_wrapper(struct tool *t, struct strvec *words)
{
	static const struct mad_wrap to_rocprof = { "rocprof_output", "csv", NULL, false };
	static const struct mad_wrap to_rtl = { "rocm_trace_lite_output", NULL, NULL, false };
	char *none = NULL;

	if (mad_wrap(words, &to_rocprof, &none) == MAD_WRAP_ROCPROF)
		strvec_push(&t->needs, "rocprofv3|rocprof");
	else if (mad_wrap(words, &to_rtl, &none) == MAD_WRAP_RTL)
		strvec_push(&t->needs, "rtl");
}

static void add_words(struct tool *t, const struct cfg_node *cmd)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	mad_shell_words(cmd, "cmd", &words, &t->problems, &t->notes);
	add_wrapper(t, &words);
	for (size_t i = 0; i < words.nr; i++)
		strvec_push_take(&t->wrap, brace_literal(words.v[i]));
}

static void add_env(struct tool *t, const struct cfg_node *env)
{
	CFG_EACH(n, env, CFG_MAP) {
		if (!schema_env_name(n->key) || schema_env_reserved(n->key))
			cfg_problem(&t->problems, n, "env_vars: '%.80s' cannot be set", n->key);
		else if (n->s)
			VEC_PUSH(&t->env, ((struct tool_env){ xstrdup(n->key), brace_literal(n->s),
							      cfg_where(n) }));
	}
}

static struct tool *make_tool(const struct cfg_node *n, const char *file, const char *dir)
{
	struct tool *t = tool_new();

	t->name = xstrdup(n->key);
	t->file = fs_abs(file);
	t->vendor = xstrdup("any");
	t->about = xstrdup("of tools.json");
	t->shared_wrap = true;
	if (!schema_file_name(n->key) || !strcmp(n->key, "workload"))
		cfg_problem(&t->problems, n, "'%.80s' cannot name a folder of artifacts", n->key);
	add_words(t, cfg_get(n, "cmd"));
	add_env(t, cfg_get(n, "env_vars"));
	add_scripts(t, cfg_get(n, "pre_scripts"), dir, true);
	add_scripts(t, cfg_get(n, "post_scripts"), dir, false);
	t->class = t->wrap.nr ? TOOL_WRAP : t->env.nr ? TOOL_ENV : TOOL_SCRIPT;
	for (size_t i = 0; i < ARRAY_LEN(outputs); i++)
		VEC_PUSH(&t->outputs, ((struct tool_output){ .glob = xstrdup(outputs[i]),
							     .match = STRVEC_INIT,
							     .if_any = true,
							     .min_records = 1 }));
	return t;
}

static void add_tool(struct tool_set *ts, struct tool *t, bool over)
{
	for (size_t i = 0; i < ts->tools.nr; i++) {
		struct tool *was = ts->tools.v[i], *loses = over ? was : t, *wins = over ? t : was;

		if (strcmp(was->name, t->name) != 0)
			continue;
		if (strcmp(was->file, t->file) != 0)
			mad_note(&wins->notes, NULL,
				 "tool '%s' is that of '%s', not that of '%s'%s", wins->name,
				 wins->file, loses->file,
				 over ? "" : " (--tools-config FILE takes the other)");
		ts->tools.v[i] = wins;
		tool_free(loses);
		return;
	}
	VEC_PUSH(&ts->tools, t);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct tool *const *)a)->name, (*(struct tool *const *)b)->name);
}

int mad_tools_add(struct tool_set *ts, const char *file, const char *dir, bool over,
		  struct err *err)
{
	struct problems p = PROBLEMS_INIT;
	const struct cfg_node *tools;
	struct cfg c;
	int r;

	if (!fs_is_file(file))
		return err_set(err, ENOENT, "no such file: '%s'", file);
	cfg_init(&c);
	r = cfg_parse_file(&c, file, LAYER_TOOL, err);
	if (r == 0) {
		mad_drop_comments(c.root);
		schema_check(c.root, tools_table, &p);
		if (p.lines.nr)
			r = err_set(err, EINVAL, "%s", p.lines.v[0]);
	}
	tools = r == 0 ? cfg_get(c.root, "tools") : NULL;
	/* Loads all tools first, so that double names are found. */
	if (tools)
		tool_set_all(ts);
	CFG_EACH(kid, tools, CFG_MAP)
		add_tool(ts, make_tool(kid, file, dir), over);
	if (ts->tools.nr)
		qsort(ts->tools.v, ts->tools.nr, sizeof(*ts->tools.v), by_name);
	problems_release(&p);
	cfg_release(&c);
	return r;
}
