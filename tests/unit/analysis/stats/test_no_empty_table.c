/*
 * What an analysis lacks is a reason and never an empty table: each of them, on traces that lack
 * one thing or another, makes tables with rows, or says what they lack.
 */
#include "findings/findings_fixture.h"
#include "random_work.h"
#include "readers_test.h"
#include "trace_text.h"

static bool is_reasoned(const struct table_set *ts, const struct analysis *a)
{
	for (size_t i = 0; i < ts->skipped.nr; i++)
		if (strcmp(ts->skipped.v[i].name, a->name) == 0)
			return *ts->skipped.v[i].reason != '\0';
	for (size_t i = 0; i < ARRAY_LEN(a->tables) && a->tables[i]; i++)
		if (table_set_find(ts, a->tables[i]->name))
			return true;
	return false;
}

static void check_tables(const char *what, struct model *m)
{
	CLEANUP(table_set_release) struct table_set ts = all_of(m);

	for (size_t i = 0; i < ts.tables.nr; i++)
		if (table_rows(ts.tables.v[i]) == 0)
			fail_msg("%s: table %s is empty", what, table_name(ts.tables.v[i]));
	for (size_t i = 0; analyses[i]; i++)
		if (!is_reasoned(&ts, analyses[i]))
			fail_msg("%s: analysis %s has neither a table nor a reason", what,
				 analyses[i]->name);
}

TEST(traces_that_lack_something)
{
	static const char *const traces[] = {
		"",
		"thread 1/1 name=t: f 0-10 g 2-5\n",
		"thread 1/1 name=t: step_1 0-10 step_2 10-20 step_3 20-30\n",
		"queue gpu0/1: k 0-10\n",
		"queue gpu0/1: c!c 0-10 f!f 20-30\n",
		"queue gpu0/1: ncclDevKernel_AllReduce 0-10\n",
		"queue gpu0/1: k 5-5\n",
		"queue gpu0/1: k 0-10\nthread 1/1 name=t: cudaStreamBeginCapture 0-1 l 2-3\n",
		"thread 1/1 name=t: aten::mm 0-10\n",
		"series power.gpu0 W gauge: 0 100 10 200\n",
		"queue gpu0/1: k 0-10\nseries sclk.gpu0 MHz gauge changes: 0 2000 15000 500\n",
		"rank 1/1 host=node: main 0-1\nrank 2/2 host=node: main 0-1\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(traces); i++) {
		CLEANUP(model_freep) struct model *m = model_of_text(1, traces[i]);
		CLEANUP(xfreep) char *what = xasprintf("trace %zu", i);

		check_tables(what, m);
	}
}

TEST(random_traces)
{
	for (uint64_t seed = 1; seed <= test_cases(300); seed++) {
		CLEANUP(model_freep) struct model *m = random_work_model(seed);
		CLEANUP(xfreep) char *what = xasprintf("seed %" PRIu64, seed);

		check_tables(what, m);
	}
}

TEST(fixtures)
{
	static const char *const files[][2] = {
		{ "tef", "tests/fixtures/tef/kineto.json" },
		{ "tef", "tests/fixtures/tef/no-events.json" },
		{ "nsys", "tests/fixtures/nsys/two-processes.sqlite" },
		{ "nsys", "tests/fixtures/nsys/events.sqlite" },
		{ "nsys", "tests/fixtures/nsys/nccl.sqlite" },
		{ "rocpd", "tests/fixtures/rocpd/two-processes.db" },
		{ "rpd", "tests/fixtures/rpd/v1.rpd" },
	};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		READING rd = read_path(files[i][0], files[i][1], false);

		check_tables(files[i][1], rd.m);
	}
}
