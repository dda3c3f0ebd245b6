/*
 * Processes, threads, devices and queues of an export. A globalTid holds hardware, virtual machine,
 * pid and tid (8, 8, 24 and 24 bits); a globalPid is the same with tid 0. Files list every process
 * of the machine, so tracks are made only of those with events.
 *
 * A deviceId is the process's own number of a device, after CUDA_VISIBLE_DEVICES.
 * TARGET_INFO_CUDA_DEVICE maps it to the device of the machine.
 *
 * Threads of XLA that launch for one device say in their names which one of the process and of the
 * job it is. A job's devices are its ranks, as each takes part in collectives by itself.
 */
#include "nsys.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/model/warnings.h"
#include "profrig/names/xla_range.h"

enum { KEY_PROCESS = 1, KEY_THREAD, KEY_QUEUE, KEY_DEVICE, KEY_OVERHEAD, KEY_SAMPLED, KEY_XLA };

#define GLOBAL_TID INT64_C(0xffffff)

static int64_t pid_of(int64_t global)
{
	int64_t pid = (int64_t)((uint64_t)global >> 24 & 0xffffff);

	return pid ? pid : PID_NONE;
}

int64_t nsys_process_global(int64_t global)
{
	return global & ~GLOBAL_TID;
}

static str_id name_put(struct nsys *ns, struct sqlite_rows *q, int col)
{
	size_t n;
	const char *s = sqlite_rows_text(q, col, &n);

	return s ? intern_put(ns->names, s, n) : 0;
}

static bool take_process(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	int64_t global;

	if (sqlite_rows_i64(q, 0, &global))
		*u64map_at(&ns->process_names, (uint64_t)global) = name_put(ns, q, 1);
	return true;
}

static uint64_t xla_key(int64_t global, int64_t device)
{
	return db_hash(KEY_XLA, (uint64_t)nsys_process_global(global), (uint64_t)device);
}

static void xla_thread_take(struct nsys *ns, int64_t global, const char *name)
{
	struct xla_launcher l;
	uint32_t *at;

	if (!xla_launcher_parse(name, strlen(name), &l) || l.global >= INT32_MAX)
		return;
	if (l.local != XLA_ABSENT)
		*u64map_at(&ns->xla_devices, xla_key(global, l.local)) = (uint32_t)l.global;
	at = u64map_at(&ns->xla_processes, (uint64_t)nsys_process_global(global));
	*at = *at == U64MAP_NONE || *at == (uint32_t)l.global ? (uint32_t)l.global : NSYS_SEVERAL;
}

static bool take_thread(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	int64_t global, name;
	const char *text = sqlite_rows_i64(q, 0, &global) && sqlite_rows_i64(q, 1, &name)
				   ? sqlite_strings_text(&ns->strings, name)
				   : NULL;

	if (!text)
		return true;
	*u64map_at(&ns->thread_names, (uint64_t)global) = intern_puts(ns->names, text);
	xla_thread_take(ns, global, text);
	return true;
}

static bool take_rank(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	int64_t global, rank;

	if (sqlite_rows_i64(q, 0, &global) && sqlite_rows_i64(q, 1, &rank) && rank >= 0 &&
	    rank < INT32_MAX)
		*u64map_at(&ns->ranks, (uint64_t)global) = (uint32_t)rank;
	return true;
}

static void device_put(struct nsys *ns, struct sqlite_rows *q, const struct nsys_gpu *g)
{
	struct device_facts d = DEVICE_FACTS_NONE;
	const char *name = intern_str(ns->names, g->name);

	d.number = g->id;
	d.name = *name ? sink_puts(ns->sc.sink, name) : STR_NONE;
	d.memory = db_fact(q, 3);
	d.bandwidth = db_fact(q, 4);
	d.clock_hz = db_fact(q, 5);
	d.units = db_fact(q, 6);
	d.warp = db_fact(q, 7);
	d.capability_major = db_fact(q, 8);
	d.capability_minor = db_fact(q, 9);
	ns->sc.sink->ops->device(ns->sc.sink, &d);
}

