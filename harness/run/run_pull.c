/* An image before a run: for engines that know registries, and for those that only pull. */
#include "run_priv.h"

#include <errno.h>

#include "profrig/base/proc_watch.h"
#include "profrig/image/image.h"

struct listener {
	const struct run_events *events;
};

static void on_line(void *ctx, const char *line)
{
	const struct run_events *e = ((struct listener *)ctx)->events;

	if (e->note)
		e->note(e->ctx, line);
}

static void on_tick(void *ctx)
{
	const struct run_events *e = ((struct listener *)ctx)->events;

	if (e->tick)
		e->tick(e->ctx);
}

static int pull_plain(const struct plan *pl, const struct image_opts *io, double timeout_s,
		      struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, tail = STRVEC_INIT;
	struct proc_watch w = PROC_WATCH_INIT;
	struct proc_exit x;
	int r;

	pl->engine->pull(pl->spec.image, &argv);
	w.argv = argv.v;
	w.timeout_s = timeout_s;
	w.interrupt = io->interrupt;
	w.line = io->line;
	w.tick = io->tick;
	w.ctx = io->ctx;
	r = proc_watch(&w, &tail, &x, err);
	if (r == 0 && x.code != 0)
		r = err_set(err, EIO, "%.300s", tail.nr ? tail.v[tail.nr - 1] : "it failed");
	return r;
}

int run_pull(const struct plan *pl, const struct run_opts *o, struct err *err)
{
	const struct image_engine *ie = image_engine_find(pl->engine->name);
	double timeout_s = pl->conf ? pl->conf->container.pull_timeout_s : 0;
	struct listener l = { &o->events };
	struct image_opts io = {
		.interrupt = o->interrupt, .line = on_line, .tick = on_tick, .ctx = &l
	};

	if (o->events.phase) {
		CLEANUP(xfreep) char *phase = xasprintf("pull %s", pl->spec.image);

		o->events.phase(o->events.ctx, phase);
	}
	if (!ie)
		return pull_plain(pl, &io, timeout_s, err);
	return image_pull(ie, pl->conf ? &pl->conf->build : NULL, pl->spec.image, timeout_s, &io,
			  err);
}
