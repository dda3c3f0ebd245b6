/*
 * Every file of the recordings that PROFRIG_TRACES names, read through the reader that recognises
 * it: a row of recordings.h says what comes out. A file without a row is a failure, so nothing is
 * added to the folder untested; what is no input of its own is named in `beside`. More detailed
 * answers (names, nesting, single calls) are in test_*_real.c and test_golden.c.
 */
#include "readers_test.h"
#include "recordings.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/sort.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

static const char *const figure_names[] = { "spans",  "instants", "samples", "series",  "links",
					    "tracks", "sum",      "work",    "work ns", "union" };

/* Files beside an input: its members, settings, and answers that others published. They are read
 * with it, or are no trace. */
static const struct {
	const char *folder, *pattern;
	bool member;
} beside[] = {
	{ "otf2/mi300a-two-kernels/", "traces", true },
	{ "otf2/mi300a-two-kernels/", "scorep.cfg", false },
	{ "otf2/ping-pong/", "traces", true },
	{ "otf2/ping-pong/", "scorep.cfg", false },
	{ "otf2/ping-pong-papi/", "traces", true },
	{ "otf2/ping-pong-papi/", "scorep.cfg", false },
	{ "aiu/samples/", "dt_cycles_table.log", false },
	{ "aiu/samples/", "sample_comp_log_ideal.txt", false },
	{ "tef/tracelens-mi300-qwen/", "golden_perf_report_csvs/", false },
	{ "tef/tracelens-mi300-falconsai/", "golden_perf_report_csvs/", false },
};

static const struct recording *row_of(const char *file)
{
	for (size_t i = 0; i < ARRAY_LEN(recordings); i++)
		if (strcmp(recordings[i].file, file) == 0)
			return &recordings[i];
	return NULL;
}

static void figures_of(const struct model *m, int64_t n[FIGURES])
{
	VEC(struct span_interval) work = VEC_INIT;

	memset(n, 0, FIGURES * sizeof(*n));
	n[SPANS] = (int64_t)m->spans.nr;
	n[SERIES] = (int64_t)m->series.nr;
	n[LINKS] = (int64_t)m->links.nr;
	n[TRACKS] = (int64_t)m->tracks.nr;
	for (size_t i = 0; i < m->series.nr; i++)
		n[SAMPLES] += (int64_t)m->series.v[i].t_ns.nr;
	for (size_t i = 0; i < m->spans.nr; i++) {
		struct span_interval iv = { m->spans.start_ns[i], m->spans.end_ns[i] };

		n[INSTANTS] += m->spans.kind[i] == SPAN_INSTANT;
		n[SUM_NS] += iv.end_ns - iv.start_ns;
		if (!span_is_work(m, i))
			continue;
		n[WORK_NS] += iv.end_ns - iv.start_ns;
		VEC_PUSH(&work, iv);
	}
	n[WORK] = (int64_t)work.nr;
	n[UNION_NS] = interval_union(work.v, work.nr);
	VEC_RELEASE(&work);
}

/* Sorted, each once, with blanks between. */
static char *words_of(struct strvec *words)
{
	struct strbuf out = STRBUF_INIT;

	strvec_sort(words);
	for (size_t i = 0; i < words->nr; i++)
		if (*words->v[i] && (i == 0 || strcmp(words->v[i - 1], words->v[i]) != 0))
			strbuf_addf(&out, "%s%s", out.len ? " " : "", words->v[i]);
	return strbuf_steal(&out);
}

static char *devices_of(const struct model *m)
{
	CLEANUP(strvec_release) struct strvec ids = STRVEC_INIT;

	for (size_t i = 0; i < m->tracks.nr; i++)
		strvec_push(&ids, model_str(m, m->tracks.v[i].device));
	for (size_t i = 0; i < m->series.nr; i++)
		strvec_push(&ids, model_str(m, m->series.v[i].device));
	return words_of(&ids);
}

static char *warnings_of(const struct model *m)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	for (size_t i = 0; i < m->warnings.nr; i++)
		strvec_pushf(&words, "%s %" PRIu64, m->warnings.v[i].code, m->warnings.v[i].count);
	return words_of(&words);
}

/* What the row would be. */
static void print_row(const struct recording *want, const struct recording *got)
{
	print_message("%s: %s, \"%s\", result %d\n", want->file, got->reader, got->format,
		      got->result);
	for (int i = 0; i < FIGURES; i++)
		print_message("  %-9s %" PRId64 "%s%s\n", figure_names[i], got->n[i],
			      got->n[i] == want->n[i] ? "" : ", not as it should be",
			      want->stated & BIT(i) ? " (stated)" : "");
	print_message("  devices   %s\n  warnings  %s\n", got->devices, got->warnings);
}

