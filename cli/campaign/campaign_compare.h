/*
 * campaign_compare: the cells of a campaign, each against its baseline (comparison.h).
 *
 *	struct campaign_compare cc;
 *	campaign_compare_init(&cc);
 *	campaign_compare_gate(&cc, "performance", 0.05);	any number; else _usual
 *	campaign_compare_run(&cc, dir, &err);			how many pairs there are, or -errno
 *	… cc.c.rows …
 *	campaign_compare_release(&cc);
 */
#ifndef CLI_CAMPAIGN_COMPARE_H
#define CLI_CAMPAIGN_COMPARE_H

#include "profrig/base/vec.h"
#include "profrig/compare/comparison.h"

struct campaign_compare {
	struct compare_operand o;
	struct compare_opts opts;
	VEC(double) limits;
	struct comparison c; /* once it has run */
	bool ran;
};

void campaign_compare_init(struct campaign_compare *cc);
void campaign_compare_release(struct campaign_compare *cc);
/* A metric that is declared; threshold NaN: that of opts. */
void campaign_compare_gate(struct campaign_compare *cc, const char *metric, double threshold);
/* What is compared where nothing is declared: the usual figures, and those of the file. */
void campaign_compare_usual(struct campaign_compare *cc, const struct strvec *metrics);
/* 0: no cell has a baseline, and nothing was read but the runs. */
int campaign_compare_run(struct campaign_compare *cc, const char *dir, struct err *err);

#endif
