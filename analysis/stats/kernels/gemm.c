/*
 * Products of matrices by kernel: the fields of its name, and how well its tiles fill the device.
 * A block computes one tile, and one block is assumed to run on each unit at a time:
 *
 *	tiles = ⌈M/tM⌉·⌈N/tN⌉·batch	waves = ⌈tiles/units⌉
 *	wave efficiency = tiles/(waves·units)	tile efficiency = M·N·batch/(tiles·tM·tN)
 *
 * Over several calls: sums above and below the line; waves is the mean. Sizes are those of the
 * innermost operator with operands around the launch (cost/operator_cost.h).
 */
#include "analyses_private.h"
#include "ns.h"

#include <math.h>
#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/cost/operator_cost.h"
#include "profrig/model/facts.h"
#include "profrig/names/kernel_name.h"

/* clang-format off */
#define GEMM(X) \
	X(STR, name) X(STR, lib) X(STR, op) X(STR, in) X(STR, acc) X(F64, tile_m) X(F64, tile_n) \
	X(F64, tile_k) X(STR, layout) X(F64, waves) X(F64, wave_efficiency) \
	X(F64, tile_efficiency) X(I64, calls) X(I64, total_ns) X(STR, out) X(STR, path) \
	X(F64, stages) X(STR, split) X(F64, align) X(STR, arch) X(I64, shaped_calls)
/* clang-format on */
TABLE_FORM(gemm, GEMM, "one row per kernel that multiplies matrices");

struct gemm {
	str_id name;
	struct kernel_name k;
	int64_t calls, total_ns;
	/* of calls whose sizes and units are known */
	int64_t shaped;
	double tiles, waves, slots, result, computed;
};

struct gemms {
	const struct works *w;
	struct u64map of_name; /* U64MAP_NONE - 1: no product */
	VEC(struct gemm) v;
	VEC(int64_t) units; /* by device; 0 unknown, -1 not looked up */
	/* by name and operands of an operator: its product */
	struct u64map of_operator;
	VEC(struct op_product) products;
	size_t near; /* row of facts.ops that was looked at last */
};
#define NO_PRODUCT (U64MAP_NONE - 1)

static bool is_product(const struct kernel_name *k)
{
	return k->op && strncmp(k->op, "gem", 3) == 0;
}

/*
 * Of the devices that an input describes, when they all agree: ROCm numbers the devices of a
 * machine in works, those that the process sees in descriptions. FACT_ABSENT.
 */
static int64_t units_common(const struct model *m, input_id input)
{
	int64_t units = FACT_ABSENT;

	for (size_t i = 0; i < m->facts.devices.nr; i++) {
		const struct device_facts *d = &m->facts.devices.v[i];

		if (d->input != input)
			continue;
		if (d->units == FACT_ABSENT || (units != FACT_ABSENT && units != d->units))
			return FACT_ABSENT;
		units = d->units;
	}
	return units;
}

