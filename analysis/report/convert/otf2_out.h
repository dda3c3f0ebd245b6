/*
 * otf2_out: the parts of the OTF2 converter (write_otf2.c), in the order they run: places
 * (otf2_places_out.c: hosts, devices, processes and their locations), the events of each location
 * (otf2_events_out.c), with strings and regions defined at their first use (otf2_defs_out.c), and
 * last the definitions that need numbers of events.
 *
 * For every tool:
 *	clock		ticks are ns; offset = the first time, length up to the last
 *	system tree	machine → one node per host → one device node per device, with its PCI
 *			address as properties
 *	groups		PROCESS per process; ACCELERATOR per device and process that opened queues
 *			on it, that process being its creator
 *	locations	CPU_THREAD per thread, ACCELERATOR_STREAM per queue, METRIC per track of
 *			counters, else per track, device or host that series belong to. Further
 *			rows (nest_rows.h) of a track are locations "NAME (2)", "NAME (3)" …
 *	regions		one per name, category and kind of span
 *	ENTER, LEAVE	spans; instants have no length
 *	METRIC		samples, each series a class of one member
 *	attributes	of ENTER: "correlation" (uint64), "args" (string)
 *	"callsite id"	parameter, equal for a launch and the work it launched and for no other:
 *			as Score-P writes it
 *
 * For profrig's reader only (otf2_native.h):
 *	archive		property PROFRIG::FILE: native_file_text
 *	group, location	property "profrig::track": native_track_text of the track it stands for,
 *			in the order of their numbers
 *	location	property "profrig::lane of": number of the track whose spans it holds,
 *			where it does not stand for that track itself
 *	region		description: "KIND CATEGORY"
 *	metric member	reference = number of the series, description = native_series_text
 *	parameters	"profrig::launch from", "profrig::launch to" and so on: the number of a
 *			link that begins or ends at the open span, except launches with a
 *			"callsite id"
 *
 * Not exact: every text ends at its first NUL byte. A name or category is cut at half a chunk of
 * definitions (8 MiB at most), longer arguments are left out; such spans are counted as spans_out.
 */
#ifndef REPORT_OTF2_OUT_H
#define REPORT_OTF2_OUT_H

#include "native_text.h"

#include <otf2/otf2.h>

#include "profrig/base/u64map.h"
#include "profrig/report/convert.h"

#define SPAN_KINDS 6
#define LINK_KINDS 3

enum { ATTRIBUTE_CORRELATION, ATTRIBUTE_ARGS };

/* Parameters: a launch that ends at a queue, then from and to of each other kind. */
enum { PARAMETER_CALLSITE, PARAMETER_LINK, PARAMETER_NR = PARAMETER_LINK + 2 * LINK_KINDS };

/* Data of a location's definition; its reference is its index. */
struct out_location {
	uint32_t name, group; /* references */
	OTF2_LocationType type;
	uint64_t events;
	track_id track; /* of its spans; TRACK_NONE */
	bool is_track;  /* it stands for the track: profrig's reader makes the track of it */
};

/* Accelerator groups: the queues of a device that one process opened. */
struct out_group {
	uint32_t name, node, creator; /* references */
	OTF2_LocationGroupType type;
};

struct otf2_out {
	const struct model *m;
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *defs;
	OTF2_ErrorCode failed; /* the first failure; nothing is written after it */
	struct native_order order;
	int64_t base_ns;   /* origin of times */
	size_t string_max; /* longer ones do not fit a record */
	bool long_strings; /* there are longer ones */
	uint64_t spans_out, links_out;

	uint32_t *string_of; /* reference by str_id; UINT32_MAX: not defined yet */
	uint32_t strings;
	struct u64map pairs;     /* (name, category) → number */
	VEC(uint32_t) region_of; /* by number × SPAN_KINDS + kind; UINT32_MAX */
	uint32_t regions;
	uint32_t paradigms; /* defined ones, a bit each */

	uint32_t nodes;
	struct u64map host_nodes, device_nodes;   /* host, (host, device) → node */
	struct u64map pcis;                       /* (host, device) → str_id */
	struct u64map host_groups, device_groups; /* host, (device's track, owner) → group */
	uint32_t *group_of;                       /* of a process or device, by track; UINT32_MAX */
	VEC(struct out_group) groups;
	VEC(struct out_location) locations;
	uint32_t *home_of;    /* by series: the location of its samples */
	uint32_t *metric_of;  /* by series: the metric of its records */
	uint8_t *integers;    /* by series: all its values are whole numbers */
	size_t *first_series; /* by location of places, and one behind: where its series begin */
	series_id *series_at; /* by location */

	uint64_t *first_end; /* by span: where its ends of links begin; NULL without links */
	uint32_t *ends;      /* link << 1 | 1 where it ends here */
};

static inline bool otf2_out_ok(struct otf2_out *o, OTF2_ErrorCode code)
{
	if (code != OTF2_SUCCESS && o->failed == OTF2_SUCCESS)
		o->failed = code;
	return o->failed == OTF2_SUCCESS;
}

static inline OTF2_TimeStamp otf2_out_time(const struct otf2_out *o, int64_t t_ns)
{
	return (uint64_t)t_ns - (uint64_t)o->base_ns;
}

/* Whether a series is a metric class of its location, and not an instance for something else. */
static inline bool otf2_out_recorded_here(const struct series *se)
{
	return se->exclusive_sync && se->track != TRACK_NONE;
}

/* References. A string or region is defined at its first use. */
uint32_t otf2_out_string(struct otf2_out *o, str_id id);
uint32_t otf2_out_puts(struct otf2_out *o, const char *text);
uint32_t otf2_out_region(struct otf2_out *o, uint64_t span);

void otf2_out_begin(struct otf2_out *o); /* attributes, parameters */
/* Hosts, devices, groups, the locations of tracks and series; events add further rows. */
void otf2_out_places(struct otf2_out *o);
/* The node of a host, or of a device on it. */
uint32_t otf2_out_node(struct otf2_out *o, str_id host, str_id device);
void otf2_out_events(struct otf2_out *o);
void otf2_out_end(struct otf2_out *o); /* groups, locations, their properties, metrics, clock */
void otf2_out_release(struct otf2_out *o);

#endif
