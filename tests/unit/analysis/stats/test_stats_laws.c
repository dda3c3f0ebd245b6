/*
 * What adds up to a whole, on many random traces (random_work.h): each law by the tables that users
 * read, against sums that are made here of the spans alone.
 */
#include "random_work.h"
#include "stats_test.h"

#include <inttypes.h>

#include "profrig/work/critical_path.h"
#include "profrig/work/iterations.h"

struct extent {
	int64_t start_ns, end_ns;
};

static int cmp_extent(const void *pa, const void *pb)
{
	const struct extent *a = pa, *b = pb;

	return a->start_ns != b->start_ns
		       ? (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns)
		       : (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Length of what is covered; sorts. */
static int64_t covered(struct extent *v, size_t n)
{
	int64_t sum = 0, reach = INT64_MIN;

	if (n)
		qsort(v, n, sizeof(*v), cmp_extent);
	for (size_t i = 0; i < n; i++) {
		int64_t from = v[i].start_ns > reach ? v[i].start_ns : reach;

		sum += v[i].end_ns > from ? v[i].end_ns - from : 0;
		reach = v[i].end_ns > reach ? v[i].end_ns : reach;
	}
	return sum;
}

struct law_trace {
	uint64_t seed;
	struct model *m;
	const struct works *w;
	struct table_set ts;
	struct extent *scratch; /* as many as spans */
	struct law_seen {
		uint64_t hidden, copies, idle, collectives, chains, depth;
	} seen;
};

#define expect_law(t, law, got, want) \
	do { \
		double got_ = (double)(got), want_ = (double)(want); \
		if (got_ != want_) \
			fail_msg("seed %" PRIu64 ": %s: %.0f is not %.0f", (t)->seed, law, got_, \
				 want_); \
	} while (0)
#define expect_most(t, law, got, most) \
	do { \
		double got_ = (double)(got), most_ = (double)(most); \
		if (!(got_ <= most_)) \
			fail_msg("seed %" PRIu64 ": %s: %.0f is more than %.0f", (t)->seed, law, \
				 got_, most_); \
	} while (0)

/* Length of what works of these classes cover of a device. */
static int64_t works_cover(const struct law_trace *t, uint32_t device, unsigned classes)
{
	size_t n = 0;

	for (size_t i = 0; i < t->w->v.nr; i++) {
		const struct work *w = &t->w->v.v[i];

		if (w->device == device && classes >> w->class & 1)
			t->scratch[n++] = (struct extent){ w->start_ns, w->end_ns };
	}
	return covered(t->scratch, n);
}

/* wall = compute + exposed communication + exposed copies + idle; busy ≤ wall */
static void check_walls(struct law_trace *t)
{
	const struct table *o = table_set_find(&t->ts, "overlap"),
			   *b = table_set_find(&t->ts, "busy"),
			   *c = table_set_find(&t->ts, "idle_causes");

	for (uint32_t d = 0; d < t->w->devices.nr; d++) {
		const struct work_device *wd = &t->w->devices.v[d];
		const char *name = model_str(t->m, wd->name);
		size_t row = row_of(o, "device", name, NULL, NULL);
		size_t at = row_of(b, "device", name, NULL, NULL);
		double parts = num_of(o, row, "compute_ns") + num_of(o, row, "exposed_comm_ns") +
			       num_of(o, row, "exposed_copy_ns") + num_of(o, row, "idle_ns");
		int64_t wall = wd->last_ns - wd->first_ns, busy = works_cover(t, d, ~0U);
		double causes = 0;

		t->seen.hidden += num_of(o, row, "hidden_comm_ns") > 0;
		t->seen.copies += num_of(o, row, "exposed_copy_ns") > 0;
		t->seen.idle += num_of(o, row, "idle_ns") > 0;
		expect_law(t, "wall", num_of(o, row, "wall_ns"), wall);
		expect_law(t, "parts of the wall", parts, wall);
		expect_law(t, "exposed and hidden",
			   num_of(o, row, "exposed_comm_ns") + num_of(o, row, "hidden_comm_ns"),
			   works_cover(t, d, 1U << WORK_COLLECTIVE));
		expect_law(t, "busy", num_of(b, at, "union_ns"), busy);
		expect_law(t, "busy and idle", num_of(b, at, "union_ns") + num_of(b, at, "idle_ns"),
			   wall);
		expect_most(t, "busy", num_of(b, at, "union_ns"), num_of(b, at, "wall_ns"));
		for (size_t i = 0; c && i < table_rows(c); i++)
			if (strcmp(str_of(c, i, "device"), name) == 0)
				causes += num_of(c, i, "total_ns");
		expect_law(t, "causes of idle time", causes, num_of(o, row, "idle_ns"));
	}
}

/* exposed + hidden = duration, of each instance and rank */
static void check_exposed(struct law_trace *t)
{
	const struct table *o = table_set_find(&t->ts, "overlap"),
			   *r = table_set_find(&t->ts, "collective_ranks"),
			   *v = table_set_find(&t->ts, "collective_instances");
	double parts = 0, ns = 0;

	for (size_t i = 0; i < t->w->v.nr; i++)
		if (t->w->v.v[i].class == WORK_COLLECTIVE)
			ns += (double)(t->w->v.v[i].end_ns - t->w->v.v[i].start_ns);
	t->seen.collectives += r != NULL;
	for (size_t i = 0; r && i < table_rows(r); i++) {
		parts += num_of(r, i, "exposed_ns") + num_of(r, i, "hidden_ns");
		expect_law(t, "exposed and hidden of a rank",
			   num_of(r, i, "exposed_ns") + num_of(r, i, "hidden_ns"),
			   num_of(r, i, "dur_ns"));
	}
	expect_law(t, "exposed and hidden of ranks", parts, ns);
	if (r)
		expect_law(t, "exposed time of ranks", column_sum(r, "exposed_ns"),
			   column_sum(o, "exposed_comm_ns"));
	if (v)
		expect_law(t, "exposed and hidden of instances",
			   column_sum(v, "exposed_ns") + column_sum(v, "hidden_ns"), ns);
}

/* Σ exclusive = Σ roots = what calls cover of each thread */
static void check_exclusive(struct law_trace *t)
{
	const struct span_columns *c = &t->m->spans;
	const struct table *p = table_set_find(&t->ts, "callpaths"),
			   *f = table_set_find(&t->ts, "functions");
	double roots = 0, host = 0;
	int64_t want = 0, exclusive = 0;

	for (track_id k = 0; k < t->m->tracks.nr; k++) {
		size_t n = 0;

		for (uint64_t i = 0; t->m->tracks.v[k].kind == TRACK_THREAD && i < c->nr; i++)
			if (c->track[i] == k) {
				t->scratch[n++] = (struct extent){ c->start_ns[i], c->end_ns[i] };
				exclusive += c->exclusive_ns[i];
			}
		want += covered(t->scratch, n);
	}
	for (size_t i = 0; p && i < table_rows(p); i++)
		if (num_of(p, i, "depth") == 0)
			roots += num_of(p, i, "inclusive_ns");
		else
			t->seen.depth++;
	for (size_t i = 0; f && i < table_rows(f); i++)
		if (strcmp(str_of(f, i, "scope"), "host") == 0)
			host += num_of(f, i, "exclusive_ns");
	expect_law(t, "roots", roots, want);
	expect_law(t, "exclusive time of calls", exclusive, want);
	expect_law(t, "exclusive time of paths", p ? column_sum(p, "exclusive_ns") : 0, want);
	expect_law(t, "exclusive time of functions", host, want);
}

/* The longest sum of works of one queue of an iteration that run one after the other. */
static int64_t longest_chain(const struct law_trace *t, const struct iterations *it, size_t at)
{
	CLEANUP(xfreep) int64_t *best = xcalloc(t->w->v.nr + 1, sizeof(*best));
	int64_t most = 0;

	for (size_t i = 0; i < t->w->v.nr; i++) {
		const struct work *w = &t->w->v.v[i];

		if (it->of_work[i] != at)
			continue;
		for (size_t k = 0; k < i; k++)
			if (it->of_work[k] == at && t->w->v.v[k].queue == w->queue &&
			    t->w->v.v[k].end_ns <= w->start_ns && best[k] > best[i])
				best[i] = best[k];
		best[i] += w->end_ns - w->start_ns;
		most = best[i] > most ? best[i] : most;
	}
	return most;
}

/* Iterations part the works; a path is its window: no longer than the trace, no shorter than a
 * chain of its works or its marker. */
static void check_iterations(struct law_trace *t)
{
	const struct table *rows = table_set_find(&t->ts, "iterations"),
			   *path = table_set_find(&t->ts, "critical_path");
	struct path p = { .start_ns = 0 };
	struct path_finder *f;
	struct iterations *it;
	double all = 0;
	uint64_t owned = 0;

	assert_int_equal(iterations_new(t->m, t->w, NULL, &it, NULL), 0);
	f = path_finder_new(t->w);
	for (size_t i = 0; i < t->w->v.nr; i++)
		owned += it->of_work[i] < it->v.nr;
	assert_int_equal(rows ? table_rows(rows) : 0, it->v.nr);
	if (rows)
		expect_law(t, "works of iterations", column_sum(rows, "works"), owned);
	for (size_t i = 0; i < it->v.nr; i++) {
		const struct iteration *v = &it->v.v[i];
		int64_t ns = 0, sum = 0, chain;
		uint64_t works = 0;

		for (size_t k = 0; k < t->w->v.nr; k++)
			if (it->of_work[k] == i) {
				works++;
				sum += t->w->v.v[k].end_ns - t->w->v.v[k].start_ns;
			}
		expect_law(t, "works of an iteration", num_of(rows, i, "works"), works);
		expect_law(t, "time of an iteration", num_of(rows, i, "sum_ns"), sum);
		path_find(f, it, i, &p);
		for (size_t k = 0; k < p.v.nr; k++)
			ns += p.v.v[k].end_ns - p.v.v[k].start_ns;
		all += (double)ns;
		expect_most(t, "critical path", ns, t->m->last_ns - t->m->first_ns);
		chain = longest_chain(t, it, i);
		expect_most(t, "longest chain", chain, ns);
		t->seen.chains += chain > 0;
		expect_most(t, "marker", v->end_ns - v->start_ns, ns);
	}
	expect_law(t, "classes of paths", path ? column_sum(path, "ns") : 0, all);
	path_release(&p);
	path_finder_free(f);
	iterations_free(it);
}

TEST(laws)
{
	static const struct analysis *const some[] = {
		&analysis_overlap,           &analysis_busy,          &analysis_idle,
		&analysis_functions,         &analysis_callpaths,     &analysis_collectives,
		&analysis_iterations_tables, &analysis_critical_path,
	};
	uint64_t cases = test_cases(10000);
	struct law_seen seen = { 0 };

	for (uint64_t seed = 1; seed <= cases; seed++) {
		CLEANUP(model_freep) struct model *m = random_work_model(seed);
		struct analysis_opts o = { .shared = analysis_shared_new() };
		struct law_trace t = {
			.seed = seed, .m = m, .w = analysis_works(m, &o), .seen = seen
		};
		CLEANUP(xfreep)
		struct extent *scratch = xcalloc(m->spans.nr + 1, sizeof(*scratch));

		t.scratch = scratch;
		for (size_t a = 0; a < ARRAY_LEN(some); a++)
			assert_true(analysis_run(some[a], m, NULL, &o, &t.ts, NULL) >= 0);
		for (size_t c = 0; c < t.ts.checks.nr; c++)
			if (!t.ts.checks.v[c].ok)
				fail_msg("seed %" PRIu64 ": %s", seed, t.ts.checks.v[c].name);
		if (t.w->v.nr) {
			check_walls(&t);
			check_exposed(&t);
			check_iterations(&t);
		}
		check_exclusive(&t);
		seen = t.seen;
		table_set_release(&t.ts);
		analysis_shared_free(o.shared);
	}
	assert_true(seen.hidden > cases / 20 && seen.copies > cases / 2 && seen.idle > cases / 2);
	assert_true(seen.collectives > cases / 2 && seen.chains > cases / 2);
	assert_true(seen.depth > cases / 2);
}
