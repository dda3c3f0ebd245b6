#include "run_collect.h"
#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/utf8.h"

#define MAX_ARTIFACTS 100000
/* Limit for the texts about artifacts in run.json. */
#define MAX_ARTIFACT_BYTES ((size_t)32 << 20)
#define BYTES_BESIDE 400 /* of the path and the reason */

/* --- outputs that a tool left in the workload's directory --- */

/*
 * The least time of change of a file that was written after monotonic_ns. When the clock was set
 * since, files carry the new clock's time: the earliest reading counts.
 */
static int64_t written_since(const struct run *rn, int64_t monotonic_ns)
{
	int64_t since = INT64_MAX;

	for (size_t i = rn->clocks.nr; i-- > 0;) {
		const struct clock_anchor *a = &rn->clocks.v[i].anchor;
		int64_t t = a->realtime_ns + (monotonic_ns - a->monotonic_ns);

		since = t < since ? t : since;
		/* Earlier readings belong to older clocks. */
		if (a->monotonic_ns <= monotonic_ns)
			break;
	}
	return since;
}

/* Moved, not copied: traces are large, and one copy is enough. */
static int move_file(const char *from, const char *to)
{
	CLEANUP(xclosep) int fd = door_open(from, O_RDONLY, 0);
	int r;

	/* Only a file that could be read is moved: no link, FIFO or file with a second name. */
	if (fd < 0)
		return -errno;
	if (door_rename(from, to) == 0)
		return 0;
	r = fs_copy_file(from, to, 0644, NULL);
	door_unlink(r < 0 ? to : from);
	return r;
}

/* An unused name in the tool's folder. */
static char *free_name(const char *dir, const char *base)
{
	char *to = fs_join(dir, base);

	for (int i = 1; fs_exists(to) && i < 10000; i++) {
		free(to);
		to = xasprintf("%s/%d-%s", dir, i, base);
	}
	return to;
}

static void fetch_one(struct run *rn, const char *home, const char *from, struct strvec *ret)
{
	CLEANUP(xfreep) char *to = free_name(home, fs_base(from));
	int r = move_file(from, to);

	if (r < 0)
		outcome_warn(&rn->outcome, W_COLLECT, "error",
			     "'%s' could not be moved into the run directory: %s", from,
			     err_words(-r));
	else
		strvec_push(ret, fs_base(to));
}

/* The tool's folder in the run directory. */
static char *home_of(const struct run *rn, const struct plan_output *po)
{
	return xasprintf("%s/artifacts/%s", rn->pl->run_dir, po->tool);
}

/*
 * Files of a folder outside of the run directory, such as the workload's own: moved into the tool's
 * folder. Files from before the workload began are left alone.
 */
static void fetch_artifact(struct run *rn, const struct plan_output *po, const char *home,
			   struct strvec *ret)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	const struct run_step *s = run_workload(rn);
	int64_t since;

	if (!s || !s->started_ns || fs_glob(po->dir, po->glob, &files, NULL) < 0)
		return;
	/* File times advance with the kernel's tick, which may be 10 ms back. */
	since = written_since(rn, s->started_ns) - 10 * NS_PER_MS;
	fs_mkdirs(home, 0777, NULL);
	for (size_t i = 0; i < files.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(po->dir, files.v[i]);

		if (fs_exists(path) && fs_mtime_ns(path) >= since)
			fetch_one(rn, home, path, ret);
	}
}

/* --- judging --- */

static void put_verdict(struct run_verdict *v, const char *verdict, const char *reason)
{
	snprintf(v->verdict, sizeof(v->verdict), "%s", verdict);
	snprintf(v->reason, sizeof(v->reason), "%s", reason);
}

/* The reason why a file is not read: a link, a FIFO, a second name. NULL: it is a plain file. */
static const char *path_refused(const char *path)
{
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY, 0);

	return fd < 0 ? err_words(errno) : NULL;
}

