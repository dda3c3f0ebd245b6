#include "run_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "profrig/base/fs.h"

/* The nearest existing folder above a path. Owned. */
static char *nearest_folder(const char *path)
{
	char *dir = fs_dir(path);

	while (strcmp(dir, "/") != 0 && strcmp(dir, ".") != 0 && !fs_is_dir(dir)) {
		char *up = fs_dir(dir);

		free(dir);
		dir = up;
	}
	return dir;
}

static char *bytes_human(double bytes)
{
	static const char units[] = "KMGT";
	size_t i = 0;

	for (bytes /= 1024; bytes >= 999.5 && i + 2 < sizeof(units); i++)
		bytes /= 1024;
	return xasprintf("%.*f%c", bytes < 9.95 ? 1 : 0, bytes, units[i]);
}

/* "only 12M of 4.0G are free in /x/runs", when less than `want` is; else NULL. Owned. */
static char *lack_of_room(const struct plan *pl, int64_t want)
{
	CLEANUP(xfreep) char *dir = nearest_folder(pl->run_dir), *runs = fs_dir(pl->run_dir);
	CLEANUP(xfreep) char *have = NULL;
	CLEANUP(xfreep) char *need = NULL;
	struct statvfs st;

	/* A file system that reports no blocks (0 of 0) gives no answer. */
	if (want <= 0 || statvfs(dir, &st) < 0 || !st.f_blocks ||
	    (double)st.f_bavail * (double)st.f_frsize >= (double)want)
		return NULL;
	have = bytes_human((double)st.f_bavail * (double)st.f_frsize);
	need = bytes_human((double)want);
	return xasprintf("only %s are free where '%s' lies, and runs want %s", have, runs, need);
}

void run_disk_room(const struct plan *pl, struct strvec *missing)
{
	CLEANUP(xfreep) char *lack = pl->conf ? lack_of_room(pl, pl->conf->disk_min_bytes) : NULL;

	if (lack)
		strvec_pushf(missing,
			     "%s (disk.min_free): make room ('profrig prune --older-than 30d "
			     "--dry-run' shows old runs), or name another folder with -o",
			     lack);
}

char *run_disk_warning(const struct plan *pl)
{
	return pl->conf ? lack_of_room(pl, pl->conf->disk_warn_bytes) : NULL;
}
