#include "library_names.h"
#include "library_trace.h"
#include "stats_test.h"

#include <inttypes.h>

#include "profrig/library/library_log.h"
#include "profrig/model/library_calls.h"
#include "profrig/model/warnings.h"

/* Calls as libraries log them. */
#define GEMM_N(m) \
	"./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m " m \
	" -n 10 -k 5 --alpha 1 --lda " m " --ldb 5 --beta 0 --ldc " m "\n"
#define GEMM_1000 GEMM_N("10") /* flops */
#define GEMM_2000 GEMM_N("20")
#define PROFILE_1000 \
	"- { rocblas_function: \"rocblas_sgemm\", transA: 'N', transB: 'N', M: 10, N: 10, K: 5, " \
	"lda: 10, ldb: 5, ldc: 10, call_count: 2 }\n"
#define CONV_1X1 \
	"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 -c 5 -H 2 -W 5 -k " \
	"10 " \
	"-y 1 -x 1 -p 0 -q 0 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1\n"
#define NCCL(pid, tid, name) \
	"n1:" pid ":" tid " [0] NCCL INFO " name ": opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 " \
	"datatype 7 op 0 root 0 comm 0x10 [nranks=2] stream 0x3\n"
#define ONEDNN(kind, stamp_ms, ms) \
	"onednn_verbose," stamp_ms ",exec,cpu," kind ",jit:avx2,forward_training," \
	"src_f32::blocked:abcd:f0 wei_f32::blocked:Acdb16a:f0 dst_f32::blocked:aBcd16b:f0,," \
	"alg:convolution_direct,mb1_ic1oc1_ih1oh1kh1sh1dh0ph0_iw1ow1kw1sw1dw0pw0," ms "\n"

struct log_text {
	const char *path, *text;
};

static void log_push(struct sink *s, const struct log_text *l, enum trace_clock clock)
{
	struct library_calls *calls = library_calls_new();
	struct library_log *log = library_log_new(l->path, calls);
	struct library_counts n;

	library_calls_keep_order(calls);
	library_log_text(log, l->text, strlen(l->text));
	library_log_end(log, &n);
	library_log_free(log);
	assert_int_equal(n.torn + n.bad, 0);
	s->ops->input(s, l->path, "library_log");
	s->ops->current(s)->clock = clock;
	s->ops->clock(s);
	s->ops->library(s, calls);
	s->ops->input_end(s);
}

/* A trace (trace_text.h, in unit_ns) and up to three logs, whose times are of one clock. */
static struct model *session_of(enum trace_clock clock, double unit_ns, const char *trace,
				const struct log_text *logs)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "hand-made", "test");
	s->ops->current(s)->clock = clock;
	s->ops->clock(s);
	trace_text(s, unit_ns, trace);
	s->ops->input_end(s);
	for (; logs->path; logs++)
		log_push(s, logs, clock);
	model_finish_flat(m);
	return m;
}

#define LOGS(...) ((const struct log_text[]){ __VA_ARGS__, { NULL, NULL } })
#define ONE_LOG(text) LOGS({ "a.77.log", text })
#define COLUMNS \
	"operation trace_calls trace_ns trace_share trace_tflops kernels kernel called_by " \
	"unmatched\n"

#define expect_calls(trace, logs, want) \
	do { \
		CLEANUP(model_freep) \
		struct model *m_ = session_of(TRACE_CLOCK_MONOTONIC, 1, (trace), (logs)); \
		CLEANUP(table_set_release) struct table_set ts_ = analyse_library(m_); \
		expect_table(table_set_find(&ts_, "library_calls"), COLUMNS want); \
	} while (0)

static struct table_set analyse_library(struct model *m)
{
	return analyse(m, analysis_find("library"));
}

/* ---- names ---- */

