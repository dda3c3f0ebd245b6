/*
 * onednn_fields: a line of oneDNN's verbose log as columns, for every version of the library.
 *
 *	MARKER[,v1][,STAMP][,primitive],exec,ENGINE,KIND,IMPL,PROP,MDS,ATTRS,AUX,DESC,MS
 *
 * Which columns there are:
 *	as the header says	info,prim_template:operation,engine,primitive,… (from 2.1)
 *				primitive,info,template:… (from 3.2)
 *	10 with an engine	cpu, gpu, gpu:0 (from 1.1); gemm_api of 2.7 has no auxiliary
 *	8 without one		(0.x, 1.0), neither engine nor attributes
 *	7 without one		(0.9 and older), no implementation either
 * A locale's decimal comma splits the time in two columns, of digits only.
 */
#ifndef ANALYSIS_ONEDNN_FIELDS_H
#define ANALYSIS_ONEDNN_FIELDS_H

#include "library_args.h"
#include "library_mask.h"

#define ONEDNN_COLUMNS_MAX 16

enum onednn_column {
	ONEDNN_ENGINE,
	ONEDNN_KIND,
	ONEDNN_IMPL,
	ONEDNN_PROP,
	ONEDNN_MDS,
	ONEDNN_ATTRS,
	ONEDNN_AUX,
	ONEDNN_DESC,
	ONEDNN_TIME,
	ONEDNN_COLUMNS,
	ONEDNN_OTHER = ONEDNN_COLUMNS /* a column of a template that has another name */
};

struct onednn_layout {
	size_t nr; /* 0: none */
	enum onednn_column v[ONEDNN_COLUMNS_MAX];
};

struct onednn_record {
	struct text_slice column[ONEDNN_COLUMNS + 1]; /* n = 0: not there, or empty */
	int64_t t_ns;                                 /* LIBRARY_NO_TIME */
	int64_t dur_ns;                               /* -1: unknown */
	bool odd_time;                                /* one of them is logged, and out of range */
};

/*
 * RECORD_CALL: *ret is filled; RECORD_INFO: *layout is the template's, where the line is one;
 * RECORD_TORN. cut: the time may have lost digits, and is then unknown.
 */
enum record_is onednn_fields(struct text_slice text, bool cut, struct onednn_layout *layout,
			     struct onednn_record *ret);
/* As `mask` of a parser; none has a log whose times are not the last column. */
bool onednn_fields_mask(struct text_slice text, const struct onednn_layout *layout,
			struct log_mask *m);

#endif
