#include "collective_clocks.h"
#include "parts_test.h"

#include <inttypes.h>

#include "profrig/base/mix.h"
#include "profrig/base/strbuf.h"
#include "profrig/model/warnings.h"
#include "profrig/readers/reader.h"

/* --- traces by hand --- */

static struct table_set collectives_of(const struct part_def *v, size_t n, bool shared)
{
	CLEANUP(model_freep) struct model *m = model_of_parts(v, n, shared);

	return analyse(m, &analysis_collectives);
}

/* nsys-jax's third case and A7's definitions, in one: a straggler, a broadcast that ends early */
TEST(test_measures)
{
	static const struct part_def v[] = {
		{ PART_INIT, .rank = 0, .start_ns = 0, .end_ns = 100000, .name = "allreduce",
		  .in = 1000000, .out = 1000000, .group = "0", .ranks = 2 },
		{ PART_INIT, .rank = 1, .start_ns = 60000, .end_ns = 110000, .name = "allreduce",
		  .in = 1000000, .out = 1000000, .group = "0", .ranks = 2 },
		{ PART_INIT, .rank = 0, .start_ns = 200000, .end_ns = 201000, .name = "broadcast",
		  .in = 500, .out = 500, .group = "0", .ranks = 2 },
		{ PART_INIT, .rank = 1, .start_ns = 205000, .end_ns = 207000, .name = "broadcast",
		  .in = 500, .out = 500, .group = "0", .ranks = 2 },
		{ PART_INIT, .rank = 0, .start_ns = 300000, .end_ns = 301000, .name = "allreduce",
		  .in = 4, .out = 4, .group = "0", .ranks = 2 },
	};
	CLEANUP(table_set_release) struct table_set ts = collectives_of(v, ARRAY_LEN(v), true);

	expect_table(table_set_find(&ts, "collective_instances"),
		     "group seq name bytes ranks complete start_ns transfer_ns skew_ns first_rank "
		     "last_rank wait_ns algbw_gbps busbw_gbps\n"
		     "0 0 allreduce 1000000 2 yes 0 50000 60000 0 1 60000 20 20\n"
		     "0 1 broadcast 500 2 yes 200000 2000 5000 0 1 1000 0.25 0.25\n"
		     "0 2 allreduce 4 2 no 300000 - - - - - - -\n");
	expect_table(table_set_find(&ts, "collective_ranks"),
		     "rank count dur_ns wait_ns last_count caused_wait_ns complete\n"
		     "0 3 102000 61000 0 0 2\n"
		     "1 2 52000 0 2 61000 2\n");
	expect_table(table_set_find(&ts, "collective_waits"),
		     "rank first instances start_ns count wait_ns longest_ns caused_wait_ns\n"
		     "0 0 1 0 1 60000 60000 0\n"
		     "1 0 1 0 1 0 0 60000\n"
		     "0 1 1 200000 1 1000 1000 0\n"
		     "1 1 1 200000 1 0 0 1000\n");
	expect_table(table_set_find(&ts, "collectives"),
		     "collective dtype count bytes ranks instances complete dur_mean_ns dur_min_ns "
		     "skew_mean_ns algbw_gbps busbw_gbps slowest_rank\n"
		     "allreduce Byte 4 4 2 1 0 1000 1000 - - - -\n"
		     "allreduce Byte 1000000 1000000 2 1 1 75000 50000 60000 20 20 1\n"
		     "broadcast Byte 500 500 2 1 1 1500 1000 5000 0.25 0.25 1\n");
}

