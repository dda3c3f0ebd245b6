/*
 * What a log of a reader's calls makes of a model is what the reader itself makes of it, to the
 * last id: every fixture, every recording, as a second input. A damaged log is refused.
 */
#include "facts_support.h"
#include "readers_test.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/model/library_calls.h"
#include "profrig/model/sink_log.h"

static struct model *model_with_one(void)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "one", "folded");
	sink_puts(s, "a text that is there already");
	s->ops->input_end(s);
	return m;
}

#define SAME(what, a, b) \
	do { \
		if ((a) != (b)) \
			fail_msg("%s: " #a " is %" PRId64 ", not %" PRId64, what, (int64_t)(b), \
				 (int64_t)(a)); \
	} while (0)
#define SAME_BYTES(what, a, b, n) \
	do { \
		if ((n) && memcmp((a), (b), (n) * sizeof(*(a))) != 0) \
			fail_msg("%s: " #a " differs", what); \
	} while (0)

static void same_inputs(const char *what, const struct model *a, const struct model *b)
{
	SAME(what, a->inputs.nr, b->inputs.nr);
	for (size_t i = 0; i < a->inputs.nr; i++) {
		const struct input *x = &a->inputs.v[i], *y = &b->inputs.v[i];

		assert_string_equal(x->path, y->path);
		assert_string_equal(x->reader, y->reader);
		assert_string_equal(x->format ? x->format : "", y->format ? y->format : "");
		SAME(what, x->clock, y->clock);
		assert_true(x->resolution_hz == y->resolution_hz);
		SAME(what, x->has_realtime_anchor, y->has_realtime_anchor);
		SAME(what, x->anchor_own_ns, y->anchor_own_ns);
		SAME(what, x->anchor_realtime_ns, y->anchor_realtime_ns);
		SAME(what, x->from_start, y->from_start);
		SAME(what, x->shift_ns, y->shift_ns);
		SAME(what, x->aligned, y->aligned);
		SAME(what, x->driver_numbers, y->driver_numbers);
		SAME(what, x->group, y->group);
		SAME(what, x->partial, y->partial);
		SAME(what, x->spans, y->spans);
		SAME(what, x->instants, y->instants);
		SAME(what, x->samples, y->samples);
		SAME(what, x->links, y->links);
		SAME(what, x->tracks, y->tracks);
		SAME(what, x->series, y->series);
		SAME(what, x->library, y->library);
		SAME(what, x->first_ns, y->first_ns);
		SAME(what, x->last_ns, y->last_ns);
		SAME(what, x->facts.nr, y->facts.nr);
		for (size_t k = 0; k < x->facts.nr; k++) {
			assert_string_equal(x->facts.v[k].key, y->facts.v[k].key);
			SAME(what, x->facts.v[k].value, y->facts.v[k].value);
		}
	}
}

static void same_tracks(const char *what, const struct model *a, const struct model *b)
{
	SAME(what, intern_count(a->strings), intern_count(b->strings));
	for (str_id i = 0; i < intern_count(a->strings); i++)
		assert_string_equal(model_str(a, i), model_str(b, i));
	SAME(what, a->tracks.nr, b->tracks.nr);
	for (size_t i = 0; i < a->tracks.nr; i++) {
		const struct track *x = &a->tracks.v[i], *y = &b->tracks.v[i];

		SAME(what, x->kind, y->kind);
		SAME(what, x->parent, y->parent);
		SAME(what, x->host, y->host);
		SAME(what, x->pid, y->pid);
		SAME(what, x->tid, y->tid);
		SAME(what, x->rank, y->rank);
		SAME(what, x->device, y->device);
		SAME(what, x->owner, y->owner);
		SAME(what, x->pci, y->pci);
		SAME(what, x->name, y->name);
		SAME(what, x->input, y->input);
	}
}

static void same_spans(const char *what, const struct model *a, const struct model *b)
{
	const struct span_columns *x = &a->spans, *y = &b->spans;

	SAME(what, x->nr, y->nr);
	SAME_BYTES(what, x->track, y->track, x->nr);
	SAME_BYTES(what, x->start_ns, y->start_ns, x->nr);
	SAME_BYTES(what, x->end_ns, y->end_ns, x->nr);
	SAME_BYTES(what, x->name, y->name, x->nr);
	SAME_BYTES(what, x->category, y->category, x->nr);
	SAME_BYTES(what, x->kind, y->kind, x->nr);
	SAME_BYTES(what, x->input, y->input, x->nr);
	for (size_t i = 0; i < x->nr; i++) {
		SAME(what, span_correlation(x, i), span_correlation(y, i));
		SAME(what, span_args(x, i), span_args(y, i));
	}
	SAME(what, a->links.nr, b->links.nr);
	SAME_BYTES(what, a->links.from, b->links.from, a->links.nr);
	SAME_BYTES(what, a->links.to, b->links.to, a->links.nr);
	SAME_BYTES(what, a->links.kind, b->links.kind, a->links.nr);
}

static void same_series(const char *what, const struct model *a, const struct model *b)
{
	SAME(what, a->series.nr, b->series.nr);
	for (size_t i = 0; i < a->series.nr; i++) {
		const struct series *x = &a->series.v[i], *y = &b->series.v[i];

		SAME(what, x->name, y->name);
		SAME(what, x->unit, y->unit);
		SAME(what, x->kind, y->kind);
		SAME(what, x->track, y->track);
		SAME(what, x->device, y->device);
		SAME(what, x->host, y->host);
		SAME(what, x->pci, y->pci);
		SAME(what, x->change_points, y->change_points);
		SAME(what, x->exclusive_sync, y->exclusive_sync);
		SAME(what, x->estimated, y->estimated);
		SAME(what, x->failed, y->failed);
		SAME(what, x->t_ns.nr, y->t_ns.nr);
		SAME_BYTES(what, x->t_ns.v, y->t_ns.v, x->t_ns.nr);
		SAME_BYTES(what, x->value.v, y->value.v, x->value.nr);
	}
}

static void same_warnings(const char *what, const struct model *a, const struct model *b)
{
	SAME(what, a->warnings.nr, b->warnings.nr);
	for (size_t i = 0; i < a->warnings.nr; i++) {
		const struct warning *x = &a->warnings.v[i], *y = &b->warnings.v[i];

		assert_ptr_equal(x->code, y->code);
		SAME(what, x->count, y->count);
		SAME(what, x->input, y->input);
		assert_string_equal(x->text, y->text);
	}
}

static void same_library(const char *what, const struct model *a, const struct model *b)
{
	const struct library_calls *x = a->library, *y = b->library;

	SAME(what, x == NULL, y == NULL);
	if (!x)
		return;
	SAME(what, x->distinct, y->distinct);
	SAME(what, x->doubled, y->doubled);
	SAME(what, x->over_calls, y->over_calls);
	SAME(what, x->rows.nr, y->rows.nr);
	for (size_t i = 0; i < x->rows.nr; i++) {
		const struct library_row *p = &x->rows.v[i], *q = &y->rows.v[i];

		assert_string_equal(p->library, q->library);
		assert_string_equal(p->operation, q->operation);
		assert_string_equal(p->key, q->key);
		assert_string_equal(p->config, q->config);
		SAME(what, p->calls, q->calls);
		SAME(what, p->nested, q->nested);
		SAME(what, p->caller, q->caller);
		SAME(what, p->first_ns, q->first_ns);
		SAME(what, p->total_ns, q->total_ns);
		SAME(what, p->pid, q->pid);
		SAME(what, p->ranks.nr, q->ranks.nr);
		assert_true(p->all_flops == q->all_flops && p->all_bytes == q->all_bytes);
	}
	SAME(what, x->events.nr, y->events.nr);
	SAME_BYTES(what, x->events.v, y->events.v, x->events.nr);
	SAME(what, x->streams.nr, y->streams.nr);
	for (size_t i = 0; i < x->streams.nr; i++) {
		SAME(what, x->streams.v[i].pid, y->streams.v[i].pid);
		SAME(what, x->streams.v[i].tid, y->streams.v[i].tid);
		SAME(what, x->streams.v[i].input, y->streams.v[i].input);
	}
}

static void same_models(const char *what, const struct model *a, const struct model *b)
{
	same_inputs(what, a, b);
	same_tracks(what, a, b);
	same_spans(what, a, b);
	same_series(what, a, b);
	same_warnings(what, a, b);
	same_library(what, a, b);
	same_facts(what, a, b);
}

static void same_text(const char *what, const struct model *a, str_id x, const struct model *b,
		      str_id y)
{
	if (strcmp(model_str(a, x), model_str(b, y)) != 0)
		fail_msg("%s: '%s', not '%s'", what, model_str(b, y), model_str(a, x));
}

/* Tracks and series are the same, and their texts, whose ids may differ. */
static void same_definitions(const char *what, const struct model *a, const struct model *b)
{
	SAME(what, a->tracks.nr, b->tracks.nr);
	for (size_t i = 0; i < a->tracks.nr; i++) {
		const struct track *x = &a->tracks.v[i], *y = &b->tracks.v[i];

		SAME(what, x->kind, y->kind);
		SAME(what, x->parent, y->parent);
		SAME(what, x->pid, y->pid);
		SAME(what, x->tid, y->tid);
		SAME(what, x->rank, y->rank);
		SAME(what, x->owner, y->owner);
		SAME(what, x->input, y->input);
		same_text(what, a, x->host, b, y->host);
		same_text(what, a, x->device, b, y->device);
		same_text(what, a, x->name, b, y->name);
	}
	SAME(what, a->series.nr, b->series.nr);
	for (size_t i = 0; i < a->series.nr; i++) {
		const struct series *x = &a->series.v[i], *y = &b->series.v[i];

		SAME(what, x->kind, y->kind);
		SAME(what, x->track, y->track);
		SAME(what, x->failed, y->failed);
		SAME(what, x->t_ns.nr, y->t_ns.nr);
		SAME_BYTES(what, x->t_ns.v, y->t_ns.v, x->t_ns.nr);
		SAME_BYTES(what, x->value.v, y->value.v, x->value.nr);
		same_text(what, a, x->name, b, y->name);
		same_text(what, a, x->unit, b, y->unit);
		same_text(what, a, x->device, b, y->device);
	}
	SAME(what, a->inputs.nr, b->inputs.nr);
	for (size_t i = 0; i < a->inputs.nr; i++) {
		const struct input *x = &a->inputs.v[i], *y = &b->inputs.v[i];

		SAME(what, x->first_ns, y->first_ns);
		SAME(what, x->last_ns, y->last_ns);
		SAME(what, x->shift_ns, y->shift_ns);
		SAME(what, x->group, y->group);
		SAME(what, x->samples, y->samples);
		SAME(what, x->library, y->library);
	}
	SAME(what, a->facts.devices.nr, b->facts.devices.nr);
	for (size_t i = 0; i < a->facts.devices.nr; i++) {
		const struct device_facts *x = &a->facts.devices.v[i], *y = &b->facts.devices.v[i];

		SAME(what, x->number, y->number);
		same_text(what, a, x->name, b, y->name);
		same_text(what, a, x->arch, b, y->arch);
	}
	SAME(what, a->facts.worlds.nr, b->facts.worlds.nr);
	for (size_t i = 0; i < a->facts.worlds.nr; i++)
		SAME(what, a->facts.worlds.v[i].rank, b->facts.worlds.v[i].rank);
}

/* A log without its spans: what it defines, and which tracks have some. */
static void compare_definitions(const char *what, const char *bytes, size_t n)
{
	CLEANUP(model_freep) struct model *a = model_with_one();
	CLEANUP(model_freep) struct model *b = model_with_one();
	CLEANUP(strbuf_release) struct strbuf defs = STRBUF_INIT;
	CLEANUP(xfreep) bool *has = NULL;
	struct sink_log_tracks calls = { VEC_INIT }, map = { VEC_INIT };

	assert_int_equal(sink_log_definitions(bytes, n, &defs, &calls, NULL), 0);
	assert_int_equal(sink_log_play(bytes, n, a, NULL), 0);
	assert_int_equal(sink_log_play_tracks(defs.buf, defs.len, b, &map, NULL), 0);
	SAME(what, b->spans.nr, 0);
	same_definitions(what, a, b);
	has = xcalloc(a->tracks.nr + 1, sizeof(*has));
	for (size_t i = 0; i < calls.v.nr; i++)
		if (calls.v.v[i] < map.v.nr)
			has[map.v.v[calls.v.v[i]]] = true;
	for (size_t i = 0; i < a->spans.nr; i++)
		if (!has[a->spans.track[i]])
			fail_msg("%s: track %u has spans", what, a->spans.track[i]);
	VEC_RELEASE(&calls.v);
	VEC_RELEASE(&map.v);
}

static const struct read_opts opts = { .keep_args = true, .keep_shapes = true, .facts = true };

/* Twice: the second log meets texts, tracks and rows of the first. */
static void compare_file(const struct reader *rd, const char *path)
{
	CLEANUP(model_freep) struct model *a = model_with_one();
	CLEANUP(model_freep) struct model *b = model_with_one();

	for (int i = 0; i < 2; i++) {
		CLEANUP(sink_log_freep) struct sink_log *log = sink_log_new(NULL, false);
		struct err ea = ERR_INIT, eb = ERR_INIT;
		int ra = reader_read(rd, path, model_sink(a), &opts, &ea);
		int rb = reader_read(rd, path, sink_log_sink(log), &opts, &eb);
		const char *bytes;
		size_t n;

		SAME(path, ra, rb);
		assert_string_equal(ea.msg, eb.msg);
		if (ra < 0)
			return;
		bytes = sink_log_bytes(log, &n);
		assert_non_null(bytes);
		assert_int_equal(sink_log_play(bytes, n, b, &eb), 0);
		same_models(path, a, b);
		compare_definitions(path, bytes, n);
	}
}

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

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		compare_folder(kept(test_trace(folders[i])));
}

