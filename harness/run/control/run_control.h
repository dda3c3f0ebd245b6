/*
 * run_control: what the rest of run/ calls while commands and the workload speak to a live run. The
 * protocol and its limits: profrig/run/control.h; the parts: control_priv.h. All calls are of the
 * run's thread.
 */
#ifndef RUN_CONTROL_H
#define RUN_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct json_out;
struct run;

/* From when the run directory is there. A failure is a warning: the run goes without. */
void control_open(struct run *rn);
/* Sends queued requests to the agent; called in the run's loop. */
void control_pump(struct run *rn);
/* Whether an event of the agent was an answer to that. */
bool control_event(struct run *rn, const json_t *ev);
/* The run's waiting for the agent ends when there is something to pump. */
void control_attach(struct run *rn);
/* The workload is another user than we are. */
void control_share(struct run *rn);
void control_started(struct run *rn, int64_t t_ns);
void control_ended(struct run *rn, int64_t t_ns);
/* Ends it; results are in rn->record. */
void control_close(struct run *rn);
/* run.json: windows and marks so far. */
void run_record_json(struct json_out *j, const struct run *rn);

#endif
