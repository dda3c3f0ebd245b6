#include "baseline.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/paired.h"
#include "profrig/run/runs.h"

#define MAX_RUN_JSON ((size_t)64 << 20)
#define CONFIDENCE 0.95
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

static void read_performance(struct paired_run *oc)
{
	CLEANUP(xfreep) char *path = fs_join(oc->run_dir, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	json_t *run = fs_read(path, MAX_RUN_JSON, &text, &n, NULL) == 0
			      ? json_loadb(text, n, 0, NULL)
			      : NULL;
	const char *unit;

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

	read_performance(&oc);
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

static double geometric_mean(const double *v, const double *other, size_t n)
{
	double sum = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i] > 0 && other[i] > 0 && isfinite(v[i]) && isfinite(other[i])) {
			sum += log(v[i]);
			k++;
		}
	return k ? exp(sum / (double)k) : NAN;
}

static void cost_of(const struct pairing *s, const struct paired_run *of, struct cost *ret)
{
	size_t n = 0;
	CLEANUP(xfreep) double *v = xcalloc(4 * s->v.nr + 4, sizeof(*v));
	double *a = v, *b = v + s->v.nr, *pa = v + 2 * s->v.nr, *pb = v + 3 * s->v.nr;

	for (size_t i = 0; i < s->v.nr; i++) {
		const struct paired_run *oc = &s->v.v[i], *bare = bare_of(s, oc->block);

		if (oc->bare || oc->alone != of->alone || strcmp(oc->tools, of->tools) != 0)
			continue;
		a[n] = oc->workload_s;
		b[n] = bare ? bare->workload_s : NAN;
		pa[n] = isnan(oc->workload_s) ? NAN : oc->performance;
		pb[n] = bare && !isnan(bare->workload_s) && !strcmp(bare->unit, oc->unit)
				? bare->performance
				: NAN;
		n++;
	}
	*ret = (struct cost){ .of = of,
			      .baseline_s = geometric_mean(b, a, n),
			      .tools_s = geometric_mean(a, b, n),
			      .baseline_speed = geometric_mean(pb, pa, n),
			      .tools_speed = geometric_mean(pa, pb, n) };
	paired_ratio(a, b, n, CONFIDENCE, &ret->time);
	paired_ratio(pa, pb, n, CONFIDENCE, &ret->speed);
}

bool cost_over_budget(const struct cost *c)
{
	return c->time.n > 0 && !isnan(c->of->budget) && c->time.ratio - 1 > c->of->budget;
}

const char *cost_verdict(const struct cost *c)
{
	if (isnan(c->of->budget) || !c->time.n)
		return "";
	if (!cost_over_budget(c))
		return "within";
	/* The interval's lower end may still be within the budget. */
	return c->time.low - 1 <= c->of->budget ? "unclear" : "over";
}

static void costs_of(struct pairing *s)
{
	for (size_t i = 0; i < s->v.nr; i++) {
		const struct paired_run *oc = &s->v.v[i];
		bool known = oc->bare;
		struct cost c;

		for (size_t k = 0; k < s->costs.nr && !known; k++)
			known = s->costs.v[k].of->alone == oc->alone &&
				!strcmp(s->costs.v[k].of->tools, oc->tools);
		if (known)
			continue;
		cost_of(s, oc, &c);
		VEC_PUSH(&s->costs, c);
	}
}

/* --- baseline.json --- */

static json_t *number_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *cost_json(const struct cost *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "tools", json_string(c->of->tools));
	json_object_set_new(o, "alone", json_boolean(c->of->alone));
	json_object_set_new(o, "pairs", json_integer((json_int_t)c->time.n));
	json_object_set_new(o, "overhead", number_json(c->time.ratio - 1));
	json_object_set_new(o, "ci_low", number_json(c->time.low - 1));
	json_object_set_new(o, "ci_high", number_json(c->time.high - 1));
	json_object_set_new(o, "baseline_s", number_json(c->baseline_s));
	json_object_set_new(o, "tools_s", number_json(c->tools_s));
	json_object_set_new(o, "unit", json_string(c->speed.n ? c->of->unit : ""));
	json_object_set_new(o, "baseline_performance", number_json(c->baseline_speed));
	json_object_set_new(o, "tools_performance", number_json(c->tools_speed));
	json_object_set_new(o, "performance_ratio", number_json(c->speed.ratio));
	json_object_set_new(o, "performance_low", number_json(c->speed.low));
	json_object_set_new(o, "performance_high", number_json(c->speed.high));
	json_object_set_new(o, "budget", number_json(c->of->budget));
	json_object_set_new(o, "verdict", json_string(cost_verdict(c)));
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
				   .pairs = c->time.n,
				   .mean = c->time.ratio - 1,
				   .low = c->time.low - 1,
				   .high = c->time.high - 1,
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
		if (s->costs.v[i].of->alone == oc->alone &&
		    !strcmp(s->costs.v[i].of->tools, oc->tools))
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
