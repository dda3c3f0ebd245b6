#include "report_priv.h"

#include <math.h>
#include <string.h>

#define BLOCKS_MAX 1000000

/* ---- questions ---- */

int report_ask(struct store *s, struct report_taking *t, const char *sql, report_row *row,
	       struct err *err)
{
	struct store_query q = { .ctx = t, .row = row };
	struct store_answer a;

	return store_ask(s, sql, &q, &a, err);
}

const char *report_text(struct report_taking *t, const struct store_cell *c)
{
	if (c->kind != STORE_TEXT)
		return "";
	return intern_str(t->r->texts, intern_put(t->r->texts, c->text, c->n));
}

static int64_t number_of(const struct store_cell *c)
{
	return c->kind == STORE_I64 ? c->i : 0;
}

uint32_t report_place(const struct intern *in, const struct store_cell *c)
{
	str_id id = c->kind == STORE_TEXT ? intern_find(in, c->text, c->n) : STR_NONE;

	return id == STR_NONE || id == 0 ? REPORT_NONE : id - 1;
}

/* ---- the campaign, its cells ---- */

static void plan_take(struct report_taking *t, const char *text)
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
	struct report_taking *t = ctx;

	(void)n, (void)err;
	t->r->name = report_text(t, &c[0]);
	if (c[1].kind == STORE_TEXT)
		plan_take(t, c[1].text);
	t->r->created_ns = number_of(&c[2]);
	t->r->seed = number_of(&c[3]);
	return 0;
}

static int cell_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct report_taking *t = ctx;
	json_t *axes = c[3].kind == STORE_TEXT ? json_loads(c[3].text, 0, NULL) : NULL;

	(void)n, (void)err;
	intern_put(t->cells, c[0].text, c[0].n);
	VEC_PUSH(&t->r->cells, ((struct report_cell){ .id = report_text(t, &c[0]),
						      .label = report_text(t, &c[1]),
						      .model = report_text(t, &c[2]),
						      .axes = axes ? axes : json_object(),
						      .is_baseline = number_of(&c[4]) != 0,
						      .baseline = REPORT_NONE }));
	return 0;
}

/* Once all cells are known. */
static int baseline_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct report_taking *t = ctx;
	uint32_t cell = report_place(t->cells, &c[0]), base = report_place(t->cells, &c[1]);

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
	struct report_taking *t = ctx;
	uint32_t at = report_place(t->cells, &c[1]);
	struct report_run run = { .id = report_text(t, &c[0]),
				  .cell = at,
				  .repeat = (uint32_t)number_of(&c[2]),
				  .block = (uint32_t)number_of(&c[3]),
				  .state = report_text(t, &c[4]),
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
	struct report_taking *t = ctx;
	uint32_t run = report_place(t->runs, &c[1]), at = (uint32_t)t->r->attempts.nr;
	struct report_attempt a = { .id = report_text(t, &c[0]),
				    .run = run,
				    .committed = number_of(&c[2]) != 0,
				    .state = report_text(t, &c[3]),
				    .class = report_text(t, &c[4]),
				    .reason = report_text(t, &c[5]),
				    .node = report_text(t, &c[6]),
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
	struct report_taking *t = ctx;
	uint32_t at = report_place(t->envs, &c[0]);

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

static int envs_take(struct store *s, struct report_taking *t, struct err *err)
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
	e = report_ask(s, t, "SELECT sha, json FROM env", env_row, err);
	if (r->envs.nr)
		envs_sort(r);
	return e;
}

/* ---- all of it ---- */

static int all_take(struct store *s, struct report_taking *t, struct err *err)
{
	int e = report_ask(s, t, "SELECT name, config_json, created_ns, seed FROM campaign LIMIT 1",
			   campaign_row, err);

	if (e == 0)
		e = report_ask(
			s, t,
			"SELECT id, label, model, axes_json, is_baseline FROM cell WHERE current "
			"ORDER BY ord, id",
			cell_row, err);
	if (e == 0)
		e = report_ask(
			s, t,
			"SELECT id, baseline FROM cell WHERE current AND baseline IS NOT NULL",
			baseline_row, err);
	if (e == 0)
		e = report_ask(
			s, t,
			"SELECT r.id, r.cell, r.repeat, r.block, r.state FROM cell AS c CROSS JOIN "
			"run AS r ON r.cell = c.id AND r.id > c.id || '-' AND r.id < c.id || '.' "
			"WHERE c.current AND r.current ORDER BY c.ord, c.id, r.repeat",
			run_row, err);
	if (e == 0)
		e = report_ask(s, t,
			       "SELECT id, run, committed, state, class, reason, node, env_sha, "
			       "started_ns, ended_ns FROM attempt ORDER BY run, n",
			       attempt_row, err);
	if (e == 0)
		e = envs_take(s, t, err);
	if (e == 0) {
		orders_set(t->r);
		e = report_figures_take(s, t, err);
	}
	if (e == 0)
		e = report_clocks_take(s, t, err);
	return e == 0 ? store_summary(s, &t->r->sum, err) : e;
}

int campaign_report_read(struct store *s, const struct strvec *wanted, struct campaign_report *ret,
			 struct err *err)
{
	struct report_taking t = { .r = ret,
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
	VEC_RELEASE(&r->clocks);
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

uint32_t campaign_report_cell(const struct campaign_report *r, const char *id)
{
	for (uint32_t i = 0; i < r->cells.nr; i++)
		if (!strcmp(r->cells.v[i].id, id))
			return i;
	return REPORT_NONE;
}
