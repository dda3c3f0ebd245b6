#include "store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define RESULT_MAX 256
#define VERDICT_ROWS_MAX 100000

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

bool store_run_name(const char *run, char ret_cell[65], int64_t *ret_repeat)
{
	const char *dash = run ? strrchr(run, '-') : NULL;
	size_t n = dash ? (size_t)(dash - run) : 0;

	if (n == 0 || n > 64 || strlen(run) > 84)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
			    run[i]))
			return false;
	memcpy(ret_cell, run, n);
	ret_cell[n] = 0;
	return strspn(dash + 1, "0123456789") == strlen(dash + 1) &&
	       num_i64(dash + 1, strlen(dash + 1), ret_repeat) == 0 && *ret_repeat > 0;
}

char *store_attempt_id(const char *run, int64_t n)
{
	return xasprintf("%s.%" PRId64, run, n);
}

static int64_t number_of(const json_t *o, const char *key, int64_t other)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : other;
}

/* ---- events of attempts ---- */

static int open_take(struct store *s, const struct journal_event *e, struct err *err)
{
	const char *name = text_of(e->all, "name");

	if (!name)
		return 0;
	if (!s->name)
		s->name = xstrdup(name);
	return store_run(s, STORE_OPEN, err, "ti", s->name, e->t_ns);
}

static int intend_take(struct store *s, const struct journal_event *e, struct err *err)
{
	CLEANUP(xfreep) char *id = store_attempt_id(e->run, e->attempt);
	CLEANUP(xfreep) char *dir = xasprintf("runs/%s", id);
	const char *of = text_of(e->all, "cell");
	int64_t repeat, block = number_of(e->all, "block", 0);
	char cell[65];
	int r;

	store_run_name(e->run, cell, &repeat);
	s->now.block = block;
	r = store_run(s, STORE_INTEND_RUN, err, "ttiii", e->run, of ? of : cell,
		      number_of(e->all, "repeat", repeat), block, number_of(e->all, "pos", 0));
	return r < 0 ? r
		     : store_run(s, STORE_INTEND, err, "ttiit", id, e->run, e->attempt, e->t_ns,
				 dir);
}

/* The run and the number of "<run>.<n>"; false: it is no attempt. */
static bool attempt_split(const char *id, char ret_run[128], int64_t *ret_n)
{
	const char *dot = id ? strrchr(id, '.') : NULL;
	size_t n = dot ? (size_t)(dot - id) : 0;
	int64_t repeat;
	char cell[65];

	if (n == 0 || n > 100 || num_i64(dot + 1, strlen(dot + 1), ret_n) < 0 || *ret_n < 1)
		return false;
	memcpy(ret_run, id, n);
	ret_run[n] = 0;
	return store_run_name(ret_run, cell, &repeat);
}

static int submitted_take(struct store *s, const struct journal_event *e, struct err *err)
{
	const json_t *runs = json_object_get(e->all, "runs"), *one, *j;
	CLEANUP(xfreep) char *job = NULL;
	size_t i;

	j = json_object_get(e->all, "job");
	job = json_is_integer(j) ? xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(j))
				 : xstrdup_null(json_string_value(j));
	json_array_foreach(runs, i, one)
	{
		const char *id = json_string_value(one);
		CLEANUP(xfreep) char *dir = xasprintf("runs/%s", id ? id : "");
		char run[128];
		int64_t n;
		int r;

		if (!attempt_split(id, run, &n))
			return err_set(err, EBADMSG, "event %" PRIu64 " names no attempt", e->seq);
		r = store_run(s, STORE_ATTEMPT, err, "ttit", id, run, n, dir);
		if (r == 0)
			r = store_run(s, STORE_JOB, err, "tt", id, job);
		if (r < 0)
			return r;
	}
	return 0;
}

static int started_take(struct store *s, const struct journal_event *e, struct err *err)
{
	CLEANUP(xfreep) char *id = store_attempt_id(e->run, e->attempt);

	return store_run(s, STORE_STARTED, err, "tt", id, text_of(e->all, "node"));
}

static int ended_take(struct store *s, const struct journal_event *e, struct err *err)
{
	int r = store_take_ended(s, e, err);

	return r < 0 ? r : store_run(s, STORE_RUN_ENDED, err, "t", e->run);
}

/* Which attempt results/<run> names: the file is the truth. "" when there is none. */
static void result_read(const struct store *s, const char *run, char ret[RESULT_MAX])
{
	CLEANUP(xfreep) char *name = xasprintf("results/%s", run);
	CLEANUP(xfreep) char *path = fs_join(s->dir, name), *text = NULL;
	size_t n;

	*ret = 0;
	if (fs_read(path, RESULT_MAX - 1, &text, NULL, NULL) < 0)
		return;
	n = strcspn(text, "\n");
	memcpy(ret, text, n);
	ret[n] = 0;
}

