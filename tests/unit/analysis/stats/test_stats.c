#include "stats_test.h"
#include "track_names.h"

#include <time.h>

#include "profrig/names/classes.h"

/* --- statistics of calls --- */

static const struct stats_case {
	size_t n;
	int64_t v[8];
	int64_t sum, min, max;
	double mean, median, p95, stddev;
} stats_cases[] = {
	{ 0, { 0 }, 0, 0, 0, 0, 0, 0, 0 },
	{ 1, { 7 }, 7, 7, 7, 7, 7, 7, 0 },
	{ 2, { 10, 0 }, 10, 0, 10, 5, 5, 9.5, 7.0710678118654755 },
	{ 3, { 30, 10, 20 }, 60, 10, 30, 20, 20, 29, 10 },
	{ 4, { 1, 4, 2, 100 }, 107, 1, 100, 26.75, 3, 85.6, 48.849257926809905 },
	{ 5, { 5, 5, 5, 5, 5 }, 25, 5, 5, 5, 5, 5, 0 },
};

TEST(test_call_stats)
{
	for (size_t i = 0; i < ARRAY_LEN(stats_cases); i++) {
		const struct stats_case *c = &stats_cases[i];
		struct call_stats s = call_stats_of(c->v, c->n);

		if (s.calls != c->n || s.sum_ns != c->sum || s.min_ns != c->min ||
		    s.max_ns != c->max)
			ROW_FAIL(i, "counts and sums");
		if (fabs(s.mean_ns - c->mean) > 1e-12 || fabs(s.median_ns - c->median) > 1e-12)
			ROW_FAIL(i, "mean %.17g median %.17g", s.mean_ns, s.median_ns);
		if (fabs(s.p95_ns - c->p95) > 1e-9 || fabs(s.stddev_ns - c->stddev) > 1e-9)
			ROW_FAIL(i, "p95 %.17g stddev %.17g", s.p95_ns, s.stddev_ns);
	}
}

/* The input keeps its order; huge values neither overflow nor lose the small differences. */
TEST(test_call_stats_extremes)
{
	const int64_t big = INT64_C(1) << 62;
	const int64_t v[] = { big, big, big, big };
	const int64_t near[] = { big, big - 2, big - 1, big };
	struct call_stats s = call_stats_of(v, 4);

	assert_int_equal(s.sum_ns, INT64_MAX);
	assert_true(s.mean_ns == (double)big && s.median_ns == (double)big && s.stddev_ns == 0);
	s = call_stats_of(near, 4);
	assert_true(fabs(s.stddev_ns - 0.9574271077563381) < 1e-9);
	assert_int_equal(near[0], big);
}

/* --- functions --- */

TEST(test_functions)
{
	/* recursion on one thread, not on another; queues do not nest */
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text("thread 1/1 name=main: main 0-100 f 10-60 f 20-50 "
					   "g 30-40 g 70-80 zero 80-80 mark!i 90\n"
					   "thread 1/2 name=w: f 0-30\n"
					   "queue gpu0/7: k 5-25 k 15-45 f!c 50-60 note!a 0-100\n",
					   &analysis_functions);
	struct table *f = table_set_find(&ts, "functions");

	expect_columns(f, "scope,name,category,calls,inclusive_ns,exclusive_ns,min_ns,mean_ns,"
			  "median_ns,p95_ns,max_ns,stddev_ns,share,variants");
	expect_table(f,
		     "scope name calls inclusive_ns exclusive_ns min_ns mean_ns median_ns max_ns "
		     "share\n"
		     "device k 2 50 50 20 25 25 30 50/60\n"
		     "device f 1 10 10 10 10 10 10 10/60\n"
		     "host f 3 80 70 30 110/3 30 50 70/130\n"
		     "host main 1 100 40 100 100 100 100 40/130\n"
		     "host g 2 20 20 10 10 10 10 20/130\n"
		     "host zero 1 0 0 0 0 0 0 0\n");
	expect_table(f, "name=k p95_ns stddev_ns\n"
			"29.5 7.0710678118654755\n");
}

