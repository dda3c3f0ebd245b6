/*
 * Inputs, read into one model: run directories, folders of traces and single files. An input that
 * cannot be read is kept in the model as a partial one with the reason, so that a report of the
 * others names the missing one.
 */
#include "reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/workers.h"
#include "profrig/hlo/hlo.h"
#include "profrig/model/warnings.h"
#include "profrig/work/kernel_join.h"

/* began: the index of the input, when the reader had begun it; else the number of inputs. */
static void input_failed(struct reading *rd, const char *path, const struct reader *reader,
			 input_id began, const char *why)
{
	struct sink *s = model_sink(rd->m);
	input_id id = began;

	session_note(rd->s->o, rd->s->out, SESSION_UNREADABLE, "%s", why);
	if (began >= rd->m->inputs.nr) {
		id = s->ops->input(s, path, reader ? reader->name : "");
		s->ops->current(s)->format = xstrdup("unreadable");
		s->ops->input_end(s);
	}
	rd->m->inputs.v[id].partial = true;
	model_warn(rd->m, id, W_UNREADABLE, 1, "%s", why);
}

void reading_failed(struct reading *rd, const char *path, const char *why)
{
	input_failed(rd, path, NULL, (input_id)rd->m->inputs.nr, why);
}

/* Nothing counts twice. */
static bool read_before(struct reading *rd, const char *path, const struct reader *reader)
{
	if (!seen_before(&rd->seen, path, reader))
		return false;
	model_warn(rd->m, UINT32_MAX, W_DUPLICATE_INPUT, 1, "%s was read already", path);
	session_note(rd->s->o, rd->s->out, SESSION_REPEATED, "%s was read already; it counts once",
		     path);
	return true;
}

/* Its recording is read in another format. */
static bool is_left_out(struct reading *rd, const char *path)
{
	const char *code, *why = format_duplicates_why(&rd->duplicates, path, &code);

	if (!why)
		return false;
	model_warn(rd->m, UINT32_MAX, code, 1, "%s", why);
	session_note(rd->s->o, rd->s->out, SESSION_LEFT_OUT, "%s", why);
	return true;
}

static struct read_opts read_opts_of(const struct reading *rd, const struct reader *reader)
{
	return (struct read_opts){ .keep_args = rd->s->o->keep_args,
				   .keep_shapes = session_wants_shapes(rd->s),
				   .facts = session_wants_facts(rd->s) || rd->s->o->file_facts,
				   .file_facts = rd->s->o->file_facts,
				   .soc_mhz = rd->s->o->analysis.soc_mhz,
				   .workers = rd->workers,
				   .dialect =
					   reader == rd->s->o->reader ? rd->s->o->dialect : NULL };
}

/* By another rank, by the reader into the model, or, of kernels without times, beside it. */
static int input_take(struct reading *rd, const char *path, const struct reader *reader,
		      struct err *err)
{
	struct read_opts ro = read_opts_of(rd, reader);
	struct kernel_joined done;
	struct model *beside;
	int r;

	if (share_take(&rd->share, path, reader, rd->m, &r, err))
		return r;
	if (!reader->order_only || !rd->join)
		return reader_read(reader, path, model_sink(rd->m), &ro, err);
	beside = model_new();
	r = reader_read(reader, path, model_sink(beside), &ro, err);
	if (r >= 0)
		kernel_join(rd->m, beside, &done);
	model_free(beside);
	return r;
}

static struct hlo_programs *programs_of(struct reading *rd)
{
	if (!rd->programs)
		rd->programs = rd->s->programs = hlo_programs_new();
	return rd->programs;
}

/* What a profile of JAX holds beside its events; of interest where single calls are. */
static void programs_inside(struct reading *rd, const char *path, const struct reader *reader)
{
	struct err err = ERR_INIT;

	if (strcmp(reader->name, "xplane") == 0 && !rd->s->profile && session_wants_facts(rd->s) &&
	    hlo_read_space(programs_of(rd), path, &err) < 0)
		model_warn(rd->m, (input_id)rd->m->inputs.nr - 1, W_BAD_EVENT, 1,
			   "a program in it: %s", err.msg);
}

