/* How an attempt ended, by its run directory; what a worker answers; commits that cannot count. */
#include "attempt.h"
#include "test.h"

#include <math.h>
#include <sys/stat.h>

#define RUN "0123456789ab-1"

static struct attempt_name named(uint32_t number)
{
	struct attempt_name a;

	attempt_name_make("0123456789ab", 1, number, &a);
	return a;
}

static struct attempt_where where_of(const char *dir)
{
	return (struct attempt_where){ dir, NULL, 1 };
}

#define STEP(fields) "\"steps\":[{\"kind\":\"workload\"" fields "}]"

TEST_IN(the_end_of_a_run_directory, dir)
{
	static const struct {
		const char *json, *class, *kind, *state;
	} rows[] = {
		{ "{\"status\":\"success\"," STEP(",\"exit_code\":0") "}", "ok", "", "success" },
		{ "{\"status\":\"failed\",\"phase\":\"workload\"," STEP(",\"exit_code\":3") "}",
		  "workload", "exit", "failed" },
		{ "{\"status\":\"failed\"," STEP(",\"exit_code\":null,\"signal\":\"SIGKILL\"") "}",
		  "workload", "signal", "failed" },
		{ "{\"status\":\"timeout\"," STEP(",\"signal\":\"SIGTERM\"") "}", "workload",
		  "timeout", "timeout" },
		{ "{\"status\":\"failed\",\"warnings\":[{\"code\":\"W_OOM\"}]," STEP(
			  ",\"signal\":\"SIGKILL\"") "}",
		  "workload", "oom", "failed" },
		{ "{\"status\":\"failed\",\"warnings\":[{\"code\":\"W_DISK_FULL\"}]," STEP(
			  ",\"exit_code\":1") "}",
		  "infrastructure", "disk", "failed" },
		{ "{\"status\":\"failed\",\"phase\":\"probe\"," STEP(",\"exit_code\":1") "}",
		  "infrastructure", "engine", "failed" },
		{ "{\"status\":\"failed\"," STEP("") "}", "infrastructure", "engine", "failed" },
		{ "{\"status\":\"failed\"}", "infrastructure", "engine", "failed" },
		{ "{\"status\":\"failed\"," STEP(",\"exit_code\":0") "}", "workload", "output",
		  "failed" },
		{ "{\"status\":\"running\"}", "interrupted", "", "running" },
		{ "{\"status\":\"interrupted\",\"reason\":\"SIGINT\"}", "interrupted", "",
		  "interrupted" },
		/* what a workload may write there */
		{ "", "interrupted", "", "lost" },
		{ "[1,2]", "infrastructure", "engine", "" },
		{ "{\"status\":7,\"steps\":{\"a\":1},\"warnings\":[3],\"host\":[]}",
		  "infrastructure", "engine", "" },
		{ "{\"status\":\"success\"", "interrupted", "", "lost" },
	};
	const struct attempt_where w = where_of(dir);
	const struct attempt_name a = named(1);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct attempt_outcome o;

		test_put(dir, "runs/" RUN ".1/run.json", rows[i].json);
		attempt_judge(&w, &a, &o);
		if (strcmp(attempt_class_name(o.class), rows[i].class) != 0 ||
		    strcmp(o.kind, rows[i].kind) != 0 || strcmp(o.state, rows[i].state) != 0)
			ROW_FAIL(i, "%s '%s' '%s'", attempt_class_name(o.class), o.kind, o.state);
		assert_false(o.running);
	}
}

TEST_IN(what_a_worker_noted_of_throttling, dir)
{
	static const struct {
		const char *text;
		uint64_t times;
	} rows[] = { { "7\n", 7 }, { "", 0 }, { "\n", 0 }, { "-1\n", 0 }, { "many\n", 0 } };
	struct attempt_where w = where_of(dir);
	const struct attempt_name a = named(1);
	struct attempt_outcome o;

	test_put(dir, "runs/" RUN ".1/run.json", "{\"status\":\"success\"}");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		test_put(dir, "logs/" RUN ".1.throttled", rows[i].text);
		attempt_judge(&w, &a, &o);
		if (o.throttled != rows[i].times)
			ROW_FAIL(i, "%llu", (unsigned long long)o.throttled);
		/* who judges it knows how many extra runs there were */
		assert_int_equal(o.class, ATTEMPT_OK);
		assert_true(attempt_holds(&w, &a));
	}
	/* of nodes the most, whichever ended worst */
	w.nodes = 3;
	for (int k = 0; k < 3; k++) {
		test_put(dir, textf("runs/" RUN ".1/node-%d/run.json", k),
			 k == 2 ? "{\"status\":\"failed\"}" : "{\"status\":\"success\"}");
		test_put(dir, textf("logs/" RUN ".1.%d.throttled", k), k == 1 ? "9\n" : "2\n");
	}
	attempt_judge(&w, &a, &o);
	assert_int_equal(o.throttled, 9);
	assert_int_equal(o.class, ATTEMPT_INFRASTRUCTURE);
}

