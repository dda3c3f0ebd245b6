/*
 * Python functions and modules: own and nested work, recursion, stacks written as text, what an
 * outliving range does, backward work; laws on random traces, against frames counted one by one;
 * recordings.
 */
#include "frames.h"
#include "readers_test.h"
#include "stats_test.h"

#include "profrig/base/mix.h"

static void frame_of(struct maker *k, track_id t, int64_t start, int64_t end, const char *name)
{
	struct span_def d = { .track = t,
			      .kind = SPAN_HOST,
			      .start_ns = start,
			      .end_ns = end,
			      .name = sink_puts(k->s, name),
			      .category = sink_puts(k->s, "python_function"),
			      .args = STR_NONE };

	k->s->ops->span(k->s, &d);
}

/* An operator with a number of autograd's, or with the stack of its functions as text. */
static void op_of(struct maker *k, track_id t, int64_t start, int64_t end, const char *name,
		  const char *stack, int64_t sequence, int64_t forward)
{
	struct span_def d = { .track = t,
			      .kind = SPAN_HOST,
			      .start_ns = start,
			      .end_ns = end,
			      .name = sink_puts(k->s, name),
			      .category = sink_puts(k->s, "cpu_op"),
			      .args = STR_NONE };
	struct span_facts f = { .kind = FACTS_OP };
	span_id id = k->s->ops->span(k->s, &d);

	f.op = OP_FACTS_NONE;
	f.op.call_stack = stack ? sink_puts(k->s, stack) : STR_NONE;
	f.op.sequence = sequence;
	f.op.forward_thread = forward;
	k->s->ops->facts(k->s, id, &f);
}

/* A launch of 1 ns, and its kernel. */
static void launch_of(struct maker *k, track_id t, int64_t at, track_id q, int64_t start,
		      int64_t end)
{
	static uint64_t correlation;

	correlation++;
	make_span(k, t, SPAN_HOST, at, at + 1, "launch", correlation);
	make_span(k, q, SPAN_KERNEL, start, end, "kernel", correlation);
}

/* main ⊃ Net ⊃ forward ⊃ Linear; work at each level, one outside, one without launch */
TEST(functions_and_modules)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);

	frame_of(&k, t, 0, 100, "train.py(1): main");
	launch_of(&k, t, 2, q, 200, 201);
	frame_of(&k, t, 10, 90, "nn.Module: Net_0");
	launch_of(&k, t, 12, q, 210, 212);
	frame_of(&k, t, 20, 80, "net.py(7): forward");
	frame_of(&k, t, 30, 50, "nn.Module: Linear_0");
	launch_of(&k, t, 32, q, 220, 224);
	frame_of(&k, t, 60, 70, "nn.Module: Linear_1");
	launch_of(&k, t, 62, q, 230, 238);
	launch_of(&k, t, 110, q, 240, 256);
	make_span(&k, q, SPAN_KERNEL, 300, 332, "lost", 0);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_python);

	expect_table(table_set_find(&ts, "python_functions"),
		     "name calls works own_ns nested_ns host_ns host_self_ns\n"
		     "'net.py(7): forward' 1 2 12 12 60 60\n"
		     "'train.py(1): main' 1 2 3 15 100 40\n"
		     "'[no function]' - 1 16 16 1 1\n"
		     "[unlinked] - 1 32 32 0 0\n");
	expect_table(table_set_find(&ts, "modules"),
		     "module class inside calls works own_ns nested_ns host_ns host_self_ns\n"
		     "Linear_1 Linear Net_0 1 1 8 8 10 10\n"
		     "Linear_0 Linear Net_0 1 1 4 4 20 20\n"
		     "Net_0 Net - 1 1 2 14 80 50\n"
		     "'[no module]' - - - 2 17 17 21 21\n"
		     "[unlinked] - - - 1 32 32 0 0\n");
}

