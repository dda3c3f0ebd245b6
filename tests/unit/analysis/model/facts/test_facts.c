/*
 * Facts of spans: operands from texts (known answers, damage), checks of numbers, and on random
 * traces the law that a row keeps its span through sorting, windows and logs.
 */
#include "facts_support.h"
#include "model_support.h"

#include "profrig/model/sink_log.h"

static struct fact_text text_of(const char *text)
{
	return (struct fact_text){ text, text ? strlen(text) : 0 };
}

/* ---- operands ---- */

/* "float[2,3]/[3,1]=value; " of each operand; a list is "name(…)" of its elements. */
static char *list_text(const struct model *m, uint32_t id)
{
	static const char *const kinds[] = { "?", "", "list ", "scalar " };
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const struct operand_list *l = &m->facts.lists.v[id];

	for (uint32_t i = l->first; i < l->first + l->nr; i++) {
		const struct operand *o = &m->facts.operands.v[i];
		const uint32_t lists[] = { o->dims, o->strides };

		strbuf_addf(&sb, "%s%s%s%s", sb.len ? "; " : "", o->in ? "in " : "", kinds[o->kind],
			    model_str(m, o->type));
		for (int k = 0; k < 2; k++) {
			size_t n;
			const int64_t *v = facts_numbers(m, lists[k], &n);

			if (lists[k] == FACT_NONE)
				continue;
			strbuf_addf(&sb, "%s[", k ? "/" : "");
			for (size_t d = 0; d < n; d++)
				strbuf_addf(&sb, "%s%lld", d ? "," : "", (long long)v[d]);
			strbuf_addch(&sb, ']');
		}
		if (o->concrete != STR_NONE)
			strbuf_addf(&sb, "=%s", model_str(m, o->concrete));
	}
	return strbuf_steal(&sb);
}

TEST(operands_of_texts)
{
	static const struct {
		const char *shapes, *types, *strides, *concrete, *what;
		uint64_t bad;
	} cases[] = {
		{ "[[8944, 1024], [1024, 2816]]", "[\"c10::BFloat16\", \"c10::BFloat16\"]",
		  "[[1024, 1], [1, 1024]]", "[\"\", \"\"]",
		  "c10::BFloat16[8944,1024]/[1024,1]; c10::BFloat16[1024,2816]/[1,1024]", 0 },
		{ "[[16,8],[],[],[]]", "[\"float\",\"Scalar\",\"\",\"ScalarList\"]",
		  "[[8,1],[],[],[]]", "[\"\",\"0.5\",\"\",\"[1, 1]\"]",
		  "float[16,8]/[8,1]; scalar Scalar=0.5; ?; scalar ScalarList=[1, 1]", 0 },
		{ "[[]]", "[\"float\"]", "[[]]", NULL, "float[]/[]", 0 },
		{ "[[[2,3],[4]],[7]]", "[\"TensorList\",\"int\"]", "[[[3,1],[1]],[1]]", NULL,
		  "list TensorList; in [2,3]/[3,1]; in [4]/[1]; int[7]/[1]", 0 },
		{ "[[[2,3],[4]],[7]]", "[[\"float\",\"half\"],\"int\"]", NULL, NULL,
		  "list ; in float[2,3]; in half[4]; int[7]", 0 },
		{ "[[2],[3]]", NULL, NULL, NULL, "[2]; [3]", 0 },
		{ NULL, "[\"float\"]", NULL, "[\"\",\"True\"]", "float; scalar =True", 0 },
		{ "[[0,5]]", "[\"float\"]", "[[0,0]]", NULL, "float[0,5]/[0,0]", 0 },
		{ "[]", "[]", "[]", "[]", "", 0 },
		/* damage */
		{ "[[-1,4],[2]]", NULL, NULL, NULL, "?; [2]", 1 },
		{ "[[1.5]]", "[\"float\"]", NULL, NULL, "float", 1 },
		{ "[[1125899906842625]]", "[\"float\"]", NULL, NULL, "float", 1 },
		{ "[[1125899906842624]]", "[\"float\"]", NULL, NULL, "float[1125899906842624]", 0 },
		{ "[[99999999999999999999999]]", NULL, NULL, NULL, "?", 1 },
		{ "[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]]", NULL, NULL, NULL,
		  "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", 0 },
		{ "[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]]", NULL, NULL, NULL, "?", 1 },
		{ "[[2,3]]", "[\"float\"]", "[[1]]", NULL, "float[2,3]", 1 },
		{ "[[2,3]", "[\"float\"]", NULL, NULL, "float", 1 },
		{ "words", "{}", "7", "", "", 4 },
		{ "[[[[2]]],[3]]", NULL, NULL, NULL, "list ; in ?; [3]", 1 },
		{ "[[2,[3]],[4]]", NULL, NULL, NULL, "list ; in [3]; [4]", 1 },
		{ "[{\"a\":[1]},null,[5]]", NULL, NULL, NULL, "?; ?; [5]", 0 },
		{ "[[{\"a\":1}],[5]]", NULL, NULL, NULL, "?; [5]", 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
		struct sink *s = model_sink(m);
		struct operand_texts t = { text_of(cases[i].shapes), text_of(cases[i].types),
					   text_of(cases[i].strides), text_of(cases[i].concrete) };
		uint32_t id = s->ops->operands(s, &t);
		CLEANUP(xfreep) char *text = list_text(m, id);

		if (strcmp(text, cases[i].what) != 0 || warned(m, W_BAD_FACT) != cases[i].bad)
			fail_msg("case %zu: '%s', %u bad", i, text,
				 (unsigned)warned(m, W_BAD_FACT));
		assert_int_equal(s->ops->operands(s, &t), id);
		assert_int_equal(warned(m, W_BAD_FACT), cases[i].bad);
	}
}

TEST(texts_are_compact_and_shared)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	struct operand_texts t = { text_of("[ [ 8944 ,1024],\n[] ]"),
				   text_of("[ \"a b\\\" c\" , \"\"]"),
				   { NULL, 0 },
				   { NULL, 0 } };
	struct operand_texts other = {
		text_of("[[8944,1024],[]]"), { NULL, 0 }, { NULL, 0 }, { NULL, 0 }
	};
	const struct operand_texts none = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	uint32_t a = s->ops->operands(s, &t), b = s->ops->operands(s, &other);
	const struct operand_list *l = m->facts.lists.v;

	assert_int_not_equal(a, b);
	assert_string_equal(model_str(m, l[a].shapes), "[[8944,1024],[]]");
	assert_int_equal(l[a].shapes, l[b].shapes);
	assert_string_equal(model_str(m, l[a].types), "[\"a b\\\" c\",\"\"]");
	assert_int_equal(l[a].strides, STR_NONE);
	assert_int_equal(s->ops->operands(s, &none), FACT_NONE);
	assert_int_equal(m->facts.operands.v[l[a].first].dims,
			 m->facts.operands.v[l[b].first].dims);
	assert_int_equal(warned(m, W_BAD_FACT), 0);
}

