/*
 * rocprof v1's results.db: the SQLite file beside results.csv and results.json, one table per kind
 * of activity, of which a run has only some. Times are ns of CLOCK_BOOTTIME.
 *
 *	KERN	dispatches as the queue interceptor saw them: Index, KernelName, gpu-id, queue-id,
 *		pid, tid, grd (work items), wgr, lds, scr …, sig, obj; then one column per counter
 *		that was asked for; with time stamps: DispatchNs, BeginNs, EndNs, CompleteNs,
 *		and DurationNs, which is EndNs − BeginNs
 *	HIP HSA	calls: BeginNs, EndNs, pid, tid, Name, args, Index (correlation), Data
 *	rocTX	ranges, marks without length: BeginNs, EndNs, pid, tid, Name
 *	OPS	kernels of the HIP trace, barriers among them: BeginNs, EndNs, dev-id, queue-id,
 *		Name, pid, tid, stream-id, Index (of the HIP call of the same pid)
 *	COPY	the same for copies and fills; those of the HSA trace, "async-copy", have no device,
 *		and Index is that of the HSA call
 *
 * Names of kernels and barriers keep the double quotes of the text files; they are taken off. Where
 * OPS has rows, KERN holds the same dispatches once more: they are not counted twice.
 *
 * A counter is a value of a dispatch. The model has samples of series, so it is a sample of a
 * series of the dispatch's queue at the dispatch's end, as in rocprof's tables; where dispatches
 * have no times all there is of it is its sum, the fact "sum of NAME".
 *
 * Source of facts: the post-processing script of rocprof, and one public recording.
 */
#include "readers_private.h"
#include "rocprof_csv.h"
#include "sqlite_db.h"
#include "tally.h"
#include "track_limit.h"

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
	const struct read_opts *opts;
	struct sink *sink;
	struct sqlite_db *db;
	struct err damage;
	struct u64map threads, queues; /* → track_id */
	struct track_limit tracks;
	VEC(struct rocprof_db_counter {
		char *name;
		double sum;
	}) counters;
	struct u64map series; /* by queue and counter */
	bool dispatches_again, timed;
	char device[32]; /* of the dispatch in hand; "" unknown */
	uint64_t crowd;  /* values of counters that are too many */
	struct tally bad_rows;
};

/* What a call and the work it started have in common besides pid and Index. */
enum domain { DOMAIN_NONE, DOMAIN_HIP, DOMAIN_HSA };

static void lose(struct rocprof *r, const struct err *why)
{
	if (!r->damage.code)
		r->damage = *why;
	sink_warnf(r->sink, W_TRUNCATED, "%s; the rest of it is missing", why->msg);
}

static void bad_row(struct rocprof *r, const struct sqlite_rows *q, const char *what)
{
	tally_text(&r->bad_rows, "%s, row %" PRIu64 ": %s", q->what, q->rows, what);
}

static uint64_t key_of(int64_t a, int64_t b, int64_t c)
{
	uint64_t h = XXH3_64bits((int64_t[]){ a, b, c }, 3 * sizeof(int64_t));

	return h ? h : 1;
}

/* ---- tracks ---- */

static track_id process_track(struct rocprof *r, int64_t pid)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_PROCESS;
	d.pid = pid;
	return track_limit_make(&r->tracks, r->sink, &d);
}

static track_id thread_track(struct rocprof *r, int64_t pid, int64_t tid)
{
	uint64_t key = key_of(pid, tid, 0);
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at;

	d.kind = TRACK_THREAD;
	if (track_limit_shares(&r->tracks, &r->threads, key))
		return track_limit_make(&r->tracks, r->sink, &d);
	at = u64map_at(&r->threads, key);
	if (*at != U64MAP_NONE)
		return *at;
	d.parent = process_track(r, pid);
	d.pid = pid;
	d.tid = tid;
	*at = track_limit_make(&r->tracks, r->sink, &d);
	return *at;
}

/* device < 0: the file does not tell which. */
static track_id queue_track(struct rocprof *r, int64_t pid, int64_t device, int64_t queue)
{
	uint64_t key = key_of(pid, device, queue);
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at;
	char id[32];

	d.kind = TRACK_QUEUE;
	if (track_limit_shares(&r->tracks, &r->queues, key))
		return track_limit_make(&r->tracks, r->sink, &d);
	at = u64map_at(&r->queues, key);
	if (*at != U64MAP_NONE)
		return *at;
	snprintf(id, sizeof(id), "gpu%" PRId64, device);
	d.device = device >= 0 ? id : r->opts->device;
	d.kind = TRACK_DEVICE;
	d.key = d.device ? XXH3_64bits(d.device, strlen(d.device)) : 0;
	d.parent = track_limit_make(&r->tracks, r->sink, &d);
	d.kind = TRACK_QUEUE;
	d.key = key;
	d.tid = queue;
	d.owner = pid >= 0 ? process_track(r, pid) : TRACK_NONE;
	*at = track_limit_make(&r->tracks, r->sink, &d);
	return *at;
}