static bool is_as_said(const struct recording *want, const struct recording *got)
{
	bool same = strcmp(want->reader, got->reader) == 0 && want->result == got->result;

	if (want->result < 0)
		return same && strstr(got->warnings, want->warnings);
	return same && strcmp(want->format, got->format) == 0 &&
	       memcmp(want->n, got->n, sizeof(want->n)) == 0 &&
	       strcmp(want->devices, got->devices) == 0 &&
	       strcmp(want->warnings, got->warnings) == 0;
}

static bool is_read_as_said(const struct recording *want)
{
	CLEANUP(xfreep) char *path = test_trace(want->file);
	const struct reader *found = NULL;
	struct recording got = { .reader = "none", .format = "" };
	struct reading rd;
	bool same;

	if (reader_detect(path, &found, NULL) < 0) {
		print_message("%s: no reader knows it\n", want->file);
		return false;
	}
	rd = read_path(found->name, path, true);
	CLEANUP(xfreep) char *devices = devices_of(rd.m);
	CLEANUP(xfreep) char *warnings = rd.r < 0 ? xstrdup(rd.err.msg) : warnings_of(rd.m);

	got.reader = found->name;
	got.result = rd.r;
	got.devices = devices;
	got.warnings = warnings;
	if (rd.r >= 0) {
		got.format = rd.m->inputs.v[0].format;
		figures_of(rd.m, got.n);
	}
	same = is_as_said(want, &got);
	if (!same)
		print_row(want, &got);
	reading_release(&rd);
	return same;
}

TEST(rows)
{
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(recordings); i++)
		wrong += !is_read_as_said(&recordings[i]);
	assert_int_equal(wrong, 0);
}

/* Is it named in `beside`? What is no trace must not be taken for one. */
static bool is_beside(const char *file)
{
	for (size_t i = 0; i < ARRAY_LEN(beside); i++) {
		CLEANUP(xfreep) char *path = test_trace(file);
		const struct reader *found = NULL;

		if (strncmp(file, textf("%s%s", beside[i].folder, beside[i].pattern),
			    strlen(textf("%s%s", beside[i].folder, beside[i].pattern))) != 0)
			continue;
		if (!beside[i].member && reader_detect(path, &found, NULL) != -EINVAL) {
			print_message("%s: taken for a trace\n", file);
			return false;
		}
		return true;
	}
	return false;
}

TEST(every_file_has_a_row)
{
	static const char *const folders[] = TEST_TRACE_FOLDERS;
	size_t missing = 0, seen = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;

		assert_true(fs_glob(kept(test_trace(folders[i])), "**", &files, NULL) >= 0);
		for (size_t k = 0; k < files.nr; k++) {
			CLEANUP(xfreep) char *file = fs_join(folders[i], files.v[k]);

			seen++;
			if (row_of(file) || is_beside(file))
				continue;
			print_message("%s has no row\n", file);
			missing++;
		}
	}
	assert_int_equal(missing, 0);
	assert_true(seen >= ARRAY_LEN(recordings));
}

/* --- parts --- */

static bool is_of(const struct model *m, const bool *linked, size_t i, const struct which *w)
{
	const struct span_columns *c = &m->spans;

	return (w->kinds == 0 || w->kinds >> c->kind[i] & 1) &&
	       (!w->category || strcmp(model_str(m, c->category[i]), w->category) == 0) &&
	       (!w->name || strncmp(span_name(m, i), w->name, strlen(w->name)) == 0) &&
	       (!w->args || strstr(model_str(m, span_args(c, i)), w->args)) &&
	       (w->stream < 0 || track_of(m, i)->tid == w->stream) && (!w->linked || linked[i]);
}

static int64_t distinct(struct strvec *names)
{
	int64_t nr = 0;

	strvec_sort(names);
	for (size_t i = 0; i < names->nr; i++)
		nr += i == 0 || strcmp(names->v[i - 1], names->v[i]) != 0;
	return nr;
}

static struct part part_of(const struct model *m, const struct which *w)
{
	CLEANUP(xfreep) bool *linked = xcalloc(m->spans.nr + 1, sizeof(*linked));
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	VEC(struct span_interval) v = VEC_INIT;
	struct part p = { .spans = 0 };
	int64_t last = INT64_MIN;

