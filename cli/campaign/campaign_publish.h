/*
 * campaign_publish: a campaign's committed runs go to the targets of its file's `publish:`, by the
 * campaign's process alone, so that an attempt that does not count is never sent. The outbox is in
 * the campaign's folder (publish.h).
 *
 * Targets are read from the file where it lies, not from the folder's copy, which a workload on the
 * host could change so that a password goes elsewhere.
 */
#ifndef CAMPAIGN_PUBLISH_H
#define CAMPAIGN_PUBLISH_H

#include "campaign_job.h"

#include "profrig/config/publishconf.h"

struct campaign_publishing {
	struct publish_conf conf;
	const char *dir; /* of the campaign; NULL: nothing is published */
	int64_t sent_ns; /* CLOCK_MONOTONIC: when it was tried last */
};

void campaign_publish_begin(struct campaign_publishing *p, const struct campaign_job *j);
/* A run was committed. */
void campaign_publish_run(struct campaign_publishing *p, const char *run, uint32_t attempt);
/* What waits is tried, and what fails is said. */
void campaign_publish_end(struct campaign_publishing *p);

#endif
