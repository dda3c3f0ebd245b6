/* The scanner itself (library_log.c), by records of rocBLAS. */
#include "library_parser.h"
#include "library_test.h"

#include <time.h>

#include "profrig/base/strbuf.h"

#define GEMM(sizes) "./rocblas-bench -f gemm -r s --transposeA N --transposeB N " sizes
#define SIZES_4 "-m 4 -n 4 -k 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4"
#define SIZES_8 "-m 8 -n 8 -k 8 --alpha 1 --lda 8 --ldb 8 --beta 0 --ldc 8"
#define KEY_4 \
	"gemm ta=N tb=N m=4 n=4 k=4 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=4 ldb=4 ldc=4 ldd=4 " \
	"alpha=1 beta=0"
#define KEY_8 \
	"gemm ta=N tb=N m=8 n=8 k=8 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=8 ldb=8 ldc=8 ldd=8 " \
	"alpha=1 beta=0"

/* calls, doubled, torn, bad, foreign, joined, prefixed of a text */
static const struct {
	const char *text;
	uint64_t records, torn, bad, foreign, joined, prefixed;
} lines[] = {
	{ "", 0, 0, 0, 0, 0, 0 },
	{ "\n\r\n  \n", 0, 0, 0, 3, 0, 0 },
	{ GEMM(SIZES_4) "\n", 1, 0, 0, 0, 0, 0 },
	{ GEMM(SIZES_4) "\r\n", 1, 0, 0, 0, 0, 0 },
	{ "\xef\xbb\xbf" GEMM(SIZES_4) "\n", 1, 0, 0, 0, 0, 0 },
	/* behind a CR, where what is in front of it is known and where it is not */
	{ GEMM(SIZES_4) "\r" GEMM(SIZES_8) "\n", 2, 0, 0, 0, 0, 1 },
	{ GEMM(SIZES_4) "\n" GEMM(SIZES_4) "\r" GEMM(SIZES_8) "\n", 3, 0, 0, 0, 0, 1 },
	/* two records in a line, with a blank between them and without */
	{ GEMM(SIZES_4) " " GEMM(SIZES_8) "\n", 2, 0, 0, 0, 0, 1 },
	{ GEMM(SIZES_4) GEMM(SIZES_8) "\n", 1, 1, 0, 0, 0, 1 },
	{ GEMM(SIZES_4) "\n" GEMM(SIZES_4) GEMM(SIZES_8) "\n", 3, 0, 0, 0, 0, 1 },
	{ GEMM(SIZES_4) GEMM(SIZES_8) "\n" GEMM(SIZES_4) "\n", 3, 0, 0, 0, 0, 1 },
	{ GEMM("-m 4 -n 4") " " GEMM(SIZES_8) "\n", 1, 1, 0, 0, 0, 1 },
	/* progress bars */
	{ " 10%|#         |\r 20%|##        |\r" GEMM(SIZES_4) "\n", 1, 0, 0, 0, 0, 1 },
	{ GEMM(SIZES_4) "\r 30%|###       |\n", 1, 0, 0, 0, 0, 0 },
	{ GEMM(SIZES_4) " \r" GEMM(SIZES_8) "\r\n", 2, 0, 0, 0, 0, 1 },
	{ "epoch 1, loss 0.3" GEMM(SIZES_4) "\n", 1, 0, 0, 0, 0, 1 },
	/* torn, and its end on a later line: a call where the whole is known */
	{ GEMM("-m 4 -n 4 -k 4 --alpha 1 --l") "\nda 4 --ldb 4 --beta 0 --ldc 4\n", 1, 0, 0, 1, 0,
	  0 },
	{ GEMM("-m 4 -n 4 -") "\nk 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4\n", 0, 1, 0, 1, 0,
	  0 },
	{ GEMM("-m 4 -n 4 -") "\nk 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4\n" GEMM(
		  SIZES_4) "\n",
	  2, 0, 0, 0, 1, 0 },
	{ GEMM(SIZES_4) "\n" GEMM("-m 4 -n 4 -") "\nloss 0.3\n\n"
						 "k 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4\n",
	  2, 0, 0, 2, 1, 0 },
	{ GEMM(SIZES_4) "\n" GEMM("-m 4 -n 4 -") "\n\n\n\n\n\n\n\n\n\n"
						 "k 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4\n",
	  1, 1, 0, 10, 0, 0 },
	/* the end of the file: a number may have lost its last digits */
	{ GEMM("-m 4 -n 4 -k 4"), 0, 1, 0, 0, 0, 0 },
	{ GEMM("-m 4 -n 4 -k 4") "\n", 1, 0, 0, 0, 0, 0 },
	{ GEMM("-m 4 -n 4 -k 4 "), 1, 0, 0, 0, 0, 0 },
	{ GEMM(SIZES_4 " -i 1"), 1, 0, 0, 0, 0, 0 },
	{ GEMM(SIZES_4 " --solution_index"), 0, 1, 0, 0, 0, 0 },
	{ GEMM("-m 4 -n 4 -k 4") "\n" GEMM("-m 4 -n 4 -k 4"), 2, 0, 0, 0, 0, 0 },
	{ GEMM("-m 4 -n 4 -k"), 0, 1, 0, 0, 0, 0 },
	/* an example of each kind */
	{ "text\n" GEMM("-m 4 -n 4") "\n" GEMM("-m -4 -n 4 -k 4") "\n" GEMM("-m 4") "\n", 0, 2, 1,
	  1, 0, 0 },
};

