/* Which inputs a session reads, what it notes of the others, and into which sink. */
#include "session_test.h"
#include "tests/fixtures/gen/otf2_gen.c"

#include <math.h>

#include "profrig/model/warnings.h"

#define FIX "tests/fixtures/"

static const char one_call[] =
	"[{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5}]";

/* Reads names into h->t. */
static int read_names(struct heard *h, const char *const *names)
{
	CLEANUP(strvec_release) struct strvec inputs = heard_inputs(h, names);

	session_trace_release(&h->t);
	return session_read(&inputs, &h->o, &h->t, &h->err);
}
#define READ(h, ...) read_names(h, (const char *const[]){ __VA_ARGS__, NULL })

SESSION_TEST(several_formats)
{
	test_put(h->dir, "t.json", one_call);
	assert_int_equal(READ(h, "t.json", FIX "samples/gpu.csv", FIX "rocprof_csv/results.csv"),
			 0);
	assert_int_equal(h->t.outcome.end, SESSION_WHOLE);
	assert_int_equal(h->t.outcome.read, 3);
	assert_int_equal(h->t.m->inputs.nr, 3);
	assert_string_equal(h->t.m->inputs.v[0].reader, "tef");
	assert_string_equal(h->t.m->inputs.v[1].reader, "samples");
	assert_string_equal(h->t.m->inputs.v[2].reader, "rocprof_csv");
	assert_null(h->t.profile);
	assert_int_equal(h->notes.nr, 0);
	assert_int_equal(h->models, 1);
	assert_int_equal(lines_with(&h->phases, "read "), 3);
	assert_int_equal(lines_with(&h->phases, "read gpu.csv"), 1);
	assert_null(h->err.msg[0] ? h->err.msg : NULL);
}

SESSION_TEST(one_of_two_cannot_be_read)
{
	test_put(h->dir, "t.json", one_call);
	test_put(h->dir, "notes.txt", "no trace at all");
	assert_int_equal(READ(h, "notes.txt", "t.json", "gone.json"), 0);
	assert_int_equal(h->t.outcome.end, SESSION_PARTIAL);
	assert_int_equal(h->t.outcome.read, 1);
	assert_int_equal(h->t.outcome.noted[SESSION_UNREADABLE], 2);
	assert_has(h->t.outcome.last_error, "gone.json: no such file or directory");
	assert_int_equal(h->t.m->inputs.nr, 3);
	assert_true(h->t.m->inputs.v[0].partial);
	assert_false(h->t.m->inputs.v[1].partial);
	assert_true(warned(h->t.m, W_UNREADABLE));
	assert_int_equal(lines_with(&h->notes, "notes.txt"), 1);
}

SESSION_TEST(nothing_can_be_read)
{
	test_put(h->dir, "empty/notes.txt", "no trace at all");
	assert_int_equal(READ(h, "gone", "empty"), -ENODATA);
	assert_int_equal(h->t.outcome.end, SESSION_NOTHING_READ);
	assert_int_equal(h->t.outcome.noted[SESSION_UNREADABLE], 2);
	assert_int_equal(lines_with(&h->notes, "no file in it is a trace that profrig knows"), 1);
	assert_int_equal(h->models, 0);
}

SESSION_TEST(damaged_is_partial)
{
	assert_int_equal(READ(h, FIX "tef/cut-object.json"), 0);
	assert_int_equal(h->t.outcome.end, SESSION_PARTIAL);
	assert_int_equal(h->t.outcome.read, 1);
	assert_int_equal(h->t.outcome.partial, 1);
	assert_int_equal(h->t.outcome.noted[SESSION_UNREADABLE], 0);
}

SESSION_TEST(named_twice_counts_once)
{
	test_put(h->dir, "d/t.json", one_call);
	assert_int_equal(symlink("d/t.json", in_dir(h->dir, "again.json")), 0);
	assert_int_equal(READ(h, "d/t.json", "again.json", "d"), 0);
	assert_int_equal(h->t.outcome.end, SESSION_WHOLE);
	assert_int_equal(h->t.outcome.read, 1);
	assert_int_equal(h->t.outcome.noted[SESSION_REPEATED], 2);
	assert_int_equal(h->t.m->spans.nr, 1);
	assert_true(warned(h->t.m, W_DUPLICATE_INPUT));
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
	test_put(h->dir, name, kept(test_get("tests/fixtures", fixture)));
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

		heard_begin(&h);
		put_fixture(&h, "rocprof_csv/results.csv", "results.csv");
		put_dispatches(&h, "results.json", cases[i].events);
		if (READ(&h, "results.json", "results.csv") < 0)
			ROW_FAIL(i, "%s", h.err.msg);
		if (h.t.m->inputs.nr != 1 ||
		    strcmp(h.t.m->inputs.v[0].reader, cases[i].reader) != 0)
			ROW_FAIL(i, "%zu inputs, first by %s", h.t.m->inputs.nr,
				 h.t.m->inputs.v[0].reader);
		if (lines_with(&h.notes, cases[i].words) != 1 || !warned(h.t.m, cases[i].warning))
			ROW_FAIL(i, "note: %s", h.notes.nr ? h.notes.v[0] : "none");
		assert_int_equal(h.t.outcome.noted[SESSION_LEFT_OUT], 1);
		assert_int_equal(h.t.outcome.end, SESSION_WHOLE);
		assert_int_equal(lines_with(&h.phases, "compare "), 2);
	}
}

