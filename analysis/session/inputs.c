/*
 * What people name on the command line, read into one model: run directories, folders of traces and
 * single files. Whatever cannot be read stands in the model as an input that is partial, with the
 * reason, so that a report made from the rest says what it lacks.
 */
#include "format_duplicates.h"
#include "session_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/u64map.h"
#include "profrig/base/workers.h"
#include "profrig/model/timebase.h"
#include "profrig/model/warnings.h"

/* Something that was read, told apart by what it is on disk. */
struct place {
	dev_t dev, parent_dev;
	ino_t ino, parent_ino;
	const struct reader *reader;
	bool is_dir;
};

struct reading {
	struct session *s;
	struct model *m; /* of s */
	struct workers *workers;
	struct timebase tb;
	VEC(struct place) places;
	struct u64map by_place, by_parent; /* → places */
	struct format_duplicates duplicates;
	uint64_t readable, partial, unreadable, repeated;
};

bool run_dir_held(const char *path)
{
	return rundir_is(path) && (door_holds(path) || door_hold(path, NULL) == 0);
}

/* Keeps in the model what could not be read. began: the reader had made an input of it. */
static void unreadable(struct reading *rd, const char *path, const struct reader *reader,
		       input_id began, const char *why)
{
	struct sink *s = model_sink(rd->m);
	input_id id = began;

	session_note(rd->s->o, rd->s->out, SESSION_UNREADABLE, "%s", why);
	rd->unreadable++;
	if (began >= rd->m->inputs.nr) {
		id = s->ops->input(s, path, reader ? reader->name : "");
		s->ops->current(s)->format = xstrdup("unreadable");
		s->ops->input_end(s);
	}
	rd->m->inputs.v[id].partial = true;
	model_warn(rd->m, id, W_UNREADABLE, 1, "%s", why);
}

static bool place_of(const char *path, const struct reader *reader, struct place *ret)
{
	CLEANUP(xfreep) char *whole = fs_abs(path);
	CLEANUP(xfreep) char *parent = fs_dir(whole);
	struct stat st, up;

	if (door_stat(path, &st) < 0 || door_stat(parent, &up) < 0)
		return false;
	*ret = (struct place){ .dev = st.st_dev,
			       .ino = st.st_ino,
			       .parent_dev = up.st_dev,
			       .parent_ino = up.st_ino,
			       .reader = reader,
			       .is_dir = S_ISDIR(st.st_mode) };
	return true;
}

/* An archive's directory and the file in it that stands for the archive. */
static bool holds(const struct place *dir, const struct place *file)
{
	return dir->is_dir && !file->is_dir && dir->reader == file->reader &&
	       dir->dev == file->parent_dev && dir->ino == file->parent_ino;
}

static uint64_t place_key(dev_t dev, ino_t ino)
{
	return (uint64_t)dev * UINT64_C(0x9e3779b97f4a7c15) ^ ino;
}

/* What was read first under a key; NULL when nothing was. */
static const struct place *place_at(const struct reading *rd, const struct u64map *map, dev_t dev,
				    ino_t ino)
{
	uint32_t i = u64map_get(map, place_key(dev, ino));

	return i == U64MAP_NONE ? NULL : &rd->places.v[i];
}

static bool is_read(const struct reading *rd, const struct place *p)
{
	const struct place *same = place_at(rd, &rd->by_place, p->dev, p->ino);
	const struct place *dir = place_at(rd, &rd->by_place, p->parent_dev, p->parent_ino);
	const struct place *inside = place_at(rd, &rd->by_parent, p->dev, p->ino);

	return (same && same->dev == p->dev && same->ino == p->ino) || (dir && holds(dir, p)) ||
	       (inside && holds(p, inside));
}

static void place_add(struct reading *rd, const struct place *p)
{
	uint32_t *here = u64map_at(&rd->by_place, place_key(p->dev, p->ino));
	uint32_t *inside;

	if (*here == U64MAP_NONE)
		*here = (uint32_t)rd->places.nr;
	inside = u64map_at(&rd->by_parent, place_key(p->parent_dev, p->parent_ino));
	/* Of what one folder holds, an archive may also be named by the folder. */
	if (*inside == U64MAP_NONE || (p->reader && p->reader->claims))
		*inside = (uint32_t)rd->places.nr;
	VEC_PUSH(&rd->places, *p);
}

/* Nothing counts twice, however often and by whatever path it is named. */
static bool read_before(struct reading *rd, const char *path, const struct reader *reader)
{
	struct place p;

	if (!place_of(path, reader, &p))
		return false;
	if (!is_read(rd, &p)) {
		place_add(rd, &p);
		return false;
	}
	model_warn(rd->m, UINT32_MAX, W_DUPLICATE_INPUT, 1, "%s was read already", path);
	session_note(rd->s->o, rd->s->out, SESSION_REPEATED, "%s was read already; it counts once",
		     path);
	rd->repeated++;
	return true;
}

