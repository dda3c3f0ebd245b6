#include "otf2_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/json_out.h"
#include "profrig/model/warnings.h"

/* Beside the way of nearly every event, which is faster for being short. */
#define RARE __attribute__((noinline))

void otf2_location_init(struct otf2_location *l, const struct otf2_reading *r, size_t index)
{
	const struct def_location *def = &r->defs.locations.v[index];

	*l = (struct otf2_location){ .r = r,
				     .index = index,
				     .track = def->track,
				     .local = &def->local,
				     .queue = def->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
				     .exact = otf2_native_exact(r),
				     .kinds = r->native.there ||
					      def->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
				     .found = { .first_ticks = UINT64_MAX } };
	otf2_clock_init(&l->clock, r->defs.resolution, r->base_ticks, r->native.base.file.base_ns);
}

/* Of the innermost call, NULL while it has nothing. */
static inline struct otf2_frame *frame_find(struct otf2_location *l)
{
	struct otf2_frame *f = l->frames.nr ? &l->frames.v[l->frames.nr - 1] : NULL;

	return f && f->depth == l->depth ? f : NULL;
}

/* Called before something is added to the innermost call. */
static struct otf2_frame *frame_get(struct otf2_location *l)
{
	if (!frame_find(l))
		VEC_PUSH(&l->frames, (struct otf2_frame){ l->depth, l->waiting.nr, NULL });
	return &l->frames.v[l->frames.nr - 1];
}

/* Its arguments are complete, and messages that came since it was entered were its. */
static RARE void frame_close(struct otf2_location *l, const struct otf2_frame *f, int64_t t_ns,
			     str_id name)
{
	span_id span;

	if (f->args) {
		CLEANUP(xfreep) char *args = xasprintf("%s}", f->args);

		l->s->ops->leave_args(l->s, l->track, sink_puts(l->s, args));
		free(f->args);
	}
	span = l->s->ops->leave(l->s, l->track, t_ns, name);
	while (l->waiting.nr > f->waiting) {
		const struct otf2_waiting *w = &l->waiting.v[--l->waiting.nr];

		*(w->what == WAITS_SEND      ? &l->found.sends.v[w->at].span
		  : w->what == WAITS_RECEIVE ? &l->found.receives.v[w->at].span
		  : w->what == WAITS_LAUNCH  ? &l->found.launches.v[w->at].span
					     : &l->found.work.v[w->at].span) = span;
	}
	l->frames.nr--;
	l->depth--;
}

/* Ends the innermost call. */
static inline void region_leave(struct otf2_location *l, uint64_t ticks, str_id name)
{
	const struct otf2_frame *f = frame_find(l);
	int64_t t_ns = otf2_time(l, ticks);

	if (__builtin_expect(f != NULL, 0)) {
		frame_close(l, f, t_ns, name);
		return;
	}
	l->depth -= l->depth > 0;
	l->s->ops->leave(l->s, l->track, t_ns, name);
}

/* Open regions are closed here and not by the sink, which does not see the records that are only
 * counted. */
void otf2_location_end(struct otf2_location *l)
{
	char text[128];

	if (l->exact) {
		otf2_native_end(l);
		return;
	}
	if (l->depth) {
		snprintf(text, sizeof(text),
			 "%zu regions are still open at the end of location %" PRIu64, l->depth,
			 l->r->defs.locations.v[l->index].ref);
		l->s->ops->warn(l->s, W_OPEN_SPAN, l->depth, text);
	}
	while (l->depth)
		region_leave(l, l->found.last_ticks, STR_NONE);
}

#define VEC_APPEND(to, from) \
	do { \
		for (size_t i_ = 0; i_ < (from)->nr; i_++) \
			VEC_PUSH((to), (from)->v[i_]); \
		VEC_RELEASE(from); \
	} while (0)

void otf2_location_gather(struct otf2_reading *r, struct otf2_location *l)
{
	struct otf2_found *all = &r->found, *one = &l->found;

	for (size_t i = 0; i < OTF2_COUNT_NR; i++)
		all->counts[i] += one->counts[i];
	all->sent_bytes += one->sent_bytes;
	all->received_bytes += one->received_bytes;
	if (one->first_ticks < all->first_ticks)
		all->first_ticks = one->first_ticks;
	if (one->last_ticks > all->last_ticks)
		all->last_ticks = one->last_ticks;
	VEC_APPEND(&all->sends, &one->sends);
	VEC_APPEND(&all->receives, &one->receives);
	VEC_APPEND(&all->launches, &one->launches);
	VEC_APPEND(&all->work, &one->work);
	VEC_APPEND(&all->requests, &one->requests);
	VEC_APPEND(&r->native.ends, &l->native.ends);
}

