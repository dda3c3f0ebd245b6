/*
 * CSV files of AMD's profilers. rocprofv3 writes one per kind of record and process, each with a
 * header; the kind follows from its columns (rocprof_header.c), and a required column that is
 * missing is an error:
 *
 *	kernel_trace		Kind, Agent_Id, Queue_Id, [Stream_Id,] Thread_Id, Kernel_Name,
 *				Correlation_Id, Start_Timestamp, End_Timestamp, sizes, registers
 *	…_api_trace, hip_trace	Domain, Function, Process_Id, Thread_Id, Correlation_Id, times
 *	memory_copy_trace	Direction, [Stream_Id,] Source_Agent_Id, Destination_Agent_Id, …
 *	memory_allocation_trace	Operation, Agent_Id, Allocation_Size, Address, …
 *	scratch_memory_trace	Operation, Agent_Id, Queue_Id, Thread_Id, Alloc_Flags, times
 *	counter_collection	a row for each counter of a dispatch: Counter_Name, Counter_Value;
 *				releases before 2025 have no times in it
 *	pc_sampling_…		Sample_Timestamp, Instruction, …
 *	agent_info		devices; used by the other files of its run
 *	…_stats			Name, Calls, TotalDurationNs, …: sums over another file
 *
 * Files converted from a rocpd database have a Guid in front, and correlations count by it.
 * rocprof v1's results.csv has a row for each dispatch (KernelName, gpu-id, queue-id, pid, tid, …,
 * BeginNs, EndNs) and a column for each counter; rocprofiler-compute's pmc_perf.csv is alike.
 *
 * Times are ns; of rocprofv3 those of CLOCK_BOOTTIME, which the HSA runtime's system clock is
 * (inferred, not stated in the files). Texts are in quotes, but some releases do not double the
 * quotes inside: a row with the wrong number of fields is split from both ends, where only numbers
 * are. Rows are not in order. The last line end may be missing.
 */
#include "input_sink.h"
#include "readers_private.h"
#include "rocprof_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "profrig/base/csv.h"
#include "profrig/base/num.h"
#include "profrig/base/workers.h"
#include "profrig/model/warnings.h"

void rocprof_fault(struct rocprof_csv *rc, struct tally *f)
{
	tally_line(f, (uint64_t)(rocprof_row_start(rc) - rc->scan.data));
}

/* "None" is rocprof v1's word for a value it does not have. */
static bool is_absent(struct csv_text t)
{
	return t.n == 0 || (t.n == 4 && memcmp(t.p, "None", 4) == 0);
}

bool rocprof_number(struct rocprof_csv *rc, enum rocprof_column c, int64_t *ret)
{
	struct csv_text t = rocprof_cell(rc, c);

	if (num_i64(t.p, t.n, ret) == 0)
		return true;
	if (is_absent(t))
		return false;
	/* files that went through a table of floating point numbers */
	if (num_decimal(t.p, t.n, 0, ret) == 0)
		return true;
	rocprof_fault(rc, &rc->bad_numbers);
	return false;
}

bool rocprof_times(struct rocprof_csv *rc, int64_t *start_ns, int64_t *end_ns)
{
	uint64_t bad = rc->bad_numbers.nr;

	if (rc->row->timed) {
		*start_ns = rc->row->start_ns;
		*end_ns = rc->row->end_ns;
	} else if (!rocprof_number(rc, COL_START, start_ns) ||
		   !rocprof_number(rc, COL_END, end_ns)) {
		if (rc->bad_numbers.nr == bad)
			rocprof_fault(rc, &rc->no_time);
		return false;
	}
	if (*start_ns <= 0) {
		rocprof_fault(rc, &rc->no_time);
		return false;
	}
	return true;
}

static str_id string_new(struct rocprof_csv *rc, struct csv_text t)
{
	struct csv_text plain = csv_unquote(t, &rc->text);
	str_id id = rc->sink->ops->string(rc->sink, plain.p, plain.n);

	if (id > rc->newest) {
		rc->newest = id;
		mem_budget_take(&rc->memory, plain.n + MEM_STRING);
	}
	return id;
}

static str_id rocprof_text_string(struct rocprof_csv *rc, struct rocprof_text *t)
{
	if (t->string == 0)
		t->string = string_new(rc, t->text) + 1;
	return t->string - 1;
}

