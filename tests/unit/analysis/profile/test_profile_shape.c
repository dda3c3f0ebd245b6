/* Kernels by how they were launched: nodes of their own, and nothing else that changes. */
#include "energy_rows.h"
#include "tables_support.h"

#include "profrig/scan/launch_shape.h"

#define COUNTER "rocm_smi:::energy_count:device=0"

/* ---- a model ---- */

static void kernel_add(struct trace *t, track_id queue, const char *name, uint64_t correlation,
		       double at_s, const char *args)
{
	struct span_def d = { .track = queue,
			      .start_ns = ns(at_s),
			      .end_ns = ns(at_s + 0.004),
			      .name = sink_puts(t->s, name),
			      .category = sink_puts(t->s, "kernel"),
			      .correlation = correlation,
			      .kind = SPAN_KERNEL,
			      .args = args ? sink_puts(t->s, args) : STR_NONE };

	t->s->ops->span(t->s, &d);
}

static void launch_add(struct trace *t, track_id thread, uint64_t correlation, double at_s)
{
	struct span_def d = { .track = thread,
			      .start_ns = ns(at_s),
			      .end_ns = ns(at_s + 0.001),
			      .name = sink_puts(t->s, correlation % 3 ? "launch" : "launch more"),
			      .correlation = correlation,
			      .kind = SPAN_HOST,
			      .args = STR_NONE };

	t->s->ops->span(t->s, &d);
}

/*
 * A thread that launches kernels of two names on two queues, and copies; shapes: how many a name
 * has, 0: none has arguments. Every fifth kernel has none either way.
 */
static struct trace model_make(int kernels, int shapes)
{
	struct trace t = trace_new();
	track_id thread = trace_thread(&t, "n", 1, 1);
	track_id queue[2] = { trace_queue(&t, "gpu0", 0), trace_queue(&t, "gpu0", 1) };
	series_id counter = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);

	for (int i = 0; i < kernels; i++) {
		double at_s = i * 0.005;
		char args[64];

		snprintf(args, sizeof(args), "{\"id\":%d,\"grid\":[%d,1,1],\"block\":[64,1,1]}", i,
			 1 + i / 4 % (shapes ? shapes : 1));
		launch_add(&t, thread, (uint64_t)i + 1, at_s);
		kernel_add(&t, queue[i % 2], i / 2 % 2 ? "g" : "f", (uint64_t)i + 1, at_s + 0.002,
			   shapes && i % 5 ? args : NULL);
		if (i % 7 == 0)
			trace_span_ns(&t, queue[1], "f", ns(at_s), ns(at_s + 0.001), SPAN_COPY);
		t.s->ops->sample(t.s, counter, ns(at_s), 1e5 * i * (1 + i % 3));
	}
	trace_finish(&t);
	return t;
}

/* ---- its profile, as an analysis makes it ---- */

struct outcome {
	struct trace t;
	struct energy_stream *stream;
	struct profile *p;
	struct analysis_opts o;
	struct table_set ts;
};

static void outcome_make(struct outcome *o, struct trace t, unsigned threads)
{
	*o = (struct outcome){ .t = t, .ts = TABLE_SET_INIT };
	o->stream = energy_stream_new(t.m, &o->o, NULL, NULL);
	o->p = profile_of_model(t.m,
				&(struct profile_opts){ .threads = threads,
							.lanes = energy_stream_reader(o->stream) });
	o->o.stream = o->stream;
	for (size_t i = 0; analyses[i]; i++)
		assert_true(analysis_run(analyses[i], t.m, o->p, &o->o, &o->ts, NULL) >= 0);
}

static void outcome_release(struct outcome *o)
{
	table_set_release(&o->ts);
	profile_free(o->p);
	energy_stream_free(o->stream);
	trace_release(&o->t);
}

static char *csv_of(const struct table *t)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	table_write_csv(t, f);
	fclose(f);
	return text;
}

static void same_csv(const struct table *a, const struct table *b)
{
	CLEANUP(xfreep) char *x = csv_of(a), *y = csv_of(b);

	assert_string_equal(x, y);
}

/* ---- what changes ---- */

/* Energy by time is summed up by node, in units of 2^-60 J. */
static void same_by_time(const struct table *a, const struct table *b)
{
	static const char *const columns[] = { "inclusive_j", "exclusive_j", "share",
					       "uncertainty_j" };

	assert_int_equal(table_rows(a), table_rows(b));
	for (size_t r = 0; r < table_rows(a); r++) {
		assert_string_equal(str_of(a, r, "name"), str_of(b, r, "name"));
		assert_string_equal(str_of(a, r, "track"), str_of(b, r, "track"));
		for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
			double x = num_of(a, r, columns[c]), y = num_of(b, r, columns[c]);

			assert_true((isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * fabs(x));
		}
	}
}

static bool is_of_energy(const struct table *t)
{
	return strncmp(table_name(t), "energy", 6) == 0 || strncmp(table_name(t), "power", 5) == 0;
}

