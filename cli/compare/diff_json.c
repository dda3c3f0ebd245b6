#include "diff_show.h"
#include "trace_show.h"

#include <math.h>

#include "profrig/base/json_out.h"

static void stats_put(struct json_out *j, const char *key, const struct compare_stats *s)
{
	json_obj(j, key);
	json_u64(j, "n", s->n);
	json_f64(j, "mean", s->mean);
	json_f64(j, "median", s->median);
	json_f64(j, "stddev", s->stddev);
	json_u64(j, "outliers", s->outliers);
	json_end(j);
}

/* One line each, as there may be a million. */
static void row_put(struct json_out *j, const struct comparison *c, const struct compare_row *r)
{
	char method[64];

	json_obj(j, NULL);
	j->indent = 0;
	json_str(j, "key", diff_row_text(r));
	json_str(j, "metric", r->name);
	json_str(j, "unit", r->unit);
	json_str(j, "better", figure_better_name(r->better));
	json_str(j, "side", c->versus.v[r->versus].name_b);
	json_str(j, "against", c->versus.v[r->versus].name_a);
	stats_put(j, "a", &r->a);
	stats_put(j, "b", &r->b);
	json_f64(j, "delta", r->delta);
	json_f64(j, "delta_rel", r->ratio - 1);
	json_f64(j, "ci_low", r->low - 1);
	json_f64(j, "ci_high", r->high - 1);
	json_f64(j, "ratio", r->ratio);
	json_f64(j, "p_value", r->p);
	json_f64(j, "p_adj", r->p_adj);
	json_f64(j, "p_ranks", r->p_ranks);
	json_u64(j, "n", (uint64_t)r->a.n + r->b.n);
	json_str(j, "method", compare_method(r, c->o.declared, method));
	json_str(j, "verdict", compare_verdict_name(r->verdict));
	json_bool(j, "refused", r->refused);
	json_end(j);
	j->indent = 2;
}

static void versus_put(struct json_out *j, const struct compare_versus *v)
{
	json_obj(j, NULL);
	json_str(j, "side", v->name_b);
	json_str(j, "against", v->name_a);
	json_f64(j, "score", v->comparable.score);
	json_words(j, "reasons", &v->comparable.reasons);
	json_obj(j, "verdicts");
	for (int i = 0; i < COMPARE_VERDICTS; i++)
		json_u64(j, compare_verdict_name((enum compare_verdict)i), v->of[i]);
	json_end(j);
	json_str(j, "verdict",
		 v->comparable.hard ? "not comparable" : compare_verdict_name(v->verdict));
	trace_json(j, "trace", v);
	json_end(j);
}

static void side_put(struct json_out *j, const struct diff_side *s)
{
	json_obj(j, NULL);
	json_str(j, "side", s->name);
	json_str(j, "input", s->word);
	json_u64(j, "runs", s->runs);
	json_u64(j, "failed", s->failed);
	json_u64(j, "cells", s->cells);
	json_end(j);
}

static void reasons_put(struct json_out *j, const struct comparison *c)
{
	json_obj(j, "comparable");
	json_f64(j, "score", comparison_score(c));
	json_arr(j, "reasons");
	for (size_t i = 0; i < c->versus.nr; i++)
		for (size_t k = 0; k < c->versus.v[i].comparable.reasons.nr; k++)
			json_str(j, NULL, c->versus.v[i].comparable.reasons.v[k]);
	json_end(j);
	json_end(j);
}

void diff_json(const struct diff *d, FILE *f)
{
	const struct comparison *c = d->c;
	struct json_out j;

	json_out_init(&j, f, 2);
	json_obj(&j, NULL);
	reasons_put(&j, c);
	json_f64(&j, "threshold", c->o.threshold);
	json_f64(&j, "confidence", c->o.confidence);
	json_str(&j, "adjusted", c->o.declared ? "holm" : "bh");
	json_arr(&j, "sides");
	for (size_t i = 0; i < d->sides.nr; i++)
		side_put(&j, &d->sides.v[i]);
	json_end(&j);
	json_words(&j, "only", &d->only);
	json_arr(&j, "versus");
	for (size_t i = 0; i < c->versus.nr; i++)
		versus_put(&j, &c->versus.v[i]);
	json_end(&j);
	json_arr(&j, "rows");
	for (size_t i = 0; i < c->rows.nr; i++)
		row_put(&j, c, &c->rows.v[i]);
	json_end(&j);
	json_words(&j, "notes", &c->notes);
	json_words(&j, "problems", &c->problems);
	json_str(&j, "verdict", comparison_verdict(c));
	json_end(&j);
	fputc('\n', f);
}
