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
};

/* Reads one file or archive, unless it was read before or another format of it is read. */
void reading_input(struct reading *rd, const char *path, const struct reader *reader);
/* Notes an input that cannot be read and keeps it in the model as a partial one. */
void reading_failed(struct reading *rd, const char *path, const char *why);
/* Reads a run directory (read_run.c). */
void reading_run(struct reading *rd, const char *dir);

#endif
