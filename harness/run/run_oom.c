/*
 * The kernel counts processes that it kills for lack of memory: for each memory cgroup (v2:
 * memory.events, v1: memory.oom_control, both "oom_kill N"), and for the machine (/proc/vmstat). A
 * container's cgroup vanishes with its agent, so it is read as soon as the step has ended.
 */
#include "run_oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define MAX_TEXT ((size_t)256 << 10)

/* The number behind "oom_kill " at the start of a line. */
static uint64_t kills_in(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	uint64_t v = 0;

	if (!*path || fs_read(path, MAX_TEXT, &text, NULL, NULL) < 0)
		return 0;
	strvec_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.nr; i++)
		if (!strncmp(lines.v[i], "oom_kill ", 9))
			num_u64(lines.v[i] + 9, strlen(lines.v[i] + 9), &v);
	return v;
}

static uint64_t machine_kills(const char *root)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/proc/vmstat", root);

	return kills_in(path);
}

/* "4:memory:/a/b" names v1's file, "0::/a/b" v2's. */
static void group_file(struct oom_watch *w, const char *root, const char *line)
{
	const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
	CLEANUP(xfreep) char *word = NULL;
	const char *const unified[] = { "", "/unified" };

	if (!path)
		return;
	word = xstrndup(names + 1, (size_t)(path - names - 1));
	if (text_in_list(word, ',', "memory"))
		snprintf(w->file, sizeof(w->file), "%s/sys/fs/cgroup/memory%s/memory.oom_control",
			 root, path + 1);
	for (size_t i = 0; !*word && !*w->file && i < ARRAY_LEN(unified); i++) {
		snprintf(w->file, sizeof(w->file), "%s/sys/fs/cgroup%s%s/memory.events", root,
			 unified[i], path + 1);
		if (!fs_exists(w->file))
			w->file[0] = '\0';
	}
}

void oom_begin(struct oom_watch *w, const char *root, int64_t host_pid)
{
	CLEANUP(xfreep)
	char *path = xasprintf("%s/proc/%lld/cgroup", root, (long long)host_pid);
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;

	*w = (struct oom_watch){ .machine = machine_kills(root) };
	if (host_pid <= 0 || fs_read(path, MAX_TEXT, &text, NULL, NULL) < 0)
		return;
	strvec_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.nr && !*w->file; i++)
		group_file(w, root, lines.v[i]);
	w->group = kills_in(w->file);
}

void oom_end(const struct oom_watch *w, const char *root, uint64_t *ret_group,
	     uint64_t *ret_machine)
{
	uint64_t group = kills_in(w->file), machine = machine_kills(root);

	*ret_group = group > w->group ? group - w->group : 0;
	*ret_machine = machine > w->machine ? machine - w->machine : 0;
}
