#include "dice.h"
#include "trace_text.h"

#include "profrig/work/works.h"

/* "name" of a row's span, and of its launch, '-' without. */
static void expect_rows(const struct works *w, const char *want)
{
	char have[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < w->v.nr; i++) {
		const struct work *k = &w->v.v[i];

		n += (size_t)snprintf(
			have + n, sizeof(have) - n, "%s%u%c%s<%s", i ? " " : "", k->device,
			"KNC"[k->class], model_str(w->m, w->m->spans.name[k->span]),
			k -> launch == SPAN_NONE ? "-"
						 : model_str(w->m, w->m->spans.name[k->launch]));
		assert_int_equal(works_find(w, k->span), i);
		assert_true(k->start_ns == w->m->spans.start_ns[k->span] &&
			    k->end_ns == w->m->spans.end_ns[k->span] &&
			    k->queue == w->m->spans.track[k->span]);
	}
	assert_string_equal(have, want);
}

static const char trace[] = "thread 1/1 name=main: op 0-10 launch#1 1-5 inner#1 2-4 l2#2 6-7\n"
			    "queue gpu10/1: a 5-9 note!a 5-40\n"
			    "queue gpu2/1: k#1 10-20 copy!c#2 10-15 far#3 30-31\n"
			    "queue gpu2/2: ncclDevKernel_AllReduce 10-18 fill!f 9-9\n";

TEST(test_works)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, trace);
	struct works *w = works_new(m);

	expect_rows(w, "0Cfill<- 0Ccopy<l2 0NncclDevKernel_AllReduce<- 0Kk<inner 0Kfar<- 1Ka<-");
	assert_int_equal(w->devices.nr, 2);
	assert_string_equal(model_str(m, w->devices.v[0].name), "gpu2");
	assert_int_equal(w->devices.v[0].nr, 5);
	assert_int_equal(w->devices.v[0].first_ns, 9);
	assert_int_equal(w->devices.v[0].last_ns, 31);
	assert_int_equal(w->devices.v[1].first, 5);
	assert_int_equal(w->linked, 2);
	assert_int_equal(w->unlinked, 4);
	for (size_t i = 0; i < m->spans.nr; i++)
		assert_true(span_is_work(m, i) == (works_find(w, i) != SIZE_MAX));
	assert_int_equal(works_find(w, SPAN_NONE), SIZE_MAX);
	works_free(w);
	works_free(NULL);
}

TEST(test_works_of_none)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, "thread 1/1 name=main: op 0-10\n");
	struct works *w = works_new(m);

	assert_true(w->v.nr == 0 && w->devices.nr == 0 && w->linked == 0);
	works_free(w);
}

/* A device has the rank that all its queues agree on. */
TEST(test_works_rank)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "rank 3/1 host=node: main 0-1\n"
					   "rank 4/1 host=node: main 0-1\n"
					   "queue gpu0/1 host=node owner=3: a 0-1\n"
					   "queue gpu0/2 host=node owner=3: a 0-1\n"
					   "queue gpu1/3 host=node owner=3: a 0-1\n"
					   "queue gpu1/4 host=node owner=4: a 0-1\n"
					   "queue gpu2/5 host=node: a 0-1\n");
	struct works *w = works_new(m);

	assert_int_equal(w->devices.nr, 3);
	assert_int_equal(w->devices.v[0].rank, 3);
	assert_int_equal(w->devices.v[1].rank, RANK_NONE);
	assert_int_equal(w->devices.v[2].rank, RANK_NONE);
	works_free(w);
}

TEST(test_launch_order)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1 name=main: l#1 0-1 l#2 2-3 l#3 4-5\n"
					   "queue gpu0/1: c#3 10-11 none 12-13 b#2 14-15\n"
					   "queue gpu0/2: a#1 20-21 z#2 16-17\n");
	struct works *w = works_new(m);
	CLEANUP(xfreep) uint32_t *order = works_launch_order(w, 0);
	static const char *const want[] = { "a", "b", "z", "c", "none" };

	assert_int_equal(w->v.nr, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(model_str(m, m->spans.name[w->v.v[order[i]].span]), want[i]);
	works_free(w);
}

