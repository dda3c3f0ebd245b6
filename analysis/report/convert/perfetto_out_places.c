#include "perfetto_out.h"

#include <inttypes.h>
#include <stdio.h>

#include "profrig/base/xalloc.h"

/* Fields of a native packet (pf_native.c). */
enum { NP_TRACK = 2, NP_SERIES = 3, NP_ROW = 4, NP_UUID = 5 };
enum { TD_UUID = 1, TD_NAME = 2, TD_PROCESS = 3, TD_THREAD = 4, TD_PARENT = 5, TD_COUNTER = 8 };
/* How children are sorted, and a track's place among its siblings. */
enum { TD_ORDER = 11, TD_RANK = 12, BY_RANK = 3 };

void pfo_places_init(const struct model *m, struct pfo_places *ret)
{
	*ret = (struct pfo_places){ .m = m };
	native_order_init(m, &ret->order);
	ret->next_uuid = 1 + (uint64_t)ret->order.nr + m->series.nr;
}

void pfo_places_release(struct pfo_places *p)
{
	native_order_release(&p->order);
	u64map_release(&p->pids);
	u64map_release(&p->tids);
}

/* Whether a descriptor may have this number: systems give out 32 bits, once each. */
static bool take_number(struct u64map *map, int64_t number)
{
	uint32_t *at;

	if (number < 0 || number > INT32_MAX)
		return false;
	at = u64map_at(map, (uint64_t)number);
	if (*at != U64MAP_NONE)
		return false;
	*at = 1;
	return true;
}

static void put_text(const struct pfo_places *p, struct strbuf *to, uint32_t field, str_id id)
{
	if (intern_len(p->m->strings, id))
		pb_put_bytes(to, field, model_str(p->m, id), intern_len(p->m->strings, id));
}

/* What viewers know a track by; false: it has no such numbers. */
static bool numbers_put(struct pfo_places *p, const struct track *t, struct strbuf *to)
{
	size_t at;

	if (t->kind == TRACK_PROCESS && take_number(&p->pids, t->pid)) {
		at = pb_open(to, TD_PROCESS);
		pb_put_u64(to, 1, (uint64_t)t->pid);
		put_text(p, to, 6, t->name);
		pb_close_tight(to, at);
		return true;
	}
	if (t->kind != TRACK_THREAD || t->pid < 0 || !take_number(&p->tids, t->tid))
		return false;
	at = pb_open(to, TD_THREAD);
	pb_put_u64(to, 1, (uint64_t)t->pid);
	pb_put_u64(to, 2, (uint64_t)t->tid);
	put_text(p, to, 5, t->name);
	pb_close_tight(to, at);
	return true;
}

static void native_put(struct strbuf *to, uint32_t field, const struct strbuf *text, uint64_t uuid)
{
	size_t packet = pb_open(to, 1), at = pb_open(to, PFO_NATIVE);

	pb_put_bytes(to, field, text->buf, text->len);
	pb_put_u64(to, NP_UUID, uuid);
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
}

static void track_put(struct pfo_places *p, track_id id, struct strbuf *to)
{
	const struct track *t = &p->m->tracks.v[id];
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t packet = pb_open(to, 1), at = pb_open(to, PFO_TRACK);

	pb_put_u64(to, TD_UUID, pfo_track_uuid(p, id));
	if (!numbers_put(p, t, to)) {
		put_text(p, to, TD_NAME, t->name);
		if (t->parent != TRACK_NONE)
			pb_put_u64(to, TD_PARENT, pfo_track_uuid(p, t->parent));
		pb_put_u64(to, TD_ORDER, BY_RANK);
		pb_put_u64(to, TD_RANK, p->order.number_of[id]);
	}
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
	native_track_text(p->m, &p->order, id, &text);
	native_put(to, NP_TRACK, &text, pfo_track_uuid(p, id));
}

/* A series lies with its track; its name tells the device. */
static void series_put(struct pfo_places *p, series_id id, struct strbuf *to)
{
	const struct series *se = &p->m->series.v[id];
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t packet = pb_open(to, 1), at = pb_open(to, PFO_TRACK), counter;
	const char *name = model_str(p->m, se->name), *device = model_str(p->m, se->device);

	pb_put_u64(to, TD_UUID, pfo_series_uuid(p, id));
	if (se->track != TRACK_NONE)
		pb_put_u64(to, TD_PARENT, pfo_track_uuid(p, se->track));
	strbuf_addf(&text, "%s%s%s", name, *device && !strstr(name, device) ? " " : "",
		    *device && !strstr(name, device) ? device : "");
	pb_put_bytes(to, TD_NAME, text.buf, text.len);
	counter = pb_open(to, TD_COUNTER);
	put_text(p, to, 6, se->unit);
	pb_close_tight(to, counter);
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
	strbuf_clear(&text);
	native_series_text(p->m, &p->order, id, &text);
	native_put(to, NP_SERIES, &text, pfo_series_uuid(p, id));
}

void pfo_places_put(struct pfo_places *p, struct strbuf *to)
{
	for (size_t i = 0; i < p->order.nr; i++)
		track_put(p, p->order.at[i], to);
	for (size_t i = 0; i < p->m->series.nr; i++)
		series_put(p, (series_id)i, to);
}

uint64_t pfo_row_put(struct pfo_places *p, track_id t, uint32_t row, struct strbuf *to)
{
	const struct track *tr = &p->m->tracks.v[t];
	CLEANUP(xfreep)
	char *name = xasprintf("%s (%" PRIu32 ")", model_str(p->m, tr->name), row + 1);
	size_t packet = pb_open(to, 1), at = pb_open(to, PFO_TRACK);
	track_id parent = tr->parent != TRACK_NONE ? tr->parent : t;
	uint64_t uuid = p->next_uuid++;

	pb_put_u64(to, TD_UUID, uuid);
	pb_put_u64(to, TD_PARENT, pfo_track_uuid(p, parent));
	pb_put_str(to, TD_NAME, name);
	pb_put_u64(to, TD_RANK, p->order.number_of[t]);
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
	packet = pb_open(to, 1);
	at = pb_open(to, PFO_NATIVE);
	pb_put_u64(to, NP_ROW, p->order.number_of[t]);
	pb_put_u64(to, NP_UUID, uuid);
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
	return uuid;
}
