#include "profrig/csv_scan.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif
#include <stdlib.h>

#include "profrig/csv.h"
#include "profrig/xalloc.h"

#define BLOCK 64
/* Separators looked for in one go: enough to be worth it, few enough to stay in the first cache. */
#define AHEAD 2048

struct masks {
	uint64_t quote, comma, line;
};

#if defined(__x86_64__)
static inline uint64_t equal_16(__m128i v, char c)
{
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}

static inline struct masks masks_of(const char *p)
{
	struct masks m = { 0, 0, 0 };

	for (int i = 0; i < BLOCK; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));

		m.quote |= equal_16(v, '"') << i;
		m.comma |= equal_16(v, ',') << i;
		m.line |= equal_16(v, '\n') << i;
	}
	return m;
}
#else
static inline struct masks masks_of(const char *p)
{
	struct masks m = { 0, 0, 0 };

	for (int i = 0; i < BLOCK; i++) {
		m.quote |= (uint64_t)(p[i] == '"') << i;
		m.comma |= (uint64_t)(p[i] == ',') << i;
		m.line |= (uint64_t)(p[i] == '\n') << i;
	}
	return m;
}
#endif

/* Bit i: the number of set bits up to and with i is odd. */
static inline uint64_t odd_up_to(uint64_t x)
{
	for (int by = 1; by < BLOCK; by *= 2)
		x ^= x << by;
	return x;
}

static inline uint64_t separators(struct csv_scan *s, const char *p)
{
	struct masks m = masks_of(p);
	uint64_t inside = s->in_quotes;

	if (m.quote) {
		inside ^= odd_up_to(m.quote);
		s->in_quotes = (uint64_t)((int64_t)inside >> 63);
	}
	return (m.comma | m.line) & ~inside;
}

static void room(struct csv_scan *s, size_t need)
{
	if (need <= s->cap)
		return;
	s->cap = need + need / 2;
	s->at = xreallocarray(s->at, s->cap, sizeof(*s->at));
}

/* What is done goes, so that offsets stay small. */
static void rebase(struct csv_scan *s)
{
	size_t by = s->next - s->origin;

	memmove(s->at, s->at + s->first, (s->nr - s->first) * sizeof(*s->at));
	s->nr -= s->first;
	s->first = 0;
	for (size_t i = 0; i < s->nr; i++)
		s->at[i] -= (uint32_t)by;
	s->origin = s->next;
}

/* Looks at more text. */
static void look_on(struct csv_scan *s)
{
	size_t want;

	if (s->next > s->origin)
		rebase(s);
	want = s->nr + AHEAD;
	room(s, want + BLOCK);
	while (s->nr < want && s->indexed < s->n) {
		const char *p = s->data + s->indexed;
		size_t left = s->n - s->indexed;
		uint32_t base = (uint32_t)(s->indexed - s->origin);
		char tail[BLOCK] = { 0 };
		uint64_t found;

		if (s->indexed - s->origin > CSV_MAX_RECORD)
			return;
		if (left < BLOCK) {
			memcpy(tail, p, left);
			p = tail;
		}
		found = separators(s, p);
		for (; found; found &= found - 1)
			s->at[s->nr++] = base + (uint32_t)__builtin_ctzll(found);
		s->indexed += left < BLOCK ? left : BLOCK;
	}
}

void csv_scan_init(struct csv_scan *s, const char *data, size_t n)
{
	*s = (struct csv_scan){ .data = data, .n = n };
	if (n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		s->next = s->indexed = s->origin = 3;
}

void csv_scan_release(struct csv_scan *s)
{
	free(s->at);
	*s = (struct csv_scan){ .data = NULL };
}

static bool is_blank(const struct csv_record *r)
{
	const char *end = r->origin + r->ends[0];

	return r->nr == 1 && !r->broken &&
	       (end == r->start || (end - r->start == 1 && *r->start == '\r'));
}

/* The record whose fields end at the separators [first, last]. */
static void take(struct csv_scan *s, size_t last, struct csv_record *ret)
{
	*ret = (struct csv_record){ .start = s->data + s->next,
				    .origin = s->data + s->origin,
				    .ends = s->at + s->first,
				    .nr = last - s->first + 1,
				    .ended = true };
	s->next = s->origin + s->at[last] + 1;
	s->first = last + 1;
}

/* What is left when no line end comes any more, or none within the limits. */
static void take_rest(struct csv_scan *s, struct csv_record *ret)
{
	size_t last = s->nr;

	room(s, s->nr + 1);
	s->at[s->nr++] = (uint32_t)(s->indexed - s->origin);
	take(s, last, ret);
	ret->ended = false;
	ret->broken = s->indexed < s->n || s->in_quotes;
	s->next = s->indexed;
}

static int record(struct csv_scan *s, struct csv_record *ret)
{
	size_t i = s->first;

	for (;;) {
		for (; i < s->nr; i++) {
			if (s->data[s->origin + s->at[i]] == '\n') {
				take(s, i, ret);
				return 1;
			}
		}
		if (s->indexed == s->n || i - s->first > CSV_MAX_FIELDS ||
		    s->indexed - s->next > CSV_MAX_RECORD)
			break;
		i -= s->first;
		look_on(s);
		i += s->first;
	}
	if (s->next >= s->n)
		return 0;
	take_rest(s, ret);
	return 1;
}

int csv_scan_next(struct csv_scan *s, struct csv_record *ret)
{
	int r;

	do {
		r = record(s, ret);
	} while (r > 0 && is_blank(ret));
	return r;
}

struct csv_text csv_scan_line(struct csv_scan *s, const struct csv_record *r, bool *ret_ended)
{
	size_t from = (size_t)(r->start - s->data);
	const char *end = memchr(r->start, '\n', s->n - from);
	struct csv_text line = { r->start, end ? (size_t)(end - r->start) : s->n - from };

	*ret_ended = end != NULL;
	s->next = from + line.n + (end != NULL);
	s->indexed = s->origin = s->next;
	s->first = s->nr = 0;
	s->in_quotes = 0;
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

uint64_t csv_scan_line_number(const struct csv_scan *s, const char *p)
{
	const char *at = s->data;
	uint64_t line = 1;

	while (at < p && (at = memchr(at, '\n', (size_t)(p - at)))) {
		at++;
		line++;
	}
	return line;
}

struct csv_text csv_unquote(struct csv_text t, struct strbuf *buf)
{
	const char *p = t.p, *end = t.p + t.n, *quote = memchr(p, '"', t.n);

	if (!quote)
		return t;
	strbuf_clear(buf);
	while (quote) {
		strbuf_add(buf, p, (size_t)(quote - p) + 1);
		p = quote + 1;
		p += p < end && *p == '"';
		quote = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL;
	}
	strbuf_add(buf, p, (size_t)(end - p));
	return (struct csv_text){ buf->buf, buf->len };
}
