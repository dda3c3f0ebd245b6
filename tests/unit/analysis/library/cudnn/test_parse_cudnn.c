#include "library_mangle.h"

#define OPEN(function) "I! CuDNN (v7603) function cudnn" function "() called:\n"
#define HANDLE "i!     handle: type=cudnnHandle_t; streamId=0x7fa5880083d0;\n"
#define CLOSE \
	"i! Time: 2019-06-04T18:09:15.727680 (0d+0h+0m+5s since start)\n" \
	"i! Process=18690; Thread=18798; GPU=0; Handle=0x7fa5880ddba0; StreamId=0x7fa5880083d0.\n"
#define TYPE(t) "i!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_" t ";\n"
#define TENSOR(name, t, nr, dims, strides) \
	"i!     " name \
	": type=cudnnTensorDescriptor_t:\n" TYPE(t) "i!         nbDims: type=int; val=" nr ";\n" \
						    "i!         dimA: type=int; val=[" dims "];\n" \
						    "i!         strideA: type=int; val=[" strides \
						    "];\n"
#define FILTER(name, t, dims, format) \
	"i!     " name ": type=cudnnFilterDescriptor_t:\n" TYPE( \
		t) "i!         vect: type=int; val=0;\n" \
		   "i!         nbDims: type=int; val=4;\n" \
		   "i!         dimA: type=int; val=[" dims "];\n" \
		   "i!         format: type=cudnnTensorFormat_t; val=CUDNN_TENSOR_" format ";\n"
#define CONV_OF(mode, t, math, pad, stride, dilation, groups) \
	"i!     convDesc: type=cudnnConvolutionDescriptor_t:\n" \
	"i!         mode: type=cudnnConvolutionMode_t; val=CUDNN_" mode \
	";\n" TYPE(t) "i!         mathType: type=cudnnMathType_t; val=CUDNN_" math ";\n" \
		      "i!         arrayLength: type=int; val=2;\n" \
		      "i!         padA: type=int; val=[" pad "];\n" \
		      "i!         strideA: type=int; val=[" stride "];\n" \
		      "i!         dilationA: type=int; val=[" dilation "];\n" \
		      "i!         groupCount: type=int; val=" groups ";\n"
#define CONV \
	CONV_OF("CROSS_CORRELATION (1)", "FLOAT (0)", "DEFAULT_MATH (0)", "1,1", "2,2", "1,1", "1")
#define X TENSOR("xDesc", "FLOAT (0)", "4", "4,64,56,56", "200704,3136,56,1")
#define W FILTER("wDesc", "FLOAT (0)", "128,64,3,3", "NCHW (0)")
#define Y TENSOR("yDesc", "FLOAT (0)", "4", "4,128,28,28", "100352,784,28,1")
#define DATA(name, at) "i!     " name ": location=dev; addr=0x" at ";\n"
#define SCALARS \
	"i!     alpha: type=CUDNN_DATA_FLOAT; val=1.000000;\n" \
	"i!     beta: type=CUDNN_DATA_FLOAT; val=0.000000;\n"
#define ALGO \
	"i!     algo: type=cudnnConvolutionFwdAlgo_t; val=CUDNN_CONVOLUTION_FWD_ALGO_GEMM (2);\n" \
	"i!     workSpace: location=dev; addr=0x7f0;\n" \
	"i!     workSpaceSizeInBytes: type=size_t; val=1048576;\n"
#define FORWARD(at) \
	OPEN("ConvolutionForward") HANDLE SCALARS X DATA("xData", at) \
	W DATA("wData", at) \
	CONV ALGO Y DATA("yData", at) CLOSE
#define KEY_OF(dir, layout, more) \
	"conv dir=" dir " n=4 c=64 k=128 g=1 in=56x56 filter=3x3 pad=1x1 stride=2x2 dilation=1x1 " \
	"x=f32 w=f32 y=f32 layout=" layout more
#define KEY KEY_OF("fwd", "NCHW", "")
#define FLOPS (INT64_C(2) * 4 * 128 * 64 * 9 * 28 * 28)

TEST(forward)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		OPEN("CreateTensorDescriptor") CLOSE FORWARD("7f01") FORWARD("7f02")
			OPEN("GetConvolutionForwardWorkspaceSize")
				HANDLE X W CONV Y ALGO CLOSE OPEN("FindConvolutionForwardAlgorithm")
					HANDLE X W CONV Y CLOSE OPEN("DestroyTensorDescriptor")
						CLOSE);

	assert_int_equal(l.n.records, 2);
	assert_int_equal(l.n.info, l.n.lines - 2);
	assert_row(&l, KEY, "ConvolutionForward", 2, FLOPS);
	assert_string_equal(l.calls->rows.v[0].library, "cudnn");
	assert_int_equal(l.calls->rows.v[0].pid, 18690);
	assert_true(l.calls->rows.v[0].first_ns == INT64_C(1559671755727680000));
}

