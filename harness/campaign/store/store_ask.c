#include "store_priv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"

#define STEPS_PER_CALL 10000
#define VALUE_MAX (64 << 20) /* bytes of one value */
#define CELL_BYTES 16        /* of a number, for the limit of bytes */

struct asking {
	struct store *s;
	const struct store_query *q;
	int64_t until_ns; /* 0: no limit */
	bool denied, late;
	uint64_t bytes;
};

static int on_action(void *ctx, int action, const char *a, const char *b, const char *schema,
		     const char *trigger)
{
	struct asking *k = ctx;

	(void)a, (void)schema, (void)trigger;
	if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
	    (action == SQLITE_FUNCTION && b && sqlite3_stricmp(b, "load_extension") != 0))
		return SQLITE_OK;
	k->denied = true;
	return SQLITE_DENY;
}

static int on_steps(void *ctx)
{
	struct asking *k = ctx;

	k->late = k->until_ns && clock_monotonic_ns() > k->until_ns;
	return k->late || (k->q->interrupt && *k->q->interrupt);
}

static int ask_fail(struct asking *k, int rc, struct err *err)
{
	if (k->denied)
		return err_set(err, EACCES, "a question only reads: one SELECT");
	if (k->late)
		return err_set(err, ETIME, "it takes longer than %g s", k->q->seconds);
	if ((rc & 0xff) == SQLITE_INTERRUPT)
		return err_set(err, EINTR, "interrupted");
	if ((rc & 0xff) == SQLITE_ERROR || (rc & 0xff) == SQLITE_MISMATCH)
		return err_set(err, EINVAL, "%s", sqlite3_errmsg(k->s->db));
	return store_fail(k->s, rc, NULL, err);
}

static int statement_make(struct asking *k, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	const char *rest = sql;
	int rc = sqlite3_prepare_v2(k->s->db, sql, -1, ret, &rest);

	if (rc != SQLITE_OK)
		return ask_fail(k, rc, err);
	for (; *rest && (isspace((unsigned char)*rest) || *rest == ';'); rest++)
		;
	if (!*ret)
		return err_set(err, EINVAL, "there is no SQL in it");
	if (*rest)
		return err_set(err, EINVAL, "one statement at a time: '%.40s' is behind it", rest);
	if (!sqlite3_stmt_readonly(*ret) || sqlite3_column_count(*ret) == 0)
		return err_set(err, EACCES, "a question only reads: one SELECT");
	return 0;
}

static struct store_cell cell_of(sqlite3_stmt *st, int at)
{
	struct store_cell c = { .kind = STORE_NULL };

	switch (sqlite3_column_type(st, at)) {
	case SQLITE_INTEGER:
		c.kind = STORE_I64;
		c.i = sqlite3_column_int64(st, at);
		break;
	case SQLITE_FLOAT:
		c.kind = STORE_F64;
		c.f = sqlite3_column_double(st, at);
		break;
	case SQLITE_TEXT:
		c.kind = STORE_TEXT;
		c.text = (const char *)sqlite3_column_text(st, at);
		break;
	case SQLITE_BLOB:
		c.kind = STORE_BLOB;
		c.text = sqlite3_column_blob(st, at);
		break;
	default:
		break;
	}
	c.n = c.kind >= STORE_TEXT ? (size_t)sqlite3_column_bytes(st, at) : 0;
	return c;
}

/* One row; false: the limits are reached. */
static bool row_of(struct asking *k, sqlite3_stmt *st, struct store_cell *cells, size_t n,
		   const struct store_answer *a)
{
	if (k->q->rows && a->rows >= k->q->rows)
		return false;
	for (size_t i = 0; i < n; i++) {
		cells[i] = cell_of(st, (int)i);
		k->bytes += CELL_BYTES + cells[i].n;
	}
	return !k->q->bytes || k->bytes <= k->q->bytes;
}

static int rows_walk(struct asking *k, sqlite3_stmt *st, struct store_answer *ret, struct err *err)
{
	size_t n = (size_t)sqlite3_column_count(st);
	CLEANUP(xfreep) struct store_cell *cells = xcalloc(n, sizeof(*cells));
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int rc, r;

	for (size_t i = 0; i < n; i++)
		strvec_push(&names, sqlite3_column_name(st, (int)i));
	r = k->q->columns ? k->q->columns(k->q->ctx, names.v, n, err) : 0;
	while (r == 0 && (rc = sqlite3_step(st)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW)
			return ask_fail(k, rc, err);
		ret->cut = !row_of(k, st, cells, n, ret);
		if (ret->cut)
			break;
		ret->rows++;
		r = k->q->row(k->q->ctx, cells, n, err);
	}
	return r;
}

int store_ask(struct store *s, const char *sql, const struct store_query *q,
	      struct store_answer *ret, struct err *err)
{
	struct asking k = { .s = s, .q = q };
	sqlite3_stmt *st = NULL;
	int r;

	*ret = (struct store_answer){ 0 };
	if (q->seconds > 0)
		k.until_ns = clock_monotonic_ns() + (int64_t)(q->seconds * 1e9);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_set_authorizer(s->db, on_action, &k);
	sqlite3_progress_handler(s->db, STEPS_PER_CALL, on_steps, &k);
	r = statement_make(&k, sql, &st, err);
	if (r == 0)
		r = rows_walk(&k, st, ret, err);
	sqlite3_finalize(st);
	sqlite3_progress_handler(s->db, 0, NULL, NULL);
	sqlite3_set_authorizer(s->db, NULL, NULL);
	return r;
}
