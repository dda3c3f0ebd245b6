#include "test.h"

#include <math.h>

#include "profrig/base/num.h"
#include "profrig/report/headline.h"

/* Lines of words between blanks, the first are the columns: "-" is "" or unknown; a column of
 * numbers has one in the first row. */
static void headline_add(struct report *r, const char *name, const char *text)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	struct table *t = table_new(name);
	bool number[16] = { false };

	strvec_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.nr; i++) {
		CLEANUP(strvec_release) struct strvec cells = STRVEC_INIT, first = STRVEC_INIT;

		strvec_split(&cells, lines.v[i], " ");
		if (i == 0)
			strvec_split(&first, lines.v[1], " ");
		for (size_t c = 0; c < cells.nr; c++) {
			const char *s = cells.v[c];
			double v = NAN;

			if (i == 0) {
				number[c] = num_f64(first.v[c], strlen(first.v[c]), &v) >= 0;
				table_col(t, s, number[c] ? TABLE_F64 : TABLE_STR, NULL);
				continue;
			}
			if (!number[c]) {
				table_str(t, strcmp(s, "-") ? s : "");
				continue;
			}
			num_f64(s, strlen(s), &v);
			table_f64(t, v);
		}
		if (i > 0)
			table_row(t);
	}
	table_set_add(&r->tables, t);
}

static struct headline made(struct report *r, const char *analysis, const char *run)
{
	struct headline h;

	r->analysis_json = (char *)analysis;
	r->run_json = (char *)run;
	headline_make(r, &h);
	return h;
}

static void headline_drop(struct report *r, struct headline *h)
{
	headline_release(h);
	table_set_release(&r->tables);
	*r = (struct report)REPORT_INIT;
}

/* "gpu0/energy.gpu0/host pkg0/pkg/host" */
static char *used(const struct headline *h, int use)
{
	struct strbuf s = STRBUF_INIT;

	for (size_t i = 0; i < h->counters.nr; i++) {
		const struct headline_counter *c = &h->counters.v[i];

		if ((int)c->use == use)
			strbuf_addf(&s, "%s%s/%s/%s", s.len ? " " : "", c->device, c->counter,
				    c->view);
	}
	return strbuf_steal(&s);
}

static void used_are(const struct headline *h, const char *summed, const char *beside)
{
	assert_string_equal(kept(used(h, HEADLINE_SUMMED)), summed);
	assert_string_equal(kept(used(h, HEADLINE_BESIDE)), beside);
}

static const char totals[] = "counter device view total_j\n"
			     "power.gpu0 gpu0 host 95\n"
			     "energy.gpu0 gpu0 device 100\n"
			     "energy.gpu0 gpu0 host 100\n"
			     "pkg pkg0 host 40\n";
static const char counters[] = "series device kind flags\n"
			       "power.gpu0 gpu0 gauge -\n"
			       "energy.gpu0 gpu0 cumulative gap\n"
			       "pkg pkg0 cumulative estimated\n";

TEST(test_a_device_counts_once)
{
	struct report r = REPORT_INIT;
	struct headline h;

	headline_add(&r, "energy_totals", totals);
	headline_add(&r, "counters", counters);
	h = made(&r, NULL, NULL);
	assert_true(h.energy_j == 100);
	assert_false(h.estimated || h.integrated);
	used_are(&h, "gpu0/energy.gpu0/host", "pkg0/pkg/host");
	assert_true(h.counters.v[3].estimated);
	assert_true(h.counters.v[0].outranked && !h.counters.v[2].outranked);
	assert_true(h.counters.v[0].rank > h.counters.v[1].rank);
	headline_release(&h);
	/* the idle time around the workload is not the workload's */
	headline_add(&r, "idle_power",
		     "counter device idle_j\nenergy.gpu0 gpu0 30\npower.gpu0 gpu0 31\n");
	h = made(&r, NULL, NULL);
	assert_true(h.energy_j == 70);
	assert_true(h.counters.v[2].j == 70 && h.counters.v[2].total_j == 100);
	headline_drop(&r, &h);
}