/* --- intervals --- */

static void intervals_of(struct intervals *iv, const int64_t *v, size_t nr)
{
	for (size_t i = 0; i + 1 < nr; i += 2)
		intervals_join(iv, v[i], v[i + 1]);
}

TEST(test_intervals)
{
	static const int64_t a[] = { 0, 10, 5, 8, 10, 12, 15, 15, 20, 30 };
	static const int64_t b[] = { 3, 4, 11, 22, 25, 26, 29, 50 };
	struct intervals x = INTERVALS_INIT, y = INTERVALS_INIT, none = INTERVALS_INIT;

	intervals_of(&x, a, ARRAY_LEN(a));
	intervals_of(&y, b, ARRAY_LEN(b));
	assert_int_equal(x.v.nr, 2);
	assert_int_equal(x.v.v[0].end_ns, 12);
	assert_int_equal(intervals_length(&x), 22);
	assert_int_equal(intervals_length(&y), 34);
	assert_int_equal(intervals_common(&x, &y), 1 + 1 + 2 + 1 + 1);
	assert_int_equal(intervals_common(&y, &x), 6);
	assert_int_equal(intervals_without(&x, &y), 16);
	assert_int_equal(intervals_without(&y, &x), 28);
	assert_int_equal(intervals_common(&x, &none), 0);
	assert_int_equal(intervals_without(&x, &none), 22);
	assert_int_equal(intervals_without(&none, &x), 0);
	intervals_release(&x);
	intervals_release(&y);
}

/* On a grid of 64 moments every set operation can be counted one moment at a time. */
enum { GRID = 64 };

static struct works *random_works(struct dice *d, struct model **ret_m)
{
	static const char *const names[] = { "k", "ncclKernel", "c!c", "f!f" };
	char text[2048] = "";
	size_t n = 0;

	for (int queue = 0; queue < 2; queue++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "queue gpu0/%d:", queue);
		for (uint32_t k = below(d, 6) + 1; k > 0; k--) {
			uint32_t at = below(d, GRID), len = below(d, 9), which = below(d, 4);

			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s %u-%u", names[which],
					      at, at + len);
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
	}
	*ret_m = model_of_text(1, text);
	return works_new(*ret_m);
}

static bool covers(const struct works *w, unsigned mask, int64_t at)
{
	for (size_t i = 0; i < w->v.nr; i++)
		if (mask & 1u << w->v.v[i].class && w->v.v[i].start_ns <= at &&
		    at < w->v.v[i].end_ns)
			return true;
	return false;
}

TEST(test_unions_law)
{
	struct dice d = { 1 };

	for (int round = 0; round < 500; round++) {
		CLEANUP(model_freep) struct model *m = NULL;
		struct works *w = random_works(&d, &m);
		int64_t from = below(&d, 20), to = from + below(&d, GRID), both = 0, sum = 0;
		unsigned ma = below(&d, 8), mb = below(&d, 8);
		struct intervals a = INTERVALS_INIT, b = INTERVALS_INIT;

		works_union(w, 0, ma, from, to, &a);
		works_union(w, 0, mb, from, to, &b);
		for (int64_t t = from; t < to; t++) {
			sum += covers(w, ma, t);
			both += covers(w, ma, t) && covers(w, mb, t);
		}
		for (size_t i = 1; i < w->v.nr; i++)
			assert_true(w->v.v[i - 1].start_ns < w->v.v[i].start_ns ||
				    (w->v.v[i - 1].start_ns == w->v.v[i].start_ns &&
				     w->v.v[i - 1].end_ns <= w->v.v[i].end_ns));
		if (intervals_length(&a) != sum || intervals_common(&a, &b) != both ||
		    intervals_without(&a, &b) != sum - both)
			ROW_FAIL(round, "of %d and %d", (int)sum, (int)both);
		intervals_release(&a);
		intervals_release(&b);
		works_free(w);
	}
}
