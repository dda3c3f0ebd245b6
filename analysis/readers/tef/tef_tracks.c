#include "tef.h"

#include <errno.h>
#include <inttypes.h>
#include <xxhash.h>

#include "profrig/base/num.h"

/* Kinds of keys, so that a thread and a queue of equal numbers differ. */
enum {
	KEY_NUMBER = 1,
	KEY_WORD,
	KEY_PLACE,
	KEY_PROCESS,
	KEY_THREAD,
	KEY_DEVICE,
	KEY_QUEUE,
	KEY_ROW,
	KEY_WINDOW,
	KEY_LABEL,
	KEY_LANE
};

uint64_t tef_hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t v[3] = { a, b, c };
	uint64_t h = XXH3_64bits(v, sizeof(v));

	return h ? h : 1; /* 0: there is none */
}

uint64_t tef_hash_text(const struct json_text *t)
{
	return XXH3_64bits(t->p, t->n);
}

static bool number_of(const char *p, size_t n, int64_t *ret)
{
	if (n > 2 && memcmp(p + n - 2, ".0", 2) == 0)
		n -= 2; /* integers that went through a floating point type */
	/* −1 and the like are no ids of a system but a program's "none of them": words. */
	return num_i64(p, n, ret) == 0 && *ret >= 0;
}

/* As a number is printed. */
static bool is_plain(const char *p, size_t n)
{
	return *p >= (n == 1 ? '0' : '1') && *p <= '9' && !memchr(p, '.', n);
}

struct tef_id tef_id_of(const struct json_text *text)
{
	struct tef_id id = { .p = text->p, .n = text->n, .type = TEF_ID_WORD };
	int64_t v;

	if (!text->p || (!text->quoted && json_text_is(text, "null")))
		return (struct tef_id){ .type = TEF_ID_NONE };
	if (!number_of(text->p, text->n, &v))
		return id;
	if (is_plain(text->p, text->n))
		return (struct tef_id){ .number = v, .type = TEF_ID_NUMBER };
	id.type = TEF_ID_ODD;
	return id;
}

bool tef_id_number(const struct tef_id *id, int64_t *ret)
{
	if (id->type == TEF_ID_ODD)
		return number_of(id->p, id->n, ret);
	*ret = id->number;
	return id->type == TEF_ID_NUMBER;
}

static struct json_text tef_id_word(const struct tef_id *id)
{
	return id->type == TEF_ID_WORD ? (struct json_text){ .p = id->p, .n = id->n }
				       : (struct json_text){ .p = NULL };
}

uint64_t tef_id_key(const struct tef_id *id)
{
	struct json_text word = tef_id_word(id);
	int64_t v;

	if (id->type == TEF_ID_NONE)
		return tef_hash(KEY_WORD, 0, 0);
	if (tef_id_number(id, &v))
		return tef_hash(KEY_NUMBER, (uint64_t)v, 0);
	return tef_hash(KEY_WORD, tef_hash_text(&word), word.n);
}

uint64_t tef_place_key(const struct tef_id *pid, const struct tef_id *tid)
{
	return tef_hash(KEY_PLACE, tef_id_key(pid), tef_id_key(tid));
}

void tef_place_set(struct tef *t, uint64_t place, tef_slot slot)
{
	uint32_t *at = u64map_at(&t->places, place);

	t->places_changed += *at != slot;
	*at = slot;
}

static void track_define(struct tef *t, struct tef_track *tr, const char *name)
{
	struct track_def d = tr->def;

	d.host = t->doc.host[0] ? t->doc.host : NULL;
	d.device = tr->device[0] ? tr->device : NULL;
	d.name = name;
	tr->id = t->sink->ops->track(t->sink, &d);
}

static tef_slot track_new(struct tef *t, uint64_t key, struct tef_track *tr, const char *name)
{
	tef_slot slot = (tef_slot)t->tracks.nr;

	tr->def.key = key;
	tr->last_ns = INT64_MIN;
	track_define(t, tr, name);
	VEC_PUSH(&t->tracks, *tr);
	*u64map_at(&t->slots, key) = slot;
	return slot;
}

