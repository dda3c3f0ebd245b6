/* Whole sessions: inputs → files, how they end, ensembles, windows, what cannot be written. */
#include "session_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profrig/session/window.h"

#define FIX "tests/fixtures/"

/* Calls of 10 µs, one after the other, called a b c a b; "m" is an instant in the second one. */
static const char five_calls[] =
	"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10},"
	"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":10},"
	"{\"ph\":\"i\",\"name\":\"m\",\"pid\":1,\"tid\":1,\"ts\":15,\"s\":\"t\"},"
	"{\"ph\":\"X\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":20,\"dur\":10},"
	"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":30,\"dur\":10},"
	"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":40,\"dur\":10}]";

/* Analyses names into h->r. */
static int analyze_names(struct heard *h, const char *out, const char *const *names)
{
	CLEANUP(strvec_release) struct strvec inputs = heard_inputs(h, names);

	session_result_release(&h->r);
	return session_analyze(&inputs, &h->o, in_dir(h->dir, out), &h->r, &h->err);
}
#define ANALYZE(h, out, ...) analyze_names(h, out, (const char *const[]){ __VA_ARGS__, NULL })

static bool is_there(const struct heard *h, const char *name)
{
	return fs_exists(in_dir(h->dir, name));
}

SESSION_TEST(whole)
{
	test_put(h->dir, "t.json", five_calls);
	assert_int_equal(ANALYZE(h, "o", "t.json"), 0);
	assert_int_equal(h->r.outcome.end, SESSION_WHOLE);
	/* one note for each reason, that of all that need device work too */
	assert_int_equal(lines_with(&h->notes, "no device work"), 1);
	assert_int_equal(h->r.outcome.noted[SESSION_ANALYSIS_SKIPPED], h->notes.nr);
	assert_has(h->r.report.analysis_json, "the inputs hold no device work");
	assert_non_null(h->r.report.dir);
	assert_has(h->r.report.analysis_json, "profrig.analysis/1");
	assert_non_null(table_set_find(&h->r.report.tables, "functions"));
	assert_true(is_there(h, "o/tables/functions.csv"));
	assert_true(is_there(h, "o/analysis.json"));
	assert_true(is_there(h, "o/report.json"));
	assert_true(is_there(h, "o/folded"));
	assert_int_equal(lines_with(&h->phases, "analyse"), 1);
	assert_int_equal(lines_with(&h->phases, "write"), 1);
}

/* Of formats and analyses what was asked for; csv comes with every format. */
SESSION_TEST(only_what_is_wanted)
{
	test_put(h->dir, "t.json", five_calls);
	test_put(h->dir, "o/mine.txt", "of the user");
	strvec_push(&h->o.formats, "json");
	strvec_push(&h->o.only, "callpaths");
	assert_int_equal(ANALYZE(h, "o", "t.json"), 0);
	assert_true(is_there(h, "o/tables/callpaths.csv"));
	assert_false(is_there(h, "o/tables/functions.csv"));
	assert_true(is_there(h, "o/report.json"));
	assert_false(is_there(h, "o/report.html"));
	assert_true(is_there(h, "o/mine.txt"));
}

