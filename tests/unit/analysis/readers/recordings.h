/*
 * The rows of test_recordings.c: one per file of the recordings. A figure whose bit is in `stated`
 * stands in, or follows from, the MANIFEST.md beside the files; the others were counted from the
 * files with json, sqlite3 and csv of python3 and with otf2-print.
 */
#ifndef RECORDINGS_H
#define RECORDINGS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "profrig/model/model.h"

enum figure {
	SPANS, /* intervals and instants */
	INSTANTS,
	SAMPLES,
	SERIES,
	LINKS,
	TRACKS,
	SUM_NS,   /* of the durations of all spans */
	WORK,     /* spans that are device work */
	WORK_NS,  /* the sum of their durations */
	UNION_NS, /* the time in which there was any, over all devices */
	FIGURES
};

#define BIT(figure) (1U << (figure))
#define ROWS (BIT(SPANS) | BIT(SUM_NS))
#define WORKS (BIT(WORK) | BIT(WORK_NS))
#define BUSY (WORKS | BIT(UNION_NS))

struct recording {
	const char *file, *reader, *format;
	int result;
	const char *devices;  /* of tracks and series */
	const char *warnings; /* "CODE count", in the order of codes; of an error its words */
	int64_t n[FIGURES];
	unsigned int stated;
};