TEST(long_lists_are_bounded)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	CLEANUP(xfreep) int64_t *v = xcalloc(FACT_NUMBERS_MAX + 1, sizeof(*v));
	struct sink *s = model_sink(m);
	struct operand_texts t = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	uint32_t id;
	size_t nr;

	strbuf_addch(&sb, '[');
	for (int i = 0; i < FACT_OPERANDS_MAX + 10; i++)
		strbuf_addstr(&sb, "[1],");
	strbuf_addch(&sb, ']');
	t.shapes = (struct fact_text){ sb.buf, sb.len };
	id = s->ops->operands(s, &t);
	assert_int_equal(m->facts.lists.v[id].nr, FACT_OPERANDS_MAX);
	assert_int_equal(warned(m, W_BAD_FACT), 1);
	while (sb.len <= FACT_TEXT_MAX)
		strbuf_addstr(&sb, "                                                            ");
	t.shapes = (struct fact_text){ sb.buf, sb.len };
	id = s->ops->operands(s, &t);
	assert_int_equal(m->facts.lists.v[id].nr, 0);
	assert_int_equal(warned(m, W_BAD_FACT), 2);
	assert_int_equal(s->ops->numbers(s, v, FACT_NUMBERS_MAX + 1), FACT_NONE);
	assert_int_equal(warned(m, W_BAD_FACT), 3);
	assert_int_not_equal(s->ops->numbers(s, v, FACT_NUMBERS_MAX), FACT_NONE);
	assert_int_equal(warned(m, W_BAD_FACT), 3);
	assert_null(facts_numbers(m, FACT_NONE, &nr));
	assert_int_equal(nr, 0);
}

/* ---- rows ---- */

