/*
 * hipBLASLt, by HIPBLASLT_LOG_MASK (a sum of bits); a call may be told by both:
 *
 *	32  hipblaslt-bench --api_method c -m 48 -n 176 -k 1024 --lda 48 … --alpha 1.000000 --beta
 *	    0.000000 --transA N --transB T --batch_count 1 --scaleA 0 --scaleB 0  --a_type bf16_r …
 *	    --compute_type f32_r --algo_method index --solution_index 218160 --activation_type none
 *	2   [date][HIPBLASLT][pid][Trace][rocblaslt_matmul] …	(library_matmul.h)
 *	16  [date][HIPBLASLT][pid][Api][…]	addresses only; no call
 *
 * In a list that a shell ran, options that have a default may be missing (library_defaults.h;
 * -r f16_r, --compute_type f32_r), and comments are no calls.
 *
 * Blanks may be double. Options without a value: --bias_vector, --use_e, --gradient,
 * --scaleAlpha_vector, --grouped_gemm, and --scaleA of early 2024. --scaleA is s or v in 6.3, 0 to
 * 3 in 7: none, one factor, a vector, blocks. A grouped product repeats the options of sizes, one
 * of each for each product; the options that all share follow.
 *
 * The kernel (--solution_index), and what the benchmark measures, are not of the configuration. The
 * type of a bias or of auxiliary data is, where there is such. The epilogue is written as by the
 * trace: gelu+aux+bias; of a gradient dgelu+bgrad.
 */
#include "library_defaults.h"
#include "library_matmul.h"
#include "library_words.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define RUN_OPTIONS \
	"--api_method|--algo_method|--solution_index|--requested_solution|" \
	"--requested_solution_num|-i|--iters|-j|--cold_iters|--rotating|--device|--" \
	"initialization|" \
	"-v|--verify|--unit_check|--norm_check|--use_gpu_timer|--flush|--print_kernel_info|" \
	"--any_stride|--workspace|--max_workspace_bytes|--splitk|--wgm|--log_function_name|" \
	"--function_filter|--skip_slow_solution_ratio|--HMM|-f|--function|--c_equal_d|--timing|" \
	"--verbose|--print_solution_found|--print_info|--use_user_args|--tuning_file|--sleep|" \
	"--allclose_check|--bench_data_type|--cpu_cores"

/* ---- options ---- */

static bool flag_is_set(struct library_words *w, const char *name)
{
	const struct text_slice *v = words_get(w, name, NULL);

	return v && !slice_is(*v, "0");
}

static bool number_copy(const struct text_slice *v, char to[32])
{
	char text[40];
	double d;

	if (num_f64(v->p, v->n, &d) < 0 || num_fmt_f64(text, d) >= 32)
		return false;
	memcpy(to, text, strlen(text) + 1);
	return true;
}

static bool scalar_read(struct library_words *w, const char *name, char to[32])
{
	const struct text_slice *v = words_get(w, name, NULL);

	return !v || number_copy(v, to);
}

/* The benchmark's default is N. */
static bool trans_read(struct library_words *w, const char *name, char *ret)
{
	const struct text_slice *v = words_get(w, name, NULL);

	*ret = v && v->n == 1 ? v->p[0] : 'N';
	return !v || (v->n == 1 && strchr("NTCntc", *ret));
}

/* false: there is one, and it is not known. */
static bool type_read(struct library_words *w, const char *name, const struct element_type **ret)
{
	const struct text_slice *v = words_get(w, name, NULL);

	if (!v)
		return true;
	*ret = element_type(v->p, v->n);
	return *ret != NULL;
}

/* A line without any type has the benchmark's defaults: f16, computed in f32. A line with some is
 * one that the library has logged, with all of them: it has lost the others, which are unknown. */
static void types_default(const struct element_type *all, struct gemm *g)
{
	if (g->a != all || g->b != all || g->c != all || g->d != all)
		return;
	if (!all)
		g->a = g->b = g->c = g->d = element_type("f16", 3);
	if (!g->compute)
		g->compute = element_type("f32", 3);
}

