#include "headline_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define MAX_PARTS 5
#define MAX_OPENED 32
/* A call that holds more of the time is opened. */
#define WRAPPER_SHARE 0.95
/* A rest below this share is not shown. */
#define LEAST_SHARE 0.0005

static void part_add(struct headline_parts *p, const char *name, const char *kind, double ns)
{
	VEC_PUSH(&p->v, ((struct headline_part){ xstrdup(name), kind, ns, p->v.nr }));
}

static void parts_release(struct headline_parts *p)
{
	for (size_t i = 0; i < p->v.nr; i++)
		free(p->v.v[i].name);
	VEC_RELEASE(&p->v);
}

static int by_ns(const void *pa, const void *pb)
{
	const struct headline_part *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void parts_sort(struct headline_parts *p)
{
	if (p->v.nr)
		qsort(p->v.v, p->v.nr, sizeof(*p->v.v), by_ns);
}

struct paths {
	struct col path, depth, inclusive, exclusive;
};

/* The calls at a level whose path begins with prefix, by name, the longest first. */
static void calls_below(const struct paths *p, const char *prefix, int level,
			struct headline_parts *ret)
{
	CLEANUP(u64map_release) struct u64map index = U64MAP_INIT;
	struct intern *names = intern_new();
	size_t n = strlen(prefix), kept = 0;

	for (size_t i = 0; i < col_rows(p->path); i++) {
		const char *path = col_str(p->path, i);
		uint32_t *k;

		if (col_f64(p->depth, i) != level || strncmp(path, prefix, n) != 0 ||
		    strcmp(path + n, UNATTRIBUTED) == 0)
			continue;
		k = u64map_at(&index, intern_puts(names, path + n));
		if (*k == U64MAP_NONE) {
			*k = (uint32_t)ret->v.nr;
			part_add(ret, path + n, "host", 0);
		}
		ret->v.v[*k].ns += col_f64(p->inclusive, i);
	}
	intern_free(names);
	parts_sort(ret);
	while (kept < ret->v.nr && ret->v.v[kept].ns > 0)
		kept++;
	while (ret->v.nr > kept)
		free(ret->v.v[--ret->v.nr].name);
}

static double own_ns(const struct paths *p, const char *path, int level)
{
	double ns = 0;

	for (size_t i = 0; i < col_rows(p->path); i++)
		if (col_f64(p->depth, i) == level && strcmp(col_str(p->path, i), path) == 0)
			ns += col_f64(p->exclusive, i);
	return ns;
}

static double parts_sum(const struct headline_parts *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->v.nr; i++)
		sum += p->v.v[i].ns;
	return sum;
}

/* The heaviest as they are, then what is left, then the time inside the opened wrapper. */
static void parts_cut(struct headline *h, double self)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
	double rest;

	h->more = h->parts.v.nr > MAX_PARTS ? h->parts.v.nr - MAX_PARTS : 0;
	while (h->parts.v.nr > MAX_PARTS)
		free(h->parts.v.v[--h->parts.v.nr].name);
	rest = h->split_ns - self - parts_sum(&h->parts);
	if (h->more)
		strbuf_addf(&name, "%zu more", h->more);
	else
		strbuf_addstr(&name, "other calls");
	if (rest > LEAST_SHARE * h->split_ns)
		part_add(&h->parts, name.buf, "rest", rest);
	if (!(self > LEAST_SHARE * h->split_ns))
		return;
	strbuf_clear(&name);
	strbuf_addstr(&name, "inside ");
	for (const char *s = h->within; *s; s++)
		strbuf_add(&name, *s == ';' ? " › " : s, *s == ';' ? strlen(" › ") : 1);
	strbuf_addstr(&name, " itself");
	part_add(&h->parts, name.buf, "idle", self);
}

/*
 * Without devices: the outermost host functions. A wrapper such as main() that holds nearly all the
 * time is opened until the stack branches; its own time, and the calls beside it, stay parts.
 */
static void split_host(const struct table *t, struct headline *h)
{
	struct paths p = { col_text(t, "path"), col_number(t, "depth"),
			   col_number(t, "inclusive_ns"), col_number(t, "exclusive_ns") };
	CLEANUP(parts_release) struct headline_parts beside = { VEC_INIT };
	CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT;
	struct headline_parts *tops = &h->parts;
	double total, self = 0;

	calls_below(&p, "", 0, tops);
	total = parts_sum(tops);
	if (!(total > 0))
		return;
	for (int level = 0; level < MAX_OPENED && tops->v.v[0].ns > WRAPPER_SHARE * total;
	     level++) {
		CLEANUP(strbuf_release) struct strbuf opened = STRBUF_INIT;
		struct headline_parts next = { VEC_INIT };

		strbuf_addf(&opened, "%s%s;", prefix.buf, tops->v.v[0].name);
		calls_below(&p, opened.buf, level + 1, &next);
		if (!next.v.nr)
			break;
		free(h->within);
		h->within = xstrndup(opened.buf, opened.len - 1);
		self += own_ns(&p, h->within, level);
		for (size_t i = 1; i < tops->v.nr; i++)
			part_add(&beside, tops->v.v[i].name, "host", tops->v.v[i].ns);
		parts_release(tops);
		*tops = next;
		strbuf_clear(&prefix);
		strbuf_addstr(&prefix, opened.buf);
	}
	h->mostly = beside.v.nr > 0;
	for (size_t i = 0; i < tops->v.nr; i++)
		tops->v.v[i].order = i;
	for (size_t i = 0; i < beside.v.nr; i++)
		part_add(tops, beside.v.v[i].name, "host", beside.v.v[i].ns);
	parts_sort(tops);
	h->split_of = "host time in recorded calls";
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
			part_add(&h->parts, parts[i].name, parts[i].kind,
				 col_sum(col_number(overlap, parts[i].column)));
	} else if (wall > 0) {
		h->split_devices = table_rows(busy);
		h->split_ns = wall;
		part_add(&h->parts, "device busy", "compute", used);
		part_add(&h->parts, "device idle", "idle", wall - used);
	} else {
		h->split_of = "";
		split_host(table_set_find(&r->tables, "callpaths"), h);
	}
}
