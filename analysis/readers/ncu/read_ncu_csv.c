/*
 * CSV of Nsight Compute (`ncu --csv`), on its own or among the output of the program: lines that
 * are no rows ("==PROF== …") are passed over. Two forms:
 *
 *	--page raw	"ID","Process ID","Process Name","Host Name","Kernel Name","Context",
 *			"Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum",…
 *			"","","","","","","","","","","","usecond",…		units of the columns
 *			"0","108","app","127.0.0.1","saxpy(int)","1","7","(256, 1, 1)",…,"12.50",…
 *	--page details	… "CC","Section Name","Metric Name","Metric Unit","Metric Value"
 *			a row for each metric of a kernel, with a unit of its own; newer versions
 *			add columns of rules, whose rows have no metric
 *
 * Older versions have fewer columns, so all are found by name; ranges of NVTX may stand between
 * them. The summary of --print-summary has no single kernels and is refused.
 *
 * Numbers are written by the locale of the user (ncu_number.c), values in units that fit them, by
 * row or column: all become base units, ns, byte, hz, and what is counted "per second" is per s.
 * "n/a" is absent. Texts (the name of a cache configuration) are no counters, and properties of the
 * device (device__attribute_…) are none of a kernel. Of a metric that several sections list, the
 * details page has one label for several things (Memory Throughput in % and in byte/s): its section
 * then stands in front. A name with "__" is the metric's own and means one thing in all sections.
 *
 * Kernels have a length (gpu__time_duration, or Duration of the details page) and an order, and no
 * times, as each was run again for each pass. So they stand one behind the other, from 0 on; a
 * kernel without a length has none, and begins 1 ns behind the last one. Beside the trace of a run
 * the session puts the counters to its kernels instead (kernel_join.h).
 *
 * Three passes over the text: which kernels and metrics there are and how numbers are written; how
 * long kernels are; samples.
 *
 * Facts: public outputs of Nsight Compute 2019 to 2025, and its user guide.
 */
#include "input_sink.h"
#include "ncu_csv.h"
#include "readers_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

#define MAX_METRICS 32768
/* A kernel here, in the maps, as a span and as a row of facts. */
#define KERNEL_BYTES 360
#define SAMPLE_BYTES 32
/* Longer than any kernel; so many of them stay inside the times of a model. */
#define MAX_LENGTH_NS 1e15

/* ---- rows ---- */

struct csv_text ncu_cell(const struct ncu *nc, const struct csv_record *r, enum ncu_column c)
{
	int at = nc->head.at[c];

	return at < 0 || (size_t)at >= r->nr ? (struct csv_text){ "", 0 }
					     : csv_field(r, (size_t)at);
}

int64_t ncu_cell_number(const struct ncu *nc, const struct csv_record *r, enum ncu_column c)
{
	struct csv_text t = ncu_cell(nc, r, c);
	int64_t v;

	return num_i64(t.p, t.n, &v) == 0 && v >= 0 ? v : -1;
}

