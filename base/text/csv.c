/*
 * The reader copies fields out of a window (all of the text, or a block of the file) into one
 * scratch buffer, each with a NUL behind it. Offsets become pointers when the record is complete,
 * because the window may be refilled and the scratch buffer may move before that.
 */
#include "profrig/base/csv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define BLOCK ((size_t)1 << 18)

struct csv_reader {
	const char *p, *end; /* the window */
	int fd;              /* -1: the text is in memory, or the end was read */
	char *block;
	char *path;         /* for messages; NULL for memory */
	struct strbuf text; /* the fields of this record */
	VEC(size_t) starts;
	VEC(char *) fields;
	uint64_t line; /* line number at the window's start */
	uint64_t record_line;
	bool begun; /* past a byte order mark */
	bool comments;
	bool failed;
	csv_comment_fn *fn;
	void *ctx;
};

static struct csv_reader *reader_new(void)
{
	struct csv_reader *r = xcalloc(1, sizeof(*r));

	r->fd = -1;
	r->line = 1;
	strbuf_init(&r->text);
	return r;
}

struct csv_reader *csv_open_mem(const char *data, size_t n)
{
	struct csv_reader *r = reader_new();

	r->p = data;
	r->end = n ? data + n : data;
	return r;
}

int csv_open_file(const char *path, struct csv_reader **ret, struct err *err)
{
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY, 0);
	struct csv_reader *r;
	struct stat st;

	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return err_sys(err, EISDIR, "%s", path);
	r = reader_new();
	r->fd = fd;
	fd = -1;
	r->block = xmalloc(BLOCK);
	r->p = r->end = r->block;
	r->path = xstrdup(path);
	*ret = r;
	return 0;
}

void csv_free(struct csv_reader *r)
{
	if (!r)
		return;
	xclosep(&r->fd);
	free(r->block);
	free(r->path);
	strbuf_release(&r->text);
	VEC_RELEASE(&r->starts);
	VEC_RELEASE(&r->fields);
	free(r);
}

void csv_comments(struct csv_reader *r, csv_comment_fn *fn, void *ctx)
{
	r->comments = true;
	r->fn = fn;
	r->ctx = ctx;
}

uint64_t csv_line(const struct csv_reader *r)
{
	return r->record_line;
}

static int record_bad(struct csv_reader *r, uint64_t line, int code, const char *what,
		      struct err *err)
{
	r->failed = true;
	if (r->path)
		return err_set(err, code, "%s:%llu: %s", r->path, (unsigned long long)line, what);
	return err_set(err, code, "line %llu: %s", (unsigned long long)line, what);
}

/* 1 when the window has bytes, 0 at the end. */
static int reader_refill(struct csv_reader *r, struct err *err)
{
	ssize_t n;

	if (r->p < r->end)
		return 1;
	if (r->fd < 0)
		return 0;
	do {
		n = read(r->fd, r->block, BLOCK);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		r->failed = true;
		return err_sys(err, errno, "%s", r->path);
	}
	if (n == 0)
		xclosep(&r->fd);
	r->p = r->block;
	r->end = r->block + n;
	return n > 0;
}

enum { STOP_COMMA = 1, STOP_LINE = 2, STOP_QUOTE = 4, STOP_NUL = 8 };

static const unsigned char stops[256] = {
	[','] = STOP_COMMA,
	['\n'] = STOP_LINE,
	['"'] = STOP_QUOTE,
	['\0'] = STOP_NUL,
};

/*
 * Copies up to the first byte of a class in `set`, which stays in the window. Returns it, -1 at the
 * end of the text (in *ret), or an error. A NUL byte is refused, because it would cut the field for
 * its reader.
 */
