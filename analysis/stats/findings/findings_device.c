/* Rules about where the time of devices goes. */
#include "findings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define IDLE_SHARE 0.15
#define CAUSE_SHARE 0.5
#define GAP_LONG_NS 500000000.0
#define GAPS_MS 3
#define CHUNKS 30
#define CHUNK_BUSY 0.5
#define DATA_LOADING_SHARE 0.05
#define EXPOSED_SHARE 0.2
#define HIDDEN_SHARE 0.3
#define HIDDEN_FROM 0.02 /* communication below this share of the time is no matter */
#define COPY_SHARE 0.2
#define FULL_LAUNCHES 1000
#define SHORT_NS 10000
#define SHORT_KERNELS 100
#define SHORT_SHARE 0.1
#define UNLINKED_SHARE 0.01
#define HOTSPOT_SHARE 0.5
#define START_SHARE 0.1
#define START_NS 1000000
#define THROTTLED_SHARE 0.1
#define THROTTLED_NS 1000000

static double idle_share(const struct findings *f, const char *device)
{
	const struct table *t = table_set_find(f->out, "overlap");

	for (size_t i = 0; t && i < table_rows(t); i++)
		if (strcmp(text_of(t, i, "device"), device) == 0)
			return col_of(t, i, "idle_ns") / col_of(t, i, "wall_ns");
	return NAN;
}

/* The largest cause comes first in the table. */
static const char *cause_words(const char *cause)
{
	static const char *const words[][2] = {
		{ "host_busy", "a busy host between launches" },
		{ "host_untraced", "a host that does nothing the recording shows" },
		{ "data_loading", "the data loader" },
		{ "sync", "calls that wait for the device" },
		{ "alloc", "calls that allocate memory" },
		{ "module_load", "calls that load code" },
		{ "api", "calls of the runtime" },
		{ "launch_latency", "the way from a launch to the device" },
		{ "graph_launch", "launches of graphs" },
		{ "queued_short", "hand-over from one kernel to the next" },
		{ "queued_long", "queued work that waits for other queues or events" },
		{ "no_launch", "work whose launch the recording lacks" },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i][0], cause) == 0)
			return words[i][1];
	return cause;
}

/* The largest cause comes first in the table. */
static void idle_cause(struct findings *f, const char *device)
{
	const struct table *t = table_set_find(f->out, "idle_causes");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double ns = col_of(t, i, "total_ns"), share = col_of(t, i, "share");

		if (strcmp(text_of(t, i, "device"), device) != 0)
			continue;
		if (share > CAUSE_SHARE)
			finding_add(f,
				    FINDING_AT("idle_cause", device, "idle_causes", share,
					       CAUSE_SHARE, (int64_t)ns),
				    "%.0f %% of the idle time of %s comes from %s (%s)",
				    100 * share, device, cause_words(text_of(t, i, "cause")),
				    time_words(ns).s);
		return;
	}
}

void rule_idle(struct findings *f)
{
	const struct table *t = findings_table(f, "idle_share", "overlap");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double idle = col_of(t, i, "idle_ns"), wall = col_of(t, i, "wall_ns");

		if (!(idle > IDLE_SHARE * wall))
			continue;
		finding_add(f,
			    FINDING_AT("idle_share", device, "idle", idle / wall, IDLE_SHARE,
				       (int64_t)idle),
			    "%s did nothing for %.0f %% of its time (%s of %s)", device,
			    100 * idle / wall, time_words(idle).s, time_words(wall).s);
		idle_cause(f, device);
	}
}

static bool bucket_from_ms(const char *bucket)
{
	return strcmp(bucket, "1-10ms") == 0 || strcmp(bucket, "10-100ms") == 0 ||
	       strcmp(bucket, ">=100ms") == 0;
}

