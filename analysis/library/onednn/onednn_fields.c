#include "onednn_fields.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define FIELDS_MAX 24

static bool slice_is_digits(struct text_slice t)
{
	for (size_t i = 0; i < t.n; i++)
		if (t.p[i] < '0' || t.p[i] > '9')
			return false;
	return t.n > 0;
}

static bool slice_is_name(struct text_slice t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!((t.p[i] >= 'a' && t.p[i] <= 'z') || (t.p[i] >= '0' && t.p[i] <= '9') ||
		      t.p[i] == '_'))
			return false;
	return t.n > 0;
}

/* "cpu", "gpu", "cpu2", "gpu:1" */
static bool engine_is_known(struct text_slice t)
{
	struct text_slice rest = { t.p + 3, t.n - 3 };

	if (!slice_begins(t, "cpu") && !slice_begins(t, "gpu"))
		return false;
	if (rest.n > 0 && *rest.p == ':')
		rest.p++, rest.n--;
	return t.n == 3 || slice_is_digits(rest);
}

static bool prop_is_known(struct text_slice t)
{
	return slice_is(t, "undef") || slice_is(t, "forward") || slice_is(t, "backward") ||
	       slice_begins(t, "forward_") || slice_begins(t, "backward_");
}

/* ---- layouts ---- */

static const struct onednn_layout layout_engine = { 9,
						    { ONEDNN_ENGINE, ONEDNN_KIND, ONEDNN_IMPL,
						      ONEDNN_PROP, ONEDNN_MDS, ONEDNN_ATTRS,
						      ONEDNN_AUX, ONEDNN_DESC, ONEDNN_TIME } };
static const struct onednn_layout layout_gemm = { 8,
						  { ONEDNN_ENGINE, ONEDNN_KIND, ONEDNN_IMPL,
						    ONEDNN_PROP, ONEDNN_MDS, ONEDNN_ATTRS,
						    ONEDNN_DESC, ONEDNN_TIME } };
static const struct onednn_layout layout_old = {
	7,
	{ ONEDNN_KIND, ONEDNN_IMPL, ONEDNN_PROP, ONEDNN_MDS, ONEDNN_AUX, ONEDNN_DESC, ONEDNN_TIME }
};
static const struct onednn_layout layout_oldest = {
	6, { ONEDNN_KIND, ONEDNN_PROP, ONEDNN_MDS, ONEDNN_AUX, ONEDNN_DESC, ONEDNN_TIME }
};

static enum onednn_column column_named(struct text_slice name)
{
	static const char *const names[] = {
		[ONEDNN_ENGINE] = "engine",          [ONEDNN_KIND] = "primitive",
		[ONEDNN_IMPL] = "implementation",    [ONEDNN_PROP] = "prop_kind",
		[ONEDNN_MDS] = "memory_descriptors", [ONEDNN_ATTRS] = "attributes",
		[ONEDNN_AUX] = "auxiliary",          [ONEDNN_DESC] = "problem_desc",
		[ONEDNN_TIME] = "exec_time",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return (enum onednn_column)i;
	return ONEDNN_OTHER;
}

/* Where a column stands; l->nr: there is none. */
static size_t layout_at(const struct onednn_layout *l, enum onednn_column c)
{
	size_t i = 0;

	while (i < l->nr && l->v[i] != c)
		i++;
	return i;
}

static bool layout_has(const struct onednn_layout *l, enum onednn_column c)
{
	return layout_at(l, c) < l->nr;
}

/* fields: behind "template:"; those up to "operation" stand in every line in front of it. */
static void layout_of_template(const struct text_slice *fields, size_t n,
			       struct onednn_layout *layout)
{
	struct onednn_layout l = { 0 };
	size_t at = 0;