/* ---- rows ---- */

static str_id unquoted(struct rocprof *r, const char *s, size_t n)
{
	if (n >= 2 && s[0] == '"' && s[n - 1] == '"')
		return r->sink->ops->string(r->sink, s + 1, n - 2);
	return r->sink->ops->string(r->sink, s ? s : "", n);
}

static str_id name_at(struct rocprof *r, struct sqlite_rows *q, int col)
{
	size_t n;
	const char *s = sqlite_rows_text(q, col, &n);

	return unquoted(r, s, n);
}

static bool extent_at(struct rocprof *r, struct sqlite_rows *q, int begin, struct span_def *d)
{
	if (!sqlite_rows_i64(q, begin, &d->start_ns) || !sqlite_rows_i64(q, begin + 1, &d->end_ns))
		bad_row(r, q, "no begin or no end");
	else if (d->start_ns == 0)
		bad_row(r, q,
			"a begin of 0, which is no time"); /* of a clock that runs since boot */
	else
		return true;
	return false;
}

/* BeginNs and EndNs stand first and second in all selections. */
struct table {
	const char *name;
	const struct sqlite_column *cols;
	size_t n;
	enum domain domain;
	void (*take)(struct rocprof *r, struct sqlite_rows *q, const struct table *t);
};

static void read_table(struct rocprof *r, const struct table *t)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	struct err e = ERR_INIT;
	int rc;

	if (!sqlite_db_has(r->db, t->name))
		return;
	rc = sqlite_rows_table(r->db, t->name, t->cols, t->n, NULL, &q, &e);
	while (rc >= 0 && (rc = sqlite_rows_next(&q, &e)) > 0)
		t->take(r, &q, t);
	if (rc < 0)
		lose(r, &e);
	sink_fact(r->sink, t->name, (int64_t)q.rows);
	sqlite_rows_close(&q, r->sink);
}

enum { CALL_BEGIN, CALL_END, CALL_PID, CALL_TID, CALL_NAME, CALL_ARGS, CALL_INDEX };

static const struct sqlite_column call_cols[] = {
	[CALL_BEGIN] = { "BeginNs", false }, [CALL_END] = { "EndNs", false },
	[CALL_PID] = { "pid", false },       [CALL_TID] = { "tid", false },
	[CALL_NAME] = { "Name", true },      [CALL_ARGS] = { "args", true },
	[CALL_INDEX] = { "Index", true },
};

/* rocprof's arguments are a text of its own: "( stream(0), kernel(k) )". */
static str_id call_args(struct rocprof *r, struct sqlite_rows *q)
{
	size_t n;
	const char *s = r->opts->keep_args ? sqlite_rows_text(q, CALL_ARGS, &n) : NULL;
	CLEANUP(xfreep) char *json = NULL;
	size_t len = 0;
	struct json_out j;
	FILE *f;

	if (!s || n == 0)
		return STR_NONE;
	f = xmemstream(&json, &len);
	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	json_strn(&j, "args", s, n);
	json_end(&j);
	fclose(f);
	return r->sink->ops->string(r->sink, json, len);
}

static void take_call(struct rocprof *r, struct sqlite_rows *q, const struct table *t)
{
	struct span_def d = { .kind = SPAN_HOST };
	int64_t pid, tid, index;

	if (!extent_at(r, q, CALL_BEGIN, &d))
		return;
	if (!sqlite_rows_i64(q, CALL_PID, &pid) || !sqlite_rows_i64(q, CALL_TID, &tid) || pid < 0 ||
	    tid < 0) {
		bad_row(r, q, "a call without a process or a thread");
		return;
	}
	d.track = thread_track(r, pid, tid);
	d.name = name_at(r, q, CALL_NAME);
	d.category = sink_puts(r->sink, t->name);
	d.args = call_args(r, q);
	if (t->domain == DOMAIN_NONE)
		d.kind = d.start_ns == d.end_ns ? SPAN_INSTANT : SPAN_HOST;
	else if (sqlite_rows_i64(q, CALL_INDEX, &index))
		d.correlation = key_of(t->domain, pid, index);
	r->sink->ops->span(r->sink, &d);
}

enum { WORK_BEGIN, WORK_END, WORK_DEVICE, WORK_QUEUE, WORK_NAME, WORK_PID, WORK_INDEX };

