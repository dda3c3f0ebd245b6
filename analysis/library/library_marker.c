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
		set->v[i].anchor = at;
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

static unsigned char anchor_byte(const struct marker_place *m)
{
	return (unsigned char)m->m->text[m->anchor];
}

static void near_fill(struct marker_set *set)
{
	size_t nr = 0;

	for (int c = 0; c < 256; c++) {
		set->near_begin[c] = (unsigned char)nr;
		for (size_t i = 0; i < set->nr; i++)
			if (anchor_byte(&set->v[i]) == c)
				set->near[nr++] = (struct marker_near){
					.pair = (uint16_t)set->v[i].pair,
					.mark = (unsigned char)i,
					.at = (unsigned char)set->v[i].anchor
				};
	}
	set->near_begin[256] = (unsigned char)nr;
}

static unsigned pair_at(const char *p)
{
	return (unsigned char)p[0] | (unsigned)(unsigned char)p[1] << 8;
}

void marker_set_fill(struct marker_set *set, const struct library_parser *const *parsers, size_t n)
{
	bool has[MARKERS_MAX] = { false };

	set->parsers = parsers;
	for (size_t i = 0; i < n; i++)
		for (const struct log_marker *m = parsers[i]->markers; m->text; m++) {
			unsigned pair = pair_at(m->text);

			assert(set->nr < MARKERS_MAX);
			set->v[set->nr++] = (struct marker_place){
				.m = m, .n = strlen(m->text), .parser = i, .pair = pair
			};
			set->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
		}
	while (anchor_next(set, has, true, SINGLE_MIN))
		;
	while (anchor_next(set, has, false, 1))
		;
	near_fill(set);
	for (size_t i = 0; i < set->nr; i++) {
		size_t last = i;

		while (last > 0 && set->v[last - 1].pair != set->v[i].pair)
			last--;
		set->v[i].last = last > 0 ? last - 1 : set->nr;
	}
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
	for (size_t i = from; i < end && i + 1 < line.n; i++) {
		unsigned pair = pair_at(line.p + i);

		if (!(set->pairs[pair / 64] >> pair % 64 & 1))
			continue;
		for (size_t m = 0; m < set->nr; m++)
			if (set->v[m].pair == pair && marker_is_at(set, m, line, i))
				return (struct found_marker){ m, i };
	}
	return (struct found_marker){ set->nr, line.n };
}

/* Whether a marker that begins at or behind `from` has its anchor at `at`. */
static bool anchor_is_of_one(const struct marker_set *set, struct text_slice line, size_t from,
			     size_t at)
{
	const unsigned char *begin = set->near_begin + (unsigned char)line.p[at];

	for (size_t i = begin[0]; i < begin[1]; i++) {
		const struct marker_near *near = &set->near[i];
		const struct marker_place *m = &set->v[near->mark];
		size_t is_at = at - near->at;

		if (at - from >= near->at && line.n - is_at >= 2 &&
		    pair_at(line.p + is_at) == near->pair && line.n - is_at >= m->n &&
		    !memcmp(line.p + is_at, m->m->text, m->n))
			return true;
	}
	return false;
}

/* Which of the 16 bytes at p, behind which there is one more, begin an anchor. */
static lanes anchors_at(const struct marker_set *set, const char *p)
{
	lanes first = lanes_load(p), second = lanes_load(p + 1), hit = { 0 };

	for (size_t i = 0; i < set->singles; i++)
		hit |= (lanes)(first == set->anchors[i][0]);
	for (size_t i = set->singles; i < set->anchors_nr; i++)
		hit |= (lanes)((first == set->anchors[i][0]) & (second == set->anchors[i][1]));
	return hit;
}

/*
 * The next place from `at` on where an anchor may begin; line.n: there is none. The last bytes are
 * looked at together with some in front of them; the last one, and each of a short line, always is
 * such a place.
 */
static size_t anchor_next_at(const struct marker_set *set, struct text_slice line, size_t at)
{
	for (; at + LANES < line.n; at += LANES) {
		size_t lane = lanes_first(anchors_at(set, line.p + at));

		if (lane < LANES)
			return at + lane;
	}
	if (at + 1 < line.n && line.n > LANES) {
		size_t from = line.n - 1 - LANES;

		return from + lanes_first(lanes_behind(anchors_at(set, line.p + from), at - from));
	}
	return at;
}

void marker_find(const struct marker_set *set, struct text_slice line, size_t from,
		 struct found_marker *ret)
{
	size_t at = anchor_next_at(set, line, from);

	/* no marker begins before `from`, and none has its anchor before `at` */
	for (; at < line.n; at = anchor_next_at(set, line, at + 1)) {
		if (!anchor_is_of_one(set, line, from, at))
			continue;
		*ret = find_between(set, line, at - from > set->reach ? at - set->reach : from,
				    at + 1);
		if (ret->mark < set->nr)
			return;
		from = at + 1;
	}
	*ret = (struct found_marker){ set->nr, line.n };
}
