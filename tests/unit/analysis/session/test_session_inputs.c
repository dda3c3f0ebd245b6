/* Which inputs a session reads, what it notes of the others, and into which sink. */
#include "session_test.h"
#include "tests/fixtures/gen/otf2_gen.c"

#include "profrig/model/warnings.h"

#define FIX "tests/fixtures/"

static const char one_call[] =
	"[{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5}]";

/* Reads names; what came of it is *t. */
static int read_names(struct heard *h, const char *const *names, struct session_trace *t,
		      struct err *err)
{
	CLEANUP(strvec_release) struct strvec inputs = heard_inputs(h, names);

	return session_read(&inputs, &h->o, t, err);
}
#define READ(h, t, err, ...) read_names(h, (const char *const[]){ __VA_ARGS__, NULL }, t, err)

TEST(several_formats)
{
	CLEANUP(heard_end) struct heard h;
	CLEANUP(session_trace_release) struct session_trace t;
	struct err err = ERR_INIT;

	heard_begin(&h);
	test_put(h.dir, "t.json", one_call);
	assert_int_equal(
		READ(&h, &t, &err, "t.json", FIX "samples/gpu.csv", FIX "rocprof_csv/results.csv"),
		0);
	assert_int_equal(t.outcome.end, SESSION_WHOLE);
	assert_int_equal(t.outcome.read, 3);
	assert_int_equal(t.m->inputs.nr, 3);
	assert_string_equal(t.m->inputs.v[0].reader, "tef");
	assert_string_equal(t.m->inputs.v[1].reader, "samples");
	assert_string_equal(t.m->inputs.v[2].reader, "rocprof_csv");
	assert_null(t.profile);
	assert_int_equal(h.notes.nr, 0);
	assert_int_equal(h.models, 1);
	assert_int_equal(lines_with(&h.phases, "read "), 3);
	assert_int_equal(lines_with(&h.phases, "read gpu.csv"), 1);
	assert_null(err.msg[0] ? err.msg : NULL);
}

TEST(one_of_two_cannot_be_read)
{
	CLEANUP(heard_end) struct heard h;
	CLEANUP(session_trace_release) struct session_trace t;
	struct err err = ERR_INIT;

	heard_begin(&h);
	test_put(h.dir, "t.json", one_call);
	test_put(h.dir, "notes.txt", "no trace at all");
	assert_int_equal(READ(&h, &t, &err, "notes.txt", "t.json", "gone.json"), 0);
	assert_int_equal(t.outcome.end, SESSION_PARTIAL);
	assert_int_equal(t.outcome.read, 1);
	assert_int_equal(t.outcome.noted[SESSION_UNREADABLE], 2);
	assert_non_null(strstr(t.outcome.last_error, "gone.json: no such file or directory"));
	assert_int_equal(t.m->inputs.nr, 3);
	assert_true(t.m->inputs.v[0].partial);
	assert_false(t.m->inputs.v[1].partial);
	assert_true(model_warned(t.m, W_UNREADABLE));
	assert_int_equal(lines_with(&h.notes, "notes.txt"), 1);
}

TEST(nothing_can_be_read)
{
	CLEANUP(heard_end) struct heard h;
	CLEANUP(session_trace_release) struct session_trace t;
	struct err err = ERR_INIT;

	heard_begin(&h);
	test_put(h.dir, "empty/notes.txt", "no trace at all");
	assert_int_equal(READ(&h, &t, &err, "gone", "empty"), -ENODATA);
	assert_int_equal(t.outcome.end, SESSION_NOTHING_READ);
	assert_int_equal(t.outcome.noted[SESSION_UNREADABLE], 2);
	assert_int_equal(lines_with(&h.notes, "no file in it is a trace that profrig knows"), 1);
	assert_int_equal(h.models, 0);
}

TEST(damaged_is_partial)
{
	CLEANUP(heard_end) struct heard h;
	CLEANUP(session_trace_release) struct session_trace t;
	struct err err = ERR_INIT;

	heard_begin(&h);
	assert_int_equal(READ(&h, &t, &err, FIX "tef/cut-object.json"), 0);
	assert_int_equal(t.outcome.end, SESSION_PARTIAL);
	assert_int_equal(t.outcome.read, 1);
	assert_int_equal(t.outcome.partial, 1);
	assert_int_equal(t.outcome.noted[SESSION_UNREADABLE], 0);
}

