#include "test.h"

#include <math.h>
#include <sys/stat.h>

#include "profrig/base/strbuf.h"
#include "profrig/compare/figures.h"

#define RUN(metrics) \
	"{\"schema\":\"profrig.run/1\",\"id\":\"r\",\"durations_s\":{\"workload\":2.5}," \
	"\"metrics\":[" metrics "]}"
#define ANALYSIS "{\"schema\":\"profrig.analysis/1\"}"

static struct figures read_of(const char *dir, const char *words)
{
	CLEANUP(strvec_release) struct strvec selection = STRVEC_INIT;
	struct figures f = FIGURES_INIT;
	struct err err = ERR_INIT;

	strvec_split(&selection, words, ",");
	if (figures_read(dir, &selection, &f, &err) < 0)
		fail_msg("%s", err.msg);
	return f;
}

static double value_of(const struct figures *f, const char *name, const char *key)
{
	for (size_t i = 0; i < f->v.nr; i++)
		if (!strcmp(f->v.v[i].name, name) && !strcmp(f->v.v[i].key, key))
			return f->v.v[i].value;
	return NAN;
}

static int failure_of(const char *dir, struct err *err)
{
	struct figures f = FIGURES_INIT;
	int r = figures_read(dir, NULL, &f, err);

	assert_int_equal(f.v.nr, 0);
	figures_release(&f);
	return r;
}

TEST_IN(metrics_of_a_run, dir)
{
	struct figures f;

	test_put(dir, "run.json",
		 RUN("{\"name\":\"performance\",\"value\":12,\"unit\":\"samples\"},"
		     "{\"name\":\"tokens\",\"value\":3.5,\"unit\":\"t/s\"},"
		     "{\"name\":\"loss\",\"value\":0.25,\"unit\":\"\"},"
		     "{\"name\":\"loss\",\"value\":0.5,\"unit\":null},"
		     "{\"name\":\"wall\",\"value\":2.5,\"unit\":\"s\"},"
		     "{\"name\":\"clock_mhz\",\"value\":2400,\"unit\":\"MHz\"}"));
	f = read_of(dir, "");
	assert_int_equal(f.v.nr, 5);
	assert_int_equal(f.bad, 0);
	assert_int_equal(f.v.v[0].better, FIGURE_HIGHER);
	assert_false(f.v.v[0].of_table);
	assert_int_equal(f.v.v[1].better, FIGURE_HIGHER);
	assert_int_equal(f.v.v[2].better, FIGURE_LOWER);
	assert_string_equal(f.v.v[0].unit, "samples");
	assert_true(value_of(&f, "performance", "") == 12 && value_of(&f, "tokens", "") == 3.5);
	assert_true(value_of(&f, "loss", "") == 0.25 && value_of(&f, "loss", "loss#2") == 0.5);
	assert_true(value_of(&f, "duration", "") == 2.5);
	figures_release(&f);
	f = read_of(dir, "wall,tokens");
	assert_int_equal(f.v.nr, 2);
	assert_true(value_of(&f, "wall", "") == 2.5);
	figures_release(&f);
	f = read_of(dir, "clock_mhz");
	assert_int_equal(f.v.nr, 1);
	assert_int_equal(f.v.v[0].better, FIGURE_NONE);
	figures_release(&f);
	f = read_of(dir, "metrics");
	assert_int_equal(f.v.nr, 6);
	assert_true(isnan(value_of(&f, "duration", "")));
	figures_release(&f);
}

TEST_IN(values_that_are_none, dir)
{
	struct figures f;

	test_put(dir, "run.json",
		 RUN("{\"name\":\"a\",\"value\":null,\"unit\":\"s\"},"
		     "{\"name\":\"b\",\"value\":\"7\",\"unit\":\"s\"},"
		     "{\"name\":\"\",\"value\":7,\"unit\":\"s\"},{\"value\":7},7,null,[],"
		     "{\"name\":\"c\",\"value\":true},{\"name\":\"d\",\"value\":-1}"));
	f = read_of(dir, "metrics");
	assert_int_equal(f.v.nr, 1);
	assert_true(value_of(&f, "d", "") == -1);
	assert_int_equal(f.bad, 2);
	figures_release(&f);
}

