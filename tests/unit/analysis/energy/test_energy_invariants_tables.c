/* What the tables say of their figures: invariants 12 to 15 of docs/energy.md, "What the tests
 * hold". */
#include "energy_machine.h"
#include "track_names.h"

#define CASES 400

/* ---- 12 ---- */

/* The label of a track of that kind. */
static bool is_label_of(const struct model *m, const struct strvec *labels, const char *label,
			enum track_kind kind)
{
	for (track_id t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == kind && strcmp(labels->v[t], label) == 0)
			return true;
	return false;
}

/* Every row is of one view, and its track one that the view is about. */
static void check_views(const struct model *m, const struct table *t, const char *name)
{
	CLEANUP(strvec_release) struct strvec labels = STRVEC_INIT;

	track_names(m, &labels);
	for (size_t i = 0; i < table_rows(t); i++) {
		bool host = strcmp(str_of(t, i, "view"), "host") == 0;

		assert_true(host || strcmp(str_of(t, i, "view"), "device") == 0);
		if (strcmp(str_of(t, i, name), "[unattributed]") == 0)
			assert_string_equal(str_of(t, i, "track"), "");
		else
			assert_true(is_label_of(m, &labels, str_of(t, i, "track"),
						host ? TRACK_THREAD : TRACK_QUEUE));
	}
}

/* Each view has all of the counter: added up, the two would be twice of it. */
static uint64_t check_both_are_whole(const struct table *totals)
{
	uint64_t both = 0;

	for (size_t i = 0; i + 1 < table_rows(totals); i++) {
		if (!same_texts(totals, i, totals, i + 1, job_columns, 2))
			continue;
		assert_string_equal(str_of(totals, i, "view"), "device");
		assert_string_equal(str_of(totals, i + 1, "view"), "host");
		same_value(num_of(totals, i, "total_j"), num_of(totals, i + 1, "total_j"), 0);
		both++;
	}
	return both;
}

/* Times too: what a scope's rows have is all of that scope. */
static void check_scopes(const struct table *f)
{
	double share[2] = { 0, 0 };

	for (size_t i = 0; f && i < table_rows(f); i++) {
		bool host = strcmp(str_of(f, i, "scope"), "host") == 0;

		assert_true(host || strcmp(str_of(f, i, "scope"), "device") == 0);
		share[host] += isnan(num_of(f, i, "share")) ? 0 : num_of(f, i, "share");
	}
	for (int i = 0; i < 2; i++)
		assert_true(share[i] == 0 || fabs(share[i] - 1) < 1e-9);
}

PROPERTY(invariant_12_views_are_never_added)
{
	uint64_t both = 0;

	for (uint64_t k = 0; next_case(&k, 26000000, CASES);) {
		struct table_set ts, times;
		CLEANUP(machine_release) struct machine x;

		machine_make(&x);
		ts = run(x.t.m, "energy", &x.o);
		times = run(x.t.m, "functions", &x.o);
		check_views(x.t.m, table_set_find(&ts, "energy"), "name");
		check_views(x.t.m, table_set_find(&ts, "energy_callpaths"), "path");
		both += check_both_are_whole(table_set_find(&ts, "energy_totals"));
		check_scopes(table_set_find(&times, "functions"));
		table_set_release(&ts);
		table_set_release(&times);
	}
	assert_true(both > test_cases(CASES));
}

/* ---- 13 ---- */

/* Of all calls of a row. */
static double mean_ns(const struct model *m, const struct strvec *labels, const struct table *e,
		      size_t row)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < m->spans.nr; i++) {
		if (m->spans.kind[i] == SPAN_INSTANT ||
		    strcmp(model_str(m, m->spans.name[i]), str_of(e, row, "name")) != 0 ||
		    strcmp(labels->v[m->spans.track[i]], str_of(e, row, "track")) != 0)
			continue;
		sum += (double)(m->spans.end_ns[i] - m->spans.start_ns[i]);
		n++;
	}
	assert_near(num_of(e, row, "calls"), n, 0);
	return sum / n;
}

