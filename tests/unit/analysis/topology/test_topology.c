/* Who shares which device: rules, variables, queues, addresses; small models with known answers. */
#include "energy_fixture.h"
#include "energy_spans.h"

#include "profrig/topology/topology.h"

#define JOULES(device) "rocm_smi:::energy_count:device=" #device

static const struct energy_opts linear = { .integration = INTEGRATE_LINEAR };

static uint64_t warned(const struct model *m, const char *code)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->warnings.nr; i++)
		n += strcmp(m->warnings.v[i].code, code) == 0 ? m->warnings.v[i].count : 0;
	return n;
}

static const char *warning(const struct model *m, const char *code)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, code) == 0)
			return m->warnings.v[i].text;
	fail_msg("no %s", code);
	return "";
}

/* 100 W for 10 s. */
static series_id counter(struct trace *t, const char *name)
{
	series_id s = trace_series(t, name, "#", SERIES_CUMULATIVE);

	trace_samples(t, s, 2, (const double[][2]){ { 0, 0 }, { 10, 1000e6 } });
	return s;
}

static track_id queue(struct trace *t, const char *device, int64_t key, track_id owner,
		      const char *pci)
{
	struct track_def d = TRACK_DEF_INIT;
	CLEANUP(xfreep) char *name = xasprintf("%s queue %d", device, (int)key);
	track_id id;

	d.kind = TRACK_QUEUE;
	d.device = device;
	d.key = (uint64_t)key;
	d.name = name;
	d.owner = owner;
	d.pci = pci;
	id = t->s->ops->track(t->s, &d);
	trace_work(t, id, "gemm", 1, 9);
	return id;
}

/* A process with a call over all 10 s. */
static track_id process(struct trace *t, const char *host, int64_t pid)
{
	track_id th = trace_thread(t, host, pid, 1);

	trace_call(t, th, "main", 0, 10);
	return th;
}

static track_id owner_of(const struct trace *t, track_id thread)
{
	return t->m->tracks.v[thread].parent;
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

static bool sees(const struct topology *tp, const struct model *m, track_id t, series_id s)
{
	struct counter_info ci = counter_info(m, s);

	return topology_sees(tp, m, t, s, ci.device);
}

static bool runs_on(const struct topology *tp, const struct model *m, track_id q, series_id s)
{
	struct counter_info ci = counter_info(m, s);

	return topology_runs_on(tp, m, q, s, ci.device);
}

/* "1101": who of the threads sees the series. */
static void assert_seen(const struct topology *tp, const struct model *m, series_id s,
			const track_id *threads, const char *want)
{
	char got[16] = "";

	for (size_t i = 0; want[i]; i++)
		got[i] = sees(tp, m, threads[i], s) ? '1' : '0';
	assert_string_equal(got, want);
}

#define LEAVE(t, tp) (topology_free(tp), model_free((t).m))

/* ---- a file ---- */

TEST(rules_name_who_shares)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	track_id p[4];
	series_id gpu0, gpu1, gpu2, node;

	for (int i = 0; i < 4; i++)
		p[i] = process(&t, "node1.example", i); /* the rank is the pid */
	gpu0 = counter(&t, JOULES(0));
	gpu1 = counter(&t, JOULES(1));
	gpu2 = counter(&t, JOULES(2));
	node = counter(&t, "craypm:::energy");
	trace_finish(&t);
	add_rule(tp, &(struct rule){ .ranks = "01", .device = "gpu0" });
	add_rule(tp, &(struct rule){ .ranks = "3", .host = "node1", .device = "gpu[01]" });
	add_rule(tp, &(struct rule){ .process = "process 2", .device = "node1:gpu1", .weight = 3 });
	topology_resolve(tp, t.m);

	assert_int_equal(warned(t.m, W_TOPOLOGY), 0);
	assert_seen(tp, t.m, gpu0, p, "1101");
	assert_seen(tp, t.m, gpu1, p, "0011");
	assert_seen(tp, t.m, gpu2, p, "1111"); /* no rule speaks of it */
	assert_seen(tp, t.m, node, p, "1111");
	assert_seen(NULL, t.m, gpu0, p, "1111");
	assert_int_equal(topology_why_sees(tp, t.m, p[0], gpu0), WHY_FILE);
	assert_int_equal(topology_why_sees(tp, t.m, p[0], gpu2), WHY_NODE);
	assert_near(topology_weight(tp, t.m, p[2], gpu1), 3, 0);
	assert_near(topology_weight(tp, t.m, p[3], gpu1), 1, 0);
	assert_near(topology_weight(tp, t.m, p[2], gpu2), 1, 0);
	assert_near(topology_weight(NULL, t.m, p[2], gpu1), 1, 0);
	LEAVE(t, tp);
}

