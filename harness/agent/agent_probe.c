/*
 * The image's own loader checks a library: it lists the libraries that it would load, and runs no
 * code of them. Its error message is the reason. A library that is found by name is preloaded for
 * that list.
 */
#include "agent_priv.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/proc.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define GLIBC_LOADER "/lib64/ld-linux-x86-64.so.2"
#define MUSL_LOADER "/lib/ld-musl-x86_64.so.1"
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define GLIBC_LOADER "/lib/ld-linux-aarch64.so.1"
#define MUSL_LOADER "/lib/ld-musl-aarch64.so.1"
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#define GLIBC_LOADER "/lib64/ld64.so.2"
#define MUSL_LOADER "/lib/ld-musl-powerpc64le.so.1"
#elif defined(__riscv)
#define MACHINE EM_RISCV
#define GLIBC_LOADER "/lib/ld-linux-riscv64-lp64d.so.1"
#define MUSL_LOADER "/lib/ld-musl-riscv64.so.1"
#else
#error "add the ELF machine of the new architecture and its loaders to this file"
#endif

#define LIBC "libc.so.6"
#define LOADER_MS 10000
#define LOADER_WORDS 8192 /* less than a pipe takes */
/* The names of needed libraries are near the beginning of a file. */
#define HEADER_BYTES ((size_t)1 << 20)
/* Folders where tools look for libraries outside of the loader's own list. */
#define MORE_DIRS "/usr/local/lib:/usr/local/lib64:/opt/rocm/lib:/opt/rocm/lib64"

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* --- the loader --- */

static const char *loader_find(void)
{
	return access(GLIBC_LOADER, X_OK) == 0  ? GLIBC_LOADER
	       : access(MUSL_LOADER, X_OK) == 0 ? MUSL_LOADER
						: NULL;
}

/* Runs a loader with env alone and reads its output from fd (1 or 2). Output beyond the size of a
 * pipe blocks it until its time is up. */
static int loader_run(char *const *argv, char *const *env, int fd, char text[LOADER_WORDS],
		      struct err *err)
{
	CLEANUP(xclosep) int from = -1, to = -1;
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit x;
	int fds[2], r;
	ssize_t n;
	pid_t pid;

	*text = '\0';
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, errno, "no pipe");
	from = fds[0];
	to = fds[1];
	fcntl(to, F_SETFL, 0);
	o.argv = argv;
	o.env = env;
	*(fd == 1 ? &o.fd_out : &o.fd_err) = to;
	o.die_with_parent = true;
	r = proc_spawn(&o, &pid, err);
	if (r < 0)
		return r;
	r = proc_wait(pid, LOADER_MS, &x, NULL);
	if (r < 0) {
		kill(-pid, SIGKILL);
		proc_wait(pid, -1, &x, NULL);
		return err_set(err, ETIMEDOUT, "%s does not come to an end with it", argv[0]);
	}
	n = read(from, text, LOADER_WORDS - 1);
	text[n > 0 ? n : 0] = '\0';
	if (x.signal)
		return err_set(err, EIO, "%s dies of it: signal %d", argv[0], x.signal);
	return x.code;
}

/* Cuts the loader's line down to the reason; "" when the library was not found. */
static void loader_complaint(char *line, const char *program, struct strbuf *why)
{
	static const char failed[] = "error while loading shared libraries: ";
	char *at = strstr(line, failed), *end;
	size_t n = strlen(program);
	bool named = !strncmp(line, program, n) && !strncmp(line + n, ": ", 2);

	if (at) {
		strbuf_addstr(why, at + sizeof(failed) - 1);
		return;
	}
	at = strstr(line, "cannot be preloaded");
	if (!at) {
		strbuf_addstr(why, line + (named ? n + 2 : 0));
		return;
	}
	at = strchr(at, '(');
	end = at ? strchr(at, ')') : NULL;
	if (end && strncmp(at + 1, "cannot open shared object file", 30) != 0)
		strbuf_add(why, at + 1, (size_t)(end - at - 1));
}

