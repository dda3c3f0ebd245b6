/*
 * AMD's rocprofv3 and rocprof-sys write calls and device work as slices with annotations, on tracks
 * whose names say where:
 *
 *	category	kernel_dispatch, memory_copy; hip_api, hsa_api, rccl_api, marker_api …
 *			(rocprof-sys: rocm_ in front)
 *	annotations	corr_id joins a call with the work that it launched; agent, queue, tid,
 *			copy_bytes, src_agent, dst_agent, group_segment_size …
 *	track		"COMPUTE AGENT [4] STREAM [1] (GPU)", "COPY to AGENT [4] STREAM [1] (GPU)",
 *			"COMPUTE GPU [0] QUEUE [2] GPU", "THREAD 1 (4711)"
 * Work goes to the queue of its agent, calls to their thread. Agents are counted with processors
 * ("Agent-4"); nothing in the file tells which GPU that is, so the number is kept.
 */
#include "perfetto.h"

#include <inttypes.h>

#include "profrig/base/num.h"

static const struct {
	const char *category;
	enum pf_class class;
} classes[] = {
	{ "kernel_dispatch", PF_KERNEL }, { "memory_copy", PF_COPY },
	{ "hip_api", PF_CALL },           { "hip_runtime_api", PF_CALL },
	{ "hip_compiler_api", PF_CALL },  { "hsa_api", PF_CALL },
	{ "rccl_api", PF_CALL },          { "rocdecode_api", PF_CALL },
	{ "rocjpeg_api", PF_CALL },       { "marker_api", PF_MARK },
};

void pf_classes_make(struct pf *p)
{
	char name[64];

	for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
		*u64map_at(&p->class_of, sink_puts(p->sink, classes[i].category)) =
			classes[i].class;
		snprintf(name, sizeof(name), "rocm_%s", classes[i].category);
		*u64map_at(&p->class_of, sink_puts(p->sink, name)) = classes[i].class;
	}
	p->last_category = STR_NONE;
}

/* The number in "WORD [7]" of a track's name; FACT_ABSENT. */
static int64_t number_behind(const char *name, const char *word)
{
	const char *at = name ? strstr(name, word) : NULL;
	size_t n = 0;
	int64_t v;

	if (!at)
		return FACT_ABSENT;
	at += strlen(word);
	if (strncmp(at, " [", 2) != 0)
		return FACT_ABSENT;
	at += 2;
	while (at[n] >= '0' && at[n] <= '9')
		n++;
	return num_i64(at, n, &v) == 0 ? v : FACT_ABSENT;
}

static track_id device_track(struct pf *p, const char *device)
{
	struct track_def d = TRACK_DEF_INIT;
	uint64_t key = pf_mix('D', 0);
	uint32_t *at;

	for (const char *c = device; *c; c++)
		key = pf_mix(key, (unsigned char)*c);
	if (track_limit_shares(&p->limit, &p->queue_at, key))
		return TRACK_NONE;
	at = u64map_at(&p->queue_at, key);
	if (*at == U64MAP_NONE) {
		d.kind = TRACK_DEVICE;
		d.device = device;
		d.key = key;
		*at = track_limit_make(&p->limit, p->sink, &d);
	}
	return *at;
}

/* A queue by its number or, PID_NONE, by a name. */
track_id pf_queue(struct pf *p, const char *device, int64_t number, const char *name, int64_t pid)
{
	struct track_def d = TRACK_DEF_INIT;
	uint64_t key = pf_mix('Q', (uint64_t)number);
	uint32_t *at;

	for (const char *c = device; *c; c++)
		key = pf_mix(key, (unsigned char)*c);
	for (const char *c = number == PID_NONE && name ? name : ""; *c; c++)
		key = pf_mix(key, (unsigned char)*c);
	d.kind = TRACK_QUEUE;
	if (track_limit_shares(&p->limit, &p->queue_at, key))
		return track_limit_make(&p->limit, p->sink, &d);
	d.parent = device_track(p, device);
	d.owner = pf_process(p, pid);
	at = u64map_at(&p->queue_at, key);
	if (*at == U64MAP_NONE) {
		d.device = device;
		d.tid = number;
		d.key = key;
		d.name = name;
		*at = track_limit_make(&p->limit, p->sink, &d);
	}
	return *at;
}

static int64_t first_of(int64_t a, int64_t b)
{
	return a == FACT_ABSENT ? b : a;
}

