/*
 * convert: a model written as a file of some trace format. The registry is
 * analysis/report/convert/converters_private.h.
 *
 * A converter writes everything that its format can hold and counts the rest, so that nothing is
 * lost in silence. Formats that can hold a whole model (tef, otf2) hold it so that reading the file
 * gives an equal one: beside the parts that every viewer understands they carry the rest (kinds,
 * correlations, hosts, units …) in a form that only profrig's reader uses (native.h).
 *
 * Converters never change the model. A file or directory appears whole or not at all: it is written
 * under a temporary name and renamed. An existing directory is replaced only when profrig wrote it.
 */
#ifndef PROFRIG_CONVERT_H
#define PROFRIG_CONVERT_H

#include "profrig/base/err.h"
#include "profrig/base/table.h"
#include "profrig/model/model.h"

struct convert_job {
	const struct model *model; /* finished, of one input (replay.h) */
	/* table of the analysis "callpaths"; NULL unless the converter wants_paths */
	const struct table *callpaths;
	const char *path; /* to be written, with its suffix */
	/*
	 * 0: one file. Else several, of at most about so many bytes of text each (before
	 * compression): path with -0, -1, … before its suffix. A viewer can open each alone;
	 * together they hold every event once, in the part where it starts.
	 */
	uint64_t split_bytes;
};

struct convert_result {
	uint64_t files, bytes; /* written; bytes on disk */
	char *first;           /* path of the first file, owned */
	/* records that the format cannot hold */
	uint64_t spans_out, samples_out, links_out;
	uint64_t links_between; /* links between two parts, which no part can hold */
	char *stale;            /* an older file with the name of the next part, owned */
};

struct converter {
	const char *name;
	const char *about;
	const char *const *suffixes; /* NULL-terminated, longest first: ".json.gz", ".json" */
	bool wants_paths, splits;
	bool ranks; /* a file for each rank: convert_rank_path */
	int (*write)(const struct convert_job *job, struct convert_result *ret, struct err *err);
};

extern const struct converter *const converters[]; /* NULL-terminated */

/* By the suffix of a path, NULL when none has it. */
const struct converter *converter_of(const char *path);
const struct converter *converter_find(const char *name);
/* OUT.pt.trace.json.gz, 3 → OUT_worker_3.pt.trace.json.gz; owned. */
char *convert_rank_path(const char *path, int64_t rank);
void convert_result_release(struct convert_result *r);

#endif
