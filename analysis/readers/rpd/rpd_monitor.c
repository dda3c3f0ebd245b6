/*
 * Rows of rocpd_monitor: a value and how long it held, one row per change. They become points of
 * change, and an end where the next row does not begin at once. Device numbers are those of the
 * monitor's library, which need not be those of rocpd_op: a device that did no work in the file is
 * not taken to be one of those that did.
 */
#include "rpd.h"

#include <inttypes.h>
#include <xxhash.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

enum { MON_TYPE, MON_DEVICE, MON_WHAT, MON_START, MON_END, MON_VALUE };

/* Far more than any machine has. */
#define MAX_MONITORS 65536

struct monitor {
	series_id id;
	int64_t end_ns; /* of its latest row */
	double value;
};

struct monitors {
	struct rpd *r;
	struct u64map at;
	VEC(struct monitor) v;
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
				.change_points = true };

	if (!known && ms->unknown++ == 0)
		sink_warnf(r->sc.sink, W_UNKNOWN_REFERENCE,
			   "rocpd_monitor has %s %" PRId64 ", and no work ran on a device of that "
			   "number; its series belong to no device",
			   type, device);
	return r->sc.sink->ops->series(r->sc.sink, &d);
}

static struct monitor *monitor_of(struct monitors *ms, struct sqlite_rows *q, int64_t device)
{
	size_t type_n, what_n;
	const char *type = sqlite_rows_text(q, MON_TYPE, &type_n);
	const char *what = sqlite_rows_text(q, MON_WHAT, &what_n);
	uint64_t key;
	uint32_t *at;

	if (!what || what_n == 0)
		return NULL;
	if (!type)
		type = "gpu", type_n = 3;
	key = XXH3_64bits_withSeed(type, type_n, (uint64_t)device) ^
	      XXH3_64bits_withSeed(what, what_n, 1);
	at = u64map_at(&ms->at, key);
	if (*at == U64MAP_NONE) {
		*at = ms->v.nr < MAX_MONITORS ? (uint32_t)ms->v.nr : MAX_MONITORS;
		if (*at < MAX_MONITORS)
			VEC_PUSH(&ms->v,
				 (struct monitor){ .id = monitor_series(ms, type, device, what),
						   .end_ns = INT64_MIN });
	}
	ms->too_many += *at == MAX_MONITORS;
	return *at == MAX_MONITORS ? NULL : &ms->v.v[*at];
}

static void close_gap(struct monitors *ms, struct monitor *m)
{
	if (m->end_ns != INT64_MIN)
		ms->r->sc.sink->ops->sample(ms->r->sc.sink, m->id, m->end_ns, m->value);
}

static bool take_monitor(void *vp, struct sqlite_rows *q)
{
	struct monitors *ms = vp;
	int64_t device, start_ns, end_ns;
	struct monitor *m;
	double value;

	ms->r->n.monitors++;
	if (!sqlite_rows_i64(q, MON_DEVICE, &device) || !sqlite_rows_i64(q, MON_START, &start_ns) ||
	    !(m = monitor_of(ms, q, device))) {
		db_scan_bad(&ms->r->sc, q, "a monitored value without a device, a name or a start");
		return false;
	}
	if (!sqlite_rows_i64(q, MON_END, &end_ns) || end_ns < start_ns)
		end_ns = start_ns;
	sqlite_rows_f64(q, MON_VALUE, &value);
	if (m->end_ns < start_ns)
		close_gap(ms, m);
	ms->r->sc.sink->ops->sample(ms->r->sc.sink, m->id, start_ns, value);
	m->end_ns = end_ns;
	m->value = value;
	return true;
}

void rpd_monitor_read(struct rpd *r)
{
	static const struct db_table t = { "rocpd_monitor",
					   "deviceType? deviceId monitorType start end value",
					   .take = take_monitor };
	struct monitors ms = { .r = r };

	db_scan_table(&r->sc, &t, &ms);
	for (size_t i = 0; i < ms.v.nr; i++)
		close_gap(&ms, &ms.v.v[i]);
	if (r->n.monitors > 0)
		sink_fact(r->sc.sink, "monitor_rows", (int64_t)r->n.monitors);
	u64map_release(&ms.at);
	VEC_RELEASE(&ms.v);
}
