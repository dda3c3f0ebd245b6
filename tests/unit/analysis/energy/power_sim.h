/*
 * Random programs and the sensor that watches them, for the fit of powers: the energy of every
 * interval and class is the exact integral, what the fit is given is what a sensor makes of it.
 *
 *	struct power_sim s;
 *
 *	seed = 81000;
 *	power_sim_make(&s, &plan);	or power_sim_new, writing into its tables, power_sim_pack
 *	power_fit_make(&s.data, &fit);	against s.truth_j
 *	power_sim_release(&s);
 *
 * A stream is a row of calls: rounds of all functions, each round in a new order, or all in the
 * same (pattern). A call takes the function's mean time by exp(N(0, .2)) and draws the function's
 * power by 1 + N(0, .1). After some calls comes a gap. Streams of a host share the processor's
 * power equally, those of a device add theirs over a static power.
 */
#ifndef POWER_SIM_H
#define POWER_SIM_H

#include "test.h"

#include <math.h>

#include "profrig/base/vec.h"
#include "profrig/energy/power_fit.h"

enum tenfold { TENFOLD_NONE, TENFOLD_ALL, TENFOLD_HALF };

/* Members that are 0 have the usual value, in brackets, or do nothing. */
struct power_plan {
	const char *name;
	int functions;          /* [20] */
	double from_s, to_s;    /* a function's mean time lies between them [0.005 both] */
	double period_s;        /* of the sensor [0.01] */
	int rounds;             /* [100] */
	double stretch;         /* sd of the logarithm of a call's time [0.2] */
	double varies;          /* sd of a call's power [0.1] */
	bool steady;            /* no call draws more than others */
	double from_w, to_w;    /* a function's power lies between them [60, 500] */
	bool pattern;           /* each round has the same order */
	bool pairs;             /* functions 2k and 2k + 1 follow each other */
	double gap_s;           /* mean of a gap, behind 30 % of the calls */
	int streams;            /* [1] */
	bool shares;            /* streams share */
	double static_w;        /* of a device, which is the last class then; else idle is */
	double rise_s;          /* time constant of the power itself */
	double late;            /* sd of how late a reading is, in periods, as the next two */
	double seldom_late;     /* mean, of every tenth reading */
	double latency;         /* of each reading */
	double tau, tau_factor; /* of a filter, in periods; what is put right, by the truth */
	double publish;         /* periods between two values of the counter */
	double step;            /* of the counter, in mean intervals */
	double drift;           /* of all powers, from beginning to end */
	double class_drift;     /* up or down by function */
	double common;          /* sd of a factor that all have for a 60th of the time */
	enum tenfold tenfold;   /* powers grow so behind the middle */
};

#define IDLE_W 25

struct power_sim {
	size_t n;
	uint32_t classes;
	double *t_s;      /* [n][classes] */
	double *border;   /* [n + 1][classes]: shares at the intervals' borders */
	double *energy_j; /* [n], as the next three */
	double *length_s;
	uint64_t *number;
	bool *halo;
	double *truth_j; /* [classes] */
	size_t *first;
	struct power_part *parts;
	struct power_data data; /* of power_sim_pack; borrows from the above */
};

static uint64_t seed;

static inline double uniform(double from, double to)
{
	return from + (to - from) * ((double)(splitmix64(&seed) >> 11) * 0x1p-53);
}

static inline double normal(void)
{
	double r = sqrt(-2 * log(uniform(1e-300, 1)));

	return r * cos(2 * M_PI * uniform(0, 1));
}

static inline double exponential(double mean)
{
	return -mean * log(uniform(1e-300, 1));
}

/* ---- tables of intervals ---- */

