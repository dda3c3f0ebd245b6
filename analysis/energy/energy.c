#include "attribution_private.h"

#include "profrig/topology/topology.h"

bool energy_track_takes_part(const struct model *m, const struct energy_opts *o, series_id s,
			     const char *device, enum energy_view view, track_id t)
{
	const struct track *tr = &m->tracks.v[t];

	if (view == VIEW_HOST)
		return tr->kind == TRACK_THREAD && !tr->beside &&
		       topology_sees(o->topology, m, t, s, device);
	return tr->kind == TRACK_QUEUE && *device && topology_runs_on(o->topology, m, t, s, device);
}

track_id energy_sharer_of(const struct model *m, track_id t)
{
	track_id process = model_process_of(m, t);

	return process == TRACK_NONE ? t : process;
}
