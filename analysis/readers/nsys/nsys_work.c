/*
 * What ran on devices. Kernels, copies and fills name the call that launched them by correlationId;
 * of a graph's launch all nodes carry the one of the launch (and their graphNodeId), or, where
 * graphs were traced as a whole, CUPTI_ACTIVITY_KIND_GRAPH_TRACE has one row for all of it. Waiting
 * for a stream or event (SYNCHRONIZATION) is no work but is shown on its queue.
 */
#include "nsys.h"

#include <string.h>

#include "profrig/model/warnings.h"

/* The columns that all tables of device activity begin with here. */
#define PLACE_COLUMNS \
	{ "start", false }, { "end", false }, { "deviceId", false }, { "contextId", true }, \
		{ "streamId", true }, { "correlationId", true }, \
	{ \
		"globalPid", true \
	}
enum { W_START, W_END, W_DEVICE, W_CONTEXT, W_STREAM, W_CORRELATION, W_PROCESS, W_OWN };

struct place {
	int64_t device, context, stream, correlation, process;
};

/* False: the row is left out. */
static bool take_place(struct nsys *ns, struct sqlite_rows *q, struct span_def *d, struct place *p)
{
	if (!db_scan_work_times(&ns->sc, q, W_START, W_END, d))
		return false;
	p->device = sqlite_rows_i64_or(q, W_DEVICE, -1);
	p->context = sqlite_rows_i64_or(q, W_CONTEXT, 0);
	p->stream = sqlite_rows_i64_or(q, W_STREAM, -1);
	p->correlation = sqlite_rows_i64_or(q, W_CORRELATION, 0);
	p->process = sqlite_rows_i64_or(q, W_PROCESS, 0);
	d->correlation = nsys_correlation(ns, p->process, p->correlation);
	d->args = STR_NONE;
	return true;
}

static void push(struct nsys *ns, const struct place *p, struct span_def *d)
{
	nsys_slot queue = nsys_queue(ns, p->process, p->device, p->context, p->stream);

	d->track = ns->queues.v[queue].id;
	ns->sc.sink->ops->span(ns->sc.sink, d);
}

static void args_place(struct nsys *ns, const struct place *p)
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
	K_END = K_BLOCK + 3
};

static const struct sqlite_column kernel_columns[] = {
	PLACE_COLUMNS,
	{ "demangledName", true },
	{ "shortName", true },
	{ "mangledName", true },
	{ "graphNodeId", true },
	{ "registersPerThread", true },
	{ "staticSharedMemory", true },
	{ "dynamicSharedMemory", true },
	{ "gridX", true },
	{ "gridY", true },
	{ "gridZ", true },
	{ "blockX", true },
	{ "blockY", true },
	{ "blockZ", true },
};
_Static_assert(ARRAY_LEN(kernel_columns) == K_END, "one name for each column");

static str_id kernel_args(struct nsys *ns, struct sqlite_rows *q, const struct place *p)
{
	const char *name = sqlite_strings_text(&ns->strings, sqlite_rows_i64_or(q, K_SHORT, -1));

	args_place(ns, p);
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

/* The full name tells template instances apart; files of old schemas may lack it. */
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
	return nsys_string(ns, q, K_DEMANGLED, "kernel");
}

static void read_kernels(struct nsys *ns)
{
	str_id category = sink_puts(ns->sc.sink, "kernel");
	struct sqlite_rows q;
	int64_t kernels = 0;

	if (!db_scan_open(&ns->sc, "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, K_END, &q))
		return;
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_KERNEL, .category = category };
		struct place p;

		if (!take_place(ns, &q, &d, &p))
			continue;
		d.name = kernel_name(ns, &q);
		if (d.correlation && !sqlite_rows_null(&q, K_NODE))
			*u64map_at(&ns->graphs, d.correlation) = 1;
		if (ns->sc.keep_args)
			d.args = kernel_args(ns, &q, &p);
		push(ns, &p, &d);
		kernels++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "kernels", kernels);
}

/* ---- copies and fills ---- */

