/*
 * GPU render stages are work on hardware queues. Names of queues and stages are interned, or listed
 * in a packet of their own (specifications), which is older. GPU counters are described by a packet
 * in front of their values.
 */
#include "perfetto.h"

#include <inttypes.h>

enum {
	RS_DURATION = 2,
	RS_QUEUE_OLD = 3,
	RS_STAGE_OLD = 4,
	RS_EXTRA = 6,
	RS_SPECIFICATIONS = 7,
	RS_SUBMISSION = 10,
	RS_GPU = 11,
	RS_QUEUE = 13,
	RS_STAGE = 14,
	RS_NAME = 17,
	RS_NAME_IID = 20,
	RS_LAUNCH = 21
};

/* Lists of queues (2) and of stages (3), in the order of their numbers. */
static void specifications_take(struct pf *p, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	uint32_t nr[2] = { 0, 0 };
	struct pb_field f, d;

	while (pb_next(&c, &f)) {
		struct pb_cursor in = pb_inside(&f);

		if ((f.number != 2 && f.number != 3) || !pb_is_bytes(&f))
			continue;
		while (pb_next(&in, &d))
			if (d.number == 1 && pb_is_bytes(&d) && pf_memory(p, d.len + 48))
				*u64map_at(&p->stage_name,
					   u64map_pair(f.number, nr[f.number - 2])) =
					pf_string(p, pf_bytes_of(&d));
		nr[f.number - 2]++;
	}
}

struct stage {
	int64_t duration_ns, gpu;
	uint64_t queue_iid, stage_iid, name_iid, submission;
	uint32_t queue, stage;
	bool specifies, old;
	str_id name;
	struct pf_bytes launch;
};

static void stage_field(struct pf *p, struct stage *s, const struct pb_field *f)
{
	switch (f->number) {
	case RS_DURATION:
		s->duration_ns = pb_int(f);
		break;
	case RS_QUEUE_OLD:
		s->queue = (uint32_t)f->u64;
		s->old = true;
		break;
	case RS_STAGE_OLD:
		s->stage = (uint32_t)f->u64;
		s->old = true;
		break;
	case RS_SPECIFICATIONS:
		specifications_take(p, pf_bytes_of(f));
		s->specifies = true;
		break;
	case RS_SUBMISSION:
		s->submission = f->u64;
		break;
	case RS_GPU:
		s->gpu = (int32_t)f->u64;
		break;
	case RS_QUEUE:
		s->queue_iid = f->u64;
		break;
	case RS_STAGE:
		s->stage_iid = f->u64;
		break;
	case RS_NAME:
		s->name = pf_string(p, pf_bytes_of(f));
		break;
	case RS_NAME_IID:
		s->name_iid = f->u64;
		break;
	case RS_LAUNCH:
		s->launch = pf_bytes_of(f);
		break;
	default:
		break;
	}
}

static void dims_take(struct pf_bytes b, int64_t *v)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number >= 1 && f.number <= 3 && pb_is_number(&f))
			v[f.number - 1] = (uint32_t)f.u64;
}

static void launch_facts(struct pf *p, struct pf_bytes b, span_id span)
{
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };
	struct pb_cursor c = pf_cursor(b);
	struct pb_field m;

	if (!b.p || !p->opts->facts || p->sink->counts_only || span == SPAN_NONE)
		return;
	while (pb_next(&c, &m))
		if (m.number == 1 && pb_is_bytes(&m))
			dims_take(pf_bytes_of(&m), f.kernel.grid);
		else if (m.number == 2 && pb_is_bytes(&m))
			dims_take(pf_bytes_of(&m), f.kernel.block);
	p->sink->ops->facts(p->sink, span, &f);
}

/* The interned name, or the one of the list. */
static str_id stage_name(struct pf *p, const struct pf_seq *q, uint64_t iid, bool queue,
			 uint32_t number)
{
	str_id id = iid ? pf_interned(p, q, PF_STAGES, iid) : STR_NONE;

	if (id == STR_NONE)
		id = u64map_get(&p->stage_name, u64map_pair(queue ? 2 : 3, number));
	return id;
}

static track_id stage_queue(struct pf *p, const struct pf_packet *k, const struct stage *s)
{
	uint64_t number = s->queue_iid ? s->queue_iid : s->queue;
	uint32_t at =
		s->queue_iid ? pf_interned(p, k->state, PF_STAGE_PARTS, s->queue_iid) : PF_IID_NONE;
	char device[32], name[32];

	snprintf(device, sizeof(device), "gpu%" PRId64, s->gpu < 0 ? 0 : s->gpu);
	snprintf(name, sizeof(name), "queue %" PRIu64, number);
	return pf_queue(p, device, PID_NONE, at == PF_IID_NONE ? name : p->parts.v[at], PID_NONE);
}