/* A measured one goes before an estimate, a known total before a better counter without one. */
TEST(test_which_counter_is_best)
{
	struct report r = REPORT_INIT;
	struct headline h;

	headline_add(&r, "energy_totals",
		     "counter device view total_j\na gpu0 host 90\nb gpu0 host 50\nc gpu1 host 7\n"
		     "d gpu1 host -\n");
	headline_add(&r, "counters",
		     "series device kind flags\na gpu0 cumulative estimated\nb gpu0 gauge -\n"
		     "c gpu1 gauge -\nd gpu1 cumulative -\n");
	h = made(&r, NULL, NULL);
	used_are(&h, "gpu0/b/host gpu1/c/host", "");
	assert_true(h.energy_j == 57);
	assert_true(h.integrated && !h.estimated);
	assert_false(h.counters.v[2].outranked);
	headline_drop(&r, &h);
}

TEST(test_a_whole_node_stands_beside_its_parts)
{
	struct report r = REPORT_INIT;
	struct headline h;

	headline_add(
		&r, "energy_totals",
		"counter device view total_j\np node0 host 90\nq cpu0 host 50\ns a:psys host 60\n");
	h = made(&r, NULL, NULL);
	used_are(&h, "cpu0/q/host", "node0/p/host a:psys/s/host");
	headline_drop(&r, &h);
	headline_add(&r, "energy_totals", "counter device view total_j\np node0 host 90\n");
	h = made(&r, NULL, NULL);
	used_are(&h, "node0/p/host", "");
	headline_drop(&r, &h);
}

