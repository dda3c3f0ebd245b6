#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
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

const struct bench_driver *bench_driver_of_file(const char *path)
{
	const struct bench_driver *others = NULL;

	for (size_t i = 0; bench_drivers[i]; i++)
		if (!bench_drivers[i]->files)
			others = others ? others : bench_drivers[i];
		else if (strstr(fs_base(path), bench_drivers[i]->files))
			return bench_drivers[i];
	return others;
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
