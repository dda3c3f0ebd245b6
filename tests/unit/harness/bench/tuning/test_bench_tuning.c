/* Tables of solutions: known answers, what is left out, and tables that no library would take. */
#include "../../../test.h"
#include "bench_rows.h"
#include "vendor.h"

#include <math.h>

#include "profrig/base/strbuf.h"
#include "profrig/bench/bench_tuning.h"

#define LT "hipblaslt"
#define LT_VERSION "hipBLASLt 1.0.1-a1b2c3"
#define ROC_VERSION "rocBLAS 5.0.0.abc"
#define SIZES " m=4096 n=32 k=1024"
#define HALF "gemm ta=T tb=N" SIZES " a=f16 b=f16 c=f16 d=f16 compute=f32"
#define COLUMNS \
	"transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b,ldc," \
	"stride_c,ldd,stride_d,a_type,b_type,c_type,d_type,compute_type,scaleA,scaleB,scaleC," \
	"scaleD,amaxD,activation_type,bias_vector,bias_type,rotating_buffer,hipblaslt-Gflops," \
	"hipblaslt-GB/s,us,solution_index,gcnArchName,CUs\n"

struct line {
	const char *backend, *version, *key, *solution;
	double mean;
	unsigned calls;
	const char *cache, *status, *device;
};

#define L(backend_, version_, key_, solution_, mean_, ...) \
	{ \
		.backend = backend_, .version = version_, .key = key_, .solution = solution_, \
		.mean = mean_, __VA_ARGS__ \
	}

static void table_put(const char *dir, const char *name, const struct line *l, size_t nr)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addstr(&text, BENCH_COLUMNS "\n");
	for (size_t i = 0; i < nr; i++, l++)
		strbuf_addf(&text,
			    "rocblas,text,%s,%s,%u,99,%.17g,,,,12.5,,,%s,,%s,%s,,1,%s,,,,,,,,,,,,,"
			    "%s,\n",
			    l->backend, l->device ? l->device : "MI300X", l->calls ? l->calls : 1,
			    l->mean, l->status ? l->status : "ok", l->key, l->version,
			    l->cache ? l->cache : "warm", l->solution);
	test_put(dir, name, text.buf);
}

struct chosen {
	struct bench_tables t;
	struct bench_tuning u;
	struct err err;
	int r;
};

static struct chosen choose(const char *dir, const struct line *l, size_t nr,
			    enum bench_tuning_form form)
{
	struct chosen c = { .t = BENCH_TABLES_INIT };

	CLEANUP(xfreep) char *text = NULL;

	table_put(dir, "p.csv", l, nr);
	text = test_get(dir, "p.csv");
	assert_int_equal(bench_tables_add(&c.t, "p.csv", text, strlen(text), NULL), 0);
	c.r = bench_tuning_choose(&c.t, form, &c.u, &c.err);
	return c;
}

static void chosen_release(struct chosen *c)
{
	bench_tuning_release(&c->u);
	bench_tables_release(&c->t);
}

/* Owned. */
static char *written(const struct chosen *c, const char *revision)
{
	struct bench_validators none = BENCH_VALIDATORS_INIT;
	char *text = NULL;
	size_t n;
	FILE *f = xmemstream(&text, &n);

	bench_tuning_write(&c->u, &none, revision, f);
	fclose(f);
	return text;
}

/* "N M reason;" for each. */
static const char *left(const struct chosen *c)
{
	static char buf[2048];
	size_t n = 0;

	buf[0] = 0;
	for (size_t i = 0; i < c->u.left.nr; i++)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%zu %llu %s;", c->u.left.v[i].keys,
				      (unsigned long long)c->u.left.v[i].calls,
				      c->u.left.v[i].reason);
	return buf;
}

