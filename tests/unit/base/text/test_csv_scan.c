#include "test.h"

#include "profrig/base/csv.h"
#include "profrig/base/csv_scan.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"

/* All fields, ends of fields as '|' and of records as ';'. */
static char *fields_of(const char *text, size_t n)
{
	CLEANUP(csv_scan_release) struct csv_scan s;
	struct strbuf sb = STRBUF_INIT;
	struct csv_record r;

	csv_scan_init(&s, text, n);
	while (csv_scan_next(&s, &r) > 0) {
		for (size_t i = 0; i < r.nr; i++) {
			struct csv_text t = csv_field(&r, i);

			strbuf_add(&sb, t.p, t.n);
			strbuf_addch(&sb, i + 1 < r.nr ? '|' : ';');
		}
		if (r.broken)
			strbuf_addch(&sb, '!');
		if (!r.ended)
			strbuf_addch(&sb, '.');
	}
	return strbuf_steal(&sb);
}

TEST(shapes)
{
	static const struct {
		const char *text, *want;
	} cases[] = LIST(
		{ "", "" }, { "\n\n", "" }, { "\r\n\n", "" }, { "a", "a;." }, { "a,b\n", "a|b;" },
		{ "a,b\r\nc,d\r\n", "a|b;c|d;" }, { "a,\n,b\n", "a|;|b;" }, { ",\n", "|;" },
		{ "\xef\xbb\xbf\"a\",b\n", "a|b;" }, { "\"a,b\",\"c\nd\"\n1,2", "a,b|c\nd;1|2;." },
		{ "\"a\"\"b\",1\n", "a\"\"b|1;" }, { "\"\",\"\"\n", "|;" },
		{ "\"\"\n\na\n", ";a;" }, { "a\rb,c\n", "a\rb|c;" }, { "\"a,b\nc", "\"a,b\nc;!." },
		{ "a,\"b", "a|\"b;!." });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *got = fields_of(cases[i].text, strlen(cases[i].text));

		if (strcmp(got, cases[i].want) != 0)
			ROW_FAIL(i, "'%s' instead of '%s'", got, cases[i].want);
	}
}

/* Random text that is correct CSV: as csv.h reads it, wherever the blocks of 64 bytes fall. */
TEST(like_csv)
{
	static const char alphabet[] = "ab1,\n\"\r x";
	uint64_t seed = 5;

	for (uint64_t round = 0; round < test_cases(3000); round++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT, plain = STRBUF_INIT;
		CLEANUP(csv_scan_release) struct csv_scan s;
		struct csv_reader *csv;
		struct csv_record r;
		char *const *f;
		size_t n, rows = rnd(&seed) % 40;

		for (size_t i = 0; i < rows; i++) {
			size_t columns = 1 + rnd(&seed) % 6;

			for (size_t c = 0; c < columns; c++) {
				size_t len = rnd(&seed) % 30;

				strbuf_addstr(&text, c > 0 ? ",\"" : "\"");
				for (size_t k = 0; k < len; k++) {
					char ch = alphabet[rnd(&seed) % (sizeof(alphabet) - 1)];

					strbuf_addch(&text, ch);
					if (ch == '"')
						strbuf_addch(&text, ch);
				}
				strbuf_addch(&text, '"');
			}
			strbuf_addstr(&text, rnd(&seed) % 2 ? "\r\n" : "\n");
		}
		csv = csv_open_mem(text.buf, text.len);
		csv_scan_init(&s, text.buf, text.len);
		while (csv_next(csv, &f, &n, NULL) > 0) {
			assert_int_equal(csv_scan_next(&s, &r), 1);
			assert_int_equal(r.nr, n);
			assert_true(r.ended && !r.broken);
			for (size_t i = 0; i < n; i++) {
				struct csv_text t = csv_unquote(csv_field(&r, i), &plain);

				assert_int_equal(t.n, strlen(f[i]));
				assert_memory_equal(t.p, f[i], t.n);
			}
			assert_int_equal(csv_scan_line_number(&s, r.start), csv_line(csv));
		}
		assert_int_equal(csv_scan_next(&s, &r), 0);
		csv_free(csv);
	}
}

