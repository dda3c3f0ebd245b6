#include "random_work.h"
#include "readers_test.h"
#include "tables_support.h"
#include "trace_text.h"

#include "profrig/work/works.h"

static void expect_overlap(const char *trace, const char *want)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, trace);
	struct table_set ts = run(m, "iteration_overlap", NULL);

	expect_table(table_set_find(&ts, "iteration_overlap"), want);
	table_set_release(&ts);
}

TEST(test_parts)
{
	/* a moment counts as compute, else as communication, else as a copy */
	expect_overlap("thread 1/1: step_1 0-10 l#1 1-2 l#2 2-3 l#3 3-4 step_2 10-20 l#4 11-12\n"
		       "queue gpu0/1: a#1 20-40 b#4 80-90\n"
		       "queue gpu0/2: ncclDevKernel_AllReduce#2 30-50\n"
		       "queue gpu0/3: c!c#3 45-60\n",
		       "iteration device wall_ns compute_ns comm_ns copy_ns exposed_comm_ns "
		       "hidden_comm_ns exposed_copy_ns idle_ns start_ns own_ns\n"
		       "step_1 gpu0 40 20 20 15 10 10 10 0 20 40\n"
		       "step_2 gpu0 10 10 0 0 0 0 0 0 80 10\n");
	/* work of others in the window is no idle time */
	expect_overlap("thread 1/1: step_1 0-10 l#1 1-2 l#2 2-3 step_2 10-20 l#3 11-12\n"
		       "queue gpu0/1: a#1 20-30 b#2 50-60\n"
		       "queue gpu0/2: c#3 35-45 old 28-32\n",
		       "iteration wall_ns compute_ns idle_ns own_ns\n"
		       "step_1 40 32 8 20\n"
		       "step_2 10 10 0 10\n");
	/* each device has a window of its own */
	expect_overlap("thread 1/1: step_1 0-10 l#1 1-2 l#2 2-3 l#3 3-4\n"
		       "queue gpu1/1: a#1 20-30 b#3 40-45\n"
		       "queue gpu0/1: c!c#2 35-45\n",
		       "iteration device wall_ns compute_ns exposed_copy_ns idle_ns\n"
		       "step_1 gpu0 10 0 10 0\n"
		       "step_1 gpu1 25 15 0 10\n");
}

TEST(test_skipped)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1: step_1 0-10\nqueue gpu0/1: a 1-2\n");
	struct table_set ts = run(m, "iteration_overlap", NULL);

	assert_int_equal(ts.skipped.nr, 1);
	assert_string_equal(ts.skipped.v[0].reason, "no iteration launched device work");
	table_set_release(&ts);
}

/* What a device does at a moment: 0 idle, else bits of classes. */
static unsigned doing(const struct works *w, uint32_t device, int64_t t_ns)
{
	const struct work_device *d = &w->devices.v[device];
	unsigned ret = 0;

	for (size_t i = d->first; i < d->first + d->nr; i++)
		if (w->v.v[i].start_ns <= t_ns && t_ns < w->v.v[i].end_ns)
			ret |= 1u << w->v.v[i].class;
	return ret;
}

static void expect_moments(const struct model *m, const struct works *w, const struct table *t,
			   size_t row)
{
	int64_t from = m->first_ns + (int64_t)num_of(t, row, "start_ns"), ns[4] = { 0 };
	int64_t to = from + (int64_t)num_of(t, row, "wall_ns");
	uint32_t device = 0;

	while (strcmp(model_str(m, w->devices.v[device].name), str_of(t, row, "device")) != 0)
		device++;
	for (int64_t at = from; at < to; at++) {
		unsigned is = doing(w, device, at);

		ns[is & 1u << WORK_COMPUTE ? 0 : is & 1u << WORK_COLLECTIVE ? 1 : is ? 2 : 3]++;
	}
	assert_int_equal(num_of(t, row, "compute_ns"), ns[0]);
	assert_int_equal(num_of(t, row, "exposed_comm_ns"), ns[1]);
	assert_int_equal(num_of(t, row, "exposed_copy_ns"), ns[2]);
	assert_int_equal(num_of(t, row, "idle_ns"), ns[3]);
	assert_int_equal(num_of(t, row, "comm_ns"),
			 num_of(t, row, "exposed_comm_ns") + num_of(t, row, "hidden_comm_ns"));
}

TEST(test_any_trace)
{
	size_t rows = 0;

	for (uint64_t seed = 1; seed <= 3000; seed++) {
		CLEANUP(model_freep) struct model *m = random_work_model(seed);
		struct table_set ts = run(m, "iteration_overlap", NULL);
		const struct table *t = table_set_find(&ts, "iteration_overlap");
		struct works *w = works_new(m);

		for (size_t i = 0; t && i < table_rows(t); i++)
			expect_moments(m, w, t, i);
		rows += t ? table_rows(t) : 0;
		works_free(w);
		table_set_release(&ts);
	}
	assert_true(rows > 3000);
}

/* Of one device, what is not idle in a window that has no work of others is the iteration's. */
TEST(test_recordings)
{
	static const char *const files[] = {
		"tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
		"tef/hta-nccl/nccl_data.json.gz",
	};

	for (size_t k = 0; k < ARRAY_LEN(files); k++) {
		struct reading rd = read_recording("tef", files[k], false);
		struct table_set its = run(rd.m, "iterations", NULL);
		struct table_set ts = run(rd.m, "iteration_overlap", NULL);
		const struct table *it = table_set_find(&its, "iterations");
		const struct table *t = table_set_find(&ts, "iteration_overlap");

		assert_int_equal(table_rows(t), table_rows(it));
		for (size_t i = 0; i < table_rows(t); i++) {
			double busy = num_of(t, i, "wall_ns") - num_of(t, i, "idle_ns");

			assert_true(num_of(t, i, "wall_ns") == num_of(it, i, "device_span_ns"));
			assert_true(num_of(t, i, "own_ns") == num_of(it, i, "union_ns"));
			assert_true(busy == num_of(it, i, "union_ns"));
		}
		table_set_release(&its);
		table_set_release(&ts);
		model_free(rd.m);
	}
}
