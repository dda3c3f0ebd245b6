#include "headline_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define MAX_PARTS 5
#define MAX_OPENED 32
/* A call that holds more of the time is opened. */
#define WRAPPER_SHARE 0.95
/* A rest below this share is not shown. */
#define LEAST_SHARE 0.0005

static int by_ns(const void *pa, const void *pb)
{
	const struct headline_part *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void part_add(struct headline *h, const char *name, const char *kind, double ns)
{
	name = intern_str(h->names, intern_puts(h->names, name));
	VEC_PUSH(&h->parts, ((struct headline_part){ name, kind, ns, h->parts.nr }));
}

struct paths {
	struct col path, depth, inclusive, exclusive;
};

/*
 * Adds the calls at a level whose path begins with prefix, by name. Returns their sum; 0: none.
 */
static double calls_below(const struct paths *p, const char *prefix, int level, struct headline *h)
{
	CLEANUP(u64map_release) struct u64map index = U64MAP_INIT;
	size_t n = strlen(prefix), first = h->parts.nr;
	double sum = 0;

	for (size_t i = 0; i < col_rows(p->path); i++) {
		const char *path = col_str(p->path, i);
		double ns = col_f64(p->inclusive, i);
		uint32_t *k;

		if (col_f64(p->depth, i) != level || !(ns > 0) || strncmp(path, prefix, n) != 0 ||
		    strcmp(path + n, UNATTRIBUTED) == 0)
			continue;
		k = u64map_at(&index, intern_puts(h->names, path + n));
		if (*k == U64MAP_NONE) {
			*k = (uint32_t)h->parts.nr;
			part_add(h, path + n, "host", 0);
			h->parts.v[*k].order = ((size_t)(MAX_OPENED - level) << 32) + i;
		}
		h->parts.v[*k].ns += ns;
		sum += ns;
	}
	if (h->parts.nr > first)
		qsort(h->parts.v, h->parts.nr, sizeof(*h->parts.v), by_ns);
	return sum;
}

static double own_ns(const struct paths *p, const char *path, int level)
{
	double ns = 0;

	for (size_t i = 0; i < col_rows(p->path); i++)
		if (col_f64(p->depth, i) == level && strcmp(col_str(p->path, i), path) == 0)
			ns += col_f64(p->exclusive, i);
	return ns;
}

/* The heaviest calls, then the rest, then the exclusive time of the opened wrapper. */
static void parts_cut(struct headline *h, double self)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
	double rest = h->split_ns - self;

	h->more = h->parts.nr > MAX_PARTS ? h->parts.nr - MAX_PARTS : 0;
	h->parts.nr -= h->more;
	for (size_t i = 0; i < h->parts.nr; i++)
		rest -= h->parts.v[i].ns;
	if (h->more)
		strbuf_addf(&name, "%zu more", h->more);
	else
		strbuf_addstr(&name, "other calls");
	if (rest > LEAST_SHARE * h->split_ns)
		part_add(h, name.buf, "rest", rest);
	strbuf_clear(&name);
	strbuf_addstr(&name, "inside ");
	for (const char *s = h->within; *s; s++)
		strbuf_add(&name, *s == ';' ? " › " : s, *s == ';' ? strlen(" › ") : 1);
	strbuf_addstr(&name, " itself");
	if (self > LEAST_SHARE * h->split_ns)
		part_add(h, name.buf, "idle", self);
}

/*
 * Without devices: the outermost host functions. A wrapper such as main() that holds nearly all the
 * time is opened until the stack branches; its own time, and the calls beside it, stay parts.
 */
static void split_host(const struct table *t, struct headline *h)
{
	struct paths p = { col_text(t, "path"), col_number(t, "depth"),
			   col_number(t, "inclusive_ns"), col_number(t, "exclusive_ns") };
	double total = calls_below(&p, "", 0, h), self = 0;

	for (int level = 0; level < MAX_OPENED && total > 0; level++) {
		const struct headline_part top = h->parts.v[0];
		CLEANUP(strbuf_release) struct strbuf opened = STRBUF_INIT;
		bool beside = h->parts.nr > 1;

		strbuf_addf(&opened, "%s%s%s;", h->within, *h->within ? ";" : "", top.name);
		if (!(top.ns > WRAPPER_SHARE * total))
			break;
		h->parts.v[0].ns = INFINITY; /* stays first */
		if (!calls_below(&p, opened.buf, level + 1, h)) {
			h->parts.v[0].ns = top.ns;
			break;
		}
		memmove(h->parts.v, h->parts.v + 1, --h->parts.nr * sizeof(*h->parts.v));
		h->within = intern_str(h->names, intern_put(h->names, opened.buf, opened.len - 1));
		h->mostly |= beside;
		self += own_ns(&p, h->within, level);
	}
	h->split_of = total > 0 ? "host time in recorded calls" : "";
	h->split_ns = total;
	parts_cut(h, self);
}

void headline_split(const struct report *r, struct headline *h)
{
	static const struct {
		const char *column, *name, *kind;
	} parts[] = { { "compute_ns", "compute", "compute" },
		      { "exposed_comm_ns", "exposed communication", "comm" },
		      { "exposed_copy_ns", "exposed copy", "copy" },
		      { "idle_ns", "idle", "idle" } };
	const struct table *overlap = table_set_find(&r->tables, "overlap"),
			   *busy = table_set_find(&r->tables, "busy");
	double wall = col_sum(col_number(busy, "wall_ns"));
	double used = col_sum(col_number(busy, "union_ns"));

	h->split_of = "device time from first to last kernel";
	if (overlap && table_rows(overlap) > 0) {
		h->split_devices = table_rows(overlap);
		h->split_ns = col_sum(col_number(overlap, "wall_ns"));
		for (size_t i = 0; i < ARRAY_LEN(parts); i++)
			part_add(h, parts[i].name, parts[i].kind,
				 col_sum(col_number(overlap, parts[i].column)));
	} else if (wall > 0) {
		h->split_devices = table_rows(busy);
		h->split_ns = wall;
		part_add(h, "device busy", "compute", used);
		part_add(h, "device idle", "idle", wall - used);
	} else {
		h->split_of = "";
		split_host(table_set_find(&r->tables, "callpaths"), h);
	}
}