/* Rank 1 starts i + 1 ns late in the i-th of 2500, which are more than there are columns. */
TEST(test_waits_of_many)
{
	VEC(struct part_def) v = VEC_INIT;
	const size_t nr = 2500, each = 3; /* to a column */

	for (int64_t i = 0; i < (int64_t)nr; i++)
		for (int r = 0; r < 2; r++)
			VEC_PUSH(&v, ((struct part_def){ PART_INIT, .rank = r,
							 .start_ns = 10000 * i + r * (i + 1),
							 .end_ns = 10000 * i + 9000,
							 .name = "allreduce", .in = 8, .group = "0",
							 .ranks = 2 }));
	{
		CLEANUP(table_set_release)
		struct table_set ts = collectives_of(v.v, v.nr, true);
		struct table *t = table_set_find(&ts, "collective_waits");

		assert_int_equal(table_rows(t), 2 * ((nr + each - 1) / each));
		for (size_t i = 0; i + 2 < table_rows(t); i += 2) {
			size_t first = i / 2 * each;
			double n = (double)first;

			assert_true(num_of(t, i, "first") == n);
			assert_true(num_of(t, i, "start_ns") == 10000 * n);
			assert_true(num_of(t, i, "wait_ns") == 3 * n + 6);
			assert_true(num_of(t, i, "longest_ns") == n + 3);
			assert_true(num_of(t, i + 1, "caused_wait_ns") == 3 * n + 6);
		}
		assert_true(num_of(t, table_rows(t) - 1, "instances") == 1);
		assert_true(column_sum(t, "wait_ns") == (double)nr * (double)(nr + 1) / 2);
	}
	VEC_RELEASE(&v);
}

/* Names, types and sizes that do not agree; a send and its receive; a number that is missing. */
TEST(test_matching)
{
	static const struct part_def v[] = {
		{ PART_INIT, .rank = 0, .start_ns = 0, .end_ns = 10, .name = "allreduce", .in = 8,
		  .seq = 6, .group = "a", .ranks = 2 },
		{ PART_INIT, .rank = 1, .start_ns = 1, .end_ns = 10, .name = "allgather", .in = 8,
		  .seq = 6, .group = "a", .ranks = 2 },
		{ PART_INIT, .rank = 0, .start_ns = 20, .end_ns = 30, .name = "allreduce", .in = 8,
		  .seq = 7, .group = "a", .ranks = 2 },
		{ PART_INIT, .rank = 1, .start_ns = 41, .end_ns = 50, .name = "allreduce", .in = 8,
		  .seq = 8, .group = "a", .ranks = 2 },
		{ PART_INIT, .rank = 0, .start_ns = 42, .end_ns = 50, .name = "allreduce", .in = 8,
		  .seq = 8, .group = "a", .ranks = 2 },
		{ PART_INIT, .rank = 0, .start_ns = 60, .end_ns = 70, .name = "send", .in = 8,
		  .to = 2, .group = "a", .ranks = 4 },
		{ PART_INIT, .rank = 1, .start_ns = 61, .end_ns = 71, .name = "recv", .in = 8,
		  .from = 1, .group = "a", .ranks = 4 },
		{ PART_INIT, .rank = 1, .start_ns = 80, .end_ns = 90, .name = "recv", .in = 8,
		  .from = 4, .group = "a", .ranks = 4 },
	};
	CLEANUP(model_freep) struct model *m = model_of_parts(v, ARRAY_LEN(v), true);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);

	expect_table(
		table_set_find(&ts, "collective_instances"),
		"seq name ranks complete present transfer_ns skew_ns first_rank last_rank why\n"
		"5 allreduce 2 no 2 - - - - 'name, type or size differ'\n"
		"6 allreduce 2 no 1 - - - - 'ranks are missing'\n"
		"7 allreduce 2 yes 2 8 1 1 0 -\n"
		"0 sendrecv 2 yes 2 10 1 0 1 -\n"
		"0 recv 2 no 1 - - - - 'ranks are missing'\n");
	assert_int_equal(m->warnings.nr, 1);
	assert_string_equal(m->warnings.v[0].code, W_COLLECTIVE_INCOMPLETE);
	assert_int_equal(m->warnings.v[0].count, 3);
}

