#include "steady.h"
#include "steady_gpus.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"
#include "profrig/devices/devices.h"

#define COLDEST_C (-40.0)
#define HOTTEST_C 125.0
#define PACKAGE_MAX_W 10e3 /* a difference beyond it is a counter that began again */
#define TEXT_MAX_BYTES 64

struct package {
	char *path;
	double range_uj, last_uj; /* last: NaN: it was not read */
};

struct steady {
	struct steady_rule rule;
	struct strvec sensors; /* paths */
	VEC(struct package) packages;
	struct steady_gpus *gpus; /* NULL: nothing of them can be read */
	struct steady_reading idle, now;
	int64_t begun_ns, read_ns;
	int64_t since_ns; /* so long it is as it was; -1: it is not */
	enum steady_state state;
};

/* ---- files of the kernel ---- */

/* False: it cannot be read, or is not one short line. */
static bool line_read(const char *path, char *ret, size_t n)
{
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	ssize_t got = fd < 0 ? -1 : read(fd, ret, n - 1);

	if (got <= 0)
		return false;
	ret[got] = 0;
	if ((size_t)got == n - 1 && !strchr(ret, '\n'))
		return false;
	ret[strcspn(ret, "\n")] = 0;
	return *ret != 0;
}

/* NaN: it is no number. */
static double number_read(const char *path)
{
	char line[TEXT_MAX_BYTES];
	double v;

	return line_read(path, line, sizeof(line)) && num_f64(line, strlen(line), &v) == 0 &&
			       isfinite(v)
		       ? v
		       : NAN;
}

static double sensor_read(const char *path)
{
	double c = number_read(path) / 1e3;

	return c > COLDEST_C && c < HOTTEST_C ? c : NAN;
}

/* "temp12_input" */
static bool is_input(const char *name)
{
	const char *p = name + 4;

	if (strncmp(name, "temp", 4) != 0 || !isdigit((unsigned char)*p))
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	return !strcmp(p, "_input");
}

static void sensor_add(struct steady *s, const char *dir, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);

	if (!isnan(sensor_read(path)))
		strvec_push(&s->sensors, path);
}

static void sensors_find(struct steady *s, const char *root)
{
	CLEANUP(xfreep) char *thermal = xasprintf("%s/sys/class/thermal", root);
	CLEANUP(xfreep) char *hwmon = xasprintf("%s/sys/class/hwmon", root);
	CLEANUP(strvec_release) struct strvec zones = STRVEC_INIT, chips = STRVEC_INIT;

	fs_list(thermal, &zones, NULL);
	for (size_t i = 0; i < zones.nr; i++) {
		CLEANUP(xfreep) char *dir = fs_join(thermal, zones.v[i]);

		if (!strncmp(zones.v[i], "thermal_zone", strlen("thermal_zone")))
			sensor_add(s, dir, "temp");
	}
	fs_list(hwmon, &chips, NULL);
	for (size_t i = 0; i < chips.nr; i++) {
		CLEANUP(xfreep) char *dir = fs_join(hwmon, chips.v[i]);
		CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;

		fs_list(dir, &files, NULL);
		for (size_t k = 0; k < files.nr; k++)
			if (is_input(files.v[k]))
				sensor_add(s, dir, files.v[k]);
	}
}

/* Of "intel-rapl:0", not its parts ("intel-rapl:0:1"), nor intel-rapl-mmio's second count of it. */
static void package_add(struct steady *s, const char *dir, const char *entry)
{
	CLEANUP(xfreep) char *zone = fs_join(dir, entry);
	CLEANUP(xfreep) char *name = fs_join(zone, "name");
	CLEANUP(xfreep) char *range = fs_join(zone, "max_energy_range_uj");
	CLEANUP(xfreep) char *energy = fs_join(zone, "energy_uj");
	struct package p;
	char word[TEXT_MAX_BYTES];

	if (strncmp(entry, "intel-rapl:", strlen("intel-rapl:")) != 0 ||
	    !line_read(name, word, sizeof(word)) || strncmp(word, "package", 7) != 0)
		return;
	p = (struct package){ NULL, number_read(range), number_read(energy) };
	if (isnan(p.last_uj))
		return;
	p.path = STEAL(energy);
	VEC_PUSH(&s->packages, p);
}