static const struct sqlite_column work_cols[] = {
	[WORK_BEGIN] = { "BeginNs", false }, [WORK_END] = { "EndNs", false },
	[WORK_DEVICE] = { "dev-id", true },  [WORK_QUEUE] = { "queue-id", true },
	[WORK_NAME] = { "Name", true },      [WORK_PID] = { "pid|proc-id", true },
	[WORK_INDEX] = { "Index", true },
};

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

static void take_work(struct rocprof *r, struct sqlite_rows *q, const struct table *t)
{
	bool copies = strcmp(t->name, "COPY") == 0;
	struct span_def d = { .args = STR_NONE };
	int64_t pid = sqlite_rows_i64_or(q, WORK_PID, -1), device, index;
	bool hsa;
	const char *name;
	size_t n;

	if (!extent_at(r, q, WORK_BEGIN, &d))
		return;
	name = sqlite_rows_text(q, WORK_NAME, &n);
	hsa = copies && name && strcmp(name, "async-copy") == 0;
	if (!sqlite_rows_i64(q, WORK_DEVICE, &device) || device < 0)
		device = -1;
	d.kind = work_kind(name, copies);
	d.name = unquoted(r, name, n);
	d.category = sink_puts(r->sink, t->name);
	d.track = queue_track(r, pid, device, sqlite_rows_i64_or(q, WORK_QUEUE, 0));
	if (d.kind != SPAN_ANNOTATION && sqlite_rows_i64(q, WORK_INDEX, &index))
		d.correlation = key_of(hsa ? DOMAIN_HSA : DOMAIN_HIP, pid, index);
	r->sink->ops->span(r->sink, &d);
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
	KERN_COLUMNS, /* counters stand behind them */
};

static const struct sqlite_column kern_cols[] = {
	[KERN_BEGIN] = { "BeginNs", true },
	[KERN_END] = { "EndNs", true },
	[KERN_NAME] = { "KernelName", false },
	[KERN_DEVICE] = { "gpu-id", true },
	[KERN_QUEUE] = { "queue-id", true },
	[KERN_PID] = { "pid", true },
	[KERN_GRID] = { "grd", true },
	[KERN_BLOCK] = { "wgr", true },
	[KERN_LDS] = { "lds", true },
	[KERN_SCRATCH] = { "scr", true },
	[KERN_VGPR] = { "arch_vgpr|vgpr", true },
	[KERN_SGPR] = { "sgpr", true },
};

static str_id kern_args(struct rocprof *r, struct sqlite_rows *q)
{
	static const struct {
		const char *key;
		int col;
	} members[] = { { "grid_items", KERN_GRID }, { "block_items", KERN_BLOCK },
			{ "lds", KERN_LDS },         { "scratch", KERN_SCRATCH },
			{ "vgpr", KERN_VGPR },       { "sgpr", KERN_SGPR } };
	char text[256];
	size_t n = 1;

	if (!r->opts->keep_args)
		return STR_NONE;
	text[0] = '{';
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		int64_t v;

		if (sqlite_rows_i64(q, members[i].col, &v))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\"%s\":%" PRId64,
					      n > 1 ? "," : "", members[i].key, v);
	}
	text[n++] = '}';
	return r->sink->ops->string(r->sink, text, n);
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
		d.device = r->device[0] ? r->device : r->opts->device;
		at = r->sink->ops->series(r->sink, &d);
		*u64map_at(&r->series, key) = at;
	}
	r->sink->ops->sample(r->sink, at, t_ns, value);
}

static void take_kern(struct rocprof *r, struct sqlite_rows *q, const struct table *t)
{
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
		d.category = sink_puts(r->sink, t->name);
		d.args = kern_args(r, q);
		r->sink->ops->span(r->sink, &d);
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
}

/* ---- the whole ---- */

static const struct table calls[] = {
	{ "HIP", call_cols, ARRAY_LEN(call_cols), DOMAIN_HIP, take_call },
	{ "HSA", call_cols, ARRAY_LEN(call_cols), DOMAIN_HSA, take_call },
	{ "rocTX", call_cols, ARRAY_LEN(call_cols), DOMAIN_NONE, take_call },
};
static const struct table work[] = {
	{ "OPS", work_cols, ARRAY_LEN(work_cols), DOMAIN_HIP, take_work },
	{ "COPY", work_cols, ARRAY_LEN(work_cols), DOMAIN_HIP, take_work },
};
static bool has_rows(struct rocprof *r, const char *table)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };

	return sqlite_db_has(r->db, table) &&
	       sqlite_rows_query(r->db, table, &q, NULL, "SELECT 1 FROM \"%w\" LIMIT 1", table) ==
		       0 &&
	       sqlite_rows_next(&q, NULL) > 0;
}

