#include "../../test.h"
#include "peak_crew.h"
#include "peak_loops.h"

#include <math.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "profrig/base/strvec.h"
#include "profrig/bench/bench_peak.h"

#define HEAD BENCH_PEAK_COLUMNS "\n"

static struct bench_peaks peaks(unsigned threads, double f32, double f64, double gbps)
{
	struct bench_peaks p = { .threads = threads,
				 .gbps = gbps,
				 .gbps_median = gbps / 2,
				 .stores = "plain",
				 .array_bytes = 12345,
				 .measured = "2026-01-02T03:04:05.000006Z" };
	struct bench_peak *k = p.of;

	k[0] = (struct bench_peak){ .unit = "x", .gflops = f32, .gflops_median = f32 / 3 };
	k[1] = (struct bench_peak){ .unit = "y", .gflops = f64, .gflops_median = f64 / 3 };
	return p;
}

/* ---- the roofline ---- */

TEST(shares_of_the_roofline)
{
	static const struct {
		const char *key;
		double gflops, want;
	} rows[] = {
		/* 2e9 flops, 12 MB: flops are the limit */
		{ "gemm ta=N tb=N m=1000 n=1000 k=1000 a=f32", 50, 0.5 },
		{ "gemm ta=N tb=N m=1000 n=1000 k=1000 a=f64", 50, 1 },
		{ "gemm ta=N tb=N m=1000 n=1000 k=1000 a=f64", 1. / 60, 0.0003333 },
		/* of complex types 8e9 real flops */
		{ "gemm ta=N tb=N m=1000 n=1000 k=1000 a=f32c", 25, 0.25 },
		{ "gemm ta=N tb=N m=1000 n=1000 k=1000 a=f64c", 25, 0.5 },
		/* 2n flops, 12n bytes: 10 GB/s allow 1.667 GFLOP/s */
		{ "axpy n=1000 type=f32", 1, 0.6 },
		{ "axpy n=1000 type=f64", 1, 1.2 },
		{ "dot n=1000 type=f32", 5, 2 },
		{ "axpy n=1000 type=f32", NAN, NAN },
	};
	const struct bench_peaks p = peaks(1, 100, 50, 10);
	struct bench_peaks no_memory = p, no_flops = p;
	struct bench_work work;

	no_memory.gbps = NAN;
	no_flops.of[0].gflops = NAN;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double got;

		assert_int_equal(bench_work(rows[i].key, &work, NULL), 0);
		got = bench_peak_share(&p, &work, rows[i].gflops);
		if (!(isnan(got) && isnan(rows[i].want)) && got != rows[i].want)
			ROW_FAIL(i, "%s: %.17g, not %g", rows[i].key, got, rows[i].want);
		assert_true(isnan(bench_peak_share(NULL, &work, rows[i].gflops)));
		assert_true(isnan(bench_peak_share(&no_memory, &work, rows[i].gflops)));
	}
	assert_int_equal(bench_work(rows[0].key, &work, NULL), 0);
	assert_true(isnan(bench_peak_share(&no_flops, &work, 50)));
	assert_true(bench_peak_ridge(&p, BENCH_F32) == 10);
	assert_true(bench_peak_ridge(&p, BENCH_F64C) == 5);
}

/* ---- the store ---- */

static bool found(const char *file, unsigned threads, struct bench_peaks *ret, size_t said)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	bool is = bench_peaks_find(file, threads, ret, &words);

	if (words.nr != said)
		fail_msg("%zu problems: %s", words.nr, words.nr ? words.v[0] : "");
	return is;
}

static void keep(const char *file, const struct bench_peaks *p, size_t said)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	bench_peaks_keep(file, p, &words);
	if (words.nr != said)
		fail_msg("%zu problems: %s", words.nr, words.nr ? words.v[0] : "");
}

static size_t lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void assert_same(const struct bench_peaks *a, const struct bench_peaks *b)
{
	assert_int_equal(a->threads, b->threads);
	assert_true(a->gbps == b->gbps && a->gbps_median == b->gbps_median);
	assert_string_equal(a->stores, b->stores);
	assert_string_equal(a->measured, b->measured);
	assert_int_equal(a->array_bytes, b->array_bytes);
	for (int t = 0; t < BENCH_PEAK_TYPES; t++) {
		assert_int_equal(a->of[t].status, b->of[t].status);
		assert_string_equal(a->of[t].unit, b->of[t].unit);
		assert_string_equal(a->of[t].reason, b->of[t].reason);
		assert_true(a->of[t].gflops == b->of[t].gflops);
		assert_true(a->of[t].gflops_median == b->of[t].gflops_median);
	}
}

