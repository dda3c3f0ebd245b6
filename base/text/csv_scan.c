#include "profrig/base/csv_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <stdlib.h>

#include "profrig/base/bits.h"
#include "profrig/base/csv.h"
#include "profrig/base/xalloc.h"

#define BLOCK 64
/*
 * Separators found in one go: enough to be worth it, few enough to stay in the L1 cache. After
 * single lines were taken it starts small again, because separators found ahead are lost then.
 */
#define AHEAD_MIN 64
#define AHEAD_MAX 2048

struct masks {
	uint64_t quote, comma, line;
};

#if defined(__x86_64__)
static inline uint64_t equal_16(__m128i v, char c)
{
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}

static inline struct masks masks_plain(const char *p)
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

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

AVX2 static inline uint64_t equal_32(__m256i v, char c)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(c)));
}

AVX2 static inline struct masks masks_avx2(const char *p)
{
	__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));

	return (struct masks){ equal_32(a, '"') | equal_32(b, '"') << 32,
			       equal_32(a, ',') | equal_32(b, ',') << 32,
			       equal_32(a, '\n') | equal_32(b, '\n') << 32 };
}
#else
static inline struct masks masks_plain(const char *p)
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

/*
 * Notes the separators of one block, whose places count from base. They are always written in
 * groups of eight: a loop that ends at the exact number is mispredicted too often.
 */
static inline __attribute__((always_inline)) void mask_note(struct csv_scan *s, struct masks m,
							    uint32_t base)
{
	uint64_t inside = s->in_quotes, found;
	uint32_t *at = s->at + s->nr;
	size_t nr;

	if (m.quote) {
		inside ^= bits_odd_up_to(m.quote);
		s->in_quotes = (uint64_t)((int64_t)inside >> 63);
	}
	m.line &= ~inside;
	found = (m.comma & ~inside) | m.line;
	nr = (size_t)__builtin_popcountll(found);
	for (; m.line; m.line &= m.line - 1) {
		uint64_t before = found & ((m.line & -m.line) - 1);

		s->lines[s->lines_nr++] = (uint32_t)s->nr + (uint32_t)__builtin_popcountll(before);
	}
	for (size_t done = 0; done < nr; done += 8) {
		for (int i = 0; i < 8; i++) {
			at[done + (size_t)i] = base + (uint32_t)__builtin_ctzll(found | 1ull << 63);
			found &= found - 1;
		}
	}
	s->nr += nr;
}

static void scan_room(struct csv_scan *s, size_t need)
{
	if (need <= s->cap)
		return;
	s->cap = need + need / 2;
	s->at = xreallocarray(s->at, s->cap, sizeof(*s->at));
	s->lines = xreallocarray(s->lines, s->cap, sizeof(*s->lines));
}

/* Drops consumed separators, so that offsets stay small. */
static void scan_rebase(struct csv_scan *s)
{
	uint32_t by = (uint32_t)(s->next - s->origin);

	s->nr -= s->first;
	memmove(s->at, s->at + s->first, s->nr * sizeof(*s->at));
	for (size_t i = 0; i < s->nr; i++)
		s->at[i] -= by;
	s->lines_nr -= s->line;
	memmove(s->lines, s->lines + s->line, s->lines_nr * sizeof(*s->lines));
	for (size_t i = 0; i < s->lines_nr; i++)
		s->lines[i] -= (uint32_t)s->first;
	s->first = s->line = 0;
	s->origin = s->next;
}

static inline bool wants_more(const struct csv_scan *s, size_t want)
{
	return s->nr < want && s->n - s->indexed >= BLOCK &&
	       s->indexed - s->origin <= CSV_MAX_RECORD;
}

static void blocks_plain(struct csv_scan *s, size_t want)
{
	for (; wants_more(s, want); s->indexed += BLOCK)
		mask_note(s, masks_plain(s->data + s->indexed), (uint32_t)(s->indexed - s->origin));
}

#if defined(__x86_64__)
AVX2 static void blocks_avx2(struct csv_scan *s, size_t want)
{
	for (; wants_more(s, want); s->indexed += BLOCK)
		mask_note(s, masks_avx2(s->data + s->indexed), (uint32_t)(s->indexed - s->origin));
}
#endif

