/* Attribution of random traces against the oracle, one global sweep (invariants 1, 2, 6 and 7). */
#include "energy_random.h"
#include "energy_read.h"
#include "energy_sweep.h"

#include "profrig/base/sum.h"

#define CASES 600

static void same_result(const struct model *m, const struct energy_result *a,
			const struct energy_result *b)
{
	double tol = tolerance_of(b, m);

	assert_near(a->total_j, b->total_j, tol);
	assert_near(a->attributed_j, b->attributed_j, tol);
	assert_near(a->unattributed_j, b->unattributed_j, tol);
	assert_near(a->dead_j, b->dead_j, tol);
	assert_int_equal(a->unattributed_ns, b->unattributed_ns);
	assert_int_equal(a->exclusive_j == NULL, b->exclusive_j == NULL);
	for (size_t i = 0; a->exclusive_j && i < m->spans.nr; i++) {
		same_value(a->exclusive_j[i], b->exclusive_j[i], tol);
		same_value(a->inclusive_j[i], b->inclusive_j[i], tol);
		assert_int_equal(a->exclusive_ns[i], b->exclusive_ns[i]);
		assert_int_equal(a->marks[i], b->marks[i]);
	}
	for (size_t i = 0; a->pieces && i < m->pieces.nr; i++) {
		same_value(a->pieces[i].exclusive_j, b->pieces[i].exclusive_j, tol);
		assert_int_equal(a->pieces[i].exclusive_ns, b->pieces[i].exclusive_ns);
	}
}

static bool many_sharers(const struct model *m)
{
	size_t threads = 0;

	for (size_t t = 0; t < m->tracks.nr; t++)
		threads += m->tracks.v[t].kind == TRACK_THREAD && m->tracks.v[t].spans > 1;
	return threads > 2;
}

/* The topology takes the device from some threads and leaves it to others. */
static bool some_left_out(const struct random_trace *x)
{
	struct counter_info ci = counter_info(x->t.m, x->id);
	size_t in = 0, out = 0;

	for (track_id t = 0; t < x->t.m->tracks.nr; t++) {
		bool sees = topology_sees(x->topology, x->t.m, t, x->id, ci.device);

		if (x->t.m->tracks.v[t].kind != TRACK_THREAD)
			continue;
		in += sees;
		out += !sees;
	}
	return in > 0 && out > 0;
}

PROPERTY(equals_the_global_sweep)
{
	uint64_t taken = 0, pieces = 0, marked = 0, shared = 0, narrowed = 0, n = test_cases(CASES);

	for (uint64_t k = 0; next_case(&k, 0, CASES);) {
		CLEANUP(random_trace_release) struct random_trace x;

		random_trace(&x);
		pieces += x.t.m->pieces.nr > 0;
		for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
			struct energy_result fast, slow;
			int a = energy_attribute(x.t.m, x.id, (enum energy_view)view, &x.o, &fast,
						 NULL);
			int b = energy_attribute_sweep(x.t.m, x.id, (enum energy_view)view, &x.o,
						       &slow, NULL);

			assert_int_equal(a, b);
			taken += a == 0;
			marked += (fast.flags & (CF_RESET | CF_GAP)) != 0;
			shared += view == VIEW_HOST && many_sharers(x.t.m);
			narrowed += view == VIEW_HOST && some_left_out(&x);
			assert_true(fast.error_rel <= 1e-9 || fabs(fast.total_j) < 1e-3);
			same_result(x.t.m, &fast, &slow);
			energy_result_release(&fast);
			energy_result_release(&slow);
		}
	}
	/* the generator must give the cases that the laws are about */
	assert_true(taken > n);
	assert_true(pieces > n / 5);
	assert_true(marked > n / 5);
	assert_true(shared > n / 2);
	assert_true(narrowed > n / 20);
}

/* ---- rows and paths, as the tables have them ---- */

