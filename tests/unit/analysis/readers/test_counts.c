/*
 * What is counted without being kept is what a model has of the same file: every fixture, every
 * recording, and calls that do not pair up.
 */
#include "readers_test.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/strvec.h"
#include "profrig/model/counts.h"
#include "profrig/report/convert.h"

struct figures {
	struct counts n;
	char *error;
	int r;
};

static bool is_work(uint8_t kind)
{
	return kind == SPAN_KERNEL || kind == SPAN_COPY || kind == SPAN_FILL;
}

static struct figures figures_of(const struct model *m)
{
	struct figures f = { .n = { .first_ns = INT64_MAX, .last_ns = INT64_MIN } };

	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];

		f.n.spans += in->spans;
		f.n.instants += in->instants;
		f.n.samples += in->samples;
		f.n.series += in->series;
		f.n.tracks += in->tracks;
		f.n.partial |= in->partial;
		f.n.first_ns = in->first_ns < f.n.first_ns ? in->first_ns : f.n.first_ns;
		f.n.last_ns = in->last_ns > f.n.last_ns ? in->last_ns : f.n.last_ns;
	}
	for (size_t i = 0; i < m->spans.nr; i++)
		f.n.work += is_work(m->spans.kind[i]);
	for (size_t i = 0; i < m->warnings.nr && !f.error; i++)
		if (m->warnings.v[i].severity == SEV_ERROR)
			f.error = xstrdup(m->warnings.v[i].text);
	return f;
}

static struct figures figures_counted(struct counter *c)
{
	struct figures f = { .r = 0 };

	counter_get(c, &f.n);
	f.error = f.n.error ? xstrdup(f.n.error) : NULL;
	return f;
}

static void figures_equal(const char *what, const struct figures *a, const struct figures *b)
{
#define SAME(field) \
	do { \
		if (a->n.field != b->n.field) \
			fail_msg("%s: " #field " %" PRId64 " kept, %" PRId64 " counted", what, \
				 (int64_t)a->n.field, (int64_t)b->n.field); \
	} while (0)
	SAME(spans);
	SAME(instants);
	SAME(work);
	SAME(samples);
	SAME(series);
	SAME(tracks);
	SAME(first_ns);
	SAME(last_ns);
	SAME(partial);
#undef SAME
	if (a->r != b->r)
		fail_msg("%s: read gave %d kept, %d counted", what, a->r, b->r);
	if (strcmp(a->error ? a->error : "", b->error ? b->error : "") != 0)
		fail_msg("%s: '%s' kept, '%s' counted", what, a->error ? a->error : "",
			 b->error ? b->error : "");
}

static void compare_file(const struct reader *rd, const char *path)
{
	CLEANUP(model_freep) struct model *m = model_new();
	CLEANUP(counter_freep) struct counter *c = counter_new();
	struct read_opts o = { .keep_args = false };
	struct err ea = ERR_INIT, eb = ERR_INIT;
	int ra = reader_read(rd, path, model_sink(m), &o, &ea);
	int rb = reader_read(rd, path, counter_sink(c), &o, &eb);
	struct figures a = figures_of(m), b = figures_counted(c);

	a.r = ra;
	b.r = rb;
	figures_equal(path, &a, &b);
	assert_string_equal(ea.msg, eb.msg);
	free(a.error);
	free(b.error);
}

/* By each reader that may be named for it: what it does with another's file counts, too. */
static size_t compare_folder(const char *dir)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	size_t nr = 0;

	assert_true(fs_glob(dir, "**", &files, NULL) >= 0);
	for (size_t i = 0; i < files.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, files.v[i]);
		const struct reader *rd;

		if (fs_is_dir(path) || reader_detect(path, &rd, NULL) < 0)
			continue;
		compare_file(rd, path);
		nr++;
	}
	return nr;
}

TEST(fixtures)
{
	assert_true(compare_folder("tests/fixtures") > 30);
}

TEST(recordings)
{
	static const char *const folders[] = TEST_TRACE_FOLDERS;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		compare_folder(kept(test_trace(folders[i])));
	}
}

/* ---- calls that do not pair up, kinds, times out of range ---- */

