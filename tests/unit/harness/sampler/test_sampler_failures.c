/*
 * What goes wrong while the sampling thread runs: sources that die or hang, files that cannot grow.
 */
#include "sampler_fake.h"

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

SAMPLER_TEST(source_dies)
{
	struct sampling *sp;
	struct sampling_stats s;
	struct samples_file f;

	fake_device("gpu0", 1);
	fake.die_at = 6;
	fake.die_code = -ENODEV;
	fake.die_reason = "fell off the bus";
	sp = fake_begin(0.005);
	WAIT_UNTIL(fake.reads == 6);
	sleep_ms(30);
	assert_int_equal(fake.reads, 6);
	sampling_stop(sp, &s);
	assert_int_equal(s.error, -ENODEV);
	assert_string_equal(s.error_text, "gpu0: fell off the bus");
	assert_int_equal(s.rows, 5);
	sampling_free(sp);
	samples_read(path, &f);
	assert_int_equal(f.t_ns.nr, 5);
	assert_string_equal(samples_header(&f, "error"), "gpu0: fell off the bus");
	samples_release(&f);

	/* without words of its own, the system's */
	fake.die_reason = NULL;
	fake.reads = 0;
	sp = fake_begin(0.005);
	WAIT_UNTIL(fake.reads == 6);
	sampling_stop(sp, &s);
	assert_string_equal(s.error_text, "gpu0: No such device");
	sampling_free(sp);
}

SAMPLER_TEST(hanging_read)
{
	struct sampling *sp;
	struct sampling_stats s;
	struct samples_file f;

	fake_device("gpu0", 1);
	sp = fake_begin(0.01);
	sleep_ms(50);
	fake.hang = true;
	WAIT_UNTIL(fake.reading);
	sampling_mark(sp, "still here");
	/* it never ends by itself, so these two return because they do not wait for it */
	alarm(100);
	sampling_stop(sp, &s);
	assert_int_equal(s.error, -ETIMEDOUT);
	assert_string_equal(s.error_text, "fake: a read hangs");
	sampling_free(sp);
	alarm(0);
	assert_int_equal(fake.closes, 0);
	samples_read(path, &f);
	assert_int_equal(f.t_ns.nr, s.rows);
	assert_has(samples_header(&f, "mark"), "still here");
	samples_release(&f);
	/* it comes back, writes nothing, and frees what is left */
	fake.hang = false;
	WAIT_UNTIL(fake.closes == 1);
	assert_int_equal(fake.closes, 1);
	samples_read(path, &f);
	assert_int_equal(f.t_ns.nr, s.rows);
	samples_release(&f);
	sleep_ms(50);
}

/* What a round had read when the next device hung is in the file. */
SAMPLER_TEST(hanging_read_of_one_device)
{
	struct sampling *sp;
	struct sampling_stats s;

	fake_device("gpu0", 1);
	fake_device("gpu1", 1);
	fake_device("gpu2", 1);
	fake.hang_from = 2;
	fake.hang = true;
	sp = fake_begin(0.01);
	WAIT_UNTIL(fake.reads == 3);
	sampling_stop(sp, &s);
	assert_int_equal(s.error, -ETIMEDOUT);
	assert_int_equal(s.rows, 2);
	sampling_free(sp);
	fake.hang = false;
	WAIT_UNTIL(fake.closes == 1);
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_int_equal(f.t_ns.nr, 2);
	assert_true(f.t_ns.v[0] <= f.t_ns.v[1]);
	assert_true(isfinite(samples_cell(&f, 0, samples_column(&f, "power.gpu0[W]"))));
	assert_true(isfinite(samples_cell(&f, 1, samples_column(&f, "power.gpu1[W]"))));
}

