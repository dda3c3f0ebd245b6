#include "scheduler.h"

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/xalloc.h"

#define RECORD_MAX ((size_t)16 << 20)

#define SCHEDULER_ROW(n) &scheduler_##n,
const struct scheduler *const schedulers[] = { SCHEDULERS(SCHEDULER_ROW) NULL };

const struct scheduler *scheduler_find(const char *name)
{
	for (size_t i = 0; schedulers[i]; i++)
		if (!strcmp(schedulers[i]->name, name))
			return schedulers[i];
	return NULL;
}

const char *sched_state_word(enum sched_state state)
{
	static const char *const words[] = { "submitting", "pending", "running",
					     "ended",      "lost",    "refused" };

	return words[state];
}

const char *sched_class_word(enum sched_class class)
{
	static const char *const words[] = { "", "ok", "infrastructure", "workload", "cancelled" };

	return words[class];
}

bool sched_name_ok(const char *name, size_t max)
{
	size_t n = strlen(name);

	if (n == 0 || n > max || *name == '.' || *name == '-')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._-", *name))
			return false;
	return true;
}

/* A record that is being written is no JSON yet, or says running. */
static bool record_ended(int dir, const char *rel)
{
	CLEANUP(xclosep) int fd = door_open_beneath(dir, rel, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0, cap = 1 << 16;
	ssize_t got;
	json_t *all;
	const char *status;
	bool ended;

	if (fd < 0)
		return false;
	text = xmalloc(cap);
	while ((got = read(fd, text + n, cap - n)) > 0) {
		n += (size_t)got;
		if (n == cap && cap >= RECORD_MAX)
			return false;
		if (n == cap)
			text = xrealloc(text, cap *= 2);
	}
	all = got < 0 ? NULL : json_loadb(text, n, 0, NULL);
	status = json_string_value(json_object_get(all, "status"));
	ended = status && strcmp(status, "planned") != 0 && strcmp(status, "running") != 0;
	json_decref(all);
	return ended;
}

bool sched_settled(const char *dir, const char *attempt, size_t nodes)
{
	CLEANUP(xclosep) int fd = door_open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0 || !sched_name_ok(attempt, 200))
		return false;
	for (size_t k = 0; k < (nodes > 1 ? nodes : 1); k++) {
		CLEANUP(xfreep)
		char *rel = nodes > 1 ? xasprintf("runs/%s/node-%zu/run.json", attempt, k)
				      : xasprintf("runs/%s/run.json", attempt);

		if (!record_ended(fd, rel))
			return false;
	}
	return true;
}
