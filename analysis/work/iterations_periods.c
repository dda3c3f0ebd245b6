#include "iterations_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/sort.h"
#include "profrig/model/facts.h"

/* Executions whose first stamp tells when they were queued, in that order. */
static size_t queued_rows(const struct works *w, uint32_t device, uint32_t *rows)
{
	const struct work_device *d = &w->devices.v[device];
	CLEANUP(xfreep) struct sort_pair *v = NULL;
	size_t nr = 0;

	if (w->m->facts.stamps.nr == 0)
		return 0;
	v = xcalloc(d->nr + 1, sizeof(*v));
	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct stamp_facts *s = facts_stamp(w->m, w->v.v[i].span);

		if (s && s->phase == PHASE_EXEC && s->cycles[0] >= 0)
			v[nr++] = (struct sort_pair){ (uint64_t)s->cycles[0], i };
	}
	sort_pairs(v, nr);
	for (size_t i = 0; i < nr; i++)
		rows[i] = (uint32_t)v[i].row;
	return nr;
}

/*
 * Works of a device in launch order, without the unlinked ones at the end; where none is linked,
 * those that are known to have been queued. Owned.
 */
static uint32_t *linked_rows(const struct works *w, uint32_t device, size_t *ret_nr)
{
	uint32_t *rows = works_launch_order(w, device);
	size_t nr = w->devices.v[device].nr;

	while (nr > 0 && w->v.v[rows[nr - 1]].launch == SPAN_NONE)
		nr--;
	*ret_nr = nr > 0 ? nr : queued_rows(w, device, rows);
	return rows;
}

/* A copy is its direction: Kineto writes the kinds of memory behind it, in brackets. */
static uint32_t work_word(struct intern *words, struct u64map *known, const struct works *w,
			  uint32_t row)
{
	str_id id = w->m->spans.name[w->v.v[row].span];
	uint32_t *at = u64map_at(known, u64map_pair(w->v.v[row].class == WORK_COPY, id));
	const char *name, *end;

	if (*at == U64MAP_NONE) {
		name = model_str(w->m, id);
		end = w->v.v[row].class == WORK_COPY ? strstr(name, " (") : NULL;
		*at = intern_put(words, name, end ? (size_t)(end - name) : strlen(name));
	}
	return *at;
}

void periods_find(struct iterations *it, const struct works *w)
{
	struct intern *words = intern_new();
	struct u64map known = U64MAP_INIT;

	for (uint32_t d = 0; d < w->devices.nr; d++) {
		size_t nr;
		uint32_t *rows = linked_rows(w, d, &nr);

		for (size_t i = 0; i < nr; i++)
			rows[i] = work_word(words, &known, w, rows[i]);
		if (nr)
			VEC_PUSH(&it->periods,
				 ((struct device_period){ d, nr, period_find(rows, nr) }));
		free(rows);
	}
	u64map_release(&known);
	intern_free(words);
}

static void period_own(struct iterations *it, const struct works *w, const struct device_period *dp)
{
	size_t nr, lag = dp->period.lag;
	uint32_t *rows = linked_rows(w, dp->device, &nr);
	struct iteration_group g = { .first = it->v.nr, .nr = nr / lag };

	for (size_t k = 0; k < g.nr; k++) {
		for (size_t i = k * lag; i < (k + 1) * lag; i++)
			it->of_work[rows[i]] = (uint32_t)it->v.nr;
		VEC_PUSH(&it->v,
			 ((struct iteration){
				 .track = TRACK_NONE, .device = dp->device, .marker = SPAN_NONE }));
	}
	VEC_PUSH(&it->groups, g);
	free(rows);
}

void periods_own(struct iterations *it, const struct works *w)
{
	for (size_t i = 0; i < it->periods.nr; i++)
		if (it->periods.v[i].period.accepted)
			period_own(it, w, &it->periods.v[i]);
}

void periods_times(struct iterations *it)
{
	for (size_t i = 0; i < it->v.nr; i++)
		if (it->v.v[i].marker == SPAN_NONE) {
			it->v.v[i].start_ns = it->v.v[i].device_start_ns;
			it->v.v[i].end_ns = it->v.v[i].device_end_ns;
		}
}
