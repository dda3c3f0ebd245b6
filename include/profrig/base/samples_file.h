/*
 * samples_file: the text of profrig's sampling files (docs/contract.md, Sampling files), for the
 * writers (the samplers) and the readers (the samples reader, the source replay, views for
 * madengine). Version 1:
 *
 *	# profrig samples: 1
 *	# source: NAME
 *	# clock: CLOCK_MONOTONIC
 *	# anchor: monotonic_ns=… realtime_ns=… boottime_ns=…
 *	# begun: UTC			for people
 *	# host: NAME
 *	# run: ID
 *	# period_s: 0.1
 *	# storage: every | change
 *	# estimated: yes		only where it is so
 *	# device: gpu0: MI210, pci 0000:c1:00.0, …	for people; only the PCI address is used
 *	# facts: gpu0: pci=0000:c1:00.0 …		only where a source has facts
 *	t_ns,power.gpu0[W],energy.gpu0[J]	t_ns, then name.device[unit]
 *	5000000,81.5,
 *	# mark: 5100000 warm		between rows
 *
 * One row is one read of one device: fields of other devices are empty. NA is a read that failed.
 * No field holds a comma, a quote or a line end, so none is quoted; readers accept quotes, as a
 * spreadsheet writes them.
 *
 * Life cycle: a samples_header of SAMPLES_HEADER_INIT; samples_header_take for each comment line;
 * samples_header_release. A writer fills one and calls samples_header_put. Nothing is an error:
 * lines of other keys are ignored. For one thread.
 */
#ifndef PROFRIG_SAMPLES_FILE_H
#define PROFRIG_SAMPLES_FILE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/clock.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"

#define SAMPLES_VERSION "1"
#define SAMPLES_MAX_DEVICES 4096 /* more of them are ignored */

struct samples_device {
	char id[64], facts[256];
	char pci[32]; /* as it is written; "" unknown */
};

struct samples_header {
	const char *source, *run_id; /* borrowed; of a writer, run_id may be NULL */
	char version[16];            /* "" not stated */
	char clock[24];              /* "CLOCK_MONOTONIC" */
	char host[256];
	struct clock_anchor anchor; /* monotonic and real time where anchored */
	double period_s;            /* NaN: not stated */
	bool anchored, changes, estimated;
	VEC(struct samples_device) devices;
};

#define SAMPLES_HEADER_INIT \
	{ \
		.clock = "CLOCK_MONOTONIC", .period_s = NAN \
	}

void samples_header_release(struct samples_header *h);
/* A comment line: n bytes behind its '#'. */
void samples_header_take(struct samples_header *h, const char *line, size_t n);
/* The PCI address of a device, NULL when it is not known; valid until the next take. */
const char *samples_header_pci(const struct samples_header *h, const char *device);
/* The lines above those of devices. */
void samples_header_put(const struct samples_header *h, struct strbuf *to);

/* "mark: T NAME", of a comment line as above. False: it is none; *t_ok: T is a time. */
bool samples_mark_take(const char *line, size_t n, int64_t *t_ns, bool *t_ok, const char **name,
		       size_t *name_n);
void samples_mark_put(int64_t t_ns, const char *name, struct strbuf *to);

/* A column's head, "power.gpu0[W]"; all point into it. */
struct samples_column {
	size_t series_n;    /* "power.gpu0" */
	size_t name_n;      /* "power"; the whole series where it names no device */
	const char *device; /* "gpu0": behind the last dot; NULL none */
	size_t device_n;
	const char *unit; /* "W"; NULL none */
	size_t unit_n;
	bool cumulative; /* energy in joules */
};

struct samples_column samples_column_take(const char *head);

enum samples_value { SAMPLES_ABSENT, SAMPLES_FAILED, SAMPLES_NUMBER, SAMPLES_BAD };

/* A field; *ret is NaN unless it is a number. */
enum samples_value samples_value_take(const char *field, size_t n, double *ret);

#endif
