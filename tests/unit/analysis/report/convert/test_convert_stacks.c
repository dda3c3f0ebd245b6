/*
 * Models as speedscope's format and as folded stacks: no span and no time is lost, or counted
 * twice.
 */
#include "convert_test.h"

#include "profrig/base/u64map.h"
#include "profrig/stats/analysis.h"

/* Calls and their durations by name, of what such files can hold. */
struct sums {
	uint64_t calls;
	int64_t ns;
};

static bool is_shown(const struct model *m, size_t i)
{
	return m->spans.kind[i] != SPAN_INSTANT;
}

static struct sums sums_of(const struct model *m, const char *name)
{
	str_id id = intern_find(m->strings, name, strlen(name));
	struct sums s = { 0, 0 };

	for (size_t i = 0; i < m->spans.nr; i++)
		if (m->spans.name[i] == id && is_shown(m, i)) {
			s.calls++;
			s.ns += m->spans.end_ns[i] - m->spans.start_ns[i];
		}
	return s;
}

static void speedscope(const struct model *m, const char *what)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *path = fs_join(dir, "x.speedscope.json");
	CLEANUP(convert_result_release) struct convert_result n = { .files = 0 };
	CLEANUP(u64map_release) struct u64map seen = U64MAP_INIT;
	uint64_t shown = 0;

	convert_file(converter_of(path), m, path, 0, &n);
	CLEANUP(model_freep) struct model *back = read_back(path);
	for (size_t i = 0; i < m->spans.nr; i++)
		shown += is_shown(m, i);
	assert_int_equal(n.spans_out, m->spans.nr - shown);
	assert_int_equal(back->spans.nr, shown);
	for (size_t i = 0; i < back->warnings.nr; i++)
		if (strcmp(back->warnings.v[i].code, W_EMPTY_INPUT) != 0)
			fail_msg("%s: %s", what, back->warnings.v[i].text);
	for (size_t i = 0; i < m->spans.nr; i++) {
		const char *name = model_str(m, m->spans.name[i]);
		uint32_t *once = u64map_at(&seen, m->spans.name[i]);
		struct sums a, b;

		if (*once != U64MAP_NONE)
			continue;
		*once = 1;
		a = sums_of(m, name);
		b = sums_of(back, name);
		if (a.calls != b.calls || a.ns != b.ns)
			fail_msg("%s: '%s' %" PRIu64 " %" PRId64 ", was %" PRIu64 " %" PRId64, what,
				 name, b.calls, b.ns, a.calls, a.ns);
	}
}

static int64_t time_of(const struct model *m)
{
	int64_t ns = 0;

	for (size_t i = 0; i < m->spans.nr; i++)
		if (m->tracks.v[m->spans.track[i]].kind == TRACK_THREAD)
			ns += m->spans.exclusive_ns[i];
		else if (m->tracks.v[m->spans.track[i]].kind == TRACK_QUEUE)
			ns += m->spans.end_ns[i] - m->spans.start_ns[i];
	return ns;
}

static void folded(const struct model *m, const char *what)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *path = fs_join(dir, "x.folded");
	CLEANUP(table_set_release) struct table_set tables = TABLE_SET_INIT;
	struct analysis_opts ao = { 0 };
	struct window all = WINDOW_ALL;
	CLEANUP(model_freep) struct model *mine = model_cut(m, &all, NULL);
	struct convert_job job = { .model = mine, .path = path };
	CLEANUP(convert_result_release) struct convert_result n = { .files = 0 };
	struct err err = ERR_INIT;
	struct model *back;
	int64_t ns = 0;

	assert_true(converter_of(path)->wants_paths);
	assert_true(analysis_run(analysis_find("callpaths"), mine, NULL, &ao, &tables, &err) >= 0);
	job.callpaths = table_set_find(&tables, "callpaths");
	if (converter_of(path)->write(&job, &n, &err) < 0)
		fail_msg("%s: %s", what, err.msg);
	if (time_of(m) > 0) {
		back = read_back(path);
		for (size_t i = 0; i < back->spans.nr; i++)
			ns += back->spans.exclusive_ns[i];
		if (ns != time_of(m))
			fail_msg("%s: %" PRId64 " ns, was %" PRId64, what, ns, time_of(m));
		model_free(back);
	}
	assert_int_equal(n.links_out, m->links.nr);
}

TEST(odd_models)
{
	static const int64_t origins[] = { 0, 1712195495505582988, -5000000000 };

	for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
		CLEANUP(model_freep) struct model *m = odd_model(origins[i]);

		speedscope(m, "odd");
		folded(m, "odd");
	}
	for (int i = 0; i < BARE_MODELS; i++) {
		CLEANUP(model_freep) struct model *m = bare_model(i);

		speedscope(m, "bare");
		folded(m, "bare");
	}
}

TEST(recordings_to_speedscope)
{
	each_recording(speedscope);
}

TEST(recordings_to_folded)
{
	each_recording(folded);
}
