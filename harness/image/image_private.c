#include "image_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/fs.h"

#define PREFIX "private-"
#define LOCK ".lock"

/* A folder of its own beside the registry of runs, whose entries are all runs. */
static char *private_parent(struct err *err)
{
	CLEANUP(xfreep) char *runtime = fs_runtime_dir(err);
	char *dir = runtime ? fs_join(runtime, ".build") : NULL;

	if (dir && mkdir(dir, 0700) < 0 && errno != EEXIST) {
		err_sys(err, errno, "cannot make '%s'", dir);
		free(STEAL(dir));
	}
	return dir;
}

static int lock_folder(const char *dir, bool create)
{
	CLEANUP(xfreep) char *path = fs_join(dir, LOCK);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return -EWOULDBLOCK;
	}
	return fd >= 0 ? fd : -errno;
}

int private_dir_make(struct private_dir *d, struct err *err)
{
	CLEANUP(xfreep) char *dir = private_parent(err);
	CLEANUP(xfreep) char *path = dir ? xasprintf("%s/" PREFIX "XXXXXX", dir) : NULL;

	if (!path)
		return err && err->code ? -err->code : -EIO;
	if (!mkdtemp(path))
		return err_sys(err, errno, "cannot make a private folder in '%s'", dir);
	d->lock = lock_folder(path, true);
	d->path = STEAL(path);
	if (d->lock < 0) {
		private_dir_remove(d);
		return err_set(err, EIO, "cannot lock a private folder in '%s'", dir);
	}
	return 0;
}

void private_dir_remove(struct private_dir *d)
{
	if (d->path)
		fs_remove_tree(d->path, NULL);
	free(d->path);
	xclosep(&d->lock);
	*d = (struct private_dir)PRIVATE_DIR_INIT;
}

char *private_file(const struct private_dir *d, const char *name, const char *text, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(d->path, name);
	CLEANUP(xclosep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t n = strlen(text);

	if (fd >= 0 && write(fd, text, n) == (ssize_t)n)
		return STEAL(path);
	err_sys(err, errno ? errno : EIO, "cannot write '%s'", path);
	return NULL;
}

void image_sweep(void)
{
	CLEANUP(xfreep) char *dir = private_parent(NULL);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (!dir || fs_list(dir, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		CLEANUP(xclosep) int fd = -1;

		if (strncmp(names.v[i], PREFIX, strlen(PREFIX)) != 0)
			continue;
		/* A folder without a lock is just being made, or its maker died in between. */
		fd = lock_folder(path, true);
		if (fd >= 0)
			fs_remove_tree(path, NULL);
	}
}
