/*
 * NVTX: ranges and marks of the program. Push/pop ranges nest on their thread as calls do, so work
 * launched inside one is found through the calls inside it. Start/end ranges belong to a process. A
 * name is in the row (text) or in StringIds (textId). A domain's name is a row of its own, by
 * (process, domainId), anywhere in the table; it becomes the category.
 *
 * A range without an end was open when the recording stopped: it ends with its thread's last event.
 */
#include "nsys.h"

#include <stdio.h>
#include <string.h>

#include "profrig/model/warnings.h"

/* ENUM_NSYS_EVENT_TYPE; the second of each is of imported text files. */
enum nvtx_type {
	NVTX_MARK = 34,
	NVTX_PUSH_POP = 59,
	NVTX_START_END = 60,
	NVTXT_MARK = 65,
	NVTXT_PUSH_POP = 70,
	NVTXT_START_END = 71,
	NVTX_DOMAIN = 75,
};

enum { N_START, N_END, N_TYPE, N_TEXT, N_TEXT_ID, N_THREAD, N_DOMAIN, N_PAYLOAD, N_PLAIN };
enum {
	N_COLOR = N_PLAIN,
	N_CATEGORY,
	N_U64,
	N_I64,
	N_DOUBLE,
	N_U32,
	N_I32,
	N_FLOAT,
	N_JSON,
};

#define PLAIN "start end? eventType? text? textId? globalTid? domainId? binaryData?"
#define ALL \
	PLAIN " color? category? uint64Value? int64Value? doubleValue? uint32Value? int32Value? " \
	      "floatValue? jsonText?"

struct open_range {
	nsys_slot thread;
	bool start_end;
	struct span_def d;
};

struct nvtx {
	struct nsys *ns;
	str_id plain, empty;
	VEC(struct open_range) open;
	int64_t ranges, marks, others;
	int64_t last_ns;
};

/* Name of the current row, from StringIds where the row itself has none. */
static str_id name_of(struct nvtx *nv, struct sqlite_rows *q)
{
	struct sink *s = nv->ns->sc.sink;
	size_t n;
	const char *text = sqlite_rows_text(q, N_TEXT, &n);

	return text ? s->ops->string(s, text, n) : nsys_string(nv->ns, q, N_TEXT_ID, nv->empty);
}

static uint64_t domain_key(int64_t global, int64_t domain)
{
	return db_hash((uint64_t)global >> 24, (uint64_t)domain, 'D');
}

static void load_domains(struct nsys *ns)
{
	struct sqlite_rows q = { .db = NULL };
	struct err e = ERR_INIT;
	int64_t domain;

	if (!sqlite_db_has_column(ns->sc.db, "NVTX_EVENTS", "domainId") ||
	    !sqlite_db_has_column(ns->sc.db, "NVTX_EVENTS", "eventType"))
		return;
	if (sqlite_rows_query(
		    ns->sc.db, "table 'NVTX_EVENTS'", &q, &e,
		    "SELECT globalTid, domainId, %s, %s FROM NVTX_EVENTS WHERE eventType = %d",
		    sqlite_db_has_column(ns->sc.db, "NVTX_EVENTS", "text") ? "text" : "NULL",
		    sqlite_db_has_column(ns->sc.db, "NVTX_EVENTS", "textId") ? "textId" : "NULL",
		    NVTX_DOMAIN) < 0)
		return;
	while (sqlite_rows_next(&q, &e) > 0) {
		CLEANUP(xfreep) char *category = NULL;
		const char *text;
		size_t n;

		if (!sqlite_rows_i64(&q, 1, &domain))
			continue;
		text = sqlite_rows_text(&q, 2, &n);
		if (!text)
			text = sqlite_strings_text(&ns->strings, sqlite_rows_i64_or(&q, 3, -1));
		if (!text || !*text)
			continue;
		category = xasprintf("nvtx:%.200s", text);
		*u64map_at(&ns->domains, domain_key(sqlite_rows_i64_or(&q, 0, 0), domain)) =
			sink_puts(ns->sc.sink, category);
	}
	sqlite_rows_close(&q, ns->sc.sink);
}

static str_id category_of(struct nvtx *nv, int64_t global, int64_t domain)
{
	uint32_t id;

	if (domain == 0 || nv->ns->domains.nr == 0)
		return nv->plain;
	id = u64map_get(&nv->ns->domains, domain_key(global, domain));
	return id == U64MAP_NONE ? nv->plain : id;
}

static str_id args_of(struct nsys *ns, struct sqlite_rows *q)
{
	static const int payloads[] = { N_U64, N_I64, N_DOUBLE, N_U32, N_I32, N_FLOAT };

	db_args_begin(&ns->sc);
	db_args_column(&ns->sc, "category", q, N_CATEGORY);
	db_args_column(&ns->sc, "color", q, N_COLOR);
	for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
		if (sqlite_rows_null(q, payloads[i]))
			continue;
		db_args_column(&ns->sc, "payload", q, payloads[i]);
		break;
	}
	db_args_column(&ns->sc, "json", q, N_JSON);
	return db_args_end(&ns->sc);
}

