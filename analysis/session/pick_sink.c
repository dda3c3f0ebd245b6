/*
 * Model or profile: whether the inputs can be streamed, and whether they should be.
 *
 * They can be when they are one archive of a format that offers sources (reader.h), alone or in a
 * run, and all other inputs have counters only: a profile and spans in the model would be two
 * halves of one table.
 *
 * They should be, as it is faster and takes less memory, unless a window needs single calls. A
 * small archive is read into the model: that takes less than a second, and gives exact percentiles,
 * which a profile lacks (W_APPROXIMATE). Whether an archive's counters are among the calls of
 * threads shows only while it is read; analyze.c then reads it again.
 */
#include "session_private.h"
#include "shared_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/memory_limit.h"
#include "profrig/base/num.h"

#define SMALL_RECORDS UINT64_C(1000000)

int session_detect(const struct session_opts *o, const char *path, const struct reader **ret,
		   struct err *err)
{
	if (!o->reader || fs_is_dir(path))
		return reader_detect(path, ret, err);
	*ret = o->reader;
	return 0;
}

/* Inputs that can be streamed: one archive, and counters. */
struct streamable {
	const struct reader *reader; /* of the archive */
	char *archive;
	bool windows; /* the run's tools recorded in windows */
};

static void streamable_release(struct streamable *s)
{
	free(s->archive);
}

/* The reason why an input cannot be streamed together with the earlier ones, owned; NULL: none. */
static char *streamable_add(struct streamable *s, const char *path, const struct reader *reader)
{
	if (!reader)
		return xasprintf("%s is no archive that can be streamed", path);
	if (reader->counters_only)
		return NULL;
	if (!reader->records)
		return xasprintf("%s is read by '%s', whose format cannot be streamed", path,
				 reader->name);
	if (s->archive)
		return xasprintf("one archive at a time can be streamed, and %s lies beside %s",
				 path, s->archive);
	s->archive = xstrdup(path);
	s->reader = reader;
	return NULL;
}

/* Another input that has calls, owned; NULL: there is none. */
static char *other_calls_in(const char *dir, const struct reader *whole)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT, lost = STRVEC_INIT;

	if (fs_glob_all(dir, "**", &files, &lost, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < files.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, files.v[i]);
		const struct reader *reader;

		if (whole->claims && whole->claims(dir, files.v[i]))
			continue;
		if (reader_detect(path, &reader, NULL) < 0 || reader->counters_only)
			continue;
		if (reader != whole || strchr(files.v[i], '/'))
			return STEAL(path);
	}
	return NULL;
}

static char *streamable_path(struct streamable *s, const char *path, const struct session_opts *o)
{
	const struct reader *reader = NULL;
	CLEANUP(xfreep) char *other = NULL;

	session_detect(o, path, &reader, NULL);
	other = reader && reader->records && fs_is_dir(path) ? other_calls_in(path, reader) : NULL;
	if (other)
		return xasprintf("%s lies beside the archive; name the archive's own file", other);
	return streamable_add(s, path, reader);
}

static char *streamable_run(struct streamable *s, const char *dir)
{
	struct rundir run;
	char *why = NULL;

	if (rundir_open(dir, &run, NULL) < 0)
		return xasprintf("%s cannot be read", dir);
	s->windows |= run.windows.nr > 0;
	for (size_t i = 0; !why && i < run.inputs.nr; i++)
		why = streamable_add(s, run.inputs.v[i].path, reader_find(run.inputs.v[i].reader));
	rundir_release(&run);
	return why;
}

static char *why_not(const struct strvec *inputs, const struct session_opts *o,
		     struct streamable *s)
{
	char *why = NULL;

	for (size_t i = 0; !why && i < inputs->nr; i++)
		why = run_dir_held(inputs->v[i]) ? streamable_run(s, inputs->v[i])
						 : streamable_path(s, inputs->v[i], o);
	if (!why && !s->archive)
		why = xasprintf("%s has no archive that can be streamed", inputs->v[0]);
	return why;
}

