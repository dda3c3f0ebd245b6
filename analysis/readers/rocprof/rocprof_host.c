/*
 * Rows about the host: API calls and markers, allocations, and PC samples, which do not name the
 * device.
 *
 * A marker whose start is its end is a mark. Ranges of a process (roctxRangeStart) may end on
 * another thread than they began on and have thread 0: they are no calls of a thread. Allocations
 * do not name their thread at all.
 */
#include "rocprof_csv.h"

#include <string.h>
#include <xxhash.h>

static bool starts_with(struct csv_text t, const char *word)
{
	return t.n >= strlen(word) && memcmp(t.p, word, strlen(word)) == 0;
}

static void take_domain(struct rocprof_csv *rc)
{
	const struct rocprof_text *known = rocprof_text(rc, TEXT_DOMAIN);
	struct csv_text t;

	if (known && known == rc->domain)
		return;
	t = rocprof_cell(rc, COL_DOMAIN);
	rc->domain = known;
	rc->domain_id = rocprof_column_string(rc, TEXT_DOMAIN, COL_DOMAIN);
	rc->marker = starts_with(t, "MARKER") || starts_with(t, "ROCTX");
	rc->range = starts_with(t, "MARKER_CORE_RANGE");
}

static bool on_no_thread(struct rocprof_csv *rc)
{
	int64_t tid;

	return rc->range || (rocprof_number(rc, COL_THREAD, &tid) && tid == 0);
}

static void unlinked_keep(struct rocprof_csv *rc, const struct span_def *d, const char *what)
{
	VEC_PUSH(&rc->unlinked, (struct rocprof_unlinked){ .start_ns = d->start_ns,
							   .end_ns = d->end_ns,
							   .pid = rocprof_pid(rc),
							   .what = what,
							   .name = d->name,
							   .category = d->category,
							   .args = d->args });
}

void rocprof_call(struct rocprof_csv *rc)
{
	struct span_def d = { .kind = SPAN_HOST };

	if (!rocprof_times(rc, &d.start_ns, &d.end_ns))
		return;
	take_domain(rc);
	d.name = rocprof_column_string(rc, TEXT_FUNCTION, COL_FUNCTION);
	d.category = rc->domain_id;
	d.args = rocprof_args(rc);
	if (rc->marker && d.start_ns == d.end_ns) {
		d.kind = SPAN_INSTANT;
	} else if (rc->marker && on_no_thread(rc)) {
		unlinked_keep(rc, &d, "process ranges");
		return;
	}
	d.correlation = rocprof_correlation(rc);
	d.track = rocprof_thread(rc);
	rc->sink->ops->span(rc->sink, &d);
}

/* Live allocations, by address. */
static void memory_balance(struct rocprof_csv *rc, bool frees)
{
	struct csv_text address = rocprof_cell(rc, COL_ADDRESS);
	uint64_t key = XXH3_64bits(address.p, address.n) ^ (uint64_t)rocprof_pid(rc);
	uint32_t *at = u64map_at(&rc->addresses, key);
	bool held = *at == 1;
	int64_t size;

	*at = !frees;
	rc->unfreed += !frees && !held;
	rc->unfreed -= frees && held;
	rc->frees += frees;
	rc->allocations += !frees;
	if (!frees && rocprof_number(rc, COL_ALLOCATED, &size) && size > 0 &&
	    __builtin_add_overflow(rc->allocated_bytes, size, &rc->allocated_bytes))
		rocprof_fault(rc, &rc->bad_numbers);
}

void rocprof_allocation(struct rocprof_csv *rc)
{
	struct csv_text operation = rocprof_cell(rc, COL_OPERATION);
	struct span_def d = { .kind = SPAN_ANNOTATION };

	memory_balance(rc, memmem(operation.p, operation.n, "FREE", 4) != NULL);
	if (!rocprof_times(rc, &d.start_ns, &d.end_ns))
		return;
	d.name = rocprof_string(rc, operation);
	d.category = rocprof_category(rc, rocprof_cell(rc, COL_KIND));
	d.args = rocprof_args(rc);
	unlinked_keep(rc, &d, "memory allocation");
}

static track_id pc_track(struct rocprof_csv *rc)
{
	struct track_def d = TRACK_DEF_INIT;

	if (rc->pc_track == TRACK_NONE) {
		d.kind = TRACK_COUNTER;
		d.name = "PC samples";
		d.parent = rocprof_process(rc, rc->group.pid);
		d.key = 1;
		rc->pc_track = rc->sink->ops->track(rc->sink, &d);
	}
	return rc->pc_track;
}

/* The instruction's operands go into the arguments: as a name they would make a million names. */
void rocprof_pc(struct rocprof_csv *rc)
{
	struct csv_text name = rocprof_cell(rc, COL_INSTRUCTION);
	const char *blank = memchr(name.p, ' ', name.n);
	struct span_def d = { .kind = SPAN_INSTANT };

	if (!rocprof_number(rc, COL_SAMPLED, &d.start_ns)) {
		rocprof_fault(rc, &rc->no_time);
		return;
	}
	if (blank)
		name.n = (size_t)(blank - name.p);
	d.end_ns = d.start_ns;
	d.name = rocprof_string(rc, name);
	d.category = sink_puts(rc->sink, "pc_sampling");
	d.args = rocprof_args(rc);
	d.track = pc_track(rc);
	rc->sink->ops->span(rc->sink, &d);
}
