#include "results_priv.h"
#include "run_lines.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define MAX_WORD ((size_t)120)

static const char key[] = "performance:";
static const char trainer_key[] = "train_samples_per_second";

void values_init(struct values *vs)
{
	*vs = (struct values){ .names = STRVEC_INIT, .units = STRVEC_INIT };
}

void values_release(struct values *vs)
{
	VEC_RELEASE(&vs->v);
	strvec_release(&vs->names);
	strvec_release(&vs->units);
	values_init(vs);
}

/* Words over the limit share the last index, named "(more)". */
static uint32_t word_index(struct strvec *words, const char *s, size_t n)
{
	CLEANUP(xfreep) char *word = xstrndup(s, n < MAX_WORD ? n : MAX_WORD);

	text_no_controls(word, '?');
	for (size_t i = 0; i < words->nr; i++)
		if (!strcmp(words->v[i], word))
			return (uint32_t)i;
	if (words->nr < VALUES_MAX_NAMES)
		strvec_push(words, words->nr + 1 < VALUES_MAX_NAMES ? word : "(more)");
	return (uint32_t)words->nr - 1;
}

static void add_value(struct values *vs, struct value v)
{
	if (vs->v.nr < VALUES_MAX) {
		VEC_PUSH(&vs->v, v);
		return;
	}
	vs->more++;
	vs->v.v[vs->v.nr - 1] = v;
}

static void values_odd(struct values *vs, uint64_t line, const char *text, size_t n)
{
	if (vs->odd++ > 0)
		return;
	vs->odd_line = line;
	snprintf(vs->odd_text, sizeof(vs->odd_text), "%.*s",
		 (int)(n < sizeof(vs->odd_text) - 1 ? n : sizeof(vs->odd_text) - 1), text);
	text_no_controls(vs->odd_text, '?');
}

/* --- numbers in output for people --- */

/*
 * Digits in groups of three: "1,234" and "12,345,678". Returns the end, or NULL for another form.
 */
static const char *grouped_end(const char *p, const char *end)
{
	const char *q = p + (p < end && (*p == '+' || *p == '-'));
	size_t lead = 0, groups = 0;

	for (; q < end && isdigit((unsigned char)*q); q++)
		lead++;
	if (lead < 1 || lead > 3)
		return NULL;
	while (q + 3 < end && *q == ',' && isdigit((unsigned char)q[1])) {
		if (!isdigit((unsigned char)q[2]) || !isdigit((unsigned char)q[3]))
			return NULL;
		q += 4;
		groups++;
		if (q < end && isdigit((unsigned char)*q))
			return NULL;
	}
	if (groups && q < end && *q == '.')
		for (q++; q < end && isdigit((unsigned char)*q);)
			q++;
	return groups ? q : NULL;
}

static const char *no_number_end(const char *p, const char *end)
{
	static const char *const words[] = { "nan", "infinity", "inf" };

	p += p < end && (*p == '+' || *p == '-');
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - p) >= n && !strncasecmp(p, words[i], n) &&
		    (p + n == end || !isalnum((unsigned char)p[n])))
			return p + n;
	}
	return NULL;
}

/* A number at p: returns its end, or NULL. */
static const char *parse_number(const char *p, const char *end, double *ret, bool *ret_grouped)
{
	const char *q = grouped_end(p, end);

	*ret_grouped = q != NULL;
	if (q) {
		char digits[64];
		size_t n = 0;

		for (const char *s = p; s < q && n < sizeof(digits); s++)
			if (*s != ',')
				digits[n++] = *s;
		return n < sizeof(digits) && num_f64(digits, n, ret) == 0 ? q : NULL;
	}
	q = no_number_end(p, end);
	if (q) {
		*ret = NAN;
		return q;
	}
	for (q = p; q < end && *q && strchr("0123456789+-.eE", *q);)
		q++;
	return q > p && num_f64(p, (size_t)(q - p), ret) == 0 ? q : NULL;
}

/* --- the performance line --- */

