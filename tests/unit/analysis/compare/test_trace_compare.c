#include "compare_test.h"

#include <math.h>

#include "profrig/compare/comparison.h"

struct fixture {
	struct compare_operand a, b;
	struct compare_opts o;
	struct comparison c;
};

#define ANALYSIS(inputs) "{\"schema\":\"profrig.analysis/1\",\"inputs\":[" inputs "]}"
#define MACHINE(gpu, ranks) \
	"{\"path\":\"t\",\"devices\":[{\"name\":\"" gpu "\"}],\"world\":{\"size\":" ranks "}}"
#define KERNELS "device,name,class,calls,total_ns,kind\n"
#define FUNCTIONS "scope,name,category,calls,inclusive_ns,exclusive_ns\n"
#define OPERATORS "name,shapes,types,calls,works,own_ns\n"
#define PERF "op,precision,total_ns\n"
#define ITERATIONS "track,marker,index,dur_ns,steady,works,device_span_ns,rank\n"

static void table_put(const char *dir, const char *side, const char *table, const char *text)
{
	test_put(dir, textf("%s/tables/%s.csv", side, table), text);
}

/* n iterations of `ns` and a little, each of a marker. */
static void iterations_put(const char *dir, const char *side, const char *marker, size_t n,
			   int64_t ns, unsigned works)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, ITERATIONS "thread 1,first,0,99999999,no,9,99999999,\n");
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&sb, "thread 1,%s%zu,%zu,5,yes,%u,%lld,\n", marker, i + 3, i + 1, works,
			    (long long)ns + (long long)(i * 7919 % 11));
	table_put(dir, side, "iterations", sb.buf);
}

static void side_put(const char *dir, const char *side)
{
	test_put(dir, textf("%s/analysis.json", side), ANALYSIS(MACHINE("H100", "8")));
	table_put(dir, side, "kernels",
		  KERNELS "gpu0,gemm,gemm,10,1000,kernel\ngpu1,gemm,gemm,6,600,kernel\n"
			  "gpu0,Memcpy HtoD,copy,3,30,copy\n");
	table_put(dir, side, "functions",
		  FUNCTIONS "host,aten::mm,cpu_op,16,90,80\nhost,cudaLaunchKernel,cuda_runtime,"
			    "16,9,9\n");
	table_put(dir, side, "operators",
		  OPERATORS "aten::mm,\"[[8,4],[4,8]]\",\"[\"\"float\"\",\"\"float\"\"]\",16,16,"
			    "1600\n[no op],,,0,3,30\n");
	table_put(dir, side, "perf", PERF "aten::mm,bf16,1600\naten::copy_,,5\n");
	iterations_put(dir, side, "ProfilerStep#", 8, 10000, 5);
}

static struct fixture *compared(const char *dir)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err err = ERR_INIT;

	f->o = (struct compare_opts)COMPARE_OPTS_INIT;
	f->o.traces = true;
	if (operand_read(in_dir(dir, "a"), &f->a, &err) < 0 ||
	    operand_read(in_dir(dir, "b"), &f->b, &err) < 0)
		fail_msg("%s", err.msg);
	comparison_init(&f->c, &f->o);
	comparison_add(&f->c, &f->a.sets.v[0], &f->b.sets.v[0], "A", "B");
	assert_int_equal(comparison_run(&f->c, &err), 0);
	return f;
}

static void fixture_free(struct fixture *f)
{
	comparison_release(&f->c);
	operand_release(&f->a);
	operand_release(&f->b);
	strvec_release(&f->o.selection);
	strvec_release(&f->o.metrics);
	free(f);
}

static const struct trace_compare *trace_of(const struct fixture *f)
{
	assert_non_null(f->c.versus.v[0].trace);
	return f->c.versus.v[0].trace;
}

static const struct trace_fact *fact_of(const struct fixture *f, const char *fact)
{
	const struct trace_compare *t = trace_of(f);

	for (size_t i = 0; i < t->facts.nr; i++)
		if (strcmp(t->facts.v[i].fact, fact) == 0)
			return &t->facts.v[i];
	fail_msg("no fact %s", fact);
	return t->facts.v;
}

static void both_put(const char *dir)
{
	side_put(dir, "a");
	side_put(dir, "b");
}

/* The verdict, and that of one fact; fact NULL: all are fine or not known. */
static void expect(const char *dir, const char *verdict, const char *fact,
		   enum trace_fact_verdict of_fact)
{
	struct fixture *f = compared(dir);
	const struct trace_compare *t = trace_of(f);

	assert_string_equal(trace_compare_verdict(t), verdict);
	assert_string_equal(comparison_verdict(&f->c), verdict);
	for (size_t i = 0; i < t->facts.nr; i++)
		if (!fact)
			assert_int_equal(t->facts.v[i].verdict, TRACE_FACT_OK);
	if (fact)
		assert_int_equal(fact_of(f, fact)->verdict, of_fact);
	fixture_free(f);
}

