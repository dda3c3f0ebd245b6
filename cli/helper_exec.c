/*
 * The static profrig of a portable build (mk/tarball.mk). Commands that may load a library of the
 * machine (NVML, libcurl, the modules of a user database) are run by profrig-dynamic, which is in
 * the same folder and is the same program linked against an old glibc.
 */
#include "cli.h"

#include <errno.h>
#include <nss.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/dynlib.h"
#include "profrig/base/fs.h"
#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define HELPER "profrig-dynamic"
#define START_MS 10000
#define WORDS_MAX 4096

/* The other commands only read and write files, or answer at once. next: the word behind, NULL. */
static bool may_load(const char *command, const char *next)
{
	static const char *const those[] = { "run", "plan",   "discover", "build",    "list",
					     "ctl", "doctor", "sample",   "lib-perf", "publish" };

	if (!strcmp(command, "lib"))
		return next && !strcmp(next, "perf");

	for (size_t i = 0; i < ARRAY_LEN(those); i++)
		if (strcmp(those[i], command) == 0)
			return true;
	return false;
}

/* Without its loader, or with a glibc that is too old, the program does not reach main. */
static bool helper_starts(char *path, struct strbuf *why)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	static const char mine[] = "profrig " PROFRIG_VERSION "\n";
	char *const argv[] = { path, (char *)(uintptr_t) "--version", NULL };
	struct proc_exit how = { 0 };
	struct err err = ERR_INIT;
	int r = proc_capture(argv, START_MS, WORDS_MAX, &out, &errs, &how, &err);

	if (r == 0 && how.code == 0 && strncmp(out.buf, mine, strlen(mine)) == 0)
		return true;
	strbuf_rtrim(&errs);
	strbuf_addstr(why, HELPER " needs glibc 2.31 or newer and does not start here: ");
	if (r == -ENOENT && fs_is_file(path))
		strbuf_addstr(why, "there is no glibc");
	else if (r < 0)
		strbuf_addstr(why, err.msg);
	else if (how.code == 0)
		strbuf_addstr(why, "it is of another version");
	else
		strbuf_add(why, errs.buf, strcspn(errs.buf, "\n"));
	return false;
}

void helper_take_over(int argc, char **argv)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	CLEANUP(xfreep) char *self = fs_self_dir();
	CLEANUP(xfreep) char *path = fs_join(self, HELPER);
	int at = 1;

	while (at < argc && argv[at][0] == '-')
		at++;
	if (at >= argc || !may_load(argv[at], argv[at + 1]))
		return;
	if (helper_starts(path, &why)) {
		execv(path, argv);
		strbuf_addstr(&why, HELPER " does not start");
	}
	dynlib_absent(why.buf);
	/* Other sources are modules, which a static program cannot load. */
	__nss_configure_lookup("passwd", "files");
}
