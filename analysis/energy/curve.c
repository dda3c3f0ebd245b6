#include "attribution_private.h"

#include <errno.h>
#include <string.h>

void curve_release(struct curve *c)
{
	free(c->t_ns);
	free(c->e);
	free(c->de);
	free(c->p0);
	free(c->p1);
	free(c->marks);
	free(c->dw);
	*c = (struct curve){ 0 };
}

static void cumulative_curve(const struct points *p, const struct counter_info *ci, struct curve *c)
{
	struct sum raw = { 0, 0 };
	bool wrapped, reset;

	for (size_t i = 0; i < p->n; i++) {
		c->e[i] = sum_value(&raw) * p->scale;
		if (i + 1 == p->n)
			break;
		double step = points_step(p, i, ci, &wrapped, &reset);
		c->de[i] = step * p->scale;
		sum_add(&raw, step);
	}
}

/*
 * An interval's energy is that of its mean power; p0 and p1 give its distribution inside the
 * interval. A filtered reading y means the power y + τ·dy/dt: an interval gets τ times the change
 * of the reading from its start to the start of the next, with a jump at its end.
 */
static void gauge_curve(const struct points *p, enum integration integration, struct curve *c)
{
	struct sum e = { 0, 0 };

	for (size_t i = 0; i < p->n; i++) {
		double w0, w1, seconds, change_w, added_j;

		c->e[i] = sum_value(&e);
		if (i + 1 == p->n)
			break;
		if (p->holes && p->holes[i]) {
			c->marks[i] |= CURVE_DEAD;
			continue;
		}
		seconds = (double)(p->t_ns[i + 1] - p->t_ns[i]) * 1e-9;
		w0 = p->right[i] * p->scale;
		w1 = integration == INTEGRATE_PREVIOUS ? w0 : p->left[i + 1] * p->scale;
		change_w = (p->right[i + 1] - p->right[i]) * p->scale;
		added_j = c->tau_s * change_w;
		if (c->dw)
			c->dw[i] = change_w;
		c->de[i] = (w0 + w1) / 2 * seconds + added_j;
		sum_add(&e, c->de[i]);
		if (c->p0) {
			c->p0[i] = w0 + added_j / seconds;
			c->p1[i] = w1 + added_j / seconds;
		}
		/* steps of the reading, times τ, may be more than all of a short interval */
		if (c->tau_s > 0 && c->de[i] < 0) {
			c->marks[i] |= CURVE_RATE;
			c->flags |= CF_RATE;
		}
	}
}

/* A counter that is read more often than it is published holds and then jumps; the energy belongs
 * to the whole time since its last change, back to the last dead interval. */
static void keep_changes(struct points *p, uint8_t *marks)
{
	uint8_t merged = 0;
	size_t n = 1;

	for (size_t i = 1; i < p->n; i++) {
		bool moved = p->left[i] != p->right[n - 1] || p->right[i] != p->left[i];
		bool edge = i + 1 == p->n || (marks[i] ^ marks[i - 1]) & CURVE_DEAD;

		merged |= marks[i - 1];
		if (!moved && !edge)
			continue;
		marks[n - 1] = merged;
		merged = 0;
		p->t_ns[n] = p->t_ns[i];
		p->left[n] = p->left[i];
		p->right[n++] = p->right[i];
	}
	p->n = n;
}

int curve_make(const struct model *m, series_id s, const struct counter_info *ci,
	       const struct energy_opts *o, struct curve *ret, struct err *err)
{
	const struct series *se = &m->series.v[s];
	enum integration integration = se->change_points ? INTEGRATE_PREVIOUS : o->integration;
	bool power = ci->kind == SERIES_GAUGE && ci->quantity == QUANTITY_POWER;
	struct oddities odd;
	struct points p;

	if (ci->kind == SERIES_UNKNOWN)
		return err_set(err, EINVAL, "counter '%s' is of unknown kind",
			       model_str(m, se->name));
	points_make(m, s, ci, &p);
	if (power && ci->tau_s > 0 && se->change_points)
		points_split_holds(&p);
	*ret = (struct curve){
		.n = p.n,
		.e = xcalloc(p.n + 1, sizeof(*ret->e)),
		.de = xcalloc(p.n + 1, sizeof(*ret->de)),
		.marks = xcalloc(p.n + 1, 1),
		.median_period_ns = p.median_period_ns,
		.tau_s = power ? ci->tau_s : 0,
		.tau_error_s = power ? ci->tau_error_s : 0,
	};
	if (ret->tau_error_s > 0)
		ret->dw = xcalloc(p.n + 1, sizeof(*ret->dw));
	if (ci->kind == SERIES_GAUGE && integration == INTEGRATE_LINEAR) {
		ret->p0 = xcalloc(p.n + 1, sizeof(*ret->p0));
		ret->p1 = xcalloc(p.n + 1, sizeof(*ret->p1));
	}
	points_examine(m, s, ci, &p, o->max_gap_ns, ret->marks, &odd);
	ret->flags = odd.flags;
	if (odd.flags & CF_STALE && p.median_change_ns > p.median_period_ns)
		ret->median_period_ns = p.median_change_ns;
	if (odd.flags & CF_STALE && ci->period_s * 1e9 > (double)ret->median_period_ns)
		ret->median_period_ns = (int64_t)(fmin(ci->period_s, 1e6) * 1e9);
	if (odd.flags & CF_STALE && ci->kind == SERIES_CUMULATIVE) {
		keep_changes(&p, ret->marks);
		ret->border_error_s = (double)p.median_period_ns * 1e-9 / sqrt(12);
		ret->n = p.n;
	}
	if (ci->kind == SERIES_CUMULATIVE)
		cumulative_curve(&p, ci, ret);
	else
		gauge_curve(&p, integration, ret);
	if (!(ret->flags & (CF_RESET | CF_GAP | CF_RATE | CF_STUCK)) && !p.holes) {
		free(ret->marks);
		ret->marks = NULL;
	}
	ret->t_ns = STEAL(p.t_ns);
	points_release(&p);
	if (m->windows.nr && !o->whole)
		curve_window(ret, m->windows.v, m->windows.nr);
	return 0;
}

/* Last i with t_ns[i] <= t, for t inside the curve. */
static size_t find_interval(const struct curve *c, int64_t t_ns)
{
	size_t lo = 0, hi = c->n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->t_ns[mid] <= t_ns)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

double curve_at(const struct curve *c, int64_t t_ns, size_t *hint)
{
	size_t i = *hint;
	double x, len;

	if (c->n == 0 || t_ns <= c->t_ns[0])
		return 0;
	if (t_ns >= c->t_ns[c->n - 1])
		return c->e[c->n - 1];
	if (i >= c->n - 1 || t_ns < c->t_ns[i])
		i = find_interval(c, t_ns);
	for (int steps = 0; t_ns >= c->t_ns[i + 1]; i++) {
		if (++steps == 8) {
			i = find_interval(c, t_ns);
			break;
		}
	}
	*hint = i;
	x = (double)(t_ns - c->t_ns[i]);
	len = (double)(c->t_ns[i + 1] - c->t_ns[i]);
	if (!c->p0)
		return c->e[i] + c->de[i] * (x / len);
	return c->e[i] + x * 1e-9 * (c->p0[i] + (c->p1[i] - c->p0[i]) * (x / len) / 2);
}

double curve_total(const struct curve *c)
{
	return c->n ? c->e[c->n - 1] : 0;
}