/* Calls shorter than two periods of the sensor say so; every known energy has its uncertainty. */
static uint64_t check_resolution(const struct machine *x, const struct table *e)
{
	CLEANUP(strvec_release) struct strvec labels = STRVEC_INIT;
	uint64_t below_it = 0;

	track_names(x->t.m, &labels);
	for (size_t i = 0; i < table_rows(e); i++) {
		series_id s = series_of(x->t.m, str_of(e, i, "counter"));
		struct counter_info ci = counter_info(x->t.m, s);
		bool is_short = false;
		CLEANUP(curve_release) struct curve c;

		assert_int_equal(curve_make(x->t.m, s, &ci, &x->o.energy, &c, NULL), 0);
		if (!is_rest(e, i))
			is_short =
				mean_ns(x->t.m, &labels, e, i) < 2 * (double)c.median_period_ns &&
				!counter_holds(x->t.m, s, &ci);
		assert_int_equal(flagged(e, i, "below_resolution"), is_short);
		if (isnan(num_of(e, i, "exclusive_j")))
			assert_true(isnan(num_of(e, i, "uncertainty_j")));
		else
			assert_true(num_of(e, i, "uncertainty_j") >= 0);
		below_it += is_short;
	}
	return below_it;
}

PROPERTY(invariant_13_resolution_is_labelled)
{
	uint64_t below_it = 0;

	for (uint64_t k = 0; next_case(&k, 27000000, CASES);) {
		CLEANUP(machine_release) struct machine x;

		machine_make(&x);
		CLEANUP(table_set_release) struct table_set ts = run(x.t.m, "energy", &x.o);
		below_it += check_resolution(&x, table_set_find(&ts, "energy"));
	}
	assert_true(below_it > test_cases(CASES));
}

/* ---- 14 ---- */

static const struct known_counter {
	const char *name, *unit, *kind;
	double scale;
	bool steps; /* of 2^-16 J, which the library makes 15.3 µJ */
} known_counters[] = {
	{ GPU0, "#", "cumulative", 1e-6, true },
	{ "amd_smi:::energy_consumed:device=0", "#", "cumulative", 1e-6, true },
	{ "nvml:::A100:device_0:total_energy_consumption", "#", "cumulative", 1e-3, false },
	{ "rapl:::PACKAGE_ENERGY:PACKAGE0", "nJ", "cumulative", 1e-9, false },
	{ "energy.gpu0", "kJ", "cumulative", 1e3, false },
	{ GPU0_W, "#", "gauge", 1e-6, false },
	{ "nvml:::A100:device_0:power", "#", "gauge", 1e-3, false },
	{ "power.gpu0", "mW", "gauge", 1e-3, false },
};

/* The row says which factor made its values of the recorded ones, and what kind of series it is. */
PROPERTY(invariant_14_scale_is_recorded)
{
	for (uint64_t k = 0; next_case(&k, 28000000, CASES);) {
		const struct known_counter *known =
			&known_counters[below(ARRAY_LEN(known_counters))];
		CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
		/* the library's factor is 15.3, as it is meant or as a 32-bit float has it */
		double factor = below(2) ? 15.3 : (double)15.3f, first = 0, last = 0;
		int64_t counts = below(2) ? below(1000) : 1000000000000 + below(1000000000);
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = trace_series(&t, known->name, known->unit, SERIES_CUMULATIVE);
		double want = known->scale, from, to;
		const struct table *c;

		for (int i = 0; i < 20; i++) {
			last = known->steps ? floor((double)counts * factor) : (double)counts;
			first = i ? first : last;
			t.s->ops->sample(t.s, s, ns(i), last);
			counts += i < 19 ? 1 + below(60000000) : 0;
		}
		trace_finish(&t);
		rules.exact_units = below(2);
		counters_learn(t.m, &rules);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "counters", NULL);
		c = table_set_find(&ts, "counters");
		from = first * known->scale;
		to = last * known->scale;
		if (known->steps && rules.exact_units) {
			want = 0x1p-16 / factor;
			from = nearbyint(first / factor) * 0x1p-16;
			to = (double)counts * 0x1p-16;
		}
		assert_string_equal(str_of(c, 0, "kind"), known->kind);
		assert_string_equal(str_of(c, 0, "unit"), known->kind[0] == 'g' ? "W" : "J");
		/* the two factors are the same up to a count of some millions */
		assert_near(num_of(c, 0, "scale"), want, 2e-8 * want);
		assert_near(num_of(c, 0, "first"), from, 1e-15 * fabs(from));
		assert_near(num_of(c, 0, "last"), to, 1e-15 * fabs(to));
	}
}

