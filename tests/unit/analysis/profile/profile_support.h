/*
 * What the tests of the profile share: one recording as a script, pushed by a reader of its own
 * into a model or through a profile; tables of both, compared cell by cell.
 */
#ifndef PROFILE_SUPPORT_H
#define PROFILE_SUPPORT_H

#include "test.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/model/warnings.h"
#include "profrig/profile/profile.h"
#include "profrig/stats/analysis.h"
#include "profrig/topology/topology.h"

/* ---- a recording ---- */

struct step {
	enum { ENTER, LEAVE, SAMPLE } what;
	int64_t t_ns;
	int name; /* of names[]; -1: leaves what is open */
	int category;
	enum span_kind kind; /* on a queue */
	int series;
	double value;
};

struct script_track {
	enum track_kind kind;
	const char *name, *device;
	VEC(struct step) steps;
};

struct script {
	VEC(struct script_track) tracks;
};

static const char *const names[] = { "main", "f",    "g",     "h;with;semicolons",
				     "f",    "gemm", "solve", "hipMemcpy" };
static const char *const categories[] = { "USER", "MPI", "" };

static inline void script_release(struct script *s)
{
	for (size_t i = 0; i < s->tracks.nr; i++)
		VEC_RELEASE(&s->tracks.v[i].steps);
	VEC_RELEASE(&s->tracks);
}

static inline size_t script_track(struct script *s, enum track_kind kind, const char *name,
				  const char *device)
{
	VEC_PUSH(&s->tracks,
		 ((struct script_track){ .kind = kind, .name = name, .device = device }));
	return s->tracks.nr - 1;
}

/* ---- the reader ---- */

struct script_source {
	struct source source;
	const struct script_track *t;
	size_t at;
};

static inline void step_push(const struct script_source *src, struct sink *s, const struct step *st)
{
	track_id t = src->source.track;
	char text[32];

	switch (st->what) {
	case ENTER:
		s->ops->enter(s, t, st->t_ns, sink_puts(s, names[st->name]),
			      sink_puts(s, categories[st->category]));
		if (src->t->kind == TRACK_QUEUE)
			s->ops->open_kind(s, t, st->kind);
		break;
	case LEAVE:
		s->ops->leave(s, t, st->t_ns,
			      st->name < 0 ? STR_NONE : sink_puts(s, names[st->name]));
		break;
	case SAMPLE:
		snprintf(text, sizeof(text), "counter %d", st->series);
		s->ops->sample(s,
			       s->ops->series(s, &(struct series_def){ .name = text,
								       .unit = "J",
								       .kind = SERIES_GAUGE,
								       .track = t }),
			       st->t_ns, st->value);
		break;
	}
}

static inline int script_pull(struct source *source, struct sink *into, uint64_t max)
{
	struct script_source *src = (struct script_source *)source;

	for (uint64_t i = 0; i < max && src->at < src->t->steps.nr; i++)
		step_push(src, into, &src->t->steps.v[src->at++]);
	return src->at < src->t->steps.nr;
}

static inline void script_read(const struct script *script, struct sink *s)
{
	size_t n = script->tracks.nr;
	CLEANUP(xfreep) struct script_source *v = xcalloc(n + 1, sizeof(*v));
	CLEANUP(xfreep) struct source **sources = xcalloc(n + 1, sizeof(*sources));

	s->ops->input(s, "script", "script");
	s->ops->clock(s);
	for (size_t i = 0; i < n; i++) {
		const struct script_track *t = &script->tracks.v[i];
		struct track_def d = TRACK_DEF_INIT;

		d.kind = t->kind;
		d.name = t->name;
		d.device = t->device;
		d.key = i;
		v[i] = (struct script_source){ .source = { .track = s->ops->track(s, &d),
							   .samples_only = t->kind == TRACK_COUNTER,
							   .records = t->steps.nr,
							   .pull = script_pull },
					       .t = t };
		sources[i] = &v[i].source;
	}
	s->ops->sources(s, sources, n);
	s->ops->input_end(s);
}

/* ---- both results ---- */

/* What the analysis of energy needs besides. */
struct outcome_energy {
	struct analysis_opts ao;
	struct counter_rules rules;
	struct topology *topology;
	struct energy_stream *stream;
};

struct outcome {
	struct model *m;
	struct profile *p; /* NULL of a model */
	struct outcome_energy *e;
	struct table_set ts;
};

