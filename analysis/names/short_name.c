#include "profrig/names/short_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/demangle.h"

#define ARGUMENT_DEPTH 8

/* A stretch of text. */
struct part {
	const char *p;
	size_t n;
};

static bool part_ends(struct part t, const char *word)
{
	size_t n = strlen(word);

	return t.n >= n && memcmp(t.p + t.n - n, word, n) == 0;
}

/* ---- brackets ---- */

/* +1: one opens at i, −1: one closes, else 0. Those of operators are none. */
static int bracket(struct part t, size_t i)
{
	static const char pairs[] = "<([{>)]}";
	const char *at = strchr(pairs, t.p[i]);
	struct part before = { t.p, i };

	if (!at || !*at)
		return 0;
	if (t.p[i] == '>' && i && t.p[i - 1] == '-')
		return 0;
	if ((t.p[i] == '<' || t.p[i] == '>') &&
	    (part_ends(before, "operator") || part_ends(before, "operator<") ||
	     part_ends(before, "operator>")))
		return 0;
	return at - pairs < 4 ? 1 : -1;
}

/* Where the bracket that opens at i ends (behind it); the end of the text when it never does. */
static size_t bracket_end(struct part t, size_t i)
{
	size_t depth = 0;

	for (; i < t.n; i++) {
		int b = bracket(t, i);

		if (b > 0)
			depth++;
		else if (b < 0 && depth && --depth == 0)
			return i + 1;
	}
	return t.n;
}

/* ---- from a signature to its name ---- */

static void anonymous_drop(const char *text, struct strbuf *out)
{
	static const char *const marks[] = { "(anonymous namespace)::", "<unnamed>::",
					     "`anonymous namespace'::" };

	while (*text) {
		size_t n = 0;

		for (size_t i = 0; !n && i < ARRAY_LEN(marks); i++)
			if (strncmp(text, marks[i], strlen(marks[i])) == 0)
				n = strlen(marks[i]);
		if (!n)
			strbuf_addch(out, *text);
		text += n ? n : 1;
	}
}

static void tail_drop(struct part *t, const char *word)
{
	if (part_ends(*t, word) && t->n > strlen(word))
		t->n -= strlen(word);
}

/* "operator<" and the like. */
static bool operator_ends(struct part t)
{
	while (t.n && strchr("<>=+-*/%&|^!~,", t.p[t.n - 1]))
		t.n--;
	return part_ends(t, "operator");
}

/* Without "(…)" at its end; false when it has no parameters. */
static bool parameters_drop(struct part *t)
{
	size_t open = 0;

	for (size_t i = 0; i < t->n;) {
		size_t end = bracket(*t, i) > 0 ? bracket_end(*t, i) : i + 1;

		if (t->p[i] == '(' && end == t->n && t->p[t->n - 1] == ')')
			open = i;
		i = end;
	}
	if (!open || part_ends((struct part){ t->p, open }, "operator")) /* the name itself */
		return false;
	if (!isalnum((unsigned char)t->p[open - 1]) && !strchr("_>)]}", t->p[open - 1]) &&
	    !operator_ends((struct part){ t->p, open }))
		return false;
	t->n = open;
	return true;
}

static void return_type_drop(struct part *t, bool parameters)
{
	size_t from = 0;

	if (!parameters && !(t->n > 5 && memcmp(t->p, "void ", 5) == 0))
		return;
	for (size_t i = 0; i < t->n;) {
		if (t->p[i] == ' ' && i + 1 < t->n &&
		    !part_ends((struct part){ t->p, i }, "operator"))
			from = i + 1;
		i = bracket(*t, i) > 0 ? bracket_end(*t, i) : i + 1;
	}
	while (from < t->n && strchr("*& ", t->p[from]))
		from++;
	if (from < t->n) {
		t->p += from;
		t->n -= from;
	}
}

/* ---- arguments of templates ---- */

static struct part part_trim(struct part t)
{
	static const char *const words[] = { " const", " volatile", "*", "&", " " };

	while (t.n && *t.p == ' ') {
		t.p++;
		t.n--;
	}
	for (size_t i = 0; i < ARRAY_LEN(words);) {
		size_t was = t.n;

		tail_drop(&t, words[i]);
		i = t.n < was ? 0 : i + 1;
	}
	return t;
}

/* The first argument inside the bracket at i. */
static struct part first_argument(struct part t, size_t i)
{
	struct part a = { t.p + i + 1, 0 };
	size_t end = bracket_end(t, i) - 1;