TEST_IN(stores_and_finds, dir)
{
	const char *file = in_dir(dir, "peaks.csv");
	struct bench_peaks one = peaks(1, 0.1, 1e11, 1. / 3), two = peaks(2, 7, 8, 9), p;
	CLEANUP(xfreep) char *text = NULL;

	assert_false(found(file, 1, &p, 0));
	keep(file, &one, 0);
	assert_true(found(file, 1, &p, 0));
	assert_same(&p, &one);
	assert_false(found(file, 2, &p, 0));
	snprintf(two.of[1].reason, sizeof(two.of[1].reason), "%s", "=x, \"y\"");
	keep(file, &two, 0);
	snprintf(one.measured, sizeof(one.measured), "%s", "2027-01-02T03:04:05.000006Z");
	one.gbps = 77;
	keep(file, &one, 0);
	assert_true(found(file, 1, &p, 0));
	assert_same(&p, &one);
	assert_true(found(file, 2, &p, 0));
	assert_string_equal(p.of[1].reason, "'=x, \"y\"");
	text = test_get(dir, "peaks.csv");
	assert_int_equal(lines(text), 5);
	one.of[0].status = BENCH_CRASHED;
	one.gbps = 78;
	keep(file, &one, 0);
	assert_true(found(file, 1, &p, 0));
	assert_true(p.gbps == 77);
}

/* text, with each `from` in it replaced; owned. */
static char *replaced(const char *text, const char *from, const char *to)
{
	struct strbuf sb = STRBUF_INIT;

	for (const char *at; (at = strstr(text, from)) != NULL; text = at + strlen(from)) {
		strbuf_add(&sb, text, (size_t)(at - text));
		strbuf_addstr(&sb, to);
	}
	strbuf_addstr(&sb, text);
	return strbuf_steal(&sb);
}

TEST_IN(rows_of_other_machines_stay, dir)
{
	const char *file = in_dir(dir, "peaks.csv");
	CLEANUP(xfreep) char *processor = bench_peaks_processor(), *host = bench_peaks_host();
	struct bench_peaks one = peaks(1, 1, 2, 3), p;
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	CLEANUP(xfreep) char *text = NULL;

	peak_units_names(&names);
	keep(file, &one, 0);
	text = test_get(dir, "peaks.csv");
	for (int i = 0; i < 3; i++) {
		char *of = i == 0 ? textf("%s,%s,", processor, host) : names.buf;
		CLEANUP(xfreep)
		char *other = replaced(text, i == 2 ? ",2026-" : of,
				       i == 0   ? textf("%s,another,", processor)
				       : i == 1 ? "mmx"
						: ",2026-");
		CLEANUP(xfreep) char *now = NULL;

		test_put(dir, "peaks.csv", other);
		assert_int_equal(found(file, 1, &p, 0), i == 2);
		keep(file, &one, 0);
		assert_true(found(file, 1, &p, 0));
		now = test_get(dir, "peaks.csv");
		assert_int_equal(lines(now), i == 2 ? 3 : 5);
	}
}

TEST_IN(cut_at_every_byte, dir)
{
	const char *file = in_dir(dir, "peaks.csv");
	struct bench_peaks one = peaks(1, 1.5, 2.5, 3.5), p;
	CLEANUP(xfreep) char *whole = NULL;
	size_t n;

	keep(file, &one, 0);
	whole = test_get(dir, "peaks.csv");
	n = strlen(whole);
	for (size_t i = 0; i <= n; i++) {
		CLEANUP(xfreep) char *cut = xstrndup(whole, i);
		CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;

		test_put(dir, "peaks.csv", cut);
		/* only the last line's end, and the empty reason in front of it, may be missing */
		if (bench_peaks_find(file, 1, &p, &said) != (i + 1 >= n))
			ROW_FAIL(i, "of %zu bytes", n);
		if (i + 1 >= n)
			assert_same(&p, &one);
	}
	keep(file, &one, 0);
	assert_true(found(file, 1, &p, 0));
}

