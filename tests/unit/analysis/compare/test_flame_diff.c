#include "compare_test.h"

#include <math.h>
#include <sys/stat.h>

#include "profrig/compare/flame_diff.h"

struct sides {
	struct compare_operand a, b;
};

static struct sides sides_of(const char *dir)
{
	struct sides s = { OPERAND_INIT, OPERAND_INIT };
	struct err err = ERR_INIT;

	assert_int_equal(operand_read(in_dir(dir, "a"), &s.a, &err), 0);
	assert_int_equal(operand_read(in_dir(dir, "b"), &s.b, &err), 0);
	return s;
}

static void sides_release(struct sides *s)
{
	operand_release(&s->a);
	operand_release(&s->b);
}

static const struct flame_frame *frame_of(const struct flame_diff *f, const char *name)
{
	for (size_t i = 0; i < f->v.nr; i++)
		if (!strcmp(intern_str(f->texts, f->v.v[i].name), name))
			return &f->v.v[i];
	fail_msg("no frame %s", name);
	return NULL;
}

/* The system's number of a thread is no difference. */
TEST_IN(threads_have_no_numbers, dir)
{
	struct sides s;
	struct flame_diff f;

	run_put(dir, "a/1", "", 1);
	run_put(dir, "b/1", "", 1);
	test_put(dir, "a/1/analysis/folded/time.folded",
		 "rank 1/thread 4711 (python);f 10\nthread pool;f 1\nthread 9;thread 9 5\n");
	test_put(dir, "b/1/analysis/folded/time.folded",
		 "rank 1/thread 12 (python);f 20\nthread pool;f 2\nthread 10;thread 9 6\n");
	s = sides_of(dir);
	flame_diff_read(&s.a.sets.v[0], &s.b.sets.v[0], "time", &f);
	assert_int_equal(f.v.nr, 7);
	assert_true(frame_of(&f, "rank 1/thread (python)")->a == 10);
	assert_true(frame_of(&f, "rank 1/thread (python)")->b == 20);
	assert_true(frame_of(&f, "thread pool")->b == 2);
	assert_true(frame_of(&f, "thread")->a == 5 && frame_of(&f, "thread")->b == 6);
	assert_true(frame_of(&f, "thread 9")->b == 6);
	/* f by 10 and by 1, "thread 9" by 1 */
	assert_true(f.v.v[0].change == 12);
	assert_true(frame_of(&f, "rank 1/thread (python)")->change == 10);
	assert_true(frame_of(&f, "thread 9")->change == 1);
	flame_diff_release(&f);
	sides_release(&s);
}

TEST_IN(means_of_runs, dir)
{
	struct sides s;
	struct flame_diff f;
	const struct flame_frame *main_frame;

	run_put(dir, "a/1", "", 1);
	run_put(dir, "a/2", "", 1);
	run_put(dir, "a/without", "", 1);
	run_put(dir, "b/1", "", 1);
	test_put(dir, "a/1/analysis/folded/time.folded", "main 10\nmain;f 20\nmain;gone;x 30\n");
	test_put(dir, "a/2/analysis/folded/time.folded", "main 30\nmain;f 40\nmain;gone;x 50\n");
	test_put(dir, "b/1/analysis/folded/time.folded",
		 "main 20\nmain;f 60\nmain;new name 5\r\nno number\nmain;f -3\n\n");
	s = sides_of(dir);
	flame_diff_read(&s.a.sets.v[0], &s.b.sets.v[0], "time", &f);
	assert_int_equal(f.files_a, 2);
	assert_int_equal(f.files_b, 1);
	assert_int_equal(f.bad, 2);
	assert_int_equal(f.problems.nr, 0);
	assert_true(f.v.v[0].a == 90 && f.v.v[0].b == 85);
	main_frame = frame_of(&f, "main");
	assert_true(main_frame->a == 90 && main_frame->own_a == 20 && main_frame->own_b == 20);
	assert_true(frame_of(&f, "f")->a == 30 && frame_of(&f, "f")->own_b == 60);
	assert_true(frame_of(&f, "new name")->a == 0 && frame_of(&f, "new name")->b == 5);
	assert_true(frame_of(&f, "gone")->b == 0 && frame_of(&f, "gone")->a == 40);
	assert_true(main_frame->change == 30 + 5 + 40 && frame_of(&f, "gone")->change == 40);
	/* the widest of B first */
	assert_ptr_equal(&f.v.v[main_frame->first], frame_of(&f, "f"));
	assert_ptr_equal(&f.v.v[frame_of(&f, "f")->next], frame_of(&f, "new name"));
	flame_diff_release(&f);
	flame_diff_read(&s.a.sets.v[0], &s.b.sets.v[0], "device", &f);
	assert_int_equal(f.v.nr, 0);
	flame_diff_release(&f);
	sides_release(&s);
}

