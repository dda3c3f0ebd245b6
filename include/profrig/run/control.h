/*
 * control: a live run is spoken to: recording is switched on and off, moments are marked.
 *
 * Every run listens on <run directory>/control.sock (Unix stream socket, mode 0600; peers are the
 * owner or root), and reads marks from <run directory>/marks, which the workload knows as
 * $PROFRIG_MARK. Both are gone when the run is over. The folder may lie deep: the socket is bound
 * and reached through /proc/self/fd, so that the 108 bytes of sun_path are no limit.
 *
 * Protocol: one JSON object a line, at most CONTROL_MAX_LINE bytes, one answer per request.
 *	{"op":"start","name":"epoch 3","by":"ann"}
 *		the name of the window and of the client: both may be left out
 *	{"op":"stop","by":"ann"}
 *		by: only a hold of theirs; left out: the last
 *	{"op":"mark","name":"epoch 3","t_ns":…,"by":…}
 *		t_ns: CLOCK_MONOTONIC where it was made
 *	{"op":"status"}
 * Answers:
 *	{"ok":false,"error":"recording is not held by 'ann'"}
 *	{"ok":true,"run":"<id>","phase":"workload","recording":true,
 *	 "holds":[{"by":"ann","since_ns":…}],"windows":N,"marks":N,"t_ns":…,
 *	 "tools":[{"tool":"perf","state":"recording|paused|always|no answer","why":…}]}
 *
 * Recording is held: every start adds a hold, every stop takes one away, and what can be switched
 * records while there is any. An answer to start or stop comes when the tools have switched, or
 * were given up on after CONTROL_SWITCH_S. A window is the time between: from when the last tool
 * was on to when the first was switched off, so all of it was recorded.
 *
 * Bounds: CONTROL_MAX_CLIENTS at a time, one that sends no whole request for CONTROL_PATIENCE_S or
 * does not take its answer is cut off, CONTROL_MAX_HOLDS holds, CONTROL_MAX_WINDOWS windows,
 * CONTROL_MAX_MARKS marks (more are counted). A thread of its own serves them all: no client, and
 * no tool that is slow to switch, delays the run.
 *
 * A line of the marks file is a NAME, or "@T NAME" with T of CLOCK_MONOTONIC in ns. Without T a
 * mark has the time when the file was last written, as its mtime tells; that is a tick of the
 * kernel's clock (some ms), and so much, uncertainty_ns, before may the mark have been made. Of
 * several lines that are found at one look (every 20 ms) the earlier ones may be as old as the look
 * before; where the mtime cannot be right all of them.
 */
#ifndef PROFRIG_CONTROL_H
#define PROFRIG_CONTROL_H

#include <jansson.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define CONTROL_SOCKET "control.sock"
#define CONTROL_MARKS "marks"
#define CONTROL_FLAG "record.flag"
#define CONTROL_MAX_LINE ((size_t)4096)
#define CONTROL_MAX_CLIENTS 16
#define CONTROL_MAX_HOLDS 64
#define CONTROL_MAX_WINDOWS 1000
#define CONTROL_MAX_MARKS 10000
#define CONTROL_MAX_NAME ((size_t)127)
#define CONTROL_PATIENCE_S 10
#define CONTROL_SWITCH_S 5

/*
 * <run directory>/record.flag, which the workload knows as $PROFRIG_RECORD: what tracers inside it
 * look at before they write (tracers/record.h has the same). Mapped shared by all; on is also a
 * futex that is woken at every change.
 */
struct control_flag {
	uint32_t on; /* 1 recording, 0 paused */
	uint32_t changes;
};
#define CONTROL_FLAG_BYTES 4096

/*
 * The directory of a live run, owned: a directory, "latest" or an id, or the six digits an id ends
 * with, in runs_dir (NULL: ./runs) or anywhere else on this machine, as the registry of live runs
 * knows them. -ENOENT with words when there is none.
 */
int control_find(const char *word, const char *runs_dir, char **ret_dir, struct err *err);

/*
 * One request (the reference is taken over), one answer (owned). -ECONNREFUSED or -ENOENT: the run
 * is over; -EACCES; -ETIMEDOUT; -EPROTO: no answer that can be read. An answer that says no is 0.
 */
int control_ask(const char *run_dir, json_t *request, int timeout_ms, json_t **ret,
		struct err *err);

/* Appends a mark, as the workload does. Never waits. */
int control_mark_file(const char *path, const char *name, int64_t t_ns, struct err *err);

#endif
