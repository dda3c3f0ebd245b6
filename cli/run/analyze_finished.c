/* The analysis of a run that has just ended. The run stays complete however the analysis ends. */
#include "cli.h"

#include <stdio.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/xalloc.h"
#include "profrig/run/run.h"

int analyze_run(const char *run_dir, int code_so_far, struct report *rep)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	CLEANUP(xfreep) char *out = fs_join(run_dir, "analysis");
	CLEANUP(xfreep)
	char *words = xasprintf(
		"profrig: interrupted: the run directory is complete, 'profrig report %s' "
		"analyses it\n",
		run_dir);
	CLEANUP(xfreep)
	char *no_memory = xasprintf("the run directory is complete, 'profrig report %s' analyses "
				    "it where there is more",
				    run_dir);
	int64_t t0 = clock_monotonic_ns();

	strvec_push(&inputs, run_dir);
	cli_exit_at_signal(words);
	xalloc_last_words(no_memory, exit_worse(code_so_far, EXIT_PARTIAL));
	int code = analyze_runs(&inputs, out, rep);
	cli_exit_at_signal(NULL);
	xalloc_last_words("the run directory is complete", exit_worse(code_so_far, EXIT_PARTIAL));
	struct err err = ERR_INIT;
	if (run_note_analysis(run_dir, (double)(clock_monotonic_ns() - t0) / 1e9, &err) == 0)
		return code;
	log_error("the analysis is not noted in run.json: %s", err.msg);
	return exit_worse(code, EXIT_PARTIAL);
}
