/*
 * libprofrig_wrap.so: gives their tools to programs of wrap_at that are started by a path, such as
 * Python's sys.executable, or the first line of a script in a virtual environment. (Programs
 * started by name are found in the run's folder of wrap scripts, with which PATH begins; but a
 * workload may put another folder before it.)
 *
 * PROFRIG_WRAP names that folder. When a started path has the last part of a script there, or its
 * first line ("#!") names such a program, that script is started instead, and PROFRIG_WRAPPED is
 * the path of the program. The script removes both variables, so the program's own children are
 * left alone. Other starts are passed on unchanged.
 *
 * A child of vfork may use only its stack, and shares its memory with the parent. So the next
 * functions are looked up at the start, lists of words are made by alloca, and no state is kept.
 *
 * Not seen: statically linked programs, programs that are not started by a preloaded one, and
 * system calls that bypass libc.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
#endif

#define DIR_VAR "PROFRIG_WRAP="
#define PROGRAM_VAR "PROFRIG_WRAPPED="
#define MAX_WORDS 16384 /* more would be too large for the stack: passed on unchanged */
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

/* How the caller starts a program: exec, or spawn with its arguments; by path or by name. */
struct way {
	bool spawn, by_name;
	pid_t *pid;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attr;
};

static const char *in_env(char *const envp[], const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; envp && envp[i]; i++)
		if (strncmp(envp[i], name, n) == 0)
			return envp[i] + n;
	return NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The number of bytes that join_path writes. */
static size_t join_size(size_t dir_len, const char *name)
{
	return dir_len + strlen(name) + 2;
}

static const char *join_path(char *to, const char *dir, size_t dir_len, const char *name)
{
	memcpy(to, dir, dir_len);
	to[dir_len] = '/';
	memcpy(to + dir_len + 1, name, strlen(name) + 1);
	return to;
}

/*
 * An executable file; folders can have the mode of one, too. Before 2.33 libc has no callable stat.
 */
static bool is_program(const char *path)
{
	struct stat st;

	return access(path, X_OK) == 0 && syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 &&
	       S_ISREG(st.st_mode);
}

/* The words of a script's first line, as execve(2) takes them: the interpreter and at most one
 * option. They point into line, which holds FIRST_LINE bytes. NULL: there is no such line. */
static const char *script_interpreter(const char *path, char *line, const char **ret_option)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, FIRST_LINE - 1);
	char *at, *end;

	if (fd >= 0)
		close(fd);
	*ret_option = NULL;
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = '\0';
	end = strchr(line, '\n');
	if (!end)
		return NULL;
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	at = line + 2 + strspn(line + 2, " \t");
	end = at + strcspn(at, " \t");
	if (*end) {
		*end = '\0';
		*ret_option = end + 1 + strspn(end + 1, " \t");
	}
	return *at ? at : NULL;
}

static int hand_on(const struct way *w, const char *file, char *const argv[], char *const envp[])
{
	look_up();
	if (w->spawn)
		return (w->by_name ? next_spawnp : next_spawn)(w->pid, file, w->actions, w->attr,
							       argv, envp);
	return (w->by_name ? next_execvpe : next_execve)(file, argv, envp);
}

static size_t count_words(char *const words[])
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

/* The start that replaces the caller's. */
struct wrapped {
	const char *script, *program;
	const char *path, *option; /* of a script that program interprets; else NULL */
};

static int start_script(const struct way *w, const struct wrapped *found, char *const argv[],
			char *const envp[])
{
	static const char var[] = PROGRAM_VAR;
	size_t nr_argv = count_words(argv), nr_envp = count_words(envp), n = 0;
	size_t var_len = sizeof(var) - 1, program_size = strlen(found->program) + 1;
	char *program = alloca(var_len + program_size);
	char **words = alloca((nr_argv + 4) * sizeof(*words));
	char **env = alloca((nr_envp + 2) * sizeof(*env));
	struct way by_path = *w;

	words[n++] = (char *)found->script;
	if (found->option)
		words[n++] = (char *)found->option;
	if (found->path)
		words[n++] = (char *)found->path;
	for (size_t i = 1; i < nr_argv; i++)
		words[n++] = argv[i];
	words[n] = NULL;
	n = 0;
	for (size_t i = 0; i < nr_envp; i++)
		if (strncmp(envp[i], var, var_len) != 0)
			env[n++] = envp[i];
	memcpy(program, var, var_len);
	memcpy(program + var_len, found->program, program_size);
	env[n++] = program;
	env[n] = NULL;
	by_path.by_name = false;
	return hand_on(&by_path, found->script, words, env);
}

