#include "profrig/compare/flame_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/scan/input.h"

#define NAMES_MAX 64

struct growing {
	struct flame_diff *f;
	struct u64map at; /* parent and name → frame */
	bool b;
	double part; /* of a run: 1 / runs */
};

void flame_diff_release(struct flame_diff *f)
{
	VEC_RELEASE(&f->v);
	intern_free(f->texts);
	strvec_release(&f->problems);
	*f = (struct flame_diff){ .problems = STRVEC_INIT };
}

/* ---- where the files are ---- */

/* DIR/analysis/folded of a run, DIR/folded of an analysis. Owned. */
static char *folded_dir(const char *dir)
{
	CLEANUP(xfreep) char *run = fs_join(dir, "run.json");
	struct stat st;

	return fs_join(dir, door_lstat(run, &st) == 0 ? "analysis/folded" : "folded");
}

static bool name_plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static void names_add(const char *dir, struct strvec *ret)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	CLEANUP(xfreep) char *folder = NULL;

	if (door_hold(dir, NULL) < 0)
		return;
	folder = folded_dir(dir);
	if (fs_is_dir(folder) && fs_list(folder, &files, NULL) == 0)
		for (size_t i = 0; i < files.nr && ret->nr < NAMES_MAX; i++) {
			const char *end = text_suffix(files.v[i], ".folded");
			CLEANUP(xfreep)
			char *name = end ? xstrndup(files.v[i], (size_t)(end - files.v[i])) : NULL;

			if (name && name_plain(name) && !strvec_has(ret, name))
				strvec_push(ret, name);
		}
	door_let_go(dir);
}

static int by_name(const void *pa, const void *pb)
{
	static const char *const front[] = { "time", "device" };
	const char *a = *(char *const *)pa, *b = *(char *const *)pb;

	for (size_t i = 0; i < ARRAY_LEN(front); i++) {
		bool x = !strcmp(a, front[i]), y = !strcmp(b, front[i]);

		if (x || y)
			return y - x;
	}
	return strcmp(a, b);
}

void flame_diff_names(const struct run_set *a, const struct run_set *b, struct strvec *ret)
{
	for (size_t i = 0; i < a->runs.nr; i++)
		names_add(a->runs.v[i].dir, ret);
	for (size_t i = 0; i < b->runs.nr; i++)
		names_add(b->runs.v[i].dir, ret);
	if (ret->nr)
		qsort(ret->v, ret->nr, sizeof(*ret->v), by_name);
}

/* ---- stacks ---- */

static void frame_add(struct growing *g, uint32_t frame, double value, bool own)
{
	struct flame_frame *f = &g->f->v.v[frame];

	*(g->b ? &f->b : &f->a) += value;
	if (own)
		*(g->b ? &f->own_b : &f->own_a) += value;
}

/* FLAME_NONE: there are too many. */
static uint32_t frame_below(struct growing *g, uint32_t parent, const char *name, size_t n)
{
	str_id id = intern_put(g->f->texts, name, n);
	uint32_t *at = u64map_at(&g->at, u64map_pair(parent, id));

	if (*at != U64MAP_NONE)
		return *at;
	if (g->f->v.nr >= FLAME_FRAMES_MAX) {
		*at = parent; /* the map takes no hole: from now on it is its parent */
		return parent;
	}
	*at = (uint32_t)g->f->v.nr;
	VEC_PUSH(&g->f->v,
		 ((struct flame_frame){
			 .name = id, .parent = parent, .first = FLAME_NONE, .next = FLAME_NONE }));
	return *at;
}

/* Where a number behind "thread " begins and ends; false without one. */
static bool thread_number(const char *s, size_t n, size_t *ret_from, size_t *ret_to)
{
	static const char word[] = "thread ";
	const char *at = memmem(s, n, word, sizeof(word) - 1);
	size_t from = at ? (size_t)(at - s) + sizeof(word) - 1 : n, to = from;

	while (to < n && s[to] >= '0' && s[to] <= '9')
		to++;
	*ret_from = from;
	*ret_to = to;
	return to > from;
}

/* The system numbers threads anew for each run: the outermost frame has no number. */
static uint32_t thread_below(struct growing *g, const char *s, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
	size_t from, to;

	if (!thread_number(s, n, &from, &to))
		return frame_below(g, 0, s, n);
	strbuf_add(&name, s, from - 1);
	strbuf_add(&name, s + to, n - to);
	return frame_below(g, 0, name.buf, name.len);
}

static void stack_add(struct growing *g, const char *s, size_t n, double value)
{
	uint32_t frame = 0, path[FLAME_DEPTH_MAX + 1];
	size_t depth = 0;
	bool cut = false;

	path[depth++] = 0;
	while (n && !cut) {
		const char *end = memchr(s, ';', n);
		size_t len = end ? (size_t)(end - s) : n;
		uint32_t below = depth == 1                ? thread_below(g, s, len)
				 : depth < FLAME_DEPTH_MAX ? frame_below(g, frame, s, len)
							   : frame;

		cut = below == frame;
		if (!cut)
			path[depth++] = frame = below;
		s += len + (end != NULL);
		n -= len + (end != NULL);
	}
	g->f->cut += cut;
	for (size_t i = 0; i < depth; i++)
		frame_add(g, path[i], value * g->part, i + 1 == depth);
}

