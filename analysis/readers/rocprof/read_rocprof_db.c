/*
 * rocprof v1's results.db: the SQLite file beside results.csv and results.json, one table per kind
 * of activity, of which a run has only some. Times are ns of CLOCK_BOOTTIME.
 *
 *	KERN	dispatches, from the queue interceptor: Index, KernelName, gpu-id, queue-id,
 *		pid, tid, grd (work items), wgr, lds, scr …, sig, obj; then one column per counter
 *		of the options; with time stamps: DispatchNs, BeginNs, EndNs, CompleteNs,
 *		and DurationNs, which is EndNs − BeginNs
 *	HIP HSA	calls: BeginNs, EndNs, pid, tid, Name, args, Index (correlation), Data
 *	rocTX	ranges, marks without length: BeginNs, EndNs, pid, tid, Name
 *	OPS	kernels of the HIP trace, barriers among them: BeginNs, EndNs, dev-id, queue-id,
 *		Name, pid, tid, stream-id, Index (of the HIP call of the same pid)
 *	COPY	the same for copies and fills; those of the HSA trace, "async-copy", have no device,
 *		and Index is that of the HSA call
 *
 * Names of kernels and barriers keep the double quotes of the text files; the reader removes them.
 * Where OPS has rows, KERN repeats the same dispatches, which then do not count.
 *
 * A counter is a value of a dispatch. The model has samples of series, so it becomes a sample of a
 * series of the dispatch's queue at the dispatch's end; where dispatches have no times only its sum
 * is kept, the fact "sum of NAME".
 *
 * Source of facts: the post-processing script of rocprof, and one public recording.
 */
#include "db_scan.h"
#include "input_sink.h"
#include "readers_private.h"
#include "rocprof_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <strings.h>
#include <xxhash.h>

#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

#define MAX_COUNTERS 1024
#define MAX_SERIES 32768

struct rocprof {
	const char *path;
	const char *device_asked; /* where the file names none; NULL */
	struct db_scan sc;
	struct u64map threads, queues; /* → track_id */
	VEC(struct rocprof_db_counter {
		char *name;
		double sum;
	}) counters;
	struct u64map series; /* by queue and counter */
	bool dispatches_again, timed;
	char device[32]; /* of the current dispatch; "" unknown */
	uint64_t crowd;  /* counters left out */
};

/* Salts of correlations: a call and its work share the salt, pid and Index. */
enum domain { DOMAIN_NONE, DOMAIN_HIP, DOMAIN_HSA };

/* ---- tracks ---- */

static track_id process_track(struct rocprof *r, int64_t pid)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_PROCESS;
	d.pid = pid;
	return track_limit_make(&r->sc.tracks, r->sc.sink, &d);
}

static track_id thread_track(struct rocprof *r, int64_t pid, int64_t tid)
{
	uint64_t key = db_hash(pid, tid, 0);
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at;

	d.kind = TRACK_THREAD;
	if (track_limit_shares(&r->sc.tracks, &r->threads, key))
		return track_limit_make(&r->sc.tracks, r->sc.sink, &d);
	at = u64map_at(&r->threads, key);
	if (*at != U64MAP_NONE)
		return *at;
	d.parent = process_track(r, pid);
	d.pid = pid;
	d.tid = tid;
	*at = track_limit_make(&r->sc.tracks, r->sc.sink, &d);
	return *at;
}

/* device < 0: unknown. */
static track_id queue_track(struct rocprof *r, int64_t pid, int64_t device, int64_t queue)
{
	uint64_t key = db_hash(pid, device, queue);
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at;
	char id[32];

	d.kind = TRACK_QUEUE;
	if (track_limit_shares(&r->sc.tracks, &r->queues, key))
		return track_limit_make(&r->sc.tracks, r->sc.sink, &d);
	at = u64map_at(&r->queues, key);
	if (*at != U64MAP_NONE)
		return *at;
	snprintf(id, sizeof(id), "gpu%" PRId64, device);
	d.device = device >= 0 ? id : r->device_asked;
	d.kind = TRACK_DEVICE;
	d.key = d.device ? XXH3_64bits(d.device, strlen(d.device)) : 0;
	d.parent = track_limit_make(&r->sc.tracks, r->sc.sink, &d);
	d.kind = TRACK_QUEUE;
	d.key = key;
	d.tid = queue;
	d.owner = pid >= 0 ? process_track(r, pid) : TRACK_NONE;
	*at = track_limit_make(&r->sc.tracks, r->sc.sink, &d);
	return *at;
}

