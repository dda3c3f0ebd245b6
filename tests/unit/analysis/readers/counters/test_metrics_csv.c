#include "readers_test.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/energy/energy.h"

#define FIX "tests/fixtures/metrics_csv/"
#define HEADER "Group,Metric Name,Time,Value\n"

#define assert_near(got, want, tolerance) \
	do { \
		double got_ = (got), want_ = (want); \
		if (!(fabs(got_ - want_) <= (tolerance))) \
			fail_msg("%s:%d: got %.12g, want %.12g", __FILE__, __LINE__, got_, want_); \
	} while (0)

static void assert_times(const struct series *s, size_t n, const int64_t *t_ns)
{
	assert_int_equal(s->t_ns.nr, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(s->t_ns.v[i], t_ns[i]);
}

/* What a counter adds up to, in J. */
static double total_of(const struct model *m, const struct series *s, enum integration how)
{
	struct energy_opts o = { .integration = how };
	series_id id = (series_id)(s - m->series.v);
	struct counter_info ci = counter_info(m, id);
	CLEANUP(curve_release) struct curve c = { 0 };

	assert_int_equal(curve_make(m, id, &ci, &o, &c, NULL), 0);
	return curve_total(&c);
}

TEST(two_ranks)
{
	static const int64_t energy0[] = { 500000000, 1500000000, 2500000000, 4500000000 };
	static const int64_t energy1[] = { 500000000, 2500000001 };
	static const int64_t power0[] = { 501000000, 1501000000, 2001000000, 4500000000 };
	static const int64_t cap1[] = { 10000, 2500000001 };
	READING rd = read_path("metrics_csv", FIX "two-ranks.csv", false);
	const struct model *m = rd.m;
	const struct series *e0 = series_named(m, "A2rocm_smi:::energy_count:device=0"),
			    *e1 = series_named(m, "A2rocm_smi:::energy_count:device=1"),
			    *p0 = series_named(m, "A2rocm_smi:::current_socket_power:device=0"),
			    *cap = series_named(m, "A2rocm_smi:::power_cap:device=1");
	struct counter_info ci = counter_info(m, (series_id)(e1 - m->series.v));

	expect_read(&rd, 0, "clock=own series=5");
	assert_times(e0, 4, energy0);
	assert_times(e1, 2, energy1);
	assert_times(p0, 4, power0); /* it fell, so it holds to the end of its recorder */
	assert_times(cap, 2, cap1);
	assert_true(p0->value.v[3] == 200e6 && cap->value.v[1] == 560e6);
	assert_int_equal(m->tracks.v[e0->track].rank, 0);
	assert_int_equal(m->tracks.v[e1->track].rank, 1);
	assert_int_equal(m->tracks.v[e1->track].kind, TRACK_PROCESS);
	assert_string_equal(model_str(m, m->tracks.v[e1->track].name), "MPI Rank 1");
	assert_string_equal(ci.device, "gpu1");
	assert_int_equal(ci.kind, SERIES_CUMULATIVE);
	assert_near(total_of(m, e0, INTEGRATE_LINEAR), 500, 1e-9);
	assert_near(total_of(m, p0, INTEGRATE_LINEAR), 100 + 150 + 200 * 2.499, 1e-9);
	expect_model(m, "fact.rows=11 fact.changes_only=1 fact.held=2 only");
}

/* A value twice in a row: nothing was left out, so gauges are read as any other. */
TEST(every_sample)
{
	READING rd = read_path("metrics_csv", FIX "every-sample.csv", false);
	const struct series *power = series_named(rd.m, "craypm:power");

	assert_int_equal(rd.r, 0);
	assert_false(power->change_points);
	assert_int_equal(power->value.nr, 3);
	assert_near(total_of(rd.m, power, INTEGRATE_LINEAR), 60 + 70, 1e-9);
	expect_model(rd.m, "fact.changes_only=0 fact.held=0");
}

/* The same samples without the repeated one, and in an order that proves nothing. */
TEST(silence_means_unchanged)
{
	static const struct {
		const char *rows;
		bool changes_only;
		size_t samples;
		double joules;
	} cases[] = {
		{ "p,craypm:power,0,600\np,craypm:power,2,800\np,other,3,1\n", true, 2, 1200 },
		{ "p,craypm:power,0,600\np,craypm:power,2,500\np,other,3,1\n", true, 3, 1700 },
		{ "p,craypm:power,0,600\np,other,3,1\n", true, 2, 1800 },
		{ "p,craypm:power,0,600\nq,other,3,1\n", true, 1, 0 },
		{ "p,craypm:power,0,800\np,craypm:power,2,800\np,craypm:power,1,600\n", true, 3,
		  1400 },
		{ "p,craypm:power,0,600\np,craypm:power,1,600\np,craypm:power,2,800\n", false, 3,
		  1300 },
		{ "p,craypm:power,0,600\np,craypm:power,0,600\np,craypm:power,2,800\n", true, 3,
		  1200 },
		/* a counter is a line between its rows, and its tail is not made up */
		{ "p,craypm:energy,0,600\np,craypm:energy,2,800\np,other,3,1\n", true, 2, 200 },
		{ "p,craypm:energy,1,700\np,craypm:energy,0,600\np,craypm:energy,2,800\np,other,3,"
		  "1\n",
		  true, 3, 200 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *text = xasprintf(HEADER "%s", cases[i].rows);
		READING rd = read_text("metrics_csv", text);
		const struct series *s = &rd.m->series.v[0];

		if (s->change_points != cases[i].changes_only)
			ROW_FAIL(i, "changes only: %d", s->change_points);
		if (s->value.nr != cases[i].samples)
			ROW_FAIL(i, "%zu samples", s->value.nr);
		if (fabs(total_of(rd.m, s, INTEGRATE_LINEAR) - cases[i].joules) > 1e-9)
			ROW_FAIL(i, "%g J", total_of(rd.m, s, INTEGRATE_LINEAR));
	}
}

/* An energy counter of which changes are stored is one with holes all the same. */
TEST(counters_have_holes)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct energy_opts limited = { .integration = INTEGRATE_LINEAR, .max_gap_ns = 1000000000 };
	CLEANUP(curve_release) struct curve c = { 0 };
	struct counter_info ci;

	strbuf_addstr(&sb, HEADER);
	for (int i = 0; i <= 20; i++)
		strbuf_addf(&sb, "p,craypm:energy,%d,%d\np,craypm:power,%d,%d\n",
			    i < 10 ? i : i + 30, i * 100, i < 10 ? i : i + 30, i % 2);
	READING rd = read_text("metrics_csv", sb.buf);
	for (series_id s = 0; s < 2; s++) {
		assert_true(rd.m->series.v[s].change_points);
		ci = counter_info(rd.m, s);
		assert_int_equal(counter_holds(rd.m, s, &ci), s == 1);
		assert_int_equal(curve_make(rd.m, s, &ci, &limited, &c, NULL), 0);
		assert_int_equal(c.flags & CF_GAP, s == 0 ? CF_GAP : 0);
		curve_release(&c);
	}
}

TEST(quoted)
{
	READING rd = read_path("metrics_csv", FIX "quoted.csv", false);
	const struct series *s = series_named(rd.m, "name, with commas and\nline end");

	expect_read(&rd, 0, "series=1");
	assert_string_equal(model_str(rd.m, rd.m->tracks.v[s->track].name),
			    "MPI Rank 7, host \"a\"");
	expect_model(rd.m, "only ~'name, with commas and\nline end': t[0]=-250000000 "
			   "t[1]=1200000000 v[0]=1.5 v[1]=2.5");
}

TEST(ranks)
{
	static const struct {
		const char *group;
		int32_t rank;
	} cases[] = LIST({ "MPI Rank 12", 12 }, { "rank_3", 3 }, { "Rank:4", 4 }, { "x.rank5", 5 },
			 { "MPI  RANK #0", 0 }, { "crank 5", RANK_NONE }, { "MPI Rank", RANK_NONE },
			 { "12", RANK_NONE }, { "Rank 1a", RANK_NONE }, { "Process 3", RANK_NONE },
			 { "ank 3", RANK_NONE }, { "Rank -1", RANK_NONE },
			 { "Rank 2147483647", INT32_MAX }, { "Rank 2147483648", RANK_NONE });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *text = xasprintf(HEADER "%s,m,1,2\n", cases[i].group);
		READING rd = read_text("metrics_csv", text);

		assert_int_equal(rd.m->tracks.nr, 1);
		if (rd.m->tracks.v[0].rank != cases[i].rank)
			ROW_FAIL(i, "rank %d", rd.m->tracks.v[0].rank);
	}
}

