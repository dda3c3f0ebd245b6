/*
 * speedscope's file format: an evented profile per track, times in whole ns from the trace's first
 * instant on. A profile is one stack, so spans that overlap without nesting are in further profiles
 * of the track ("stream 7 (2)"). The format cannot hold instants, counters and links; of arguments
 * only a frame's file, line and column stay, where they came from such a file.
 */
#include "converters_private.h"
#include "text_out.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/nest_rows.h"

struct speed_writer {
	const struct model *m;
	struct text_out out;
	struct u64map frame_of; /* (name, args) → frame */
	struct nest_rows rows;
	VEC(uint32_t) row_of; /* by span of the current track */
	VEC(uint64_t) open;   /* spans, innermost last */
	uint64_t done;
	bool some; /* a profile was written */
};

static bool is_shown(const struct model *m, uint64_t i)
{
	return m->spans.kind[i] != SPAN_INSTANT;
}

/* Arguments that are a place in a source file, as our reader of this format makes them. */
static str_id place_of(const struct model *m, uint64_t i)
{
	static const char file[] = "{\"file\":";
	str_id args = span_args(&m->spans, i);

	if (args == STR_NONE || strncmp(model_str(m, args), file, sizeof(file) - 1) != 0)
		return STR_NONE;
	return args;
}

static uint64_t frame_key(const struct model *m, uint64_t i)
{
	return u64map_pair(m->spans.name[i], place_of(m, i));
}

static void put_frame(struct speed_writer *w, uint64_t i, bool first)
{
	struct strbuf *to = &w->out.text;
	str_id name = w->m->spans.name[i], place = place_of(w->m, i);

	strbuf_addstr(to, first ? "\n{\"name\":" : ",\n{\"name\":");
	json_quote(to, model_str(w->m, name), intern_len(w->m->strings, name));
	if (place == STR_NONE) {
		strbuf_addch(to, '}');
	} else {
		strbuf_addch(to, ',');
		strbuf_addstr(to, model_str(w->m, place) + 1);
	}
	text_out_step(&w->out);
}

static void put_frames(struct speed_writer *w)
{
	uint32_t nr = 0;

	strbuf_addstr(&w->out.text, "\"shared\":{\"frames\":[");
	for (uint64_t i = 0; i < w->m->spans.nr; i++) {
		uint32_t *at;

		if (!is_shown(w->m, i))
			continue;
		at = u64map_at(&w->frame_of, frame_key(w->m, i));
		if (*at != U64MAP_NONE)
			continue;
		put_frame(w, i, nr == 0);
		*at = nr++;
	}
	strbuf_addstr(&w->out.text, "]},\n");
}

/* ---- profiles ---- */

static void put_event(struct speed_writer *w, char type, uint64_t i, int64_t t_ns, bool *some)
{
	struct strbuf *to = &w->out.text;
	char number[24];

	strbuf_addstr(to, *some ? ",{\"type\":\"" : "{\"type\":\"");
	strbuf_addch(to, type);
	strbuf_addstr(to, "\",\"frame\":");
	strbuf_add(to, number, num_fmt_u64(number, u64map_get(&w->frame_of, frame_key(w->m, i))));
	strbuf_addstr(to, ",\"at\":");
	strbuf_add(to, number, num_fmt_u64(number, (uint64_t)t_ns - (uint64_t)w->m->first_ns));
	strbuf_addch(to, '}');
	*some = true;
	text_out_step(&w->out);
}

static void close_until(struct speed_writer *w, int64_t t_ns, bool *some)
{
	while (w->open.nr) {
		uint64_t top = w->open.v[w->open.nr - 1];

		if (w->m->spans.end_ns[top] > t_ns)
			return;
		put_event(w, 'C', top, w->m->spans.end_ns[top], some);
		w->open.nr--;
	}
}