/* ---- rows ---- */

static str_id text_unquoted(struct rocprof *r, const char *s, size_t n)
{
	if (n >= 2 && s[0] == '"' && s[n - 1] == '"')
		return r->sc.sink->ops->string(r->sc.sink, s + 1, n - 2);
	return r->sc.sink->ops->string(r->sc.sink, s ? s : "", n);
}

static str_id name_at(struct rocprof *r, struct sqlite_rows *q, int col)
{
	size_t n;
	const char *s = sqlite_rows_text(q, col, &n);

	return text_unquoted(r, s, n);
}

static bool extent_at(struct rocprof *r, struct sqlite_rows *q, int begin, struct span_def *d)
{
	if (!sqlite_rows_i64(q, begin, &d->start_ns) || !sqlite_rows_i64(q, begin + 1, &d->end_ns))
		db_scan_bad(&r->sc, q, "no begin or no end");
	else if (d->start_ns == 0)
		db_scan_bad(&r->sc, q,
			    "a begin of 0, which is no time"); /* of a clock that runs since boot */
	else
		return true;
	return false;
}

/* BeginNs and EndNs are the first two columns of all selections. */
#define CALLS "BeginNs EndNs pid tid Name? args? Index?"
#define WORK "BeginNs EndNs dev-id? queue-id? Name? pid|proc-id? Index?"
#define DISPATCHES " KernelName gpu-id? queue-id? pid? grd? wgr? lds? scr? arch_vgpr|vgpr? sgpr?"

enum { CALL_BEGIN, CALL_END, CALL_PID, CALL_TID, CALL_NAME, CALL_ARGS, CALL_INDEX };

/* rocprof's arguments have a syntax of their own: "( stream(0), kernel(k) )". */
static str_id call_args(struct rocprof *r, struct sqlite_rows *q)
{
	size_t n;
	const char *s = r->sc.keep_args ? sqlite_rows_text(q, CALL_ARGS, &n) : NULL;

	if (!s || n == 0)
		return STR_NONE;
	db_args_begin(&r->sc);
	json_quote(db_args_key(&r->sc, "args"), s, n);
	return db_args_end(&r->sc);
}

static bool take_call(struct rocprof *r, struct sqlite_rows *q, enum domain domain)
{
	struct span_def d = { .kind = SPAN_HOST };
	int64_t pid, tid, index;

	if (!extent_at(r, q, CALL_BEGIN, &d))
		return true;
	if (!sqlite_rows_i64(q, CALL_PID, &pid) || !sqlite_rows_i64(q, CALL_TID, &tid) || pid < 0 ||
	    tid < 0) {
		db_scan_bad(&r->sc, q, "a call without a process or a thread");
		return true;
	}
	d.track = thread_track(r, pid, tid);
	d.name = name_at(r, q, CALL_NAME);
	d.category = r->sc.category;
	d.args = call_args(r, q);
	if (domain == DOMAIN_NONE)
		d.kind = d.start_ns == d.end_ns ? SPAN_INSTANT : SPAN_HOST;
	else if (sqlite_rows_i64(q, CALL_INDEX, &index))
		d.correlation = db_hash(domain, (uint64_t)pid, (uint64_t)index);
	r->sc.sink->ops->span(r->sc.sink, &d);
	return true;
}

static bool take_hip(void *r, struct sqlite_rows *q)
{
	return take_call(r, q, DOMAIN_HIP);
}

static bool take_hsa(void *r, struct sqlite_rows *q)
{
	return take_call(r, q, DOMAIN_HSA);
}

static bool take_roctx(void *r, struct sqlite_rows *q)
{
	return take_call(r, q, DOMAIN_NONE);
}

enum { WORK_BEGIN, WORK_END, WORK_DEVICE, WORK_QUEUE, WORK_NAME, WORK_PID, WORK_INDEX };

static bool has_word(const char *s, const char *word)
{
	return s && strcasestr(s, word) != NULL;
}

