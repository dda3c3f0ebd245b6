/*
 * campaign_steps: what a campaign's file wants done once its runs are: commands of profrig
 * (`steps`). {dir} in a word is the campaign's folder; the word {runs} stands for the run
 * directories that count. What a step prints is in steps/NN-<word>.out and .err of the folder; it
 * runs where the campaign began.
 */
#ifndef CAMPAIGN_STEPS_H
#define CAMPAIGN_STEPS_H

#include "campaign_job.h"

/* The worst exit code of the steps, each of which is noted as the event `step`. */
int campaign_steps(struct campaign_job *j);

#endif
