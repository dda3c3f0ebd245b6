#include "profrig/stats/ensemble.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/student.h"
#include "profrig/base/sum.h"
#include "profrig/base/xalloc.h"

#define CONFIDENCE 0.95
#define MAX_KEYS 5
#define MAX_VALUES 5
#define ID_DIGITS 3 /* of process and thread ids, at least */

/* Which tables, in the order of rows; NULL ends keys and values. */
static const struct subject {
	const char *table;
	const char *keys[MAX_KEYS + 1];
	const char *values[MAX_VALUES + 1];
} subjects[] = {
	{ "metrics", { "name", "unit", "source" }, { "value" } },
	{ "functions",
	  { "scope", "name", "category" },
	  { "calls", "inclusive_ns", "exclusive_ns" } },
	{ "callpaths",
	  { "track", "path" },
	  { "calls", "inclusive_ns", "exclusive_ns", "device_inclusive_ns",
	    "device_exclusive_ns" } },
	{ "kernels", { "device", "name" }, { "calls", "total_ns" } },
	{ "busy", { "device" }, { "union_ns", "busy" } },
	{ "overlap",
	  { "device" },
	  { "compute_ns", "exposed_comm_ns", "hidden_comm_ns", "exposed_copy_ns", "idle_ns" } },
	{ "idle_causes", { "device", "cause" }, { "total_ns" } },
	{ "launch_latency", { "device" }, { "median_ns", "p95_ns" } },
	{ "kernel_classes", { "device", "class" }, { "calls", "total_ns" } },
	{ "operators", { "name", "shapes", "types" }, { "calls", "own_ns", "host_self_ns" } },
	{ "ranks",
	  { "rank" },
	  { "compute_ns", "exposed_comm_ns", "idle_ns", "iteration_median_ns", "wait_ns" } },
	{ "energy_totals",
	  { "counter", "device", "view" },
	  { "total_j", "attributed_j", "unattributed_j" } },
	{ "energy",
	  { "counter", "device", "view", "track", "name" },
	  { "calls", "inclusive_j", "exclusive_j", "best_j" } },
	{ "energy_callpaths",
	  { "counter", "device", "view", "track", "path" },
	  { "calls", "inclusive_j", "exclusive_j", "best_inclusive_j", "best_j" } },
};

/* The values of one number: in the order of runs, at most one per run. */
struct observed {
	VEC(struct observation {
		uint32_t run;
		double value;
	}) all;
};

struct row {
	struct observed values[MAX_VALUES];
};

/* Rows by id of their key. */
struct part {
	struct intern *keys;
	VEC(struct row) rows;
};

struct run_facts {
	size_t rows, outliers;
};

struct ensemble {
	struct strvec ids;
	VEC(struct run_facts) runs;
	struct part parts[ARRAY_LEN(subjects)];
};

struct ensemble *ensemble_new(void)
{
	struct ensemble *e = xcalloc(1, sizeof(*e));

	strvec_init(&e->ids);
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		e->parts[i].keys = intern_new();
	return e;
}

static void part_release(struct part *p)
{
	for (size_t r = 0; r < p->rows.nr; r++)
		for (size_t c = 0; c < MAX_VALUES; c++)
			VEC_RELEASE(&p->rows.v[r].values[c].all);
	VEC_RELEASE(&p->rows);
	intern_free(p->keys);
}

void ensemble_free(struct ensemble *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		part_release(&e->parts[i]);
	VEC_RELEASE(&e->runs);
	strvec_release(&e->ids);
	free(e);
}

/* ---- keys ---- */

struct numbers {
	VEC(uint64_t) all;
};

