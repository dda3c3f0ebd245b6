/*
 * Rows of rocpd_api on the threads that made the calls. Correlation is the id of the row, and only
 * calls that launched something have it.
 */
#include "rpd.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profrig/base/json_out.h"
#include "profrig/base/search.h"

enum { API_ID, API_PID, API_TID, API_START, API_END, API_NAME, API_ARGS, API_CATEGORY, API_DOMAIN };

const char *rpd_host(int64_t node, char *buf)
{
	if (node <= 0)
		return NULL;
	snprintf(buf, 32, "node%" PRId64, node);
	return buf;
}

static int64_t node_of(const struct rpd *r, int64_t *pid)
{
	int64_t node = 0;

	if (r->pid_stride > 0 && *pid >= r->pid_stride) {
		node = *pid / r->pid_stride;
		*pid %= r->pid_stride;
	}
	return node;
}

track_id rpd_process(struct rpd *r, int64_t pid)
{
	uint32_t at = sqlite_ids_get(&r->process_at, pid);
	struct track_def d = TRACK_DEF_INIT;
	int64_t local = pid;
	char host[32];
	track_id t;

	if (at != SQLITE_ID_NONE)
		return r->processes.v[at].track;
	d.kind = TRACK_PROCESS;
	d.host = rpd_host(node_of(r, &local), host);
	d.pid = local;
	t = r->sc.sink->ops->track(r->sc.sink, &d);
	sqlite_ids_add(&r->process_at, pid, (uint32_t)r->processes.nr);
	VEC_PUSH(&r->processes, (struct rpd_process){ pid, t });
	return t;
}

static track_id thread_new(struct rpd *r, int64_t pid, int64_t tid)
{
	struct track_def d = TRACK_DEF_INIT;
	int64_t local = pid, thread = tid;
	char host[32];

	d.kind = TRACK_THREAD;
	d.parent = rpd_process(r, pid);
	d.host = rpd_host(node_of(r, &local), host);
	if (d.host)
		node_of(r, &thread);
	d.pid = local;
	d.tid = thread;
	return track_limit_make(&r->sc.tracks, r->sc.sink, &d);
}

static track_id thread_of(struct rpd *r, int64_t pid, int64_t tid)
{
	uint32_t *at, thread;
	uint64_t key;

	if (__builtin_expect(
		    r->last.track != TRACK_NONE && r->last.pid == pid && r->last.tid == tid, 1))
		return r->last.track;
	rpd_process(r, pid);
	thread = sqlite_ids_get(&r->tid_at, tid);
	key = u64map_pair(sqlite_ids_get(&r->process_at, pid), thread);
	if (track_limit_shares(&r->sc.tracks, &r->thread_at, key))
		return thread_new(r, pid, tid);
	if (thread == SQLITE_ID_NONE) {
		thread = r->tids++;
		sqlite_ids_add(&r->tid_at, tid, thread);
	}
	key = u64map_pair(sqlite_ids_get(&r->process_at, pid), thread);
	at = u64map_at(&r->thread_at, key);
	if (*at == U64MAP_NONE)
		*at = thread_new(r, pid, tid);
	r->last.pid = pid;
	r->last.tid = tid;
	r->last.track = *at;
	return *at;
}

/* ---- stack frames ---- */

static int by_api(const void *va, const void *vb)
{
	const struct rpd_frame *a = va, *b = vb;

	if (a->api != b->api)
		return a->api < b->api ? -1 : 1;
	return (a->depth > b->depth) - (a->depth < b->depth);
}

static bool take_frame(void *vp, struct sqlite_rows *q)
{
	struct rpd *r = vp;
	struct rpd_frame f = { .api = 0 };

	r->n.frames++;
	if (!sqlite_rows_i64(q, 0, &f.api) || !sqlite_rows_i64(q, 1, &f.depth) ||
	    !sqlite_rows_i64(q, 2, &f.name))
		db_scan_bad(&r->sc, q, "a stack frame without a call, a depth or a name");
	else if (r->sc.keep_args)
		VEC_PUSH(&r->frames, f);
	return true;
}

