#include "../../test.h"

#include "profrig/model/library_calls.h"

static struct library_call call_of(const char *library, const char *key, enum library_level level,
				   uint64_t common)
{
	return (struct library_call){ .library = library,
				      .operation = "gemm",
				      .key = key,
				      .config = key,
				      .config_n = strlen(key),
				      .flops = 100,
				      .bytes = 10,
				      .level = level,
				      .common = common };
}

static uint32_t call_count(struct library_calls *lc, const struct library_call *c, uint64_t calls,
			   uint32_t caller)
{
	struct library_when w = LIBRARY_WHEN_INIT;
	uint32_t row = library_calls_row(lc, c);

	w.calls = calls;
	w.caller = caller;
	library_calls_count(lc, row, c->flops, c->bytes, &w);
	return row;
}

static void calls_release(struct library_calls **lc)
{
	library_calls_freep(lc);
}

TEST(rows_by_library_and_key)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	struct library_call a = call_of("rocblas", "k1", LEVEL_BENCH, 0),
			    b = call_of("cublas", "k1", LEVEL_BENCH, 0),
			    c = call_of("rocblas", "k2", LEVEL_BENCH, 0);

	assert_int_equal(call_count(lc, &a, 1, LIBRARY_ROW_NONE), 0);
	assert_int_equal(call_count(lc, &b, 2, LIBRARY_ROW_NONE), 1);
	assert_int_equal(call_count(lc, &c, 3, LIBRARY_ROW_NONE), 2);
	assert_int_equal(call_count(lc, &a, 4, LIBRARY_ROW_NONE), 0);
	assert_int_equal(lc->distinct, 3);
	assert_int_equal(lc->rows.v[0].calls, 5);
	assert_true(library_calls_totals(lc).flops == 1000);
	assert_int_equal(library_calls_totals(lc).calls, 10);
}

/* Of one configuration the level with most calls stays; the others are doubled. */
TEST(levels)
{
	static const struct {
		uint64_t calls[4]; /* by level */
		enum library_level stays;
		uint64_t doubled;
	} cases[] = { { { 0, 4, 4, 4 }, LEVEL_BENCH, 8 },
		      { { 0, 0, 4, 3 }, LEVEL_TRACE, 3 },
		      { { 0, 7, 4, 3 }, LEVEL_PROFILE, 7 },
		      { { 0, 5, 0, 0 }, LEVEL_PROFILE, 0 },
		      { { 0, 0, 5, 5 }, LEVEL_BENCH, 5 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
		struct library_call other = call_of("rocblas", "other", LEVEL_TRACE, 8);

		for (int l = 1; l <= LEVEL_MAX; l++) {
			struct library_call c = call_of(l == 1 ? "rocblas_function" : "rocblas",
							"k", (enum library_level)l, 7);

			if (cases[i].calls[l])
				call_count(lc, &c, cases[i].calls[l], LIBRARY_ROW_NONE);
		}
		call_count(lc, &other, 1, LIBRARY_ROW_NONE);
		library_calls_settle(lc);
		if (lc->rows.nr != 2 ||
		    !strcmp(lc->rows.v[0].library, "rocblas_function") !=
			    (cases[i].stays == LEVEL_PROFILE) ||
		    lc->rows.v[0].calls != cases[i].calls[cases[i].stays] ||
		    lc->doubled != cases[i].doubled || lc->distinct != 2)
			ROW_FAIL(i, "%zu rows, doubled %d", lc->rows.nr, (int)lc->doubled);
	}
}

/* Calls that are handed on stay rows; sums leave their flops out. Settling renumbers callers. */
TEST(handed_on)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	CLEANUP(calls_release) struct library_calls *all = library_calls_new();
	struct library_call trace = call_of("rocblas", "k", LEVEL_TRACE, 7),
			    conv = call_of("miopen", "conv", LEVEL_BENCH, 0),
			    bench = call_of("rocblas", "k", LEVEL_BENCH, 7);
	uint32_t outer;

	call_count(lc, &trace, 1, LIBRARY_ROW_NONE);
	outer = call_count(lc, &conv, 1, LIBRARY_ROW_NONE);
	call_count(lc, &bench, 1, outer);
	library_calls_settle(lc);
	assert_int_equal(lc->rows.nr, 2);
	assert_int_equal(lc->rows.v[1].caller, 0);
	assert_int_equal(lc->rows.v[1].nested, 1);
	assert_true(library_calls_totals(lc).flops == 100);
	call_count(all, &bench, 1, LIBRARY_ROW_NONE);
	library_calls_merge(all, lc);
	library_calls_merge(all, lc);
	assert_int_equal(all->rows.nr, 2);
	assert_int_equal(all->rows.v[0].calls, 3);
	assert_int_equal(all->rows.v[0].nested, 2);
	assert_string_equal(all->rows.v[all->rows.v[0].caller].library, "miopen");
	assert_true(library_calls_totals(all).flops == 300);
	assert_int_equal(all->doubled, 2);
}

