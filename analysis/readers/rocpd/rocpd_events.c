/*
 * Events hold the common part of regions, samples, dispatches and copies: category, correlation,
 * arguments, values of counters. Regions are calls and pushed ranges of a thread; ranges that a
 * process starts and stops (roctxRangeStart) belong to no thread. Samples have no length: marks, or
 * times of counter reads. The text of a marker is in its event's extdata.
 *
 * A dispatch's counter has one row for each instance of its block; their sum is the value.
 */
#include "rocpd.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/model/warnings.h"

static bool starts_with(const char *s, size_t n, const char *beginning)
{
	return n >= strlen(beginning) && memcmp(s, beginning, strlen(beginning)) == 0;
}

static bool take_string(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	size_t n = 0;
	const char *s = sqlite_rows_text(q, 2, &n);
	str_id id = rc->sc.sink->ops->string(rc->sc.sink, s ? s : "", n);

	rocpd_number(rc, ROCPD_STRING, guid, q, 1, id);
	if (s && (starts_with(s, n, "roctxProcessRange") || starts_with(s, n, "roctxRangeStart")))
		*u64map_at(&rc->process_ranges, id) = 1;
	return true;
}

void rocpd_read_strings(struct rocpd *rc)
{
	static const struct db_table t = { "string", "guid? id string", .take = take_string };

	rocpd_table(rc, &t);
}

static str_id message_in(struct rocpd *rc, struct sqlite_rows *q, int col)
{
	CLEANUP(xfreep) char *message = NULL;
	size_t n;
	const char *json = sqlite_rows_text(q, col, &n);

	if (!json || n <= 2)
		return STR_NONE;
	message = rocpd_json_member(rc, json, n, "message");
	return message && *message ? sink_puts(rc->sc.sink, message) : STR_NONE;
}

static bool take_event(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	struct rocpd_event ev = { .args = STR_NONE };

	if (rc->events.nr >= SQLITE_ID_NONE - 1 ||
	    !rocpd_number(rc, ROCPD_EVENT, guid, q, 1, (uint32_t)rc->events.nr))
		return false;
	ev.category = rocpd_find(rc, ROCPD_STRING, guid, q, 2);
	ev.stack = (uint64_t)sqlite_rows_i64_or(q, 3, 0);
	ev.message = message_in(rc, q, 4);
	VEC_PUSH(&rc->events, ev);
	return true;
}

void rocpd_read_events(struct rocpd *rc)
{
	static const struct db_table t = { "event", "guid? id category_id? stack_id? extdata?",
					   .take = take_event };

	rocpd_table(rc, &t);
}

/* ---- arguments ---- */

/* Arguments of one event are adjacent, in order. */
static void args_next(struct rocpd *rc, uint32_t event)
{
	str_id args = db_args_end(&rc->sc);

	if (rc->args_event != SQLITE_ID_NONE && args != STR_NONE)
		rc->events.v[rc->args_event].args = args;
	db_args_begin(&rc->sc);
	rc->args_event = event;
}

static bool take_argument(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	uint32_t event = rocpd_find(rc, ROCPD_EVENT, rocpd_guid_of(rc, q, 0), q, 1);
	CLEANUP(xfreep) char *key = NULL;
	const char *s;
	size_t n;

	if (event != rc->args_event)
		args_next(rc, event);
	s = sqlite_rows_text(q, 2, &n);
	if (!s || event == SQLITE_ID_NONE || n > 256)
		return false;
	key = xstrndup(s, n);
	db_args_column(&rc->sc, key, q, 3);
	return true;
}

/* ---- counters ---- */

static bool take_value(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	struct rocpd_value v = { .event = rocpd_find(rc, ROCPD_EVENT, guid, q, 1),
				 .pmc = rocpd_find(rc, ROCPD_PMC, guid, q, 2) };
	struct rocpd_value *before = rc->values.nr ? &rc->values.v[rc->values.nr - 1] : NULL;

	if (v.event == SQLITE_ID_NONE || v.pmc == SQLITE_ID_NONE) {
		sink_warnf(rc->sc.sink, W_UNKNOWN_REFERENCE,
			   "table '%s', row %" PRIu64 ": its event or counter is not defined",
			   rc->sc.table, q->rows);
		return true;
	}
	sqlite_rows_f64(q, 3, &v.value);
	rc->events.v[v.event].counted = true;
	if (before && before->event == v.event && before->pmc == v.pmc)
		before->value += v.value;
	else
		VEC_PUSH(&rc->values, v);
	return true;
}

void rocpd_read_arguments(struct rocpd *rc)
{
	static const struct db_table args = { "arg", "guid? event_id name? value?",
					      .take = take_argument };
	static const struct db_table values = { "pmc_event", "guid? event_id pmc_id value",
						.take = take_value, .fact = "counter_values" };

	if (rc->sc.keep_args) {
		rc->args_event = SQLITE_ID_NONE;
		db_args_begin(&rc->sc);
		rocpd_table(rc, &args);
		args_next(rc, SQLITE_ID_NONE);
	}
	rocpd_table(rc, &values);
}

void rocpd_event_time(struct rocpd *rc, uint32_t event, int64_t t_ns)
{
	if (rc->values.nr == 0 || event == SQLITE_ID_NONE || !rc->events.v[event].counted)
		return;
	VEC_RESERVE(&rc->event_ns, rc->events.nr);
	while (rc->event_ns.nr < rc->events.nr)
		rc->event_ns.v[rc->event_ns.nr++] = INT64_MIN;
	rc->event_ns.v[event] = t_ns;
}

