/*
 * Privileges of a container that tools need. Each capability and security option is noted with the
 * tool that needs it and the setting that grants it. None is granted because of a tool unless
 * container.privileged_profiling says so.
 */
#include "plan_int.h"

#include <string.h>

#define PRIVILEGED "container.privileged_profiling"

static bool has_word(const struct strvec *words, const char *option, const char *value)
{
	size_t n = strlen(option);

	for (size_t i = 0; i < words->nr; i++) {
		const char *w = words->v[i];

		if (strncmp(w, option, n) != 0)
			continue;
		if (w[n] == '=' && !strcmp(w + n + 1, value))
			return true;
		if (!w[n] && i + 1 < words->nr && !strcmp(words->v[i + 1], value))
			return true;
	}
	return false;
}

static bool has_cap(const struct strvec *caps, const char *cap)
{
	for (size_t i = 0; i < caps->nr; i++) {
		const char *w = caps->v[i];

		w += !strncmp(w, "CAP_", 4) ? 4 : 0;
		if (!strcmp(w, cap) || !strcmp(w, "ALL"))
			return true;
	}
	return false;
}

/* The setting of the user's that grants it, or NULL. */
static const char *given_by_user(const struct runconf *c, const char *what, bool security)
{
	const struct strvec *options = &c->container.options;

	if (strvec_has(options, "--privileged"))
		return "container.options: --privileged";
	if (security)
		return has_word(options, "--security-opt", what) ? "container.options" : NULL;
	if (has_cap(&c->container.caps, what))
		return "container.caps";
	return has_word(options, "--cap-add", what) ? "container.options" : NULL;
}

static void note_privilege(struct maker *m, const struct runconf_tool *t, const char *what,
			   bool security)
{
	struct engine_spec *s = &m->pl->spec;
	struct strvec *to = security ? &s->security : &s->caps;
	struct plan_privilege p = { .security = security,
				    .wanted = t->tool->privileges_wanted,
				    .by = given_by_user(m->conf, what, security) };

	if (!p.by && m->conf->container.privileged_profiling) {
		p.by = PRIVILEGED;
		if (!strvec_has(to, what))
			strvec_push(to, what);
	}
	p.tool = xstrdup(t->tool->name);
	p.what = xstrdup(what);
	p.why = xstrdup_null(t->tool->because);
	VEC_PUSH(&m->pl->privileges, p);
}

void plan_privileges(struct maker *m)
{
	for (size_t i = 0; i < m->conf->tools.nr; i++) {
		const struct runconf_tool *t = &m->conf->tools.v[i];

		for (size_t k = 0; k < t->tool->caps.nr; k++)
			note_privilege(m, t, t->tool->caps.v[k], false);
		for (size_t k = 0; k < t->tool->security.nr; k++)
			note_privilege(m, t, t->tool->security.v[k], true);
	}
}
