/* Definitions of a process, and the tracks of its records. */
#include "tef_rocprofv3.h"

#include <inttypes.h>
#include <string.h>


enum { GPU = 2 };

#define MAX_AGENTS 4096

/* Kinds of tracks. */
enum { KEY_V3_PROCESS = 101, KEY_V3_THREAD, KEY_V3_DEVICE, KEY_V3_STREAM, KEY_V3_QUEUE, KEY_V3_PC };

typedef int member_fn(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to);

/* Calls fn for each member; it takes the value or returns what json_skip does. */
static int each_member(struct v3 *v, struct json_cur *c, member_fn *fn, void *to)
{
	struct json_text key;
	bool some = false;
	int r;

	if (json_peek(c) != '{')
		return json_skip(c);
	c->p++;
	while ((r = json_member(c, &some, &key)) > 0) {
		r = fn(v, c, &key, to);
		if (r < 0)
			return r;
	}
	return r;
}

typedef int item_fn(struct v3 *v, struct json_cur *c, size_t i);

static int each_item(struct v3 *v, struct json_cur *c, item_fn *fn)
{
	bool some = false;
	size_t i = 0;
	int r;

	if (json_peek(c) != '[')
		return json_skip(c);
	c->p++;
	while ((r = json_element(c, &some)) > 0) {
		r = fn(v, c, i++);
		if (r < 0)
			return r;
	}
	return r;
}

static bool is_nested(struct json_cur *c)
{
	char ch = json_peek(c);

	return ch == '{' || ch == '[';
}

static int take_text(struct json_cur *c, struct json_text *to)
{
	return is_nested(c) ? json_skip(c) : json_scalar(c, to);
}

static int handle_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	(void)v;
	return json_text_is(key, "handle") ? take_text(c, to) : json_skip(c);
}

/* 3 or {"handle": 3} */
static int take_handle(struct v3 *v, struct json_cur *c, struct json_text *to)
{
	return json_peek(c) == '{' ? each_member(v, c, handle_member, to) : take_text(c, to);
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

static int node_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	struct json_text host = { .p = NULL };
	int r;

	(void)to;
	if (!json_text_is(key, "hostname"))
		return json_skip(c);
	r = take_text(c, &host);
	if (r == 0 && host.p) {
		strbuf_clear(&v->t->text);
		json_decode(&host, &v->t->text);
		snprintf(v->t->doc.host, sizeof(v->t->doc.host), "%s", v->t->text.buf);
	}
	return r;
}

static int metadata_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	struct json_text pid = { .p = NULL };
	uint64_t n;
	int r;

	if (json_text_is(key, "node"))
		return each_member(v, c, node_member, to);
	if (!json_text_is(key, "pid"))
		return json_skip(c);
	r = take_text(c, &pid);
	if (r == 0 && v3_number(&pid, &n) && n <= INT32_MAX)
		v->pid = (int64_t)n;
	return r;
}

/* --- agents --- */

struct agent_texts {
	struct json_text handle, type, node, index, location, domain;
};

static int agent_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	struct agent_texts *a = to;

	if (json_text_is(key, "id"))
		return take_handle(v, c, &a->handle);
	if (json_text_is(key, "type"))
		return take_text(c, &a->type);
	if (json_text_is(key, "node_id"))
		return take_text(c, &a->node);
	if (json_text_is(key, "logical_node_type_id"))
		return take_text(c, &a->index);
	if (json_text_is(key, "location_id"))
		return take_text(c, &a->location);
	if (json_text_is(key, "domain"))
		return take_text(c, &a->domain);
	return json_skip(c);
}

static int agent_item(struct v3 *v, struct json_cur *c, size_t i)
{
	struct agent_texts a = { .handle = { .p = NULL } };
	struct v3_agent made = { .node = (int64_t)i };
	uint64_t handle, n, where, domain = 0;
	int r = each_member(v, c, agent_member, &a);

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

static int op_item(struct v3 *v, struct json_cur *c, size_t i)
{
	struct json_text text = { .p = NULL };
	int r = take_text(c, &text);

	(void)i;
	if (r == 0)
		VEC_PUSH(&v->ops,
			 (struct v3_op){ .name = tef_string(v->t, &text),
					 .range = text.n &&
						  (memmem(text.p, text.n, "RangeSt", 7) ||
						   memmem(text.p, text.n, "ProcessRange", 12)) });
	return r;
}

static int kind_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	struct v3_kind *kind = to;
	struct json_text text = { .p = NULL };
	int r;

	if (json_text_is(key, "operations")) {
		kind->first_op = v->ops.nr;
		r = each_item(v, c, op_item);
		kind->ops = v->ops.nr - kind->first_op;
		return r;
	}
	if (!json_text_is(key, "kind"))
		return json_skip(c);
	r = take_text(c, &text);
	if (r == 0) {
		kind->name = tef_string(v->t, &text);
		kind->marker = text.p && text.n >= 6 && memcmp(text.p, "MARKER", 6) == 0;
	}
	return r;
}

