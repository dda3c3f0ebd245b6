#include "profrig/model.h"
#include "model_private.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "profrig/text.h"
#include "profrig/warnings.h"

struct model *model_new(void)
{
	struct model *m = xcalloc(1, sizeof(*m));
	struct model_priv *p = xcalloc(1, sizeof(*p));

	m->strings = intern_new();
	m->priv = p;
	p->sink.ops = &model_sink_ops;
	p->model = m;
	p->current = INPUT_NONE;
	return m;
}

static void priv_free(struct model_priv *p)
{
	for (size_t i = 0; i < p->track_states.nr; i++)
		VEC_RELEASE(&p->track_states.v[i].open);
	VEC_RELEASE(&p->track_states);
	VEC_RELEASE(&p->input_states);
	idmap_release(&p->track_ids);
	idmap_release(&p->series_ids);
	free(p);
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

static void spans_release(struct span_columns *c)
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
	free(c->parent);
	free(c->depth);
	free(c->exclusive_ns);
}

void model_free(struct model *m)
{
	if (!m)
		return;
	priv_free(m->priv);
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
	free(m->links.from);
	free(m->links.to);
	free(m->links.kind);
	VEC_RELEASE(&m->tracks);
	intern_free(m->strings);
	free(m);
}

void model_freep(struct model **m)
{
	model_free(*m);
	*m = NULL;
}

static bool is_row(const struct warning *w, input_id input, const char *code)
{
	return w->input == input && (w->code == code || strcmp(w->code, code) == 0);
}

/* The one found last is mostly meant again; thousands of inputs may have rows of their own. */
static struct warning *warning_row(struct model *m, input_id input, const char *code)
{
	size_t *last = &m->priv->last_warning;

	if (*last < m->warnings.nr && is_row(&m->warnings.v[*last], input, code))
		return &m->warnings.v[*last];
	for (size_t i = m->warnings.nr; i-- > 0;) {
		if (is_row(&m->warnings.v[i], input, code)) {
			*last = i;
			return &m->warnings.v[i];
		}
	}
	return NULL;
}

/* Names of a trace in it must not reach a terminal as they are. */
static char *warning_text(const char *fmt, va_list ap)
{
	char *text = xvasprintf(fmt, ap);

	text_no_controls(text, '?');
	return text;
}

static void error_text_add(struct warning *w, const char *fmt, va_list ap)
{
	CLEANUP(xfreep) char *old = NULL, *more = NULL;

	if (w->cut)
		return;
	old = w->text;
	more = warning_text(fmt, ap);
	w->cut = strlen(old) + strlen(more) > WARNING_MAX_TEXT;
	w->text = xasprintf("%s; %s", old, w->cut ? "and others" : more);
}

void model_warn(struct model *m, input_id input, const char *code, uint64_t count, const char *fmt,
		...)
{
	const struct warning_info *info;
	struct warning *w;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	w = warning_row(m, input, code);
	if (w) {
		w->count += count;
		if (w->severity == SEV_ERROR)
			error_text_add(w, fmt, ap);
		va_end(ap);
		return;
	}
	info = warning_find(code);
	assert(info);
	text = warning_text(fmt, ap);
	va_end(ap);
	VEC_PUSH(&m->warnings, (struct warning){ .code = info->code,
						 .severity = info->severity,
						 .count = count,
						 .text = text,
						 .input = input });
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

size_t model_first_piece(const struct model *m, uint64_t span)
{
	size_t lo = 0, hi = m->pieces.nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->pieces.v[mid].span < span)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct span_piece *model_piece(const struct model *m, uint64_t span)
{
	size_t at = model_first_piece(m, span);

	return at < m->pieces.nr && m->pieces.v[at].span == span ? &m->pieces.v[at] : NULL;
}

const struct span_piece *model_below_piece(const struct model *m, uint64_t span)
{
	const struct span_piece *piece;

	if (m->pieces.nr == 0 || m->spans.parent[span] == SPAN_NONE)
		return NULL;
	piece = model_piece(m, m->spans.parent[span]);
	return piece && m->spans.start_ns[span] >= piece->start_ns ? piece : NULL;
}
