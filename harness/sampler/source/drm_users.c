/*
 * The processes that hold a GPU, from /proc/<pid>/fdinfo/<fd> of their open files
 * (Documentation/gpu/drm-usage-stats.rst):
 *
 *	drm-driver:	amdgpu
 *	drm-pdev:	0000:c1:00.0
 *	drm-client-id:	12			one for each handle; copies of it have the same
 *	drm-memory-vram:	4096 KiB	older kernels
 *	drm-resident-vram:	4096 KiB	newer ones
 *
 * Only files below /dev/dri are read, as reading a link costs less than the driver's answer.
 * Processes of other users are visible to root only.
 */
#include "samplers_private.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define DRI "/dev/dri/"

struct handle {
	char pdev[32];
	double vram_bytes;
};

/* "4096 KiB" */
static double bytes_of(const char *s)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { "", 1 } };
	size_t digits = strspn(s, "0123456789");
	double v;

	if (num_f64(s, digits, &v) < 0)
		return NAN;
	s += digits + strspn(s + digits, " \t");
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strncmp(s, units[i].unit, strlen(units[i].unit)) == 0)
			return v * units[i].bytes;
	return NAN;
}

/* The value of a line "key:<tab>value" in text, or NULL. */
static const char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, " \t");
	}
	return NULL;
}

static bool read_handle(const char *path, struct handle *ret)
{
	char text[4096];
	const char *pdev, *vram;

	if (sampler_read_text(path, text, sizeof(text)) <= 0)
		return false;
	pdev = value_of(text, "drm-pdev");
	if (!pdev)
		return false;
	snprintf(ret->pdev, sizeof(ret->pdev), "%.*s", (int)strcspn(pdev, "\n"), pdev);
	vram = value_of(text, "drm-resident-vram");
	if (!vram)
		vram = value_of(text, "drm-memory-vram");
	ret->vram_bytes = vram ? bytes_of(vram) : NAN;
	return true;
}

static void process_look_at(const char *proc, const char *pid_text, const char *pci,
			    struct sampler_facts *f)
{
	CLEANUP(xfreep) char *fds = xasprintf("%s/%s/fd", proc, pid_text);
	CLEANUP(xfreep) char *comm = xasprintf("%s/%s/comm", proc, pid_text);
	double most = NAN; /* handles of one process may share memory */
	char name[32] = "";
	bool found = false;
	DIR *d = door_opendir(fds);
	struct dirent *e;
	int64_t pid = 0;

	num_i64(pid_text, strlen(pid_text), &pid);
	while (d && pid != getpid() && (e = readdir(d))) {
		char target[64];
		struct handle h;
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target));

		if (n < (ssize_t)strlen(DRI) || strncmp(target, DRI, strlen(DRI)) != 0)
			continue;
		CLEANUP(xfreep)
		char *info = xasprintf("%s/%s/fdinfo/%s", proc, pid_text, e->d_name);
		if (!read_handle(info, &h) || strcmp(h.pdev, pci) != 0)
			continue;
		found = true;
		most = fmax(most, h.vram_bytes);
	}
	if (d)
		closedir(d);
	if (found) {
		sampler_read_text(comm, name, sizeof(name));
		sampler_facts_user(f, (pid_t)pid, name, most);
	}
}

void sampler_drm_users(const char *pci, struct sampler_facts *f)
{
	CLEANUP(xfreep) char *proc = xasprintf("%s/proc", sampler_root());
	DIR *d = door_opendir(proc);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			process_look_at(proc, e->d_name, pci, f);
	if (d)
		closedir(d);
}
