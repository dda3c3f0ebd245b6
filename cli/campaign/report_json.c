/* A campaign's report as JSON, profrig.campaign.report/1: docs/campaigns.md has its members. */
#include "report_show.h"

#include <math.h>
#include <string.h>

#include "profrig/base/json_out.h"

static void runs_put(const struct report_shown *s, struct json_out *j)
{
	const struct store_summary *sum = &s->r.sum;

	json_obj(j, "runs");
	json_u64(j, "planned", sum->runs);
	json_u64(j, "committed", sum->committed);
	json_u64(j, "running", sum->running);
	json_u64(j, "failed", sum->failed);
	json_u64(j, "left", sum->left);
	json_u64(j, "superseded", sum->superseded);
	json_u64(j, "unread", sum->unread);
	json_u64(j, "disputed", sum->disputed);
	json_f64(j, "mean_s", sum->mean_s);
	json_end(j);
}

static void verdict_put(const struct report_shown *s, struct json_out *j)
{
	json_obj(j, "verdict");
	json_str(j, "overall", s->g.overall);
	json_str(j, "sentence", s->lead);
	json_str(j, "gate", !s->g.gated || !s->g.overall ? NULL : s->g.passes ? "passes" : "fails");
	json_u64(j, "compared", s->g.compared);
	json_u64(j, "slower", s->g.slower);
	json_u64(j, "faster", s->g.faster);
	json_u64(j, "same", s->g.same);
	json_u64(j, "unclear", s->g.unclear);
	json_u64(j, "refused", s->g.refused);
	json_u64(j, "one_sided", s->g.one_sided);
	json_words(j, "reasons", &s->g.reasons);
	json_end(j);
	json_arr(j, "gates");
	for (size_t i = 0; i < s->r.gates.nr; i++) {
		double t = s->r.gates.v[i].threshold;

		json_obj(j, NULL);
		json_str(j, "metric", s->r.gates.v[i].metric);
		json_f64(j, "threshold", isnan(t) ? s->g.threshold : t);
		json_end(j);
	}
	json_end(j);
}

static void cells_put(const struct report_shown *s, struct json_out *j)
{
	json_arr(j, "cells");
	for (size_t i = 0; i < s->r.cells.nr; i++) {
		const struct report_cell *c = &s->r.cells.v[i];
		char *axes = json_dumps(c->axes, JSON_COMPACT);

		json_obj(j, NULL);
		json_str(j, "cell", c->id);
		json_str(j, "label", c->label);
		json_str(j, "model", c->model);
		json_raw(j, "axes", axes ? axes : "{}");
		json_bool(j, "is_baseline", c->is_baseline);
		json_str(j, "baseline",
			 c->baseline == REPORT_NONE ? NULL : s->r.cells.v[c->baseline].id);
		json_u64(j, "runs", c->runs);
		json_u64(j, "committed", c->committed);
		json_u64(j, "failed", c->failed);
		json_u64(j, "running", c->running);
		json_u64(j, "left", c->left);
		json_u64(j, "attempts", c->attempts);
		json_u64(j, "superseded", c->superseded);
		json_u64(j, "failed_attempts", c->failures);
		json_end(j);
		free(axes);
	}
	json_end(j);
}

/* ---- figures ---- */

static void against_put(const struct report_against *a, struct json_out *j)
{
	if (!a->verdict) {
		json_nil(j, "against");
		return;
	}
	json_obj(j, "against");
	json_str(j, "verdict", a->verdict);
	json_bool(j, "refused", a->refused);
	json_f64(j, "ratio", a->ratio);
	json_f64(j, "low", a->low);
	json_f64(j, "high", a->high);
	json_f64(j, "p", a->p);
	json_f64(j, "p_adj", a->p_adj);
	json_u64(j, "n_baseline", a->n_a);
	json_u64(j, "n", a->n_b);
	json_str(j, "method", a->method);
	json_end(j);
}

static void values_put(const struct report_shown *s, const struct report_sample *v,
		       struct json_out *j)
{
	json_arr(j, "values");
	for (size_t i = 0; i < v->nr; i++) {
		const struct report_run *run = &s->r.runs.v[v->v[i].run];

		json_obj(j, NULL);
		json_str(j, "attempt", s->r.attempts.v[run->attempt].id);
		json_u64(j, "block", run->block);
		json_u64(j, "order", run->order);
		json_f64(j, "value", v->v[i].value);
		json_bool(j, "outlier", v->v[i].outlier);
		json_end(j);
	}
	json_end(j);
}

static void sample_put(const struct report_shown *s, const struct report_figure *f, uint32_t cell,
		       struct json_out *j)
{
	const struct report_sample *v = &f->cells[cell];

	json_obj(j, NULL);
	json_str(j, "cell", s->r.cells.v[cell].id);
	json_u64(j, "n", v->nr);
	json_f64(j, "mean", v->mean);
	json_f64(j, "median", v->median);
	json_f64(j, "stddev", v->stddev);
	json_f64(j, "cv", v->cv);
	json_f64(j, "mean_low", v->low);
	json_f64(j, "mean_high", v->high);
	json_u64(j, "outliers", v->outliers);
	json_f64(j, "drift", v->order.drift);
	json_f64(j, "drift_p", v->order.drift_p);
	json_f64(j, "lag1", v->order.lag1);
	json_f64(j, "lag1_p", v->order.lag1_p);
	json_bool(j, "warns", v->drifts || v->clusters);
	json_str(j, "word", report_word(s, f, cell));
	against_put(&v->against, j);
	values_put(s, v, j);
	json_end(j);
}

