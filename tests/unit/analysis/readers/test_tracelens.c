/*
 * The sheets about kernels that another tool published with two recordings of PyTorch on an
 * MI300X: every row of kernel_summary, gpu_timeline, short_kernels_summary, short_kernel_histogram
 * and the kernel times of ops_summary, against the same figures counted from the model.
 *
 * A kernel's operator is the innermost one (cpu_op) around the call that launched it; what was
 * launched before the recording has none. gpu_timeline is about launched work alone, short kernels
 * are those below 10 µs. Sums agree to 1e-6 of their value, except where the sheet was computed
 * from absolute times in binary64: there each kernel may be off by 0.5 ns.
 */
#include "golden_sheet.h"
#include "readers_test.h"

#include <math.h>

#include "profrig/base/vec.h"

#define QWEN "tef/tracelens-mi300-qwen/"
#define FALCON "tef/tracelens-mi300-falconsai/"
#define SHORT_NS 10000
#define ROUNDED_US 0.0005

static const struct recorded {
	const char *folder, *trace;
} recordings[] = {
	{ QWEN, QWEN "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz" },
	{ FALCON, FALCON "Falconsai_nsfw_image_detection__1016002.json.gz" },
};

static struct reading read_real(const char *rel)
{
	struct reading rd = read_path("tef", kept(test_trace(rel)), true);

	assert_int_equal(rd.r, 0);
	return rd;
}

static void assert_close(size_t row, const char *what, double got, double want, double slack)
{
	if (!(fabs(got - want) <= 1e-6 * fabs(want) + slack))
		ROW_FAIL(row, "%s is %.17g, not %.17g", what, got, want);
}

/* --- the model's kernels --- */

struct kernel {
	size_t span;
	uint64_t op; /* its operator; SPAN_NONE */
	bool linked;
};

struct kernels {
	struct reading rd;
	VEC(struct kernel) v; /* copies too */
};

static int64_t length(const struct model *m, size_t i)
{
	return m->spans.end_ns[i] - m->spans.start_ns[i];
}

static uint64_t operator_of(const struct model *m, uint64_t call)
{
	while (call != SPAN_NONE && strcmp(model_str(m, m->spans.category[call]), "cpu_op") != 0)
		call = span_parent(&m->spans, call);
	return call;
}

static void kernels_open(struct kernels *ks, const char *trace)
{
	const struct model *m;
	uint64_t *launch;

	*ks = (struct kernels){ .rd = read_real(trace) };
	m = ks->rd.m;
	launch = xreallocarray(NULL, m->spans.nr + 1, sizeof(*launch));
	for (size_t i = 0; i < m->spans.nr; i++)
		launch[i] = SPAN_NONE;
	for (size_t i = 0; i < m->links.nr; i++)
		if (m->links.kind[i] == LINK_LAUNCH)
			launch[m->links.to[i]] = m->links.from[i];
	for (size_t i = 0; i < m->spans.nr; i++)
		if (span_is_work(m, i))
			VEC_PUSH(&ks->v, (struct kernel){ i, operator_of(m, launch[i]),
							  launch[i] != SPAN_NONE });
	free(launch);
}

static void kernels_release(struct kernels *ks)
{
	reading_release(&ks->rd);
	VEC_RELEASE(&ks->v);
}

/* "" for a kernel without operator. */
static const char *op_name(const struct kernels *ks, const struct kernel *k)
{
	return k->op == SPAN_NONE ? "" : span_name(ks->rd.m, k->op);
}

static bool is_copy(const struct kernels *ks, const struct kernel *k)
{
	return ks->rd.m->spans.kind[k->span] != SPAN_KERNEL;
}

struct sums {
	uint64_t n;
	int64_t sum_ns, min_ns, max_ns;
};

static void sums_add(struct sums *s, int64_t ns)
{
	s->min_ns = s->n == 0 || ns < s->min_ns ? ns : s->min_ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	s->sum_ns += ns;
	s->n++;
}

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