TEST_IN(tables_of_a_run, dir)
{
	struct figures f;

	test_put(dir, "run.json", RUN(""));
	test_put(dir, "analysis/tables/functions.csv",
		 "scope,name,category,calls,inclusive_ns,exclusive_ns\n"
		 "device,k,,1,9,9\n"
		 "host,main,,1,100,40\n"
		 "host,\"f<a, \"\"b\"\">\",x,2,60,60\n"
		 "host,main,again,1,10,2.5\n"
		 "host,,,1,,1\n");
	test_put(dir, "analysis/tables/kernels.csv",
		 "device,name,class,calls,total_ns\n"
		 "gpu0,k1,gemm,1,5\ngpu1,k1,gemm,2,6\ngpu0,k2,gemm,1,7\ngpu0,k3,copy,1,8\n");
	test_put(dir, "analysis/tables/energy_totals.csv",
		 "counter,device,view,total_j\n"
		 "energy.gpu0,gpu0,device,10\nenergy.gpu0,gpu0,host,10\npackage,cpu0,host,4\n");
	test_put(dir, "analysis/tables/energy.csv",
		 "counter,device,view,track,name,exclusive_j\n"
		 "energy.gpu0,gpu0,device,q,k1,3\nenergy.gpu0,gpu0,host,t1,main,2\n"
		 "energy.gpu0,gpu0,host,t2,main,1\n");
	test_put(dir, "analysis/tables/library_calls.csv",
		 "library,operation,calls,key,logged_ns,trace_ns\nrocblas,sgemm,3,m=1,,8\n");
	test_put(dir, "analysis/tables/operators.csv",
		 "name,shapes,own_ns,host_self_ns,calls\nmm,a,1,2,3\nmm,b,10,20,30\n");
	test_put(
		dir, "analysis/tables/modules.csv",
		"module,class,own_ns,nested_ns,host_ns\nNet_0,Net,0,7,90\nLinear_0,Linear,7,7,8\n");
	f = read_of(dir, "");
	assert_int_equal(f.v.nr, 3); /* duration and two counters */
	assert_true(value_of(&f, "energy.total_j", "energy.gpu0") == 10);
	assert_true(value_of(&f, "energy.total_j", "package cpu0") == 4);
	figures_release(&f);
	f = read_of(dir, "functions");
	assert_true(value_of(&f, "functions.exclusive_ns", "main") == 42.5);
	assert_true(value_of(&f, "functions.exclusive_ns", "f<a, \"b\">") == 60);
	assert_true(value_of(&f, "functions.exclusive_ns", "[no name]") == 1);
	assert_true(isnan(value_of(&f, "functions.inclusive_ns", "[no name]")));
	assert_true(value_of(&f, "functions.calls", "main") == 2);
	assert_true(isnan(value_of(&f, "functions.exclusive_ns", "k")));
	assert_int_equal(f.v.nr, 3 + 2 + 3);
	assert_true(f.v.v[0].of_table);
	figures_release(&f);
	f = read_of(dir, "kernels.total_ns,kernel_classes,operators,modules,energy,library_calls");
	assert_true(value_of(&f, "modules.own_ns", "Linear_0") == 7);
	assert_true(value_of(&f, "modules.nested_ns", "Net_0") == 7);
	assert_true(value_of(&f, "modules.host_ns", "Net_0") == 90);
	assert_true(value_of(&f, "kernels.total_ns", "k1") == 11);
	assert_true(value_of(&f, "kernel_classes.total_ns", "gemm") == 18);
	assert_true(value_of(&f, "operators.own_ns", "mm") == 11);
	assert_true(value_of(&f, "operators.host_self_ns", "mm") == 22);
	assert_true(value_of(&f, "energy.host_j", "main (energy.gpu0)") == 3);
	assert_true(value_of(&f, "energy.device_j", "k1 (energy.gpu0)") == 3);
	assert_true(value_of(&f, "library_calls.trace_ns", "rocblas m=1") == 8);
	assert_true(isnan(value_of(&f, "library_calls.logged_ns", "rocblas m=1")));
	assert_true(isnan(value_of(&f, "kernels.calls", "k1")));
	assert_int_equal(f.problems.nr, 0);
	assert_int_equal(f.bad, 0);
	figures_release(&f);
}

