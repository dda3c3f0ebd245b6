/*
 * Laws of the tables, from archives on: generated archive → reader → model → tables, compared with
 * what the generator knows (tests/fixtures/gen/otf2_big.h) and with an oracle in whole numbers
 * (otf2_truth.h). PROFRIG_PROPERTY_CASES archives per law; the seed of one that fails is printed.
 */
#include "otf2_support.h"
#include "profile_support.h"
#include "tests/fixtures/gen/otf2_big.c"
#include "tests/fixtures/gen/otf2_big_write.c"
#include "tests/fixtures/gen/otf2_gen.c"
#include "tests/fixtures/gen/otf2_truth.c"

#define CASES 200
#define TOLERANCE 1e-11 /* of the counter's total */

/* ---- the path under test ---- */

static void tables_of(const char *archive, const struct energy_opts *energy, struct table_set *ret)
{
	struct analysis_opts o = { .energy = *energy };
	CLEANUP(model_freep) struct model *m = read_archive(archive, 0, false);
	struct err err = ERR_INIT;

	*ret = (struct table_set)TABLE_SET_INIT;
	for (size_t i = 0; analyses[i]; i++)
		if (analysis_run(analyses[i], m, NULL, &o, ret, &err) < 0)
			fail_msg("%s: %s", analyses[i]->name, err.msg);
}

/* ---- archives ---- */

static uint64_t draw(uint64_t *random, uint64_t from, uint64_t to)
{
	return from + splitmix64(random) % (to - from + 1);
}

static bool rarely(uint64_t *random)
{
	return splitmix64(random) % 4 == 0;
}

static void draw_shape(uint64_t *r, struct big_opts *o)
{
	o->hosts = rarely(r) ? draw(r, 2, 3) : 1;
	o->processes = draw(r, 1, 3);
	o->threads = draw(r, 1, 3);
	o->queues = draw(r, 0, 2);
	o->devices = draw(r, 1, 2);
	o->idle_hosts = rarely(r);
	o->dark_hosts = rarely(r);
	o->queue_depth = o->processes * o->queues <= 5 ? draw(r, 1, 2) : 1;
	o->messages = rarely(r) ? draw(r, 1, 3) : 0;
	o->power = rarely(r);
}

static void draw_calls(uint64_t *r, struct big_opts *o)
{
	o->events = draw(r, 1, 20) * 2;
	o->spacing_ns = draw(r, 1, 3) == 1 ? draw(r, 1, 10) : draw(r, 100, 20000);
	o->depth = draw(r, 1, 12);
	o->regions = draw(r, 1, 8);
	o->fanout = draw(r, 1, 3);
	o->recursion = draw(r, 0, 60);
	o->roots = rarely(r) ? draw(r, 1, 3) : 0;
	o->gaps = draw(r, 0, 60);
	o->touching = draw(r, 0, 60);
	o->snapped = rarely(r) ? draw(r, 0, 100) : 0;
}

static void draw_samples(uint64_t *r, struct big_opts *o)
{
	uint64_t length_us = o->events * o->spacing_ns / 1000;

	o->period_us = 1 + length_us / draw(r, 4, 30);
	o->jitter = draw(r, 0, 50);
	o->lead_us = draw(r, 0, 3 * o->period_us);
	o->tail_us = draw(r, 2 * o->period_us, 5 * o->period_us);
	/* so that there are two samples, however short the calls turn out to be */
	o->late_us = rarely(r) ? draw(r, 0, o->tail_us - 1) : 0;
	o->early_us = rarely(r) && !o->late_us && o->lead_us ? draw(r, 0, o->lead_us - 1) : 0;
	o->resets = rarely(r) ? 100 : 0;
	o->holes = rarely(r) ? 50 : 0;
	/* not stuck: what of a counter that stands still is unknown is judged, not counted; see
	 * test_counter_tables */
	o->wrap_bits = rarely(r) ? 36 : 0;
}

struct one {
	struct big_opts o;
	struct energy_opts energy;
	struct big_plan p;
	struct big_facts facts;
	struct truths truths;
	struct table_set ts;
};

