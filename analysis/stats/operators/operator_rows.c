#include "operator_rows.h"
#include "ns.h"
#include "operator_backward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/xalloc.h"

/* ---- devices ---- */

const char *operator_device_name(const struct operator_calls *oc, uint32_t device)
{
	const struct work_device *d = &oc->works->devices.v[device];
	const struct device_facts *f = analysis_device_facts(oc->works, d);

	return f && f->name != STR_NONE ? model_str(oc->m, f->name) : "";
}

/* ---- rows ---- */

struct rows_maker {
	const struct operator_calls *oc;
	struct operator_rows *rows;
	struct u64map pairs; /* shapes, types → number */
	struct u64map at;    /* name, number → row */
	uint32_t nr_pairs;
	struct device_peaks {
		double tflops[PRECISIONS], vector[PRECISIONS], tbps;
	} * peaks; /* by device; the host is one behind them */
};

static uint32_t pair_of(struct rows_maker *k, str_id shapes, str_id types)
{
	uint32_t *at = u64map_at(&k->pairs, u64map_pair(shapes, types));

	if (*at == U64MAP_NONE)
		*at = k->nr_pairs++;
	return *at;
}

static uint32_t row_of_call(struct rows_maker *k, const struct operator_call *c)
{
	const struct model *m = k->oc->m;
	struct operator_row row = { .name = c->name, .shapes = STR_NONE, .types = STR_NONE };
	uint32_t *at;

	if (c->operands < m->facts.lists.nr) {
		row.shapes = m->facts.lists.v[c->operands].shapes;
		row.types = m->facts.lists.v[c->operands].types;
	}
	at = u64map_at(&k->at, u64map_pair(row.name, pair_of(k, row.shapes, row.types)));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)k->rows->v.nr;
		VEC_PUSH(&k->rows->v, row);
	}
	return *at;
}

static void rate_roof(struct operator_rate *r, const struct device_peaks *p,
		      const struct op_cost *cost, const struct operator_call *c)
{
	bool matrix = cost->family == COST_GEMM || cost->family == COST_CONV ||
		      cost->family == COST_ATTENTION || cost->family == COST_MOE;
	double peak = matrix ? p->tflops[c->precision] : p->vector[c->precision];
	double compute = cost->nominal ? 0 : (double)cost->flops / peak / 1e3;
	double memory = (double)cost->bytes / p->tbps / 1e3;

	if ((!cost->nominal && cost->flops == AMOUNT_UNKNOWN) || cost->bytes == AMOUNT_UNKNOWN ||
	    isnan(compute) || isnan(memory))
		return;
	r->compute_ns += compute;
	r->memory_ns += memory;
	r->least_ns += compute > memory ? compute : memory;
	r->roofed_ns = ns_add(r->roofed_ns, c->time_ns);
}

static void rate_add(struct operator_rate *r, const struct op_cost *cost,
		     const struct operator_call *c)
{
	r->calls++;
	r->nominal = cost->nominal;
	r->estimate |= cost->estimate;
	r->ns = ns_add(r->ns, c->time_ns);
	r->by_precision[c->precision] = ns_add(r->by_precision[c->precision], c->time_ns);
	if (cost->flops != AMOUNT_UNKNOWN) {
		r->flops = amount_add(r->flops, cost->flops);
		r->with_flops++;
		r->flops_ns = ns_add(r->flops_ns, c->time_ns);
	}
	if (cost->bytes != AMOUNT_UNKNOWN) {
		r->bytes = amount_add(r->bytes, cost->bytes);
		r->with_bytes++;
		r->bytes_ns = ns_add(r->bytes_ns, c->time_ns);
	}
}

static void call_rate(struct rows_maker *k, struct operator_row *row, const struct operator_call *c)
{
	const struct op_cost *cost = &k->oc->costs.v[c->cost];
	size_t device = c->device == OPERATOR_NONE ? k->oc->works->devices.nr : c->device;

	rate_add(&row->rate, cost, c);
	rate_roof(&row->rate, &k->peaks[device], cost, c);
}

static void call_put(struct rows_maker *k, uint32_t i, uint32_t at)
{
	const struct operator_call *c = &k->oc->v.v[i];
	struct operator_row *row = &k->rows->v.v[at];

	row->calls++;
	row->calls_with_work += c->works > 0;
	row->works += c->works;
	row->own_ns = ns_add(row->own_ns, c->own_ns);
	row->nested_ns = ns_add(row->nested_ns, c->nested_ns);
	row->host_self_ns = ns_add(row->host_self_ns, c->host_self_ns);
	if (c->counts == i && c->timed)
		call_rate(k, row, c);
}

static void devices_take(struct rows_maker *k, struct peaks *peaks)
{
	size_t nr = k->oc->works->devices.nr;

	k->peaks = xcalloc(nr + 1, sizeof(*k->peaks));
	for (size_t d = 0; d <= nr; d++) {
		const char *name = d < nr ? operator_device_name(k->oc, (uint32_t)d) : "";
		/* a device without a name has no peaks; the host's are those of no name */
		bool any = d == nr || *name;

		for (int p = 0; p < PRECISIONS; p++) {
			k->peaks[d].tflops[p] =
				any ? peaks_tflops(peaks, name, (enum precision)p, true) : NAN;
			k->peaks[d].vector[p] =
				any ? peaks_tflops(peaks, name, (enum precision)p, false) : NAN;
		}
		k->peaks[d].tbps = any ? peaks_tbps(peaks, name) : NAN;
		VEC_PUSH(&k->rows->device_names, name);
	}
}

