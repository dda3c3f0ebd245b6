/* `list tools`, `list tool NAME` and the tools of doctor. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/json_fields.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"

/* --- whether they work --- */

/* Preflight prints "tool 'NAME' lacks this: do that"; only the middle part is added here. */
static void add_lack(struct strbuf *detail, const struct tool *tool, const char *line)
{
	CLEANUP(xfreep) char *head = xasprintf("tool '%s'", tool->name);
	size_t n = strlen(head), end = strlen(line);

	if (strncmp(line, head, n) == 0)
		line += n + strspn(line + n, ": ");
	end = strlen(line);
	for (const char *s = strstr(line, ": "); s; s = strstr(s + 1, ": "))
		end = (size_t)(s - line);
	/* The rows of the samplers give the reason. */
	const char *why = strstr(line, " works here (");
	why = why ? why : strstr(line, " does not work here (");
	why = why ? strstr(why, " (") : NULL;
	end = why ? (size_t)(why - line) : end;
	strbuf_addf(detail, "%s%.*s", detail->len ? "; " : "", (int)end, line);
}

/* Kept until the program ends, as many tools are checked one after the other. */
static struct run_prober *the_prober;

static struct run_prober *shared_prober(void)
{
	if (!the_prober)
		the_prober = run_prober_new();
	return the_prober;
}

void tool_works_end(void)
{
	run_prober_free(the_prober);
	the_prober = NULL;
}

static const char *tool_edit(const struct tool *tool)
{
	static _Thread_local char fix[4096];

	snprintf(fix, sizeof(fix), "${EDITOR:-vi} '%s'", tool->file ? tool->file : tool->name);
	return fix;
}

/*
 * The command that installs what a tool lacks, "" none; borrowed from the tool. *ret_image: an
 * image may have the missing part, unlike a GPU.
 */
static const char *tool_install(const struct tool *t, const char *missing, bool *ret_image)
{
	const char *from = strstr(missing, "needs '");
	size_t n = from ? strcspn(from + 7, "'|") : 0;

	*ret_image |= n > 0;
	for (size_t i = 0; n && i < t->install.nr; i++)
		if (strlen(t->install.v[i].name) == n &&
		    !strncmp(t->install.v[i].name, from + 7, n))
			return t->install.v[i].value;
	return "";
}

bool tool_works(const struct command *c, const struct strvec *dirs, const struct tool *tool,
		struct strbuf *detail, const char **ret_fix)
{
	static char *const cmd[] = { (char *)"true", NULL };
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	struct problems problems = PROBLEMS_INIT;
	struct run_opts ro = { .interrupt = &cli_interrupt,
			       .dry = true,
			       .prober = shared_prober() };
	struct run_options o;
	struct prepared p;
	bool image = false;

	*ret_fix = tool_edit(tool);
	run_options_init(&o);
	strvec_pushv(&o.tools_dirs, dirs->v);
	runconf_give(&o.conf.given, "engine", CFG_STR, "host");
	runconf_give(&o.conf.given, "tools", CFG_SEQ, tool->name);
	if (cli_prepare(c, &o, NULL, cmd, &p, &problems) == EXIT_DONE) {
		run_preflight(&p.plan, &ro, &missing, NULL);
		*ret_fix = "";
		for (size_t i = 0; !**ret_fix && i < missing.nr; i++)
			*ret_fix = tool_install(tool, missing.v[i], &image);
	} else if (!problems.lines.nr) {
		strbuf_addstr(detail, "its file cannot be read again");
	}
	for (size_t i = 0; i < missing.nr; i++)
		add_lack(detail, tool, missing.v[i]);
	if (image && !**ret_fix)
		strbuf_addstr(detail, "; install it, or run in an image that has it (--image)");
	if (problems.lines.nr)
		strbuf_addstr(detail, problems.lines.v[0]);
	problems_release(&problems);
	prepared_release(&p);
	run_options_release(&o);
	return !detail->len;
}

/* --- one row each --- */

static void add_words(struct strbuf *sb, const struct strvec *words)
{
	for (size_t i = 0; i < words->nr; i++)
		strbuf_addf(sb, "%s%s", sb->len ? " " : "", words->v[i]);
}