static void judge_artifact(struct run *rn, struct run_artifact *a, const char *path)
{
	const struct plan_output *po = a->output;
	struct err err = ERR_INIT;
	const char *why;
	int r;

	why = path_refused(path);
	if (why) {
		put_verdict(&a->v, "damaged", why);
		return;
	}
	if (a->bytes == 0) {
		put_verdict(&a->v, "empty", "0 bytes");
		return;
	}
	if (!utf8_valid(a->path)) {
		put_verdict(&a->v, "damaged", "its name is not valid UTF-8");
		return;
	}
	r = fs_sha256(path, rn->o->interrupt, a->sha256, &err);
	if (r < 0) {
		a->sha256[0] = '\0';
		a->v.unread = r == -EINTR;
		put_verdict(&a->v, r == -EINTR ? "valid" : "damaged", err.msg);
		return;
	}
	if (po->match.nr) {
		run_check_lines(path, po, &a->v);
		if (po->reader)
			snprintf(a->v.reader, sizeof(a->v.reader), "%s", po->reader);
		return;
	}
	if (!rn->o->check) {
		put_verdict(&a->v, "valid", "");
		return;
	}
	if (rn->o->check(path, po->reader, po->min_records, &a->v, &err) < 0) {
		a->v = (struct run_verdict){ .records = 0 };
		put_verdict(&a->v, "damaged", err.msg);
	}
}

static bool verdict_is(const struct run_artifact *a, const char *verdict)
{
	return !strcmp(a->v.verdict, verdict);
}

/*
 * The artifact that decides. A tool writes one file for each process, and the files of processes
 * that never used a GPU are empty. They do no harm while one file has records. A damaged file
 * always decides.
 */
static const struct run_artifact *artifact_decisive(const struct run *rn, size_t from)
{
	const struct run_artifact *best = &rn->artifacts.v[from];

	for (size_t i = from; i < rn->artifacts.nr; i++) {
		const struct run_artifact *a = &rn->artifacts.v[i];

		if (verdict_is(a, "damaged") || verdict_is(a, "missing"))
			return a;
		if (verdict_is(a, "valid"))
			best = a;
	}
	return best;
}

/* Whether an output of the same group has records. */
static bool group_is_met(const struct run *rn, const struct plan_output *po)
{
	for (size_t i = 0; po->group && i < rn->artifacts.nr; i++) {
		const struct run_artifact *a = &rn->artifacts.v[i];

		if (a->output->group && !strcmp(a->output->group, po->group) &&
		    !strcmp(a->output->tool, po->tool) && verdict_is(a, "valid"))
			return true;
	}
	return false;
}

static bool group_goes_on(const struct run *rn, const struct plan_output *po)
{
	const struct plan_output *end = rn->pl->outputs.v + rn->pl->outputs.nr;

	for (const struct plan_output *o = po + 1; po->group && o < end; o++)
		if (o->group && !strcmp(o->group, po->group) && !strcmp(o->tool, po->tool))
			return true;
	return false;
}

static void add_missing(struct run *rn, const struct plan_output *po)
{
	struct run_artifact a = { .output = po, .bytes = -1 };
	bool wrap_at = rn->pl->conf && rn->pl->conf->wrap_at.nr;

	if (po->if_any || group_is_met(rn, po) || group_goes_on(rn, po))
		return;
	a.path = xasprintf("artifacts/%s/%s", po->tool, po->glob);
	put_verdict(&a.v, "missing",
		    wrap_at ? "no such file; did the workload start one of wrap_at's "
			      "programs?"
			    : "no such file; did the workload do anything that the tool records?");
	VEC_PUSH(&rn->artifacts, a);
}

static void add_file(struct run *rn, const struct plan_output *po, const char *dir, const char *rel)
{
	CLEANUP(xfreep) char *path = fs_join(dir, rel);
	struct run_artifact a = { .output = po, .bytes = fs_size(path) };

	a.path = xstrdup(path + strlen(rn->pl->run_dir) + 1);
	judge_artifact(rn, &a, path);
	rn->artifact_bytes += BYTES_BESIDE + json_quoted_max(a.path) + json_quoted_max(a.v.reason);
	VEC_PUSH(&rn->artifacts, a);
}

static bool has_room(const struct run *rn)
{
	return rn->artifacts.nr < MAX_ARTIFACTS && rn->artifact_bytes < MAX_ARTIFACT_BYTES;
}

/* Tools that were paused for the whole run are not at fault. */
static bool never_recorded(const struct run *rn)
{
	return rn->record.switched && !rn->record.windows.nr;
}