TEST_IN(tunableop, dir)
{
	static const struct line lines[] = {
		L(LT, LT_VERSION, HALF, "4993", 12.5),
		L(LT, LT_VERSION, "gemm ta=N tb=T m=8 n=9 k=7 a=f32 lda=10 batch=12", "0", 1000),
		L(LT, LT_VERSION, "gemm ta=N tb=N m=8 n=9 k=7 a=bf16 compute=f32", "7", 0.125),
		L(LT, LT_VERSION, "gemm ta=T tb=N m=8 n=9 k=7 a=f32 compute=tf32 ldc=16",
		  "2147483647", 3),
		L(LT, LT_VERSION, "dot n=9 type=f32", "5", 3),
	};
	CLEANUP(chosen_release)
	struct chosen c = choose(dir, lines, ARRAY_LEN(lines), BENCH_TUNABLEOP);
	CLEANUP(xfreep) char *text = written(&c, NULL);

	assert_string_equal(
		text, "Validator,HIPBLASLT_VERSION,1.0.1-a1b2c3\n"
		      "GemmTunableOp_Half_TN,tn_4096_32_1024_ld_1024_1024_4096,"
		      "Gemm_Hipblaslt_4993,0.0125\n"
		      "GemmStridedBatchedTunableOp_float_NT,nt_8_9_7_B_12_ld_10_9_8,"
		      "Gemm_Hipblaslt_0,1\n"
		      "GemmTunableOp_BFloat16_NN,nn_8_9_7_ld_8_7_8,Gemm_Hipblaslt_7,0.000125\n"
		      "GemmTunableOp_tf32_TN,tn_8_9_7_ld_7_7_16,Gemm_Hipblaslt_2147483647,0.003\n");
	assert_string_equal(left(&c), "");
}

TEST_IN(hipblaslt_file, dir)
{
	static const struct line lines[] = {
		L(LT, LT_VERSION, HALF " beta=1", "4993", 12.5),
		L("hipblaslt-bench", "1000-a1b2c3",
		  "gemm ta=N tb=N m=8 n=9 k=7 a=bf16 compute=f32 batch=3 epilogue=gelu+bias "
		  "bias_type=f32",
		  "7", 2),
		L("/opt/x/hipblaslt-bench", "1000-a1b2c3",
		  "gemm ta=N tb=N m=8 n=9 k=7 a=f32 compute=tf32", "8", 2),
	};
	CLEANUP(chosen_release)
	struct chosen c = choose(dir, lines, ARRAY_LEN(lines), BENCH_HIPBLASLT_TUNING);
	CLEANUP(xfreep) char *text = NULL;

	assert_string_equal(c.u.revision, "a1b2c3");
	text = written(&c, c.u.revision);
	assert_string_equal(
		text,
		"Git Version: a1b2c3\n" COLUMNS
		"T,N,0,1,4096,32,1024,1,1024,4194304,1,1024,32768,4096,131072,4096,131072,"
		"f16_r,f16_r,f16_r,f16_r,f32_r,0,0,0,0,0,none,0,,,12.5,,12.5,4993,,0\n" COLUMNS
		"N,N,0,3,8,9,7,1,8,56,0,7,63,8,72,8,72,bf16_r,bf16_r,bf16_r,bf16_r,f32_r,"
		"0,0,0,0,0,gelu,1,f32_r,,12.5,,2,7,,0\n" COLUMNS
		"N,N,0,1,8,9,7,1,8,56,0,7,63,8,72,8,72,f32_r,f32_r,f32_r,f32_r,xf32_r,"
		"0,0,0,0,0,none,0,,,12.5,,2,8,,0\n");
	assert_string_equal(left(&c), "");
}

/* What its readers rely on: 37 values, of which getline does not lose the last; the number is the
 * 35th, and eleven names stand in this order. */