/*
 * Keys wait for their numbers in groups: here equal ones in one group and in several, keys with
 * quotes beside plain ones, one that is longer than a group may be, and rows that do not count.
 */
TEST_IN(many_rows, dir)
{
	enum { ROWS = 1000, NAMES = 150, LONG = 3 << 20 };
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	double sums[NAMES] = { 0 };
	struct figures f;

	strbuf_addstr(&sb, "scope,name,calls,exclusive_ns\n");
	for (int i = 0; i < ROWS; i++) {
		int name = i * 7 % NAMES;

		strbuf_addf(&sb, name % 3 ? "host,f%d,1,%d\n" : "host,\"f\"\"%d\"\"\",1,%d\n", name,
			    i);
		sums[name] += i;
		if (i % 10 == 0)
			strbuf_addf(&sb, "device,f%d,1,1\nhost,f%d\nhost,f%d,,x\n", name, name,
				    name % 3 ? name : 1);
		if (i == 500) {
			strbuf_addstr(&sb, "host,\"\"\"");
			for (int k = 0; k < LONG; k++)
				strbuf_addch(&sb, 'a' + k % 26);
			strbuf_addstr(&sb, "\",1,8\n");
		}
	}
	test_put(dir, "analysis.json", ANALYSIS);
	test_put(dir, "tables/functions.csv", sb.buf);
	f = read_of(dir, "functions.exclusive_ns");
	assert_int_equal(f.v.nr, NAMES + 1);
	for (int i = 0; i < NAMES; i++)
		assert_true(value_of(&f, "functions.exclusive_ns",
				     textf(i % 3 ? "f%d" : "f\"%d\"", i)) == sums[i]);
	for (size_t i = 0; i < f.v.nr; i++)
		if (f.v.v[i].key[0] == '"')
			assert_true(strlen(f.v.v[i].key) == LONG + 1 && f.v.v[i].value == 8);
	assert_string_equal(f.v.v[0].key, "f\"0\"");
	assert_string_equal(f.v.v[1].key, "f1"); /* of the row that has no number */
	assert_string_equal(f.v.v[2].key, "f7");
	assert_int_equal(f.bad, ROWS / 10);
	assert_int_equal(f.problems.nr, 1);
	assert_has(f.problems.v[0], "100 rows with another number of cells");
	figures_release(&f);
}

TEST_IN(analysis_alone, dir)
{
	struct figures f;

	test_put(dir, "analysis.json", ANALYSIS);
	test_put(dir, "tables/functions.csv", "scope,name,calls,exclusive_ns\nhost,f,1,3\n");
	f = read_of(dir, "functions");
	assert_int_equal(f.v.nr, 2);
	assert_true(value_of(&f, "functions.exclusive_ns", "f") == 3);
	figures_release(&f);
}

/* Texts are shared, so the same key has the same id. */
TEST_IN(runs_share_texts, dir)
{
	struct figures a = FIGURES_INIT, b = FIGURES_INIT;
	struct intern *texts = intern_new();

	a.texts = b.texts = texts;
	test_put(dir, "a/run.json", RUN("{\"name\":\"x\",\"value\":1,\"unit\":\"s\"}"));
	test_put(dir, "b/run.json",
		 RUN("{\"name\":\"y\",\"value\":1},{\"name\":\"x\",\"value\":2}"));
	assert_int_equal(figures_read(in_dir(dir, "a"), NULL, &a, NULL), 0);
	assert_int_equal(figures_read(in_dir(dir, "b"), NULL, &b, NULL), 0);
	assert_int_equal(a.v.v[0].name_id, b.v.v[1].name_id);
	assert_ptr_equal(a.v.v[0].name, b.v.v[1].name);
	figures_release(&a);
	figures_release(&b);
	intern_free(texts);
}

