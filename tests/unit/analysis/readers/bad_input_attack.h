/*
 * What the tests of bad input share: a file of a format that is damaged, and reading it with an eye
 * on the result, the words about it and the folder it lies in.
 */
#ifndef BAD_INPUT_ATTACK_H
#define BAD_INPUT_ATTACK_H

#include "bad_input.h"
#include "tests/fixtures/gen/otf2_gen.c"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "profrig/base/strvec.h"

/* libotf2 forgets memory when a file is damaged. */
/* NOLINTBEGIN(bugprone-reserved-identifier): what the sanitizer asks for */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2";
}
/* NOLINTEND(bugprone-reserved-identifier) */

#ifndef PATIENCE_S
#define PATIENCE_S 120 /* for all attacks of one kind on one format */
#endif

struct target {
	const struct format *f;
	char *dir, *file, *open;
	char *sound;
	size_t n;
	size_t row;
	const char *attack;
	uint64_t reads, whole, partial, refused;
};

/* --- making it --- */

/* The text with something in the places of its marks. */
static inline char *filled(const struct format *f, const char *t, const char *end, const char *name)
{
	struct strbuf out = STRBUF_INIT;

	for (const char *p = f->text; *p; p++) {
		if (*p == '\1')
			strbuf_addstr(&out, t);
		else if (*p == '\2')
			strbuf_addstr(&out, end);
		else if (*p == '\3')
			strbuf_addstr(&out, name);
		else
			strbuf_addch(&out, *p);
	}
	return strbuf_steal(&out);
}

static inline void target_write(const struct target *t, const void *data, size_t n)
{
	int fd;

	/* a new file: some file systems flush one that is overwritten */
	unlink(t->file);
	fd = open(t->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	for (size_t at = 0; at < n;) {
		ssize_t k = write(fd, (const char *)data + at, n - at);

		assert_true(k > 0);
		at += (size_t)k;
	}
	close(fd);
}

static inline void target_open(struct target *t, size_t row)
{
	const struct format *f = &formats[row];

	*t = (struct target){ .f = f, .row = row, .dir = test_dir() };
	t->file = fs_join(t->dir, f->file);
	t->open = fs_join(t->dir, f->open ? f->open : f->file);
	if (f->text) {
		CLEANUP(xfreep) char *text = filled(f, f->time, f->end, "name");

		target_write(t, text, strlen(text));
	} else if (f->sql) {
		free(db_make(t->dir, f->file, f->sql));
	} else {
		f->make(t->dir);
	}
	assert_true(fs_read(t->file, 1 << 24, &t->sound, &t->n, NULL) >= 0);
}

static inline void target_close(struct target *t)
{
	test_dir_done(&t->dir);
	free(t->file);
	free(t->open);
	free(t->sound);
}

/* --- reading it --- */

struct scene {
	struct stat st;
	size_t files;
};

static inline struct scene scene_of(const struct target *t)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	struct scene s;

	assert_int_equal(stat(t->file, &s.st), 0);
	assert_true(fs_glob(t->dir, "**", &files, NULL) >= 0);
	s.files = files.nr;
	return s;
}

static inline bool is_untouched(const struct scene *a, const struct scene *b)
{
	return a->files == b->files && a->st.st_size == b->st.st_size &&
	       a->st.st_ino == b->st.st_ino && a->st.st_mtim.tv_sec == b->st.st_mtim.tv_sec &&
	       a->st.st_mtim.tv_nsec == b->st.st_mtim.tv_nsec &&
	       a->st.st_ctim.tv_sec == b->st.st_ctim.tv_sec &&
	       a->st.st_ctim.tv_nsec == b->st.st_ctim.tv_nsec;
}

static inline const char *wrong_with(const struct model *m)
{
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (m->spans.end_ns[i] < m->spans.start_ns[i])
			return "a span ends before it starts";
		if (m->spans.start_ns[i] < TIME_MIN || m->spans.end_ns[i] > TIME_MAX)
			return "a time is out of range";
		if (m->spans.track[i] >= m->tracks.nr)
			return "a span is on no track";
	}
	for (size_t i = 0; i < m->links.nr; i++)
		if (m->links.from[i] >= m->spans.nr || m->links.to[i] >= m->spans.nr)
			return "a link joins no spans";
	return NULL;
}

static inline const char *error_of(const struct model *m)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (m->warnings.v[i].severity == SEV_ERROR && m->warnings.v[i].text[0])
			return m->warnings.v[i].text;
	return NULL;
}

/* A refusal names the file, and where in it, or what of it is missing. */
static inline bool is_placed(const struct target *t, const char *msg)
{
	static const char *const places[] = { "byte",   "offset", "line",   "table", "empty",
					      "column", "page",   "header", "file",  "database" };

	if (!strstr(msg, t->dir))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (strstr(strstr(msg, t->dir) + strlen(t->dir), places[i]))
			return true;
	return t->f->make != NULL; /* libotf2 does not tell */
}

#define BAD(t, at, ...) \
	do { \
		print_error("%s, %s, %s, case %zu: ", (t)->f->reader, (t)->f->about, (t)->attack, \
			    (size_t)(at)); \
		ROW_FAIL((t)->row, __VA_ARGS__); \
	} while (0)

/* Reads what lies there. Returns whether something is said against it. */
static inline bool attack(struct target *t, size_t at)
{
	struct scene before = scene_of(t), after;
	struct reading rd = read_path(t->f->reader, t->open, at % 2);
	const char *wrong = wrong_with(rd.m);
	bool told = rd.r != 0 || rd.m->warnings.nr > 0;

	after = scene_of(t);
	t->reads++;
	t->whole += rd.r == 0;
	t->partial += rd.r == READ_PARTIAL;
	t->refused += rd.r < 0;
	if (rd.r > READ_PARTIAL)
		BAD(t, at, "result %d", rd.r);
	if (rd.r < 0 && !is_placed(t, rd.err.msg))
		BAD(t, at, "'%s' has no file or no place", rd.err.msg);
	if (rd.r == READ_PARTIAL && (!error_of(rd.m) || !rd.m->inputs.v[0].partial))
		BAD(t, at, "partial without a reason");
	if (rd.r == 0 && error_of(rd.m))
		BAD(t, at, "whole, and yet: %s", error_of(rd.m));
	if (wrong)
		BAD(t, at, "%s", wrong);
	if (!is_untouched(&before, &after))
		BAD(t, at, "the file or its folder was changed");
	reading_release(&rd);
	return told;
}

static inline bool attack_with(struct target *t, size_t at, const void *data, size_t n)
{
	target_write(t, data, n);
	return attack(t, at);
}

static inline void each_format(const char *name, void (*fn)(struct target *t))
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct target t;

		target_open(&t, i);
		t.attack = name;
		alarm(PATIENCE_S);
		fn(&t);
		alarm(0);
		print_message("%-9s %-11s %-13s %6" PRIu64 " reads, %" PRIu64 " whole, %" PRIu64
			      " partial, %" PRIu64 " refused\n",
			      name, t.f->reader, t.f->about, t.reads, t.whole, t.partial,
			      t.refused);
		target_close(&t);
	}
}

#endif