TEST(names)
{
	static const struct {
		const char *name, *category, *class;
	} calls[] = {
		{ "rocblas_sgemm", "", "rocblas sgemm" },
		{ "rocblas_gemm_strided_batched_ex_64", "", "rocblas gemmstridedbatchedex" },
		{ "cublasSgemm_v2", "", "cublas sgemm" },
		{ "cublasGemmStridedBatchedEx_v11000", "", "cublas gemmstridedbatchedex" },
		{ "cublasSgemm_v2_64", "", "cublas sgemm" },
		{ "cublasLtMatmul", "", "cublaslt matmul" },
		{ "hipblasLtMatmul", "", "hipblaslt matmul" },
		{ "cudnnConvolutionForward", "", "cudnn convolutionforward" },
		{ "miopenConvolutionForward", "", "miopen conv fwd" },
		{ "miopenConvolutionBackwardWeightsImmediate", "", "miopen conv bwd_weights" },
		{ "miopenConvolutionForwardGetWorkSpaceSize", "", NULL },
		{ "ncclAllReduce", "", "nccl allreduce" },
		{ "cblas_sgemm", "", "blas sgemm" },
		{ "sgemm_", "blas", "blas sgemm" },
		{ "sgemm_", "", NULL },
		{ "rocblas_", "", NULL },
		{ "_v2", "", NULL },
		{ "", "", NULL },
	};
	static const struct {
		const char *name, *class;
	} kernels[] = {
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  "nccl allreduce" },
		{ "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", "nccl allgather" },
		{ "ncclAllReduceRingLLKernel_sum_f32(ncclWorkElem)", "nccl allreduce" },
		{ "ncclReduceScatterTreeLLKernel_sum_f32", "nccl reducescatter" },
		{ "ncclDevKernel_Generic_1", "nccl generic" },
		{ "ncclDevKernel_SendRecv(ncclDevKernelArgs)", "nccl sendrecv" },
		{ "ncclAllReduce", NULL },
		{ "Cijk_Ailk_Bljk_HHS_BH_MT128x64x64", NULL },
	};
	char class[LIBRARY_CLASS_MAX];

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		bool has = library_class_of_call(calls[i].name, calls[i].category, class);

		if (has != !!calls[i].class || (has && strcmp(class, calls[i].class) != 0))
			ROW_FAIL(i, "%s: %s", calls[i].name, has ? class : "none");
	}
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		bool has = library_class_of_kernel(kernels[i].name, class);

		if (has != !!kernels[i].class || (has && strcmp(class, kernels[i].class) != 0))
			ROW_FAIL(i, "%s: %s", kernels[i].name, has ? class : "none");
	}
}

TEST(names_of_rows)
{
	static const struct {
		const char *library, *operation, *key, *class;
	} rows[] = {
		{ "rocblas", "gemm_ex", "gemm …", "rocblas gemmex" },
		{ "rocblas_function", "sgemm", "gemm …", "rocblas sgemm" },
		{ "blas", "cblas_sgemm", "gemm …", "blas sgemm" },
		{ "blas", "sgemm_", "gemm …", "blas sgemm" },
		{ "rccl", "AllReduce", "AllReduce …", "nccl allreduce" },
		{ "miopen", "conv", "conv dir=bwd_data n=4", "miopen conv bwd_data" },
		{ "miopen", "convfp16", "conv dir=fwd", "miopen conv fwd" },
		{ "miopen", "conv", "conv dir=fwd+bwd_data n=4", NULL },
		{ "miopen", "pool", "pool n=4", NULL },
		{ "mkl", "sgemm", "gemm …", NULL },
		{ "tensile", "kernel", "kernel …", NULL },
	};
	char class[LIBRARY_CLASS_MAX], *longest = textf("%0200d", 0);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct library_row r = { .library = rows[i].library,
					 .operation = rows[i].operation,
					 .key = rows[i].key };
		bool has = library_class_of_row(&r, class);

		if (has != !!rows[i].class || (has && strcmp(class, rows[i].class) != 0))
			ROW_FAIL(i, "%s", has ? class : "none");
	}
	assert_false(library_class_of_row(
		&(struct library_row){ .library = "nccl", .operation = longest, .key = "" },
		class));
}

/* ---- in order ---- */

/* 2 calls of one configuration, 1 of another; each launches what it needs. 40 ns of work. */
#define THREE_GEMMS \
	"thread 77/77: aten::mm 0-100 rocblas_sgemm 10-30 launch#1 12-14 rocblas_sgemm 40-60 " \
	"launch#2 42-44 launch#3 46-48 aten::bmm 200-300 rocblas_sgemm 210-230 launch#4 212-214 " \
	"launch#5 240-242\n" \
	"queue gpu0/7: Cijk_A#1 100-105 Cijk_B#2 110-120 Reduce#3 120-122 Cijk_A#4 300-307 " \
	"add#5 310-326\n"

