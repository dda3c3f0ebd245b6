/*
 * expect_model: questions to a finished model, and what it must hold written as text.
 *
 *	expect_model(m, "spans=3 links=1 W_BAD_EVENT=2 only "
 *			"'main loop': at=5..9 on=thread pid=4 tid=5 track=worker in=none "
 *			"gemm#1: kind=kernel device=gpu0 correlation=7 work=1 beside=copy "
 *			"~power.gpu0: kind=gauge unit=W samples=2 v[1]=90.5 t[1]=7");
 *
 * A word ending in a colon says what the words behind it are about: the span of that name (#1: the
 * second one), or with ~ the series of that name. Words before it are about the model: spans,
 * links, tracks, series, warnings and inputs are counted, W_X=N is how often it warned of that,
 * "only" says that it warned of nothing that the text does not name, and the first input has
 * format, clock, fact.KEY, input.spans, input.instants and input.samples. in=, beside= and apart=
 * name the parent, a span on the same track and one on another. '' keep blanks together; "none" is
 * an unknown number or no parent. A failure names the line of the test.
 */
#ifndef PROFRIG_EXPECT_MODEL_H
#define PROFRIG_EXPECT_MODEL_H

#include "test.h"

#include <inttypes.h>

#include "profrig/model/model.h"
#include "profrig/model/sink.h"
#include "profrig/model/warnings.h"

/* A model whose one input is begun: push into model_sink(m), then model_ended(m). */
static inline struct model *model_begun(enum trace_clock clock)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "made", "tef");
	s->ops->current(s)->clock = clock;
	s->ops->clock(s);
	return m;
}

static inline struct model *model_ended(struct model *m)
{
	model_sink(m)->ops->input_end(model_sink(m));
	model_finish(m);
	return m;
}

static inline uint64_t warned(const struct model *m, const char *code)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, code) == 0)
			n += m->warnings.v[i].count;
	return n;
}

/* The words of the first warning with this code; fails the test where there is none. */
static inline const char *warning_text(const struct model *m, const char *code)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, code) == 0)
			return m->warnings.v[i].text;
	fail_msg("no %s", code);
	return "";
}

/* Nothing but this warning; NULL: none at all. */
static inline void assert_only_warned(const struct model *m, const char *code)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (!code || strcmp(m->warnings.v[i].code, code) != 0)
			fail_msg("unexpected %s: %s", m->warnings.v[i].code, m->warnings.v[i].text);
	if (code)
		assert_true(warned(m, code) > 0);
}

static inline const char *span_name(const struct model *m, size_t i)
{
	return model_str(m, m->spans.name[i]);
}

/* The nth span of a name in the order of the columns. */
static inline size_t span_nth(const struct model *m, const char *name, int nth)
{
	for (size_t i = 0; i < m->spans.nr; i++)
		if (strcmp(span_name(m, i), name) == 0 && nth-- == 0)
			return i;
	fail_msg("no span '%s'", name);
	return 0;
}

static inline size_t span_at(const struct model *m, const char *name)
{
	return span_nth(m, name, 0);
}

static inline const struct track *track_of(const struct model *m, size_t span)
{
	return &m->tracks.v[m->spans.track[span]];
}

static inline const struct track *track_named(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->tracks.nr; i++)
		if (strcmp(model_str(m, m->tracks.v[i].name), name) == 0)
			return &m->tracks.v[i];
	fail_msg("no track '%s'", name);
	abort();
}

/* The first series of a name, on the track of a name when that is not NULL. */
static inline const struct series *series_on(const struct model *m, const char *name,
					     const char *track)
{
	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *s = &m->series.v[i];

		if (strcmp(model_str(m, s->name), name) == 0 &&
		    (!track || strcmp(model_str(m, m->tracks.v[s->track].name), track) == 0))
			return s;
	}
	fail_msg("no series '%s'", name);
	abort();
}

static inline const struct series *series_named(const struct model *m, const char *name)
{
	return series_on(m, name, NULL);
}

/* What the first input says of itself; -1 when it does not. */
static inline int64_t fact(const struct model *m, const char *key)
{
	for (size_t i = 0; i < m->inputs.v[0].facts.nr; i++)
		if (strcmp(m->inputs.v[0].facts.v[i].key, key) == 0)
			return m->inputs.v[0].facts.v[i].value;
	return -1;
}

enum { MODEL_WORD_MAX = 1024 };

/* What the words of the text are about, and the text so far. */
struct model_words {
	const struct model *m;
	const char *text, *at;
	size_t span;
	const struct track *track;
	const struct series *series;
};

