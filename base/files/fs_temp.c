/* The temporary names of fs.h for unfinished files, and removal of those that killed processes
 * left. */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define PREFIX ".profrig-"
/* An OTF2 archive and the folder in it. */
#define MAX_DEPTH 3

char *fs_temp_name(const char *dir)
{
	static unsigned counter;

	return xasprintf("%s/" PREFIX "%ld-%u.tmp", dir, (long)getpid(),
			 __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED));
}

pid_t fs_temp_pid(const char *name)
{
	const char *digits = name + strlen(PREFIX);
	int64_t pid;

	if (fnmatch(FS_TEMP_PATTERN, name, FNM_PERIOD) != 0 ||
	    num_i64(digits, strspn(digits, "0123456789"), &pid) < 0)
		return 0;
	return (pid_t)pid;
}

/* CLOCK_REALTIME of the latest write below path; 0 when there is none. */
static int64_t last_written_ns(const char *path, int depth)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct stat st;
	int64_t last;

	if (door_lstat(path, &st) < 0)
		return 0;
	last = (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
		fs_list(path, &names, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *below = fs_join(path, names.v[i]);
		int64_t t = last_written_ns(below, depth + 1);

		last = t > last ? t : last;
	}
	return last;
}

bool fs_temp_abandoned(const char *path)
{
	pid_t pid = fs_temp_pid(fs_base(path));

	return pid > 0 && kill(pid, 0) < 0 && errno == ESRCH &&
	       clock_realtime_ns() - last_written_ns(path, 0) >= FS_TEMP_QUIET_S * NS_PER_S;
}

size_t fs_temp_sweep(const char *dir, int64_t *bytes)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	size_t removed = 0;

	if (fs_list(dir, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		struct stat st;
		int64_t size;

		if (fs_temp_pid(names.v[i]) <= 0 || door_lstat(path, &st) < 0 ||
		    st.st_uid != geteuid() || !fs_temp_abandoned(path))
			continue;
		size = fs_usage(path, NULL);
		if (fs_remove_tree(path, NULL) < 0)
			continue;
		removed++;
		*bytes += size > 0 ? size : 0;
	}
	return removed;
}
