/*
 * Operators, flops and bytes of recordings, against figures that were computed from the files in
 * exact arithmetic, each by the definitions of docs/tables.md and docs/cost.md.
 */
#include "readers_test.h"
#include "stats_test.h"

static const struct known {
	const char *file;
	int64_t own_ns; /* without work that no launch is known of */
	int64_t unlinked, unlinked_ns;
	struct known_op {
		const char *name;
		int64_t calls, with_work, works, own_ns, nested_ns;
	} ops[6];
	/* of products, convolutions and attention; 0: the file has no shapes */
	int64_t calls, flop, bytes;
	struct known_perf {
		const char *name, *shapes; /* shapes: the first ones */
		int64_t calls, flop, bytes, ns;
	} perf[6];
} knowns[] = {
	{ "tef/hta-two-rank/sampled_rank-0.json.gz", 607844000, 0, 0,
	  LIST(ROW("record_param_comms", 8, 8, 8, 290059000, 290059000),
	       ROW("c10d::_allgather_base_", 2, 2, 2, 106140000, 106140000),
	       ROW("torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>", 4, 4, 61,
		   62879000, 63054000),
	       ROW("aten::mm", 231, 231, 233, 40956000, 40956000),
	       ROW("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function", 4, 4, 4,
		   19299000, 19299000),
	       ROW("aten::bmm", 40, 40, 40, 17882000, 17882000)),
	  378, 1653123733504, 44517232788,
	  LIST(ROW("aten::mm", "[[512,2048],[2048,38313]", 2, 160696369152, 793038848, 2489000),
	       ROW("aten::mm", "[[8192,512],[512,8192]", 2, 137438953472, 603979776, 2503000),
	       ROW("aten::mm", "[[512,8192],[8192,8192]", 2, 137438953472, 603979776, 1234000),
	       ROW("aten::mm", "[[2048,512],[512,38313]", 1, 80348184576, 396519424, 1385000),
	       ROW("aten::addmm", "[[3906],[2048,512],[512,3906]", 8, 65595801600, 353658944,
		   1197000),
	       ROW("aten::mm", "[[2048,110],[110,18030]", 7, 56865177600, 1095752560, 2113000)) },
	{ "tef/hta-two-rank/sampled_rank-1.json.gz", 667530000, 0, 0,
	  LIST(ROW("record_param_comms", 8, 8, 8, 274146000, 274146000),
	       ROW("torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>", 2, 2, 28,
		   106365000, 106570000),
	       ROW("c10d::_allgather_base_", 2, 2, 2, 104907000, 104907000),
	       ROW("aten::mm", 229, 229, 233, 39728000, 39728000),
	       ROW("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function", 2, 2, 2,
		   37873000, 37873000),
	       ROW("aten::bmm", 40, 40, 40, 18986000, 18986000)),
	  378, 1721269202944, 45595066440,
	  LIST(ROW("aten::mm", "[[512,2048],[2048,38313]", 2, 160696369152, 793038848, 2524000),
	       ROW("aten::mm", "[[8192,512],[512,8192]", 2, 137438953472, 603979776, 2611000),
	       ROW("aten::mm", "[[512,8192],[8192,8192]", 2, 137438953472, 603979776, 1264000),
	       ROW("aten::addmm", "[[512],[2048,38313],[38313,512]", 1, 80349233152, 396521472,
		   1347000),
	       ROW("aten::mm", "[[2048,512],[512,38313]", 1, 80348184576, 396519424, 1439000),
	       ROW("aten::addmm", "[[3906],[2048,512],[512,3906]", 7, 57396326400, 309451576,
		   1049000)) },
	{ "tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz", 149042, 0, 0,
	  LIST(ROW("aten::copy_", 2, 2, 2, 38161, 38161), ROW("aten::addmm", 1, 1, 2, 24480, 24480),
	       ROW("aten::sum", 1, 1, 1, 13600, 13600), ROW("aten::mm", 1, 1, 1, 12640, 12640),
	       ROW("aten::mean", 1, 1, 1, 11040, 11040), ROW("aten::add_", 2, 2, 2, 9120, 9120)),
	  2, 328320, 141824,
	  LIST(ROW("aten::addmm", "[[128],[5,128],[128,128]", 1, 164480, 71168, 24480),
	       ROW("aten::mm", "[[128,5],[5,128]", 1, 163840, 70656, 12640)) },
	{ "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 472454441, 0, 0,
	  LIST(ROW("aten::convolution_backward", 265, 265, 1465, 211579113, 211579113),
	       ROW("aten::cudnn_convolution", 265, 265, 620, 89867359, 89867359),
	       ROW("aten::cudnn_batch_norm_backward", 265, 265, 265, 56755185, 56755185),
	       ROW("aten::cudnn_batch_norm", 265, 265, 265, 29289218, 29289218),
	       ROW("aten::add_", 425, 425, 425, 26840607, 26840607),
	       ROW("aten::threshold_backward", 245, 245, 245, 23027830, 23027830)),
	  0, 0, 0, LIST(ROW(NULL)) },
	{ "tef/hta-nccl/nccl_data.json.gz", 165185838, 0, 0,
	  LIST(ROW("record_param_comms", 27, 21, 21, 46876493, 46876493),
	       ROW("aten::convolution_backward", 159, 159, 1005, 39529069, 39529069),
	       ROW("aten::cudnn_batch_norm_backward", 159, 159, 159, 20477579, 20477579),
	       ROW("aten::cudnn_convolution", 159, 159, 342, 17013651, 17013651),
	       ROW("aten::cudnn_batch_norm", 159, 159, 159, 10904529, 10904529),
	       ROW("aten::add_", 255, 255, 255, 9161538, 9161538)),
	  0, 0, 0, LIST(ROW(NULL)) },
	{ "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 29743938, 463,
	  13318864,
	  LIST(ROW("aten::mm", 96, 96, 96, 8663617, 8663617),
	       ROW("aten::mul", 220, 220, 220, 4541288, 4541288),
	       ROW("aten::_flash_attention_forward", 24, 24, 24, 3908798, 4016343),
	       ROW("aten::copy_", 197, 197, 197, 3190695, 3190695),
	       ROW("aten::addmm", 72, 72, 72, 2954763, 2954763),
	       ROW("aten::add", 145, 145, 145, 1895607, 1895607)),
	  193, 5760941198272, 10837844156,
	  LIST(ROW("aten::mm", "[[8944,1024],[1024,2816]", 48, 2475914428416, 3573940224, 5308273),
	       ROW("aten::addmm", "[[1024],[8944,1024],[1024,1024]", 72, 1351158202368, 2788835328,
		   2954763),
	       ROW("aten::mm", "[[8944,2816],[2816,1024]", 24, 1237957214208, 1786970112, 2374795),
	       ROW("aten::mm", "[[8944,1024],[1024,1024]", 24, 450166259712, 929562624, 980549),
	       ROW("aten::_scaled_dot_product_flash_attention", "[[16,16,559,64],[16,16,559,64]",
		   24, 245745057792, 1758461952, 4016343),
	       ROW("aten::bmm", "[[1,32,1],[1,1,559]", 1, 35776, 73916, 27342)) },
	{ "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz", 1716301,
	  0, 0,
	  LIST(ROW("aten::addmm", 73, 73, 73, 942325, 942325),
	       ROW("aten::_flash_attention_forward", 12, 12, 12, 374687, 374687),
	       ROW("aten::native_layer_norm", 25, 25, 25, 139695, 139695),
	       ROW("aten::add", 25, 25, 25, 130035, 130035),
	       ROW("aten::gelu", 12, 12, 12, 65659, 65659),
	       ROW("aten::miopen_convolution", 1, 1, 5, 46342, 53117)),
	  86, 140575165440, 494355456,
	  LIST(ROW("aten::addmm", "[[768],[788,768],[768,768]", 48, 44648054784, 172892160, 409207),
	       ROW("aten::addmm", "[[3072],[788,768],[768,3072]", 12, 44648054784, 129318912,
		   251162),
	       ROW("aten::addmm", "[[768],[788,3072],[3072,768]", 12, 44626268160, 129263616,
		   274459),
	       ROW("aten::_scaled_dot_product_flash_attention", "[[4,12,197,64],[4,12,197,64]", 12,
		   5722619904, 58097664, 374687),
	       ROW("aten::convolution", "[[4,3,224,224],[768,3,16,16]", 1, 925446144, 3589632,
		   53117),
	       ROW("aten::addmm", "[[768],[4,768],[768,768]", 1, 4721664, 1193472, 7497)) },
};

