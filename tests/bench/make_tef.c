/*
 * make_tef [-c] [-s] [-r RANK -w WORLD] [-b BATCHES] N: a PyTorch trace as Kineto writes it, on
 * stdout: N events (-s: N spans) of a training job, in whole steps of 16 batches (-b), something
 * for each analysis. A step (ProfilerStep#k) loads data, copies it, goes through the layers on one
 * thread and back on another, with modules, nested operators with shapes, their launches and
 * kernels, all-reduces on a queue of their own, a CUDA graph, allocations and their release; flows
 * lead from each launch to its work and from each operator to its backward; a counter has the
 * energy, sampled at 1 kHz, where WORLD is 1. About 240 bytes an event; the same for the same
 * arguments. RANK changes numbers of process and device, and how late a step's work begins. -c: the
 * rank ran in a container of its own: its device is number 0, and it has the counter in any case.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/mix.h"
#include "profrig/base/num.h"

#define LAYERS 48
#define BATCHES 16 /* of a step, at most; their gradients add up */
#define GRAPH_KERNELS 12
#define SAMPLE_NS 1000000
#define IDLE_W 90
#define MOST_DRAWN (BATCHES * (LAYERS * 6 + 64)) /* works of a step */

static uint64_t seed = 11, jitter = 7;

static uint64_t below(uint64_t n)
{
	return splitmix64(&seed) % n;
}

static const char *const gemms[] = {
	"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB1_AFC1",
	"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x4_nn>("
	"Params)",
	"ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x4_tn",
};
static const char *const elements[] = {
	"void at::native::vectorized_elementwise_kernel<4, "
	"at::native::CUDAFunctor_add<c10::BFloat16>, "
	"std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
	"void (anonymous namespace)::elementwise_kernel_with_index<int, \\\"mode\\\">(int)",
};

enum { COMPUTE = 7, COPY = 13, COMM = 20 }; /* queues */

struct job {
	uint64_t rank, world, batches;
	bool contained; /* in a container of its own */
	uint64_t events, spans, id, sequence, flow, step;
	int pid, device;
	int64_t host_ns, backward_ns; /* where the two threads are */
	int64_t free_ns[32];          /* by queue */
	int64_t held;
	uint64_t address;
	struct drawn { /* by the work of a step, above what an idle device draws */
		int64_t from_ns, to_ns;
		uint64_t w;
	} * drawn;
	size_t nr_drawn;
	double energy_uj;
};

static void time_put(const char *key, int64_t ns)
{
	printf("\"%s\": %" PRId64 ".%03" PRId64, key, ns / 1000, ns % 1000);
}

/* A whole span; its arguments as fmt, NULL for none. */
__attribute__((format(printf, 8, 9))) static void span(struct job *j, const char *cat,
						       const char *name, int pid, int tid,
						       int64_t ts, int64_t dur, const char *fmt,
						       ...)
{
	va_list ap;

	printf("  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": "
	       "%d,\n    ",
	       cat, name, pid, tid);
	time_put("ts", ts);
	fputs(", ", stdout);
	time_put("dur", dur);
	fputs(",\n    \"args\": {\n      ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	puts("\n    }\n  },");
	j->events++;
	j->spans++;
}

static void flow(struct job *j, const char *cat, char ph, uint64_t id, int pid, int tid, int64_t ts)
{
	printf("  {\n    \"ph\": \"%c\", \"id\": %" PRIu64 ", \"pid\": %d, \"tid\": %d, ", ph, id,
	       pid, tid);
	time_put("ts", ts);
	printf(",\n    \"cat\": \"%s\", \"name\": \"%s\"%s\n  },\n", cat, cat,
	       ph == 'f' ? ", \"bp\": \"e\"" : "");
	j->events++;
}

