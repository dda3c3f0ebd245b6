/*
 * How far energies of device work may be off: known answers, and powers that a sensor cannot see.
 */
#include "dice.h"
#include "energy_fixture.h"
#include "stats_test.h"
#include "work_energy.h"

static struct table_set table_by(struct model *m, const struct analysis *a)
{
	struct analysis_opts o = { .workload_start_ns = 0 };
	struct table_set ts = TABLE_SET_INIT;

	assert_true(analysis_run(a, m, NULL, &o, &ts, NULL) >= 0);
	return ts;
}

static void expect_energy(const char *trace, const struct analysis *a, const char *want)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1e9, trace);
	CLEANUP(table_set_release) struct table_set ts = table_by(m, a);

	expect_table(table_set_find(&ts, a->name), want);
}

#define COUNTER "series energy.gpu0 J cumulative: 0 0 10 100 20 300 30 350 40 450 50 450\n"

TEST(test_iterations)
{
	/* 8 of 10 s at both ends: 160 of 200 J, 80 of 100 J; what lies between is certain */
	expect_energy("thread 1/1: step_1 0-2 l#1 0-1 l#2 1-2\n"
		      "queue gpu0/1: a#1 12-25 b#2 31-38\n" COUNTER,
		      &analysis_iterations_tables, "marker joules uncertainty_j\nstep_1 290 240\n");
	/* at samples: nothing is uncertain */
	expect_energy("thread 1/1: step_1 0-2 l#1 0-1 l#2 1-2\n"
		      "queue gpu0/1: a#1 10-25 b#2 31-40\n" COUNTER,
		      &analysis_iterations_tables, "marker joules uncertainty_j\nstep_1 350 0\n");
	/* a quarter of one interval: the rest may have been its, too */
	expect_energy("thread 1/1: step_1 0-2 l#1 0-1\n"
		      "queue gpu0/1: a#1 12-14.5\n" COUNTER,
		      &analysis_iterations_tables, "marker joules uncertainty_j\nstep_1 50 150\n");
	/* others run in its time: all of the intervals are shared */
	expect_energy("thread 1/1: step_1 0-2 l#1 0-1\n"
		      "queue gpu0/1: a#1 10-30\n"
		      "queue gpu0/2: old 10-20\n" COUNTER,
		      &analysis_iterations_tables, "marker joules uncertainty_j\nstep_1 150 150\n");
}

TEST(test_causes)
{
	/* a gap of the device's own from 10 to 20, and one inside of an interval */
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "queue gpu0/1: a 0-10 b 20-22 c 24-30\n" COUNTER);
	CLEANUP(table_set_release) struct table_set ts = table_by(m, &analysis_idle);

	expect_table(table_set_find(&ts, "idle_causes"), "cause joules uncertainty_j\n"
							 "no_launch 210 40\n");
}

/* ---- powers that change between samples ---- */

enum { MOMENTS = 60, WORKS = 8 };

struct truth {
	int64_t from[WORKS], to[WORKS];
	double work_j[WORKS]; /* by work */
	double until_j[MOMENTS + 1];
};

/* At each moment each work, and a device that has none, uses what the dice say. */
static struct truth random_truth(struct dice *d)
{
	struct truth t = { .until_j = { 0 } };

	for (int i = 0; i < WORKS; i++) {
		t.from[i] = below(d, MOMENTS - 1);
		t.to[i] = t.from[i] + 1 + below(d, MOMENTS / 4);
		t.to[i] = t.to[i] > MOMENTS ? MOMENTS : t.to[i];
	}
	for (int at = 0; at < MOMENTS; at++) {
		double j = 0, idle_j = below(d, 4) ? 0 : below(d, 300);
		bool any = false;

		for (int i = 0; i < WORKS; i++) {
			double mine = t.from[i] <= at && at < t.to[i] ? below(d, 300) : 0;

			any |= t.from[i] <= at && at < t.to[i];
			t.work_j[i] += mine;
			j += mine;
		}
		t.until_j[at + 1] = t.until_j[at] + (any ? j : idle_j);
	}
	return t;
}

static struct model *model_of_truth(const struct truth *t, struct dice *d)
{
	struct maker k = make_begin();
	track_id thread = make_thread(&k, 1, 1, RANK_NONE, "t"), queues[2];
	struct series_def def = {
		.name = "energy.gpu0", .unit = "J", .kind = SERIES_CUMULATIVE, .track = TRACK_NONE
	};
	series_id s;

	queues[0] = make_queue(&k, "gpu0", 0);
	queues[1] = make_queue(&k, "gpu0", 1);
	make_span(&k, thread, SPAN_HOST, 0, 1000, "step_1", 0);
	for (int i = 0; i < WORKS; i++) {
		CLEANUP(xfreep) char *name = xasprintf("k%d", i);

		make_span(&k, thread, SPAN_HOST, i, i + 1, "launch", (uint64_t)i + 1);
		make_span(&k, queues[below(d, 2)], SPAN_KERNEL, t->from[i] * 1000, t->to[i] * 1000,
			  name, (uint64_t)i + 1);
	}
	s = k.s->ops->series(k.s, &def);
	for (int at = 0; at <= MOMENTS; at += 1 + (int)below(d, 15))
		k.s->ops->sample(k.s, s, at * 1000, t->until_j[at]);
	k.s->ops->sample(k.s, s, MOMENTS * 1000, t->until_j[MOMENTS]);
	return make_end(&k);
}

static void expect_within(int round, const struct joules *j, double true_j)
{
	double off_j = fabs(joules_value(j) - true_j);

	if (!(off_j <= joules_width(j) + 1e-6))
		ROW_FAIL(round, "%.9g ± %.9g J, in truth %.9g J", joules_value(j), joules_width(j),
			 true_j);
}

/* Returns how much of the energy the widths of single works leave open. */
static double check_truth(struct dice *d, int round)
{
	struct truth t = random_truth(d);
	CLEANUP(model_freep) struct model *m = model_of_truth(&t, d);
	struct analysis_opts o = { .shared = analysis_shared_new() };
	const struct works *w = analysis_works(m, &o);
	const struct work_energy *we = analysis_work_energy(m, &o);
	struct joules some = JOULES_INIT, *its;
	const struct iterations *it;
	double some_j = 0, open = 0;

	for (size_t i = 0; i < w->v.nr; i++) {
		const char *name = model_str(m, m->spans.name[w->v.v[i].span]);
		struct joules one = JOULES_INIT;
		int k = name[1] - '0';

		joules_add_work(&one, we, i);
		expect_within(round, &one, t.work_j[k]);
		open += joules_width(&one) / (t.until_j[MOMENTS] + 1);
		if (below(d, 2)) {
			joules_add_work(&some, we, i);
			some_j += t.work_j[k];
		}
	}
	if (some.pieces)
		expect_within(round, &some, some_j);
	assert_int_equal(analysis_iterations(m, &o, &it, NULL), 0);
	its = iteration_joules(we, it);
	assert_int_equal(it->v.nr, 1);
	expect_within(round, &its[0],
		      t.until_j[it->v.v[0].device_end_ns / 1000] -
			      t.until_j[it->v.v[0].device_start_ns / 1000]);
	free(its);
	analysis_shared_free(o.shared);
	return open / WORKS;
}

TEST(test_any_power)
{
	struct dice d = { .x = 11 };
	double open = 0;

	for (int round = 0; round < 10000; round++)
		open += check_truth(&d, round);
	/* all of it would be no statement */
	assert_true(open / 10000 < 0.3);
}