static void packages_find(struct steady *s, const char *root)
{
	CLEANUP(xfreep) char *dir = xasprintf("%s/sys/class/powercap", root);
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;

	fs_list(dir, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++)
		package_add(s, dir, entries.v[i]);
}

/* ---- readings ---- */

/* A GPU that was read before and cannot be now is no cooler than any other sensor. */
static double temperature_take(const struct steady *s, const struct steady_gpus_reading *gpus)
{
	double hottest = gpus->temperature_c;

	if (steady_gpus_temperatures(s->gpus) && isnan(hottest))
		return NAN;
	for (size_t i = 0; i < s->sensors.nr; i++)
		hottest = fmax(hottest, sensor_read(s->sensors.v[i]));
	return hottest;
}

static double package_take(struct package *p, double dt_s)
{
	double was = p->last_uj, v = p->last_uj = number_read(p->path), w;

	if (v < was)
		v += p->range_uj;
	w = (v - was) / 1e6 / dt_s;
	return w >= 0 && w < PACKAGE_MAX_W ? w : NAN;
}

/* NaN: one of them cannot be read. */
static double power_take(struct steady *s, double dt_s)
{
	double sum = s->packages.nr ? 0 : NAN;

	for (size_t i = 0; i < s->packages.nr; i++)
		sum += package_take(&s->packages.v[i], dt_s);
	return sum;
}

static void now_take(struct steady *s, double power_w)
{
	struct steady_gpus_reading gpus = { NAN, NAN };

	if (s->gpus)
		gpus = steady_gpus_read(s->gpus);
	s->now = (struct steady_reading){ temperature_take(s, &gpus), power_w, gpus.power_w };
}

/* False: the last reading is too new. */
static bool reading_take(struct steady *s, int64_t now_ns)
{
	int64_t ns = now_ns - s->read_ns;

	if (ns < STEADY_POLL_NS)
		return false;
	s->read_ns = now_ns;
	now_take(s, power_take(s, (double)ns / 1e9));
	return true;
}

/* The next reading's power is that from now on. */
static void reading_restart(struct steady *s, int64_t now_ns)
{
	power_take(s, 1);
	s->read_ns = now_ns;
}

static bool is_as_idle(const struct steady *s)
{
	const struct steady_reading *i = &s->idle, *n = &s->now;

	return (isnan(i->temperature_c) ||
		n->temperature_c <= i->temperature_c + s->rule.temperature_k) &&
	       (isnan(i->power_w) || n->power_w <= i->power_w * (1 + s->rule.power)) &&
	       (isnan(i->gpu_power_w) || n->gpu_power_w <= i->gpu_power_w * (1 + s->rule.power));
}

/* ---- all ---- */

struct steady *steady_new(const char *root, const struct steady_rule *rule, int64_t now_ns)
{
	struct steady *s = xcalloc(1, sizeof(*s));

	*s = (struct steady){ .rule = *rule,
			      .idle = { NAN, NAN, NAN },
			      .now = { NAN, NAN, NAN },
			      .read_ns = now_ns,
			      .since_ns = -1 };
	sensors_find(s, root);
	packages_find(s, root);
	/* GPUs are those of the machine, or of the tree that stands for it everywhere */
	if (!strcmp(root, devices_root()))
		s->gpus = steady_gpus_find();
	if (s->gpus)
		steady_gpus_open(s->gpus);
	return s;
}

void steady_free(struct steady *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->packages.nr; i++)
		free(s->packages.v[i].path);
	VEC_RELEASE(&s->packages);
	strvec_release(&s->sensors);
	steady_gpus_free(s->gpus);
	free(s);
}

static void counted(struct strbuf *sb, size_t n, const char *of, const char *what)
{
	if (n)
		strbuf_addf(sb, "%s%s%zu %s%s", sb->len ? " and " : "", of, n, what,
			    n == 1 ? "" : "s");
}

bool steady_looks_at(const struct steady *s, char *ret, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	counted(&sb, s->sensors.nr + steady_gpus_temperatures(s->gpus), "", "temperature");
	counted(&sb, s->packages.nr, "the power of ", "package");
	counted(&sb, steady_gpus_powers(s->gpus), "the power of ", "GPU");
	snprintf(ret, n, "%s", sb.len ? sb.buf : "");
	return sb.len > 0;
}

static void gpus_close(struct steady *s)
{
	if (s->gpus)
		steady_gpus_close(s->gpus);
}

