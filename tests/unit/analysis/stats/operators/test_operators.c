/*
 * Operators: own and nested work, which calls count, rates and rooflines. Small models by hand, and
 * laws on random ones: the work of all rows is all work, and the time of operators on a thread is
 * divided among them.
 */
#include "operator_calls.h"
#include "stats_test.h"

#include "profrig/base/mix.h"
#include "profrig/cost/peaks.h"
#include "profrig/model/warnings.h"

static uint32_t operands_put(struct maker *k, const char *shapes, const char *types,
			     const char *concrete)
{
	struct operand_texts t = { .shapes = { shapes, strlen(shapes) },
				   .types = { types, strlen(types) } };

	if (concrete)
		t.concrete = (struct fact_text){ concrete, strlen(concrete) };
	return k->s->ops->operands(k->s, &t);
}

static span_id op_of(struct maker *k, track_id t, int64_t start, int64_t end, const char *name,
		     uint32_t operands, int64_t sequence, int64_t forward)
{
	struct span_def d = { .track = t,
			      .kind = SPAN_HOST,
			      .start_ns = start,
			      .end_ns = end,
			      .name = sink_puts(k->s, name),
			      .category = sink_puts(k->s, "cpu_op"),
			      .args = STR_NONE };
	struct span_facts f = { .kind = FACTS_OP };
	span_id id = k->s->ops->span(k->s, &d);

	f.op = OP_FACTS_NONE;
	f.op.operands = operands;
	f.op.sequence = sequence;
	f.op.forward_thread = forward;
	k->s->ops->facts(k->s, id, &f);
	return id;
}

static void make_op(struct maker *k, track_id t, int64_t start, int64_t end, const char *name,
		    uint32_t operands)
{
	op_of(k, t, start, end, name, operands, FACT_ABSENT, FACT_ABSENT);
}

/* A launch of 1 ns, and its kernel. */
static void make_launch(struct maker *k, track_id t, int64_t at, track_id q, int64_t start,
			int64_t end, const char *kernel)
{
	static uint64_t correlation;

	correlation++;
	make_span(k, t, SPAN_HOST, at, at + 1, "cudaLaunchKernel", correlation);
	make_span(k, q, SPAN_KERNEL, start, end, kernel, correlation);
}

static void make_device(struct maker *k, int64_t number, const char *name)
{
	struct device_facts d = DEVICE_FACTS_NONE;

	d.number = number;
	d.name = sink_puts(k->s, name);
	k->s->ops->device(k->s, &d);
}

static struct table_set operators_of(struct model *m, struct peaks *peaks)
{
	struct analysis_opts o = { .peaks = peaks };
	struct table_set ts = TABLE_SET_INIT;

	assert_int_equal(analysis_run(&analysis_operators, m, NULL, &o, &ts, NULL), 0);
	return ts;
}

#define MM_SHAPES "[[64,32],[32,16]]"
#define MM_TYPES "[\"c10::BFloat16\",\"c10::BFloat16\"]"
#define MM_FLOP (2 * 64 * 32 * 16)
#define MM_BYTES (2 * (64 * 32 + 32 * 16 + 64 * 16))

/* A reading of the power of gpu3 that stays at w. */
static void make_power(struct maker *k, double w)
{
	struct series_def d = {
		.name = "power.gpu3", .unit = "W", .kind = SERIES_GAUGE, .track = TRACK_NONE
	};
	series_id s = k->s->ops->series(k->s, &d);

	for (int64_t t = 0; t <= 500; t += 2)
		k->s->ops->sample(k->s, s, t, w);
}

/*
 * linear ⊃ mm, both with works; a launch without operator; work without launch. w: power of the
 * device; 0: it is not known.
 */
