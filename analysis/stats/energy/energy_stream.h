/*
 * energy_stream: energy while a profile is made (profile.h), of an archive whose events are not
 * kept or of a finished model.
 *
 *	es = energy_stream_new(m, &opts, rules, topology)
 *	profile_new(m, &(struct profile_opts){ .lanes = energy_stream_reader(es) })
 *	… the archive is read: when its counters are known es chooses its jobs, then it takes every
 *	round …
 *	model_finish(m), profile_finish(p)
 *	analyses: opts.stream = es
 *	energy_stream_free(es)
 *
 * It knows in time the counters of inputs that were read before, and those of the archive whose
 * samples are in locations of their own. m, rules and topology outlive the stream.
 */
#ifndef PROFRIG_ENERGY_STREAM_H
#define PROFRIG_ENERGY_STREAM_H

#include "series_label.h"

#include "profrig/stats/analysis.h"

/*
 * The pairs (series, view) that are attributed: series of energy and power, in the order of the
 * labels, the device view before the host view. The device view is for devices only, and only where
 * there are queues.
 */
struct energy_jobs {
	VEC(struct energy_job) v;
};
void energy_jobs_find(const struct model *m, const struct series_label *labels,
		      const struct energy_opts *o, struct energy_jobs *ret);

/* Results of a finished stream; lanes are those of energy_run. */
const struct energy_run *energy_stream_run(const struct energy_stream *es);
const struct lane_def *energy_stream_lanes(const struct energy_stream *es, size_t *ret_nr);
/* energy_run_split, once */
void energy_stream_split(const struct energy_stream *es, const struct energy_classes *classes,
			 struct workers *workers);
size_t energy_stream_jobs(const struct energy_stream *es); /* their number */
/* SIZE_MAX: the job was not known in time. */
size_t energy_stream_job(const struct energy_stream *es, const struct energy_job *j);

#endif
