/*
 * Device work. Kernels, copies and fills have the correlationId of the call that launched them. All
 * nodes of a graph have that of the graph's launch (and their graphNodeId); where graphs were
 * traced as a whole, CUPTI_ACTIVITY_KIND_GRAPH_TRACE has one row per launch. Waiting for a stream
 * or event (SYNCHRONIZATION) is no work but is shown on its queue.
 */
#include "nsys.h"

#include <string.h>

/* The columns that all tables of device activity begin with here. */
#define WORK_COLUMNS "start end deviceId contextId? streamId? correlationId? globalPid? "
enum { W_START, W_END, W_DEVICE, W_CONTEXT, W_STREAM, W_CORRELATION, W_PROCESS, W_OWN };

struct nsys_position {
	int64_t device, context, stream, correlation, process;
};

/* False: the row is left out. */
static bool position_take(struct nsys *ns, struct sqlite_rows *q, struct span_def *d,
			  struct nsys_position *p)
{
	if (!db_scan_work_times(&ns->sc, q, W_START, W_END, d))
		return false;
	p->device = sqlite_rows_i64_or(q, W_DEVICE, -1);
	p->context = sqlite_rows_i64_or(q, W_CONTEXT, 0);
	p->stream = sqlite_rows_i64_or(q, W_STREAM, -1);
	p->correlation = sqlite_rows_i64_or(q, W_CORRELATION, 0);
	p->process = sqlite_rows_i64_or(q, W_PROCESS, 0);
	d->correlation = nsys_correlation(ns, p->process, p->correlation);
	d->category = ns->sc.category;
	d->args = STR_NONE;
	return true;
}

/* f: what else its row states; NULL: nothing. */
static bool work_push(struct nsys *ns, const struct nsys_position *p, struct span_def *d,
		      const struct span_facts *f)
{
	span_id span;

	d->track = nsys_queue(ns, p->process, p->device, p->context, p->stream);
	span = ns->sc.sink->ops->span(ns->sc.sink, d);
	if (f)
		db_facts_put(&ns->sc, span, f);
	return true;
}

static void args_put_position(struct nsys *ns, const struct nsys_position *p)
{
	db_args_begin(&ns->sc);
	db_args_i64(&ns->sc, "device", p->device);
	db_args_i64(&ns->sc, "context", p->context);
	db_args_i64(&ns->sc, "stream", p->stream);
	db_args_i64(&ns->sc, "correlation", p->correlation);
}

/* ---- kernels ---- */

enum {
	K_DEMANGLED = W_OWN,
	K_SHORT,
	K_MANGLED,
	K_NODE,
	K_REGISTERS,
	K_STATIC,
	K_DYNAMIC,
	K_GRID,
	K_BLOCK = K_GRID + 3,
	K_LOCAL = K_BLOCK + 3,
	K_GRAPH,
};

#define KERNEL \
	WORK_COLUMNS \
	"demangledName? shortName? mangledName? graphNodeId? registersPerThread? " \
	"staticSharedMemory? dynamicSharedMemory? gridX? gridY? gridZ? blockX? blockY? " \
	"blockZ? localMemoryPerThread? graphId?"

static str_id kernel_args(struct nsys *ns, struct sqlite_rows *q, const struct nsys_position *p)
{
	const char *name = sqlite_strings_text(&ns->strings, sqlite_rows_i64_or(q, K_SHORT, -1));

	args_put_position(ns, p);
	if (name)
		db_args_str(&ns->sc, "short name", name, strlen(name));
	db_args_column(&ns->sc, "registers per thread", q, K_REGISTERS);
	db_args_i64(&ns->sc, "shared memory",
		    (int64_t)((uint64_t)sqlite_rows_i64_or(q, K_STATIC, 0) +
			      (uint64_t)sqlite_rows_i64_or(q, K_DYNAMIC, 0)));
	db_args_triple(&ns->sc, "grid", q, K_GRID);
	db_args_triple(&ns->sc, "block", q, K_BLOCK);
	db_args_column(&ns->sc, "graph node id", q, K_NODE);
	return db_args_end(&ns->sc);
}

