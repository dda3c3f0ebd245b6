/* compare_file: an output of `lib compare`, which is there whole or not at all. */
#ifndef CLI_COMPARE_FILE_H
#define CLI_COMPARE_FILE_H

#include <stdio.h>

typedef void compare_write_fn(const void *ctx, FILE *f);

/* 0, or 4 after saying why it cannot be written. */
int compare_file_write(const char *path, compare_write_fn *fn, const void *ctx);

#endif
