#include <string.h>
#include <time.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"

int64_t clock_utc_parse(const char *s)
{
	struct tm tm = { 0 };
	const char *end = s ? strptime(s, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int64_t part = 0;
	size_t n;

	if (!end || tm.tm_year < 70 || tm.tm_year > 300)
		return 0;
	n = *end == '.' ? strspn(end + 1, "0123456789") : 0;
	if (n > 0 && n < 18)
		num_decimal(end + 1, n, 9 - (int)n, &part);
	return (int64_t)timegm(&tm) * NS_PER_S + part;
}