/* ---- calls that readers rarely make ---- */

static void events_push(struct sink *s)
{
	struct track_def thread = TRACK_DEF_INIT;
	struct series_def power = { .name = "power", .unit = "W", .track = TRACK_NONE };
	char text[SINK_TEXT_MAX + 100];
	track_id t;
	series_id p;

	memset(text, 'x', sizeof(text));
	s->ops->input(s, "events", "otf2");
	s->ops->current(s)->group = 77;
	s->ops->current(s)->clock = TRACE_CLOCK_MONOTONIC;
	s->ops->clock(s);
	thread.kind = TRACK_THREAD;
	thread.pid = 4;
	thread.tid = 5;
	thread.name = "a thread";
	t = s->ops->track(s, &thread);
	p = s->ops->series(s, &power);
	s->ops->leave(s, t, 5, sink_puts(s, "stray"));
	s->ops->enter(s, t, 10, sink_puts(s, "f"), 0);
	s->ops->open_kind(s, t, SPAN_ANNOTATION);
	s->ops->leave_args(s, t, s->ops->string(s, text, sizeof(text)));
	s->ops->enter(s, t, 12, s->ops->string(s, text, sizeof(text)), sink_puts(s, "f"));
	s->ops->leave(s, t, 9, sink_puts(s, "other"));
	s->ops->leave(s, t, INT64_MAX, STR_NONE);
	s->ops->enter(s, t, 20, 0, 0);
	s->ops->enter(s, 99, 20, 0, 0);
	s->ops->span(s, &(struct span_def){ t, 9, 7, 0, 0, 1, SPAN_HOST, STR_NONE });
	s->ops->span(s, &(struct span_def){ 99, 9, 7, 0, 0, 1, SPAN_HOST, STR_NONE });
	s->ops->link(s, 0, 1, LINK_FLOW);
	s->ops->link(s, 0, 1000, LINK_FLOW);
	s->ops->link(s, SPAN_NONE, 0, LINK_FLOW);
	s->ops->sample(s, p, 3, 1.5);
	s->ops->sample(s, p, INT64_MIN, -0.0);
	s->ops->sample(s, p, 4, NAN);
	s->ops->sample(s, 42, 4, 1);
	s->ops->current(s)->first_ns = -1000;
	sink_fact(s, "things", -3);
	s->ops->warn(s, "W_BAD_EVENT", 4, "four of them");
	s->ops->input_end(s);
}

