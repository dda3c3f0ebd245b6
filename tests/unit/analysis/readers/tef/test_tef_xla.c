/* The profiler of JAX and TensorFlow: derived lines are no work, args are facts of programs. */
#include "facts_support.h"
#include "readers_test.h"

#define FIX "tests/fixtures/tef/jax.json"
#define DOC(...) "{\"traceEvents\":[" __VA_ARGS__ "]}"
#define NAMES \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"/" \
	"device:GPU:0\"}}," \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"/host:CPU\"}}," \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"XLA " \
	"Modules\"}}," \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"XLA " \
	"Ops\"}}," \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"Steps\"}" \
	"}," \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":16,\"args\":{\"name\":\"Stream " \
	"#16(Compute)\"}}"
#define SPAN(pid, tid, ts, name, ...) \
	",{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts \
	",\"dur\":1,\"name\":\"" name "\",\"args\":{" __VA_ARGS__ "}}"

/* Every span with facts of a program: its name, then them; by track and start. */
static char *programs_text(const struct model *m)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < m->facts.programs.nr; i++) {
		const struct program_facts *f = &m->facts.programs.v[i];
		CLEANUP(xfreep) char *row = fact_row_text(m, FACTS_PROGRAM, f);

		strbuf_addf(&sb, "%s: %s%d %d\n", model_str(m, m->spans.name[f->span]), row,
			    (int)f->execution, (int)f->ordinal);
	}
	return strbuf_steal(&sb);
}

static void expect_programs(const char *doc, const char *want)
{
	READING rd = read_text("tef", doc);
	CLEANUP(xfreep) char *got = programs_text(rd.m);

	assert_int_equal(rd.r, 0);
	assert_string_equal(got, want);
}

TEST(lines_of_a_device)
{
	READING rd = read_path("tef", FIX, false);
	size_t works = 0, notes = 0, calls = 0, kinds[PROGRAM_COMPILE + 1] = { 0 };

	expect_read(&rd, 0, "format='Trace Event Format (TensorFlow)' links=30");
	for (size_t i = 0; i < rd.m->spans.nr; i++) {
		works += span_is_work(rd.m, i);
		notes += rd.m->spans.kind[i] == SPAN_ANNOTATION;
		calls += rd.m->spans.kind[i] == SPAN_HOST;
	}
	for (size_t i = 0; i < rd.m->facts.programs.nr; i++)
		kinds[rd.m->facts.programs.v[i].kind]++;
	/* 2 devices, 3 executions: 5 kernels, 8 notes; a copy for each device */
	assert_int_equal(works, 2 * (3 * 5 + 1));
	assert_int_equal(notes, 2 * 3 * 8);
	assert_int_equal(calls, 2 * 3 * 5 + 3);
	assert_int_equal(kinds[PROGRAM_MODULE], 2 * 3);
	assert_int_equal(kinds[PROGRAM_OP], 2 * 3 * 4);
	assert_int_equal(kinds[PROGRAM_WORK], 2 * 3 * 5);
	assert_int_equal(warned(rd.m, W_OP_WITHOUT_MODULE), 0);
}

static const void *row_of_first(const struct model *m, const char *name, enum facts_kind kind)
{
	size_t at = span_at(m, name);

	return kind == FACTS_KERNEL ? (const void *)facts_kernel(m, at)
				    : (const void *)facts_copy(m, at);
}

TEST(details_of_work)
{
	READING rd = read_path("tef", FIX, false);
	const void *k = row_of_first(rd.m, "ampere_sgemm_128x64_tn", FACTS_KERNEL);
	const void *c = row_of_first(rd.m, "MemcpyH2D", FACTS_COPY);
	CLEANUP(xfreep) char *kernel = fact_row_text(rd.m, FACTS_KERNEL, k);
	CLEANUP(xfreep) char *copy = fact_row_text(rd.m, FACTS_COPY, c);

	assert_string_equal(kernel, "64 1 1 256 1 1 0 32 1032 - - - - ");
	assert_string_equal(copy, "4096 1 1 3 - - ");
}