static str_id string_behind(struct rocprof_csv *rc, struct csv_text t, uint32_t *last)
{
	uint32_t i;

	if (t.n == 0)
		return rc->sink->ops->string(rc->sink, "", 0);
	i = rocprof_texts_find(rc->texts, t, last);
	if (i == ROCPROF_NO_TEXT)
		return string_new(rc, t);
	return rocprof_text_string(rc, rocprof_texts_at(rc->texts, i));
}

str_id rocprof_string(struct rocprof_csv *rc, struct csv_text t)
{
	return string_behind(rc, t, &rc->last_name);
}

str_id rocprof_category(struct rocprof_csv *rc, struct csv_text t)
{
	return string_behind(rc, t, &rc->last_category);
}

struct rocprof_text *rocprof_text(struct rocprof_csv *rc, size_t i)
{
	uint32_t at = rc->row->texts[i];

	return at == ROCPROF_NO_TEXT ? NULL : rocprof_texts_at(rc->part->texts, at);
}

str_id rocprof_column_string(struct rocprof_csv *rc, size_t i, enum rocprof_column c)
{
	struct rocprof_text *t = rocprof_text(rc, i);

	return t ? rocprof_text_string(rc, t) : rocprof_string(rc, rocprof_cell(rc, c));
}

/* Every process of a converted file counts its correlations from the start. */
static void take_guid(struct rocprof_csv *rc)
{
	struct csv_text t = rocprof_cell(rc, COL_GUID);
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	if (csv_text_same(t, rc->guid))
		return;
	for (size_t i = 0; i < t.n; i++)
		h = (h ^ (unsigned char)t.p[i]) * UINT64_C(0x100000001b3);
	rc->guid = t;
	rc->guid_salt = t.n ? (h ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15) : 0;
	memset(rc->queues_seen, 0, sizeof(rc->queues_seen));
}

uint64_t rocprof_correlation(struct rocprof_csv *rc)
{
	int64_t id;

	if (rocprof_has(rc, COL_GUID))
		take_guid(rc);
	if (rc->row->correlated)
		id = rc->row->correlation;
	else if (!rocprof_number(rc, COL_CORRELATION, &id))
		return 0;
	if (id == 0)
		return 0;
	return (uint64_t)id ^ rc->guid_salt;
}

/* ---- rows with bad quotes ---- */

/* Cuts the first field off t. */
static bool cut_first(struct csv_text *t, struct csv_text *field)
{
	bool quoted = t->n > 0 && *t->p == '"';
	const char *end = quoted ? memmem(t->p + 1, t->n - 1, "\",", 2) : memchr(t->p, ',', t->n);
	size_t n;

	if (!end)
		return false;
	n = (size_t)(end - t->p) + quoted;
	*field = csv_bare(t->p, t->p + n);
	t->p += n + 1;
	t->n -= n + 1;
	return true;
}

static bool cut_last(struct csv_text *t, struct csv_text *field)
{
	const char *comma = t->n ? memrchr(t->p, ',', t->n) : NULL;

	if (!comma)
		return false;
	*field = csv_bare(comma + 1, t->p + t->n);
	t->n = (size_t)(comma - t->p);
	return true;
}

static bool cell_is_number(const struct rocprof_csv *rc, enum rocprof_column c)
{
	int64_t v;

	return !rocprof_has(rc, c) ||
	       num_i64(rc->cells[rc->head.at[c]].p, rc->cells[rc->head.at[c]].n, &v) == 0;
}

static bool line_glue(struct rocprof_csv *rc, struct csv_text line)
{
	size_t text = rc->head.text >= 0 ? (size_t)rc->head.text : rc->head.nr - 1;

	if (!rc->cells)
		rc->cells = xcalloc(rc->head.nr, sizeof(*rc->cells));
	for (size_t i = 0; i < text; i++)
		if (!cut_first(&line, &rc->cells[i]))
			return false;
	for (size_t i = rc->head.nr; i-- > text + 1;)
		if (!cut_last(&line, &rc->cells[i]))
			return false;
	/* the rest is the text when it is quoted; else a field is missing */
	if (line.n < 2 || line.p[0] != '"' || line.p[line.n - 1] != '"')
		return false;
	rc->cells[text] = csv_bare(line.p, line.p + line.n);
	return cell_is_number(rc, COL_START) && cell_is_number(rc, COL_END) &&
	       cell_is_number(rc, COL_CALLS);
}

