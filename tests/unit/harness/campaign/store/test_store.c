/* The store: what events make of it, rebuilt equal, damaged, locked, newer, older, hostile runs. */
#include "store.h"
#include "store_sim.h"
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profrig/base/strvec.h"

#define METRICS "[\"performance\"]"

static struct store *store_of(const char *dir, bool read, struct strvec *said)
{
	struct store_opts o = { .read = read, .said = said };
	struct err err = ERR_INIT;
	struct store *s = NULL;

	if (store_open(dir, &o, &s, &err) < 0)
		fail_msg("%s", err.msg);
	return s;
}

/* ---- questions as text ---- */

struct answer {
	struct strbuf text;
};

static int on_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct answer *a = ctx;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		char number[32] = "-";

		if (c[i].kind == STORE_I64)
			num_fmt_i64(number, c[i].i);
		if (c[i].kind == STORE_F64)
			num_fmt_f64(number, c[i].f);
		strbuf_addf(&a->text, "%s%s", i ? "|" : "",
			    c[i].kind == STORE_TEXT ? c[i].text : number);
	}
	strbuf_addstr(&a->text, "\n");
	return 0;
}

static int ask_limited(struct store *s, const char *sql, struct store_query q,
		       struct store_answer *ret, char **ret_text, struct err *err)
{
	struct answer a = { STRBUF_INIT };
	int r;

	q.ctx = &a;
	q.row = on_row;
	r = store_ask(s, sql, &q, ret, err);
	*ret_text = strbuf_steal(&a.text);
	return r;
}

