#include "ncu_csv.h"

#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* A number is shorter; with separators cut out it fits. */
#define NUMBER_MAX 64

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of a separator of thousands that is neither point nor comma, at p; 0: none. */
static size_t blank_bytes(const char *p, size_t n)
{
	static const char *const blanks[] = { " ", "'", "\xc2\xa0", "\xe2\x80\xaf",
					      "\xe2\x80\x99" };

	if (is_digit(*p) || *p == '.' || *p == ',')
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(blanks); i++) {
		size_t len = strlen(blanks[i]);

		if (n >= len && memcmp(p, blanks[i], len) == 0)
			return len;
	}
	return 0;
}

/* The text without blanks between digits, as a number in buf (NUMBER_MAX); 0: it is none. */
static size_t digits_take(struct csv_text t, char *buf)
{
	size_t nr = 0;

	for (size_t i = 0; i < t.n;) {
		bool between = i > 0 && is_digit(t.p[i - 1]);
		size_t blank = between ? blank_bytes(t.p + i, t.n - i) : 0;

		if (blank && i + blank < t.n && is_digit(t.p[i + blank])) {
			i += blank;
			continue;
		}
		if (nr == NUMBER_MAX)
			return 0;
		buf[nr++] = t.p[i++];
	}
	return nr;
}

/* "12,345 (1; 2; 3)": values of instances follow the value where they were asked for. */
static struct csv_text value_alone(struct csv_text t)
{
	while (t.n && *t.p == ' ')
		t.p++, t.n--;
	for (size_t i = 0; i + 1 < t.n; i++)
		if (t.p[i] == ' ' && strchr("([{", t.p[i + 1]))
			t.n = i;
	return t;
}

struct separators {
	size_t points, commas;
	char last;      /* of both; 0: there are none */
	size_t behind;  /* digits behind the last one */
	size_t leading; /* digits before the first one */
	bool zero;      /* these are one 0 */
	bool exponent;
};

static struct separators separators_of(const char *s, size_t n)
{
	struct separators sp = { 0 };
	size_t i = n && (*s == '-' || *s == '+');
	bool first = true;

	for (; i < n && !sp.exponent; i++) {
		if (s[i] == '.' || s[i] == ',') {
			sp.points += s[i] == '.';
			sp.commas += s[i] == ',';
			sp.last = s[i];
			sp.behind = 0;
			first = false;
		} else if (is_digit(s[i])) {
			sp.zero = first && sp.leading == 0 ? s[i] == '0' : sp.zero && !first;
			sp.leading += first;
			sp.behind++;
		} else {
			sp.exponent = true;
		}
	}
	return sp;
}

static void vote_for(struct ncu_votes *v, char decimal)
{
	*(decimal == '.' ? &v->point : &v->comma) += 1;
}

static bool has_separator(struct csv_text t)
{
	return memchr(t.p, '.', t.n) || memchr(t.p, ',', t.n);
}

void ncu_vote(struct ncu_votes *v, struct csv_text t)
{
	char buf[NUMBER_MAX];
	size_t n = has_separator(t) ? digits_take(value_alone(t), buf) : 0;
	struct separators sp;

	if (n == 0 || !is_digit(buf[n > 1 && (*buf == '-' || *buf == '+')]))
		return;
	sp = separators_of(buf, n);
	if (sp.last == 0)
		return;
	if ((sp.points > 1 && !sp.commas) || (sp.commas > 1 && !sp.points))
		vote_for(v, sp.last == '.' ? ',' : '.');
	else if ((sp.points && sp.commas) || sp.behind != 3 || sp.zero || sp.leading > 3 ||
		 sp.leading == 0 || sp.exponent)
		vote_for(v, sp.last); /* of both, thousands never come last */
}

char ncu_decimal(const struct ncu_votes *v)
{
	return v->comma > v->point ? ',' : '.';
}