static void line_add(struct growing *g, const char *s, size_t n)
{
	const char *blank;
	uint64_t value;

	if (n && s[n - 1] == '\r')
		n--;
	if (!n)
		return;
	blank = memrchr(s, ' ', n);
	if (!blank || num_u64(blank + 1, n - (size_t)(blank + 1 - s), &value) < 0) {
		g->f->bad++;
		return;
	}
	stack_add(g, s, (size_t)(blank - s), (double)value);
}

static bool file_add(struct growing *g, const char *dir, const char *name)
{
	CLEANUP(xfreep) char *folder = folded_dir(dir);
	CLEANUP(xfreep) char *path = xasprintf("%s/%s.folded", folder, name);
	struct input_map m = { 0 };
	struct err err = ERR_INIT;
	struct stat st;

	if (door_lstat(path, &st) < 0 && errno == ENOENT)
		return false;
	if (input_map(path, 0, &m, &err) < 0) {
		strvec_push(&g->f->problems, err.msg);
		return false;
	}
	for (const char *p = m.data, *end = m.data + m.len; p < end;) {
		const char *line = memchr(p, '\n', (size_t)(end - p));

		line = line ? line : end;
		line_add(g, p, (size_t)(line - p));
		p = line + 1;
	}
	input_unmap(&m);
	return true;
}

static bool file_there(const char *dir, const char *name)
{
	CLEANUP(xfreep) char *folder = folded_dir(dir);
	CLEANUP(xfreep) char *path = xasprintf("%s/%s.folded", folder, name);
	struct stat st;

	return door_lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool run_add(struct growing *g, const char *dir, const char *name, bool only_look)
{
	bool found;

	if (door_hold(dir, NULL) < 0)
		return false;
	found = only_look ? file_there(dir, name) : file_add(g, dir, name);
	door_let_go(dir);
	return found;
}

static size_t side_add(struct growing *g, const struct run_set *s, const char *name, bool b)
{
	size_t have = 0, read = 0;

	for (size_t i = 0; i < s->runs.nr; i++)
		have += run_add(g, s->runs.v[i].dir, name, true);
	g->b = b;
	g->part = have ? 1 / (double)have : 1;
	for (size_t i = 0; i < s->runs.nr; i++)
		read += run_add(g, s->runs.v[i].dir, name, false);
	return read;
}

/* ---- order ---- */

struct ordered {
	uint32_t frame, parent;
	double b, a;
	const char *name;
};

/* By parent; in it the widest first. */
static int by_width(const void *pa, const void *pb)
{
	const struct ordered *x = pa, *y = pb;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->b < y->b || x->b > y->b)
		return x->b > y->b ? -1 : 1;
	if (x->a < y->a || x->a > y->a)
		return x->a > y->a ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void frames_link(struct flame_diff *f)
{
	struct ordered *o = xcalloc(f->v.nr + 1, sizeof(*o));

	for (uint32_t i = 1; i < f->v.nr; i++)
		o[i - 1] = (struct ordered){ i, f->v.v[i].parent, f->v.v[i].b, f->v.v[i].a,
					     intern_str(f->texts, f->v.v[i].name) };
	if (f->v.nr > 2)
		qsort(o, f->v.nr - 1, sizeof(*o), by_width);
	for (size_t i = f->v.nr - 1; i-- > 0;) {
		struct flame_frame *parent = &f->v.v[o[i].parent];

		f->v.v[o[i].frame].next = parent->first;
		parent->first = o[i].frame;
	}
	free(o);
}

/* Parents stand in front of their frames. */
static void changes_add(struct flame_diff *f)
{
	for (size_t i = f->v.nr; i-- > 0;) {
		struct flame_frame *fr = &f->v.v[i];

		fr->change += fabs(fr->own_b - fr->own_a);
		if (fr->parent != FLAME_NONE)
			f->v.v[fr->parent].change += fr->change;
	}
}

void flame_diff_read(const struct run_set *a, const struct run_set *b, const char *name,
		     struct flame_diff *ret)
{
	struct growing g = { .f = ret, .at = U64MAP_INIT, .part = 1 };

	*ret = (struct flame_diff){ .texts = intern_new(), .problems = STRVEC_INIT };
	VEC_PUSH(&ret->v, ((struct flame_frame){ .name = intern_puts(ret->texts, "all"),
						 .parent = FLAME_NONE,
						 .first = FLAME_NONE,
						 .next = FLAME_NONE }));
	ret->files_a = side_add(&g, a, name, false);
	ret->files_b = side_add(&g, b, name, true);
	u64map_release(&g.at);
	if (!ret->files_a && !ret->files_b)
		ret->v.nr = 0;
	else
		frames_link(ret);
	changes_add(ret);
}