TEST(calls_with_their_kernels)
{
	expect_calls(THREE_GEMMS, ONE_LOG(GEMM_1000 GEMM_2000 GEMM_1000),
		     "sgemm 2 12 12/40 2000/12e3 1 Cijk_A aten::bmm -\n"
		     "sgemm 1 12 12/40 2000/12e3 2 Cijk_B aten::mm -\n");
}

TEST(other_order_other_times)
{
	expect_calls(THREE_GEMMS, ONE_LOG(GEMM_1000 GEMM_1000 GEMM_2000),
		     "sgemm 2 17 17/40 2000/17e3 3 Cijk_B aten::mm -\n"
		     "sgemm 1 7 7/40 2000/7e3 1 Cijk_A aten::bmm -\n");
}

TEST(other_numbers_match_nothing)
{
	expect_calls(THREE_GEMMS, ONE_LOG(GEMM_1000 GEMM_2000),
		     "sgemm 0 - - - 0 - - 'the log has 2 such calls, the trace 3'\n"
		     "sgemm 0 - - - 0 - - 'the log has 2 such calls, the trace 3'\n");
	expect_calls("thread 77/77: f 0-9\n", ONE_LOG(GEMM_1000),
		     "sgemm 0 - - - 0 - - 'the trace has no such calls'\n");
	expect_calls("", ONE_LOG(GEMM_1000), "sgemm 0 - - - 0 - - -\n");
	/* of another process */
	expect_calls(THREE_GEMMS, LOGS({ "a.78.log", GEMM_1000 GEMM_1000 GEMM_1000 }),
		     "sgemm 0 - - - 0 - - 'the trace has no such calls'\n");
}

/* The numbers are right: what cannot be known is the order. */
TEST(without_order)
{
	expect_calls("thread 77/77: rocblas_sgemm 0-10 rocblas_sgemm 20-30\n",
		     ONE_LOG(PROFILE_1000),
		     "sgemm 0 - - - 0 - - 'the log does not tell all calls in their order'\n");
	expect_calls("thread 77/77: rocblas_sgemm 0-10 rocblas_sgemm 20-30\n",
		     LOGS({ "a.77.log", GEMM_1000 }, { "b.77.log", GEMM_1000 }),
		     "sgemm 0 - - - 0 - - 'several logs tell calls of one process'\n");
}

/* The backward pass has a thread of its own: what does not overlap has an order. */
TEST(threads)
{
	expect_calls("thread 77/77: rocblas_sgemm 0-10 launch#1 1-2\n"
		     "thread 77/78: rocblas_sgemm 10-30 launch#2 11-12\n"
		     "queue gpu0/7: a#1 100-105 b#2 110-120\n",
		     ONE_LOG(GEMM_1000 GEMM_2000),
		     "sgemm 1 10 10/15 2000/10e3 1 b - -\n"
		     "sgemm 1 5 5/15 1000/5e3 1 a - -\n");
	expect_calls("thread 77/77: rocblas_sgemm 0-11\nthread 77/78: rocblas_sgemm 10-30\n",
		     ONE_LOG(GEMM_1000 GEMM_2000),
		     "sgemm 0 - - - 0 - - 'calls of several threads overlap'\n"
		     "sgemm 0 - - - 0 - - 'calls of several threads overlap'\n");
	/* a long call, around short ones of its own thread */
	expect_calls("thread 77/77: rocblas_sgemm 0-50 rocblas_sgemm 1-2\n"
		     "thread 77/78: rocblas_sgemm 40-60\n",
		     ONE_LOG(GEMM_1000 GEMM_1000 GEMM_1000),
		     "sgemm 0 - - - 0 - - 'calls of several threads overlap'\n");
}

