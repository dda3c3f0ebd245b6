/*
 * text_out: a text file written as a stream, packed when its name ends in .gz or .zst, that appears
 * whole or not at all.
 *
 *	CLEANUP(text_out_drop) struct text_out t = TEXT_OUT_INIT;
 *	text_out_open(path, &t, err);
 *	strbuf_addstr(&t.text, "…");		any number of times,
 *	text_out_step(&t);			and now and then
 *	return text_out_commit(&t, err);	also for errors of earlier writes
 */
#ifndef REPORT_TEXT_OUT_H
#define REPORT_TEXT_OUT_H

#include "out_file.h"

#include <stdint.h>

#include "profrig/base/strbuf.h"

struct text_packer;

struct text_out {
	struct out_file o;
	struct strbuf text; /* not written yet */
	struct text_packer *packer;
	uint64_t text_bytes; /* written, before packing */
	uint64_t bytes;      /* on disk, after commit */
	int failed;          /* errno of packing */
};
#define TEXT_OUT_INIT \
	{ \
		.o = OUT_FILE_INIT, .text = STRBUF_INIT \
	}
#define TEXT_OUT_STEP ((size_t)1 << 18)

int text_out_open(const char *path, struct text_out *t, struct err *err);
/* Writes out the gathered text. */
void text_out_flush(struct text_out *t);
static inline void text_out_step(struct text_out *t)
{
	if (__builtin_expect(t->text.len >= TEXT_OUT_STEP, 0))
		text_out_flush(t);
}
/* Bytes of text so far, also those that were not written yet. */
static inline uint64_t text_out_length(const struct text_out *t)
{
	return t->text_bytes + t->text.len;
}
int text_out_commit(struct text_out *t, struct err *err);
void text_out_drop(struct text_out *t);

#endif
