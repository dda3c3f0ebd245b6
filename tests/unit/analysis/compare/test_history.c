#include "compare_test.h"

#include "profrig/compare/history.h"

static void runs_put(const char *dir, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) /* names do not sort as times do */
		run_put(dir, textf("r/%c%zu", 'z' - (int)(i % 26), i),
			textf("\"clocks\":[{\"realtime_ns\":%zu}],", i + 1), v[i]);
}

static int finished(const char *dir, struct compare_operand *o, struct history *h, struct err *err)
{
	*o = (struct compare_operand)OPERAND_INIT;
	*h = (struct history)HISTORY_INIT;
	assert_int_equal(operand_read(in_dir(dir, "r"), o, err), 0);
	assert_int_equal(history_add(h, &o->sets.v[0], "speed", "", err), 0);
	assert_int_equal(history_add(h, &o->sets.v[0], "speed", "", err), 0); /* once each */
	return history_finish(h, err);
}

/* The Nile: the known change is the first year after 1898. */
TEST_IN(a_known_change, dir)
{
	static const double nile[] = { 1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140,
				       995,  935,  1110, 994,  1020, 960,  1180, 799,  958,  1140,
				       1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
				       874,  694,  940,  833,  701,  916,  692,  1020, 1050, 969,
				       831,  726,  456,  824,  702,  1120, 1100, 832,  764,  821 };
	struct compare_operand o;
	struct history h;
	struct err err = ERR_INIT;

	runs_put(dir, nile, ARRAY_LEN(nile));
	assert_int_equal(finished(dir, &o, &h, &err), 0);
	assert_int_equal(h.v.nr, ARRAY_LEN(nile));
	for (size_t i = 0; i < ARRAY_LEN(nile); i++)
		assert_true(h.v.v[i].value == nile[i]);
	assert_int_equal(h.changes.v.nr, 1);
	assert_int_equal(h.changes.v.v[0].at, 28);
	assert_int_equal(h.better, FIGURE_HIGHER);
	history_release(&h);
	operand_release(&o);
}

TEST_IN(no_change, dir)
{
	static const double spike[] = { 10, 11, 10, 11, 10, 99, 11, 10, 11, 10, 11, 10 };
	struct compare_operand o;
	struct history h;
	struct err err = ERR_INIT;

	runs_put(dir, spike, ARRAY_LEN(spike));
	test_put(dir, "r/without/run.json",
		 "{\"schema\":\"profrig.run/1\",\"status\":\"success\"}");
	assert_int_equal(finished(dir, &o, &h, &err), 0);
	assert_int_equal(h.changes.v.nr, 0);
	assert_true(h.without >= 1);
	history_release(&h);
	operand_release(&o);
}

TEST_IN(several_units, dir)
{
	static const double v[] = { 1, 2 };
	struct compare_operand o;
	struct history h;
	struct err err = ERR_INIT;

	runs_put(dir, v, 2);
	test_put(dir, "r/odd/run.json",
		 "{\"schema\":\"profrig.run/1\",\"status\":\"success\",\"metrics\":[{\"name\":"
		 "\"speed\",\"value\":1,\"unit\":\"s\"}]}");
	assert_int_equal(finished(dir, &o, &h, &err), -EINVAL);
	assert_has(err.msg, "units differ");
	history_release(&h);
	operand_release(&o);
}
