/*
 * A trace is a row of packets, each a field 1 of bytes. A packet holds its time, its sequence and
 * one content, whose field number says what it is; compressed_packets hold a row of packets again.
 */
#include "perfetto.h"

#include "profrig/base/gz.h"
#include "profrig/base/progress.h"

/* Inflated; writers keep a compressed packet below 512 KiB. */
#define INFLATED_MAX ((size_t)64 << 20)
#define STEP 1024 /* packets between looks at memory and progress */

void pf_bad(struct pf *p, const char *what)
{
	if (p->survey)
		return;
	if (p->n.bad.nr == 0)
		tally_text(&p->n.bad, "packets were not understood; the first, at byte %zu: %s",
			   p->at, what);
	else
		p->n.bad.nr++;
}

/* Content that is read. */
static bool is_read(uint32_t field)
{
	switch (field) {
	case PF_FTRACE:
	case PF_PROCESS_TREE:
	case PF_SNAPSHOT:
	case PF_PROCESS_STATS:
	case PF_TRACK_EVENT:
	case PF_TRACE_STATS:
	case PF_PROCESS_OLD:
	case PF_THREAD_OLD:
	case PF_COMPRESSED:
	case PF_GPU_COUNTERS:
	case PF_GPU_STAGE:
	case PF_TRACK:
	case PF_NATIVE:
		return true;
	default:
		return false;
	}
}

static void field_take(struct pf_packet *k, const struct pb_field *f)
{
	switch (f->number) {
	case PF_TIME:
		k->time = f->u64;
		k->timed = pb_is_number(f);
		break;
	case PF_SEQUENCE:
		k->seq = (uint32_t)f->u64;
		break;
	case PF_FLAGS:
		k->flags |= (uint32_t)f->u64;
		break;
	case PF_CLEARED_OLD:
		k->flags |= f->u64 ? PF_CLEARED : 0;
		break;
	case PF_DROPPED:
		k->dropped = f->u64 != 0;
		break;
	case PF_CLOCK_ID:
		k->clock = (uint32_t)f->u64;
		break;
	case PF_PID:
		k->pid = (int32_t)f->u64;
		break;
	case PF_INTERNED:
		k->interned = pf_bytes_of(f);
		break;
	case PF_DEFAULTS:
		k->defaults = pf_bytes_of(f);
		break;
	default:
		if (pb_is_bytes(f) && (!k->kind || is_read(f->number))) {
			k->kind = f->number;
			k->body = pf_bytes_of(f);
		}
	}
}

static void packets_in(struct pf *p, struct pf_bytes b, bool inner);

static void packet_parse(struct pf *p, struct pf_bytes b, bool inner)
{
	struct pf_packet k = { .pid = PID_NONE };
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	while (pb_next(&c, &f))
		field_take(&k, &f);
	if (c.problem) {
		pf_bad(p, c.problem);
		return;
	}
	if (k.kind != PF_COMPRESSED)
		pf_packet_take(p, &k);
	else if (inner)
		pf_bad(p, "compressed packets inside compressed packets");
	else
		packets_in(p, k.body, true);
}

/* The bytes of a compressed packet, a stream of zlib; owned. */
static unsigned char *inflated(struct pf *p, struct pf_bytes b, size_t *ret_n)
{
	struct gz_inflater *z = gz_inflater_new_zlib();
	struct strbuf to = STRBUF_INIT;
	struct gz_io io = { .in = (const char *)b.p, .in_left = b.n };
	const char *why = "it ends early";
	enum gz_step step = GZ_MORE;

	while (step == GZ_MORE && to.len < INFLATED_MAX) {
		size_t left = io.in_left;

		strbuf_reserve(&to, b.n * 4 + 4096);
		io.out = to.buf + to.len;
		io.out_left = to.cap - to.len - 1;
		step = gz_inflate(z, &io, &why);
		if (step == GZ_MORE && io.out == to.buf + to.len && io.in_left == left)
			break;
		to.len = (size_t)(io.out - to.buf);
	}
	gz_inflater_free(z);
	if (step != GZ_END)
		pf_bad(p, why);
	*ret_n = to.len;
	return (unsigned char *)strbuf_steal(&to);
}

static void packets_in(struct pf *p, struct pf_bytes b, bool inner)
{
	size_t n = 0;
	CLEANUP(xfreep) unsigned char *plain = inflated(p, b, &n);
	struct pb_cursor c = pb_cursor_of(plain, n);
	struct pb_field f;

	/* what they become was paid for in fewer bytes */
	if (p->survey)
		p->budget.left += 2 * (int64_t)n;
	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_bytes(&f))
			packet_parse(p, pf_bytes_of(&f), inner);
	if (c.problem)
		pf_bad(p, c.problem);
}

static void step(struct pf *p, size_t at)
{
	p->at = at;
	if (++p->packets % STEP)
		return;
	mem_budget_read(&p->budget, at);
	progress_update(at);
}

void pf_walk(struct pf *p)
{
	const unsigned char *begin = (const unsigned char *)p->map.data;
	struct pb_cursor c = pb_cursor_of(begin, p->map.len);
	struct pb_field f;

	p->packets = 0;
	while (pb_next(&c, &f)) {
		step(p, (size_t)((f.data ? f.data : c.at) - begin));
		if (f.number == 1 && pb_is_bytes(&f))
			packet_parse(p, pf_bytes_of(&f), false);
		else
			pf_bad(p, "a field of the trace that is no packet");
	}
	mem_budget_read(&p->budget, (size_t)(c.at - begin));
	if (!c.problem || p->survey)
		return;
	p->partial = true;
	sink_warnf(p->sink, W_TRUNCATED, "%s at byte %zu of %zu: %s", p->path,
		   (size_t)(c.at - begin), p->map.len, c.problem);
}
