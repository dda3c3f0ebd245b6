/*
 * Exports of Nsight Systems to SQLite (`nsys export --type sqlite`), schemas 2 and 3. Tables and
 * columns come and go with the version and with what was traced, so each is looked up by name:
 *
 *	StringIds			id, value: most names are ids of it
 *	CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE, _SYNCHRONIZATION
 *					device work (nsys_work.c)
 *	CUPTI_ACTIVITY_KIND_CUDA_EVENT	records of events (nsys_events.c)
 *	CUPTI_ACTIVITY_KIND_RUNTIME, OSRT_API, CUBLAS_EVENTS, MPI_…
 *					calls (nsys_calls.c)
 *	NVTX_EVENTS			ranges and marks of the program (nsys_nvtx.c)
 *	NVTX_PAYLOAD_SCHEMA…		what NCCL tells of its ranges (nsys_payload.c)
 *	GPU_METRICS			samples (nsys_metrics.c)
 *	COMPOSITE_EVENTS, SAMPLING_CALLCHAINS
 *					call stacks of the CPU, sampled (nsys_samples.c)
 *	PROCESSES, ThreadNames, TARGET_INFO_…	names, devices (nsys_tracks.c)
 *	META_DATA_EXPORT		name, value: versions; EXPORT_META_DATA in old files
 *
 * Times are ns since the capture began, unless the export shifted or normalized them;
 * TARGET_INFO_SESSION_START_TIME has the real time of that moment. A correlationId joins a call
 * with its work; each process numbers its own. Files that were cut out of a longer recording lack
 * many launches: such work is unlinked. A kernel's name is its full one, with template arguments;
 * the short one is among its arguments.
 *
 * Facts: public files of schemas 2 and 3, and the comments in their own CREATE TABLE statements.
 */
#include "nsys.h"
#include "readers_private.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/model/warnings.h"

static int probe_nsys(const struct probe *p)
{
	static const char *const work[] = { "StringIds", "CUPTI_ACTIVITY_KIND_*", NULL };
	static const char *const meta[] = { "StringIds", "META_DATA_EXPORT", NULL };
	static const char *const old[] = { "StringIds", "EXPORT_META_DATA", NULL };
	static const char *const nvtx[] = { "StringIds", "NVTX_EVENTS", NULL };

	if (sqlite_probe_has(p, work) || sqlite_probe_has(p, meta) || sqlite_probe_has(p, old))
		return 95;
	return sqlite_probe_has(p, nvtx) ? 80 : 0;
}

static bool take_meta(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	char name[65] = "";
	size_t n;
	const char *s = sqlite_rows_text(q, 0, &n);

	if (!s || n >= sizeof(name))
		return false;
	memcpy(name, s, n);
	s = sqlite_rows_text(q, 1, &n);
	if (!s || n >= 256)
		return false;
	if (strcmp(name, "EXPORT_SCHEMA_VERSION") == 0)
		snprintf(ns->schema, sizeof(ns->schema), "%s", s);
	else if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0)
		snprintf(ns->product, sizeof(ns->product), "%s", s);
	else if (strcmp(name, "EXPORT_PARAM_TIME_NORMALIZE") == 0)
		ns->normalized = strcmp(s, "true") == 0;
	else if (strcmp(name, "EXPORT_PARAM_TIME_SHIFT") == 0 &&
		 num_i64(s, strlen(s), &ns->shift_ns) < 0)
		ns->shift_ns = 0;
	return true;
}

static void read_meta(struct nsys *ns)
{
	static const struct db_table tables[] = {
		{ "META_DATA_EXPORT", "name value", .take = take_meta },
		{ "EXPORT_META_DATA", "name value", .take = take_meta },
	};

	db_scan_tables(&ns->sc, tables, ARRAY_LEN(tables), ns);
	if (num_i64(ns->schema, strcspn(ns->schema, "."), &ns->schema_major) < 0)
		ns->schema_major = 0;
}

/* The first row counts. */
static bool take_session(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;

	if (q->rows == 1)
		sqlite_rows_i64(q, 0, &ns->session_utc_ns);
	return true;
}