TEST_IN(hipblaslt_readers, dir)
{
	static const char *const order[] = {
		"transA", "transB",       "batch_count",   "m", "n", "k", "a_type", "b_type",
		"c_type", "compute_type", "solution_index"
	};
	static const struct line lines[] = { L(LT, LT_VERSION, HALF, "4993", 12.5) };
	CLEANUP(chosen_release)
	struct chosen c = choose(dir, lines, 1, BENCH_HIPBLASLT_TUNING);
	CLEANUP(xfreep) char *text = written(&c, "x");
	const char *at_line = text;
	struct vendor_cell line;
	struct vendor_cells names, values;
	size_t at = 0;

	assert_true(vendor_line(&at_line, &line) && vendor_cell_is(line, "Git Version: x"));
	assert_true(vendor_line(&at_line, &line));
	vendor_split(line, ',', &names);
	assert_true(vendor_line(&at_line, &line));
	vendor_split(line, ',', &values);
	assert_int_equal(names.nr, 37);
	assert_int_equal(values.nr, 37);
	assert_true(vendor_cell_is(values.v[34], "4993"));
	assert_true(values.v[36].n > 0);
	for (size_t i = 0; i < names.nr && at < ARRAY_LEN(order); i++)
		at += vendor_cell_is(names.v[i], order[at]);
	assert_int_equal(at, ARRAY_LEN(order));
}

/* The fastest row of the nearest cache mode, of the libraries that count; the last of its place. */
TEST_IN(fastest, dir)
{
	static const struct line lines[] = {
		L(LT, LT_VERSION, HALF, "1", 9, .calls = 1, .cache = "warm"),
		L(LT, LT_VERSION, HALF, "2", 20, .calls = 1, .cache = "weights-cold"),
		L("/x/libhipblaslt.so", LT_VERSION, HALF, "3", 19, .calls = 1,
		  .cache = "weights-cold"),
		L(LT, LT_VERSION, HALF, "4", 10, .calls = 1, .cache = "cold"),
		L("rocblas", ROC_VERSION, HALF, "", 21, .calls = 1, .cache = "weights-cold"),
		L("openblas-pthread", "OpenBLAS 0.3", HALF, "", 1, .calls = 1,
		  .cache = "weights-cold"),
		L("/x/libhipblaslt.so", LT_VERSION, HALF, "6", 0.1, .calls = 1,
		  .cache = "weights-cold", .status = "wrong"),
		L("/x/libhipblaslt.so", LT_VERSION, HALF, "5", 18, .calls = 1,
		  .cache = "weights-cold"),
	};

	for (size_t n = 1; n <= ARRAY_LEN(lines); n++) {
		static const int32_t want[] = { 1, 2, 3, 3, 3, 3, 2, 5 };
		CLEANUP(chosen_release)
		struct chosen c = choose(dir, lines, n, BENCH_TUNABLEOP);

		assert_int_equal(c.u.lines.nr, 1);
		if (c.u.lines.v[0].row->solution != want[n - 1])
			ROW_FAIL(n, "%d", c.u.lines.v[0].row->solution);
	}
}

/* Keys that differ in what a form has no place for: the one with most time counts, also when it has
 * no number. */
TEST_IN(one_line, dir)
{
	struct line lines[] = {
		L(LT, LT_VERSION, HALF, "1", 10, .calls = 5),
		L(LT, LT_VERSION, HALF " beta=1", "2", 11, .calls = 50),
		L(LT, LT_VERSION, HALF " alpha=2", "3", 12, .calls = 7),
		L(LT, LT_VERSION, HALF " lda=2048", "4", 12, .calls = 3),
	};
	static const char heavier[] = "another key takes more time in the same line";

	for (int form = BENCH_TUNABLEOP; form <= BENCH_HIPBLASLT_TUNING; form++) {
		CLEANUP(chosen_release)
		struct chosen c =
			choose(dir, lines, ARRAY_LEN(lines), (enum bench_tuning_form)form);

		assert_int_equal(c.u.lines.v[0].row->solution, 2);
		assert_string_equal(left(&c), form == BENCH_TUNABLEOP ? textf("2 12 %s;", heavier)
								      : textf("3 15 %s;", heavier));
		assert_int_equal(c.u.lines.nr, form == BENCH_TUNABLEOP ? 2 : 1);
	}
	lines[1].solution = "";
	CLEANUP(chosen_release)
	struct chosen c = choose(dir, lines, 3, BENCH_TUNABLEOP);

	assert_int_equal(c.u.lines.nr, 0);
	assert_string_equal(
		left(&c),
		textf("2 12 %s;1 50 hipBLASLt is fastest in rows without a number;", heavier));
}