TEST(convolutions)
{
#define NHWC(name, dims, strides) TENSOR(name, "FLOAT (0)", "4", dims, strides)
#define BACK(function, args) OPEN(function) HANDLE SCALARS args CLOSE
#define HALF_T(name, dims, strides) TENSOR(name, "HALF (2)", "4", dims, strides)
#define HALF_CONV(t, math, groups) \
	HALF_T("xDesc", "4,64,56,56", "200704,3136,56,1") \
	FILTER("wDesc", "HALF (2)", "128,32,3,3", "NCHW (0)") \
	CONV_OF("CONVOLUTION (0)", t, math, "1,1", "2,2", "1,1", groups) \
	HALF_T("yDesc", "4,128,28,28", "100352,784,28,1")
	static const struct {
		const char *text, *key, *operation;
		int64_t flops;
	} cases[] = {
		{ BACK("ConvolutionBackwardData",
		       W TENSOR("dyDesc", "FLOAT (0)", "4", "4,128,28,28", "100352,784,28,1")
			       CONV TENSOR("dxDesc", "FLOAT (0)", "4", "4,64,56,56",
					   "200704,3136,56,1")),
		  KEY_OF("bwd_data", "NCHW", ""), "ConvolutionBackwardData", FLOPS },
		/* names of older releases */
		{ BACK("ConvolutionBackwardData",
		       FILTER("filterDesc", "FLOAT (0)", "128,64,3,3", "NCHW (0)") TENSOR(
			       "diffDesc", "FLOAT (0)", "4", "4,128,28,28", "100352,784,28,1")
			       CONV TENSOR("gradDesc", "FLOAT (0)", "4", "4,64,56,56",
					   "200704,3136,56,1")),
		  KEY_OF("bwd_data", "NCHW", ""), "ConvolutionBackwardData", FLOPS },
		{ BACK("ConvolutionBackwardFilter",
		       TENSOR("srcDesc", "FLOAT (0)", "4", "4,64,56,56", "200704,3136,56,1") TENSOR(
			       "diffDesc", "FLOAT (0)", "4", "4,128,28,28", "100352,784,28,1")
			       CONV FILTER("gradDesc", "FLOAT (0)", "128,64,3,3", "NCHW (0)")),
		  KEY_OF("bwd_weights", "NCHW", ""), "ConvolutionBackwardFilter", FLOPS },
		{ BACK("ConvolutionForward",
		       NHWC("xDesc", "4,64,56,56", "200704,1,3584,64")
			       FILTER("wDesc", "FLOAT (0)", "128,64,3,3", "NHWC (1)")
				       CONV NHWC("yDesc", "4,128,28,28", "100352,1,3584,128")),
		  KEY_OF("fwd", "NHWC", ""), "ConvolutionForward", FLOPS },
		{ BACK("ConvolutionForward",
		       NHWC("xDesc", "4,64,56,56", "401408,3136,56,1") W CONV Y),
		  KEY_OF("fwd", "401408_3136_56_1-NCHW-NCHW", ""), "ConvolutionForward", FLOPS },
		{ BACK("ConvolutionForward", HALF_CONV("FLOAT (0)", "TENSOR_OP_MATH (1)", "2")),
		  "conv dir=fwd n=4 c=64 k=128 g=2 in=56x56 filter=3x3 pad=1x1 stride=2x2 "
		  "dilation=1x1 x=f16 w=f16 y=f16 layout=NCHW "
		  "with=math:CUDNN_TENSOR_OP_MATH+flipped",
		  "ConvolutionForward", FLOPS / 2 },
		{ BACK("ConvolutionForward", HALF_CONV("HALF (2)", "DEFAULT_MATH (0)", "2")),
		  "conv dir=fwd n=4 c=64 k=128 g=2 in=56x56 filter=3x3 pad=1x1 stride=2x2 "
		  "dilation=1x1 x=f16 w=f16 y=f16 layout=NCHW with=compute:f16+flipped",
		  "ConvolutionForward", FLOPS / 2 },
		{ OPEN("ConvolutionBiasActivationForward") X W CONV
		  "i!     alpha1: type=CUDNN_DATA_FLOAT; val=1.000000;\n"
		  "i!     alpha2: type=CUDNN_DATA_FLOAT; val=1.000000;\n"
		  "i!     activationDesc: type=cudnnActivationDescriptor_t:\n"
		  "i!         mode: type=cudnnActivationMode_t; val=CUDNN_ACTIVATION_RELU (1);\n" Y
			  CLOSE,
		  KEY_OF("fwd", "NCHW", " with=alpha2:1+bias+activation:RELU"),
		  "ConvolutionBiasActivationForward", FLOPS },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);
		const struct library_row *r = l.calls->rows.v;

		if (l.calls->rows.nr != 1 || strcmp(r->key, cases[i].key) != 0 ||
		    strcmp(r->operation, cases[i].operation) != 0 ||
		    r->flops != (uint64_t)cases[i].flops)
			ROW_FAIL(i, "%s %s %s", l.calls->rows.nr ? r->key : "no call", l.n.bad_text,
				 l.n.torn_text);
	}
}

