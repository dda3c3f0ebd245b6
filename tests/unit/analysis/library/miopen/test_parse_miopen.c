#include "library_test.h"

#define CONV "conv -n 4 -c 64 -H 56 -W 56 -k 128 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -l 1 -j 1 -m conv"
#define HIP "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver "
#define REST \
	" n=4 c=64 k=128 g=1 in=56x56 filter=3x3 pad=1x1 stride=2x2 dilation=1x1 x=f32 w=f32 " \
	"y=f32 layout=NCHW"
#define KEY "conv dir=fwd" REST
#define FLOPS (INT64_C(2) * 4 * 128 * 64 * 9 * 28 * 28)

TEST(conv_of_one_configuration)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		HIP CONV
		" -g 1 -F 1 -t 1\n"
		"MIOpen(OpenCL): Command [LogCmdConvolution] ./bin/MIOpenDriver " CONV
		" -g 1 -F 1 -t 1\r\n"
		"MIOpen: Command [LogCmdConvolution] MIOpenDriver.exe " CONV " -g 1 -F 1 -t 1  \n"
		"140321 MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver " CONV
		" -g 1 -F 1 -t 1 -S 85\n"
		"140321 MIOpen(HIP)   0.123: Command [LogCmdConvolution] ./bin/MIOpenDriver " CONV
		" -g 1 -F 1 -t 1\n"
		"MIOpen12345.678: Command [LogCmdConvolution] ./bin/MIOpenDriver " CONV
		" -g 1 -F 1 -t 1\n"
		"miopenConvolutionForward: ./bin/MIOpenDriver " CONV " -g 1 -t 1\n"
		"MIOpen(HIP): miopenConvolutionForward: ./bin/MIOpenDriver " CONV " -g 1 -t 1\n"
		"step 7 MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver " CONV
		" -g 1 -F 1 -t 1\n"
		"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -F 1 --in_w 56 "
		"--in_h 56 --batchsize 4 --in_channels 64 --out_channels 128 --fil_h 3 --fil_w 3 "
		"--pad_h 1 --pad_w 1 --conv_stride_0 2 --conv_stride_1 2 --spatial_dim 2 --in_d 1 "
		"--fil_d 9 --pad_mode default --out_layout NCHW --iter 5 --verify 0 -w 1 -s 1\n");

	assert_counts(&l, 10, 0, 0, 0, 0, 0);
	assert_int_equal(l.calls->distinct, 1);
	assert_int_equal(l.n.prefixed, 1);
	assert_row(&l, KEY, "conv", 10, FLOPS);
	assert_string_equal(l.calls->rows.v[0].config,
			    "./bin/MIOpenDriver " CONV " -g 1 -F 1 -t 1");
	assert_string_equal(l.calls->rows.v[0].library, "miopen");
	assert_int_equal(l.calls->rows.v[0].bytes,
			 4 * (4 * 64 * 56 * 56 + 4 * 128 * 28 * 28 + 128 * 64 * 9));
}

TEST(conv_directions)
{
	static const struct {
		const char *line, *dir;
		int directions;
	} cases[] = {
		{ HIP CONV " -F 1\n", "fwd", 1 },
		{ HIP CONV " -F 2\n", "bwd_data", 1 },
		{ HIP CONV " -F 4\n", "bwd_weights", 1 },
		{ HIP CONV " -F 0\n", "fwd+bwd_data+bwd_weights", 3 },
		{ HIP CONV " -F 6\n", "bwd_data+bwd_weights", 2 },
		/* it is not told */
		{ HIP CONV " -g 1 -t 1\n", "fwd+bwd_data+bwd_weights", 3 },
		{ HIP CONV " -g 1\n", "fwd+bwd_data+bwd_weights", 3 },
		{ "./bin/MIOpenDriver " CONV "\n", "fwd+bwd_data+bwd_weights", 3 },
		{ "./bin/MIOpenDriver " CONV " --forw 5\n", "fwd+bwd_weights", 2 },
		{ "miopenConvolutionForward: ./bin/MIOpenDriver " CONV "\n", "fwd", 1 },
		{ "miopenConvolutionBackwardData: ./bin/MIOpenDriver " CONV "\n", "bwd_data", 1 },
		{ "miopenConvolutionBackwardWeights: MIOpenDriver " CONV "\n", "bwd_weights", 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].line);
		char key[300];

		snprintf(key, sizeof(key), "conv dir=%s" REST, cases[i].dir);
		if (l.n.records != 1)
			ROW_FAIL(i, "%d calls", (int)l.n.records);
		assert_row(&l, key, "conv", 1, cases[i].directions * FLOPS);
	}
}

