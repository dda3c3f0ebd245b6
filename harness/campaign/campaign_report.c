#include "campaign_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/student.h"

#define WARNS 0.01
#define BLOCKS_MAX 1000000

/* ---- questions ---- */

/* What rows of a question are added to. */
struct taking {
	struct campaign_report *r;
	const struct strvec *wanted;
	struct intern *cells, *runs, *attempts, *envs; /* id − 1 is the place */
};

typedef int taking_row(void *ctx, const struct store_cell *c, size_t n, struct err *err);

static int ask(struct store *s, struct taking *t, const char *sql, taking_row *row, struct err *err)
{
	struct store_query q = { .ctx = t, .row = row };
	struct store_answer a;

	return store_ask(s, sql, &q, &a, err);
}

static const char *text_of(struct taking *t, const struct store_cell *c)
{
	if (c->kind != STORE_TEXT)
		return "";
	return intern_str(t->r->texts, intern_put(t->r->texts, c->text, c->n));
}

static int64_t number_of(const struct store_cell *c)
{
	return c->kind == STORE_I64 ? c->i : 0;
}

static double real_of(const struct store_cell *c)
{
	return c->kind == STORE_F64 ? c->f : c->kind == STORE_I64 ? (double)c->i : NAN;
}

/* The place of an id in the vector whose ids are in `in`. */
static uint32_t place_of(const struct intern *in, const struct store_cell *c)
{
	str_id id = c->kind == STORE_TEXT ? intern_find(in, c->text, c->n) : STR_NONE;

	return id == STR_NONE || id == 0 ? REPORT_NONE : id - 1;
}

/* ---- the campaign, its cells ---- */

static void plan_take(struct taking *t, const char *text)
{
	json_t *doc = json_loads(text, 0, NULL), *one;
	const char *order = json_string_value(json_object_get(doc, "order"));
	size_t i;

	t->r->repeat = (uint32_t)json_integer_value(json_object_get(doc, "repeat"));
	t->r->order = intern_str(t->r->texts, intern_puts(t->r->texts, order ? order : ""));
	json_array_foreach(json_object_get(doc, "metrics"), i, one) if (json_is_string(one))
		strvec_push(&t->r->metrics, json_string_value(one));
	json_array_foreach(json_object_get(doc, "gate"), i, one)
	{
		const char *metric = json_string_value(json_object_get(one, "metric"));
		const json_t *v = json_object_get(one, "threshold");

		if (metric)
			VEC_PUSH(&t->r->gates,
				 ((struct report_gate){
					 intern_str(t->r->texts, intern_puts(t->r->texts, metric)),
					 json_is_number(v) ? json_number_value(v) : NAN }));
	}
	json_decref(doc);
}

static int campaign_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct taking *t = ctx;

	(void)n, (void)err;
	t->r->name = text_of(t, &c[0]);
	if (c[1].kind == STORE_TEXT)
		plan_take(t, c[1].text);
	t->r->created_ns = number_of(&c[2]);
	t->r->seed = number_of(&c[3]);
	return 0;
}

static int cell_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct taking *t = ctx;
	json_t *axes = c[3].kind == STORE_TEXT ? json_loads(c[3].text, 0, NULL) : NULL;

	(void)n, (void)err;
	intern_put(t->cells, c[0].text, c[0].n);
	VEC_PUSH(&t->r->cells, ((struct report_cell){ .id = text_of(t, &c[0]),
						      .label = text_of(t, &c[1]),
						      .model = text_of(t, &c[2]),
						      .axes = axes ? axes : json_object(),
						      .is_baseline = number_of(&c[4]) != 0,
						      .baseline = REPORT_NONE }));
	return 0;
}

/* Once all cells are known. */
static int baseline_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct taking *t = ctx;
	uint32_t cell = place_of(t->cells, &c[0]), base = place_of(t->cells, &c[1]);

	(void)n, (void)err;
	if (cell == REPORT_NONE || base == REPORT_NONE || base == cell)
		return 0;
	t->r->cells.v[cell].baseline = base;
	t->r->cells.v[base].compares = true;
	return 0;
}

/* ---- runs and attempts ---- */