/* One name under two categories is two functions; ties are settled by name, then category. */
TEST(test_functions_category)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main");
	static const char *const category[] = { "b", "a", "b" };

	for (int i = 0; i < 3; i++) {
		struct span_def d = { .track = t,
				      .start_ns = i * 10,
				      .end_ns = i * 10 + (i == 1 ? 10 : 5),
				      .name = sink_puts(k.s, "x"),
				      .category = sink_puts(k.s, category[i]),
				      .args = STR_NONE };
		k.s->ops->span(k.s, &d);
	}
	make_call(&k, t, 40, 50, "w");

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_functions);
	expect_table(table_set_find(&ts, "functions"), "name category calls\n"
						       "w - 1\n"
						       "x a 1\n"
						       "x b 2\n");
}

/*
 * One name under very many categories: each has its row, and the time is not the square
 * of their number (which takes a minute).
 */
TEST(test_functions_many_categories)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main");
	struct timespec from, to;
	enum { CATEGORIES = 250000, CALLS = 3 };
	size_t wrong = 0;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (int i = 0; i < CATEGORIES * CALLS; i++) {
		char category[16];
		struct span_def d = { .track = t,
				      .start_ns = i * 10,
				      .end_ns = i * 10 + 1 + i / CATEGORIES,
				      .name = sink_puts(k.s, "x"),
				      .args = STR_NONE };

		snprintf(category, sizeof(category), "%d", i % CATEGORIES);
		d.category = sink_puts(k.s, category);
		k.s->ops->span(k.s, &d);
	}

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_functions);
	struct table *f = table_set_find(&ts, "functions");

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_int_equal(table_rows(f), CATEGORIES);
	for (size_t i = 0; i < CATEGORIES; i++)
		wrong += num_of(f, i, "calls") != CALLS || num_of(f, i, "median_ns") != 2;
	assert_int_equal(wrong, 0);
	assert_true(to.tv_sec - from.tv_sec < 20);
}

/* A function that partly overlaps itself covers the union, not more and not less. */
TEST(test_functions_overlap)
{
	expect_analysis("thread 1/1 name=main: f 0-10 f 5-15", &analysis_functions,
			"inclusive_ns exclusive_ns calls mean_ns\n"
			"15 15 2 10\n");
}

/* --- kernels --- */

TEST(test_kernels)
{
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text("queue gpu10/1: ncclDevKernel_Generic 0-10\n"
					   "queue gpu2/1: Cijk_Alik_Bljk_SB 0-30 "
					   "CopyHostToDevice!c 40-100 zz!f 110-111 zz 120-121\n"
					   "queue gpu2/2: Cijk_Alik_Bljk_SB 10-20\n"
					   "thread 1/1 name=main: Cijk_Alik_Bljk_SB 0-1000\n",
					   &analysis_kernels);
	struct table *t = table_set_find(&ts, "kernels");

	expect_columns(t, "device,name,class,calls,total_ns,min_ns,mean_ns,median_ns,max_ns,"
			  "stddev_ns,share,short_name,p95_ns,cv,kind");
	expect_table(t, "device name class calls total_ns share\n"
			"gpu2 CopyHostToDevice copy 1 60 60/102\n"
			"gpu2 Cijk_Alik_Bljk_SB gemm 2 40 40/102\n"
			"gpu2 zz copy 1 1 1/102\n"
			"gpu2 zz other 1 1 1/102\n"
			"gpu10 ncclDevKernel_Generic collective 1 10 1\n");
	expect_table(t, "class=gemm min_ns max_ns median_ns stddev_ns\n"
			"10 30 20 14.142135623730951\n");
}

