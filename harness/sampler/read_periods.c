#include "read_periods.h"

#include <stdlib.h>

#define MAX_KEPT 65536

void read_periods_init(struct read_periods *i)
{
	*i = (struct read_periods){ .stride = 1 };
}

void read_periods_add(struct read_periods *i, int64_t ns)
{
	if (i->count++ % i->stride != 0)
		return;
	if (i->kept.nr == MAX_KEPT) {
		for (size_t k = 0; k < MAX_KEPT / 2; k++)
			i->kept.v[k] = i->kept.v[2 * k];
		i->kept.nr = MAX_KEPT / 2;
		i->stride *= 2;
	}
	VEC_PUSH(&i->kept, ns);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t read_periods_median(struct read_periods *i)
{
	if (i->kept.nr == 0)
		return 0;
	qsort(i->kept.v, i->kept.nr, sizeof(*i->kept.v), by_value);
	return i->kept.v[i->kept.nr / 2];
}

void read_periods_release(struct read_periods *i)
{
	VEC_RELEASE(&i->kept);
}