/* Σ of a column over the rows of a name. */
static int64_t sum_of(const struct table *t, const char *name, const char *column)
{
	int64_t sum = 0;

	for (size_t r = 0; r < table_rows(t); r++)
		if (!name || strcmp(str_of(t, r, "name"), name) == 0)
			sum += (int64_t)num_of(t, r, column);
	return sum;
}

static void check_operators(const struct known *k, const struct table *t)
{
	assert_non_null(t);
	assert_int_equal(sum_of(t, "[unlinked]", "works"), k->unlinked);
	assert_int_equal(sum_of(t, "[unlinked]", "own_ns"), k->unlinked_ns);
	assert_int_equal(sum_of(t, NULL, "own_ns") - k->unlinked_ns, k->own_ns);
	for (size_t i = 0; i < ARRAY_LEN(k->ops) && k->ops[i].name; i++) {
		const struct known_op *o = &k->ops[i];

		if (sum_of(t, o->name, "calls") != o->calls ||
		    sum_of(t, o->name, "calls_with_work") != o->with_work ||
		    sum_of(t, o->name, "works") != o->works ||
		    sum_of(t, o->name, "own_ns") != o->own_ns ||
		    sum_of(t, o->name, "nested_ns") != o->nested_ns)
			ROW_FAIL(i, "%s: %s has %lld ns in %lld works", k->file, o->name,
				 (long long)sum_of(t, o->name, "own_ns"),
				 (long long)sum_of(t, o->name, "works"));
	}
}

