/*
 * The run directory as a container sees it. Folders and files that the workload may write are
 * mounted from the run directory on the host. The rest of the run directory (run.json, plan.json,
 * samples, analysis, profrig's own files) is not in the container at all:
 *
 *	<run>			PLAN_INSIDE, read-only: empty files and folders for the mounts below
 *	artifacts/<tool>/	writable
 *	work/			writable: the run's own folder (plan_source.c)
 *	marks, steps/<step>.*	writable, file by file
 *	record.flag, scripts/, files/<tool>/, wrap/	read-only
 *
 * A mount of the user's that holds the folder of runs would show the run directory once more, and
 * those of other runs: PLAN_HIDDEN, an empty folder, is mounted over each such place.
 */
#include "plan_int.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

static void inside_add(struct maker *m, const char *rel, bool file, bool writable)
{
	for (size_t i = 0; i < m->pl->inside.nr; i++)
		if (!strcmp(m->pl->inside.v[i].rel, rel))
			return;
	VEC_PUSH(&m->pl->inside, ((struct plan_inside){ xstrdup(rel), file, writable }));
}

static void inside_add_path(struct maker *m, const char *path, bool file, bool writable)
{
	const char *rel = path ? fs_below(m->rq->run_dir, path) : NULL;

	if (rel && *rel)
		inside_add(m, rel, file, writable);
}

static void inside_add_step(struct maker *m, const struct plan_step *s)
{
	if (!s)
		return;
	inside_add_path(m, s->out, true, true);
	inside_add_path(m, s->err, true, true);
}

static bool is_artifacts(const char *rel)
{
	return !strncmp(rel, "artifacts/", 10);
}

/* Adds those folders of the plan that steps read. */
static void inside_add_folders(struct maker *m)
{
	static const char *const seen[] = { "scripts", "wrap" };

	for (size_t i = 0; i < m->pl->mkdirs.nr; i++) {
		const char *rel = fs_below(m->rq->run_dir, m->pl->mkdirs.v[i]);

		if (!rel)
			continue;
		if (is_artifacts(rel) || !strncmp(rel, "files/", 6))
			inside_add(m, rel, false, is_artifacts(rel));
		for (size_t k = 0; k < ARRAY_LEN(seen); k++)
			if (!strcmp(rel, seen[k]))
				inside_add(m, rel, false, false);
	}
	if (m->pl->source_dir)
		inside_add(m, "work", false, true);
}

static void inside_add_all(struct maker *m)
{
	inside_add_folders(m);
	inside_add(m, PLAN_MARKS, true, true);
	inside_add(m, PLAN_FLAG, true, false);
	for (size_t i = 0; i < m->pl->steps.nr; i++)
		inside_add_step(m, &m->pl->steps.v[i]);
	for (size_t i = 0; i < m->pl->controls.nr; i++) {
		inside_add_step(m, m->pl->controls.v[i].start);
		inside_add_step(m, m->pl->controls.v[i].stop);
	}
	if (plan_wrap_at(m))
		inside_add(m, PLAN_WRAP_LOG, true, true);
}

/* A mount may name the same folder through links. */
static const char *real_name(const struct maker *m, const char *path)
{
	const struct strvec *real = m->rq->real;

	for (size_t i = 0; real && i + 1 < real->nr; i += 2)
		if (!strcmp(real->v[i], path))
			return real->v[i + 1];
	return path;
}

static void mount_add(struct engine_spec *s, char *host, char *container, bool read_only)
{
	VEC_PUSH(&s->run_mounts, ((struct engine_mount){ host, container, read_only }));
}

/* Hides the folder of runs where it is visible through a mount, at `container` or below it. */
static void hide_behind(struct maker *m, const struct engine_mount *mount)
{
	struct engine_spec *s = &m->pl->spec;
	CLEANUP(xfreep) char *runs = fs_dir(m->rq->run_dir);
	const char *below = fs_below(real_name(m, mount->host), real_name(m, runs));
	CLEANUP(xfreep) char *there = NULL;

	if (!below)
		return;
	there = *below ? fs_join(mount->container, below) : NULL;
	/* The user mounted the folder of runs itself: only this run can be hidden. */
	if (!there)
		there = fs_join(mount->container, fs_base(m->rq->run_dir));
	if (strcmp(there, m->rq->run_dir) != 0)
		mount_add(s, xasprintf("%s/%s", m->rq->run_dir, PLAN_HIDDEN), STEAL(there), true);
}

void plan_inside(struct maker *m)
{
	struct engine_spec *s = &m->pl->spec;
	const char *run = m->rq->run_dir;

	if (!m->container)
		return;
	inside_add_all(m);
	for (size_t i = 0; i < s->mounts.nr; i++)
		hide_behind(m, &s->mounts.v[i]);
	mount_add(s, xasprintf("%s/%s", run, PLAN_INSIDE), xstrdup(run), true);
	for (size_t i = 0; i < m->pl->inside.nr; i++) {
		const struct plan_inside *in = &m->pl->inside.v[i];

		mount_add(s, fs_join(run, in->rel), fs_join(run, in->rel), !in->writable);
	}
}
