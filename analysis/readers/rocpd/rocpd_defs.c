/*
 * Nodes, processes, threads, agents, queues, streams, kernel symbols and counters of a rocpd
 * database, and their tracks, made at the first event. Undefined references get a definition made
 * of their id (W_UNKNOWN_REFERENCE).
 *
 * A device is "gpuN" by its agent's type_index: ROCm's own number, after ROCR_VISIBLE_DEVICES. Work
 * is on its stream, or on its queue when it has the default stream only.
 */
#include "rocpd.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/model/warnings.h"

enum { KEY_PROCESS = 1, KEY_THREAD, KEY_AGENT, KEY_MEMORY, KEY_STREAM, KEY_QUEUE };

static str_id name_put(struct rocpd *rc, struct sqlite_rows *q, int col)
{
	size_t n;
	const char *s = sqlite_rows_text(q, col, &n);

	return s ? intern_put(rc->names, s, n) : 0;
}

static const char *name_or_null(const struct rocpd *rc, str_id id)
{
	const char *s = intern_str(rc->names, id);

	return *s ? s : NULL;
}

/* Tables of (guid, id, name). */
static bool name_take(struct rocpd *rc, struct sqlite_rows *q, enum rocpd_kind kind)
{
	return rocpd_number(rc, kind, rocpd_guid_of(rc, q, 0), q, 1, name_put(rc, q, 2));
}

static bool take_node(void *rc, struct sqlite_rows *q)
{
	return name_take(rc, q, ROCPD_NODE);
}

static bool take_queue(void *rc, struct sqlite_rows *q)
{
	return name_take(rc, q, ROCPD_QUEUE);
}

static bool take_stream(void *rc, struct sqlite_rows *q)
{
	return name_take(rc, q, ROCPD_STREAM);
}

/* Variables of launchers with the rank, the most reliable first. */
static int32_t rank_in(struct rocpd *rc, const char *json, size_t n)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					     "SLURM_PROCID", "RANK" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep) char *value = rocpd_json_member(rc, json, n, names[i]);
		int64_t rank;

		if (value && num_i64(value, strlen(value), &rank) == 0 && rank >= 0 &&
		    rank < INT32_MAX)
			return (int32_t)rank;
	}
	return RANK_NONE;
}

static bool take_process(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct rocpd_process p = { .id = TRACK_NONE, .rank = RANK_NONE };
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	uint32_t host = rocpd_find(rc, ROCPD_NODE, guid, q, 2);
	const char *env;
	size_t n;

	if (!rocpd_number(rc, ROCPD_PROCESS, guid, q, 1, (uint32_t)rc->processes.nr))
		return false;
	p.host = host == SQLITE_ID_NONE ? 0 : host;
	p.pid = sqlite_rows_i64_or(q, 3, PID_NONE);
	p.name = name_put(rc, q, 4);
	env = sqlite_rows_text(q, 5, &n);
	if (env && n > 2)
		p.rank = rank_in(rc, env, n);
	VEC_PUSH(&rc->processes, p);
	return true;
}

static bool take_thread(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	struct rocpd_thread t = { .id = TRACK_NONE };

	if (!rocpd_number(rc, ROCPD_THREAD, guid, q, 1, (uint32_t)rc->threads.nr))
		return false;
	t.process = rocpd_process(rc, guid, q, 2);
	t.tid = sqlite_rows_i64_or(q, 3, PID_NONE);
	t.name = name_put(rc, q, 4);
	VEC_PUSH(&rc->threads, t);
	return true;
}

/* location_id is bus, device and function in 8, 5 and 3 bits. */
static void take_pci(struct rocpd *rc, struct rocpd_agent *a, const char *json, size_t n)
{
	CLEANUP(xfreep) char *location = rocpd_json_member(rc, json, n, "location_id");
	CLEANUP(xfreep) char *domain = rocpd_json_member(rc, json, n, "domain");
	int64_t at, where = 0;

	if (!location || num_i64(location, strlen(location), &at) < 0 || at <= 0 || at > 0xffff ||
	    (domain && num_i64(domain, strlen(domain), &where) < 0) ||
	    !model_pci(where, at >> 8, at >> 3 & 31, a->pci))
		a->pci[0] = '\0';
}

static int64_t json_number(struct rocpd *rc, const char *json, size_t n, const char *key)
{
	CLEANUP(xfreep) char *text = rocpd_json_member(rc, json, n, key);
	int64_t v;

	return text && num_i64(text, strlen(text), &v) == 0 ? v : FACT_ABSENT;
}