static int cmp_u64(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

/* The next run of digits that may be an id; *ret_n is how many, *ret its value. */
static const char *next_id(const char *s, size_t *ret_n, uint64_t *ret)
{
	for (; *s; s += *ret_n) {
		*ret_n = strspn(s, "0123456789");
		if (*ret_n >= ID_DIGITS && num_u64(s, *ret_n, ret) == 0)
			return s;
		*ret_n += *ret_n == 0;
	}
	return NULL;
}

static void ids_collect(const struct table *t, int col, struct numbers *ret)
{
	struct intern *seen = intern_new();
	size_t nr = 0, n;
	uint64_t id;

	for (size_t r = 0; col >= 0 && r < table_rows(t); r++) {
		const char *s = table_get_str(t, r, (size_t)col);
		size_t before = intern_count(seen);

		intern_puts(seen, s);
		if (intern_count(seen) == before)
			continue;
		for (; (s = next_id(s, &n, &id)); s += n)
			VEC_PUSH(&ret->all, id);
	}
	intern_free(seen);
	if (ret->all.nr)
		qsort(ret->all.v, ret->all.nr, sizeof(*ret->all.v), cmp_u64);
	for (size_t i = 0; i < ret->all.nr; i++)
		if (nr == 0 || ret->all.v[nr - 1] != ret->all.v[i])
			ret->all.v[nr++] = ret->all.v[i];
	ret->all.nr = nr;
}

static void key_escape(struct strbuf *sb, const char *s, size_t n)
{
	for (size_t i = 0; i < n && s[i]; i++) {
		if (s[i] == '|' || s[i] == '\\')
			strbuf_addch(sb, '\\');
		strbuf_addch(sb, s[i]);
	}
}

static void add_track(struct strbuf *sb, const char *s, const struct numbers *ids)
{
	const char *at;
	uint64_t id;
	size_t n;

	for (; (at = next_id(s, &n, &id)); s = at + n) {
		const uint64_t *found =
			bsearch(&id, ids->all.v, ids->all.nr, sizeof(*ids->all.v), cmp_u64);

		key_escape(sb, s, (size_t)(at - s));
		strbuf_addf(sb, "{%zu}", found ? (size_t)(found - ids->all.v) + 1 : 0);
	}
	key_escape(sb, s, SIZE_MAX);
}

/* ---- adding ---- */

struct columns {
	int keys[MAX_KEYS], values[MAX_VALUES];
	size_t nr_keys;
	int track; /* -1: none of the keys is a track */
};

/* false: the table lacks a key. Values that it lacks are -1. */
static bool columns_find(const struct table *t, const struct subject *s, struct columns *ret)
{
	*ret = (struct columns){ .track = -1 };
	for (size_t i = 0; s->keys[i]; i++) {
		int col = table_find_col(t, s->keys[i]);

		if (col < 0 || table_column(t, (size_t)col)->type != TABLE_STR)
			return false;
		ret->keys[ret->nr_keys++] = col;
		if (strcmp(s->keys[i], "track") == 0)
			ret->track = col;
	}
	for (size_t i = 0; i < MAX_VALUES; i++) {
		ret->values[i] = s->values[i] ? table_find_col(t, s->values[i]) : -1;
		if (ret->values[i] >= 0 &&
		    table_column(t, (size_t)ret->values[i])->type == TABLE_STR)
			ret->values[i] = -1;
		if (!s->values[i])
			break;
	}
	return true;
}

static struct row *row_at(struct part *p, const struct table *t, size_t r, const struct columns *c,
			  const struct numbers *ids, struct strbuf *key)
{
	str_id id;

	strbuf_clear(key);
	for (size_t i = 0; i < c->nr_keys; i++) {
		const char *s = table_get_str(t, r, (size_t)c->keys[i]);

		if (i > 0)
			strbuf_addch(key, '|');
		if (c->keys[i] == c->track)
			add_track(key, s, ids);
		else
			key_escape(key, s, SIZE_MAX);
	}
	id = intern_put(p->keys, key->buf, key->len);
	while (p->rows.nr <= id)
		VEC_PUSH(&p->rows, (struct row){ .values = { { VEC_INIT } } });
	return &p->rows.v[id];
}

static void observed_add(struct observed *o, uint32_t run, double value)
{
	struct observation *last = o->all.nr ? &o->all.v[o->all.nr - 1] : NULL;

	if (!isfinite(value))
		return;
	if (last && last->run == run)
		last->value += value;
	else
		VEC_PUSH(&o->all, (struct observation){ run, value });
}

static void part_add(struct part *p, const struct subject *s, const struct table *t, uint32_t run)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT;
	struct numbers ids = { VEC_INIT };
	struct columns c;

	if (!columns_find(t, s, &c))
		return;
	ids_collect(t, c.track, &ids);
	for (size_t r = 0; r < table_rows(t); r++) {
		struct row *row = row_at(p, t, r, &c, &ids, &key);

		for (size_t i = 0; i < MAX_VALUES && s->values[i]; i++)
			if (c.values[i] >= 0)
				observed_add(&row->values[i], run,
					     table_get_f64(t, r, (size_t)c.values[i]));
	}
	VEC_RELEASE(&ids.all);
}

void ensemble_add(struct ensemble *e, const char *run_id, const struct table_set *ts)
{
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		const struct table *t = table_set_find(ts, subjects[i].table);

		if (t)
			part_add(&e->parts[i], &subjects[i], t, (uint32_t)e->runs.nr);
	}
	strvec_push(&e->ids, run_id);
	VEC_PUSH(&e->runs, (struct run_facts){ 0 });
}