TEST(impossible_numbers_are_absent)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	span_id id = span_put(s, queue_of(s, "gpu0", 1), "copy", 0, 5, SPAN_COPY, 0);
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };
	struct span_facts k = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };
	struct span_facts y = { .kind = FACTS_MEMORY, .memory = MEMORY_FACTS_NONE };
	struct span_facts p = { .kind = FACTS_PROGRAM, .program = PROGRAM_FACTS_NONE };

	f.copy.bytes = -1;
	f.copy.direction = COPY_H2D;
	f.copy.graph = -7;
	s->ops->facts(s, id, &f);
	k.kernel.grid[2] = FACT_SIZE_MAX + 1;
	k.kernel.block[0] = INT64_MIN + 1;
	k.kernel.registers = 0;
	s->ops->facts(s, id, &k);
	y.memory.bytes = -FACT_SIZE_MAX;
	y.memory.allocated = FACT_SIZE_MAX;
	y.memory.address = -1;
	s->ops->facts(s, id, &y);
	p.program.device = -2;
	p.program.kind = PROGRAM_COMPILE + 1;
	s->ops->facts(s, id, &p);
	f.copy.bytes = 7;
	s->ops->facts(s, id + 1, &f);
	model_ended(m);
	assert_int_equal(warned(m, W_BAD_FACT), 5);
	assert_int_equal(warned(m, W_UNKNOWN_REFERENCE), 1);
	assert_int_equal(facts_copy(m, 0)->bytes, FACT_ABSENT);
	assert_int_equal(facts_copy(m, 0)->direction, COPY_H2D);
	assert_int_equal(facts_copy(m, 0)->graph, -7);
	assert_int_equal(facts_kernel(m, 0)->grid[2], FACT_ABSENT);
	assert_int_equal(facts_kernel(m, 0)->block[0], FACT_ABSENT);
	assert_int_equal(facts_kernel(m, 0)->registers, 0);
	assert_int_equal(facts_memory(m, 0)->bytes, -FACT_SIZE_MAX);
	assert_int_equal(facts_memory(m, 0)->allocated, FACT_SIZE_MAX);
	assert_int_equal(facts_memory(m, 0)->address, -1);
	assert_int_equal(facts_memory(m, 0)->reserved, FACT_ABSENT);
	assert_int_equal(facts_program(m, 0)->device, FACT_ABSENT);
	assert_int_equal(facts_program(m, 0)->kind, PROGRAM_UNKNOWN);
	assert_null(facts_op(m, 0));
	assert_null(facts_copy(m, 1));
}

TEST(the_first_of_two_stays)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	track_id q = queue_of(s, "gpu0", 1);
	span_id late = span_put(s, q, "late", 50, 60, SPAN_COPY, 0);
	span_id early = span_put(s, q, "early", 0, 5, SPAN_COPY, 0);
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };

	for (f.copy.bytes = 1; f.copy.bytes < 4; f.copy.bytes++) {
		s->ops->facts(s, late, &f);
		if (f.copy.bytes == 2)
			s->ops->facts(s, early, &f);
	}
	model_ended(m);
	assert_int_equal(m->facts.copies.nr, 2);
	assert_int_equal(facts_copy(m, 0)->bytes, 2);
	assert_int_equal(facts_copy(m, 1)->bytes, 1);
	assert_int_equal(warned(m, W_FACTS_TWICE), 2);
}

/* More rows than are sorted at a time; the last ones lie in each part of what came before. */
TEST(many_rows_in_any_order)
{
	enum { ROWS = 100000, LATE = 7 };
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	track_id q = queue_of(s, "gpu0", 1);
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };

	for (int64_t i = 0; i < ROWS; i++) {
		/* pairs change places; each 20 000th comes at the end, the last one first */
		int64_t t = i % 20000 == LATE ? -1 : i ^ 1;

		if (t % 20000 == LATE || t < 0)
			continue;
		f.copy.bytes = t;
		s->ops->facts(s, span_put(s, q, "c", t * 10, t * 10 + 5, SPAN_COPY, 0), &f);
	}
	for (int64_t t = ROWS - 20000 + LATE; t > 0; t -= 20000) {
		f.copy.bytes = t;
		s->ops->facts(s, span_put(s, q, "c", t * 10, t * 10 + 5, SPAN_COPY, 0), &f);
	}
	model_ended(m);
	for (size_t i = 0; i < m->facts.copies.nr; i++) {
		assert_int_equal(m->facts.copies.v[i].span, i);
		assert_int_equal(m->facts.copies.v[i].bytes * 10, m->spans.start_ns[i]);
	}
	assert_int_equal(m->facts.copies.nr, m->spans.nr);
	assert_true(m->spans.nr > ROWS - 20);
}

