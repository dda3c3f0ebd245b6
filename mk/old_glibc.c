/*
 * What the headers and start files of this glibc ask for and an older one has under another name.
 * Linked into the dynamic programs of a portable build, with -Wl,--wrap=__libc_start_main.
 *
 * Up to 2.32 a program's static part called the functions of .init_array, since 2.34 libc does,
 * unless the program brings a function for it. stat and its like became symbols in 2.33; before,
 * each program had its own around __xstat, whose first argument is the version of struct stat.
 * strerrordesc_np is of 2.32; without a locale strerror says the same.
 */
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier) */
#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

typedef int main_fn(int, char **, char **);
typedef void init_fn(int, char **, char **);

int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstatat(int version, int fd, const char *path, struct stat *st, int flags);
int __real___libc_start_main(main_fn *program, int argc, char **argv, init_fn *init,
			     void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __wrap___libc_start_main(main_fn *program, int argc, char **argv, init_fn *init,
			     void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

extern init_fn *const __init_array_start[] __attribute__((visibility("hidden")));
extern init_fn *const __init_array_end[] __attribute__((visibility("hidden")));

static void call_init_array(int argc, char **argv, char **env)
{
	size_t n = (size_t)(__init_array_end - __init_array_start);

	for (size_t i = 0; i < n; i++)
		__init_array_start[i](argc, argv, env);
}

int __wrap___libc_start_main(main_fn *program, int argc, char **argv, init_fn *init,
			     void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	return __real___libc_start_main(program, argc, argv, init ? init : call_init_array, fini,
					rtld_fini, stack_end);
}

int stat(const char *path, struct stat *st)
{
	return __xstat(STAT_VERSION, path, st);
}

int lstat(const char *path, struct stat *st)
{
	return __lxstat(STAT_VERSION, path, st);
}

int fstat(int fd, struct stat *st)
{
	return __fxstat(STAT_VERSION, fd, st);
}

int fstatat(int fd, const char *path, struct stat *st, int flags)
{
	return __fxstatat(STAT_VERSION, fd, path, st, flags);
}

int stat64(const char *path, struct stat64 *st) __attribute__((alias("stat")));
int lstat64(const char *path, struct stat64 *st) __attribute__((alias("lstat")));
int fstat64(int fd, struct stat64 *st) __attribute__((alias("fstat")));

const char *strerrordesc_np(int code)
{
	const char *s = strerror(code);

	return strncmp(s, "Unknown error", 13) == 0 ? NULL : s;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier) */