/* The next word without its quotes: false at the end of the text. */
static inline bool model_word(struct model_words *x, char word[MODEL_WORD_MAX], bool *subject)
{
	size_t n = 0;
	bool quoted = false;

	x->at += strspn(x->at, " \n");
	for (; *x->at && (quoted || !strchr(" \n", *x->at)); x->at++) {
		assert_true(n + 1 < MODEL_WORD_MAX);
		if (*x->at == '\'')
			quoted = !quoted;
		else
			word[n++] = *x->at;
		*subject = *x->at == ':';
	}
	*subject = *subject && n > 0;
	word[n - *subject] = '\0';
	return *x->at || n > 0;
}

/* The span that a word names, "f" or "f#1". */
static inline size_t model_span(const struct model *m, const char *word)
{
	const char *mark = strrchr(word, '#');
	CLEANUP(xfreep) char *name = xstrndup(word, mark ? (size_t)(mark - word) : strlen(word));
	uint64_t nth = 0;

	if (!mark || num_u64(mark + 1, strlen(mark + 1), &nth) < 0)
		return span_at(m, word);
	return span_nth(m, name, (int)nth);
}

static inline void model_subject(struct model_words *x, const char *word)
{
	x->series = *word == '~' ? series_named(x->m, word + 1) : NULL;
	x->track = NULL;
	if (!x->series) {
		x->span = model_span(x->m, word);
		x->track = track_of(x->m, x->span);
	}
}

static inline const char *model_kind(const struct model_words *x)
{
	static const char *const spans[] = { "host", "kernel",     "copy",
					     "fill", "annotation", "instant" };
	static const char *const series[] = { "unknown", "cumulative", "gauge" };

	return x->series ? series[x->series->kind] : spans[x->m->spans.kind[x->span]];
}

/* A text that the subject has, or NULL where the key is another one. */
static inline const char *model_text(const struct model_words *x, const char *key)
{
	static const char *const tracks[] = { "process", "thread", "device", "queue", "counter" };
	static const char *const clocks[] = { "own", "monotonic", "realtime", "boottime" };
	const struct model *m = x->m;
	const struct track *t = x->track;
	const struct series *s = x->series;
	const struct {
		const char *key;
		bool has;
		str_id text;
	} texts[] = {
		{ "track", t, t ? t->name : 0 },
		{ "device", t || s,
		  t   ? t->device
		  : s ? s->device
		      : 0 },
		{ "host", t || s,
		  t   ? t->host
		  : s ? s->host
		      : 0 },
		{ "pci", t || s,
		  t   ? t->pci
		  : s ? s->pci
		      : 0 },
		{ "unit", s, s ? s->unit : 0 },
		{ "cat", t, t ? m->spans.category[x->span] : 0 },
		{ "args", t, t ? span_args(&m->spans, x->span) : 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].has && strcmp(key, texts[i].key) == 0)
			return model_str(m, texts[i].text);
	if (strcmp(key, "kind") == 0)
		return model_kind(x);
	if (t && strcmp(key, "on") == 0)
		return tracks[t->kind];
	if (strcmp(key, "clock") == 0)
		return clocks[m->inputs.v[0].clock];
	return strcmp(key, "format") == 0 ? m->inputs.v[0].format : NULL;
}

/* A number that the subject has: false where the key is another one. */
static inline bool model_number(const struct model_words *x, const char *key, int64_t *n)
{
	const struct model *m = x->m;
	const struct input *in = m->inputs.nr ? &m->inputs.v[0] : NULL;
	const struct track *t = x->track;
	const struct series *s = x->series;
	const struct {
		const char *key;
		bool has;
		int64_t n;
	} numbers[] = {
		{ "spans", !t && !s, (int64_t)m->spans.nr },
		{ "links", !t && !s, (int64_t)m->links.nr },
		{ "tracks", !t && !s, (int64_t)m->tracks.nr },
		{ "series", !t && !s, (int64_t)m->series.nr },
		{ "warnings", !t && !s, (int64_t)m->warnings.nr },
		{ "inputs", !t && !s, (int64_t)m->inputs.nr },
		{ "input.spans", in, in ? (int64_t)in->spans : 0 },
		{ "input.instants", in, in ? (int64_t)in->instants : 0 },
		{ "input.samples", in, in ? (int64_t)in->samples : 0 },
		{ "pid", t, t ? t->pid : 0 },
		{ "tid", t, t ? t->tid : 0 },
		{ "rank", t, t ? t->rank : 0 },
		{ "correlation", t, t ? (int64_t)span_correlation(&m->spans, x->span) : 0 },
		{ "work", t, t && span_is_work(m, x->span) },
		{ "samples", s, s ? (int64_t)s->value.nr : 0 },
		{ "failed", s, s ? (int64_t)s->failed : 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i].has && strcmp(key, numbers[i].key) == 0) {
			*n = numbers[i].n;
			return true;
		}
	if (strncmp(key, "W_", 2) == 0)
		*n = (int64_t)warned(m, key);
	else if (strncmp(key, "fact.", 5) == 0)
		*n = fact(m, key + 5);
	else
		return false;
	return true;
}

