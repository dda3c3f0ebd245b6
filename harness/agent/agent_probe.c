#include "agent_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/num.h"

#define MAX_LIB_DIRS 256
#define MAX_CONF_LINES 4096

static const char *const usual_dirs[] = {
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/local/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/local/lib/aarch64-linux-gnu",
#elif defined(__powerpc64__)
	"/lib/powerpc64le-linux-gnu",
	"/usr/lib/powerpc64le-linux-gnu",
#elif defined(__riscv)
	"/lib/riscv64-linux-gnu",
	"/usr/lib/riscv64-linux-gnu",
#endif
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/local/lib64",
	"/opt/rocm/lib",
	"/opt/rocm/lib64",
};

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* --- where libraries are --- */

static void add_dir(struct strvec *dirs, const char *dir)
{
	if (*dir && dirs->nr < MAX_LIB_DIRS && !strvec_has(dirs, dir))
		strvec_push(dirs, dir);
}

/* The loader's own configuration names folders line by line; its cache is made from them. */
static void add_conf(struct strvec *dirs, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];

	for (int n = 0; f && n < MAX_CONF_LINES && fgets(line, sizeof(line), f); n++) {
		line[strcspn(line, "#\r\n")] = '\0';
		for (size_t len = strlen(line); len > 0 && strchr(" \t", line[len - 1]); len--)
			line[len - 1] = '\0';
		if (line[0] == '/')
			add_dir(dirs, line);
	}
	if (f)
		fclose(f);
}

static void library_dirs(const struct strvec *env, struct strvec *dirs)
{
	const char *path = env_get(env, "LD_LIBRARY_PATH");
	struct dirent *e;
	DIR *d;

	if (path) {
		CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

		strvec_split(&words, path, ":;");
		for (size_t i = 0; i < words.nr; i++)
			add_dir(dirs, words.v[i]);
	}
	add_conf(dirs, "/etc/ld.so.conf");
	d = opendir("/etc/ld.so.conf.d");
	while (d && (e = readdir(d))) {
		CLEANUP(xfreep) char *conf = xasprintf("/etc/ld.so.conf.d/%s", e->d_name);

		if (!fnmatch("*.conf", e->d_name, FNM_PERIOD))
			add_conf(dirs, conf);
	}
	if (d)
		closedir(d);
	for (size_t i = 0; i < ARRAY_LEN(usual_dirs); i++)
		add_dir(dirs, usual_dirs[i]);
}

/* As the loader does: a file of another machine is passed over. Owned; NULL when absent. */
static char *find_library(const struct strvec *dirs, const char *name, struct elf_facts *ret)
{
	for (size_t i = 0; i < dirs->nr; i++) {
		CLEANUP(xfreep) char *path = xasprintf("%s/%s", dirs->v[i], name);

		if (is_file(path) && elf_read(path, ret, NULL) == 0)
			return STEAL(path);
	}
	return NULL;
}

/* --- the C library --- */

/* "GLIBC_2.36" → 2036; 0 for GLIBC_PRIVATE, GLIBCXX_… and the like. */
static unsigned glibc_number(const char *version)
{
	static const char prefix[] = "GLIBC_";
	const char *dot;
	uint64_t major, minor;

	if (strncmp(version, prefix, sizeof(prefix) - 1) != 0)
		return 0;
	version += sizeof(prefix) - 1;
	dot = strchr(version, '.');
	if (!dot || num_u64(version, (size_t)(dot - version), &major) < 0 ||
	    num_u64(dot + 1, strcspn(dot + 1, "."), &minor) < 0 || major > 999 || minor > 999)
		return 0;
	return (unsigned)(major * 1000 + minor);
}

static const char *newest(const struct strvec *versions)
{
	const char *best = NULL;

	for (size_t i = 0; i < versions->nr; i++)
		if (!best || glibc_number(versions->v[i]) > glibc_number(best))
			best = versions->v[i];
	return best;
}

static bool has_musl(void)
{
	struct dirent *e;
	DIR *d = opendir("/lib");
	bool found = false;

	while (d && !found && (e = readdir(d)))
		found = !fnmatch("ld-musl-*.so.1", e->d_name, 0);
	if (d)
		closedir(d);
	return found;
}

