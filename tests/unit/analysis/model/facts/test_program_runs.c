/* Executions of modules, and what belongs to them: known answers, ranges that are odd, a law. */
#include "model_support.h"
#include "program_runs.h"

enum { T1, T2, T3, DEV0, DEV1, LINE, PLACES };

struct program_row {
	int at; /* a place below */
	int64_t start, end;
	enum program_kind kind;
	const char *module, *op; /* NULL: not stated */
	int64_t run, device;     /* -1: not stated */
	const char *want;        /* "module execution ordinal" */
};

static void places_make(struct sink *s, track_id *t)
{
	struct track_def d = TRACK_DEF_INIT;
	track_id process[2];

	for (int i = 0; i < 2; i++) {
		d.kind = TRACK_PROCESS;
		d.pid = 7 + i;
		process[i] = s->ops->track(s, &d);
	}
	for (int i = T1; i <= T3; i++) {
		d.kind = TRACK_THREAD;
		d.parent = process[i == T3];
		d.pid = 7 + (i == T3);
		d.tid = 70 + i;
		t[i] = s->ops->track(s, &d);
	}
	for (int i = 0; i < 2; i++) {
		struct track_def dev = TRACK_DEF_INIT;

		dev.kind = TRACK_DEVICE;
		dev.device = i ? "gpu1" : "gpu0";
		dev.key = (uint64_t)i;
		dev.parent = s->ops->track(s, &dev);
		dev.kind = TRACK_QUEUE;
		t[DEV0 + i] = s->ops->track(s, &dev);
		dev.key = 10;
		if (i == 0)
			t[LINE] = s->ops->track(s, &dev);
	}
}

static void row_push(struct sink *s, const track_id *t, const struct program_row *r)
{
	struct span_facts f = { .kind = FACTS_PROGRAM, .program = PROGRAM_FACTS_NONE };
	span_id id = span_put(s, t[r->at], "span", r->start, r->end,
			      r->at >= DEV0 ? SPAN_ANNOTATION : SPAN_HOST, 0);

	f.program.kind = r->kind;
	f.program.module = r->module ? sink_puts(s, r->module) : STR_NONE;
	f.program.op = r->op ? sink_puts(s, r->op) : STR_NONE;
	f.program.run = r->run < 0 ? FACT_ABSENT : r->run;
	f.program.device = r->device < 0 ? FACT_ABSENT : r->device;
	f.program.program_id = r->start;
	f.program.execution = f.program.ordinal = 99;
	s->ops->facts(s, id, &f);
}

/* Pushed backwards, so that sorting matters; compared by start. */
static uint64_t rows_expect(const struct program_row *rows, size_t nr)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	track_id t[PLACES];

	places_make(model_sink(m), t);
	for (size_t i = nr; i > 0; i--)
		row_push(model_sink(m), t, &rows[i - 1]);
	model_ended(m);
	assert_int_equal(m->facts.programs.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct program_facts *f = NULL;
		char text[64];

		for (size_t k = 0; k < nr; k++)
			if (m->facts.programs.v[k].kind == rows[i].kind &&
			    m->spans.start_ns[m->facts.programs.v[k].span] == rows[i].start &&
			    m->spans.track[m->facts.programs.v[k].span] == t[rows[i].at])
				f = &m->facts.programs.v[k];
		assert_non_null(f);
		snprintf(text, sizeof(text), "%s %d %d",
			 f->module == STR_NONE ? "-" : model_str(m, f->module), (int)f->execution,
			 (int)f->ordinal);
		if (strcmp(text, rows[i].want) != 0)
			fail_msg("row %zu is '%s', not '%s'", i, text, rows[i].want);
	}
	return warned(m, W_OP_WITHOUT_MODULE);
}

#define M PROGRAM_MODULE
#define O PROGRAM_OP
#define WK PROGRAM_WORK
#define ROWS(lost, ...) \
	do { \
		static const struct program_row rows_[] = { __VA_ARGS__ }; \
		assert_int_equal(rows_expect(rows_, sizeof(rows_) / sizeof(*rows_)), lost); \
	} while (0)

