/* series_label: in which order series come in tables, and which device they show. */
#ifndef PROFRIG_SERIES_LABEL_H
#define PROFRIG_SERIES_LABEL_H

#include "profrig/counters/counters.h"

struct series_label {
	series_id series;
	/* the counter's own; with the file's or track's behind it where one device has several
	 * series of that name that are integrated or drawn, so that a row says which it is about */
	const char *name;
	char *own;        /* name, when it is not the model's; NULL */
	char device[160]; /* "node3:gpu2" when the series are of several hosts, else "gpu2"; "" */
	struct counter_info info;
};

/* One per series of the model, by name, device, series id; numbers in names by value. m->series.nr
 * long, with one more that ends it. */
struct series_label *series_labels(const struct model *m);
void series_labels_freep(struct series_label **labels);

#endif
