/*
 * collective_exposed: which part of each collective the device did nothing else in.
 *
 * Exposed is the time of a collective's kernel in which its device computes nothing, on any queue
 * and for any program, and runs no collective that began before it (of two that begin together the
 * one that ends first, then the first in the trace): first come. All else of it is hidden. So of
 * each kernel exposed + hidden = duration, and the exposed times of a device add up to
 * overlap.exposed_comm_ns, which is that of the union. O(n).
 */
#ifndef PROFRIG_COLLECTIVE_EXPOSED_H
#define PROFRIG_COLLECTIVE_EXPOSED_H

#include "profrig/work/works.h"

/* By row of works; 0 of what is no collective. Owned. */
int64_t *collective_exposed(const struct works *w);

#endif