/* The full name distinguishes template instances; files of old schemas may lack it. */
static str_id kernel_name(struct nsys *ns, struct sqlite_rows *q)
{
	static const int cols[] = { K_DEMANGLED, K_SHORT, K_MANGLED };
	int64_t id;

	for (size_t i = 0; i < ARRAY_LEN(cols); i++) {
		str_id s = sqlite_rows_i64(q, cols[i], &id) ? sqlite_strings_id(&ns->strings, id)
							    : STR_NONE;

		if (s != STR_NONE)
			return s;
	}
	return nsys_string(ns, q, K_DEMANGLED, ns->sc.category);
}

static struct span_facts kernel_facts(struct sqlite_rows *q)
{
	struct span_facts f = { .kind = FACTS_KERNEL };
	int64_t fixed = db_fact(q, K_STATIC), dynamic = db_fact(q, K_DYNAMIC);

	f.kernel = KERNEL_FACTS_NONE;
	db_facts_triple(q, K_GRID, f.kernel.grid);
	db_facts_triple(q, K_BLOCK, f.kernel.block);
	f.kernel.registers = db_fact(q, K_REGISTERS);
	if (fixed != FACT_ABSENT &&
	    __builtin_add_overflow(fixed, dynamic == FACT_ABSENT ? 0 : dynamic,
				   &f.kernel.shared_bytes))
		f.kernel.shared_bytes = INT64_MAX;
	f.kernel.local_bytes = db_fact(q, K_LOCAL);
	f.kernel.graph = db_fact(q, K_GRAPH);
	f.kernel.graph_node = db_fact(q, K_NODE);
	return f;
}

static bool take_kernel(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct span_def d = { .kind = SPAN_KERNEL };
	struct nsys_position p;
	struct span_facts f;

	if (!position_take(ns, q, &d, &p))
		return false;
	d.name = kernel_name(ns, q);
	f = kernel_facts(q);
	if (d.correlation && !sqlite_rows_null(q, K_NODE))
		*u64map_at(&ns->graphs, d.correlation) = 1;
	d.args = ns->sc.keep_args ? kernel_args(ns, q, &p)
				  : db_args_shape(&ns->sc, q, K_GRID, K_BLOCK);
	return work_push(ns, &p, &d, &f);
}

/* ---- copies and fills ---- */

static const char *const copy_kinds[NSYS_COPY_KINDS] = {
	"Unknown",
	"Host-to-Device",
	"Device-to-Host",
	"Host-to-Array",
	"Array-to-Host",
	"Array-to-Array",
	"Array-to-Device",
	"Device-to-Array",
	"Device-to-Device",
	"Host-to-Host",
	"Peer-to-Peer",
	"Unified Host-to-Device",
	"Unified Device-to-Host",
	"Unified Device-to-Device",
};

static const char *const memory_kinds[] = {
	"Pageable", "Pinned",        "Device",         "Array",
	"Managed",  "Device Static", "Managed Static", "Unknown",
};

/* By copyKind. */
static const enum copy_direction copy_directions[NSYS_COPY_KINDS] = {
	COPY_UNKNOWN, COPY_H2D, COPY_D2H, COPY_H2D, COPY_D2H, COPY_D2D, COPY_D2D,
	COPY_D2D,     COPY_D2D, COPY_H2H, COPY_P2P, COPY_H2D, COPY_D2H, COPY_D2D,
};

static enum memory_kind memory_of(struct sqlite_rows *q, int col)
{
	static const enum memory_kind known[] = { MEMORY_PAGEABLE, MEMORY_PINNED,  MEMORY_DEVICE,
						  MEMORY_ARRAY,    MEMORY_MANAGED, MEMORY_DEVICE,
						  MEMORY_MANAGED };
	int64_t kind = sqlite_rows_i64_or(q, col, -1);

	return kind >= 0 && (uint64_t)kind < ARRAY_LEN(known) ? known[kind] : MEMORY_UNKNOWN;
}

enum { C_BYTES = W_OWN, C_KIND, C_FROM, C_TO, C_FROM_DEVICE, C_TO_DEVICE, C_NODE };

#define COPY \
	WORK_COLUMNS "bytes? copyKind? srcKind? dstKind? srcDeviceId? dstDeviceId? graphNodeId?"

static const char *word_of(const char *const *words, size_t n, int64_t i)
{
	return i >= 0 && (uint64_t)i < n ? words[i] : "Unknown";
}

