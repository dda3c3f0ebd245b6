#include "attribution_private.h"

#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/sort.h"

void points_release(struct points *p)
{
	free(p->t_ns);
	free(p->left);
	free(p->right);
	free(p->holes);
	*p = (struct points){ 0 };
}

static void find_periods(struct points *p)
{
	CLEANUP(xfreep) int64_t *delta = xreallocarray(NULL, p->n, sizeof(*delta));
	size_t changes = 0, since = 0;

	if (p->n < 2)
		return;
	for (size_t i = 0; i + 1 < p->n; i++) {
		delta[i] = p->t_ns[i + 1] - p->t_ns[i];
		if (delta[i] > p->max_gap_ns)
			p->max_gap_ns = delta[i];
	}
	p->median_period_ns = median_i64(delta, p->n - 1);
	for (size_t i = 1; i < p->n; i++) {
		if (p->left[i] == p->right[i - 1] && p->left[i] == p->right[i])
			continue;
		delta[changes++] = p->t_ns[i] - p->t_ns[since];
		since = i;
	}
	p->median_change_ns = median_i64(delta, changes);
}

/* The last point begins a hole where the sample is the end of the value before (series.ends). */
static void hole_mark(struct points *p, size_t capacity, bool is_end)
{
	if (!p->holes && !is_end)
		return;
	if (!p->holes)
		p->holes = xcalloc(capacity, 1);
	p->holes[p->n - 1] = is_end;
}

void points_make(const struct model *m, series_id s, const struct counter_info *ci,
		 struct points *ret)
{
	const struct series *se = &m->series.v[s];
	size_t n = se->t_ns.nr;
	bool counts = ci->step_raw > 0, is_end = false;
	bool ends = se->ends && ci->kind != SERIES_CUMULATIVE;
	double before = 0;

	*ret = (struct points){
		.scale = counts ? ci->step : ci->scale,
		.modulus = counts ? ci->modulus / ci->step_raw : ci->modulus,
		.t_ns = xreallocarray(NULL, n + 1, sizeof(*ret->t_ns)),
		.left = xreallocarray(NULL, n + 1, sizeof(*ret->left)),
		.right = xreallocarray(NULL, n + 1, sizeof(*ret->right)),
	};
	for (size_t i = 0; i < n; i++) {
		double v = se->value.v[i];
		size_t last = ret->n - 1;

		if (!isfinite(v))
			continue;
		v = counts ? nearbyint(v / ci->step_raw) : v;
		if (ret->finite++ > 0 && v != before)
			ret->changes++;
		is_end = ends && ret->finite > 1 && !is_end && v == before;
		before = v;
		if (ret->n == 0 || se->t_ns.v[i] != ret->t_ns[last]) {
			ret->t_ns[ret->n] = se->t_ns.v[i];
			ret->left[ret->n] = ret->right[ret->n] = v;
			ret->n++;
			hole_mark(ret, n + 1, is_end);
			continue;
		}
		ret->duplicates++;
		hole_mark(ret, n + 1, is_end);
		if (ci->kind != SERIES_CUMULATIVE)
			ret->right[last] = v;
		else if (last > 0)
			ret->left[last] = ret->right[last] = v;
	}
	find_periods(ret);
}

void points_split_holds(struct points *p)
{
	int64_t period = p->median_period_ns, *t_ns;
	double *left, *right;
	size_t n = 0;

	if (period <= 0 || p->holes)
		return;
	t_ns = xreallocarray(NULL, 2 * p->n, sizeof(*t_ns));
	left = xreallocarray(NULL, 2 * p->n, sizeof(*left));
	right = xreallocarray(NULL, 2 * p->n, sizeof(*right));
	for (size_t i = 0; i < p->n; i++) {
		if (i > 0 && (p->t_ns[i] - p->t_ns[i - 1]) / 2 > period) {
			t_ns[n] = p->t_ns[i] - period;
			left[n] = right[n] = p->right[i - 1];
			n++;
		}
		t_ns[n] = p->t_ns[i];
		left[n] = p->left[i];
		right[n++] = p->right[i];
	}
	free(p->t_ns);
	free(p->left);
	free(p->right);
	p->t_ns = t_ns;
	p->left = left;
	p->right = right;
	p->n = n;
}