TEST(conv_of_other_kinds)
{
	static const struct {
		const char *command, *key;
		int64_t flops;
	} cases[] = {
		{ "convfp16 -n 1 -c 8 -H 8 -W 8 -k 8 -y 1 -x 1 -m conv -g 4 -F 1 --in_layout NHWC "
		  "--fil_layout NHWC --out_layout NHWC",
		  "conv dir=fwd n=1 c=8 k=8 g=4 in=8x8 filter=1x1 pad=0x0 stride=1x1 dilation=1x1 "
		  "x=f16 w=f16 y=f16 layout=NHWC",
		  2 * 8 * 2 * 64 },
		{ "convbfp16 -n 1 -c 8 -H 8 -W 8 -k 8 -y 1 -x 1 -m conv -F 1 --in_layout NHWC -b 1",
		  "conv dir=fwd n=1 c=8 k=8 g=1 in=8x8 filter=1x1 pad=0x0 stride=1x1 dilation=1x1 "
		  "x=bf16 w=bf16 y=bf16 layout=NHWC,NCHW,NCHW with=bias",
		  2 * 8 * 8 * 64 },
		{ "convint8 -n 1 -c 8 -H 8 -W 8 -k 8 -y 1 -x 1 -F 1 -Z 1 -L 4",
		  "conv dir=fwd n=1 c=8 k=8 g=1 in=8x8 filter=1x1 pad=0x0 stride=1x1 dilation=1x1 "
		  "x=i8 w=i8 y=i32 layout=NCHW tensor_vect=1 vector_length=4",
		  2 * 8 * 8 * 64 },
		{ "conv -n 1 -c 2 --in_d 4 -H 5 -W 6 -k 3 --fil_d 3 -y 3 -x 3 --pad_d 1 -p 1 -q 1 "
		  "--conv_stride_d 1 -u 1 -v 2 --dilation_d 1 -l 1 -j 1 --spatial_dim 3 -m conv "
		  "-g 1 -F 1 -t 1",
		  "conv dir=fwd n=1 c=2 k=3 g=1 in=4x5x6 filter=3x3x3 pad=1x1x1 stride=1x1x2 "
		  "dilation=1x1x1 x=f32 w=f32 y=f32 layout=NCDHW",
		  2 * 3 * 2 * 27 * (4 * 5 * 3) },
		{ "conv -n 1 -c 4 -H 5 -W 5 -k 2 -y 3 -x 3 -u 2 -v 2 -m trans -F 1 -Y 1 -X 1",
		  "conv dir=fwd mode=transposed n=1 c=4 k=2 g=1 in=5x5 filter=3x3 pad=0x0 "
		  "stride=2x2 dilation=1x1 x=f32 w=f32 y=f32 layout=NCHW pad_y_h=1 pad_y_w=1",
		  2 * 2 * 4 * 9 * 25 },
		{ "CBAInfer -F 4 -n 1 -c 8 -H 8 -W 8 -k 8 -y 1 -x 1 -p 0 -q 0 -u 1 -v 1 -l 1 -j 1 "
		  "-g 1",
		  "conv dir=fwd n=1 c=8 k=8 g=1 in=8x8 filter=1x1 pad=0x0 stride=1x1 dilation=1x1 "
		  "x=f32 w=f32 y=f32 layout=NCHW with=bias+activ",
		  2 * 8 * 8 * 64 },
		{ "conv -n 1 -c 8 -H 8 -W 8 -k 8 -y 1 -x 1 -F 1 --new 2.50 -Q a",
		  "conv dir=fwd n=1 c=8 k=8 g=1 in=8x8 filter=1x1 pad=0x0 stride=1x1 dilation=1x1 "
		  "x=f32 w=f32 y=f32 layout=NCHW new=2.5 Q=a",
		  2 * 8 * 8 * 64 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char line[500];

		snprintf(line, sizeof(line), HIP "%s\n", cases[i].command);
		CLEANUP(logged_release) struct logged l = logged_of(line);

		if (l.n.records != 1)
			ROW_FAIL(i, "torn: %s, bad: %s", l.n.torn_text, l.n.bad_text);
		assert_int_equal(row_with(&l, cases[i].key).flops, cases[i].flops);
	}
}

#define TRANS \
	"conv -n 4 -c 64 -H 24 -W 20 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -l 1 -j 1 -m trans -g 2 -F 1 "
#define TRANS_KEY \
	"conv dir=fwd mode=transposed n=4 c=64 k=64 g=2 in=24x20 filter=3x3 pad=1x1 stride=2x2 " \
	"dilation=1x1 x=f32 w=f32 y=f32 layout=NCHW"

/* The library logs the channels of one group, the driver is given those of all. */
TEST(transposed_groups)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("./bin/MIOpenDriver " TRANS "-k 64\n" HIP TRANS "-k 32\n");
	CLEANUP(logged_release)
	struct logged odd = logged_of(
		HIP "conv -n 1 -c 8 -H 4 -W 4 -k 3 -y 1 -x 1 -m trans -g 4 -F 1\n"
		    "./bin/MIOpenDriver conv -n 1 -c 8 -H 4 -W 4 -k 3 -y 1 -x 1 -m trans -g 4 -F "
		    "1\n" HIP
		    "conv -n 1 -c 8 -H 4 -W 4 -k 281474976710656 -y 1 -x 1 -m trans -g 4 -F 1\n");

	assert_counts(&l, 1, 1, 0, 0, 0, 0);
	assert_row(&l, TRANS_KEY, "conv", 1, INT64_C(2) * 4 * 64 * 32 * 9 * 24 * 20);
	assert_int_equal(row_with(&l, TRANS_KEY).bytes,
			 4 * (4 * 64 * 24 * 20 + 4 * 64 * 47 * 39 + 64 * 32 * 9));
	assert_counts(&odd, 1, 0, 0, 0, 2, 0);
	assert_int_equal(odd.calls->rows.v[0].flops, 2 * 12 * 2 * 16);
}

