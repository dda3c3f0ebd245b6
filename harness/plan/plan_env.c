/*
 * The environment of each step, with the origin of every variable.
 *
 * Workload, later ones win: profrig's variables of the run, tools (innermost first), the selected
 * GPUs, the user's. Then LD_PRELOAD: the libraries of all tools in front of the user's own. What
 * tools unset is only what nothing of these sets.
 */
#include "plan_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"

static struct plan_env *find_variable(const struct plan_step *s, const char *name)
{
	return VEC_FIND(&s->env, x, !strcmp(x->name, name));
}

static struct plan_env *put_variable(struct plan_step *s, const char *name, const char *value,
				     const char *origin, bool secret)
{
	struct plan_env *e = find_variable(s, name);

	if (!e) {
		VEC_PUSH(&s->env, ((struct plan_env){ .name = xstrdup(name) }));
		e = &s->env.v[s->env.nr - 1];
	}
	free(e->value);
	free(e->origin);
	free(e->from);
	free(e->data);
	e->value = xstrdup(value);
	e->origin = xstrdup(origin);
	e->from = NULL;
	e->data = NULL;
	e->secret = secret;
	/* Learnt before a text with the value can be printed. */
	if (secret)
		redact_learn(value);
	return e;
}

static int by_name(const void *a, const void *b)
{
	const struct plan_env *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void sort_variables(struct plan_step *s)
{
	if (s->env.nr)
		qsort(s->env.v, s->env.nr, sizeof(*s->env.v), by_name);
}

static void put_run(const struct maker *m, struct plan_step *s, const char *tool)
{
	CLEANUP(xfreep) char *out = plan_tool_dir(m, tool);
	CLEANUP(xfreep) char *mark = fs_join(m->rq->run_dir, PLAN_MARKS);

	put_variable(s, "PROFRIG_RUN_ID", m->rq->run_id, "profrig", false);
	put_variable(s, "PROFRIG_RUN_DIR", m->rq->run_dir, "profrig", false);
	put_variable(s, "PROFRIG_OUT", out, "profrig", false);
	put_variable(s, "PROFRIG_MARK", mark, "profrig", false);
	if (m->rq->host)
		put_variable(s, "PROFRIG_HOST", m->rq->host, "profrig", false);
}

static bool user_settles(const struct runconf *c, const char *name)
{
	return VEC_FIND(&c->env, x, !strcmp(x->name, name));
}

/* The tool that set a variable; needed only while a step's env is made. */
struct giver {
	const char *name;
	const struct runconf_tool *tool;
	bool by_user; /* set in the configuration's entry and not in the tool's file */
};
struct givers {
	VEC(struct giver) v;
};

static struct giver *giver_of(const struct givers *g, const char *name)
{
	return VEC_FIND(&g->v, x, !strcmp(x->name, name));
}

static void variable_dispute(struct maker *m, const struct plan_env *was,
			     const struct runconf_tool *first, const struct runconf_tool *second,
			     const char *value, const char *origin)
{
	if (was->secret)
		plan_problem(m, second->where,
			     "tools '%s' and '%s' give %s different values (%s, %s): settle it "
			     "under env",
			     first->tool->name, second->tool->name, was->name, was->origin, origin);
	else
		plan_problem(m, second->where,
			     "tools '%s' and '%s' give %s different values: '%.100s' (%s), "
			     "'%.100s' (%s): settle it under env",
			     first->tool->name, second->tool->name, was->name, was->value,
			     was->origin, value, origin);
}

static void put_of_tool(struct maker *m, struct plan_step *s, struct givers *g,
			const struct giver *by, const char *text, const char *origin)
{
	struct giver *first = giver_of(g, by->name);
	CLEANUP(xfreep) char *value = plan_expand(m, by->tool, text);
	const struct plan_env *was = find_variable(s, by->name);

	/*
	 * A value that the user states in one entry takes precedence over the files of other tools.
	 */
	if (first && first->by_user && !by->by_user)
		return;
	if (first && first->by_user == by->by_user && was && strcmp(was->value, value) != 0 &&
	    !user_settles(m->conf, by->name)) {
		variable_dispute(m, was, first->tool, by->tool, value, origin);
		return;
	}
	if (!first)
		VEC_PUSH(&g->v, *by);
	else if (by->by_user)
		*first = *by;
	put_variable(s, by->name, value, origin, runconf_is_secret_name(by->name));
}

static const struct runconf_env *entry_env(const struct runconf_tool *t, const char *name)
{
	return VEC_FIND(&t->env, x, !strcmp(x->name, name));
}

static void put_of_file(struct maker *m, struct plan_step *s, struct givers *g,
			const struct runconf_tool *t, const struct tool_env *e)
{
	if (!entry_env(t, e->name))
		put_of_tool(m, s, g, &(struct giver){ e->name, t, false }, e->value, e->where);
}

static void put_tool(struct maker *m, struct plan_step *s, struct givers *g,
		     const struct runconf_tool *t)
{
	const struct tool_control *c = &t->tool->control;

	for (size_t i = 0; i < t->tool->env.nr; i++)
		put_of_file(m, s, g, t, &t->tool->env.v[i]);
	for (size_t i = 0; plan_is_switched(m, t) && i < c->env.nr; i++)
		put_of_file(m, s, g, t, &c->env.v[i]);
	for (size_t i = 0; plan_starts_paused(m, t) && i < c->paused_env.nr; i++)
		put_of_file(m, s, g, t, &c->paused_env.v[i]);
	for (size_t i = 0; i < t->env.nr; i++) {
		const struct runconf_env *e = &t->env.v[i];

		put_of_tool(m, s, g, &(struct giver){ e->name, t, true }, e->value, e->origin);
	}
}

/*
 * On the host, and where an engine shows all GPUs, only these variables limit the workload to its
 * GPUs. ROCm reads HIP_VISIBLE_DEVICES first, and the other only without it. For both runtimes an
 * index that does not exist ends the list.
 */
static void put_gpus(struct maker *m, struct plan_step *s)
{
	CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;
	const struct cfg_node *n = cfg_get(m->conf->effective.root, "gpus");
	const char *text = cfg_text(m->conf->effective.root, "gpus");
	CLEANUP(xfreep) char *where = NULL;

	if ((m->container && !m->rq->engine->all_devices) || !text || !strcmp(text, "all"))
		return;
	where = n->layer == LAYER_CLI ? xstrdup("command line") : cfg_where(n);
	for (size_t i = 0; i < m->conf->gpu_list.nr; i++)
		strbuf_addf(&list, "%s%d", i ? "," : "", m->conf->gpu_list.v[i]);
	if (!list.len)
		strbuf_addstr(&list, "-1");
	put_variable(s, "HIP_VISIBLE_DEVICES", list.buf, where, false);
	put_variable(s, "CUDA_VISIBLE_DEVICES", list.buf, where, false);
}

static void put_path(const struct maker *m, struct plan_step *s, const char *name,
		     const struct data_set *d)
{
	CLEANUP(xfreep) char *link = xasprintf("%s/data/%s", m->rq->run_dir, d->name);
	CLEANUP(xfreep) char *origin = xasprintf("data '%s'", d->name);

	put_variable(s, name, m->container ? d->home : link, origin, false)->data =
		xstrdup(d->name);
}

/* Models written for madengine read MAD_DATANAME and MAD_DATAHOME. */
static void put_data(const struct maker *m, struct plan_step *s)
{
	const struct data_conf *d = &m->conf->data;
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < d->sets.nr; i++) {
		put_path(m, s, d->sets.v[i].variable, &d->sets.v[i]);
		strbuf_addf(&names, "%s%s", i ? "," : "", d->sets.v[i].name);
	}
	if (!d->sets.nr)
		return;
	put_variable(s, "MAD_DATANAME", names.buf, "data", false);
	put_path(m, s, "MAD_DATAHOME", &d->sets.v[0]);
}

