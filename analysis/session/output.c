/* The output folder of a session: checked, swept of half-written files, filled with reports. */
#include "session_private.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/workers.h"

int session_output_check(const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *at = xstrdup(dir);

	while (!fs_exists(at) && strcmp(at, "/") != 0) {
		char *up = fs_dir(at);

		free(at);
		at = up;
	}
	if (!fs_is_dir(at))
		return err_set(err, ENOTDIR, "cannot write to %s: %s is not a directory", dir, at);
	if (access(at, W_OK | X_OK) < 0)
		return err_sys(err, errno, "cannot write to %s", dir);
	return 0;
}

void session_output_sweep(const char *dir, const struct session_opts *o,
			  struct session_outcome *out)
{
	static const char *const below[] = { ".", "tables", "folded" };
	CLEANUP(xfreep) char *beside = fs_dir(dir);
	struct session_note note = { .kind = SESSION_SWEPT };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, below[i]);

		n += fs_temp_sweep(path, &note.bytes);
	}
	/* whole results that are being moved */
	n += fs_temp_sweep(beside, &note.bytes);
	if (n)
		session_note_put(o, out, note,
				 "%s: removed %zu half-written file%s of a profrig that was killed",
				 dir, n, n == 1 ? "" : "s");
}

static size_t format_count(const struct strvec *formats)
{
	size_t n = formats->nr;

	while (!formats->nr && writers[n])
		n++;
	return n;
}

static const struct writer *format_at(const struct strvec *formats, size_t i)
{
	return formats->nr ? writer_find(formats->v[i]) : writers[i];
}

int session_formats_check(const struct strvec *formats, struct err *err)
{
	for (size_t i = 0; i < formats->nr; i++)
		if (!writer_find(formats->v[i]))
			return err_set(err, EINVAL,
				       "unknown report format '%s' ('profrig list reports' shows "
				       "them)",
				       formats->v[i]);
	return 0;
}

/* State of writing the files of one report. */
struct writing {
	const struct report *r;
	const struct session_opts *o;
	struct session_outcome *out;
	struct strvec said;
};

/* Users do not know the stage: the message names the file by its final path. */
static void name_final(const struct report *r, struct err *err)
{
	const char *at = r->final ? strstr(err->msg, r->dir) : NULL;
	const struct err was = *err;

	if (at)
		err_set(err, was.code, "%.*s%s%s", (int)(at - err->msg), was.msg, r->final,
			was.msg + (at - err->msg) + strlen(r->dir));
}

/* A full disk fails every writer in the same words; once is enough. */
static void write_failed(struct writing *w, struct err *err)
{
	struct session_note n = { SESSION_NOT_WRITTEN, .code = err->code, .first = !w->said.nr };

	session_worsen(w->out, SESSION_PARTIAL);
	name_final(w->r, err);
	if (strvec_has(&w->said, err->msg))
		return;
	session_note_put(w->o, w->out, n, "%s", err->msg);
	strvec_push(&w->said, err->msg);
}

/* A format and how it went. */
struct part {
	const struct writer *w;
	struct err err;
	bool failed, told;
	atomic_bool ended;
};

struct parts {
	struct writing *w;
	struct part *v;
	size_t nr;
};

/* The listener is the caller's thread's, which is worker 0. */
static void parts_tell(struct parts *ps)
{
	for (size_t i = 0; i < ps->nr; i++) {
		struct part *p = &ps->v[i];

		if (p->told || !atomic_load(&p->ended))
			continue;
		p->told = true;
		session_done(ps->w->o, SESSION_WRITE, p->w->name);
	}
}

static void part_write(void *ctx, size_t i, unsigned worker)
{
	struct parts *ps = ctx;
	struct part *p = &ps->v[i];

	p->failed = p->w->write(ps->w->r, &p->err) != 0;
	atomic_store(&p->ended, true);
	if (worker == 0)
		parts_tell(ps);
}

/* Side by side; what failed is said in the order of the formats. */
static void write_each(struct writing *w, const struct strvec *formats)
{
	CLEANUP(workers_freep) struct workers *pool = workers_new((unsigned)w->o->threads);
	struct parts ps = { .w = w, .nr = format_count(formats) };

	session_phase(w->o, SESSION_WRITE, "");
	ps.v = xcalloc(ps.nr + 1, sizeof(*ps.v));
	for (size_t i = 0; i < ps.nr; i++)
		ps.v[i].w = format_at(formats, i);
	workers_run(pool, ps.nr, part_write, &ps);
	parts_tell(&ps);
	for (size_t i = 0; i < ps.nr; i++)
		if (ps.v[i].failed)
			write_failed(w, &ps.v[i].err);
	free(ps.v);
}

void session_write_formats(const struct report *r, const struct session_opts *o,
			   struct session_outcome *out)
{
	struct writing w = { r, o, out, STRVEC_INIT };

	write_each(&w, &o->formats);
	strvec_release(&w.said);
}

/*
 * analysis.json is made before the other files, which embed it, and again after them with the time
 * they took; in the embedded one that time is unknown.
 */
void session_write(struct report *rep, const struct model *m, struct report_timings *times,
		   const struct session_opts *o, struct session_outcome *out)
{
	struct writing w = { rep, o, out, STRVEC_INIT };
	CLEANUP(strvec_release) struct strvec formats = STRVEC_INIT;
	CLEANUP(xfreep) char *path = fs_join(rep->dir, "analysis.json");
	struct err err = ERR_INIT;
	int64_t at = clock_monotonic_ns();

	/* analysis.json names the tables, and `report` makes every other format of them */
	strvec_pushv(&formats, o->formats.v);
	if (formats.nr && !strvec_has(&formats, "csv"))
		strvec_push(&formats, "csv");
	times->write_s = NAN;
	rep->analysis_json = report_analysis_json(m, rep, times);
	write_each(&w, &formats);
	times->write_s = session_lap_s(&at);
	free(rep->analysis_json);
	rep->analysis_json = report_analysis_json(m, rep, times);
	if (fs_write_atomic(path, rep->analysis_json, strlen(rep->analysis_json), &err) < 0)
		write_failed(&w, &err);
	strvec_release(&w.said);
}
