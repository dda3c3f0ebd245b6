/*
 * unpacked: archives among the inputs of a command, unpacked into a folder of this process's own
 * below $TMPDIR, which also a signal removes.
 *
 *	CLEANUP(unpacking_release) struct unpacking u = UNPACKING_INIT;
 *	code = inputs_unpack(c, &inputs, &u);		0, or an exit code after a message
 *	…						inputs has run directories and folders now
 */
#ifndef CLI_UNPACKED_H
#define CLI_UNPACKED_H

#include "cli.h"

struct unpacking {
	char *dir;    /* NULL: no input is an archive */
	size_t nr;    /* archives */
	bool missing; /* something of them is not read: the result is partial */
};
/* clang-format off */
#define UNPACKING_INIT { NULL, 0, false }
/* clang-format on */

int inputs_unpack(const struct command *c, struct strvec *inputs, struct unpacking *u);
/* The exit code of a command that ended with `code`. */
int unpacking_code(const struct unpacking *u, int code);
void unpacking_release(struct unpacking *u);

#endif
