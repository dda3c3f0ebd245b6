/*
 * profrig's sampling files (samples_file.h has the format). Rows are written during a run, so the
 * last line may be cut and its value may have lost digits: it is not used.
 */
#include "input_sink.h"
#include "readers_private.h"
#include "tally.h"
#include "text_slice.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/num.h"
#include "profrig/base/samples_file.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/scan/input.h"

struct samples_reading {
	const char *path;
	const struct read_opts *opts;
	struct sink *sink;
	struct input_map map;
	struct samples_header head;
	VEC(series_id) columns;
	track_id marks;
	uint64_t line, rows;
	struct tally bad_rows, bad_numbers;
};

static const char *host_of(const struct samples_reading *sm)
{
	return sm->head.host[0] ? sm->head.host : NULL;
}

/* Marks need a sink with its clock set, so they are read only behind the header. */
static void take_mark(struct samples_reading *sm, struct text_slice line)
{
	struct span_def d = { .kind = SPAN_INSTANT, .args = STR_NONE };
	const char *name;
	size_t n;
	bool timed;

	if (!samples_mark_take(line.p, line.n, &d.start_ns, &timed, &name, &n))
		return;
	if (!timed) {
		tally_line(&sm->bad_rows, sm->line);
		return;
	}
	if (sm->marks == TRACK_NONE) {
		struct track_def td = TRACK_DEF_INIT;

		td.kind = TRACK_COUNTER;
		td.name = "marks";
		td.host = host_of(sm);
		sm->marks = sm->sink->ops->track(sm->sink, &td);
	}
	d.track = sm->marks;
	d.end_ns = d.start_ns;
	d.name = sm->sink->ops->string(sm->sink, name, n);
	d.category = sink_puts(sm->sink, "mark");
	sm->sink->ops->span(sm->sink, &d);
}

static enum trace_clock clock_of(const char *name)
{
	if (strcmp(name, "CLOCK_REALTIME") == 0)
		return TRACE_CLOCK_REALTIME;
	if (strcmp(name, "CLOCK_BOOTTIME") == 0)
		return TRACE_CLOCK_BOOTTIME;
	return strcmp(name, "CLOCK_MONOTONIC") == 0 ? TRACE_CLOCK_MONOTONIC : TRACE_CLOCK_OWN;
}

/* "gpu0", "node3:pkg1": the device a series name ends in, NULL when it ends in no device. */
static const char *device_of(const char *name)
{
	static const char *const words[] = { "gpu",  "cpu",  "socket", "pkg",
					     "dram", "core", "uncore", "psys" };
	const char *dot = strrchr(name, '.'), *colon, *word;

	if (!dot)
		return NULL;
	colon = strrchr(dot, ':');
	word = colon ? colon + 1 : dot + 1;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]), digits;

		if (strncmp(word, words[i], n) != 0)
			continue;
		digits = strspn(word + n, "0123456789");
		if (digits > 0 && word[n + digits] == '\0')
			return dot + 1;
	}
	return NULL;
}

static series_id column_series(struct samples_reading *sm, const char *field)
{
	const struct samples_column c = samples_column_take(field);
	CLEANUP(xfreep) char *name = xstrndup(field, c.series_n);
	CLEANUP(xfreep) char *unit = c.unit ? xstrndup(c.unit, c.unit_n) : NULL;
	const char *pci;
	char plain[32];
	struct series_def d = {
		.name = name,
		.unit = unit,
		.device = device_of(name),
		.host = host_of(sm),
		.kind = c.cumulative ? SERIES_CUMULATIVE : SERIES_GAUGE,
		.track = TRACK_NONE,
		.change_points = sm->head.changes,
		.estimated = sm->head.estimated,
	};

	if (!d.device && !c.device)
		d.device = sm->opts->device;
	pci = samples_header_pci(&sm->head, d.device);
	if (pci && model_pci_text(pci, strlen(pci), plain))
		d.pci = plain;
	return sm->sink->ops->series(sm->sink, &d);
}

/* 1: it was the header; 0: an empty line. */
static int take_header(struct samples_reading *sm, struct text_slice line, struct err *err)
{
	struct csv_reader *csv = csv_open_mem(line.p, line.n);
	char *const *fields;
	size_t n = 0;
	int r = csv_next(csv, &fields, &n, err);

	if (r > 0 && strcmp(fields[0], "t_ns") != 0)
		r = err_set(err, EINVAL, "line %" PRIu64 ": the first column is not 't_ns'",
			    sm->line);
	if (r > 0 && n < 2)
		r = err_set(err, EINVAL, "line %" PRIu64 ": no series beside t_ns", sm->line);
	if (r > 0) {
		struct input *in;

		in = input_begin(sm->sink, sm->path, "samples");
		input_format(in, "profrig samples", clock_of(sm->head.clock));
		in->resolution_hz = 1e9;
		in->has_realtime_anchor = sm->head.anchored;
		in->anchor_own_ns = sm->head.anchor.monotonic_ns;
		in->anchor_realtime_ns = sm->head.anchor.realtime_ns;
		sm->sink->ops->clock(sm->sink);
		if (sm->head.version[0] && strcmp(sm->head.version, SAMPLES_VERSION) != 0)
			sink_warnf(sm->sink, W_UNKNOWN_VERSION,
				   "sampling file of version '%s'; only 1 is known",
				   sm->head.version);
		for (size_t i = 1; i < n; i++)
			VEC_PUSH(&sm->columns, column_series(sm, fields[i]));
	}
	csv_free(csv);
	return r;
}

