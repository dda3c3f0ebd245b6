/*
 * energy_ranks: what each function costs on each rank: the rows of `energy`, view `host`, of the
 * threads of a rank added up. A function that draws more power, or takes longer, on one rank than
 * on the others stands out.
 */
#include "analyses_private.h"
#include "ns.h"
#include "track_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/sum.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* clang-format off */
#define ENERGY_RANKS(X) \
	X(STR, counter) X(STR, device) X(STR, name) X(I64, rank) X(I64, calls) \
	X(F64, exclusive_j) X(I64, exclusive_ns) X(F64, mean_w) X(F64, uncertainty_j)
/* clang-format on */
TABLE_FORM(energy_ranks, ENERGY_RANKS,
	   "one row per counter, function and rank: energy and power of its calls on the rank");

/* Of a function on a rank. */
struct cell {
	uint32_t function;
	int32_t rank;
	int64_t calls, ns;
	struct sum j, width_j;
	bool known, widths; /* some are */
};

/* A function of a counter. */
struct function {
	size_t row;      /* of `energy`, the first one */
	uint32_t series; /* number of its counter and device, in the order of `energy` */
	double j;        /* over all ranks */
};

struct pivot {
	const struct model *m;
	const struct table *energy;
	size_t counter, device, view, track, name, calls, own_j, ns, width_j; /* columns */
	struct intern *texts;
	struct u64map rank_of;     /* by a track's name, rank + 1 */
	struct u64map series, ids; /* counter and device; that and a name → function */
	struct u64map at;          /* function and rank → cell */
	VEC(struct function) functions;
	VEC(struct cell) cells;
};

static const char *text_at(const struct pivot *p, size_t row, size_t column)
{
	return table_get_str(p->energy, row, column);
}

static str_id text_id(struct pivot *p, size_t row, size_t column)
{
	return intern_puts(p->texts, text_at(p, row, column));
}

static void ranks_take(struct pivot *p)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	track_names(p->m, &names);
	for (track_id t = 0; t < p->m->tracks.nr; t++) {
		int32_t rank = p->m->tracks.v[t].rank;
		track_id process = model_process_of(p->m, t);

		if (rank == RANK_NONE && process != TRACK_NONE)
			rank = p->m->tracks.v[process].rank;
		if (p->m->tracks.v[t].kind == TRACK_THREAD && rank != RANK_NONE &&
		    model_has_calls(&p->m->tracks.v[t]))
			*u64map_at(&p->rank_of, intern_puts(p->texts, names.v[t])) = (uint32_t)rank;
	}
}

static uint32_t number_of(struct u64map *map, uint64_t key, size_t next)
{
	uint32_t *at = u64map_at(map, key);

	if (*at == U64MAP_NONE)
		*at = (uint32_t)next;
	return *at;
}

static struct cell *cell_of(struct pivot *p, size_t row, uint32_t rank)
{
	uint32_t series = number_of(
		&p->series, u64map_pair(text_id(p, row, p->counter), text_id(p, row, p->device)),
		p->series.nr);
	uint32_t function =
		number_of(&p->ids, u64map_pair(series, text_id(p, row, p->name)), p->functions.nr);
	uint32_t at;

	if (function == p->functions.nr)
		VEC_PUSH(&p->functions, ((struct function){ row, series, 0 }));
	at = number_of(&p->at, u64map_pair(function, rank), p->cells.nr);
	if (at == p->cells.nr)
		VEC_PUSH(&p->cells, ((struct cell){ .function = function,
						    .rank = (int32_t)rank,
						    .j = SUM_INIT,
						    .width_j = SUM_INIT }));
	return &p->cells.v[at];
}

static void row_take(struct pivot *p, size_t row)
{
	uint32_t rank = u64map_get(&p->rank_of, text_id(p, row, p->track));
	double j = table_get_f64(p->energy, row, p->own_j);
	double width_j = table_get_f64(p->energy, row, p->width_j);
	struct cell *c;

	if (strcmp(text_at(p, row, p->view), "host") != 0 || rank == U64MAP_NONE)
		return;
	c = cell_of(p, row, rank);
	c->calls = ns_add(c->calls, (int64_t)table_get_f64(p->energy, row, p->calls));
	c->ns = ns_add(c->ns, (int64_t)table_get_f64(p->energy, row, p->ns));
	if (!isnan(j)) {
		sum_add(&c->j, j);
		c->known = true;
		p->functions.v[c->function].j += j;
	}
	if (!isnan(width_j)) {
		sum_add(&c->width_j, width_j);
		c->widths = true;
	}
}

static int cmp_cell(const void *pa, const void *pb, void *ctx)
{
	const struct pivot *p = ctx;
	const struct cell *a = pa, *b = pb;
	const struct function *x = &p->functions.v[a->function], *y = &p->functions.v[b->function];

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->j != y->j)
		return x->j > y->j ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static struct table *cells_table(struct pivot *p)
{
	struct table *t = table_make(&energy_ranks_form);

	qsort_r(p->cells.v, p->cells.nr, sizeof(*p->cells.v), cmp_cell, p);
	for (size_t i = 0; i < p->cells.nr; i++) {
		const struct cell *c = &p->cells.v[i];
		size_t row = p->functions.v[c->function].row;
		double j = c->known ? sum_value(&c->j) : NAN;

		table_add(t, &(struct energy_ranks_row){
				     text_at(p, row, p->counter), text_at(p, row, p->device),
				     text_at(p, row, p->name), c->rank, c->calls, j, c->ns,
				     c->ns > 0 ? j / ((double)c->ns * 1e-9) : NAN,
				     c->widths ? sum_value(&c->width_j) : NAN });
	}
	return t;
}

static void pivot_release(struct pivot *p)
{
	intern_free(p->texts);
	u64map_release(&p->rank_of);
	u64map_release(&p->series);
	u64map_release(&p->ids);
	u64map_release(&p->at);
	VEC_RELEASE(&p->functions);
	VEC_RELEASE(&p->cells);
}

static size_t column(const struct table *t, const char *name)
{
	return (size_t)table_find_col(t, name);
}

static int energy_ranks_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			    struct err *err)
{
	const struct table *e = table_set_find(out, "energy");
	CLEANUP(pivot_release) struct pivot p = { .m = m, .energy = e };

	(void)o;
	(void)err;
	if (!e)
		return table_set_skip(out, "energy_ranks", "needs the table 'energy'");
	p.texts = intern_new();
	p.counter = column(e, "counter");
	p.device = column(e, "device");
	p.view = column(e, "view");
	p.track = column(e, "track");
	p.name = column(e, "name");
	p.calls = column(e, "calls");
	p.own_j = column(e, "exclusive_j");
	p.ns = column(e, "exclusive_ns");
	p.width_j = column(e, "uncertainty_j");
	ranks_take(&p);
	for (size_t i = 0; i < table_rows(e); i++)
		row_take(&p, i);
	if (p.cells.nr == 0)
		return table_set_skip(out, "energy_ranks",
				      "no thread with energy has a known rank");
	table_set_add(out, cells_table(&p));
	return 0;
}

const struct analysis analysis_energy_ranks = {
	.name = "energy_ranks",
	.about = "energy and power of each function on each rank",
	.tables = { &energy_ranks_form },
	.run = energy_ranks_run,
	.series_only = true,
	.after = { "energy" },
};
