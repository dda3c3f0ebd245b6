#include "gpu_metrics.h"

#include <errno.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profrig/base/xalloc.h"

static const struct gpu_metrics_layout layouts[] = {
	{ 1, 0, false, 0, 34, 28, 30, 18, 54 }, { 1, 1, false, 24, 22, 16, 18, 6, 54 },
	{ 1, 2, false, 24, 22, 16, 18, 6, 54 }, { 1, 3, false, 24, 22, 16, 18, 6, 54 },
	{ 1, 4, true, 24, 10, 12, 14, 4, 0 },   { 1, 5, true, 88, 10, 12, 14, 4, 0 },
	{ 1, 6, true, 16, 10, 12, 14, 4, 0 },   { 1, 7, true, 24, 10, 12, 14, 4, 0 },
	{ 1, 8, true, 24, 10, 12, 14, 4, 0 },
};

int gpu_metrics_read(int fd, struct gpu_metrics *ret)
{
	/* libc's pread is a cancellation point, which costs a tenth of the call here */
	long got = syscall(SYS_pread64, fd, ret->at, (size_t)GPU_METRICS_BYTES, (off_t)0);

	ret->n = got > 0 ? (size_t)got : 0;
	if (got < 4)
		return got < 0 ? -errno : -ENODATA;
	return 0;
}

bool gpu_metrics_is(const struct gpu_metrics *m, const struct gpu_metrics_layout *l)
{
	return m->at[2] == l->format && m->at[3] == l->content;
}

const struct gpu_metrics_layout *gpu_metrics_layout(const struct gpu_metrics *m)
{
	for (size_t i = 0; i < ARRAY_LEN(layouts); i++)
		if (gpu_metrics_is(m, &layouts[i]))
			return &layouts[i];
	return NULL;
}

/* A field behind the end of the file is absent. */
static double metrics_field(const struct gpu_metrics *m, size_t offset, unsigned size)
{
	uint64_t v = 0, none = UINT64_MAX >> (64 - 8 * size);

	if (offset == 0 || offset + size > m->n)
		return NAN;
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)m->at[offset + i] << (8 * i);
	return v == none ? NAN : (double)v;
}

/* Some firmware counts activity in hundredths; a value that cannot be a percentage is absent. */
static double metrics_percent(double v)
{
	return v > 100 ? NAN : v;
}

double gpu_metrics_get(const struct gpu_metrics *m, const struct gpu_metrics_layout *l,
		       enum gpu_metric what)
{
	switch (what) {
	case GM_ENERGY:
		return metrics_field(m, l->energy, 8) / 65536;
	case GM_POWER:
		return metrics_field(m, l->power, 2);
	case GM_BUSY:
		return metrics_percent(metrics_field(m, l->busy, 2));
	case GM_MEM_BUSY:
		return metrics_percent(metrics_field(m, l->mem_busy, 2));
	case GM_HOTSPOT:
		return metrics_field(m, l->hotspot, 2);
	case GM_CLOCK:
		return metrics_field(m, l->clock, 2) * 1e6;
	}
	return NAN;
}