static void found_release(struct otf2_found *f)
{
	VEC_RELEASE(&f->sends);
	VEC_RELEASE(&f->receives);
	VEC_RELEASE(&f->launches);
	VEC_RELEASE(&f->work);
	VEC_RELEASE(&f->requests);
}

void otf2_location_release(struct otf2_location *l)
{
	for (size_t i = 0; i < l->frames.nr; i++)
		free(l->frames.v[i].args);
	VEC_RELEASE(&l->frames);
	VEC_RELEASE(&l->waiting);
	VEC_RELEASE(&l->series);
	VEC_RELEASE(&l->owners);
	u64map_release(&l->owner_of);
	u64map_release(&l->callsites_seen);
	free(l->series_run);
	pool_release(&l->pool);
	found_release(&l->found);
	otf2_native_spans_release(&l->native);
}

void otf2_reading_release(struct otf2_reading *r)
{
	found_release(&r->found);
	otf2_channels_free(r->channels);
	otf2_native_release(&r->native);
	otf2_defs_release(&r->defs);
}

/* ---- regions ---- */

static RARE const struct def_region *region_make(struct otf2_location *l, uint64_t ref,
						 struct def_region *made)
{
	char name[32];

	snprintf(name, sizeof(name), "region %" PRIu64, ref);
	sink_warnf(l->s, W_UNKNOWN_REFERENCE,
		   "region %" PRIu64 " is entered or left and not defined", ref);
	*made = (struct def_region){ .name_id = sink_puts(l->s, name), .queue_kind = SPAN_KERNEL };
	return made;
}

static inline const struct def_region *region_of(struct otf2_location *l, uint64_t ref,
						 struct def_region *made)
{
	const struct def_region *region = DEF_FIND(&l->r->defs.regions, ref);

	return __builtin_expect(region != NULL, 1) ? region : region_make(l, ref, made);
}

static inline void region_enter(struct otf2_location *l, uint64_t ref, uint64_t ticks)
{
	struct def_region made;
	const struct def_region *region = region_of(l, ref, &made);

	if (__builtin_expect(l->kinds && region->queue_kind == SPAN_INSTANT, 0)) {
		l->instant = true;
		return;
	}
	l->depth++;
	l->s->ops->enter(l->s, l->track, otf2_time(l, ticks), region->name_id, region->category_id);
	if (__builtin_expect(l->kinds, 0))
		l->s->ops->open_kind(l->s, l->track, region->queue_kind);
}

static inline void region_leave_of(struct otf2_location *l, uint64_t ref, uint64_t ticks)
{
	struct def_region made;

	if (__builtin_expect(l->instant, 0)) {
		l->instant = false;
		return;
	}
	region_leave(l, ticks, region_of(l, ref, &made)->name_id);
}

/* With unwinding, instrumented regions are recorded through the calling context they are entered
 * in. */
static uint64_t context_region(struct otf2_location *l, uint64_t ref)
{
	const struct def_name *c = DEF_FIND(&l->r->defs.contexts, ref);

	return c ? c->name : OTF2_UNDEFINED_REGION;
}

static void on_context_enter(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	uint64_t context = otf2_ref(l, OTF2_MAPPING_CALLING_CONTEXT, f);

	if (!f->bad)
		region_enter(l, context_region(l, context), ticks);
}

static void on_context_leave(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	uint64_t context = otf2_ref(l, OTF2_MAPPING_CALLING_CONTEXT, f);
	struct def_region made;

	if (!f->bad)
		region_leave(l, ticks, region_of(l, context_region(l, context), &made)->name_id);
}

/* ---- parameters: arguments of the open region, as one JSON object ---- */

#define ARGS_MAX 65536

/* text: a string value; NULL: number holds the value */
static void parameter_put(struct otf2_location *l, uint64_t ref, const char *text,
			  const char *number)
{
	const struct def_name *p = DEF_FIND(&l->r->defs.parameters, ref);
	struct strbuf sb = STRBUF_INIT;
	struct otf2_frame *f;
	const char *name;

	if (!l->r->o || !l->r->o->keep_args || l->depth == 0)
		return;
	f = frame_get(l);
	name = p ? otf2_string(&l->r->defs, p->name) : NULL;
	strbuf_addf(&sb, "%s%c", f->args ? f->args : "", f->args ? ',' : '{');
	if (name)
		json_quote(&sb, name, strlen(name));
	else
		strbuf_addf(&sb, "\"parameter %" PRIu64 "\"", ref);
	strbuf_addch(&sb, ':');
	if (text)
		json_quote(&sb, text, strlen(text));
	else
		strbuf_addstr(&sb, number);
	if (sb.len < ARGS_MAX) {
		free(f->args);
		f->args = strbuf_steal(&sb);
	} else {
		sink_warnf(l->s, W_LONG_TEXT, "arguments of a call are longer than %d bytes",
			   ARGS_MAX);
	}
	strbuf_release(&sb);
}

