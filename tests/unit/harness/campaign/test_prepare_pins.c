/* Configured paths that lead elsewhere before a further run. */
#include "prepare.h"
#include "test.h"

#include <sys/stat.h>

struct fixture {
	char top[64];
	char *dir, *mount, *other;
	struct prepared p;
};

static int set_up(void **state)
{
	static struct fixture made;
	struct fixture *f = *state = &made;

	*f = (struct fixture){ .top = "/tmp/profrig-pins-XXXXXX" };
	assert_non_null(mkdtemp(f->top));
	f->dir = fs_join(f->top, "model");
	f->mount = fs_join(f->top, "data");
	f->other = fs_join(f->top, "other");
	assert_int_equal(mkdir(f->dir, 0700), 0);
	assert_int_equal(mkdir(f->other, 0700), 0);
	strvec_init(&f->p.pins);
	f->p.run_dir = fs_join(f->top, "runs/one");
	f->p.conf.model_name = xstrdup("m");
	f->p.conf.dir = xstrdup(f->dir);
	VEC_PUSH(&f->p.plan.spec.mounts,
		 ((struct engine_mount){ xstrdup(f->mount), xstrdup("/data"), true }));
	pins_take(&f->p);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	struct err err = ERR_INIT;

	prepared_release(&f->p);
	assert_int_equal(fs_remove_tree(f->top, &err), 0);
	free(f->dir);
	free(f->mount);
	free(f->other);
	return 0;
}

#define PINS_TEST(name) TEST_OF(name, struct fixture *f, set_up, tear_down)

static void holds(const struct fixture *f, const char *path, const char *words)
{
	struct err err = ERR_INIT;

	assert_int_equal(pins_hold(&f->p, &err), words ? -ELOOP : 0);
	assert_true(!words || strstr(err.msg, words));
	assert_int_equal(pin_holds(&f->p, path), !words || strstr(words, "is gone") != NULL);
}

PINS_TEST(folders)
{
	holds(f, f->dir, NULL);
	assert_int_equal(rmdir(f->dir), 0);
	holds(f, f->dir, "/model' is gone since profrig began: no further run of 'm' is started");
	assert_int_equal(symlink(f->other, f->dir), 0);
	holds(f, f->dir, "/other' now, and did not when profrig began: no further run of 'm'");
	assert_int_equal(unlink(f->dir), 0);
	assert_int_equal(mkdir(f->dir, 0700), 0);
	holds(f, f->dir, NULL);
}

/* What was not there may be made, but not as a link. */
PINS_TEST(what_was_not_there)
{
	assert_int_equal(mkdir(f->mount, 0700), 0);
	holds(f, f->mount, NULL);
	assert_int_equal(rmdir(f->mount), 0);
	assert_int_equal(symlink(f->other, f->mount), 0);
	holds(f, f->mount, "/data' leads to '");
}
