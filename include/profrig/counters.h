/*
 * counters: what a counter means: kind, quantity, unit, scale, device. One table
 * (attribution/counters.c), because trace files lie (docs/energy.md: Score-P plug-ins declare
 * power, clocks and percentages as accumulated "#").
 *
 * A series is looked up by name, first match in table order; a name that carries the device
 * ("…energy_count:device=3", "energy.gpu0") gives the device id too ("gpu3"). Unknown series are
 * listed (kind unknown) and never integrated by guess. profrig's own sample files (reader
 * `samples`) state kind and unit themselves through the name and the bracketed unit: power[W]
 * gauge, energy[J] cumulative, the rest gauges.
 *
 * Values: scaled = raw × scale, in `unit`. Energy in J, power in W.
 */
#ifndef PROFRIG_COUNTERS_H
#define PROFRIG_COUNTERS_H

#include "profrig/model.h"

enum quantity { QUANTITY_OTHER, QUANTITY_ENERGY, QUANTITY_POWER };

struct counter_info {
	enum series_kind kind; /* SERIES_UNKNOWN: not in the table */
	enum quantity quantity;
	const char *unit; /* after scaling: "J", "W", "%", "bytes", "degC", "Hz"; "" unknown */
	double scale;     /* 1 when unknown */
	double modulus;   /* raw; 0 = does not wrap */
	/* scaled, per second (W for energy): above it rate_out_of_range; 0 = no check */
	double max_rate;
	char device[64]; /* "" when neither the series nor its name tells */
};

/* facts of one series of a finished model. */
struct counter_info counter_info(const struct model *m, series_id s);
/*
 * Whether a value of the series holds until the next one: of a series that stores only changes. Not
 * so an energy counter: the device draws power all the time, so a counter's silence is a line or a
 * hole as it is in any other series.
 */
bool counter_holds(const struct model *m, series_id s, const struct counter_info *ci);

/*
 * Why a series is not plain; bits of counter_scan.flags, printed by counter_flags() as "wrap|gap".
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
	uint64_t wraps, resets, gaps, rates, stuck, duplicates;
};

/*
 * stuck: a cumulative energy counter without a change over 10 periods (of its changes) while the
 * power reading of the same device, where there is one, says that it drew power; or never any
 * change. stale: an energy counter that most reads find unchanged (read more often than it
 * refreshes). rate: an energy counter's increment per time from change to change, or a power
 * reading, above max_rate or below 0. gap: an interval longer than 10 median periods or than
 * max_gap_ns (when > 0). short: fewer than two values.
 */

struct counter_scan counter_scan(const struct model *m, series_id s, const struct counter_info *ci,
				 int64_t max_gap_ns);
/* Names of set flags joined by '|', "" for none; buf holds at least 128. Returns buf. */
char *counter_flags(unsigned flags, char *buf);

/*
 * Device id from a free text such as "HIP[1:0]", "gpu3", "device=2", "CUDA Context 0": writes
 * "gpuN" and returns true.
 */
bool counter_device_from_name(const char *name, char *buf, size_t n);

#endif
