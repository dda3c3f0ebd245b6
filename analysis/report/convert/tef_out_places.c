#include "tef_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/json_out.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* Above all that systems give out, so made-up numbers meet no real ones. */
#define MADE_UP UINT32_C(1000000000)

void json_names_init(const struct model *m, struct json_names *ret)
{
	size_t n = intern_count(m->strings);

	*ret = (struct json_names){ .m = m, .text = STRBUF_INIT };
	ret->at = xcalloc(n + 1, sizeof(*ret->at));
	ret->len = xcalloc(n + 1, sizeof(*ret->len));
}

void json_names_add(struct json_names *n, str_id id, struct strbuf *to)
{
	if (__builtin_expect(n->at[id] == 0, 0)) {
		size_t from = n->text.len;

		json_quote(&n->text, model_str(n->m, id), intern_len(n->m->strings, id));
		n->at[id] = 1 + from;
		n->len[id] = (uint32_t)(n->text.len - from);
	}
	strbuf_add(to, n->text.buf + n->at[id] - 1, n->len[id]);
}

void json_names_release(struct json_names *n)
{
	strbuf_release(&n->text);
	free(n->at);
	free(n->len);
}

/* ---- numbers ---- */

/* `wish` if it is free, else an unused number. */
static uint32_t take_tid(struct tef_places *p, uint32_t pid, int64_t wish)
{
	uint32_t *at;

	if (wish >= 0 && wish < MADE_UP) {
		at = u64map_at(&p->tids, u64map_pair(pid, (uint32_t)wish));
		if (*at == U64MAP_NONE) {
			*at = 1;
			return (uint32_t)wish;
		}
	}
	return MADE_UP + p->next_tid++;
}

static uint32_t take_pid(struct u64map *pids, int64_t wish, uint32_t *next)
{
	uint32_t *at;

	if (wish >= 0 && wish < MADE_UP) {
		at = u64map_at(pids, (uint64_t)wish);
		if (*at == U64MAP_NONE) {
			*at = 1;
			return (uint32_t)wish;
		}
	}
	return MADE_UP + (*next)++;
}

int64_t tef_device_index(const char *device)
{
	size_t n = strlen(device), at = n;
	int64_t v;

	while (at > 0 && device[at - 1] >= '0' && device[at - 1] <= '9')
		at--;
	return at < n && num_i64(device + at, n - at, &v) == 0 ? v : -1;
}

static bool stands_alone(const struct track *t)
{
	return t->kind == TRACK_PROCESS || t->kind == TRACK_DEVICE || t->parent == TRACK_NONE;
}

static void pids_set(struct tef_places *p)
{
	CLEANUP(u64map_release) struct u64map pids = U64MAP_INIT;
	uint32_t next = 0;

	for (size_t i = 0; i < p->order.nr; i++) {
		const struct track *t = &p->m->tracks.v[p->order.at[i]];
		int64_t wish = t->kind == TRACK_DEVICE || t->kind == TRACK_QUEUE
				       ? tef_device_index(model_str(p->m, t->device))
				       : t->pid;

		p->of_track[p->order.at[i]].pid =
			stands_alone(t) ? take_pid(&pids, wish, &next) : p->of_track[t->parent].pid;
	}
	p->unlinked_pid = MADE_UP + next;
}

/* A counter is shown with its track, else with its device, else among those that have neither. */
static void series_pids_set(struct tef_places *p)
{
	CLEANUP(u64map_release) struct u64map pid_of = U64MAP_INIT;

	for (size_t i = 0; i < p->order.nr; i++) {
		const struct track *t = &p->m->tracks.v[p->order.at[i]];

		if (t->kind == TRACK_DEVICE && t->device)
			*u64map_at(&pid_of, t->device) = p->of_track[p->order.at[i]].pid;
	}
	for (size_t i = 0; i < p->m->series.nr; i++) {
		const struct series *se = &p->m->series.v[i];
		uint32_t pid = se->track != TRACK_NONE ? p->of_track[se->track].pid
						       : u64map_get(&pid_of, se->device);

		p->series_pid[i] = pid == U64MAP_NONE ? p->unlinked_pid : pid;
	}
}

static void tids_set(struct tef_places *p)
{
	for (size_t i = 0; i < p->order.nr; i++) {
		track_id id = p->order.at[i];
		const struct track *t = &p->m->tracks.v[id];
		bool numbered = t->kind == TRACK_THREAD || t->kind == TRACK_QUEUE;

		p->of_track[id].tid = take_tid(p, p->of_track[id].pid, numbered ? t->tid : -1);
	}
}

/* ---- counters ---- */

/* Names by which viewers distinguish counters of one process. */
static char *series_name_make(struct tef_places *p, size_t i)
{
	const struct series *se = &p->m->series.v[i];
	const char *name = model_str(p->m, se->name), *device = model_str(p->m, se->device);
	const char *unit = model_str(p->m, se->unit);
	bool told = !*device || strstr(name, device);
	char *shown = xasprintf("%s%s%s%s%s%s", *name ? name : "counter", told ? "" : " ",
				told ? "" : device, *unit ? " [" : "", unit, *unit ? "]" : "");

	for (unsigned k = 2;; k++) {
		uint64_t key = XXH3_64bits_withSeed(shown, strlen(shown), p->series_pid[i]);
		uint32_t *at = u64map_at(&p->shown, key);
		char *other;

		if (*at == U64MAP_NONE) {
			*at = 1;
			return shown;
		}
		other = xasprintf("%s #%zu", shown, i);
		free(shown);
		shown = other;
	}
}