TEST(lines_are_counted)
{
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(lines[i].text);
		const struct library_counts *n = &l.n;

		if (n->records != lines[i].records || n->torn != lines[i].torn ||
		    n->bad != lines[i].bad || n->foreign != lines[i].foreign ||
		    n->joined != lines[i].joined || n->prefixed != lines[i].prefixed)
			ROW_FAIL(i,
				 "%" PRIu64 " records, %" PRIu64 " torn, %" PRIu64 " bad, %" PRIu64
				 " foreign, %" PRIu64 " joined, %" PRIu64 " prefixed",
				 n->records, n->torn, n->bad, n->foreign, n->joined, n->prefixed);
		assert_log_is_sane(lines[i].text, strlen(lines[i].text));
	}
}

TEST(examples_of_what_is_no_call)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("\nx\x1b[0m" GEMM("-m 4 -n 4\t\x01") "\n" GEMM("-m 5\n") GEMM(
		"-m -4 -n 4 -k 4") "\n" GEMM("-m 4 -n -4 -k 4") "\n");

	assert_has(l.n.torn_text, "line 2: ./rocblas-bench -f gemm -r s ");
	assert_null(strchr(l.n.torn_text, '\x01'));
	assert_has(l.n.bad_text, "line 4: m=-4 is no size: ./rocblas-bench");
	assert_true(strlen(l.n.bad_text) < sizeof(l.n.bad_text));
}

/* When all torn records were joined, there is no example. */
TEST(no_example_of_joined)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(GEMM(SIZES_4) "\n" GEMM(
		"-m 4 -n 4 -") "\n"
			       "k 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4\n");

	assert_string_equal(l.n.torn_text, "");
	assert_row(&l, KEY_4, "sgemm", 2, 128);
}

/* ---- long lines, other bytes ---- */

TEST(a_long_line_without_a_record)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	while (text.len < (size_t)2 << 20)
		strbuf_addstr(&text, "./rocblasMIOpen");
	strbuf_addstr(&text, "\n" GEMM(SIZES_4) "\n");
	CLEANUP(logged_release) struct logged l = logged_of(text.buf);

	assert_counts(&l, 1, 0, 0, 0, 0, 1);
}

TEST(a_long_record)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addstr(&text, GEMM(SIZES_4));
	while (text.len < 70000 - 5)
		strbuf_addch(&text, ' ');
	strbuf_addstr(&text, "-i 10");
	CLEANUP(logged_release) struct logged l = logged_of(text.buf);

	assert_counts(&l, 0, 0, 0, 0, 1, 0);
	assert_has(l.n.bad_text, "a record of 70000 bytes");
}

TEST(binary_junk)
{
	static const char line[] = "\n" GEMM(SIZES_4) "\n", record[] = GEMM(SIZES_8);
	CLEANUP(xfreep) char *text = xmalloc(1 << 16);
	uint64_t seed = 7;

	for (size_t i = 0; i < 1 << 16; i++)
		text[i] = (char)splitmix64(&seed);
	memset(text, 0, 100);
	memcpy(text + 50, line, sizeof(line) - 1);
	for (size_t i = 500; i + 500 < 1 << 16; i += 997)
		memcpy(text + i, record, sizeof(record) - 1);
	assert_log_is_sane(text, 1 << 16);
	CLEANUP(logged_release) struct logged l = logged_bytes(text, 1 << 16);

	assert_row(&l, KEY_4, "sgemm", 1, 128);
	/* NUL is no blank: it could have been a digit */
	CLEANUP(logged_release)
	struct logged nul = logged_bytes(GEMM(SIZES_4) "\0\n", sizeof(GEMM(SIZES_4) "\0"));

	assert_counts(&nul, 0, 0, 0, 1, 0, 0);
}

