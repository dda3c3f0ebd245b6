#include "sim_program.h"

#include <math.h>

/* ---- what is drawn ---- */

uint64_t seed;

double uniform(double from, double to)
{
	return from + (to - from) * ((double)(splitmix64(&seed) >> 11) * 0x1p-53);
}

double normal(void)
{
	double r = sqrt(-2 * log(uniform(1e-300, 1)));

	return r * cos(2 * M_PI * uniform(0, 1));
}

double exponential(double mean)
{
	return -mean * log(uniform(1e-300, 1));
}

/* ---- a stream of calls ---- */

static void shuffle(int *v, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int k = (int)uniform(0, i + 1), held = v[i];

		v[i] = v[k];
		v[k] = held;
	}
}

static void stream_gap(const struct power_plan *p, struct sim_stream *s, double now_s)
{
	double gap_s = p->gap_s > 0 && uniform(0, 1) < 0.3 ? exponential(p->gap_s) : 0;

	if (gap_s > 0)
		VEC_PUSH(&s->calls, (struct sim_call){ -1, now_s, now_s + gap_s, 0, 0, 0 });
}

static void stream_call(const struct sim_program *g, struct sim_stream *s, int f, double stretch)
{
	double now_s = s->calls.nr ? s->calls.v[s->calls.nr - 1].end_s : 0;
	double end_s = now_s + g->mean_s[f] * exp(stretch);

	VEC_PUSH(&s->calls, (struct sim_call){ f, now_s, end_s, 0, 0, 0 });
	stream_gap(g->plan, s, end_s);
}

static void stream_round(const struct sim_program *g, struct sim_stream *s, const int *order, int n)
{
	int each = g->plan->pairs ? 2 : 1;

	for (int k = 0; k < n; k++) {
		double stretch = g->plan->stretch * normal();

		for (int j = 0; j < each; j++)
			stream_call(g, s, order[k] * each + j, stretch);
	}
}

static void stream_calls(const struct sim_program *g, struct sim_stream *s)
{
	int n = g->plan->functions / (g->plan->pairs ? 2 : 1);
	CLEANUP(xfreep) int *order = xcalloc((size_t)n, sizeof(*order));

	for (int k = 0; k < n; k++)
		order[k] = k;
	shuffle(order, n);
	for (int k = 0; k < g->plan->rounds; k++) {
		if (!g->plan->pattern)
			shuffle(order, n);
		stream_round(g, s, order, n);
	}
}

/* What a function draws at a part x of the program's time. */
static double power_at(const struct sim_program *g, int f, double x)
{
	const struct power_plan *p = g->plan;
	double idle_w = p->static_w > 0 ? 0 : IDLE_W, w = f < 0 ? idle_w : g->w[f];

	if (x > 0.5 && f >= 0 &&
	    (p->tenfold == TENFOLD_ALL || (p->tenfold == TENFOLD_HALF && f % 2 == 0)))
		w *= 10;
	w *= 1 + p->drift * (x - 0.5);
	return f < 0 ? w : w * (1 + p->class_drift * (x - 0.5) * g->drifts[f]);
}

static void stream_powers(const struct sim_program *g, struct sim_stream *s)
{
	double factor[61];

	for (size_t k = 0; k < ARRAY_LEN(factor); k++)
		factor[k] = 1 + g->plan->common * normal();
	for (size_t k = 0; k < s->calls.nr; k++) {
		struct sim_call *c = &s->calls.v[k];
		double x = fmin((c->start_s + c->end_s) / 2 / g->end_s, 1);
		double w = power_at(g, c->function, x) * factor[(int)(x * 60)];
		double own = c->function < 0 ? 0 : g->plan->varies * normal();

		c->w = fmax(w * (1 + own), w > 0 ? 1 : 0) * g->part;
	}
}

double call_energy(const struct sim_stream *s, const struct sim_call *c, double x_s)
{
	double rise = s->rise_s > 0 ? s->rise_s * (1 - exp(-x_s / s->rise_s)) : 0;

	return c->w * x_s + (c->from_w - c->w) * rise;
}

double call_filtered(const struct sim_stream *s, const struct sim_call *c, double x_s)
{
	return c->w + (c->from_w - c->w) * exp(-x_s / s->tau_s);
}

static void stream_integrate(struct sim_stream *s)
{
	double y_w = s->calls.v[0].w, sum_j = 0;

	for (size_t k = 0; k < s->calls.nr; k++) {
		struct sim_call *c = &s->calls.v[k];
		double x_s = c->end_s - c->start_s;

		c->from_w = y_w;
		c->until_j = sum_j;
		sum_j += call_energy(s, c, x_s);
		y_w = s->tau_s > 0 ? call_filtered(s, c, x_s) : c->w;
	}
}

const struct sim_call *stream_at(const struct sim_stream *s, double at_s)
{
	size_t from = 0, to = s->calls.nr - 1;

	while (from < to) {
		size_t mid = (from + to) / 2;

		if (s->calls.v[mid].end_s <= at_s)
			from = mid + 1;
		else
			to = mid;
	}
	return &s->calls.v[from];
}

/* ---- a program ---- */

static void program_functions(struct sim_program *g)
{
	const struct power_plan *p = g->plan;
	size_t n = (size_t)p->functions;

	g->mean_s = xcalloc(n, sizeof(double));
	g->w = xcalloc(n, sizeof(double));
	g->drifts = xcalloc(n, sizeof(double));
	for (size_t f = 0; f < n; f++) {
		g->mean_s[f] = uniform(p->from_s, p->to_s);
		g->w[f] = uniform(p->from_w, p->to_w);
		g->drifts[f] = uniform(0, 1) < 0.5 ? -1 : 1;
	}
}

static void program_streams(struct sim_program *g)
{
	const struct power_plan *p = g->plan;

	g->streams = xcalloc((size_t)g->nr, sizeof(*g->streams));
	g->end_s = INFINITY;
	for (int k = 0; k < g->nr; k++) {
		struct sim_stream *s = &g->streams[k];

		s->rise_s = p->rise_s;
		s->tau_s = p->tau > 0 ? p->tau * p->period_s : p->rise_s;
		stream_calls(g, s);
		g->end_s = fmin(g->end_s, s->calls.v[s->calls.nr - 1].end_s);
	}
	for (int k = 0; k < g->nr; k++) {
		stream_powers(g, &g->streams[k]);
		stream_integrate(&g->streams[k]);
	}
}

void program_make(struct sim_program *g, const struct power_plan *p)
{
	*g = (struct sim_program){ .plan = p, .nr = p->streams, .rest = POWER_NO_CLASS };
	g->part = p->shares ? 1. / p->streams : 1;
	if (p->gap_s > 0 && p->static_w <= 0)
		g->rest = (uint32_t)p->functions;
	program_functions(g);
	program_streams(g);
}

void program_release(struct sim_program *g)
{
	for (int k = 0; k < g->nr; k++)
		VEC_RELEASE(&g->streams[k].calls);
	free(g->streams);
	free(g->mean_s);
	free(g->w);
	free(g->drifts);
}
