/*
 * Records of CUDA events. A row of CUPTI_ACTIVITY_KIND_CUDA_EVENT is a call that recorded an event
 * on a stream; a row of CUPTI_ACTIVITY_KIND_SYNCHRONIZATION waits for one. An event is recorded
 * again and again: eventSyncId, which newer exports have in both tables, names the record, else it
 * is the last one before the wait, as a process numbers its calls in their order.
 */
#include "nsys.h"

#include <stdlib.h>

#include "profrig/base/search.h"

enum { E_STREAM, E_CORRELATION, E_PROCESS, E_EVENT, E_SYNC };

static bool take_record(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct nsys_record r = {
		.process = sqlite_rows_i64_or(q, E_PROCESS, 0),
		.event = sqlite_rows_i64_or(q, E_EVENT, NSYS_NO_EVENT),
		.sync = sqlite_rows_i64_or(q, E_SYNC, NSYS_NO_EVENT),
		.correlation = sqlite_rows_i64_or(q, E_CORRELATION, 0),
		.stream = sqlite_rows_i64_or(q, E_STREAM, -1),
	};

	VEC_PUSH(&ns->records, r);
	return true;
}

static int cmp_record(const void *pa, const void *pb)
{
	const struct nsys_record *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

static uint64_t sync_key(int64_t process, int64_t sync)
{
	return db_hash((uint64_t)process, (uint64_t)sync, 'E');
}

void nsys_events_load(struct nsys *ns)
{
	static const struct db_table t = { "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
					   "streamId? correlationId? globalPid? eventId? "
					   "eventSyncId?",
					   .take = take_record };

	/* rows have no times: without facts there is nothing to read, and nothing lost */
	if (!db_scan_has(&ns->sc, t.name) || !ns->sc.facts || !db_scan_table(&ns->sc, &t, ns) ||
	    ns->records.nr == 0)
		return;
	qsort(ns->records.v, ns->records.nr, sizeof(*ns->records.v), cmp_record);
	for (size_t i = 0; i < ns->records.nr && i < U64MAP_NONE; i++) {
		const struct nsys_record *r = &ns->records.v[i];

		if (r->sync != NSYS_NO_EVENT)
			*u64map_at(&ns->record_of_sync, sync_key(r->process, r->sync)) =
				(uint32_t)i;
	}
}

void nsys_events_release(struct nsys *ns)
{
	VEC_RELEASE(&ns->records);
	u64map_release(&ns->record_of_sync);
}

static bool is_before(const struct nsys_record *r, const struct nsys_record *wait)
{
	if (r->process != wait->process)
		return r->process < wait->process;
	if (r->event != wait->event)
		return r->event < wait->event;
	return r->correlation < wait->correlation;
}

const struct nsys_record *nsys_event_record(const struct nsys *ns, const struct nsys_record *wait)
{
	const struct nsys_record *v = ns->records.v;
	size_t after;

	if (wait->sync != NSYS_NO_EVENT) {
		uint32_t i = u64map_get(&ns->record_of_sync, sync_key(wait->process, wait->sync));

		if (i != U64MAP_NONE)
			return &v[i];
	}
	after = LOWER_BOUND(at, 0, ns->records.nr, is_before(&v[at], wait));
	if (wait->event == NSYS_NO_EVENT || after == 0 || v[after - 1].process != wait->process ||
	    v[after - 1].event != wait->event)
		return NULL;
	return &v[after - 1];
}
