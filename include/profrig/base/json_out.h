/*
 * json_out: JSON written as it is produced (documents may be larger than memory).
 *
 *	struct json_out j; json_out_init(&j, f, 2);		FILE, indent (0 = one line)
 *	json_obj(&j, NULL); json_str(&j, "name", s); json_arr(&j, "rows"); json_i64(&j, NULL, 3);
 *	json_end(&j); json_end(&j);
 *
 * key is NULL inside arrays and for the root. Strings: invalid UTF-8 becomes U+FFFD, control
 * characters are escaped, "</" is written "<\/" and "<!" "\u003c!", so that the text may stand
 * inside a script element. Non-finite numbers become null. Depth is at most 64 (assert). No line
 * end follows the root; after it another root may begin (JSON lines). The FILE belongs to one
 * thread; ferror reports failed writes.
 */
#ifndef PROFRIG_JSON_OUT_H
#define PROFRIG_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
	FILE *f;
	int indent;
	int depth;
	char kind[64]; /* '{' or '[' per level */
	bool some[64]; /* this level has a member */
};

void json_out_init(struct json_out *j, FILE *f, int indent);
void json_obj(struct json_out *j, const char *key);
void json_arr(struct json_out *j, const char *key);
void json_end(struct json_out *j);
void json_str(struct json_out *j, const char *key, const char *s); /* NULL → null */
void json_strn(struct json_out *j, const char *key, const char *s, size_t n);
void json_i64(struct json_out *j, const char *key, int64_t v);
void json_u64(struct json_out *j, const char *key, uint64_t v);
void json_f64(struct json_out *j, const char *key, double v);
void json_bool(struct json_out *j, const char *key, bool v);
/* null; jansson exports json_null, and the linker would mix them up */
void json_nil(struct json_out *j, const char *key);
/* A list of texts. */
struct strvec;
void json_words(struct json_out *j, const char *key, const struct strvec *v);
/* text is valid JSON already */
void json_raw(struct json_out *j, const char *key, const char *text);

/* One string with its quotes, escaped as above, at the end of a buffer. */
struct strbuf;
void json_quote(struct strbuf *to, const char *s, size_t n);
/* How many bytes one takes, with its quotes, at most. */
size_t json_quoted_max(const char *s);

#endif
