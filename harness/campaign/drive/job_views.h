/*
 * job_views: what a scheduler's view of a job means for the job's attempts, and for the user.
 *
 * job_outcomes judges the attempts of a job that is over, each by its record, and where that has no
 * end of its own (it is missing, or says running, or interrupted) by the end of the job:
 *
 *	lost, refused, FAILED	infrastructure: profrig writes down how a workload failed. Its log
 *				says "exceeded memory limit": workload
 *	refused for now		interrupted: it is handed over again, or was drained
 *	another word		the class of the view (scheduler.h)
 *
 * A job that ended early (time, preemption, a dead node) had begun only the first of its attempts.
 * The others are interrupted, which is no failure; as at least one attempt of the job is judged by
 * the rules above, this comes to an end. The attempt that was running when a scheduler ended the
 * job is the job's matter also when its workload died of the scheduler's signal before profrig got
 * its own one.
 *
 * job_waits says what jobs wait for that does not come by itself: once for each reason, and again
 * when the reason had gone meanwhile. A job_waits begins as zeros.
 */
#ifndef JOB_VIEWS_H
#define JOB_VIEWS_H

#include "drive_priv.h"
#include "scheduler.h"

#include "profrig/base/strvec.h"

/*
 * ret has room for nr. log: what the job and slurmstepd printed, whose last line tells more
 * where nothing has begun. stops: the campaign ends its runs.
 */
void job_outcomes(const struct attempt_where *w, const struct sched_view *v, const char *log,
		  bool stops, const struct driven *attempts, size_t nr,
		  struct attempt_outcome *ret);

struct job_waits {
	VEC(char *) said; /* reasons */
};

void job_waits_release(struct job_waits *w);
/*
 * What the views have that was not said: "3 jobs wait, such as 28_0: REASON: what that is". Owned;
 * NULL: nothing. One reason a call.
 */
char *job_waits_next(struct job_waits *w, const struct sched_view *v, size_t nr);

#endif
