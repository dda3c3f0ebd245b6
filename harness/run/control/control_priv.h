/*
 * control_priv: the parts of a run's control (for others: control.h).
 *
 *	control.c		its thread: turns, timers, switching as a whole
 *	control_clients.c	connections, and the answers to their requests
 *	control_switch.c	switching the tools of one run
 *	control_marks.c		the file with the workload's marks
 *	control_ask.c		the other end, for commands
 *	record_state.c		holds, windows, marks
 *
 * Two threads: the run's (which talks to the agent, and so starts programs where the workload runs)
 * and the control's. `lock` protects shared data. Neither thread waits for the other: the control
 * queues work for the run's thread, which takes it at its next control_pump.
 */
#ifndef CONTROL_PRIV_H
#define CONTROL_PRIV_H

#include "control_marks.h"
#include "run_control.h"
#include "run_priv.h"

#include <pthread.h>
#include <stdatomic.h>

/* Steps beside the workload have ids from here on. */
#define CONTROL_FIRST_ID INT64_C(1000000)

enum switch_state {
	SWITCH_ALWAYS, /* it cannot be switched */
	SWITCH_ON,
	SWITCH_OFF,
	SWITCH_ASKED,
	SWITCH_SILENT, /* it did not answer, or refused */
};

struct tool_switch {
	const struct plan_control *plan;
	enum switch_state state;
	bool want;
	int fifo, ack;
	int64_t id;    /* of the requested step, 0 none */
	bool sent;     /* to the agent */
	char why[160]; /* of SILENT */
};

struct control_client {
	int fd; /* -1: the place is free */
	struct strbuf in;
	int64_t until_ns; /* to have sent a whole request */
	bool waits;       /* for tools to switch */
};

struct control {
	struct run *rn;
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;
	int wake[2];     /* [0] wakes the control's thread */
	int wake_run[2]; /* [0] the run's, while it waits for the agent */
	int listen, dir; /* the socket, and its folder */
	struct control_client clients[CONTROL_MAX_CLIENTS];
	struct marks_file marks;
	struct control_flag *flag; /* only its address is used (flag_write) */
	struct control_flag flag_is;
	int flag_fd;

	/* under lock */
	struct record_state state;
	VEC(struct tool_switch) tools;
	bool live;      /* the workload runs */
	bool over;      /* it has ended */
	bool recording; /* the last state sent to the tools */
	bool switching; /* they have not all answered */
	bool stop;      /* the thread shall end */
	int64_t started_ns, give_up_ns, next_id;
	int64_t after_ns, until_ns; /* the configuration's hold begins, ends; 0 never */
	char name[CONTROL_MAX_NAME + 1], by[CONTROL_MAX_NAME + 1]; /* of the window to come */
};

/* --- control.c; all with the lock held --- */

/* A client holds or lets go: tools are switched when that changes anything. */
void control_settle(struct control *c);
void control_take_mark(struct control *c, const struct record_mark *m);

/* --- control_switch.c --- */

int switches_open(struct control *c, struct err *err);
void switches_close(struct control *c);
/* Switches all tools; those that answer later are ASKED. */
void switches_ask(struct control *c, bool on);
/* Reads answers. Returns whether all have come. */
bool switches_answered(struct control *c);
void switches_give_up(struct control *c);
const char *switch_word(const struct tool_switch *ts);

/* --- control_clients.c --- */

int clients_open(struct control *c, struct err *err);
void clients_close(struct control *c);
/* fds: CONTROL_MAX_CLIENTS + 1 of them, the listening one last. */
void clients_poll(const struct control *c, struct pollfd *fds);
void clients_serve(struct control *c, const struct pollfd *fds);
/* When the first of them has waited too long; INT64_MAX never. */
int64_t clients_deadline(const struct control *c);
/* The tools have switched. */
void clients_answer(struct control *c);

#endif