	while (at < n && !slice_is(fields[at], "operation"))
		at++;
	for (at++; at < n && l.nr < ONEDNN_COLUMNS_MAX; at++) {
		enum onednn_column c = column_named(fields[at]);

		if (c != ONEDNN_OTHER && layout_has(&l, c))
			return;
		l.v[l.nr++] = c;
	}
	if (at == n && layout_has(&l, ONEDNN_TIME) && layout_has(&l, ONEDNN_KIND) &&
	    layout_has(&l, ONEDNN_DESC) && layout_has(&l, ONEDNN_MDS))
		*layout = l;
}

/* 0: of another number of columns; 1; 2: with a comma in the time. */
static int layout_fits(const struct onednn_layout *l, const struct text_slice *fields, size_t n)
{
	size_t time = layout_at(l, ONEDNN_TIME);

	if (l->nr == 0)
		return 0;
	if (n == l->nr)
		return 1;
	return n == l->nr + 1 && slice_is_digits(fields[time]) && slice_is_digits(fields[time + 1])
		       ? 2
		       : 0;
}

static const struct onednn_layout *layout_by_fields(const struct text_slice *fields, size_t n)
{
	if (n < layout_oldest.nr)
		return NULL;
	if (!engine_is_known(fields[0]))
		return prop_is_known(fields[1]) ? &layout_oldest : &layout_old;
	if (slice_is(fields[1], "gemm_api") && n == layout_gemm.nr)
		return &layout_gemm;
	return &layout_engine;
}

/*
 * Whether a line has its engine and its time where a header's layout has them: processes of several
 * versions may write one log. A line without an engine has none in front.
 */
static bool header_fits(const struct onednn_layout *l, const struct text_slice *fields, int fits)
{
	size_t at = layout_at(l, ONEDNN_ENGINE), time = layout_at(l, ONEDNN_TIME);
	double ms;

	if (!fits || num_f64(fields[time].p, fields[time].n, &ms) < 0)
		return false;
	if (at == l->nr)
		return !engine_is_known(fields[0]);
	return engine_is_known(fields[at + (fits == 2 && at > time)]);
}

static const struct onednn_layout *layout_find(const struct onednn_layout *header,
					       const struct text_slice *fields, size_t n,
					       int *ret_fits)
{
	const struct onednn_layout *l = header;

	*ret_fits = layout_fits(l, fields, n);
	if (header_fits(l, fields, *ret_fits))
		return l;
	l = layout_by_fields(fields, n);
	*ret_fits = l ? layout_fits(l, fields, n) : 0;
	return l;
}

/* ---- columns ---- */

/* ms as ns; false: no number. Negative ones (the clock was set) are unknown. */
static bool time_read(struct text_slice t, bool cut, int64_t *ret_ns)
{
	int64_t ns = -1;
	double ms;

	if (num_f64(t.p, t.n, &ms) < 0 || !(ms - ms == 0))
		return false;
	*ret_ns = !cut && num_decimal(t.p, t.n, 6, &ns) == 0 && ns >= 0 ? ns : -1;
	return true;
}

/* "0,25" is the text of both fields. */
static bool time_with_comma(struct text_slice whole, struct text_slice rest, bool cut,
			    int64_t *ret_ns)
{
	char text[64];

	if (whole.n + rest.n + 2 > sizeof(text))
		return false;
	memcpy(text, whole.p, whole.n);
	text[whole.n] = '.';
	memcpy(text + whole.n + 1, rest.p, rest.n);
	return time_read((struct text_slice){ text, whole.n + 1 + rest.n }, cut, ret_ns);
}

static bool columns_are_whole(const struct onednn_record *r)
{
	const struct text_slice *prop = &r->column[ONEDNN_PROP];

	return slice_is_name(r->column[ONEDNN_KIND]) && r->column[ONEDNN_MDS].n > 0 &&
	       r->column[ONEDNN_DESC].n > 0 && (prop->n == 0 || slice_is_name(*prop));
}

static enum record_is columns_read(const struct text_slice *fields, size_t n, bool cut,
				   const struct onednn_layout *header, struct onednn_record *ret)
{
	int fits;
	const struct onednn_layout *l = layout_find(header, fields, n, &fits);
	size_t time;
	bool timed;

	if (!fits)
		return RECORD_TORN;
	time = layout_at(l, ONEDNN_TIME);
	if (cut && time + 1 < l->nr)
		return RECORD_TORN; /* what is last may have lost its end */
	for (size_t i = 0; i < l->nr; i++)
		ret->column[l->v[i]] = fields[i + (fits == 2 && i > time)];
	timed = fits == 2 ? time_with_comma(fields[time], fields[time + 1], cut, &ret->dur_ns)
			  : time_read(fields[time], cut, &ret->dur_ns);
	ret->odd_time |= ret->dur_ns < 0 && !cut;
	return timed && columns_are_whole(ret) ? RECORD_CALL : RECORD_TORN;
}

/* ---- what stands in front of the operation ---- */

static bool version_is(struct text_slice t)
{
	return t.n > 1 && *t.p == 'v' && slice_is_digits((struct text_slice){ t.p + 1, t.n - 1 });
}

/* Milliseconds since the epoch, of one field or, with a decimal comma, of two; returns how many. */
static size_t stamp_read(const struct text_slice *fields, size_t n, int64_t *ret_ns)
{
	double ms;

	if (n == 0 || fields[0].n == 0 || num_f64(fields[0].p, fields[0].n, &ms) < 0)
		return 0;
	if (n > 1 && slice_is_digits(fields[0]) && slice_is_digits(fields[1])) {
		if (!time_with_comma(fields[0], fields[1], false, ret_ns))
			*ret_ns = -1;
		return 2;
	}
	if (!time_read(fields[0], false, ret_ns))
		*ret_ns = -1;
	return 1;
}

/* An operation that is no execution. */
static enum record_is info_line(const struct text_slice *fields, size_t n, bool cut,
				struct onednn_layout *layout)
{
	struct text_slice last = fields[n - 1];