void tef_places_init(const struct model *m, struct tef_places *ret)
{
	*ret = (struct tef_places){ .m = m };
	native_order_init(m, &ret->order);
	ret->of_track = xcalloc(m->tracks.nr + 1, sizeof(*ret->of_track));
	ret->series_pid = xcalloc(m->series.nr + 1, sizeof(*ret->series_pid));
	ret->series_name = xcalloc(m->series.nr + 1, sizeof(*ret->series_name));
	pids_set(ret);
	tids_set(ret);
	series_pids_set(ret);
	for (size_t i = 0; i < m->series.nr; i++) {
		CLEANUP(xfreep) char *name = series_name_make(ret, i);
		struct strbuf quoted = STRBUF_INIT;

		json_quote(&quoted, name, strlen(name));
		ret->series_name[i] = strbuf_steal(&quoted);
	}
}

void tef_places_release(struct tef_places *p)
{
	for (size_t i = 0; p->series_name && i < p->m->series.nr; i++)
		free(p->series_name[i]);
	free(p->series_name);
	free(p->series_pid);
	free(p->of_track);
	native_order_release(&p->order);
	u64map_release(&p->tids);
	u64map_release(&p->rows);
	u64map_release(&p->shown);
}

/* ---- metadata events ---- */

static void meta_begin(struct strbuf *to, const char *name, struct tef_place at)
{
	strbuf_addf(to,
		    ",\n{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
		    ",\"ts\":0,\"args\":",
		    name, at.pid, at.tid);
}

static void meta_name(struct strbuf *to, const char *event, struct tef_place at, const char *name)
{
	meta_begin(to, event, at);
	strbuf_addstr(to, "{\"name\":");
	json_quote(to, name, strlen(name));
	strbuf_addstr(to, "}}");
}

static void meta_number(struct strbuf *to, const char *event, struct tef_place at, const char *key,
			uint32_t v)
{
	meta_begin(to, event, at);
	strbuf_addf(to, "{\"%s\":%" PRIu32 "}}", key, v);
}

/* A process per process, device, and track without either. */
static void describe_process(struct tef_places *p, track_id id, struct strbuf *to)
{
	const struct track *t = &p->m->tracks.v[id];
	struct tef_place at = p->of_track[id];

	meta_name(to, "process_name", at, model_str(p->m, t->name));
	meta_number(to, "process_sort_index", at, "sort_index", p->order.number_of[id]);
	if (t->host && p->m->several_hosts) {
		meta_begin(to, "process_labels", at);
		strbuf_addstr(to, "{\"labels\":");
		json_quote(to, model_str(p->m, t->host), intern_len(p->m->strings, t->host));
		strbuf_addstr(to, "}}");
	}
}

static void describe_thread(struct tef_places *p, track_id id, struct strbuf *to)
{
	struct tef_place at = p->of_track[id];

	meta_name(to, "thread_name", at, model_str(p->m, p->m->tracks.v[id].name));
	meta_number(to, "thread_sort_index", at, "sort_index", p->order.number_of[id]);
}

static void describe_series(struct tef_places *p, series_id i, struct strbuf *to)
{
	if (p->series_pid[i] == p->unlinked_pid)
		meta_name(to, "process_name", (struct tef_place){ p->unlinked_pid, 0 }, "counters");
	meta_begin(to, "profrig_series", (struct tef_place){ p->series_pid[i], 0 });
	strbuf_addstr(to, "{\"shown\":");
	strbuf_addstr(to, p->series_name[i]);
	strbuf_addstr(to, ",\"series\":");
	native_series_text(p->m, &p->order, i, to);
	strbuf_addstr(to, "}}");
}

void tef_places_describe(struct tef_places *p, struct strbuf *to)
{
	for (size_t i = 0; i < p->order.nr; i++) {
		track_id id = p->order.at[i];
		const struct track *t = &p->m->tracks.v[id];

		meta_begin(to, "profrig_track", p->of_track[id]);
		native_track_text(p->m, &p->order, id, to);
		strbuf_addch(to, '}');
		if (stands_alone(t))
			describe_process(p, id, to);
		if (t->spans > 0)
			describe_thread(p, id, to);
	}
	for (size_t i = 0; i < p->m->series.nr; i++)
		describe_series(p, (series_id)i, to);
}

struct tef_place tef_places_row(struct tef_places *p, track_id t, uint32_t row, bool *ret_fresh)
{
	struct tef_place at = p->of_track[t];
	uint32_t *tid;

	*ret_fresh = false;
	if (row == 0)
		return at;
	tid = u64map_at(&p->rows, u64map_pair(t, row));
	if (*tid == U64MAP_NONE) {
		*tid = take_tid(p, at.pid, -1);
		*ret_fresh = true;
	}
	at.tid = *tid;
	return at;
}

void tef_places_describe_row(struct tef_places *p, track_id t, uint32_t row, struct tef_place at,
			     struct strbuf *to)
{
	CLEANUP(xfreep)
	char *name =
		xasprintf("%s (%" PRIu32 ")", model_str(p->m, p->m->tracks.v[t].name), row + 1);

	meta_name(to, "thread_name", at, name);
	meta_number(to, "thread_sort_index", at, "sort_index", p->order.number_of[t]);
	meta_number(to, "profrig_lane", at, "track", p->order.number_of[t]);
}