/* Two tools may be switched by the same library, which is added once. */
static void add_libraries(struct maker *m, const struct strvec *names, struct strbuf *libs)
{
	for (size_t k = 0; k < names->nr; k++) {
		CLEANUP(xfreep) char *path = plan_library(m, names->v[k]);
		const char *at = strstr(libs->buf, path);
		size_t n = strlen(path);

		if (strpbrk(path, ": "))
			plan_problem(m, NULL,
				     "LD_PRELOAD cannot hold '%s': blanks and colons part "
				     "its entries",
				     path);
		if (!at || (at[n] && at[n] != ':') || (at > libs->buf && at[-1] != ':'))
			strbuf_addf(libs, "%s%s", libs->len ? ":" : "", path);
	}
}

/* Variables about the machine that models of a models.json expect. */
static void put_machine(struct maker *m, struct plan_step *s)
{
	const struct runconf *c = m->conf;
	bool all = c->gpus ? !strcmp(c->gpus, "all") : !m->container;
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT;

	if (!c->mad_model || !m->rq->devices)
		return;
	devices_mad_env(m->rq->devices, all ? -1 : (int)c->gpu_list.nr, &env);
	for (size_t i = 0; i < env.nr; i++) {
		char *eq = strchr(env.v[i], '=');

		*eq = '\0';
		put_variable(s, env.v[i], eq + 1, "this machine", false);
	}
}

