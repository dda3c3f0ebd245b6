/* What the user says of counters, and what the data says of their units. */
#include "energy_fixture.h"

#include "profrig/counters/tau_fit.h"

#define ENERGY_NAME "A2rocm_smi:::energy_count:device=0"
#define POWER_NAME "A2rocm_smi:::power_average:device=0:sensor=0"

/* A model of one series that the rules are hung on. */
struct ruled {
	struct trace t;
	struct counter_rules rules;
};

static struct ruled ruled_new(void)
{
	return (struct ruled){ .t = trace_new(), .rules = COUNTER_RULES_INIT };
}

static struct counter_info ruled_info(struct ruled *r, series_id s)
{
	if (!r->t.m->finished)
		trace_finish(&r->t);
	counters_learn(r->t.m, &r->rules);
	return counter_info(r->t.m, s);
}

static void ruled_done(struct ruled *r)
{
	counter_rules_release(&r->rules);
	model_free(r->t.m);
}

TEST(first_entry_that_says_it)
{
	CLEANUP(ruled_done) struct ruled r = ruled_new();
	series_id s = trace_series(&r.t, POWER_NAME, "#", SERIES_CUMULATIVE);
	struct counter_info ci;

	VEC_PUSH(&r.rules.v, (struct counter_rule){ .match = "*device=1*",
						    .given = RULE_TAU | RULE_DEVICE,
						    .tau_s = 9,
						    .device = "gpu9" });
	VEC_PUSH(&r.rules.v, (struct counter_rule){ .match = "*POWER_average:device=0*",
						    .given = RULE_TAU | RULE_PERIOD,
						    .tau_s = 0.5,
						    .period_s = 0.02 });
	VEC_PUSH(&r.rules.v, (struct counter_rule){ .match = "*",
						    .given = RULE_TAU | RULE_MAX_RATE | RULE_DEVICE,
						    .tau_s = 7,
						    .max_rate = 77,
						    .device = "gpu3" });
	ci = ruled_info(&r, s);
	assert_near(ci.tau_s, 0.5, 0);
	assert_int_equal(ci.tau_source, TAU_USER);
	assert_near(ci.period_s, 0.02, 0);
	assert_near(ci.max_rate, 77, 0);
	assert_string_equal(ci.device, "gpu3");
	/* what no entry says stays */
	assert_int_equal(ci.kind, SERIES_GAUGE);
	assert_int_equal(ci.quantity, QUANTITY_POWER);
	assert_near(ci.scale, 1e-6, 0);
}

static const struct {
	const char *name;
	struct counter_rule rule;
	enum series_kind kind;
	enum quantity quantity;
	const char *unit;
	double scale;
} units[] = {
	ROW("meter", { .given = RULE_KIND | RULE_UNIT, .kind = SERIES_CUMULATIVE, .unit = "Wh" },
	    SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 3600),
	ROW("meter",
	    { .given = RULE_KIND | RULE_UNIT | RULE_SCALE,
	      .kind = SERIES_CUMULATIVE,
	      .unit = "uJ",
	      .scale = 15.25 },
	    SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 15.25e-6),
	ROW("meter", { .given = RULE_KIND | RULE_UNIT, .kind = SERIES_GAUGE, .unit = "mW" },
	    SERIES_GAUGE, QUANTITY_POWER, "W", 1e-3),
	ROW("meter",
	    { .given = RULE_KIND | RULE_UNIT | RULE_QUANTITY,
	      .kind = SERIES_GAUGE,
	      .unit = "W",
	      .quantity = QUANTITY_OTHER },
	    SERIES_GAUGE, QUANTITY_OTHER, "W", 1),
	ROW("meter", { .given = RULE_KIND | RULE_UNIT, .kind = SERIES_GAUGE, .unit = "furlongs" },
	    SERIES_GAUGE, QUANTITY_OTHER, "furlongs", 1),
	/* a kind alone makes it readable, not integrable as energy */
	ROW("meter", { .given = RULE_KIND, .kind = SERIES_CUMULATIVE }, SERIES_CUMULATIVE,
	    QUANTITY_OTHER, "", 1),
	/* a unit alone: its kind is unknown */
	{ "meter", { .given = RULE_UNIT, .unit = "J" }, SERIES_UNKNOWN, QUANTITY_OTHER, "J", 1 },
	/* a known power limit in other units stays a limit; as power only when said */
	ROW("rocm_smi:::power_cap:device=0", { .given = RULE_UNIT, .unit = "mW" }, SERIES_GAUGE,
	    QUANTITY_OTHER, "W", 1e-3),
	ROW("rocm_smi:::power_cap:device=0", { .given = RULE_QUANTITY, .quantity = QUANTITY_POWER },
	    SERIES_GAUGE, QUANTITY_POWER, "W", 1e-6),
	/* an energy counter that is said to be a gauge is no energy */
	ROW(ENERGY_NAME, { .given = RULE_KIND, .kind = SERIES_GAUGE }, SERIES_GAUGE, QUANTITY_OTHER,
	    "J", 1e-6),
	ROW(ENERGY_NAME, { .given = RULE_SCALE, .scale = 2e-6 }, SERIES_CUMULATIVE, QUANTITY_ENERGY,
	    "J", 2e-6),
};

