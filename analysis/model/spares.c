#include "model_private.h"

#include <stdlib.h>

void *spare_take(struct model *m, size_t n)
{
	struct spares *s = &m->priv->spares;
	struct spare *best = NULL;
	void *p = NULL;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->v.nr; i++)
		if (s->v.v[i].n >= n && (!best || s->v.v[i].n < best->n))
			best = &s->v.v[i];
	if (best) {
		p = best->p;
		*best = s->v.v[--s->v.nr];
	}
	pthread_mutex_unlock(&s->lock);
	if (!p) {
		p = xmalloc(n);
		xpopulate(p, n);
	}
	return p;
}

void spare_give(struct model *m, void *p, size_t n)
{
	struct spares *s = &m->priv->spares;

	pthread_mutex_lock(&s->lock);
	VEC_PUSH(&s->v, (struct spare){ p, n });
	pthread_mutex_unlock(&s->lock);
}

void spares_release(struct model *m)
{
	struct spares *s = &m->priv->spares;

	for (size_t i = 0; i < s->v.nr; i++)
		free(s->v.v[i].p);
	VEC_RELEASE(&s->v);
}
