/*
 * sample_rows: the text of a samples file: header and rows; with change-point storage only changes.
 * Of every series it keeps a summary and the last value.
 *
 * Change-point storage: a field is written when its value differs from the last one written, a
 * failure being a value; a row without changes is not written. To distinguish a gap from a constant
 * value, and to bound the loss of a crash to a second, all fields are written with the first read
 * after sample_rows_refresh. A series ends with its last reading, so sample_rows_end writes that
 * where it was left out.
 *
 * For one thread at a time.
 */
#ifndef PROFRIG_SAMPLE_ROWS_H
#define PROFRIG_SAMPLE_ROWS_H

#include "profrig/base/strbuf.h"
#include "profrig/sampler/sampler.h"

/*
 * A field as it was written last. Read 1000 times a second, a device mostly repeats its value, so
 * the text is kept: a row of such values takes half the time of one of new values.
 */
struct sample_field {
	double v; /* SAMPLER_ABSENT: nothing yet */
	unsigned char n;
	char text[39]; /* its comma and n - 1 bytes */
};

struct sample_rows {
	const struct sampler_device *dev; /* borrowed */
	size_t nr_dev;
	bool changes;
	uint64_t rows, failed;
	/* data of a tick is close together: after a sleep little of it is in a cache */
	VEC(struct sample_rows_device {
		size_t nr;            /* series */
		size_t before, after; /* fields of other devices on its left and right */
		int64_t read_ns;      /* its last read, 0 none */
		bool refresh;
		uint64_t unwritten; /* fields of that read that are not in the file */
		/* one piece of memory, in this order */
		struct sampling_summary *summary;
		struct sample_field *written;
		double *read;
	}) device;
	char *commas; /* as many as there are fields */
};

void sample_rows_init(struct sample_rows *r, const struct sampler_device *dev, size_t nr_dev,
		      bool changes);
void sample_rows_release(struct sample_rows *r);
/* The header, up to the line of column names. */
struct sample_header {
	const char *source, *run_id; /* run_id may be NULL */
	int64_t period_ns;
	bool estimated;
	const struct sampler_facts *facts; /* one for each device; NULL: none */
};
void sample_rows_header(const struct sample_rows *r, const struct sample_header *h,
			struct strbuf *to);
/*
 * One read of device d: the line is added to the text unless storage leaves it out. False: left
 * out.
 */
bool sample_rows_put(struct sample_rows *r, size_t d, int64_t t_ns, const double *v,
		     struct strbuf *to);
void sample_rows_refresh(struct sample_rows *r);
void sample_rows_end(struct sample_rows *r, struct strbuf *to);

#endif
