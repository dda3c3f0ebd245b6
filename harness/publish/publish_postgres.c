/*
 * PostgreSQL 9.5 or newer through libpq, which is loaded when it is first used. Two tables,
 * profrig_run and profrig_metric (docs/publish.md), made when they are not there; one transaction a
 * run; rows that are there are replaced. A password in `connection` was refused before; libpq's
 * own ~/.pgpass, services and PG… variables hold as ever.
 *
 * All calls are asynchronous, with the publisher's own deadline, as a server that accepts a
 * connection and then says nothing would hold up the run.
 */
#include "publish_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "profrig/publish/publish.h"
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#include "profrig/base/clock.h"
#include "profrig/base/dynlib.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define NAP_MS 100

#define PQ_SYMS(X) \
	X(PQconnectStartParams) \
	X(PQconnectPoll) \
	X(PQconninfoParse) \
	X(PQconninfoFree) \
	X(PQconsumeInput) \
	X(PQerrorMessage) \
	X(PQfinish) \
	X(PQflush) \
	X(PQfreemem) \
	X(PQclear) \
	X(PQgetResult) \
	X(PQgetvalue) \
	X(PQisBusy) \
	X(PQntuples) \
	X(PQresultErrorField) \
	X(PQresultStatus) \
	X(PQsendQueryParams) \
	X(PQsetNoticeProcessor) \
	X(PQsetnonblocking) \
	X(PQsocket) \
	X(PQstatus)

struct pq_lib {
	DYNLIB_MEMBERS(PQ_SYMS)
};
#define PQ_ROW(f) DYNLIB_SYM(struct pq_lib, f),
static const struct dynlib_sym pq_syms[] = { PQ_SYMS(PQ_ROW) };

static const char create_sql[] =
	"CREATE TABLE IF NOT EXISTS profrig_run ("
	" run text PRIMARY KEY, model text, campaign text, cell text, repeat text, block text,"
	" labels jsonb, status text NOT NULL, reason text, exit_code bigint, signal text,"
	" started timestamptz NOT NULL, ended timestamptz NOT NULL, host text, engine text,"
	" image text, image_digest text, devices jsonb, tools jsonb, durations_s jsonb,"
	" metrics_left_out bigint, profrig text, published timestamptz NOT NULL DEFAULT now())";
static const char create_metric_sql[] =
	"CREATE TABLE IF NOT EXISTS profrig_metric ("
	" run text NOT NULL REFERENCES profrig_run ON DELETE CASCADE, name text NOT NULL,"
	" key text NOT NULL, unit text NOT NULL, value double precision NOT NULL,"
	" PRIMARY KEY (run, name, key))";
static const char run_sql[] =
	"INSERT INTO profrig_run (run, model, campaign, cell, repeat, block, labels, status,"
	" reason, exit_code, signal, started, ended, host, engine, image, image_digest, devices,"
	" tools, durations_s, metrics_left_out, profrig)"
	" VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10::bigint, $11, $12::timestamptz,"
	" $13::timestamptz, $14, $15, $16, $17, $18::jsonb, $19::jsonb, $20::jsonb, $21::bigint,"
	" $22) ON CONFLICT (run) DO UPDATE SET model = excluded.model,"
	" campaign = excluded.campaign, cell = excluded.cell, repeat = excluded.repeat,"
	" block = excluded.block, labels = excluded.labels, status = excluded.status,"
	" reason = excluded.reason, exit_code = excluded.exit_code, signal = excluded.signal,"
	" started = excluded.started, ended = excluded.ended, host = excluded.host,"
	" engine = excluded.engine, image = excluded.image,"
	" image_digest = excluded.image_digest, devices = excluded.devices,"
	" tools = excluded.tools, durations_s = excluded.durations_s,"
	" metrics_left_out = excluded.metrics_left_out, profrig = excluded.profrig";
static const char metric_sql[] =
	"INSERT INTO profrig_metric (run, name, key, unit, value)"
	" SELECT $1, m.name, m.key, m.unit, m.value FROM jsonb_to_recordset($2::jsonb)"
	" AS m (name text, key text, unit text, value double precision)"
	" ON CONFLICT (run, name, key) DO UPDATE SET unit = excluded.unit, value = excluded.value";
/* The key of profrig's advisory lock: "profrig" in ASCII. */
#define LOCK_SQL "SELECT pg_advisory_xact_lock(31651020177303911)"

struct pg {
	struct pq_lib c;
	PGconn *conn;
	const struct publish_call *call;
	int64_t until_ns;
};

static int load_pq(struct pq_lib *c, struct err *err)
{
	static const char *const names[] = { "libpq.so.5", "libpq.so", NULL };
	struct err why = ERR_INIT;
	void *lib;

	/* It stays loaded, as libcurl does. */
	if (dynlib_open(names, &lib, &why) < 0 ||
	    dynlib_load(lib, pq_syms, ARRAY_LEN(pq_syms), c, &why) < 0)
		return err_set(err, ENOTSUP, "libpq is not here (apt-get install libpq5): %.200s",
			       why.msg);
	return 0;
}

