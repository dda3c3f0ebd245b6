#include "dice.h"
#include "path_tree.h"
#include "test.h"

#include "profrig/base/strbuf.h"

struct trees {
	struct intern *texts;
	struct path_tree a, b;
};

static struct trees *trees_new(void)
{
	struct trees *t = xcalloc(1, sizeof(*t));

	t->texts = intern_new();
	return t;
}

static void trees_free(struct trees *t)
{
	path_tree_release(&t->a);
	path_tree_release(&t->b);
	intern_free(t->texts);
	free(t);
}

/* "main,main;f,main;f;g" */
static void add(struct trees *t, struct path_tree *to, const char *paths)
{
	for (const char *s = paths; *s;) {
		size_t n = strcspn(s, ",");

		path_tree_add(to, t->texts, s, n, 1, 10, 1);
		s += n + (s[n] == ',');
	}
}

/* Partners of A's paths that differ: "A=B,…"; "–" for none. */
static char *partners(const struct trees *t)
{
	struct strbuf sb = STRBUF_INIT;

	for (uint32_t i = 1; i < t->a.v.nr; i++) {
		const char *own = path_text(&t->a, i, NULL, t->texts);
		const char *other = t->a.v.v[i].partner == PATH_NONE
					    ? "–"
					    : path_text(&t->a, i, &t->b, t->texts);

		if (strcmp(own, other) != 0)
			strbuf_addf(&sb, "%s%s=%s", sb.len ? "," : "", own, other);
	}
	strbuf_addstr(&sb, "");
	return strbuf_steal(&sb);
}

static void expect(const char *a, const char *b, const char *want)
{
	struct trees *t = trees_new();
	CLEANUP(xfreep) char *got = NULL;

	add(t, &t->a, a);
	add(t, &t->b, b);
	path_trees_match(&t->a, &t->b);
	got = partners(t);
	assert_string_equal(got, want);
	trees_free(t);
}

TEST(by_name)
{
	expect("main,main;f,main;g", "main,main;g,main;f", "");
	expect("main,main;f,main;h", "main,main;g,main;f", "main;h=–");
	/* the same name elsewhere is another thing */
	expect("main;f;x", "main;g;y", "main;f=–,main;f;x=–");
	expect("step#12;f,step#13;f", "step#4;f", "");
	expect("f;x", "", "f=–,f;x=–");
}

TEST(wrappers)
{
	expect("main;f;x,main;g", "main;W;f;x,main;W;g",
	       "main;f=main;W;f,main;f;x=main;W;f;x,main;g=main;W;g");
	expect("main;W;f;x", "main;f;x", "main;W=–,main;W;f=main;f,main;W;f;x=main;f;x");
	expect("f", "1;2;3;4;f", "f=1;2;3;4;f");
	expect("f", "1;2;3;4;5;f", "f=–");
	/* the nearest one */
	expect("f", "1;2;f,3;f", "f=3;f");
	/* a node that has a partner wraps nothing */
	expect("f,g", "g;f,g", "f=–");
}

/* Amounts of paths of several tracks, and of several numbers, add up. */
TEST(sums)
{
	struct trees *t = trees_new();

	add(t, &t->a, "step#1;f,step#2;f,step#2;f");
	assert_int_equal(t->a.v.nr, 3);
	assert_string_equal(path_text(&t->a, 2, NULL, t->texts), "step#;f");
	assert_int_equal(t->a.v.v[2].calls, 3);
	assert_int_equal(t->a.v.v[2].host_ns, 30);
	assert_int_equal(t->a.v.v[1].calls, 0);
	trees_free(t);
}

TEST(deep_and_long)
{
	struct trees *t = trees_new();
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (int i = 0; i < 20000; i++)
		strbuf_addstr(&sb, i ? ";f" : "f");
	path_tree_add(&t->a, t->texts, sb.buf, sb.len, 1, 5, 0);
	path_tree_add(&t->b, t->texts, sb.buf, sb.len, 1, 5, 0);
	path_trees_match(&t->a, &t->b);
	assert_int_equal(t->a.v.nr, 20001);
	assert_int_equal(t->a.v.v[20000].partner, 20000);
	assert_memory_equal(path_text(&t->a, 20000, NULL, t->texts), "…;f;f", strlen("…;f;f"));
	assert_true(strlen(path_text(&t->a, 20000, NULL, t->texts)) <= PATH_TEXT_MAX);
	trees_free(t);
}

/* On random trees: partners are mutual, of one name, and their nearest callers with one are too. */
TEST(partners_are_mutual)
{
	struct dice x = { 7 };

	for (int round = 0; round < 300; round++) {
		struct trees *t = trees_new();

		for (int side = 0; side < 2; side++)
			for (int i = 0; i < 20; i++) {
				char path[64];
				size_t n = 0;

				for (uint32_t k = 0, depth = 1 + below(&x, 6); k < depth; k++) {
					path[n++] = (char)('a' + below(&x, 5));
					path[n++] = ';';
				}
				path_tree_add(side ? &t->b : &t->a, t->texts, path, n - 1, 1, 1, 0);
			}
		path_trees_match(&t->a, &t->b);
		for (uint32_t i = 1; i < t->a.v.nr; i++) {
			uint32_t m = t->a.v.v[i].partner, up = t->a.v.v[i].parent, other;

			if (m == PATH_NONE)
				continue;
			assert_int_equal(t->b.v.v[m].partner, i);
			assert_true(t->a.v.v[i].name == t->b.v.v[m].name);
			while (t->a.v.v[up].partner == PATH_NONE)
				up = t->a.v.v[up].parent;
			for (other = t->b.v.v[m].parent; t->b.v.v[other].partner == PATH_NONE;)
				other = t->b.v.v[other].parent;
			assert_int_equal(t->a.v.v[up].partner, other);
		}
		trees_free(t);
	}
}
