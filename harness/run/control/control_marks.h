/*
 * control_marks: the file into which a workload writes its marks (control.h). A plain file and no
 * fifo: appending to it never blocks, also without a reader.
 *
 *	marks_open(&mf, path)		makes it
 *	marks_read(&mf, …)		new lines; returns whether there are more. Called
 *					periodically, without inotify: to end a watch blocks its
 *					owner for 15 ms, more than the whole cost of a run
 *	marks_close(&mf)		removes it
 */
#ifndef CONTROL_MARKS_H
#define CONTROL_MARKS_H

#include "record_state.h"

#include <sys/types.h>

#include "profrig/base/strbuf.h"

struct marks_file {
	int fd;
	char *path;
	off_t at;
	struct strbuf line;
	int64_t begin_ns;   /* no mark is from before */
	int64_t looked_ns;  /* all that was there before has been read */
	uint64_t bad_times; /* T that cannot be */
};
#define MARKS_FILE_INIT \
	{ \
		.fd = -1, .line = STRBUF_INIT \
	}

typedef void mark_fn(void *ctx, const struct record_mark *m);

int marks_open(struct marks_file *mf, const char *path, int64_t begin_ns, struct err *err);
/* last: also a line that does not end. */
bool marks_read(struct marks_file *mf, bool last, mark_fn *fn, void *ctx);
void marks_close(struct marks_file *mf);

#endif
