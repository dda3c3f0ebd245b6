/* Models written as OTF2 archives and read back: nothing is lost, and other tools read them. */
#include "convert_test.h"
#include "converters_private.h"
#include "model_support.h"
#include "readers_private.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "profrig/base/proc.h"
#include "profrig/base/utf8.h"
#include "profrig/profile/profile.h"

static struct convert_result converted(const struct model *m, const char *path, int want)
{
	struct convert_job job = { .model = m, .path = path };
	struct convert_result res;
	struct err err = ERR_INIT;
	int r = converter_otf2.write(&job, &res, &err);

	if (r != want)
		fail_msg("%s: convert returned %d (%s), not %d", path, r, err.msg, want);
	if (r < 0)
		assert_true(err.msg[0]);
	if (r == 0) {
		assert_int_equal(res.files, 1);
		assert_string_equal(res.first, path);
		assert_true(res.bytes > 0);
	}
	free(STEAL(res.first));
	return res;
}

static struct model *read_archive(const char *path, int want)
{
	struct model *m = model_new();
	struct read_opts o = { .keep_args = true };
	struct err err = ERR_INIT;
	int r = reader_otf2.read(path, model_sink(m), &o, &err);

	if (r != want)
		fail_msg("%s: read returned %d (%s), not %d", path, r, err.msg, want);
	model_finish(m);
	return m;
}

/* Frees the model. */
static void round_trip(struct model *m, const char *what)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	struct convert_result res = converted(m, in_dir(dir, "a.otf2"), 0);
	CLEANUP(model_freep) struct model *back = read_archive(in_dir(dir, "a.otf2"), 0);

	assert_int_equal(res.spans_out + res.samples_out + res.links_out, 0);
	assert_models_equal(m, back, what);
	for (size_t i = 0; i < back->warnings.nr; i++)
		if (!warned(m, back->warnings.v[i].code))
			fail_msg("%s: %s: %s", what, back->warnings.v[i].code,
				 back->warnings.v[i].text);
	if (m->spans.nr)
		assert_int_equal(back->inputs.v[0].clock, m->inputs.v[0].clock);
	model_free(m);
}

static span_id span_full(struct sink *s, track_id t, const char *name, const char *category,
			 const char *args, int64_t start, int64_t end, enum span_kind kind,
			 uint64_t correlation)
{
	return odd_span(s, t, name, start, end, kind, correlation, category, args);
}

static track_id track_put(struct sink *s, enum track_kind kind, track_id parent, const char *name,
			  const char *host, const char *device, int64_t pid, int64_t tid,
			  int32_t rank)
{
	struct track_def d = TRACK_DEF_INIT;
	static uint64_t key;

	d.kind = kind;
	d.parent = parent;
	d.name = name;
	d.host = host;
	d.device = device;
	d.pid = pid;
	d.tid = tid;
	d.rank = rank;
	d.key = ++key;
	return s->ops->track(s, &d);
}

/* ---- made models ---- */

TEST(nothing_at_all)
{
	round_trip(model_ended(model_begun(TRACE_CLOCK_OWN)), "an input with nothing in it");
	round_trip(model_ended(model_begun(TRACE_CLOCK_MONOTONIC)), "nothing on a known clock");
}