static void find_counters(struct rocprof *r)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };

	if (sqlite_rows_query(r->db, "table 'KERN'", &q, NULL, "SELECT * FROM KERN LIMIT 0") < 0)
		return;
	for (int i = 0; i < sqlite3_column_count(q.stmt); i++) {
		const char *name = sqlite3_column_name(q.stmt, i);
		struct csv_text text = { name, name ? strlen(name) : 0 };

		/* '|' means "or" among names of columns */
		if (text.n == 0 || memchr(text.p, '|', text.n) || strncmp(name, "__", 2) == 0 ||
		    strcmp(name, "Data") == 0 || !rocprof_names_counter(text))
			continue;
		if (r->counters.nr < MAX_COUNTERS)
			VEC_PUSH(&r->counters, (struct rocprof_db_counter){ xstrdup(name), 0 });
		else
			r->crowd++;
	}
}

static void tell_kern(struct rocprof *r)
{
	for (size_t i = 0; !r->timed && i < r->counters.nr; i++) {
		CLEANUP(xfreep) char *key = xasprintf("sum of %.200s", r->counters.v[i].name);

		if (fabs(r->counters.v[i].sum) < 9e18)
			sink_fact(r->sink, key, llround(r->counters.v[i].sum));
	}
	sink_warn(r->sink, W_BAD_EVENT, r->crowd, "more counters than can be true, left out");
}

static void read_kern(struct rocprof *r)
{
	struct sqlite_column cols[KERN_COLUMNS + MAX_COUNTERS];
	struct table kern = { "KERN", cols, KERN_COLUMNS, DOMAIN_NONE, take_kern };

	if (!sqlite_db_has(r->db, "KERN"))
		return;
	find_counters(r);
	memcpy(cols, kern_cols, sizeof(kern_cols));
	for (size_t i = 0; i < r->counters.nr; i++)
		cols[kern.n++] = (struct sqlite_column){ r->counters.v[i].name, true };
	r->timed = !sqlite_db_has_column(r->db, "KERN", "KernelName") ||
		   sqlite_db_has_column(r->db, "KERN", "BeginNs");
	cols[KERN_BEGIN].optional = cols[KERN_END].optional = !r->timed;
	r->dispatches_again = has_rows(r, "OPS");
	if (r->dispatches_again)
		sink_warnf(r->sink, W_IGNORED_RECORD,
			   "table 'KERN' holds the dispatches of table 'OPS' once more");
	else if (!r->timed && has_rows(r, "KERN"))
		sink_warnf(r->sink, W_BAD_EVENT,
			   "the dispatches in table 'KERN' have no times; rocprof records them "
			   "with --timestamp on");
	if (r->counters.nr > 0 || (r->timed && !r->dispatches_again))
		read_table(r, &kern);
	tell_kern(r);
}

static void read_all(struct rocprof *r)
{
	struct sink *s = r->sink;
	struct input *in;

	s->ops->input(s, r->path, "rocprof_db");
	in = s->ops->current(s);
	free(in->format);
	in->format = xstrdup("rocprof v1 database");
	in->clock = TRACE_CLOCK_BOOTTIME; /* HSA's system clock */
	in->resolution_hz = 1e9;
	in->driver_numbers = true;
	s->ops->clock(s);
	sqlite_db_tell(r->db, s);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		read_table(r, &calls[i]);
	for (size_t i = 0; i < ARRAY_LEN(work); i++)
		read_table(r, &work[i]);
	read_kern(r);
	track_limit_tell(&r->tracks, s);
	tally_warn(&r->bad_rows, s, W_BAD_EVENT, NULL);
	in = s->ops->current(s);
	if (in->spans == 0 && !r->damage.code && !in->partial)
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
	sqlite_db_close(r->db);
}

static int read_rocprof_db(const char *path, struct sink *s, const struct read_opts *o,
			   struct err *err)
{
	static const char *const known[] = { "KERN", "HIP", "HSA", "OPS", "COPY", "rocTX" };
	CLEANUP(rocprof_release) struct rocprof r = { .path = path, .opts = o, .sink = s };
	bool any = false;
	int rc = sqlite_db_open(path, &r.db, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		any |= sqlite_db_has(r.db, known[i]);
	if (!any)
		return err_set(err, EINVAL, "%s: no table of rocprof v1 (KERN, HIP, HSA, OPS …)",
			       path);
	read_all(&r);
	rc = sqlite_db_result(r.db, s, &r.damage, err);
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
