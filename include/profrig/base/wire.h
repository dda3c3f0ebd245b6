/*
 * wire: values as bytes, for another process of the same program on the same kind of machine. What
 * is taken must be taken in the order in which it was put.
 *
 *	struct strbuf sb = STRBUF_INIT;
 *	WIRE_PUT(&sb, nr); wire_put_text(&sb, name); WIRE_PUT_ARRAY(&sb, v, nr);
 *	…
 *	struct wire in = { bytes, bytes + n, false };
 *	WIRE_TAKE(&in, nr); name = wire_take_text(&in); WIRE_TAKE_VEC(&in, &vec);
 *	if (in.bad) …
 *
 * Taking more than is there gives zeros and sets bad, so one look at the end is enough.
 */
#ifndef PROFRIG_WIRE_H
#define PROFRIG_WIRE_H

#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"

struct wire {
	const char *at, *end; /* borrowed */
	bool bad;
};

#define WIRE_PUT(sb, value) strbuf_add((sb), &(value), sizeof(value))
#define WIRE_TAKE(in, to) wire_take((in), &(to), sizeof(to))
/* The number of elements is not among the bytes. */
#define WIRE_PUT_ARRAY(sb, v, nr) strbuf_add((sb), (v), (nr) * sizeof(*(v)))
/* With it. */
#define WIRE_PUT_VEC(sb, vp) \
	do { \
		WIRE_PUT((sb), (vp)->nr); \
		WIRE_PUT_ARRAY((sb), (vp)->v, (vp)->nr); \
	} while (0)
/* Behind what the vector holds already. */
#define WIRE_TAKE_VEC(in, vp) \
	do { \
		size_t wire_nr_ = wire_take_count((in), sizeof(*(vp)->v)); \
		VEC_RESERVE((vp), (vp)->nr + wire_nr_); \
		wire_take((in), (vp)->v + (vp)->nr, wire_nr_ * sizeof(*(vp)->v)); \
		(vp)->nr += wire_nr_; \
	} while (0)

void wire_take(struct wire *in, void *to, size_t n);
/* A count of things of that size, no more than there is room for in what follows. */
size_t wire_take_count(struct wire *in, size_t size);
/* NULL is a text too. */
void wire_put_text(struct strbuf *sb, const char *text);
char *wire_take_text(struct wire *in); /* owned */

#endif
