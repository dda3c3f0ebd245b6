#include "profrig/base/search.h"
#include "profrig/work/works.h"

void intervals_release(struct intervals *iv)
{
	VEC_RELEASE(&iv->v);
}

void intervals_join(struct intervals *iv, int64_t start_ns, int64_t end_ns)
{
	struct interval *last = iv->v.nr ? &iv->v.v[iv->v.nr - 1] : NULL;

	if (end_ns <= start_ns)
		return;
	if (!last || last->end_ns < start_ns)
		VEC_PUSH(&iv->v, ((struct interval){ start_ns, end_ns }));
	else if (last->end_ns < end_ns)
		last->end_ns = end_ns;
}

void works_union(const struct works *w, uint32_t device, unsigned mask, int64_t from_ns,
		 int64_t to_ns, struct intervals *ret)
{
	const struct work_device *d = &w->devices.v[device];

	VEC_CLEAR(&ret->v);
	for (size_t i = d->first; i < d->first + d->nr && w->v.v[i].start_ns < to_ns; i++) {
		const struct work *k = &w->v.v[i];

		if (mask & 1u << k->class)
			intervals_join(ret, k->start_ns > from_ns ? k->start_ns : from_ns,
				       k->end_ns < to_ns ? k->end_ns : to_ns);
	}
}

int64_t intervals_length(const struct intervals *iv)
{
	int64_t sum = 0;

	for (size_t i = 0; i < iv->v.nr; i++)
		sum += iv->v.v[i].end_ns - iv->v.v[i].start_ns;
	return sum;
}

int64_t intervals_common(const struct intervals *a, const struct intervals *b)
{
	int64_t sum = 0;

	for (size_t i = 0, k = 0; i < a->v.nr && k < b->v.nr;) {
		const struct interval *x = &a->v.v[i], *y = &b->v.v[k];
		int64_t from = x->start_ns > y->start_ns ? x->start_ns : y->start_ns;
		int64_t to = x->end_ns < y->end_ns ? x->end_ns : y->end_ns;

		if (from < to)
			sum += to - from;
		if (x->end_ns < y->end_ns)
			i++;
		else
			k++;
	}
	return sum;
}

int64_t intervals_without(const struct intervals *a, const struct intervals *b)
{
	return intervals_length(a) - intervals_common(a, b);
}

void intervals_subtract(const struct intervals *a, const struct intervals *b, struct intervals *ret)
{
	VEC_CLEAR(&ret->v);
	for (size_t i = 0, k = 0; i < a->v.nr; i++) {
		int64_t from = a->v.v[i].start_ns, to = a->v.v[i].end_ns;

		while (k < b->v.nr && b->v.v[k].end_ns <= from)
			k++;
		for (size_t n = k; n < b->v.nr && b->v.v[n].start_ns < to; n++) {
			intervals_join(ret, from, b->v.v[n].start_ns);
			from = b->v.v[n].end_ns;
		}
		intervals_join(ret, from, to);
	}
}

void interval_sums_release(struct interval_sums *s)
{
	intervals_release(&s->iv);
	VEC_RELEASE(&s->before);
}

void interval_sums_make(struct interval_sums *s)
{
	int64_t sum = 0;

	VEC_CLEAR(&s->before);
	for (size_t i = 0; i < s->iv.v.nr; i++) {
		VEC_PUSH(&s->before, sum);
		sum += s->iv.v.v[i].end_ns - s->iv.v.v[i].start_ns;
	}
}

int64_t interval_sums_until(const struct interval_sums *s, int64_t t_ns)
{
	const struct intervals *iv = &s->iv;
	size_t after = LOWER_BOUND(at, 0, iv->v.nr, iv->v.v[at].start_ns < t_ns);
	const struct interval *last;

	if (!after)
		return 0;
	last = &iv->v.v[after - 1];
	return s->before.v[after - 1] + (last->end_ns < t_ns ? last->end_ns : t_ns) -
	       last->start_ns;
}