TEST_IN(damaged_stores, dir)
{
	const char *file = in_dir(dir, "peaks.csv");
	struct bench_peaks one = peaks(1, 1.5, 2.5, 3.5), p;
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ ",1.5,", ",nan," },
		{ ",1.5,", ",inf," },
		{ ",1.5,", ",-1.5," },
		{ ",1.5,", ",0," },
		{ ",1.5,", ",1e300," },
		{ ",1.5,", ",1.5x," },
		{ ",1.5,", ",," },
		{ ",f32,1,", ",f32,0," },
		{ ",f32,1,", ",f32,-1," },
		{ ",f32,1,", ",f32,99999999999999999999," },
		{ ",f32,", ",f16," },
		{ ",x,", ",a unit that is too long," },
		{ ",x,", ",\"x\nx\"," },
		{ ",x,", ",\x1b[2J," },
		{ ",plain,", ",,plain," },
		{ ",12345,", ",-12345," },
		{ ",ok,", ",crashed," },
		{ ",ok,", ",ok,\"" },
		{ "processor,", "something," },
		{ HEAD, "" },
	};
	CLEANUP(xfreep) char *whole = NULL;

	keep(file, &one, 0);
	whole = test_get(dir, "peaks.csv");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *text = replaced(whole, rows[i].from, rows[i].to);
		CLEANUP(xfreep) char *now = NULL;

		assert_string_not_equal(text, whole);
		test_put(dir, "peaks.csv", text);
		if (found(file, 1, &p, 1))
			ROW_FAIL(i, "'%s' is taken for '%s'", rows[i].to, rows[i].from);
		keep(file, &one, 0);
		now = test_get(dir, "peaks.csv");
		assert_string_equal(now, whole);
	}
	assert_int_equal(truncate(file, (off_t)3 << 20), 0);
	assert_false(found(file, 1, &p, 1));
	keep(file, &one, 0);
	assert_true(found(file, 1, &p, 0));
}

/* What others may put in its place is neither followed nor waited for. */
TEST_IN(no_links, dir)
{
	const char *file = in_dir(dir, "peaks.csv"), *other = in_dir(dir, "other/theirs.csv");
	struct bench_peaks one = peaks(1, 1, 2, 3), p;

	for (int i = 0; i < 3; i++) {
		CLEANUP(xfreep) char *theirs = NULL;

		keep(file, &one, 0);
		theirs = test_get(dir, "peaks.csv");
		test_put(dir, "other/theirs.csv", theirs);
		unlink(file);
		assert_int_equal(i == 0   ? symlink(other, file)
				 : i == 1 ? link(other, file)
					  : mkfifo(file, 0600),
				 0);
		assert_false(found(file, 1, &p, 1));
		one.gbps = i + 4;
		keep(file, &one, 0);
		assert_true(found(file, 1, &p, 0));
		assert_true(p.gbps == i + 4);
		{
			CLEANUP(xfreep) char *still = test_get(dir, "other/theirs.csv");

			assert_string_equal(still, theirs);
		}
	}
	unlink(file);
	assert_int_equal(mkdir(file, 0700), 0);
	assert_false(found(file, 1, &p, 1));
	keep(file, &one, 1);
}

static void file_is(const char *want, const char *words)
{
	struct err err = ERR_INIT;
	CLEANUP(xfreep) char *file = bench_peaks_file(&err);

	if (want) {
		assert_non_null(file);
		assert_string_equal(file, want);
	} else {
		assert_null(file);
		assert_has(err.msg, words);
	}
}

TEST_IN(the_users_folder, dir)
{
	const char *was_home = kept(xstrdup_null(getenv("HOME")));
	const char *was_xdg = kept(xstrdup_null(getenv("XDG_CACHE_HOME")));
	const char *mine = in_dir(dir, "cache/profrig");

	setenv("HOME", dir, 1);
	setenv("XDG_CACHE_HOME", in_dir(dir, "cache"), 1);
	file_is(in_dir(dir, "cache/profrig/peaks.csv"), "");
	assert_true(fs_is_dir(mine));
	chmod(mine, 0777);
	file_is(NULL, "is not a folder of this user alone");
	assert_int_equal(rmdir(mine), 0);
	mkdir(in_dir(dir, "elsewhere"), 0700);
	assert_int_equal(symlink(in_dir(dir, "elsewhere"), mine), 0);
	file_is(NULL, "is not a folder of this user alone");
	setenv("XDG_CACHE_HOME", "relative", 1);
	file_is(in_dir(dir, ".cache/profrig/peaks.csv"), "");
	setenv("XDG_CACHE_HOME", "/proc/none", 1);
	file_is(NULL, "cannot make directory");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	file_is(NULL, "neither XDG_CACHE_HOME nor HOME");
	if (geteuid() == 0) {
		/* sudo leaves HOME as it is */
		mkdir(in_dir(dir, "home"), 0755);
		assert_int_equal(chown(in_dir(dir, "home"), 1234, 1234), 0);
		setenv("HOME", in_dir(dir, "home"), 1);
		file_is(NULL, "belongs to another user");
		assert_false(fs_exists(in_dir(dir, "home/.cache")));
	}
	was_home ? setenv("HOME", was_home, 1) : unsetenv("HOME");
	was_xdg ? setenv("XDG_CACHE_HOME", was_xdg, 1) : unsetenv("XDG_CACHE_HOME");
}

