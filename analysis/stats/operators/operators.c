#include "autograd.h"
#include "mfu.h"
#include "ns.h"
#include "operator_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define OPERATORS(X) \
	X(STR, name) X(STR, shapes) X(STR, types) X(U64, calls) X(U64, calls_with_work) \
	X(U64, works) X(I64, own_ns) X(I64, nested_ns) X(I64, host_self_ns) X(F64, flop) \
	X(F64, bytes) X(F64, tflops) X(F64, tbps) X(STR, bound) X(F64, pct_of_attainable) \
	X(I64, backward_ns) X(F64, joules) X(STR, energy_flags) X(F64, uncertainty_j)
#define PERF(X) \
	X(STR, op) X(STR, shapes) X(STR, types) X(U64, calls) X(F64, flop) X(F64, bytes) \
	X(I64, total_ns) X(F64, tflops) X(F64, tbps) X(F64, intensity) X(STR, precision) \
	X(STR, bound) X(F64, pct_of_attainable) X(F64, joules_per_tflop) X(STR, flags) \
	X(F64, joules) X(F64, joules_per_gb) X(STR, energy_flags) X(F64, uncertainty_j)
#define PEAKS(X) \
	X(STR, device) X(STR, name) X(STR, precision) X(F64, value) X(F64, reachable) \
	X(STR, unit) X(STR, source)
/* clang-format on */
TABLE_FORM(operators, OPERATORS,
	   "one row per operator, shapes and types: its device work, time, flops and bytes");
TABLE_FORM(perf, PERF,
	   "one row per operator, shapes and types whose flops or bytes are known: its rates, and "
	   "what its device allows");
TABLE_FORM(peaks, PEAKS, "one row per device and precision: the most that it can do");

static const char *text_of(const struct model *m, str_id id)
{
	return id == STR_NONE ? "" : model_str(m, id);
}

/* ---- operators ---- */

static void special_row(struct table *t, const char *name, uint64_t works, int64_t ns,
			const struct joules *j)
{
	char flags[ENERGY_FLAGS_MAX];

	if (works)
		table_add(t, &(struct operators_row){ name, "", "", 0, 0, works, ns, ns, 0, NAN,
						      NAN, NAN, NAN, "", NAN, 0, joules_value(j),
						      joules_flags(j, flags), joules_width(j) });
}

static struct table *operators_table(const struct operator_calls *oc,
				     const struct operator_rows *rows)
{
	struct table *t = table_make(&operators_form);
	char flags[ENERGY_FLAGS_MAX];

	for (size_t i = 0; i < rows->v.nr; i++) {
		const struct operator_row *r = &rows->v.v[i];
		const struct operator_rate *rate = &r->rate;

		table_add(t, &(struct operators_row){
				     text_of(oc->m, r->name), text_of(oc->m, r->shapes),
				     text_of(oc->m, r->types), r->calls, r->calls_with_work,
				     r->works, r->own_ns, r->nested_ns, r->host_self_ns,
				     rate_flop(rate), rate_bytes(rate), rate_tflops(rate),
				     rate_tbps(rate), rate_bound(rate), rate_pct(rate),
				     r->backward_ns, joules_value(&r->own_j),
				     joules_flags(&r->own_j, flags), joules_width(&r->own_j) });
	}
	special_row(t, "[no op]", oc->no_op, oc->no_op_ns, &rows->no_op_j);
	special_row(t, "[unlinked]", oc->unlinked, oc->unlinked_ns, &rows->unlinked_j);
	return t;
}

/* ---- perf ---- */

static const char *flags_of(const struct operator_calls *oc, const struct operator_rate *r)
{
	static const char *const flags[] = {
		"",     "nominal",      "estimate",      "nominal|estimate",
		"host", "nominal|host", "estimate|host", "nominal|estimate|host"
	};

	return flags[(r->nominal ? 1 : 0) | (r->estimate ? 2 : 0) | (oc->host ? 4 : 0)];
}

static int cmp_perf(const void *pa, const void *pb)
{
	const struct operator_row *a = *(const struct operator_row *const *)pa;
	const struct operator_row *b = *(const struct operator_row *const *)pb;

	if (a->rate.ns != b->rate.ns)
		return a->rate.ns > b->rate.ns ? -1 : 1;
	if (a->rate.flops != b->rate.flops)
		return a->rate.flops > b->rate.flops ? -1 : 1;
	return (a > b) - (a < b); /* the order of `operators` */
}

