/*
 * run_collect: after the workload: outputs of tools become artifacts with verdicts. Their faults
 * become warnings and the run's outcome (outcome.h).
 */
#ifndef RUN_COLLECT_H
#define RUN_COLLECT_H

struct plan_output;
struct run;
struct run_verdict;

void run_collect(struct run *rn);
/* Warns when none of the programs was started that the tools were to stand in front of. */
void run_wrap_at_check(struct run *rn);
/* Of an output with `match`: how many of its lines hold one of the texts. */
void run_check_lines(const char *path, const struct plan_output *po, struct run_verdict *ret);
/* What a container wrote into the run directory and the model's folder is given to their owners. */
void run_own(struct run *rn);

#endif