static track_id queue_of(struct pf *p, const struct pf_said *said, uint32_t track, bool copy,
			 int64_t pid)
{
	const char *name = p->tracks.v[track].name;
	int64_t agent = first_of(number_behind(name, "AGENT"), number_behind(name, "GPU"));
	int64_t queue = first_of(number_behind(name, "STREAM"), number_behind(name, "QUEUE"));
	bool cpu = name && strstr(name, "CPU") != NULL;
	char device[48];

	if (copy && cpu && said->from != FACT_ABSENT) {
		/* a copy to the host is shown where it arrives; its engine is the device's */
		agent = said->from;
		cpu = said->from_cpu;
	}
	agent = first_of(agent, first_of(said->agent, first_of(said->to, said->from)));
	queue = first_of(queue, copy ? FACT_ABSENT : said->queue);
	if (agent == FACT_ABSENT && p->opts->device)
		snprintf(device, sizeof(device), "%s", p->opts->device);
	else
		snprintf(device, sizeof(device), "%s%" PRId64, cpu && !copy ? "cpu" : "gpu",
			 agent == FACT_ABSENT ? 0 : agent);
	return queue == FACT_ABSENT ? pf_queue(p, device, PID_NONE, name ? name : "queue", pid)
				    : pf_queue(p, device, queue, NULL, pid);
}

static int64_t process_of(const struct pf *p, const struct pf_event *e, uint32_t track)
{
	int64_t pid = pf_track_pid(p, track);

	return pid != PID_NONE ? pid : p->pid != PID_NONE ? p->pid : e->packet->pid;
}

/* Every process counts its correlations from the start. */
static uint64_t correlation_of(const struct pf *p, const struct pf_said *said, int64_t pid)
{
	if (said->correlation == FACT_ABSENT || said->correlation == 0)
		return 0;
	return pid == p->pid || pid == PID_NONE
		       ? (uint64_t)said->correlation
		       : pf_mix((uint64_t)pid, (uint64_t)said->correlation);
}

void pf_device_take(struct pf *p, const struct pf_event *e, uint32_t track, enum pf_class class,
		    struct pf_open *o)
{
	struct pf_said said;
	int64_t pid = process_of(p, e, track);
	uint32_t direction;

	pf_said_take(p, e, &said);
	if (said.correlation == FACT_ABSENT && said.begin_ns == FACT_ABSENT)
		return;
	o->kind_stated = true;
	o->kind = class == PF_KERNEL ? SPAN_KERNEL : class == PF_COPY ? SPAN_COPY : SPAN_HOST;
	if (class != PF_MARK)
		o->correlation = correlation_of(p, &said, pid);
	if (class == PF_CALL || class == PF_MARK) {
		if (p->tracks.v[track].kind != PF_THREAD && said.tid != FACT_ABSENT)
			o->on = pf_thread(p, pid, said.tid, p->tracks.v[track].name);
		return;
	}
	o->on = queue_of(p, &said, track, class == PF_COPY, pid);
	direction = class == PF_COPY ? u64map_get(&p->direction_of, o->name) : U64MAP_NONE;
	o->direction = direction == U64MAP_NONE ? COPY_UNKNOWN : (uint8_t)direction;
	if ((!p->opts->facts && !p->opts->keep_shapes) || p->said.nr >= UINT32_MAX - 1)
		return;
	if (p->said_free.nr > 0) {
		o->said = p->said_free.v[--p->said_free.nr];
		p->said.v[o->said - 1] = said;
		return;
	}
	VEC_PUSH(&p->said, said);
	o->said = (uint32_t)p->said.nr;
}

void pf_name_learn(struct pf *p, str_id name, struct pf_bytes text)
{
	static const struct {
		const char *word;
		enum copy_direction direction;
	} words[] = { { "HOST_TO_DEVICE", COPY_H2D },
		      { "DEVICE_TO_HOST", COPY_D2H },
		      { "DEVICE_TO_DEVICE", COPY_D2D },
		      { "HOST_TO_HOST", COPY_H2H } };

	if (text.n < 12 || memcmp(text.p, "MEMORY_COPY_", 12) != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (memmem(text.p, text.n, words[i].word, strlen(words[i].word)))
			*u64map_at(&p->direction_of, name) = words[i].direction;
}

/* By the agents, where the name says nothing. */
static enum copy_direction direction_of(const struct pf_said *said)
{
	if (said->from == FACT_ABSENT || said->to == FACT_ABSENT)
		return COPY_UNKNOWN;
	if (said->from_cpu != said->to_cpu)
		return said->from_cpu ? COPY_H2D : COPY_D2H;
	if (said->from_cpu)
		return COPY_H2H;
	return said->from == said->to ? COPY_D2D : COPY_UNKNOWN;
}

void pf_device_facts(struct pf *p, const struct pf_open *o, span_id span)
{
	const struct pf_said *said = &p->said.v[o->said - 1];
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };

	if (!p->opts->facts || p->sink->counts_only)
		return;
	if (o->kind == SPAN_COPY) {
		f = (struct span_facts){ .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };
		f.copy.bytes = said->bytes;
		f.copy.direction =
			o->direction ? (enum copy_direction)o->direction : direction_of(said);
	} else {
		f.kernel.shared_bytes = said->shared;
		f.kernel.local_bytes = said->local;
	}
	p->sink->ops->facts(p->sink, span, &f);
}