/* Kernels without a word about their group: matched when all ranks have the same ones. */
TEST(test_no_groups)
{
	CLEANUP(table_set_release)
	struct table_set a = analyse_text("queue gpu0/1 rank=0: ncclAllReduce 0-10 ncclReduce "
					  "20-30\n"
					  "queue gpu1/1 rank=1: ncclAllReduce 5-11 ncclReduce "
					  "22-30\n",
					  &analysis_collectives);
	CLEANUP(table_set_release)
	struct table_set b = analyse_text("queue gpu0/1 rank=0: ncclAllReduce 0-10 ncclReduce "
					  "20-30\n"
					  "queue gpu1/1 rank=1: ncclAllReduce 5-11\n",
					  &analysis_collectives);
	CLEANUP(table_set_release)
	struct table_set c =
		analyse_text("queue gpu0/1: ncclAllReduce 0-10\n", &analysis_collectives);
	CLEANUP(model_freep)
	struct model *m = model_of_text_with(1, "queue gpu0/1: gemm 0-10\n", model_finish_flat);
	CLEANUP(table_set_release) struct table_set d = TABLE_SET_INIT;
	struct analysis_opts o = { .threads = 1 };

	expect_table(table_set_find(&a, "collective_instances"),
		     "name ranks complete transfer_ns skew_ns bytes\n"
		     "allreduce 2 yes 6 5 -\nreduce 2 yes 8 2 -\n");
	expect_table(table_set_find(&b, "collective_instances"),
		     "name complete why\n"
		     "allreduce no 'the group is not known'\n"
		     "allreduce no 'the group is not known'\n"
		     "reduce no 'the group is not known'\n");
	expect_table(table_set_find(&c, "collective_instances"),
		     "name complete why\nallreduce no 'the group is not known'\n");
	assert_int_equal(analysis_run(&analysis_collectives, m, NULL, &o, &d, NULL),
			 ANALYSIS_SKIPPED);
	assert_int_equal(d.tables.nr, 0);
	assert_int_equal(d.skipped.nr, 1);
}

/* --- laws, on random traces --- */

struct random_job {
	VEC(struct part_def) v;
	uint64_t complete, waits_ns;
};

static uint64_t below(uint64_t *seed, uint64_t n)
{
	return splitmix64(seed) % n;
}

/* Groups of all ranks, numbered or not; parts are lost only where they are numbered. */
static void random_job_make(struct random_job *j, uint64_t *seed)
{
	static const char *const names[] = { "allreduce", "_allgather_base", "broadcast" };
	static const char *const groups[] = { "0", "1", "2" };
	int ranks = 2 + (int)below(seed, 6);
	int64_t t = 1000, number[3] = { 0, 0, 0 };

	*j = (struct random_job){ .v = VEC_INIT };
	for (uint64_t i = 0; i < 5 + below(seed, 30); i++) {
		uint64_t g = below(seed, 3), lost = g ? below(seed, 4) == 0 : 0;
		const char *name = names[below(seed, ARRAY_LEN(names))];
		int64_t size = 1 + (int64_t)below(seed, 1 << 20), last = 0, first = j->v.nr;
		int missing = lost ? (int)below(seed, (uint64_t)ranks) : -1;

		for (int r = 0; r < ranks; r++) {
			int64_t start = t + (int64_t)below(seed, 1000);
			struct part_def p = {
				PART_INIT,         .rank = r,
				.start_ns = start, .end_ns = start + (int64_t)below(seed, 1500),
				.name = name,      .in = size,
				.out = size,       .group = groups[g],
				.ranks = ranks
			};

			p.seq = g ? number[g] + 1 : 0;
			if (r == missing)
				continue;
			last = start > last ? start : last;
			VEC_PUSH(&j->v, p);
		}
		number[g] += 1 + (int64_t)below(seed, 3);
		t += 3000;
		if (missing >= 0)
			continue;
		j->complete++;
		for (size_t k = (size_t)first; k < j->v.nr; k++) {
			const struct part_def *p = &j->v.v[k];
			int64_t until = p->end_ns < last ? p->end_ns : last;
			j->waits_ns += (uint64_t)(until - p->start_ns);
		}
	}
}

static char *tables_text(const struct table_set *ts)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	for (size_t i = 0; i < ts->tables.nr; i++)
		table_write_csv(ts->tables.v[i], f);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void shuffle(struct random_job *j, uint64_t *seed)
{
	for (size_t i = j->v.nr; i > 1; i--) {
		size_t k = below(seed, i);
		struct part_def x = j->v.v[i - 1];

		j->v.v[i - 1] = j->v.v[k];
		j->v.v[k] = x;
	}
}

