/* Who gets how much, in the tables: invariants 8 to 10 of docs/energy.md, "What the tests hold". */
#include "energy_machine.h"

#include "profrig/base/sum.h"

#define CASES 400

/* ---- 8 ---- */

static double total_of(const struct machine *x, series_id s)
{
	struct counter_info ci = counter_info(x->t.m, s);
	struct curve c;
	double total;

	assert_int_equal(curve_make(x->t.m, s, &ci, &x->o.energy, &c, NULL), 0);
	total = curve_total(&c);
	curve_release(&c);
	return total;
}

/* All sharers of a counter together have what it counted: nothing of any other counter. */
static void check_shared(const struct machine *x, const struct table_set *ts)
{
	const struct table *e = table_set_find(ts, "energy");
	const struct table *totals = table_set_find(ts, "energy_totals");

	for (size_t job = 0; job < table_rows(totals); job++) {
		double total = total_of(x, series_of(x->t.m, str_of(totals, job, "counter")));
		double size = fabs(total) + 1e-6;
		struct sum sum = SUM_INIT;

		if (flagged(totals, job, "short"))
			continue;
		for (size_t i = 0; i < table_rows(e); i++) {
			double j = num_of(e, i, "exclusive_j");

			if (!same_texts(totals, job, e, i, job_columns, ARRAY_LEN(job_columns)))
				continue;
			assert_int_equal(flagged(e, i, "double_counting"), x->o.energy.independent);
			sum_add(&sum, isnan(j) ? 0 : j);
			size += isnan(j) ? 0 : fabs(j);
		}
		assert_near(num_of(totals, job, "total_j"), total, 1e-9 * size);
		if (!x->o.energy.independent)
			assert_near(sum_value(&sum), total, 1e-9 * size);
	}
}

/* The same without the module's counter. */
static struct table_set without_module(struct machine *x)
{
	struct analysis_opts o = x->o;
	struct trace again = tracks_again(x->t.m);
	struct topology *tp;
	struct table_set ts;

	plan_push(&again, &x->p, false);
	for (size_t i = 0; i + 1 < COUNTERS; i++)
		push_samples(&again, &x->s[i]);
	trace_finish(&again);
	o.energy.topology = tp = machine_topology(x, again.m);
	ts = run(again.m, "energy", &o);
	topology_free(tp);
	trace_release(&again);
	return ts;
}

static void check_module_changes_nothing(const struct table *with, const struct table *without)
{
	static const char *const keys[] = { "counter", "view", "track", "name", "flags" };
	size_t k = 0;

	for (size_t i = 0; i < table_rows(with); i++) {
		if (strcmp(str_of(with, i, "counter"), MODULE) == 0)
			continue;
		assert_true(same_texts(with, i, without, k, keys, ARRAY_LEN(keys)));
		same_value(num_of(with, i, "exclusive_j"), num_of(without, k, "exclusive_j"),
			   1e-12 * fabs(num_of(with, i, "exclusive_j")) + 1e-17);
		k++;
	}
	assert_int_equal(k, table_rows(without));
}

PROPERTY(invariant_08_sharers_have_their_own_counter_alone)
{
	for (uint64_t k = 0; next_case(&k, 20000000, CASES);) {
		struct table_set with, without;
		CLEANUP(machine_release) struct machine x;

		machine_make(&x);
		with = run(x.t.m, "energy", &x.o);
		check_shared(&x, &with);
		without = without_module(&x);
		check_module_changes_nothing(table_set_find(&with, "energy"),
					     table_set_find(&without, "energy"));
		table_set_release(&with);
		table_set_release(&without);
	}
}

#define SHARERS 8

/* n ranks that compute all the time, and a kernel on each of n GCDs that one counter measures. */
static series_id all_the_time(struct trace *t, int64_t n, track_id *threads, track_id *queues)
{
	series_id s = trace_series(t, GPU0, "#", SERIES_CUMULATIVE);

	for (int64_t i = 0; i < n; i++) {
		char device[16];

		snprintf(device, sizeof(device), "gpu%d", (int)i);
		threads[i] = trace_thread(t, "node", i, 1);
		queues[i] = trace_queue(t, device, i);
		trace_call(t, threads[i], "main", 0, 10);
		trace_work(t, queues[i], "gemm", 0, 10);
	}
	for (int i = 0; i <= 10; i++)
		t->s->ops->sample(t->s, s, ns(i), i * 1e6 * (double)(1 + below(500)) * 10);
	return s;
}