TEST(every_kind_of_track)
{
	struct model *m = model_begun(TRACE_CLOCK_REALTIME);
	struct sink *s = model_sink(m);
	struct track_def q = TRACK_DEF_INIT;
	track_id p[2], t, dev;

	for (int i = 0; i < 2; i++)
		p[i] = track_put(s, TRACK_PROCESS, TRACK_NONE, i ? "rank 1" : "rank 0",
				 i ? "node1" : "node0", NULL, 10, PID_NONE, i);
	for (int i = 0; i < 2; i++) {
		t = track_put(s, TRACK_THREAD, p[i], "main", i ? "node1" : "node0", NULL, 10, 11,
			      i);
		span_full(s, t, "main", "", NULL, 1700000000000000000, 1700000000000000100,
			  SPAN_HOST, 0);
		span_full(s, p[i], "on a process", "x", NULL, 1700000000000000000,
			  1700000000000000050, SPAN_ANNOTATION, 0);
		span_full(s, p[i], "on a process", "x", NULL, 1700000000000000010,
			  1700000000000000040, SPAN_ANNOTATION, 0);
		dev = track_put(s, TRACK_DEVICE, TRACK_NONE, "GPU", i ? "node1" : "node0", "gpu0",
				PID_NONE, PID_NONE, RANK_NONE);
		span_full(s, dev, "on a device", "x", NULL, 1700000000000000000,
			  1700000000000000050, SPAN_KERNEL, 0);
		q.kind = TRACK_QUEUE;
		q.parent = dev;
		q.owner = p[i];
		q.host = i ? "node1" : "node0";
		q.device = "gpu0";
		q.pid = 10;
		q.tid = 7;
		q.pci = "0:c1:0";
		q.name = "stream 7";
		t = s->ops->track(s, &q);
		span_full(s, t, "gemm", "kernel", NULL, 1700000000000000020, 1700000000000000090,
			  SPAN_KERNEL, 0);
		/* opened by the other one */
		q.owner = p[1 - i];
		q.tid = 8;
		s->ops->track(s, &q);
	}
	track_put(s, TRACK_THREAD, TRACK_NONE, "of nobody", NULL, NULL, PID_NONE, 5, RANK_NONE);
	track_put(s, TRACK_QUEUE, TRACK_NONE, "of no device", NULL, "gpu9", PID_NONE, PID_NONE,
		  RANK_NONE);
	t = track_put(s, TRACK_COUNTER, p[0], "counters", "node0", NULL, PID_NONE, PID_NONE,
		      RANK_NONE);
	span_full(s, t, "on counters", "", NULL, 1700000000000000000, 1700000000000000001,
		  SPAN_HOST, 0);
	track_put(s, TRACK_COUNTER, TRACK_NONE, "", NULL, NULL, PID_NONE, PID_NONE, RANK_NONE);
	round_trip(model_ended(m), "every kind of track");
}

TEST(overlap_and_equals)
{
	static const struct {
		int64_t start, end;
	} v[] = { { 0, 100 },   { 0, 100 },   { 10, 50 },  { 10, 50 },   { 40, 60 },
		  { 45, 120 },  { 50, 50 },   { 50, 50 },  { 100, 100 }, { 100, 110 },
		  { 105, 130 }, { 105, 105 }, { 200, 200 } };
	struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	track_id on[] = { thread_of(s, NULL, 1, 1), queue_of(s, "gpu0", 1),
			  track_put(s, TRACK_PROCESS, TRACK_NONE, "p", NULL, NULL, 1, PID_NONE,
				    RANK_NONE) };

	for (size_t k = 0; k < ARRAY_LEN(on); k++)
		for (size_t i = 0; i < ARRAY_LEN(v); i++) {
			char name[16];

			snprintf(name, sizeof(name), "s%zu", i);
			span_full(s, on[k], name, "", NULL, v[i].start, v[i].end,
				  k == 1 ? SPAN_KERNEL : SPAN_HOST, 0);
		}
	for (size_t k = 0; k < ARRAY_LEN(on); k++)
		for (int64_t t = 0; t < 130; t += 5)
			span_full(s, on[k], "instant", "i", NULL, t, t, SPAN_INSTANT, 0);
	round_trip(model_ended(m), "overlap and equal spans");
}

/* Rows of one start that are equal keep their order, and with it their parents. */
TEST(random_overlap)
{
	uint64_t seed = 7;

	for (uint64_t c = 0; c < test_cases(100); c++) {
		struct model *m = model_begun(TRACE_CLOCK_OWN);
		struct sink *s = model_sink(m);
		track_id t[2] = { thread_of(s, NULL, 1, 1), queue_of(s, "gpu1", 1) };
		uint64_t nr = rnd(&seed) % 40;

		for (uint64_t i = 0; i < nr; i++) {
			int64_t start = (int64_t)(rnd(&seed) % 20) - 10;
			char name[32];

			snprintf(name, sizeof(name), "span %u", (unsigned)i);
			span_full(s, t[rnd(&seed) % 2], name, "", NULL, start,
				  start + (int64_t)(rnd(&seed) % 8),
				  (enum span_kind)(rnd(&seed) % 6), rnd(&seed) % 4);
		}
		for (uint64_t i = 0; nr && i < rnd(&seed) % 10; i++)
			s->ops->link(s, rnd(&seed) % nr, rnd(&seed) % nr,
				     (enum link_kind)(rnd(&seed) % 3));
		round_trip(model_ended(m), "random spans");
	}
}

