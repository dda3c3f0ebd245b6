#include "profrig/cost/ideal_cycles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_scan.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

static const char table_begin[] = " Ideal/Total Cycles ";
static const char table_end[] = "====== Perf Summary End ======";
#define KERNEL_JSON_MAX ((size_t)1 << 20)

struct ideal_cycles *ideal_cycles_new(void)
{
	return xcalloc(1, sizeof(struct ideal_cycles));
}

static void table_release(struct ideal_table *t)
{
	for (size_t i = 0; i < t->rows.nr; i++) {
		free(t->rows.v[i].kernel);
		free(t->rows.v[i].category);
	}
	VEC_RELEASE(&t->rows);
	u64map_release(&t->at);
	free(t->source);
}

void ideal_cycles_free(struct ideal_cycles *ic)
{
	if (!ic)
		return;
	for (size_t i = 0; i < ic->tables.nr; i++)
		table_release(&ic->tables.v[i]);
	VEC_RELEASE(&ic->tables);
	free(ic);
}

static uint64_t key_of(const char *kernel, size_t n)
{
	uint64_t h = XXH3_64bits(kernel, n);

	return h ? h : 1;
}

const struct ideal_row *ideal_row_find(const struct ideal_table *t, const char *kernel)
{
	uint32_t at = u64map_get(&t->at, key_of(kernel, strlen(kernel)));

	return at != U64MAP_NONE && strcmp(t->rows.v[at].kernel, kernel) == 0 ? &t->rows.v[at]
									      : NULL;
}

/* A row; of two of one name the first is found. */
static void row_add(struct ideal_table *t, const char *kernel, size_t n, const char *category,
		    size_t category_n, int64_t cycles)
{
	uint32_t *at = u64map_at(&t->at, key_of(kernel, n));

	if (*at == U64MAP_NONE)
		*at = (uint32_t)t->rows.nr;
	VEC_PUSH(&t->rows,
		 (struct ideal_row){ xstrndup(kernel, n),
				     category_n ? xstrndup(category, category_n) : xstrdup("other"),
				     cycles });
	t->total += cycles;
}

/* ---- the log ---- */

struct log {
	struct ideal_cycles *ic;
	const char *name;
	size_t line;
	const char *phase;
	bool inside;
};

static bool has(const char *p, size_t n, const char *word)
{
	return memmem(p, n, word, strlen(word)) != NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Rules, heads and sums between the rows. */
static bool is_frame(const char *p, size_t n)
{
	static const char *const heads[] = { "Name", "Total" };

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		size_t k = strlen(heads[i]);

		if (n > k && memcmp(p, heads[i], k) == 0 && is_blank(p[k]))
			return true;
	}
	return n == 0 || strspn(p, "-=~") >= n;
}

static int row_take(struct log *l, const char *p, size_t n, struct err *err)
{
	struct ideal_table *t = &l->ic->tables.v[l->ic->tables.nr - 1];
	const char *end = p + n, *number = end, *category;
	size_t name = 0;
	int64_t cycles;

	while (name < n && !is_blank(p[name]))
		name++;
	while (number > p && !is_blank(number[-1]))
		number--;
	if (num_i64(number, (size_t)(end - number), &cycles) < 0 || number <= p + name ||
	    cycles < 0 || cycles > IDEAL_CYCLES_MAX)
		return err_set(err, EINVAL, "%s:%zu: '%.*s' is no kernel with its ideal cycles",
			       l->name, l->line, (int)(n < 80 ? n : 80), p);
	if (has(p, name, "Precompute") || has(p, name, "-LxPreload"))
		return 0;
	category = memmem(p, name, "-opCat", 6);
	if (category)
		row_add(t, p, (size_t)(category - p), category + 6,
			(size_t)(p + name - category - 6), cycles);
	else if ((category = memmem(p, name, "-NA", 3)) != NULL)
		row_add(t, p, (size_t)(category - p), "", 0, cycles);
	else
		row_add(t, p, name, "", 0, cycles);
	return 0;
}

