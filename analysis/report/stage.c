#include "writers_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

/* Follows a link of the user to the real folder; in a held folder there are no links. */
static char *real_name(const char *dir)
{
	char *real = door_holds(dir) ? NULL : xrealpath(dir);

	return real ? real : xstrdup(dir);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether it can be exchanged as a whole: neither a mount point nor our working directory. */
static bool is_replaceable(const char *dir, const char *parent)
{
	struct stat st, up, here;

	return door_stat(dir, &st) == 0 && door_stat(parent, &up) == 0 && st.st_dev == up.st_dev &&
	       (stat(".", &here) < 0 || !is_same(&st, &here));
}

char *report_stage(const char *dir)
{
	CLEANUP(xfreep) char *real = real_name(dir);
	CLEANUP(xfreep) char *parent = fs_dir(real);
	bool beside = !fs_exists(real) || is_replaceable(real, parent);
	char *stage = fs_temp_name(beside ? parent : real);

	if (door_mkdir(stage, 0777) == 0)
		return stage;
	free(stage);
	stage = fs_temp_name(real);
	if (door_mkdir(stage, 0777) == 0)
		return stage;
	free(stage);
	return NULL;
}

/* One by one: for a folder with foreign files. */
static int move_into(const char *from, const char *dir, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r = fs_list(from, &names, err);

	for (size_t i = 0; i < names.nr && r >= 0; i++) {
		CLEANUP(xfreep) char *a = fs_join(from, names.v[i]);
		CLEANUP(xfreep) char *b = fs_join(dir, names.v[i]);

		if (fs_is_dir(a) && fs_is_dir(b))
			r = move_into(a, b, err);
		else if (door_rename(a, b) < 0)
			r = err_sys(err, errno, "%s", b);
	}
	return r;
}

static int stage_move_files(const char *stage, const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *last = fs_join(stage, "analysis.json");
	CLEANUP(xfreep) char *aside = fs_temp_name(dir);
	CLEANUP(xfreep) char *final = fs_join(dir, "analysis.json");
	int r = fs_mkdirs(dir, 0777, err);

	if (r < 0)
		return r;
	report_clear(dir);
	/* it lists the others, so it comes last */
	if (door_rename(last, aside) < 0)
		return err_sys(err, errno, "%s", last);
	r = move_into(stage, dir, err);
	if (r >= 0 && door_rename(aside, final) < 0)
		r = err_sys(err, errno, "%s", final);
	return r;
}

int report_commit(const char *stage, const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *real = real_name(dir);
	CLEANUP(xfreep) char *parent = fs_dir(real);
	struct stat st;
	int r;

	if (!fs_exists(real) && door_rename(stage, real) == 0)
		return 0;
	if (is_replaceable(real, parent) && door_stat(real, &st) == 0 &&
	    (report_owns_all(real) || (st.st_uid == geteuid() && report_adopt(real, stage))) &&
	    door_chmod(stage, st.st_mode & 07777) == 0 && door_exchange(stage, real) == 0) {
		/* Files that others added meanwhile; where that fails, the old folder stays. */
		if (!report_adopt(stage, real))
			return 0;
		r = 0;
	} else {
		r = stage_move_files(stage, real, err);
	}
	fs_remove_tree(stage, NULL);
	return r;
}