static void args_memory(struct nsys *ns, const char *key, struct sqlite_rows *q, int col)
{
	const char *word;

	if (sqlite_rows_null(q, col))
		return;
	word = word_of(memory_kinds, ARRAY_LEN(memory_kinds), sqlite_rows_i64_or(q, col, -1));
	db_args_str(&ns->sc, key, word, strlen(word));
}

static str_id copy_args(struct nsys *ns, struct sqlite_rows *q, const struct nsys_position *p)
{
	args_put_position(ns, p);
	db_args_column(&ns->sc, "bytes", q, C_BYTES);
	args_memory(ns, "source memory", q, C_FROM);
	args_memory(ns, "destination memory", q, C_TO);
	db_args_column(&ns->sc, "source device", q, C_FROM_DEVICE);
	db_args_column(&ns->sc, "destination device", q, C_TO_DEVICE);
	db_args_column(&ns->sc, "graph node id", q, C_NODE);
	return db_args_end(&ns->sc);
}

static bool take_copy(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct span_def d = { .kind = SPAN_COPY };
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };
	int64_t kind, n;
	struct nsys_position p;

	if (!position_take(ns, q, &d, &p))
		return false;
	kind = sqlite_rows_i64_or(q, C_KIND, 0);
	kind = kind >= 0 && (uint64_t)kind < ARRAY_LEN(copy_kinds) ? kind : 0;
	d.name = ns->copy_names[kind];
	f.copy.bytes = db_fact(q, C_BYTES);
	f.copy.direction = copy_directions[kind];
	f.copy.from = memory_of(q, C_FROM);
	f.copy.to = memory_of(q, C_TO);
	f.copy.graph_node = db_fact(q, C_NODE);
	n = sqlite_rows_i64_or(q, C_BYTES, 0);
	if (n < 0 || n > MAX_BYTES)
		db_scan_bad(&ns->sc, q, "its number of bytes cannot be true");
	else
		ns->copied += ns->copied < MAX_BYTES ? n : 0;
	if (ns->sc.keep_args)
		d.args = copy_args(ns, q, &p);
	return work_push(ns, &p, &d, &f);
}

static void read_copies(struct nsys *ns)
{
	static const struct db_table t = { "CUPTI_ACTIVITY_KIND_MEMCPY", COPY, .take = take_copy,
					   .fact = "copies", .category = "gpu_memcpy" };
	char name[64];

	if (!db_scan_has(&ns->sc, t.name))
		return;
	for (size_t i = 0; i < ARRAY_LEN(copy_kinds); i++) {
		snprintf(name, sizeof(name), "[CUDA memcpy %s]", copy_kinds[i]);
		ns->copy_names[i] = sink_puts(ns->sc.sink, name);
	}
	if (db_scan_table(&ns->sc, &t, ns))
		sink_fact(ns->sc.sink, "copied_bytes", ns->copied);
}

enum { F_BYTES = W_OWN, F_VALUE, F_NODE, F_MEMORY };

static bool take_fill(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct span_def d = { .kind = SPAN_FILL };
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };
	struct nsys_position p;

	if (!position_take(ns, q, &d, &p))
		return false;
	d.name = sink_puts(ns->sc.sink, "[CUDA memset]");
	f.copy.bytes = db_fact(q, F_BYTES);
	f.copy.to = memory_of(q, F_MEMORY);
	f.copy.graph_node = db_fact(q, F_NODE);
	if (ns->sc.keep_args) {
		args_put_position(ns, &p);
		db_args_column(&ns->sc, "bytes", q, F_BYTES);
		db_args_column(&ns->sc, "value", q, F_VALUE);
		db_args_column(&ns->sc, "graph node id", q, F_NODE);
		d.args = db_args_end(&ns->sc);
	}
	return work_push(ns, &p, &d, &f);
}

/* ---- graphs, waiting ---- */

enum { G_GRAPH = W_OWN, G_EXEC };

static str_id graph_name(struct nsys *ns, struct sqlite_rows *q)
{
	char name[48];

	snprintf(name, sizeof(name), "[CUDA graph %lld]",
		 (long long)sqlite_rows_i64_or(q, G_GRAPH, 0));
	return sink_puts(ns->sc.sink, name);
}