TEST_IN(equal_traces, dir)
{
	struct fixture *f;
	const struct trace_compare *t;

	both_put(dir);
	expect(dir, "same", NULL, TRACE_FACT_OK);
	f = compared(dir);
	t = trace_of(f);
	assert_int_equal(t->of[TRACE_KERNEL].v.nr, 1); /* of two devices, without the copy */
	assert_int_equal(t->of[TRACE_KERNEL].sum.count_a, 16);
	assert_int_equal(t->of[TRACE_KERNEL].sum.total_b_ns, 1600);
	assert_int_equal(t->of[TRACE_CPU_OP].v.nr, 1);
	assert_int_equal(t->of[TRACE_CPU_OP].sum.total_a_ns, 80);
	assert_int_equal(t->of[TRACE_OPERATOR].v.nr, 2);
	assert_int_equal(t->of[TRACE_OPERATOR].sum.count_a, 19); /* pieces of work of [no op] */
	assert_string_equal(t->unit, "ProfilerStep#");
	assert_int_equal(t->time.n_a, 8);
	assert_int_equal(t->compared, TRACE_KERNEL);
	fixture_free(f);
}

TEST_IN(iterations_decide, dir)
{
	both_put(dir);
	iterations_put(dir, "b", "ProfilerStep#", 8, 12000, 5);
	expect(dir, "slower", NULL, TRACE_FACT_OK);
	iterations_put(dir, "b", "ProfilerStep#", 5, 8000, 5);
	expect(dir, "faster", NULL, TRACE_FACT_OK);
	/* a window of equal length, with half as much done in it */
	iterations_put(dir, "b", "ProfilerStep#", 4, 20000, 5);
	expect(dir, "slower", NULL, TRACE_FACT_OK);
	iterations_put(dir, "b", "ProfilerStep#", 2, 12000, 5);
	expect(dir, "not comparable", "iterations", TRACE_FACT_REFUSED);
	iterations_put(dir, "b", "train ", 8, 10000, 5);
	expect(dir, "not comparable", "unit of work", TRACE_FACT_REFUSED);
}

/* A data loader that takes longer shows on the host alone, where the device waits for it. */
static void host_put(const char *dir, const char *side, int host, int span)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, ITERATIONS);
	for (int i = 0; i < 6; i++)
		strbuf_addf(&sb, "thread 1,ProfilerStep#%d,%d,%d,yes,4,%d,\n", i, i, host + i,
			    span + i);
	table_put(dir, side, "iterations", sb.buf);
}

TEST_IN(the_host_has_a_say, dir)
{
	both_put(dir);
	host_put(dir, "a", 2000, 1000);
	host_put(dir, "b", 3000, 1000);
	expect(dir, "slower", NULL, TRACE_FACT_OK);
	host_put(dir, "b", 3000, 500);
	expect(dir, "unclear", NULL, TRACE_FACT_OK);
	host_put(dir, "b", 2000, 1500);
	expect(dir, "slower", NULL, TRACE_FACT_OK);
	host_put(dir, "b", 900, 1000); /* it runs ahead */
	expect(dir, "same", NULL, TRACE_FACT_OK);
	host_put(dir, "b", 2000, 1000);
	expect(dir, "same", NULL, TRACE_FACT_OK);
}

/* Slow and fast ones take turns of ten: no independent draws. */
TEST_IN(iterations_that_resemble_their_neighbours, dir)
{
	struct fixture *f;

	both_put(dir);
	for (int drift = 0; drift < 2; drift++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		strbuf_addstr(&sb, ITERATIONS);
		for (int i = 0; i < 80; i++)
			strbuf_addf(&sb, "t,ProfilerStep#%d,%d,5,yes,4,%d,\n", i, i,
				    1000 + (drift ? 10 * i : i / 10 % 2 * 100));
		table_put(dir, "b", "iterations", sb.buf);
		f = compared(dir);
		assert_int_equal(f->c.notes.nr, 1);
		assert_non_null(strstr(f->c.notes.v[0], drift ? "ProfilerStep# of B changes by +"
							      : "neighbours are alike"));
		fixture_free(f);
	}
}

/* A period is known by its works alone. */
TEST_IN(periods, dir)
{
	both_put(dir);
	for (int i = 0; i < 2; i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		strbuf_addstr(&sb, ITERATIONS);
		for (int k = 0; k < 6; k++)
			strbuf_addf(&sb, "gpu0,period,%d,100,yes,%d,100,\n", k, i ? 24 : 12);
		table_put(dir, "a", "iterations", sb.buf);
		if (i == 0) {
			table_put(dir, "b", "iterations", sb.buf);
			expect(dir, "same", NULL, TRACE_FACT_OK);
		}
	}
	expect(dir, "not comparable", "unit of work", TRACE_FACT_REFUSED);
}