TEST(local_ranks_repeat_on_every_host)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	struct series_def d = { .name = "energy.gpu1", .unit = "J", .kind = SERIES_CUMULATIVE };
	track_id p[4];
	series_id a, b;

	for (int i = 0; i < 4; i++)
		p[i] = process(&t, i < 2 ? "a" : "b", 5 + i);
	d.track = TRACK_NONE;
	d.device = "gpu1";
	d.host = "a";
	a = t.s->ops->series(t.s, &d);
	t.s->ops->input_end(t.s);
	t.s->ops->input(t.s, "of the other host", "test");
	t.s->ops->clock(t.s);
	d.host = "b";
	b = t.s->ops->series(t.s, &d);
	trace_finish(&t);
	add_rule(tp, &(struct rule){ .local = "1", .device = "gpu1" });
	topology_resolve(tp, t.m);

	assert_true(t.m->several_hosts);
	assert_seen(tp, t.m, a, p, "0100");
	assert_seen(tp, t.m, b, p, "0001");
	LEAVE(t, tp);
}

/* The counter of an MI250X's even device measures both of its halves. */
TEST(a_counter_measures_two_devices)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	track_id p[2], q0, q1, q2;
	series_id gpu0;
	struct energy_result r;
	struct energy_opts o = linear;

	p[0] = process(&t, "node", 0);
	p[1] = process(&t, "node", 1);
	q0 = queue(&t, "gpu0", 1, TRACK_NONE, NULL);
	q1 = queue(&t, "gpu1", 2, TRACK_NONE, NULL);
	q2 = queue(&t, "gpu2", 3, TRACK_NONE, NULL);
	gpu0 = counter(&t, JOULES(0));
	trace_finish(&t);
	add_counter(tp, "gpu0", "gpu0", "gpu1");
	add_rule(tp, &(struct rule){ .ranks = "1", .device = "gpu1" });
	topology_resolve(tp, t.m);

	assert_true(runs_on(tp, t.m, q0, gpu0) && runs_on(tp, t.m, q1, gpu0));
	assert_false(runs_on(tp, t.m, q2, gpu0) || runs_on(NULL, t.m, q1, gpu0));
	assert_int_equal(topology_why_runs_on(tp, t.m, q0, gpu0), WHY_INDEX);
	assert_int_equal(topology_why_runs_on(tp, t.m, q1, gpu0), WHY_FILE);
	assert_seen(tp, t.m, gpu0, p, "01"); /* gpu1 is named, and its counter is gpu0's */
	o.topology = tp;
	assert_int_equal(energy_attribute(t.m, gpu0, VIEW_DEVICE, &o, &r, NULL), 0);
	assert_near(r.exclusive_j[trace_find(t.m, q0, "gemm", 0)], 400, 1e-9);
	assert_near(r.exclusive_j[trace_find(t.m, q1, "gemm", 0)], 400, 1e-9);
	assert_near(r.unattributed_j, 200, 1e-9);
	energy_result_release(&r);
	assert_int_equal(energy_attribute(t.m, gpu0, VIEW_HOST, &o, &r, NULL), 0);
	assert_true(isnan(r.exclusive_j[trace_find(t.m, p[0], "main", 0)]));
	assert_near(r.exclusive_j[trace_find(t.m, p[1], "main", 0)], 1000, 1e-9);
	energy_result_release(&r);
	LEAVE(t, tp);
}