TEST(test_laws)
{
	uint64_t cases = test_cases(1000);

	for (uint64_t n = 0; n < cases; n++) {
		uint64_t seed = n;
		struct random_job j;
		struct table *ranks, *all, *waits;
		double complete = 0;

		random_job_make(&j, &seed);
		{
			CLEANUP(table_set_release)
			struct table_set a = collectives_of(j.v.v, j.v.nr, true);
			CLEANUP(xfreep) char *before = tables_text(&a), *after = NULL;

			ranks = table_set_find(&a, "collective_ranks");
			all = table_set_find(&a, "collectives");
			waits = table_set_find(&a, "collective_waits");
			for (size_t r = 0; r < table_rows(ranks); r++)
				if (num_of(ranks, r, "wait_ns") >
				    num_of(ranks, r, "complete_dur_ns"))
					fail_msg("case %" PRIu64 ": wait > duration", n);
			complete = column_sum(all, "complete");
			if (complete != (double)j.complete ||
			    column_sum(ranks, "count") != (double)j.v.nr)
				fail_msg("case %" PRIu64 ": %g complete", n, complete);
			if (j.complete &&
			    (column_sum(ranks, "wait_ns") != (double)j.waits_ns ||
			     column_sum(ranks, "caused_wait_ns") != (double)j.waits_ns ||
			     column_sum(ranks, "last_count") != complete ||
			     column_sum(waits, "wait_ns") != (double)j.waits_ns ||
			     column_sum(waits, "caused_wait_ns") != (double)j.waits_ns))
				fail_msg("case %" PRIu64 ": sums", n);
			shuffle(&j, &seed);
			{
				CLEANUP(table_set_release)
				struct table_set b = collectives_of(j.v.v, j.v.nr, true);
				after = tables_text(&b);
			}
			if (strcmp(before, after) != 0)
				fail_msg("case %" PRIu64 ": order:\n%s\n%s", n, before, after);
		}
		VEC_RELEASE(&j.v);
	}
}

/* Clocks of ranks in files of their own differ by seconds: the tables are those of one clock. */
TEST(test_clocks)
{
	for (uint64_t n = 0; n < 100; n++) {
		uint64_t seed = n + 99;
		VEC(struct part_def) v = VEC_INIT;
		int ranks = 2 + (int)below(&seed, 5);
		int64_t offset[8];

		for (int r = 0; r < ranks; r++)
			offset[r] = r ? (int64_t)below(&seed, 4000000000) - 2000000000 : 0;
		for (int64_t i = 0; i < 10; i++)
			for (int r = 0; r < ranks; r++)
				VEC_PUSH(&v, ((struct part_def){
						     PART_INIT, .rank = r,
						     .start_ns = i * 1000000 +
								 (int64_t)below(&seed, 1000),
						     .end_ns = i * 1000000 + 1000 + i * 7,
						     .name = "allreduce", .in = 64, .group = "0",
						     .ranks = ranks }));
		{
			CLEANUP(table_set_release)
			struct table_set a = collectives_of(v.v, v.nr, true), b;
			CLEANUP(xfreep) char *same = NULL, *other = NULL;
			struct table *al;

			for (size_t i = 0; i < v.nr; i++) {
				v.v[i].start_ns += offset[v.v[i].rank];
				v.v[i].end_ns += offset[v.v[i].rank];
			}
			b = collectives_of(v.v, v.nr, false);
			al = table_set_find(&b, "alignment");
			for (int r = 0; r < ranks; r++) {
				assert_string_equal(
					table_get_str(al, (size_t)r,
						      (size_t)table_find_col(al, "used")),
					"yes");
				assert_true(num_of(al, (size_t)r, "offset_ns") -
						    num_of(al, 0, "offset_ns") ==
					    (double)offset[r]);
			}
			/* only the alignment and the start differ */
			for (size_t i = 0; i < a.tables.nr; i++) {
				const char *name = table_name(a.tables.v[i]);
				struct table *x = a.tables.v[i], *y = table_set_find(&b, name);
				int start = table_find_col(x, "start_ns");

				if (strcmp(name, "alignment") == 0)
					continue;
				assert_int_equal(table_rows(x), table_rows(y));
				for (size_t row = 0; row < table_rows(x); row++)
					for (size_t c = 0; c < table_cols(x); c++) {
						if ((int)c == start ||
						    table_column(x, c)->type == TABLE_STR)
							continue;
						if (!(table_get_f64(x, row, c) ==
						      table_get_f64(y, row, c)) &&
						    !isnan(table_get_f64(x, row, c)))
							fail_msg("%s: %s", name,
								 table_column(x, c)->name);
					}
			}
			table_set_release(&b);
		}
		VEC_RELEASE(&v);
	}
}