/* clang-format off */
static const struct recording recordings[] = {
/*
 *	file
 *	reader, format, result, devices, warnings
 *	{ spans, instants, samples, series, links, tracks, sum, work, its sum, its union }, stated
 */
	{ "aiu/samples/allreduce_tp4.json", "tef", "Trace Event Format (FLEX)", 0,
	  "gpu0 gpu1 gpu2 gpu3", "W_POWER_UNKNOWN 4",
	  { 28, 0, 14, 4, 6, 27, 8553957, 21, 5538959, 1480853 }, BIT(SPANS) | BIT(LINKS) },
	{ "aiu/samples/basic_event_test_cases.json", "tef", "Trace Event Format (FLEX)", 0, "gpu0",
	  "W_NEGATIVE_DURATION 1 W_ZERO_DURATION 3", { 23, 0, 0, 0, 0, 7, 160400, 0, 0, 0 },
	  BIT(SPANS) },
	{ "aiu/samples/sample_flex_3062_job_4.json", "tef", "Trace Event Format (FLEX)", 0, "gpu0",
	  "W_POWER_UNKNOWN 1", { 17, 0, 0, 0, 0, 3, 2702360, 17, 2702360, 2421393 },
	  BIT(SPANS) | BIT(WORK) },
	{ "nsys/h100-2gpu/h100_2gpu_1s.sqlite", "nsys",
	  "Nsight Systems 2026.2.1.210 (schema 3.25.0)", 0, "gpu0 gpu1", "W_UNLINKED_WORK 2276",
	  { 27388, 0, 0, 0, 2092, 15, 10136320814, 4368, 1925700952, 967638948 }, WORKS },
	{ "nsys/healthy-1pct/healthy_1pct.sqlite", "nsys",
	  "Nsight Systems 2026.1.1.204 (schema 3.24.14)", 0, "gpu0", "",
	  { 800, 0, 0, 0, 400, 4, 401000000, 400, 400000000, 400000000 }, BUSY | ROWS },
	{ "nsys/mock/mock.sqlite", "nsys", "Nsight Systems 2026.1.1.204 (schema 3.24.14)", 0,
	  "gpu0", "", { 44, 0, 0, 0, 3, 5, 410346625, 3, 5761, 5761 }, WORKS },
	{ "otf2/hpl-mxp-metrics/MPI Rank 0_metrics.csv", "metrics_csv", "metric CSV", 0, "", "",
	  { 0, 0, 44804, 8, 0, 1, 0, 0, 0, 0 }, BIT(SAMPLES) | BIT(SERIES) },
	{ "otf2/hpl-mxp-metrics/MPI Rank 1_metrics.csv", "metrics_csv", "metric CSV", 0, "",
	  "W_EMPTY_INPUT 1", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, BIT(SAMPLES) },
	{ "otf2/mi300a-two-kernels/traces.otf2", "otf2", "OTF2 3.1.1", 0, "gpu0 gpu1 gpu2 gpu3",
	  "", { 40, 0, 72584, 30, 2, 35, 20744288090, 2, 6363716662, 6363716662 }, WORKS |
	  BIT(SPANS) | BIT(SAMPLES) },
	{ "otf2/ping-pong-papi/traces.otf2", "otf2", "OTF2 2.3.0", 0, "", "",
	  { 42, 0, 252, 6, 16, 4, 856042928, 0, 0, 0 }, BIT(SPANS) | BIT(SAMPLES) | BIT(SERIES) |
	  BIT(LINKS) },
	{ "otf2/ping-pong/traces.otf2", "otf2", "OTF2 2.3.0", 0, "", "",
	  { 42, 0, 0, 0, 16, 4, 792204786, 0, 0, 0 }, BIT(SPANS) | BIT(LINKS) },
	{ "rocprof/sdk-docs-csv/counter_collection.csv", "rocprof_csv",
	  "rocprofv3 CSV, counter collection", 0, "gpu1", "W_UNLINKED_WORK 4",
	  { 4, 0, 4, 1, 0, 3, 196900, 4, 196900, 196900 }, WORKS | ROWS | BIT(SAMPLES) },
	{ "rocprof/sdk-docs-csv/hip_api_stats.csv", "rocprof_csv", "rocprof CSV, summary", 0, "",
	  "W_IGNORED_RECORD 17", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0 },
	{ "rocprof/sdk-docs-csv/hip_compile_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace",
	  0, "", "", { 5, 0, 0, 0, 0, 2, 44990, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/hip_domain_stats.csv", "rocprof_csv", "rocprof CSV, summary", 0,
	  "", "W_IGNORED_RECORD 1", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0 },
	{ "rocprof/sdk-docs-csv/hip_runtime_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace",
	  0, "", "", { 8, 0, 0, 0, 0, 2, 972177644, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/hip_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace", 0, "",
	  "", { 17, 0, 0, 0, 0, 2, 476345901, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/hsa_api_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace", 0,
	  "", "", { 10, 0, 0, 0, 0, 2, 13473, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/hsa_core_api_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace",
	  0, "", "", { 32, 0, 0, 0, 0, 2, 108547274, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/kernel_names.csv", "rocprof_csv",
	  "rocprofv3 CSV, counter collection", 0, "", "W_IGNORED_RECORD 4",
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0 },
	{ "rocprof/sdk-docs-csv/kernel_trace.csv", "rocprof_csv", "rocprofv3 CSV, kernel trace", 0,
	  "gpu4", "W_UNLINKED_WORK 9", { 9, 0, 0, 0, 0, 5, 96160, 9, 96160, 96160 }, WORKS | ROWS
	  },
	{ "rocprof/sdk-docs-csv/kernel_trace_truncated.csv", "rocprof_csv",
	  "rocprofv3 CSV, kernel trace", 0, "gpu4", "W_UNLINKED_WORK 4",
	  { 4, 0, 0, 0, 0, 2, 44840, 4, 44840, 44840 }, WORKS | ROWS },
	{ "rocprof/sdk-docs-csv/marker_api_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace",
	  0, "", "", { 5, 2, 0, 0, 0, 3, 4962639, 0, 0, 0 }, ROWS | BIT(INSTANTS) },
	{ "rocprof/sdk-docs-csv/memory_allocation_trace.csv", "rocprof_csv",
	  "rocprofv3 CSV, memory allocations", 0, "", "", { 4, 0, 0, 0, 0, 1, 430862, 0, 0, 0 },
	  ROWS },
	{ "rocprof/sdk-docs-csv/memory_copy_trace.csv", "rocprof_csv",
	  "rocprofv3 CSV, memory copies", 0, "gpu4", "W_UNLINKED_WORK 4",
	  { 4, 0, 0, 0, 0, 2, 329162, 4, 329162, 329162 }, WORKS | ROWS },
	{ "rocprof/sdk-docs-csv/pc_sampling_host_trap.csv", "rocprof_csv",
	  "rocprofv3 CSV, PC samples", 0, "", "", { 79, 79, 0, 0, 0, 1, 0, 0, 0, 0 }, BIT(SPANS) |
	  BIT(INSTANTS) },
	{ "rocprof/sdk-docs-csv/pc_sampling_host_trap_debug.csv", "rocprof_csv",
	  "rocprofv3 CSV, PC samples", 0, "", "", { 21, 21, 0, 0, 0, 1, 0, 0, 0, 0 }, BIT(SPANS) |
	  BIT(INSTANTS) },
	{ "rocprof/sdk-docs-csv/pc_sampling_stochastic_debug.csv", "rocprof_csv",
	  "rocprofv3 CSV, PC samples", 0, "", "", { 97, 97, 0, 0, 0, 1, 0, 0, 0, 0 }, BIT(SPANS) |
	  BIT(INSTANTS) },
	{ "rocprof/sdk-docs-csv/python_bindings.csv", "rocprof_csv", "rocprofv3 CSV, API trace", 0,
	  "", "", { 6, 1, 0, 0, 0, 2, 150211, 0, 0, 0 }, ROWS | BIT(INSTANTS) },
	{ "rocprof/sdk-docs-csv/rccl_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace", 0, "",
	  "", { 21, 0, 0, 0, 0, 2, 430140109, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/rocdecode_api_trace.csv", "rocprof_csv",
	  "rocprofv3 CSV, API trace", 0, "", "", { 6, 0, 0, 0, 0, 2, 881421797, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/rocjpeg_api_trace.csv", "rocprof_csv", "rocprofv3 CSV, API trace",
	  0, "", "", { 4, 0, 0, 0, 0, 2, 218830427, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/rocpd-to-csv.csv", "rocprof_csv", "rocprofv3 CSV, API trace", 0,
	  "", "", { 13, 0, 0, 0, 0, 2, 173915064, 0, 0, 0 }, ROWS },
	{ "rocprof/sdk-docs-csv/scratch_memory_trace.csv", "rocprof_csv",
	  "rocprofv3 CSV, scratch memory", 0, "gpu4", "", { 2, 0, 0, 0, 0, 2, 609107599, 0, 0, 0 },
	  ROWS },
	{ "rocprof/v1-finite-difference/results.csv", "rocprof_csv", "rocprof v1 CSV", 0, "gpu8",
	  "", { 1004, 0, 0, 0, 0, 3, 2610787312, 1004, 2610787312, 2610787312 }, BUSY | ROWS },
	{ "rocprof/v1-finite-difference/results.db", "rocprof_db", "rocprof v1 database", 0,
	  "gpu8", "", { 1004, 0, 0, 0, 0, 3, 2610787312, 1004, 2610787312, 2610787312 }, BUSY |
	  ROWS },
	{ "rocprof/v1-finite-difference/results.json", "tef", "", -EINVAL, "",
	  "byte 0: a trace begins with '[' or '{', not ','", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0 },
	{ "rocprof/v1-finite-difference/results.stats.csv", "rocprof_csv", "rocprof CSV, summary",
	  0, "", "W_IGNORED_RECORD 4", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0 },
	{ "rpd/matmul/matmul_result.rpd", "rpd", "RPD 2", 0, "gpu2", "W_UNKNOWN_REFERENCE 1",
	  { 210, 0, 16, 1, 85, 5, 641679414, 85, 183918056, 183918056 }, BUSY | BIT(SPANS) |
	  BIT(LINKS) },
	{ "rpd/matmul/matmul_result_large.rpd", "rpd", "RPD 2", 0, "gpu2", "W_UNKNOWN_REFERENCE 1",
	  { 210, 0, 63, 1, 85, 5, 4497925064, 85, 2110631504, 2110631504 }, BUSY | BIT(SPANS) |
	  BIT(LINKS) },
	{ "stacks/flamegraph-example/example-perf-stacks-collapsed.txt", "folded",
	  "folded stacks (sampled)", 0, "", "", { 1138, 0, 0, 0, 0, 1, 35825, 0, 0, 0 }, 0 },
	{ "stacks/flamegraph-example/example-perf-stacks.txt.gz", "perf",
	  "perf script (sampled stacks)", 0, "", "",
	  { 16574, 0, 0, 0, 0, 24, 361868683250, 0, 0, 0 }, 0 },
	{ "tef/edge-cases/invalid-x-nesting.json", "tef", "Trace Event Format", 0, "",
	  "W_SPAN_OVERLAP 1", { 2, 0, 0, 0, 0, 2, 20000, 0, 0, 0 }, 0 },
	{ "tef/edge-cases/not-enough-end-events.json", "tef", "Trace Event Format", 0, "",
	  "W_OPEN_SPAN 2", { 3, 0, 0, 0, 0, 2, 22000, 0, 0, 0 }, ROWS },
	{ "tef/edge-cases/simple-partial-trailing-comma.json", "tef", "Trace Event Format", 0, "",
	  "W_UNTERMINATED 1", { 4, 0, 0, 0, 0, 2, 35000, 0, 0, 0 }, ROWS },
	{ "tef/edge-cases/simple-partial.json", "tef", "Trace Event Format", 0, "",
	  "W_UNTERMINATED 1", { 4, 0, 0, 0, 0, 2, 35000, 0, 0, 0 }, ROWS },
	{ "tef/edge-cases/too-many-end-events.json", "tef", "Trace Event Format", 0, "",
	  "W_STRAY_LEAVE 2", { 2, 0, 0, 0, 0, 2, 26000, 0, 0, 0 }, ROWS },
	{ "tef/edge-cases/zero-duration-events.json", "tef", "Trace Event Format", 0, "", "",
	  { 4, 0, 0, 0, 0, 2, 10000, 0, 0, 0 }, ROWS },
	{ "tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz", "tef",
	  "Trace Event Format (Kineto)", 0, "gpu2", "",
	  { 115, 2, 0, 0, 20, 10, 52276266, 16, 149042, 149042 }, BUSY | BIT(SPANS) | BIT(INSTANTS)
	  },
	{ "tef/hta-nccl/nccl_data.json.gz", "tef", "Trace Event Format (Kineto)", 0, "gpu0", "",
	  { 26935, 2, 0, 0, 4317, 12, 4383359174, 3774, 165185838, 157500014 }, BUSY },
	{ "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", "tef",
	  "Trace Event Format (Kineto)", 0, "gpu0", "",
	  { 45422, 2, 0, 0, 7000, 11, 3437226132, 6095, 472454441, 472454441 }, BUSY },
	{ "tef/hta-two-rank/sampled_rank-0.json.gz", "tef", "Trace Event Format (Kineto)", 0,
	  "gpu0", "", { 4811, 0, 0, 0, 1204, 10, 7917027000, 1204, 607844000, 547656000 }, BUSY |
	  BIT(SPANS) | BIT(LINKS) },
	{ "tef/hta-two-rank/sampled_rank-1.json.gz", "tef", "Trace Event Format (Kineto)", 0,
	  "gpu1", "", { 4676, 0, 0, 0, 1154, 10, 8020966000, 1154, 667530000, 580050000 }, BUSY |
	  BIT(SPANS) | BIT(LINKS) },
	{ "tef/merged-nccl-4rank/merged_nccl_only.json.gz", "tef", "Trace Event Format (Kineto)",
	  0, "gpu2 gpu3 gpu4 gpu5", "W_UNLINKED_WORK 84",
	  { 168, 0, 0, 0, 0, 8, 329785248, 84, 164892540, 80317388 }, WORKS | BIT(SPANS) },
	{ "tef/rocprof-v1-memcpy/memcpy-host-device.rocprofiler.json.gz", "tef",
	  "Trace Event Format (rocprof v1)", 0, "gpu0 gpu1", "",
	  { 2636, 0, 0, 0, 2, 9, 1714275697, 6, 564640, 564640 }, WORKS | BIT(SPANS) },
	{ "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz", "tef",
	  "Trace Event Format (Kineto)", 0, "gpu2", "W_SPAN_OVERLAP 2",
	  { 4719, 622, 0, 0, 155, 11, 277596437, 155, 1716301, 1716301 }, BUSY | BIT(LINKS) },
	{ "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "tef",
	  "Trace Event Format (Kineto)", 0, "gpu2", "W_SPAN_OVERLAP 2 W_UNLINKED_WORK 463",
	  { 14806, 2694, 0, 0, 1054, 11, 1360000957, 1517, 43062802, 43062802 }, BUSY | BIT(LINKS)
	  },
};
/* clang-format on */

/* Some spans of a recording: those that have all that is given. Every figure is stated. */
struct part {
	const char *file;
	struct which {
		unsigned int kinds;                 /* bits of enum span_kind; 0: all */
		const char *category, *name, *args; /* whole; beginning; part of it */
		int64_t stream;                     /* -1: all */
		bool linked;                        /* its launch is there */
	} which;
	/* -1: not stated */
	int64_t spans, names, sum_ns, union_ns, wall_ns, max_ns;
	int64_t first_ns; /* the duration of the first */
};

#define KERNELS (1U << SPAN_KERNEL)
#define COPIES (1U << SPAN_COPY)
#define FILLS (1U << SPAN_FILL)
#define WORK_KINDS (KERNELS | COPIES | FILLS)
#define CATEGORY(word) \
	{ \
		.category = (word), .stream = -1 \
	}
#define KIND(kinds) \
	{ \
		(kinds), .stream = -1 \
	}
#define STREAM(nr) \
	{ \
		WORK_KINDS, .stream = (nr) \
	}

#define MINITOY "tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz"
#define HTA_NS "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"
#define HTA_NCCL "tef/hta-nccl/nccl_data.json.gz"
#define QWEN "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
#define FALCON "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz"
#define RANK(n) "tef/hta-two-rank/sampled_rank-" #n ".json.gz"
#define MERGED "tef/merged-nccl-4rank/merged_nccl_only.json.gz"
#define TRAP "rocprof/sdk-docs-csv/pc_sampling_host_trap.csv"

/* clang-format off */
static const struct part parts[] = {
/*	file, which, spans, names, sum, union, wall, longest, first */
	{ RANK(0), KIND(KERNELS), 1154, 194, 606519000, 547303000, -1, -1, -1 },
	{ RANK(0), { KERNELS, .name = "nccl", .stream = -1 },
	  10, -1, 396199000, 396199000, -1, -1, -1 },
	{ RANK(1), KIND(KERNELS), 1104, 183, 651026000, 575496000, -1, -1, -1 },
	{ RANK(1), { KERNELS, .name = "nccl", .stream = -1 },
	  10, -1, 379053000, 379053000, -1, -1, -1 },
	{ MINITOY, KIND(KERNELS), 14, 12, 110881, -1, -1, 17600, -1 },
	{ MINITOY, { KERNELS, .name = "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32",
	  .stream = -1 }, -1, 1, -1, -1, -1, 17600, -1 },
	{ MINITOY, KIND(COPIES), 2, -1, -1, -1, -1, -1, -1 },
	{ MINITOY, STREAM(0), 16, -1, 149042, 149042, 8911887, -1, -1 },
	{ MINITOY, CATEGORY("cpu_op"), 70, -1, -1, -1, -1, -1, -1 },
	{ MINITOY, CATEGORY("cuda_runtime"), 21, -1, -1, -1, -1, -1, -1 },
	{ MINITOY, CATEGORY("gpu_user_annotation"), 2, -1, -1, -1, -1, -1, -1 },
	{ HTA_NS, KIND(KERNELS), 4350, 77, 468153602, 468153602, -1, -1, -1 },
	{ HTA_NS, KIND(COPIES), 1600, -1, 3715404, -1, -1, -1, -1 },
	{ HTA_NS, KIND(FILLS), 145, -1, 585435, -1, -1, -1, -1 },
	{ HTA_NS, STREAM(7), 6095, -1, 472454441, 472454441, 480029179, -1, -1 },
	{ HTA_NS, CATEGORY("gpu_user_annotation"), 15, 3, -1, -1, -1, -1, -1 },
	{ HTA_NS, CATEGORY("user_annotation"), -1, 13, -1, -1, -1, -1, -1 },
	{ HTA_NS, { .category = "user_annotation", .name = "nccl:all_reduce", .stream = -1 },
	  25, 1, 557269, -1, -1, -1, -1 },
	{ HTA_NS, { .category = "user_annotation", .name = "ProfilerStep#101", .stream = -1 },
	  1, 1, 35115869, -1, -1, -1, -1 },
	{ HTA_NS, { .category = "user_annotation", .name = "ProfilerStep#105", .stream = -1 },
	  1, 1, 95699037, -1, -1, -1, -1 },
	{ HTA_NCCL, KIND(KERNELS), 2700, -1, 162532340, 155215315, -1, -1, -1 },
	{ HTA_NCCL, KIND(WORK_KINDS), 3774, -1, 165185838, 157500014, 660551005, -1, -1 },
	{ HTA_NCCL, STREAM(7), 3753, -1, -1, -1, -1, -1, -1 },
	{ HTA_NCCL, STREAM(40), 21, -1, 46876493, 46876493, -1, 5993392, -1 },
	{ HTA_NCCL, { KERNELS, .args = "\"Collective name\": \"allreduce\"", .stream = -1 },
	  15, -1, 46762159, -1, -1, 5993392, 3306963 },
	{ HTA_NCCL, { KERNELS, .args = "\"Collective name\": \"broadcast\"", .stream = -1 },
	  6, -1, 114334, -1, -1, -1, -1 },
	{ HTA_NCCL, { KERNELS, .args = "\"In msg nelems\": 2049000, \"Out msg nelems\": 2049000, "
	  "\"Group size\": 2, \"dtype\": \"Float\", \"In split size\": \"[]\"", .stream = -1 },
	  3, -1, -1, -1, -1, 5993392, -1 },
	{ QWEN, CATEGORY("python_function"), 4266, -1, -1, -1, -1, -1, -1 },
	{ QWEN, CATEGORY("cpu_op"), 4619, -1, -1, -1, -1, -1, -1 },
	{ QWEN, CATEGORY("cuda_runtime"), 1707, -1, -1, -1, -1, -1, -1 },
	{ QWEN, CATEGORY("kernel"), 1516, -1, -1, -1, -1, -1, -1 },
	{ QWEN, CATEGORY("gpu_memcpy"), 1, -1, 760, -1, -1, -1, -1 },
	{ QWEN, KIND(WORK_KINDS), 1517, -1, 43062802, 43062802, 47085800, -1, -1 },
	{ QWEN, { WORK_KINDS, .stream = -1, .linked = true },
	  1054, -1, 29743938, 29743938, 33131334, -1, -1 },
	{ FALCON, { WORK_KINDS, .stream = -1, .linked = true },
	  155, -1, 1716301, 1716301, 6868849, -1, -1 },
	{ MERGED, KIND(KERNELS), 84, -1, 164892540, -1, -1, -1, -1 },
	{ MERGED, CATEGORY("gpu_user_annotation"), 84, -1, -1, -1, -1, -1, -1 },
	{ TRAP, { 0, .args = "\"Dispatch_Id\":1", .stream = -1 }, 79, -1, -1, -1, -1, -1, -1 },
};

/* Series whose names begin so: when each was read. Periods and gaps are stated rounded. */
struct sampling {
	const char *file, *name;
	size_t series, samples;
	int64_t first_ns, last_ns; /* since the recording began, or as recorded; -1: not stated */
	double median_ms, gap_ms;  /* 0: not stated */
};

#define HPL "otf2/hpl-mxp-metrics/MPI Rank 0_metrics.csv"
#define MI300A "otf2/mi300a-two-kernels/traces.otf2"
#define ENERGY "A2rocm_smi:::energy_count:device="

static const struct sampling samplings[] = {
/*	file, name, series, samples of each, first, last, median period, largest gap */
	{ HPL, ENERGY, 4, 10999, 196540274, 25001293185, 2.008, 22.251 },
	{ HPL, "A2coretemp:::craypm:accel", 4, 202, 195360299, 24953182586, 0, 212.340 },
	{ MI300A, ENERGY, 4, 1740, 5375180, 7192976218, 4.002, 5.592 },
};
/* clang-format on */

#endif