	for (size_t i = 0; i < m->links.nr; i++)
		if (m->links.kind[i] == LINK_LAUNCH)
			linked[m->links.to[i]] = true;
	for (size_t i = 0; i < m->spans.nr; i++) {
		struct span_interval iv = { m->spans.start_ns[i], m->spans.end_ns[i] };
		int64_t ns = iv.end_ns - iv.start_ns;

		if (!is_of(m, linked, i, w))
			continue;
		VEC_PUSH(&v, iv);
		strvec_push(&names, span_name(m, i));
		p.sum_ns += ns;
		p.max_ns = ns > p.max_ns ? ns : p.max_ns;
		p.first_ns = v.nr == 1 ? ns : p.first_ns;
		last = iv.end_ns > last ? iv.end_ns : last;
	}
	p.spans = (int64_t)v.nr;
	p.names = distinct(&names);
	p.union_ns = interval_union(v.v, v.nr);
	p.wall_ns = v.nr ? last - v.v[0].start_ns : 0;
	VEC_RELEASE(&v);
	return p;
}

static bool is_stated(int64_t want, int64_t got)
{
	return want < 0 || want == got;
}

TEST(parts_of_recordings)
{
	struct reading rd = { .m = NULL };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct part *p = &parts[i];
		struct part got;

		if (i == 0 || strcmp(p->file, parts[i - 1].file) != 0) {
			const struct recording *row = row_of(p->file);

			reading_release(&rd);
			rd = read_path(row ? row->reader : "", kept(test_trace(p->file)), true);
		}
		got = part_of(rd.m, &p->which);
		if (!is_stated(p->spans, got.spans) || !is_stated(p->names, got.names) ||
		    !is_stated(p->sum_ns, got.sum_ns) || !is_stated(p->union_ns, got.union_ns) ||
		    !is_stated(p->wall_ns, got.wall_ns) || !is_stated(p->max_ns, got.max_ns) ||
		    !is_stated(p->first_ns, got.first_ns))
			ROW_FAIL(i,
				 "%s: %" PRId64 " spans, %" PRId64 " names, sum %" PRId64
				 ", union %" PRId64 ", wall %" PRId64 ", longest %" PRId64,
				 p->file, got.spans, got.names, got.sum_ns, got.union_ns,
				 got.wall_ns, got.max_ns);
	}
	reading_release(&rd);
}

/* --- when series were read --- */

static void assert_sampling(size_t row, const struct sampling *want, const struct series *s,
			    int64_t began_ns)
{
	CLEANUP(xfreep) int64_t *steps = xreallocarray(NULL, s->t_ns.nr, sizeof(*steps));
	size_t n = s->t_ns.nr - 1;

	for (size_t i = 0; i < n; i++) {
		steps[i] = s->t_ns.v[i + 1] - s->t_ns.v[i];
		if (s->value.v[i + 1] < s->value.v[i])
			ROW_FAIL(row, "a value is less than the one before it");
	}
	sort_i64(steps, n);
	if (s->t_ns.nr != want->samples || llabs(s->t_ns.v[0] - began_ns - want->first_ns) > 1 ||
	    llabs(s->t_ns.v[n] - began_ns - want->last_ns) > 1 ||
	    (want->median_ms > 0 &&
	     llround((double)median_i64(steps, n) / 1e3) != llround(want->median_ms * 1e3)) ||
	    llround((double)steps[n - 1] / 1e3) != llround(want->gap_ms * 1e3))
		ROW_FAIL(row, "%zu samples from %" PRId64 " to %" PRId64 ", gap %" PRId64,
			 s->t_ns.nr, s->t_ns.v[0] - began_ns, s->t_ns.v[n] - began_ns,
			 steps[n - 1]);
}

TEST(samples_of_recordings)
{
	for (size_t i = 0; i < ARRAY_LEN(samplings); i++) {
		const struct sampling *want = &samplings[i];
		CLEANUP(xfreep) char *path = test_trace(want->file);
		const struct recording *row = row_of(want->file);
		READING rd = read_path(row ? row->reader : "", path, false);
		/* an archive's ticks count from somewhere, a file of seconds from its begin */
		int64_t began_ns = strcmp(want->file, MI300A) == 0 ? rd.m->first_ns : 0;
		size_t seen = 0;

		for (size_t k = 0; k < rd.m->series.nr; k++) {
			const struct series *s = &rd.m->series.v[k];

			if (strncmp(model_str(rd.m, s->name), want->name, strlen(want->name)) != 0)
				continue;
			assert_sampling(i, want, s, began_ns);
			seen++;
		}
		assert_int_equal(seen, want->series);
	}
}