/* --- recordings --- */

static bool jax_steady(const struct jax_parts *p, int64_t instance)
{
	for (size_t i = 0; i < p->v.nr; i++)
		if (p->v.v[i].instance == (str_id)instance)
			return p->v.v[i].step && p->v.v[i].execution >= 2;
	return false;
}

/* Instances of the steady steps, at clocks of these offsets. */
struct jax_waits {
	uint64_t last[4], nr;
	double wait[4], dur[4];
	struct {
		double ns;
		uint64_t nr;
	} transfer[3];
};

static const struct {
	enum collective_kind kind;
	int64_t bytes;
	double mean_ns;
} jax_transfers[] = { { COLLECTIVE_ALL_GATHER, 4 * 7077888, 183860 },
		      { COLLECTIVE_ALL_GATHER, 4 * 6981504, 444007 },
		      { COLLECTIVE_REDUCE_SCATTER, 4 * 17722368, 2303308 } };

static void jax_waits_add(struct jax_waits *ret, const struct collective_match *cm,
			  const struct collective_instance *ci)
{
	ret->nr++;
	ret->last[ci->last_rank]++;
	for (size_t i = 0; i < ARRAY_LEN(jax_transfers); i++)
		if (ci->kind == jax_transfers[i].kind && ci->bytes == jax_transfers[i].bytes) {
			ret->transfer[i].nr++;
			ret->transfer[i].ns += (double)ci->transfer_ns;
		}
	for (size_t k = 0; k < 4; k++) {
		const struct collective_part *p = &cm->parts.v[ci->first + k];

		ret->wait[p->rank] += (double)cm->wait_ns.v[ci->first + k];
		ret->dur[p->rank] += (double)(p->end_ns - p->start_ns);
	}
}

/* offsets_ns: instead of those that are found; NULL: those. */
static void jax_waits_find(const struct jax_parts *p, const int64_t *offsets_ns,
			   struct jax_waits *ret)
{
	CLEANUP(model_freep) struct model *m = jax_model(p, false);
	struct works *w;
	struct collective_parts *cp;
	struct collective_match *cm;
	struct collective_clocks cc;

	*ret = (struct jax_waits){ .nr = 0 };
	model_nest(m);
	w = works_new(m);
	cp = collective_parts_new(m, w);
	cm = collective_match_new(cp);
	collective_clocks_find(cm, &cc);
	assert_int_equal(cc.why.nr, 1);
	assert_int_equal(cc.why.v[0], CLOCKS_ALIGNED);
	for (size_t r = 0; offsets_ns && r < 4; r++)
		cc.ca.ranks.v[r].offset_ns = offsets_ns[r];
	collective_clocks_apply(&cc, cm);
	collective_measure(cm);
	assert_int_equal(cm->v.nr, 120);
	for (size_t i = 0; i < cm->v.nr; i++) {
		assert_int_equal(cm->v.v[i].why, COLLECTIVE_COMPLETE);
		if (jax_steady(p, cm->v.v[i].sequence))
			jax_waits_add(ret, cm, &cm->v.v[i]);
	}
	collective_clocks_release(&cc);
	collective_match_free(cm);
	collective_parts_free(cp);
	works_free(w);
}