static inline void power_sim_new(struct power_sim *s, size_t n, uint32_t classes)
{
	*s = (struct power_sim){
		.n = n,
		.classes = classes,
		.t_s = xcalloc(n * classes + 1, sizeof(double)),
		.border = xcalloc((n + 1) * classes + 1, sizeof(double)),
		.energy_j = xcalloc(n + 1, sizeof(double)),
		.length_s = xcalloc(n + 1, sizeof(double)),
		.number = xcalloc(n + 1, sizeof(uint64_t)),
		.halo = xcalloc(n + 1, sizeof(bool)),
		.truth_j = xcalloc(classes + 1, sizeof(double)),
		.data = { .always = POWER_NO_CLASS, .known = POWER_NO_CLASS },
	};
	for (size_t i = 0; i < n; i++) {
		s->number[i] = i;
		s->length_s[i] = 1;
	}
}

static inline void power_sim_release(struct power_sim *s)
{
	free(s->t_s);
	free(s->border);
	free(s->energy_j);
	free(s->length_s);
	free(s->number);
	free(s->halo);
	free(s->truth_j);
	free(s->first);
	free(s->parts);
	*s = (struct power_sim){ 0 };
}

static inline double *time_of(struct power_sim *s, size_t i, uint32_t f)
{
	return &s->t_s[i * s->classes + f];
}

static inline double *border_of(struct power_sim *s, size_t i, uint32_t f)
{
	return &s->border[i * s->classes + f];
}

static inline void power_sim_parts(struct power_sim *s, size_t i)
{
	size_t at = s->first[i];

	for (uint32_t f = 0; f < s->classes; f++) {
		double t_s = *time_of(s, i, f);
		double begin = *border_of(s, i, f), end = *border_of(s, i + 1, f);

		if (t_s > 0 || begin > 0 || end > 0)
			s->parts[at++] =
				(struct power_part){ f, (float)t_s, (float)begin, (float)end, 0 };
	}
	s->first[i + 1] = at;
}

/* The tables become the data of a fit, but for what `data` says of the sensor. */
static inline void power_sim_pack(struct power_sim *s)
{
	s->first = xcalloc(s->n + 1, sizeof(*s->first));
	s->parts = xcalloc(s->n * s->classes + 1, sizeof(*s->parts));
	for (size_t i = 0; i < s->n; i++)
		power_sim_parts(s, i);
	s->data.n = s->n;
	s->data.number = s->number;
	s->data.energy_j = s->energy_j;
	s->data.length_s = s->length_s;
	s->data.halo = s->halo;
	s->data.first = s->first;
	s->data.parts = s->parts;
	s->data.classes = s->classes;
}

/* ---- a stream of calls ---- */

struct sim_call {
	int function; /* −1: a gap */
	double start_s, end_s;
	double w;
	double from_w;  /* what a first-order rise has reached at the start */
	double until_j; /* of the stream, until the start */
};

struct sim_stream {
	VEC(struct sim_call) calls;
	double rise_s; /* of the power */
	double tau_s;  /* of from_w: that, or of the sensor's filter */
};

/* What all streams of a program have in common. */
struct sim_program {
	const struct power_plan *plan;
	double *mean_s, *w;
	double *drifts; /* up or down */
	struct sim_stream *streams;
	int nr;
	double end_s;
	uint32_t rest; /* class of gaps; POWER_NO_CLASS: none */
	double part;   /* of the power that a stream has */
};

static inline void shuffle(int *v, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int k = (int)uniform(0, i + 1), held = v[i];

		v[i] = v[k];
		v[k] = held;
	}
}

static inline void stream_gap(const struct power_plan *p, struct sim_stream *s, double now_s)
{
	double gap_s = p->gap_s > 0 && uniform(0, 1) < 0.3 ? exponential(p->gap_s) : 0;

	if (gap_s > 0)
		VEC_PUSH(&s->calls, (struct sim_call){ -1, now_s, now_s + gap_s, 0, 0, 0 });
}