static void one_make(struct one *x, uint64_t seed)
{
	uint64_t random = seed;

	*x = (struct one){ .o = BIG_OPTS_INIT };
	x->o.seed = seed;
	draw_shape(&random, &x->o);
	draw_calls(&random, &x->o);
	draw_samples(&random, &x->o);
	if (rarely(&random))
		x->energy.max_gap_ns = (int64_t)(x->o.period_us * draw(&random, 1, 3)) * 1000;
}

static void one_analyse(struct one *x, const struct place *place)
{
	big_plan_make(&x->o, &x->p);
	big_write(&x->p, place->archive, &x->facts);
	tables_of(place->archive, &x->energy, &x->ts);
	assert_int_equal(fs_remove_tree(place->archive, NULL), 0);
}

static void one_release(struct one *x)
{
	big_plan_release(&x->p);
	big_facts_release(&x->facts);
	truths_release(&x->truths);
	table_set_release(&x->ts);
}

static uint64_t seed_now;
#define FAIL(fmt, ...) fail_msg("seed %" PRIu64 ": " fmt, seed_now, ##__VA_ARGS__)
#define EXPECT(what) \
	do { \
		if (!(what)) \
			FAIL("not so: %s", #what); \
	} while (0)

/* ---- tables ---- */

static const struct table *table_of(const struct one *x, const char *name)
{
	const struct table *t = table_set_find(&x->ts, name);

	if (!t)
		FAIL("no table '%s'", name);
	return t;
}

/* The row whose first columns are these; SIZE_MAX: there is none. */
static size_t row_of(const struct table *t, size_t n, const char *const *keys)
{
	size_t found = SIZE_MAX;

	for (size_t r = 0; t && r < table_rows(t); r++) {
		size_t same = 0;

		while (same < n && strcmp(table_get_str(t, r, same), keys[same]) == 0)
			same++;
		if (same < n)
			continue;
		if (found != SIZE_MAX)
			FAIL("%s: two rows %s %s %s", table_name(t), keys[0], keys[1],
			     n > 2 ? keys[2] : "");
		found = r;
	}
	return found;
}

static double number(const struct table *t, size_t row, const char *column)
{
	int c = table_find_col(t, column);

	EXPECT(c >= 0);
	return table_get_f64(t, row, (size_t)c);
}

static const char *text(const struct table *t, size_t row, const char *column)
{
	int c = table_find_col(t, column);

	EXPECT(c >= 0);
	return table_get_str(t, row, (size_t)c);
}

static void same(const struct table *t, size_t row, const char *column, double want,
		 double tolerance)
{
	double got = number(t, row, column);
	bool by_name = table_find_col(t, "name") >= 0;

	if (!(fabs(got - want) <= tolerance))
		FAIL("%s row %zu (%s) %s: got %.17g, want %.17g", table_name(t), row,
		     by_name ? text(t, row, "name") : "", column, got, want);
}

/* ---- times ---- */

static size_t functions_of(const struct one *x, const struct table *t, enum big_kind kind)
{
	size_t rows = 0;

	for (uint32_t region = 0; region < x->o.regions; region++) {
		struct big_function sum = { .min_ns = INT64_MAX };
		char name[32];
		size_t row;

		for (size_t i = 0; i < x->p.locations.nr; i++) {
			const struct big_function *f = x->facts.locations.v[i].functions;

			if (x->p.locations.v[i].kind != kind || f[region].calls == 0)
				continue;
			sum.calls += f[region].calls;
			sum.inclusive_ns += f[region].inclusive_ns;
			sum.exclusive_ns += f[region].exclusive_ns;
			sum.min_ns = f[region].min_ns < sum.min_ns ? f[region].min_ns : sum.min_ns;
			sum.max_ns = f[region].max_ns > sum.max_ns ? f[region].max_ns : sum.max_ns;
		}
		if (sum.calls == 0)
			continue;
		rows++;
		big_region_name(&x->p, kind, region, name, sizeof(name));
		row = row_of(t, 2, (const char *[]){ kind == BIG_QUEUE ? "device" : "host", name });
		if (row == SIZE_MAX)
			FAIL("functions: no row for %s", name);
		same(t, row, "calls", (double)sum.calls, 0);
		same(t, row, "inclusive_ns", (double)sum.inclusive_ns, 0);
		same(t, row, "exclusive_ns", (double)sum.exclusive_ns, 0);
		same(t, row, "min_ns", (double)sum.min_ns, 0);
		same(t, row, "max_ns", (double)sum.max_ns, 0);
	}
	return rows;
}

static void check_functions(const struct one *x)
{
	const struct table *t = table_of(x, "functions");

	EXPECT(functions_of(x, t, BIG_THREAD) + functions_of(x, t, BIG_QUEUE) == table_rows(t));
}

static void path_text(const struct one *x, const struct big_facts_location *f, uint32_t at,
		      struct strbuf *path)
{
	char name[32];

	if (f->paths.v[at].parent != UINT32_MAX) {
		path_text(x, f, f->paths.v[at].parent, path);
		strbuf_addch(path, ';');
	}
	big_region_name(&x->p, BIG_THREAD, f->paths.v[at].region, name, sizeof(name));
	strbuf_addstr(path, name);
}

static void check_callpaths(const struct one *x)
{
	const struct table *t = table_of(x, "callpaths");
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;
	size_t rows = 0;

	for (size_t i = 0; i < x->p.locations.nr; i++) {
		const struct big_facts_location *f = &x->facts.locations.v[i];

		if (x->p.locations.v[i].kind != BIG_THREAD)
			continue;
		for (uint32_t n = 1; n < f->paths.nr; n++, rows++) {
			size_t row;

			strbuf_clear(&path);
			path_text(x, f, n, &path);
			row = row_of(t, 2, (const char *[]){ x->p.locations.v[i].name, path.buf });
			if (row == SIZE_MAX)
				FAIL("callpaths: no row for %s", path.buf);
			same(t, row, "depth", f->paths.v[n].depth, 0);
			same(t, row, "calls", (double)f->paths.v[n].calls, 0);
			same(t, row, "inclusive_ns", (double)f->paths.v[n].inclusive_ns, 0);
			same(t, row, "exclusive_ns", (double)f->paths.v[n].exclusive_ns, 0);
		}
	}
	for (size_t r = 0; r < table_rows(t); r++)
		rows += strcmp(text(t, r, "path"), "[unattributed]") == 0;
	EXPECT(rows == table_rows(t));
}

/* ---- energy ---- */

/* Where a counter knows nothing of all of a call's own time, the cell is empty. */
static void same_energy(const struct table *t, size_t row, const char *column, truth_int want,
			const struct truth_row *w, bool unknown_times, double tolerance)
{
	if (unknown_times && isnan(number(t, row, column)) && want == 0 && w->exclusive_ns == 0)
		return;
	same(t, row, column, truth_j(want), tolerance);
}

static size_t check_truth(const struct one *x, const struct truth *w)
{
	const struct table *t = table_of(x, "energy"), *totals = table_of(x, "energy_totals");
	const struct big_location *counter = &x->p.locations.v[w->counter];
	double tolerance = TOLERANCE * truth_j(w->total) + 1e-15;
	bool unknown = w->resets > 0 || x->energy.max_gap_ns > 0;
	char device[64], name[32];
	const char *keys[5] = { counter->name, device, w->device_view ? "device" : "host", "",
				"[unattributed]" };
	size_t rows = 1, row;

	big_device_name(&x->p, counter, device, sizeof(device));
	row = row_of(t, 5, keys);
	if (row == SIZE_MAX)
		FAIL("energy: no [unattributed] of %s %s %s", keys[0], device, keys[2]);
	same(t, row, "exclusive_j", truth_j(w->unattributed), tolerance);
	same(t, row, "exclusive_ns", (double)w->unattributed_ns, 0);
	row = row_of(totals, 3, keys);
	EXPECT(row != SIZE_MAX);
	same(totals, row, "total_j", truth_j(w->total), tolerance);
	same(totals, row, "attributed_j", truth_j(w->attributed), tolerance);
	same(totals, row, "unattributed_j", truth_j(w->unattributed), tolerance);
	EXPECT(number(totals, row, "error_rel") <= 1e-9);
	EXPECT((strstr(text(totals, row, "flags"), "reset") != NULL) == (w->resets > 0));
	for (size_t i = 0; i < x->p.locations.nr * x->o.regions; i++) {
		const struct big_location *l = &x->p.locations.v[i / x->o.regions];
		const struct truth_row *r = &w->rows[i];

		if (r->calls == 0)
			continue;
		rows++;
		big_region_name(&x->p, l->kind, (uint32_t)(i % x->o.regions), name, sizeof(name));
		keys[3] = l->name;
		keys[4] = name;
		row = row_of(t, 5, keys);
		if (row == SIZE_MAX)
			FAIL("energy: no row %s %s %s %s", keys[0], keys[2], keys[3], name);
		same(t, row, "calls", (double)r->calls, 0);
		same(t, row, "exclusive_ns", (double)r->exclusive_ns, 0);
		same_energy(t, row, "exclusive_j", r->exclusive, r, unknown, tolerance);
		same_energy(t, row, "inclusive_j", r->inclusive, r, unknown, tolerance);
	}
	return rows;
}

static void check_energy(const struct one *x)
{
	size_t rows = 0;

	if (x->truths.all.nr == 0) {
		EXPECT(!table_set_find(&x->ts, "energy"));
		return;
	}
	for (size_t i = 0; i < x->truths.all.nr; i++)
		rows += check_truth(x, &x->truths.all.v[i]);
	EXPECT(rows == table_rows(table_of(x, "energy")));
	EXPECT(x->truths.all.nr == table_rows(table_of(x, "energy_totals")));
	for (size_t i = 0; i < x->ts.checks.nr; i++)
		EXPECT(x->ts.checks.v[i].ok);
}

static void check_all(const struct one *x)
{
	check_functions(x);
	check_callpaths(x);
	check_energy(x);
}

/* A path and what follows it as far as it is deeper: rows come after their callers. */
static void check_subtree(const struct table *t, size_t row)
{
	double depth = number(t, row, "depth"), sum = number(t, row, "exclusive_j");
	double inclusive = number(t, row, "inclusive_j");

	for (size_t r = row + 1; r < table_rows(t) && number(t, r, "depth") > depth; r++) {
		double j = number(t, r, "inclusive_j");

		if (number(t, r, "depth") == depth + 1 && !isnan(j))
			sum = isnan(sum) ? j : sum + j;
	}
	if (isnan(inclusive) && (isnan(sum) || sum == 0))
		return;
	if (!(fabs(sum - inclusive) <= 1e-12 * (fabs(sum) + 1e-3)))
		FAIL("energy_callpaths row %zu: %.17g below it, %.17g in it", row, sum, inclusive);
}

/* ---- laws ---- */

IN_PLACE(invariant_01_tables_say_what_is_true)
{
	uint64_t shared = 0, dead = 0, work = 0, idle = 0, n = test_cases(CASES);

	for (seed_now = 1; seed_now <= n; seed_now++) {
		CLEANUP(one_release) struct one x;

		one_make(&x, seed_now);
		one_analyse(&x, p);
		truths_make(&x.p, x.energy.max_gap_ns, &x.truths);
		check_all(&x);
		for (size_t i = 0; i < x.truths.all.nr; i++) {
			const struct truth *w = &x.truths.all.v[i];

			work += w->device_view && w->attributed > 0;
			shared += !w->device_view && x.o.processes * x.o.threads > 1;
			dead += w->resets > 0;
			idle += w->total > 0 && w->attributed == 0;
		}
	}
	/* the generator must give the cases that the laws are about */
	assert_true(shared > n / 2 && work > n / 4 && dead > n / 20 && idle > n / 40);
}

IN_PLACE(invariant_02_inclusive_is_exclusive_plus_callees)
{
	for (seed_now = 100001; seed_now <= 100000 + test_cases(CASES); seed_now++) {
		const struct table *t;
		CLEANUP(one_release) struct one x;

		one_make(&x, seed_now);
		one_analyse(&x, p);
		t = table_set_find(&x.ts, "energy_callpaths");
		for (size_t r = 0; t && r < table_rows(t); r++)
			if (strcmp(text(t, r, "view"), "host") == 0)
				check_subtree(t, r);
	}
}

static char *csv_of(const struct table_set *ts)
{
	char *buf = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&buf, &n);

	for (size_t i = 0; i < ts->tables.nr; i++)
		table_write_csv(ts->tables.v[i], f);
	fclose(f);
	return buf;
}

