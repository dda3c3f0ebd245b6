/* Who shares which device: rules, variables, queues, addresses; small models with known answers. */
#include "energy_fixture.h"
#include "energy_spans.h"
#include "expect_model.h"

#include "profrig/topology/topology.h"

#define JOULES(device) "rocm_smi:::energy_count:device=" #device

static const struct energy_opts linear = { .integration = INTEGRATE_LINEAR };

/* A rank with a call over all 10 s, its queue with work, and 100 W for 10 s. */
#define RANK(n) "rank " #n "/1: main 0-10\n"
#define QUEUE(n, key, more) "stream gpu" #n "/" #key " " more ": gemm 1-9\n"
#define COUNTER(name) "series " name " # cumulative: 0 0 10 1000e6\n"

/* A trace and what is known of it. Threads, queues and series are numbered as they are pushed. */
struct scene {
	struct trace t;
	struct topology *tp;
};

static struct scene scene_new(const char *text)
{
	struct scene x = { .t = trace_new(), .tp = topology_new() };

	trace_add(&x.t, text);
	return x;
}

static void scene_release(struct scene *x)
{
	topology_free(x->tp);
	trace_release(&x->t);
}

/* Another file. */
static void file_add(struct scene *x, const char *text)
{
	x->t.s->ops->input_end(x->t.s);
	x->t.s->ops->input(x->t.s, "another file", "test");
	x->t.s->ops->clock(x->t.s);
	trace_add(&x->t, text);
}

static void scene_resolve(struct scene *x)
{
	trace_finish(&x->t);
	topology_resolve(x->tp, x->t.m);
}

/* The nth thread or queue. */
static track_id nth(const struct scene *x, enum track_kind kind, size_t n)
{
	for (track_id i = 0; i < x->t.m->tracks.nr; i++)
		if (x->t.m->tracks.v[i].kind == kind && n-- == 0)
			return i;
	fail_msg("too few tracks");
	return TRACK_NONE;
}

static track_id thread(const struct scene *x, size_t n)
{
	return nth(x, TRACK_THREAD, n);
}

static track_id queue(const struct scene *x, size_t n)
{
	return nth(x, TRACK_QUEUE, n);
}

struct rule {
	const char *ranks, *local, *host, *process,
		*device; /* ranks: one digit, or two: 0–3 = "03" */
	double weight;
	int64_t visible[4];
	size_t visible_nr;
};

static void range(struct topology_range *r, const char *digits)
{
	r->first = digits[0] - '0';
	r->last = digits[1] ? digits[1] - '0' : r->first;
}

static void add_rule(struct topology *tp, const struct rule *r)
{
	struct topology_rule to;

	topology_rule_init(&to);
	if (r->ranks) {
		VEC_PUSH(&to.ranks, (struct topology_range){ 0, 0 });
		range(to.ranks.v, r->ranks);
	}
	if (r->local) {
		VEC_PUSH(&to.local_ranks, (struct topology_range){ 0, 0 });
		range(to.local_ranks.v, r->local);
	}
	if (r->host)
		strvec_push(&to.hosts, r->host);
	if (r->process)
		strvec_push(&to.processes, r->process);
	if (r->device)
		strvec_push(&to.devices, r->device);
	for (size_t i = 0; i < r->visible_nr; i++)
		VEC_PUSH(&to.visible, r->visible[i]);
	to.weight = r->weight > 0 ? r->weight : 1;
	to.where = xstrdup("file:1");
	topology_add_rule(tp, &to);
}

static void add_counter(struct topology *tp, const char *device, const char *a, const char *b)
{
	struct topology_counter c = { .device = xstrdup(device), .measures = STRVEC_INIT };

	strvec_pushl(&c.measures, a, b, NULL);
	c.where = xstrdup("file:9");
	topology_add_counter(tp, &c);
}

static bool sees(const struct topology *tp, const struct scene *x, size_t n, series_id s)
{
	struct counter_info ci = counter_info(x->t.m, s);

	return topology_sees(tp, x->t.m, thread(x, n), s, ci.device);
}

