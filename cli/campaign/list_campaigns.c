/* list campaigns: the campaigns in a folder, how far each has come, and what it says. */
#include "campaign_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/table.h"

struct listed {
	char *dir;
	char name[256], overall[32]; /* overall: of the last judgement, "" none */
	bool stale;                  /* runs ended after it */
	int64_t created_ns, judged_ns, ended_ns;
	struct store_summary sum;
};

static void listed_release(struct listed *l)
{
	free(l->dir);
}

static void text_take(char *to, size_t n, const struct store_cell *c)
{
	if (c->kind == STORE_TEXT)
		snprintf(to, n, "%s", c->text);
}

static int campaign_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct listed *l = ctx;

	(void)n, (void)err;
	text_take(l->name, sizeof(l->name), &c[0]);
	l->created_ns = c[1].kind == STORE_I64 ? c[1].i : 0;
	l->ended_ns = c[2].kind == STORE_I64 ? c[2].i : 0;
	return 0;
}

static int verdict_row(void *ctx, const struct store_cell *c, size_t n, struct err *err)
{
	struct listed *l = ctx;

	(void)n, (void)err;
	text_take(l->overall, sizeof(l->overall), &c[0]);
	l->judged_ns = c[1].kind == STORE_I64 ? c[1].i : 0;
	return 0;
}

static int listed_read(struct store *s, struct listed *l, struct err *err)
{
	struct store_query q = { .ctx = l, .row = campaign_row };
	struct store_answer a;
	int r = store_ask(s,
			  "SELECT name, created_ns, (SELECT max(ended_ns) FROM attempt) FROM "
			  "campaign LIMIT 1",
			  &q, &a, err);

	q.row = verdict_row;
	if (r == 0)
		r = store_ask(s,
			      "SELECT json_extract(params_json, '$.overall'), made_ns FROM verdict "
			      "ORDER BY made_ns DESC, id DESC LIMIT 1",
			      &q, &a, err);
	if (r == 0)
		r = store_summary(s, &l->sum, err);
	l->stale = *l->overall && l->ended_ns > l->judged_ns;
	return r;
}

/* < 0 after a warning. */
static int listed_open(const char *dir, struct listed *ret)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = campaign_store_opts(true, &said);
	struct store *s = NULL;
	struct err err = ERR_INIT;
	int r = store_open(dir, &o, &s, &err);

	*ret = (struct listed){ .dir = xstrdup(dir) };
	if (r == 0)
		r = listed_read(s, ret, &err);
	store_close(s);
	for (size_t i = 0; i < said.nr; i++)
		log_info("%s", said.v[i]);
	if (r < 0)
		log_warn("%s: %s", dir, err.msg);
	return r;
}

/* "2026-03-01T12:30:00Z", for people "2026-03-01 12:30:00"; buf holds 32; "" of 0. */
static char *utc_text(int64_t ns, bool plain, char *buf)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;

	*buf = 0;
	if (ns > 0 && gmtime_r(&t, &tm) && strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) && plain) {
		buf[10] = ' ';
		buf[19] = 0;
	}
	return buf;
}

static void list_text(const struct listed *v, size_t nr)
{
	struct table *t = table_of_texts("campaigns", "campaign", "done", "failed", "left",
					 "verdict", "began (UTC)");
	struct winsize w;
	size_t width = isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;

	for (size_t i = 0; i < nr; i++) {
		const struct listed *l = &v[i];
		char done[48], failed[24], left[24], when[32], verdict[48];

		snprintf(done, sizeof(done), "%" PRIu64 "/%" PRIu64, l->sum.committed, l->sum.runs);
		snprintf(failed, sizeof(failed), "%" PRIu64, l->sum.failed);
		snprintf(left, sizeof(left), "%" PRIu64, l->sum.left + l->sum.running);
		snprintf(verdict, sizeof(verdict), "%s%s", l->overall, l->stale ? " (old)" : "");
		table_texts(t, l->dir, done, failed, left, verdict,
			    utc_text(l->created_ns, true, when));
	}
	table_write_text(t, stdout, 0, width);
	table_free(t);
}

static void list_json(const struct listed *v, size_t nr)
{
	struct json_out j;
	char when[32];

	json_out_init(&j, stdout, 2);
	json_arr(&j, NULL);
	for (size_t i = 0; i < nr; i++) {
		const struct listed *l = &v[i];

		json_obj(&j, NULL);
		json_str(&j, "name", l->name);
		json_str(&j, "dir", l->dir);
		json_u64(&j, "cells", l->sum.cells);
		json_u64(&j, "runs", l->sum.runs);
		json_u64(&j, "committed", l->sum.committed);
		json_u64(&j, "running", l->sum.running);
		json_u64(&j, "failed", l->sum.failed);
		json_u64(&j, "left", l->sum.left);
		json_str(&j, "verdict", *l->overall ? l->overall : NULL);
		json_bool(&j, "verdict_old", l->stale);
		utc_text(l->created_ns, false, when);
		json_str(&j, "began_utc", *when ? when : NULL);
		json_end(&j);
	}
	json_end(&j);
	putchar('\n');
}

int list_campaigns(const char *folder, bool json)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	VEC(struct listed) v = VEC_INIT;
	struct err err = ERR_INIT;
	const char *in = folder ? folder : CAMPAIGNS_DIR;
	bool bad = false;
	int r = fs_list(in, &names, &err);

	/* Without a first campaign there is no folder, which is no error. */
	if (r < 0 && !(r == -ENOENT && !folder)) {
		log_error("%s", err.msg);
		return EXIT_UNREADABLE;
	}
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *dir = fs_join(in, names.v[i]);
		struct listed l;

		if (!campaign_dir_is(dir))
			continue;
		if (listed_open(dir, &l) == 0) {
			VEC_PUSH(&v, l);
			continue;
		}
		listed_release(&l);
		bad = true;
	}
	if (json)
		list_json(v.v, v.nr);
	else if (v.nr)
		list_text(v.v, v.nr);
	else
		log_notice("no campaign in %s", in);
	for (size_t i = 0; i < v.nr; i++)
		listed_release(&v.v[i]);
	VEC_RELEASE(&v);
	return bad ? EXIT_PARTIAL : EXIT_DONE;
}
