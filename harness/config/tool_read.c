/* Reads one tools.d file into a struct tool. A broken file gives a tool, too; its problems say
 * whether it may be used. */
#include "schema.h"
#include "tool_int.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/config/placeholder.h"
#include "profrig/sampler/sampler.h"

static const char *known_placeholder(void *ctx, const char *name)
{
	const struct tool *t = ctx;

	if (!strcmp(name, "out") || !strcmp(name, "files") || !strcmp(name, "run_id") ||
	    !strcmp(name, "control"))
		return "";
	if (!strncmp(name, "opt.", 4) && tool_option_find(t, name + 4))
		return "";
	return NULL;
}

static void check_placeholders(struct tool *t, const struct cfg_node *n)
{
	CLEANUP(strbuf_release) struct strbuf sink = STRBUF_INIT;
	CLEANUP(xfreep) char *unknown = NULL;

	if (!n)
		return;
	for (size_t i = 0; i < n->nr; i++)
		check_placeholders(t, n->child[i]);
	if (n->s && placeholder_expand(&sink, n->s, known_placeholder, t, &unknown) < 0)
		cfg_problem(&t->problems, n,
			    "unknown placeholder {%.80s}: there are {out}, {files}, {run_id} and "
			    "{opt.NAME} "
			    "of the tool's options; write {{%.80s}} for the text itself",
			    unknown, unknown);
}

static void read_env(struct tool *t, const struct cfg_node *root)
{
	CFG_EACH(n, cfg_get(root, "env"), CFG_MAP) {
		if (!schema_env_name(n->key))
			cfg_problem(&t->problems, n, "env: '%.*s' is no name of a variable",
				    schema_shown_len(n->key), n->key);
		else if (schema_env_reserved(n->key))
			cfg_problem(&t->problems, n, "env: %s is set by profrig", n->key);
		else if (!strcmp(n->key, "LD_PRELOAD"))
			cfg_problem(&t->problems, n, "env: list libraries under 'preload'");
		else if (n->s)
			VEC_PUSH(&t->env, ((struct tool_env){ xstrdup(n->key), xstrdup(n->s),
							      cfg_where(n) }));
	}
}

static void read_unset(struct tool *t, const struct cfg_node *root)
{
	CFG_EACH(n, cfg_get(root, "unset"), CFG_SEQ) {
		if (!n->s)
			continue;
		if (!schema_env_name(n->s))
			cfg_problem(&t->problems, n, "unset: '%.*s' is no name of a variable",
				    schema_shown_len(n->s), n->s);
		else if (schema_env_reserved(n->s))
			cfg_problem(&t->problems, n, "unset: %s is set by profrig", n->s);
		else if (!strcmp(n->s, "LD_PRELOAD"))
			cfg_problem(&t->problems, n,
				    "unset: LD_PRELOAD holds the tools' libraries");
		else
			VEC_PUSH(&t->unset, ((struct tool_unset){ xstrdup(n->s), cfg_where(n) }));
	}
}

static void read_install(struct tool *t, const struct cfg_node *root)
{
	CFG_EACH(kid, cfg_get(root, "install"), CFG_MAP)
		if (kid->s)
			VEC_PUSH(&t->install,
				 ((struct tool_env){ xstrdup(kid->key), xstrdup(kid->s),
						     cfg_where(kid) }));
}

static void read_scripts(struct tool *t, const struct cfg_node *root, bool pre,
			 const struct strvec *dirs)
{
	CFG_EACH(kid, cfg_get(root, pre ? "pre_scripts" : "post_scripts"), CFG_SEQ) {
		const char *path = cfg_text(kid, "path");
		struct tool_script s = { .args = STRVEC_INIT };

		if (!path)
			continue;
		s.path = tool_find_script(t->file, path, dirs);
		if (!s.path) {
			s.path = xstrdup(path);
			s.missing = true;
			cfg_problem(&t->problems, cfg_get(kid, "path"),
				    "script '%.200s' is neither beside this file nor above it",
				    path);
		}
		cfg_words(kid, "args", &s.args);
		check_placeholders(t, cfg_get(kid, "args"));
		if (pre)
			VEC_PUSH(&t->pre, s);
		else
			VEC_PUSH(&t->post, s);
	}
}

