/*
 * Logs of libraries (library_log.h): rocBLAS, hipBLASLt, MIOpen, Tensile, NCCL, RCCL, cuBLAS,
 * cuDNN, oneDNN, MKL and profrig's own BLAS tracer, alone or among the output of a program.
 *
 * The log becomes rows of calls by configuration (library_calls.h), in the order of the calls, and
 * no spans: most logs have no times. Those of oneDNN, where it logs them, count from the epoch;
 * other libraries write local time, or whole seconds. Facts for `info`: what became of each line.
 * Torn and impossible records are warnings, as processes that share a stream tear each other's
 * lines; a log that ends inside a record is partial.
 */
#include "input_sink.h"
#include "readers_private.h"

#include <stdio.h>
#include <string.h>

#include "profrig/library/library_log.h"
#include "profrig/model/warnings.h"

/* Of the head of a file: a program's output may hold a few records of a library. */
#define SURE_RECORDS 3

static void facts_push(struct sink *s, const struct library_counts *n,
		       const struct library_calls *calls)
{
	const struct {
		const char *key;
		uint64_t value;
	} facts[] = { { "library_calls", n->records },
		      { "configurations", calls->distinct },
		      { "doubled", n->doubled },
		      { "torn", n->torn },
		      { "bad", n->bad },
		      { "library_lines", n->info },
		      { "other_lines", n->foreign },
		      { "joined", n->joined } };

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (facts[i].value || i < 2)
			sink_fact(s, facts[i].key, (int64_t)facts[i].value);
}

static void losses_warn(struct sink *s, const struct library_counts *n,
			const struct library_calls *calls)
{
	char text[256];

	snprintf(text, sizeof(text), "torn records; the first is on %s", n->torn_text);
	sink_warn(s, W_TORN_RECORD, n->torn, text);
	snprintf(text, sizeof(text), "impossible calls; the first is on %s", n->bad_text);
	sink_warn(s, W_BAD_CALL, n->bad, text);
	sink_warn(s, W_BAD_NUMBER, n->odd_times, "times of calls are out of range, and unknown");
	sink_warn(s, W_LIBRARY_ROWS, calls->over_calls, "calls of later configurations");
	if (n->cut)
		sink_warnf(s, W_TRUNCATED, "the last record has no end: %s", n->torn_text);
}

static enum trace_clock clock_of(const struct library_calls *calls)
{
	for (size_t i = 0; i < calls->rows.nr; i++) {
		const struct library_row *r = &calls->rows.v[i];

		if (r->first_ns != LIBRARY_NO_TIME && strcmp(r->library, "onednn") == 0)
			return TRACE_CLOCK_REALTIME;
	}
	return TRACE_CLOCK_OWN;
}

static int read_library_log(const char *path, struct sink *s, const struct read_opts *o,
			    struct err *err)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	struct input_map whole = { 0 };
	struct library_counts n;
	struct err cut = ERR_INIT;
	int r;

	(void)o;
	library_calls_keep_order(calls);
	r = library_log_read(path, calls, &n, &cut);
	if (r < 0) {
		if (err)
			*err = cut;
		return r;
	}
	input_format(input_begin(s, path, "library_log"), "library log", clock_of(calls));
	s->ops->clock(s);
	facts_push(s, &n, calls);
	losses_warn(s, &n, calls);
	s->ops->library(s, STEAL(calls));
	if (r > 0)
		sink_warnf(s, W_TRUNCATED, "%s", cut.msg);
	return input_finish(s, &whole, r > 0 || n.cut, "no calls of a library");
}

static int probe_library_log(const struct probe *p)
{
	struct library_probe n;

	if (p->is_dir || !p->head || p->head_len == 0)
		return 0;
	n = library_log_probe((const char *)p->head, p->head_len);
	if (n.records >= SURE_RECORDS || (n.records > 0 && n.records + n.info >= n.lines / 2))
		return 60;
	return n.records + n.info > 0 ? 30 : 0;
}

const struct reader reader_library_log = {
	.name = "library_log",
	.about = "logs of libraries: rocBLAS, hipBLASLt, MIOpen, NCCL, cuBLAS, cuDNN, oneDNN …",
	.suffixes = ".log[.gz|.zst]",
	.probe = probe_library_log,
	.read = read_library_log,
};
