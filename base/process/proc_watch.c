#include "profrig/base/proc_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"

#define MAX_LINE ((size_t)16 << 10)
#define MIN_SECRET 4
#define TICK_MS 100
#define KILL_AFTER_NS (5 * NS_PER_S)

struct watch {
	const struct proc_watch *w;
	struct strvec mask; /* the secrets' lines, longest first */
	struct strvec *tail;
	struct strbuf line;
	size_t max_line;
	int from;
	int log_error;
	int sent; /* the last signal sent */
	int why;  /* 0, ETIMEDOUT, EINTR, or the log's error */
	int64_t sent_ns;
};

/* --- lines --- */

static int longer_first(const void *a, const void *b)
{
	size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);

	return x < y ? 1 : x > y ? -1 : 0;
}

static void prepare_mask(struct watch *x)
{
	for (char *const *m = x->w->mask; m && *m; m++) {
		CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

		strvec_split(&lines, *m, "\r\n");
		for (size_t i = 0; i < lines.nr; i++)
			if (strlen(lines.v[i]) >= MIN_SECRET)
				strvec_push(&x->mask, lines.v[i]);
	}
	/* One secret may contain another: the longer one must be hidden as a whole. */
	if (x->mask.nr)
		qsort(x->mask.v, x->mask.nr, sizeof(*x->mask.v), longer_first);
	x->max_line = MAX_LINE + (x->mask.nr ? 2 * strlen(x->mask.v[0]) : 0);
}

static void mask_word(struct strbuf *line, const char *secret)
{
	size_t n = strlen(secret);
	char *at = line->buf;

	while ((at = strstr(at, secret))) {
		CLEANUP(xfreep) char *rest = xstrdup(at + n);
		size_t keep = (size_t)(at - line->buf);

		line->len = keep;
		line->buf[keep] = '\0';
		strbuf_addstr(line, "***");
		strbuf_addstr(line, rest);
		at = line->buf + keep + 3;
	}
}

static void to_log(struct watch *x)
{
	const char *s = x->line.buf;
	size_t left = x->line.len;

	while (x->w->log_fd >= 0 && left > 0 && !x->log_error) {
		ssize_t n = write(x->w->log_fd, s, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			x->log_error = n < 0 ? errno : EIO;
			return;
		}
		s += n;
		left -= (size_t)n;
	}
}

static void end_line(struct watch *x)
{
	for (size_t i = 0; i < x->mask.nr; i++)
		mask_word(&x->line, x->mask.v[i]);
	if (x->tail->nr == PROC_WATCH_TAIL)
		strvec_remove(x->tail, 0);
	strvec_push(x->tail, x->line.buf);
	if (x->w->line)
		x->w->line(x->w->ctx, x->line.buf);
	strbuf_addch(&x->line, '\n');
	to_log(x);
	strbuf_clear(&x->line);
}

/*
 * A line that grows too long is cut, never inside a secret: what may be the beginning of one goes
 * into the next line, and a whole one stays in this.
 */
static void line_cut(struct watch *x)
{
	size_t longest = x->mask.nr ? strlen(x->mask.v[0]) : 1, cut = x->line.len - (longest - 1);
	CLEANUP(xfreep) char *rest = NULL;
	bool moved = true;

	while (moved) {
		moved = false;
		for (size_t i = 0; i < x->mask.nr; i++) {
			size_t n = strlen(x->mask.v[i]), from = cut < n ? 0 : cut - n + 1;
			const char *at = strstr(x->line.buf + from, x->mask.v[i]);
			size_t start = at ? (size_t)(at - x->line.buf) : cut;

			moved |= start < cut && start + n > cut;
			cut = start < cut && start + n > cut ? start + n : cut;
		}
	}
	rest = xstrdup(x->line.buf + cut);
	x->line.len = cut;
	x->line.buf[cut] = '\0';
	end_line(x);
	strbuf_addstr(&x->line, rest);
	explicit_bzero(rest, strlen(rest));
}

static void watch_take(struct watch *x, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool ends = s[i] == '\n' || s[i] == '\r';

		/* "\r\n" is one line end. */
		if (ends && (s[i] == '\n' || x->line.len > 0))
			end_line(x);
		else if (!ends && s[i] != '\0')
			strbuf_addch(&x->line, s[i]);
		if (x->line.len >= x->max_line)
			line_cut(x);
	}
}