static int64_t wall_of_linked(const struct kernels *ks)
{
	const struct model *m = ks->rd.m;
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < ks->v.nr; i++) {
		size_t s = ks->v.v[i].span;

		if (!ks->v.v[i].linked)
			continue;
		first = m->spans.start_ns[s] < first ? m->spans.start_ns[s] : first;
		last = m->spans.end_ns[s] > last ? m->spans.end_ns[s] : last;
	}
	return last - first;
}

/* --- kernel_summary: by operator, kernel and stream --- */

static struct sums sums_of(const struct kernels *ks, const char *op, const char *name,
			   int64_t stream)
{
	struct sums s = { .n = 0 };

	for (size_t i = 0; i < ks->v.nr; i++) {
		const struct kernel *k = &ks->v.v[i];

		if (!is_copy(ks, k) && strcmp(op_name(ks, k), op) == 0 &&
		    strcmp(span_name(ks->rd.m, k->span), name) == 0 &&
		    track_of(ks->rd.m, k->span)->tid == stream)
			sums_add(&s, length(ks->rd.m, k->span));
	}
	return s;
}

static void assert_summary_row(const struct kernels *ks, const struct sheet *sh, size_t row,
			       const struct sums *all, double wall_us)
{
	struct sums s =
		sums_of(ks, text_at(sh, row, "Parent cpu_op"), text_at(sh, row, "Kernel name"),
			(int64_t)number_at(sh, row, "Kernel stream"));
	double sum = us(s.sum_ns);
	const struct {
		const char *column;
		double got;
	} cells[] = {
		{ "Kernel duration (µs)_count", (double)s.n },
		{ "Kernel duration (µs)_sum", sum },
		{ "Kernel duration (µs)_mean", sum / (double)s.n },
		{ "Kernel duration (µs)_min", us(s.min_ns) },
		{ "Kernel duration (µs)_max", us(s.max_ns) },
		{ "Percent of kernels time (%)", 100 * sum / us(all->sum_ns) },
		{ "Percent of total time (%)", 100 * sum / wall_us },
	};

	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		assert_close(row, cells[i].column, cells[i].got,
			     number_at(sh, row, cells[i].column), 0);
}

TEST(kernel_summary)
{
	for (size_t r = 0; r < ARRAY_LEN(recordings); r++) {
		CLEANUP(kernels_release) struct kernels ks;
		CLEANUP(sheet_release) struct sheet sh;
		struct sums all = { .n = 0 };
		double counted = 0;

		kernels_open(&ks, recordings[r].trace);
		sheet_open(&sh, recordings[r].folder, "kernel_summary");
		for (size_t i = 0; i < ks.v.nr; i++)
			if (!is_copy(&ks, &ks.v.v[i]))
				sums_add(&all, length(ks.rd.m, ks.v.v[i].span));
		for (size_t row = 1; row < sh.rows.nr; row++) {
			assert_summary_row(&ks, &sh, row, &all, us(wall_of_linked(&ks)));
			counted += number_at(&sh, row, "Kernel duration (µs)_count");
		}
		assert_true(counted == (double)all.n); /* so no kernel is missing in the sheet */
	}
}

/* --- gpu_timeline --- */

static int64_t union_of(const struct kernels *ks, bool kernels, bool copies)
{
	const struct model *m = ks->rd.m;
	VEC(struct span_interval) v = VEC_INIT;
	int64_t sum;

	for (size_t i = 0; i < ks->v.nr; i++) {
		const struct kernel *k = &ks->v.v[i];

		if (k->linked && (is_copy(ks, k) ? copies : kernels))
			VEC_PUSH(&v, (struct span_interval){ m->spans.start_ns[k->span],
							     m->spans.end_ns[k->span] });
	}
	sum = interval_union(v.v, v.nr);
	VEC_RELEASE(&v);
	return sum;
}

