/*
 * run_campaign: the runs of a campaign one after the other: each executed, analysed, summed up and
 * noted in the table of results; at the end of a model what its tools cost and what its runs have
 * in common. Prints; returns exit codes.
 */
#ifndef RUN_CAMPAIGN_H
#define RUN_CAMPAIGN_H

#include "campaign.h"
#include "cli.h"

/* All models of cp are prepared. */
int run_campaign(const struct run_options *o, const struct campaign *cp);
/*
 * One run of a campaign that is prepared: executed, analysed, noted; as above, by itself. Exit
 * code.
 */
int run_alone(const struct run_options *o, const struct prepared *p);
/*
 * Compares several runs of one model: mean, spread and outliers. The tables lie beside the runs,
 * under a name that no run has. Exit code.
 */
int runs_together(const struct run_options *o, const struct strvec *dirs);
/*
 * status NULL: that of run.json. When the table cannot be written the run itself is complete, but
 * the exit code reports it.
 */
int note_results(const struct prepared *p, const char *status, const char *reason);

#endif
