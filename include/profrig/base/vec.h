/*
 * vec: growing arrays of any type, as three fields and a few macros.
 *
 *	VEC(struct span) spans = VEC_INIT;
 *	VEC_PUSH(&spans, ((struct span){ … }));		spans.v[spans.nr - 1]
 *	VEC_RELEASE(&spans);
 *
 * Elements are moved by realloc: keep indexes, not pointers. Growth is 1.5 times.
 */
#ifndef PROFRIG_VEC_H
#define PROFRIG_VEC_H

#include <stdlib.h>

#include "profrig/base/xalloc.h"

#define VEC(...) \
	struct { \
		__VA_ARGS__ *v; \
		size_t nr, cap; \
	}
#define VEC_INIT \
	{ \
		NULL, 0, 0 \
	}

/* Returns the new capacity, at least `need`. */
static inline size_t vec_grow_cap(size_t cap, size_t need)
{
	size_t n = cap + cap / 2 + 8;
	return n < need ? need : n;
}

#define VEC_RESERVE(vp, need) \
	do { \
		size_t vec_need_ = (need); \
		if (vec_need_ > (vp)->cap) { \
			(vp)->cap = vec_grow_cap((vp)->cap, vec_need_); \
			(vp)->v = xreallocarray((vp)->v, (vp)->cap, sizeof(*(vp)->v)); \
		} \
	} while (0)

#define VEC_PUSH(vp, ...) \
	do { \
		VEC_RESERVE((vp), (vp)->nr + 1); \
		(vp)->v[(vp)->nr++] = (__VA_ARGS__); \
	} while (0)

/* The first element e for which the expression holds; NULL: it holds for none. */
#define VEC_FIND(vp, e, ...) \
	({ \
		__typeof__(*(vp)->v) *e##_found_ = NULL; \
		for (size_t e##_i_ = 0; !e##_found_ && e##_i_ < (vp)->nr; e##_i_++) { \
			__typeof__(*(vp)->v) *e = &(vp)->v[e##_i_]; \
			if (__VA_ARGS__) \
				e##_found_ = e; \
		} \
		e##_found_; \
	})

#define VEC_CLEAR(vp) ((void)((vp)->nr = 0))
#define VEC_RELEASE(vp) \
	do { \
		free((vp)->v); \
		(vp)->v = NULL; \
		(vp)->nr = (vp)->cap = 0; \
	} while (0)

#endif