TEST(named_twice_counts_once)
{
	CLEANUP(heard_end) struct heard h;
	CLEANUP(session_trace_release) struct session_trace t;
	CLEANUP(xfreep) char *link = NULL;
	struct err err = ERR_INIT;

	heard_begin(&h);
	test_put(h.dir, "d/t.json", one_call);
	link = fs_join(h.dir, "again.json");
	assert_int_equal(symlink("d/t.json", link), 0);
	assert_int_equal(READ(&h, &t, &err, "d/t.json", "again.json", "d"), 0);
	assert_int_equal(t.outcome.end, SESSION_WHOLE);
	assert_int_equal(t.outcome.read, 1);
	assert_int_equal(t.outcome.noted[SESSION_REPEATED], 2);
	assert_int_equal(t.m->spans.nr, 1);
	assert_true(model_warned(t.m, W_DUPLICATE_INPUT));
}

/* ---- one recording in several formats ---- */

static void put_dispatches(const struct heard *h, const char *name, int nr)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "{ \"traceEvents\":[{}\n,{\"args\":{\"name\":\"GPU0\"},\"ph\":\"M\","
			   "\"pid\":6,\"name\":\"process_name\",\"sort_index\":0}\n");
	for (int i = 0; i < nr; i++)
		strbuf_addf(&sb,
			    ",{\"ph\":\"X\",\"name\":\"scale\",\"pid\":\"6\",\"tid\":\"0\","
			    "\"ts\":\"%d\",\"dur\":\"1\",\"args\":{\"BeginNs\":\"%d000\","
			    "\"EndNs\":\"%d500\",\"dev-id\":\"1\",\"queue-id\":\"0\",\"Name\":"
			    "\"scale\",\"pid\":\"4242\",\"tid\":\"4242\"}}\n",
			    i, i, i);
	strbuf_addstr(&sb, "]}\n");
	test_put(h->dir, name, sb.buf);
}

static void put_fixture(const struct heard *h, const char *fixture, const char *name)
{
	CLEANUP(xfreep) char *text = test_get("tests/fixtures", fixture);

	test_put(h->dir, name, text);
}