static void memory(struct job *j, int64_t bytes, uint64_t address)
{
	j->held += bytes;
	printf("  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
	       "\"[memory]\", \"pid\": %d, \"tid\": %d,\n    ",
	       j->pid, j->pid);
	time_put("ts", j->host_ns);
	printf(",\n    \"args\": {\n      \"Total Reserved\": %" PRIu64
	       ", \"Total Allocated\": %" PRId64 ", \"Bytes\": %" PRId64 ", \"Addr\": %" PRIu64
	       ", \"Device Id\": %d, \"Device Type\": 1\n    }\n  },\n",
	       UINT64_C(1) << 34, j->held, bytes, address, j->device);
	j->events++;
}

/* Samples of the energy counter. */
static void energy(struct job *j, int64_t from, int64_t to)
{
	size_t n = (size_t)((to - from) / SAMPLE_NS) + 1;
	int64_t each = (to - from) / (int64_t)n + 1;
	double *bins = calloc(n, sizeof(*bins));

	for (size_t i = 0; bins && i < j->nr_drawn; i++) {
		const struct drawn *d = &j->drawn[i];

		for (int64_t at = d->from_ns; at < d->to_ns;) {
			size_t bin = (size_t)((at - from) / each);
			int64_t end = from + (int64_t)(bin + 1) * each;

			end = end < d->to_ns ? end : d->to_ns;
			if (bin < n)
				bins[bin] += (double)(end - at) * (double)d->w * 1e-3;
			at = end;
		}
	}
	for (size_t i = 0; bins && i < n; i++) {
		printf("  {\n    \"ph\": \"C\", \"name\": \"A2rocm_smi:::energy_count:device=%d\", "
		       "\"pid\": %d, ",
		       j->device, j->pid);
		time_put("ts", from + (int64_t)i * each);
		printf(", \"args\": {\"value\": %.0f}\n  },\n", j->energy_uj);
		j->energy_uj += bins[i] + (double)each * IDLE_W * 1e-3;
		j->events++;
	}
	free(bins);
}

/* ---- device work ---- */

struct work {
	const char *name;
	int queue;
	int64_t dur_ns, not_before_ns;
	const char *call, *category, *more; /* more: arguments, with a comma in front */
	uint64_t w;
};

static int64_t work_put(struct job *j, const struct work *w, int64_t launch_ns, uint64_t id)
{
	int64_t start = j->free_ns[w->queue] + 1000;

	start = start > launch_ns + 4000 ? start : launch_ns + 4000;
	start = start > w->not_before_ns ? start : w->not_before_ns;
	span(j, w->category, w->name, j->device, w->queue, start, w->dur_ns,
	     "\"External id\": %" PRIu64 ", \"queued\": 0, \"device\": %d, \"context\": 1,\n"
	     "      \"stream\": %d, \"correlation\": %" PRIu64 "%s",
	     id, j->device, w->queue, id, w->more);
	j->free_ns[w->queue] = start + w->dur_ns;
	if (j->nr_drawn < MOST_DRAWN)
		j->drawn[j->nr_drawn++] =
			(struct drawn){ start, start + w->dur_ns, w->w + w->w * below(41) / 1000 };
	return start;
}

/* A call that launches work: four events. Takes 3 µs of the thread. */
static void launch(struct job *j, int tid, int64_t ts, const struct work *w)
{
	uint64_t id = j->id++;
	int64_t start;

	span(j, "cuda_runtime", w->call, j->pid, tid, ts, 2500,
	     "\"External id\": %" PRIu64 ", \"cbid\": 211, \"correlation\": %" PRIu64, id, id);
	flow(j, "ac2g", 's', id, j->pid, tid, ts);
	start = work_put(j, w, ts, id);
	flow(j, "ac2g", 'f', id, j->device, w->queue, start);
}

