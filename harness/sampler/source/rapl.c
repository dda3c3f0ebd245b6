/*
 * rapl: CPU package, core and DRAM energy counters of Intel and AMD processors through powercap.
 *
 * /sys/class/powercap/intel-rapl:<P>[:<S>]/
 *	name			package-0, core, uncore, dram, psys
 *	energy_uj		µJ, wraps after max_energy_range_uj; readable by root since
 *				CVE-2020-8694
 *
 * Wraps are undone here (the range is declared), so the series only grows. A step back that would
 * mean more than MAX_W is no wrap but a reset of the counter (suspend, a module loaded again): it
 * is passed on as it is, and the analysis splits the series there.
 *
 * core and uncore are parts of package, and psys contains all. The default is the zones that may be
 * added up (package, dram); option zones names others or "all".
 */
#include "samplers_private.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/vec.h"

#define POWERCAP "/sys/class/powercap"
#define MAX_W 10e3

struct zone {
	int fd;
	double range_uj, last_uj, base_uj;
	int64_t last_ns;
};

struct sampler_state {
	VEC(struct sampler_device) dev;
	VEC(struct zone) zones;
};

static void rapl_close(struct sampler_state *st)
{
	for (size_t i = 0; i < st->zones.nr; i++)
		xclosep(&st->zones.v[i].fd);
	VEC_RELEASE(&st->zones);
	VEC_RELEASE(&st->dev);
	free(st);
}

/* "intel-rapl:1:0" → 1 */
static unsigned package_of(const char *entry)
{
	const char *p = strchr(entry, ':');
	unsigned package = 0;

	for (p = p ? p + 1 : ""; isdigit((unsigned char)*p) && package < 10000; p++)
		package = package * 10 + (unsigned)(*p - '0');
	return package;
}

static bool zone_wanted(const struct sampler_opts *o, const char *entry, const char *name)
{
	const char *zones = sampler_option(o, "zones", "package,dram");

	if (!sampler_selects(o ? o->device : NULL, package_of(entry)))
		return false;
	if (strcmp(zones, "all") == 0)
		return true;
	/* "package-0" and "package-0-die-1" are package */
	return sampler_wants(zones, strncmp(name, "package", 7) == 0 ? "package" : name);
}

static int add_zone(struct sampler_state *st, const struct sampler_opts *o, const char *dir,
		    const char *entry)
{
	CLEANUP(xfreep) char *zone = xasprintf("%s/%s", dir, entry);
	CLEANUP(xfreep) char *name_path = fs_join(zone, "name");
	CLEANUP(xfreep) char *range_path = fs_join(zone, "max_energy_range_uj");
	CLEANUP(xfreep) char *energy_path = fs_join(zone, "energy_uj");
	CLEANUP(xclosep) int fd = -1;
	struct sampler_device d = { 0 };
	struct zone z = { 0 };
	char name[64];
	int r;

	if (sampler_read_text(name_path, name, sizeof(name)) <= 0 || !zone_wanted(o, entry, name))
		return -ENOENT;
	fd = open(energy_path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : sampler_number_at(fd, &z.last_uj);
	if (r < 0)
		return r;
	if (sampler_read_number(range_path, &z.range_uj) < 0)
		z.range_uj = 0;
	z.last_ns = clock_monotonic_ns();
	snprintf(d.id, sizeof(d.id), "%.20s%u", strncmp(name, "package", 7) == 0 ? "pkg" : name,
		 package_of(entry));
	snprintf(d.facts, sizeof(d.facts), "RAPL zone %.60s (%.60s)", entry, name);
	if (!sampler_device_add(&d, "energy", "J"))
		return -EINVAL;
	z.fd = fd;
	fd = -1;
	VEC_PUSH(&st->zones, z);
	VEC_PUSH(&st->dev, d);
	return 0;
}

static int rapl_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	CLEANUP(xfreep) char *dir = xasprintf("%s" POWERCAP, sampler_root());
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;
	struct sampler_state *st = xcalloc(1, sizeof(*st));
	unsigned packages = 0;
	size_t seen = 0;
	bool closed = false;
	int bad;

	fs_list(dir, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++)
		if (strncmp(entries.v[i], "intel-rapl:", 11) == 0 &&
		    package_of(entries.v[i]) >= packages)
			packages = package_of(entries.v[i]) + 1;
	bad = packages ? sampler_check_selection(o ? o->device : NULL, packages, err) : 0;
	if (bad < 0) {
		rapl_close(st);
		return bad;
	}
	for (size_t i = 0; i < entries.nr; i++) {
		int r;

		/* intel-rapl-mmio:… repeats the same package */
		if (strncmp(entries.v[i], "intel-rapl:", 11) != 0)
			continue;
		seen++;
		r = add_zone(st, o, dir, entries.v[i]);
		closed |= r == -EACCES || r == -EPERM;
	}
	if (st->zones.nr) {
		*ret = st;
		return 0;
	}
	rapl_close(st);
	if (closed)
		return err_set(err, EACCES, "energy_uj in %s is readable by root only: run as root",
			       dir);
	if (seen)
		return err_set(err, ENODEV,
			       "none of %zu RAPL zones in %s was selected or is readable", seen,
			       dir);
	return err_set(err, ENODEV, "no RAPL zone in %s (a virtual machine has none)", dir);
}

static size_t rapl_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = st->dev.v;
	return st->dev.nr;
}

static int rapl_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	struct zone *z = &st->zones.v[d];
	int64_t now_ns = clock_monotonic_ns();
	double now_uj;
	int r = sampler_number_at(z->fd, &now_uj);

	if (r < 0) {
		v[0] = NAN;
		*reason = sampler_reason(r);
		return 0;
	}
	if (now_uj < z->last_uj) {
		double step_uj = now_uj + z->range_uj - z->last_uj;

		if (step_uj >= 0 && step_uj <= MAX_W * 1e-3 * (double)(now_ns - z->last_ns))
			z->base_uj += z->range_uj;
	}
	z->last_uj = now_uj;
	z->last_ns = now_ns;
	v[0] = (z->base_uj + now_uj) * 1e-6;
	return 0;
}

const struct sampler sampler_rapl = {
	.name = "rapl",
	.about = "energy counters of CPU packages and DRAM (powercap)",
	.vendor = "cpu",
	.options = (const char *const[]){ "zones", NULL },
	.open = rapl_open,
	.devices = rapl_devices,
	.read = rapl_read,
	.close = rapl_close,
};
