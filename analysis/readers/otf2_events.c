#include "otf2_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/warnings.h"

/* The common head of every event callback of libotf2. */
#define EVENT_HEAD \
	OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user, \
		OTF2_AttributeList *attributes
#define EVENT_UNUSED ((void)location, (void)position, (void)attributes)

int64_t otf2_ns(uint64_t ticks, uint64_t resolution)
{
	uint64_t whole = ticks / resolution, rest = ticks % resolution;

	/* 2^63 ns are 292 years */
	if (whole > UINT64_C(9000000000))
		return INT64_MAX;
	/* rest × 10^9 fits 64 bits for every clock below 18 GHz */
	if (__builtin_expect(resolution < UINT64_C(18000000000), 1))
		return (int64_t)(whole * UINT64_C(1000000000) +
				 (rest * UINT64_C(1000000000) + resolution / 2) / resolution);
	return (int64_t)(whole * UINT64_C(1000000000) +
			 (uint64_t)(((unsigned __int128)rest * 1000000000 + resolution / 2) /
				    resolution));
}

void otf2_tick(struct otf2_reading *r, enum otf2_count kind, uint64_t ticks)
{
	r->counts[kind]++;
	if (ticks < r->first_ticks)
		r->first_ticks = ticks;
	if (ticks > r->last_ticks)
		r->last_ticks = ticks;
}

void otf2_location_begin(struct otf2_reading *r, size_t location)
{
	const struct def_location *l = &r->defs.locations.v[location];

	r->location = location;
	r->track = l->track;
	r->queue = l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
	r->first_ticks = UINT64_MAX;
	r->last_ticks = 0;
	VEC_CLEAR(&r->waiting);
}

/* The frame on top goes: its arguments are complete, and messages that came since it was entered
 * were its. */
static void frame_close(struct otf2_reading *r, uint64_t ticks, str_id name)
{
	struct otf2_frame *f = r->frames.nr ? &r->frames.v[r->frames.nr - 1] : NULL;
	span_id span;

	if (f && f->args) {
		CLEANUP(xfreep) char *args = xasprintf("%s}", f->args);

		r->s->ops->leave_args(r->s, r->track, sink_puts(r->s, args));
		free(f->args);
	}
	span = r->s->ops->leave(r->s, r->track, otf2_time(r, ticks), name);
	if (!f)
		return;
	while (r->waiting.nr > f->waiting) {
		const struct otf2_waiting *w = &r->waiting.v[--r->waiting.nr];

		*(w->what == WAITS_SEND      ? &r->sends.v[w->at].span
		  : w->what == WAITS_RECEIVE ? &r->receives.v[w->at].span
		  : w->what == WAITS_LAUNCH  ? &r->launches.v[w->at].span
					     : &r->work.v[w->at].span) = span;
	}
	r->frames.nr--;
}

/* Open regions are closed here and not by the sink, which does not see the records that are only
 * counted. */
void otf2_location_end(struct otf2_reading *r)
{
	const struct def_location *l = &r->defs.locations.v[r->location];
	char text[128];

	if (r->frames.nr) {
		snprintf(text, sizeof(text),
			 "%zu regions are still open at the end of location %" PRIu64, r->frames.nr,
			 l->ref);
		r->s->ops->warn(r->s, W_OPEN_SPAN, r->frames.nr, text);
	}
	while (r->frames.nr)
		frame_close(r, r->last_ticks, STR_NONE);
	if (r->first_ticks > r->last_ticks)
		return;
	if (r->first_ticks < r->min_ticks)
		r->min_ticks = r->first_ticks;
	if (r->last_ticks > r->max_ticks)
		r->max_ticks = r->last_ticks;
}

void otf2_reading_release(struct otf2_reading *r)
{
	for (size_t i = 0; i < r->frames.nr; i++)
		free(r->frames.v[i].args);
	VEC_RELEASE(&r->frames);
	VEC_RELEASE(&r->waiting);
	VEC_RELEASE(&r->sends);
	VEC_RELEASE(&r->receives);
	VEC_RELEASE(&r->launches);
	VEC_RELEASE(&r->work);
	VEC_RELEASE(&r->requests);
	VEC_RELEASE(&r->series);
	VEC_RELEASE(&r->series_owner);
	otf2_defs_release(&r->defs);
}

/* ---- regions ---- */