double points_step(const struct points *p, size_t i, const struct counter_info *ci, bool *wrapped,
		   bool *reset)
{
	double step = p->left[i + 1] - p->right[i];
	double seconds = (double)(p->t_ns[i + 1] - p->t_ns[i]) * 1e-9;

	*wrapped = *reset = false;
	if (step >= 0)
		return step;
	if (p->modulus > 0 && step + p->modulus >= 0) {
		/* A reset of a counter of known width looks like a wrap with an impossible
		 * rate. */
		step += p->modulus;
		if (ci->max_rate <= 0 || step * p->scale <= GAP_PERIODS * ci->max_rate * seconds) {
			*wrapped = true;
			return step;
		}
	}
	*reset = true;
	return 0;
}

struct examination {
	const struct model *m;
	series_id s;
	const struct counter_info *ci;
	const struct points *p;
	uint8_t *marks;
	struct oddities *odd;
	series_id companion; /* power reading of the same device, looked up when first needed */
	bool companion_known;
	double least_j, mean_w; /* of an energy counter: smallest step, power over all */
};

static void points_mark(struct examination *x, size_t from, size_t to, uint8_t bits)
{
	for (size_t i = from; x->marks && i < to; i++)
		x->marks[i] |= bits;
}

static void examine_gaps(struct examination *x, int64_t max_gap_ns)
{
	const struct points *p = x->p;

	/* the one stores only changes; the other is read when calls begin and end */
	if (counter_holds(x->m, x->s, x->ci) || x->m->series.v[x->s].exclusive_sync)
		return;
	for (size_t i = 0; i + 1 < p->n; i++) {
		int64_t dt = p->t_ns[i + 1] - p->t_ns[i];
		bool dead = max_gap_ns > 0 && dt > max_gap_ns;

		if (!dead && (double)dt <= GAP_PERIODS * (double)p->median_period_ns)
			continue;
		x->odd->gaps++;
		x->odd->flags |= CF_GAP;
		points_mark(x, i, i + 1, dead ? CURVE_GAP | CURVE_DEAD : CURVE_GAP);
	}
}

/* The first measured power of the same device; SERIES_NONE when there is none. */
static series_id find_companion(const struct model *m, series_id s, const struct counter_info *ci)
{
	for (series_id i = 0; ci->device[0] && i < m->series.nr; i++) {
		const char *device = model_str(m, m->series.v[i].device);
		struct counter_info other;

		if (m->series.v[i].node != m->series.v[s].node || m->series.v[i].estimated ||
		    (*device && strcmp(device, ci->device) != 0))
			continue;
		other = counter_info(m, i);
		if (other.quantity == QUANTITY_POWER && strcmp(other.device, ci->device) == 0)
			return i;
	}
	return SERIES_NONE;
}

static size_t first_at(const struct series *se, int64_t t_ns)
{
	return LOWER_BOUND(i, 0, se->t_ns.nr, se->t_ns.v[i] < t_ns);
}

/* Energy in [from, to] by the companion's readings, each held until the next; NaN without any. */
static double companion_j(struct examination *x, int64_t from_ns, int64_t to_ns)
{
	double sum = 0, held = NAN;
	int64_t at_ns = from_ns;
	const struct series *se;
	size_t i;

	if (!x->companion_known) {
		x->companion = find_companion(x->m, x->s, x->ci);
		x->companion_known = true;
	}
	if (x->companion == SERIES_NONE)
		return NAN;
	se = &x->m->series.v[x->companion];
	i = first_at(se, from_ns);
	for (i -= se->change_points && i > 0; i < se->t_ns.nr && se->t_ns.v[i] <= to_ns; i++) {
		double v = se->value.v[i];

		if (!isfinite(v))
			continue;
		if (!isnan(held) && se->t_ns.v[i] > at_ns) {
			sum += held * (double)(se->t_ns.v[i] - at_ns);
			at_ns = se->t_ns.v[i];
		}
		held = v;
	}
	sum += held * (double)(to_ns - at_ns);
	return sum * 1e-9 * counter_info(x->m, x->companion).scale;
}

/* The least idle power of a device, as a part of its mean power. */
#define IDLE_PART 0.025

/*
 * Whether a counter that did not change from one point to another missed energy. The coarse counter
 * of an idle device does not change either: it missed less than a step.
 */
static bool missed_energy(struct examination *x, size_t from, size_t to)
{
	const struct points *p = x->p;
	double seconds = (double)(p->t_ns[to] - p->t_ns[from]) * 1e-9;
	double drawn_j = companion_j(x, p->t_ns[from], p->t_ns[to]);

	if (!isnan(drawn_j))
		return drawn_j > 2 * x->least_j;
	return x->least_j < IDLE_PART * x->mean_w * seconds || p->changes == 0;
}

