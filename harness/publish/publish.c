#include "profrig/publish/publish.h"
#include "outbox.h"
#include "publish_record.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/redact.h"

#define FIRST_WAIT_NS (30 * NS_PER_S)
#define LAST_WAIT_NS (6 * 3600 * NS_PER_S)
#define LEASE_NS (60 * NS_PER_S)
#define KEPT_NS (90 * 86400 * NS_PER_S)
#define MAX_ERROR 300

/* clang-format off */
#define PUBLISHER_AT(name, needs, may) &publisher_##name,
const struct publisher *const publishers[] = { PUBLISHERS(PUBLISHER_AT) NULL };
/* clang-format on */

static const struct publisher *publisher_of(const struct publish_target *t)
{
	size_t i = 0;

	/* The configuration takes the names of this list alone. */
	while (i + 1 < ARRAY_LEN(publishers) - 1 && strcmp(publishers[i]->name, t->to) != 0)
		i++;
	return publishers[i];
}

char *publish_outbox_dir(const char *runs_dir)
{
	CLEANUP(xfreep) char *whole = fs_abs(runs_dir);
	CLEANUP(xfreep) char *above = fs_dir(whole);
	CLEANUP(xfreep) char *journal = fs_join(above, "journal.ndjson");

	return !strcmp(fs_base(whole), "runs") && fs_is_file(journal) ? STEAL(above) : STEAL(whole);
}

bool publish_selected(const struct publish_target *t, const struct strvec *only)
{
	return !only || !only->nr || strvec_has(only, t->to) || strvec_has(only, t->name);
}

void publish_told_release(struct publish_told *told)
{
	strvec_release(&told->why);
	*told = (struct publish_told)PUBLISH_TOLD_INIT;
}

/* --- entering --- */

/* Relative to the outbox where it is below, so that the whole folder may be moved. Owned. */
static char *dir_kept(const char *folder, const char *run_dir)
{
	CLEANUP(xfreep) char *from = xrealpath(folder), *to = xrealpath(run_dir);
	const char *below = from && to ? fs_below(from, to) : NULL;

	return below && *below ? xstrdup(below) : to ? STEAL(to) : xstrdup(run_dir);
}

int publish_enqueue(const char *folder, const struct publish_conf *conf, const char *run_dir,
		    bool again, const struct strvec *only, struct err *err)
{
	CLEANUP(publish_record_release) struct publish_record rec = { .tools = STRVEC_INIT };
	CLEANUP(outbox_closep) struct outbox *ob = NULL;
	CLEANUP(xfreep) char *dir = NULL;
	int waiting = 0;
	int r = publish_record_read(run_dir, &rec, err);

	if (r == 0)
		r = outbox_open(folder, true, &ob, err);
	if (r < 0)
		return r;
	dir = dir_kept(folder, run_dir);
	for (size_t i = 0; i < conf->targets.nr; i++) {
		const struct publish_target *t = &conf->targets.v[i];
		const struct publisher *p = publisher_of(t);
		CLEANUP(xfreep) char *series = p->series ? p->series(t, &rec) : NULL;
		const struct outbox_new row = { .run = rec.id,
						.target = t->name,
						.dir = dir,
						.series = series,
						.ended_ns = rec.ended_ns };

		if (!publish_selected(t, only))
			continue;
		r = outbox_put(ob, &row, again, err);
		if (r < 0)
			return r;
		waiting += r;
	}
	return waiting;
}

/* --- sending --- */

struct sending {
	struct outbox *ob;
	const char *folder;
	const struct publish_conf *conf;
	const struct publish_opts *o;
	struct publish_told *told;
	const char *first;    /* as rows have it; NULL */
	const char *counted;  /* the last run that was sent */
	struct strvec failed; /* targets that are left alone from now on */
};

static int64_t wait_ns(int64_t tries)
{
	int64_t ns = FIRST_WAIT_NS;

	while (tries-- > 0 && ns < LAST_WAIT_NS)
		ns *= 2;
	return ns < LAST_WAIT_NS ? ns : LAST_WAIT_NS;
}

/* Writes the error into the outbox row and into the target's summary. */
static int note_failure(struct sending *s, const struct publish_row *row, int code,
			const struct err *why, struct err *err)
{
	CLEANUP(xfreep) char *text = xstrndup(why->msg, MAX_ERROR);
	const char *state = "waiting";

	redact_str(text);
	s->told->first_failed += s->first && !strcmp(s->first, row->dir);
	if (code == -EBADMSG) {
		state = "refused";
		s->told->refused++;
	}
	strvec_pushf(&s->told->why, "%s: %s", row->target, text);
	return outbox_note(s->ob, row, state, clock_realtime_ns() + wait_ns(row->tries), text, err);
}