#define HZ_OF_MHZ 1000000

/* json: what the runtime says of the agent; NULL. */
static void device_put(struct rocpd *rc, const struct rocpd_agent *a, int64_t index,
		       const char *json, size_t n)
{
	struct device_facts d = DEVICE_FACTS_NONE;
	const char *name = intern_str(rc->names, a->name);
	CLEANUP(xfreep) char *arch = json ? rocpd_json_member(rc, json, n, "name") : NULL;
	CLEANUP(xfreep)
	char *product = json ? rocpd_json_member(rc, json, n, "product_name") : NULL;
	int64_t mhz = json ? json_number(rc, json, n, "max_engine_clk_fcompute") : FACT_ABSENT;

	d.number = index;
	name = product && *product ? product : name;
	d.name = *name ? sink_puts(rc->sc.sink, name) : STR_NONE;
	if (json) {
		d.units = json_number(rc, json, n, "cu_count");
		d.warp = json_number(rc, json, n, "wave_front_size");
	}
	if (mhz > 0 && mhz < FACT_SIZE_MAX / HZ_OF_MHZ)
		d.clock_hz = mhz * HZ_OF_MHZ;
	if (arch && strncmp(arch, "gfx", 3) == 0)
		d.arch = sink_puts(rc->sc.sink, arch);
	rc->sc.sink->ops->device(rc->sc.sink, &d);
}

static bool take_agent(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct rocpd_agent a = { .id = TRACK_NONE, .memory = TRACK_NONE };
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	uint32_t host = rocpd_find(rc, ROCPD_NODE, guid, q, 2);
	int64_t index = sqlite_rows_i64_or(q, 4, 0);
	const char *s;
	size_t n;

	if (!rocpd_number(rc, ROCPD_AGENT, guid, q, 1, (uint32_t)rc->agents.nr))
		return false;
	s = sqlite_rows_text(q, 3, &n);
	a.gpu = !s || strcmp(s, "CPU") != 0;
	a.host = host == SQLITE_ID_NONE ? 0 : host;
	snprintf(a.device, sizeof(a.device), "%s%" PRId64, a.gpu ? "gpu" : "cpu",
		 index < 0 ? 0 : index);
	a.name = name_put(rc, q, 5);
	if (!a.name)
		a.name = name_put(rc, q, 6);
	s = sqlite_rows_text(q, 7, &n);
	if (s && n > 2)
		take_pci(rc, &a, s, n);
	if (rc->sc.facts && a.gpu)
		device_put(rc, &a, index, s && n > 2 ? s : NULL, n);
	VEC_PUSH(&rc->agents, a);
	return true;
}

static bool take_symbol(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	size_t n = 0;
	const char *s = sqlite_rows_text(q, 2, &n);

	if (!s || n == 0)
		s = sqlite_rows_text(q, 3, &n);
	return s && rocpd_number(rc, ROCPD_SYMBOL, rocpd_guid_of(rc, q, 0), q, 1,
				 rc->sc.sink->ops->string(rc->sc.sink, s, n));
}

static bool take_pmc(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	struct rocpd_pmc p = { .id = SERIES_NONE, .kind = SERIES_GAUGE };
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	const char *type;
	size_t n;

	if (!rocpd_number(rc, ROCPD_PMC, guid, q, 1, (uint32_t)rc->pmcs.nr))
		return false;
	p.agent = rocpd_find(rc, ROCPD_AGENT, guid, q, 2);
	p.name = name_put(rc, q, 4);
	if (!p.name)
		p.name = name_put(rc, q, 3);
	p.unit = name_put(rc, q, 5);
	type = sqlite_rows_text(q, 6, &n);
	if (type && strcmp(type, "ACCUM") == 0)
		p.kind = SERIES_CUMULATIVE;
	VEC_PUSH(&rc->pmcs, p);
	return true;
}

static bool take_track(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	uint32_t guid = rocpd_guid_of(rc, q, 0);
	struct rocpd_track t = { .thread = SQLITE_ID_NONE };

	if (!rocpd_number(rc, ROCPD_TRACK, guid, q, 1, (uint32_t)rc->tracks.nr))
		return false;
	t.process = rocpd_process(rc, guid, q, 2);
	if (!sqlite_rows_null(q, 3))
		t.thread = rocpd_thread(rc, guid, q, 3, 2);
	t.name = rocpd_find(rc, ROCPD_STRING, guid, q, 4);
	VEC_PUSH(&rc->tracks, t);
	return true;
}