TEST(damaged_texts)
{
	assert_damage_is_counted("x " GEMM("-m 4 -n 4 -k 4") "\n"
							     "./rocblas_scopy,4/rocblas-bench -f "
							     "gemm\n" /* a path over a marker */
							     "rocblas_sgemm,N,T,64,32,16,1,"
							     "0x7be683213a00,64,"
							     "0x7be683203000,32,0,0x7b,64,a\r\n"
							     "- { rocblas_function: "
							     "\"rocblas_sgemv\", transA: N, "
							     "M: 8, N: 4, alpha: 1, lda: 8, "
							     "incx: 1, beta: 0, incy: 1, "
							     "call_count: 2 }\n");
}

/* A text in any pieces of whole lines is the same log. */
TEST(pieces)
{
	static const char *const pieces[] = { GEMM(SIZES_4) "\n", GEMM("-m 4 -n 4 -") "\n",
					      "k 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4\n",
					      GEMM(SIZES_8) "\n" };
	struct library_calls *calls = library_calls_new();
	struct library_log *log = library_log_new(NULL, calls);
	CLEANUP(logged_release) struct logged l = { .calls = calls };

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		CLEANUP(xfreep) char *copy = xstrdup(pieces[i]);

		library_log_text(log, copy, strlen(copy));
	}
	library_log_end(log, &l.n);
	library_log_free(log);
	assert_counts(&l, 3, 0, 0, 0, 0, 0);
	assert_int_equal(l.n.joined, 1);
	assert_int_equal(l.n.lines, 4);
}

TEST(probe)
{
	static const char text[] =
		GEMM(SIZES_4) "\n" GEMM("-m 4") "\nrocblas_set_stream,0x1,a\nx\n";
	struct library_probe p = library_log_probe(text, strlen(text));

	assert_int_equal(p.records, 1);
	assert_int_equal(p.info, 2);
	assert_int_equal(p.lines, 4);
}

/* ---- many configurations ---- */

/*
 * More than there are rows. A sanitizer multiplies what a line costs: that of addresses sees no
 * more in more of them, that of threads nothing in any, as there is one.
 */
#if defined(__SANITIZE_THREAD__)
#define MANY 20000
#elif defined(__SANITIZE_ADDRESS__)
#define MANY ((int)LIBRARY_ROWS_MAX + 20000)
#else
#define MANY 1000000
#endif
#define OVER ((uint64_t)(MANY > (int)LIBRARY_ROWS_MAX ? MANY - (int)LIBRARY_ROWS_MAX : 0))

/* Twice each, with the first again at the end. */
static struct logged logged_many(void)
{
	struct logged l = { .calls = library_calls_new() };
	struct library_log *log = library_log_new(NULL, l.calls);
	char line[300];

	for (int round = 0; round < 2; round++)
		for (int i = 1; i <= MANY; i++) {
			int n = snprintf(line, sizeof(line),
					 "./rocblas-bench -f gemm -r s --transposeA N --transposeB "
					 "N -m %d -n 1 -k 1 --lda %d --ldb 1 --ldc %d\n",
					 i, i, i);

			library_log_text(log, line, (size_t)n);
		}
	library_log_end(log, &l.n);
	library_log_free(log);
	return l;
}

