#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

/* Any user may have made a folder in /tmp. */
static int check_folder(const char *dir, struct err *err)
{
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make '%s'", dir);
	if (lstat(dir, &st) < 0)
		return err_sys(err, errno, "'%s'", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, EPERM, "'%s' is not a folder of ours", dir);
	if ((st.st_mode & 077) != 0 && chmod(dir, 0700) < 0)
		return err_sys(err, errno, "'%s'", dir);
	return 0;
}

static bool is_own_dir(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

char *fs_runtime_dir(struct err *err)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	CLEANUP(xfreep) char *dir = NULL;

	/* With sudo -E it belongs to another user: a folder made there would lock its owner out. */
	if (xdg && *xdg == '/' && is_own_dir(xdg))
		dir = fs_join(xdg, "profrig");
	else
		dir = xasprintf("/tmp/profrig-%u", geteuid());
	return check_folder(dir, err) < 0 ? NULL : STEAL(dir);
}

char *fs_cache_path(const char *name)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (xdg && *xdg == '/')
		return xasprintf("%s/profrig/%s", xdg, name);
	return home && *home == '/' ? xasprintf("%s/.cache/profrig/%s", home, name) : NULL;
}
