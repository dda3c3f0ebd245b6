/*
 * serial: values as bytes, for another process of the same program on the same kind of machine
 * (sizes and byte order are the machine's). Values are taken in the order in which they were put.
 *
 *	struct strbuf sb = STRBUF_INIT;
 *	SERIAL_PUT(&sb, nr); serial_put_text(&sb, name); SERIAL_PUT_ARRAY(&sb, v, nr);
 *	…
 *	struct serial_in in = { bytes, bytes + n, false };
 *	SERIAL_TAKE(&in, nr); name = serial_take_text(&in); SERIAL_TAKE_VEC(&in, &vec);
 *	if (in.bad) …
 *
 * Taking more than the bytes hold gives zeros and sets bad, so one check at the end is enough.
 */
#ifndef PROFRIG_SERIAL_H
#define PROFRIG_SERIAL_H

#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"

struct serial_in {
	const char *at, *end; /* borrowed */
	bool bad;
};

#define SERIAL_PUT(sb, value) strbuf_add((sb), &(value), sizeof(value))
#define SERIAL_TAKE(in, to) serial_take((in), &(to), sizeof(to))
/* Puts the elements without their number. */
#define SERIAL_PUT_ARRAY(sb, v, nr) strbuf_add((sb), (v), (nr) * sizeof(*(v)))
/* Puts the number of elements, then the elements. */
#define SERIAL_PUT_VEC(sb, vp) \
	do { \
		SERIAL_PUT((sb), (vp)->nr); \
		SERIAL_PUT_ARRAY((sb), (vp)->v, (vp)->nr); \
	} while (0)
/* Appends to what the vector already holds. */
#define SERIAL_TAKE_VEC(in, vp) \
	do { \
		size_t serial_nr_ = serial_take_count((in), sizeof(*(vp)->v)); \
		VEC_RESERVE((vp), (vp)->nr + serial_nr_); \
		serial_take((in), (vp)->v + (vp)->nr, serial_nr_ * sizeof(*(vp)->v)); \
		(vp)->nr += serial_nr_; \
	} while (0)

void serial_take(struct serial_in *in, void *to, size_t n);
/* A number of elements of size bytes each; 0 and bad when the remaining bytes are too few. */
size_t serial_take_count(struct serial_in *in, size_t size);
/* NULL is kept apart from the empty text. */
void serial_put_text(struct strbuf *sb, const char *text);
char *serial_take_text(struct serial_in *in); /* owned */

#endif