TEST_IN(metrics_that_a_gate_wants, dir)
{
	CLEANUP(strvec_release) struct strvec metrics = STRVEC_INIT;
	struct attempt_where w = { dir, &metrics, 1 };
	const struct attempt_name a = named(1);
	struct attempt_outcome o;

	strvec_push(&metrics, "duration");
	strvec_push(&metrics, "functions.exclusive_ns");
	strvec_push(&metrics, "performance");
	test_put(
		dir, "runs/" RUN ".1/run.json",
		"{\"status\":\"success\",\"metrics\":[{\"name\":\"performance\",\"value\":null}]}");
	attempt_judge(&w, &a, &o);
	assert_int_equal(o.class, ATTEMPT_WORKLOAD);
	assert_string_equal(o.kind, "metric");
	assert_has(o.reason, "metric 'performance' is missing");
	assert_true(attempt_holds(&w, &a));
	test_put(dir, "runs/" RUN ".1/run.json",
		 "{\"status\":\"success\",\"metrics\":[{\"name\":\"performance\",\"value\":1}],"
		 "\"durations_s\":{\"workload\":2.5}}");
	attempt_judge(&w, &a, &o);
	assert_int_equal(o.class, ATTEMPT_OK);
	assert_true(o.workload_s == 2.5);
}

TEST_IN(links_and_fifos_are_no_run_directories, dir)
{
	const struct attempt_where w = where_of(dir);
	const struct attempt_name a = named(1);
	struct attempt_outcome o;

	attempt_judge(&w, &a, &o);
	assert_false(o.found);
	test_put(dir, "elsewhere/run.json", "{\"status\":\"success\"}");
	assert_int_equal(fs_mkdirs(in_dir(dir, "runs"), 0755, NULL), 0);
	assert_int_equal(symlink("../elsewhere", in_dir(dir, "runs/" RUN ".1")), 0);
	attempt_judge(&w, &a, &o);
	assert_false(o.found);
	assert_int_equal(unlink(in_dir(dir, "runs/" RUN ".1")), 0);
	assert_int_equal(mkdir(in_dir(dir, "runs/" RUN ".1"), 0755), 0);
	assert_int_equal(
		symlink("../../elsewhere/run.json", in_dir(dir, "runs/" RUN ".1/run.json")), 0);
	attempt_judge(&w, &a, &o);
	assert_false(o.found);
	assert_int_equal(unlink(in_dir(dir, "runs/" RUN ".1/run.json")), 0);
	assert_int_equal(mkfifo(in_dir(dir, "runs/" RUN ".1/run.json"), 0644), 0);
	attempt_judge(&w, &a, &o);
	assert_false(o.found);
	assert_true(isnan(o.workload_s));
}

TEST_IN(of_several_nodes_the_worst_end_counts, dir)
{
	const struct attempt_where w = { dir, NULL, 3 };
	const struct attempt_name a = named(1);
	struct attempt_outcome o;

	for (int k = 0; k < 3; k++)
		test_put(dir, textf("runs/" RUN ".1/node-%d/run.json", k),
			 textf("{\"status\":\"success\",\"host\":{\"hostname\":\"n%d\"}}", k));
	attempt_judge(&w, &a, &o);
	assert_int_equal(o.class, ATTEMPT_OK);
	assert_string_equal(o.node, "n0");
	test_put(dir, "runs/" RUN ".1/node-1/run.json",
		 "{\"status\":\"failed\",\"host\":{\"hostname\":\"n1\"}," STEP(
			 ",\"exit_code\":1") "}");
	test_put(dir, "runs/" RUN ".1/node-2/run.json",
		 "{\"status\":\"failed\",\"host\":{\"hostname\":\"n2\"}}");
	attempt_judge(&w, &a, &o);
	assert_int_equal(o.class, ATTEMPT_INFRASTRUCTURE);
	assert_string_equal(o.node, "n2");
	assert_true(o.found);
}