static bool take_value(struct samples_reading *sm, size_t column, int64_t t_ns, struct text_slice f)
{
	double v;
	enum samples_value what = samples_value_take(f.p, f.n, &v);

	if (what == SAMPLES_FAILED || what == SAMPLES_NUMBER)
		sm->sink->ops->sample(sm->sink, sm->columns.v[column], t_ns, v);
	return what != SAMPLES_BAD;
}

static size_t count_fields(struct text_slice line)
{
	size_t n = 1;

	for (size_t i = 0; i < line.n; i++)
		n += line.p[i] == ',';
	return n;
}

static void samples_row_take(struct samples_reading *sm, struct text_slice line)
{
	struct text_slice rest = line;
	int64_t t_ns = 0;

	/* a row is taken whole or not at all: with a field too few it is unknown which */
	if (count_fields(line) != sm->columns.nr + 1) {
		tally_line(&sm->bad_rows, sm->line);
		return;
	}
	for (size_t i = 0; i <= sm->columns.nr; i++) {
		const char *comma = memchr(rest.p, ',', rest.n);
		size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
		struct text_slice f = slice_trim((struct text_slice){ rest.p, n });

		rest.p += n + (comma != NULL);
		rest.n -= n + (comma != NULL);
		if (i == 0) {
			if (num_i64(f.p, f.n, &t_ns) == 0)
				continue;
			tally_line(&sm->bad_rows, sm->line);
			return;
		}
		if (!take_value(sm, i - 1, t_ns, f))
			tally_line(&sm->bad_numbers, sm->line);
	}
	sm->rows++;
}

static int samples_finish(struct samples_reading *sm, bool cut)
{
	tally_warn(&sm->bad_rows, sm->sink, W_BAD_EVENT,
		   "rows or marks without a time, rows with another number of fields");
	tally_warn(&sm->bad_numbers, sm->sink, W_BAD_NUMBER, "values that are no numbers");
	sink_warn(sm->sink, W_UNTERMINATED, cut, "the last line is cut off and was not used");
	sink_fact(sm->sink, "rows", (int64_t)sm->rows);
	return input_finish(sm->sink, &sm->map, false, "no samples");
}

static int read_lines(struct samples_reading *sm, struct err *err)
{
	struct text_slice rest = slice_behind_mark(sm->map.data, sm->map.len), line;
	bool begun = false, whole = true;
	int r;

	while (slice_line(&rest, &line, &whole)) {
		sm->line++;
		line = slice_trim(line);
		if (line.n == 0)
			continue;
		if (begun && !whole)
			return samples_finish(sm, true);
		if (*line.p == '#') {
			line = (struct text_slice){ line.p + 1, line.n - 1 };
			if (begun)
				take_mark(sm, line);
			else
				samples_header_take(&sm->head, line.p, line.n);
			continue;
		}
		if (begun) {
			samples_row_take(sm, line);
			continue;
		}
		r = take_header(sm, line, err);
		if (r < 0)
			return r;
		begun = r > 0;
	}
	if (!begun)
		return err_set(err, ENODATA, "holds no header line");
	return samples_finish(sm, false);
}

static void samples_release(struct samples_reading *sm)
{
	input_unmap(&sm->map);
	VEC_RELEASE(&sm->columns);
	samples_header_release(&sm->head);
}

static int read_samples(const char *path, struct sink *s, const struct read_opts *o,
			struct err *err)
{
	CLEANUP(samples_release)
	struct samples_reading sm = {
		.path = path, .opts = o, .sink = s, .head = SAMPLES_HEADER_INIT, .marks = TRACK_NONE
	};
	int r = input_map(path, 0, &sm.map, err);

	if (r < 0)
		return r;
	while (sm.map.len > 0 && sm.map.data[sm.map.len - 1] == 0)
		sm.map.len--;
	r = read_lines(&sm, err);
	return r < 0 ? err_wrap(err, r, "%s", path) : r;
}

static int probe_samples(const struct probe *p)
{
	struct text_slice rest = slice_behind_mark(p->head, p->head_len), line;
	bool whole;

	if (p->is_dir)
		return 0;
	while (slice_line(&rest, &line, &whole)) {
		line = slice_trim(line);
		if (line.n > 0 && *line.p != '#')
			return line.n > 5 && memcmp(line.p, "t_ns,", 5) == 0 ? 90 : 0;
	}
	return 0;
}

const struct reader reader_samples = {
	.name = "samples",
	.about = "profrig's sampling files: power, energy, memory and utilisation over time",
	.suffixes = ".csv[.gz|.zst]",
	.probe = probe_samples,
	.read = read_samples,
	.counters_only = true,
};
