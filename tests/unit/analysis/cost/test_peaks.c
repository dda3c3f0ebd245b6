/* Peaks: of makers' data sheets, of files, of lib peak; precisions by types and names. */
#include "test.h"

#include <math.h>

#include "profrig/cost/element_type.h"
#include "profrig/cost/peaks.h"

TEST(devices_of_recordings)
{
	CLEANUP(peaks_freep) struct peaks *p = peaks_new();
	static const struct {
		const char *device;
		enum precision of;
		bool matrix;
		double tflops, tbps;
	} cases[] = {
		{ "AMD Instinct MI300X VF", PRECISION_BF16, true, 1307.4, 5.3 },
		{ "AMD Instinct MI300X", PRECISION_FP64, true, 163.4, 5.3 },
		{ "AMD Instinct MI300X", PRECISION_FP64, false, 81.7, 5.3 },
		{ "AMD Instinct MI300X", PRECISION_TF32, true, 653.7, 5.3 },
		{ "AMD Instinct MI300X", PRECISION_FP8, true, 2614.9, 5.3 },
		{ "AMD Instinct MI300X", PRECISION_FP16, true, 1307.4, 5.3 },
		{ "AMD Instinct MI300X", PRECISION_FP32, true, 163.4, 5.3 },
		{ "AMD Instinct MI325X", PRECISION_FP16, true, 1307.4, 6.0 },
		{ "AMD Instinct MI250X", PRECISION_FP64, true, 47.9, 1.6 },
		{ "AMD Instinct MI355X", PRECISION_FP8, true, 5033.2, 8.0 },
		{ "NVIDIA H100 80GB HBM3", PRECISION_BF16, true, 989.4, 3.35 },
		{ "NVIDIA H100 80GB HBM3", PRECISION_FP8, true, 1978.9, 3.35 },
		{ "NVIDIA H100 80GB HBM3", PRECISION_TF32, true, 494.7, 3.35 },
		{ "NVIDIA H100 80GB HBM3", PRECISION_FP32, false, 66.9, 3.35 },
		{ "NVIDIA H100 80GB HBM3", PRECISION_FP64, true, 66.9, 3.35 },
		{ "NVIDIA H100 80GB HBM3", PRECISION_FP64, false, 33.5, 3.35 },
		{ "NVIDIA H100 PCIe", PRECISION_BF16, true, NAN, NAN },
		{ "NVIDIA H200", PRECISION_FP64, false, 33.5, 4.8 },
		{ "NVIDIA A100-PG509-200", PRECISION_TF32, true, 156, 2.039 },
		{ "NVIDIA A100-SXM4-80GB", PRECISION_FP32, true, 19.5, 2.039 },
		{ "NVIDIA A100-SXM4-80GB", PRECISION_BF16, true, 312, 2.039 },
		{ "NVIDIA A100-SXM4-80GB", PRECISION_FP64, true, 19.5, 2.039 },
		{ "NVIDIA A100-SXM4-80GB", PRECISION_FP64, false, 9.7, 2.039 },
		{ "Tesla V100-SXM2-32GB", PRECISION_FP16, true, 125, 0.9 },
		{ "Tesla V100-SXM2-32GB", PRECISION_FP32, false, 15.7, 0.9 },
		{ "Tesla V100-SXM2-32GB", PRECISION_FP64, true, 7.8, 0.9 },
		{ "Tesla V100-SXM2-32GB", PRECISION_TF32, true, NAN, 0.9 },
		{ "NVIDIA B200", PRECISION_BF16, true, 2250, 8 },
		{ "AMD Radeon Graphics", PRECISION_FP32, true, NAN, NAN },
		{ "", PRECISION_FP32, true, NAN, NAN },
		{ "AMD Instinct MI300X", PRECISION_UNKNOWN, true, NAN, 5.3 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double tf = peaks_tflops(p, cases[i].device, cases[i].of, cases[i].matrix);
		double tb = peaks_tbps(p, cases[i].device);

		if ((isnan(cases[i].tflops) ? !isnan(tf) : tf != cases[i].tflops) ||
		    (isnan(cases[i].tbps) ? !isnan(tb) : tb != cases[i].tbps))
			ROW_FAIL(i, "%s: %g TFLOP/s, %g TB/s", cases[i].device, tf, tb);
	}
}

TEST(every_peak_has_its_source)
{
	CLEANUP(peaks_freep) struct peaks *p = peaks_new();
	struct peak k;
	size_t n = 0;
	bool reachable = false;

	for (; peaks_at(p, "AMD Instinct MI300X", n, &k); n++) {
		assert_true(*k.source && k.value > 0);
		reachable |= strcmp(k.precision, "bf16") == 0 && k.reachable == 708;
	}
	assert_int_equal(n, 8);
	assert_true(reachable);
}

#define MINE(peaks) \
	"{\"schema\": \"profrig.peaks/1\", \"devices\": [{\"match\": \"MI300X|Mine\", " \
	"\"source\": \"me\", \"peaks\": [" peaks "]}]}"
#define BF16 "{\"precision\": \"bf16\", \"value\": 700, \"unit\": \"TFLOP/s\"}"

static int read_text(struct peaks *p, const char *text, struct err *err)
{
	return peaks_read_text(p, text, strlen(text), "mine.json", err);
}

TEST(a_file_comes_first)
{
	CLEANUP(peaks_freep) struct peaks *p = peaks_new();

	assert_int_equal(read_text(p, MINE(BF16), NULL), 0);
	assert_true(peaks_tflops(p, "AMD Instinct MI300X", PRECISION_BF16, true) == 700);
	assert_true(peaks_tflops(p, "Mine", PRECISION_BF16, true) == 700);
	/* an entry is the whole of a device */
	assert_true(isnan(peaks_tbps(p, "AMD Instinct MI300X")));
	assert_true(peaks_tbps(p, "AMD Instinct MI325X") == 6.0);
}

#define PEAK_CSV(rows) \
	"processor,host,dtype,threads,unit,gflops,gflops_median,gbps,gbps_median,ridge,stores," \
	"array_bytes,units,measured,status,reason\n" rows

TEST(measured_ones_are_the_hosts)
{
	CLEANUP(peaks_freep) struct peaks *p = peaks_new();

	assert_int_equal(read_text(p,
				   PEAK_CSV("cpu,h,f32,1,avx2,100,99,10,9,8,plain,1,avx2,t,ok,\n"
					    "cpu,h,f32,2,avx2,190,99,20,9,8,plain,1,avx2,t,ok,\n"
					    "cpu,h,f64,2,avx2,95,99,20,9,8,plain,1,avx2,t,ok,\n"
					    "cpu,h,f64,4,avx2,999,,,,,,,,t,failed,x\n"),
				   NULL),
			 0);
	assert_true(peaks_tflops(p, "", PRECISION_FP32, true) == 0.19);
	assert_true(peaks_tflops(p, "", PRECISION_FP64, true) == 0.095);
	assert_true(peaks_tbps(p, "") == 0.02);
	assert_true(peaks_tbps(p, "NVIDIA H200") == 4.8);
}

TEST(files_that_are_wrong)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "", "neither JSON nor the table of lib peak" },
		{ "a,b\n1,2\n", "neither JSON nor the table of lib peak" },
		{ PEAK_CSV(""), "it has no measured peaks" },
		{ "{}", "its schema is not" },
		{ "{\"schema\": \"profrig.peaks/1\"}", "it has no devices" },
		{ "{\"schema\": \"profrig.peaks/1\", \"devices\": [{}]}", "has no 'match'" },
		{ MINE(""), "has no peaks" },
		{ MINE("{\"precision\": \"bf16\", \"value\": -1, \"unit\": \"TFLOP/s\"}"),
		  "a value above 0" },
		{ MINE("{\"precision\": \"bf16\", \"value\": 1, \"unit\": \"TB/s\"}"),
		  "the unit of 'bf16' is 'TB/s'" },
		{ MINE("{\"precision\": \"memory\", \"value\": 1, \"unit\": \"TFLOP/s\"}"),
		  "memory has TB/s" },
		{ MINE("{\"precision\": \"bf16\", \"value\": 1, \"unit\": \"TFLOP/s\", "
		       "\"reachable\": \"x\"}"),
		  "'reachable' is no number" },
		{ "{\"schema\": \"profrig.peaks/1\", \"devices\": [{\"match\": \"(\", \"peaks\": "
		  "[" BF16 "]}]}",
		  "match" },
		{ "{\"schema\"", "mine.json" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(peaks_freep) struct peaks *p = peaks_new();
		struct err err = ERR_INIT;

		if (read_text(p, cases[i].text, &err) >= 0 || !strstr(err.msg, cases[i].said))
			ROW_FAIL(i, "%s", err.msg);
		/* the table of profrig is there all the same */
		assert_true(peaks_tbps(p, "AMD Instinct MI325X") == 6.0);
	}
}