TEST(odd_texts)
{
	struct model *m = model_begun(TRACE_CLOCK_MONOTONIC);
	struct sink *s = model_sink(m);
	track_id t = track_put(s, TRACK_THREAD, TRACK_NONE,
			       "f\xc3\xa4"
			       "den \"1\"\\",
			       "h\xc3\xb6st", NULL, 1, 2, RANK_NONE);
	char *large = xmalloc(3000001);

	memset(large, 'x', 3000000);
	large[3000000] = '\0';
	span_full(s, t, "", "", "", 5, 6, SPAN_HOST, 0);
	span_full(s, t, "", "category", NULL, 6, 7, SPAN_HOST, 0);
	span_full(s, t, "\xf0\x9f\x94\xa5 kernel", "two words", "{\"a\": \"\xc3\xa4\\u0001\"}", 7,
		  8, SPAN_HOST, UINT64_MAX);
	span_full(s, t, "not \xff UTF-8", "\xc0", "\x80", 8, 9, SPAN_HOST, 1);
	span_full(s, t, "tab\tand\nline", " ", " ", 9, 10, SPAN_ANNOTATION, 0);
	span_full(s, t, "kernel x", "host y", "args", 10, 11, SPAN_FILL, 0);
	span_full(s, t, "long", "", large, 11, 12, SPAN_HOST, 0);
	free(large);
	round_trip(model_ended(m), "odd texts");
}

/* A text that the model cut fits a record of an archive. */
TEST_IN(texts_that_were_cut, dir)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_MONOTONIC), *back = NULL;
	struct sink *s = model_sink(m);
	track_id t = thread_of(s, NULL, 1, 1);
	size_t n = (size_t)20 << 20;
	char *large = xmalloc(n + 1);

	for (size_t i = 0; i < n; i += 2)
		memcpy(large + i, "\xc3\xa4", 2);
	large[n] = '\0';
	span_full(s, t, "args", "", large, 1, 2, SPAN_HOST, 0);
	span_full(s, t, large, "", NULL, 2, 3, SPAN_HOST, 0);
	span_full(s, t, "sound", "", NULL, 3, 4, SPAN_HOST, 0);
	free(large);
	model_ended(m);
	assert_int_equal(converted(m, in_dir(dir, "a.otf2"), 0).spans_out, 0);
	back = read_archive(in_dir(dir, "a.otf2"), 0);
	assert_int_equal(back->spans.nr, 3);
	assert_int_equal(strlen(model_str(back, back->spans.name[1])),
			 strlen(model_str(m, m->spans.name[1])));
	assert_true(utf8_valid(model_str(back, back->spans.name[1])));
}

TEST(times_at_the_edges)
{
	struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	track_id t = thread_of(s, NULL, 1, 1);

	span_full(s, t, "first", "", NULL, TIME_MIN, TIME_MIN + 1, SPAN_HOST, 0);
	span_full(s, t, "middle", "", NULL, -3, 4, SPAN_HOST, 0);
	span_full(s, t, "last", "", NULL, 5, TIME_MAX, SPAN_HOST, 0);
	round_trip(model_ended(m), "times at the edges");
	m = model_begun(TRACE_CLOCK_OWN);
	s = model_sink(m);
	s->ops->current(s)->has_realtime_anchor = true;
	s->ops->current(s)->anchor_own_ns = 50;
	s->ops->current(s)->anchor_realtime_ns = 1700000000000000000;
	/* a time that is neither span nor sample */
	s->ops->current(s)->first_ns = -100;
	s->ops->current(s)->last_ns = 1000;
	span_full(s, thread_of(s, NULL, 1, 1), "s", "", NULL, -3, 4, SPAN_HOST, 0);
	round_trip(model_ended(m), "a wider range and an anchor");
}

