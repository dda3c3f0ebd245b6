/*
 * dynlib: optional shared libraries at run time.
 *
 * One X-macro list names the symbols, so that pointers are typed by the real prototypes:
 *
 *	#define NVML_SYMS(X) X(nvmlInit_v2) X(nvmlShutdown)
 *	struct nvml { DYNLIB_MEMBERS(NVML_SYMS) };			__typeof__(nvmlInit_v2)
 *									*nvmlInit_v2; …
 *	#define NVML_ROW(f) DYNLIB_SYM(struct nvml, f),
 *	static const struct dynlib_sym syms[] = { NVML_SYMS(NVML_ROW) };
 *	dynlib_open((const char *[]){ "libnvidia-ml.so.1", NULL }, &h, err);	versioned soname
 *										first
 *	dynlib_load(h, syms, ARRAY_LEN(syms), &nvml, err);
 *
 * Symbols named by DYNLIB_SYM_OPT may be absent and are NULL then. When one that is needed is
 * missing, nothing is stored.
 */
#ifndef PROFRIG_DYNLIB_H
#define PROFRIG_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/err.h"

struct dynlib_sym {
	const char *name;
	size_t offset;
	bool optional;
};

#define DYNLIB_MEMBER_(f) __typeof__(f) *f;
#define DYNLIB_MEMBERS(LIST) LIST(DYNLIB_MEMBER_)
#define DYNLIB_SYM(type, f) \
	{ \
		.name = #f, .offset = offsetof(type, f), .optional = false \
	}
#define DYNLIB_SYM_OPT(type, f) \
	{ \
		.name = #f, .offset = offsetof(type, f), .optional = true \
	}

/* First of names (NULL-terminated) that opens. -ENOENT with the loader's words when none does. */
int dynlib_open(const char *const *names, void **ret_handle, struct err *err);
int dynlib_load(void *handle, const struct dynlib_sym *syms, size_t n, void *into, struct err *err);
void dynlib_close(void *handle);
/*
 * Where names are known at run time only: a function of the library or of those that it needs;
 * NULL: there is none. Its caller knows its type.
 */
typedef void dynlib_function(void);
dynlib_function *dynlib_find(void *handle, const char *name);
/* The file that a function lies in, links resolved. Owned; NULL: unknown. */
char *dynlib_file(dynlib_function *f);

/*
 * dynlib_none.c replaces dynlib.c where profrig is linked statically (mk/tarball.mk): dynlib_open
 * always fails, and dynlib_possible is -ENOSYS with the text given to dynlib_absent, which exists
 * only there.
 */
int dynlib_possible(struct err *err);
void dynlib_absent(const char *why);

#endif
