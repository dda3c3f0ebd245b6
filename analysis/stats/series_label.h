/* series_label: the order of series in tables, and the names and devices that tables show. */
#ifndef PROFRIG_SERIES_LABEL_H
#define PROFRIG_SERIES_LABEL_H

#include "profrig/counters/counters.h"

struct series_label {
	series_id series;
	/* the counter's own; followed by the file's or track's where one device has several series
	 * of that name that are integrated or drawn */
	const char *name;
	char *own; /* name, when it is not the model's; NULL */
	/*
	 * "node3:gpu2" when the series are of several hosts, "rank3:gpu2" when ranks have devices
	 * of their own (ranks_apart), else "gpu2"; ""
	 */
	char device[160];
	struct counter_info info;
};

/*
 * One per series of the model, by name (numbers by value), device, series id; plus one as the end.
 */
struct series_label *series_labels(const struct model *m);
void series_labels_freep(struct series_label **labels);

#endif
