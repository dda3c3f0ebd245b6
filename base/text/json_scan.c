#include "profrig/base/json_scan.h"

#include <stdint.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "profrig/base/bits.h"
#include "profrig/base/utf8.h"

const bool json_word[256] = {
	['0' ... '9'] = true, ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['+'] = true,
	['-'] = true,         ['.'] = true,         ['_'] = true,
};

/* NUL is one: holes and tails of mapped files. */
static inline bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0;
}

static inline const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* First quote or backslash at or after p, or end. */
static inline const char *string_stop(const char *p, const char *end)
{
#ifdef __x86_64__
	const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');

	for (; p < end; p += 16) {
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
		int m = _mm_movemask_epi8(
			_mm_or_si128(_mm_cmpeq_epi8(b, quote), _mm_cmpeq_epi8(b, back)));

		if (m) {
			p += __builtin_ctz((unsigned int)m);
			return p < end ? p : end;
		}
	}
	return end;
#else
	while (p < end && *p != '"' && *p != '\\')
		p++;
	return p;
#endif
}

/* p: behind the opening quote. Returns the closing one, or end. */
static inline const char *string_end(const char *p, const char *end, bool *escaped)
{
	for (;;) {
		p = string_stop(p, end);
		if (p >= end)
			return end;
		if (*p == '"')
			return p;
		*escaped = true;
		p += 2;
		if (p > end)
			return end;
	}
}

struct json_cur json_cur_of(const struct json_text *t)
{
	static const char nothing[64];

	return t->p ? (struct json_cur){ t->p, t->p + t->n }
		    : (struct json_cur){ nothing, nothing };
}

bool json_object_of(const struct json_text *t, struct json_cur *ret)
{
	*ret = json_cur_of(t);
	return t->p && json_open(ret, '{') == 0;
}

char json_peek(struct json_cur *c)
{
	c->p = skip_blanks(c->p, c->end);
	return c->p < c->end ? *c->p : 0;
}

int json_open(struct json_cur *c, char open)
{
	char ch = json_peek(c);

	if (ch != open)
		return c->p < c->end ? JSON_BAD : JSON_CUT;
	c->p++;
	return 0;
}

/* Takes blanks and commas before an item. 1: an item begins here, 0: close was consumed. */
static int next_item(struct json_cur *c, bool *some, char close)
{
	bool comma = false;

	for (;;) {
		char ch = json_peek(c);

		if (c->p >= c->end)
			return JSON_CUT;
		if (ch == close) {
			c->p++;
			return 0;
		}
		if (ch != ',')
			break;
		comma = true;
		c->p++;
	}
	if (*some && !comma)
		return JSON_BAD;
	*some = true;
	return 1;
}

int json_member(struct json_cur *c, bool *some, struct json_text *key)
{
	int r = next_item(c, some, '}');

	if (r <= 0)
		return r;
	if (*c->p != '"')
		return JSON_BAD;
	r = json_scalar(c, key);
	if (r < 0)
		return r;
	if (json_peek(c) != ':')
		return c->p < c->end ? JSON_BAD : JSON_CUT;
	c->p++;
	return json_peek(c) ? 1 : JSON_CUT;
}

int json_element(struct json_cur *c, bool *some)
{
	return next_item(c, some, ']');
}

int json_scalar(struct json_cur *c, struct json_text *ret)
{
	char ch = json_peek(c);
	const char *from = c->p;

	*ret = (struct json_text){ .p = from };
	if (ch == '"') {
		bool escaped = false;
		const char *e = string_end(from + 1, c->end, &escaped);

		ret->escaped = escaped;
		if (e >= c->end) {
			c->p = c->end;
			return JSON_CUT;
		}
		ret->p = from + 1;
		ret->n = (size_t)(e - from - 1);
		ret->quoted = true;
		c->p = e + 1;
		return 0;
	}
	while (c->p < c->end && json_is_word(*c->p))
		c->p++;
	ret->n = (size_t)(c->p - from);
	if (c->p >= c->end)
		return JSON_CUT; /* a number may go on behind the cut */
	return ret->n > 0 ? 0 : JSON_BAD;
}