static bool take_gpu(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct nsys_gpu g = { .track = TRACK_NONE };
	const char *bus;
	uint32_t *at;
	size_t n;

	if (!sqlite_rows_i64(q, 0, &g.id))
		return false;
	at = u64map_at(&ns->gpu_slots, (uint64_t)g.id);
	if (*at != U64MAP_NONE)
		return false;
	g.name = name_put(ns, q, 1);
	bus = sqlite_rows_text(q, 2, &n);
	if (!bus || !model_pci_text(bus, n, g.pci))
		g.pci[0] = '\0';
	*at = (uint32_t)ns->gpus.nr;
	VEC_PUSH(&ns->gpus, g);
	if (ns->sc.facts)
		device_put(ns, q, &g);
	return true;
}

static bool take_device_number(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	int64_t pid, cuda, gpu;

	if (sqlite_rows_i64(q, 0, &pid) && sqlite_rows_i64(q, 1, &cuda) &&
	    sqlite_rows_i64(q, 2, &gpu) && gpu >= 0 && gpu < 65536)
		*u64map_at(&ns->device_numbers,
			   db_hash(KEY_DEVICE, (uint64_t)pid, (uint64_t)cuda)) = (uint32_t)gpu;
	return true;
}

static const struct db_table tables[] = {
	{ "PROCESSES", "globalPid name", .take = take_process },
	{ "ThreadNames", "globalTid nameId", .take = take_thread },
	{ "MPI_RANKS", "globalPid rank", .take = take_rank },
	{ "TARGET_INFO_GPU",
	  "id name? busLocation? totalMemory? memoryBandwidth? clockRate? smCount? "
	  "threadsPerWarp? computeMajor? computeMinor?",
	  .take = take_gpu },
	{ "TARGET_INFO_CUDA_DEVICE", "pid cudaId gpuId", .take = take_device_number },
};

static void load_host(struct nsys *ns)
{
	struct sqlite_rows q = { .db = NULL };
	const char *s;
	size_t n;

	if (!sqlite_db_has_column(ns->sc.db, "TARGET_INFO_SYSTEM_ENV", "name") ||
	    !sqlite_db_has_column(ns->sc.db, "TARGET_INFO_SYSTEM_ENV", "value"))
		return;
	if (sqlite_rows_query(ns->sc.db, "table 'TARGET_INFO_SYSTEM_ENV'", &q, NULL,
			      "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'") >=
		    0 &&
	    sqlite_rows_next(&q, NULL) > 0) {
		s = sqlite_rows_text(&q, 0, &n);
		if (s && n < sizeof(ns->host))
			snprintf(ns->host, sizeof(ns->host), "%s", s);
	}
	sqlite_rows_release(&q);
}

void nsys_tracks_load(struct nsys *ns)
{
	ns->last_thread = NSYS_SLOT_NONE;
	load_host(ns);
	db_scan_tables(&ns->sc, tables, ARRAY_LEN(tables), ns);
}

void nsys_tracks_release(struct nsys *ns)
{
	intern_free(ns->names);
	u64map_release(&ns->slots);
	u64map_release(&ns->process_names);
	u64map_release(&ns->thread_names);
	u64map_release(&ns->ranks);
	u64map_release(&ns->device_numbers);
	u64map_release(&ns->gpu_slots);
	u64map_release(&ns->domains);
	u64map_release(&ns->graphs);
	u64map_release(&ns->xla_devices);
	u64map_release(&ns->xla_processes);
	VEC_RELEASE(&ns->processes);
	VEC_RELEASE(&ns->threads);
	VEC_RELEASE(&ns->gpus);
}

static const char *name_of(const struct nsys *ns, const struct u64map *map, int64_t global)
{
	uint32_t id = u64map_get(map, (uint64_t)global);
	const char *name = id == U64MAP_NONE ? "" : intern_str(ns->names, id);

	return *name ? name : NULL;
}

static int32_t rank_of(const struct nsys *ns, int64_t global)
{
	uint32_t rank = u64map_get(&ns->ranks, (uint64_t)global);

	if (rank == U64MAP_NONE)
		rank = u64map_get(&ns->xla_processes, (uint64_t)global);
	return rank >= NSYS_SEVERAL ? RANK_NONE : (int32_t)rank;
}

/* Of work on a device of the process. */
static int32_t rank_of_work(const struct nsys *ns, int64_t global, int64_t device)
{
	uint32_t rank = u64map_get(&ns->xla_devices, xla_key(global, device));

	return rank == U64MAP_NONE ? rank_of(ns, nsys_process_global(global)) : (int32_t)rank;
}