/* ---- outliers ---- */

#define FIRST_CRITICAL 4
#define LAST_CRITICAL 4.0 /* of more values; it falls to 3.75 before it rises again */

/* Of 400 000 normal samples of 4, 5, … values one in twenty has a score above. */
static const double critical[] = { 6.95, 7.95, 5.55, 5.86, 4.91, 5.09, 4.56, 4.69, 4.36,
				   4.44, 4.23, 4.28, 4.13, 4.15, 4.05, 4.08, 3.99 };

static int cmp_f64(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* Sorts v. */
static double values_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), cmp_f64);
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

/* What the values are judged by. */
struct judged {
	double median, mad, limit;
};

static struct judged values_judge(const double *v, size_t n)
{
	CLEANUP(xfreep) double *d = xcalloc(n + 1, sizeof(*d));
	struct judged j = { .limit = LAST_CRITICAL };

	memcpy(d, v, n * sizeof(*d));
	j.median = values_median(d, n);
	for (size_t i = 0; i < n; i++)
		d[i] = fabs(v[i] - j.median);
	j.mad = values_median(d, n);
	if (n - FIRST_CRITICAL < ARRAY_LEN(critical))
		j.limit = critical[n - FIRST_CRITICAL];
	return j;
}

size_t ensemble_outliers(const double *v, size_t n, bool *ret)
{
	struct judged j;
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = false;
	if (n < FIRST_CRITICAL)
		return 0;
	j = values_judge(v, n);
	for (size_t i = 0; i < n; i++) {
		double off = fabs(v[i] - j.median);

		ret[i] = 0.6745 * off > j.limit * j.mad && off > 1e-9 * fabs(j.median);
		nr += ret[i];
	}
	return nr;
}

/* ---- the table ---- */

struct summary {
	double mean, stddev, half;
};

static struct summary values_summarise(const double *v, size_t n)
{
	struct summary ret = { 0, NAN, NAN };
	struct sum sum = SUM_INIT, squares = SUM_INIT;

	for (size_t i = 0; i < n; i++)
		sum_add(&sum, v[i]);
	ret.mean = sum_value(&sum) / (double)n;
	if (n < 2)
		return ret;
	for (size_t i = 0; i < n; i++)
		sum_add(&squares, (v[i] - ret.mean) * (v[i] - ret.mean));
	ret.stddev = sqrt(sum_value(&squares) / (double)(n - 1));
	ret.half = student_t(CONFIDENCE, n - 1) * ret.stddev / sqrt((double)n);
	return ret;
}

/* Most runs have no device: its times are 0 on every path then. */
static bool is_empty(const char *column, const struct observed *o)
{
	if (strncmp(column, "device_", 7) != 0)
		return o->all.nr == 0;
	for (size_t i = 0; i < o->all.nr; i++)
		if (o->all.v[i].value != 0)
			return false;
	return true;
}

/* Names of the outlier runs. */
static void outliers_add(struct ensemble *e, const struct observed *o, const double *v,
			 struct strbuf *sb)
{
	CLEANUP(xfreep) bool *out = xcalloc(o->all.nr + 1, sizeof(*out));

	ensemble_outliers(v, o->all.nr, out);
	for (size_t i = 0; i < o->all.nr; i++) {
		struct run_facts *run = &e->runs.v[o->all.v[i].run];

		run->rows++;
		if (!out[i])
			continue;
		run->outliers++;
		strbuf_addf(sb, "%s%s", sb->len ? "|" : "", e->ids.v[o->all.v[i].run]);
	}
}

/* clang-format off */
#define ENSEMBLE(X) \
	X(STR, table) X(STR, key) X(STR, column) X(U64, runs) X(F64, mean) X(F64, stddev) \
	X(F64, ci_low) X(F64, ci_high) X(STR, outlier_runs)
/* clang-format on */
TABLE_FORM(ensemble, ENSEMBLE, "one number of one row, over the runs");

static void row_write(struct ensemble *e, struct table *t, const struct subject *s, const char *key,
		      size_t column, const struct observed *o)
{
	CLEANUP(xfreep) double *v = xcalloc(o->all.nr + 1, sizeof(*v));
	CLEANUP(strbuf_release) struct strbuf outliers = STRBUF_INIT;
	struct summary sum;

	for (size_t i = 0; i < o->all.nr; i++)
		v[i] = o->all.v[i].value;
	sum = values_summarise(v, o->all.nr);
	outliers_add(e, o, v, &outliers);
	table_add(t, &(struct ensemble_row){ s->table, key, s->values[column], o->all.nr, sum.mean,
					     sum.stddev, sum.mean - sum.half, sum.mean + sum.half,
					     outliers.buf });
}

