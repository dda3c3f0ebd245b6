/* Time of operations by their source: known answers, sums, dumps that lack and that differ. */
#include "stats_test.h"

#include "profrig/base/fs.h"
#include "profrig/hlo/hlo.h"

#define HEAD \
	"HloModule jit_f, is_scheduled=true\n\n" \
	"FileNames\n1 \"train.py\"\n2 \"model;v2.py\"\n\n" \
	"FunctionNames\n1 \"main\"\n2 \"layer\"\n\n" \
	"FileLocations\n1 {file_name_id=1 function_name_id=1 line=10}\n" \
	"2 {file_name_id=2 function_name_id=2 line=20}\n\n" \
	"StackFrames\n1 {file_location_id=1 }\n2 {file_location_id=2 parent_frame_id=1}\n\n" \
	"%fc (x: f32[4]) -> f32[4] {\n" \
	"  %x = f32[4]{0} parameter(0)\n" \
	"  %add.1 = f32[4]{0} add(%x, %x), metadata={op_name=\"no\" stack_frame_id=2}\n" \
	"  ROOT %mul.2 = f32[4]{0} multiply(%add.1, %x), metadata={op_name=\"jit(a/b)/mul\"}\n" \
	"}\n\n" \
	"ENTRY %main (p: f32[4]) -> f32[4] {\n" \
	"  %p = f32[4]{0} parameter(0)\n" \
	"  %fusion.1 = f32[4]{0} fusion(%p), kind=kLoop, calls=%fc, " \
	"metadata={op_name=\"no\" stack_frame_id=1}\n"
#define TAIL \
	"  ROOT %copy.3 = f32[4]{0} copy(%dot.2)\n" \
	"}\n"
#define DOT(line) \
	"  %dot.2 = f32[4]{0} dot(%fusion.1, %p), metadata={source_file=\"train.py\" " \
	"source_line=" line "}\n"

/* Of a folder each, as ranks have them. */
static void dump_read(struct hlo_programs *p, const char *dir, const char *name, const char *text)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/%s", dir, name);
	struct err err = ERR_INIT;

	assert_int_equal(fs_write_atomic(path, text, strlen(text), NULL), 0);
	if (hlo_read(p, path, &err) < 0)
		fail_msg("%s", err.msg);
}

static void thunk(struct maker *k, track_id thread, track_id queue, int64_t at, const char *op,
		  int64_t start, int64_t end)
{
	CLEANUP(xfreep) char *name = xasprintf("TSL:Thunk:#hlo_op=%s#", op);

	make_call(k, thread, at, at + 10, name);
	make_span(k, thread, SPAN_HOST, at + 2, at + 4, "launch", (uint64_t)at);
	make_span(k, queue, SPAN_KERNEL, start, end, "kernel", (uint64_t)at);
}

/* (1) 301, (2) 320, (3) 1160 */
static struct model *two(void)
{
	struct maker k = make_begin();
	track_id thread =
		make_thread(&k, 1, 1, 0, "XlaLauncher:#global=0,local=0,process=0,slice=0#");
	track_id queue = make_queue(&k, "gpu0", 7);

	for (int64_t i = 0; i < 2; i++) {
		int64_t at = 1000 * (i + 1);

		make_call(&k, thread, at, at + 100, "XlaModule:#hlo_module=jit_f,program_id=7#");
		thunk(&k, thread, queue, at + 1, "fusion.1", at + 100, at + 200 + i);
		thunk(&k, thread, queue, at + 21, "dot.2", at + 210, at + 250);
		thunk(&k, thread, queue, at + 41, "copy.3", at + 250, at + 260);
	}
	return make_end(&k);
}