static void input_read_now(struct reading *rd, const char *path, const struct reader *reader)
{
	struct err err = ERR_INIT;
	input_id began = (input_id)rd->m->inputs.nr;
	int r;

	if (is_left_out(rd, path) || read_before(rd, path, reader))
		return;
	session_phase(rd->s->o, SESSION_READ, fs_base(path));
	r = input_take(rd, path, reader, &err);
	if (r < 0) {
		input_failed(rd, path, reader, began, err.msg);
		return;
	}
	rd->s->out->read++;
	programs_inside(rd, path, reader);
	for (input_id i = began; i < rd->m->inputs.nr; i++)
		r = rd->m->inputs.v[i].partial ? READ_PARTIAL : r;
	rd->s->out->partial += r == READ_PARTIAL;
}

void reading_input(struct reading *rd, const char *path, const struct reader *reader)
{
	if (rd->s->o->wants && !rd->s->o->wants(path, reader))
		return;
	if (reader && reader->order_only && (rd->timed || !rd->ordered))
		VEC_PUSH(&rd->later, ((struct later_input){ xstrdup(path), reader }));
	else
		input_read_now(rd, path, reader);
}

void reading_later(struct reading *rd)
{
	/* kernels of such an input are none to join others with */
	if (rd->later.nr && !rd->as_it_is)
		rd->join = kernel_join_has(rd->m);
	rd->as_it_is |= rd->later.nr && !rd->join;
	for (size_t i = 0; i < rd->later.nr; i++) {
		const struct later_input *l = &rd->later.v[i];

		if (!rd->share.lanes)
			input_read_now(rd, l->path, l->reader);
		else if (comm_rank(rd->s->o->comm) == 0)
			model_warn(rd->m, UINT32_MAX, W_NOT_IN_PROFILE, 1,
				   "%s is left out: its counters need the kernels of all ranks",
				   l->path);
		free(l->path);
	}
	VEC_CLEAR(&rd->later);
}

bool reading_dump(struct reading *rd, const char *path)
{
	struct err err = ERR_INIT;

	if (!hlo_dump_is(path) || rd->s->o->reader)
		return false;
	rd->dumps++;
	if (!read_before(rd, path, NULL) && hlo_read(programs_of(rd), path, &err) < 0)
		reading_failed(rd, path, err.msg);
	return true;
}

static void input_read(struct reading *rd, const char *path)
{
	struct err err = ERR_INIT;
	const struct reader *reader;

	if (reading_dump(rd, path))
		return;
	if (session_detect(rd->s->o, path, &reader, &err) < 0)
		reading_failed(rd, path, err.msg);
	else
		reading_input(rd, path, reader);
}

/* ---- a folder of traces ---- */

static bool is_claimed(const char *dir, const char *rel)
{
	for (size_t k = 0; readers[k]; k++)
		if (readers[k]->claims && readers[k]->claims(dir, rel))
			return true;
	return false;
}

/* Whether an analysis into the same folder wrote a path; the folder may hold other files, also
 * inputs. */
static bool is_output(const struct reading *rd, const char *path)
{
	static const char *const folders[] = { "tables/", "folded/", "each/" };
	CLEANUP(xfreep) char *whole = fs_abs(path);
	size_t n = rd->s->output ? strlen(rd->s->output) : 0;
	const char *name;

	if (!n || strncmp(whole, rd->s->output, n) != 0 || whole[n] != '/')
		return false;
	name = whole + n + 1;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (strncmp(name, folders[i], strlen(folders[i])) == 0)
			return true;
	return report_file_is_own(name);
}