static int64_t id_known(const struct tef_id *id)
{
	int64_t v;

	return tef_id_number(id, &v) ? v : PID_NONE;
}

int32_t tef_rank_of(const struct tef *t, const struct tef_id *pid)
{
	int64_t v;

	if (t->doc.dialect == TEF_FLEX && t->doc.rank == RANK_NONE && tef_id_number(pid, &v) &&
	    v <= INT32_MAX)
		return (int32_t)v;
	return t->doc.rank;
}

tef_slot tef_process(struct tef *t, const struct tef_id *pid)
{
	uint64_t key = tef_hash(KEY_PROCESS, tef_id_key(pid), 0);
	uint32_t slot = u64map_get(&t->slots, key);
	struct tef_track tr = {
		.def = { .kind = TRACK_PROCESS,
			 .parent = TRACK_NONE,
			 .pid = id_known(pid),
			 .tid = PID_NONE,
			 .rank = tef_rank_of(t, pid) },
		.name_key = tef_id_key(pid),
		.word = tef_id_word(pid),
	};

	return slot != U64MAP_NONE ? slot : track_new(t, key, &tr, NULL);
}

tef_slot tef_thread_at(struct tef *t, uint64_t place, const struct tef_id *pid,
		       const struct tef_id *tid)
{
	uint64_t key = tef_hash(KEY_THREAD, tef_id_key(pid), tef_id_key(tid));
	uint32_t slot = u64map_get(&t->slots, key);

	if (slot == U64MAP_NONE) {
		tef_slot process = tef_process(t, pid);
		struct tef_track tr = {
			.def = { .kind = TRACK_THREAD,
				 .parent = t->tracks.v[process].id,
				 .pid = id_known(pid),
				 .tid = id_known(tid),
				 .rank = tef_rank_of(t, pid) },
			.name_key = place,
			.word = tef_id_word(tid),
		};

		slot = track_new(t, key, &tr, NULL);
		tef_place_set(t, place, slot);
	}
	return slot;
}

void tef_place_track(struct tef *t, const struct tef_id *pid, const struct tef_id *tid,
		     track_id track, enum track_kind kind)
{
	uint64_t key = tef_hash(KEY_THREAD, tef_id_key(pid), tef_id_key(tid));
	struct tef_track tr = { .def = { .kind = kind, .key = key },
				.id = track,
				.last_ns = INT64_MIN };

	*u64map_at(&t->slots, key) = (tef_slot)t->tracks.nr;
	tef_place_set(t, tef_place_key(pid, tid), (tef_slot)t->tracks.nr);
	tef_memo_thread_add(t->memo, pid, tid, (tef_slot)t->tracks.nr);
	VEC_PUSH(&t->tracks, tr);
}

tef_slot tef_thread_known(const struct tef *t, const struct tef_id *pid, const struct tef_id *tid)
{
	return u64map_get(&t->slots, tef_hash(KEY_THREAD, tef_id_key(pid), tef_id_key(tid)));
}

tef_slot tef_thread(struct tef *t, const struct tef_id *pid, const struct tef_id *tid)
{
	/* Without a tid: the main thread, whose tid is the pid on Linux. */
	const struct tef_id *own = tid->type == TEF_ID_NONE ? pid : tid;
	tef_slot slot = tef_memo_thread(t->memo, pid, own);

	if (slot == TEF_SLOT_NONE) {
		slot = tef_thread_at(t, tef_place_key(pid, own), pid, own);
		tef_memo_thread_add(t->memo, pid, own, slot);
	}
	return slot;
}

tef_slot tef_row(struct tef *t, const struct tef_id *pid, str_id category, const char *name,
		 uint32_t row)
{
	uint64_t key = tef_hash(KEY_ROW, tef_id_key(pid), (uint64_t)category << 32 | row);
	uint32_t slot = u64map_get(&t->slots, key);
	struct tef_track tr = { .def = { .kind = TRACK_THREAD,
					 .pid = id_known(pid),
					 .tid = PID_NONE,
					 .rank = t->doc.rank } };
	tef_slot process;

	if (slot != U64MAP_NONE)
		return slot;
	process = tef_process(t, pid);
	tr.def.parent = t->tracks.v[process].id;
	return track_new(t, key, &tr, name);
}