TEST(gpu_timeline)
{
	for (size_t r = 0; r < ARRAY_LEN(recordings); r++) {
		CLEANUP(kernels_release) struct kernels ks;
		CLEANUP(sheet_release) struct sheet sh;
		int64_t busy, wall;

		kernels_open(&ks, recordings[r].trace);
		sheet_open(&sh, recordings[r].folder, "gpu_timeline");
		busy = union_of(&ks, true, true);
		wall = wall_of_linked(&ks);
		const struct {
			const char *type;
			int64_t ns;
		} want[] = LIST({ "computation_time", union_of(&ks, true, false) },
				{ "exposed_comm_time", 0 },
				{ "exposed_memcpy_time", busy - union_of(&ks, true, false) },
				{ "busy_time", busy }, { "idle_time", wall - busy },
				{ "total_time", wall }, { "total_comm_time", 0 },
				{ "total_memcpy_time", union_of(&ks, false, true) });

		assert_int_equal(sh.rows.nr, 1 + ARRAY_LEN(want));
		for (size_t i = 0; i < ARRAY_LEN(want); i++) {
			double slack = ROUNDED_US / 1e3 * (double)ks.v.nr;

			assert_string_equal(text_at(&sh, i + 1, "type"), want[i].type);
			assert_close(i + 1, want[i].type, us(want[i].ns) / 1e3,
				     number_at(&sh, i + 1, "time ms"), slack);
			assert_close(i + 1, "percent", 100 * (double)want[i].ns / (double)wall,
				     number_at(&sh, i + 1, "percent"),
				     100 * slack / (us(wall) / 1e3));
		}
	}
}

/* --- short kernels --- */

/* A list in JSON as python prints tuples: [[8, 1], [8], ["a"]] is ((8, 1), (8,), ('a',)). */
static void add_tuples(struct strbuf *out, const char *p, const char *end)
{
	int commas[8] = { 0 }, depth = 0;
	bool quoted = false, some = false;

	for (; p < end; p++) {
		if (*p == '"') {
			quoted = !quoted;
			some = true;
			strbuf_addch(out, '\'');
		} else if (!quoted && *p == '[') {
			assert_true(depth + 1 < (int)ARRAY_LEN(commas));
			commas[++depth] = 0;
			some = false;
			strbuf_addch(out, '(');
		} else if (!quoted && *p == ']') {
			strbuf_addstr(out, some && commas[depth] == 0 ? ",)" : ")");
			depth--;
			some = true;
		} else if (!quoted && *p == ',') {
			commas[depth]++;
			strbuf_addstr(out, ", ");
		} else if (quoted || !strchr(" \n\r\t", *p)) {
			some = true;
			strbuf_addch(out, *p);
		}
	}
}

/* An argument of an operator, as the sheets have it. */
static char *argument(const struct model *m, uint64_t op, const char *key)
{
	const char *at = strstr(model_str(m, span_args(&m->spans, op)), textf("\"%s\": ", key)),
		   *end;
	struct strbuf out = STRBUF_INIT;
	int depth = 0;
	bool text = false;

	assert_non_null(at);
	at += strlen(textf("\"%s\": ", key));
	end = at;
	do {
		text ^= *end == '"';
		depth += text ? 0 : (*end == '[') - (*end == ']');
		end++;
	} while (*end && depth > 0);
	add_tuples(&out, at, end);
	return strbuf_steal(&out);
}

static bool has_argument(const struct kernels *ks, const struct kernel *k, const struct sheet *sh,
			 size_t row, const char *key, const char *column)
{
	return strcmp(kept(argument(ks->rd.m, k->op, key)), text_at(sh, row, column)) == 0;
}

static bool is_short(const struct kernels *ks, const struct kernel *k)
{
	return !is_copy(ks, k) && length(ks->rd.m, k->span) < SHORT_NS;
}

static struct sums short_sums_of(const struct kernels *ks, const struct sheet *sh, size_t row)
{
	struct sums s = { .n = 0 };

