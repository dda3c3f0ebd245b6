#include "steady_gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/sampler/sampler.h"

static const struct {
	const char *sampler, *fields;
} kinds[] = { { "nvml", "temperature,power" }, { "amdgpu", "power" } };

struct source {
	const struct sampler *of;
	struct sampler_state *st; /* NULL: not open */
	const struct sampler_device *dev;
	size_t nr;
	size_t temperatures, powers; /* when it was found */
};

struct steady_gpus {
	struct source v[ARRAY_LEN(kinds)];
	size_t temperatures, powers;
};

/* The device's series of this name; SIZE_MAX: there is none. */
static size_t series_at(const struct sampler_device *d, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < d->nr; i++)
		if (!strncmp(d->series[i].name, name, n) && d->series[i].name[n] == '.')
			return i;
	return SIZE_MAX;
}

/* Averaged where there is such a reading. */
static size_t power_at(const struct sampler_device *d)
{
	size_t i = series_at(d, "power");

	return i == SIZE_MAX ? series_at(d, "power_instant") : i;
}

static void source_open(struct source *s, size_t kind)
{
	struct sampler_opts o = { .device = "all" };

	s->of = sampler_find(kinds[kind].sampler);
	VEC_PUSH(&o.options,
		 ((struct sampler_option){ (char *)"fields", (char *)kinds[kind].fields }));
	if (s->of && s->of->open(&o, &s->st, NULL) == 0)
		s->nr = s->of->devices(s->st, &s->dev);
	else
		s->st = NULL;
	VEC_RELEASE(&o.options);
}

static void source_close(struct source *s)
{
	if (s->st)
		s->of->close(s->st);
	s->st = NULL;
	s->nr = 0;
}

struct steady_gpus *steady_gpus_find(void)
{
	struct steady_gpus *g = xcalloc(1, sizeof(*g));

	steady_gpus_open(g);
	for (size_t k = 0; k < ARRAY_LEN(g->v); k++)
		for (size_t i = 0; i < g->v[k].nr; i++) {
			g->v[k].temperatures +=
				series_at(&g->v[k].dev[i], "temperature") != SIZE_MAX;
			g->v[k].powers += power_at(&g->v[k].dev[i]) != SIZE_MAX;
		}
	steady_gpus_close(g);
	for (size_t k = 0; k < ARRAY_LEN(g->v); k++) {
		g->temperatures += g->v[k].temperatures;
		g->powers += g->v[k].powers;
	}
	if (g->temperatures || g->powers)
		return g;
	steady_gpus_free(g);
	return NULL;
}

void steady_gpus_free(struct steady_gpus *g)
{
	if (g)
		steady_gpus_close(g);
	free(g);
}

size_t steady_gpus_temperatures(const struct steady_gpus *g)
{
	return g ? g->temperatures : 0;
}

size_t steady_gpus_powers(const struct steady_gpus *g)
{
	return g ? g->powers : 0;
}

void steady_gpus_open(struct steady_gpus *g)
{
	for (size_t k = 0; k < ARRAY_LEN(g->v); k++)
		if (!g->v[k].st)
			source_open(&g->v[k], k);
}

void steady_gpus_close(struct steady_gpus *g)
{
	for (size_t k = 0; k < ARRAY_LEN(g->v); k++)
		source_close(&g->v[k]);
}

/* Counts what was read, so that a GPU that went away is seen. */
static void source_read(struct source *s, double *hottest, size_t *temperatures, double *power,
			size_t *powers)
{
	for (size_t i = 0; i < s->nr; i++) {
		size_t t = series_at(&s->dev[i], "temperature"), p = power_at(&s->dev[i]);
		double v[SAMPLER_MAX_SERIES];
		const char *reason = NULL;

		if (s->of->read(s->st, i, v, &reason) != 0)
			continue;
		if (t != SIZE_MAX && isfinite(v[t])) {
			*hottest = fmax(*hottest, v[t]);
			++*temperatures;
		}
		if (p != SIZE_MAX && isfinite(v[p])) {
			*power += v[p];
			++*powers;
		}
	}
}

struct steady_gpus_reading steady_gpus_read(struct steady_gpus *g)
{
	struct steady_gpus_reading r = { NAN, 0 };
	size_t temperatures = 0, powers = 0;

	for (size_t k = 0; k < ARRAY_LEN(g->v); k++)
		source_read(&g->v[k], &r.temperature_c, &temperatures, &r.power_w, &powers);
	if (temperatures < g->temperatures)
		r.temperature_c = NAN;
	if (!g->powers || powers < g->powers)
		r.power_w = NAN;
	return r;
}