/* What it holds is read from another file. */
static bool is_left_out(struct reading *rd, const char *path)
{
	const char *code, *why = format_duplicates_why(&rd->duplicates, path, &code);

	if (!why)
		return false;
	model_warn(rd->m, UINT32_MAX, code, 1, "%s", why);
	session_note(rd->s->o, rd->s->out, SESSION_LEFT_OUT, "%s", why);
	rd->repeated++;
	return true;
}

static void read_with(struct reading *rd, const char *path, const struct reader *reader)
{
	struct err err = ERR_INIT;
	struct read_opts ro = { .keep_args = rd->s->o->keep_args,
				.workers = rd->workers,
				.dialect = reader == rd->s->o->reader ? rd->s->o->dialect : NULL };
	input_id began = (input_id)rd->m->inputs.nr;
	int r;

	if (is_left_out(rd, path) || read_before(rd, path, reader))
		return;
	session_phase(rd->s->o, SESSION_READ, fs_base(path));
	r = reader_read(reader, path, model_sink(rd->m), &ro, &err);
	if (r < 0) {
		unreadable(rd, path, reader, began, err.msg);
		return;
	}
	rd->readable++;
	for (input_id i = began; i < rd->m->inputs.nr; i++)
		r = rd->m->inputs.v[i].partial ? READ_PARTIAL : r;
	rd->partial += r == READ_PARTIAL;
}

static void read_one(struct reading *rd, const char *path)
{
	struct err err = ERR_INIT;
	const struct reader *reader;

	if (session_detect(rd->s->o, path, &reader, &err) < 0)
		unreadable(rd, path, NULL, (input_id)rd->m->inputs.nr, err.msg);
	else
		read_with(rd, path, reader);
}

/* ---- a folder of traces ---- */

static bool is_claimed(const char *dir, const char *rel)
{
	for (size_t k = 0; readers[k]; k++)
		if (readers[k]->claims && readers[k]->claims(dir, rel))
			return true;
	return false;
}

/* Whether a path is what an analysis into the same folder wrote there; other files may lie beside
 * it, also those that are to be read. */
static bool is_output(const struct reading *rd, const char *path)
{
	static const char *const written[] = { "analysis.json", "report.json", "report.html",
					       "tables/",       "folded/",     "each/" };
	CLEANUP(xfreep) char *whole = fs_abs(path);
	size_t n = rd->s->output ? strlen(rd->s->output) : 0;

	if (!n || strncmp(whole, rd->s->output, n) != 0 || whole[n] != '/')
		return false;
	for (size_t i = 0; i < ARRAY_LEN(written); i++) {
		size_t k = strlen(written[i]);

		if (strncmp(whole + n + 1, written[i], k) == 0 &&
		    (written[i][k - 1] == '/' || !whole[n + 1 + k]))
			return true;
	}
	return false;
}

/* What is in a folder and no trace. */
struct unrecognised {
	size_t nr;
	char *first;
};

static void folder_file(struct reading *rd, const char *path, const struct reader *whole,
			struct unrecognised *others)
{
	struct err err = ERR_INIT;
	const struct reader *reader;
	int r = reader_detect(path, &reader, &err);

	if (r == -EINVAL) {
		if (others->nr++ == 0)
			others->first = xstrdup(fs_base(path));
	} else if (r < 0) {
		unreadable(rd, path, NULL, (input_id)rd->m->inputs.nr, err.msg);
	} else if (reader != whole) {
		read_with(rd, path, reader);
	}
}

static void folder_files(struct reading *rd, const char *dir, const struct strvec *files,
			 const struct reader *whole)
{
	struct unrecognised others = { 0, NULL };

	for (size_t i = 0; i < files->nr; i++) {
		const char *rel = files->v[i];
		CLEANUP(xfreep) char *path = fs_join(dir, rel);

		if (!is_claimed(dir, rel) && !is_output(rd, path))
			folder_file(rd, path, strchr(rel, '/') ? NULL : whole, &others);
	}
	/* the settings and profiles that lie beside an archive are nothing to wonder at */
	if (others.nr && !whole)
		model_warn(rd->m, UINT32_MAX, W_IGNORED_FILE, others.nr,
			   "%s: files that are no traces, first %s", dir, others.first);
	free(others.first);
}

/*
 * Archives are claimed whole by their reader, other files are read when some reader knows them. A
 * directory that cannot be entered does not hide the others.
 */