void pf_gpu_stage(struct pf *p, const struct pf_packet *k, int64_t t_ns)
{
	struct stage s = { .name = STR_NONE };
	struct pb_cursor c = pf_cursor(k->body);
	struct span_def d = { .start_ns = t_ns, .kind = SPAN_KERNEL, .args = STR_NONE };
	struct pb_field f;

	while (pb_next(&c, &f))
		stage_field(p, &s, &f);
	if (c.problem)
		pf_bad(p, c.problem);
	if (c.problem || (s.specifies && s.duration_ns == 0))
		return;
	if (!pf_memory(p, PF_SPAN_BYTES)) {
		p->n.no_memory++;
		return;
	}
	if (s.name == STR_NONE && s.name_iid)
		s.name = pf_interned(p, k->state, PF_NAMES, s.name_iid);
	d.name = s.name != STR_NONE ? s.name : stage_name(p, k->state, s.stage_iid, false, s.stage);
	d.category = stage_name(p, k->state, s.stage_iid, false, s.stage);
	d.name = d.name == STR_NONE ? sink_puts(p->sink, "render stage") : d.name;
	d.category = d.category == STR_NONE ? p->empty : d.category;
	d.track = stage_queue(p, k, &s);
	if (__builtin_add_overflow(t_ns, s.duration_ns, &d.end_ns))
		d.end_ns = INT64_MAX;
	launch_facts(p, s.launch, p->sink->ops->span(p->sink, &d));
}

/* ---- counters of GPUs ---- */

/* MeasureUnit; "bytes/s" of a numerator and a denominator. */
static const char *unit_word(uint64_t unit)
{
	static const char *const words[] = {
		[1] = "bit",         [2] = "kbit",       [3] = "Mbit",
		[4] = "Gbit",        [7] = "bytes",      [8] = "kB",
		[9] = "MB",          [10] = "GB",        [13] = "Hz",
		[14] = "kHz",        [15] = "MHz",       [16] = "GHz",
		[19] = "ns",         [20] = "us",        [21] = "ms",
		[22] = "s",          [25] = "vertices",  [26] = "pixels",
		[27] = "triangles",  [28] = "mW",        [29] = "W",
		[30] = "kW",         [31] = "J",         [32] = "V",
		[33] = "A",          [34] = "C",         [37] = "%",
		[38] = "primitives", [39] = "fragments", [40] = "instructions",
	};

	return unit < ARRAY_LEN(words) && words[unit] ? words[unit] : "";
}

static void counter_spec(struct pf *p, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	const char *above = "", *below = "";
	struct pf_bytes name = { NULL, 0 };
	struct gpu_counter g = { .name = NULL };
	uint64_t id = 0, v;
	struct pb_field f;
	uint32_t *at;

	while (pb_next(&c, &f)) {
		struct pb_packed units = pb_packed_of(&f);

		if (f.number == 1 && pb_is_number(&f))
			id = f.u64;
		else if (f.number == 2 && pb_is_bytes(&f))
			name = pf_bytes_of(&f);
		while ((f.number == 7 || f.number == 8) && pb_packed_next(&units, &v))
			*(f.number == 7 ? &above : &below) = unit_word(v);
	}
	g.name = pf_text(p, name);
	if (!g.name || !pf_memory(p, 96))
		return;
	g.unit = pool_printf(&p->texts, "%s%s%s", above, *below ? "/" : "", below);
	at = u64map_at(&p->gpu_counter_at, id);
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)p->gpu_counters.nr;
		VEC_PUSH(&p->gpu_counters, g);
	}
}

void pf_gpu_counters_describe(struct pf *p, struct pf_bytes body)
{
	struct pb_cursor c = pf_cursor(body);
	struct pb_field f, s;

	while (pb_next(&c, &f)) {
		struct pb_cursor in = pb_inside(&f);

		while (f.number == 1 && pb_next(&in, &s))
			if (s.number == 1 && pb_is_bytes(&s))
				counter_spec(p, pf_bytes_of(&s));
	}
}

static series_id counter_series(struct pf *p, uint64_t id, int64_t gpu)
{
	uint64_t key = pf_mix(id, (uint64_t)gpu + 1);
	uint32_t known = u64map_get(&p->series_at, key), spec;
	struct series_def d = { .track = TRACK_NONE };
	char device[32], name[48];

	if (known != U64MAP_NONE)
		return known;
	spec = u64map_get(&p->gpu_counter_at, id);
	snprintf(device, sizeof(device), "gpu%" PRId64, gpu);
	snprintf(name, sizeof(name), "counter %" PRIu64, id);
	d.device = device;
	d.name = spec == U64MAP_NONE ? name : p->gpu_counters.v[spec].name;
	d.unit = spec == U64MAP_NONE ? NULL : p->gpu_counters.v[spec].unit;
	return *u64map_at(&p->series_at, key) = p->sink->ops->series(p->sink, &d);
}

static void counter_push(struct pf *p, struct pf_bytes b, int64_t gpu, int64_t t_ns)
{
	struct pb_cursor c = pf_cursor(b);
	double value = 0;
	uint64_t id = 0;
	struct pb_field f;
	bool said = false;

	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f)) {
			id = f.u64;
		} else if ((f.number == 2 || f.number == 3) && pb_is_number(&f)) {
			value = pb_double(&f);
			said = true;
		}
	if (!said || c.problem)
		pf_bad(p, "a GPU counter without a value");
	else if (pf_memory(p, 200))
		p->sink->ops->sample(p->sink, counter_series(p, id, gpu), t_ns, value);
	else
		p->n.no_memory++;
}

void pf_gpu_counters(struct pf *p, const struct pf_packet *k, int64_t t_ns)
{
	struct pb_cursor c = pf_cursor(k->body), again = c;
	int64_t gpu = 0;
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == 3 && pb_is_number(&f))
			gpu = (int32_t)f.u64;
	while (pb_next(&again, &f))
		if (f.number == 2 && pb_is_bytes(&f))
			counter_push(p, pf_bytes_of(&f), gpu < 0 ? 0 : gpu, t_ns);
}