static inline void outcome_release(struct outcome *o)
{
	table_set_release(&o->ts);
	profile_free(o->p);
	energy_stream_free(o->e->stream);
	topology_free(o->e->topology);
	counter_rules_release(&o->e->rules);
	free(o->e);
	model_free(o->m);
}

/* po: NULL for a model. Its lanes are read for energy unless it has a reader. */
static inline struct outcome outcome_begin(const struct profile_opts *po)
{
	struct outcome o = { .m = model_new(), .ts = TABLE_SET_INIT };
	struct profile_opts with;

	o.e = xcalloc(1, sizeof(*o.e));
	o.e->rules = (struct counter_rules)COUNTER_RULES_INIT;
	o.e->topology = topology_new();
	if (!po)
		return o;
	with = *po;
	if (!with.lanes.round) {
		o.e->ao.comm = with.comm;
		o.e->stream = energy_stream_new(o.m, &o.e->ao, &o.e->rules, o.e->topology);
		with.lanes = energy_stream_reader(o.e->stream);
	}
	o.p = profile_new(o.m, &with);
	return o;
}

static inline void outcome_analyse(struct outcome *o)
{
	int r;

	model_finish(o->m);
	if (o->p)
		profile_finish(o->p);
	counters_learn(o->m, &o->e->rules);
	topology_resolve(o->e->topology, o->m);
	o->e->ao.energy.topology = o->e->topology;
	o->e->ao.stream = o->e->stream;
	for (size_t i = 0; analyses[i]; i++) {
		if (!analyses[i]->of_profile && !analyses[i]->series_only)
			continue;
		r = analysis_run(analyses[i], o->m, o->p, &o->e->ao, &o->ts, NULL);
		assert_true(r == 0 || r == ANALYSIS_SKIPPED);
	}
	for (size_t i = 0; i < o->ts.checks.nr; i++)
		if (!o->ts.checks.v[i].ok)
			fail_msg("check %s: %s", o->ts.checks.v[i].name, o->ts.checks.v[i].detail);
}

static inline struct outcome outcome_of(const struct script *script, const struct profile_opts *po)
{
	struct outcome o = outcome_begin(po);

	script_read(script, model_sink(o.m));
	outcome_analyse(&o);
	return o;
}

/* ---- comparing ---- */

static inline bool is_approx(const struct table_column *c)
{
	return strcmp(c->name, "median_ns") == 0 || strcmp(c->name, "p95_ns") == 0;
}

/* Energies are kept in units of 2^-60 J by node, and a profile has more nodes: its paths tell
 * functions of one name and two categories apart. */
static inline bool is_rounded(const struct table_column *c)
{
	return strcmp(c->name, "inclusive_j") == 0 || strcmp(c->name, "static_j") == 0 ||
	       strcmp(c->name, "exclusive_j") == 0 || strcmp(c->name, "dynamic_j") == 0 ||
	       strcmp(c->name, "mean_w") == 0 || strcmp(c->name, "share") == 0 ||
	       strcmp(c->name, "attributed_j") == 0;
}

static inline bool same_cell(const struct table *a, const struct table *b, size_t row, size_t col,
			     double tolerance)
{
	const struct table_column *c = table_column(a, col);
	double x, y;

	switch (c->type) {
	case TABLE_STR:
		return strcmp(table_get_str(a, row, col), table_get_str(b, row, col)) == 0;
	case TABLE_I64:
		return table_get_i64(a, row, col) == table_get_i64(b, row, col);
	case TABLE_U64:
		return table_get_u64(a, row, col) == table_get_u64(b, row, col);
	case TABLE_F64:
		break;
	}
	x = table_get_f64(a, row, col);
	y = table_get_f64(b, row, col);
	/* a rounding error itself */
	if (strcmp(c->name, "error_rel") == 0)
		return x <= 1e-9 && y <= 1e-9;
	return (isnan(x) && isnan(y)) || x == y ||
	       (is_rounded(c) && fabs(x - y) <= 1e-9 * fabs(x) + 1e-15) ||
	       (is_approx(c) && fabs(x - y) <= tolerance * fabs(x));
}

