/*
 * Samples of the CPU's call stacks (`nsys profile --sample`):
 *
 *	COMPOSITE_EVENTS	id, start, cpu, threadState, globalTid, cpuCycles: a sample each
 *	SAMPLING_CALLCHAINS	id of the sample, stackDepth (0 = leaf), symbol and module (ids of
 *				StringIds), kernelMode, unresolved: a row for each frame
 *
 * They become spans (stack_spans.h) on a track beside the thread, because the thread's own track
 * has calls with their true times: annotations, so that they do not count as calls. No table has
 * the period, so the weight of a sample is the median distance of neighbouring samples on one CPU:
 * the fact sample_ns. A frame without a symbol is named after its module, "[libcuda.so]"; a sample
 * without a chain is one frame, "[unknown]".
 *
 * Facts: NVIDIA's reference of the export's schema.
 */
#include "nsys.h"
#include "stack_spans.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/sort.h"
#include "profrig/model/warnings.h"

#define MAX_GAPS 65536
#define MIN_SAMPLE_NS 1000
#define MAX_SAMPLE_NS INT64_C(10000000000)
#define DEFAULT_SAMPLE_NS 1000000

struct sample {
	int64_t t_ns, global, cpu;
	uint32_t first, nr; /* its frames */
};

struct frame {
	uint32_t sample;
	uint32_t depth;
	str_id name;
	bool kernel;
};

struct nsys_stacks {
	struct nsys *ns;
	struct sqlite_ids ids; /* of COMPOSITE_EVENTS: samples */
	VEC(struct sample) all;
	VEC(struct frame) frames;
	VEC(struct stack_frame) stack;
	struct stack_limit limit;
	str_id sampled, kernel;
	int64_t sample_ns;
	uint64_t stackless, strange;
};

static bool take_sample(void *vp, struct sqlite_rows *q)
{
	struct nsys_stacks *sm = vp;
	struct sample s = { .cpu = sqlite_rows_i64_or(q, 3, -1) };
	int64_t id;

	if (!sqlite_rows_i64(q, 0, &id) || !sqlite_rows_i64(q, 1, &s.t_ns) ||
	    !sqlite_rows_i64(q, 2, &s.global)) {
		db_scan_bad(&sm->ns->sc, q, "a sample without an id, a time or a thread");
		return false;
	}
	if (!sqlite_ids_add(&sm->ids, id, (uint32_t)sm->all.nr)) {
		db_scan_bad(&sm->ns->sc, q, "a row before it has its id, so it was left out");
		return false;
	}
	VEC_PUSH(&sm->all, s);
	return true;
}

static str_id module_name(struct nsys_stacks *sm, struct sqlite_rows *q, int col)
{
	int64_t id;
	const char *path =
		sqlite_rows_i64(q, col, &id) ? sqlite_strings_text(&sm->ns->strings, id) : NULL;
	CLEANUP(xfreep)
	char *name = path && *path && *path != '[' ? xasprintf("[%s]", fs_base(path))
						   : xstrdup(path && *path ? path : "[unknown]");

	return sink_puts(sm->ns->sc.sink, name);
}

static str_id frame_name(struct nsys_stacks *sm, struct sqlite_rows *q, int symbol, int module,
			 int unresolved)
{
	str_id name = STR_NONE;
	int64_t id;

	if (sqlite_rows_i64_or(q, unresolved, 0) == 0 && sqlite_rows_i64(q, symbol, &id))
		name = sqlite_strings_id(&sm->ns->strings, id);
	if (name == STR_NONE)
		name = module_name(sm, q, module);
	stack_named(&sm->limit, name, 0);
	return name;
}

static bool take_frame(void *vp, struct sqlite_rows *q)
{
	struct nsys_stacks *sm = vp;
	struct frame f = { .kernel = sqlite_rows_i64_or(q, 4, 0) != 0 };
	int64_t id, depth;

	f.sample = sqlite_rows_i64(q, 0, &id) ? sqlite_ids_get(&sm->ids, id) : SQLITE_ID_NONE;
	if (f.sample == SQLITE_ID_NONE || !sqlite_rows_i64(q, 1, &depth) || depth < 0 ||
	    depth > UINT32_MAX || sm->frames.nr == UINT32_MAX) {
		sm->strange++; /* chains of API calls are in tables of their own */
		return false;
	}
	f.depth = (uint32_t)depth;
	f.name = frame_name(sm, q, 2, 3, 5);
	VEC_PUSH(&sm->frames, f);
	mem_budget_take(&sm->limit.memory, sizeof(f));
	return true;
}

static const struct db_table composite = { "COMPOSITE_EVENTS", "id start globalTid cpu?",
					   .take = take_sample };
static const struct db_table chains = { "SAMPLING_CALLCHAINS",
					"id stackDepth symbol module? kernelMode? unresolved?",
					.take = take_frame };