/* What libpq says, without passwords, on one line. */
static int pg_fail(int code, const char *what, const char *words, struct err *err)
{
	CLEANUP(xfreep) char *text = xstrndup(words ? words : "", 300);

	redact_str(text);
	for (size_t n = strlen(text); n > 0 && strchr("\r\n ", text[n - 1]);)
		text[--n] = '\0';
	text_no_controls(text, ' ');
	return err_set(err, code, "%s: %s", what, *text ? text : "no reason is given");
}

/* Until the socket is ready for these events, or the deadline. */
static int pg_wait(const struct pg *pg, short events, struct err *err)
{
	struct pollfd p = { .fd = pg->c.PQsocket(pg->conn), .events = events };

	while (true) {
		int64_t left_ms = (pg->until_ns - clock_monotonic_ns()) / NS_PER_MS;
		int r;

		if (pg->call->interrupt && *pg->call->interrupt)
			return err_set(err, EINTR, "interrupted");
		if (left_ms <= 0)
			return err_set(err, EAGAIN, "the server does not answer in %g s",
				       pg->call->timeout_s);
		r = poll(&p, 1, left_ms < NAP_MS ? (int)left_ms : NAP_MS);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return err_sys(err, errno, "poll");
	}
}

/* --- connecting --- */

/* libpq knows all forms of a connection; the configuration looks for the usual ones alone. */
static int no_password_in(const struct pg *pg, const char *connection, struct err *err)
{
	char *why = NULL;
	PQconninfoOption *all = pg->c.PQconninfoParse(connection, &why);
	bool has = false;

	if (!all) {
		int r = pg_fail(EINVAL, "connection", why, err);

		pg->c.PQfreemem(why);
		return r;
	}
	for (const PQconninfoOption *o = all; o->keyword; o++)
		has |= (!strcmp(o->keyword, "password") || !strcmp(o->keyword, "sslpassword")) &&
		       o->val;
	pg->c.PQconninfoFree(all);
	return has ? err_set(err, EINVAL, "connection holds a password: name it under password")
		   : 0;
}

/* libpq would print notices of the server. */
static void pass_over(void *ctx, const char *words)
{
	(void)ctx, (void)words;
}

static int pg_connect(struct pg *pg, const struct publish_target *t, struct err *err)
{
	const char *const names[] = { "dbname", "client_encoding", "fallback_application_name",
				      "password", NULL };
	const char *const values[] = { t->connection, "UTF8", "profrig", t->password, NULL };
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;
	int r = no_password_in(pg, t->connection, err);

	if (r < 0)
		return r;
	pg->conn = pg->c.PQconnectStartParams(names, values, 1);
	if (!pg->conn)
		xalloc_failed();
	pg->c.PQsetNoticeProcessor(pg->conn, pass_over, NULL);
	if (pg->c.PQstatus(pg->conn) == CONNECTION_BAD)
		return pg_fail(EAGAIN, "no connection", pg->c.PQerrorMessage(pg->conn), err);
	while (state != PGRES_POLLING_OK) {
		r = pg_wait(pg, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, err);
		if (r < 0)
			return r;
		state = pg->c.PQconnectPoll(pg->conn);
		if (state == PGRES_POLLING_FAILED)
			return pg_fail(EAGAIN, "no connection", pg->c.PQerrorMessage(pg->conn),
				       err);
	}
	pg->c.PQsetnonblocking(pg->conn, 1);
	return 0;
}

/* --- statements --- */

static int pg_flushed(const struct pg *pg, struct err *err)
{
	int r;

	while ((r = pg->c.PQflush(pg->conn)) > 0) {
		r = pg_wait(pg, POLLIN | POLLOUT, err);
		if (r < 0)
			return r;
		if (!pg->c.PQconsumeInput(pg->conn))
			break;
	}
	return r < 0 ? pg_fail(EAGAIN, "sending", pg->c.PQerrorMessage(pg->conn), err) : 0;
}

/* Class 22 is data that the database cannot hold, 23 data that its rules forbid. */
static int result_code(const struct pg *pg, const PGresult *res)
{
	const char *state = pg->c.PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return state && (!strncmp(state, "22", 2) || !strncmp(state, "23", 2)) ? EBADMSG : EAGAIN;
}

/* Runs one statement; *ret (may be NULL): the first value of its first row, owned, or NULL. */
static int pg_do(struct pg *pg, const char *sql, int n, const char *const *values, char **ret,
		 struct err *err)
{
	PGresult *res;
	int r = 0;