/* Records of many fields, and a text much longer than what is looked at in one go. */
TEST(long_text)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(csv_scan_release) struct csv_scan s;
	struct csv_record r;
	uint64_t seed = 9, nr = 0;
	VEC(size_t) want = VEC_INIT;

	for (size_t i = 0; i < 3000; i++) {
		size_t columns = i == 1500 ? 60000 : 1 + rnd(&seed) % 50;

		VEC_PUSH(&want, columns);
		for (size_t c = 0; c < columns; c++)
			strbuf_addf(&text, "%s%zu", c ? "," : "", c + i);
		strbuf_addch(&text, '\n');
	}
	csv_scan_init(&s, text.buf, text.len);
	while (csv_scan_next(&s, &r) > 0) {
		assert_int_equal(r.nr, want.v[nr]);
		assert_true(csv_text_is(csv_field(&r, r.nr - 1), textf("%zu", r.nr - 1 + nr)));
		nr++;
	}
	assert_int_equal(nr, 3000);
	VEC_RELEASE(&want);
}

TEST(one_line)
{
	static const char text[] = "a,b\n\"x\"y,1\r\n\"c\",\"d\"\n\"e";
	CLEANUP(csv_scan_release) struct csv_scan s;
	struct csv_record r;
	struct csv_text line;
	bool ended;

	csv_scan_init(&s, text, strlen(text));
	assert_int_equal(csv_scan_next(&s, &r), 1);
	assert_int_equal(csv_scan_next(&s, &r), 1);
	line = csv_scan_line(&s, &r, &ended);
	assert_true(ended && csv_text_is(line, "\"x\"y,1"));
	assert_int_equal(csv_scan_next(&s, &r), 1);
	assert_true(r.nr == 2 && csv_text_is(csv_field(&r, 1), "d"));
	assert_int_equal(csv_scan_line_number(&s, r.start), 3);
	assert_int_equal(csv_scan_next(&s, &r), 1);
	assert_true(r.broken);
	line = csv_scan_line(&s, &r, &ended);
	assert_true(!ended && csv_text_is(line, "\"e"));
	assert_int_equal(csv_scan_next(&s, &r), 0);
}

/* Over the limits a record is broken and its line can still be passed over. */
TEST(limits)
{
	static const char tail[] = { '\n', 'l', 'a', 's', 't' };
	size_t n = CSV_MAX_RECORD + CSV_MAX_RECORD / 2;
	CLEANUP(xfreep) char *text = xmalloc(n);
	CLEANUP(csv_scan_release) struct csv_scan s;
	struct csv_record r;
	bool ended;

	memset(text, 'x', n);
	memcpy(text + n - 5, tail, sizeof(tail));
	csv_scan_init(&s, text, n);
	assert_int_equal(csv_scan_next(&s, &r), 1);
	assert_true(r.broken);
	csv_scan_line(&s, &r, &ended);
	assert_true(ended);
	assert_int_equal(csv_scan_next(&s, &r), 1);
	assert_true(csv_text_is(csv_field(&r, 0), "last"));
	memset(text, ',', n - 5);
	csv_scan_release(&s);
	csv_scan_init(&s, text, n);
	assert_int_equal(csv_scan_next(&s, &r), 1);
	assert_true(r.broken && r.nr <= CSV_MAX_FIELDS + 4096);
	csv_scan_line(&s, &r, &ended);
	assert_int_equal(csv_scan_next(&s, &r), 1);
	assert_true(csv_text_is(csv_field(&r, 0), "last"));
}

TEST(same)
{
	char a[100], b[100];

	memset(a, 'a', sizeof(a));
	memset(b, 'a', sizeof(b));
	for (size_t n = 0; n <= sizeof(a); n++) {
		struct csv_text x = { a, n }, y = { b, n };

		assert_true(csv_text_same(x, y));
		for (size_t i = 0; i < n; i++) {
			b[i] = 'b';
			assert_false(csv_text_same(x, y));
			b[i] = 'a';
		}
		y.n++;
		assert_false(csv_text_same(x, y));
	}
}
