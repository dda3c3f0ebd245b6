#include "baseline.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/block_spread.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/run/runs.h"

#define MAX_RUN_JSON ((size_t)64 << 20)
#define CONFIDENCE 0.95
#define MARGIN 0.05 /* of `change`, as compare has it */
#define CLOCKS 0.05 /* a difference of clocks that counts there */
#define METHOD "paired log ratios, Student t"

/* --- the runs --- */

static double metric_value(const json_t *run, const char *name, const char **ret_unit)
{
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(run, "metrics"), i, m)
	{
		const char *is = json_string_value(json_object_get(m, "name"));
		const char *unit = json_string_value(json_object_get(m, "unit"));

		if (!is || strcmp(is, name) != 0 || !json_is_number(json_object_get(m, "value")))
			continue;
		*ret_unit = unit ? unit : "";
		return json_number_value(json_object_get(m, "value"));
	}
	*ret_unit = "";
	return NAN;
}

static void figures_read(struct paired_run *oc)
{
	CLEANUP(xfreep) char *path = fs_join(oc->run_dir, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	json_t *run = fs_read(path, MAX_RUN_JSON, &text, &n, NULL) == 0
			      ? json_loadb(text, n, 0, NULL)
			      : NULL;
	const char *unit;

	oc->clock_mhz = metric_value(run, "clock_mhz", &unit);
	oc->gpu_clock_mhz = metric_value(run, "gpu_clock_mhz", &unit);
	oc->performance = metric_value(run, "performance", &unit);
	oc->unit = xstrdup(unit);
	json_decref(run);
}

static char *tools_of(const struct prepared *p)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < p->conf.tools.nr; i++)
		strbuf_addf(&sb, "%s%s", i ? "," : "", p->conf.tools.v[i].tool->name);
	return strbuf_steal(&sb);
}

/*
 * The budget of all tools together: that of the run, else the sum over the tools if all state one.
 */
static double budget_of(const struct prepared *p)
{
	double sum = 0;

	if (!p->alone && !isnan(p->conf.overhead_budget))
		return p->conf.overhead_budget;
	for (size_t i = 0; i < p->conf.tools.nr; i++)
		sum += p->conf.tools.v[i].tool->budget;
	return p->conf.tools.nr ? sum : NAN;
}

void pairing_add(struct pairing *s, const struct prepared *p, size_t block,
		 const struct run_result *r)
{
	bool good = r->status == RUN_SUCCESS || r->status == RUN_PARTIAL;
	struct paired_run oc = { .run_dir = xstrdup(p->run_dir),
				 .run_id = xstrdup(p->run_id),
				 .tools = tools_of(p),
				 .bare = p->bare,
				 .alone = p->alone,
				 .block = block,
				 .workload_s = good ? r->workload_s : NAN,
				 .budget = budget_of(p),
				 .prepared = p };

	figures_read(&oc);
	VEC_PUSH(&s->v, oc);
}

FIELD_TABLE(run_fields, TEXT_FIELDS(struct paired_run, run_dir, run_id, tools, unit));
FIELD_TABLE(pairing_fields, FIELD_VEC(struct pairing, v, run_fields),
	    FIELD_VEC(struct pairing, costs, NULL));

void pairing_release(struct pairing *s)
{
	fields_release(s, pairing_fields);
}

static const struct paired_run *bare_of(const struct pairing *s, size_t block)
{
	return VEC_FIND(&s->v, x, x->bare && x->block == block);
}

struct baseline pairing_base(const struct pairing *s, size_t block)
{
	const struct paired_run *b = bare_of(s, block);
	struct baseline ret = { .workload_s = b ? b->workload_s : NAN };

	snprintf(ret.run_id, sizeof(ret.run_id), "%s", b ? b->run_id : "");
	return ret;
}

/* --- the cost --- */

static bool is_pair(double a, double b)
{
	return isfinite(a) && isfinite(b) && a > 0 && b > 0;
}

static double geometric_mean(const struct sample *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += log(v[i].value);
	return n ? exp(sum / (double)n) : NAN;
}

/* Pairs alone: v has what the tools' runs of blocks gave, base their partners without tools. */
static void change_of(const struct sample *base, const struct sample *v, size_t n,
		      struct cost_change *ret)
{
	sample_compare(base, n, v, n, MARGIN, CONFIDENCE, &ret->effect);
	ret->baseline = geometric_mean(base, n);
	ret->tools = geometric_mean(v, n);
}

static bool of_kind(const struct paired_run *oc, const struct paired_run *kind)
{
	return !oc->bare && oc->alone == kind->alone && !strcmp(oc->tools, kind->tools);
}

