/* What a report is made of: values in the order of the runs, failures, environments, the matrix. */
#include "campaign_report.h"
#include "report_grid.h"
#include "store_sim.h"
#include "test.h"

#include <math.h>

#define C0 "00009e3779b1"
#define C1 "00013c6ef362"

static void report_of(const char *dir, const char *wanted, struct campaign_report *ret)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	struct store_opts o = { .read = true };
	struct store *s = NULL;
	struct err err = ERR_INIT;

	strvec_split(&words, wanted, " ");
	if (store_open(dir, &o, &s, &err) < 0 || campaign_report_read(s, &words, ret, &err) < 0)
		fail_msg("%s", err.msg);
	store_close(s);
}

/* A plan by hand. */
static void plan_put(struct sim *m, const char *gate, const char *cells, int repeat)
{
	CLEANUP(xfreep)
	char *plan = xasprintf("{\"schema\":\"profrig.campaign/1\",\"name\":\"sim\",\"repeat\":%d,"
			       "\"order\":\"interleaved\",\"seed\":7,\"gate\":%s,\"metrics\":[],"
			       "\"cells\":[%s]}",
			       repeat, gate, cells);
	CLEANUP(xfreep) char *name = NULL, *fields = NULL;
	char sha[65];

	fs_sha256_text(plan, strlen(plan), sha);
	name = xasprintf("plans/%.12s.json", sha);
	sim_put(m, name, plan);
	fields = xasprintf("\"plan\":\"%s\"", name);
	sim_event(m, "plan", NULL, 0, fields);
}

static void ended(struct sim *m, const char *run, int attempt, const char *class,
		  const char *reason)
{
	CLEANUP(xfreep)
	char *fields =
		xasprintf("\"state\":\"failed\",\"class\":\"%s\",\"reason\":\"%s\"", class, reason);

	sim_event(m, "ended", run, attempt, fields);
}

/* Values, of one cell, with a mark at those that are far off. */
static char *values_of(const struct report_sample *s)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < s->nr; i++)
		strbuf_addf(&sb, "%s%g%s", i ? " " : "", s->v[i].value, s->v[i].outlier ? "!" : "");
	return strbuf_steal(&sb);
}

static void clock_put(const char *dir, const char *cell, int repeat, const char *metrics)
{
	test_put(dir, textf("runs/%s-%d.1/run.json", cell, repeat),
		 textf("{\"schema\":\"profrig.run/1\",\"id\":\"x\",\"status\":\"success\","
		       "\"started_utc\":\"2026-03-04T05:06:07.250000Z\",\"metrics\":[%s]}",
		       metrics));
}

TEST_IN(blocks_whose_clocks_differ, dir)
{
	static const struct {
		int cpu[2], gpu[2]; /* of the two cells */
	} blocks[] = { { { 2000, 2090 }, { 0, 0 } },
		       { { 2144, 2000 }, { 1980, 1410 } },
		       { { 0, 3000 }, { 1980, 1990 } },
		       { { 1000, 2000 }, { 0, 0 } } };
	const char *const cells[] = { C0, C1 };
	struct sim m;
	struct campaign_report r;

	sim_begin(&m, dir, 2, 4, "[\"performance\"]");
	for (int k = 0; k < 4; k++)
		for (int c = 0; c < 2; c++) {
			sim_run(&m, (size_t)c, k + 1, 1, 10);
			clock_put(dir, cells[c], k + 1,
				  textf("%s%s",
					blocks[k].cpu[c] ? textf("{\"name\":\"clock_mhz\","
								 "\"value\":%d.5},",
								 blocks[k].cpu[c])
							 : "",
					textf("{\"name\":\"gpu_clock_mhz\",\"value\":%s}",
					      blocks[k].gpu[c] ? textf("%d.0", blocks[k].gpu[c])
							       : "null")));
		}
	sim_end(&m);
	report_of(dir, "", &r);
	assert_int_equal(r.clocks.nr, 3);
	assert_string_equal(r.clocks.v[0].metric, "clock_mhz");
	assert_int_equal(r.clocks.v[0].block, 2);
	assert_true(r.clocks.v[0].low == 2000.5 && r.clocks.v[0].high == 2144.5);
	assert_string_equal(r.runs.v[r.clocks.v[0].run_low].id, C1 "-2");
	assert_string_equal(r.runs.v[r.clocks.v[0].run_high].id, C0 "-2");
	assert_int_equal(r.clocks.v[1].block, 4);
	assert_string_equal(r.clocks.v[2].metric, "gpu_clock_mhz");
	assert_int_equal(r.clocks.v[2].block, 2);
	campaign_report_release(&r);
}

