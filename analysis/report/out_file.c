#include "out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/temps.h"
#include "profrig/base/xalloc.h"

/* stdio forgets the errno of a failed write, and writes on behind the gap. */
struct out_sink {
	int fd;
	int failed; /* errno of the first write that failed */
	uint64_t bytes;
};

static ssize_t sink_write(void *cookie, const char *data, size_t n)
{
	struct out_sink *s = cookie;

	for (size_t at = 0; at < n && !s->failed;) {
		ssize_t w = write(s->fd, data + at, n - at);

		if (w > 0)
			at += (size_t)w;
		else if (w == 0 || errno != EINTR)
			s->failed = w < 0 ? errno : EIO;
	}
	s->bytes += n;
	return s->failed ? 0 : (ssize_t)n;
}

static FILE *sink_open(struct out_sink *s, const char *path)
{
	const cookie_io_functions_t io = { .write = sink_write };

	s->fd = door_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	return s->fd < 0 ? NULL : fopencookie(s, "w", io);
}

int out_file_open(const char *dir, const char *name, struct out_file *ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	CLEANUP(xfreep) char *folder = fs_dir(path);
	int r;

	temps_wait();
	r = fs_mkdirs(folder, 0755, err);
	if (r < 0)
		return r;
	ret->temp = fs_temp_name(folder);
	temps_hold(ret->temp);
	ret->sink = xcalloc(1, sizeof(*ret->sink));
	ret->f = sink_open(ret->sink, ret->temp);
	if (!ret->f) {
		r = err_sys(err, errno, "%s", path);
		out_file_drop(ret);
		return r;
	}
	ret->path = STEAL(path);
	return 0;
}

/* 0 when all of it is on the disk; else an errno. */
static int out_finish(struct out_file *o)
{
	int code = fflush(o->f) != 0 ? errno : 0;

	if (o->sink->failed)
		code = o->sink->failed;
	if (!code && fsync(o->sink->fd) < 0 && errno != EINVAL)
		code = errno;
	fclose(STEAL(o->f));
	if (close(o->sink->fd) < 0 && !code)
		code = errno;
	o->sink->fd = -1;
	return code;
}

int out_file_commit(struct out_file *o, struct err *err)
{
	int code = out_finish(o);

	if (!code && door_rename(o->temp, o->path) < 0)
		code = errno;
	if (code) {
		int r = err_sys(err, code, "%s", o->path);

		out_file_drop(o);
		return r;
	}
	temps_let_go(o->temp);
	free(STEAL(o->temp));
	o->bytes = o->sink->bytes;
	out_file_drop(o);
	return 0;
}

void out_file_drop(struct out_file *o)
{
	if (o->f)
		fclose(STEAL(o->f));
	if (o->sink)
		xclosep(&o->sink->fd);
	free(STEAL(o->sink));
	if (o->temp) {
		door_unlink(o->temp);
		temps_let_go(o->temp);
	}
	free(STEAL(o->temp));
	free(STEAL(o->path));
}