/* false: it is no row, or the row in which the text ends. */
static bool line_repair(struct rocprof_csv *rc)
{
	rc->glued = rc->row->line.n <= CSV_MAX_RECORD && line_glue(rc, rc->row->line);
	if (rc->glued)
		rc->repaired++;
	else if (!rc->row->ended)
		rc->cut = rocprof_row_start(rc);
	else
		rocprof_fault(rc, &rc->bad_rows);
	return rc->glued;
}

/* ---- the file ---- */

static void take_stats(struct rocprof_csv *rc)
{
	int64_t v;

	if (rocprof_number(rc, COL_CALLS, &v) && __builtin_add_overflow(rc->calls, v, &rc->calls))
		rocprof_fault(rc, &rc->bad_numbers);
	if (rocprof_number(rc, COL_TOTAL, &v) &&
	    __builtin_add_overflow(rc->total_ns, v, &rc->total_ns))
		rocprof_fault(rc, &rc->bad_numbers);
}

static void csv_row_take(struct rocprof_csv *rc)
{
	switch (rc->head.kind) {
	case ROCPROF_KERNELS:
		rocprof_kernel(rc);
		break;
	case ROCPROF_CALLS:
		rocprof_call(rc);
		break;
	case ROCPROF_COPIES:
		rocprof_copy(rc);
		break;
	case ROCPROF_ALLOCATIONS:
		rocprof_allocation(rc);
		break;
	case ROCPROF_SCRATCH:
		rocprof_scratch(rc);
		break;
	case ROCPROF_COUNTERS:
		rocprof_counter(rc);
		break;
	case ROCPROF_WIDE:
		rocprof_wide(rc);
		break;
	case ROCPROF_PC:
		rocprof_pc(rc);
		break;
	case ROCPROF_STATS:
		take_stats(rc);
		break;
	case ROCPROF_AGENTS:
	case ROCPROF_NONE:
		break;
	}
	rc->rows++;
}

/* A last row without a line end whose last field is the end of a span: with lost digits it is
 * before the start. */
static bool lost_digits(struct rocprof_csv *rc)
{
	struct csv_text start = rocprof_cell(rc, COL_START), end = rocprof_cell(rc, COL_END);
	int64_t a, b;

	return rocprof_has(rc, COL_END) && (size_t)rc->head.at[COL_END] + 1 == rc->head.nr &&
	       num_i64(start.p, start.n, &a) == 0 &&
	       (end.n == 0 || (num_i64(end.p, end.n, &b) == 0 && b < a));
}

/* Memory of a span and of sorting it; anything else of a row is in the model already. */
#define ROW_BYTES 112
#define SAMPLE_BYTES 24
/* Of the ids of dispatches and addresses. */
#define ID_BYTES 40

/* Rows per step of the budget. */
#define ROWS_PAID 64

/* Real rows are longer than their spans; of hostile, shorter ones some find no room. */
static void settle_memory(struct rocprof_csv *rc)
{
	const struct input *in = rc->sink->ops->current(rc->sink);
	uint64_t ids = rc->dispatches.nr + rc->addresses.nr;

	mem_budget_take(&rc->memory, (rc->rows - rc->paid.rows) * ROW_BYTES +
					     (in->samples - rc->paid.samples) * SAMPLE_BYTES +
					     (ids - rc->paid.ids) * ID_BYTES);
	rc->paid.rows = rc->rows;
	rc->paid.samples = in->samples;
	rc->paid.ids = ids;
	mem_budget_read(&rc->memory, (size_t)(rocprof_row_start(rc) - rc->map.data));
	rc->full = !mem_budget_has(&rc->memory, 0);
}

static void read_row(struct rocprof_csv *rc)
{
	rc->glued = false;
	if (!rc->row->whole && !line_repair(rc))
		return;
	if (!rc->row->ended && lost_digits(rc))
		rc->cut = rocprof_row_start(rc);
	else if (rc->full)
		rocprof_fault(rc, &rc->crowd);
	else
		csv_row_take(rc);
}