/* Every rank calls its only device 0. */
TEST(a_rule_renumbers_devices)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	track_id p[2], q[2], shared;
	series_id gpu[3];

	for (int i = 0; i < 2; i++) {
		p[i] = process(&t, "node", i);
		q[i] = queue(&t, "gpu0", i, owner_of(&t, p[i]), NULL);
	}
	shared = queue(&t, "gpu1", 9, owner_of(&t, p[0]), NULL);
	gpu[0] = counter(&t, JOULES(0));
	gpu[1] = counter(&t, JOULES(1));
	gpu[2] = counter(&t, JOULES(2));
	trace_finish(&t);
	add_rule(tp, &(struct rule){ .ranks = "0", .visible = { 2 }, .visible_nr = 1 });
	add_rule(tp, &(struct rule){ .ranks = "1", .visible = { 0 }, .visible_nr = 1 });
	topology_resolve(tp, t.m);

	assert_string_equal(topology_queue_device(tp, t.m, q[0]), "gpu2");
	assert_string_equal(topology_queue_device(tp, t.m, q[1]), "gpu0");
	assert_string_equal(topology_queue_device(NULL, t.m, q[0]), "gpu0");
	assert_true(runs_on(tp, t.m, q[0], gpu[2]) && !runs_on(tp, t.m, q[0], gpu[0]));
	assert_seen(tp, t.m, gpu[0], p, "01");
	assert_seen(tp, t.m, gpu[2], p, "10");
	assert_seen(tp, t.m, gpu[1], p, "10"); /* no rule speaks of it, a queue does */
	/* a device that the list does not have keeps its number, and that is said */
	assert_string_equal(topology_queue_device(tp, t.m, shared), "gpu1");
	assert_int_equal(warned(t.m, W_TOPOLOGY), 1);
	assert_non_null(strstr(warning(t.m, W_TOPOLOGY), "'gpu1 queue 9' is on device 1"));
	LEAVE(t, tp);
}

TEST(what_names_nothing_is_told)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();

	process(&t, "node1", 0);
	counter(&t, JOULES(0));
	trace_finish(&t);
	add_rule(tp, &(struct rule){ .ranks = "7", .device = "gpu0" });
	add_rule(tp, &(struct rule){ .host = "node1", .device = "gpu9" });
	add_rule(tp, &(struct rule){ .host = "node2", .visible = { 0, 4 }, .visible_nr = 2 });
	add_rule(tp, &(struct rule){ .process = "0", .device = "gpu*" });
	add_counter(tp, "gpu3", "gpu0", "gpu5");
	topology_resolve(tp, t.m);
	assert_int_equal(warned(t.m, W_TOPOLOGY), 6);
	assert_string_equal(warning(t.m, W_TOPOLOGY),
			    "file:1: the rule matches no process; "
			    "file:1: no counter and no queue has the device 'gpu9'; "
			    "file:1: the rule matches no process; "
			    "file:1: no counter and no queue has the device 'gpu4'; "
			    "file:9: no counter and no queue has the device 'gpu3'; "
			    "file:9: no counter and no queue has the device 'gpu5'");
	LEAVE(t, tp);
}

/* ---- queues ---- */

struct four {
	struct trace t;
	struct topology *tp;
	track_id p[4];
	series_id gpu[4];
};

/* Four ranks; rank i has a queue on each device of devices[i] ("02": gpu0 and gpu2). */
static struct four four(const char *const devices[4])
{
	static const char *const names[] = { JOULES(0), JOULES(1), JOULES(2), JOULES(3) };
	static const char *const ids[] = { "gpu0", "gpu1", "gpu2", "gpu3" };
	struct four f = { .t = trace_new(), .tp = topology_new() };
	int64_t key = 0;

	for (int i = 0; i < 4; i++) {
		f.p[i] = process(&f.t, "node", i);
		for (const char *d = devices[i]; d && *d; d++)
			queue(&f.t, ids[*d - '0'], key++, owner_of(&f.t, f.p[i]), NULL);
		f.gpu[i] = counter(&f.t, names[i]);
	}
	return f;
}

static void resolve(struct four *f)
{
	trace_finish(&f->t);
	topology_resolve(f->tp, f->t.m);
}

TEST(queues_tell_who_uses_a_device)
{
	struct four f = four((const char *const[]){ "0", "0", "12", "1" });

	resolve(&f);
	assert_seen(f.tp, f.t.m, f.gpu[0], f.p, "1100");
	assert_seen(f.tp, f.t.m, f.gpu[1], f.p, "0011");
	assert_seen(f.tp, f.t.m, f.gpu[2], f.p, "0010");
	assert_seen(f.tp, f.t.m, f.gpu[3], f.p, "1111"); /* of no known process */
	assert_int_equal(topology_why_sees(f.tp, f.t.m, f.p[0], f.gpu[0]), WHY_QUEUES);
	assert_int_equal(topology_why_sees(f.tp, f.t.m, f.p[0], f.gpu[3]), WHY_NODE);
	LEAVE(f.t, f.tp);
}

