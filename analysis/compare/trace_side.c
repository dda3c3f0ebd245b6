#include "trace_side.h"
#include "figures_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/csv_scan.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/scan/input.h"

#define ITERATIONS_MAX ((size_t)1 << 22)
#define PRECISIONS_MAX 256           /* there are some ten; each is compared with each */
#define WHOLE_MAX 9007199254740992.0 /* 2^53: figures are doubles */

#define COUNT "count"
#define TIME "time"
#define WORKS "works"

/* Which table a list of totals comes from; two rows of one list add up. */
static const struct list_source {
	size_t list; /* TRACE_KINDS: precisions; TRACE_PATH: paths */
	struct figure_source of;
} sources[] = {
	{ TRACE_KERNEL,
	  { .file = "kernels",
	    .keys = { "name" },
	    .where = "kind",
	    .is = "kernel",
	    .lack = LACK_ALL,
	    .values = { { COUNT, "calls", "", FIGURE_NONE },
			{ TIME, "total_ns", "ns", FIGURE_LOWER } } } },
	{ TRACE_CPU_OP,
	  { .file = "functions",
	    .keys = { "name" },
	    .where = "category",
	    .is = "cpu_op",
	    .or_is = "Operator",
	    .lack = LACK_NONE,
	    .values = { { COUNT, "calls", "", FIGURE_NONE },
			{ TIME, "exclusive_ns", "ns", FIGURE_LOWER } } } },
	{ TRACE_OPERATOR,
	  { .file = "operators",
	    .keys = { "name", "shapes", "types" },
	    .form = KEY_LIST,
	    .lack = LACK_NONE,
	    .values = { { COUNT, "calls", "", FIGURE_NONE },
			{ TIME, "own_ns", "ns", FIGURE_LOWER },
			{ WORKS, "works", "", FIGURE_NONE } } } },
	{ TRACE_PATH,
	  { .file = "callpaths",
	    .keys = { "path" },
	    .lack = LACK_NONE,
	    .values = { { COUNT, "calls", "", FIGURE_NONE },
			{ TIME, "exclusive_ns", "ns", FIGURE_LOWER },
			{ WORKS, "device_exclusive_ns", "ns", FIGURE_LOWER } } } },
	{ TRACE_KINDS,
	  { .file = "perf",
	    .keys = { "precision" },
	    .form = KEY_LIST,
	    .lack = LACK_NONE,
	    .values = { { TIME, "total_ns", "ns", FIGURE_LOWER } } } },
};

void trace_side_release(struct trace_side *s)
{
	for (size_t i = 0; i < TRACE_KINDS; i++)
		VEC_RELEASE(&s->totals[i]);
	VEC_RELEASE(&s->precisions);
	VEC_RELEASE(&s->iterations);
	path_tree_release(&s->paths);
}

/* ---- totals ---- */

static int64_t whole(double v)
{
	return v > 0 ? (int64_t)fmin(v, WHOLE_MAX) : 0;
}

/* Figures of one table as totals: one for each key. */
struct gathered {
	VEC(struct gathered_name {
		const char *name;
		double count, time, works;
	}) v;
	struct u64map at;
};

static void figure_gather(struct gathered *g, const struct figure *f)
{
	uint32_t *at = u64map_at(&g->at, f->key_id);
	struct gathered_name *n;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)g->v.nr;
		VEC_PUSH(&g->v, ((struct gathered_name){ .name = f->key }));
	}
	n = &g->v.v[*at];
	if (strcmp(f->name, COUNT) == 0)
		n->count = f->value;
	else if (strcmp(f->name, TIME) == 0)
		n->time = f->value;
	else
		n->works = f->value;
}

/* In their table time is the host's, and works are the device's time. */
static void paths_add(const struct gathered *g, struct intern *texts, struct trace_side *to)
{
	for (size_t i = 0; i < g->v.nr; i++) {
		const struct gathered_name *n = &g->v.v[i];

		path_tree_add(&to->paths, texts, n->name, strlen(n->name),
			      (uint64_t)whole(n->count), whole(n->time), whole(n->works));
	}
}

