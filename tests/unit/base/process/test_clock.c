#include "base_test.h"

#include <time.h>

#include "profrig/base/clock.h"

TEST(test_utc)
{
	static const struct {
		int64_t ns;
		const char *utc, *compact;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.000000Z", "19700101T000000Z" },
		{ -1, "1969-12-31T23:59:59.999999Z", "19691231T235959Z" },
		{ -1000, "1969-12-31T23:59:59.999999Z", "19691231T235959Z" },
		{ -1001, "1969-12-31T23:59:59.999998Z", "19691231T235959Z" },
		{ 951782400 * NS_PER_S, "2000-02-29T00:00:00.000000Z", "20000229T000000Z" },
		{ 1772600767123456789, "2026-03-04T05:06:07.123456Z", "20260304T050607Z" },
		{ 4107542399 * NS_PER_S, "2100-02-28T23:59:59.000000Z", "21000228T235959Z" },
		{ 4107542400 * NS_PER_S, "2100-03-01T00:00:00.000000Z", "21000301T000000Z" },
		{ INT64_MAX, "2262-04-11T23:47:16.854775Z", "22620411T234716Z" },
		{ INT64_MIN, "1677-09-21T00:12:43.145224Z", "16770921T001243Z" },
	};
	char buf[32];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(clock_utc(rows[i].ns, buf), rows[i].utc);
		assert_string_equal(clock_utc_compact(rows[i].ns, buf), rows[i].compact);
	}
}

TEST(test_utc_like_libc)
{
	uint64_t seed = 11;

	for (int i = 0; i < 100000; i++) {
		int64_t ns = (int64_t)rnd(&seed);
		time_t s = ns / NS_PER_S - (ns % NS_PER_S < 0);
		char want[64], got[32];
		struct tm tm;

		gmtime_r(&s, &tm);
		strftime(want, sizeof(want), "%Y%m%dT%H%M%SZ", &tm);
		assert_string_equal(clock_utc_compact(ns, got), want);
	}
}

TEST(test_anchor)
{
	struct clock_anchor a = clock_anchor_now();
	struct clock_anchor b = clock_anchor_now();

	assert_true(a.spread_ns >= 0 && a.spread_ns < NS_PER_S);
	assert_true(a.monotonic_ns <= clock_monotonic_ns());
	assert_true(b.monotonic_ns > a.monotonic_ns);
	assert_true(a.boottime_ns >= a.monotonic_ns - a.spread_ns);
	assert_true(llabs((b.boottime_ns - a.boottime_ns) - (b.monotonic_ns - a.monotonic_ns)) <
		    NS_PER_S);
	assert_true(a.realtime_ns > 0);
}

TEST(test_sleep)
{
	bool idle = false;
	int64_t t;

	/* Time that a hypervisor takes away may be booked as ours: once without it is enough. */
	for (int i = 0; i < 50 && !idle; i++) {
		int64_t cpu = clock_thread_cpu_ns();

		t = clock_monotonic_ns() + 20 * NS_PER_MS;
		clock_sleep_until_ns(t);
		assert_true(clock_monotonic_ns() >= t);
		idle = clock_thread_cpu_ns() - cpu < 20 * NS_PER_MS;
	}
	assert_true(idle);
	/* What is past returns: else the test would not end. */
	clock_sleep_until_ns(clock_monotonic_ns() - NS_PER_S);
	clock_sleep_until_ns(0);
	clock_sleep_until_ns(-5);
}

TEST(test_utc_parse)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{ "2026-03-04T05:06:07.123456Z", 1772600767123456000 },
		{ "2026-03-04T05:06:07.000001Z", 1772600767000001000 },
		{ "2026-03-04T05:06:07.123456789Z", 1772600767123456789 },
		{ "2026-03-04T05:06:07.5Z", 1772600767500000000 },
		{ "2026-03-04T05:06:07Z", 1772600767 * NS_PER_S },
		{ "2026-03-04T05:06:07.99999999999999999999Z", 1772600767 * NS_PER_S },
		{ "9999-03-04T05:06:07Z", 0 },
		{ "1960-03-04T05:06:07Z", 0 },
		{ "2026-03-04", 0 },
		{ "soon", 0 },
		{ "", 0 },
		{ NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (clock_utc_parse(rows[i].text) != rows[i].ns)
			fail_msg("row %zu: %lld", i, (long long)clock_utc_parse(rows[i].text));
}
