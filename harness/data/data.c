#include "data_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define MAX_COUNTED 100000
#define MAX_HASHED 1000000

FIELD_TABLE(result_fields,
	    TEXT_FIELDS(struct data_result, name, source, path, error, note, left_out));

void data_result_release(struct data_result *r)
{
	fields_release(r, result_fields);
	/* Held until now, so that no other process changed the data which this run reads. */
	xclosep(&r->lock_fd);
	*r = (struct data_result){ .lock_fd = -1 };
}

/* --- names --- */

static char *source_of(const struct data_source *s)
{
	switch (s->provider) {
	case DATA_HTTP:
		return http_shown(s->path);
	case DATA_S3:
		return s->endpoint ? xasprintf("s3://%s at %s", s->path, s->endpoint)
				   : xasprintf("s3://%s", s->path);
	case DATA_SCRIPT:
	case DATA_LOCAL:
	case DATA_NAS:
		break;
	}
	return xstrdup(s->path);
}

/* Named after the source, so that runs and models share the folder. */
static char *folder_of(const struct data_conf *c, const struct data_source *s)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT;
	char sha[65];

	strbuf_addf(&key, "%d\n%s\n%s\n%s\n", s->provider, s->path, s->endpoint ? s->endpoint : "",
		    s->provider == DATA_S3 ? s->region : "");
	for (size_t i = 0; i < s->args.nr; i++)
		strbuf_addf(&key, "%s\n", s->args.v[i]);
	fs_sha256_text(key.buf, key.len, sha);
	return xasprintf("%s/%s-%.16s", s->mirror ? s->mirror : c->cache,
			 data_provider_name(s->provider), sha);
}

static bool source_is_remote(const struct data_source *s)
{
	switch (s->provider) {
	case DATA_HTTP:
	case DATA_S3:
		return true;
	case DATA_SCRIPT:
	case DATA_LOCAL:
	case DATA_NAS:
		break;
	}
	return false;
}

static bool source_is_copied(const struct data_source *s)
{
	switch (s->provider) {
	case DATA_HTTP:
	case DATA_S3:
	case DATA_SCRIPT:
		return true;
	case DATA_LOCAL:
	case DATA_NAS:
		break;
	}
	return s->mirror;
}

/* --- checks --- */

static int list_source(struct fetch *f, data_files *ret, struct err *err)
{
	int r = 0;

	switch (f->s->provider) {
	case DATA_HTTP:
		r = http_list(f, ret, err);
		break;
	case DATA_S3:
		r = s3_list(f, ret, err);
		break;
	case DATA_SCRIPT:
	case DATA_LOCAL:
	case DATA_NAS:
		local_more_release(&f->more);
		local_more_init(&f->more);
		r = local_list(f->s->path, MAX_HASHED, ret, &f->more, err);
		break;
	}
	data_files_sort(ret);
	return r;
}

static int open_http(struct fetch *f, struct err *err)
{
	if (f->http || !source_is_remote(f->s))
		return 0;
	f->http = http_open(err);
	return f->http ? 0 : -ENOTSUP;
}

/* Whether the cache holds the whole set with the checksum that the user states; then no server is
 * needed. */
static bool cached_as_told(const struct fetch *f)
{
	CLEANUP(data_files_release) data_files have = VEC_INIT;
	char sha[65];

	if (!f->s->sha256 || entry_read(f->dir, &have) < 0)
		return false;
	data_files_sort(&have);
	entry_hash(&have, sha);
	if (strcmp(sha, f->s->sha256) != 0)
		return false;
	for (size_t i = 0; i < have.nr; i++)
		if (!entry_file_good(f->dir, &have.v[i]))
			return false;
	return true;
}

static bool has_entry(const struct fetch *f)
{
	CLEANUP(data_files_release) data_files have = VEC_INIT;

	return entry_read(f->dir, &have) == 0;
}

static int check_server(struct fetch *f, struct err *err)
{
	CLEANUP(data_files_release) data_files files = VEC_INIT;
	struct http_reply reply;

	switch (f->s->provider) {
	case DATA_HTTP:
		return data_head(f, f->s->path, &reply, err);
	case DATA_S3:
		return s3_list(f, &files, err);
	case DATA_SCRIPT:
	case DATA_LOCAL:
	case DATA_NAS:
		break;
	}
	return 0;
}

static int check_source(struct fetch *f, struct err *err)
{
	int r;

	switch (f->s->provider) {
	case DATA_SCRIPT:
		return script_check(f->s, err);
	case DATA_LOCAL:
	case DATA_NAS:
		if (access(f->s->path, R_OK) < 0)
			return err_sys(err, errno, "'%s'", f->s->path);
		return 0;
	case DATA_HTTP:
	case DATA_S3:
		break;
	}
	if (cached_as_told(f))
		return 0;
	r = open_http(f, err);
	if (r == 0)
		r = check_server(f, err);
	/* Without the server, data that was fetched before is used. */
	return r < 0 && r != -EINTR && has_entry(f) ? 0 : r;
}