TEST_IN(values_come_in_the_order_of_their_runs, dir)
{
	struct sim m;
	struct campaign_report r;
	struct report_figure *f;
	CLEANUP(xfreep) char *values = NULL;

	sim_begin(&m, dir, 1, 6, "[\"performance\"]");
	/* run.json has one time for all, so that the journal's order counts: block and place */
	for (int k = 6; k >= 1; k--)
		sim_run(&m, 0, k, 1, k == 3 ? 50 : 10 + k % 3);
	sim_end(&m);
	report_of(dir, "", &r);
	assert_int_equal(r.figures.nr, 1);
	f = campaign_report_figure(&r, "performance", NULL);
	assert_non_null(f);
	assert_true(f->higher);
	assert_true(isnan(f->threshold));
	assert_string_equal(f->unit, "samples/s");
	assert_int_equal(r.cells.v[0].committed, 6);
	values = values_of(&f->cells[0]);
	assert_string_equal(values, "11 12 50! 11 12 10");
	assert_int_equal(f->cells[0].outliers, 1);
	assert_float_equal(f->cells[0].mean, 106.0 / 6, 1e-12);
	assert_float_equal(f->cells[0].median, 11.5, 1e-12);
	/* 10 11 11 12 12 50: Σ(v − mean)² = 3130 − 106²/6; t of 5 degrees at 95 % is 2.570582 */
	assert_float_equal(f->cells[0].stddev, sqrt((3130 - 106 * 106 / 6.0) / 5), 1e-9);
	assert_float_equal(f->cells[0].high - f->cells[0].mean,
			   2.570582 * f->cells[0].stddev / sqrt(6), 1e-4);
	assert_true(isnan(f->cells[0].order.drift_p));
	assert_true(isnan(f->cells[0].against.ratio));
	assert_null(f->cells[0].against.verdict);
	campaign_report_release(&r);
}

TEST_IN(words_choose_figures, dir)
{
	struct sim m;
	struct campaign_report r;

	sim_begin(&m, dir, 2, 1, "[]");
	sim_run(&m, 0, 1, 1, 10);
	sim_run(&m, 1, 1, 1, 20);
	sim_end(&m);
	/* nothing is named: performance */
	report_of(dir, "", &r);
	assert_int_equal(r.figures.nr, 1);
	assert_string_equal(r.figures.v[0].name, "performance");
	campaign_report_release(&r);
	/* a name that comes twice has two keys; wall is the duration; it's '' is no SQL */
	report_of(dir, "rate rate:2 duration it's", &r);
	assert_int_equal(r.figures.nr, 3);
	assert_string_equal(r.figures.v[0].name, "rate");
	assert_string_equal(r.figures.v[0].key, "2"); /* the larger one first */
	assert_string_equal(r.figures.v[1].key, "");
	assert_float_equal(r.figures.v[0].cells[1].mean, 4, 0);
	assert_string_equal(r.figures.v[2].name, "duration");
	assert_float_equal(r.figures.v[2].cells[0].mean, 2.5, 0);
	assert_false(r.figures.v[2].higher);
	assert_int_equal(r.absent.nr, 1);
	assert_string_equal(r.absent.v[0], "it's");
	campaign_report_release(&r);
}

TEST_IN(failures_are_counted_by_reason, dir)
{
	struct sim m;
	struct campaign_report r;

	sim_begin(&m, dir, 2, 2, "[\"performance\"]");
	sim_run(&m, 0, 1, 1, 10);
	for (int n = 1; n <= 3; n++) {
		sim_intend(&m, 1, 1, n);
		ended(&m, C1 "-1", n, n == 2 ? "workload" : "infrastructure",
		      n == 2 ? "exit 3" : "node gone");
	}
	sim_event(&m, "failed", C1 "-1", 0, "\"class\":\"infrastructure\",\"attempts\":3");
	sim_intend(&m, 0, 2, 1);
	sim_end(&m);
	report_of(dir, "", &r);
	assert_int_equal(r.failures.nr, 2);
	assert_string_equal(r.failures.v[0].reason, "node gone");
	assert_int_equal(r.failures.v[0].attempts, 2);
	assert_string_equal(r.failures.v[0].example, C1 "-1.3");
	assert_int_equal(r.failures.v[0].cell, 1);
	assert_string_equal(r.failures.v[1].class, "workload");
	assert_true(report_cell_lost(&r.cells.v[1]));
	assert_false(report_cell_lost(&r.cells.v[0]));
	assert_int_equal(r.cells.v[1].failed, 1);
	assert_int_equal(r.cells.v[1].attempts, 3);
	assert_int_equal(r.cells.v[1].left, 1);
	assert_int_equal(r.cells.v[0].running, 1);
	assert_int_equal(campaign_report_cell(&r, C1), 1);
	assert_int_equal(campaign_report_cell(&r, "x"), REPORT_NONE);
	campaign_report_release(&r);
}