static const struct def_region *region_of(struct otf2_reading *r, uint64_t ref,
					  struct def_region *made)
{
	const struct def_region *region = DEF_FIND(&r->defs.regions, ref);
	char name[32];

	if (__builtin_expect(region != NULL, 1))
		return region;
	snprintf(name, sizeof(name), "region %" PRIu64, ref);
	sink_warnf(r->s, W_UNKNOWN_REFERENCE,
		   "region %" PRIu64 " is entered or left and not defined", ref);
	*made = (struct def_region){ .name_id = sink_puts(r->s, name), .queue_kind = SPAN_KERNEL };
	return made;
}

static void region_enter(struct otf2_reading *r, uint64_t ref, uint64_t ticks)
{
	struct def_region made;
	const struct def_region *region = region_of(r, ref, &made);

	r->s->ops->enter(r->s, r->track, otf2_time(r, ticks), region->name_id, region->category_id);
	if (r->queue)
		r->s->ops->open_kind(r->s, r->track, region->queue_kind);
	VEC_PUSH(&r->frames, (struct otf2_frame){ r->waiting.nr, NULL });
}

static OTF2_CallbackCode on_enter(EVENT_HEAD, OTF2_RegionRef region)
{
	struct otf2_reading *r = user;

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_ENTER, time);
	region_enter(r, region, time);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(EVENT_HEAD, OTF2_RegionRef region)
{
	struct otf2_reading *r = user;
	struct def_region made;

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_LEAVE, time);
	frame_close(r, time, region_of(r, region, &made)->name_id);
	return OTF2_CALLBACK_SUCCESS;
}

/* With unwinding, instrumented regions are recorded through the calling context they are entered
 * in. */
static uint64_t context_region(struct otf2_reading *r, uint64_t ref)
{
	const struct def_name *c = DEF_FIND(&r->defs.contexts, ref);

	return c ? c->name : OTF2_UNDEFINED_REGION;
}

static OTF2_CallbackCode on_context_enter(EVENT_HEAD, OTF2_CallingContextRef context,
					  uint32_t distance)
{
	struct otf2_reading *r = user;

	EVENT_UNUSED;
	(void)distance;
	otf2_tick(r, OTF2_COUNT_CONTEXT_ENTER, time);
	region_enter(r, context_region(r, context), time);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context_leave(EVENT_HEAD, OTF2_CallingContextRef context)
{
	struct otf2_reading *r = user;
	struct def_region made;

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_CONTEXT_LEAVE, time);
	frame_close(r, time, region_of(r, context_region(r, context), &made)->name_id);
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- parameters: arguments of the open region, as one JSON object ---- */

#define ARGS_MAX 65536

static void json_text(struct strbuf *sb, const char *text)
{
	strbuf_addch(sb, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			strbuf_addf(sb, "\\%c", c);
		else if (c < 0x20)
			strbuf_addf(sb, "\\u%04x", c);
		else
			strbuf_addch(sb, c);
	}
	strbuf_addch(sb, '"');
}

/* text: a string value; NULL: number holds the value */
static void parameter_put(struct otf2_reading *r, uint64_t ref, const char *text,
			  const char *number)
{
	const struct def_name *p = DEF_FIND(&r->defs.parameters, ref);
	struct strbuf sb = STRBUF_INIT;
	struct otf2_frame *f;

	if (!r->o || !r->o->keep_args || r->frames.nr == 0)
		return;
	f = &r->frames.v[r->frames.nr - 1];
	strbuf_addf(&sb, "%s%c", f->args ? f->args : "", f->args ? ',' : '{');
	if (p)
		json_text(&sb, otf2_string(&r->defs, p->name));
	else
		strbuf_addf(&sb, "\"parameter %" PRIu64 "\"", ref);
	strbuf_addch(&sb, ':');
	if (text)
		json_text(&sb, text);
	else
		strbuf_addstr(&sb, number);
	if (sb.len < ARGS_MAX) {
		free(f->args);
		f->args = strbuf_steal(&sb);
	}
	strbuf_release(&sb);
}

static OTF2_CallbackCode on_parameter_string(EVENT_HEAD, OTF2_ParameterRef parameter,
					     OTF2_StringRef string)
{
	struct otf2_reading *r = user;

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_PARAMETER, time);
	parameter_put(r, parameter, otf2_string(&r->defs, string), NULL);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter_int(EVENT_HEAD, OTF2_ParameterRef parameter, int64_t value)
{
	struct otf2_reading *r = user;
	char number[32];

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_PARAMETER, time);
	snprintf(number, sizeof(number), "%" PRId64, value);
	parameter_put(r, parameter, NULL, number);
	return OTF2_CALLBACK_SUCCESS;
}