static struct model *small_model_with(double w)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu3", 7);
	track_id p = make_queue(&k, "gpu3", 8);
	uint32_t mm = operands_put(&k, MM_SHAPES, MM_TYPES, NULL);
	uint32_t linear = operands_put(&k, "[[64,32],[16,32]]", MM_TYPES, NULL);

	make_device(&k, 0, "NVIDIA H100 80GB HBM3");
	make_op(&k, t, 0, 100, "aten::linear", linear);
	make_launch(&k, t, 2, q, 200, 210, "memset_like");
	make_op(&k, t, 10, 60, "aten::mm", mm);
	make_call(&k, t, 15, 50, "some frame");
	make_launch(&k, t, 20, q, 210, 260, "nvjet_tst_64x8_64x16_1x2_h_bz_TNT");
	make_launch(&k, t, 30, p, 250, 280, "splitKreduce_kernel");
	make_launch(&k, t, 150, q, 300, 307, "alone");
	make_span(&k, q, SPAN_KERNEL, 400, 403, "lost", 0);
	if (w > 0)
		make_power(&k, w);
	return make_end(&k);
}

static struct model *small_model(void)
{
	return small_model_with(0);
}

TEST(own_and_nested)
{
	CLEANUP(model_freep) struct model *m = small_model();
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "operators"),
		     "name calls calls_with_work works own_ns nested_ns host_self_ns flop bytes\n"
		     "aten::mm 1 1 2 80 80 50 65536 7168\n"
		     "aten::linear 1 1 1 10 90 50 - -\n"
		     "'[no op]' 0 0 1 7 7 0 - -\n"
		     "'[unlinked]' 0 0 1 3 3 0 - -\n");
	/* 210 to 280, on two queues; attainable in 7168 B / 3.35 TB/s = 2.1397 ns */
	expect_table(table_set_find(&ts, "perf"),
		     "op calls flop bytes total_ns tflops precision bound pct_of_attainable\n"
		     "aten::mm 1 65536 7168 70 65536/70000 bf16 memory 7168/2345\n");
	assert_int_equal(MM_FLOP, 65536);
	assert_int_equal(MM_BYTES, 7168);
	expect_table(table_set_find(&ts, "mfu"), "device flop wall_ns busy_ns precision\n"
						 "gpu3 65536 203 90 bf16\n");
}

/* A file of peaks; more than 100 % is shown as it is. */
TEST(roofline)
{
	static const char file[] =
		"{\"schema\": \"profrig.peaks/1\", \"devices\": [{\"match\": \"H100\", "
		"\"source\": \"test\", \"peaks\": ["
		"{\"precision\": \"bf16\", \"value\": 0.0001, \"unit\": \"TFLOP/s\"},"
		"{\"precision\": \"memory\", \"value\": 1000, \"unit\": \"TB/s\"}]}]}";
	CLEANUP(peaks_freep) struct peaks *p = peaks_new();
	CLEANUP(model_freep) struct model *m = small_model();
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	assert_int_equal(peaks_read_text(p, file, strlen(file), "test", NULL), 0);
	ts = operators_of(m, p);
	/* 65536 flop at 10^-4 TFLOP/s are 655360 ns: 936228.57 % of 70 ns */
	expect_table(table_set_find(&ts, "perf"), "op bound pct_of_attainable\n"
						  "aten::mm compute 65536000/70\n");
	expect_table(table_set_find(&ts, "peaks"), "device precision value reachable source\n"
						   "gpu3 bf16 0.0001 - test\n"
						   "gpu3 memory 1000 - test\n");
}

/* Without an operator below that counts, the wrapper does. */
TEST(wrapper_alone)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);
	uint32_t linear = operands_put(&k, "[[64,32],[16,32]]", MM_TYPES, NULL);
	uint32_t bad = operands_put(&k, "[[64,32],[33,16]]", MM_TYPES, NULL);

	make_op(&k, t, 0, 100, "aten::linear", linear);
	make_op(&k, t, 10, 60, "aten::mm", bad);
	make_launch(&k, t, 20, q, 210, 260, "gemm");
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "perf"), "op flop total_ns precision bound\n"
						  "aten::linear 65536 50 bf16 -\n");
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, W_BAD_SHAPES) == 0) {
			assert_int_equal(m->warnings.v[i].count, 1);
			return;
		}
	fail_msg("no warning");
}

