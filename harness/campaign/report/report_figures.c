/* Figures of a campaign's report: which ones, their values, what follows from them. */
#include "report_priv.h"

#include <math.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/student.h"

#define WARNS 0.01

static double real_of(const struct store_cell *c)
{
	return c->kind == STORE_F64 ? c->f : c->kind == STORE_I64 ? (double)c->i : (double)NAN;
}

struct report_figure *campaign_report_figure(const struct campaign_report *r, const char *name,
					     const char *key)
{
	return VEC_FIND(&r->figures, e, !strcmp(e->name, name) && (!key || !strcmp(e->key, key)));
}

static int known_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct report_taking *t = ctx;

	(void)n, (void)err;
	strvec_push(&t->r->known, report_text(t, &c[0]));
	return 0;
}

static void sql_quote(struct strbuf *sb, const char *s)
{
	strbuf_addch(sb, '\'');
	for (; *s; s++)
		strbuf_addf(sb, *s == '\'' ? "''" : "%c", *s);
	strbuf_addch(sb, '\'');
}

struct figure_choice {
	struct report_taking *t;
	const char *name, *key; /* key NULL: any; of the report */
	size_t taken;
};

static void figure_add(struct campaign_report *r, const char *name, const char *key,
		       const char *unit, bool higher)
{
	const struct report_gate *g = VEC_FIND(&r->gates, e, !strcmp(e->metric, name));

	VEC_PUSH(&r->figures,
		 ((struct report_figure){
			 .name = name,
			 .key = key,
			 .unit = unit,
			 .higher = higher,
			 .threshold = g ? g->threshold : NAN,
			 .cells = xcalloc(r->cells.nr + 1, sizeof(struct report_sample)) }));
}

static int figure_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct figure_choice *f = ctx;
	const char *key = report_text(f->t, &c[0]);

	(void)n, (void)err;
	if (f->taken >= REPORT_KEYS_MAX) {
		f->t->r->more_keys++;
		return 0;
	}
	if (!campaign_report_figure(f->t->r, f->name, key))
		figure_add(f->t->r, f->name, key, report_text(f->t, &c[1]),
			   c[2].kind == STORE_TEXT && !strcmp(c[2].text, "higher"));
	f->taken++;
	return 0;
}

/* Its rows with the largest sums; 0 when no run has it. */
static int figures_choose(struct store *s, struct figure_choice *f, const char *stored,
			  struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT;
	struct store_query q = { .ctx = f, .row = figure_row };
	struct store_answer a;

	strbuf_addstr(&sql, "SELECT m.key, min(m.unit), min(m.better) " REPORT_OF_COMMITTED
			    "AND m.name = ");
	sql_quote(&sql, stored);
	if (f->key) {
		strbuf_addstr(&sql, " AND m.key = ");
		sql_quote(&sql, f->key);
	}
	strbuf_addstr(&sql, " GROUP BY m.key ORDER BY sum(abs(m.value)) DESC, m.key");
	return store_ask(s, sql.buf, &q, &a, err);
}

/* The name under which the store has a figure. */
static const char *stored_name(const struct campaign_report *r, const char *name)
{
	return !strcmp(name, "duration") && !strvec_has(&r->known, name) ? "wall" : name;
}

/* word: NAME or NAME:KEY; the name alone wins where both could be meant. */
static int word_take(struct store *s, struct report_taking *t, const char *word, struct err *err)
{
	struct intern *texts = t->r->texts;
	const char *colon = strchr(word, ':');
	CLEANUP(xfreep) char *front = xstrndup(word, colon ? (size_t)(colon - word) : strlen(word));
	bool whole = !colon || strvec_has(&t->r->known, word);
	struct figure_choice f = {
		.t = t,
		.name = intern_str(texts, intern_puts(texts, whole ? word : front)),
		.key = whole ? NULL : intern_str(texts, intern_puts(texts, colon + 1)),
	};
	int e = figures_choose(s, &f, stored_name(t->r, f.name), err);

	if (e == 0 && !f.taken && !strvec_has(&t->r->absent, word))
		strvec_push(&t->r->absent, word);
	return e;
}

static int words_take(struct store *s, struct report_taking *t, struct err *err)
{
	struct campaign_report *r = t->r;
	int e = 0;

	for (size_t i = 0; e == 0 && i < t->wanted->nr; i++)
		e = word_take(s, t, t->wanted->v[i], err);
	if (t->wanted->nr)
		return e;
	for (size_t i = 0; e == 0 && i < r->gates.nr; i++)
		e = word_take(s, t, r->gates.v[i].metric, err);
	for (size_t i = 0; e == 0 && i < r->metrics.nr; i++)
		if (!campaign_report_figure(r, r->metrics.v[i], NULL))
			e = word_take(s, t, r->metrics.v[i], err);
	if (e == 0 && !r->figures.nr && strvec_has(&r->known, "performance"))
		e = word_take(s, t, "performance", err);
	if (e == 0 && !r->figures.nr && strvec_has(&r->known, stored_name(r, "duration")))
		e = word_take(s, t, "duration", err);
	return e;
}