TEST(times_and_places)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	struct library_call c = call_of("nccl", "k", LEVEL_BENCH, 0);
	uint32_t row = library_calls_row(lc, &c);
	static const struct library_when whens[] = {
		{ .calls = 1, .t_ns = 50, .dur_ns = 5, .pid = 7, .rank = 3, .caller = UINT32_MAX },
		{ .calls = 1, .t_ns = 20, .dur_ns = -1, .pid = 7, .rank = 1, .caller = UINT32_MAX },
		{ .calls = 1,
		  .t_ns = LIBRARY_NO_TIME,
		  .dur_ns = 2,
		  .pid = 8,
		  .rank = 3,
		  .caller = UINT32_MAX },
		{ .calls = 1,
		  .t_ns = 30,
		  .dur_ns = INT64_MAX,
		  .pid = 7,
		  .rank = -1,
		  .caller = UINT32_MAX },
	};
	const struct library_row *r = &lc->rows.v[row];

	library_calls_count(lc, row, 1, 1, &whens[0]);
	assert_int_equal(r->pid, 7);
	for (size_t i = 1; i < ARRAY_LEN(whens); i++)
		library_calls_count(lc, row, 1, 1, &whens[i]);
	assert_int_equal(r->first_ns, 20);
	assert_int_equal(r->last_ns, 50);
	assert_int_equal(r->timed, 3);
	assert_true(r->total_ns == INT64_MAX);
	assert_int_equal(r->pid, LIBRARY_NO_ID);
	assert_true(r->several_pids);
	assert_int_equal(r->ranks.nr, 2);
	assert_int_equal(r->ranks.v[0], 1);
	assert_int_equal(r->ranks.v[1], 3);
}

TEST(sums_as_digits)
{
	static const struct {
		uint64_t high, low;
		const char *digits;
	} cases[] = { { 0, 0, "0" },
		      { 0, UINT64_MAX, "18446744073709551615" },
		      { 1, 0, "18446744073709551616" },
		      { 5, UINT64_C(7766279631452241920), "100000000000000000000" },
		      { UINT64_MAX, UINT64_MAX, "340282366920938463463374607431768211455" } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char buf[48];
		size_t n = library_sum_fmt(buf, (library_sum)cases[i].high << 64 | cases[i].low);

		assert_string_equal(buf, cases[i].digits);
		assert_int_equal(n, strlen(buf));
	}
}

