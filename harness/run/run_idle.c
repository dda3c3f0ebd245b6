/*
 * Idle power: before and after the workload the samplers run alone for some time. This file only
 * waits and notes when it did; the analysis finds the power in the samples.
 */
#include "run_priv.h"

#include <math.h>
#include <string.h>

#define TICK_MS 250

static bool reads_power(const struct run *rn)
{
	for (size_t i = 0; i < rn->devices.nr; i++) {
		const struct sampler_device *d = &rn->devices.v[i].device;

		for (size_t k = 0; k < d->nr && k < SAMPLER_MAX_SERIES; k++)
			if (!strcmp(d->series[k].unit, "W") || !strcmp(d->series[k].unit, "J"))
				return true;
	}
	return false;
}

double run_idle_s(struct run *rn)
{
	double s = rn->pl->conf ? rn->pl->conf->idle_s : 0;

	if (!(s > 0) || !isfinite(s))
		return 0;
	if (reads_power(rn))
		return s;
	outcome_warn(
		&rn->outcome, W_IDLE_UNSAMPLED, "warning",
		"no sampler of this run reads power or energy, so idle power was not waited for");
	return 0;
}

static void agent_gone(struct run *rn, const char *who, const char *what)
{
	rn->link_lost = true;
	outcome_fail(&rn->outcome, RUN_FAILED, "%s %.300s while idle power was measured", who,
		     what);
}

/* A container that is stopped, or an agent that dies, also ends the wait. */
static void idle_listen(struct run *rn, int wait_ms)
{
	bool inside = rn->pl->engine->container;
	struct err err = ERR_INIT;
	json_t *ev = NULL;
	int r = link_next(&rn->link, wait_ms, &ev, &err);

	if (r < 0)
		agent_gone(rn, inside ? rn->pl->engine->name : "profrig-init", err.msg);
	else if (r > 0 && !strcmp(event_name(ev), "ending"))
		agent_gone(rn, inside ? "the container" : "profrig-init", "was stopped");
	json_decref(ev);
}

static void wait_until(struct run *rn, int64_t until_ns)
{
	int64_t left;

	while (!outcome_take_interrupt(&rn->outcome) && !rn->link_lost &&
	       (left = until_ns - clock_monotonic_ns()) > 0) {
		idle_listen(rn, left < TICK_MS * NS_PER_MS ? (int)(left / NS_PER_MS) + 1 : TICK_MS);
		if (rn->o->events.tick)
			rn->o->events.tick(rn->o->events.ctx);
	}
}

void run_idle(struct run *rn, const char *when, double s)
{
	struct run_idle_window w = { .when = when };
	char words[64];

	snprintf(words, sizeof(words), "idle %g s %s the workload", s, when);
	rn->outcome.phase = "idle";
	if (rn->o->events.phase)
		rn->o->events.phase(rn->o->events.ctx, words);
	run_samplers_mark(rn, "idle_start");
	w.start_ns = clock_monotonic_ns();
	wait_until(rn, w.start_ns + (int64_t)(s * 1e9));
	w.end_ns = clock_monotonic_ns();
	run_samplers_mark(rn, "idle_end");
	rn->idle_s += (double)(w.end_ns - w.start_ns) / 1e9;
	VEC_PUSH(&rn->idle, w);
}
