/* Attempts whose profrig is dead, and those that ended after the journal had their end. */
#include "drive_priv.h"

#include <math.h>

#include "profrig/base/fs.h"
#include "profrig/run/run.h"

static void sweep(const struct driving *d)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	CLEANUP(xfreep) char *runs = fs_join(d->j->dir, "runs");

	run_sweep_leftovers(runs, &lines, NULL);
	for (size_t i = 0; i < lines.nr; i++)
		drive_tell(d, DRIVE_NOTE, NULL, lines.v[i], 0, NAN);
}

void drive_sweep(struct driving *d, const struct attempt_name *a, struct attempt_outcome *o)
{
	if (o->class != ATTEMPT_INTERRUPTED || o->running)
		return;
	d->swept = true;
	sweep(d);
	attempt_judge(&d->j->where, a, o);
}

void drive_sweep_rest(struct driving *d)
{
	if (d->swept)
		sweep(d);
}

/* Of a run that is committed: its other attempts. */
static int late_ones(struct driving *d, const struct run_state *r)
{
	const uint32_t attempts = r->attempts, committed = r->committed;
	const char *const run = r->name;
	struct attempt_name of;
	int rc = 0;

	if (!attempt_name_parse(run, &of))
		return 0;
	for (uint32_t n = 1; n <= attempts && rc == 0; n++) {
		struct attempt_outcome o;
		struct attempt_name a;

		if (n == committed || campaign_state_is_superseded(&d->j->state, run, n))
			continue;
		attempt_name_make(of.cell, of.repeat, n, &a);
		attempt_judge(&d->j->where, &a, &o);
		/* one that was throttled has no need to count */
		if (o.class == ATTEMPT_OK && !o.running && !o.throttled)
			rc = campaign_job_note(d->j, "superseded", run, n, NULL, d->err);
	}
	return rc;
}

int drive_late(struct driving *d)
{
	struct campaign_state *s = &d->j->state;
	int r = 0;

	for (size_t i = 0; i < s->runs.nr && r == 0; i++)
		if (s->runs.v[i].stage == RUN_COMMITTED && s->runs.v[i].attempts > 1)
			r = late_ones(d, &s->runs.v[i]);
	return r;
}