/* More configurations than there are rows: counted by operation, and their keys still distinct. */
TEST(too_many_configurations)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	char key[32];
	uint64_t calls = 0;
	size_t over = 1000;

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < LIBRARY_ROWS_MAX + over; i++) {
			struct library_call c;

			snprintf(key, sizeof(key), "k%zu", i);
			c = call_of("rocblas", key, LEVEL_BENCH, 0);
			call_count(lc, &c, 1, LIBRARY_ROW_NONE);
		}
	assert_int_equal(lc->distinct, LIBRARY_ROWS_MAX + over);
	assert_int_equal(lc->rows.nr, LIBRARY_ROWS_MAX + 1);
	assert_int_equal(lc->over_calls, 2 * over);
	for (size_t i = 0; i < lc->rows.nr; i++)
		calls += lc->rows.v[i].calls;
	assert_int_equal(calls, 2 * (LIBRARY_ROWS_MAX + over));
	assert_true(library_calls_totals(lc).flops == (library_sum)100 * calls);
	assert_string_equal(lc->rows.v[LIBRARY_ROWS_MAX].key, "[other]");
	library_calls_settle(lc);
	CLEANUP(calls_release) struct library_calls *all = library_calls_new();
	library_calls_merge(all, lc);
	library_calls_merge(all, lc);
	assert_int_equal(all->distinct, LIBRARY_ROWS_MAX + over);
	assert_int_equal(all->over_calls, 4 * over);
}

/* One log tells a call by a trace line, the next by a benchmark line: one configuration. */
TEST(levels_of_several_logs)
{
	CLEANUP(calls_release) struct library_calls *all = library_calls_new();

	for (int l = LEVEL_TRACE; l <= LEVEL_BENCH; l++) {
		CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
		struct library_call c = call_of("rocblas", "k", (enum library_level)l, 7);

		call_count(lc, &c, 2, LIBRARY_ROW_NONE);
		library_calls_settle(lc);
		library_calls_merge(all, lc);
	}
	assert_int_equal(all->rows.nr, 1);
	assert_int_equal(all->rows.v[0].calls, 4);
	assert_int_equal(all->distinct, 1);
	assert_int_equal(all->doubled, 0);
}

/* The row that handed a call on is dropped: the row that tells its calls is the caller. */
TEST(caller_of_another_level)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	struct library_call trace = call_of("rocblas", "outer", LEVEL_TRACE, 7),
			    inner = call_of("hipblaslt", "inner", LEVEL_BENCH, 0),
			    bench = call_of("rocblas", "outer", LEVEL_BENCH, 7);
	uint32_t outer = call_count(lc, &trace, 1, LIBRARY_ROW_NONE);

	call_count(lc, &inner, 1, outer);
	call_count(lc, &bench, 1, LIBRARY_ROW_NONE);
	library_calls_settle(lc);
	assert_int_equal(lc->rows.nr, 2);
	assert_string_equal(lc->rows.v[lc->rows.v[0].caller].key, "outer");
}

/* ---- order ---- */

/* "row:pid/tid@t+dur ", of all events */
static void assert_events(const struct library_calls *lc, const char *want)
{
	char have[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < lc->events.nr; i++) {
		const struct library_event *e = &lc->events.v[i];
		const struct library_stream *s = &lc->streams.v[e->stream];

		n += (size_t)snprintf(have + n, sizeof(have) - n, "%s:%d/%d/%u@%d+%d ",
				      lc->rows.v[e->row].key, (int)s->pid, (int)s->tid, s->input,
				      (int)e->t_ns, (int)e->dur_ns);
	}
	assert_string_equal(have, want);
}

static void event_push(struct library_calls *lc, const struct library_call *c, int64_t pid,
		       int64_t tid, int64_t t_ns)
{
	struct library_when w = LIBRARY_WHEN_INIT;

	w.pid = pid;
	w.tid = tid;
	w.t_ns = t_ns;
	w.dur_ns = 5;
	library_calls_count(lc, library_calls_row(lc, c), 0, 0, &w);
}

