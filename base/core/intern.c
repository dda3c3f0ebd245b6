/*
 * Open addressing with linear probing. A slot keeps the low half of the hash beside the id. It
 * gives the place, tells most texts apart without touching their text, and lets the table grow
 * without hashing again.
 */
#include "profrig/base/intern.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "profrig/base/hash_seed.h"
#include "profrig/base/pool.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define SLOTS_MIN ((size_t)256)
#define GROUP ((size_t)32) /* of texts whose memory is asked for at once */

struct slot {
	uint32_t hash;
	str_id id; /* STR_NONE: free */
};

struct intern {
	struct slot *slots;
	size_t mask;
	uint64_t seed; /* hash_seed.h */
	VEC(struct intern_text) texts;
	struct pool pool;
};

static struct slot *slots_new(size_t n)
{
	struct slot *slots = xreallocarray(NULL, n, sizeof(*slots));

	memset(slots, 0xff, n * sizeof(*slots));
	return slots;
}

struct intern *intern_new(void)
{
	struct intern *in = xcalloc(1, sizeof(*in));

	in->slots = slots_new(SLOTS_MIN);
	in->mask = SLOTS_MIN - 1;
	in->seed = hash_seed();
	/* The empty string has a fixed id and never enters the table. */
	VEC_PUSH(&in->texts, ((struct intern_text){ "", 0 }));
	return in;
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	free(in->slots);
	VEC_RELEASE(&in->texts);
	pool_release(&in->pool);
	free(in);
}

static inline uint32_t hash_of(const struct intern *in, const char *s, size_t n)
{
	return (uint32_t)XXH3_64bits_withSeed(s, n, in->seed);
}

/* The slot of the string, or the free slot where it would go. */
static inline struct slot *slot_probe(const struct intern *in, const char *s, size_t n,
				      uint32_t hash)
{
	for (size_t i = hash & in->mask;; i = (i + 1) & in->mask) {
		struct slot *slot = &in->slots[i];

		if (slot->id == STR_NONE)
			return slot;
		if (slot->hash == hash) {
			const struct intern_text *t = &in->texts.v[slot->id];

			if (t->n == n && !memcmp(t->s, s, n))
				return slot;
		}
	}
}

static void intern_grow(struct intern *in)
{
	size_t old = in->mask + 1;
	size_t mask = old * 2 - 1;
	struct slot *slots = slots_new(old * 2);

	for (size_t i = 0; i < old; i++) {
		if (in->slots[i].id == STR_NONE)
			continue;
		size_t at = in->slots[i].hash & mask;

		while (slots[at].id != STR_NONE)
			at = (at + 1) & mask;
		slots[at] = in->slots[i];
	}
	free(in->slots);
	in->slots = slots;
	in->mask = mask;
}

static str_id hashed_put(struct intern *in, const char *s, size_t n, uint32_t hash)
{
	struct slot *slot = slot_probe(in, s, n, hash);
	str_id id;

	if (slot->id != STR_NONE)
		return slot->id;
	assert(in->texts.nr < STR_NONE);
	id = (str_id)in->texts.nr;
	VEC_PUSH(&in->texts, ((struct intern_text){ pool_memdupz(&in->pool, s, n), n }));
	*slot = (struct slot){ hash, id };
	/* At most two thirds full. */
	if (in->texts.nr > (in->mask + 1) / 3 * 2)
		intern_grow(in);
	return id;
}

str_id intern_put(struct intern *in, const char *s, size_t n)
{
	return n ? hashed_put(in, s, n, hash_of(in, s, n)) : 0;
}

/* The first text with this hash, most likely the right one; STR_NONE: there is none. */
static inline str_id hash_first(const struct intern *in, uint32_t hash)
{
	size_t i = hash & in->mask;

	while (in->slots[i].id != STR_NONE && in->slots[i].hash != hash)
		i = (i + 1) & in->mask;
	return in->slots[i].id;
}

/* Each loop asks for what the next one reads. */
static void group_put(struct intern *in, const struct intern_text *v, size_t n, str_id *ret)
{
	uint32_t hash[GROUP];

	for (size_t i = 0; i < n; i++) {
		hash[i] = hash_of(in, v[i].s, v[i].n);
		__builtin_prefetch(&in->slots[hash[i] & in->mask]);
	}
	for (size_t i = 0; i < n; i++) {
		ret[i] = hash_first(in, hash[i]);
		if (ret[i] != STR_NONE)
			__builtin_prefetch(&in->texts.v[ret[i]]);
	}
	for (size_t i = 0; i < n; i++)
		if (ret[i] != STR_NONE)
			__builtin_prefetch(in->texts.v[ret[i]].s);
	for (size_t i = 0; i < n; i++)
		ret[i] = v[i].n ? hashed_put(in, v[i].s, v[i].n, hash[i]) : 0;
}

void intern_put_many(struct intern *in, const struct intern_text *v, size_t n, str_id *ret)
{
	for (size_t from = 0; from < n; from += GROUP)
		group_put(in, v + from, n - from < GROUP ? n - from : GROUP, ret + from);
}

str_id intern_puts(struct intern *in, const char *s)
{
	return intern_put(in, s, strlen(s));
}

str_id intern_find(const struct intern *in, const char *s, size_t n)
{
	return n ? slot_probe(in, s, n, hash_of(in, s, n))->id : 0;
}

const char *intern_str(const struct intern *in, str_id id)
{
	if (id == STR_NONE)
		return "";
	assert(id < in->texts.nr);
	return in->texts.v[id].s;
}

size_t intern_len(const struct intern *in, str_id id)
{
	if (id == STR_NONE)
		return 0;
	assert(id < in->texts.nr);
	return in->texts.v[id].n;
}

size_t intern_count(const struct intern *in)
{
	return in->texts.nr;
}
