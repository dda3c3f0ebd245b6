/* Pulls the image before a run. */
#include "run_priv.h"

#include "profrig/image/image.h"

int run_pull(const struct plan *pl, const struct run_opts *o, struct err *err)
{
	const struct run_events *e = &o->events;
	const struct image_opts io = {
		.interrupt = o->interrupt, .line = e->note, .tick = e->tick, .ctx = e->ctx
	};

	if (e->phase) {
		CLEANUP(xfreep) char *phase = xasprintf("pull %s", pl->spec.image);

		e->phase(e->ctx, phase);
	}
	return image_pull(pl->engine, pl->conf ? &pl->conf->build : NULL, pl->spec.image,
			  pl->conf ? pl->conf->container.pull_timeout_s : 0, &io, err);
}
