/*
 * rocm_smi: AMD GPUs through librocm_smi64, in a process of its own (rsmi_child.c has the protocol
 * and the reasons).
 *
 * It is the second choice on AMD, for kernels whose sysfs lacks fields that the library computes.
 * Without /sys/class/drm there is no GPU to find, so it is checked first. The two processes are
 * joined by a socket, so that a dead child gives an error here and not a SIGPIPE. When an answer is
 * late (option timeout_s) the library hangs: the source counts as gone, and the child is killed.
 */
#include "samplers_private.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/proc.h"
#include "profrig/base/vec.h"

#define START_S "15"
#define ANSWER_S "5"
#define END_MS 1000
#define PIECE_MS 50
#define MAX_DEVICES 256

struct sampler_state {
	VEC(struct sampler_device) dev;
	pid_t pid;
	int fd, start_ms, answer_ms;
	bool hung;
	char why[48]; /* how it ended */
	char buf[4096];
	size_t len;
};

/* --- the child --- */

static void child_reap(struct sampler_state *st)
{
	struct proc_exit how = { 0 };

	if (st->pid <= 0)
		return;
	if (st->hung || proc_wait(st->pid, END_MS, &how, NULL) == -ETIMEDOUT) {
		kill(st->pid, SIGKILL);
		proc_wait(st->pid, -1, &how, NULL);
	}
	st->pid = 0;
	if (how.signal)
		snprintf(st->why, sizeof(st->why), "its process ended by %s",
			 proc_signal_name(how.signal) ? proc_signal_name(how.signal) : "a signal");
	else
		snprintf(st->why, sizeof(st->why), "its process ended with status %d", how.code);
}

static void rocm_smi_close(struct sampler_state *st)
{
	xclosep(&st->fd);
	child_reap(st);
	VEC_RELEASE(&st->dev);
	free(st);
}

/* Takes the first line of buf, without its end, into line. */
static bool take_line(struct sampler_state *st, char *line, size_t n)
{
	char *nl = memchr(st->buf, '\n', st->len);
	size_t len = nl ? (size_t)(nl - st->buf) : 0;

	if (!nl)
		return false;
	snprintf(line, n, "%.*s", (int)len, st->buf);
	st->len -= len + 1;
	memmove(st->buf, nl + 1, st->len);
	return true;
}

/*
 * 0, -ETIMEDOUT, -EPROTO for a line that does not end, -EPIPE when the child is gone. Waits in
 * short pieces, so that a machine that stops for seconds uses up only one of them.
 */
static int read_line(struct sampler_state *st, char *line, size_t n, int timeout_ms)
{
	int left_ms = timeout_ms;

	while (!take_line(st, line, n)) {
		struct pollfd p = { .fd = st->fd, .events = POLLIN };
		int piece_ms = left_ms < PIECE_MS ? left_ms : PIECE_MS;
		ssize_t got;
		int r;

		if (st->len == sizeof(st->buf))
			return -EPROTO;
		if (left_ms <= 0) {
			st->hung = true;
			return -ETIMEDOUT;
		}
		r = poll(&p, 1, piece_ms);
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0)
			left_ms -= piece_ms;
		if (r <= 0)
			continue;
		got = recv(st->fd, st->buf + st->len, sizeof(st->buf) - st->len, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EPIPE;
		st->len += (size_t)got;
	}
	return 0;
}

static char *child_path(void)
{
	const char *given = getenv("PROFRIG_LIB_DIR");
	CLEANUP(xfreep) char *self = fs_self_dir();
	char *tries[] = { given ? fs_join(given, "profrig-rsmi") : NULL,
			  fs_join(self, "profrig-rsmi"),
			  fs_join(self, "../lib/profrig/profrig-rsmi") };
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		if (!found && tries[i] && access(tries[i], X_OK) == 0)
			found = STEAL(tries[i]);
		free(tries[i]);
	}
	return found;
}

static int timeout_ms(const struct sampler_opts *o, const char *def, int *ret, struct err *err)
{
	const char *text = sampler_option(o, "timeout_s", def);
	double s;

	if (num_seconds(text, strlen(text), &s) < 0 || s < 0.001 || s > 3600)
		return err_set(err, EINVAL,
			       "option timeout_s wants seconds from 0.001 to 3600, not '%.40s'",
			       text);
	*ret = (int)(s * 1e3);
	return 0;
}

static int start_child(struct sampler_state *st, const struct sampler_opts *o, struct err *err)
{
	CLEANUP(xfreep) char *path = child_path();
	CLEANUP(xfreep) char *device = xstrdup(o && o->device && *o->device ? o->device : "all");
	CLEANUP(xfreep) char *fields = xstrdup(sampler_option(o, "fields", ""));
	struct proc_opts po = PROC_OPTS_INIT;
	int fds[2], r;

	if (!path)
		return err_set(err, ENOENT,
			       "profrig-rsmi is not installed beside profrig (it is built where "
			       "librocm-smi-dev is present)");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return err_sys(err, errno, "socketpair");
	st->fd = fds[0];
	po.argv = (char *const[]){ path, device, fields, NULL };
	po.fd_in = po.fd_out = fds[1];
	po.die_with_parent = true;
	r = proc_spawn(&po, &st->pid, err);
	close(fds[1]);
	return r;
}