static bool runs_on(const struct topology *tp, const struct scene *x, size_t n, series_id s)
{
	struct counter_info ci = counter_info(x->t.m, s);

	return topology_runs_on(tp, x->t.m, queue(x, n), s, ci.device);
}

/* "1101": which of the threads see the series. */
#define assert_seen(x, s, want) assert_seen_by((x), (x)->tp, (s), (want), __LINE__)
static void assert_seen_by(const struct scene *x, const struct topology *tp, series_id s,
			   const char *want, int line)
{
	char got[16] = "";

	for (size_t i = 0; want[i]; i++)
		got[i] = sees(tp, x, i, s) ? '1' : '0';
	if (strcmp(got, want) != 0)
		fail_msg("line %d: series %u is seen by %s, not %s", line, s, got, want);
}

static void assert_device(const struct scene *x, size_t n, const char *want)
{
	assert_string_equal(topology_queue_device(x->tp, x->t.m, queue(x, n)), want);
}

static enum topology_why why_sees(const struct scene *x, size_t n, series_id s)
{
	return topology_why_sees(x->tp, x->t.m, thread(x, n), s);
}

static enum topology_why why_runs_on(const struct scene *x, size_t n, series_id s)
{
	return topology_why_runs_on(x->tp, x->t.m, queue(x, n), s);
}

/* ---- a file ---- */

#define NODE1(n) "rank " #n "/1 host=node1.example: main 0-10\n"

TEST(rules_name_who_shares)
{
	enum { GPU0, GPU1, GPU2, NODE };
	CLEANUP(scene_release)
	struct scene x = scene_new(NODE1(0) NODE1(1) NODE1(2) NODE1(3) COUNTER(JOULES(0)) COUNTER(
		JOULES(1)) COUNTER(JOULES(2)) COUNTER("craypm:::energy"));
	const struct model *m = x.t.m;

	add_rule(x.tp, &(struct rule){ .ranks = "01", .device = "gpu0" });
	add_rule(x.tp, &(struct rule){ .ranks = "3", .host = "node1", .device = "gpu[01]" });
	add_rule(x.tp,
		 &(struct rule){ .process = "process 2", .device = "node1:gpu1", .weight = 3 });
	scene_resolve(&x);

	assert_int_equal(warned(m, W_TOPOLOGY), 0);
	assert_seen(&x, GPU0, "1101");
	assert_seen(&x, GPU1, "0011");
	assert_seen(&x, GPU2, "1111"); /* no rule speaks of it */
	assert_seen(&x, NODE, "1111");
	assert_seen_by(&x, NULL, GPU0, "1111", __LINE__);
	assert_int_equal(why_sees(&x, 0, GPU0), WHY_FILE);
	assert_int_equal(why_sees(&x, 0, GPU2), WHY_NODE);
	assert_near(topology_weight(x.tp, m, thread(&x, 2), GPU1), 3, 0);
	assert_near(topology_weight(x.tp, m, thread(&x, 3), GPU1), 1, 0);
	assert_near(topology_weight(x.tp, m, thread(&x, 2), GPU2), 1, 0);
	assert_near(topology_weight(NULL, m, thread(&x, 2), GPU1), 1, 0);
}

TEST(local_ranks_repeat_on_every_host)
{
	CLEANUP(scene_release)
	struct scene x = scene_new("rank 5/1 host=a: main 0-10\nrank 6/1 host=a: main 0-10\n"
				   "rank 7/1 host=b: main 0-10\nrank 8/1 host=b: main 0-10\n"
				   "series energy.gpu1 J cumulative device=gpu1 host=a:\n");

	file_add(&x, "series energy.gpu1 J cumulative device=gpu1 host=b:\n");
	add_rule(x.tp, &(struct rule){ .local = "1", .device = "gpu1" });
	scene_resolve(&x);

	assert_true(x.t.m->several_hosts);
	assert_seen(&x, 0, "0100");
	assert_seen(&x, 1, "0001");
}

