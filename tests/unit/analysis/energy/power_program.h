/*
 * Programs whose powers are known, sampled by a counter that is slower than their calls, and what
 * the tables of energy by power must keep for all of them.
 */
#ifndef POWER_PROGRAM_H
#define POWER_PROGRAM_H

#include "energy_random.h"
#include "tables_support.h"

#define COUNTER "rocm_smi:::energy_count:device=0"
#define CLASSES 8
#define PERIOD_S 0.01
#define IDLE_W 30.0
#define STATIC_W 80.0

static inline double uniform(double from, double to)
{
	return from + (to - from) * (double)(random_u64() >> 11) * 0x1p-53;
}

/* ---- a program ---- */

/* Power steps: at t the power of the device changes by w. */
struct power_step {
	double t_s, w;
};

struct program {
	struct trace t;
	series_id counter;
	double power_w[CLASSES], truth_j[CLASSES];
	char names[CLASSES][16];
	VEC(struct power_step) steps;
	double end_s;
};

static inline void program_begin(struct program *p, uint64_t with_seed)
{
	*p = (struct program){ .t = trace_new() };
	seed = with_seed;
	p->counter = trace_series(&p->t, COUNTER, "#", SERIES_CUMULATIVE);
	for (int c = 0; c < CLASSES; c++) {
		p->power_w[c] = uniform(60, 500);
		snprintf(p->names[c], sizeof(p->names[c]), "f%d", c);
	}
}

static inline void power_between(struct program *p, double from_s, double to_s, double w)
{
	VEC_PUSH(&p->steps, ((struct power_step){ from_s, w }));
	VEC_PUSH(&p->steps, ((struct power_step){ to_s, -w }));
}

static inline int step_cmp(const void *a, const void *b)
{
	const struct power_step *x = a, *y = b;

	return (x->t_s > y->t_s) - (x->t_s < y->t_s);
}

/* Samples of the exact integral, in µJ. */
static inline void program_sample(struct program *p)
{
	double w = 0, j = 0, now_s = 0;
	size_t at = 0;

	qsort(p->steps.v, p->steps.nr, sizeof(*p->steps.v), step_cmp);
	for (int i = 0; i * PERIOD_S < p->end_s + PERIOD_S / 2; i++) {
		double t_s = i * PERIOD_S;

		for (; at < p->steps.nr && p->steps.v[at].t_s <= t_s; at++) {
			j += w * (p->steps.v[at].t_s - now_s);
			w += p->steps.v[at].w;
			now_s = p->steps.v[at].t_s;
		}
		j += w * (t_s - now_s);
		now_s = t_s;
		p->t.s->ops->sample(p->t.s, p->counter, ns(t_s), j * 1e6);
	}
	trace_finish(&p->t);
}

static inline void program_release(struct program *p)
{
	trace_release(&p->t);
	VEC_RELEASE(&p->steps);
}

/* Work on a queue, and where its energy is summed up. */
struct piece {
	double from_s, to_s;
	double *truth_j;
};

struct pieces {
	VEC(struct piece) v;
};

/* A piece that draws w over the static power, which it has alone so far. */
static inline void piece_add(struct program *p, struct pieces *to, double from_s, double to_s,
			     double w, double *truth_j)
{
	power_between(p, from_s, to_s, w);
	*truth_j += (w + STATIC_W) * (to_s - from_s);
	VEC_PUSH(&to->v, ((struct piece){ from_s, to_s, truth_j }));
}

/* Two queues have half of the static power each while both run. */
static inline void pieces_share(const struct pieces work[2])
{
	for (size_t i = 0; i < work[0].v.nr; i++) {
		for (size_t k = 0; k < work[1].v.nr; k++) {
			const struct piece *a = &work[0].v.v[i], *b = &work[1].v.v[k];
			double both_s = fmin(a->to_s, b->to_s) - fmax(a->from_s, b->from_s);

			if (both_s <= 0)
				continue;
			*a->truth_j -= STATIC_W / 2 * both_s;
			*b->truth_j -= STATIC_W / 2 * both_s;
		}
	}
}

static inline int class_named(const char *name)
{
	return name[0] == 'f' ? name[1] - '0' : -1;
}

/* By name: sums over tracks. */
static inline void assert_balance(const struct table_set *ts)
{
	const struct table *t = table_set_find(ts, "energy_totals");

	for (size_t r = 0; r < table_rows(t); r++) {
		double sum = num_of(t, r, "modelled_j") + num_of(t, r, "modelled_unattributed_j");

		assert_near(sum, num_of(t, r, "total_j"), 1e-9 * num_of(t, r, "total_j"));
	}
}

static inline bool is_of(const struct table *t, size_t r, const struct table *totals, size_t of)
{
	return strcmp(str_of(t, r, "view"), str_of(totals, of, "view")) == 0 &&
	       strcmp(str_of(t, r, "counter"), str_of(totals, of, "counter")) == 0;
}

/* By the columns of `energy`: which of the two is narrower, where nothing shares the device. */
static const char *narrower(const struct table *e, const struct table *totals, size_t of)
{
	double time_j2 = 0, power_j2 = 0;

	for (size_t r = 0; r < table_rows(e); r++) {
		double time_j = num_of(e, r, "uncertainty_j"),
		       power_j = num_of(e, r, "modelled_uncertainty_j");

		if (!is_of(e, r, totals, of) || isnan(time_j + power_j))
			continue;
		time_j = fmax(time_j,
			      fabs(num_of(e, r, "exclusive_j") - num_of(e, r, "modelled_j")));
		time_j2 += time_j * time_j;
		power_j2 += power_j * power_j;
	}
	return power_j2 < time_j2 ? "power" : "time";
}

/* Best of paths: one estimate for a counter and view, whose sum is what was counted. NULL: the
 * narrower. */
static inline void assert_best_paths(const struct table_set *ts, const char *estimate)
{
	const struct table *e = table_set_find(ts, "energy");
	const struct table *paths = table_set_find(ts, "energy_callpaths");
	const struct table *totals = table_set_find(ts, "energy_totals");

	for (size_t of = 0; of < table_rows(totals); of++) {
		const char *want = estimate ? estimate : narrower(e, totals, of);
		bool power = strcmp(want, "power") == 0;
		double sum_j = 0, total_j = num_of(totals, of, "total_j");

		for (size_t r = 0; r < table_rows(paths); r++) {
			if (!is_of(paths, r, totals, of))
				continue;
			assert_string_equal(str_of(paths, r, "estimate"), want);
			assert_near(num_of(paths, r, "best_j"),
				    num_of(paths, r, power ? "modelled_j" : "exclusive_j"), 0);
			assert_near(
				num_of(paths, r, "best_inclusive_j"),
				num_of(paths, r, power ? "modelled_inclusive_j" : "inclusive_j"),
				0);
			sum_j += num_of(paths, r, "best_j");
		}
		assert_near(sum_j, total_j, 1e-9 * total_j);
	}
}

#endif