static void gathered_put(const struct gathered *g, size_t list, struct trace_side *to)
{
	for (size_t i = 0; i < g->v.nr; i++) {
		const struct gathered_name *n = &g->v.v[i];
		struct trace_total t = {
			n->name,
			(uint64_t)whole(n->count > 0 ? n->count : n->works),
			whole(n->time),
		};

		if (list < TRACE_KINDS)
			VEC_PUSH(&to->totals[list], t);
		else if (to->precisions.nr < PRECISIONS_MAX)
			VEC_PUSH(&to->precisions, t);
	}
}

static void totals_read(const char *tables, const struct list_source *s, struct intern *texts,
			struct strvec *problems, struct trace_side *to)
{
	const struct strvec all = { (char *[]){ (char[]){ "all" }, NULL }, 1, 0 };
	CLEANUP(figures_release) struct figures f = FIGURES_INIT;
	struct gathered g = { .v = VEC_INIT, .at = U64MAP_INIT };

	f.texts = texts;
	figure_source_read(&s->of, tables, &all, &f);
	for (size_t i = 0; i < f.v.nr; i++)
		figure_gather(&g, &f.v.v[i]);
	if (s->list == TRACE_PATH)
		paths_add(&g, texts, to);
	else
		gathered_put(&g, s->list, to);
	for (size_t i = 0; i < f.problems.nr; i++)
		if (!strvec_has(problems, f.problems.v[i]))
			strvec_push(problems, f.problems.v[i]);
	VEC_RELEASE(&g.v);
	u64map_release(&g.at);
}

/* ---- iterations ---- */

enum column { MARKER, INDEX, STEADY, SPAN, DUR, IT_WORKS, COLUMNS };

struct iterations_reading {
	struct trace_side *to;
	struct intern *texts;
	struct strbuf text;
	uint32_t run;
	size_t at[COLUMNS]; /* SIZE_MAX: the table lacks it */
	struct u64map seen; /* unit and index */
};

/* "ProfilerStep#12" → "ProfilerStep#" */
static str_id unit_of(struct iterations_reading *rd, struct csv_text marker)
{
	CLEANUP(strbuf_release) struct strbuf unquoted = STRBUF_INIT;

	marker = csv_unquote(marker, &unquoted);
	strbuf_clear(&rd->text);
	for (size_t i = 0; i < marker.n; i++)
		if (marker.p[i] < '0' || marker.p[i] > '9')
			strbuf_addch(&rd->text, marker.p[i]);
	return intern_put(rd->texts, rd->text.buf, rd->text.len);
}

static bool columns_find(struct iterations_reading *rd, const struct csv_record *r)
{
	static const char *const names[COLUMNS] = { "marker",         "index",  "steady",
						    "device_span_ns", "dur_ns", "works" };

	for (size_t c = 0; c < COLUMNS; c++) {
		rd->at[c] = SIZE_MAX;
		for (size_t i = 0; i < r->nr && rd->at[c] == SIZE_MAX; i++)
			if (csv_text_is(csv_field(r, i), names[c]))
				rd->at[c] = i;
	}
	return rd->at[MARKER] != SIZE_MAX && rd->at[INDEX] != SIZE_MAX &&
	       rd->at[STEADY] != SIZE_MAX;
}

static double number_of(const struct iterations_reading *rd, const struct csv_record *r,
			enum column c)
{
	struct csv_text t = { NULL, 0 };
	double v;

	if (rd->at[c] < r->nr)
		t = csv_field(r, rd->at[c]);
	return t.n && num_f64(t.p, t.n, &v) == 0 && isfinite(v) && v >= 0 ? v : NAN;
}

static void slowest_keep(struct trace_iteration *to, const struct trace_iteration *it)
{
	to->time_ns = fmax(to->time_ns, it->time_ns);
	to->host_ns = fmax(to->host_ns, it->host_ns);
	to->works = fmax(to->works, it->works);
}

