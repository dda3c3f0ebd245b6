#include "analyses_private.h"
#include "frames.h"
#include "operator_calls.h"
#include "work_energy.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"

#define ANALYSIS_AT(name) &analysis_##name,
const struct analysis *const analyses[] = { ANALYSES(ANALYSIS_AT) NULL };

const struct analysis *analysis_find(const char *name)
{
	for (size_t i = 0; analyses[i]; i++)
		if (strcmp(analyses[i]->name, name) == 0)
			return analyses[i];
	return NULL;
}

static int run_of_model(const struct analysis *a, struct model *m, const struct analysis_opts *o,
			struct table_set *out, struct err *err)
{
	struct energy_stream *stream = energy_stream_new(m, o, NULL, NULL);
	struct profile_opts po = { .threads = 1 };
	struct analysis_opts with = *o;
	struct profile *p;
	int r;

	if (a == &analysis_energy)
		po.lanes = energy_stream_reader(stream);
	p = profile_of_model(m, &po);
	with.stream = stream;
	r = a->of_profile(p, &with, out, err);
	profile_free(p);
	energy_stream_free(stream);
	return r;
}

/* ---- what they share ---- */

struct analysis_shared *analysis_shared_new(void)
{
	struct analysis_shared *as = xcalloc(1, sizeof(*as));

	pthread_mutex_init(&as->iterations_lock, NULL);
	pthread_mutex_init(&as->energy_lock, NULL);
	pthread_mutex_init(&as->calls_lock, NULL);
	return as;
}

void analysis_shared_free(struct analysis_shared *as)
{
	if (!as)
		return;
	operator_calls_free(as->calls);
	work_energy_free(as->energy);
	works_free(as->works);
	iterations_free(as->iterations);
	pthread_mutex_destroy(&as->iterations_lock);
	pthread_mutex_destroy(&as->energy_lock);
	pthread_mutex_destroy(&as->calls_lock);
	free(as);
}

const struct works *analysis_works(struct model *m, const struct analysis_opts *o)
{
	if (!o->shared->works) {
		o->shared->works = works_new(m);
		if (o->shared->works->v.nr)
			model_nest(m);
	}
	return o->shared->works;
}

int analysis_iterations(struct model *m, const struct analysis_opts *o,
			const struct iterations **ret, struct err *err)
{
	const struct works *w = analysis_works(m, o);
	int r = 0;

	pthread_mutex_lock(&o->shared->iterations_lock);
	if (!o->shared->iterations)
		r = iterations_new(m, w, o->marker, &o->shared->iterations, err);
	*ret = o->shared->iterations;
	pthread_mutex_unlock(&o->shared->iterations_lock);
	return r;
}

/*
 * Whether an analysis may ask which call is in which. Of a program's own calls it does not, and the
 * columns for it take as much memory as half of the others.
 */
static bool asks_for_parents(const struct model *m, const struct works *w)
{
	return w->v.nr || m->library || facts_any(m) || operators_possible(m) || frames_some(m);
}

/* Likewise, how long each was the innermost one. */
static bool asks_for_times(const struct model *m)
{
	return operators_possible(m) || frames_some(m);
}

/* Of a streamed model there are series alone. */
void analysis_shared_prepare(const struct analysis *const *v, size_t nr, struct model *m,
			     const struct profile *p, const struct analysis_opts *o)
{
	const struct works *w;
	bool calls = false;

	for (size_t i = 0; i < nr; i++)
		calls |= v[i]->run && (!v[i]->series_only || m->library);
	if (!calls || (p && !p->of_model))
		return;
	w = analysis_works(m, o);
	if (asks_for_times(m))
		model_nest_times(m);
	else if (asks_for_parents(m, w))
		model_nest(m);
}

