/* report_priv: what the parts of campaign_report share. */
#ifndef REPORT_PRIV_H
#define REPORT_PRIV_H

#include "campaign_report.h"

/* What rows of a question are added to. */
struct report_taking {
	struct campaign_report *r;
	const struct strvec *wanted;
	struct intern *cells, *runs, *attempts, *envs; /* an id less 1 is the place */
};

typedef int report_row(void *ctx, const struct store_cell *c, size_t n, struct err *err);

int report_ask(struct store *s, struct report_taking *t, const char *sql, report_row *row,
	       struct err *err);
/* A text of the report; "" for what is none. */
const char *report_text(struct report_taking *t, const struct store_cell *c);
/* The place of an id in the vector whose ids are in `in`; REPORT_NONE. */
uint32_t report_place(const struct intern *in, const struct store_cell *c);

/* Metrics m of attempts t that count, of runs r and cells c of the current plan. */
#define REPORT_OF_COMMITTED \
	"FROM cell AS c CROSS JOIN run AS r ON r.id > c.id || '-' AND r.id < c.id || '.' " \
	"AND r.cell = c.id CROSS JOIN attempt AS t ON t.id > r.id || '.' AND t.id < r.id || '/' " \
	"CROSS JOIN metric AS m ON m.attempt = t.id WHERE c.current AND r.current AND " \
	"t.committed "

/* Once runs are known, with their order. */
int report_figures_take(struct store *s, struct report_taking *t, struct err *err);
/* Once runs and attempts are known. */
int report_clocks_take(struct store *s, struct report_taking *t, struct err *err);

#endif
