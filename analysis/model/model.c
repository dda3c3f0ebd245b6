#include "profrig/model/model.h"
#include "model_private.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/text.h"
#include "profrig/model/library_calls.h"
#include "profrig/model/name_map.h"
#include "profrig/model/warnings.h"

struct model *model_new(void)
{
	struct model *m = xcalloc(1, sizeof(*m));
	struct model_priv *p = xcalloc(1, sizeof(*p));

	m->strings = intern_new();
	m->priv = p;
	p->sink.ops = &model_sink_ops;
	p->model = m;
	p->current = INPUT_NONE;
	p->up_most = UP_FAR;
	strbuf_init(&p->facts.text);
	pthread_mutex_init(&p->spares.lock, NULL);
	return m;
}

static void priv_clear(struct model_priv *p)
{
	for (size_t i = 0; i < p->track_states.nr; i++)
		VEC_RELEASE(&p->track_states.v[i].open);
	VEC_RELEASE(&p->track_states);
	VEC_RELEASE(&p->in_tracks);
	u64map_release(&p->warning_rows);
	u64map_release(&p->long_texts);
	VEC_RELEASE(&p->input_states);
	u64map_release(&p->track_ids);
	u64map_release(&p->series_ids);
	p->current = INPUT_NONE;
	p->in = NULL;
	p->last_track = 0;
	p->scattered = false;
	p->populated = 0;
}

static void inputs_release(struct model *m)
{
	for (size_t i = 0; i < m->inputs.nr; i++) {
		struct input *in = &m->inputs.v[i];

		for (size_t f = 0; f < in->facts.nr; f++)
			free(in->facts.v[f].key);
		VEC_RELEASE(&in->facts);
		free(in->path);
		free(in->format);
	}
	VEC_RELEASE(&m->inputs);
}

void spans_release(struct span_columns *c)
{
	free(c->track);
	free(c->start_ns);
	free(c->end_ns);
	free(c->name);
	free(c->category);
	free(c->correlation);
	free(c->args);
	free(c->kind);
	free(c->input);
	free(c->up);
	VEC_RELEASE(&c->far);
	free(c->exclusive_ns);
	*c = (struct span_columns){ .nr = 0 };
}

void model_clear(struct model *m)
{
	spares_release(m);
	priv_clear(m->priv);
	inputs_release(m);
	spans_release(&m->spans);
	VEC_RELEASE(&m->pieces);
	for (size_t i = 0; i < m->series.nr; i++) {
		VEC_RELEASE(&m->series.v[i].t_ns);
		VEC_RELEASE(&m->series.v[i].value);
	}
	VEC_RELEASE(&m->series);
	for (size_t i = 0; i < m->warnings.nr; i++)
		free(m->warnings.v[i].text);
	VEC_RELEASE(&m->warnings);
	VEC_RELEASE(&m->launched);
	VEC_RELEASE(&m->windows);
	VEC_RELEASE(&m->places);
	VEC_RELEASE(&m->placed);
	free(m->links.from);
	free(m->links.to);
	free(m->links.kind);
	m->links = (struct link_columns){ .nr = 0 };
	facts_release(m);
	VEC_RELEASE(&m->tracks);
	library_calls_free(m->library);
	m->library = NULL;
	intern_free(m->strings);
	m->strings = NULL;
	name_map_clear(m);
}

void model_drop_spans(struct model *m)
{
	spans_release(&m->spans);
	VEC_RELEASE(&m->pieces);
	free(m->links.from);
	free(m->links.to);
	free(m->links.kind);
	m->links = (struct link_columns){ .nr = 0 };
	facts_drop_spans(m);
	for (size_t i = 0; i < m->tracks.nr; i++)
		m->tracks.v[i].first_span = m->tracks.v[i].spans = 0;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	model_clear(m);
	name_map_free(m->names);
	pthread_mutex_destroy(&m->priv->spares.lock);
	free(m->priv);
	free(m);
}

