#include "conf_test.h"
#include "results_priv.h"
#include "run_oom.h"

#include <math.h>

#include "profrig/config/results.h"
#include "profrig/run/run.h"

/* --- rules --- */

TEST(test_steady)
{
	static const struct {
		const char *text;
		size_t n, skip;
		int r;
	} rows[] = {
		{ "0", 5, 0, 0 },          { "3", 5, 3, 0 },        { "9", 5, 5, 0 },
		{ "10%", 10, 1, 0 },       { "50%", 5, 2, 0 },      { "99.9%", 10, 9, 0 },
		{ "100%", 1, 0, -EINVAL }, { "-1", 1, 0, -EINVAL }, { "1.5", 1, 0, -EINVAL },
		{ "%", 1, 0, -EINVAL },    { "", 1, 0, -EINVAL },   { "nan", 1, 0, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct results_conf rc;
		int r;

		results_conf_init(&rc);
		r = results_steady_parse(rows[i].text, &rc.steady, &rc.steady_share);
		if (r != rows[i].r)
			ROW_FAIL(i, "'%s' gave %d", rows[i].text, r);
		if (r == 0 && results_steady_skip(&rc, rows[i].n) != rows[i].skip)
			ROW_FAIL(i, "'%s' of %zu skips %zu", rows[i].text, rows[i].n,
				 results_steady_skip(&rc, rows[i].n));
	}
}

TEST(test_merge_rule)
{
	static const struct {
		const char *name, *unit;
		enum results_merge want;
	} rows[] =
		LIST({ "throughput", "", MERGE_SUM }, { "performance", "samples/s", MERGE_SUM },
		     { "tokens_per_second", "tokens_per_second", MERGE_SUM },
		     { "performance", "samples_per_second", MERGE_SUM },
		     { "requests", "count", MERGE_SUM }, { "latency", "", MERGE_MEAN },
		     { "p99_latency", "ms", MERGE_MEAN }, { "performance", "ms", MERGE_MEAN },
		     { "val_loss", "", MERGE_MEAN }, { "accuracy", "%", MERGE_MEAN },
		     { "time_to_first_token", "", MERGE_MEAN }, { "peak_memory", "GiB", MERGE_MAX },
		     { "memory", "", MERGE_MAX }, { "memory_bandwidth", "GB/s", MERGE_SUM },
		     { "what", "an unknown unit", MERGE_SUM });
	static const double v[] = { 1, 5, 3 };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (results_merge_of(rows[i].name, rows[i].unit) != rows[i].want)
			ROW_FAIL(i, "%s [%s] gave %d", rows[i].name, rows[i].unit,
				 (int)results_merge_of(rows[i].name, rows[i].unit));
	assert_true(results_merge(MERGE_SUM, v, 3) == 9);
	assert_true(results_merge(MERGE_MEAN, v, 3) == 3);
	assert_true(results_merge(MERGE_MAX, v, 3) == 5);
	assert_true(isnan(results_merge(MERGE_MAX, v, 0)));
}

/* --- values --- */

static struct picked picked_of(const struct sandbox *sb, const char *text, struct results_conf *rc,
			       struct values *vs)
{
	struct err err = ERR_INIT;

	sandbox_write(sb, "out", text);
	values_release(vs);
	if (values_read(in_dir(sb->dir, "out"), rc, vs, &err) < 0)
		fail_msg("%s", err.msg);
	return values_pick(vs, 0, rc);
}

#define FOUR "performance: 4 x\nperformance: 1 x\nperformance: 3 x\nperformance: 2 x\n"

TEST(test_pick)
{
	static const struct {
		const char *text, *steady;
		enum results_pick pick;
		double want; /* NAN none */
		uint64_t line;
	} rows[] = {
		{ FOUR, "0", PICK_LAST, 2, 4 },
		{ FOUR, "0", PICK_FIRST, 4, 1 },
		{ FOUR, "0", PICK_MEDIAN, 2.5, 0 },
		{ FOUR, "0", PICK_MEAN, 2.5, 0 },
		{ FOUR, "0", PICK_MAX, 4, 1 },
		{ FOUR, "0", PICK_MIN, 1, 2 },
		{ FOUR, "1", PICK_FIRST, 1, 2 },
		{ FOUR, "1", PICK_MEDIAN, 2, 4 },
		{ FOUR, "50%", PICK_MAX, 3, 3 },
		{ FOUR, "4", PICK_LAST, NAN, 0 },
		{ "performance: 1 x\nperformance: nan x\n", "0", PICK_LAST, NAN, 0 },
		{ "performance: nan x\nperformance: 7 x\n", "0", PICK_MEAN, 7, 0 },
		{ "performance: nan x\nperformance: 7 x\n", "0", PICK_LAST, 7, 2 },
		{ "performance: 1 x\nperformance: 9 y\n", "0", PICK_MEAN, 9, 0 },
	};
	CLEANUP(sandbox_release) struct sandbox sb;
	struct values vs;

	sandbox_init(&sb);
	values_init(&vs);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct results_conf rc;
		struct picked p;

		results_conf_init(&rc);
		rc.pick = rows[i].pick;
		results_steady_parse(rows[i].steady, &rc.steady, &rc.steady_share);
		p = picked_of(&sb, rows[i].text, &rc, &vs);
		if (isnan(rows[i].want) ? !isnan(p.value) || !*p.why
					: p.value != rows[i].want || p.line != rows[i].line)
			ROW_FAIL(i, "%g in line %llu: %s", p.value, (unsigned long long)p.line,
				 p.why);
	}
	values_release(&vs);
}