TEST(three_dimensions)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(OPEN("ConvolutionForward") TENSOR(
		"xDesc", "FLOAT (0)", "5", "1,2,4,4,4",
		"128,64,16,4,1") "i!     wDesc: "
				 "type=cudnnFilterDescriptor_t:"
				 "\n" TYPE("FLOAT (0)") "i!         "
							"dimA: "
							"type=int; "
							"val=[3,2,1,3,"
							"3];\n"
							"i!         "
							"format: "
							"type="
							"cudnnTensorFo"
							"rmat_t; "
							"val=CUDNN_"
							"TENSOR_NCHW "
							"(0);\n"
							"i!     "
							"convDesc: "
							"type="
							"cudnnConvolut"
							"ionDescriptor"
							"_t:\n"
							"i!         "
							"padA: "
							"type=int; "
							"val=[0,1,1];"
							"\n"
							"i!         "
							"strideA: "
							"type=int; "
							"val=[1,1,1];"
							"\n" TENSOR("yDes"
								    "c",
								    "FLOAT"
								    " (0)",
								    "5",
								    "1,3,"
								    "4,4,"
								    "4",
								    "192,"
								    "64,"
								    "16,4,"
								    "1") CLOSE);

	assert_row(&l,
		   "conv dir=fwd n=1 c=2 k=3 g=1 in=4x4x4 filter=1x3x3 pad=0x1x1 stride=1x1x1 "
		   "dilation=1x1x1 x=f32 w=f32 y=f32 layout=NCDHW",
		   "ConvolutionForward", 1, 2 * 3 * 2 * 9 * 64);
}

/* 9.x: a block of the call, one of its status. */
TEST(status_blocks)
{
#define NINE(function) "I! CuDNN (v91200 46) function cudnn" function "() called:\n"
#define STATUS "i!     status: type=cudnnStatus_t; val=CUDNN_STATUS_SUCCESS (0);\n"
	CLEANUP(logged_release)
	struct logged l = logged_of(
		NINE("ConvolutionForward") STATUS CLOSE /* of a call before the log's beginning */
			NINE("ConvolutionForward")
				HANDLE X W CONV Y CLOSE NINE("ConvolutionForward")
					STATUS CLOSE NINE("SetTensorNdDescriptor")
						STATUS CLOSE NINE("BackendExecute") HANDLE
		"i!     executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR; "
		"val=0x55;\n" CLOSE NINE("BackendExecute") STATUS CLOSE);

	assert_int_equal(l.n.records, 2);
	assert_int_equal(l.n.doubled, 2);
	assert_int_equal(l.n.torn, 1);
	assert_row(&l, KEY, "ConvolutionForward", 1, FLOPS);
	assert_true(row_with(&l, "graph op=BackendExecute").flops == LIBRARY_UNKNOWN);
	assert_true(row_with(&l, "graph op=BackendExecute").inexact);
}

