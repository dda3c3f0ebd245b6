/*
 * A small builder of XSpace files, and one that the tests share.
 *
 *	struct strbuf b = STRBUF_INIT;
 *	size_t plane = xs_plane(&b, "/device:GPU:0"), line = xs_line(&b, 7, "Stream #7", 100);
 *	size_t event = xs_event(&b, KERNEL, 0, 5000);		ps
 *	xs_number(&b, CORRELATION, 3);				a stat
 *	pb_close(&b, event); …
 *	xs_row(&b, XS_EVENTS, KERNEL, "gemm");			a row of the plane's tables
 *	pb_close(&b, line); pb_close(&b, plane);
 */
#ifndef XPLANE_FIXTURE_H
#define XPLANE_FIXTURE_H

#include "profrig/base/protobuf.h"

enum { XS_EVENTS = 4, XS_STATS = 5 };

static inline size_t xs_plane(struct strbuf *b, const char *name)
{
	size_t plane = pb_open(b, 1);

	pb_put_u64(b, 1, 1);
	pb_put_str(b, 2, name);
	return plane;
}

static inline size_t xs_line(struct strbuf *b, uint64_t id, const char *name, int64_t start_ns)
{
	size_t line = pb_open(b, 3);

	pb_put_u64(b, 1, id);
	pb_put_str(b, 2, name);
	pb_put_u64(b, 3, (uint64_t)start_ns);
	return line;
}

static inline size_t xs_event(struct strbuf *b, uint64_t meta, int64_t offset_ps,
			      int64_t duration_ps)
{
	size_t event = pb_open(b, 4);

	pb_put_u64(b, 1, meta);
	pb_put_u64(b, 2, (uint64_t)offset_ps);
	pb_put_u64(b, 3, (uint64_t)duration_ps);
	return event;
}

/* An event without stats. */
static inline void xs_plain(struct strbuf *b, uint64_t meta, int64_t offset_ps, int64_t duration_ps)
{
	pb_close(b, xs_event(b, meta, offset_ps, duration_ps));
}

/* One stat of an event; field 5 of rows, 6 of planes. */
static inline void xs_stat(struct strbuf *b, uint32_t field, uint64_t meta, uint32_t value_field,
			   uint64_t v, const char *text)
{
	size_t stat = pb_open(b, field);

	pb_put_u64(b, 1, meta);
	if (text)
		pb_put_str(b, value_field, text);
	else
		pb_put_u64(b, value_field, v);
	pb_close(b, stat);
}

static inline void xs_number(struct strbuf *b, uint64_t meta, uint64_t v)
{
	xs_stat(b, 4, meta, 3, v, NULL);
}

static inline void xs_text(struct strbuf *b, uint64_t meta, const char *text)
{
	xs_stat(b, 4, meta, 5, 0, text);
}

static inline void xs_ref(struct strbuf *b, uint64_t meta, uint64_t row)
{
	xs_stat(b, 4, meta, 7, row, NULL);
}

static inline void xs_real(struct strbuf *b, uint32_t field, uint64_t meta, double v)
{
	size_t stat = pb_open(b, field);

	pb_put_u64(b, 1, meta);
	pb_put_double(b, 2, v);
	pb_close(b, stat);
}

/* Opens a row, so that it can get stats; the caller closes row, then entry. */
struct xs_row {
	size_t entry, row;
};

static inline struct xs_row xs_row_open(struct strbuf *b, uint32_t table, uint64_t id,
					const char *name)
{
	struct xs_row r = { .entry = pb_open(b, table) };

	pb_put_u64(b, 1, id);
	r.row = pb_open(b, 2);
	pb_put_u64(b, 1, id);
	pb_put_str(b, 2, name);
	return r;
}

static inline void xs_row_close(struct strbuf *b, struct xs_row r)
{
	pb_close(b, r.row);
	pb_close(b, r.entry);
}

static inline void xs_row(struct strbuf *b, uint32_t table, uint64_t id, const char *name)
{
	xs_row_close(b, xs_row_open(b, table, id, name));
}

/* One plane of a GPU: a kernel and a copy. */
static inline void xs_small(struct strbuf *b)
{
	size_t plane, line, event;

	pb_put_str(b, 4, "node1");
	plane = xs_plane(b, "/device:GPU:0");
	line = xs_line(b, 7, "Stream #7(Compute,MemcpyH2D)", 1000);
	event = xs_event(b, 1, 2000, 5000);
	xs_number(b, 1, 11);
	xs_ref(b, 2, 10);
	xs_text(b, 3, "jit_f");
	xs_text(b, 4, "fusion.1");
	pb_close(b, event);
	event = xs_event(b, 2, 8000, 1500);
	xs_number(b, 1, 12);
	xs_ref(b, 5, 11);
	pb_close(b, event);
	pb_close(b, line);
	xs_row(b, XS_EVENTS, 1, "gemm");
	xs_row(b, XS_EVENTS, 2, "MemcpyH2D");
	xs_row(b, XS_STATS, 1, "correlation_id");
	xs_row(b, XS_STATS, 2, "kernel_details");
	xs_row(b, XS_STATS, 3, "hlo_module");
	xs_row(b, XS_STATS, 4, "hlo_op");
	xs_row(b, XS_STATS, 5, "memcpy_details");
	xs_row(b, XS_STATS, 10,
	       "regs:32 static_shared:16 dynamic_shared:100 grid:4,2,1 block:256,1,1 occ_pct:50");
	xs_row(b, XS_STATS, 11, "kind_src:pinned kind_dst:device size:4096 dest:0 async:1");
	pb_close(b, plane);
}

#endif