static void put_preload(struct maker *m, struct plan_step *s)
{
	CLEANUP(strbuf_release) struct strbuf libs = STRBUF_INIT, origin = STRBUF_INIT;
	const struct plan_env *own = find_variable(s, "LD_PRELOAD");
	const char *rest = own ? own->value : NULL, *rest_origin = own ? own->origin : NULL;

	for (size_t i = 0; i < m->conf->tools.nr; i++) {
		const struct runconf_tool *rt = &m->conf->tools.v[i];
		size_t before = libs.len;

		add_libraries(m, &rt->tool->preload, &libs);
		if (plan_is_switched(m, rt))
			add_libraries(m, &rt->tool->control.preload, &libs);
		if (libs.len > before)
			strbuf_addf(&origin, "%s%s", origin.len ? ", " : "", rt->tool->name);
	}
	if (plan_wrap_at(m)) {
		CLEANUP(strvec_release) struct strvec own_library = STRVEC_INIT;

		strvec_push(&own_library, PLAN_WRAP_LIBRARY);
		add_libraries(m, &own_library, &libs);
		strbuf_addf(&origin, "%swrap_at", origin.len ? ", " : "");
	}
	if (!libs.len)
		return;
	if (!rest && !m->container) {
		rest = m->conf->caller_preload;
		rest_origin = "the caller's environment";
	}
	if (rest && *rest) {
		strbuf_addf(&libs, ":%s", rest);
		strbuf_addf(&origin, ", %s", rest_origin);
	}
	put_variable(s, "LD_PRELOAD", libs.buf, origin.buf, false);
}

static const struct tool_unset *tool_unsets(const struct runconf *c, const char *name)
{
	for (size_t i = 0; i < c->tools.nr; i++) {
		const struct tool_unset *u =
			VEC_FIND(&c->tools.v[i].tool->unset, x, !strcmp(x->name, name));

		if (u)
			return u;
	}
	return NULL;
}

/* The selection of GPUs that a workload on host inherits, as variables of its own. */
static void put_caller_gpus(struct maker *m, struct plan_step *s)
{
	const struct runconf *c = m->conf;

	for (size_t i = 0; !m->container && i < c->caller_gpus.nr; i++)
		if (!tool_unsets(c, c->caller_gpus.v[i].name))
			put_variable(s, c->caller_gpus.v[i].name, c->caller_gpus.v[i].value,
				     "the caller's environment", false);
}

static int unset_by_name(const void *a, const void *b)
{
	const struct plan_unset *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Of several tools that unset one variable the first is its origin. */
static void add_unset(struct plan_step *s, const struct tool_unset *u)
{
	if (!find_variable(s, u->name) && !VEC_FIND(&s->unset, x, !strcmp(x->name, u->name)))
		VEC_PUSH(&s->unset, ((struct plan_unset){ xstrdup(u->name), xstrdup(u->where) }));
}

static void put_unset(const struct runconf *c, struct plan_step *s)
{
	for (size_t i = 0; i < c->tools.nr; i++)
		for (size_t k = 0; k < c->tools.v[i].tool->unset.nr; k++)
			add_unset(s, &c->tools.v[i].tool->unset.v[k]);
	if (s->unset.nr)
		qsort(s->unset.v, s->unset.nr, sizeof(*s->unset.v), unset_by_name);
}

void plan_env_workload(struct maker *m, struct plan_step *step)
{
	CLEANUP(xfreep) char *flag = fs_join(m->rq->run_dir, PLAN_FLAG);
	const struct runconf *c = m->conf;
	struct givers g = { VEC_INIT };

	put_machine(m, step);
	put_run(m, step, "workload");
	put_variable(step, "PROFRIG_RECORD", flag, "profrig", false);
	if (plan_wrap_at(m)) {
		CLEANUP(xfreep) char *wrap = xasprintf("%s/wrap", m->rq->run_dir);

		put_variable(step, "PROFRIG_WRAP", wrap, "wrap_at", false);
	}
	put_caller_gpus(m, step);
	for (size_t i = 0; i < c->tools.nr; i++)
		put_tool(m, step, &g, &c->tools.v[i]);
	put_gpus(m, step);
	put_data(m, step);
	for (size_t i = 0; i < c->env.nr; i++) {
		const struct runconf_env *e = &c->env.v[i];

		put_variable(step, e->name, e->value, e->origin, e->secret)->from =
			xstrdup_null(e->from);
	}
	put_preload(m, step);
	put_unset(c, step);
	sort_variables(step);
	VEC_RELEASE(&g.v);
}

static void put_options(struct plan_step *s, const struct runconf_tool *t)
{
	for (size_t i = 0; i < t->options.nr; i++) {
		CLEANUP(xfreep) char *name = xasprintf("PROFRIG_OPT_%s", t->options.v[i].name);

		for (char *c = name; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		put_variable(s, name, t->options.v[i].value, t->options.v[i].origin, false);
	}
}

void plan_env_script(struct maker *m, const struct runconf_tool *tool, struct plan_step *step)
{
	const struct runconf *c = m->conf;

	for (size_t i = 0; i < c->env.nr; i++)
		if (!c->env.v[i].secret && strcmp(c->env.v[i].name, "LD_PRELOAD") != 0)
			put_variable(step, c->env.v[i].name, c->env.v[i].value, c->env.v[i].origin,
				     false);
	put_run(m, step, tool ? tool->tool->name : "workload");
	if (tool) {
		put_variable(step, "PROFRIG_TOOL", tool->tool->name, "profrig", false);
		put_options(step, tool);
	}
	sort_variables(step);
}