bool steady_learn(struct steady *s, int64_t now_ns)
{
	if (!s->packages.nr && !steady_gpus_powers(s->gpus))
		now_take(s, NAN);
	else if (!reading_take(s, now_ns))
		return false;
	s->idle = s->now;
	gpus_close(s);
	return true;
}

struct steady_reading steady_idle(const struct steady *s)
{
	return s->idle;
}

/* What cannot be read here any more is not waited for. */
void steady_set_idle(struct steady *s, const struct steady_reading *idle)
{
	bool hot = s->sensors.nr || steady_gpus_temperatures(s->gpus);

	s->idle.temperature_c = hot ? idle->temperature_c : NAN;
	s->idle.power_w = s->packages.nr ? idle->power_w : NAN;
	s->idle.gpu_power_w = steady_gpus_powers(s->gpus) ? idle->gpu_power_w : NAN;
	gpus_close(s);
}

void steady_begin(struct steady *s, int64_t now_ns)
{
	s->begun_ns = now_ns;
	s->since_ns = -1;
	s->state = STEADY_WAITS;
	s->now = (struct steady_reading){ NAN, NAN, NAN };
	if (s->gpus)
		steady_gpus_open(s->gpus);
	reading_restart(s, now_ns);
}

enum steady_state steady_poll(struct steady *s, int64_t now_ns)
{
	if (s->state != STEADY_WAITS || !reading_take(s, now_ns))
		return s->state;
	if (!is_as_idle(s))
		s->since_ns = -1;
	else if (s->since_ns < 0)
		s->since_ns = now_ns;
	if (s->since_ns >= 0 && now_ns - s->since_ns >= STEADY_HOLD_NS)
		s->state = STEADY_REACHED;
	else if ((double)(now_ns - s->begun_ns) / 1e9 >= s->rule.limit_s)
		s->state = STEADY_LIMIT;
	if (s->state != STEADY_WAITS)
		gpus_close(s);
	return s->state;
}

struct steady_reading steady_now(const struct steady *s)
{
	return s->now;
}

int64_t steady_next_ns(const struct steady *s)
{
	return s->read_ns + STEADY_POLL_NS;
}

static void worded(struct strbuf *sb, double v, const char *unit)
{
	if (!isnan(v))
		strbuf_addf(sb, "%s%.1f %s", sb->len ? " and " : "", v, unit);
}

void steady_words(const struct steady_reading *r, char *ret, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	worded(&sb, r->temperature_c, "°C");
	worded(&sb, r->power_w, "W");
	worded(&sb, r->gpu_power_w, "W of GPUs");
	snprintf(ret, n, "%s", sb.len ? sb.buf : "");
}

/* ---- throttling ---- */

struct throttle_count {
	uint64_t cpu, count;
};

struct throttle {
	VEC(struct throttle_count) v;
};

struct throttle *throttle_read(const char *root)
{
	CLEANUP(xfreep) char *dir = xasprintf("%s/sys/devices/system/cpu", root);
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;
	struct throttle *t = xcalloc(1, sizeof(*t));

	fs_list(dir, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++) {
		CLEANUP(xfreep)
		char *path = xasprintf("%s/%s/thermal_throttle/package_throttle_count", dir,
				       entries.v[i]);
		const char *digits = entries.v[i] + 3;
		struct throttle_count c;
		char line[TEXT_MAX_BYTES];

		if (!strncmp(entries.v[i], "cpu", 3) &&
		    num_u64(digits, strlen(digits), &c.cpu) == 0 &&
		    line_read(path, line, sizeof(line)) &&
		    num_u64(line, strlen(line), &c.count) == 0)
			VEC_PUSH(&t->v, c);
	}
	return t;
}

void throttle_free(struct throttle *t)
{
	if (t)
		VEC_RELEASE(&t->v);
	free(t);
}

/* Both are in the order of names. */
uint64_t throttle_between(const struct throttle *before, const struct throttle *after)
{
	uint64_t most = 0;

	for (size_t i = 0, k = 0; i < after->v.nr; i++) {
		const struct throttle_count *a = &after->v.v[i], *b = NULL;

		for (size_t n = 0; n < before->v.nr && !b; n++, k = (k + 1) % before->v.nr)
			if (before->v.v[k].cpu == a->cpu)
				b = &before->v.v[k];
		if (b && a->count > b->count && a->count - b->count > most)
			most = a->count - b->count;
	}
	return most;
}