TEST(test_pattern)
{
	struct results_conf rc;
	CLEANUP(sandbox_release) struct sandbox sb;
	struct values vs;
	struct picked p;

	sandbox_init(&sb);
	values_init(&vs);
	results_conf_init(&rc);
	rc.pattern = xstrdup("(?<name>\\w+)\\s*=\\s*(?<value>\\S+) *(?<unit>\\S*)");
	/* \s of a pattern does not reach into the next line. */
	p = picked_of(&sb,
		      "tok = 1,500 tok/s ttft=0.2 s\ntok =\n9 x\ntok = 2000 tok/s\nbad = abc y",
		      &rc, &vs);
	assert_int_equal(vs.names.nr, 2);
	assert_string_equal(vs.names.v[0], "tok");
	assert_true(p.value == 2000);
	assert_int_equal(p.matches, 2);
	assert_int_equal(p.line, 4);
	assert_true(values_pick(&vs, 1, &rc).value == 0.2);
	assert_int_equal(vs.grouped, 1);
	assert_int_equal(vs.odd, 1);
	assert_int_equal(vs.odd_line, 5);
	assert_string_equal(vs.odd_text, "abc");
	free(rc.pattern);
	/* One that takes for ever is given up, and said. */
	rc.pattern = xstrdup("(?<value>(a+)+)$");
	picked_of(&sb,
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
		  &rc, &vs);
	assert_int_equal(vs.given_up, 1);
	results_conf_release(&rc);
	values_release(&vs);
}

/* --- rows --- */

static int rows_of(const struct sandbox *sb, const char *name, const char *text,
		   struct result_rows *rr)
{
	sandbox_write(sb, name, text);
	return result_rows_read(in_dir(sb->dir, name), rr);
}

TEST(test_rows)
{
	struct result_rows rr = { .problems = STRVEC_INIT };
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	assert_int_equal(rows_of(&sb, "r.csv",
				 " model , performance,metric ,batch\n a , 1.5 , x/s, 8\n"
				 "b,,ms,9\nc,1\nd,7,ms,\n",
				 &rr),
			 0);
	assert_int_equal(rr.v.nr, 3);
	assert_string_equal(rr.v.v[0].model, "a");
	assert_true(rr.v.v[0].value == 1.5);
	assert_string_equal(rr.v.v[0].metric, "x/s");
	assert_string_equal(rr.v.v[0].cells.v[0].name, "batch");
	assert_string_equal(rr.v.v[0].cells.v[0].text, "8");
	assert_true(isnan(rr.v.v[1].value));
	assert_int_equal(rr.problems.nr, 2);
	assert_string_equal(rr.problems.v[0], "r.csv:3: performance is '', which is no number");
	assert_string_equal(rr.problems.v[1], "r.csv:4: 2 fields where the header has 4");
	result_rows_release(&rr);
}

