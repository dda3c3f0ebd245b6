/*
 * The targets of configured paths when the command began. A workload that may write in the model's
 * folder, or in a mounted one, could replace a script or a mount by a link, which the next run
 * would copy or mount. A run is refused when one of its paths leads elsewhere by then.
 */
#include "prepare.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

static void pin_add(struct prepared *p, const char *path)
{
	CLEANUP(xfreep) char *real = NULL;

	/* Files in the run directory are made anew each time. */
	if (!path || fs_below(p->run_dir, path))
		return;
	for (size_t i = 0; i < p->pins.nr; i += 2)
		if (!strcmp(p->pins.v[i], path))
			return;
	real = xrealpath(path);
	strvec_pushl(&p->pins, path, real ? real : "", NULL);
}

static void add_real(struct strvec *real, const char *path)
{
	CLEANUP(xfreep) char *to = path ? xrealpath(path) : NULL;

	if (to && strcmp(to, path) != 0)
		strvec_pushl(real, path, to, NULL);
}

void pins_real(const struct prepared *p, struct strvec *real)
{
	add_real(real, p->runs_dir);
	add_real(real, p->conf.dir);
	add_real(real, p->conf.source.scripts);
	for (size_t i = 0; i < p->conf.mounts.nr; i++)
		add_real(real, p->conf.mounts.v[i].host);
}

void pins_take(struct prepared *p)
{
	const struct plan *pl = &p->plan;
	CLEANUP(xfreep)
	char *table = p->conf.results.perf_csv ? fs_dir(p->conf.results.perf_csv) : NULL;

	pin_add(p, p->conf.dir);
	pin_add(p, p->conf.source.copy);
	pin_add(p, p->conf.source.scripts);
	pin_add(p, table);
	pin_add(p, p->conf.results.perf_csv);
	for (size_t i = 0; i < p->conf.publish.targets.nr; i++) {
		const char *path = p->conf.publish.targets.v[i].path;
		CLEANUP(xfreep) char *dir = path ? fs_dir(path) : NULL;

		pin_add(p, dir);
		pin_add(p, path);
	}
	for (size_t i = 0; i < pl->copies.nr; i++)
		pin_add(p, pl->copies.v[i].from);
	for (size_t i = 0; i < pl->spec.mounts.nr; i++)
		pin_add(p, pl->spec.mounts.v[i].host);
	for (size_t i = 0; i < p->conf.data.sets.nr; i++)
		for (size_t k = 0; k < p->conf.data.sets.v[i].sources.nr; k++) {
			const char *path = p->conf.data.sets.v[i].sources.v[k].path;

			if (path && *path == '/')
				pin_add(p, path);
		}
}

/* A path that did not exist may have been made since, but not as a link. */
static bool is_new(const struct prepared *p, size_t i)
{
	struct stat st;

	return !*p->pins.v[i + 1] && (lstat(p->pins.v[i], &st) < 0 || !S_ISLNK(st.st_mode));
}

static bool pin_unchanged(const struct prepared *p, size_t i, const char *now)
{
	return !strcmp(now ? now : "", p->pins.v[i + 1]) || is_new(p, i);
}

int pins_hold(const struct prepared *p, struct err *err)
{
	for (size_t i = 0; i + 1 < p->pins.nr; i += 2) {
		CLEANUP(xfreep) char *now = xrealpath(p->pins.v[i]);

		if (pin_unchanged(p, i, now))
			continue;
		if (now)
			return err_set(err, ELOOP,
				       "'%s' leads to '%s' now, and did not when profrig began: no "
				       "further run of '%s' is started",
				       p->pins.v[i], now, p->conf.model_name);
		return err_set(err, ELOOP,
			       "'%s' is gone since profrig began: no further run of '%s' is "
			       "started",
			       p->pins.v[i], p->conf.model_name);
	}
	return 0;
}

bool pin_holds(const struct prepared *p, const char *path)
{
	for (size_t i = 0; i + 1 < p->pins.nr; i += 2) {
		CLEANUP(xfreep) char *now = NULL;

		if (strcmp(p->pins.v[i], path) != 0)
			continue;
		now = xrealpath(path);
		return pin_unchanged(p, i, now) || !now;
	}
	return true;
}