static inline void stream_call(const struct sim_program *g, struct sim_stream *s, int f,
			       double stretch)
{
	double now_s = s->calls.nr ? s->calls.v[s->calls.nr - 1].end_s : 0;
	double end_s = now_s + g->mean_s[f] * exp(stretch);

	VEC_PUSH(&s->calls, (struct sim_call){ f, now_s, end_s, 0, 0, 0 });
	stream_gap(g->plan, s, end_s);
}

static inline void stream_round(const struct sim_program *g, struct sim_stream *s, const int *order,
				int n)
{
	int each = g->plan->pairs ? 2 : 1;

	for (int k = 0; k < n; k++) {
		double stretch = g->plan->stretch * normal();

		for (int j = 0; j < each; j++)
			stream_call(g, s, order[k] * each + j, stretch);
	}
}

static inline void stream_calls(const struct sim_program *g, struct sim_stream *s)
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
static inline double power_at(const struct sim_program *g, int f, double x)
{
	const struct power_plan *p = g->plan;
	double idle_w = p->static_w > 0 ? 0 : IDLE_W, w = f < 0 ? idle_w : g->w[f];

	if (x > 0.5 && f >= 0 &&
	    (p->tenfold == TENFOLD_ALL || (p->tenfold == TENFOLD_HALF && f % 2 == 0)))
		w *= 10;
	w *= 1 + p->drift * (x - 0.5);
	return f < 0 ? w : w * (1 + p->class_drift * (x - 0.5) * g->drifts[f]);
}

static inline void stream_powers(const struct sim_program *g, struct sim_stream *s)
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

/* Joules of the first x_s of a call. */
static inline double call_energy(const struct sim_stream *s, const struct sim_call *c, double x_s)
{
	double rise = s->rise_s > 0 ? s->rise_s * (1 - exp(-x_s / s->rise_s)) : 0;

	return c->w * x_s + (c->from_w - c->w) * rise;
}

/* What a first-order filter has reached x_s into a call. */
static inline double call_filtered(const struct sim_stream *s, const struct sim_call *c, double x_s)
{
	return c->w + (c->from_w - c->w) * exp(-x_s / s->tau_s);
}

static inline void stream_integrate(struct sim_stream *s)
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

/* The call that runs at a time. */
static inline const struct sim_call *stream_at(const struct sim_stream *s, double at_s)
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

static inline void program_functions(struct sim_program *g)
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

static inline void program_streams(struct sim_program *g)
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

static inline void program_make(struct sim_program *g, const struct power_plan *p)
{
	*g = (struct sim_program){ .plan = p, .nr = p->streams, .rest = POWER_NO_CLASS };
	g->part = p->shares ? 1. / p->streams : 1;
	if (p->gap_s > 0 && p->static_w <= 0)
		g->rest = (uint32_t)p->functions;
	program_functions(g);
	program_streams(g);
}

static inline void program_release(struct sim_program *g)
{
	for (int k = 0; k < g->nr; k++)
		VEC_RELEASE(&g->streams[k].calls);
	free(g->streams);
	free(g->mean_s);
	free(g->w);
	free(g->drifts);
}

static inline uint32_t class_of_call(const struct sim_program *g, const struct sim_call *c)
{
	return c->function < 0 ? g->rest : (uint32_t)c->function;
}

/* ---- what ran in each interval, and the truth ---- */

static inline void call_record(struct power_sim *s, const struct sim_program *g,
			       const struct sim_stream *stream, const struct sim_call *c)
{
	double period_s = g->plan->period_s, all_s = period_s * (double)s->n;
	double end_s = fmin(c->end_s, all_s);
	uint32_t f = class_of_call(g, c);

	if (f == POWER_NO_CLASS || c->start_s >= all_s)
		return;
	s->truth_j[f] += call_energy(stream, c, end_s - c->start_s);
	for (size_t i = (size_t)(c->start_s / period_s); i < s->n; i++) {
		double from_s = fmax(c->start_s, period_s * (double)i);
		double to_s = fmin(end_s, period_s * (double)(i + 1));

		if (from_s >= end_s)
			break;
		*time_of(s, i, f) += fmax(to_s - from_s, 0) * g->part;
	}
}