TEST(precisions)
{
	static const struct {
		const char *kernel;
		enum precision of;
	} cases[] = {
		{ "ampere_sgemm_32x128_tn", PRECISION_FP32 },
		{ "cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align1", PRECISION_TF32 },
		{ "cutlass_80_simt_sgemm_128x32_8x5_nn_align1", PRECISION_FP32 },
		{ "Cijk_Alik_Bljk_HHS_BH_Bias_AS_SAV_UserArgs_MT16x32x128_MI16x16x1_ISA942",
		  PRECISION_FP16 },
		{ "Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1_ISA90a",
		  PRECISION_FP32 },
		{ "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT128x224x64_MI16x16x1_ISA942",
		  PRECISION_BF16 },
		{ "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x16_wt16x16x4", PRECISION_BF16 },
		{ "void splitKreduce_kernel<32, 16, int, float>", PRECISION_UNKNOWN },
		{ "vectorized_elementwise_kernel", PRECISION_UNKNOWN },
		{ "", PRECISION_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (precision_of_kernel(cases[i].kernel) != cases[i].of)
			ROW_FAIL(i, "%s: %s", cases[i].kernel,
				 precision_name(precision_of_kernel(cases[i].kernel)));
	assert_int_equal(precision_of_type(NULL), PRECISION_UNKNOWN);
	assert_int_equal(precision_of_type(element_type("bf8", 3)), PRECISION_FP8);
	assert_int_equal(precision_of_type(element_type_torch("c10::Half")), PRECISION_FP16);
	assert_int_equal(precision_of_type(element_type_torch("long int")), PRECISION_UNKNOWN);
}
