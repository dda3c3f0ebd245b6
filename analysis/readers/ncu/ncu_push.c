#include "ncu_csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define MAX_SERIES 65536

void ncu_place(struct ncu *nc)
{
	int64_t at_ns = 0;

	for (size_t i = 0; i < nc->kernels.nr; i++) {
		struct ncu_kernel *k = &nc->kernels.v[i];
		int64_t dur_ns = k->dur_ns;

		nc->untimed += dur_ns == FACT_ABSENT;
		/* ends of two kernels differ: a counter's value is at its kernel's end */
		if (dur_ns == FACT_ABSENT || dur_ns == 0 || at_ns > TIME_MAX / 2) {
			at_ns = at_ns > TIME_MAX / 2 ? at_ns : at_ns + 1;
			k->dur_ns = dur_ns = 0;
		}
		at_ns += dur_ns;
		k->end_ns = at_ns;
	}
}

/* ---- tracks ---- */

static track_id process_of(struct ncu *nc, const struct csv_record *r, int64_t pid)
{
	struct csv_text name = ncu_cell(nc, r, NCU_PROCESS);
	struct track_def d = TRACK_DEF_INIT;
	CLEANUP(xfreep) char *text = xstrndup(name.p, name.n < 256 ? name.n : 256);

	if (pid < 0)
		return TRACK_NONE;
	d.kind = TRACK_PROCESS;
	d.pid = pid;
	d.name = *text ? text : NULL;
	return track_limit_make(&nc->tracks, nc->sink, &d);
}

static track_id device_of(struct ncu *nc, const char *name, int64_t device)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_DEVICE;
	d.device = name;
	d.key = (uint64_t)device + 1;
	return track_limit_make(&nc->tracks, nc->sink, &d);
}

static void device_name(int64_t device, char *buf, size_t n)
{
	snprintf(buf, n, "gpu%lld", (long long)(device < 0 ? 0 : device));
}

static uint32_t queue_of(struct ncu *nc, const struct csv_record *r)
{
	int64_t pid = ncu_cell_number(nc, r, NCU_PID), device = ncu_cell_number(nc, r, NCU_DEVICE),
		stream = ncu_cell_number(nc, r, NCU_STREAM);
	uint64_t key = mix64(mix64(mix64((uint64_t)pid) ^ (uint64_t)device) ^ (uint64_t)stream);
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at;
	char name[32];

	if (track_limit_shares(&nc->tracks, &nc->queue_at, key))
		key = 0;
	at = u64map_at(&nc->queue_at, key);
	if (*at != U64MAP_NONE)
		return *at;
	*at = (uint32_t)nc->queues.nr;
	device_name(device, name, sizeof(name));
	d.kind = TRACK_QUEUE;
	d.parent = device_of(nc, name, device);
	d.owner = process_of(nc, r, pid);
	d.device = name;
	d.pid = pid < 0 ? PID_NONE : pid;
	d.tid = stream < 0 ? PID_NONE : stream;
	d.key = key;
	VEC_PUSH(&nc->queues,
		 ((struct ncu_queue){ track_limit_make(&nc->tracks, nc->sink, &d), device }));
	return (uint32_t)nc->queues.nr - 1;
}

/* ---- kernels ---- */

/* "(256, 1, 1)", also without brackets. false: it is none. */
static bool triple_read(struct csv_text t, int64_t to[3])
{
	size_t at = 0;

	for (size_t i = 0; i < 3; i++) {
		size_t n = 0;

		while (at < t.n && strchr(" (,", t.p[at]))
			at++;
		while (at + n < t.n && t.p[at + n] >= '0' && t.p[at + n] <= '9')
			n++;
		if (n == 0 || num_i64(t.p + at, n, &to[i]) < 0)
			return false;
		at += n;
	}
	return true;
}

static str_id text_put(struct ncu *nc, struct csv_text t)
{
	struct csv_text plain = csv_unquote(t, &nc->text);
	str_id id = nc->sink->ops->string(nc->sink, plain.p, plain.n);

	if (id >= nc->newest_text) {
		nc->newest_text = id + 1;
		mem_budget_take(&nc->memory, plain.n + MEM_STRING);
	}
	return id;
}

