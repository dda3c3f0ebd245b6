/*
 * out_file: a file that is written as a stream and appears whole or not at all.
 *
 *	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
 *	out_file_open(dir, "tables/busy.csv", &o, err);		makes the folder as well
 *	table_write_csv(t, o.f);
 *	return out_file_commit(&o, err);			or out_file_drop: nothing remains
 *
 * The error is that of the first failed write; after it nothing is written. The stream cannot seek
 * and has no descriptor.
 */
#ifndef PROFRIG_OUT_FILE_H
#define PROFRIG_OUT_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "profrig/base/err.h"

struct out_sink;

struct out_file {
	FILE *f;
	struct out_sink *sink;
	char *path, *temp;
	uint64_t bytes; /* that were written, after commit */
};
/* clang-format off */
#define OUT_FILE_INIT { NULL, NULL, NULL, NULL, 0 }
/* clang-format on */

int out_file_open(const char *dir, const char *name, struct out_file *ret, struct err *err);
int out_file_commit(struct out_file *o, struct err *err);
void out_file_drop(struct out_file *o);

#endif