void model_freep(struct model **m)
{
	model_free(*m);
	*m = NULL;
}

#define WARNING_MAX_WORDS 2048

/* Names of a trace in it must not reach a terminal as they are, however long they are. */
static char *warning_text(const char *fmt, va_list ap)
{
	char text[WARNING_MAX_WORDS];
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	size_t end = sizeof(text) - 1;
	bool whole = n >= 0 && (size_t)n <= end;

	while (!whole && end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80)
		end--;
	if (!whole && end > 0 && (unsigned char)text[end - 1] >= 0xc0)
		end--; /* no half characters */
	text[end] = '\0';
	text_no_controls(text, '?');
	return xasprintf("%s%s", text, whole ? "" : "…");
}

static void error_text_add(struct warning *w, const char *more)
{
	CLEANUP(xfreep) char *old = w->text;

	w->cut = strlen(old) + strlen(more) > WARNING_MAX_TEXT;
	w->text = xasprintf("%s; %s", old, w->cut ? "and others" : more);
}

/* Counts what the row has already. true: the texts of its code are kept, and this one fits. */
static bool warning_count(struct warning *w, const struct warning_info *info, uint64_t count)
{
	w->count += count;
	return warning_keeps_texts(info) && !w->cut;
}

/* Where the row of this input and code is, or will be. Mostly it is the one counted last. */
static size_t warning_row(struct model *m, input_id input, const struct warning_info *info)
{
	struct model_priv *p = m->priv;
	uint32_t *row;

	if (p->last_warning < m->warnings.nr && m->warnings.v[p->last_warning].input == input &&
	    m->warnings.v[p->last_warning].code == info->code)
		return p->last_warning;
	row = u64map_at(&p->warning_rows, u64map_pair(input, (uint32_t)(info - warning_table)));
	if (*row == U64MAP_NONE)
		*row = (uint32_t)m->warnings.nr;
	p->last_warning = *row;
	return *row;
}

/* The part that was read differs from the recording. */
static void input_judge(struct model *m, input_id input, const struct warning_info *info)
{
	if (input < m->inputs.nr && strcmp(info->code, W_TIME_RANGE) == 0)
		m->inputs.v[input].partial = true;
}

/* ---- logs of threads ---- */

static _Thread_local struct warning_log *log_of_thread;

void model_warn_into(struct warning_log *log)
{
	log_of_thread = log;
}

/* The row of this input and code; NULL: there is none. A log has few. */
static struct warning *log_row(struct warning_log *log, input_id input,
			       const struct warning_info *info)
{
	return VEC_FIND(&log->v, w, w->input == input && w->code == info->code);
}

void model_warnings_take(struct model *m, struct warning_log *log)
{
	for (size_t i = 0; i < log->v.nr; i++) {
		struct warning *w = &log->v.v[i];
		const struct warning_info *info = warning_find(w->code);
		size_t row = warning_row(m, w->input, info);

		if (row == m->warnings.nr) {
			VEC_PUSH(&m->warnings, *w);
			w->text = NULL;
		} else if (warning_count(&m->warnings.v[row], info, w->count)) {
			error_text_add(&m->warnings.v[row], w->text);
			m->warnings.v[row].cut |= w->cut;
		}
		free(w->text);
		input_judge(m, w->input, info);
	}
	VEC_RELEASE(&log->v);
}

void model_warn(struct model *m, input_id input, const char *code, uint64_t count, const char *fmt,
		...)
{
	const struct warning_info *info = warning_find(code);
	struct warning_log *log = log_of_thread;
	struct warning w = { .count = count, .input = input }, *at;
	size_t row;
	va_list ap;

	assert(info);
	w.code = info->code;
	w.severity = info->severity;
	va_start(ap, fmt);
	if (log) {
		at = log_row(log, input, info);
	} else {
		row = warning_row(m, input, info);
		at = row == m->warnings.nr ? NULL : &m->warnings.v[row];
	}
	if (at && warning_count(at, info, count)) {
		CLEANUP(xfreep) char *text = warning_text(fmt, ap);

		error_text_add(at, text);
	} else if (!at) {
		w.text = warning_text(fmt, ap);
		if (log)
			VEC_PUSH(&log->v, w);
		else
			VEC_PUSH(&m->warnings, w);
	}
	va_end(ap);
	if (!log)
		input_judge(m, input, info);
}