TEST(bad_rows)
{
	READING rd = read_path("metrics_csv", FIX "bad-rows.csv", false);
	const struct series *s = series_named(rd.m, "m");

	expect_read(&rd, 0, "~m: samples=3 v[1]=15 v[2]=16 failed=4");
	assert_int_equal(rd.m->tracks.v[s->track].rank, 3);
	assert_int_equal(series_named(rd.m, "nobody's")->track, TRACK_NONE);
	expect_model(rd.m, "W_BAD_EVENT=5 W_BAD_NUMBER=3 W_READ_FAILED=3");
	assert_has(warning_text(rd.m, W_BAD_EVENT), "line 3");
}

TEST(empty)
{
	static const struct refused cases[] = {
		{ "", -ENODATA, "no header line" },
		{ "\n\n", -ENODATA, "no header line" },
		{ "Group,Metric,Time,Value\na,b,1,2\n", -EINVAL, "line 1: the header is not" },
		{ "\n\"Group,Metric\n", -EINVAL, "line 2: quote without an end" },
	};

	expect_file("metrics_csv", FIX "header-only.csv", false, 0, "series=0 W_EMPTY_INPUT only");
	expect_refused("metrics_csv", cases, ARRAY_LEN(cases));
}

TEST(damaged)
{
	static const struct {
		const char *path, *words;
	} cases[] = {
		{ FIX "cut.csv", "the last row has no line end" },
		{ FIX "open-quote.csv", "line 3: quote without an end" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_path("metrics_csv", cases[i].path, false);

		assert_int_equal(rd.r, READ_PARTIAL);
		assert_true(rd.m->inputs.v[0].partial);
		expect_model(rd.m, "input.samples=1 W_TRUNCATED only");
		assert_has(rd.m->warnings.v[0].text, cases[i].words);
	}
}

/* Wherever a file is cut, the whole rows before count and nothing else does. */
TEST(cut_everywhere)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	int64_t rows = -1;

	assert_int_equal(fs_read(FIX "two-ranks.csv", 65536, &text, &n, NULL), 0);
	for (size_t i = 0; i <= n; i++) {
		bool at_end = i > 0 && text[i - 1] == '\n', header = i == strlen(HEADER) - 1;
		READING rd = read_bytes("metrics_csv", text, i);

		rows += at_end;
		if (i < strlen(HEADER) - 1)
			assert_true(rd.r < 0);
		else
			assert_int_equal(rd.r, at_end || header ? 0 : READ_PARTIAL);
		if (rd.r >= 0)
			assert_int_equal(fact(rd.m, "rows"), rows < 0 ? 0 : rows);
	}
	assert_int_equal(rows, 11);
}