/* The padding of this mode is another one than that of -p and -q. */
TEST(conv_pad_mode)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("./bin/MIOpenDriver " CONV " -F 1 -z same\n");

	assert_true(row_with(&l, KEY " pad_mode=same").flops == LIBRARY_UNKNOWN);
}

TEST(other_verbs)
{
	static const struct {
		const char *command, *key;
		uint64_t flops, bytes;
	} cases[] = {
		{ "poolfp16 -M 0 -n 2 -c 3 -H 9 -W 7 -y 3 -x 2 -p 1 -q 0 -v 2 -u 1 -m max -F 1 -t "
		  "1",
		  "pool dir=fwd mode=max n=2 c=3 in=9x7 window=3x2 pad=1x0 stride=2x1 x=f16 "
		  "index=0",
		  0, 2 * (2 * 3) * (9 * 7 + 5 * 6) },
		{ "pool -M 0 -n 2 -c 3 -H 9 -W 7 -y 3 -x 2 -p 1 -q 0 -v 2 -u 1 -m avg -F 2 --new 1",
		  "pool dir=bwd mode=avg n=2 c=3 in=9x7 window=3x2 pad=1x0 stride=2x1 x=f32 "
		  "index=0 new=1",
		  0, LIBRARY_UNKNOWN },
		{ "bnorm -n 2 -c 3 -H 4 -W 5 -m 1 --forw 1 -b 0 -s 1 -r 1 --layout NCHW",
		  "bnorm dir=train n=2 c=3 in=4x5 x=f32 mode=1 save=1 run=1 layout=NCHW", 0,
		  2 * 4 * 120 },
		{ "bnormfp16fp32 -n 2 -c 3 -D 2 -H 4 -W 5 -m 1 --forw 0 -b 1 --layout NDHWC",
		  "bnorm dir=bwd n=2 c=3 in=2x4x5 x=f16 scale=fp16fp32 mode=1 layout=NDHWC", 0,
		  3 * 2 * 240 },
		{ "bnorm -n 2 -c 3 -H 4 -W 5 -m 1 -F 2 -b 0",
		  "bnorm dir=inference n=2 c=3 in=4x5 x=f32 mode=1", 0, 2 * 4 * 120 },
		{ "softmax -n 2 -c 3 -H 4 -W 5 -F 2 -a 1 -m 0 -A 1.000000 -B 0",
		  "softmax dir=bwd n=2 c=3 in=4x5 x=f32 algorithm=1 mode=0 alpha=1 beta=0", 0,
		  3 * 4 * 120 },
		{ "activ -n 2 -c 3 -H 4 -W 5 -m 3 -F 0 -A 0.5 -B 0 -G 1",
		  "activ dir=fwd+bwd n=2 c=3 in=4x5 x=f32 mode=3 alpha=0.5 beta=0 gamma=1", 0,
		  6 * 4 * 120 },
		{ "lrn -n 2 -c 3 -H 4 -W 5 -N 5", "lrn n=2 c=3 in=4x5 x=f32 window=5", 0,
		  LIBRARY_UNKNOWN },
		{ "rnn -n 8 -W 30 -H 16 -l 2 -b 1 -m lstm -p 0 -r 1 -q 0 -k 5 -c 0 -F 1 -t 1 -w 1",
		  "rnn dir=fwd mode=lstm n=8 steps=5 in=30 hidden=16 layers=2 ways=2 bias=1 x=f32",
		  2 * UINT64_C(8) * 8 * 5 * 16 * (30 + 16 + 32 + 16), 4 * UINT64_C(14512) },
		{ "rnnfp16 -n 8,4,2 -W 30 -H 16 -l 1 -m gru -p 1 -k 4 -F 6 -c 1 -q 1",
		  "rnn dir=bwd_data+bwd_weights mode=gru n=8,4,2 steps=4 in=30 hidden=16 layers=1 "
		  "input=skipped x=f16 algorithm=1 inference=1",
		  2 * UINT64_C(6) * 16 * 16 * 16, 2 * 2 * UINT64_C(1504) },
		{ "rnn -n 1 -W 2 -H 2 -l 1 -b 0 -m tanh -p 0 -r 0 -q 0 -k 1 -c 0 -t 1",
		  "rnn dir=fwd+bwd_data+bwd_weights mode=tanh n=1 steps=1 in=2 hidden=2 layers=1 "
		  "bias=0 x=f32",
		  3 * 2 * 2 * 4, 3 * 4 * (8 + 4) },
		{ "rnn_seq -n 1 -W 2 -H 2 -l 1 -m tanh -k 1 -F 1",
		  "rnn_seq dir=fwd mode=tanh n=1 steps=1 in=2 hidden=2 layers=1 x=f32", 2 * 2 * 4,
		  4 * (8 + 4) },
		{ "gemmfp16 -m 4 -k 6 -n 8 -u 0 -v 1 -A 1.0 -B 0.0 -t 1",
		  "gemm ta=T tb=N m=8 n=4 k=6 a=f16 b=f16 c=f16 d=f16 lda=6 ldb=6 ldc=8 ldd=8 "
		  "alpha=1 beta=0",
		  2 * 4 * 6 * 8, 2 * (24 + 48 + 32) },
		{ "CBAInfer -F 2 -n 64 -c 64 -H 56 -W 56 -m 1",
		  "CBAInfer F=2 H=56 W=56 c=64 m=1 n=64", LIBRARY_UNKNOWN, LIBRARY_UNKNOWN },
		{ "ctc -c 2 --zed 1 -a 3.0 -i 4 -V 0 -t 1 -w 1", "ctc zed=1 a=3 c=2",
		  LIBRARY_UNKNOWN, LIBRARY_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char line[300];

		snprintf(line, sizeof(line), "MIOpen: Command [LogCmdX] ./bin/MIOpenDriver %s\n",
			 cases[i].command);
		CLEANUP(logged_release) struct logged l = logged_of(line);

		if (l.n.records != 1)
			ROW_FAIL(i, "torn: %s, bad: %s", l.n.torn_text, l.n.bad_text);
		const struct library_row row = row_with(&l, cases[i].key);

		if (row.flops != cases[i].flops || row.bytes != cases[i].bytes)
			ROW_FAIL(i, "%" PRIu64 " flops, %" PRIu64 " bytes", row.flops, row.bytes);
	}
}

/* The driver repeats its command line; the library logs what it executes. */
TEST(echoes)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"$ ./bin/MIOpenDriver conv --in_h 56 --in_w 56 --batchsize 4 --in_channels 64 "
		"--out_channels 128 --fil_h 3 --fil_w 3 --pad_h 1 --pad_w 1 --conv_stride_h 2 "
		"--conv_stride_w 2 2>&1 | tee log\n"
		"MIOpenDriver: " CONV "\n"
		"MIOpen(HIP): Info [get_device_name] Raw device name: gfx90a\n"
		"MIOpen(HIP): Command [LogCmdFindConvolution] ./bin/MIOpenDriver " CONV
		" -g 1 -F 1 -t 1\n" HIP CONV " -g 1 -F 1 -t 1\n" CONV " -g 1 -F 1 -t 1\n" HIP CONV
		" -g 1 -F 1 -t 1\n" HIP CONV " -g 1 -F 2 -t 1\n"
		"1\n" HIP CONV " -g 1 -F 4 -t 1\n"
		"  " CONV " -g 1 -F 4 -t 1\r\n" HIP CONV " -g 1 -F 4 -t 1\r\n");

	assert_counts(&l, 5, 4, 2, 0, 0, 1);
	assert_int_equal(l.calls->distinct, 3);
	assert_row(&l, KEY, "conv", 2, FLOPS);
}