static bool types_read(struct library_words *w, struct matmul *m)
{
	const struct text_slice *v = words_get(w, "--compute_type", NULL);
	const struct element_type *all = NULL;
	struct gemm *g = &m->g;

	if (!type_read(w, "-r", &all) || !type_read(w, "--precision", &all))
		return false;
	g->a = g->b = g->c = g->d = all;
	if (v) {
		g->compute = compute_type(*v, &m->mode);
		if (!g->compute)
			return false;
	}
	if (!type_read(w, "--a_type", &g->a) || !type_read(w, "--b_type", &g->b) ||
	    !type_read(w, "--c_type", &g->c) || !type_read(w, "--d_type", &g->d) ||
	    !type_read(w, "--scale_type", &m->scale_type))
		return false;
	/* the library begins a line so, and writes all types behind the sizes: they are lost */
	if (!g->a && !g->b && !g->c && !g->d && words_get(w, "--api_method", NULL))
		return false;
	types_default(all, g);
	return true;
}

/* --scaleA of all versions: "0", none; "1" or "s", one factor; "2" or "v", a vector. */
static void scales_read(struct library_words *w, struct matmul *m)
{
	static const char *const names[] = { "--scaleA", "--scaleB", "--scaleC", "--scaleD" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct text_slice *v = words_get(w, names[i], NULL);
		size_t n = v && v->n < sizeof(m->scale[i]) ? v->n : sizeof(m->scale[i]) - 1;

		if (!v || slice_is(*v, "0"))
			continue;
		if (v->n == 0 || slice_is(*v, "s"))
			memcpy(m->scale[i], "1", 2);
		else if (slice_is(*v, "v"))
			memcpy(m->scale[i], "2", 2);
		else
			memcpy(m->scale[i], v->p, n);
	}
}

static void word_take(struct library_words *w, struct matmul *m, const char *option,
		      const char *name, const char *usual)
{
	const struct text_slice *v = words_get(w, option, NULL);

	if (v && !slice_is(*v, usual))
		matmul_more(m, "", (struct text_slice){ name, strlen(name) }, *v);
}

/* Activation, auxiliary data and bias; what describes one that is not there means nothing. */
static void epilogue_read(struct library_words *w, struct matmul *m)
{
	const struct text_slice *v = words_get(w, "--activation_type", NULL);
	bool active = v && v->n > 0 && !slice_is(*v, "none");
	bool bias = flag_is_set(w, "--bias_vector"), gradient = flag_is_set(w, "--gradient");
	bool aux = flag_is_set(w, "--use_e");
	char *to = m->g.epilogue;
	size_t size = sizeof(m->g.epilogue);

	if (active)
		snprintf(to, size, "%s%.*s", gradient ? "d" : "", (int)(v->n < 32 ? v->n : 32),
			 v->p);
	if (aux && !gradient)
		snprintf(to + strlen(to), size - strlen(to), "%saux", *to ? "+" : "");
	if (bias)
		snprintf(to + strlen(to), size - strlen(to), "%s%s", *to ? "+" : "",
			 gradient ? "bgrad" : "bias");
	if (!active)
		words_ignore(w, "--activation_arg1|--activation_arg2");
	if (bias) {
		word_take(w, m, "--bias_type", "bias_type", "");
		word_take(w, m, "--bias_source", "bias_source", "d");
	}
	if (aux)
		word_take(w, m, "--aux_type", "aux_type", "");
	words_ignore(w, "--bias_type|--bias_source|--aux_type");
}

/* What is left of the options is of the configuration: nothing that is logged gets lost. */
static void options_append(struct library_words *w, struct matmul *m)
{
	const struct library_option *rest[WORDS_MAX];
	size_t nr;

	words_ignore(w, RUN_OPTIONS);
	nr = words_rest(w, rest);
	for (size_t i = 0; i < nr; i++) {
		struct text_slice name = rest[i]->name, v = rest[i]->value;

		while (name.n > 1 && *name.p == '-')
			name.p++, name.n--;
		matmul_more(m, "", name, v.n ? v : (struct text_slice){ "1", 1 });
	}
}