TEST_IN(a_commit_that_names_what_cannot_count_gives_way, dir)
{
	static const struct {
		const char *json; /* of attempt 1; NULL: it has no directory */
		bool holds;
	} rows[] = {
		{ NULL, false },
		{ "{\"status\":\"failed\"}", false },
		{ "rubbish", false },
		{ "{\"status\":\"success\"}", true },
		{ "{\"status\":\"running\"}", true }, /* on another node, seen late */
	};
	const struct attempt_where w = where_of(dir);
	const struct attempt_name one = named(1), two = named(2);
	struct attempt_name there;
	struct err err = ERR_INIT;
	char said[200];

	test_put(dir, "runs/" RUN ".2/run.json", "{\"status\":\"success\"}");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].json)
			test_put(dir, "runs/" RUN ".1/run.json", rows[i].json);
		test_put(dir, "results/" RUN, RUN ".1\n");
		assert_int_equal(attempt_holds(&w, &one), rows[i].holds);
		assert_int_equal(attempt_commit(&w, &two, said, &err),
				 rows[i].holds ? SUPERSEDED : COMMITTED);
		assert_int_equal(*said != 0, !rows[i].holds);
		assert_int_equal(commit_look(dir, RUN, &there, &err), 1);
		assert_int_equal(there.number, rows[i].holds ? 1 : 2);
	}
}

TEST_IN(last_words, dir)
{
	static const struct {
		const char *log, *want, *with;
	} rows[] = {
		{ "", "", "" },
		{ "\n \n", "", "" },
		{ "profrig: one\nprofrig: error: the disk is full\n\n", "the disk is full", "" },
		{ "no end", "no end", "" },
		{ "the one\nanother one\nlast\n", "another one", "one" },
		{ "the one\nanother\n\n", "the one", "one" },
		{ "none\n", "", "one of them" },
	};
	CLEANUP(xfreep) char *path = xstrdup(in_dir(dir, "logs/one.log"));
	char words[200];

	attempt_last_words(path, "", words);
	assert_string_equal(words, "");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		test_put(dir, "logs/one.log", rows[i].log);
		attempt_last_words(path, rows[i].with, words);
		if (strcmp(words, rows[i].want) != 0)
			ROW_FAIL(i, "'%s'", words);
	}
	{
		CLEANUP(xfreep) char *longer = xcalloc(100001, 1);

		memset(longer, 'x', 100000);
		test_put(dir, "logs/one.log", longer);
		attempt_last_words(path, "", words);
		assert_int_equal(strlen(words), 199);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
	attempt_last_words(path, "", words);
	assert_string_equal(words, "");
}

/* ---- a worker ---- */

static void answers_are(const char *dir, const char *input, int want, const char *answers)
{
	struct cells cells = CELLS_INIT;
	CLEANUP(strvec_release) struct strvec ids = STRVEC_INIT;
	const struct attempt_work w = { .where = where_of(dir), .cells = &cells, .ids = &ids };
	struct err err = ERR_INIT;
	char text[2048] = "";
	int in[2], out[2], one = dup(1), two = dup(2);
	ssize_t n;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(write(in[1], input, strlen(input)), strlen(input));
	close(in[1]);
	n = attempt_worker(&w, in[0], out[1], &err);
	dup2(one, 1);
	dup2(two, 2);
	close(one);
	close(two);
	assert_int_equal(n, want);
	close(out[1]);
	n = read(out[0], text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = 0;
	close(in[0]);
	close(out[0]);
	assert_string_equal(text, answers);
}

TEST_IN(a_worker_answers_each_name, dir)
{
	answers_are(dir, "", 0, "");
	answers_are(dir, RUN ".1\n" RUN ".2\n", 0,
		    RUN ".1 unable '" RUN ".1' is of no cell of the plan\n" RUN ".2 unable '" RUN
			".2' is of no cell of the plan\n");
	answers_are(dir, RUN "\n", -EINVAL, "");
	answers_are(dir, "../../x\n", -EINVAL, "");
	answers_are(dir, textf("%0300d\n", 0), -EINVAL, "");
	assert_true(fs_is_file(in_dir(dir, "logs/" RUN ".2.log")));
}

TEST_IN(a_log_that_is_something_else_is_left_alone, dir)
{
	test_put(dir, "elsewhere", "");
	assert_int_equal(fs_mkdirs(in_dir(dir, "logs"), 0755, NULL), 0);
	assert_int_equal(symlink("../elsewhere", in_dir(dir, "logs/" RUN ".1.log")), 0);
	assert_int_equal(mkfifo(in_dir(dir, "logs/" RUN ".2.log"), 0644), 0);
	answers_are(dir, RUN ".1\n" RUN ".2\n", 0,
		    textf(RUN ".1 unable %s/logs/" RUN ".1.log: a symbolic link is in the way\n" RUN
			      ".2 unable %s/logs/" RUN ".2.log: No such device or address\n",
			  dir, dir));
}
