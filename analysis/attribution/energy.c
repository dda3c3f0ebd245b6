#include "attribution_private.h"

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

static bool thread_takes_part(const struct model *m, series_id s, const char *device, track_id t)
{
	const struct track *tr = &m->tracks.v[t];
	const struct series *se = &m->series.v[s];

	if (tr->kind != TRACK_THREAD || tr->beside)
		return false;
	if (se->exclusive_sync && se->track != TRACK_NONE &&
	    m->tracks.v[se->track].kind == TRACK_THREAD)
		return t == se->track;
	return hosts_match(model_str(m, se->host), device, model_host_of(m, t), "");
}

static bool queue_takes_part(const struct model *m, series_id s, const char *device, track_id t)
{
	const struct track *tr = &m->tracks.v[t];
	const char *own = model_str(m, tr->device);

	if (tr->kind != TRACK_QUEUE || !*device)
		return false;
	if (strcmp(device_id(own), device_id(device)) != 0)
		return false;
	return hosts_match(model_str(m, m->series.v[s].host), device, model_host_of(m, t), own);
}

bool energy_track_takes_part(const struct model *m, series_id s, const char *device,
			     enum energy_view view, track_id t)
{
	return view == VIEW_HOST ? thread_takes_part(m, s, device, t)
				 : queue_takes_part(m, s, device, t);
}

track_id energy_sharer_of(const struct model *m, track_id t)
{
	track_id process = model_process_of(m, t);

	return process == TRACK_NONE ? t : process;
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
