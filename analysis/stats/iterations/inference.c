/*
 * Steps of a server of language models: what each did, how fast, and with which energy. A step is
 * an iteration (work/iterations.h) whose marker tells requests and tokens: by the words of a server
 * (names/serving_step.h), or by the groups phase, requests and tokens of the user's pattern.
 *
 * What a step used of its device follows from the operators in its range (operators/mfu.h): flops
 * by peak, which limits reading prompts, and bytes by bandwidth, which limits writing answers.
 */
#include "analyses_private.h"
#include "mfu.h"
#include "track_names.h"
#include "work_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/regex.h"
#include "profrig/base/u64map.h"
#include "profrig/names/serving_step.h"

/* clang-format off */
#define INFERENCE(X) \
	X(STR, iteration) X(STR, phase) X(F64, requests) X(F64, tokens) X(I64, host_ns) \
	X(F64, device_ns) X(F64, tokens_per_s) X(F64, joules_per_token) X(STR, track) \
	X(I64, index) X(I64, start_ns) X(STR, steady) X(F64, rank) X(F64, joules) \
	X(STR, energy_flags) X(F64, uncertainty_j) X(F64, flop) X(F64, mfu) X(F64, bytes) \
	X(F64, bandwidth_share) X(F64, modelled_share)
/* clang-format on */
TABLE_FORM(
	inference, INFERENCE,
	"one row per step of a server of language models: its phase, requests, tokens and rates");

/* Of the largest number of requests on a thread; a step with as many is steady. */
#define STEADY_SHARE 0.9
/* What may be a step; steps are a family of their own among it. */
#define SERVING_PATTERN "^(?:execute_|step\\[|(?:eager_)?(?:prefill|decode)\\[)"

struct steps {
	struct model *m;
	const struct works *w;
	const struct iterations *it;
	struct iterations *own;    /* NULL: it is that of all analyses */
	struct regex *re;          /* the user's pattern, when it has groups; NULL */
	struct iteration_use *use; /* by iteration; NULL: the inputs hold no operators */
	struct u64map of_name;     /* name → index of v; steps that are none have no phase */
	VEC(struct serving_step) v;
};

/* ---- what a name says ---- */

static bool group_text(struct regex *re, const char *name, const char *group, char *buf, size_t n)
{
	size_t from, to;

	if (!regex_group(re, group, &from, &to))
		return false;
	if (to - from >= n)
		to = from + n - 1;
	memcpy(buf, name + from, to - from);
	buf[to - from] = '\0';
	return true;
}

static int64_t group_count(struct regex *re, const char *name, const char *group)
{
	char buf[24];
	int64_t v;

	if (!group_text(re, name, group, buf, sizeof(buf)) || num_i64(buf, strlen(buf), &v) < 0 ||
	    v < 0)
		return SERVING_ABSENT;
	return v;
}

static bool step_by_pattern(struct regex *re, const char *name, struct serving_step *ret)
{
	size_t from, to;

	if (regex_find(re, name, strlen(name), 0, &from, &to) != 1)
		return false;
	*ret = (struct serving_step){ .requests = group_count(re, name, "requests"),
				      .tokens = group_count(re, name, "tokens") };
	group_text(re, name, "phase", ret->phase, sizeof(ret->phase));
	return *ret->phase || ret->requests != SERVING_ABSENT || ret->tokens != SERVING_ABSENT;
}

static bool step_known(const struct serving_step *s)
{
	return *s->phase || s->requests != SERVING_ABSENT || s->tokens != SERVING_ABSENT;
}

static const struct serving_step *step_of_name(struct steps *st, str_id name)
{
	uint32_t *at = u64map_at(&st->of_name, name);
	const char *text = model_str(st->m, name);
	struct serving_step step = { .requests = SERVING_ABSENT, .tokens = SERVING_ABSENT };

	if (*at == U64MAP_NONE) {
		if (st->re)
			(void)step_by_pattern(st->re, text, &step);
		else
			(void)serving_step(text, &step);
		*at = (uint32_t)st->v.nr;
		VEC_PUSH(&st->v, step);
	}
	return &st->v.v[*at];
}

/* The step of an iteration; NULL: it is none. */
static const struct serving_step *step_of(struct steps *st, const struct iteration *i)
{
	const struct serving_step *s;

	if (i->marker == SPAN_NONE)
		return NULL;
	s = step_of_name(st, st->m->spans.name[i->marker]);
	return step_known(s) ? s : NULL;
}

/* ---- which iterations ---- */

static bool any_name_serves(const struct model *m)
{
	struct serving_step step;

	for (str_id s = 0; s < intern_count(m->strings); s++)
		if (serving_step(model_str(m, s), &step))
			return true;
	return false;
}

static bool all_serve(struct steps *st)
{
	for (size_t g = 0; g < st->it->groups.nr; g++)
		if (!step_of(st, &st->it->v.v[st->it->groups.v[g].first]))
			return false;
	return st->it->groups.nr > 0;
}

