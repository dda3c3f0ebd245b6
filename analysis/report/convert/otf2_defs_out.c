#include "otf2_out.h"

#include <string.h>
#include <strings.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/sink.h"

/* ---- strings ---- */

/* What fits, cut between characters. */
static size_t text_fitting(const struct otf2_out *o, const char *text, size_t n)
{
	if (n <= o->string_max)
		return n;
	for (n = o->string_max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

static uint32_t otf2_out_text(struct otf2_out *o, const char *text, size_t n)
{
	size_t fits = text_fitting(o, text, n);
	CLEANUP(xfreep) char *cut = fits < n ? xstrndup(text, fits) : NULL;

	if (o->failed == OTF2_SUCCESS)
		otf2_out_ok(
			o, OTF2_GlobalDefWriter_WriteString(o->defs, o->strings, cut ? cut : text));
	return o->strings++;
}

uint32_t otf2_out_puts(struct otf2_out *o, const char *text)
{
	str_id id = intern_find(o->m->strings, text, strlen(text));

	return id == STR_NONE ? otf2_out_text(o, text, strlen(text)) : otf2_out_string(o, id);
}

uint32_t otf2_out_string(struct otf2_out *o, str_id id)
{
	if (o->string_of[id] == UINT32_MAX)
		o->string_of[id] =
			otf2_out_text(o, model_str(o->m, id), intern_len(o->m->strings, id));
	return o->string_of[id];
}

/* ---- regions ---- */

static bool text_says(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word)) == 0;
}

/* By the words that tracers use: names of calls begin with those of their library. */
static OTF2_Paradigm paradigm_of(const char *name, const char *category, enum span_kind kind)
{
	if (text_says(category, "hip") || (kind == SPAN_HOST && text_says(name, "hip")))
		return OTF2_PARADIGM_HIP;
	if (text_says(category, "cuda") || (kind == SPAN_HOST && text_says(name, "cuda")))
		return OTF2_PARADIGM_CUDA;
	if (text_says(category, "mpi") || strncmp(name, "MPI_", 4) == 0)
		return OTF2_PARADIGM_MPI;
	return OTF2_PARADIGM_USER;
}

/* Languages need no definition. */
static void paradigm_define(struct otf2_out *o, OTF2_Paradigm p)
{
	static const struct {
		OTF2_Paradigm paradigm;
		OTF2_ParadigmClass class;
		const char *name;
	} known[] = {
		{ OTF2_PARADIGM_HIP, OTF2_PARADIGM_CLASS_ACCELERATOR, "HIP" },
		{ OTF2_PARADIGM_CUDA, OTF2_PARADIGM_CLASS_ACCELERATOR, "CUDA" },
		{ OTF2_PARADIGM_MPI, OTF2_PARADIGM_CLASS_PROCESS, "MPI" },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (known[i].paradigm != p || (o->paradigms >> i & 1))
			continue;
		o->paradigms |= 1U << i;
		otf2_out_ok(o, OTF2_GlobalDefWriter_WriteParadigm(o->defs, p,
								  otf2_out_puts(o, known[i].name),
								  known[i].class));
	}
}

static OTF2_RegionRole role_of(enum span_kind kind)
{
	static const OTF2_RegionRole roles[SPAN_KINDS] = {
		[SPAN_HOST] = OTF2_REGION_ROLE_FUNCTION,
		[SPAN_KERNEL] = OTF2_REGION_ROLE_FUNCTION,
		[SPAN_COPY] = OTF2_REGION_ROLE_DATA_TRANSFER,
		[SPAN_FILL] = OTF2_REGION_ROLE_DATA_TRANSFER,
		[SPAN_ANNOTATION] = OTF2_REGION_ROLE_CODE,
		[SPAN_INSTANT] = OTF2_REGION_ROLE_ARTIFICIAL,
	};

	return roles[kind];
}

static void region_write(struct otf2_out *o, str_id name, str_id category, enum span_kind kind)
{
	const char *category_text = model_str(o->m, category);
	OTF2_Paradigm paradigm = paradigm_of(model_str(o->m, name), category_text, kind);
	CLEANUP(strbuf_release) struct strbuf about = STRBUF_INIT;
	uint32_t name_ref = otf2_out_string(o, name), about_ref, none = otf2_out_string(o, 0);

	strbuf_addf(&about, "%s %s", native_span_kind_word(kind), category_text);
	about_ref = otf2_out_text(o, about.buf, about.len);
	paradigm_define(o, paradigm);
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteRegion(o->defs, o->regions, name_ref, name_ref,
							about_ref, role_of(kind), paradigm,
							OTF2_REGION_FLAG_NONE, none, 0, 0));
}

