/* Tables of kernels: short names, classes, products of matrices, and names of ranges. */
#include "stats_test.h"

#include "profrig/model/facts.h"
#include "profrig/model/name_map.h"
#include "profrig/names/classes.h"
#include "profrig/names/range_name.h"

TEST(test_kernels_columns)
{
	static const char *const names[] = { "void f<int>(a)", "void f<int>(b)", "k" };
	struct maker k = make_begin();
	track_id q = make_queue(&k, "gpu0", 1);

	for (int i = 0; i < 3; i++)
		make_span(&k, q, SPAN_KERNEL, 100 * i, 100 * i + 10, names[i], 0);
	make_span(&k, q, SPAN_KERNEL, 1000, 1030, "k", 0);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_kernels);
	struct table *t = table_set_find(&ts, "kernels");
	size_t a = row_of(t, "name", names[0], NULL, NULL),
	       b = row_of(t, "name", names[1], NULL, NULL);
	size_t c = row_of(t, "name", "k", NULL, NULL);
	const char *short_a = table_get_str(t, a, (size_t)table_find_col(t, "short_name"));

	assert_int_equal(strncmp(short_a, "f<int>~", 7), 0);
	assert_string_not_equal(short_a,
				table_get_str(t, b, (size_t)table_find_col(t, "short_name")));
	assert_true(fabs(num_of(t, c, "cv") - sqrt(200) / 20) < 1e-12);
	assert_true(fabs(num_of(t, c, "p95_ns") - 29) < 1e-12);
	assert_true(num_of(t, a, "cv") == 0);
}

/* ---- paths of launches ---- */

TEST(test_kernel_paths)
{
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text(
		"thread 1/1 name=main: main 0-100 a;b 10-50 l#1 12-14 l#2 16-18 l#3 60-62\n"
		"queue gpu0/1: gemm#1 20-30 gemm#2 30-45 c!c#3 70-90 k 95-99\n",
		&analysis_kernel_paths);
	const struct table *t = table_set_find(&ts, "kernel_paths");

	expect_columns(t, "track,path,name,class,calls,total_ns");
	expect_table(t, "path name class calls total_ns\n"
			"main;a:b;l gemm gemm 2 25\n"
			"main;l c copy 1 20\n"
			"[unattributed] k other 1 4\n");
}

/* In a window work keeps the path of its launch. */
TEST(test_kernel_paths_of_a_window)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1 name=main: main 0-100 l#1 12-14\n"
					   "queue gpu0/1: k#1 50-80\n");

	model_window(m, &(struct window){ 60, 70 }, 1, NULL);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_kernel_paths);
	expect_table(table_set_find(&ts, "kernel_paths"), "path name total_ns\n"
							  "main;l k 10\n");
}

/* Frames beyond 400 count with the one there. */
TEST(test_kernel_paths_that_are_deep)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "t"), q = make_queue(&k, "gpu0", 1);
	CLEANUP(model_freep) struct model *m = NULL;
	const char *path;
	size_t frames = 1;

	for (int i = 0; i < 1000; i++)
		make_span(&k, t, SPAN_HOST, i, 5000 - i, "f", i == 999 ? 1 : 0);
	make_span(&k, q, SPAN_KERNEL, 4000, 4010, "k", 1);
	m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_kernel_paths);
	path = str_of(table_set_find(&ts, "kernel_paths"), 0, "path");
	for (const char *s = path; *s; s++)
		frames += *s == ';';
	assert_int_equal(frames, 400);
}

/* ---- classes ---- */

TEST(test_classes_known)
{
	expect_analysis("queue gpu0/1: ampere_sgemm_32x32_tn 0-10 softmax_warp 20-30 "
			"copy!c 40-50 fill!f 45-60\n"
			"queue gpu0/2: ampere_sgemm_64x64_nn 5-15 ncclDevKernel_Generic 25-45\n"
			"queue gpu1/1: zero 5-5\n",
			&analysis_kernel_classes,
			"device class calls total_ns union_ns share joules\n"
			"gpu0 copy 2 25 20 0.33333333333333331 -\n"
			"gpu0 collective 1 20 20 * -\n"
			"gpu0 gemm 2 20 15 * -\n"
			"gpu0 softmax 1 10 10 * -\n"
			"gpu1 other 1 0 0 0 -\n");
}