TEST(processes)
{
	static const char two[] = "thread 77/77: rocblas_sgemm 0-9 launch#1 1-2\n"
				  "thread 78/78: rocblas_sgemm 0-9 launch#2 1-2\n"
				  "queue gpu0/7: a#1 10-15 b#2 20-30\n";

	expect_calls(two, LOGS({ "a.77.log", GEMM_1000 }, { "b.78.log", GEMM_2000 }),
		     "sgemm 1 10 10/15 2000/10e3 1 b - -\n"
		     "sgemm 1 5 5/15 1000/5e3 1 a - -\n");
	expect_calls(two, LOGS({ "a.log", GEMM_1000 }),
		     "sgemm 0 - - - 0 - - "
		     "'several processes make such calls, and the log does not say which'\n");
	/* the only process that there is */
	expect_calls("thread 77/77: rocblas_sgemm 0-9 launch#1 1-2\nqueue gpu0/7: a#1 10-15\n",
		     LOGS({ "a.log", GEMM_1000 }), "sgemm 1 5 1 1000/5e3 1 a - -\n");
	expect_calls("thread 77/77: rocblas_sgemm 0-9\n",
		     LOGS({ "a.log", GEMM_1000 }, { "b.77.log", GEMM_1000 }),
		     "sgemm 1 - - - 0 - - "
		     "'several processes make such calls, and the log does not say which'\n");
	expect_calls("rank 77/1 host=a: rocblas_sgemm 0-9\nrank 77/1 host=b: rocblas_sgemm 0-9\n",
		     ONE_LOG(GEMM_1000 GEMM_1000),
		     "sgemm 0 - - - 0 - - "
		     "'several processes make such calls, and the log does not say which'\n");
}

/* A call that enqueues nothing that is seen has no time, though it is matched. */
TEST(calls_without_work)
{
	expect_calls("thread 77/77: rocblas_sgemm 0-9 rocblas_sgemm 10-19 launch#1 11-12\n"
		     "queue gpu0/7: a#1 30-35\n",
		     ONE_LOG(GEMM_1000 GEMM_1000), "sgemm 2 5 1 1000/5e3 1 a - -\n");
	expect_calls("thread 77/77: rocblas_sgemm 0-9\nqueue gpu0/7: a 30-35\n", ONE_LOG(GEMM_1000),
		     "sgemm 1 - - - 0 - - -\n");
}

/* MIOpen computes a convolution as a product of rocBLAS: both have its time, the share is once. */
TEST(calls_that_are_handed_on)
{
	expect_calls(
		"thread 77/77: aten::conv2d 0-99 miopenConvolutionForward 10-90 im2col#1 11-12 "
		"rocblas_sgemm 20-30 launch#2 21-22\n"
		"queue gpu0/7: Im2Col#1 100-103 Cijk#2 110-117 other 200-210\n",
		ONE_LOG(CONV_1X1 GEMM_1000),
		"conv 1 10 10/20 1000/10e3 2 Cijk aten::conv2d -\n"
		"sgemm 1 7 0 1000/7e3 1 Cijk aten::conv2d -\n");
}

/* A function of a library that calls itself. */
TEST(calls_inside_calls_of_their_row)
{
	expect_calls("thread 77/77: rocblas_sgemm 0-50 rocblas_sgemm 10-40 launch#1 11-12\n"
		     "queue gpu0/7: Cijk#1 110-117\n",
		     ONE_LOG(GEMM_1000 GEMM_1000), "sgemm 2 7 1 2000/7e3 1 Cijk - -\n");
}

/* ---- collectives ---- */

TEST(collectives_by_their_kernels)
{
	/* a group: the API launches nothing itself */
	expect_calls("thread 77/77: step 0-90 ncclAllReduce 1-2 ncclAllReduce 3-4 "
		     "ncclGroupEnd 5-20 launch#1 6-7 launch#2 8-9\n"
		     "queue gpu0/7: ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)#1 100-130 "
		     "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)#2 130-150 gemm 150-200\n",
		     ONE_LOG(NCCL("77", "79", "AllReduce") NCCL("77", "79", "AllReduce")),
		     "AllReduce 2 50 50/100 0 1 ncclDevKernel_AllReduce_Sum_f32_RING_LL(x) "
		     "ncclGroupEnd -\n");
}

/* Calls of two sizes: a group sorts them. */
TEST(collectives_of_a_group)
{
	static const char log[] = "n1:77:77 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 "
				  "recvbuff 0x2 count 9 datatype 7 op 0 root 0 comm 0x10 "
				  "[nranks=2] stream 0x3\n" NCCL("77", "77", "AllReduce");
	static const char *const launches[] = {
		"ncclGroupEnd 5-20 launch#1 6-7 launch#2 8-9",
		"ncclGroupEnd 5-7 launch#1 6-7 ncclGroupEnd 8-9 launch#2 8-9",
	};

	for (size_t i = 0; i < ARRAY_LEN(launches); i++) {
		CLEANUP(model_freep)
		struct model *m =
			session_of(TRACE_CLOCK_MONOTONIC, 1,
				   textf("thread 77/77: %s\nqueue gpu0/7: ncclKernel_AllReduce_x#1 "
					 "100-130 ncclKernel_AllReduce_x#2 130-150\n",
					 launches[i]),
				   ONE_LOG(log));
		CLEANUP(table_set_release) struct table_set ts = analyse_library(m);

		expect_table(table_set_find(&ts, "library_calls"),
			     i ? "trace_ns unmatched\n20 -\n30 -\n"
			       : "trace_ns unmatched\n"
				 "- 'a group launches several calls in an order of its own'\n"
				 "- 'a group launches several calls in an order of its own'\n");
	}
}

