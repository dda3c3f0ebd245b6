/* What dumps say: text and proto the same, and joined with a trace. */
#include "expect_model.h"

#include "profrig/base/fs.h"
#include "profrig/base/protobuf.h"
#include "profrig/hlo/hlo.h"

static const char text[] =
	"HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}, "
	"replica_count=1, num_partitions=4, "
	"frontend_attributes={fingerprint_before_lhs=\"b3b771a322e9aa8fa70b4d0a64df69cf\"}\n"
	"\n"
	"FileNames\n1 \"train, \\\"x\\\".py\"\n2 \"model.py\"\n\n"
	"FunctionNames\n1 \"main\"\n2 \"layer\"\n\n"
	"FileLocations\n1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 "
	"end_column=9}\n2 {file_name_id=2 function_name_id=2 line=20 end_line=20}\n\n"
	"StackFrames\n1 {file_location_id=1 }\n2 {file_location_id=2 parent_frame_id=1}\n\n"
	"%add (x: f32[], y: f32[]) -> f32[] {\n"
	"  %x = f32[] parameter(0)\n"
	"  %y = f32[] parameter(1)\n"
	"  ROOT %add.1 = f32[] add(f32[] %x, f32[] %y)\n"
	"}\n"
	"\n"
	"%async (param: bf16[1024]) -> bf16[256] {\n"
	"  %param = bf16[1024]{0} parameter(0)\n"
	"  ROOT %reduce-scatter.7 = bf16[256]{0} reduce-scatter(bf16[1024]{0} %param), "
	"channel_id=3, replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=%add\n"
	"}, execution_thread=\"main\"\n"
	"\n"
	"ENTRY %main (p.0: f32[100,10]) -> (f32[100,10], /*index=1*/pred[7]) {\n"
	"  %p.0 = f32[100,10]{1,0:T(8,128)S(5)} parameter(0), metadata={op_name=\"a, b=(c\"}\n"
	"  %p.1 = pred[7]{0} parameter(1)\n"
	"  %p.2 = bf16[1024]{0} parameter(2)\n"
	"  %p.3 = s4[3]{0:E(4)} parameter(3)\n"
	"  %p.4 = f8e4m3fn[5]{0} parameter(4)\n"
	"  %ar = ((f32[100,10]{1,0}, pred[7]{0}), /*index=1*/(f32[100,10]{1,0}, pred[7]{0})) "
	"all-reduce-start(f32[100,10]{1,0} %p.0, pred[7]{0} %p.1), channel_id=1, "
	"replica_groups=[2,2]<=[4], use_global_device_ids=true, to_apply=%add, "
	"metadata={op_type=\"psum\" op_name=\"jit(f)/psum \\\"s\\\"\" source_file=\"train.py\" "
	"source_line=12 stack_frame_id=2}, backend_config={\"a\":[1,\"}\"]}\n"
	"  %ag = f32[400,10]{1,0} all-gather(%p.0), channel_id=2, "
	"replica_groups={}, dimensions={0}\n"
	"  %rs = ((bf16[1024]{0}), bf16[256]{0}) async-start(%p.2), calls=%async\n"
	"  %cp = s4[3]{0:E(4)} collective-permute(%p.3), source_target_pairs={{0,1},{1,0}}\n"
	"  %a2a = f8e4m3fn[5]{0} all-to-all(%p.4), replica_groups={{0,1},{2}}\n"
	"  %sin = f32[100,10]{1,0} sine(%p.0)\n"
	"  ROOT %t = (f32[100,10]{1,0}, pred[7]{0}) tuple(%sin, %p.1)\n"
	"}\n";

/* ---- the same as a proto ---- */

enum { PRED = 1, F32 = 11, BF16 = 16, F8E4M3FN = 20, S4 = 21 };