static void read_folder(struct reading *rd, const char *dir)
{
	const struct reader *whole = NULL;
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT, lost = STRVEC_INIT;
	uint64_t before = rd->readable + rd->unreadable + rd->repeated;
	struct err err = ERR_INIT;

	if (reader_detect(dir, &whole, NULL) == 0 &&
	    format_duplicates_hide(&rd->duplicates, dir, whole))
		whole = NULL;
	if (whole && !rd->s->profile)
		read_with(rd, dir, whole);
	if (fs_glob_all(dir, "**", &files, &lost, &err) < 0) {
		unreadable(rd, dir, NULL, (input_id)rd->m->inputs.nr, err.msg);
		return;
	}
	for (size_t i = 0; i < lost.nr; i++)
		unreadable(rd, dir, NULL, (input_id)rd->m->inputs.nr, lost.v[i]);
	folder_files(rd, dir, &files, whole);
	if (whole && rd->s->profile)
		read_with(rd, dir, whole);
	if (rd->readable + rd->unreadable + rd->repeated == before) {
		err_set(&err, ENOENT,
			"%s: no file in it is a trace that profrig knows ('profrig list readers' "
			"shows the formats)",
			dir);
		unreadable(rd, dir, NULL, (input_id)rd->m->inputs.nr, err.msg);
	}
}

/* ---- a run ---- */

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

/* Moments of the run as instants of a track, and for those who want them as a table. */
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

void take_moments(const struct rundir *run, struct analysis_moments *mo)
{
	for (size_t i = 0; i < run->overhead.nr; i++) {
		const struct rundir_overhead *o = &run->overhead.v[i];

		VEC_PUSH(&mo->overhead,
			 ((struct analysis_overhead){
				 xstrdup(o->tools), xstrdup(o->unit), xstrdup(o->verdict), o->alone,
				 o->pairs, o->overhead, o->ci_low, o->ci_high, o->baseline_s,
				 o->tools_s, o->baseline_performance, o->tools_performance,
				 o->performance_ratio, o->performance_low, o->performance_high,
				 o->budget }));
	}
	for (size_t i = 0; i < run->marks.nr; i++) {
		const struct rundir_mark *m = &run->marks.v[i];

		VEC_PUSH(&mo->marks,
			 ((struct analysis_mark){ xstrdup(m->name), xstrdup(m->by), m->t_ns,
						  m->uncertainty_ns, m->made }));
	}
	for (size_t i = 0; i < run->windows.nr; i++) {
		const struct rundir_window *w = &run->windows.v[i];

		VEC_PUSH(&mo->windows,
			 ((struct analysis_window){
				 xstrdup(w->name), xstrdup(w->by), { w->start_ns, w->end_ns } }));
	}
}

static void read_of_run(struct reading *rd, const struct rundir_input *in,
			const struct reader *reader)
{
	rd->tb.origin = in->origin;
	read_with(rd, in->path, reader);
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

/* Who sees which device must be known before an archive is streamed, which is the last input. */
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

static void read_run(struct reading *rd, const char *dir)
{
	struct analysis_opts *ao = &rd->s->ao;
	input_id first = (input_id)rd->m->inputs.nr;
	struct rundir run;
	struct err err = ERR_INIT;

	if (rundir_open(dir, &run, &err) < 0) {
		unreadable(rd, dir, NULL, (input_id)rd->m->inputs.nr, err.msg);
		return;
	}
	/* a run that never got to its workload is still a run to report on */
	rd->readable++;
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
		unreadable(rd, run.lost.v[i].path, NULL, (input_id)rd->m->inputs.nr,
			   run.lost.v[i].why);
	ao->workload_start_ns = run.workload_start_ns;
	ao->workload_end_ns = run.workload_end_ns;
	if (ao->moments)
		take_moments(&run, ao->moments);
	ao->idle.before = (struct idle_window){ run.idle_before_ns[0], run.idle_before_ns[1] };
	ao->idle.after = (struct idle_window){ run.idle_after_ns[0], run.idle_after_ns[1] };
	model_set_timebase(rd->m, NULL);
	model_set_default_host(rd->m, NULL, false);
	rundir_release(&run);
}

/* ---- the command line ---- */

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return door_stat(a, &sa) == 0 && door_stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* The run directories directly in a folder, such as runs/; the first one's name in *ret. */
static size_t runs_in(const char *dir, char **ret)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	size_t nr = 0;

	*ret = NULL;
	if (!fs_is_dir(dir) || fs_list(dir, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);

		if (run_dir_held(path) && nr++ == 0)
			*ret = STEAL(path);
	}
	return nr;
}

/*
 * Runs have clocks and threads of their own, so what several of them recorded is not one trace; as
 * one their times would be added up.
 */