/* SDPA has the flash kernel inside: once. */
TEST(outermost_counts)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);
	uint32_t outer = operands_put(&k, "[[2,4,3,8],[2,4,3,8],[2,4,3,8],[],[]]",
				      "[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]",
				      "[\"\",\"\",\"\",\"0.\",\"False\"]");
	uint32_t inner = operands_put(&k, "[[2,3,4,8],[2,3,4,8],[2,3,4,8]]",
				      "[\"float\",\"float\",\"float\"]", NULL);

	make_op(&k, t, 0, 100, "aten::_scaled_dot_product_flash_attention", outer);
	make_op(&k, t, 10, 60, "aten::_flash_attention_forward", inner);
	make_launch(&k, t, 20, q, 210, 260, "flash");
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "perf"),
		     "op calls flop bytes total_ns\n"
		     "aten::_scaled_dot_product_flash_attention 1 2304 3072 50\n");
	expect_table(table_set_find(&ts, "operators"),
		     "name own_ns nested_ns flop\n"
		     "aten::_flash_attention_forward 50 50 -\n"
		     "aten::_scaled_dot_product_flash_attention 0 50 2304\n");
}

/* On a host without devices a call's own duration is its time. */
TEST(host_alone)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main");

	make_op(&k, t, 0, 100, "aten::mm", operands_put(&k, MM_SHAPES, MM_TYPES, NULL));
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "perf"), "op flop total_ns tflops flags\n"
						  "aten::mm 65536 100 0.65536 host\n");
	assert_null(table_set_find(&ts, "mfu"));
}

/* A backward operator belongs to the innermost forward one with its number. */
TEST(backward)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), b = make_thread(&k, 1, 2, 0, "backward");
	track_id q = make_queue(&k, "gpu0", 7);

	op_of(&k, t, 0, 100, "aten::linear", FACT_NONE, 5, 0);
	op_of(&k, t, 10, 60, "aten::addmm", FACT_NONE, 5, 0);
	make_launch(&k, t, 20, q, 210, 260, "fwd");
	op_of(&k, b, 300, 400, "AddmmBackward0", FACT_NONE, 5, 1);
	op_of(&k, b, 310, 390, "aten::mm", FACT_NONE, 5, 1);
	make_launch(&k, b, 320, q, 500, 530, "bwd");
	op_of(&k, b, 400, 500, "Unknown", FACT_NONE, 6, 1);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "operators"), "name own_ns backward_ns\n"
						       "aten::addmm 50 30\n"
						       "aten::mm 30 0\n"
						       "Unknown 0 0\n"
						       "aten::linear 0 0\n"
						       "AddmmBackward0 0 0\n");
}

/* Two threads with equal numbers: the one on which the id's other numbers are. */
TEST(backward_of_several_threads)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "a"), u = make_thread(&k, 1, 3, 0, "b");
	track_id b = make_thread(&k, 1, 2, 0, "backward"), q = make_queue(&k, "gpu0", 7);

	op_of(&k, t, 0, 10, "a5", FACT_NONE, 5, 0);
	op_of(&k, u, 0, 10, "b5", FACT_NONE, 5, 0);
	op_of(&k, u, 20, 30, "b7", FACT_NONE, 7, 0);
	op_of(&k, b, 100, 110, "Back7", FACT_NONE, 7, 9);
	op_of(&k, b, 120, 130, "Back5", FACT_NONE, 5, 9);
	make_launch(&k, b, 122, q, 200, 240, "bwd");
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);
	const struct table *o = table_set_find(&ts, "operators");

	assert_true(num_of(o, row_of(o, "name", "b5", NULL, NULL), "backward_ns") == 40);
	assert_true(num_of(o, row_of(o, "name", "a5", NULL, NULL), "backward_ns") == 0);
}