/* f calls itself, with g between: f's nested work and host time are those of the outer call. */
TEST(recursion)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);

	frame_of(&k, t, 0, 100, "f");
	frame_of(&k, t, 10, 90, "g");
	frame_of(&k, t, 20, 80, "f");
	launch_of(&k, t, 30, q, 200, 205);
	frame_of(&k, t, 120, 130, "f");
	launch_of(&k, t, 121, q, 210, 211);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_python);

	expect_table(table_set_find(&ts, "python_functions"),
		     "name calls works own_ns nested_ns host_ns host_self_ns\n"
		     "f 3 2 6 6 110 90\n"
		     "g 1 0 0 5 80 20\n");
	assert_null(table_set_find(&ts, "modules"));
	assert_string_equal(ts.skipped.v[0].name, "modules");
}

/* The profiler's own range begins in a function and outlives it: what comes then is not its. */
TEST(outliving_range)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);

	frame_of(&k, t, 0, 10, "step");
	make_call(&k, t, 5, 100, "ProfilerStep#1");
	launch_of(&k, t, 7, q, 200, 202);
	frame_of(&k, t, 20, 60, "f");
	launch_of(&k, t, 30, q, 210, 213);
	launch_of(&k, t, 70, q, 220, 224);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_python);

	expect_table(table_set_find(&ts, "python_functions"),
		     "name works own_ns nested_ns host_ns host_self_ns\n"
		     "f 1 3 3 40 40\n"
		     "step 1 2 2 10 10\n"
		     "'[no function]' 1 4 4 50 50\n");
}

/* Deep stacks, all of which a range outlives that began at their bottom. */
TEST(deep_stacks)
{
	enum { DEPTH = 20000 };
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);

	for (int64_t i = 0; i < DEPTH; i++)
		frame_of(&k, t, i, 3 * DEPTH - i, "f");
	for (int64_t i = 0; i < DEPTH; i++)
		make_call(&k, t, DEPTH + i, 6 * DEPTH - i, "range");
	launch_of(&k, t, 2 * DEPTH, q, 0, 1);
	for (int64_t i = 0; i < DEPTH; i++)
		launch_of(&k, t, 3 * DEPTH + 2 * i, q, i, i + 2);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_python);
	const struct table *f = table_set_find(&ts, "python_functions");

	expect_table(f, "name calls works own_ns nested_ns host_self_ns\n"
			"f 20000 1 1 1 60000\n"
			"'[no function]' - 20000 40000 40000 60000\n");
}

/* The dialect of 2021: stacks as text, the innermost function first; the same one twice. */
TEST(stacks_as_text)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);

	op_of(&k, t, 0, 40, "aten::linear",
	      "a.py(3): f;a.py(9): call; a.py(3): f;\r\nmain.py(1): main", FACT_ABSENT,
	      FACT_ABSENT);
	op_of(&k, t, 10, 30, "aten::addmm",
	      "a.py(3): f;a.py(9): call; a.py(3): f;\r\nmain.py(1): main", FACT_ABSENT,
	      FACT_ABSENT);
	launch_of(&k, t, 20, q, 200, 207);
	op_of(&k, t, 50, 60, "aten::add", "main.py(2): main;", FACT_ABSENT, FACT_ABSENT);
	launch_of(&k, t, 51, q, 210, 211);
	op_of(&k, t, 70, 75, "aten::sub", " ; ;", FACT_ABSENT, FACT_ABSENT);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_python);

	expect_table(table_set_find(&ts, "python_functions"),
		     "name calls works own_ns nested_ns host_ns host_self_ns\n"
		     "'a.py(3): f' - 1 7 7 40 40\n"
		     "'main.py(2): main' - 1 1 1 10 10\n"
		     "'a.py(9): call' - 0 0 7 40 0\n"
		     "'main.py(1): main' - 0 0 7 40 0\n"
		     "'[no function]' - 0 0 0 5 5\n");
}

