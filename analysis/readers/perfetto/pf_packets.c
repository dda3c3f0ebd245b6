/*
 * A trace is a row of packets, each a field 1 of bytes. A packet holds its time, its sequence and
 * one content, whose field number says what it is; compressed_packets hold a row of packets again.
 */
#include "perfetto.h"

#include <zstd.h>

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
	case PF_COMPRESSED_ZSTD:
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

static void packets_in(struct pf *p, const struct pf_packet *k);

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
	if (k.kind != PF_COMPRESSED && k.kind != PF_COMPRESSED_ZSTD)
		pf_packet_take(p, &k);
	else if (inner)
		pf_bad(p, "compressed packets inside compressed packets");
	else
		packets_in(p, &k);
}

/* Room for the next piece of what is inflated; false: there is too much of it. */
static bool room_for(struct strbuf *to, size_t packed)
{
	strbuf_reserve(to, packed * 4 + 4096);
	return to->len < INFLATED_MAX;
}

/* A stream of zlib. Returns why it is damaged, NULL: it is not. */
static const char *inflate_zlib(struct pf_bytes b, struct strbuf *to)
{
	struct gz_inflater *z = gz_inflater_new(GZ_ZLIB);
	struct gz_io io = { .in = (const char *)b.p, .in_left = b.n };
	const char *why = "compressed packets that end early";
	enum gz_step step = GZ_MORE;

	while (step == GZ_MORE && room_for(to, b.n)) {
		size_t left = io.in_left;

		io.out = to->buf + to->len;
		io.out_left = to->cap - to->len - 1;
		step = gz_inflate(z, &io, &why);
		if (step == GZ_MORE && io.out == to->buf + to->len && io.in_left == left)
			break;
		to->len = (size_t)(io.out - to->buf);
	}
	gz_inflater_free(z);
	return step == GZ_END ? NULL : why;
}

static const char *inflate_zstd(struct pf_bytes b, struct strbuf *to)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { b.p, b.n, 0 };
	const char *why = "compressed packets that end early";
	size_t r = 1;

	while (z && r != 0 && !ZSTD_isError(r) && room_for(to, b.n)) {
		ZSTD_outBuffer out = { to->buf + to->len, to->cap - to->len - 1, 0 };
		size_t at = in.pos;

		r = ZSTD_decompressStream(z, &out, &in);
		to->len += out.pos;
		if (out.pos == 0 && in.pos == at)
			break;
	}
	if (ZSTD_isError(r))
		why = ZSTD_getErrorName(r);
	ZSTD_freeDStream(z);
	return r == 0 ? NULL : why;
}

static void packets_in(struct pf *p, const struct pf_packet *k)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT;
	const char *why = k->kind == PF_COMPRESSED ? inflate_zlib(k->body, &plain)
						   : inflate_zstd(k->body, &plain);
	struct pb_cursor c = pb_cursor_of(plain.buf, plain.len);
	struct pb_field f;

	/* what they become was paid for in fewer bytes */
	if (p->survey)
		p->budget.left += 2 * (int64_t)plain.len;
	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_bytes(&f))
			packet_parse(p, pf_bytes_of(&f), true);
	if (why || c.problem)
		pf_bad(p, why ? why : c.problem);
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
