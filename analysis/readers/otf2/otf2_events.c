#include "otf2_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/json_out.h"
#include "profrig/model/warnings.h"

/* The common head of every event callback of libotf2. */
#define EVENT_HEAD \
	OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user, \
		OTF2_AttributeList *attributes
#define EVENT_UNUSED ((void)location, (void)position, (void)attributes)

/* Out of line, so that the path of nearly every event is short. */
#define RARE __attribute__((noinline))

void otf2_location_init(struct otf2_location *l, const struct otf2_reading *r, size_t index)
{
	const struct def_location *def = &r->defs.locations.v[index];

	*l = (struct otf2_location){ .r = r,
				     .index = index,
				     .track = def->track,
				     .queue = def->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
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

	if (otf2_native_exact(l->r)) {
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

static OTF2_CallbackCode on_enter(EVENT_HEAD, OTF2_RegionRef region)
{
	struct otf2_location *l = user;

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_ENTER, time);
	region_enter(l, region, time);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(EVENT_HEAD, OTF2_RegionRef region)
{
	struct otf2_location *l = user;
	struct def_region made;

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_LEAVE, time);
	if (__builtin_expect(l->instant, 0)) {
		l->instant = false;
		return OTF2_CALLBACK_SUCCESS;
	}
	region_leave(l, time, region_of(l, region, &made)->name_id);
	return OTF2_CALLBACK_SUCCESS;
}

/* With unwinding, instrumented regions are recorded through the calling context they are entered
 * in. */
static uint64_t context_region(struct otf2_location *l, uint64_t ref)
{
	const struct def_name *c = DEF_FIND(&l->r->defs.contexts, ref);

	return c ? c->name : OTF2_UNDEFINED_REGION;
}

static OTF2_CallbackCode on_context_enter(EVENT_HEAD, OTF2_CallingContextRef context,
					  uint32_t distance)
{
	struct otf2_location *l = user;

	EVENT_UNUSED;
	(void)distance;
	otf2_tick(l, OTF2_COUNT_CONTEXT_ENTER, time);
	region_enter(l, context_region(l, context), time);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context_leave(EVENT_HEAD, OTF2_CallingContextRef context)
{
	struct otf2_location *l = user;
	struct def_region made;

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_CONTEXT_LEAVE, time);
	region_leave(l, time, region_of(l, context_region(l, context), &made)->name_id);
	return OTF2_CALLBACK_SUCCESS;
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

static OTF2_CallbackCode on_parameter_string(EVENT_HEAD, OTF2_ParameterRef parameter,
					     OTF2_StringRef string)
{
	struct otf2_location *l = user;

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_PARAMETER, time);
	parameter_put(l, parameter, otf2_string(&l->r->defs, string), NULL);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter_int(EVENT_HEAD, OTF2_ParameterRef parameter, int64_t value)
{
	struct otf2_location *l = user;
	char number[32];

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_PARAMETER, time);
	snprintf(number, sizeof(number), "%" PRId64, value);
	parameter_put(l, parameter, NULL, number);
	return OTF2_CALLBACK_SUCCESS;
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

static OTF2_CallbackCode on_callsite(EVENT_HEAD, OTF2_ParameterRef parameter, uint64_t value)
{
	struct otf2_location *l = user;
	const struct def_name *p = DEF_FIND(&l->r->defs.parameters, parameter);
	struct otf2_callsite c = { .id = value, .location = l->index };
	uint32_t *seen;

	EVENT_UNUSED;
	(void)time;
	if (!p || !otf2_is_callsite(&l->r->defs, p))
		return OTF2_CALLBACK_SUCCESS;
	seen = u64map_at(&l->callsites_seen, value);
	if (*seen == U64MAP_NONE && l->queue)
		VEC_PUSH(&l->found.work, c);
	else if (*seen == U64MAP_NONE)
		VEC_PUSH(&l->found.launches, c);
	*seen = 0;
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks *otf2_callsite_callbacks(void)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

	if (c && OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(c, on_callsite) !=
			 OTF2_SUCCESS) {
		OTF2_EvtReaderCallbacks_Delete(c);
		return NULL;
	}
	return c;
}

static OTF2_CallbackCode on_parameter_uint(EVENT_HEAD, OTF2_ParameterRef parameter, uint64_t value)
{
	struct otf2_location *l = user;
	char number[32];

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_PARAMETER, time);
	callsite_put(l, parameter, value, time);
	snprintf(number, sizeof(number), "%" PRIu64, value);
	parameter_put(l, parameter, NULL, number);
	return OTF2_CALLBACK_SUCCESS;
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

static struct otf2_message message_of(struct otf2_location *l, uint64_t ticks, uint32_t peer,
				      OTF2_CommRef comm, uint32_t tag)
{
	return (struct otf2_message){ .comm = comm,
				      .peer = peer,
				      .tag = tag,
				      .location = l->index,
				      .t_ns = otf2_time(l, ticks),
				      .order_ticks = ticks,
				      .request = UINT64_MAX,
				      .span = SPAN_NONE };
}

static OTF2_CallbackCode on_mpi_send(EVENT_HEAD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
				     uint64_t length)
{
	struct otf2_location *l = user;
	struct otf2_message m = message_of(l, time, receiver, comm, tag);

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_MPI_SEND, time);
	l->found.sent_bytes += length;
	message_put(l, false, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_isend(EVENT_HEAD, uint32_t receiver, OTF2_CommRef comm,
				      uint32_t tag, uint64_t length, uint64_t request)
{
	struct otf2_location *l = user;
	struct otf2_message m = message_of(l, time, receiver, comm, tag);

	EVENT_UNUSED;
	(void)request;
	otf2_tick(l, OTF2_COUNT_MPI_ISEND, time);
	l->found.sent_bytes += length;
	message_put(l, false, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_recv(EVENT_HEAD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
				     uint64_t length)
{
	struct otf2_location *l = user;
	struct otf2_message m = message_of(l, time, sender, comm, tag);

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_MPI_RECV, time);
	l->found.received_bytes += length;
	message_put(l, true, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_irecv(EVENT_HEAD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
				      uint64_t length, uint64_t request)
{
	struct otf2_location *l = user;
	struct otf2_message m = message_of(l, time, sender, comm, tag);

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_MPI_IRECV, time);
	l->found.received_bytes += length;
	m.request = request;
	message_put(l, true, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_irecv_request(EVENT_HEAD, uint64_t request)
{
	struct otf2_location *l = user;

	EVENT_UNUSED;
	otf2_tick(l, OTF2_COUNT_MPI_REQUEST, time);
	if (!l->s->no_links)
		VEC_PUSH(&l->found.requests, (struct otf2_request){ l->index, request, time });
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks *otf2_event_callbacks(bool exact)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
	int bad = 0;

	if (!c)
		return NULL;
	bad |= otf2_count_callbacks(c);
#define ON(what, fn) (bad |= OTF2_EvtReaderCallbacks_Set##what##Callback(c, fn) != OTF2_SUCCESS)
	ON(Enter, on_enter);
	ON(Leave, on_leave);
	ON(CallingContextEnter, on_context_enter);
	ON(CallingContextLeave, on_context_leave);
	ON(Metric, otf2_on_metric);
	ON(ParameterString, on_parameter_string);
	ON(ParameterInt, on_parameter_int);
	ON(ParameterUnsignedInt, on_parameter_uint);
	ON(MpiSend, on_mpi_send);
	ON(MpiIsend, on_mpi_isend);
	ON(MpiRecv, on_mpi_recv);
	ON(MpiIrecv, on_mpi_irecv);
	ON(MpiIrecvRequest, on_mpi_irecv_request);
#undef ON
	if (exact)
		bad |= otf2_native_callbacks(c);
	if (bad) {
		OTF2_EvtReaderCallbacks_Delete(c);
		return NULL;
	}
	return c;
}