/* ---- the child, as stand-ins ---- */

#define STAND_IN "#!/bin/bash\nprintf 'hello\\t0\\t1\\tpeak\\tx\\n' >&$2\n"
#define EACH_LINE "while IFS= read -r -u $2 line; do case $line in\n"
#define ENDS "esac; done\n"
#define FIGURES \
	"fma*f32*) printf 'ok\\t5\\t4\\n' >&$2 ;;\n" \
	"fma*f64*) printf 'ok\\t3\\t2\\n' >&$2 ;;\n" \
	"triad*) printf 'ok\\t7\\t6\\tplain\\t99\\n' >&$2 ;;\n"

static struct bench_peaks measured_by(const char *dir, const char *script)
{
	struct bench_peak_opts o = BENCH_PEAK_OPTS_INIT;
	struct err err = ERR_INIT;
	struct bench_peaks p;

	test_put(dir, "stand-in", script);
	chmod(in_dir(dir, "stand-in"), 0755);
	o.program = in_dir(dir, "stand-in");
	o.timeout_s = 2;
	if (bench_peaks_measure(&o, &p, &err) < 0)
		fail_msg("%s", err.msg);
	return p;
}

TEST_IN(takes_what_the_child_says, dir)
{
	struct bench_peaks p = measured_by(dir, STAND_IN EACH_LINE FIGURES ENDS);

	assert_true(bench_peaks_ok(&p));
	assert_true(p.of[0].gflops == 5 && p.of[0].gflops_median == 4);
	assert_true(p.of[1].gflops == 3 && p.of[1].gflops_median == 2);
	assert_true(p.gbps == 7 && p.gbps_median == 6);
	assert_string_equal(p.stores, "plain");
	assert_int_equal(p.array_bytes, 99);
	assert_int_equal(strlen(p.measured), 27);
}

