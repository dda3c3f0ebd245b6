#include "readers_test.h"
#include "tables_support.h"

#include "profrig/model/facts.h"

struct alloc_trace {
	struct model *m;
	struct sink *s;
	track_id thread;
};

static struct alloc_trace trace_begin(void)
{
	struct alloc_trace t = { .m = model_new() };
	struct track_def p = TRACK_DEF_INIT, d = TRACK_DEF_INIT;

	t.s = model_sink(t.m);
	t.s->ops->input(t.s, "x", "tef");
	p.kind = TRACK_PROCESS;
	p.pid = 1;
	d.kind = TRACK_THREAD;
	d.pid = d.tid = 1;
	d.parent = t.s->ops->track(t.s, &p);
	t.thread = t.s->ops->track(t.s, &d);
	return t;
}

static span_id span(struct alloc_trace *t, const char *name, int64_t from, int64_t to)
{
	return t->s->ops->span(t->s,
			       &(struct span_def){ .track = t->thread,
						   .start_ns = from,
						   .end_ns = to,
						   .name = sink_puts(t->s, name),
						   .kind = from == to ? SPAN_INSTANT : SPAN_HOST,
						   .args = STR_NONE });
}

/* An event of gpu0; a total or reserve of -1 is not stated. */
static void event(struct alloc_trace *t, int64_t at, int64_t address, int64_t bytes, int64_t total,
		  int64_t reserved)
{
	struct span_facts f = { .kind = FACTS_MEMORY, .memory = MEMORY_FACTS_NONE };

	f.memory.on_device = true;
	f.memory.device = 0;
	f.memory.address = address;
	f.memory.bytes = bytes;
	f.memory.allocated = total < 0 ? FACT_ABSENT : total;
	f.memory.reserved = reserved < 0 ? FACT_ABSENT : reserved;
	t->s->ops->facts(t->s, span(t, "[memory]", at, at), &f);
}

static struct table_set memory_of(struct alloc_trace *t)
{
	t->s->ops->input_end(t->s);
	model_finish(t->m);
	return run(t->m, "memory", NULL);
}

TEST(test_peak)
{
	struct alloc_trace t = trace_begin();
	struct table_set ts;

	span(&t, "aten::mm", 0, 100);
	span(&t, "cudaMalloc", 9, 12);
	event(&t, 10, 0x1000, 50, 150, 200);
	span(&t, "aten::add", 18, 31);
	event(&t, 20, 0x2000, 30, 180, 200);
	event(&t, 30, 0x2000, -30, 150, 200);
	event(&t, 40, 0x3000, 60, 210, 280);
	event(&t, 50, 0x9000, -100, 110, 280); /* it was there before */
	event(&t, 110, 0x4000, 5, 120, 300);   /* 5 bytes are missing */
	ts = memory_of(&t);
	expect_table(
		table_set_find(&ts, "memory"),
		"device base peak peak_t reserved fragmentation live_bytes live_blocks allocs "
		"frees alloc_bytes free_bytes max_reserved unknown_frees mismatches bad_events "
		"first_ns\n"
		"gpu0 100 210 30 280 70/280 110 2 4 2 145 130 300 1 1 0 10\n");
	expect_table(table_set_find(&ts, "memory_peak"), "device op blocks bytes\n"
							 "gpu0 aten::mm 2 110\n");
	table_set_release(&ts);
	model_free(t.m);
}

/* The dialect of 2021 states neither totals nor addresses. */
TEST(test_without_totals)
{
	struct alloc_trace t = trace_begin();
	struct table_set ts;

	event(&t, 10, FACT_ABSENT, 50, -1, -1);
	event(&t, 20, FACT_ABSENT, FACT_ABSENT, -1, -1);
	event(&t, 30, FACT_ABSENT, 70, -1, -1);
	event(&t, 40, FACT_ABSENT, -20, -1, -1);
	ts = memory_of(&t);
	expect_table(table_set_find(&ts, "memory"),
		     "base peak peak_t reserved fragmentation live_bytes live_blocks allocs frees "
		     "unknown_frees mismatches bad_events\n"
		     "- 120 20 - - 0 0 2 1 0 - 1\n");
	table_set_release(&ts);
	model_free(t.m);
}

/* A total that comes late says where the curve before it was. */
TEST(test_late_total)
{
	struct alloc_trace t = trace_begin();
	struct table_set ts;

	event(&t, 10, 1, 50, -1, -1);
	event(&t, 20, 1, -50, 1000, -1);
	ts = memory_of(&t);
	expect_table(table_set_find(&ts, "memory"), "base peak peak_t mismatches live_bytes\n"
						    "1000 1050 0 0 50\n");
	expect_table(table_set_find(&ts, "memory_peak"), "op blocks bytes\n"
							 "'[no op]' 1 50\n");
	expect_table(table_set_find(&ts, "memory_timeline"),
		     "device t_ns dt_ns allocated allocated_max reserved\n"
		     "gpu0 0 10 1050 1050 -\n"
		     "gpu0 10 0 1000 1000 -\n");
	table_set_release(&ts);
	model_free(t.m);
}

TEST(test_skipped)
{
	struct alloc_trace t = trace_begin();
	struct table_set ts = memory_of(&t);

	assert_null(table_set_find(&ts, "memory"));
	assert_int_equal(ts.skipped.nr, 1);
	table_set_release(&ts);
	model_free(t.m);
}