static void run_on(struct sim *m, int repeat, const char *kernel, const char *more)
{
	char *run = sim_run_id(0, repeat);
	CLEANUP(xfreep) char *name = xasprintf("runs/%s.1/run.json", run);
	CLEANUP(xfreep)
	char *text = xasprintf("{\"schema\":\"profrig.run/1\",\"status\":\"success\",\"host\":{"
			       "\"hostname\":\"n\",\"kernel\":\"%s\"%s},\"devices\":[],\"tools\":"
			       "[],\"metrics\":[]}",
			       kernel, more);

	sim_intend(m, 0, repeat, 1);
	sim_put(m, name, text);
	sim_event(m, "ended", run, 1, "\"state\":\"success\",\"class\":\"ok\"");
	sim_commit(m, run, 1);
}

TEST_IN(environments_differ_in_facts, dir)
{
	struct sim m;
	struct campaign_report r;

	sim_begin(&m, dir, 1, 3, "[]");
	run_on(&m, 1, "6.1", "");
	run_on(&m, 2, "6.2", ",\"cpus\":[1,2]");
	run_on(&m, 3, "6.2", ",\"cpus\":[1,2]");
	sim_end(&m);
	report_of(dir, "", &r);
	assert_int_equal(r.figures.nr, 0);
	assert_int_equal(r.envs.nr, 2);
	assert_int_equal(r.envs.v[0].runs, 2); /* most runs first */
	assert_int_equal(r.envs.v[1].runs, 1);
	assert_int_equal(r.attempts.v[0].env, 1);
	assert_int_equal(r.differences.nr, 3);
	assert_string_equal(r.differences.v[0].path, "host.cpus[0]");
	assert_string_equal(r.differences.v[0].values.v[0], "1");
	assert_string_equal(r.differences.v[0].values.v[1], "");
	assert_string_equal(r.differences.v[2].path, "host.kernel");
	assert_string_equal(r.differences.v[2].values.v[0], "\"6.2\"");
	assert_string_equal(r.differences.v[2].values.v[1], "\"6.1\"");
	campaign_report_release(&r);
}

TEST_IN(a_figure_has_a_cv_of_all_cells, dir)
{
	struct sim m;
	struct campaign_report r;

	sim_begin(&m, dir, 2, 2, "[\"performance\"]");
	sim_run(&m, 0, 1, 1, 10);
	sim_run(&m, 0, 2, 1, 10 * exp(0.02));
	sim_run(&m, 1, 1, 1, 500);
	sim_run(&m, 1, 2, 1, 500 * exp(0.02));
	sim_end(&m);
	report_of(dir, "", &r);
	/* each pair is off its mean by 0.01 on both sides: two squares of 1e-4 for each degree */
	assert_float_equal(report_figure_cv(&r, &r.figures.v[0]), sqrt(2e-4), 1e-6);
	campaign_report_release(&r);
}

/* ---- the matrix ---- */

/* Ends with id NULL. */
struct cell_of {
	const char *id, *model, *axes;
};

static char *cells_text(const struct cell_of *c)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; c[i].id; i++)
		strbuf_addf(&sb,
			    "%s{\"id\":\"%s\",\"label\":\"l\",\"model\":\"%s\",\"is_baseline\":"
			    "false,\"baseline\":null,\"config\":{},\"axes\":{%s}}",
			    i ? "," : "", c[i].id, c[i].model, c[i].axes);
	return strbuf_steal(&sb);
}

