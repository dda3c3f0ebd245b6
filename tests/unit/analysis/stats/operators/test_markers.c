/* Work by marked ranges and by operators of ranges: who it belongs to, and what adds up. */
#include "expect_model.h"
#include "stats_test.h"

#include "profrig/model/warnings.h"

static span_id marked(struct maker *k, track_id t, int64_t start, int64_t end, const char *name,
		      const char *category)
{
	struct span_def d = { .track = t,
			      .kind = SPAN_HOST,
			      .start_ns = start,
			      .end_ns = end,
			      .name = sink_puts(k->s, name),
			      .category = sink_puts(k->s, category),
			      .args = STR_NONE };

	return k->s->ops->span(k->s, &d);
}

/* A name inside itself counts once; two devices are two wholes; what is unlinked has no marker. */
TEST(test_nested)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "t"), q = make_queue(&k, "gpu0", 1),
		 r = make_queue(&k, "gpu1", 1);

	marked(&k, t, 0, 100, "a", "UserMarker");
	marked(&k, t, 10, 50, "b", "nvtx:domain");
	marked(&k, t, 20, 40, "a", "nvtx");
	marked(&k, t, 60, 80, "no marker", "cpu_op");
	make_span(&k, t, SPAN_HOST, 22, 23, "launch", 1);
	make_span(&k, t, SPAN_HOST, 42, 43, "launch", 2);
	make_span(&k, t, SPAN_HOST, 62, 63, "launch", 3);
	make_span(&k, t, SPAN_HOST, 120, 121, "launch", 4);
	make_span(&k, q, SPAN_KERNEL, 200, 210, "x", 1);
	make_span(&k, q, SPAN_KERNEL, 210, 230, "x", 2);
	make_span(&k, q, SPAN_COPY, 230, 260, "y", 3);
	make_span(&k, r, SPAN_KERNEL, 200, 205, "x", 3);
	make_span(&k, r, SPAN_KERNEL, 205, 207, "x", 4);
	make_span(&k, r, SPAN_KERNEL, 207, 208, "z", 0);

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_markers);

	expect_table(
		table_set_find(&ts, "markers"),
		"marker device kernel marker_calls calls total_ns mean_ns min_ns max_ns share\n"
		"a gpu0 x 2 2 30 15 10 20 30/60\n"
		"a gpu0 y 2 1 30 30 30 30 30/60\n"
		"a gpu1 x 2 1 5 5 5 5 1\n"
		"b gpu0 x 1 2 30 15 10 20 1\n"
		"'[no marker]' gpu1 x 0 1 2 2 2 2 2/3\n"
		"'[no marker]' gpu1 z 0 1 1 1 1 1 1/3\n");
}

TEST(test_deep)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "t"), q = make_queue(&k, "gpu0", 1);
	char name[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "level %d", i);
		marked(&k, t, i, 3000 - i, name, "nvtx");
	}
	make_span(&k, t, SPAN_HOST, 1500, 1501, "launch", 1);
	make_span(&k, q, SPAN_KERNEL, 4000, 4010, "x", 1);

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_markers);

	assert_int_equal(table_rows(table_set_find(&ts, "markers")), 64);
	assert_true(warned(m, W_DEEP_STACK) == 1000 - 64);
}

TEST(test_none)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1: l#1 0-1\nqueue gpu0/1: a#1 1-2\n");
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct analysis_opts o = { .shared = NULL };

	assert_int_equal(analysis_run(&analysis_markers, m, NULL, &o, &ts, NULL), ANALYSIS_SKIPPED);
}

/* ---- any program ---- */

#define NAMES 5

/* Ranges, some of which are operators, and launches among them. */
static struct model *random_ranges(uint64_t seed)
{
	struct maker k = make_begin();
	uint64_t rs = seed, correlation = 0;
	int64_t end[16], t_ns = 0;
	track_id q[2] = { make_queue(&k, "gpu0", 1), make_queue(&k, "gpu1", 1) };

	for (int thread = 1; thread <= 2; thread++) {
		track_id t = make_thread(&k, 1, thread, RANK_NONE, "t");
		int depth = 0;

		t_ns = 0;
		end[0] = 4000;
		for (int i = 0; i < 60; i++) {
			char name[80];

			t_ns += 1 + (int64_t)(rnd(&rs) % 40);
			while (depth > 0 && end[depth] <= t_ns + 2)
				depth--;
			if (rnd(&rs) % 2 == 0) {
				make_span(&k, t, SPAN_HOST, t_ns, t_ns + 1, "launch",
					  ++correlation);
				make_span(&k, q[rnd(&rs) % 2], SPAN_KERNEL, 5000 + t_ns,
					  5000 + t_ns + (int64_t)(rnd(&rs) % 30),
					  rnd(&rs) % 2 ? "x" : "y", rnd(&rs) % 8 ? correlation : 0);
				continue;
			}
			if (depth == 15 || end[depth] - t_ns < 10)
				continue;
			end[depth + 1] =
				t_ns + 5 + (int64_t)(rnd(&rs) % (uint64_t)(end[depth] - t_ns - 5));
			depth++;
			snprintf(name, sizeof(name),
				 rnd(&rs) % 2 ? "n%d" : "op%d, op_id = 7, sizes = [[2]]",
				 (int)(rnd(&rs) % NAMES));
			marked(&k, t, t_ns, end[depth], name, "nvtx");
		}
	}
	return make_end(&k);
}

static bool below(const struct model *m, uint64_t span, str_id name)
{
	for (; span != SPAN_NONE; span = span_parent(&m->spans, span))
		if (m->spans.name[span] == name)
			return true;
	return false;
}

/* What a marker has is what was launched below a range of its name, looked at one by one. */
TEST(test_laws)
{
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		CLEANUP(model_freep) struct model *m = random_ranges(seed);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_markers);
		CLEANUP(table_set_release) struct table_set os = TABLE_SET_INIT;
		struct analysis_opts o = { .shared = NULL };
		const struct table *t = table_set_find(&ts, "markers"), *a;
		struct works *w = works_new(m);
		double all = 0;

		for (size_t i = 0; i < w->v.nr; i++)
			all += (double)(w->v.v[i].end_ns - w->v.v[i].start_ns);
		for (size_t r = 0; r < table_rows(t); r++) {
			const char *marker = str_of(t, r, "marker");
			str_id name = intern_find(m->strings, marker, strlen(marker));
			int64_t want = 0;
			uint64_t calls = 0;

			if (*marker == '[')
				continue;
			for (size_t i = 0; i < w->v.nr; i++) {
				const struct work *k = &w->v.v[i];

				if (!below(m, k->launch, name) ||
				    strcmp(model_str(m, m->spans.name[k->span]),
					   str_of(t, r, "kernel")) != 0 ||
				    strcmp(model_str(m, w->devices.v[k->device].name),
					   str_of(t, r, "device")) != 0)
					continue;
				want += k->end_ns - k->start_ns;
				calls++;
			}
			assert_true(num_of(t, r, "total_ns") == (double)want);
			assert_true(num_of(t, r, "calls") == (double)calls && calls > 0);
		}
		if (analysis_run(&analysis_operators, m, NULL, &o, &os, NULL) == 0) {
			a = table_set_find(&os, "autograd");
			assert_true(column_sum(a, "total_ns") == all);
			assert_true(column_sum(table_set_find(&os, "operators"), "own_ns") == all);
		}
		for (size_t i = 0; i < os.checks.nr; i++)
			assert_true(os.checks.v[i].ok);
		works_free(w);
	}
}
