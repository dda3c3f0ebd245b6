/*
 * One file from a server. The received part is kept beside the validator that came with it
 * (part.tag: a strong ETag, else Last-Modified). A request with If-Range gets the rest when the
 * server still has the same file, else the whole.
 */
#include "data_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define TRIES 6 /* in a row without new bytes */
#define FIRST_WAIT_MS 200
#define LAST_WAIT_MS 5000

struct http_access data_access(const struct data_source *s)
{
	return (struct http_access){ s->user, s->password, s->token,
				     s->provider == DATA_S3 ? s->region : NULL };
}

bool fetch_interrupted(const struct fetch *f)
{
	return f->o->interrupt && *f->o->interrupt;
}

/* The validator for If-Range; a weak ETag does not stand for equal bytes. */
static const char *reply_validator(const struct http_reply *r)
{
	if (*r->etag && strncmp(r->etag, "W/", 2) != 0)
		return r->etag;
	return *r->modified ? r->modified : NULL;
}

static const char *tag_of(const struct http_reply *r)
{
	return *r->etag ? r->etag : *r->modified ? r->modified : NULL;
}

static int status_error(const struct http_reply *r, struct err *err)
{
	char words[64];
	int code = r->status == 404 || r->status == 410                       ? ENOENT
		   : r->status == 401 || r->status == 403                     ? EACCES
		   : r->status == 408 || r->status == 429 || r->status >= 500 ? EAGAIN
									      : EPROTO;

	return err_set(err, code, "%s", http_status_words(r->status, words));
}

int data_head(struct fetch *f, const char *url, struct http_reply *ret, struct err *err)
{
	struct http_request rq = {
		.url = url, .access = data_access(f->s), .head = true, .fd = -1, .events = f->o
	};
	int r = http_ask(f->http, &rq, ret, err);

	if (r == 0 && ret->status >= 400 && ret->status != 404 && ret->status < 500) {
		rq.head = false;
		rq.peek = true;
		r = http_ask(f->http, &rq, ret, err);
		if (r == 0 && ret->status == 206)
			ret->length = ret->total;
	}
	if (r == 0 && ret->status != 200 && ret->status != 206)
		r = status_error(ret, err);
	return r;
}

/* The last part of the URL's path, as a file's name. Owned. */
static char *name_of(const char *url)
{
	const char *path = strstr(url, "://") + 3;
	size_t n;

	path += strcspn(path, "/?#");
	n = strcspn(path, "?#");
	while (n > 0 && path[n - 1] == '/')
		n--;
	CLEANUP(xfreep) char *text = xstrndup(path, n);
	char *name;

	text_percent_decode(text, false);
	name = strrchr(text, '/');
	name = name ? name + 1 : text;
	return xstrdup(*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? name : "data");
}

int http_list(struct fetch *f, data_files *ret, struct err *err)
{
	struct http_reply reply;
	CLEANUP(xfreep) char *name = name_of(f->s->path);
	int r = data_head(f, f->s->path, &reply, err);

	if (r == 0)
		data_files_add(ret, name, f->s->path, tag_of(&reply), reply.length);
	return r;
}

/* --- fetching --- */

struct transfer {
	struct fetch *f;
	const char *part;
	char *tag_file;
	char tag[256];  /* validator of the bytes in part; "": none */
	char seen[256]; /* ETag of the last reply */
	int64_t want;   /* bytes of the whole; -1: unknown */
};

static char *bytes_words(double v, char *buf)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	size_t u = 0;

	for (; v >= 1000 && u + 1 < ARRAY_LEN(units); u++)
		v /= 1000;
	snprintf(buf, 32, u ? "%.1f %s" : "%.0f %s", v, units[u]);
	return buf;
}

/* A full disk is reported before hours of transfer, not after. */
static int check_space(const struct transfer *t, uint64_t need, struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_dir(t->part);
	char a[32], b[32];
	struct statvfs v;
	double have;

	if (statvfs(dir, &v) < 0)
		return 0;
	have = (double)v.f_bavail * (double)v.f_frsize;
	if ((double)need <= have)
		return 0;
	return err_set(err, ENOSPC,
		       "it needs %s more and '%s' has %s left: make room, or use another folder "
		       "with --data-cache",
		       bytes_words((double)need, a), dir, bytes_words(have, b));
}

static int begin_part(void *ctx, const struct http_reply *r, struct err *err)
{
	struct transfer *t = ctx;
	const char *v = reply_validator(r);
	bool whole = r->status == 200;
	int64_t rest = r->length;

	t->want = whole ? r->length : r->total;
	snprintf(t->seen, sizeof(t->seen), "%s", tag_of(r) ? tag_of(r) : "");
	snprintf(t->tag, sizeof(t->tag), "%s", v ? v : "");
	if (whole && v)
		fs_write_atomic(t->tag_file, t->tag, strlen(t->tag), NULL);
	else if (whole)
		unlink(t->tag_file);
	return rest > 0 ? check_space(t, (uint64_t)rest, err) : 0;
}