tef_slot tef_window(struct tef *t, const struct tef_id *pid, const struct tef_id *tid)
{
	uint64_t key = tef_hash(KEY_WINDOW, tef_id_key(pid), tef_id_key(tid));
	uint32_t slot = u64map_get(&t->slots, key);
	struct tef_track tr = {
		.def = { .kind = TRACK_COUNTER,
			 .parent = TRACK_NONE,
			 .pid = PID_NONE,
			 .tid = PID_NONE,
			 .rank = t->doc.rank },
		.word = tef_id_word(tid),
	};

	return slot != U64MAP_NONE ? slot : track_new(t, key, &tr, NULL);
}

static tef_slot device_slot(struct tef *t, const char *device, uint64_t device_key, int32_t rank)
{
	uint64_t key = tef_hash(KEY_DEVICE, device_key, (uint32_t)rank);
	uint32_t slot = u64map_get(&t->slots, key);
	struct tef_track tr = { .def = { .kind = TRACK_DEVICE,
					 .parent = TRACK_NONE,
					 .pid = PID_NONE,
					 .tid = PID_NONE,
					 .rank = rank } };

	if (slot != U64MAP_NONE)
		return slot;
	snprintf(tr.device, sizeof(tr.device), "%s", device);
	return track_new(t, key, &tr, NULL);
}

tef_slot tef_queue(struct tef *t, uint64_t place, const char *device, const struct tef_id *stream,
		   int32_t rank)
{
	uint64_t device_key = XXH3_64bits(device, strlen(device));
	uint64_t key = tef_hash(KEY_QUEUE, device_key,
				tef_id_key(stream) ^ (uint64_t)(uint32_t)rank << 32);
	uint32_t slot = u64map_get(&t->slots, key);

	if (slot == U64MAP_NONE) {
		tef_slot above = device_slot(t, device, device_key, rank);
		struct tef_track tr = { .def = { .kind = TRACK_QUEUE,
						 .parent = t->tracks.v[above].id,
						 .pid = PID_NONE,
						 .tid = id_known(stream),
						 .rank = rank,
						 .owner = TRACK_NONE } };

		memcpy(tr.device, t->tracks.v[above].device, sizeof(tr.device));
		slot = track_new(t, key, &tr, NULL);
	}
	if (place)
		tef_place_set(t, place, slot);
	return slot;
}

void tef_name_as(struct tef *t, tef_slot slot, uint64_t place)
{
	t->tracks.v[slot].name_key = place;
}

/* The name of a row: that of the place, else its tid, and behind the first row a number. */
static void lane_name(struct tef *t, uint64_t place, const struct tef_id *tid, uint32_t row)
{
	const char *said = tef_thread_name(t, place);
	struct json_text word = tef_id_word(tid);
	int64_t number;

	strbuf_clear(&t->text);
	if (said && *said)
		strbuf_addstr(&t->text, said);
	else if (word.p)
		json_decode(&word, &t->text);
	else if (row > 0 && tef_id_number(tid, &number))
		strbuf_addf(&t->text, "%" PRId64, number);
	if (row > 0)
		strbuf_addf(&t->text, "%s#%u", t->text.len ? " " : "", row + 1);
}

tef_slot tef_lane(struct tef *t, const struct tef_id *pid, const struct tef_id *tid,
		  const char *device, uint32_t row)
{
	uint64_t place = tef_place_key(pid, tid);
	uint64_t key = tef_hash(KEY_LANE, place, (uint64_t)row << 1 | (device != NULL));
	uint32_t slot = u64map_get(&t->slots, key);
	struct tef_track tr = { .def = TRACK_DEF_INIT };
	tef_slot above;

	if (!device && row == 0)
		return tef_thread(t, pid, tid);
	if (slot != U64MAP_NONE)
		return slot;
	above = device ? device_slot(t, device, XXH3_64bits(device, strlen(device)),
				     tef_rank_of(t, pid))
		       : tef_process(t, pid);
	tr.def.kind = device ? TRACK_QUEUE : TRACK_THREAD;
	tr.def.parent = t->tracks.v[above].id;
	tr.def.pid = device ? PID_NONE : id_known(pid);
	tr.def.tid = row == 0 ? id_known(tid) : PID_NONE;
	tr.def.rank = tef_rank_of(t, pid);
	memcpy(tr.device, t->tracks.v[above].device, sizeof(tr.device));
	lane_name(t, place, tid, row);
	slot = track_new(t, key, &tr, t->text.len ? t->text.buf : NULL);
	if (device && row == 0)
		tef_place_set(t, place, slot);
	return slot;
}

