/*
 * test: what every unit test may want: cmocka with the headers it needs in front of it, a folder
 * that goes away, files in it, recorded traces, and numbers that look random and are the same every
 * time.
 *
 * TEST(name) { … } is one test; its body has cmocka's `void **state`. TEST_WITH(name, set_up,
 * tear_down) { … } is a test with a set-up and a tear-down (NULL: none). TEST_OF(name, struct thing
 * *t, set_up, tear_down) { … } is one whose body has what the set-up left in *state, as `t`.
 * TEST_IN(name, dir) { … } is one whose body has the path of a new directory, as `dir`; it is
 * removed afterwards. A program runs all its tests in the order in which they stand in its source.
 * Its main() is in test_main.c, unless it has one of its own, which ends with tests_run().
 */
#ifndef PROFRIG_TEST_H
#define PROFRIG_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "profrig/base/err.h"
#include "profrig/base/fs.h"
#include "profrig/base/mix.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define UNUSED __attribute__((unused))

#define TEST_WITH(name, set_up, tear_down) \
	static void name(void **state); \
	static void __attribute__((constructor)) name##_registers(void) \
	{ \
		test_register(__LINE__, \
			      (struct CMUnitTest){ #name, name, set_up, tear_down, NULL }); \
	} \
	static void name(void **state UNUSED)
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_OF(name, fixture, set_up, tear_down) \
	static void name##_of(fixture); \
	TEST_WITH(name, set_up, tear_down) \
	{ \
		name##_of(*state); \
	} \
	static void name##_of(fixture UNUSED)
#define TEST_IN(name, dir) TEST_OF(name, char *dir, test_dir_begin, test_dir_end)

/* Called by TEST before main(). */
void test_register(int line, struct CMUnitTest test);

/*
 * Runs all registered tests between a set-up and a tear-down of the whole program (NULL: none).
 * Returns the number of failures.
 */
int tests_run(int (*set_up)(void **), int (*tear_down)(void **));

/*
 * A row of a table of cases, or a list, in braces. Inside a macro clang-format fills lines; bare
 * braces around other braces get a line for each member.
 */
#define ROW(...) \
	{ \
		__VA_ARGS__ \
	}
#define LIST(...) \
	{ \
		__VA_ARGS__ \
	}

/* Says which row of a table failed, then fails. */
#define ROW_FAIL(i, ...) \
	do { \
		print_error("row %zu: ", (size_t)(i)); \
		print_error(__VA_ARGS__); \
		print_error("\n"); \
		fail(); \
	} while (0)

/* Fails when a text lacks one of the words, or has one of them. */
#define assert_has(text, ...) \
	test_text_has((text), true, (const char *const[]){ __VA_ARGS__, NULL }, __FILE__, __LINE__)
#define assert_lacks(text, ...) \
	test_text_has((text), false, (const char *const[]){ __VA_ARGS__, NULL }, __FILE__, __LINE__)
static inline void test_text_has(const char *text, bool has, const char *const *words,
				 const char *file, int line)
{
	for (; *words; words++)
		if ((strstr(text, *words) != NULL) != has)
			fail_msg("%s:%d: %s '%s': %s", file, line, has ? "no" : "there is", *words,
				 text);
}

/* xorshift64* */
static inline uint64_t rnd(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(2685821657736338717);
}

/* How many cases a property is tried on. */
static inline uint64_t test_cases(uint64_t usual)
{
	const char *said = getenv("PROFRIG_PROPERTY_CASES");
	uint64_t n = usual;

	if (said)
		assert_int_equal(num_u64(said, strlen(said), &n), 0);
	return n;
}

/*
 * An owned text, one made by printf's rules, and the path dir/name, for an argument of a call: each
 * is valid until 64 later ones are made. Of the main thread alone.
 */
static inline char *kept(char *owned)
{
	static char *texts[64];
	static size_t next;
	char **text = &texts[next++ % ARRAY_LEN(texts)];

	free(*text);
	return *text = owned;
}

static inline __attribute__((format(printf, 1, 2))) char *textf(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	return kept(text);
}

static inline char *in_dir(const char *dir, const char *name)
{
	return textf("%s/%s", dir, name);
}

/* Of what make has built, owned. */
static inline char *build_path(const char *below)
{
	const char *b = getenv("B");
	CLEANUP(xfreep) char *rel = fs_join(b && *b ? b : "build", below);

	return fs_abs(rel);
}

/* A new directory below $TMPDIR, owned:
 *	CLEANUP(test_dir_done) char *dir = test_dir();
 */
static inline char *test_dir(void)
{
	const char *base = getenv("TMPDIR");
	char *path = xasprintf("%s/profrig-test-XXXXXX", base ? base : "/tmp");

	assert_non_null(mkdtemp(path));
	return path;
}

static inline void test_dir_done(char **dir)
{
	if (*dir)
		fs_remove_tree(*dir, NULL);
	free(STEAL(*dir));
}

static inline int test_dir_begin(void **state)
{
	*state = test_dir();
	return 0;
}

static inline int test_dir_end(void **state)
{
	char *dir = *state;

	test_dir_done(&dir);
	return 0;
}

/* Writes dir/name, and the folders that name goes through. */
static inline void test_put(const char *dir, const char *name, const char *text)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name), *folder = fs_dir(path);
	struct err err = ERR_INIT;

	if (fs_mkdirs(folder, 0755, &err) < 0 ||
	    fs_write_atomic(path, text, strlen(text), &err) < 0)
		fail_msg("%s", err.msg);
}

/* What dir/name holds, owned. */
static inline char *test_get(const char *dir, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	char *text = NULL;
	struct err err = ERR_INIT;

	if (fs_read(path, (size_t)1 << 26, &text, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	return text;
}

/* Whether a process runs; one that waits to be reaped does not. */
static inline bool test_alive(pid_t pid)
{
	CLEANUP(xfreep) char *path = xasprintf("/proc/%d/stat", (int)pid), *data = NULL;
	char *bracket;

	if (fs_read(path, 4096, &data, NULL, NULL) < 0)
		return false;
	bracket = strrchr(data, ')');
	return bracket && bracket[2] != 'Z';
}

/* Skips the test, saying why, or fails it where PROFRIG_REQUIRE names the word. */
static inline void test_lacks(const char *word, const char *why)
{
	const char *required = getenv("PROFRIG_REQUIRE");

	if (required && text_in_list(required, ',', word))
		fail_msg("%s", why);
	print_message("# %s\n", why);
	skip();
}

/*
 * Path of a recorded trace, owned. PROFRIG_TRACES says where they are; without it the test is
 * skipped ("traces").
 */
static inline char *test_trace(const char *name)
{
	const char *dir = getenv("PROFRIG_TRACES");

	if (!dir || !*dir)
		test_lacks("traces", "PROFRIG_TRACES is not set");
	return fs_join(dir, name);
}

/* The folders of traces in it; logs of libraries have tests of their own. */
#define TEST_TRACE_FOLDERS LIST("otf2", "tef", "rpd", "nsys", "rocprof", "stacks", "aiu")

#endif
