/*
 * libprofrig_wrap.so: programs of wrap_at that are started by a path get their tools too: what
 * Python starts as sys.executable, what a script of a virtual environment names in its first line.
 * (Those started by name are found in the run's folder of wrap scripts, which PATH begins with; but
 * a workload may put another folder before it.)
 *
 * PROFRIG_WRAP names that folder. To start a path whose last part is a script there, or whose first
 * line ("#!") names such a program, is to start that script, with PROFRIG_WRAPPED=<the program's
 * path>; the script takes both variables away, so what the program starts is left alone. All else
 * is handed on as it came.
 *
 * A child of vfork may use nothing but its stack, and shares its memory with the parent: the next
 * functions are looked up at the start, lists of words are made by alloca, nothing is kept.
 *
 * Not seen: what is linked statically, what is no child of a preloaded program, and who asks the
 * kernel without libc.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#if defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
#endif

#define DIR_VAR "PROFRIG_WRAP="
#define PROGRAM_VAR "PROFRIG_WRAPPED="
#define MAX_WORDS 65536 /* more are handed on unseen: the stack of a thread may be small */
#define FIRST_LINE 256

typedef int exec_fn(const char *, char *const[], char *const[]);
typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
		     const posix_spawnattr_t *, char *const[], char *const[]);

static exec_fn *next_execve, *next_execvpe;
static spawn_fn *next_spawn, *next_spawnp;

__attribute__((constructor)) static void look_up(void)
{
	if (next_spawnp)
		return;
	next_execve = (exec_fn *)dlsym(RTLD_NEXT, "execve");
	next_execvpe = (exec_fn *)dlsym(RTLD_NEXT, "execvpe");
	next_spawn = (spawn_fn *)dlsym(RTLD_NEXT, "posix_spawn");
	next_spawnp = (spawn_fn *)dlsym(RTLD_NEXT, "posix_spawnp");
}

/* How the caller starts something: exec, or spawn with what belongs to it; by path or by name. */
struct way {
	bool spawn, by_name;
	pid_t *pid;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attr;
};

/* What is to be started instead. */
struct wrapped {
	char script[PATH_MAX];
	char program[sizeof(PROGRAM_VAR) + PATH_MAX]; /* as a variable */
	char line[FIRST_LINE];                        /* of a script: cut into words */
	const char *option;                           /* its interpreter's, or NULL */
	bool interpreted;
};

static const char *in_env(char *const envp[], const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; envp && envp[i]; i++)
		if (strncmp(envp[i], name, n) == 0)
			return envp[i] + n;
	return NULL;
}

/* dir/name, when that fits and can be executed. */
static bool in_dir(const char *dir, size_t dir_len, const char *name, char *ret)
{
	size_t n = strlen(name);

	if (dir_len + n + 2 > PATH_MAX || n == 0)
		return false;
	memcpy(ret, dir, dir_len);
	ret[dir_len] = '/';
	memcpy(ret + dir_len + 1, name, n + 1);
	return access(ret, X_OK) == 0;
}

static bool find_script(const char *dir, const char *program, struct wrapped *ret)
{
	const char *slash = strrchr(program, '/');
	size_t program_len = strlen(program);

	if (program_len >= PATH_MAX ||
	    !in_dir(dir, strlen(dir), slash ? slash + 1 : program, ret->script))
		return false;
	memcpy(ret->program, PROGRAM_VAR, sizeof(PROGRAM_VAR) - 1);
	memcpy(ret->program + sizeof(PROGRAM_VAR) - 1, program, program_len + 1);
	return true;
}

/* The first line's words: the interpreter and at most one option, as execve(2) takes them. */
static const char *interpreter(const char *path, struct wrapped *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret->line, sizeof(ret->line) - 1);
	char *at, *end;

	if (fd >= 0)
		close(fd);
	ret->option = NULL;
	if (n < 3 || ret->line[0] != '#' || ret->line[1] != '!')
		return NULL;
	ret->line[n] = '\0';
	end = strchr(ret->line, '\n');
	if (!end)
		return NULL;
	while (end > ret->line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	at = ret->line + 2 + strspn(ret->line + 2, " \t");
	end = at + strcspn(at, " \t");
	if (*end) {
		*end = '\0';
		ret->option = end + 1 + strspn(end + 1, " \t");
	}
	return *at ? at : NULL;
}

static bool is_wrapped(const char *path, char *const envp[], struct wrapped *ret)
{
	const char *dir = in_env(envp, DIR_VAR), *by;
	size_t n = dir ? strlen(dir) : 0;

	/* a path that is tried and not there fails as ever; the scripts are no programs */
	if (n == 0 || access(path, X_OK) != 0 || (strncmp(path, dir, n) == 0 && path[n] == '/'))
		return false;
	ret->interpreted = false;
	if (find_script(dir, path, ret))
		return true;
	by = interpreter(path, ret);
	ret->interpreted = by && find_script(dir, by, ret);
	return ret->interpreted;
}

