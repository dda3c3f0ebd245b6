/*
 * Compilations: the seventh and eighth acceptance case of nsys-jax, ranges that are odd, and on
 * random threads the law that each moment of a compilation counts once.
 */
#include "compile_tree.h"
#include "dice.h"
#include "stats_test.h"

#include "profrig/model/warnings.h"

#define M ",module=jit_f,program_id="

struct compiled {
	int64_t thread, start, end;
	const char *name;
};

static struct model *compilation(const struct compiled *v, size_t n)
{
	struct maker k = make_begin();

	for (size_t i = 0; i < n; i++)
		make_call(&k, make_thread(&k, 1, v[i].thread, 0, NULL), v[i].start, v[i].end,
			  v[i].name);
	return make_end(&k);
}

#define COMPILATION(...) \
	compilation((const struct compiled[]){ __VA_ARGS__ }, \
		    sizeof((const struct compiled[]){ __VA_ARGS__ }) / sizeof(struct compiled))

static void expect_compile(struct model *owned, const char *ranges, const char *phases)
{
	CLEANUP(model_freep) struct model *m = owned;
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_compile);

	expect_table(table_set_find(&ts, "compile"), ranges);
	if (phases)
		expect_table(table_set_find(&ts, "compile_phases"), phases);
}

/* Case 7: workers from 30 to 70, 80 of work: B 30, C 10 of 40. */
TEST(parallel_compilation)
{
	expect_compile(COMPILATION({ 1, 0, 100, "TSL:XlaCompile:#module=jit_f,program_id=1#" },
				   { 1, 0, 20, "TSL:XlaPass:#name=A" M "1#" },
				   { 1, 80, 90, "TSL:XlaPass:#name=D" M "1#" },
				   { 11, 30, 50, "TSL:XlaPass:#name=B" M "1#" },
				   { 11, 50, 70, "TSL:XlaPass:#name=C" M "1#" },
				   { 12, 30, 70, "TSL:XlaPass:#name=B" M "1#" }),
		       "module name ranges given total_ns self_ns share\n"
		       "jit_f 'XlaCompile jit_f' 1 0 100 30 0.3\n"
		       "jit_f 'XlaPass B' 2 2 60 30 0.3\n"
		       "jit_f 'XlaPass A' 1 0 20 20 0.2\n"
		       "jit_f 'XlaPass C' 1 1 20 10 0.1\n"
		       "jit_f 'XlaPass D' 1 0 10 10 0.1\n",
		       NULL);
}

/* Case 8: X 100 with M 60 with K 50, and Y 5 beside them. */
TEST(collapsed)
{
	CLEANUP(model_freep)
	struct model *m = COMPILATION({ 1, 0, 100, "XlaCompile:#module=X#" },
				      { 1, 10, 70, "XlaPass:#name=M,module=X#" },
				      { 1, 20, 70, "XlaPass:#name=K,module=X#" },
				      { 1, 200, 205, "XlaCompile:#module=Y#" });
	static const int64_t before[] = { 40, 10, 50, 5 }, after[] = { 40, 60, 0, 5 };
	struct compile_tree ct;

	compile_tree_make(m, &ct);
	assert_int_equal(ct.v.nr, 4);
	assert_int_equal(ct.total_ns, 105);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ct.v.v[i].self_ns, before[i]);
	compile_tree_collapse(&ct, 1);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ct.v.v[i].self_ns, after[i]);
	compile_tree_release(&ct);
}

/* Defect 8 of nsys-jax: ids of programs in the names keep equal passes apart. */
TEST(passes_of_several_programs)
{
	expect_compile(COMPILATION({ 1, 0, 100, "XlaCompile:#module=jit_f,program_id=1#" },
				   { 1, 10, 20, "XlaPass:#name=algsimp" M "1#" },
				   { 1, 20, 40, "XlaPass:#name=algsimp" M "2#" },
				   { 1, 50, 90, "XlaCompileBackend:#module=jit_f,program_id=1#" },
				   { 1, 60, 70, "XlaPass:#name=algsimp" M "1#" },
				   { 1, 80, 85, "a range of no compiler" }),
		       "module name ranges self_ns\n"
		       "jit_f 'XlaPass algsimp' 3 40\n"
		       "jit_f 'XlaCompile jit_f' 1 30\n"
		       "jit_f XlaCompileBackend 1 30\n",
		       "module phase ranges self_ns\n"
		       "jit_f XlaCompileBackend 1 40\n"
		       "jit_f 'XlaCompile jit_f' 1 30\n"
		       "jit_f 'XlaPass algsimp' 2 30\n");
}

