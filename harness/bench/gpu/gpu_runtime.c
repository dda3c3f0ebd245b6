#include "gpu_runtime.h"

#include <errno.h>

int gpu_runtime_load(void *library, const char *const *names, const struct dynlib_sym *syms,
		     size_t n, void *into, struct err *err)
{
	void *handle;
	int r;

	/* a library that needs its runtime has it in its reach: another one would be a copy */
	if (dynlib_load(library, syms, n, into, NULL) == 0)
		return 0;
	r = dynlib_open(names, &handle, err);
	return r < 0 ? r : dynlib_load(handle, syms, n, into, err);
}

int gpu_failed(const struct gpu_runtime *rt, int code, const char *what, struct err *err)
{
	return code ? err_set(err, EIO, "%s: %.200s", what, rt->words(code)) : 0;
}
