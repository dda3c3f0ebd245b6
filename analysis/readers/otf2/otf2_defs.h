/*
 * otf2_defs: the definitions of one OTF2 archive, to which its event records refer by number. Read
 * once from NAME.def, then sorted by reference: a look-up is an index where references are dense,
 * else a binary search.
 */
#ifndef OTF2_DEFS_H
#define OTF2_DEFS_H

#include <otf2/otf2.h>

#include "profrig/base/pool.h"
#include "profrig/base/search.h"
#include "profrig/model/sink.h"

/* ref is the first member of each, for def_find. */
struct def_string {
	uint64_t ref;
	const char *text;
};

struct def_node {
	uint64_t ref;
	uint64_t name, class_name, parent;
	bool device;    /* domain ACCELERATOR_DEVICE */
	bool machine;   /* domain SHARED_MEMORY: one host */
	int64_t pci[3]; /* domain, bus, device of its properties; -1 */
};

struct def_location_group {
	uint64_t ref;
	uint64_t name, node, creator;
	OTF2_LocationGroupType type;
	uint32_t rank; /* UINT32_MAX unknown */
	track_id track;
};

/*
 * Local clocks are compared with the archive's now and then. Between two comparisons the difference
 * is on a straight line; before the first and after the last it goes on. ticks becomes
 * ticks + offset + slope × (ticks - begin), rounded to the nearest, half to even, as libotf2 does.
 */
struct otf2_clock_piece {
	uint64_t begin, end;
	double slope;
	int64_t offset;
};

/* What a location's own definitions say. The maps belong to libotf2's reader. */
struct otf2_local {
	const OTF2_IdMap *maps[OTF2_MAPPING_MAX]; /* from local to global references; NULL: equal */
	VEC(struct otf2_clock_piece) clock;       /* in order; empty: it is the archive's */
	bool compared;                            /* once or more: */
	uint64_t compared_ticks;
	int64_t compared_offset;
};
OTF2_DefReaderCallbacks *otf2_local_callbacks(void); /* user data: struct otf2_local */

struct def_location {
	uint64_t ref;
	uint64_t name, group, events;
	OTF2_LocationType type;
	bool missing; /* has no event file */
	track_id track;
	/* of a thread; of a queue: the one that opened it or the only one that launches onto it;
	 * TRACK_NONE */
	track_id process;
	uint32_t native; /* number of its track in an archive of profrig convert, from 1; 0 none */
	struct otf2_local local;
};

struct def_region {
	uint64_t ref;
	uint64_t name, about;
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
	/* made with the tracks */
	str_id name_id, category_id;
	enum span_kind queue_kind; /* kind of its spans on an accelerator's stream */
};

struct def_member {
	uint64_t ref;
	uint64_t name, unit, about;
	OTF2_MetricMode mode;
	int64_t exponent;
	OTF2_Base base;
};

/* Classes and instances share one number space: an event refers to either. */
struct def_metric {
	uint64_t ref;
	bool instance;
	/* class */
	uint8_t nr;
	const OTF2_MetricMemberRef *members;
	OTF2_MetricOccurrence occurrence;
	/* instance */
	uint64_t class_ref, recorder, scope;
	OTF2_MetricScope scope_kind;
};

struct def_group {
	uint64_t ref;
	OTF2_GroupType type;
	OTF2_Paradigm paradigm;
	uint32_t nr;
	const uint64_t *members;
};

struct def_comm {
	uint64_t ref;
	uint64_t group;
};

struct def_name {
	uint64_t ref;
	uint64_t name; /* a calling context: its region */
};

/* Of a node of the system tree; texts only. */
struct def_property {
	uint64_t ref;
	uint64_t name, value;
};

/* Of a location or a group of them, in the order of the file. */
struct def_place_property {
	bool group;
	uint64_t ref, name;
	OTF2_Type type;
	OTF2_AttributeValue value;
};

struct otf2_defs {
	struct pool pool;
	bool has_clock;
	uint64_t resolution, offset, length, realtime;
	VEC(struct def_string) strings;
	VEC(struct def_name) paradigms, parameters, contexts, domains, attributes;
	VEC(struct def_node) nodes;
	VEC(struct def_property) properties;
	VEC(struct def_place_property) place_properties;
	VEC(struct def_location_group) location_groups;
	VEC(struct def_location) locations;
	VEC(struct def_region) regions;
	VEC(struct def_member) members;
	VEC(struct def_metric) metrics;
	VEC(struct def_group) groups;
	VEC(struct def_comm) comms;
	uint64_t duplicates; /* references defined twice */
};

/* First element whose ref is `ref`, NULL when there is none. */
static inline void *def_find(const void *v, size_t nr, size_t size, uint64_t ref)
{
	const char *base = v;
	size_t at;

	if (__builtin_expect(ref < nr, 1) &&
	    *(const uint64_t *)(const void *)(base + ref * size) == ref)
		return (void *)(uintptr_t)(base + ref * size);
	at = LOWER_BOUND(i, 0, nr, *(const uint64_t *)(const void *)(base + i * size) < ref);
	if (at == nr || *(const uint64_t *)(const void *)(base + at * size) != ref)
		return NULL;
	return (void *)(uintptr_t)(base + at * size);
}
#define DEF_FIND(vec, ref) \
	((__typeof__((vec)->v))def_find((vec)->v, (vec)->nr, sizeof(*(vec)->v), (ref)))

void otf2_defs_release(struct otf2_defs *d);
OTF2_GlobalDefReaderCallbacks *otf2_defs_callbacks(void); /* user data: struct otf2_defs */
void otf2_defs_finish(struct otf2_defs *d);               /* after the last record: sorts */

const char *otf2_string(const struct otf2_defs *d, uint64_t ref); /* "" when unknown */
const char *otf2_paradigm(const struct otf2_defs *d, OTF2_Paradigm p);
/* The host of a system tree node, "" unknown. */
const char *otf2_host(const struct otf2_defs *d, uint64_t node);
/* Device index of a node of the system tree (or of one above it), -1. */
int64_t otf2_node_device(const struct otf2_defs *d, uint64_t node);
/* PCI address of that device (model_pci), "" unknown; buf holds 32. */
const char *otf2_node_pci(const struct otf2_defs *d, uint64_t node, char *buf);

#endif