TEST_IN(a_child_that_fails, dir)
{
	static const struct {
		const char *script;
		enum bench_status status;
		const char *reason;
	} rows[] = {
		{ "#!/bin/bash\nkill -SEGV $$\n", BENCH_CRASHED, "SIGSEGV" },
		{ "#!/bin/bash\nexit 3\n", BENCH_CRASHED, "status 3" },
		{ STAND_IN EACH_LINE "*) echo help >&2; kill -ILL $$ ;;\n" ENDS, BENCH_CRASHED,
		  "SIGILL; it said: help" },
		{ STAND_IN EACH_LINE "*) sleep 60 ;;\n" ENDS, BENCH_TIMEOUT, "no answer" },
		{ STAND_IN EACH_LINE "*) echo nonsense >&$2 ;;\n" ENDS, BENCH_FAILED, "is none" },
		{ STAND_IN EACH_LINE "*) printf 'ok\\t1\\t2\\n' >&$2 ;;\n" ENDS, BENCH_FAILED,
		  "is none" },
		{ STAND_IN EACH_LINE "*) printf 'ok\\tinf\\tnan\\n' >&$2 ;;\n" ENDS, BENCH_FAILED,
		  "is none" },
		{ STAND_IN EACH_LINE "*) printf 'ok\\n' >&$2 ;;\n" ENDS, BENCH_FAILED, "is none" },
		{ STAND_IN EACH_LINE "*) printf 'no\\tskipped\\tfull\\n' >&$2 ;;\n" ENDS,
		  BENCH_SKIPPED, "full" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bench_peaks p = measured_by(dir, rows[i].script);

		assert_false(bench_peaks_ok(&p));
		for (int t = 0; t < BENCH_PEAK_TYPES; t++) {
			if (p.of[t].status != rows[i].status ||
			    !strstr(p.of[t].reason, rows[i].reason))
				ROW_FAIL(i, "%s: %s", bench_status_name(p.of[t].status),
					 p.of[t].reason);
			assert_true(isnan(p.of[t].gflops));
		}
		assert_true(isnan(p.gbps));
	}
}

TEST_IN(one_loop_that_crashes, dir)
{
	struct bench_peaks p =
		measured_by(dir, STAND_IN EACH_LINE "triad*) kill -BUS $$ ;;\n" FIGURES ENDS);
	const struct peak_unit *units[PEAK_UNITS_TRIED];

	assert_int_equal(p.of[0].status, BENCH_CRASHED);
	assert_string_equal(p.of[0].reason, "triad: SIGBUS");
	assert_true(p.of[0].gflops == 5 && isnan(p.gbps));
	p = measured_by(dir, STAND_IN EACH_LINE "fma*f32*) kill -ILL $$ ;;\n" FIGURES ENDS);
	assert_int_equal(p.of[0].status, BENCH_CRASHED);
	assert_int_equal(p.of[1].status, BENCH_OK);
	assert_true(p.of[1].gflops == 3 && p.gbps == 7);
	if (peak_units_choose(units) < 2)
		return;
	/* one unit of two: the other one counts, and is noted */
	p = measured_by(dir, textf(STAND_IN EACH_LINE "*%s) kill -ILL $$ ;;\n" FIGURES ENDS,
				   units[1]->name));
	assert_true(bench_peaks_ok(&p));
	assert_string_equal(p.of[0].unit, units[0]->name);
	assert_string_equal(p.of[0].reason, textf("%s: SIGILL", units[1]->name));
}

TEST(more_threads_than_processors)
{
	struct bench_peak_opts o = BENCH_PEAK_OPTS_INIT;
	struct bench_peaks p;

	o.threads = 1 << 20;
	assert_int_equal(bench_peaks_measure(&o, &p, NULL), -ERANGE);
}

/* ---- the loops ---- */

/* Each accumulator goes to 1, so that their sum tells how many there are: half of the flops. */
TEST(loops_do_the_flops_that_are_counted)
{
	for (const struct peak_unit *u = peak_units; u->name; u++)
		for (int t = 0; u->there() && t < BENCH_PEAK_TYPES; t++) {
			double sum = u->of[t].loop(10000);

			if (fabs(sum * 2 / u->of[t].flops - 1) > 1e-3)
				fail_msg("%s: %g for %u", u->name, sum, u->of[t].flops);
			assert_true(u->of[t].loop(1) < sum * 12);
			assert_true(fabs(u->of[t].loop(1) - sum) > 1);
		}
}

TEST(triads_are_right)
{
	enum { N = 64 };
	static double a[N + PEAK_TRIAD_STEP] __attribute__((aligned(64)));
	static double b[N] __attribute__((aligned(64))), c[N] __attribute__((aligned(64)));

	for (int i = 0; i < N; i++) {
		b[i] = i;
		c[i] = 1000 * i + 1;
	}
	for (const struct peak_triad *k = peak_triads; k->stores; k++) {
		for (int i = 0; i < (int)ARRAY_LEN(a); i++)
			a[i] = -1;
		k->run(a, b, c, 3, N);
		for (int i = 0; i < (int)ARRAY_LEN(a); i++)
			assert_true(a[i] == (i < N ? b[i] + 3 * c[i] : -1));
	}
}

struct parts {
	atomic_uint calls[2];
	atomic_ullong size;
};

static void part_count(const void *ctx, unsigned me, unsigned of, uint64_t size)
{
	struct parts *p = (struct parts *)(uintptr_t)ctx;

	assert_true(me < of && of <= 2);
	atomic_fetch_add(&p->calls[me], 1);
	atomic_store(&p->size, size);
}

TEST(crews_work_in_blocks)
{
	struct parts p = { 0 };
	struct crew_work w = { .part = part_count, .ctx = &p, .size = 5, .blocks_min = 7 };
	unsigned most = bench_peaks_processors() < 2 ? 1 : 2;
	struct crew_rates rates = { 0 };

	w.blocks_max = 7;
	for (unsigned n = 1; n <= most; n++) {
		assert_int_equal(crew_run(n, &w, &rates, NULL), 0);
		assert_int_equal(atomic_load(&p.calls[0]), 7 * n);
		assert_int_equal(atomic_load(&p.size), 5);
		assert_true(rates.median > 0 && rates.best >= rates.median);
	}
	assert_int_equal(atomic_load(&p.calls[1]), most == 2 ? 7 : 0);
	/* a block is to take longer than these do: they grow */
	w.block_s = 1e-3;
	w.warm_s = 5e-3;
	assert_int_equal(crew_run(1, &w, &rates, NULL), 0);
	assert_true(atomic_load(&p.size) > 100);
	assert_int_equal(crew_run(1 << 20, &w, &rates, NULL), -ERANGE);
}