static void cost_of(const struct pairing *s, const struct paired_run *of, struct cost *ret)
{
	CLEANUP(xfreep) struct sample *v = xcalloc(4 * s->v.nr + 4, sizeof(*v));
	struct sample *a = v, *b = v + s->v.nr, *pa = v + 2 * s->v.nr, *pb = v + 3 * s->v.nr;
	size_t n = 0, pn = 0;

	for (size_t i = 0; i < s->v.nr; i++) {
		const struct paired_run *oc = &s->v.v[i], *bare = bare_of(s, oc->block);
		uint32_t block = (uint32_t)oc->block;

		if (!of_kind(oc, of) || !bare || !is_pair(oc->workload_s, bare->workload_s))
			continue;
		a[n] = (struct sample){ bare->workload_s, block };
		b[n++] = (struct sample){ oc->workload_s, block };
		if (strcmp(bare->unit, oc->unit) != 0 ||
		    !is_pair(oc->performance, bare->performance))
			continue;
		pa[pn] = (struct sample){ bare->performance, block };
		pb[pn++] = (struct sample){ oc->performance, block };
	}
	*ret = (struct cost){ .of = of };
	change_of(a, b, n, &ret->time);
	change_of(pa, pb, pn, &ret->speed);
}

size_t cost_pairs(const struct cost_change *c)
{
	return c->effect.n_a;
}

bool cost_over_budget(const struct cost *c)
{
	return cost_pairs(&c->time) > 0 && !isnan(c->of->budget) &&
	       c->time.effect.ratio - 1 > c->of->budget;
}

const char *cost_verdict(const struct cost *c)
{
	const struct sample_effect *e = &c->time.effect;

	if (isnan(c->of->budget) || !cost_pairs(&c->time))
		return "";
	if (!cost_over_budget(c))
		return "within";
	return sample_judge(e, e->p, c->of->budget, CONFIDENCE) == SAMPLE_SLOWER ? "over"
										 : "unclear";
}

const char *cost_change(const struct cost *c)
{
	const struct sample_effect *e = &c->time.effect;

	return cost_pairs(&c->time) ? sample_verdict_name(sample_judge(e, e->p, MARGIN, CONFIDENCE))
				    : "";
}

static void costs_of(struct pairing *s)
{
	for (size_t i = 0; i < s->v.nr; i++) {
		const struct paired_run *oc = &s->v.v[i];
		bool known = oc->bare;
		struct cost c;

		for (size_t k = 0; k < s->costs.nr && !known; k++)
			known = of_kind(oc, s->costs.v[k].of);
		if (known)
			continue;
		cost_of(s, oc, &c);
		VEC_PUSH(&s->costs, c);
	}
}

/* --- clocks --- */

static void clocks_compare(struct pairing *s, bool gpu, double *worst)
{
	CLEANUP(xfreep) struct sample *v = xcalloc(s->v.nr + 1, sizeof(*v));
	CLEANUP(xfreep) struct block_spread *b = NULL;
	size_t n;

	for (size_t i = 0; i < s->v.nr; i++) {
		const struct paired_run *oc = &s->v.v[i];

		v[i] = (struct sample){ gpu ? oc->gpu_clock_mhz : oc->clock_mhz,
					(uint32_t)oc->block };
	}
	n = block_spreads(v, s->v.nr, CLOCKS, &b);
	s->clocks_differ += n;
	for (size_t i = 0; i < n; i++) {
		double more = b[i].high / b[i].low - 1;

		if (!(more > *worst))
			continue;
		*worst = more;
		snprintf(s->clocks, sizeof(s->clocks),
			 "%s differs %.1f %% within pair %zu, %.0f to %.0f MHz",
			 gpu ? "gpu_clock_mhz" : "clock_mhz", 100 * more, (size_t)b[i].block + 1,
			 b[i].low, b[i].high);
	}
}

static void clocks_of(struct pairing *s)
{
	double worst = 0;

	clocks_compare(s, false, &worst);
	clocks_compare(s, true, &worst);
}

/* --- baseline.json --- */

static json_t *number_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *cost_json(const struct cost *c)
{
	const struct sample_effect *t = &c->time.effect, *p = &c->speed.effect;
	json_t *o = json_object();

	json_object_set_new(o, "tools", json_string(c->of->tools));
	json_object_set_new(o, "alone", json_boolean(c->of->alone));
	json_object_set_new(o, "pairs", json_integer((json_int_t)cost_pairs(&c->time)));
	json_object_set_new(o, "overhead", number_json(t->ratio - 1));
	json_object_set_new(o, "ci_low", number_json(t->low - 1));
	json_object_set_new(o, "ci_high", number_json(t->high - 1));
	json_object_set_new(o, "baseline_s", number_json(c->time.baseline));
	json_object_set_new(o, "tools_s", number_json(c->time.tools));
	json_object_set_new(o, "unit", json_string(cost_pairs(&c->speed) ? c->of->unit : ""));
	json_object_set_new(o, "baseline_performance", number_json(c->speed.baseline));
	json_object_set_new(o, "tools_performance", number_json(c->speed.tools));
	json_object_set_new(o, "performance_ratio", number_json(p->ratio));
	json_object_set_new(o, "performance_low", number_json(p->low));
	json_object_set_new(o, "performance_high", number_json(p->high));
	json_object_set_new(o, "budget", number_json(c->of->budget));
	json_object_set_new(o, "verdict", json_string(cost_verdict(c)));
	json_object_set_new(o, "change", json_string(cost_change(c)));
	json_object_set_new(o, "p_value", number_json(t->p));
	json_object_set_new(o, "method", json_string(sample_method_name(t->method)));
	return o;
}