/* Of each number: row_fn gets the table that is made. */
typedef void row_fn(struct ensemble *e, struct table *t, const struct subject *s, const char *key,
		    size_t column, const struct observed *o);

static struct table *rows_write(struct ensemble *e, struct table *t, row_fn *write)
{
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		const struct subject *s = &subjects[i];
		struct part *p = &e->parts[i];

		for (size_t r = 0; r < p->rows.nr; r++)
			for (size_t c = 0; c < MAX_VALUES && s->values[c]; c++)
				if (!is_empty(s->values[c], &p->rows.v[r].values[c]))
					write(e, t, s, intern_str(p->keys, (str_id)r), c,
					      &p->rows.v[r].values[c]);
	}
	if (table_rows(t))
		return t;
	table_free(t);
	return NULL;
}

struct table *ensemble_table(struct ensemble *e)
{
	for (size_t i = 0; i < e->runs.nr; i++)
		e->runs.v[i] = (struct run_facts){ 0 };
	return rows_write(e, table_make(&ensemble_form), row_write);
}

/* ---- each run's number ---- */

/* clang-format off */
#define ENSEMBLE_RUNS(X) \
	X(STR, table) X(STR, key) X(STR, column) X(STR, run) X(F64, value)
/* clang-format on */
TABLE_FORM(ensemble_runs, ENSEMBLE_RUNS, "one number of one row, of one run");

/* Of paths there are too many to be of use. */
static bool is_of_paths(const struct subject *s)
{
	return strstr(s->table, "callpaths") != NULL;
}

static void run_write(struct ensemble *e, struct table *t, const struct subject *s, const char *key,
		      size_t column, const struct observed *o)
{
	for (size_t i = 0; !is_of_paths(s) && i < o->all.nr; i++)
		table_add(t, &(struct ensemble_runs_row){ s->table, key, s->values[column],
							  e->ids.v[o->all.v[i].run],
							  o->all.v[i].value });
}

struct table *ensemble_runs_table(struct ensemble *e)
{
	return rows_write(e, table_make(&ensemble_runs_form), run_write);
}

/* ---- runs that stand out ---- */

/* clang-format off */
#define ENSEMBLE_OUTLIERS(X) \
	X(STR, run) X(STR, table) X(STR, key) X(STR, column) X(F64, value) X(F64, median) \
	X(F64, difference_rel) X(F64, score) X(F64, limit) X(STR, reason)
/* clang-format on */
TABLE_FORM(ensemble_outliers, ENSEMBLE_OUTLIERS, "one number in which a run stands out, and why");

static void outlier_write(struct ensemble *e, struct table *t, const struct subject *s,
			  const char *key, size_t column, const struct observed *o)
{
	CLEANUP(xfreep) double *v = xcalloc(o->all.nr + 1, sizeof(*v));
	CLEANUP(xfreep) bool *out = xcalloc(o->all.nr + 1, sizeof(*out));
	struct judged j;

	for (size_t i = 0; i < o->all.nr; i++)
		v[i] = o->all.v[i].value;
	if (ensemble_outliers(v, o->all.nr, out) == 0)
		return;
	j = values_judge(v, o->all.nr);
	for (size_t i = 0; i < o->all.nr; i++) {
		double rel = j.median != 0 ? (v[i] - j.median) / fabs(j.median) : NAN;
		double score = j.mad > 0 ? 0.6745 * fabs(v[i] - j.median) / j.mad : NAN;
		char text[160];

		if (!out[i])
			continue;
		if (isnan(score))
			snprintf(text, sizeof(text), "most of %zu runs have exactly %.6g",
				 o->all.nr, j.median);
		else
			snprintf(text, sizeof(text),
				 "its score is %.3g, the limit for %zu runs is %.3g", score,
				 o->all.nr, j.limit);
		table_add(t, &(struct ensemble_outliers_row){
				     e->ids.v[o->all.v[i].run], s->table, key, s->values[column],
				     v[i], j.median, rel, score, j.limit, text });
	}
}

struct table *ensemble_outliers_table(struct ensemble *e)
{
	return rows_write(e, table_make(&ensemble_outliers_form), outlier_write);
}

size_t ensemble_rows_of(const struct ensemble *e, size_t run)
{
	return e->runs.v[run].rows;
}

size_t ensemble_outliers_of(const struct ensemble *e, size_t run)
{
	return e->runs.v[run].outliers;
}