static int kind_item(struct v3 *v, struct json_cur *c, size_t i)
{
	struct v3_kind kind = { .name = 0 };
	int r = each_member(v, c, kind_member, &kind);

	(void)i;
	VEC_PUSH(&v->kinds, kind);
	return r;
}

struct pair {
	struct json_text key, value;
};

static int pair_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	struct pair *p = to;

	(void)v;
	return json_text_is(key, "key")     ? take_text(c, &p->key)
	       : json_text_is(key, "value") ? take_text(c, &p->value)
					    : json_skip(c);
}

static int marker_item(struct v3 *v, struct json_cur *c, size_t i)
{
	struct pair p = { { .p = NULL }, { .p = NULL } };
	int r = each_member(v, c, pair_member, &p);
	uint64_t id;

	(void)i;
	if (r == 0 && p.value.p && v3_number(&p.key, &id))
		name_put(v, &v->markers, id, &p.value);
	return r;
}

static int instruction_item(struct v3 *v, struct json_cur *c, size_t i)
{
	struct json_text text = { .p = NULL };
	const char *blank;
	int r = take_text(c, &text);

	(void)i;
	/* without its operands, or a million of them are a million names */
	blank = text.n ? memchr(text.p, ' ', text.n) : NULL;
	if (blank)
		text.n = (size_t)(blank - text.p);
	if (r == 0)
		VEC_PUSH(&v->instructions, tef_string(v->t, &text));
	return r;
}

static int strings_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	(void)to;
	if (json_text_is(key, "buffer_records"))
		return each_item(v, c, kind_item);
	if (json_text_is(key, "marker_api"))
		return each_item(v, c, marker_item);
	if (json_text_is(key, "pc_sample_instructions"))
		return each_item(v, c, instruction_item);
	return json_skip(c);
}

/* --- kernels and counters --- */

enum { NAME_FORMATTED, NAME_DEMANGLED, NAME_TRUNCATED, NAME_PLAIN, NAMES };

struct symbol {
	struct json_text id, name[NAMES];
};

static int symbol_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	static const char *const words[NAMES] = { "formatted_kernel_name", "demangled_kernel_name",
						  "truncated_kernel_name", "kernel_name" };
	struct symbol *s = to;

	(void)v;
	if (json_text_is(key, "kernel_id"))
		return take_text(c, &s->id);
	for (int i = 0; i < NAMES; i++)
		if (json_text_is(key, words[i]))
			return take_text(c, &s->name[i]);
	return json_skip(c);
}

static int symbol_item(struct v3 *v, struct json_cur *c, size_t i)
{
	struct symbol s = { .id = { .p = NULL } };
	int r = each_member(v, c, symbol_member, &s);
	uint64_t id;

	(void)i;
	if (r < 0 || !v3_number(&s.id, &id))
		return r;
	for (int k = 0; k < NAMES; k++)
		if (s.name[k].n > 0) {
			name_put(v, &v->kernels, id, &s.name[k]);
			break;
		}
	return r;
}

static int counter_member(struct v3 *v, struct json_cur *c, const struct json_text *key, void *to)
{
	struct pair *p = to;

	return json_text_is(key, "id")     ? take_handle(v, c, &p->key)
	       : json_text_is(key, "name") ? take_text(c, &p->value)
					   : json_skip(c);
}

static int counter_item(struct v3 *v, struct json_cur *c, size_t i)
{
	struct pair p = { { .p = NULL }, { .p = NULL } };
	int r = each_member(v, c, counter_member, &p);
	uint64_t id;

	(void)i;
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
		member_fn *of_object;
		item_fn *of_list;
	} all[] = {
		{ V3_METADATA, metadata_member, NULL }, { V3_AGENTS, NULL, agent_item },
		{ V3_STRINGS, strings_member, NULL },   { V3_SYMBOLS, NULL, symbol_item },
		{ V3_COUNTERS, NULL, counter_item },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct json_cur c = v3_cursor(v, p->at[all[i].member]);
		int r;

		if (!c.p)
			continue;
		r = all[i].of_list ? each_item(v, &c, all[i].of_list)
				   : each_member(v, &c, all[i].of_object, NULL);
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