/* Files of a folder that no reader recognises. */
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
		reading_failed(rd, path, err.msg);
	} else if (reader != whole) {
		reading_input(rd, path, reader);
	}
}

static void folder_files(struct reading *rd, const char *dir, const struct strvec *files,
			 const struct reader *whole)
{
	struct unrecognised others = { 0, NULL };

	for (size_t i = 0; i < files->nr; i++) {
		const char *rel = files->v[i];
		CLEANUP(xfreep) char *path = fs_join(dir, rel);

		if (!is_claimed(dir, rel) && !is_output(rd, path) && !reading_dump(rd, path))
			folder_file(rd, path, strchr(rel, '/') ? NULL : whole, &others);
	}
	/* settings and profiles beside an archive are expected */
	if (others.nr && !whole)
		model_warn(rd->m, UINT32_MAX, W_IGNORED_FILE, others.nr,
			   "%s: files that are no traces, first %s", dir, others.first);
	free(others.first);
}

/* Inputs so far, read or not. */
static uint64_t inputs_met(const struct reading *rd)
{
	const struct session_outcome *out = rd->s->out;

	return out->read + out->noted[SESSION_UNREADABLE] + out->noted[SESSION_REPEATED] +
	       out->noted[SESSION_LEFT_OUT] + rd->later.nr + rd->dumps;
}

/*
 * A reader claims an archive as a whole; other files are read when a reader recognises them. A
 * directory that cannot be entered does not hide the others.
 */
static void read_folder(struct reading *rd, const char *dir)
{
	const struct reader *whole = NULL;
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT, lost = STRVEC_INIT;
	uint64_t before = inputs_met(rd);
	struct err err = ERR_INIT;

	if (reader_detect(dir, &whole, NULL) == 0 &&
	    format_duplicates_hide(&rd->duplicates, dir, whole))
		whole = NULL;
	if (whole && !rd->s->profile)
		reading_input(rd, dir, whole);
	if (fs_glob_all(dir, "**", &files, &lost, &err) < 0) {
		reading_failed(rd, dir, err.msg);
		return;
	}
	for (size_t i = 0; i < lost.nr; i++)
		reading_failed(rd, dir, lost.v[i]);
	folder_files(rd, dir, &files, whole);
	if (whole && rd->s->profile)
		reading_input(rd, dir, whole);
	if (inputs_met(rd) == before) {
		err_set(&err, ENOENT,
			"%s: no file in it is a trace that profrig knows ('profrig list readers' "
			"shows the formats)",
			dir);
		reading_failed(rd, dir, err.msg);
	}
}

/* ---- named inputs ---- */

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
 * Each run has its own clocks and threads, so the recordings of several are not one trace: their
 * times would add up.
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
		reading_failed(rd, path, err.msg);
	} else if (run_dir_held(path)) {
		if (read_before(rd, path, NULL))
			return;
		reading_run(rd, path);
		if (!rd->s->run_dir)
			rd->s->run_dir = fs_abs(path);
	} else if (fs_is_dir(path)) {
		read_folder(rd, path);
	} else {
		input_read(rd, path);
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
	reading_later(rd);
}

/* ---- recordings in several formats ---- */

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

/* ---- files that other ranks read ---- */

static void share_file(struct reading *rd, const char *path, const struct reader *reader,
		       const struct rundir *run)
{
	const char *code;

	if (!reader || format_duplicates_why(&rd->duplicates, path, &code))
		return;
	if (rd->counting)
		*(reader->order_only ? &rd->ordered : &rd->timed) += 1;
	else if (!reader->order_only || rd->timed == 0)
		share_add(&rd->share, path, reader, run);
}

static void share_run(struct reading *rd, const char *dir)
{
	struct rundir run;

	if (rundir_open(dir, &run, NULL) < 0)
		return;
	for (size_t i = 0; i < run.inputs.nr; i++)
		share_file(rd, run.inputs.v[i].path, reader_find(run.inputs.v[i].reader), &run);
	rundir_release(&run);
}

