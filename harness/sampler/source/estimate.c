/*
 * estimate: a machine's CPU power estimated from its utilisation, for machines without a sensor.
 *
 *	power = idle_w + (max_w − idle_w) · busy time / elapsed time	(all CPUs, /proc/stat)
 *
 * The user states idle_w and max_w (tool options); every number computed from them is marked
 * "estimated". The kernel counts in ticks of 10 ms, so a read without a new tick gives no row:
 * power is the mean since the last row, energy its running integral from 0 at the first row.
 */
#include "samplers_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

struct sampler_state {
	struct sampler_device dev;
	double idle_w, max_w;
	double last_busy, last_all; /* ticks */
	int64_t last_ns;
	double energy_j;
};

/*
 * "cpu  user nice system idle iowait irq softirq steal …" in ticks. Time that a hypervisor stole is
 * not this machine's work.
 */
static int read_busy(double *busy, double *all)
{
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7, FIELDS = 8 };
	char buf[512];
	double sum = 0, idle = 0;
	int n = sampler_read_text("/proc/stat", buf, sizeof(buf));
	const char *p = buf + 4;

	if (n < 5 || strncmp(buf, "cpu ", 4) != 0)
		return -ENOENT;
	for (int i = 0; i < FIELDS; i++) {
		size_t len;
		double v;

		p += strspn(p, " ");
		len = strcspn(p, " \n");
		if (num_f64(p, len, &v) < 0)
			return -EINVAL;
		sum += v;
		idle += i == IDLE || i == IOWAIT || i == STEAL ? v : 0;
		p += len;
	}
	*busy = sum - idle;
	*all = sum;
	return 0;
}

static int option_watts(const struct sampler_opts *o, const char *name, const char *def,
			double *ret, struct err *err)
{
	const char *s = sampler_option(o, name, def);

	if (num_f64(s, strlen(s), ret) < 0 || !(*ret >= 0) || *ret > 1e5)
		return err_set(err, EINVAL, "option %s wants watts, not '%.80s'", name, s);
	return 0;
}

static int estimate_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	double idle, max, busy, all;
	struct sampler_state *st;
	int r = option_watts(o, "idle_w", "10", &idle, err);

	if (r == 0)
		r = option_watts(o, "max_w", "65", &max, err);
	if (r < 0)
		return r;
	if (max < idle)
		return err_set(err, EINVAL, "max_w (%g) is below idle_w (%g)", max, idle);
	if (read_busy(&busy, &all) < 0)
		return err_set(err, ENOENT, "/proc/stat has no cpu line");
	st = xcalloc(1, sizeof(*st));
	st->idle_w = idle;
	st->max_w = max;
	snprintf(st->dev.id, sizeof(st->dev.id), "cpu0");
	snprintf(st->dev.facts, sizeof(st->dev.facts),
		 "all CPUs, estimated from utilisation: %g W idle, %g W all busy (stated, not "
		 "measured)",
		 idle, max);
	sampler_device_add(&st->dev, "power", "W");
	sampler_device_add(&st->dev, "energy", "J");
	*ret = st;
	return 0;
}

static void estimate_close(struct sampler_state *st)
{
	free(st);
}

static size_t estimate_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = &st->dev;
	return 1;
}

static int estimate_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	double busy, all, share;
	int64_t now = clock_monotonic_ns();

	(void)d;
	if (read_busy(&busy, &all) < 0) {
		*reason = "/proc/stat not readable";
		v[0] = v[1] = NAN;
		return 0;
	}
	v[0] = SAMPLER_ABSENT; /* the first read has no interval before it */
	if (st->last_ns) {
		if (all <= st->last_all || now <= st->last_ns)
			return 1;
		/* iowait may decrease, and the idle ticks of another CPU may be late */
		share = fmin(1, fmax(0, (busy - st->last_busy) / (all - st->last_all)));
		v[0] = st->idle_w + (st->max_w - st->idle_w) * share;
		st->energy_j += v[0] * (double)(now - st->last_ns) / 1e9;
	}
	v[1] = st->energy_j;
	st->last_busy = busy;
	st->last_all = all;
	st->last_ns = now;
	return 0;
}

const struct sampler sampler_estimate = {
	.name = "estimate",
	.about = "CPU power estimated from utilisation between a stated idle and maximum",
	.vendor = "cpu",
	.estimated = true,
	.options = (const char *const[]){ "idle_w", "max_w", NULL },
	.open = estimate_open,
	.devices = estimate_devices,
	.read = estimate_read,
	.close = estimate_close,
};
