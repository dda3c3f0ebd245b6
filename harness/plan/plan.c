#include "profrig/plan/plan.h"
#include "plan_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/config/placeholder.h"

void plan_problem(struct maker *m, const char *where, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	if (where)
		cfg_problem(m->p, NULL, "%s: %s", where, sb.buf);
	else
		cfg_problem(m->p, NULL, "%s", sb.buf);
}

char *plan_tool_dir(const struct maker *m, const char *tool)
{
	return xasprintf("%s/artifacts/%s", m->rq->run_dir, tool);
}

struct expansion {
	const struct maker *m;
	const struct runconf_tool *t;
	char *out;
	char *path; /* of the last option that names a file */
};

static const char *variable_lookup(void *ctx, const char *name)
{
	struct expansion *x = ctx;

	if (!strcmp(name, "run_id"))
		return x->m->rq->run_id;
	if (!strcmp(name, "out"))
		return x->out;
	if (!strcmp(name, "files")) {
		free(x->path);
		x->path = plan_files_dir(x->m, x->t->tool->name);
		return x->path;
	}
	if (strncmp(name, "opt.", 4) != 0)
		return NULL;
	for (size_t i = 0; i < x->t->options.nr; i++)
		if (!strcmp(x->t->options.v[i].name, name + 4))
			return plan_option_value(x->m, x->t, &x->t->options.v[i], &x->path);
	return NULL;
}

char *plan_expand(struct maker *m, const struct runconf_tool *t, const char *text)
{
	CLEANUP(xfreep) char *dir = plan_tool_dir(m, t->tool->name);
	CLEANUP(xfreep) char *unknown = NULL;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct expansion x = { .m = m, .t = t, .out = dir };

	bool fine = placeholder_expand(&sb, text, variable_lookup, &x, &unknown) == 0;

	free(x.path);
	if (fine)
		return strbuf_steal(&sb);
	plan_problem(m, t->where, "tool '%s': unknown placeholder {%s} in '%.200s'", t->tool->name,
		     unknown, text);
	return xstrdup(text);
}

void plan_wrap(struct maker *m, const struct runconf_tool *t, struct strvec *argv)
{
	const struct strvec *words = t->has_wrap ? &t->wrap : &t->tool->wrap;

	for (size_t i = 0; i < words->nr; i++)
		if (!strcmp(words->v[i], CONTROL_WORD))
			plan_control_words(m, t, argv);
		else
			strvec_push_take(argv, plan_expand(m, t, words->v[i]));
}

char *plan_library(const struct maker *m, const char *name)
{
	if (strncmp(name, "libprofrig_", 11) != 0)
		return xstrdup(name);
	return fs_join(m->container ? ENGINE_LIB_DIR : m->rq->lib_dir, name);
}

static bool word_hits(const struct tool *t, const char *word)
{
	return !strcmp(t->name, word) || strvec_has(&t->provides, word);
}

/* Why a cannot run beside b, according to a's file: the reason it states, or the word that both
 * share. */
static const char *tools_conflict(const struct tool *a, const struct tool *b, bool in_words)
{
	for (size_t i = 0; i < a->conflicts.nr; i++)
		if (word_hits(b, a->conflicts.v[i]))
			return in_words ? a->conflicts_because : a->conflicts.v[i];
	return NULL;
}

static const char *conflict_of_two(const struct tool *a, const struct tool *b)
{
	for (int in_words = 1; in_words >= 0; in_words--) {
		const char *why = tools_conflict(a, b, in_words);

		why = why ? why : tools_conflict(b, a, in_words);
		if (why)
			return why;
	}
	return NULL;
}

static void check_conflicts(struct maker *m)
{
	for (size_t i = 0; i < m->conf->tools.nr; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct runconf_tool *late = &m->conf->tools.v[i];
			const struct tool *a = m->conf->tools.v[k].tool, *b = late->tool;
			const char *why = conflict_of_two(a, b);

			if (why)
				plan_problem(m, late->where,
					     "tools '%s' and '%s' cannot run together (%s): leave "
					     "one out",
					     a->name, b->name, why);
		}
	}
}

static bool name_taken(const struct plan *pl, const char *name)
{
	return VEC_FIND(&pl->steps, x, !strcmp(x->name, name));
}

/*
 * "pre-rpd-setup", with only characters that are safe in a file name; a second one gets a number.
 */