TEST(odd_calls)
{
	CLEANUP(model_freep) struct model *a = model_with_one();
	CLEANUP(model_freep) struct model *b = model_with_one();
	CLEANUP(sink_log_freep) struct sink_log *log = sink_log_new(NULL, false);
	const char *bytes;
	size_t n;

	events_push(model_sink(a));
	events_push(sink_log_sink(log));
	bytes = sink_log_bytes(log, &n);
	assert_int_equal(sink_log_play(bytes, n, b, NULL), 0);
	same_models("odd calls", a, b);
	compare_definitions("odd calls", bytes, n);
}

/* A run's host names what the file does not. */
TEST(host_of_a_run)
{
	CLEANUP(model_freep) struct model *a = model_with_one();
	CLEANUP(model_freep) struct model *b = model_with_one();
	CLEANUP(sink_log_freep) struct sink_log *log = sink_log_new("node3", true);
	const char *bytes;
	size_t n;

	model_set_default_host(a, "node3", true);
	model_set_default_host(b, "node3", true);
	events_push(model_sink(a));
	events_push(sink_log_sink(log));
	bytes = sink_log_bytes(log, &n);
	assert_int_equal(sink_log_play(bytes, n, b, NULL), 0);
	same_models("a host", a, b);
}

/* ---- damage ---- */