static void figures_put(const struct report_shown *s, struct json_out *j)
{
	json_arr(j, "figures");
	for (size_t i = 0; i < s->r.figures.nr; i++) {
		const struct report_figure *f = &s->r.figures.v[i];

		json_obj(j, NULL);
		json_str(j, "metric", f->name);
		json_str(j, "key", f->key);
		json_str(j, "unit", f->unit);
		json_str(j, "better", f->higher ? "higher" : "lower");
		json_f64(j, "threshold", f->threshold);
		json_bool(j, "mixed_units", f->mixed);
		json_arr(j, "cells");
		for (uint32_t k = 0; k < s->r.cells.nr; k++)
			sample_put(s, f, k, j);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_words(j, "absent", &s->r.absent);
	json_words(j, "known", &s->r.known);
}

/* ---- failures, environments, methods ---- */

static void failures_put(const struct report_shown *s, struct json_out *j)
{
	json_arr(j, "failures");
	for (size_t i = 0; i < s->r.failures.nr; i++) {
		const struct report_failure *f = &s->r.failures.v[i];

		json_obj(j, NULL);
		json_str(j, "cell", s->r.cells.v[f->cell].id);
		json_str(j, "class", f->class);
		json_str(j, "state", f->state);
		json_str(j, "reason", f->reason);
		json_u64(j, "attempts", f->attempts);
		json_str(j, "example", f->example);
		json_end(j);
	}
	json_end(j);
}

static void environments_put(const struct report_shown *s, struct json_out *j)
{
	json_arr(j, "environments");
	for (size_t i = 0; i < s->r.envs.nr; i++) {
		json_obj(j, NULL);
		json_str(j, "sha", s->r.envs.v[i].sha);
		json_u64(j, "runs", s->r.envs.v[i].runs);
		json_end(j);
	}
	json_end(j);
	json_arr(j, "differences");
	for (size_t i = 0; i < s->r.differences.nr; i++) {
		const struct report_difference *d = &s->r.differences.v[i];

		json_obj(j, NULL);
		json_str(j, "fact", d->path);
		json_bool(j, "by_axis", report_by_axis(s, d->path));
		json_words(j, "values", &d->values);
		json_end(j);
	}
	json_end(j);
}

static void clocks_put(const struct report_shown *s, struct json_out *j)
{
	bool by_axis = report_clocks_by_axis(s);

	json_arr(j, "clocks");
	for (size_t i = 0; i < s->r.clocks.nr; i++) {
		const struct report_clock *c = &s->r.clocks.v[i];

		json_obj(j, NULL);
		json_str(j, "metric", c->metric);
		json_str(j, "model", c->model);
		json_u64(j, "block", c->block);
		json_f64(j, "low", c->low);
		json_f64(j, "high", c->high);
		json_str(j, "low_attempt", s->r.attempts.v[s->r.runs.v[c->run_low].attempt].id);
		json_str(j, "high_attempt", s->r.attempts.v[s->r.runs.v[c->run_high].attempt].id);
		json_bool(j, "by_axis", by_axis);
		json_end(j);
	}
	json_end(j);
}

static void method_put(const struct report_shown *s, struct json_out *j)
{
	json_obj(j, "method");
	json_str(j, "order", s->r.order);
	json_u64(j, "repeat", s->r.repeat);
	json_i64(j, "seed", s->r.seed);
	json_f64(j, "confidence", s->g.confidence);
	json_f64(j, "threshold", s->g.threshold);
	json_str(j, "adjusted", s->g.adjusted);
	json_words(j, "methods", &s->g.methods);
	json_arr(j, "power");
	for (size_t i = 0; i < s->g.power.nr; i++) {
		const struct campaign_power *w = &s->g.power.v[i];

		json_obj(j, NULL);
		json_str(j, "metric", w->of.metric);
		json_f64(j, "threshold", w->of.threshold);
		json_u64(j, "n", w->of.repeat);
		json_u64(j, "tests", w->of.tests);
		json_f64(j, "cv", w->cv);
		json_bool(j, "cv_measured", !isnan(w->of.cv));
		json_f64(j, "power_slower_10", w->slower);
		json_f64(j, "power_same", w->same);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void report_json(const struct report_shown *s, FILE *f)
{
	struct json_out j;
	char when[32];

	json_out_init(&j, f, 1);
	json_obj(&j, NULL);
	json_str(&j, "schema", "profrig.campaign.report/1");
	json_str(&j, "name", s->r.name);
	json_str(&j, "began", s->r.created_ns ? report_time(s->r.created_ns, when) : NULL);
	json_str(&j, "ended", s->r.last_ns ? report_time(s->r.last_ns, when) : NULL);
	json_bool(&j, "live", s->live);
	runs_put(s, &j);
	verdict_put(s, &j);
	cells_put(s, &j);
	figures_put(s, &j);
	failures_put(s, &j);
	environments_put(s, &j);
	clocks_put(s, &j);
	method_put(s, &j);
	json_words(&j, "notes", &s->g.notes);
	json_words(&j, "problems", &s->g.problems);
	json_end(&j);
	putc('\n', f);
}
