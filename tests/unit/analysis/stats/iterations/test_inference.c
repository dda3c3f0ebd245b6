/* Steps of servers as iterations, and their rates. */
#include "energy_fixture.h"
#include "readers_test.h"
#include "stats_test.h"

#include "profrig/model/facts.h"

/* One thread with a step each 100 ms, of 80 ms; each launches a kernel of 40 ms that starts 20 ms
 * later. The device draws 300 W. */
static struct model *served(const char *const *names, size_t n, const char *around)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "worker"), q = make_queue(&k, "gpu0", 1);
	struct series_def d = {
		.name = "power.gpu0", .unit = "W", .kind = SERIES_GAUGE, .track = TRACK_NONE
	};
	series_id s = k.s->ops->series(k.s, &d);

	for (size_t i = 0; i < n; i++) {
		int64_t at = (int64_t)i * 100000000;

		if (around) {
			CLEANUP(xfreep) char *name = xasprintf("%s%zu", around, i);

			make_call(&k, t, at, at + 90000000, name);
		}
		make_call(&k, t, at, at + 80000000, names[i]);
		make_span(&k, t, SPAN_HOST, at + 1000, at + 2000, "cudaLaunchKernel", i + 1);
		make_span(&k, q, SPAN_KERNEL, at + 20000000, at + 60000000, "gemm", i + 1);
	}
	for (size_t i = 0; i <= 100 * n; i++)
		k.s->ops->sample(k.s, s, (int64_t)i * 1000000, 300);
	return make_end(&k);
}

static struct table_set inference_of(struct model *m, const char *pattern)
{
	struct analysis_opts o = { .marker = pattern };
	struct table_set ts = TABLE_SET_INIT;

	assert_true(analysis_run(&analysis_inference, m, NULL, &o, &ts, NULL) >= 0);
	return ts;
}

static void expect_steps(const char *const *names, size_t n, const char *around,
			 const char *pattern, const char *want)
{
	CLEANUP(model_freep) struct model *m = served(names, n, around);
	CLEANUP(table_set_release) struct table_set ts = inference_of(m, pattern);

	assert_non_null(table_set_find(&ts, "inference"));
	expect_table(table_set_find(&ts, "inference"), want);
}

TEST(test_vllm)
{
	static const char *const names[] = { "execute_context_1(100)_generation_0(0)",
					     "execute_context_1(40)_generation_19(19)",
					     "execute_context_0(0)_generation_20(20)" };

	expect_steps(names, ARRAY_LEN(names), NULL, NULL,
		     "iteration phase requests tokens host_ns device_ns tokens_per_s "
		     "joules_per_token steady index\n"
		     "execute_context_1(100)_generation_0(0) prefill 1 100 80000000 40000000 2500 "
		     "* no 0\n"
		     "execute_context_1(40)_generation_19(19) mixed 20 59 80000000 40000000 1475 "
		     "* yes 1\n"
		     "execute_context_0(0)_generation_20(20) decode 20 20 80000000 40000000 500 "
		     "* yes 2\n");
}

/* 300 W for 40 ms are 12 J. */
TEST(test_joules)
{
	static const char *const names[] = { "step[EXTEND bs=2 toks=100]", "step[DECODE bs=16]",
					     "step[MIXED bs=2]" };
	CLEANUP(model_freep) struct model *m = served(names, ARRAY_LEN(names), NULL);
	CLEANUP(table_set_release) struct table_set ts = inference_of(m, NULL);
	const struct table *t = table_set_find(&ts, "inference");

	assert_int_equal(table_rows(t), 3);
	assert_near(num_of(t, 0, "joules_per_token"), 0.12, 1e-9);
	assert_near(num_of(t, 1, "joules_per_token"), 0.75, 1e-9);
	assert_near(num_of(t, 1, "tokens_per_s"), 400, 1e-9);
	assert_true(isnan(num_of(t, 2, "joules_per_token")));
	assert_true(isnan(num_of(t, 2, "tokens")));
	assert_near(num_of(t, 2, "joules"), 12, 1e-9);
}

TEST(test_atom)
{
	static const char *const names[] = { "prefill[bs=2 tok=14721 ctx=[7803, 6918]]",
					     "decode[bs=117/128 tok=117 d=117]",
					     "decode[bs=128 tok=384 p=2 d=126]" };
	CLEANUP(model_freep) struct model *m = served(names, ARRAY_LEN(names), NULL);
	CLEANUP(table_set_release) struct table_set ts = inference_of(m, NULL);
	const struct table *t = table_set_find(&ts, "inference");

	assert_int_equal(table_rows(t), 3);
	assert_string_equal(str_of(t, 0, "phase"), "prefill");
	assert_near(num_of(t, 1, "requests"), 117, 0);
	assert_string_equal(str_of(t, 2, "phase"), "mixed");
	assert_near(num_of(t, 2, "tokens"), 384, 0);
}

/* Ranges of PyTorch's profiler are the iterations; steps inside of them are found all the same. */
TEST(test_inside_of_profiler_steps)
{
	static const char *const names[] = { "step[EXTEND bs=2 toks=100]", "step[DECODE bs=16]" };
	CLEANUP(model_freep) struct model *m = served(names, ARRAY_LEN(names), "ProfilerStep#");
	CLEANUP(table_set_release)
	struct table_set ts = inference_of(m, NULL), its = analyse(m, &analysis_iterations_tables);

	assert_string_equal(str_of(table_set_find(&its, "iterations"), 0, "marker"),
			    "ProfilerStep#0");
	assert_int_equal(table_rows(table_set_find(&ts, "inference")), 2);
	assert_string_equal(str_of(table_set_find(&ts, "inference"), 1, "phase"), "decode");
}