/* One kernel has a launch, the other none: no order is known. */
TEST(collectives_with_a_lost_launch)
{
	expect_calls("rank 77/77: launch#1 1-2\n"
		     "queue gpu0/7 owner=77: ncclKernel_AllReduce_x#1 10-30 "
		     "ncclKernel_AllReduce_x 30-40\n",
		     LOGS({ "a.log", NCCL("77", "77", "AllReduce") NCCL("77", "77", "AllReduce") }),
		     "AllReduce 0 - - - 0 - - "
		     "'several devices or queues run such kernels'\n");
}

TEST(collectives_of_ranks)
{
	static const char trace[] =
		"queue gpu0/7 owner=77: ncclKernel_AllReduce_RING_LL_Sum_float(x) 0-30\n"
		"queue gpu1/7 owner=78: ncclKernel_AllReduce_RING_LL_Sum_float(x) 10-30 "
		"ncclKernel_AllGather_RING_LL_Sum_float(x) 40-50\n";

	expect_calls(trace,
		     LOGS({ "a.log", NCCL("77", "77", "AllReduce") NCCL("78", "78", "AllReduce") }),
		     "AllReduce 2 50 50/60 0 1 ncclKernel_AllReduce_RING_LL_Sum_float(x) - -\n");
	/* one of the two processes logs more */
	expect_calls(trace,
		     LOGS({ "a.log", NCCL("77", "77", "AllReduce") NCCL("78", "78", "AllReduce")
					     NCCL("78", "78", "AllReduce") }),
		     "AllReduce 1 30 30/60 0 1 ncclKernel_AllReduce_RING_LL_Sum_float(x) - "
		     "'the log has 2 such calls, the trace 1'\n");
}

