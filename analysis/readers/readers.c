#include "readers_private.h"
#include "sqlite_db.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/map_guard.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/scan/input.h"

#define READER_AT(name) &reader_##name,
const struct reader *const readers[] = { READERS(READER_AT) NULL };

const struct reader *reader_find(const char *name)
{
	for (const struct reader *const *r = readers; *r; r++)
		if (strcmp((*r)->name, name) == 0)
			return *r;
	return NULL;
}

static const char *dialect_find(const struct reader *rd, const char *word)
{
	for (const char *const *d = rd->dialects; d && *d; d++)
		if (strcmp(*d, word) == 0)
			return *d;
	return NULL;
}

static int no_such_dialect(const struct reader *rd, const char *word, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf words = STRBUF_INIT;

	for (const char *const *d = rd->dialects; d && *d; d++)
		strbuf_addf(&words, "%s%s", words.len ? ", " : "", *d);
	if (words.len == 0)
		return err_set(err, EINVAL, "reader '%s' has no dialects", rd->name);
	return err_set(err, EINVAL, "reader '%s' has no dialect '%.40s'; it has %s", rd->name, word,
		       words.buf);
}

int reader_parse(const char *text, const struct reader **ret, const char **ret_dialect,
		 struct err *err)
{
	size_t n = strcspn(text, ":");
	CLEANUP(xfreep) char *name = xstrndup(text, n);
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	const struct reader *rd = reader_find(name);
	const char *dialect = rd && text[n] ? dialect_find(rd, text + n + 1) : NULL;

	for (const struct reader *const *r = readers; *r; r++)
		strbuf_addf(&names, "%s%s", names.len ? ", " : "", (*r)->name);
	if (!rd)
		return err_set(err, EINVAL, "there is no reader '%.40s'; there are %s", name,
			       names.buf);
	if (text[n] && !dialect)
		return no_such_dialect(rd, text + n + 1, err);
	*ret = rd;
	*ret_dialect = dialect;
	return 0;
}

/* Known files without a reader, for a helpful message. */
static const char *unrecognised_name(const unsigned char *head, size_t n)
{
	static const struct {
		const char *magic;
		size_t n;
		const char *what;
	} foreign[] = {
		{ "SQLite format 3", 16, "an SQLite database" },
		{ "\x7f"
		  "ELF",
		  4, "a program or library" },
		{ "PK\x03\x04", 4, "a zip archive: unpack it first" },
		{ "\xfd"
		  "7zXZ",
		  6, "xz-compressed: only gzip and zstd are read" },
		{ "BZh", 3, "bzip2-compressed: only gzip and zstd are read" },
		{ "PERFILE2", 8, "perf.data: write it with 'perf script' first" },
	};

	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (n >= foreign[i].n && memcmp(head, foreign[i].magic, foreign[i].n) == 0)
			return foreign[i].what;
	return NULL;
}

static int not_a_trace(const char *path, const struct probe *p, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	const char *what;
	uint64_t stated;

	for (const struct reader *const *r = readers; *r; r++)
		strbuf_addf(&names, "%s%s (%s)", names.len ? ", " : "", (*r)->name, (*r)->suffixes);
	if (p->is_dir)
		return err_set(err, EINVAL,
			       "%s: no trace that profrig knows in this directory; readers: %s",
			       path, names.buf);
	if (p->head_len == 0)
		return err_set(err, EINVAL, "%s: not a trace that profrig knows: it is empty",
			       path);
	stated = sqlite_stated_bytes(p->head, p->head_len);
	if (strcmp(p->name, fs_base(path)) == 0 && stated > (uint64_t)fs_size(path))
		return err_set(err, EINVAL,
			       "%s: an SQLite database of which %lld of %llu bytes are there; copy "
			       "it again",
			       path, (long long)fs_size(path), (unsigned long long)stated);
	what = unrecognised_name(p->head, p->head_len);
	if (what)
		return err_set(err, EINVAL,
			       "%s: not a trace that profrig knows: it is %s; readers: %s", path,
			       what, names.buf);
	return err_set(err, EINVAL, "%s: not a trace that profrig knows; readers: %s", path,
		       names.buf);
}

static char *bare_name(const char *path)
{
	static const char *const packed[] = { ".gz", ".zst" };
	const char *name = fs_base(path), *end = NULL;

	for (size_t i = 0; i < ARRAY_LEN(packed) && !end; i++)
		end = text_suffix(name, packed[i]);
	return end ? xstrndup(name, (size_t)(end - name)) : xstrdup(name);
}

/* A path's first bytes, and its name. */
struct looked {
	struct probe probe;
	char *name;
	unsigned char *head;
};

static void looked_release(struct looked *l)
{
	free(l->name);
	free(l->head);
}

static int probe_look_at(const char *path, struct looked *l, struct err *err)
{
	int64_t n;

	l->name = bare_name(path);
	l->probe = (struct probe){ .path = path, .name = l->name, .is_dir = fs_is_dir(path) };
	if (l->probe.is_dir)
		return 0;
	l->head = xmalloc(PROBE_BYTES);
	n = input_head(path, l->head, PROBE_BYTES, err);
	if (n < 0)
		return (int)n;
	l->probe.head = l->head;
	l->probe.head_len = (size_t)n;
	return 0;
}