static void expect_sources(struct model *m, const struct hlo_programs *p, const char *want)
{
	struct analysis_opts o = { .programs = p };
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	const struct table *t;

	assert_int_equal(analysis_run(&analysis_program_modules, m, NULL, &o, &ts, NULL), 0);
	t = table_set_find(&ts, "program_sources");
	assert_non_null(t);
	for (size_t i = 0; i < table_rows(t); i++)
		strbuf_addf(&b, "%s %lld %lld\n", table_get_str(t, i, 0),
			    (long long)table_get_i64(t, i, 1), (long long)table_get_i64(t, i, 2));
	assert_string_equal(b.buf, want);
	assert_int_equal(ts.checks.nr, 1);
	if (!ts.checks.v[0].ok)
		fail_msg("%s", ts.checks.v[0].detail);
}

#define IDLE_BETWEEN "[GPU idle between module executions] 1 840\n"
#define IDLE_DURING "[GPU idle during module execution] 1 19\n"

/* 100 and 101 ns in three parts: 34 + 33 + 33, 34 + 34 + 33. */
TEST_IN(stacks_of_a_dump, dir)
{
	struct hlo_programs *p = hlo_programs_new();
	CLEANUP(model_freep) struct model *m = two();

	dump_read(p, dir, "module_0007.jit_f.after_optimizations.txt", HEAD DOT("12") TAIL);
	expect_sources(m, p,
		       IDLE_BETWEEN
		       "[GPU active];train.py:12;dot.2 2 80\n"
		       "[GPU active];main (train.py:10);fusion.1 2 68\n"
		       "[GPU active];main (train.py:10);layer (model:v2.py:20);fusion.1 2 67\n"
		       "[GPU active];jit(a/b);mul;fusion.1 2 66\n"
		       "[GPU active];[Unknown];copy.3 2 20\n" IDLE_DURING);
	hlo_programs_free(p);
}

TEST(without_dumps)
{
	CLEANUP(model_freep) struct model *m = two();

	expect_sources(m, NULL,
		       IDLE_BETWEEN "[GPU active];[Unknown];fusion.1 2 201\n"
				    "[GPU active];[Unknown];dot.2 2 80\n"
				    "[GPU active];[Unknown];copy.3 2 20\n" IDLE_DURING);
}

/* Another program of that name is another thing; another dump of the same id is not. */
TEST_IN(dumps_that_differ, dir)
{
	struct hlo_programs *p = hlo_programs_new();
	CLEANUP(model_freep) struct model *m = two();

	dump_read(p, dir, "module_0007.jit_f.after_optimizations.txt", HEAD DOT("12") TAIL);
	dump_read(p, dir, "module_0008.jit_f.after_optimizations.txt", HEAD DOT("14") TAIL);
	dump_read(p, dir, "module_0007.jit_f.r1.after_optimizations.txt",
		  HEAD DOT("13") "  %more.4 = f32[4]{0} copy(%dot.2)\n" TAIL);
	assert_int_equal(p->v.nr, 3);
	expect_sources(m, p,
		       IDLE_BETWEEN
		       "[GPU active];[inconsistent metadata];dot.2 2 80\n"
		       "[GPU active];main (train.py:10);fusion.1 2 68\n"
		       "[GPU active];main (train.py:10);layer (model:v2.py:20);fusion.1 2 67\n"
		       "[GPU active];jit(a/b);mul;fusion.1 2 66\n"
		       "[GPU active];[Unknown];copy.3 2 20\n" IDLE_DURING);
	hlo_programs_free(p);
}

/* Operations side by side: they are more than their module, and nothing is idle during it. */
TEST(operations_that_overlap)
{
	struct maker k = make_begin();
	track_id thread =
		make_thread(&k, 1, 1, 0, "XlaLauncher:#global=0,local=0,process=0,slice=0#");

	make_call(&k, thread, 0, 100, "XlaModule:#hlo_module=jit_f,program_id=7#");
	thunk(&k, thread, make_queue(&k, "gpu0", 7), 1, "a;b", 100, 150);
	thunk(&k, thread, make_queue(&k, "gpu0", 8), 21, "c", 100, 140);
	CLEANUP(model_freep) struct model *m = make_end(&k);

	expect_sources(m, NULL, "[GPU active];[Unknown];a:b 1 50\n[GPU active];[Unknown];c 1 40\n");
}
