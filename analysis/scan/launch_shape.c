#include "profrig/scan/launch_shape.h"

#include <inttypes.h>
#include <xxhash.h>

#include "profrig/base/json_scan.h"

#define AXES 3
#define WORD_MAX 16
#define NESTED_MAX 3
_Static_assert(STR_NONE == U64MAP_NONE, "one word for no text");
/* The scanner reads whole blocks; see json_scan.h. */
#define READABLE 64

/* ---- names ---- */

/* The letters of a name, in lower case; false: too many to be one of ours. */
static bool word_fold(const char *name, size_t n, char *word)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		char c = (char)(name[i] | 0x20);

		if (c < 'a' || c > 'z')
			continue;
		if (len + 1 == WORD_MAX)
			return false;
		word[len++] = c;
	}
	word[len] = '\0';
	return true;
}

int launch_shape_field(const char *name, size_t n)
{
	static const struct {
		char word[WORD_MAX];
		int first;
	} words[] = {
		{ "grid", LAUNCH_SHAPE_GRID },        { "gridsize", LAUNCH_SHAPE_GRID },
		{ "griditems", LAUNCH_SHAPE_GRID },   { "grd", LAUNCH_SHAPE_GRID },
		{ "block", LAUNCH_SHAPE_BLOCK },      { "blocksize", LAUNCH_SHAPE_BLOCK },
		{ "blockitems", LAUNCH_SHAPE_BLOCK }, { "workgroup", LAUNCH_SHAPE_BLOCK },
		{ "wgr", LAUNCH_SHAPE_BLOCK },        { "workgroupsize", LAUNCH_SHAPE_BLOCK },
	};
	char word[WORD_MAX];

	if (!word_fold(name, n, word))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t len = strlen(words[i].word);
		const char *axis = word + len;

		if (strncmp(word, words[i].word, len) != 0)
			continue;
		if (!axis[0])
			return words[i].first;
		if (axis[0] >= 'x' && axis[0] <= 'z' && !axis[1])
			return words[i].first + axis[0] - 'x';
	}
	return -1;
}

/* ---- arguments ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* 64, [64,1,1], {"x": 64, "y": 1}, "(64, 1, 1)": the numbers in their order. */
static void numbers_take(struct launch_shape *s, int at, const char *p, const char *end)
{
	int last = at - at % AXES + AXES;

	for (; at < last; at++) {
		uint64_t v = 0;

		while (p < end && !is_digit(*p))
			p++;
		if (p == end)
			return;
		while (p < end && is_digit(*p))
			v = v * 10 + (uint64_t)(*p++ - '0');
		s->v[at] = v;
	}
}

/* rocprofv3's JSON has the launch inside of these. */
static bool holds_launch(const struct json_text *key)
{
	return json_text_is(key, "dispatch_info") || json_text_is(key, "dispatch_data");
}

static int members_take(struct json_cur *c, struct launch_shape *s, int depth)
{
	struct json_text key;
	bool some = false;
	int r = json_open(c, '{');

	while (r >= 0 && (r = json_member(c, &some, &key)) > 0) {
		int at = launch_shape_field(key.p, key.n);
		const char *from = c->p;

		if (depth < NESTED_MAX && holds_launch(&key) && json_peek(c) == '{')
			r = members_take(c, s, depth + 1);
		else
			r = json_skip(c);
		if (r >= 0 && at >= 0)
			numbers_take(s, at, from, c->p);
	}
	return r;
}

static bool is_empty(const struct launch_shape *s)
{
	static const struct launch_shape empty;

	return memcmp(s, &empty, sizeof(empty)) == 0;
}

bool launch_shape_of(const char *text, size_t n, struct launch_shape *ret)
{
	char room[LAUNCH_SHAPE_TEXT_MAX + READABLE];
	struct json_cur c = { room, room + n };

	*ret = (struct launch_shape){ { 0 } };
	if (n > LAUNCH_SHAPE_TEXT_MAX)
		return false;
	memcpy(room, text, n);
	memset(room + n, 0, READABLE);
	if (members_take(&c, ret, 0) < 0)
		*ret = (struct launch_shape){ { 0 } };
	return !is_empty(ret);
}

uint64_t launch_shape_hash(const struct launch_shape *s)
{
	uint64_t h = XXH3_64bits(s, sizeof(*s));

	return is_empty(s) ? 0 : h ? h : 1;
}

/* ---- texts ---- */

str_id launch_shapes_put(struct launch_shapes *shapes, struct sink *s,
			 const struct launch_shape *shape)
{
	const uint64_t *v = shape->v;
	uint64_t key = launch_shape_hash(shape);
	str_id id = key ? u64map_get(&shapes->text_of, key) : STR_NONE;
	char text[192];

	if (!key || id != U64MAP_NONE || shapes->text_of.nr == LAUNCH_SHAPES_MAX)
		return id;
	snprintf(text, sizeof(text),
		 "{\"grid\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"block\":[%" PRIu64 ",%" PRIu64
		 ",%" PRIu64 "]}",
		 v[0], v[1], v[2], v[3], v[4], v[5]);
	id = sink_puts(s, text);
	*u64map_at(&shapes->text_of, key) = id;
	return id;
}

void launch_shapes_release(struct launch_shapes *shapes)
{
	u64map_release(&shapes->text_of);
}