/* Ranks count from 1 each. */
TEST(backward_of_several_processes)
{
	struct maker k = make_begin();
	track_id q = make_queue(&k, "gpu0", 7);

	for (int32_t rank = 0; rank < 3; rank++) {
		track_id t = make_thread(&k, 1 + rank, 1, rank, "main");
		track_id b = make_thread(&k, 1 + rank, 2, rank, "backward");
		const char *name = rank == 0 ? "r0" : rank == 1 ? "r1" : "r2";

		op_of(&k, t, 0, 10, name, FACT_NONE, 5, 0);
		op_of(&k, b, 100 + rank, 120, "Back", FACT_NONE, 5, 1);
		make_launch(&k, b, 110, q, 200 + 100 * rank, 240 + 110 * rank, name);
	}
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "operators"), "name backward_ns\n"
						       "Back 0\n"
						       "r0 40\n"
						       "r1 50\n"
						       "r2 60\n");
}

/* An iteration owns what begins in its range, and lasts until its last work ends. */
TEST(iterations)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);
	uint32_t mm = operands_put(&k, MM_SHAPES, MM_TYPES, NULL);

	make_device(&k, 0, "AMD Instinct MI300X");
	for (int64_t i = 0; i < 3; i++) {
		make_call(&k, t, 100 * i, 100 * i + 90,
			  i == 2 ? "ProfilerStep#9" : "ProfilerStep#8");
		make_op(&k, t, 100 * i + 10, 100 * i + 50, "aten::mm", mm);
		make_launch(&k, t, 100 * i + 20, q, 100 * i + 60, 100 * i + 80 + 30 * i, "Cijk");
	}
	make_op(&k, t, 295, 299, "aten::mm", mm);
	make_launch(&k, t, 296, q, 400, 500, "Cijk");
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "mfu"),
		     "device iteration flop wall_ns busy_ns precision peak_tflops mfu\n"
		     "gpu0 - 262144 440 250 bf16 1307.4 *\n"
		     "gpu0 ProfilerStep#8 65536 90 20 bf16 1307.4 *\n"
		     "gpu0 ProfilerStep#8 65536 110 50 bf16 1307.4 *\n"
		     "gpu0 ProfilerStep#9 65536 140 90 bf16 1307.4 *\n");
}

/* The profiler of a PyTorch without Kineto writes names and times alone. */
TEST(operators_by_name)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1 name=main: step 0-100 aten::linear 10-50 "
					   "aten::addmm 20-45 AddmmBackward0 60-90\n");
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);

	expect_table(table_set_find(&ts, "operators"), "name calls works host_self_ns\n"
						       "aten::addmm 1 0 25\n"
						       "aten::linear 1 0 15\n");
}

TEST(no_operators)
{
	struct table_set ts = TABLE_SET_INIT;
	CLEANUP(model_freep) struct model *m = model_of_text(1, "thread 1/1 name=main: f 0-10\n");
	struct analysis_opts o = { .workload_start_ns = 0 };

	assert_int_equal(analysis_run(&analysis_operators, m, NULL, &o, &ts, NULL),
			 ANALYSIS_SKIPPED);
	assert_int_equal(ts.tables.nr, 0);
	table_set_release(&ts);
}

/* ---- laws ---- */