/* Cuts separators of thousands out and makes the decimal one a point. false: they stand wrong. */
static bool plain_make(char *s, size_t *n, char decimal)
{
	size_t to = 0, group = 0;
	bool grouped = false, fraction = false;

	for (size_t i = 0; i < *n; i++) {
		if (s[i] == decimal) {
			if (fraction || (grouped && group != 3))
				return false;
			fraction = true;
			s[to++] = '.';
		} else if (s[i] == '.' || s[i] == ',') {
			/* groups behind the first have three digits */
			if (fraction || group == 0 || group > 3 || (grouped && group != 3))
				return false;
			grouped = true;
			group = 0;
		} else {
			group += is_digit(s[i]);
			s[to++] = s[i];
		}
	}
	*n = to;
	return fraction || !grouped || group == 3;
}

static bool is_absent(struct csv_text t)
{
	static const char *const words[] = { "n/a", "N/A", "nan", "-nan", "inf", "-inf" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (csv_text_is(t, words[i]))
			return true;
	return t.n == 0;
}

enum ncu_value ncu_number(struct csv_text t, char decimal, double *ret)
{
	char buf[NUMBER_MAX];
	size_t n;

	t = value_alone(t);
	if (t.n == 0 || (!is_digit(*t.p) && is_absent(t)))
		return NCU_ABSENT;
	if (!is_digit(t.p[t.n > 1 && (*t.p == '-' || *t.p == '+' || *t.p == '.')]))
		return NCU_TEXT;
	n = digits_take(t, buf);
	if (n == 0 || !plain_make(buf, &n, decimal) || num_f64(buf, n, ret) < 0 || !isfinite(*ret))
		return NCU_BAD;
	return NCU_NUMBER;
}

/* ---- units ---- */

struct word {
	const char *name, *base;
	double factor;
};

static bool word_find(struct csv_text t, const struct word *v, size_t nr, const struct word **ret)
{
	for (size_t i = 0; i < nr; i++)
		if (csv_text_is(t, v[i].name)) {
			*ret = &v[i];
			return true;
		}
	return false;
}

/* Above the line times are ns, as in Nsight Compute's own base units; below it they are seconds. */
static const struct word times[] = {
	{ "nsecond", "ns", 1 },  { "ns", "ns", 1 },        { "usecond", "ns", 1e3 },
	{ "us", "ns", 1e3 },     { "msecond", "ns", 1e6 }, { "ms", "ns", 1e6 },
	{ "second", "ns", 1e9 }, { "s", "ns", 1e9 },
};

/* "Kbyte", "GHz", "Minst": a prefix and a word. */
static double prefix_cut(struct csv_text *t)
{
	static const struct {
		char letter;
		double factor;
	} prefixes[] = { { 'K', 1e3 }, { 'k', 1e3 },  { 'M', 1e6 },
			 { 'G', 1e9 }, { 'T', 1e12 }, { 'P', 1e15 } };
	static const char *const words[] = { "byte",   "hz",      "Hz",   "inst",   "cycle",
					     "sector", "request", "warp", "thread", "block" };
	struct csv_text rest = { t->p + 1, t->n - 1 };

	if (t->n < 2)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		if (*t->p != prefixes[i].letter)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(words); k++) {
			if (!csv_text_is(rest, words[k]))
				continue;
			*t = rest;
			return prefixes[i].factor;
		}
	}
	return 1;
}

void ncu_unit(struct csv_text t, char *base, double *ret_factor)
{
	const char *slash = t.n ? memchr(t.p, '/', t.n) : NULL;
	struct csv_text over = t, under = { "", 0 };
	const struct word *w;

	*ret_factor = 1;
	if (slash) {
		over.n = (size_t)(slash - t.p);
		under = (struct csv_text){ slash + 1, t.n - over.n - 1 };
	}
	if (word_find(over, times, ARRAY_LEN(times), &w)) {
		*ret_factor = w->factor;
		over = (struct csv_text){ w->base, strlen(w->base) };
	} else {
		*ret_factor = prefix_cut(&over);
		if (csv_text_is(over, "Hz"))
			over.p = "hz";
	}
	if (under.n && word_find(under, times, ARRAY_LEN(times), &w)) {
		*ret_factor *= 1e9 / w->factor;
		under = (struct csv_text){ "s", 1 };
	}
	snprintf(base, 64, "%.*s%s%.*s", (int)(over.n > 30 ? 30 : over.n), over.p, slash ? "/" : "",
		 (int)(under.n > 30 ? 30 : under.n), under.p);
}
