#include "cli.h"
#include "diff_show.h"
#include "trace_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/log.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define SHOWN 20
#define SHOWN_OF_TRACES 5 /* below what trace_text shows */
#define NAME_SHOWN 80
#define COLUMNS 7

/* ---- words ---- */

static bool unit_scale(const char *unit, double *ret_by, const char **ret_unit)
{
	static const struct {
		const char *unit, *as;
		double by;
	} rows[] = { { "ns", "s", 1e-9 }, { "us", "s", 1e-6 }, { "ms", "s", 1e-3 }, { "s", "s", 1 },
		     { "J", "J", 1 },     { "W", "W", 1 },     { "bytes", "B", 1 } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].unit, unit) == 0) {
			*ret_by = rows[i].by;
			*ret_unit = rows[i].as;
			return true;
		}
	return false;
}

bool diff_unit_scales(const char *unit)
{
	const char *as;
	double by;

	return unit_scale(unit, &by, &as);
}

char *diff_value(double v, const char *unit, char *buf)
{
	const char *as;
	double by;

	if (!isfinite(v))
		snprintf(buf, 96, "–");
	else if (unit_scale(unit, &by, &as))
		cli_si(v * by, as, buf);
	else
		snprintf(buf, 96, "%.4g%s%.40s", v, *unit ? " " : "", unit);
	return buf;
}

static char *percent(double ratio, char *buf, size_t n)
{
	if (ratio >= 2 || ratio <= 0.1)
		snprintf(buf, n, "x %.3g", ratio);
	else
		snprintf(buf, n, "%+.1f %%", (ratio - 1) * 100);
	return buf;
}

char *diff_ratio(double ratio, char *buf)
{
	if (!isfinite(ratio)) {
		snprintf(buf, 32, "–");
		return buf;
	}
	return percent(ratio, buf, 32);
}

char *diff_ratios(double from, double to, char *buf)
{
	char low[24], high[24];

	if (!isfinite(from) || !isfinite(to))
		snprintf(buf, 64, "–");
	else
		snprintf(buf, 64, "%s to %s", percent(from, low, sizeof(low)),
			 percent(to, high, sizeof(high)));
	return buf;
}

char *diff_change(const struct compare_row *r, char *buf)
{
	return diff_ratio(r->ratio, buf);
}

char *diff_interval(const struct compare_row *r, char *buf)
{
	return diff_ratios(r->low, r->high, buf);
}

const char *diff_row_text(const struct compare_row *r)
{
	return *r->key ? r->key : r->name;
}

const char *diff_adjusted(const struct comparison *c)
{
	return c->o.declared ? "by Holm, over all figures that are judged"
			     : "by Benjamini and Hochberg, for exploring: a gate declares --metric";
}

static void counts_add(struct strbuf *sb, const struct compare_versus *v)
{
	const char *between = ": ";

	strbuf_addf(sb, "%zu %s", v->rows, v->rows == 1 ? "figure" : "figures");
	for (int i = 0; i < COMPARE_VERDICTS; i++)
		if (v->of[i]) {
			strbuf_addf(sb, "%s%zu %s", between, v->of[i],
				    compare_verdict_name((enum compare_verdict)i));
			between = ", ";
		}
}

/* Of traces the verdict is that of their unit of work, so it does not follow from the figures. */
char *diff_versus_text(const struct compare_versus *v)
{
	const char *verdict =
		v->comparable.hard ? "not comparable" : compare_verdict_name(v->verdict);
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s against %s: ", v->name_b, v->name_a);
	if (v->trace)
		strbuf_addstr(&sb, verdict);
	else
		counts_add(&sb, v);
	if (!v->trace)
		strbuf_addf(&sb, "; together %s", verdict);
	if (!v->comparable.hard && v->comparable.score < 1)
		strbuf_addf(&sb, " (comparable by %.2f)", v->comparable.score);
	if (v->trace) {
		strbuf_addstr(&sb, "; ");
		counts_add(&sb, v);
	}
	return strbuf_steal(&sb);
}

/* ---- a table ---- */

struct lines {
	VEC(struct line {
		char *cell[COLUMNS];
		enum compare_verdict verdict;
	}) v;
};

static void lines_release(struct lines *l)
{
	for (size_t i = 0; i < l->v.nr; i++)
		for (size_t k = 0; k < COLUMNS; k++)
			free(l->v.v[i].cell[k]);
	VEC_RELEASE(&l->v);
}

