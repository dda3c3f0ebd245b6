/* The sink's look-up tables and the steps of model_finish, shared by the files of this folder. */
#ifndef MODEL_PRIVATE_H
#define MODEL_PRIVATE_H

#include "facts_private.h"

#include <inttypes.h>
#include <pthread.h>

#include "profrig/base/u64map.h"
#include "profrig/base/workers.h"
#include "profrig/model/sink.h"
#include "profrig/model/timebase.h"
#include "profrig/model/warnings.h"

#define INPUT_NONE UINT32_MAX

/* The sink's own state of a track. */
struct track_state {
	VEC(uint64_t) open; /* rows of open frames, innermost last */
	int64_t frame_ns;   /* last enter or leave of the current input, stored time */
	int64_t last_ns;    /* its latest time of any kind but samples */
	input_id input;     /* the last one that named it */
	uint64_t spans;
};

/*
 * Memory of columns that model_finish has sorted into other memory, reused for the next column:
 * fresh memory costs more than copying.
 */
struct spares {
	pthread_mutex_t lock;
	VEC(struct spare {
		void *p;
		size_t n;
	}) v;
};

struct input_state {
	int64_t moved_ns; /* by which stored times must still move */
	bool anchored;    /* its shift came from anchors, so it is on a run's CLOCK_MONOTONIC */
	bool fixed;       /* its times were passed on and not kept: they cannot move */
};

struct model_priv {
	struct sink sink;
	struct model *model;
	const struct timebase *timebase;
	struct workers *workers; /* NULL: the caller alone */
	input_id current;        /* INPUT_NONE between inputs */
	struct input *in;        /* the current one */
	int64_t shift_ns;        /* of the current input */
	VEC(track_id) in_tracks; /* tracks that the current input has named */
	series_id in_series;     /* the first one of the current input */
	void (*take)(void *ctx, struct source *const *v, size_t n); /* NULL: the sink pulls */
	void *take_ctx;
	str_id default_host;
	bool host_everywhere;
	struct u64map track_ids, series_ids;
	size_t last_warning;        /* row of the one counted last */
	struct u64map warning_rows; /* by input and code */
	struct u64map long_texts;   /* by cut text: its replacement as arguments */
	VEC(struct track_state) track_states;
	track_id last_track; /* of the last row */
	bool scattered;      /* rows are not grouped by track in the tracks' order */
	size_t populated;    /* rows whose memory is mapped */
	uint32_t up_most;    /* a parent that far away has UP_FAR; tests lower it */
	struct spares spares;
	struct facts_state facts;
	VEC(struct input_state) input_states;
};

extern const struct sink_ops model_sink_ops;

static inline struct model_priv *model_priv_of(struct sink *s)
{
	return (struct model_priv *)((char *)s - offsetof(struct model_priv, sink));
}

/* Notes the time in the input's own clock and returns it on the common one. */
static inline int64_t model_time_take(struct model_priv *p, int64_t t_ns)
{
	if (__builtin_expect(t_ns > TIME_MAX || t_ns < TIME_MIN, 0)) {
		model_warn(p->model, p->current, W_TIME_RANGE, 1, SAY_BAD_TIME, t_ns);
		t_ns = time_clamp(t_ns);
	}
	if (t_ns < p->in->first_ns)
		p->in->first_ns = t_ns;
	if (t_ns > p->in->last_ns)
		p->in->last_ns = t_ns;
	return time_shift(t_ns, p->shift_ns);
}

/* A reader that lost track of its own ids must not write past the columns. */
static inline bool model_track_known(struct model_priv *p, track_id t)
{
	if (__builtin_expect(t < p->track_states.nr, 1))
		return true;
	model_warn(p->model, p->current, W_UNKNOWN_REFERENCE, 1, "event on an unknown track");
	return false;
}

void sink_input_close(struct model_priv *p);
void model_clear(struct model *m); /* all that was pushed, and the strings */
/* Sets the input's shift from the sink's time base, by its time range so far. */
void timebase_apply(struct model *m, input_id input);
/* Relates the input's clock to the inputs so far; its shift is then final. */
void timebase_fix(struct model *m, input_id input);
/* Relates inputs to each other, then moves stored times. */
void timebase_settle(struct model *m);
/* job(ctx, i, worker) for i < n, on all threads of the workers. */
void model_run(struct model *m, size_t n, void (*job)(void *ctx, size_t i, unsigned worker),
	       void *ctx);
/* At least n bytes with any contents, owned. Any thread. */
void *spare_take(struct model *m, size_t n);
void spare_give(struct model *m, void *p, size_t n);
void spares_release(struct model *m);
void device_ids_qualify(struct model *m);
/* The number behind the last "rank" of the file's name; RANK_NONE. */
int32_t file_rank_of(const char *path);
/* Before tracks inherit: ranks of files that state none, by their names (file_ranks.c). */
void file_ranks_take(struct model *m);
/* Of what is finished: W_DEVICE_OF_SEVERAL. */
void shared_devices_warn(struct model *m);
/* Reserves cap rows in all columns that the sink fills. */
void spans_reserve(struct span_columns *c, size_t cap);
void spans_release(struct span_columns *c);
void spans_sort(struct model *m); /* by (track, start, longer first, push order); links follow */
void series_sort(struct model *m);
void pieces_find(struct model *m, bool warns);
void launch_links(struct model *m);
/* Sets model.places. By span: index of its launch there, or PLACE_NONE. Owned. */
uint32_t *launch_places(struct model *m);
void links_push(struct model *m, uint64_t from, uint64_t to, enum link_kind kind);

#endif
