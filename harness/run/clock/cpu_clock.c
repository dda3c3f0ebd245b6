#include "cpu_clock.h"
#include "cpu_counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define STAT_MAX ((size_t)16 << 20)
#define SAMPLED "scaling_cur_freq"

/* A processor that tells its frequency. */
struct sampled {
	unsigned cpu;
	uint64_t busy;
};

struct cpu_clock {
	struct cpu_counters *counters; /* NULL: it is sampled */
	char *root;
	VEC(struct sampled) v;
	double weight, sum; /* of ticks of busy time; of these times Hz */
	int64_t last_ns;
	bool runs;
};

/* ---- sampled ---- */

static double frequency_read(const struct cpu_clock *c, unsigned cpu)
{
	CLEANUP(xfreep)
	char *path = xasprintf("%s/sys/devices/system/cpu/cpu%u/cpufreq/" SAMPLED, c->root, cpu);
	double khz = cpu_number_read(path);

	return khz > 0 ? khz * 1e3 : NAN;
}

/* The number behind *at, which moves on; 0: there is none. */
static uint64_t next_number(const char **at)
{
	size_t n;
	uint64_t v = 0;

	*at += strspn(*at, " ");
	n = strspn(*at, "0123456789");
	if (n == 0 || num_u64(*at, n, &v) < 0)
		v = 0;
	*at += n;
	return v;
}

/* "cpu3 user nice system idle iowait irq softirq …": ticks of work since boot. */
static uint64_t busy_of(const char *numbers)
{
	uint64_t busy = 0;

	for (int i = 0; i < 7; i++) {
		uint64_t v = next_number(&numbers);

		if (i != 3 && i != 4)
			busy += v;
	}
	return busy;
}

/* Both lists are of all processors, mostly in one order: *at is where the last one was. */
static struct sampled *sampled_of(struct cpu_clock *c, uint64_t cpu, size_t *at)
{
	for (size_t i = 0; i < c->v.nr && c->v.v[*at].cpu != cpu; i++)
		*at = (*at + 1) % c->v.nr;
	return c->v.v[*at].cpu == cpu ? &c->v.v[*at] : NULL;
}

static void line_take(struct cpu_clock *c, const char *line, bool count, size_t *at)
{
	size_t digits = !strncmp(line, "cpu", 3) ? strspn(line + 3, "0123456789") : 0;
	struct sampled *of;
	uint64_t cpu, busy, more;
	double hz;

	if (!digits || num_u64(line + 3, digits, &cpu) < 0)
		return;
	of = sampled_of(c, cpu, at);
	if (!of)
		return;
	busy = busy_of(line + 3 + digits);
	more = busy > of->busy ? busy - of->busy : 0;
	of->busy = busy;
	hz = count && more ? frequency_read(c, of->cpu) : NAN;
	if (isnan(hz))
		return;
	c->sum += hz * (double)more;
	c->weight += (double)more;
}

/* Frequencies of those that were busy since the last time; without `count` only that time. */
static void sample_take(struct cpu_clock *c, bool count)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/proc/stat", c->root);
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0, at = 0;

	if (fs_read(path, STAT_MAX, &text, &n, NULL) < 0)
		return;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		line_take(c, line, count, &at);
	}
}

static bool sampled_works(struct cpu_clock *c)
{
	struct cpu_list cpus = { NULL, 0, 0 };

	cpu_list_read(c->root, &cpus);
	for (size_t i = 0; i < cpus.nr; i++)
		if (!isnan(frequency_read(c, cpus.v[i])))
			VEC_PUSH(&c->v, ((struct sampled){ cpus.v[i], 0 }));
	VEC_RELEASE(&cpus);
	return c->v.nr > 0;
}

/* ---- all ---- */

struct cpu_clock *cpu_clock_new(const char *root, bool descendants, const struct cpu_clock_ops *ops)
{
	struct cpu_clock *c = xcalloc(1, sizeof(*c));

	c->root = xstrdup(root);
	/* a folder that stands for a machine has no processes of its own */
	c->counters = cpu_counters_new(root, descendants && (ops || !*root), ops);
	if (c->counters || sampled_works(c))
		return c;
	cpu_clock_free(c);
	return NULL;
}

void cpu_clock_free(struct cpu_clock *c)
{
	if (!c)
		return;
	cpu_counters_free(c->counters);
	VEC_RELEASE(&c->v);
	free(c->root);
	free(c);
}

const char *cpu_clock_source(const struct cpu_clock *c)
{
	return c->counters ? cpu_counters_source(c->counters) : SAMPLED;
}

void cpu_clock_begin(struct cpu_clock *c, int64_t now_ns)
{
	c->runs = true;
	c->last_ns = now_ns;
	c->sum = c->weight = 0;
	if (c->counters)
		cpu_counters_begin(c->counters);
	else
		sample_take(c, false);
}

void cpu_clock_poll(struct cpu_clock *c, int64_t now_ns)
{
	if (c->counters || !c->runs || now_ns - c->last_ns < CPU_CLOCK_POLL_NS)
		return;
	c->last_ns = now_ns;
	sample_take(c, true);
}

double cpu_clock_end(struct cpu_clock *c)
{
	c->runs = false;
	if (c->counters)
		return cpu_counters_end(c->counters);
	sample_take(c, true);
	return c->weight > 0 ? c->sum / c->weight : NAN;
}
