/* Definitions of a process, and the tracks of its records. */
#include "tef_rocprofv3.h"

#include <inttypes.h>
#include <string.h>

enum { GPU = 2 };

#define MAX_AGENTS 4096

/* Kinds of tracks. */
enum { KEY_V3_PROCESS = 101, KEY_V3_THREAD, KEY_V3_DEVICE, KEY_V3_STREAM, KEY_V3_QUEUE, KEY_V3_PC };

/* 3 or {"handle": 3} */
int v3_take_handle(struct json_cur *c, void *to)
{
	static const struct json_known handle = { "handle", 6, json_take_text, 0 };

	return json_peek(c) == '{' ? json_members(c, &handle, 1, to) : json_take_text(c, to);
}

static void name_put(struct v3 *v, struct v3_names *names, uint64_t id,
		     const struct json_text *text)
{
	uint32_t *at = u64map_at(&names->at, id);

	if (*at != U64MAP_NONE) {
		v->t->at = (size_t)(text->p - v->t->map.data);
		tef_bad_event(v->t, "name of a number that has one already");
		return;
	}
	*at = (uint32_t)names->v.nr;
	VEC_PUSH(&names->v, tef_string(v->t, text));
}

str_id v3_name(const struct v3_names *names, uint64_t id)
{
	uint32_t at = u64map_get(&names->at, id);

	return at == U64MAP_NONE ? STR_NONE : names->v.v[at];
}

/* --- metadata --- */

static int take_host(struct json_cur *c, void *to)
{
	struct json_text host = { .p = NULL };
	int r = json_take_text(c, &host);
	struct v3 *v = to;

	if (r == 0 && host.p) {
		strbuf_clear(&v->t->text);
		json_decode(&host, &v->t->text);
		snprintf(v->t->doc.host, sizeof(v->t->doc.host), "%s", v->t->text.buf);
	}
	return r;
}

static int take_pid(struct json_cur *c, void *to)
{
	struct json_text pid = { .p = NULL };
	int r = json_take_text(c, &pid);
	struct v3 *v = to;
	uint64_t n;

	if (r == 0 && v3_number(&pid, &n) && n <= INT32_MAX)
		v->pid = (int64_t)n;
	return r;
}

static int take_node(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = { JSON_CALL("hostname", take_host) };

	return json_members(c, fields, ARRAY_LEN(fields), to);
}

static int take_metadata(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_CALL("node", take_node),
		JSON_CALL("pid", take_pid),
	};

	return json_members(c, fields, ARRAY_LEN(fields), to);
}

/* --- agents --- */

struct agent_texts {
	struct json_text handle, type, node, index, location, domain;
};

static int take_agent(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_INTO("id", v3_take_handle, struct agent_texts, handle),
		JSON_INTO("type", json_take_text, struct agent_texts, type),
		JSON_INTO("node_id", json_take_text, struct agent_texts, node),
		JSON_INTO("logical_node_type_id", json_take_text, struct agent_texts, index),
		JSON_INTO("location_id", json_take_text, struct agent_texts, location),
		JSON_INTO("domain", json_take_text, struct agent_texts, domain),
	};
	struct v3 *v = to;
	struct agent_texts a = { .handle = { .p = NULL } };
	struct v3_agent made = { .node = v->agents_listed++ };
	uint64_t handle, n, where, domain = 0;
	int r = json_members(c, fields, ARRAY_LEN(fields), &a);

	if (r < 0 || !v3_number(&a.handle, &handle) || v->agents.nr == MAX_AGENTS)
		return r;
	made.gpu = v3_number(&a.type, &n) && n == GPU;
	if (v3_number(&a.node, &n) && n < UINT32_MAX)
		made.node = (int64_t)n;
	if (v3_number(&a.index, &n) && n < 65536) {
		made.index = (int64_t)n;
		made.numbered = true;
	}
	v3_number(&a.domain, &domain);
	if (v3_number(&a.location, &where) && where > 0 && where <= UINT16_MAX &&
	    domain <= UINT32_MAX &&
	    !model_pci((int64_t)domain, (int64_t)(where >> 8), (int64_t)(where >> 3 & 31),
		       made.pci))
		made.pci[0] = '\0';
	*u64map_at(&v->agent_at, handle) = (uint32_t)v->agents.nr;
	VEC_PUSH(&v->agents, made);
	return r;
}

/* "gpuN" counts devices as ROCm does, by the driver's nodes, and not the processors between them.
 */
static void agents_name(struct v3 *v)
{
	for (size_t i = 0; i < v->agents.nr; i++) {
		struct v3_agent *a = &v->agents.v[i];

		for (size_t k = 0; !a->numbered && k < v->agents.nr; k++)
			a->index += v->agents.v[k].gpu == a->gpu && v->agents.v[k].node < a->node;
		snprintf(a->device, sizeof(a->device), "%s%" PRId64, a->gpu ? "gpu" : "cpu",
			 a->index);
	}
}

