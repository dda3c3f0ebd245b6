/* onednn_call: a call of oneDNN in parts, for those that make its key (onednn_key.h). */
#ifndef ANALYSIS_ONEDNN_CALL_H
#define ANALYSIS_ONEDNN_CALL_H

#include "onednn_desc.h"

struct onednn_call {
	struct text_slice engine, prop, attrs, aux, desc;
	char kind[40]; /* without "_v2" */
	size_t nr;
	struct onednn_md md[ONEDNN_MDS_MAX];
	struct onednn_problem problem;
	bool has_problem; /* desc is one */
};

bool onednn_is_forward(const struct onednn_call *c);
/* The attributes and auxiliary words of c, joined by commas, behind what is in sb. */
void onednn_with(const struct onednn_call *c, struct strbuf *sb);
/* Appends a word to a list that is joined by commas. */
void onednn_with_word(struct strbuf *sb, const char *prefix, struct text_slice word);

/* RECORD_FOREIGN: its matrices are not plain ones; k is empty then. */
enum record_is onednn_gemm_key(const struct onednn_call *c, struct library_key *k);
/* Flops and bytes of a product whose matrices are not plain; unknown where an extent is. */
enum record_is onednn_matmul_work(const struct onednn_call *c, struct library_key *k);
enum record_is onednn_conv_key(const struct onednn_call *c, struct library_key *k);
/* All other kinds; family: of the key. */
enum record_is onednn_other_key(const struct onednn_call *c, const char *family,
				struct library_key *k);

#endif
