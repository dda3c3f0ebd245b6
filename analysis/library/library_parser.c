#include "library_parser.h"

#include "profrig/base/clock.h"

#define INDENT_MAX ((size_t)64) /* blanks in front of a comment */

size_t library_path_before(struct text_slice line, size_t at)
{
	size_t n = 0, most = at < LIBRARY_BEFORE_MAX ? at : LIBRARY_BEFORE_MAX;

	while (n < most && !slice_blank(line.p[at - n - 1]))
		n++;
	if (n == 0 || line.p[at - 1] != '/')
		return 0;
	if (line.p[at - n] == '/' || line.p[at - n] == '.')
		return n;
	return n >= 2 && line.p[at - 2] == '.' ? 2 : 0; /* other text stands before "./" */
}

bool library_commented(struct text_slice line, size_t at)
{
	size_t n = 0, most = at < INDENT_MAX ? at : INDENT_MAX;

	while (n < most && slice_blank(line.p[n]))
		n++;
	if (n == most || line.p[n] != '#' || at - n > LIBRARY_BEFORE_MAX)
		return false;
	for (n++; n < at && slice_blank(line.p[n]); n++)
		;
	for (size_t i = n; i < at; i++)
		if (slice_blank(line.p[i]))
			return false;
	return n == at || line.p[at - 1] == '/';
}

/* Digits up to one that is none; false: not `width` of them. */
static bool stamp_number(struct text_slice t, size_t at, size_t width, int64_t max, int64_t *ret)
{
	int64_t v = 0;

	if (at + width > t.n)
		return false;
	for (size_t i = at; i < at + width; i++) {
		if (t.p[i] < '0' || t.p[i] > '9')
			return false;
		v = v * 10 + (t.p[i] - '0');
	}
	*ret = v;
	return v <= max;
}

/* Days since 1970 of a date of the Gregorian calendar, years counted from March. */
static int64_t stamp_days(int64_t year, int64_t month, int64_t day)
{
	int64_t y = year - (month <= 2), m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

bool library_stamp(struct text_slice t, int64_t *ret_ns)
{
	int64_t year, month, day, hour, minute, second, ns = 0, unit = NS_PER_S / 10;

	if (!stamp_number(t, 0, 4, 2261, &year) || !stamp_number(t, 5, 2, 12, &month) ||
	    !stamp_number(t, 8, 2, 31, &day) || !stamp_number(t, 11, 2, 23, &hour) ||
	    !stamp_number(t, 14, 2, 59, &minute) || !stamp_number(t, 17, 2, 60, &second) ||
	    year < 1970 || month == 0 || day == 0)
		return false;
	if (t.p[4] != '-' || t.p[7] != '-' || (t.p[10] != ' ' && t.p[10] != 'T') ||
	    t.p[13] != ':' || t.p[16] != ':')
		return false;
	if (t.n > 19 && t.p[19] == '.')
		for (size_t i = 20; i < t.n && t.p[i] >= '0' && t.p[i] <= '9'; i++, unit /= 10)
			ns += unit * (t.p[i] - '0');
	second += 60 * (minute + 60 * (hour + 24 * stamp_days(year, month, day)));
	*ret_ns = second * NS_PER_S + ns;
	return true;
}