TEST(collectives_on_several_queues)
{
	static const char *const queues[] = {
		"queue gpu0/7 owner=77: ncclKernel_AllReduce_x 0-30\n"
		"queue gpu0/8 owner=77: ncclKernel_AllReduce_x 10-30\n",
		"thread 77/77: launch#1 1-2 launch#2 3-4\n"
		"queue gpu0/7: ncclKernel_AllReduce_x#1 10-30\n"
		"queue gpu1/7: ncclKernel_AllReduce_x#2 10-30\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(queues); i++)
		expect_calls(queues[i],
			     ONE_LOG(NCCL("77", "77", "AllReduce") NCCL("77", "77", "AllReduce")),
			     "AllReduce 0 - - - 0 - - "
			     "'several devices or queues run such kernels'\n");
	/* launches tell the order of several queues */
	expect_calls("thread 77/77: launch#1 1-2 launch#2 3-4\n"
		     "queue gpu0/7: ncclKernel_AllReduce_x#2 10-30\n"
		     "queue gpu0/8: ncclKernel_AllReduce_x#1 20-25\n",
		     ONE_LOG(NCCL("77", "77", "AllReduce") NCCL("77", "77", "AllReduce")),
		     "AllReduce 2 25 1 0 1 ncclKernel_AllReduce_x - -\n");
}

/* Kernels of another number, and calls of the API of the right one. */
TEST(collectives_by_their_calls)
{
	expect_calls(
		"thread 77/77: ncclAllReduce 1-9 launch#1 2-3 launch#2 4-5\n"
		"queue gpu0/7: ncclKernel_AllReduce_x#1 10-30 ncclKernel_AllReduce_x#2 30-35\n",
		ONE_LOG(NCCL("77", "77", "AllReduce")),
		"AllReduce 1 25 1 0 1 ncclKernel_AllReduce_x - -\n");
}

/* Each thread has a communicator, and the log says which thread calls. */
TEST(threads_that_the_log_names)
{
	expect_calls("thread 77/1: ncclAllReduce 0-20 launch#1 2-3\n"
		     "thread 77/2: ncclAllReduce 10-30 launch#2 12-13 ncclAllReduce 40-50\n"
		     "queue gpu0/7: a#1 20-25 b#2 30-36\n",
		     ONE_LOG(NCCL("77", "2", "AllReduce") NCCL("77", "1", "AllReduce")),
		     "AllReduce 1 5 5/11 0 1 a - 'the log has 1 such calls, the trace 2'\n");
}

/* ---- libraries of the processor ---- */

#define BLAS(ts, dur, tid, m) \
	"{\"ph\":\"X\",\"pid\":77,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur \
	",\"name\":\"cblas_sgemm\",\"cat\":\"blas\",\"args\":{\"m\":" m \
	",\"n\":10,\"k\":5,\"ta\":\"N\",\"tb\":\"N\",\"flops\":1,\"bytes\":1}},\n"

/* The tracer's file is both: the calls are in the trace. */
TEST(calls_of_the_processor)
{
	expect_calls("thread 77/77: aten::addmm 0-50 cblas_sgemm 10-20\n"
		     "thread 77/78: aten::mm 0-100 cblas_sgemm 15-55\n",
		     ONE_LOG(BLAS("0.010", "0.010", "77", "10") BLAS("0.015", "0.040", "78", "20")),
		     "cblas_sgemm 1 40 40/100 2000/40e3 0 - aten::mm -\n"
		     "cblas_sgemm 1 10 10/100 1000/10e3 0 - aten::addmm -\n");
}

/* ---- in time ---- */

#define expect_primitives(trace, log, want) \
	do { \
		CLEANUP(model_freep) \
		struct model *m_ = \
			session_of(TRACE_CLOCK_REALTIME, 1e6, (trace), LOGS({ "o.log", log })); \
		CLEANUP(table_set_release) struct table_set ts_ = analyse_library(m_); \
		expect_table(table_set_find(&ts_, "library_calls"), \
			     "trace_calls trace_ns trace_share called_by unmatched\n" want); \
	} while (0)

TEST(primitives_in_operators)
{
	expect_primitives("thread 77/77: step 0-100 aten::conv2d 10-60 aten::mkldnn_convolution "
			  "12-50 aten::empty 13-14\n",
			  ONEDNN("convolution", "20", "8") ONEDNN("convolution", "51", "2"),
			  "2 10e6 10/100 aten::conv2d -\n");
	/* one that no operator holds */
	expect_primitives("thread 77/77: aten::conv2d 10-60 aten::conv2d 90-100\n",
			  ONEDNN("convolution", "20", "8") ONEDNN("convolution", "59", "2"),
			  "1 8e6 8/90 aten::conv2d "
			  "'no fitting operator is open during all of a call, or several are'\n");
}

TEST(primitives_of_threads)
{
	static const char *const open[] = {
		"'no fitting operator is open during all of a call, or several are'\n"
	};
	char *none =
		textf("trace_calls trace_ns trace_share called_by unmatched\n0 - - - %s", open[0]);

	/* the thread that waits for the backward pass has a call open, too */
	expect_primitives("thread 77/77: backward 0-100\n"
			  "thread 77/78: Conv2dBackward 10-60 aten::mkldnn 15-50\n",
			  ONEDNN("convolution", "20", "8"), "1 8e6 8/100 Conv2dBackward -\n");
	for (int i = 0; i < 2; i++) {
		CLEANUP(model_freep)
		struct model *m =
			session_of(TRACE_CLOCK_REALTIME, 1e6,
				   i ? "thread 77/77: conv 0-100\nthread 77/78: conv 10-60\n"
				     : "thread 77/77: one 0-100\nthread 77/78: two 10-60\n",
				   LOGS({ "o.log", ONEDNN("convolution", "20", "8") }));
		CLEANUP(table_set_release) struct table_set ts = analyse_library(m);

		expect_table(table_set_find(&ts, "library_calls"), none);
	}
	/* the log names its process */
	{
		CLEANUP(model_freep)
		struct model *m =
			session_of(TRACE_CLOCK_REALTIME, 1e6,
				   "thread 77/77: conv 0-100\nthread 78/78: conv 10-60\n",
				   LOGS({ "o.78.log", ONEDNN("convolution", "20", "8") }));
		CLEANUP(table_set_release) struct table_set ts = analyse_library(m);

		expect_table(table_set_find(&ts, "library_calls"),
			     "trace_calls trace_ns trace_share called_by unmatched\n"
			     "1 8e6 8/100 conv -\n");
	}
}

TEST(primitives_of_another_clock)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "hand-made", "test");
	s->ops->clock(s); /* its own */
	trace_text(s, 1e6, "thread 77/77: aten::conv2d 10-60\n");
	s->ops->input_end(s);
	log_push(s, LOGS({ "o.log", ONEDNN("convolution", "20", "8") }), TRACE_CLOCK_REALTIME);
	model_finish_flat(m);
	CLEANUP(table_set_release) struct table_set ts = analyse_library(m);
	expect_table(table_set_find(&ts, "library_calls"),
		     "trace_calls trace_ns called_by unmatched\n"
		     "0 - - 'times of the log and of the trace cannot be compared'\n");
	model_free(m);
}

