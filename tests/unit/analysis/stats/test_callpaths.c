#include "cct.h"
#include "stats_test.h"

#include "profrig/model/warnings.h"

/* All rows of the call paths, in their order: "track path depth calls …". */
#define assert_paths(t, rows) \
	expect_table(t, "track path depth calls inclusive_ns exclusive_ns device_inclusive_ns " \
			"device_exclusive_ns\n" rows)

static void assert_checks(const struct table_set *ts, size_t n)
{
	for (size_t i = 0; i < ts->checks.nr; i++)
		if (!ts->checks.v[i].ok)
			fail_msg("%s: %s", ts->checks.v[i].name, ts->checks.v[i].detail);
	assert_int_equal(ts->checks.nr, n);
}

TEST(test_paths)
{
	/* a;b and a:b are the same path; recursion is a path of its own */
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text(
		"thread 1/1 name=main: main 0-100 step 10-20 step 30-60 launch#1 35-40 "
		"launch#2 12-14 a;b 40-50 a:b 50-55 other 200-210 main 70-95\n"
		"queue gpu0/0: k#1 40-90 k#2 90-97 c!c 100-103 note!a#1 0-1000\n"
		"queue gpu1/0: k#99 100-111\n",
		&analysis_callpaths);
	struct table *p = table_set_find(&ts, "callpaths");

	expect_columns(p, "track,path,depth,calls,inclusive_ns,exclusive_ns,device_inclusive_ns,"
			  "device_exclusive_ns");
	assert_paths(p, "main main 0 1 100 35 57 0\n"
			"main main;step 1 2 40 18 57 0\n"
			"main main;step;a:b 2 2 15 15 0 0\n"
			"main main;step;launch 2 2 7 7 57 57\n"
			"main main;main 1 1 25 25 0 0\n"
			"main other 0 1 10 10 0 0\n"
			"gpu0 [unattributed] 0 1 0 0 3 3\n"
			"gpu1 [unattributed] 0 1 0 0 11 11\n");
	assert_checks(&ts, 2);
}

/* Links that a reader made itself: from an outer span beside the call's, from an instant, from
 * something that is no call. */
TEST(test_launches)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main");
	track_id q = make_queue(&k, "gpu0", 0);
	span_id outer = make_call(&k, t, 0, 100, "op");
	span_id inner = make_call(&k, t, 10, 20, "launch");
	span_id mark = make_span(&k, t, SPAN_INSTANT, 50, 50, "mark", 0);
	span_id lost = make_span(&k, t, SPAN_INSTANT, 500, 500, "mark", 0);
	span_id a = make_span(&k, q, SPAN_KERNEL, 20, 30, "k", 0);
	span_id b = make_span(&k, q, SPAN_KERNEL, 60, 80, "k", 0);
	span_id c = make_span(&k, q, SPAN_KERNEL, 80, 84, "k", 0);
	span_id d = make_span(&k, q, SPAN_KERNEL, 84, 85, "k", 0);

	k.s->ops->link(k.s, inner, a, LINK_LAUNCH);
	k.s->ops->link(k.s, outer, a, LINK_LAUNCH);
	k.s->ops->link(k.s, mark, b, LINK_LAUNCH);
	k.s->ops->link(k.s, lost, c, LINK_LAUNCH);
	k.s->ops->link(k.s, a, d, LINK_LAUNCH);
	k.s->ops->link(k.s, outer, d, LINK_FLOW);

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_callpaths);

	assert_paths(table_set_find(&ts, "callpaths"), "main op 0 1 100 90 30 20\n"
						       "main op;launch 1 1 10 10 10 10\n"
						       "gpu0 [unattributed] 0 2 0 0 5 5\n");
	assert_checks(&ts, 2);
}

/* B outlives A: its rest is a root, and so is what lies in that rest. */
TEST(test_overlap)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main");
	track_id q = make_queue(&k, "gpu0", 0);
	span_id mark;

	trace_text(k.s, 1, "thread 1/1: A 0-10 B 5-15 C 11-12 C 6-7");
	mark = make_span(&k, t, SPAN_INSTANT, 14, 14, "mark", 0);
	k.s->ops->link(k.s, mark, make_span(&k, q, SPAN_KERNEL, 20, 24, "k", 0), LINK_LAUNCH);

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_callpaths);

	assert_int_equal(m->pieces.nr, 1);
	assert_paths(table_set_find(&ts, "callpaths"), "main A 0 1 10 5 0 0\n"
						       "main A;B 1 1 5 4 0 0\n"
						       "main A;B;C 2 1 1 1 0 0\n"
						       "main B 0 0 5 4 4 4\n"
						       "main B;C 1 1 1 1 0 0\n");
	assert_checks(&ts, 2);
}