static int run_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct taking *t = ctx;
	uint32_t at = place_of(t->cells, &c[1]);
	struct report_run run = { .id = text_of(t, &c[0]),
				  .cell = at,
				  .repeat = (uint32_t)number_of(&c[2]),
				  .block = (uint32_t)number_of(&c[3]),
				  .state = text_of(t, &c[4]),
				  .attempt = REPORT_NONE };
	struct report_cell *cell;

	(void)n, (void)err;
	if (at == REPORT_NONE)
		return 0;
	if (run.block > BLOCKS_MAX)
		run.block = 0;
	cell = &t->r->cells.v[at];
	cell->runs++;
	cell->committed += !strcmp(run.state, "committed");
	cell->failed += !strcmp(run.state, "failed");
	cell->running += !strcmp(run.state, "running");
	cell->left += !strcmp(run.state, "planned") || !strcmp(run.state, "ended");
	intern_put(t->runs, c[0].text, c[0].n);
	VEC_PUSH(&t->r->runs, run);
	return 0;
}

static int attempt_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct taking *t = ctx;
	uint32_t run = place_of(t->runs, &c[1]), at = (uint32_t)t->r->attempts.nr;
	struct report_attempt a = { .id = text_of(t, &c[0]),
				    .run = run,
				    .committed = number_of(&c[2]) != 0,
				    .state = text_of(t, &c[3]),
				    .class = text_of(t, &c[4]),
				    .reason = text_of(t, &c[5]),
				    .node = text_of(t, &c[6]),
				    .env = REPORT_NONE,
				    .started_ns = number_of(&c[8]),
				    .ended_ns = number_of(&c[9]) };
	struct report_cell *cell;

	(void)n, (void)err;
	if (run == REPORT_NONE)
		return 0;
	if (c[7].kind == STORE_TEXT && a.committed)
		a.env = intern_put(t->envs, c[7].text, c[7].n) - 1;
	cell = &t->r->cells.v[t->r->runs.v[run].cell];
	cell->attempts++;
	cell->superseded += !strcmp(a.state, "superseded");
	if (a.committed)
		t->r->runs.v[run].attempt = at;
	if (a.ended_ns > t->r->last_ns)
		t->r->last_ns = a.ended_ns;
	intern_put(t->attempts, c[0].text, c[0].n);
	VEC_PUSH(&t->r->attempts, a);
	return 0;
}

static int began_cmp(const void *a, const void *b, void *ctx)
{
	const struct campaign_report *r = ctx;
	const struct report_run *x = &r->runs.v[*(const uint32_t *)a];
	const struct report_run *y = &r->runs.v[*(const uint32_t *)b];
	int64_t tx = r->attempts.v[x->attempt].started_ns,
		ty = r->attempts.v[y->attempt].started_ns;

	if (tx != ty)
		return tx < ty ? -1 : 1;
	return x->block != y->block ? (x->block < y->block ? -1 : 1) : x < y ? -1 : x > y;
}

static void orders_set(struct campaign_report *r)
{
	uint32_t *at = xcalloc(r->runs.nr + 1, sizeof(*at));
	size_t nr = 0;

	for (uint32_t i = 0; i < r->runs.nr; i++)
		if (r->runs.v[i].attempt != REPORT_NONE)
			at[nr++] = i;
	qsort_r(at, nr, sizeof(*at), began_cmp, r);
	for (size_t i = 0; i < nr; i++)
		r->runs.v[at[i]].order = (uint32_t)i + 1;
	free(at);
}

/* ---- failures ---- */

static bool attempt_failed(const struct report_attempt *a)
{
	return !a->committed && *a->class && strcmp(a->class, "ok") != 0 &&
	       strcmp(a->state, "superseded") != 0;
}

static void failure_add(struct campaign_report *r, const struct report_attempt *a)
{
	uint32_t cell = r->runs.v[a->run].cell;
	/* texts are interned, so that equal ones have one address */
	struct report_failure *f = VEC_FIND(
		&r->failures, e, e->cell == cell && e->class == a->class && e->reason == a->reason);

	r->cells.v[cell].failures++;
	if (!f) {
		VEC_PUSH(&r->failures, ((struct report_failure){ .cell = cell,
								 .state = a->state,
								 .class = a->class,
								 .reason = a->reason }));
		f = &r->failures.v[r->failures.nr - 1];
	}
	f->attempts++;
	f->example = a->id;
}

static int failure_cmp(const void *a, const void *b)
{
	const struct report_failure *x = a, *y = b;

	if (x->attempts != y->attempts)
		return x->attempts > y->attempts ? -1 : 1;
	return x->cell != y->cell ? (x->cell < y->cell ? -1 : 1) : strcmp(x->reason, y->reason);
}

static void failures_find(struct campaign_report *r)
{
	for (size_t i = 0; i < r->attempts.nr; i++)
		if (attempt_failed(&r->attempts.v[i]))
			failure_add(r, &r->attempts.v[i]);
	if (r->failures.nr)
		qsort(r->failures.v, r->failures.nr, sizeof(*r->failures.v), failure_cmp);
}

