#include "format_duplicates.h"
#include "session_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/model/warnings.h"

/* ---- which files ---- */

/* A bit for each suffix of formats that tools write together; 0: none of them. */
static unsigned format_bit(const char *path)
{
	static const char *const packed[] = { ".gz", ".zst" };
	static const char *const formats[] = { ".csv", ".json", ".db", ".otf2", ".pftrace" };
	CLEANUP(xfreep) char *name = xstrdup(fs_base(path));

	for (size_t i = 0; i < ARRAY_LEN(packed); i++) {
		const char *end = text_suffix(name, packed[i]);

		if (end)
			name[end - name] = '\0';
	}
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (text_suffix(name, formats[i]))
			return 1U << i;
	return 0;
}

struct named {
	const char *path;
	char *dir;
	unsigned bit;
};

static int by_dir(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;
	int c = strcmp(a->dir, b->dir);

	return c ? c : strcmp(a->path, b->path);
}

static void add_file(struct format_duplicates *e, const char *path)
{
	struct duplicate_file f = { .path = NULL };

	if (reader_recording(path, &f.reader, &f.recording, NULL) < 0 || !f.recording)
		return;
	f.path = xstrdup(path);
	VEC_PUSH(&e->files, f);
}

/* Files of one folder: nothing is opened where all are of one suffix, as they mostly are. */
static void add_folder(struct format_duplicates *e, const struct named *v, size_t n)
{
	unsigned bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= v[i].bit;
	for (size_t i = 0; (bits & (bits - 1)) && i < n; i++)
		if (i == 0 || strcmp(v[i].path, v[i - 1].path) != 0)
			add_file(e, v[i].path);
}

void format_duplicates_gather(struct format_duplicates *e, const struct strvec *paths)
{
	VEC(struct named) all = VEC_INIT;

	for (size_t i = 0; i < paths->nr; i++) {
		unsigned bit = format_bit(paths->v[i]);

		if (bit)
			VEC_PUSH(&all, (struct named){ paths->v[i], fs_dir(paths->v[i]), bit });
	}
	if (all.nr > 1)
		qsort(all.v, all.nr, sizeof(*all.v), by_dir);
	for (size_t i = 0, k; i < all.nr; i = k) {
		for (k = i + 1; k < all.nr && strcmp(all.v[k].dir, all.v[i].dir) == 0; k++)
			;
		add_folder(e, &all.v[i], k - i);
	}
	for (size_t i = 0; i < all.nr; i++)
		free(all.v[i].dir);
	VEC_RELEASE(&all);
}

/* ---- contents ---- */

/* "PATH: problem" → "problem": the message names the path itself. */
static const char *without_path(const char *text, const char *path)
{
	size_t n = strlen(path);

	return strncmp(text, path, n) == 0 && text[n] == ':' && text[n + 1] == ' ' ? text + n + 2
										   : text;
}

static void file_survey(struct duplicate_file *f, const struct session_opts *so)
{
	CLEANUP(xfreep) char *problem = NULL;
	struct counts n;
	struct err err = ERR_INIT;
	int r;

	session_phase(so, SESSION_COMPARE, fs_base(f->path));
	r = reader_count(f->reader, f->path, &n, &problem, &err);
	f->whole = r == 0;
	if (r != 0)
		f->problem = xstrdup(without_path(r < 0 ? err.msg : problem, f->path));
	f->nr[DUPLICATE_WORK] = n.work;
	f->nr[DUPLICATE_CALLS] = n.spans - n.work;
	f->nr[DUPLICATE_SAMPLES] = n.samples;
}

/* The files of one recording in one format: [first, end) of the files. */
struct one_format {
	const struct reader *reader;
	size_t first, end;
	bool whole;
	uint64_t nr[DUPLICATE_KINDS];
};

static struct one_format one_format_of(const struct format_duplicates *e, size_t first, size_t end)
{
	struct one_format ed = { e->files.v[first].reader, first, end, true, { 0 } };

	for (size_t i = first; i < end; i++) {
		ed.whole = ed.whole && e->files.v[i].whole;
		for (size_t k = 0; k < DUPLICATE_KINDS; k++)
			ed.nr[k] += e->files.v[i].nr[k];
	}
	return ed;
}

static bool format_covers(const struct one_format *a, const struct one_format *b)
{
	for (size_t k = 0; k < DUPLICATE_KINDS; k++)
		if (a->nr[k] < b->nr[k])
			return false;
	return true;
}

static bool has_some(const struct one_format *ed)
{
	static const struct one_format none;

	return !format_covers(&none, ed);
}

static bool is_better(const struct one_format *a, const struct one_format *b)
{
	if (has_some(a) != has_some(b))
		return has_some(a);
	if (a->whole != b->whole)
		return a->whole;
	if (format_covers(a, b) != format_covers(b, a))
		return format_covers(a, b);
	return a->reader->richness > b->reader->richness;
}

