/*
 * Modules and operations of compiled programs: work goes to the operation that launched it, the cut
 * last execution, warm-up (nsys-jax's sixth case), costs of operations, waits of collectives.
 */
#include "stats_test.h"

#include "profrig/work/program_work.h"

#define MODULE "XlaModule:#hlo_module=jit_f,program_id=7#"

struct launching {
	struct maker k;
	track_id thread, queue, other;
	uint64_t correlation;
};

static struct launching launching_begin(void)
{
	struct launching l = { .k = make_begin() };

	l.thread = make_thread(&l.k, 1, 1, 0, "XlaLauncher:#global=0,local=0,process=0,slice=0#");
	l.queue = make_queue(&l.k, "gpu0", 7);
	l.other = make_queue(&l.k, "gpu0", 8);
	return l;
}

/* A thunk from at to at + 10 that launches work [start, end). */
static void thunk(struct launching *l, int64_t at, const char *op, track_id queue, int64_t start,
		  int64_t end)
{
	CLEANUP(xfreep) char *name = xasprintf("TSL:Thunk:#hlo_op=%s#", op);

	l->correlation++;
	make_call(&l->k, l->thread, at, at + 10, name);
	make_span(&l->k, l->thread, SPAN_HOST, at + 2, at + 4, "launch", l->correlation);
	make_span(&l->k, queue, SPAN_KERNEL, start, end,
		  strncmp(op, "all-", 4) == 0 ? "ncclDevKernel_AllReduce" : "fusion",
		  l->correlation);
}

/* Four whole executions and one with a single operation. */
static struct model *five(bool compiled, bool communicates)
{
	struct launching l = launching_begin();

	if (compiled)
		make_call(&l.k, make_thread(&l.k, 1, 2, 0, "main"), 0, 50,
			  "XlaCompile:#module=jit_f,program_id=7#");
	for (int64_t i = 0; i < 5; i++) {
		int64_t at = 1000 * (i + 1);

		make_call(&l.k, l.thread, at, at + 100, MODULE);
		thunk(&l, at, "fusion.1", l.queue, at + 100, at + 200 + i);
		if (i == 4)
			break;
		thunk(&l, at + 20, "fusion.1", l.queue, at + 210, at + 250);
		thunk(&l, at + 40, communicates ? "all-reduce.2" : "dot.2", l.other, at + 220,
		      at + 320 - i);
	}
	return make_end(&l.k);
}

TEST(modules_of_a_device)
{
	CLEANUP(model_freep) struct model *m = five(true, true);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_program_modules);

	/* 220 − i; behind two executions of warm-up, without the cut one: 218 and 217 */
	expect_table(table_set_find(&ts, "program_modules"),
		     "device rank module executions ops works total_ns mean_ns stddev_ns min_ns "
		     "max_ns busy_ns share steady cut programs\n"
		     "gpu0 0 jit_f 5 3 13 978 217.5 0.70710678118654757 217 218 944 1 3 1 1\n");
	expect_table(table_set_find(&ts, "program_ops"),
		     "module op class calls works total_ns min_ns mean_ns max_ns cost_ns\n"
		     "jit_f all-reduce.2 collective 2 2 195 97 97.5 98 98\n"
		     "jit_f fusion.1 compute 4 4 285 40 71.25 103 40\n");
}

TEST(warmup_of_modules)
{
	static const struct {
		bool compiled, communicates;
		int steady;
	} cases[] = {
		{ true, true, 3 }, { false, true, 4 }, { true, false, 4 }, { false, false, 5 }
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep)
		struct model *m = five(cases[i].compiled, cases[i].communicates);
		CLEANUP(table_set_release)
		struct table_set ts = analyse(m, &analysis_program_modules);

		assert_int_equal(num_of(table_set_find(&ts, "program_modules"), 0, "steady"),
				 cases[i].steady);
	}
}

/* Two executions, both of which are warm-up: all are kept. */
TEST(nothing_is_steady)
{
	struct launching l = launching_begin();

	make_call(&l.k, make_thread(&l.k, 1, 2, 0, "main"), 0, 50,
		  "XlaCompile:#module=jit_f,program_id=7#");
	for (int64_t at = 1000; at < 3000; at += 1000) {
		make_call(&l.k, l.thread, at, at + 100, MODULE);
		thunk(&l, at, "all-reduce.2", l.queue, at + 100, at + 200);
	}
	CLEANUP(model_freep) struct model *m = make_end(&l.k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_program_modules);

	expect_table(table_set_find(&ts, "program_modules"),
		     "executions steady cut mean_ns\n2 2 0 100\n");
}

