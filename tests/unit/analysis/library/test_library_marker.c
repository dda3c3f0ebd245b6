/* marker_find against looking at each place for each marker. */
#include "library_marker.h"
#include "library_mask.h"
#include "library_test.h"

static const struct library_parser *const parsers[] = {
#define PARSER_POINTER(name) &library_parser_##name,
	LIBRARY_PARSERS(PARSER_POINTER)
};

static struct marker_set *set_new(void)
{
	struct marker_set *set = aligned_alloc(64, (sizeof(*set) + 63) / 64 * 64);

	memset(set, 0, sizeof(*set));
	marker_set_fill(set, parsers, ARRAY_LEN(parsers));
	return set;
}

static struct found_marker find_plainly(const struct marker_set *set, struct text_slice line,
					size_t from)
{
	for (size_t at = from; at < line.n; at++)
		for (size_t m = 0; m < set->nr; m++)
			if (marker_is_at(set, m, line, at))
				return (struct found_marker){ m, at };
	return (struct found_marker){ set->nr, line.n };
}

/* Parts of markers, whole ones, and what makes them begin. */
static void text_random(struct strbuf *text, const struct marker_set *set, uint64_t *seed)
{
	static const char *const more[] = { " ",  "0x7f", "conv -n 1", "a: b", "Cijk", "L",
					    "! ", "\n",   ",1",        "x",    "bler" };

	for (uint64_t n = rnd(seed) % 12; n > 0; n--) {
		const struct marker_place *m = &set->v[rnd(seed) % set->nr];
		size_t begin = rnd(seed) % 3 ? 0 : rnd(seed) % m->n;

		strbuf_add(text, m->m->text + begin,
			   rnd(seed) % 3 ? m->n - begin : rnd(seed) % (m->n - begin));
		strbuf_addstr(text, more[rnd(seed) % ARRAY_LEN(more)]);
	}
}

TEST(first_markers)
{
	CLEANUP(xfreep) struct marker_set *set = set_new();
	uint64_t seed = 5, found = 0;

	for (uint64_t c = 0; c < test_cases(20000); c++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		CLEANUP(xfreep) char *copy = NULL; /* of its own, for the sanitizer */
		struct text_slice line;
		struct found_marker is, want;
		size_t from;

		text_random(&text, set, &seed);
		copy = xmemdup(text.buf, text.len ? text.len : 1);
		line = (struct text_slice){ copy, text.len };
		from = text.len ? rnd(&seed) % text.len * (rnd(&seed) % 2) : 0;
		marker_find(set, line, from, &is);
		want = find_plainly(set, line, from);
		found += want.mark < set->nr;
		if (is.mark != want.mark || is.at != want.at)
			ROW_FAIL(c, "%zu at %zu, not %zu at %zu, of '%s'", is.mark, is.at,
				 want.mark, want.at, text.buf);
	}
	assert_true(found > 1000);
}

/* What is left out is an address in a word of its own, and not null. */
TEST(masked_addresses)
{
	static const char *const cases[][2] = {
		{ "f,0x7f12ab,64", "f,\n,64" },
		{ "f,0x7F12AB", "f,\n" },
		{ "A=0X7F C=0X0", "A=\n C=0X0" },
		{ "[p=0x1] (0x2) 0x3;", "[p=\n] (\n) \n;" },
		{ "0x", "0x" },
		{ "a=0x000 b=(nil)", "a=0x000 b=(nil)" },
		{ "10x7f 0x7fg 0x7f! 0x7f_", "10x7f 0x7fg 0x7f! 0x7f_" },
		{ "0x123456789abcdef 0x0123456789abcdef0", "\n 0x0123456789abcdef0" },
		{ "comm 0x55 stream 0x55", "comm 0x55 stream \n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) struct log_mask *m = xcalloc(1, sizeof(*m));
		size_t n = strlen(cases[i][0]);
		CLEANUP(xfreep) char *copy = xmemdup(cases[i][0], n);

		mask_clear(m);
		mask_addresses(m, (struct text_slice){ copy, n }, "comm ");
		if (m->n != strlen(cases[i][1]) || memcmp(m->text, cases[i][1], m->n) != 0)
			ROW_FAIL(i, "'%.*s'", (int)m->n, m->text);
	}
}

/* So a line that differs from another one in an address alone has the markers of that. */
TEST(addresses_have_no_part_in_markers)
{
	CLEANUP(xfreep) struct marker_set *set = set_new();

	for (size_t i = 0; i < set->nr; i++) {
		const char *text = set->v[i].m->text;
		size_t n = strlen(text), digits = strspn(text, "0123456789abcdefx");

		if (strstr(text, "0x") || text[n - 1] == '0' || digits + 1 >= n)
			ROW_FAIL(i, "'%s'", text);
	}
}
