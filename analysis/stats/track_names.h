/*
 * track_names: names and order of tracks in tables.
 *
 * Trace files give equal names to several tracks ("Master thread" on every rank). A name that
 * several tracks with spans share gets a prefix: the rank, else the process, else host, pid and
 * tid: "rank 1/Master thread". Names are unique among tracks with spans.
 */
#ifndef PROFRIG_TRACK_NAMES_H
#define PROFRIG_TRACK_NAMES_H

#include "profrig/base/strvec.h"
#include "profrig/model/model.h"

/* One name per track id, into an empty strvec. */
void track_names(const struct model *m, struct strvec *ret);
/* All track ids by rank, host, pid, tid, name (numbers in names by value). Owned. */
track_id *track_order(const struct model *m);

#endif
