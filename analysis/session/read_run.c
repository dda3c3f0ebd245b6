/*
 * A run directory among the inputs: its traces and samples, its marks, the devices that its
 * environment made visible, and the clocks that put them on one time base.
 */
#include "reading.h"

#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/model/timebase.h"

bool run_dir_held(const char *path)
{
	return rundir_is(path) && (door_holds(path) || door_hold(path, NULL) == 0);
}

/* The run's inputs are [first, end). */
static void add_env(struct reading *rd, const struct rundir *run, input_id first, input_id end)
{
	const struct rundir_visible *v = &run->visible;
	struct topology_env e = { .host = run->host,
				  .vendor = strcmp(run->gpu_vendor, "amd") == 0 ? TOPOLOGY_AMD
					    : *run->gpu_vendor                  ? TOPOLOGY_NVIDIA
										: TOPOLOGY_ANY,
				  .first = first,
				  .end = end,
				  .gpus = v->gpus,
				  .rocr = v->rocr,
				  .hip = v->hip,
				  .cuda = v->cuda,
				  .ordinal = v->ordinal };

	if (v->gpus || v->rocr || v->hip || v->cuda || v->ordinal)
		topology_add_env(rd->s->o->topology, &e);
}

/* Marks of the run as instants of a track. */
static void run_marks(struct reading *rd, const struct rundir *run)
{
	struct sink *s = model_sink(rd->m);
	struct track_def td = TRACK_DEF_INIT;
	CLEANUP(xfreep) char *path = NULL;
	track_id track;

	if (!run->marks.nr)
		return;
	path = fs_join(run->path, "run.json");
	s->ops->input(s, path, "run");
	s->ops->current(s)->format = xstrdup("profrig run (marks)");
	s->ops->current(s)->clock = TRACE_CLOCK_MONOTONIC;
	s->ops->clock(s);
	td.kind = TRACK_COUNTER;
	td.name = "marks";
	track = s->ops->track(s, &td);
	for (size_t i = 0; i < run->marks.nr; i++) {
		struct span_def d = { .track = track,
				      .start_ns = run->marks.v[i].t_ns,
				      .end_ns = run->marks.v[i].t_ns,
				      .name = sink_puts(s, run->marks.v[i].name),
				      .category = sink_puts(s, "mark"),
				      .kind = SPAN_INSTANT,
				      .args = STR_NONE };

		s->ops->span(s, &d);
	}
	s->ops->input_end(s);
}

void run_marks_take(const struct rundir *run, struct analysis_marks *am)
{
	for (size_t i = 0; i < run->overhead.nr; i++) {
		const struct rundir_overhead *o = &run->overhead.v[i];

		VEC_PUSH(&am->overhead,
			 ((struct analysis_overhead){
				 xstrdup(o->tools), xstrdup(o->unit), xstrdup(o->verdict), o->alone,
				 o->pairs, o->overhead, o->ci_low, o->ci_high, o->baseline_s,
				 o->tools_s, o->baseline_performance, o->tools_performance,
				 o->performance_ratio, o->performance_low, o->performance_high,
				 o->budget }));
	}
	for (size_t i = 0; i < run->marks.nr; i++) {
		const struct rundir_mark *m = &run->marks.v[i];

		VEC_PUSH(&am->marks,
			 ((struct analysis_mark){ xstrdup(m->name), xstrdup(m->by), m->t_ns,
						  m->uncertainty_ns, m->made }));
	}
	for (size_t i = 0; i < run->windows.nr; i++) {
		const struct rundir_window *w = &run->windows.v[i];

		VEC_PUSH(&am->windows,
			 ((struct analysis_window){
				 xstrdup(w->name), xstrdup(w->by), { w->start_ns, w->end_ns } }));
	}
}

static void read_of_run(struct reading *rd, const struct rundir_input *in,
			const struct reader *reader)
{
	rd->tb.origin = in->origin;
	reading_input(rd, in->path, reader);
	rd->tb.origin = (struct clock_origin){ .known = false };
}

static void run_inputs(struct reading *rd, const struct rundir *run, bool counters)
{
	for (size_t i = 0; i < run->inputs.nr; i++) {
		const struct reader *reader = reader_find(run->inputs.v[i].reader);

		if ((reader && reader->counters_only) == counters)
			read_of_run(rd, &run->inputs.v[i], reader);
	}
}

/* Visible devices must be known before an archive is streamed, so it is the last input. */
static void run_streamed(struct reading *rd, const struct rundir *run, input_id first)
{
	run_inputs(rd, run, true);
	run_marks(rd, run);
	add_env(rd, run, first, (input_id)rd->m->inputs.nr + 1);
	run_inputs(rd, run, false);
}

static void run_kept(struct reading *rd, const struct rundir *run, input_id first)
{
	for (size_t i = 0; i < run->inputs.nr; i++)
		read_of_run(rd, &run->inputs.v[i], reader_find(run->inputs.v[i].reader));
	run_marks(rd, run);
	add_env(rd, run, first, (input_id)rd->m->inputs.nr);
}

/* A compiler writes its dump beside what tools write; no tool lists it. */
static void run_dumps(struct reading *rd, const char *dir)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT, lost = STRVEC_INIT;
	CLEANUP(xfreep) char *artifacts = fs_join(dir, "artifacts");

	if (!fs_is_dir(artifacts) || fs_glob_all(artifacts, "**", &files, &lost, NULL) < 0)
		return;
	for (size_t i = 0; i < files.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(artifacts, files.v[i]);

		reading_dump(rd, path);
	}
}

void reading_run(struct reading *rd, const char *dir)
{
	struct analysis_opts *ao = &rd->s->ao;
	input_id first = (input_id)rd->m->inputs.nr;
	struct rundir run;
	struct err err = ERR_INIT;

	if (rundir_open(dir, &run, &err) < 0) {
		reading_failed(rd, dir, err.msg);
		return;
	}
	/* a run that never got to its workload is still a run to report on */
	rd->s->out->read++;
	for (size_t i = 0; i < run.anchors.nr; i++)
		VEC_PUSH(&rd->tb.anchors, run.anchors.v[i]);
	rd->tb.workload_start_ns = run.workload_start_ns;
	rd->tb.workload_end_ns = run.workload_end_ns;
	model_set_timebase(rd->m, rd->tb.anchors.nr ? &rd->tb : NULL);
	model_set_default_host(rd->m, run.host, run.container);
	if (rd->s->profile)
		run_streamed(rd, &run, first);
	else
		run_kept(rd, &run, first);
	for (size_t i = 0; i < run.lost.nr; i++)
		reading_failed(rd, run.lost.v[i].path, run.lost.v[i].why);
	run_dumps(rd, dir);
	reading_later(rd);
	ao->workload_start_ns = run.workload_start_ns;
	ao->workload_end_ns = run.workload_end_ns;
	if (ao->marks)
		run_marks_take(&run, ao->marks);
	ao->idle.before = (struct idle_window){ run.idle_before_ns[0], run.idle_before_ns[1] };
	ao->idle.after = (struct idle_window){ run.idle_after_ns[0], run.idle_after_ns[1] };
	model_set_timebase(rd->m, NULL);
	model_set_default_host(rd->m, NULL, false);
	rundir_release(&run);
}
