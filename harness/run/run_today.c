/* The facts that a run's run.json would hold, of this moment and without a run. */
#include "run_priv.h"

#include <stdlib.h>

/* A source that does not work here has no facts; preflight says why. */
static void note_sampler(struct run *rn, const struct plan_sampler *ps)
{
	const struct sampler *s = run_sampler_source(ps, NULL);
	const struct sampler_device *d = NULL;
	struct sampler_state *st = NULL;
	struct sampler_opts so;
	size_t n;

	if (!s)
		return;
	run_sampler_opts(ps, &so);
	n = s->open(&so, &st, NULL) == 0 ? s->devices(st, &d) : 0;
	for (size_t i = 0; i < n; i++) {
		struct run_device found = {
			s->name, d[i], { .nr = 0 }, s->estimated || d[i].estimated
		};

		if (s->facts)
			s->facts(st, i, &found.facts);
		VEC_PUSH(&rn->devices, found);
	}
	if (st)
		s->close(st);
	VEC_RELEASE(&so.options);
}

char *run_today_json(const struct plan *pl, const char *version)
{
	const struct run_opts o = { .version = version };
	struct run rn = { .pl = pl, .o = &o, .lock_fd = -1 };
	char *text;

	run_facts_begin(&rn);
	for (size_t i = 0; i < pl->samplers.nr; i++)
		note_sampler(&rn, &pl->samplers.v[i]);
	run_facts_end(&rn);
	text = run_json_text(&rn);
	VEC_RELEASE(&rn.devices);
	return text;
}