static void gaps_of_ms(struct findings *f, const struct table *t, const char *device)
{
	double count = 0, ns = 0;

	for (size_t i = 0; i < table_rows(t); i++)
		if (strcmp(text_of(t, i, "device"), device) == 0 &&
		    bucket_from_ms(text_of(t, i, "gap_ns_bucket"))) {
			count += col_of(t, i, "count");
			ns += col_of(t, i, "total_ns");
		}
	if (count >= GAPS_MS)
		finding_add(f, FINDING_AT("gaps", device, "idle_gaps", count, GAPS_MS, (int64_t)ns),
			    "%s has %.0f gaps of a millisecond or more, %s together", device, count,
			    time_words(ns).s);
}

void rule_gaps(struct findings *f)
{
	const struct table *t = findings_table(f, "gaps", "idle");
	const struct table *g = t ? findings_table(f, "long_gap", "idle_gaps") : NULL;

	for (size_t d = 0; t && d < f->w->devices.nr; d++)
		gaps_of_ms(f, t, model_str(f->m, f->w->devices.v[d].name));
	for (size_t i = 0; g && i < table_rows(g); i++) {
		double ns = col_of(g, i, "dur_ns");

		if (ns >= GAP_LONG_NS)
			finding_add(f,
				    FINDING_AT("long_gap", text_of(g, i, "device"), "idle_gaps", ns,
					       GAP_LONG_NS, (int64_t)ns),
				    "%s had nothing to do for %s, because of %s",
				    text_of(g, i, "device"), time_words(ns).s,
				    cause_words(text_of(g, i, "cause")));
	}
}

/* The time of [from, to) in intervals from *at on; *at moves to the first that ends behind it. */
static int64_t busy_in(const struct intervals *iv, size_t *at, int64_t from_ns, int64_t to_ns)
{
	int64_t busy = 0;

	for (; *at < iv->v.nr; (*at)++) {
		int64_t start = iv->v.v[*at].start_ns, end = iv->v.v[*at].end_ns;

		start = start > from_ns ? start : from_ns;
		if (start < (end < to_ns ? end : to_ns))
			busy += (end < to_ns ? end : to_ns) - start;
		if (end > to_ns)
			break;
	}
	return busy;
}

/* Of CHUNKS equal parts of a device's wall time: those that are busy for less than half. */
static void device_chunks(struct findings *f, uint32_t device)
{
	struct intervals iv = INTERVALS_INIT;
	size_t at = 0;
	const struct work_device *d = &f->w->devices.v[device];
	int64_t wall = d->last_ns - d->first_ns, idle = 0;
	int few = 0;

	works_union(f->w, device, ~0U, d->first_ns, d->last_ns, &iv);
	for (int k = 0; k < CHUNKS && wall >= CHUNKS; k++) {
		int64_t from = d->first_ns + (int64_t)((__int128)wall * k / CHUNKS);
		int64_t to = d->first_ns + (int64_t)((__int128)wall * (k + 1) / CHUNKS);
		int64_t busy = busy_in(&iv, &at, from, to);

		if ((double)busy < CHUNK_BUSY * (double)(to - from)) {
			few++;
			idle += to - from - busy;
		}
	}
	intervals_release(&iv);
	if (few)
		finding_add(f,
			    FINDING_AT("busy_chunks", model_str(f->m, d->name), "idle", few,
				       CHUNK_BUSY, idle),
			    "%d of %d equal parts of %s's time are busy for less than half", few,
			    CHUNKS, model_str(f->m, d->name));
}

void rule_chunks(struct findings *f)
{
	for (uint32_t d = 0; d < f->w->devices.nr; d++)
		device_chunks(f, d);
}

void rule_data_loading(struct findings *f)
{
	const struct table *t = findings_table(f, "data_loading", "idle_causes");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double ns = col_of(t, i, "total_ns"), share = ns / wall_of(f, device);

		if (strcmp(text_of(t, i, "cause"), "data_loading") == 0 &&
		    share > DATA_LOADING_SHARE)
			finding_add(f,
				    FINDING_AT("data_loading", device, "idle_causes", share,
					       DATA_LOADING_SHARE, (int64_t)ns),
				    "%s waits for the data loader for %.0f %% of its time", device,
				    100 * share);
	}
}