TEST(devices_and_worlds_belong_to_inputs)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	struct device_facts d = DEVICE_FACTS_NONE;
	struct world_facts w = WORLD_FACTS_NONE;

	d.number = 3;
	d.units = 304;
	d.memory = -5;
	s->ops->device(s, &d);
	d.units = 7;
	s->ops->device(s, &d);
	w.rank = 1;
	s->ops->world(s, &w);
	s->ops->input_end(s);
	s->ops->input(s, "other", "tef");
	s->ops->device(s, &d);
	model_ended(m);
	assert_int_equal(m->facts.devices.nr, 2);
	assert_int_equal(facts_device(m, 0, 3)->units, 304);
	assert_int_equal(facts_device(m, 0, 3)->memory, FACT_ABSENT);
	assert_int_equal(facts_device(m, 1, 3)->units, 7);
	/* the only one it describes */
	assert_int_equal(facts_device(m, 1, 0)->units, 7);
	assert_int_equal(facts_device(m, 1, 0)->number, 3);
	assert_null(facts_device(m, 2, 3));
	assert_int_equal(m->facts.worlds.nr, 1);
	assert_int_equal(m->facts.worlds.v[0].rank, 1);
	assert_int_equal(m->facts.worlds.v[0].size, FACT_ABSENT);
}

TEST(devices_that_differ_stand_for_no_other)
{
	CLEANUP(model_freep) struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	struct device_facts d = DEVICE_FACTS_NONE;

	for (d.number = 0; d.number < 3; d.number++) {
		d.units = d.number == 2 ? 80 : 108;
		s->ops->device(s, &d);
		assert_int_equal(facts_device(m, 0, 9) != NULL, d.number < 2);
	}
	assert_int_equal(m->facts.devices.nr, 3);
	assert_int_equal(facts_device(m, 0, 1)->number, 1);
	assert_int_equal(facts_device(m, 0, 2)->units, 80);
}

/* ---- laws ---- */

/* A span is named by its number; its facts hold the number as bytes, sequence, ranks … */
static void facts_of(struct sink *s, span_id id, int64_t n)
{
	struct span_facts f;
	int64_t lists[2] = { n % 5, n % 3 };
	char shapes[64];
	struct operand_texts t = { { shapes, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };

	t.shapes.n = (size_t)snprintf(shapes, sizeof(shapes), "[[%d,3]]", (int)(n % 7));
	if (n % 2 == 0) {
		f = (struct span_facts){ .kind = FACTS_OP, .op = OP_FACTS_NONE };
		f.op.sequence = n;
		f.op.operands = s->ops->operands(s, &t);
		s->ops->facts(s, id, &f);
	}
	if (n % 3 == 0) {
		f = (struct span_facts){ .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };
		f.copy.bytes = n;
		s->ops->facts(s, id, &f);
	}
	if (n % 5 == 0) {
		f = (struct span_facts){ .kind = FACTS_COLLECTIVE,
					 .collective = COLLECTIVE_FACTS_NONE };
		f.collective.sequence = n;
		f.collective.group = sink_puts(s, shapes);
		f.collective.ranks = s->ops->numbers(s, lists, 2);
		f.collective.channel = n + 1;
		s->ops->facts(s, id, &f);
	}
	if (n % 7 == 0) {
		f = (struct span_facts){ .kind = FACTS_PROGRAM, .program = PROGRAM_FACTS_NONE };
		f.program.kind = n % 2 ? PROGRAM_MODULE : PROGRAM_OP;
		f.program.module = sink_puts(s, "jit_step");
		f.program.op = sink_puts(s, shapes);
		f.program.program_id = n;
		s->ops->facts(s, id, &f);
	}
}

static void spans_push(struct sink *s, uint32_t seed)
{
	track_id t[6];
	char name[24];
	uint32_t n;

	rnd_state = seed;
	for (int i = 0; i < 3; i++) {
		t[i] = thread_of(s, NULL, 7, 70 + i);
		t[3 + i] = queue_of(s, "gpu0", (uint64_t)i + 1);
	}
	n = rnd_below(60);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t track = rnd_below(6), late = rnd_below(4);
		int64_t start = rnd_below(100);
		span_id id;

		snprintf(name, sizeof(name), "%u", i);
		id = span_put(s, t[track], name, start, start + rnd_below(20),
			      track < 3 ? SPAN_HOST : SPAN_COPY, 0);
		/* some facts come later than their span, some in front of others' */
		if (late)
			facts_of(s, id, i);
		if (late != 1 && i > 3 && rnd_below(3) == 0)
			continue;
		if (!late)
			facts_of(s, id, i);
	}
}

