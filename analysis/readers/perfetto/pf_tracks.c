/*
 * A track has a number of 64 bits (uuid), an optional parent, and is that of a process, of a
 * thread, of a counter, or one that its writer made up. Descriptors may stand behind the events
 * that name them, and come again; all are read before the first event is pushed. Tracks that are
 * never described are made of their number.
 *
 * A track that is neither a thread nor a process becomes a thread without a number in the process
 * in which it lies. So do slices of a process: no thread executes them.
 */
#include "perfetto.h"

#include <inttypes.h>

/* Parents are climbed so far; a circle of them ends there. */
#define CLIMB_MAX 64
#define TRACK_BYTES (sizeof(struct pf_track) + 96)
#define NAME_MAX_BYTES 4096

enum { UNIT_NONE, UNIT_NS, UNIT_COUNT, UNIT_BYTES };

const char *pf_text(struct pf *p, struct pf_bytes b)
{
	size_t n = b.n < NAME_MAX_BYTES ? b.n : NAME_MAX_BYTES;

	if (!b.p || !pf_memory(p, n / 2 + 16)) {
		p->n.no_memory += b.p != NULL;
		return NULL;
	}
	return pool_strndup(&p->texts, (const char *)b.p, strnlen((const char *)b.p, n));
}

uint64_t pf_thread_uuid(int64_t pid, int64_t tid)
{
	return pf_mix((uint64_t)pid + UINT64_C(0x7072666967), (uint64_t)tid);
}

static uint32_t track_new(struct pf *p, uint64_t uuid)
{
	struct pf_track t = { .uuid = uuid,
			      .pid = PID_NONE,
			      .tid = PID_NONE,
			      .multiplier = 1,
			      .track = TRACK_NONE,
			      .series = SERIES_NONE,
			      .last_ns = INT64_MIN,
			      .last_own_ns = INT64_MIN };

	if (p->tracks.nr > 0 && !pf_memory(p, TRACK_BYTES)) {
		p->n.no_memory++;
		return 0;
	}
	VEC_PUSH(&p->tracks, t);
	return (uint32_t)(p->tracks.nr - 1);
}

uint32_t pf_track_of(struct pf *p, uint64_t uuid)
{
	uint32_t at;

	if (uuid == p->last_uuid && p->tracks.nr > 0)
		return p->last_track;
	if (p->tracks.nr == 0)
		track_new(p, UINT64_MAX);
	at = u64map_get(&p->track_at, uuid);
	if (at == U64MAP_NONE) {
		at = track_new(p, uuid);
		if (at > 0)
			*u64map_at(&p->track_at, uuid) = at;
	}
	p->last_uuid = uuid;
	p->last_track = at;
	return at;
}

/* ---- names of processes and threads ---- */

static void name_put(struct pf *p, struct u64map *map, int64_t id, const char *name)
{
	uint32_t *at;

	if (!name || !*name || !pf_memory(p, 48))
		return;
	at = u64map_at(map, (uint64_t)id);
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)p->names.nr;
		VEC_PUSH(&p->names, name);
	} else {
		p->names.v[*at] = name;
	}
}

static const char *name_get(const struct pf *p, const struct u64map *map, int64_t id)
{
	uint32_t at = u64map_get(map, (uint64_t)id);

	return at == U64MAP_NONE ? NULL : p->names.v[at];
}

void pf_name_process(struct pf *p, int64_t pid, struct pf_bytes name)
{
	name_put(p, &p->process_name, pid, pf_text(p, name));
}

/* Numbers of threads are unique on a machine. */
void pf_name_thread(struct pf *p, int64_t tid, struct pf_bytes name)
{
	name_put(p, &p->thread_name, tid, pf_text(p, name));
}

/* ---- descriptors ---- */

static void process_take(struct pf *p, struct pf_track *t, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pf_bytes name = { NULL, 0 }, command = { NULL, 0 };
	struct pb_field f;

	t->kind = PF_PROCESS;
	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f))
			t->pid = (int32_t)f.u64;
		else if (f.number == 2 && pb_is_bytes(&f) && !command.p)
			command = pf_bytes_of(&f);
		else if (f.number == 6 && pb_is_bytes(&f))
			name = pf_bytes_of(&f);
	if (p->pid == PID_NONE)
		p->pid = t->pid;
	pf_name_process(p, t->pid, name.p ? name : command);
}

static void thread_take(struct pf *p, struct pf_track *t, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pf_bytes name = { NULL, 0 };
	struct pb_field f;

	t->kind = PF_THREAD;
	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f))
			t->pid = (int32_t)f.u64;
		else if (f.number == 2 && pb_is_number(&f))
			t->tid = (int64_t)f.u64;
		else if (f.number == 5 && pb_is_bytes(&f))
			name = pf_bytes_of(&f);
	if (name.p)
		t->name = pf_text(p, name);
}