/* Root first. */
static int by_depth(const void *va, const void *vb)
{
	const struct frame *a = va, *b = vb;

	if (a->sample != b->sample)
		return a->sample < b->sample ? -1 : 1;
	return (a->depth < b->depth) - (a->depth > b->depth);
}

static int by_cpu(const void *va, const void *vb)
{
	const struct sample *a = va, *b = vb;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

static int by_thread(const void *va, const void *vb)
{
	const struct sample *a = va, *b = vb;

	if (a->global != b->global)
		return a->global < b->global ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void samples_join(struct nsys_stacks *sm)
{
	if (sm->frames.nr > 0)
		qsort(sm->frames.v, sm->frames.nr, sizeof(*sm->frames.v), by_depth);
	for (size_t i = 0; i < sm->frames.nr; i++) {
		struct sample *s = &sm->all.v[sm->frames.v[i].sample];

		if (s->nr++ == 0)
			s->first = (uint32_t)i;
	}
}

static void samples_measure(struct nsys_stacks *sm)
{
	VEC(int64_t) gaps = VEC_INIT;

	qsort(sm->all.v, sm->all.nr, sizeof(*sm->all.v), by_cpu);
	for (size_t i = 1; i < sm->all.nr && gaps.nr < MAX_GAPS; i++) {
		const struct sample *a = &sm->all.v[i - 1], *b = &sm->all.v[i];
		int64_t gap;

		if (a->cpu == b->cpu && !__builtin_sub_overflow(b->t_ns, a->t_ns, &gap) &&
		    gap >= MIN_SAMPLE_NS && gap <= MAX_SAMPLE_NS)
			VEC_PUSH(&gaps, gap);
	}
	sm->sample_ns = gaps.nr > 0 ? median_i64(gaps.v, gaps.nr) : DEFAULT_SAMPLE_NS;
	VEC_RELEASE(&gaps);
}

static void push_sample(struct nsys_stacks *sm, struct stack_track *t, const struct sample *s)
{
	struct stack_frame unknown = { .category = sm->sampled, .args = STR_NONE };

	VEC_CLEAR(&sm->stack);
	for (uint32_t i = s->first; i < s->first + s->nr; i++) {
		const struct frame *f = &sm->frames.v[i];

		VEC_PUSH(&sm->stack,
			 (struct stack_frame){ f->name, f->kernel ? sm->kernel : sm->sampled,
					       STR_NONE });
	}
	if (s->nr == 0) {
		unknown.name = sink_puts(sm->ns->sc.sink, "[unknown]");
		VEC_PUSH(&sm->stack, unknown);
		sm->stackless++;
	}
	if (stack_push(sm->ns->sc.sink, &sm->limit, t, s->t_ns, sm->sample_ns, sm->stack.v,
		       sm->stack.nr, 0) < 0)
		sm->strange++;
}

static void stacks_push(struct nsys_stacks *sm)
{
	struct stack_track t = STACK_TRACK_INIT(TRACK_NONE);

	qsort(sm->all.v, sm->all.nr, sizeof(*sm->all.v), by_thread);
	for (size_t i = 0; i < sm->all.nr; i++) {
		const struct sample *s = &sm->all.v[i];

		if (i == 0 || s->global != sm->all.v[i - 1].global) {
			stack_close(sm->ns->sc.sink, &t);
			t = (struct stack_track)STACK_TRACK_INIT(nsys_sampled(sm->ns, s->global));
			t.kind = SPAN_ANNOTATION;
		}
		push_sample(sm, &t, s);
	}
	stack_close(sm->ns->sc.sink, &t);
}

void nsys_read_samples(struct nsys *ns)
{
	struct nsys_stacks sm = { .ns = ns };
	struct sink *s = ns->sc.sink;
	struct input *in = s->ops->current(s);

	mem_budget_fixed(&sm.limit.memory, 2 * ns->sc.db->bytes,
			 (in->spans + in->instants) * MEM_SPAN);
	db_scan_table(&ns->sc, &composite, &sm);
	if (sm.all.nr > 0) {
		sm.sampled = sm.limit.category = sink_puts(s, STACK_SAMPLED);
		sm.kernel = sink_puts(s, STACK_SAMPLED_KERNEL);
		db_scan_table(&ns->sc, &chains, &sm);
		samples_join(&sm);
		samples_measure(&sm);
		stacks_push(&sm);
		sink_fact(s, "cpu_samples", (int64_t)sm.all.nr);
		sink_fact(s, "sample_ns", sm.sample_ns);
		sink_fact(s, "without_stack", (int64_t)sm.stackless);
		stack_limit_warn(&sm.limit, s);
		s->ops->current(s)->partial |= sm.limit.lost > 0;
	}
	sink_warn(s, W_BAD_EVENT, sm.strange,
		  "frames of no sample, or samples at a time that cannot be kept");
	sqlite_ids_release(&sm.ids);
	VEC_RELEASE(&sm.all);
	VEC_RELEASE(&sm.frames);
	VEC_RELEASE(&sm.stack);
}