static void random_thread(struct maker *k, track_id t, track_id q, uint64_t *rnd,
			  const uint32_t *lists)
{
	static const char *const names[] = { "aten::mm", "aten::linear", "aten::add", "x" };

	for (int i = 0; i < 12; i++) {
		int64_t start = (int64_t)(splitmix64(rnd) % 500);
		int64_t end = start + (int64_t)(splitmix64(rnd) % 200);

		switch (splitmix64(rnd) % 4) {
		case 0:
			make_launch(k, t, start, q, end, end + (int64_t)(splitmix64(rnd) % 90),
				    "kernel");
			break;
		case 1:
			make_call(k, t, start, end, "frame");
			break;
		default:
			op_of(k, t, start, end, names[splitmix64(rnd) % 4],
			      lists[splitmix64(rnd) % 3], (int64_t)(splitmix64(rnd) % 6),
			      (int64_t)(splitmix64(rnd) % 3));
		}
	}
	make_span(k, q, SPAN_KERNEL, 5, 9, "lost", 0);
}

static void check_laws(uint64_t seed)
{
	uint64_t rnd = seed;
	struct maker k = make_begin();
	const uint32_t lists[] = { operands_put(&k, MM_SHAPES, MM_TYPES, NULL),
				   operands_put(&k, "[[3],[4,5]]", MM_TYPES, NULL), FACT_NONE };
	track_id a = make_thread(&k, 1, 1, 0, "a"), b = make_thread(&k, 1, 2, 0, "b");
	track_id q = make_queue(&k, "gpu0", 1), r = make_queue(&k, "gpu1", 1);
	int64_t works = 0, union_max = 0, counted = 0;

	random_thread(&k, a, q, &rnd, lists);
	random_thread(&k, b, r, &rnd, lists);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	struct works *w = works_new(m);
	CLEANUP(operator_calls_freep) struct operator_calls *oc = operator_calls_new(m, w);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);
	const struct table *t = table_set_find(&ts, "operators");

	for (size_t i = 0; i < w->v.nr; i++)
		works += w->v.v[i].end_ns - w->v.v[i].start_ns;
	for (size_t i = 0; i < oc->v.nr; i++) {
		const struct operator_call *c = &oc->v.v[i];

		assert_true(c->nested_ns >= c->own_ns && c->host_self_ns >= 0);
		assert_true(c->counts == OPERATOR_NONE || oc->v.v[c->counts].counts == c->counts);
		if (c->counts == i) {
			assert_true(c->time_ns <= c->nested_ns);
			counted += c->time_ns;
		}
		if (c->around == OPERATOR_NONE)
			union_max += c->nested_ns;
	}
	if (t && (column_sum(t, "own_ns") != (double)works || counted > union_max))
		fail_msg("seed %llu: own is %g of %lld", (unsigned long long)seed,
			 column_sum(t, "own_ns"), (long long)works);
	works_free(w);
}

/* 400 W; two works of mm run 70 ns, 10 of them together, which count once. */
TEST(energy)
{
	CLEANUP(model_freep) struct model *m = small_model_with(400);
	CLEANUP(table_set_release) struct table_set ts = operators_of(m, NULL);
	const struct table *t = table_set_find(&ts, "operators"),
			   *perf = table_set_find(&ts, "perf");
	static const struct {
		const char *name;
		double ns;
	} rows[] = {
		{ "aten::mm", 70 },
		{ "aten::linear", 10 },
		{ "[no op]", 7 },
		{ "[unlinked]", 3 },
	};
	size_t mm = row_of(perf, "op", "aten::mm", NULL, NULL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (fabs(num_of(t, row_of(t, "name", rows[i].name, NULL, NULL), "joules") -
			 400e-9 * rows[i].ns) > 1e-15)
			ROW_FAIL(i, "%s", rows[i].name);
	assert_true(fabs(num_of(perf, mm, "joules") - 28e-6) < 1e-15);
	assert_true(fabs(num_of(perf, mm, "joules_per_tflop") - 28e-6 / (MM_FLOP * 1e-12)) < 1e-6);
	assert_true(fabs(num_of(perf, mm, "joules_per_gb") - 28e-6 / (MM_BYTES * 1e-9)) < 1e-6);
}

TEST(laws)
{
	for (uint64_t seed = 1; seed <= 1500; seed++)
		check_laws(seed);
}
