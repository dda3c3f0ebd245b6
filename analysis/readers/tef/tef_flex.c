/*
 * FLEX, the runtime of IBM's AIU accelerators: events of the host and of devices in one list, B and
 * E or X. An event of a device has stamps of its cycle counter, which counts modulo 2^32, in `args`
 * or `attr`, decimal or hexadecimal:
 *
 *	{"name": "add_11 Cmpt Exec", "ph": "B", "pid": 0, "tid": 15514734831341844875,
 *	 "ts": 2097962448599.869, "attr": {"TS1": "2552537956", … "TS5": "0x9831aaa7",
 *	 "Power": "3620872431"}}
 *
 *	pid	the rank, unless the file (distributedInfo) or its name (rank3) tells one
 *	name	ends in the phase of the work that the event is, and that lies between two stamps:
 *		DmaI TS1-2, Cmpt Prep TS2-3, Cmpt Exec TS3-4, DmaO TS4-5; others are all of it.
 *		Rdma in it: data goes from device to device
 *	Power	a counter of energy (tef_flex_series.c)
 *	Bytes	of a transfer
 *
 * Several signs tell the dialect: stamps, names of phases, `attr` in place of `args`, Power.
 *
 * PyTorch's profiler (torch-spyre) has the same stamps in the args of Kineto's events of devices:
 * these are Kineto's spans, with the host's times, and have facts and series as those of FLEX.
 *
 * An event with a first stamp and without all the others, or with stamps that go back, keeps the
 * host's times. Facts: the tests and the documentation of IBM's aiu-trace-analyzer.
 */
#include "tef_flex.h"

#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"

static bool text_ends(const struct json_text *t, const char *word, size_t n)
{
	return t->n >= n && memcmp(t->p + t->n - n, word, n) == 0;
}

static bool is_rdma(const struct json_text *name)
{
	return memmem(name->p, name->n, "Rdma", 4) || memmem(name->p, name->n, "RDMA", 4);
}

enum stamp_phase flex_phase_of(const struct json_text *name, bool *ret_rdma)
{
	static const struct {
		char word[12];
		uint8_t n, phase;
	} phases[] = {
		{ " Cmpt Exec", 10, PHASE_EXEC },
		{ " Cmpt Prep", 10, PHASE_PREP },
		{ " DmaI", 5, PHASE_DMA_IN },
		{ " DmaO", 5, PHASE_DMA_OUT },
	};

	*ret_rdma = false;
	for (size_t i = 0; name->p && i < ARRAY_LEN(phases); i++)
		if (text_ends(name, phases[i].word, phases[i].n)) {
			*ret_rdma = phases[i].phase != PHASE_EXEC && is_rdma(name);
			return (enum stamp_phase)phases[i].phase;
		}
	return PHASE_UNKNOWN;
}

/* ---- the dialect ---- */

unsigned tef_flex_signal(const struct tef_event *ev, bool names_only)
{
	bool rdma, phase = flex_phase_of(&ev->name, &rdma) != PHASE_UNKNOWN;
	unsigned signs = phase ? TEF_FLEX_NAMES : 0;

	if (!ev->args.p || (names_only && !phase))
		return signs;
	if (memmem(ev->args.p, ev->args.n, "\"TS1\"", 5) &&
	    memmem(ev->args.p, ev->args.n, "\"TS5\"", 5)) {
		signs |= TEF_FLEX_STAMPS;
		if (memmem(ev->args.p, ev->args.n, "\"Power\"", 7))
			signs |= TEF_FLEX_POWER;
		if (ev->attr)
			signs |= TEF_FLEX_ATTR;
	}
	return signs;
}

/* In percent. No other dialect has stamps. */
static int64_t confidence(unsigned signs)
{
	return (signs & TEF_FLEX_STAMPS ? 70 : 0) + (signs & TEF_FLEX_NAMES ? 20 : 0) +
	       (signs & TEF_FLEX_ATTR ? 5 : 0) + (signs & TEF_FLEX_POWER ? 5 : 0);
}

