/*
 * Ranks side by side, from the tables of the analyses before: where their devices' time went, how
 * long their iterations take, how long they wait; and which of them are unlike the others.
 */
#include "analyses_private.h"
#include "findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define RANKS(X) \
	X(I64, rank) X(F64, compute_ns) X(F64, exposed_comm_ns) X(F64, idle_ns) \
	X(F64, iteration_median_ns) X(F64, wait_ns) X(STR, outlier)
#define RANK_CLASSES(X) \
	X(STR, class) X(I64, ranks) X(F64, median_ns) X(F64, max_ns) X(F64, spread) X(I64, max_rank)
/* clang-format on */
TABLE_FORM(ranks, RANKS,
	   "one row per rank: where its time went, and what sets it apart from the others");
TABLE_FORM(rank_classes, RANK_CLASSES,
	   "one row per class of kernels: how far the time of ranks in it differs");

#define OUTLIER_MADS 3

/* What is compared, as the columns of the table. */
enum { COMPUTE, EXPOSED_COMM, IDLE, ITERATION, WAIT, FIGURES };
static const char *const figures[FIGURES] = { "compute_ns", "exposed_comm_ns", "idle_ns",
					      "iteration_median_ns", "wait_ns" };

struct rank_row {
	int32_t rank;
	double v[FIGURES]; /* NAN: not known */
	bool has_device;
};

struct ranking {
	struct model *m;
	const struct works *w;
	const struct table_set *out;
	VEC(struct rank_row) v; /* by rank */
	struct u64map at;       /* rank → index in v */
};

/* ---- which ranks there are ---- */

static int cmp_i32(const void *pa, const void *pb)
{
	int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;

	return (a > b) - (a < b);
}

/* Of tracks with calls or work, and of inputs that state theirs. */
static void ranks_find(struct ranking *rk)
{
	const struct model *m = rk->m;
	VEC(int32_t) ranks = VEC_INIT;

	for (size_t t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].rank >= 0 && m->tracks.v[t].spans)
			VEC_PUSH(&ranks, m->tracks.v[t].rank);
	for (size_t d = 0; d < rk->w->devices.nr; d++)
		if (rk->w->devices.v[d].rank >= 0)
			VEC_PUSH(&ranks, rk->w->devices.v[d].rank);
	for (size_t i = 0; i < m->facts.worlds.nr; i++)
		if (m->facts.worlds.v[i].rank >= 0 && m->facts.worlds.v[i].rank <= INT32_MAX)
			VEC_PUSH(&ranks, (int32_t)m->facts.worlds.v[i].rank);
	if (ranks.nr)
		qsort(ranks.v, ranks.nr, sizeof(*ranks.v), cmp_i32);
	for (size_t i = 0; i < ranks.nr; i++) {
		struct rank_row row = { .rank = ranks.v[i] };

		if (i && ranks.v[i] == ranks.v[i - 1])
			continue;
		for (int k = 0; k < FIGURES; k++)
			row.v[k] = NAN;
		*u64map_at(&rk->at, (uint64_t)row.rank) = (uint32_t)rk->v.nr;
		VEC_PUSH(&rk->v, row);
	}
	VEC_RELEASE(&ranks);
}

static struct rank_row *row_of_rank(struct ranking *rk, int64_t rank)
{
	uint32_t at = rank < 0 ? U64MAP_NONE : u64map_get(&rk->at, (uint64_t)rank);

	return at == U64MAP_NONE ? NULL : &rk->v.v[at];
}

static void figure_add(struct rank_row *r, int figure, double ns)
{
	r->v[figure] = (isnan(r->v[figure]) ? 0 : r->v[figure]) + ns;
}

/* ---- their figures ---- */

/* Rows of `overlap` are the devices of works, in their order. */
static void overlap_take(struct ranking *rk)
{
	const struct table *t = table_set_find(rk->out, "overlap");

	for (size_t d = 0; t && d < rk->w->devices.nr && d < table_rows(t); d++) {
		struct rank_row *r = row_of_rank(rk, rk->w->devices.v[d].rank);

		if (!r)
			continue;
		r->has_device = true;
		for (int k = COMPUTE; k <= IDLE; k++)
			figure_add(r, k, col_of(t, d, figures[k]));
	}
}

static void waits_take(struct ranking *rk)
{
	const struct table *t = table_set_find(rk->out, "collective_ranks");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *rank = text_of(t, i, "rank");
		struct rank_row *r;
		int64_t number;

		if (num_i64(rank, strlen(rank), &number) < 0)
			continue;
		r = row_of_rank(rk, number);
		if (r && !isnan(col_of(t, i, "wait_ns")))
			figure_add(r, WAIT, col_of(t, i, "wait_ns"));
	}
}