/* Score-P marks a launch and the work it started with the number of the call's place. */
static void callsite_put(struct otf2_reading *r, uint64_t ref, uint64_t value, uint64_t ticks)
{
	const struct def_name *p = DEF_FIND(&r->defs.parameters, ref);
	struct otf2_callsite c = { value, otf2_time(r, ticks), SPAN_NONE };
	struct otf2_waiting w = { r->queue ? WAITS_WORK : WAITS_LAUNCH, 0 };

	if (!p || r->frames.nr == 0 || strcmp(otf2_string(&r->defs, p->name), "callsite id") != 0)
		return;
	if (r->queue) {
		w.at = r->work.nr;
		VEC_PUSH(&r->work, c);
	} else {
		w.at = r->launches.nr;
		VEC_PUSH(&r->launches, c);
	}
	VEC_PUSH(&r->waiting, w);
}

static OTF2_CallbackCode on_parameter_uint(EVENT_HEAD, OTF2_ParameterRef parameter, uint64_t value)
{
	struct otf2_reading *r = user;
	char number[32];

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_PARAMETER, time);
	callsite_put(r, parameter, value, time);
	snprintf(number, sizeof(number), "%" PRIu64, value);
	parameter_put(r, parameter, NULL, number);
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- messages ---- */

static void message_put(struct otf2_reading *r, bool receive, const struct otf2_message *m)
{
	struct otf2_waiting w = { receive ? WAITS_RECEIVE : WAITS_SEND, 0 };

	if (receive) {
		w.at = r->receives.nr;
		VEC_PUSH(&r->receives, *m);
	} else {
		w.at = r->sends.nr;
		VEC_PUSH(&r->sends, *m);
	}
	if (r->frames.nr)
		VEC_PUSH(&r->waiting, w);
}

static struct otf2_message message_of(struct otf2_reading *r, uint64_t ticks, uint32_t peer,
				      OTF2_CommRef comm, uint32_t tag)
{
	return (struct otf2_message){ .comm = comm,
				      .peer = peer,
				      .tag = tag,
				      .location = r->location,
				      .t_ns = otf2_time(r, ticks),
				      .order_ticks = ticks,
				      .request = UINT64_MAX,
				      .span = SPAN_NONE };
}

static OTF2_CallbackCode on_mpi_send(EVENT_HEAD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
				     uint64_t length)
{
	struct otf2_reading *r = user;
	struct otf2_message m = message_of(r, time, receiver, comm, tag);

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_MPI_SEND, time);
	r->sent_bytes += length;
	message_put(r, false, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_isend(EVENT_HEAD, uint32_t receiver, OTF2_CommRef comm,
				      uint32_t tag, uint64_t length, uint64_t request)
{
	struct otf2_reading *r = user;
	struct otf2_message m = message_of(r, time, receiver, comm, tag);

	EVENT_UNUSED;
	(void)request;
	otf2_tick(r, OTF2_COUNT_MPI_ISEND, time);
	r->sent_bytes += length;
	message_put(r, false, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_recv(EVENT_HEAD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
				     uint64_t length)
{
	struct otf2_reading *r = user;
	struct otf2_message m = message_of(r, time, sender, comm, tag);

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_MPI_RECV, time);
	r->received_bytes += length;
	message_put(r, true, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_irecv(EVENT_HEAD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
				      uint64_t length, uint64_t request)
{
	struct otf2_reading *r = user;
	struct otf2_message m = message_of(r, time, sender, comm, tag);

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_MPI_IRECV, time);
	r->received_bytes += length;
	m.request = request;
	message_put(r, true, &m);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mpi_irecv_request(EVENT_HEAD, uint64_t request)
{
	struct otf2_reading *r = user;

	EVENT_UNUSED;
	otf2_tick(r, OTF2_COUNT_MPI_REQUEST, time);
	VEC_PUSH(&r->requests, (struct otf2_request){ r->location, request, time });
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks *otf2_event_callbacks(void)
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
	if (bad) {
		OTF2_EvtReaderCallbacks_Delete(c);
		return NULL;
	}
	return c;
}
