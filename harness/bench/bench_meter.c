#include "bench_meter.h"
#include "bench_machine.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"
#include "profrig/sampler/sampler.h"

struct bench_meter {
	const struct sampler *source;
	struct sampler_state *state;
	const struct sampler_device *devices;
	size_t nr;
	bool counters; /* of energy; else power is integrated */
	double first_j, power_w, integral_j;
	int64_t at_ns;
};

static bool is_series(const struct sampler_series *s, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(s->name, name, n) && s->name[n] == '.';
}

static bool have_series(const struct bench_meter *m, const char *name)
{
	for (size_t d = 0; d < m->nr; d++)
		for (size_t i = 0; i < m->devices[d].nr; i++)
			if (is_series(&m->devices[d].series[i], name))
				return true;
	return false;
}

/* Over all devices; NaN: one of them failed. */
static double series_sum(struct bench_meter *m, const char *name)
{
	double sum = 0;

	for (size_t d = 0; d < m->nr; d++) {
		double v[SAMPLER_MAX_SERIES];
		const char *reason = NULL;

		for (size_t i = 0; i < m->devices[d].nr; i++)
			v[i] = NAN;
		if (m->source->read(m->state, d, v, &reason) < 0)
			return NAN;
		for (size_t i = 0; i < m->devices[d].nr; i++)
			if (is_series(&m->devices[d].series[i], name))
				sum += v[i];
	}
	return isfinite(sum) ? sum : NAN;
}

double bench_meter_joules(struct bench_meter *m)
{
	int64_t before_ns = m->at_ns;
	double before_w = m->power_w;

	if (m->counters)
		return series_sum(m, "energy") - m->first_j;
	m->power_w = series_sum(m, "power");
	m->at_ns = clock_monotonic_ns();
	m->integral_j += (before_w + m->power_w) / 2 * (double)(m->at_ns - before_ns) / 1e9;
	return m->integral_j;
}

double bench_meter_temperature(struct bench_meter *m)
{
	CLEANUP(xfreep) struct sampler_facts *facts = xcalloc(1, sizeof(*facts));
	const struct sampler_fact *f;

	if (!m->source->facts)
		return machine_temperature_c();
	m->source->facts(m->state, 0, facts);
	f = sampler_fact(facts, "temperature_degc");
	return f ? f->number : NAN;
}

static int meter_begin(struct bench_meter *m, struct err *err)
{
	m->nr = m->source->devices(m->state, &m->devices);
	m->counters = have_series(m, "energy");
	if (!m->counters && !have_series(m, "power"))
		return err_set(err, ENODEV, "%s has neither energy nor power", m->source->name);
	if (m->counters)
		m->first_j = series_sum(m, "energy");
	else
		m->power_w = series_sum(m, "power");
	m->at_ns = clock_monotonic_ns();
	if (isnan(m->first_j) || isnan(m->power_w))
		return err_set(err, EIO, "%s cannot be read", m->source->name);
	return 0;
}

struct bench_meter *bench_meter_open(const char *source, struct err *err)
{
	struct bench_meter *m = xcalloc(1, sizeof(*m));
	struct sampler_opts o = { .device = strcmp(source, "rapl") != 0 ? "0" : "all" };

	if (sampler_resolve(source, &o, &m->source, err) < 0 ||
	    m->source->open(&o, &m->state, err) < 0) {
		free(m);
		return NULL;
	}
	if (meter_begin(m, err) == 0)
		return m;
	bench_meter_close(m);
	return NULL;
}

void bench_meter_close(struct bench_meter *m)
{
	if (!m)
		return;
	m->source->close(m->state);
	free(m);
}
