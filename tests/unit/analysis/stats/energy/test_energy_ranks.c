/* Functions by ranks: energies of their threads added up. */
#include "energy_fixture.h"
#include "stats_test.h"

static struct table_set tables_of(struct model *m)
{
	static const struct analysis *const of[] = { &analysis_energy, &analysis_energy_ranks };
	struct analysis_opts o = { .workload_start_ns = 0 };
	struct table_set ts = TABLE_SET_INIT;

	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		assert_true(analysis_run(of[i], m, NULL, &o, &ts, NULL) >= 0);
	return ts;
}

/* One node; a counter of 100 W, which the ranks that have a call open share. */
TEST(test_ranks)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 0/1: f 0-10 g 10-20\n"
					     "rank 1/1: f 0-5\n"
					     "rank 1/2: f 10-20 h 20-30\n"
					     "series energy.gpu0 J cumulative: 0 0 5 500 "
					     "10 1000 15 1500 20 2000 25 2500 30 3000\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	if (!table_set_find(&ts, "energy"))
		fail_msg("no energy");
	expect_table(table_set_find(&ts, "energy_ranks"),
		     "name rank calls exclusive_j exclusive_ns mean_w\n"
		     "f 0 1 750 10000000000 75\n"
		     "f 1 2 750 15000000000 50\n"
		     "h 1 1 1000 10000000000 100\n"
		     "g 0 1 500 10000000000 50\n");
}

/* Nothing is lost: what the rows of a counter have is what `energy` has of threads with ranks. */
TEST(test_sums)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 0/1: f 0-10 g 2-7 g 11-20\n"
					     "rank 1/1: f 1-18 g 3-4\n"
					     "series energy.gpu0 J cumulative: 0 0 4 900 "
					     "10 1000 13 1300 20 3000\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);
	const struct table *e = table_set_find(&ts, "energy"), *t;
	double want = 0, have = 0;

	t = table_set_find(&ts, "energy_ranks");
	for (size_t i = 0; i < table_rows(e); i++)
		if (strcmp(str_of(e, i, "view"), "host") == 0 && *str_of(e, i, "track"))
			want += num_of(e, i, "exclusive_j");
	for (size_t i = 0; i < table_rows(t); i++)
		have += num_of(t, i, "exclusive_j");
	assert_near(have, want, 1e-9);
	assert_true(want > 2000);
}

TEST(test_no_ranks)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "thread 1/1 host=node: f 0-10\n"
					     "series energy.gpu0 J cumulative: 0 0 5 500 "
					     "10 1000\n");
	CLEANUP(table_set_release) struct table_set ts = tables_of(m);

	assert_null(table_set_find(&ts, "energy_ranks"));
	assert_int_equal(ts.skipped.nr, 1);
	assert_string_equal(ts.skipped.v[0].reason, "no thread with energy has a known rank");
}