/* The counter of an MI250X's even device measures both of its halves. */
TEST(a_counter_measures_two_devices)
{
	enum { GPU0 };
	CLEANUP(scene_release)
	struct scene x = scene_new(RANK(0) RANK(1) QUEUE(0, 1, "") QUEUE(1, 2, "") QUEUE(2, 3, "")
					   COUNTER(JOULES(0)));
	const struct model *m = x.t.m;
	struct energy_result r;
	struct energy_opts o = linear;

	add_counter(x.tp, "gpu0", "gpu0", "gpu1");
	add_rule(x.tp, &(struct rule){ .ranks = "1", .device = "gpu1" });
	scene_resolve(&x);

	assert_true(runs_on(x.tp, &x, 0, GPU0) && runs_on(x.tp, &x, 1, GPU0));
	assert_false(runs_on(x.tp, &x, 2, GPU0) || runs_on(NULL, &x, 1, GPU0));
	assert_int_equal(why_runs_on(&x, 0, GPU0), WHY_INDEX);
	assert_int_equal(why_runs_on(&x, 1, GPU0), WHY_FILE);
	assert_seen(&x, GPU0, "01"); /* gpu1 is named, and its counter is gpu0's */
	o.topology = x.tp;
	assert_int_equal(energy_attribute(m, GPU0, VIEW_DEVICE, &o, &r, NULL), 0);
	assert_near(r.exclusive_j[trace_find(m, queue(&x, 0), "gemm", 0)], 400, 1e-9);
	assert_near(r.exclusive_j[trace_find(m, queue(&x, 1), "gemm", 0)], 400, 1e-9);
	assert_near(r.unattributed_j, 200, 1e-9);
	energy_result_release(&r);
	assert_int_equal(energy_attribute(m, GPU0, VIEW_HOST, &o, &r, NULL), 0);
	assert_true(isnan(r.exclusive_j[trace_find(m, thread(&x, 0), "main", 0)]));
	assert_near(r.exclusive_j[trace_find(m, thread(&x, 1), "main", 0)], 1000, 1e-9);
	energy_result_release(&r);
}

/* Every rank calls its only device 0. */
TEST(a_rule_renumbers_devices)
{
	CLEANUP(scene_release)
	struct scene x = scene_new(RANK(0) QUEUE(0, 0, "owner=0") RANK(1) QUEUE(0, 1, "owner=1")
					   QUEUE(1, 9, "owner=0") COUNTER(JOULES(0))
						   COUNTER(JOULES(1)) COUNTER(JOULES(2)));

	add_rule(x.tp, &(struct rule){ .ranks = "0", .visible = { 2 }, .visible_nr = 1 });
	add_rule(x.tp, &(struct rule){ .ranks = "1", .visible = { 0 }, .visible_nr = 1 });
	scene_resolve(&x);

	assert_device(&x, 0, "gpu2");
	assert_device(&x, 1, "gpu0");
	assert_string_equal(topology_queue_device(NULL, x.t.m, queue(&x, 0)), "gpu0");
	assert_true(runs_on(x.tp, &x, 0, 2) && !runs_on(x.tp, &x, 0, 0));
	assert_seen(&x, 0, "01");
	assert_seen(&x, 2, "10");
	assert_seen(&x, 1, "10"); /* no rule speaks of it, a queue does */
	/* a device that the list does not have keeps its number, and that is said */
	assert_device(&x, 2, "gpu1");
	assert_int_equal(warned(x.t.m, W_TOPOLOGY), 1);
	assert_has(warning_text(x.t.m, W_TOPOLOGY), "'gpu1 queue 9' is on device 1");
}

TEST(what_names_nothing_is_told)
{
	CLEANUP(scene_release)
	struct scene x = scene_new("rank 0/1 host=node1: main 0-10\n" COUNTER(JOULES(0)));

	add_rule(x.tp, &(struct rule){ .ranks = "7", .device = "gpu0" });
	add_rule(x.tp, &(struct rule){ .host = "node1", .device = "gpu9" });
	add_rule(x.tp, &(struct rule){ .host = "node2", .visible = { 0, 4 }, .visible_nr = 2 });
	add_rule(x.tp, &(struct rule){ .process = "0", .device = "gpu*" });
	add_counter(x.tp, "gpu3", "gpu0", "gpu5");
	scene_resolve(&x);
	assert_int_equal(warned(x.t.m, W_TOPOLOGY), 6);
	assert_string_equal(warning_text(x.t.m, W_TOPOLOGY),
			    "file:1: the rule matches no process; "
			    "file:1: no counter and no queue has the device 'gpu9'; "
			    "file:1: the rule matches no process; "
			    "file:1: no counter and no queue has the device 'gpu4'; "
			    "file:9: no counter and no queue has the device 'gpu3'; "
			    "file:9: no counter and no queue has the device 'gpu5'");
}