static enum span_kind work_kind(const char *name, bool copies)
{
	if (has_word(name, "barrier") || has_word(name, "Marker"))
		return SPAN_ANNOTATION;
	if (!copies)
		return SPAN_KERNEL;
	return has_word(name, "fill") || has_word(name, "memset") ? SPAN_FILL : SPAN_COPY;
}

static bool take_work(struct rocprof *r, struct sqlite_rows *q, bool copies)
{
	struct span_def d = { .args = STR_NONE };
	int64_t pid = sqlite_rows_i64_or(q, WORK_PID, -1), device, index;
	bool hsa;
	const char *name;
	size_t n;

	if (!extent_at(r, q, WORK_BEGIN, &d))
		return true;
	name = sqlite_rows_text(q, WORK_NAME, &n);
	hsa = copies && name && strcmp(name, "async-copy") == 0;
	if (!sqlite_rows_i64(q, WORK_DEVICE, &device) || device < 0)
		device = -1;
	d.kind = work_kind(name, copies);
	d.name = text_unquoted(r, name, n);
	d.category = r->sc.category;
	d.track = queue_track(r, pid, device, sqlite_rows_i64_or(q, WORK_QUEUE, 0));
	if (d.kind != SPAN_ANNOTATION && sqlite_rows_i64(q, WORK_INDEX, &index))
		d.correlation =
			db_hash(hsa ? DOMAIN_HSA : DOMAIN_HIP, (uint64_t)pid, (uint64_t)index);
	r->sc.sink->ops->span(r->sc.sink, &d);
	return true;
}

static bool take_ops(void *r, struct sqlite_rows *q)
{
	return take_work(r, q, false);
}

static bool take_copy(void *r, struct sqlite_rows *q)
{
	return take_work(r, q, true);
}

enum {
	KERN_BEGIN,
	KERN_END,
	KERN_NAME,
	KERN_DEVICE,
	KERN_QUEUE,
	KERN_PID,
	KERN_GRID,
	KERN_BLOCK,
	KERN_LDS,
	KERN_SCRATCH,
	KERN_VGPR,
	KERN_SGPR,
	KERN_COLUMNS, /* counters follow them */
};

static str_id kern_shape(struct rocprof *r, struct sqlite_rows *q)
{
	struct launch_shape shape = { { 0 } };

	shape.v[LAUNCH_SHAPE_GRID] = (uint64_t)sqlite_rows_i64_or(q, KERN_GRID, 0);
	shape.v[LAUNCH_SHAPE_BLOCK] = (uint64_t)sqlite_rows_i64_or(q, KERN_BLOCK, 0);
	return launch_shapes_put(&r->sc.shapes, r->sc.sink, &shape);
}

static str_id kern_args(struct rocprof *r, struct sqlite_rows *q)
{
	static const struct {
		const char *key;
		int col;
	} members[] = { { "grid_items", KERN_GRID }, { "block_items", KERN_BLOCK },
			{ "lds", KERN_LDS },         { "scratch", KERN_SCRATCH },
			{ "vgpr", KERN_VGPR },       { "sgpr", KERN_SGPR } };
	const char *s;

	if (!r->sc.keep_args)
		return r->sc.keep_shapes ? kern_shape(r, q) : STR_NONE;
	db_args_begin(&r->sc);
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		int64_t v;

		if (sqlite_rows_i64(q, members[i].col, &v))
			db_args_i64(&r->sc, members[i].key, v);
	}
	s = db_args_text(&r->sc);
	return r->sc.sink->ops->string(r->sc.sink, s, strlen(s));
}

/* "None" is rocprof's word for a value it does not have. */
static bool counter_at(struct sqlite_rows *q, int col, double *ret)
{
	const char *text = sqlite3_column_type(q->stmt, col) == SQLITE_TEXT
				   ? (const char *)sqlite3_column_text(q->stmt, col)
				   : NULL;

	return !(text && strcmp(text, "None") == 0) && sqlite_rows_f64(q, col, ret) &&
	       isfinite(*ret);
}

