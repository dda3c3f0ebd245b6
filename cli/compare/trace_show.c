#include "trace_show.h"
#include "clean_text.h"
#include "cli.h"
#include "compare_file.h"
#include "compare_plots.h"
#include "diff_show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define TEXT_ROWS 10
#define PAGE_ROWS 100
#define NAME_SHOWN 80

/* ---- words ---- */

static const char *plural_of(enum trace_kind k)
{
	static const char *const names[] = { "kernels", "operators on the host",
					     "operators by shapes", "call paths",
					     "device work by call path" };

	return names[k];
}

/* "+44.5 ms"; buf holds 96. */
static char *signed_ns(double ns, char *buf)
{
	char text[96];

	if (fabs(ns) > 0)
		snprintf(buf, 96, "%s%s", ns < 0 ? "-" : "+", diff_value(fabs(ns), "ns", text));
	else
		snprintf(buf, 96, "0");
	return buf;
}

/* "95.7 ms in A (median of 4), 97.2 ms in B (5): +1.6 % (+0.9 % to +2.2 %)" */
static void time_add(struct strbuf *sb, const struct compare_versus *v,
		     const struct median_ratio *m)
{
	char a[96], b[96], change[32], interval[64];

	strbuf_addf(sb, "%s in %s (median of %zu), %s in %s (%zu): %s (%s)",
		    diff_value(m->a, "ns", a), v->name_a, m->n_a, diff_value(m->b, "ns", b),
		    v->name_b, m->n_b, diff_ratio(m->ratio, change),
		    diff_ratios(m->low, m->high, interval));
}

/* "ProfilerStep#: …; on the host, which is slower than the device, …". Owned. */
static char *unit_text(const struct compare_versus *v)
{
	const struct trace_compare *t = v->trace;
	struct strbuf sb = STRBUF_INIT;

	if (!t->unit)
		return xstrdup("none that both have");
	if (t->time.n_a == 0 || strcmp(t->unit, "run") == 0)
		return xstrdup("the run");
	strbuf_addf(&sb, "%s: ", t->unit);
	time_add(&sb, v, &t->time);
	if (t->host.n_a) {
		strbuf_addstr(&sb, "; on the host, which takes longer than the device, ");
		time_add(&sb, v, &t->host);
	}
	return strbuf_steal(&sb);
}

/* "kernels: 607 ms in A, 651 ms in B: +44.5 ms = …; 194 and 183 names: 11 gone, …". Owned. */
static char *sum_text(const struct compare_versus *v, enum trace_kind k)
{
	const struct trace_diff *d = &v->trace->of[k];
	struct strbuf sb = STRBUF_INIT;
	const char *between = ": ";
	char buf[96];

	strbuf_addf(&sb, "%s: %s in %s, ", plural_of(k),
		    diff_value((double)d->sum.total_a_ns, "ns", buf), v->name_a);
	strbuf_addf(&sb, "%s in %s: ", diff_value((double)d->sum.total_b_ns, "ns", buf), v->name_b);
	strbuf_addf(&sb, "%s =", signed_ns((double)d->sum.delta_ns, buf));
	strbuf_addf(&sb, " %s new", signed_ns((double)d->sum.new_ns, buf));
	strbuf_addf(&sb, " %s gone", signed_ns(-(double)d->sum.gone_ns, buf));
	strbuf_addf(&sb, " %s by count", signed_ns(d->sum.count_effect_ns, buf));
	strbuf_addf(&sb, " %s by rate", signed_ns(d->sum.rate_effect_ns, buf));
	strbuf_addf(&sb, "; %zu and %zu names", d->names_a, d->names_b);
	for (size_t i = 0; i < TRACE_STATES; i++)
		if (d->of[i]) {
			strbuf_addf(&sb, "%s%zu %s", between, d->of[i],
				    trace_state_name((enum trace_state)i));
			between = ", ";
		}
	return strbuf_steal(&sb);
}

bool trace_hides(const struct compare_versus *v, const char *metric)
{
	return v->trace && v->trace->runs < TRACE_RUNS &&
	       (strcmp(metric, "kernels.total_ns") == 0 || strcmp(metric, "operators.own_ns") == 0);
}

/* ---- a terminal ---- */

static void name_put(const char *name, FILE *f)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	size_t n = strlen(name), cut = n;

	if (n > NAME_SHOWN)
		for (cut = NAME_SHOWN; cut && (name[cut] & 0xc0) == 0x80;)
			cut--;
	text_visible(&sb, name, cut, "");
	fprintf(f, "%s%s\n", sb.buf, cut < n ? "…" : "");
}