static void share_by_weight(struct topology *tp, int64_t n, bool equal, double *weight)
{
	struct topology_counter c = { .device = xstrdup("gpu0"), .measures = STRVEC_INIT };

	for (int64_t i = 0; i < n; i++) {
		struct topology_rule rule;
		char device[16];

		weight[i] = equal ? 1 : (double)(1 + below(9));
		topology_rule_init(&rule);
		VEC_PUSH(&rule.ranks, (struct topology_range){ i, i });
		strvec_push(&rule.devices, "gpu0");
		rule.weight = weight[i];
		topology_add_rule(tp, &rule);
		snprintf(device, sizeof(device), "gpu%d", (int)i);
		strvec_push(&c.measures, device);
	}
	topology_add_counter(tp, &c);
}

/* Equal or by weight: to each its part, together the device's energy. */
PROPERTY(invariant_08_ranks_and_gcds_share_one_counter)
{
	for (uint64_t k = 0; next_case(&k, 21000000, CASES);) {
		struct energy_opts o = { .integration = (enum integration)below(3) };
		struct topology *tp = topology_new();
		track_id threads[SHARERS], queues[SHARERS];
		double weight[SHARERS], weights = 0;
		CLEANUP(trace_release) struct trace t = trace_new();
		int64_t n = 1 + below(SHARERS);
		struct energy_result r[2];
		series_id s;

		s = all_the_time(&t, n, threads, queues);
		trace_finish(&t);
		share_by_weight(tp, n, below(2), weight);
		topology_resolve(tp, t.m);
		o.topology = tp;
		for (int view = 0; view < 2; view++)
			energy_attribute(t.m, s, (enum energy_view)view, &o, &r[view], NULL);
		for (int64_t i = 0; i < n; i++)
			weights += weight[i];
		for (int64_t i = 0; i < n; i++) {
			size_t call = trace_find(t.m, threads[i], "main", 0);
			size_t work = trace_find(t.m, queues[i], "gemm", 0);
			double live = r[0].total_j - r[0].dead_j;

			assert_near(r[0].exclusive_j[call], live * weight[i] / weights,
				    1e-9 * live);
			assert_near(r[1].exclusive_j[work], live / (double)n, 1e-9 * live);
		}
		for (int view = 0; view < 2; view++) {
			assert_near(r[view].attributed_j, r[view].total_j - r[view].dead_j,
				    1e-9 * r[view].total_j);
			energy_result_release(&r[view]);
		}
		topology_free(tp);
	}
}

/* ---- 9 ---- */

/* Only the two columns of the split may differ from those of an analysis without idle power. */
static void check_split(const struct table *plain, const struct table *split, double level_w,
			struct sum *static_j, uint64_t *negative)
{
	assert_int_equal(table_rows(plain), table_rows(split));
	for (size_t i = 0; i < table_rows(split); i++) {
		double j = num_of(split, i, "exclusive_j"), idle = num_of(split, i, "static_j");
		double dynamic = num_of(split, i, "dynamic_j");

		same_value(j, num_of(plain, i, "exclusive_j"), 0);
		same_value(num_of(split, i, "inclusive_j"), num_of(plain, i, "inclusive_j"), 0);
		assert_true(isnan(num_of(plain, i, "static_j")));
		assert_int_equal(isnan(idle), isnan(j) || isnan(level_w));
		if (isnan(idle))
			continue;
		/* neither is clamped: what the device drew below idle stays */
		assert_near(idle + dynamic, j, 1e-12 * (fabs(idle) + fabs(j)));
		assert_true(idle >= 0);
		*negative += dynamic < 0;
		sum_add(static_j, idle);
	}
}