TEST_IN(left_out, dir)
{
	static const struct {
		struct line line;
		const char *tunableop, *hipblaslt; /* "" it has a line */
	} cases[] = LIST(
		{ L("rocblas", ROC_VERSION, HALF, "", 5),
		  "rocBLAS is fastest, by its own choice, which has no number",
		  "hipBLASLt has no time" },
		{ L("/opt/x/rocblas-bench", "5.0.0", HALF, "", 5),
		  "rocBLAS is fastest, by its own choice, which has no number",
		  "hipBLASLt has no time" },
		/* a BLAS has no such numbers: the cell is ignored */
		{ L("rocblas", ROC_VERSION, HALF, "12", 5),
		  "rocBLAS is fastest, by its own choice, which has no number",
		  "hipBLASLt has no time" },
		{ L("cublas", "cuBLAS 13", HALF, "12", 5),
		  "neither rocBLAS nor hipBLASLt has a time", "hipBLASLt has no time" },
		{ L(LT, LT_VERSION, HALF, "", 5), "hipBLASLt is fastest in rows without a number",
		  "hipBLASLt is fastest in rows without a number" },
		{ L(LT, LT_VERSION, HALF, "5", 5, .calls = 3, .cache = "warm", .status = "wrong"),
		  "neither rocBLAS nor hipBLASLt has a time", "hipBLASLt has no time" },
		{ L(LT, LT_VERSION, HALF, "0", 5), "", "older hipBLASLt takes no number 0" },
		{ L(LT, LT_VERSION, "gemm ta=N tb=N m=8 n=8 k=8 a=f64", "5", 5),
		  "not each PyTorch offers hipBLASLt for them", "" },
		{ L(LT, LT_VERSION, "gemm ta=T tb=T m=8 n=8 k=8 a=f32", "5", 5),
		  "not each PyTorch offers hipBLASLt for them", "" },
		{ L(LT, LT_VERSION, "gemm ta=N tb=N m=8 n=8 k=8 a=f32c", "5", 5),
		  "not each PyTorch offers hipBLASLt for them", "hipBLASLt has no such types" },
		{ L(LT, LT_VERSION, "gemm ta=N tb=N m=8 n=8 k=8 a=f16 compute=f16", "5", 5),
		  "not each PyTorch offers hipBLASLt for them", "hipBLASLt has no such types" },
		{ L(LT, LT_VERSION, HALF " compute_mode=fast_16f", "5", 5),
		  "not each PyTorch offers hipBLASLt for them", "" },
		{ L(LT, LT_VERSION, "gemm ta=N tb=N m=8 n=8 k=8 a=f16 c=f32 compute=f32", "5", 5),
		  "TunableOp has no products of different types", "" },
		{ L(LT, LT_VERSION, HALF " epilogue=relu", "5", 5),
		  "TunableOp has other operators for epilogues and scales", "" },
		{ L(LT, LT_VERSION, HALF " scale_a=1", "5", 5),
		  "TunableOp has other operators for epilogues and scales", "" },
		{ L(LT, LT_VERSION, HALF " ldd=5000", "5", 5),
		  "PyTorch's products have one matrix for C and D", "" },
		{ L(LT, LT_VERSION, "gemm ta=C tb=N m=8 n=8 k=8 a=f32", "5", 5),
		  "PyTorch makes no conjugate transposition of real matrices", "" },
		{ L(LT, LT_VERSION, HALF " batch=2 by=pointers", "5", 5),
		  "TunableOp has no batches of pointers",
		  "a tuning file has no batches of pointers" },
		{ L(LT, LT_VERSION, HALF " strange=1", "5", 5),
		  "their keys are damaged or have words without a place",
		  "their keys are damaged or have words without a place" },
		{ L(LT, LT_VERSION, "gemm ta=N tb=N m=8 n=-8 k=8 a=f32", "5", 5),
		  "their keys are damaged or have words without a place",
		  "their keys are damaged or have words without a place" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int form = BENCH_TUNABLEOP; form <= BENCH_HIPBLASLT_TUNING; form++) {
			const char *why =
				form == BENCH_TUNABLEOP ? cases[i].tunableop : cases[i].hipblaslt;
			CLEANUP(chosen_release)
			struct chosen c =
				choose(dir, &cases[i].line, 1, (enum bench_tuning_form)form);

			if (c.u.lines.nr != !*why ||
			    strcmp(left(&c),
				   *why ? textf("1 %u %s;", cases[i].line.calls ? 3 : 1, why)
					: "") != 0)
				ROW_FAIL(i, "form %d: %zu lines, '%s'", form, c.u.lines.nr,
					 left(&c));
		}
}

/* A number of one build of the library, or one device, is none of another. */
TEST_IN(two_builds, dir)
{
	static const char other[] = "gemm ta=N tb=N m=8 n=8 k=8 a=f32";
	static const struct {
		struct line line;
		bool refused;
	} cases[] = LIST({ L(LT, LT_VERSION, other, "5", 5), false },
			 { L(LT, "hipBLASLt 1.0.1-beef", other, "5", 5), true },
			 { L(LT, "hipBLASLt 1.0.2", other, "5", 5), true },
			 { L("/x/libhipblaslt.so", "hipBLASLt 1.0.2", other, "5", 5), true },
			 { L(LT, LT_VERSION, other, "5", 5, .calls = 1, .device = "MI250X"), true },
			 { L("hipblaslt-bench", "100001-a1b2c3", other, "5", 5, .calls = 1,
			     .device = "AMD GPU gfx942"),
			   false },
			 { L("hipblaslt-bench", "100001-beef", other, "5", 5), true },
			 { L("hipblaslt-bench", "100001", other, "5", 5), false },
			 /* what has no line does not matter */
			 { L(LT, "hipBLASLt 1.0.2", other, "", 5), false },
			 { L("rocblas", ROC_VERSION, other, "", 5), false });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line lines[] = { L(LT, LT_VERSION, HALF, "4", 5), cases[i].line };
		CLEANUP(chosen_release)
		struct chosen c = choose(dir, lines, 2, BENCH_TUNABLEOP);

		if ((c.r == -EINVAL) != cases[i].refused)
			ROW_FAIL(i, "%d %s", c.r, c.err.msg);
		if (c.r < 0)
			assert_has(c.err.msg, "cannot stand in one table");
	}
}