static void on_parameter_string(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_PARAMETER, f);
	uint64_t string = otf2_ref(l, OTF2_MAPPING_STRING, f);

	(void)ticks;
	if (!f->bad)
		parameter_put(l, ref, otf2_string(&l->r->defs, string), NULL);
}

static void on_parameter_int(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_PARAMETER, f);
	int64_t value = (int64_t)otf2_number(f, 8);
	char number[32];

	(void)ticks;
	snprintf(number, sizeof(number), "%" PRId64, value);
	if (!f->bad)
		parameter_put(l, ref, NULL, number);
}

/* Score-P marks a launch and the work it started with the number of the call's place. */
static void callsite_put(struct otf2_location *l, uint64_t ref, uint64_t value, uint64_t ticks)
{
	const struct def_name *p = DEF_FIND(&l->r->defs.parameters, ref);
	struct otf2_callsite c = {
		.id = value, .t_ns = otf2_time(l, ticks), .span = SPAN_NONE, .location = l->index
	};
	struct otf2_waiting w = { l->queue ? WAITS_WORK : WAITS_LAUNCH, 0 };

	if (!p || l->depth == 0 || l->instant || !otf2_is_callsite(&l->r->defs, p))
		return;
	if (l->s->no_links) {
		l->s->ops->callsite(l->s, l->track, c.t_ns, otf2_callsite_process(l->r, l->index),
				    value);
		return;
	}
	if (l->queue) {
		w.at = l->found.work.nr;
		VEC_PUSH(&l->found.work, c);
	} else {
		w.at = l->found.launches.nr;
		VEC_PUSH(&l->found.launches, c);
	}
	frame_get(l);
	VEC_PUSH(&l->waiting, w);
}

static void on_parameter_uint(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	struct otf2_fields again = *f;
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_PARAMETER, f), value = otf2_number(f, 8);
	char number[32];

	if (f->bad)
		return;
	if (l->exact) {
		otf2_native_parameter(l, ticks, &again);
		return;
	}
	callsite_put(l, ref, value, ticks);
	snprintf(number, sizeof(number), "%" PRIu64, value);
	parameter_put(l, ref, NULL, number);
}

void otf2_callsite_event(struct otf2_location *l, struct otf2_fields *f)
{
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_PARAMETER, f), value = otf2_number(f, 8);
	const struct def_name *p = f->bad ? NULL : DEF_FIND(&l->r->defs.parameters, ref);
	struct otf2_callsite c = { .id = value, .location = l->index };
	uint32_t *seen;

	if (!p || !otf2_is_callsite(&l->r->defs, p))
		return;
	seen = u64map_at(&l->callsites_seen, value);
	if (*seen == U64MAP_NONE && l->queue)
		VEC_PUSH(&l->found.work, c);
	else if (*seen == U64MAP_NONE)
		VEC_PUSH(&l->found.launches, c);
	*seen = 0;
}

/* ---- messages ---- */

static void message_put(struct otf2_location *l, bool receive, const struct otf2_message *m)
{
	struct otf2_waiting w = { receive ? WAITS_RECEIVE : WAITS_SEND, 0 };

	if (l->r->channels)
		otf2_message_count(l->r, m, receive, l->depth > 0);
	if (l->s->no_links)
		return;
	if (receive) {
		w.at = l->found.receives.nr;
		VEC_PUSH(&l->found.receives, *m);
	} else {
		w.at = l->found.sends.nr;
		VEC_PUSH(&l->found.sends, *m);
	}
	if (l->depth) {
		frame_get(l);
		VEC_PUSH(&l->waiting, w);
	}
}

/* A message of any of the four kinds; `more`: with the number of its request behind. */
static void message_event(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f,
			  bool receive, bool more)
{
	uint64_t *sum = receive ? &l->found.received_bytes : &l->found.sent_bytes, bytes;
	struct otf2_message m = { .location = l->index,
				  .t_ns = otf2_time(l, ticks),
				  .order_ticks = ticks,
				  .request = UINT64_MAX,
				  .span = SPAN_NONE };

	m.peer = (uint32_t)otf2_number(f, 4);
	m.comm = otf2_ref(l, OTF2_MAPPING_COMM, f);
	m.tag = (uint32_t)otf2_number(f, 4);
	bytes = otf2_number(f, 8);
	if (more)
		m.request = otf2_number(f, 8);
	if (f->bad)
		return;
	*sum += bytes;
	message_put(l, receive, &m);
}

/* The request of a send is of no use. */
static void on_mpi_send(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	message_event(l, ticks, f, false, false);
}

static void on_mpi_recv(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	message_event(l, ticks, f, true, false);
}