/* ---- 15 ---- */

/* Nodes of some GPUs, packages and cards, each of which draws what it draws all the time. */
struct node {
	int64_t gpus, pkgs, cards, from_ns, to_ns;
	double gpu_w[8], pkg_w, card_w, node_w;
	bool reading; /* the GPUs have a power reading too */
};

static struct node random_node(bool exceeded)
{
	struct node x = { .gpus = 1 + below(8), .pkgs = below(3), .cards = below(3) };
	double gpus = 0;

	for (int64_t i = 0; i < x.gpus; i++)
		gpus += x.gpu_w[i] = (double)(50 + below(500));
	x.pkg_w = (double)(20 + below(100));
	x.card_w = (double)below(20) + gpus / 4;
	x.node_w = gpus * (1 + 0.0001 * (double)below(600)) + (double)x.pkgs * x.pkg_w +
		   (double)below(300);
	if (exceeded)
		x.node_w = gpus * 0.001 * (double)(1 + below(900));
	x.from_ns = below(ns(1));
	x.to_ns = x.from_ns + ns(5) + below(ns(5));
	x.reading = below(2);
	return x;
}

/* From a bit before to a bit after, so that windows differ. */
static void draw_steadily(struct trace *t, const char *name, const char *host, double w,
			  int64_t period_ns, const struct node *x)
{
	struct series_def d = { .name = name, .unit = "J", .host = host, .track = TRACK_NONE };
	series_id s;
	bool gauge = strncmp(name, "power", 5) == 0;

	d.unit = gauge ? "W" : "J";
	s = t->s->ops->series(t->s, &d);
	for (int64_t at = x->from_ns - below(ns(0.2)); at < x->to_ns + ns(0.2); at += period_ns)
		t->s->ops->sample(t->s, s, at, gauge ? w : 1e6 + w * (double)at * 1e-9);
}

static void node_put(struct trace *t, const char *host, const struct node *x)
{
	char name[32];

	t->s->ops->input_end(t->s);
	t->s->ops->input(t->s, host, "test");
	t->s->ops->clock(t->s);
	draw_steadily(t, "craypm:energy", host, x->node_w, ns(0.1), x);
	for (int64_t i = 0; i < x->gpus; i++) {
		snprintf(name, sizeof(name), "energy.gpu%d", (int)i);
		draw_steadily(t, name, host, x->gpu_w[i], ns(0.02), x);
		snprintf(name, sizeof(name), "power.gpu%d", (int)i);
		if (x->reading)
			draw_steadily(t, name, host, x->gpu_w[i], ns(0.02), x);
	}
	for (int64_t i = 0; i < x->pkgs; i++) {
		snprintf(name, sizeof(name), "energy.pkg%d", (int)i);
		draw_steadily(t, name, host, x->pkg_w, ns(0.02), x);
	}
	for (int64_t i = 0; i < x->cards; i++) {
		snprintf(name, sizeof(name), "craypm:accel%d_energy", (int)i);
		draw_steadily(t, name, host, x->card_w, ns(0.1), x);
	}
	/* GPUs and CPUs together: never added to what it has in it */
	draw_steadily(t, "hwmon9:power1_input", host, 1e9, ns(0.1), x);
}