static void rows_fit(const struct model *m, bool whole)
{
	size_t ops = 0, copies = 0, collectives = 0, programs = 0;

	for (size_t i = 0; i < m->spans.nr; i++) {
		int64_t n;
		const struct op_facts *o = facts_op(m, i);
		const struct copy_facts *c = facts_copy(m, i);
		const struct collective_facts *l = facts_collective(m, i);
		const struct program_facts *p = facts_program(m, i);
		const char *name = model_str(m, m->spans.name[i]);

		assert_int_equal(num_i64(name, strlen(name), &n), 0);
		if (o) {
			const struct operand_list *list = &m->facts.lists.v[o->operands];
			size_t nr;
			const int64_t *dims =
				facts_numbers(m, m->facts.operands.v[list->first].dims, &nr);

			assert_int_equal(o->sequence, n);
			assert_int_equal(nr, 2);
			assert_int_equal(dims[0], n % 7);
		}
		if (c)
			assert_int_equal(c->bytes, n);
		if (l) {
			size_t nr;

			assert_int_equal(l->sequence, n);
			assert_int_equal(l->channel, n + 1);
			assert_int_equal(facts_numbers(m, l->ranks, &nr)[0], n % 5);
		}
		if (p) {
			assert_int_equal(p->program_id, n);
			assert_string_equal(model_str(m, p->module), "jit_step");
			assert_int_equal(p->fingerprint, STR_NONE);
		}
		programs += p != NULL;
		ops += o != NULL;
		copies += c != NULL;
		collectives += l != NULL;
		if (!whole && (o || c))
			assert_true((n % 2 == 0) == (o != NULL) && (n % 3 == 0) == (c != NULL));
	}
	assert_int_equal(ops, m->facts.ops.nr);
	assert_int_equal(copies, m->facts.copies.nr);
	assert_int_equal(collectives, m->facts.collectives.nr);
	assert_int_equal(programs, m->facts.programs.nr);
}

static struct model *random_model(uint32_t seed)
{
	struct model *m = model_begun(TRACE_CLOCK_OWN);

	spans_push(model_sink(m), seed);
	return m;
}

TEST(rows_keep_their_spans)
{
	size_t rows = 0;

	for (uint32_t seed = 1; seed <= 3000; seed++) {
		CLEANUP(model_freep) struct model *m = model_ended(random_model(seed));

		rows_fit(m, true);
		rows += m->facts.ops.nr;
		assert_int_equal(warned(m, W_FACTS_TWICE) + warned(m, W_BAD_FACT), 0);
	}
	assert_true(rows > 10000);
}

TEST(parts_of_windows_have_the_facts_of_their_span)
{
	size_t parts = 0;

	for (uint32_t seed = 1; seed <= 2000; seed++) {
		CLEANUP(model_freep) struct model *m = model_ended(random_model(seed));
		int64_t a = rnd_below(40), b = a + rnd_below(30), c = b + 1 + rnd_below(20);
		const struct window w[] = { { a, b }, { c, c + rnd_below(40) } };

		model_window(m, w, 2, NULL);
		rows_fit(m, false);
		parts += m->facts.copies.nr;
		assert_int_equal(warned(m, W_FACTS_TWICE), 0);
		model_drop_spans(m);
		assert_int_equal(m->facts.ops.nr + m->facts.copies.nr, 0);
	}
	assert_true(parts > 1000);
}

TEST(logs_have_the_facts)
{
	for (uint32_t seed = 1; seed <= 500; seed++) {
		CLEANUP(model_freep) struct model *a = random_model(seed);
		CLEANUP(model_freep) struct model *b = model_new();
		CLEANUP(sink_log_freep) struct sink_log *log = sink_log_new(NULL, false);
		struct sink *s = sink_log_sink(log);
		struct device_facts d = DEVICE_FACTS_NONE;
		const char *bytes;
		size_t n;

		s->ops->input(s, "made", "tef");
		s->ops->clock(s);
		spans_push(s, seed);
		d.name = sink_puts(s, "Made Up 9000");
		d.number = (int64_t)seed;
		s->ops->device(s, &d);
		s->ops->input_end(s);
		d.name = sink_puts(model_sink(a), "Made Up 9000");
		model_sink(a)->ops->device(model_sink(a), &d);
		bytes = sink_log_bytes(log, &n);
		assert_int_equal(sink_log_play(bytes, n, b, NULL), 0);
		model_ended(a);
		model_finish(b);
		assert_int_equal(same_facts("log", a, b) > 0, true);
		rows_fit(b, true);
	}
}

TEST(an_input_read_again_begins_without)
{
	CLEANUP(model_freep) struct model *m = random_model(5);
	struct sink *s = model_sink(m);

	s->ops->input_again(s);
	assert_int_equal(m->facts.ops.nr + m->facts.lists.nr + m->facts.values.nr, 0);
	spans_push(s, 6);
	model_ended(m);
	rows_fit(m, true);
}