static inline void stream_record(struct power_sim *s, const struct sim_program *g,
				 const struct sim_stream *stream)
{
	for (size_t k = 0; k < stream->calls.nr; k++)
		call_record(s, g, stream, &stream->calls.v[k]);
	for (size_t i = 0; i <= s->n; i++) {
		double at_s = g->plan->period_s * (double)i;
		uint32_t f = class_of_call(g, stream_at(stream, at_s));

		if (f != POWER_NO_CLASS)
			*border_of(s, i, f) += g->part;
	}
}

static inline void static_record(struct power_sim *s, const struct power_plan *p)
{
	uint32_t f = (uint32_t)p->functions;

	s->data.always = f;
	s->truth_j[f] = p->static_w * p->period_s * (double)s->n;
	for (size_t i = 0; i <= s->n; i++)
		*border_of(s, i, f) = 1;
	for (size_t i = 0; i < s->n; i++)
		*time_of(s, i, f) = p->period_s;
}

/* ---- the sensor ---- */

/* When the value that is read at border i was true. */
static inline double sensor_time(const struct power_plan *p, double at_s, double phase)
{
	double period_s = p->period_s, published_s = p->publish * period_s;

	at_s += p->late * period_s * fabs(normal()) - p->latency * period_s;
	if (p->seldom_late > 0 && uniform(0, 1) < 0.1)
		at_s += exponential(p->seldom_late * period_s);
	if (published_s > 0)
		at_s = (floor(at_s / published_s + phase) - phase) * published_s;
	return at_s;
}

static inline double counter_at(const struct sim_program *g, double at_s)
{
	const struct power_plan *p = g->plan;
	double sum_j = p->static_w * at_s;

	for (int k = 0; k < g->nr; k++) {
		const struct sim_stream *s = &g->streams[k];
		const struct sim_call *c = stream_at(s, at_s);

		sum_j += c->until_j + call_energy(s, c, at_s - c->start_s);
		if (p->tau > 0)
			sum_j += (p->tau_factor - 1) * s->tau_s *
				 call_filtered(s, c, at_s - c->start_s);
	}
	return sum_j;
}

static inline void sensor_read(struct power_sim *s, const struct sim_program *g)
{
	const struct power_plan *p = g->plan;
	CLEANUP(xfreep) double *j = xcalloc(s->n + 1, sizeof(*j));
	double phase = uniform(0, 1), step_j;

	for (size_t i = 0; i <= s->n; i++) {
		double at_s = sensor_time(p, p->period_s * (double)i, phase);

		j[i] = counter_at(g, fmin(fmax(at_s, 0), g->end_s * 0.99999));
	}
	step_j = p->step * j[s->n] / (double)s->n;
	for (size_t i = 0; step_j > 0 && i <= s->n; i++)
		j[i] = floor(j[i] / step_j + phase) * step_j;
	for (size_t i = 0; i < s->n; i++) {
		s->energy_j[i] = fmax(j[i + 1] - j[i], 0);
		s->length_s[i] = p->period_s;
	}
}

/* ---- what is known of a counter from its values ---- */

static inline int double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline size_t intervals_moved(const struct power_sim *s)
{
	size_t moved = 0;

	for (size_t i = 0; i < s->n; i++)
		moved += s->energy_j[i] > 0;
	return moved;
}

/* Whether a counter's increments are a few values over and over. */
static inline bool on_lattice(const struct power_sim *s)
{
	CLEANUP(xfreep) double *v = xcalloc(s->n + 1, sizeof(*v));
	size_t n = 0, values = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->energy_j[i] > 0)
			v[n++] = s->energy_j[i];
	}
	qsort(v, n, sizeof(*v), double_order);
	for (size_t i = 0; i < n; i++)
		values += i == 0 || v[i] - v[i - 1] > 1e-9 * v[n - 1];
	return n > 20 && (double)values < 0.2 * (double)n;
}

