/*
 * make_page DIR SCENARIO: writes DIR/report.html (the page), DIR/plain.html (as PAGE=0 writes it)
 * and DIR/tables/<name>.csv of a report made in code.
 */
#include "fixture.h"
#include "html_private.h"
#include "writers_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

static const char *const tracks[] = { "mlp (4242)", "loader (4251)", NULL };

static const struct fx_call training[] = {
	{ 0, "main", "host", 1, 41000000, 0 },
	{ 1, "load_data", "host", 1, 310000000, 0 },
	{ 2, "read", "io", 96, 205000000, 0 },
	{ 1, "train", "host", 1, 12000000, 0 },
	{ 2, "epoch", "roctx", 3, 9000000, 0 },
	{ 3, "step", "roctx", 300, 46000000, 0 },
	{ 4, "forward", "roctx", 300, 118000000, 0 },
	{ 5, "sgemm_", "blas", 900, 2710000000, 1810000000 },
	{ 5, "relu", "host", 600, 412000000, 90000000 },
	{ 5, "softmax", "host", 300, 268000000, 61000000 },
	{ 4, "backward", "roctx", 300, 131000000, 0 },
	{ 5, "sgemm_", "blas", 1800, 5020000000, 3900000000 },
	{ 5, "sgemv_", "blas", 600, 318000000, 120000000 },
	{ 4, "update", "roctx", 300, 55000000, 0 },
	{ 5, "saxpy_", "blas", 1200, 611000000, 204000000 },
	{ 3, "validate", "roctx", 3, 20000000, 0 },
	{ 4, "forward", "roctx", 30, 9000000, 0 },
	{ 5, "sgemm_", "blas", 90, 251000000, 160000000 },
	{ 1, "save", "host", 1, 96000000, 0 },
};

static const struct fx_kernel kernels[] = {
	{ "gpu0", "Cijk_Ailk_Bljk_SB_MT128x64x16_SN_APM1_AF0EM1_AF1EM1_ASEM1_GRVW4", "gemm", 2790,
	  5870000000 },
	{ "gpu0",
	  "void at::native::vectorized_elementwise_kernel<4, at::native::relu_functor<float>>(int, "
	  "float*)",
	  "elementwise", 600, 614000000 },
	{ "gpu0", "softmax_warp_forward", "reduce", 300, 361000000 },
	{ "gpu0", "CopyHostToDevice", "copy", 96, 402000000 },
	{ "gpu1", "Cijk_Ailk_Bljk_SB_MT128x64x16_SN_APM1_AF0EM1_AF1EM1_ASEM1_GRVW4", "gemm", 1395,
	  3120000000 },
	{ "gpu1", "CopyHostToDevice", "copy", 96, 288000000 },
};

static const struct fx_counter gpu_counters[] = {
	{ "energy.gpu0", "gpu0", "J", "", true, true, 90, 560 },
	{ "power.gpu0", "gpu0", "W", "", false, false, 90, 560 },
	{ "energy.gpu1", "gpu1", "J", "", true, true, 85, 430 },
	{ "power.gpu1", "gpu1", "W", "gap", false, false, 85, 430 },
	{ "busy.gpu0", "gpu0", "%", "", false, false, 0, 100 },
	{ "busy.gpu1", "gpu1", "%", "", false, false, 0, 81 },
	{ "vram_used.gpu0", "gpu0", "bytes", "", false, false, 1.2e9, 4.31e10 },
	{ "vram_used.gpu1", "gpu1", "bytes", "", false, false, 1.2e9, 2.2e10 },
	{ "power.cpu0", "cpu0", "W", "estimated", false, true, 35, 180 },
};

static const struct fx_counter cpu_counters[] = {
	{ "power.cpu0", "cpu0", "W", "estimated", false, true, 20, 65 },
	{ "cpu.proc", "proc", "%", "", false, false, 0, 200 },
	{ "rss.proc", "proc", "bytes", "", false, false, 4.1e6, 2.6e8 },
};