static const struct {
	const char *name, *class;
} class_cases[] = {
	{ "Cijk_Ailk_Bljk_SB_MT128x64x16_MI32x32x2x1_SN", "gemm" },
	{ "ampere_sgemm_128x64_nn", "gemm" },
	{ "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", "gemm" },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16>", "gemm" },
	{ "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN", "gemm" },
	{ "void splitKreduce_kernel<32, 16, int, float>", "gemm" },
	{ "void gemv2T_kernel_val<int, int, float>", "gemm" },
	{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n", "gemm" },
	{ "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc", "conv" },
	{ "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1", "conv" },
	{ "miopenSp3AsmConv_v21_1_3_gfx9_fp32_stride1", "conv" },
	{ "naive_conv_ab_nonpacked_fwd_nchw", "conv" },
	{ "void cudnn::winograd_nonfused::winogradForwardData4x4<float>", "conv" },
	{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	  "collective" },
	{ "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "collective" },
	{ "void vllm::cross_device_reduce_1stage<__half, 8>", "collective" },
	{ "attn_fwd", "attention" },
	{ "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>", "attention" },
	{ "fmha_cutlassF_f16_aligned_64x64_rf_sm80", "attention" },
	{ "_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelE", "attention" },
	{ "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>", "norm" },
	{ "MIOpenBatchNormFwdTrainSpatial", "norm" },
	{ "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6>", "softmax" },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduce" },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>",
	  "elementwise" },
	{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(x)>",
	  "copy" },
	{ "void at::native::distribution_elementwise_grid_stride_kernel<float, 4>", "rng" },
	{ "__amd_rocclr_copyBuffer", "copy" },
	{ "__amd_rocclr_fillBufferAligned", "copy" },
	{ "batched_transpose_32x16_half", "copy" },
	{ "triton_poi_fused_convolution_relu_0", "elementwise" },
	{ "triton_red_fused_mean_1", "reduce" },
	{ "triton_per_fused_native_layer_norm_2", "norm" },
	{ "triton_tem_fused_mm_3", "gemm" },
	{ "fft_rtc_fwd_len256_factors_4_4_4_4_wgs_64_sp_ip", "fft" },
	{ "void cub::DeviceRadixSortOnesweepKernel<int>", "sort" },
	{ "void at_cuda_detail::cub::DeviceScanKernel<int>", "scan" },
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<x>", "optimizer" },
	{ "void at::native::(anonymous namespace)::indexSelectLargeIndex<long>", "index" },
	{ "void split_embedding_codegen_forward_kernel<fbgemm_gpu::SplitTable>", "embedding" },
	{ "split_embedding_backward_codegen_kernel(at::PhiloxCudaState)", "embedding" },
	{ "fused_moe_kernel", "moe" },
	{ "_ZN5aiter4fmoeEv", "moe" },
	{ "void splitKreduce_kernel<32, 16, int, float>", "gemm" },
	{ "void "
	  "cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<x> >",
	  "gemm" },
	{ "_ZN5flash16flash_fwd_kernelIfEEvv", "attention" },
	{ "void fbgemm_gpu::permute_2D_data_kernel<true, long>", "copy" },
	{ "void fbgemm_gpu::f8f8bf16_rowwise_gemm_kernel<128>", "gemm" },
	{ "convert_fp32_to_fp16", "elementwise" },
	{ "heavy_kernel", "other" },
	{ "converge", "other" },
	{ "", "other" },
};

TEST(test_classes)
{
	for (size_t i = 0; i < ARRAY_LEN(class_cases); i++)
		if (strcmp(kernel_class(class_cases[i].name), class_cases[i].class) != 0)
			ROW_FAIL(i, "'%s' is %s", class_cases[i].name,
				 kernel_class(class_cases[i].name));
	/*
	 * No rule is dead: a name that is just its pattern gets its class, so nothing above it that
	 * says otherwise matches whenever it does, and capitals, which never match, are not in it.
	 */
	for (const struct class_rule *r = class_rules; r->class; r++) {
		const char *name = r->pattern + strspn(r->pattern, "^|");

		if (strcmp(kernel_class(name), r->class) != 0)
			ROW_FAIL(r - class_rules, "%s for %s comes too late for %s", r->pattern,
				 r->class, kernel_class(name));
	}
	CLEANUP(xfreep) char *long_name = xmalloc(1000001);

	memset(long_name, 'x', 1000000);
	long_name[1000000] = '\0';
	assert_string_equal(kernel_class(long_name), "other");
}

/* --- busy --- */

TEST(test_busy)
{
	/* spans that touch, overlap between queues, have no length, are late and without length */
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text("queue gpu0/1: k 100-200 k 250-300 z!f 160-160 "
					   "note!a 0-1000\n"
					   "queue gpu0/2: c!c 150-250 k 400-500 late 600-600\n"
					   "queue gpu1/1: k 7-7\n",
					   &analysis_busy);
	struct table *t = table_set_find(&ts, "busy");

	expect_columns(t, "device,spans,sum_ns,union_ns,wall_ns,busy,idle_ns,max_concurrency");
	expect_table(t, "device spans sum_ns union_ns wall_ns busy idle_ns max_concurrency\n"
			"gpu0 6 350 300 500 0.6 200 2\n"
			"gpu1 * * * * - * 0\n");
}

/* Two hosts have a device each of the same id, and are two in every table. */
TEST(test_device_hosts)
{
	static const struct {
		const struct analysis *analysis;
		const char *want;
	} cases[] = {
		{ &analysis_busy, "device union_ns\n" },
		{ &analysis_kernels, "device total_ns\n" },
		{ &analysis_callpaths, "track device_exclusive_ns\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char want[256];

		snprintf(want, sizeof(want), "%snode2:gpu0 10\nnode10:gpu0 11\n", cases[i].want);
		expect_analysis("queue gpu0/7 host=node2: k 0-10\n"
				"queue gpu0/7 host=node10: k 0-11\n",
				cases[i].analysis, want);
	}
}

/* Against a byte per nanosecond. */
TEST(test_busy_random)
{
	uint64_t seed = 7;

	for (int round = 0; round < 50; round++) {
		struct maker k = make_begin();
		uint8_t at[600] = { 0 };
		int64_t sum = 0, covered = 0, first = 600, last = 0, most = 0;

		for (int i = 0; i < 40; i++) {
			track_id q = make_queue(&k, "gpu0", (int64_t)(rnd(&seed) % 4));
			int64_t start = (int64_t)(rnd(&seed) % 500);
			int64_t end = start + (int64_t)(rnd(&seed) % 30);

			make_span(&k, q, SPAN_KERNEL, start, end, "k", 0);
			for (int64_t x = start; x < end; x++)
				at[x]++;
			sum += end - start;
			first = start < first ? start : first;
			last = end > last ? end : last;
		}
		for (size_t x = 0; x < sizeof(at); x++) {
			covered += at[x] > 0;
			most = at[x] > most ? at[x] : most;
		}
		CLEANUP(model_freep) struct model *m = make_end(&k);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_busy);
		struct table *t = table_set_find(&ts, "busy");

		assert_int_equal(num_of(t, 0, "sum_ns"), sum);
		assert_int_equal(num_of(t, 0, "union_ns"), covered);
		assert_int_equal(num_of(t, 0, "wall_ns"), last - first);
		assert_int_equal(num_of(t, 0, "max_concurrency"), most);
	}
}

/* --- nothing to say, table sets, names of tracks --- */

TEST(test_nothing)
{
	static const struct analysis *const all[] = { &analysis_functions, &analysis_callpaths,
						      &analysis_kernels, &analysis_busy };
	struct maker k = make_begin();
	CLEANUP(model_freep) struct model *m = make_end(&k);

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		CLEANUP(table_set_release) struct table_set ts = analyse(m, all[i]);

		assert_int_equal(ts.tables.nr, 0);
		assert_int_equal(ts.checks.nr, 0);
	}
}