/* As PyTorch's profiler wrote them in 2021, read from a file. */
TEST(stacks_of_a_file)
{
	READING rd = read_text(
		"tef",
		"{\"schemaVersion\": 1, \"traceEvents\": ["
		"{\"ph\": \"X\", \"cat\": \"Operator\", \"name\": \"aten::mm\", \"pid\": 9, "
		"\"tid\": 9, \"ts\": 10, \"dur\": 20, \"args\": {\"External id\": 2, "
		"\"Call stack\": \"net.py(5): forward;main.py(8): <module>\"}},"
		"{\"ph\": \"X\", \"cat\": \"Runtime\", \"name\": \"cudaLaunchKernel\", "
		"\"pid\": 9, \"tid\": 9, \"ts\": 12, \"dur\": 2, \"args\": {\"cbid\": 211, "
		"\"correlation\": 7, \"external id\": 2}},"
		"{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"gemm\", \"pid\": 0, "
		"\"tid\": 7, \"ts\": 40, \"dur\": 5, \"args\": {\"device\": 0, \"stream\": 7, "
		"\"correlation\": 7, \"external id\": 2}}]}");
	CLEANUP(table_set_release) struct table_set ts = analyse(rd.m, &analysis_python);

	expect_table(table_set_find(&ts, "python_functions"),
		     "name works own_ns nested_ns host_ns\n"
		     "'net.py(5): forward' 1 5000 5000 20000\n"
		     "'main.py(8): <module>' 0 0 5000 20000\n");
}

/* Work of a backward operator, on a thread without frames, is the forward one's module's, too. */
TEST(backward)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), b = make_thread(&k, 1, 2, 0, "backward");
	track_id q = make_queue(&k, "gpu0", 7);

	frame_of(&k, t, 0, 100, "nn.Module: Net_0");
	frame_of(&k, t, 10, 50, "nn.Module: Linear_0");
	op_of(&k, t, 20, 40, "aten::mm", NULL, 5, 0);
	launch_of(&k, t, 30, q, 200, 203);
	op_of(&k, t, 60, 70, "aten::add", NULL, 6, 0);
	op_of(&k, b, 300, 330, "AddBackward0", NULL, 6, 1);
	launch_of(&k, b, 310, q, 400, 410);
	op_of(&k, b, 340, 400, "MmBackward0", NULL, 5, 1);
	op_of(&k, b, 350, 390, "aten::mm", NULL, 5, 1);
	launch_of(&k, b, 360, q, 420, 520);
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_python);

	expect_table(table_set_find(&ts, "modules"),
		     "module own_ns nested_ns backward_own_ns backward_nested_ns\n"
		     "Linear_0 3 3 100 100\n"
		     "Net_0 0 3 10 110\n"
		     "'[no module]' 110 110 0 0\n");
	assert_null(table_set_find(&ts, "python_functions"));
}

TEST(no_frames)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, "thread 1/1 name=main: f 0-10\n");
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct analysis_opts o = { .workload_start_ns = 0 };

	assert_int_equal(analysis_run(&analysis_python, m, NULL, &o, &ts, NULL), ANALYSIS_SKIPPED);
	assert_int_equal(ts.tables.nr, 0);
	assert_string_equal(ts.skipped.v[0].name, "python");
}

/* ---- laws ---- */

enum { NAMES = 4, SPANS = 24 };
static const char *const function_names[NAMES] = { "f", "g", "h", "k" };
static const char *const module_names[NAMES] = { "nn.Module: F_0", "nn.Module: G_0",
						 "nn.Module: G_1", "nn.Module: H" };

struct drawn {
	int64_t start, end;
	int name;
	bool module;
};

struct random_frames {
	struct drawn frames[SPANS];
	int64_t at[SPANS], ns[SPANS];
	size_t nr, launches;
	bool nested; /* as a real stack is */
};

/* The end of what starts now, cut to that of what is open. */
static int64_t end_within(int64_t *open, size_t *nr, int64_t start, int64_t end)
{
	while (*nr && open[*nr - 1] <= start)
		--*nr;
	end = *nr && open[*nr - 1] < end ? open[*nr - 1] : end;
	open[(*nr)++] = end;
	return end;
}

/* One thread: frames and launches that all start at moments of their own; of odd seeds frames
 * overlap freely. */