static void check_node(const struct table *t, const char *host, const struct node *x, bool exceeded)
{
	double sums[] = { 0, (double)x->cards * x->card_w, (double)x->pkgs * x->pkg_w };
	static const char *const kinds[] = { "gpu", "accel", "pkg" };
	const int64_t devices[] = { x->gpus, x->cards, x->pkgs };
	size_t found = 0;

	for (int64_t i = 0; i < x->gpus; i++)
		sums[0] += x->gpu_w[i];
	for (size_t row = 0; row < table_rows(t); row++) {
		double s = num_of(t, row, "duration_ns") * 1e-9;
		size_t k = 0;

		if (strcmp(str_of(t, row, "device"), host) != 0)
			continue;
		while (strcmp(str_of(t, row, "kind"), kinds[k]) != 0)
			assert_true(++k < ARRAY_LEN(kinds));
		assert_true(s > 4.5);
		assert_near(num_of(t, row, "devices"), (double)devices[k], 0);
		assert_near(num_of(t, row, "devices_j"), sums[k] * s, 1e-6 * sums[k]);
		assert_near(num_of(t, row, "node_j"), x->node_w * s, 1e-6 * x->node_w);
		assert_near(num_of(t, row, "rest_j"), (x->node_w - sums[k]) * s, 1e-3);
		if (k == 0)
			assert_string_equal(str_of(t, row, "verdict"),
					    exceeded ? "exceeded" : "ok");
		found++;
	}
	assert_int_equal(found, 1 + (x->cards > 0) + (x->pkgs > 0));
}

/* What is inside a node counts no more than the node: else a warning. */
PROPERTY(invariant_15_devices_within_their_node)
{
	for (uint64_t k = 0; next_case(&k, 29000000, CASES);) {
		bool several = below(2), exceeded = below(3) == 0;
		CLEANUP(trace_release) struct trace t = trace_new();
		struct node one = random_node(false), two = random_node(exceeded);

		if (several)
			node_put(&t, "one", &one);
		node_put(&t, "two", &two);
		trace_finish(&t);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "node_energy", NULL);
		if (several)
			check_node(table_set_find(&ts, "node_energy"), "one", &one, false);
		check_node(table_set_find(&ts, "node_energy"), several ? "two" : "", &two,
			   exceeded);
		if (exceeded)
			assert_true(warned(t.m, W_NODE_ENERGY));
		else
			assert_false(warned(t.m, W_NODE_ENERGY));
	}
}

/* ---- 16: energy by power ---- */

/* Of one counter and view: Σ rows; adds to *powered where powers are used. */
static void check_power(const struct table_set *ts, size_t total_row, uint64_t *powered)
{
	const struct table *t = table_set_find(ts, "energy_totals");
	const struct table *e = table_set_find(ts, "energy");
	double total = num_of(t, total_row, "total_j"), rows = 0;
	double sum = num_of(t, total_row, "modelled_j") +
		     num_of(t, total_row, "modelled_unattributed_j");

	if (isnan(total) || isnan(sum))
		return;
	assert_true(fabs(sum - total) <= 1e-9 * fabs(total));
	for (size_t r = 0; r < table_rows(e); r++) {
		double j = num_of(e, r, "modelled_j");

		if (!same_texts(t, total_row, e, r, job_columns, ARRAY_LEN(job_columns)) ||
		    isnan(j))
			continue;
		rows += j;
		*powered += !isnan(num_of(e, r, "modelled_w"));
		/* where powers are not used it is that by time, and so may be a gauge's below 0 */
		assert_true(isnan(num_of(e, r, "modelled_w")) || j >= 0);
		assert_false(num_of(e, r, "modelled_uncertainty_j") < 0);
	}
	assert_true(fabs(rows - total) <= 1e-9 * fabs(total));
}

PROPERTY(invariant_16_power_keeps_the_sum)
{
	uint64_t powered = 0;

	for (uint64_t k = 0; next_case(&k, 29000000, CASES);) {
		CLEANUP(machine_release) struct machine x;

		machine_make(&x);
		x.o.energy.log_entries = k % 2 ? 0 : 40;
		CLEANUP(table_set_release) struct table_set ts = run(x.t.m, "energy", &x.o);
		const struct table *t = table_set_find(&ts, "energy_totals");

		for (size_t r = 0; t && r < table_rows(t); r++)
			check_power(&ts, r, &powered);
	}
	assert_true(powered > test_cases(CASES) / 4);
}
