/*
 * counters: the meaning of a counter: kind, quantity, unit, scale, device, filter. It comes from
 * one table (counters.c), because trace files declare wrong kinds and units (docs/energy.md:
 * Score-P plug-ins declare power, clocks and percentages as accumulated "#"), and from the user's
 * rules (struct counter_rules), which override the table.
 *
 * A series is looked up by name, first match in table order; a name with a device
 * ("…energy_count:device=3", "energy.gpu0") gives the device id ("gpu3"). Unknown series are listed
 * (kind unknown) and never integrated. profrig's own sample files (reader `samples`) state kind and
 * unit by the name and the bracketed unit: power[W] gauge, energy[J] cumulative, the rest gauges.
 *
 * Values: scaled = raw × scale, in `unit`. Energy in J, power in W.
 *
 * Life cycle: counters_learn(m, &rules) after model_finish and before the first counter_info; the
 * rules must outlive the last one. Without counters_learn the table alone decides.
 */
#ifndef PROFRIG_COUNTERS_H
#define PROFRIG_COUNTERS_H

#include "profrig/base/vec.h"
#include "profrig/model/model.h"

enum quantity { QUANTITY_OTHER, QUANTITY_ENERGY, QUANTITY_POWER };

/* One row of the table of known counters. */
struct counter_fact {
	const char *pattern; /* '*' matches any text; case does not matter */
	enum series_kind kind;
	enum quantity quantity;
	const char *unit;
	double scale;    /* 0: from the unit that the file states */
	double modulus;  /* raw; 0: unknown, as it differs by machine (powercap) */
	double max_rate; /* scaled, per second; 0: no check */
	double period_s; /* between publications; 0: not known */
	/*
	 * Time constant of the one-pole filter behind a power reading, as measured on one machine;
	 * 0: unknown. A hint that is shown and never applied: it differs by product and firmware
	 * (docs/energy.md).
	 */
	double tau_hint_s;
	/*
	 * A counter whose library multiplies whole counts by step_raw and truncates to whole raw
	 * units, although one count is `step` (scaled); 0, 0: raw values are exact.
	 */
	double step_raw, step;
	bool node; /* of the whole node, unless it belongs to a device */
};
extern const struct counter_fact counter_facts[]; /* ends with pattern NULL */

/* Measured spread of the time constant among devices of one product, relative. */
#define TAU_SPREAD 0.05

/* Source of a power reading's time constant. */
enum tau_source { TAU_NONE, TAU_USER, TAU_FIT };

struct counter_info {
	enum series_kind kind; /* SERIES_UNKNOWN: not in the table */
	enum quantity quantity;
	const char *unit; /* after scaling: "J", "W", "%", "bytes", "degC", "Hz"; "" unknown */
	double scale;     /* 1 when unknown */
	double modulus;   /* raw; 0 = does not wrap */
	/* scaled, per second (W for energy): above it rate_out_of_range; 0 = no check */
	double max_rate;
	double period_s;   /* of publication; 0 unknown */
	double tau_hint_s; /* from the table; 0 unknown */
	/* power gauges: the filter that curve_make corrects for; 0 = none */
	double tau_s;
	enum tau_source tau_source;
	/*
	 * bound of |real time constant − tau_s|: TAU_SPREAD × tau_s, or the whole known constant of
	 * a filter that is not corrected for; 0: no filter is known
	 */
	double tau_error_s;
	/* not 0: exact units; a value is round(raw / step_raw) counts of `step`, and scale is their
	 * ratio */
	double step_raw, step;
	bool node;       /* of the whole node, unless it belongs to a device */
	bool inexact;    /* exact units were asked for, and the values do not fit them */
	char device[64]; /* "" when neither the series nor its name has one */
};

/* Whether it is integrated and attributed: an energy counter or a power reading. */
static inline bool counter_is_energy(const struct counter_info *ci)
{
	return ci->quantity == QUANTITY_ENERGY || ci->quantity == QUANTITY_POWER;
}

/* Whether it measures a whole node: by the table, or by a rule that gives it the device "node". */
bool counter_is_of_node(const struct counter_info *ci);

/* Facts of one series of a finished model. */
struct counter_info counter_info(const struct model *m, series_id s);
/*
 * Whether a value holds until the next one: true for a series that stores only changes, unless it
 * is an energy counter. A device draws power all the time, so a counter that does not change is
 * interpolated, or has a gap, as in any other series.
 */
bool counter_holds(const struct model *m, series_id s, const struct counter_info *ci);

double counter_value(const struct counter_info *ci, double raw);