struct rank_time {
	int64_t rank, ns;
};

static int cmp_rank_time(const void *pa, const void *pb)
{
	const struct rank_time *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* room: for n values. */
static void median_put(struct ranking *rk, const struct rank_time *v, size_t n, int64_t *room)
{
	struct rank_row *r = row_of_rank(rk, v->rank);

	for (size_t i = 0; i < n; i++)
		room[i] = v[i].ns;
	if (r)
		r->v[ITERATION] = sorted_median(room, n);
}

/* Of the iterations behind the warm-up. */
static void iterations_take(struct ranking *rk, const struct iterations *it)
{
	VEC(struct rank_time) v = VEC_INIT;
	CLEANUP(xfreep) int64_t *room = xcalloc(it->v.nr + 1, sizeof(*room));

	for (size_t i = 0; i < it->v.nr; i++) {
		double rank = iteration_rank(rk->m, rk->w, &it->v.v[i]);

		if (it->v.v[i].steady && !isnan(rank))
			VEC_PUSH(&v,
				 ((struct rank_time){ (int64_t)rank, iteration_ns(&it->v.v[i]) }));
	}
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), cmp_rank_time);
	for (size_t i = 0, end; i < v.nr; i = end) {
		for (end = i + 1; end < v.nr && v.v[end].rank == v.v[i].rank; end++)
			;
		median_put(rk, &v.v[i], end - i, room);
	}
	VEC_RELEASE(&v);
}

/* ---- which are unlike the others ---- */

struct level {
	double median, mad;
};

static struct level level_of(const struct ranking *rk, int figure, double *room)
{
	struct level l;
	size_t n = 0;

	for (size_t i = 0; i < rk->v.nr; i++)
		if (!isnan(rk->v.v[i].v[figure]))
			room[n++] = rk->v.v[i].v[figure];
	l.median = median_f64(room, n);
	for (size_t i = 0; i < n; i++)
		room[i] = fabs(room[i] - l.median);
	l.mad = median_f64(room, n);
	return l;
}

static const char *outlier_text(const struct rank_row *r, const struct level *levels,
				struct strbuf *out)
{
	strbuf_clear(out);
	for (int k = 0; k < FIGURES; k++) {
		double off = r->v[k] - levels[k].median;

		if (fabs(off) > OUTLIER_MADS * levels[k].mad)
			strbuf_addf(out, "%s%s %s", out->len ? "|" : "", figures[k],
				    off > 0 ? "high" : "low");
	}
	return out->buf;
}

static void ranks_write(struct ranking *rk, struct table_set *out)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(xfreep) double *room = xcalloc(rk->v.nr + 1, sizeof(*room));
	struct table *t = table_make(&ranks_form);
	struct level levels[FIGURES];

	for (int k = 0; k < FIGURES; k++)
		levels[k] = level_of(rk, k, room);
	for (size_t i = 0; i < rk->v.nr; i++) {
		const struct rank_row *r = &rk->v.v[i];

		table_add(t, &(struct ranks_row){ r->rank, r->v[COMPUTE], r->v[EXPOSED_COMM],
						  r->v[IDLE], r->v[ITERATION], r->v[WAIT],
						  outlier_text(r, levels, &text) });
	}
	table_set_add(out, t);
}

/* ---- classes ---- */

struct class_time {
	const char *class;
	int32_t rank;
	double ns;
};

static int cmp_class_time(const void *pa, const void *pb)
{
	const struct class_time *a = pa, *b = pb;
	int by = strcmp(a->class, b->class);

	return by ? by : (a->rank > b->rank) - (a->rank < b->rank);
}

/* v: n rows of a class, by rank; all other ranks with a device have none of it. */
static void class_row(struct table *t, const struct class_time *v, size_t n, size_t with_device,
		      double *room)
{
	double max = -1, median;
	int32_t max_rank = RANK_NONE;
	size_t ranks = 0;

	memset(room, 0, with_device * sizeof(*room));
	for (size_t i = 0, end; i < n; i = end) {
		double ns = 0;

		for (end = i; end < n && v[end].rank == v[i].rank; end++)
			ns += v[end].ns;
		room[ranks++] = ns;
		max_rank = ns > max ? v[i].rank : max_rank;
		max = ns > max ? ns : max;
	}
	median = median_f64(room, with_device);
	table_add(t, &(struct rank_classes_row){ v->class, (int64_t)ranks, median, max,
						 median > 0 ? max / median : NAN, max_rank });
}