/* How the span that a word names lies to the one that it is about. */
static inline bool model_relation(const struct model_words *x, const char *key, const char *name)
{
	const struct span_columns *c = &x->m->spans;
	uint64_t other = strcmp(name, "none") == 0 ? SPAN_NONE : model_span(x->m, name);

	if (strcmp(key, "in") == 0)
		return span_parent(c, x->span) == other;
	return (c->track[x->span] == c->track[other]) == (strcmp(key, "beside") == 0);
}

/* "v[1]" or "t[1]" of a series, as text. */
static inline void model_sample(const struct model_words *x, const char *key, char *got)
{
	const struct series *s = x->series;
	uint64_t i = 0;

	if (!s || num_u64(key + 2, strcspn(key + 2, "]"), &i) < 0 || i >= s->value.nr)
		snprintf(got, MODEL_WORD_MAX, "not there");
	else if (*key == 'v')
		num_fmt_f64(got, s->value.v[i]);
	else
		num_fmt_i64(got, s->t_ns.v[i]);
}

/* Whether the model has what the word says; else what it has instead is in got. */
static inline bool model_has(const struct model_words *x, const char *key, const char *want,
			     char got[MODEL_WORD_MAX])
{
	const char *text = model_text(x, key);
	int64_t n;
	double a, b;

	if (text) {
		snprintf(got, MODEL_WORD_MAX, "%s", text);
	} else if (model_number(x, key, &n)) {
		num_fmt_i64(got, n);
		if (n == -1 && strcmp(want, "none") == 0)
			return true;
	} else if (strncmp(key, "v[", 2) == 0 || strncmp(key, "t[", 2) == 0) {
		model_sample(x, key, got);
		if (*key == 'v' && num_f64(want, strlen(want), &a) == 0 &&
		    num_f64(got, strlen(got), &b) == 0)
			return a == b;
	} else if (x->track && strcmp(key, "at") == 0) {
		snprintf(got, MODEL_WORD_MAX, "%" PRId64 "..%" PRId64,
			 x->m->spans.start_ns[x->span], x->m->spans.end_ns[x->span]);
		n = (int64_t)strcspn(got, ".");
		if (strcmp(got, want) != 0 && strcmp(got + n + 2, want) == 0 &&
		    (size_t)n == strlen(want))
			return strncmp(got, want, (size_t)n) == 0;
	} else if (x->track) {
		snprintf(got, MODEL_WORD_MAX, "another");
		return model_relation(x, key, want);
	} else {
		snprintf(got, MODEL_WORD_MAX, "no word of expect_model");
	}
	return strcmp(got, want) == 0;
}

/* A word that stands alone: what is wrong with it, or NULL. */
static inline const char *model_alone(const struct model_words *x, const char *word)
{
	if (strncmp(word, "W_", 2) == 0)
		return warned(x->m, word) ? NULL : "never warned of";
	if (strcmp(word, "only") != 0)
		return "no word of expect_model";
	for (size_t i = 0; i < x->m->warnings.nr; i++)
		if (!strstr(x->text, x->m->warnings.v[i].code))
			return x->m->warnings.v[i].text;
	return NULL;
}

static inline void expect_model_at(const struct model *m, const char *text, const char *file,
				   int line)
{
	struct model_words x = { .m = m, .text = text, .at = text };
	char word[MODEL_WORD_MAX], got[MODEL_WORD_MAX];
	bool subject = false;

	for (; model_word(&x, word, &subject); subject = false) {
		char *value = strchr(word, '=');
		const char *wrong;

		if (subject) {
			model_subject(&x, word);
			continue;
		}
		if (value)
			*value++ = '\0';
		if (value && !model_has(&x, word, value, got))
			fail_msg("%s:%d: before '%.40s': %s is '%s', not '%s'", file, line, x.at,
				 word, got, value);
		wrong = value ? NULL : model_alone(&x, word);
		if (wrong)
			fail_msg("%s:%d: '%s': %s", file, line, word, wrong);
	}
}

#define expect_model(m, text) expect_model_at((m), (text), __FILE__, __LINE__)

#endif
