/*
 * rocBLAS's trace layer (parse_rocblas.c has the others):
 *
 *	rocblas_gemm_ex,N,T,64,512,64,1,0x7f…,f32_r,64,0x7f…,f32_r,…,none,atomics_allowed
 *
 * The function's arguments in their order; buffers, and scalars on the device, are addresses. They
 * differ from call to call, so they are left out of what is remembered. A function that is not of
 * BLAS (rocblas_set_stream) is no call.
 */
#include "library_args.h"
#include "library_mask.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define ARGS_MAX 64

struct trace_state {
	char text[LIBRARY_TEXT_MAX]; /* of the last record, without addresses */
};

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_address(const char *p, size_t n)
{
	return (n > 1 && p[0] == '0' && p[1] == 'x') || (n == 5 && !memcmp(p, "(nil)", 5)) ||
	       (n == 3 && !memcmp(p, "nil", 3));
}

/* In other text "rocblas_" has no argument behind the name, or is part of a longer word. */
static bool trace_starts(struct text_slice line, size_t at)
{
	if (at > 0 && name_char(line.p[at - 1]))
		return false;
	while (at < line.n && name_char(line.p[at]))
		at++;
	return at + 1 < line.n && line.p[at] == ',' && !slice_blank(line.p[at + 1]);
}

/* Copies an argument, an address as '*'. Returns the end. */
static char *arg_copy(char *to, struct text_slice arg)
{
	arg = slice_trim(arg);
	if (is_address(arg.p, arg.n)) {
		*to = '*';
		return to + 1;
	}
	memcpy(to, arg.p, arg.n);
	return to + arg.n;
}

static enum record_is trace_split(struct library_log *log, void *state, const struct log_record *r,
				  struct log_facts *f)
{
	struct trace_state *s = state;
	struct text_slice rest = r->text;
	char *to = s->text;
	const char *comma;

	(void)log;
	if (r->cut)
		return RECORD_TORN;
	if (rest.n > sizeof(s->text))
		return RECORD_CALL; /* which is then bad */
	while ((comma = memchr(rest.p, ',', rest.n)) != NULL) {
		size_t n = (size_t)(comma - rest.p);

		to = arg_copy(to, (struct text_slice){ rest.p, n });
		*to++ = ',';
		rest.p += n + 1;
		rest.n -= n + 1;
	}
	to = arg_copy(to, rest);
	f->text = (struct text_slice){ s->text, (size_t)(to - s->text) };
	return RECORD_CALL;
}

static bool trace_mask(const void *state, const struct log_record *r, struct log_mask *m)
{
	(void)state;
	mask_addresses(m, r->text, NULL);
	return true;
}

static enum record_is trace_parse(struct text_slice text, struct library_key *k)
{
	struct text_slice args[ARGS_MAX], f;
	size_t n = args_split(text, args, ARGS_MAX);
	struct blas_name name;
	char operation[64] = "";
	enum record_is is;

	if (n > ARGS_MAX)
		return RECORD_TORN;
	f = args[0];
	f.p += strlen("rocblas_");
	f.n -= strlen("rocblas_");
	if (f.n < sizeof(operation))
		memcpy(operation, f.p, f.n);
	name = blas_name(f.p, f.n);
	is = args_key(&name, args + 1, n - 1, operation, k);
	k->level = LEVEL_TRACE;
	return is == RECORD_FOREIGN ? RECORD_INFO : is;
}

const struct library_parser library_parser_rocblas_trace = {
	.name = "rocBLAS trace",
	.library = "rocblas",
	.markers = { { "rocblas_", false, false } },
	.starts = trace_starts,
	.split = trace_split,
	.mask = trace_mask,
	.parse = trace_parse,
	.state_size = sizeof(struct trace_state),
};