static void counter_take(struct pf *p, struct pf_track *t, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	t->kind = PF_COUNTS;
	while (pb_next(&c, &f))
		switch (f.number) {
		case 1:
			t->builtin = (uint8_t)f.u64;
			break;
		case 3:
			t->unit = (uint8_t)f.u64;
			break;
		case 4:
			t->multiplier = pb_int(&f) ? pb_int(&f) : 1;
			break;
		case 5:
			t->incremental = f.u64 != 0;
			break;
		case 6:
			t->unit_name = pf_text(p, pf_bytes_of(&f));
			break;
		default:
			break;
		}
}

/* A uuid that is left out is 0, the track of the whole trace. */
static uint64_t uuid_of(struct pf_bytes body)
{
	struct pb_cursor c = pf_cursor(body);
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f))
			return f.u64;
	return 0;
}

void pf_describe(struct pf *p, struct pf_bytes body)
{
	uint32_t at = pf_track_of(p, uuid_of(body));
	struct pf_track *t = &p->tracks.v[at];
	struct pb_cursor c = pf_cursor(body);
	struct pb_field f;

	if (at == 0)
		return;
	t->described = true;
	while (pb_next(&c, &f)) {
		if (f.number == 5 && pb_is_number(&f)) {
			t->parent = f.u64;
			t->has_parent = true;
		}
		if (!pb_is_bytes(&f))
			continue;
		if (f.number == 3)
			process_take(p, t, pf_bytes_of(&f));
		else if (f.number == 4)
			thread_take(p, t, pf_bytes_of(&f));
		else if (f.number == 8)
			counter_take(p, t, pf_bytes_of(&f));
		else if ((f.number == 2 || f.number == 10 || f.number == 13) && f.len > 0)
			t->name = pf_text(p, pf_bytes_of(&f));
	}
	if (c.problem)
		pf_bad(p, c.problem);
}

/* Descriptors of older Chrome stand alone in a packet, and count for their sequence. */
void pf_describe_old(struct pf *p, const struct pf_packet *k)
{
	struct pf_track said = { .pid = PID_NONE, .tid = PID_NONE };
	struct pb_cursor c = pf_cursor(k->body);
	struct pb_field f;
	uint64_t uuid;
	uint32_t at;

	if (k->kind == PF_PROCESS_OLD) {
		process_take(p, &said, k->body);
		return;
	}
	while (pb_next(&c, &f))
		if (f.number == 6 && pb_is_number(&f))
			k->state->reference_us = pb_int(&f);
	thread_take(p, &said, k->body);
	uuid = pf_thread_uuid(said.pid, said.tid);
	k->state->thread = uuid;
	k->state->has_thread = true;
	at = pf_track_of(p, uuid);
	if (at == 0)
		return;
	p->tracks.v[at].kind = PF_THREAD;
	p->tracks.v[at].pid = said.pid;
	p->tracks.v[at].tid = said.tid;
	if (said.name)
		p->tracks.v[at].name = said.name;
}

/* ---- tracks and series of the sink ---- */

track_id pf_process(struct pf *p, int64_t pid)
{
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at;

	if (pid == PID_NONE || track_limit_shares(&p->limit, &p->process_at, (uint64_t)pid))
		return TRACK_NONE;
	at = u64map_at(&p->process_at, (uint64_t)pid);
	if (*at == U64MAP_NONE) {
		d.kind = TRACK_PROCESS;
		d.pid = pid;
		d.name = name_get(p, &p->process_name, pid);
		*at = track_limit_make(&p->limit, p->sink, &d);
	}
	return *at;
}

track_id pf_thread(struct pf *p, int64_t pid, int64_t tid, const char *name)
{
	uint64_t key = pf_thread_uuid(pid, tid);
	struct track_def d = TRACK_DEF_INIT;
	const char *known = name_get(p, &p->thread_name, tid);
	uint32_t *at;

	d.kind = TRACK_THREAD;
	if (track_limit_shares(&p->limit, &p->thread_at, key))
		return track_limit_make(&p->limit, p->sink, &d);
	d.parent = pf_process(p, pid);
	at = u64map_at(&p->thread_at, key);
	if (*at == U64MAP_NONE) {
		d.pid = pid;
		d.tid = tid;
		d.name = name ? name : known;
		d.key = key;
		*at = track_limit_make(&p->limit, p->sink, &d);
	}
	return *at;
}

/* The track above; U64MAP_NONE: none. */
static uint32_t above(const struct pf *p, uint32_t track)
{
	const struct pf_track *t = &p->tracks.v[track];

	return t->has_parent && t->parent != t->uuid ? u64map_get(&p->track_at, t->parent)
						     : U64MAP_NONE;
}