/* Where the launch's nodes were recorded too, they are the work and the graph is not. */
static bool take_graph(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct span_def d = { .kind = SPAN_KERNEL };
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };
	struct nsys_position p;

	if (!position_take(ns, q, &d, &p))
		return false;
	f.kernel.graph = db_fact(q, G_GRAPH);
	f.kernel.graph_exec = db_fact(q, G_EXEC);
	if (u64map_get(&ns->graphs, d.correlation) != U64MAP_NONE) {
		d.kind = SPAN_ANNOTATION;
		d.correlation = 0;
	}
	d.name = graph_name(ns, q);
	if (ns->sc.keep_args) {
		args_put_position(ns, &p);
		db_args_column(&ns->sc, "graph id", q, G_GRAPH);
		db_args_column(&ns->sc, "graph exec id", q, G_EXEC);
		d.args = db_args_end(&ns->sc);
	}
	return work_push(ns, &p, &d, &f);
}

static const char *const wait_kinds[] = { "Unknown sync", "Event sync", "Stream wait sync",
					  "Stream sync", "Context sync" };

static int64_t event_id(int64_t id)
{
	return id >= 0 && id != NSYS_NO_EVENT ? id : FACT_ABSENT;
}

static int64_t call_fact(struct nsys *ns, int64_t process, int64_t correlation)
{
	uint64_t v = nsys_correlation(ns, process, correlation);

	return v == 0 || v > INT64_MAX ? FACT_ABSENT : (int64_t)v;
}

static struct span_facts sync_facts(struct nsys *ns, struct sqlite_rows *q, int64_t kind,
				    const struct nsys_position *p)
{
	static const enum sync_kind known[] = { SYNC_UNKNOWN, SYNC_EVENT, SYNC_STREAM_WAIT_EVENT,
						SYNC_STREAM, SYNC_CONTEXT };
	struct span_facts f = { .kind = FACTS_SYNC, .sync = SYNC_FACTS_NONE };
	struct nsys_record wait = { .process = p->process,
				    .event = sqlite_rows_i64_or(q, W_OWN + 1, NSYS_NO_EVENT),
				    .sync = sqlite_rows_i64_or(q, W_OWN + 2, NSYS_NO_EVENT),
				    .correlation = p->correlation };
	const struct nsys_record *r = nsys_event_record(ns, &wait);

	f.sync.kind = known[kind];
	if (p->stream >= 0)
		f.sync.stream = p->stream;
	f.sync.event = event_id(wait.event);
	f.sync.call = call_fact(ns, p->process, p->correlation);
	if (r && r->stream >= 0)
		f.sync.event_stream = r->stream;
	if (r)
		f.sync.record = call_fact(ns, r->process, r->correlation);
	return f;
}

static bool take_wait(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct span_def d = { .kind = SPAN_ANNOTATION };
	struct span_facts f;
	struct nsys_position p;
	int64_t kind;

	if (!position_take(ns, q, &d, &p))
		return false;
	kind = sqlite_rows_i64_or(q, W_OWN, 0);
	if (kind < 0 || (uint64_t)kind >= ARRAY_LEN(wait_kinds))
		kind = 0;
	d.name = sink_puts(ns->sc.sink, wait_kinds[kind]);
	d.correlation = 0; /* that of the call that waits: nothing was launched */
	f = sync_facts(ns, q, kind, &p);
	if (ns->sc.keep_args) {
		args_put_position(ns, &p);
		d.args = db_args_end(&ns->sc);
	}
	return work_push(ns, &p, &d, &f);
}

void nsys_read_work(struct nsys *ns)
{
	static const struct db_table kernels = { "CUPTI_ACTIVITY_KIND_KERNEL", KERNEL,
						 .take = take_kernel, .fact = "kernels",
						 .category = "kernel" };
	static const struct db_table rest[] = {
		{ "CUPTI_ACTIVITY_KIND_MEMSET", WORK_COLUMNS "bytes? value? graphNodeId? memKind?",
		  .take = take_fill, .fact = "fills", .category = "gpu_memset" },
		{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", WORK_COLUMNS "graphId? graphExecId?",
		  .take = take_graph, .fact = "graph_launches", .category = "graph" },
		{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		  WORK_COLUMNS "syncType? eventId? eventSyncId?", .take = take_wait,
		  .fact = "synchronizations", .category = "cuda_sync" },
	};

	nsys_events_load(ns);
	db_scan_table(&ns->sc, &kernels, ns);
	read_copies(ns);
	db_scan_tables(&ns->sc, rest, ARRAY_LEN(rest), ns);
}
