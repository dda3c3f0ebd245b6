/* Idle power: samplers alone before and after the workload, and every way in which that ends. */
#include "run_rig.h"

#include <math.h>

struct idle_rig {
	struct rig *g;
	const char *at; /* does `act` when a phase begins with this */
	void (*act)(struct idle_rig *ir);
	int sig;
	int64_t began_ns; /* when it did */
};

static void on_idle_phase(void *ctx, const char *phase)
{
	struct idle_rig *ir = ctx;

	strvec_push(&ir->g->phases, phase);
	if (!ir->act || strncmp(phase, ir->at, strlen(ir->at)) != 0)
		return;
	ir->began_ns = clock_monotonic_ns();
	ir->act(ir);
}

static void interrupt_it(struct idle_rig *ir)
{
	ir->g->interrupt = ir->sig;
}

/* The pre script has left the agent's pid. */
static void kill_agent(struct idle_rig *ir)
{
	assert_int_equal(kill(pid_in(ir->g, "agent"), SIGKILL), 0);
}

static struct idle_rig idle_rig(struct rig *g, double idle_s)
{
	struct idle_rig ir = { .g = g };

	g->conf.idle_s = idle_s;
	add_step(g, STEP_PRE, "pre-a", "echo $PPID >$PROFRIG_RUN_DIR/agent");
	add_step(g, STEP_WORKLOAD, "workload", "touch $PROFRIG_RUN_DIR/worked");
	add_step(g, STEP_POST, "post-a", "touch $PROFRIG_RUN_DIR/post");
	return ir;
}

static void idle_go(struct idle_rig *ir)
{
	ir->g->opts.events.phase = on_idle_phase;
	ir->g->opts.events.ctx = ir;
	ir->g->opts.events.output = NULL;
	rig_run(ir->g);
}

static bool is_there(const struct rig *g, const char *rel)
{
	CLEANUP(xfreep) char *path = fs_join(g->plan.run_dir, rel);

	return fs_exists(path);
}

static size_t windows(const struct rig *g)
{
	return json_array_size(json_object_get(g->doc, "idle"));
}

static int64_t at(const struct rig *g, size_t i, const char *when, const char *key)
{
	const json_t *w = json_array_get(json_object_get(g->doc, "idle"), i);

	assert_string_equal(str(w, "when"), when);
	return json_integer_value(json_object_get(w, key));
}

static double idle_seconds(const struct rig *g)
{
	return json_number_value(json_object_get(json_object_get(g->doc, "durations_s"), "idle"));
}

static int64_t step_ns(const struct rig *g, const char *name, const char *key)
{
	return json_integer_value(json_object_get(step_of(g, name), key));
}

static bool warned_of(const struct rig *g, const char *code)
{
	const json_t *w;
	size_t i;

	json_array_foreach(json_object_get(g->doc, "warnings"), i,
			   w) if (!strcmp(str(w, "code"), code)) return true;
	return false;
}

/* Where a mark first stands in a file of samples. */
static size_t mark_at(const char *rows, const char *name)
{
	CLEANUP(xfreep) char *line = xasprintf(" %s\n", name);
	const char *found = strstr(rows, line);

	if (!found)
		fail_msg("no mark '%s'", name);
	return (size_t)(found - rows);
}

RUN_TEST(around_the_workload)
{
	struct idle_rig ir = idle_rig(g, 0.4);
	json_t *clocks;
	int64_t before, after;

	add_sampler(g, "estimate");
	idle_go(&ir);
	ended_as(g, RUN_SUCCESS, 0, "");
	CLEANUP(xfreep) char *phases = strvec_shell(&g->phases);
	assert_string_equal(phases, "start pre 'idle 0.4 s before the workload' workload 'idle 0.4 "
				    "s after the workload' post collect");
	assert_int_equal(windows(g), 2);
	before = at(g, 0, "before", "end_ns") - at(g, 0, "before", "start_ns");
	after = at(g, 1, "after", "end_ns") - at(g, 1, "after", "start_ns");
	assert_true(before >= 400 * NS_PER_MS && after >= 400 * NS_PER_MS);
	assert_true(fabs(idle_seconds(g) - (double)(before + after) / 1e9) < 1e-9);
	/* nothing of the run but the samplers is in them */
	assert_true(step_ns(g, "pre-a", "ended_ns") <= at(g, 0, "before", "start_ns"));
	assert_true(at(g, 0, "before", "end_ns") <= step_ns(g, "workload", "started_ns"));
	assert_true(step_ns(g, "workload", "ended_ns") <= at(g, 1, "after", "start_ns"));
	assert_true(at(g, 1, "after", "end_ns") <= step_ns(g, "post-a", "started_ns"));
	clocks = json_object_get(g->doc, "clocks");
	assert_int_equal(json_array_size(clocks), 6);
	assert_string_equal(str(json_array_get(clocks, 1), "at"), "idle_start");
	assert_string_equal(str(json_array_get(clocks, 4), "at"), "idle_end");
	CLEANUP(xfreep) char *rows = read_below(g, "samples/cpu.csv");
	assert_true(mark_at(rows, "idle_start") < mark_at(rows, "idle_end"));
	assert_true(mark_at(rows, "idle_end") < mark_at(rows, "workload_start"));
	assert_cleared_away(g);
}

