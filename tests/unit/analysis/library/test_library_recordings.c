/*
 * The recorded logs of PROFRIG_TRACES and the answers of its MANIFEST.md: every figure that stands
 * there, one row for each log.
 */
#include "library_test.h"

struct recorded {
	const char *file;
	uint64_t records, distinct, torn, doubled, foreign;
	uint64_t flops;
	const char *operations[4]; /* "sgemm 25" */
};

static const struct recorded logs[] = {
	{ "rocblas-bert/bert-configs-raw",
	  15,
	  15,
	  0,
	  0,
	  0,
	  UINT64_C(902144458752),
	  { "gemm_strided_batched_ex 9", "gemm_ex 6" } },
	{ "rocblas-miopen-gemm/miopen-rocblas.log", 1, 1, 0, 1, 1, 884736, { "gemm_ex 1" } },
	{ "rocblas-onnx-bert-profile/sgemm_onnx_bert.log",
	  36456,
	  132,
	  0,
	  0,
	  0,
	  UINT64_C(925590372392960),
	  { "sgemm 27528", "sgemm_strided_batched 8928" } },
	{ "rocblas-hpl-bench/dgemm_hpl_list5.log",
	  477,
	  477,
	  0,
	  0,
	  0,
	  UINT64_C(7495661387776),
	  { "dgemm 477" } },
	{ "hipblaslt/bench-lstm.log", 15, 3, 0, 0, 0, 1966080, { NULL } },
	{ "miopen-densenet-long-options/Densenet_v1_FP32_BS256.txt",
	  269,
	  269,
	  0,
	  0,
	  0,
	  UINT64_C(3291519909888),
	  { "conv 269" } },
	{ "miopen-resnet50-old-prefix/resnet50_pytorch.txt",
	  60,
	  60,
	  0,
	  0,
	  1,
	  UINT64_C(4206329856000),
	  { "conv 60" } },
	{ "miopen-rnn/miopen.log", 3, 3, 0, 3, 0, UINT64_C(56481546240), { "rnn 3" } },
	{ "nccl-tests-a100/nccl-fault.log", 990, 11, 0, 0, 26, 0, { "AllReduce 990" } },
	{ "rccl-2rank-gfx1100/rccl.log", 16, 1, 0, 0, 18, 0, { "AllReduce 16" } },
	{ "cublas-lora/lora-cublas.log", 3, 3, 0, 0, 0, 16, { "sgemm 3" } },
	{ "cublas-lora/qlora-cublas.log", 2, 2, 0, 0, 0, 20, { "sgemm 2" } },
	{ "onednn-resnet18-train/stdout.log",
	  702,
	  74,
	  0,
	  0,
	  3,
	  UINT64_C(23463198720),
	  { "reorder 525", "convolution 177" } },
	{ "onednn-v1-benchdnn/verbose.txt", 3, 2, 0, 0, 8, 0, { "reorder 2", "eltwise 1" } },
	{ "blas-torch-linear/blas.json", 26, 6, 0, 0, 0, 88801284, { "sgemm 25", "sdot 1" } },
};

static uint64_t calls_of_operation(const struct library_calls *lc, const char *name, size_t n)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < lc->rows.nr; i++)
		if (strlen(lc->rows.v[i].operation) == n &&
		    !memcmp(lc->rows.v[i].operation, name, n))
			calls += lc->rows.v[i].calls;
	return calls;
}

static struct logged recorded_read(const char *file)
{
	CLEANUP(xfreep) char *name = xasprintf("liblog/%s", file);
	CLEANUP(xfreep) char *path = test_trace(name);
	struct logged l = { .calls = library_calls_new() };
	struct err err = ERR_INIT;

	if (library_log_read(path, l.calls, &l.n, &err) != 0)
		fail_msg("%s", err.msg);
	return l;
}

TEST(manifest)
{
	int bad = 0;

	for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
		const struct recorded *r = &logs[i];
		CLEANUP(logged_release) struct logged l = recorded_read(r->file);
		struct library_totals t = library_calls_totals(l.calls);
		char want[300], is[300];

		snprintf(want, sizeof(want),
			 "%" PRIu64 " records, %" PRIu64 " distinct, %" PRIu64 " torn, %" PRIu64
			 " doubled, %" PRIu64 " foreign, %" PRIu64 " flops",
			 r->records, r->distinct, r->torn, r->doubled, r->foreign, r->flops);
		snprintf(is, sizeof(is),
			 "%" PRIu64 " records, %" PRIu64 " distinct, %" PRIu64 " torn, %" PRIu64
			 " doubled, %" PRIu64 " foreign, %" PRIu64 " flops",
			 l.n.records, l.calls->distinct, l.n.torn, l.n.doubled, l.n.foreign,
			 (uint64_t)t.flops);
		if (strcmp(want, is) != 0 || t.calls != l.n.records || l.n.bad) {
			print_error("%s:\n  %s\n  not %s\n", r->file, is, want);
			bad++;
		}
		for (size_t k = 0; k < 4 && r->operations[k]; k++) {
			size_t n = strcspn(r->operations[k], " ");
			uint64_t calls = 0;

			assert_int_equal(num_u64(r->operations[k] + n + 1,
						 strlen(r->operations[k]) - n - 1, &calls),
					 0);
			if (calls_of_operation(l.calls, r->operations[k], n) != calls) {
				print_error("%s: not %s\n", r->file, r->operations[k]);
				bad++;
			}
		}
	}
	assert_int_equal(bad, 0);
}