static track_id track_of(struct nsys *ns, struct track_def *d)
{
	d->host = ns->host[0] ? ns->host : NULL;
	return db_scan_track(&ns->sc, d);
}

/* global: a globalTid or globalPid; 0 unknown */
static nsys_slot nsys_process(struct nsys *ns, int64_t global)
{
	int64_t own = nsys_process_global(global);
	uint64_t key = db_hash(KEY_PROCESS, (uint64_t)own, 0);
	nsys_slot slot = u64map_get(&ns->slots, key);
	struct nsys_process p = { .global = own, .pid = pid_of(own), .overhead = TRACK_NONE };
	struct track_def d = TRACK_DEF_INIT;

	if (slot != NSYS_SLOT_NONE)
		return slot;
	d.kind = TRACK_PROCESS;
	d.pid = p.pid;
	d.rank = rank_of(ns, own);
	d.name = name_of(ns, &ns->process_names, own);
	d.key = key;
	p.id = track_of(ns, &d);
	slot = (nsys_slot)ns->processes.nr;
	VEC_PUSH(&ns->processes, p);
	*u64map_at(&ns->slots, key) = slot;
	return slot;
}

/* Valid until another process is added. */
static struct nsys_process *process_at(struct nsys *ns, int64_t global)
{
	nsys_slot slot = nsys_process(ns, global); /* may move all of them */

	return &ns->processes.v[slot];
}

static nsys_slot thread_new(struct nsys *ns, int64_t global, uint64_t key)
{
	struct nsys_thread t = { .global = global, .last_ns = INT64_MIN };
	struct track_def d = TRACK_DEF_INIT;

	t.process = nsys_process(ns, global);
	d.kind = TRACK_THREAD;
	d.parent = ns->processes.v[t.process].id;
	d.pid = pid_of(global);
	d.tid = global & GLOBAL_TID ? global & GLOBAL_TID : PID_NONE;
	d.rank = rank_of(ns, nsys_process_global(global));
	d.name = name_of(ns, &ns->thread_names, global);
	d.key = key;
	t.id = track_of(ns, &d);
	VEC_PUSH(&ns->threads, t);
	return *u64map_at(&ns->slots, key) = (nsys_slot)(ns->threads.nr - 1);
}

nsys_slot nsys_thread(struct nsys *ns, int64_t global)
{
	uint64_t key;
	nsys_slot slot;

	if (ns->last_thread != NSYS_SLOT_NONE && ns->last_global == global)
		return ns->last_thread;
	key = db_hash(KEY_THREAD, (uint64_t)global, 0);
	if (track_limit_shares(&ns->sc.tracks, &ns->slots, key)) {
		ns->sc.tracks.asked++;
		key = db_hash(KEY_THREAD, 0, 1); /* all of them have one slot */
	}
	slot = u64map_get(&ns->slots, key);
	if (slot == NSYS_SLOT_NONE)
		slot = thread_new(ns, global, key);
	ns->last_global = global;
	ns->last_thread = slot;
	return slot;
}

track_id nsys_sampled(struct nsys *ns, int64_t global)
{
	const char *thread = name_of(ns, &ns->thread_names, global);
	struct track_def d = TRACK_DEF_INIT;
	char name[128];

	if (thread)
		snprintf(name, sizeof(name), "%.100s samples", thread);
	else
		snprintf(name, sizeof(name), "%" PRId64 " samples", global & GLOBAL_TID);
	d.kind = TRACK_THREAD;
	d.parent = process_at(ns, global)->id;
	d.pid = pid_of(global);
	d.rank = rank_of(ns, nsys_process_global(global));
	d.name = name;
	d.key = db_hash(KEY_SAMPLED, (uint64_t)global, 0);
	return track_of(ns, &d);
}

track_id nsys_overhead(struct nsys *ns, int64_t global)
{
	struct nsys_process *p = process_at(ns, global);
	struct track_def d = TRACK_DEF_INIT;

	if (p->overhead != TRACK_NONE)
		return p->overhead;
	d.kind = TRACK_COUNTER;
	d.parent = p->id;
	d.rank = rank_of(ns, p->global);
	d.name = "profiler overhead";
	d.key = db_hash(KEY_OVERHEAD, (uint64_t)p->global, 0);
	return p->overhead = track_of(ns, &d);
}

