#include "profrig/compare/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define SEED UINT64_C(0x68697374) /* the same runs give the same changes */

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->v.nr; i++)
		free(h->v.v[i].unit);
	VEC_RELEASE(&h->v);
	change_points_release(&h->changes);
	strvec_release(&h->problems);
}

static const struct figure *figure_find(const struct figures *f, const char *name, const char *key)
{
	return VEC_FIND(&f->v, e, strcmp(e->name, name) == 0 && strcmp(e->key, key) == 0);
}

static int run_add(struct history *h, const struct run_set *s, const struct compared_run *run,
		   const char *name, const char *key, struct err *err)
{
	CLEANUP(strvec_release) struct strvec selection = STRVEC_INIT;
	CLEANUP(figures_release) struct figures f = FIGURES_INIT;
	const struct figure *found;
	int r;

	strvec_push(&selection, name);
	r = figures_read(run->dir, &selection, &f, err);
	if (r < 0)
		return r;
	found = figure_find(&f, name, key);
	h->bad += f.bad;
	for (size_t i = 0; i < f.problems.nr; i++)
		strvec_push(&h->problems, f.problems.v[i]);
	if (!found) {
		h->without++;
		return 0;
	}
	h->better = found->better;
	VEC_PUSH(&h->v, ((struct history_point){ run, s, found->value, xstrdup(found->unit) }));
	return 0;
}

static bool is_there(const struct history *h, const struct compared_run *run)
{
	return VEC_FIND(&h->v, e,
			strcmp(e->run->dir, run->dir) == 0 ||
				(*run->c.id && strcmp(e->run->c.id, run->c.id) == 0 &&
				 e->run->c.started_ns == run->c.started_ns)) != NULL;
}

int history_add(struct history *h, const struct run_set *s, const char *name, const char *key,
		struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < s->runs.nr && r == 0 && h->v.nr <= CHANGE_VALUES_MAX; i++)
		if (!is_there(h, &s->runs.v[i]))
			r = run_add(h, s, &s->runs.v[i], name, key, err);
	return r;
}

static int by_start(const void *pa, const void *pb)
{
	const struct history_point *a = pa, *b = pb;
	int64_t x = a->run->c.started_ns, y = b->run->c.started_ns;

	if (x != y)
		return x < y ? -1 : 1;
	return strcmp(a->run->dir, b->run->dir);
}

/* Those at the edges rest on a few values that may be off by chance. */
static void edges_drop(struct change_points *c, size_t n)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->v.nr; i++)
		if (c->v.v[i].at >= HISTORY_EDGE && c->v.v[i].at + HISTORY_EDGE <= n)
			c->v.v[nr++] = c->v.v[i];
	c->v.nr = nr;
}

int history_finish(struct history *h, struct err *err)
{
	CLEANUP(xfreep) double *v = xcalloc(h->v.nr + 1, sizeof(*v));

	if (h->v.nr > CHANGE_VALUES_MAX)
		return err_set(err, ERANGE, "a history has at most %zu runs", CHANGE_VALUES_MAX);
	if (h->v.nr)
		qsort(h->v.v, h->v.nr, sizeof(*h->v.v), by_start);
	for (size_t i = 0; i < h->v.nr; i++) {
		if (strcmp(h->v.v[i].unit, h->v.v[0].unit) != 0)
			return err_set(err, EINVAL, "units differ: '%.40s' in %s, '%.40s' in %s",
				       h->v.v[0].unit, h->v.v[0].run->dir, h->v.v[i].unit,
				       h->v.v[i].run->dir);
		v[i] = h->v.v[i].value;
	}
	if (change_points_divisive(v, h->v.nr, HISTORY_ALPHA, SEED, &h->changes) < 0)
		return err_set(err, ERANGE, "%zu runs are too many", h->v.nr);
	edges_drop(&h->changes, h->v.nr);
	return 0;
}
