#include "power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define WIDTH 1.2       /* times what theory gives; simulations support it */
#define WIDTH_STALE 1.5 /* of a counter that is published late or in large steps */
/* Half the energy that a lag moves, if it is the device's and not the sensor's, and a tenth. */
#define LAG_DOUBT 0.55
#define LACK_DOUBT 0.5 /* of what borders that are off take */
#define TOLD 0.5       /* a power of which the data tell less is not separable */
#define GROUP_INFO 0.5 /* information on two powers' difference, of what is assumed */
#define GROUP_COSINE 0.8
/* A step in time: what is left of the residuals' squares, and the smallest windows. */
#define STEP_LEFT 0.6
#define STEP_LEFT_ROUGH 0.85
#define STEP_DEPTH 2
#define STEP_INTERVALS 40
#define STEP_PLACES 512 /* looked at */
#define LEAST_INTERVALS 3

/* ---- one window ---- */

/* By class of the data. */
struct window_fit {
	size_t from, to, n;
	double *energy_j, *var, *lag_j; /* the last: what the lag leaves open */
	double *own_j, *time_s;         /* power × time, and that time */
	double *own_j2, *blocks_s2;     /* as in struct power_widths */
	double *weight_w;               /* by part of the data, [parts of the window] */
	bool *separable;
	uint32_t *group;
	double left; /* Σ r²/μ */
	double flat; /* the same of one power for all the time */
	double phi, parameters, lag_s, lag1, rest2_w2;
	size_t step_at; /* the row where a step is likeliest; 0: none */
	unsigned rounds;
};

static void window_fit_release(struct window_fit *f)
{
	free(f->energy_j);
	free(f->var);
	free(f->own_j);
	free(f->time_s);
	free(f->own_j2);
	free(f->blocks_s2);
	free(f->lag_j);
	free(f->weight_w);
	free(f->separable);
	free(f->group);
	*f = (struct window_fit){ 0 };
}

uint32_t power_classes_of(const struct power_data *d, size_t from, size_t to, uint32_t *ret)
{
	uint32_t nr = 0;

	memset(ret, 0xff, ((size_t)d->classes + 1) * sizeof(*ret));
	for (size_t i = from; i < to; i++) {
		if (!power_counts(d, i))
			continue;
		for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
			if (d->parts[k].t_s > 0)
				ret[d->parts[k].class_id] = 0;
		}
	}
	for (uint32_t f = 0; f < d->classes; f++)
		ret[f] = ret[f] == 0 ? nr++ : POWER_NO_CLASS;
	return nr;
}

/* ---- classes that cannot be told apart ---- */

static uint32_t group_find(uint32_t *of, uint32_t f)
{
	while (of[f] != f)
		f = of[f] = of[of[f]];
	return f;
}

static bool same_group(const struct solution *s, uint32_t f, uint32_t g)
{
	size_t classes = s->c.classes;
	const double *a = s->normal.a;
	double ff = a[f * classes + f], gg = a[g * classes + g], fg = a[f * classes + g];
	double tf = fmax(s->t_s[f], 1e-12), tg = fmax(s->t_s[g], 1e-12);
	double info = (ff / (tf * tf) + gg / (tg * tg) - 2 * fg / (tf * tg)) /
		      (s->phi * (1 / (tf * tf) + 1 / (tg * tg)));

	return fg > GROUP_COSINE * sqrt(ff * gg) && info < GROUP_INFO / (s->spread_w * s->spread_w);
}

static bool may_join(const struct power_window *w, uint32_t f)
{
	return f != w->always && f != w->known;
}

/* of: by class of the window its group's lowest member; whether there is a group. */
static bool groups_find(const struct solution *s, uint32_t *of)
{
	bool any = false;

	for (uint32_t f = 0; f < s->c.classes; f++)
		of[f] = f;
	for (uint32_t f = 0; s->normal.a && f < s->c.classes; f++) {
		for (uint32_t g = 0; g < f; g++) {
			uint32_t a = group_find(of, f), b = group_find(of, g);

			if (a == b || !may_join(s->w, f) || !may_join(s->w, g) ||
			    !same_group(s, f, g))
				continue;
			of[a > b ? a : b] = a < b ? a : b;
			any = true;
		}
	}
	for (uint32_t f = 0; f < s->c.classes; f++)
		of[f] = group_find(of, f);
	return any;
}