static char *step_name(const struct plan *pl, enum step_kind kind, const char *tool,
		       const char *path)
{
	const char *base = fs_base(path), *dot = strrchr(base, '.');
	int len = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
	CLEANUP(xfreep)
	char *name = xasprintf("%s-%s%s%.*s", kind == STEP_PRE ? "pre" : "post", tool ? tool : "",
			       tool ? "-" : "", len < 60 ? len : 60, base);

	for (char *s = name; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-", *s))
			*s = '-';
	if (!name_taken(pl, name))
		return STEAL(name);
	for (unsigned i = 2;; i++) {
		char *numbered = xasprintf("%s-%u", name, i);

		if (!name_taken(pl, numbered))
			return numbered;
		free(numbered);
	}
}

static void add_step(struct maker *m, struct plan_step *s)
{
	size_t nr = m->pl->steps.nr + 1;

	s->cwd = xstrdup(m->cwd);
	s->inherit_env = true;
	s->out = xasprintf("%s/steps/%02zu-%s.out", m->rq->run_dir, nr, s->name);
	s->err = xasprintf("%s/steps/%02zu-%s.err", m->rq->run_dir, nr, s->name);
	VEC_PUSH(&m->pl->steps, *s);
}

struct script {
	const char *path, *where;
	const struct strvec *args;
	bool bash, missing;
};

static void add_script(struct maker *m, enum step_kind kind, const struct runconf_tool *t,
		       struct script sc)
{
	struct plan_step s = { .kind = kind, .argv = STRVEC_INIT, .timeout_s = SCRIPT_TIMEOUT_S };
	char *copy = xasprintf("%s/scripts/%02zu-%s", m->rq->run_dir, m->pl->steps.nr + 1,
			       fs_base(sc.path));

	if (sc.missing)
		plan_problem(m, sc.where, "script '%.200s' is not there", sc.path);
	s.name = step_name(m->pl, kind, t ? t->tool->name : NULL, sc.path);
	s.tool = t ? xstrdup(t->tool->name) : NULL;
	strvec_pushl(&s.argv, sc.bash ? SCRIPT_BASH : SCRIPT_SHELL, copy, NULL);
	for (size_t i = 0; i < sc.args->nr; i++)
		strvec_push_take(&s.argv,
				 t ? plan_expand(m, t, sc.args->v[i]) : xstrdup(sc.args->v[i]));
	plan_env_script(m, t, &s);
	VEC_PUSH(&m->pl->copies, ((struct plan_copy){ xstrdup(sc.path), copy }));
	add_step(m, &s);
}

static void add_tool_script(struct maker *m, enum step_kind kind, const struct runconf_tool *t,
			    const struct tool_script *ts)
{
	add_script(m, kind, t,
		   (struct script){ ts->path, t->tool->file, &ts->args, ts->bash, ts->missing });
}

static void add_tool_scripts(struct maker *m, enum step_kind kind, const struct runconf_tool *t)
{
	const struct tool *tool = t->tool;

	for (size_t i = 0; kind == STEP_PRE && i < tool->pre.nr; i++)
		add_tool_script(m, kind, t, &tool->pre.v[i]);
	for (size_t i = 0; kind == STEP_POST && i < tool->post.nr; i++)
		add_tool_script(m, kind, t, &tool->post.v[i]);
}

static void add_own_script(struct maker *m, enum step_kind kind, const struct runconf_script *rs)
{
	add_script(m, kind, NULL,
		   (struct script){ rs->path, rs->where, &rs->args, rs->bash, rs->missing });
}

/* Several tools of a tools.json share one wrapper, each with variables of its own. It is placed
 * once, at the first of them, the innermost. */
bool plan_wrapped_already(struct maker *m, size_t at)
{
	const struct runconf_tool *t = &m->conf->tools.v[at];
	CLEANUP(strvec_release) struct strvec own = STRVEC_INIT;

	if (!t->tool->shared_wrap)
		return false;
	plan_wrap(m, t, &own);
	for (size_t i = 0; i < at; i++) {
		CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
		bool same;

		if (!m->conf->tools.v[i].tool->shared_wrap)
			continue;
		plan_wrap(m, &m->conf->tools.v[i], &words);
		same = words.nr == own.nr;
		for (size_t k = 0; same && k < own.nr; k++)
			same = !strcmp(words.v[k], own.v[k]);
		if (same)
			return true;
	}
	return false;
}

static void add_workload(struct maker *m)
{
	struct plan_step s = { .kind = STEP_WORKLOAD,
			       .name = xstrdup("workload"),
			       .argv = STRVEC_INIT,
			       .timeout_s = m->conf->timeout_s };

	if (plan_wrap_at(m))
		plan_wrap_start(m, &s.argv);
	for (size_t i = m->conf->tools.nr; i-- > 0 && !plan_wrap_at(m);)
		if (!plan_wrapped_already(m, i))
			plan_wrap(m, &m->conf->tools.v[i], &s.argv);
	strvec_pushv(&s.argv, m->conf->command.v);
	/* A workload that runs seven times may take seven times as long. */
	s.timeout_s *= (double)m->pl->passes;
	plan_env_workload(m, &s);
	add_step(m, &s);
}

static void add_steps(struct maker *m)
{
	const struct runconf *c = m->conf;

	for (size_t i = c->tools.nr; i-- > 0;)
		add_tool_scripts(m, STEP_PRE, &c->tools.v[i]);
	for (size_t i = 0; i < c->pre.nr; i++)
		add_own_script(m, STEP_PRE, &c->pre.v[i]);
	add_workload(m);
	for (size_t i = 0; i < c->post.nr; i++)
		add_own_script(m, STEP_POST, &c->post.v[i]);
	for (size_t i = 0; i < c->tools.nr; i++)
		add_tool_scripts(m, STEP_POST, &c->tools.v[i]);
}

static void add_sampler(struct maker *m, const struct runconf_tool *t)
{
	struct plan_sampler s = { .period_s = t->sampler_period_s };

	if (!t->tool->sampler_kind)
		return;
	s.tool = xstrdup(t->tool->name);
	s.kind = plan_expand(m, t, t->tool->sampler_kind);
	s.device = plan_expand(m, t, t->sampler_device);
	s.out = xasprintf("%s/samples/%s.csv", m->rq->run_dir, t->tool->name);
	for (size_t i = 0; i < t->options.nr; i++)
		VEC_PUSH(&s.options, ((struct name_value){ xstrdup(t->options.v[i].name),
							   xstrdup(t->options.v[i].value) }));
	VEC_PUSH(&m->pl->samplers, s);
}

static void add_output(struct maker *m, const struct runconf_tool *t, const struct tool_output *o)
{
	if (!plan_output_asked(t, o))
		return;
	CLEANUP(xfreep) char *glob = plan_expand(m, t, o->glob);
	CLEANUP(xfreep) char *dir = plan_tool_dir(m, t->tool->name);
	const char *rel = glob, *inside = fs_below(dir, glob);

	if (inside && *inside) {
		rel = inside;
	} else if (!strncmp(glob, "./", 2)) {
		rel = glob + 2;
		free(STEAL(dir));
		dir = xstrdup(m->cwd);
		if (m->container && m->conf->container.workdir)
			plan_problem(m, t->where,
				     "tool '%s' writes '%.200s' into a folder that only the "
				     "container has: leave container.workdir out",
				     t->tool->name, o->glob);
	}
	if (*rel == '/')
		plan_problem(m, t->where, "tool '%s': output '%.200s' is not in its folder",
			     t->tool->name, glob);
	VEC_PUSH(&m->pl->outputs, ((struct plan_output){ .tool = xstrdup(t->tool->name),
							 .dir = STEAL(dir),
							 .glob = xstrdup(rel),
							 .reader = xstrdup_null(o->reader),
							 .required = o->required,
							 .min_records = o->min_records,
							 .match = STRVEC_INIT,
							 .group = xstrdup_null(o->group),
							 .if_any = o->if_any }));
	strvec_pushv(&m->pl->outputs.v[m->pl->outputs.nr - 1].match, o->match.v);
}

static void add_need(struct maker *m, const char *tool, const char *what)
{
	for (size_t i = 0; i < m->pl->needs.nr; i++)
		if (!strcmp(m->pl->needs.v[i].tool, tool) && !strcmp(m->pl->needs.v[i].what, what))
			return;
	VEC_PUSH(&m->pl->needs, ((struct plan_need){ xstrdup(tool), xstrdup(what) }));
}

static void add_needs(struct maker *m, const struct runconf_tool *t)
{
	CLEANUP(strvec_release) struct strvec wrap = STRVEC_INIT;
	const struct tool *tool = t->tool;

	for (size_t i = 0; i < tool->needs.nr; i++)
		add_need(m, tool->name, tool->needs.v[i]);
	plan_wrap(m, t, &wrap);
	if (wrap.nr)
		add_need(m, tool->name, wrap.v[0]);
	for (size_t i = 0; i < tool->pre.nr; i++)
		add_need(m, tool->name, tool->pre.v[i].bash ? SCRIPT_BASH : SCRIPT_SHELL);
	for (size_t i = 0; i < tool->post.nr; i++)
		add_need(m, tool->name, tool->post.v[i].bash ? SCRIPT_BASH : SCRIPT_SHELL);
	if (wrap.nr && plan_wrap_at(m))
		add_need(m, tool->name, SCRIPT_SHELL);
	for (size_t i = 0; i < tool->preload.nr; i++) {
		CLEANUP(xfreep) char *path = plan_library(m, tool->preload.v[i]);

		add_need(m, tool->name, path);
	}
	for (size_t i = 0; plan_is_switched(m, t) && i < tool->control.preload.nr; i++) {
		CLEANUP(xfreep) char *path = plan_library(m, tool->control.preload.v[i]);

		add_need(m, tool->name, path);
	}
}

static void add_mkdirs(struct maker *m)
{
	static const char *const always[] = { "scripts", "steps", "samples", "artifacts",
					      "artifacts/workload" };

	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		strvec_pushf(&m->pl->mkdirs, "%s/%s", m->rq->run_dir, always[i]);
	for (size_t i = 0; i < m->conf->tools.nr; i++)
		strvec_push_take(&m->pl->mkdirs, plan_tool_dir(m, m->conf->tools.v[i].tool->name));
}

/* A container mounts the data set at its home; on the host a link leads to it. */
static void add_data(struct maker *m)
{
	const struct data_conf *d = &m->conf->data;

	for (size_t i = 0; i < d->sets.nr; i++) {
		const struct data_set *s = &d->sets.v[i];
		char *link = xasprintf("%s/data/%s", m->rq->run_dir, s->name);

		VEC_PUSH(&m->pl->data, ((struct plan_data){ xstrdup(s->name), link }));
		if (m->container)
			VEC_PUSH(&m->pl->spec.late_mounts,
				 ((struct engine_mount){ xstrdup(link), xstrdup(s->home), true }));
	}
	if (d->sets.nr)
		strvec_pushf(&m->pl->mkdirs, "%s/data", m->rq->run_dir);
}

static void add_tools(struct maker *m)
{
	for (size_t i = 0; i < m->conf->tools.nr; i++) {
		const struct runconf_tool *t = &m->conf->tools.v[i];

		plan_files(m, t);
		add_sampler(m, t);
		add_needs(m, t);
		for (size_t k = 0; k < t->tool->outputs.nr; k++)
			add_output(m, t, &t->tool->outputs.v[k]);
	}
}

int plan_make(const struct plan_request *rq, struct plan *ret, struct problems *p, struct err *err)
{
	struct maker m = { .rq = rq, .conf = rq->conf, .pl = ret, .p = p };
	size_t before = p->lines.nr;
	int r = 0;

	*ret = (struct plan){ .run_id = xstrdup(rq->run_id),
			      .run_dir = xstrdup(rq->run_dir),
			      .engine = rq->engine,
			      .conf = rq->conf,
			      .engine_argv = STRVEC_INIT,
			      .mkdirs = STRVEC_INIT };
	engine_spec_init(&ret->spec);
	ret->devices = rq->devices;
	ret->replay = rq->replay;
	ret->passes = 1;
	for (size_t i = 0; i < rq->conf->tools.nr; i++)
		ret->passes *= rq->conf->tools.v[i].passes ? rq->conf->tools.v[i].passes : 1;
	m.container = rq->engine->container;
	m.cwd = xstrdup(m.container && rq->conf->container.workdir ? rq->conf->container.workdir
								   : rq->conf->dir);
	plan_source(&m);
	check_conflicts(&m);
	plan_engine_spec(&m);
	add_mkdirs(&m);
	add_data(&m);
	add_steps(&m);
	add_tools(&m);
	plan_wrap_files(&m);
	plan_controls(&m);
	plan_inside(&m);
	free(m.cwd);
	if (p->lines.nr > before)
		r = err_set(err, EINVAL, "%s", p->lines.v[before]);
	else
		r = rq->engine->start(&ret->spec, &ret->engine_argv, err);
	if (r < 0)
		plan_release(ret);
	return r;
}