static const char good_run[] =
	"{\"schema\":\"profrig.run/"
	"1\",\"id\":\"20261120T121400Z-mlp-3fa9c1\",\"model\":\"%s\",\"started_utc\":\"2026-11-"
	"20T12:14:00Z\",\"ended_utc\":\"2026-11-20T12:14:16Z\","
	"\"status\":\"%s\",\"reason\":\"%s\",\"phase\":\"done\",\"exit_code\":%d,\"signal\":%s,"
	"\"durations_s\":{\"build\":null,\"pre\":0.41,\"workload\":11.62,\"post\":0.12,\"analyze\":"
	"0.83},\"engine\":\"docker\",\"image\":\"mlp:demo\","
	"\"image_digest\":\"sha256:"
	"5b8bd7d2a6c1f5c7a0c3b9e4a2b1d0f9e8c7b6a5948372615f4e3d2c1b0a9f8e\","
	"\"host\":{\"hostname\":\"node17\",\"cpu\":\"AMD EPYC "
	"9654\",\"cores\":96,\"kernel\":\"6.1.0\"},%s"
	"\"versions\":{\"profrig\":\"0.1.0\",\"docker\":\"24.0.7\"},\"git\":{\"commit\":"
	"\"1df3371\",\"dirty\":false},"
	"\"tools\":[{\"name\":\"blas_trace\",\"version\":\"0.1.0\",\"argv\":[]},{\"name\":\"gpu_"
	"power\",\"version\":\"0.1.0\",\"argv\":[]}],"
	"\"clocks\":[{\"monotonic_ns\":81233900000000,\"realtime_ns\":1795176840000000000,"
	"\"boottime_ns\":81233900000000,\"at\":\"start\"}],"
	"\"steps\":[{\"name\":\"pre-blas_trace\",\"argv\":[\"sh\",\"pre_scripts/"
	"trace.sh\"],\"started_ns\":81233500000000,\"ended_ns\":81233910000000,\"exit_code\":0,"
	"\"signal\":null,"
	"\"out\":\"steps/01-pre-blas_trace.out\",\"err\":\"steps/01-pre-blas_trace.err\"},"
	"{\"name\":\"workload\",\"kind\":\"workload\",\"user_s\":21.9,\"sys_s\":0.81,\"maxrss_"
	"bytes\":261300224,\"argv\":[\"./"
	"run.sh\",\"--epochs\",\"3\"],\"started_ns\":81234150000000,\"ended_ns\":81245770000000,"
	"\"exit_code\":%d,\"signal\":%s,"
	"\"out\":\"steps/02-workload.out\",\"err\":\"steps/02-workload.err\"},"
	"{\"name\":\"post-collect\",\"argv\":[\"sh\",\"post_scripts/"
	"collect.sh\"],\"started_ns\":81245900000000,\"ended_ns\":81246020000000,\"exit_code\":0,"
	"\"signal\":null,"
	"\"out\":\"steps/03-post-collect.out\",\"err\":\"steps/03-post-collect.err\"}],"
	"\"samplers\":[{\"tool\":\"gpu_power\",\"source\":\"amdgpu\",\"path\":\"samples/"
	"amdgpu.csv\",\"estimated\":false,\"rows\":1240,\"failed\":2,\"median_period_ns\":10000000,"
	"\"max_gap_ns\":41000000,\"cpu_s\":0.041,\"reasons\":{\"EAGAIN\":2}}],"
	"\"artifacts\":[{\"tool\":\"blas_trace\",\"path\":\"artifacts/blas_trace/"
	"4242.json\",\"bytes\":1843221,\"sha256\":\"aa\",\"reader\":\"tef\",\"records\":4893,"
	"\"verdict\":\"%s\"}],"
	"\"metrics\":[{\"name\":\"performance\",\"value\":8123.4,\"unit\":\"samples/"
	"s\",\"source\":\"workload\",\"detail\":{\"step\":\"workload\",\"file\":\"steps/"
	"02-workload.out\",\"line\":40,\"pick\":\"last\",\"matches\":12,\"values\":[]}}],"
	"\"warnings\":[]}";

static const char two_gpus[] = "\"devices\":[{\"id\":\"gpu0\",\"name\":\"AMD Instinct "
			       "MI300X\"},{\"id\":\"gpu1\",\"name\":\"AMD Instinct MI300X\"}],";
static const char no_gpus[] = "\"devices\":[],";

static char *analysis_text(const char *inputs, const char *warnings, const char *checks)
{
	return xasprintf("{\"schema\":\"profrig.analysis/"
			 "1\",\"origin_ns\":%lld,\"window\":{\"start_ns\":0,\"end_ns\":%lld},"
			 "\"inputs\":[%s],\"warnings\":[%s],\"tables\":[],"
			 "\"checks\":[%s],\"timings_s\":{\"read\":0.212,\"model\":0.061,"
			 "\"attribute\":0.094,\"stats\":0.031,\"write\":0.02}}",
			 (long long)FX_ORIGIN_NS, (long long)FX_SPAN_NS, inputs, warnings, checks);
}