/* Bytes of the same file that an earlier try or run left. */
static uint64_t transfer_resume(struct transfer *t, int fd, const char *expected)
{
	CLEANUP(xfreep) char *tag = NULL;
	off_t size = lseek(fd, 0, SEEK_END);
	size_t n;

	t->tag[0] = '\0';
	if (size > 0 && fs_read(t->tag_file, sizeof(t->tag) - 1, &tag, &n, NULL) == 0 && n &&
	    (!expected || !strcmp(expected, tag))) {
		snprintf(t->tag, sizeof(t->tag), "%s", tag);
		return (uint64_t)size;
	}
	if (size > 0 && ftruncate(fd, 0) == 0)
		lseek(fd, 0, SEEK_SET);
	return 0;
}

static int one_try(struct transfer *t, const struct data_file *file, int fd, uint64_t from,
		   struct err *err)
{
	struct http_request rq = { .url = file->from,
				   .access = data_access(t->f->s),
				   .from = from,
				   .if_range = from ? t->tag : NULL,
				   .fd = fd,
				   .begin = begin_part,
				   .ctx = t,
				   .events = t->f->o,
				   .stop = t->f->stop };
	struct http_reply reply;
	off_t size;
	int r;

	t->want = -1;
	r = http_ask(t->f->http, &rq, &reply, err);
	size = lseek(fd, 0, SEEK_END);
	if (size > 0 && (uint64_t)size > (reply.status == 206 ? from : 0))
		t->f->ret->fetched_bytes += (uint64_t)size - (reply.status == 206 ? from : 0);
	if (r < 0)
		return r;
	if (reply.status == 416 && reply.total == (int64_t)from &&
	    (file->bytes < 0 || file->bytes == reply.total))
		return 0;
	if (reply.status == 416) {
		unlink(t->tag_file);
		return err_set(err, EAGAIN, "it is shorter than it was");
	}
	if (reply.status != 200 && reply.status != 206)
		return status_error(&reply, err);
	if (t->want >= 0 && size != t->want)
		return err_set(err, EAGAIN, "%lld of %lld bytes came", (long long)size,
			       (long long)t->want);
	return 0;
}

static int wait_a_little(const struct fetch *f, int ms, struct err *err)
{
	int64_t until = clock_monotonic_ns() + ms * NS_PER_MS;

	while (clock_monotonic_ns() < until) {
		if (fetch_interrupted(f))
			return err_set(err, EINTR, "interrupted");
		if (f->stop && atomic_load(f->stop))
			return err_set(err, ECANCELED, "stopped");
		poll(NULL, 0, 50);
		if (f->o->tick)
			f->o->tick(f->o->ctx);
	}
	return 0;
}

static int try_often(struct transfer *t, const struct data_file *file, int fd, struct err *err)
{
	uint64_t best = 0;
	int wait = FIRST_WAIT_MS, r = 0;

	for (int tries = 0; tries < TRIES;) {
		uint64_t from = transfer_resume(t, fd, file->tag), now;

		r = one_try(t, file, fd, from, err);
		if (r != -EAGAIN)
			return r;
		now = (uint64_t)lseek(fd, 0, SEEK_END);
		/* A transfer that makes progress may break off any number of times. */
		if (now > best) {
			best = now;
			tries = 0;
			wait = FIRST_WAIT_MS;
		}
		if (++tries == TRIES)
			break;
		r = wait_a_little(t->f, wait, err);
		if (r < 0)
			return r;
		wait = wait * 2 < LAST_WAIT_MS ? wait * 2 : LAST_WAIT_MS;
		r = -EAGAIN;
	}
	return err_wrap(err, -EIO, "given up after %d tries", TRIES);
}

int http_fetch(struct fetch *f, const struct data_file *file, const char *part, struct err *err)
{
	CLEANUP(xfreep) char *tag_file = xasprintf("%s.tag", part);
	CLEANUP(xclosep)
	int fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	struct transfer t = { .f = f, .part = part, .tag_file = tag_file, .want = -1 };
	int r;

	if (fd < 0)
		return err_sys(err, errno, "'%s'", part);
	r = try_often(&t, file, fd, err);
	/* On a full disk the part is useless and takes space from others. */
	if (r == -ENOSPC || r == -EDQUOT)
		unlink(part);
	if (r == 0 || r == -ENOSPC || r == -EDQUOT)
		unlink(tag_file);
	snprintf(f->tag, sizeof(f->tag), "%s", t.seen);
	return r;
}
