#include "xplane.h"

#include "profrig/base/num.h"
#include "profrig/base/text.h"

bool xplane_next(struct xplane *x, struct pb_cursor *c, struct pb_field *f, bool quiet)
{
	const unsigned char *p;
	uint64_t key, n;

	x->clipped = false;
	if (pb_next(c, f))
		return true;
	if (!c->problem)
		return false;
	if (!quiet)
		tally_byte(&x->damaged, xplane_at(x, c->at));
	p = c->at;
	c->at = c->end;
	c->problem = NULL;
	if (!pb_varint(&p, c->end, &key) || (key & 7) != PB_LEN || key >> 3 == 0 ||
	    key >> 3 > UINT32_MAX || !pb_varint(&p, c->end, &n) || n <= (size_t)(c->end - p))
		return false;
	x->clipped = true;
	*f = (struct pb_field){ .number = (uint32_t)(key >> 3), .wire = PB_LEN, .data = p };
	f->len = (size_t)(c->end - p);
	return true;
}

/* Drops what was walked over; the second walk loads it again. */
static void survey_walk(struct xplane *x, const unsigned char *p)
{
	size_t at = xplane_at(x, p);

	if (at >= x->walk)
		x->walk = input_walk(&x->map, at);
}

static void line_survey(struct xplane *x, const struct pb_field *of, bool quiet)
{
	struct xplane_line l = { .body = xplane_slice_of(of),
				 .plane = (uint32_t)(x->planes.nr - 1) };
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	while (xplane_next(x, &c, &f, quiet)) {
		if (f.number == 4 && pb_is_bytes(&f)) {
			if (l.events++ % 4096 == 0)
				survey_walk(x, f.data);
		} else if (f.number == 1 && f.wire == PB_VARINT) {
			l.id = f.u64;
		} else if (f.number == 3 && f.wire == PB_VARINT) {
			l.start_ns = pb_int(&f);
		} else if ((f.number == 2 || (f.number == 11 && l.name.n == 0)) &&
			   pb_is_bytes(&f)) {
			l.name = xplane_slice_of(&f);
		} else if (f.number <= 4) {
			tally_byte(&x->bad_events, xplane_at(x, l.body.p));
		}
	}
	if (l.events > 0 && (x->first_ns == INT64_MIN || l.start_ns < x->first_ns))
		x->first_ns = l.start_ns;
	if (x->lines.nr < XPLANE_LINES_MAX)
		VEC_PUSH(&x->lines, l);
	else
		x->more_lines++;
}

/* The number in "/device:GPU:3" behind the prefix; -1: there is none. */
static int64_t number_behind(struct xplane_slice name, size_t from)
{
	size_t n = 0;
	int64_t v;

	while (from + n < name.n && name.p[from + n] >= '0' && name.p[from + n] <= '9')
		n++;
	return n > 0 && num_i64((const char *)name.p + from, n, &v) == 0 && v < 65536 ? v : -1;
}

static void plane_classify(struct xplane_plane *p)
{
	static const char device[] = "/device:";
	size_t at = sizeof(device) - 1;

	p->number = -1;
	p->kind = XPLANE_HOST;
	if (!xplane_begins(p->name, device))
		return;
	p->kind = xplane_begins(p->name, "/device:GPU:") ? XPLANE_GPU : XPLANE_CORE;
	while (at < p->name.n && p->name.p[at] != ':')
		at++;
	p->number = number_behind(p->name, at + 1);
}

static void plane_survey(struct xplane *x, const struct pb_field *of)
{
	struct xplane_plane p = { .body = xplane_slice_of(of) };
	struct pb_cursor c = pb_inside(of);
	bool clipped = x->clipped;
	struct pb_field f;

	VEC_PUSH(&x->planes, p);
	while (xplane_next(x, &c, &f, clipped)) {
		bool inner = x->clipped;

		if (f.number == 2 && pb_is_bytes(&f))
			p.name = xplane_slice_of(&f);
		else if (f.number == 3 && pb_is_bytes(&f))
			line_survey(x, &f, clipped || inner);
		else if (f.number <= 6 && (f.number == 1) != (f.wire == PB_VARINT))
			tally_byte(&x->bad_events, xplane_at(x, p.body.p));
		survey_walk(x, c.at);
	}
	plane_classify(&p);
	x->planes.v[x->planes.nr - 1] = p;
}

static void said_take(struct xplane *x, const struct pb_field *f)
{
	CLEANUP(xfreep) char *text = xstrndup((const char *)f->data, f->len < 150 ? f->len : 150);

	tally_text(&x->said, "the recorder says: %s", text);
}

void xplane_survey(struct xplane *x)
{
	struct pb_cursor c = pb_cursor_of(x->map.data, x->map.len);
	struct pb_field f;

	x->first_ns = INT64_MIN;
	while (xplane_next(x, &c, &f, false)) {
		if (f.number <= 4 && !pb_is_bytes(&f))
			tally_byte(&x->bad_events, xplane_at(x, c.at));
		else if (f.number == 1 && x->planes.nr < XPLANE_LINES_MAX)
			plane_survey(x, &f);
		else if (f.number == 1)
			x->more_lines++;
		else if (f.number == 2 || f.number == 3)
			said_take(x, &f);
		else if (f.number == 4 && x->host.n == 0)
			x->host = xplane_slice_of(&f);
	}
	input_rewind(&x->map);
}