static int line_take(struct log *l, const char *p, size_t n, struct err *err)
{
	if (has(p, n, table_begin)) {
		struct ideal_table t = { .phase = l->phase,
					 .source = xasprintf("%s:%zu", l->name, l->line) };

		VEC_PUSH(&l->ic->tables, t);
		l->inside = true;
		return 0;
	}
	if (has(p, n, table_end)) {
		l->inside = false;
		return 0;
	}
	if (!l->inside) {
		l->phase = has(p, n, "DECODING") ? "ITL" : has(p, n, "PREFILL") ? "TTFT" : l->phase;
		return 0;
	}
	for (; n > 0 && is_blank(*p); p++)
		n--;
	while (n > 0 && is_blank(p[n - 1]))
		n--;
	return is_frame(p, n) ? 0 : row_take(l, p, n, err);
}

/* Forgets the tables of an input that was not read whole. */
static void tables_cut(struct ideal_cycles *ic, size_t nr)
{
	while (ic->tables.nr > nr)
		table_release(&ic->tables.v[--ic->tables.nr]);
}

int ideal_cycles_read_text(struct ideal_cycles *ic, const char *text, size_t n, const char *name,
			   struct err *err)
{
	struct log l = { .ic = ic, .name = name, .phase = "" };
	const char *p = text, *end = text + n;
	size_t before = ic->tables.nr, rows = 0;
	int r = 0;

	while (p < end && r == 0) {
		const char *to = memchr(p, '\n', (size_t)(end - p));

		l.line++;
		r = line_take(&l, p, (size_t)((to ? to : end) - p), err);
		p = to ? to + 1 : end;
	}
	for (size_t i = before; i < ic->tables.nr; i++)
		rows += ic->tables.v[i].rows.nr;
	if (r == 0 && rows == 0)
		r = err_set(err, EINVAL, "%s: has no table of ideal cycles (no line '%s')", name,
			    table_begin);
	if (r < 0)
		tables_cut(ic, before);
	return r;
}

/* ---- the folder ---- */

#define JSON_ROOM 64

struct kernel_json {
	struct json_text cycles, category;
};

static int kernel_read(struct ideal_table *t, const char *dir, const char *rel, struct err *err)
{
	static const struct json_known fields[] = {
		JSON_INTO("ideal_cycles", json_take_text, struct kernel_json, cycles),
		JSON_INTO("op_category", json_take_text, struct kernel_json, category),
	};
	CLEANUP(xfreep) char *path = fs_join(dir, rel), *text = NULL;
	CLEANUP(strbuf_release) struct strbuf category = STRBUF_INIT;
	struct kernel_json k = { .cycles = { .p = NULL } };
	const char *name = rel + strlen("inductor-spyre/");
	struct json_cur c;
	int64_t cycles;
	size_t n;
	int r = fs_read(path, KERNEL_JSON_MAX, &text, &n, err);

	if (r < 0)
		return r;
	/* json_scan.h wants readable bytes behind the text */
	text = xrealloc(text, n + JSON_ROOM);
	memset(text + n, 0, JSON_ROOM);
	c = (struct json_cur){ text, text + n };
	if (json_peek(&c) != '{' || json_members(&c, fields, 2, &k) < 0 || !k.cycles.p ||
	    num_i64(k.cycles.p, k.cycles.n, &cycles) < 0 || cycles < 0 || cycles > IDEAL_CYCLES_MAX)
		return err_set(err, EINVAL, "%s: is no object with a number 'ideal_cycles'", path);
	if (k.category.p)
		json_decode(&k.category, &category);
	row_add(t, name, (size_t)(strchr(name, '/') - name), category.buf ? category.buf : "",
		category.len, cycles);
	return 0;
}

static int folder_read(struct ideal_cycles *ic, const char *dir, struct err *err)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	struct ideal_table t = { .phase = "", .source = xstrdup(dir) };
	int r = fs_glob(dir, "inductor-spyre/*/perf/ideal_cycles.json", &files, err);

	for (size_t i = 0; i < files.nr && r >= 0; i++)
		r = kernel_read(&t, dir, files.v[i], err);
	if (r >= 0 && t.rows.nr == 0)
		r = err_set(err, EINVAL,
			    "%s: has no inductor-spyre/<kernel>/perf/ideal_cycles.json", dir);
	if (r < 0)
		table_release(&t);
	else
		VEC_PUSH(&ic->tables, t);
	return r < 0 ? r : 0;
}

int ideal_cycles_read(struct ideal_cycles *ic, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	int r;

	if (fs_is_dir(path))
		return folder_read(ic, path, err);
	r = fs_read(path, IDEAL_FILE_MAX, &text, &n, err);
	return r < 0 ? r : ideal_cycles_read_text(ic, text, n, path, err);
}
