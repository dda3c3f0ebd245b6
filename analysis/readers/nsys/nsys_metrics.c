/*
 * Samples of devices (GPU_METRICS: percentages and rates, named by TARGET_INFO_GPU_METRICS as
 * (typeId, metricId); the low byte of a typeId is the device's number in the machine) and their
 * allocations (CUDA_GPU_MEMORY_USAGE_EVENTS: instants with bytes in their arguments).
 */
#include "nsys.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/model/warnings.h"

/* Far more than any device has; a file of nothing but names must not fill the memory. */
#define MAX_METRICS 65536

struct metrics {
	struct nsys *ns;
	struct u64map names; /* by (typeId, metricId): ids of ns->names */
	struct u64map series;
	uint64_t made, too_many;
};

static bool take_name(void *vp, struct sqlite_rows *q)
{
	struct metrics *mt = vp;
	int64_t type, metric;
	size_t n;
	const char *s = sqlite_rows_text(q, 2, &n);

	if (s && n < 256 && sqlite_rows_i64(q, 0, &type) && sqlite_rows_i64(q, 1, &metric))
		*u64map_at(&mt->names, db_hash((uint64_t)type, (uint64_t)metric, 'N')) =
			intern_put(mt->ns->names, s, n);
	return true;
}

/* "SMs Active [Throughput %]" is SMs Active in %. */
static const char *cut_unit(char *name)
{
	size_t n = strlen(name);
	char *open = n > 2 && name[n - 1] == ']' ? strrchr(name, '[') : NULL;

	if (!open || open == name || open[-1] != ' ')
		return NULL;
	open[-1] = '\0';
	return strchr(open, '%') ? "%" : NULL;
}

static series_id series_new(struct metrics *mt, int64_t type, int64_t metric)
{
	uint32_t id = u64map_get(&mt->names, db_hash((uint64_t)type, (uint64_t)metric, 'N'));
	struct series_def d = { .kind = SERIES_GAUGE, .track = TRACK_NONE };
	char name[256], device[32];

	if (id == U64MAP_NONE)
		snprintf(name, sizeof(name), "metric %" PRId64, metric);
	else
		snprintf(name, sizeof(name), "%s", intern_str(mt->ns->names, id));
	d.unit = cut_unit(name);
	d.name = name;
	snprintf(device, sizeof(device), "gpu%d", (int)(type & 0xff));
	d.device = device;
	d.host = mt->ns->host[0] ? mt->ns->host : NULL;
	return mt->ns->sc.sink->ops->series(mt->ns->sc.sink, &d);
}

/* SERIES_NONE: there are too many. */
static series_id series_of(struct metrics *mt, int64_t type, int64_t metric)
{
	uint32_t *at = u64map_at(&mt->series, db_hash((uint64_t)type, (uint64_t)metric, 'S'));

	if (*at == U64MAP_NONE && mt->made < MAX_METRICS) {
		*at = series_new(mt, type, metric);
		mt->made++;
	}
	if (*at == U64MAP_NONE)
		mt->too_many++;
	return *at;
}

static bool take_metric(void *vp, struct sqlite_rows *q)
{
	struct metrics *mt = vp;
	struct db_scan *sc = &mt->ns->sc;
	int64_t t_ns;
	series_id s;
	double v;

	if (!sqlite_rows_i64(q, 0, &t_ns)) {
		db_scan_bad(sc, q, "it has no time, so it was left out");
		return false;
	}
	s = series_of(mt, sqlite_rows_i64_or(q, 1, 0), sqlite_rows_i64_or(q, 2, 0));
	if (s == SERIES_NONE)
		return false;
	sqlite_rows_f64(q, 3, &v);
	sc->sink->ops->sample(sc->sink, s, t_ns, v);
	return true;
}

static void read_metrics(struct nsys *ns)
{
	static const struct db_table tables[] = {
		{ "TARGET_INFO_GPU_METRICS", "typeId metricId metricName", .take = take_name },
		{ "GPU_METRICS", "timestamp|start typeId metricId value", .take = take_metric,
		  .fact = "gpu_metric_samples" },
	};
	struct metrics mt = { .ns = ns };

	if (!db_scan_has(&ns->sc, "GPU_METRICS"))
		return;
	db_scan_tables(&ns->sc, tables, ARRAY_LEN(tables), &mt);
	sink_warn(ns->sc.sink, W_BAD_EVENT, mt.too_many,
		  "samples of more GPU metrics than can be true");
	u64map_release(&mt.names);
	u64map_release(&mt.series);
}

enum { M_START, M_PROCESS, M_DEVICE, M_BYTES, M_FREE, M_ADDRESS };

static track_id memory_track(struct nsys *ns, int64_t process, int64_t device)
{
	struct track_def d = TRACK_DEF_INIT;
	char name[32];
	uint32_t id;

	d.key = db_hash((uint64_t)process >> 24, (uint64_t)device, 'M');
	id = u64map_get(&ns->slots, d.key);
	if (id != U64MAP_NONE)
		return id;
	d.kind = TRACK_COUNTER;
	d.parent = nsys_device(ns, process, device, name);
	d.host = ns->host[0] ? ns->host : NULL;
	d.name = "memory";
	id = db_scan_track(&ns->sc, &d);
	return *u64map_at(&ns->slots, d.key) = id;
}

static bool take_memory(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct span_def d = { .kind = SPAN_INSTANT, .category = ns->sc.category, .args = STR_NONE };

	if (!sqlite_rows_i64(q, M_START, &d.start_ns)) {
		db_scan_bad(&ns->sc, q, "it has no start, so it was left out");
		return false;
	}
	d.end_ns = d.start_ns;
	d.name =
		sink_puts(ns->sc.sink, sqlite_rows_i64_or(q, M_FREE, 0) == 1 ? "free" : "allocate");
	d.track = memory_track(ns, sqlite_rows_i64_or(q, M_PROCESS, 0),
			       sqlite_rows_i64_or(q, M_DEVICE, -1));
	if (ns->sc.keep_args) {
		db_args_begin(&ns->sc);
		db_args_column(&ns->sc, "bytes", q, M_BYTES);
		db_args_column(&ns->sc, "address", q, M_ADDRESS);
		d.args = db_args_end(&ns->sc);
	}
	ns->sc.sink->ops->span(ns->sc.sink, &d);
	return true;
}

void nsys_read_metrics(struct nsys *ns)
{
	static const struct db_table memory = {
		"CUDA_GPU_MEMORY_USAGE_EVENTS",
		"start globalPid? deviceId? bytes? memoryOperationType? address?",
		.take = take_memory, .fact = "memory_events", .category = "gpu_memory"
	};

	read_metrics(ns);
	db_scan_table(&ns->sc, &memory, ns);
}