static void grid_of(const char *dir, const struct cell_of *c, struct campaign_report *r,
		    struct report_grid *g)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "journal.ndjson"), *cells = cells_text(c);
	struct sim m = { .dir = dir, .journal = fopen(path, "we") };

	sim_event(&m, "open", NULL, 0, "\"version\":\"0.1.0\",\"name\":\"sim\"");
	plan_put(&m, "[{\"metric\":\"performance\",\"threshold\":0.03}]", cells, 1);
	sim_end(&m);
	report_of(dir, "", r);
	report_grid_make(r, g);
}

TEST_IN(the_axis_with_most_values_has_the_columns, dir)
{
	struct campaign_report r;
	struct report_grid g;

	/* two models; n has three values, z goes with n, k has two, one has one */
	static const struct cell_of cells[] = {
		{ "a1", "m", "\"k\":\"x\",\"n\":\"1\",\"z\":\"A\",\"one\":1" },
		{ "a2", "m", "\"k\":\"x\",\"n\":\"2\",\"z\":\"B\",\"one\":1" },
		{ "a3", "m", "\"k\":\"x\",\"n\":\"3\",\"z\":\"C\",\"one\":1" },
		{ "a4", "m", "\"k\":\"y\",\"n\":\"2\",\"z\":\"B\",\"one\":1" },
		{ "b1", "w", "\"k\":\"y\",\"n\":\"1\",\"z\":\"A\",\"one\":1" },
		{ 0 }
	};

	grid_of(dir, cells, &r, &g);
	assert_int_equal(r.gates.nr, 1);
	assert_float_equal(r.gates.v[0].threshold, 0.03, 0);
	assert_int_equal(r.absent.nr, 1); /* nothing has run: no run has the gate's metric */
	assert_int_equal(g.axes.nr, 2);
	assert_string_equal(g.axes.v[g.column].name, "n");
	assert_string_equal(g.axes.v[g.column].values.v[1], "2");
	assert_int_equal(g.columns, 3);
	assert_int_equal(g.same.nr, 1);
	assert_string_equal(g.same.v[0], "one=1");
	assert_int_equal(g.facets.nr, 2);
	assert_string_equal(g.facets.v[0].model, "m");
	assert_int_equal(g.facets.v[0].rows.nr, 2);
	assert_int_equal(g.facets.v[0].at[0], 0);
	assert_int_equal(g.facets.v[0].at[2], 2);
	assert_int_equal(g.facets.v[0].at[3], REPORT_NONE);
	assert_int_equal(g.facets.v[0].at[4], 3);
	assert_int_equal(g.facets.v[1].rows.nr, 1);
	assert_int_equal(g.facets.v[1].at[0], 4);
	report_grid_release(&g);
	campaign_report_release(&r);
}

TEST_IN(cells_without_an_axis_or_with_one_place_stay, dir)
{
	struct campaign_report r;
	struct report_grid g;

	static const struct cell_of cells[] = { { "a1", "m", "\"n\":\"1\"" },
						{ "a2", "m", "\"n\":\"2\"" },
						{ "a3", "m", "" },
						{ "a4", "m", "\"n\":\"2\"" },
						{ 0 } };

	grid_of(dir, cells, &r, &g);
	assert_int_equal(g.columns, 3);
	assert_string_equal(g.axes.v[0].values.v[2], GRID_NO_VALUE);
	assert_int_equal(g.facets.v[0].at[1], 1);
	assert_int_equal(g.next[1], 3);
	assert_int_equal(g.next[3], REPORT_NONE);
	assert_int_equal(g.facets.v[0].at[2], 2);
	report_grid_release(&g);
	campaign_report_release(&r);
}

TEST_IN(a_long_axis_has_rows, dir)
{
	struct cell_of cells[14] = { 0 };
	char ids[13][8], axes[13][16];
	struct campaign_report r;
	struct report_grid g;

	for (int i = 0; i < 13; i++) {
		snprintf(ids[i], sizeof(ids[i]), "c%d", i);
		snprintf(axes[i], sizeof(axes[i]), "\"n\":\"%d\"", i);
		cells[i] = (struct cell_of){ ids[i], "m", axes[i] };
	}
	grid_of(dir, cells, &r, &g);
	assert_int_equal(g.columns, 1);
	assert_int_equal(g.column, g.axes.nr);
	assert_int_equal(g.facets.v[0].rows.nr, 13);
	assert_int_equal(g.facets.v[0].at[12], 12);
	report_grid_release(&g);
	campaign_report_release(&r);
}