/* tolerance: of medians and percentiles; all else is equal. Returns the number of cells. */
static inline size_t same_table(const struct table *a, const struct table *b, double tolerance)
{
	if (table_rows(a) != table_rows(b) || table_cols(a) != table_cols(b))
		fail_msg("%s: %zu rows, not %zu", table_name(a), table_rows(b), table_rows(a));
	for (size_t c = 0; c < table_cols(a); c++)
		assert_string_equal(table_column(a, c)->name, table_column(b, c)->name);
	for (size_t r = 0; r < table_rows(a); r++) {
		for (size_t c = 0; c < table_cols(a); c++) {
			if (same_cell(a, b, r, c, tolerance))
				continue;
			table_write_text(a, stderr, 30, 0);
			table_write_text(b, stderr, 30, 0);
			fail_msg("%s, row %zu: %s differs: %.17g, %.17g", table_name(a), r,
				 table_column(a, c)->name,
				 table_column(a, c)->type == TABLE_STR ? NAN
								       : table_get_f64(a, r, c),
				 table_column(a, c)->type == TABLE_STR ? NAN
								       : table_get_f64(b, r, c));
		}
	}
	return table_rows(a) * table_cols(a);
}

static inline size_t same_tables(const struct outcome *a, const struct outcome *b, double tolerance)
{
	size_t cells = 0;

	assert_int_equal(a->ts.tables.nr, b->ts.tables.nr);
	for (size_t i = 0; i < a->ts.tables.nr; i++) {
		const struct table *t = table_set_find(&b->ts, table_name(a->ts.tables.v[i]));

		assert_non_null(t);
		cells += same_table(a->ts.tables.v[i], t, tolerance);
	}
	return cells;
}

static inline uint64_t bits_of(double v)
{
	union {
		double v;
		uint64_t bits;
	} u = { v };

	return u.bits;
}

/* To the last bit. */
static inline void identical_tables(const struct outcome *a, const struct outcome *b)
{
	same_tables(a, b, 0);
	for (size_t i = 0; i < a->ts.tables.nr; i++) {
		const struct table *x = a->ts.tables.v[i];
		const struct table *y = table_set_find(&b->ts, table_name(x));

		for (size_t k = 0; k < table_rows(x) * table_cols(x); k++) {
			size_t row = k / table_cols(x), col = k % table_cols(x);
			double v, w;

			if (table_column(x, col)->type != TABLE_F64)
				continue;
			v = table_get_f64(x, row, col);
			w = table_get_f64(y, row, col);
			if (bits_of(v) != bits_of(w) && !(isnan(v) && isnan(w)))
				fail_msg("%s, row %zu: %s is %a and %a", table_name(x), row,
					 table_column(x, col)->name, v, w);
		}
	}
}

static inline void same_warnings(const struct model *a, const struct model *b)
{
	for (size_t i = 0; i < a->warnings.nr || i < b->warnings.nr; i++) {
		if (i >= a->warnings.nr || i >= b->warnings.nr)
			fail_msg("%zu warnings, not %zu: %s", b->warnings.nr, a->warnings.nr,
				 i < a->warnings.nr ? a->warnings.v[i].text
						    : b->warnings.v[i].text);
		assert_string_equal(a->warnings.v[i].code, b->warnings.v[i].code);
		/* a model counts calls, a profile has only their paths */
		if (strcmp(a->warnings.v[i].code, W_OUTSIDE_SAMPLES) == 0)
			continue;
		assert_string_equal(a->warnings.v[i].text, b->warnings.v[i].text);
		assert_int_equal(a->warnings.v[i].count, b->warnings.v[i].count);
		assert_int_equal(a->warnings.v[i].input, b->warnings.v[i].input);
	}
}

static inline void same_inputs(const struct model *a, const struct model *b)
{
	assert_int_equal(a->inputs.nr, b->inputs.nr);
	for (size_t i = 0; i < a->inputs.nr; i++) {
		const struct input *x = &a->inputs.v[i], *y = &b->inputs.v[i];

		assert_int_equal(x->partial, y->partial);
		assert_int_equal(x->spans - x->instants, y->spans);
		assert_int_equal(x->samples, y->samples);
		assert_int_equal(x->series, y->series);
		assert_int_equal(x->tracks, y->tracks);
		assert_int_equal(x->first_ns, y->first_ns);
		assert_int_equal(x->last_ns, y->last_ns);
	}
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->last_ns, b->last_ns);
}

#endif
