/*
 * Spans that no thread executes overlap as they like, and a thread track nests. They go to tracks
 * of their own, as many as are needed for all to nest; one that holds the one before it, or begins
 * when that is over, needs no further track.
 */
#include "rocprof_csv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* More at once go onto the first track, where the model counts their overlaps. */
#define MAX_LANES 64

struct lane {
	track_id track;
	VEC(int64_t) open; /* ends, innermost last */
};

static int by_start(const void *va, const void *vb)
{
	const struct rocprof_loose *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static bool fits(struct lane *l, const struct rocprof_loose *s)
{
	while (l->open.nr > 0 && l->open.v[l->open.nr - 1] <= s->start_ns)
		l->open.nr--;
	return l->open.nr == 0 || l->open.v[l->open.nr - 1] >= s->end_ns;
}

static track_id lane_track(struct rocprof_csv *rc, const struct rocprof_loose *s, size_t lane)
{
	struct track_def d = TRACK_DEF_INIT;
	char name[64];

	if (lane > 0)
		snprintf(name, sizeof(name), "%s #%zu", s->what, lane + 1);
	else
		snprintf(name, sizeof(name), "%s", s->what);
	d.kind = TRACK_THREAD;
	d.pid = s->pid;
	d.parent = rocprof_process(rc, s->pid);
	d.name = name;
	d.key = XXH3_64bits(name, strlen(name)) ^ (uint64_t)s->pid * 31;
	return rc->sink->ops->track(rc->sink, &d);
}

static void push(struct rocprof_csv *rc, const struct rocprof_loose *s, struct lane *lanes)
{
	struct span_def d = { .start_ns = s->start_ns,
			      .end_ns = s->end_ns,
			      .name = s->name,
			      .category = s->category,
			      .kind = SPAN_ANNOTATION,
			      .args = s->args };
	size_t i = 0;

	while (i < MAX_LANES && !fits(&lanes[i], s))
		i++;
	i = i < MAX_LANES ? i : 0;
	if (lanes[i].track == TRACK_NONE)
		lanes[i].track = lane_track(rc, s, i);
	VEC_PUSH(&lanes[i].open, s->end_ns);
	d.track = lanes[i].track;
	rc->sink->ops->span(rc->sink, &d);
}

void rocprof_loose_push(struct rocprof_csv *rc)
{
	struct lane lanes[MAX_LANES];

	if (rc->loose.nr == 0)
		return;
	memset(lanes, 0, sizeof(lanes));
	qsort(rc->loose.v, rc->loose.nr, sizeof(*rc->loose.v), by_start);
	for (size_t i = 0; i < rc->loose.nr; i++) {
		if (i == 0 || rc->loose.v[i].pid != rc->loose.v[i - 1].pid) {
			for (size_t k = 0; k < MAX_LANES; k++) {
				lanes[k].track = TRACK_NONE;
				VEC_CLEAR(&lanes[k].open);
			}
		}
		push(rc, &rc->loose.v[i], lanes);
	}
	for (size_t k = 0; k < MAX_LANES; k++)
		VEC_RELEASE(&lanes[k].open);
}
