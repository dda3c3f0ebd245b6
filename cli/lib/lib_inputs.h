/*
 * lib_inputs: logs of libraries, folders of them and runs, read for the commands on library calls.
 *
 * A named file is taken for a log, whatever it looks like; of runs and folders only what may hold
 * library calls is read. Logs are one session and each run is one, as the clocks of runs differ. An
 * input that is named twice counts once. What cannot be read is printed as the session reads.
 */
#ifndef CLI_LIB_INPUTS_H
#define CLI_LIB_INPUTS_H

#include "cli.h"

#include "profrig/model/library_calls.h"

struct lib_inputs {
	struct library_calls *calls; /* of all */
	VEC(struct session_trace) traces;
	bool read; /* some session read something */
	int code;  /* the worst of the sessions */
};

/*
 * Exit code: 0, EXIT_PARTIAL (an input, or a part of one, cannot be read), EXIT_UNREADABLE (none
 * can, or no line of any is of a library, which is printed), EXIT_USAGE. ret is filled in any case.
 */
int lib_inputs_read(const struct strvec *inputs, struct lib_inputs *ret);
void lib_inputs_release(struct lib_inputs *li);
/* A fact of the reader (read_library_log.c), over all inputs. */
uint64_t lib_inputs_fact(const struct lib_inputs *li, const char *key);
/* The next warning of all sessions; NULL: no more. Begin with *trace = *at = 0. */
const struct warning *lib_inputs_warning(const struct lib_inputs *li, size_t *trace, size_t *at);

#endif
