/* The words of a campaign's report. */
#include "cli.h"
#include "diff_show.h"
#include "report_show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "profrig/base/strbuf.h"
#include "profrig/compare/conditions.h"

char *report_figure_title(const struct report_figure *f)
{
	return xasprintf("%s%s%s%s%s", f->name, *f->key ? ": " : "", f->key, *f->unit ? " in " : "",
			 f->unit);
}

char *report_value(const struct report_figure *f, double v, char *buf)
{
	return diff_value(v, diff_unit_scales(f->unit) ? f->unit : "", buf);
}

char *report_mean(const struct report_figure *f, const struct report_sample *s, char *buf)
{
	bool scales = diff_unit_scales(f->unit);
	char mean[96], half[96];

	report_value(f, s->mean, mean);
	report_value(f, s->mean - s->low, half);
	if (!scales)
		snprintf(half, sizeof(half), "%.3g", s->mean - s->low);
	if (isfinite(s->low))
		snprintf(buf, 240, "%s ± %s%s%.40s", mean, half, scales || !*f->unit ? "" : " ",
			 scales ? "" : f->unit);
	else
		snprintf(buf, 240, "%s%s%.40s", mean, scales || !*f->unit ? "" : " ",
			 scales ? "" : f->unit);
	return buf;
}

const char *report_word(const struct report_shown *s, const struct report_figure *f, uint32_t cell)
{
	const struct report_sample *v = &f->cells[cell];
	const struct report_cell *c = &s->r.cells.v[cell];

	if (v->against.verdict)
		return v->against.refused ? "not comparable" : v->against.verdict;
	if (!v->nr)
		return c->failed && c->failed == c->runs ? "failed" : "no value";
	return c->compares ? "baseline" : "not compared";
}

const char *report_class(const char *word)
{
	static const char *const same[] = { "slower", "faster", "same",   "unclear",
					    "new",    "gone",   "failed", "baseline" };

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (!strcmp(same[i], word))
			return same[i];
	return !strcmp(word, "not comparable") ? "refused" : "none";
}

char *report_time(int64_t ns, char *buf)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;

	if (ns <= 0 || !gmtime_r(&t, &tm) || !strftime(buf, 32, "%Y-%m-%d %H:%M UTC", &tm))
		snprintf(buf, 32, "–");
	return buf;
}

/* ---- pairs ---- */

static int pair_rank(const struct report_pair *p)
{
	static const char *const order[] = { "slower", "unclear", "gone", "new", "same", "faster" };
	const struct report_against *a = &p->f->cells[p->cell].against;

	if (a->refused)
		return -1;
	for (int i = 0; i < (int)ARRAY_LEN(order); i++)
		if (!strcmp(order[i], a->verdict))
			return i;
	return (int)ARRAY_LEN(order);
}

static double pair_effect(const struct report_pair *p)
{
	double ratio = p->f->cells[p->cell].against.ratio;

	return isfinite(ratio) && ratio > 0 ? fabs(log(ratio)) : 0;
}

static int pair_cmp(const void *a, const void *b)
{
	const struct report_pair *x = a, *y = b;
	int rx = pair_rank(x), ry = pair_rank(y);
	double ex = pair_effect(x), ey = pair_effect(y);

	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (ex != ey)
		return ex > ey ? -1 : 1;
	if (x->f != y->f)
		return x->f < y->f ? -1 : 1;
	return x->cell < y->cell ? -1 : x->cell > y->cell;
}

struct report_pair *report_pairs(const struct report_shown *s, size_t *ret_nr)
{
	struct report_pair *v = xcalloc(s->r.figures.nr * s->r.cells.nr + 1, sizeof(*v));
	size_t nr = 0;

	for (size_t i = 0; i < s->r.figures.nr; i++)
		for (uint32_t k = 0; k < s->r.cells.nr; k++)
			if (s->r.figures.v[i].cells[k].against.verdict)
				v[nr++] = (struct report_pair){ &s->r.figures.v[i], k };
	qsort(v, nr, sizeof(*v), pair_cmp);
	*ret_nr = nr;
	return v;
}

/* ---- the verdict ---- */

/* " (2 faster, 3 same)": what the sentence has not counted yet. */
static void counts_add(struct strbuf *sb, const struct report_judgement *g)
{
	const struct {
		size_t n;
		const char *word;
	} rows[] = { { g->faster, "faster" },
		     { g->same, "same" },
		     { g->unclear, "unclear" },
		     { g->refused, "not comparable" },
		     { g->one_sided, "on one side alone" } };
	const char *between = " (";

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].n) {
			strbuf_addf(sb, "%s%zu %s", between, rows[i].n, rows[i].word);
			between = ", ";
		}
	if (*between == ',')
		strbuf_addstr(sb, ")");
}