static const char *blanks_skip(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

/* "/s" behind the number or its comma belongs to the unit. */
static const char *rate_skip(const char *p, const char *end, struct strbuf *ret)
{
	const char *q = p;

	if (q < end && *q == ',')
		q++;
	q = blanks_skip(q, end);
	if (q + 1 >= end || *q != '/' || !isalpha((unsigned char)q[1]))
		return p;
	strbuf_addch(ret, *q++);
	while (q < end && isalpha((unsigned char)*q))
		strbuf_addch(ret, *q++);
	return q;
}

/* The text behind "performance:" on its line: value[/s][,] unit. */
static bool performance_line(struct values *vs, const char *p, const char *end, uint64_t line)
{
	CLEANUP(strbuf_release) struct strbuf per = STRBUF_INIT, unit = STRBUF_INIT;
	const char *at = blanks_skip(p, end), *word;
	bool grouped = false;
	double v;

	if (at == p)
		return false;
	p = parse_number(at, end, &v, &grouped);
	if (!p)
		return false;
	p = rate_skip(p, end, &per);
	word = per.len ? blanks_skip(p, end) : p;
	if (word < end && *word == ',')
		p = word + 1;
	word = blanks_skip(p, end);
	if (word == p || word == end)
		return false;
	for (p = word; p < end && !isspace((unsigned char)*p) && *p != ','; p++)
		;
	if (p == word)
		return false;
	strbuf_add(&unit, word, (size_t)(p - word));
	strbuf_addstr(&unit, per.buf);
	if (grouped && vs->grouped++ == 0)
		vs->grouped_line = line;
	add_value(vs, (struct value){ v, line, word_index(&vs->names, "performance", 11),
				      word_index(&vs->units, unit.buf, unit.len) });
	return true;
}

/* train_samples_per_second['" :=]+value, which trainers print at their end. */
static bool trainer_line(struct values *vs, const char *p, const char *end, uint64_t line)
{
	static const char between[] = "'\" \t:=";
	const char *at = p;
	bool grouped;
	double v;

	while (at < end && *at && strchr(between, *at))
		at++;
	if (at == p || at == end || !isdigit((unsigned char)*at) ||
	    !parse_number(at, end, &v, &grouped) || grouped)
		return false;
	add_value(vs, (struct value){ v, line, word_index(&vs->names, "performance", 11),
				      word_index(&vs->units, "samples_per_second", 18) });
	return true;
}

typedef bool parse_fn(struct values *vs, const char *p, const char *end, uint64_t line);

static bool is_parameter(char c)
{
	return isdigit((unsigned char)c) || c == ';';
}

/* Whether the letter before `at` ends a colour sequence (ESC, '[', parameters): "\033[1;32m". */
static bool ends_colour(const char *text, const char *at)
{
	if (!isalpha((unsigned char)at[-1]))
		return false;
	for (at--; at > text && is_parameter(at[-1]); at--)
		;
	return at - text >= 2 && at[-1] == '[' && at[-2] == '\033';
}

/* A longer word that ends in the key, such as val_performance:, is another metric. */
static bool starts_word(const char *text, const char *at)
{
	return at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_') ||
	       ends_colour(text, at);
}

/* Copies the text without its colour sequences. */
static void without_colours(const char *p, const char *end, struct strbuf *to)
{
	for (; p < end; p++) {
		if (p + 1 < end && p[0] == '\033' && p[1] == '[') {
			for (p += 2; p < end && is_parameter(*p); p++)
				;
			continue;
		}
		strbuf_addch(to, *p);
	}
}

static bool parse_line(parse_fn *parse, struct values *vs, const char *p, const char *end,
		       uint64_t line)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT;

	if (!memchr(p, '\033', (size_t)(end - p)))
		return parse(vs, p, end, line);
	without_colours(p, end, &plain);
	return parse(vs, plain.buf, plain.buf + plain.len, line);
}

struct search {
	struct values *vs, *trainer;
	struct regex *re; /* NULL: performance lines */
};

static void find_key(struct values *vs, const char *text, size_t n, uint64_t line, const char *word,
		     parse_fn *parse)
{
	struct line_counter count = { text, line };
	const char *end = text + n, *at = text;
	size_t len = strlen(word);

	while ((at = memmem(at, (size_t)(end - at), word, len))) {
		const char *rest = at + len;
		/* Bounded: a line without an end may hold the key a thousand times. */
		size_t room = (size_t)(end - rest) <= RUN_MAX_LINE ? (size_t)(end - rest)
								   : RUN_MAX_LINE + 1;
		const char *eol = memchr(rest, '\n', room);

		if (!eol)
			eol = rest + room;
		if (starts_word(text, at) && (size_t)(eol - rest) <= RUN_MAX_LINE &&
		    !parse_line(parse, vs, rest, eol, line_at(&count, at)) &&
		    parse == performance_line)
			values_odd(vs, line_at(&count, at), at, (size_t)(eol - at));
		at = rest;
	}
}

static void group_value(struct search *s, const char *text, uint64_t line)
{
	struct values *vs = s->vs;
	size_t a, b, na, nb, ua, ub;
	struct value v = { .line = line };
	const char *q;
	bool grouped;

	if (!regex_group(s->re, "value", &a, &b))
		return;
	q = parse_number(text + a, text + b, &v.value, &grouped);
	if (q != text + b) {
		values_odd(vs, line, text + a, b - a);
		return;
	}
	if (grouped && vs->grouped++ == 0)
		vs->grouped_line = line;
	if (!regex_group(s->re, "unit", &ua, &ub))
		ua = ub = 0;
	v.unit = word_index(&vs->units, text + ua, ub - ua);
	if (regex_group(s->re, "name", &na, &nb) && nb > na)
		v.name = word_index(&vs->names, text + na, nb - na);
	else
		v.name = word_index(&vs->names, "performance", 11);
	add_value(vs, v);
}