/* ---- queues ---- */

#define FOUR_RANKS RANK(0) RANK(1) RANK(2) RANK(3)
#define FOUR_COUNTERS COUNTER(JOULES(0)) COUNTER(JOULES(1)) COUNTER(JOULES(2)) COUNTER(JOULES(3))

TEST(queues_tell_who_uses_a_device)
{
	CLEANUP(scene_release)
	struct scene x = scene_new(FOUR_RANKS FOUR_COUNTERS QUEUE(0, 0, "owner=0")
					   QUEUE(0, 1, "owner=1") QUEUE(1, 2, "owner=2")
						   QUEUE(2, 3, "owner=2") QUEUE(1, 4, "owner=3"));

	scene_resolve(&x);
	assert_seen(&x, 0, "1100");
	assert_seen(&x, 1, "0011");
	assert_seen(&x, 2, "0010");
	assert_seen(&x, 3, "1111"); /* of no known process */
	assert_int_equal(why_sees(&x, 0, 0), WHY_QUEUES);
	assert_int_equal(why_sees(&x, 0, 3), WHY_NODE);
}

/* Also when they are not asked. */
TEST(queues_tell_nothing_when_one_process_has_none)
{
	for (int all = 0; all < 2; all++) {
		CLEANUP(scene_release)
		struct scene x = scene_new(FOUR_RANKS FOUR_COUNTERS QUEUE(0, 0, "owner=0")
						   QUEUE(1, 1, "owner=1") QUEUE(2, 2, "owner=2"));

		if (all) {
			trace_add(&x.t, QUEUE(3, 3, "owner=3"));
			topology_discover(x.tp, false);
		}
		scene_resolve(&x);
		for (series_id s = 0; s < (all ? 1 : 4); s++)
			assert_seen(&x, s, "1111");
	}
}

/*
 * Rank 1 works on gpu1, whose counter stands still: its energy is in another counter. That its
 * power moves does not help: it is the energy that is shared out.
 */
TEST(queues_tell_nothing_where_a_device_is_not_measured)
{
	CLEANUP(scene_release)
	struct scene x =
		scene_new(RANK(0) QUEUE(0, 0, "owner=0") RANK(1) QUEUE(1, 1, "owner=1") COUNTER(
			JOULES(0)) "series " JOULES(1) " # cumulative: 0 0 5 nan 10 0\n"
						       "series rocm_smi:::power_average:device=1 # "
						       "gauge: 0 1e6 10 2e6\n");

	scene_resolve(&x);
	assert_seen(&x, 0, "11");
	assert_seen(&x, 1, "11");
}

/* Without an owner: the rank of the queue, or whose calls launched its work. */
TEST(owners_by_rank_and_by_launch)
{
	CLEANUP(scene_release)
	struct scene x = scene_new("rank 0/1: main 0-10 hipLaunchKernel#7 2-3\n" RANK(1) QUEUE(
		0, 1, "rank=1") "stream gpu1/2: gemm 1-9 axpy#7 4-5\n" COUNTER(JOULES(0))
					   COUNTER(JOULES(1)));

	scene_resolve(&x);
	assert_seen(&x, 0, "01");
	assert_seen(&x, 1, "10");
}

/* ---- variables of a run ---- */