TEST(test_rows_refused)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "model,performance\na,1\n", "r.csv:1: no column 'metric'" },
		{ "model,performance,metric,metric\na,1,x,y\n", "more than one column 'metric'" },
		{ "", "the file is empty" },
		{ "model,performance,metric\n", "no row" },
		{ "model,performance,metric\na,1,\"x\n", "r.csv:2" },
	};
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct result_rows rr = { .problems = STRVEC_INIT };

		if (rows_of(&sb, "r.csv", rows[i].text, &rr) != -EINVAL || !rr.problems.nr ||
		    !strstr(rr.problems.v[0], rows[i].why))
			ROW_FAIL(i, "%s", rr.problems.nr ? rr.problems.v[0] : "nothing said");
		result_rows_release(&rr);
	}
}

/* Of four ranks: a rate adds up, a latency is averaged, of memory the most counts. */
TEST(test_rows_of_ranks)
{
	struct result_rows rr = { .problems = STRVEC_INIT };
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	for (int rank = 0; rank < 4; rank++) {
		CLEANUP(xfreep)
		char *text = xasprintf("model,performance,metric\nm,%d,samples/s\nm,%d,latency_ms\n"
				       "m,%d,memory_GiB\n",
				       100 + rank, 10 + rank, 20 + rank);

		assert_int_equal(rows_of(&sb, textf("r%d.csv", rank), text, &rr), 0);
	}
	result_rows_merge(&rr);
	assert_int_equal(rr.v.nr, 3);
	assert_true(rr.v.v[0].value == 406);
	assert_true(rr.v.v[1].value == 11.5);
	assert_true(rr.v.v[2].value == 23);
	assert_int_equal(rr.v.v[0].merged, 4);
	result_rows_release(&rr);
}

/* --- the log --- */

TEST(test_scan)
{
	static const struct {
		const char *line;
		uint64_t found, benign;
	} rows[] = LIST(
		{ "RuntimeError: boom", 1, 0 },
		{ "torch.cuda.OutOfMemoryError: CUDA out of memory", 1, 0 },
		{ "Traceback (most recent call last):", 1, 0 }, { "java.lang.Exception: x", 1, 0 },
		{ "worker failed (exitcode: 1)", 1, 0 }, { "test_a FAILED", 1, 0 },
		{ "FAILED_COUNT=0", 0, 0 }, { "12 passed, 0 FAILED", 0, 0 },
		{ "12 passed, 10 FAILED", 1, 0 }, { "SystemExit: 0", 0, 0 },
		{ "SystemExit: 2", 1, 0 }, { "NotSystemExitAtAll", 0, 0 }, { "all is well", 0, 0 },
		{ "E20251230 12:00:00.1 generateRocpd.cpp:583] RuntimeError: no", 0, 1 },
		{ "W20251230 x simple_timer.cpp:55] FAILED to start", 0, 1 },
		{ "E20251230 tool.cpp:1] Exception: x", 0, 1 }, { "[rocprofv3] FAILED", 0, 1 },
		{ "rpd_tracer: ValueError: x", 0, 1 },
		{ "FutureWarning: RuntimeError: later", 0, 1 },
		{ "quiet (this) RuntimeError: x", 0, 1 }, { "worker 17: ValueError: x", 0, 1 });
	struct results_conf rc;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	results_conf_init(&rc);
	strvec_push(&rc.benign_patterns, "quiet (this)");
	strvec_push(&rc.benign_patterns, "^worker \\d+: Value");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(scan_release) struct scan sc = { .found = 0 };
		struct err err = ERR_INIT;

		sandbox_write(&sb, "log", textf("a\n%s\nb\n", rows[i].line));
		if (scan_file(in_dir(sb.dir, "log"), &rc, &sc, &err) < 0)
			fail_msg("%s", err.msg);
		if (sc.found != rows[i].found || sc.benign != rows[i].benign)
			ROW_FAIL(i, "'%s': found %llu, benign %llu", rows[i].line,
				 (unsigned long long)sc.found, (unsigned long long)sc.benign);
		if (sc.found && sc.lines.v[0].line != 2)
			ROW_FAIL(i, "line %llu", (unsigned long long)sc.lines.v[0].line);
	}
	results_conf_release(&rc);
}

