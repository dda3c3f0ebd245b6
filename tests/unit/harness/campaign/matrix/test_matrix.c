/* Cells of a campaign: products, zips, exclude, include; what is wrong with them. */
#include "matrix.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

#include "profrig/base/strbuf.h"

struct read {
	struct cfg cfg;
	struct matrix m;
	struct problems p;
};

static void read_in(struct read *r, const char *text, uint64_t limit)
{
	struct err e = ERR_INIT;

	*r = (struct read){ .m = MATRIX_INIT, .p = PROBLEMS_INIT };
	cfg_init(&r->cfg);
	if (cfg_parse_text(&r->cfg, text, strlen(text), "c.yaml", false, LAYER_FILE, &e) < 0)
		fail_msg("%s", e.msg);
	matrix_read(&r->m, r->cfg.root, &r->p);
	if (r->p.lines.nr == 0)
		matrix_expand(&r->m, limit, &r->p);
}

static void read_release(struct read *r)
{
	matrix_release(&r->m);
	problems_release(&r->p);
	cfg_release(&r->cfg);
}

static void value_add(struct strbuf *sb, const struct cfg_node *v)
{
	if (v->kind == CFG_SEQ) {
		strbuf_addch(sb, '[');
		for (size_t i = 0; i < v->nr; i++)
			value_add(sb, v->child[i]);
		strbuf_addch(sb, ']');
	} else {
		strbuf_addstr(sb, v->kind == CFG_NULL ? "~" : v->s);
	}
}

/* "a=1 b=x; a=1 b=y" */
static void cells_are(const char *text, const char *want)
{
	struct read r;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	read_in(&r, text, MATRIX_CELLS_MAX);
	if (r.p.lines.nr)
		fail_msg("%s", r.p.lines.v[0]);
	for (size_t i = 0; i < r.m.cells.nr; i++) {
		const struct matrix_cell *c = &r.m.cells.v[i];

		strbuf_addstr(&sb, i ? "; " : "");
		for (size_t k = 0; k < c->sets.nr; k++) {
			strbuf_addf(&sb, "%s%s=", k ? " " : "", c->sets.v[k].path);
			value_add(&sb, c->sets.v[k].value);
		}
	}
	if (strcmp(sb.buf, want) != 0)
		fail_msg("%s\nnot\n%s", sb.buf, want);
	read_release(&r);
}

TEST(products)
{
	cells_are("name: x\n", "");
	cells_are("axes: {a: [1, 2], b: [x, y, z]}\n",
		  "a=1 b=x; a=1 b=y; a=1 b=z; a=2 b=x; a=2 b=y; a=2 b=z");
	cells_are("axes: {tools: [[], [perf], [perf, rpd]], env.X: ['1']}\n",
		  "tools=[] env.X=1; tools=[perf] env.X=1; tools=[perfrpd] env.X=1");
}

TEST(zips)
{
	cells_are("axes: {lib: {image: [a, b], env.L: [x, y]}, n: [1, 2]}\n",
		  "image=a env.L=x n=1; image=a env.L=x n=2; image=b env.L=y n=1; image=b env.L=y "
		  "n=2");
	cells_are("axes: {a: [1, 2], b: [x, y], c: [5, 5]}\nzip: [[a, c]]\n",
		  "a=1 c=5 b=x; a=1 c=5 b=y; a=2 c=5 b=x; a=2 c=5 b=y");
}

TEST(excludes)
{
	cells_are("axes: {a: [1, 2], b: [x, y]}\nexclude: [{a: '2', b: y}]\n",
		  "a=1 b=x; a=1 b=y; a=2 b=x");
	cells_are("axes: {a: [1, 2, 3], b: [x, y]}\nexclude: [{a: [1, 3]}, {b: x}]\n", "a=2 b=y");
	cells_are("axes: {tools: [[], [p], [q]]}\nexclude: [{tools: [p]}]\n",
		  "tools=[]; tools=[q]");
}

