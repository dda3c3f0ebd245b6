/*
 * own_text: the JSON objects by which profrig's reader gets back what a format has no place for.
 * analysis/readers/own.h says what stands in them.
 *
 * Tracks are numbered so that parents and owners come first: own_order gives the order, number_of
 * the number of each track of the model.
 */
#ifndef REPORT_OWN_TEXT_H
#define REPORT_OWN_TEXT_H

#include "profrig/base/strbuf.h"
#include "profrig/model/model.h"

struct own_order {
	size_t nr;
	track_id *at;        /* by number */
	uint32_t *number_of; /* by track */
	/*
	 * by track: another one has the same numbers, and its own is its process'. The model tells
	 * such tracks apart because one of them did not bring its pid along.
	 */
	bool *pid_inherited;
};

void own_order_init(const struct model *m, struct own_order *ret);
void own_order_release(struct own_order *o);

/* Each appends one object. base_ns: what the file's times count from. */
void own_file_text(const struct model *m, int64_t base_ns, struct strbuf *to);
void own_track_text(const struct model *m, const struct own_order *o, track_id id,
		    struct strbuf *to);
void own_series_text(const struct model *m, const struct own_order *o, series_id id,
		     struct strbuf *to);
const char *own_span_kind_word(enum span_kind kind);
const char *own_link_kind_word(enum link_kind kind);

#endif
