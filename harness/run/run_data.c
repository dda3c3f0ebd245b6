#include "run_priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

static struct data_opts opts_of(const struct run_opts *o)
{
	const struct run_events *e = &o->events;

	return (struct data_opts){ .interrupt = o->interrupt,
				   .phase = e->phase,
				   .progress = e->bytes,
				   .note = e->note,
				   .tick = e->tick,
				   .ctx = e->ctx };
}

int run_data_check(const struct plan *pl, const struct run_opts *o, struct strvec *missing,
		   struct strvec *optional)
{
	struct data_opts d = opts_of(o);
	int r = 0;

	for (size_t i = 0; pl->conf && r != -EINTR && i < pl->conf->data.sets.nr; i++) {
		const struct data_set *s = &pl->conf->data.sets.v[i];
		struct err err = ERR_INIT;

		r = data_check(&pl->conf->data, s, &d, &err);
		if (r < 0 && r != -EINTR && !s->optional)
			strvec_pushf(missing,
				     "data '%s' is nowhere (%s): correct its entry (%s), or "
				     "say 'optional: true'",
				     s->name, err.msg, s->sources.v[0].where);
		else if (r < 0 && r != -EINTR && optional)
			strvec_pushf(optional, "data '%s' is not there (%s)", s->name, err.msg);
	}
	return r == -EINTR ? r : 0;
}

static void put_link(struct run *rn, const struct plan_data *p, struct run_data *d)
{
	/* A container needs a folder to mount: an empty one when there is no data. */
	if (!d->r.path)
		fs_mkdirs(p->link, 0755, NULL);
	else if (door_symlink(d->r.path, p->link) < 0)
		outcome_fail(&rn->outcome, RUN_FAILED, "cannot make '%s': %s", p->link,
			     strerror(errno));
}

static void fetch_one(struct run *rn, size_t i, const struct data_opts *o)
{
	const struct data_conf *c = &rn->pl->conf->data;
	struct run_data d = { .optional = c->sets.v[i].optional };
	struct err err = ERR_INIT;
	int r = data_fetch(c, &c->sets.v[i], o, &d.r, &err);

	rn->data_s += d.r.seconds;
	if (d.r.note)
		outcome_warn(&rn->outcome, W_DATA_SOURCE, "warning", "%s", d.r.note);
	if (d.r.left_out)
		outcome_warn(&rn->outcome, W_DATA_LEFT_OUT, "warning",
			     "data '%s' from %s: the copy lacks what could not be copied: %s",
			     d.r.name, d.r.source, d.r.left_out);
	if (r == 0 && d.r.at_least)
		outcome_warn(&rn->outcome, W_DATA_UNCOUNTED, "note",
			     "data '%s' from %s is large: at least %llu files with %llu bytes, the "
			     "rest was not counted",
			     d.r.name, d.r.source, (unsigned long long)d.r.files,
			     (unsigned long long)d.r.bytes);
	if (r < 0 && r != -EINTR && d.optional)
		outcome_warn(&rn->outcome, W_DATA_MISSING, "warning", "data '%s' is not there: %s",
			     d.r.name, err.msg);
	else if (r < 0 && r != -EINTR)
		outcome_fail(&rn->outcome, RUN_FAILED, "data '%s' cannot be had: %s", d.r.name,
			     err.msg);
	if (r == -EINTR)
		outcome_take_interrupt(&rn->outcome);
	put_link(rn, &rn->pl->data.v[i], &d);
	VEC_PUSH(&rn->data, d);
}

void run_data_fetch(struct run *rn)
{
	struct data_opts o = opts_of(rn->o);

	for (size_t i = 0; i < rn->pl->data.nr; i++) {
		if (rn->outcome.failed_phase || rn->outcome.interrupt)
			break;
		rn->outcome.phase = "data";
		fetch_one(rn, i, &o);
	}
}

bool run_data_there(const struct run *rn, const char *name)
{
	if (!name)
		return true;
	for (size_t i = 0; i < rn->data.nr; i++)
		if (!strcmp(rn->data.v[i].r.name, name))
			return rn->data.v[i].r.path != NULL;
	return false;
}

void run_data_release(struct run *rn)
{
	for (size_t i = 0; i < rn->data.nr; i++)
		data_result_release(&rn->data.v[i].r);
	VEC_RELEASE(&rn->data);
}
