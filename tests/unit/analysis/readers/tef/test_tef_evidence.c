/*
 * What tells a document's dialect, and where device work lies and what launched it, may stand
 * anywhere in the file: behind thousands of other events, at a pair's begin or at its end.
 */
#include "model_dump.h"
#include "readers_test.h"

#include "profrig/base/workers.h"

static uint64_t seed;

static uint64_t dice_roll(uint64_t n)
{
	return rnd(&seed) % n;
}

/* Reads text; second: as the second input of a model, where nothing can be taken back. */
static struct model *model_of(const struct strbuf *text, const char *dialect, unsigned threads,
			      bool second)
{
	char *path = temp_file(text->buf, text->len), *empty = temp_file("[]", 2);
	CLEANUP(workers_freep) struct workers *w = workers_new(threads);
	struct read_opts o = { .dialect = dialect, .workers = w };
	const struct reader *tef = reader_find("tef");
	struct model *m = model_new();
	struct err err = ERR_INIT;

	model_set_workers(m, w);
	if (second)
		assert_int_equal(tef->read(empty, model_sink(m), &o, &err), 0);
	assert_int_equal(tef->read(path, model_sink(m), &o, &err), 0);
	model_finish(m);
	unlink(path);
	unlink(empty);
	free(path);
	free(empty);
	return m;
}

/* By any number of threads, as the first input and as a later one. */
static void assert_reads_as(const struct strbuf *text, const struct model *want, const char *what)
{
	static const unsigned threads[] = { 1, 2, 5 };

	for (size_t i = 0; i < 2 * ARRAY_LEN(threads); i++) {
		CLEANUP(model_freep) struct model *m = model_of(text, NULL, threads[i / 2], i % 2);

		assert_models_equal(want, m, what);
	}
}

/* ---- evidence ---- */

static const char *const before[] = {
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":1,\"args\":{\"name\":\"x\"}},\n",
	"{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"a\",\"pid\":9,\"tid\":1,\"ts\":%d,\"dur\":1},\n",
	"{\"ph\":\"X\",\"name\":\"a\",\"pid\":9,\"tid\":1,\"ts\":%d,\"dur\":1,\"args\":{}},\n",
	"{\"ph\":\"C\",\"name\":\"c\",\"pid\":9,\"ts\":%d,\"args\":{\"v\":1}},\n",
};

static const struct {
	const char *dialect, *text;
} evidence[] = {
	{ "kineto",
	  "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":1,"
	  "\"ts\":5000,\"dur\":2,\"args\":{\"correlation\":7}},"
	  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":\"stream 7\","
	  "\"ts\":5010,\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":7}}" },
	{ "kineto",
	  "{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":1,"
	  "\"ts\":5000,\"dur\":2,\"args\":{\"external id\":7}},"
	  "{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"k\",\"pid\":0,\"tid\":\"stream 7\","
	  "\"ts\":5010,\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"external id\":7}}" },
	{ "kineto",
	  "{\"ph\":\"B\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5010,"
	  "\"args\":{\"device\":0,\"stream\":7,\"correlation\":7}},"
	  "{\"ph\":\"E\",\"pid\":0,\"tid\":7,\"ts\":5015}" },
	{ "rocprof_v1",
	  "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":6,\"args\":{\"name\":\"GPU0\"}},"
	  "{\"ph\":\"X\",\"name\":\"k\",\"pid\":6,\"tid\":0,\"ts\":5010,\"dur\":5,\"args\":{"
	  "\"BeginNs\":\"5010123\",\"EndNs\":\"5015456\",\"dev-id\":\"0\",\"queue-id\":\"0\"}}" },
};

TEST(evidence_last)
{
	static const int numbers[] = { 0, 1999, 2000, 3000 };

	for (size_t i = 0; i < ARRAY_LEN(before) * ARRAY_LEN(evidence) * ARRAY_LEN(numbers); i++) {
		const char *event = before[i % ARRAY_LEN(before)];
		size_t e = i / ARRAY_LEN(before) % ARRAY_LEN(evidence);
		int n = numbers[i / ARRAY_LEN(before) / ARRAY_LEN(evidence)];
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		strbuf_addstr(&text, "{\"traceEvents\":[");
		for (int k = 0; k < n; k++) {
			const char *hole = strstr(event, "%d");

			strbuf_add(&text, event, (size_t)(hole - event));
			strbuf_addf(&text, "%d%s", k, hole + 2);
		}
		strbuf_addf(&text, "%s]}", evidence[e].text);
		CLEANUP(model_freep)
		struct model *want = model_of(&text, evidence[e].dialect, 1, false);
		assert_true(span_is_work(want, span_at(want, "k")));
		assert_reads_as(&text, want, evidence[e].text);
	}
}

/* ---- pairs ---- */

struct work {
	const char *cat, *name, *device_args;
	int pid, tid, ts, dur;
	unsigned correlation; /* 0: none */
};

static void event_begin(struct strbuf *sb, const char *ph, const struct work *w, bool cat,
			bool name)
{
	strbuf_addf(sb, "{\"ph\":\"%s\"", ph);
	if (cat)
		strbuf_addf(sb, ",\"cat\":\"%s\"", w->cat);
	if (name)
		strbuf_addf(sb, ",\"name\":\"%s\"", w->name);
	strbuf_addf(sb, ",\"pid\":%d,\"tid\":%d", w->pid, w->tid);
}