static int pattern_take(struct steps *st, const char *pattern, struct err *err)
{
	static const char *const groups[] = { "phase", "requests", "tokens" };
	struct regex *re;
	int r = regex_new(pattern, 0, &re, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (!st->re && regex_has_group(re, groups[i]))
			st->re = re;
	if (!st->re)
		regex_free(re);
	return 0;
}

/* Steps may lie in ranges of PyTorch's profiler, which are the iterations then. */
static int steps_find(struct steps *st, const struct analysis_opts *o, struct err *err)
{
	int r = analysis_iterations(st->m, o, &st->it, err);

	if (r >= 0 && o->marker)
		return pattern_take(st, o->marker, err);
	if (r < 0 || all_serve(st) || !any_name_serves(st->m))
		return r;
	r = iterations_new(st->m, st->w, SERVING_PATTERN, &st->own, err);
	if (r >= 0)
		st->it = st->own;
	return r;
}

/* ---- the table ---- */

static double count_of(int64_t v)
{
	return v == SERVING_ABSENT ? NAN : (double)v;
}

/* By group: the most requests of a step. */
static double most_requests(struct steps *st, const struct iteration_group *g)
{
	double most = NAN;

	for (size_t i = g->first; i < g->first + g->nr; i++) {
		const struct serving_step *s = step_of(st, &st->it->v.v[i]);

		most = s ? fmax(most, count_of(s->requests)) : most;
	}
	return most;
}

static const char *steady_of(double requests, double most)
{
	if (isnan(requests))
		return "";
	return requests >= STEADY_SHARE * most ? "yes" : "no";
}

static double rate(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static const struct iteration_use no_use = { NAN, NAN, NAN, NAN, 0 };

static double share(double of, double all)
{
	return of > 0 && all > 0 ? of / all : NAN;
}

static void step_row(const struct steps *st, struct table *t, const char *track,
		     const struct iteration *i, const struct serving_step *s, double most,
		     const struct joules *j, const struct iteration_use *u)
{
	double tokens = count_of(s->tokens), requests = count_of(s->requests);
	char flags[ENERGY_FLAGS_MAX];

	table_add(t, &(struct inference_row){
			     model_str(st->m, st->m->spans.name[i->marker]),
			     s->phase,
			     requests,
			     tokens,
			     i->end_ns - i->start_ns,
			     i->works ? (double)(i->device_end_ns - i->device_start_ns) : NAN,
			     rate(tokens, (double)iteration_ns(i) * 1e-9),
			     rate(joules_value(j), tokens),
			     track,
			     i->index,
			     i->start_ns - st->m->first_ns,
			     steady_of(requests, most),
			     iteration_rank(st->m, st->w, i),
			     joules_value(j),
			     joules_flags(j, flags),
			     joules_width(j),
			     u->flop,
			     share(u->flop, u->could_flop),
			     u->bytes,
			     share(u->bytes, u->could_bytes),
			     share((double)u->modelled_ns, (double)i->sum_ns) });
}

static void steps_table(struct steps *st, const struct work_energy *we, struct table *t)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) struct joules *j = iteration_joules(we, st->it);

	track_names(st->m, &names);
	for (size_t g = 0; g < st->it->groups.nr; g++) {
		const struct iteration_group *of = &st->it->groups.v[g];
		double most = most_requests(st, of);

		for (size_t k = of->first; k < of->first + of->nr; k++) {
			const struct iteration *i = &st->it->v.v[k];
			const struct serving_step *s = step_of(st, i);

			if (s)
				step_row(st, t, names.v[i->track], i, s, most, &j[k],
					 st->use ? &st->use[k] : &no_use);
		}
	}
}

/* ---- what steps used of their devices ---- */

static bool any_step(struct steps *st)
{
	for (size_t i = 0; i < st->it->v.nr; i++)
		if (step_of(st, &st->it->v.v[i]))
			return true;
	return false;
}

static void uses_take(struct steps *st, const struct analysis_opts *o)
{
	const struct operator_calls *oc;
	CLEANUP(peaks_freep) struct peaks *own = o->peaks ? NULL : peaks_new();

	if (st->m->facts.ops.nr == 0 || st->w->v.nr == 0 || !any_step(st))
		return;
	oc = analysis_operator_calls(st->m, o);
	if (oc->v.nr)
		st->use = iteration_uses(oc, o->peaks ?: own, st->it);
}

static bool any_cell(const struct table *t, const char *column)
{
	size_t c = (size_t)table_find_col(t, column);

	for (size_t i = 0; i < table_rows(t); i++)
		if (!isnan(table_get_f64(t, i, c)))
			return true;
	return false;
}

/* Says why columns are empty. */
static void uses_judge(const struct steps *st, const struct table *t, struct table_set *out)
{
	if (any_cell(t, "mfu") || any_cell(t, "bandwidth_share"))
		return;
	table_set_skip(out, "inference.mfu", "%s",
		       !st->use ? ANALYSIS_NO_OPERATORS
		       : any_cell(t, "flop") || any_cell(t, "bytes")
			       ? "the peaks of the device are not known"
			       : "no operator of a step has shapes that tell flops or bytes");
}

static int inference_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			 struct err *err)
{
	struct steps st = { .m = m, .w = analysis_works(m, o), .of_name = U64MAP_INIT };
	CLEANUP(table_freep) struct table *t = table_make(&inference_form);
	int r = steps_find(&st, o, err);

	if (r >= 0) {
		uses_take(&st, o);
		steps_table(&st, analysis_work_energy(m, o), t);
	}
	if (r >= 0 && table_rows(t) == 0)
		r = table_set_skip(out, "inference",
				   o->marker ? "no marker tells requests, tokens or a phase"
					     : "no range is a step of vLLM, SGLang or ATOM");
	else if (r >= 0) {
		uses_judge(&st, t, out);
		table_set_add(out, STEAL(t));
	}
	iterations_free(st.own);
	regex_free(st.re);
	free(st.use);
	u64map_release(&st.of_name);
	VEC_RELEASE(&st.v);
	return r;
}

const struct analysis analysis_inference = {
	.name = "inference",
	.about = "steps of servers of language models: phases, requests, tokens, rates and energy",
	.tables = { &inference_form },
	.run = inference_run,
	.needs_calls = true,
};