/* Against a byte per nanosecond and class. */
TEST(test_classes_random)
{
	static const char *const names[] = { "ampere_sgemm_32x32_tn", "attn_fwd", "ncclKernel_X",
					     "x", "elementwise_kernel" };
	uint64_t seed = 11;

	for (int round = 0; round < 200; round++) {
		struct maker k = make_begin();
		uint8_t at[5][600] = { { 0 } };
		int64_t sum[5] = { 0 }, calls[5] = { 0 };

		for (int i = 0; i < 30; i++) {
			track_id q = make_queue(&k, "gpu0", (int64_t)(rnd(&seed) % 4));
			size_t c = rnd(&seed) % 5;
			int64_t start = (int64_t)(rnd(&seed) % 500);
			int64_t end = start + (int64_t)(rnd(&seed) % 30);

			make_span(&k, q, SPAN_KERNEL, start, end, names[c], 0);
			for (int64_t x = start; x < end; x++)
				at[c][x] = 1;
			sum[c] += end - start;
			calls[c]++;
		}
		CLEANUP(model_freep) struct model *m = make_end(&k);
		CLEANUP(table_set_release)
		struct table_set ts = analyse(m, &analysis_kernel_classes);
		struct table *t = table_set_find(&ts, "kernel_classes");
		double share = 0;

		for (size_t c = 0; c < 5; c++) {
			int64_t covered = 0;
			size_t row;

			if (!calls[c])
				continue;
			row = row_of(t, "class", kernel_class(names[c]), NULL, NULL);
			for (size_t x = 0; x < sizeof(at[c]); x++)
				covered += at[c][x];
			assert_int_equal(num_of(t, row, "calls"), calls[c]);
			assert_int_equal(num_of(t, row, "total_ns"), sum[c]);
			assert_int_equal(num_of(t, row, "union_ns"), covered);
			share += num_of(t, row, "share");
		}
		assert_true(fabs(share - 1) < 1e-12);
	}
}

/* The rules of a user come first, or alone, in all tables. */
TEST(test_classes_of_user)
{
	struct class_rule rules[] = { { "mine", "^my_" }, { "mine", "softmax" } };
	struct kernel_classes kc = { .rules = { rules, 2, 2 } };

	assert_string_equal(kernel_class_by(&kc, "My_gemm"), "mine");
	assert_string_equal(kernel_class_by(&kc, "softmax"), "mine");
	assert_string_equal(kernel_class_by(&kc, "ampere_sgemm_"), "gemm");
	kc.alone = true;
	assert_string_equal(kernel_class_by(&kc, "ampere_sgemm_"), "other");

	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "queue gpu0/1: my_a 0-10 ampere_sgemm_ 10-20\n");

	m->classes = &kc;
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_kernel_classes);

	expect_table(table_set_find(&ts, "kernel_classes"), "class total_ns\nmine 10\nother 10\n");
}

/* Joules come from the table of energy, where one counter covers the device. */
TEST(test_classes_joules)
{
	struct analysis_opts o = { .workload_start_ns = 0 };
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e6, "queue gpu0/1: ampere_sgemm_ 0-10 attn_fwd 10-20\n"
					     "series power.gpu0 W gauge: 0 400 10 400 20 400\n");

	assert_int_equal(analysis_run(&analysis_energy, m, NULL, &o, &ts, NULL), 0);
	assert_int_equal(analysis_run(&analysis_kernel_classes, m, NULL, &o, &ts, NULL), 0);
	expect_table(table_set_find(&ts, "kernel_classes"), "class joules\nattention 4\ngemm 4\n");
}

/* ---- products ---- */

/* An operator with sizes, its launch, its kernel; a device of so many units. */
struct gemm_maker {
	struct maker k;
	track_id thread, queue;
	int64_t now_ns;
	uint64_t correlation;
};

static struct gemm_maker gemm_begin(int64_t units)
{
	struct gemm_maker g = { .k = make_begin() };
	struct device_facts d = DEVICE_FACTS_NONE;

	d.number = 0;
	d.units = units;
	g.k.s->ops->device(g.k.s, &d);
	g.thread = make_thread(&g.k, 1, 1, 0, "main");
	g.queue = make_queue(&g.k, "gpu0", 1);
	return g;
}

static void gemm_call(struct gemm_maker *g, const char *op, const char *shapes, const char *types,
		      const char *kernel)
{
	struct sink *s = g->k.s;
	struct span_facts f = { .kind = FACTS_OP, .op = OP_FACTS_NONE };
	struct operand_texts texts = { .shapes = { shapes, strlen(shapes) },
				       .types = { types, strlen(types) } };
	int64_t t = g->now_ns;
	span_id id = make_span(&g->k, g->thread, SPAN_HOST, t, t + 10, op, 0), api, work;

	f.op.operands = s->ops->operands(s, &texts);
	s->ops->facts(s, id, &f);
	g->correlation++;
	api = make_span(&g->k, g->thread, SPAN_HOST, t + 2, t + 4, "cudaLaunchKernel",
			g->correlation);
	work = make_span(&g->k, g->queue, SPAN_KERNEL, t + 5, t + 105, kernel, g->correlation);
	s->ops->link(s, api, work, LINK_LAUNCH);
	g->now_ns += 200;
}