TEST(list_of_commands)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("#!/bin/bash\r\n"
				    "./bin/MIOpenDriver " CONV " -F 1\r\n"
				    "/opt/rocm/bin/MIOpenDriver " CONV " -F 1 # ResNet\r\n"
				    "echo \"./bin/MIOpenDriver " CONV " -F 2\"; MIOpenDriver " CONV
				    " -F 4 >>log 2>&1\r\n"
				    "# MIOpenDriver is needed\r\n"
				    "# ./bin/MIOpenDriver " CONV " -F 2\r\n"
				    "#/opt/rocm/bin/MIOpenDriver " CONV " -F 2\r\n"
				    "./bin/MIOpenDriver " CONV " --forw=1\r\n"
				    "./bin/MIOpenDriver conv --help\r\n"
				    "MIOpenDriver: command not found\r\n");

	assert_counts(&l, 5, 0, 1, 0, 0, 5);
	assert_row(&l, KEY, "conv", 3, FLOPS);
	assert_string_equal(row_with(&l, "conv dir=bwd_data" REST).config,
			    "MIOpenDriver " CONV " -F 2");
}

/* Behind a record that has no line end of its own. */
TEST(progress_bars)
{
	CLEANUP(logged_release)
	struct logged l =
		logged_of(HIP CONV " -g 1 -F 1 -t 1 100%|###|\n" HIP CONV
				   " -g 1 -F 1   2.5%|#  | 1/40 [00:01<00:39]\n" HIP CONV
				   " -g 1 -F 1 99% done\n" HIP CONV " -g 1 -F 1100%|#|\n");

	assert_counts(&l, 3, 0, 0, 1, 0, 0);
	assert_row(&l, KEY, "conv", 3, FLOPS);
}

