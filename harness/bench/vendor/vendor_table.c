/* Reading what programs print: vendor.h. */
#include "vendor.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static struct vendor_cell trimmed(const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == '\t'))
		s++, n--;
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
		n--;
	return (struct vendor_cell){ s, n };
}

bool vendor_line(const char **at, struct vendor_cell *ret)
{
	size_t n;

	if (!**at)
		return false;
	n = strcspn(*at, "\n");
	*ret = (struct vendor_cell){ *at, n };
	*at += n + ((*at)[n] == '\n');
	return true;
}

bool vendor_cell_is(struct vendor_cell c, const char *word)
{
	return c.n == strlen(word) && !memcmp(c.s, word, c.n);
}

bool vendor_cell_begins(struct vendor_cell c, const char *prefix)
{
	size_t n = strlen(prefix);

	return c.n >= n && !memcmp(c.s, prefix, n);
}

void vendor_split(struct vendor_cell line, char sep, struct vendor_cells *ret)
{
	size_t n = 0;

	ret->nr = 0;
	for (size_t i = 0; i <= line.n && ret->nr < VENDOR_CELLS; i++) {
		if (i < line.n && line.s[i] != sep && !(sep == ' ' && line.s[i] == '\t')) {
			n++;
			continue;
		}
		if (n || sep != ' ')
			ret->v[ret->nr++] = trimmed(line.s + i - n, n);
		n = 0;
	}
}

/* Where the names begin: behind "[0]:" of hipblaslt-bench. */
static struct vendor_cell without_index(struct vendor_cell line)
{
	const char *colon = line.n && *line.s == '[' ? memchr(line.s, ':', line.n) : NULL;

	if (!colon)
		return line;
	return (struct vendor_cell){ colon + 1, line.n - (size_t)(colon + 1 - line.s) };
}

static bool has_name(const struct vendor_cells *c, const char *name)
{
	for (size_t i = 0; i < c->nr; i++)
		if (vendor_cell_is(c->v[i], name))
			return true;
	return false;
}

int vendor_table_read(const char *text, const char *must, struct vendor_table *ret, struct err *err)
{
	struct vendor_cell line;
	bool found = false;

	while (!found && vendor_line(&text, &line)) {
		vendor_split(without_index(trimmed(line.s, line.n)), ',', &ret->names);
		found = has_name(&ret->names, must);
	}
	if (!found)
		return err_set(err, ENODATA, "it prints no column '%s'", must);
	while (vendor_line(&text, &line)) {
		line = trimmed(line.s, line.n);
		if (!line.n)
			continue;
		vendor_split(line, ',', &ret->values);
		if (ret->values.nr == ret->names.nr)
			return 0;
		return err_set(err, EPROTO, "its row has %zu cells below %zu names", ret->values.nr,
			       ret->names.nr);
	}
	return err_set(err, ENODATA, "it prints names of columns and no row");
}

const struct vendor_cell *vendor_value(const struct vendor_table *t, const char *name)
{
	for (size_t i = 0; i < t->names.nr && i < t->values.nr; i++)
		if (vendor_cell_is(t->names.v[i], name))
			return &t->values.v[i];
	return NULL;
}

static int shown(size_t n)
{
	return (int)(n < 40 ? n : 40);
}

int vendor_positive(struct vendor_cell c, const char *name, double *ret, struct err *err)
{
	if (num_f64(c.s, c.n, ret) == 0 && isfinite(*ret) && *ret > 0)
		return 0;
	return err_set(err, EPROTO, "its %s is '%.*s'", name, shown(c.n), c.s);
}

int vendor_expect(const struct vendor_table *t, const char *name, int64_t want, struct err *err)
{
	const struct vendor_cell *c = vendor_value(t, name);
	int64_t got;

	if (!c || (num_i64(c->s, c->n, &got) == 0 && got == want))
		return 0;
	return err_set(err, EPROTO, "it measured another problem: %s is %.*s and not %lld", name,
		       shown(c->n), c->s, (long long)want);
}

int vendor_expect_word(const struct vendor_table *t, const char *name, const char *want,
		       struct err *err)
{
	const struct vendor_cell *c = vendor_value(t, name);

	if (!c || vendor_cell_is(*c, want))
		return 0;
	return err_set(err, EPROTO, "it measured another problem: %s is %.*s and not %s", name,
		       shown(c->n), c->s, want);
}

static void copy_printable(struct vendor_cell c, char *to, size_t size)
{
	size_t n = c.n < size ? c.n : size - 1;

	for (size_t i = 0; i < n; i++)
		to[i] = (char)(c.s[i] < ' ' || c.s[i] > '~' ? ' ' : c.s[i]);
	to[n] = 0;
}

bool vendor_after(const char *text, const char *prefix, const char *ends, char *to, size_t size)
{
	const char *at = strstr(text, prefix);
	size_t n;

	if (!at)
		return false;
	at += strlen(prefix);
	n = strcspn(at, "\n");
	for (size_t i = 0; i < n; i++)
		if (strchr(ends, at[i]))
			n = i;
	copy_printable(trimmed(at, n), to, size);
	return true;
}

bool vendor_says(const struct vendor_output *o, const char *words)
{
	return strcasestr(o->out, words) || strcasestr(o->err, words);
}

/* ---- what went wrong ---- */

static bool line_complains(struct vendor_cell line)
{
	static const char *const words[] = { "error",       "fail",      "invalid",   "cannot",
					     "not defined", "not found", "not enough" };
	char text[400];

	copy_printable(line, text, sizeof(text));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

static bool complaint_find(const char *text, struct vendor_cell *ret)
{
	struct vendor_cell line;

	while (vendor_line(&text, &line))
		if (line_complains(line)) {
			*ret = trimmed(line.s, line.n);
			return true;
		}
	return false;
}

static bool last_find(const char *text, struct vendor_cell *ret)
{
	struct vendor_cell line;
	bool found = false;

	while (vendor_line(&text, &line)) {
		line = trimmed(line.s, line.n);
		if (line.n) {
			*ret = line;
			found = true;
		}
	}
	return found;
}

void vendor_said(const struct vendor_output *o, char *to, size_t size)
{
	struct vendor_cell line = { "", 0 };

	if (!complaint_find(o->err, &line) && !complaint_find(o->out, &line) &&
	    !last_find(o->err, &line))
		last_find(o->out, &line);
	copy_printable(line, to, size);
}