void rule_exposed_comm(struct findings *f)
{
	const struct table *t = findings_table(f, "exposed_comm", "overlap");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double ns = col_of(t, i, "exposed_comm_ns"), share = ns / col_of(t, i, "wall_ns");

		if (share > EXPOSED_SHARE)
			finding_add(f,
				    FINDING_AT("exposed_comm", device, "overlap", share,
					       EXPOSED_SHARE, (int64_t)ns),
				    "%s does nothing but communicate for %.0f %% of its time (%s)",
				    device, 100 * share, time_words(ns).s);
	}
}

void rule_hidden_comm(struct findings *f)
{
	const struct table *t = findings_table(f, "comm_overlap", "overlap");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double comm = col_of(t, i, "comm_ns"), hidden = col_of(t, i, "hidden_comm_ns");

		if (comm > HIDDEN_FROM * col_of(t, i, "wall_ns") && hidden < HIDDEN_SHARE * comm)
			finding_add(f,
				    FINDING_AT("comm_overlap", device, "overlap", hidden / comm,
					       HIDDEN_SHARE, (int64_t)(comm - hidden)),
				    "%s computes during %.0f %% of its communication only", device,
				    100 * hidden / comm);
	}
}

void rule_copies(struct findings *f)
{
	const struct table *t = findings_table(f, "copy_bound", "overlap");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double ns = col_of(t, i, "exposed_copy_ns"), share = ns / col_of(t, i, "wall_ns");

		if (share > COPY_SHARE)
			finding_add(f,
				    FINDING_AT("copy_bound", device, "overlap", share, COPY_SHARE,
					       (int64_t)ns),
				    "%s does nothing but copy for %.0f %% of its time (%s)", device,
				    100 * share, time_words(ns).s);
	}
}

void rule_full_queue(struct findings *f)
{
	const struct table *t = findings_table(f, "full_queue", "queue");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double ns = col_of(t, i, "full_ns");

		if (ns > 0)
			finding_add(f,
				    FINDING_AS("full_queue", device, "queue", ns, 0, SAVES_UNKNOWN,
					       "low"),
				    "%d and more launches wait for %s for %s: the host is blocked, "
				    "the device is the limit",
				    FULL_LAUNCHES, device, time_words(ns).s);
	}
}

/* ---- kernels ---- */

struct kernels_of_device {
	uint64_t nr, few;
	int64_t ns, few_ns;
};

static struct kernels_of_device kernels_count(const struct findings *f, uint32_t device)
{
	const struct work_device *d = &f->w->devices.v[device];
	struct kernels_of_device k = { 0 };

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *w = &f->w->v.v[i];

		if (w->class == WORK_COPY)
			continue;
		k.nr++;
		k.ns += w->end_ns - w->start_ns;
		if (w->end_ns - w->start_ns < SHORT_NS) {
			k.few++;
			k.few_ns += w->end_ns - w->start_ns;
		}
	}
	return k;
}

/* Most of a long idle time is between launches and their work. */
static bool launch_bound(const struct findings *f, const char *device)
{
	const struct table *t = table_set_find(f->out, "idle_causes");
	double share = 0;

	for (size_t i = 0; t && i < table_rows(t); i++)
		if (strcmp(text_of(t, i, "device"), device) == 0 &&
		    (strcmp(text_of(t, i, "cause"), "launch_latency") == 0 ||
		     strcmp(text_of(t, i, "cause"), "api") == 0))
			share += col_of(t, i, "share");
	return share > CAUSE_SHARE && idle_share(f, device) > IDLE_SHARE;
}

