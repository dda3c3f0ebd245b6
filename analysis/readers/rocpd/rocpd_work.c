/*
 * Device work: kernel dispatches and copies, each with an event whose stack_id is that of the call
 * that caused it; and allocations. A copy is on the device it reads from, unless that is a CPU.
 * Allocations are calls too, in the table of regions; here they are annotations of their device,
 * with bytes in their arguments.
 */
#include "rocpd.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/model/warnings.h"

enum {
	D_GUID,
	D_PROCESS,
	D_AGENT,
	D_KERNEL,
	D_QUEUE,
	D_STREAM,
	D_START,
	D_END,
	D_EVENT,
	D_ID,
	D_PRIVATE,
	D_GROUP,
	D_BLOCK,
	D_GRID = D_BLOCK + 3
};

static str_id dispatch_args(struct rocpd *rc, struct sqlite_rows *q)
{
	db_args_begin(&rc->sc);
	db_args_column(&rc->sc, "dispatch", q, D_ID);
	db_args_column(&rc->sc, "queue", q, D_QUEUE);
	db_args_column(&rc->sc, "stream", q, D_STREAM);
	db_args_column(&rc->sc, "private segment", q, D_PRIVATE);
	db_args_column(&rc->sc, "group segment", q, D_GROUP);
	db_args_triple(&rc->sc, "workgroup size", q, D_BLOCK);
	db_args_triple(&rc->sc, "grid size", q, D_GRID);
	return db_args_end(&rc->sc);
}

static str_id symbol_of(struct rocpd *rc, uint32_t guid, struct sqlite_rows *q)
{
	uint32_t name = rocpd_find(rc, ROCPD_SYMBOL, guid, q, D_KERNEL);
	char made[48];

	if (name != SQLITE_ID_NONE)
		return name;
	sink_warnf(rc->sc.sink, W_UNKNOWN_REFERENCE,
		   "table '%s', row %" PRIu64 ": kernel symbol %" PRId64 " is not defined",
		   rc->sc.table, q->rows, sqlite_rows_i64_or(q, D_KERNEL, -1));
	snprintf(made, sizeof(made), "kernel %" PRId64, sqlite_rows_i64_or(q, D_KERNEL, -1));
	return sink_puts(rc->sc.sink, made);
}

static void take_event(struct rocpd *rc, uint32_t event, uint32_t process, struct span_def *d)
{
	const struct rocpd_event *ev = rocpd_event_at(rc, event);

	if (!ev)
		return;
	d->correlation = rocpd_correlation(process, ev->stack);
	if (ev->category != STR_NONE)
		d->category = ev->category;
	rocpd_event_time(rc, event, d->end_ns);
}

/* The grid counts work items. */
static void dispatch_facts(struct rocpd *rc, struct sqlite_rows *q, span_id span)
{
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };

	db_facts_triple(q, D_GRID, f.kernel.grid);
	db_facts_triple(q, D_BLOCK, f.kernel.block);
	f.kernel.grid_items = f.kernel.grid[0] != FACT_ABSENT;
	f.kernel.shared_bytes = db_fact(q, D_GROUP);
	f.kernel.local_bytes = db_fact(q, D_PRIVATE);
	db_facts_put(&rc->sc, span, &f);
}

static bool take_dispatch(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct span_def d = { .kind = SPAN_KERNEL, .category = rc->sc.category, .args = STR_NONE };
	uint32_t guid = rocpd_guid_of(rc, q, D_GUID), process, agent;

	if (!db_scan_work_times(&rc->sc, q, D_START, D_END, &d))
		return false;
	process = rocpd_process(rc, guid, q, D_PROCESS);
	agent = rocpd_agent(rc, guid, q, D_AGENT);
	d.name = symbol_of(rc, guid, q);
	take_event(rc, rocpd_find(rc, ROCPD_EVENT, guid, q, D_EVENT), process, &d);
	d.args = rc->sc.keep_args ? dispatch_args(rc, q)
				  : db_args_shape(&rc->sc, q, D_GRID, D_BLOCK);
	d.track = rocpd_queue_track(rc, guid, agent, process, q, D_STREAM, D_QUEUE);
	dispatch_facts(rc, q, rc->sc.sink->ops->span(rc->sc.sink, &d));
	return true;
}

enum {
	C_GUID,
	C_PROCESS,
	C_START,
	C_END,
	C_NAME,
	C_TO,
	C_FROM,
	C_BYTES,
	C_QUEUE,
	C_STREAM,
	C_EVENT,
};

static str_id copy_args(struct rocpd *rc, struct sqlite_rows *q, uint32_t from, uint32_t to)
{
	const char *source = rc->agents.v[from].device, *target = rc->agents.v[to].device;

	db_args_begin(&rc->sc);
	db_args_column(&rc->sc, "bytes", q, C_BYTES);
	db_args_str(&rc->sc, "source device", source, strlen(source));
	db_args_str(&rc->sc, "destination device", target, strlen(target));
	return db_args_end(&rc->sc);
}

