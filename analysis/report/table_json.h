/*
 * table_json: tables as JSON, for the page and for programs.
 */
#ifndef PROFRIG_TABLE_JSON_H
#define PROFRIG_TABLE_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "profrig/base/json_out.h"
#include "profrig/base/table.h"

/* "str", "i64", "u64", "f64" */
extern const char *const table_json_type[];

/* {name, type, unit}; "columns": […] of all */
void table_json_column(struct json_out *j, const struct table *t, size_t col);
void table_json_columns(struct json_out *j, const struct table *t);
/*
 * A cell; key: NULL inside arrays. Integers beyond ±exact become strings of digits, as readers
 * would round them.
 */
void table_json_cell(struct json_out *j, const char *key, const struct table *t, size_t row,
		     size_t col, int64_t exact);

/* The string at a key of an object that another program wrote, "" when there is none. Borrowed. */
static inline const char *json_text_at(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

#endif