void rocpd_read_definitions(struct rocpd *rc)
{
	static const struct db_table tables[] = {
		{ "info_node", "guid? id hostname|system_name", .take = take_node },
		{ "info_process", "guid? id nid? pid? command? environment?",
		  .take = take_process },
		{ "info_thread", "guid? id pid? tid? name?", .take = take_thread },
		{ "info_agent",
		  "guid? id nid? type? type_index|logical_index|absolute_index? product_name? "
		  "name? extdata?",
		  .take = take_agent },
		{ "info_queue", "guid? id name", .take = take_queue },
		{ "info_stream", "guid? id name", .take = take_stream },
		{ "info_kernel_symbol", "guid? id display_name? kernel_name?",
		  .take = take_symbol },
		{ "info_pmc", "guid? id agent_id? symbol? name? units? value_type?",
		  .take = take_pmc },
		{ "track", "guid? id pid? tid? name_id?", .take = take_track },
	};

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		rocpd_table(rc, &tables[i]);
}

/* ---- what rows refer to ---- */

static void undefined_warn(struct rocpd *rc, const struct sqlite_rows *q, const char *what,
			   int64_t id)
{
	sink_warnf(rc->sc.sink, W_UNKNOWN_REFERENCE,
		   "table '%s', row %" PRIu64 ": %s %" PRId64 " is not defined", rc->sc.table,
		   q->rows, what, id);
}

uint32_t rocpd_process(struct rocpd *rc, uint32_t guid, struct sqlite_rows *q, int col)
{
	int64_t id = sqlite_rows_i64_or(q, col, PID_NONE);
	uint32_t p = rocpd_get(rc, ROCPD_PROCESS, guid, id);

	if (p != SQLITE_ID_NONE)
		return p;
	if (id != PID_NONE)
		undefined_warn(rc, q, "process", id);
	p = (uint32_t)rc->processes.nr;
	rocpd_add(rc, ROCPD_PROCESS, guid, id, p);
	VEC_PUSH(&rc->processes, (struct rocpd_process){ .id = TRACK_NONE,
							 .pid = id > 0 ? id : PID_NONE,
							 .rank = RANK_NONE });
	return p;
}

uint32_t rocpd_thread(struct rocpd *rc, uint32_t guid, struct sqlite_rows *q, int tid, int pid)
{
	int64_t id = sqlite_rows_i64_or(q, tid, PID_NONE);
	uint32_t t = rocpd_get(rc, ROCPD_THREAD, guid, id);
	uint32_t process;

	if (t != SQLITE_ID_NONE)
		return t;
	process = rocpd_process(rc, guid, q, pid);
	if (id != PID_NONE)
		undefined_warn(rc, q, "thread", id);
	t = (uint32_t)rc->threads.nr;
	rocpd_add(rc, ROCPD_THREAD, guid, id, t);
	VEC_PUSH(&rc->threads, (struct rocpd_thread){ .id = TRACK_NONE,
						      .process = process,
						      .tid = id > 0 ? id : PID_NONE });
	return t;
}

uint32_t rocpd_agent(struct rocpd *rc, uint32_t guid, struct sqlite_rows *q, int col)
{
	int64_t id = sqlite_rows_i64_or(q, col, -1);
	uint32_t a = rocpd_get(rc, ROCPD_AGENT, guid, id);
	struct rocpd_agent made = { .id = TRACK_NONE, .memory = TRACK_NONE, .gpu = true };

	if (a != SQLITE_ID_NONE)
		return a;
	if (id >= 0) {
		undefined_warn(rc, q, "agent", id);
		snprintf(made.device, sizeof(made.device), "gpu%" PRId64, id);
	} else {
		snprintf(made.device, sizeof(made.device), "%.20s",
			 rc->device ? rc->device : "gpu0");
	}
	a = (uint32_t)rc->agents.nr;
	rocpd_add(rc, ROCPD_AGENT, guid, id, a);
	VEC_PUSH(&rc->agents, made);
	return a;
}