static void perf_row(struct table *t, const struct operator_calls *oc, const struct operator_row *r)
{
	const struct operator_rate *rate = &r->rate;
	double intensity = rate_flop(rate) / rate_bytes(rate);
	char energy[ENERGY_FLAGS_MAX];

	table_add(t, &(struct perf_row){ text_of(oc->m, r->name), text_of(oc->m, r->shapes),
					 text_of(oc->m, r->types), rate->calls, rate_flop(rate),
					 rate_bytes(rate), rate->ns, rate_tflops(rate),
					 rate_tbps(rate), isfinite(intensity) ? intensity : NAN,
					 precision_name(rate_precision(rate)), rate_bound(rate),
					 rate_pct(rate), rate_joules_per_tflop(rate),
					 flags_of(oc, rate), joules_value(&rate->j),
					 rate_joules_per_gb(rate), joules_flags(&rate->j, energy),
					 joules_width(&rate->j) });
}

static void add_perf(const struct operator_calls *oc, const struct operator_rows *rows,
		     struct table_set *out)
{
	const struct operator_row **order = xmalloc((rows->v.nr + 1) * sizeof(*order));
	struct table *t = table_make(&perf_form);
	size_t nr = 0;

	for (size_t i = 0; i < rows->v.nr; i++)
		if (rows->v.v[i].rate.calls)
			order[nr++] = &rows->v.v[i];
	if (nr)
		qsort(order, nr, sizeof(*order), cmp_perf);
	for (size_t i = 0; i < nr; i++)
		perf_row(t, oc, order[i]);
	free(order);
	if (nr)
		table_set_add(out, t);
	else
		table_free(t);
}

/* ---- peaks ---- */

static void add_peaks(const struct operator_calls *oc, const struct operator_rows *rows,
		      struct peaks *peaks, struct table_set *out)
{
	struct table *t = table_make(&peaks_form);
	size_t devices = oc->works->devices.nr;

	for (size_t d = 0; d <= devices; d++) {
		const char *name = rows->device_names.v[d];
		const char *id = d < devices ? model_str(oc->m, oc->works->devices.v[d].name) : "";
		struct peak k;

		if (d < devices ? !*name : !oc->host)
			continue;
		for (size_t i = 0; peaks_at(peaks, name, i, &k); i++)
			table_add(t, &(struct peaks_row){ id, name, k.precision, k.value,
							  k.reachable, k.unit, k.source });
	}
	if (table_rows(t))
		table_set_add(out, t);
	else
		table_free(t);
}

static int operators_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			 struct err *err)
{
	const struct operator_calls *oc;
	CLEANUP(operator_rows_freep) struct operator_rows *rows = NULL;
	CLEANUP(peaks_freep) struct peaks *own = o->peaks ? NULL : peaks_new();
	struct peaks *peaks = o->peaks ?: own;
	const struct iterations *it;
	int r = analysis_iterations(m, o, &it, err);

	if (r < 0)
		return r;
	if (!operators_possible(m))
		return table_set_skip(out, "operators", ANALYSIS_NO_OPERATORS);
	oc = analysis_operator_calls(m, o);
	if (!oc->v.nr)
		return table_set_skip(out, "operators", ANALYSIS_NO_OPERATORS);
	if (oc->misfits)
		model_warn(m, UINT32_MAX, W_BAD_SHAPES, oc->misfits,
			   "calls of operators whose shapes do not fit each other have no flops");
	if (oc->overflows)
		model_warn(m, UINT32_MAX, W_BAD_SHAPES, oc->overflows,
			   "calls of operators with 2^64 flops or bytes and more have neither");
	rows = operator_rows_new(oc, peaks, analysis_work_energy(m, o));
	table_set_add(out, operators_table(oc, rows));
	autograd_add(oc, out);
	add_perf(oc, rows, out);
	add_peaks(oc, rows, peaks, out);
	mfu_add(oc, rows, peaks, it, out);
	return 0;
}

const struct analysis analysis_operators = {
	.name = "operators",
	.about = "operators of frameworks: device time by kernel, flops, bytes, share of what is "
		 "attainable",
	.tables = { &operators_form, &autograd_form, &perf_form, &peaks_form, &mfu_form },
	.run = operators_run,
	.needs_operators = true,
};