static void kernel(struct job *j, int tid, int64_t ts, const char *name, int64_t dur_ns,
		   uint64_t w_w)
{
	char more[160];
	struct work w = { name, COMPUTE, dur_ns, 0, "cudaLaunchKernel", "kernel", more, w_w };

	snprintf(more, sizeof(more),
		 ",\n      \"registers per thread\": 32, \"shared memory\": 0, \"grid\": [%" PRIu64
		 ", 1, 1], \"block\": [256, 1, 1]",
		 1 + below(64) * 16);
	launch(j, tid, ts, &w);
}

static void graph(struct job *j)
{
	uint64_t id = j->id++;

	span(j, "cuda_runtime", "cudaGraphLaunch", j->pid, j->pid, j->host_ns, 9000,
	     "\"External id\": %" PRIu64 ", \"cbid\": 311, \"correlation\": %" PRIu64, id, id);
	for (int i = 0; i < GRAPH_KERNELS; i++) {
		char more[160];
		struct work w = { elements[i & 1],
				  COMPUTE,
				  2000 + (int64_t)below(3000),
				  0,
				  NULL,
				  "kernel",
				  more,
				  180 };

		snprintf(more, sizeof(more),
			 ",\n      \"graph id\": 3, \"graph node id\": %d, \"grid\": [64, 1, 1], "
			 "\"block\": [128, 1, 1]",
			 i);
		work_put(j, &w, j->host_ns, id);
	}
	j->host_ns += 10000;
}

static void all_reduce(struct job *j, int tid, int64_t ts, int layer)
{
	uint64_t n = UINT64_C(1) << (18 + layer / 4 % 4);
	char more[640];
	struct work w = { "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<"
			  "4096ul>)",
			  COMM,
			  60000 + (int64_t)(n / 32),
			  j->free_ns[COMPUTE],
			  "cudaLaunchKernelExC",
			  "kernel",
			  more,
			  60 };

	snprintf(more, sizeof(more),
		 ",\n      \"Collective name\": \"allreduce\", \"In msg nelems\": %" PRIu64
		 ", \"Out msg nelems\": %" PRIu64 ", \"Group size\": %" PRIu64
		 ", \"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", \"Process Group "
		 "Description\": \"default_pg\", \"Process Group Ranks\": \"[0, 1, ...]\", "
		 "\"Global rank start\": 0, \"Global rank stride\": 1",
		 n, n, j->world);
	span(j, "user_annotation", "nccl:all_reduce", j->pid, tid, ts, 9000, "\"Bucket\": %d",
	     layer);
	span(j, "cpu_op", "c10d::allreduce_", j->pid, tid, ts + 500, 8000,
	     "\"External id\": %" PRIu64 ", \"Record function id\": 0, \"Input Dims\": [[%" PRIu64
	     "]], \"Input type\": [\"c10::BFloat16\"]",
	     j->id, n);
	launch(j, tid, ts + 2000, &w);
}

/* ---- a step ---- */

#define DIMS(m, k, n) \
	"\"Input Dims\": [[%d, %d], [%d, %d]], \"Input type\": [\"c10::BFloat16\", " \
	"\"c10::BFloat16\"], \"Input Strides\": [[%d, 1], [%d, 1]], \"Concrete Inputs\": [\"\", " \
	"\"\"]"