uint32_t otf2_out_region(struct otf2_out *o, uint64_t span)
{
	const struct span_columns *c = &o->m->spans;
	uint32_t *pair = u64map_at(&o->pairs, u64map_pair(c->name[span], c->category[span]));
	uint32_t *region;

	if (*pair == U64MAP_NONE) {
		*pair = (uint32_t)(o->region_of.nr / SPAN_KINDS);
		for (size_t i = 0; i < SPAN_KINDS; i++)
			VEC_PUSH(&o->region_of, UINT32_MAX);
	}
	region = &o->region_of.v[(size_t)*pair * SPAN_KINDS + c->kind[span]];
	if (*region == UINT32_MAX) {
		region_write(o, c->name[span], c->category[span], (enum span_kind)c->kind[span]);
		*region = o->regions++;
	}
	return *region;
}

/* ---- first definitions ---- */

static void attribute_define(struct otf2_out *o, uint32_t ref, const char *name, const char *about,
			     OTF2_Type type)
{
	uint32_t name_ref = otf2_out_puts(o, name), about_ref = otf2_out_puts(o, about);

	otf2_out_ok(o,
		    OTF2_GlobalDefWriter_WriteAttribute(o->defs, ref, name_ref, about_ref, type));
}

static void parameter_define(struct otf2_out *o, uint32_t ref, const char *name)
{
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteParameter(o->defs, ref, otf2_out_puts(o, name),
							   OTF2_PARAMETER_TYPE_UINT64));
}

void otf2_out_begin(struct otf2_out *o)
{
	attribute_define(o, ATTRIBUTE_CORRELATION, "correlation",
			 "equal for a call and the device work that it started", OTF2_TYPE_UINT64);
	attribute_define(o, ATTRIBUTE_ARGS, "args", "arguments, as they were recorded",
			 OTF2_TYPE_STRING);
	if (!o->m->links.nr)
		return;
	parameter_define(o, PARAMETER_CALLSITE, "callsite id");
	for (uint32_t i = 0; i < 2 * LINK_KINDS; i++) {
		CLEANUP(xfreep)
		char *name =
			xasprintf("profrig::%s %s", native_link_kind_word((enum link_kind)(i / 2)),
				  i % 2 ? "to" : "from");

		parameter_define(o, PARAMETER_LINK + i, name);
	}
}

/* ---- last definitions ---- */

static void groups_write(struct otf2_out *o)
{
	for (size_t i = 0; i < o->groups.nr; i++) {
		const struct out_group *g = &o->groups.v[i];

		otf2_out_ok(o,
			    OTF2_GlobalDefWriter_WriteLocationGroup(o->defs, (uint32_t)i, g->name,
								    g->type, g->node, g->creator));
	}
}

static void locations_write(struct otf2_out *o)
{
	for (size_t i = 0; i < o->locations.nr; i++) {
		const struct out_location *l = &o->locations.v[i];

		otf2_out_ok(o, OTF2_GlobalDefWriter_WriteLocation(o->defs, i, l->name, l->type,
								  l->events, l->group));
	}
}

static OTF2_AttributeValue track_text(struct otf2_out *o, track_id t, struct strbuf *sb)
{
	strbuf_clear(sb);
	native_track_text(o->m, &o->order, t, sb);
	return (OTF2_AttributeValue){ .stringRef = otf2_out_text(o, sb->buf, sb->len) };
}

/* In the order of the tracks' numbers: groups of processes and devices come first there too. */
static void properties_write(struct otf2_out *o)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	uint32_t is = otf2_out_puts(o, "profrig::track"), of = otf2_out_puts(o, "profrig::lane of");

	for (size_t i = 0; i < o->order.nr; i++) {
		track_id t = o->order.at[i];

		if (o->group_of[t] != UINT32_MAX)
			otf2_out_ok(o, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
					       o->defs, o->group_of[t], is, OTF2_TYPE_STRING,
					       track_text(o, t, &sb)));
	}
	for (size_t i = 0; i < o->locations.nr; i++) {
		const struct out_location *l = &o->locations.v[i];
		OTF2_AttributeValue number = { .uint32 = 0 };

		if (l->track == TRACK_NONE)
			continue;
		number.uint32 = o->order.number_of[l->track];
		otf2_out_ok(o, l->is_track ? OTF2_GlobalDefWriter_WriteLocationProperty(
						     o->defs, i, is, OTF2_TYPE_STRING,
						     track_text(o, l->track, &sb))
					   : OTF2_GlobalDefWriter_WriteLocationProperty(
						     o->defs, i, of, OTF2_TYPE_UINT32, number));
	}
}

/* Value and timing in one word. */
static OTF2_MetricMode mode_of(const struct series *se)
{
	if (se->kind == SERIES_CUMULATIVE)
		return se->change_points ? OTF2_METRIC_ACCUMULATED_NEXT
					 : OTF2_METRIC_ACCUMULATED_START;
	return se->change_points ? OTF2_METRIC_ABSOLUTE_NEXT : OTF2_METRIC_ABSOLUTE_POINT;
}

