/*
 * NDJSON: a file with a line for each run, `{"_id":"<run id>",…}`, which
 *	mongoimport --mode=upsert --db DB --collection NAME FILE
 * takes, again and again. A run that the file has is not added; writers take turns by a lock on the
 * file. A last line without its end, left by a crash, is cut off where it is no whole document.
 */
#include "publish_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/strbuf.h"
#include "profrig/publish/publish.h"

#define LOCK_NAP_NS (20 * NS_PER_MS)
#define PIECE ((size_t)1 << 16)
#define MAX_LAST ((size_t)16 << 20)

/* A FIFO is not waited for, a link not followed. */
static int open_file(const char *path, int *ret_fd, struct err *err)
{
	int fd = door_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
	struct stat st;

	if (fd < 0)
		return err_sys(err, errno, "'%s'", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1) {
		close(fd);
		return err_set(err, EINVAL, "'%s' is no regular file with one name", path);
	}
	*ret_fd = fd;
	return 0;
}

static int file_lock(int fd, const char *path, const struct publish_call *call, struct err *err)
{
	int64_t until = clock_monotonic_ns() + (int64_t)(call->timeout_s * 1e9);

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, errno, "'%s' cannot be locked", path);
		if (call->interrupt && *call->interrupt)
			return err_set(err, EINTR, "interrupted");
		if (clock_monotonic_ns() >= until)
			return err_set(err, EAGAIN, "'%s' is locked by another process", path);
		clock_sleep_until_ns(clock_monotonic_ns() + LOCK_NAP_NS);
	}
	return 0;
}

struct scan {
	const char *key; /* what the run's line begins with */
	size_t key_n;
	size_t at;  /* so much of the key fits the current line; key_n + 1: it does not */
	off_t line; /* where the current line begins */
	bool found;
};

static void scan_piece(struct scan *s, const char *text, size_t n, off_t from)
{
	for (size_t i = 0; i < n && !s->found; i++) {
		if (s->at < s->key_n && text[i] == s->key[s->at])
			s->found = ++s->at == s->key_n;
		else if (text[i] == '\n') {
			s->at = 0;
			s->line = from + (off_t)i + 1;
		} else {
			const char *nl = memchr(text + i, '\n', n - i);

			s->at = s->key_n + 1;
			i = nl ? (size_t)(nl - text) - 1 : n;
		}
	}
}

static int scan_file(int fd, const char *path, struct scan *s, off_t *ret_size, struct err *err)
{
	CLEANUP(xfreep) char *piece = xmalloc(PIECE);
	off_t at = 0;
	ssize_t n;

	while (!s->found && (n = pread(fd, piece, PIECE, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "'%s'", path);
		scan_piece(s, piece, (size_t)n, at);
		at += n;
	}
	*ret_size = at;
	return 0;
}

/* 1: the bytes from `at` are a whole document; 0: the beginning of one of ours; else neither. */
static int last_line(int fd, off_t at, size_t n)
{
	static const char ours[] = "{\"_id\":\"";
	CLEANUP(xfreep) char *text = n <= MAX_LAST ? xmalloc(n) : NULL;
	json_t *doc;

	if (!text || pread(fd, text, n, at) != (ssize_t)n)
		return -EINVAL;
	doc = json_loadb(text, n, 0, NULL);
	json_decref(doc);
	if (doc)
		return 1;
	return memcmp(text, ours, n < sizeof(ours) - 1 ? n : sizeof(ours) - 1) ? -EINVAL : 0;
}

/* Writes all, or nothing: what fitted on a full disk is cut off again. */
static int append(int fd, const char *path, const struct strbuf *text, off_t at, struct err *err)
{
	int r = 0;

	if (ftruncate(fd, at) < 0 || lseek(fd, at, SEEK_SET) < 0)
		return err_sys(err, errno, "'%s'", path);
	r = fs_write_all(fd, text->buf, text->len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0)
		return 0;
	if (ftruncate(fd, at) < 0)
		return err_sys(err, errno, "'%s' has half a line now", path);
	return err_sys(err, -r, "'%s' cannot be written", path);
}

static int ndjson_send(const struct publish_target *t, const struct publish_record *rec,
		       const struct publish_call *call, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(xfreep) char *line = NULL;
	CLEANUP(xclosep) int fd = -1;
	struct scan s = { .found = false };
	off_t size = 0;
	size_t n = 0;
	int r = open_file(t->path, &fd, err);

	if (r == 0)
		r = file_lock(fd, t->path, call, err);
	if (r < 0)
		return r;
	strbuf_addstr(&key, "{\"_id\":");
	json_quote(&key, rec->id, strlen(rec->id));
	s.key = key.buf;
	s.key_n = key.len;
	r = scan_file(fd, t->path, &s, &size, err);
	if (r < 0 || s.found)
		return r;
	r = s.line < size ? last_line(fd, s.line, (size_t)(size - s.line)) : 0;
	if (r < 0)
		return err_set(err, EINVAL, "'%s' has no JSON in its last line: name another file",
			       t->path);
	if (r > 0)
		strbuf_addch(&text, '\n');
	else
		size = s.line;
	line = publish_json_line(rec, &n);
	strbuf_add(&text, line, n);
	strbuf_addch(&text, '\n');
	return append(fd, t->path, &text, size, err);
}

const struct publisher publisher_ndjson = {
	.name = "ndjson",
	.about = "a file with a JSON document a line, as mongoimport takes it",
	.send = ndjson_send,
};
