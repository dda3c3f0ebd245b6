/*
 * The counter and the reading are merged into one list of steps: for dt_s the counter's power was
 * power_w, at the end of it the reading was reading_w (NaN: the power changed, nothing was read).
 * Simulating a filter is one pass over the list. A step without a known power (NaN) makes the
 * filter's state unknown; the next reading sets it again.
 */
#include "profrig/counters/tau_fit.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/search.h"
#include "profrig/base/sort.h"
#include "profrig/energy/energy.h"

#define LEAST_READINGS 8
#define GRID_RATIO 1.4
#define GOLDEN_STEPS 24
#define LONGEST_S 60.0

struct step {
	double dt_s, power_w, reading_w;
};

struct fitting {
	VEC(struct step) steps;
	/* for moving averages: the counter's knots, and at every reading its energy */
	const struct tau_fit_data *d;
	size_t first, end; /* readings that are compared */
	VEC(double) j_at;
	VEC(size_t) knot_at;       /* the counter's interval that holds the reading */
	VEC(uint32_t) dead_before; /* by knot; empty when nothing is unknown */
	double shift_w;            /* taken off both sides of a comparison, for the digits */
	bool unit_gain;
};

/* Sums of a straight line through (model, reading). */
struct line {
	double n, x, y, xx, xy, yy;
};

struct line_fit {
	double gain, offset_w, rms_w, unit_rms_w;
};

static void line_add(struct line *l, double x, double y)
{
	l->n++;
	l->x += x;
	l->y += y;
	l->xx += x * x;
	l->xy += x * y;
	l->yy += y * y;
}

static struct line_fit line_solve(const struct line *l, const struct fitting *in)
{
	double xx = l->xx - l->x * l->x / l->n, xy = l->xy - l->x * l->y / l->n;
	double yy = l->yy - l->y * l->y / l->n, ss;
	struct line_fit f = { .gain = 1, .rms_w = INFINITY, .unit_rms_w = INFINITY };

	if (l->n < LEAST_READINGS)
		return f;
	if (!in->unit_gain && xx > 1e-12 * (l->xx + 1))
		f.gain = xy / xx;
	f.offset_w = (l->y - f.gain * l->x) / l->n + (1 - f.gain) * in->shift_w;
	ss = yy - 2 * f.gain * xy + f.gain * f.gain * xx;
	f.rms_w = sqrt(fmax(ss, 0) / l->n);
	f.unit_rms_w = sqrt(fmax(l->yy - 2 * l->xy + l->xx, 0) / l->n);
	return f;
}

typedef struct line_fit model_fn(const struct fitting *f, double parameter_s);

static struct line_fit one_pole(const struct fitting *f, double tau_s)
{
	struct line l = { 0 };
	double y = NAN;

	for (size_t i = 0; i < f->steps.nr; i++) {
		const struct step *s = &f->steps.v[i];

		y = tau_s > 0 ? s->power_w + (y - s->power_w) * exp(-s->dt_s / tau_s) : s->power_w;
		if (isnan(s->reading_w))
			continue;
		if (isnan(y))
			y = s->reading_w;
		else
			line_add(&l, y - f->shift_w, s->reading_w - f->shift_w);
	}
	return line_solve(&l, f);
}

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
	return (double)(to_ns - from_ns) * 1e-9;
}

static double energy_at(const struct tau_fit_data *d, size_t k, int64_t t_ns)
{
	double part = seconds_between(d->knot_ns[k], t_ns) /
		      seconds_between(d->knot_ns[k], d->knot_ns[k + 1]);

	return d->j[k] + (d->j[k + 1] - d->j[k]) * part;
}

/* The counter's interval that holds t_ns, which is inside its time. */
static size_t knot_before(const struct tau_fit_data *d, int64_t t_ns)
{
	return LOWER_BOUND(i, 1, d->knots - 1, d->knot_ns[i] <= t_ns) - 1;
}

static bool is_dead_between(const struct fitting *f, size_t from, size_t to)
{
	return f->dead_before.nr && f->dead_before.v[to + 1] != f->dead_before.v[from];
}

