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
/* After a reader that failed: what it has set of an input that it did not end. */
void sink_log_failed(struct sink_log *log);
/* Borrowed. NULL: a reader began anew, or the log became larger than SINK_LOG_MAX. */
#define SINK_LOG_MAX ((size_t)8 << 30)
const char *sink_log_bytes(const struct sink_log *log, size_t *ret_n);
int sink_log_play(const char *bytes, size_t n, struct model *m, struct err *err);
/*
 * Appends a log without its spans, their facts and links to `to`: inputs, tracks, series, samples,
 * devices, the job, warnings, calls of libraries. ret: the writer's numbers of tracks that have
 * spans, ascending; as many tracks as it has numbers are made when the result is played.
 */
struct sink_log_tracks {
	VEC(uint32_t) v;
};
int sink_log_definitions(const char *bytes, size_t n, struct strbuf *to,
			 struct sink_log_tracks *ret, struct err *err);
/* As sink_log_play. ret: the model's tracks by the writer's numbers. */
int sink_log_play_tracks(const char *bytes, size_t n, struct model *m, struct sink_log_tracks *ret,
			 struct err *err);

#endif