/* Whether the loader accepts a library: a path, or with preload a name to search for. */
static bool loader_loads(const char *ld, const char *library, bool preload, const char *dirs,
			 struct strbuf *why)
{
	CLEANUP(xfreep) char *path = xasprintf("LD_LIBRARY_PATH=%s", dirs);
	CLEANUP(xfreep) char *load = xasprintf("LD_PRELOAD=%s", library);
	const char *program = preload ? LIBC : library;
	char *argv[] = { (char *)ld, (char *)"--list", (char *)program, NULL };
	char *env[] = { path, preload ? load : NULL, NULL };
	char text[LOADER_WORDS], *save;
	struct err err = ERR_INIT;
	int r = loader_run(argv, env, 2, text, &err);

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (strstr(l, "no version information available"))
			continue;
		loader_complaint(l, program, why);
		return false;
	}
	if (r < 0)
		strbuf_addstr(why, err.msg);
	else if (r > 0)
		strbuf_addf(why, "%s ends with %d", ld, r);
	return r == 0;
}

/* "… stable release version 2.36.", in the output of a program or among its bytes. */
static bool release_in(const char *text, size_t len, char *buf, size_t n)
{
	static const char words[] = "release version ";
	const char *at = memmem(text, len, words, sizeof(words) - 1), *end = text + len;
	size_t digits = 0;

	if (!at)
		return false;
	at += sizeof(words) - 1;
	while (at + digits < end && strchr("0123456789.", at[digits]) && at[digits])
		digits++;
	if (digits > 0 && at[digits - 1] == '.')
		digits--;
	snprintf(buf, n, "glibc %.*s", (int)digits, at);
	return true;
}

/*
 * Every run needs this, and starting a program takes longer than all that the agent does before it.
 * So the loader's bytes are searched. Those of a glibc older than 2.33 do not hold the text; there
 * the C library is started, which prints it.
 */