/* A GPU, the needs from the tool's file, and the first word in front of the workload. */
static char *needs_of(const struct tool *t)
{
	struct strbuf sb = STRBUF_INIT;
	enum gpu_vendor v = gpu_vendor_of(t->vendor);

	if (v != GPU_NONE)
		strbuf_addstr(&sb, v == GPU_AMD ? "an AMD GPU" : "an NVIDIA GPU");
	add_words(&sb, &t->needs);
	if (t->wrap.nr && !strvec_has(&t->needs, t->wrap.v[0]))
		strbuf_addf(&sb, "%s%s", sb.len ? " " : "", t->wrap.v[0]);
	return strbuf_steal(&sb);
}

static void tools_row_add(struct table *t, const struct command *c, const struct strvec *dirs,
			  const struct tool *tool)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	CLEANUP(xfreep) char *needs = needs_of(tool);
	bool broken = tool->problems.lines.nr > 0;
	CLEANUP(xfreep)
	char *words = broken ? xasprintf("BROKEN: %s", tool->problems.lines.v[0]) : NULL;
	const char *fix;
	bool works = !broken && tool_works(c, dirs, tool, &why, &fix);

	const char *const cells[] = {
		tool->name, tool_class_name(tool->class), tool->vendor, works ? "yes" : "no",
		needs,      broken ? words : tool->about, why.buf,      tool->file,
	};
	table_text_row(t, cells, table_cols(t));
}

struct table *tools_table(const struct command *c, const struct strvec *dirs, bool json,
			  int *ret_code)
{
	static const char *const columns[] = { "name",  "class", "vendor",  "here",
					       "needs", "about", "why_not", "file" };
	struct tool_set ts;
	struct table *t;

	*ret_code = load_tools(c, dirs, &ts);
	if (*ret_code != EXIT_DONE)
		return NULL;
	tool_set_all(&ts);
	t = table_text_cols("tools", columns, ARRAY_LEN(columns) - (json ? 0 : 2));
	for (size_t i = 0; i < ts.tools.nr; i++)
		tools_row_add(t, c, dirs, ts.tools.v[i]);
	tool_works_end();
	tool_set_release(&ts);
	return t;
}

/* --- all about one --- */

static void print_words(const char *label, const struct strvec *words)
{
	CLEANUP(xfreep) char *line = strvec_shell(words);

	if (words->nr)
		printf("  %-10s %s\n", label, line);
}

static void print_option(const struct tool_option *o)
{
	char min[32], max[32];

	printf("    %-14s %-6s default %s\n", o->name, o->type, *o->def ? o->def : "(empty)");
	if (o->choices)
		printf("                     one of %s\n", o->choices);
	if (o->min < o->max && o->min > -1e300 && o->max < 1e300) {
		num_fmt_f64(min, o->min);
		num_fmt_f64(max, o->max);
		printf("                     %s to %s\n", min, max);
	}
	if (o->about)
		printf("                     %s\n", o->about);
}

static void print_output(const struct tool_output *o)
{
	CLEANUP(xfreep) char *match = strvec_shell(&o->match);

	printf("    %s, %s", o->glob,
	       o->if_any     ? "if there is one"
	       : o->group    ? "this or another of its group"
	       : o->required ? "required"
			     : "optional");
	if (o->match.nr)
		printf(", lines with %s", match);
	else
		printf(", read as %s", o->reader ? o->reader : "what it is");
	if (o->when_option)
		printf(", with %s %s", o->when_option, o->when_value);
	putchar('\n');
}

