/*
 * Caches of look-ups that neighbouring events repeat, without a hash of the whole text: the id of a
 * name, the track of a pid and a tid. Small tables with one slot for each key: a newer entry
 * replaces an older one, and a miss takes the full look-up.
 *
 * The parsing thread numbers names, while their bytes are in its cache; the pushing thread keeps
 * the id of each number and does not read the text.
 */
#include "tef.h"

#define TEXTS 4096
#define TEXT_MAX 1024
#define TRACKS 256

struct known_text {
	char *text; /* as in the file */
	uint32_t n;
	uint16_t number;
};

struct tef_texts {
	uint16_t nr;
	struct known_text v[TEXTS];
};

struct known_track {
	int64_t pid, tid, device, stream;
	int32_t rank;
	uint32_t places; /* tef.places_changed when it was kept */
	tef_slot slot;
	bool used;
};

struct tef_memo {
	VEC(str_id) ids[TEF_PARSERS];
	struct known_track threads[TRACKS], queues[TRACKS];
};

struct tef_memo *tef_memo_new(void)
{
	return xcalloc(1, sizeof(struct tef_memo));
}

void tef_memo_free(struct tef_memo *m)
{
	for (size_t i = 0; m && i < TEF_PARSERS; i++)
		if (m->ids[i].v)
			VEC_RELEASE(&m->ids[i]);
	free(m);
}

static inline uint64_t eight_bytes(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline size_t hash_mixed(uint64_t v, size_t places)
{
	v *= UINT64_C(0x9e3779b97f4a7c15);
	return (v ^ v >> 32) % places;
}

/* Names differ at their ends and in their middle. The text of a file can be read beyond its end. */
static inline struct known_text *text_place(struct tef_texts *x, const struct json_text *t)
{
	const char *p = t->p;
	size_t n = t->n;
	uint64_t v = n < 8 ? eight_bytes(p) & ((UINT64_C(1) << 8 * n) - 1)
			   : eight_bytes(p) ^ eight_bytes(p + n - 8) * 3 ^
				     eight_bytes(p + (n - 8) / 2) * 5;

	return &x->v[hash_mixed(v + n, TEXTS)];
}

struct tef_texts *tef_texts_new(void)
{
	return xcalloc(1, sizeof(struct tef_texts));
}

void tef_texts_free(struct tef_texts *x)
{
	/* most are empty, and thousands of calls for nothing show where inputs are small */
	for (size_t i = 0; x && i < TEXTS; i++)
		if (x->v[i].text)
			free(x->v[i].text);
	free(x);
}

uint16_t tef_texts_number(struct tef_texts *x, const struct json_text *t)
{
	struct known_text *k;

	if (!t->p)
		return TEF_TEXT_NONE;
	k = text_place(x, t);
	if (k->text && k->n == t->n && memcmp(k->text, t->p, t->n) == 0)
		return k->number;
	if (t->n > TEXT_MAX || x->nr == TEF_TEXT_NONE)
		return TEF_TEXT_NONE;
	free(k->text);
	*k = (struct known_text){ xmemdup(t->p, t->n), (uint32_t)t->n, x->nr++ };
	return k->number;
}

str_id *tef_memo_text(struct tef_memo *m, unsigned parser, uint16_t text)
{
	while (m->ids[parser].nr <= text)
		VEC_PUSH(&m->ids[parser], STR_NONE);
	return &m->ids[parser].v[text];
}

static inline bool both_numbers(const struct tef_id *a, const struct tef_id *b)
{
	return a->type == TEF_ID_NUMBER && b->type == TEF_ID_NUMBER;
}

static inline struct known_track *thread_place(struct tef_memo *m, const struct tef_id *pid,
					       const struct tef_id *tid)
{
	return &m->threads[hash_mixed((uint64_t)pid->number * 31 + (uint64_t)tid->number, TRACKS)];
}

tef_slot tef_memo_thread(struct tef_memo *m, const struct tef_id *pid, const struct tef_id *tid)
{
	const struct known_track *k = thread_place(m, pid, tid);

	return both_numbers(pid, tid) && k->used && k->pid == pid->number && k->tid == tid->number
		       ? k->slot
		       : TEF_SLOT_NONE;
}

void tef_memo_thread_add(struct tef_memo *m, const struct tef_id *pid, const struct tef_id *tid,
			 tef_slot slot)
{
	if (both_numbers(pid, tid))
		*thread_place(m, pid, tid) = (struct known_track){
			.pid = pid->number, .tid = tid->number, .slot = slot, .used = true
		};
}

static inline struct known_track *queue_place(struct tef_memo *m, const struct tef_event *ev,
					      const struct tef_args *a)
{
	return &m->queues[hash_mixed((uint64_t)ev->pid.number * 31 + (uint64_t)ev->tid.number +
					     (uint64_t)a->device.number * 7 +
					     (uint64_t)a->stream.number * 3,
				     TRACKS)];
}

tef_slot tef_memo_queue(struct tef_memo *m, const struct tef_event *ev, const struct tef_args *a,
			uint32_t places)
{
	const struct known_track *k = queue_place(m, ev, a);

	return both_numbers(&ev->pid, &ev->tid) && both_numbers(&a->device, &a->stream) &&
			       k->used && k->places == places && k->pid == ev->pid.number &&
			       k->tid == ev->tid.number && k->device == a->device.number &&
			       k->stream == a->stream.number && k->rank == a->rank
		       ? k->slot
		       : TEF_SLOT_NONE;
}

void tef_memo_queue_add(struct tef_memo *m, const struct tef_event *ev, const struct tef_args *a,
			uint32_t places, tef_slot slot)
{
	if (both_numbers(&ev->pid, &ev->tid) && both_numbers(&a->device, &a->stream))
		*queue_place(m, ev, a) = (struct known_track){ .pid = ev->pid.number,
							       .tid = ev->tid.number,
							       .device = a->device.number,
							       .stream = a->stream.number,
							       .rank = a->rank,
							       .places = places,
							       .slot = slot,
							       .used = true };
}