/* The row of these figures. */
static void check_perf_row(const struct known *k, const struct known_perf *p, const struct table *t)
{
	for (size_t r = 0; r < table_rows(t); r++)
		if (strcmp(str_of(t, r, "op"), p->name) == 0 &&
		    strncmp(str_of(t, r, "shapes"), p->shapes, strlen(p->shapes)) == 0 &&
		    num_of(t, r, "calls") == (double)p->calls &&
		    num_of(t, r, "flop") == (double)p->flop &&
		    num_of(t, r, "bytes") == (double)p->bytes &&
		    num_of(t, r, "total_ns") == (double)p->ns) {
			assert_true(fabs(num_of(t, r, "tflops") /
						 ((double)p->flop / (double)p->ns / 1e3) -
					 1) < 1e-9);
			return;
		}
	fail_msg("%s: no row %s %s", k->file, p->name, p->shapes);
}

static void check_perf(const struct known *k, const struct table *t)
{
	int64_t calls = 0;
	double flop = 0, bytes = 0;

	if (!k->calls)
		return;
	assert_non_null(t);
	for (size_t r = 0; r < table_rows(t); r++) {
		if (strstr(str_of(t, r, "flags"), "nominal"))
			continue;
		calls += (int64_t)num_of(t, r, "calls");
		flop += num_of(t, r, "flop");
		bytes += num_of(t, r, "bytes");
	}
	assert_int_equal(calls, k->calls);
	assert_true(flop == (double)k->flop && bytes == (double)k->bytes);
	for (size_t i = 0; i < ARRAY_LEN(k->perf) && k->perf[i].name; i++)
		check_perf_row(k, &k->perf[i], t);
}

/* The tables of a recording; skips without it. */
static struct table_set tables_of_recording(const char *file)
{
	READING rd = read_recording("tef", file, false);

	return analyse(rd.m, &analysis_operators);
}

TEST(figures)
{
	for (size_t i = 0; i < ARRAY_LEN(knowns); i++) {
		CLEANUP(table_set_release)
		struct table_set ts = tables_of_recording(knowns[i].file);

		check_operators(&knowns[i], table_set_find(&ts, "operators"));
		check_perf(&knowns[i], table_set_find(&ts, "perf"));
	}
}

/* An MI300X by its peaks, an A100 whose float is multiplied as TF32. */
TEST(rooflines)
{
	CLEANUP(table_set_release)
	struct table_set qwen = tables_of_recording(
		"tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
	CLEANUP(table_set_release)
	struct table_set two = tables_of_recording("tef/hta-two-rank/sampled_rank-0.json.gz");
	const struct table *t = table_set_find(&qwen, "perf");
	size_t r = row_of(t, "op", "aten::mm", "shapes", "[[8944,1024],[1024,2816]]");

	assert_true(fabs(num_of(t, r, "intensity") - 692.768842) < 1e-6);
	assert_true(fabs(num_of(t, r, "tflops") - 466.425602) < 1e-5);
	assert_true(fabs(num_of(t, r, "tbps") - 0.673277) < 1e-6);
	assert_true(fabs(num_of(t, r, "pct_of_attainable") - 46642.5602 / 1307.4) < 1e-4);
	assert_string_equal(str_of(t, r, "bound"), "compute");
	assert_string_equal(str_of(t, r, "precision"), "bf16");
	r = row_of(t, "op", "aten::mean", NULL, NULL);
	assert_true(num_of(t, r, "bytes") / num_of(t, r, "calls") == 36670400);
	t = table_set_find(&qwen, "mfu");
	assert_true(num_of(t, 0, "flop") == 5760941198272 && num_of(t, 0, "peak_tflops") == 1307.4);
	r = row_of(t, "iteration", "ProfilerStep#6", NULL, NULL);
	assert_true(num_of(t, r, "wall_ns") == 46892225);
	assert_true(fabs(num_of(t, r, "tflops") - 122.854933) < 1e-6);
	assert_true(fabs(num_of(t, r, "mfu") - 0.093969) < 1e-6);
	t = table_set_find(&two, "perf");
	r = row_of(t, "op", "aten::mm", "shapes", "[[512,8192],[8192,8192]]");
	assert_string_equal(str_of(t, r, "precision"), "tf32");
	assert_true(fabs(num_of(t, r, "tflops") - 111.376785) < 1e-5);
}