static void blocks_scan(struct csv_scan *s, size_t want)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
	    __builtin_cpu_supports("bmi")) {
		blocks_avx2(s, want);
		return;
	}
#endif
	blocks_plain(s, want);
}

/* Estimates the number of separators in the text up to s->until. */
static size_t blocks_wanted(const struct csv_scan *s)
{
	return AHEAD_MIN + (s->until > s->indexed ? (s->until - s->indexed) / BLOCK * 4 : 0);
}

/* Scans more text. */
static void scan_look_further(struct csv_scan *s)
{
	size_t want, left;

	if (s->next > s->origin)
		scan_rebase(s);
	want = s->nr + (s->ahead < blocks_wanted(s) ? s->ahead : blocks_wanted(s));
	if (s->ahead < AHEAD_MAX)
		s->ahead *= 2;
	scan_room(s, want + (size_t)2 * BLOCK);
	blocks_scan(s, want);
	left = s->n - s->indexed;
	if (left > 0 && left < BLOCK && s->nr < want) {
		char tail[BLOCK] = { 0 };

		memcpy(tail, s->data + s->indexed, left);
		mask_note(s, masks_plain(tail), (uint32_t)(s->indexed - s->origin));
		s->indexed = s->n;
	}
}

void csv_scan_init(struct csv_scan *s, const char *data, size_t n)
{
	*s = (struct csv_scan){ .data = data, .n = n, .ahead = AHEAD_MIN, .until = n };
	if (n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		s->next = s->indexed = s->origin = 3;
}

void csv_scan_range(struct csv_scan *s, size_t from, size_t until)
{
	s->next = s->indexed = s->origin = from;
	s->until = until;
	s->first = s->nr = s->line = s->lines_nr = 0;
	s->in_quotes = 0;
	s->ahead = AHEAD_MIN;
}

void csv_scan_release(struct csv_scan *s)
{
	free(s->at);
	free(s->lines);
	*s = (struct csv_scan){ .data = NULL };
}

static bool is_blank(const struct csv_record *r)
{
	const char *end = r->origin + r->ends[0];

	return r->nr == 1 && !r->broken &&
	       (end == r->start || (end - r->start == 1 && *r->start == '\r'));
}

/* The record whose fields end at the separators [first, last]. */
static void record_take(struct csv_scan *s, size_t last, struct csv_record *ret)
{
	*ret = (struct csv_record){ .start = s->data + s->next,
				    .origin = s->data + s->origin,
				    .ends = s->at + s->first,
				    .nr = last - s->first + 1,
				    .ended = true };
	s->next = s->origin + s->at[last] + 1;
	s->first = last + 1;
}

/* Takes the rest of the text when no line end follows, or none within the limits. */
static void scan_take_rest(struct csv_scan *s, struct csv_record *ret)
{
	size_t last = s->nr;

	scan_room(s, s->nr + 1 + CSV_SLACK);
	s->at[s->nr++] = (uint32_t)(s->indexed - s->origin);
	record_take(s, last, ret);
	ret->ended = false;
	ret->broken = s->indexed < s->n || s->in_quotes;
	s->next = s->indexed;
}

static int record_scan(struct csv_scan *s, struct csv_record *ret)
{
	while (s->line == s->lines_nr && s->indexed < s->n && s->nr - s->first <= CSV_MAX_FIELDS &&
	       s->indexed - s->next <= CSV_MAX_RECORD)
		scan_look_further(s);
	if (s->line < s->lines_nr) {
		record_take(s, s->lines[s->line++], ret);
		return 1;
	}
	if (s->next >= s->n)
		return 0;
	scan_take_rest(s, ret);
	return 1;
}

int csv_scan_next(struct csv_scan *s, struct csv_record *ret)
{
	int r;

	do {
		r = record_scan(s, ret);
	} while (r > 0 && is_blank(ret));
	return r;
}

struct csv_text csv_scan_line(struct csv_scan *s, const struct csv_record *r, bool *ret_ended)
{
	size_t from = (size_t)(r->start - s->data);
	const char *end = memchr(r->start, '\n', s->n - from);
	struct csv_text line = { r->start, end ? (size_t)(end - r->start) : s->n - from };

	*ret_ended = end != NULL;
	csv_scan_range(s, from + line.n + (end != NULL), s->until);
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