/* Characters, not bytes; all are one column wide but those that text_visible has escaped. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static char *clean(const char *s)
{
	struct strbuf sb = STRBUF_INIT;
	size_t n = strlen(s), cut = n;

	if (n > NAME_SHOWN)
		for (cut = NAME_SHOWN; cut && (s[cut] & 0xc0) == 0x80;)
			cut--;
	text_visible(&sb, s, cut, "");
	if (cut < n)
		strbuf_addstr(&sb, "…");
	return strbuf_steal(&sb);
}

static void line_add(struct lines *l, const struct compare_row *r)
{
	char buf[96];
	struct line line = { .verdict = r->verdict };

	line.cell[0] = clean(diff_change(r, buf));
	line.cell[1] = clean(diff_value(r->a.mean, r->unit, buf));
	line.cell[2] = clean(diff_value(r->b.mean, r->unit, buf));
	line.cell[3] = clean(diff_interval(r, buf));
	line.cell[4] = isfinite(r->p_adj) ? xasprintf("%.2g", r->p_adj) : xstrdup("–");
	line.cell[5] = xasprintf("%" PRIu32 "+%" PRIu32, r->a.n, r->b.n);
	line.cell[6] = clean(diff_row_text(r));
	VEC_PUSH(&l->v, line);
}

static void cell_put(FILE *f, const char *s, size_t width)
{
	for (size_t n = width_of(s); n < width; n++)
		fputc(' ', f);
	fputs(s, f);
}

static const char *paint_of(enum compare_verdict v)
{
	static const char *const paint[] = { "\033[32m", "\033[31m", "\033[2m",
					     "\033[33m", "\033[36m", "\033[36m" };

	return paint[v];
}

static void lines_put(const struct lines *l, const struct compare_versus *v, FILE *f, bool color)
{
	const char *head[COLUMNS] = { "change", "A", "B", "interval", "p", "runs", "figure" };
	size_t width[COLUMNS];

	head[1] = strlen(v->name_a) <= 8 ? v->name_a : "before";
	head[2] = strlen(v->name_b) <= 8 ? v->name_b : "after";
	for (size_t k = 0; k < COLUMNS; k++) {
		width[k] = width_of(head[k]);
		for (size_t i = 0; i < l->v.nr; i++)
			if (width_of(l->v.v[i].cell[k]) > width[k])
				width[k] = width_of(l->v.v[i].cell[k]);
	}
	for (size_t k = 0; k < COLUMNS - 1; k++) {
		fputs("  ", f);
		cell_put(f, head[k], width[k]);
	}
	fprintf(f, "  %-7s  %s\n", "verdict", head[COLUMNS - 1]);
	for (size_t i = 0; i < l->v.nr; i++) {
		const struct line *line = &l->v.v[i];

		for (size_t k = 0; k < COLUMNS - 1; k++) {
			fputs("  ", f);
			cell_put(f, line->cell[k], width[k]);
		}
		fprintf(f, "  %s%-7s%s  %s\n", color ? paint_of(line->verdict) : "",
			compare_verdict_name(line->verdict), color ? "\033[0m" : "",
			line->cell[COLUMNS - 1]);
	}
}

/* ---- rows, by table ---- */

static bool same_group(const struct compare_row *a, const struct compare_row *b)
{
	return a->versus == b->versus && a->of_table == b->of_table &&
	       (!a->of_table || a->name == b->name);
}

static void group_put(const struct diff *d, size_t from, size_t to, FILE *f, bool color)
{
	CLEANUP(lines_release) struct lines l = { .v = VEC_INIT };
	const struct compare_row *r = &d->c->rows.v[from];
	size_t shown = d->c->versus.v[r->versus].trace ? SHOWN_OF_TRACES : SHOWN;

	if (r->of_table)
		fprintf(f, "\n  %s, %zu of them:\n", r->name, to - from);
	for (size_t i = from; i < to && i < from + shown; i++)
		line_add(&l, &d->c->rows.v[i]);
	lines_put(&l, &d->c->versus.v[r->versus], f, color);
	if (to - from > shown)
		fprintf(f, "  … and %zu more (--json has all)\n", to - from - shown);
}

static void rows_put(const struct diff *d, uint32_t versus, FILE *f, bool color)
{
	for (size_t i = 0, to; i < d->c->rows.nr; i = to) {
		const struct compare_row *r = &d->c->rows.v[i];

		for (to = i + 1; to < d->c->rows.nr && same_group(r, &d->c->rows.v[to]);)
			to++;
		if (r->versus == versus &&
		    !(r->of_table && trace_hides(&d->c->versus.v[versus], r->name)))
			group_put(d, i, to, f, color);
	}
}

static void side_put(const struct diff_side *s, FILE *f)
{
	fprintf(f, "%-2s ", s->name);
	cli_put(f, s->word, 0);
	if (s->cells)
		fprintf(f, "  %zu %s", s->cells, s->cells == 1 ? "cell" : "cells");
	fprintf(f, "  %zu %s", s->runs, s->runs == 1 ? "run" : "runs");
	if (s->failed)
		fprintf(f, ", %zu that did not end well", s->failed);
	fputc('\n', f);
}

static void list_put(const struct strvec *v, const char *before, FILE *f)
{
	for (size_t i = 0; i < v->nr && i < SHOWN; i++) {
		fputs(before, f);
		cli_put(f, v->v[i], 0);
		fputc('\n', f);
	}
	if (v->nr > SHOWN)
		fprintf(f, "%s… and %zu more\n", before, v->nr - SHOWN);
}

void diff_text(const struct diff *d, FILE *f, bool color)
{
	for (size_t i = 0; i < d->sides.nr; i++)
		side_put(&d->sides.v[i], f);
	list_put(&d->only, "   ", f);
	for (uint32_t i = 0; i < d->c->versus.nr; i++) {
		const struct compare_versus *v = &d->c->versus.v[i];
		CLEANUP(xfreep) char *words = diff_versus_text(v);

		fputc('\n', f);
		cli_put(f, words, 0);
		fputc('\n', f);
		list_put(&v->comparable.reasons,
			 v->comparable.hard ? "  refused: " : "  differs: ", f);
		trace_text(v, f);
		rows_put(d, i, f, color);
	}
	if (d->c->rows.nr)
		fprintf(f, "\n%s is worse; interval of %g %%; p adjusted %s\n",
			compare_verdict_name(COMPARE_SLOWER), d->c->o.confidence * 100,
			diff_adjusted(d->c));
	list_put(&d->c->notes, "note: ", f);
}
