#include "run_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/num.h"

#define GIT_TIMEOUT_MS 3000
#define ENGINE_TIMEOUT_MS 10000

/* The value of the first line that begins with key, then blanks and sep. */
static void value_of(const char *path, const char *key, char sep, char *buf, size_t n)
{
	FILE *f = fopen(path, "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *p = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		p += strspn(p, " \t");
		if (*p != sep)
			continue;
		p += 1 + strspn(p + 1, " \t\"");
		p[strcspn(p, "\"\n")] = '\0';
		snprintf(buf, n, "%s", p);
		break;
	}
	if (f)
		fclose(f);
}

static void host_facts(struct run_host *h)
{
	struct utsname un;
	char mem[64] = "";
	int64_t kib;

	if (uname(&un) == 0) {
		snprintf(h->hostname, sizeof(h->hostname), "%s", un.nodename);
		snprintf(h->kernel, sizeof(h->kernel), "%s", un.release);
		snprintf(h->arch, sizeof(h->arch), "%s", un.machine);
	}
	value_of("/etc/os-release", "PRETTY_NAME", '=', h->os, sizeof(h->os));
	value_of("/proc/cpuinfo", "model name", ':', h->cpu, sizeof(h->cpu));
	if (!*h->cpu)
		value_of("/proc/device-tree/model", "", '\0', h->cpu, sizeof(h->cpu));
	value_of("/proc/meminfo", "MemTotal", ':', mem, sizeof(mem));
	if (num_i64(mem, strcspn(mem, " "), &kib) == 0 && kib < INT64_MAX / 1024)
		h->memory_bytes = kib * 1024;
	h->cores = sysconf(_SC_NPROCESSORS_ONLN);
}

/* First line of what a program prints; false unless it ends well and in time. */
static bool first_line(const struct strvec *argv, int timeout_ms, char *buf, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit x;

	if (proc_capture(argv->v, timeout_ms, 65536, &out, NULL, &x, NULL) < 0 || x.code != 0)
		return false;
	snprintf(buf, n, "%.*s", (int)strcspn(out.buf, "\r\n"), out.buf);
	return true;
}

/* The repository belongs to somebody else: its hooks and monitors must not run. */
static void git_words(struct strvec *argv, const char *dir)
{
	strvec_pushl(argv, "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c",
		     "core.hooksPath=/dev/null", "-C", dir, NULL);
}

static void git_facts(struct run_git *g, const char *dir)
{
	CLEANUP(strvec_release) struct strvec head = STRVEC_INIT, status = STRVEC_INIT;
	char line[256];

	git_words(&head, dir);
	strvec_pushl(&head, "rev-parse", "--verify", "HEAD", NULL);
	if (!first_line(&head, GIT_TIMEOUT_MS, line, sizeof(line)) ||
	    strspn(line, "0123456789abcdef") < 40)
		return;
	snprintf(g->commit, sizeof(g->commit), "%.64s", line);
	git_words(&status, dir);
	strvec_pushl(&status, "status", "--porcelain", "--untracked-files=no", "--", ".", NULL);
	if (!first_line(&status, GIT_TIMEOUT_MS, line, sizeof(line)))
		return;
	g->known = true;
	g->dirty = line[0] != '\0';
}

void run_git_facts(struct run *rn, const char *dir)
{
	rn->git = (struct run_git){ .known = false };
	git_facts(&rn->git, dir);
}

void run_facts(struct run *rn)
{
	const struct engine *e = rn->pl->engine;
	CLEANUP(strvec_release) struct strvec probe = STRVEC_INIT, image = STRVEC_INIT;

	host_facts(&rn->host);
	if (rn->pl->conf && rn->pl->conf->dir)
		git_facts(&rn->git, rn->pl->conf->dir);
	if (!e->container)
		return;
	e->probe(&probe);
	first_line(&probe, ENGINE_TIMEOUT_MS, rn->engine_version, sizeof(rn->engine_version));
	if (!rn->pl->spec.image)
		return;
	e->image(rn->pl->spec.image, &image);
	first_line(&image, ENGINE_TIMEOUT_MS, rn->image_digest, sizeof(rn->image_digest));
}