	if (n == 1 || fields[0].n == 0)
		return RECORD_TORN; /* "onednn_verbose,ex" */
	for (size_t i = 0; i + 1 < n && !cut; i++) {
		const char *colon = memchr(fields[i].p, ':', fields[i].n);
		struct text_slice names[FIELDS_MAX];

		if (!slice_is(fields[0], "info") || (!slice_begins(fields[i], "prim_template:") &&
						     !slice_begins(fields[i], "template:")))
			continue;
		n = args_split(
			(struct text_slice){ colon + 1, (size_t)(last.p + last.n - colon - 1) },
			names, FIELDS_MAX);
		if (n <= FIELDS_MAX)
			layout_of_template(names, n, layout);
		break;
	}
	return RECORD_INFO;
}

enum record_is onednn_fields(struct text_slice text, bool cut, struct onednn_layout *layout,
			     struct onednn_record *ret)
{
	struct text_slice fields[FIELDS_MAX];
	size_t n = args_split(text, fields, FIELDS_MAX), at = 1;
	int64_t stamp = -1;
	size_t stamps;

	*ret = (struct onednn_record){ .t_ns = LIBRARY_NO_TIME, .dur_ns = -1 };
	n = n > FIELDS_MAX ? FIELDS_MAX : n;
	if (at < n && version_is(fields[at]))
		at++;
	stamps = stamp_read(fields + at, n - at, &stamp);
	at += stamps;
	ret->odd_time = stamps > 0 && stamp < 0;
	if (at < n && (slice_is(fields[at], "primitive") || slice_is(fields[at], "ukernel")))
		at++;
	if (stamp >= 0)
		ret->t_ns = stamp;
	if (at >= n)
		return RECORD_TORN;
	if (fields[at].n > 0 && !(*fields[at].p >= 'a' && *fields[at].p <= 'z'))
		return RECORD_TORN; /* every operation is a word */
	if (!slice_is(fields[at], "exec"))
		return info_line(fields + at, n - at, cut, layout);
	at++;
	return columns_read(fields + at, n - at, cut, layout, ret);
}

/* ---- what differs from call to call ---- */

/* The field at the begin of rest, up to its comma; false: there is no comma. */
static bool field_ahead(struct text_slice rest, struct text_slice *ret)
{
	const char *comma = memchr(rest.p, ',', rest.n);

	if (comma)
		*ret = (struct text_slice){ rest.p, (size_t)(comma - rest.p) };
	return comma != NULL;
}

static struct text_slice slice_behind(struct text_slice t, size_t n)
{
	return (struct text_slice){ t.p + n, t.n - n };
}

static bool slice_is_time(struct text_slice t)
{
	static const char more[] = { '.', 'e', '+', '-' };

	for (size_t i = 0; i < t.n; i++)
		if (!(t.p[i] >= '0' && t.p[i] <= '9') &&
		    (i == 0 || !memchr(more, t.p[i], sizeof(more))))
			return false;
	return t.n > 0;
}

/* Cuts the fields up to the operation off rest. A stamp with a decimal comma is not looked at. */
static bool head_mask(struct text_slice *rest, struct log_mask *m)
{
	struct text_slice field, next;

	for (int i = 0;; i++) { /* the marker, and a version */
		if (!field_ahead(*rest, &field))
			return false;
		if (i == 2 || (i == 1 && !version_is(field)))
			break;
		mask_add(m, (struct text_slice){ field.p, field.n + 1 });
		*rest = slice_behind(*rest, field.n + 1);
	}
	if (slice_is_time(field)) {
		*rest = slice_behind(*rest, field.n);
		if (!field_ahead(slice_behind(*rest, 1), &next) || slice_is_digits(next) ||
		    !time_read(field, false, &m->t_ns) || m->t_ns < 0)
			return false;
		mask_word(m);
		return true;
	}
	return slice_is(field, "exec") || slice_is(field, "primitive");
}

bool onednn_fields_mask(struct text_slice text, const struct onednn_layout *layout,
			struct log_mask *m)
{
	struct text_slice rest = text, last, before;
	const char *comma = memrchr(text.p, ',', text.n);

	if (layout->nr > 0 && layout->v[layout->nr - 1] != ONEDNN_TIME)
		return false;
	if (!comma || !head_mask(&rest, m) || comma <= rest.p)
		return false;
	last = slice_behind(text, (size_t)(comma + 1 - text.p));
	before = (struct text_slice){ rest.p, (size_t)(comma - rest.p) };
	comma = memrchr(before.p, ',', before.n);
	if (!comma ||
	    slice_is_digits(slice_trim(slice_behind(before, (size_t)(comma + 1 - before.p)))))
		return false; /* a decimal comma, perhaps */
	if (!slice_is_time(last) || !time_read(last, false, &m->dur_ns))
		return false;
	m->odd_time = m->dur_ns < 0;
	mask_add(m, before);
	mask_word(m);
	return true;
}