static void effects_put(const struct compare_versus *v, FILE *f)
{
	enum trace_kind k = v->trace->compared;
	const struct trace_diff *d = &v->trace->of[k];

	/* by size: none is larger than the first */
	if (!d->v.nr || !d->v.v[0].delta_ns)
		return;
	fprintf(f, "\n  %11s  %11s  %11s  %8.8s  %8.8s  %-9s  %s\n", "change", "by count",
		"by rate", v->name_a, v->name_b, "", trace_kind_name(k));
	for (size_t i = 0; i < d->v.nr && i < TEXT_ROWS && d->v.v[i].delta_ns; i++) {
		const struct trace_diff_row *r = &d->v.v[i];
		char delta[96], count[96], rate[96];
		bool both = r->count_a && r->count_b;

		fprintf(f, "  %11s  %11s  %11s  %8" PRIu64 "  %8" PRIu64 "  %-9s  ",
			signed_ns((double)r->delta_ns, delta),
			both ? signed_ns(r->count_effect_ns, count) : "",
			both ? signed_ns(r->rate_effect_ns, rate) : "", r->count_a, r->count_b,
			trace_state_name(r->state));
		name_put(r->name, f);
	}
	if (d->v.nr > TEXT_ROWS)
		fprintf(f, "  … and %zu more (--json, -o DIR have all)\n", d->v.nr - TEXT_ROWS);
}

void trace_text(const struct compare_versus *v, FILE *f)
{
	CLEANUP(xfreep) char *unit = NULL;

	if (!v->trace)
		return;
	unit = unit_text(v);
	fputs("  unit of work: ", f);
	cli_put(f, unit, 0);
	if (v->trace->compared != TRACE_KERNEL && v->trace->of[TRACE_KERNEL].v.nr)
		fprintf(f, "\n  names of kernels have little in common: %s are compared",
			plural_of(v->trace->compared));
	for (size_t k = 0; k < TRACE_KINDS; k++) {
		CLEANUP(xfreep) char *sum = NULL;

		if (!v->trace->of[k].v.nr)
			continue;
		sum = sum_text(v, (enum trace_kind)k);
		fputs("\n  ", f);
		cli_put(f, sum, 0);
	}
	fputc('\n', f);
	effects_put(v, f);
}

/* ---- JSON ---- */

static void time_json(struct json_out *j, const char *key, const struct median_ratio *m)
{
	if (!m->n_a) {
		json_nil(j, key);
		return;
	}
	json_obj(j, key);
	json_u64(j, "n_a", m->n_a);
	json_u64(j, "n_b", m->n_b);
	json_f64(j, "median_a_ns", m->a);
	json_f64(j, "median_b_ns", m->b);
	json_f64(j, "ratio", m->ratio);
	json_f64(j, "ci_low", m->low - 1);
	json_f64(j, "ci_high", m->high - 1);
	json_end(j);
}

static void diff_row_json(struct json_out *j, const struct trace_diff_row *r)
{
	json_obj(j, NULL);
	j->indent = 0;
	json_str(j, "name", r->name);
	json_u64(j, "count_a", r->count_a);
	json_u64(j, "count_b", r->count_b);
	json_i64(j, "total_a_ns", r->total_a_ns);
	json_i64(j, "total_b_ns", r->total_b_ns);
	json_i64(j, "delta_ns", r->delta_ns);
	json_f64(j, "count_effect_ns", r->count_effect_ns);
	json_f64(j, "rate_effect_ns", r->rate_effect_ns);
	json_str(j, "state", trace_state_name(r->state));
	json_end(j);
	j->indent = 2;
}

static void kind_json(struct json_out *j, enum trace_kind k, const struct trace_diff *d)
{
	json_obj(j, NULL);
	json_str(j, "kind", trace_kind_name(k));
	json_u64(j, "names_a", d->names_a);
	json_u64(j, "names_b", d->names_b);
	json_u64(j, "common", d->common);
	json_f64(j, "overlap", trace_diff_overlap(d));
	for (size_t i = 0; i < TRACE_STATES; i++)
		json_u64(j, trace_state_name((enum trace_state)i), d->of[i]);
	json_i64(j, "total_a_ns", d->sum.total_a_ns);
	json_i64(j, "total_b_ns", d->sum.total_b_ns);
	json_i64(j, "delta_ns", d->sum.delta_ns);
	json_i64(j, "new_ns", d->sum.new_ns);
	json_i64(j, "gone_ns", d->sum.gone_ns);
	json_f64(j, "count_effect_ns", d->sum.count_effect_ns);
	json_f64(j, "rate_effect_ns", d->sum.rate_effect_ns);
	json_arr(j, "rows");
	for (size_t i = 0; i < d->v.nr; i++)
		diff_row_json(j, &d->v.v[i]);
	json_end(j);
	json_end(j);
}