static void tool_print(const struct command *c, const struct strvec *dirs, const struct tool *t)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	const char *fix;
	bool works = tool_works(c, dirs, t, &why, &fix);

	printf("%s: %s\n", t->name, t->about ? t->about : "");
	printf("  %-10s %s, for %s\n  %-10s %s\n", "class", tool_class_name(t->class), t->vendor,
	       "file", t->file);
	printf("  %-10s %s%s\n", "works here", works ? "yes" : "no: ", why.buf);
	print_words("wrap", &t->wrap);
	print_words("preload", &t->preload);
	for (size_t i = 0; i < t->env.nr; i++)
		printf("  %-10s %s=%s\n", i ? "" : "env", t->env.v[i].name, t->env.v[i].value);
	for (size_t i = 0; i < t->unset.nr; i++)
		printf("  %-10s %s\n", i ? "" : "unset", t->unset.v[i].name);
	print_words("needs", &t->needs);
	print_words("provides", &t->provides);
	print_words("conflicts", &t->conflicts);
	print_words("caps", &t->caps);
	print_words("security", &t->security);
	if (t->because)
		printf("  %-10s %s\n", t->privileges_wanted ? "wanted as" : "needed as",
		       t->because);
	if (t->passes.about || t->passes.option)
		printf("  %-10s %s\n", "passes",
		       t->passes.about ? t->passes.about
				       : "once for each group of its option's file");
	for (size_t i = 0; i < t->outputs.nr; i++) {
		if (!i)
			puts("  outputs");
		print_output(&t->outputs.v[i]);
	}
	for (size_t i = 0; i < t->options.nr; i++) {
		if (!i)
			puts("  options");
		print_option(&t->options.v[i]);
	}
}

JSON_TABLE(option_fields, JSON_FIELDS(struct tool_option, name, type),
	   JSON_FIELD_AS(false, struct tool_option, def, "default"),
	   JSON_FIELDS(struct tool_option, choices, about));

static void json_one(struct json_out *j, const struct command *c, const struct strvec *dirs,
		     const struct tool *t)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	const char *fix;

	json_obj(j, NULL);
	json_str(j, "name", t->name);
	json_str(j, "about", t->about);
	json_str(j, "class", tool_class_name(t->class));
	json_str(j, "vendor", t->vendor);
	json_str(j, "file", t->file);
	json_bool(j, "here", tool_works(c, dirs, t, &why, &fix));
	json_str(j, "why_not", why.len ? why.buf : NULL);
	json_put(j, struct tool, t, wrap, needs, provides, conflicts, caps, security);
	json_arr(j, "unset");
	for (size_t i = 0; i < t->unset.nr; i++)
		json_str(j, NULL, t->unset.v[i].name);
	json_end(j);
	json_rows(j, "options", &t->options, option_fields);
	json_end(j);
}

static int tool_unknown(const struct command *c, const struct tool_set *ts, const char *name)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *hint = NULL;

	for (size_t i = 0; i < ts->tools.nr; i++)
		strvec_push(&names, ts->tools.v[i]->name);
	hint = cfg_hint(name, (const char *const *)names.v, " (see 'profrig list tools')");
	return cli_usage(c, "unknown tool '%s'%s", name, hint);
}

static void tools_print_all(const struct command *c, const struct strvec *dirs,
			    const struct tool_set *ts, const struct strvec *names, bool json)
{
	struct json_out j;

	if (json) {
		json_out_init(&j, stdout, 2);
		json_arr(&j, NULL);
	}
	for (size_t i = 0; i < (names ? names->nr : ts->tools.nr); i++) {
		const struct tool *t = names ? tool_find(ts, names->v[i]) : ts->tools.v[i];

		if (json)
			json_one(&j, c, dirs, t);
		else
			tool_print(c, dirs, t);
		if (!json && i + 1 < (names ? names->nr : ts->tools.nr))
			putchar('\n');
	}
	if (json) {
		json_end(&j);
		putchar('\n');
	}
}

int tools_print(const struct command *c, const struct strvec *dirs, const struct strvec *names,
		bool json)
{
	struct tool_set ts;
	int code = load_tools(c, dirs, &ts);

	if (code != EXIT_DONE)
		return code;
	tool_set_all(&ts);
	for (size_t i = 0; names && code == EXIT_DONE && i < names->nr; i++)
		if (!tool_find(&ts, names->v[i]))
			code = tool_unknown(c, &ts, names->v[i]);
	if (code == EXIT_DONE)
		tools_print_all(c, dirs, &ts, names, json);
	tool_set_release(&ts);
	return code;
}