/* "3 calls and 4 samples" */
static void difference_put(struct strbuf *sb, const struct one_format *a,
			   const struct one_format *b)
{
	static const char *const words[DUPLICATE_KINDS] = { "dispatches and copies",
							    "calls and marks", "samples" };

	for (size_t k = 0; k < DUPLICATE_KINDS; k++)
		if (a->nr[k] > b->nr[k])
			strbuf_addf(sb, "%s%" PRIu64 " %s", sb->len ? ", " : "",
				    a->nr[k] - b->nr[k], words[k]);
}

/* The name for messages: of the files of a format the one with most records. */
static const char *known_as(const struct format_duplicates *e, const struct one_format *ed)
{
	const struct duplicate_file *most = &e->files.v[ed->first];
	uint64_t nr = 0;

	for (size_t i = ed->first; i < ed->end; i++) {
		const struct duplicate_file *f = &e->files.v[i];
		uint64_t all = 0;

		for (size_t k = 0; k < DUPLICATE_KINDS; k++)
			all += f->nr[k];
		if (all > nr) {
			nr = all;
			most = f;
		}
	}
	return fs_base(most->path);
}

static void leave_out(struct format_duplicates *e, const struct one_format *ed,
		      const struct one_format *best)
{
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	const char *other = known_as(e, best);

	difference_put(&more, ed, best);
	for (size_t i = ed->first; i < ed->end; i++) {
		struct duplicate_file *f = &e->files.v[i];

		f->code = f->problem || more.len ? W_LEFT_OUT : W_DUPLICATE_INPUT;
		if (f->problem)
			f->why = xasprintf("%s was left out: %s; %s has the same recording",
					   f->path, f->problem, other);
		else if (more.len)
			f->why = xasprintf("%s was left out, as %s has the same recording; its "
					   "format has %s more: name its files alone to read them",
					   f->path, other, more.buf);
		else
			f->why = xasprintf("%s was left out: %s has the same recording", f->path,
					   other);
	}
}

/* ---- which of them is read ---- */

static int by_recording(const void *va, const void *vb)
{
	const struct duplicate_file *a = va, *b = vb;
	int c = strcmp(a->recording, b->recording);

	c = c ? c : strcmp(a->reader->name, b->reader->name);
	return c ? c : strcmp(a->path, b->path);
}

static void format_choose(struct format_duplicates *e, size_t first, size_t end,
			  const struct session_opts *so)
{
	VEC(struct one_format) all = VEC_INIT;
	size_t best = 0;

	for (size_t i = first; i < end; i++)
		file_survey(&e->files.v[i], so);
	for (size_t i = first, k; i < end; i = k) {
		for (k = i + 1; k < end && e->files.v[k].reader == e->files.v[i].reader; k++)
			;
		VEC_PUSH(&all, one_format_of(e, i, k));
	}
	for (size_t i = 1; i < all.nr; i++)
		if (is_better(&all.v[i], &all.v[best]))
			best = i;
	/* where no file can be read, each gets its own error */
	for (size_t i = 0; has_some(&all.v[best]) && i < all.nr; i++)
		if (i != best)
			leave_out(e, &all.v[i], &all.v[best]);
	VEC_RELEASE(&all);
}

void format_duplicates_decide(struct format_duplicates *e, const struct session_opts *so)
{
	struct duplicate_file *v = e->files.v;

	if (e->files.nr < 2)
		return;
	qsort(v, e->files.nr, sizeof(*v), by_recording);
	for (size_t i = 0, k; i < e->files.nr; i = k) {
		bool several = false;

		for (k = i + 1; k < e->files.nr && strcmp(v[k].recording, v[i].recording) == 0; k++)
			several = several || v[k].reader != v[i].reader;
		if (several)
			format_choose(e, i, k, so);
	}
}

const char *format_duplicates_why(const struct format_duplicates *e, const char *path,
				  const char **ret_code)
{
	for (size_t i = 0; i < e->files.nr; i++) {
		const struct duplicate_file *f = &e->files.v[i];

		if (f->why && strcmp(f->path, path) == 0) {
			*ret_code = f->code;
			return f->why;
		}
	}
	return NULL;
}

bool format_duplicates_hide(const struct format_duplicates *e, const char *dir,
			    const struct reader *reader)
{
	CLEANUP(xfreep) char *where = fs_abs(dir);

	for (size_t i = 0; i < e->files.nr; i++) {
		const struct duplicate_file *f = &e->files.v[i];
		CLEANUP(xfreep) char *whole = fs_abs(f->path);
		CLEANUP(xfreep) char *in = fs_dir(whole);

		if (f->why && f->reader == reader && strcmp(in, where) == 0)
			return true;
	}
	return false;
}

void format_duplicates_release(struct format_duplicates *e)
{
	for (size_t i = 0; i < e->files.nr; i++) {
		struct duplicate_file *f = &e->files.v[i];

		free(f->path);
		free(f->recording);
		free(f->problem);
		free(f->why);
	}
	VEC_RELEASE(&e->files);
}
