#include "agent_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/num.h"

#define MAX_DEPTH 64

/* --- processors --- */

static int add_range(cpu_set_t *set, const char *word)
{
	const char *dash = strchr(word, '-');
	uint64_t first, last;

	if (num_u64(word, dash ? (size_t)(dash - word) : strlen(word), &first) < 0)
		return -EINVAL;
	last = first;
	if (dash && num_u64(dash + 1, strlen(dash + 1), &last) < 0)
		return -EINVAL;
	if (last < first || last >= CPU_SETSIZE)
		return -EINVAL;
	for (; first <= last; first++)
		CPU_SET(first, set);
	return 0;
}

int place_take(const json_t *rq, cpu_set_t *was, struct err *err)
{
	const char *cpus = json_string_value(json_object_get(rq, "cpus"));
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	cpu_set_t set;

	if (!cpus)
		return 0;
	CPU_ZERO(&set);
	strvec_split(&words, cpus, ",");
	for (size_t i = 0; i < words.nr; i++)
		if (add_range(&set, words.v[i]) < 0)
			return err_set(err, EINVAL, "cpus: '%s'", cpus);
	if (sched_getaffinity(0, sizeof(*was), was) < 0 ||
	    sched_setaffinity(0, sizeof(set), &set) < 0)
		return err_sys(err, errno, "processors %s", cpus);
	return 1;
}

void place_back(const cpu_set_t *was)
{
	sched_setaffinity(0, sizeof(*was), was);
}

/* --- whose files --- */

struct giving {
	uid_t from, to;
	gid_t group;
	uint64_t given, failed;
};

static void give(struct giving *g, int dir, const char *name, const struct stat *st)
{
	if (st->st_uid != g->from)
		return;
	if (fchownat(dir, name, g->to, g->group, AT_SYMLINK_NOFOLLOW) == 0)
		g->given++;
	else
		g->failed++;
}

/* Takes fd. */
static void give_below(struct giving *g, int fd, int depth)
{
	DIR *d = depth < MAX_DEPTH ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (!d) {
		close(fd);
		g->failed++;
		return;
	}
	while ((e = readdir(d))) {
		struct stat st;
		int sub;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			sub = openat(dirfd(d), e->d_name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (sub >= 0)
				give_below(g, sub, depth + 1);
			else
				g->failed++;
		}
		give(g, dirfd(d), e->d_name, &st);
	}
	closedir(d);
}

void own_tree(struct agent *a, int64_t id, const json_t *rq)
{
	const char *path = json_string_value(json_object_get(rq, "path"));
	int64_t uid = request_int(rq, "uid", -1), gid = request_int(rq, "gid", -1);
	struct giving g = { .from = geteuid() };
	struct event ev;
	int fd;

	if (!path || uid < 0 || uid > INT32_MAX || gid < 0 || gid > INT32_MAX) {
		event_error(&a->out, "own: want path, uid and gid");
		return;
	}
	g.to = (uid_t)uid;
	g.group = (gid_t)gid;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		event_error(&a->out, "own: '%s': %s", path, strerror(errno));
		return;
	}
	give_below(&g, fd, 0);
	event_begin(&ev, "owned");
	json_i64(&ev.j, "id", id);
	json_u64(&ev.j, "given", g.given);
	json_u64(&ev.j, "failed", g.failed);
	event_end(&ev, &a->out);
}
