/*
 * Metric CSV: the counters of an OTF2 archive, as converters write them:
 *
 *	Group,Metric Name,Time,Value
 *	MPI Rank 0,A2rocm_smi:::energy_count:device=0,0.19654027372442903,103765944891752
 *
 * A group is a location group, mostly a process: "MPI Rank 0" gives its rank. Time is in seconds
 * from an unknown origin, so the clock is the file's own. Values are as recorded; kind, unit and
 * device follow from the metric's name alone (counters.h). Series are in any order. A process
 * without counters has a file with the header only.
 *
 * By default converters leave out rows that repeat their series' value. The text does not state it,
 * so a first pass decides: two equal values in a row, in a series in order of time, prove that
 * everything was kept; else only changes were. Then a gauge holds its value until the next row,
 * while an energy counter, which grows whenever power is drawn, is linear between its rows
 * (counter_holds). Rows left out at the end of a series would lose its last interval. So a series
 * whose value fell once or never changed, which excludes a working energy counter, gets its last
 * value again at the last row of its recorder: the component before ":::" reads all its counters
 * together. A series that only rises is taken as a counter and gets nothing.
 */
#include "input_sink.h"
#include "readers_private.h"
#include "tally.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/num.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/scan/input.h"

/* Far more than any machine has counters; a file of nothing but names must not fill the memory. */
#define MAX_METRICS 32768

static const char *const header[] = { "Group", "Metric Name", "Time", "Value" };

/* The metrics of a group that are read together. */
struct recorder {
	bool any;
	int64_t last_ns; /* of its latest row */
};

struct metric {
	str_id group, name;
	uint32_t recorder;
	series_id id;
	uint64_t rows;
	int64_t last_ns; /* the latest row and its value */
	double last;
	bool repeats, disordered, rose, fell;
};

struct metrics_csv {
	const char *path;
	struct sink *sink;
	struct input_map map;
	struct intern *names;
	struct u64map recorder_ids, metric_ids; /* by group and name */
	VEC(struct recorder) recorders;
	VEC(struct metric) metrics;
	bool changes_only, cut;
	uint64_t rows, held;
	struct tally bad_rows, bad_values, too_many;
	struct err damage; /* where the text stops being CSV; code 0 where it does not */
};

struct row {
	struct metric *metric;
	int64_t t_ns;
	double value; /* NaN: the read failed */
};

typedef void row_fn(struct metrics_csv *mc, const struct row *row);

/* A cell without the blanks around it. */
static const char *cell_text(const char *s, size_t *ret_n)
{
	size_t n;

	s += strspn(s, " \t");
	for (n = strlen(s); n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'); n--)
		;
	*ret_n = n;
	return s;
}

static bool cell_is(const char *s, const char *word)
{
	size_t n;

	s = cell_text(s, &n);
	return n == strlen(word) && memcmp(s, word, n) == 0;
}

static bool is_header(char *const *fields, size_t n)
{
	if (n != ARRAY_LEN(header))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!cell_is(fields[i], header[i]))
			return false;
	return true;
}

/* An empty cell and NA are reads that failed, as nan is. */
static bool parse_value(const char *s, double *ret)
{
	size_t n;

	s = cell_text(s, &n);
	*ret = NAN;
	return n == 0 || (n == 2 && memcmp(s, "NA", 2) == 0) || num_f64(s, n, ret) == 0;
}

/* "A2rocm_smi:::energy_count:device=0": PAPI's component, behind the name of the plug-in. */
static uint32_t recorder_at(struct metrics_csv *mc, str_id group, const char *metric)
{
	const char *end = strstr(metric, ":::");
	str_id name = intern_put(mc->names, metric, end ? (size_t)(end - metric) : 0);
	uint32_t *at = u64map_at(&mc->recorder_ids, u64map_pair(group, name));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)mc->recorders.nr;
		VEC_PUSH(&mc->recorders, (struct recorder){ .any = false });
	}
	return *at;
}

static bool is_metric(const struct metrics_csv *mc, const char *group_name, const char *name)
{
	str_id group = intern_find(mc->names, group_name, strlen(group_name));
	str_id id = intern_find(mc->names, name, strlen(name));

	return group != STR_NONE && id != STR_NONE &&
	       u64map_get(&mc->metric_ids, u64map_pair(group, id)) != U64MAP_NONE;
}

/* NULL: there are too many. */
static struct metric *metric_at(struct metrics_csv *mc, const char *group_name, const char *name)
{
	str_id group, id;
	uint32_t *at;