void probe_libc(char *buf, size_t n)
{
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT, dirs = STRVEC_INIT;
	CLEANUP(xfreep) char *path = NULL;
	struct elf_facts f;

	library_dirs(&env, &dirs);
	path = find_library(&dirs, "libc.so.6", &f);
	if (path) {
		const char *v = newest(&f.defines);

		snprintf(buf, n, "glibc %s", v && glibc_number(v) ? v + strlen("GLIBC_") : "?");
		elf_release(&f);
	} else {
		snprintf(buf, n, "%s", has_musl() ? "musl" : "none");
	}
}

/* --- one library --- */

/* What the loader would say of one dependency; false when it is content. */
static bool need_fails(const struct strvec *dirs, const struct elf_need *need, bool has_rpath,
		       struct strbuf *why)
{
	CLEANUP(strvec_release) struct strvec lacking = STRVEC_INIT;
	CLEANUP(xfreep) char *path = NULL;
	struct elf_facts f;
	char libc[64];

	path = find_library(dirs, need->file, &f);
	if (!path) {
		/* It may bring its own folder along, and the loader itself has none. */
		if (has_rpath || !strncmp(need->file, "ld-linux", 8))
			return false;
		if (strcmp(need->file, "libc.so.6") != 0) {
			strbuf_addf(why, "needs %s, which is not there", need->file);
			return true;
		}
		probe_libc(libc, sizeof(libc));
		strbuf_addf(why, "needs glibc; the C library here is %s", libc);
		return true;
	}
	for (size_t i = 0; i < need->versions.nr; i++)
		if (!strvec_has(&f.defines, need->versions.v[i]))
			strvec_push(&lacking, need->versions.v[i]);
	if (lacking.nr > 0) {
		strbuf_addf(why, "needs %s of %s", newest(&lacking), need->file);
		if (f.defines.nr > 0)
			strbuf_addf(why, ", which offers up to %s", newest(&f.defines));
	}
	elf_release(&f);
	return lacking.nr > 0;
}

static bool library_works(const struct strvec *dirs, const struct elf_facts *f, struct strbuf *why)
{
	for (size_t i = 0; i < f->needs.nr; i++)
		if (need_fails(dirs, &f->needs.v[i], f->has_rpath, why))
			return false;
	return true;
}

static bool is_library_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch("lib*.so*", slash ? slash + 1 : path, 0);
}

/* --- one need --- */

static bool have_path(const struct strvec *dirs, const char *path, struct strbuf *why)
{
	struct err err = ERR_INIT;
	struct elf_facts f;
	bool works;

	if (access(path, F_OK) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			strbuf_addstr(why, strerror(errno));
		return false;
	}
	if (!is_library_name(path) || !is_file(path))
		return true;
	if (elf_read(path, &f, &err) < 0) {
		strbuf_addstr(why, err.msg);
		return false;
	}
	works = library_works(dirs, &f, why);
	elf_release(&f);
	return works;
}

static bool have_library(const struct strvec *dirs, const char *name, struct strbuf *why)
{
	CLEANUP(xfreep) char *path = NULL;
	struct elf_facts f;
	bool works;

	path = find_library(dirs, name, &f);
	if (!path)
		return false;
	works = library_works(dirs, &f, why);
	elf_release(&f);
	return works;
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

static bool have_one(const struct strvec *dirs, const struct strvec *env, const char *need,
		     struct strbuf *why)
{
	if (strchr(need, '/'))
		return have_path(dirs, need, why);
	if (is_library_name(need))
		return have_library(dirs, need, why);
	return have_program(env, need, why);
}

/* "a|b": either will do. */
static bool have(const struct strvec *dirs, const struct strvec *env, const char *need,
		 struct strbuf *why)
{
	CLEANUP(strvec_release) struct strvec any = STRVEC_INIT;

	if (!strchr(need, '|'))
		return have_one(dirs, env, need, why);
	strvec_split(&any, need, "|");
	for (size_t i = 0; i < any.nr; i++)
		if (have_one(dirs, env, any.v[i], why))
			return true;
	return false;
}

void probe_needs(struct agent *a, int64_t id, const struct strvec *needs, const struct strvec *env)
{
	CLEANUP(strvec_release)
	struct strvec dirs = STRVEC_INIT, missing = STRVEC_INIT, reasons = STRVEC_INIT;
	struct event ev;

	library_dirs(env, &dirs);
	for (size_t i = 0; i < needs->nr; i++) {
		CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;

		if (strvec_has(&missing, needs->v[i]) || have(&dirs, env, needs->v[i], &why))
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