static json_t *paired_run_json(const struct paired_run *oc)
{
	return json_pack("{s:s, s:s, s:I, s:o, s:o, s:s}", "run", oc->run_id, "tools", oc->tools,
			 "block", (json_int_t)oc->block, "workload_s", number_json(oc->workload_s),
			 "performance", number_json(oc->performance), "unit", oc->unit);
}

static json_t *pairing_json(const struct pairing *s)
{
	json_t *doc = json_object(), *rows = json_array(), *runs = json_array();

	for (size_t i = 0; i < s->costs.nr; i++)
		json_array_append_new(rows, cost_json(&s->costs.v[i]));
	for (size_t i = 0; i < s->v.nr; i++)
		json_array_append_new(runs, paired_run_json(&s->v.v[i]));
	json_object_set_new(doc, "schema", json_string("profrig.baseline/1"));
	json_object_set_new(doc, "method", json_string(METHOD));
	json_object_set_new(doc, "confidence", json_real(CONFIDENCE));
	json_object_set_new(doc, "overhead", rows);
	json_object_set_new(doc, "clocks_differ", json_integer((json_int_t)s->clocks_differ));
	json_object_set_new(doc, "runs", runs);
	return doc;
}

/* --- into the runs --- */

static void add_problem(int r, const struct err *err, struct strvec *problems)
{
	if (r < 0)
		strvec_push(problems, err->msg);
}

void pairing_pair(struct pairing *s, size_t i, struct strvec *problems)
{
	const struct paired_run *oc = &s->v.v[i], *bare = bare_of(s, oc->block);
	struct run_overhead ro = { .budget = NAN };
	struct err err = ERR_INIT;

	if (oc->bare || !bare)
		return;
	ro.baseline_id = bare->run_id;
	ro.baseline_s = bare->workload_s;
	ro.workload_s = oc->workload_s;
	add_problem(run_note_overhead(oc->run_dir, &ro, &err), &err, problems);
}

static void note_cost(const struct paired_run *oc, const struct cost *c, struct strvec *problems)
{
	struct run_overhead ro = { .baseline_s = NAN,
				   .workload_s = NAN,
				   .pairs = cost_pairs(&c->time),
				   .mean = c->time.effect.ratio - 1,
				   .low = c->time.effect.low - 1,
				   .high = c->time.effect.high - 1,
				   .budget = cost_over_budget(c) ? c->of->budget : NAN,
				   .tools = c->of->tools };
	struct err err = ERR_INIT;

	add_problem(run_note_overhead(oc->run_dir, &ro, &err), &err, problems);
}

static void note_run(const struct pairing *s, const struct paired_run *oc, const char *text,
		     struct strvec *problems)
{
	CLEANUP(xfreep) char *path = fs_join(oc->run_dir, "baseline.json");
	struct err err = ERR_INIT;

	add_problem(fs_write_atomic(path, text, strlen(text), &err), &err, problems);
	for (size_t i = 0; i < s->costs.nr; i++)
		if (of_kind(oc, s->costs.v[i].of))
			note_cost(oc, &s->costs.v[i], problems);
}

/* `latest` points to the last run with all tools, which users look at. */
static void move_latest(const struct pairing *s)
{
	const struct paired_run *to = NULL;

	for (size_t i = 0; i < s->v.nr; i++)
		if (!s->v.v[i].bare && (!to || to->alone || !s->v.v[i].alone))
			to = &s->v.v[i];
	if (to)
		runs_move_latest(s->v.v[s->v.nr - 1].run_dir, to->run_dir);
}

bool pairing_conclude(struct pairing *s, struct strvec *problems)
{
	CLEANUP(xfreep) char *text = NULL;
	bool over = false;
	json_t *doc;

	costs_of(s);
	clocks_of(s);
	doc = pairing_json(s);
	text = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(doc);
	for (size_t i = 0; text && i < s->v.nr; i++)
		if (!s->v.v[i].bare)
			note_run(s, &s->v.v[i], text, problems);
	for (size_t i = 0; i < s->costs.nr; i++)
		over |= cost_over_budget(&s->costs.v[i]);
	move_latest(s);
	return over;
}