TEST(calls_in_their_order)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	struct library_call a = call_of("nccl", "a", LEVEL_BENCH, 0),
			    b = call_of("nccl", "b", LEVEL_BENCH, 0);
	struct library_when several = LIBRARY_WHEN_INIT, late = LIBRARY_WHEN_INIT;

	event_push(lc, &b, 1, 1, 5); /* nothing is kept before it is wanted */
	library_calls_keep_order(lc);
	event_push(lc, &b, 1, 2, 10);
	event_push(lc, &a, 1, 3, 20);
	event_push(lc, &b, 1, 2, 30);
	event_push(lc, &b, 4, 2, 40);
	several.calls = 2;
	library_calls_count(lc, library_calls_row(lc, &a), 0, 0, &several);
	late.late = true;
	library_calls_count(lc, library_calls_row(lc, &a), 0, 0, &late);
	library_calls_settle(lc);
	assert_int_equal(lc->streams.nr, 3);
	assert_events(lc, "b:1/2/0@10+5 a:1/3/0@20+5 b:1/2/0@30+5 b:4/2/0@40+5 ");
	library_calls_set_input(lc, 7);
	assert_events(lc, "b:1/2/7@10+5 a:1/3/7@20+5 b:1/2/7@30+5 b:4/2/7@40+5 ");
}

/* Each call is there once: by the level whose row stays. A profile has no order. */
TEST(order_of_levels)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	struct library_call trace = call_of("rocblas", "k", LEVEL_TRACE, 7),
			    bench = call_of("rocblas", "k", LEVEL_BENCH, 7),
			    other = call_of("rocblas", "o", LEVEL_BENCH, 8),
			    profile = call_of("rocblas", "p", LEVEL_PROFILE, 9);

	library_calls_keep_order(lc);
	for (int i = 0; i < 2; i++) {
		event_push(lc, &trace, 1, 1, i);
		event_push(lc, &bench, 1, 1, 10 + i);
		event_push(lc, &other, 1, 1, 20 + i);
	}
	event_push(lc, &profile, 1, 1, 30);
	library_calls_settle(lc);
	assert_events(lc, "k:1/1/0@10+5 o:1/1/0@20+5 k:1/1/0@11+5 o:1/1/0@21+5 ");
	assert_int_equal(lc->rows.nr, 3);
}

TEST(order_of_several_logs)
{
	struct library_call a = call_of("nccl", "a", LEVEL_BENCH, 0),
			    b = call_of("nccl", "b", LEVEL_BENCH, 0);

	for (int kept = 0; kept < 2; kept++) {
		CLEANUP(calls_release) struct library_calls *all = library_calls_new();

		if (kept)
			library_calls_keep_order(all);
		for (uint32_t input = 0; input < 2; input++) {
			CLEANUP(calls_release) struct library_calls *lc = library_calls_new();

			library_calls_keep_order(lc);
			event_push(lc, input ? &a : &b, 1, 1, 10);
			event_push(lc, input ? &b : &a, 1, 1, 20);
			library_calls_settle(lc);
			library_calls_set_input(lc, input);
			library_calls_merge(all, lc);
		}
		assert_events(all,
			      kept ? "b:1/1/0@10+5 a:1/1/0@20+5 a:1/1/1@10+5 b:1/1/1@20+5 " : "");
	}
}

/* What comes later is counted, and has no place in the order. */
TEST(too_many_events)
{
	CLEANUP(calls_release) struct library_calls *lc = library_calls_new();
	struct library_call c = call_of("nccl", "a", LEVEL_BENCH, 0);

	library_calls_keep_order(lc);
	for (size_t i = 0; i < LIBRARY_STREAMS_MAX + 10; i++)
		event_push(lc, &c, (int64_t)i, 1, 0);
	assert_int_equal(lc->streams.nr, LIBRARY_STREAMS_MAX);
	assert_int_equal(lc->events.nr, LIBRARY_STREAMS_MAX);
	for (size_t i = 0; i < LIBRARY_EVENTS_MAX; i++)
		event_push(lc, &c, 1, 1, 0);
	assert_int_equal(lc->events.nr, LIBRARY_EVENTS_MAX);
	assert_int_equal(lc->rows.v[0].calls, LIBRARY_STREAMS_MAX + 10 + LIBRARY_EVENTS_MAX);
}