static void shape(struct strbuf *b, uint32_t field, uint64_t type, int64_t a, int64_t c)
{
	size_t s = pb_open(b, field);

	pb_put_u64(b, 2, type);
	if (a >= 0)
		pb_put_u64(b, 3, (uint64_t)a);
	if (c >= 0)
		pb_put_u64(b, 3, (uint64_t)c);
	pb_close(b, s);
}

/* An instruction is open until pb_close; operands and calls are single numbers. */
static size_t instruction(struct strbuf *b, uint64_t id, const char *name, const char *opcode)
{
	size_t i = pb_open(b, 2);

	pb_put_str(b, 1, name);
	pb_put_str(b, 2, opcode);
	pb_put_u64(b, 35, id);
	return i;
}

static void one(struct strbuf *b, uint64_t id, const char *name, const char *opcode, uint64_t type,
		int64_t a, int64_t c, int64_t operand)
{
	size_t i = instruction(b, id, name, opcode);

	shape(b, 3, type, a, c);
	if (operand >= 0)
		pb_put_u64(b, 36, (uint64_t)operand);
	pb_close(b, i);
}

static size_t computation(struct strbuf *b, const char *name)
{
	size_t c = pb_open(b, 3);

	pb_put_str(b, 1, name);
	return c;
}

static void group(struct strbuf *b, uint32_t field, const char *ids, size_t n)
{
	size_t g = pb_open(b, field);

	pb_put_bytes(b, 1, ids, n); /* packed */
	pb_close(b, g);
}

static void frames(struct strbuf *b)
{
	size_t f = pb_open(b, 17), in;

	pb_put_str(b, 1, "train, \\\"x\\\".py");
	pb_put_str(b, 1, "model.py");
	pb_put_str(b, 2, "main");
	pb_put_str(b, 2, "layer");
	for (uint64_t i = 1; i <= 2; i++) {
		in = pb_open(b, 3);
		pb_put_u64(b, 1, i);
		pb_put_u64(b, 2, i);
		pb_put_u64(b, 3, i * 10);
		pb_close(b, in);
	}
	for (uint64_t i = 1; i <= 2; i++) {
		in = pb_open(b, 4);
		pb_put_u64(b, 1, i);
		pb_put_u64(b, 2, i - 1);
		pb_close(b, in);
	}
	pb_close(b, f);
}

static void all_reduce(struct strbuf *b)
{
	size_t i = instruction(b, 15, "ar", "all-reduce-start"), s, t, in;

	s = pb_open(b, 3);
	pb_put_u64(b, 2, 13);
	for (int k = 0; k < 2; k++) {
		t = pb_open(b, 4);
		pb_put_u64(b, 2, 13);
		shape(b, 4, F32, 100, 10);
		shape(b, 4, PRED, 7, -1);
		pb_close(b, t);
	}
	pb_close(b, s);
	pb_put_bytes(b, 36, "\x0a\x0b", 2);
	in = pb_open(b, 7);
	pb_put_str(b, 2, "jit(f)/psum \\\"s\\\"");
	pb_put_str(b, 3, "train.py");
	pb_put_u64(b, 4, 12);
	pb_put_u64(b, 15, 2);
	pb_close(b, in);
	in = pb_open(b, 87);
	t = pb_open(b, 2);
	pb_put_u64(b, 1, 2);
	pb_put_u64(b, 2, 2);
	pb_close(b, t);
	pb_close(b, in);
	pb_put_u64(b, 38, 1);
	pb_close(b, i);
}

/* The computations that main's instructions call. */
static void called_make(struct strbuf *b)
{
	size_t c = computation(b, "add"), i;

	one(b, 1, "x", "parameter", F32, -1, -1, -1);
	one(b, 2, "y", "parameter", F32, -1, -1, -1);
	i = instruction(b, 3, "add.1", "add");
	shape(b, 3, F32, -1, -1);
	pb_put_bytes(b, 36, "\x01\x02", 2);
	pb_close(b, i);
	pb_put_u64(b, 5, 1);
	pb_close(b, c);
	c = computation(b, "async");
	one(b, 5, "param", "parameter", BF16, 1024, -1, -1);
	i = instruction(b, 6, "reduce-scatter.7", "reduce-scatter");
	shape(b, 3, BF16, 256, -1);
	pb_put_u64(b, 36, 5);
	pb_put_u64(b, 38, 1);
	group(b, 49, "\0\1\2\3", 4);
	pb_close(b, i);
	pb_put_u64(b, 5, 2);
	pb_close(b, c);
}