static struct line_fit boxcar_fit(const struct fitting *f, double width_s)
{
	const struct tau_fit_data *d = f->d;
	int64_t width_ns = (int64_t)(width_s * 1e9);
	struct line l = { 0 };
	size_t k = knot_before(d, d->reading_ns[f->first] - width_ns);

	for (size_t i = 0; i < f->j_at.nr; i++) {
		int64_t from_ns = d->reading_ns[f->first + i] - width_ns;
		size_t at = f->knot_at.v[i];

		if (from_ns < d->knot_ns[0])
			continue;
		while (d->knot_ns[k + 1] <= from_ns)
			k++;
		if (is_dead_between(f, k, at))
			continue;
		line_add(&l, (f->j_at.v[i] - energy_at(d, k, from_ns)) / width_s - f->shift_w,
			 d->w[f->first + i] - f->shift_w);
	}
	if (l.n * 2 < (double)f->j_at.nr)
		l.n = 0;
	return line_solve(&l, f);
}

/* The parameter of least rms in [least_s, most_s]. */
static double width_search(const struct fitting *f, model_fn *model, double least_s, double most_s)
{
	const double golden = 0.6180339887498949;
	double best = least_s, best_rms = INFINITY, a, b, c, d, fc, fd;

	for (double t = least_s; t <= most_s; t *= GRID_RATIO) {
		double rms = model(f, t).rms_w;

		if (rms < best_rms) {
			best = t;
			best_rms = rms;
		}
	}
	a = log(best / GRID_RATIO);
	b = log(fmin(best * GRID_RATIO, most_s));
	c = b - golden * (b - a);
	d = a + golden * (b - a);
	fc = model(f, exp(c)).rms_w;
	fd = model(f, exp(d)).rms_w;
	for (int i = 0; i < GOLDEN_STEPS; i++) {
		if (fc < fd) {
			b = d;
			d = c;
			fd = fc;
			c = b - golden * (b - a);
			fc = model(f, exp(c)).rms_w;
		} else {
			a = c;
			c = d;
			fc = fd;
			d = a + golden * (b - a);
			fd = model(f, exp(d)).rms_w;
		}
	}
	return exp((a + b) / 2);
}

/* ---- the list of steps ---- */

static double interval_power(const struct tau_fit_data *d, size_t k)
{
	if (d->dead && d->dead[k])
		return NAN;
	return (d->j[k + 1] - d->j[k]) / seconds_between(d->knot_ns[k], d->knot_ns[k + 1]);
}

/* From the first reading on; a reading on a knot belongs to the interval that ends there. */
static void make_steps(struct fitting *f)
{
	const struct tau_fit_data *d = f->d;
	int64_t now_ns = d->reading_ns[f->first];
	size_t k = knot_before(d, now_ns);

	VEC_RESERVE(&f->steps, 2 * (f->end - f->first) + 2);
	for (size_t i = f->first; i < f->end; i++) {
		int64_t t_ns = d->reading_ns[i];

		for (; d->knot_ns[k + 1] < t_ns; k++) {
			if (d->knot_ns[k + 1] <= now_ns)
				continue;
			VEC_PUSH(&f->steps,
				 (struct step){ seconds_between(now_ns, d->knot_ns[k + 1]),
						interval_power(d, k), NAN });
			now_ns = d->knot_ns[k + 1];
		}
		VEC_PUSH(&f->steps, (struct step){ seconds_between(now_ns, t_ns),
						   interval_power(d, k), d->w[i] });
		VEC_PUSH(&f->j_at, energy_at(d, k, t_ns));
		VEC_PUSH(&f->knot_at, k);
		now_ns = t_ns;
	}
}

static void count_dead(struct fitting *f)
{
	uint32_t n = 0;

	if (!f->d->dead)
		return;
	VEC_RESERVE(&f->dead_before, f->d->knots);
	for (size_t k = 0; k < f->d->knots; k++) {
		VEC_PUSH(&f->dead_before, n);
		n += k + 1 < f->d->knots && f->d->dead[k];
	}
}

