/*
 * Rows parsed ahead by other threads (regions.h): where their fields are, the numbers that every
 * row has, and numbers for the texts that come again. A region has the rows that begin in it, and
 * begins with the first line that does. Where that is inside of a quoted field, the rows before it
 * do not end there, and the thread that pushes parses the region itself.
 */
#include "regions.h"
#include "rocprof_csv.h"

#include <stdlib.h>

#include "profrig/base/digits.h"
#include "profrig/base/num.h"

/* Small enough for the rows of one to stay in a core's cache until they are pushed. */
#define REGION_BYTES ((size_t)96 << 10)
/* The pushing thread parses the rest of a region with more of them. */
#define PART_ROWS 4096
#define PART_ENDS 32768
#define ENDS_STEP CSV_SLACK

struct rocprof_parser {
	struct csv_scan scan;
	struct rocprof_texts *texts;
	uint32_t last[ROCPROF_TEXTS];
};

struct rocprof_ahead {
	const char *data, *begin, *end;
	const struct rocprof_header *head;
	struct regions *regions;
	struct rocprof_part parts[REGION_SLOTS], own; /* own: of the thread that pushes */
	const char *at;                               /* where the next row to push begins */
};

/* Behind the header line, so there is enough text before it. */
static inline bool number_at(const struct rocprof_header *h, const struct csv_record *r,
			     enum rocprof_column c, int64_t *ret)
{
	int at = h->at[c];
	struct csv_text t;

	if (at < 0)
		return false;
	t = csv_field(r, (size_t)at);
	return digits_before(t.p + t.n, t.n, ret) || num_i64(t.p, t.n, ret) == 0;
}

static inline uint32_t text_at(struct rocprof_parser *p, const struct rocprof_header *h, size_t i,
			       const struct csv_record *r)
{
	struct csv_text first, last;

	if (h->texts[i].first < 0)
		return ROCPROF_NO_TEXT;
	first = csv_field(r, (size_t)h->texts[i].first);
	last = csv_field(r, (size_t)h->texts[i].last);
	first.n = (size_t)(last.p + last.n - first.p);
	return first.n ? rocprof_texts_find(p->texts, first, &p->last[i]) : ROCPROF_NO_TEXT;
}

static void take_whole(struct rocprof_part *part, struct rocprof_parser *p,
		       const struct rocprof_header *h, const struct csv_record *r,
		       struct rocprof_row *row)
{
	uint32_t *ends = part->ends + part->ends_nr, shift = (uint32_t)(r->origin - part->text);

	row->whole = true;
	row->ended = r->ended;
	row->ends = (uint32_t)part->ends_nr;
	/* eight at a time, also where there are fewer: no loop of that length is guessed wrong */
	for (size_t i = 0; i < h->nr; i += ENDS_STEP)
		for (size_t k = 0; k < ENDS_STEP; k++)
			ends[i + k] = r->ends[i + k] + shift;
	part->ends_nr += h->nr;
	row->timed = number_at(h, r, COL_START, &row->start_ns) &&
		     number_at(h, r, COL_END, &row->end_ns);
	row->correlated = number_at(h, r, COL_CORRELATION, &row->correlation);
	for (size_t i = 0; i < ROCPROF_TEXTS; i++)
		row->texts[i] = text_at(p, h, i, r);
}

static void take_line(struct rocprof_parser *p, const struct csv_record *r, struct rocprof_row *row)
{
	row->whole = row->timed = row->correlated = false;
	row->line = csv_scan_line(&p->scan, r, &row->ended);
	row->ends = 0;
	for (size_t i = 0; i < ROCPROF_TEXTS; i++)
		row->texts[i] = ROCPROF_NO_TEXT;
}

static void part_begin(const struct rocprof_ahead *a, struct rocprof_part *part, const char *from,
		       struct rocprof_parser *p)
{
	if (!part->rows) {
		part->rows = xreallocarray(NULL, PART_ROWS, sizeof(*part->rows));
		part->ends = xreallocarray(NULL, PART_ENDS + a->head->nr + ENDS_STEP,
					   sizeof(*part->ends));
	}
	part->text = part->end = from;
	part->texts = p->texts;
	part->nr = part->ends_nr = 0;
}

