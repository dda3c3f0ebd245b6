#include "gpu_clock.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/sampler/sampler.h"

struct gpu_clock {
	const struct sampler *of;
	struct sampler_state *st;
	double sum; /* of readings */
	uint64_t nr;
	int64_t last_ns;
};

static bool opens(struct gpu_clock *g, const char *name, const char *gpus)
{
	struct sampler_opts o = { .device = gpus };
	bool works;

	VEC_PUSH(&o.options, ((struct sampler_option){ (char *)"fields", (char *)"clock" }));
	g->of = sampler_find(name);
	works = g->of && g->of->open(&o, &g->st, NULL) == 0;
	VEC_RELEASE(&o.options);
	return works;
}

struct gpu_clock *gpu_clock_new(const char *gpus)
{
	struct gpu_clock *g = xcalloc(1, sizeof(*g));

	g->last_ns = INT64_MIN / 2;
	if (opens(g, "amdgpu", gpus) || opens(g, "nvml", gpus))
		return g;
	free(g);
	return NULL;
}

void gpu_clock_free(struct gpu_clock *g)
{
	if (!g)
		return;
	g->of->close(g->st);
	free(g);
}

void gpu_clock_poll(struct gpu_clock *g, int64_t now_ns)
{
	const struct sampler_device *dev;
	size_t nr;

	if (now_ns - g->last_ns < GPU_CLOCK_POLL_NS)
		return;
	g->last_ns = now_ns;
	nr = g->of->devices(g->st, &dev);
	for (size_t i = 0; i < nr; i++) {
		double v[SAMPLER_MAX_SERIES];
		const char *reason = NULL;

		/* fields: its only series is the clock */
		if (g->of->read(g->st, i, v, &reason) != 0 || !isfinite(v[0]) || v[0] <= 0)
			continue;
		g->sum += v[0];
		g->nr++;
	}
}

double gpu_clock_mean(const struct gpu_clock *g)
{
	return g->nr ? g->sum / (double)g->nr : NAN;
}

const char *gpu_clock_source(const struct gpu_clock *g)
{
	return g->of->name;
}