static void stuck_run(struct examination *x, size_t from, size_t to)
{
	const struct points *p = x->p;
	int64_t period = p->median_change_ns > p->median_period_ns ? p->median_change_ns
								   : p->median_period_ns;
	int64_t known_ns = (int64_t)(fmin(x->ci->period_s, 1e6) * 1e9);
	int64_t least = (p->t_ns[to] - p->t_ns[from]) / GAP_PERIODS;

	if (to - from < 2)
		return;
	if ((p->median_change_ns > 0 && least < period) || least < known_ns)
		return;
	if (!missed_energy(x, from, to))
		return;
	x->odd->stuck++;
	x->odd->flags |= CF_STUCK;
	/* the next change may hold all of it or only its own: when it was drawn is unknown */
	points_mark(x, from, to + 1 < p->n ? to + 1 : to, CURVE_STUCK | CURVE_DEAD);
}

/* The smallest step of the counter in the data, and its mean power. */
static void find_resolution(struct examination *x)
{
	const struct points *p = x->p;
	double least = 0, total = 0;
	bool wrapped, reset;

	for (size_t i = 0; i + 1 < p->n; i++) {
		double step = points_step(p, i, x->ci, &wrapped, &reset);

		total += step;
		if (step > 0 && (least <= 0 || step < least))
			least = step;
	}
	x->least_j = least * p->scale;
	if (p->n > 1)
		x->mean_w = total * p->scale / ((double)(p->t_ns[p->n - 1] - p->t_ns[0]) * 1e-9);
}

static void examine_cumulative(struct examination *x)
{
	const struct points *p = x->p;
	bool energy = x->ci->quantity == QUANTITY_ENERGY, wrapped, reset;
	size_t since = 0;

	if (energy)
		find_resolution(x);
	for (size_t i = 0; i + 1 < p->n; i++) {
		double step = points_step(p, i, x->ci, &wrapped, &reset);
		double seconds = (double)(p->t_ns[i + 1] - p->t_ns[since]) * 1e-9;

		if (wrapped) {
			x->odd->wraps++;
			x->odd->flags |= CF_WRAP;
		}
		if (reset) {
			x->odd->resets++;
			x->odd->flags |= CF_RESET;
			points_mark(x, i, i + 1, CURVE_RESET | CURVE_DEAD);
		} else if (step == 0) {
			continue;
		} else if (x->ci->max_rate > 0 && step * p->scale > x->ci->max_rate * seconds) {
			x->odd->rates++;
			x->odd->flags |= CF_RATE;
			points_mark(x, since, i + 1, CURVE_RATE);
		}
		if (energy)
			stuck_run(x, since, i);
		since = i + 1;
	}
	if (energy && p->n > 0)
		stuck_run(x, since, p->n - 1);
	if (energy && p->finite > 2 && p->changes > 0 && (p->changes + 1) * 2 < p->finite)
		x->odd->flags |= CF_STALE;
}

static void examine_power(struct examination *x)
{
	const struct points *p = x->p;

	for (size_t i = 0; i < p->n; i++) {
		double w = p->right[i] * x->ci->scale;

		if (w >= 0 && (x->ci->max_rate <= 0 || w <= x->ci->max_rate))
			continue;
		x->odd->rates++;
		x->odd->flags |= CF_RATE;
		if (i + 1 < p->n)
			points_mark(x, i, i + 1, CURVE_RATE);
	}
}

void points_examine(const struct model *m, series_id s, const struct counter_info *ci,
		    const struct points *p, int64_t max_gap_ns, uint8_t *marks,
		    struct oddities *ret)
{
	struct examination x = { .m = m, .s = s, .ci = ci, .p = p, .marks = marks, .odd = ret };

	*ret = (struct oddities){ 0 };
	if (m->series.v[s].estimated)
		ret->flags |= CF_ESTIMATED;
	if (ci->kind == SERIES_UNKNOWN)
		ret->flags |= CF_UNKNOWN;
	if (p->n < 2)
		ret->flags |= CF_SHORT;
	if (p->median_period_ns > 0 && (double)p->median_period_ns * 2e-9 < ci->period_s)
		ret->flags |= CF_STALE;
	examine_gaps(&x, max_gap_ns);
	if (ci->kind == SERIES_CUMULATIVE)
		examine_cumulative(&x);
	else if (ci->quantity == QUANTITY_POWER)
		examine_power(&x);
}