/* Only energy by power knows of shapes. */
TEST(tables_are_the_same)
{
	static const char *const there[] = { "functions", "kernels", "callpaths", "energy" };
	struct outcome plain, told;

	outcome_make(&plain, model_make(600, 0), 1);
	outcome_make(&told, model_make(600, 5), 1);
	assert_int_equal(plain.ts.tables.nr, told.ts.tables.nr);
	for (size_t i = 0; i < plain.ts.tables.nr; i++) {
		const struct table *a = plain.ts.tables.v[i];
		const struct table *b = table_set_find(&told.ts, table_name(a));

		assert_non_null(b);
		if (!is_of_energy(a))
			same_csv(a, b);
	}
	for (size_t i = 0; i < ARRAY_LEN(there); i++)
		if (!table_set_find(&told.ts, there[i]))
			fail_msg("there is no table %s", there[i]);
	assert_true(num_of(table_set_find(&told.ts, "callpaths"), 0, "device_exclusive_ns") > 0);
	same_by_time(table_set_find(&plain.ts, "energy"), table_set_find(&told.ts, "energy"));
	for (size_t i = 0; i < plain.p->tracks.nr; i++) {
		assert_int_equal(plain.p->tracks.v[i]->rows, told.p->tracks.v[i]->rows);
		assert_int_equal(plain.p->tracks.v[i]->shape_of.nr, 0);
	}
	outcome_release(&plain);
	outcome_release(&told);
}

/* The same tables, to the byte, whatever the number of threads. */
TEST(threads)
{
	struct outcome one, four;

	outcome_make(&one, model_make(600, 5), 1);
	outcome_make(&four, model_make(600, 5), 4);
	assert_int_equal(one.ts.tables.nr, four.ts.tables.nr);
	for (size_t i = 0; i < one.ts.tables.nr; i++)
		same_csv(one.ts.tables.v[i], four.ts.tables.v[i]);
	outcome_release(&one);
	outcome_release(&four);
}

/* Nodes, and the pieces and time that they have together. */
static size_t nodes_of(const struct profile_track *t, const struct model *m, const char *name,
		       uint64_t *ret_calls, int64_t *ret_ns)
{
	size_t nr = 0;

	*ret_calls = 0;
	*ret_ns = 0;
	for (size_t i = 0; i < t->nodes.nr; i++) {
		const struct profile_node *n = &t->nodes.v[i];

		if (n->kind != SPAN_KERNEL || strcmp(model_str(m, n->name), name) != 0)
			continue;
		nr++;
		*ret_calls += n->calls;
		*ret_ns += n->exclusive_ns;
		assert_int_equal(n->parent, NODE_NONE);
		/* the copies are called f too */
		assert_int_equal(t->row_of.v[i],
				 name[0] == 'f' ? t->row_of.v[0] : 1 - t->row_of.v[0]);
	}
	return nr;
}

/* A thousand shapes: 32 nodes for each name and queue, and one for all the others. */
TEST(many_shapes)
{
	struct outcome o;

	outcome_make(&o, model_make(4000, 1000), 2);
	for (size_t i = 0; i < o.p->tracks.nr; i++) {
		const struct profile_track *t = o.p->tracks.v[i];
		uint64_t f, g;
		int64_t f_ns, g_ns;

		if (!t->queue)
			continue;
		assert_int_equal(t->shape_of.nr, t->nodes.nr);
		assert_int_equal(t->row_of.nr, t->nodes.nr);
		assert_int_equal(t->rows, 2);
		assert_int_equal(nodes_of(t, o.t.m, "f", &f, &f_ns), 33);
		assert_int_equal(nodes_of(t, o.t.m, "g", &g, &g_ns), 33);
		assert_int_equal(f, 1000);
		assert_int_equal(g, 1000);
		assert_int_equal(f_ns, 4000000000);
		assert_int_equal(g_ns, 4000000000);
	}
	outcome_release(&o);
}

static size_t leaves_of(const struct outcome *o, track_id queue)
{
	struct lane_def lane = { .track = queue, .mode = LANE_WORK };
	struct energy_groups g;
	size_t nr;

	energy_groups_make(o->p, &lane, 1, &g);
	nr = g.leaves;
	for (uint32_t i = 0; i < g.nodes.nr; i++)
		assert_int_equal(g.class_of_leaf[g.leaf_of_node[i]], g.class_of_node[i]);
	energy_groups_release(&g);
	return nr;
}

/* Launches are finer classes of energy by power, those that run longest where there are many. */
TEST(finer_classes)
{
	for (int names = 1; names <= 1000; names *= 10) {
		struct trace t = trace_new();
		track_id queue = trace_queue(&t, "gpu0", 0);
		size_t most = names * 33 <= 256 ? (size_t)names * 33
			      : names < 192     ? 256
						: (size_t)names + 64;
		struct outcome o;

		for (int i = 0; i < names * 40; i++) {
			char name[16], args[32];

			snprintf(name, sizeof(name), "k%d", i % names);
			snprintf(args, sizeof(args), "{\"grid\":%d}", 1 + i / names);
			kernel_add(&t, queue, name, 0, i * 0.005, args);
		}
		trace_finish(&t);
		outcome_make(&o, t, 1);
		assert_int_equal(leaves_of(&o, queue), most);
		outcome_release(&o);
	}
}

/* Who reads no lanes needs no launches. */
TEST(only_where_lanes_are_read)
{
	struct trace t = model_make(100, 5);
	struct profile *p = profile_of_model(t.m, &(struct profile_opts){ .threads = 1 });

	for (size_t i = 0; i < p->tracks.nr; i++) {
		assert_int_equal(p->tracks.v[i]->shape_of.nr, 0);
		assert_true(p->tracks.v[i]->nodes.nr <= 3);
	}
	profile_free(p);
	trace_release(&t);
}