static void class_write(struct otf2_out *o, series_id s, struct strbuf *sb)
{
	const struct series *se = &o->m->series.v[s];
	uint32_t name = otf2_out_string(o, se->name), unit = otf2_out_string(o, se->unit), about;

	strbuf_clear(sb);
	native_series_text(o->m, &o->order, s, sb);
	about = otf2_out_text(o, sb->buf, sb->len);
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteMetricMember(
			       o->defs, s, name, about, OTF2_METRIC_TYPE_OTHER, mode_of(se),
			       o->integers[s] ? OTF2_TYPE_INT64 : OTF2_TYPE_DOUBLE,
			       OTF2_BASE_DECIMAL, 0, unit));
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteMetricClass(
			       o->defs, s, 1, &(OTF2_MetricMemberRef){ s },
			       otf2_out_recorded_here(se) ? OTF2_METRIC_SYNCHRONOUS_STRICT
							  : OTF2_METRIC_ASYNCHRONOUS,
			       se->device ? OTF2_RECORDER_KIND_GPU : OTF2_RECORDER_KIND_CPU));
}

/* Classes have the numbers of their series, instances the numbers after these. */
static void metrics_write(struct otf2_out *o)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const struct model *m = o->m;

	for (size_t i = 0; i < m->series.nr && o->failed == OTF2_SUCCESS; i++)
		class_write(o, (series_id)i, &sb);
	for (size_t i = 0; i < m->series.nr && o->failed == OTF2_SUCCESS; i++) {
		const struct series *se = &m->series.v[i];

		if (otf2_out_recorded_here(se))
			continue;
		otf2_out_ok(o, OTF2_GlobalDefWriter_WriteMetricInstance(
				       o->defs, o->metric_of[i], (uint32_t)i, o->home_of[i],
				       OTF2_SCOPE_SYSTEM_TREE_NODE,
				       otf2_out_node(o, se->host, se->device)));
	}
}

/* The locations that communicate: the first of each rank. Only where ranks have no holes. */
static void ranks_write(struct otf2_out *o)
{
	size_t nr = 0, all = o->locations.nr;
	CLEANUP(xfreep) uint64_t *location_of = xcalloc(all + 1, sizeof(*location_of));
	CLEANUP(xfreep) uint64_t *ranks = xcalloc(all + 1, sizeof(*ranks));
	uint32_t world, none = otf2_out_string(o, 0);

	for (size_t i = 0; i < all; i++)
		location_of[i] = UINT64_MAX;
	for (size_t i = 0; i < all; i++) {
		const struct out_location *l = &o->locations.v[i];
		int32_t rank = l->track == TRACK_NONE ? RANK_NONE : o->m->tracks.v[l->track].rank;

		if (rank == RANK_NONE || l->type != OTF2_LOCATION_TYPE_CPU_THREAD)
			continue;
		if ((size_t)rank >= all)
			return;
		nr = (size_t)rank >= nr ? (size_t)rank + 1 : nr;
		if (location_of[rank] == UINT64_MAX)
			location_of[rank] = i;
	}
	for (size_t i = 0; i < nr; i++) {
		if (location_of[i] == UINT64_MAX)
			return;
		ranks[i] = i;
	}
	if (nr == 0)
		return;
	world = otf2_out_puts(o, "MPI_COMM_WORLD");
	paradigm_define(o, OTF2_PARADIGM_MPI);
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteGroup(
			       o->defs, 0, none, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
			       OTF2_GROUP_FLAG_NONE, (uint32_t)nr, location_of));
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteGroup(o->defs, 1, none, OTF2_GROUP_TYPE_COMM_GROUP,
						       OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
						       (uint32_t)nr, ranks));
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteComm(o->defs, 0, world, 1, OTF2_UNDEFINED_COMM,
						      OTF2_COMM_FLAG_NONE));
}

/* When the first event happened in real time. */
static uint64_t realtime_of_start(const struct model *m)
{
	const struct input *in = m->inputs.nr ? &m->inputs.v[0] : NULL;
	int64_t real = m->first_ns;

	if (in && in->has_realtime_anchor && in->clock == TRACE_CLOCK_OWN)
		real = time_shift(real, time_clamp(in->anchor_realtime_ns) -
						time_clamp(in->anchor_own_ns));
	else if (!in || in->clock != TRACE_CLOCK_REALTIME)
		return OTF2_UNDEFINED_TIMESTAMP;
	return real > 0 ? (uint64_t)real : OTF2_UNDEFINED_TIMESTAMP;
}

void otf2_out_end(struct otf2_out *o)
{
	const struct model *m = o->m;

	groups_write(o);
	locations_write(o);
	properties_write(o);
	metrics_write(o);
	ranks_write(o);
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteClockProperties(
			       o->defs, 1000000000, otf2_out_time(o, m->first_ns),
			       (uint64_t)m->last_ns - (uint64_t)m->first_ns, realtime_of_start(m)));
}
