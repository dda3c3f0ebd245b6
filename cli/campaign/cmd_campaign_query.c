/* campaign query: SQL over the store of a campaign, which is only read. */
#include "campaign_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/table.h"

#define ROWS_MAX 100000
#define BYTES_MAX ((uint64_t)256 << 20)
#define SECONDS_MAX 60

enum how { AS_TEXT, AS_CSV, AS_JSON, AS_NDJSON, FORMATS };
static const char *const formats[FORMATS] = { "text", "csv", "json", "ndjson" };

struct query {
	const struct command *c;
	const char *format, *campaigns;
	double seconds;
	long rows;
	bool json;
	enum how how;
	struct strvec names;
	struct table *table;
	struct csv_writer csv;
	struct json_out out;
};

static void cell_text(const struct store_cell *cell, struct strbuf *to)
{
	char number[32];

	switch (cell->kind) {
	case STORE_I64:
		num_fmt_i64(number, cell->i);
		strbuf_addstr(to, number);
		break;
	case STORE_F64:
		num_fmt_f64(number, cell->f);
		strbuf_addstr(to, number);
		break;
	case STORE_TEXT:
		strbuf_add(to, cell->text, cell->n);
		break;
	case STORE_BLOB:
		for (size_t i = 0; i < cell->n; i++)
			strbuf_addf(to, "%02x", (unsigned char)cell->text[i]);
		break;
	default:
		break;
	}
}

/* ---- rows ---- */

static int on_columns(void *ctx, char *const *names, size_t n, struct err *err)
{
	struct query *q = ctx;

	(void)err;
	if (q->how == AS_TEXT)
		q->table = table_text_cols("query", (const char *const *)names, n);
	for (size_t i = 0; i < n; i++) {
		strvec_push(&q->names, names[i]);
		if (q->how == AS_CSV)
			csv_sheet_str(&q->csv, names[i]);
	}
	if (q->how == AS_CSV)
		csv_end(&q->csv);
	if (q->how == AS_JSON) {
		json_out_init(&q->out, stdout, 1);
		json_arr(&q->out, NULL);
	}
	return 0;
}

static void cell_json(struct query *q, const char *name, const struct store_cell *cell)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (cell->kind == STORE_I64) {
		json_i64(&q->out, name, cell->i);
	} else if (cell->kind == STORE_F64) {
		json_f64(&q->out, name, cell->f);
	} else if (cell->kind == STORE_NULL) {
		json_nil(&q->out, name);
	} else {
		cell_text(cell, &text);
		json_strn(&q->out, name, text.buf, text.len);
	}
}

static void row_json(struct query *q, const struct store_cell *cells, size_t n)
{
	if (q->how == AS_NDJSON)
		json_out_init(&q->out, stdout, 0);
	json_obj(&q->out, NULL);
	for (size_t i = 0; i < n; i++)
		cell_json(q, q->names.v[i], &cells[i]);
	json_end(&q->out);
	if (q->how == AS_NDJSON)
		putchar('\n');
}

static int on_row(void *ctx, const struct store_cell *cells, size_t n, struct err *err)
{
	struct query *q = ctx;

	if (q->how == AS_JSON || q->how == AS_NDJSON)
		row_json(q, cells, n);
	for (size_t i = 0; i < n && q->how <= AS_CSV; i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		cell_text(&cells[i], &text);
		if (q->how == AS_TEXT)
			table_str(q->table, text.buf);
		else if (cells[i].kind == STORE_TEXT)
			csv_sheet_str(&q->csv, text.buf);
		else
			csv_str(&q->csv, text.buf);
	}
	if (q->how == AS_TEXT)
		table_row(q->table);
	if (q->how == AS_CSV)
		csv_end(&q->csv);
	return ferror(stdout) ? err_set(err, EPIPE, "standard output") : 0;
}

/* ---- the question ---- */

static int asked_failed(const struct query *q, int r, const struct err *err)
{
	if (r == -EPIPE)
		return EXIT_DONE; /* the way out says more */
	if (r == -EINVAL || r == -EACCES) {
		log_error("%s: %s", q->c->name, err->msg);
		return EXIT_USAGE;
	}
	if (r == -EINTR)
		return cli_interrupt_code(cli_interrupt);
	if (r == -ETIME) {
		log_error("%s: %s; --timeout gives it more", q->c->name, err->msg);
		return EXIT_PARTIAL;
	}
	return campaign_store_failed(q->c, r, err);
}

static int ask(struct query *q, struct store *s, const char *sql)
{
	const struct store_query sq = { .seconds = q->seconds,
					.rows = (uint64_t)q->rows,
					.bytes = BYTES_MAX,
					.interrupt = &cli_interrupt,
					.ctx = q,
					.columns = on_columns,
					.row = on_row };
	struct store_answer a;
	struct err err = ERR_INIT;
	int r;

	cli_catch_signals();
	q->csv = (struct csv_writer){ .f = stdout };
	r = store_ask(s, sql, &sq, &a, &err);
	if (q->how == AS_JSON && q->names.nr) {
		json_end(&q->out);
		putchar('\n');
	}
	if (q->table)
		table_write_text(q->table, stdout, 0, 0);
	if (r < 0)
		return asked_failed(q, r, &err);
	if (!a.cut)
		return EXIT_DONE;
	log_warn("there are more rows than the %" PRIu64 " shown (--rows N, at most %" PRIu64
		 " MiB)",
		 a.rows, BYTES_MAX >> 20);
	return EXIT_PARTIAL;
}

static int options_check(struct query *q)
{
	const char *word = q->json ? "json" : q->format;

	if (q->rows < 1)
		return cli_usage(q->c, "--rows wants a number from 1");
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i], word)) {
			q->how = (enum how)i;
			return -1;
		}
	return cli_usage(q->c, "--format '%s' is none: text, csv, json or ndjson", word);
}

static int query_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = NULL;
	struct query q = { .c = c, .format = "text", .seconds = SECONDS_MAX, .rows = ROWS_MAX };
	struct store *s = NULL;
	const struct opt opts[] = {
		{ "format", 0, OPT_STR, &q.format, "FORMAT",
		  "text (default), csv, json or ndjson" },
		{ "rows", 0, OPT_INT, &q.rows, "N", "at most so many rows (100000)" },
		{ "timeout", 0, OPT_SECONDS, &q.seconds, "S",
		  "end after that time (60 s; 0: no limit)" },
		CAMPAIGNS_OPT(&q.campaigns, 'o'),
		{ 0 },
	};
	int code;

	strvec_init(&q.names);
	code = cli_parse(c, opts, &q.json, argc, argv, &operands, NULL);
	if (code < 0)
		code = options_check(&q);
	if (code < 0 && operands.nr == 1)
		code = cli_usage(c, "no SQL: the tables are campaign cell run attempt env artifact "
				    "metric verdict");
	if (code < 0)
		code = campaign_dir_of(c, &operands, 1, q.campaigns, &dir);
	if (code < 0)
		code = campaign_store_open(c, dir, true, &s);
	if (code < 0)
		code = ask(&q, s, operands.v[1]);
	store_close(s);
	table_free(q.table);
	strvec_release(&q.names);
	return code;
}

extern const struct command cmd_campaign_query;
const struct command cmd_campaign_query = {
	"campaign query", "FILE|DIR SQL", "a question in SQL to the results of a campaign",
	"profrig campaign query campaigns/mlp \"SELECT label, state, count(*) FROM run JOIN cell "
	"ON cell = cell.id GROUP BY 1, 2\"",
	query_main
};