/* --- fetching --- */

static int lock_wait(struct fetch *f, int fd, int how, struct err *err)
{
	bool said = false;

	while (flock(fd, how | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, errno, "cannot lock '%s'", f->dir);
		if (fetch_interrupted(f))
			return err_set(err, EINTR, "interrupted");
		if (!said && f->o->note)
			f->o->note(f->o->ctx, "waits for another run that fetches or reads it");
		said = true;
		poll(NULL, 0, 50);
		if (f->o->tick)
			f->o->tick(f->o->ctx);
	}
	return 0;
}

static int sum_matches(struct fetch *f, struct err *err)
{
	if (!f->s->sha256 || !strcmp(f->s->sha256, f->ret->sha256))
		return 0;
	return err_set(err, EBADMSG, "its SHA-256 is %s, and data.sha256 says %s", f->ret->sha256,
		       f->s->sha256);
}

void data_left_out(struct fetch *f)
{
	free(f->ret->left_out);
	f->ret->left_out = local_left_out(&f->more);
}

static int sync_local(struct fetch *f, const data_files *files, struct err *err)
{
	CLEANUP(xfreep) char *data = fs_join(f->dir, "data");
	int r = data_sync(f, files, local_copy, err);

	if (r == 0)
		r = local_folders(data, &f->more, err);
	if (r == 0)
		data_left_out(f);
	return r;
}

static int sync_listing(struct fetch *f, const data_files *files, struct err *err)
{
	switch (f->s->provider) {
	case DATA_HTTP:
	case DATA_S3:
		/* sets the tag of what it fetched: the server's ETag or date, as the listing has */
		return data_sync(f, files, http_fetch, err);
	case DATA_SCRIPT:
	case DATA_LOCAL:
	case DATA_NAS:
		break;
	}
	return sync_local(f, files, err);
}

/* Uses the cached data when the server does not answer. */
static int fetch_stale(struct fetch *f, int r, const struct err *why)
{
	if (r == -EINTR || !source_is_remote(f->s) || entry_use(f) < 0)
		return r;
	f->ret->note = xasprintf("data '%s': %s does not answer (%.200s): what was fetched before "
				 "is used, which may be old",
				 f->ret->name, f->ret->source, why->msg);
	return 0;
}

static int fetch_copy(struct fetch *f, const char *name, struct err *err)
{
	CLEANUP(data_files_release) data_files files = VEC_INIT;
	struct err why = ERR_INIT;
	int r;

	if (f->s->provider == DATA_SCRIPT)
		return script_fetch(f, name, err);
	if (cached_as_told(f))
		return entry_use(f);
	r = open_http(f, &why);
	if (r == 0)
		r = list_source(f, &files, &why);
	if (r == 0)
		return sync_listing(f, &files, err);
	r = fetch_stale(f, r, &why);
	return r < 0 ? err_set(err, -r, "%s", why.msg) : 0;
}

static void fetch_forget(const struct fetch *f)
{
	static const char *const names[] = { "entry.json", "data", "part" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep) char *path = fs_join(f->dir, names[i]);

		fs_remove_tree(path, NULL);
	}
}

static int fetch_locked(struct fetch *f, const char *name, struct err *err)
{
	int r = fetch_copy(f, name, err);

	if (r < 0)
		return r;
	r = sum_matches(f, err);
	if (r == 0)
		return 0;
	/* A file put together from parts of several tries may be wrong where they meet. */
	fetch_forget(f);
	f->done = 0;
	r = fetch_copy(f, name, err);
	if (r == 0)
		r = sum_matches(f, err);
	if (r == -EBADMSG)
		fetch_forget(f);
	return r;
}

static int fetch_into_cache(struct fetch *f, const char *name, struct err *err)
{
	CLEANUP(xfreep) char *lock = fs_join(f->dir, "lock");
	int r = fs_mkdirs(f->dir, 0755, err);

	if (r < 0)
		return r;
	f->ret->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (f->ret->lock_fd < 0)
		return err_sys(err, errno, "'%s'", lock);
	r = lock_wait(f, f->ret->lock_fd, LOCK_EX, err);
	if (r == 0)
		r = fetch_locked(f, name, err);
	/* Others may read the data now; none may change it before this run has ended. */
	if (r == 0)
		r = lock_wait(f, f->ret->lock_fd, LOCK_SH, err);
	else
		xclosep(&f->ret->lock_fd);
	if (r == 0)
		f->ret->path = fs_join(f->dir, "data");
	return r;
}