/* Nested modules and operations: the innermost ones; work of no program; launches of no thunk. */
TEST(odd_programs)
{
	struct launching l = launching_begin();

	make_call(&l.k, l.thread, 0, 200, MODULE);
	make_call(&l.k, l.thread, 10, 100, "Thunk:#hlo_op=while.1#");
	make_call(&l.k, l.thread, 20, 90, "XlaModule:#hlo_module=body#");
	thunk(&l, 30, "fusion.3", l.queue, 300, 310);
	make_span(&l.k, l.thread, SPAN_HOST, 95, 96, "launch", 90);
	make_span(&l.k, l.queue, SPAN_KERNEL, 320, 330, "of while", 90);
	make_span(&l.k, l.thread, SPAN_HOST, 150, 151, "launch", 91);
	make_span(&l.k, l.queue, SPAN_KERNEL, 340, 350, "of the module", 91);
	make_span(&l.k, l.queue, SPAN_KERNEL, 360, 370, "of none", 0);
	make_call(&l.k, l.thread, 500, 600, MODULE);
	CLEANUP(model_freep) struct model *m = make_end(&l.k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_program_modules);

	expect_table(table_set_find(&ts, "program_modules"),
		     "device rank module executions works total_ns\n"
		     "gpu0 0 body 1 1 10\n"
		     "gpu0 0 jit_f 2 2 30\n");
	expect_table(table_set_find(&ts, "program_ops"), "module op works total_ns\n"
							 "body fusion.3 1 10\n"
							 "jit_f while.1 1 10\n");
}

TEST(without_programs)
{
	struct maker k = make_begin();
	struct analysis_opts o = { .workload_start_ns = 0 };
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	make_span(&k, make_queue(&k, "gpu0", 1), SPAN_KERNEL, 0, 5, "k", 0);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	assert_int_equal(analysis_run(&analysis_program_modules, m, NULL, &o, &ts, NULL),
			 ANALYSIS_SKIPPED);
}

/* ---- lines of a device ---- */

static void line_push(struct maker *k, track_id t, enum program_kind kind, int64_t start,
		      int64_t end, const char *op)
{
	struct span_facts f = { .kind = FACTS_PROGRAM, .program = PROGRAM_FACTS_NONE };
	span_id id = make_span(k, t, kind == PROGRAM_WORK ? SPAN_KERNEL : SPAN_ANNOTATION, start,
			       end, "s", 0);

	f.program.kind = kind;
	f.program.module = sink_puts(k->s, "jit_f");
	f.program.op = op ? sink_puts(k->s, op) : STR_NONE;
	k->s->ops->facts(k->s, id, &f);
}

/* With the line of operations two executions of one operation are two, else one. */
TEST(operations_on_lines)
{
	for (int lines = 0; lines < 2; lines++) {
		struct maker k = make_begin();
		struct track_def d = TRACK_DEF_INIT;
		track_id q, line;

		d.kind = TRACK_DEVICE;
		d.device = "gpu0";
		d.parent = k.s->ops->track(k.s, &d);
		d.kind = TRACK_QUEUE;
		d.key = 1;
		q = k.s->ops->track(k.s, &d);
		d.key = 2;
		line = k.s->ops->track(k.s, &d);
		line_push(&k, line, PROGRAM_MODULE, 0, 100, NULL);
		line_push(&k, q, PROGRAM_WORK, 0, 10, "dot");
		line_push(&k, q, PROGRAM_WORK, 10, 20, "dot");
		line_push(&k, q, PROGRAM_WORK, 20, 40, "dot");
		line_push(&k, q, PROGRAM_WORK, 40, 50, "add");
		line_push(&k, q, PROGRAM_WORK, 50, 60, "dot");
		if (lines) {
			line_push(&k, line, PROGRAM_OP, 0, 20, "dot");
			line_push(&k, line, PROGRAM_OP, 20, 40, "dot");
		}
		CLEANUP(model_freep) struct model *m = make_end(&k);
		CLEANUP(table_set_release)
		struct table_set ts = analyse(m, &analysis_program_modules);

		expect_table(table_set_find(&ts, "program_ops"),
			     lines ? "op calls works total_ns\nadd 1 1 10\ndot 3 4 50\n"
				   : "op calls works total_ns\nadd 1 1 10\ndot 2 4 50\n");
	}
}