/* Rows that another core parsed are in its cache. */
static inline void row_prefetch(const struct rocprof_part *p, size_t i)
{
	if (i + 8 < p->nr)
		__builtin_prefetch(&p->rows[i + 8]);
}

static void read_rows(struct rocprof_csv *rc, struct rocprof_ahead *a, struct rocprof_parser *own)
{
	uint64_t seen = 0;

	rc->texts = rocprof_parser_texts(own);
	while (!rc->cut && (rc->part = rocprof_ahead_next(a, own))) {
		for (size_t i = 0; i < rc->part->nr && !rc->cut; i++) {
			rc->row = &rc->part->rows[i];
			row_prefetch(rc->part, i);
			if (seen++ % ROWS_PAID == 0)
				settle_memory(rc);
			read_row(rc);
		}
	}
}

/* Each thread has one part; only the pushing one ends before all is done. */
struct together {
	struct rocprof_csv *rc;
	struct rocprof_ahead *ahead;
	bool done;
};

static void do_part(void *ctx, size_t i, unsigned worker)
{
	struct together *g = ctx;
	struct rocprof_parser *own;

	(void)i;
	if (worker == 0 && g->done)
		return;
	own = rocprof_parser_new(g->ahead);
	if (worker > 0) {
		rocprof_ahead_help(g->ahead, own);
	} else {
		read_rows(g->rc, g->ahead, own);
		g->done = true;
		rocprof_ahead_quit(g->ahead);
	}
	rocprof_parser_free(own);
}

/* Below it a thread costs more than it saves. */
#define THREADS_BYTES ((size_t)1 << 20)

static void read_together(struct rocprof_csv *rc)
{
	struct workers *w = rc->opts->workers;
	struct together g = { .rc = rc };

	g.ahead = rocprof_ahead_new(&rc->map, rc->scan.next, &rc->head);
	if (w && workers_count(w) > 1 && rc->map.len >= THREADS_BYTES)
		workers_run(w, workers_count(w), do_part, &g);
	else
		do_part(&g, 0, 0);
	rocprof_ahead_free(g.ahead);
}

/* Lines are counted when the text was read to its end: until then a place is an offset. */
static void fault_warn(struct rocprof_csv *rc, const char *code, const struct tally *f,
		       const char *what)
{
	struct tally lines = *f;

	lines.at = csv_scan_line_number(&rc->scan, rc->scan.data + f->at);
	tally_warn(&lines, rc->sink, code, what);
}

static void faults_warn(struct rocprof_csv *rc)
{
	fault_warn(rc, W_BAD_EVENT, &rc->bad_rows,
		   "rows with another number of fields than the header");
	fault_warn(rc, W_BAD_NUMBER, &rc->bad_numbers, "cells that should be numbers and are not");
	fault_warn(rc, W_BAD_EVENT, &rc->no_time, "rows without a time, which were left out");
	fault_warn(rc, W_BAD_EVENT, &rc->many, "more devices or counters than can be true");
	fault_warn(rc, W_MEMORY_LIMIT, &rc->crowd, "rows that there is no memory for, left out");
	track_limit_warn(&rc->tracks, rc->sink);
	if (rc->cut)
		sink_warnf(rc->sink, W_TRUNCATED,
			   "%s:%" PRIu64 ": the text ends inside a row, which was not used",
			   rc->path, csv_scan_line_number(&rc->scan, rc->cut));
	if (rc->map.truncated)
		sink_warnf(rc->sink, W_TRUNCATED, "compressed data: %s", rc->map.why);
}

/* Where no series has the values, as none has a time: their sums, to the nearest whole number. */
static void totals_put(struct rocprof_csv *rc)
{
	for (size_t i = 0; i < rc->totals.nr; i++) {
		CLEANUP(xfreep) char *key = xasprintf("sum of %.200s", rc->totals.v[i].text);
		double sum = rc->totals.v[i].sum;

		if (fabs(sum) < 9e18)
			sink_fact(rc->sink, key, llround(sum));
	}
}