bool counter_matches(const char *pattern, const char *name);

/* A unit of a file: its name after scaling, and the scale. False: unknown unit. */
bool counter_unit(const char *name, const char **ret_base, double *ret_scale);

/*
 * A user's rule for the counters whose name matches. Of several matching rules the first that gives
 * a field decides it; a field that none gives comes from the table.
 */
enum counter_field {
	RULE_KIND = 1,
	RULE_QUANTITY = 2,
	RULE_UNIT = 4,
	RULE_SCALE = 8,
	RULE_MODULUS = 16,
	RULE_MAX_RATE = 32,
	RULE_PERIOD = 64,
	RULE_TAU = 128,
	RULE_DEVICE = 256,
	RULE_EXACT = 512,
};

struct counter_rule {
	const char *match; /* as counter_fact.pattern; strings are borrowed */
	unsigned given;    /* enum counter_field */
	enum series_kind kind;
	/* not given: energy for a cumulative series in J, power for a gauge in W, where the table
	 * does not know the counter */
	enum quantity quantity;
	const char *unit; /* of recorded value × scale; a known one is converted to its base */
	double scale, modulus, max_rate, period_s, tau_s;
	const char *device;
	bool exact_units;
};

struct power_filter; /* tau_fit.h */

struct counter_rules {
	VEC(struct counter_rule) v;
	double tau_s;     /* of power readings without one in a rule; 0 none */
	bool tau_fit;     /* correct power readings by the filter found from the data */
	bool exact_units; /* count in the counters' own steps where the table knows them */
	/* filled by counters_learn */
	VEC(struct power_filter) filters; /* one per power reading, by series */
	struct counter_learned {
		double step_raw; /* of which all recorded values are whole multiples; 0 none */
		double tau_s;    /* fitted; 0 none */
		double lag_s;    /* the reading's delay as seen in the data; NaN not known */
	} * learned;             /* by series */
	size_t learned_nr;
};
#define COUNTER_RULES_INIT \
	{ \
		.v = VEC_INIT, .filters = VEC_INIT \
	}

/*
 * Sets m->counter_rules (borrowed) of the finished model and learns from its data: the counters
 * that count in whole steps, and the filter of every power reading.
 */
void counters_learn(struct model *m, struct counter_rules *r);
void counter_rules_release(struct counter_rules *r);

/*
 * Defects of a series; bits of counter_scan.flags, printed by counter_flags() as "wrap|gap".
 *	stuck	a cumulative energy counter without a change over 10 periods (of its changes) that
 *		missed more than its own resolution: the power reading of the same device gives more
 *		than two of the counter's smallest steps, or, without such a reading, one smallest
 *		step is less than 2.5 % of the counter's mean power; or it never changes. Its energy
 *		is unknown until the next change (curve_mark CURVE_DEAD); so is the total of a
 *		counter that never changes.
 *	stale	an energy counter that most reads find unchanged (read more often than it
 *		refreshes), or any series read more than twice in its known period
 *	rate	above max_rate or below 0: an energy counter's increment per time from change to
 *		change, or a power reading; or an interval whose energy the correction of a filter
 *		makes negative
 *	gap	an interval longer than 10 median periods or than max_gap_ns (when > 0)
 *	short	fewer than two values
 */
enum counter_flag {
	CF_WRAP = 1,
	CF_RESET = 2,
	CF_STUCK = 4,
	CF_STALE = 8,
	CF_GAP = 16,
	CF_RATE = 32,
	CF_UNKNOWN = 64,
	CF_ESTIMATED = 128,
	CF_SHORT = 256,
};

struct counter_scan {
	unsigned flags;
	size_t samples;  /* finite values */
	size_t distinct; /* number of changes + 1 */
	int64_t first_ns, last_ns;
	/* scaled; mean: time-weighted for gauges, rate per second for cumulative */
	double first, last, min, max, mean;
	/* J (or scaled unit) as docs/tables.md says of `counters.total`; NaN when unknown */
	double total;
	int64_t max_gap_ns, median_period_ns;
	int64_t median_change_ns; /* between changes of the value; 0 when it never changes */
	/* sampled time whose energy is unknown: resets, stand-stills, gaps beyond max_gap_ns */
	int64_t unknown_ns;
	uint64_t wraps, resets, gaps, rates, stuck, duplicates;
};
struct counter_scan counter_scan(const struct model *m, series_id s, const struct counter_info *ci,
				 int64_t max_gap_ns);
/* Names of set flags joined by '|', "" for none; buf holds at least 128. Returns buf. */
char *counter_flags(unsigned flags, char *buf);

#endif