TEST(no_calls)
{
	static const struct {
		const char *text;
		int torn, bad, info;
		const char *words;
	} cases[] = {
		{ HIP "conv -n 4 -c 64 -H 56 -W 56 -k 128 -y 3\n", 1, 0, 0, "line 1: [LogCmd" },
		{ HIP "conv -n 4 -c 64 -H 5,6 -W 56 -k 128 -y 3 -x 3 -F 1\n", 1, 0, 0, "5,6" },
		/* more than the direction is lost */
		{ HIP CONV "\n", 1, 0, 0, "" },
		{ HIP "conv -n 4 -c 64 -H 56 -W 56 -k 128 -y 3 -x 3 -p 1 -q 1\n", 1, 0, 0, "" },
		{ HIP "rnn -n 8 -W 30 -H 16 -l 2 -m lstm -k 5\n", 1, 0, 0, "" },
		{ HIP CONV " -g 1", 1, 0, 0, "" }, /* or 16 */
		{ HIP CONV " -g 1 -F\n", 1, 0, 0, "" },
		{ HIP CONV " -g 1 -F 1 Epoch 3\n", 1, 0, 0, "" },
		{ HIP CONV " -F 1 -g 1", 1, 0, 0, "" }, /* or 16 */
		{ HIP "\n", 1, 0, 0, "" },
		{ HIP "conv\n", 1, 0, 0, "" },
		{ "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOp\n", 1, 0, 0, "" },
		{ "MIOpen(HIP): Command [LogCmdC\n", 1, 0, 0, "" },
		{ HIP "rnn -n 8 -W 30 -H 16 -l 2 -m lst -k 5 -F 1\n", 1, 0, 0, "" },
		{ HIP "conv -n 4 -c 64 -H -56 -W 56 -k 128 -y 3 -x 3 -F 1\n", 0, 1, 0,
		  "in=-56 is no size" },
		{ HIP "conv -n 4 -c 64 -H 56 -W 56 -k 128 -y 3 -x 3 -g 5 -F 1\n", 0, 1, 0,
		  "5 groups" },
		{ HIP "conv -n 4 -c 64 -H 1 -W 56 -k 128 -y 3 -x 3 -F 1\n", 0, 1, 0, "larger" },
		{ HIP CONV " -F 8\n", 0, 1, 0, "-F 8 is no direction" },
		{ HIP CONV " -F -1\n", 0, 1, 0, "-F -1 is no direction" },
		{ HIP CONV " -F 1 -F 2\n", 0, 1, 0, "-F stands twice" },
		{ HIP CONV " -F 1 --batchsize 5\n", 0, 1, 0, "--batchsize stands twice" },
		{ HIP CONV " -F 1 --spatial_dim 4\n", 0, 1, 0, "spatial_dim" },
		{ HIP "conv -n 90000000000 -c 90000000000 -H 56 -W 56 -k 128 -y 3 -x 3 -F 1\n", 0,
		  1, 0, "more than 2^63" },
		{ HIP "conv -n 4 -c 1 -H 281474976710656 -W 2 -k 1 -y 3 -x 3 -u 1 -j "
		      "281474976710656 -l 281474976710656 -m trans -Y 1 -F 1\n",
		  0, 1, 0, "" },
		{ HIP "pool -n 2 -c 3 -H 2 -W 7 -y 3 -x 2 -p 0 -q 0 -v 2 -u 1 -F 1\n", 0, 1, 0,
		  "window" },
		{ HIP "rnn -n 8,4,2 -W 30 -H 16 -l 2 -m gru -k 2 -F 1\n", 0, 1, 0, "of 2 steps" },
		{ HIP "rnn -n 9000000000000 -W 9000000000000 -H 9000000000000 -l 900000000 -m "
		      "gru -k 9000000000000 -F 1\n",
		  0, 1, 0, "" },
		{ HIP "softmax -n 2 -c 3 -H 4 -W 5 -F 7\n", 0, 1, 0, "direction" },
		{ "MIOpen(HIP): Command [LogCmdFindConvolution] ./bin/MIOpenDriver " CONV "\n", 0,
		  0, 1, "" },
		{ "MIOpen(HIP): Warning [Check] /tmp: no MIOpen database\n", 0, 0, 1, "" },
		{ "12 MIOpen     0.2: Info2 [x] y\n", 0, 0, 1, "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if (l.n.records != 0 || (int)l.n.torn != cases[i].torn ||
		    (int)l.n.bad != cases[i].bad || (int)l.n.info != cases[i].info)
			ROW_FAIL(i, "%d records, %d torn, %d bad: %s", (int)l.n.records,
				 (int)l.n.torn, (int)l.n.bad, l.n.bad_text);
		assert_has(cases[i].bad ? l.n.bad_text : l.n.torn_text, cases[i].words);
	}
}