TEST(a_cut_or_changed_log)
{
	CLEANUP(sink_log_freep) struct sink_log *log = sink_log_new(NULL, false);
	CLEANUP(xfreep) char *copy = NULL;
	const char *bytes;
	size_t n, refused = 0, tried = 0;

	events_push(sink_log_sink(log));
	bytes = sink_log_bytes(log, &n);
	/* the long texts are most of it */
	for (size_t cut = 1; cut < n; cut += cut < 300 || cut > n - 300 ? 1 : 997) {
		CLEANUP(model_freep) struct model *m = model_with_one();

		sink_log_play(bytes, cut, m, NULL);
		model_finish(m);
	}
	copy = xmemdup(bytes, n);
	for (size_t i = 0; i < n; i += i < 300 || i > n - 300 ? 1 : 997) {
		CLEANUP(model_freep) struct model *m = model_with_one();

		CLEANUP(strbuf_release) struct strbuf defs = STRBUF_INIT;
		struct sink_log_tracks calls = { VEC_INIT };

		copy[i] ^= (char)0xa5;
		sink_log_definitions(copy, n, &defs, &calls, NULL);
		VEC_RELEASE(&calls.v);
		refused += sink_log_play(copy, n, m, NULL) == -EBADMSG;
		tried++;
		model_finish(m);
		copy[i] ^= (char)0xa5;
	}
	assert_true(refused > 0 && refused < tried);
}