static bool is_link(const char *path)
{
	struct stat st;

	return door_lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/*
 * Links are not followed. A link beside matching files is left out with a warning, as tools make
 * such links to their newest file. A link alone is the output, and counts as damaged.
 */
static void leave_out_links(struct run *rn, const struct plan_output *po, const char *dir,
			    struct strvec *files)
{
	struct strvec plain = STRVEC_INIT;
	size_t links = 0;

	for (size_t i = 0; i < files->nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, files->v[i]);

		if (is_link(path))
			links++;
		else
			strvec_push(&plain, files->v[i]);
	}
	if (!links || !plain.nr) {
		strvec_release(&plain);
		return;
	}
	outcome_warn(&rn->outcome, W_COLLECT, "warning",
		     "output '%s' of tool '%s': %zu symbolic link%s not followed", po->glob,
		     po->tool, links, links == 1 ? " is" : "s are");
	strvec_release(files);
	*files = plain;
}

/* A folder that cannot be read, or is nested too deeply, does not hide the others. */
static void find_artifacts(struct run *rn, const struct plan_output *po, struct strvec *files)
{
	CLEANUP(strvec_release) struct strvec lost = STRVEC_INIT;
	struct err err = ERR_INIT;

	if (fs_glob_all(po->dir, po->glob, files, &lost, &err) < 0)
		strvec_push(&lost, err.msg);
	if (!lost.nr)
		return;
	outcome_warn(&rn->outcome, W_COLLECT, "error",
		     "output '%s' of tool '%s': %zu folder%s cannot be looked into: %s", po->glob,
		     po->tool, lost.nr, lost.nr == 1 ? "" : "s", lost.v[0]);
	rn->outcome.outputs_optional_bad = true;
}

static void collect_one(struct run *rn, const struct plan_output *po)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	CLEANUP(xfreep) char *home = home_of(rn, po);
	/* The workload's folder may be inside the run directory, too, but is removed after the run:
	 * only the tool's own folder keeps its files. */
	bool ours = fs_below(home, po->dir);
	size_t from = rn->artifacts.nr;
	const struct run_artifact *a;

	if (!ours)
		fetch_artifact(rn, po, home, &files);
	else if (fs_is_dir(po->dir))
		find_artifacts(rn, po, &files);
	if (ours)
		leave_out_links(rn, po, po->dir, &files);
	for (size_t i = 0; i < files.nr && has_room(rn); i++)
		add_file(rn, po, ours ? po->dir : home, files.v[i]);
	if (rn->artifacts.nr - from < files.nr) {
		outcome_warn(&rn->outcome, W_COLLECT, "error",
			     "output '%s' of tool '%s': only %zu of %zu files were looked at",
			     po->glob, po->tool, rn->artifacts.nr - from, files.nr);
		rn->outcome.outputs_optional_bad = true;
	}
	if (files.nr == 0 && !po->if_any)
		add_missing(rn, po);
	if (rn->artifacts.nr == from)
		return;
	a = artifact_decisive(rn, from);
	if (verdict_is(a, "valid") && a->v.unread && !po->if_any) {
		outcome_warn(&rn->outcome, W_OUTPUT_UNREAD, "warning",
			     "output '%s' of tool '%s' is kept but not checked: %.200s", a->path,
			     po->tool, a->v.reason);
		rn->outcome.outputs_optional_bad = true;
	}
	if (verdict_is(a, "valid") ||
	    (verdict_is(a, "empty") &&
	     (po->if_any || group_is_met(rn, po) || group_goes_on(rn, po))))
		return;
	if (never_recorded(rn)) {
		outcome_warn(&rn->outcome, W_OUTPUT_OPTIONAL, "warning",
			     "output '%s' of tool '%s' is %s: recording was never switched on",
			     a->path, po->tool, a->v.verdict);
		rn->outcome.outputs_optional_bad = true;
		return;
	}
	outcome_warn(&rn->outcome, po->required ? W_OUTPUT_REQUIRED : W_OUTPUT_OPTIONAL,
		     po->required ? "error" : "warning", "%soutput '%s' of tool '%s' is %s%s%.200s",
		     po->required ? "" : "optional ", a->path, po->tool, a->v.verdict,
		     *a->v.reason ? ": " : "", a->v.reason);
	if (po->required)
		rn->outcome.outputs_required_bad = true;
	else
		rn->outcome.outputs_optional_bad = true;
}

void run_collect(struct run *rn)
{
	for (size_t i = 0; i < rn->pl->outputs.nr; i++)
		collect_one(rn, &rn->pl->outputs.v[i]);
}
