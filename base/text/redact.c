#include "profrig/base/redact.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/json_out.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define STARS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct strvec known = STRVEC_INIT;

/* --- learning --- */

/* Longer ones first: a secret may be a part of another. */
static void secret_insert(const char *value)
{
	size_t i = 0;

	if (strlen(value) < REDACT_MIN || strvec_has(&known, value))
		return;
	strvec_push(&known, value);
	for (i = known.nr - 1; i > 0 && strlen(known.v[i]) > strlen(known.v[i - 1]); i--) {
		char *swap = known.v[i];

		known.v[i] = known.v[i - 1];
		known.v[i - 1] = swap;
	}
}

/* --- the forms in which words are written --- */

/* The value as JSON writes it, without the quotes. */
static void add_json(struct strbuf *to, const char *value)
{
	CLEANUP(strbuf_release) struct strbuf quoted = STRBUF_INIT;

	json_quote(&quoted, value, strlen(value));
	strbuf_add(to, quoted.buf + 1, quoted.len - 2);
}

/* Quoting of a shell word in single quotes, of CSV, of HTML. */
static const struct quoting {
	const char *from, *to[5]; /* each character, and what it becomes */
} quotings[] = {
	{ "'", { "'\\''" } },
	{ "\"", { "\"\"" } },
	{ "&<>\"'", { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" } },
};

static void add_quoted(struct strbuf *to, const char *value, const struct quoting *q)
{
	for (; *value; value++) {
		const char *at = strchr(q->from, *value);

		if (at)
			strbuf_addstr(to, q->to[at - q->from]);
		else
			strbuf_addch(to, *value);
	}
}

/* URL encodings: capital or small hex digits, a path, and the characters of a user part. */
static const struct url_form {
	const char *kept;
	bool capitals;
} url_forms[] = { { "", true }, { "", false }, { "/", true }, { "/!$&'()*+,;=:", true } };

/* Quoting may be nested: a shell word inside a shell word of `sh -c`, all of it in JSON. */
#define NESTED 3

static void insert_quoted(const char *value, int nested)
{
	secret_insert(value);
	for (size_t i = 0; nested > 0 && i <= ARRAY_LEN(quotings); i++) {
		CLEANUP(strbuf_release) struct strbuf form = STRBUF_INIT;

		if (i == 0)
			add_json(&form, value);
		else
			add_quoted(&form, value, &quotings[i - 1]);
		if (form.len != strlen(value) || memcmp(form.buf, value, form.len) != 0)
			insert_quoted(form.buf, nested - 1);
	}
}

static void insert_forms(const char *value)
{
	insert_quoted(value, NESTED);
	for (size_t i = 0; i < ARRAY_LEN(url_forms); i++) {
		CLEANUP(strbuf_release) struct strbuf form = STRBUF_INIT;

		text_percent_encode(&form, value, url_forms[i].kept, url_forms[i].capitals);
		insert_quoted(form.buf, NESTED);
	}
}

void redact_learn(const char *value)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

	if (!value || !*value)
		return;
	strvec_push(&lines, value);
	strvec_split(&lines, value, "\r\n");
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < lines.nr; i++)
		if (strlen(lines.v[i]) >= REDACT_MIN)
			insert_forms(lines.v[i]);
	pthread_mutex_unlock(&lock);
}

/* --- finding --- */

/* Replaces every occurrence of value; the stars are shorter than any secret. */
static size_t secret_cut(char *text, size_t n, const char *value)
{
	size_t len = strlen(value), to = 0, from = 0;

	for (;;) {
		char *at = memmem(text + from, n - from, value, len);
		size_t keep = at ? (size_t)(at - text) - from : n - from;

		if (to != from)
			memmove(text + to, text + from, keep);
		to += keep;
		if (!at)
			return to;
		memset(text + to, '*', STARS);
		to += STARS;
		from += keep + len;
	}
}

/* The length without the sign that text was cut off (err.h: '+', an ellipsis). */
static size_t before_mark(const char *text, size_t n)
{
	static const char ellipsis[] = "\xe2\x80\xa6", dots[] = "...";

	if (n >= 1 && text[n - 1] == '+')
		return n - 1;
	if (n >= 3 && (!memcmp(text + n - 3, ellipsis, 3) || !memcmp(text + n - 3, dots, 3)))
		return n - 3;
	return n;
}

/* How many bytes at the end of a text begin value; 0 when fewer than REDACT_SURE. */
static size_t begun_at_end(const char *text, size_t n, const char *value)
{
	size_t len = strlen(value);

	for (size_t k = len - 1 < n ? len - 1 : n; k >= REDACT_SURE; k--)
		if (!memcmp(text + n - k, value, k))
			return k;
	return 0;
}