static int cmp_row(const void *pa, const void *pb, void *ctx)
{
	const struct operator_row *a = pa, *b = pb;
	const str_id texts[][2] = { { a->name, b->name },
				    { a->shapes, b->shapes },
				    { a->types, b->types } };

	if (a->own_ns != b->own_ns)
		return a->own_ns > b->own_ns ? -1 : 1;
	if (a->host_self_ns != b->host_self_ns)
		return a->host_self_ns > b->host_self_ns ? -1 : 1;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		int d = strcmp(model_str(ctx, texts[i][0]), model_str(ctx, texts[i][1]));

		if (d)
			return d;
	}
	return 0;
}

/* ---- energy ---- */

static void rate_energy(struct operator_rate *r, const struct op_cost *cost,
			const struct work_energy *we, size_t work)
{
	joules_add_work(&r->j, we, work);
	if (cost->flops != AMOUNT_UNKNOWN)
		joules_add_work(&r->flops_j, we, work);
	if (cost->bytes != AMOUNT_UNKNOWN)
		joules_add_work(&r->bytes_j, we, work);
}

/* row: by call. */
static void energy_take(const struct operator_calls *oc, const uint32_t *row,
			const struct work_energy *we, struct operator_rows *rows)
{
	for (size_t i = 0; we->meters.nr && i < oc->works->v.nr; i++) {
		uint32_t own = oc->of_work[i], counts = operator_counting(oc, i);

		if (oc->works->v.v[i].launch == SPAN_NONE)
			joules_add_work(&rows->unlinked_j, we, i);
		else if (own == OPERATOR_NONE)
			joules_add_work(&rows->no_op_j, we, i);
		else
			joules_add_work(&rows->v.v[row[own]].own_j, we, i);
		if (counts != OPERATOR_NONE)
			rate_energy(&rows->v.v[row[counts]].rate,
				    &oc->costs.v[oc->v.v[counts].cost], we, i);
	}
}

struct operator_rows *operator_rows_new(const struct operator_calls *oc, struct peaks *peaks,
					const struct work_energy *we)
{
	struct operator_rows *rows = xcalloc(1, sizeof(*rows));
	struct rows_maker k = { .oc = oc, .rows = rows };
	uint32_t *row = xmalloc((oc->v.nr + 1) * sizeof(*row));

	devices_take(&k, peaks);
	for (uint32_t i = 0; i < oc->v.nr; i++) {
		row[i] = row_of_call(&k, &oc->v.v[i]);
		call_put(&k, i, row[i]);
	}
	backward_add(oc, row, rows);
	energy_take(oc, row, we, rows);
	qsort_r(rows->v.v, rows->v.nr, sizeof(*rows->v.v), cmp_row, (void *)oc->m);
	free(row);
	free(k.peaks);
	u64map_release(&k.pairs);
	u64map_release(&k.at);
	return rows;
}

void operator_rows_free(struct operator_rows *rows)
{
	if (!rows)
		return;
	VEC_RELEASE(&rows->v);
	VEC_RELEASE(&rows->device_names);
	free(rows);
}

void operator_rows_freep(struct operator_rows **rows)
{
	operator_rows_free(*rows);
}

/* ---- rates ---- */

double rate_flop(const struct operator_rate *r)
{
	return r->with_flops ? (double)r->flops : NAN;
}

double rate_bytes(const struct operator_rate *r)
{
	return r->with_bytes ? (double)r->bytes : NAN;
}

/* 10^12 in a second are 10^3 in a nanosecond. */
static double tera(amount n, uint64_t calls, int64_t ns)
{
	return calls && ns > 0 ? (double)n / (double)ns / 1e3 : NAN;
}

double rate_tflops(const struct operator_rate *r)
{
	return tera(r->flops, r->with_flops, r->flops_ns);
}

double rate_tbps(const struct operator_rate *r)
{
	return tera(r->bytes, r->with_bytes, r->bytes_ns);
}

double rate_joules_per_tflop(const struct operator_rate *r)
{
	return r->flops ? joules_whole(&r->flops_j) / ((double)r->flops * 1e-12) : NAN;
}

double rate_joules_per_gb(const struct operator_rate *r)
{
	return r->bytes ? joules_whole(&r->bytes_j) / ((double)r->bytes * 1e-9) : NAN;
}

double rate_pct(const struct operator_rate *r)
{
	return r->roofed_ns > 0 ? 100 * r->least_ns / (double)r->roofed_ns : NAN;
}

const char *rate_bound(const struct operator_rate *r)
{
	if (r->roofed_ns <= 0)
		return "";
	return r->compute_ns > r->memory_ns ? "compute" : "memory";
}

enum precision rate_precision(const struct operator_rate *r)
{
	enum precision best = PRECISION_UNKNOWN;

	for (int p = 1; p < PRECISIONS; p++)
		if (r->by_precision[p] > r->by_precision[best] ||
		    (best == PRECISION_UNKNOWN && r->by_precision[p] > 0))
			best = (enum precision)p;
	return best;
}
