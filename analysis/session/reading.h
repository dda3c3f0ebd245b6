/* State of reading inputs into a model, shared by inputs.c and read_run.c. */
#ifndef PROFRIG_READING_H
#define PROFRIG_READING_H

#include "format_duplicates.h"
#include "seen_inputs.h"
#include "session_private.h"
#include "shared_reading.h"

#include "profrig/base/workers.h"
#include "profrig/model/timebase.h"

struct reading {
	struct session *s;
	struct model *m; /* of s */
	struct workers *workers;
	struct timebase tb; /* of the run that is read */
	struct seen_inputs seen;
	struct format_duplicates duplicates;
	struct shared_reading share;
	/* inputs whose kernels have no times (reader.order_only): behind all others */
	VEC(struct later_input {
		char *path;
		const struct reader *reader;
	}) later;
	bool join, as_it_is; /* they are joined with kernels; some were not, as there were none */
	/* files of such readers, and all others; where ranks share them a first walk counts them */
	size_t ordered, timed;
	bool counting;
	struct hlo_programs *programs; /* of dumps of compilers; NULL: none yet; owned by s */
	size_t dumps;
};

/* Reads one file or archive, unless it was read before or another format of it is read. */
void reading_input(struct reading *rd, const char *path, const struct reader *reader);
/*
 * Reads what was put off: counters go to the kernels read so far, where there are any. For the
 * inputs of a run while its clocks and host are set.
 */
void reading_later(struct reading *rd);
/* Reads a dump of a compiler; false: the file is none. */
bool reading_dump(struct reading *rd, const char *path);
/* Notes an input that cannot be read and keeps it in the model as a partial one. */
void reading_failed(struct reading *rd, const char *path, const char *why);
/* Reads a run directory (read_run.c). */
void reading_run(struct reading *rd, const char *dir);

#endif