static void forward(struct job *j, int layer, uint64_t sequence)
{
	int64_t ts = j->host_ns, dur = 34000 + (int64_t)below(4000);
	int m = 512 << (layer % 3), k = 768, n = layer % 4 ? 768 : 3072;
	char name[64];

	snprintf(name, sizeof(name), "nn.Module: Block_%d", layer);
	span(j, "python_function", name, j->pid, j->pid, ts, dur,
	     "\"Python id\": %" PRIu64 ", \"Python parent id\": 1, \"Python module id\": %d", j->id,
	     layer);
	span(j, "cpu_op", "aten::linear", j->pid, j->pid, ts + 1000, 20000,
	     "\"External id\": %" PRIu64 ", \"Record function id\": 0, \"Ev Idx\": %" PRIu64, j->id,
	     j->id);
	span(j, "cpu_op", "aten::mm", j->pid, j->pid, ts + 2000, 14000,
	     "\"External id\": %" PRIu64 ", \"Sequence number\": %" PRIu64
	     ", \"Fwd thread id\": 0, \"Ev Idx\": %" PRIu64 ",\n      " DIMS(m, k, n),
	     j->id, sequence, j->id, m, k, k, n, k, n);
	flow(j, "fwdbwd", 's', sequence, j->pid, j->pid, ts + 2000);
	kernel(j, j->pid, ts + 6000, gemms[layer % 3], 9000 + (int64_t)below(9000),
	       260 + 40 * ((uint64_t)layer % 3));
	span(j, "cpu_op", "aten::relu_", j->pid, j->pid, ts + 22000, 9000,
	     "\"External id\": %" PRIu64 ", \"Input Dims\": [[%d, %d]], \"Input type\": "
	     "[\"c10::BFloat16\"]",
	     j->id, m, n);
	kernel(j, j->pid, ts + 24000, elements[layer & 1], 2000 + (int64_t)below(4000), 150);
	j->host_ns += dur + 500;
}

static void backward(struct job *j, int layer, uint64_t sequence, bool reduce)
{
	int64_t ts = j->backward_ns, dur = 36000 + (int64_t)below(4000);
	int m = 512 << (layer % 3), k = layer % 4 ? 768 : 3072, n = 768, tid = j->pid + 1;

	span(j, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", j->pid, tid, ts, dur,
	     "\"External id\": %" PRIu64 ", \"Sequence number\": %" PRIu64
	     ", \"Fwd thread id\": 1, \"Ev Idx\": %" PRIu64,
	     j->id, sequence, j->id);
	span(j, "cpu_op", "MmBackward0", j->pid, tid, ts + 1000, dur - 2000,
	     "\"External id\": %" PRIu64 ", \"Sequence number\": %" PRIu64
	     ", \"Fwd thread id\": 1, \"Ev Idx\": %" PRIu64,
	     j->id, sequence, j->id);
	flow(j, "fwdbwd", 'f', sequence, j->pid, tid, ts + 1000);
	for (int i = 0; i < 2; i++) {
		int64_t at = ts + 2000 + i * 14000;

		span(j, "cpu_op", "aten::mm", j->pid, tid, at, 13000,
		     "\"External id\": %" PRIu64 ", \"Ev Idx\": %" PRIu64 ",\n      " DIMS(m, k, n),
		     j->id, j->id, m, k, k, n, k, n);
		kernel(j, tid, at + 3000, gemms[(layer + i) % 3], 9000 + (int64_t)below(9000),
		       260 + 40 * ((uint64_t)(layer + i) % 3));
	}
	j->backward_ns += dur + 500;
	if (reduce && layer % 4 == 0) {
		all_reduce(j, tid, ts + dur + 500, layer);
		j->backward_ns += 11500;
	}
}

