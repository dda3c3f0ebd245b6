/*
 * report_judge: the comparisons of a campaign's report, and what they say together.
 *
 *	struct report_judgement g;
 *	report_judge(dir, &report, &g, &err);	fills `against` of each sample
 *	report_judgement_release(&g);
 *
 * Gates are compared as the campaign itself does at its end, with all gates as one family of
 * tests, so that verdicts are those of its exit status. Without gates the usual figures and those
 * of the file are. Figures of the report that are not among them are compared for themselves, as
 * declared metrics.
 */
#ifndef CLI_REPORT_JUDGE_H
#define CLI_REPORT_JUDGE_H

#include "campaign_power.h"
#include "campaign_report.h"

struct report_judgement {
	const char *overall; /* "slower", …, "not comparable"; NULL: nothing is compared */
	bool gated, passes;  /* passes: no gate fails */
	size_t gate_slower;  /* of all that the gates judge */
	size_t compared;     /* samples of the figures, by verdict: */
	size_t slower, faster, same, unclear, refused, one_sided;
	double threshold, confidence;
	const char *adjusted;             /* "Holm", …: of the first comparison */
	struct strvec reasons;            /* why cells are less comparable, or not at all */
	struct strvec notes;              /* what limits the tests */
	struct strvec problems;           /* what cannot be read */
	struct strvec methods;            /* that were used */
	VEC(struct campaign_power) power; /* of gates */
};

int report_judge(const char *dir, struct campaign_report *r, struct report_judgement *ret,
		 struct err *err);
void report_judgement_release(struct report_judgement *g);

#endif
