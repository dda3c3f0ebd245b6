#include "profrig/base/natural.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int natural_cmp(const char *a, const char *b)
{
	const char *x = a, *y = b;
	while (*x && *y) {
		if (!is_digit(*x) || !is_digit(*y)) {
			if (*x != *y)
				return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
			x++;
			y++;
			continue;
		}
		while (*x == '0' && is_digit(x[1]))
			x++;
		while (*y == '0' && is_digit(y[1]))
			y++;
		size_t nx = strspn(x, "0123456789"), ny = strspn(y, "0123456789");
		if (nx != ny)
			return nx < ny ? -1 : 1;
		int d = memcmp(x, y, nx);
		if (d)
			return d;
		x += nx;
		y += ny;
	}
	if (*x || *y)
		return *x ? 1 : -1;
	return strcmp(a, b); /* leading zeros */
}