static void share_folder(struct reading *rd, const char *dir)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	const struct reader *whole = NULL, *reader;

	if (reader_detect(dir, &whole, NULL) == 0 &&
	    !format_duplicates_hide(&rd->duplicates, dir, whole))
		share_file(rd, dir, whole, NULL);
	add_folder_files(&files, rd, dir);
	for (size_t i = 0; i < files.nr; i++)
		if (reader_detect(files.v[i], &reader, NULL) == 0 && reader != whole)
			share_file(rd, files.v[i], reader, NULL);
}

static void share_walk(struct reading *rd, const struct strvec *inputs, bool counting)
{
	const struct reader *reader;

	rd->counting = counting;
	for (size_t i = 0; i < inputs->nr; i++) {
		const char *path = inputs->v[i];

		if (run_dir_held(path))
			share_run(rd, path);
		else if (fs_is_dir(path))
			share_folder(rd, path);
		else if (session_detect(rd->s->o, path, &reader, NULL) == 0)
			share_file(rd, path, reader, NULL);
	}
}

/* In the order in which they are read; what is not in the list rank 0 reads by itself. */
static void share_inputs(struct reading *rd, const struct strvec *inputs)
{
	struct session *s = rd->s;

	if (comm_alone(s->o->comm) || s->profile)
		return;
	share_walk(rd, inputs, true);
	share_walk(rd, inputs, false);
	if (s->lanes && share_lanes(&rd->share, s))
		return;
	if (s->lanes && comm_rank(s->o->comm) == 0)
		session_note(s->o, s->out, SESSION_ONE_RANK, "rank 0 has all calls: %s", s->alone);
	s->left = s->lanes && comm_rank(s->o->comm) > 0;
	if (s->left)
		return;
	if (!share_begin(&rd->share, s->o->comm) && s->alone && !s->lanes)
		session_note(s->o, s->out, SESSION_ONE_RANK, "rank 0 reads it alone: %s", s->alone);
	s->lanes = false;
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
	share_end(&rd->share);
	VEC_RELEASE(&rd->tb.anchors);
	VEC_RELEASE(&rd->later);
	format_duplicates_release(&rd->duplicates);
	seen_inputs_release(&rd->seen);
	workers_free(rd->workers);
}

/* Files out of an archive are named as in "runs.zip/run/trace.json". */
static void inputs_rename(const struct session *s)
{
	for (size_t i = 0; s->o->unpacked && i < s->m->inputs.nr; i++) {
		struct input *in = &s->m->inputs.v[i];
		const char *below = fs_below(s->o->unpacked, in->path);
		char *name = below ? xstrdup(below) : NULL;

		if (!name)
			continue;
		free(in->path);
		in->path = name;
	}
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
	share_inputs(&rd, inputs);
	if (s->left)
		return -ECANCELED;
	read_inputs(&rd, inputs);
	if (rd.share.comm)
		session_note(s->o, s->out, SESSION_SHARED,
			     "%zu of %zu files were read by other ranks", rd.share.played,
			     rd.share.tasks.nr);
	if (s->out->read == 0)
		return session_fail(s->out, SESSION_NOTHING_READ,
				    err_set(err, ENODATA, "no input could be read"));
	s->times.read_s = session_lap_s(&at);
	model_finish_flat(s->m);
	s->ao.programs = rd.programs;
	if (rd.programs && !s->profile)
		hlo_join(rd.programs, s->m, rd.dumps > 0);
	if (s->lanes)
		share_lanes_finished(&rd.share, s->m);
	s->times.model_s = session_lap_s(&at);
	inputs_rename(s);
	if (s->o->listener.have_read)
		s->o->listener.have_read(s->o->listener.ctx, s->m);
	if (s->out->noted[SESSION_UNREADABLE] || s->out->partial)
		session_worsen(s->out, SESSION_PARTIAL);
	return 0;
}