TEST(test_table_set)
{
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct table *a = table_new("a"), *b = table_new("b"), *a2 = table_new("a");

	table_set_add(&ts, a);
	table_set_add(&ts, b);
	assert_ptr_equal(table_set_find(&ts, "a"), a);
	table_set_add(&ts, a2);
	table_set_add(&ts, a2);
	assert_int_equal(ts.tables.nr, 2);
	assert_ptr_equal(ts.tables.v[0], a2);
	assert_ptr_equal(table_set_find(&ts, "b"), b);
	assert_null(table_set_find(&ts, "c"));
	table_set_check(&ts, "sum", false, "%d of %d", 1, 2);
	assert_string_equal(ts.checks.v[0].name, "sum");
	assert_string_equal(ts.checks.v[0].detail, "1 of 2");
	assert_false(ts.checks.v[0].ok);
	assert_int_equal(table_set_skip(&ts, "queue", "no %s", "links"), ANALYSIS_SKIPPED);
	assert_string_equal(ts.skipped.v[0].name, "queue");
	assert_string_equal(ts.skipped.v[0].reason, "no links");
}

/* What others made is found, and stays theirs until it is taken. */
TEST(test_table_set_others)
{
	CLEANUP(table_set_release)
	struct table_set first = TABLE_SET_INIT, all = TABLE_SET_INIT, second = TABLE_SET_INIT;
	struct table *a = table_new("a"), *own = table_new("a"), *b = table_new("b");

	table_set_add(&first, a);
	table_set_check(&first, "sum", true, "1");
	VEC_PUSH(&second.others, &first);
	assert_ptr_equal(table_set_find(&second, "a"), a);
	assert_int_equal(second.tables.nr, 0);
	table_set_add(&second, b);
	assert_null(table_set_find(&first, "b"));
	table_set_skip(&second, "queue", "no links");
	table_set_take(&all, &first);
	table_set_take(&all, &second);
	assert_int_equal(first.tables.nr + second.tables.nr, 0);
	assert_int_equal(all.tables.nr, 2);
	assert_ptr_equal(all.tables.v[0], a);
	assert_ptr_equal(all.tables.v[1], b);
	assert_string_equal(all.checks.v[0].name, "sum");
	assert_string_equal(all.skipped.v[0].name, "queue");
	/* one of the same name takes its place */
	table_set_add(&first, own);
	table_set_take(&all, &first);
	assert_int_equal(all.tables.nr, 2);
	assert_ptr_equal(all.tables.v[0], own);
}

