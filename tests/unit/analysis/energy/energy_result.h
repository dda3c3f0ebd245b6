/*
 * energy_result: energies by span, as tests compare them. energy_spans.h fills one by a run,
 * energy_sweep.h by the oracle; energy_result_release frees what it holds.
 */
#ifndef ENERGY_RESULT_H
#define ENERGY_RESULT_H

#include <stdint.h>
#include <stdlib.h>

#include "profrig/energy/energy.h"

/*
 * Energies of single spans of a finished model. Values per span index; spans that do not take part,
 * and instants, hold NaN.
 */
struct energy_piece {
	double exclusive_j; /* of the part of a span that outlives its parent (model.pieces) */
	int64_t exclusive_ns;
};

struct energy_result {
	series_id series;
	enum energy_view view;
	char device[64];
	double total_j, attributed_j, unattributed_j, error_rel;
	double dead_j;
	int64_t unattributed_ns;
	int64_t median_period_ns;
	unsigned flags;
	/* per span index of the model (length spans.nr); NULL when no span takes part */
	double *inclusive_j, *exclusive_j;
	int64_t *exclusive_ns;
	uint8_t *marks; /* of the samples that the whole span touches, and SPAN_OUTSIDE */
	/*
	 * Of each span's time, what no earlier call of its name on its track had open: its part of
	 * an inclusive sum that counts recursion once. NULL when there are no pieces: then it is
	 * inclusive_j for the outermost call of a name and 0 for the others.
	 */
	double *new_j;
	struct energy_piece *pieces; /* by index of model.pieces; NULL when there are none */
};

static inline void energy_result_release(struct energy_result *r)
{
	free(r->inclusive_j);
	free(r->exclusive_j);
	free(r->exclusive_ns);
	free(r->marks);
	free(r->pieces);
	free(r->new_j);
	*r = (struct energy_result){ 0 };
}

#endif
