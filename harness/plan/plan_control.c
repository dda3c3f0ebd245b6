/* How tools are switched between recording and pausing while the workload runs. */
#include "plan_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"

static bool is_paused(const struct runconf_record *r)
{
	return !r->begin || r->after_s > 0;
}

/* An entry with its own words in front of the workload must keep the place (CONTROL_WORD) for
 * profrig's. */
static bool takes_words(const struct runconf_tool *t)
{
	const struct tool_control *c = &t->tool->control;

	return c->wrap.nr + c->paused.nr == 0 || !t->has_wrap || strvec_has(&t->wrap, CONTROL_WORD);
}

bool plan_is_switched(const struct maker *m, const struct runconf_tool *t)
{
	const struct tool_control *c = &t->tool->control;

	return m->conf->record.given && c->kind != TOOL_CONTROL_NONE && takes_words(t);
}

bool plan_starts_paused(const struct maker *m, const struct runconf_tool *t)
{
	return plan_is_switched(m, t) && is_paused(&m->conf->record);
}

void plan_control_words(struct maker *m, const struct runconf_tool *t, struct strvec *argv)
{
	const struct tool_control *c = &t->tool->control;

	if (!plan_is_switched(m, t))
		return;
	for (size_t i = 0; i < c->wrap.nr; i++)
		strvec_push_take(argv, plan_expand(m, t, c->wrap.v[i]));
	for (size_t i = 0; plan_starts_paused(m, t) && i < c->paused.nr; i++)
		strvec_push_take(argv, plan_expand(m, t, c->paused.v[i]));
}

static struct plan_step *step_beside(struct maker *m, const struct runconf_tool *t)
{
	struct plan_step *s = xcalloc(1, sizeof(*s));

	s->kind = STEP_WORKLOAD;
	s->name = xasprintf("control-%s", t->tool->name);
	s->tool = xstrdup(t->tool->name);
	s->argv = (struct strvec)STRVEC_INIT;
	s->cwd = xstrdup(m->cwd);
	s->inherit_env = true;
	s->out = xasprintf("%s/steps/control-%s.out", m->rq->run_dir, t->tool->name);
	s->err = xasprintf("%s/steps/control-%s.err", m->rq->run_dir, t->tool->name);
	plan_env_script(m, t, s);
	return s;
}

static void add_commands(struct maker *m, const struct runconf_tool *t, struct plan_control *pc)
{
	const struct tool_control *c = &t->tool->control;

	pc->start = step_beside(m, t);
	pc->stop = step_beside(m, t);
	for (size_t i = 0; i < c->start.nr; i++)
		strvec_push_take(&pc->start->argv, plan_expand(m, t, c->start.v[i]));
	for (size_t i = 0; i < c->stop.nr; i++)
		strvec_push_take(&pc->stop->argv, plan_expand(m, t, c->stop.v[i]));
}

static void add_script(struct maker *m, const struct runconf_tool *t, struct plan_control *pc)
{
	const char *path = t->tool->control.script.path;
	char *copy = xasprintf("%s/scripts/control-%s.sh", m->rq->run_dir, t->tool->name);

	if (t->tool->control.script.missing)
		plan_problem(m, t->tool->file, "script '%.200s' is not there", path);
	pc->start = step_beside(m, t);
	pc->stop = step_beside(m, t);
	strvec_pushl(&pc->start->argv, SCRIPT_SHELL, copy, "start", NULL);
	strvec_pushl(&pc->stop->argv, SCRIPT_SHELL, copy, "stop", NULL);
	VEC_PUSH(&m->pl->copies, ((struct plan_copy){ xstrdup(path), copy }));
}

static void add_fifo(struct maker *m, const struct runconf_tool *t, struct plan_control *pc)
{
	const struct tool_control *c = &t->tool->control;
	CLEANUP(xfreep) char *dir = plan_tool_dir(m, t->tool->name);

	pc->fifo = fs_join(dir, c->fifo);
	pc->ack = c->ack ? fs_join(dir, c->ack) : NULL;
	strvec_pushv(&pc->on, c->start.v);
	strvec_pushv(&pc->off, c->stop.v);
}

/* The flag costs nothing and needs nothing, so every run has it. */
static void add_control(struct maker *m, const struct runconf_tool *t)
{
	struct plan_control pc = { .tool = xstrdup(t->tool->name),
				   .on = STRVEC_INIT,
				   .off = STRVEC_INIT };
	enum tool_control_kind kind = t->tool->control.kind;

	if (plan_is_switched(m, t) || kind == TOOL_CONTROL_FLAG)
		pc.kind = kind;
	if (pc.kind == TOOL_CONTROL_FIFO)
		add_fifo(m, t, &pc);
	else if (pc.kind == TOOL_CONTROL_SCRIPT)
		add_script(m, t, &pc);
	else if (pc.kind == TOOL_CONTROL_COMMAND)
		add_commands(m, t, &pc);
	VEC_PUSH(&m->pl->controls, pc);
}

void plan_controls(struct maker *m)
{
	m->pl->starts_paused = m->conf->record.given && is_paused(&m->conf->record);
	for (size_t i = 0; i < m->conf->tools.nr; i++)
		if (m->conf->tools.v[i].tool->class != TOOL_SAMPLER)
			add_control(m, &m->conf->tools.v[i]);
}
