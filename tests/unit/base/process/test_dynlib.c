#include "base_test.h"

#include <math.h>

#include "profrig/base/dynlib.h"

double profrig_no_such_function(double);

#define LIBM_SYMS(X) X(cos) X(sqrt)
#define LIBM_OPT_SYMS(X) X(profrig_no_such_function)
#define LIBM_ROW(f) DYNLIB_SYM(struct libm, f),
#define LIBM_OPT_ROW(f) DYNLIB_SYM_OPT(struct libm, f),

struct libm {
	DYNLIB_MEMBERS(LIBM_SYMS)
	DYNLIB_MEMBERS(LIBM_OPT_SYMS)
};

static const struct dynlib_sym syms[] = { LIBM_SYMS(LIBM_ROW) LIBM_OPT_SYMS(LIBM_OPT_ROW) };

TEST(test_load)
{
	const char *const names[] = { "libprofrig-none.so.7", "libm.so.6", NULL };
	struct libm m = { .profrig_no_such_function = cos };
	struct err err = ERR_INIT;
	void *h = NULL;

	assert_int_equal(dynlib_open(names, &h, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(dynlib_load(h, syms, ARRAY_LEN(syms), &m, &err), 0);
	assert_true(m.sqrt(9) == 3.0);
	assert_true(m.cos(0) == 1.0);
	assert_null(m.profrig_no_such_function);
	dynlib_close(h);
	dynlib_close(NULL);
}

TEST(test_missing)
{
	const struct dynlib_sym need[] = {
		DYNLIB_SYM(struct libm, cos),
		{ "profrig_no_such_function", 0, false },
	};
	const char *const names[] = { "libprofrig-none.so.7", "libprofrig-none.so", NULL };
	const char *const libm[] = { "libm.so.6", NULL };
	const char *const none[] = { NULL };
	struct libm m = { 0 };
	struct err err = ERR_INIT;
	void *h = NULL;

	assert_int_equal(dynlib_open(names, &h, &err), -ENOENT);
	assert_null(h);
	assert_has(err.msg, "libprofrig-none.so.7: ", "; libprofrig-none.so: ");
	assert_int_equal(dynlib_open(none, &h, &err), -ENOENT);
	assert_string_equal(err.msg, "no library named");
	assert_int_equal(dynlib_open(libm, &h, NULL), 0);
	assert_int_equal(dynlib_load(h, need, ARRAY_LEN(need), &m, &err), -ENOENT);
	assert_string_equal(err.msg, "symbol 'profrig_no_such_function' is missing");
	assert_null(m.cos);
	dynlib_close(h);
}

TEST(by_name_and_where)
{
	void *h = NULL;
	CLEANUP(xfreep) char *path = NULL;
	dynlib_function *f;

	assert_int_equal(dynlib_open((const char *[]){ "libm.so.6", NULL }, &h, NULL), 0);
	f = dynlib_find(h, "cos");
	assert_true(f && ((double (*)(double))f)(0) == 1);
	path = dynlib_file(f);
	assert_non_null(path);
	assert_true(path[0] == '/' && strstr(path, "libm"));
	assert_true(dynlib_find(h, "no_such_function") == NULL);
	assert_null(dynlib_file(NULL));
	dynlib_close(h);
}