	for (size_t k = i + 1; k < end && t.p[k] != ',';) {
		k = bracket(t, k) > 0 ? bracket_end(t, k) : k + 1;
		a.n = (k < end ? k : end) - (i + 1);
	}
	return a;
}

static bool counts_as_name(struct part t)
{
	return t.n > 0 && !part_ends(t, "operator");
}

/*
 * One word for an argument: the last name of it that is outside of brackets. Of a lambda in a
 * function template the template's first argument says which function it is.
 */
static void argument_fold(struct part t, unsigned depth, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf flat = STRBUF_INIT;
	struct part word = { "", 0 };
	size_t from = 0;

	for (size_t i = 0; i < t.n;) {
		size_t end = bracket(t, i) > 0 ? bracket_end(t, i) : 0;

		if (end && t.p[i] == '<' && end < t.n && t.p[end] == '(' && depth) {
			argument_fold(first_argument(t, i), depth - 1, out);
			return;
		}
		if (!end)
			strbuf_addch(&flat, t.p[i]);
		i = end ? end : i + 1;
	}
	for (size_t i = 0; i <= flat.len; i++) {
		struct part w = { flat.buf + from, i - from };

		if (i < flat.len && strncmp(flat.buf + i, "::", 2) != 0)
			continue;
		w = part_trim(w);
		if (counts_as_name(w))
			word = w;
		from = i + 2;
		i++;
	}
	strbuf_add(out, word.p, word.n);
}

/* Behind the "<" at i, up to its end. */
static void arguments_fold(struct part t, size_t i, struct strbuf *out)
{
	size_t end = bracket_end(t, i), from = i + 1, begin;

	strbuf_addch(out, '<');
	begin = out->len;
	for (size_t k = i + 1; k < end;) {
		if (t.p[k] == ',' || k + 1 == end) {
			size_t len = k - from + (k + 1 == end && t.p[k] != '>' ? 1 : 0);

			if (out->len > begin)
				strbuf_addstr(out, ", ");
			argument_fold((struct part){ t.p + from, len }, ARGUMENT_DEPTH, out);
			from = k + 1;
		}
		k = bracket(t, k) > 0 ? bracket_end(t, k) : k + 1;
	}
	strbuf_addch(out, '>');
}

static void templates_fold(struct part t, struct strbuf *out)
{
	for (size_t i = 0; i < t.n;) {
		if (t.p[i] == '<' && bracket(t, i) > 0) {
			arguments_fold(t, i, out);
			i = bracket_end(t, i);
		} else if (bracket(t, i) > 0) {
			size_t end = bracket_end(t, i);

			strbuf_add(out, t.p + i, end - i);
			i = end;
		} else {
			strbuf_addch(out, t.p[i++]);
		}
	}
}

/* ---- widths ---- */

static size_t char_len(const char *p)
{
	size_t n = utf8_len(p, strnlen(p, 4));

	return n ? n : 1;
}

size_t short_width(const char *text)
{
	size_t w = 0;

	for (; *text; text += char_len(text))
		w++;
	return w;
}

/* Bytes of the first w characters. */
static size_t bytes_of(const char *text, size_t w)
{
	const char *p = text;

	for (; *p && w; w--)
		p += char_len(p);
	return (size_t)(p - text);
}

/* text without its middle, and tail behind it, in width characters. */
static void squeeze(const char *text, const char *tail, size_t width, struct strbuf *out)
{
	size_t have = short_width(text), room, head;

	width = width < SHORT_NAME_LEAST ? SHORT_NAME_LEAST : width;
	room = width - short_width(tail);
	if (have <= room) {
		strbuf_addstr(out, text);
	} else {
		head = room / 2;
		strbuf_add(out, text, bytes_of(text, head));
		strbuf_addstr(out, "…");
		strbuf_addstr(out, text + bytes_of(text, have - (room - head - 1)));
	}
	strbuf_addstr(out, tail);
}

/*
 * Names of generated kernels are long lists of options; what tells them apart for people is in
 * front and the tile: "Cijk_Alik_Bljk_BBS_BH_MT128x224x64", "sm80_xmma_gemm_…_stage3".
 */
