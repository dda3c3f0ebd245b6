/*
 * energy_flags: the column `flags` of the tables of energy: words that `|` joins.
 *
 *	struct energy_flags of = { m, opts, label, &totals };	of a counter and view
 *	char flags[ENERGY_FLAGS_MAX];
 *	energy_flags_row(&of, group, value, flags);
 */
#ifndef PROFRIG_ENERGY_FLAGS_H
#define PROFRIG_ENERGY_FLAGS_H

#include "energy_rows.h"
#include "series_label.h"

#define ENERGY_FLAGS_MAX 160

struct energy_flags {
	const struct model *m;
	const struct energy_opts *o;
	const struct series_label *label;
	const struct energy_totals *r;
};

void energy_flags_row(const struct energy_flags *of, const struct energy_group *g,
		      const struct energy_value *v, char ret[ENERGY_FLAGS_MAX]);
/* Of a single call; marks: enum curve_mark. */
void energy_flags_call(const struct energy_flags *of, uint8_t marks, char ret[ENERGY_FLAGS_MAX]);
void energy_flags_unattributed(const struct energy_flags *of, char ret[ENERGY_FLAGS_MAX]);
void energy_flags_totals(const struct energy_flags *of, char ret[ENERGY_FLAGS_MAX]);

#endif