/* Reads until the pipe is empty; false at its end. */
static bool watch_drain(struct watch *x)
{
	char buf[16384];

	for (int reads = 0; reads < 64; reads++) {
		ssize_t n = read(x->from, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		watch_take(x, buf, (size_t)n);
	}
	return true;
}

/* --- the command --- */

/* A file without a name needs no clean-up, whichever way the process ends. */
static int input_fd(const char *text, struct err *err)
{
	size_t n = strlen(text);
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "cannot make an input");
	if (write(fd, text, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return err_set(err, EIO, "cannot make an input");
	}
	return fd;
}

static int watch_start(struct watch *x, pid_t *ret_pid, struct err *err)
{
	struct proc_opts o = PROC_OPTS_INIT;
	CLEANUP(xclosep) int in = -1;
	int fds[2], r;

	if (x->w->input) {
		in = input_fd(x->w->input, err);
		if (in < 0)
			return in;
	}
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "pipe");
	o.argv = x->w->argv;
	o.env = x->w->env;
	o.cwd = x->w->cwd;
	o.fd_in = in;
	o.fd_out = o.fd_err = fds[1];
	r = proc_spawn(&o, ret_pid, err);
	xclosep(&fds[1]);
	x->from = fds[0];
	if (r == 0 && fcntl(x->from, F_SETFL, O_NONBLOCK) < 0)
		r = err_sys(err, errno, "pipe");
	return r;
}

static void send_signal(struct watch *x, pid_t pid, int sig, int why)
{
	kill(-pid, sig);
	x->sent = sig;
	x->sent_ns = clock_monotonic_ns();
	if (!x->why)
		x->why = why;
}

static void watch_time(struct watch *x, pid_t pid, int64_t deadline)
{
	int64_t now = clock_monotonic_ns();

	if (x->sent && x->sent != SIGKILL && now - x->sent_ns > KILL_AFTER_NS)
		send_signal(x, pid, SIGKILL, 0);
	if (x->sent)
		return;
	if (x->w->interrupt && *x->w->interrupt)
		send_signal(x, pid, SIGINT, EINTR);
	else if (x->log_error)
		send_signal(x, pid, SIGTERM, x->log_error);
	else if (deadline && now > deadline)
		send_signal(x, pid, SIGTERM, ETIMEDOUT);
}

static int watch_follow(struct watch *x, pid_t pid, struct proc_exit *ret, struct err *err)
{
	int64_t deadline =
		x->w->timeout_s > 0 ? clock_monotonic_ns() + (int64_t)(x->w->timeout_s * 1e9) : 0;
	int64_t ticked = 0;
	bool open = true;
	int r;

	for (;;) {
		struct pollfd p = { .fd = open ? x->from : -1, .events = POLLIN };
		int64_t now;

		poll(&p, 1, open ? TICK_MS : 10);
		/* The exit is asked for first: output from before it is then in the pipe. */
		r = proc_wait(pid, 0, ret, NULL);
		open = open && watch_drain(x);
		if (r != -ETIMEDOUT)
			break;
		watch_time(x, pid, deadline);
		now = clock_monotonic_ns();
		if (x->w->tick && now - ticked >= TICK_MS * NS_PER_MS) {
			x->w->tick(x->w->ctx);
			ticked = now;
		}
	}
	if (x->line.len)
		end_line(x);
	return r < 0 ? err_sys(err, -r, "cannot wait for '%s'", x->w->argv[0]) : 0;
}

int proc_watch(const struct proc_watch *w, struct strvec *tail, struct proc_exit *ret,
	       struct err *err)
{
	CLEANUP(strvec_release) struct strvec own = STRVEC_INIT;
	struct watch x = { .w = w,
			   .tail = tail ? tail : &own,
			   .line = STRBUF_INIT,
			   .mask = STRVEC_INIT,
			   .from = -1 };
	pid_t pid;
	int r;

	*ret = (struct proc_exit){ .code = -1 };
	strvec_clear(x.tail);
	prepare_mask(&x);
	r = watch_start(&x, &pid, err);
	if (r == 0)
		r = watch_follow(&x, pid, ret, err);
	if (r == 0 && x.why == ETIMEDOUT)
		r = err_set(err, ETIMEDOUT, "'%s' took longer than %g s and was ended", w->argv[0],
			    w->timeout_s);
	else if (r == 0 && x.why == EINTR)
		r = err_set(err, EINTR, "interrupted");
	else if (r == 0 && (x.why || x.log_error))
		r = err_sys(err, x.why ? x.why : x.log_error, "cannot write the log");
	for (size_t i = 0; i < x.mask.nr; i++)
		explicit_bzero(x.mask.v[i], strlen(x.mask.v[i]));
	strvec_release(&x.mask);
	strbuf_release(&x.line);
	xclosep(&x.from);
	return r;
}