static void read_output_rest(struct tool *t, const struct cfg_node *n, struct tool_output *o)
{
	const struct cfg_node *when = cfg_get(n, "when");

	if (!when || when->kind != CFG_MAP || !when->nr)
		return;
	o->when_option = xstrdup(when->child[0]->key);
	o->when_value = xstrdup(when->child[0]->s ? when->child[0]->s : "");
	if (when->nr > 1)
		cfg_problem(&t->problems, when, "outputs: 'when' takes one option");
	if (!tool_option_find(t, o->when_option))
		cfg_problem(&t->problems, when, "outputs: when: there is no option '%.80s'",
			    o->when_option);
}

static void read_outputs(struct tool *t, const struct cfg_node *root)
{
	const struct cfg_node *list = cfg_get(root, "outputs");

	for (size_t i = 0; list && list->kind == CFG_SEQ && i < list->nr; i++) {
		const struct cfg_node *n = list->child[i], *least = cfg_get(n, "min_records");
		const struct cfg_node *required = cfg_get(n, "required");
		struct tool_output o = { .required = true, .min_records = 1 };

		if (!cfg_text(n, "glob"))
			continue;
		fields_init(&o, tool_output_fields);
		fields_read(&o, tool_output_fields, n);
		read_output_rest(t, n, &o);
		if (*o.glob == '/' || strstr(o.glob, ".."))
			cfg_problem(&t->problems, cfg_get(n, "glob"),
				    "outputs[%zu].glob must stay in the tool's folder, or begin "
				    "with ./ for the workload's",
				    i);
		if (required && required->kind == CFG_BOOL)
			o.required = required->b;
		if (least && least->kind == CFG_INT && least->i >= 0)
			o.min_records = (uint64_t)least->i;
		VEC_PUSH(&t->outputs, o);
	}
}

char *tool_option_refuse(const struct tool_option *o, const struct cfg_node *value)
{
	bool number = value->kind == CFG_INT || value->kind == CFG_FLOAT;

	if (!value->s)
		return xstrdup("want a single value");
	if (!strcmp(o->type, "int") && value->kind != CFG_INT)
		return xstrdup("want a whole number");
	if (!strcmp(o->type, "float") && (!number || !isfinite(value->f)))
		return xstrdup("want a number");
	if (!strcmp(o->type, "bool") && value->kind != CFG_BOOL)
		return xstrdup("want true or false");
	if (number && o->min < o->max && (value->f < o->min || value->f > o->max))
		return xasprintf("%.40s is not between %.15g and %.15g", value->s, o->min, o->max);
	if (o->choices && !schema_choice(o->choices, value->s))
		return xasprintf("unknown '%.80s' (one of: %s)", value->s, o->choices);
	return NULL;
}

static void read_option(struct tool *t, const struct cfg_node *n)
{
	CLEANUP(strvec_release) struct strvec choices = STRVEC_INIT;
	CLEANUP(xfreep) char *refused = NULL;
	const struct cfg_node *def = cfg_get(n, "default");
	const struct cfg_node *min = cfg_get(n, "min"), *max = cfg_get(n, "max");
	struct tool_option o = { .name = xstrdup(n->key) };

	if (!islower((unsigned char)*n->key) ||
	    strspn(n->key, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(n->key))
		cfg_problem(&t->problems, n,
			    "options: '%.80s' is no name of an option (small letters, digits, _)",
			    n->key);
	fields_read(&o, tool_option_fields, n);
	cfg_words(n, "choices", &choices);
	o.type = o.type ? o.type : xstrdup("string");
	o.def = o.def ? o.def : xstrdup("");
	o.where = cfg_where(def ? def : n);
	o.choices = choices.nr ? strvec_join(&choices, "|") : NULL;
	o.min = min && min->kind != CFG_NULL ? min->f : -INFINITY;
	o.max = max && max->kind != CFG_NULL ? max->f : INFINITY;
	refused = def && def->s ? tool_option_refuse(&o, def) : NULL;
	if (refused)
		cfg_problem(&t->problems, def, "options.%.80s.default: %s", n->key, refused);
	VEC_PUSH(&t->options, o);
}

static void check_sampler_kind(struct tool *t, const struct cfg_node *kind)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;

	if (strchr(kind->s, '{') || !strcmp(kind->s, "auto") || sampler_find(kind->s))
		return;
	for (size_t i = 0; samplers[i]; i++)
		strbuf_addf(&names, "%s|", samplers[i]->name);
	cfg_problem(&t->problems, kind, "sampler.kind: unknown '%.80s' (one of: %sauto)", kind->s,
		    names.buf);
}

