/*
 * miopen_command: a command line of MIOpenDriver as parse_miopen.c splits it, for the files that
 * make its key: miopen_conv.c, miopen_rnn.c, miopen_verbs.c.
 *
 * Options have a letter and a long name; a value is looked up by either. Those that measure, choose
 * a solver or name files of data are marked by command_ignore_run.
 */
#ifndef ANALYSIS_MIOPEN_COMMAND_H
#define ANALYSIS_MIOPEN_COMMAND_H

#include "library_parser.h"
#include "library_words.h"

#define MIOPEN_DIMS 3 /* depth, height, width */

enum { MIOPEN_FWD = 1, MIOPEN_BWD_DATA = 2, MIOPEN_BWD_WEIGHTS = 4, MIOPEN_ALL = 7 };

struct miopen_command {
	struct library_words w; /* of words_split */
	char verb[48];          /* "convfp16": the operation */
	size_t family;          /* bytes of the verb that name what it does */
	const struct element_type *type;
	bool logged;             /* by the library */
	unsigned direction;      /* by the function in front of the command; 0: not told */
	struct text_slice twice; /* an option with two values; n = 0: there is none */
};

struct option_name {
	const char *letter, *name; /* "-n", "--batchsize" */
};

/* All but the words. */
void command_init(struct miopen_command *c);
/* The value of an option, marked as used; NULL: it is not there. */
const struct text_slice *command_get(struct miopen_command *c, struct option_name o);
/* false: there is one, and it is no number. */
bool command_int(struct miopen_command *c, struct option_name o, int64_t *ret);
bool command_ints(struct miopen_command *c, const struct option_name *o, int64_t *ret, size_t n);
/* " as=value", numbers in their shortest form; nothing when it is the default or not there. */
void command_next_word(struct miopen_command *c, struct library_key *k, struct option_name o,
		       const char *as, const char *otherwise);
/* " in=56x56" of the last dims. */
void command_sizes(struct library_key *k, const char *as, const int64_t v[MIOPEN_DIMS], int dims);
/* " dir=fwd+bwd", the names of the bits; nothing for none. */
void command_directions(struct library_key *k, unsigned bits, const char *const names[3]);
/* Options that are not looked at yet, by name. Returns how many. */
size_t command_rest(struct miopen_command *c, struct library_key *k);
void command_ignore_run(struct miopen_command *c);
/* false: v is less than min, or too large, and k->why says so. */
bool command_in_range(struct library_key *k, const char *name, int64_t v, int64_t min);

enum record_is miopen_conv(struct miopen_command *m, struct library_key *k);
enum record_is miopen_fusion(struct miopen_command *m, struct library_key *k);
enum record_is miopen_pool(struct miopen_command *c, struct library_key *k);
enum record_is miopen_rnn(struct miopen_command *c, struct library_key *k);
enum record_is miopen_gemm(struct miopen_command *c, struct library_key *k);
/* bnorm, softmax, activ, lrn */
enum record_is miopen_pointwise(struct miopen_command *c, struct library_key *k);
/* Any other verb: its options by name. */
enum record_is miopen_other(struct miopen_command *c, struct library_key *k);

#endif
