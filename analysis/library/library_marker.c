/* Searching all markers at once (library_marker.h). */
#include "library_marker.h"

#include <assert.h>
#include <string.h>

#define SINGLE_MIN 4 /* markers for which a byte alone is looked for */

/* ---- anchors ---- */

/* Bytes that are rare in logs. */
static bool byte_is_rare(unsigned char c)
{
	return c == '!' || (c >= 'A' && c <= 'Z');
}

/* Where a marker has the anchor; its length: nowhere. second < 0: the anchor is one byte. */
static size_t anchor_in(const struct marker_place *m, int first, int second)
{
	const unsigned char *p = (const unsigned char *)m->m->text;
	size_t last = second < 0 ? m->n : m->n - 1;

	for (size_t i = 0; i < last; i++)
		if (p[i] == first && (second < 0 || p[i + 1] == second))
			return i;
	return m->n;
}

/* How many of the markers without an anchor have this one. */
static size_t anchor_worth(const struct marker_set *set, const bool *has, int first, int second)
{
	size_t worth = 0;

	for (size_t i = 0; i < set->nr; i++)
		worth += !has[i] && anchor_in(&set->v[i], first, second) < set->v[i].n;
	return worth;
}

static void anchor_add(struct marker_set *set, bool *has, int first, int second)
{
	size_t a = set->anchors_nr++;

	assert(a < ANCHORS_MAX);
	set->singles += second < 0;
	memset(&set->anchors[a][0], first, LANES);
	memset(&set->anchors[a][1], second < 0 ? 0 : second, LANES);
	for (size_t i = 0; i < set->nr; i++) {
		size_t at = anchor_in(&set->v[i], first, second);

		if (has[i] || at == set->v[i].n)
			continue;
		has[i] = true;
		set->reach = at > set->reach ? at : set->reach;
	}
}

/* Adds the anchor that most of the other markers have; false: it is of less than `least`. */
static bool anchor_next(struct marker_set *set, bool *has, bool single, size_t least)
{
	size_t best = least - 1;
	int first = -1, second = -1;

	for (size_t i = 0; i < set->nr; i++) {
		const unsigned char *p = (const unsigned char *)set->v[i].m->text;

		for (size_t k = 0; !has[i] && k + 1 < set->v[i].n; k++) {
			int b = single ? -1 : p[k + 1];
			size_t worth;

			if (single && !byte_is_rare(p[k]))
				continue;
			worth = anchor_worth(set, has, p[k], b);
			if (worth > best) {
				best = worth;
				first = p[k];
				second = b;
			}
		}
	}
	if (first < 0)
		return false;
	anchor_add(set, has, first, second);
	return true;
}

void marker_set_fill(struct marker_set *set, const struct library_parser *const *parsers, size_t n)
{
	bool has[MARKERS_MAX] = { false };

	set->parsers = parsers;
	for (size_t i = 0; i < n; i++)
		for (const struct log_marker *m = parsers[i]->markers; m->text; m++) {
			unsigned pair = (unsigned char)m->text[0] | (unsigned char)m->text[1] << 8;

			assert(set->nr < MARKERS_MAX);
			set->v[set->nr++] = (struct marker_place){ m, strlen(m->text), i, pair };
			set->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
		}
	while (anchor_next(set, has, true, SINGLE_MIN))
		;
	while (anchor_next(set, has, false, 1))
		;
}

/* ---- searching ---- */

bool marker_is_at(const struct marker_set *set, size_t mark, struct text_slice line, size_t at)
{
	const struct marker_place *m = &set->v[mark];
	const struct library_parser *p = set->parsers[m->parser];

	return line.n - at >= m->n && !memcmp(line.p + at, m->m->text, m->n) &&
	       (at == 0 || !m->m->line_start) && (!p->starts || p->starts(line, at));
}

/* The first marker that begins from `from` to before `end`. */
static struct found_marker find_between(const struct marker_set *set, struct text_slice line,
					size_t from, size_t end)
{
	const unsigned char *p = (const unsigned char *)line.p;

	for (size_t i = from; i < end && i + 1 < line.n; i++) {
		unsigned pair = p[i] | (unsigned)p[i + 1] << 8;

		if (!(set->pairs[pair / 64] >> pair % 64 & 1))
			continue;
		for (size_t m = 0; m < set->nr; m++)
			if (set->v[m].pair == pair && marker_is_at(set, m, line, i))
				return (struct found_marker){ m, i };
	}
	return (struct found_marker){ set->nr, line.n };
}

/* The first of 16 bytes at p, behind which there is one more, where an anchor begins. */
static size_t anchor_at(const struct marker_set *set, const char *p)
{
	lanes first = lanes_load(p), second = lanes_load(p + 1), hit = { 0 };

	for (size_t i = 0; i < set->singles; i++)
		hit |= (lanes)(first == set->anchors[i][0]);
	for (size_t i = set->singles; i < set->anchors_nr; i++)
		hit |= (lanes)((first == set->anchors[i][0]) & (second == set->anchors[i][1]));
	return lanes_first(hit);
}

struct found_marker marker_find(const struct marker_set *set, struct text_slice line, size_t from)
{
	size_t at = from;

	/* no marker begins before `from`, and no anchor from there to before `at` */
	while (at + LANES < line.n) {
		size_t lane = anchor_at(set, line.p + at);
		struct found_marker f;

		at += lane;
		if (lane == LANES)
			continue;
		f = find_between(set, line, at - from > set->reach ? at - set->reach : from,
				 at + 1);
		if (f.mark < set->nr)
			return f;
		from = ++at;
	}
	return find_between(set, line, at - from > set->reach ? at - set->reach : from, line.n);
}