TEST(samples_of_all_sorts)
{
	static const double values[] = { 0,      1,    -1,     0.5,  1e300, -0.0,
					 5e-324, 1e15, 9.1e18, 1e19, 0.1,   -123456789 };
	struct model *m = model_begun(TRACE_CLOCK_BOOTTIME);
	struct sink *s = model_sink(m);
	track_id thread = thread_of(s, "n0", 1, 1), counter;
	series_id id;

	counter = track_put(s, TRACK_COUNTER, TRACK_NONE, "smi", "n0", NULL, PID_NONE, PID_NONE,
			    RANK_NONE);
	for (unsigned k = 0; k < 24; k++) {
		struct series_def d = { .name = "power",
					.unit = k % 2 ? "W" : "",
					.kind = (enum series_kind)(k % 3),
					.track = k < 6    ? TRACK_NONE
						 : k < 12 ? counter
							  : thread,
					.host = "n0",
					.device = k % 4 ? "gpu1" : NULL,
					.pci = k % 5 ? "0:41:0" : NULL,
					.change_points = k & 1,
					.exclusive_sync = k >= 18,
					.estimated = k & 4 };
		CLEANUP(xfreep) char *name = xasprintf("power %u", k);

		d.name = name;
		id = s->ops->series(s, &d);
		for (size_t i = 0; i < ARRAY_LEN(values) && k != 3; i++)
			s->ops->sample(s, id, (int64_t)(i * (k + 1)) - 20,
				       k % 2 ? values[i] : (double)(int64_t)i);
		if (k == 5)
			for (int i = 0; i < 3; i++)
				s->ops->sample(s, id, 0, NAN);
	}
	span_full(s, thread, "call", "", NULL, -5, 100, SPAN_HOST, 0);
	span_full(s, thread, "inner", "", NULL, 0, 10, SPAN_HOST, 0);
	round_trip(model_ended(m), "samples of all sorts");
}

TEST(only_samples)
{
	struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	struct series_def d = { .name = "", .track = TRACK_NONE };

	s->ops->sample(s, s->ops->series(s, &d), 17, 4);
	round_trip(model_ended(m), "one sample");
}

TEST(links_of_each_kind)
{
	struct model *m = model_begun(TRACE_CLOCK_MONOTONIC);
	struct sink *s = model_sink(m);
	track_id t = thread_of(s, NULL, 1, 1), q = queue_of(s, "gpu0", 1);
	span_id launch[3], work[5];

	for (int i = 0; i < 3; i++)
		launch[i] = span_put(s, t, i ? "launch" : "graph", 10 * i, 10 * i + 5, SPAN_HOST,
				     i == 2 ? 77 : 0);
	/* before its launch, too */
	for (int i = 0; i < 5; i++)
		work[i] = span_put(s, q, "gemm", 10 * i - 7, 10 * i, SPAN_KERNEL, i == 4 ? 77 : 0);
	for (int i = 0; i < 3; i++)
		s->ops->link(s, launch[0], work[i], LINK_LAUNCH);
	s->ops->link(s, launch[1], work[0], LINK_LAUNCH);
	s->ops->link(s, work[0], work[1], LINK_LAUNCH);
	s->ops->link(s, launch[1], launch[0], LINK_FLOW);
	s->ops->link(s, launch[1], launch[0], LINK_FLOW);
	s->ops->link(s, launch[1], launch[1], LINK_STACK);
	s->ops->link(s, work[3], launch[2], LINK_STACK);
	round_trip(model_ended(m), "links of each kind");
}

TEST(a_thousand_tracks)
{
	struct model *m = model_begun(TRACE_CLOCK_MONOTONIC);
	struct sink *s = model_sink(m);

	for (int64_t i = 0; i < 1000; i++)
		span_put(s, thread_of(s, "n", 1 + i % 7, 100 + i), "call", i, 2 * i + 1, SPAN_HOST,
			 0);
	round_trip(model_ended(m), "a thousand tracks");
}

/* ---- where it is written ---- */

static struct model *small(void)
{
	struct model *m = model_begun(TRACE_CLOCK_MONOTONIC);
	struct sink *s = model_sink(m);

	span_put(s, thread_of(s, NULL, 1, 1), "call", 1, 2, SPAN_HOST, 0);
	return model_ended(m);
}