static int copy_until(struct csv_reader *r, size_t field, unsigned set, int *ret, struct err *err)
{
	set |= STOP_NUL;
	for (;;) {
		const char *p, *stop;
		int more = reader_refill(r, err);

		if (more <= 0) {
			*ret = -1;
			return more;
		}
		/* A window in memory has no size limit of its own. */
		stop = r->end - r->p > (ptrdiff_t)CSV_MAX_FIELD + 1 ? r->p + CSV_MAX_FIELD + 1
								    : r->end;
		for (p = r->p; p < stop && !(stops[(unsigned char)*p] & set); p++)
			;
		strbuf_add(&r->text, r->p, (size_t)(p - r->p));
		r->p = p;
		if (r->text.len - field > CSV_MAX_FIELD)
			return record_bad(r, r->record_line, EFBIG, "field too long", err);
		if (r->text.len > CSV_MAX_RECORD)
			return record_bad(r, r->record_line, EFBIG, "record too long", err);
		if (p == stop)
			continue;
		if (!*p)
			return record_bad(r, r->line, EINVAL, "NUL byte", err);
		*ret = (unsigned char)*p;
		return 0;
	}
}

/* Starts behind the opening quote and ends with the byte behind the closing one. */
static int field_quoted(struct csv_reader *r, size_t field, int *ret, struct err *err)
{
	for (;;) {
		size_t from = r->text.len;
		int c, more;
		int e = copy_until(r, field, STOP_QUOTE, &c, err);

		if (e < 0)
			return e;
		for (const char *s = r->text.buf + from; (s = strchr(s, '\n')); s++)
			r->line++;
		if (c < 0)
			return record_bad(r, r->record_line, EINVAL, "quote without an end", err);
		r->p++;
		more = reader_refill(r, err);
		if (more < 0)
			return more;
		if (more > 0 && *r->p == '"') {
			strbuf_addch(&r->text, '"');
			r->p++;
			continue;
		}
		from = r->text.len;
		e = copy_until(r, field, STOP_COMMA | STOP_LINE, ret, err);
		if (e < 0)
			return e;
		/* Only the CR of a line end may stand here. */
		if (r->text.len - from > 1 ||
		    (r->text.len > from && (r->text.buf[from] != '\r' || *ret == ',')))
			return record_bad(r, r->line, EINVAL, "text behind a closing quote", err);
		if (r->text.len > from)
			r->text.buf[--r->text.len] = '\0';
		return 0;
	}
}

static int field_unquoted(struct csv_reader *r, size_t field, int *ret, struct err *err)
{
	int e = copy_until(r, field, STOP_COMMA | STOP_LINE, ret, err);

	if (e < 0)
		return e;
	if (*ret != ',' && r->text.len > field && r->text.buf[r->text.len - 1] == '\r')
		r->text.buf[--r->text.len] = '\0';
	return 0;
}

/* Takes the rest of a line that begins with '#' and hands it to the listener. */
static int comment_skip(struct csv_reader *r, struct err *err)
{
	const char *s;
	int c;
	int e = copy_until(r, 0, STOP_LINE, &c, err);

	if (e < 0)
		return e;
	strbuf_rtrim(&r->text);
	s = r->text.buf + 1;
	s += strspn(s, " \t");
	if (r->fn)
		r->fn(r->ctx, s);
	return 0;
}

static int skip_mark(struct csv_reader *r, struct err *err)
{
	int more = reader_refill(r, err);

	r->begun = true;
	if (more > 0 && r->end - r->p >= 3 && !memcmp(r->p, "\xef\xbb\xbf", 3))
		r->p += 3;
	return more;
}

/* 1 a record is in text and starts, 2 the line was blank or a comment, 0 the end. */
static int record_read(struct csv_reader *r, struct err *err)
{
	int c = ',';
	int more = reader_refill(r, err);
	bool was_quoted = false;

	if (more <= 0)
		return more;
	strbuf_clear(&r->text);
	VEC_CLEAR(&r->starts);
	r->record_line = r->line;
	if (r->comments && *r->p == '#') {
		int e = comment_skip(r, err);

		return e < 0 ? e : 2;
	}
	while (c == ',') {
		size_t field = r->text.len;
		int e;

		more = reader_refill(r, err);
		if (more < 0)
			return more;
		if (r->starts.nr == CSV_MAX_FIELDS)
			return record_bad(r, r->record_line, EFBIG, "too many fields", err);
		VEC_PUSH(&r->starts, field);
		was_quoted = more > 0 && *r->p == '"';
		if (was_quoted)
			r->p++;
		e = was_quoted ? field_quoted(r, field, &c, err)
			       : field_unquoted(r, field, &c, err);
		if (e < 0)
			return e;
		strbuf_add(&r->text, "", 1);
		if (c == ',')
			r->p++;
	}
	return r->starts.nr == 1 && !was_quoted && r->text.len == 1 ? 2 : 1;
}