/* P_idle · T: all of a counter's known time is shared out once, in each view. */
static void check_idle_time(const struct machine *x, const struct table *e, double level_w)
{
	for (size_t k = 0; k < 2 * COUNTERS; k++) {
		series_id s = (series_id)(k / 2);
		const char *name = model_str(x->t.m, x->t.m->series.v[s].name);
		struct counter_info ci = counter_info(x->t.m, s);
		struct counter_scan scan = counter_scan(x->t.m, s, &ci, x->o.energy.max_gap_ns);
		double known_s = (double)(scan.last_ns - scan.first_ns - scan.unknown_ns) * 1e-9;
		struct sum sum = SUM_INIT;
		size_t rows = 0;

		for (size_t i = 0; i < table_rows(e); i++) {
			double idle = num_of(e, i, "static_j");

			if (strcmp(str_of(e, i, "counter"), name) != 0 ||
			    strcmp(str_of(e, i, "view"), k % 2 ? "host" : "device") != 0)
				continue;
			sum_add(&sum, isnan(idle) ? 0 : idle);
			rows++;
		}
		if (rows > 0 && !(scan.flags & CF_SHORT))
			assert_near(sum_value(&sum), level_w * known_s,
				    1e-9 * level_w * known_s + 1e-15);
	}
}

PROPERTY(invariant_09_idle_split_of_any_machine)
{
	uint64_t negative = 0;

	for (uint64_t k = 0; next_case(&k, 22000000, CASES);) {
		CLEANUP(xfreep) char *stated = xasprintf("%d", (int)below(700));
		struct table_set plain, split, idle;
		struct sum sum = SUM_INIT;
		CLEANUP(machine_release) struct machine x;

		machine_make(&x);
		plain = run(x.t.m, "energy", &x.o);
		assert_int_equal(idle_state(&x.o.idle, stated, NULL), 0);
		split = run(x.t.m, "energy", &x.o);
		check_split(table_set_find(&plain, "energy"), table_set_find(&split, "energy"),
			    strtod(stated, NULL), &sum, &negative);
		if (!x.o.energy.independent)
			check_idle_time(&x, table_set_find(&split, "energy"), strtod(stated, NULL));
		idle = run(x.t.m, "idle_power", &x.o);
		for (size_t i = 0; i < table_rows(table_set_find(&idle, "idle_power")); i++) {
			const struct table *t = table_set_find(&idle, "idle_power");

			assert_string_equal(str_of(t, i, "method"), "stated");
			assert_near(num_of(t, i, "level_w"), strtod(stated, NULL), 0);
		}
		table_set_release(&plain);
		table_set_release(&split);
		table_set_release(&idle);
	}
	assert_true(negative > test_cases(CASES));
}

/* W before, during and after the work, of which one or both sides are known to be idle. */
struct idle_run {
	double w[3];
	bool known[2];
	int64_t edge_ns[4];
};

static double idle_run_j(const struct idle_run *x, int64_t t_ns)
{
	double j = 0;

	for (int i = 0; i < 3; i++) {
		int64_t end = t_ns < x->edge_ns[i + 1] ? t_ns : x->edge_ns[i + 1];

		if (end > x->edge_ns[i])
			j += x->w[i] * (double)(end - x->edge_ns[i]) * 1e-9;
	}
	return j;
}

static struct trace idle_run_make(struct idle_run *x, struct idle_opts *o)
{
	struct trace t = trace_new();
	series_id s = trace_series(&t, "energy.gpu0", "J", SERIES_CUMULATIVE);
	track_id th = trace_thread(&t, "node", 1, 1);

	for (int i = 0; i < 3; i++) {
		x->w[i] = (double)(50 + below(300));
		x->edge_ns[i + 1] = x->edge_ns[i] + ns(2) + ns(0.1) * below(30);
	}
	x->known[0] = below(3) > 0;
	x->known[1] = !x->known[0] || below(2);
	if (x->known[0])
		o->before = (struct idle_window){ x->edge_ns[0], x->edge_ns[1] };
	if (x->known[1])
		o->after = (struct idle_window){ x->edge_ns[2], x->edge_ns[3] };
	for (int64_t at = 0; at <= x->edge_ns[3]; at += ns(0.1))
		t.s->ops->sample(t.s, s, at, idle_run_j(x, at));
	for (int64_t at = x->edge_ns[1]; at < x->edge_ns[2]; at += below(ns(1)))
		trace_span_ns(&t, th, "f", at, at + below(ns(1)), SPAN_HOST);
	trace_finish(&t);
	return t;
}