static bool begins(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static bool is_header_line(const char *p, const char *end)
{
	return begins(p, end, "\"ID\",\"Process ID\",") || begins(p, end, "ID,Process ID,") ||
	       begins(p, end, "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",");
}

static void fault(struct ncu *nc, struct tally *t, const struct csv_record *r)
{
	tally_byte(t, (uint64_t)(r->start - nc->map.data));
}

/* Whether a record can be a row; a line of the program is none. */
static bool may_be_row(const struct ncu *nc, const struct csv_record *r)
{
	const char *end = nc->map.data + nc->map.len;

	if (is_header_line(r->start, end))
		return false;
	return nc->quoted ? *r->start == '"' : !begins(r->start, end, "==");
}

/* A last row without a line end may have lost the end of its value, if no quote closes that. */
static bool is_torn(const struct ncu *nc, const struct csv_record *r)
{
	return !r->ended && !(nc->quoted && nc->map.data[nc->map.len - 1] == '"');
}

/* The next row; false: there are no more. */
static bool row_next(struct ncu *nc, struct csv_record *r)
{
	while (csv_scan_next(&nc->scan, r) > 0) {
		bool row = may_be_row(nc, r), ended = true;

		if (row && !r->broken && r->nr <= nc->head.nr && !is_torn(nc, r))
			return true;
		csv_scan_line(&nc->scan, r, &ended);
		if (!row)
			nc->other_lines++;
		else if (!ended)
			nc->cut = r->start;
		else
			fault(nc, &nc->bad_rows, r);
	}
	return false;
}

/* ---- metrics ---- */

static bool text_begins(const char *s, const char *word)
{
	return strncmp(s, word, strlen(word)) == 0;
}

#define NCU_NO_METRIC UINT32_MAX

/* Whether it says something of the kernel itself (kernel_learn). */
static bool is_of_kernel(const char *name)
{
	return text_begins(name, "gpu__time_duration.") || text_begins(name, "launch__") ||
	       strcmp(name, "Duration") == 0 || strstr(name, "Registers Per Thread") ||
	       strstr(name, "Shared Memory Per Block");
}

static uint32_t metric_new(struct ncu *nc, str_id name, str_id section, struct csv_text unit)
{
	char base[64];
	struct ncu_metric m = { .name = name, .section = section, .last = NCU_NO_KERNEL };

	ncu_unit(unit, base, &m.factor);
	m.base = intern_str(nc->names, intern_puts(nc->names, base));
	m.of_kernel = is_of_kernel(intern_str(nc->names, name));
	m.property = text_begins(intern_str(nc->names, name), "device__attribute_");
	VEC_PUSH(&nc->metrics, m);
	return (uint32_t)nc->metrics.nr - 1;
}

static str_id name_put(struct ncu *nc, struct csv_text t)
{
	str_id id = intern_put(nc->names, t.p, t.n);

	if (id >= nc->newest) {
		nc->newest = id + 1;
		mem_budget_take(&nc->memory, t.n + MEM_STRING);
	}
	return id;
}

/* Of a row of the long form. */
static uint32_t metric_of(struct ncu *nc, const struct csv_record *r)
{
	struct csv_text t = ncu_cell(nc, r, NCU_METRIC), s = ncu_cell(nc, r, NCU_SECTION);
	bool own = memmem(t.p, t.n, "__", 2) != NULL;
	str_id name, section;
	uint32_t *at, *first;

	if (t.n == 0)
		return NCU_NO_METRIC;
	if (nc->metrics.nr == MAX_METRICS && nc->pass == NCU_SURVEY &&
	    intern_find(nc->names, t.p, t.n) == STR_NONE)
		return NCU_NO_METRIC;
	name = name_put(nc, t);
	section = name_put(nc, s);
	at = u64map_at(&nc->metric_at, u64map_pair(name, own ? 0 : section));
	if (*at != U64MAP_NONE)
		return *at;
	if (nc->metrics.nr == MAX_METRICS)
		return *at = NCU_NO_METRIC;
	*at = metric_new(nc, name, section, ncu_cell(nc, r, NCU_UNIT));
	first = u64map_at(&nc->section_of, name);
	if (*first == U64MAP_NONE)
		*first = (uint32_t)nc->metrics.nr - 1;
	else
		nc->metrics.v[*first].several = nc->metrics.v[nc->metrics.nr - 1].several = true;
	return (uint32_t)nc->metrics.nr - 1;
}

/* The row of units below the header of the wide form. */
static void units_take(struct ncu *nc, const struct csv_record *r)
{
	for (size_t i = 0; i < nc->head.nr && i < r->nr; i++) {
		char base[64];
		struct ncu_metric *m;

		if (!nc->head.metric[i])
			continue;
		m = &nc->metrics.v[nc->column.v[i]];
		ncu_unit(csv_field(r, i), base, &m->factor);
		m->base = intern_str(nc->names, intern_puts(nc->names, base));
	}
}

static void columns_take(struct ncu *nc, const struct csv_record *r)
{
	for (size_t i = 0; i < nc->head.nr; i++) {
		uint32_t at = NCU_NO_METRIC;

		if (nc->head.metric[i])
			at = metric_new(nc, name_put(nc, csv_field(r, i)), STR_NONE,
					(struct csv_text){ "", 0 });
		VEC_PUSH(&nc->column, at);
	}
}

/* ---- kernels ---- */

/* The number of a row's kernel; NCU_NO_KERNEL: no row of a kernel, or there is no room for it. */
static uint32_t kernel_of(struct ncu *nc, const struct csv_record *r)
{
	int64_t id = ncu_cell_number(nc, r, NCU_ID), pid = ncu_cell_number(nc, r, NCU_PID);
	uint64_t key = mix64(mix64((uint64_t)id) ^ (uint64_t)pid);
	uint32_t at;

	if (id < 0) {
		fault(nc, &nc->bad_rows, r);
		return NCU_NO_KERNEL;
	}
	if (nc->head.form == NCU_WIDE)
		key = nc->rows;
	at = u64map_get(&nc->kernel_at, key);
	if (at != U64MAP_NONE || nc->pass != NCU_SURVEY)
		return at;
	mem_budget_read(&nc->memory, (size_t)(r->start - nc->map.data));
	if (!mem_budget_has(&nc->memory, KERNEL_BYTES)) {
		fault(nc, &nc->crowd, r);
		return NCU_NO_KERNEL;
	}
	mem_budget_take(&nc->memory, KERNEL_BYTES);
	*u64map_at(&nc->kernel_at, key) = (uint32_t)nc->kernels.nr;
	VEC_PUSH(&nc->kernels, ((struct ncu_kernel){ .dur_ns = FACT_ABSENT,
						     .registers = FACT_ABSENT,
						     .shared_bytes = FACT_ABSENT }));
	return (uint32_t)nc->kernels.nr - 1;
}

/* ---- the passes ---- */

static bool name_is(const struct ncu *nc, const struct ncu_metric *m, const char *own,
		    const char *label)
{
	const char *name = intern_str(nc->names, m->name);

	return strcmp(name, own) == 0 || (nc->head.form == NCU_LONG && strcmp(name, label) == 0);
}

static void fact_add(int64_t *fact, double v)
{
	if (v >= 0 && v < (double)FACT_SIZE_MAX)
		*fact = (*fact == FACT_ABSENT ? 0 : *fact) + (int64_t)llround(v);
}

/* Of a value in base units: what it says of the kernel itself. */
static void kernel_learn(struct ncu *nc, struct ncu_kernel *k, const struct ncu_metric *m, double v,
			 const char *base)
{
	const char *name = intern_str(nc->names, m->name);

	if ((text_begins(name, "gpu__time_duration.") || name_is(nc, m, "", "Duration")) &&
	    strcmp(base, "ns") == 0 && k->dur_ns == FACT_ABSENT && v >= 0 && v < MAX_LENGTH_NS)
		k->dur_ns = llround(v);
	else if (name_is(nc, m, "launch__registers_per_thread", "Registers Per Thread") &&
		 k->registers == FACT_ABSENT)
		fact_add(&k->registers, v);
	else if (name_is(nc, m, "launch__shared_mem_per_block_static",
			 "Static Shared Memory Per Block") ||
		 name_is(nc, m, "launch__shared_mem_per_block_dynamic",
			 "Dynamic Shared Memory Per Block"))
		fact_add(&k->shared_bytes, v);
}

/* A metric that several sections list under its own name counts once for each kernel. */
static bool is_repeated(struct ncu *nc, uint32_t kernel, uint32_t metric)
{
	struct ncu_metric *m = &nc->metrics.v[metric];
	bool again = nc->head.form == NCU_LONG && m->last == kernel;

	nc->repeated += again;
	m->last = kernel;
	return again;
}

static void value_count(struct ncu *nc, const struct csv_record *r, enum ncu_value is)
{
	nc->absent += is == NCU_ABSENT;
	nc->texts += is == NCU_TEXT;
	nc->values += is == NCU_NUMBER;
	if (is == NCU_BAD)
		fault(nc, &nc->bad_numbers, r);
}

static void cell_take(struct ncu *nc, const struct csv_record *r, uint32_t kernel, uint32_t metric,
		      struct csv_text t, struct csv_text unit)
{
	struct ncu_metric *m = &nc->metrics.v[metric];
	char base[64] = "";
	double v = 0, factor = m->factor;
	enum ncu_value is;

	if (nc->pass == NCU_SURVEY) {
		ncu_vote(&nc->votes, t);
		return;
	}
	if (m->property) {
		ncu_push_property(nc, r, m, t);
		return;
	}
	if (nc->pass == NCU_LENGTHS && !m->of_kernel)
		return;
	is = ncu_number(t, nc->decimal, &v);
	if (nc->head.form == NCU_LONG)
		ncu_unit(unit, base, &factor);
	v *= factor;
	if (nc->pass == NCU_LENGTHS) {
		if (is == NCU_NUMBER)
			kernel_learn(nc, &nc->kernels.v[kernel], m, v,
				     nc->head.form == NCU_LONG ? base : m->base);
		return;
	}
	if (is == NCU_NUMBER && is_repeated(nc, kernel, metric))
		return;
	value_count(nc, r, isfinite(v) ? is : NCU_BAD);
	if (is != NCU_NUMBER || !isfinite(v))
		return;
	if (!mem_budget_has(&nc->memory, SAMPLE_BYTES)) {
		fault(nc, &nc->crowd, r);
		return;
	}
	mem_budget_take(&nc->memory, SAMPLE_BYTES);
	ncu_push_value(nc, &nc->kernels.v[kernel], metric, v, r);
}

static void row_take(struct ncu *nc, const struct csv_record *r)
{
	uint32_t kernel, metric;

	if (nc->head.form == NCU_WIDE && nc->rows == 0 && ncu_cell(nc, r, NCU_ID).n == 0) {
		units_take(nc, r);
		return;
	}
	kernel = kernel_of(nc, r);
	nc->rows++;
	if (kernel == NCU_NO_KERNEL)
		return;
	if (nc->pass == NCU_PUSH)
		ncu_push_kernel(nc, &nc->kernels.v[kernel], r);
	if (nc->head.form == NCU_LONG) {
		metric = metric_of(nc, r);
		if (metric != NCU_NO_METRIC)
			cell_take(nc, r, kernel, metric, ncu_cell(nc, r, NCU_VALUE),
				  ncu_cell(nc, r, NCU_UNIT));
		else if (ncu_cell(nc, r, NCU_METRIC).n)
			fault(nc, &nc->many, r);
		return;
	}
	for (size_t i = 0; i < r->nr; i++)
		if (nc->column.v[i] != NCU_NO_METRIC)
			cell_take(nc, r, kernel, nc->column.v[i], csv_field(r, i),
				  (struct csv_text){ "", 0 });
}

static void pass_run(struct ncu *nc, enum ncu_pass pass)
{
	struct csv_record r;

	nc->pass = pass;
	nc->rows = nc->other_lines = 0;
	nc->bad_rows = nc->many = (struct tally){ 0 };
	if (pass != NCU_PUSH)
		nc->crowd = (struct tally){ 0 };
	csv_scan_range(&nc->scan, nc->rows_from, nc->map.len);
	while (row_next(nc, &r))
		row_take(nc, &r);
}

/* ---- the file ---- */

static int header_find(struct ncu *nc, struct err *err)
{
	const char *end = nc->map.data + nc->map.len;
	struct csv_record r;
	bool ended;

	while (csv_scan_next(&nc->scan, &r) > 0) {
		if (is_header_line(r.start, end)) {
			ncu_header_release(&nc->head);
			ncu_header_read(&nc->head, &r);
		}
		if (nc->head.form == NCU_WIDE || nc->head.form == NCU_LONG) {
			nc->quoted = *r.start == '"';
			nc->rows_from = nc->scan.next;
			columns_take(nc, &r);
			return 0;
		}
		if (nc->head.form == NCU_SUMMARY)
			return err_set(err, EINVAL,
				       "%s:%" PRIu64 ": a summary (--print-summary) has no single "
				       "kernels; export with --page raw or --page details",
				       nc->path, csv_scan_line_number(&nc->scan, r.start));
		csv_scan_line(&nc->scan, &r, &ended);
	}
	return err_set(err, EINVAL,
		       "%s: no header line of Nsight Compute (\"ID\",\"Process ID\",…)", nc->path);
}

static void ncu_warn(struct ncu *nc)
{
	struct sink *s = nc->sink;

	tally_warn(&nc->bad_rows, s, W_BAD_EVENT,
		   "rows without the number of a kernel, or with too many fields");
	tally_warn(&nc->bad_numbers, s, W_BAD_NUMBER, "values that are no numbers");
	tally_warn(&nc->many, s, W_BAD_EVENT, "rows of more metrics than can be true");
	tally_warn(&nc->crowd, s, W_MEMORY_LIMIT, "rows that do not fit into memory");
	track_limit_warn(&nc->tracks, s);
	if (nc->kernels.nr)
		sink_warnf(s, W_NO_TIMES,
			   "kernels have lengths and an order, and no times: they stand one behind "
			   "the other%s",
			   nc->untimed ? "; those without gpu__time_duration have no length" : "");
	if (nc->cut)
		sink_warnf(s, W_TRUNCATED,
			   "the last row has no line end, so it may be cut; it was not used");
}

static int ncu_finish(struct ncu *nc)
{
	const struct {
		const char *key;
		uint64_t value;
	} facts[] = { { "kernels", nc->kernels.nr },     { "metrics", nc->metrics.nr },
		      { "values", nc->values },          { "absent_values", nc->absent },
		      { "text_values", nc->texts },      { "repeated_values", nc->repeated },
		      { "without_length", nc->untimed }, { "other_lines", nc->other_lines } };

	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		if (facts[i].value || i < 3)
			sink_fact(nc->sink, facts[i].key, (int64_t)facts[i].value);
	ncu_warn(nc);
	return input_finish(nc->sink, &nc->map, nc->cut != NULL, "no kernels");
}

static void ncu_release(struct ncu *nc)
{
	input_unmap(&nc->map);
	csv_scan_release(&nc->scan);
	ncu_header_release(&nc->head);
	intern_free(nc->names);
	VEC_RELEASE(&nc->kernels);
	VEC_RELEASE(&nc->metrics);
	VEC_RELEASE(&nc->queues);
	VEC_RELEASE(&nc->column);
	u64map_release(&nc->kernel_at);
	u64map_release(&nc->metric_at);
	u64map_release(&nc->section_of);
	u64map_release(&nc->queue_at);
	u64map_release(&nc->series_at);
	u64map_release(&nc->devices);
	launch_shapes_release(&nc->shapes);
	strbuf_release(&nc->text);
}

static int read_ncu_csv(const char *path, struct sink *s, const struct read_opts *o,
			struct err *err)
{
	CLEANUP(ncu_release)
	struct ncu nc = { .path = path, .opts = o, .sink = s, .text = STRBUF_INIT };
	struct input *in;
	int r = input_map(path, 0, &nc.map, err);

	if (r < 0)
		return r;
	nc.names = intern_new();
	mem_budget_init(&nc.memory, &nc.map);
	csv_scan_init(&nc.scan, nc.map.data, nc.map.len);
	r = header_find(&nc, err);
	if (r < 0)
		return r;
	in = input_begin(s, path, "ncu_csv");
	input_format(in,
		     nc.head.form == NCU_WIDE ? "Nsight Compute CSV (raw)"
					      : "Nsight Compute CSV (details)",
		     TRACE_CLOCK_OWN);
	in->from_start = true;
	s->ops->clock(s);
	pass_run(&nc, NCU_SURVEY);
	nc.decimal = ncu_decimal(&nc.votes);
	pass_run(&nc, NCU_LENGTHS);
	ncu_place(&nc);
	pass_run(&nc, NCU_PUSH);
	return ncu_finish(&nc);
}

static int probe_ncu_csv(const struct probe *p)
{
	const char *at = (const char *)p->head, *end = at + p->head_len, *line;

	if (p->is_dir)
		return 0;
	if (p->head_len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	for (; at < end; at = line + 1) {
		if (is_header_line(at, end))
			return 96;
		line = memchr(at, '\n', (size_t)(end - at));
		if (!line)
			break;
	}
	return 0;
}

const struct reader reader_ncu_csv = {
	.name = "ncu_csv",
	.about = "CSV of Nsight Compute (--page raw, --page details): counters of each kernel",
	.suffixes = ".csv[.gz|.zst]",
	.probe = probe_ncu_csv,
	.read = read_ncu_csv,
	.order_only = true,
};