/* Numbers of locations say in which order they are read, and nothing else. */
IN_PLACE(invariant_03_order_of_locations)
{
	for (seed_now = 200001; seed_now <= 200000 + test_cases(CASES); seed_now++) {
		CLEANUP(xfreep) char *before = NULL, *after = NULL;
		struct one x, y;

		one_make(&x, seed_now);
		one_make(&y, seed_now);
		y.o.shuffle = seed_now;
		one_analyse(&x, p);
		one_analyse(&y, p);
		truths_make(&y.p, y.energy.max_gap_ns, &y.truths);
		check_all(&y);
		before = csv_of(&x.ts);
		after = csv_of(&y.ts);
		if (strcmp(before, after) != 0)
			FAIL("the tables differ");
		one_release(&x);
		one_release(&y);
	}
}

static char *streamed_csv(const char *archive, const struct energy_opts *energy, unsigned threads)
{
	/* rounds as small as can be, or large ones of many slices */
	struct profile_opts po = { .threads = threads, .buffer_bytes = threads == 2 ? 1 : 0 };
	struct read_opts ro = { .keep_args = false };
	struct outcome o = outcome_begin(&po);
	struct err err = ERR_INIT;
	char *csv;

	o.e->ao.energy = *energy;
	o.e->ao.energy.slice_changes = threads > 1 ? threads * 2 : 0;
	o.e->ao.energy.log_entries = seed_now % 2 ? 64 : 0;
	if (reader_otf2.read(archive, model_sink(o.m), &ro, &err) != 0)
		FAIL("%s", err.msg);
	outcome_analyse(&o);
	csv = csv_of(&o.ts);
	outcome_release(&o);
	return csv;
}