static void frames_read(struct rpd *r)
{
	static const struct db_table t = { "rocpd_stackframe", "api_ptr_id depth name_id",
					   .take = take_frame };

	db_scan_table(&r->sc, &t, r);
	if (r->n.frames > 0)
		sink_fact(r->sc.sink, "stack_frames", (int64_t)r->n.frames);
	if (r->frames.nr > 0)
		qsort(r->frames.v, r->frames.nr, sizeof(*r->frames.v), by_api);
}

/* The first of a call, and *ret_n of them. */
static const struct rpd_frame *frames_of(const struct rpd *r, int64_t api, size_t *ret_n)
{
	size_t from = LOWER_BOUND(i, 0, r->frames.nr, r->frames.v[i].api < api), end = from;

	while (end < r->frames.nr && r->frames.v[end].api == api)
		end++;
	*ret_n = end - from;
	return *ret_n > 0 ? &r->frames.v[from] : NULL;
}

/* ---- arguments ---- */

/* {"args": "…", "launch": {…}, "stack": […]}: what there is of them. */
static str_id args_of(struct rpd *r, int64_t api, const char *text, size_t n)
{
	const char *launch = rpd_launch_args(r, api);
	size_t frames;
	const struct rpd_frame *f = frames_of(r, api, &frames);
	struct strbuf *to;

	if (n == 0 && !launch && frames == 0)
		return STR_NONE;
	db_args_begin(&r->sc);
	if (n > 0)
		json_quote(db_args_key(&r->sc, "args"), text, n);
	if (launch)
		strbuf_addstr(db_args_key(&r->sc, "launch"), launch);
	if (frames > 0) {
		to = db_args_key(&r->sc, "stack");
		for (size_t i = 0; i < frames; i++) {
			const char *name = sqlite_strings_text(&r->names, f[i].name);

			strbuf_addch(to, i ? ',' : '[');
			json_quote(to, name ? name : "?", name ? strlen(name) : 1);
		}
		strbuf_addch(to, ']');
	}
	return db_args_end(&r->sc);
}

/* ---- rows ---- */

struct api_row {
	int64_t id, pid, tid, args;
	str_id name;
	enum rpd_class class;
	enum capture_kind capture;
	struct span_def d;
};

static bool api_row_take(struct rpd *r, struct sqlite_rows *q, struct api_row *row)
{
	struct span_def *d = &row->d;
	const struct rpd_known *known;

	if (!sqlite_rows_i64(q, API_ID, &row->id) || !sqlite_rows_i64(q, API_PID, &row->pid) ||
	    !sqlite_rows_i64(q, API_TID, &row->tid) ||
	    !sqlite_rows_i64(q, API_START, &d->start_ns) || row->pid < 0 || row->tid < 0) {
		db_scan_bad(&r->sc, q, "a call without an id, a process, a thread or a start");
		return false;
	}
	if (!sqlite_rows_i64(q, API_END, &d->end_ns)) {
		db_scan_bad(&r->sc, q, "a call without an end; it has no length");
		d->end_ns = d->start_ns;
	}
	known = rpd_known(r, sqlite_rows_i64_or(q, API_NAME, 0));
	row->name = known->name;
	row->class = known->class;
	row->capture = known->capture;
	row->args = sqlite_rows_i64_or(q, API_ARGS, 0);
	return true;
}

/* A text of version 3's domain and category; ids that were never set name nothing. */
static str_id category_of(struct rpd *r, struct sqlite_rows *q)
{
	for (int col = API_DOMAIN; col >= API_CATEGORY; col--) {
		int64_t id;
		str_id s;

		if (sqlite_rows_i64(q, col, &id) &&
		    (s = sqlite_strings_id(&r->names, id)) != STR_NONE && s != r->empty)
			return s;
	}
	return r->empty;
}