static void put_profile(struct speed_writer *w, const struct track *t, const char *name,
			uint32_t row)
{
	const struct span_columns *c = &w->m->spans;
	bool some = false;

	strbuf_addf(&w->out.text, "%s{\"type\":\"evented\",\"name\":", w->some ? ",\n" : "\n");
	json_quote(&w->out.text, name, strlen(name));
	strbuf_addf(&w->out.text,
		    ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64
		    ",\"events\":[",
		    (uint64_t)w->m->last_ns - (uint64_t)w->m->first_ns);
	w->some = true;
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		if (!is_shown(w->m, i) || w->row_of.v[i - t->first_span] != row)
			continue;
		close_until(w, c->start_ns[i], &some);
		put_event(w, 'O', i, c->start_ns[i], &some);
		VEC_PUSH(&w->open, i);
		progress_update(++w->done);
	}
	close_until(w, INT64_MAX, &some);
	strbuf_addstr(&w->out.text, "]}");
}

/* The row of each of its spans; returns how many rows there are. */
static uint32_t rows_set(struct speed_writer *w, track_id id)
{
	const struct track *t = &w->m->tracks.v[id];
	const struct span_columns *c = &w->m->spans;
	uint32_t nr = 0;

	VEC_CLEAR(&w->row_of);
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		uint32_t row = 0;

		if (is_shown(w->m, i)) {
			row = nest_rows_put(&w->rows, id, c->start_ns[i], c->end_ns[i],
					    nest_rows_nests(w->m, i));
			nr = row + 1 > nr ? row + 1 : nr;
		}
		VEC_PUSH(&w->row_of, row);
	}
	return nr;
}

static char *profile_name(const struct model *m, const struct track *t, uint32_t row)
{
	const char *name = model_str(m, t->name), *device = model_str(m, t->device);
	bool told = !*device || strstr(name, device);
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s%s%s", told ? "" : device, told ? "" : " ", name);
	if (row > 0)
		strbuf_addf(&sb, " (%" PRIu32 ")", row + 1);
	return strbuf_steal(&sb);
}

static void put_profiles(struct speed_writer *w)
{
	strbuf_addstr(&w->out.text, "\"profiles\":[");
	for (track_id id = 0; id < w->m->tracks.nr; id++) {
		const struct track *t = &w->m->tracks.v[id];
		uint32_t nr = rows_set(w, id);

		for (uint32_t row = 0; row < nr; row++) {
			CLEANUP(xfreep) char *name = profile_name(w->m, t, row);

			put_profile(w, t, name, row);
		}
	}
	strbuf_addch(&w->out.text, ']');
}

static void count_left_out(const struct model *m, struct convert_result *ret)
{
	for (uint64_t i = 0; i < m->spans.nr; i++)
		ret->spans_out += !is_shown(m, i);
	for (size_t i = 0; i < m->series.nr; i++)
		ret->samples_out += m->series.v[i].t_ns.nr;
	ret->links_out = m->links.nr;
}

static int write_speedscope(const struct convert_job *job, struct convert_result *ret,
			    struct err *err)
{
	struct speed_writer w = { .m = job->model, .out = TEXT_OUT_INIT, .rows = NEST_ROWS_INIT };
	const char *name = job->model->inputs.nr ? job->model->inputs.v[0].path : "";
	int r = text_out_open(job->path, &w.out, err);

	if (r < 0)
		return r;
	progress_items(job->model->spans.nr);
	strbuf_addstr(&w.out.text,
		      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		      "\"exporter\":\"profrig " PROFRIG_VERSION "\",\n\"name\":");
	json_quote(&w.out.text, fs_base(name), strlen(fs_base(name)));
	strbuf_addstr(&w.out.text, ",\n");
	put_frames(&w);
	put_profiles(&w);
	strbuf_addstr(&w.out.text, "}\n");
	r = text_out_commit(&w.out, err);
	text_out_drop(&w.out);
	if (r == 0) {
		ret->files = 1;
		ret->bytes = w.out.bytes;
		ret->first = xstrdup(job->path);
		count_left_out(job->model, ret);
	}
	nest_rows_release(&w.rows);
	u64map_release(&w.frame_of);
	VEC_RELEASE(&w.row_of);
	VEC_RELEASE(&w.open);
	return r;
}

static const char *const suffixes[] = { ".speedscope.json.gz", ".speedscope.json.zst",
					".speedscope.json", NULL };

const struct converter converter_speedscope = {
	.name = "speedscope",
	.about = "speedscope's format: a profile per thread and queue",
	.suffixes = suffixes,
	.write = write_speedscope,
};
