/*
 * json_fields: members of a struct as members of a JSON object, by a table.
 *
 *	JSON_TABLE(fields, JSON_FIELDS(struct step, name, argv, timeout_s),
 *		   JSON_SET_FIELDS(struct step, pid, error));	null where they are 0 or ""
 *	json_obj(&j, "step"); json_fields(&j, &step, fields); json_end(&j);
 *	json_rows(&j, "steps", &all, fields);			a list of objects, of a VEC
 *
 * A member may be a text (char * or char[]), bool, int64_t, uint64_t, double or struct strvec;
 * the compiler selects the type. Its key is its name, of "a.b" the name b; JSON_FIELD_AS gives it
 * another one. Members are written in the order of the table.
 */
#ifndef PROFRIG_JSON_FIELDS_H
#define PROFRIG_JSON_FIELDS_H

#include <stddef.h>

#include "profrig/base/each.h"
#include "profrig/base/json_out.h"
#include "profrig/base/strvec.h"

enum json_kind {
	JSON_KIND_NONE,
	JSON_KIND_TEXT,
	JSON_KIND_CHARS,
	JSON_KIND_BOOL,
	JSON_KIND_I64,
	JSON_KIND_U64,
	JSON_KIND_F64,
	JSON_KIND_WORDS
};

struct json_field {
	const char *name; /* NULL ends a table */
	enum json_kind kind;
	bool set; /* null when it is 0 or "" */
	size_t at;
};

/* clang-format off */
#define JSON_KIND_OF(m) \
	_Generic(&(m), char **: JSON_KIND_TEXT, const char **: JSON_KIND_TEXT, \
		 bool *: JSON_KIND_BOOL, int64_t *: JSON_KIND_I64, \
		 uint64_t *: JSON_KIND_U64, double *: JSON_KIND_F64, \
		 struct strvec *: JSON_KIND_WORDS, \
		 default: _Generic((m), char *: JSON_KIND_CHARS, default: JSON_KIND_NONE))
#define JSON_FIELD_AS(if_set, type, member, key) \
	{ .name = (key), .kind = JSON_KIND_OF(((type *)NULL)->member), .set = (if_set), \
	  .at = offsetof(type, member) }
#define JSON_FIELD_ROW(if_set, type, member) JSON_FIELD_AS(if_set, type, member, #member)
/* Up to 8 members. */
#define JSON_FIELDS(type, ...) EACH(JSON_FIELD_ROW, false, type, __VA_ARGS__)
#define JSON_SET_FIELDS(type, ...) EACH(JSON_FIELD_ROW, true, type, __VA_ARGS__)
#define JSON_TABLE(table, ...) \
	static const struct json_field table[] = { __VA_ARGS__, { .name = NULL } }
/* Up to 8 members of a thing at hand, without a table of their own. */
#define json_put(j, type, thing, ...) \
	json_fields(j, thing, (const struct json_field[]){ \
		JSON_FIELDS(type, __VA_ARGS__), { .name = NULL } })
/* clang-format on */

void json_fields(struct json_out *j, const void *thing, const struct json_field *table);
#define json_rows(j, key, vec, table) \
	json_rows_of(j, key, (vec)->v, (vec)->nr, sizeof(*(vec)->v), table)
void json_rows_of(struct json_out *j, const char *key, const void *v, size_t nr, size_t size,
		  const struct json_field *table);

#endif