TEST(operations_count_in_the_execution_around_them)
{
	ROWS(2, { T1, -5, -1, O, NULL, "a", -1, -1, "- -1 -1" },
	     { T1, 0, 100, M, "f", NULL, -1, 0, "f 0 -1" },
	     { T1, 10, 20, O, NULL, "a", -1, -1, "f 0 0" },
	     { T1, 20, 30, O, NULL, "b", -1, -1, "f 0 0" },
	     { T1, 30, 40, O, NULL, "a", -1, -1, "f 0 1" },
	     { T1, 100, 200, M, "f", NULL, -1, 0, "f 1 -1" },
	     { T1, 101, 110, O, NULL, "a", -1, -1, "f 1 0" },
	     { T1, 200, 200, O, NULL, "a", -1, -1, "- -1 -1" },
	     { T1, 300, 310, M, "g", NULL, -1, 0, "g 0 -1" },
	     { T1, 301, 302, O, NULL, NULL, -1, -1, "g 0 -1" });
}

TEST(devices_and_processes_count_apart)
{
	ROWS(0, { T1, 0, 100, M, "f", NULL, -1, 0, "f 0 -1" },
	     { T2, 50, 150, M, "f", NULL, -1, 1, "f 0 -1" },
	     { T2, 200, 250, M, "f", NULL, -1, 0, "f 1 -1" },
	     { T3, 210, 220, M, "f", NULL, -1, -1, "f 0 -1" },
	     { T3, 230, 240, M, "f", NULL, -1, -1, "f 1 -1" },
	     { DEV0, 0, 10, M, "f", NULL, -1, -1, "f 0 -1" },
	     { LINE, 20, 30, M, "f", NULL, -1, -1, "f 1 -1" },
	     { DEV1, 20, 30, M, "f", NULL, -1, -1, "f 0 -1" },
	     { DEV0, 25, 26, O, NULL, "a", -1, -1, "f 1 0" });
}

TEST(modules_inside_modules_are_the_inner_ones)
{
	ROWS(0, { T1, 0, 100, M, "f", NULL, -1, 0, "f 0 -1" },
	     { T1, 10, 50, M, "g", NULL, -1, 0, "g 0 -1" },
	     { T1, 20, 30, O, NULL, "a", -1, -1, "g 0 0" },
	     { T1, 30, 40, O, "f", "a", -1, -1, "f 0 0" },
	     { T1, 60, 70, O, NULL, "a", -1, -1, "f 0 1" },
	     /* as long as its module, and of the same moment */
	     { T1, 200, 300, M, "f", NULL, -1, 0, "f 1 -1" },
	     { T1, 200, 300, O, NULL, "a", -1, -1, "f 1 0" });
}

TEST(run_numbers_come_before_time)
{
	ROWS(0, { LINE, 0, 100, M, "f", NULL, 40, -1, "f 0 -1" },
	     { LINE, 50, 150, M, "f", NULL, 41, -1, "f 1 -1" },
	     { DEV0, 60, 70, WK, "f", "a", 40, -1, "f 0 0" },
	     { DEV0, 70, 80, WK, "f", "a", 41, -1, "f 1 0" },
	     { DEV0, 80, 90, O, "f", "a", 41, -1, "f 1 0" },
	     { DEV0, 160, 170, WK, "f", "a", 41, -1, "f 1 1" },
	     /* a number without a module's row, where there are such rows */
	     { DEV0, 180, 190, WK, "f", "a", 42, -1, "f -1 -1" },
	     /* the one that was open last */
	     { DEV0, 110, 115, WK, "f", "b", -1, -1, "f 1 1" },
	     { DEV0, 95, 99, WK, "f", "b", -1, -1, "f 1 0" });
}

/* Of an operation any execution goes on, however many of them ran it in between. */
TEST(executions_that_overlap_keep_their_counts)
{
	ROWS(0, { DEV0, 10, 11, WK, "f", "a", 1, -1, "f 0 0" },
	     { DEV0, 11, 12, WK, "f", "a", 1, -1, "f 0 1" },
	     { DEV0, 12, 13, WK, "f", "a", 2, -1, "f 1 0" },
	     { LINE, 13, 14, WK, "f", "a", 3, -1, "f 2 0" },
	     { DEV0, 14, 15, WK, "f", "a", 1, -1, "f 0 2" },
	     { DEV0, 15, 16, WK, "f", "b", 1, -1, "f 0 0" },
	     { DEV0, 16, 17, WK, "f", "a", 3, -1, "f 2 1" },
	     { LINE, 17, 18, WK, "f", "a", 2, -1, "f 1 1" },
	     { LINE, 18, 19, WK, "f", "a", 1, -1, "f 0 3" },
	     { DEV0, 19, 20, O, "f", "a", 1, -1, "f 0 0" },
	     { DEV0, 20, 21, WK, "f", "a", 4, -1, "f 3 0" },
	     { DEV0, 21, 22, WK, "f", "a", 3, -1, "f 2 2" });
	/* without numbers: on the host, in modules of two threads for one device */
	ROWS(0, { T1, 0, 100, M, "f", NULL, -1, 0, "f 0 -1" },
	     { T2, 1, 50, M, "f", NULL, -1, 0, "f 1 -1" },
	     { T1, 10, 11, O, NULL, "a", -1, -1, "f 0 0" },
	     { T2, 20, 21, O, NULL, "a", -1, -1, "f 1 0" },
	     { T1, 30, 31, O, NULL, "a", -1, -1, "f 0 1" },
	     { T2, 40, 41, O, NULL, "a", -1, -1, "f 1 1" },
	     { T1, 60, 61, O, NULL, "a", -1, -1, "f 0 2" });
}