/* Values of one figure. */
struct value_taking {
	struct report_taking *t;
	struct report_figure *f;
};

static int value_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct value_taking *v = ctx;
	struct campaign_report *r = v->t->r;
	uint32_t at = report_place(v->t->attempts, &c[0]);
	double value = real_of(&c[1]);
	struct report_sample *s;

	(void)n, (void)err;
	if (at == REPORT_NONE || !isfinite(value))
		return 0;
	if (c[2].kind == STORE_TEXT && strcmp(c[2].text, v->f->unit) != 0)
		v->f->mixed = true;
	s = &v->f->cells[r->runs.v[r->attempts.v[at].run].cell];
	if (s->nr == s->cap) {
		s->cap = vec_grow_cap(s->cap, s->nr + 1);
		s->v = xreallocarray(s->v, s->cap, sizeof(*s->v));
	}
	s->v[s->nr++] = (struct report_value){ .run = r->attempts.v[at].run, .value = value };
	return 0;
}

static int values_take(struct store *s, struct report_taking *t, struct report_figure *f,
		       struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT;
	struct value_taking v = { t, f };
	struct store_query q = { .ctx = &v, .row = value_row };
	struct store_answer a;

	strbuf_addstr(&sql,
		      "SELECT m.attempt, m.value, m.unit " REPORT_OF_COMMITTED "AND m.name = ");
	sql_quote(&sql, stored_name(t->r, f->name));
	strbuf_addstr(&sql, " AND m.key = ");
	sql_quote(&sql, f->key);
	return store_ask(s, sql.buf, &q, &a, err);
}

static int value_cmp(const void *a, const void *b, void *ctx)
{
	const struct campaign_report *r = ctx;
	uint32_t x = r->runs.v[((const struct report_value *)a)->run].order;
	uint32_t y = r->runs.v[((const struct report_value *)b)->run].order;

	return x < y ? -1 : x > y;
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void sample_order_take(struct report_sample *s, const double *v)
{
	sample_order_check(v, s->nr, &s->order);
	s->drifts = s->order.drift_p < WARNS;
	s->clusters = s->order.lag1_p < WARNS && s->order.lag1 > 0;
}

static void sample_finish(const struct campaign_report *r, struct report_sample *s)
{
	double *v = xcalloc(s->nr + 1, sizeof(*v)), sum = 0, squares = 0;
	bool *far = xcalloc(s->nr + 1, sizeof(*far));
	size_t n = s->nr;

	if (n)
		qsort_r(s->v, n, sizeof(*s->v), value_cmp, (void *)(uintptr_t)r);
	for (size_t i = 0; i < n; i++)
		sum += v[i] = s->v[i].value;
	s->mean = n ? sum / (double)n : NAN;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - s->mean) * (v[i] - s->mean);
	s->stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
	s->cv = s->stddev / fabs(s->mean);
	s->low = s->mean -
		 student_t(REPORT_CONFIDENCE, n > 1 ? n - 1 : 0) * s->stddev / sqrt((double)n);
	s->high = 2 * s->mean - s->low;
	s->outliers = sample_outliers(v, n, far);
	for (size_t i = 0; i < n; i++)
		s->v[i].outlier = far[i];
	sample_order_take(s, v);
	qsort(v, n, sizeof(*v), double_cmp);
	s->median = n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
	s->against = (struct report_against){
		.ratio = NAN, .low = NAN, .high = NAN, .p = NAN, .p_adj = NAN
	};
	free(v);
	free(far);
}

int report_figures_take(struct store *s, struct report_taking *t, struct err *err)
{
	int e = report_ask(s, t, "SELECT DISTINCT name FROM metric ORDER BY name", known_row, err);

	if (e == 0)
		e = words_take(s, t, err);
	for (size_t i = 0; e == 0 && i < t->r->figures.nr; i++) {
		e = values_take(s, t, &t->r->figures.v[i], err);
		for (size_t k = 0; k < t->r->cells.nr; k++)
			sample_finish(t->r, &t->r->figures.v[i].cells[k]);
	}
	return e;
}

double report_figure_cv(const struct campaign_report *r, const struct report_figure *f)
{
	double squares = 0;
	size_t df = 0;

	for (size_t k = 0; k < r->cells.nr; k++) {
		const struct report_sample *s = &f->cells[k];
		double mean = 0;
		size_t n = 0;

		for (size_t i = 0; i < s->nr; i++)
			if (s->v[i].value > 0) {
				mean += log(s->v[i].value);
				n++;
			}
		if (n < 2)
			continue;
		mean /= (double)n;
		for (size_t i = 0; i < s->nr; i++)
			if (s->v[i].value > 0)
				squares += pow(log(s->v[i].value) - mean, 2);
		df += n - 1;
	}
	return df ? sqrt(squares / (double)df) : NAN;
}
