#include "run_priv.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/image/image.h"

#define ENGINE_TIMEOUT_MS 10000

/* The value of the first line that begins with key, followed by blanks and sep. */
static void value_of(const char *path, const char *key, char sep, char *buf, size_t n)
{
	FILE *f = door_fopen(path, "re");
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

/* One word for all CPUs; it is unknown on machines that do not say. */
static void governor_of(struct run_host *h)
{
	for (int64_t i = 0; i < h->cores; i++) {
		CLEANUP(xfreep)
		char *path = xasprintf("%s/sys/devices/system/cpu/cpu%lld/cpufreq/scaling_governor",
				       devices_root(), (long long)i);
		FILE *f = door_fopen(path, "re");
		char word[64] = "";

		if (f && fgets(word, sizeof(word), f))
			word[strcspn(word, "\n")] = '\0';
		if (f)
			fclose(f);
		if (*word && *h->governor && strcmp(word, h->governor) != 0)
			snprintf(word, sizeof(word), "mixed");
		if (*word)
			memcpy(h->governor, word, sizeof(word));
	}
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
	if (sysconf(_SC_NPROCESSORS_ONLN) > 0)
		h->cores = sysconf(_SC_NPROCESSORS_ONLN);
	governor_of(h);
}

/* The first line that a program prints; false unless it ends well and in time. */
static bool first_line(const struct strvec *argv, int timeout_ms, char *buf, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit x;

	if (proc_capture(argv->v, timeout_ms, 65536, &out, NULL, &x, NULL) < 0 || x.code != 0)
		return false;
	snprintf(buf, n, "%.*s", (int)strcspn(out.buf, "\r\n"), out.buf);
	return true;
}

/* The id names the image that ran here; other machines can pull it by its digest. */
static void image_facts_of(struct run_facts_job *job)
{
	const struct engine *e = job->pl->engine;
	const char *image = job->pl->spec.image;
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(xfreep) char *id = NULL;
	CLEANUP(xfreep) char *digest = NULL;

	if (!e->words[ENGINE_FACTS]) {
		engine_ask(e, ENGINE_IMAGE, &argv, .of = image);
		first_line(&argv, ENGINE_TIMEOUT_MS, job->image_digest, sizeof(job->image_digest));
		return;
	}
	image_facts(e, image, image, &id, &digest);
	snprintf(job->image_digest, sizeof(job->image_digest), "%s", id ? id : "");
	snprintf(job->image_repo_digest, sizeof(job->image_repo_digest), "%s",
		 digest ? digest : "");
}

static void engine_facts(struct run_facts_job *job)
{
	const struct plan *pl = job->pl;
	CLEANUP(strvec_release) struct strvec probe = STRVEC_INIT;

	if (!pl->engine->container)
		return;
	engine_ask(pl->engine, ENGINE_PROBE, &probe);
	first_line(&probe, ENGINE_TIMEOUT_MS, job->engine_version, sizeof(job->engine_version));
	if (!pl->spec.image)
		return;
	image_facts_of(job);
}

static void *facts_find(void *arg)
{
	struct run_facts_job *job = arg;

	if (job->pl->conf && job->pl->conf->dir)
		run_git_look(&job->git, job->pl->conf->dir);
	engine_facts(job);
	return NULL;
}

void run_facts_begin(struct run *rn)
{
	sigset_t all, old;

	host_facts(&rn->host);
	rn->facts.pl = rn->pl;
	/* Signals are left to the waiting thread, which they wake. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rn->facts.running = pthread_create(&rn->facts.thread, NULL, facts_find, &rn->facts) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!rn->facts.running)
		facts_find(&rn->facts);
}

void run_facts_end(struct run *rn)
{
	struct run_facts_job *job = &rn->facts;

	if (job->running)
		pthread_join(job->thread, NULL);
	job->running = false;
	rn->git = job->git;
	memcpy(rn->image_digest, job->image_digest, sizeof(rn->image_digest));
	memcpy(rn->image_repo_digest, job->image_repo_digest, sizeof(rn->image_repo_digest));
	memcpy(rn->engine_version, job->engine_version, sizeof(rn->engine_version));
}

void run_git_facts(struct run *rn, const char *dir)
{
	run_facts_end(rn);
	run_git_look(&rn->facts.git, dir);
	rn->git = rn->facts.git;
}
