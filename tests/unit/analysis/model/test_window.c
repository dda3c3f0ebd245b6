/* A model cut to windows: known answers, and the laws on random traces: attribution in a window is
 * that of the oracle, conserves energy, and parts side by side add up to the whole. */
#include "energy_random.h"
#include "energy_sweep.h"
#include "model_support.h"

#define CASES 300

/* ---- known answers ---- */

static struct model *nested(void)
{
	return model_of_text(1, "thread 7/8: main 0-100 step 10-40 launch#5 20-22 step 50-90 "
				"mark!i 55\n"
				"stream gpu0/1: gemm#5 24-60\n");
}

static int64_t exclusive_of(const struct model *m, const char *name, size_t *ret_calls)
{
	int64_t sum = 0;

	*ret_calls = 0;
	for (size_t i = 0; i < m->spans.nr; i++)
		if (!strcmp(model_str(m, m->spans.name[i]), name)) {
			sum += m->spans.exclusive_ns[i];
			++*ret_calls;
		}
	return sum;
}

TEST(one_window)
{
	CLEANUP(model_freep) struct model *m = nested();
	struct window w = { 21, 56 };
	struct model_windowed n;
	size_t calls;

	model_window(m, &w, 1, &n);
	assert_int_equal(m->spans.nr, 6);
	assert_int_equal(n.spans_cut, 5);
	assert_int_equal(n.spans_out + n.links_out, 0);
	assert_int_equal(exclusive_of(m, "main", &calls), 35 - 19 - 6);
	assert_int_equal(exclusive_of(m, "step", &calls), 18 + 6);
	assert_int_equal(calls, 2);
	assert_string_equal(parent_name(m, span_at(m, "launch")), "step");
	assert_string_equal(parent_name(m, span_at(m, "mark")), "step");
	assert_int_equal(m->links.nr, 1);
	assert_string_equal(model_str(m, m->spans.name[m->links.to[0]]), "gemm");
	assert_int_equal(m->first_ns, 0);
	assert_int_equal(m->last_ns, 100);
}

TEST(two_windows)
{
	CLEANUP(model_freep) struct model *m = nested();
	const struct window w[] = { { 12, 15 }, { 30, 52 } };
	struct model_windowed n;
	size_t calls;

	model_window(m, w, 2, &n);
	assert_int_equal(n.spans_out, 2); /* launch, mark */
	assert_int_equal(n.links_out, 1);
	assert_int_equal(exclusive_of(m, "main", &calls), 22 - 10 - 2);
	assert_int_equal(calls, 2);
	assert_int_equal(exclusive_of(m, "step", &calls), 3 + 10 + 2);
	assert_int_equal(calls, 3);
	assert_int_equal(exclusive_of(m, "gemm", &calls), 22);
}

/* A kernel of which the window has no launch, or only a later part, keeps its path. */
TEST(places_stay)
{
	static const char *const path[] = { "main", "step", "launch" };
	CLEANUP(model_freep) struct model *m = nested();
	const struct window w[] = { { 30, 40 }, { 50, 56 } };
	const struct launch_place *p;

	model_window(m, w, 2, NULL);
	assert_int_equal(m->links.nr, 0);
	assert_int_equal(m->placed.nr, 2);
	assert_int_equal(m->places.nr, 3);
	for (size_t i = 0; i < 2; i++) {
		size_t work = m->placed.v[i].work;

		assert_string_equal(model_str(m, m->spans.name[work]), "gemm");
		assert_int_equal(m->spans.start_ns[work], w[i].from_ns);
		p = &m->places.v[m->placed.v[i].place];
		for (size_t k = 3; k-- > 0;) {
			assert_string_equal(model_str(m, p->name), path[k]);
			assert_int_equal(p->parent == PLACE_NONE, k == 0);
			p = k ? &m->places.v[p->parent] : p;
		}
	}
}

TEST(nothing_inside)
{
	CLEANUP(model_freep) struct model *m = nested();
	struct window w = { 200, 300 };

	model_window(m, &w, 1, NULL);
	expect_model(m, "spans=0 links=0");
}

/* ---- laws ---- */

struct sums {
	double total_j, attributed_j, unattributed_j;
	double by_name[8];
	int64_t covered_ns;
	bool independent;
};