TEST(modules_and_operations)
{
	expect_programs(
		DOC(NAMES SPAN(1, 2, 10, "jit_f(7)",
			       "\"run_id\":\"3\"") SPAN(1, 2, 20, "jit_f(18446744073709551615)", "")
			    SPAN(1, 2, 30, "jit_f", "\"program_id\":12") SPAN(1, 2, 40, "(7)", "")
				    SPAN(1, 2, 50, "f()", "") SPAN(1, 3, 10, "dot.1", "")
					    SPAN(1, 3, 60, "dot.1", "") SPAN(1, 1, 10, "0", "")),
		"jit_f: 1 'jit_f' '-' '-' 7 3 - 0 -1\n"
		"jit_f: 1 'jit_f' '18446744073709551615' '-' - - - 1 -1\n"
		"jit_f: 1 'jit_f' '-' '-' 12 - - 2 -1\n"
		"(7): 1 '(7)' '-' '-' - - - 0 -1\n"
		"f(): 1 'f()' '-' '-' - - - 0 -1\n"
		"dot.1: 2 'jit_f' '-' 'dot.1' 7 3 - 0 0\n"
		"dot.1: 2 '-' '-' 'dot.1' - - - -1 -1\n");
}

/* On a CPU the host executes the thunks. */
TEST(thunks_of_the_host)
{
	expect_programs(
		DOC(NAMES SPAN(9, 1, 10, "dot.1", "\"hlo_module\":\"jit_f\",\"hlo_op\":\"dot.1\"")
			    SPAN(9, 1, 12, "Execute", "\"run_id\":\"4\"")),
		"dot.1: 2 'jit_f' '-' 'dot.1' - - - -1 -1\n");
}

TEST(bad_args)
{
	READING rd = read_text(
		"tef",
		DOC(NAMES SPAN(1, 16, 10, "k",
			       "\"hlo_op\":\"a\",\"run_id\":\"x\",\"program_id\":[1]")
			    SPAN(1, 16, 20, "k", "\"hlo_op\":\"\",\"kernel_details\":\"grid:\"")
				    SPAN(1, 16, 30, "k", "\"hlo_op\":{},\"hlo_module\":null") SPAN(
					    1, 16, 40, "k",
					    "\"kernel_details\":\"regs:-1 grid:1,x,3,4 block:2\"")
					    SPAN(1, 16, 50, "MemcpyD2H",
						 "\"memcpy_details\":\"kind_src:device "
						 "kind_dst:there size:9\"")));
	CLEANUP(xfreep) char *got = programs_text(rd.m);

	assert_int_equal(rd.r, 0);
	assert_string_equal(got, "k: 3 '-' '-' 'a' - - - -1 -1\n");
	assert_int_equal(warned(rd.m, W_BAD_NUMBER), 1);
	assert_int_equal(warned(rd.m, W_BAD_FACT), 1);
	assert_int_equal(rd.m->facts.kernels.nr, 2);
	assert_int_equal(rd.m->facts.kernels.v[1].grid[0], 1);
	assert_int_equal(rd.m->facts.kernels.v[1].grid[1], FACT_ABSENT);
	assert_int_equal(rd.m->facts.kernels.v[1].grid[2], 3);
	assert_int_equal(rd.m->facts.copies.v[0].bytes, 9);
	assert_int_equal(rd.m->facts.copies.v[0].direction, COPY_UNKNOWN);
}

/* Each of these alone tells the dialect. */
TEST(signals)
{
	static const char *const names[] = {
		"process_name\",\"pid\":1,\"args\":{\"name\":\"/host:CPU",
		"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"XLA Modules",
		"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"XLA Ops",
		"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"Framework Ops",
		"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"Stream #7(Compute)",
		"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"Steps",
		"process_name\",\"pid\":1,\"args\":{\"name\":\"/device:GPU:0",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep)
		char *doc = xasprintf(DOC("{\"ph\":\"M\",\"name\":\"%s\"}}" SPAN(1, 1, 0, "a", "")),
				      names[i]);
		READING rd = read_text("tef", doc);

		expect_read(&rd, 0,
			    i < 5 ? "format='Trace Event Format (TensorFlow)'"
				  : "format='Trace Event Format'");
	}
}