/* SPAN_NONE: it is pushed later. */
static span_id range_push(struct nvtx *nv, nsys_slot thread, bool start_end, struct span_def *d)
{
	struct nsys_thread *t = &nv->ns->threads.v[thread];

	if (d->end_ns > t->last_ns)
		t->last_ns = d->end_ns;
	if (d->end_ns > nv->last_ns)
		nv->last_ns = d->end_ns;
	d->track = t->id;
	if (!start_end)
		return nv->ns->sc.sink->ops->span(nv->ns->sc.sink, d);
	db_range_add(&nv->ns->sc, nv->ns->processes.v[t->process].id, d);
	return SPAN_NONE;
}

/* What NCCL says of its call in a range, which it names by its function. */
static void take_payload(struct nvtx *nv, struct sqlite_rows *q, nsys_slot thread, span_id span)
{
	struct nsys *ns = nv->ns;
	char name[64];
	size_t n, payload_n;
	const char *text = sqlite_rows_text(q, N_TEXT, &n), *payload;

	if (!text)
		text = sqlite_strings_text(&ns->strings, sqlite_rows_i64_or(q, N_TEXT_ID, -1));
	if (!text || strncmp(text, "nccl", 4) != 0)
		return;
	snprintf(name, sizeof(name), "%s", text);
	payload = sqlite_rows_text(q, N_PAYLOAD, &payload_n);
	nsys_payload_take(ns, thread, span, name, payload, payload_n);
}

static void take_range(struct nvtx *nv, struct sqlite_rows *q, bool start_end, nsys_slot thread,
		       struct span_def *d)
{
	span_id span;

	nv->ranges++;
	if (!sqlite_rows_null(q, N_END) && sqlite_rows_i64(q, N_END, &d->end_ns)) {
		span = range_push(nv, thread, start_end, d);
		if (span != SPAN_NONE && nv->ns->payloads.v.nr)
			take_payload(nv, q, thread, span);
		return;
	}
	VEC_PUSH(&nv->open,
		 (struct open_range){ .thread = thread, .start_end = start_end, .d = *d });
}

static bool nvtx_row_take(void *vp, struct sqlite_rows *q)
{
	struct nvtx *nv = vp;
	struct nsys *ns = nv->ns;
	int64_t type = sqlite_rows_i64_or(q, N_TYPE, NVTX_PUSH_POP);
	int64_t global = sqlite_rows_i64_or(q, N_THREAD, 0);
	struct span_def d = { .kind = SPAN_HOST, .args = STR_NONE };
	bool mark = type == NVTX_MARK || type == NVTXT_MARK;
	bool start_end = type == NVTX_START_END || type == NVTXT_START_END;

	if (!mark && !start_end && type != NVTX_PUSH_POP && type != NVTXT_PUSH_POP) {
		nv->others += type != NVTX_DOMAIN;
		return false;
	}
	if (!sqlite_rows_i64(q, N_START, &d.start_ns)) {
		db_scan_bad(&ns->sc, q, "it has no start, so it was left out");
		return false;
	}
	d.end_ns = d.start_ns;
	d.name = name_of(nv, q);
	d.category = category_of(nv, global, sqlite_rows_i64_or(q, N_DOMAIN, 0));
	if (ns->sc.keep_args)
		d.args = args_of(ns, q);
	if (!mark) {
		take_range(nv, q, start_end, nsys_thread(ns, global), &d);
		return true;
	}
	d.kind = SPAN_INSTANT;
	nv->marks++;
	range_push(nv, nsys_thread(ns, global), false, &d);
	return true;
}

static void close_open(struct nvtx *nv)
{
	for (size_t i = 0; i < nv->open.nr; i++) {
		struct open_range *o = &nv->open.v[i];
		int64_t last = o->start_end ? nv->last_ns : nv->ns->threads.v[o->thread].last_ns;

		o->d.end_ns = last > o->d.start_ns ? last : o->d.start_ns;
		range_push(nv, o->thread, o->start_end, &o->d);
	}
	sink_warn(nv->ns->sc.sink, W_OPEN_SPAN, nv->open.nr,
		  "NVTX ranges without an end last to the last event of their thread");
	VEC_RELEASE(&nv->open);
}

void nsys_read_nvtx(struct nsys *ns)
{
	struct nvtx nv = { .ns = ns, .last_ns = INT64_MIN };
	const struct db_table t = { "NVTX_EVENTS", ns->sc.keep_args ? ALL : PLAIN,
				    .take = nvtx_row_take };

	if (!db_scan_has(&ns->sc, t.name))
		return;
	nv.plain = sink_puts(ns->sc.sink, "nvtx");
	nv.empty = sink_puts(ns->sc.sink, "");
	load_domains(ns);
	db_scan_table(&ns->sc, &t, &nv);
	close_open(&nv);
	db_ranges_push(&ns->sc);
	nsys_payloads_told(ns);
	sink_fact(ns->sc.sink, "nvtx_ranges", nv.ranges);
	sink_fact(ns->sc.sink, "nvtx_marks", nv.marks);
	sink_fact(ns->sc.sink, "nvtx_other", nv.others);
}