TEST(kinds_units_and_quantities)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		CLEANUP(ruled_done) struct ruled r = ruled_new();
		series_id s = trace_series(&r.t, units[i].name, "#", SERIES_CUMULATIVE);
		struct counter_rule rule = units[i].rule;
		struct counter_info ci;

		rule.match = "*";
		VEC_PUSH(&r.rules.v, rule);
		ci = ruled_info(&r, s);
		if (ci.kind != units[i].kind || ci.quantity != units[i].quantity ||
		    strcmp(ci.unit, units[i].unit) != 0)
			ROW_FAIL(i, "kind %d quantity %d unit '%s'", ci.kind, ci.quantity, ci.unit);
		assert_near(ci.scale, units[i].scale, 1e-15 * units[i].scale);
	}
}

/* 4294967200 → 100 in a counter that is said to be 32 bits wide. */
TEST(modulus_of_a_rule)
{
	static const double raw[][2] = { { 0, 4294967000. }, { 1, 4294967200. }, { 2, 100 } };
	struct energy_opts o = { .integration = INTEGRATE_LINEAR };

	for (int declared = 0; declared < 2; declared++) {
		CLEANUP(ruled_done) struct ruled r = ruled_new();
		series_id s =
			trace_series(&r.t, "powercap:::ENERGY_UJ:ZONE0", "", SERIES_CUMULATIVE);
		struct counter_info ci;
		struct counter_scan scan;
		CLEANUP(curve_release) struct curve c;

		trace_samples(&r.t, s, 3, raw);
		if (declared)
			VEC_PUSH(&r.rules.v, (struct counter_rule){ .match = "powercap*",
								    .given = RULE_MODULUS,
								    .modulus = 0x1p32 });
		ci = ruled_info(&r, s);
		assert_int_equal(curve_make(r.t.m, s, &ci, &o, &c, NULL), 0);
		assert_near(c.de[1], declared ? 196e-6 : 0, 1e-15);
		scan = counter_scan(r.t.m, s, &ci, 0);
		assert_int_equal(scan.wraps, declared);
		assert_int_equal(scan.resets, !declared);
		assert_int_equal(scan.unknown_ns, declared ? 0 : ns(1));
	}
}