/* By device name: the rank, where all its work is one rank's. */
static void ranks_of_devices(const struct ranking *rk, struct u64map *ret)
{
	for (size_t d = 0; d < rk->w->devices.nr; d++)
		if (rk->w->devices.v[d].rank >= 0)
			*u64map_at(ret, rk->w->devices.v[d].name) =
				(uint32_t)rk->w->devices.v[d].rank;
}

static void classes_write(struct ranking *rk, struct table_set *out)
{
	const struct table *from = table_set_find(out, "kernel_classes");
	struct u64map ranks = U64MAP_INIT;
	VEC(struct class_time) v = VEC_INIT;
	CLEANUP(xfreep) double *room = xcalloc(rk->v.nr + 1, sizeof(*room));
	CLEANUP(table_freep) struct table *t = table_make(&rank_classes_form);
	size_t with_device = 0;

	for (size_t i = 0; i < rk->v.nr; i++)
		with_device += rk->v.v[i].has_device;
	ranks_of_devices(rk, &ranks);
	for (size_t i = 0; from && i < table_rows(from); i++) {
		const char *device = text_of(from, i, "device");
		uint32_t rank =
			u64map_get(&ranks, intern_find(rk->m->strings, device, strlen(device)));

		if (rank != U64MAP_NONE)
			VEC_PUSH(&v, ((struct class_time){ text_of(from, i, "class"), (int32_t)rank,
							   col_of(from, i, "total_ns") }));
	}
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), cmp_class_time);
	for (size_t i = 0, end; with_device > 1 && i < v.nr; i = end) {
		for (end = i + 1; end < v.nr && strcmp(v.v[end].class, v.v[i].class) == 0; end++)
			;
		class_row(t, &v.v[i], end - i, with_device, room);
	}
	if (table_rows(t))
		table_set_add(out, STEAL(t));
	u64map_release(&ranks);
	VEC_RELEASE(&v);
}

/* ---- which are missing ---- */

#define MISSING_SHOWN 16

static void stretch_add(struct strbuf *out, size_t number, int64_t first, int64_t last)
{
	if (number > MISSING_SHOWN + 1)
		return;
	if (number == MISSING_SHOWN + 1)
		strbuf_addstr(out, " …");
	else if (last > first)
		strbuf_addf(out, "%s%" PRId64 "-%" PRId64, out->len ? " " : "", first, last);
	else
		strbuf_addf(out, "%s%" PRId64, out->len ? " " : "", first);
}

/* Stretches of ranks below size that have no row. Returns how many ranks these are. */
static int64_t missing_text(const struct ranking *rk, int64_t size, struct strbuf *out)
{
	int64_t next = 0, missing = 0;
	size_t stretches = 0;

	for (size_t i = 0; i <= rk->v.nr && next < size; i++) {
		int64_t rank = i < rk->v.nr && rk->v.v[i].rank < size ? rk->v.v[i].rank : size;

		if (rank > next) {
			missing += rank - next;
			stretches++;
			stretch_add(out, stretches, next, rank - 1);
		}
		next = rank + 1;
	}
	return missing;
}

static void missing_note(const struct ranking *rk)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int64_t size = 0, missing;

	for (size_t i = 0; i < rk->m->facts.worlds.nr; i++)
		if (rk->m->facts.worlds.v[i].size > size)
			size = rk->m->facts.worlds.v[i].size;
	missing = missing_text(rk, size, &text);
	if (missing)
		model_warn(rk->m, UINT32_MAX, W_MISSING_RANKS, (uint64_t)missing,
			   "%" PRId64 " of %" PRId64 " ranks of the job are in no input: %s",
			   missing, size, text.buf);
}

static int ranks_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		     struct err *err)
{
	struct ranking rk = { .m = m, .w = analysis_works(m, o), .out = out, .at = U64MAP_INIT };
	const struct iterations *it;
	int r = analysis_iterations(m, o, &it, err);

	if (r < 0)
		return r;
	ranks_find(&rk);
	if (rk.v.nr == 0) {
		r = table_set_skip(out, "ranks", "the inputs name no ranks");
	} else {
		overlap_take(&rk);
		waits_take(&rk);
		iterations_take(&rk, it);
		ranks_write(&rk, out);
		classes_write(&rk, out);
		missing_note(&rk);
	}
	VEC_RELEASE(&rk.v);
	u64map_release(&rk.at);
	return r;
}

const struct analysis analysis_ranks = {
	.name = "ranks",
	.about = "ranks side by side: their time, iterations and waits, outliers, missing ranks",
	.tables = { &ranks_form, &rank_classes_form },
	.run = ranks_run,
	.needs_calls = true,
	.after = { "overlap", "collectives", "kernel_classes" },
};