static int one_run_at_most(const struct strvec *inputs, struct err *err)
{
	const char *run = NULL;

	for (size_t i = 0; i < inputs->nr; i++) {
		CLEANUP(xfreep) char *inside = NULL;

		if (!run_dir_held(inputs->v[i])) {
			if (runs_in(inputs->v[i], &inside) == 0)
				continue;
			return err_set(err, EINVAL,
				       "%s holds run directories; name those that are meant, such "
				       "as %s",
				       inputs->v[i], inside);
		}
		if (run && !same_file(run, inputs->v[i]))
			return err_set(err, EINVAL,
				       "%s and %s are two runs; one run is analysed at a time", run,
				       inputs->v[i]);
		run = inputs->v[i];
	}
	return 0;
}

static void read_input(struct reading *rd, const char *path)
{
	struct err err = ERR_INIT;

	if (!fs_exists(path)) {
		err_set(&err, ENOENT, "%s: no such file or directory", path);
		unreadable(rd, path, NULL, (input_id)rd->m->inputs.nr, err.msg);
	} else if (run_dir_held(path)) {
		if (read_before(rd, path, NULL))
			return;
		read_run(rd, path);
		if (!rd->s->run_dir)
			rd->s->run_dir = fs_abs(path);
	} else if (fs_is_dir(path)) {
		read_folder(rd, path);
	} else {
		read_one(rd, path);
	}
}

static bool is_counters(const struct session_opts *o, const char *path)
{
	const struct reader *reader;

	return !fs_is_dir(path) && session_detect(o, path, &reader, NULL) == 0 &&
	       reader->counters_only;
}

static void read_inputs(struct reading *rd, const struct strvec *inputs)
{
	bool sorted = rd->s->profile != NULL;

	for (size_t i = 0; sorted && i < inputs->nr; i++) {
		if (is_counters(rd->s->o, inputs->v[i]))
			read_input(rd, inputs->v[i]);
	}
	for (size_t i = 0; i < inputs->nr; i++) {
		if (!sorted || !is_counters(rd->s->o, inputs->v[i]))
			read_input(rd, inputs->v[i]);
	}
}

/* ---- what is there in several formats ---- */

static void add_run_files(struct strvec *files, const char *dir)
{
	struct rundir run;

	if (rundir_open(dir, &run, NULL) < 0)
		return;
	for (size_t i = 0; i < run.inputs.nr; i++)
		strvec_push(files, run.inputs.v[i].path);
	rundir_release(&run);
}

static void add_folder_files(struct strvec *files, const struct reading *rd, const char *dir)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT, lost = STRVEC_INIT;

	if (fs_glob_all(dir, "**", &names, &lost, NULL) < 0)
		return;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);

		if (!is_claimed(dir, names.v[i]) && !is_output(rd, path))
			strvec_push(files, path);
	}
}

static void find_duplicates(struct reading *rd, const struct strvec *inputs)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;

	for (size_t i = 0; i < inputs->nr; i++) {
		if (run_dir_held(inputs->v[i]))
			add_run_files(&files, inputs->v[i]);
		else if (fs_is_dir(inputs->v[i]))
			add_folder_files(&files, rd, inputs->v[i]);
		else
			strvec_push(&files, inputs->v[i]);
	}
	format_duplicates_gather(&rd->duplicates, &files);
	format_duplicates_decide(&rd->duplicates, rd->s->o);
}

/* Ranks are as many as there are processors, mostly; an archive that is streamed has its own. */
static struct workers *reading_workers(const struct session *s)
{
	if (s->profile || (!s->o->threads && !comm_alone(s->o->comm)))
		return workers_new(1);
	return workers_new((unsigned)s->o->threads);
}

static void reading_release(struct reading *rd)
{
	model_set_workers(rd->m, NULL);
	VEC_RELEASE(&rd->tb.anchors);
	VEC_RELEASE(&rd->places);
	format_duplicates_release(&rd->duplicates);
	u64map_release(&rd->by_place);
	u64map_release(&rd->by_parent);
	workers_free(rd->workers);
}

int session_read_inputs(struct session *s, const struct strvec *inputs, struct err *err)
{
	CLEANUP(reading_release) struct reading rd = { .s = s, .m = s->m };
	int64_t at = clock_monotonic_ns();
	int r = one_run_at_most(inputs, err);

	if (r < 0)
		return session_fail(s->out, SESSION_BAD_REQUEST, r);
	rd.workers = reading_workers(s);
	model_set_workers(s->m, rd.workers);
	find_duplicates(&rd, inputs);
	read_inputs(&rd, inputs);
	s->out->read += rd.readable;
	s->out->partial += rd.partial;
	if (rd.readable == 0)
		return session_fail(s->out, SESSION_NOTHING_READ,
				    err_set(err, ENODATA, "no input could be read"));
	s->times.read_s = session_lap_s(&at);
	model_finish(s->m);
	s->times.model_s = session_lap_s(&at);
	if (s->o->listener.have_read)
		s->o->listener.have_read(s->o->listener.ctx, s->m);
	if (rd.unreadable || rd.partial)
		session_worsen(s->out, SESSION_PARTIAL);
	return 0;
}