/* "node3:gpu2" → 2; FACT_ABSENT: it does not end in a number. */
static int64_t device_number(const char *id)
{
	size_t n = strlen(id), at = n;
	int64_t number;

	while (at && isdigit((unsigned char)id[at - 1]))
		at--;
	return num_i64(id + at, n - at, &number) == 0 ? number : FACT_ABSENT;
}

const struct device_facts *analysis_device_facts(const struct works *w, const struct work_device *d)
{
	return facts_device(w->m, span_input(&w->m->spans, w->v.v[d->first].span),
			    device_number(model_str(w->m, d->name)));
}

double iteration_rank(const struct model *m, const struct works *w, const struct iteration *i)
{
	int32_t rank = RANK_NONE;

	if (i->track == TRACK_NONE)
		rank = w->devices.v[i->device].rank;
	else if (m->tracks.v[i->track].rank != RANK_NONE)
		rank = m->tracks.v[i->track].rank;
	else if (model_process_of(m, i->track) != TRACK_NONE)
		rank = m->tracks.v[model_process_of(m, i->track)].rank;
	return rank == RANK_NONE ? NAN : rank;
}

const char *iteration_name(const struct model *m, const struct iteration *i,
			   char buf[ITERATION_NAME_MAX])
{
	if (i->marker != SPAN_NONE)
		return model_str(m, m->spans.name[i->marker]);
	snprintf(buf, ITERATION_NAME_MAX, "%u", i->index);
	return buf;
}

/* ---- to run one ---- */

static bool has_work(const struct profile *p)
{
	for (size_t i = 0; i < p->devices.nr; i++)
		if (p->devices.v[i].pieces)
			return true;
	return false;
}

/* run reads single calls, which the model has. What is shared points to o. */
static int run_of_calls(const struct analysis *a, struct model *m, const struct analysis_opts *o,
			struct table_set *out, struct err *err)
{
	if (a->needs_work && analysis_works(m, o)->v.nr == 0)
		return table_set_skip(out, a->name, "the inputs hold no device work");
	return a->run(m, o, out, err);
}

/* With what is shared made for the call. */
static int run_alone(const struct analysis *a, struct model *m, const struct analysis_opts *o,
		     struct table_set *out, struct err *err)
{
	struct analysis_opts with = *o;
	int r;

	with.shared = analysis_shared_new();
	r = run_of_calls(a, m, &with, out, err);
	analysis_shared_free(with.shared);
	return r;
}

static int analysis_take(const struct analysis *a, struct model *m, const struct profile *p,
			 const struct analysis_opts *o, struct table_set *out, struct err *err)
{
	if (a->of_profile)
		return p ? a->of_profile(p, o, out, err) : run_of_model(a, m, o, out, err);
	if (!p || p->of_model || a->series_only)
		return o->shared ? run_of_calls(a, m, o, out, err) : run_alone(a, m, o, out, err);
	if (a->needs_operators)
		return table_set_skip(out, a->name, ANALYSIS_NO_OPERATORS);
	if (!a->needs_work && !a->needs_calls)
		return ANALYSIS_LEFT_OUT;
	return table_set_skip(out, a->name,
			      has_work(p) || a->needs_calls
				      ? "calls were streamed and are not kept "
					"(--sink model keeps them)"
				      : "the inputs hold no device work");
}

/* Of the rows from the first on. */
static bool says_why(const struct table_set *ts, size_t first, const char *name)
{
	for (size_t i = first; i < ts->skipped.nr; i++)
		if (strcmp(ts->skipped.v[i].name, name) == 0)
			return true;
	return false;
}

int analysis_run(const struct analysis *a, struct model *m, const struct profile *p,
		 const struct analysis_opts *o, struct table_set *out, struct err *err)
{
	size_t tables = out->tables.nr, skipped = out->skipped.nr;
	int r = analysis_take(a, m, p, o, out, err);

	if (r == 0 && a->nothing && out->tables.nr == tables && !says_why(out, skipped, a->name))
		table_set_skip(out, a->name, "%s", a->nothing);
	return r;
}
