/*
 * json_scan: a pull tokenizer over JSON text in memory, for scanners that need a few members of
 * very many objects.
 *
 * It neither allocates nor copies: strings and numbers are slices of the text, decoded on request.
 * The text must be followed by at least 64 readable bytes (input.h gives zeros), because it is
 * scanned in blocks of 16 bytes; these bytes are never data.
 *
 * Beyond RFC 8259 it accepts what real trace files hold: dangling and doubled commas, raw control
 * characters in strings, NUL bytes as blanks (holes and tails of mapped files), bare words (NaN,
 * Infinity), invalid UTF-8.
 *
 *	struct json_cur c = { data, data + len };
 *	bool some = false;
 *	r = json_open(&c, '{');
 *	while (r >= 0 && (r = json_member(&c, &some, &key)) > 0)
 *		r = json_text_is(&key, "ts") ? json_scalar(&c, &ts) : json_skip(&c);
 *
 * Every function returns JSON_CUT when the text ends inside a value, and JSON_BAD at a character
 * that is not allowed there; c->p is then at that character.
 */
#ifndef PROFRIG_JSON_SCAN_H
#define PROFRIG_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "profrig/base/strbuf.h"

#define JSON_CUT (-1)
#define JSON_BAD (-2)
/* Nesting below the value a function was called for; deeper is JSON_BAD. */
#define JSON_MAX_DEPTH 128

struct json_cur {
	const char *p, *end;
};

struct json_text {
	const char *p;
	size_t n : 62;
	size_t escaped : 1; /* holds a backslash */
	size_t quoted : 1;  /* was a string: p, n are the text between the quotes */
};

/* The next character after blanks, not consumed; 0 at the end. */
char json_peek(struct json_cur *c);
/* Consumes open ('{' or '[') after blanks. 0. */
int json_open(struct json_cur *c, char open);
/* Next member of an object: 1 and its key, cursor at the value; 0 after '}'. *some is false before
 * the first call. */
int json_member(struct json_cur *c, bool *some, struct json_text *key);
/* Next element of an array: 1 with the cursor at it; 0 after ']'. */
int json_element(struct json_cur *c, bool *some);
/* A string, number or bare word. 0. */
int json_scalar(struct json_cur *c, struct json_text *ret);
/*
 * Next member whose value is a scalar: 1, its key and its value. Arrays and objects are skipped. 0
 * after '}'.
 */
int json_scalar_member(struct json_cur *c, bool *some, struct json_text *key,
		       struct json_text *value);
/* Any value: brackets must match, nothing else is checked. 0. */
int json_skip(struct json_cur *c);
/*
 * The rest of a value that was opened with `open`, with its end. above: number of values around it
 * that count as nesting. 0.
 */
int json_skip_open(struct json_cur *c, char open, unsigned int above);
/*
 * The rest of an array or object that was opened with `open`, with its end. 0. walked: called every
 * megabyte with the position; NULL: none.
 */
int json_skip_rest(struct json_cur *c, char open, void (*walked)(void *ctx, const char *at),
		   void *ctx);

/*
 * The string's meaning, appended: escapes resolved (a lone surrogate and an unknown escape become
 * U+FFFD), invalid UTF-8 and NUL become U+FFFD.
 */
void json_decode(const struct json_text *t, struct strbuf *out);
/* Bytes of valid UTF-8 without NUL and escapes at the start of t: t->n when json_decode would
 * change nothing. */
size_t json_plain_len(const struct json_text *t);

/*
 * A cursor over a slice (of a text that is followed by readable bytes); empty for an unset slice.
 */
struct json_cur json_cur_of(const struct json_text *t);
/* The same behind the '{' that the slice begins with; false: it is no object. */
bool json_object_of(const struct json_text *t, struct json_cur *ret);

/*
 * Objects whose members are known, by table:
 *
 *	static const struct json_known fields[] = {
 *		JSON_INTO("name", json_take_text, struct frame, name),
 *		JSON_CALL("args", take_args),
 *	};
 *	r = json_members(&c, fields, ARRAY_LEN(fields), &frame);
 *
 * A take function gets the cursor at the value and, as `to`, the object's field (JSON_INTO) or the
 * object (JSON_CALL). It consumes the value and returns 0 or an error, as json_skip does.
 */
typedef int json_take_fn(struct json_cur *c, void *to);

struct json_known {
	const char *key;
	size_t key_len;
	json_take_fn *take;
	size_t at;
};
#define JSON_CALL(name, fn) \
	{ \
		(name), sizeof(name) - 1, (fn), 0 \
	}
#define JSON_INTO(name, fn, type, field) \
	{ \
		(name), sizeof(name) - 1, (fn), offsetof(type, field) \
	}

/* Members that are not in the table, and a value that is no object, are skipped. 0. */
int json_members(struct json_cur *c, const struct json_known *fields, size_t n, void *to);
/* Calls take for each element of an array; another value is skipped. 0. */
int json_elements(struct json_cur *c, json_take_fn *take, void *to);
/* to: struct json_text *. An array or an object is skipped and leaves it as it is. */
int json_take_text(struct json_cur *c, void *to);
/* to: const char **, set to the '[' of an array. */
int json_take_list(struct json_cur *c, void *to);

/* Characters of numbers and bare words. */
extern const bool json_word[256];
static inline bool json_is_word(char c)
{
	return json_word[(unsigned char)c];
}

static inline bool json_text_is(const struct json_text *t, const char *s)
{
	size_t n = __builtin_strlen(s);

	return t->n == n && memcmp(t->p, s, n) == 0;
}

#endif
