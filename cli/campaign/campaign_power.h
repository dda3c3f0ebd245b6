/*
 * campaign_power: how likely the verdicts of a campaign are (power.h), for its plan and its report.
 */
#ifndef CLI_CAMPAIGN_POWER_H
#define CLI_CAMPAIGN_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CAMPAIGN_CONFIDENCE 0.95

struct campaign_power_case {
	const char *metric;
	double threshold;
	bool sequential; /* no blocks: Welch's t */
	size_t repeat;
	double cv; /* NaN: not measured */
	size_t tests;
};

struct campaign_power {
	struct campaign_power_case of;
	double slower, same;     /* of a cell that is 10 % slower, of an equal one */
	size_t n_slower, n_same; /* repeats for which that is 0.9; 0: no number is enough */
	double cv;               /* as measured, or assumed */
};

void campaign_power_find(const struct campaign_power_case *of, struct campaign_power *ret);
/* Three lines, without an end of line behind the last. Owned. */
char *campaign_power_words(const struct campaign_power *w);

#endif