#define MM_TYPES "[\"float\",\"float\"]"
#define TENSILE_KERNEL "Cijk_Alik_Bljk_BBS_BH_MT128x224x64_MI16x16x1_ISA942"

TEST(test_gemm_waves)
{
	struct gemm_maker g = gemm_begin(304);

	gemm_call(&g, "aten::mm", "[[8944,1024],[1024,2816]]", MM_TYPES, TENSILE_KERNEL);
	gemm_call(&g, "aten::relu", "[[8944,1024]]", "[\"float\"]", "elementwise_kernel");
	CLEANUP(model_freep) struct model *m = make_end(&g.k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_gemm);
	struct table *t = table_set_find(&ts, "gemm");

	expect_table(t, "name lib op in acc tile_m tile_n tile_k layout waves calls total_ns arch "
			"path shaped_calls\n" TENSILE_KERNEL
			" tensile gemm bf16 f32 128 224 64 TN 3 1 100 gfx942 tensor 1\n");
	assert_true(fabs(num_of(t, 0, "wave_efficiency") - 0.964912) < 1e-6);
	assert_true(fabs(num_of(t, 0, "tile_efficiency") - 0.998214) < 1e-6);
}

/* By the formula, for operators of several forms; calls whose sizes do not fit count nothing. */
TEST(test_gemm_random)
{
	uint64_t seed = 5;

	for (int round = 0; round < 300; round++) {
		int64_t units = 1 + (int64_t)(rnd(&seed) % 300);
		struct gemm_maker g = gemm_begin(units);
		double tiles = 0, waves = 0, result = 0;
		size_t calls = 1 + rnd(&seed) % 5;

		for (size_t i = 0; i < calls; i++) {
			long m = 1 + (long)(rnd(&seed) % 3000), n = 1 + (long)(rnd(&seed) % 3000);
			long k = 1 + (long)(rnd(&seed) % 64), b = 1 + (long)(rnd(&seed) % 4);
			char shapes[128];
			double here;

			switch (rnd(&seed) % 4) {
			case 0:
				b = 1;
				snprintf(shapes, sizeof(shapes), "[[%ld,%ld],[%ld,%ld]]", m, k, k,
					 n);
				gemm_call(&g, "aten::mm", shapes, MM_TYPES,
					  "ampere_sgemm_64x32_tn");
				break;
			case 1:
				b = 1;
				snprintf(shapes, sizeof(shapes), "[[%ld],[%ld,%ld],[%ld,%ld]]", n,
					 m, k, k, n);
				gemm_call(&g, "aten::addmm", shapes,
					  "[\"float\",\"float\",\"float\"]",
					  "ampere_sgemm_64x32_tn");
				break;
			case 2:
				snprintf(shapes, sizeof(shapes), "[[%ld,%ld,%ld],[%ld,%ld,%ld]]", b,
					 m, k, b, k, n);
				gemm_call(&g, "aten::bmm", shapes, MM_TYPES,
					  "ampere_sgemm_64x32_tn");
				break;
			default:
				snprintf(shapes, sizeof(shapes), "[[%ld,%ld],[%ld,%ld]]", m, k,
					 k + 1, n);
				gemm_call(&g, "aten::mm", shapes, MM_TYPES,
					  "ampere_sgemm_64x32_tn");
				continue;
			}
			here = ceil((double)n / 64) * ceil((double)m / 32) * (double)b;
			tiles += here;
			waves += ceil(here / (double)units);
			result += (double)m * (double)n * (double)b;
		}
		CLEANUP(model_freep) struct model *m = make_end(&g.k);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_gemm);
		struct table *t = table_set_find(&ts, "gemm");

		assert_int_equal(num_of(t, 0, "calls"), calls);
		if (!tiles) {
			assert_true(isnan(num_of(t, 0, "waves")));
			continue;
		}
		assert_true(fabs(num_of(t, 0, "waves") * num_of(t, 0, "shaped_calls") - waves) <
			    1e-6);
		assert_true(fabs(num_of(t, 0, "wave_efficiency") -
				 tiles / (waves * (double)units)) < 1e-12);
		assert_true(fabs(num_of(t, 0, "tile_efficiency") - result / (tiles * 64 * 32)) <
			    1e-12);
	}
}

/* A device that no input describes has the units of those that are, when they agree. */
TEST(test_gemm_other_device)
{
	for (int64_t second = 10; second <= 20; second += 10) {
		struct gemm_maker g = gemm_begin(10);
		struct device_facts d = DEVICE_FACTS_NONE;

		d.number = 1;
		d.units = second;
		g.k.s->ops->device(g.k.s, &d);
		g.queue = make_queue(&g.k, "gpu7", 1);
		gemm_call(&g, "aten::mm", "[[64,8],[8,64]]", MM_TYPES, "ampere_sgemm_32x32_tn");
		CLEANUP(model_freep) struct model *m = make_end(&g.k);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_gemm);

		expect_table(table_set_find(&ts, "gemm"), second == 10
								  ? "waves wave_efficiency\n1 0.4\n"
								  : "waves wave_efficiency\n- -\n");
	}
}

