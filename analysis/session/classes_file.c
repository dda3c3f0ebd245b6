#include "profrig/session/classes_file.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/config/runconf.h"

static const struct schema_key classes_keys[] = {
	{ .path = "classes", .type = "list of maps", .required = true },
	{ .path = "classes[].class", .type = "string", .required = true },
	{ .path = "classes[].pattern", .type = "string", .required = true },
	{ .path = "built_in", .type = "bool" },
	{ .path = NULL },
};

void class_options_init(struct class_options *o)
{
	*o = (struct class_options){ .patterns = STRVEC_INIT, .classes = { .rules = VEC_INIT } };
	cfg_init(&o->file);
}

void class_options_release(struct class_options *o)
{
	VEC_RELEASE(&o->classes.rules);
	strvec_release(&o->patterns);
	cfg_release(&o->file);
}

static bool is_class(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-/");

	return n && n <= 32 && !word[n];
}

/* Names are compared in lower case. */
static void to_lower(char *text)
{
	for (; *text; text++)
		*text = (char)tolower((unsigned char)*text);
}

static void rule_take(const struct cfg_node *map, struct class_options *o, struct problems *p)
{
	const struct cfg_node *class = cfg_get(map, "class"), *pattern = cfg_get(map, "pattern");

	if (!class || !class->s || !pattern || !pattern->s)
		return; /* schema_check has said so */
	if (!is_class(class->s))
		cfg_problem(p, class,
			    "class: '%.80s' is no word of small letters, digits, '_' and '-'",
			    class->s);
	if (!pattern->s[strspn(pattern->s, "^|")] || strspn(pattern->s, "^|") > 1)
		cfg_problem(p, pattern,
			    "pattern: '%.80s' has no text: give a part of the kernel's name, with "
			    "'^' (its start) or '|' (not after a letter) in front",
			    pattern->s);
	strvec_push(&o->patterns, pattern->s);
	to_lower(o->patterns.v[o->patterns.nr - 1]);
	VEC_PUSH(&o->classes.rules,
		 ((struct class_rule){ class->s, o->patterns.v[o->patterns.nr - 1] }));
}

int class_options_file(struct class_options *o, const char *path, struct problems *p,
		       struct err *err)
{
	struct err why = ERR_INIT;
	int r = cfg_parse_file(&o->file, path, LAYER_FILE, &why);
	const struct cfg_node *list, *built_in;

	if (r < 0 && !o->file.root && r != -EINVAL)
		return err_set(err, -r, "%s", why.msg);
	if (!o->file.root)
		cfg_problem(p, NULL, "%s", why.msg);
	for (size_t i = 0; i < o->file.problems.lines.nr; i++)
		cfg_problem(p, NULL, "%s", o->file.problems.lines.v[i]);
	if (!o->file.root)
		return -EINVAL;
	schema_check(o->file.root, classes_keys, p);
	list = cfg_get(o->file.root, "classes");
	for (size_t i = 0; list && list->kind == CFG_SEQ && i < list->nr; i++)
		if (list->child[i]->kind == CFG_MAP)
			rule_take(list->child[i], o, p);
	built_in = cfg_get(o->file.root, "built_in");
	o->classes.alone = built_in && built_in->kind == CFG_BOOL && !built_in->b;
	return p->lines.nr ? -EINVAL : 0;
}