/* Steps of servers count before names with numbers, and different ones are one family. */
TEST(test_before_other_names)
{
	static const char *const names[] = { "step[EXTEND bs=2 toks=100]", "step[DECODE bs=16]" };
	CLEANUP(model_freep) struct model *m = served(names, ARRAY_LEN(names), "batch ");
	CLEANUP(table_set_release) struct table_set its = analyse(m, &analysis_iterations_tables);

	assert_int_equal(table_rows(table_set_find(&its, "iterations")), 2);
	assert_string_equal(str_of(table_set_find(&its, "iterations"), 0, "marker"), names[0]);
}

TEST(test_a_pattern)
{
	static const char *const names[] = { "Prefill of 3: 90 tokens", "Decode of 3: 3 tokens",
					     "warm up" };

	expect_steps(names, ARRAY_LEN(names), NULL,
		     "^(?<phase>Prefill|Decode) of (?<requests>\\d+): (?<tokens>\\d+)",
		     "phase requests tokens tokens_per_s\n"
		     "Prefill 3 90 2250\n"
		     "Decode 3 3 75\n");
	expect_steps(names, ARRAY_LEN(names), NULL, "of (?<requests>\\d+):",
		     "phase requests tokens\n"
		     "- 3 -\n");
}

TEST(test_none)
{
	static const char *const names[] = { "step_1", "step_2" };
	CLEANUP(model_freep) struct model *m = served(names, ARRAY_LEN(names), NULL);
	CLEANUP(table_set_release)
	struct table_set ts = inference_of(m, NULL), with = inference_of(m, "^step_");

	assert_null(table_set_find(&ts, "inference"));
	assert_int_equal(ts.skipped.nr, 1);
	assert_int_equal(with.skipped.nr, 1);
}

/* ---- what steps use of an A100: 156 TFLOP/s of TF32, 2.039 TB/s ---- */

static struct model *server_on(const char *device, const char *shapes)
{
	CLEANUP(xfreep)
	char *text = xasprintf(
		"{'schemaVersion':1,'deviceProperties':[{'id':0,'name':'%s'}],'traceEvents':["
		"{'ph':'X','cat':'user_annotation','name':'execute_context_1(1024)_generation_0(0)'"
		","
		"'pid':7,'tid':8,'ts':0,'dur':50,'args':{}},"
		"{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':7,'tid':8,'ts':10,'dur':5,"
		"'args':{%s'Input type':['float','float']}},"
		"{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':7,'tid':8,'ts':11,"
		"'dur':1,'args':{'correlation':1}},"
		"{'ph':'X','cat':'kernel','name':'cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_"
		"align4','pid':0,'tid':7,'ts':20,'dur':20,'args':{'device':0,'stream':7,"
		"'correlation':1}},"
		"{'ph':'X','cat':'user_annotation','name':'execute_context_0(0)_generation_8(8)',"
		"'pid':7,'tid':8,'ts':60,'dur':5,'args':{}}]}",
		device, shapes);
	struct reading rd;

	for (char *p = text; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	rd = read_text("tef", text);
	assert_int_equal(rd.r, 0);
	return rd.m;
}

#define SHAPES "'Input Dims':[[1024,1024],[1024,1024]],"

TEST(test_mfu)
{
	CLEANUP(model_freep) struct model *m = server_on("NVIDIA A100-SXM4-80GB", SHAPES);
	CLEANUP(table_set_release) struct table_set ts = inference_of(m, NULL);
	const struct table *t = table_set_find(&ts, "inference");

	assert_int_equal(ts.skipped.nr, 0);
	assert_near(num_of(t, 0, "flop"), 2147483648.0, 0);
	assert_near(num_of(t, 0, "mfu"), 2147483648.0 / (20e-6 * 156e12), 1e-12);
	assert_near(num_of(t, 0, "bytes"), 3 * 4 * 1024 * 1024, 0);
	assert_near(num_of(t, 0, "bandwidth_share"), 12582912 / (20e-6 * 2.039e12), 1e-12);
	assert_near(num_of(t, 0, "modelled_share"), 1, 0);
	/* a step without operators */
	assert_true(isnan(num_of(t, 1, "flop")) && isnan(num_of(t, 1, "mfu")) &&
		    isnan(num_of(t, 1, "bandwidth_share")) &&
		    isnan(num_of(t, 1, "modelled_share")));
}

static void expect_no_mfu(struct model *m, const char *why)
{
	CLEANUP(table_set_release) struct table_set ts = inference_of(m, NULL);
	const struct table *t = table_set_find(&ts, "inference");

	assert_true(isnan(num_of(t, 0, "mfu")) && isnan(num_of(t, 0, "bandwidth_share")));
	assert_int_equal(ts.skipped.nr, 1);
	assert_string_equal(ts.skipped.v[0].name, "inference.mfu");
	assert_string_equal(ts.skipped.v[0].reason, why);
	model_free(m);
}

TEST(test_no_mfu)
{
	static const char *const names[] = { "step[EXTEND bs=2 toks=100]", "step[DECODE bs=16]" };

	expect_no_mfu(served(names, ARRAY_LEN(names), NULL), ANALYSIS_NO_OPERATORS);
	expect_no_mfu(server_on("NVIDIA A100-SXM4-80GB", ""),
		      "no operator of a step has shapes that tell flops or bytes");
	expect_no_mfu(server_on("Made Up 9000", SHAPES), "the peaks of the device are not known");
}