static struct nsys_gpu *gpu_at(struct nsys *ns, int64_t id)
{
	uint32_t *at = u64map_at(&ns->gpu_slots, (uint64_t)id);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)ns->gpus.nr;
		VEC_PUSH(&ns->gpus, (struct nsys_gpu){ .id = id, .track = TRACK_NONE });
	}
	return &ns->gpus.v[*at];
}

static struct nsys_gpu *gpu_of(struct nsys *ns, int64_t global, int64_t device, char *buf)
{
	uint32_t number =
		u64map_get(&ns->device_numbers,
			   db_hash(KEY_DEVICE, (uint64_t)pid_of(global), (uint64_t)device));
	struct nsys_gpu *g = gpu_at(ns, number == U64MAP_NONE ? device : (int64_t)number);
	const char *name = intern_str(ns->names, g->name);
	struct track_def d = TRACK_DEF_INIT;

	if (g->id >= 0)
		snprintf(buf, 32, "gpu%" PRId64, g->id);
	else
		snprintf(buf, 32, "%.20s", ns->device ? ns->device : "gpu0");
	if (g->track != TRACK_NONE)
		return g;
	d.kind = TRACK_DEVICE;
	d.device = buf;
	d.name = *name ? name : NULL;
	d.pci = g->pci[0] ? g->pci : NULL;
	d.key = db_hash(KEY_DEVICE, (uint64_t)g->id, 0);
	g->track = track_of(ns, &d);
	return g;
}

track_id nsys_device(struct nsys *ns, int64_t global, int64_t device, char *buf)
{
	return gpu_of(ns, global, device, buf)->track;
}

/* A stream of all ones is none: an event of a whole context. */
static int64_t stream_number(int64_t stream)
{
	return stream >= 0 && stream < UINT32_MAX ? stream : PID_NONE;
}

track_id nsys_queue(struct nsys *ns, int64_t global, int64_t device, int64_t context,
		    int64_t stream)
{
	uint64_t place =
		db_hash(KEY_QUEUE, (uint64_t)nsys_process_global(global), (uint64_t)device);
	uint64_t key = db_hash(place, (uint64_t)context, (uint64_t)stream);
	struct track_def d = TRACK_DEF_INIT;
	track_id track;
	struct nsys_gpu *g;
	char name[32];

	if (track_limit_shares(&ns->sc.tracks, &ns->slots, key)) {
		ns->sc.tracks.asked++;
		key = db_hash(KEY_QUEUE, 0, 1);
	}
	track = u64map_get(&ns->slots, key);
	if (track != U64MAP_NONE)
		return track;
	g = gpu_of(ns, global, device, name);
	d.kind = TRACK_QUEUE;
	d.parent = g->track;
	d.device = name;
	d.pci = g->pci[0] ? g->pci : NULL;
	d.tid = stream_number(stream);
	d.rank = rank_of_work(ns, global, device);
	d.owner = global ? process_at(ns, global)->id : TRACK_NONE;
	d.key = key;
	track = track_of(ns, &d);
	return *u64map_at(&ns->slots, key) = track;
}

uint64_t nsys_correlation(struct nsys *ns, int64_t global, int64_t id)
{
	uint64_t process = ns->by_process ? nsys_process(ns, global) : 0;

	if (id == 0)
		return 0;
	if (id > 0 && id < INT64_C(1) << 40 && process < 1U << 23)
		return (process + 1) << 40 | (uint64_t)id;
	return db_hash(process, (uint64_t)id, 'C');
}

str_id nsys_string(struct nsys *ns, struct sqlite_rows *q, int col, str_id otherwise)
{
	int64_t id;
	str_id s = STR_NONE;

	if (sqlite_rows_i64(q, col, &id)) {
		s = sqlite_strings_id(&ns->strings, id);
		if (s == STR_NONE)
			sink_warnf(ns->sc.sink, W_UNKNOWN_REFERENCE,
				   "table '%s', row %" PRIu64 ": StringIds has no row %" PRId64,
				   ns->sc.table, q->rows, id);
	}
	return s == STR_NONE ? otherwise : s;
}