bool report_cell_lost(const struct report_cell *c)
{
	return c->failed > 0;
}

/* ---- environments ---- */

static int env_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct taking *t = ctx;
	uint32_t at = place_of(t->envs, &c[0]);

	(void)n, (void)err;
	if (at != REPORT_NONE && at < t->r->envs.nr && c[1].kind == STORE_TEXT)
		t->r->envs.v[at].doc = json_loads(c[1].text, 0, NULL);
	return 0;
}

static int env_cmp(const void *a, const void *b, void *ctx)
{
	const struct campaign_report *r = ctx;
	const struct report_env *x = &r->envs.v[*(const uint32_t *)a];
	const struct report_env *y = &r->envs.v[*(const uint32_t *)b];

	if (x->runs != y->runs)
		return x->runs > y->runs ? -1 : 1;
	return strcmp(x->sha, y->sha);
}

/* Most runs first; attempts follow. */
static void envs_sort(struct campaign_report *r)
{
	size_t nr = r->envs.nr;
	uint32_t *at = xcalloc(nr + 1, sizeof(*at)), *to = xcalloc(nr + 1, sizeof(*to));
	struct report_env *sorted = xcalloc(nr + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < nr; i++)
		at[i] = i;
	qsort_r(at, nr, sizeof(*at), env_cmp, r);
	for (uint32_t i = 0; i < nr; i++) {
		sorted[i] = r->envs.v[at[i]];
		to[at[i]] = i;
	}
	memcpy(r->envs.v, sorted, nr * sizeof(*sorted));
	for (size_t i = 0; i < r->attempts.nr; i++)
		if (r->attempts.v[i].env != REPORT_NONE)
			r->attempts.v[i].env = to[r->attempts.v[i].env];
	free(at);
	free(to);
	free(sorted);
}

static int envs_take(struct store *s, struct taking *t, struct err *err)
{
	struct campaign_report *r = t->r;
	int e;

	for (str_id i = 1; i < intern_count(t->envs); i++)
		VEC_PUSH(&r->envs,
			 ((struct report_env){
				 .sha = intern_str(
					 r->texts,
					 intern_puts(r->texts, intern_str(t->envs, i))) }));
	for (size_t i = 0; i < r->attempts.nr; i++)
		if (r->attempts.v[i].env != REPORT_NONE)
			r->envs.v[r->attempts.v[i].env].runs++;
	e = ask(s, t, "SELECT sha, json FROM env", env_row, err);
	if (r->envs.nr)
		envs_sort(r);
	return e;
}

/* ---- figures ---- */

#define OF_COMMITTED \
	"FROM cell AS c CROSS JOIN run AS r ON r.id > c.id || '-' AND r.id < c.id || '.' " \
	"AND r.cell = c.id CROSS JOIN attempt AS t ON t.id > r.id || '.' AND t.id < r.id || '/' " \
	"CROSS JOIN metric AS m ON m.attempt = t.id WHERE c.current AND r.current AND " \
	"t.committed "

static int known_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct taking *t = ctx;

	(void)n, (void)err;
	strvec_push(&t->r->known, text_of(t, &c[0]));
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
	struct taking *t;
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
	const char *key = text_of(f->t, &c[0]);

	(void)n, (void)err;
	if (f->taken >= REPORT_KEYS_MAX) {
		f->t->r->more_keys++;
		return 0;
	}
	if (!campaign_report_figure(f->t->r, f->name, key))
		figure_add(f->t->r, f->name, key, text_of(f->t, &c[1]),
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

	strbuf_addstr(&sql,
		      "SELECT m.key, min(m.unit), min(m.better) " OF_COMMITTED "AND m.name = ");
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
static int word_take(struct store *s, struct taking *t, const char *word, struct err *err)
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

static int words_take(struct store *s, struct taking *t, struct err *err)
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
	struct taking *t;
	struct report_figure *f;
};

static int value_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct value_taking *v = ctx;
	struct campaign_report *r = v->t->r;
	uint32_t at = place_of(v->t->attempts, &c[0]);
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

