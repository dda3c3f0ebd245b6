/*
 * convert: a model written as a file of some trace format. The registry is
 * analysis/report/convert/converters_private.h.
 *
 * A converter writes all that its format has a place for and counts the rest, so that nothing is
 * lost in silence. Formats that can hold a whole model (tef, otf2) hold it so that reading the
 * file gives an equal one: beside what every viewer understands they carry what it lacks (kinds,
 * correlations, hosts, units …) in a form that only profrig's reader looks at (analysis/readers/
 * native.h has it).
 *
 * Converters never change the model. A file appears whole or not at all: it is written beside its
 * place and renamed; so is a directory, and one that is there already is replaced only when profrig
 * wrote it.
 */
#ifndef PROFRIG_CONVERT_H
#define PROFRIG_CONVERT_H

#include "profrig/base/err.h"
#include "profrig/base/table.h"
#include "profrig/model/model.h"

struct convert_job {
	const struct model *model; /* finished, of one input (replay.h) */
	/* the analysis "callpaths" of it; NULL unless the converter wants_paths */
	const struct table *callpaths;
	const char *path; /* to be written, with its suffix */
	/*
	 * 0: one file. Else several, of at most about so many bytes of text each (before they are
	 * compressed): path with -0, -1, … before its suffix. Each stands for itself in a viewer;
	 * together they hold every event once, each in the part where it starts.
	 */
	uint64_t split_bytes;
};

struct convert_result {
	uint64_t files, bytes; /* written; bytes as they lie on disk */
	char *first;           /* path of the first file, owned */
	/* What the format has no place for. */
	uint64_t spans_out, samples_out, links_out;
	uint64_t links_between; /* links from one part to another, which no part can hold */
	char *stale; /* a file that is called like the next part and is older than these, owned */
};

struct converter {
	const char *name;
	const char *about;
	const char *const *suffixes; /* NULL-terminated, longest first: ".json.gz", ".json" */
	bool wants_paths, splits;
	int (*write)(const struct convert_job *job, struct convert_result *ret, struct err *err);
};

extern const struct converter *const converters[]; /* NULL-terminated */

/* By the suffix of a path, NULL when none has it. */
const struct converter *converter_of(const char *path);
const struct converter *converter_find(const char *name);
void convert_result_release(struct convert_result *r);

#endif
