/* The longest calls of a track: a heap, the first one to go on top. */
#include "profile_private.h"

#include <stdlib.h>

/* Whether a goes before b: the shorter one, of equal ones the later, the inner, or that of
 * the later node. */
static bool goes_before(const struct profile_track *t, const struct profile_call *a,
			const struct profile_call *b)
{
	int64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;

	if (a_ns != b_ns)
		return a_ns < b_ns;
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	if (t->nodes.v[a->node].depth != t->nodes.v[b->node].depth)
		return t->nodes.v[a->node].depth > t->nodes.v[b->node].depth;
	return a->node > b->node;
}

static void heap_up(const struct profile_track *t, struct profile_call *v, size_t i)
{
	struct profile_call c = v[i];

	for (; i > 0 && goes_before(t, &c, &v[(i - 1) / 2]); i = (i - 1) / 2)
		v[i] = v[(i - 1) / 2];
	v[i] = c;
}

static void heap_down(const struct profile_track *t, struct profile_call *v, size_t nr)
{
	struct profile_call c = v[0];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < nr && goes_before(t, &v[child + 1], &v[child]))
			child++;
		if (child >= nr || !goes_before(t, &v[child], &c))
			break;
		v[i] = v[child];
		i = child;
	}
	v[i] = c;
}

void longest_put(struct lane *l, const struct profile_call *c)
{
	struct profile_track *t = &l->t;

	if (t->longest.nr < PROFILE_LONGEST) {
		VEC_PUSH(&t->longest, *c);
		heap_up(t, t->longest.v, t->longest.nr - 1);
	} else if (goes_before(t, &t->longest.v[0], c)) {
		t->longest.v[0] = *c;
		heap_down(t, t->longest.v, t->longest.nr);
	}
	if (t->longest.nr == PROFILE_LONGEST)
		l->longest_ns = t->longest.v[0].end_ns - t->longest.v[0].start_ns;
}

static int call_cmp(const void *pa, const void *pb, void *track)
{
	const struct profile_call *a = pa, *b = pb;
	const struct profile_track *t = track;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return goes_before(t, a, b) ? 1 : goes_before(t, b, a) ? -1 : 0;
}

void longest_sort(struct profile_track *t)
{
	if (t->longest.nr)
		qsort_r(t->longest.v, t->longest.nr, sizeof(*t->longest.v), call_cmp, t);
}