TEST_IN(its_own_is_replaced_and_nothing_else, dir)
{
	CLEANUP(xfreep)
	char *path = fs_join(dir, "new/a.otf2"), *up = fs_join(dir, "new"),
	     *other = fs_join(path, "notes"), *file = fs_join(dir, "f.otf2");
	CLEANUP(strvec_release) struct strvec left = STRVEC_INIT;
	CLEANUP(model_freep) struct model *m = small();

	converted(m, path, 0);
	converted(m, path, 0);
	model_free(read_archive(path, 0));
	assert_int_equal(fs_write_atomic(other, "x", 1, NULL), 0);
	converted(m, path, -EEXIST);
	assert_true(fs_is_file(other));
	assert_int_equal(fs_remove_tree(path, NULL), 0);
	/* an empty folder holds nothing that could be lost */
	assert_int_equal(fs_mkdirs(path, 0755, NULL), 0);
	converted(m, path, 0);
	assert_int_equal(fs_write_atomic(file, "x", 1, NULL), 0);
	converted(m, file, -EEXIST);
	assert_int_equal(fs_list(up, &left, NULL), 0);
	assert_int_equal(left.nr, 1);
}

TEST_IN(archives_of_others_stay, dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "a.otf2"), *anchor = fs_join(path, "traces.otf2");
	CLEANUP(model_freep) struct model *m = small();

	assert_int_equal(fs_mkdirs(path, 0755, NULL), 0);
	assert_int_equal(fs_write_atomic(anchor, "\3BOTF2 but not ours", 19, NULL), 0);
	converted(m, path, -EEXIST);
	assert_int_equal(fs_size(anchor), 19);
}

/* Runs in a child that may write so much to a file and no more. */
static void full_disk_child(const char *path)
{
	struct rlimit few = { 100000, 100000 };
	struct model *m = model_begun(TRACE_CLOCK_MONOTONIC);
	struct sink *s = model_sink(m);
	struct convert_job job = { .model = m, .path = path };
	struct convert_result res;
	struct err err = ERR_INIT;
	track_id t = thread_of(s, NULL, 1, 1);

	for (int64_t i = 0; i < 100000; i++)
		span_put(s, t, "call", i, i + 1, SPAN_HOST, 0);
	model_ended(m);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &few);
	_exit(converter_otf2.write(&job, &res, &err) < 0 && strstr(err.msg, path) ? 0 : 1);
}

TEST_IN(a_full_disk_is_an_error, dir)
{
	CLEANUP(strvec_release) struct strvec left = STRVEC_INIT;
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		full_disk_child(in_dir(dir, "a.otf2"));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fs_list(dir, &left, NULL), 0);
	assert_int_equal(left.nr, 0);
}

TEST(odd_models)
{
	static const int64_t origins[] = { 1700000000000000000, -500, 0 };

	for (size_t i = 0; i < ARRAY_LEN(origins); i++)
		round_trip(odd_model(origins[i]), "odd model");
	for (int i = 0; i < BARE_MODELS; i++)
		round_trip(bare_model(i), "bare model");
	any_models_come_back(&converter_otf2, "a.otf2", 200);
}

/* ---- other tools ---- */

/* A bit of everything: calls, launches, an overlap on the queue, arguments, counters. */
static struct model *rich(void)
{
	struct model *m = model_begun(TRACE_CLOCK_REALTIME);
	struct sink *s = model_sink(m);
	track_id p = track_put(s, TRACK_PROCESS, TRACK_NONE, "train", "n0", NULL, 1, PID_NONE, 0);
	track_id t = track_put(s, TRACK_THREAD, p, "main", "n0", NULL, 1, 1, 0);
	track_id dev = track_put(s, TRACK_DEVICE, TRACK_NONE, "gpu0", "n0", "gpu0", PID_NONE,
				 PID_NONE, RANK_NONE);
	track_id q =
		track_put(s, TRACK_QUEUE, dev, "stream 7", "n0", "gpu0", PID_NONE, 7, RANK_NONE);
	struct series_def power = { .name = "power",
				    .unit = "W",
				    .kind = SERIES_GAUGE,
				    .device = "gpu0",
				    .host = "n0",
				    .pci = "0:c1:0",
				    .track = TRACK_NONE },
			  papi = { .name = "cycles",
				   .kind = SERIES_CUMULATIVE,
				   .track = t,
				   .exclusive_sync = true };
	series_id id[2] = { s->ops->series(s, &power), s->ops->series(s, &papi) };