/* The level of the idle time is what the table says, with how it was found. */
PROPERTY(invariant_09_idle_level_is_recorded)
{
	uint64_t negative = 0;

	for (uint64_t k = 0; next_case(&k, 23000000, CASES);) {
		struct analysis_opts plain = { 0 }, o = { 0 };
		struct idle_run x = { .edge_ns[0] = 0 };
		CLEANUP(trace_release) struct trace t = idle_run_make(&x, &o.idle);
		bool both = x.known[0] && x.known[1];
		double level = both ? (x.w[0] + x.w[2]) / 2 : x.w[x.known[0] ? 0 : 2];
		struct table_set ts[3] = { run(t.m, "energy", &plain), run(t.m, "energy", &o),
					   run(t.m, "idle_power", &o) };
		const struct table *idle = table_set_find(&ts[2], "idle_power");
		struct sum sum = SUM_INIT;

		assert_near(num_of(idle, 0, "level_w"), level, 1e-6);
		assert_string_equal(str_of(idle, 0, "method"), both         ? "both"
							       : x.known[0] ? "before"
									    : "after");
		assert_true(num_of(idle, 0, "samples") > 0 && num_of(idle, 0, "stderr_w") >= 0);
		check_split(table_set_find(&ts[0], "energy"), table_set_find(&ts[1], "energy"),
			    level, &sum, &negative);
		/* E = P_idle · T, T all of the sampled time */
		assert_near(sum_value(&sum), level * (double)x.edge_ns[3] * 1e-9, 1e-5);
		for (size_t i = 0; i < 3; i++)
			table_set_release(&ts[i]);
	}
	assert_true(negative > test_cases(CASES) / 4);
}

/* ---- 10 ---- */

/* Whose time is unknown: what a counter says of its dead intervals. */
static double dead_of(const struct machine *x, series_id s)
{
	struct counter_info ci = counter_info(x->t.m, s);
	struct curve c;
	double dead = 0;

	assert_int_equal(curve_make(x->t.m, s, &ci, &x->o.energy, &c, NULL), 0);
	for (size_t i = 0; c.marks && i + 1 < c.n; i++)
		dead += c.marks[i] & CURVE_DEAD ? c.de[i] : 0;
	curve_release(&c);
	return dead;
}

PROPERTY(invariant_10_rate_uses_exclusive_time)
{
	for (uint64_t k = 0; next_case(&k, 24000000, CASES);) {
		const struct table *e;
		CLEANUP(machine_release) struct machine x;

		machine_make(&x);
		CLEANUP(table_set_release) struct table_set ts = run(x.t.m, "energy", &x.o);
		e = table_set_find(&ts, "energy");
		for (size_t i = 0; i < table_rows(e); i++) {
			double s = num_of(e, i, "exclusive_ns") * 1e-9;
			double j = num_of(e, i, "exclusive_j"), w = num_of(e, i, "mean_w");

			assert_int_equal(isnan(w), s <= 0 || isnan(j));
			if (isnan(w))
				continue;
			if (is_rest(e, i))
				j -= dead_of(&x, series_of(x.t.m, str_of(e, i, "counter")));
			assert_near(w * s, j, 1e-9 * fabs(num_of(e, i, "exclusive_j")) + 1e-15);
		}
	}
}

/* A caller's rate is that of its own time, however much of its time is its callees'. */
PROPERTY(invariant_10_rate_is_the_power_drawn)
{
	uint64_t callers = 0;

	for (uint64_t k = 0; next_case(&k, 25000000, CASES);) {
		struct plan p = { .unit = 1000 + below(1000000), .length = 300 };
		double w = (double)(1 + below(600));
		struct trace t = trace_new();
		series_id s = trace_series(&t, "power.gpu0", "W", SERIES_GAUGE);
		const struct table *e;
		struct table_set ts;

		plan_calls(&p, trace_thread(&t, "node", 1, 1), 0, 300, 0);
		plan_push(&t, &p, false);
		for (int64_t at = -20; at < 400; at += 1 + below(9))
			t.s->ops->sample(t.s, s, at * p.unit, w);
		trace_finish(&t);
		ts = run(t.m, "energy", NULL);
		e = table_set_find(&ts, "energy");
		for (size_t i = 0; i < table_rows(e); i++) {
			if (num_of(e, i, "exclusive_ns") <= 0)
				continue;
			assert_near(num_of(e, i, "mean_w"), w, 1e-8 * w);
			callers += num_of(e, i, "inclusive_j") > 1.5 * num_of(e, i, "exclusive_j");
		}
		table_set_release(&ts);
		trace_release(&t);
		VEC_RELEASE(&p.spans);
	}
	assert_true(callers > test_cases(CASES) / 2);
}