static void proto_make(struct strbuf *b)
{
	size_t m = pb_open(b, 1), c, i, in;

	pb_put_str(b, 1, "jit_f");
	called_make(b);
	c = computation(b, "main");
	i = instruction(b, 10, "p.0", "parameter");
	shape(b, 3, F32, 100, 10);
	in = pb_open(b, 7);
	pb_put_str(b, 2, "a, b=(c");
	pb_close(b, in);
	pb_close(b, i);
	one(b, 11, "p.1", "parameter", PRED, 7, -1, -1);
	one(b, 12, "p.2", "parameter", BF16, 1024, -1, -1);
	one(b, 13, "p.3", "parameter", S4, 3, -1, -1);
	one(b, 14, "p.4", "parameter", F8E4M3FN, 5, -1, -1);
	all_reduce(b);
	one(b, 16, "ag", "all-gather", F32, 400, 10, 10);
	i = instruction(b, 17, "rs", "async-start");
	in = pb_open(b, 3);
	pb_put_u64(b, 2, 13);
	shape(b, 4, BF16, 1024, -1);
	shape(b, 4, BF16, 256, -1);
	pb_close(b, in);
	pb_put_u64(b, 36, 12);
	pb_put_u64(b, 38, 2);
	pb_close(b, i);
	i = instruction(b, 18, "cp", "collective-permute");
	shape(b, 3, S4, 3, -1);
	pb_put_u64(b, 36, 13);
	pb_close(b, pb_open(b, 52));
	pb_close(b, pb_open(b, 52));
	pb_close(b, i);
	i = instruction(b, 19, "a2a", "all-to-all");
	shape(b, 3, F8E4M3FN, 5, -1);
	pb_put_u64(b, 36, 14);
	group(b, 49, "\0\1", 2);
	group(b, 49, "\2", 1);
	pb_close(b, i);
	one(b, 20, "sin", "sine", F32, 100, 10, 10);
	i = instruction(b, 21, "t", "tuple");
	in = pb_open(b, 3);
	pb_put_u64(b, 2, 13);
	shape(b, 4, F32, 100, 10);
	shape(b, 4, PRED, 7, -1);
	pb_close(b, in);
	pb_put_bytes(b, 36, "\x14\x0b", 2);
	pb_close(b, i);
	pb_put_u64(b, 5, 3);
	pb_close(b, c);
	in = pb_open(b, 15); /* behind what needs it */
	pb_put_u64(b, 1, 1);
	pb_put_u64(b, 2, 4);
	pb_close(b, in);
	frames(b);
	in = pb_open(b, 19);
	i = pb_open(b, 1);
	pb_put_str(b, 1, "fingerprint_before_lhs");
	pb_put_str(b, 2, "b3b771a322e9aa8fa70b4d0a64df69cf");
	pb_close(b, i);
	pb_close(b, in);
	pb_close(b, m);
}

/* ---- reading ---- */

static int read_as(struct hlo_programs *p, const char *dir, const char *name, const void *data,
		   size_t n, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);

	assert_int_equal(fs_write_atomic(path, data, n, NULL), 0);
	assert_true(hlo_dump_is(path));
	return hlo_read(p, path, err);
}

#define TEXT_NAME "module_0017.jit_f.sm_9.0_gpu_after_optimizations.txt"
#define PROTO_NAME "module_0018.jit_f.sm_9.0_gpu_after_optimizations.hlo.pb"