/* ---- skipping, 64 bytes at a time ---- */

#define BLOCK 64

/* Positions in a block, a bit per byte. */
struct block {
	uint64_t quote, back, open, close; /* open: '{' and '['; close: '}' and ']' */
};

/* '[' and ']' differ from '{' and '}' by this bit alone. */
#define BRACKET_BIT 0x20

static inline struct block block_at(const char *p)
{
	struct block b = { 0, 0, 0, 0 };

	for (int i = 0; i < BLOCK; i++) {
		uint64_t at = UINT64_C(1) << i;

		b.quote |= p[i] == '"' ? at : 0;
		b.back |= p[i] == '\\' ? at : 0;
		b.open |= (p[i] | BRACKET_BIT) == '{' ? at : 0;
		b.close |= (p[i] | BRACKET_BIT) == '}' ? at : 0;
	}
	return b;
}

#ifdef __x86_64__
static inline __attribute__((always_inline)) uint64_t equal16(__m128i v, char ch)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(ch)));
}

static inline __attribute__((always_inline)) struct block block_sse2(const char *p)
{
	struct block b = { 0, 0, 0, 0 };

	for (int i = 0; i < BLOCK; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i l = _mm_or_si128(v, _mm_set1_epi8(BRACKET_BIT));

		b.quote |= equal16(v, '"') << i;
		b.back |= equal16(v, '\\') << i;
		b.open |= equal16(l, '{') << i;
		b.close |= equal16(l, '}') << i;
	}
	return b;
}

__attribute__((target("avx2"), always_inline)) static inline uint64_t equal32(__m256i v, char ch)
{
	return (uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(ch)));
}

__attribute__((target("avx2"), always_inline)) static inline struct block block_avx2(const char *p)
{
	__m256i bit = _mm256_set1_epi8(BRACKET_BIT);
	__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i w = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
	__m256i lv = _mm256_or_si256(v, bit), lw = _mm256_or_si256(w, bit);

	return (struct block){ .quote = equal32(v, '"') | equal32(w, '"') << 32,
			       .back = equal32(v, '\\') | equal32(w, '\\') << 32,
			       .open = equal32(lv, '{') | equal32(lw, '{') << 32,
			       .close = equal32(lv, '}') | equal32(lw, '}') << 32 };
}
#endif

/* Bytes behind an odd number of backslashes; *carry: the first one of the next block too. */
static uint64_t escaped_of(uint64_t back, bool *carry)
{
	uint64_t escaped = 0;
	bool odd = *carry;

	for (int i = 0; i < BLOCK; i++) {
		if (odd)
			escaped |= UINT64_C(1) << i;
		odd = !odd && back >> i & 1;
	}
	*carry = odd;
	return escaped;
}

/* An array of objects may be skipped or walked: a depth that is allowed for a member when it is
 * walked must be allowed here too. */
#define REST_MAX_DEPTH (JSON_MAX_DEPTH + 2)

/* Open brackets; '[' or '{' by bit. */
struct nest {
	uint64_t is_array[REST_MAX_DEPTH / 64 + 1];
	unsigned int depth, limit;
};

/* A bracket. 1: the outermost one was closed, 0: go on. */
static inline __attribute__((always_inline)) int nest_take(struct nest *n, char ch)
{
	uint64_t bit;

	if (ch == '{' || ch == '[') {
		if (n->depth >= n->limit)
			return JSON_BAD;
		bit = UINT64_C(1) << n->depth % 64;
		if (ch == '[')
			n->is_array[n->depth / 64] |= bit;
		else
			n->is_array[n->depth / 64] &= ~bit;
		n->depth++;
		return 0;
	}
	n->depth--;
	if ((ch == ']') != (n->is_array[n->depth / 64] >> n->depth % 64 & 1))
		return JSON_BAD;
	return n->depth == 0;
}

struct skip {
	struct nest nest;
	uint64_t inside; /* a string goes on: all ones */
	bool carry;      /* the next byte is escaped */
};