/* ---- from groups back to classes ---- */

struct members {
	uint32_t *group_of; /* by class of the window */
	double *time_s;     /* by class of the window */
	double *group_s;    /* by group, as the next ones */
	double *shares;     /* Σ of members' squared shares of the time */
	uint32_t *nr, groups;
};

static void members_release(struct members *m)
{
	free(m->group_of);
	free(m->time_s);
	free(m->group_s);
	free(m->shares);
	free(m->nr);
	*m = (struct members){ 0 };
}

/* of: the lowest member, by class; NULL: each is alone. */
static void members_make(struct members *m, const struct power_window *w, const uint32_t *of)
{
	uint32_t classes = w->classes;

	*m = (struct members){ .group_of = xcalloc(classes + 1, sizeof(*m->group_of)),
			       .time_s = xcalloc(classes + 1, sizeof(*m->time_s)),
			       .group_s = xcalloc(classes + 1, sizeof(*m->group_s)),
			       .shares = xcalloc(classes + 1, sizeof(*m->shares)),
			       .nr = xcalloc(classes + 1, sizeof(*m->nr)) };
	for (size_t i = w->from; i < w->to; i++) {
		if (!power_counts(w->d, i))
			continue;
		for (size_t k = w->d->first[i]; k < w->d->first[i + 1]; k++) {
			uint32_t f = w->class_of[w->d->parts[k].class_id];

			if (f != POWER_NO_CLASS)
				m->time_s[f] += w->d->parts[k].t_s;
		}
	}
	for (uint32_t f = 0; f < classes; f++) {
		uint32_t g = m->groups;

		if (of && of[f] != f)
			g = m->group_of[of[f]];
		else
			m->groups++;
		m->group_of[f] = g;
		m->group_s[g] += m->time_s[f];
		m->nr[g]++;
	}
	for (uint32_t f = 0; f < classes; f++) {
		uint32_t g = m->group_of[f];
		double share = m->time_s[f] / fmax(m->group_s[g], 1e-300);

		m->shares[g] += share * share;
	}
	for (uint32_t g = 0; g < m->groups; g++)
		m->shares[g] = fmax(m->shares[g], 1e-3);
}

/* The window with each group as one class. */
static void window_joined(const struct power_window *w, const struct members *m,
			  struct power_window *ret)
{
	size_t classes = w->d->classes;
	uint32_t *class_of = xcalloc(classes + 1, sizeof(*class_of));

	for (size_t f = 0; f < classes; f++)
		class_of[f] = w->class_of[f] == POWER_NO_CLASS ? POWER_NO_CLASS
							       : m->group_of[w->class_of[f]];
	power_window_make(ret, w->d, w->from, w->to, class_of, m->groups);
}

/* ---- energies ---- */

/* Σ e·P·t/μ by class of the solution; where all P·t vanish, by time. */
static void energies_sum(const struct solution *s, double *to)
{
	const struct columns *c = &s->c;

	for (size_t i = 0; i < c->n; i++) {
		double by_power = 0, by_time = 0;

		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			by_power += part_power(s, k);
			by_time += c->t_s[k];
		}
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			double part =
				by_power > 0 ? part_power(s, k) / by_power : c->t_s[k] / by_time;

			to[c->class_id[k]] += s->e_j[i] * part;
		}
	}
}

/* By group. */
struct group_energies {
	double *energy_j, *lag_j;
	struct power_widths widths;
};

static void members_energies(const struct power_window *w, const struct members *m,
			     const struct solution *s, const struct group_energies *e,
			     struct window_fit *ret)
{
	double t2 = e->widths.student * e->widths.student;
	double spread2 = s->spread_w * s->spread_w;