	for (size_t i = 0; i < ks->v.nr; i++) {
		const struct kernel *k = &ks->v.v[i];

		if (is_short(ks, k) && k->op != SPAN_NONE &&
		    strcmp(op_name(ks, k), text_at(sh, row, "Parent cpu_op")) == 0 &&
		    strcmp(span_name(ks->rd.m, k->span), text_at(sh, row, "Kernel name")) == 0 &&
		    has_argument(ks, k, sh, row, "Input Dims", "Input dims") &&
		    has_argument(ks, k, sh, row, "Input Strides", "Input strides") &&
		    has_argument(ks, k, sh, row, "Concrete Inputs", "Concrete Inputs"))
			sums_add(&s, length(ks->rd.m, k->span));
	}
	return s;
}

TEST(short_kernels_summary)
{
	for (size_t r = 0; r < ARRAY_LEN(recordings); r++) {
		CLEANUP(kernels_release) struct kernels ks;
		CLEANUP(sheet_release) struct sheet sh;
		uint64_t all = 0, counted = 0;

		kernels_open(&ks, recordings[r].trace);
		sheet_open(&sh, recordings[r].folder, "short_kernels_summary");
		for (size_t i = 0; i < ks.v.nr; i++)
			all += is_short(&ks, &ks.v.v[i]) && ks.v.v[i].op != SPAN_NONE;
		for (size_t row = 1; row < sh.rows.nr; row++) {
			struct sums s = short_sums_of(&ks, &sh, row);
			double sum = us(s.sum_ns);

			counted += s.n;
			assert_close(row, "count", (double)s.n,
				     number_at(&sh, row, "Short Kernel count"), 0);
			assert_close(row, "sum", sum,
				     number_at(&sh, row, "Short Kernel duration (µs) sum"), 0);
			assert_close(row, "mean", sum / (double)s.n,
				     number_at(&sh, row, "Short Kernel duration (µs) mean"), 0);
			assert_close(row, "percent", 100 * sum / us(wall_of_linked(&ks)),
				     number_at(&sh, row,
					       "Short Kernel duration (µs) percent of total time"),
				     0);
		}
		assert_int_equal(counted, all);
	}
}

TEST(short_kernel_histogram)
{
	for (size_t r = 0; r < ARRAY_LEN(recordings); r++) {
		CLEANUP(kernels_release) struct kernels ks;
		CLEANUP(sheet_release) struct sheet sh;

		kernels_open(&ks, recordings[r].trace);
		sheet_open(&sh, recordings[r].folder, "short_kernel_histogram");
		for (size_t row = 1; row < sh.rows.nr; row++) {
			double from = number_at(&sh, row, "bin_start");
			double to = number_at(&sh, row, "bin_end");
			uint64_t n = 0;

			for (size_t i = 0; i < ks.v.nr; i++) {
				double v = us(length(ks.rd.m, ks.v.v[i].span));

				/* the last bin holds its end */
				n += is_short(&ks, &ks.v.v[i]) && v >= from &&
				     (row + 1 == sh.rows.nr ? v <= to : v < to);
			}
			assert_close(row, "count", (double)n, number_at(&sh, row, "count"), 0);
		}
	}
}

/* --- ops_summary: the kernels that an operator launches itself --- */

TEST(direct_kernel_time)
{
	for (size_t r = 0; r < ARRAY_LEN(recordings); r++) {
		CLEANUP(kernels_release) struct kernels ks;
		CLEANUP(sheet_release) struct sheet sh;
		uint64_t all = 0, counted = 0;

		kernels_open(&ks, recordings[r].trace);
		sheet_open(&sh, recordings[r].folder, "ops_summary");
		for (size_t row = 1; row < sh.rows.nr; row++) {
			struct sums s = { .n = 0 };

			for (size_t i = 0; i < ks.v.nr; i++)
				if (strcmp(op_name(&ks, &ks.v.v[i]), text_at(&sh, row, "name")) ==
				    0)
					sums_add(&s, length(ks.rd.m, ks.v.v[i].span));
			assert_close(row, "sum", us(s.sum_ns),
				     number_at(&sh, row, "total_direct_kernel_time_sum"),
				     ROUNDED_US * (double)s.n);
			counted += s.n;
		}
		for (size_t i = 0; i < ks.v.nr; i++)
			all += ks.v.v[i].op != SPAN_NONE;
		assert_int_equal(counted, all);
	}
}