static void push_overhead(struct rpd *r, struct api_row *row)
{
	int64_t ns;

	if (r->overhead == TRACK_NONE) {
		struct track_def t = TRACK_DEF_INIT;

		t.kind = TRACK_COUNTER;
		t.name = "rpd tracer";
		r->overhead = r->sc.sink->ops->track(r->sc.sink, &t);
	}
	row->d.track = r->overhead;
	row->d.kind = SPAN_ANNOTATION;
	row->d.name = row->name;
	row->d.category = sink_puts(r->sc.sink, "overhead");
	row->d.args = STR_NONE;
	r->sc.sink->ops->span(r->sc.sink, &row->d);
	r->n.overhead++;
	if (row->d.end_ns > row->d.start_ns &&
	    (__builtin_sub_overflow(row->d.end_ns, row->d.start_ns, &ns) ||
	     __builtin_add_overflow(r->n.overhead_ns, ns, &r->n.overhead_ns)))
		r->n.overhead_ns = INT64_MAX;
}

static void name_marker(struct rpd *r, struct api_row *row, const char *text, size_t n)
{
	row->d.name = n > 0 ? r->sc.sink->ops->string(r->sc.sink, text, n) : r->marker;
	row->d.category = r->marker;
	if (row->d.start_ns == row->d.end_ns)
		row->d.kind = SPAN_INSTANT;
	r->n.markers++;
}

static void push_row(struct rpd *r, struct sqlite_rows *q, struct api_row *row)
{
	bool hsa = r->hsa, marker = row->class == RPD_MARKER;
	const char *text = NULL;
	size_t n = 0;
	span_id span;

	if (row->class == RPD_OVERHEAD) {
		push_overhead(r, row);
		return;
	}
	row->d.track = thread_of(r, row->pid, row->tid);
	rpd_writer(r, row->id, row->pid);
	row->d.kind = SPAN_HOST;
	row->d.correlation = 0;
	row->d.args = STR_NONE;
	if (marker || r->sc.keep_args)
		text = rpd_args_text(r, row->args, &n);
	if (marker) {
		name_marker(r, row, text, n);
	} else {
		row->d.name = row->name;
		row->d.category = hsa               ? sink_puts(r->sc.sink, "hsa")
				  : r->version >= 3 ? category_of(r, q)
						    : r->empty;
	}
	if (!hsa && sqlite_ids_get(&r->launching, row->id) != SQLITE_ID_NONE)
		row->d.correlation = (uint64_t)row->id + 1;
	if (r->sc.keep_args && !hsa)
		row->d.args = args_of(r, row->id, text, marker ? 0 : n);
	span = r->sc.sink->ops->span(r->sc.sink, &row->d);
	if (!hsa && r->sc.facts)
		rpd_call_facts(r, row->id, span);
	if (!hsa && r->sc.facts && row->capture != CAPTURE_UNKNOWN)
		rpd_capture_facts(r, row->capture, row->args, span);
	if (!hsa && r->extras.nr > 0)
		rpd_extra_api(r, row->id, span);
}

static bool take_call(void *vp, struct sqlite_rows *q)
{
	struct rpd *r = vp;
	struct api_row row = { .id = 0 };

	*(r->hsa ? &r->n.hsa : &r->n.api) += 1;
	if (api_row_take(r, q, &row))
		push_row(r, q, &row);
	return true;
}

#define CALLS "id pid tid start end apiName_id args_id? category_id? domain_id?", .take = take_call

void rpd_api_read(struct rpd *r)
{
	static const struct db_table api = { "rocpd_api", CALLS, .required = true };
	static const struct db_table hsa = { "rocpd_hsaApi", CALLS };

	frames_read(r);
	db_scan_table(&r->sc, &api, r);
	r->hsa = true;
	db_scan_table(&r->sc, &hsa, r);
}