	for (uint32_t c = 0; c < w->d->classes; c++) {
		uint32_t f = w->class_of[c], g;
		double part, others;

		if (f == POWER_NO_CLASS)
			continue;
		g = m->group_of[f];
		part = m->time_s[f] / fmax(m->group_s[g], 1e-300);
		others = m->shares[g] - part * part;
		ret->energy_j[c] = (e->energy_j[g] + e->lag_j[g] / 2 + e->widths.lack_j[g]) * part;
		ret->lag_j[c] =
			(LAG_DOUBT * fabs(e->lag_j[g]) + LACK_DOUBT * fabs(e->widths.lack_j[g])) *
			part;
		ret->var[c] = t2 * e->widths.var_j2[g] * part * part;
		if (m->nr[g] > 1)
			ret->var[c] += t2 * m->time_s[f] * m->time_s[f] * spread2 *
				       ((1 - part) * (1 - part) + fmax(others, 0));
		ret->own_j[c] = s->p_w[g] * m->time_s[f];
		ret->time_s[c] = m->time_s[f];
		ret->own_j2[c] = e->widths.own_j2[g] * part;
		ret->blocks_s2[c] = e->widths.blocks_s2[g] * part * part;
		ret->separable[c] = m->nr[g] == 1 && s->told[g] > TOLD;
	}
}

static void groups_name(const struct power_window *w, const struct members *m,
			struct window_fit *ret)
{
	CLEANUP(xfreep) uint32_t *lowest = xcalloc(m->groups + 1, sizeof(*lowest));

	memset(lowest, 0xff, m->groups * sizeof(*lowest));
	for (uint32_t c = 0; c < w->d->classes; c++) {
		uint32_t f = w->class_of[c];

		ret->group[c] = c;
		if (f == POWER_NO_CLASS)
			continue;
		if (lowest[m->group_of[f]] == UINT32_MAX)
			lowest[m->group_of[f]] = c;
		ret->group[c] = lowest[m->group_of[f]];
	}
}

static void weights_set(const struct power_window *w, const struct members *m,
			const struct solution *s, struct window_fit *ret)
{
	size_t first = w->d->first[w->from];

	for (size_t k = first; k < w->d->first[w->to]; k++) {
		uint32_t f = w->class_of[w->d->parts[k].class_id];

		ret->weight_w[k - first] =
			f == POWER_NO_CLASS ? s->centre_w : s->p_w[m->group_of[f]];
	}
}

/* ---- how well it fits ---- */

static void misfit_set(const struct solution *s, struct window_fit *ret)
{
	const struct power_data *d = s->w->d;
	double all_j = 0, all_s = 0;

	for (size_t i = 0; i < s->c.n; i++) {
		all_j += d->energy_j[s->c.interval[i]];
		all_s += d->length_s[s->c.interval[i]];
	}
	for (size_t i = 0; i < s->c.n; i++) {
		double length_s = d->length_s[s->c.interval[i]], flat = all_j / all_s * length_s;
		double off = d->energy_j[s->c.interval[i]] - flat;

		ret->left += s->rest_j[i] * s->rest_j[i] * s->per_mu[i];
		ret->flat += off * off / fmax(flat, 1e-300);
		ret->rest2_w2 += s->rest_j[i] * s->rest_j[i] / (length_s * length_s);
	}
}

/*
 * Where the classes' residuals, summed from the start, are farthest from even: Σ over classes of
 * the squared sum, in units of its variance (CUSUM; Page 1954).
 */
