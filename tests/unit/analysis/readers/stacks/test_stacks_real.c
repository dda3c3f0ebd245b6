/* A recording of perf and the folded file that flame graph tools made of it: one must give the
 * other, byte for byte. Counts are integers, so they are compared exactly. */
#include "readers_test.h"

#include "profrig/base/strvec.h"
#include "profrig/stats/analysis.h"

#define DIR "stacks/flamegraph-example/"

/* What the recording was taken with: -F 99. */
#define SAMPLE_NS 10101010

static const struct table *table_of(struct model *m, const char *name, struct table_set *ts)
{
	static const struct analysis_opts o = { .workload_start_ns = 0 };
	const struct analysis *a = analysis_find(name);

	assert_non_null(a);
	assert_int_equal(analysis_run(a, m, NULL, &o, ts, NULL), 0);
	for (size_t i = 0; i < ts->checks.nr; i++)
		assert_true(ts->checks.v[i].ok);
	return table_set_find(ts, name);
}

static int64_t cell(const struct table *t, size_t row, const char *column)
{
	return table_get_i64(t, row, (size_t)table_find_col(t, column));
}

static const char *word(const struct table *t, size_t row, const char *column)
{
	return table_get_str(t, row, (size_t)table_find_col(t, column));
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The rows of callpaths that have time of their own, as a folded file: paths of all tracks added
 * up, sorted by their bytes. */
static char *folded_of(const struct table *t, int64_t unit_ns)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < table_rows(t); i++)
		if (cell(t, i, "exclusive_ns") > 0)
			strvec_pushf(&paths, "%s %zu", word(t, i, "path"), i);
	qsort(paths.v, paths.nr, sizeof(*paths.v), by_bytes);
	for (size_t i = 0; i < paths.nr;) {
		size_t n = (size_t)(strrchr(paths.v[i], ' ') - paths.v[i]);
		int64_t sum = 0;
		size_t k;

		for (k = i; k < paths.nr && strncmp(paths.v[k], paths.v[i], n + 1) == 0 &&
			    strrchr(paths.v[k], ' ') == paths.v[k] + n;
		     k++) {
			uint64_t row = 0;

			assert_int_equal(
				num_u64(paths.v[k] + n + 1, strlen(paths.v[k] + n + 1), &row), 0);
			sum += cell(t, row, "exclusive_ns");
		}
		assert_int_equal(sum % unit_ns, 0);
		strbuf_add(&out, paths.v[i], n);
		strbuf_addf(&out, " %lld\n", (long long)(sum / unit_ns));
		i = k;
	}
	return strbuf_steal(&out);
}

static void assert_golden(struct model *m, int64_t unit_ns)
{
	CLEANUP(xfreep) char *path = test_trace(DIR "example-perf-stacks-collapsed.txt");
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	CLEANUP(xfreep) char *want = NULL, *got = folded_of(table_of(m, "callpaths", &ts), unit_ns);
	size_t n = 0, at = 0;

	assert_true(fs_read(path, 1 << 24, &want, &n, NULL) >= 0);
	assert_int_equal(n, 646463);
	while (want[at] && want[at] == got[at])
		at++;
	if (want[at] || got[at])
		fail_msg("differs at byte %zu: got %.200s", at, got + at);
}

static void assert_answers(struct model *m, int64_t unit_ns)
{
	static const struct {
		const char *name;
		int64_t samples;
		bool command; /* inclusive, as the root; else exclusive, as a leaf */
	} cases[] = LIST({ "java", 995, true }, { "wrk", 240, true }, { "swapper", 72, true },
			 { "perf", 6, true }, { "gmain", 1, true }, { "ksoftirqd/3", 1, true },
			 { "org/mozilla/javascript/ScriptableObject:.createSlot", 91, false },
			 { "org/mozilla/javascript/ScriptableObject:.getSlot", 54, false },
			 { "org/mozilla/javascript/IdScriptableObject:.has", 49, false },
			 { "native_write_msr_safe", 28, false });
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	const struct table *t = table_of(m, "functions", &ts);
	int64_t all = 0;

	for (size_t i = 0; i < table_rows(t); i++)
		all += cell(t, i, "exclusive_ns");
	assert_int_equal(all, 1315 * unit_ns);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t sum = 0;

		for (size_t k = 0; k < table_rows(t); k++)
			if (strcmp(word(t, k, "name"), cases[i].name) == 0)
				sum += cell(t, k,
					    cases[i].command ? "inclusive_ns" : "exclusive_ns");
		if (sum != cases[i].samples * unit_ns)
			ROW_FAIL(i, "%g samples", (double)sum / (double)unit_ns);
	}
}

static uint32_t deepest(const struct model *m)
{
	CLEANUP(xfreep) uint32_t *depths = model_depths(m);
	uint32_t depth = 0;

	for (size_t i = 0; i < m->spans.nr; i++)
		if (depths[i] >= depth)
			depth = depths[i] + 1;
	return depth;
}

TEST(recording)
{
	READING rd = read_recording("perf", DIR "example-perf-stacks.txt.gz", false);

	assert_int_equal(fact(rd.m, "stack_samples"), 1315);
	assert_int_equal(fact(rd.m, "sample_ns"), SAMPLE_NS);
	assert_int_equal(fact(rd.m, "other_events"), 0);
	assert_int_equal(deepest(rd.m), 74);
	assert_string_equal(model_str(rd.m, rd.m->tracks.v[0].host), "lgud-bgregg");
	assert_only_warned(rd.m, NULL);
	assert_golden(rd.m, SAMPLE_NS);
	assert_answers(rd.m, SAMPLE_NS);
}

TEST(collapsed)
{
	READING rd = read_recording("folded", DIR "example-perf-stacks-collapsed.txt", false);

	expect_model(rd.m, "fact.stacks=710 fact.count_ns=1");
	assert_int_equal(deepest(rd.m), 74);
	assert_int_equal(rd.m->last_ns, 1315);
	assert_only_warned(rd.m, NULL);
	assert_golden(rd.m, 1);
	assert_answers(rd.m, 1);
}

TEST(detected)
{
	static const struct {
		const char *file, *reader;
	} cases[] = { { DIR "example-perf-stacks.txt.gz", "perf" },
		      { DIR "example-perf-stacks-collapsed.txt", "folded" } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct reader *found = NULL;

		assert_int_equal(reader_detect(kept(test_trace(cases[i].file)), &found, NULL), 0);
		assert_string_equal(found->name, cases[i].reader);
	}
}