TEST(queues_tell_nothing_when_one_process_has_none)
{
	struct four f = four((const char *const[]){ "0", "1", "2", "" });

	resolve(&f);
	for (int d = 0; d < 4; d++)
		assert_seen(f.tp, f.t.m, f.gpu[d], f.p, "1111");
	LEAVE(f.t, f.tp);
	f = four((const char *const[]){ "0", "1", "2", "3" });
	topology_discover(f.tp, false);
	resolve(&f);
	assert_seen(f.tp, f.t.m, f.gpu[0], f.p, "1111");
	LEAVE(f.t, f.tp);
}

/* Rank 1 works on gpu1, whose counter stands still: its energy is in another counter. */
TEST(queues_tell_nothing_where_a_device_is_not_measured)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	track_id p[2];
	series_id gpu0, gpu1;

	for (int i = 0; i < 2; i++) {
		p[i] = process(&t, "node", i);
		queue(&t, i ? "gpu1" : "gpu0", i, owner_of(&t, p[i]), NULL);
	}
	gpu0 = counter(&t, JOULES(0));
	gpu1 = trace_series(&t, JOULES(1), "#", SERIES_CUMULATIVE);
	trace_samples(&t, gpu1, 3, (const double[][2]){ { 0, 0 }, { 5, NAN }, { 10, 0 } });
	/* that its power moves does not help: it is the energy that is shared out */
	trace_samples(&t, trace_series(&t, "rocm_smi:::power_average:device=1", "#", SERIES_GAUGE),
		      2, (const double[][2]){ { 0, 1e6 }, { 10, 2e6 } });
	trace_finish(&t);
	topology_resolve(tp, t.m);
	assert_seen(tp, t.m, gpu0, p, "11");
	assert_seen(tp, t.m, gpu1, p, "11");
	LEAVE(t, tp);
}

/* Without an owner: the rank of the queue, or whose calls launched its work. */
TEST(owners_by_rank_and_by_launch)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	struct track_def d = TRACK_DEF_INIT;
	struct span_def call = { .start_ns = ns(2), .end_ns = ns(3), .args = STR_NONE },
			work = { .start_ns = ns(4), .end_ns = ns(5), .args = STR_NONE };
	track_id p[2];
	series_id gpu0, gpu1;

	p[0] = process(&t, "node", 0);
	p[1] = process(&t, "node", 1);
	d.kind = TRACK_QUEUE;
	d.rank = 1;
	d.device = "gpu0";
	d.name = "of rank 1";
	d.key = 1;
	trace_work(&t, t.s->ops->track(t.s, &d), "gemm", 1, 9);
	work.track = queue(&t, "gpu1", 2, TRACK_NONE, NULL);
	call.track = p[0];
	call.name = sink_puts(t.s, "hipLaunchKernel");
	work.name = sink_puts(t.s, "axpy");
	work.kind = SPAN_KERNEL;
	call.correlation = work.correlation = 7;
	t.s->ops->span(t.s, &call);
	t.s->ops->span(t.s, &work);
	gpu0 = counter(&t, JOULES(0));
	gpu1 = counter(&t, JOULES(1));
	trace_finish(&t);
	topology_resolve(tp, t.m);
	assert_seen(tp, t.m, gpu0, p, "01");
	assert_seen(tp, t.m, gpu1, p, "10");
	LEAVE(t, tp);
}

/* ---- variables of a run ---- */

/* Processes of one run on "node"; the trace has a queue on each of `devices`. */
static struct four run(const char *devices, const struct topology_env *env, bool driver_numbers)
{
	struct four f = four((const char *const[]){ devices, NULL, NULL, NULL });
	struct topology_env e = *env;

	f.t.s->ops->current(f.t.s)->driver_numbers = driver_numbers;
	e.host = "node";
	e.end = 1;
	topology_add_env(f.tp, &e);
	resolve(&f);
	return f;
}