static size_t step_find(const struct solution *s)
{
	const struct columns *c = &s->c;
	size_t classes = c->classes, edge = 2 * classes > 20 ? 2 * classes : 20, best = 0;
	CLEANUP(xfreep) double *mean = xcalloc(3 * classes + 1, sizeof(*mean));
	double *square = mean + classes, *sum = square + classes,
	       most = 3 + 2 * sqrt((double)classes);
	size_t every = c->n / STEP_PLACES + 1;

	if (c->n < STEP_INTERVALS || c->n < 4 * classes)
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
			double g = c->t_s[k] * s->rest_j[i] * s->per_mu[i];

			mean[c->class_id[k]] += g / (double)c->n;
			square[c->class_id[k]] += g * g;
		}
	}
	for (size_t i = 0; i + edge < c->n; i++) {
		double now = 0;

		for (size_t k = c->first[i]; k < c->first[i + 1]; k++)
			sum[c->class_id[k]] += c->t_s[k] * s->rest_j[i] * s->per_mu[i];
		if (i + 1 < edge || i % every)
			continue;
		for (size_t f = 0; f < classes; f++) {
			double off = sum[f] - mean[f] * (double)(i + 1);

			now += off * off / fmax(square[f], 1e-300);
		}
		if (now > most) {
			most = now;
			best = c->interval[i] + 1;
		}
	}
	return best;
}

/* ---- a window ---- */

static void window_report(const struct power_window *w, const struct members *m,
			  const struct solution *s, struct window_fit *ret)
{
	size_t groups = m->groups;
	CLEANUP(xfreep) double *v = xcalloc(2 * groups + 1, sizeof(*v));
	struct group_energies e = { .energy_j = v, .lag_j = v + groups };

	energies_sum(s, e.energy_j);
	power_widths_make(s, &e.widths);
	if (s->lags && !w->d->stale && w->always == POWER_NO_CLASS && w->d->tau_s <= 0)
		lag_energies(s, e.lag_j);
	members_energies(w, m, s, &e, ret);
	groups_name(w, m, ret);
	weights_set(w, m, s, ret);
	misfit_set(s, ret);
	ret->step_at = step_find(s);
	ret->phi = s->phi;
	ret->parameters = s->parameters;
	ret->lag_s = s->lag_s[0];
	ret->rounds = s->rounds;
	ret->n = s->c.n;
	ret->lag1 = e.widths.lag1;
	power_widths_release(&e.widths);
}

static void window_fit_init(struct window_fit *f, const struct power_data *d, size_t from,
			    size_t to)
{
	size_t classes = d->classes;

	*f = (struct window_fit){
		.from = from,
		.to = to,
		.energy_j = xcalloc(classes + 1, sizeof(double)),
		.var = xcalloc(classes + 1, sizeof(double)),
		.own_j = xcalloc(classes + 1, sizeof(double)),
		.time_s = xcalloc(classes + 1, sizeof(double)),
		.own_j2 = xcalloc(classes + 1, sizeof(double)),
		.blocks_s2 = xcalloc(classes + 1, sizeof(double)),
		.lag_j = xcalloc(classes + 1, sizeof(double)),
		.weight_w = xcalloc(d->first[to] - d->first[from] + 1, sizeof(double)),
		.separable = xcalloc(classes + 1, sizeof(bool)),
		.group = xcalloc(classes + 1, sizeof(*f->group)),
	};
}

static void window_fit_joined(const struct power_window *w, const uint32_t *of, double lag_s,
			      struct window_fit *ret)
{
	CLEANUP(power_window_release) struct power_window joined = { 0 };
	CLEANUP(solution_release) struct solution s = { 0 };
	CLEANUP(members_release) struct members m = { 0 };

	members_make(&m, w, of);
	window_joined(w, &m, &joined);
	solution_make(&s, &joined, m.shares, lag_s);
	window_report(w, &m, &s, ret);
}

/*
 * The lag that the grid finds has to explain more than none: with few intervals and calls far
 * shorter than these one may look right by chance. Returns where the search began.
 */
static double solution_best(struct solution *s, const struct power_window *w, const double *shares)
{
	double lag_s = lag_start(w);
	struct solution prompt;

	solution_make(s, w, shares, lag_s);
	if (lag_s == 0 || w->d->border_error_s > 0)
		return lag_s;
	solution_make(&prompt, w, shares, 0);
	if (prompt.phi < s->phi) {
		solution_release(s);
		*s = prompt;
		s->normal.c = &s->c;
		return 0;
	}
	solution_release(&prompt);
	return lag_s;
}