/* Comes back between stop and free. */
SAMPLER_TEST(hanging_read_returns)
{
	struct sampling *sp;
	struct sampling_stats s;

	fake_device("gpu0", 1);
	fake.hang = true;
	sp = fake_begin(0.01);
	sampling_stop(sp, &s);
	assert_int_equal(s.error, -ETIMEDOUT);
	fake.hang = false;
	WAIT_UNTIL(!fake.reading);
	sleep_ms(200);
	sampling_free(sp);
	/* by the thread, should it not be back yet */
	WAIT_UNTIL(fake.closes == 1);
	assert_int_equal(fake.closes, 1);
}

/* Everything stands still for longer than a hanging read is waited for: nothing hangs. */
SAMPLER_TEST(standstill_is_no_hang)
{
	struct sampling *sp;
	struct sampling_stats s;
	pid_t stopper, me = getpid();

	fake_device("gpu0", 1);
	fake.read_ms = 500;
	sp = fake_begin(60);
	while (!fake.reading)
		sleep_ms(1);
	stopper = fork();
	if (stopper == 0) {
		sleep_ms(100);
		kill(me, SIGSTOP);
		sleep_ms(3000);
		kill(me, SIGCONT);
		_exit(0);
	}
	sampling_stop(sp, &s);
	sampling_free(sp);
	waitpid(stopper, NULL, 0);
	assert_int_equal(s.error, 0);
	assert_int_equal(s.rows, 2);
}

static void check_cut_file(const struct sampling_stats *s, int code)
{
	assert_int_equal(s->error, code);
	assert_has(s->error_text, "fake.csv");
	CLEANUP(samples_release) struct samples_file f = samples_of(path);
	assert_true(f.t_ns.nr > 10 && f.t_ns.nr < s->rows);
	for (size_t i = 0; i < f.t_ns.nr; i++)
		assert_true(samples_cell(&f, i, 0) == 123456.78125);
}

static void run_into_the_end(struct sampling_stats *s)
{
	struct sampling *sp;

	fake_device("gpu0", 4);
	fake.due = 200000;
	fake.value[0] = 123456.78125;
	sp = fake_begin(0.001);
	/* more than fit into either file; where the thread has met its end already, none come */
	for (int i = 0, seen = -1, idle = 0; i < 60000 && fake.reads < 5000 && idle < 2000; i++) {
		idle = fake.reads == seen ? idle + 1 : 0;
		seen = fake.reads;
		sleep_ms(2);
	}
	sampling_stop(sp, s);
	sampling_free(sp);
}

SAMPLER_TEST(file_size_limit)
{
	struct rlimit old, small;
	struct sampling_stats s;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 100001;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	/* SIGXFSZ would end this program if the thread did not block it */
	run_into_the_end(&s);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	check_cut_file(&s, -EFBIG);
}

SAMPLER_TEST(disk_full)
{
	struct sampling_stats s;

	if (geteuid() != 0 || mount("none", dir, "tmpfs", 0, "size=128k") < 0) {
		print_message("mounting a tmpfs needs root\n");
		skip();
	}
	run_into_the_end(&s);
	check_cut_file(&s, -ENOSPC);
	assert_int_equal(umount2(dir, MNT_DETACH), 0);
}

/* The thread ends there too, so that no hole is left in the middle of the file. */
SAMPLER_TEST(mark_cannot_be_written)
{
	struct sampling_opts o = { .sampler = &source, .path = path, .source.period_s = 0.005 };
	void (*handled)(int) = signal(SIGXFSZ, SIG_IGN); /* as the programs do */
	struct rlimit old, small;
	struct sampling *sp;
	struct sampling_stats s;

	fake_device("gpu0", 1);
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = (rlim_t)fs_size(path) + 5;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	sampling_mark(sp, "there is no room for this one");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, handled);
	assert_int_equal(sampling_start(sp, NULL), 0);
	WAIT_UNTIL(fake.reads > 0);
	sleep_ms(100);
	assert_int_equal(fake.reads, 1); /* the last one, as with any end */
	sampling_stop(sp, &s);
	assert_int_equal(s.error, -EFBIG);
	sampling_free(sp);
}