/* The physical devices of the queues on gpu0 and gpu1, and who of the counters is seen. */
static void assert_run(const struct topology_env *env, bool driver_numbers, const char *first,
		       const char *second, const char *seen)
{
	struct four f = run("01", env, driver_numbers);
	track_id q = 0;

	while (f.t.m->tracks.v[q].kind != TRACK_QUEUE)
		q++;
	assert_string_equal(topology_queue_device(f.tp, f.t.m, q), first);
	assert_string_equal(topology_queue_device(f.tp, f.t.m, q + 1), second);
	for (int d = 0; d < 4; d++)
		assert_int_equal(sees(f.tp, f.t.m, f.p[0], f.gpu[d]), seen[d] == '1');
	LEAVE(f.t, f.tp);
}

TEST(variables_renumber_and_hide)
{
	assert_run(&(struct topology_env){ 0 }, false, "gpu0", "gpu1", "1111");
	assert_run(&(struct topology_env){ .hip = "2,3" }, false, "gpu2", "gpu3", "0011");
	assert_run(&(struct topology_env){ .cuda = " 3, 0" }, false, "gpu3", "gpu0", "1001");
	assert_run(&(struct topology_env){ .ordinal = "3,1" }, false, "gpu3", "gpu1", "0101");
	assert_run(&(struct topology_env){ .hip = "2,0", .ordinal = "1" }, false, "gpu2", "gpu0",
		   "1010");
	assert_run(&(struct topology_env){ .hip = "", .ordinal = "1,2" }, false, "gpu1", "gpu2",
		   "0110");
	assert_run(&(struct topology_env){ .hip = "1,2", .cuda = "1,2" }, false, "gpu1", "gpu2",
		   "0110");
	/* one inside the other */
	assert_run(&(struct topology_env){ .rocr = "3,2,0", .hip = "2,0" }, false, "gpu0", "gpu3",
		   "1001");
	assert_run(&(struct topology_env){ .rocr = "3,2,0", .hip = "2,0" }, true, "gpu3", "gpu2",
		   "1001");
	assert_run(&(struct topology_env){ .rocr = "1,3" }, true, "gpu1", "gpu3", "0101");
	/* a container numbers what it got in its own order */
	assert_run(&(struct topology_env){ .gpus = "3,1" }, false, "gpu1", "gpu3", "0101");
	assert_run(&(struct topology_env){ .gpus = "1-3", .hip = "2,0" }, false, "gpu3", "gpu1",
		   "0101");
	assert_run(&(struct topology_env){ .gpus = "all", .rocr = "1,0" }, false, "gpu1", "gpu0",
		   "1100");
	/* what Slurm sets for all vendors: each runtime has its own reading */
	assert_run(
		&(struct topology_env){ .vendor = TOPOLOGY_NVIDIA, .rocr = "1,2", .cuda = "1,2" },
		false, "gpu1", "gpu2", "0110");
	assert_run(&(struct topology_env){ .vendor = TOPOLOGY_NVIDIA, .hip = "3", .cuda = "1,0" },
		   false, "gpu1", "gpu0", "1100");
	assert_run(
		&(struct topology_env){
			.vendor = TOPOLOGY_AMD, .rocr = "2,3", .hip = "1,0", .cuda = "0" },
		false, "gpu3", "gpu2", "0011");
	assert_run(&(struct topology_env){ .rocr = "0,1", .cuda = "0,1" }, false, "gpu0", "gpu1",
		   "1100");
	/* the first index that there is not ends a list */
	assert_run(&(struct topology_env){ .rocr = "2,3", .hip = "1,0,7,1" }, false, "gpu3", "gpu2",
		   "0011");
}

