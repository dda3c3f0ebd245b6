#include "base_test.h"

#include "profrig/base/log.h"

static void log_all_levels(void)
{
	log_error("e %d", 1);
	log_warn("w");
	log_notice("n");
	log_info("i");
	log_debug("d");
}

/* Packets joined by '|': each is one write. */
static void assert_said(int level, const char *want)
{
	CLEANUP(xfreep) char *all = xstrdup("");
	struct caught c = catch_stderr();
	char buf[8192];

	log_setup(level, true);
	log_all_levels();
	while (*caught_next(&c, buf)) {
		char *longer = xasprintf("%s%s|", all, buf);

		free(all);
		all = longer;
	}
	caught_end(&c);
	assert_int_equal(log_level(), level);
	assert_false(log_color());
	assert_string_equal(all, want);
}

TEST(test_levels)
{
#define E "profrig: error: e 1\n|"
#define W "profrig: warning: w\n|profrig: n\n|"
	assert_said(0, E);
	assert_said(1, E W);
	assert_said(2, E W "profrig: i\n|");
	assert_said(3, E W "profrig: i\n|profrig: debug: d\n|");
}

TEST(test_hostile)
{
	struct caught c = catch_stderr();
	char buf[8192];

	log_setup(1, false);
	log_warn("a\033[2Jb\r\x7f%s\tc\nd", "\x01");
	caught_next(&c, buf);
	caught_end(&c);
	assert_string_equal(buf, "profrig: warning: a\\x1b[2Jb\\r\\x7f\\x01\tc\nd\n");
}

TEST(test_errno_kept)
{
	CLEANUP(caught_end) struct caught c = catch_stderr();

	errno = E2BIG;
	log_warn("x");
	close(c.from);
	c.from = -1;
	assert_int_equal(errno, E2BIG);
}