TEST(the_richer_format_is_read)
{
	static const struct {
		int events; /* in results.json; results.csv has two dispatches and a sample */
		const char *reader, *warning, *words;
	} cases[] = {
		{ 1, "rocprof_csv", W_DUPLICATE_INPUT,
		  "results.json was left out: results.csv has the same recording" },
		{ 40, "tef", W_LEFT_OUT, "name its files alone to read them" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(heard_end) struct heard h;
		CLEANUP(session_trace_release) struct session_trace t;
		struct err err = ERR_INIT;

		heard_begin(&h);
		put_fixture(&h, "rocprof_csv/results.csv", "results.csv");
		put_dispatches(&h, "results.json", cases[i].events);
		if (READ(&h, &t, &err, "results.json", "results.csv") < 0)
			ROW_FAIL(i, "%s", err.msg);
		if (t.m->inputs.nr != 1 || strcmp(t.m->inputs.v[0].reader, cases[i].reader) != 0)
			ROW_FAIL(i, "%zu inputs, first by %s", t.m->inputs.nr,
				 t.m->inputs.v[0].reader);
		if (lines_with(&h.notes, cases[i].words) != 1 ||
		    !model_warned(t.m, cases[i].warning))
			ROW_FAIL(i, "note: %s", h.notes.nr ? h.notes.v[0] : "none");
		assert_int_equal(t.outcome.noted[SESSION_LEFT_OUT], 1);
		assert_int_equal(t.outcome.end, SESSION_WHOLE);
		assert_int_equal(lines_with(&h.phases, "compare "), 2);
	}
}

TEST(a_damaged_format_is_left_out)
{
	CLEANUP(heard_end) struct heard h;
	CLEANUP(session_trace_release) struct session_trace t;
	struct err err = ERR_INIT;

	heard_begin(&h);
	put_fixture(&h, "rocprof_csv/results.csv", "results.csv");
	put_dispatches(&h, "results.json", 40);
	{
		CLEANUP(xfreep) char *text = test_get(h.dir, "results.json");

		text[strlen(text) - 40] = '\0';
		test_put(h.dir, "results.json", text);
	}
	assert_int_equal(READ(&h, &t, &err, ""), 0);
	assert_string_equal(t.m->inputs.v[0].reader, "rocprof_csv");
	assert_int_equal(t.outcome.noted[SESSION_LEFT_OUT], 1);
	assert_true(model_warned(t.m, W_LEFT_OUT));
}

/* ---- sinks ---- */

static void put_archive(const struct heard *h, const char *name)
{
	CLEANUP(xfreep) char *dir = fs_join(h->dir, name);
	struct otf2_gen *g = otf2_gen_open(dir, 1000000000, 0, OTF2_UNDEFINED_TIMESTAMP);
	OTF2_EvtWriter *w;

	otf2_gen_host(g, 0, "node1");
	otf2_gen_group(g, 0, "Process", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	otf2_gen_region(g, 0, "main", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER);
	w = otf2_gen_location(g, 7, "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	OTF2_EvtWriter_Enter(w, NULL, 100, 0);
	OTF2_EvtWriter_Leave(w, NULL, 200, 0);
	otf2_gen_close(g);
}

TEST(sink_choice)
{
	static const struct {
		enum sink_choice sink;
		const char *window, *input, *beside;
		bool streamed;
		const char *why; /* NULL: it is read */
	} cases[] = {
		{ SINK_AUTO, NULL, "a", NULL, false, NULL },
		{ SINK_MODEL, NULL, "a", NULL, false, NULL },
		{ SINK_PROFILE, NULL, "a", NULL, true, NULL },
		{ SINK_PROFILE, NULL, "a", FIX "samples/gpu.csv", true, NULL },
		{ SINK_PROFILE, NULL, "t.json", NULL, false, "only otf2 archives can be" },
		{ SINK_PROFILE, NULL, "a", "t.json", false, "only otf2 archives can be" },
		{ SINK_PROFILE, NULL, "a", "b", false, "one archive at a time" },
		{ SINK_PROFILE, NULL, "gone", NULL, false, "gone is no archive" },
		{ SINK_PROFILE, NULL, FIX "samples/gpu.csv", NULL, false, "has no archive" },
		{ SINK_PROFILE, "1:2", "a", NULL, false, "--window cuts single calls" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(heard_end) struct heard h;
		CLEANUP(session_trace_release) struct session_trace t;
		struct err err = ERR_INIT;
		int r;

		heard_begin(&h);
		put_archive(&h, "a");
		put_archive(&h, "b");
		test_put(h.dir, "t.json", one_call);
		h.o.sink = cases[i].sink;
		h.o.window = cases[i].window;
		r = READ(&h, &t, &err, cases[i].input, cases[i].beside);
		if (r != (cases[i].why ? -EINVAL : 0))
			ROW_FAIL(i, "%d: %s", r, err.msg);
		if (cases[i].why &&
		    (!strstr(err.msg, cases[i].why) || t.outcome.end != SESSION_BAD_REQUEST))
			ROW_FAIL(i, "%d: %s", (int)t.outcome.end, err.msg);
		if ((t.profile != NULL) != cases[i].streamed)
			ROW_FAIL(i, "streamed: %d", t.profile != NULL);
		if (r == 0 && !cases[i].beside && (t.m->spans.nr == 0) != cases[i].streamed)
			ROW_FAIL(i, "%zu spans in the model", t.m->spans.nr);
	}
}

/* ---- runs ---- */

TEST(runs_do_not_mix)
{
	CLEANUP(heard_end) struct heard h;
	struct session_trace t;
	struct err err = ERR_INIT;

	heard_begin(&h);
	run_put(&h, "runs/a", 10, "");
	run_put(&h, "runs/b", 12, "");
	assert_int_equal(READ(&h, &t, &err, "runs/a", "runs/b"), -EINVAL);
	assert_int_equal(t.outcome.end, SESSION_BAD_REQUEST);
	assert_non_null(strstr(err.msg, "are two runs; one run is analysed at a time"));
	session_trace_release(&t);
	assert_int_equal(READ(&h, &t, &err, "runs"), -EINVAL);
	assert_non_null(strstr(err.msg, "holds run directories"));
	session_trace_release(&t);
	assert_int_equal(READ(&h, &t, &err, "runs/a", "runs/a"), 0);
	assert_int_equal(t.outcome.noted[SESSION_REPEATED], 1);
	session_trace_release(&t);
}

TEST(marks_of_a_run_are_instants)
{
	CLEANUP(heard_end) struct heard h;
	CLEANUP(session_trace_release) struct session_trace t;
	struct err err = ERR_INIT;

	heard_begin(&h);
	run_put(&h, "a", 10, "\"marks\":[{\"t_ns\":5,\"name\":\"warm\",\"by\":\"x\"}],");
	assert_int_equal(READ(&h, &t, &err, "a"), 0);
	assert_int_equal(t.outcome.read, 2); /* the run and its trace */
	assert_int_equal(t.m->spans.nr, 2);
	assert_int_not_equal(intern_find(t.m->strings, "warm", 4), STR_NONE);
}
