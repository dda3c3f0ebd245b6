/* How a tool is switched while it runs, and its overhead budget. */
#include "schema.h"
#include "tool_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"

static void add_env(struct tool *t, const struct cfg_node *n, bool paused)
{
	struct tool_env e;

	if (!schema_env_name(n->key) || schema_env_reserved(n->key) ||
	    !strcmp(n->key, "LD_PRELOAD")) {
		cfg_problem(&t->problems, n, "control: '%.*s' is no variable that a tool may set",
			    schema_shown_len(n->key), n->key);
		return;
	}
	if (!n->s)
		return;
	e = (struct tool_env){ xstrdup(n->key), xstrdup(n->s), cfg_where(n) };
	if (paused)
		VEC_PUSH(&t->control.paused_env, e);
	else
		VEC_PUSH(&t->control.env, e);
}

static void read_env(struct tool *t, const struct cfg_node *map, bool paused)
{
	CFG_EACH(kid, map, CFG_MAP)
		add_env(t, kid, paused);
}

/* profrig makes the pipe, directly in {out}. */
static char *read_pipe(struct tool *t, const struct cfg_node *c, const char *key)
{
	const char *name = cfg_text(c, key);

	if (!name)
		return NULL;
	if (schema_file_name(name))
		return xstrdup(name);
	cfg_problem(&t->problems, cfg_get(c, key),
		    "control.%s: '%.80s' is no plain name of a file in {out}", key, name);
	return NULL;
}

static void read_script(struct tool *t, const struct cfg_node *c, const struct strvec *dirs)
{
	const char *path = cfg_text(c, "script");

	if (!path)
		return;
	t->control.script.path = tool_find_script(t->file, path, dirs);
	if (t->control.script.path)
		return;
	t->control.script.path = xstrdup(path);
	t->control.script.missing = true;
	cfg_problem(&t->problems, cfg_get(c, "script"),
		    "script '%.200s' is neither beside this file nor above it", path);
}

static void check_kind(struct tool *t, const struct cfg_node *kind)
{
	const struct tool_control *c = &t->control;
	const char *lacks = NULL;

	switch (c->kind) {
	case TOOL_CONTROL_NONE:
	case TOOL_CONTROL_FLAG:
		break;
	case TOOL_CONTROL_FIFO:
		lacks = !c->fifo ? "fifo" : !c->start.nr || !c->stop.nr ? "start and stop" : NULL;
		break;
	case TOOL_CONTROL_SCRIPT:
		lacks = c->script.path ? NULL : "script";
		break;
	case TOOL_CONTROL_COMMAND:
		lacks = c->start.nr && c->stop.nr ? NULL : "start and stop";
		break;
	}
	if (lacks && !t->problems.lines.nr)
		cfg_problem(&t->problems, kind, "control of kind %s needs %s", kind->s, lacks);
	if (c->wrap.nr + c->paused.nr > 0 && !strvec_has(&t->wrap, "{control}"))
		cfg_problem(&t->problems, kind,
			    "control has words for wrap, and wrap has no {control} where they go");
}

static void read_budget(struct tool *t, const struct cfg_node *root)
{
	const struct cfg_node *n = cfg_get(root, "budget");

	if (n && n->s && num_percent(n->s, strlen(n->s), &t->budget) < 0)
		cfg_problem(&t->problems, n, "budget: want a percentage such as 10%%, not '%.80s'",
			    n->s);
}

void tool_read_control(struct tool *t, const struct cfg_node *root, const struct strvec *dirs)
{
	static const char *const kinds[] = { "", "flag", "fifo", "script", "command" };
	const struct cfg_node *c = cfg_get(root, "control"), *kind = cfg_get(c, "kind");

	read_budget(t, root);
	if (!kind || !kind->s)
		return;
	for (int i = TOOL_CONTROL_FLAG; i <= TOOL_CONTROL_COMMAND; i++)
		if (!strcmp(kind->s, kinds[i]))
			t->control.kind = (enum tool_control_kind)i;
	read_env(t, cfg_get(c, "env"), false);
	read_env(t, cfg_get(c, "paused_env"), true);
	t->control.fifo = read_pipe(t, c, "fifo");
	t->control.ack = read_pipe(t, c, "ack");
	read_script(t, c, dirs);
	check_kind(t, kind);
}