const struct v3_agent *v3_agent(const struct v3 *v, const struct json_text *handle)
{
	uint64_t id;
	uint32_t at = v3_number(handle, &id) ? u64map_get(&v->agent_at, id) : U64MAP_NONE;

	return at == U64MAP_NONE ? NULL : &v->agents.v[at];
}

/* --- strings --- */

static int take_op(struct json_cur *c, void *to)
{
	struct json_text text = { .p = NULL };
	int r = json_take_text(c, &text);
	struct v3 *v = to;

	if (r == 0)
		VEC_PUSH(&v->ops,
			 (struct v3_op){ .name = tef_string(v->t, &text),
					 .range = text.n &&
						  (memmem(text.p, text.n, "RangeSt", 7) ||
						   memmem(text.p, text.n, "ProcessRange", 12)) });
	return r;
}

struct kind_made {
	struct v3 *v;
	struct v3_kind kind;
};

static int take_ops(struct json_cur *c, void *to)
{
	struct kind_made *made = to;
	size_t first = made->v->ops.nr;
	int r = json_elements(c, take_op, made->v);

	made->kind.first_op = first;
	made->kind.ops = made->v->ops.nr - first;
	return r;
}

static int take_kind_name(struct json_cur *c, void *to)
{
	struct json_text text = { .p = NULL };
	int r = json_take_text(c, &text);
	struct kind_made *made = to;

	if (r == 0) {
		made->kind.name = tef_string(made->v->t, &text);
		made->kind.marker = text.p && text.n >= 6 && memcmp(text.p, "MARKER", 6) == 0;
	}
	return r;
}

static int take_kind(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_CALL("operations", take_ops),
		JSON_CALL("kind", take_kind_name),
	};
	struct kind_made made = { .v = to };
	int r = json_members(c, fields, ARRAY_LEN(fields), &made);

	VEC_PUSH(&made.v->kinds, made.kind);
	return r;
}

struct pair {
	struct json_text key, value;
};

static int take_marker(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_INTO("key", json_take_text, struct pair, key),
		JSON_INTO("value", json_take_text, struct pair, value),
	};
	struct pair p = { .key = { .p = NULL } };
	int r = json_members(c, fields, ARRAY_LEN(fields), &p);
	struct v3 *v = to;
	uint64_t id;

	if (r == 0 && p.value.p && v3_number(&p.key, &id))
		name_put(v, &v->markers, id, &p.value);
	return r;
}

static int take_instruction(struct json_cur *c, void *to)
{
	struct json_text text = { .p = NULL };
	const char *blank;
	int r = json_take_text(c, &text);
	struct v3 *v = to;

	/* without its operands, or a million of them are a million names */
	blank = text.n ? memchr(text.p, ' ', text.n) : NULL;
	if (blank)
		text.n = (size_t)(blank - text.p);
	if (r == 0)
		VEC_PUSH(&v->instructions, tef_string(v->t, &text));
	return r;
}

static int take_kinds(struct json_cur *c, void *to)
{
	return json_elements(c, take_kind, to);
}

static int take_markers(struct json_cur *c, void *to)
{
	return json_elements(c, take_marker, to);
}

static int take_instructions(struct json_cur *c, void *to)
{
	return json_elements(c, take_instruction, to);
}

static int take_strings(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_CALL("buffer_records", take_kinds),
		JSON_CALL("marker_api", take_markers),
		JSON_CALL("pc_sample_instructions", take_instructions),
	};

	return json_members(c, fields, ARRAY_LEN(fields), to);
}

/* --- kernels and counters --- */

/* The names of a kernel, the best first. */
enum { NAMES = 4 };

struct symbol {
	struct json_text id, name[NAMES];
};

static int take_symbol(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_INTO("kernel_id", json_take_text, struct symbol, id),
		JSON_INTO("formatted_kernel_name", json_take_text, struct symbol, name[0]),
		JSON_INTO("demangled_kernel_name", json_take_text, struct symbol, name[1]),
		JSON_INTO("truncated_kernel_name", json_take_text, struct symbol, name[2]),
		JSON_INTO("kernel_name", json_take_text, struct symbol, name[3]),
	};
	struct symbol s = { .id = { .p = NULL } };
	int r = json_members(c, fields, ARRAY_LEN(fields), &s);
	struct v3 *v = to;
	uint64_t id;
	int k = 0;

	while (k < NAMES && s.name[k].n == 0)
		k++;
	if (r == 0 && k < NAMES && v3_number(&s.id, &id))
		name_put(v, &v->kernels, id, &s.name[k]);
	return r;
}

static int take_counter(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_INTO("id", v3_take_handle, struct pair, key),
		JSON_INTO("name", json_take_text, struct pair, value),
	};
	struct pair p = { .key = { .p = NULL } };
	int r = json_members(c, fields, ARRAY_LEN(fields), &p);
	struct v3 *v = to;
	uint64_t id;

	if (r == 0 && p.value.p && v3_number(&p.key, &id)) {
		*u64map_at(&v->counter_at, id) = (uint32_t)v->counters.nr;
		VEC_PUSH(&v->counters, p.value);
	}
	return r;
}