void trace_json(struct json_out *j, const char *key, const struct compare_versus *v)
{
	const struct trace_compare *t = v->trace;

	if (!t) {
		json_nil(j, key);
		return;
	}
	json_obj(j, key);
	json_str(j, "verdict", trace_compare_verdict(t));
	json_str(j, "unit", t->unit);
	time_json(j, "time", &t->time);
	time_json(j, "host", &t->host);
	json_u64(j, "runs", t->runs);
	json_str(j, "compared", trace_kind_name(t->compared));
	json_arr(j, "comparability");
	for (size_t i = 0; i < t->facts.nr; i++) {
		json_obj(j, NULL);
		json_str(j, "fact", t->facts.v[i].fact);
		json_str(j, "a", *t->facts.v[i].a ? t->facts.v[i].a : NULL);
		json_str(j, "b", *t->facts.v[i].b ? t->facts.v[i].b : NULL);
		json_str(j, "verdict", trace_fact_verdict_name(t->facts.v[i].verdict));
		json_end(j);
	}
	json_end(j);
	json_arr(j, "diff");
	for (size_t k = 0; k < TRACE_KINDS; k++)
		if (t->of[k].v.nr)
			kind_json(j, (enum trace_kind)k, &t->of[k]);
	json_end(j);
	json_end(j);
}

/* ---- a page ---- */

static void facts_page(const struct html_out *h, const struct compare_versus *v)
{
	html_heading(h, 3, "Comparable?");
	compare_table_begin(h, "Facts that decide whether the two compare");
	html_row(h, "th", (const char *const[]){ "fact", v->name_a, v->name_b, "verdict" }, 4);
	for (size_t i = 0; i < v->trace->facts.nr; i++) {
		const struct trace_fact *f = &v->trace->facts.v[i];

		html_row(h, "td",
			 (const char *const[]){ f->fact, f->a, f->b,
						trace_fact_verdict_name(f->verdict) },
			 4);
	}
	compare_table_end(h);
}

static void effect_cell(const struct html_out *h, double ns)
{
	char text[96], exact[64];

	snprintf(exact, sizeof(exact), "%+.9g ns", ns);
	html_figure(h, "", signed_ns(ns, text), exact);
}

static void count_cell(const struct html_out *h, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	html_cell(h, "td", text, true);
}

static void effects_page(const struct html_out *h, const struct compare_versus *v,
			 enum trace_kind k)
{
	static const char *const after[] = { "state", "name" };
	const struct trace_diff *d = &v->trace->of[k];
	CLEANUP(xfreep) char *sum = sum_text(v, k);

	html_heading(h, 3, plural_of(k));
	html_note(h, sum);
	compare_table_begin(h, plural_of(k));
	html_row_begin(h);
	html_cell(h, "th", "change", true);
	html_cell(h, "th", "by count", true);
	html_cell(h, "th", "by rate", true);
	html_cell(h, "th", v->name_a, true);
	html_cell(h, "th", v->name_b, true);
	for (size_t i = 0; i < ARRAY_LEN(after); i++)
		html_cell(h, "th", after[i], false);
	html_row_end(h);
	for (size_t i = 0; i < d->v.nr && i < PAGE_ROWS; i++) {
		const struct trace_diff_row *r = &d->v.v[i];

		html_row_begin(h);
		effect_cell(h, (double)r->delta_ns);
		effect_cell(h, r->count_effect_ns);
		effect_cell(h, r->rate_effect_ns);
		count_cell(h, r->count_a);
		count_cell(h, r->count_b);
		html_cell(h, "td", trace_state_name(r->state), false);
		html_cell(h, "td", r->name, false);
		html_row_end(h);
	}
	compare_table_end(h);
}

void trace_page(const struct html_out *h, const struct compare_versus *v)
{
	CLEANUP(xfreep) char *unit = NULL, *words = NULL;

	if (!v->trace)
		return;
	unit = unit_text(v);
	words = xasprintf("Unit of work: %s", unit);
	html_note(h, words);
	facts_page(h, v);
	for (size_t k = 0; k < TRACE_KINDS; k++)
		if (v->trace->of[k].v.nr)
			effects_page(h, v, (enum trace_kind)k);
}

/* ---- tables ---- */

static void table_put(const void *ctx, FILE *f)
{
	CLEANUP(table_freep) struct table *clean = table_clean(ctx);

	table_write_csv(clean ? clean : ctx, f);
}

static int table_file(const char *dir, const struct table *t)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/%s.csv", dir, table_name(t));

	return compare_file_write(path, table_put, t);
}

int trace_folder_write(const char *dir, const struct comparison *c)
{
	CLEANUP(table_freep) struct table *diff = trace_diff_table();
	CLEANUP(table_freep) struct table *facts = trace_facts_table();
	CLEANUP(xfreep) char *tables = fs_join(dir, "tables");
	struct err err = ERR_INIT;
	int code;

	for (size_t i = 0; i < c->versus.nr; i++) {
		const struct compare_versus *v = &c->versus.v[i];

		if (!v->trace)
			continue;
		trace_diff_rows(diff, v->trace, v->name_b, v->name_a);
		trace_facts_rows(facts, v->trace, v->name_b, v->name_a);
	}
	if (fs_mkdirs(tables, 0777, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	code = table_file(tables, diff);
	return exit_worse(code, table_file(tables, facts));
}
