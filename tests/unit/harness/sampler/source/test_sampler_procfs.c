/*
 * procfs against real processes.
 *
 * This program is also the process that is watched: main knows a few roles by name. A role says "0"
 * when it is ready, works when it gets a byte, says what it used, and ends with the next byte.
 */
#include "sampler_test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "profrig/base/proc.h"

#define SELF "/proc/self/exe"
#define MIB ((size_t)1 << 20)

/* --- roles --- */

static int64_t cpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void burn_ms(int ms)
{
	int64_t end = cpu_now_ns() + ms * NS_PER_MS;

	while (cpu_now_ns() < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

static void child_say(const char *word)
{
	if (write(1, word, strlen(word)) < 0)
		_exit(1);
}

static void say_ms(double ms)
{
	char text[64];

	snprintf(text, sizeof(text), "%.3f\n", ms);
	child_say(text);
}

static void child_hear(void)
{
	char c;

	if (read(0, &c, 1) != 1)
		_exit(1);
}

static void role_busy(void)
{
	burn_ms(800);
	say_ms(800);
}

/* Made present by the kernel: stores of ours would fill a sanitizer's shadow as well. */
static void role_memory(void)
{
	char *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	say_ms(p == MAP_FAILED ? 0 : 64);
}

static void *fork_a_family(void *arg)
{
	pid_t pid = fork();

	(void)arg;
	if (pid == 0) {
		if (fork() == 0) {
			burn_ms(500);
			say_ms(500);
			pause();
		}
		pause();
	}
	pause();
	return NULL;
}

/* The second thread makes a child, which makes a grandchild, which works. */
static void role_tree(void)
{
	pthread_t t;

	pthread_create(&t, NULL, fork_a_family, NULL);
}

static double rusage_ms(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

/* One child after the other, each of which works. */
static void children(int n, int each_ms)
{
	double before = rusage_ms(RUSAGE_SELF);

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn_ms(each_ms);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	say_ms(rusage_ms(RUSAGE_SELF) - before + rusage_ms(RUSAGE_CHILDREN));
}

static void role_short(void)
{
	children(60, 15);
}

static void role_longer(void)
{
	children(10, 80);
}

/* More children than the kernel lists in one read, all idle. */
#define WIDE 900
static void role_wide(void)
{
	int made = 0;

	while (made < WIDE) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0)
			break;
		made++;
	}
	say_ms(made);
}

static const struct {
	const char *name;
	void (*work)(void);
} roles[] = { { "busy", role_busy },   { "memory", role_memory }, { "tree", role_tree },
	      { "short", role_short }, { "longer", role_longer }, { "wide", role_wide } };

static int child_play(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (strcmp(roles[i].name, name) == 0) {
			child_say("0");
			child_hear();
			roles[i].work();
			child_hear();
			return 0;
		}
	return 1;
}

/* --- the watcher --- */

struct watched {
	pid_t pid;
	int to, from;
};

static void child_start(struct watched *w, const char *role)
{
	struct proc_opts o = PROC_OPTS_INIT;
	int in[2], out[2];
	char c;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	o.argv = ARGV(SELF, role);
	o.fd_in = in[0];
	o.fd_out = out[1];
	o.fd_err = 2;
	assert_int_equal(proc_spawn(&o, &w->pid, NULL), 0);
	close(in[0]);
	close(out[1]);
	w->to = in[1];
	w->from = out[0];
	assert_int_equal(read(w->from, &c, 1), 1);
	fcntl(w->from, F_SETFL, O_NONBLOCK);
}

static void child_go(const struct watched *w)
{
	assert_int_equal(write(w->to, "g", 1), 1);
}

/* What it said it used, or < 0 when it has not said it yet. */
static double said(const struct watched *w)
{
	char text[64];
	ssize_t n = read(w->from, text, sizeof(text));
	double v;

	if (n <= 0)
		return -1;
	assert_int_equal(num_f64(text, (size_t)n - 1, &v), 0);
	return v;
}

static void child_finish(struct watched *w)
{
	struct proc_exit how;

	/* its group is its whole family */
	kill(-w->pid, SIGKILL);
	proc_wait(w->pid, 10000, &how, NULL);
	close(w->to);
	close(w->from);
}

/* Reads until the role says what it used: the integral of cpu, and its highest value. */
struct followed {
	double said_ms, cpu_ms, cpu_max;
	double processes;
};

/* The middle of the read. */
static int64_t timed_read(struct opened *s, double *v)
{
	int64_t t = clock_monotonic_ns();

	source_read(s, 0, v);
	return t + (clock_monotonic_ns() - t) / 2;
}

static struct followed tree_follow(struct opened *s, const struct watched *w, int every_ms)
{
	struct followed f = { .said_ms = -1 };
	double v[SAMPLER_MAX_SERIES];
	int64_t last, next = clock_monotonic_ns();
	int after = 0;

	child_go(w);
	s->s->target(s->st, w->pid);
	last = timed_read(s, v);
	assert_true(v[0] == SAMPLER_ABSENT); /* nothing lies behind the first */
	/* three reads more, for what is found late */
	while (after < 3) {
		int64_t now;

		clock_sleep_until_ns(next += every_ms * NS_PER_MS);
		if (f.said_ms < 0)
			f.said_ms = said(w);
		after += f.said_ms >= 0;
		now = timed_read(s, v);
		f.processes = fmax(f.processes, v[2]);
		if (!isfinite(v[0]))
			continue;
		f.cpu_ms += v[0] / 100 * (double)(now - last) / 1e6;
		f.cpu_max = fmax(f.cpu_max, v[0]);
		last = now;
	}
	return f;
}

/* What a role is expected to look like; from and to in ms and in parts of what it said. */
struct expected {
	const char *role;
	int every_ms;
	double least_said_ms, from, from_ms, to, to_ms, max, processes;
};

/*
 * A role, followed. Its CPU time is known however long it took, but what is read and the moment of
 * the reading are apart by as long as the machine stands still in between: so one good try of many
 * will do.
 */
static void usage_expect(const struct expected *x)
{
	struct followed f = { .said_ms = -1 };
	bool good = false;

	for (int try = 0; try < 20 && !good; try++) {
		struct watched w;
		struct opened s;

		assert_int_equal(source_open("procfs", NULL, &s, NULL), 0);
		child_start(&w, x->role);
		f = tree_follow(&s, &w, x->every_ms);
		child_finish(&w);
		source_close(&s);
		assert_true(f.said_ms >= x->least_said_ms);
		assert_true(x->processes == 0 || f.processes == x->processes);
		good = f.cpu_ms > x->from * f.said_ms - x->from_ms &&
		       f.cpu_ms < x->to * f.said_ms + x->to_ms && f.cpu_max > 10 &&
		       f.cpu_max < x->max;
	}
	if (!good)
		print_error("%s: said %g ms, read %g ms, at most %g %%\n", x->role, f.said_ms,
			    f.cpu_ms, f.cpu_max);
	assert_true(good);
}

TEST(procfs_cpu)
{
	usage_expect(&(struct expected){
		.role = "busy",
		.every_ms = 20,
		.least_said_ms = 800,
		.from = 1,
		.from_ms = 60,
		.to = 1,
		.to_ms = 60,
		.max = 250,
		.processes = 1,
	});
}

TEST(procfs_begin_and_end)
{
	double v[SAMPLER_MAX_SERIES];
	struct watched w;

	CLEANUP(source_close) struct opened s = source_opened("procfs", NULL);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.s->read(s.st, 0, v, &s.reason), 1); /* no process to follow yet */
	child_start(&w, "busy");
	s.s->target(s.st, w.pid);
	source_read(&s, 0, v);
	assert_true(v[0] == SAMPLER_ABSENT); /* nothing lies behind the first */
	child_finish(&w);
	assert_int_equal(s.s->read(s.st, 0, v, &s.reason), 1); /* it has ended */
}