void probe_libc(char *buf, size_t n)
{
	char *argv[] = { (char *)GLIBC_LOADER, (char *)LIBC, NULL }, *env[] = { NULL };
	CLEANUP(xfreep) char *bytes = NULL;
	CLEANUP(xclosep) int fd = -1;
	const char *ld = loader_find();
	char text[LOADER_WORDS];
	ssize_t got;

	if (!ld || strcmp(ld, GLIBC_LOADER) != 0) {
		snprintf(buf, n, "%s", ld ? "musl" : "none");
		return;
	}
	bytes = xmalloc(HEADER_BYTES);
	fd = open(ld, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	got = fd < 0 ? -1 : read(fd, bytes, HEADER_BYTES);
	if (got > 0 && release_in(bytes, (size_t)got, buf, n))
		return;
	if (loader_run(argv, env, 1, text, NULL) != 0 || !release_in(text, strlen(text), buf, n))
		snprintf(buf, n, "glibc ?");
}

/* --- one library --- */

/* Checks that need no loader. needs_glibc: the library needs glibc's C library. */
static int library_check(const char *path, bool *needs_glibc, struct err *err)
{
	/* With O_NONBLOCK the open does not wait for the other end of a FIFO. */
	CLEANUP(xclosep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	CLEANUP(xfreep) char *data = xmalloc(HEADER_BYTES);
	ssize_t n = fd < 0 ? -1 : read(fd, data, HEADER_BYTES);
	Elf64_Ehdr h;

	if (n < 0)
		return err_sys(err, errno, "cannot read it");
	if ((size_t)n < sizeof(h) || memcmp(data, ELFMAG, SELFMAG) != 0)
		return err_set(err, ENOEXEC, "not an ELF file");
	memcpy(&h, data, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != MACHINE)
		return err_set(err, ENOEXEC, "built for another machine (ELF machine %u, %s)",
			       h.e_machine,
			       h.e_ident[EI_CLASS] == ELFCLASS32 ? "32 bit" : "64 bit");
	*needs_glibc = memmem(data, (size_t)n, LIBC, sizeof(LIBC)) != NULL;
	return 0;
}

static bool library_works(const char *path, const char *dirs, struct strbuf *why)
{
	const char *ld = loader_find();
	struct err err = ERR_INIT;
	bool needs_glibc = false;

	if (library_check(path, &needs_glibc, &err) < 0) {
		strbuf_addstr(why, err.msg);
		return false;
	}
	if (needs_glibc && (!ld || strcmp(ld, GLIBC_LOADER) != 0)) {
		strbuf_addf(why, "needs glibc; the C library here is %s", ld ? "musl" : "none");
		return false;
	}
	return !ld || loader_loads(ld, path, false, dirs, why);
}

static bool is_library_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch("lib*.so*", slash ? slash + 1 : path, 0);
}

/* --- one need --- */

static bool have_path(const char *path, const struct strvec *env, struct strbuf *why)
{
	const char *dirs = env_get(env, "LD_LIBRARY_PATH");

	if (access(path, F_OK) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			strbuf_addstr(why, strerror(errno));
		return false;
	}
	return !is_library_name(path) || !is_file(path) ||
	       library_works(path, dirs ? dirs : "", why);
}

static bool have_library(const char *name, const struct strvec *env, struct strbuf *why)
{
	const char *own = env_get(env, "LD_LIBRARY_PATH");
	CLEANUP(xfreep) char *dirs = xasprintf("%s%s" MORE_DIRS, own ? own : "", own ? ":" : "");
	CLEANUP(strvec_release) struct strvec all = STRVEC_INIT;
	const char *ld = loader_find();

	if (ld && !strcmp(ld, GLIBC_LOADER))
		return loader_loads(ld, name, true, dirs, why);
	strvec_split(&all, dirs, ":");
	strvec_pushl(&all, "/lib", "/usr/lib", NULL);
	for (size_t i = 0; i < all.nr; i++) {
		CLEANUP(xfreep) char *path = xasprintf("%s/%s", all.v[i], name);

		if (is_file(path))
			return library_works(path, dirs, why);
	}
	return false;
}

static bool have_program(const struct strvec *env, const char *name, struct strbuf *why)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	const char *path = env_get(env, "PATH");

	strvec_split(&dirs,
		     path ? path : "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		     ":");
	for (size_t i = 0; i < dirs.nr; i++) {
		CLEANUP(xfreep) char *file = xasprintf("%s/%s", dirs.v[i], name);

		if (!is_file(file))
			continue;
		if (access(file, X_OK) == 0)
			return true;
		strbuf_clear(why);
		strbuf_addf(why, "%s may not be executed", file);
	}
	return false;
}

static bool have_one(const struct strvec *env, const char *need, struct strbuf *why)
{
	if (strchr(need, '/'))
		return have_path(need, env, why);
	if (is_library_name(need))
		return have_library(need, env, why);
	return have_program(env, need, why);
}

/* "a|b": one of them is enough. */
static bool need_is_met(const struct strvec *env, const char *need, struct strbuf *why)
{
	CLEANUP(strvec_release) struct strvec any = STRVEC_INIT;

	if (!strchr(need, '|'))
		return have_one(env, need, why);
	strvec_split(&any, need, "|");
	return VEC_FIND(&any, x, have_one(env, *x, why));
}

void probe_needs(struct agent *a, int64_t id, const struct strvec *needs, const struct strvec *env)
{
	CLEANUP(strvec_release)
	struct strvec missing = STRVEC_INIT, reasons = STRVEC_INIT;
	struct event ev;

	for (size_t i = 0; i < needs->nr; i++) {
		CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;

		if (strvec_has(&missing, needs->v[i]) || need_is_met(env, needs->v[i], &why))
			continue;
		strvec_push(&missing, needs->v[i]);
		strvec_push(&reasons, why.buf);
	}
	event_begin(&ev, "probe");
	json_i64(&ev.j, "id", id);
	json_arr(&ev.j, "missing");
	for (size_t i = 0; i < missing.nr; i++)
		json_str(&ev.j, NULL, missing.v[i]);
	json_end(&ev.j);
	json_obj(&ev.j, "why");
	for (size_t i = 0; i < missing.nr; i++)
		if (*reasons.v[i])
			json_str(&ev.j, missing.v[i], reasons.v[i]);
	json_end(&ev.j);
	event_end(&ev, &a->out);
}
