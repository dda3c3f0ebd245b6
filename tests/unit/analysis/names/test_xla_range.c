/* Names of XLA's ranges: the forms of nsys-jax's layouts, of XLA's sources, and what is none. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "profrig/names/xla_range.h"

#define FAIL(i, ...) fail_msg("row %zu: " __VA_ARGS__)

static const struct {
	const char *name;
	enum xla_range_kind kind;
	const char *module, *op;
	int64_t id; /* -1: absent */
	const char *shown;
} ranges[] = {
	{ "TSL:Thunk:#hlo_op=all-gather-start.2#", XLA_THUNK, "-", "all-gather-start.2", -1,
	  "all-gather-start.2" },
	{ "Thunk:#hlo_op=all-gather-start.2#", XLA_THUNK, "-", "all-gather-start.2", -1,
	  "all-gather-start.2" },
	{ "TSL:Thunk:#name=while/body/add,hlo_op=fusion.3#", XLA_THUNK, "-", "fusion.3", -1,
	  "fusion.3" },
	{ "TSL:Thunk:#name=jit(f)/dot_general[dimension_numbers=(((1,), (0,)), ((), ()))],"
	  "hlo_op=dot.1,unique_hlo_op_id=12#",
	  XLA_THUNK, "-", "dot.1", -1, "dot.1" },
	{ "Thunk:#name=x,hlo_op=y,z,hlo_op=w#", XLA_THUNK, "-", "w", -1, "w" },
	{ "XlaModule:#hlo_module=jit_step#", XLA_MODULE, "jit_step", "-", -1, "jit_step" },
	{ "TSL:XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,program_id=7#", XLA_MODULE,
	  "jit_step", "-", 7, "jit_step" },
	{ "XLA:XlaModule:#hlo_module=pjit__wrapped_step_fn,program_id=99999999999999999999#",
	  XLA_MODULE, "pjit__wrapped_step_fn", "-", -1, "pjit__wrapped_step_fn" },
	{ "TSL:XlaCompile:#module=jit_f,program_id=1#", XLA_COMPILE, "jit_f", "-", 1,
	  "XlaCompile jit_f" },
	{ "TSL:XlaPass:#name=multi_output_fusion,module=jit_f,program_id=1#", XLA_COMPILE, "jit_f",
	  "multi_output_fusion", 1, "XlaPass multi_output_fusion" },
	{ "XlaPass:#name=a,b,module=jit_f#", XLA_COMPILE, "jit_f", "a,b", -1, "XlaPass a,b" },
	{ "XlaPass:#name=a#", XLA_COMPILE, "-", "a", -1, "XlaPass a" },
	{ "TSL:XlaAutotunerMeasurement:#hlo_op=custom-call.113#", XLA_COMPILE, "-",
	  "custom-call.113", -1, "XlaAutotunerMeasurement" },
	{ "TSL:XlaCreateGpuExecutable:#module=jit_f#", XLA_COMPILE, "jit_f", "-", -1,
	  "XlaCreateGpuExecutable" },
	{ "XlaDumpLlvmIr:##", XLA_COMPILE, "-", "-", -1, "XlaDumpLlvmIr" },
};

static const char *const plain[] = {
	"",
	"#",
	":#",
	":##",
	"Thunk:#",
	"Thunk:##",
	"Thunk:#hlo_op=#",
	"Thunk:#hlo_op=a",
	"Thunk:#hlo_op=a##",
	"Thunk:#name=hlo_op=a#",
	"Thunks:#hlo_op=a#",
	"a b:Thunk:#hlo_op=a#",
	"a:b:Thunk:#hlo_op=a#",
	":Thunk:#hlo_op=a#",
	"XlaModule:#module=f#",
	"XlaModule:#hlo_module=,program_id=1#",
	"XlaModule",
	"XlaLauncher:#global=0,local=0,process=0,slice=0#",
	"Xla Pass:#name=a#",
	"aten::mm, seq = 5#",
	"ProfilerStep#3",
};

static const char *text_or_dash(struct xla_text t, char *buf)
{
	snprintf(buf, 128, "%.*s", t.p ? (int)t.n : 1, t.p ? t.p : "-");
	return buf;
}

TEST(ranges_of_xla)
{
	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
		char module[128], op[128];
		struct xla_range r;

		strbuf_addstr(&out, "in front ");
		if (!xla_range_parse(ranges[i].name, strlen(ranges[i].name), &r))
			FAIL(i, "'%s' is plain", ranges[i].name);
		if (r.kind != ranges[i].kind ||
		    strcmp(text_or_dash(r.module, module), ranges[i].module) != 0 ||
		    strcmp(text_or_dash(r.op, op), ranges[i].op) != 0 ||
		    (r.program_id == XLA_ABSENT ? -1 : r.program_id) != ranges[i].id)
			FAIL(i, "%d '%s' '%s' %lld", r.kind, module, op, (long long)r.program_id);
		assert_true(xla_range_name(ranges[i].name, strlen(ranges[i].name), &out));
		assert_string_equal(out.buf + strlen("in front "), ranges[i].shown);
	}
}

TEST(plain_names)
{
	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
		struct xla_range r;

		if (xla_range_parse(plain[i], strlen(plain[i]), &r))
			FAIL(i, "'%s' is none", plain[i]);
		assert_false(xla_range_name(plain[i], strlen(plain[i]), &out));
		assert_int_equal(out.len, 0);
	}
}

TEST(launchers)
{
	static const char a[] = "XlaLauncher:#global=5,local=1,process=2,slice=0#";
	static const char b[] = "XlaLauncher:#global=5,local=1,process=2,partition=3#";
	static const char c[] = "XlaLauncher:#local=1#", d[] = "python";
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct xla_launcher l;

	assert_true(xla_launcher_parse(a, strlen(a), &l));
	assert_int_equal(l.global, 5);
	assert_int_equal(l.local, 1);
	assert_int_equal(l.process, 2);
	assert_int_equal(l.slice, 0);
	assert_true(xla_launcher_parse(b, strlen(b), &l));
	assert_int_equal(l.slice, 3);
	assert_false(xla_launcher_parse(c, strlen(c), &l));
	assert_false(xla_launcher_parse(d, strlen(d), &l));
	assert_false(xla_launcher_parse(d, 0, &l));
	assert_true(xla_launcher_name(a, strlen(a), &text));
	assert_string_equal(text.buf, "XlaLauncher 5");
	assert_false(xla_launcher_name(c, strlen(c), &text));
	assert_string_equal(text.buf, "XlaLauncher 5");
}