/*
 * A block at p, of which `left` bytes are text. Only brackets outside of strings are handled one by
 * one: bytes inside strings follow from the parity of the quotes before them, for 64 at once.
 * Returns the end of the value, with *ret as skip_nested's, or NULL.
 */
static inline __attribute__((always_inline)) const char *skip_block(struct skip *s, struct block b,
								    const char *p, size_t left,
								    int *ret)
{
	uint64_t strings, brackets;

	if (__builtin_expect(b.back != 0 || s->carry, 0))
		b.quote &= ~escaped_of(b.back, &s->carry);
	strings = bits_odd_up_to(b.quote) ^ s->inside;
	s->inside = (uint64_t)((int64_t)strings >> 63);
	brackets = (b.open | b.close) & ~strings;
	if (left < BLOCK)
		brackets &= (UINT64_C(1) << left) - 1;
	for (; brackets; brackets &= brackets - 1) {
		const char *at = p + __builtin_ctzll(brackets);
		int r = nest_take(&s->nest, *at);

		if (r == 0)
			continue;
		*ret = r > 0 ? 0 : r;
		return r > 0 ? at + 1 : at;
	}
	return NULL;
}

/* Up to `to`, which is the end or whole blocks away: JSON_CUT with c->p there when more follows. */
#define SKIP(name, block_of) \
	static int name(struct skip *s, struct json_cur *c, const char *to) \
	{ \
		const char *stop; \
		int r = JSON_CUT; \
\
		for (const char *p = c->p; p < to; p += BLOCK) { \
			stop = skip_block(s, block_of(p), p, (size_t)(c->end - p), &r); \
			if (stop) { \
				c->p = stop; \
				return r; \
			} \
		} \
		c->p = to; \
		return JSON_CUT; \
	}

/* clang-format off */
#ifdef __x86_64__
SKIP(skip_sse2, block_sse2)
__attribute__((target("avx2,bmi"))) SKIP(skip_avx2, block_avx2)
	/* clang-format on */

	static inline int skip_to(struct skip *s, struct json_cur *c, const char *to)
{
	return __builtin_cpu_supports("avx2") ? skip_avx2(s, c, to) : skip_sse2(s, c, to);
}
#else
SKIP(skip_to, block_at)
/* clang-format on */
#endif

int json_skip_open(struct json_cur *c, char open, unsigned int above)
{
	struct skip s = { .nest = { { open == '[' }, 1, JSON_MAX_DEPTH - above } };

	return skip_to(&s, c, c->end);
}

int json_skip(struct json_cur *c)
{
	struct json_text t;
	char ch = json_peek(c);

	if (ch != '{' && ch != '[')
		return json_scalar(c, &t);
	c->p++;
	return json_skip_open(c, ch, 0);
}

int json_scalar_member(struct json_cur *c, bool *some, struct json_text *key,
		       struct json_text *value)
{
	int r;

	while ((r = json_member(c, some, key)) > 0) {
		if (*c->p != '{' && *c->p != '[') {
			r = json_scalar(c, value);
			return r < 0 ? r : 1;
		}
		r = json_skip(c);
		if (r < 0)
			break;
	}
	return r;
}

#define WALK_BYTES ((size_t)1 << 20)

int json_skip_rest(struct json_cur *c, char open, void (*walked)(void *ctx, const char *at),
		   void *ctx)
{
	struct skip s = { .nest = { { open == '[' }, 1, REST_MAX_DEPTH } };
	int r;

	do {
		size_t left = (size_t)(c->end - c->p);

		r = skip_to(&s, c, left > WALK_BYTES ? c->p + WALK_BYTES : c->end);
		if (walked)
			walked(ctx, c->p);
	} while (r == JSON_CUT && c->p < c->end);
	return r;
}

/* ---- by table ---- */

