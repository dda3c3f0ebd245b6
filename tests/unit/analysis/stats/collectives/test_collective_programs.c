/*
 * Collectives of compiled programs are matched by their module's name and execution, whatever ids
 * and fingerprints the ranks' programs have: small cases, and the recording jax/pax-fsdp4, whose
 * rank 3 has a program with another fingerprint (nsys-jax's fifth case).
 */
#include "parts_test.h"

#include <math.h>

#include "profrig/model/warnings.h"

#define KERNEL "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

static struct rank_maker programs_begin(void)
{
	struct rank_maker k = { .m = model_new() };

	k.s = model_sink(k.m);
	k.s->ops->input(k.s, "test", "tef");
	k.s->ops->clock(k.s);
	return k;
}

static struct model *programs_end(struct rank_maker *k)
{
	k->s->ops->input_end(k->s);
	model_finish(k->m);
	return k->m;
}

static track_id rank_device(struct rank_maker *k, int rank)
{
	CLEANUP(xfreep) char *device = xasprintf("gpu%d", rank);
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_DEVICE;
	d.rank = rank;
	d.device = device;
	d.key = (uint64_t)rank;
	return k->s->ops->track(k->s, &d);
}

static track_id rank_line(struct rank_maker *k, int rank, int64_t line)
{
	CLEANUP(xfreep) char *device = xasprintf("gpu%d", rank);
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_QUEUE;
	d.parent = rank_device(k, rank);
	d.rank = rank;
	d.device = device;
	d.pid = 100 + rank;
	d.tid = line;
	return k->s->ops->track(k->s, &d);
}

static void push_program(struct rank_maker *k, int rank, enum program_kind kind, int64_t start_ns,
			 int64_t end_ns, const char *text, const char *fingerprint)
{
	struct span_facts f = { .kind = FACTS_PROGRAM, .program = PROGRAM_FACTS_NONE };
	struct span_def d = { .track = rank_line(k, rank, kind == PROGRAM_MODULE ? 1 : 7),
			      .kind = kind == PROGRAM_MODULE ? SPAN_ANNOTATION : SPAN_KERNEL,
			      .start_ns = start_ns,
			      .end_ns = end_ns,
			      .name = sink_puts(k->s, kind == PROGRAM_MODULE ? text : KERNEL),
			      .args = STR_NONE };
	span_id id = k->s->ops->span(k->s, &d);

	f.program.kind = kind;
	f.program.fingerprint = sink_puts(k->s, fingerprint);
	if (kind == PROGRAM_MODULE)
		f.program.module = sink_puts(k->s, text);
	else
		f.program.op = sink_puts(k->s, text);
	k->s->ops->facts(k->s, id, &f);
}

static uint64_t warnings_of(const struct model *m, const char *code)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, code) == 0)
			return m->warnings.v[i].count;
	return 0;
}

/* Two executions on three ranks, an operation twice in each; lack: rank 2 has no second one. */
static struct model *three_ranks(bool lack)
{
	struct rank_maker k = programs_begin();
	const char *id[] = { "aa", "aa", "bb" };

	for (int rank = 0; rank < 3; rank++)
		for (int run = 0; run < 2; run++) {
			int64_t at = 1000 * run + 10 * rank;

			push_program(&k, rank, PROGRAM_MODULE, at, at + 500, "jit_f", id[rank]);
			push_program(&k, rank, PROGRAM_WORK, at + 10, at + 50, "all-reduce.1",
				     id[rank]);
			push_program(&k, rank, PROGRAM_WORK, at + 60, at + 90, "all-gather.2",
				     id[rank]);
			if (!lack || rank != 2)
				push_program(&k, rank, PROGRAM_WORK, at + 100, at + 150,
					     "all-reduce.1", id[rank]);
		}
	return programs_end(&k);
}

TEST(by_module_execution_and_operation)
{
	CLEANUP(model_freep) struct model *m = three_ranks(false);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);
	const struct table *t = table_set_find(&ts, "collective_instances");

	expect_table(t, "group seq op ranks complete start_ns transfer_ns skew_ns\n"
			"jit_f 0 all-reduce.1 3 yes 10 40 20\n"
			"jit_f 0 all-gather.2 3 yes 60 30 20\n"
			"jit_f 0 all-reduce.1 3 yes 100 50 20\n"
			"jit_f 1 all-reduce.1 3 yes 1010 40 20\n"
			"jit_f 1 all-gather.2 3 yes 1060 30 20\n"
			"jit_f 1 all-reduce.1 3 yes 1100 50 20\n");
	assert_int_equal(warnings_of(m, W_COLLECTIVE_GROUPS), 0);
	assert_int_equal(warnings_of(m, W_COLLECTIVE_INCOMPLETE), 0);
}

