#include "html_private.h"
#include "table_json.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define TAIL_LINES 40
#define TAIL_BYTES 16384
#define MAX_LOGS 4

static bool step_failed(const json_t *step)
{
	const json_t *code = json_object_get(step, "exit_code");

	if (json_is_string(json_object_get(step, "signal")))
		return true;
	return json_is_number(code) && json_number_value(code) != 0;
}

/* The last lines of a buffer; a first line that the byte limit cut is dropped unless it is the only
 * one. */
static char *last_lines(char *s, size_t n, bool cut)
{
	size_t start = 0, at;

	while (n > 0 && s[n - 1] == '\n')
		n--;
	at = n;
	for (size_t lines = 0; lines < TAIL_LINES; lines++) {
		const char *nl = memrchr(s, '\n', at);

		start = nl ? (size_t)(nl - s) + 1 : 0;
		if (!nl)
			break;
		at = (size_t)(nl - s);
	}
	if (start == 0 && cut) {
		const char *nl = memchr(s, '\n', n);

		start = nl ? (size_t)(nl - s) + 1 : 0;
	}
	for (size_t i = start; i < n; i++)
		if (s[i] == '\0')
			s[i] = ' ';
	return xstrndup(s + start, n - start);
}

/*
 * Only plain files of the run's own steps folder: paths in run.json are not trusted, and a pipe
 * must not block.
 */
static void read_tail(const char *run_dir, const char *said, struct html_tail *ret)
{
	const char *base = fs_base(said);
	CLEANUP(xfreep) char *file = xasprintf("steps/%s", base);
	CLEANUP(xfreep) char *path = fs_join(run_dir, file);
	CLEANUP(xclosep) int fd = -1;
	char *buf;
	struct stat st;
	off_t from;
	ssize_t n;

	if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		return;
	fd = door_open(path, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return;
	from = st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0;
	buf = xmalloc(TAIL_BYTES);
	n = pread(fd, buf, TAIL_BYTES, from);
	if (n > 0) {
		ret->text = last_lines(buf, (size_t)n, from > 0);
		ret->file = STEAL(file);
		ret->bytes = st.st_size;
	}
	free(buf);
}

static void add_step(struct html_logs *l, const char *run_dir, const json_t *step)
{
	struct html_log log = { .step = xstrdup(json_text_at(step, "name")) };

	for (size_t i = 0; i < l->v.nr; i++) {
		if (strcmp(l->v.v[i].step, log.step) == 0) {
			char *other = xasprintf("%s (step %zu)", log.step, l->v.nr + 1);

			free(log.step);
			log.step = other;
			break;
		}
	}
	read_tail(run_dir, json_text_at(step, "out"), &log.out);
	read_tail(run_dir, json_text_at(step, "err"), &log.err);
	VEC_PUSH(&l->v, log);
}

static bool wants_logs(const json_t *run)
{
	const char *status = json_text_at(run, "status");

	return *status && strcmp(status, "success") != 0 && strcmp(status, "partial") != 0 &&
	       strcmp(status, "planned") != 0;
}

static bool is_workload(const json_t *step)
{
	return strcmp(json_text_at(step, "name"), "workload") == 0;
}

void html_logs_read(const struct report *r, const json_t *run, struct html_logs *ret)
{
	const json_t *steps = json_object_get(run, "steps"), *step, *last = NULL;
	size_t i;

	*ret = (struct html_logs){ VEC_INIT };
	if (!r->run_dir || !wants_logs(run) || door_hold(r->run_dir, NULL) < 0)
		return;
	json_array_foreach((json_t *)steps, i, step)
	{
		if (step_failed(step) && ret->v.nr < MAX_LOGS)
			add_step(ret, r->run_dir, step);
		/* No step failed (an empty output, a kill of profrig itself): the workload's
		 * output, else that of the last step. */
		if (is_workload(step) ||
		    (json_number_value(json_object_get(step, "started_ns")) > 0 &&
		     (!last || !is_workload(last))))
			last = step;
	}
	if (ret->v.nr == 0 && last)
		add_step(ret, r->run_dir, last);
	door_let_go(r->run_dir);
}

void html_logs_release(struct html_logs *l)
{
	for (size_t i = 0; i < l->v.nr; i++) {
		struct html_log *log = &l->v.v[i];

		free(log->step);
		free(log->out.file);
		free(log->out.text);
		free(log->err.file);
		free(log->err.text);
	}
	VEC_RELEASE(&l->v);
}