static void window_fit_make(const struct power_data *d, size_t from, size_t to,
			    struct window_fit *ret)
{
	uint32_t *class_of = xcalloc((size_t)d->classes + 1, sizeof(*class_of));
	uint32_t classes = power_classes_of(d, from, to, class_of);
	CLEANUP(power_window_release) struct power_window w = { 0 };
	CLEANUP(solution_release) struct solution s = { 0 };
	CLEANUP(members_release) struct members m = { 0 };
	CLEANUP(xfreep) uint32_t *of = xcalloc((size_t)classes + 1, sizeof(*of));
	double lag_s;

	window_fit_init(ret, d, from, to);
	power_window_make(&w, d, from, to, class_of, classes);
	members_make(&m, &w, NULL);
	lag_s = solution_best(&s, &w, m.shares);
	if (groups_find(&s, of))
		window_fit_joined(&w, of, lag_s, ret);
	else
		window_report(&w, &m, &s, ret);
	ret->rounds += s.rounds;
}

/* ---- windows before and behind a step ---- */

typedef VEC(struct window_fit) window_fits;

static double rough_left(const struct power_data *d, size_t from, size_t to, double lag_s)
{
	uint32_t *class_of = xcalloc((size_t)d->classes + 1, sizeof(*class_of));
	uint32_t classes = power_classes_of(d, from, to, class_of);
	CLEANUP(power_window_release) struct power_window w = { 0 };

	power_window_make(&w, d, from, to, class_of, classes);
	return window_misfit(&w, lag_s);
}

/* Before both parts are fitted: whether powers that are found roughly show that it may help. */
static bool may_split(const struct power_data *d, const struct window_fit *f)
{
	double before = rough_left(d, f->from, f->step_at, f->lag_s);
	double behind = rough_left(d, f->step_at, f->to, f->lag_s);

	return before + behind < STEP_LEFT_ROUGH * rough_left(d, f->from, f->to, f->lag_s);
}

/* Fits the parts of a window; whether they explain so much more that they stay. */
static bool window_split(const struct power_data *d, const struct window_fit *f,
			 struct window_fit parts[2])
{
	double left;

	if (f->step_at <= f->from || f->step_at >= f->to || !may_split(d, f))
		return false;
	window_fit_make(d, f->from, f->step_at, &parts[0]);
	window_fit_make(d, f->step_at, f->to, &parts[1]);
	left = parts[0].phi * (double)parts[0].n + parts[1].phi * (double)parts[1].n;
	if (left < STEP_LEFT * f->phi * (double)f->n)
		return true;
	window_fit_release(&parts[0]);
	window_fit_release(&parts[1]);
	return false;
}

static void windows_add(const struct power_data *d, struct window_fit f, int depth, window_fits *to)
{
	struct window_fit parts[2];

	if (depth == STEP_DEPTH || !window_split(d, &f, parts)) {
		VEC_PUSH(to, f);
		return;
	}
	window_fit_release(&f);
	windows_add(d, parts[0], depth + 1, to);
	windows_add(d, parts[1], depth + 1, to);
}

/* ---- the result ---- */

static void class_add(const struct window_fit *f, uint32_t c, struct power_class *to, double *var)
{
	to->energy_j += f->energy_j[c];
	to->half_width_j += f->lag_j[c];
	to->w += to->time_s > 0 ? f->own_j[c] / to->time_s : 0;
	*var += f->var[c];
	if (f->energy_j[c] > 0 && !f->separable[c])
		to->separable = false;
	if (f->group[c] < to->group)
		to->group = f->group[c];
}