TEST(a_rank_that_lacks_one)
{
	CLEANUP(model_freep) struct model *m = three_ranks(true);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);
	const struct table *t = table_set_find(&ts, "collective_instances");

	assert_int_equal(table_rows(t), 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(str_of(t, i, "complete"), i % 3 == 2 ? "no" : "yes");
	assert_int_equal(warnings_of(m, W_COLLECTIVE_INCOMPLETE), 2);
}

/* A module that one of three ranks has under another name: groups of 1 and 2, and it is said. */
TEST(fragments_are_warned_of)
{
	struct rank_maker k = programs_begin();

	for (int rank = 0; rank < 3; rank++) {
		push_program(&k, rank, PROGRAM_MODULE, 0, 500, rank ? "jit_f" : "jit_f__1", "aa");
		push_program(&k, rank, PROGRAM_WORK, 10, 50, "all-reduce.1", "aa");
	}
	CLEANUP(model_freep) struct model *m = programs_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);

	assert_int_equal(table_rows(table_set_find(&ts, "collective_instances")), 2);
	assert_int_equal(warnings_of(m, W_COLLECTIVE_GROUPS), 2);
}

/* ---- the recording ---- */

static void push_rows(struct rank_maker *k, const char *file, bool modules)
{
	struct csv_reader *r = jax_open(file);
	char *const *f;
	size_t n;

	while (csv_next(r, &f, &n, NULL) == 1) {
		int64_t start = jax_ns(f[modules ? 7 : 8]),
			end = start + jax_ns(f[modules ? 6 : 7]);
		int rank = f[modules ? 2 : 4][0] - '0';

		if (!modules)
			end += jax_ns(f[12]);
		push_program(k, rank, modules ? PROGRAM_MODULE : PROGRAM_WORK, start, end,
			     f[modules ? 3 : 2], f[0]);
	}
	csv_free(r);
}

TEST(recording_with_two_fingerprints)
{
	static const double offsets[] = { -25631623, -54172429, -200045644, 279849693 };

	free(test_trace("jax"));
	struct rank_maker k = programs_begin();

	push_rows(&k, "jax4_module.csv", true);
	push_rows(&k, "jax4_communication.csv", false);
	CLEANUP(model_freep) struct model *m = programs_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);
	const struct table *t = table_set_find(&ts, "collective_instances");

	assert_int_equal(m->facts.programs.nr, 1283 + 480);
	assert_int_equal(table_rows(t), 120);
	for (size_t i = 0; i < table_rows(t); i++) {
		assert_int_equal(num_of(t, i, "present"), 4);
		assert_string_equal(str_of(t, i, "complete"), "yes");
	}
	assert_int_equal(warnings_of(m, W_COLLECTIVE_GROUPS), 0);
	t = table_set_find(&ts, "alignment");
	assert_int_equal(table_rows(t), 4);
	for (size_t r = 0; r < 4; r++)
		assert_true(fabs(num_of(t, r, "offset_ns") - offsets[r]) < 1000);
}

/* Execution 3 of the step function on each device: its time is what the step report has. */
TEST(step_of_the_recording)
{
	static const int64_t wall[] = { 127464524, 125548221, 126814507, 127164002 };
	static const int64_t busy[] = { 124230078, 122498172, 123598359, 124215086 };
	struct csv_reader *r;
	char *const *f;
	size_t n, seen = 0;

	free(test_trace("jax"));
	struct rank_maker k = programs_begin();

	push_rows(&k, "jax4_module.csv", true);
	r = jax_open("jax4_thunk_stepfn_exec3.csv");
	while (csv_next(r, &f, &n, NULL) == 1) {
		int64_t start = jax_ns(f[8]), end = start + jax_ns(f[7]) + jax_ns(f[13]);

		push_program(&k, f[4][0] - '0', PROGRAM_WORK, start, end, f[2], f[0]);
	}
	csv_free(r);
	CLEANUP(model_freep) struct model *m = programs_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_program_modules);
	const struct table *t = table_set_find(&ts, "program_modules");

	for (size_t i = 0; i < table_rows(t); i++) {
		const char *device = str_of(t, i, "device");
		int rank = device[strlen(device) - 1] - '0';

		if (strcmp(str_of(t, i, "module"), "pjit__wrapped_step_fn") != 0)
			continue;
		assert_int_equal(num_of(t, i, "executions"), 5);
		assert_int_equal(num_of(t, i, "works"), 2610);
		assert_int_equal(num_of(t, i, "total_ns"), wall[rank]);
		assert_int_equal(num_of(t, i, "busy_ns"), busy[rank]);
		assert_int_equal(num_of(t, i, "programs"), 1);
		seen |= (size_t)1 << rank;
	}
	assert_int_equal(seen, 15);
}
