/* Devices against their node, on small machines with known answers. */
#include "tables_support.h"

static series_id steady(struct trace *t, const char *name, const char *unit, double w, double from,
			double to)
{
	series_id s = trace_series(t, name, unit, SERIES_GAUGE);

	for (double at = from; at <= to + 1e-9; at += 0.1)
		t->s->ops->sample(t->s, s, ns(at), *unit == 'W' ? w : w * at);
	return s;
}

static struct table_set finished(struct trace *t)
{
	trace_finish(t);
	return run(t->m, "node_energy", NULL);
}

TEST(columns)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	const struct table *n;

	steady(&t, "craypm:energy", "J", 1000, 0, 10);
	steady(&t, "craypm:power", "W", 1000, 0, 10);
	steady(&t, "craypm:cpu_energy", "J", 5000, 0, 10); /* a part of it that no id names */
	steady(&t, "energy.gpu0", "J", 300, 1, 11);
	steady(&t, "energy.gpu1", "J", 400, 0, 10);
	CLEANUP(table_set_release) struct table_set ts = finished(&t);
	n = table_set_find(&ts, "node_energy");
	expect_columns(n, "counter,device,kind,devices,duration_ns,node_j,devices_j,rest_j,slack_j,"
			  "verdict");
	assert_int_equal(table_rows(n), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(str_of(n, i, "counter"), i ? "craypm:power" : "craypm:energy");
		assert_string_equal(str_of(n, i, "kind"), "gpu");
		assert_near(num_of(n, i, "devices"), 2, 0);
		assert_near(num_of(n, i, "duration_ns"), 9e9, 0);
		assert_near(num_of(n, i, "node_j"), 9000, 1e-6);
		assert_near(num_of(n, i, "devices_j"), 6300, 1e-6);
		assert_near(num_of(n, i, "rest_j"), 2700, 1e-6);
		/* one per cent, and what one period of 0.1 s may shift */
		assert_near(num_of(n, i, "slack_j"), 90 + 170, 1e-3);
		assert_string_equal(str_of(n, i, "verdict"), "ok");
	}
	assert_false(warned(t.m, W_NODE_ENERGY));
}

/* One counter per device, that of energy; kinds are not added; guesses and dead ones are none. */
TEST(nothing_counts_twice)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	struct series_def guess = {
		.name = "power.gpu1", .unit = "W", .track = TRACK_NONE, .estimated = true
	};
	const struct table *n;
	series_id s;

	steady(&t, "energy", "J", 1000, 0, 10);
	steady(&t, "energy.gpu0", "J", 600, 0, 10);
	steady(&t, "power.gpu0", "W", 900, 0, 10);
	steady(&t, "rocm_smi:::energy_count:device=0", "#", 590e6, 0, 10);
	steady(&t, "rocm_smi:::energy_count:device=2", "#", 0, 0, 10);
	steady(&t, "craypm:accel0_energy", "J", 620, 0, 10);
	s = t.s->ops->series(t.s, &guess);
	for (int i = 0; i <= 10; i++)
		t.s->ops->sample(t.s, s, ns(i), 800);
	CLEANUP(table_set_release) struct table_set ts = finished(&t);
	n = table_set_find(&ts, "node_energy");
	assert_int_equal(table_rows(n), 2);
	assert_string_equal(str_of(n, 0, "kind"), "gpu");
	assert_near(num_of(n, 0, "devices"), 1, 0);
	assert_near(num_of(n, 0, "devices_j"), 6000, 1e-6);
	assert_string_equal(str_of(n, 1, "kind"), "accel");
	assert_near(num_of(n, 1, "devices_j"), 6200, 1e-6);
	assert_false(warned(t.m, W_NODE_ENERGY));
}

TEST(more_than_the_node)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	const struct table *n;

	steady(&t, "craypm:energy", "J", 1000, 0, 10);
	steady(&t, "energy.gpu0", "kJ", 0.6, 0, 10);
	steady(&t, "energy.gpu1", "J", 500, 0, 10);
	CLEANUP(table_set_release) struct table_set ts = finished(&t);
	n = table_set_find(&ts, "node_energy");
	assert_string_equal(str_of(n, 0, "verdict"), "exceeded");
	assert_near(num_of(n, 0, "rest_j"), -1000, 1e-6);
	for (size_t i = 0; i < t.m->warnings.nr; i++)
		assert_string_equal(t.m->warnings.v[i].text,
				    "craypm:energy counted 10000 J, 2 gpu of the node 11000 J in "
				    "the same time");
	assert_true(warned(t.m, W_NODE_ENERGY));
}

TEST(what_cannot_be_compared)
{
	for (int k = 0; k < 2; k++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = steady(&t, "craypm:energy", "J", 1000, 0, k ? 10 : 4);
		const struct table *n;

		/* a node's counter that was reset; one that was read at another time */
		for (int i = 1; k && i < 20; i++)
			t.s->ops->sample(t.s, s, ns(10 + i * 0.1), i);
		steady(&t, "energy.gpu0", "J", 5000, 5, 10);
		CLEANUP(table_set_release) struct table_set ts = finished(&t);
		n = table_set_find(&ts, "node_energy");
		assert_string_equal(str_of(n, 0, "verdict"), "not_compared");
		assert_true(isnan(num_of(n, 0, "node_j")) && isnan(num_of(n, 0, "rest_j")));
		assert_false(warned(t.m, W_NODE_ENERGY));
	}
}

/* No counter of a node, or nothing in it: no table. A rule may say which counter is the node's. */
TEST(which_counter_is_the_node)
{
	CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
	CLEANUP(trace_release) struct trace t = trace_new();
	struct table_set ts;

	steady(&t, "rack:outlet3", "J", 1000, 0, 10);
	steady(&t, "energy.gpu0", "J", 300, 0, 10);
	steady(&t, "craypm:memory_energy", "J", 20, 0, 10);
	ts = finished(&t);
	assert_null(table_set_find(&ts, "node_energy"));
	table_set_release(&ts);
	VEC_PUSH(&rules.v, (struct counter_rule){ .match = "rack:*",
						  .given = RULE_KIND | RULE_UNIT | RULE_DEVICE,
						  .kind = SERIES_CUMULATIVE,
						  .unit = "J",
						  .device = "node" });
	counters_learn(t.m, &rules);
	ts = run(t.m, "node_energy", NULL);
	assert_near(num_of(table_set_find(&ts, "node_energy"), 0, "rest_j"), 7000, 1e-6);
	table_set_release(&ts);
}