/* Read along by several threads, in small pieces: the same bytes. */
IN_PLACE(invariant_03_thread_count)
{
	for (seed_now = 400001; seed_now <= 400000 + test_cases(CASES); seed_now++) {
		CLEANUP(xfreep) char *one = NULL, *many = NULL;
		CLEANUP(one_release) struct one x;

		one_make(&x, seed_now);
		big_plan_make(&x.o, &x.p);
		big_write(&x.p, p->archive, &x.facts);
		one = streamed_csv(p->archive, &x.energy, 1);
		many = streamed_csv(p->archive, &x.energy, 2 + seed_now % 3);
		if (strcmp(one, many) != 0)
			FAIL("the tables differ");
		assert_int_equal(fs_remove_tree(p->archive, NULL), 0);
	}
}

/* A sample on the interpolant says nothing new: the truth is that of the archive without it. */
IN_PLACE(invariant_03_sample_on_the_interpolant)
{
	for (seed_now = 300001; seed_now <= 300000 + test_cases(CASES); seed_now++) {
		struct one x, y;

		one_make(&x, seed_now);
		x.energy.max_gap_ns = 0;
		y = x;
		y.o.resample = 2 + seed_now % 3;
		one_analyse(&y, p);
		big_plan_make(&x.o, &x.p);
		truths_make(&x.p, 0, &y.truths);
		check_energy(&y);
		one_release(&x);
		one_release(&y);
	}
}