	span_full(s, t, "step", "user", NULL, 1000, 9000, SPAN_HOST, 0);
	for (int i = 0; i < 20; i++) {
		span_id from = span_full(s, t, "hipLaunchKernel", "HIP", "{\"grid\":1}",
					 1000 + 100 * i, 1050 + 100 * i, SPAN_HOST, 7 + i % 2);
		span_id to = span_full(s, q, i % 3 ? "gemm" : "copy", "HIP", NULL, 1200 + 100 * i,
				       1450 + 100 * i, i % 3 ? SPAN_KERNEL : SPAN_COPY, 7 + i % 2);

		s->ops->link(s, from, to, LINK_LAUNCH);
		for (int k = 0; k < 2; k++)
			s->ops->sample(s, id[k], 1000 + 100 * i, 100 + i);
	}
	span_full(s, t, "mark", "", NULL, 2025, 2025, SPAN_INSTANT, 0);
	s->ops->link(s, 0, 1, LINK_FLOW);
	return model_ended(m);
}

TEST_IN(otf2_print_reads_it, dir)
{
	CLEANUP(xfreep) char *anchor = fs_join(in_dir(dir, "a.otf2"), "traces.otf2");
	CLEANUP(xfreep) char *tool = fs_which("otf2-print", NULL);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	char *argv[] = { tool, anchor, NULL }, *defs[] = { tool, (char[]){ "-G" }, anchor, NULL };
	struct model *m = rich();
	struct proc_exit how;
	struct err err = ERR_INIT;

	if (!tool) {
		model_free(m);
		test_lacks("otf2-print", "otf2-print is not there");
	}
	converted(m, in_dir(dir, "a.otf2"), 0);
	assert_int_equal(proc_capture(argv, 60000, 1 << 20, &out, &errs, &how, &err), 0);
	assert_int_equal(how.code, 0);
	assert_string_equal(errs.buf, "");
	assert_has(out.buf, "ENTER", "\"args\" <1>; STRING; \"{\"grid\":1}\"");
	assert_int_equal(proc_capture(defs, 60000, 1 << 20, &out, &errs, &how, &err), 0);
	assert_int_equal(how.code, 0);
	assert_string_equal(errs.buf, "");
	assert_has(out.buf, "\"stream 7 (2)\"", "Class: \"node\"");
	model_free(m);
}

/* Calls and work come through a profile, with who launched what, and all series. */
TEST_IN(streamed, dir)
{
	CLEANUP(model_freep) struct model *m = rich(), *back = model_new();
	struct profile *p = profile_new(back, &(struct profile_opts){ .threads = 2 });
	struct read_opts o = { .keep_args = false };
	struct err err = ERR_INIT;
	uint64_t spans = 0;

	converted(m, in_dir(dir, "a.otf2"), 0);
	assert_int_equal(reader_otf2.read(in_dir(dir, "a.otf2"), model_sink(back), &o, &err), 0);
	model_finish(back);
	profile_finish(p);
	for (size_t i = 0; i < p->tracks.nr; i++)
		spans += p->tracks.v[i]->spans;
	/* but for the instant */
	assert_int_equal(spans, m->spans.nr - 1);
	assert_int_equal(p->devices.nr, 1);
	assert_string_equal(model_str(back, p->devices.v[0].device), "gpu0");
	assert_int_equal(p->devices.v[0].pieces, 20);
	assert_int_equal(p->devices.v[0].linked, 20);
	assert_int_equal(p->devices.v[0].max_concurrency, 3);
	assert_int_equal(back->series.nr, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct series *a = &m->series.v[i], *b = &back->series.v[i];

		assert_string_equal(model_str(m, a->pci), model_str(back, b->pci));
		assert_string_equal(model_str(m, a->unit), model_str(back, b->unit));
		assert_int_equal(a->exclusive_sync, b->exclusive_sync);
		assert_int_equal(a->t_ns.nr, b->t_ns.nr);
		assert_memory_equal(a->t_ns.v, b->t_ns.v, a->t_ns.nr * sizeof(*a->t_ns.v));
		assert_memory_equal(a->value.v, b->value.v, a->t_ns.nr * sizeof(*a->value.v));
	}
	assert_int_equal(back->warnings.nr, 0);
	profile_free(p);
}