/* The nearest process or thread, the track itself included; U64MAP_NONE: none. */
static uint32_t place_of(const struct pf *p, uint32_t track)
{
	for (int i = 0; i < CLIMB_MAX && track != U64MAP_NONE; i++) {
		enum pf_kind kind = p->tracks.v[track].kind;

		if (kind == PF_PROCESS || kind == PF_THREAD)
			return track;
		track = above(p, track);
	}
	return U64MAP_NONE;
}

int64_t pf_track_pid(const struct pf *p, uint32_t track)
{
	uint32_t at = place_of(p, track);

	return at == U64MAP_NONE ? PID_NONE : p->tracks.v[at].pid;
}

/* "parent: name" where a parent that is neither process nor thread has a name. */
static const char *name_of(struct pf *p, uint32_t track)
{
	const struct pf_track *t = &p->tracks.v[track];
	uint32_t up = above(p, track);
	const struct pf_track *parent = up == U64MAP_NONE ? NULL : &p->tracks.v[up];

	if (track == 0)
		return "other tracks";
	if (!t->name)
		return t->uuid == 0 ? "global" : t->kind == PF_PROCESS ? "process" : NULL;
	if (!parent || parent->kind != PF_CUSTOM || !parent->name ||
	    strcmp(parent->name, t->name) == 0)
		return t->name;
	strbuf_clear(&p->word);
	strbuf_addf(&p->word, "%s: %s", parent->name, t->name);
	return p->word.buf;
}

static track_id custom_make(struct pf *p, uint32_t track)
{
	const struct pf_track *t = &p->tracks.v[track];
	struct track_def d = TRACK_DEF_INIT;
	char made[32];

	d.kind = TRACK_THREAD;
	d.parent = pf_process(p, pf_track_pid(p, track));
	d.key = t->uuid;
	d.name = name_of(p, track);
	if (!d.name) {
		snprintf(made, sizeof(made), "track %" PRIx64, t->uuid);
		d.name = made;
	}
	return track_limit_make(&p->limit, p->sink, &d);
}

track_id pf_model_track(struct pf *p, uint32_t track)
{
	struct pf_track *t = &p->tracks.v[track];

	if (t->track != TRACK_NONE)
		return t->track;
	t->track_kind = TRACK_THREAD;
	t->track = t->kind == PF_THREAD && t->tid != PID_NONE
			   ? pf_thread(p, t->pid, t->tid, t->name)
			   : custom_make(p, track);
	return t->track;
}

static const char *unit_of(const struct pf_track *t)
{
	static const char *const units[] = {
		[UNIT_NS] = "ns", [UNIT_COUNT] = "count", [UNIT_BYTES] = "bytes"
	};

	if (t->unit_name)
		return t->unit_name;
	if (t->builtin == 1 || t->builtin == 2)
		return units[t->builtin];
	return t->unit < ARRAY_LEN(units) ? units[t->unit] : NULL;
}

series_id pf_model_series(struct pf *p, uint32_t track)
{
	static const char *const builtin[] = { NULL, "thread_time", "thread_instruction_count" };
	struct pf_track *t = &p->tracks.v[track];
	uint32_t at = place_of(p, track);
	struct series_def d = { .track = TRACK_NONE };

	if (t->series != SERIES_NONE)
		return t->series;
	d.name = name_of(p, track);
	if (!d.name && t->builtin < ARRAY_LEN(builtin))
		d.name = builtin[t->builtin];
	if (!d.name)
		d.name = "counter";
	d.unit = unit_of(t);
	if (t->builtin == 1 || t->builtin == 2)
		d.kind = SERIES_CUMULATIVE;
	if (at != U64MAP_NONE && p->tracks.v[at].kind == PF_THREAD)
		d.track = pf_model_track(p, at);
	else if (at != U64MAP_NONE)
		d.track = pf_process(p, p->tracks.v[at].pid);
	return t->series = p->sink->ops->series(p->sink, &d);
}

void pf_tracks_make(struct pf *p)
{
	for (uint32_t i = 1; i < p->tracks.nr; i++) {
		const struct pf_track *t = &p->tracks.v[i];

		if (t->kind == PF_PROCESS)
			pf_process(p, t->pid);
		else if (t->kind == PF_THREAD)
			pf_model_track(p, i);
	}
}

void pf_tracks_release(struct pf *p)
{
	for (size_t i = 0; i < p->tracks.nr; i++) {
		VEC_RELEASE(&p->tracks.v[i].starts);
		VEC_RELEASE(&p->tracks.v[i].open);
		VEC_RELEASE(&p->tracks.v[i].held);
	}
	VEC_RELEASE(&p->tracks);
	u64map_release(&p->track_at);
	u64map_release(&p->process_at);
	u64map_release(&p->thread_at);
	u64map_release(&p->process_name);
	u64map_release(&p->thread_name);
	VEC_RELEASE(&p->names);
	pool_release(&p->texts);
}