/* Processes of one run on "node", queues of the first, and counters of gpu0 to gpu3. */
static struct scene topology_run(const char *queues, const struct topology_env *env,
				 bool driver_numbers)
{
	struct scene x = scene_new(FOUR_RANKS FOUR_COUNTERS);
	struct topology_env e = *env;

	trace_add(&x.t, queues);
	x.t.s->ops->current(x.t.s)->driver_numbers = driver_numbers;
	e.host = "node";
	e.end = 1;
	topology_add_env(x.tp, &e);
	scene_resolve(&x);
	return x;
}

#define TWO_QUEUES QUEUE(0, 0, "owner=0") QUEUE(1, 1, "owner=0")

/* "1010": which of the four counters the first process sees. */
static void assert_sees(const struct scene *x, const char *want, size_t row)
{
	for (series_id d = 0; d < 4; d++)
		if (sees(x->tp, x, 0, d) != (want[d] == '1'))
			ROW_FAIL(row, "gpu%u is seen, or not, against %s", d, want);
}

/* The physical devices of the queues on gpu0 and gpu1, and which counters are seen. */
TEST(variables_renumber_and_hide)
{
	static const struct {
		struct topology_env env;
		bool driver_numbers;
		const char *first, *second, *seen;
	} cases[] = {
		{ { 0 }, false, "gpu0", "gpu1", "1111" },
		{ { .hip = "2,3" }, false, "gpu2", "gpu3", "0011" },
		{ { .cuda = " 3, 0" }, false, "gpu3", "gpu0", "1001" },
		{ { .ordinal = "3,1" }, false, "gpu3", "gpu1", "0101" },
		{ { .hip = "2,0", .ordinal = "1" }, false, "gpu2", "gpu0", "1010" },
		{ { .hip = "", .ordinal = "1,2" }, false, "gpu1", "gpu2", "0110" },
		{ { .hip = "1,2", .cuda = "1,2" }, false, "gpu1", "gpu2", "0110" },
		/* one inside the other */
		{ { .rocr = "3,2,0", .hip = "2,0" }, false, "gpu0", "gpu3", "1001" },
		{ { .rocr = "3,2,0", .hip = "2,0" }, true, "gpu3", "gpu2", "1001" },
		{ { .rocr = "1,3" }, true, "gpu1", "gpu3", "0101" },
		/* a container numbers what it got in its own order */
		{ { .gpus = "3,1" }, false, "gpu1", "gpu3", "0101" },
		{ { .gpus = "1-3", .hip = "2,0" }, false, "gpu3", "gpu1", "0101" },
		{ { .gpus = "all", .rocr = "1,0" }, false, "gpu1", "gpu0", "1100" },
		/* what Slurm sets for all vendors: each runtime has its own reading */
		ROW({ .vendor = TOPOLOGY_NVIDIA, .rocr = "1,2", .cuda = "1,2" }, false, "gpu1",
		    "gpu2", "0110"),
		ROW({ .vendor = TOPOLOGY_NVIDIA, .hip = "3", .cuda = "1,0" }, false, "gpu1", "gpu0",
		    "1100"),
		ROW({ .vendor = TOPOLOGY_AMD, .rocr = "2,3", .hip = "1,0", .cuda = "0" }, false,
		    "gpu3", "gpu2", "0011"),
		{ { .rocr = "0,1", .cuda = "0,1" }, false, "gpu0", "gpu1", "1100" },
		/* the first index that there is not ends a list */
		{ { .rocr = "2,3", .hip = "1,0,7,1" }, false, "gpu3", "gpu2", "0011" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(scene_release)
		struct scene x = topology_run(TWO_QUEUES, &cases[i].env, cases[i].driver_numbers);

		for (size_t q = 0; q < 2; q++) {
			const char *want = q ? cases[i].second : cases[i].first;
			const char *got = topology_queue_device(x.tp, x.t.m, queue(&x, q));

			if (strcmp(got, want) != 0)
				ROW_FAIL(i, "queue %zu is on %s, not %s", q, got, want);
		}
		assert_sees(&x, cases[i].seen, i);
	}
}

TEST(lists_that_tell_nothing)
{
	static const struct topology_env cases[] =
		LIST({ .rocr = "GPU-4f2a,1" }, { .hip = "0,x" }, { .cuda = "MIG-1" },
		     { .rocr = "" }, { .cuda = "" }, { .hip = "1", .cuda = "2" }, { .hip = "1,1" },
		     { .gpus = "2-1" }, { .rocr = "1,2", .cuda = "1,2" },
		     { .vendor = TOPOLOGY_AMD, .rocr = "2,3", .cuda = "2,3" },
		     { .gpus = "0-99999" }, { .hip = "99999999999999999999" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(scene_release) struct scene x = topology_run(TWO_QUEUES, &cases[i], false);

		if (warned(x.t.m, W_VISIBLE_DEVICES) != 1)
			ROW_FAIL(i, "no warning, or several");
		assert_sees(&x, "1111", i);
	}
}

/* A trace with devices that the list does not have has physical numbers already. */
TEST(numbers_beyond_the_list)
{
	CLEANUP(scene_release)
	struct scene x = topology_run(QUEUE(2, 0, "owner=0") QUEUE(3, 1, "owner=0"),
				      &(struct topology_env){ .hip = "2,3" }, false);

	assert_device(&x, 0, "gpu2");
	assert_int_equal(why_runs_on(&x, 0, 2), WHY_INDEX);
	assert_int_equal(warned(x.t.m, W_VISIBLE_DEVICES), 1);
	assert_false(sees(x.tp, &x, 0, 0));
	assert_true(sees(x.tp, &x, 0, 2));
	assert_int_equal(why_sees(&x, 0, 2), WHY_VISIBLE);
}

/* No device, the inputs of another run, another host. */
TEST(variables_of_another_run)
{
	static const struct topology_env others[] = {
		{ .host = "node", .first = 1, .end = 2, .hip = "2" },
		{ .host = "x", .first = 0, .end = 1, .hip = "2" },
	};
	CLEANUP(scene_release)
	struct scene none = topology_run("", &(struct topology_env){ .hip = "-1" }, false);

	assert_sees(&none, "0000", 0);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		CLEANUP(scene_release) struct scene x = scene_new(FOUR_RANKS FOUR_COUNTERS);

		topology_add_env(x.tp, &others[i]);
		scene_resolve(&x);
		assert_seen(&x, 0, "1");
	}
}

/* ---- addresses ---- */

#define TWO_ADDRESSES \
	RANK(0) QUEUE(0, 0, "owner=0 pci=0:41:0") RANK(1) QUEUE(0, 1, "owner=1 pci=0:3:0")

TEST(addresses_join_queues_and_samples)
{
	CLEANUP(scene_release)
	struct scene x =
		scene_new(TWO_ADDRESSES
			  "series energy.gpu0 J cumulative device=gpu0 pci=0:3:0: 0 0 10 1000\n"
			  "series energy.gpu1 J cumulative device=gpu1 pci=0:41:0: 0 0 10 1000\n");

	scene_resolve(&x);
	assert_device(&x, 0, "gpu1");
	assert_device(&x, 1, "gpu0");
	assert_int_equal(why_runs_on(&x, 1, 0), WHY_PCI);
	assert_seen(&x, 0, "01");
	assert_seen(&x, 1, "10");
	assert_int_equal(warned(x.t.m, W_VISIBLE_DEVICES), 0);
}

/* Both call their device 0, the addresses differ, and neither device was sampled. */
TEST(numbers_of_ones_own)
{
	CLEANUP(scene_release) struct scene x = scene_new(TWO_ADDRESSES COUNTER(JOULES(0)));

	scene_resolve(&x);
	assert_int_equal(warned(x.t.m, W_VISIBLE_DEVICES), 1);
	assert_seen(&x, 0, "11");
	assert_int_equal(why_sees(&x, 0, 0), WHY_NODE);
}

/* ---- files of ranks that name no host ---- */

#define LONE_RANK(n) "rank " #n "/1 host=: main 0-10\n"
#define LONE_QUEUE(n, device) "stream gpu" #device "/" #n " rank=" #n ": gemm 1-9\n"

/* Each file counts device 0, which is the rank's own. */
TEST(files_of_ranks_count_for_themselves)
{
	CLEANUP(scene_release)
	struct scene x = scene_new(LONE_RANK(0) LONE_QUEUE(0, 0) COUNTER(JOULES(0)));

	file_add(&x, LONE_RANK(1) LONE_QUEUE(1, 0) COUNTER(JOULES(0)) COUNTER("craypm:::energy"));
	file_add(&x, LONE_RANK(2) LONE_QUEUE(2, 0));
	file_add(&x, COUNTER(JOULES(0))); /* of no rank: it may be anyone's */
	scene_resolve(&x);

	assert_true(x.t.m->ranks_apart);
	assert_seen(&x, 0, "100");
	assert_seen(&x, 1, "010");
	assert_seen(&x, 2, "010");
	assert_seen(&x, 3, "111");
	assert_seen_by(&x, NULL, 1, "010", __LINE__);
	for (size_t q = 0; q < 3; q++) {
		assert_int_equal(runs_on(x.tp, &x, q, 0), q == 0);
		assert_int_equal(runs_on(x.tp, &x, q, 1), q == 1);
		assert_int_equal(runs_on(NULL, &x, q, 1), q == 1);
		assert_true(runs_on(x.tp, &x, q, 3));
	}
	assert_int_equal(why_runs_on(&x, 1, 1), WHY_RANK);
	assert_int_equal(why_sees(&x, 1, 1), WHY_QUEUES);
	assert_int_equal(why_sees(&x, 1, 2), WHY_RANK);
	assert_int_equal(why_sees(&x, 1, 3), WHY_QUEUES);
}

/* Devices of different numbers may be of one node, which any of the files may have counted. */
TEST(ranks_with_different_devices_are_of_one_node)
{
	CLEANUP(scene_release)
	struct scene x = scene_new(LONE_RANK(0) LONE_QUEUE(0, 0) COUNTER(JOULES(0))
					   COUNTER(JOULES(1)) COUNTER("craypm:::energy"));

	file_add(&x, LONE_RANK(1) LONE_QUEUE(1, 1));
	scene_resolve(&x);
	assert_false(x.t.m->ranks_apart);
	assert_seen(&x, 0, "10");
	assert_seen(&x, 1, "01");
	assert_seen(&x, 2, "11");
	assert_true(runs_on(x.tp, &x, 1, 1));
}

/* Without devices counters of one name tell, and do not where the host is known. */
TEST(counters_of_ranks_without_devices)
{
	static const char *const ranks[][2] = { { LONE_RANK(0), LONE_RANK(1) },
						{ RANK(0), RANK(1) } };

	for (size_t i = 0; i < ARRAY_LEN(ranks); i++) {
		CLEANUP(scene_release) struct scene x = scene_new(ranks[i][0]);

		trace_add(&x.t, COUNTER("rapl:::PACKAGE_ENERGY:PACKAGE0"));
		file_add(&x, ranks[i][1]);
		trace_add(&x.t, COUNTER("rapl:::PACKAGE_ENERGY:PACKAGE0"));
		scene_resolve(&x);
		assert_int_equal(x.t.m->ranks_apart, i == 0);
		assert_seen(&x, 0, i == 0 ? "10" : "11");
		assert_seen(&x, 1, i == 0 ? "01" : "11");
	}
}

/* A user knows better: both ranks work on the device that the first one counted. */
TEST(a_rule_goes_beyond_the_file_of_a_rank)
{
	CLEANUP(scene_release)
	struct scene x = scene_new(LONE_RANK(0) LONE_QUEUE(0, 0) COUNTER(JOULES(0)));

	file_add(&x, LONE_RANK(1) LONE_QUEUE(1, 0) COUNTER(JOULES(0)));
	add_rule(x.tp, &(struct rule){ .ranks = "01",
				       .device = "rank0:gpu0",
				       .visible = { 0 },
				       .visible_nr = 1 });
	scene_resolve(&x);
	assert_int_equal(warned(x.t.m, W_TOPOLOGY), 0);
	assert_seen(&x, 0, "11");
	assert_true(runs_on(x.tp, &x, 0, 0) && runs_on(x.tp, &x, 1, 0));
}