TEST(tau_is_for_power_readings)
{
	CLEANUP(ruled_done) struct ruled r = ruled_new();
	series_id e = trace_series(&r.t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	series_id busy = trace_series(&r.t, "rocm_smi:::busy_percent:device=0", "", SERIES_GAUGE);
	struct series_def d = {
		.name = "power.cpu0", .unit = "W", .track = TRACK_NONE, .estimated = true
	};
	series_id guess = r.t.s->ops->series(r.t.s, &d);
	series_id p = trace_series(&r.t, "power.gpu0", "W", SERIES_GAUGE);

	r.rules.tau_s = 0.1;
	assert_near(ruled_info(&r, p).tau_s, 0.1, 0);
	assert_near(ruled_info(&r, e).tau_s, 0, 0);
	assert_near(ruled_info(&r, busy).tau_s, 0, 0);
	assert_near(ruled_info(&r, guess).tau_s, 0, 0);
	/* an entry may say that one is not filtered */
	VEC_PUSH(&r.rules.v, (struct counter_rule){ .match = "power.gpu*", .given = RULE_TAU });
	assert_near(ruled_info(&r, p).tau_s, 0, 0);
	assert_int_equal(ruled_info(&r, p).tau_source, TAU_NONE);
}

/*
 * The library shows floor(15.3 · n) µJ for n counts of 2^-16 J, in versions that hand the factor
 * out as a float floor(15.3f · n); n comes back exactly, at any height.
 */
TEST(case_03_unit_factor)
{
	static const double factors[] = { 15.3, (double)15.3f }, starts[] = { 0, 1e6, 1.01e13 };
	struct energy_opts o = { .integration = INTEGRATE_LINEAR };

	for (size_t k = 0; k < ARRAY_LEN(factors) * ARRAY_LEN(starts); k++) {
		double factor = factors[k % 2], start = starts[k / 2];
		CLEANUP(ruled_done) struct ruled r = ruled_new();
		series_id s = trace_series(&r.t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
		double counts[300], first_raw = 0, last_raw = 0;
		struct counter_info ci;
		CLEANUP(curve_release) struct curve c;
		uint64_t seed = 3;

		for (int i = 0; i < 300; i++) {
			counts[i] = i ? counts[i - 1] + 1 + (double)(rnd(&seed) % 90000) : start;
			last_raw = floor(counts[i] * factor);
			first_raw = i ? first_raw : last_raw;
			r.t.s->ops->sample(r.t.s, s, ns(i * 0.01), last_raw);
		}
		ci = ruled_info(&r, s);
		assert_near(ci.scale, 1e-6, 0); /* as recorded unless asked for */
		assert_near(ci.step_raw, 0, 0);
		assert_false(ci.inexact);
		r.rules.exact_units = true;
		ci = counter_info(r.t.m, s);
		assert_near(ci.scale / 1e-6, 0.99731, 0.00001);
		assert_near(counter_value(&ci, last_raw), counts[299] * 0x1p-16, 0);
		assert_int_equal(curve_make(r.t.m, s, &ci, &o, &c, NULL), 0);
		for (size_t i = 0; i + 1 < c.n; i++)
			assert_near(c.de[i], (counts[i + 1] - counts[i]) * 0x1p-16, 0);
		assert_near(curve_total(&c), (counts[299] - counts[0]) * 0x1p-16, 0);
		assert_near(curve_total(&c) / ((last_raw - first_raw) * 1e-6), 0.99731, 0.00001);
	}
}

/* A library that counts otherwise: its values are left alone, and that is said. */
TEST(other_units_are_left_alone)
{
	static const double raw[][2] = { { 0, 1000 }, { 1, 2000 }, { 2, 3000 }, { 3, 4001 } };
	struct ruled r = ruled_new();
	series_id s = trace_series(&r.t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	struct counter_info ci;

	trace_samples(&r.t, s, 4, raw);
	r.rules.exact_units = true;
	ci = ruled_info(&r, s);
	assert_true(ci.inexact);
	assert_near(ci.scale, 1e-6, 0);
	assert_near(counter_value(&ci, 2000), 2e-3, 1e-18);
	VEC_PUSH(&r.rules.v, (struct counter_rule){ .match = "*", .given = RULE_EXACT });
	ci = ruled_info(&r, s);
	assert_false(ci.inexact); /* not asked for, for this one */
	ruled_done(&r);

	/* a scale of the user's own implies the unit */
	r = ruled_new();
	s = trace_series(&r.t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	for (int i = 0; i < 10; i++)
		r.t.s->ops->sample(r.t.s, s, ns(i), floor(15.3 * i * 1000));
	r.rules.exact_units = true;
	VEC_PUSH(&r.rules.v,
		 (struct counter_rule){ .match = "*", .given = RULE_SCALE, .scale = 2e-6 });
	ci = ruled_info(&r, s);
	assert_near(ci.scale, 2e-6, 0);
	assert_near(ci.step_raw, 0, 0);
	ruled_done(&r);
}

static void next_input(struct trace *t, const char *path)
{
	t->s->ops->input_end(t->s);
	t->s->ops->input(t->s, path, "samples");
	t->s->ops->clock(t->s);
}

/* The nearest counter: same device, same host, best the same file. */
TEST(pairs)
{
	CLEANUP(ruled_done) struct ruled r = ruled_new();
	struct series_def power = { .name = "power.gpu1", .unit = "W", .track = TRACK_NONE };
	struct series_def energy = { .name = "energy.gpu1", .unit = "J", .track = TRACK_NONE };
	series_id elsewhere, far, near, p;

	energy.host = "node2";
	elsewhere = r.t.s->ops->series(r.t.s, &energy);
	next_input(&r.t, "far.csv");
	energy.host = "node1";
	far = r.t.s->ops->series(r.t.s, &energy);
	next_input(&r.t, "near.csv");
	power.host = "node1";
	trace_series(&r.t, "energy.gpu0", "J", SERIES_CUMULATIVE);
	p = r.t.s->ops->series(r.t.s, &power);
	near = r.t.s->ops->series(r.t.s, &energy);
	ruled_info(&r, p);
	assert_int_equal(r.rules.filters.nr, 1);
	assert_int_equal(r.rules.filters.v[0].power, p);
	assert_int_equal(r.rules.filters.v[0].energy, near);
	assert_true(elsewhere != far && far != near);
}