static int field_take(struct json_cur *c, const struct json_text *key,
		      const struct json_known *fields, size_t n, void *to)
{
	for (size_t i = 0; i < n; i++)
		if (fields[i].key_len == key->n && memcmp(fields[i].key, key->p, key->n) == 0)
			return fields[i].take(c, (char *)to + fields[i].at);
	return json_skip(c);
}

int json_members(struct json_cur *c, const struct json_known *fields, size_t n, void *to)
{
	struct json_text key;
	bool some = false;
	int r;

	if (json_peek(c) != '{')
		return json_skip(c);
	c->p++;
	while ((r = json_member(c, &some, &key)) > 0) {
		r = field_take(c, &key, fields, n, to);
		if (r < 0)
			break;
	}
	return r;
}

int json_elements(struct json_cur *c, json_take_fn *take, void *to)
{
	bool some = false;
	int r;

	if (json_peek(c) != '[')
		return json_skip(c);
	c->p++;
	while ((r = json_element(c, &some)) > 0) {
		r = take(c, to);
		if (r < 0)
			break;
	}
	return r;
}

int json_take_text(struct json_cur *c, void *to)
{
	char ch = json_peek(c);

	return ch == '{' || ch == '[' ? json_skip(c) : json_scalar(c, to);
}

int json_take_list(struct json_cur *c, void *to)
{
	const char **at = to;

	if (json_peek(c) == '[')
		*at = c->p;
	return json_skip(c);
}

/* ---- texts ---- */

static void add_utf8(struct strbuf *out, uint32_t cp)
{
	char bytes[4];

	if (cp == 0 || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		cp = 0xfffd;
	strbuf_add(out, bytes, utf8_put(bytes, cp));
}

/* "\uXXXX" at p; false when it is none. */
static bool hex_escape(const char *p, const char *end, uint32_t *ret)
{
	uint32_t v = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return false;
	for (int i = 2; i < 6; i++) {
		char ch = p[i];
		uint32_t d = ch >= '0' && ch <= '9'   ? (uint32_t)(ch - '0')
			     : ch >= 'a' && ch <= 'f' ? (uint32_t)(ch - 'a' + 10)
			     : ch >= 'A' && ch <= 'F' ? (uint32_t)(ch - 'A' + 10)
						      : 16;

		if (d > 15)
			return false;
		v = v << 4 | d;
	}
	*ret = v;
	return true;
}

/* Decodes the escape at p (a backslash); returns the position behind it. */
static const char *decode_escape(const char *p, const char *end, struct strbuf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	uint32_t cp, low;
	const char *at;

	if (end - p >= 2 && p[1] && (at = strchr(from, p[1])) != NULL) {
		strbuf_addch(out, to[at - from]);
		return p + 2;
	}
	if (!hex_escape(p, end, &cp)) {
		add_utf8(out, 0xfffd);
		return p + 1;
	}
	p += 6;
	if (cp >= 0xd800 && cp <= 0xdbff && hex_escape(p, end, &low) && low >= 0xdc00 &&
	    low <= 0xdfff) {
		cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
		p += 6;
	}
	add_utf8(out, cp);
	return p;
}

size_t json_plain_len(const struct json_text *t)
{
	const unsigned char *p = (const unsigned char *)t->p;
	size_t i = 0;

	while (i < t->n) {
		size_t len;

		if (p[i] - 1u < 0x7f && p[i] != '\\') { /* ASCII but NUL */
			i++;
			continue;
		}
		len = p[i] < 0x80 ? 0 : utf8_len(t->p + i, t->n - i);
		if (len == 0)
			break;
		i += len;
	}
	return i;
}

void json_decode(const struct json_text *t, struct strbuf *out)
{
	struct json_cur c = json_cur_of(t);
	const char *p = c.p, *end = c.end;

	while (p < end) {
		struct json_text rest = { .p = p, .n = (size_t)(end - p) };
		size_t n = json_plain_len(&rest);

		strbuf_add(out, p, n);
		p += n;
		if (p >= end)
			break;
		if (*p == '\\') {
			p = decode_escape(p, end, out);
		} else {
			add_utf8(out, 0xfffd);
			p++;
		}
	}
}