static void take_counter(struct rocprof *r, size_t counter, track_id queue, int64_t t_ns,
			 double value)
{
	uint64_t key = u64map_pair(queue, (uint32_t)counter);
	uint32_t at = u64map_get(&r->series, key);

	if (at == U64MAP_NONE) {
		struct series_def d = { .name = r->counters.v[counter].name,
					.track = queue,
					.kind = SERIES_UNKNOWN };

		if (r->series.nr == MAX_SERIES) {
			r->crowd++;
			return;
		}
		d.device = r->device[0] ? r->device : r->device_asked;
		at = r->sc.sink->ops->series(r->sc.sink, &d);
		*u64map_at(&r->series, key) = at;
	}
	r->sc.sink->ops->sample(r->sc.sink, at, t_ns, value);
}

static bool take_kern(void *vp, struct sqlite_rows *q)
{
	struct rocprof *r = vp;
	struct span_def d = { .kind = SPAN_KERNEL };
	bool timed = r->timed && extent_at(r, q, KERN_BEGIN, &d);
	int64_t device;

	if (timed) {
		if (!sqlite_rows_i64(q, KERN_DEVICE, &device) || device < 0)
			device = -1;
		d.track = queue_track(r, sqlite_rows_i64_or(q, KERN_PID, -1), device,
				      sqlite_rows_i64_or(q, KERN_QUEUE, 0));
		r->device[0] = '\0';
		if (device >= 0)
			snprintf(r->device, sizeof(r->device), "gpu%" PRId64, device);
	}
	if (timed && !r->dispatches_again) {
		d.name = name_at(r, q, KERN_NAME);
		d.category = r->sc.category;
		d.args = kern_args(r, q);
		r->sc.sink->ops->span(r->sc.sink, &d);
	}
	for (size_t i = 0; i < r->counters.nr; i++) {
		double value;

		if (!counter_at(q, KERN_COLUMNS + (int)i, &value))
			continue;
		r->counters.v[i].sum += value;
		if (timed)
			take_counter(r, i, d.track, d.end_ns > d.start_ns ? d.end_ns : d.start_ns,
				     value);
	}
	return true;
}

/* ---- the whole ---- */

static const struct db_table tables[] = {
	{ "HIP", CALLS, .take = take_hip, .fact = "HIP", .category = "HIP" },
	{ "HSA", CALLS, .take = take_hsa, .fact = "HSA", .category = "HSA" },
	{ "rocTX", CALLS, .take = take_roctx, .fact = "rocTX", .category = "rocTX" },
	{ "OPS", WORK, .take = take_ops, .fact = "OPS", .category = "OPS" },
	{ "COPY", WORK, .take = take_copy, .fact = "COPY", .category = "COPY" },
};

static bool has_rows(struct rocprof *r, const char *table)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };

	return sqlite_db_has(r->sc.db, table) &&
	       sqlite_rows_query(r->sc.db, table, &q, NULL, "SELECT 1 FROM \"%w\" LIMIT 1",
				 table) == 0 &&
	       sqlite_rows_next(&q, NULL) > 0;
}

static void find_counters(struct rocprof *r)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };

	if (sqlite_rows_query(r->sc.db, "table 'KERN'", &q, NULL, "SELECT * FROM KERN LIMIT 0") < 0)
		return;
	for (int i = 0; i < sqlite3_column_count(q.stmt); i++) {
		const char *name = sqlite3_column_name(q.stmt, i);
		struct csv_text text = { name, name ? strlen(name) : 0 };

		if (text.n == 0 || strncmp(name, "__", 2) == 0 || strcmp(name, "Data") == 0 ||
		    !rocprof_names_counter(text))
			continue;
		/* these characters have a meaning among names of columns */
		if (r->counters.nr < MAX_COUNTERS && !name[strcspn(name, "|? ")])
			VEC_PUSH(&r->counters, (struct rocprof_db_counter){ xstrdup(name), 0 });
		else
			r->crowd++;
	}
}

static void kern_put(struct rocprof *r)
{
	for (size_t i = 0; !r->timed && i < r->counters.nr; i++) {
		CLEANUP(xfreep) char *key = xasprintf("sum of %.200s", r->counters.v[i].name);

		if (fabs(r->counters.v[i].sum) < 9e18)
			sink_fact(r->sc.sink, key, llround(r->counters.v[i].sum));
	}
	sink_warn(r->sc.sink, W_BAD_EVENT, r->crowd,
		  "counters left out: there are too many, or a name holds a blank, | or ?");
}