/* The oracle's spans summed up by function and by path. */
struct summed {
	double *row_inclusive, *row_exclusive, *path_exclusive;
	uint8_t *row_marks;
};

static void span_path(const struct model *m, uint64_t span, struct strbuf *out);

static void piece_path(const struct model *m, const struct span_piece *p, struct strbuf *out)
{
	if (p->parent != PIECE_NONE) {
		piece_path(m, &m->pieces.v[p->parent], out);
		strbuf_addch(out, ';');
	}
	strbuf_addstr(out, model_str(m, m->spans.name[p->span]));
}

/* As model.h tells: below the parent, or its piece. */
static void span_path(const struct model *m, uint64_t span, struct strbuf *out)
{
	const struct span_piece *below = model_below_piece(m, span);

	if (below)
		piece_path(m, below, out);
	else if (span_parent(&m->spans, span) != SPAN_NONE)
		span_path(m, span_parent(&m->spans, span), out);
	if (out->len)
		strbuf_addch(out, ';');
	strbuf_addstr(out, model_str(m, m->spans.name[span]));
}

static uint32_t path_find(const struct cct *c, track_id t, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf of_node = STRBUF_INIT;

	for (uint32_t i = 0; i < c->nr; i++) {
		cct_path(c, i, &of_node);
		if (c->nodes[i].track == t && strcmp(of_node.buf, path) == 0)
			return i;
	}
	fail_msg("no node '%s'", path);
	return CCT_NONE;
}

static uint32_t group_find(const struct energy_groups *g, track_id t, str_id name)
{
	for (uint32_t i = 0; i < g->groups.nr; i++)
		if (g->groups.v[i].track == t && g->groups.v[i].name == name)
			return i;
	fail_msg("no group");
	return 0;
}

static void sum_oracle(const struct model *m, const struct energy_groups *g,
		       const struct energy_result *r, struct summed *ret)
{
	int64_t *until = xcalloc(g->groups.nr + 1, sizeof(*until));

	ret->row_inclusive = xcalloc(g->groups.nr + 1, sizeof(double));
	ret->row_exclusive = xcalloc(g->groups.nr + 1, sizeof(double));
	ret->path_exclusive = xcalloc(g->cct.nr + 1, sizeof(double));
	ret->row_marks = xcalloc(g->groups.nr + 1, 1);
	for (size_t i = 0; i <= g->groups.nr; i++)
		until[i] = INT64_MIN;
	for (size_t i = 0; r->exclusive_j && i < m->spans.nr; i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;
		const struct span_piece *p = model_piece(m, i);
		double piece = p && r->pieces ? r->pieces[p - m->pieces.v].exclusive_j : 0;
		track_id t = m->spans.track[i];
		uint32_t group;
		bool fresh;

		if (isnan(r->exclusive_j[i]))
			continue;
		group = group_find(g, t, m->spans.name[i]);
		fresh = m->spans.start_ns[i] >= until[group];
		if (m->spans.end_ns[i] > until[group])
			until[group] = m->spans.end_ns[i];
		if (r->view == VIEW_HOST && r->new_j)
			ret->row_inclusive[group] += r->new_j[i];
		else if (fresh || r->view == VIEW_DEVICE)
			ret->row_inclusive[group] += r->inclusive_j[i];
		ret->row_exclusive[group] += r->exclusive_j[i];
		ret->row_marks[group] |= r->marks[i];
		if (r->view == VIEW_DEVICE)
			continue;
		span_path(m, i, &path);
		ret->path_exclusive[path_find(&g->cct, t, path.buf)] += r->exclusive_j[i] - piece;
		if (!p)
			continue;
		strbuf_clear(&path);
		piece_path(m, p, &path);
		ret->path_exclusive[path_find(&g->cct, t, path.buf)] += piece;
	}
	free(until);
}

static void summed_release(struct summed *s)
{
	free(s->row_inclusive);
	free(s->row_exclusive);
	free(s->path_exclusive);
	free(s->row_marks);
}

