#include "otf2_defs.h"
#include "otf2_names.h"

#include <string.h>
#include <strings.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
				  uint64_t realtime)
{
	struct otf2_defs *d = user;

	d->has_clock = true;
	d->resolution = resolution;
	d->offset = offset;
	d->length = length;
	d->realtime = realtime;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->strings, (struct def_string){ self, pool_strdup(&d->pool, text ? text : "") });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_paradigm(void *user, OTF2_Paradigm paradigm, OTF2_StringRef name,
				     OTF2_ParadigmClass class)
{
	struct otf2_defs *d = user;

	(void)class;
	VEC_PUSH(&d->paradigms, (struct def_name){ paradigm, name });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
				 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->nodes, (struct def_node){ .ref = self,
					       .name = name,
					       .class_name = class_name,
					       .parent = parent,
					       .pci = { -1, -1, -1 } });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_domain(void *user, OTF2_SystemTreeNodeRef node,
				   OTF2_SystemTreeDomain domain)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->domains, (struct def_name){ node, domain });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_property(void *user, OTF2_SystemTreeNodeRef node, OTF2_StringRef name,
				     OTF2_Type type, OTF2_AttributeValue value)
{
	struct otf2_defs *d = user;

	if (type == OTF2_TYPE_STRING)
		VEC_PUSH(&d->properties, (struct def_property){ node, name, value.stringRef });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group_property(void *user, OTF2_LocationGroupRef group,
					   OTF2_StringRef name, OTF2_Type type,
					   OTF2_AttributeValue value)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->place_properties,
		 (struct def_place_property){ true, group, name, type, value });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_property(void *user, OTF2_LocationRef location,
					      OTF2_StringRef name, OTF2_Type type,
					      OTF2_AttributeValue value)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->place_properties,
		 (struct def_place_property){ false, location, name, type, value });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name,
				      OTF2_StringRef about, OTF2_Type type)
{
	struct otf2_defs *d = user;

	(void)about, (void)type;
	VEC_PUSH(&d->attributes, (struct def_name){ self, name });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_group(void *user, OTF2_LocationGroupRef self,
					   OTF2_StringRef name, OTF2_LocationGroupType type,
					   OTF2_SystemTreeNodeRef node,
					   OTF2_LocationGroupRef creator)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->location_groups, (struct def_location_group){ .ref = self,
								   .name = name,
								   .node = node,
								   .creator = creator,
								   .type = type,
								   .rank = UINT32_MAX,
								   .track = TRACK_NONE });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef group)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->locations, (struct def_location){ .ref = self,
						       .name = name,
						       .group = group,
						       .events = events,
						       .type = type,
						       .track = TRACK_NONE });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
				   OTF2_StringRef canonical, OTF2_StringRef about,
				   OTF2_RegionRole role, OTF2_Paradigm paradigm,
				   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
				   uint32_t end)
{
	struct otf2_defs *d = user;

	(void)canonical, (void)flags, (void)file, (void)begin, (void)end;
	VEC_PUSH(&d->regions, (struct def_region){ .ref = self,
						   .name = name,
						   .about = about,
						   .role = role,
						   .paradigm = paradigm });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_member(void *user, OTF2_MetricMemberRef self, OTF2_StringRef name,
				   OTF2_StringRef about, OTF2_MetricType type, OTF2_MetricMode mode,
				   OTF2_Type value_type, OTF2_Base base, int64_t exponent,
				   OTF2_StringRef unit)
{
	struct otf2_defs *d = user;

	(void)type, (void)value_type;
	VEC_PUSH(&d->members, (struct def_member){ .ref = self,
						   .name = name,
						   .unit = unit,
						   .about = about,
						   .mode = mode,
						   .exponent = exponent,
						   .base = base });
	return OTF2_CALLBACK_SUCCESS;
}

/* pool memory is never NULL, also for none */
static void *pool_dup(struct pool *p, const void *data, size_t n)
{
	void *to = pool_alloc(p, n + 1);

	if (n)
		memcpy(to, data, n);
	return to;
}

static OTF2_CallbackCode on_class(void *user, OTF2_MetricRef self, uint8_t nr,
				  const OTF2_MetricMemberRef *members,
				  OTF2_MetricOccurrence occurrence, OTF2_RecorderKind recorder)
{
	struct otf2_defs *d = user;

	(void)recorder;
	VEC_PUSH(&d->metrics,
		 (struct def_metric){ .ref = self,
				      .nr = nr,
				      .members = pool_dup(&d->pool, members, nr * sizeof(*members)),
				      .occurrence = occurrence });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_instance(void *user, OTF2_MetricRef self, OTF2_MetricRef class_ref,
				     OTF2_LocationRef recorder, OTF2_MetricScope scope_kind,
				     uint64_t scope)
{
	struct otf2_defs *d = user;

	VEC_PUSH(&d->metrics, (struct def_metric){ .ref = self,
						   .instance = true,
						   .class_ref = class_ref,
						   .recorder = recorder,
						   .scope = scope,
						   .scope_kind = scope_kind });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
				  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
				  uint32_t nr, const uint64_t *members)
{
	struct otf2_defs *d = user;

	(void)name, (void)flags;
	/* groups of regions can be large and are not used */
	if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
	    type != OTF2_GROUP_TYPE_COMM_SELF)
		return OTF2_CALLBACK_SUCCESS;
	VEC_PUSH(&d->groups, (struct def_group){ .ref = self,
						 .type = type,
						 .paradigm = paradigm,
						 .nr = nr,
						 .members = pool_dup(&d->pool, members,
								     nr * sizeof(*members)) });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
				 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct otf2_defs *d = user;

	(void)name, (void)parent, (void)flags;
	VEC_PUSH(&d->comms, (struct def_comm){ self, group });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter(void *user, OTF2_ParameterRef self, OTF2_StringRef name,
				      OTF2_ParameterType type)
{
	struct otf2_defs *d = user;

	(void)type;
	VEC_PUSH(&d->parameters, (struct def_name){ self, name });
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context(void *user, OTF2_CallingContextRef self, OTF2_RegionRef region,
				    OTF2_SourceCodeLocationRef place, OTF2_CallingContextRef parent)
{
	struct otf2_defs *d = user;

	(void)place, (void)parent;
	VEC_PUSH(&d->contexts, (struct def_name){ self, region });
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_GlobalDefReaderCallbacks *otf2_defs_callbacks(void)
{
	OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
	int bad = 0;

	if (!c)
		return NULL;
#define ON(what, fn) \
	(bad |= OTF2_GlobalDefReaderCallbacks_Set##what##Callback(c, fn) != OTF2_SUCCESS)
	ON(ClockProperties, on_clock);
	ON(String, on_string);
	ON(Paradigm, on_paradigm);
	ON(SystemTreeNode, on_node);
	ON(SystemTreeNodeDomain, on_domain);
	ON(SystemTreeNodeProperty, on_property);
	ON(LocationGroupProperty, on_group_property);
	ON(LocationProperty, on_location_property);
	ON(Attribute, on_attribute);
	ON(LocationGroup, on_location_group);
	ON(Location, on_location);
	ON(Region, on_region);
	ON(MetricMember, on_member);
	ON(MetricClass, on_class);
	ON(MetricInstance, on_instance);
	ON(Group, on_group);
	ON(Comm, on_comm);
	ON(Parameter, on_parameter);
	ON(CallingContext, on_context);
#undef ON
	if (bad) {
		OTF2_GlobalDefReaderCallbacks_Delete(c);
		return NULL;
	}
	return c;
}

static int by_ref(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Of one reference defined twice the first is kept: nothing is read twice. Returns how many are
 * left. */
static size_t def_sort(void *v, size_t nr, size_t size)
{
	char *base = v;
	size_t kept = 0;
	bool sorted = true;

	for (size_t i = 1; sorted && i < nr; i++)
		sorted = by_ref(base + (i - 1) * size, base + i * size) < 0;
	if (sorted)
		return nr;
	qsort(v, nr, size, by_ref);
	for (size_t i = 0; i < nr; i++) {
		if (kept > 0 && by_ref(base + (kept - 1) * size, base + i * size) == 0)
			continue;
		if (kept < i)
			memcpy(base + kept * size, base + i * size, size);
		kept++;
	}
	return kept;
}
#define DEF_SORT(d, vec) \
	do { \
		size_t kept_ = def_sort((vec)->v, (vec)->nr, sizeof(*(vec)->v)); \
		(d)->duplicates += (vec)->nr - kept_; \
		(vec)->nr = kept_; \
	} while (0)

/* Which process of the job a location group is: its place in the list of locations that
 * communicate. */
static void ranks_set(struct otf2_defs *d)
{
	for (size_t g = 0; g < d->groups.nr; g++) {
		const struct def_group *group = &d->groups.v[g];

		if (group->type != OTF2_GROUP_TYPE_COMM_LOCATIONS ||
		    group->paradigm != OTF2_PARADIGM_MPI)
			continue;
		for (uint32_t i = 0; i < group->nr; i++) {
			struct def_location *l = DEF_FIND(&d->locations, group->members[i]);
			struct def_location_group *lg =
				l ? DEF_FIND(&d->location_groups, l->group) : NULL;

			if (lg && lg->rank == UINT32_MAX)
				lg->rank = i;
		}
	}
}

/* Score-P's adapters for HIP and CUDA write them in decimal. */
static void pci_set(struct otf2_defs *d)
{
	static const char *const names[] = { "PCI Domain ID", "PCI Bus ID", "PCI Device ID" };

	for (size_t i = 0; i < d->properties.nr; i++) {
		const struct def_property *p = &d->properties.v[i];
		struct def_node *n = DEF_FIND(&d->nodes, p->ref);
		const char *value = otf2_string(d, p->value);
		int64_t v;

		for (size_t k = 0; n && k < ARRAY_LEN(names); k++)
			if (strcasecmp(otf2_string(d, p->name), names[k]) == 0 &&
			    num_i64(value, strlen(value), &v) == 0)
				n->pci[k] = v;
	}
}

void otf2_defs_finish(struct otf2_defs *d)
{
	DEF_SORT(d, &d->strings);
	DEF_SORT(d, &d->paradigms);
	DEF_SORT(d, &d->parameters);
	DEF_SORT(d, &d->attributes);
	DEF_SORT(d, &d->contexts);
	DEF_SORT(d, &d->nodes);
	DEF_SORT(d, &d->location_groups);
	DEF_SORT(d, &d->locations);
	DEF_SORT(d, &d->regions);
	DEF_SORT(d, &d->members);
	DEF_SORT(d, &d->metrics);
	DEF_SORT(d, &d->groups);
	DEF_SORT(d, &d->comms);
	for (size_t i = 0; i < d->domains.nr; i++) {
		struct def_node *n = DEF_FIND(&d->nodes, d->domains.v[i].ref);

		if (n && d->domains.v[i].name == OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE)
			n->device = true;
		if (n && d->domains.v[i].name == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
			n->machine = true;
	}
	ranks_set(d);
	pci_set(d);
}

void otf2_defs_release(struct otf2_defs *d)
{
	VEC_RELEASE(&d->strings);
	VEC_RELEASE(&d->paradigms);
	VEC_RELEASE(&d->parameters);
	VEC_RELEASE(&d->attributes);
	VEC_RELEASE(&d->contexts);
	VEC_RELEASE(&d->domains);
	VEC_RELEASE(&d->nodes);
	VEC_RELEASE(&d->properties);
	VEC_RELEASE(&d->place_properties);
	VEC_RELEASE(&d->location_groups);
	for (size_t i = 0; i < d->locations.nr; i++)
		VEC_RELEASE(&d->locations.v[i].local.clock);
	VEC_RELEASE(&d->locations);
	VEC_RELEASE(&d->regions);
	VEC_RELEASE(&d->members);
	VEC_RELEASE(&d->metrics);
	VEC_RELEASE(&d->groups);
	VEC_RELEASE(&d->comms);
	pool_release(&d->pool);
}

const char *otf2_string(const struct otf2_defs *d, uint64_t ref)
{
	const struct def_string *s = DEF_FIND(&d->strings, ref);

	return s ? s->text : "";
}

const char *otf2_paradigm(const struct otf2_defs *d, OTF2_Paradigm p)
{
	/* languages and tools have no definition of their own */
	static const char *const names[] = {
		[OTF2_PARADIGM_USER] = "USER",
		[OTF2_PARADIGM_COMPILER] = "COMPILER",
		[OTF2_PARADIGM_OPENMP] = "OPENMP",
		[OTF2_PARADIGM_MPI] = "MPI",
		[OTF2_PARADIGM_CUDA] = "CUDA",
		[OTF2_PARADIGM_MEASUREMENT_SYSTEM] = "MEASUREMENT_SYSTEM",
		[OTF2_PARADIGM_PTHREAD] = "PTHREAD",
		[OTF2_PARADIGM_OPENACC] = "OPENACC",
		[OTF2_PARADIGM_OPENCL] = "OPENCL",
		[OTF2_PARADIGM_SAMPLING] = "SAMPLING",
		[OTF2_PARADIGM_HIP] = "HIP",
		[OTF2_PARADIGM_KOKKOS] = "KOKKOS",
	};
	const struct def_name *def = DEF_FIND(&d->paradigms, p);

	if (def && *otf2_string(d, def->name))
		return otf2_string(d, def->name);
	return p < ARRAY_LEN(names) && names[p] ? names[p] : "";
}

/* Trees are a few levels deep; the bound is for files with a cycle of parents. */
#define TREE_DEPTH 64

const char *otf2_host(const struct otf2_defs *d, uint64_t node)
{
	const struct def_node *n = DEF_FIND(&d->nodes, node);

	for (int i = 0; n && i < TREE_DEPTH; i++) {
		if (n->machine || strcasecmp(otf2_string(d, n->class_name), "node") == 0)
			return otf2_string(d, n->name);
		n = DEF_FIND(&d->nodes, n->parent);
	}
	return "";
}

static const struct def_node *device_of(const struct otf2_defs *d, uint64_t node)
{
	const struct def_node *n = DEF_FIND(&d->nodes, node);

	for (int i = 0; n && i < TREE_DEPTH; i++) {
		if (n->device)
			return n;
		n = DEF_FIND(&d->nodes, n->parent);
	}
	return NULL;
}

int64_t otf2_node_device(const struct otf2_defs *d, uint64_t node)
{
	const struct def_node *n = device_of(d, node);

	return n ? otf2_name_device(otf2_string(d, n->name)) : -1;
}

const char *otf2_node_pci(const struct otf2_defs *d, uint64_t node, char *buf)
{
	const struct def_node *n = device_of(d, node);

	return n && model_pci(n->pci[0], n->pci[1], n->pci[2], buf) ? buf : "";
}
