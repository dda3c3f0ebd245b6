/*
 * sink_log: what a reader pushes, as bytes, so that one process reads a file and another one's
 * model gets it. The model is then the same as if the other process had read the file itself.
 *
 *	struct sink_log *log = sink_log_new("node3", false);	host: of a run directory, or NULL
 *	reader_read(reader, path, sink_log_sink(log), &opts, &err);
 *	bytes = sink_log_bytes(log, &n);			NULL: it cannot be told in bytes
 *	…
 *	sink_log_play(bytes, n, m, &err);		in the other process
 *	sink_log_free(log);
 *
 * The reader gets the ids of a counting model (counts.h), and the log has every call with these
 * ids; playing translates them. Memory of the writer: the log, about 15 bytes a span, and what a
 * counting model takes.
 *
 * A log belongs to one program on one kind of machine, as serial.h has it. A damaged one is
 * -EBADMSG; a part of it is in the model then.
 */
#ifndef PROFRIG_SINK_LOG_H
#define PROFRIG_SINK_LOG_H

#include "profrig/base/err.h"
#include "profrig/model/sink.h"

struct sink_log;

/* host, everywhere: as model_set_default_host. */
struct sink_log *sink_log_new(const char *host, bool everywhere);
void sink_log_free(struct sink_log *log); /* NULL is fine */
void sink_log_freep(struct sink_log **log);
struct sink *sink_log_sink(struct sink_log *log);
/* Borrowed. NULL: a reader began anew, or the log became larger than SINK_LOG_MAX. */
#define SINK_LOG_MAX ((size_t)8 << 30)
const char *sink_log_bytes(const struct sink_log *log, size_t *ret_n);
int sink_log_play(const char *bytes, size_t n, struct model *m, struct err *err);

#endif
