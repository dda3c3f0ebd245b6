#include "unpacked.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/base/temps.h"
#include "profrig/base/zip.h"
#include "profrig/pack/pack.h"

static int folder_make(struct unpacking *u, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	CLEANUP(xfreep) char *base = fs_abs(tmp && *tmp ? tmp : "/tmp");

	if (u->dir)
		return 0;
	u->dir = fs_temp_name(base);
	temps_hold(u->dir);
	return door_mkdir(u->dir, 0700) < 0 ? err_sys(err, errno, "%s", u->dir) : 0;
}

void unpacking_release(struct unpacking *u)
{
	if (!u->dir)
		return;
	fs_remove_tree(u->dir, NULL);
	temps_let_go(u->dir);
	free(STEAL(u->dir));
}

/* DIR/runs.zip; of a second one of this name DIR/2/runs.zip. */
static char *place_of(const struct unpacking *u, const char *path)
{
	CLEANUP(xfreep) char *plain = fs_join(u->dir, fs_base(path));

	return fs_exists(plain) ? xasprintf("%s/%zu/%s", u->dir, u->nr, fs_base(path))
				: STEAL(plain);
}

static void say_unread(const char *path, const struct unpacked *done)
{
	for (size_t i = 0; i < PACK_UNREAD_KINDS; i++) {
		const struct pack_unread *k = &done->unread[i];

		if (k->nr)
			log_warn("%s: %" PRIu64 " member%s not read, first %s: %s", path, k->nr,
				 k->nr == 1 ? " is" : "s are", k->first, k->why);
	}
	if (done->others.nr)
		log_warn("%s: %zu traces beside its runs are not read, first %s: several runs are "
			 "analysed without anything else",
			 path, done->others.nr, done->others.v[0]);
}

static int archive_unpack(struct unpacking *u, const char *path, struct strvec *to)
{
	struct unpacked done;
	struct err err = ERR_INIT;
	CLEANUP(xfreep) char *place = NULL;
	int r = folder_make(u, &err);

	if (r < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	u->nr++;
	place = place_of(u, path);
	r = fs_mkdirs(place, 0700, &err);
	if (r < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	progress_phase("unpack %s", fs_base(path));
	r = pack_unpack(path, place, &done, &err);
	progress_end();
	if (r < 0)
		log_error("%s", err.msg);
	else
		say_unread(path, &done);
	if (r == 0 && !done.inputs.nr) {
		log_error("%s: nothing in it is a trace that profrig reads", path);
		r = -ENODATA;
	}
	strvec_pushv(to, done.inputs.v);
	for (size_t i = 0; i < PACK_UNREAD_KINDS; i++)
		u->missing |= done.unread[i].nr > 0;
	u->missing |= done.others.nr > 0;
	unpacked_release(&done);
	return r == 0 ? EXIT_DONE : r == -ENOSPC ? EXIT_MISSING : EXIT_UNREADABLE;
}

int inputs_unpack(const struct command *c, struct strvec *inputs, struct unpacking *u)
{
	CLEANUP(strvec_release) struct strvec to = STRVEC_INIT;
	int code = EXIT_DONE;

	for (size_t i = 0; i < inputs->nr && code == EXIT_DONE; i++) {
		if (!zip_is(inputs->v[i]))
			strvec_push(&to, inputs->v[i]);
		else if (!comm_alone(cli_comm))
			code = cli_usage(c,
					 "%.200s is an archive, which one rank alone takes; "
					 "unpack it first",
					 inputs->v[i]);
		else
			code = archive_unpack(u, inputs->v[i], &to);
	}
	if (u->nr && code == EXIT_DONE) {
		strvec_clear(inputs);
		strvec_pushv(inputs, to.v);
	}
	return code;
}

int unpacking_code(const struct unpacking *u, int code)
{
	return code == EXIT_DONE && u->missing ? EXIT_PARTIAL : code;
}