/* Only readings in the counter's time; of many, the stretch in which they vary most. */
static void choose_readings(struct fitting *f)
{
	const struct tau_fit_data *d = f->d;
	double sum = 0, squares = 0, most = -1, shift;
	size_t first = 0, end = d->readings;

	while (first < end && d->reading_ns[first] <= d->knot_ns[0])
		first++;
	while (end > first && d->reading_ns[end - 1] > d->knot_ns[d->knots - 1])
		end--;
	f->first = first;
	f->end = end;
	if (end - first <= TAU_FIT_READINGS)
		return;
	shift = d->w[first];
	for (size_t i = first; i < end; i++) {
		double w = d->w[i] - shift, variance;

		sum += w;
		squares += w * w;
		if (i - first < TAU_FIT_READINGS)
			continue;
		w = d->w[i - TAU_FIT_READINGS] - shift;
		sum -= w;
		squares -= w * w;
		variance = squares - sum * sum / TAU_FIT_READINGS;
		if (variance > most) {
			most = variance;
			f->first = i + 1 - TAU_FIT_READINGS;
			f->end = i + 1;
		}
	}
}

/* ---- judging ---- */

struct spread {
	double sd_w, mean_w, step_w;
	int64_t median_ns;
};

static struct spread spread_of(const struct fitting *f)
{
	const struct tau_fit_data *d = f->d;
	size_t n = f->end - f->first;
	CLEANUP(xfreep) int64_t *apart = xreallocarray(NULL, n + 1, sizeof(*apart));
	struct spread s = { .step_w = 0 };
	double sum = 0, squares = 0;

	for (size_t i = f->first; i < f->end; i++) {
		double w = d->w[i] - f->shift_w, change;

		sum += w;
		squares += w * w;
		if (i == f->first)
			continue;
		change = fabs(d->w[i] - d->w[i - 1]);
		if (change > 0 && (s.step_w <= 0 || change < s.step_w))
			s.step_w = change;
		apart[i - f->first - 1] = d->reading_ns[i] - d->reading_ns[i - 1];
	}
	s.mean_w = f->shift_w + sum / (double)n;
	s.sd_w = sqrt(fmax(squares - sum * sum / (double)n, 0) / (double)n);
	s.median_ns = median_i64(apart, n - 1);
	return s;
}

/* Quantisation alone leaves step/√12; sensors are a little worse. */
static double near_enough(const struct spread *s)
{
	return fmax(6 * s->step_w / sqrt(12), 0.02 * s->sd_w);
}

#define CLEARLY 0.7 /* of the other's rms */

static enum filter_verdict filter_judge(const struct tau_fit *r, double limit_w, double longest_s)
{
	if (r->face_rms_w <= limit_w && r->face_rms_w <= 1.2 * r->rms_w)
		return FILTER_NONE;
	if (r->rms_w <= limit_w && r->rms_w <= CLEARLY * r->boxcar_rms_w &&
	    r->rms_w <= CLEARLY * r->face_rms_w && r->gain > 0 && r->tau_s < 0.9 * longest_s)
		return FILTER_ONE_POLE;
	if (r->boxcar_rms_w <= limit_w && r->boxcar_rms_w <= CLEARLY * r->rms_w)
		return FILTER_BOXCAR;
	return FILTER_NOT_MODELLED;
}

#define FREE_GAIN_PAYS 0.9 /* of the rms with gain 1 */

static struct line_fit fit_pole(struct fitting *f, double least_s, double most_s, double *ret_tau_s)
{
	double unit_tau_s, free_tau_s;
	struct line_fit unit, any;

	free_tau_s = width_search(f, one_pole, least_s, most_s);
	any = one_pole(f, free_tau_s);
	f->unit_gain = true;
	unit_tau_s = width_search(f, one_pole, least_s, most_s);
	unit = one_pole(f, unit_tau_s);
	f->unit_gain = false;
	if (any.rms_w < FREE_GAIN_PAYS * unit.rms_w) {
		*ret_tau_s = free_tau_s;
		return any;
	}
	*ret_tau_s = unit_tau_s;
	return unit;
}