static int values_take(struct store *s, struct taking *t, struct report_figure *f, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT;
	struct value_taking v = { t, f };
	struct store_query q = { .ctx = &v, .row = value_row };
	struct store_answer a;

	strbuf_addstr(&sql, "SELECT m.attempt, m.value, m.unit " OF_COMMITTED "AND m.name = ");
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

static int figures_take(struct store *s, struct taking *t, struct err *err)
{
	int e = ask(s, t, "SELECT DISTINCT name FROM metric ORDER BY name", known_row, err);

	if (e == 0)
		e = words_take(s, t, err);
	for (size_t i = 0; e == 0 && i < t->r->figures.nr; i++) {
		e = values_take(s, t, &t->r->figures.v[i], err);
		for (size_t k = 0; k < t->r->cells.nr; k++)
			sample_finish(t->r, &t->r->figures.v[i].cells[k]);
	}
	return e;
}

/* ---- all of it ---- */

static int all_take(struct store *s, struct taking *t, struct err *err)
{
	int e = ask(s, t, "SELECT name, config_json, created_ns, seed FROM campaign LIMIT 1",
		    campaign_row, err);

	if (e == 0)
		e = ask(s, t,
			"SELECT id, label, model, axes_json, is_baseline FROM cell WHERE current "
			"ORDER BY ord, id",
			cell_row, err);
	if (e == 0)
		e = ask(s, t,
			"SELECT id, baseline FROM cell WHERE current AND baseline IS NOT NULL",
			baseline_row, err);
	if (e == 0)
		e = ask(s, t,
			"SELECT r.id, r.cell, r.repeat, r.block, r.state FROM cell AS c CROSS JOIN "
			"run AS r ON r.cell = c.id AND r.id > c.id || '-' AND r.id < c.id || '.' "
			"WHERE c.current AND r.current ORDER BY c.ord, c.id, r.repeat",
			run_row, err);
	if (e == 0)
		e = ask(s, t,
			"SELECT id, run, committed, state, class, reason, node, env_sha, "
			"started_ns, ended_ns FROM attempt ORDER BY run, n",
			attempt_row, err);
	if (e == 0)
		e = envs_take(s, t, err);
	if (e == 0) {
		orders_set(t->r);
		e = figures_take(s, t, err);
	}
	return e == 0 ? store_summary(s, &t->r->sum, err) : e;
}

int campaign_report_read(struct store *s, const struct strvec *wanted, struct campaign_report *ret,
			 struct err *err)
{
	struct taking t = { .r = ret,
			    .wanted = wanted,
			    .cells = intern_new(),
			    .runs = intern_new(),
			    .attempts = intern_new(),
			    .envs = intern_new() };
	int e;

	*ret = (struct campaign_report){ .texts = intern_new(),
					 .name = "",
					 .order = "",
					 .metrics = STRVEC_INIT,
					 .known = STRVEC_INIT,
					 .absent = STRVEC_INIT };
	e = all_take(s, &t, err);
	intern_free(t.cells);
	intern_free(t.runs);
	intern_free(t.attempts);
	intern_free(t.envs);
	if (e < 0) {
		campaign_report_release(ret);
		return e;
	}
	failures_find(ret);
	report_differences_find(ret);
	return 0;
}

void campaign_report_release(struct campaign_report *r)
{
	for (size_t i = 0; i < r->figures.nr; i++) {
		for (size_t k = 0; k < r->cells.nr; k++)
			free(r->figures.v[i].cells[k].v);
		free(r->figures.v[i].cells);
	}
	for (size_t i = 0; i < r->cells.nr; i++)
		json_decref(r->cells.v[i].axes);
	for (size_t i = 0; i < r->envs.nr; i++)
		json_decref(r->envs.v[i].doc);
	for (size_t i = 0; i < r->differences.nr; i++) {
		free(r->differences.v[i].path);
		strvec_release(&r->differences.v[i].values);
	}
	VEC_RELEASE(&r->gates);
	VEC_RELEASE(&r->cells);
	VEC_RELEASE(&r->runs);
	VEC_RELEASE(&r->attempts);
	VEC_RELEASE(&r->figures);
	VEC_RELEASE(&r->failures);
	VEC_RELEASE(&r->envs);
	VEC_RELEASE(&r->differences);
	strvec_release(&r->metrics);
	strvec_release(&r->known);
	strvec_release(&r->absent);
	intern_free(r->texts);
	*r = (struct campaign_report){ 0 };
}

struct report_figure *campaign_report_figure(const struct campaign_report *r, const char *name,
					     const char *key)
{
	return VEC_FIND(&r->figures, e, !strcmp(e->name, name) && (!key || !strcmp(e->key, key)));
}

uint32_t campaign_report_cell(const struct campaign_report *r, const char *id)
{
	for (uint32_t i = 0; i < r->cells.nr; i++)
		if (!strcmp(r->cells.v[i].id, id))
			return i;
	return REPORT_NONE;
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