/* "; the largest change: LABEL, performance +12 % (+10 to +14 %)": of pairs with this verdict. */
static void worst_add(struct strbuf *sb, const struct report_shown *s, const char *verdict)
{
	struct report_pair *v;
	size_t nr;
	char change[32], interval[64];

	v = report_pairs(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct report_against *a = &v[i].f->cells[v[i].cell].against;

		if (a->refused || strcmp(a->verdict, verdict) != 0)
			continue;
		strbuf_addf(sb, "; the largest change: %s, %s %s (%s)",
			    s->r.cells.v[v[i].cell].label, v[i].f->name,
			    diff_ratio(a->ratio, change), diff_ratios(a->low, a->high, interval));
		break;
	}
	free(v);
}

/* "2 of 6 cells are slower than their baseline": of one figure, else of all. */
static void slower_add(struct strbuf *sb, const struct report_shown *s)
{
	bool one = s->r.figures.nr == 1;

	strbuf_addf(sb, "%zu of %zu %s slower than %s baseline", s->g.slower, s->g.compared,
		    one ? (s->g.slower == 1 ? "cells is" : "cells are")
			: (s->g.slower == 1 ? "comparisons is" : "comparisons are"),
		    s->g.slower == 1 ? "its" : "their");
}

static void gate_lead(struct report_shown *s, struct strbuf *sb)
{
	s->tone = s->g.passes ? REPORT_GOOD : REPORT_BAD;
	if (s->g.passes) {
		strbuf_addf(sb, "the gate passes: none of %zu %s is slower than its baseline",
			    s->g.compared, s->r.figures.nr == 1 ? "cells" : "comparisons");
	} else if (!s->g.gate_slower) {
		strbuf_addf(sb, "the gate fails: cells are not comparable%s%s",
			    s->g.reasons.nr ? ", as " : "",
			    s->g.reasons.nr ? s->g.reasons.v[0] : "");
	} else if (s->g.slower == s->g.gate_slower) {
		strbuf_addstr(sb, "the gate fails: ");
		slower_add(sb, s);
	} else {
		strbuf_addf(sb, "the gate fails: %zu %s slower than the baseline", s->g.gate_slower,
			    s->g.gate_slower == 1 ? "figure is" : "figures are");
	}
}

static void open_lead(struct report_shown *s, struct strbuf *sb)
{
	s->tone = s->g.slower ? REPORT_BAD : s->g.unclear ? REPORT_OPEN : REPORT_GOOD;
	if (s->g.refused == s->g.compared) {
		s->tone = REPORT_OPEN;
		strbuf_addf(sb, "cells are not comparable%s%s", s->g.reasons.nr ? ": " : "",
			    s->g.reasons.nr ? s->g.reasons.v[0] : "");
	} else if (s->g.slower) {
		slower_add(sb, s);
	} else {
		strbuf_addf(sb, "none of %zu %s is slower than its baseline", s->g.compared,
			    s->r.figures.nr == 1 ? "cells" : "comparisons");
	}
}

static void compared_lead(struct report_shown *s, struct strbuf *sb)
{
	if (s->r.sum.left || s->r.sum.running)
		strbuf_addstr(sb, "so far ");
	if (s->g.gated)
		gate_lead(s, sb);
	else
		open_lead(s, sb);
	counts_add(sb, &s->g);
	worst_add(sb, s, s->g.slower ? "slower" : "faster");
	if (sb->buf[0] >= 'a' && sb->buf[0] <= 'z')
		sb->buf[0] = (char)(sb->buf[0] - 'a' + 'A');
	strbuf_addstr(sb, ".");
}

static void lead_make(struct report_shown *s)
{
	struct strbuf sb = STRBUF_INIT;
	const struct store_summary *sum = &s->r.sum;

	s->tone = REPORT_OPEN;
	if (!s->r.cells.nr) {
		strbuf_addstr(&sb, "The plan has no cells.");
	} else if (!sum->committed && sum->failed) {
		s->tone = REPORT_BAD;
		strbuf_addf(&sb,
			    "No run has ended well: %" PRIu64 " of %" PRIu64
			    " failed for good, %" PRIu64 " are left.",
			    sum->failed, sum->runs, sum->left + sum->running);
	} else if (!sum->committed) {
		strbuf_addstr(&sb, "No run has ended yet.");
	} else if (s->g.overall) {
		compared_lead(s, &sb);
	} else {
		strbuf_addf(&sb, "Nothing is compared: the campaign's file names no baseline.");
		s->tone = sum->failed ? REPORT_BAD : REPORT_OPEN;
	}
	s->lead = strbuf_steal(&sb);
}