static void facts_put(struct rocprof_csv *rc)
{
	struct sink *s = rc->sink;

	sink_fact(s, "rows", (int64_t)rc->rows);
	if (rc->repaired)
		sink_fact(s, "rows_with_bare_quotes", (int64_t)rc->repaired);
	switch (rc->head.kind) {
	case ROCPROF_COUNTERS:
		sink_fact(s, "dispatches", (int64_t)rc->dispatches.nr);
		totals_put(rc);
		break;
	case ROCPROF_WIDE:
		sink_fact(s, "dispatches", (int64_t)rc->rows);
		totals_put(rc);
		break;
	case ROCPROF_ALLOCATIONS:
		sink_fact(s, "allocations", rc->allocations);
		sink_fact(s, "allocated_bytes", rc->allocated_bytes);
		sink_fact(s, "frees", rc->frees);
		sink_fact(s, "addresses_not_freed", (int64_t)rc->unfreed);
		break;
	case ROCPROF_STATS:
		sink_fact(s, "calls", rc->calls);
		sink_fact(s, "total_ns", rc->total_ns);
		break;
	default:
		break;
	}
}

/* Files of kinds without calls state that, and are not called empty. */
static void empty_warn(struct rocprof_csv *rc)
{
	const struct input *in = rc->sink->ops->current(rc->sink);
	char text[256];

	if (rc->head.kind == ROCPROF_STATS) {
		snprintf(text, sizeof(text),
			 "a summary, %" PRIu64 " names with sums of calls that another file holds: "
			 "none of it was taken as a call",
			 rc->rows);
		rc->sink->ops->warn(rc->sink, W_IGNORED_RECORD, rc->rows, text);
	} else if (rc->rows && !rc->head.timed && in->samples == 0 &&
		   (rc->head.kind == ROCPROF_COUNTERS || rc->head.kind == ROCPROF_WIDE)) {
		rc->sink->ops->warn(rc->sink, W_IGNORED_RECORD, rc->rows,
				    "the file has no times: its dispatches and counters were only "
				    "added up");
	} else if (rc->dispatches_elsewhere && rc->dispatches.nr) {
		rc->sink->ops->warn(rc->sink, W_DUPLICATE_INPUT, rc->dispatches.nr,
				    "the dispatches are in the kernel trace beside this file, so "
				    "only their counters were read");
	} else if (rc->head.kind != ROCPROF_AGENTS && in->spans + in->samples == 0) {
		sink_warnf(rc->sink, W_EMPTY_INPUT, "%s holds no rows with a time", rc->path);
	}
}

/* Most kinds have a span in each row; the first rows give the length of one. */
static uint64_t expected_spans(const struct rocprof_csv *rc)
{
	size_t n = rc->map.len < PROBE_BYTES ? rc->map.len : PROBE_BYTES, lines = 0;
	const char *p = rc->map.data, *end = p + n;

	if (rc->head.kind != ROCPROF_KERNELS && rc->head.kind != ROCPROF_CALLS &&
	    rc->head.kind != ROCPROF_COPIES)
		return 0;
	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		lines++;
	}
	return (uint64_t)(rc->map.len / n * lines);
}

static void csv_begin(struct rocprof_csv *rc)
{
	struct input *in = input_begin(rc->sink, rc->path, "rocprof_csv");

	input_format(in, rocprof_kind_name(&rc->head),
		     rc->head.kind == ROCPROF_WIDE ? TRACE_CLOCK_OWN : TRACE_CLOCK_BOOTTIME);
	in->driver_numbers = true;
	in->group = rc->group.key;
	rc->sink->ops->clock(rc->sink);
	if (rc->map.len > PROBE_BYTES)
		rc->sink->ops->expect(rc->sink, expected_spans(rc));
}

static int csv_finish(struct rocprof_csv *rc)
{
	struct input *in = rc->sink->ops->current(rc->sink);
	bool partial;

	rocprof_unlinked_push(rc);
	facts_put(rc);
	faults_warn(rc);
	empty_warn(rc);
	in->partial |= rc->cut || rc->map.truncated || rc->crowd.nr;
	partial = in->partial;
	rc->sink->ops->input_end(rc->sink);
	return partial ? READ_PARTIAL : 0;
}

