#include "profrig/session/window.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"

/* An edge as it was written: time since the start, or a part of the whole. */
struct edge {
	bool given, part;
	double percent;
	int64_t ns;
	const char *name; /* of a mark or a span, when it is no number */
	size_t name_len;
};

static bool edge_time(const char *s, size_t n, struct edge *ret)
{
	static const struct {
		const char *unit;
		int shift;
	} units[] = { { "ns", 0 }, { "us", 3 }, { "µs", 3 }, { "ms", 6 }, { "s", 9 }, { "", 0 } };

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t k = strlen(units[i].unit);

		if (n <= k || memcmp(s + n - k, units[i].unit, k) != 0)
			continue;
		return num_decimal(s, n - k, units[i].shift, &ret->ns) == 0;
	}
	return false;
}

static bool edge_parse(const char *s, size_t n, struct edge *ret)
{
	*ret = (struct edge){ .given = n > 0 };
	if (n == 0)
		return true;
	ret->part =
		s[n - 1] == '%' && num_f64(s, n - 1, &ret->percent) == 0 && isfinite(ret->percent);
	if (ret->part || edge_time(s, n, ret))
		return true;
	ret->name = s;
	ret->name_len = n;
	return true;
}

/* The last ':' that makes two edges of it. */
static bool edges_parse(const char *text, struct edge *a, struct edge *b)
{
	const char *colon = strchr(text, ':');

	return colon && !strchr(colon + 1, ':') && edge_parse(text, (size_t)(colon - text), a) &&
	       edge_parse(colon + 1, strlen(colon + 1), b);
}

/* The first span of that name that begins at or after a time: its start, or its end. */
static bool named_after(const struct edge *e, const struct model *m, int64_t after_ns, bool end,
			int64_t *ret)
{
	str_id id = intern_find(m->strings, e->name, e->name_len);
	bool any = false;
	size_t best = 0;

	for (size_t i = 0; id != STR_NONE && i < m->spans.nr; i++) {
		if (m->spans.name[i] != id || m->spans.start_ns[i] < after_ns ||
		    (any && m->spans.start_ns[i] >= m->spans.start_ns[best]))
			continue;
		any = true;
		best = i;
	}
	if (any)
		*ret = end ? m->spans.end_ns[best] : m->spans.start_ns[best];
	return any;
}

static int64_t edge_ns(const struct edge *e, const struct model *m, int64_t otherwise)
{
	double length = (double)m->last_ns - (double)m->first_ns;

	if (!e->given)
		return otherwise;
	if (!e->part)
		return time_shift(m->first_ns, e->ns);
	if (e->percent <= 0)
		return m->first_ns;
	if (e->percent >= 100)
		return m->last_ns;
	return m->first_ns + (int64_t)(length * e->percent / 100);
}

static int no_such_name(const struct edge *e, const char *text, struct err *err)
{
	return err_set(err, EINVAL,
		       "the window '%.80s': no mark or span is called '%.*s' (an edge is such a "
		       "name, a time since the start such as 1.5s, or a part of the whole such as "
		       "10%%)",
		       text, (int)(e->name_len < 80 ? e->name_len : 80), e->name);
}

static int edges_ns(const struct edge *a, const struct edge *b, const struct model *m,
		    const char *text, struct window *ret, struct err *err)
{
	bool again = a->name && b->name && a->name_len == b->name_len &&
		     memcmp(a->name, b->name, a->name_len) == 0;

	int first = (int)strcspn(text, ":");
	int64_t any;

	if (!a->name)
		ret->from_ns = edge_ns(a, m, m->first_ns);
	else if (!named_after(a, m, INT64_MIN, false, &ret->from_ns))
		return no_such_name(a, text, err);
	if (!b->name)
		ret->to_ns = edge_ns(b, m, m->last_ns);
	else if (!named_after(b, m, INT64_MIN, true, &any))
		return no_such_name(b, text, err);
	else if (!named_after(b, m, again ? ret->from_ns + 1 : ret->from_ns, true, &ret->to_ns))
		return err_set(err, EINVAL,
			       "the window '%.80s' ends before it begins: no %s'%s' comes after "
			       "%s'%.*s'",
			       text, again ? "second " : "", text + first + 1,
			       a->name ? "the first " : "", first, text);
	return 0;
}

/* From the first to the last of that name; from an instant alone to the end. */
static bool window_named(const char *name, const struct model *m, struct window *ret)
{
	str_id id = intern_find(m->strings, name, strlen(name));
	bool any = false, length = false;

	for (size_t i = 0; id != STR_NONE && i < m->spans.nr; i++) {
		if (m->spans.name[i] != id)
			continue;
		if (!any || m->spans.start_ns[i] < ret->from_ns)
			ret->from_ns = m->spans.start_ns[i];
		if (!any || m->spans.end_ns[i] > ret->to_ns)
			ret->to_ns = m->spans.end_ns[i];
		any = true;
		length |= m->spans.end_ns[i] > m->spans.start_ns[i];
	}
	if (any && !length && ret->from_ns == ret->to_ns)
		ret->to_ns = m->last_ns;
	return any;
}

int window_of(const char *text, const struct model *m, struct window *ret, struct err *err)
{
	struct edge a, b;
	int r;

	/* A name may hold a colon of its own. */
	if (window_named(text, m, ret))
		return 0;
	if (!edges_parse(text, &a, &b))
		return err_set(
			err, EINVAL,
			"'%.80s' is no window: FROM:TO in ns since the start or with a unit "
			"(1.5s:2s), in parts of the whole (10%%:90%%), or names of marks or spans",
			text);
	r = edges_ns(&a, &b, m, text, ret, err);
	if (r < 0)
		return r;
	if (ret->from_ns > ret->to_ns)
		return err_set(err, EINVAL, "the window '%.80s' ends before it begins", text);
	return 0;
}
