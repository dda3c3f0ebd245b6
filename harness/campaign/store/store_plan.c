#include "store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define PLAN_MAX ((size_t)256 << 20)
#define METRICS_MAX 1000

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* "plans/<12 hex>.json" */
static bool plan_name(const char *s)
{
	return s && strlen(s) == 23 && !strncmp(s, "plans/", 6) && !strcmp(s + 18, ".json") &&
	       strspn(s + 6, "0123456789abcdef") == 12;
}

static int plan_load(const struct store *s, const char *name, json_t **ret, char ret_sha[65],
		     struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(s->dir, name), *text = NULL;
	size_t n = 0;
	int r = fs_read(path, PLAN_MAX, &text, &n, err);

	if (r < 0)
		return err_wrap(err, r, "the journal's plan");
	fs_sha256_text(text, n, ret_sha);
	if (strncmp(ret_sha, name + 6, 12) != 0)
		return err_set(err, EBADMSG, "%s: damaged: its SHA-256 begins with %.12s", path,
			       ret_sha);
	*ret = json_loadb(text, n, 0, NULL);
	if (json_is_object(*ret) && json_is_array(json_object_get(*ret, "cells")))
		return 0;
	json_decref(*ret);
	return err_set(err, EBADMSG, "%s: no plan of a campaign", path);
}

void store_metrics_set(struct store *s, const json_t *list)
{
	const json_t *m;
	size_t i;

	strvec_clear(&s->metrics);
	json_array_foreach(list, i, m) if (json_is_string(m) && i < METRICS_MAX)
		strvec_push(&s->metrics, json_string_value(m));
}

/* Attempts that have ended have the figures of the new list, too. */
static int metrics_again(struct store *s, struct err *err)
{
	CLEANUP(strvec_release) struct strvec ids = STRVEC_INIT;
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db,
				    "SELECT id FROM attempt WHERE ended_ns IS NOT NULL "
				    "ORDER BY id",
				    -1, &st, NULL);
	int r = 0;

	while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		strvec_push(&ids, (const char *)sqlite3_column_text(st, 0));
		rc = SQLITE_OK;
	}
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE)
		return store_fail(s, rc, NULL, err);
	for (size_t i = 0; r == 0 && i < ids.nr; i++)
		r = store_metrics_again(s, ids.v[i], err);
	return r;
}

static int metrics_take(struct store *s, const json_t *plan, struct err *err)
{
	CLEANUP(strvec_release) struct strvec was = s->metrics;
	bool same;

	s->metrics = (struct strvec)STRVEC_INIT;
	store_metrics_set(s, json_object_get(plan, "metrics"));
	same = was.nr == s->metrics.nr;
	for (size_t i = 0; same && i < was.nr; i++)
		same = !strcmp(was.v[i], s->metrics.v[i]);
	return same || !s->o.figures ? 0 : metrics_again(s, err);
}

/* The plan without its cells, which have a table of their own. */
static int campaign_put(struct store *s, const json_t *plan, const char *sha, int64_t t_ns,
			struct err *err)
{
	const char *name = s->name ? s->name : text_of(plan, "name");
	const json_t *seed = json_object_get(plan, "seed");
	json_t *rest = json_copy((json_t *)(uintptr_t)plan);
	int64_t n = json_integer_value(seed);
	char *text;
	int r;

	json_object_del(rest, "cells");
	text = json_dumps(rest, STORE_JSON_TEXT);
	json_decref(rest);
	r = store_run(s, STORE_CAMPAIGN, err, "tttio", name ? name : "", text, sha, t_ns,
		      json_is_integer(seed) ? &n : NULL);
	free(text);
	return r;
}

static int cell_put(struct store *s, const json_t *plan, const json_t *cell, size_t ord,
		    struct err *err)
{
	const json_t *axes = json_object_get(cell, "axes");
	const char *name = s->name ? s->name : text_of(plan, "name");
	char *text = json_is_object(axes) ? json_dumps(axes, STORE_JSON_TEXT) : NULL;
	int r = store_run(s, STORE_CELL, err, "ttttitti", text_of(cell, "id"), name ? name : "",
			  text ? text : "{}", text_of(cell, "label"),
			  (int64_t)json_is_true(json_object_get(cell, "is_baseline")),
			  text_of(cell, "model"), text_of(cell, "baseline"), (int64_t)ord);

	free(text);
	return r;
}

static int cells_put(struct store *s, const json_t *plan, struct err *err)
{
	const json_t *cells = json_object_get(plan, "cells"), *cell;
	int64_t repeat = json_integer_value(json_object_get(plan, "repeat"));
	size_t i;
	int r = 0;

	if (repeat < 1 || (int64_t)json_array_size(cells) > STORE_RUNS_MAX / repeat)
		return err_set(err, EBADMSG, "the plan has %zu cells and a repeat of %" PRId64,
			       json_array_size(cells), repeat);
	json_array_foreach(cells, i, cell)
	{
		const char *id = text_of(cell, "id");

		if (!id || strlen(id) > 64)
			return err_set(err, EBADMSG, "cell %zu of the plan has no id", i + 1);
		r = cell_put(s, plan, cell, i, err);
		for (int64_t k = 1; r == 0 && k <= repeat; k++) {
			CLEANUP(xfreep) char *run = xasprintf("%s-%" PRId64, id, k);
			char of[65];
			int64_t nr;

			if (!store_run_name(run, of, &nr))
				return err_set(err, EBADMSG, "cell '%.64s' of the plan is no id",
					       id);
			r = store_run(s, STORE_RUN, err, "tti", run, id, k);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int store_take_plan(struct store *s, const struct journal_event *e, struct err *err)
{
	const char *name = text_of(e->all, "plan");
	json_t *plan = NULL;
	char sha[65];
	int r;

	if (!plan_name(name))
		return err_set(err, EBADMSG, "event %" PRIu64 " names no plan", e->seq);
	r = plan_load(s, name, &plan, sha, err);
	if (r < 0)
		return r;
	r = store_run(s, STORE_CELLS_OLD, err, "");
	if (r == 0)
		r = store_run(s, STORE_RUNS_OLD, err, "");
	if (r == 0)
		r = campaign_put(s, plan, sha, e->t_ns, err);
	if (r == 0)
		r = cells_put(s, plan, err);
	if (r == 0)
		r = metrics_take(s, plan, err);
	json_decref(plan);
	return r;
}