static void read_kern(struct rocprof *r)
{
	CLEANUP(strbuf_release) struct strbuf columns = STRBUF_INIT;
	struct db_table kern = { "KERN", NULL, .take = take_kern, .fact = "KERN",
				 .category = "KERN" };

	if (!sqlite_db_has(r->sc.db, "KERN"))
		return;
	find_counters(r);
	r->timed = !sqlite_db_has_column(r->sc.db, "KERN", "KernelName") ||
		   sqlite_db_has_column(r->sc.db, "KERN", "BeginNs");
	strbuf_addstr(&columns,
		      r->timed ? "BeginNs EndNs" DISPATCHES : "BeginNs? EndNs?" DISPATCHES);
	for (size_t i = 0; i < r->counters.nr; i++)
		strbuf_addf(&columns, " %s?", r->counters.v[i].name);
	kern.columns = columns.buf;
	r->dispatches_again = has_rows(r, "OPS");
	if (r->dispatches_again)
		sink_warnf(r->sc.sink, W_IGNORED_RECORD,
			   "table 'KERN' holds the dispatches of table 'OPS' once more");
	else if (!r->timed && has_rows(r, "KERN"))
		sink_warnf(r->sc.sink, W_BAD_EVENT,
			   "the dispatches in table 'KERN' have no times; rocprof records them "
			   "with --timestamp on");
	if (r->counters.nr > 0 || (r->timed && !r->dispatches_again))
		db_scan_table(&r->sc, &kern, r);
	kern_put(r);
}

static void rocprof_read_all(struct rocprof *r)
{
	struct sink *s = r->sc.sink;
	struct input *in;

	in = input_begin(s, r->path, "rocprof_db");
	input_format(in, "rocprof v1 database", TRACE_CLOCK_BOOTTIME); /* HSA's system clock */
	in->resolution_hz = 1e9;
	in->driver_numbers = true;
	s->ops->clock(s);
	sqlite_db_warn(r->sc.db, s);
	db_scan_tables(&r->sc, tables, ARRAY_LEN(tables), r);
	read_kern(r);
	db_scan_warn(&r->sc);
	in = s->ops->current(s);
	if (in->spans == 0 && !r->sc.damage.code && !in->partial)
		sink_warnf(s, W_EMPTY_INPUT, "%s holds no records", r->path);
}

static void rocprof_release(struct rocprof *r)
{
	u64map_release(&r->threads);
	u64map_release(&r->queues);
	u64map_release(&r->series);
	for (size_t i = 0; i < r->counters.nr; i++)
		free(r->counters.v[i].name);
	VEC_RELEASE(&r->counters);
	db_scan_release(&r->sc);
	sqlite_db_close(r->sc.db);
}

static int read_rocprof_db(const char *path, struct sink *s, const struct read_opts *o,
			   struct err *err)
{
	static const char *const known[] = { "KERN", "HIP", "HSA", "OPS", "COPY", "rocTX" };
	CLEANUP(rocprof_release)
	struct rocprof r = { .path = path,
			     .device_asked = o->device,
			     .sc = { .sink = s, .old_tools = true, .args = STRBUF_INIT } };
	bool any = false;
	int rc = sqlite_db_open(path, &r.sc.db, err);

	db_scan_opts(&r.sc, o);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		any |= sqlite_db_has(r.sc.db, known[i]);
	if (!any)
		return err_set(err, EINVAL, "%s: no table of rocprof v1 (KERN, HIP, HSA, OPS …)",
			       path);
	rocprof_read_all(&r);
	rc = sqlite_db_result(r.sc.db, s, &r.sc.damage, err);
	s->ops->input_end(s);
	return rc;
}

static int probe_rocprof_db(const struct probe *p)
{
	static const char *const sets[][3] = {
		{ "KERN", NULL }, { "HIP", "OPS", NULL }, { "HIP", "COPY", NULL },
		{ "HSA", NULL },  { "rocTX", NULL },      { "HIP", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(sets); i++)
		if (sqlite_probe_has(p, sets[i]))
			return 80;
	return 0;
}

const struct reader reader_rocprof_db = {
	.name = "rocprof_db",
	.about = "rocprof v1's results.db: dispatches, HIP and HSA calls, copies, ranges",
	.suffixes = ".db[.gz|.zst]",
	.probe = probe_rocprof_db,
	.read = read_rocprof_db,
	.recording = recording_named,
	.richness = 3,
};
