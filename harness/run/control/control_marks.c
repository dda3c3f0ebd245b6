#include "control_marks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define BLOCK 65536
#define BLOCKS_AT_ONCE 16

int marks_open(struct marks_file *mf, const char *path, int64_t begin_ns, struct err *err)
{
	*mf = (struct marks_file)MARKS_FILE_INIT;
	strbuf_limit(&mf->line, CONTROL_MAX_LINE);
	mf->begin_ns = mf->looked_ns = begin_ns;
	mf->fd = door_open(path, O_RDONLY | O_CREAT, 0600);
	if (mf->fd < 0)
		return err_sys(err, errno, "cannot make '%s'", path);
	mf->path = xstrdup(path);
	return 0;
}

/*
 * When the last line was written, by CLOCK_MONOTONIC: between *ret_from and the value returned. The
 * kernel stamps files with the time of its last tick. An impossible stamp (of a server with another
 * clock) is ignored.
 */
static int64_t written_ns(const struct marks_file *mf, int64_t now_ns, int64_t *ret_from)
{
	struct timespec tick = { 0, 4 * NS_PER_MS };
	struct stat st;
	int64_t from;

	*ret_from = mf->looked_ns;
	if (fstat(mf->fd, &st) < 0)
		return now_ns;
	clock_getres(CLOCK_REALTIME_COARSE, &tick);
	from = now_ns - clock_realtime_ns() + (int64_t)st.st_mtim.tv_sec * NS_PER_S +
	       (int64_t)st.st_mtim.tv_nsec;
	if (from > now_ns || from + tick.tv_nsec < mf->looked_ns)
		return now_ns;
	*ret_from = from > mf->looked_ns ? from : mf->looked_ns;
	return from + tick.tv_nsec < now_ns ? from + tick.tv_nsec : now_ns;
}

/* For "@T NAME": how many bytes of the line come before the name. */
static size_t take_time(struct marks_file *mf, const char *line, size_t n, int64_t now_ns,
			struct record_mark *m)
{
	size_t digits = 0;
	int64_t t;

	if (n < 2 || *line != '@')
		return 0;
	while (1 + digits < n && line[1 + digits] >= '0' && line[1 + digits] <= '9')
		digits++;
	if (!digits || (1 + digits < n && line[1 + digits] != ' '))
		return 0;
	if (num_i64(line + 1, digits, &t) < 0 || t < mf->begin_ns || t > now_ns) {
		mf->bad_times++;
	} else {
		m->t_ns = t;
		m->uncertainty_ns = 0;
		m->by_maker = true;
	}
	return 1 + digits;
}

struct look {
	mark_fn *fn;
	void *ctx;
	int64_t now_ns;
	int64_t since_ns, until_ns; /* the line was written between */
};

static void take_line(struct marks_file *mf, struct look *l)
{
	struct record_mark m = { .by = "workload",
				 .t_ns = l->until_ns,
				 .uncertainty_ns = l->until_ns - l->since_ns };
	const char *line = mf->line.buf;
	size_t n = mf->line.len, skip;

	while (n && strchr("\r \t", line[n - 1]))
		n--;
	if (n) {
		skip = take_time(mf, line, n, l->now_ns, &m);
		record_name(m.name, line + skip, n - skip, "mark");
		l->fn(l->ctx, &m);
	}
	strbuf_clear(&mf->line);
	mf->line.overflow = false;
}

/* The last line of a block was written at the file's time of change; those before it at any time
 * since the last look. */
static void take_block(struct marks_file *mf, const char *text, size_t n, struct look *l)
{
	int64_t last_ns;
	const char *end = text + n, *last = memrchr(text, '\n', n);

	l->until_ns = written_ns(mf, l->now_ns, &last_ns);
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *stop = nl ? nl : end;

		strbuf_add(&mf->line, text, (size_t)(stop - text));
		if (!nl)
			break;
		l->since_ns = nl == last ? last_ns : mf->looked_ns;
		take_line(mf, l);
		text = nl + 1;
	}
}

/* A writer that uses ">" instead of ">>" begins the file anew each time. */
static void look_for_cut(struct marks_file *mf)
{
	struct stat st;

	if (fstat(mf->fd, &st) < 0 || st.st_size >= mf->at)
		return;
	mf->at = 0;
	strbuf_clear(&mf->line);
}

bool marks_read(struct marks_file *mf, bool last, mark_fn *fn, void *ctx)
{
	struct look l = { .fn = fn, .ctx = ctx };
	char buf[BLOCK];
	ssize_t n = 0;
	int i;

	if (mf->fd < 0)
		return false;
	look_for_cut(mf);
	for (i = 0; i < BLOCKS_AT_ONCE; i++) {
		l.now_ns = clock_monotonic_ns();
		n = pread(mf->fd, buf, sizeof(buf), mf->at);
		if (n <= 0)
			break;
		mf->at += n;
		take_block(mf, buf, (size_t)n, &l);
		mf->looked_ns = l.now_ns;
	}
	l.now_ns = l.until_ns = clock_monotonic_ns();
	l.since_ns = mf->looked_ns;
	if (last && mf->line.len)
		take_line(mf, &l);
	if (n <= 0)
		mf->looked_ns = l.now_ns;
	return n > 0;
}

void marks_close(struct marks_file *mf)
{
	xclosep(&mf->fd);
	if (mf->path)
		door_unlink(mf->path);
	free(mf->path);
	strbuf_release(&mf->line);
	*mf = (struct marks_file)MARKS_FILE_INIT;
}