static int read_header(struct rocprof_csv *rc, struct err *err)
{
	const char *lacks;
	struct csv_record r;

	if (csv_scan_next(&rc->scan, &r) == 0)
		return err_set(err, ENODATA, "%s: holds no header line", rc->path);
	rocprof_header_read(&rc->head, &r);
	if (rc->head.kind == ROCPROF_NONE)
		return err_set(err, EINVAL,
			       "%s:%" PRIu64 ": the columns are none of a rocprof file", rc->path,
			       csv_scan_line_number(&rc->scan, r.start));
	lacks = rocprof_header_lacks(&rc->head);
	if (lacks)
		return err_set(err, EINVAL, "%s:%" PRIu64 ": no column '%s'", rc->path,
			       csv_scan_line_number(&rc->scan, r.start), lacks);
	return 0;
}

static void rocprof_release(struct rocprof_csv *rc)
{
	for (size_t i = 0; i < rc->devices.nr; i++)
		free((char *)(uintptr_t)rc->devices.v[i].said.p);
	for (size_t i = 0; i < rc->totals.nr; i++)
		free(rc->totals.v[i].text);
	VEC_RELEASE(&rc->devices);
	VEC_RELEASE(&rc->totals);
	VEC_RELEASE(&rc->unlinked);
	u64map_release(&rc->queues);
	u64map_release(&rc->threads);
	u64map_release(&rc->processes);
	u64map_release(&rc->series);
	u64map_release(&rc->dispatches);
	u64map_release(&rc->addresses);
	u64map_release(&rc->dispatch_ends.at);
	VEC_RELEASE(&rc->dispatch_ends.end_ns);
	rocprof_header_release(&rc->head);
	rocprof_group_release(&rc->group);
	csv_scan_release(&rc->scan);
	strbuf_release(&rc->text);
	strbuf_release(&rc->args);
	launch_shapes_release(&rc->shapes);
	input_unmap(&rc->map);
	free(rc->cells);
}

static int read_rocprof_csv(const char *path, struct sink *s, const struct read_opts *o,
			    struct err *err)
{
	CLEANUP(rocprof_release)
	struct rocprof_csv rc = { .path = path,
				  .opts = o,
				  .sink = s,
				  .text = STRBUF_INIT,
				  .pc_track = TRACK_NONE,
				  .guid.p = "" };
	int r = input_map(path, 0, &rc.map, err);

	if (r < 0)
		return r;
	while (rc.map.len > 0 && rc.map.data[rc.map.len - 1] == 0)
		rc.map.len--;
	mem_budget_init(&rc.memory, &rc.map);
	csv_scan_init(&rc.scan, rc.map.data, rc.map.len);
	r = read_header(&rc, err);
	if (r < 0)
		return r;
	rocprof_group_find(&rc.group, path, &rc.head);
	rc.dispatches_elsewhere =
		rc.head.kind == ROCPROF_COUNTERS && rocprof_group_has(&rc.group, "kernel_trace");
	if (rc.dispatches_elsewhere && !rc.head.timed)
		rocprof_group_ends(&rc.group, &rc.dispatch_ends);
	csv_begin(&rc);
	read_together(&rc);
	return csv_finish(&rc);
}

static int probe_rocprof_csv(const struct probe *p)
{
	CLEANUP(rocprof_header_release) struct rocprof_header h = { .names = VEC_INIT };
	CLEANUP(csv_scan_release) struct csv_scan scan = { .data = NULL };
	struct csv_record r;

	if (p->is_dir)
		return 0;
	csv_scan_init(&scan, (const char *)p->head, p->head_len);
	if (csv_scan_next(&scan, &r) == 0)
		return 0;
	rocprof_header_read(&h, &r);
	if (h.kind == ROCPROF_NONE)
		return 0;
	return rocprof_header_lacks(&h) ? 60 : 90;
}

static char *recording_rocprof_csv(const struct probe *p)
{
	char *name = rocprof_group_name(p);

	return name ? name : recording_named(p);
}

const struct reader reader_rocprof_csv = {
	.name = "rocprof_csv",
	.about = "CSV files of rocprofv3 (traces, counters) and of rocprof v1 (results.csv)",
	.suffixes = ".csv[.gz|.zst]",
	.probe = probe_rocprof_csv,
	.read = read_rocprof_csv,
	.recording = recording_rocprof_csv,
	.richness = 1,
};
