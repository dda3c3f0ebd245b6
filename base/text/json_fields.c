#include "profrig/base/json_fields.h"

#include <assert.h>
#include <string.h>

static void json_field(struct json_out *j, const void *at, const struct json_field *f)
{
	const char *dot = strrchr(f->name, '.'), *key = dot ? dot + 1 : f->name, *text = at;

	switch (f->kind) {
	case JSON_KIND_TEXT:
		text = *(char *const *)at;
		/* fallthrough */
	case JSON_KIND_CHARS:
		return json_str(j, key, f->set && text && !*text ? NULL : text);
	case JSON_KIND_I64:
	case JSON_KIND_U64:
		if (f->set && !*(const int64_t *)at)
			return json_nil(j, key);
		if (f->kind == JSON_KIND_I64)
			return json_i64(j, key, *(const int64_t *)at);
		return json_u64(j, key, *(const uint64_t *)at);
	case JSON_KIND_BOOL:
		return json_bool(j, key, *(const bool *)at);
	case JSON_KIND_F64:
		return json_f64(j, key, *(const double *)at);
	case JSON_KIND_WORDS:
		return json_words(j, key, at);
	case JSON_KIND_NONE:
		assert(!"a member of another type");
	}
}

void json_fields(struct json_out *j, const void *thing, const struct json_field *table)
{
	for (const struct json_field *f = table; f->name; f++)
		json_field(j, (const char *)thing + f->at, f);
}

void json_rows_of(struct json_out *j, const char *key, const void *v, size_t nr, size_t size,
		  const struct json_field *table)
{
	json_arr(j, key);
	for (size_t i = 0; i < nr; i++) {
		json_obj(j, NULL);
		json_fields(j, (const char *)v + i * size, table);
		json_end(j);
	}
	json_end(j);
}
