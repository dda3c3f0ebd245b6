/*
 * Names of kernels and ranges: fields, demangled, short and normal forms, operators of ranges;
 * arguments of calls that capture graphs. Whatever the name, texts are within their bounds and a
 * short form fits its width.
 */
#include "capture_call.h"
#include "fuzz.h"
#include "op_range.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"
#include "profrig/names/demangle.h"
#include "profrig/names/kernel_name.h"
#include "profrig/names/range_name.h"
#include "profrig/names/short_name.h"
#include "profrig/names/xla_range.h"

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* What is found lies inside the name. */
static bool is_in(struct xla_text t, const char *name)
{
	return !t.p || (t.p >= name && t.n > 0 && t.p + t.n <= name + strlen(name));
}

static void xla_try(const char *name)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct xla_launcher l;
	struct xla_range r;
	bool is = xla_range_parse(name, strlen(name), &r);

	check(is == xla_range_name(name, strlen(name), &text) && is == (text.len > 0));
	check(!is || (is_in(r.word, name) && is_in(r.module, name) && is_in(r.op, name)));
	if (xla_launcher_parse(name, strlen(name), &l))
		check(!is && l.global >= 0);
}

static void name_try(const char *name)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT, again = STRBUF_INIT;
	struct capture_facts handles = CAPTURE_FACTS_NONE;
	struct op_range op;
	struct kernel_name k;

	kernel_name_parse(name, &k);
	for (size_t i = 0; i < 3; i++)
		check(k.tile[i] <= KERNEL_NUMBER_MAX && k.cluster[i] <= KERNEL_NUMBER_MAX);
	check(*kernel_class(name));
	demangle(name, &text);
	check(text.len <= DEMANGLE_MAX);
	strbuf_clear(&text);
	short_name(name, 40, &text);
	check(short_width(text.buf) <= 40);
	strbuf_clear(&text);
	if (range_name(name, strlen(name), &text))
		check(!range_name(text.buf, text.len, &again));
	if (op_range_parse(name, strlen(name), &op))
		check(op.name_n > 0 && op.name_n < strlen(name) && op.sizes_n < strlen(name));
	xla_try(name);
	capture_call_kind(name);
	capture_call_handles(name, strlen(name), &handles);
}

/* One name in each line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	for (size_t at = 0; at < n;) {
		const uint8_t *end = memchr(data + at, '\n', n - at);
		size_t len = end ? (size_t)(end - (data + at)) : n - at;
		CLEANUP(xfreep) char *name = xstrndup((const char *)data + at, len);

		name_try(name);
		at += len + 1;
	}
	return 0;
}