/* Line by line, so that \s and [^x] of a pattern do not match across lines. */
static void find_pattern(struct search *s, const char *text, size_t n, uint64_t line)
{
	const char *end = text + n;

	for (const char *at = text; at < end; line++) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((nl ? nl : end) - at), from = 0, a, b;
		int r = 0;

		while (from <= len && (r = regex_find(s->re, at, len, from, &a, &b)) > 0) {
			group_value(s, at, line);
			from = b > from ? b : from + 1;
		}
		s->vs->given_up += r < 0;
		at = nl ? nl + 1 : end;
	}
}

static bool on_piece(void *ctx, const char *text, size_t n, uint64_t line)
{
	struct search *s = ctx;

	if (s->re) {
		find_pattern(s, text, n, line);
	} else {
		find_key(s->vs, text, n, line, key, performance_line);
		find_key(s->trainer, text, n, line, trainer_key, trainer_line);
	}
	return true;
}

int values_read(const char *path, const struct results_conf *rc, struct values *ret,
		struct err *err)
{
	CLEANUP(regex_freep) struct regex *re = NULL;
	CLEANUP(values_release) struct values other;
	struct search s = { .vs = ret, .trainer = &other };
	int r = 0;

	values_init(&other);
	if (rc->pattern)
		r = regex_new(rc->pattern, 0, &re, err);
	if (r < 0)
		return r;
	s.re = re;
	r = run_lines(path, on_piece, &s);
	if (r < 0)
		return err_sys(err, -r, "'%s'", path);
	if (!ret->v.nr && other.v.nr) {
		struct values was = *ret;

		*ret = other;
		other = was;
	}
	return 0;
}

/* --- selection --- */

static int by_value(const void *pa, const void *pb)
{
	double a = ((const struct value *)pa)->value, b = ((const struct value *)pb)->value;

	return a < b ? -1 : a > b;
}

static struct value value_chosen(struct value *v, size_t n, enum results_pick pick)
{
	double sum = 0;

	if (pick == PICK_LAST)
		return v[n - 1];
	if (pick == PICK_FIRST)
		return v[0];
	for (size_t i = 0; i < n; i++)
		sum += v[i].value;
	if (pick == PICK_MEAN)
		return (struct value){ .value = sum / (double)n };
	qsort(v, n, sizeof(*v), by_value);
	if (pick == PICK_MIN)
		return v[0];
	if (pick == PICK_MAX)
		return v[n - 1];
	return (struct value){ .value = (v[(n - 1) / 2].value + v[n / 2].value) / 2,
			       .line = n % 2 ? v[n / 2].line : 0 };
}

struct picked values_pick(const struct values *vs, uint32_t name, const struct results_conf *rc)
{
	struct picked p = { .value = NAN };
	VEC(struct value) of = VEC_INIT;
	size_t seen = 0, odd_ones = 0;
	struct value last = { 0 }, one;

	for (size_t i = 0; i < vs->v.nr; i++)
		p.matches += vs->v.v[i].name == name;
	p.skipped = results_steady_skip(rc, p.matches);
	for (size_t i = 0; i < vs->v.nr; i++)
		if (vs->v.v[i].name == name)
			last = vs->v.v[i];
	p.unit = last.unit;
	for (size_t i = 0; i < vs->v.nr; i++) {
		const struct value *v = &vs->v.v[i];

		if (v->name != name || seen++ < p.skipped)
			continue;
		p.mixed |= v->unit != last.unit;
		odd_ones += isnan(v->value);
		if (v->unit == last.unit && !isnan(v->value))
			VEC_PUSH(&of, *v);
	}
	if (p.matches && p.skipped >= p.matches) {
		snprintf(p.why, sizeof(p.why), "results.steady leaves out all %zu of its values",
			 p.matches);
	} else if (!of.nr || (rc->pick == PICK_LAST && isnan(last.value))) {
		/* An earlier value would hide the failure. */
		snprintf(p.why, sizeof(p.why), "its last value, in line %llu, is not a number",
			 (unsigned long long)last.line);
	} else {
		one = value_chosen(of.v, of.nr, rc->pick);
		p.value = one.value;
		p.line = one.line;
		if (odd_ones)
			snprintf(p.why, sizeof(p.why), "%zu of its values are not numbers",
				 odd_ones);
	}
	VEC_RELEASE(&of);
	return p;
}
