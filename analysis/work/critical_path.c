#include "path_index.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/work/critical_path.h"

const char *path_class_name(enum path_class c)
{
	static const char *const names[PATH_CLASSES] = {
		"compute", "communication", "copy",     "kernel_gap", "launch",
		"host",    "sync_return",   "untraced", "unknown",
	};

	return names[c];
}

struct path_finder {
	struct path_index x;
	uint32_t *seen; /* by row: the walk that went there last */
	uint32_t walk;
};

struct path_finder *path_finder_new(const struct works *w)
{
	struct path_finder *f = xcalloc(1, sizeof(*f));

	path_index_make(&f->x, w);
	f->seen = xcalloc(w->v.nr + 1, sizeof(*f->seen));
	return f;
}

void path_finder_free(struct path_finder *f)
{
	if (!f)
		return;
	path_index_release(&f->x);
	free(f->seen);
	free(f);
}

void path_release(struct path *p)
{
	VEC_RELEASE(&p->v);
}

/* ---- the walk, back in time ---- */

struct walk {
	struct path_finder *f;
	struct path *path;
	track_id home; /* the marker's thread; TRACK_NONE */
	int64_t t_ns;  /* all after it is explained */
	/* where it goes on: at a row, else on a thread; both none: it is over */
	uint32_t row;
	track_id thread;
};

/* [from, t) becomes a part; a part without length is none. */
static void walk_emit(struct walk *k, int64_t from_ns, enum path_class class, uint64_t span)
{
	if (from_ns < k->path->start_ns)
		from_ns = k->path->start_ns;
	if (from_ns >= k->t_ns)
		return;
	VEC_PUSH(&k->path->v, ((struct path_part){ from_ns, k->t_ns, span, class }));
	k->t_ns = from_ns;
}

static void walk_end(struct walk *k)
{
	k->row = ROW_NONE;
	k->thread = TRACK_NONE;
}

/* The same work twice would be a circle of works without length. */
static bool walk_to_row(struct walk *k, uint32_t row)
{
	if (row == ROW_NONE || k->f->seen[row] == k->f->walk)
		return false;
	k->f->seen[row] = k->f->walk;
	k->row = row;
	k->thread = TRACK_NONE;
	return true;
}

static void walk_to_thread(struct walk *k, track_id thread)
{
	k->row = ROW_NONE;
	k->thread = thread;
}

static enum path_class class_of_work(const struct work *w)
{
	return w->class == WORK_COPY         ? PATH_COPY
	       : w->class == WORK_COLLECTIVE ? PATH_COMMUNICATION
					     : PATH_COMPUTE;
}

static void step_device(struct walk *k)
{
	const struct path_index *x = &k->f->x;
	const struct work *w = &x->w->v.v[k->row];
	const struct span_columns *c = &x->m->spans;
	uint32_t before = path_before(x, k->row);
	const struct work *p = before == ROW_NONE ? NULL : &x->w->v.v[before];

	walk_emit(k, w->start_ns, class_of_work(w), w->span);
	if (p && (w->launch == SPAN_NONE || p->end_ns >= c->start_ns[w->launch])) {
		uint64_t span = w->span;

		if (walk_to_row(k, before))
			walk_emit(k, p->end_ns, PATH_KERNEL_GAP, span);
		else
			walk_end(k);
	} else if (w->launch != SPAN_NONE) {
		walk_emit(k, c->start_ns[w->launch], PATH_LAUNCH, w->launch);
		walk_to_thread(k, c->track[w->launch]);
	} else {
		walk_end(k);
	}
}

/* The latest call of a thread's stretch that blocked for a work; false: there is none. */
static bool step_block(struct walk *k, int64_t since_ns)
{
	const struct path_index *x = &k->f->x;
	const struct path_block *v = x->blocks.v + x->blocks_of[k->thread].first;

	for (size_t i = path_blocks_by(x, k->thread, k->t_ns); i > 0; i--) {
		uint64_t call = v[i - 1].call;
		int64_t end_ns = x->m->spans.end_ns[call];
		uint32_t row;

		if (end_ns <= since_ns)
			return false;
		row = path_waited_for(x, &v[i - 1]);
		if (!walk_to_row(k, row))
			continue;
		walk_emit(k, end_ns, PATH_HOST, SPAN_NONE);
		walk_emit(k, x->w->v.v[row].end_ns, PATH_SYNC_RETURN, call);
		return true;
	}
	return false;
}

static void step_thread(struct walk *k)
{
	const struct interval *open = path_open_before(&k->f->x, k->thread, k->t_ns);
	int64_t start_ns;

	if (open && open->end_ns >= k->t_ns) {
		start_ns = open->start_ns;
		if (start_ns < k->path->start_ns)
			start_ns = k->path->start_ns;
		if (step_block(k, start_ns))
			return;
		walk_emit(k, start_ns, PATH_HOST, SPAN_NONE);
		if (k->home != TRACK_NONE)
			walk_to_thread(k, k->home);
	} else if (k->thread != k->home && k->home != TRACK_NONE) {
		walk_to_thread(k, k->home);
	} else if (open) {
		walk_emit(k, open->end_ns, PATH_UNTRACED, SPAN_NONE);
	} else {
		walk_emit(k, k->path->start_ns, PATH_UNTRACED, SPAN_NONE);
		walk_end(k);
	}
}

static void path_reverse(struct path *p)
{
	for (size_t i = 0, j = p->v.nr; i + 1 < j; i++) {
		struct path_part part = p->v.v[i];

		p->v.v[i] = p->v.v[--j];
		p->v.v[j] = part;
	}
}

static track_id process_of_iteration(const struct path_index *x, const struct iteration *i)
{
	if (i->track != TRACK_NONE)
		return model_process_of(x->m, i->track);
	for (size_t k = 0; k < x->w->devices.v[i->device].nr; k++) {
		uint64_t launch = x->w->v.v[x->w->devices.v[i->device].first + k].launch;

		if (launch != SPAN_NONE)
			return model_process_of(x->m, x->m->spans.track[launch]);
	}
	return TRACK_NONE;
}

void path_find(struct path_finder *f, const struct iterations *it, size_t iteration,
	       struct path *ret)
{
	const struct iteration *i = &it->v.v[iteration];
	struct walk k = { .f = f, .path = ret, .home = i->track };
	bool on_device = i->works && (i->track == TRACK_NONE || i->device_end_ns > i->end_ns);

	f->walk++;
	VEC_CLEAR(&ret->v);
	ret->start_ns = i->start_ns;
	ret->end_ns = on_device ? i->device_end_ns : i->end_ns;
	k.t_ns = ret->end_ns;
	walk_to_thread(&k, i->track);
	if (on_device)
		walk_to_row(&k, path_ended_at(&f->x, process_of_iteration(&f->x, i), k.t_ns));
	while (k.t_ns > ret->start_ns && (k.row != ROW_NONE || k.thread != TRACK_NONE))
		if (k.row != ROW_NONE)
			step_device(&k);
		else
			step_thread(&k);
	walk_emit(&k, ret->start_ns, PATH_UNKNOWN, SPAN_NONE);
	path_reverse(ret);
}