/* Rows have other places now. */
static void warnings_index(struct model *m)
{
	struct model_priv *p = m->priv;

	u64map_release(&p->warning_rows);
	p->warning_rows = (struct u64map)U64MAP_INIT;
	p->last_warning = SIZE_MAX;
	for (size_t i = 0; i < m->warnings.nr; i++) {
		const struct warning *w = &m->warnings.v[i];
		uint32_t code = (uint32_t)(warning_find(w->code) - warning_table);

		*u64map_at(&p->warning_rows, u64map_pair(w->input, code)) = (uint32_t)i;
	}
}

void model_warnings_drop(struct model *m, input_id input)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->warnings.nr; i++) {
		if (m->warnings.v[i].input == input)
			free(m->warnings.v[i].text);
		else
			m->warnings.v[nr++] = m->warnings.v[i];
	}
	m->warnings.nr = nr;
	warnings_index(m);
}

void model_warning_put(struct model *m, input_id input, const char *code, uint64_t count,
		       const char *text, bool cut)
{
	model_warn(m, input, code, count, "%s", text);
	m->warnings.v[m->warnings.nr - 1].cut = cut;
}

void model_warnings_sort(struct model *m)
{
	/* few, and in order but for some: each goes to its place */
	for (size_t i = 1; i < m->warnings.nr; i++) {
		struct warning w = m->warnings.v[i];
		size_t k = i;

		for (; k > 0 && m->warnings.v[k - 1].input > w.input; k--)
			m->warnings.v[k] = m->warnings.v[k - 1];
		m->warnings.v[k] = w;
	}
	warnings_index(m);
}

track_id model_process_of(const struct model *m, track_id t)
{
	/* parents go up by kind, but a reader's mistake must not become a loop */
	for (int i = 0; i < 8 && t < m->tracks.nr; i++) {
		if (m->tracks.v[t].kind == TRACK_PROCESS)
			return t;
		t = m->tracks.v[t].parent;
	}
	return TRACK_NONE;
}

const char *model_host_of(const struct model *m, track_id t)
{
	const char *host = model_str(m, m->tracks.v[t].host);
	track_id process = *host ? TRACK_NONE : model_process_of(m, t);

	return process == TRACK_NONE ? host : model_str(m, m->tracks.v[process].host);
}

const char *model_node_of(const struct model *m, track_id t)
{
	const char *node = model_str(m, m->tracks.v[t].node);
	track_id process = *node ? TRACK_NONE : model_process_of(m, t);

	return process == TRACK_NONE ? node : model_str(m, m->tracks.v[process].node);
}

size_t model_first_piece(const struct model *m, uint64_t span)
{
	return LOWER_BOUND(i, 0, m->pieces.nr, m->pieces.v[i].span < span);
}

const struct span_piece *model_piece(const struct model *m, uint64_t span)
{
	size_t at = model_first_piece(m, span);

	return at < m->pieces.nr && m->pieces.v[at].span == span ? &m->pieces.v[at] : NULL;
}

const struct span_piece *model_below_piece(const struct model *m, uint64_t span)
{
	const struct span_piece *piece;
	uint64_t parent;

	if (m->pieces.nr == 0)
		return NULL;
	parent = span_parent(&m->spans, span);
	if (parent == SPAN_NONE)
		return NULL;
	piece = model_piece(m, parent);
	return piece && m->spans.start_ns[span] >= piece->start_ns ? piece : NULL;
}
