#include "energy_flags.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A single interval with an impossible rate spoils calls that are shorter than this many periods.
 */
#define BLURRED_PERIODS 10

static void add(char *ret, const char *flag)
{
	size_t len = strlen(ret);

	snprintf(ret + len, ENERGY_FLAGS_MAX - len, "%s%s", len ? "|" : "", flag);
}

static void add_common(const struct energy_flags *of, char *ret)
{
	ret[0] = '\0';
	if (of->r->flags & CF_ESTIMATED)
		add(ret, "estimated");
	if (of->o->independent)
		add(ret, "double_counting");
}

static void add_of_series(const struct energy_flags *of, char *ret)
{
	if (of->r->flags & CF_RESET)
		add(ret, "reset");
	if (of->r->flags & CF_GAP)
		add(ret, "gap");
	if (of->r->flags & CF_STUCK)
		add(ret, "stuck");
	if (of->r->flags & CF_SHORT)
		add(ret, "short");
}

static void add_of_marks(uint8_t marks, char *ret)
{
	if (marks & CURVE_RESET)
		add(ret, "reset");
	if (marks & CURVE_GAP)
		add(ret, "gap");
	if (marks & CURVE_STUCK)
		add(ret, "stuck");
}

void energy_flags_row(const struct energy_flags *of, const struct energy_group *g,
		      const struct energy_value *v, char ret[ENERGY_FLAGS_MAX])
{
	double mean_ns = g->calls ? g->duration_ns / (double)g->calls : INFINITY;
	double period_ns = (double)of->r->median_period_ns;

	add_common(of, ret);
	if (v->marks & SPAN_OUTSIDE)
		add(ret, "outside_samples");
	/* where only changes were stored, it is unknown how often the sensor was read */
	if (mean_ns < 2 * period_ns && !counter_holds(of->m, of->label->series, &of->label->info))
		add(ret, "below_resolution");
	add_of_marks(v->marks, ret);
	if (v->marks & CURVE_RATE && mean_ns < BLURRED_PERIODS * period_ns)
		add(ret, "rate_out_of_range");
}

void energy_flags_call(const struct energy_flags *of, uint8_t marks, char ret[ENERGY_FLAGS_MAX])
{
	add_common(of, ret);
	if (marks & SPAN_OUTSIDE)
		add(ret, "outside_samples");
	add_of_marks(marks, ret);
}

void energy_flags_unattributed(const struct energy_flags *of, char ret[ENERGY_FLAGS_MAX])
{
	add_common(of, ret);
	if (of->r->unattributed_ns > 0)
		add(ret, "idle");
	add_of_series(of, ret);
}

void energy_flags_totals(const struct energy_flags *of, char ret[ENERGY_FLAGS_MAX])
{
	add_common(of, ret);
	add_of_series(of, ret);
	if (of->r->flags & CF_RATE)
		add(ret, "rate_out_of_range");
}