static void options_drop(struct strbuf *name)
{
	static const char *const options[] = { "_Bias", "_AS_", "_HA_", "_SAV", "_UserArgs" };
	const char *tile = strstr(name->buf, "_MT"), *stage = strstr(name->buf, "_stage");
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t head;

	if (strncmp(name->buf, "Cijk_", 5) == 0 && tile) {
		head = (size_t)(tile - name->buf);
		for (size_t i = 0; i < ARRAY_LEN(options); i++) {
			const char *at = strstr(name->buf, options[i]);

			if (at && (size_t)(at - name->buf) < head)
				head = (size_t)(at - name->buf);
		}
		strbuf_add(&text, name->buf, head);
		strbuf_add(&text, tile, 3 + strspn(tile + 3, "0123456789x"));
	} else if (strstr(name->buf, "_xmma_") && stage) {
		head = (size_t)(stage - name->buf) + strlen("_stage");
		strbuf_add(&text, name->buf, head);
		strbuf_add(&text, stage + 6, strspn(stage + 6, "0123456789"));
	} else {
		return;
	}
	strbuf_clear(name);
	strbuf_add(name, text.buf, text.len);
}

static void name_fold(const char *name, size_t width, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT, text = STRBUF_INIT;
	struct part t;
	bool parameters;

	anonymous_drop(demangle(name, &plain) ? plain.buf : name, &text);
	t = (struct part){ text.buf, text.len };
	if (part_ends(t, "]")) {
		const char *clone = strstr(text.buf, " [clone ");

		t.n = clone && clone > text.buf ? (size_t)(clone - text.buf) : t.n;
	}
	tail_drop(&t, ".kd");
	parameters = parameters_drop(&t);
	return_type_drop(&t, parameters);
	templates_fold(t, out);
	if (short_width(out->buf) > width)
		options_drop(out);
}

void short_name(const char *name, size_t width, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf folded = STRBUF_INIT;

	name_fold(name, width, &folded);
	squeeze(folded.len ? folded.buf : name, "", width, out);
}

/* ---- the names of a table ---- */

struct named {
	const char *full;
	char *folded, *text;
	size_t row;
};

static int cmp_text(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int d = strcmp(a->text, b->text);

	return d ? d : strcmp(a->full, b->full);
}

static int cmp_row(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	return (a->row > b->row) - (a->row < b->row);
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t name_hash(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return h;
}

static void tail_give(struct named *n, int digits, size_t nth, size_t width)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	char tail[48];

	if (nth)
		snprintf(tail, sizeof(tail), "~%zu", nth);
	else
		snprintf(tail, sizeof(tail), "~%0*llx", digits,
			 (unsigned long long)(name_hash(n->full) >> (64 - 4 * digits)));
	squeeze(n->folded, tail, width, &text);
	free(n->text);
	n->text = strbuf_steal(&text);
}

/* Gives tails to names that share a short one; false when there are none. v is sorted by it. */
static bool tails_give(struct named *v, size_t nr, int digits, bool count, size_t width)
{
	bool any = false;

	for (size_t i = 0; i < nr;) {
		size_t end = i + 1;

		while (end < nr && strcmp(v[end].text, v[i].text) == 0)
			end++;
		if (strcmp(v[i].full, v[end - 1].full) != 0) {
			any = true;
			for (size_t k = i, nth = 1; k < end; k++) {
				nth += k > i && strcmp(v[k].full, v[k - 1].full) != 0;
				tail_give(&v[k], digits, count ? nth : 0, width);
			}
		}
		i = end;
	}
	return any;
}

char **short_names(const char *const *names, size_t nr, size_t width)
{
	struct named *v = xcalloc(nr + 1, sizeof(*v));
	char **ret = xcalloc(nr + 1, sizeof(*ret));

	for (size_t i = 0; i < nr; i++) {
		struct strbuf folded = STRBUF_INIT, text = STRBUF_INIT;

		name_fold(names[i], width, &folded);
		if (!folded.len)
			strbuf_addstr(&folded, names[i]);
		squeeze(folded.buf, "", width, &text);
		v[i] = (struct named){ names[i], strbuf_steal(&folded), strbuf_steal(&text), i };
	}
	qsort(v, nr, sizeof(*v), cmp_text);
	for (int digits = 4; digits <= 12 && tails_give(v, nr, digits, false, width); digits += 4)
		qsort(v, nr, sizeof(*v), cmp_text);
	/* names made to collide; each round parts at least two of them */
	for (size_t round = 0; round < nr && tails_give(v, nr, 0, true, width); round++)
		qsort(v, nr, sizeof(*v), cmp_text);
	qsort(v, nr, sizeof(*v), cmp_row);
	for (size_t i = 0; i < nr; i++) {
		free(v[i].folded);
		ret[i] = v[i].text;
	}
	free(v);
	return ret;
}

void short_names_free(char **v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(v[i]);
	free(v);
}