track_id rocpd_process_track(struct rocpd *rc, uint32_t process)
{
	struct rocpd_process *p = &rc->processes.v[process];
	struct track_def d = TRACK_DEF_INIT;

	if (p->id != TRACK_NONE)
		return p->id;
	d.kind = TRACK_PROCESS;
	d.host = name_or_null(rc, p->host);
	d.pid = p->pid;
	d.rank = p->rank;
	d.name = name_or_null(rc, p->name);
	d.key = db_hash(KEY_PROCESS, process, 0);
	return p->id = db_scan_track(&rc->sc, &d);
}

track_id rocpd_thread_track(struct rocpd *rc, uint32_t thread)
{
	struct rocpd_thread *t = &rc->threads.v[thread];
	const struct rocpd_process *p = &rc->processes.v[t->process];
	struct track_def d = TRACK_DEF_INIT;

	if (t->id != TRACK_NONE)
		return t->id;
	d.kind = TRACK_THREAD;
	d.parent = rocpd_process_track(rc, t->process);
	d.host = name_or_null(rc, p->host);
	d.pid = p->pid;
	d.tid = t->tid;
	d.rank = p->rank;
	d.name = name_or_null(rc, t->name);
	d.key = db_hash(KEY_THREAD, thread, 0);
	return t->id = db_scan_track(&rc->sc, &d);
}

/* Several processes of a file use one device: it is one track by its host and id. */
static track_id rocpd_agent_track(struct rocpd *rc, uint32_t agent)
{
	struct rocpd_agent *a = &rc->agents.v[agent];
	struct track_def d = TRACK_DEF_INIT;

	if (a->id != TRACK_NONE)
		return a->id;
	d.kind = TRACK_DEVICE;
	d.host = name_or_null(rc, a->host);
	d.device = a->device;
	d.pci = a->pci[0] ? a->pci : NULL;
	d.name = name_or_null(rc, a->name);
	d.key = db_hash(KEY_AGENT, a->host, intern_puts(rc->names, a->device));
	return a->id = db_scan_track(&rc->sc, &d);
}

/* Rows of freed memory often lack the device. */
track_id rocpd_memory_track(struct rocpd *rc, uint32_t agent)
{
	struct rocpd_agent *a = agent == SQLITE_ID_NONE ? NULL : &rc->agents.v[agent];
	struct track_def d = TRACK_DEF_INIT;

	if (a && a->memory != TRACK_NONE)
		return a->memory;
	d.kind = TRACK_COUNTER;
	d.name = "memory";
	d.key = db_hash(KEY_MEMORY, agent, 0);
	if (!a)
		return rc->sc.sink->ops->track(rc->sc.sink, &d);
	d.parent = rocpd_agent_track(rc, agent);
	d.host = name_or_null(rc, a->host);
	return a->memory = db_scan_track(&rc->sc, &d);
}

track_id rocpd_queue_track(struct rocpd *rc, uint32_t guid, uint32_t agent, uint32_t process,
			   struct sqlite_rows *q, int stream, int queue)
{
	int64_t of_stream = sqlite_rows_i64_or(q, stream, 0);
	int64_t of_queue = sqlite_rows_i64_or(q, queue, 0);
	bool streams = of_stream != 0 || of_queue == 0;
	int64_t number = streams ? of_stream : of_queue;
	uint64_t place = db_hash(streams ? KEY_STREAM : KEY_QUEUE, guid, agent);
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at, name;

	d.key = db_hash(place, process, (uint64_t)number);
	at = u64map_at(&rc->queues, d.key);
	if (*at != U64MAP_NONE)
		return *at;
	name = rocpd_get(rc, streams ? ROCPD_STREAM : ROCPD_QUEUE, guid, number);
	d.kind = TRACK_QUEUE;
	d.parent = rocpd_agent_track(rc, agent);
	d.host = name_or_null(rc, rc->agents.v[agent].host);
	d.device = rc->agents.v[agent].device;
	d.pci = rc->agents.v[agent].pci[0] ? rc->agents.v[agent].pci : NULL;
	d.tid = number >= 0 ? number : PID_NONE;
	d.rank = rc->processes.v[process].rank;
	d.owner = rocpd_process_track(rc, process);
	d.name = name == SQLITE_ID_NONE ? NULL : name_or_null(rc, name);
	return *at = db_scan_track(&rc->sc, &d);
}

uint64_t rocpd_correlation(uint32_t process, uint64_t stack)
{
	if (stack == 0)
		return 0;
	if (stack < UINT64_C(1) << 40 && process < 1U << 23)
		return (uint64_t)(process + 1) << 40 | stack;
	return db_hash(process, stack, 'C');
}
