/* Tables of members: what is read below a map, and that all of it is given back. */
#include "test.h"

#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/vec.h"

struct part {
	char *name;
};
struct thing {
	int before;
	char *name, *other, *secret;
	struct {
		char *deep;
		bool on, off;
	} in;
	struct strvec words;
	VEC(struct part) parts;
	VEC(int) numbers;
	int after;
};

FIELD_TABLE(part_fields, TEXT_FIELDS(struct part, name));
static const struct field thing_fields[] = {
	TEXT_FIELDS(struct thing, name, in.deep), FIELD_AS(struct thing, other, TEXT, "a.b"),
	SECRET_FIELDS(struct thing, secret),      BOOL_FIELDS(struct thing, in.on, in.off),
	WORDS_FIELDS(struct thing, words),        FIELD_VEC(struct thing, parts, part_fields),
	FIELD_VEC(struct thing, numbers, NULL),   FIELDS_END,
};

static void read_text(struct thing *t, const char *yaml)
{
	struct cfg c;

	cfg_init(&c);
	assert_int_equal(cfg_parse_text(&c, yaml, strlen(yaml), "x", false, LAYER_FILE, NULL), 0);
	fields_read(t, thing_fields, c.root);
	cfg_release(&c);
}

TEST(reads_and_releases)
{
	struct thing t = { .before = 1, .after = 2 };

	fields_init(&t, thing_fields);
	read_text(&t, "name: n\na: {b: 1.50}\nsecret: s\nin: {deep: d, on: true, off: 'true'}\n"
		      "words: [x, 2]\nparts: [1]\n");
	assert_string_equal(t.name, "n");
	assert_string_equal(t.other, "1.50");
	assert_string_equal(t.in.deep, "d");
	assert_true(t.in.on);
	assert_false(t.in.off);
	assert_int_equal(t.words.nr, 2);
	assert_string_equal(t.words.v[1], "2");
	/* A secret, and a list of structs, come from elsewhere. */
	assert_null(t.secret);
	assert_int_equal(t.parts.nr, 0);
	t.secret = xstrdup("hunter2");
	VEC_PUSH(&t.parts, ((struct part){ xstrdup("p") }));
	VEC_PUSH(&t.parts, ((struct part){ NULL }));
	VEC_PUSH(&t.numbers, 7);
	for (int i = 0; i < 2; i++) {
		fields_release(&t, thing_fields);
		assert_null(t.name);
		assert_null(t.secret);
		assert_null(t.parts.v);
		assert_null(t.numbers.v);
		assert_int_equal(t.words.nr, 0);
		assert_null(t.words.v[0]);
	}
	assert_int_equal(t.before, 1);
	assert_int_equal(t.after, 2);
}

TEST(what_is_not_there)
{
	struct thing t;

	fields_init(&t, thing_fields);
	fields_read(&t, thing_fields, NULL);
	read_text(&t, "name: [n]\na: b\nin: [1]\nwords: w\n");
	assert_null(t.name);
	assert_null(t.other);
	assert_null(t.in.deep);
	assert_false(t.in.on);
	assert_int_equal(t.words.nr, 0);
	fields_release(&t, thing_fields);
}