/* "rank3", "rank_3", "rank-3" in the file's name; RANK_NONE. */
static int32_t rank_in_name(const char *path)
{
	for (const char *p = fs_base(path); (p = strcasestr(p, "rank")) != NULL;) {
		int64_t rank;
		size_t n;

		p += 4;
		p += *p == '_' || *p == '-';
		n = strspn(p, "0123456789");
		if (n > 0 && n < 10 && num_i64(p, n, &rank) == 0)
			return (int32_t)rank;
	}
	return RANK_NONE;
}

void tef_flex_begin(struct tef *t)
{
	if (t->doc.dialect != TEF_FLEX && !t->doc.spyre)
		return;
	t->flex = xcalloc(1, sizeof(*t->flex));
	if (t->doc.rank == RANK_NONE)
		t->doc.rank = rank_in_name(t->path);
	sink_fact(t->sink, "dialect_confidence", confidence(t->signals.flex));
}

void tef_flex_release(struct tef *t)
{
	struct flex *x = t->flex;

	if (!x)
		return;
	VEC_RELEASE(&x->items);
	VEC_RELEASE(&x->stamps);
	VEC_RELEASE(&x->messages);
	VEC_RELEASE(&x->devices);
	u64map_release(&x->device_at);
	free(x);
	t->flex = NULL;
}

/* ---- stamps ---- */

static bool take_count(const struct json_text *text, uint64_t *ret)
{
	const char *p = text->p, *end = p + text->n;

	if (text->n < 3 || p[0] != '0' || (p[1] != 'x' && p[1] != 'X'))
		return num_u64(text->p, text->n, ret) == 0 && *ret < UINT64_C(1) << 62;
	*ret = 0;
	if (text->n > 17)
		return false;
	for (p += 2; p < end; p++) {
		int digit = text_hex_digit(*p);

		if (digit < 0)
			return false;
		*ret = *ret << 4 | (unsigned)digit;
	}
	return *ret < UINT64_C(1) << 62;
}

static int64_t count_or_absent(const struct json_text *text)
{
	uint64_t v;

	return take_count(text, &v) ? (int64_t)v : FACT_ABSENT;
}

/* What the args of an event have; the stamps as a bit for each. */
struct flex_args {
	unsigned has;
	struct flex_stamps s;
};

static void take_arg(struct tef *t, struct flex_args *a, const struct json_text *key,
		     const struct json_text *value)
{
	unsigned k = key->n == 3 && key->p[0] == 'T' && key->p[1] == 'S'
			     ? (unsigned)(key->p[2] - '1')
			     : STAMPS_NR;

	if (k < STAMPS_NR) {
		if (take_count(value, &a->s.cycles[k]))
			a->has |= 1U << k;
		else
			tef_bad_number(t, "stamp", value);
	} else if (json_text_is(key, "Power")) {
		a->s.power = count_or_absent(value);
	} else if (json_text_is(key, "Bytes") || json_text_is(key, "bytes")) {
		a->s.bytes = count_or_absent(value);
	}
}

static uint32_t device_of(struct flex *x, struct tef *t, const struct tef_id *pid)
{
	uint32_t *at = u64map_at(&x->device_at, tef_id_key(pid));
	struct flex_device d = { .pid = *pid, .rank = tef_rank_of(t, pid) };

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)x->devices.nr;
		tef_device_name(t, pid, d.name, sizeof(d.name));
		VEC_PUSH(&x->devices, d);
	}
	return *at;
}

