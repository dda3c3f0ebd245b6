#include "comparison_private.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD 16 /* figures */

void book_init(struct figure_book *b, struct intern *texts)
{
	*b = (struct figure_book){ .texts = texts, .at = U64MAP_INIT };
}

void book_release(struct figure_book *b)
{
	u64map_release(&b->at);
	VEC_RELEASE(&b->v);
}

static uint64_t figure_place(const struct figure *f)
{
	return u64map_pair(f->name_id, f->key_id);
}

static uint32_t book_number(struct figure_book *b, const struct figure *f)
{
	uint32_t *at = u64map_at(&b->at, figure_place(f));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)b->v.nr;
		VEC_PUSH(&b->v, ((struct book_figure){ f->name, f->key, f->name_id, f->better,
						       f->of_table }));
	}
	return *at;
}

static void figure_load(struct loaded_set *l, struct figure_book *b, const struct figure *f,
			uint32_t run)
{
	uint32_t figure = book_number(b, f);

	while (l->units.nr <= figure)
		VEC_PUSH(&l->units, STR_NONE);
	if (l->units.v[figure] == STR_NONE)
		l->units.v[figure] = f->unit_id;
	else if (l->units.v[figure] != f->unit_id)
		VEC_PUSH(&l->odd, figure);
	VEC_PUSH(&l->v, ((struct loaded_value){ figure, run, f->value }));
}

int loaded_set_read(struct loaded_set *l, const struct run_set *s, struct figure_book *b,
		    struct comparison *c, struct err *err)
{
	int r = 0;

	l->set = s;
	for (size_t i = 0; i < s->runs.nr && r == 0; i++) {
		struct figures f = FIGURES_INIT;

		f.texts = b->texts;
		r = figures_read(s->runs.v[i].dir, &c->o.selection, &f, err);
		for (size_t k = 0; k < f.v.nr; k++) {
			if (k + AHEAD < f.v.nr)
				u64map_ahead(&b->at, figure_place(&f.v.v[k + AHEAD]));
			figure_load(l, b, &f.v.v[k], (uint32_t)i);
		}
		for (size_t k = 0; k < f.problems.nr; k++)
			strvec_push(&c->problems, f.problems.v[k]);
		c->bad += f.bad;
		figures_release(&f);
	}
	return r;
}

/* By counting: values of a figure stay in the order of runs. */
void loaded_set_finish(struct loaded_set *l, const struct figure_book *b)
{
	size_t nr = b->v.nr, *next;
	struct loaded_value *sorted = xcalloc(l->v.nr + 1, sizeof(*sorted));

	l->from = xcalloc(nr + 1, sizeof(*l->from));
	next = xcalloc(nr + 1, sizeof(*next));
	for (size_t i = 0; i < l->v.nr; i++)
		next[l->v.v[i].figure]++;
	for (size_t i = 0, at = 0; i < nr; i++) {
		l->from[i] = at;
		at += next[i];
		next[i] = l->from[i];
	}
	l->from[nr] = l->v.nr;
	for (size_t i = 0; i < l->v.nr; i++)
		sorted[next[l->v.v[i].figure]++] = l->v.v[i];
	free(next);
	free(l->v.v);
	l->v.v = sorted;
	l->v.cap = l->v.nr + 1;
}

void loaded_set_release(struct loaded_set *l)
{
	VEC_RELEASE(&l->v);
	VEC_RELEASE(&l->units);
	VEC_RELEASE(&l->odd);
	free(l->from);
}

str_id loaded_unit(const struct loaded_set *l, uint32_t figure)
{
	return figure < l->units.nr ? l->units.v[figure] : STR_NONE;
}
