#include "base_test.h"

#include <poll.h>
#include <pthread.h>

#include "profrig/base/proc.h"

TEST(test_sizes)
{
	CLEANUP(xfreep) char *zero = xmalloc(0), *cells = xcalloc(4, 8), *none = xcalloc(0, 8);
	CLEANUP(xfreep) int *v = NULL;

	assert_non_null(zero);
	assert_non_null(none);
	for (int i = 0; i < 32; i++)
		assert_int_equal(cells[i], 0);
	v = xreallocarray(v, 10, sizeof(*v));
	for (int i = 0; i < 10; i++)
		v[i] = i;
	v = xreallocarray(v, 1000, sizeof(*v));
	assert_int_equal(v[9], 9);
	v = xrealloc(v, 0);
	assert_non_null(v);
}

TEST(test_copies)
{
	CLEANUP(xfreep) char *e = xmemdup("a\0b", 3);

	assert_string_equal(kept(xstrdup("abc")), "abc");
	assert_string_equal(kept(xstrndup("abcdef", 3)), "abc");
	assert_string_equal(kept(xstrndup("ab", 100)), "ab");
	assert_string_equal(kept(xstrndup(NULL, 0)), "");
	assert_memory_equal(e, "a\0b", 3);
	assert_string_equal(textf("%s-%d", "x", 7), "x-7");
	assert_string_equal(kept(xstrdup_null("g")), "g");
	assert_null(xstrdup_null(NULL));
}

TEST(test_cleanup)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int kept = fd;
	FILE *f = fopen("/dev/null", "re");
	char *p = xstrdup("x");
	char *taken = STEAL(p);

	assert_null(p);
	xfreep(&p);
	xfreep(&taken);
	assert_null(taken);
	errno = E2BIG;
	xclosep(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(kept, F_GETFD), -1);
	xclosep(&fd);
	xfclosep(&f);
	assert_null(f);
	xfclosep(&f);
}

/* The product does not fit: one line, status 1. */
TEST(test_death)
{
	CLEANUP(strbuf_release) struct strbuf errs = STRBUF_INIT;
	struct proc_exit end;

	assert_int_equal(
		proc_capture(ARGV("/proc/self/exe", "die"), 10000, 1000, NULL, &errs, &end, NULL),
		0);
	assert_int_equal(end.code, 1);
	assert_string_equal(errs.buf, "profrig: error: out of memory\n");
}

/* What the program says of it, and its status. */
TEST(test_last_words)
{
	CLEANUP(strbuf_release) struct strbuf errs = STRBUF_INIT;
	struct proc_exit end;

	assert_int_equal(
		proc_capture(ARGV("/proc/self/exe", "words"), 10000, 1000, NULL, &errs, &end, NULL),
		0);
	assert_int_equal(end.code, 5);
	assert_string_equal(errs.buf, "profrig: error: out of memory: go home\n");
}

/* Threads that find none at the same time are one death. */
TEST(test_threads)
{
	CLEANUP(strbuf_release) struct strbuf errs = STRBUF_INIT;
	struct proc_exit end;

	assert_int_equal(proc_capture(ARGV("/proc/self/exe", "threads"), 10000, 1000, NULL, &errs,
				      &end, NULL),
			 0);
	assert_int_equal(end.code, 1);
	assert_string_equal(errs.buf, "profrig: error: out of memory\n");
}

TEST(test_memstream)
{
	CLEANUP(xfreep) char *text = NULL, *long_text = xmalloc(100001);
	size_t n = 99;
	FILE *f = xmemstream(&text, &n);

	assert_string_equal(text, "");
	assert_int_equal(n, 0);
	fprintf(f, "one %d", 1);
	fflush(f);
	assert_string_equal(text, "one 1");
	rewind(f);
	memset(long_text, 'x', 100000);
	long_text[100000] = '\0';
	fputs(long_text, f);
	fflush(f);
	assert_int_equal(n, 100000);
	assert_string_equal(text, long_text);
	rewind(f);
	fputs("short", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(n, 5);
	assert_string_equal(text, "short");
}

static void *find_none(void *unused UNUSED)
{
	xalloc_failed();
}

static void thread_linger(void)
{
	poll(NULL, 0, 100);
}

static void die_in_threads(void)
{
	pthread_t t[4];

	xalloc_last_act(thread_linger);
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (pthread_create(&t[i], NULL, find_none, NULL) != 0)
			return;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "words"))
		xalloc_last_words("go home", 5);
	if (argc > 1 && !strcmp(argv[1], "threads"))
		die_in_threads();
	if (argc > 1)
		free(xreallocarray(NULL, SIZE_MAX / 2, 4));
	return tests_run(NULL, NULL);
}