static const char conserved[] =
	"{\"name\":\"energy_conservation\",\"ok\":true,\"detail\":\"5 totals, worst relative error "
	"1.1e-16\"},{\"name\":\"nesting\",\"ok\":true,\"detail\":\"9786 spans on 2 tracks\"}";
static const char trace_input[] =
	"{\"path\":\"artifacts/blas_trace/4242.json\",\"format\":\"Trace Event Format (profrig "
	"blas)\",\"reader\":\"tef\",\"spans\":9786,\"samples\":0,\"links\":4290,\"tracks\":4,"
	"\"partial\":false}";

#define BENCH(type, m, n, k) \
	"./rocblas-bench -f gemm -r " type " --transposeA N --transposeB N -m " m " -n " n \
	" -k " k " --alpha 1 --lda " m " --ldb " k " --beta 0 --ldc " m "\n"
#define GEMM_64 BENCH("s", "64", "3136", "576")
/* A convolution that is a matrix product of rocBLAS, for each of its two images. */
static const char library_log[] =
	"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 2 -c 64 -H 56 -W 56 "
	"-k 64 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1\n" GEMM_64 GEMM_64
	"epoch 1\n" BENCH("d", "4096", "4096", "4096") BENCH("d", "4096", "4096", "4096")
		BENCH("s", "128", "128", "128");

static void demo(struct report *r)
{
	fx_calls(r, tracks, training, ARRAY_LEN(training));
	fx_kernels(r, kernels, ARRAY_LEN(kernels));
	fx_counters(r, gpu_counters, ARRAY_LEN(gpu_counters));
	fx_functions(r);
	fx_library(r, library_log);
	r->run_json =
		xasprintf(good_run, "mlp", "success", "", 0, "null", two_gpus, 0, "null", "valid");
	r->analysis_json = analysis_text(
		trace_input,
		"{\"code\":\"W_COUNTER_GAP\",\"severity\":\"warning\",\"count\":1,\"text\":\"power."
		"gpu1: 41.0 ms without a sample at 7.21 s\"},"
		"{\"code\":\"W_COUNTER_STALE\",\"severity\":\"warning\",\"count\":12,\"text\":\"12 "
		"samples stale on gpu1\"},"
		"{\"code\":\"W_ESTIMATED\",\"severity\":\"note\",\"count\":1,\"text\":\"power.cpu0 "
		"is estimated from utilisation: 35 W idle, 180 W at full load\"}",
		conserved);
}

/* As `profrig analyze` writes it of a bare trace: no run, one check that does not hold. */
static void trace(struct report *r)
{
	fx_calls(r, tracks, training, ARRAY_LEN(training));
	fx_functions(r);
	r->analysis_json = analysis_text(trace_input, "",
					 "{\"name\":\"energy_conservation\",\"ok\":false,"
					 "\"detail\":\"gpu0: relative error 3.1e-4\"}");
}

static void cpu(struct report *r)
{
	fx_calls(r, (const char *const[]){ tracks[0], NULL }, training, ARRAY_LEN(training));
	fx_counters(r, cpu_counters, ARRAY_LEN(cpu_counters));
	fx_functions(r);
	r->run_json =
		xasprintf(good_run, "mlp", "success", "", 0, "null", no_gpus, 0, "null", "valid");
	r->analysis_json =
		analysis_text(trace_input,
			      "{\"code\":\"W_ESTIMATED\",\"severity\":\"note\",\"count\":1,"
			      "\"text\":\"power.cpu0 is estimated from utilisation\"}",
			      conserved);
}

static void write_steps(const char *run_dir)
{
	CLEANUP(strbuf_release) struct strbuf err = STRBUF_INIT, out = STRBUF_INIT;
	CLEANUP(xfreep) char *steps = fs_join(run_dir, "steps");
	CLEANUP(xfreep)
	char *err_path = fs_join(steps, "02-workload.err"),
	     *out_path = fs_join(steps, "02-workload.out");

	for (int i = 0; i < 3000; i++)
		strbuf_addf(&out, "step %d loss %.4f\n", i, 2.3 / (1 + i * 0.01));
	strbuf_addstr(&err, "loading 10%\rloading 55%\rloading 100%\n\x1b[31mRuntimeError\x1b[0m: "
			    "HIP out of memory </script><b>bold</b>\n");
	strbuf_add(&err, "binary \x01\x02\xff\xfe tail\n", 18);
	strbuf_addstr(&err, "  at train.c:214\n  at main.c:31\n");
	fs_mkdirs(steps, 0755, NULL);
	fs_write_atomic(out_path, out.buf, out.len, NULL);
	fs_write_atomic(err_path, err.buf, err.len, NULL);
}