/* Every location is a file that stays open while locations are read in turns. */
static void files_allow(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

void session_stream(struct session *s, struct lane_reader lanes)
{
	struct profile_opts po = { .threads = (unsigned)s->o->threads,
				   .lanes = lanes,
				   .comm = s->o->comm };

	/* ranks are as many as there are processors, mostly */
	if (!s->o->threads && !comm_alone(s->o->comm))
		po.threads = 1;
	files_allow();
	s->profile = profile_new(s->m, &po);
}

/* Whether --sink auto streams an archive that can be streamed. */
static bool auto_streams(const struct streamable *s, bool *ret_fits)
{
	uint64_t records = s->reader->records(s->archive);
	bool fits = !profile_is_better(records, memory_limit());

	if (ret_fits)
		*ret_fits = fits;
	return !fits || (ret_fits && records > SMALL_RECORDS && !s->windows);
}

/* A record of the formats that are not streamed takes as many bytes, or more. */
#define BYTES_PER_RECORD 64

static uint64_t run_bytes(const char *dir)
{
	uint64_t bytes = 0;
	struct rundir run;

	if (rundir_open(dir, &run, NULL) < 0)
		return 0;
	for (size_t i = 0; i < run.inputs.nr; i++) {
		int64_t n = fs_size(run.inputs.v[i].path);

		bytes += n > 0 ? (uint64_t)n : 0;
	}
	rundir_release(&run);
	return bytes;
}

/* Of a file that no reader knows: 0. */
static uint64_t input_bytes(const struct session_opts *o, const char *path)
{
	const struct reader *reader;
	int64_t n = 0;

	if (run_dir_held(path))
		return run_bytes(path);
	if (fs_is_dir(path))
		n = fs_usage(path, NULL);
	else if (session_detect(o, path, &reader, NULL) == 0)
		n = fs_size(path);
	return n > 0 ? (uint64_t)n : 0;
}

/* Whether each rank keeps the calls of its files: where that was asked for, and where all of them
 * may not fit into rank 0's memory. */
static bool shares_model(const struct session *s, const struct strvec *inputs)
{
	const struct session_opts *o = s->o;
	uint64_t bytes = 0;

	if (comm_alone(o->comm) || o->window || session_wants_steady(o) || o->sink == SINK_MODEL ||
	    !s->output)
		return false;
	for (size_t i = 0; i < inputs->nr; i++)
		bytes += input_bytes(o, inputs->v[i]);
	return bytes > 0 && (o->sink == SINK_PROFILE ||
			     profile_is_better(bytes / BYTES_PER_RECORD, memory_limit()));
}

int session_pick_sink(struct session *s, const struct strvec *inputs, struct lane_reader lanes,
		      bool *ret_fits, struct err *err)
{
	CLEANUP(streamable_release) struct streamable found = { NULL, NULL, false };
	const struct session_opts *o = s->o;
	CLEANUP(xfreep) char *why = NULL;

	if (ret_fits)
		*ret_fits = false;
	why = o->sink == SINK_MODEL ? xstrdup("--sink model was asked for")
	      : o->window           ? xstrdup("--window cuts single calls, which it does not keep")
	      : session_wants_steady(o)
		      ? xstrdup("iterations are cut out of single calls, which it does not keep")
		      : why_not(inputs, o, &found);
	if (why && shares_model(s, inputs)) {
		s->lanes = true;
		session_ranks_lanes(o->comm, o->member ? inputs->v[0] : NULL);
		return 0;
	}
	if (why && o->sink == SINK_PROFILE)
		return session_fail(s->out, SESSION_BAD_REQUEST,
				    err_set(err, EINVAL,
					    "--sink profile: %s; --sink model reads it into memory",
					    why));
	if (why && !comm_alone(o->comm) && fs_exists(inputs->v[0]))
		s->alone = xstrdup(why);
	if (why || (o->sink == SINK_AUTO && comm_alone(o->comm) && !auto_streams(&found, ret_fits)))
		return 0;
	session_ranks_stream(o->comm, o->member ? inputs->v[0] : NULL);
	session_stream(s, lanes);
	return 0;
}
