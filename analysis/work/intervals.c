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
