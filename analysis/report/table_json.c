#include "table_json.h"

#include "profrig/base/num.h"

const char *const table_json_type[] = {
	[TABLE_STR] = "str",
	[TABLE_I64] = "i64",
	[TABLE_U64] = "u64",
	[TABLE_F64] = "f64",
};

void table_json_column(struct json_out *j, const struct table *t, size_t col)
{
	const struct table_column *c = table_column(t, col);

	json_obj(j, NULL);
	json_str(j, "name", c->name);
	json_str(j, "type", table_json_type[c->type]);
	json_str(j, "unit", c->unit);
	json_end(j);
}

void table_json_columns(struct json_out *j, const struct table *t)
{
	json_arr(j, "columns");
	for (size_t c = 0; c < table_cols(t); c++)
		table_json_column(j, t, c);
	json_end(j);
}

static void put_i64(struct json_out *j, const char *key, int64_t v, int64_t exact)
{
	char digits[24];

	if (v <= exact && v >= (exact == INT64_MAX ? INT64_MIN : -exact)) {
		json_i64(j, key, v);
		return;
	}
	num_fmt_i64(digits, v);
	json_str(j, key, digits);
}

static void put_u64(struct json_out *j, const char *key, uint64_t v, int64_t exact)
{
	char digits[24];

	if (v <= (uint64_t)exact) {
		json_u64(j, key, v);
		return;
	}
	num_fmt_u64(digits, v);
	json_str(j, key, digits);
}

void table_json_cell(struct json_out *j, const char *key, const struct table *t, size_t row,
		     size_t col, int64_t exact)
{
	switch (table_column(t, col)->type) {
	case TABLE_STR:
		json_str(j, key, table_get_str(t, row, col));
		return;
	case TABLE_I64:
		put_i64(j, key, table_get_i64(t, row, col), exact);
		return;
	case TABLE_U64:
		put_u64(j, key, table_get_u64(t, row, col), exact);
		return;
	case TABLE_F64:
		json_f64(j, key, table_get_f64(t, row, col));
		return;
	}
}