static void window_add(struct sums *to, const struct random_trace *x, enum energy_view view)
{
	const struct model *m = x->t.m;
	struct energy_result fast, slow;
	int a = energy_attribute(m, x->id, view, &x->o, &fast, NULL);
	int b = energy_attribute_sweep(m, x->id, view, &x->o, &slow, NULL);
	double tol = tolerance_of(&slow, m);

	assert_int_equal(a, b);
	assert_true(fast.error_rel <= 1e-9 || fabs(fast.total_j) < 1e-3);
	assert_near(fast.total_j, slow.total_j, tol);
	assert_near(fast.attributed_j, slow.attributed_j, tol);
	assert_near(fast.unattributed_j, slow.unattributed_j, tol);
	to->total_j += fast.total_j;
	to->attributed_j += fast.attributed_j;
	to->unattributed_j += fast.unattributed_j;
	for (size_t i = 0; i < m->spans.nr; i++) {
		to->covered_ns += m->tracks.v[m->spans.track[i]].kind == TRACK_THREAD
					  ? m->spans.exclusive_ns[i]
					  : 0;
		if (fast.exclusive_j && !isnan(fast.exclusive_j[i]))
			to->by_name[m->spans.name[i] % 8] += fast.exclusive_j[i];
	}
	energy_result_release(&fast);
	energy_result_release(&slow);
}

/* The trace of a case once more, cut. */
static void add_cut(struct sums *to, uint64_t of, const struct window *w, size_t nr,
		    enum energy_view view)
{
	CLEANUP(random_trace_release) struct random_trace x;

	seed = of;
	random_trace(&x);
	if (nr)
		model_window(x.t.m, w, nr, NULL);
	to->independent = x.o.independent;
	window_add(to, &x, view);
}

static void same_sums(const struct sums *a, const struct sums *b, bool names)
{
	double tol =
		1e-8 * (fabs(b->attributed_j) + fabs(b->unattributed_j) + fabs(b->total_j)) + 1e-9;

	assert_near(a->total_j, b->total_j, tol);
	assert_near(a->attributed_j, b->attributed_j, tol);
	assert_near(a->unattributed_j, b->unattributed_j, tol);
	assert_int_equal(a->covered_ns, b->covered_ns);
	for (size_t i = 0; names && i < 8; i++)
		assert_near(a->by_name[i], b->by_name[i], tol);
}

static int by_value(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

/* Parts that touch: [first, a], [a, b], [b, last]. */
PROPERTY(parts_add_up)
{
	size_t told = 0;

	for (uint64_t k = 0; next_case(&k, 3000000, CASES);) {
		uint64_t of = seed;
		enum energy_view view = k % 2 ? VIEW_HOST : VIEW_DEVICE;
		struct sums whole = { 0 }, parts = { 0 };
		struct random_trace x;
		int64_t cut[2];
		bool overlaps;

		random_trace(&x);
		overlaps = x.t.m->pieces.nr > 0;
		for (size_t i = 0; i < 2; i++)
			cut[i] = x.t.m->first_ns + below(x.t.m->last_ns - x.t.m->first_ns + 1);
		qsort(cut, 2, sizeof(*cut), by_value);
		const struct window w[] = { { x.t.m->first_ns, cut[0] },
					    { cut[0], cut[1] },
					    { cut[1], x.t.m->last_ns } };
		random_trace_release(&x);
		add_cut(&whole, of, NULL, 0, view);
		for (size_t i = 0; i < 3; i++)
			add_cut(&parts, of, &w[i], 1, view);
		/* Of overlaps at an edge another call may be the inner one: only sums agree. */
		same_sums(&parts, &whole, !overlaps);
		told += whole.attributed_j > 0 && !overlaps;
	}
	assert_true(told > test_cases(CASES) / 20);
}

/* Windows apart, in one model, are what each of them is by itself. */
PROPERTY(windows_are_sums)
{
	for (uint64_t k = 0; next_case(&k, 4000000, CASES);) {
		uint64_t of = seed;
		enum energy_view view = k % 2 ? VIEW_HOST : VIEW_DEVICE;
		struct sums together = { 0 }, each = { 0 };
		struct window w[4];
		struct random_trace x;
		int64_t at;

		random_trace(&x);
		at = x.t.m->first_ns;
		for (size_t i = 0; i < 4; i++) {
			at += 1 + below((x.t.m->last_ns - x.t.m->first_ns) / 8 + 1);
			w[i].from_ns = at;
			at += below((x.t.m->last_ns - x.t.m->first_ns) / 6 + 1);
			w[i].to_ns = at;
		}
		random_trace_release(&x);
		add_cut(&together, of, w, 4, view);
		for (size_t i = 0; i < 4; i++)
			add_cut(&each, of, &w[i], 1, view);
		same_sums(&together, &each, true);
	}
}
