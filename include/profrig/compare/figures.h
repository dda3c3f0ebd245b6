/*
 * figures: the numbers of one run that comparisons, histories and stores are made of. A run
 * directory gives the metrics of its run.json, the time of its workload, and columns of the tables
 * in its analysis/; an analysis directory gives the columns alone.
 *
 *	struct figures f = FIGURES_INIT;
 *	figures_read("runs/20260301T…", NULL, &f, &err);
 *	for (size_t i = 0; i < f.v.nr; i++)
 *		… f.v.v[i].name, .key, .unit, .value …
 *	figures_release(&f);
 *
 * Names
 *	NAME			a metric of run.json (performance, cpu_user, max_rss, …)
 *	duration		seconds of the workload; the metric `wall` is the same, so it is
 *				read only when it is selected
 *	TABLE.COLUMN		of a table, with the row's name as key: figures_known lists them
 * The key of a metric is "", of a second one with that name "NAME#2", and so on. Rows of a table
 * with equal keys (of several devices, tracks, categories) add up.
 *
 * Selection: names, words in front of the '.' (functions: all columns of that table), `metrics`
 * (those of run.json), `all`, `usual`: metrics, duration, energy.total_j. NULL or an empty one is
 * `usual`, so that tables with a million rows are read only on demand.
 *
 * A run directory is untrusted: it is held (door.h) while it is read, no link is followed, and no
 * FIFO is waited for. run.json has at most 64 MiB, a table FIGURE_ROWS_MAX rows that count. A value
 * that is no finite number is left out and counted (`bad`); a missing one is no figure. What cannot
 * be read stands in `problems`, a line each; the other figures are whole.
 */
#ifndef PROFRIG_FIGURES_H
#define PROFRIG_FIGURES_H

#include <stddef.h>

#include "profrig/base/err.h"
#include "profrig/base/intern.h"
#include "profrig/base/strvec.h"
#include "profrig/base/table.h"
#include "profrig/base/vec.h"

#define FIGURE_ROWS_MAX ((size_t)1 << 24)

/* Which values are good ones. FIGURE_NONE: a difference is neither. */
enum figure_better { FIGURE_LOWER, FIGURE_HIGHER, FIGURE_NONE };
/* "lower", "higher", "none". */
const char *figure_better_name(enum figure_better b);
/* Of a metric: `performance`, and units that end in "/s", are better when higher. */
enum figure_better figure_better_of(const char *name, const char *unit);

struct figure {
	const char *name, *key, *unit; /* owned by the texts of struct figures */
	str_id name_id, key_id, unit_id;
	enum figure_better better;
	bool of_table; /* a row of a table, else a metric */
	double value;  /* finite */
};

struct figures {
	VEC(struct figure) v;
	struct intern *texts;   /* set it to share texts with other runs; NULL: its own */
	bool owned;             /* of texts */
	size_t bad;             /* values that are no finite numbers */
	struct strvec problems; /* files that cannot be read, wholly or in part */
};
#define FIGURES_INIT \
	{ \
		.problems = STRVEC_INIT \
	}
void figures_release(struct figures *f);

/*
 * Adds the figures of dir to *ret. -ENOENT and the like: dir is neither a run directory nor an
 * analysis directory. selection: a vector of names, NULL: the usual ones.
 */
int figures_read(const char *dir, const struct strvec *selection, struct figures *ret,
		 struct err *err);
/* Whether a selection takes in a name; `usual`: where it is empty. */
bool figures_selected(const struct strvec *selection, const char *name, bool usual);

/* Of tables: name, unit, better, table, column, key. Owned. */
struct table *figures_known(void);

#endif
