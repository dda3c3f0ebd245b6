/*
 * direct_calls [-p PROCESSES] [-b BLOCKS] [-r BYTES] KEY LIBRARY…
 *
 * Measures one call of a key with each library, in one process with all of them, and again in the
 * next process. Prints for each library, in their order: mean, standard error of that mean (over
 * the means of processes), shortest block, all in µs of one call, and the library.
 *
 * Blocks of BLOCK_S take turns, forwards and backwards, each behind untimed ones. Time is that
 * of the process's processors (CLOCK_PROCESS_CPUTIME_ID), so what others do with the processor
 * counts for no library, and what a library hides in threads counts. What comes back to a processor
 * that others had finds its caches full of theirs: a block within which the kernel took it away
 * (getrusage, ru_nivcsw) is measured again, TRIES times at most, and a rest in front of each makes
 * that rare. -r: bytes over which weights change from call to call; else each call has the same
 * operands. The caller chooses the processor (taskset). All libraries have one thread.
 */
#include "direct_call.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/num.h"

#define BLOCK_S 0.002
#define UNTIMED_S 0.003 /* a processor that wakes up is slow, with cold caches */
#define WARM_UP_S 0.02
#define REST_NS 2000000
#define TRIES 4
#define LIBRARIES_MAX 16
#define PROCESSES_MAX 100
#define BLOCKS_MAX 10000

/* Of one library, in one process. */
struct outcome {
	double mean_us, min_us;
};

struct task {
	int64_t processes, blocks, rotate;
	const char *key;
	char **libraries;
	int nr;
};

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * A library that leaves the upper halves of vector registers in use (BLIS does) makes SSE code of
 * the next one (ATLAS) slower by 70 %, which has nothing to do with that one.
 */
#if defined(__x86_64__)
__attribute__((target("avx"))) static void upper_halves_clear(void)
{
	__builtin_ia32_vzeroupper();
}
#endif

static void registers_clear(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx"))
		upper_halves_clear();
#endif
}

static double calls_us(struct direct_call *c, unsigned n)
{
	double begin = cpu_s();

	registers_clear();
	do
		c->once(c);
	while (cpu_s() - begin < UNTIMED_S);
	begin = cpu_s();
	for (unsigned i = 0; i < n; i++)
		c->once(c);
	return (cpu_s() - begin) * 1e6 / n;
}

static long taken_away(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nivcsw;
}

static double block_us(struct direct_call *c, unsigned n)
{
	const struct timespec rest = { .tv_nsec = REST_NS };
	double us = 0;

	for (int try = 0; try < TRIES; try++) {
		long before;

		nanosleep(&rest, NULL);
		before = taken_away();
		us = calls_us(c, n);
		if (taken_away() == before)
			break;
	}
	return us;
}

/* How many calls are a block. */
static unsigned warm_up(struct direct_call *c)
{
	double begin = cpu_s(), us;
	unsigned n = 1;

	do {
		us = calls_us(c, n);
		n = (unsigned)fmin(fmax(BLOCK_S * 1e6 / fmax(us, 0.01), 1), 1e6);
	} while (cpu_s() - begin < WARM_UP_S);
	return n;
}

static void turns(const struct task *t, struct outcome *ret)
{
	struct direct_call *calls[LIBRARIES_MAX];
	unsigned n[LIBRARIES_MAX];

	for (int i = 0; i < t->nr; i++) {
		calls[i] = direct_call_make(t->libraries[i], t->key, (size_t)t->rotate);
		n[i] = warm_up(calls[i]);
		ret[i] = (struct outcome){ 0, INFINITY };
	}
	for (int64_t b = 0; b < t->blocks; b++)
		for (int i = 0; i < t->nr; i++) {
			int which = b % 2 ? t->nr - 1 - i : i;
			double us = block_us(calls[which], n[which]);

			ret[which].mean_us += us / (double)t->blocks;
			ret[which].min_us = fmin(ret[which].min_us, us);
		}
}

/* In a process of its own; what goes wrong there ends this one, too. */
static void process_run(const struct task *t, struct outcome *ret)
{
	size_t bytes = sizeof(*ret) * (size_t)t->nr;
	int fds[2], status;
	ssize_t got;
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		direct_end(DIRECT_FAILED, "no process");
	if (pid == 0) {
		turns(t, ret);
		_exit(write(fds[1], ret, bytes) == (ssize_t)bytes ? 0 : DIRECT_FAILED);
	}
	close(fds[1]);
	got = read(fds[0], ret, bytes);
	close(fds[0]);
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		direct_end(DIRECT_FAILED, "a process with the libraries crashed");
	if (WEXITSTATUS(status) != 0)
		exit(WEXITSTATUS(status));
	if (got != (ssize_t)bytes)
		direct_end(DIRECT_FAILED, "a process with the libraries gave no answer");
}

static void outcomes_print(const struct task *t, const struct outcome *all)
{
	for (int i = 0; i < t->nr; i++) {
		double n = (double)t->processes, mean = 0, squares = 0, min = INFINITY;

		for (int64_t p = 0; p < t->processes; p++) {
			mean += all[p * t->nr + i].mean_us / n;
			min = fmin(min, all[p * t->nr + i].min_us);
		}
		for (int64_t p = 0; p < t->processes; p++)
			squares += pow(all[p * t->nr + i].mean_us - mean, 2);
		printf("%.4f %.4f %.4f %s\n", mean, sqrt(squares / (n - 1) / n), min,
		       t->libraries[i]);
	}
}

static void usage(void)
{
	direct_end(DIRECT_USAGE, "usage: direct_calls [-p PROCESSES] [-b BLOCKS] [-r BYTES] "
				 "KEY LIBRARY...");
}

static int64_t number_of(const char *text, int64_t least, int64_t most)
{
	int64_t v;

	if (num_i64(text, strlen(text), &v) < 0 || v < least || v > most)
		usage();
	return v;
}

int main(int argc, char **argv)
{
	struct task t = { .processes = 6, .blocks = 8 };
	struct outcome *all;

	for (int c; (c = getopt(argc, argv, "p:b:r:")) >= 0;)
		if (c == 'p')
			t.processes = number_of(optarg, 2, PROCESSES_MAX);
		else if (c == 'b')
			t.blocks = number_of(optarg, 1, BLOCKS_MAX);
		else if (c == 'r')
			t.rotate = number_of(optarg, 0, INT64_C(1) << 32);
		else
			usage();
	t.nr = argc - optind - 1;
	if (t.nr < 1 || t.nr > LIBRARIES_MAX)
		usage();
	t.key = argv[optind];
	t.libraries = argv + optind + 1;
	for (const char *const *v =
		     (const char *const[]){ "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
					    "OMP_NUM_THREADS", NULL };
	     *v; v++)
		setenv(*v, "1", 1);
	all = calloc((size_t)(t.processes * t.nr), sizeof(*all));
	if (!all)
		direct_end(DIRECT_FAILED, "no memory");
	for (int64_t p = 0; p < t.processes; p++)
		process_run(&t, all + p * t.nr);
	outcomes_print(&t, all);
	free(all);
	return 0;
}
