/*
 * oneDNN (DNNL, MKL-DNN), ONEDNN_VERBOSE=1 or 2; columns of all versions: onednn_fields.h:
 *
 *	onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,
 *	src:f32::blocked:abcd::f0 wei:f32:a:blocked:Acdb16a::f0 … dst:f32::blocked:aBcd16b::f0,
 *	attr-post-ops:eltwise_relu,alg:convolution_direct,mb4_ic3oc64_ih96oh48kh7sh2dh0ph3_…,10.4
 *
 * exec is a call; create…, info, graph and exec:check are none. A graph's partitions are executed
 * as primitives, which have lines of their own. ms is the duration in milliseconds; it is a
 * difference of doubles, so that 0 occurs. The stamp (ONEDNN_VERBOSE_TIMESTAMP) is the begin.
 *
 * Not of the configuration: stamp, duration, implementation, the number of an engine, and who owns
 * the scratch buffer (attr-scratchpad). All else is parsed by onednn_key.
 */
#include "onednn_fields.h"
#include "onednn_key.h"

#include <string.h>
#include <xxhash.h>

struct onednn_state {
	struct onednn_layout layout; /* of the last header */
	struct strbuf text;
};

static enum record_is onednn_split(struct library_log *log, void *state, const struct log_record *r,
				   struct log_facts *f)
{
	static const enum onednn_column columns[] = { ONEDNN_KIND, ONEDNN_ENGINE, ONEDNN_PROP,
						      ONEDNN_MDS,  ONEDNN_ATTRS,  ONEDNN_AUX,
						      ONEDNN_DESC };
	struct onednn_state *s = state;
	struct onednn_record columns_of;
	enum record_is is = onednn_fields(r->text, r->cut, &s->layout, &columns_of);

	(void)log;
	if (is != RECORD_CALL)
		return is;
	if (!s->text.cap) {
		strbuf_init(&s->text);
		strbuf_limit(&s->text, LIBRARY_TEXT_MAX);
	}
	strbuf_clear(&s->text);
	s->text.overflow = false;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		struct text_slice c = columns_of.column[columns[i]];

		if (i)
			strbuf_addch(&s->text, ',');
		strbuf_add(&s->text, c.p, c.n);
	}
	if (s->text.overflow)
		return RECORD_TORN;
	f->text = (struct text_slice){ s->text.buf, s->text.len };
	f->when.t_ns = columns_of.t_ns;
	f->when.dur_ns = columns_of.dur_ns;
	f->odd_time = columns_of.odd_time;
	return RECORD_CALL;
}

static bool onednn_mask(const void *state, const struct log_record *r, struct log_mask *m)
{
	const struct onednn_state *s = state;

	return onednn_fields_mask(r->text, &s->layout, m);
}

/* How records are split depends on the header before them. */
static uint64_t onednn_version(const void *state)
{
	const struct onednn_state *s = state;

	return XXH3_64bits(&s->layout, sizeof(s->layout));
}

static void onednn_release(void *state)
{
	struct onednn_state *s = state;

	if (s->text.cap)
		strbuf_release(&s->text);
}

const struct library_parser library_parser_onednn = {
	.name = "oneDNN",
	.library = "onednn",
	.markers = { { "onednn_verbose,", false, false },
		     { "dnnl_verbose,", false, false },
		     { "mkldnn_verbose,", false, false } },
	.split = onednn_split,
	.mask = onednn_mask,
	.version = onednn_version,
	.parse = onednn_key,
	.state_size = sizeof(struct onednn_state),
	.release = onednn_release,
};
