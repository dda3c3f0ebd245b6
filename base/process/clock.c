#include "profrig/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#define ANCHOR_TRIES 16

static int64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_monotonic_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_realtime_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

static int64_t clock_boottime_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

int64_t clock_thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct clock_anchor clock_anchor_now(void)
{
	struct clock_anchor best = { .spread_ns = INT64_MAX };

	/* An interrupted try has a wide spread; the narrowest is the most exact. */
	for (int i = 0; i < ANCHOR_TRIES; i++) {
		int64_t before = clock_monotonic_ns();
		int64_t real = clock_realtime_ns();
		int64_t boot = clock_boottime_ns();
		int64_t spread = clock_monotonic_ns() - before;

		if (spread < best.spread_ns)
			best = (struct clock_anchor){ before + spread / 2, real, boot, spread };
	}
	return best;
}

void clock_sleep_until_ns(int64_t t_ns)
{
	struct timespec ts = { .tv_sec = t_ns / NS_PER_S, .tv_nsec = t_ns % NS_PER_S };

	if (t_ns <= 0)
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

struct civil {
	int year;
	unsigned month, day, hour, minute, second, micro;
};

/*
 * Proleptic Gregorian date by arithmetic, because gmtime_r reads the zone files and takes a lock.
 * Years are counted from March, so that the leap day is the last of its year, in eras of 400 years
 * = 146097 days.
 */
static struct civil civil_from_ns(int64_t ns)
{
	int64_t us = ns / 1000 - (ns % 1000 < 0);
	int64_t s = us / 1000000 - (us % 1000000 < 0);
	int64_t days = s / 86400 - (s % 86400 < 0);
	unsigned in_day = (unsigned)(s - days * 86400);
	int64_t z = days + 719468; /* from 0000-03-01 */
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	unsigned doe = (unsigned)(z - era * 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;
	struct civil c = {
		.month = mp < 10 ? mp + 3 : mp - 9,
		.day = doy - (153 * mp + 2) / 5 + 1,
		.hour = in_day / 3600,
		.minute = in_day / 60 % 60,
		.second = in_day % 60,
		.micro = (unsigned)(us - s * 1000000),
	};

	c.year = (int)(yoe + era * 400 + (c.month <= 2));
	return c;
}

static char *put_digits(char *p, unsigned v, int width)
{
	for (int i = width - 1; i >= 0; i--, v /= 10)
		p[i] = (char)('0' + v % 10);
	return p + width;
}

/* 64 bits of nanoseconds reach from 1677 to 2262, so a year has four digits. */
char *clock_utc(int64_t realtime_ns, char *buf)
{
	struct civil c = civil_from_ns(realtime_ns);
	char *p = put_digits(buf, (unsigned)c.year, 4);

	*p++ = '-';
	p = put_digits(p, c.month, 2);
	*p++ = '-';
	p = put_digits(p, c.day, 2);
	*p++ = 'T';
	p = put_digits(p, c.hour, 2);
	*p++ = ':';
	p = put_digits(p, c.minute, 2);
	*p++ = ':';
	p = put_digits(p, c.second, 2);
	*p++ = '.';
	p = put_digits(p, c.micro, 6);
	*p++ = 'Z';
	*p = '\0';
	return buf;
}

char *clock_utc_compact(int64_t realtime_ns, char *buf)
{
	struct civil c = civil_from_ns(realtime_ns);
	char *p = put_digits(buf, (unsigned)c.year, 4);

	p = put_digits(p, c.month, 2);
	p = put_digits(p, c.day, 2);
	*p++ = 'T';
	p = put_digits(p, c.hour, 2);
	p = put_digits(p, c.minute, 2);
	p = put_digits(p, c.second, 2);
	*p++ = 'Z';
	*p = '\0';
	return buf;
}
