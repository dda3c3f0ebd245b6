/* Short names of kernels, and names of ranges without the numbers of single calls. */
#include "test.h"

#include "profrig/base/strbuf.h"
#include "profrig/names/range_name.h"
#include "profrig/names/short_name.h"

static const struct {
	const char *name, *want;
} cases[] = {
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
	  "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)",
	  "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add, Array>" },
	{ "void at::native::(anonymous namespace)::indexSelectLargeIndex<long, long, unsigned int, "
	  "1, "
	  "-2, true>(at::cuda::detail::TensorInfo<long, unsigned int>)",
	  "at::native::indexSelectLargeIndex<long, long, unsigned int, 1, -2, true>" },
	{ "void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0>(T2 *, int)",
	  "softmax_warp_forward<float, float, float, 6, 0>" },
	{ "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
	  "(anonymous "
	  "namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() "
	  "const::{lambda(bool, float, float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
	  "at::native::elementwise_kernel<128, 2, where_kernel_impl>" },
	{ "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, "
	  "(int)5>(P<float>)",
	  "internal::gemvx::kernel<int, float, 5>" },
	{ "unsigned long *foo::bar(int const*)", "foo::bar" },
	{ "divide_kernel(float*, float const*, int)", "divide_kernel" },
	{ "a::operator()(int)", "a::operator()" },
	{ "a::operator<(b const&)", "a::operator<" },
	{ "a::operator()", "a::operator()" },
	{ "void k<&b::operator>>, 3>(int)", "k<operator>>, 3>" },
	{ "_ZN2at6native3fooIfLi4EEEvT_", "at::native::foo<float, 4>" },
	{ "_Z3foov.kd", "foo" },
	{ "foo(int) [clone .constprop.0]", "foo" },
	{ "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(x::Params)",
	  "cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>" },
	/* no functions */
	{ "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)" },
	{ "ampere_sgemm_32x128_tn", "ampere_sgemm_32x128_tn" },
	{ "a kernel of mine", "a kernel of mine" },
	{ "", "" },
	{ "void ", "void " },
	{ "()", "()" },
	{ "<<<<", "<>" },
	{ "(anonymous namespace)::", "(anonymous namespace)::" },
	{ ">>>)", ">>>)" },
};

TEST(test_short_names)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		short_name(cases[i].name, 100, &out);
		if (strcmp(out.buf, cases[i].want) != 0)
			ROW_FAIL(i, "'%s' → '%s'", cases[i].name, out.buf);
	}
}

TEST(test_width)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	short_name("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_MT128x224x64_MI16x16x1_SN_ISA942_WGM8", 40,
		   &out);
	assert_string_equal(out.buf, "Cijk_Alik_Bljk_B_BS_BH_MT128x224x64");
	strbuf_clear(&out);
	short_name("sm80_xmma_gemm_tn_tilesize64x64x8_stage3_warpsize1x2x1_ffma_execute", 45, &out);
	assert_string_equal(out.buf, "sm80_xmma_gemm_tn_tilesize64x64x8_stage3");
	strbuf_clear(&out);
	short_name("0123456789abcdefghijklmnopqrstuvwxyz", 20, &out);
	assert_string_equal(out.buf, "0123456789…rstuvwxyz");
	strbuf_clear(&out);
	short_name("ääääääääääääääääöööööööööööööööö", 20, &out);
	assert_string_equal(out.buf, "ääääääääää…ööööööööö");
	assert_int_equal(short_width(out.buf), 20);
	strbuf_clear(&out);
	short_name("0123456789abcdefghijklmnopqrstuvwxyz", 1, &out);
	assert_int_equal(short_width(out.buf), SHORT_NAME_LEAST);
}

/* Different names stay different, equal ones equal, in any order. */
TEST(test_unique)
{
	static const char *const names[] = {
		"void f<int>(a)",
		"void f<int>(b)",
		"void f<int>(a)",
		"g",
		"0123456789abcdefghij0123456789abcdefghij",
		"0123456789abcdefgh-j0123456789abcdefghij",
	};
	size_t nr = ARRAY_LEN(names);
	const char *back[ARRAY_LEN(names)];
	char **a = short_names(names, nr, 20), **b;

	for (size_t i = 0; i < nr; i++)
		back[i] = names[nr - 1 - i];
	b = short_names(back, nr, 20);
	for (size_t i = 0; i < nr; i++) {
		assert_string_equal(a[i], b[nr - 1 - i]);
		assert_true(short_width(a[i]) <= 20);
		for (size_t k = 0; k < nr; k++)
			assert_int_equal(strcmp(a[i], a[k]) == 0, strcmp(names[i], names[k]) == 0);
	}
	assert_string_equal(a[3], "g");
	assert_int_equal(strncmp(a[0], "f<int>~", 7), 0);
	/* a name that is what another one becomes */
	const char *made[] = { "void f<int>(a)", "void f<int>(b)", a[0], a[1] };
	char **c = short_names(made, 4, 20);

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(c[i], c[k]);
	short_names_free(c, 4);
	short_names_free(a, nr);
	short_names_free(b, nr);
}

static const struct {
	const char *name, *want; /* NULL: it stays */
} ranges[] = {
	{ "aten::mm, seq = 5, op_id = 77", "aten::mm" },
	{ "aten::mm, op_id = 77", "aten::mm" },
	{ "aten::mm, seq = 5, op_id = 77, sizes = [[3, 4]]", "aten::mm, sizes = [[3, 4]]" },
	{ "<built-in method apply of X object at 0x7f3210ab00>",
	  "<built-in method apply of X object at 0x*>" },
	{ "a 0x55d0 b 0X55D1", "a 0x* b 0x*" },
	{ "ProfilerStep#3", NULL },
	{ "nn.Module: Linear_0", NULL },
	{ "layer.12", NULL },
	{ "f()::{lambda()#1}", NULL },
	{ "flags 0x1f", NULL },
	{ "a0x55d0aa", NULL },
	{ "0x55d0aag", NULL },
	{ "x, seq = ", NULL },
	{ "x, seq = 5b", NULL },
	{ "x, seq = b5", NULL },
	{ ", seq = 5", NULL },
	{ "0x", NULL },
	{ "", NULL },
	{ "TSL:Thunk:#hlo_op=fusion.12#", "fusion.12" },
	{ "TSL:XlaPass:#name=algsimp,module=jit_f,program_id=1#", "XlaPass algsimp" },
	{ "XlaModule:#hlo_module=f.0x7f3210ab00#", "f.0x*" },
	{ "Thunk:#hlo_op=fusion.12", NULL },
};

TEST(test_range_names)
{
	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
		bool changed = range_name(ranges[i].name, strlen(ranges[i].name), &out);

		if (changed != !!ranges[i].want ||
		    strcmp(out.buf, ranges[i].want ? ranges[i].want : "") != 0)
			ROW_FAIL(i, "'%s' → '%s'", ranges[i].name, out.buf);
	}
}
