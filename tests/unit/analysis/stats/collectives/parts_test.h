/* parts_test: parts of collectives pushed through the sink, by hand or from a recording of JAX. */
#ifndef PROFRIG_PARTS_TEST_H
#define PROFRIG_PARTS_TEST_H

#include "jax_csv.h"
#include "stats_test.h"

/* One rank's part in a collective. */
struct part_def {
	int rank;
	int64_t start_ns, end_ns;
	const char *name, *dtype;
	int64_t in, out;
	int64_t seq; /* 1 more than the trace's; 0: it has none */
	const char *group;
	int ranks;         /* of the group: 0 to ranks − 1; 0: none is stated */
	int64_t from, to;  /* 1 more than the rank; 0: absent */
	int64_t hidden_ns; /* from its start on another queue computes for so many ns */
};
#define PART_INIT .dtype = "Byte"

struct rank_maker {
	struct model *m;
	struct sink *s;
};

static inline track_id rank_queue(struct rank_maker *k, int rank, int64_t stream)
{
	CLEANUP(xfreep) char *device = xasprintf("gpu%d", rank);
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_QUEUE;
	d.rank = rank;
	d.device = device;
	d.pid = 100 + rank;
	d.tid = stream;
	return k->s->ops->track(k->s, &d);
}

static inline void push_kernel(struct rank_maker *k, int rank, int64_t start_ns, int64_t end_ns,
			       const char *name)
{
	struct span_def d = { .track = rank_queue(k, rank, 8),
			      .kind = SPAN_KERNEL,
			      .start_ns = start_ns,
			      .end_ns = end_ns,
			      .name = sink_puts(k->s, name),
			      .args = STR_NONE };

	k->s->ops->span(k->s, &d);
}

static inline void push_part(struct rank_maker *k, const struct part_def *p)
{
	struct span_facts f = { .kind = FACTS_COLLECTIVE, .collective = COLLECTIVE_FACTS_NONE };
	struct span_def d = { .track = rank_queue(k, p->rank, 7),
			      .kind = SPAN_KERNEL,
			      .start_ns = p->start_ns,
			      .end_ns = p->end_ns,
			      .name = sink_puts(k->s, "ncclDevKernel_Generic(x)"),
			      .args = STR_NONE };
	int64_t ranks[64];
	span_id id = k->s->ops->span(k->s, &d);

	for (int i = 0; i < p->ranks; i++)
		ranks[i] = i;
	f.collective.name = sink_puts(k->s, p->name);
	f.collective.dtype = sink_puts(k->s, p->dtype);
	f.collective.in_elements = p->in;
	f.collective.out_elements = p->out;
	f.collective.sequence = p->seq ? p->seq - 1 : FACT_ABSENT;
	f.collective.from = p->from ? p->from - 1 : FACT_ABSENT;
	f.collective.to = p->to ? p->to - 1 : FACT_ABSENT;
	if (p->group) {
		f.collective.group = sink_puts(k->s, p->group);
		if (p->ranks) {
			f.collective.ranks = k->s->ops->numbers(k->s, ranks, (size_t)p->ranks);
			f.collective.group_size = p->ranks;
		}
	}
	k->s->ops->facts(k->s, id, &f);
	if (p->hidden_ns)
		push_kernel(k, p->rank, p->start_ns, p->start_ns + p->hidden_ns, "fusion");
}

/* Parts of one input after the other: that of each rank, or (shared) one of all. */
static inline struct model *model_of_parts(const struct part_def *v, size_t n, bool shared)
{
	struct rank_maker k = { .m = model_new() };
	int most = 0;

	k.s = model_sink(k.m);
	for (size_t i = 0; i < n; i++)
		most = v[i].rank > most ? v[i].rank : most;
	for (int r = 0; r <= (shared ? 0 : most); r++) {
		k.s->ops->input(k.s, "test", "tef");
		k.s->ops->clock(k.s);
		for (size_t i = 0; i < n; i++)
			if (shared || v[i].rank == r)
				push_part(&k, &v[i]);
		k.s->ops->input_end(k.s);
	}
	model_finish(k.m);
	return k.m;
}

/* A part as the sink has it. */
static inline struct part_def part_of_jax(const struct jax_parts *p, const struct jax_part *j)
{
	const char *kind = intern_str(p->names, j->kind);
	struct part_def d = { PART_INIT,
			      .rank = (int)j->device,
			      .start_ns = j->start_ns,
			      .end_ns = j->end_ns,
			      .name = kind,
			      .in = j->bytes,
			      .out = j->bytes,
			      .seq = j->instance + 1,
			      .group = "all",
			      .ranks = 4,
			      .hidden_ns = j->hidden_ns };

	if (strcmp(kind, "all-gather") == 0)
		d.out *= 4;
	if (strcmp(kind, "reduce-scatter") == 0)
		d.in *= 4;
	return d;
}

/* The collectives of the recording, each rank an input with a clock of its own. */
static inline struct model *jax_model(const struct jax_parts *p, bool steady)
{
	VEC(struct part_def) v = VEC_INIT;
	struct model *m;

	for (size_t i = 0; i < p->v.nr; i++)
		if (!steady || (p->v.v[i].step && p->v.v[i].execution >= 2))
			VEC_PUSH(&v, part_of_jax(p, &p->v.v[i]));
	m = model_of_parts(v.v, v.nr, false);
	VEC_RELEASE(&v);
	return m;
}

#endif