TEST(revisions)
{
	char longest[BENCH_REVISION_MAX + 2];

	memset(longest, 'a', sizeof(longest));
	longest[BENCH_REVISION_MAX + 1] = 0;
	assert_false(bench_revision_is_one(longest));
	longest[BENCH_REVISION_MAX] = 0;
	assert_true(bench_revision_is_one(longest));
	assert_true(bench_revision_is_one("a9c5cc7-dirty"));
	assert_false(bench_revision_is_one(""));
	assert_false(bench_revision_is_one("a b"));
	assert_false(bench_revision_is_one("a\nb"));
	assert_false(bench_revision_is_one("a,b"));
}

TEST_IN(validators, dir)
{
	static const char good[] =
		"Validator,PT_VERSION,2.6.0\r\nValidator,ROCM_VERSION,6.0.0.0-12969-1544e39\n"
		"Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-\n"
		"GemmTunableOp_float_NT,nt_25088_4096_64,Gemm_Hipblaslt_1219,1.262\n"
		"Validator,HIPBLASLT_VERSION,0.6.0-a9c5cc7";
	static const struct line lines[] = { L(LT, LT_VERSION, HALF, "4993", 12.5) };
	CLEANUP(chosen_release)
	struct chosen c = choose(dir, lines, 1, BENCH_TUNABLEOP);
	struct bench_validators v;
	struct err err = ERR_INIT;
	char *text = NULL;
	size_t n;
	FILE *f;

	test_put(dir, "v.csv", good);
	assert_int_equal(bench_validators_read(in_dir(dir, "v.csv"), &v, &err), 0);
	assert_string_equal(bench_validators_find(&v, "PT_VERSION"), "2.6.0");
	assert_null(bench_validators_find(&v, "PT"));
	f = xmemstream(&text, &n);
	bench_tuning_write(&c.u, &v, NULL, f);
	fclose(f);
	assert_string_equal(text, "Validator,PT_VERSION,2.6.0\n"
				  "Validator,ROCM_VERSION,6.0.0.0-12969-1544e39\n"
				  "Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-\n"
				  "Validator,HIPBLASLT_VERSION,0.6.0-a9c5cc7\n"
				  "GemmTunableOp_Half_TN,tn_4096_32_1024_ld_1024_1024_4096,"
				  "Gemm_Hipblaslt_4993,0.0125\n");
	free(text);
	bench_validators_release(&v);
}

