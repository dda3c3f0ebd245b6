/*
 * Model or profile: whether the inputs can be streamed, and whether they should be. What can be is
 * one input of a format that offers sources (reader.h), with nothing beside it but sample files: a
 * profile and spans in the model would be two halves of one table.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/log.h"
#include "profrig/num.h"
#include "profrig/profile.h"
#include "profrig/reader.h"

/* Of the machine, or of the control group that this process is in. 0: unknown. */
static uint64_t memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
	CLEANUP(xfreep) char *text = NULL;
	int64_t limit;

	if (fs_read("/sys/fs/cgroup/memory.max", 64, &text, NULL, NULL) < 0 ||
	    num_i64(text, strcspn(text, "\n"), &limit) < 0 || limit <= 0)
		return all;
	return all && all < (uint64_t)limit ? all : (uint64_t)limit;
}

/* The file beside an archive that has calls of its own, owned; NULL: there is none. */
static char *stranger_in(const char *dir, const struct reader *whole)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT, lost = STRVEC_INIT;

	if (fs_glob_all(dir, "**", &files, &lost, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < files.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, files.v[i]);
		const struct reader *reader;

		if (whole->claims && whole->claims(dir, files.v[i]))
			continue;
		if (reader_detect(path, &reader, NULL) < 0 || strcmp(reader->name, "samples") == 0)
			continue;
		if (reader != whole || strchr(files.v[i], '/'))
			return STEAL(path);
	}
	return NULL;
}

/* Why the inputs cannot be streamed, owned; NULL: they can, by *ret. */
static char *why_not(const struct strvec *inputs, const struct reader **ret)
{
	const char *path = inputs->v[0];
	CLEANUP(xfreep) char *other = NULL;

	if (inputs->nr != 1)
		return xasprintf("one archive at a time can be streamed, not %zu inputs",
				 inputs->nr);
	if (rundir_is(path))
		return xasprintf("%s is a run; what can be streamed is an archive below its "
				 "artifacts/",
				 path);
	if (reader_detect(path, ret, NULL) < 0)
		return xasprintf("%s is no archive that can be streamed", path);
	if (!(*ret)->records)
		return xasprintf("%s is read by '%s', and only otf2 archives can be streamed", path,
				 (*ret)->name);
	other = fs_is_dir(path) ? stranger_in(path, *ret) : NULL;
	if (other)
		return xasprintf("%s lies beside the archive; name the archive's .otf2 file",
				 other);
	return NULL;
}

/* Every location is a file that stays open while it is read in turns with the others. */
static void files_allow(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

struct profile *analyze_profile(const struct analyze_options *o, struct model *m,
				struct lane_reader lanes)
{
	struct profile_opts po = { .threads = (unsigned)o->threads,
				   .lanes = lanes,
				   .comm = cli_comm };

	/* ranks are as many as there are processors, mostly */
	if (!o->threads && !comm_alone(cli_comm))
		po.threads = 1;
	files_allow();
	return profile_new(m, &po);
}

int analyze_pick_sink(const struct strvec *inputs, const struct analyze_options *o, struct model *m,
		      struct lane_reader lanes, struct profile **ret)
{
	const struct reader *reader = NULL;
	CLEANUP(xfreep) char *why = NULL;

	*ret = NULL;
	why = o->sink == SINK_MODEL ? xstrdup("--sink model was asked for")
				    : why_not(inputs, &reader);
	if (why && o->sink == SINK_PROFILE) {
		log_error("--sink profile: %s; --sink model reads it into memory", why);
		return EXIT_USAGE;
	}
	if (why && !comm_alone(cli_comm) && fs_exists(inputs->v[0]))
		log_notice("rank 0 reads it alone: %s", why);
	if (why || (o->sink == SINK_AUTO && comm_alone(cli_comm) &&
		    !profile_is_better(reader->records(inputs->v[0]), memory_bytes())))
		return EXIT_DONE;
	comm_begin(cli_comm, true, 0, NULL);
	*ret = analyze_profile(o, m, lanes);
	return EXIT_DONE;
}
