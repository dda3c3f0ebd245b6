/*
 * control: requests to a live run: switch recording on and off, set marks.
 *
 * Every run listens on <run directory>/control.sock (Unix stream socket, mode 0600; peers are the
 * owner or root), and reads marks from <run directory>/marks, the workload's $PROFRIG_MARK. Both
 * are removed at the end of the run. The socket is bound and reached through /proc/self/fd, so that
 * the 108 bytes of sun_path do not limit the folder's path.
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
 * Recording is held: every start adds a hold, every stop removes one, and switchable tools record
 * while there is any. start and stop are answered when the tools have switched, or after
 * CONTROL_SWITCH_S without that. A window begins when the last tool is on and ends when the first
 * is switched off, so all of it was recorded.
 *
 * Bounds: CONTROL_MAX_CLIENTS at a time, a client that sends no whole request for
 * CONTROL_PATIENCE_S or does not read its answer is disconnected, CONTROL_MAX_HOLDS holds,
 * CONTROL_MAX_WINDOWS windows, CONTROL_MAX_MARKS marks (more are counted). A separate thread serves
 * clients: neither a client nor a slow tool delays the run.
 *
 * A line of the marks file is a NAME, or "@T NAME" with T of CLOCK_MONOTONIC in ns. Without T the
 * time of a mark is the file's mtime, a tick of the kernel's clock (some ms); the mark may have
 * been made up to uncertainty_ns earlier. Of several lines found in one read (every 20 ms) the
 * earlier ones may be as old as the read before; with an implausible mtime all of them.
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
 * <run directory>/record.flag, the workload's $PROFRIG_RECORD: tracers inside the workload check it
 * before they write (tracers/record.h has the same). All map it shared; on is also a futex that is
 * woken at every change.
 */
struct control_flag {
	uint32_t on; /* 1 recording, 0 paused */
	uint32_t changes;
};
#define CONTROL_FLAG_BYTES 4096

/*
 * The directory of a live run, owned: a directory, "latest" or an id, or the six digits an id ends
 * with, in runs_dir (NULL: ./runs) or anywhere else on this machine, by the registry of live runs.
 * -ENOENT with err when there is none.
 */
int control_find(const char *word, const char *runs_dir, char **ret_dir, struct err *err);

/*
 * One request (the reference is taken over), one answer (owned). -ECONNREFUSED or -ENOENT: the run
 * is over; -EACCES; -ETIMEDOUT; -EPROTO: an unreadable answer. A refusal is an answer: 0.
 */
int control_ask(const char *run_dir, json_t *request, int timeout_ms, json_t **ret,
		struct err *err);

/* Appends a mark, as the workload does. Never waits. */
int control_mark_file(const char *path, const char *name, int64_t t_ns, struct err *err);

#endif
