/*
 * make_tef EVENTS: a PyTorch trace as Kineto writes it, on stdout: nested operators on two threads,
 * runtime calls, kernels and copies on two devices, flows between them. About 370 bytes an event;
 * the same for the same number.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/num.h"

static uint64_t seed = 11;

static uint64_t below(uint64_t n)
{
	return splitmix64(&seed) % n;
}

static const char *const ops[] = {
	"aten::conv2d", "aten::linear",
	"aten::addmm",  "aten::relu_",
	"aten::copy_",  "aten::matmul",
	"aten::add_",   "aten::empty",
	"aten::view",   "autograd::engine::evaluate_function: AddmmBackward0"
};
static const char *const kernels[] = {
	"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB1_AFC1",
	"void at::native::vectorized_elementwise_kernel<4, "
	"at::native::CUDAFunctor_add<c10::BFloat16>, "
	"std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
	"void (anonymous namespace)::elementwise_kernel_with_index<int, \\\"mode\\\">(int)",
};

static void time_put(const char *key, int64_t ns)
{
	printf("\"%s\": %" PRId64 ".%03" PRId64, key, ns / 1000, ns % 1000);
}

static void head(const char *cat, const char *name, int pid, int tid, int64_t ts, int64_t dur)
{
	printf("  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": "
	       "%d,\n"
	       "    ",
	       cat, name, pid, tid);
	time_put("ts", ts);
	fputs(", ", stdout);
	time_put("dur", dur);
	fputs(",\n    \"args\": {\n      ", stdout);
}

static void tail(void)
{
	puts("\n    }\n  },");
}

static void op(int tid, int64_t ts, int64_t dur, uint64_t id)
{
	head("cpu_op", ops[below(10)], 4242, tid, ts, dur);
	printf("\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Ev Idx\": %" PRIu64
	       ", \"Input Dims\": [[%" PRIu64
	       ", 768], [768, 768]], \"Input type\": [\"c10::BFloat16\", "
	       "\"c10::BFloat16\"]",
	       id, id, 1 + below(64));
	tail();
}

static void flow(char ph, uint64_t id, int pid, int tid, int64_t ts)
{
	printf("  {\n    \"ph\": \"%c\", \"id\": %" PRIu64 ", \"pid\": %d, \"tid\": %d, ", ph, id,
	       pid, tid);
	time_put("ts", ts);
	printf(",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  },\n",
	       ph == 'f' ? ", \"bp\": \"e\"" : "");
}

/* A launch with its kernel, and the flow between them: four events. */
static void launch(int tid, int64_t ts, uint64_t id, int64_t device_ns[2])
{
	int device = (int)below(2);
	int64_t start = device_ns[device] > ts + 3000 ? device_ns[device] : ts + 3000;
	int64_t dur = 1000 + (int64_t)below(40000);
	bool copy = below(10) == 0;

	head("cuda_runtime", copy ? "hipMemcpyAsync" : "hipLaunchKernel", 4242, tid, ts, 2500);
	printf("\"External id\": %" PRIu64 ", \"cbid\": 211, \"correlation\": %" PRIu64, id, id);
	tail();
	flow('s', id, 4242, tid, ts);
	head(copy ? "gpu_memcpy" : "kernel",
	     copy ? "Memcpy HtoD (Host -> Device)" : kernels[below(3)], device, 7, start, dur);
	printf("\"External id\": %" PRIu64
	       ", \"queued\": 0, \"device\": %d, \"context\": 1,\n      "
	       "\"stream\": 7, \"correlation\": %" PRIu64
	       ",\n      \"registers per thread\": 32, \"shared memory\": 0, \"grid\": [%" PRIu64
	       ", 1, 1], \"block\": [256, 1, 1]",
	       id, device, id, 1 + below(4096));
	tail();
	flow('f', id, device, 7, start);
	device_ns[device] = start + dur;
}

int main(int argc, char **argv)
{
	int64_t at[2] = { INT64_C(2199280223503288), INT64_C(2199280223503999) };
	int64_t device_ns[2] = { 0, 0 };
	uint64_t events = 0, id = 1, n = 0;

	if (argc != 2 || num_u64(argv[1], strlen(argv[1]), &n) < 0 || n < 10) {
		fputs("usage: make_tef EVENTS\n", stderr);
		return 2;
	}
	puts("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": "
	     "\"A\"}, "
	     "{\"id\": 1, \"name\": \"A\"}\n  ],\n  \"traceEvents\": [");
	while (events < n) {
		int tid = (int)below(2);
		int64_t dur = 20000 + (int64_t)below(80000);

		op(4242 + tid, at[tid], dur, id);
		op(4242 + tid, at[tid] + 1000, dur / 2, id + 1);
		launch(4242 + tid, at[tid] + 1500, id, device_ns);
		at[tid] += dur + (int64_t)below(3000);
		id += 2;
		events += 6;
	}
	puts("  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"pid\": 4242, \"tid\": 0,\n    "
	     "\"args\": {\n"
	     "      \"name\": \"python3\"\n    }\n  }\n  ]\n}");
	return 0;
}