static double column_max(const struct table *t, const char *col)
{
	double max = -INFINITY;

	for (size_t i = 0; i < table_rows(t); i++)
		if (num_of(t, i, col) > max)
			max = num_of(t, i, col);
	return max;
}

/* So many events that rows hold several: nothing of the curve's height is lost. */
TEST(test_many_events)
{
	struct alloc_trace t = trace_begin();
	struct table_set ts;
	const struct table *p;
	int64_t length = 0;

	for (int64_t i = 0; i < 9000; i++) {
		event(&t, 3 * i, 1, i == 4321 ? 1000 : 10, i == 4321 ? 1000 : 10, 2000 + i);
		event(&t, 3 * i + 1, 1, i == 4321 ? -1000 : -10, 0, 2000 + i);
	}
	ts = memory_of(&t);
	p = table_set_find(&ts, "memory_timeline");
	assert_true(table_rows(p) <= 2000 && table_rows(p) > 1000);
	assert_int_equal(column_max(p, "allocated_max"), 1000);
	assert_int_equal(column_max(p, "reserved"), 2000 + 8999);
	for (size_t i = 0; i < table_rows(p); i++)
		length += (int64_t)num_of(p, i, "dt_ns");
	assert_int_equal(length, 3 * 8999 + 1);
	table_set_release(&ts);
	model_free(t.m);
}

/* Random allocators: what is live at the peak is the peak less what was there before. */
TEST(test_laws)
{
	uint64_t seed = 9;

	for (int k = 0; k < 3000; k++) {
		struct alloc_trace t = trace_begin();
		int64_t bytes[16] = { 0 }, base = (int64_t)(splitmix64(&seed) % 1000);
		int64_t total = base, peak = 0;
		size_t n = 1 + splitmix64(&seed) % 60;
		struct table_set ts;
		const struct table *m, *p;
		double sum = 0;

		for (size_t i = 0; i < n; i++) {
			size_t a = splitmix64(&seed) % 16;
			int64_t change =
				bytes[a] ? -bytes[a] : 1 + (int64_t)(splitmix64(&seed) % 100);

			bytes[a] += change;
			total += change;
			peak = i == 0 || total > peak ? total : peak;
			event(&t, (int64_t)i, 100 + (int64_t)a, change, total, total + 7);
		}
		ts = memory_of(&t);
		m = table_set_find(&ts, "memory");
		p = table_set_find(&ts, "memory_peak");
		assert_int_equal(num_of(m, 0, "base"), base);
		assert_int_equal(num_of(m, 0, "peak"), peak);
		assert_int_equal(num_of(m, 0, "mismatches"), 0);
		assert_int_equal(num_of(m, 0, "live_bytes"), peak - base);
		for (size_t i = 0; i < table_rows(p); i++)
			sum += num_of(p, i, "bytes");
		assert_int_equal(sum, peak - base);
		p = table_set_find(&ts, "memory_timeline");
		assert_int_equal(table_rows(p), n);
		assert_int_equal(num_of(p, n - 1, "allocated"), total);
		assert_int_equal(column_max(p, "allocated_max"), peak);
		assert_int_equal(column_max(p, "reserved"), peak + 7);
		table_set_release(&ts);
		model_free(t.m);
	}
}

/* ---- recordings: figures from exact code of their own ---- */

#define MEMORY_COLUMNS \
	"device base peak peak_t reserved live_bytes live_blocks allocs frees alloc_bytes " \
	"free_bytes max_reserved unknown_frees mismatches bad_events\n"

TEST(test_recordings)
{
	static const struct {
		const char *file, *memory, *peak;
	} cases[] = {
		{ "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
		  "cpu 0 8 0 0 8 1 52 52 416 416 0 0 0 0\n"
		  "gpu0 1085405696 2219047936 28664048 2533359616 1133642240 58 1294 1294 "
		  "34768227840 34768227840 2533359616 0 0 0\n",
		  "cpu aten::eq 1 8\n"
		  "gpu0 aten::add 26 476250112\n"
		  "gpu0 aten::addmm 24 439615488\n"
		  "gpu0 aten::empty 1 79691776\n"
		  "gpu0 aten::mm 1 50372608\n"
		  "gpu0 aten::silu 1 50372608\n"
		  "gpu0 aten::resize_ 2 18878976\n"
		  "...\n" },
		{ "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz",
		  "gpu0 181322752 272628736 1514720 291504128 91305984 7 310 310 6101963776 "
		  "6101963776 291504128 0 0 0\n",
		  "gpu0 aten::empty 2 80902144\n"
		  "gpu0 aten::addmm 2 6051840\n"
		  "gpu0 aten::add 3 4352000\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_recording("tef", cases[i].file, false);
		CLEANUP(table_set_release) struct table_set ts = run(rd.m, "memory", NULL);
		CLEANUP(xfreep) char *memory = xasprintf(MEMORY_COLUMNS "%s", cases[i].memory);
		CLEANUP(xfreep)
		char *peak = xasprintf("device op blocks bytes\n%s", cases[i].peak);

		expect_table(table_set_find(&ts, "memory"), memory);
		expect_table(table_set_find(&ts, "memory_peak"), peak);
	}
}