/* Of several ranks the slowest one counts. */
TEST_IN(ranks, dir)
{
	struct fixture *f;

	both_put(dir);
	table_put(dir, "a", "iterations",
		  ITERATIONS "t1,step 1,1,5,yes,2,100,0\nt1,step 2,2,5,yes,2,300,0\n"
			     "t1,step 3,3,5,yes,2,100,0\nt2,step 1,1,5,yes,2,200,1\n"
			     "t2,step 2,2,5,yes,2,200,1\nt2,step 3,3,7,yes,0,,1\n");
	f = compared(dir);
	fixture_free(f);
	table_put(dir, "b", "iterations",
		  ITERATIONS "t1,step 1,1,5,yes,2,200,0\nt1,step 2,2,5,yes,2,300,0\n"
			     "t1,step 3,3,5,yes,2,100,0\n");
	f = compared(dir);
	assert_string_equal(trace_of(f)->unit, "step ");
	assert_int_equal(trace_of(f)->time.n_a, 3);
	assert_true(trace_of(f)->time.a == 200 && trace_of(f)->time.b == 200);
	fixture_free(f);
}

TEST_IN(what_makes_them_not_comparable, dir)
{
	both_put(dir);
	test_put(dir, "b/analysis.json", ANALYSIS(MACHINE("V100", "8")));
	expect(dir, "not comparable", "GPU", TRACE_FACT_REFUSED);
	test_put(dir, "b/analysis.json", ANALYSIS(MACHINE("H100", "4")));
	expect(dir, "not comparable", "world size", TRACE_FACT_REFUSED);
	test_put(dir, "b/analysis.json", ANALYSIS(""));
	expect(dir, "same", "world size", TRACE_FACT_UNKNOWN);
	table_put(dir, "b", "perf", PERF "aten::mm,fp32,1600\n");
	expect(dir, "not comparable", "dtype", TRACE_FACT_REFUSED);
	table_put(dir, "b", "perf", PERF "aten::mm,fp32,700\naten::mm,bf16,900\n");
	expect(dir, "same", "dtype", TRACE_FACT_OK);
	table_put(dir, "b", "operators",
		  OPERATORS "aten::mm,\"[[16,4],[4,8]]\",\"[\"\"float\"\",\"\"float\"\"]\",16,"
			    "16,1600\n");
	expect(dir, "not comparable", "shapes", TRACE_FACT_REFUSED);
}

TEST_IN(kinds_of_data, dir)
{
	both_put(dir);
	table_put(dir, "b", "kernels", KERNELS);
	expect(dir, "not comparable", "device work", TRACE_FACT_REFUSED);
	side_put(dir, "b");
	table_put(dir, "b", "functions", FUNCTIONS);
	expect(dir, "same", "operators", TRACE_FACT_NOTED);
}

TEST_IN(kernels_of_another_maker, dir)
{
	struct fixture *f;

	both_put(dir);
	table_put(dir, "b", "kernels", KERNELS "gpu0,Cijk_Ailk,gemm,16,1700,kernel\n");
	expect(dir, "same", "kernel names", TRACE_FACT_NOTED);
	f = compared(dir);
	assert_int_equal(trace_of(f)->compared, TRACE_OPERATOR);
	fixture_free(f);
	table_put(dir, "b", "functions", FUNCTIONS "host,xla::dot,cpu_op,16,90,80\n");
	expect(dir, "not comparable", "operator names", TRACE_FACT_REFUSED);
}

/* Tables of other programs, and nothing at all: no comparison of traces, and no problem. */
TEST_IN(tables_that_lack_columns, dir)
{
	struct fixture *f;

	both_put(dir);
	table_put(dir, "a", "kernels", "device,name,calls,total_ns\ngpu0,gemm,1,5\n");
	table_put(dir, "a", "functions", "scope,name\nhost,main\n");
	table_put(dir, "a", "operators", "nonsense\n1\n");
	table_put(dir, "a", "iterations", "track,marker\nt,step 1\n");
	f = compared(dir);
	assert_int_equal(f->c.problems.nr, 0);
	assert_int_equal(trace_of(f)->of[TRACE_KERNEL].sum.total_a_ns, 5);
	assert_int_equal(trace_of(f)->of[TRACE_CPU_OP].names_a, 0);
	fixture_free(f);
	fs_remove_tree(in_dir(dir, "a/tables"), NULL);
	fs_remove_tree(in_dir(dir, "b/tables"), NULL);
	f = compared(dir);
	assert_null(f->c.versus.v[0].trace);
	fixture_free(f);
}

/* Three runs a side: they are the unit, and iterations do not judge. */
TEST_IN(runs_are_the_unit, dir)
{
	struct fixture *f;

	for (int i = 0; i < 6; i++) {
		const char *side = textf("%c/%d", "ab"[i / 3], i % 3);

		run_put(dir, side, "", 10);
		side_put(dir, textf("%s/analysis", side));
	}
	f = compared(dir);
	assert_string_equal(trace_of(f)->unit, "run");
	assert_int_equal(trace_of(f)->runs, 3);
	assert_int_equal(trace_of(f)->of[TRACE_KERNEL].sum.count_a, 48);
	assert_false(trace_of(f)->judged);
	assert_false(trace_of(f)->refused);
	fixture_free(f);
}