static int hand_on(const struct way *w, const char *file, char *const argv[], char *const envp[])
{
	look_up();
	if (w->spawn)
		return (w->by_name ? next_spawnp : next_spawn)(w->pid, file, w->actions, w->attr,
							       argv, envp);
	return (w->by_name ? next_execvpe : next_execve)(file, argv, envp);
}

static size_t count(char *const words[])
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

static int start_path(const struct way *w, const char *path, char *const argv[], char *const envp[])
{
	struct wrapped found;
	struct way by_path = *w;
	size_t nr_argv = count(argv), nr_envp = count(envp), n = 0;
	int before = errno;
	char **words, **env;

	if (nr_argv + nr_envp > MAX_WORDS || !is_wrapped(path, envp, &found)) {
		errno = before;
		return hand_on(w, path, argv, envp);
	}
	words = alloca((nr_argv + 4) * sizeof(*words));
	words[n++] = found.script;
	if (found.interpreted && found.option)
		words[n++] = (char *)found.option;
	if (found.interpreted)
		words[n++] = (char *)path;
	for (size_t i = 1; i < nr_argv; i++)
		words[n++] = argv[i];
	words[n] = NULL;
	env = alloca((nr_envp + 2) * sizeof(*env));
	n = 0;
	for (size_t i = 0; i < nr_envp; i++)
		if (strncmp(envp[i], PROGRAM_VAR, sizeof(PROGRAM_VAR) - 1) != 0)
			env[n++] = envp[i];
	env[n++] = found.program;
	env[n] = NULL;
	by_path.by_name = false;
	errno = before;
	return hand_on(&by_path, found.script, words, env);
}

/* By name: the file that the caller's PATH leads to, when that is to be wrapped. */
static int start_name(const struct way *w, const char *name, char *const argv[], char *const envp[])
{
	const char *dirs = in_env(environ, "PATH=");
	char path[PATH_MAX];
	int before = errno;

	if (!dirs || strchr(name, '/') || !in_env(envp, DIR_VAR))
		return strchr(name, '/') ? start_path(w, name, argv, envp)
					 : hand_on(w, name, argv, envp);
	for (const char *end = dirs; *end; dirs = end + 1) {
		end = dirs + strcspn(dirs, ":");
		if (end > dirs && in_dir(dirs, (size_t)(end - dirs), name, path)) {
			struct wrapped found;

			if (!is_wrapped(path, envp, &found))
				break;
			errno = before;
			return start_path(w, path, argv, envp);
		}
	}
	errno = before;
	return hand_on(w, name, argv, envp);
}

/* --- what programs call --- */

int execve(const char *path, char *const argv[], char *const envp[])
{
	return start_path(&(struct way){ 0 }, path, argv, envp);
}

int execv(const char *path, char *const argv[])
{
	return start_path(&(struct way){ 0 }, path, argv, environ);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return start_name(&(struct way){ .by_name = true }, file, argv, envp);
}

int execvp(const char *file, char *const argv[])
{
	return start_name(&(struct way){ .by_name = true }, file, argv, environ);
}

/* The words of a call that lists them, on the caller's stack. */
#define COUNT_WORDS(first, n) \
	do { \
		va_list count_ap; \
		va_start(count_ap, first); \
		for (n = 1; va_arg(count_ap, char *);) \
			n++; \
		va_end(count_ap); \
	} while (0)

#define LIST_WORDS(first, ap, words, n) \
	do { \
		words = alloca((n + 1) * sizeof(*words)); \
		words[0] = (char *)first; \
		for (size_t i = 1; i <= n; i++) \
			words[i] = va_arg(ap, char *); \
	} while (0)

int execl(const char *path, const char *arg, ...)
{
	size_t n = 0;
	char **words;
	va_list ap;

	COUNT_WORDS(arg, n);
	va_start(ap, arg);
	LIST_WORDS(arg, ap, words, n);
	va_end(ap);
	return execv(path, words);
}

int execlp(const char *file, const char *arg, ...)
{
	size_t n = 0;
	char **words;
	va_list ap;

	COUNT_WORDS(arg, n);
	va_start(ap, arg);
	LIST_WORDS(arg, ap, words, n);
	va_end(ap);
	return execvp(file, words);
}

int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	size_t n = 0;
	char **words;
	va_list ap;

	COUNT_WORDS(arg, n);
	va_start(ap, arg);
	LIST_WORDS(arg, ap, words, n);
	envp = va_arg(ap, char *const *);
	va_end(ap);
	return execve(path, words, envp);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *file_actions,
		const posix_spawnattr_t *attrp, char *const argv[], char *const envp[])
{
	struct way w = { .spawn = true, .pid = pid, .actions = file_actions, .attr = attrp };

	return start_path(&w, path, argv, envp);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *file_actions,
		 const posix_spawnattr_t *attrp, char *const argv[], char *const envp[])
{
	struct way w = {
		.spawn = true, .by_name = true, .pid = pid, .actions = file_actions, .attr = attrp
	};

	return start_name(&w, file, argv, envp);
}