void v3_define(struct v3 *v, const struct v3_process *p)
{
	static const struct {
		enum v3_member member;
		bool list; /* take is for its elements */
		json_take_fn *take;
	} all[] = {
		{ V3_METADATA, false, take_metadata }, { V3_AGENTS, true, take_agent },
		{ V3_STRINGS, false, take_strings },   { V3_SYMBOLS, true, take_symbol },
		{ V3_COUNTERS, true, take_counter },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct json_cur c = v3_cursor(v, p->at[all[i].member]);
		int r;

		if (!c.p)
			continue;
		r = all[i].list ? json_elements(&c, all[i].take, v) : all[i].take(&c, v);
		if (r < 0)
			v3_damaged(v, &c, r);
	}
	agents_name(v);
}

static void names_forget(struct v3_names *names)
{
	u64map_release(&names->at);
	VEC_RELEASE(&names->v);
	*names = (struct v3_names){ .at = U64MAP_INIT };
}

void v3_forget(struct v3 *v)
{
	names_forget(&v->kernels);
	names_forget(&v->markers);
	u64map_release(&v->agent_at);
	u64map_release(&v->dispatch_at);
	u64map_release(&v->counter_at);
	v->agent_at = v->dispatch_at = v->counter_at = (struct u64map)U64MAP_INIT;
	VEC_RELEASE(&v->counters);
	VEC_RELEASE(&v->agents);
	VEC_RELEASE(&v->kinds);
	VEC_RELEASE(&v->ops);
	VEC_RELEASE(&v->instructions);
	VEC_RELEASE(&v->dispatch_ends);
	v->agents_listed = 0;
	v->pid = PID_NONE;
	v->process = v->pc = TRACK_NONE;
	v->t->doc.host[0] = '\0';
}

/* --- tracks --- */

static track_id track_of(struct v3 *v, struct track_def *d)
{
	uint32_t *at = u64map_at(&v->track_at, d->key);
	track_id id;

	if (*at != U64MAP_NONE)
		return v->tracks.v[*at];
	d->host = v->t->doc.host[0] ? v->t->doc.host : NULL;
	*at = (uint32_t)v->tracks.nr;
	id = v->t->sink->ops->track(v->t->sink, d);
	VEC_PUSH(&v->tracks, id);
	return id;
}

static track_id process_track(struct v3 *v)
{
	struct track_def d = TRACK_DEF_INIT;

	if (v->process == TRACK_NONE) {
		d.kind = TRACK_PROCESS;
		d.pid = v->pid;
		d.key = tef_hash(KEY_V3_PROCESS, v->nr, 0);
		v->process = track_of(v, &d);
	}
	return v->process;
}

track_id v3_thread(struct v3 *v, const struct json_text *tid)
{
	struct track_def d = TRACK_DEF_INIT;
	uint64_t id;

	d.kind = TRACK_THREAD;
	d.parent = process_track(v);
	d.pid = v->pid;
	d.tid = v3_number(tid, &id) && id <= INT32_MAX ? (int64_t)id : PID_NONE;
	d.key = tef_hash(KEY_V3_THREAD, v->nr, (uint64_t)d.tid);
	return track_of(v, &d);
}

/* Processes of one host share their devices. */
static track_id device_track(struct v3 *v, const char *device, const char *pci)
{
	struct json_text words[] = { { .p = v->t->doc.host, .n = strlen(v->t->doc.host) },
				     { .p = device, .n = strlen(device) } };
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_DEVICE;
	d.device = device;
	d.pci = pci;
	d.key = tef_hash(KEY_V3_DEVICE, tef_hash_text(&words[0]), tef_hash_text(&words[1]));
	return track_of(v, &d);
}

track_id v3_queue(struct v3 *v, const struct v3_agent *agent, const struct json_text *queue)
{
	const char *device = agent                ? agent->device
			     : v->t->opts->device ? v->t->opts->device
						  : "gpu0";
	const char *pci = agent && agent->pci[0] ? agent->pci : NULL;
	struct json_text word = { .p = device, .n = strlen(device) };
	struct track_def d = TRACK_DEF_INIT;
	uint64_t id, place;

	d.kind = TRACK_QUEUE;
	d.parent = device_track(v, device, pci);
	d.device = device;
	d.pci = pci;
	d.owner = process_track(v);
	d.tid = v3_number(queue, &id) && id <= INT64_MAX ? (int64_t)id : PID_NONE;
	place = tef_hash(KEY_V3_QUEUE, d.parent, tef_hash_text(&word));
	d.key = tef_hash(place, v->nr, (uint64_t)d.tid);
	return track_of(v, &d);
}

track_id v3_pc_track(struct v3 *v)
{
	struct track_def d = TRACK_DEF_INIT;

	if (v->pc == TRACK_NONE) {
		d.kind = TRACK_COUNTER;
		d.name = "PC samples";
		d.parent = process_track(v);
		d.key = tef_hash(KEY_V3_PC, v->nr, 0);
		v->pc = track_of(v, &d);
	}
	return v->pc;
}