SESSION_TEST(a_damaged_format_is_left_out)
{
	put_fixture(h, "rocprof_csv/results.csv", "results.csv");
	put_dispatches(h, "results.json", 40);
	{
		CLEANUP(xfreep) char *text = test_get(h->dir, "results.json");

		text[strlen(text) - 40] = '\0';
		test_put(h->dir, "results.json", text);
	}
	assert_int_equal(READ(h, ""), 0);
	assert_string_equal(h->t.m->inputs.v[0].reader, "rocprof_csv");
	assert_int_equal(h->t.outcome.noted[SESSION_LEFT_OUT], 1);
	assert_true(warned(h->t.m, W_LEFT_OUT));
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
	otf2_gen_call(w, 100, 200, 0);
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
		{ SINK_PROFILE, NULL, "t.json", NULL, false, "whose format cannot be" },
		{ SINK_PROFILE, NULL, "a", "t.json", false, "whose format cannot be" },
		{ SINK_PROFILE, NULL, "a", "b", false, "one archive at a time" },
		{ SINK_PROFILE, NULL, "gone", NULL, false, "gone is no archive" },
		{ SINK_PROFILE, NULL, FIX "samples/gpu.csv", NULL, false, "has no archive" },
		{ SINK_PROFILE, "1:2", "a", NULL, false, "--window cuts single calls" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(heard_end) struct heard h;
		int r;

		heard_begin(&h);
		put_archive(&h, "a");
		put_archive(&h, "b");
		test_put(h.dir, "t.json", one_call);
		h.o.sink = cases[i].sink;
		h.o.window = cases[i].window;
		r = READ(&h, cases[i].input, cases[i].beside);
		if (r != (cases[i].why ? -EINVAL : 0))
			ROW_FAIL(i, "%d: %s", r, h.err.msg);
		if (cases[i].why &&
		    (!strstr(h.err.msg, cases[i].why) || h.t.outcome.end != SESSION_BAD_REQUEST))
			ROW_FAIL(i, "%d: %s", (int)h.t.outcome.end, h.err.msg);
		if ((h.t.profile != NULL) != cases[i].streamed)
			ROW_FAIL(i, "streamed: %d", h.t.profile != NULL);
		if (r == 0 && !cases[i].beside && (h.t.m->spans.nr == 0) != cases[i].streamed)
			ROW_FAIL(i, "%zu spans in the model", h.t.m->spans.nr);
	}
}

/* ---- runs ---- */

SESSION_TEST(runs_do_not_mix)
{
	run_put(h, "runs/a", 10, "");
	run_put(h, "runs/b", 12, "");
	assert_int_equal(READ(h, "runs/a", "runs/b"), -EINVAL);
	assert_int_equal(h->t.outcome.end, SESSION_BAD_REQUEST);
	assert_has(h->err.msg, "are two runs; one run is analysed at a time");
	assert_int_equal(READ(h, "runs"), -EINVAL);
	assert_has(h->err.msg, "holds run directories");
	assert_int_equal(READ(h, "runs/a", "runs/a"), 0);
	assert_int_equal(h->t.outcome.noted[SESSION_REPEATED], 1);
}

SESSION_TEST(marks_of_a_run_are_instants)
{
	run_put(h, "a", 10, "\"marks\":[{\"t_ns\":5,\"name\":\"warm\",\"by\":\"x\"}],");
	assert_int_equal(READ(h, "a"), 0);
	assert_int_equal(h->t.outcome.read, 2); /* the run and its trace */
	assert_int_equal(h->t.m->spans.nr, 2);
	assert_int_not_equal(intern_find(h->t.m->strings, "warm", 4), STR_NONE);
}

/* Roots of 1 µs, and a counter of energy among them that takes 1 J each millisecond. */
static void write_counter_among_calls(const char *dir, uint64_t calls)
{
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, dir, 1000000000);
	uint64_t uj = 0;

	otf2_gen_member(g, 0, "A2rocm_smi:::energy_count:device=0", OTF2_METRIC_ACCUMULATED_START,
			OTF2_TYPE_UINT64, 0, "#");
	OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), 0, 1, (const uint32_t[]){ 0 },
					      OTF2_METRIC_ASYNCHRONOUS,
					      OTF2_RECORDER_KIND_ABSTRACT);
	for (uint64_t i = 0; i < calls; i++) {
		if (i % 1000 == 0) {
			otf2_gen_values(w, i * 1000, 0, 1, &uj);
			uj += 1000000;
		}
		otf2_gen_call(w, i * 1000, (i + 1) * 1000, (uint32_t)(i & 1));
	}
	otf2_gen_values(w, calls * 1000, 0, 1, &uj);
	otf2_gen_close(g);
}

/* Streamed for its size, an archive is read again when its energy needs single calls. */
SESSION_TEST(energy_among_calls_is_read_again)
{
	CLEANUP(xfreep) char *dir = fs_join(h->dir, "a"), *out = fs_join(h->dir, "out");
	CLEANUP(strvec_release)
	struct strvec inputs = heard_inputs(h, (const char *const[]){ "a", NULL });
	const struct table *t;

	write_counter_among_calls(dir, 1000000);
	assert_int_equal(session_analyze(&inputs, &h->o, out, &h->r, &h->err), 0);
	assert_int_equal(lines_with(&h->phases, "read "), 2);
	assert_null(h->r.report.sink); /* the model */
	t = table_set_find(&h->r.report.tables, "energy_totals");
	assert_non_null(t);
	assert_true(fabs(table_get_f64(t, 0, (size_t)table_find_col(t, "total_j")) - 1000) < 1e-9);
	assert_true(table_get_f64(t, 0, (size_t)table_find_col(t, "error_rel")) < 1e-9);
}