static int row_publish(struct sending *s, const struct publish_row *row,
		       const struct publish_target *t, struct err *err)
{
	CLEANUP(publish_record_release) struct publish_record rec = { .tools = STRVEC_INIT };
	CLEANUP(xfreep) char *dir = fs_join(s->folder, row->dir);
	const struct publish_call call = { .interrupt = s->o->interrupt,
					   .timeout_s = t->timeout_s };
	struct err why = ERR_INIT;
	bool late = false, asked;
	int r = publish_record_read(dir, &rec, &why);

	if (r == -ENOENT || r == -ENOTDIR) {
		s->told->gone++;
		return outbox_note(s->ob, row, "gone", 0, "the run directory was removed", err);
	}
	if (r == 0 && strcmp(rec.id, row->run) != 0)
		r = err_set(&why, EBADMSG, "'%s' is another run now", row->dir);
	if (r == 0)
		r = outbox_superseded(s->ob, row, &late, &why);
	if (r == 0 && late) {
		s->told->superseded++;
		return outbox_note(s->ob, row, "superseded", 0, "a later run was sent before it",
				   err);
	}
	asked = r == 0;
	if (asked)
		r = publisher_of(t)->send(t, &rec, &call, &why);
	if (r == -EINTR) {
		outbox_note(s->ob, row, "waiting", 0, "interrupted", NULL);
		return err_set(err, EINTR, "interrupted");
	}
	if (r < 0) {
		/* Others would mostly fail there, too; what is wrong with a run alone does not
		 * count. */
		if (asked && r != -EBADMSG)
			strvec_push(&s->failed, row->target);
		return note_failure(s, row, r, &why, err);
	}
	s->told->sent++;
	/* Rows of one run follow each other; its metrics count once. */
	if (!s->counted || strcmp(s->counted, row->run) != 0)
		s->told->unvalued += rec.left_out;
	s->counted = row->run;
	return outbox_note(s->ob, row, "sent", 0, "", err);
}

static int row_try(struct sending *s, const struct publish_row *row, struct err *err)
{
	const struct publish_target *t =
		VEC_FIND(&s->conf->targets, x, !strcmp(x->name, row->target));
	int r;

	if (!t || !publish_selected(t, s->o->only) || strvec_has(&s->failed, row->target))
		return 0;
	r = outbox_claim(s->ob, row, (int64_t)(t->timeout_s * 1e9) + LEASE_NS, err);
	return r <= 0 ? r : row_publish(s, row, t, err);
}

int publish_send(const char *folder, const struct publish_conf *conf, const struct publish_opts *o,
		 struct publish_told *told, struct err *err)
{
	CLEANUP(publish_list_release) struct publish_list due = { .rows = VEC_INIT };
	CLEANUP(outbox_closep) struct outbox *ob = NULL;
	CLEANUP(xfreep) char *first = o->first ? dir_kept(folder, o->first) : NULL;
	struct sending s = {
		.folder = folder,
		.conf = conf,
		.o = o,
		.told = told,
		.first = first,
		.failed = STRVEC_INIT,
	};
	int64_t now = clock_realtime_ns(), start = clock_monotonic_ns();
	int r = outbox_open(folder, false, &ob, err);

	if (r < 0 || !ob)
		return r;
	s.ob = ob;
	r = outbox_trim(ob, now - KEPT_NS, err);
	if (r == 0)
		r = outbox_due(ob, o->all ? INT64_MAX : now, first, &due, err);
	for (size_t i = 0; r == 0 && i < due.rows.nr; i++) {
		const struct publish_row *row = &due.rows.v[i];

		if (o->budget_s > 0 && (!first || strcmp(row->dir, first) != 0) &&
		    (double)(clock_monotonic_ns() - start) / 1e9 > o->budget_s)
			break;
		if (o->interrupt && *o->interrupt)
			r = err_set(err, EINTR, "interrupted");
		else
			r = row_try(&s, row, err);
	}
	if (r == 0 || r == -EINTR)
		outbox_waiting(ob, &told->waiting, NULL);
	strvec_release(&s.failed);
	return r;
}

int publish_list(const char *folder, struct publish_list *ret, struct err *err)
{
	CLEANUP(outbox_closep) struct outbox *ob = NULL;
	int r = outbox_open(folder, false, &ob, err);

	*ret = (struct publish_list){ .rows = VEC_INIT };
	return r < 0 || !ob ? r : outbox_rows(ob, ret, err);
}
