/*
 * Rows of rocpd_monitor: a value and how long it held, one row per change. They become points of
 * change, and an end where the next row does not begin at once: what was in between is not known.
 * Device numbers are those of the monitor's library, which need not be those of rocpd_op: a device
 * that did no work in the file is not taken to be one of those that did.
 */
#include "rpd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

enum { MON_TYPE, MON_DEVICE, MON_WHAT, MON_START, MON_END, MON_VALUE };

/* Far more than any machine has. */
#define MAX_MONITORS 65536

struct monitor_row {
	uint32_t monitor;
	int64_t start_ns, end_ns;
	double value;
	size_t order;
};

struct monitors {
	struct rpd *r;
	struct u64map at;
	VEC(series_id) v;
	VEC(struct monitor_row) rows;
	uint64_t unknown, too_many;
};

static bool did_work(const struct rpd *r, int64_t device)
{
	for (size_t i = 0; i < r->queues.nr; i++)
		if (r->queues.v[i].gpu == device)
			return true;
	return false;
}

static series_id monitor_series(struct monitors *ms, const char *type, int64_t device,
				const char *what)
{
	struct rpd *r = ms->r;
	bool known = strcmp(type, "gpu") == 0 && did_work(r, device);
	CLEANUP(xfreep) char *id = xasprintf("gpu%" PRId64, device);
	CLEANUP(xfreep)
	char *name = known ? xasprintf("%s.%s", what, id)
			   : xasprintf("%s.%s-monitor%" PRId64, what, type, device);
	struct series_def d = { .name = name,
				.unit = strcmp(what, "sclk") == 0 ? "MHz" : NULL,
				.device = known ? id : NULL,
				.kind = SERIES_GAUGE,
				.track = TRACK_NONE,
				.change_points = true,
				.ends = true };

	if (!known && ms->unknown++ == 0)
		sink_warnf(r->sc.sink, W_UNKNOWN_REFERENCE,
			   "rocpd_monitor has %s %" PRId64 ", and no work ran on a device of that "
			   "number; its series belong to no device",
			   type, device);
	return r->sc.sink->ops->series(r->sc.sink, &d);
}

/* Its number; MAX_MONITORS: none. */
static uint32_t monitor_of(struct monitors *ms, struct sqlite_rows *q, int64_t device)
{
	size_t type_n, what_n;
	const char *type = sqlite_rows_text(q, MON_TYPE, &type_n);
	const char *what = sqlite_rows_text(q, MON_WHAT, &what_n);
	uint64_t key;
	uint32_t *at;

	if (!what || what_n == 0)
		return MAX_MONITORS;
	if (!type)
		type = "gpu", type_n = 3;
	key = XXH3_64bits_withSeed(type, type_n, (uint64_t)device) ^
	      XXH3_64bits_withSeed(what, what_n, 1);
	at = u64map_at(&ms->at, key);
	if (*at == U64MAP_NONE) {
		*at = ms->v.nr < MAX_MONITORS ? (uint32_t)ms->v.nr : MAX_MONITORS;
		if (*at < MAX_MONITORS)
			VEC_PUSH(&ms->v, monitor_series(ms, type, device, what));
	}
	ms->too_many += *at == MAX_MONITORS;
	return *at;
}

static bool take_monitor(void *vp, struct sqlite_rows *q)
{
	struct monitors *ms = vp;
	struct monitor_row row = { .order = ms->rows.nr };
	int64_t device;

	ms->r->n.monitors++;
	if (!sqlite_rows_i64(q, MON_DEVICE, &device) ||
	    !sqlite_rows_i64(q, MON_START, &row.start_ns) ||
	    (row.monitor = monitor_of(ms, q, device)) == MAX_MONITORS) {
		db_scan_bad(&ms->r->sc, q, "a monitored value without a device, a name or a start");
		return false;
	}
	if (!sqlite_rows_i64(q, MON_END, &row.end_ns) || row.end_ns < row.start_ns)
		row.end_ns = row.start_ns;
	sqlite_rows_f64(q, MON_VALUE, &row.value);
	VEC_PUSH(&ms->rows, row);
	return true;
}

static int by_time(const void *va, const void *vb)
{
	const struct monitor_row *a = va, *b = vb;

	if (a->monitor != b->monitor)
		return a->monitor < b->monitor ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Rows that touch and have one value are one: a value that comes twice in a row is its end. */
static void rows_push(struct monitors *ms)
{
	struct sink *s = ms->r->sc.sink;

	if (ms->rows.nr)
		qsort(ms->rows.v, ms->rows.nr, sizeof(*ms->rows.v), by_time);
	for (size_t i = 0, next; i < ms->rows.nr; i = next) {
		struct monitor_row row = ms->rows.v[i];
		const struct monitor_row *v = ms->rows.v;

		for (next = i + 1; next < ms->rows.nr && v[next].monitor == row.monitor &&
				   v[next].start_ns <= row.end_ns && v[next].value == row.value;
		     next++)
			row.end_ns = v[next].end_ns > row.end_ns ? v[next].end_ns : row.end_ns;
		s->ops->sample(s, ms->v.v[row.monitor], row.start_ns, row.value);
		if (!isnan(row.value) && (next == ms->rows.nr || v[next].monitor != row.monitor ||
					  v[next].start_ns > row.end_ns || isnan(v[next].value)))
			s->ops->sample(s, ms->v.v[row.monitor], row.end_ns, row.value);
	}
}

void rpd_monitor_read(struct rpd *r)
{
	static const struct db_table t = { "rocpd_monitor",
					   "deviceType? deviceId monitorType start end value",
					   .take = take_monitor };
	struct monitors ms = { .r = r };

	db_scan_table(&r->sc, &t, &ms);
	rows_push(&ms);
	if (r->n.monitors > 0)
		sink_fact(r->sc.sink, "monitor_rows", (int64_t)r->n.monitors);
	u64map_release(&ms.at);
	VEC_RELEASE(&ms.v);
	VEC_RELEASE(&ms.rows);
}