static int64_t units_of(struct gemms *g, const struct work *w)
{
	int64_t *units = &g->units.v[w->device];

	if (*units < 0) {
		const struct device_facts *d =
			analysis_device_facts(g->w, &g->w->devices.v[w->device]);

		*units = d ? d->units : units_common(g->w->m, span_input(&g->w->m->spans, w->span));
		if (*units <= 0 || *units >= KERNEL_NUMBER_MAX)
			*units = 0;
	}
	return *units;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

/* ---- sizes ---- */

#define SIZE_MOST (INT64_C(1) << 31)
#define LEVELS_MOST 64 /* between a launch and its operator */

static bool sizes_fit(const struct op_product *p)
{
	return p->m > 0 && p->n > 0 && p->k > 0 && p->batch > 0 && p->m < SIZE_MOST &&
	       p->n < SIZE_MOST && p->batch < (amount)SIZE_MOST;
}

/* batch 0: it is none, or its sizes do not fit together. */
static struct op_product product_of(struct gemms *g, str_id name, uint32_t list)
{
	const struct model *m = g->w->m;
	uint32_t *at = u64map_at(&g->of_operator, u64map_pair(name, list));

	if (*at == U64MAP_NONE) {
		const struct op_model *om = op_model_find(model_str(m, name));
		struct op_product p = { .batch = 0 };

		if (om)
			p = op_cost(om, &m->facts, m->strings, list).product;
		*at = (uint32_t)g->products.nr;
		VEC_PUSH(&g->products, p);
	}
	return g->products.v[*at];
}

/* As facts_op; works and what is around their launches come mostly in order. */
static const struct op_facts *op_near(struct gemms *g, uint64_t span)
{
	const struct facts *f = &g->w->m->facts;

	g->near = NEAR_BOUND(at, g->near, f->ops.nr, f->ops.v[at].span < span);
	return g->near < f->ops.nr && f->ops.v[g->near].span == span ? &f->ops.v[g->near] : NULL;
}

/* Of the innermost operator with operands around a call; false: that one is no product. */
static bool product_around(struct gemms *g, uint64_t call, struct op_product *ret)
{
	const struct model *m = g->w->m;
	uint64_t s = call;

	for (unsigned up = 0; s != SPAN_NONE && up < LEVELS_MOST;
	     up++, s = span_parent(&m->spans, s)) {
		const struct op_facts *op = op_near(g, s);

		if (op && op->operands < m->facts.lists.nr) {
			*ret = product_of(g, m->spans.name[s], op->operands);
			return sizes_fit(ret);
		}
	}
	return false;
}

static void shape_add(struct gemms *g, struct gemm *ge, const struct work *w)
{
	int64_t units = units_of(g, w);
	struct op_product s;
	double tiles, waves;

	if (!ge->k.tile[0] || !ge->k.tile[1] || !units || w->launch == SPAN_NONE ||
	    !product_around(g, w->launch, &s))
		return;
	if (ge->k.column_major) {
		int64_t n = s.m;

		s.m = s.n;
		s.n = n;
	}
	tiles = (double)ceil_div(s.m, ge->k.tile[0]) * (double)ceil_div(s.n, ge->k.tile[1]) *
		(double)s.batch;
	waves = ceil(tiles / (double)units);
	ge->shaped++;
	ge->tiles += tiles;
	ge->waves += waves;
	ge->slots += waves * (double)units;
	ge->result += (double)s.m * (double)s.n * (double)s.batch;
	ge->computed += tiles * ge->k.tile[0] * ge->k.tile[1];
}

static void work_add(struct gemms *g, const struct work *w)
{
	const struct model *m = g->w->m;
	uint32_t *at;

	if (m->spans.kind[w->span] != SPAN_KERNEL)
		return;
	at = u64map_at(&g->of_name, m->spans.name[w->span]);
	if (*at == U64MAP_NONE) {
		struct gemm ge = { .name = m->spans.name[w->span] };

		kernel_name_parse(model_str(m, ge.name), &ge.k);
		*at = is_product(&ge.k) ? (uint32_t)g->v.nr : NO_PRODUCT;
		if (*at != NO_PRODUCT)
			VEC_PUSH(&g->v, ge);
	}
	if (*at == NO_PRODUCT)
		return;
	g->v.v[*at].calls++;
	g->v.v[*at].total_ns = ns_add(g->v.v[*at].total_ns, w->end_ns - w->start_ns);
	shape_add(g, &g->v.v[*at], w);
}

static double known(uint32_t n)
{
	return n ? n : NAN;
}

static void gemm_row_add(struct table *t, const struct model *m, const struct gemm *g)
{
	const struct kernel_name *k = &g->k;
	char arch[16] = "";

	if (k->arch)
		snprintf(arch, sizeof(arch), "sm_%u", k->arch);
	table_add(t, &(struct gemm_row){ model_str(m, g->name),
					 k->lib ?: "",
					 k->op,
					 k->in ?: "",
					 k->acc ?: "",
					 known(k->tile[0]),
					 known(k->tile[1]),
					 known(k->tile[2]),
					 k->layout,
					 g->shaped ? g->waves / (double)g->shaped : NAN,
					 g->shaped ? g->tiles / g->slots : NAN,
					 g->shaped ? g->result / g->computed : NAN,
					 g->calls,
					 g->total_ns,
					 k->out ?: "",
					 kernel_path_name(k->path),
					 known(k->stages),
					 k->stream_k  ? "stream_k"
					 : k->split_k ? "split_k"
						      : "",
					 known(k->align),
					 k->isa[0] ? k->isa : arch,
					 g->shaped });
}

static int gemm_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		    struct err *err)
{
	struct gemms g = { .w = analysis_works(m, o), .of_name = U64MAP_INIT };
	struct table *t;

	(void)err;
	for (size_t d = 0; d < g.w->devices.nr; d++)
		VEC_PUSH(&g.units, -1);
	for (size_t i = 0; i < g.w->v.nr; i++)
		work_add(&g, &g.w->v.v[i]);
	if (g.v.nr) {
		t = table_make(&gemm_form);
		for (size_t i = 0; i < g.v.nr; i++)
			gemm_row_add(t, m, &g.v.v[i]);
		table_sort(t, (const int[]){ ~13, 0 }, 2);
		table_set_add(out, t);
	}
	u64map_release(&g.of_name);
	VEC_RELEASE(&g.v);
	VEC_RELEASE(&g.units);
	u64map_release(&g.of_operator);
	VEC_RELEASE(&g.products);
	return 0;
}

const struct analysis analysis_gemm = {
	.name = "gemm",
	.about = "products of matrices: types, tiles and how well they fill the device",
	.nothing = "no kernel has the name of a matrix product",
	.tables = { &gemm_form },
	.run = gemm_run,
	.needs_work = true,
};
