#include "sqlite_db.h"

#include <errno.h>

#include "profrig/base/xalloc.h"

/* An array may be so many times larger than its number of entries. */
static bool is_dense(const struct sqlite_ids *ids, int64_t id)
{
	return id >= 0 && (uint64_t)id < 2 * (uint64_t)ids->nr + 65536;
}

bool sqlite_ids_add(struct sqlite_ids *ids, int64_t id, uint32_t number)
{
	if (sqlite_ids_get(ids, id) != SQLITE_ID_NONE)
		return false;
	ids->nr++;
	if (!is_dense(ids, id)) {
		*u64map_at(&ids->high, (uint64_t)id) = number;
		return true;
	}
	VEC_RESERVE(&ids->low, (size_t)id + 1);
	while (ids->low.nr <= (size_t)id)
		ids->low.v[ids->low.nr++] = SQLITE_ID_NONE;
	ids->low.v[id] = number;
	return true;
}

void sqlite_ids_release(struct sqlite_ids *ids)
{
	VEC_RELEASE(&ids->low);
	u64map_release(&ids->high);
	ids->nr = 0;
}

void sqlite_strings_init(struct sqlite_strings *st, struct sink *s)
{
	*st = (struct sqlite_strings){ .sink = s, .texts = intern_new() };
}

void sqlite_strings_release(struct sqlite_strings *st)
{
	intern_free(st->texts);
	st->texts = NULL;
	sqlite_ids_release(&st->ids);
	VEC_RELEASE(&st->in_sink);
}

int sqlite_strings_load(struct sqlite_strings *st, struct sqlite_db *db, const char *table,
			const char *columns, struct err *err)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	int r = sqlite_rows_table(db, table, columns, &q, err);

	while (r >= 0 && (r = sqlite_rows_next(&q, err)) > 0) {
		int64_t key;
		size_t n;
		const char *s;

		if (!sqlite_rows_i64(&q, 0, &key))
			continue;
		s = sqlite_rows_text(&q, 1, &n);
		st->duplicate_ids +=
			!sqlite_ids_add(&st->ids, key, intern_put(st->texts, s ? s : "", n));
	}
	sqlite_rows_close(&q, st->sink);
	return r;
}

const char *sqlite_strings_text(const struct sqlite_strings *st, int64_t id)
{
	str_id own = sqlite_ids_get(&st->ids, id);

	return own == SQLITE_ID_NONE ? NULL : intern_str(st->texts, own);
}

str_id sqlite_strings_id(struct sqlite_strings *st, int64_t id)
{
	str_id own = sqlite_ids_get(&st->ids, id);

	if (own == SQLITE_ID_NONE)
		return STR_NONE;
	if (own >= st->in_sink.nr) {
		size_t count = intern_count(st->texts);

		VEC_RESERVE(&st->in_sink, count);
		while (st->in_sink.nr < count)
			st->in_sink.v[st->in_sink.nr++] = STR_NONE;
	}
	if (st->in_sink.v[own] == STR_NONE)
		st->in_sink.v[own] = st->sink->ops->string(st->sink, intern_str(st->texts, own),
							   intern_len(st->texts, own));
	return st->in_sink.v[own];
}
