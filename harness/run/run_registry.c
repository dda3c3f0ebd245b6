#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/proc.h"

char *registry_dir(struct err *err)
{
	return fs_runtime_dir(err);
}

/* A file of another user's is opened for reading, which is enough for a lock. */
static int open_lock(const char *path, bool create)
{
	int fd = door_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0), 0600);

	if (fd < 0 && errno == EACCES && !create)
		fd = door_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	return fd;
}

int registry_lock(const char *path, bool create, int *ret_fd)
{
	CLEANUP(xclosep) int fd = open_lock(path, create);
	struct stat ours, there;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	/* The owner may have unlinked it meanwhile and made another of that name. */
	if (fstat(fd, &ours) < 0 || door_lstat(path, &there) < 0 || ours.st_ino != there.st_ino ||
	    ours.st_dev != there.st_dev)
		return -ENOENT;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* ---- the text of an entry ---- */

static uint64_t own_pid_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

static char *entry_text(const struct plan *pl, const struct agent_link *l)
{
	CLEANUP(xfreep) char *boot = proc_boot_id();
	char *text = NULL;
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);
	struct json_out j;
	struct stat st;

	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	json_str(&j, "run_dir", pl->run_dir);
	json_str(&j, "engine", pl->engine->name);
	json_str(&j, "container", pl->engine->container ? pl->spec.name : NULL);
	json_i64(&j, "pid", getpid());
	json_str(&j, "boot", boot);
	json_u64(&j, "pid_ns", own_pid_ns());
	if (door_stat(pl->run_dir, &st) == 0) {
		json_u64(&j, "dir_dev", st.st_dev);
		json_u64(&j, "dir_ino", st.st_ino);
	}
	if (l && link_agent(l) > 0) {
		json_i64(&j, "agent", link_agent(l));
		json_u64(&j, "agent_start_ticks", l->agent_ticks);
	}
	json_end(&j);
	fclose(f);
	return text;
}

/* One write replaces the old text, which is never longer. */
static int put_text(int fd, const char *text)
{
	size_t n = strlen(text);

	return pwrite(fd, text, n, 0) == (ssize_t)n ? 0 : -EIO;
}

/* The entry gets its name only when it is locked and complete. */
int registry_enter(const struct plan *pl, struct registration *ret, struct err *err)
{
	CLEANUP(xfreep) char *dir = registry_dir(err);
	CLEANUP(xfreep) char *text = entry_text(pl, NULL);
	CLEANUP(xfreep) char *tmp = NULL;
	CLEANUP(xfreep) char *path = NULL;
	CLEANUP(xclosep) int fd = -1;
	int r;

	if (!dir)
		return err && err->code ? -err->code : -EPERM;
	tmp = xasprintf("%s/.%s.%d", dir, pl->run_id, (int)getpid());
	path = fs_join(dir, pl->run_id);
	unlink(tmp);
	r = registry_lock(tmp, true, &fd);
	if (r == 0)
		r = put_text(fd, text);
	if (r == 0 && rename(tmp, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(tmp);
		return err_sys(err, -r, "'%s'", path);
	}
	ret->fd = fd;
	ret->path = STEAL(path);
	fd = -1;
	return 0;
}

void registry_note(const struct run *rn)
{
	CLEANUP(xfreep) char *text = entry_text(rn->pl, &rn->link);

	if (rn->reg.fd >= 0)
		put_text(rn->reg.fd, text);
	if (rn->lock_fd >= 0)
		put_text(rn->lock_fd, text);
}

static uint64_t entry_member(const json_t *entry, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(entry, key));
}

void registry_read(const json_t *entry, struct registered *ret)
{
	const char *boot = json_string_value(json_object_get(entry, "boot"));
	CLEANUP(xfreep) char *now = proc_boot_id();

	*ret = (struct registered){ .dev = (dev_t)entry_member(entry, "dir_dev"),
				    .ino = (ino_t)entry_member(entry, "dir_ino") };
	if (!boot || strcmp(boot, now) != 0) {
		ret->dev = 0; /* the device may have another number after a boot */
		return;
	}
	if (entry_member(entry, "pid_ns") != own_pid_ns())
		return;
	ret->agent = (pid_t)entry_member(entry, "agent");
	ret->agent_ticks = entry_member(entry, "agent_start_ticks");
}

void registry_leave(struct registration *reg)
{
	if (reg->path)
		unlink(reg->path);
	registry_leave_behind(reg);
}

void registry_leave_behind(struct registration *reg)
{
	free(reg->path);
	xclosep(&reg->fd);
	*reg = (struct registration)REGISTRATION_INIT;
}
