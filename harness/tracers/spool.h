/*
 * spool: the file a tracer inside the workload writes to (Trace Event Format, append-only).
 *
 * One file per process, <dir>/<tracer>-<pid>.json, made at the first event: "[" then one event per
 * line. It is a shared mapping: what a call wrote is in the page cache when the call returns, so
 * kill -9 loses nothing; the array is never closed and unused space at the end is NUL bytes (a
 * clean exit cuts them off). Threads reserve room with one atomic add and copy their line in;
 * there is no wait except while the file grows. After fork the child begins its own file. Space is
 * allocated before it is mapped, so a full disk ends tracing (one line on stderr, events are
 * counted as dropped) and not the workload.
 *
 * Nothing newer than glibc 2.17 is used, so the libraries load in old images.
 */
#ifndef PROFRIG_SPOOL_H
#define PROFRIG_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_LINE 1024 /* room for one event */

/*
 * tracer: "blas"; env_dir: name of the environment variable that holds the folder. Once per
 * library, from its constructor.
 */
void spool_setup(const char *tracer, const char *env_dir);
/*
 * False when there is no folder or the file could not be made: then the tracer only passes calls
 * on.
 */
bool spool_enabled(void);

int64_t spool_now_ns(void);

/*
 * One line under construction, on the caller's stack. Text beyond SPOOL_LINE is cut inside strings
 * only, so a line stays valid JSON.
 */
struct spool_line {
	size_t len;
	bool comma, args;
	char buf[SPOOL_LINE];
};

/* {"ph":"X","pid":…,"tid":…,"ts":…  — and "dur" when dur_ns >= 0. */
void spool_begin(struct spool_line *l, char ph, int64_t ts_ns, int64_t dur_ns);
void spool_str(struct spool_line *l, const char *key, const char *value); /* ,"key":"escaped" */
void spool_int(struct spool_line *l, const char *key, int64_t value);     /* ,"key":123 */
void spool_args(struct spool_line *l);   /* ,"args":{ and the next member has no comma */
void spool_commit(struct spool_line *l); /* closes open spans and appends */

#endif