TEST(lists_that_tell_nothing)
{
	static const struct topology_env cases[] = {
		{ .rocr = "GPU-4f2a,1" },
		{ .hip = "0,x" },
		{ .cuda = "MIG-1" },
		{ .rocr = "" },
		{ .cuda = "" },
		{ .hip = "1", .cuda = "2" },
		{ .hip = "1,1" },
		{ .gpus = "2-1" },
		{ .rocr = "1,2", .cuda = "1,2" },
		{ .vendor = TOPOLOGY_AMD, .rocr = "2,3", .cuda = "2,3" },
		{ .gpus = "0-99999" },
		{ .hip = "99999999999999999999" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct four f = run("01", &cases[i], false);

		assert_int_equal(warned(f.t.m, W_VISIBLE_DEVICES), 1);
		for (int d = 0; d < 4; d++)
			assert_true(sees(f.tp, f.t.m, f.p[0], f.gpu[d]));
		LEAVE(f.t, f.tp);
	}
}

/* A trace with devices that the list does not have has physical numbers already. */
TEST(numbers_beyond_the_list)
{
	struct four f = run("23", &(struct topology_env){ .hip = "2,3" }, false);
	track_id q = 0;

	while (f.t.m->tracks.v[q].kind != TRACK_QUEUE)
		q++;
	assert_string_equal(topology_queue_device(f.tp, f.t.m, q), "gpu2");
	assert_int_equal(topology_why_runs_on(f.tp, f.t.m, q, f.gpu[2]), WHY_INDEX);
	assert_int_equal(warned(f.t.m, W_VISIBLE_DEVICES), 1);
	assert_false(sees(f.tp, f.t.m, f.p[0], f.gpu[0]));
	assert_true(sees(f.tp, f.t.m, f.p[0], f.gpu[2]));
	assert_int_equal(topology_why_sees(f.tp, f.t.m, f.p[0], f.gpu[2]), WHY_VISIBLE);
	LEAVE(f.t, f.tp);
}

/* No device, the inputs of another run, another host. */
TEST(variables_of_somebody_else)
{
	struct four f = run("", &(struct topology_env){ .hip = "-1" }, false);

	for (int d = 0; d < 4; d++)
		assert_false(sees(f.tp, f.t.m, f.p[0], f.gpu[d]));
	LEAVE(f.t, f.tp);
	for (int other_host = 0; other_host < 2; other_host++) {
		f = four((const char *const[]){ "", NULL, NULL, NULL });
		topology_add_env(f.tp, &(struct topology_env){ .host = other_host ? "x" : "node",
							       .first = other_host ? 0 : 1,
							       .end = other_host ? 1 : 2,
							       .hip = "2" });
		resolve(&f);
		assert_true(sees(f.tp, f.t.m, f.p[0], f.gpu[0]));
		LEAVE(f.t, f.tp);
	}
}

/* ---- addresses ---- */

static series_id sampled_at(struct trace *t, const char *name, const char *device, const char *pci)
{
	struct series_def d = { .name = name,
				.unit = "J",
				.device = device,
				.pci = pci,
				.kind = SERIES_CUMULATIVE,
				.track = TRACK_NONE };
	series_id s = t->s->ops->series(t->s, &d);

	trace_samples(t, s, 2, (const double[][2]){ { 0, 0 }, { 10, 1000 } });
	return s;
}

TEST(addresses_join_queues_and_samples)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	track_id p[2], q[2];
	series_id gpu0, gpu1;

	for (int i = 0; i < 2; i++) {
		p[i] = process(&t, "node", i);
		q[i] = queue(&t, "gpu0", i, owner_of(&t, p[i]), i ? "0:3:0" : "0:41:0");
	}
	gpu0 = sampled_at(&t, "energy.gpu0", "gpu0", "0:3:0");
	gpu1 = sampled_at(&t, "energy.gpu1", "gpu1", "0:41:0");
	trace_finish(&t);
	topology_resolve(tp, t.m);
	assert_string_equal(topology_queue_device(tp, t.m, q[0]), "gpu1");
	assert_string_equal(topology_queue_device(tp, t.m, q[1]), "gpu0");
	assert_int_equal(topology_why_runs_on(tp, t.m, q[1], gpu0), WHY_PCI);
	assert_seen(tp, t.m, gpu0, p, "01");
	assert_seen(tp, t.m, gpu1, p, "10");
	assert_int_equal(warned(t.m, W_VISIBLE_DEVICES), 0);
	LEAVE(t, tp);
}

/* Both call their device 0, the addresses say that it is not the same, and those were not sampled.
 * */
TEST(numbers_of_ones_own)
{
	struct trace t = trace_new();
	struct topology *tp = topology_new();
	track_id p[2];
	series_id gpu0;

	for (int i = 0; i < 2; i++) {
		p[i] = process(&t, "node", i);
		queue(&t, "gpu0", i, owner_of(&t, p[i]), i ? "0:3:0" : "0:41:0");
	}
	gpu0 = counter(&t, JOULES(0));
	trace_finish(&t);
	topology_resolve(tp, t.m);
	assert_int_equal(warned(t.m, W_VISIBLE_DEVICES), 1);
	assert_seen(tp, t.m, gpu0, p, "11");
	assert_int_equal(topology_why_sees(tp, t.m, p[0], gpu0), WHY_NODE);
	LEAVE(t, tp);
}