static void events_push(struct sink *s)
{
	struct track_def thread = TRACK_DEF_INIT, queue = TRACK_DEF_INIT;
	struct series_def power = { .name = "power", .track = TRACK_NONE };
	struct span_def d = { .start_ns = 40, .end_ns = 30, .args = STR_NONE };
	track_id t, q;
	series_id se;

	s->ops->input(s, "one", "tef");
	s->ops->clock(s);
	thread.kind = TRACK_THREAD;
	queue.kind = TRACK_QUEUE;
	t = s->ops->track(s, &thread);
	q = s->ops->track(s, &queue);
	se = s->ops->series(s, &power);
	s->ops->expect(s, 1000);
	s->ops->leave(s, t, 5, STR_NONE);
	s->ops->enter(s, t, 10, sink_puts(s, "a"), 0);
	s->ops->enter(s, t, 12, sink_puts(s, "b"), 0);
	s->ops->leave(s, t, 20, sink_puts(s, "a"));
	s->ops->enter(s, q, 11, sink_puts(s, "k"), 0);
	s->ops->open_kind(s, q, SPAN_KERNEL);
	s->ops->enter(s, q, 13, sink_puts(s, "m"), 0);
	s->ops->open_kind(s, q, SPAN_COPY);
	s->ops->open_kind(s, q, SPAN_ANNOTATION);
	s->ops->leave(s, q, 14, STR_NONE);
	s->ops->open_kind(s, q, SPAN_FILL);
	d.track = t;
	s->ops->span(s, &d);
	d.kind = SPAN_INSTANT;
	d.end_ns = 900;
	s->ops->span(s, &d);
	d.kind = SPAN_COPY;
	d.track = q;
	d.end_ns = INT64_MAX;
	s->ops->span(s, &d);
	d.track = 77;
	s->ops->span(s, &d);
	s->ops->enter(s, 77, 1, 0, 0);
	s->ops->sample(s, se, 100, 1.5);
	s->ops->sample(s, se, 101, (double)NAN);
	s->ops->sample(s, se, 102, (double)INFINITY);
	s->ops->sample(s, 99, 103, 2);
	s->ops->warn(s, W_TRUNCATED, 1, "cut");
	s->ops->input_end(s);
	s->ops->input(s, "two", "tef");
	s->ops->clock(s);
	t = s->ops->track(s, &thread);
	s->ops->enter(s, t, -50, sink_puts(s, "c"), 0);
	s->ops->input_end(s);
}

TEST(pushed)
{
	CLEANUP(model_freep) struct model *m = model_new();
	CLEANUP(counter_freep) struct counter *c = counter_new();
	struct figures a, b;

	events_push(model_sink(m));
	events_push(counter_sink(c));
	a = figures_of(m);
	b = figures_counted(c);
	figures_equal("pushed", &a, &b);
	assert_int_equal(b.n.spans, 8);
	assert_int_equal(b.n.work, 2);
	assert_int_equal(b.n.samples, 1);
	assert_true(b.n.partial);
	free(a.error);
	free(b.error);
}

TEST(begun_anew)
{
	CLEANUP(counter_freep) struct counter *c = counter_new();
	struct sink *s = counter_sink(c);
	struct track_def d = TRACK_DEF_INIT;
	struct counts n;

	d.kind = TRACK_THREAD;
	s->ops->input(s, "one", "tef");
	s->ops->enter(s, s->ops->track(s, &d), 1, 0, 0);
	s->ops->input_again(s);
	s->ops->enter(s, s->ops->track(s, &d), 7, 0, 0);
	counter_get(c, &n);
	assert_int_equal(n.spans, 1);
	assert_int_equal(n.tracks, 1);
	assert_int_equal(n.first_ns, 7);
}

/* ---- archives that profrig wrote: spans that no enter and leave can say, and links ---- */

TEST(written_otf2)
{
	static const char *const from[] = { "tests/fixtures/tef/chrome.json",
					    "tests/fixtures/tef/kineto.json",
					    "tests/fixtures/rocpd/two-processes.db" };
	char dir[] = "/tmp/profrig-test-XXXXXX";

	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		CLEANUP(xfreep) char *out = xasprintf("%s/%zu", dir, i);
		const struct reader *rd;
		struct convert_job job = { .path = out };
		CLEANUP(convert_result_release) struct convert_result result = { .files = 0 };

		assert_int_equal(reader_detect(from[i], &rd, NULL), 0);
		READING kept = read_path(rd->name, from[i], true);
		job.model = kept.m;
		assert_int_equal(converter_find("otf2")->write(&job, &result, NULL), 0);
		compare_file(reader_find("otf2"), out);
	}
	fs_remove_tree(dir, NULL);
}