static void assert_tree(const struct table *t, const char *inclusive, const char *exclusive);

/* The second f overlaps both c and, past it, the first f: the path "f" holds 10 s and not 11. */
TEST(test_double_overlap)
{
	CLEANUP(table_set_release)
	struct table_set ts =
		analyse_text("thread 1/1 name=main: f 0-6 c 1-5 f 4-10", &analysis_callpaths);

	assert_paths(table_set_find(&ts, "callpaths"), "main f 0 1 10 6 0 0\n"
						       "main f;c 1 1 4 3 0 0\n"
						       "main f;c;f 2 1 1 1 0 0\n");
	assert_tree(table_set_find(&ts, "callpaths"), "inclusive_ns", "exclusive_ns");
	assert_checks(&ts, 1);
}

/* Tracks by rank, whatever order they came in; equal names told apart; siblings by weight. */
TEST(test_order)
{
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text("thread 9/9 rank=1 name=Master: x 0-10\n"
					   "thread 8/8 rank=0 name=Master: r 0-100 b 0-10 a 20-30 "
					   "z 40-70\n",
					   &analysis_callpaths);

	assert_paths(table_set_find(&ts, "callpaths"), "'rank 0/Master' r 0 1 100 50 0 0\n"
						       "'rank 0/Master' r;z 1 1 30 30 0 0\n"
						       "'rank 0/Master' r;a 1 1 10 10 0 0\n"
						       "'rank 0/Master' r;b 1 1 10 10 0 0\n"
						       "'rank 1/Master' x 0 1 10 10 0 0\n");
}

/* --- laws on random models --- */

static const char *const random_names[] = { "a", "b", "c", "d;e", "d:e" };

/* Spans anywhere: most overlap some other in part. */
static void calls_scatter(struct maker *k, const track_id *t, track_id q, uint64_t *seed,
			  size_t spans, int64_t len)
{
	for (size_t i = 0; i < spans; i++) {
		track_id host = t[rnd(seed) % 2];
		int64_t start = (int64_t)(rnd(seed) % (uint64_t)(len / 2));
		int64_t dur = (int64_t)(rnd(seed) % (uint64_t)(len >> (1 + rnd(seed) % 5)));
		uint64_t correlation = rnd(seed) % 40;

		make_span(k, host, rnd(seed) % 10 ? SPAN_HOST : SPAN_INSTANT, start, start + dur,
			  random_names[rnd(seed) % ARRAY_LEN(random_names)], correlation);
		make_span(k, q, SPAN_KERNEL, start, start + dur / 2, "k", rnd(seed) % 80);
	}
}

/* Enter and leave: well nested. */
static void calls_walk(struct maker *k, const track_id *t, track_id q, uint64_t *seed, size_t steps,
		       int64_t len)
{
	size_t open[2] = { 0, 0 };
	int64_t now = 0;

	for (size_t i = 0; i < steps; i++) {
		size_t which = rnd(seed) % 2;

		now += (int64_t)(rnd(seed) % 3);
		if (now >= len)
			break;
		if (rnd(seed) % 2 && open[which]) {
			k->s->ops->leave(k->s, t[which], now, STR_NONE);
			open[which]--;
			continue;
		}
		k->s->ops->enter(k->s, t[which], now,
				 sink_puts(k->s, random_names[rnd(seed) % ARRAY_LEN(random_names)]),
				 0);
		open[which]++;
		make_span(k, q, SPAN_KERNEL, now, now + (int64_t)(rnd(seed) % 9), "k", 0);
		if (rnd(seed) % 2)
			k->s->ops->link(k->s, (span_id)(k->m->spans.nr - 2),
					(span_id)(k->m->spans.nr - 1), LINK_LAUNCH);
	}
}

/* at: a byte per nanosecond and thread, 1 where some call is open. */
static struct model *random_model(uint64_t *seed, size_t spans, bool nested, uint8_t *at,
				  size_t len)
{
	struct maker k = make_begin();
	track_id t[2] = { make_thread(&k, 1, 1, 0, "x"), make_thread(&k, 1, 2, 1, "x") };
	track_id q = make_queue(&k, "gpu0", 0);

	(nested ? calls_walk : calls_scatter)(&k, t, q, seed, spans, (int64_t)len);
	make_end(&k);
	memset(at, 0, 2 * len);
	for (size_t i = 0; i < k.m->spans.nr; i++)
		for (int64_t x = k.m->spans.start_ns[i]; x < k.m->spans.end_ns[i]; x++)
			if (k.m->spans.track[i] != q)
				at[(k.m->spans.track[i] == t[1]) * len + (size_t)x] = 1;
	return k.m;
}