/* ---- sizes ---- */

/* The options of one product; a group has one of each for each. */
/* clang-format off */
static const struct { const char *name, *other, *key; size_t at; } sizes[] = {
#define SIZE(name, other, key, member) { name, other, key, offsetof(struct gemm, member) }
	SIZE("-m", "--sizem", "m", m), SIZE("-n", "--sizen", "n", n), SIZE("-k", "--sizek", "k", k),
	SIZE("--lda", NULL, "lda", lda), SIZE("--ldb", NULL, "ldb", ldb),
	SIZE("--ldc", NULL, "ldc", ldc), SIZE("--ldd", NULL, "ldd", ldd),
	SIZE("--stride_a", NULL, "stride_a", stride_a),
	SIZE("--stride_b", NULL, "stride_b", stride_b),
	SIZE("--stride_c", NULL, "stride_c", stride_c),
	SIZE("--stride_d", NULL, "stride_d", stride_d),
#undef SIZE
};
/* clang-format on */

static bool option_is(const struct library_option *o, size_t size)
{
	return slice_is(o->name, sizes[size].name) ||
	       (sizes[size].other && slice_is(o->name, sizes[size].other));
}

static bool size_read(struct gemm *g, size_t size, struct text_slice v)
{
	return num_i64(v.p, v.n, (int64_t *)(void *)((char *)g + sizes[size].at)) == 0;
}

static bool product_sizes(struct library_words *w, struct gemm *g)
{
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		const struct text_slice *v = words_get(w, sizes[i].name, sizes[i].other);

		if (v && !size_read(g, i, *v))
			return false;
	}
	return words_int(w, "--batch_count", NULL, &g->batch) >= 0;
}

/* Work of one product of a group, and the part of the common facts. */
static enum record_is group_product(struct library_words *w, const struct matmul *m, size_t nr,
				    struct library_key *one)
{
	struct matmul x = *m;
	size_t found;

	x.more = (struct strbuf)STRBUF_INIT;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		found = 0;
		for (size_t o = 0; o < w->nr; o++)
			if (option_is(&w->v[o], i) && found++ == nr &&
			    !size_read(&x.g, i, w->v[o].value))
				return RECORD_TORN;
	}
	gemm_defaults(&x.g);
	return matmul_key(&x, "grouped_matmul", one);
}

/* false: an option does not stand there once for each product, or never. */
static bool group_is_whole(struct library_words *w, size_t *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		size_t found = 0;

		for (size_t o = 0; o < w->nr; o++)
			found += option_is(&w->v[o], i);
		if (i == 0)
			*ret = found;
		if (found != *ret && (i < 3 || found > 0))
			return false;
	}
	return *ret > 0;
}

static void group_list(struct library_words *w, struct library_key *k, size_t size)
{
	bool first = true;

	for (size_t o = 0; o < w->nr; o++) {
		if (!option_is(&w->v[o], size))
			continue;
		if (first)
			strbuf_addf(&k->text, " %s=", sizes[size].key);
		else
			strbuf_addch(&k->text, ',');
		strbuf_add(&k->text, w->v[o].value.p, w->v[o].value.n);
		w->v[o].used = true;
		first = false;
	}
}

/* Key: that of the first product, then the sizes of all. */
static enum record_is group_key(struct library_words *w, struct matmul *m, struct library_key *k)
{
	struct library_key one;
	enum record_is is = RECORD_CALL;
	amount flops = 0, bytes = 0;
	size_t nr = 0;