TEST(a_million_configurations)
{
	CLEANUP(logged_release) struct logged l = logged_many();
	CLEANUP(library_calls_freep) struct library_calls *all = library_calls_new();
	struct library_totals t = library_calls_totals(l.calls);
	const struct library_row *last = &l.calls->rows.v[l.calls->rows.nr - 1];

	assert_counts(&l, 2 * MANY, 0, 0, 0, 0, 0);
	assert_true(l.calls->rows.nr <= LIBRARY_ROWS_MAX + 1);
	assert_int_equal(l.calls->distinct, MANY);
	assert_int_equal(t.calls, 2 * MANY);
	assert_true(t.flops == (library_sum)2 * MANY * (MANY + 1));
	assert_int_equal(l.calls->over_calls, 2 * OVER);
	if (OVER > 0) {
		assert_string_equal(last->key, "[other]");
		assert_string_equal(last->operation, "sgemm");
		assert_int_equal(last->calls, l.calls->over_calls);
	}
	library_calls_merge(all, l.calls);
	library_calls_merge(all, l.calls);
	t = library_calls_totals(all);
	assert_int_equal(t.calls, 4 * MANY);
	assert_true(t.flops == (library_sum)4 * MANY * (MANY + 1));
	assert_true(all->rows.nr <= LIBRARY_ROWS_MAX + 1);
}

/* ---- several logs ---- */

TEST_IN(merged_logs, dir)
{
	static const char *const texts[][2] = {
		{ "t.17.log", GEMM(SIZES_4) "\n" GEMM(SIZES_8) "\n" GEMM("-m 1") "\n" },
		{ "t.18.log", "text\n" GEMM(SIZES_8) "\n" GEMM("-m -1 -n 1 -k 1") "\n" },
		{ "t.18.2.log", GEMM(SIZES_8) "\n" },
	};
	CLEANUP(logged_release) struct logged l = { .calls = library_calls_new() };
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, texts[i][0]);
		struct library_counts n;

		assert_int_equal(fs_write_atomic(path, texts[i][1], strlen(texts[i][1]), &e), 0);
		assert_int_equal(library_log_read(path, l.calls, &n, &e), 0);
		library_counts_add(&l.n, &n);
	}
	assert_counts(&l, 4, 0, 0, 1, 1, 1);
	assert_int_equal(l.n.lines, 7);
	assert_has(l.n.torn_text, "line 3: ");
	assert_has(l.n.bad_text, "line 3: m=-1 is no size");
	assert_int_equal(l.calls->distinct, 2);
	assert_int_equal(row_with(&l, KEY_4).pid, 17);
	assert_true(row_with(&l, KEY_8).several_pids);
	assert_row(&l, KEY_8, "sgemm", 3, 1024);
}

TEST(a_file_that_is_not_there)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	struct library_counts n;
	struct err e = ERR_INIT;

	assert_int_equal(library_log_read("/nowhere/x.log", calls, &n, &e), -ENOENT);
	assert_has(e.msg, "/nowhere/x.log");
}

/* ---- calls that are handed on ---- */

#define CONV(f) \
	"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 2 -c 3 -H 4 -W 4 -k " \
	"16 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F " f " -t 1\n"
#define CONV_FLOPS (2 * 2 * 16 * 3 * 9 * 16)
#define TRACE(m, n, k) \
	"rocblas_sgemm,N,N," m "," n "," k ",1,0x7f," m ",0x7f," k ",0,0x7f," m ",atomics_" \
	"allowed\n"
#define BENCH(m, n, k) \
	"./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m " m " -n " n " -k " k \
	" --alpha 1 --lda " m " --ldb " k " --beta 0 --ldc " m "\n"
#define IMAGE(level) level("16", "16", "27")

static const struct {
	const char *text;
	uint64_t nested, gemms, convs;
} handed[] = {
	/* one product for each image, told by one level and by two */
	{ CONV("1") IMAGE(BENCH) IMAGE(BENCH), 2, 2, 1 },
	{ CONV("1") IMAGE(TRACE) IMAGE(TRACE), 2, 2, 1 },
	{ CONV("1") IMAGE(TRACE) IMAGE(BENCH) IMAGE(TRACE) IMAGE(BENCH), 2, 2, 1 },
	/* one for all of them */
	{ CONV("1") TRACE("32", "16", "27") BENCH("32", "16", "27"), 1, 1, 1 },
	/* backwards, and other operands in front */
	{ CONV("2") BENCH("27", "16", "16") BENCH("27", "16", "16"), 2, 2, 1 },
	{ CONV("4") BENCH("16", "27", "32"), 1, 1, 1 },
	/* no more than the convolution has; a new one has as many again */
	{ CONV("1") IMAGE(BENCH) IMAGE(BENCH) IMAGE(BENCH), 2, 3, 1 },
	{ CONV("1") IMAGE(BENCH) IMAGE(BENCH) CONV("1") IMAGE(BENCH) IMAGE(BENCH), 4, 4, 2 },
	/* others between, before and after it are the program's own */
	{ IMAGE(BENCH) CONV("1") IMAGE(BENCH) IMAGE(BENCH), 2, 3, 1 },
	{ CONV("1") BENCH("4", "4", "4") IMAGE(BENCH) IMAGE(BENCH) BENCH("4", "4", "4"), 0, 4, 1 },
	{ CONV("1") IMAGE(BENCH) IMAGE(BENCH) BENCH("4", "4", "4") IMAGE(BENCH), 2, 4, 1 },
	{ CONV("1") BENCH("17", "16", "27"), 0, 1, 1 },
	/* a search executes products of its own */
	{ IMAGE(BENCH), 0, 1, 0 },
};

