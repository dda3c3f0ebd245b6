#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/json_out.h"

char *registry_dir(struct err *err)
{
	return fs_runtime_dir(err);
}

int registry_lock(const char *path, bool create, int *ret_fd)
{
	CLEANUP(xclosep)
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
	struct stat ours, there;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	/* Its owner may have unlinked it meanwhile, and made another in its place. */
	if (fstat(fd, &ours) < 0 || lstat(path, &there) < 0 || ours.st_ino != there.st_ino ||
	    ours.st_dev != there.st_dev)
		return -ENOENT;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int write_entry(const struct plan *pl, int fd)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct json_out j;

	if (!f)
		return -errno;
	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	json_str(&j, "run_dir", pl->run_dir);
	json_str(&j, "engine", pl->engine->name);
	json_str(&j, "container", pl->engine->container ? pl->spec.name : NULL);
	json_i64(&j, "pid", getpid());
	json_end(&j);
	if (fclose(f) != 0)
		return -errno;
	return write(fd, text, n) == (ssize_t)n ? 0 : -EIO;
}

/* The entry appears under its name only when it is locked and whole. */
int registry_enter(const struct plan *pl, struct registration *ret, struct err *err)
{
	CLEANUP(xfreep) char *dir = registry_dir(err);
	CLEANUP(xfreep) char *tmp = NULL;
	CLEANUP(xfreep) char *path = NULL;
	CLEANUP(xclosep) int fd = -1;
	int r;

	if (!dir)
		return err && err->code ? -err->code : -EPERM;
	tmp = xasprintf("%s/.%s.%d", dir, pl->run_id, (int)getpid());
	path = fs_join(dir, pl->run_id);
	unlink(tmp);
	r = registry_lock(tmp, true, &fd);
	if (r == 0)
		r = write_entry(pl, fd);
	if (r == 0 && rename(tmp, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(tmp);
		return err_sys(err, -r, "'%s'", path);
	}
	ret->fd = fd;
	ret->path = STEAL(path);
	fd = -1;
	return 0;
}

void registry_leave(struct registration *reg)
{
	if (reg->path)
		unlink(reg->path);
	registry_leave_behind(reg);
}

void registry_leave_behind(struct registration *reg)
{
	free(reg->path);
	xclosep(&reg->fd);
	*reg = (struct registration)REGISTRATION_INIT;
}