/* Index + 1 of the stamps; 0: it has none. */
static uint32_t stamps_take(struct tef *t, const struct tef_id *pid, const struct json_text *args)
{
	struct flex_args a = { .s = { .power = FACT_ABSENT, .bytes = FACT_ABSENT } };
	struct flex *x = t->flex;
	struct json_text key, value;
	struct json_cur c;
	bool some = false;

	if (!json_object_of(args, &c))
		return 0;
	while (json_scalar_member(&c, &some, &key, &value) > 0)
		take_arg(t, &a, &key, &value);
	if (!(a.has & 1))
		return 0;
	a.s.whole = a.has == (1U << STAMPS_NR) - 1;
	if (!a.s.whole) {
		tally_text(&x->incomplete,
			   "events with a first stamp lack others, first at byte %zu", t->at);
	} else if (cycle_unwrap(a.s.cycles, STAMPS_NR) < 0) {
		tally_text(&x->disorder, "stamps of events go back, first at byte %zu", t->at);
		a.s.whole = false;
	}
	a.s.device = device_of(x, t, pid);
	VEC_PUSH(&x->stamps, a.s);
	return (uint32_t)x->stamps.nr;
}

/* ---- events ---- */

static void item_add(struct tef *t, const struct span_def *d, const struct flex_edge *e,
		     uint32_t place)
{
	struct flex *x = t->flex;

	if (d->end_ns < d->start_ns) {
		x->negative++;
		return;
	}
	x->zero += d->end_ns == d->start_ns;
	x->zero_cycles += d->end_ns == d->start_ns && e->stamps && x->stamps.v[e->stamps - 1].whole;
	if (e->stamps)
		x->stamps.v[e->stamps - 1].order = (int64_t)e->at;
	if (e->message)
		x->messages.v[e->message - 1].item = (uint32_t)x->items.nr;
	VEC_PUSH(&x->items, (struct flex_item){ .start_ns = d->start_ns,
						.end_ns = d->end_ns,
						.name = d->name,
						.category = d->category,
						.args = d->args,
						.place = place,
						.stamps = e->stamps,
						.span = SPAN_NONE,
						.phase = (uint8_t)e->phase,
						.rdma = e->rdma });
}

static struct flex_edge edge_of(struct tef *t, const struct tef_event *ev, bool parse)
{
	struct flex_edge e = { .args = ev->args, .at = (size_t)(ev->at - t->map.data) };

	e.phase = flex_phase_of(&ev->name, &e.rdma);
	if (e.rdma && ev->ph != 'E')
		e.message = flex_message_take(t, ev);
	if (parse)
		e.stamps = stamps_take(t, &ev->pid, &ev->args);
	return e;
}

void tef_flex_add(struct tef *t, const struct tef_event *ev, const struct span_def *d)
{
	struct flex_edge e = edge_of(t, ev, true);

	item_add(t, d, &e, tef_edge_place(t, ev));
}

void tef_flex_note(struct tef *t, const struct tef_event *ev, const struct tef_id *device,
		   const struct span_def *d, span_id span)
{
	struct flex_edge e = { .args = ev->args, .at = (size_t)(ev->at - t->map.data) };

	e.phase = flex_phase_of(&ev->name, &e.rdma);
	if (e.phase == PHASE_UNKNOWN && d->kind == SPAN_KERNEL)
		e.phase = PHASE_EXEC;
	e.stamps = stamps_take(t, device, &ev->args);
	if (e.stamps == 0 || d->end_ns < d->start_ns)
		return;
	item_add(t, d, &e, 0);
	t->flex->items.v[t->flex->items.nr - 1].span = span;
}

uint32_t tef_flex_edge(struct tef *t, const struct tef_event *ev)
{
	VEC_PUSH(&t->flex_edges, edge_of(t, ev, ev->ph == 'B'));
	return (uint32_t)t->flex_edges.nr;
}

void tef_flex_pair(struct tef *t, const struct span_def *d, uint32_t begin, uint32_t end,
		   uint32_t place)
{
	struct flex_edge e = t->flex_edges.v[begin - 1];

	if (e.stamps == 0 && end != 0) {
		t->at = t->flex_edges.v[end - 1].at;
		e.stamps = stamps_take(t, &t->edge_places.v[place].pid,
				       &t->flex_edges.v[end - 1].args);
	}
	item_add(t, d, &e, place);
}
