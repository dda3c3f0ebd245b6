#include "out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/temps.h"
#include "profrig/xalloc.h"

int out_file_open(const char *dir, const char *name, struct out_file *ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	CLEANUP(xfreep) char *folder = fs_dir(path);
	int fd, r = fs_mkdirs(folder, 0755, err);

	if (r < 0)
		return r;
	ret->temp = fs_temp_name(folder);
	temps_hold(ret->temp);
	fd = open(ret->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		r = err_sys(err, errno, "%s", path);
		out_file_drop(ret);
		return r;
	}
	ret->f = fdopen(fd, "w");
	if (!ret->f) {
		r = err_sys(err, errno, "%s", path);
		close(fd);
		out_file_drop(ret);
		return r;
	}
	ret->path = STEAL(path);
	return 0;
}

int out_file_commit(struct out_file *o, struct err *err)
{
	FILE *f = STEAL(o->f);
	int code = 0;

	/* what an earlier write could not get rid of is tried again here, and says why */
	if (fflush(f) != 0)
		code = errno;
	else if (ferror(f))
		code = EIO;
	if (!code && fsync(fileno(f)) < 0 && errno != EINVAL)
		code = errno;
	if (fclose(f) != 0 && !code)
		code = errno;
	if (!code && rename(o->temp, o->path) < 0)
		code = errno;
	if (code) {
		int r = err_sys(err, code, "%s", o->path);

		out_file_drop(o);
		return r;
	}
	temps_let_go(o->temp);
	free(STEAL(o->temp));
	out_file_drop(o);
	return 0;
}

void out_file_drop(struct out_file *o)
{
	if (o->f)
		fclose(STEAL(o->f));
	if (o->temp) {
		unlink(o->temp);
		temps_let_go(o->temp);
	}
	free(STEAL(o->temp));
	free(STEAL(o->path));
}