static const struct hlo_instruction *at(const struct hlo_programs *p, const struct hlo_module *m,
					const char *name)
{
	const struct hlo_instruction *i =
		hlo_instruction(m, intern_find(p->texts, name, strlen(name)));

	if (!i)
		fail_msg("no instruction %s", name);
	return i;
}

static void expect_collective(const struct hlo_programs *p, const struct hlo_module *m,
			      const char *name, const char *is, int64_t bytes, int64_t size)
{
	bool several;
	const struct hlo_instruction *c = hlo_collective(p, m, at(p, m, name), &several);

	assert_non_null(c);
	assert_string_equal(intern_str(p->texts, c->name), is);
	assert_int_equal(c->operand_bytes, bytes);
	assert_int_equal(c->group_size, size);
	assert_false(several);
}

static void expect_module(const struct hlo_programs *p, const struct hlo_module *m)
{
	const struct hlo_instruction *i;
	bool several;

	assert_string_equal(intern_str(p->texts, m->name), "jit_f");
	assert_string_equal(intern_str(p->texts, m->fingerprint),
			    "b3b771a322e9aa8fa70b4d0a64df69cf");
	assert_int_equal(m->partitions, 4);
	assert_int_equal(m->computations.nr, 3);
	assert_int_equal(m->v.nr, 17);
	expect_collective(p, m, "ar", "ar", 4007, 2);
	assert_int_equal(at(p, m, "ar")->groups, 2);
	expect_collective(p, m, "ag", "ag", 4000, 4); /* all partitions */
	expect_collective(p, m, "rs", "reduce-scatter.7", 2048, 4);
	expect_collective(p, m, "cp", "cp", 2, 2); /* three times 4 bits */
	expect_collective(p, m, "a2a", "a2a", 5, HLO_ABSENT);
	assert_true(at(p, m, "a2a")->mixed);
	assert_null(hlo_collective(p, m, at(p, m, "sin"), &several));
	i = at(p, m, "ar");
	assert_int_equal(i->bytes, 8014);
	assert_string_equal(intern_str(p->texts, i->type), "f32");
	assert_string_equal(intern_str(p->texts, i->op_name), "jit(f)/psum \\\"s\\\"");
	assert_string_equal(intern_str(p->texts, i->file), "train.py");
	assert_int_equal(i->line, 12);
	assert_int_equal(i->frame, 2);
	assert_int_equal(m->frames.nr, 2);
	assert_string_equal(intern_str(p->texts, m->frames.v[1].file), "model.py");
	assert_string_equal(intern_str(p->texts, m->frames.v[1].function), "layer");
	assert_int_equal(m->frames.v[1].line, 20);
	assert_int_equal(m->frames.v[1].parent, 1);
	assert_int_equal(m->frames.v[0].parent, 0);
	assert_string_equal(intern_str(p->texts, at(p, m, "p.0")->op_name), "a, b=(c");
}

