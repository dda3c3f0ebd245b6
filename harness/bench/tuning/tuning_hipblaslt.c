#include "tuning_form.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/xalloc.h"

#define COLUMNS \
	"transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b,ldc," \
	"stride_c,ldd,stride_d,a_type,b_type,c_type,d_type,compute_type,scaleA,scaleB,scaleC," \
	"scaleD,amaxD,activation_type,bias_vector,bias_type,rotating_buffer,hipblaslt-Gflops," \
	"hipblaslt-GB/s,us,solution_index,gcnArchName,CUs"

/* Its types are real, and C is T of these. */
static const char *trans(char t)
{
	return t == 'N' ? "N" : "T";
}

static const char *place(const struct vendor_request *q, struct strbuf *to)
{
	const struct vendor_gemm *g = &q->gemm;
	const char *compute = g->compute->bits < 32 ? NULL : vendor_hipblaslt_compute(g);

	for (int i = 0; i < MATRICES; i++)
		if (!g->type[i]->hipblaslt)
			compute = NULL;
	if (!compute)
		return "hipBLASLt has no such types";
	if (g->pointers)
		return "a tuning file has no batches of pointers";
	if (g->type[MATRIX_C] != g->type[MATRIX_D])
		return "a tuning file has one type for C and D";
	strbuf_addf(to, "%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%s,%s,%s",
		    trans(g->ta), trans(g->tb), g->batch, g->m, g->n, g->k,
		    g->type[MATRIX_A]->hipblaslt, g->type[MATRIX_B]->hipblaslt,
		    g->type[MATRIX_C]->hipblaslt, compute);
	return NULL;
}

static void sizes_write(struct csv_writer *w, const struct vendor_gemm *g)
{
	csv_str(w, trans(g->ta));
	csv_str(w, trans(g->tb));
	csv_u64(w, 0);
	csv_i64(w, g->batch);
	csv_i64(w, g->m);
	csv_i64(w, g->n);
	csv_i64(w, g->k);
	for (int i = 0; i < MATRICES; i++) {
		if (i == MATRIX_A)
			csv_f64(w, g->alpha[0]);
		if (i == MATRIX_B)
			csv_f64(w, g->beta[0]);
		csv_i64(w, g->ld[i]);
		csv_i64(w, g->stride[i]);
	}
}

static void types_write(struct csv_writer *w, const struct vendor_gemm *g)
{
	for (int i = 0; i < MATRICES; i++)
		csv_str(w, g->type[i]->hipblaslt);
	csv_str(w, vendor_hipblaslt_compute(g));
	for (int i = 0; i < MATRICES; i++)
		csv_i64(w, g->scale[i]);
	csv_u64(w, 0);
	csv_str(w, g->activation ? g->activation : "none");
	csv_u64(w, g->bias);
	csv_str(w, g->bias_type && g->bias_type->hipblaslt ? g->bias_type->hipblaslt : "");
}

/* The last value must not be empty: readers would not count it. */
static void line(const struct bench_tuning_line *line, FILE *f)
{
	struct csv_writer w = { f, 0 };
	struct vendor_request q;

	/* it has been read before */
	if (vendor_request_read(line->row->key, &q, NULL) < 0)
		return;
	fputs(COLUMNS "\n", f);
	sizes_write(&w, &q.gemm);
	types_write(&w, &q.gemm);
	csv_str(&w, "");
	csv_f64(&w, line->row->gflops);
	csv_f64(&w, line->row->gbps);
	csv_f64(&w, line->row->mean);
	csv_i64(&w, line->row->solution);
	csv_str(&w, "");
	csv_u64(&w, 0);
	csv_end(&w);
}

const struct tuning_form tuning_hipblaslt = {
	.least = 1, .no_time = "hipBLASLt has no time", .place = place, .line = line
};
