#include "attribution_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "node3:gpu2" → host part and id; a name without ':' has no host part. */
static const char *device_id(const char *device)
{
	const char *colon = strrchr(device, ':');

	return colon ? colon + 1 : device;
}

static bool host_prefix_is(const char *device, const char *host)
{
	size_t n = strlen(host);

	return strncmp(device, host, n) == 0 && device[n] == ':';
}

/* Unknown hosts cannot be told apart, so they match. A host may stand in front of the device's name
 * instead of in the track. */
static bool hosts_match(const char *a_host, const char *a_device, const char *b_host,
			const char *b_device)
{
	const char *a_colon = strrchr(a_device, ':'), *b_colon = strrchr(b_device, ':');

	if (a_colon && b_colon)
		return a_colon - a_device == b_colon - b_device &&
		       memcmp(a_device, b_device, (size_t)(a_colon - a_device)) == 0;
	if (a_colon)
		return !*b_host || host_prefix_is(a_device, b_host);
	if (b_colon)
		return !*a_host || host_prefix_is(b_device, a_host);
	return !*a_host || !*b_host || strcmp(a_host, b_host) == 0;
}

bool energy_thread_takes_part(const struct attribution *a, track_id t)
{
	const struct track *tr = &a->m->tracks.v[t];
	const struct series *se = &a->m->series.v[a->s];

	if (tr->kind != TRACK_THREAD || tr->spans == 0 || tr->beside)
		return false;
	if (se->exclusive_sync && se->track != TRACK_NONE &&
	    a->m->tracks.v[se->track].kind == TRACK_THREAD)
		return t == se->track;
	return hosts_match(model_str(a->m, se->host), a->device, model_host_of(a->m, t), "");
}

bool energy_queue_takes_part(const struct attribution *a, track_id t)
{
	const struct track *tr = &a->m->tracks.v[t];
	const char *device = model_str(a->m, tr->device);

	if (tr->kind != TRACK_QUEUE || tr->spans == 0 || !*a->device)
		return false;
	if (strcmp(device_id(device), device_id(a->device)) != 0)
		return false;
	return hosts_match(model_str(a->m, a->m->series.v[a->s].host), a->device,
			   model_host_of(a->m, t), device);
}

track_id energy_sharer_of(const struct model *m, track_id t)
{
	track_id process = model_process_of(m, t);

	return process == TRACK_NONE ? t : process;
}

void energy_alloc(struct attribution *a)
{
	size_t n = a->m->spans.nr;
	struct energy_result *r = a->r;

	r->inclusive_j = xreallocarray(NULL, n, sizeof(*r->inclusive_j));
	r->exclusive_j = xreallocarray(NULL, n, sizeof(*r->exclusive_j));
	r->exclusive_ns = xcalloc(n, sizeof(*r->exclusive_ns));
	r->marks = xcalloc(n, sizeof(*r->marks));
	if (a->m->pieces.nr > 0) {
		r->pieces = xcalloc(a->m->pieces.nr, sizeof(*r->pieces));
		r->new_j = xcalloc(n, sizeof(*r->new_j));
	}
	for (size_t i = 0; i < n; i++)
		r->inclusive_j[i] = r->exclusive_j[i] = NAN;
}

void energy_write(struct attribution *a, const struct share *sh, const struct span_energy *e)
{
	struct energy_result *r = a->r;
	size_t i = e->span;
	double j = sum_value(&e->exclusive_j);

	r->exclusive_j[i] = j;
	r->exclusive_ns[i] = e->exclusive_ns;
	r->inclusive_j[i] = share_between(sh, e->from, e->to);
	r->marks[i] = share_marks(sh, e->from, e->to);
	if (a->m->spans.start_ns[i] < sh->knots[0].t_ns ||
	    a->m->spans.end_ns[i] > sh->knots[sh->n - 1].t_ns)
		r->marks[i] |= SPAN_OUTSIDE;
	sum_add(&a->attributed_j, j);
}

static void close_result(struct attribution *a)
{
	struct energy_result *r = a->r;
	double idle = sum_value(&a->totals.idle_j), error;

	r->total_j = curve_total(a->c);
	r->attributed_j = sum_value(&a->attributed_j);
	r->dead_j = sum_value(&a->totals.dead_j);
	r->unattributed_j = idle + r->dead_j;
	r->unattributed_ns = a->totals.idle_ns;
	if (a->o->independent)
		error = sum_value(&a->totals.given_j) - r->attributed_j;
	else
		error = r->total_j - r->attributed_j - r->unattributed_j;
	r->error_rel = r->total_j == 0 ? 0 : fabs(error / r->total_j);
}

typedef bool attribute_fn(struct attribution *a);

/* Nothing is open anywhere: the whole curve is idle or dead. */
static void nobody(struct attribution *a)
{
	struct steps none = { 0 };
	struct share sh;

	share_make(a->c, &none, a->o->independent, &sh, &a->totals);
	share_release(&sh);
}

static int attribute(const struct model *m, series_id s, enum energy_view view,
		     const struct energy_opts *o, attribute_fn *fn, struct energy_result *ret,
		     struct err *err)
{
	struct counter_info ci = counter_info(m, s);
	CLEANUP(curve_release) struct curve c = { 0 };
	struct attribution a = { .m = m, .s = s, .device = ci.device, .c = &c, .o = o, .r = ret };
	bool taken = false;
	int r;

	r = curve_make(m, s, &ci, o, &c, err);
	if (r < 0)
		return r;
	*ret = (struct energy_result){
		.series = s,
		.view = view,
		.flags = c.flags,
		.median_period_ns = c.median_period_ns,
	};
	snprintf(ret->device, sizeof(ret->device), "%s", ci.device);
	if (c.n >= 2 && m->spans.nr > 0)
		taken = fn(&a);
	if (!taken)
		nobody(&a);
	close_result(&a);
	return taken ? 0 : 1;
}

int energy_attribute(const struct model *m, series_id s, enum energy_view view,
		     const struct energy_opts *o, struct energy_result *ret, struct err *err)
{
	return attribute(m, s, view, o, view == VIEW_HOST ? energy_host : energy_device, ret, err);
}

int energy_attribute_sweep(const struct model *m, series_id s, enum energy_view view,
			   const struct energy_opts *o, struct energy_result *ret, struct err *err)
{
	return attribute(m, s, view, o, energy_sweep, ret, err);
}

void energy_result_release(struct energy_result *r)
{
	free(r->inclusive_j);
	free(r->exclusive_j);
	free(r->exclusive_ns);
	free(r->marks);
	free(r->pieces);
	free(r->new_j);
	*r = (struct energy_result){ 0 };
}