static inline void interval_append(struct power_sim *s, size_t from, size_t to)
{
	s->energy_j[to] += s->energy_j[from];
	s->length_s[to] += s->length_s[from];
	for (uint32_t f = 0; f < s->classes; f++) {
		*time_of(s, to, f) += *time_of(s, from, f);
		*border_of(s, to + 1, f) = *border_of(s, from + 1, f);
	}
}

static inline void interval_move(struct power_sim *s, size_t from, size_t to)
{
	if (from == to)
		return;
	s->energy_j[to] = s->length_s[to] = 0;
	for (uint32_t f = 0; f < s->classes; f++)
		*time_of(s, to, f) = 0;
	interval_append(s, from, to);
}

/* Intervals in which a counter stood still become one with the next, the last ones with the one
 * before. */
static inline void intervals_join(struct power_sim *s)
{
	size_t last = 0;

	for (size_t i = 1; i < s->n; i++) {
		if (s->energy_j[last] > 0)
			interval_move(s, i, ++last);
		else
			interval_append(s, i, last);
	}
	if (last > 0 && !(s->energy_j[last] > 0)) {
		interval_append(s, last, last - 1);
		last--;
	}
	s->n = last + 1;
}

static inline void sensor_describe(struct power_sim *s, const struct power_plan *p)
{
	bool lattice = on_lattice(s), stands = (double)intervals_moved(s) < 0.95 * (double)s->n;

	s->data.stale = lattice || stands;
	s->data.tau_s = p->tau * p->period_s;
	if (lattice)
		return;
	if (stands)
		s->data.border_error_s = 0.289 * p->period_s;
	intervals_join(s);
}

/* ---- all of it ---- */

static inline double usual(double value, double otherwise)
{
	return value > 0 ? value : otherwise;
}

static inline struct power_plan plan_whole(const struct power_plan *p)
{
	struct power_plan whole = *p;

	whole.functions = p->functions ? p->functions : 20;
	whole.rounds = p->rounds ? p->rounds : 100;
	whole.streams = p->streams ? p->streams : 1;
	whole.from_s = usual(p->from_s, 0.005);
	whole.to_s = usual(p->to_s, whole.from_s);
	whole.period_s = usual(p->period_s, 0.01);
	whole.stretch = usual(p->stretch, 0.2);
	whole.varies = p->steady ? 0 : usual(p->varies, 0.1);
	whole.from_w = usual(p->from_w, 60);
	whole.to_w = usual(p->to_w, 500);
	return whole;
}

static inline void power_sim_make(struct power_sim *s, const struct power_plan *usual_plan)
{
	struct power_plan p = plan_whole(usual_plan);
	struct sim_program g;

	program_make(&g, &p);
	power_sim_new(s, (size_t)(g.end_s / p.period_s) - 1,
		      (uint32_t)p.functions + (p.gap_s > 0 || p.static_w > 0));
	for (int k = 0; k < g.nr; k++)
		stream_record(s, &g, &g.streams[k]);
	if (p.static_w > 0)
		static_record(s, &p);
	sensor_read(s, &g);
	sensor_describe(s, &p);
	power_sim_pack(s);
	program_release(&g);
}

/* Each class's part of the energy, by time. */
static inline double *by_time_j(const struct power_data *d)
{
	double *j = xcalloc((size_t)d->classes + 1, sizeof(*j));

	for (size_t i = 0; i < d->n; i++) {
		double all_s = 0;

		for (size_t k = d->first[i]; k < d->first[i + 1]; k++)
			all_s += d->parts[k].t_s;
		for (size_t k = d->first[i]; all_s > 0 && k < d->first[i + 1]; k++)
			j[d->parts[k].class_id] += d->energy_j[i] * d->parts[k].t_s / all_s;
	}
	return j;
}

#endif