void rule_short_kernels(struct findings *f)
{
	for (uint32_t d = 0; d < f->w->devices.nr; d++) {
		const char *device = model_str(f->m, f->w->devices.v[d].name);
		struct kernels_of_device k = kernels_count(f, d);
		double share = (double)k.few_ns / (double)k.ns;
		bool bound = launch_bound(f, device);

		if (k.few < SHORT_KERNELS || !(share > SHORT_SHARE || bound))
			continue;
		finding_add(f,
			    FINDING_AT("short_kernels", device, "kernels", share, SHORT_SHARE,
				       k.few_ns),
			    "%" PRIu64 " of %" PRIu64 " kernels of %s are shorter than 10 µs "
			    "(%.0f %% of its kernels' time)%s",
			    k.few, k.nr, device, 100 * share,
			    bound ? ", and launches limit it" : "");
	}
}

void rule_unlinked(struct findings *f)
{
	uint64_t all = f->w->linked + f->w->unlinked;
	double share = (double)f->w->unlinked / (double)all;

	if (share > UNLINKED_SHARE)
		finding_add(f,
			    FINDING_AS("unlinked_work", "", "launch_latency", share, UNLINKED_SHARE,
				       SAVES_UNKNOWN, "low"),
			    "%" PRIu64 " of %" PRIu64
			    " pieces of device work have no launch in the "
			    "recording: operators and latencies lack them",
			    f->w->unlinked, all);
}

void rule_hotspot(struct findings *f)
{
	const struct table *t = findings_table(f, "hotspot", "kernels");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double share = col_of(t, i, "share");

		if (share > HOTSPOT_SHARE && col_of(t, i, "calls") > 1)
			finding_add(f,
				    FINDING_AT("hotspot", device, "kernels", share, HOTSPOT_SHARE,
					       (int64_t)col_of(t, i, "total_ns")),
				    "%.0f %% of the work of %s is %s", 100 * share, device,
				    name_words(text_of(t, i, "name")).s);
	}
}

/* The device's first work comes long after the recording has begun. */
void rule_idle_start(struct findings *f)
{
	double all = (double)(f->m->last_ns - f->m->first_ns);

	if (f->m->windows.nr) {
		findings_skip(f, "idle_start", "a part of the recording is analysed");
		return;
	}
	for (uint32_t d = 0; d < f->w->devices.nr; d++) {
		const char *device = model_str(f->m, f->w->devices.v[d].name);
		int64_t ns = f->w->devices.v[d].first_ns - f->m->first_ns;
		double share = (double)ns / all;

		if (share > START_SHARE && ns >= START_NS)
			finding_add(
				f,
				FINDING_AT("idle_start", device, "overlap", share, START_SHARE, ns),
				"%s has its first work after %s, %.0f %% of the recording", device,
				time_words((double)ns).s, 100 * share);
	}
}

/* A device that computes while its clock is far below what it could be. */
void rule_throttling(struct findings *f)
{
	const struct table *t = findings_table(f, "throttling", "frequency");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		const char *device = text_of(t, i, "device");
		double low = col_of(t, i, "low_ns"), share = low / col_of(t, i, "busy_ns");
		double idle = col_of(t, i, "at_idle_ns");

		if (strcmp(text_of(t, i, "domain"), "core") != 0 || !(share > THROTTLED_SHARE) ||
		    !(low >= THROTTLED_NS))
			continue;
		finding_add(f,
			    FINDING_AT("throttling", device, "frequency", share, THROTTLED_SHARE,
				       (int64_t)col_of(t, i, "lost_ns")),
			    "%s computes for %s (%.0f %% of its busy time) %s: %.0f MHz on "
			    "average while busy, up to %.0f MHz",
			    device, time_words(low).s, 100 * share,
			    2 * idle > low ? "at its idle clock" : "far below its usual clock",
			    col_of(t, i, "busy_hz") / 1e6, col_of(t, i, "top_hz") / 1e6);
	}
}