static const struct reader *probe_surest(const struct probe *p)
{
	const struct reader *found = NULL;
	int best = 0;

	for (const struct reader *const *r = readers; *r; r++) {
		int score = (*r)->probe(p);

		if (score > best) {
			best = score;
			found = *r;
		}
	}
	return found;
}

/* *ret is NULL when nothing recognises the path; err then says so. */
static int format_detect(const char *path, const struct reader **ret, struct err *err)
{
	CLEANUP(looked_release) struct looked l = { .name = NULL };
	int r = probe_look_at(path, &l, err);

	*ret = r < 0 ? NULL : probe_surest(&l.probe);
	if (r >= 0 && !*ret)
		not_a_trace(path, &l.probe, err);
	return r;
}

int reader_detect(const char *path, const struct reader **ret, struct err *err)
{
	const struct reader *found;
	int r = format_detect(path, &found, err);

	if (r < 0)
		return r;
	if (!found)
		return -EINVAL;
	*ret = found;
	return 0;
}

int reader_recording(const char *path, const struct reader **ret, char **ret_name, struct err *err)
{
	CLEANUP(looked_release) struct looked l = { .name = NULL };
	int r = probe_look_at(path, &l, err);

	if (r < 0)
		return r;
	*ret = probe_surest(&l.probe);
	if (!*ret)
		return not_a_trace(path, &l.probe, err);
	*ret_name = (*ret)->recording ? (*ret)->recording(&l.probe) : NULL;
	return 0;
}

char *recording_named(const struct probe *p)
{
	static const char *const suffixes[] = { ".csv",  ".json",    ".db",
						".otf2", ".pftrace", "_results" };
	CLEANUP(xfreep) char *whole = fs_abs(p->path);
	CLEANUP(xfreep) char *dir = fs_dir(whole);
	CLEANUP(xfreep) char *stem = xstrdup(p->name);

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		const char *end = text_suffix(stem, suffixes[i]);

		if (end)
			stem[end - stem] = '\0';
	}
	return fs_join(dir, stem);
}

__attribute__((format(printf, 3, 4))) static void verdict(struct artifact_check *c,
							  const char *word, const char *fmt, ...)
{
	va_list ap;

	c->verdict = word;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
}

int reader_read(const struct reader *rd, const char *path, struct sink *s,
		const struct read_opts *o, struct err *err)
{
	CLEANUP(xfreep) char *before = map_lost();
	int r = rd->read(path, s, o, err);
	CLEANUP(xfreep) char *lost = map_lost();

	if (!lost)
		return r;
	return err_set(err, EIO,
		       "%s: became shorter while it was read: copy it, then read the copy", lost);
}

int reader_count(const struct reader *rd, const char *path, struct counts *ret, char **ret_problem,
		 struct err *err)
{
	CLEANUP(counter_freep) struct counter *c = counter_new();
	static const struct read_opts opts = { .keep_args = false };
	int r = reader_read(rd, path, counter_sink(c), &opts, err);

	counter_get(c, ret);
	if (r == READ_PARTIAL || (r == 0 && ret->partial))
		*ret_problem = xstrdup(ret->error ? ret->error : "part of it could not be read");
	ret->error = NULL;
	return r;
}

static void check_by_counting(const char *path, const struct reader *rd, uint64_t min_records,
			      struct artifact_check *c)
{
	CLEANUP(xfreep) char *problem = NULL;
	uint64_t want = min_records > 0 ? min_records : 1;
	struct counts n;
	struct err e = ERR_INIT;
	int r = reader_count(rd, path, &n, &problem, &e);

	snprintf(c->reader, sizeof(c->reader), "%s", rd->name);
	c->records = n.spans + n.samples + n.library;
	if (c->records > 0 && n.first_ns <= n.last_ns) {
		c->first_ns = n.first_ns;
		c->last_ns = n.last_ns;
	}
	if (r == -ENODATA)
		verdict(c, "empty", "%s", e.msg);
	else if (r < 0)
		verdict(c, "damaged", "%s", e.msg);
	else if (problem)
		verdict(c, "damaged", "%s", problem);
	else if (c->records == 0)
		verdict(c, "empty", "it holds no records");
	else if (c->records < want)
		verdict(c, "empty", "%llu records, at least %llu were expected",
			(unsigned long long)c->records, (unsigned long long)want);
}

static bool has_content(const char *path)
{
	struct strvec names = STRVEC_INIT;
	bool some;

	if (!fs_is_dir(path))
		return fs_size(path) > 0;
	some = fs_list(path, &names, NULL) == 0 && names.nr > 0;
	strvec_release(&names);
	return some;
}

void reader_check(const char *path, const char *reader_name, uint64_t min_records,
		  struct artifact_check *ret)
{
	bool named = reader_name && *reader_name;
	const struct reader *rd = named ? reader_find(reader_name) : NULL;
	struct err e = ERR_INIT;

	*ret = (struct artifact_check){ .verdict = "valid" };
	if (!fs_exists(path)) {
		verdict(ret, "damaged", "%s: no such file", path);
	} else if (!has_content(path)) {
		verdict(ret, "empty", "it has 0 bytes");
	} else if (named && !rd) {
		ret->unread = true;
		verdict(ret, "valid", "this profrig has no reader '%s'", reader_name);
	} else if (!rd && format_detect(path, &rd, &e) < 0) {
		verdict(ret, "damaged", "%s", e.msg);
	} else if (rd) {
		check_by_counting(path, rd, min_records, ret);
	}
}
