/*
 * A finished model as text that two models have in common exactly when they say the same: tracks,
 * spans with their nesting, series, samples and links, each named by what it is and not by its
 * number. What is left out: inputs (path, reader, facts), warnings, and the order of equals.
 */
#ifndef MODEL_DUMP_H
#define MODEL_DUMP_H

#include "test.h"

#include <inttypes.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/model/model.h"

static inline void dump_text(struct strbuf *sb, const struct model *m, str_id id)
{
	if (id == STR_NONE)
		strbuf_addstr(sb, "|-");
	else
		strbuf_addf(sb, "|%s", model_str(m, id));
}

static inline void dump_track(struct strbuf *sb, const struct model *m, track_id id)
{
	const struct track *t;

	if (id == TRACK_NONE) {
		strbuf_addstr(sb, "none");
		return;
	}
	t = &m->tracks.v[id];
	strbuf_addf(sb, "%d,%" PRId64 ",%" PRId64 ",%" PRId32, (int)t->kind, t->pid, t->tid,
		    t->rank);
	dump_text(sb, m, t->host);
	dump_text(sb, m, t->device);
	dump_text(sb, m, t->pci);
	dump_text(sb, m, t->name);
}

static inline void dump_span(struct strbuf *sb, const struct model *m, uint64_t i)
{
	const struct span_columns *c = &m->spans;
	const struct span_piece *piece = model_piece(m, i);

	strbuf_addf(sb, "%d %" PRId64 " %" PRId64 " %" PRIu64, (int)c->kind[i], c->start_ns[i],
		    c->end_ns[i], span_correlation(c, i));
	dump_text(sb, m, c->name[i]);
	dump_text(sb, m, c->category[i]);
	dump_text(sb, m, span_args(c, i));
	strbuf_addf(sb, "|%" PRId64, c->exclusive_ns[i]);
	if (piece)
		strbuf_addf(sb, " piece %" PRId64 " %" PRId64, piece->start_ns,
			    piece->exclusive_ns);
	strbuf_addstr(sb, " on ");
	dump_track(sb, m, c->track[i]);
}

static inline void dump_tracks(struct strvec *to, const struct model *m, struct strbuf *sb)
{
	for (track_id i = 0; i < m->tracks.nr; i++) {
		strbuf_clear(sb);
		strbuf_addstr(sb, "track ");
		dump_track(sb, m, i);
		strbuf_addf(sb, " spans %" PRIu64 " beside %d in ", m->tracks.v[i].spans,
			    m->tracks.v[i].beside);
		dump_track(sb, m, m->tracks.v[i].parent);
		strbuf_addstr(sb, " of ");
		dump_track(sb, m, m->tracks.v[i].owner);
		strvec_push(to, sb->buf);
	}
}

static inline void dump_series(struct strvec *to, const struct model *m, struct strbuf *sb)
{
	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *se = &m->series.v[i];
		char number[32];

		strbuf_clear(sb);
		strbuf_addf(sb, "series %d %d%d%d %" PRIu64, (int)se->kind, se->change_points,
			    se->exclusive_sync, se->estimated, se->failed);
		dump_text(sb, m, se->name);
		dump_text(sb, m, se->unit);
		dump_text(sb, m, se->device);
		dump_text(sb, m, se->host);
		dump_text(sb, m, se->pci);
		strbuf_addstr(sb, " on ");
		dump_track(sb, m, se->track);
		for (size_t k = 0; k < se->t_ns.nr; k++) {
			num_fmt_f64(number, se->value.v[k]);
			strbuf_addf(sb, " %" PRId64 "=%s", se->t_ns.v[k], number);
		}
		strvec_push(to, sb->buf);
	}
}

/* Owned lines, sorted. */
static inline void model_dump(const struct model *m, struct strvec *to)
{
	struct strbuf sb = STRBUF_INIT;

	assert_true(m->finished);
	strbuf_addf(&sb, "range %" PRId64 " %" PRId64 " hosts %d", m->first_ns, m->last_ns,
		    m->several_hosts);
	strvec_push(to, sb.buf);
	dump_tracks(to, m, &sb);
	dump_series(to, m, &sb);
	for (uint64_t i = 0; i < m->spans.nr; i++) {
		strbuf_clear(&sb);
		strbuf_addstr(&sb, "span ");
		dump_span(&sb, m, i);
		strbuf_addstr(&sb, " in ");
		if (span_parent(&m->spans, i) != SPAN_NONE)
			dump_span(&sb, m, span_parent(&m->spans, i));
		strvec_push(to, sb.buf);
	}
	for (size_t i = 0; i < m->links.nr; i++) {
		strbuf_clear(&sb);
		strbuf_addf(&sb, "link %d ", (int)m->links.kind[i]);
		dump_span(&sb, m, m->links.from[i]);
		strbuf_addstr(&sb, " to ");
		dump_span(&sb, m, m->links.to[i]);
		strvec_push(to, sb.buf);
	}
	strbuf_release(&sb);
	strvec_sort(to);
}

/* Fails with the first lines that only one of them has. */
static inline void assert_models_equal(const struct model *a, const struct model *b,
				       const char *what)
{
	CLEANUP(strvec_release) struct strvec la = STRVEC_INIT, lb = STRVEC_INIT;
	size_t i = 0, k = 0;
	int shown = 0;

	model_dump(a, &la);
	model_dump(b, &lb);
	while ((i < la.nr || k < lb.nr) && shown < 8) {
		int c = i == la.nr ? 1 : k == lb.nr ? -1 : strcmp(la.v[i], lb.v[k]);

		if (c == 0) {
			i++;
			k++;
			continue;
		}
		shown++;
		if (c < 0)
			print_message("# %s: only before: %.600s\n", what, la.v[i++]);
		else
			print_message("# %s: only after:  %.600s\n", what, lb.v[k++]);
	}
	if (shown)
		fail_msg("%s: the models differ", what);
}

#endif