/*
 * Offsets of least absolute residuals are a ns or two apart where the sum is flat, which moves the
 * start of each of 69 instances: waits are those of exact code with its offsets, and within 250 ns
 * of them with those found here.
 */
TEST(test_jax_waits)
{
	static const uint64_t last_want[] = { 32, 18, 12, 7 };
	static const double wait_want[] = { 6278922, 3022981, 3636969, 7438322 };
	static const double dur_want[] = { 23971110, 20770907, 21337441, 25079586 };
	static const int64_t offsets[] = { -25631663, -54172364, -200045704, 279849732 };
	struct jax_parts p;

	jax_parts_read(&p);
	for (int found = 0; found < 2; found++) {
		struct jax_waits g;
		double wait = 0, dur = 0;

		jax_waits_find(&p, found ? NULL : offsets, &g);
		assert_int_equal(g.nr, 69);
		for (int r = 0; r < 4; r++) {
			assert_int_equal(g.last[r], last_want[r]);
			assert_float_equal(g.wait[r], wait_want[r], found ? 250 : 70);
			assert_float_equal(g.dur[r], dur_want[r], 1);
			wait += g.wait[r];
			dur += g.dur[r];
		}
		assert_float_equal(wait / dur, 0.223535, found ? 5e-6 : 1e-6);
		for (size_t i = 0; i < ARRAY_LEN(jax_transfers); i++)
			assert_float_equal(g.transfer[i].ns / (double)g.transfer[i].nr,
					   jax_transfers[i].mean_ns, found ? 3 : 1);
	}
	jax_parts_release(&p);
}

TEST(test_jax_bandwidth)
{
	static const struct {
		const char *name;
		int64_t bytes;
		uint64_t n;
		double mean, se;
	} rows[] = {
		{ "all-gather", 175632, 3, 7.0240, 0.1226 },
		{ "all-gather", 3244032, 3, 57.5423, 0.9698 },
		{ "all-gather", 4129552, 3, 61.0745, 1.2166 },
		{ "all-gather", 6981504, 3, 47.8412, 4.1342 },
		{ "all-gather", 7077888, 6, 116.1404, 1.0323 },
		{ "all-gather", 7372800, 3, 99.0406, 0.4641 },
		{ "all-gather", 7374720, 3, 60.9217, 0.2059 },
		{ "all-gather", 19316736, 6, 146.3059, 3.0062 },
		{ "all-reduce", 129024, 3, 9.8189, 0.0577 },
		{ "reduce-scatter", 10616832, 3, 147.9531, 4.6379 },
		{ "reduce-scatter", 14155776, 3, 146.5564, 0.1776 },
		{ "reduce-scatter", 17722368, 3, 23.0880, 0.0509 },
		{ "reduce-scatter", 20103936, 3, 150.9157, 0.4270 },
	};
	struct jax_parts p;
	struct model *m;
	struct table *t;

	jax_parts_read(&p);
	m = jax_model(&p, true);
	{
		CLEANUP(table_set_release)
		struct table_set ts = analyse(m, &analysis_collectives);

		t = table_set_find(&ts, "collectives");
		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			double bytes = (double)rows[i].bytes *
				       (strcmp(rows[i].name, "all-reduce") ? 4 : 1);
			size_t at = SIZE_MAX;

			for (size_t r = 0; r < table_rows(t); r++)
				if (num_of(t, r, "bytes") == bytes &&
				    strcmp(table_get_str(t, r, 0), rows[i].name) == 0)
					at = r;
			if (at == SIZE_MAX || num_of(t, at, "instances") != (double)rows[i].n ||
			    fabs(num_of(t, at, "busbw_fastest_gbps") - rows[i].mean) > 2e-4 ||
			    fabs(num_of(t, at, "busbw_fastest_stderr_gbps") - rows[i].se) > 2e-4)
				ROW_FAIL(i, "%g",
					 at == SIZE_MAX ? NAN
							: num_of(t, at, "busbw_fastest_gbps"));
		}
	}
	model_free(m);
	jax_parts_release(&p);
}