TEST(bad_requests)
{
	static const struct {
		const char *only, *format, *window;
		const char *words;
	} cases[] = {
		{ "nonsense", NULL, NULL, "unknown analysis 'nonsense'" },
		{ NULL, "pdf", NULL, "unknown report format 'pdf'" },
		{ NULL, NULL, "nowhere", "--window: 'nowhere' is no window" },
		{ NULL, NULL, "c:a:b", "--window: 'c:a:b' is no window" },
		{ NULL, NULL, "c:gone", "no mark or span is called 'gone'" },
		{ NULL, NULL, "30us:10us", "ends before it begins" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(heard_end) struct heard h;

		heard_begin(&h);
		test_put(h.dir, "t.json", five_calls);
		if (cases[i].only)
			strvec_push(&h.o.only, cases[i].only);
		if (cases[i].format)
			strvec_push(&h.o.formats, cases[i].format);
		h.o.window = cases[i].window;
		if (ANALYZE(&h, "o", "t.json") != -EINVAL)
			ROW_FAIL(i, "%s", h.err.msg);
		if (!strstr(h.err.msg, cases[i].words) || h.r.outcome.end != SESSION_BAD_REQUEST)
			ROW_FAIL(i, "%d: %s", (int)h.r.outcome.end, h.err.msg);
		if (h.r.report.dir || is_there(&h, "o"))
			ROW_FAIL(i, "something was written");
	}
}

SESSION_TEST(windows)
{
	static const struct {
		const char *window;
		int64_t from_ns, to_ns;
	} cases[] = {
		{ "1000:5000", 1000, 5000 }, { "0.02ms:", 20000, 50000 }, { ":10us", 0, 10000 },
		{ "10%:90%", 5000, 45000 },  { "c", 20000, 30000 },       { "a", 0, 40000 },
		{ "m", 15000, 50000 },       { "m:c", 15000, 30000 },     { "b:b", 10000, 50000 },
		{ "c:", 20000, 50000 },      { ":", 0, 50000 },
	};
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;

	test_put(h->dir, "t.json", five_calls);
	strvec_pushf(&inputs, "%s/t.json", h->dir);
	assert_int_equal(session_read(&inputs, &h->o, &h->t, &h->err), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct window w;

		if (window_of(cases[i].window, h->t.m, &w, &h->err) < 0)
			ROW_FAIL(i, "%s", h->err.msg);
		if (w.from_ns != cases[i].from_ns || w.to_ns != cases[i].to_ns)
			ROW_FAIL(i, "%ld to %ld", (long)w.from_ns, (long)w.to_ns);
	}
}

/* From a mark to the end of a call: the rest does not count. */
SESSION_TEST(a_window_by_mark)
{
	CLEANUP(xfreep) char *functions = NULL;

	test_put(h->dir, "t.json", five_calls);
	h->o.window = "m:c";
	assert_int_equal(ANALYZE(h, "o", "t.json"), 0);
	assert_string_equal(h->r.report.window, "m:c");
	functions = test_get(h->dir, "o/tables/functions.csv");
	assert_has(functions, "host,c,");
	assert_lacks(functions, "host,a,");
	assert_int_equal(table_rows(table_set_find(&h->r.report.tables, "functions")), 2);
}

/* ---- how it ends ---- */

TEST(partial_and_strict)
{
	static const struct {
		const char *input;
		bool strict;
		enum session_end end;
		bool noted; /* of SESSION_STRICT */
	} cases[] = {
		{ "t.json", false, SESSION_WHOLE, false },
		{ "t.json", true, SESSION_WHOLE, false },
		{ "overlap.json", false, SESSION_WHOLE, false },
		{ "overlap.json", true, SESSION_PARTIAL, true },
		{ FIX "tef/cut-object.json", false, SESSION_PARTIAL, false },
		{ FIX "tef/cut-object.json", true, SESSION_PARTIAL, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(heard_end) struct heard h;
		int got;

		heard_begin(&h);
		test_put(h.dir, "t.json", five_calls);
		test_put(h.dir, "overlap.json",
			 "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10},"
			 "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":10}]");
		h.o.strict = cases[i].strict;
		got = ANALYZE(&h, "o", cases[i].input);
		if (got < 0 || h.r.outcome.end != cases[i].end)
			ROW_FAIL(i, "%d, end %d: %s", got, (int)h.r.outcome.end, h.err.msg);
		if ((h.r.outcome.noted[SESSION_STRICT] > 0) != cases[i].noted)
			ROW_FAIL(i, "%zu notes", h.notes.nr);
		if (!h.r.report.dir)
			ROW_FAIL(i, "no report");
	}
}

TEST(the_worse_end_stands)
{
	struct session_outcome out = { SESSION_WHOLE };

	session_worsen(&out, SESSION_PARTIAL);
	assert_int_equal(out.end, SESSION_PARTIAL);
	session_worsen(&out, SESSION_BAD_REQUEST);
	session_worsen(&out, SESSION_NOTHING_READ);
	assert_int_equal(out.end, SESSION_BAD_REQUEST);
}

SESSION_TEST(nothing_read_leaves_what_was_there)
{
	test_put(h->dir, "t.json", five_calls);
	assert_int_equal(ANALYZE(h, "o", "t.json"), 0);
	assert_int_equal(ANALYZE(h, "o", "gone.json"), -ENODATA);
	assert_int_equal(h->r.outcome.end, SESSION_NOTHING_READ);
	assert_null(h->r.report.dir);
	assert_true(is_there(h, "o/analysis.json"));
}

SESSION_TEST(no_output)
{
	test_put(h->dir, "t.json", five_calls);
	assert_int_equal(ANALYZE(h, "t.json/o", "t.json"), -ENOTDIR);
	assert_int_equal(h->r.outcome.end, SESSION_NO_OUTPUT);
	assert_has(h->err.msg, "t.json is not a directory");
	/* told before anything was read */
	assert_int_equal(h->phases.nr, 0);
}

/* A folder in the place of one of the files: that one is missing, the others are there. */
SESSION_TEST(a_file_cannot_be_written)
{
	struct session_outcome out = { SESSION_WHOLE };

	test_put(h->dir, "t.json", five_calls);
	strvec_push(&h->o.formats, "json");
	assert_int_equal(ANALYZE(h, "o", "t.json"), 0);
	assert_int_equal(unlink(in_dir(h->dir, "o/report.json")), 0);
	assert_int_equal(mkdir(in_dir(h->dir, "o/report.json"), 0755), 0);
	test_put(h->dir, "o/report.json/x", "");
	session_write_formats(&h->r.report, &h->o, &out);
	assert_int_equal(out.end, SESSION_PARTIAL);
	assert_int_equal(out.noted[SESSION_NOT_WRITTEN], 1);
	assert_has(out.last_error, "report.json");
}

/* A temporary file in dir as a process that is dead left it, owned. */
static char *abandoned(const char *dir)
{
	static const struct timespec long_ago[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	CLEANUP(xfreep) char *own = fs_temp_name(dir), *pid = xasprintf("%d", (int)getpid());
	const char *at = strstr(fs_base(own), pid);
	pid_t child = fork();
	char *path;

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_non_null(at);
	path = xasprintf("%.*s%d%s", (int)(at - own), own, (int)child, at + strlen(pid));
	test_put(dir, fs_base(path), "half of it");
	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	return path;
}

SESSION_TEST(half_written_files_go)
{
	CLEANUP(xfreep) char *dir = fs_join(h->dir, "o");
	test_put(h->dir, "t.json", five_calls);
	test_put(dir, "mine.txt", "of the user");
	CLEANUP(xfreep) char *left = abandoned(dir);
	assert_true(fs_exists(left));
	assert_int_equal(ANALYZE(h, "o", "t.json"), 0);
	assert_int_equal(h->r.outcome.end, SESSION_WHOLE);
	assert_int_equal(h->r.outcome.noted[SESSION_SWEPT], 1);
	assert_int_equal(lines_with(&h->notes, "removed 1 half-written file of a profrig"), 1);
	assert_false(fs_exists(left));
}

/* ---- several runs ---- */

SESSION_TEST(an_ensemble)
{
	run_put(h, "a", 10, "");
	run_put(h, "b", 12, "");
	run_put(h, "c", 14, "");
	assert_int_equal(ANALYZE(h, "o", "a", "b", "c", "a"), 0);
	assert_int_equal(h->r.outcome.end, SESSION_WHOLE);
	assert_int_equal(table_rows(table_set_find(&h->r.report.tables, "runs")), 3);
	assert_non_null(table_set_find(&h->r.report.tables, "ensemble"));
	assert_true(is_there(h, "o/each/a/analysis.json"));
	assert_true(is_there(h, "o/each/c/tables/functions.csv"));
	assert_int_equal(h->r.report.tables.checks.nr, 3);
}

/* What one run lacks is reported for that run; the others are analysed. */
SESSION_TEST(an_ensemble_with_a_broken_run)
{
	run_put(h, "a", 10, "");
	run_put(h, "b", 12, "");
	test_put(h->dir, "c/run.json", "{\"schema\":\"profrig.run/1\", broken");
	assert_int_equal(ANALYZE(h, "o", "a", "b", "c"), 0);
	assert_int_equal(h->r.outcome.end, SESSION_PARTIAL);
	assert_int_equal(h->r.outcome.noted[SESSION_UNREADABLE], 1);
	assert_int_equal(table_rows(table_set_find(&h->r.report.tables, "runs")), 2);
}

/* A window that a run does not have fails the analysis of that run alone. */
SESSION_TEST(an_ensemble_with_a_window)
{
	run_put(h, "a", 10, "\"marks\":[{\"t_ns\":2,\"name\":\"warm\",\"by\":\"x\"}],");
	run_put(h, "b", 12, "");
	h->o.window = "warm:";
	assert_int_equal(ANALYZE(h, "o", "a", "b"), 0);
	assert_int_equal(h->r.outcome.end, SESSION_BAD_REQUEST);
	assert_int_equal(h->r.outcome.noted[SESSION_MEMBER_FAILED], 1);
	assert_int_equal(lines_with(&h->notes, "no mark or span is called 'warm'"), 1);
	assert_true(is_there(h, "o/each/a/analysis.json"));
	assert_false(is_there(h, "o/each/b/analysis.json"));
}

SESSION_TEST(runs_and_another_input)
{
	run_put(h, "a", 10, "");
	run_put(h, "b", 12, "");
	test_put(h->dir, "t.json", five_calls);
	assert_int_equal(ANALYZE(h, "o", "a", "b", "t.json"), -EINVAL);
	assert_int_equal(h->r.outcome.end, SESSION_BAD_REQUEST);
	assert_has(h->err.msg, "t.json is no run");
}

/* An ensemble beside its runs, as a pattern of a shell finds it. */
SESSION_TEST(an_ensemble_among_runs)
{
	run_put(h, "a", 10, "");
	run_put(h, "b", 12, "");
	test_put(h->dir, "before/analysis.json", "{}");
	assert_int_equal(ANALYZE(h, "o", "a", "b", "before"), 0);
	assert_int_equal(h->r.outcome.noted[SESSION_NO_RUN], 1);
	assert_int_equal(table_rows(table_set_find(&h->r.report.tables, "runs")), 2);
}