static struct model *random_frames_make(struct random_frames *rf, uint64_t seed)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);

	int64_t open[SPANS];
	size_t opened = 0;

	*rf = (struct random_frames){ .nested = seed % 2 == 0 };
	for (int64_t at = 0; at < SPANS; at++) {
		int64_t start = at * 10, end = start + 1 + (int64_t)(splitmix64(&seed) % 150);

		int kind = (int)(splitmix64(&seed) % 4);

		if (kind && rf->nested)
			end = end_within(open, &opened, start, end);
		switch (kind) {
		case 0:
			rf->at[rf->launches] = start;
			rf->ns[rf->launches] = (int64_t)(splitmix64(&seed) % 9);
			launch_of(&k, t, start, q, 1000, 1000 + rf->ns[rf->launches++]);
			break;
		case 1:
			make_call(&k, t, start, end, "range");
			break;
		default:
			rf->frames[rf->nr] =
				(struct drawn){ start, end, (int)(splitmix64(&seed) % NAMES),
						splitmix64(&seed) % 2 };
			frame_of(&k, t, start, end,
				 (rf->frames[rf->nr].module
					  ? module_names
					  : function_names)[rf->frames[rf->nr].name]);
			rf->nr++;
		}
	}
	make_span(&k, q, SPAN_KERNEL, 0, 5, "lost", 0);
	return make_end(&k);
}

/* What a name has, by looking at each launch. */
static void counted(const struct random_frames *rf, bool module, int name, int64_t *ret_own,
		    int64_t *ret_nested)
{
	*ret_own = *ret_nested = 0;
	for (size_t l = 0; l < rf->launches; l++) {
		const struct drawn *last = NULL;
		bool open = false;

		for (size_t i = 0; i < rf->nr; i++) {
			const struct drawn *d = &rf->frames[i];

			if (d->module != module || d->start > rf->at[l] || d->end <= rf->at[l])
				continue;
			last = d;
			open |= d->name == name;
		}
		*ret_own += last && last->name == name ? rf->ns[l] : 0;
		*ret_nested += open ? rf->ns[l] : 0;
	}
}

/* By name: how long it was the innermost open frame, by looking at each moment. */
static void moments(const struct random_frames *rf, bool module, int64_t *ret)
{
	for (int64_t t = 0; t < SPANS * 10 + 160; t++) {
		const struct drawn *last = NULL;

		for (size_t i = 0; i < rf->nr && rf->frames[i].start <= t; i++)
			if (rf->frames[i].module == module && rf->frames[i].end > t)
				last = &rf->frames[i];
		if (last)
			ret[last->name]++;
	}
}

static void check_kind(const struct random_frames *rf, const struct model *m, const struct works *w,
		       const struct work_energy *we, bool module, uint64_t seed)
{
	CLEANUP(frames_freep)
	struct frames *f = frames_new(m, w, we, NULL, module ? FRAMES_MODULES : FRAMES_FUNCTIONS);
	int64_t own = f->none.own_ns + f->unlinked.own_ns, host = f->none.host_self_ns, all = 0;
	int64_t threads = 0, self[NAMES] = { 0 };

	moments(rf, module, self);
	for (size_t i = 0; i < w->v.nr; i++)
		all += w->v.v[i].end_ns - w->v.v[i].start_ns;
	for (size_t i = 0; i < m->spans.nr; i++)
		if (m->tracks.v[m->spans.track[i]].kind == TRACK_THREAD)
			threads += m->spans.exclusive_ns[i];
	for (size_t i = 0; i < f->v.nr; i++) {
		const char *name = intern_str(f->names, f->v.v[i].name);
		int64_t want_own, want_nested;

		own += f->v.v[i].s.own_ns;
		host += f->v.v[i].s.host_self_ns;
		for (int n = 0; n < NAMES; n++) {
			if (strcmp(name, module ? strchr(module_names[n], ' ') + 1
						: function_names[n]) != 0)
				continue;
			counted(rf, module, n, &want_own, &want_nested);
			assert_int_equal(f->v.v[i].s.host_self_ns, self[n]);
			if (f->v.v[i].s.own_ns != want_own || f->v.v[i].s.nested_ns < want_own ||
			    (rf->nested && f->v.v[i].s.nested_ns != want_nested))
				fail_msg("seed %llu: %s: own %lld, not %lld",
					 (unsigned long long)seed, name,
					 (long long)f->v.v[i].s.own_ns, (long long)want_own);
		}
	}
	if (own != all || host != threads)
		fail_msg("seed %llu: %lld of %lld, %lld of %lld", (unsigned long long)seed,
			 (long long)own, (long long)all, (long long)host, (long long)threads);
}