static series_id series_of(struct rocpd *rc, struct rocpd_pmc *p)
{
	struct series_def d = { .kind = p->kind, .track = TRACK_NONE };
	const char *unit = intern_str(rc->names, p->unit);

	if (p->id != SERIES_NONE)
		return p->id;
	d.name = intern_str(rc->names, p->name);
	d.unit = *unit ? unit : NULL;
	if (p->agent != SQLITE_ID_NONE) {
		const struct rocpd_agent *a = &rc->agents.v[p->agent];

		d.device = a->device;
		d.host = a->host ? intern_str(rc->names, a->host) : NULL;
		d.pci = a->pci[0] ? a->pci : NULL;
	}
	return p->id = rc->sc.sink->ops->series(rc->sc.sink, &d);
}

void rocpd_push_values(struct rocpd *rc)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < rc->values.nr; i++) {
		const struct rocpd_value *v = &rc->values.v[i];

		if (v->event >= rc->event_ns.nr || rc->event_ns.v[v->event] == INT64_MIN) {
			lost++;
			continue;
		}
		rc->sc.sink->ops->sample(rc->sc.sink, series_of(rc, &rc->pmcs.v[v->pmc]),
					 rc->event_ns.v[v->event], v->value);
	}
	sink_warn(rc->sc.sink, W_BAD_EVENT, lost,
		  "values of counters whose event has no time were left out");
}

/* ---- regions and samples ---- */

enum { R_GUID, R_ID, R_PROCESS, R_THREAD, R_START, R_END, R_NAME, R_EVENT };

/* The program's text, else the name of the call. */
static void take_names(struct rocpd *rc, const struct rocpd_event *ev, uint32_t name,
		       struct span_def *d)
{
	d->name = name == SQLITE_ID_NONE ? sink_puts(rc->sc.sink, "") : name;
	d->category = sink_puts(rc->sc.sink, "");
	d->args = STR_NONE;
	if (!ev)
		return;
	if (ev->category != STR_NONE)
		d->category = ev->category;
	if (ev->message != STR_NONE)
		d->name = ev->message;
	d->args = ev->args;
}

static bool take_region(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct span_def d = { .kind = SPAN_HOST };
	uint32_t guid = rocpd_guid_of(rc, q, R_GUID), thread, name;
	const struct rocpd_event *ev;

	if (!db_scan_times(&rc->sc, q, R_START, R_END, &d))
		return false;
	thread = rocpd_thread(rc, guid, q, R_THREAD, R_PROCESS);
	ev = rocpd_event_at(rc, rocpd_find(rc, ROCPD_EVENT, guid, q, R_EVENT));
	name = rocpd_find(rc, ROCPD_STRING, guid, q, R_NAME);
	take_names(rc, ev, name, &d);
	d.correlation =
		rocpd_correlation(rc->threads.v[thread].process,
				  ev ? ev->stack : (uint64_t)sqlite_rows_i64_or(q, R_ID, 0));
	d.track = rocpd_thread_track(rc, thread);
	if (name != SQLITE_ID_NONE && u64map_get(&rc->process_ranges, name) != U64MAP_NONE)
		db_range_add(&rc->sc, rocpd_process_track(rc, rc->threads.v[thread].process), &d);
	else
		rc->sc.sink->ops->span(rc->sc.sink, &d);
	return true;
}

void rocpd_read_regions(struct rocpd *rc)
{
	static const struct db_table t = { "region",
					   "guid? id? pid? tid? start end name_id? event_id?",
					   .take = take_region, .fact = "regions" };

	rocpd_table(rc, &t);
}

enum { S_GUID, S_TRACK, S_TIME, S_EVENT };

static bool take_sample(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct span_def d = { .kind = SPAN_INSTANT };
	uint32_t guid = rocpd_guid_of(rc, q, S_GUID);
	uint32_t event = rocpd_find(rc, ROCPD_EVENT, guid, q, S_EVENT);
	uint32_t track = rocpd_find(rc, ROCPD_TRACK, guid, q, S_TRACK);
	const struct rocpd_event *ev = rocpd_event_at(rc, event);

	if (!sqlite_rows_i64(q, S_TIME, &d.start_ns)) {
		db_scan_bad(&rc->sc, q, "it has no time, so it was left out");
		return false;
	}
	d.end_ns = d.start_ns;
	rocpd_event_time(rc, event, d.start_ns);
	if (ev && ev->counted)
		return false;
	if (track == SQLITE_ID_NONE) {
		db_scan_bad(&rc->sc, q, "its track is not defined, so it was left out");
		return false;
	}
	take_names(rc, ev, rc->tracks.v[track].name, &d);
	d.track = rc->tracks.v[track].thread == SQLITE_ID_NONE
			  ? rocpd_process_track(rc, rc->tracks.v[track].process)
			  : rocpd_thread_track(rc, rc->tracks.v[track].thread);
	rc->sc.sink->ops->span(rc->sc.sink, &d);
	return true;
}

void rocpd_read_samples(struct rocpd *rc)
{
	static const struct db_table t = { "sample", "guid? track_id? timestamp event_id?",
					   .take = take_sample, .fact = "marks" };

	rocpd_table(rc, &t);
}
