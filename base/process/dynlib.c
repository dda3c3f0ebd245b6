#include "profrig/base/dynlib.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

int dynlib_open(const char *const *names, void **ret_handle, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;

	/* All messages of the loader are kept: the message about an existing library that lacks a
	 * dependency may not be the last. */
	for (; *names; names++) {
		void *h = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
		const char *words;

		if (h) {
			*ret_handle = h;
			return 0;
		}
		words = dlerror();
		if (why.len)
			strbuf_addstr(&why, "; ");
		if (words)
			strbuf_addstr(&why, words);
		else
			strbuf_addf(&why, "%s: not loaded", *names);
	}
	return err_set(err, ENOENT, "%s", why.len ? why.buf : "no library named");
}

int dynlib_load(void *handle, const struct dynlib_sym *syms, size_t n, void *into, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!syms[i].optional && !dlsym(handle, syms[i].name))
			return err_set(err, ENOENT, "symbol '%s' is missing", syms[i].name);
	for (size_t i = 0; i < n; i++) {
		void *p = dlsym(handle, syms[i].name);

		/* The symbol is copied as bytes, because ISO C has no cast from an object pointer
		 * to a function pointer. */
		memcpy((char *)into + syms[i].offset, &p, sizeof(p));
	}
	return 0;
}

void dynlib_close(void *handle)
{
	if (handle)
		dlclose(handle);
}

dynlib_function *dynlib_find(void *handle, const char *name)
{
	void *p = dlsym(handle, name);
	dynlib_function *f;

	memcpy(&f, &p, sizeof(f));
	return f;
}

char *dynlib_file(dynlib_function *f)
{
	Dl_info info;
	void *p;

	memcpy(&p, &f, sizeof(p));
	if (!f || !dladdr(p, &info) || !info.dli_fname)
		return NULL;
	return xrealpath(info.dli_fname);
}

int dynlib_possible(struct err *err)
{
	(void)err;
	return 0;
}