TEST(test_names_of_accelerators)
{
	static const char *const yes[] = { "gpu0", "n1:gpu12", "XPU3", "rank3:npu0", "gcd7" };
	static const char *const no[] = { "gpu", "gpu0a", "pkg0", "gpu0:pkg0", "agpu0", "", "7" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		assert_true(headline_is_accelerator(yes[i]));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_false(headline_is_accelerator(no[i]));
}

TEST(test_devices_that_never_worked)
{
	struct report r = REPORT_INIT;
	struct headline h;

	headline_add(&r, "busy", "device union_ns wall_ns busy\ngpu0 75 100 0.75\n");
	h = made(&r,
		 "{\"devices\":[\"gpu0\",\"gpu1\",\"hwmon2\"],"
		 "\"window\":{\"start_ns\":50,\"end_ns\":200}}",
		 NULL);
	assert_int_equal(h.without.nr, 1);
	assert_string_equal(h.without.v[0], "gpu1");
	assert_true(h.busy == 0.25); /* 75 of 150 ns on one of two devices */
	assert_true(h.devices.v[0].share == 0.5 && h.devices.v[0].busy == 0.75);
	headline_release(&h);
	/* of several windows; and where the recording has no known length */
	h = made(&r,
		 "{\"window\":{\"start_ns\":0,\"end_ns\":900,\"parts\":["
		 "{\"start_ns\":0,\"end_ns\":100},{\"start_ns\":800,\"end_ns\":900}]}}",
		 NULL);
	assert_true(h.busy == 0.375);
	headline_release(&h);
	h = made(&r, NULL, NULL);
	assert_true(h.busy == 0.75 && h.devices.v[0].share == 0.75);
	headline_drop(&r, &h);
}

/* "a 700, b 290" */
static char *parts_of(const struct headline *h)
{
	struct strbuf s = STRBUF_INIT;

	for (size_t i = 0; i < h->parts.nr; i++)
		strbuf_addf(&s, "%s%s %.0f", s.len ? ", " : "", h->parts.v[i].name,
			    h->parts.v[i].ns);
	return strbuf_steal(&s);
}

TEST(test_where_the_time_went)
{
	static const char busy[] =
		"device union_ns wall_ns busy\ngpu0 75 100 0.75\ngpu1 25 100 0.25\n";
	static const char overlap[] =
		"device wall_ns compute_ns exposed_comm_ns exposed_copy_ns idle_ns\n"
		"gpu0 100 60 20 5 15\n";
	static const struct {
		const char *table, *text, *parts, *within;
		bool mostly;
		double total;
	} cases[] = {
		{ "busy", busy, "device busy 100, device idle 100", NULL, false, 200 },
		{ "overlap", overlap,
		  "compute 60, exposed communication 20, exposed copy 5, idle 15", NULL, false,
		  100 },
		/* a wrapper is opened */
		{ "callpaths",
		  "track path depth inclusive_ns exclusive_ns\n"
		  "t main 0 1000 10\nt main;a 1 700 700\nt main;b 1 290 290\n"
		  "[unattributed] [unattributed] 0 5 5\n",
		  "a 700, b 290, inside main itself 10", "main", false, 1000 },
		/* what stands beside it is no time of the wrapper */
		{ "callpaths",
		  "track path depth inclusive_ns exclusive_ns\n"
		  "t epoch 0 980 3\nt epoch;step 1 977 7\nt epoch;step;f 2 600 600\n"
		  "t epoch;step;g 2 370 370\nt data 0 20 20\n",
		  "f 600, g 370, data 20, inside epoch › step itself 10", "epoch;step", true,
		  1000 },
		/* the sixth and seventh are one part */
		{ "callpaths",
		  "track path depth inclusive_ns exclusive_ns\n"
		  "t a 0 50 50\nt b 0 40 40\nt c 0 30 30\nt d 0 20 20\nt e 0 10 10\n"
		  "t f 0 5 5\nt g 0 5 5\nu a 0 1 1\n",
		  "a 51, b 40, c 30, d 20, e 10, 2 more 10", NULL, false, 161 },
		{ "callpaths", "track path depth inclusive_ns\nt a 0 0\n", "", NULL, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct report r = REPORT_INIT;
		struct headline h;
		CLEANUP(xfreep) char *parts = NULL;

		headline_add(&r, cases[i].table, cases[i].text);
		if (i == 1)
			headline_add(&r, "busy", busy);
		h = made(&r, NULL, NULL);
		parts = parts_of(&h);
		assert_string_equal(parts, cases[i].parts);
		assert_string_equal(h.within, cases[i].within ?: "");
		assert_true(h.mostly == cases[i].mostly);
		assert_true(h.split_ns == cases[i].total);
		headline_drop(&r, &h);
	}
}

TEST(test_time_of_the_workload_or_recorded)
{
	struct report r = REPORT_INIT;
	struct headline h = made(&r, NULL, NULL);

	assert_string_equal(h.time_of, "none");
	assert_true(isnan(h.time_ns));
	headline_release(&h);
	headline_add(&r, "callpaths",
		     "track path depth inclusive_ns\nt a 0 10\nt b 0 20\nt b;c 1 15\nu a 0 25\n");
	h = made(&r, NULL, NULL);
	assert_true(h.time_ns == 25);
	headline_release(&h);
	headline_add(&r, "counters", "series device last_ns\ns gpu0 40\n");
	h = made(&r, NULL, NULL);
	assert_true(h.time_ns == 40);
	headline_release(&h);
	h = made(&r, "{\"window\":{\"start_ns\":100,\"end_ns\":300}}", NULL);
	assert_string_equal(h.time_of, "recorded");
	assert_true(h.time_ns == 200);
	headline_release(&h);
	h = made(&r, "{\"window\":{\"start_ns\":100,\"end_ns\":300}}",
		 "{\"durations_s\":{\"workload\":1.5}}");
	assert_string_equal(h.time_of, "workload");
	assert_true(h.time_ns == 1.5e9);
	headline_drop(&r, &h);
}

TEST(test_tools_around_the_workload)
{
	static const struct {
		double start, end;
		const char *argv, *names;
	} cases[] = { { 1e8, 9e8, "[\"perf\"]", "perf" },
		      { 1e8, 9e8, "[]", "" },
		      { 0, 19e8, "[\"perf\"]", "" } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *analysis = xasprintf(
			"{\"inputs\":[{\"path\":\"r/artifacts/perf/s\",\"start_ns\":%.0f,"
			"\"end_ns\":%.0f,\"clock\":{\"aligned\":true,\"shift_ns\":5}},"
			"{\"path\":\"r/samples/x.csv\",\"start_ns\":0,\"end_ns\":9000000000,"
			"\"clock\":{\"aligned\":true,\"shift_ns\":0}}]}",
			cases[i].start, cases[i].end);
		struct report r = REPORT_INIT;
		struct headline h = made(&r, analysis,
					 textf("{\"durations_s\":{\"workload\":2},\"tools\":["
					       "{\"name\":\"perf\",\"argv\":%s},"
					       "{\"name\":\"cpu_power\",\"argv\":[]}]}",
					       cases[i].argv));

		assert_int_equal(h.around.nr, *cases[i].names != '\0');
		if (h.around.nr) {
			assert_string_equal(h.around.v[0], cases[i].names);
			assert_true(h.around_ns == 8e8);
		}
		headline_drop(&r, &h);
	}
}

/* Of each row the better estimate; of a sum all that it has. */
TEST(test_energy_of_costs)
{
	struct report r = REPORT_INIT;
	struct headline h;

	headline_add(&r, "functions",
		     "scope name calls exclusive_ns share\ndevice k1 2 50 0.5\n"
		     "device k2 1 40 0.4\ndevice k3 1 5 0.1\n");
	headline_add(&r, "energy_totals", totals);
	headline_add(&r, "counters", counters);
	headline_add(&r, "energy",
		     "counter device view name exclusive_j best_j estimate\n"
		     "energy.gpu0 gpu0 device k1 30 20 power\n"
		     "energy.gpu0 gpu0 device k1 5 6 power\n"
		     "energy.gpu0 gpu0 device k2 7 8 power\n"
		     "energy.gpu0 gpu0 device k2 1 1 time\n"
		     "energy.gpu0 gpu0 device k3 2 2 time\n");
	h = made(&r, NULL, NULL);
	assert_true(h.costs.v[0].energy_j == 26 && h.costs.v[1].energy_j == 9);
	assert_string_equal(h.costs.v[0].estimate, "power");
	assert_string_equal(h.costs.v[1].estimate, "time and power");
	assert_string_equal(h.costs.v[2].estimate, "time");
	headline_drop(&r, &h);
}

TEST(test_largest_costs)
{
	struct report r = REPORT_INIT;
	struct headline h;

	headline_add(&r, "functions",
		     "scope name calls exclusive_ns share\ndevice k1 2 50 0.5\ndevice k2 1 60 0.4\n"
		     "device k3 1 5 0.1\ndevice k4 1 6 0.1\nhost main 1 900 1\n"
		     "device [unattributed] 1 999 0\n");
	headline_add(&r, "energy_totals", totals);
	headline_add(&r, "counters", counters);
	headline_add(&r, "energy",
		     "counter device view name exclusive_j\nenergy.gpu0 gpu0 device k1 30\n"
		     "energy.gpu0 gpu0 device k1 5\nenergy.gpu0 gpu0 host k1 7\n"
		     "power.gpu0 gpu0 device k1 29\npkg pkg0 device k2 9\n");
	h = made(&r, NULL, NULL);
	assert_string_equal(h.cost_scope, "device");
	assert_int_equal(h.costs.nr, 3);
	assert_string_equal(h.costs.v[0].name, "k2");
	assert_true(h.costs.v[0].row == 1 && isnan(h.costs.v[0].energy_j));
	assert_string_equal(h.costs.v[1].name, "k1");
	assert_true(h.costs.v[1].energy_j == 35);
	assert_string_equal(h.costs.v[1].estimate, "");
	assert_string_equal(h.costs.v[2].name, "k4");
	headline_drop(&r, &h);
	headline_add(&r, "functions",
		     "scope name calls exclusive_ns share\ndevice mark 1 0 0\nhost main 1 900 1\n");
	h = made(&r, NULL, NULL);
	assert_string_equal(h.cost_scope, "host");
	headline_drop(&r, &h);
}

TEST(test_odd_tables_and_texts)
{
	static const char *const docs[] = { "", "7", "[]", "{\"window\":3,\"devices\":{}}",
					    "{\"inputs\":[null,7,{\"path\":1,\"clock\":[]}]}" };
	struct report r = REPORT_INIT;

	headline_add(&r, "energy_totals", "counter total_j\n1 x\n");
	headline_add(&r, "functions", "scope exclusive_ns\n1 x\n");
	headline_add(&r, "callpaths", "path depth\n1 x\n");
	headline_add(&r, "busy", "device\n1\n");
	for (size_t i = 0; i < ARRAY_LEN(docs); i++) {
		struct headline h = made(&r, docs[i], docs[i]);

		assert_true(isnan(h.busy) && isnan(h.energy_j));
		headline_release(&h);
	}
	table_set_release(&r.tables);
}
