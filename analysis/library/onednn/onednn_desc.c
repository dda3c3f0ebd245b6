#include "onednn_desc.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static bool letter_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool digit_is(char c)
{
	return c >= '0' && c <= '9';
}

/* Cuts the text up to the next `at` off t. */
static struct text_slice slice_cut(struct text_slice *t, char at)
{
	const char *p = t->n ? memchr(t->p, at, t->n) : NULL;
	size_t n = p ? (size_t)(p - t->p) : t->n;
	struct text_slice head = { t->p, n };

	t->p += p ? n + 1 : n;
	t->n -= p ? n + 1 : n;
	return head;
}

static void slice_skip(struct text_slice *t, const char *prefix)
{
	size_t n = strlen(prefix);

	if (slice_begins(*t, prefix)) {
		t->p += n;
		t->n -= n;
	}
}

/* ---- memory ---- */

static bool format_kind(struct text_slice t)
{
	static const char *const kinds[] = { "blocked", "undef",       "any",
					     "wino",    "rnn_packed",  "packed",
					     "opaque",  "host_scalar", "sparse" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (slice_is(t, kinds[i]))
			return true;
	return false;
}

static bool type_is_known(struct text_slice t)
{
	return slice_is(t, "undef") || element_type(t.p, t.n) != NULL;
}

/* "diff_src_f8_e5m2" → name and type, of which either may have a '_'. */
static void md_type_split(struct text_slice both, struct onednn_md *m)
{
	size_t last = both.n;

	for (size_t i = both.n; i-- > 0;) {
		struct text_slice type = { both.p + i + 1, both.n - i - 1 };

		if (both.p[i] != '_')
			continue;
		last = last == both.n ? i : last;
		if (type_is_known(type)) {
			last = i;
			break;
		}
	}
	m->name = (struct text_slice){ both.p, last };
	if (last < both.n)
		m->type_name = (struct text_slice){ both.p + last + 1, both.n - last - 1 };
}

/* name:TAG or name:TYPE_TAG; names begin with an f, or are in and out. */
static void md_oldest(struct text_slice name, struct text_slice tag, struct onednn_md *m)
{
	struct text_slice rest = tag, type = slice_cut(&rest, '_');

	if (slice_is(name, "in"))
		name = (struct text_slice){ "src", 3 };
	else if (slice_is(name, "out"))
		name = (struct text_slice){ "dst", 3 };
	else if (name.n > 1 && *name.p == 'f')
		name.p++, name.n--;
	m->name = name;
	m->tag = tag;
	if (rest.n > 0 && type_is_known(type)) {
		m->type_name = type;
		m->tag = rest;
	}
	m->none = slice_is(m->tag, "undef");
}

/* Strides, where the form has them, and the flags: "256x1:f0", ":f0", "f0". */
static void md_tail(struct text_slice rest, struct onednn_md *m)
{
	m->old = rest.n > 1 && *rest.p == 'f' && digit_is(rest.p[1]);
	if (!m->old)
		m->strides = slice_cut(&rest, ':');
	m->rest = rest;
}

static void md_read(struct text_slice word, struct onednn_md *m)
{
	struct text_slice part[4], rest = word;

	*m = (struct onednn_md){ .old = true };
	for (size_t i = 0; i < 4; i++)
		part[i] = slice_cut(&rest, ':');
	if (!part[2].p || (part[2].n == 0 && part[3].n == 0)) {
		md_oldest(part[0], part[1], m);
	} else if (format_kind(part[2])) {
		md_type_split(part[0], m);
		m->props = part[1];
		m->kind = part[2];
		m->tag = part[3];
		md_tail(rest, m);
	} else {
		m->name = part[0];
		m->type_name = part[1];
		m->props = part[2];
		m->kind = part[3];
		m->tag = slice_cut(&rest, ':');
		md_tail(rest, m);
	}
	m->diff = slice_begins(m->name, "diff_");
	slice_skip(&m->name, "diff_");
	m->none |= slice_is(m->type_name, "undef");
	m->type = element_type(m->type_name.p ? m->type_name.p : "", m->type_name.n);
}

size_t onednn_mds(struct text_slice text, struct onednn_md *ret, size_t max)
{
	struct text_slice word;
	size_t nr = 0;

	while (text.n > 0) {
		word = slice_cut(&text, ' ');
		if (word.n == 0)
			continue;
		if (nr == max)
			return max + 1;
		md_read(word, &ret[nr++]);
	}
	return nr;
}

const struct onednn_md *onednn_md_named(const struct onednn_md *v, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (slice_is(v[i].name, name) && !v[i].none)
			return &v[i];
	return NULL;
}

static void part_add(struct strbuf *sb, size_t begin, struct text_slice t)
{
	if (t.n == 0)
		return;
	if (sb->len > begin)
		strbuf_addch(sb, ':');
	strbuf_add(sb, t.p, t.n);
}

void onednn_md_text(const struct onednn_md *m, bool with_type, struct strbuf *sb)
{
	size_t begin = sb->len;

	if (with_type && m->type)
		strbuf_addstr(sb, m->type->name);
	else if (with_type)
		part_add(sb, begin, m->type_name);
	if (!slice_is(m->kind, "blocked"))
		part_add(sb, begin, m->kind);
	part_add(sb, begin, m->tag);
	part_add(sb, begin, m->props);
	part_add(sb, begin, m->strides);
	if (!slice_is(m->rest, "f0"))
		part_add(sb, begin, m->rest);
}

/* ---- problem ---- */

/* One pair; false: the text does not begin with one. */
static bool pair_read(struct text_slice *t, struct onednn_pair *ret)
{
	size_t n = 0, end;
	double real;

	while (n < t->n && letter_is_lower(t->p[n]))
		n++;
	end = n + (n < t->n && t->p[n] == '-');
	while (end < t->n && (digit_is(t->p[end]) || t->p[end] == '.'))
		end++;
	ret->real = memchr(t->p + n, '.', end - n) != NULL;
	ret->v = 0;
	if (n == 0 || (ret->real ? num_f64(t->p + n, end - n, &real)
				 : num_i64(t->p + n, end - n, &ret->v)) < 0)
		return false;
	ret->name = (struct text_slice){ t->p, n };
	t->p += end;
	t->n -= end;
	return true;
}

static bool pairs_read(struct text_slice t, struct onednn_problem *ret)
{
	while (t.n > 0) {
		if (*t.p == '_' && ret->pairs > 0) {
			t.p++, t.n--;
			continue;
		}
		if (ret->pairs == ONEDNN_PAIRS_MAX || !pair_read(&t, &ret->pair[ret->pairs]))
			return false;
		ret->pairs++;
	}
	return ret->pairs > 0;
}

static bool extents_read(struct text_slice t, struct onednn_extents *ret)
{
	ret->nr = 0;
	while (t.n > 0 || ret->nr == 0) {
		struct text_slice v = slice_cut(&t, 'x');
		int64_t n = DIM_NONE;

		if (ret->nr == ONEDNN_EXTENTS_MAX ||
		    (!slice_is(v, "*") && (num_i64(v.p, v.n, &n) < 0 || n < 0)))
			return false;
		ret->v[ret->nr++] = n;
		if (t.n == 0 && t.p[-1] == 'x')
			return false;
	}
	return true;
}

static bool lists_read(struct text_slice t, struct onednn_problem *ret)
{
	for (size_t i = 0, n = 0; i <= t.n; i++) {
		if (i < t.n && t.p[i] != ':' && t.p[i] != ' ') {
			n++;
			continue;
		}
		if (ret->lists == ONEDNN_LISTS_MAX ||
		    !extents_read((struct text_slice){ t.p + i - n, n }, &ret->list[ret->lists]))
			return false;
		ret->lists++;
		n = 0;
	}
	return true;
}

bool onednn_problem(struct text_slice text, struct onednn_problem *ret)
{
	ret->pairs = ret->lists = 0;
	if (text.n > 0 && letter_is_lower(*text.p))
		return pairs_read(text, ret);
	return text.n > 0 && lists_read(text, ret);
}

int64_t onednn_pair(const struct onednn_problem *p, const char *name, int64_t other)
{
	for (size_t i = 0; i < p->pairs; i++)
		if (slice_is(p->pair[i].name, name) && !p->pair[i].real)
			return p->pair[i].v;
	return other;
}