	if (!pg->c.PQsendQueryParams(pg->conn, sql, n, NULL, values, NULL, NULL, 0))
		return pg_fail(EAGAIN, "sending", pg->c.PQerrorMessage(pg->conn), err);
	r = pg_flushed(pg, err);
	while (r == 0) {
		while (r == 0 && pg->c.PQisBusy(pg->conn)) {
			r = pg_wait(pg, POLLIN, err);
			if (r == 0 && !pg->c.PQconsumeInput(pg->conn))
				r = pg_fail(EAGAIN, "the connection broke off",
					    pg->c.PQerrorMessage(pg->conn), err);
		}
		res = r == 0 ? pg->c.PQgetResult(pg->conn) : NULL;
		if (!res)
			break;
		if (pg->c.PQresultStatus(res) == PGRES_TUPLES_OK && ret && !*ret &&
		    pg->c.PQntuples(res) > 0)
			*ret = xstrdup(pg->c.PQgetvalue(res, 0, 0));
		else if (pg->c.PQresultStatus(res) != PGRES_TUPLES_OK &&
			 pg->c.PQresultStatus(res) != PGRES_COMMAND_OK)
			r = pg_fail(result_code(pg, res), "the database refuses",
				    pg->c.PQerrorMessage(pg->conn), err);
		pg->c.PQclear(res);
	}
	return r;
}

/* Looked for first: who may only insert may make no tables, not even IF NOT EXISTS. */
static int tables_made(struct pg *pg, struct err *err)
{
	CLEANUP(xfreep) char *there = NULL;
	int r = pg_do(pg,
		      "SELECT to_regclass('profrig_run') IS NOT NULL"
		      " AND to_regclass('profrig_metric') IS NOT NULL",
		      0, NULL, &there, err);

	if (r < 0 || (there && !strcmp(there, "t")))
		return r;
	r = pg_do(pg, LOCK_SQL, 0, NULL, NULL, err);
	if (r == 0)
		r = pg_do(pg, create_sql, 0, NULL, NULL, err);
	if (r == 0)
		r = pg_do(pg, create_metric_sql, 0, NULL, NULL, err);
	return r;
}

static const char *or_null(const char *s)
{
	return *s ? s : NULL;
}

static int run_put(struct pg *pg, const struct publish_record *rec, struct err *err)
{
	CLEANUP(xfreep) char *labels = publish_json_labels(rec);
	CLEANUP(xfreep) char *durations = publish_json_durations(rec);
	CLEANUP(xfreep) char *metrics = publish_json_metrics(rec);
	CLEANUP(xfreep) char *devices = publish_json_words(&rec->devices);
	CLEANUP(xfreep) char *tools = publish_json_words(&rec->tools);
	CLEANUP(xfreep) char *code = xasprintf("%" PRId64, rec->exit_code);
	CLEANUP(xfreep) char *left_out = xasprintf("%" PRIu64, rec->left_out);
	char started[32], ended[32];
	const char *const run[] = { rec->id,
				    or_null(rec->model),
				    or_null(rec->campaign),
				    or_null(rec->cell),
				    or_null(rec->repeat),
				    or_null(rec->block),
				    labels,
				    rec->status,
				    or_null(rec->reason),
				    rec->exited ? code : NULL,
				    or_null(rec->signal),
				    clock_utc(rec->started_ns, started),
				    clock_utc(rec->ended_ns, ended),
				    or_null(rec->host),
				    or_null(rec->engine),
				    or_null(rec->image),
				    or_null(rec->image_digest),
				    devices,
				    tools,
				    durations,
				    left_out,
				    or_null(rec->version) };
	const char *const metric[] = { rec->id, metrics };
	int r = pg_do(pg, run_sql, (int)ARRAY_LEN(run), run, NULL, err);

	return r < 0 ? r : pg_do(pg, metric_sql, (int)ARRAY_LEN(metric), metric, NULL, err);
}

static int postgres_send(const struct publish_target *t, const struct publish_record *rec,
			 const struct publish_call *call, struct err *err)
{
	struct pg pg = { .call = call };
	int r = load_pq(&pg.c, err);

	if (r < 0)
		return r;
	pg.until_ns = clock_monotonic_ns() + (int64_t)(call->timeout_s * 1e9);
	r = pg_connect(&pg, t, err);
	if (r == 0)
		r = pg_do(&pg, "BEGIN", 0, NULL, NULL, err);
	if (r == 0)
		r = tables_made(&pg, err);
	if (r == 0)
		r = run_put(&pg, rec, err);
	if (r == 0)
		r = pg_do(&pg, "COMMIT", 0, NULL, NULL, err);
	if (pg.conn)
		pg.c.PQfinish(pg.conn);
	return r;
}

const struct publisher publisher_postgres = {
	.name = "postgres",
	.about = "PostgreSQL: tables profrig_run and profrig_metric",
	.send = postgres_send,
};
