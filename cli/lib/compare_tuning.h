/*
 * compare_tuning: the tables of solutions that `lib compare` writes (bench_tuning.h), with what
 * they leave out on stderr.
 */
#ifndef CLI_COMPARE_TUNING_H
#define CLI_COMPARE_TUNING_H

#include "cli.h"

#include "profrig/bench/bench_tables.h"

struct compare_tuning {
	const char *tunableop, *validators, *hipblaslt,
		*revision; /* of the command line, or NULL */
};

static inline bool compare_tuning_wanted(const struct compare_tuning *o)
{
	return o->tunableop || o->hipblaslt;
}
/* What can be said without the tables: 0, or 2 after saying it. */
int compare_tuning_check(const struct compare_tuning *o, const struct command *c);
/*
 * 0, also for a table without lines, which is not written; 2: the rows give no such table (of two
 * builds, or of an unknown revision); 4: it cannot be written; 5: the validators cannot be read.
 * Nothing is written unless all that is wanted can be.
 */
int compare_tuning_write(const struct compare_tuning *o, const struct bench_tables *t);

#endif