	if (mc->metrics.nr == MAX_METRICS && !is_metric(mc, group_name, name))
		return NULL;
	group = intern_puts(mc->names, group_name);
	id = intern_puts(mc->names, name);
	at = u64map_at(&mc->metric_ids, u64map_pair(group, id));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)mc->metrics.nr;
		VEC_PUSH(&mc->metrics, (struct metric){ .group = group,
							.name = id,
							.recorder = recorder_at(mc, group, name) });
	}
	return &mc->metrics.v[*at];
}

static bool parse_row(struct metrics_csv *mc, char *const *f, size_t n,
		      const struct csv_reader *csv, struct row *ret)
{
	size_t len = 0;
	const char *at = n == ARRAY_LEN(header) ? cell_text(f[2], &len) : NULL;

	if (!at || num_decimal(at, len, 9, &ret->t_ns) < 0) {
		tally_line(&mc->bad_rows, csv_line(csv));
		return false;
	}
	if (!parse_value(f[3], &ret->value)) {
		tally_line(&mc->bad_values, csv_line(csv));
		return false;
	}
	ret->metric = metric_at(mc, f[0], f[1]);
	if (!ret->metric)
		tally_line(&mc->too_many, csv_line(csv));
	return ret->metric != NULL;
}

/* First pass: which series there are, and what becomes of their values. */
static void survey_row(struct metrics_csv *mc, const struct row *row)
{
	struct metric *m = row->metric;
	struct recorder *rec = &mc->recorders.v[m->recorder];

	mc->rows++;
	if (!rec->any || row->t_ns > rec->last_ns)
		rec->last_ns = row->t_ns;
	rec->any = true;
	if (!isfinite(row->value))
		return;
	if (m->rows++ > 0) {
		bool back = row->t_ns < m->last_ns;

		m->disordered |= back;
		m->repeats |= row->t_ns > m->last_ns && row->value == m->last;
		m->rose |= back ? row->value < m->last : row->value > m->last;
		m->fell |= back ? row->value > m->last : row->value < m->last;
		if (back)
			return;
	}
	m->last_ns = row->t_ns;
	m->last = row->value;
}

static void push_row(struct metrics_csv *mc, const struct row *row)
{
	mc->sink->ops->sample(mc->sink, row->metric->id, row->t_ns, row->value);
}

/* Calls take for every row behind the header. The text ends where it is no valid CSV: damage. */
static int read_rows(struct metrics_csv *mc, row_fn *take, struct err *err)
{
	struct csv_reader *csv = csv_open_mem(mc->map.data, mc->map.len);
	char *const *f;
	size_t n;
	int r = csv_next(csv, &f, &n, err);

	mc->bad_rows = mc->bad_values = mc->too_many = (struct tally){ 0 };
	if (r == 0)
		r = err_set(err, ENODATA, "holds no header line");
	else if (r > 0 && !is_header(f, n))
		r = err_set(err, EINVAL,
			    "line %" PRIu64 ": the header is not 'Group,Metric Name,Time,Value'",
			    csv_line(csv));
	if (r < 0) {
		csv_free(csv);
		return r;
	}
	mc->damage = (struct err)ERR_INIT;
	while (csv_next(csv, &f, &n, &mc->damage) > 0) {
		struct row row;

		if (parse_row(mc, f, n, csv, &row))
			take(mc, &row);
	}
	csv_free(csv);
	return 0;
}

/* "MPI Rank 12", "rank_3": the number that a group's name ends in. */
static int32_t rank_of(const char *name)
{
	size_t end = strlen(name), digits = end, word;
	uint64_t rank;

	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	for (word = digits; word > 0 && strchr(" _:#", name[word - 1]); word--)
		;
	if (word < 4 || strncasecmp(name + word - 4, "rank", 4) != 0 ||
	    (word > 4 && isalnum((unsigned char)name[word - 5])) ||
	    num_u64(name + digits, end - digits, &rank) < 0 || rank > INT32_MAX)
		return RANK_NONE;
	return (int32_t)rank;
}

static track_id group_track(struct metrics_csv *mc, str_id group)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_PROCESS;
	d.name = intern_str(mc->names, group);
	d.rank = rank_of(d.name);
	d.key = group;
	return *d.name ? mc->sink->ops->track(mc->sink, &d) : TRACK_NONE;
}

