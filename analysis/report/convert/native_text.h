/*
 * native_text: writes the JSON objects in which a converter keeps the parts of a model that the
 * format cannot hold. native.h describes and reads them.
 *
 * native_order numbers the tracks of a model so that parents and owners come first.
 */
#ifndef REPORT_NATIVE_TEXT_H
#define REPORT_NATIVE_TEXT_H

#include "profrig/base/strbuf.h"
#include "profrig/model/model.h"

struct native_order {
	size_t nr;
	track_id *at;        /* by number */
	uint32_t *number_of; /* by track */
	/*
	 * by track: the pid is that of the process, and another track has the same pid and tid. The
	 * model keeps such tracks apart because one of them was defined without a pid.
	 */
	bool *pid_inherited;
};

void native_order_init(const struct model *m, struct native_order *ret);
void native_order_release(struct native_order *o);

/* Each appends one object. base_ns: the origin of the times in the file. */
void native_file_text(const struct model *m, int64_t base_ns, struct strbuf *to);
void native_track_text(const struct model *m, const struct native_order *o, track_id id,
		       struct strbuf *to);
void native_series_text(const struct model *m, const struct native_order *o, series_id id,
			struct strbuf *to);
/* Equal for all files of one conversion, and for nothing else in practice. */
uint64_t native_group(const struct model *m);
const char *native_span_kind_word(enum span_kind kind);
const char *native_link_kind_word(enum link_kind kind);

#endif