static void failed(struct report *r)
{
	r->run_dir = fs_join(r->dir, "run");
	write_steps(r->run_dir);
	fx_counters(r, cpu_counters + 1, ARRAY_LEN(cpu_counters) - 1);
	r->run_json = xasprintf(good_run, "mlp", "failed",
				"the workload was killed by SIGABRT after 11.6 s", 1, "\"SIGABRT\"",
				no_gpus, 134, "\"SIGABRT\"", "missing");
	r->analysis_json =
		analysis_text("",
			      "{\"code\":\"W_EMPTY_INPUT\",\"severity\":\"error\",\"count\":1,"
			      "\"text\":\"artifacts/blas_trace: no trace was written\"}",
			      "");
}

static void partial(struct report *r)
{
	demo(r);
	free(r->run_json);
	r->run_json = xasprintf(good_run, "mlp", "partial", "an optional output is damaged", 6,
				"null", two_gpus, 0, "null", "damaged");
}

static void empty(struct report *r)
{
	r->analysis_json = analysis_text("", "", "");
}

/* A run without tools. */
static void untraced(struct report *r)
{
	empty(r);
	r->run_json =
		xasprintf(good_run, "mlp", "success", "", 0, "null", no_gpus, 0, "null", "valid");
}

static void damaged(struct report *r)
{
	r->analysis_json = xstrdup("{\"schema\": \"profrig.analysis/1\", ");
	r->run_json = xstrdup("not json </script><script>alert(1)</script>");
}

#define EVIL "<img src=x onerror=\"document.title='owned'\">"
#define LONG16 "a_very_long_name"
#define LONG256 \
	LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 \
		LONG16 LONG16 LONG16
#define RTL "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd7\xa2\xd7\x95\xd7\x9c\xd7\x9d (gemm)"
#define EMOJI "train \xf0\x9f\x94\xa5\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac"

static void hostile(struct report *r)
{
	static const char *const bad_tracks[] = {
		EVIL, "</script><script>document.title='owned'</script>", NULL
	};
	static const struct fx_call calls[] = {
		{ 0, EVIL, "<b>cat</b>", 7, 1000000000, 0 },
		{ 1, "</script><script>document.title='owned'</script>", "host", 3, 2000000000, 0 },
		{ 1, LONG256 LONG256 LONG256 LONG256, "host", 2, 900000000, 0 },
		{ 1, RTL, "host", 2, 800000000, 0 },
		{ 1, EMOJI, "host", 2, 700000000, 0 },
		{ 1, "", "", 1, 600000000, 0 },
		{ 1, "__proto__", "constructor", 1, 500000000, 0 },
		{ 1, "bad utf-8 \xff\xc3 and \x01 control", "host", 1, 400000000, 0 },
		{ 1, "=cmd|' /C calc'!A0, \"quoted\"", "host", 1, 300000000, 0 },
		{ 1, "<!--", "host", 1, 200000000, 0 },
	};
	static const struct fx_counter c[] = {
		{ "power." EVIL, EVIL, "W", "estimated", false, true, 20, 65 },
		{ "toString", "hasOwnProperty", "<u>", "", false, false, 0, 5 }
	};

	fx_calls(r, bad_tracks, calls, ARRAY_LEN(calls));
	fx_counters(r, c, ARRAY_LEN(c));
	fx_functions(r);
	r->run_json = xasprintf(good_run, "<img src=x onerror=document.title='owned'>", "success",
				"<script>document.title='owned'</script>", 0, "null", no_gpus, 0,
				"null", "valid");
	r->analysis_json =
		analysis_text(trace_input,
			      "{\"code\":\"<i>\",\"severity\":\"<b>\",\"count\":3,\"text\":\"</"
			      "script><script>document.title='owned'</script>\"}",
			      "{\"name\":\"<img src=x "
			      "onerror=document.title=1>\",\"ok\":true,\"detail\":\"<s>x</s>\"}");
}

