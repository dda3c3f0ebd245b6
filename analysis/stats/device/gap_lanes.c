#include "gap_lanes.h"

#include <stdlib.h>

#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

struct kept {
	int64_t start_ns;
	uint32_t device;
	struct idle_sums sums;
};

/* What decides which gap goes is beside its address: most of them are only compared. */
struct entry {
	int64_t dur_ns;
	uint64_t number; /* in order of coming */
	struct kept *kept;
};

struct bin {
	int64_t gaps;
	struct idle_sums sums;
};

struct gap_lanes {
	const struct model *m;
	VEC(struct entry) heap; /* the shortest, of equal ones the last, on top */
	uint64_t taken;
	size_t bins; /* of a device */
	int64_t bin_ns;
	struct bin *bin; /* devices × bins */
};

struct gap_lanes *gap_lanes_new(const struct model *m, size_t devices)
{
	struct gap_lanes *l = xcalloc(1, sizeof(*l));

	l->m = m;
	l->bins = GAP_BINS_MAX / (devices ? devices : 1);
	if (l->bins < GAP_BINS_MIN)
		l->bins = GAP_BINS_MIN;
	l->bin_ns = (m->last_ns - m->first_ns) / (int64_t)l->bins + 1;
	l->bin = xcalloc(l->bins * devices + 1, sizeof(*l->bin));
	return l;
}

void gap_lanes_free(struct gap_lanes *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->heap.nr; i++)
		free(l->heap.v[i].kept);
	VEC_RELEASE(&l->heap);
	free(l->bin);
	free(l);
}

static bool goes_before(const struct entry *a, const struct entry *b)
{
	return a->dur_ns != b->dur_ns ? a->dur_ns < b->dur_ns : a->number > b->number;
}

static void heap_up(struct gap_lanes *l, size_t i)
{
	struct entry *v = l->heap.v;

	for (; i > 0 && goes_before(&v[i], &v[(i - 1) / 2]); i = (i - 1) / 2) {
		struct entry t = v[i];

		v[i] = v[(i - 1) / 2];
		v[(i - 1) / 2] = t;
	}
}

static void heap_down(struct gap_lanes *l)
{
	struct entry *v = l->heap.v;

	for (size_t i = 0, k; (k = 2 * i + 1) < l->heap.nr; i = k) {
		struct entry t;

		if (k + 1 < l->heap.nr && goes_before(&v[k + 1], &v[k]))
			k++;
		if (!goes_before(&v[k], &v[i]))
			return;
		t = v[i];
		v[i] = v[k];
		v[k] = t;
	}
}

static void bin_add(struct gap_lanes *l, uint32_t device, int64_t start_ns,
		    const struct idle_sums *sums)
{
	struct bin *b =
		&l->bin[device * l->bins + (size_t)((start_ns - l->m->first_ns) / l->bin_ns)];

	b->gaps++;
	idle_sums_add(&b->sums, sums);
}

void gap_lanes_take(struct gap_lanes *l, uint32_t device, const struct device_gap *g)
{
	int64_t dur_ns = g->to_ns - g->from_ns;
	uint64_t number = l->taken++;
	struct kept *k;
	struct entry e;

	/* of equal ones the last goes first, which is this one */
	if (l->heap.nr == GAP_LANES_MAX && dur_ns <= l->heap.v[0].dur_ns) {
		bin_add(l, device, g->from_ns, &g->sums);
		return;
	}
	k = l->heap.nr < GAP_LANES_MAX ? xmalloc(sizeof(*k)) : l->heap.v[0].kept;
	if (l->heap.nr == GAP_LANES_MAX)
		bin_add(l, k->device, k->start_ns, &k->sums);
	*k = (struct kept){ g->from_ns, device, g->sums };
	e = (struct entry){ dur_ns, number, k };
	if (l->heap.nr == GAP_LANES_MAX) {
		l->heap.v[0] = e;
		heap_down(l);
	} else {
		VEC_PUSH(&l->heap, e);
		heap_up(l, l->heap.nr - 1);
	}
}

static int cmp_kept(const void *pa, const void *pb)
{
	const struct kept *a = ((const struct entry *)pa)->kept;
	const struct kept *b = ((const struct entry *)pb)->kept;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void causes_put(struct table *t, const struct idle_sums *s, struct lane_idle_row row)
{
	for (size_t c = 0; c < IDLE_CAUSES; c++) {
		if (!s->ns[c])
			continue;
		row.cause = idle_cause_name((enum idle_cause)c);
		row.total_ns = s->ns[c];
		row.parts = (int64_t)s->parts[c];
		table_add(t, &row);
	}
}

static void bins_put(const struct gap_lanes *l, uint32_t device, const char *name, struct table *t)
{
	for (size_t i = 0; i < l->bins; i++) {
		const struct bin *b = &l->bin[device * l->bins + i];

		causes_put(t, &b->sums,
			   (struct lane_idle_row){ .device = name,
						   .start_ns = (int64_t)i * l->bin_ns,
						   .dur_ns = l->bin_ns,
						   .binned = b->gaps });
	}
}

struct table *gap_lanes_write(struct gap_lanes *l, const struct works *w)
{
	struct table *t = table_make(&lane_idle_form);
	size_t at = 0;

	if (l->heap.nr)
		qsort(l->heap.v, l->heap.nr, sizeof(*l->heap.v), cmp_kept);
	for (uint32_t d = 0; d < w->devices.nr; d++) {
		const char *name = model_str(l->m, w->devices.v[d].name);

		for (; at < l->heap.nr && l->heap.v[at].kept->device == d; at++) {
			const struct kept *k = l->heap.v[at].kept;

			causes_put(t, &k->sums,
				   (struct lane_idle_row){ .device = name,
							   .start_ns = k->start_ns - l->m->first_ns,
							   .dur_ns = l->heap.v[at].dur_ns });
		}
		bins_put(l, d, name, t);
	}
	return t;
}