/*
 * file is the name that the caller gives, path the file that it leads to. Threads may have a stack
 * of a few pages, so a program that is not wrapped costs only some names. A path that does not
 * exist fails as usual.
 */
static int start_program(const struct way *w, const char *file, const char *path,
			 char *const argv[], char *const envp[])
{
	const char *dir = in_env(envp, DIR_VAR);
	size_t n = dir ? strlen(dir) : 0;
	struct wrapped found = { .program = path };
	char line[FIRST_LINE], *script;
	int before = errno;

	/* wrap scripts are not wrapped themselves */
	if (n == 0 || (strncmp(path, dir, n) == 0 && path[n] == '/') || !is_program(path) ||
	    count_words(argv) + count_words(envp) > MAX_WORDS) {
		errno = before;
		return hand_on(w, file, argv, envp);
	}
	script = alloca(join_size(n, last_part(path)));
	found.script = join_path(script, dir, n, last_part(path));
	if (!is_program(found.script)) {
		found.program = script_interpreter(path, line, &found.option);
		found.path = path;
		if (found.program) {
			script = alloca(join_size(n, last_part(found.program)));
			found.script = join_path(script, dir, n, last_part(found.program));
		}
		if (!found.program || !is_program(found.script)) {
			errno = before;
			return hand_on(w, file, argv, envp);
		}
	}
	errno = before;
	return start_script(w, &found, argv, envp);
}

static int start_path(const struct way *w, const char *path, char *const argv[], char *const envp[])
{
	return start_program(w, path, path, argv, envp);
}

/* Starts a program by name: finds the file through the caller's PATH. */
static int start_name(const struct way *w, const char *name, char *const argv[], char *const envp[])
{
	const char *dirs = in_env(environ, "PATH="), *end;
	int before = errno;
	char *path;

	if (strchr(name, '/'))
		return start_path(w, name, argv, envp);
	if (!dirs || !*name || !in_env(envp, DIR_VAR))
		return hand_on(w, name, argv, envp);
	path = alloca(join_size(strlen(dirs), name));
	/* an empty element is the working directory, which is left to libc */
	for (;; dirs = end + 1) {
		end = dirs + strcspn(dirs, ":");
		if (end == dirs || is_program(join_path(path, dirs, (size_t)(end - dirs), name)) ||
		    !*end)
			break;
	}
	errno = before;
	if (end == dirs)
		return hand_on(w, name, argv, envp);
	return start_program(w, name, path, argv, envp);
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

/* The words of a call that lists them, copied to the caller's stack; ap is behind their NULL
 * afterwards. */
#define LIST_WORDS(first, ap, words) \
	do { \
		size_t n = 1; \
		va_start(ap, first); \
		while (va_arg(ap, char *)) \
			n++; \
		va_end(ap); \
		words = alloca((n + 1) * sizeof(*words)); \
		words[0] = (char *)first; \
		va_start(ap, first); \
		for (size_t i = 1; i <= n; i++) \
			words[i] = va_arg(ap, char *); \
	} while (0)

int execl(const char *path, const char *arg, ...)
{
	char **words;
	va_list ap;

	LIST_WORDS(arg, ap, words);
	va_end(ap);
	return execv(path, words);
}

int execlp(const char *file, const char *arg, ...)
{
	char **words;
	va_list ap;

	LIST_WORDS(arg, ap, words);
	va_end(ap);
	return execvp(file, words);
}

int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	char **words;
	va_list ap;

	LIST_WORDS(arg, ap, words);
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