/* ---- what is said ---- */

static const char *warning_of(const struct model *m, const char *code, uint64_t *count)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (!strcmp(m->warnings.v[i].code, code)) {
			*count = m->warnings.v[i].count;
			return m->warnings.v[i].text;
		}
	return NULL;
}

TEST(unmatched_calls_are_counted)
{
	CLEANUP(model_freep)
	struct model *m = session_of(TRACE_CLOCK_MONOTONIC, 1, THREE_GEMMS,
				     ONE_LOG(GEMM_1000 GEMM_1000 GEMM_2000 GEMM_2000));
	CLEANUP(table_set_release) struct table_set ts = analyse_library(m);
	uint64_t count = 0;
	const char *text = warning_of(m, W_LIBRARY_UNMATCHED, &count);

	assert_non_null(text);
	assert_int_equal(count, 4);
	assert_has(text, "sgemm of rocblas", "the log has 4 such calls, the trace 3");
}

TEST(windows_match_nothing)
{
	struct window w = { 0, 100 };
	struct model_windowed n;
	CLEANUP(model_freep)
	struct model *m = session_of(TRACE_CLOCK_MONOTONIC, 1, THREE_GEMMS,
				     ONE_LOG(GEMM_1000 GEMM_1000 GEMM_1000));

	model_window(m, &w, 1, &n);
	CLEANUP(table_set_release) struct table_set ts = analyse_library(m);
	expect_table(table_set_find(&ts, "library_calls"),
		     COLUMNS "sgemm 0 - - - 0 - - 'logs are not cut to windows'\n");
}

/* A track whose calls became a tree of paths. */
TEST(streamed_traces_match_nothing)
{
	CLEANUP(model_freep)
	struct model *m = session_of(TRACE_CLOCK_MONOTONIC, 1,
				     "thread 77/1: f 0-1\nthread 77/77:\n", ONE_LOG(GEMM_1000));

	m->tracks.v[m->tracks.nr - 1].calls = true;
	CLEANUP(table_set_release) struct table_set ts = analyse_library(m);
	expect_table(
		table_set_find(&ts, "library_calls"), COLUMNS
		"sgemm 0 - - - 0 - - 'the trace was streamed; --sink model keeps its calls'\n");
}

/* ---- a property ---- */

enum { RANDOM_CALLS = 40 };

struct random_case {
	char trace[16384], log[16384];
	size_t trace_n, log_n;
	int64_t work_ns, of_row[3]; /* of sizes 10, 20, 30 */
	uint64_t calls_of_row[3], matched_of_row[3];
};