TEST(laws)
{
	uint64_t cases = test_cases(10000);

	for (uint64_t seed = 1; seed <= cases; seed++) {
		struct random_frames rf;
		CLEANUP(model_freep) struct model *m = random_frames_make(&rf, seed);
		struct analysis_opts o = { .shared = analysis_shared_new() };
		const struct works *w = analysis_works(m, &o);

		check_kind(&rf, m, w, analysis_work_energy(m, &o), false, seed);
		check_kind(&rf, m, w, analysis_work_energy(m, &o), true, seed);
		analysis_shared_free(o.shared);
	}
}

/* ---- recordings: figures of exact code of their own ---- */

static const struct recorded {
	const char *file;
	double works_ns; /* of all devices */
	size_t modules;
	const char *top, *figures, *classes;
} recordings[] = {
	{ "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 43062802, 316,
	  "Qwen2Model_0", "Qwen2Model - 1 4 10941 29743938 29481461\n",
	  "Linear 168 168 11618380 11618380\nQwen2Attention 24 384 9987048 13922360\n"
	  "Qwen2RMSNorm 49 392 5674205 5674205\nQwen2MLP 24 24 909100 9369811\n" },
	{ "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz", 1716301,
	  214, "ViTModel_0", "ViTModel - 1 0 0 1716301 7256979\n",
	  "Linear 73 73 942325 942325\nViTSdpaSelfAttention 12 12 374687 680027\n"
	  "LayerNorm 25 25 139695 139695\nViTLayer 12 12 76844 1627506\n" },
};

/* Σ over the modules of a class: "class calls works own nested". */
static char *class_sums(const struct table *t, const char *class)
{
	double sum[4] = { 0 };
	static const char *const of[] = { "calls", "works", "own_ns", "nested_ns" };

	for (size_t r = 0; r < table_rows(t); r++)
		for (size_t i = 0; i < ARRAY_LEN(of); i++)
			if (strcmp(str_of(t, r, "class"), class) == 0)
				sum[i] += num_of(t, r, of[i]);
	return xasprintf("%s %.0f %.0f %.0f %.0f\n", class, sum[0], sum[1], sum[2], sum[3]);
}

static size_t rows_of_frames(const struct table *t)
{
	size_t n = 0;

	for (size_t r = 0; r < table_rows(t); r++)
		n += table_get_str(t, r, 0)[0] != '[';
	return n;
}

TEST(modules_of_recordings)
{
	for (size_t i = 0; i < ARRAY_LEN(recordings); i++) {
		const struct recorded *k = &recordings[i];
		READING rd = read_recording("tef", k->file, false);
		CLEANUP(table_set_release) struct table_set ts = analyse(rd.m, &analysis_python);
		const struct table *functions = table_set_find(&ts, "python_functions");
		const struct table *modules = table_set_find(&ts, "modules");
		CLEANUP(xfreep)
		char *top =
			xasprintf("module=%s class inside calls works own_ns nested_ns host_ns\n%s",
				  k->top, k->figures);

		expect_table(modules, top);
		assert_true(column_sum(functions, "own_ns") == k->works_ns);
		assert_true(column_sum(modules, "own_ns") == k->works_ns);
		assert_int_equal(rows_of_frames(modules), k->modules);
		for (const char *line = k->classes; *line; line += strcspn(line, "\n") + 1) {
			CLEANUP(xfreep) char *class = xstrndup(line, strcspn(line, " "));
			CLEANUP(xfreep) char *sums = class_sums(modules, class);

			if (strncmp(sums, line, strlen(sums)) != 0)
				ROW_FAIL(i, "%s", sums);
		}
	}
}