/* --- opening --- */

/* Handles "device 3 PCI words …" or "series power W", cut at its first blanks; rest may be NULL. */
static bool child_announced(struct sampler_state *st, const char *word, const char *first,
			    const char *rest)
{
	struct sampler_device *last = st->dev.nr ? &st->dev.v[st->dev.nr - 1] : NULL;

	if (strcmp(word, "device") == 0 && rest && st->dev.nr < MAX_DEVICES) {
		struct sampler_device d = { 0 };
		size_t n = strcspn(rest, " ");

		snprintf(d.id, sizeof(d.id), "gpu%.20s", first);
		snprintf(d.pci, sizeof(d.pci), "%.*s", n < sizeof(d.pci) ? (int)n : 0, rest);
		snprintf(d.facts, sizeof(d.facts), "%.250s", rest + n + (rest[n] == ' '));
		VEC_PUSH(&st->dev, d);
		return true;
	}
	return strcmp(word, "series") == 0 && rest && last && sampler_device_add(last, first, rest);
}

/* Reads the child's announcement; see the child's header comment. */
static int child_handshake(struct sampler_state *st, struct err *err)
{
	char line[512];
	int r;

	while ((r = read_line(st, line, sizeof(line), st->start_ms)) == 0) {
		char *first = strchr(line, ' '), *rest;

		if (strcmp(line, "ready") == 0)
			return st->dev.nr ? 0
					  : err_set(err, EPROTO, "librocm_smi64 named no device");
		if (first)
			*first++ = '\0';
		if (first && strcmp(line, "error") == 0)
			return err_set(err, ENODEV, "%s", first);
		rest = first ? strchr(first, ' ') : NULL;
		if (rest)
			*rest++ = '\0';
		if (!first || !child_announced(st, line, first, rest))
			return err_set(err, EPROTO, "profrig-rsmi said '%.60s'", line);
	}
	if (r == -ETIMEDOUT)
		return err_set(err, ETIMEDOUT, "librocm_smi64 did not start in %g s",
			       st->start_ms / 1e3);
	child_reap(st);
	return err_set(err, ENODEV, "librocm_smi64 does not start: %s", st->why);
}

static int rocm_smi_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	CLEANUP(xfreep) char *drm = xasprintf("%s/sys/class/drm", sampler_root());
	struct sampler_state *st;
	int r;

	if (!fs_is_dir(drm))
		return err_set(err, ENODEV, "no %s: no GPU driver is loaded", drm);
	st = xcalloc(1, sizeof(*st));
	st->fd = -1;
	r = timeout_ms(o, START_S, &st->start_ms, err);
	if (r == 0)
		r = sampler_check_fields(sampler_option(o, "fields", ""), err);
	if (r == 0)
		r = timeout_ms(o, ANSWER_S, &st->answer_ms, err);
	if (r == 0)
		r = start_child(st, o, err);
	if (r == 0)
		r = child_handshake(st, err);
	if (r < 0) {
		rocm_smi_close(st);
		return r;
	}
	*ret = st;
	return 0;
}

static size_t rocm_smi_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = st->dev.v;
	return st->dev.nr;
}

/* The library needs many slow calls for the facts; the driver's files have the same ones. */
static void rocm_smi_facts(struct sampler_state *st, size_t d, struct sampler_facts *ret)
{
	const char *pci = st->dev.v[d].pci;
	CLEANUP(xfreep) char *dir = amdgpu_card_dir(pci);

	if (dir)
		amdgpu_facts(dir, pci, ret);
}

/* --- reading --- */

static int child_ask(struct sampler_state *st, size_t d, char *line, size_t n)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "r %zu\n", d);

	if (send(st->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
		return -EPIPE;
	return read_line(st, line, n, st->answer_ms);
}

static int rocm_smi_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	char line[2048];
	const char *p = line;
	int r = child_ask(st, d, line, sizeof(line));

	if (r < 0) {
		st->hung |= r != -EPIPE;
		child_reap(st);
		*reason = r == -ETIMEDOUT ? "librocm_smi64 hangs"
			  : r == -EPIPE   ? st->why
					  : "librocm_smi64's process gave no line";
		return r;
	}
	for (size_t i = 0; i < st->dev.v[d].nr; i++) {
		size_t len = strcspn(p, " ");

		if (num_f64(p, len, &v[i]) < 0 || !isfinite(v[i])) {
			v[i] = NAN;
			*reason = "librocm_smi64 gave no value";
		}
		p += len + (p[len] == ' ');
	}
	return 0;
}

const struct sampler sampler_rocm_smi = {
	.name = "rocm_smi",
	.about = "AMD power, energy, memory, utilisation (librocm_smi64 in its own process)",
	.vendor = "amd",
	.options = (const char *const[]){ "fields", "timeout_s", NULL },
	.open = rocm_smi_open,
	.devices = rocm_smi_devices,
	.read = rocm_smi_read,
	.facts = rocm_smi_facts,
	.close = rocm_smi_close,
};