static void make_series(struct metrics_csv *mc)
{
	input_format(input_begin(mc->sink, mc->path, "metrics_csv"), "metric CSV", TRACE_CLOCK_OWN);
	mc->sink->ops->clock(mc->sink);
	mc->changes_only = mc->metrics.nr > 0;
	for (size_t i = 0; i < mc->metrics.nr; i++)
		mc->changes_only &= !mc->metrics.v[i].repeats || mc->metrics.v[i].disordered;
	for (size_t i = 0; i < mc->metrics.nr; i++) {
		struct metric *m = &mc->metrics.v[i];
		struct series_def d = { .name = intern_str(mc->names, m->name),
					.kind = SERIES_UNKNOWN,
					.track = group_track(mc, m->group),
					.change_points = mc->changes_only };

		m->id = mc->sink->ops->series(mc->sink, &d);
	}
}

static void hold_last(struct metrics_csv *mc)
{
	for (size_t i = 0; mc->changes_only && i < mc->metrics.nr; i++) {
		struct metric *m = &mc->metrics.v[i];
		int64_t end_ns = mc->recorders.v[m->recorder].last_ns;

		if (m->rows == 0 || m->last_ns == end_ns || (m->rose && !m->fell))
			continue;
		push_row(mc, &(struct row){ m, end_ns, m->last });
		mc->held++;
	}
}

/* Before the samples: a warning keeps its first text, and these know their lines. */
static void bad_rows_warn(struct metrics_csv *mc)
{
	tally_warn(&mc->bad_rows, mc->sink, W_BAD_EVENT,
		   "rows without a time or with another number of fields than four");
	tally_warn(&mc->bad_values, mc->sink, W_BAD_NUMBER, "values that are no numbers");
	tally_warn(&mc->too_many, mc->sink, W_BAD_EVENT, "rows of more metrics than can be true");
}

static int metrics_finish(struct metrics_csv *mc)
{
	sink_fact(mc->sink, "rows", (int64_t)mc->rows);
	sink_fact(mc->sink, "changes_only", mc->changes_only);
	sink_fact(mc->sink, "held", (int64_t)mc->held);
	if (mc->cut)
		sink_warnf(mc->sink, W_TRUNCATED,
			   "the last row has no line end, so it may be cut; it was not used");
	if (mc->damage.code)
		sink_warnf(mc->sink, W_TRUNCATED, "%s; the rows from there on were not used",
			   mc->damage.msg);
	return input_finish(mc->sink, &mc->map, mc->cut || mc->damage.code, "no samples");
}

/* Cuts the text at the last line end: a row behind it may have lost digits. A header without a line
 * end stays. */
static void drop_tail(struct metrics_csv *mc)
{
	const char *end = mc->map.len ? memrchr(mc->map.data, '\n', mc->map.len) : NULL;
	size_t whole = end ? (size_t)(end - mc->map.data) + 1 : 0;

	mc->cut = whole > 0 && whole < mc->map.len;
	if (mc->cut)
		mc->map.len = whole;
}

static void metrics_csv_release(struct metrics_csv *mc)
{
	input_unmap(&mc->map);
	intern_free(mc->names);
	u64map_release(&mc->recorder_ids);
	u64map_release(&mc->metric_ids);
	VEC_RELEASE(&mc->recorders);
	VEC_RELEASE(&mc->metrics);
}

static int read_metrics_csv(const char *path, struct sink *s, const struct read_opts *o,
			    struct err *err)
{
	CLEANUP(metrics_csv_release)
	struct metrics_csv mc = { .path = path, .sink = s };
	int r = input_map(path, 0, &mc.map, err);

	(void)o;
	if (r < 0)
		return r;
	mc.names = intern_new();
	drop_tail(&mc);
	r = read_rows(&mc, survey_row, err);
	if (r < 0)
		return err_wrap(err, r, "%s", path);
	make_series(&mc);
	bad_rows_warn(&mc);
	r = read_rows(&mc, push_row, err);
	if (r < 0)
		return err_wrap(err, r, "%s", path);
	hold_last(&mc);
	return metrics_finish(&mc);
}

static int probe_metrics_csv(const struct probe *p)
{
	struct csv_reader *csv;
	char *const *f;
	size_t n;
	int score;

	if (p->is_dir)
		return 0;
	csv = csv_open_mem((const char *)p->head, p->head_len);
	score = csv_next(csv, &f, &n, NULL) > 0 && is_header(f, n) ? 95 : 0;
	csv_free(csv);
	return score;
}

const struct reader reader_metrics_csv = {
	.name = "metrics_csv",
	.about = "counters of an OTF2 archive as rows of group, metric, time and value",
	.suffixes = ".csv[.gz|.zst]",
	.probe = probe_metrics_csv,
	.read = read_metrics_csv,
	.counters_only = true,
};
