/* The client's side of a run's control: finding the run, asking, marking. */
#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define MAX_ANSWER ((size_t)256 << 10)
#define MAX_ENTRY 65536

/* --- which run --- */

static char *real_dir(const char *path)
{
	char *whole = xrealpath(path);

	if (whole && fs_is_dir(whole))
		return whole;
	free(whole);
	return NULL;
}

/* The directory of an entry of the registry; NULL when the entry cannot be read. */
static char *registered_dir(const char *registry, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(registry, name);
	CLEANUP(xfreep) char *text = NULL;
	json_t *entry = NULL;
	const char *dir;
	char *ret;
	size_t n;

	if (fs_read(path, MAX_ENTRY, &text, &n, NULL) == 0)
		entry = json_loadb(text, n, 0, NULL);
	dir = json_string_value(json_object_get(entry, "run_dir"));
	ret = dir ? real_dir(dir) : NULL;
	json_decref(entry);
	return ret;
}

static bool ends_with_digits(const char *id, const char *word)
{
	size_t n = strlen(id), k = strlen(word);

	return k == 6 && n > k && id[n - k - 1] == '-' && !strcmp(id + n - k, word);
}

/* The newest entry that fits; "latest" fits all. Ids begin with the time. */
static char *find_registered(const char *word)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *registry = registry_dir(NULL);

	if (!registry || fs_list(registry, &names, NULL) < 0)
		return NULL;
	for (size_t i = names.nr; i-- > 0;) {
		const char *id = names.v[i];
		char *dir;

		if (*id == '.' || (strcmp(word, "latest") != 0 && strcmp(word, id) != 0 &&
				   !ends_with_digits(id, word)))
			continue;
		dir = registered_dir(registry, id);
		if (dir)
			return dir;
	}
	return NULL;
}

int control_find(const char *word, const char *runs_dir, char **ret_dir, struct err *err)
{
	CLEANUP(xfreep) char *below = fs_join(runs_dir ? runs_dir : "runs", word);
	CLEANUP(xfreep) char *json = fs_join(word, "run.json");

	*ret_dir = fs_exists(json) ? real_dir(word) : real_dir(below);
	if (!*ret_dir)
		*ret_dir = find_registered(word);
	if (*ret_dir)
		return 0;
	return err_set(err, ENOENT,
		       "no run '%s': want a run directory, an id, the six digits at its end, or "
		       "latest",
		       word);
}

/* --- asking --- */

/* The socket itself: a link, which a workload may have put there, could lead to another run's. */
static int find_socket(const char *run_dir, struct err *err)
{
	CLEANUP(xclosep) int dir = door_open(run_dir, O_PATH | O_DIRECTORY, 0);
	int fd = dir < 0 ? -1 : door_open_beneath(dir, CONTROL_SOCKET, O_PATH, 0);
	struct stat st, at;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ENOENT,
			       "run '%s' is not live: it is over, or its profrig has died",
			       fs_base(run_dir));
	if (fd < 0)
		return err_sys(err, errno, "'%s/%s'", run_dir, CONTROL_SOCKET);
	if (fstat(fd, &st) == 0 && fstat(dir, &at) == 0 && S_ISSOCK(st.st_mode) &&
	    (st.st_uid == at.st_uid || st.st_uid == geteuid()))
		return fd;
	close(fd);
	return err_set(err, EPERM, "'%s/%s' is not the socket that the run made", run_dir,
		       CONTROL_SOCKET);
}

static int reach_control(const char *run_dir, int *ret, struct err *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	CLEANUP(xclosep) int at = find_socket(run_dir, err);
	CLEANUP(xclosep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (at < 0)
		return at;
	if (fd < 0)
		return err_sys(err, errno, "'%s'", run_dir);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d", at);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			return err_set(err, errno,
				       "run '%s' is not live: it is over, or its profrig "
				       "has died",
				       fs_base(run_dir));
		if (errno == EACCES)
			return err_set(
				err, errno,
				"run '%s' belongs to another user: only its owner and root may "
				"control it",
				fs_base(run_dir));
		return err_sys(err, errno, "run '%s'", fs_base(run_dir));
	}
	*ret = fd;
	fd = -1;
	return 0;
}

static int wait_on(int fd, short events, int64_t until_ns)
{
	int64_t left = until_ns - clock_monotonic_ns();
	struct pollfd p = { .fd = fd, .events = events };

	return left > 0 ? poll(&p, 1, (int)(left / NS_PER_MS) + 1) : 0;
}

static int text_send(int fd, const char *text, size_t n, int64_t until_ns, struct err *err)
{
	for (size_t at = 0; at < n;) {
		ssize_t w = send(fd, text + at, n - at, MSG_NOSIGNAL);

		if (w > 0)
			at += (size_t)w;
		else if (w < 0 && errno != EAGAIN && errno != EINTR)
			return err_sys(err, errno, "the run takes no request");
		else if (wait_on(fd, POLLOUT, until_ns) <= 0 && clock_monotonic_ns() >= until_ns)
			return err_set(err, ETIMEDOUT, "the run takes no request");
	}
	return 0;
}

static int receive_answer(int fd, int64_t until_ns, json_t **ret, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT;
	char buf[16384];
	ssize_t n;

	strbuf_limit(&in, MAX_ANSWER);
	while (!memchr(in.buf, '\n', in.len) && !in.overflow) {
		if (wait_on(fd, POLLIN, until_ns) <= 0 && clock_monotonic_ns() >= until_ns)
			return err_set(err, ETIMEDOUT, "the run gives no answer");
		n = recv(fd, buf, sizeof(buf), 0);
		if (n > 0)
			strbuf_add(&in, buf, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return err_set(err, EPROTO, "the run hung up: it is over by now");
	}
	*ret = json_loadb(in.buf, strcspn(in.buf, "\n"), 0, NULL);
	return *ret ? 0 : err_set(err, EPROTO, "the run's answer cannot be read");
}

int control_ask(const char *run_dir, json_t *request, int timeout_ms, json_t **ret, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	CLEANUP(xfreep) char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	CLEANUP(xclosep) int fd = -1;
	size_t n = text ? strlen(text) : 0;
	int r;

	json_decref(request);
	if (!text || n + 1 >= CONTROL_MAX_LINE)
		return err_set(err, EINVAL, "a name is valid UTF-8 and shorter than %zu bytes",
			       CONTROL_MAX_LINE);
	text[n] = '\n';
	r = reach_control(run_dir, &fd, err);
	if (r == 0)
		r = text_send(fd, text, n + 1, until_ns, err);
	return r == 0 ? receive_answer(fd, until_ns, ret, err) : r;
}

/* --- marking from inside --- */

int control_mark_file(const char *path, const char *name, int64_t t_ns, struct err *err)
{
	CLEANUP(xclosep) int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
	char clean[CONTROL_MAX_NAME + 1];
	CLEANUP(xfreep) char *line = NULL;
	size_t n;

	record_name(clean, name, strlen(name), "mark");
	line = xasprintf("@%lld %s\n", (long long)t_ns, clean);
	n = strlen(line);
	if (fd < 0)
		return err_sys(err, errno, "cannot mark: '%s'", path);
	return write(fd, line, n) == (ssize_t)n ? 0
						: err_sys(err, errno, "cannot mark: '%s'", path);
}