TEST(test_scan_own)
{
	CLEANUP(scan_release) struct scan sc = { .found = 0 };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct results_conf rc;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	results_conf_init(&rc);
	rc.has_error_patterns = true;
	strvec_push(&rc.error_patterns, "[bad]");     /* plain text, and no class of letters */
	strvec_push(&rc.error_patterns, "/(x)\\1y/"); /* its own group, also beside others */
	strbuf_addstr(&text, "b a d\nRuntimeError: not asked for\n[bad]\nxxy\n");
	for (int i = 0; i < 400000; i++)
		strbuf_addstr(&text, "nothing here\n");
	strbuf_addstr(&text, "[bad] at the end, without its line's end");
	sandbox_write(&sb, "log", text.buf);
	assert_int_equal(scan_file(in_dir(sb.dir, "log"), &rc, &sc, NULL), 0);
	assert_int_equal(sc.found, 3);
	assert_int_equal(sc.lines.v[0].line, 3);
	assert_int_equal(sc.lines.v[1].line, 4);
	assert_int_equal(sc.lines.v[2].line, 400005);
	results_conf_release(&rc);
}

/* --- the kernel and the GPUs, from trees of files --- */

TEST(test_oom)
{
	static const struct {
		const char *cgroup, *file, *before, *after;
		uint64_t want;
	} rows[] = {
		{ "4:memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.oom_control",
		  "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
		  "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", 3 },
		{ "0::/b/c\n", "sys/fs/cgroup/b/c/memory.events", "oom 1\noom_kill 0\n",
		  "oom 2\noom_kill 1\n", 1 },
		{ "1:cpu:/\n0::/d\n", "sys/fs/cgroup/unified/d/memory.events", "oom_kill 7\n",
		  "oom_kill 7\n", 0 },
		{ "nonsense", "sys/x", "", "oom_kill 9\n", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct oom_watch w;
		CLEANUP(sandbox_release) struct sandbox sb;
		uint64_t group = 99, machine = 99;

		sandbox_init(&sb);
		sandbox_write(&sb, "proc/12/cgroup", rows[i].cgroup);
		sandbox_write(&sb, "proc/vmstat", "nr 1\noom_kill 10\n");
		sandbox_write(&sb, rows[i].file, rows[i].before);
		oom_begin(&w, sb.dir, 12);
		sandbox_write(&sb, "proc/vmstat", "nr 1\noom_kill 14\n");
		sandbox_write(&sb, rows[i].file, rows[i].after);
		oom_end(&w, sb.dir, &group, &machine);
		if (group != rows[i].want || machine != 4)
			ROW_FAIL(i, "%llu of the group, %llu of the machine",
				 (unsigned long long)group, (unsigned long long)machine);
	}
}

TEST(test_gpu_archs)
{
	struct gpu gpus[] = {
		{ .vendor = GPU_AMD, .name = "AMD Instinct MI210", .arch = "gfx90a" },
		{ .vendor = GPU_AMD, .name = "AMD Instinct MI210", .arch = "gfx90a" },
		{ .vendor = GPU_NVIDIA, .name = "NVIDIA A100-SXM4-80GB", .arch = "sm_80" },
	};
	struct devices d = { .gpus = { .v = gpus, .nr = ARRAY_LEN(gpus) } };
	CLEANUP(strvec_release) struct strvec archs = STRVEC_INIT;
	struct runconf rc = { .skip_gpu_arch = STRVEC_INIT };

	run_gpu_archs(&d, &archs);
	assert_int_equal(archs.nr, 2);
	assert_string_equal(archs.v[0], "gfx90a");
	assert_string_equal(archs.v[1], "NVIDIA A100-SXM4-80GB");
	assert_null(run_skip_arch(&rc, &d));
	strvec_push(&rc.skip_gpu_arch, "gfx908");
	strvec_push(&rc.skip_gpu_arch, "A10");
	assert_null(run_skip_arch(&rc, &d));
	strvec_push(&rc.skip_gpu_arch, "a100");
	assert_string_equal(run_skip_arch(&rc, &d), "NVIDIA A100-SXM4-80GB");
	strvec_release(&rc.skip_gpu_arch);
}