/* Calls differ by what the powers of windows differ, too. */
static double own_width(const window_fits *fits, uint32_t c, double w)
{
	double sum_j2 = 0;

	for (size_t i = 0; i < fits->nr; i++) {
		const struct window_fit *f = &fits->v[i];
		double off_w = f->time_s[c] > 0 ? f->own_j[c] / f->time_s[c] - w : 0;

		sum_j2 += f->own_j2[c] + off_w * off_w * f->blocks_s2[c];
	}
	return sqrt(sum_j2);
}

double power_energy_counted(const struct power_data *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++)
		sum += power_counts(d, i) ? d->energy_j[i] : 0;
	return sum;
}

/* No negative energies, and the sum is exact. */
static void classes_conserve(const struct power_data *d, struct power_fit *ret)
{
	double all = power_energy_counted(d), sum = 0;

	for (uint32_t c = 0; c < d->classes; c++) {
		ret->classes[c].energy_j = fmax(ret->classes[c].energy_j, 0);
		sum += ret->classes[c].energy_j;
	}
	for (uint32_t c = 0; sum > 0 && c < d->classes; c++)
		ret->classes[c].energy_j *= all / sum;
}

static void classes_join(const struct power_data *d, const window_fits *fits, struct power_fit *ret)
{
	double factor = d->stale ? WIDTH_STALE : WIDTH;

	for (uint32_t c = 0; c < d->classes; c++) {
		struct power_class *k = &ret->classes[c];
		double var = 0;

		k->group = c;
		k->separable = k->time_s > 0;
		for (size_t i = 0; i < fits->nr; i++)
			class_add(&fits->v[i], c, k, &var);
		k->half_width_j += factor * sqrt(var);
		k->own_width_j = own_width(fits, c, k->w);
	}
	classes_conserve(d, ret);
}

double power_chance_gain(double parameters, double lag1)
{
	double alike = lag1 > 0 ? sqrt((1 + lag1) / fmax(1 - lag1, 1e-9)) : fmax(1 + 2 * lag1, 0.1);

	return (parameters + 2 * sqrt(2 * parameters)) * alike;
}

static void fit_report(const struct power_data *d, const window_fits *fits, struct power_fit *ret)
{
	double left = 0, flat = 0, gain = 0, parameters = 0, rest2 = 0, n = 0;

	for (size_t i = 0; i < fits->nr; i++) {
		const struct window_fit *f = &fits->v[i];
		size_t first = d->first[f->from], parts = d->first[f->to] - first;

		memcpy(&ret->weight_w[first], f->weight_w, parts * sizeof(double));
		left += f->phi * (double)f->n;
		flat += f->flat * (double)f->n / fmax((double)f->n - 1, 1);
		gain += (f->flat - f->left) / fmax(f->phi, 1e-300);
		parameters += f->parameters;
		rest2 += f->rest2_w2;
		n += (double)f->n;
		ret->lag_s += f->lag_s * (double)f->n;
		ret->lag1 += f->lag1 * (double)f->n;
		ret->rounds += f->rounds;
	}
	ret->windows = (unsigned)fits->nr;
	ret->intervals = (size_t)n;
	ret->explained = flat > 0 ? 1 - left / flat : 0;
	ret->residual_w = sqrt(rest2 / fmax(n, 1));
	ret->lag_s /= fmax(n, 1);
	ret->lag1 /= fmax(n, 1);
	if (gain < power_chance_gain(parameters, ret->lag1))
		ret->used = POWER_POOR;
}

/* ---- by time ---- */