static void on_mpi_irecv(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	message_event(l, ticks, f, true, true);
}

static void on_mpi_irecv_request(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	uint64_t request = otf2_number(f, 8);

	if (!l->s->no_links && !f->bad)
		VEC_PUSH(&l->found.requests, (struct otf2_request){ l->index, request, ticks });
}

/* ---- kinds of records ---- */

/*
 * What a type of record is counted as, and what reads it; NULL: no analysis asks for it yet, so it
 * is only counted, and its time belongs to the range of the trace.
 */
struct kind {
	enum otf2_count count;
	void (*read)(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f);
};

static const struct kind kinds[] = {
	[0 ... 9] = { OTF2_COUNT_UNKNOWN, NULL },
	[10] = { OTF2_COUNT_BUFFER_FLUSH, NULL },
	[11] = { OTF2_COUNT_MEASUREMENT, NULL },
	[OTF2_EVENT_ENTER] = { OTF2_COUNT_ENTER, NULL },
	[OTF2_EVENT_LEAVE] = { OTF2_COUNT_LEAVE, NULL },
	[14] = { OTF2_COUNT_MPI_SEND, on_mpi_send },
	[15] = { OTF2_COUNT_MPI_ISEND, on_mpi_send },
	[16] = { OTF2_COUNT_MPI_REQUEST, NULL },
	[17] = { OTF2_COUNT_MPI_REQUEST, on_mpi_irecv_request },
	[18] = { OTF2_COUNT_MPI_RECV, on_mpi_recv },
	[19] = { OTF2_COUNT_MPI_IRECV, on_mpi_irecv },
	[20 ... 21] = { OTF2_COUNT_MPI_REQUEST, NULL },
	[22 ... 23] = { OTF2_COUNT_MPI_COLLECTIVE, NULL },
	[24 ... 30] = { OTF2_COUNT_THREAD, NULL }, /* OpenMP */
	[31] = { OTF2_COUNT_METRIC, otf2_metric_event },
	[32] = { OTF2_COUNT_PARAMETER, on_parameter_string },
	[33] = { OTF2_COUNT_PARAMETER, on_parameter_int },
	[OTF2_EVENT_PARAMETER_UINT] = { OTF2_COUNT_PARAMETER, on_parameter_uint },
	[35 ... 52] = { OTF2_COUNT_RMA, NULL },
	[53 ... 65] = { OTF2_COUNT_THREAD, NULL },
	[OTF2_EVENT_CONTEXT_ENTER] = { OTF2_COUNT_CONTEXT_ENTER, on_context_enter },
	[67] = { OTF2_COUNT_CONTEXT_LEAVE, on_context_leave },
	[68] = { OTF2_COUNT_CONTEXT_SAMPLE, NULL },
	[69 ... 82] = { OTF2_COUNT_IO, NULL },
	[83] = { OTF2_COUNT_PROGRAM_BEGIN, NULL },
	[84] = { OTF2_COUNT_PROGRAM_END, NULL },
	[85 ... 86] = { OTF2_COUNT_MPI_COLLECTIVE, NULL }, /* that do not block */
	[87 ... 88] = { OTF2_COUNT_COMM, NULL },
};

static RARE void event_read(struct otf2_location *l, const struct otf2_walk *w, uint64_t ticks,
			    struct otf2_record *r)
{
	const struct kind *k = r->type < ARRAY_LEN(kinds) ? &kinds[r->type] : &kinds[0];
	struct otf2_fields attributes = otf2_walk_attributes(w);

	if (k->read)
		k->read(l, ticks, &r->fields);
	else if (r->type == OTF2_EVENT_ENTER)
		otf2_native_enter(l, ticks, &r->fields, &attributes);
	else if (r->type == OTF2_EVENT_LEAVE)
		otf2_native_leave(l, ticks, &r->fields);
	if (!r->fields.bad)
		otf2_tick(l, k->count, ticks);
}

void otf2_event(struct otf2_location *l, const struct otf2_walk *w, struct otf2_record *r)
{
	uint64_t ticks = otf2_corrected(l, r->ticks), region;

	if (__builtin_expect(
		    (r->type != OTF2_EVENT_ENTER && r->type != OTF2_EVENT_LEAVE) || l->exact, 0)) {
		event_read(l, w, ticks, r);
		return;
	}
	region = otf2_ref(l, OTF2_MAPPING_REGION, &r->fields);
	if (__builtin_expect(r->fields.bad, 0))
		return;
	if (r->type == OTF2_EVENT_ENTER) {
		otf2_tick(l, OTF2_COUNT_ENTER, ticks);
		region_enter(l, region, ticks);
	} else {
		otf2_tick(l, OTF2_COUNT_LEAVE, ticks);
		region_leave_of(l, region, ticks);
	}
}
