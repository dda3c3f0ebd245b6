/*
 * What was sampled on devices (GPU_METRICS: percentages and rates, named by TARGET_INFO_GPU_METRICS
 * as (typeId, metricId); the low byte of a typeId is the device's number in the machine) and what
 * was allocated on them (CUDA_GPU_MEMORY_USAGE_EVENTS: instants with bytes in their arguments).
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

static void load_names(struct metrics *mt)
{
	static const struct sqlite_column cols[] = { { "typeId", false },
						     { "metricId", false },
						     { "metricName", false } };
	struct sqlite_rows q;
	int64_t type, metric;

	if (!db_scan_open(&mt->ns->sc, "TARGET_INFO_GPU_METRICS", cols, ARRAY_LEN(cols), &q))
		return;
	while (db_scan_next(&mt->ns->sc, &q)) {
		size_t n;
		const char *s = sqlite_rows_text(&q, 2, &n);

		if (s && n < 256 && sqlite_rows_i64(&q, 0, &type) &&
		    sqlite_rows_i64(&q, 1, &metric))
			*u64map_at(&mt->names, db_hash((uint64_t)type, (uint64_t)metric, 'N')) =
				intern_put(mt->ns->names, s, n);
	}
	db_scan_close(&mt->ns->sc, &q);
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

static void read_metrics(struct nsys *ns)
{
	static const struct sqlite_column cols[] = { { "timestamp|start", false },
						     { "typeId", false },
						     { "metricId", false },
						     { "value", false } };
	struct metrics mt = { .ns = ns };
	struct sqlite_rows q;
	int64_t t_ns, samples = 0;

	if (!db_scan_open(&ns->sc, "GPU_METRICS", cols, ARRAY_LEN(cols), &q))
		return;
	db_scan_close(&ns->sc, &q);
	load_names(&mt);
	if (!db_scan_open(&ns->sc, "GPU_METRICS", cols, ARRAY_LEN(cols), &q))
		return;
	while (db_scan_next(&ns->sc, &q)) {
		series_id s;
		double v;

		if (!sqlite_rows_i64(&q, 0, &t_ns)) {
			db_scan_bad(&ns->sc, &q, "it has no time, so it was left out");
			continue;
		}
		s = series_of(&mt, sqlite_rows_i64_or(&q, 1, 0), sqlite_rows_i64_or(&q, 2, 0));
		if (s == SERIES_NONE)
			continue;
		sqlite_rows_f64(&q, 3, &v);
		ns->sc.sink->ops->sample(ns->sc.sink, s, t_ns, v);
		samples++;
	}
	db_scan_close(&ns->sc, &q);
	sink_warn(ns->sc.sink, W_BAD_EVENT, mt.too_many,
		  "samples of more GPU metrics than can be true");
	sink_fact(ns->sc.sink, "gpu_metric_samples", samples);
	u64map_release(&mt.names);
	u64map_release(&mt.series);
}

enum { M_START, M_PROCESS, M_DEVICE, M_BYTES, M_FREE, M_ADDRESS, M_COLUMNS };

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

static void read_memory(struct nsys *ns)
{
	static const struct sqlite_column cols[] = {
		{ "start", false }, { "globalPid", true },           { "deviceId", true },
		{ "bytes", true },  { "memoryOperationType", true }, { "address", true },
	};
	str_id category = sink_puts(ns->sc.sink, "gpu_memory");
	struct sqlite_rows q;
	int64_t rows = 0;

	if (!db_scan_open(&ns->sc, "CUDA_GPU_MEMORY_USAGE_EVENTS", cols, M_COLUMNS, &q))
		return;
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_INSTANT,
				      .category = category,
				      .args = STR_NONE };

		if (!sqlite_rows_i64(&q, M_START, &d.start_ns)) {
			db_scan_bad(&ns->sc, &q, "it has no start, so it was left out");
			continue;
		}
		d.end_ns = d.start_ns;
		d.name = sink_puts(ns->sc.sink,
				   sqlite_rows_i64_or(&q, M_FREE, 0) == 1 ? "free" : "allocate");
		d.track = memory_track(ns, sqlite_rows_i64_or(&q, M_PROCESS, 0),
				       sqlite_rows_i64_or(&q, M_DEVICE, -1));
		if (ns->sc.keep_args) {
			db_args_begin(&ns->sc);
			db_args_column(&ns->sc, "bytes", &q, M_BYTES);
			db_args_column(&ns->sc, "address", &q, M_ADDRESS);
			d.args = db_args_end(&ns->sc);
		}
		ns->sc.sink->ops->span(ns->sc.sink, &d);
		rows++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "memory_events", rows);
}

void nsys_read_metrics(struct nsys *ns)
{
	read_metrics(ns);
	read_memory(ns);
}