const char *tef_said(struct tef *t, const struct tef_event *ev, const char *key)
{
	struct json_text member, value;
	struct json_cur c;
	bool some = false;

	if (!json_object_of(&ev->args, &c))
		return NULL;
	while (json_member(&c, &some, &member) > 0) {
		if (!json_text_is(&member, key)) {
			if (json_skip(&c) < 0)
				return NULL;
			continue;
		}
		if (json_scalar(&c, &value) < 0)
			return NULL;
		strbuf_clear(&t->text);
		json_decode(&value, &t->text);
		strbuf_rtrim(&t->text);
		return t->text.buf;
	}
	return NULL;
}

/* The last one holds. */
static void name_keep(struct tef *t, uint64_t key, const char *name)
{
	uint32_t *at;

	if (!name)
		return;
	at = u64map_at(&t->name_at, key);
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)t->names.nr;
		VEC_PUSH(&t->names, NULL);
	}
	free(t->names.v[*at]);
	t->names.v[*at] = xstrdup(name);
}

static void take_name(struct tef *t, const struct tef_event *ev, bool process)
{
	const struct tef_id *own = ev->tid.type == TEF_ID_NONE ? &ev->pid : &ev->tid;

	name_keep(t, process ? tef_id_key(&ev->pid) : tef_place_key(&ev->pid, own),
		  tef_said(t, ev, "name"));
}

static void take_label(struct tef *t, const struct tef_event *ev)
{
	name_keep(t, tef_hash(KEY_LABEL, tef_id_key(&ev->pid), 0), tef_said(t, ev, "labels"));
}

void tef_names_take(struct tef *t, const struct tef_event *ev)
{
	if (json_text_is(&ev->name, "process_name"))
		take_name(t, ev, true);
	else if (json_text_is(&ev->name, "thread_name"))
		take_name(t, ev, false);
	else if (json_text_is(&ev->name, "process_labels"))
		take_label(t, ev);
}

static const char *name_at(const struct tef *t, uint64_t key)
{
	uint32_t at = u64map_get(&t->name_at, key);

	return at == U64MAP_NONE ? NULL : t->names.v[at];
}

const char *tef_thread_name(const struct tef *t, uint64_t place)
{
	return name_at(t, place);
}

const char *tef_process_label(const struct tef *t, const struct tef_id *pid)
{
	return name_at(t, tef_hash(KEY_LABEL, tef_id_key(pid), 0));
}

const char *tef_process_name(const struct tef *t, const struct tef_id *pid)
{
	return name_at(t, tef_id_key(pid));
}

/* Only tracks that hold something get their names: traces name every device of the machine. */
void tef_names_apply(struct tef *t)
{
	for (size_t i = 0; i < t->tracks.nr; i++) {
		struct tef_track *tr = &t->tracks.v[i];
		uint32_t at = tr->name_key ? u64map_get(&t->name_at, tr->name_key) : U64MAP_NONE;

		if (at != U64MAP_NONE && t->names.v[at][0]) {
			track_define(t, tr, t->names.v[at]);
		} else if (tr->word.p) {
			strbuf_clear(&t->text);
			json_decode(&tr->word, &t->text);
			track_define(t, tr, t->text.buf);
		}
	}
}

void tef_tracks_release(struct tef *t)
{
	for (size_t i = 0; i < t->names.nr; i++)
		free(t->names.v[i]);
	VEC_RELEASE(&t->names);
	VEC_RELEASE(&t->tracks);
	u64map_release(&t->slots);
	u64map_release(&t->places);
	u64map_release(&t->name_at);
	u64map_release(&t->series);
}