static void event_args(struct strbuf *sb, const struct work *w, bool device, bool correlation)
{
	const char *comma = device && correlation && *w->device_args ? "," : "";

	strbuf_addstr(sb, ",\"args\":{");
	strbuf_addstr(sb, device ? w->device_args : "");
	if (correlation && w->correlation)
		strbuf_addf(sb, "%s\"correlation\":%u", comma, w->correlation);
	else if (correlation)
		strbuf_addf(sb, "%s\"note\":1", comma);
	strbuf_addstr(sb, "}}");
}

/* The span as one event, or as two that share what there is to say between them. */
static void work_put(struct strbuf *whole, char **pairs, size_t *nr, const struct work *w)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT, e = STRBUF_INIT;
	bool device = dice_roll(2), correlation = dice_roll(2), cat = dice_roll(2);

	event_begin(whole, "X", w, true, true);
	strbuf_addf(whole, ",\"ts\":%d,\"dur\":%d", w->ts, w->dur);
	event_args(whole, w, true, true);
	event_begin(&b, "B", w, cat, true);
	strbuf_addf(&b, ",\"ts\":%d", w->ts);
	event_begin(&e, "E", w, !cat || dice_roll(2), dice_roll(2));
	strbuf_addf(&e, ",\"ts\":%d", w->ts + w->dur);
	event_args(&b, w, device, correlation);
	event_args(&e, w, !device, !correlation);
	pairs[(*nr)++] = xstrdup(b.buf);
	pairs[(*nr)++] = xstrdup(e.buf);
}

static size_t works_make(struct work *v, size_t calls)
{
	static const char *const cats[] = { "kernel", "gpu_memcpy", "gpu_memset",
					    "mtia_ccp_events" };
	size_t nr = 0;

	for (size_t i = 0; i < calls; i++) {
		int ts = 100 * (int)i;
		unsigned id = dice_roll(8) ? (unsigned)i + 1 : 0;

		v[nr++] = (struct work){ "cpu_op", "op", "\"External id\":5", 1, 1, ts, 90, 0 };
		v[nr++] = (struct work){
			"cuda_runtime", "launch", "\"External id\":5", 1, 1, ts + 10, 20, id
		};
		v[nr++] = (struct work){ cats[dice_roll(4)],
					 dice_roll(9) ? "work" : "event_wait",
					 "\"device\":1,\"stream\":7",
					 0,
					 7,
					 ts + 40,
					 30,
					 id };
	}
	return nr;
}

static void events_put(struct strbuf *sb, char **v, size_t nr, bool mixed)
{
	for (size_t i = nr; mixed && i > 1; i--) {
		size_t k = dice_roll(i);
		char *swap = v[k];

		v[k] = v[i - 1];
		v[i - 1] = swap;
	}
	for (size_t i = 0; i < nr; i++) {
		strbuf_addf(sb, "%s%s", i ? "," : "", v[i]);
		free(v[i]);
	}
}

TEST(pairs)
{
	struct work works[300];
	char *events[600];

	for (seed = 1; seed <= 20; seed++) {
		CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT, text = STRBUF_INIT;
		size_t nr = works_make(works, 1 + dice_roll(100)), nr_events = 0;
		char what[32];

		strbuf_addstr(&whole, "{\"schemaVersion\":1,\"traceEvents\":[");
		strbuf_addstr(&text, whole.buf);
		for (size_t i = 0; i < nr; i++) {
			strbuf_addstr(&whole, i ? "," : "");
			work_put(&whole, events, &nr_events, &works[i]);
		}
		strbuf_addstr(&whole, "],\"deviceProperties\":[]}");
		events_put(&text, events, nr_events, seed % 2);
		strbuf_addstr(&text, "],\"deviceProperties\":[]}");
		CLEANUP(model_freep) struct model *want = model_of(&whole, "kineto", 1, false);
		snprintf(what, sizeof(what), "seed %" PRIu64, seed);
		assert_reads_as(&text, want, what);
	}
}

/* A number of an operator is no correlation, even when it equals one. */
TEST(external_ids)
{
	READING rd = read_text(
		"tef",
		"{\"schemaVersion\":1,\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":1,"
		"\"ts\":10,\"dur\":2,\"args\":{\"correlation\":5}},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,"
		"\"ts\":14,\"dur\":9,\"args\":{\"External id\":5}},"
		"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"wait\",\"pid\":1,\"tid\":1,"
		"\"ts\":15,\"dur\":2,\"args\":{\"External id\":5}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":20,"
		"\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"External id\":3,"
		"\"correlation\":5}}]}");
	const struct model *m = rd.m;

	assert_int_equal(m->links.nr, 1);
	assert_int_equal(m->links.from[0], span_at(m, "launch"));
	assert_int_equal(m->links.to[0], span_at(m, "k"));
	assert_int_equal(m->spans.correlation[span_at(m, "k")], 5);
}

/* What a queue of MTIA waits for is no work of it. */
TEST(event_waits)
{
	READING rd = read_text(
		"tef",
		"{\"schemaVersion\":1,\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"event_wait\",\"pid\":1,"
		"\"tid\":17,\"ts\":10,\"dur\":9,\"args\":{\"device\":1,\"stream\":17}},"
		"{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"fc\",\"pid\":1,"
		"\"tid\":17,\"ts\":20,\"dur\":9,\"args\":{\"device\":1,\"stream\":17}}]}");
	const struct model *m = rd.m;

	expect_model(m, "event_wait: kind=annotation work=0 fc: work=1");
	assert_int_equal(m->spans.track[0], m->spans.track[1]);
}
