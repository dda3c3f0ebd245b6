#include "control_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"

/* --- the flag that profrig's tracers read --- */

/*
 * Written with pwrite and not through the mapping, which only gives the address to wake: the
 * workload may have emptied the file, and the write restores it.
 */
static void flag_write(const struct control *c)
{
	ssize_t n = pwrite(c->flag_fd, &c->flag_is, sizeof(c->flag_is), 0);

	if (n != (ssize_t)sizeof(c->flag_is))
		log_warn("'" CONTROL_FLAG "': tracers are not reached: %s",
			 n < 0 ? strerror(errno) : "the disk is full");
}

/* Allocates blocks: a mapping over a hole would kill the workload when the disk is full. */
static int flag_open(struct control *c, struct err *err)
{
	static const char zeros[CONTROL_FLAG_BYTES];
	CLEANUP(xfreep) char *path = fs_join(c->rn->pl->run_dir, CONTROL_FLAG);
	CLEANUP(xclosep)
	int fd = door_open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	void *map;

	if (fd < 0 || write(fd, zeros, sizeof(zeros)) != (ssize_t)sizeof(zeros))
		return err_sys(err, errno, "cannot make '%s'", path);
	map = mmap(NULL, CONTROL_FLAG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "cannot map '%s'", path);
	c->flag = map;
	c->flag_fd = fd;
	fd = -1;
	c->flag_is = (struct control_flag){ .on = !c->rn->pl->starts_paused };
	flag_write(c);
	return 0;
}

static void flag_set(struct control *c, bool on)
{
	if (!c->flag)
		return;
	c->flag_is.on = on;
	c->flag_is.changes++;
	flag_write(c);
	syscall(SYS_futex, &c->flag->on, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void flag_close(struct control *c)
{
	CLEANUP(xfreep) char *path = fs_join(c->rn->pl->run_dir, CONTROL_FLAG);

	if (c->flag)
		munmap(c->flag, CONTROL_FLAG_BYTES);
	c->flag = NULL;
	xclosep(&c->flag_fd);
	door_unlink(path);
}

/* --- pipes --- */

/* Open for reading and writing, so that the tool may start later or be gone. */
static int pipe_open(const char *path, int *ret, struct err *err)
{
	if (door_mkfifo(path, 0600) < 0)
		return err_sys(err, errno, "cannot make '%s'", path);
	*ret = door_open_fifo(path, O_RDWR);
	return *ret < 0 ? err_sys(err, errno, "cannot open '%s'", path) : 0;
}

static int switch_open(struct tool_switch *ts, struct err *err)
{
	const struct plan_control *pc = ts->plan;
	int r;

	if (pc->kind != TOOL_CONTROL_FIFO)
		return 0;
	r = pipe_open(pc->fifo, &ts->fifo, err);
	return r == 0 && pc->ack ? pipe_open(pc->ack, &ts->ack, err) : r;
}

int switches_open(struct control *c, struct err *err)
{
	const struct plan *pl = c->rn->pl;
	int r = flag_open(c, err);

	for (size_t i = 0; r == 0 && i < pl->controls.nr; i++) {
		struct tool_switch ts = { .plan = &pl->controls.v[i], .fifo = -1, .ack = -1 };

		ts.state = ts.plan->kind == TOOL_CONTROL_NONE ? SWITCH_ALWAYS
			   : pl->starts_paused                ? SWITCH_OFF
							      : SWITCH_ON;
		r = switch_open(&ts, err);
		VEC_PUSH(&c->tools, ts);
	}
	return r;
}

void switches_close(struct control *c)
{
	for (size_t i = 0; i < c->tools.nr; i++) {
		struct tool_switch *ts = &c->tools.v[i];

		xclosep(&ts->fifo);
		xclosep(&ts->ack);
		if (ts->plan->fifo)
			door_unlink(ts->plan->fifo);
		if (ts->plan->ack)
			door_unlink(ts->plan->ack);
	}
	VEC_RELEASE(&c->tools);
	flag_close(c);
}

static void drain_ack(int fd)
{
	char buf[256];

	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
}

static void write_lines(struct tool_switch *ts, const struct strvec *lines)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	/* Late answers belong to an earlier request. */
	drain_ack(ts->ack);
	for (size_t i = 0; i < lines->nr; i++)
		strbuf_addf(&sb, "%s\n", lines->v[i]);
	if (write(ts->fifo, sb.buf, sb.len) != (ssize_t)sb.len) {
		ts->state = SWITCH_SILENT;
		snprintf(ts->why, sizeof(ts->why), "its pipe takes no more: it does not listen");
	} else {
		ts->state = ts->ack >= 0 ? SWITCH_ASKED : ts->want ? SWITCH_ON : SWITCH_OFF;
	}
}

/* --- all tools --- */

static void ask_switch(struct control *c, struct tool_switch *ts, bool on)
{
	ts->want = on;
	ts->why[0] = '\0';
	switch (ts->plan->kind) {
	case TOOL_CONTROL_NONE:
		break;
	case TOOL_CONTROL_FLAG:
		ts->state = on ? SWITCH_ON : SWITCH_OFF;
		break;
	case TOOL_CONTROL_FIFO:
		write_lines(ts, on ? &ts->plan->on : &ts->plan->off);
		break;
	case TOOL_CONTROL_SCRIPT:
	case TOOL_CONTROL_COMMAND:
		ts->id = CONTROL_FIRST_ID + c->next_id++;
		ts->sent = false;
		ts->state = SWITCH_ASKED;
		break;
	}
}

void switches_ask(struct control *c, bool on)
{
	flag_set(c, on);
	for (size_t i = 0; i < c->tools.nr; i++)
		ask_switch(c, &c->tools.v[i], on);
}

bool switches_answered(struct control *c)
{
	bool all = true;

	for (size_t i = 0; i < c->tools.nr; i++) {
		struct tool_switch *ts = &c->tools.v[i];
		char buf[256];

		if (ts->state == SWITCH_ASKED && ts->ack >= 0 &&
		    read(ts->ack, buf, sizeof(buf)) > 0)
			ts->state = ts->want ? SWITCH_ON : SWITCH_OFF;
		all &= ts->state != SWITCH_ASKED;
	}
	return all;
}

void switches_give_up(struct control *c)
{
	for (size_t i = 0; i < c->tools.nr; i++) {
		struct tool_switch *ts = &c->tools.v[i];

		if (ts->state != SWITCH_ASKED)
			continue;
		ts->state = SWITCH_SILENT;
		ts->id = 0;
		snprintf(ts->why, sizeof(ts->why), "no answer to %s within %d s",
			 ts->want ? "start" : "stop", CONTROL_SWITCH_S);
	}
}

const char *switch_word(const struct tool_switch *ts)
{
	switch (ts->state) {
	case SWITCH_ALWAYS:
		return "always";
	case SWITCH_ON:
		return "recording";
	case SWITCH_OFF:
		return "paused";
	case SWITCH_ASKED:
		return "switching";
	case SWITCH_SILENT:
		break;
	}
	return "no answer";
}
