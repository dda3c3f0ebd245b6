#include "bench_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

static void fields_split(char *line, struct bench_line *ret)
{
	ret->nr = 0;
	while (ret->nr < BENCH_FIELDS) {
		char *tab = ret->nr + 1 < BENCH_FIELDS ? strchr(line, '\t') : NULL;

		ret->field[ret->nr++] = line;
		if (!tab)
			break;
		*tab = 0;
		line = tab + 1;
	}
	for (size_t i = ret->nr; i < BENCH_FIELDS; i++)
		ret->field[i] = strchr(ret->field[ret->nr - 1], 0);
}

static int wait_readable(int fd, int64_t until_ns)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = until_ns < 0 ? -1 : until_ns - clock_monotonic_ns();
		int ms = -1, r;

		if (until_ns >= 0)
			ms = left <= 0                     ? 0
			     : left / NS_PER_MS >= 1000000 ? 1000000
							   : (int)(left / NS_PER_MS) + 1;
		r = poll(&p, 1, ms);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0 && left <= 0)
			return -ETIMEDOUT;
	}
}

int bench_link_read(struct bench_link *l, int timeout_ms, struct bench_line *ret, struct err *err)
{
	int64_t until = timeout_ms < 0 ? -1 : clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	memmove(l->buf, l->buf + l->used, l->n - l->used);
	l->n -= l->used;
	l->used = 0;
	for (;;) {
		char *end = memchr(l->buf, '\n', l->n);
		ssize_t got;
		int r;

		if (end) {
			*end = 0;
			l->used = (size_t)(end + 1 - l->buf);
			fields_split(l->buf, ret);
			return 1;
		}
		if (l->n == sizeof(l->buf))
			return err_set(err, EPROTO, "a line of more than %zu bytes",
				       sizeof(l->buf));
		r = wait_readable(l->fd, until);
		if (r < 0)
			return err_set(err, -r, "no answer");
		got = recv(l->fd, l->buf + l->n, sizeof(l->buf) - l->n, MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return 0;
		l->n += got > 0 ? (size_t)got : 0;
	}
}

int bench_link_write(struct bench_link *l, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	va_list ap;

	strbuf_limit(&sb, BENCH_LINE_MAX - 1);
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < sb.len; i++)
		if ((unsigned char)sb.buf[i] < ' ' && sb.buf[i] != '\t')
			sb.buf[i] = '?';
	strbuf_limit(&sb, BENCH_LINE_MAX);
	strbuf_addch(&sb, '\n');
	for (size_t at = 0; at < sb.len;) {
		ssize_t n = send(l->fd, sb.buf + at, sb.len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
