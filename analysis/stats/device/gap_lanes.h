/*
 * gap_lanes: gaps of devices for a page that draws and sums them by stretch of time: the longest
 * GAP_LANES_MAX by themselves, all shorter ones in bins, equal parts of the recording.
 *
 *	struct gap_lanes *l = gap_lanes_new(m, devices);
 *	gap_lanes_take(l, device, gap);		for each gap of each device
 *	t = gap_lanes_write(l, w);			lane_idle, owned
 *	gap_lanes_free(l);
 *
 * Memory is bounded whatever the number of gaps: a heap of the longest ones, and GAP_BINS_MAX bins
 * over all devices. Of gaps of one length the earlier ones stay. A binned gap counts in the bin of
 * its start with all its time.
 */
#ifndef PROFRIG_GAP_LANES_H
#define PROFRIG_GAP_LANES_H

#include "device_gaps.h"

#include "profrig/base/table.h"

enum { GAP_LANES_MAX = 20000, GAP_BINS_MAX = 4000, GAP_BINS_MIN = 8 };

/* clang-format off */
#define LANE_IDLE(X) \
	X(STR, device) X(I64, start_ns) X(I64, dur_ns) X(I64, binned) X(STR, cause) \
	X(I64, total_ns) X(I64, parts)
/* clang-format on */
TABLE_FORM(lane_idle, LANE_IDLE,
	   "one row per long gap of a device and cause; of shorter ones per equal part of the "
	   "recording");

struct gap_lanes;
struct gap_lanes *gap_lanes_new(const struct model *m, size_t devices);
void gap_lanes_free(struct gap_lanes *l); /* NULL is fine */
void gap_lanes_take(struct gap_lanes *l, uint32_t device, const struct device_gap *g);
/* Order: device, whether it is a bin, start, cause. */
struct table *gap_lanes_write(struct gap_lanes *l, const struct works *w);

#endif