/* A row's inclusive is its exclusive and the inclusive of the rows one level below it. */
static void assert_tree(const struct table *t, const char *inclusive, const char *exclusive)
{
	for (size_t r = 0; r < table_rows(t); r++) {
		double depth = num_of(t, r, "depth"), sum = num_of(t, r, exclusive);

		if (!strcmp(str_of(t, r, "path"), "[unattributed]"))
			continue;
		for (size_t c = r + 1; c < table_rows(t) && num_of(t, c, "depth") > depth; c++)
			if (num_of(t, c, "depth") == depth + 1)
				sum += num_of(t, c, inclusive);
		if (sum != num_of(t, r, inclusive))
			ROW_FAIL(r, "%s %g is not %g", inclusive, num_of(t, r, inclusive), sum);
	}
}

TEST(test_laws)
{
	enum { LEN = 300 };
	uint64_t seed = 99;
	uint8_t at[2 * LEN];
	size_t with_pieces = 0;

	for (int round = 0; round < 400; round++) {
		CLEANUP(model_freep)
		struct model *m = random_model(&seed, 1 + (size_t)round / 4, round % 2, at, LEN);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_callpaths);
		CLEANUP(table_set_release) struct table_set fs = analyse(m, &analysis_functions);
		struct table *p = table_set_find(&ts, "callpaths");
		double covered = 0, work = 0, host = 0;

		for (size_t x = 0; x < sizeof(at); x++)
			covered += at[x];
		for (size_t i = 0; i < m->spans.nr; i++)
			if (span_is_work(m, i))
				work += (double)(m->spans.end_ns[i] - m->spans.start_ns[i]);
		struct table *f = table_set_find(&fs, "functions");
		for (size_t r = 0; r < table_rows(f); r++) {
			if (!strcmp(str_of(f, r, "scope"), "host"))
				host += num_of(f, r, "exclusive_ns");
			assert_true(num_of(f, r, "exclusive_ns") <= num_of(f, r, "inclusive_ns"));
		}
		with_pieces += m->pieces.nr > 0;
		assert_true(!(round % 2 && m->pieces.nr));
		assert_true(column_sum(p, "exclusive_ns") == covered);
		assert_true(host == covered);
		assert_true(column_sum(p, "device_exclusive_ns") == work);
		assert_tree(p, "inclusive_ns", "exclusive_ns");
		assert_tree(p, "device_inclusive_ns", "device_exclusive_ns");
		for (size_t i = 0; i < ts.checks.nr; i++)
			assert_true(ts.checks.v[i].ok);
	}
	assert_true(with_pieces > 100);
}

/* --- what must not change the tables --- */

struct recorded {
	size_t track; /* 0, 1: threads; 2, 3: queues */
	int64_t start, end;
	size_t name;
	uint64_t correlation;
};

static struct model *calls_play(const struct recorded *rec, size_t n, bool backwards, int64_t shift)
{
	struct maker k = make_begin();
	track_id t[4];

	for (size_t i = 0; i < 4; i++) {
		size_t w = backwards ? 3 - i : i;

		t[w] = w < 2 ? make_thread(&k, 1, (int64_t)w + 5, (int32_t)w, "worker")
			     : make_queue(&k, w == 2 ? "gpu2" : "gpu10", 0);
	}
	for (size_t i = 0; i < n; i++) {
		const struct recorded *r = &rec[backwards ? n - 1 - i : i];

		make_span(&k, t[r->track], r->track < 2 ? SPAN_HOST : SPAN_KERNEL, r->start + shift,
			  r->end + shift, random_names[r->name], r->correlation);
	}
	return make_end(&k);
}

static char *tables_text(struct model *m)
{
	static const struct analysis *const all[] = { &analysis_functions, &analysis_callpaths,
						      &analysis_kernels, &analysis_busy };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		CLEANUP(table_set_release) struct table_set ts = analyse(m, all[i]);

		for (size_t k = 0; k < ts.tables.nr; k++)
			table_write_csv(ts.tables.v[k], f);
	}
	fclose(f);
	return text;
}