static const char *const copy_kinds[] = {
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

enum { C_BYTES = W_OWN, C_KIND, C_FROM, C_TO, C_FROM_DEVICE, C_TO_DEVICE, C_NODE, C_END };

static const struct sqlite_column copy_columns[] = {
	PLACE_COLUMNS,           { "bytes", true },       { "copyKind", true },
	{ "srcKind", true },     { "dstKind", true },     { "srcDeviceId", true },
	{ "dstDeviceId", true }, { "graphNodeId", true },
};
_Static_assert(ARRAY_LEN(copy_columns) == C_END, "one name for each column");

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

static str_id copy_args(struct nsys *ns, struct sqlite_rows *q, const struct place *p)
{
	args_place(ns, p);
	db_args_column(&ns->sc, "bytes", q, C_BYTES);
	args_memory(ns, "source memory", q, C_FROM);
	args_memory(ns, "destination memory", q, C_TO);
	db_args_column(&ns->sc, "source device", q, C_FROM_DEVICE);
	db_args_column(&ns->sc, "destination device", q, C_TO_DEVICE);
	db_args_column(&ns->sc, "graph node id", q, C_NODE);
	return db_args_end(&ns->sc);
}

static void copy_names(struct nsys *ns, str_id *names)
{
	char name[64];

	for (size_t i = 0; i < ARRAY_LEN(copy_kinds); i++) {
		snprintf(name, sizeof(name), "[CUDA memcpy %s]", copy_kinds[i]);
		names[i] = sink_puts(ns->sc.sink, name);
	}
}

static void read_copies(struct nsys *ns)
{
	str_id category = sink_puts(ns->sc.sink, "gpu_memcpy"), names[ARRAY_LEN(copy_kinds)];
	int64_t copies = 0, bytes = 0;
	struct sqlite_rows q;

	if (!db_scan_open(&ns->sc, "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, C_END, &q))
		return;
	copy_names(ns, names);
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_COPY, .category = category };
		int64_t kind, n;
		struct place p;

		if (!take_place(ns, &q, &d, &p))
			continue;
		kind = sqlite_rows_i64_or(&q, C_KIND, 0);
		d.name = names[kind >= 0 && (uint64_t)kind < ARRAY_LEN(names) ? kind : 0];
		n = sqlite_rows_i64_or(&q, C_BYTES, 0);
		if (n < 0 || n > MAX_BYTES)
			db_scan_bad(&ns->sc, &q, "its number of bytes cannot be true");
		else
			bytes += bytes < MAX_BYTES ? n : 0;
		if (ns->sc.keep_args)
			d.args = copy_args(ns, &q, &p);
		push(ns, &p, &d);
		copies++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "copies", copies);
	sink_fact(ns->sc.sink, "copied_bytes", bytes);
}

enum { F_BYTES = W_OWN, F_VALUE, F_NODE, F_END };

static const struct sqlite_column fill_columns[] = {
	PLACE_COLUMNS,
	{ "bytes", true },
	{ "value", true },
	{ "graphNodeId", true },
};
_Static_assert(ARRAY_LEN(fill_columns) == F_END, "one name for each column");

static void read_fills(struct nsys *ns)
{
	str_id category = sink_puts(ns->sc.sink, "gpu_memset");
	str_id name = sink_puts(ns->sc.sink, "[CUDA memset]");
	struct sqlite_rows q;
	int64_t fills = 0;

	if (!db_scan_open(&ns->sc, "CUPTI_ACTIVITY_KIND_MEMSET", fill_columns, F_END, &q))
		return;
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_FILL, .category = category, .name = name };
		struct place p;

		if (!take_place(ns, &q, &d, &p))
			continue;
		if (ns->sc.keep_args) {
			args_place(ns, &p);
			db_args_column(&ns->sc, "bytes", &q, F_BYTES);
			db_args_column(&ns->sc, "value", &q, F_VALUE);
			db_args_column(&ns->sc, "graph node id", &q, F_NODE);
			d.args = db_args_end(&ns->sc);
		}
		push(ns, &p, &d);
		fills++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "fills", fills);
}

/* ---- graphs, waiting ---- */

enum { G_GRAPH = W_OWN, G_EXEC, G_END };

static const struct sqlite_column graph_columns[] = {
	PLACE_COLUMNS,
	{ "graphId", true },
	{ "graphExecId", true },
};
_Static_assert(ARRAY_LEN(graph_columns) == G_END, "one name for each column");

static str_id graph_name(struct nsys *ns, struct sqlite_rows *q)
{
	char name[48];

	snprintf(name, sizeof(name), "[CUDA graph %lld]",
		 (long long)sqlite_rows_i64_or(q, G_GRAPH, 0));
	return sink_puts(ns->sc.sink, name);
}

/* Where the launch's nodes were recorded too, they are the work and the graph is not. */
static void read_graphs(struct nsys *ns)
{
	str_id category = sink_puts(ns->sc.sink, "graph");
	struct sqlite_rows q;
	int64_t graphs = 0;

	if (!db_scan_open(&ns->sc, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, G_END, &q))
		return;
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_KERNEL, .category = category };
		struct place p;

		if (!take_place(ns, &q, &d, &p))
			continue;
		if (u64map_get(&ns->graphs, d.correlation) != U64MAP_NONE) {
			d.kind = SPAN_ANNOTATION;
			d.correlation = 0;
		}
		d.name = graph_name(ns, &q);
		if (ns->sc.keep_args) {
			args_place(ns, &p);
			db_args_column(&ns->sc, "graph id", &q, G_GRAPH);
			db_args_column(&ns->sc, "graph exec id", &q, G_EXEC);
			d.args = db_args_end(&ns->sc);
		}
		push(ns, &p, &d);
		graphs++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "graph_launches", graphs);
}

static const char *const wait_kinds[] = { "Unknown sync", "Event sync", "Stream wait sync",
					  "Stream sync", "Context sync" };

static void read_waits(struct nsys *ns)
{
	static const struct sqlite_column cols[] = { PLACE_COLUMNS, { "syncType", true } };
	str_id category = sink_puts(ns->sc.sink, "cuda_sync");
	struct sqlite_rows q;
	int64_t waits = 0;

	if (!db_scan_open(&ns->sc, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", cols, ARRAY_LEN(cols),
			  &q))
		return;
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_ANNOTATION, .category = category };
		const char *word = wait_kinds[0];
		struct place p;
		int64_t kind;

		if (!take_place(ns, &q, &d, &p))
			continue;
		kind = sqlite_rows_i64_or(&q, W_OWN, 0);
		if (kind > 0 && (uint64_t)kind < ARRAY_LEN(wait_kinds))
			word = wait_kinds[kind];
		d.name = sink_puts(ns->sc.sink, word);
		d.correlation = 0; /* that of the call that waits: nothing was launched */
		if (ns->sc.keep_args) {
			args_place(ns, &p);
			d.args = db_args_end(&ns->sc);
		}
		push(ns, &p, &d);
		waits++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "synchronizations", waits);
}

void nsys_read_work(struct nsys *ns)
{
	read_kernels(ns);
	read_copies(ns);
	read_fills(ns);
	read_graphs(ns);
	read_waits(ns);
}