static void read_sampler(struct tool *t, const struct cfg_node *root)
{
	const struct cfg_node *s = cfg_get(root, "sampler"), *kind = cfg_get(s, "kind");
	const struct cfg_node *period = cfg_get(s, "period_s");

	if (!kind || !kind->s)
		return;
	if (!t->sampler_device)
		t->sampler_device = xstrdup("all");
	t->sampler_period_s = period && period->f > 0 ? period->f : 0.1;
	t->sampler_where = cfg_where(s);
	if (t->sampler_period_option && !tool_option_find(t, t->sampler_period_option))
		cfg_problem(&t->problems, cfg_get(s, "period_option"),
			    "sampler.period_option: there is no option '%.80s'",
			    t->sampler_period_option);
	check_sampler_kind(t, kind);
}

static void read_passes(struct tool *t, const struct cfg_node *root)
{
	const struct cfg_node *p = cfg_get(root, "passes"), *least = cfg_get(p, "least");
	const struct tool_option *o;

	if (!p || p->kind != CFG_MAP)
		return;
	t->passes.least = least && least->kind == CFG_INT && least->i > 0 ? (uint64_t)least->i : 0;
	o = t->passes.option ? tool_option_find(t, t->passes.option) : NULL;
	if (t->passes.option && (!o || strcmp(o->type, "file") != 0))
		cfg_problem(&t->problems, cfg_get(p, "option"),
			    "passes.option: '%.80s' is no option of type file", t->passes.option);
	if (!t->passes.option && !t->passes.least && !t->passes.about)
		cfg_problem(&t->problems, p, "passes: want option and lines, least, or about");
}

/* The default of an option of type file must come with the tool. */
static void check_files(struct tool *t, const struct strvec *dirs)
{
	for (size_t i = 0; i < t->options.nr; i++) {
		const struct tool_option *o = &t->options.v[i];
		CLEANUP(xfreep) char *path = NULL;

		if (strcmp(o->type, "file") != 0 || !*o->def)
			continue;
		path = tool_find_script(t->file, o->def, dirs);
		if (!path)
			cfg_problem(&t->problems, NULL,
				    "%s: options.%s.default: file '%.200s' is neither beside this "
				    "file nor above it",
				    o->where, o->name, o->def);
	}
}

static void check_class(struct tool *t, const struct cfg_node *root)
{
	const struct cfg_node *class = cfg_get(root, "class");
	const char *lacks = NULL;

	switch (t->class) {
	case TOOL_WRAP:
		lacks = t->wrap.nr ? NULL : "wrap";
		break;
	case TOOL_PRELOAD:
		lacks = t->preload.nr ? NULL : "preload";
		break;
	case TOOL_ENV:
		lacks = t->env.nr ? NULL : "env";
		break;
	case TOOL_SAMPLER:
		lacks = t->sampler_kind ? NULL : "sampler";
		break;
	case TOOL_SCRIPT:
		lacks = t->pre.nr || t->post.nr ? NULL : "pre_scripts or post_scripts";
		break;
	}
	if (class && class->s && lacks && !t->problems.lines.nr)
		cfg_problem(&t->problems, class, "a tool of class %s needs %s", class->s, lacks);
}