/* All that is known: between nothing and the energy of the intervals in which it ran. */
static void classes_by_time(const struct power_data *d, struct power_fit *ret)
{
	CLEANUP(xfreep) double *most_j = xcalloc((size_t)d->classes + 1, sizeof(*most_j));

	for (uint32_t c = 0; c < d->classes; c++)
		ret->classes[c] =
			(struct power_class){ .group = c, .time_s = ret->classes[c].time_s };
	for (size_t i = 0; i < d->n; i++) {
		double all_s = 0;

		if (!power_counts(d, i))
			continue;
		for (size_t k = d->first[i]; k < d->first[i + 1]; k++)
			all_s += d->parts[k].t_s;
		for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
			const struct power_part *p = &d->parts[k];

			if (p->t_s <= 0)
				continue;
			ret->classes[p->class_id].energy_j += d->energy_j[i] * p->t_s / all_s;
			most_j[p->class_id] += d->energy_j[i];
		}
	}
	for (uint32_t c = 0; c < d->classes; c++) {
		struct power_class *k = &ret->classes[c];

		k->half_width_j = fmax(k->energy_j, most_j[c] - k->energy_j);
		k->w = k->time_s > 0 ? k->energy_j / k->time_s : 0;
	}
	for (size_t k = 0; k < d->first[d->n]; k++)
		ret->weight_w[k] = 1;
}

/* ---- life ---- */

static void times_set(const struct power_data *d, struct power_fit *ret)
{
	for (size_t i = 0; i < d->n; i++) {
		if (!power_counts(d, i))
			continue;
		for (size_t k = d->first[i]; k < d->first[i + 1]; k++)
			ret->classes[d->parts[k].class_id].time_s += d->parts[k].t_s;
	}
}

static size_t classes_running(const struct power_data *d, const struct power_fit *f)
{
	size_t nr = 0;

	for (uint32_t c = 0; c < d->classes; c++)
		nr += f->classes[c].time_s > 0;
	return nr;
}

/* Very many classes that run once each would take long and tell nothing. */
static bool worth_it(const struct power_data *d, const struct power_fit *f)
{
	size_t n = 0, classes = classes_running(d, f);

	for (size_t i = 0; i < d->n; i++)
		n += power_counts(d, i);
	return n >= LEAST_INTERVALS && power_energy_counted(d) > 0 &&
	       (classes <= POWER_DENSE || classes <= n);
}

/* Whether numbers were not too far apart to be reckoned with, as powers of 1e80 W are. */
static bool fit_sane(const struct power_data *d, const struct power_fit *f)
{
	bool sane = isfinite(f->explained) && isfinite(f->residual_w) && isfinite(f->lag1) &&
		    isfinite(f->lag_s);
	double all = power_energy_counted(d), sum = 0;

	for (uint32_t c = 0; c < d->classes; c++) {
		const struct power_class *k = &f->classes[c];

		sane &= isfinite(k->w) && isfinite(k->half_width_j) && isfinite(k->own_width_j);
		sum += k->energy_j;
	}
	return sane && fabs(sum - all) <= 1e-9 * all;
}

static void fit_drop(struct power_fit *f)
{
	f->used = POWER_POOR;
	f->explained = f->residual_w = f->lag1 = f->lag_s = 0;
}

static void fit_windows(const struct power_data *d, struct power_fit *ret)
{
	window_fits fits = { 0 };
	struct window_fit all;

	window_fit_make(d, 0, d->n, &all);
	windows_add(d, all, 0, &fits);
	classes_join(d, &fits, ret);
	fit_report(d, &fits, ret);
	if (!fit_sane(d, ret))
		fit_drop(ret);
	for (size_t i = 0; i < fits.nr; i++)
		window_fit_release(&fits.v[i]);
	VEC_RELEASE(&fits);
}

void power_fit_make(const struct power_data *d, struct power_fit *ret)
{
	*ret = (struct power_fit){
		.classes = xcalloc((size_t)d->classes + 1, sizeof(*ret->classes)),
		.weight_w = xcalloc(d->first[d->n] + 1, sizeof(*ret->weight_w)),
		.windows = 1,
	};
	times_set(d, ret);
	if (worth_it(d, ret))
		fit_windows(d, ret);
	else
		ret->used = POWER_FEW;
	if (ret->used != POWER_USED)
		classes_by_time(d, ret);
}

void power_fit_release(struct power_fit *f)
{
	free(f->classes);
	free(f->weight_w);
	*f = (struct power_fit){ 0 };
}

const char *power_used_name(enum power_used used)
{
	static const char *const names[] = { "power", "few", "poor" };

	return names[used];
}