#define put(c, what, ...) \
	((c)->what##_n += (size_t)snprintf((c)->what + (c)->what##_n, \
					   sizeof((c)->what) - (c)->what##_n, __VA_ARGS__))

/*
 * Calls one after the other on two threads, some with work of their own, some work without a call.
 * How much each row has is counted on the way.
 */
static void random_trace(struct random_case *c, uint64_t *seed)
{
	CLEANUP(strbuf_release) struct strbuf queue = STRBUF_INIT;
	char thread[2][4096] = { "thread 77/1:", "thread 77/2:" };
	int64_t t = 0, q = 100000;
	int correlation = 0;

	*c = (struct random_case){ .trace_n = 0 };
	for (int i = 0, n = (int)(rnd(seed) % RANDOM_CALLS); i < n; i++) {
		int row = (int)(rnd(seed) % 4), on = (int)(rnd(seed) % 2);
		int works = (int)(rnd(seed) % 4);
		size_t len = strlen(thread[on]);

		len += (size_t)snprintf(thread[on] + len, sizeof(thread[on]) - len,
					" %s %" PRId64 "-%" PRId64,
					row < 3 ? "rocblas_sgemm" : "other", t, t + 20);
		for (int w = 0; w < works; w++) {
			int64_t ns = (int64_t)(rnd(seed) % 50);

			correlation++;
			len += (size_t)snprintf(thread[on] + len, sizeof(thread[on]) - len,
						" launch#%d %" PRId64 "-%" PRId64, correlation,
						t + 1 + w * 2, t + 2 + w * 2);
			strbuf_addf(&queue, " k%d#%d %" PRId64 "-%" PRId64, (int)(rnd(seed) % 3),
				    correlation, q, q + ns);
			q += ns + (int64_t)(rnd(seed) % 3);
			c->work_ns += ns;
			if (row < 3)
				c->of_row[row] += ns;
		}
		if (row < 3) {
			put(c, log,
			    "./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m %d "
			    "-n 10 -k 5 --alpha 1 --lda 30 --ldb 5 --beta 0 --ldc 30\n",
			    10 + 10 * row);
			c->calls_of_row[row]++;
		}
		t += 20 + (int64_t)(rnd(seed) % 5);
	}
	put(c, trace, "%s\n%s\nqueue gpu0/7:%s\n", thread[0], thread[1],
	    queue.buf ? queue.buf : "");
}

static void random_check(const struct random_case *c, bool matched, uint64_t seed)
{
	CLEANUP(model_freep)
	struct model *m =
		session_of(TRACE_CLOCK_MONOTONIC, 1, c->trace, LOGS({ "a.77.log", c->log }));
	CLEANUP(table_set_release) struct table_set ts = analyse_library(m);
	const struct table *t = table_set_find(&ts, "library_calls");
	double share = 0;

	for (size_t r = 0; t && r < table_rows(t); r++) {
		int row = str_of(t, r, "key")[strcspn(str_of(t, r, "key"), "123")] - '1';
		const char *m_at = strstr(str_of(t, r, "key"), " m=");
		double ns = num_of(t, r, "trace_ns"), s = num_of(t, r, "trace_share");

		assert_non_null(m_at);
		row = m_at[3] - '1';
		share += isnan(s) ? 0 : s;
		if (matched ? (num_of(t, r, "trace_calls") != (double)c->calls_of_row[row] ||
			       (isnan(ns) ? 0 : ns) != (double)c->of_row[row])
			    : (num_of(t, r, "trace_calls") > 0 || !isnan(ns)))
			fail_msg("seed %" PRIu64 ": row %s has %g ns of %" PRId64, seed,
				 str_of(t, r, "key"), ns, c->of_row[row]);
	}
	if (share > 1 + 1e-9)
		fail_msg("seed %" PRIu64 ": shares are %g", seed, share);
}

TEST(random_sessions)
{
	for (uint64_t i = 1; i <= test_cases(200); i++) {
		uint64_t seed = i * UINT64_C(0x9e3779b97f4a7c15);
		struct random_case c;

		random_trace(&c, &seed);
		random_check(&c, true, i);
		if (!c.log_n)
			continue;
		put(&c, log, GEMM_1000); /* a call too many */
		random_check(&c, false, i);
	}
}

/* ---- cost ---- */

/* A million calls, and a stack of many calls of one name: no time that grows with their square. */
TEST(many_calls)
{
	enum { CALLS = 200000, DEEP = 2000 };
	CLEANUP(strbuf_release) struct strbuf log = STRBUF_INIT;
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct maker k = { m, s };
	track_id t;

	s->ops->input(s, "hand-made", "test");
	s->ops->clock(s);
	t = make_thread(&k, 77, 77, RANK_NONE, "main");
	for (int i = 0; i < CALLS; i++) {
		int deep = i < DEEP ? CALLS * 20 - i : 10;

		make_call(&k, t, i * 20, i * 20 + deep, "rocblas_sgemm");
		strbuf_addstr(&log, i % 2 ? GEMM_1000 : GEMM_2000);
	}
	s->ops->input_end(s);
	log_push(s, LOGS({ "a.77.log", log.buf }), TRACE_CLOCK_OWN);
	model_finish_flat(m);
	CLEANUP(table_set_release) struct table_set ts = analyse_library(m);
	expect_table(table_set_find(&ts, "library_calls"),
		     "trace_calls unmatched\n100000 -\n100000 -\n");
	model_free(m);
}
