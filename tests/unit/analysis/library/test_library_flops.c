/*
 * Flops and bytes against what the libraries' own benchmarks printed for the same problems:
 *	MIOpenDriver	flopCnt, bytesRead + bytesWritten of its line `stats:` (ROCm/MIOpen#161,
 *			ROCm/rocm-libraries#2341)
 *	benchdnn	%Gops%, six digits (oneDNN's documentation, Profiling oneDNN Performance);
 *			it leaves out taps that meet padding
 *	nccl-tests	size, algbw, busbw (NVIDIA/nccl-tests#128, NVIDIA/nccl#644,
 *			kvcache-ai/Mooncake#3484)
 */
#include "library_test.h"

#include <math.h>

TEST(miopen_driver)
{
	static const struct {
		const char *line;
		uint64_t flops, bytes; /* as printed; 0: the driver does not count them */
	} cases[] = {
		{ "./bin/MIOpenDriver conv -n 1 -c 3 -H 224 -W 224 -k 64 -y 3 -x 3 -p 1 -q 1 -u 1 "
		  "-v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1\n",
		  173408256, 609024 + 12845056 },
		{ "./bin/MIOpenDriver conv -n 3 -c 256 -H 512 -W 512 -k 192 -y 1 -x 1 -p 0 -q 0 -u "
		  "1 -v 1 -l 1 -j 1 -m conv -g 1 -F 4 -t 1 -i 1 -V 0\n",
		  77309411328, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].line);

		assert_int_equal(l.calls->rows.nr, 1);
		if (l.calls->rows.v[0].flops != cases[i].flops)
			ROW_FAIL(i, "%lld flops", (long long)l.calls->rows.v[0].flops);
		if (cases[i].bytes && l.calls->rows.v[0].bytes != cases[i].bytes)
			ROW_FAIL(i, "%lld bytes", (long long)l.calls->rows.v[0].bytes);
	}
}

/* Of one dimension: taps of all outputs that meet the input. */
static double taps_inside(int in, int out, int filter, int stride, int pad)
{
	int n = 0;

	for (int o = 0; o < out; o++)
		for (int t = 0; t < filter; t++)
			n += o * stride - pad + t >= 0 && o * stride - pad + t < in;
	return n;
}

TEST(benchdnn)
{
	static const struct {
		int g, mb, ic, in, oc, out, filter, stride, pad;
		double gops; /* as printed */
	} cases[] = {
		{ 1, 256, 3, 227, 96, 55, 11, 4, 0, 53.9726 },
		{ 2, 256, 96, 27, 256, 27, 5, 1, 2, 104.696 },
		{ 1, 256, 256, 13, 384, 13, 3, 1, 1, 68.904 },
		{ 2, 256, 384, 13, 384, 13, 3, 1, 1, 51.678 },
		{ 2, 256, 384, 13, 256, 13, 3, 1, 1, 34.452 },
		{ 1, 1, 32, 14, 32, 14, 3, 1, 1, 0.0032768 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char line[600];
		double inside = taps_inside(cases[i].in, cases[i].out, cases[i].filter,
					    cases[i].stride, cases[i].pad) /
				(cases[i].out * cases[i].filter);

		snprintf(line, sizeof(line),
			 "onednn_verbose,exec,cpu,convolution,jit:avx2,forward_training,"
			 "src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 bia_undef::undef::f0 "
			 "dst_f32::blocked:abcd:f0,,alg:convolution_direct,g%dmb%d_ic%doc%d_"
			 "ih%doh%dkh%dsh%ddh0ph%d_iw%dow%dkw%dsw%ddw0pw%d,1.5\n",
			 cases[i].g, cases[i].mb, cases[i].ic, cases[i].oc, cases[i].in,
			 cases[i].out, cases[i].filter, cases[i].stride, cases[i].pad, cases[i].in,
			 cases[i].out, cases[i].filter, cases[i].stride, cases[i].pad);

		CLEANUP(logged_release) struct logged l = logged_of(line);

		assert_int_equal(l.calls->rows.nr, 1);
		if (fabs((double)l.calls->rows.v[0].flops * inside * inside / cases[i].gops / 1e9 -
			 1) > 5e-6)
			ROW_FAIL(i, "%lld flops", (long long)l.calls->rows.v[0].flops);
	}
}

TEST(nccl_tests)
{
	static const struct {
		const char *operation;
		uint64_t count, size;
		int nranks;
	} cases[] = {
		{ "AllGather", 32768, 1048576, 8 }, { "AllGather", 2048, 65536, 8 },
		{ "ReduceScatter", 4, 128, 8 },     { "ReduceScatter", 16, 512, 8 },
		{ "AllReduce", 2048, 8192, 2 },     { "AllReduce", 262144, 1048576, 8 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char line[400];

		snprintf(line, sizeof(line),
			 "h:7:7 [0] NCCL INFO %s: opCount a sendbuff 0x1 recvbuff 0x2 count %lld "
			 "datatype 7 op 0 root 0 comm 0x3 [nranks=%d] stream 0x4\n",
			 cases[i].operation, (long long)cases[i].count, cases[i].nranks);

		CLEANUP(logged_release) struct logged l = logged_of(line);

		assert_int_equal(l.calls->rows.nr, 1);
		if (l.calls->rows.v[0].bytes != cases[i].size)
			ROW_FAIL(i, "%lld bytes", (long long)l.calls->rows.v[0].bytes);
		assert_int_equal(l.calls->rows.v[0].flops, 0);
	}
}
