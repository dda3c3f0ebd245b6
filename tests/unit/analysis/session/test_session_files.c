/* What files of --counters and --topology say, and what is wrong with them. */
#include "test.h"

#include "profrig/session/counters_file.h"
#include "profrig/session/topology_file.h"

TEST_IN(counters, dir)
{
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	CLEANUP(counter_options_release) struct counter_options o;
	struct err err = ERR_INIT;
	const struct counter_rule *r;

	counter_options_init(&o);
	test_put(dir, "c.yaml",
		 "counters:\n"
		 "  - {match: '*power*', tau_s: 0.1}\n"
		 "  - {match: meter, kind: cumulative, unit: Wh, device: gpu0}\n");
	assert_int_equal(counter_options_file(&o, in_dir(dir, "c.yaml"), &p, &err), 0);
	assert_int_equal(o.rules.v.nr, 2);
	r = &o.rules.v.v[0];
	assert_string_equal(r->match, "*power*");
	assert_int_equal(r->given, RULE_TAU);
	assert_true(r->tau_s == 0.1);
	r = &o.rules.v.v[1];
	assert_int_equal(r->given, RULE_KIND | RULE_UNIT | RULE_DEVICE);
	assert_int_equal(r->kind, SERIES_CUMULATIVE);
	assert_string_equal(r->unit, "Wh");
	assert_string_equal(r->device, "gpu0");
}

TEST(wrong_counters)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "counters: [{match: a}]", "says nothing but match" },
		{ "counters: [{match: a, quantity: power, unit: J}]", "quantity 'power' is in W" },
		{ "counters: [{match: a, quantity: energy, kind: gauge}]", "it is cumulative" },
		{ "counters: [{match: a, kind: sum}]", "kind" },
		{ "counter: []", "counter" },
		{ "counters: [", "c.yaml:" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		CLEANUP(xfreep) char *path = fs_join(dir, "c.yaml");
		CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
		CLEANUP(counter_options_release) struct counter_options o;
		struct err err = ERR_INIT;

		counter_options_init(&o);
		test_put(dir, "c.yaml", cases[i].text);
		if (counter_options_file(&o, path, &p, &err) != -EINVAL || !p.lines.nr)
			ROW_FAIL(i, "%zu problems", p.lines.nr);
		if (!strstr(p.lines.v[0], cases[i].words))
			ROW_FAIL(i, "%s", p.lines.v[0]);
	}
}

TEST(no_counters)
{
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	CLEANUP(counter_options_release) struct counter_options o;
	struct err err = ERR_INIT;

	counter_options_init(&o);
	assert_int_equal(counter_options_file(&o, "/no/such/file", &p, &err), -ENOENT);
	assert_int_equal(p.lines.nr, 0);
	assert_has(err.msg, "/no/such/file");
}

TEST(tau)
{
	static const struct {
		const char *text;
		int r;
		bool fit;
		double s;
	} cases[] = {
		{ "none", 0, false, 0 },       { "fit", 0, true, 0 },
		{ "0.1", 0, false, 0.1 },      { "100ms", 0, false, 0.1 },
		{ "3600", 0, false, 3600 },    { "3601", -EINVAL, false, 0 },
		{ "-1", -EINVAL, false, 0 },   { "", -EINVAL, false, 0 },
		{ "soon", -EINVAL, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(counter_options_release) struct counter_options o;
		struct err err = ERR_INIT;
		int r;

		counter_options_init(&o);
		r = counter_options_tau(&o, cases[i].text, &err);
		if (r != cases[i].r || o.rules.tau_fit != cases[i].fit ||
		    o.rules.tau_s != cases[i].s)
			ROW_FAIL(i, "%d, %g s: %s", r, o.rules.tau_s, err.msg);
	}
}

TEST(topologies)
{
	static const struct {
		const char *text, *words; /* NULL: it is right */
	} cases[] = {
		{ "sharing: [{ranks: 0-3, devices: [gpu0, 'node3:gpu2'], weight: 2}]", NULL },
		{ "{\"counters\": {\"gpu0\": [\"gpu0\", \"gpu1\"]}, \"discover\": true}", NULL },
		{ "sharing: [{ranks: 0}]", "names no device" },
		{ "sharing: [{rank: 0, devices: 0}]", "did you mean 'ranks'" },
		{ "sharing: [{ranks: x, devices: 0}]", "is no list of ranks" },
		{ "sharing: [{devices: 0, weight: -1}]", "want a number above 0" },
		{ "sharing: {}", "want a list of rules" },
		{ "counters: []", "want a map of devices" },
		{ "discover: perhaps", "want true or false" },
		{ "sharing: [{visible: '2,2'}]", "stands there twice" },
		{ "sharing: [", "t.yaml:" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
		struct topology *tp = topology_new();
		int r;

		test_put(dir, "t.yaml", cases[i].text);
		r = topology_file_read(tp, in_dir(dir, "t.yaml"), &p);
		topology_free(tp);
		if (r != (cases[i].words ? -EINVAL : 0))
			ROW_FAIL(i, "%d: %s", r, p.lines.nr ? p.lines.v[0] : "");
		if (cases[i].words && !strstr(p.lines.v[0], cases[i].words))
			ROW_FAIL(i, "%s", p.lines.v[0]);
	}
}