/* Two threads write at once. */
TEST(records_in_one_line)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		HIP CONV " -F 1 -t 1 " HIP CONV " -F 2 -t 1\n" HIP CONV " -F 1 -t 1" HIP CONV
			 " -F 2 -t 1\n" HIP "conv -n 4 -c 6" HIP CONV " -F 4 -t 1\n" HIP
			 "conv -n 4 -c 64 -H 56 -W 56 -k 1\n"
			 "28 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -l 1 -j 1 -m conv -F 1 -t 1\n");

	assert_counts(&l, 6, 0, 0, 1, 0, 0);
	assert_int_equal(l.n.joined, 1);
	assert_row(&l, KEY, "conv", 3, FLOPS);
}

TEST(damaged_texts)
{
	assert_damage_is_counted(HIP CONV " -g 1 -F 1 -t 1\nrnn -n 8 -W 30 -H 16\n" HIP
					  "rnn -n 8,4 -W 30 -H 16 -l 2 -m lstm -r 1 -k 5 -F 1\n"
					  "./bin/MIOpenDriver pool -n 2 -c 3 -H 9 -W 7 -y 3 -x 2 "
					  "-p 1 -q 0 -v 2 -u 1 -m max -F 1 # x\n");
}

/* A last word that no digit can follow is whole. */
TEST(cut_texts)
{
	static const char *const cases[] = {
		HIP CONV " -g 1 -F 1",
		HIP CONV " -g 1 -F 1 -t 1",
		HIP CONV " -g 1 -F 1 -S 8",
		HIP CONV " -F 1 -g 1 ",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i]);

		if (l.n.records != 1)
			ROW_FAIL(i, "%d torn", (int)l.n.torn);
	}
}

