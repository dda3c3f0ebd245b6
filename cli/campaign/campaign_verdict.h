/*
 * campaign_verdict: what a campaign's runs say: each cell against its baseline, figure by figure
 * (comparison.h). With a gate its metrics alone are judged, by its thresholds.
 */
#ifndef CAMPAIGN_VERDICT_H
#define CAMPAIGN_VERDICT_H

#include "campaign_job.h"
#include "store.h"

/*
 * Compares, shows it on stderr unless quiet, and adds the event `verdict` where it says something
 * new. 0: no gate, or it passes; else an exit code. Nothing is done where no cell has a baseline.
 */
int campaign_judge(struct campaign_job *j, bool quiet);
/* The figures of a run directory, for the store (store_figures_fn). */
store_figures_fn campaign_figures;

#endif
