#include "mean_clock.h"
#include "cpu_clock.h"
#include "gpu_clock.h"
#include "run_priv.h"

#include <math.h>
#include <string.h>

#include "profrig/devices/devices.h"

static bool is_clock(const struct sampler_series *s)
{
	return !strncmp(s->name, "clock.", strlen("clock.")) && !strcmp(s->unit, "Hz");
}

static void series_find(struct mean_clock *c, struct sampling *sp)
{
	const struct sampler_device *dev;
	size_t nr = sampling_devices(sp, &dev);

	for (size_t d = 0; d < nr; d++)
		for (size_t i = 0; i < dev[d].nr; i++) {
			struct sampling_summary s;

			if (!is_clock(&dev[d].series[i]))
				continue;
			sampling_summary(sp, d, i, &s);
			VEC_PUSH(&c->series, ((struct mean_clock_series){
						     d, i, s.samples ? s.sum : 0, s.samples }));
		}
}

static bool is_of_gpus(const struct sampler *s)
{
	return !strcmp(s->vendor, "amd") || !strcmp(s->vendor, "nvidia");
}

/* The GPUs that the run was given, or that a sampler of it reads; NULL: none that is known. */
static const char *gpus_of(const struct run *rn)
{
	if (rn->pl->conf && rn->pl->conf->gpus)
		return rn->pl->conf->gpus;
	for (size_t i = 0; i < rn->samplers.nr; i++) {
		const struct run_sampler *s = &rn->samplers.v[i];

		if (s->opened && is_of_gpus(s->source))
			return s->plan->device ? s->plan->device : "all";
	}
	return NULL;
}

static void gpus_begin(struct run *rn)
{
	struct mean_clock *c = &rn->mean_clock;
	const char *gpus;

	for (size_t i = 0; i < rn->samplers.nr && !c->series.nr; i++) {
		const struct run_sampler *s = &rn->samplers.v[i];

		if (!s->opened || !s->sampling || s->estimated)
			continue;
		series_find(c, s->sampling);
		c->sampling = s->sampling;
		c->sampler = s->source->name;
	}
	gpus = c->series.nr ? NULL : gpus_of(rn);
	if (gpus)
		c->gpu = gpu_clock_new(gpus);
}

static double series_mean(const struct mean_clock *c)
{
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < c->series.nr; i++) {
		const struct mean_clock_series *was = &c->series.v[i];
		struct sampling_summary s;

		sampling_summary(c->sampling, was->device, was->series, &s);
		if (s.samples <= was->samples)
			continue;
		sum += (s.sum - was->sum) / (double)(s.samples - was->samples);
		nr++;
	}
	return nr ? sum / (double)nr : NAN;
}

static void gpus_end(struct mean_clock *c)
{
	if (c->series.nr) {
		c->gpu_hz = series_mean(c);
		c->gpu_source = c->sampler;
	} else if (c->gpu) {
		c->gpu_hz = gpu_clock_mean(c->gpu);
		c->gpu_source = gpu_clock_source(c->gpu);
	}
	c->series.nr = 0;
	gpu_clock_free(c->gpu);
	c->gpu = NULL;
}

void mean_clock_open(struct run *rn)
{
	rn->mean_clock.cpu_hz = rn->mean_clock.gpu_hz = NAN;
	rn->mean_clock.cpu = cpu_clock_new(devices_root(), !rn->pl->engine->container, NULL);
}

void mean_clock_begin(struct run *rn)
{
	gpus_begin(rn);
	if (rn->mean_clock.cpu)
		cpu_clock_begin(rn->mean_clock.cpu, clock_monotonic_ns());
}

void mean_clock_poll(struct run *rn)
{
	int64_t now = clock_monotonic_ns();

	if (rn->mean_clock.cpu)
		cpu_clock_poll(rn->mean_clock.cpu, now);
	if (rn->mean_clock.gpu)
		gpu_clock_poll(rn->mean_clock.gpu, now);
}

void mean_clock_end(struct run *rn)
{
	struct mean_clock *c = &rn->mean_clock;

	if (c->cpu) {
		c->cpu_hz = cpu_clock_end(c->cpu);
		c->cpu_source = cpu_clock_source(c->cpu);
	}
	gpus_end(c);
}

void mean_clock_release(struct run *rn)
{
	struct mean_clock *c = &rn->mean_clock;

	cpu_clock_free(c->cpu);
	gpu_clock_free(c->gpu);
	VEC_RELEASE(&c->series);
	*c = (struct mean_clock){ .cpu = NULL };
}