static void state_make(struct report_shown *s)
{
	const struct store_summary *sum = &s->r.sum;
	struct strbuf sb = STRBUF_INIT;
	char begun[32], ended[32], text[32];

	strbuf_addf(&sb, "%" PRIu64 " of %" PRIu64 " runs done", sum->committed, sum->runs);
	if (sum->failed)
		strbuf_addf(&sb, ", %" PRIu64 " failed for good", sum->failed);
	if (sum->running)
		strbuf_addf(&sb, s->live ? ", %" PRIu64 " running" : ", %" PRIu64 " begun",
			    sum->running);
	if (sum->left)
		strbuf_addf(&sb, ", %" PRIu64 " left", sum->left);
	if (s->live)
		strbuf_addf(&sb, "; the campaign is running");
	else if (sum->left || sum->running)
		strbuf_addf(&sb, "; no process works on it");
	strbuf_addf(&sb, ". %zu %s × %" PRIu32 ". Began %s", s->r.cells.nr,
		    s->r.cells.nr == 1 ? "cell" : "cells", s->r.repeat,
		    report_time(s->r.created_ns, begun));
	if (s->r.last_ns)
		strbuf_addf(&sb, ", last run ended %s", report_time(s->r.last_ns, ended));
	if (isfinite(sum->mean_s))
		strbuf_addf(&sb, ", a run takes %s on average", cli_si(sum->mean_s, "s", text));
	strbuf_addstr(&sb, ".");
	s->state = strbuf_steal(&sb);
}

/* ---- sentences ---- */

void report_survivors(const struct report_shown *s, struct strvec *to)
{
	size_t lost = 0, cells = 0, attempts = 0;

	for (size_t i = 0; i < s->r.cells.nr; i++) {
		lost += s->r.cells.v[i].failed;
		cells += report_cell_lost(&s->r.cells.v[i]);
		attempts += s->r.cells.v[i].attempts;
	}
	strvec_pushf(to, "%zu %s made for %" PRIu64 " runs that count.", attempts,
		     attempts == 1 ? "attempt was" : "attempts were", s->r.sum.committed);
	if (s->r.sum.superseded)
		strvec_pushf(to,
			     "%" PRIu64 " ended well, but another attempt of the same run counts "
			     "(superseded).",
			     s->r.sum.superseded);
	if (cells)
		strvec_pushf(to,
			     "%zu %s lost %zu %s for good: means and intervals there are over the "
			     "survivors, and may be better than the truth.",
			     cells, cells == 1 ? "cell has" : "cells have", lost,
			     lost == 1 ? "run" : "runs");
	if (s->r.sum.unread)
		strvec_pushf(to,
			     "%" PRIu64 " attempts that ended well cannot be read, or not all of "
			     "them: their figures are missing.",
			     s->r.sum.unread);
	if (s->r.sum.disputed)
		strvec_pushf(to, "%" PRIu64 " commits are not in results/, and do not count.",
			     s->r.sum.disputed);
}

bool report_by_axis(const struct report_shown *s, const char *path)
{
	bool found = false;

	for (size_t i = 0; i < s->grid.axes.nr && !found; i++) {
		const char *axis = s->grid.axes.v[i].name;

		found = (!strncmp(path, "tools", 5) && strstr(axis, "tools")) ||
			(!strncmp(path, "image", 5) && strstr(axis, "image")) ||
			(!strncmp(path, "engine", 6) && strstr(axis, "engine")) ||
			(!strncmp(path, "devices", 7) && strstr(axis, "gpus"));
	}
	return found;
}

