/*
 * What others may have written for lib compare: two tables of lib perf and a file of PyTorch's
 * TunableOp, with form feeds between them. The tables are compared and their solutions written;
 * validators that are taken read back as the same.
 */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/bench/bench_compare.h"
#include "profrig/bench/bench_tuning.h"

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "violated: %s\n", what);
	abort();
}

static void row_require(const struct bench_tables *t, const struct bench_table_row *r)
{
	require(r->side < t->sides.nr && r->status < BENCH_STATUSES, "a row has a side");
	if (r->status != BENCH_OK)
		return;
	require(r->mean > 0 && isfinite(r->mean), "ok has a time");
	require(!(r->low > r->mean) && !(r->high < r->mean), "the interval holds the mean");
}

static void pair_require(const struct bench_tables *t, const struct bench_pair *p)
{
	require(p->a->side == 0 && p->b->side == p->side && p->side < t->sides.nr, "A and B");
	require(!(p->p_adj < p->c.p) && !(p->p_adj > 1), "p-values are adjusted upwards");
	require(!p->refused || p->verdict == BENCH_UNCLEAR, "what is refused is unclear");
	require(p->speed >= 0, "speeds differ or not");
	require(p->verdict == BENCH_UNCLEAR || p->verdict == BENCH_SAME ||
			(p->verdict == BENCH_SLOWER) == (p->c.ratio > 1),
		"the verdict has the sign of the ratio");
}

static void versus_require(const struct bench_comparison *c, const struct bench_versus *v)
{
	size_t pairs = 0, refused = 0, of = 0;

	for (size_t i = 0; i < c->pairs.nr; i++) {
		pairs += c->pairs.v[i].side == v->side;
		refused += c->pairs.v[i].side == v->side && c->pairs.v[i].refused;
	}
	for (size_t i = 0; i <= BENCH_UNCLEAR; i++)
		of += v->of[i];
	require(v->pairs == pairs && v->refused == refused && of == pairs, "pairs add up");
	require(v->score >= 0 && v->score <= 1, "a share is a share");
}

static void compare(const struct bench_tables *t)
{
	struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
	struct bench_comparison c;

	for (int force = 0; force < 2; force++) {
		o.force = o.by_calls = force;
		bench_compare(t, &o, &c);
		for (size_t i = 0; i < c.pairs.nr; i++)
			pair_require(t, &c.pairs.v[i]);
		for (size_t i = 0; i < c.versus.nr; i++)
			versus_require(&c, &c.versus.v[i]);
		bench_comparison_release(&c);
	}
}

static void table_add(struct bench_tables *t, const uint8_t *data, size_t n)
{
	struct err err = ERR_INIT;

	if (bench_tables_add(t, "table", (const char *)data, n, &err) < 0)
		require(err.msg[0], "an error has words");
}

static void solutions_write(const struct bench_tables *t)
{
	const struct bench_validators none = BENCH_VALIDATORS_INIT;

	for (int form = 0; form < 2; form++) {
		struct bench_tuning u = BENCH_TUNING_INIT;
		CLEANUP(xfreep) char *text = NULL;
		struct err err = ERR_INIT;
		size_t size;
		FILE *f;

		if (bench_tuning_choose(t, (enum bench_tuning_form)form, &u, &err) < 0) {
			require(err.msg[0], "an error has words");
			bench_tuning_release(&u);
			continue;
		}
		f = xmemstream(&text, &size);
		bench_tuning_write(&u, &none, "a1b2c3", f);
		fclose(f);
		for (size_t i = 0; i < u.lines.nr; i++)
			require(u.lines.v[i].row->status == BENCH_OK, "a solution was measured");
		bench_tuning_release(&u);
	}
}

static void validators_read(const uint8_t *data, size_t n)
{
	struct bench_tuning none = { .form = BENCH_TUNABLEOP };
	struct bench_validators v, again;
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	size_t size;
	FILE *f;

	if (bench_validators_parse((const char *)data, n, "x", &v, &err) < 0)
		return;
	f = xmemstream(&text, &size);
	bench_tuning_write(&none, &v, NULL, f);
	fclose(f);
	require(bench_validators_parse(text, size, "x", &again, &err) == 0 && again.v.nr == v.v.nr,
		"validators read back");
	for (size_t i = 0; i < v.v.nr; i++)
		require(!strcmp(v.v.v[i].name, again.v.v[i].name) &&
				!strcmp(v.v.v[i].value, again.v.v[i].value),
			"as they were");
	bench_validators_release(&v);
	bench_validators_release(&again);
}

/* The next part, up to a form feed or the end. */
static size_t part_of(const uint8_t *data, size_t n)
{
	const uint8_t *end = n ? memchr(data, '\f', n) : NULL;

	return end ? (size_t)(end - data) : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bench_tables t = BENCH_TABLES_INIT;

	for (int i = 0; i < 2; i++) {
		size_t part = part_of(data, n), next = part < n ? part + 1 : n;

		table_add(&t, data, part);
		data += next;
		n -= next;
	}
	validators_read(data, n);
	for (size_t i = 0; i < t.rows.nr; i++)
		row_require(&t, &t.rows.v[i]);
	if (t.sides.nr >= 2)
		compare(&t);
	if (t.sides.nr)
		solutions_write(&t);
	bench_tables_release(&t);
	return 0;
}