TEST(calls_that_are_handed_on)
{
	for (size_t i = 0; i < ARRAY_LEN(handed); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(handed[i].text);
		struct library_totals t = library_calls_totals(l.calls);
		library_sum gemms = 0, convs = 0;
		uint64_t calls = 0;

		for (size_t k = 0; k < l.calls->rows.nr; k++) {
			const struct library_row *r = &l.calls->rows.v[k];
			bool conv = !strcmp(r->library, "miopen");

			calls += conv ? 0 : r->calls;
			convs += conv ? r->all_flops : 0;
			gemms += conv ? 0 : r->all_flops - r->nested_flops;
			if (r->nested > 0)
				assert_string_equal(l.calls->rows.v[r->caller].library, "miopen");
		}
		if (t.nested != handed[i].nested || calls != handed[i].gemms)
			ROW_FAIL(i, "%d of %d nested", (int)t.nested, (int)calls);
		assert_true(convs == (library_sum)handed[i].convs * CONV_FLOPS);
		assert_true(t.flops == convs + gemms);
	}
}

/* The caller of a row is still its caller after rows of one level were dropped, and merged. */
TEST(callers_of_merged_rows)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(TRACE("4", "4", "4") BENCH("4", "4", "4") CONV("1") IMAGE(TRACE)
					    IMAGE(BENCH) IMAGE(TRACE) IMAGE(BENCH));
	CLEANUP(logged_release) struct logged all = { .calls = library_calls_new() };
	struct library_row row;

	library_calls_merge(all.calls, l.calls);
	library_calls_merge(all.calls, l.calls);
	assert_int_equal(all.calls->rows.nr, 3);
	row = all.calls->rows.v[2];
	assert_int_equal(row.nested, 4);
	assert_string_equal(all.calls->rows.v[row.caller].library, "miopen");
	assert_int_equal(all.calls->doubled, 6);
	assert_true(library_calls_totals(all.calls).flops == 2 * (CONV_FLOPS + 128));
}

/* Processor time of a line of about n bytes with a marker everywhere. */
static double seconds_of(const char *mark, size_t n)
{
	CLEANUP(xfreep) char *text = xmalloc(n + 1);
	size_t m = strlen(mark), at = 0;
	clock_t begin;

	for (; at + m <= n; at += m)
		memcpy(text + at, mark, m);
	text[at] = 0;
	begin = clock();
	CLEANUP(logged_release) struct logged l = logged_of(text);
	assert_int_equal(l.n.records, 0);
	return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/*
 * What is looked at around each marker is bounded: a line of four times as many takes about four
 * times as long. Where time grows with the square it is 16 times, and seconds.
 */
static void assert_linear(const char *mark)
{
	const size_t n = 200000;
	double once = seconds_of(mark, n), four = seconds_of(mark, 4 * n);

	if (four > 8 * once + 0.5)
		fail_msg("too slow: '%s': %g s, and %g s", mark, once, four);
}

/* Each marker alone, and with what makes a record of it. */
TEST(markers_everywhere)
{
	static const struct library_parser *const parsers[] = {
#define PARSER_POINTER(name) &library_parser_##name,
		LIBRARY_PARSERS(PARSER_POINTER)
	};
	static const char *const marks[] = {
		"./rocblas-bench ",        "rocblas-bench/", "a:1:1 [0] NCCL INFO ",
		"MIOpenDriver conv -n 1 ", "MIOpenDriver/",  "hipblaslt-bench ",
		" I! cuBLAS (v1",          " i! a: b",       "{\"cat\":\"blas\",\"args\":{",
	};
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		assert_linear(marks[i]);
	for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
		for (const struct log_marker *m = parsers[i]->markers; m->text; m++)
			assert_linear(m->text);
}