TEST_IN(text_and_proto_say_the_same, dir)
{
	struct hlo_programs *p = hlo_programs_new();
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct err err = ERR_INIT;

	proto_make(&b);
	if (read_as(p, dir, TEXT_NAME, text, strlen(text), &err) < 0 ||
	    read_as(p, dir, PROTO_NAME, b.buf, b.len, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(p->v.nr, 2);
	expect_module(p, &p->v.v[0]);
	expect_module(p, &p->v.v[1]);
	for (size_t i = 0; i < p->v.v[0].v.nr; i++) {
		const struct hlo_instruction *a = &p->v.v[0].v.v[i], *c = &p->v.v[1].v.v[i];

		if (a->name != c->name || a->opcode != c->opcode || a->type != c->type ||
		    a->bytes != c->bytes || a->operand_bytes != c->operand_bytes ||
		    a->group_size != c->group_size || a->groups != c->groups ||
		    a->op_name != c->op_name || a->nr_calls != c->nr_calls)
			fail_msg("%s differs", intern_str(p->texts, a->name));
	}
	assert_int_equal(p->v.v[0].id, 17);
	assert_int_equal(p->v.v[1].id, 18);
	/* the same again, and another stage, add nothing */
	assert_int_equal(read_as(p, dir, TEXT_NAME, text, strlen(text), &err), 0);
	assert_int_equal(
		read_as(p, dir, "module_0017.jit_f.before_optimizations.hlo.pb", "x", 1, &err), 0);
	assert_int_equal(p->v.nr, 2);
	hlo_programs_free(p);
}

/* The compiler names what it begins by what it wraps. */
TEST_IN(wrapped_collectives, dir)
{
	static const char wrapped[] =
		"HloModule m\n"
		"async { \n p = f32[8] parameter(0)\n"
		"ROOT rs = f32[4] reduce-scatter(p), replica_groups={{0,1}}\n}\n"
		"two {\n q = f32[8] parameter(0)\n a = f32[8] all-reduce(q), "
		"replica_groups={{0,1}}\n"
		"ROOT b = f32[8] all-reduce(a), replica_groups={{0,1}}\n}\n"
		"ENTRY e {\n x = f32[8] parameter(0)\n"
		"s = ((f32[8]), f32[4]) reduce-scatter-start(x), calls=async\n"
		"ROOT f = f32[8] fusion(x), kind=kLoop, calls=two\n}\n";
	struct hlo_programs *p = hlo_programs_new();
	bool several;

	assert_int_equal(read_as(p, dir, "m.hlo", wrapped, strlen(wrapped), NULL), 0);
	expect_collective(p, &p->v.v[0], "s", "rs", 32, 2);
	assert_string_equal(intern_str(p->texts, at(p, &p->v.v[0], "s")->opcode), "async-start");
	assert_null(hlo_collective(p, &p->v.v[0], at(p, &p->v.v[0], "f"), &several));
	assert_true(several);
	hlo_programs_free(p);
}

/* ---- joined ---- */

static span_id op_push(struct model *m, track_id t, int64_t start_ns, const char *module,
		       int64_t program, const char *op)
{
	struct sink *s = model_sink(m);
	struct span_def d = { .track = t,
			      .start_ns = start_ns,
			      .end_ns = start_ns + 5,
			      .name = sink_puts(s, op),
			      .category = 0,
			      .args = STR_NONE };
	struct span_facts f = { .kind = FACTS_PROGRAM, .program = PROGRAM_FACTS_NONE };
	span_id span = s->ops->span(s, &d);

	f.program.kind = PROGRAM_OP;
	f.program.module = sink_puts(s, module);
	f.program.op = sink_puts(s, op);
	f.program.program_id = program;
	s->ops->facts(s, span, &f);
	return span;
}

static void expect_size(const struct model *m, const char *name, const char *word, int64_t bytes,
			int64_t size)
{
	const struct collective_facts *f = facts_collective(m, span_at(m, name));

	assert_non_null(f);
	assert_string_equal(model_str(m, f->name), word);
	assert_int_equal(f->bytes, bytes);
	assert_int_equal(f->group_size, size);
}

TEST_IN(joined, dir)
{
	struct hlo_programs *p = hlo_programs_new();
	struct model *m = model_begun(TRACE_CLOCK_OWN);
	struct sink *s = model_sink(m);
	struct track_def td = TRACK_DEF_INIT;
	struct span_facts own = { .kind = FACTS_COLLECTIVE, .collective = COLLECTIVE_FACTS_NONE };
	track_id t;

	td.kind = TRACK_THREAD;
	td.name = "t";
	t = s->ops->track(s, &td);
	op_push(m, t, 60, "jit_f", 17, "ar");
	op_push(m, t, 10, "jit_f", 17, "ag");
	op_push(m, t, 20, "jit_f", 17, "rs");
	op_push(m, t, 30, "jit_f", 17, "sin");
	op_push(m, t, 40, "jit_f", 17, "a2a");
	op_push(m, t, 50, "jit_f", 99, "gone");
	op_push(m, t, 70, "jit_other", 4, "ar");
	own.collective.bytes = 123;
	s->ops->facts(s, op_push(m, t, 80, "jit_f", 17, "cp"), &own);
	model_ended(m);
	assert_int_equal(read_as(p, dir, TEXT_NAME, text, strlen(text), NULL), 0);
	hlo_join(p, m, true);
	expect_model(m, "W_HLO_MISSING=1 W_HLO_OTHER=1 W_HLO_GROUPS=1 only W_OP_WITHOUT_MODULE=0");
	expect_size(m, "ar", "all-reduce", 4007, 2);
	expect_size(m, "ag", "all-gather", 16000, 4);
	expect_size(m, "rs", "reduce-scatter", 2048, 4);
	expect_size(m, "a2a", "all-to-all", 5, FACT_ABSENT);
	assert_null(facts_collective(m, span_at(m, "sin")));
	assert_int_equal(facts_collective(m, span_at(m, "cp"))->bytes, 123); /* the trace's own */
	model_free(m);
	hlo_programs_free(p);
}

/* An XSpace file holds the programs that it is of. */
TEST_IN(programs_in_a_trace, dir)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT, proto = STRBUF_INIT;
	CLEANUP(xfreep) char *path = fs_join(dir, "a.xplane.pb");
	struct hlo_programs *p = hlo_programs_new();
	struct err err = ERR_INIT;
	size_t plane, entry, row, stat;

	proto_make(&proto);
	for (int damaged = 0; damaged < 2; damaged++) {
		plane = pb_open(&b, 1);
		pb_put_str(&b, 2, "/host:metadata");
		entry = pb_open(&b, 4);
		pb_put_u64(&b, 1, 5);
		row = pb_open(&b, 2);
		pb_put_str(&b, 2, "jit_f(4711)");
		stat = pb_open(&b, 5);
		pb_put_u64(&b, 1, 1);
		pb_put_bytes(&b, 6, proto.buf, proto.len / (size_t)(1 + damaged));
		pb_close(&b, stat);
		pb_close(&b, row);
		pb_close(&b, entry);
		pb_close(&b, plane);
		assert_int_equal(fs_write_atomic(path, b.buf, b.len, NULL), 0);
		assert_int_equal(hlo_read_space(p, path, &err), damaged ? -EINVAL : 0);
		assert_int_equal(p->v.nr, 1);
		assert_int_equal(p->v.v[0].id, 4711);
	}
	expect_module(p, &p->v.v[0]);
	assert_has(err.msg, "offset");
	hlo_programs_free(p);
}

/* ---- damage ---- */

TEST_IN(cut_and_changed, dir)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	uint64_t seed = 5;

	proto_make(&b);
	for (size_t k = 0; k < test_cases(400); k++) {
		struct hlo_programs *p = hlo_programs_new();
		bool proto = k % 2;
		size_t n = proto ? b.len : strlen(text), i;
		CLEANUP(xfreep) char *bad = xmemdup(proto ? b.buf : text, n);
		struct err err = ERR_INIT;
		bool several;
		int r;

		if (k % 4 < 2)
			n = rnd(&seed) % n;
		else
			for (i = rnd(&seed) % 5 + 1; i > 0; i--)
				bad[rnd(&seed) % n] = (char)rnd(&seed);
		r = read_as(p, dir, proto ? "a.hlo.pb" : "a.hlo", bad, n, &err);
		if (k % 4 < 2 && r == 0 && n < (proto ? b.len : strlen(text) - 2))
			fail_msg("cut at %zu: nothing is said", n);
		assert_true(r == 0 || err.msg[0]);
		for (i = 0; p->v.nr && i < p->v.v[0].v.nr; i++)
			hlo_collective(p, &p->v.v[0], &p->v.v[0].v.v[i], &several);
		hlo_programs_free(p);
	}
}