/* A reader that fails leaves what it had begun. */
TEST(a_reader_that_fails)
{
	CLEANUP(model_freep) struct model *a = model_with_one();
	CLEANUP(model_freep) struct model *b = model_with_one();
	CLEANUP(sink_log_freep) struct sink_log *log = sink_log_new(NULL, false);
	struct sink *sinks[] = { model_sink(a), sink_log_sink(log) };
	const char *bytes;
	size_t n;

	for (int i = 0; i < 2; i++) {
		struct sink *s = sinks[i];

		s->ops->input(s, "x", "rpd");
		s->ops->current(s)->format = xstrdup("half");
		s->ops->clock(s);
		s->ops->current(s)->partial = true;
		sink_fact(s, "rows", 3);
	}
	sink_log_failed(log);
	bytes = sink_log_bytes(log, &n);
	assert_int_equal(sink_log_play(bytes, n, b, NULL), 0);
	same_models("half", a, b);
	model_finish(a);
	model_finish(b);
	same_models("half, finished", a, b);
}

TEST(another_beginning)
{
	CLEANUP(sink_log_freep) struct sink_log *log = sink_log_new(NULL, false);
	struct sink *s = sink_log_sink(log);
	size_t n;

	assert_true(s->ops->input(s, "x", "tef") != 0);
	s->ops->input_again(s);
	assert_null(sink_log_bytes(log, &n));
}