/* As many warnings as a job of 5000 ranks may have. */
static void big(struct report *r)
{
	CLEANUP(strbuf_release) struct strbuf warnings = STRBUF_INIT;

	for (int i = 0; i < 5000; i++)
		strbuf_addf(&warnings,
			    "%s{\"code\":\"W_OPEN_SPAN\",\"severity\":\"warning\",\"count\":1,"
			    "\"text\":\"rank%d.json: one call has no end\"}",
			    i ? "," : "", i);
	fx_big(r, 230000, 12345);
	r->analysis_json = analysis_text(trace_input, warnings.buf, conserved);
}

/* The energy around a single reading of a counter is not known. */
static void one_reading(struct report *r)
{
	struct table *t = table_new("energy_totals");

	for (size_t c = 0; c < 3; c++)
		table_col(t, (const char *const[]){ "counter", "device", "view" }[c], TABLE_STR,
			  NULL);
	table_col(t, "total_j", TABLE_F64, "J");
	table_col(t, "attributed_j", TABLE_F64, "J");
	table_col(t, "unattributed_j", TABLE_F64, "J");
	table_col(t, "error_rel", TABLE_F64, NULL);
	table_str(t, "energy.gpu0");
	table_str(t, "gpu0");
	table_str(t, "host");
	for (int i = 0; i < 3; i++)
		table_f64(t, NAN);
	table_f64(t, 0);
	table_row(t);
	fx_add(r, t);
}

/* Integers that a JavaScript number cannot hold, and an unknown number. */
static void huge(struct report *r)
{
	static const struct fx_call calls[] = { { 0, "forever", "host",
						  UINT64_C(18446744073709551615),
						  INT64_C(9007199254740993), 0 },
						{ 0, "once", "host", 1, 5, 0 } };

	fx_calls(r, (const char *const[]){ "t", NULL }, calls, ARRAY_LEN(calls));
	fx_functions(r);
	one_reading(r);
	r->analysis_json = analysis_text(trace_input, "", "");
}

static const struct {
	const char *name;
	void (*make)(struct report *r);
} scenarios[] = { { "demo", demo },       { "trace", trace },      { "cpu", cpu },
		  { "failed", failed },   { "partial", partial },  { "empty", empty },
		  { "damaged", damaged }, { "hostile", hostile },  { "big", big },
		  { "huge", huge },       { "untraced", untraced } };

static int write_tables(const struct report *r)
{
	CLEANUP(xfreep) char *dir = fs_join(r->dir, "tables");

	fs_mkdirs(dir, 0755, NULL);
	for (size_t i = 0; i < r->tables.tables.nr; i++) {
		CLEANUP(xfreep)
		char *path = xasprintf("%s/%s.csv", dir, table_name(r->tables.tables.v[i]));
		FILE *f = fopen(path, "we");

		if (!f)
			return -1;
		table_write_csv(r->tables.tables.v[i], f);
		if (fclose(f) != 0)
			return -1;
	}
	return 0;
}

static int write_plain(const struct report *r)
{
	CLEANUP(xfreep) char *path = fs_join(r->dir, "plain.html");
	FILE *f = fopen(path, "we");

	if (!f)
		return -1;
	html_write_plain(r, 200, f);
	return fclose(f);
}

int main(int argc, char **argv)
{
	struct report r = REPORT_INIT;
	struct err err = ERR_INIT;
	size_t i = 0;

	while (argc == 3 && i < ARRAY_LEN(scenarios) && strcmp(scenarios[i].name, argv[2]) != 0)
		i++;
	if (argc != 3 || i == ARRAY_LEN(scenarios)) {
		fprintf(stderr, "usage: make_page DIR SCENARIO\n");
		return 2;
	}
	r.dir = argv[1];
	fs_mkdirs(r.dir, 0755, NULL);
	scenarios[i].make(&r);
	if (writer_html.write(&r, &err) < 0 || write_tables(&r) < 0 || write_plain(&r) < 0) {
		fprintf(stderr, "make_page: %s\n", err.msg);
		return 1;
	}
	for (size_t t = 0; t < r.tables.tables.nr; t++)
		table_free(r.tables.tables.v[t]);
	VEC_RELEASE(&r.tables.tables);
	free(r.run_json);
	free(r.analysis_json);
	free(r.run_dir);
	return 0;
}