static int use_in_place(struct fetch *f, struct err *err)
{
	CLEANUP(data_files_release) data_files files = VEC_INIT;
	int r;

	local_more_init(&f->more);
	r = local_list(f->s->path, f->s->sha256 ? MAX_HASHED : MAX_COUNTED, &files, &f->more, err);
	f->ret->cached = true;
	/* Listing millions of files on a mounted disk takes minutes, and only a checksum needs all
	 * of them. */
	f->ret->at_least = r == -E2BIG && !f->s->sha256;
	if (f->ret->at_least)
		r = 0;
	data_files_sort(&files);
	for (size_t i = 0; r == 0 && i < files.nr; i++) {
		f->ret->bytes += (uint64_t)files.v[i].bytes;
		if (f->s->sha256)
			r = fs_sha256(files.v[i].from, NULL, files.v[i].sha256, err);
		if (fetch_interrupted(f))
			r = err_set(err, EINTR, "interrupted");
	}
	f->ret->files = files.nr;
	if (r == 0 && f->s->sha256 && files.nr) {
		entry_hash(&files, f->ret->sha256);
		r = sum_matches(f, err);
	}
	if (r == 0)
		f->ret->path = xstrdup(f->s->path);
	return r;
}

/* --- one set --- */

static void fetch_init(struct fetch *f, const struct data_conf *c, const struct data_source *s,
		       const struct data_opts *o, struct data_result *ret)
{
	*f = (struct fetch){ .s = s, .o = o, .dir = folder_of(c, s), .ret = ret };
}

static void fetch_release(struct fetch *f)
{
	http_close(f->http);
	local_more_release(&f->more);
	free(f->dir);
}

static void note_reason(struct strbuf *why, const struct data_source *s, const char *text)
{
	CLEANUP(xfreep) char *source = source_of(s);

	strbuf_addf(why, "%s%s %s: %s", why->len ? "; " : "", data_provider_name(s->provider),
		    source, text);
}

int data_check(const struct data_conf *c, const struct data_set *d, const struct data_opts *o,
	       struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;

	for (size_t i = 0; i < d->sources.nr; i++) {
		struct err one = ERR_INIT;
		struct fetch f;
		int r;

		fetch_init(&f, c, &d->sources.v[i], o, NULL);
		r = check_source(&f, &one);
		fetch_release(&f);
		if (r == 0 || r == -EINTR)
			return r == 0 ? 0 : err_set(err, EINTR, "interrupted");
		note_reason(&why, &d->sources.v[i], one.msg);
	}
	return err_set(err, ENOENT, "%s", why.buf);
}

static int fetch_source(const struct data_conf *c, const struct data_set *d,
			const struct data_source *s, const struct data_opts *o,
			struct data_result *ret, struct err *err)
{
	int64_t began = clock_monotonic_ns();
	struct fetch f;
	int r;

	fetch_init(&f, c, s, o, ret);
	free(ret->source);
	ret->source = source_of(s);
	ret->provider = data_provider_name(s->provider);
	if (o->phase) {
		CLEANUP(xfreep)
		char *phase = xasprintf("data %s from %s", d->name, ret->source);

		o->phase(o->ctx, phase);
	}
	/* For remote sources the listing is the check. */
	r = source_is_remote(s) ? 0 : check_source(&f, err);
	if (r == 0)
		r = source_is_copied(s) ? fetch_into_cache(&f, d->name, err)
					: use_in_place(&f, err);
	ret->seconds = (double)(clock_monotonic_ns() - began) / 1e9;
	fetch_release(&f);
	return r;
}

int data_fetch(const struct data_conf *c, const struct data_set *d, const struct data_opts *o,
	       struct data_result *ret, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	int r = -ENOENT;

	*ret = (struct data_result){ .name = xstrdup(d->name), .lock_fd = -1 };
	for (size_t i = 0; i < d->sources.nr; i++) {
		struct err one = ERR_INIT;

		r = fetch_source(c, d, &d->sources.v[i], o, ret, &one);
		if (r == 0 || r == -EINTR)
			break;
		note_reason(&why, &d->sources.v[i], one.msg);
	}
	if (r == 0 && why.len && !ret->note)
		ret->note = xasprintf("data '%s' came from %s, since %s", d->name, ret->source,
				      why.buf);
	if (r == 0)
		return 0;
	ret->provider = NULL;
	if (r == -EINTR)
		return err_set(err, EINTR, "interrupted");
	ret->error = xstrdup(why.buf);
	return err_set(err, -r, "%s", why.buf);
}
