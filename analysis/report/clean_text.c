#include "clean_text.h"

#include <string.h>

#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"

static bool text_is_clean(const char *s)
{
	size_t n = strlen(s);

	while (n) {
		size_t k = utf8_len(s, n);

		if (!k)
			return false;
		s += k;
		n -= k;
	}
	return true;
}

void text_add_clean(struct strbuf *out, const char *s)
{
	size_t n = strlen(s);

	while (n) {
		size_t k = utf8_len(s, n);

		if (k)
			strbuf_add(out, s, k);
		else
			strbuf_addstr(out, "\xef\xbf\xbd");
		s += k ? k : 1;
		n -= k ? k : 1;
	}
}

static bool is_clean(const struct table *t)
{
	for (size_t c = 0; c < table_cols(t); c++) {
		if (table_column(t, c)->type != TABLE_STR)
			continue;
		for (size_t r = 0; r < table_rows(t); r++)
			if (!text_is_clean(table_get_str(t, r, c)))
				return false;
	}
	return true;
}

struct table *table_clean(const struct table *t)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct table *copy;

	if (is_clean(t))
		return NULL;
	copy = table_new(table_name(t));
	table_about(copy, table_about_text(t));
	for (size_t c = 0; c < table_cols(t); c++)
		table_col(copy, table_column(t, c)->name, table_column(t, c)->type,
			  table_column(t, c)->unit);
	for (size_t r = 0; r < table_rows(t); r++) {
		for (size_t c = 0; c < table_cols(t); c++) {
			switch (table_column(t, c)->type) {
			case TABLE_STR:
				strbuf_clear(&sb);
				text_add_clean(&sb, table_get_str(t, r, c));
				table_str(copy, sb.buf);
				break;
			case TABLE_I64:
				table_i64(copy, table_get_i64(t, r, c));
				break;
			case TABLE_U64:
				table_u64(copy, table_get_u64(t, r, c));
				break;
			case TABLE_F64:
				table_f64(copy, table_get_f64(t, r, c));
				break;
			}
		}
		table_row(copy);
	}
	return copy;
}
