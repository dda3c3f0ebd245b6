#include "expect_model.h"
#include "trace_text.h"

#include <math.h>

#include "profrig/base/strbuf.h"
#include "profrig/model/warnings.h"
#include "profrig/work/kernel_join.h"

TEST(names)
{
	static const char *const cases[][2] = {
		{ "saxpy", "saxpy" },
		{ "saxpy(int, float, float *, float *)", "saxpy" },
		{ "void k<(int)4, at::Fill<float>>(T1, T2)", "k<4,at::Fill<float>>" },
		{ "void k<4, at::Fill<float> >(int)", "k<4,at::Fill<float>>" },
		{ "void a::k<(bool)1, 3ul, false>(a::b<int>) const", "a::k<1,3,0>" },
		{ "void k<true, (unsigned int)7u>(int (*)(int))", "k<1,7>" },
		{ "_Z1kIiEvPT_", "k<int>" },
		{ "f(int)(x)", "f(int)" },
		{ "(anonymous namespace)::k(int)", "(anonymousnamespace)::k" },
		{ "Memcpy HtoD (Pinned -> Device)", "MemcpyHtoD" },
		{ "(only)", "(only)" },
		{ "", "" },
		{ ")", ")" },
		{ "((((", "((((" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		kernel_join_name(cases[i][0], &sb);
		if (strcmp(sb.buf ? sb.buf : "", cases[i][1]) != 0)
			ROW_FAIL(i, "%s", sb.buf ? sb.buf : "");
	}
}

static struct model *begun(const char *text)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "a", "tef");
	s->ops->clock(s);
	trace_text(s, 1, text);
	s->ops->input_end(s);
	return m;
}

/* "series@device/stream t=v …" of each series, in their order. */
static void expect_series(const struct model *m, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *s = &m->series.v[i];

		strbuf_addf(&sb, "%s%s@%s/%d", i ? "; " : "", model_str(m, s->name),
			    model_str(m, m->tracks.v[s->track].device),
			    (int)m->tracks.v[s->track].tid);
		for (size_t k = 0; k < s->t_ns.nr; k++)
			strbuf_addf(&sb, " %d=%g", (int)s->t_ns.v[k], s->value.v[k]);
	}
	assert_string_equal(sb.buf ? sb.buf : "", want);
}

static void joined(const char *trace, const char *counters, const char *want, uint64_t kernels,
		   uint64_t missing)
{
	CLEANUP(model_freep) struct model *m = begun(trace), *from = begun(counters);
	struct kernel_joined done;
	uint64_t spans = m->spans.nr;

	assert_true(kernel_join_has(m));
	kernel_join(m, from, &done);
	model_finish(m);
	expect_series(m, want);
	assert_int_equal(m->spans.nr, spans);
	assert_int_equal(m->inputs.nr, 2);
	assert_int_equal(done.kernels, kernels);
	assert_int_equal(done.joined, kernels - missing);
	assert_int_equal(warned(m, W_KERNEL_NOT_JOINED), missing);
	assert_int_equal(m->inputs.v[1].samples, done.values);
}

/* Kernels of the trace are counted in the order of their starts over all queues of the device. */
TEST(by_name_and_number)
{
	joined("queue gpu0/1: f 100-110 g 120-130\nqueue gpu0/2: f 112-119 f 140-150\n",
	       "queue gpu0/7: f 0-10 g 10-20 f 20-30\nseries inst: 10 1 20 2 30 3\n",
	       "inst@gpu0/1 110=1 130=2; inst@gpu0/2 119=3", 3, 0);
}

TEST(more_than_the_trace_has)
{
	joined("queue gpu0/1: f 100-110\n",
	       "queue gpu0/7: f 0-10 f 10-20 h 20-30\nseries inst: 10 1 20 2 30 3\n",
	       "inst@gpu0/1 110=1", 3, 2);
}

/* The only device of both is one and the same, whatever its number. */
TEST(devices)
{
	joined("queue gpu3/1: f 100-110\n", "queue gpu0/7: f 0-10\nseries inst: 10 1\n",
	       "inst@gpu3/1 110=1", 1, 0);
	joined("queue gpu1/1: f 100-110\nqueue gpu2/1: f 105-115\n",
	       "queue gpu1/7: f 0-10\nqueue gpu2/7: f 10-20\nseries inst: 10 1 20 2\n",
	       "inst@gpu1/1 110=1; inst@gpu2/1 115=2", 2, 0);
	joined("queue gpu1/1: f 100-110\nqueue gpu2/1: f 105-115\n",
	       "queue gpu0/7: f 0-10\nseries inst: 10 1\n", "", 1, 1);
}

/* The same text goes before the same function, and that before a bare function. */
TEST(names_of_other_tools)
{
	joined("queue gpu0/1: k<4>(float*) 0-10 k<8>(float*) 20-30\n",
	       "queue gpu0/7: k<(int)8>(T1) 0-10 k<4>(float*) 10-20\nseries i: 10 1 20 2\n",
	       "i@gpu0/1 10=2 30=1", 2, 0);
	joined("queue gpu0/1: a::k<4>(float*) 0-10 a::k<8>(float*) 20-30 k2(int) 40-50\n",
	       "queue gpu0/7: k 0-10 k 10-20 k2 20-30 k3 30-40\nseries i: 10 1 20 2 30 3 40 4\n",
	       "i@gpu0/1 10=1 30=2 50=3", 4, 1);
	/* a full name is no other instance */
	joined("queue gpu0/1: k<4>(float*) 0-10\n",
	       "queue gpu0/7: k<8>(float*) 0-10\nseries i: 10 1\n", "", 1, 1);
}

TEST(no_kernels)
{
	CLEANUP(model_freep) struct model *m = begun("thread 1/1: f 0-10\nqueue gpu0/1: c!c 0-5\n");

	assert_false(kernel_join_has(m));
	model_finish(m);
}