TEST_IN(names_and_hostile_files, dir)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct sides s;
	struct flame_diff f;

	run_put(dir, "a/1", "", 1);
	test_put(dir, "b/analysis.json", "{\"schema\":\"profrig.analysis/1\"}");
	test_put(dir, "a/1/analysis/folded/energy-gpu0.folded", "x 1\n");
	test_put(dir, "a/1/analysis/folded/other.txt", "x 1\n");
	test_put(dir, "b/folded/device.folded", "x 1\n");
	assert_int_equal(mkfifo(in_dir(dir, "b/folded/time.folded"), 0600), 0);
	assert_int_equal(symlink("../../run.json", in_dir(dir, "a/1/analysis/folded/z.folded")), 0);
	s = sides_of(dir);
	flame_diff_names(&s.a.sets.v[0], &s.b.sets.v[0], &names);
	assert_int_equal(names.nr, 4);
	assert_string_equal(names.v[0], "time");
	assert_string_equal(names.v[1], "device");
	assert_string_equal(names.v[2], "energy-gpu0");
	flame_diff_read(&s.a.sets.v[0], &s.b.sets.v[0], "time", &f);
	assert_int_equal(f.files_b, 0);
	assert_int_equal(f.problems.nr, 1);
	flame_diff_release(&f);
	flame_diff_read(&s.a.sets.v[0], &s.b.sets.v[0], "z", &f);
	assert_int_equal(f.v.nr, 0);
	assert_int_equal(f.problems.nr, 1);
	flame_diff_release(&f);
	flame_diff_read(&s.a.sets.v[0], &s.b.sets.v[0], "device", &f);
	assert_true(f.v.nr == 2 && f.files_a == 0 && f.v.v[0].b == 1);
	flame_diff_release(&f);
	sides_release(&s);
}

/* Deeper than any stack: the time stays, with the last frame that is kept. */
TEST_IN(deep_stacks, dir)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct sides s;
	struct flame_diff f;
	double own = 0;

	for (int i = 0; i < 5000; i++)
		strbuf_addf(&sb, "%sf%d", i ? ";" : "", i);
	strbuf_addstr(&sb, " 7\n");
	run_put(dir, "a/1", "", 1);
	run_put(dir, "b/1", "", 1);
	test_put(dir, "a/1/analysis/folded/time.folded", sb.buf);
	test_put(dir, "b/1/analysis/folded/time.folded", ";; 3\na 18446744073709551616\na 4\n");
	s = sides_of(dir);
	flame_diff_read(&s.a.sets.v[0], &s.b.sets.v[0], "time", &f);
	assert_int_equal(f.cut, 1);
	assert_int_equal(f.bad, 1);
	assert_true(f.v.nr < 520 && f.v.v[0].a == 7 && f.v.v[0].b == 7);
	for (size_t i = 0; i < f.v.nr; i++)
		own += f.v.v[i].own_a;
	assert_true(own == 7);
	flame_diff_release(&f);
	sides_release(&s);
}