TEST(run_numbers_alone_are_executions)
{
	ROWS(0, { DEV0, 60, 70, WK, "f", "a", 9, -1, "f 0 0" },
	     { DEV0, 70, 80, WK, "f", "a", 9, -1, "f 0 1" },
	     { DEV0, 80, 90, WK, "f", "a", 3, -1, "f 1 0" },
	     { DEV0, 90, 95, WK, "g", "a", 3, -1, "g 0 0" },
	     { DEV1, 99, 100, WK, "f", "a", 3, -1, "f 0 0" },
	     { DEV1, 100, 101, WK, "f", "a", -1, -1, "f -1 -1" });
}

TEST(compilations_have_no_execution)
{
	ROWS(0, { T1, 0, 100, PROGRAM_COMPILE, "f", NULL, -1, -1, "f -1 -1" },
	     { T1, 10, 20, PROGRAM_COMPILE, NULL, "fusion", -1, -1, "- -1 -1" },
	     { T1, 10, 20, PROGRAM_UNKNOWN, NULL, NULL, -1, -1, "- -1 -1" },
	     { T1, 30, 40, M, NULL, NULL, -1, -1, "- -1 -1" });
}

TEST(operations_take_what_their_module_states)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	struct span_facts f = { .kind = FACTS_PROGRAM, .program = PROGRAM_FACTS_NONE };
	track_id t = thread_of(s, NULL, 7, 70);
	const struct program_facts *op;

	f.program.kind = PROGRAM_MODULE;
	f.program.module = sink_puts(s, "jit_f");
	f.program.fingerprint = sink_puts(s, "0123abc");
	f.program.program_id = 12;
	f.program.run = 5;
	f.program.device = 3;
	s->ops->facts(s, span_put(s, t, "m", 0, 100, SPAN_HOST, 0), &f);
	f.program = PROGRAM_FACTS_NONE;
	f.program.kind = PROGRAM_OP;
	f.program.op = sink_puts(s, "dot.1");
	f.program.program_id = 13;
	s->ops->facts(s, span_put(s, t, "o", 10, 20, SPAN_HOST, 0), &f);
	model_ended(m);
	op = facts_program(m, 1);
	assert_string_equal(model_str(m, op->module), "jit_f");
	assert_string_equal(model_str(m, op->fingerprint), "0123abc");
	assert_string_equal(model_str(m, op->op), "dot.1");
	assert_int_equal(op->program_id, 13);
	assert_int_equal(op->run, 5);
	assert_int_equal(op->device, 3);
	assert_int_equal(op->execution, 0);
	assert_int_equal(op->ordinal, 0);
	assert_null(facts_program(m, 2));
}

/* Each execution k of a thread has k % 4 operations a: they know their k, whatever the order. */
TEST(many_executions_keep_their_operations)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	track_id t[PLACES];

	places_make(s, t);
	for (int k = 4999; k >= 0; k--) {
		int64_t at = k * 100;

		for (int i = 0; i < k % 4; i++) {
			struct program_row o = { T1, at + 10 * i, at + 10 * i + 5, O, NULL, "a", -1,
						 -1, NULL };
			row_push(s, t, &o);
		}
		row_push(s, t,
			 &(struct program_row){ T1, at, at + 100, M, "f", NULL, -1, 0, NULL });
	}
	model_ended(m);
	for (size_t i = 0; i < m->facts.programs.nr; i++) {
		const struct program_facts *f = &m->facts.programs.v[i];
		int64_t start = m->spans.start_ns[f->span];

		assert_int_equal(f->execution, start / 100);
		if (f->kind == O)
			assert_int_equal(f->ordinal, start % 100 / 10);
	}
	/* 1250 times 0 + 1 + 2 + 3 */
	assert_int_equal(m->facts.programs.nr, 5000 + 7500);
}
