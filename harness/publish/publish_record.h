/*
 * publish_record: what is published of a run, out of its run.json.
 *
 * Texts are valid UTF-8 of at most PUBLISH_MAX_TEXT bytes (longer ones end in "…") without the
 * secrets that profrig knows. A metric is known by its name and its key, which no other metric of
 * the run has: the key is "" mostly, for energies their counter and device, and "#2", "#3", … where
 * a run has more of one name. Metrics that are no numbers, and those past PUBLISH_MAX_METRICS, are
 * left out and counted.
 *
 * The id is the folder's name where that has the form of a run's id; run.json has to agree. In a
 * campaign, whose folders are named by cell and repeat, it is "<UTC>-<campaign>-<folder>", UTC
 * being the run's start, so that campaigns of one name do not mix.
 */
#ifndef PUBLISH_RECORD_H
#define PUBLISH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

#define PUBLISH_MAX_TEXT ((size_t)400)
#define PUBLISH_MAX_METRICS ((size_t)5000)
#define PUBLISH_MAX_LABELS ((size_t)100)
#define PUBLISH_MAX_WORDS ((size_t)100)

struct publish_metric {
	char *name, *key, *unit; /* key and unit may be "" */
	double value;            /* finite */
};
struct publish_label {
	char *name, *value;
};
struct publish_duration {
	char *name; /* "workload": letters and '_' */
	double seconds;
};

struct publish_record {
	char *id, *model, *status;
	char *campaign, *cell, *repeat, *block; /* labels; "" none, as all below */
	char *reason, *signal, *host, *engine, *image, *image_digest, *version;
	bool exited; /* exit_code is known */
	int64_t exit_code;
	int64_t started_ns, ended_ns; /* CLOCK_REALTIME */
	VEC(struct publish_label) labels;
	VEC(struct publish_duration) durations;
	struct strvec devices; /* "gpu0 AMD Instinct MI250X" */
	struct strvec tools;
	VEC(struct publish_metric) metrics;
	uint64_t left_out;
};

void publish_record_release(struct publish_record *rec); /* also a CLEANUP function */
/*
 * -EBUSY: the run has not ended; -ENOENT: there is no such run; -EBADMSG: it is no run, or says
 * that it is another one.
 */
int publish_record_read(const char *run_dir, struct publish_record *ret, struct err *err);
/* The same of a text of run.json, for a folder of that name. */
int publish_record_parse(const char *text, size_t n, const char *folder, struct publish_record *ret,
			 struct err *err);

#endif
