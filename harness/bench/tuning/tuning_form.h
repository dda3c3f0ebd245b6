/*
 * tuning_form: how a table of solutions calls products, and how its lines look (bench_tuning.h).
 */
#ifndef TUNING_FORM_H
#define TUNING_FORM_H

#include "vendor.h"

#include "profrig/bench/bench_tuning.h"

struct tuning_form {
	bool rocblas;  /* what rocBLAS does faster is none of its lines */
	int32_t least; /* number of a solution */
	const char *no_time;
	/*
	 * Adds what the form calls the product of a request that has been read: equal texts are
	 * one line. Returns NULL, or why it has no place.
	 */
	const char *(*place)(const struct vendor_request *q, struct strbuf *to);
	void (*line)(const struct bench_tuning_line *line, FILE *f);
};

extern const struct tuning_form tuning_tunableop, tuning_hipblaslt;

#endif