/* How many cells have runs of several environments. */
static size_t cells_mixed(const struct campaign_report *r)
{
	uint32_t *of = xcalloc(r->cells.nr + 1, sizeof(*of));
	bool *mixed = xcalloc(r->cells.nr + 1, sizeof(*mixed));
	size_t n = 0;

	for (size_t i = 0; i < r->attempts.nr; i++) {
		const struct report_attempt *a = &r->attempts.v[i];
		uint32_t cell = r->runs.v[a->run].cell;

		if (a->env == REPORT_NONE)
			continue;
		mixed[cell] |= of[cell] && of[cell] != a->env + 1;
		of[cell] = a->env + 1;
	}
	for (size_t i = 0; i < r->cells.nr; i++)
		n += mixed[i];
	free(of);
	free(mixed);
	return n;
}

void report_environments(const struct report_shown *s, struct strvec *to)
{
	size_t mixed = cells_mixed(&s->r), other = 0;

	if (!s->r.envs.nr) {
		strvec_push(to, "No run has told its environment.");
		return;
	}
	if (s->r.envs.nr == 1) {
		strvec_pushf(to, "All runs had the same environment (%.12s).", s->r.envs.v[0].sha);
		return;
	}
	for (size_t i = 0; i < s->r.differences.nr; i++)
		other += !report_by_axis(s, s->r.differences.v[i].path);
	strvec_pushf(to, "Runs had %zu environments, which differ in %zu %s.", s->r.envs.nr,
		     s->r.differences.nr, s->r.differences.nr == 1 ? "fact" : "facts");
	if (!other)
		strvec_push(to, "An axis of the campaign varies each of them.");
	if (mixed)
		strvec_pushf(to,
			     "%zu %s runs of several environments: they are no sample of one "
			     "thing.",
			     mixed, mixed == 1 ? "cell has" : "cells have");
	else if (other)
		strvec_push(to, "Each cell has one environment, so what differs between cells may "
				"be the environment.");
	if (s->r.envs.nr > REPORT_ENVS_MAX)
		strvec_pushf(to, "The %d with most runs are compared here.", REPORT_ENVS_MAX);
}

bool report_clocks_by_axis(const struct report_shown *s)
{
	for (size_t i = 0; i < s->grid.axes.nr; i++)
		if (conditions_exempt(s->grid.axes.v[i].name) & CONDITION_EXEMPT_CLOCKS)
			return true;
	return false;
}

static const char *attempt_of(const struct report_shown *s, uint32_t run)
{
	return s->r.attempts.v[s->r.runs.v[run].attempt].id;
}

size_t report_clocks(const struct report_shown *s, struct strvec *to)
{
	size_t n = report_clocks_by_axis(s) ? 0 : s->r.clocks.nr;

	for (size_t i = 0; i < n; i++) {
		const struct report_clock *c = &s->r.clocks.v[i];

		strvec_pushf(to,
			     "%s differs %.1f %% within block %" PRIu32
			     ": %.0f MHz in %s, %.0f MHz in %s.",
			     c->metric, 100 * (c->high / c->low - 1), c->block, c->low,
			     attempt_of(s, c->run_low), c->high, attempt_of(s, c->run_high));
	}
	return n;
}

void report_methods(const struct report_shown *s, struct strvec *to)
{
	CLEANUP(xfreep) char *methods = strvec_join(&s->g.methods, ", ");

	strvec_pushf(to,
		     "Order: %s, %" PRIu32 " %s of each cell, seed %" PRId64 ". The unit is the "
		     "run.",
		     *s->r.order ? s->r.order : "unknown", s->r.repeat,
		     s->r.repeat == 1 ? "run" : "runs", s->r.seed);
	strvec_pushf(to,
		     "± and shaded bands are intervals of the mean at %g %% (Student's t over "
		     "runs).",
		     REPORT_CONFIDENCE * 100);
	if (!s->g.overall)
		return;
	strvec_pushf(to,
		     "Changes are ratios of geometric means with intervals of %g %%. A change "
		     "counts from %g %% on%s; p is adjusted %s.",
		     s->g.confidence * 100, s->g.threshold * 100,
		     s->g.gated ? ", or from the threshold of the gate" : "", s->g.adjusted);
	if (s->g.methods.nr)
		strvec_pushf(to, "Methods: %s (docs/compare.md, docs/statistics.md).", methods);
	for (size_t i = 0; i < s->g.power.nr; i++) {
		CLEANUP(xfreep) char *words = campaign_power_words(&s->g.power.v[i]);
		CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

		strvec_split(&lines, words, "\n");
		for (size_t k = 0; k < lines.nr; k++)
			strvec_pushf(to, "%s%s", k ? "" : "Power: ", lines.v[k]);
	}
}

void report_words_make(struct report_shown *s)
{
	lead_make(s);
	state_make(s);
}
