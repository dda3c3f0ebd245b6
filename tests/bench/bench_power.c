/*
 * bench_power: how long the fit of powers takes alone: calls of 100 000 classes in random order, of
 * 0.4 intervals each, which makes 3.5 parts of each of 1 000 000 intervals. The median of
 * BENCH_RUNS=3 rounds of CPU time; seconds only inform.
 */
#include "bench_run.h"

#include <math.h>
#include <time.h>

#include "profrig/base/mix.h"
#include "profrig/base/vec.h"
#include "profrig/energy/power_fit.h"

#define CLASSES 100000
#define INTERVALS 1000000
#define CALL_S 0.4 /* of intervals of a second */

static uint64_t seed = 5;

static double uniform(double from, double to)
{
	return from + (to - from) * ((double)(splitmix64(&seed) >> 11) * 0x1p-53);
}

struct recording {
	struct power_data d;
	uint64_t *number;
	double *energy_j, *length_s;
	size_t *first;
	VEC(struct power_part) parts;
};

struct call {
	uint32_t class_id;
	double w, left_s;
};

static void call_begin(const double *power_w, struct call *c)
{
	c->class_id = (uint32_t)(splitmix64(&seed) % CLASSES);
	c->w = power_w[c->class_id] * uniform(0.9, 1.1);
	c->left_s = CALL_S * uniform(0.5, 1.5);
}

/* The parts of an interval, each class once. */
static void part_add(struct recording *r, size_t i, const struct power_part *p)
{
	for (size_t k = r->first[i]; k < r->parts.nr; k++) {
		struct power_part *there = &r->parts.v[k];

		if (there->class_id != p->class_id)
			continue;
		there->t_s += p->t_s;
		there->end = p->end;
		return;
	}
	VEC_PUSH(&r->parts, *p);
}

static void interval_make(struct recording *r, size_t i, const double *power_w, struct call *now)
{
	r->number[i] = i;
	r->length_s[i] = 1;
	r->first[i] = r->parts.nr;
	for (double left_s = 1; left_s > 0;) {
		double s = fmin(now->left_s, left_s);
		bool begins = left_s == 1, ends = s == left_s;

		part_add(r, i, &(struct power_part){ now->class_id, (float)s, begins, ends, 0 });
		r->energy_j[i] += now->w * s;
		left_s -= s;
		now->left_s -= s;
		if (now->left_s <= 0)
			call_begin(power_w, now);
	}
	r->first[i + 1] = r->parts.nr;
}

static void recording_make(struct recording *r)
{
	CLEANUP(xfreep) double *power_w = xcalloc(CLASSES, sizeof(*power_w));
	struct call now;

	*r = (struct recording){ .number = xcalloc(INTERVALS, sizeof(*r->number)),
				 .energy_j = xcalloc(INTERVALS, sizeof(*r->energy_j)),
				 .length_s = xcalloc(INTERVALS, sizeof(*r->length_s)),
				 .first = xcalloc(INTERVALS + 1, sizeof(*r->first)) };
	for (size_t c = 0; c < CLASSES; c++)
		power_w[c] = uniform(60, 500);
	call_begin(power_w, &now);
	for (size_t i = 0; i < INTERVALS; i++)
		interval_make(r, i, power_w, &now);
	r->d = (struct power_data){ .n = INTERVALS,
				    .number = r->number,
				    .energy_j = r->energy_j,
				    .length_s = r->length_s,
				    .first = r->first,
				    .parts = r->parts.v,
				    .classes = CLASSES,
				    .always = POWER_NO_CLASS,
				    .known = POWER_NO_CLASS };
}

static void recording_release(struct recording *r)
{
	free(r->number);
	free(r->energy_j);
	free(r->length_s);
	free(r->first);
	VEC_RELEASE(&r->parts);
}

static double fit_measure(const struct power_data *d)
{
	struct power_fit fit;
	clock_t began = clock();
	double took;

	power_fit_make(d, &fit);
	took = (double)(clock() - began) / CLOCKS_PER_SEC;
	if (fit.used != POWER_USED) {
		fputs("bench: powers are not used\n", stderr);
		exit(1);
	}
	power_fit_release(&fit);
	return took;
}

int main(void)
{
	struct cost runs[MAX_RUNS] = { 0 };
	uint64_t nr = number("BENCH_RUNS", 3, MAX_RUNS);
	struct recording r;

	recording_make(&r);
	for (uint64_t k = 0; k < nr; k++)
		runs[k].s = fit_measure(&r.d);
	qsort(runs, nr, sizeof(*runs), by_seconds);
	printf("power: %d classes, %d intervals, %.1f M parts: %.1f s\n", CLASSES, INTERVALS,
	       (double)r.parts.nr * 1e-6, runs[nr / 2].s);
	recording_release(&r);
	return 0;
}
