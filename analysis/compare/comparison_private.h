/* comparison_private: values of runs, by figure. */
#ifndef COMPARISON_PRIVATE_H
#define COMPARISON_PRIVATE_H

#include "profrig/base/u64map.h"
#include "profrig/base/workers.h"
#include "profrig/compare/comparison.h"

/* Every figure of any run once. */
struct figure_book {
	struct intern *texts;
	struct u64map at; /* name and key → its number */
	VEC(struct book_figure {
		const char *name, *key;
		str_id name_id;
		enum figure_better better;
		bool of_table;
	}) v;
};

/* The values of one set, by figure: those of figure i are v[from[i]] … v[from[i + 1]]. */
struct loaded_set {
	const struct run_set *set;
	VEC(struct loaded_value {
		uint32_t figure, run;
		double value;
	}) v;
	size_t *from;
	VEC(str_id) units; /* by figure; STR_NONE: no value */
	VEC(uint32_t) odd; /* figures with several units */
};

void book_init(struct figure_book *b, struct intern *texts);
void book_release(struct figure_book *b);
/* Problems and bad values are counted in c. */
int loaded_set_read(struct loaded_set *l, const struct run_set *s, struct figure_book *b,
		    struct comparison *c, struct err *err);
/* When all sets are read: sorts. */
void loaded_set_finish(struct loaded_set *l, const struct figure_book *b);
void loaded_set_release(struct loaded_set *l);
/* STR_NONE: it has no value of this figure. */
str_id loaded_unit(const struct loaded_set *l, uint32_t figure);

/* ---- comparison_rows.c ---- */

#define ROWS_OF_THREAD 16384 /* fewer are made before a thread has started */

/*
 * One row for each figure of either, at the end of c->rows: metrics, and behind them tables in
 * their final order. Versus by versus.
 */
void versus_rows(struct comparison *c, uint32_t versus, const struct loaded_set *a,
		 const struct loaded_set *b, const struct figure_book *book, struct workers *w);

/* Both sides have it. */
static inline bool row_tested(const struct compare_row *r)
{
	return r->verdict != COMPARE_NEW && r->verdict != COMPARE_GONE;
}

/* ---- comparison_judge.c ---- */

/* Adjusts all p, judges, counts, ranks metrics. */
void comparison_judge(struct comparison *c);

#endif