static void asks(struct store *s, const char *sql, const char *want)
{
	struct store_answer answer;
	struct err err = ERR_INIT;
	char *got = NULL;

	if (ask_limited(s, sql, (struct store_query){ 0 }, &answer, &got, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(got, want);
	free(got);
}

static char *export_of(struct store *s, enum store_format format)
{
	struct store_exported done;
	struct err err = ERR_INIT;
	char *text = NULL;
	size_t n;
	FILE *f = xmemstream(&text, &n);

	if (store_export(s, format, false, f, &done, &err) < 0)
		fail_msg("%s", err.msg);
	fclose(f);
	return text;
}

/* All three formats are the same before and after a rebuild. */
static void rebuild_is_equal(const char *dir)
{
	char *was[3], *is[3];
	struct store *s = store_of(dir, true, NULL);
	struct err err = ERR_INIT;

	for (int i = 0; i < 3; i++)
		was[i] = export_of(s, (enum store_format)i);
	store_close(s);
	if (store_rebuild(dir, NULL, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	s = store_of(dir, true, NULL);
	for (int i = 0; i < 3; i++) {
		is[i] = export_of(s, (enum store_format)i);
		assert_true(strlen(was[i]) > 100);
		assert_string_equal(is[i], was[i]);
		free(was[i]);
		free(is[i]);
	}
	store_close(s);
}

/* ---- events ---- */

#define C0 "00009e3779b1"
#define C1 "00013c6ef362"
#define RUN0 C0 "-1"

/*
 * Four runs of two cells: one committed at once, one with its second attempt, one that failed for
 * good, one whose attempt is open.
 */
static void four_runs(struct sim *m, const char *dir)
{
	sim_begin(m, dir, 2, 2, METRICS);
	assert_string_equal(sim_cell(0), C0);
	assert_string_equal(sim_cell(1), C1);
	sim_run(m, 0, 1, 1, 10);
	sim_intend(m, 1, 1, 1);
	sim_event(m, "ended", C1 "-1", 1,
		  "\"state\":\"lost\",\"class\":\"infrastructure\",\"reason\":\"node gone\"");
	sim_run(m, 1, 1, 2, 20);
	sim_intend(m, 0, 2, 1);
	sim_run_json(m, C0 "-2.1", 5);
	sim_event(m, "ended", C0 "-2", 1,
		  "\"state\":\"failed\",\"class\":\"workload\",\"reason\":\"exit 3\",\"exit\":3");
	sim_event(m, "failed", C0 "-2", 0, "\"class\":\"workload\",\"attempts\":1");
	sim_intend(m, 1, 2, 1);
}

#define CSV_HEAD \
	"campaign,cell,label,model,env.N,tools,repeat,block,pos,run_state,attempt,committed," \
	"state," \
	"class,reason,exit,signal,node,job,env_sha,started_ns,ended_ns,dir,metric,key,unit," \
	"better,value\n"

TEST_IN(events_become_rows, dir)
{
	struct sim m;
	struct store *s;

	four_runs(&m, dir);
	s = store_of(dir, false, NULL);
	asks(s, "SELECT id, state, block, pos FROM run ORDER BY id",
	     C0 "-1|committed|1|1\n" C0 "-2|failed|2|1\n" C1 "-1|committed|1|2\n" C1
		"-2|running|2|2\n");
	asks(s, "SELECT id, state, class, reason, exit, node, committed FROM attempt ORDER BY id",
	     C0 "-1.1|success|ok|-|0|n1|1\n" C0 "-2.1|failed|workload|exit 3|3|n1|0\n" C1
		"-1.1|lost|infrastructure|node gone|-|-|0\n" C1 "-1.2|success|ok|-|0|n1|1\n" C1
		"-2.1|running|-|-|-|-|0\n");
	asks(s, "SELECT started_ns, ended_ns FROM attempt WHERE committed AND id LIKE '" C0 "%'",
	     "1772600767250000000|1772600769750000000\n");
	asks(s, "SELECT name, key, unit, better, value FROM metric WHERE attempt = '" RUN0 ".1'",
	     "performance||samples/s|higher|10\nrate||B/s|higher|3\nrate|2|B/s|higher|4\n"
	     "wall||s|lower|2.5\n");
	asks(s,
	     "SELECT tool, path, bytes, sha256, verdict FROM artifact WHERE attempt = '" RUN0 ".1'",
	     "t|artifacts/t/a.csv|12|ab|valid\n");
	asks(s, "SELECT count(*), count(DISTINCT env_sha) FROM attempt, env WHERE env_sha = sha",
	     "3|1\n");
	asks(s, "SELECT json FROM env",
	     "{\"devices\":[{\"id\":\"gpu0\",\"name\":\"G\",\"uuid\":\"U\"}],\"host\":{\"cpu\":"
	     "\"c\","
	     "\"hostname\":\"n1\",\"kernel\":\"6\"},\"tools\":[],\"versions\":{\"profrig\":"
	     "\"0.1.0\"}}\n");
	asks(s, "SELECT id, seed, created_ns FROM campaign", "sim|7|1700000001000000000\n");
	asks(s, "SELECT axes_json, label, is_baseline, ord FROM cell ORDER BY ord",
	     "{\"env.N\":\"0\",\"tools\":[]}|n=0|1|0\n{\"env.N\":\"1\",\"tools\":[\"t\"]}|n=1|0|"
	     "1\n");
	store_close(s);
	sim_end(&m);
	rebuild_is_equal(dir);
}

TEST_IN(a_summary_counts, dir)
{
	struct sim m;
	struct store *s;
	struct store_summary sum;

	four_runs(&m, dir);
	s = store_of(dir, false, NULL);
	assert_int_equal(store_summary(s, &sum, NULL), 0);
	assert_int_equal(sum.cells, 2);
	assert_int_equal(sum.runs, 4);
	assert_int_equal(sum.committed, 2);
	assert_int_equal(sum.running, 1);
	assert_int_equal(sum.failed, 1);
	assert_int_equal(sum.left, 0);
	assert_int_equal(sum.superseded, 0);
	assert_int_equal(sum.block, 2);
	assert_int_equal(sum.unread, 0); /* the lost one has no directory, and needs none */
	assert_true(fabs(sum.mean_s - 2.5) < 1e-9);
	sim_event(&m, "retry", C0 "-2", 0, "");
	sim_event(&m, "ended", C1 "-2", 1, "\"state\":\"success\",\"class\":\"ok\"");
	sim_event(&m, "superseded", C1 "-2", 1, "");
	sim_event(&m, "a-new-one", NULL, 0, "");
	assert_int_equal(store_follow(s, NULL), 0);
	assert_int_equal(store_summary(s, &sum, NULL), 0);
	assert_int_equal(sum.failed, 0);
	assert_int_equal(sum.left, 2);
	assert_int_equal(sum.running, 0);
	assert_int_equal(sum.superseded, 1);
	assert_int_equal(sum.unknown, 1);
	assert_int_equal(sum.events, m.seq);
	store_close(s);
	sim_end(&m);
}

TEST_IN(an_export_has_an_order_and_shows_failures, dir)
{
	struct sim m;
	struct store *s;
	char *text, *line;
	size_t lines = 0;

	four_runs(&m, dir);
	sim_end(&m);
	s = store_of(dir, true, NULL);
	text = export_of(s, STORE_CSV);
	assert_int_equal(strncmp(text, CSV_HEAD, strlen(CSV_HEAD)), 0);
	for (line = text; *line; line = strchr(line, '\n') + 1)
		lines++;
	assert_int_equal(lines, 1 + 4 + 1 + 1 + 4 + 1);
	assert_non_null(strstr(text, "\nsim," C0 ",n=0,mlp,0,[],1,1,1,committed,1,1,success,ok,,0,,"
				     "n1,,"));
	assert_non_null(strstr(text, ",performance,,samples/s,higher,10\n"));
	assert_non_null(strstr(text, "\nsim," C0 ",n=0,mlp,0,[],2,2,1,failed,1,0,failed,workload,"
				     "exit 3,3,"));
	assert_true(strstr(text, ",lost,") < strstr(text, ",higher,20\n"));
	assert_null(strstr(text, ",higher,5\n"));
	free(text);
	text = export_of(s, STORE_NDJSON);
	assert_non_null(strstr(text, "\"axes\":{\"env.N\":\"1\",\"tools\":[\"t\"]}"));
	free(text);
	text = export_of(s, STORE_JSON);
	assert_non_null(strstr(text, "\"schema\": \"profrig.campaign.export/1\""));
	free(text);
	store_close(s);
}

TEST_IN(followed_step_by_step_it_is_the_same, dir)
{
	struct sim m;
	struct store *s;
	struct err err = ERR_INIT;
	char *step, *whole;

	sim_begin(&m, dir, 2, 2, METRICS);
	s = store_of(dir, false, NULL);
	sim_run(&m, 0, 1, 1, 10);
	assert_int_equal(store_follow(s, &err), 0);
	sim_intend(&m, 1, 2, 1);
	assert_int_equal(store_follow(s, &err), 0);
	assert_int_equal(store_follow(s, &err), 0);
	sim_run(&m, 1, 2, 2, 11);
	store_close(s);
	s = store_of(dir, false, NULL);
	sim_event(&m, "superseded", C1 "-2", 1, "");
	sim_end(&m);
	assert_int_equal(store_follow(s, &err), 0);
	step = export_of(s, STORE_JSON);
	store_close(s);
	assert_int_equal(store_rebuild(dir, NULL, NULL, &err), 0);
	s = store_of(dir, true, NULL);
	whole = export_of(s, STORE_JSON);
	assert_string_equal(step, whole);
	store_close(s);
	free(step);
	free(whole);
}

/* store_apply, with events as they are journaled. */
TEST_IN(single_events_are_applied_once, dir)
{
	struct sim m;
	struct store *s;
	struct store_summary sum;
	struct err err = ERR_INIT;
	json_t *all = json_pack("{s:s,s:i,s:i,s:i}", "cell", C0, "repeat", 1, "block", 1, "pos", 1);
	struct journal_event e = {
		.seq = 3, .t_ns = 5, .ev = "intend", .run = RUN0, .attempt = 1, .all = all
	};

	sim_begin(&m, dir, 2, 2, METRICS);
	s = store_of(dir, false, NULL);
	sim_intend(&m, 0, 1, 1);
	assert_int_equal(store_apply(s, &e, &err), 0);
	assert_int_equal(store_apply(s, &e, &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_summary(s, &sum, &err), 0);
	assert_int_equal(sum.running, 1);
	assert_int_equal(sum.events, 3);
	/* one in between was not handed over */
	sim_intend(&m, 1, 1, 1);
	sim_event(&m, "failed", RUN0, 0, "");
	e = (struct journal_event){ .seq = 5, .ev = "failed", .run = RUN0, .all = all };
	assert_int_equal(store_apply(s, &e, &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_summary(s, &sum, &err), 0);
	assert_int_equal(sum.running, 1);
	assert_int_equal(sum.failed, 1);
	assert_int_equal(sum.events, 5);
	store_close(s);
	json_decref(all);
	sim_end(&m);
}

TEST_IN(the_file_in_results_is_the_truth, dir)
{
	struct sim m;
	struct store *s;
	struct store_summary sum;

	sim_begin(&m, dir, 1, 2, METRICS);
	sim_run(&m, 0, 1, 1, 1);
	sim_run(&m, 0, 1, 2, 2); /* results/ names the second one now */
	sim_intend(&m, 0, 2, 1);
	sim_event(&m, "committed", C0 "-2", 1, "");
	sim_end(&m);
	s = store_of(dir, false, NULL);
	asks(s, "SELECT id FROM attempt WHERE committed", RUN0 ".2\n");
	assert_int_equal(store_summary(s, &sum, NULL), 0);
	assert_int_equal(sum.committed, 1);
	assert_int_equal(sum.disputed, 2);
	store_close(s);
}

/* A node that is cut off ends its run after the campaign has given it up. */
TEST_IN(a_record_that_changes_after_its_end_is_not_taken, dir)
{
	struct sim m;
	struct store *s;

	sim_begin(&m, dir, 1, 1, METRICS);
	sim_intend(&m, 0, 1, 1);
	sim_event(&m, "ended", RUN0, 1,
		  "\"state\":\"running\",\"class\":\"infrastructure\",\"reason\":\"NODE_FAIL\"");
	sim_run(&m, 0, 1, 2, 20);
	s = store_of(dir, true, NULL);
	store_close(s);
	sim_run_json(&m, RUN0 ".1", 10);
	sim_event(&m, "superseded", RUN0, 1, "");
	sim_end(&m);
	s = store_of(dir, true, NULL);
	asks(s, "SELECT id, state, class FROM attempt ORDER BY id",
	     RUN0 ".1|superseded|infrastructure\n" RUN0 ".2|success|ok\n");
	asks(s, "SELECT attempt, value FROM metric WHERE name = 'performance'", RUN0 ".2|20\n");
	store_close(s);
	rebuild_is_equal(dir);
}

TEST_IN(a_run_of_several_nodes_has_the_figures_of_the_first, dir)
{
	struct sim m;
	struct store *s;

	sim_begin(&m, dir, 1, 1, METRICS);
	sim_intend(&m, 0, 1, 1);
	sim_run_json(&m, RUN0 ".1/node-1", 11);
	sim_run_json(&m, RUN0 ".1/node-0", 10);
	sim_event(&m, "ended", RUN0, 1, "\"state\":\"success\",\"class\":\"ok\"");
	sim_commit(&m, RUN0, 1);
	sim_end(&m);
	s = store_of(dir, false, NULL);
	asks(s,
	     "SELECT attempt, value, dir FROM metric JOIN attempt ON id = attempt WHERE name = "
	     "'performance'",
	     RUN0 ".1|10|runs/" RUN0 ".1\n");
	store_close(s);
}

TEST_IN(a_new_plan_keeps_old_cells_apart, dir)
{
	struct sim m;
	struct store *s;
	struct store_summary sum;
	struct store_exported done;
	struct err err = ERR_INIT;
	char *text = NULL;
	size_t n;
	FILE *f;

	sim_begin(&m, dir, 2, 2, METRICS);
	sim_run(&m, 1, 1, 1, 7);
	sim_run(&m, 0, 2, 1, 8);
	sim_run(&m, 0, 1, 1, 9);
	sim_plan(&m, 1, 1, METRICS);
	sim_end(&m);
	s = store_of(dir, false, NULL);
	assert_int_equal(store_summary(s, &sum, NULL), 0);
	assert_int_equal(sum.cells, 1);
	assert_int_equal(sum.old_cells, 1);
	assert_int_equal(sum.runs, 1);
	assert_int_equal(sum.committed, 1);
	f = xmemstream(&text, &n);
	assert_int_equal(store_export(s, STORE_CSV, false, f, &done, &err), 0);
	fclose(f);
	assert_int_equal(done.old_left_out, 2);
	assert_null(strstr(text, ",higher,7\n"));
	free(text);
	f = xmemstream(&text, &n);
	assert_int_equal(store_export(s, STORE_CSV, true, f, &done, &err), 0);
	fclose(f);
	assert_int_equal(done.old_left_out, 0);
	assert_true(strstr(text, ",higher,9\n") < strstr(text, ",higher,8\n"));
	assert_true(strstr(text, ",higher,8\n") < strstr(text, ",higher,7\n"));
	free(text);
	store_close(s);
}

TEST_IN(slurm_and_verdicts, dir)
{
	struct sim m;
	struct store *s;

	sim_begin(&m, dir, 2, 2, METRICS);
	sim_intend(&m, 0, 1, 1);
	sim_event(&m, "submit", NULL, 0, "\"name\":\"pr-1\",\"runs\":[\"" RUN0 ".1\"]");
	sim_event(&m, "submitted", NULL, 0,
		  "\"name\":\"pr-1\",\"job\":28,\"runs\":[\"" RUN0 ".1\",\"" C1 "-2.3\"]");
	sim_event(&m, "started", RUN0, 1, "\"node\":\"n7\"");
	sim_event(&m, "verdict", NULL, 0,
		  "\"rows\":[{\"a\":\"" C0 "\",\"b\":\"" C1 "\",\"metric\":\"performance\","
		  "\"key\":\"\",\"method\":\"paired\",\"n_a\":5,\"n_b\":5,\"est\":1.25,\"p\":0.5,"
		  "\"verdict\":\"slower\"}],\"params\":{\"threshold\":0.05}");
	sim_end(&m);
	s = store_of(dir, false, NULL);
	asks(s, "SELECT id, run, n, state, node, job FROM attempt ORDER BY id",
	     RUN0 ".1|" RUN0 "|1|running|n7|28\n" C1 "-2.3|" C1 "-2|3|queued|-|28\n");
	asks(s, "SELECT a, b, metric, n_a, est, lo, p, verdict, params_json FROM verdict",
	     C0 "|" C1 "|performance|5|1.25|-|0.5|slower|{\"threshold\":0.05}\n");
	store_close(s);
}

/* ---- figures of tables ---- */

static int figures(void *ctx, const char *run_dir, const struct strvec *metrics,
		   store_figure_add *add, void *to, struct err *err)
{
	int *calls = ctx;

	++*calls;
	if (strstr(run_dir, "-2.1"))
		return err_set(err, EBADMSG, "no table");
	for (size_t i = 0; i < metrics->nr; i++)
		add(to, &(struct store_figure){ .name = metrics->v[i],
						.key = "gemm",
						.unit = "ns",
						.better = STORE_LOWER,
						.value = 1 + (double)i });
	add(to, &(struct store_figure){ .name = "gone", .key = "", .unit = "", .value = NAN });
	return 0;
}

TEST_IN(figures_follow_the_names_in_the_plan, dir)
{
	int calls = 0;
	struct store_opts o = { .figures = figures, .figures_ctx = &calls };
	struct store *s;
	struct sim m;
	struct err err = ERR_INIT;
	struct store_summary sum;

	sim_begin(&m, dir, 2, 2, "[\"kernels.total_ns\"]");
	sim_run(&m, 0, 1, 1, 10);
	sim_run(&m, 0, 2, 1, 10);
	assert_int_equal(store_open(dir, &o, &s, &err), 0);
	assert_int_equal(calls, 2);
	asks(s, "SELECT attempt, key, value FROM metric WHERE name = 'kernels.total_ns'",
	     RUN0 ".1|gemm|1\n");
	assert_int_equal(store_summary(s, &sum, NULL), 0);
	assert_int_equal(sum.unread, 1);
	/* another list: also for what has ended */
	sim_plan(&m, 2, 2, "[\"busy.busy\",\"busy.union_ns\"]");
	sim_end(&m);
	assert_int_equal(store_follow(s, &err), 0);
	asks(s, "SELECT name, value FROM metric WHERE attempt = '" RUN0 ".1' AND key = 'gemm'",
	     "busy.busy|1\nbusy.union_ns|2\n");
	asks(s, "SELECT count(*) FROM metric WHERE name = 'gone'", "0\n");
	asks(s, "SELECT value FROM metric WHERE attempt = '" C0 "-2.1' AND name = 'wall'", "2.5\n");
	store_close(s);
}

TEST(which_direction_is_better)
{
	assert_int_equal(store_better_of("performance", ""), STORE_HIGHER);
	assert_int_equal(store_better_of("rate", "GB/s"), STORE_HIGHER);
	assert_int_equal(store_better_of("wall", "s"), STORE_LOWER);
	assert_int_equal(store_better_of("odd", NULL), STORE_LOWER);
}

/* ---- hostile run directories ---- */

static void hostile_link(const char *dir, const char *run)
{
	test_put(dir, "secret.json",
		 "{\"schema\":\"profrig.run/1\",\"metrics\":[{\"name\":"
		 "\"stolen\",\"value\":1}]}");
	assert_int_equal(symlink(textf("%s/secret.json", dir), textf("%s/run.json", run)), 0);
}

static void hostile_fifo(const char *dir UNUSED, const char *run)
{
	assert_int_equal(mkfifo(textf("%s/run.json", run), 0600), 0);
}

static void hostile_huge(const char *dir UNUSED, const char *run)
{
	assert_int_equal(truncate(run, 0), -1);
	test_put(run, "run.json", "{");
	assert_int_equal(truncate(textf("%s/run.json", run), (off_t)1 << 40), 0);
}

static void hostile_broken(const char *dir UNUSED, const char *run)
{
	test_put(run, "run.json", "{\"schema\":\"profrig.run/1\",\"metrics\":[");
}

static void hostile_other(const char *dir UNUSED, const char *run)
{
	test_put(run, "run.json", "{\"schema\":\"other/1\"}");
}

static void hostile_folder(const char *dir UNUSED, const char *run)
{
	assert_int_equal(mkdir(textf("%s/run.json", run), 0755), 0);
}

static void hostile_dir_link(const char *dir, const char *run)
{
	test_put(dir, "elsewhere/run.json",
		 "{\"schema\":\"profrig.run/1\",\"metrics\":[{\"name\":"
		 "\"stolen\",\"value\":1}]}");
	assert_int_equal(rmdir(run), 0);
	assert_int_equal(symlink(textf("%s/elsewhere", dir), run), 0);
}

/* Types that no member should have. */
static void hostile_types(const char *dir UNUSED, const char *run)
{
	test_put(run, "run.json",
		 "{\"schema\":\"profrig.run/1\",\"metrics\":[1,{\"name\":7,\"value\":1},{\"name\":"
		 "\"x\",\"value\":\"1\"},[]],\"artifacts\":{\"a\":1},\"host\":[],\"devices\":7,"
		 "\"started_utc\":5,\"tools\":[3]}");
}

TEST_IN(hostile_run_directories_are_passed_over, dir)
{
	static const struct {
		void (*make)(const char *dir, const char *run);
		uint64_t unread;
	} rows[] = {
		{ hostile_link, 1 },   { hostile_fifo, 1 },     { hostile_huge, 1 },
		{ hostile_broken, 1 }, { hostile_other, 1 },    { hostile_folder, 1 },
		{ hostile_types, 0 },  { hostile_dir_link, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *at = xasprintf("%s/%zu", dir, i);
		CLEANUP(xfreep) char *run = xasprintf("%s/runs/" RUN0 ".1", at);
		struct store_summary sum;
		struct store *s;
		struct sim m;

		assert_int_equal(fs_mkdirs(run, 0755, NULL), 0);
		rows[i].make(at, run);
		sim_begin(&m, at, 1, 1, METRICS);
		sim_intend(&m, 0, 1, 1);
		sim_event(&m, "ended", RUN0, 1, "\"state\":\"success\",\"class\":\"ok\"");
		sim_commit(&m, RUN0, 1);
		sim_end(&m);
		alarm(20); /* a FIFO that is waited for */
		s = store_of(at, false, NULL);
		alarm(0);
		assert_int_equal(store_summary(s, &sum, NULL), 0);
		if (sum.unread != rows[i].unread || sum.committed != 1)
			ROW_FAIL(i, "unread %d", (int)sum.unread);
		asks(s, "SELECT count(*) FROM metric", "0\n");
		store_close(s);
	}
}

TEST_IN(damaged_journals_and_plans_are_refused, dir)
{
	static const struct {
		const char *ev, *run, *fields, *why;
		int attempt;
	} rows[] = {
		{ "intend", "../../x-1", "", "names no run", 1 },
		{ "intend", NULL, "", "names no run", 1 },
		{ "ended", RUN0, "", "names no attempt", 0 },
		{ "ended", "a/b-1", "", "names no run", 1 },
		{ "submitted", NULL, "\"runs\":[\"../x-1.1\"]", "names no attempt", 0 },
		{ "plan", NULL, "\"plan\":\"../secret\"", "names no plan", 0 },
		{ "plan", NULL, "\"plan\":\"plans/0123456789ab.json\"", "the journal's plan", 0 },
		{ "plan", NULL, "\"plan\":\"plans/aaaaaaaaaaaa.json\"", "damaged: its SHA-256", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *at = xasprintf("%s/%zu", dir, i);
		struct store_opts o = { 0 };
		struct err err = ERR_INIT;
		struct store *s;
		struct sim m;

		test_put(at, "plans/aaaaaaaaaaaa.json", "{}");
		sim_begin(&m, at, 1, 1, METRICS);
		sim_event(&m, rows[i].ev, rows[i].run, rows[i].attempt, rows[i].fields);
		sim_end(&m);
		if (store_open(at, &o, &s, &err) >= 0 || !strstr(err.msg, rows[i].why))
			ROW_FAIL(i, "'%s'", err.msg);
	}
}
