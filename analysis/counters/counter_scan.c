#include "attribution_private.h"

#include <string.h>

static const struct {
	unsigned flag;
	const char *name;
} flag_names[] = {
	{ CF_WRAP, "wrap" },   { CF_RESET, "reset" },     { CF_STUCK, "stuck" },
	{ CF_STALE, "stale" }, { CF_GAP, "gap" },         { CF_RATE, "rate_out_of_range" },
	{ CF_SHORT, "short" }, { CF_UNKNOWN, "unknown" }, { CF_ESTIMATED, "estimated" },
};

char *counter_flags(unsigned flags, char *buf)
{
	char *p = buf;

	for (size_t i = 0; i < ARRAY_LEN(flag_names); i++) {
		if (flags & flag_names[i].flag) {
			if (p > buf)
				*p++ = '|';
			p = stpncpy(p, flag_names[i].name, (size_t)(buf + 127 - p));
		}
	}
	*p = '\0';
	return buf;
}

static void scan_values(const struct series *se, const struct counter_info *ci,
			struct counter_scan *ret)
{
	size_t seen = 0;

	for (size_t i = 0; i < se->value.nr; i++) {
		double v = counter_value(ci, se->value.v[i]);

		if (!isfinite(v))
			continue;
		if (seen++ == 0) {
			ret->first = ret->min = ret->max = v;
			ret->first_ns = se->t_ns.v[i];
		}
		ret->last = v;
		ret->last_ns = se->t_ns.v[i];
		ret->min = v < ret->min ? v : ret->min;
		ret->max = v > ret->max ? v : ret->max;
	}
}

/* Total and mean come from the curve, so they equal those of the attribution. */
static void scan_curve(const struct model *m, series_id s, const struct counter_info *ci,
		       int64_t max_gap_ns, struct counter_scan *ret)
{
	struct energy_opts o = { .integration = INTEGRATE_LINEAR, .max_gap_ns = max_gap_ns };
	CLEANUP(curve_release) struct curve c = { 0 };
	double seconds = (double)(ret->last_ns - ret->first_ns) * 1e-9;
	uint64_t marked = 0;

	if (ci->kind == SERIES_UNKNOWN || curve_make(m, s, ci, &o, &c, NULL) < 0 || c.n == 0)
		return;
	for (size_t i = 0; c.marks && i + 1 < c.n; i++) {
		if (c.marks[i] & CURVE_DEAD)
			ret->unknown_ns += c.t_ns[i + 1] - c.t_ns[i];
		marked += !!(c.marks[i] & CURVE_RATE);
	}
	if (m->series.v[s].ends)
		seconds -= (double)ret->unknown_ns * 1e-9;
	/* a filter undone makes more of them than the readings show */
	if (c.tau_s > 0 && marked > ret->rates) {
		ret->rates = marked;
		ret->flags |= CF_RATE;
	}
	if (ret->flags & CF_STUCK && ret->distinct == 1)
		return; /* never counted: unknown, not 0 */
	if (c.n >= 2 && seconds > 0)
		ret->mean = curve_total(&c) / seconds;
	else if (ci->kind == SERIES_GAUGE)
		ret->mean = ret->last;
	if (c.n >= 2 && (ci->kind == SERIES_CUMULATIVE || ci->quantity == QUANTITY_POWER))
		ret->total = curve_total(&c);
}

struct counter_scan counter_scan(const struct model *m, series_id s, const struct counter_info *ci,
				 int64_t max_gap_ns)
{
	struct counter_scan ret = {
		.first = NAN, .last = NAN, .min = NAN, .max = NAN, .mean = NAN, .total = NAN
	};
	struct oddities odd;
	struct points p;

	points_make(m, s, ci, &p);
	points_examine(m, s, ci, &p, max_gap_ns, NULL, &odd);
	scan_values(&m->series.v[s], ci, &ret);
	ret.flags = odd.flags;
	ret.samples = p.finite;
	ret.distinct = p.finite ? p.changes + 1 : 0;
	ret.max_gap_ns = p.max_gap_ns;
	ret.median_period_ns = p.median_period_ns;
	ret.median_change_ns = p.median_change_ns;
	ret.wraps = odd.wraps;
	ret.resets = odd.resets;
	ret.gaps = odd.gaps;
	ret.rates = odd.rates;
	ret.stuck = odd.stuck;
	ret.duplicates = p.duplicates;
	points_release(&p);
	scan_curve(m, s, ci, max_gap_ns, &ret);
	return ret;
}