static void check_name(struct tool *t, const struct cfg_node *root)
{
	const struct cfg_node *n = cfg_get(root, "name");

	if (!n || !n->s)
		return;
	if (!schema_file_name(n->s) || !strcmp(n->s, "workload")) {
		cfg_problem(&t->problems, n, "name: '%.80s' cannot name a folder of artifacts",
			    n->s);
		return;
	}
	free(t->name);
	t->name = xstrdup(n->s);
}

static void read_tree(struct tool *t, const struct cfg_node *root, const struct strvec *dirs)
{
	static const char *const expanded[] = { "wrap", "env" };
	const struct cfg_node *options = cfg_get(root, "options"), *outputs;
	const char *class = cfg_text(root, "class");

	fields_read(t, tool_fields, root);
	check_name(t, root);
	for (enum tool_class c = TOOL_WRAP; class && c <= TOOL_SCRIPT; c++)
		if (!strcmp(class, tool_class_name(c)))
			t->class = c;
	t->privileges_wanted =
		cfg_text(root, "privileges") && !strcmp(cfg_text(root, "privileges"), "wanted");
	CFG_EACH(kid, options, CFG_MAP)
		read_option(t, kid);
	check_files(t, dirs);
	read_passes(t, root);
	read_env(t, root);
	read_unset(t, root);
	read_install(t, root);
	read_scripts(t, root, true, dirs);
	read_scripts(t, root, false, dirs);
	read_outputs(t, root);
	read_sampler(t, root);
	tool_read_control(t, root, dirs);
	check_placeholders(t, cfg_get(root, "control"));
	for (size_t i = 0; i < ARRAY_LEN(expanded); i++)
		check_placeholders(t, cfg_get(root, expanded[i]));
	check_placeholders(t, cfg_path(root, "sampler.kind"));
	check_placeholders(t, cfg_path(root, "sampler.device"));
	outputs = cfg_get(root, "outputs");
	CFG_EACH(kid, outputs, CFG_SEQ)
		check_placeholders(t, cfg_get(kid, "glob"));
	check_class(t, root);
}

/* Merges the file that `base` names below the tree: maps key by key, all else is replaced. */
static void read_base(struct tool *t, struct cfg *c, const struct strvec *dirs)
{
	const struct cfg_node *n = cfg_get(c->root, "base");
	CLEANUP(xfreep) char *path = n && n->s ? tool_find_script(t->file, n->s, dirs) : NULL;
	struct err err = ERR_INIT;
	struct cfg below;

	if (!n || !n->s)
		return;
	cfg_init(&below);
	if (!path) {
		cfg_problem(&t->problems, n,
			    "base '%.200s' is neither beside this file nor above it", n->s);
	} else if (cfg_parse_file(&below, path, LAYER_TOOL, &err) < 0) {
		cfg_problem(&t->problems, NULL, "%s", err.msg);
	} else if (cfg_get(below.root, "base")) {
		cfg_problem(&t->problems, n, "base '%.200s' has a base of its own", n->s);
	} else {
		schema_expand(&below, tool_table);
		cfg_merge(&below, c);
		cfg_release(c);
		*c = below;
		cfg_init(&below);
	}
	cfg_release(&below);
}

struct tool *tool_read(const char *path, const struct strvec *dirs)
{
	struct tool *t = tool_new();
	struct err err = ERR_INIT;
	struct cfg c;
	size_t stem = strlen(fs_base(path)) - strlen(".yaml");

	t->file = fs_abs(path);
	t->name = xstrndup(fs_base(path), stem);
	cfg_init(&c);
	cfg_parse_file(&c, path, LAYER_TOOL, &err);
	if (!c.root) {
		strvec_push(&t->problems.lines, err.msg);
	} else {
		for (size_t i = 0; i < c.problems.lines.nr; i++)
			strvec_push(&t->problems.lines, c.problems.lines.v[i]);
		schema_expand(&c, tool_table);
		read_base(t, &c, dirs);
		schema_check(c.root, tool_table, &t->problems);
		read_tree(t, c.root, dirs);
	}
	if (!t->vendor)
		t->vendor = xstrdup("any");
	cfg_release(&c);
	return t;
}