static int rows_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		    struct err *err)
{
	(void)err;
	assert_ptr_equal(analysis_works(m, o), analysis_works(m, o));
	assert_non_null(m->spans.up);
	table_set_check(out, "works", true, "%zu", analysis_works(m, o)->v.nr);
	return 0;
}

/* Analyses that share works get the same; one that needs device work is skipped without. */
TEST(test_shared_works)
{
	static const struct analysis a = { .name = "rows", .run = rows_run, .needs_work = true };
	CLEANUP(model_freep)
	struct model *m = model_of_text_with(1, "queue gpu0/1: k 0-1 k 2-3\n", model_finish_flat);
	CLEANUP(model_freep)
	struct model *none = model_of_text(1, "thread 1/1 name=main: op 0-1\n");
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct analysis_opts o = { .shared = NULL };

	assert_int_equal(analysis_run(&a, m, NULL, &o, &ts, NULL), 0);
	assert_string_equal(ts.checks.v[0].detail, "2");
	o.shared = analysis_shared_new();
	assert_int_equal(analysis_run(&a, m, NULL, &o, &ts, NULL), 0);
	assert_non_null(o.shared->works);
	analysis_shared_free(o.shared);
	o.shared = NULL;
	assert_int_equal(analysis_run(&a, none, NULL, &o, &ts, NULL), ANALYSIS_SKIPPED);
	assert_string_equal(ts.skipped.v[0].name, "rows");
	assert_string_equal(ts.skipped.v[0].reason, "the inputs hold no device work");
}

TEST(test_track_names)
{
	struct maker k = make_begin();
	struct track_def process = TRACK_DEF_INIT;
	track_id t[8];

	process.kind = TRACK_PROCESS;
	process.pid = 50;
	process.name = "python";
	t[0] = make_thread(&k, 10, 1, 1, "Master");
	t[1] = make_thread(&k, 11, 1, 0, "Master");
	t[2] = make_thread(&k, 12, 1, RANK_NONE, "worker");
	t[3] = make_thread(&k, 12, 2, RANK_NONE, "worker");
	t[4] = make_thread(&k, 13, 1, RANK_NONE, "alone");
	t[5] = make_thread(&k, 14, 1, RANK_NONE, "worker"); /* without spans: it is not shown */
	t[6] = make_thread(&k, 15, 1, RANK_NONE, "pool");
	struct track_def child = { .kind = TRACK_THREAD,
				   .parent = k.s->ops->track(k.s, &process),
				   .pid = 50,
				   .tid = 51,
				   .rank = RANK_NONE,
				   .name = "pool" };
	t[7] = k.s->ops->track(k.s, &child);
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (i != 5)
			make_call(&k, t[i], 0, 1, "f");

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) track_id *order = track_order(m);

	track_names(m, &names);
	assert_int_equal(names.nr, m->tracks.nr);
	assert_string_equal(names.v[t[0]], "rank 1/Master");
	assert_string_equal(names.v[t[1]], "rank 0/Master");
	assert_string_equal(names.v[t[2]], ":12:1/worker");
	assert_string_equal(names.v[t[3]], ":12:2/worker");
	assert_string_equal(names.v[t[4]], "alone");
	assert_string_equal(names.v[t[7]], "python/pool");
	/* no rank first, then by rank, not by order of appearance */
	assert_int_equal(order[m->tracks.nr - 1], t[0]);
	assert_int_equal(order[m->tracks.nr - 2], t[1]);
	assert_int_equal(order[0], t[2]);
}