static str_id shape_put(struct ncu *nc, const struct kernel_facts *f)
{
	struct launch_shape shape = { .v = { 0 } };

	if (!nc->opts->keep_shapes && !nc->opts->keep_args)
		return STR_NONE;
	for (size_t i = 0; i < 3; i++) {
		shape.v[LAUNCH_SHAPE_GRID + i] = f->grid[i] > 0 ? (uint64_t)f->grid[i] : 0;
		shape.v[LAUNCH_SHAPE_BLOCK + i] = f->block[i] > 0 ? (uint64_t)f->block[i] : 0;
	}
	return launch_shapes_put(&nc->shapes, nc->sink, &shape);
}

void ncu_push_kernel(struct ncu *nc, struct ncu_kernel *k, const struct csv_record *r)
{
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };
	struct span_def d = { .kind = SPAN_KERNEL };
	struct csv_text grid = ncu_cell(nc, r, NCU_GRID), block = ncu_cell(nc, r, NCU_BLOCK);
	int64_t v[3];
	span_id span;

	if (k->pushed)
		return;
	k->pushed = true;
	k->queue = queue_of(nc, r);
	if (triple_read(grid, v))
		memcpy(f.kernel.grid, v, sizeof(v));
	if (triple_read(block, v))
		memcpy(f.kernel.block, v, sizeof(v));
	f.kernel.registers = k->registers;
	f.kernel.shared_bytes = k->shared_bytes;
	d.track = nc->queues.v[k->queue].track;
	d.start_ns = k->end_ns - k->dur_ns;
	d.end_ns = k->end_ns;
	d.name = text_put(nc, ncu_cell(nc, r, NCU_KERNEL));
	d.category = sink_puts(nc->sink, "kernel");
	d.args = shape_put(nc, &f.kernel);
	span = nc->sink->ops->span(nc->sink, &d);
	if (nc->opts->facts)
		nc->sink->ops->facts(nc->sink, span, &f);
}

/* ---- values ---- */

static void series_name(const struct ncu *nc, const struct ncu_metric *m, struct strbuf *to)
{
	const char *section = intern_str(nc->names, m->section);

	strbuf_clear(to);
	if (m->several && *section)
		strbuf_addf(to, "%s: ", section);
	strbuf_addstr(to, intern_str(nc->names, m->name));
}

void ncu_push_value(struct ncu *nc, const struct ncu_kernel *k, uint32_t metric, double value,
		    const struct csv_record *r)
{
	uint64_t key = u64map_pair(k->queue, metric);
	const struct ncu_metric *m = &nc->metrics.v[metric];
	struct series_def d = { .unit = m->base, .kind = SERIES_UNKNOWN };
	char device[32];
	uint32_t *at;

	if (nc->series_at.nr >= MAX_SERIES && u64map_get(&nc->series_at, key) == U64MAP_NONE) {
		tally_byte(&nc->many, (uint64_t)(r->start - nc->map.data));
		return;
	}
	at = u64map_at(&nc->series_at, key);
	if (*at == U64MAP_NONE) {
		device_name(nc->queues.v[k->queue].device, device, sizeof(device));
		series_name(nc, m, &nc->text);
		d.name = nc->text.buf;
		d.track = nc->queues.v[k->queue].track;
		d.device = device;
		*at = nc->sink->ops->series(nc->sink, &d);
	}
	nc->sink->ops->sample(nc->sink, *at, k->end_ns, value);
}

/* "8.9" */
static void capability_read(struct csv_text t, struct device_facts *d)
{
	const char *point = t.n ? memchr(t.p, '.', t.n) : NULL;
	size_t n = point ? (size_t)(point - t.p) : 0;

	if (!point || num_i64(t.p, n, &d->capability_major) < 0 ||
	    num_i64(point + 1, t.n - n - 1, &d->capability_minor) < 0)
		d->capability_major = d->capability_minor = FACT_ABSENT;
}

void ncu_push_property(struct ncu *nc, const struct csv_record *r, const struct ncu_metric *m,
		       struct csv_text t)
{
	int64_t device = ncu_cell_number(nc, r, NCU_DEVICE);
	struct device_facts d = DEVICE_FACTS_NONE;
	uint32_t *at;

	if (nc->pass != NCU_PUSH || !nc->opts->facts || device < 0 || nc->devices.nr >= 4096 ||
	    strcmp(intern_str(nc->names, m->name), "device__attribute_display_name") != 0)
		return;
	at = u64map_at(&nc->devices, (uint64_t)device);
	if (*at != U64MAP_NONE)
		return;
	*at = 1;
	d.number = device;
	d.name = text_put(nc, t);
	capability_read(ncu_cell(nc, r, NCU_CC), &d);
	nc->sink->ops->device(nc->sink, &d);
}