/* Where it is not asked for nothing is different. */
RUN_TEST(not_asked)
{
	struct idle_rig ir = idle_rig(g, 0);

	add_sampler(g, "estimate");
	idle_go(&ir);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_int_equal(windows(g), 0);
	assert_true(idle_seconds(g) == 0);
	assert_int_equal(json_array_size(json_object_get(g->doc, "clocks")), 4);
}

RUN_TEST(interrupted_before)
{
	struct idle_rig ir = idle_rig(g, 600);

	add_sampler(g, "estimate");
	ir.at = "idle", ir.act = interrupt_it, ir.sig = SIGINT;
	idle_go(&ir);
	ended_as(g, RUN_INTERRUPTED, 130, "interrupted by SIGINT");
	assert_string_equal(str(g->doc, "phase"), "idle");
	assert_false(is_there(g, "worked"));
	assert_true(is_there(g, "post"));
	assert_int_equal(windows(g), 1);
	assert_true(at(g, 0, "before", "end_ns") - ir.began_ns < 100 * NS_PER_S);
	assert_true(json_is_null(json_object_get(g->doc, "exit_code")));
	assert_cleared_away(g);
}

RUN_TEST(interrupted_after)
{
	struct idle_rig ir = idle_rig(g, 0.2);

	add_sampler(g, "estimate");
	ir.at = "idle 0.2 s after", ir.act = interrupt_it, ir.sig = SIGTERM;
	idle_go(&ir);
	ended_as(g, RUN_INTERRUPTED, 143, "interrupted by SIGTERM");
	assert_string_equal(str(g->doc, "phase"), "idle");
	assert_true(is_there(g, "worked") && is_there(g, "post"));
	assert_int_equal(json_integer_value(json_object_get(g->doc, "exit_code")), 0);
	assert_int_equal(windows(g), 2);
	assert_true(at(g, 1, "after", "end_ns") - at(g, 1, "after", "start_ns") < 200 * NS_PER_MS);
	assert_int_equal(g->interrupt, SIGTERM);
}

RUN_TEST(agent_dies)
{
	struct idle_rig ir = idle_rig(g, 600);

	add_sampler(g, "estimate");
	ir.at = "idle", ir.act = kill_agent;
	idle_go(&ir);
	ended_as(g, RUN_FAILED, 1, "while idle power was measured");
	assert_string_equal(str(g->doc, "phase"), "idle");
	assert_false(is_there(g, "worked"));
	assert_true(at(g, 0, "before", "end_ns") - ir.began_ns < 100 * NS_PER_S);
}

RUN_TEST(nothing_to_measure)
{
	struct idle_rig ir = idle_rig(g, 600);

	add_sampler(g, "procfs");
	idle_go(&ir);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_int_equal(windows(g), 0);
	assert_true(warned_of(g, W_IDLE_UNSAMPLED));
}

RUN_TEST(failed_workload)
{
	struct idle_rig ir = idle_rig(g, 0.1);

	add_sampler(g, "estimate");
	free(g->plan.steps.v[1].argv.v[2]);
	g->plan.steps.v[1].argv.v[2] = xstrdup("exit 3");
	idle_go(&ir);
	ended_as(g, RUN_FAILED, 1, "workload exited with status 3");
	assert_int_equal(windows(g), 1);
	assert_true(is_there(g, "post"));
}