TEST(procfs_memory)
{
	struct watched w;
	struct opened s;
	double rss, pss, again;
	int64_t t;

	child_start(&w, "memory");
	assert_int_equal(source_open("procfs", NULL, &s, NULL), 0);
	s.s->target(s.st, w.pid);
	rss = source_value(&s, 0, "rss");
	assert_true(rss > 100 * 1024);
	s.s->target(s.st, w.pid); /* so that Pss is read anew at once */
	t = clock_monotonic_ns();
	pss = source_value(&s, 0, "pss");
	assert_true(pss > 50 * 1024 && pss <= rss);
	child_go(&w);
	while (said(&w) < 0)
		sleep_ms(5);
	assert_true(fabs(source_value(&s, 0, "rss") - rss - 64 * MIB) < 3 * MIB);
	/* Pss is dear: not read again within its second */
	again = source_value(&s, 0, "pss");
	assert_true(again == SAMPLER_ABSENT || clock_monotonic_ns() - t > NS_PER_S);
	s.s->target(s.st, w.pid);
	assert_true(fabs(source_value(&s, 0, "pss") - pss - 64 * MIB) < 3 * MIB);
	source_close(&s);
	child_finish(&w);
}

TEST(procfs_tree)
{
	usage_expect(&(struct expected){
		.role = "tree",
		.every_ms = 20,
		.least_said_ms = 500,
		.from = 1,
		.from_ms = 70,
		.to = 1,
		.to_ms = 90,
		.max = 250,
		.processes = 3,
	});
}

/*
 * Children that come and go between two reads are counted once, none of their time twice, none of
 * it in one lump.
 */
TEST(procfs_short_lived)
{
	usage_expect(&(struct expected){
		.role = "short",
		.every_ms = 40,
		.least_said_ms = 800,
		.from = 0.9,
		.from_ms = 60,
		.to = 1.1,
		.to_ms = 60,
		.max = 400,
	});
}

/*
 * Read without a pause, so that children end in the middle of a sum: their time is in neither place
 * then, and must not come back as new.
 */
TEST(procfs_ending)
{
	usage_expect(&(struct expected){
		.role = "longer",
		.least_said_ms = 790,
		.from = 0.9,
		.from_ms = 60,
		.to = 1.05,
		.to_ms = 30,
		.max = INFINITY,
	});
}

TEST(procfs_wide)
{
	struct watched w;
	double made;

	CLEANUP(source_close) struct opened s = source_opened("procfs", NULL);
	child_start(&w, "wide");
	child_go(&w);
	while ((made = said(&w)) < 0)
		sleep_ms(10);
	s.s->target(s.st, w.pid);
	assert_true(made > 700);
	assert_true(source_value(&s, 0, "processes") == made + 1);
	child_finish(&w);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child_play(argv[1]);
	return tests_run(NULL, NULL);
}
