/* dynlib of a static program: a library cannot be loaded into it, so none is found. */
#include <errno.h>

#include "profrig/base/dynlib.h"

static const char no_library[] = "no library can be loaded here ('profrig doctor' says why)";
static struct err reason = { .code = ENOSYS, .msg = "a static program loads no libraries" };

void dynlib_absent(const char *why)
{
	err_set(&reason, ENOSYS, "%s", why);
}

int dynlib_possible(struct err *err)
{
	return err_set(err, ENOSYS, "%s", reason.msg);
}

int dynlib_open(const char *const *names, void **ret_handle, struct err *err)
{
	(void)names, (void)ret_handle;
	return err_set(err, ENOENT, "%s", no_library);
}

int dynlib_load(void *handle, const struct dynlib_sym *syms, size_t n, void *into, struct err *err)
{
	(void)handle, (void)syms, (void)n, (void)into;
	return err_set(err, ENOENT, "%s", no_library);
}

void dynlib_close(void *handle)
{
	(void)handle;
}

dynlib_function *dynlib_find(void *handle, const char *name)
{
	(void)handle, (void)name;
	return NULL;
}

char *dynlib_file(dynlib_function *f)
{
	(void)f;
	return NULL;
}
