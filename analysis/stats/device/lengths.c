#include "lengths.h"

static const struct {
	int64_t below_ns;
	const char *name;
} lengths[LENGTHS] = {
	{ 10000, "<10us" },        { 20000, "10-20us" },     { 50000, "20-50us" },
	{ 100000, "50-100us" },    { 1000000, "100us-1ms" }, { 10000000, "1-10ms" },
	{ 100000000, "10-100ms" }, { INT64_MAX, ">=100ms" },
};

size_t length_of(int64_t ns)
{
	size_t i = 0;

	while (i + 1 < LENGTHS && ns >= lengths[i].below_ns)
		i++;
	return i;
}

const char *length_name(size_t length)
{
	return lengths[length].name;
}