TEST(too_many_metrics)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, HEADER);
	for (int i = 0; i < 32768 + 3; i++)
		strbuf_addf(&sb, "g,m%d,1,2\n", i);
	strbuf_addstr(&sb, "g,m32769,2,3\ng,m7,2,3\n");
	READING rd = read_bytes("metrics_csv", sb.buf, sb.len);
	expect_model(rd.m, "series=32768 W_BAD_EVENT=4 ~m7: samples=2");
}

/* ---- what a converter leaves out of a recorded archive ---- */

/* The samples of an archive as a converter writes them, without repeated values. */
static size_t write_changes(const struct model *m, struct strbuf *sb)
{
	size_t rows = 0;

	strbuf_addstr(sb, HEADER);
	for (size_t s = 0; s < m->series.nr; s++) {
		const struct series *se = &m->series.v[s];

		for (size_t i = 0; i < se->value.nr; i++) {
			char value[32];

			if (i > 0 && se->value.v[i] == se->value.v[i - 1])
				continue;
			num_fmt_f64(value, se->value.v[i]);
			strbuf_addf(sb, "Process,%s,%" PRId64 "e-9,%s\n", model_str(m, se->name),
				    se->t_ns.v[i], value);
			rows++;
		}
	}
	return rows;
}

/*
 * MI300A: four devices' power as steps, from every sample 2232.1016, 1816.8947, 879.1116,
 * 902.1753 J. Without the held tails it would be 2225.8211, 1816.8947, 744.5578, 899.0526.
 */
TEST(changes_of_an_archive)
{
	static const double steps_j[] = { 2232.101606, 1816.8947, 879.111577, 902.1753 };
	static const double counted_j[] = { 2237.380365, 1874.190017, 881.594227, 904.416717 };
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct reading full, rd;

	full = read_path("otf2", kept(test_trace("otf2/mi300a-two-kernels")), false);
	assert_int_equal(full.r, 0);
	assert_int_equal(write_changes(full.m, &sb), 19722);
	rd = read_bytes("metrics_csv", sb.buf, sb.len);
	expect_read(&rd, 0, "fact.changes_only=1");
	for (int d = 0; d < 4; d++) {
		CLEANUP(xfreep)
		char *power = xasprintf("A2rocm_smi:::current_socket_power:device=%d", d),
		     *energy = xasprintf("A2rocm_smi:::energy_count:device=%d", d);
		double got = total_of(rd.m, series_named(rd.m, power), INTEGRATE_PREVIOUS);

		print_message("# device %d: %.4f J of %.4f\n", d, got, steps_j[d]);
		assert_near(total_of(full.m, series_named(full.m, power), INTEGRATE_PREVIOUS),
			    steps_j[d], 1e-4);
		assert_near(got, steps_j[d], 1e-4);
		assert_near(total_of(rd.m, series_named(rd.m, energy), INTEGRATE_LINEAR),
			    counted_j[d], 1e-6);
	}
	reading_release(&full);
	reading_release(&rd);
}