static struct logged logged_recording(const char *name)
{
	CLEANUP(xfreep) char *path = test_trace(name);
	struct logged l = { .calls = library_calls_new() };
	struct err e = ERR_INIT;

	if (library_log_read(path, l.calls, &l.n, &e) != 0)
		fail_msg("%s", e.msg);
	return l;
}

static uint64_t calls_of(const struct logged *l, const char *key_begins)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < l->calls->rows.nr; i++)
		if (!strncmp(l->calls->rows.v[i].key, key_begins, strlen(key_begins)))
			calls += l->calls->rows.v[i].calls;
	return calls;
}

TEST(recording_of_long_options)
{
	CLEANUP(logged_release)
	struct logged l =
		logged_recording("liblog/miopen-densenet-long-options/Densenet_v1_FP32_BS256.txt");

	assert_counts(&l, 269, 0, 0, 0, 0, 0);
	assert_int_equal(l.calls->distinct, 269);
	assert_int_equal(calls_of(&l, "conv dir=fwd "), 90);
	assert_int_equal(calls_of(&l, "conv dir=bwd_data "), 89);
	assert_int_equal(calls_of(&l, "conv dir=bwd_weights "), 90);
	assert_int_equal(library_calls_totals(l.calls).flops, INT64_C(3291519909888));
}

TEST(recording_of_old_prefix)
{
	CLEANUP(logged_release)
	struct logged l =
		logged_recording("liblog/miopen-resnet50-old-prefix/resnet50_pytorch.txt");

	assert_counts(&l, 60, 0, 0, 0, 0, 1);
	assert_int_equal(l.calls->distinct, 60);
	assert_int_equal(l.n.prefixed, 0);
	assert_int_equal(calls_of(&l, "conv dir=fwd "), 60);
	assert_int_equal(library_calls_totals(l.calls).flops, INT64_C(4206329856000));
}

TEST(recording_of_rnn)
{
	CLEANUP(logged_release) struct logged l = logged_recording("liblog/miopen-rnn/miopen.log");

	assert_counts(&l, 3, 3, 2, 0, 0, 0);
	assert_int_equal(calls_of(&l, "rnn dir=bwd_data "), 1);
	assert_int_equal(library_calls_totals(l.calls).flops,
			 INT64_C(3) * 8 * 256 * 45 * 256 * (30 + 256 + 256 + 256));
}
