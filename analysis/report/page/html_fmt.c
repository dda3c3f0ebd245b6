#include "html_private.h"

#include <math.h>
#include <stdio.h>

#include "profrig/base/xalloc.h"

#define UNKNOWN "–"

/* Three significant digits; a value that would round to 1000 belongs to the next unit, which the
 * callers see to. */
static const char *number_digits(char *buf, size_t n, double v)
{
	double a = fabs(v);
	int places = a >= 99.95 ? 0 : a >= 9.995 ? 1 : a >= 0.9995 ? 2 : 3;

	snprintf(buf, n, "%.*f", places, v);
	return buf;
}

char *html_fmt_si(char *buf, double v, const char *unit)
{
	static const struct {
		double mul;
		const char *prefix;
	} steps[] = { { 1e12, "T" }, { 1e9, "G" },  { 1e6, "M" },  { 1e3, "k" },
		      { 1, "" },     { 1e-3, "m" }, { 1e-6, "µ" }, { 1e-9, "n" } };
	char num[32];
	size_t i = 0;

	if (!isfinite(v)) {
		snprintf(buf, 48, UNKNOWN);
		return buf;
	}
	while (i + 1 < ARRAY_LEN(steps) && fabs(v) < 0.9995 * steps[i].mul)
		i++;
	if (v == 0)
		snprintf(buf, 48, "0 %s", unit);
	else
		snprintf(buf, 48, "%s %s%s", number_digits(num, sizeof(num), v / steps[i].mul),
			 steps[i].prefix, unit);
	return buf;
}

char *html_fmt_time(char *buf, double ns)
{
	if (isfinite(ns) && fabs(ns) >= 600e9)
		snprintf(buf, 48, "%.0f min %.0f s", floor(ns / 60e9), floor(fmod(ns / 1e9, 60)));
	else
		html_fmt_si(buf, ns / 1e9, "s");
	return buf;
}

char *html_fmt_share(char *buf, double share)
{
	char num[32];

	if (!isfinite(share))
		snprintf(buf, 48, UNKNOWN);
	else if (share > 0 && share < 0.0001)
		snprintf(buf, 48, "< 0.01 %%");
	else
		snprintf(buf, 48, "%s %%",
			 share == 1   ? "100"
			 : share == 0 ? "0"
				      : number_digits(num, sizeof(num),
						      share < 1 && share >= 0.9995 ? 99.9
										   : 100 * share));
	return buf;
}
