#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_driver.h"

#define ROW(name) &bench_driver_##name,
const struct bench_driver *const bench_drivers[] = { BENCH_DRIVERS(ROW) NULL };

const struct bench_driver *bench_driver_named(const char *name)
{
	for (size_t i = 0; bench_drivers[i]; i++)
		if (!strcmp(bench_drivers[i]->name, name))
			return bench_drivers[i];
	return NULL;
}

static const struct bench_driver *driver_of_name(const char *base)
{
	for (size_t i = 0; bench_drivers[i]; i++) {
		const char *file = bench_drivers[i]->file;
		size_t n = file ? strlen(file) : 0;

		if (file && !strncasecmp(base, file, n) && base[n] && strchr(".-_", base[n]))
			return bench_drivers[i];
	}
	return NULL;
}

const struct bench_driver *bench_driver_of_file(const char *path)
{
	CLEANUP(xfreep) char *real = xrealpath(path);
	const struct bench_driver *d = driver_of_name(fs_base(path));

	if (!d && real)
		d = driver_of_name(fs_base(real));
	return d ? d : &bench_driver_blas;
}

int bench_work(const char *key, struct bench_work *ret, struct err *err)
{
	int r = -ENOTSUP;

	for (size_t i = 0; bench_drivers[i] && r == -ENOTSUP; i++) {
		if (err)
			*err = (struct err)ERR_INIT;
		r = bench_drivers[i]->work(key, ret, err);
	}
	return r;
}
