#include "sim_program.h"

#include <math.h>

/* ---- tables of intervals ---- */

void power_sim_new(struct power_sim *s, size_t n, uint32_t classes)
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

void power_sim_release(struct power_sim *s)
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

static void power_sim_parts(struct power_sim *s, size_t i)
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

void power_sim_pack(struct power_sim *s)
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

/* ---- what ran in each interval, and the truth ---- */

static uint32_t class_of_call(const struct sim_program *g, const struct sim_call *c)
{
	return c->function < 0 ? g->rest : (uint32_t)c->function;
}

static void call_record(struct power_sim *s, const struct sim_program *g,
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

static void stream_record(struct power_sim *s, const struct sim_program *g,
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

static void static_record(struct power_sim *s, const struct power_plan *p)
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
static double sensor_time(const struct power_plan *p, double at_s, double phase)
{
	double period_s = p->period_s, published_s = p->publish * period_s;

	at_s += p->late * period_s * fabs(normal()) - p->latency * period_s;
	if (p->seldom_late > 0 && uniform(0, 1) < 0.1)
		at_s += exponential(p->seldom_late * period_s);
	if (published_s > 0)
		at_s = (floor(at_s / published_s + phase) - phase) * published_s;
	return at_s;
}

static double counter_at(const struct sim_program *g, double at_s)
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

static void sensor_read(struct power_sim *s, const struct sim_program *g)
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

static size_t intervals_moved(const struct power_sim *s)
{
	size_t moved = 0;

	for (size_t i = 0; i < s->n; i++)
		moved += s->energy_j[i] > 0;
	return moved;
}

/* Whether a counter's increments are a few values over and over. */
static bool on_lattice(const struct power_sim *s)
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

static void interval_append(struct power_sim *s, size_t from, size_t to)
{
	s->energy_j[to] += s->energy_j[from];
	s->length_s[to] += s->length_s[from];
	for (uint32_t f = 0; f < s->classes; f++) {
		*time_of(s, to, f) += *time_of(s, from, f);
		*border_of(s, to + 1, f) = *border_of(s, from + 1, f);
	}
}

static void interval_move(struct power_sim *s, size_t from, size_t to)
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
static void intervals_join(struct power_sim *s)
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

static void sensor_describe(struct power_sim *s, const struct power_plan *p)
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

static double usual(double value, double otherwise)
{
	return value > 0 ? value : otherwise;
}

static struct power_plan plan_whole(const struct power_plan *p)
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

struct power_sim power_sim_of(const struct power_plan *usual_plan)
{
	struct power_plan p = plan_whole(usual_plan);
	struct sim_program g;
	struct power_sim s;

	program_make(&g, &p);
	power_sim_new(&s, (size_t)(g.end_s / p.period_s) - 1,
		      (uint32_t)p.functions + (p.gap_s > 0 || p.static_w > 0));
	for (int k = 0; k < g.nr; k++)
		stream_record(&s, &g, &g.streams[k]);
	if (p.static_w > 0)
		static_record(&s, &p);
	sensor_read(&s, &g);
	sensor_describe(&s, &p);
	power_sim_pack(&s);
	program_release(&g);
	return s;
}

double *by_time_j(const struct power_data *d)
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
