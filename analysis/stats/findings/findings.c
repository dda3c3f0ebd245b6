#include "findings.h"
#include "work_energy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/short_name.h"

/* clang-format off */
#define FINDINGS(X) \
	X(STR, id) X(STR, severity) X(STR, device) X(F64, value) X(F64, threshold) \
	X(F64, saves_at_most_ns) X(STR, text) X(F64, saves_at_most_j) X(STR, evidence)
/* clang-format on */
TABLE_FORM(findings, FINDINGS, "what stands out, the most costly first");

/* ---- what rules ask ---- */

void findings_skip(struct findings *f, const char *id, const char *reason)
{
	char name[64];

	snprintf(name, sizeof(name), "findings.%s", id);
	table_set_skip(f->out, name, "%s", reason);
}

const struct table *findings_table(struct findings *f, const char *id, const char *table)
{
	const struct table *t = table_set_find(f->out, table);
	char reason[80];

	snprintf(reason, sizeof(reason), "needs the table '%s'", table);
	if (!t)
		findings_skip(f, id, reason);
	return t;
}

double col_of(const struct table *t, size_t row, const char *column)
{
	int c = table_find_col(t, column);

	return c >= 0 && table_column(t, (size_t)c)->type != TABLE_STR
		       ? table_get_f64(t, row, (size_t)c)
		       : NAN;
}

const char *text_of(const struct table *t, size_t row, const char *column)
{
	int c = table_find_col(t, column);

	return c >= 0 && table_column(t, (size_t)c)->type == TABLE_STR
		       ? table_get_str(t, row, (size_t)c)
		       : "";
}

double wall_of(const struct findings *f, const char *device)
{
	const struct table *t = table_set_find(f->out, "overlap");
	double most = NAN;

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double wall = col_of(t, i, "wall_ns");

		if (strcmp(text_of(t, i, "device"), device) == 0)
			return wall;
		if (!(wall <= most))
			most = wall;
	}
	return *device ? NAN : most;
}

struct finding_time time_words(double ns)
{
	static const struct {
		double per;
		const char *unit;
	} units[] = { { 86400e9, "days" }, { 3600e9, "h" }, { 1e9, "s" },
		      { 1e6, "ms" },       { 1e3, "µs" },   { 1, "ns" } };
	struct finding_time t;
	size_t u = 0;

	/* days and hours from two of them on */
	while (u + 1 < ARRAY_LEN(units) && fabs(ns) < (u < 2 ? 2 : 1) * units[u].per)
		u++;
	snprintf(t.s, sizeof(t.s), "%.3g %s", ns / units[u].per, units[u].unit);
	return t;
}

struct finding_name name_words(const char *name)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct finding_name n;

	short_name(name, SHORT_NAME_WIDTH, &sb);
	snprintf(n.s, sizeof(n.s), "%s", sb.buf);
	return n;
}

static const char *severity_of(const struct findings *f, const struct finding_at *at)
{
	double wall = wall_of(f, at->device);

	if (at->severity)
		return at->severity;
	if (at->saves_ns < 0 || !(wall > 0))
		return "low";
	return (double)at->saves_ns >= 0.1 * wall    ? "high"
	       : (double)at->saves_ns >= 0.02 * wall ? "medium"
						     : "low";
}

void finding_add(struct findings *f, const struct finding_at *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	VEC_PUSH(&f->v, ((struct finding){ at->id, severity_of(f, at), xstrdup(at->device),
					   at->value, at->threshold, at->saves_ns,
					   xvasprintf(fmt, ap), at->evidence }));
	va_end(ap);
}

/* ---- the table ---- */

static int severity_rank(const char *s)
{
	return strcmp(s, "high") == 0 ? 0 : strcmp(s, "medium") == 0 ? 1 : 2;
}

static int cmp_finding(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;
	int by = severity_rank(a->severity) - severity_rank(b->severity);

	if (by)
		return by;
	if (a->saves_ns != b->saves_ns)
		return a->saves_ns > b->saves_ns ? -1 : 1;
	return strcmp(a->id, b->id) ?: strcmp(a->device, b->device);
}

uint32_t finding_device(const struct findings *f, const char *name)
{
	for (uint32_t d = 0; d < f->w->devices.nr; d++)
		if (strcmp(model_str(f->m, f->w->devices.v[d].name), name) == 0)
			return d;
	return U64MAP_NONE;
}

/* The mean power of a device while it was sampled, in W; NaN unknown. */
static double device_power(const struct findings *f, uint32_t device)
{
	const struct work_meter *me = work_meter_of(f->we, device);

	if (!me)
		return NAN;
	return me->total_j / me->devices /
	       ((double)(me->c.t_ns[me->c.n - 1] - me->c.t_ns[0]) / 1e9);
}

/* "": of all devices together. */
static double power_of(const struct findings *f, const char *device)
{
	uint32_t at = finding_device(f, device);
	double w = 0;

	if (*device)
		return at == U64MAP_NONE ? NAN : device_power(f, at);
	for (uint32_t d = 0; d < f->w->devices.nr; d++)
		w += device_power(f, d);
	return w;
}

static void findings_write(struct findings *f)
{
	struct table *t = table_make(&findings_form);

	qsort(f->v.v, f->v.nr, sizeof(*f->v.v), cmp_finding);
	for (size_t i = 0; i < f->v.nr; i++) {
		const struct finding *k = &f->v.v[i];
		double saves = k->saves_ns < 0 ? NAN : (double)k->saves_ns;

		table_add(t, &(struct findings_row){
				     k->id, k->severity, k->device, k->value, k->threshold, saves,
				     k->text, saves / 1e9 * power_of(f, k->device), k->evidence });
	}
	table_set_add(f->out, t);
}

static int findings_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			struct err *err)
{
#define FINDING_RULE_AT(name) rule_##name,
	static void (*const rules[])(struct findings *) = { FINDING_RULES(FINDING_RULE_AT) };
	struct findings f = {
		.m = m, .w = analysis_works(m, o), .we = analysis_work_energy(m, o), .out = out
	};
	int r = analysis_iterations(m, o, &f.it, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		rules[i](&f);
	if (f.v.nr)
		findings_write(&f);
	for (size_t i = 0; i < f.v.nr; i++) {
		free(f.v.v[i].device);
		free(f.v.v[i].text);
	}
	VEC_RELEASE(&f.v);
	return 0;
}

const struct analysis analysis_findings = {
	.name = "findings",
	.about = "what stands out in the trace, in words, each with its threshold and its bound",
	.nothing = "no rule found anything",
	.tables = { &findings_form },
	.run = findings_run,
	.needs_work = true,
	.after_all = true,
};