TEST(test_invariance)
{
	struct recorded rec[60];
	uint64_t seed = 3;

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < ARRAY_LEN(rec); i++) {
			/* no two begin at once, so nothing hangs on the order of the records */
			rec[i].start = (int64_t)(i * 5 + rnd(&seed) % 5);
			rec[i].end = rec[i].start + (int64_t)(rnd(&seed) % 100);
			rec[i].track = rnd(&seed) % 4;
			rec[i].name = rnd(&seed) % ARRAY_LEN(random_names);
			/* one call per launch */
			rec[i].correlation = rec[i].track < 2 ? i + 1 : 1 + rnd(&seed) % 60;
		}
		CLEANUP(model_freep) struct model *a = calls_play(rec, ARRAY_LEN(rec), false, 0);
		CLEANUP(model_freep)
		struct model *b =
			calls_play(rec, ARRAY_LEN(rec), true, INT64_C(1712195495505582988));

		assert_string_equal(kept(tables_text(a)), kept(tables_text(b)));
	}
}

/* --- ceilings --- */

static struct model *nested(size_t levels, const char *name)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main");

	for (size_t i = 0; i < levels; i++)
		make_call(&k, t, (int64_t)i, (int64_t)(2 * levels - i), name);
	return make_end(&k);
}

TEST(test_deep)
{
	const size_t levels = 100000;
	CLEANUP(model_freep) struct model *m = nested(levels, "f");
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_callpaths);
	struct table *p = table_set_find(&ts, "callpaths");
	size_t last = table_rows(p) - 1;
	const char *path = str_of(p, last, "path");

	assert_int_equal(table_rows(p), CCT_MAX_DEPTH + 2);
	assert_string_equal(path + strlen(path) - 10, "f;[deeper]");
	assert_int_equal(num_of(p, last, "calls"), levels - CCT_MAX_DEPTH - 1);
	assert_true(column_sum(p, "exclusive_ns") == 2.0 * (double)levels);
	assert_true(num_of(p, last, "inclusive_ns") == num_of(p, last, "exclusive_ns"));
	assert_tree(p, "inclusive_ns", "exclusive_ns");
	assert_checks(&ts, 1);
	assert_int_equal(m->warnings.nr, 1);
	assert_string_equal(m->warnings.v[0].code, W_DEEP_STACK);
	assert_int_equal(m->warnings.v[0].count, levels - CCT_MAX_DEPTH - 1);
}

/* 20 levels of "name": paths of 5, 10, 15 … bytes. */
TEST(test_path_bytes)
{
	CLEANUP(model_freep) struct model *m = nested(20, "name");
	struct profile *p = profile_of_model(m, &(struct profile_opts){ .threads = 1 });
	static const struct {
		uint64_t bytes;
		size_t nodes;
	} cases[] = {
		{ 1 << 20, 20 }, { 1050, 20 }, { 1049, 20 }, { 949, 19 }, { 50, 5 }, { 1, 2 }
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(cct_release) struct cct c = CCT_INIT;

		cct_build_limited(p, CCT_MAX_DEPTH, cases[i].bytes, false, &c);
		if (c.nr != cases[i].nodes)
			ROW_FAIL(i, "%zu nodes", c.nr);
		assert_int_equal(c.nodes[c.nr - 1].collapsed, i >= 2);
	}
	profile_free(p);
}

TEST(test_node_of)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main");
	track_id q = make_queue(&k, "gpu0", 0);

	make_call(&k, t, 0, 10, "f");
	make_span(&k, t, SPAN_INSTANT, 5, 5, "in", 0);
	make_span(&k, t, SPAN_INSTANT, 50, 50, "out", 0);
	make_span(&k, q, SPAN_KERNEL, 0, 10, "k", 0);

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(cct_release) struct cct c = CCT_INIT;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;
	struct profile *p;

	p = profile_of_model(m, &(struct profile_opts){ .threads = 1 });
	cct_build(p, false, &c);
	/* instants have no node, and the queue's is no call path */
	assert_int_equal(c.nr, 1);
	assert_int_equal(p->tracks.nr, 2);
	assert_int_equal(p->tracks.v[0]->nodes.nr, 1);
	assert_int_equal(p->tracks.v[1]->nodes.nr, 1);
	assert_int_equal(c.node_of_path[0][0], 0);
	cct_path(&c, 0, &path);
	assert_string_equal(path.buf, "f");
	profile_free(p);
}