/* The rules of GitHub's matrices. */
TEST(includes)
{
	cells_are("axes: {fruit: [apple, pear], animal: [cat, dog]}\n"
		  "include:\n"
		  "- {color: green}\n"
		  "- {color: pink, animal: cat}\n"
		  "- {fruit: apple, shape: circle}\n"
		  "- {fruit: banana}\n"
		  "- {fruit: banana, animal: cat}\n",
		  "fruit=apple animal=cat color=pink shape=circle; "
		  "fruit=apple animal=dog color=green shape=circle; "
		  "fruit=pear animal=cat color=pink; fruit=pear animal=dog color=green; "
		  "fruit=banana; fruit=banana animal=cat");
}

TEST(what_is_wrong)
{
	static const struct {
		const char *text, *why;
	} cases[] = LIST(
		{ "axes: [a]\n", "'axes' wants a map of paths and lists" },
		{ "axes: {a: 1}\n", "c.yaml:1: axis 'a' wants a list of values" },
		{ "axes: {a: []}\n", "axis 'a' wants a list of values" },
		{ "axes:\n  a: [1, 2]\n  b: [3, '3']\n",
		  "c.yaml:3: axis 'b' has this value twice" },
		{ "axes: {a: [1], z: {a: [2]}}\n", "'a' has an axis already" },
		{ "axes: {z: {a: [1, 2], b: [1, 2, 3]}}\n",
		  "'b' has 3 values, and what it goes together with 2" },
		{ "axes: {z: {}}\n", "axis 'z' is empty" },
		{ "axes: {a: [1, 2], b: [1]}\nzip: [[a, b]]\n", "'b' has 1 values" },
		{ "axes: {a: [1, 2]}\nzip: [[a, c]]\n", "zip names 'c', which is no axis" },
		{ "axes: {a: [1], b: [1], c: [1]}\nzip: [[a, b], [b, c]]\n", "'b' is in two zips" },
		{ "axes: {a: [1]}\nzip: [[a]]\n", "a list of two axes or more" },
		{ "axes: {a: [1, 2]}\nexclude: [{b: 1}]\n", "exclude names 'b', which is no axis" },
		{ "axes: {a: [1, 2]}\nexclude: [{a: 3}]\n",
		  "c.yaml:2: this entry of 'exclude' takes away nothing" },
		{ "axes: {a: [1, 2]}\nexclude: [{a: [1, 2]}]\n", "'exclude' takes away all cells" },
		{ "axes: {a: [1, 2]}\nexclude: {a: 1}\n", "'exclude' wants a list of maps" },
		{ "axes: {a: [1, 2]}\ninclude: [3]\n", "an entry of 'include' is a map" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct read r;

		read_in(&r, cases[i].text, MATRIX_CELLS_MAX);
		if (r.p.lines.nr == 0)
			ROW_FAIL(i, "no problem, want %s", cases[i].why);
		if (!strstr(r.p.lines.v[0], cases[i].why))
			ROW_FAIL(i, "%s", r.p.lines.v[0]);
		read_release(&r);
	}
}

/* Refused before memory is taken, also where the number has no room. */
TEST(too_many)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct read r;

	strbuf_addstr(&text, "axes:\n");
	for (int axis = 0; axis < 30; axis++)
		strbuf_addf(&text, "  a%d: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n", axis);
	read_in(&r, text.buf, MATRIX_CELLS_MAX);
	assert_true(matrix_count(&r.m) == UINT64_MAX);
	assert_int_equal(r.m.cells.nr, 0);
	assert_non_null(strstr(r.p.lines.v[0], "cells are more than 10000"));
	read_release(&r);
	read_in(&r, "axes: {a: [1, 2], b: [1, 2]}\n", 4);
	assert_int_equal(r.m.cells.nr, 4);
	read_release(&r);
	read_in(&r, "axes: {a: [1, 2], b: [1, 2]}\n", 3);
	assert_int_equal(r.m.cells.nr, 0);
	assert_non_null(strstr(r.p.lines.v[0], "4 cells are more than 3"));
	read_release(&r);
}