int csv_next(struct csv_reader *r, char *const **ret_fields, size_t *ret_n, struct err *err)
{
	int e = r->begun ? 1 : skip_mark(r, err);

	if (e < 0)
		return e;
	if (r->failed)
		return err_set(err, EINVAL, "reading failed before");
	do {
		e = record_read(r, err);
		if (e > 0 && r->p < r->end && *r->p == '\n') {
			r->p++;
			r->line++;
		}
	} while (e == 2);
	if (e <= 0)
		return e;
	VEC_CLEAR(&r->fields);
	VEC_RESERVE(&r->fields, r->starts.nr);
	for (size_t i = 0; i < r->starts.nr; i++)
		VEC_PUSH(&r->fields, r->text.buf + r->starts.v[i]);
	*ret_fields = r->fields.v;
	*ret_n = r->fields.nr;
	return 1;
}

/* --- writer --- */

static inline void writer_put(struct csv_writer *w, const char *s, size_t n)
{
	fwrite_unlocked(s, 1, n, w->f);
}

/* A line of one empty field would look blank. 1 tells csv_end that the line has only this field
 * yet. */
static inline void next_field(struct csv_writer *w, bool empty)
{
	if (w->begun)
		putc_unlocked(',', w->f);
	w->begun = w->begun || !empty ? 2 : 1;
}

static void put_quoted(struct csv_writer *w, const char *s)
{
	const char *quote;

	putc_unlocked('"', w->f);
	while ((quote = strchr(s, '"'))) {
		writer_put(w, s, (size_t)(quote - s) + 1);
		putc_unlocked('"', w->f);
		s = quote + 1;
	}
	writer_put(w, s, strlen(s));
	putc_unlocked('"', w->f);
}

static const bool needs_quotes[256] = { [','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true };

void csv_str(struct csv_writer *w, const char *s)
{
	/* A first field that begins with '#' would read as a comment. */
	bool quote = !w->begun && *s == '#';
	const char *p = s;

	for (; *p && !quote; p++)
		quote = needs_quotes[(unsigned char)*p];
	next_field(w, !*s);
	if (quote)
		put_quoted(w, s);
	else
		writer_put(w, s, (size_t)(p - s));
}

void csv_i64(struct csv_writer *w, int64_t v)
{
	char buf[24];
	size_t n = num_fmt_i64(buf, v);

	next_field(w, false);
	writer_put(w, buf, n);
}

void csv_u64(struct csv_writer *w, uint64_t v)
{
	char buf[24];
	size_t n = num_fmt_u64(buf, v);

	next_field(w, false);
	writer_put(w, buf, n);
}

void csv_f64(struct csv_writer *w, double v)
{
	char buf[32];
	size_t n = isnan(v) ? 0 : num_fmt_f64(buf, v);

	next_field(w, n == 0);
	writer_put(w, buf, n);
}

void csv_end(struct csv_writer *w)
{
	if (w->begun == 1)
		writer_put(w, "\"\"", 2);
	putc_unlocked('\n', w->f);
	w->begun = 0;
}

bool csv_is_formula(const char *s)
{
	double v;

	return *s && strchr("=+-@\t\r", *s) && num_f64(s, strlen(s), &v) != 0;
}

void csv_sheet_str(struct csv_writer *w, const char *s)
{
	CLEANUP(xfreep) char *text = csv_is_formula(s) ? xasprintf("'%s", s) : NULL;

	csv_str(w, text ? text : s);
}