static uint64_t without_instants(const struct model *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->spans.nr; i++)
		n += m->spans.kind[i] != SPAN_INSTANT;
	return n;
}

/* Whatever it holds: each location has a track of its own then. */
TEST(any_model_is_streamed)
{
	for (uint64_t i = 0; i <= test_cases(60); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		CLEANUP(xfreep) char *path = fs_join(dir, "a.otf2");
		CLEANUP(model_freep)
		struct model *m = i ? any_model(i * UINT64_C(0x9e3779b97f4a7c15)) : odd_model(-9);
		CLEANUP(model_freep) struct model *back = model_new();
		struct profile *p = profile_new(back, &(struct profile_opts){ .threads = 2 });
		struct read_opts o = { .keep_args = false };
		uint64_t spans = 0;

		converted(m, path, 0);
		assert_int_equal(reader_otf2.read(path, model_sink(back), &o, NULL), 0);
		model_finish(back);
		profile_finish(p);
		for (size_t k = 0; k < p->tracks.nr; k++)
			spans += p->tracks.v[k]->spans;
		if (spans != without_instants(m) || warned(back, W_TIME_ORDER))
			ROW_FAIL(i, "%" PRIu64 " of %" PRIu64 " spans", spans, without_instants(m));
		assert_int_equal(back->series.nr, m->series.nr);
		profile_free(p);
	}
}

/* ---- damage ---- */

static void replaced(const char *dir, const char *name, const char *what, const char *with)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name), *data = NULL;
	size_t n, length = strlen(what);
	char *at;

	assert_int_equal(strlen(with), length);
	assert_int_equal(fs_read(path, 1 << 24, &data, &n, NULL), 0);
	at = memmem(data, n, what, length);
	assert_non_null(at);
	memcpy(at, with, length);
	assert_int_equal(fs_write_atomic(path, data, n, NULL), 0);
}

TEST(what_is_damaged_is_told)
{
	static const struct {
		const char *file, *what, *with, *code;
		bool spans_left;
	} rows[] = {
		{ "traces.otf2", "{\"tracer", "x\"tracer", W_BAD_EVENT, true },
		{ "traces.otf2", "\"base_ns\":0,", "\"base_ns\":7,", W_BAD_EVENT, true },
		{ "traces.def", "{\"n\":0,\"kind\":\"process\"", "{\"n\":9,\"kind\":\"process\"",
		  W_BAD_EVENT, true },
		{ "traces.def", "\"kind\":\"thread\"", "\"kind\":\"thxxad\"", W_BAD_EVENT, true },
		{ "traces.def", "\"parent\":0", "\"parent\":8", W_BAD_EVENT, true },
		{ "traces.def", "profrig::lane of", "profrig::lane xx", NULL, true },
		{ "traces.def", "{\"n\":1,\"name\":\"cyc", "{\"n\":0,\"name\":\"cyc", W_BAD_EVENT,
		  true },
		{ "traces.def", "host HIP", "guest HI", W_BAD_EVENT, true },
		{ "traces.def", "host HIP", "host_HIP", W_BAD_EVENT, true },
		{ "traces.def", "correlation", "correXation", W_BAD_EVENT, true },
		{ "traces.def", "callsite id", "callsite xx", W_BAD_EVENT, true },
		{ "traces.def", "profrig::flow to", "profrig::flow at", W_UNKNOWN_REFERENCE, true },
	};
	CLEANUP(model_freep) struct model *m = rich();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		CLEANUP(xfreep) char *path = fs_join(dir, "a.otf2");

		converted(m, path, 0);
		replaced(path, rows[i].file, rows[i].what, rows[i].with);
		CLEANUP(model_freep) struct model *back = read_archive(path, 0);
		if (rows[i].code && !warned(back, rows[i].code))
			ROW_FAIL(i, "%s as '%s' is not told", rows[i].what, rows[i].with);
		if (back->spans.nr < m->spans.nr)
			ROW_FAIL(i, "%s as '%s': %zu spans are left", rows[i].what, rows[i].with,
				 back->spans.nr);
	}
}

/* ---- recordings ---- */

static void recording(const struct model *m, const char *path)
{
	there_and_back(&converter_otf2, m, "a.otf2", path);
}

TEST(every_recording)
{
	each_recording(recording);
}
