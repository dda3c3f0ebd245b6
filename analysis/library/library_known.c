/* What is remembered of records (library_known.h). */
#include "library_known.h"

#include "profrig/base/xalloc.h"

#define KNOWN_MAX ((size_t)1 << 20)  /* texts; later ones are parsed each time */
#define SHAPES_MAX ((size_t)1 << 18) /* then they are forgotten */

void known_release(struct library_known *k)
{
	VEC_RELEASE(&k->texts);
	VEC_RELEASE(&k->shapes);
	u64map_release(&k->by_text);
	u64map_release(&k->by_shape);
}

struct known_text *known_find(const struct library_known *k, size_t parser, struct text_slice text,
			      XXH128_hash_t *ret_hash)
{
	XXH128_hash_t h = XXH3_128bits_withSeed(text.p, text.n, parser);
	uint32_t at = u64map_get(&k->by_text, h.low64);

	*ret_hash = h;
	return at != U64MAP_NONE && k->texts.v[at].hash_high == h.high64 ? &k->texts.v[at] : NULL;
}

struct known_text *known_add(struct library_known *k, XXH128_hash_t h)
{
	uint32_t *at;

	if (k->texts.nr >= KNOWN_MAX)
		return NULL;
	at = u64map_at(&k->by_text, h.low64);
	if (*at != U64MAP_NONE)
		return NULL;
	*at = (uint32_t)k->texts.nr;
	VEC_PUSH(&k->texts, ((struct known_text){ .hash_high = h.high64 }));
	return &k->texts.v[k->texts.nr - 1];
}

XXH128_hash_t shape_hash(const struct log_mask *m, size_t parser, uint64_t version)
{
	return XXH3_128bits_withSeed(m->text, m->n, version << 8 ^ parser);
}

const struct known_shape *shape_find(const struct library_known *k, XXH128_hash_t h)
{
	uint32_t at = u64map_get(&k->by_shape, h.low64);

	return at != U64MAP_NONE && k->shapes.v[at].hash_high == h.high64 ? &k->shapes.v[at] : NULL;
}

void shape_add(struct library_known *k, size_t parser, XXH128_hash_t h, const struct log_mask *m,
	       const struct log_facts *f)
{
	XXH128_hash_t hash;
	const struct known_text *text = known_find(k, parser, f->text, &hash);
	uint32_t *at;

	/* a time that mask finds elsewhere than split is none to rely on */
	if (!text || f->last_doubled || f->last_info || m->t_ns != f->when.t_ns ||
	    m->dur_ns != f->when.dur_ns || m->odd_time != f->odd_time)
		return;
	if (k->shapes.nr >= SHAPES_MAX) {
		u64map_release(&k->by_shape);
		k->shapes.nr = 0;
	}
	at = u64map_at(&k->by_shape, h.low64);
	if (*at != U64MAP_NONE)
		return;
	*at = (uint32_t)k->shapes.nr;
	VEC_PUSH(&k->shapes, ((struct known_shape){ .hash_high = h.high64,
						    .pid = f->when.pid,
						    .rank = f->when.rank,
						    .text = (uint32_t)(text - k->texts.v),
						    .prefixed = f->prefixed }));
}