static void clock_set(struct nsys *ns)
{
	static const struct db_table session = { "TARGET_INFO_SESSION_START_TIME", "utcEpochNs",
						 .take = take_session };
	struct input *in = ns->sc.sink->ops->current(ns->sc.sink);
	int64_t own_ns;

	in->clock = TRACE_CLOCK_OWN;
	if (!ns->normalized || ns->shift_ns != 0)
		db_scan_table(&ns->sc, &session, ns);
	if (ns->normalized && ns->shift_ns == 0) {
		in->clock = TRACE_CLOCK_REALTIME;
	} else if (ns->session_utc_ns > 0 &&
		   !__builtin_add_overflow(ns->normalized ? ns->session_utc_ns : 0, ns->shift_ns,
					   &own_ns)) {
		in->has_realtime_anchor = true;
		in->anchor_own_ns = own_ns;
		in->anchor_realtime_ns = ns->session_utc_ns;
	}
	in->driver_numbers = ns->device_numbers.nr > 0;
	free(in->format);
	in->format =
		xasprintf("Nsight Systems%s%s%s%s%s", ns->product[0] ? " " : "", ns->product,
			  ns->schema[0] ? " (schema " : "", ns->schema, ns->schema[0] ? ")" : "");
	ns->sc.sink->ops->clock(ns->sc.sink);
	if (ns->schema[0] && ns->schema_major != 2 && ns->schema_major != 3)
		sink_warnf(ns->sc.sink, W_UNKNOWN_VERSION,
			   "schema version %s: only 2 and 3 are known", ns->schema);
}

/* Tables without events, or whose rows are useless without those of another table. */
static bool is_no_loss(const char *name)
{
	static const char *const beginnings[] = {
		"ANALYSIS_DETAILS", "ANALYSIS_FILE",
		"DIAGNOSTIC_EVENT", "ENUM_",
		"META_DATA_",       "NVTX_PAYLOAD_SCHEMA",
		"ProcessStreams",   "SAMPLING_CALLCHAINS",
		"TARGET_INFO_",     "sqlite_",
	};

	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* Warns of other tables, with their number of rows. */
static void ignored_warn(struct nsys *ns)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	uint64_t ignored = 0;

	if (sqlite_db_list(ns->sc.db, "", &names, NULL) < 0)
		return;
	strbuf_limit(&text, 1024);
	strbuf_addstr(&text, "rows of tables that are not read:");
	for (size_t i = 0; i < names.nr; i++) {
		int64_t rows;

		if (is_no_loss(names.v[i]) || !db_scan_unasked(&ns->sc, names.v[i]))
			continue;
		rows = db_scan_rows(&ns->sc, names.v[i]);
		if (rows == 0)
			continue;
		ignored += (uint64_t)rows;
		strbuf_addf(&text, " %s (%" PRId64 ")", names.v[i], rows);
	}
	sink_warn(ns->sc.sink, W_IGNORED_RECORD, ignored, text.buf);
}

static void nsys_release(struct nsys *ns)
{
	nsys_tracks_release(ns);
	nsys_events_release(ns);
	nsys_payloads_release(ns);
	if (ns->strings.sink)
		sqlite_strings_release(&ns->strings);
	db_scan_release(&ns->sc);
	sqlite_db_close(ns->sc.db);
}

/* Whether all work has its process: then calls are found by process and number. */
static bool tells_process(struct nsys *ns)
{
	static const char *const tables[] = {
		"CUPTI_ACTIVITY_KIND_KERNEL",
		"CUPTI_ACTIVITY_KIND_MEMCPY",
		"CUPTI_ACTIVITY_KIND_MEMSET",
		"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	};
	bool some = false;

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		if (!sqlite_db_has_column(ns->sc.db, tables[i], "start"))
			continue;
		if (!sqlite_db_has_column(ns->sc.db, tables[i], "globalPid"))
			return false;
		some = true;
	}
	return some;
}

static void nsys_read_all(struct nsys *ns)
{
	db_scan_strings(&ns->sc, &ns->strings, "StringIds", "id value");
	read_meta(ns);
	nsys_tracks_load(ns);
	nsys_payloads_load(ns);
	clock_set(ns);
	sqlite_db_warn(ns->sc.db, ns->sc.sink);
	ns->by_process = tells_process(ns);
	nsys_read_work(ns);
	nsys_read_calls(ns);
	nsys_read_nvtx(ns);
	nsys_read_metrics(ns);
	nsys_read_samples(ns);
	ignored_warn(ns);
}

static int read_nsys(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	CLEANUP(nsys_release)
	struct nsys ns = { .sc = { .sink = s, .args = STRBUF_INIT }, .device = o->device };
	int r = sqlite_db_open(path, &ns.sc.db, err);

	db_scan_opts(&ns.sc, o);
	if (r < 0)
		return r;
	ns.names = intern_new();
	sqlite_strings_init(&ns.strings, s);
	s->ops->input(s, path, "nsys");
	nsys_read_all(&ns);
	return db_scan_result(&ns.sc, err);
}

const struct reader reader_nsys = {
	.name = "nsys",
	.about = "Nsight Systems exports (SQLite): CUDA work, API calls, NVTX ranges, GPU metrics",
	.suffixes = ".sqlite[.gz|.zst]",
	.probe = probe_nsys,
	.read = read_nsys,
};
