/*
 * What `profrig convert` adds for this reader (write_perfetto.c has the layout): descriptions of
 * the file, the tracks and the series (native.h) in packets of their own, in front of all events,
 * and a message in events with what the model has beside them.
 */
#include "perfetto.h"

/* Fields of a native packet. */
enum { NP_FILE = 1, NP_TRACK, NP_SERIES, NP_ROW, NP_UUID };
/* Fields of a native event: kind is one more than enum span_kind. */
enum { NE_KIND = 1, NE_CORRELATION, NE_ARGS, NE_LINK };

static void track_join(struct pf *p, uint64_t uuid, size_t n)
{
	uint32_t at = pf_track_of(p, uuid);
	struct pf_track *t = &p->tracks.v[at];

	if (at == 0)
		return;
	t->track = p->native.tracks.v[n];
	t->track_kind = p->native.kinds.v[n];
	t->native = true;
}

void pf_native_take(struct pf *p, struct pf_bytes body)
{
	struct pb_cursor c = pf_cursor(body);
	struct pf_bytes text = { NULL, 0 };
	uint64_t uuid = 0, row = 0;
	uint32_t what = 0, at;
	struct pb_field f;
	bool taken = true;

	while (pb_next(&c, &f))
		if (f.number == NP_UUID && pb_is_number(&f)) {
			uuid = f.u64;
		} else if (f.number == NP_ROW && pb_is_number(&f)) {
			what = NP_ROW;
			row = f.u64;
		} else if (f.number <= NP_SERIES && pb_is_bytes(&f)) {
			what = f.number;
			text = pf_bytes_of(&f);
		}
	if (p->survey) {
		if (what == NP_FILE)
			p->is_native = native_file_take(&p->native, (const char *)text.p, text.n);
		return;
	}
	if (!p->is_native || what == NP_FILE)
		return;
	if (what == NP_TRACK) {
		taken = native_track_take(&p->native, p->sink, (const char *)text.p, text.n);
		if (taken)
			track_join(p, uuid, p->native.tracks.nr - 1);
	} else if (what == NP_ROW) {
		taken = row < p->native.tracks.nr;
		if (taken)
			track_join(p, uuid, row);
	} else if (what == NP_SERIES) {
		taken = native_series_take(&p->native, p->sink, (const char *)text.p, text.n);
		at = pf_track_of(p, uuid);
		if (taken && at > 0)
			p->tracks.v[at].series = p->native.series.v[p->native.series.nr - 1];
	}
	if (!taken || c.problem)
		pf_bad(p, "a description of a track or a counter that does not fit");
}

/* A link's end: number << 3 | kind << 1 | whether it ends here. */
static void link_take(struct pf *p, const struct pf_event *e, uint64_t v)
{
	if ((v >> 1 & 3) <= LINK_STACK)
		pf_flow_add(p, v >> 3, e->t_ns, v & 1, (enum link_kind)(v >> 1 & 3));
}

void pf_native_event(struct pf *p, const struct pf_event *e, struct pf_open *o)
{
	struct pb_cursor c = pf_cursor(e->native);
	struct pf_bytes text = { NULL, 0 };
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == NE_KIND && f.u64 >= 1 && f.u64 <= SPAN_INSTANT + 1) {
			o->kind = (uint8_t)(f.u64 - 1);
			o->kind_stated = true;
		} else if (f.number == NE_CORRELATION) {
			o->correlation = f.u64;
		} else if (f.number == NE_ARGS && pb_is_bytes(&f)) {
			text = pf_bytes_of(&f);
		} else if (f.number == NE_LINK && pb_is_number(&f)) {
			link_take(p, e, f.u64);
		}
	/* arguments as they were, where annotations say them in another way */
	if (!text.p || !p->opts->keep_args)
		return;
	free(o->args);
	o->args = xstrndup((const char *)text.p, text.n);
}