/* What is missing is missing: units, a launch, an operator, an operator that is a product. */
TEST(test_gemm_unknown)
{
	struct gemm_maker g = gemm_begin(FACT_ABSENT);

	gemm_call(&g, "aten::mm", "[[64,64],[64,64]]", MM_TYPES, "ampere_sgemm_64x32_tn");
	CLEANUP(model_freep) struct model *m = make_end(&g.k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_gemm);

	expect_table(table_set_find(&ts, "gemm"), "waves tile_efficiency tile_k\n- - -\n");
	expect_analysis(
		"queue gpu0/1: ampere_sgemm_64x32_tn 0-10 splitKreduce_kernel 10-20 x 3-4\n",
		&analysis_gemm,
		"name op waves total_ns tile_m\n"
		"ampere_sgemm_64x32_tn gemm - 10 64\n"
		"splitKreduce_kernel gemm_reduce - 10 -\n");
}

/* ---- counters ---- */

static series_id make_counter(struct maker *k, track_id queue, const char *name)
{
	struct series_def d = { .name = name, .track = queue, .device = "gpu0", .unit = "waves" };

	return k->s->ops->series(k->s, &d);
}

TEST(test_counters_of_kernels)
{
	struct maker k = make_begin();
	track_id q = make_queue(&k, "gpu0", 1), p = make_queue(&k, "gpu0", 2);
	series_id a = make_counter(&k, q, "SQ_WAVES"), b = make_counter(&k, p, "SQ_WAVES");
	series_id other = make_counter(&k, q, "queue_depth");

	make_span(&k, q, SPAN_KERNEL, 0, 10, "f", 0);
	make_span(&k, q, SPAN_KERNEL, 5, 10, "g", 0); /* started last */
	make_span(&k, q, SPAN_KERNEL, 20, 30, "f", 0);
	make_span(&k, p, SPAN_KERNEL, 20, 30, "f", 0);
	k.s->ops->sample(k.s, a, 10, 3);
	k.s->ops->sample(k.s, a, 30, 4);
	k.s->ops->sample(k.s, a, 31, 1);
	k.s->ops->sample(k.s, b, 30, 8);
	k.s->ops->sample(k.s, other, 11, 1);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_kernel_counters);

	expect_table(table_set_find(&ts, "kernel_counters"),
		     "device name counter values total mean min max unit\n"
		     "gpu0 f SQ_WAVES 2 12 6 4 8 waves\n"
		     "gpu0 g SQ_WAVES 1 3 3 3 3 waves\n"
		     "gpu0 '[no kernel]' SQ_WAVES 1 1 1 1 1 waves\n");
}

/* ---- names of ranges ---- */

static const char ranges[] = "thread 1/1 name=main: outer 0-100 mm,_op_id_=_1 10-20 "
			     "mm,_op_id_=_2 20-40 mm 40-41 Step 50-60\n";

TEST(test_range_names_in_tables)
{
	struct maker k = make_begin();

	name_map_set(k.m, range_name);
	track_id t = make_thread(&k, 1, 1, 0, "main");
	track_id q = make_queue(&k, "gpu0", 1);

	make_call(&k, t, 0, 10, "mm, op_id = 1");
	make_call(&k, t, 10, 30, "mm, op_id = 2");
	make_call(&k, t, 30, 35, "mm");
	make_call(&k, t, 40, 50, "at 0x7f00aa");
	make_call(&k, t, 50, 60, "Step#3");
	make_span(&k, q, SPAN_KERNEL, 0, 10, "k, op_id = 1", 0);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_functions);

	struct table *functions = table_set_find(&ts, "functions");
	size_t row = row_of(functions, "name", "mm", NULL, NULL);

	assert_int_equal(num_of(functions, row, "calls"), 3);
	assert_int_equal(num_of(functions, row, "exclusive_ns"), 35);
	assert_int_equal(num_of(functions, row, "variants"), 3);
	row = row_of(functions, "name", "at 0x*", NULL, NULL);
	assert_int_equal(num_of(functions, row, "variants"), 1);
	row = row_of(functions, "name", "Step#3", NULL, NULL);
	assert_int_equal(num_of(functions, row, "variants"), 1);
	row = row_of(functions, "name", "k, op_id = 1", NULL, NULL);
	assert_int_equal(num_of(functions, row, "variants"), 1);
}

/* Without the map nothing changes. */
TEST(test_range_names_raw)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, ranges);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_functions);
	struct table *t = table_set_find(&ts, "functions");

	assert_int_equal(table_rows(t), 5);
	assert_true(column_sum(t, "variants") == 5);
}