TEST_IN(hostile_validators, dir)
{
	static const struct {
		const char *text, *want;
	} cases[] = LIST(
		{ "", "no line Validator" }, { "GemmTunableOp,x,y,1\n", "no line" },
		{ "Validator,\n", "line 1 is no" }, { "Validator,A\n", "line 1 is no" },
		{ "Validator,A,\n", "line 1 is no" }, { "\nValidator,,x\n", "line 2 is no" },
		{ "Validator,A,x,y\n", "line 1 is no" }, { "Validator,A B,x\n", "line 1 is no" },
		{ "Validator,A,=x\n", "line 1 is no" },
		{ "Validator,A,x\x1b[31m\n", "line 1 is no" },
		{ "Validator,A,\"x\ny\"\n", "line 1 is no" },
		{ "Validator,A,x\rValidator,B,y\n", "line 1 is no" },
		{ "Validator,A,x\nValidator,A,x\n", "line 2: the validator A stands" });
	CLEANUP(strbuf_release) struct strbuf many = STRBUF_INIT;
	struct bench_validators v;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;

		test_put(dir, "v.csv", cases[i].text);
		if (bench_validators_read(in_dir(dir, "v.csv"), &v, &err) != -EINVAL ||
		    !strstr(err.msg, cases[i].want) || v.v.nr)
			ROW_FAIL(i, "%s", err.msg);
	}
	for (int i = 0; i <= BENCH_VALIDATORS_MAX; i++)
		strbuf_addf(&many, "Validator,A%d,x\n", i);
	test_put(dir, "v.csv", many.buf);
	assert_int_equal(bench_validators_read(in_dir(dir, "v.csv"), &v, NULL), -EINVAL);
	assert_int_equal(bench_validators_read(in_dir(dir, "no.csv"), &v, NULL), -ENOENT);
	assert_int_equal(bench_validators_read(dir, &v, NULL), -EISDIR);
}

/* The column of the tables. */
TEST_IN(numbers, dir)
{
	static const struct {
		const char *text;
		int32_t want; /* -2: the row is damaged */
	} cases[] = LIST({ "", -1 }, { "0", 0 }, { "4993", 4993 }, { "2147483647", INT32_MAX },
			 { "2147483648", -2 }, { "-1", -2 }, { "1e9", -2 }, { "12x", -2 },
			 { "'=1", -2 }, { "=1+1", -2 }, { "Gemm_Hipblaslt_7", -2 },
			 { "99999999999999999999999", -2 }, { " 7", -2 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line l = L(LT, LT_VERSION, HALF, cases[i].text, 5);
		CLEANUP(chosen_release) struct chosen c = choose(dir, &l, 1, BENCH_TUNABLEOP);
		bool bad = cases[i].want == -2;

		if (c.t.files.v[0].bad != bad || c.t.rows.nr == bad ||
		    (!bad && c.t.rows.v[0].solution != cases[i].want))
			ROW_FAIL(i, "%zu rows, %s", c.t.rows.nr, c.t.files.v[0].first_bad);
		if (bad)
			assert_has(c.t.files.v[0].first_bad, "line 2: solution");
	}
}