/*
 * Rows that begin in [from, to). limit: the end of the text, or a bound where it is unknown whether
 * a row begins at from; a row that reaches it is dropped.
 */
static void part_read(const struct rocprof_ahead *a, struct rocprof_part *ret, const char *from,
		      const char *to, const char *limit, struct rocprof_parser *p)
{
	struct rocprof_part part = *ret;
	const char *stop = limit < a->end ? limit : a->end + 1;

	part_begin(a, &part, from, p);
	p->scan.n = (size_t)(limit - a->data);
	csv_scan_range(&p->scan, (size_t)(from - a->data), (size_t)(to - a->data));
	while (part.nr < PART_ROWS && part.ends_nr < PART_ENDS && part.end < to) {
		struct rocprof_row *row = &part.rows[part.nr];
		struct csv_record r;
		bool more = csv_scan_next(&p->scan, &r) > 0;

		if (more && !r.ended && limit < a->end)
			break;
		if (more && r.nr == a->head->nr && !r.broken)
			take_whole(&part, p, a->head, &r, row);
		else if (more)
			take_line(p, &r, row);
		if (a->data + p->scan.next >= stop)
			break;
		part.end = a->data + p->scan.next;
		if (!more)
			break;
		row->start = (uint32_t)(r.start - from);
		part.nr++;
	}
	/* at once: slots of other threads share the cache's lines with this one */
	*ret = part;
}

static void region_parse(void *ctx, const char *from, const char *to, unsigned slot, void *own)
{
	struct rocprof_ahead *a = ctx;
	const char *limit = a->end - to > (ptrdiff_t)REGION_BYTES ? to + REGION_BYTES : a->end;

	if (from > a->begin) {
		from = memchr(from - 1, '\n', (size_t)(to - from) + 1);
		from = from && from + 1 < to ? from + 1 : to;
	}
	part_read(a, &a->parts[slot], from, to, limit, own);
}

struct rocprof_ahead *rocprof_ahead_new(const struct input_map *map, size_t from,
					const struct rocprof_header *head)
{
	struct rocprof_ahead *a = xcalloc(1, sizeof(*a));

	a->data = map->data;
	a->at = a->begin = map->data + from;
	a->end = map->data + map->len;
	a->head = head;
	a->regions = regions_new(a->begin, map->len - from, REGION_BYTES, region_parse, a);
	return a;
}

static void part_release(struct rocprof_part *p)
{
	free(p->rows);
	free(p->ends);
}

void rocprof_ahead_free(struct rocprof_ahead *a)
{
	if (!a)
		return;
	regions_free(a->regions);
	for (size_t i = 0; i < REGION_SLOTS; i++)
		part_release(&a->parts[i]);
	part_release(&a->own);
	free(a);
}

struct rocprof_parser *rocprof_parser_new(const struct rocprof_ahead *a)
{
	struct rocprof_parser *p = xcalloc(1, sizeof(*p));

	csv_scan_init(&p->scan, a->data, (size_t)(a->end - a->data));
	p->texts = rocprof_texts_new();
	return p;
}

void rocprof_parser_free(struct rocprof_parser *p)
{
	csv_scan_release(&p->scan);
	free(p->texts);
	free(p);
}

struct rocprof_texts *rocprof_parser_texts(const struct rocprof_parser *p)
{
	return p->texts;
}

void rocprof_ahead_help(struct rocprof_ahead *a, struct rocprof_parser *p)
{
	regions_help(a->regions, p);
}

void rocprof_ahead_quit(struct rocprof_ahead *a)
{
	regions_quit(a->regions);
}

const struct rocprof_part *rocprof_ahead_next(struct rocprof_ahead *a, struct rocprof_parser *p)
{
	while (a->at < a->end) {
		struct rocprof_part *part = &a->parts[regions_wait(a->regions, a->at, p)];

		if (part->text != a->at || part->end == a->at) {
			part = &a->own;
			part_read(a, part, a->at, regions_end(a->regions, a->at), a->end, p);
		}
		a->at = part->end;
		if (part->nr > 0)
			return part;
	}
	return NULL;
}
