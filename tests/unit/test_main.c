/* The list of a program's tests, and the main() of programs that have none of their own. */
#include "test.h"

static struct {
	struct CMUnitTest tests[128];
	int lines[128];
	size_t nr;
} all;

/* The order in which the compiler calls constructors is not that of the source. */
void test_register(int line, struct CMUnitTest test)
{
	size_t i = all.nr++;

	assert_true(all.nr <= ARRAY_LEN(all.tests));
	for (; i > 0 && all.lines[i - 1] > line; i--) {
		all.tests[i] = all.tests[i - 1];
		all.lines[i] = all.lines[i - 1];
	}
	all.tests[i] = test;
	all.lines[i] = line;
}

int tests_run(int (*set_up)(void **), int (*tear_down)(void **))
{
	return _cmocka_run_group_tests(program_invocation_short_name, all.tests, all.nr, set_up,
				       tear_down);
}

int __attribute__((weak)) main(void)
{
	return tests_run(NULL, NULL);
}