/* Below the deepest range of the main thread; what that does meanwhile is not taken from it. */
TEST(launchers)
{
	expect_compile(COMPILATION({ 1, 0, 100, "XlaCompile:#module=f#" },
				   { 1, 10, 60, "XlaPass:#name=outer,module=f#" },
				   { 1, 20, 30, "XlaPass:#name=inner,module=f#" },
				   { 2, 15, 45, "XlaPass:#name=given,module=f#" },
				   { 2, 15, 25, "XlaPass:#name=below,module=f#" },
				   { 3, 70, 80, "XlaCompile:#module=g#" },
				   { 3, 150, 160, "XlaPass:#name=outside,module=f#" }),
		       "module name ranges given total_ns self_ns\n"
		       "f 'XlaCompile f' 1 0 100 40\n"
		       "f 'XlaPass outer' 1 0 50 20\n"
		       "f 'XlaPass given' 1 1 30 13\n"
		       "f 'XlaCompile g' 1 1 10 10\n"
		       "f 'XlaPass inner' 1 0 10 10\n"
		       "f 'XlaPass below' 1 0 10 7\n",
		       NULL);
}

TEST(odd_ranges)
{
	CLEANUP(model_freep)
	struct model *m = COMPILATION({ 1, 0, 100, "XlaCompile:#module=f#" },
				      { 1, 90, 130, "XlaPass:#name=outlives,module=f#" },
				      { 1, 95, 95, "XlaPass:#name=empty,module=f#" },
				      { 2, 50, 50, "XlaPass:#name=empty,module=f#" },
				      { 2, 90, 101, "XlaPass:#name=late,module=f#" });
	struct compile_tree ct;
	int64_t sum = 0;

	compile_tree_make(m, &ct);
	for (size_t i = 0; i < ct.v.nr; i++)
		sum += ct.v.v[i].self_ns;
	assert_int_equal(sum, 100);
	assert_int_equal(ct.cut, 1);
	assert_int_equal(ct.outside, 1);
	compile_tree_release(&ct);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_compile);
	assert_int_equal(m->warnings.v[m->warnings.nr - 1].count, 1);
	assert_string_equal(m->warnings.v[m->warnings.nr - 1].code, W_COMPILE_OUTSIDE);
}

TEST(without_compilations)
{
	CLEANUP(model_freep)
	struct model *m = COMPILATION({ 1, 0, 100, "XlaPass:#name=a,module=f#" });
	struct analysis_opts o = { .workload_start_ns = 0 };
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	assert_int_equal(analysis_run(&analysis_compile, m, NULL, &o, &ts, NULL), ANALYSIS_SKIPPED);
}

TEST(moments_count_once)
{
	uint64_t given = 0;

	for (uint32_t seed = 1; seed <= 3000; seed++) {
		struct compiled v[24];
		char names[24][64];
		struct dice d = { seed };
		size_t n = 1 + below(&d, 24);
		struct compile_tree ct;
		int64_t sum = 0;

		for (size_t i = 0; i < n; i++) {
			int64_t start = below(&d, 60);

			snprintf(names[i], sizeof(names[i]),
				 below(&d, 3) ? "XlaPass:#name=p%zu,module=f#"
					      : "XlaCompile:#module=f%zu#",
				 i);
			v[i] = (struct compiled){ 1 + below(&d, 4), start, start + below(&d, 50),
						  names[i] };
		}
		CLEANUP(model_freep) struct model *m = compilation(v, n);
		compile_tree_make(m, &ct);
		for (size_t i = 0; i < ct.v.nr; i++) {
			const struct compile_range *r = &ct.v.v[i];

			assert_true(r->self_ns >= 0 && r->self_ns <= r->own_ns);
			assert_true((r->root == COMPILE_NONE) <= (r->self_ns == 0));
			sum += r->self_ns;
			given += r->given;
		}
		if (sum != ct.total_ns)
			fail_msg("seed %u: %lld of %lld", seed, (long long)sum,
				 (long long)ct.total_ns);
		compile_tree_release(&ct);
	}
	assert_true(given > 1000);
}