	if (!group_is_whole(w, &nr))
		return RECORD_TORN;
	key_init(&one);
	for (size_t i = 0; i < nr && is == RECORD_CALL; i++) {
		struct library_key *to = i == 0 ? k : &one;

		key_clear(&one);
		is = group_product(w, m, i, to);
		flops += to->flops;
		bytes += to->bytes;
		if (i > 0 && is == RECORD_CALL)
			strbuf_add(&k->common, one.common.buf, one.common.len);
		if (is == RECORD_BAD)
			memcpy(k->why, to->why, sizeof(k->why));
	}
	key_release(&one);
	if (is != RECORD_CALL)
		return is;
	key_int(k, "groups", (int64_t)nr);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		group_list(w, k, i);
	options_append(w, m);
	strbuf_add(&k->text, m->more.buf, m->more.len);
	k->product = (struct library_product){ .flops = 0 };
	return key_work(k, flops, bytes) ? RECORD_CALL : RECORD_BAD;
}

/* ---- benchmark lines ---- */

static enum record_is bench_key(struct library_words *w, struct matmul *m, struct library_key *k)
{
	bool grouped = flag_is_set(w, "--grouped_gemm");
	struct text_slice twice;

	if (!types_read(w, m) || !scalar_read(w, "--alpha", m->g.alpha) ||
	    !scalar_read(w, "--beta", m->g.beta) || !trans_read(w, "--transA", &m->g.ta) ||
	    !trans_read(w, "--transB", &m->g.tb))
		return RECORD_TORN;
	scales_read(w, m);
	epilogue_read(w, m);
	if (grouped)
		return words_int(w, "--batch_count", NULL, &m->g.batch) < 0 ? RECORD_TORN
									    : group_key(w, m, k);
	if (words_conflict(w, &twice))
		return key_bad(k, "%.*s stands twice", (int)(twice.n < 40 ? twice.n : 40), twice.p);
	if (!product_sizes(w, &m->g))
		return RECORD_TORN;
	gemm_defaults(&m->g);
	options_append(w, m);
	return matmul_key(m, "matmul", k);
}

static enum record_is bench_parse(struct text_slice text, struct library_key *k)
{
	CLEANUP(matmul_release) struct matmul m;
	struct library_words w;

	matmul_init(&m);
	text = words_command(text);
	if (!words_split_options(&w, text))
		return RECORD_TORN;
	k->config = text;
	if (w.too_many)
		return key_bad(k, "more than %d options", WORDS_MAX);
	return w.nr > 0 ? bench_key(&w, &m, k) : RECORD_TORN;
}

/* "hipblaslt-bench.exe -m", "hipblaslt-bench --api_method": an option follows. */
static bool bench_starts(struct text_slice line, size_t at)
{
	struct text_slice rest = { line.p + at, line.n - at };
	const char *program = "hipblaslt-bench";

	rest.p += strlen(program);
	rest.n -= strlen(program);
	if (slice_begins(rest, ".exe"))
		rest.p += 4, rest.n -= 4;
	return rest.n > 0 && slice_blank(*rest.p) && !library_commented(line, at);
}

const struct library_parser library_parser_hipblaslt_bench = {
	.name = "hipblaslt-bench",
	.library = "hipblaslt",
	.markers = { { "hipblaslt-bench", false, false } },
	.starts = bench_starts,
	.back = library_path_before,
	.parse = bench_parse,
};

/* ---- trace lines ---- */

static bool trace_is_matmul(struct text_slice f)
{
	return slice_is(f, "rocblaslt_matmul") || slice_is(f, "hipblasLtMatmul");
}

static enum record_is trace_split(struct library_log *log, void *state, const struct log_record *r,
				  struct log_facts *f)
{
	(void)log;
	return matmul_split(state, r, f, trace_is_matmul);
}

static enum record_is trace_parse(struct text_slice text, struct library_key *k)
{
	enum record_is is =
		matmul_parse(text, slice_begins(text, "hip") ? "hipblasLt" : "rocblaslt_", k);

	k->level = LEVEL_TRACE;
	return is;
}

const struct library_parser library_parser_hipblaslt_trace = {
	.name = "hipBLASLt trace",
	.library = "hipblaslt",
	.markers = { { "[HIPBLASLT][", false, false } },
	.back = matmul_stamp_before,
	.split = trace_split,
	.mask = matmul_mask,
	.parse = trace_parse,
	.state_size = sizeof(struct matmul_trace),
	.release = matmul_trace_release,
};