TEST_IN(what_is_no_run, dir)
{
	static const struct {
		const char *text, *why;
	} bad[] = LIST(
		{ "", "run.json" }, { "[]", "schema ''" }, { "{", "run.json:1" },
		{ "{\"schema\":\"other/1\"}", "schema 'other/1'" },
		{ "{\"schema\":\"profrig.run/2\"}", "schema 'profrig.run/2'" },
		{ "{\"schema\":\"profrig.run/1\",\"metrics\":[{\"name\":\"a\",\"value\":1e999}]}",
		  "run.json:1" },
		{ "{\"schema\":\"profrig.run/1\",\"metrics\":[{\"name\":\"a\",\"value\":NaN}]}",
		  "run.json:1" });
	struct err err = ERR_INIT;

	assert_int_equal(failure_of(in_dir(dir, "none"), &err), -ENOENT);
	assert_int_equal(failure_of(dir, &err), -ENOENT);
	assert_has(err.msg, "neither a run directory (run.json) nor an analysis directory");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		test_put(dir, "run.json", bad[i].text);
		assert_int_equal(failure_of(dir, &err), -EINVAL);
		assert_has(err.msg, bad[i].why);
	}
	unlink(in_dir(dir, "run.json"));
	assert_int_equal(mkfifo(in_dir(dir, "run.json"), 0600), 0);
	assert_true(failure_of(dir, &err) < 0);
	unlink(in_dir(dir, "run.json"));
	test_put(dir, "elsewhere/run.json", RUN("{\"name\":\"x\",\"value\":1}"));
	assert_int_equal(symlink("elsewhere/run.json", in_dir(dir, "run.json")), 0);
	assert_true(failure_of(dir, &err) < 0);
}

TEST_IN(hostile_tables, dir)
{
	struct figures f;

	test_put(dir, "run.json", RUN(""));
	test_put(dir, "analysis/tables/functions.csv",
		 "scope,name,calls,exclusive_ns\n"
		 "host,a,1,nan\nhost,b,1,inf\nhost,c,x,1e400\nhost,d\nhost,e,1,5\n"
		 "host,f,1,0x10\nhost,\"open,1,2\n");
	test_put(dir, "away.csv", "device,name,class,calls,total_ns\ngpu0,k,gemm,1,5\n");
	assert_int_equal(symlink("../../away.csv", in_dir(dir, "analysis/tables/kernels.csv")), 0);
	assert_int_equal(mkfifo(in_dir(dir, "analysis/tables/energy.csv"), 0600), 0);
	test_put(dir, "analysis/tables/energy_totals.csv", "counter,total_j\nx,1\n");
	f = read_of(dir, "all");
	assert_true(value_of(&f, "functions.exclusive_ns", "e") == 5);
	assert_true(isnan(value_of(&f, "functions.exclusive_ns", "a")));
	assert_true(isnan(value_of(&f, "kernels.total_ns", "k")));
	assert_int_equal(f.bad, 5);
	/* a short row, a quote that stays open, links and FIFOs by each source, columns */
	assert_int_equal(f.problems.nr, 2 + 2 + 2 + 1);
	figures_release(&f);
}

TEST(selections)
{
	CLEANUP(strvec_release) struct strvec s = STRVEC_INIT;

	assert_true(figures_selected(NULL, "functions.calls", true));
	assert_false(figures_selected(&s, "functions.calls", false));
	strvec_push(&s, "functions");
	assert_true(figures_selected(&s, "functions.calls", false));
	assert_false(figures_selected(&s, "function", true));
	assert_false(figures_selected(&s, "functionss.calls", true));
	strvec_push(&s, "all");
	assert_true(figures_selected(&s, "anything", false));
}

TEST(known_figures)
{
	CLEANUP(table_freep) struct table *t = figures_known();

	assert_true(table_rows(t) >= 15);
	assert_string_equal(table_get_str(t, 0, 0), "energy.total_j");
	assert_string_equal(figure_better_name(FIGURE_NONE), "none");
}