TEST(other_functions)
{
	static const struct {
		const char *text, *key;
		int64_t bytes; /* -1: unknown */
	} cases[] = {
		{ OPEN("PoolingForward") HANDLE
		  "i!     poolingDesc: type=cudnnPoolingDescriptor_t:\n"
		  "i!         mode: type=cudnnPoolingMode_t; val=CUDNN_POOLING_MAX (0);\n"
		  "i!         nbDims: type=int; val=2;\n"
		  "i!         windowDimA: type=int; val=[2,2];\n" SCALARS TENSOR(
			  "xDesc", "FLOAT (0)", "4", "1,2,4,4", "32,16,4,1") DATA("xData", "7f")
			  TENSOR("yDesc", "FLOAT (0)", "4", "1,2,2,2", "8,4,2,1") CLOSE,
		  "pool op=PoolingForward poolingDesc.mode=CUDNN_POOLING_MAX "
		  "poolingDesc.windowDimA=[2,2] alpha=1 beta=0 xDesc=f32:1x2x4x4:NCHW "
		  "yDesc=f32:1x2x2x2:NCHW",
		  160 },
		{ OPEN("SoftmaxForward") HANDLE
		  "i!     algorithm: type=cudnnSoftmaxAlgorithm_t; val=CUDNN_SOFTMAX_LOG "
		  "(2);\n" TENSOR("xDesc", "HALF (2)", "4", "8,10,1,1", "10,1,1,1")
			  TENSOR("yDesc", "HALF (2)", "4", "8,10,1,1", "10,1,1,1") CLOSE,
		  "softmax op=SoftmaxForward algorithm=CUDNN_SOFTMAX_LOG xDesc=f16:8x10x1x1:NCHW "
		  "yDesc=f16:8x10x1x1:NCHW",
		  320 },
		{ OPEN("BatchNormalizationForwardTraining") HANDLE
		  "i!     mode: type=cudnnBatchNormMode_t; val=CUDNN_BATCHNORM_SPATIAL "
		  "(1);\n" TENSOR("xDesc", "FLOAT (0)", "4", "1,2,4,4",
				  "32,16,4,1") "i!     epsilon: type=double; val=0.000010;\n" CLOSE,
		  "batchnorm op=BatchNormalizationForwardTraining mode=CUDNN_BATCHNORM_SPATIAL "
		  "xDesc=f32:1x2x4x4:NCHW epsilon=1e-05",
		  -1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);
		const struct library_row *r = l.calls->rows.v;

		if (l.calls->rows.nr != 1 || strcmp(r->key, cases[i].key) != 0 ||
		    r->flops != LIBRARY_UNKNOWN ||
		    r->bytes != (cases[i].bytes < 0 ? LIBRARY_UNKNOWN : (uint64_t)cases[i].bytes))
			ROW_FAIL(i, "%s %s", l.calls->rows.nr ? r->key : "no call", l.n.torn_text);
	}
}

TEST(no_calls)
{
	static const struct {
		const char *text;
		int torn, bad;
	} cases[] = {
		{ OPEN("ConvolutionForward") X W CONV CLOSE, 1, 0 },
		{ OPEN("ConvolutionForward") X W Y CLOSE, 1, 0 },
		{ OPEN("ConvolutionForward") X X W CONV Y CLOSE, 1, 0 },
		{ OPEN("ConvolutionForward") CLOSE, 1, 0 },
		{ OPEN("ConvolutionForward") X W CONV TENSOR("yDesc", "FLOAT (0)", "4", "4,128,28",
							     "100352,784,28,1") CLOSE,
		  1, 0 },
		{ OPEN("ConvolutionForward") X W CONV TENSOR(
			  "yDesc", "FLOAT (0)", "4", "4,128,27,28", "100352,784,28,1") CLOSE,
		  0, 1 },
		{ OPEN("ConvolutionForward")
			  X FILTER("wDesc", "FLOAT (0)", "128,63,3,3", "NCHW (0)") CONV Y CLOSE,
		  0, 1 },
		{ OPEN("ConvolutionForward")
			  X W CONV_OF("CROSS_CORRELATION (1)", "FLOAT (0)", "DEFAULT_MATH (0)",
				      "1,1", "0,2", "1,1", "1") Y CLOSE,
		  0, 1 },
		{ OPEN("ConvolutionForward")
			  X W CONV_OF("CROSS_CORRELATION (1)", "FLOAT (0)", "DEFAULT_MATH (0)",
				      "-1,1", "2,2", "1,1", "1") Y CLOSE,
		  0, 1 },
		/* cut inside of the tree */
		{ OPEN("PoolingForward") HANDLE
		  "i!     xDesc: type=cudnnTensorDescriptor_t:\n" TYPE(
			  "FLOAT (0)") "i!         dimA: type=int; val=[1,2",
		  1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if (l.n.records != 0 || (int)l.n.torn != cases[i].torn ||
		    (int)l.n.bad != cases[i].bad)
			ROW_FAIL(i, "%d torn, %d bad: %s", (int)l.n.torn, (int)l.n.bad,
				 l.n.bad_text);
	}
}

/* A warning's lines are information; cuBLAS calls of cuDNN count within it. */
TEST(mixed_with_cublas)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"W! CuDNN (v8600) function cudnnConvolutionForward() called:\n"
		"w!         Warning: CUDNN_STATUS_NOT_SUPPORTED\n" FORWARD(
			"1") "I! cuBLAS (v11.0) function cublasStatus_t "
			     "cublasDestroy_v2(cublasHandle_t) called:\n"
			     "i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0x2d)\n");

	assert_int_equal(l.n.records, 1);
	assert_int_equal(l.n.info, l.n.lines - 1);
}

TEST(mangled)
{
	assert_survives(OPEN("ConvolutionForward") X W CONV Y CLOSE, 3);
	assert_survives(OPEN("PoolingForward") HANDLE X CLOSE, 3);
}