/* A text that was cut may end inside a secret. */
static size_t cut_end(char *text, size_t n, const char *value)
{
	size_t end = before_mark(text, n), k = begun_at_end(text, end, value);

	if (k == 0)
		return n;
	memset(text + end - k, '*', STARS);
	memmove(text + end - k + STARS, text + end, n - end);
	return n - k + STARS;
}

static bool ends_authority(char c)
{
	return c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '<' || c == '>' ||
	       c == '\\' || isspace((unsigned char)c) || c == '\0';
}

/* Length of the secret part of "user:password@host…"; 0 when there is none. */
static size_t hidden_part(const char *text, size_t n, bool http, size_t *ret_start)
{
	size_t end = 0, at = 0, colon = 0;
	bool found = false;

	while (end < n && !ends_authority(text[end]))
		end++;
	for (size_t i = 0; i < end; i++)
		if (text[i] == '@') {
			at = i;
			found = true;
		}
	if (!found)
		return 0;
	while (colon < at && text[colon] != ':')
		colon++;
	*ret_start = colon < at ? colon + 1 : 0;
	return colon < at ? at - colon - 1 : http ? at : 0;
}

static size_t cut_urls(char *text, size_t n)
{
	static const char sep[] = "://";
	size_t from = 0;
	char *at;

	while ((at = memmem(text + from, n - from, sep, strlen(sep)))) {
		size_t host = (size_t)(at - text) + strlen(sep), start = 0, len, stars;
		bool http = (host >= 7 && !memcmp(at - 4, "http", 4)) ||
			    (host >= 8 && !memcmp(at - 5, "https", 5));

		from = host;
		len = hidden_part(text + host, n - host, http, &start);
		if (len == 0)
			continue;
		stars = len < STARS ? len : STARS;
		start += host;
		memset(text + start, '*', stars);
		memmove(text + start + stars, text + start + len, n - start - len);
		n -= len - stars;
	}
	return n;
}

size_t redact(char *text, size_t n, size_t min)
{
	size_t was = n;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < known.nr && strlen(known.v[i]) >= min; i++)
		n = secret_cut(text, n, known.v[i]);
	for (size_t i = 0; i < known.nr && strlen(known.v[i]) > REDACT_SURE; i++)
		n = cut_end(text, n, known.v[i]);
	pthread_mutex_unlock(&lock);
	n = cut_urls(text, n);
	if (n < was)
		text[n] = '\0';
	return n;
}

bool redact_found(const char *text, size_t n)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; !found && i < known.nr && strlen(known.v[i]) >= REDACT_SURE; i++)
		found = memmem(text, n, known.v[i], strlen(known.v[i])) != NULL;
	pthread_mutex_unlock(&lock);
	return found;
}

size_t redact_longest(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = known.nr ? strlen(known.v[0]) : 0;
	pthread_mutex_unlock(&lock);
	return n;
}

char *redact_str(char *s)
{
	redact(s, strlen(s), REDACT_MIN);
	return s;
}

/* For a string that begins behind the quote at `at`: the place of its closing quote, or n. */
static size_t string_end(const char *text, size_t at, size_t n)
{
	while (at < n && text[at] != '"')
		at += text[at] == '\\' ? 2 : 1;
	return at < n ? at : n;
}

static bool is_key(const char *text, size_t at, size_t n)
{
	while (at < n && isspace((unsigned char)text[at]))
		at++;
	return at < n && text[at] == ':';
}

static bool is_id(const char *key, size_t n)
{
	return (n == 2 && !memcmp(key, "id", 2)) || (n == 6 && !memcmp(key, "run_id", 6));
}

size_t redact_json(char *text, size_t n)
{
	size_t to = 0, from = 0;
	bool id = false;

	while (from < n) {
		size_t quote = from, end, len;

		while (quote < n && text[quote] != '"')
			quote++;
		quote += quote < n; /* the quote stays */
		memmove(text + to, text + from, quote - from);
		to += quote - from;
		end = string_end(text, quote, n);
		len = end - quote;
		if (is_key(text, end + 1, n))
			id = is_id(text + quote, len);
		else if (!id)
			len = redact(text + quote, len, REDACT_SURE);
		memmove(text + to, text + quote, len);
		to += len;
		from = end;
		if (from < n)
			text[to++] = text[from++];
	}
	if (to < n)
		text[to] = '\0';
	return to;
}

static void redact_print(FILE *f, void (*print)(const void *ctx, FILE *to), const void *ctx,
			 bool json)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	FILE *to = xmemstream(&text, &n);

	print(ctx, to);
	fclose(to);
	fwrite(text, 1, json ? redact_json(text, n) : redact(text, n, REDACT_SURE), f);
}

void redact_through(FILE *f, void (*print)(const void *ctx, FILE *to), const void *ctx)
{
	redact_print(f, print, ctx, false);
}

void redact_json_through(FILE *f, void (*print)(const void *ctx, FILE *to), const void *ctx)
{
	redact_print(f, print, ctx, true);
}