static void iteration_take(struct iterations_reading *rd, const struct csv_record *r)
{
	struct trace_iteration it = { .run = rd->run, .index = 0 };
	struct csv_text index;
	str_id unit;
	uint32_t *at;

	if (r->nr <= rd->at[MARKER] || r->nr <= rd->at[INDEX] || r->nr <= rd->at[STEADY])
		return;
	index = csv_field(r, rd->at[INDEX]);
	if (!csv_text_is(csv_field(r, rd->at[STEADY]), "yes") ||
	    num_i64(index.p, index.n, &it.index) < 0 || it.index < 0 || it.index > UINT32_MAX ||
	    rd->to->iterations.nr >= ITERATIONS_MAX)
		return;
	unit = unit_of(rd, csv_field(r, rd->at[MARKER]));
	it.unit = intern_str(rd->texts, unit);
	it.time_ns = number_of(rd, r, SPAN);
	it.host_ns = number_of(rd, r, DUR);
	if (!(it.time_ns > 0))
		it.time_ns = it.host_ns;
	it.works = number_of(rd, r, IT_WORKS);
	at = u64map_at(&rd->seen, u64map_pair(unit, (uint32_t)it.index));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)rd->to->iterations.nr;
		VEC_PUSH(&rd->to->iterations, it);
	} else {
		slowest_keep(&rd->to->iterations.v[*at], &it);
	}
}

static void iterations_scan(struct iterations_reading *rd, const struct input_map *m)
{
	struct csv_scan scan;
	struct csv_record r;
	bool begun = false;

	csv_scan_init(&scan, m->data, m->len);
	while (csv_scan_next(&scan, &r) > 0 && !r.broken) {
		if (begun)
			iteration_take(rd, &r);
		else if (!columns_find(rd, &r))
			break;
		begun = true;
	}
	csv_scan_release(&scan);
}

static void iterations_read(const char *tables, uint32_t run, struct intern *texts,
			    struct strvec *problems, struct trace_side *to)
{
	CLEANUP(xfreep) char *path = fs_join(tables, "iterations.csv");
	struct iterations_reading rd = {
		.to = to, .texts = texts, .text = STRBUF_INIT, .run = run, .seen = U64MAP_INIT
	};
	struct input_map m = { 0 };
	struct err err = ERR_INIT;
	struct stat st;

	if (door_lstat(path, &st) < 0 && errno == ENOENT)
		return;
	if (input_map(path, 0, &m, &err) < 0) {
		strvec_push(problems, err.msg);
		return;
	}
	iterations_scan(&rd, &m);
	input_unmap(&m);
	strbuf_release(&rd.text);
	u64map_release(&rd.seen);
}

/* ---- a side ---- */

static int run_read(const char *dir, uint32_t run, struct intern *texts, struct strvec *problems,
		    struct trace_side *to, struct err *err)
{
	CLEANUP(xfreep) char *document = fs_join(dir, "run.json");
	CLEANUP(xfreep) char *tables = NULL;
	struct stat st;
	int r = door_hold(dir, err);

	if (r < 0)
		return r;
	tables = fs_join(dir, door_lstat(document, &st) < 0 && errno == ENOENT ? "tables"
									       : "analysis/tables");
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		totals_read(tables, &sources[i], texts, problems, to);
	iterations_read(tables, run, texts, problems, to);
	door_let_go(dir);
	return 0;
}

int trace_side_read(const struct run_set *s, size_t runs, struct intern *texts,
		    struct strvec *problems, struct trace_side *ret, struct err *err)
{
	int r = 0;

	*ret = (struct trace_side){ .precisions = VEC_INIT };
	for (size_t i = 0; i < runs && r == 0; i++)
		r = run_read(s->runs.v[i].dir, (uint32_t)i, texts, problems, ret, err);
	return r;
}

/* ---- paths ---- */

static void paths_put(struct trace_side *s, const struct path_tree *other, struct intern *texts)
{
	for (uint32_t i = 1; i < s->paths.v.nr; i++) {
		const struct path_node *n = &s->paths.v.v[i];
		const char *name;

		if (!n->calls)
			continue;
		name = path_text(&s->paths, i, other, texts);
		VEC_PUSH(&s->totals[TRACE_PATH],
			 ((struct trace_total){ name, n->calls, n->host_ns }));
		if (n->device_ns)
			VEC_PUSH(&s->totals[TRACE_DEVICE_PATH],
				 ((struct trace_total){ name, n->calls, n->device_ns }));
	}
}

void trace_paths_put(struct trace_side *a, struct trace_side *b, struct intern *texts)
{
	path_trees_match(&a->paths, &b->paths);
	paths_put(a, &b->paths, texts);
	paths_put(b, NULL, texts);
}