static void fit_models(struct fitting *f, const struct spread *s, struct tau_fit *ret)
{
	double span_s = seconds_between(f->d->reading_ns[f->first], f->d->reading_ns[f->end - 1]);
	double least_s = fmax((double)s->median_ns * 1e-9 / 2, 1e-6);
	double most_s = fmin(span_s / 4, LONGEST_S);
	struct line_fit pole = fit_pole(f, least_s, most_s, &ret->tau_s);

	ret->gain = pole.gain;
	ret->offset_w = pole.offset_w;
	ret->rms_w = pole.rms_w;
	ret->unit_rms_w = pole.unit_rms_w;
	ret->face_rms_w = one_pole(f, 0).rms_w;
	ret->boxcar_s = width_search(f, boxcar_fit, least_s * 2, most_s);
	ret->boxcar_rms_w = boxcar_fit(f, ret->boxcar_s).rms_w;
	ret->verdict = filter_judge(ret, near_enough(s), most_s);
}

void tau_fit(const struct tau_fit_data *d, struct tau_fit *ret)
{
	struct fitting f = { .d = d };
	struct spread s;

	*ret = (struct tau_fit){ .verdict = FILTER_NO_INFORMATION,
				 .tau_s = NAN,
				 .gain = NAN,
				 .offset_w = NAN,
				 .rms_w = NAN,
				 .unit_rms_w = NAN,
				 .face_rms_w = NAN,
				 .boxcar_s = NAN,
				 .boxcar_rms_w = NAN,
				 .step_w = NAN };
	if (d->knots < LEAST_READINGS)
		return;
	choose_readings(&f);
	ret->readings = f.end - f.first;
	if (ret->readings < LEAST_READINGS)
		return;
	f.shift_w = d->w[f.first];
	s = spread_of(&f);
	ret->step_w = s.step_w > 0 ? s.step_w : NAN;
	if (s.median_ns <= 0 || !(s.sd_w >= fmax(3 * s.step_w, 0.02 * fabs(s.mean_w))))
		return;
	make_steps(&f);
	count_dead(&f);
	fit_models(&f, &s, ret);
	VEC_RELEASE(&f.steps);
	VEC_RELEASE(&f.j_at);
	VEC_RELEASE(&f.knot_at);
	VEC_RELEASE(&f.dead_before);
}

const char *filter_verdict_name(enum filter_verdict v)
{
	static const char *const names[] = { "no_counter", "no_information", "not_modelled",
					     "unfiltered", "one_pole",       "boxcar" };

	return names[v];
}

/* ---- from a model ---- */

/* Knots where the counter changes, which is when it was published. */
static size_t keep_changes(struct curve *c)
{
	size_t n = 0;
	uint8_t dead = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (i > 0)
			dead |= c->marks ? c->marks[i - 1] & CURVE_DEAD : 0;
		if (i > 0 && c->e[i] <= c->e[n - 1] && !dead)
			continue;
		if (n > 0 && c->marks)
			c->marks[n - 1] = dead;
		c->t_ns[n] = c->t_ns[i];
		c->e[n++] = c->e[i];
		dead = 0;
	}
	return n;
}

void power_filter_find(const struct model *m, series_id power, const struct counter_info *pi,
		       series_id energy, const struct counter_info *ei, struct power_filter *ret)
{
	const struct energy_opts o = { .integration = INTEGRATE_LINEAR };
	const struct series *se = &m->series.v[power];
	struct tau_fit_data d = { 0 };
	CLEANUP(curve_release) struct curve c = { 0 };
	int64_t *t_ns;
	double *w;

	*ret = (struct power_filter){ .power = power, .energy = energy };
	tau_fit(&d, &ret->fit);
	if (energy == SERIES_NONE || curve_make(m, energy, ei, &o, &c, NULL) < 0) {
		ret->fit.verdict = FILTER_NO_COUNTER;
		return;
	}
	t_ns = xreallocarray(NULL, se->t_ns.nr + 1, sizeof(*t_ns));
	w = xreallocarray(NULL, se->t_ns.nr + 1, sizeof(*w));
	for (size_t i = 0; i < se->t_ns.nr; i++) {
		if (!isfinite(se->value.v[i]))
			continue;
		t_ns[d.readings] = se->t_ns.v[i];
		w[d.readings++] = counter_value(pi, se->value.v[i]);
	}
	d.knots = keep_changes(&c);
	d.knot_ns = c.t_ns;
	d.j = c.e;
	d.dead = c.marks;
	d.reading_ns = t_ns;
	d.w = w;
	tau_fit(&d, &ret->fit);
	free(t_ns);
	free(w);
}