/* Its agents say the direction. */
static void copy_facts(struct rocpd *rc, struct sqlite_rows *q, uint32_t from, uint32_t to,
		       span_id span)
{
	static const enum copy_direction by_agents[2][2] = { { COPY_H2H, COPY_H2D },
							     { COPY_D2H, COPY_D2D } };
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };

	if (!sqlite_rows_null(q, C_FROM) && !sqlite_rows_null(q, C_TO)) {
		bool gpu_from = rc->agents.v[from].gpu, gpu_to = rc->agents.v[to].gpu;

		f.copy.direction =
			gpu_from && gpu_to && from != to ? COPY_P2P : by_agents[gpu_from][gpu_to];
		f.copy.from = gpu_from ? MEMORY_DEVICE : MEMORY_UNKNOWN;
		f.copy.to = gpu_to ? MEMORY_DEVICE : MEMORY_UNKNOWN;
	}
	f.copy.bytes = db_fact(q, C_BYTES);
	db_facts_put(&rc->sc, span, &f);
}

static bool take_copy(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct span_def d = { .kind = SPAN_COPY, .category = rc->sc.category, .args = STR_NONE };
	uint32_t guid = rocpd_guid_of(rc, q, C_GUID), process, from, to;
	int64_t n;

	if (!db_scan_work_times(&rc->sc, q, C_START, C_END, &d))
		return false;
	process = rocpd_process(rc, guid, q, C_PROCESS);
	from = rocpd_agent(rc, guid, q, C_FROM);
	to = rocpd_agent(rc, guid, q, C_TO);
	d.name = rocpd_find(rc, ROCPD_STRING, guid, q, C_NAME);
	if (d.name == SQLITE_ID_NONE)
		d.name = d.category;
	take_event(rc, rocpd_find(rc, ROCPD_EVENT, guid, q, C_EVENT), process, &d);
	n = sqlite_rows_i64_or(q, C_BYTES, 0);
	if (n < 0 || n > MAX_BYTES)
		db_scan_bad(&rc->sc, q, "its number of bytes cannot be true");
	else
		rc->copied += rc->copied < MAX_BYTES ? n : 0;
	if (rc->sc.keep_args)
		d.args = copy_args(rc, q, from, to);
	d.track = rocpd_queue_track(rc, guid, rc->agents.v[from].gpu ? from : to, process, q,
				    C_STREAM, C_QUEUE);
	copy_facts(rc, q, from, to, rc->sc.sink->ops->span(rc->sc.sink, &d));
	return true;
}

enum { A_GUID, A_AGENT, A_TYPE, A_LEVEL, A_START, A_END, A_ADDRESS, A_BYTES };

static bool take_allocation(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct span_def d = { .kind = SPAN_ANNOTATION,
			      .category = rc->sc.category,
			      .args = STR_NONE };
	uint32_t guid = rocpd_guid_of(rc, q, A_GUID);
	const char *type;
	size_t n;

	if (!db_scan_times(&rc->sc, q, A_START, A_END, &d))
		return false;
	type = sqlite_rows_text(q, A_TYPE, &n);
	d.name = type ? rc->sc.sink->ops->string(rc->sc.sink, type, n) : d.category;
	if (rc->sc.keep_args) {
		db_args_begin(&rc->sc);
		db_args_column(&rc->sc, "bytes", q, A_BYTES);
		db_args_column(&rc->sc, "address", q, A_ADDRESS);
		db_args_column(&rc->sc, "level", q, A_LEVEL);
		d.args = db_args_end(&rc->sc);
	}
	d.track = rocpd_memory_track(rc, sqlite_rows_null(q, A_AGENT)
						 ? SQLITE_ID_NONE
						 : rocpd_agent(rc, guid, q, A_AGENT));
	rc->sc.sink->ops->span(rc->sc.sink, &d);
	return true;
}

void rocpd_read_work(struct rocpd *rc)
{
	static const struct db_table dispatches = {
		"kernel_dispatch",
		"guid? pid? agent_id? kernel_id? queue_id? stream_id? start end event_id? "
		"dispatch_id? private_segment_size? group_segment_size? workgroup_size_x? "
		"workgroup_size_y? workgroup_size_z? grid_size_x? grid_size_y? grid_size_z?",
		.take = take_dispatch, .fact = "kernels", .category = "KERNEL_DISPATCH"
	};
	static const struct db_table copies = {
		"memory_copy",
		"guid? pid? start end name_id? dst_agent_id? src_agent_id? size? queue_id? "
		"stream_id? event_id?",
		.take = take_copy, .fact = "copies", .category = "MEMORY_COPY"
	};
	static const struct db_table allocations = {
		"memory_allocate", "guid? agent_id? type? level? start end address? size?",
		.take = take_allocation, .fact = "allocations", .category = "MEMORY_ALLOCATION"
	};

	rocpd_table(rc, &dispatches);
	rc->copied = 0;
	if (rocpd_table(rc, &copies))
		sink_fact(rc->sc.sink, "copied_bytes", rc->copied);
	rocpd_table(rc, &allocations);
}