static void same_sums(const struct energy_groups *g, const struct summed *want, double tol)
{
	for (size_t i = 0; i < g->groups.nr; i++) {
		assert_near(sum_value(&g->rows[i].exclusive_j), want->row_exclusive[i], tol);
		assert_near(sum_value(&g->rows[i].inclusive_j), want->row_inclusive[i], tol);
		assert_int_equal(g->rows[i].marks, want->row_marks[i]);
	}
	for (size_t i = 0; i < g->cct.nr; i++)
		assert_near(sum_value(&g->paths[i].exclusive_j), want->path_exclusive[i], tol);
}

PROPERTY(rows_equal_the_global_sweep)
{
	for (uint64_t k = 0; next_case(&k, 5000000, CASES);) {
		CLEANUP(random_trace_release) struct random_trace x;

		random_trace(&x);
		for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
			struct energy_job job = { x.id, (enum energy_view)view };
			CLEANUP(energy_result_release) struct energy_result slow;
			CLEANUP(energy_groups_release) struct energy_groups g;
			struct energy_read read;
			CLEANUP(summed_release) struct summed want;

			energy_attribute_sweep(x.t.m, x.id, job.view, &x.o, &slow, NULL);
			energy_read(x.t.m, &job, 1, &x.o, 0, &read);
			energy_groups_make(read.p, read.lanes.v, read.lanes.nr, &g);
			energy_collect(&g, read.run, 0);
			sum_oracle(x.t.m, &g, &slow, &want);
			same_sums(&g, &want, tolerance_of(&slow, x.t.m));
			energy_read_release(&read);
		}
	}
}

/* Many short calls under a counter that has counted for years: nothing gets lost in the digits. */
TEST(a_million_calls_keep_the_total)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id th = trace_thread(&t, "node", 1, 1), other = trace_thread(&t, "node", 2, 1);
	series_id s = trace_series(&t, "rocm_smi:::energy_count:device=0", "#", SERIES_CUMULATIVE);
	struct energy_opts o = { .integration = INTEGRATE_LINEAR };
	CLEANUP(energy_result_release) struct energy_result r;
	struct sum sum = SUM_INIT;
	int64_t at = 1000;

	seed = 4;
	for (int64_t i = 0; i <= 100000; i++)
		t.s->ops->sample(t.s, s, i * 4000, 1e15 + (double)(i * 2000));
	trace_span_ns(&t, th, "main", 500, 399999999, SPAN_HOST);
	trace_span_ns(&t, other, "main", 0, 200000000, SPAN_HOST);
	for (int i = 0; i < 1000000; i++) {
		int64_t end = at + below(390);
		trace_span_ns(&t, th, "f", at, end, SPAN_HOST);
		at = end + below(3);
	}
	trace_finish(&t);
	assert_int_equal(energy_attribute(t.m, s, VIEW_HOST, &o, &r, NULL), 0);
	assert_near(r.total_j, 200, 0);
	assert_true(r.error_rel <= 1e-12);
	for (size_t i = 0; i < t.m->spans.nr; i++)
		sum_add(&sum, r.exclusive_j[i]);
	assert_near(sum_value(&sum) + r.unattributed_j, 200, 200e-12);
	/* 0.5 W per ns of a call that has the device to itself, half of that while the other
	 * process is active; sums are kept in units of 2^-60 J */
	for (size_t i = 0; i < t.m->spans.nr; i++) {
		int64_t dur = t.m->spans.end_ns[i] - t.m->spans.start_ns[i];
		if (strcmp(model_str(t.m, t.m->spans.name[i]), "f") != 0 || dur == 0)
			continue;
		if (t.m->spans.end_ns[i] <= 200000000)
			assert_near(r.exclusive_j[i] / (0.25e-6 * (double)dur), 1, 1e-11);
		else if (t.m->spans.start_ns[i] >= 200000000)
			assert_near(r.exclusive_j[i] / (0.5e-6 * (double)dur), 1, 1e-11);
	}
}
