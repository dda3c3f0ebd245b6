#include "base_test.h"

#include <pthread.h>

#include "profrig/base/clock.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"

#define WIPE "\r\033[K"

static void nap_ms(int ms)
{
	clock_sleep_until_ns(clock_monotonic_ns() + ms * NS_PER_MS);
}

TEST(test_silent)
{
	struct caught c = catch_stderr();
	char buf[8192];

	log_setup(1, false);
	progress_setup(0);
	progress_phase("read %s", "x");
	progress_total(10);
	progress_update(10);
	progress_end();
	log_setup(0, false);
	progress_setup(2);
	progress_phase("read %s", "x");
	progress_update(10);
	progress_end();
	caught_next(&c, buf);
	caught_end(&c);
	log_setup(1, false);
	assert_string_equal(buf, "");
}

TEST(test_lines)
{
	struct caught c = catch_stderr();
	char one[8192], two[8192], rest[8192];

	progress_setup(1);
	progress_phase("read %s", "a\033b");
	progress_update(1000);
	progress_phase("write");
	progress_end();
	caught_next(&c, one);
	caught_next(&c, two);
	caught_next(&c, rest);
	caught_end(&c);
	assert_string_equal(one, "profrig: read a\\x1bb\n");
	assert_string_equal(two, "profrig: write\n");
	assert_string_equal(rest, "");
}

/* The last of what was written: a pause in a bad place lets a line be drawn once more. */
static void caught_last(struct caught *c, char *buf)
{
	char next[8192];

	caught_next(c, buf);
	while (*caught_next(c, next))
		memcpy(buf, next, sizeof(next));
}

TEST(test_redraw)
{
	struct caught c = catch_stderr();
	char first[8192], second[8192], logged[8192], last[8192], rest[8192];

	progress_setup(2);
	progress_phase("read x");
	progress_total(1000000);
	caught_next(&c, first);
	for (int i = 1; i <= 1000; i++)
		progress_update((uint64_t)i * 400);
	nap_ms(120);
	progress_update(430000);
	progress_update(430001);
	caught_last(&c, second);
	/* A line for people wipes ours first, in the same write. */
	log_notice("hello");
	caught_next(&c, logged);
	nap_ms(120);
	progress_update(2000000);
	caught_next(&c, last);
	progress_end();
	caught_next(&c, rest);
	caught_end(&c);
	assert_string_equal(first, WIPE "read x");
	assert_int_equal(strncmp(second, WIPE "read x  43 %  ", strlen(WIPE) + 14), 0);
	assert_has(second, "B/s");
	assert_null(strchr(second, '\n'));
	assert_string_equal(logged, WIPE "profrig: hello\n");
	assert_has(last, "100 %");
	assert_string_equal(rest, WIPE);
}

/* A phase that comes right after another is the one that is seen, and how long it has lasted. */
/* What is waited for says last stands behind the phase, on a terminal, until the next phase. */
TEST(test_note)
{
	CLEANUP(caught_end) struct caught c = catch_stderr();
	char buf[8192];

	progress_setup(1);
	progress_phase("build x");
	caught_next(&c, buf);
	progress_note("step 1");
	caught_next(&c, buf);
	assert_string_equal(buf, "");
	progress_setup(2);
	progress_phase("build x");
	nap_ms(110);
	progress_note("step 1\033[2J");
	caught_last(&c, buf);
	assert_has(buf, "build x  step 1\\x1b[2J");
	progress_phase("push x");
	caught_last(&c, buf);
	assert_lacks(buf, "step");
	progress_end();
}

TEST(test_items)
{
	struct caught c = catch_stderr();
	char first[8192], last[8192];

	progress_setup(2);
	progress_phase("read x");
	progress_items(1000);
	caught_next(&c, first);
	nap_ms(120);
	progress_update(250);
	progress_update(251);
	caught_last(&c, last);
	progress_end();
	caught_end(&c);
	assert_string_equal(last, WIPE "read x  25 %");
}

TEST(test_phase_at_once)
{
	struct caught c = catch_stderr();
	char one[8192], two[8192], early[8192], late[8192];

	progress_setup(2);
	progress_phase("probe");
	progress_phase("workload");
	caught_next(&c, one);
	caught_next(&c, two);
	progress_phase("workload");
	progress_tick();
	caught_next(&c, early);
	nap_ms(1020);
	progress_tick();
	caught_next(&c, late);
	progress_end();
	progress_tick();
	caught_end(&c);
	assert_string_equal(one, WIPE "probe");
	assert_string_equal(two, WIPE "workload");
	assert_string_equal(early, WIPE "workload");
	assert_int_equal(strncmp(late, WIPE "workload  ", strlen(WIPE) + 10), 0);
	assert_string_equal(late + strlen(late) - 2, " s");
}

/* Without a terminal to ask, 80 cells: 79 are used. */
TEST(test_width)
{
	struct caught c = catch_stderr();
	char buf[8192];
	size_t cells = 0;

	nap_ms(120);
	progress_setup(2);
	progress_phase(
		"%s%s%s%s",
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
		"0123456789012345678901234567890123456789", "0123456789012345678901234567",
		"\xc3\xb6\xc3\xb6\xc3\xb6");
	caught_next(&c, buf);
	progress_end();
	caught_end(&c);
	for (const char *p = buf + strlen(WIPE); *p; p++)
		cells += ((unsigned char)*p & 0xc0) != 0x80;
	assert_int_equal(cells, 79);
	assert_string_equal(buf + strlen(buf) - 3, "7\xc3\xb6");
}

static void *updates(void *arg UNUSED)
{
	for (uint64_t i = 0; i < 200000; i++)
		progress_update(i);
	return NULL;
}

TEST(test_threads)
{
	CLEANUP(caught_end) struct caught c = catch_stderr();
	pthread_t threads[4];
	char buf[8192];

	progress_setup(2);
	progress_phase("many");
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, updates, NULL), 0);
	for (int i = 0; i < 20; i++) {
		progress_phase("phase %d", i);
		progress_total((uint64_t)i);
		log_notice("x");
		while (*caught_next(&c, buf))
			;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	progress_end();
}