static int committed_take(struct store *s, const struct journal_event *e, struct err *err)
{
	CLEANUP(xfreep) char *id = store_attempt_id(e->run, e->attempt);
	char named[RESULT_MAX];
	int r;

	result_read(s, e->run, named);
	if (strcmp(named, id) != 0) {
		s->now.disputed++;
		return 0;
	}
	r = store_run(s, STORE_COMMIT_NONE, err, "t", e->run);
	if (r == 0)
		r = store_run(s, STORE_COMMIT_ONE, err, "t", id);
	return r < 0 ? r : store_run(s, STORE_RUN_COMMITTED, err, "t", e->run);
}

static int superseded_take(struct store *s, const struct journal_event *e, struct err *err)
{
	CLEANUP(xfreep) char *id = store_attempt_id(e->run, e->attempt);

	return store_run(s, STORE_SUPERSEDED, err, "t", id);
}

static int failed_take(struct store *s, const struct journal_event *e, struct err *err)
{
	return store_run(s, STORE_RUN_STATE, err, "tt", e->run, "failed");
}

static int retry_take(struct store *s, const struct journal_event *e, struct err *err)
{
	int r = store_run(s, STORE_COMMIT_NONE, err, "t", e->run);

	return r < 0 ? r : store_run(s, STORE_RUN_RETRY, err, "t", e->run);
}

/* ---- verdicts ---- */

static double real_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static int verdict_put(struct store *s, const struct journal_event *e, const json_t *row, size_t i,
		       const char *params, struct err *err)
{
	CLEANUP(xfreep) char *id = xasprintf("%" PRIu64 ".%zu", e->seq, i + 1);
	int64_t n_a = number_of(row, "n_a", -1), n_b = number_of(row, "n_b", -1);

	return store_run(s, STORE_VERDICT, err, "ttttttooffffftit", id, text_of(row, "a"),
			 text_of(row, "b"), text_of(row, "metric"), text_of(row, "key"),
			 text_of(row, "method"), n_a < 0 ? NULL : &n_a, n_b < 0 ? NULL : &n_b,
			 real_of(row, "est"), real_of(row, "lo"), real_of(row, "hi"),
			 real_of(row, "p"), real_of(row, "p_adj"), text_of(row, "verdict"), e->t_ns,
			 params);
}

/* {rows: [{a, b, metric, …}], params: {…}}, or one row alone. */
static int verdict_take(struct store *s, const struct journal_event *e, struct err *err)
{
	const json_t *rows = json_object_get(e->all, "rows"), *row;
	const json_t *of = json_object_get(e->all, "params");
	char *params = json_is_object(of) ? json_dumps(of, STORE_JSON_TEXT) : NULL;
	size_t i;
	int r = 0;

	if (!json_is_array(rows))
		r = verdict_put(s, e, e->all, 0, params, err);
	else
		json_array_foreach(rows, i, row) if (r == 0 && i < VERDICT_ROWS_MAX) r =
			verdict_put(s, e, row, i, params, err);
	free(params);
	return r;
}

/* ---- all of them ---- */

enum event_of { OF_CAMPAIGN, OF_RUN, OF_ATTEMPT };
typedef int take_fn(struct store *s, const struct journal_event *e, struct err *err);

static const struct {
	const char *ev;
	enum event_of of;
	take_fn *take; /* NULL: changes nothing */
} events[] = {
	{ "open", OF_CAMPAIGN, open_take },
	{ "plan", OF_CAMPAIGN, store_take_plan },
	{ "intend", OF_ATTEMPT, intend_take },
	{ "idle", OF_CAMPAIGN, NULL },
	{ "submit", OF_CAMPAIGN, NULL },
	{ "submitted", OF_CAMPAIGN, submitted_take },
	{ "started", OF_ATTEMPT, started_take },
	{ "ended", OF_ATTEMPT, ended_take },
	{ "committed", OF_ATTEMPT, committed_take },
	{ "superseded", OF_ATTEMPT, superseded_take },
	{ "failed", OF_RUN, failed_take },
	{ "retry", OF_RUN, retry_take },
	{ "verdict", OF_CAMPAIGN, verdict_take },
	{ "cancelled", OF_CAMPAIGN, NULL },
	{ "step", OF_CAMPAIGN, NULL },
	{ "concluded", OF_CAMPAIGN, NULL },
};

int store_take(struct store *s, const struct journal_event *e, struct err *err)
{
	char cell[65];
	int64_t repeat;

	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		if (strcmp(events[i].ev, e->ev) != 0)
			continue;
		if (events[i].of >= OF_RUN && !store_run_name(e->run, cell, &repeat))
			return err_set(err, EBADMSG, "event %" PRIu64 " (%s) names no run", e->seq,
				       e->ev);
		if (events[i].of == OF_ATTEMPT && e->attempt < 1)
			return err_set(err, EBADMSG, "event %" PRIu64 " (%s) names no attempt",
				       e->seq, e->ev);
		return events[i].take ? events[i].take(s, e, err) : 0;
	}
	s->now.unknown++;
	return 0;
}
