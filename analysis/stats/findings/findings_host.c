/* Rules about the host: calls that block, allocate, load code, copies of pageable memory. */
#include "findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"
#include "profrig/names/api_names.h"

#define BLOCK_SHARE 0.02
#define BLOCK_NS 1000000
#define STEADY_LEAST 3 /* iterations behind the warm-up */

struct calls {
	uint64_t nr;
	int64_t ns;
};

/* By name: its class + 1, 0 unknown yet. */
static enum api_class class_of(const struct findings *f, uint8_t *known, str_id name)
{
	if (known[name] == 0)
		known[name] = (uint8_t)(api_class(model_str(f->m, name)) + 1);
	return (enum api_class)(known[name] - 1);
}

static bool is_steady(const struct findings *f, uint64_t span)
{
	uint32_t at = iterations_at(f->it, f->m, span);

	return at != U64MAP_NONE && f->it->v.v[at].steady;
}

/* Outermost calls of a class on threads; in steady iterations alone, if so. */
static struct calls calls_of(const struct findings *f, enum api_class class, bool steady)
{
	const struct span_columns *c = &f->m->spans;
	uint8_t *known = xcalloc(intern_count(f->m->strings) + 1, 1);
	struct calls ret = { 0 };

	for (size_t i = 0; i < c->nr; i++) {
		uint64_t up = span_parent(c, i);

		if (c->kind[i] != SPAN_HOST || f->m->tracks.v[c->track[i]].kind != TRACK_THREAD ||
		    class_of(f, known, c->name[i]) != class ||
		    (up != SPAN_NONE && class_of(f, known, c->name[up]) == class) ||
		    (steady && !is_steady(f, i)))
			continue;
		ret.nr++;
		ret.ns += c->end_ns[i] - c->start_ns[i];
	}
	free(known);
	return ret;
}

/* What a cause of idle time took, over all devices: the most that less of it can save. */
static int64_t idle_of_cause(const struct findings *f, const char *cause)
{
	const struct table *t = table_set_find(f->out, "idle_causes");
	double ns = 0;

	for (size_t i = 0; t && i < table_rows(t); i++)
		if (strcmp(text_of(t, i, "cause"), cause) == 0)
			ns += col_of(t, i, "total_ns");
	return t ? (int64_t)ns : SAVES_UNKNOWN;
}

void rule_sync_calls(struct findings *f)
{
	struct calls k = calls_of(f, API_SYNC, false);
	double share = (double)k.ns / wall_of(f, "");

	if (share > BLOCK_SHARE && k.ns >= BLOCK_NS)
		finding_add(f,
			    FINDING_AT("sync_calls", "", "functions", share, BLOCK_SHARE,
				       idle_of_cause(f, "sync")),
			    "%" PRIu64 " call%s for synchronisation wait%s for the device, %s "
			    "together (%.0f %% of the time)",
			    k.nr, plural(k.nr), k.nr == 1 ? "s" : "", time_words((double)k.ns).s,
			    100 * share);
}

/* Copy calls that returned after their own copy, whatever their names say. */
void rule_blocking_copies(struct findings *f)
{
	const struct span_columns *c = &f->m->spans;
	struct u64map seen = U64MAP_INIT;
	struct calls k = { 0 };
	double share;

	for (size_t i = 0; i < f->w->v.nr; i++) {
		const struct work *w = &f->w->v.v[i];
		uint32_t *at;

		if (w->class != WORK_COPY || w->launch == SPAN_NONE ||
		    w->end_ns > c->end_ns[w->launch])
			continue;
		at = u64map_at(&seen, w->launch);
		if (*at != U64MAP_NONE)
			continue;
		*at = 1;
		k.nr++;
		k.ns += c->end_ns[w->launch] - c->start_ns[w->launch];
	}
	u64map_release(&seen);
	share = (double)k.ns / wall_of(f, "");
	if (share > BLOCK_SHARE && k.ns >= BLOCK_NS)
		finding_add(
			f, FINDING_AT("blocking_copies", "", "functions", share, BLOCK_SHARE, k.ns),
			"%" PRIu64 " call%s wait%s for %s own copy or fill, %s together: "
			"the call is synchronous, or its memory is pageable",
			k.nr, plural(k.nr), k.nr == 1 ? "s" : "", k.nr == 1 ? "its" : "their",
			time_words((double)k.ns).s);
}

void rule_pageable(struct findings *f)
{
	const struct span_columns *c = &f->m->spans;
	bool known = false;
	struct calls k = { 0 };
	int64_t bytes = 0;

	for (size_t i = 0; i < f->m->facts.copies.nr; i++) {
		const struct copy_facts *p = &f->m->facts.copies.v[i];

		known |= p->from != MEMORY_UNKNOWN || p->to != MEMORY_UNKNOWN;
		if (p->from != MEMORY_PAGEABLE && p->to != MEMORY_PAGEABLE)
			continue;
		k.nr++;
		k.ns += c->end_ns[p->span] - c->start_ns[p->span];
		if (p->bytes != FACT_ABSENT && bytes <= INT64_MAX - p->bytes)
			bytes += p->bytes;
	}
	if (!known)
		findings_skip(f, "pageable_copies", "no copy states the kinds of its memory");
	else if (k.nr)
		finding_add(f, FINDING_AT("pageable_copies", "", "kernels", (double)k.nr, 0, k.ns),
			    "%" PRIu64 " cop%s of pageable host memory (%" PRId64
			    " bytes, %s): pinned memory is faster and does not block",
			    k.nr, k.nr == 1 ? "y" : "ies", bytes, time_words((double)k.ns).s);
}

/* ---- in steady iterations ---- */

static bool steady_enough(struct findings *f, const char *id)
{
	size_t steady = 0;

	for (size_t i = 0; i < f->it->v.nr; i++)
		steady += f->it->v.v[i].steady && f->it->v.v[i].marker != SPAN_NONE;
	if (steady < STEADY_LEAST)
		findings_skip(f, id, "needs three marked iterations behind the warm-up");
	return steady >= STEADY_LEAST;
}

static void steady_calls(struct findings *f, const char *id, enum api_class class,
			 const char *cause, const char *what)
{
	struct calls k = { 0 };

	if (steady_enough(f, id))
		k = calls_of(f, class, true);
	if (k.nr)
		finding_add(
			f,
			FINDING_AT(id, "", "functions", (double)k.nr, 0, idle_of_cause(f, cause)),
			"%" PRIu64 " calls %s in steady iterations (%s)", k.nr, what,
			time_words((double)k.ns).s);
}

void rule_steady_allocs(struct findings *f)
{
	steady_calls(f, "steady_allocs", API_ALLOC, "alloc", "allocate or free device memory");
}

void rule_steady_modules(struct findings *f)
{
	steady_calls(f, "steady_modules", API_MODULE, "module_load", "load code");
}