static void data(struct job *j)
{
	struct work w = { "Memcpy HtoD (Pageable -> Device)",
			  COPY,
			  90000,
			  0,
			  "cudaMemcpyAsync",
			  "gpu_memcpy",
			  ",\n      \"bytes\": 1048576, \"memory bandwidth (GB/s)\": 11.6",
			  20 };

	span(j, "user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	     j->pid, j->pid, j->host_ns, 150000, "\"External id\": %" PRIu64, j->id);
	j->host_ns += 155000 + (int64_t)(splitmix64(&jitter) % 40000);
	launch(j, j->pid, j->host_ns, &w);
	j->host_ns += 100000;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void wait_for_device(struct job *j)
{
	int64_t until = later(later(j->free_ns[COMPUTE], j->free_ns[COMM]), j->host_ns + 5000);
	uint64_t id = j->id++;

	span(j, "cuda_runtime", "cudaDeviceSynchronize", j->pid, j->pid, j->host_ns,
	     until - j->host_ns + 3000, "\"cbid\": 165, \"correlation\": %" PRIu64, id);
	j->host_ns = until + 5000;
}

/* reduce: the gradients of all ranks */
static void batch(struct job *j, bool reduce)
{
	uint64_t first = j->sequence, held = j->address;

	data(j);
	for (int i = 0; i < LAYERS; i++) {
		memory(j, INT64_C(1) << (20 + i % 3), j->address++ << 20);
		forward(j, i, j->sequence++);
	}
	j->backward_ns = later(j->backward_ns, j->host_ns);
	for (int i = LAYERS - 1; i >= 0; i--)
		backward(j, i, first + (uint64_t)i, reduce);
	j->host_ns = j->backward_ns + 2000;
	for (int i = 0; i < LAYERS; i++)
		memory(j, -(INT64_C(1) << (20 + i % 3)), held++ << 20);
}

static void step(struct job *j)
{
	int64_t begun = j->host_ns;
	char name[64];

	for (uint64_t i = 0; i < j->batches; i++)
		batch(j, i == j->batches - 1);
	span(j, "user_annotation", "Optimizer.step#AdamW.step", j->pid, j->pid, j->host_ns, 20000,
	     "\"External id\": %" PRIu64, j->id);
	j->host_ns += 1000;
	graph(j);
	j->host_ns += 10000;
	wait_for_device(j);
	snprintf(name, sizeof(name), "ProfilerStep#%" PRIu64, j->step++);
	span(j, "user_annotation", name, j->pid, j->pid, begun, j->host_ns - begun,
	     "\"External id\": %" PRIu64, j->id);
	if (j->world == 1 || j->contained)
		energy(j, begun, j->host_ns);
	j->nr_drawn = 0;
	j->host_ns += 2000;
}

static void head_put(const struct job *j)
{
	printf("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": %d, \"name\": "
	       "\"NVIDIA A100-SXM4-80GB\", \"totalGlobalMem\": 85097971712, \"computeMajor\": 8, "
	       "\"computeMinor\": 0, \"warpSize\": 32, \"numSms\": 108}\n  ],\n"
	       "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRIu64
	       ", \"world_size\": %" PRIu64 "},\n  \"traceEvents\": [\n",
	       j->device, j->rank, j->world);
}

static uint64_t count_of(const char *text, uint64_t least)
{
	uint64_t n;

	if (num_u64(text, strlen(text), &n) >= 0 && n >= least)
		return n;
	fputs("usage: make_tef [-c] [-s] [-r RANK -w WORLD] [-b BATCHES] N\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct job j = { .world = 1, .batches = BATCHES, .id = 2, .sequence = 1, .address = 1 };
	bool by_spans = false;
	uint64_t n;
	int c;

	while ((c = getopt(argc, argv, "csr:w:b:")) >= 0) {
		by_spans |= c == 's';
		j.contained |= c == 'c';
		if (c == 'r')
			j.rank = count_of(optarg, 0);
		else if (c == 'w')
			j.world = count_of(optarg, 1);
		else if (c == 'b')
			j.batches = count_of(optarg, 1);
		else if (c != 's' && c != 'c')
			count_of("", 1);
	}
	if (j.batches > BATCHES)
		count_of("", 1);
	n = count_of(optind + 1 == argc ? argv[optind] : "", 1);
	j.pid = 4242 + 10 * (int)j.rank;
	j.device = j.contained ? 0 : (int)(j.rank % 8);
	jitter += j.rank;
	j.host_ns = INT64_C(2199280223503288);
	j.drawn = calloc(MOST_DRAWN, sizeof(*j.drawn));
	if (!j.drawn)
		return 1;
	head_put(&j);
	while ((by_spans ? j.spans : j.events) < n)
		step(&j);
	printf("  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": 0,\n    "
	       "\"args\": {\n      \"name\": \"python3\"\n    }\n  }\n  ]\n}\n",
	       j.pid);
	free(j.drawn);
	return 0;
}
