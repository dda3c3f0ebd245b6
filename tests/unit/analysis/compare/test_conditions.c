#include "compare_test.h"

#include <math.h>
#include <sys/stat.h>

#include "profrig/base/sample_verdict.h"
#include "profrig/compare/conditions.h"

static struct conditions read_of(const char *dir)
{
	struct conditions c = CONDITIONS_INIT;
	struct err err = ERR_INIT;

	if (conditions_read(dir, &c, &err) < 0)
		fail_msg("%s", err.msg);
	return c;
}

#define HOST "\"host\":{\"hostname\":\"n1\",\"kernel\":\"6.1\",\"cpu\":\"Some CPU\",\"cores\":8},"
#define GPUS \
	"\"devices\":[{\"vendor\":\"amd\",\"name\":\"GPU X\",\"driver\":\"6.2\"}," \
	"{\"vendor\":\"amd\",\"name\":\"GPU X\",\"driver\":\"6.2\"}," \
	"{\"source\":\"amdgpu\",\"start\":{\"clock_max_hz\":2e9}}],"

TEST_IN(what_a_run_tells, dir)
{
	struct conditions c;

	run_put(dir, "r",
		HOST GPUS
		"\"model\":\"mlp\",\"command\":[\"./run.sh\",\"-n\",\"3\"],\"engine\":\"docker\","
		"\"image\":\"mlp:1\",\"image_digest\":\"sha256:1\","
		"\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}],"
		"\"versions\":{\"profrig\":\"0.1\"},\"clocks\":[{\"realtime_ns\":77}],"
		"\"labels\":{\"campaign\":\"k\",\"cell\":\"c1\",\"block\":\"4\","
		"\"dtype\":\"f16\",\"batch\":\"32\"},",
		1);
	c = read_of(in_dir(dir, "r"));
	assert_string_equal(c.of[CONDITION_DEVICE], "GPU X, GPU X");
	assert_string_equal(c.of[CONDITION_PROCESSOR], "Some CPU, 8 cores");
	assert_string_equal(c.of[CONDITION_DRIVER], "6.2");
	assert_string_equal(c.of[CONDITION_TOOLS], "a, b");
	assert_string_equal(c.of[CONDITION_COMMAND], "./run.sh -n 3");
	assert_string_equal(c.of[CONDITION_IMAGE], "sha256:1");
	assert_string_equal(c.of[CONDITION_PRECISION], "f16");
	assert_string_equal(c.of[CONDITION_BATCH], "32");
	assert_null(c.of[CONDITION_ITERATIONS]);
	assert_string_equal(c.campaign, "k");
	assert_string_equal(c.cell, "c1");
	assert_int_equal(c.block, 4);
	assert_int_equal(c.started_ns, 77);
	assert_true(c.clock_hz == 2e9 && c.ended_well && !c.partial);
	assert_string_equal(c.metrics.v[0], "speed");
	conditions_release(&c);

	run_put(dir, "plain", HOST "\"tools\":[],\"labels\":{\"block\":\"x\"},", 1);
	c = read_of(in_dir(dir, "plain"));
	assert_string_equal(c.of[CONDITION_DEVICE], "Some CPU, 8 cores");
	assert_null(c.of[CONDITION_PROCESSOR]);
	assert_string_equal(c.of[CONDITION_TOOLS], "none");
	assert_int_equal(c.block, SAMPLE_BLOCK_NONE);
	assert_true(isnan(c.clock_hz));
	conditions_release(&c);
}

TEST_IN(what_is_missing, dir)
{
	struct conditions c;
	struct err err = ERR_INIT;

	run_put(dir, "cut", "\"artifacts\":[{\"path\":\"a/t.json\",\"verdict\":\"damaged\"}],", 1);
	c = read_of(in_dir(dir, "cut"));
	assert_has(c.partial, "a/t.json is damaged");
	conditions_release(&c);
	test_put(
		dir, "trace/analysis.json",
		"{\"schema\":\"profrig.analysis/1\",\"inputs\":[{\"path\":\"x\",\"partial\":false},"
		"{\"path\":\"y\",\"partial\":true}]}");
	c = read_of(in_dir(dir, "trace"));
	assert_has(c.partial, "y was read in part");
	assert_true(c.ended_well);
	conditions_release(&c);
	test_put(dir, "failed/run.json",
		 "{\"schema\":\"profrig.run/1\",\"status\":\"failed\",\"metrics\":{},\"tools\":3,"
		 "\"labels\":[],\"host\":null,\"devices\":\"x\",\"clocks\":{},\"command\":{}}");
	c = read_of(in_dir(dir, "failed"));
	assert_false(c.ended_well);
	assert_null(c.of[CONDITION_TOOLS]);
	conditions_release(&c);
	assert_int_equal(conditions_read(in_dir(dir, "none"), &c, &err), -ENOENT);
	assert_int_equal(mkdir(in_dir(dir, "fifo"), 0700), 0);
	assert_int_equal(mkfifo(in_dir(dir, "fifo/run.json"), 0600), 0);
	assert_true(conditions_read(in_dir(dir, "fifo"), &c, &err) < 0);
}

/* ---- two sides ---- */

static struct comparable judged(struct conditions *a, struct conditions *b, uint32_t exempt)
{
	struct conditions *const va[] = { a }, *const vb[] = { b };
	struct comparable c = COMPARABLE_INIT;

	conditions_compare(&(struct condition_side){ "A", va, 1 },
			   &(struct condition_side){ "B", vb, 1 }, exempt, NULL, NULL, &c);
	return c;
}

TEST(each_condition)
{
	static const struct {
		enum condition which;
		bool hard;
	} rows[] = LIST({ CONDITION_DEVICE, true }, { CONDITION_TOOLS, true },
			{ CONDITION_PRECISION, true }, { CONDITION_BATCH, true },
			{ CONDITION_ITERATIONS, true }, { CONDITION_MODEL, false },
			{ CONDITION_COMMAND, false }, { CONDITION_IMAGE, false },
			{ CONDITION_DRIVER, false }, { CONDITION_KERNEL, false },
			{ CONDITION_NODE, false });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct conditions a = CONDITIONS_INIT, b = CONDITIONS_INIT;
		struct comparable c;

		a.clock_hz = b.clock_hz = NAN;
		a.of[rows[i].which] = (char *)"one";
		c = judged(&a, &b, 0); /* unknown differs from nothing */
		assert_true(c.reasons.nr == 0 && c.score == 1);
		comparable_release(&c);
		b.of[rows[i].which] = (char *)"two";
		c = judged(&a, &b, 0);
		assert_int_equal(c.reasons.nr, 1);
		assert_has(c.reasons.v[0], "one in A, two in B");
		if (c.hard != rows[i].hard || fabs(c.score - (rows[i].hard ? 0 : 0.9)) > 1e-12)
			ROW_FAIL(i, "hard %zu, score %g", c.hard, c.score);
		comparable_release(&c);
		c = judged(&a, &b, UINT32_C(1) << rows[i].which);
		assert_int_equal(c.reasons.nr, 0);
		comparable_release(&c);
		b.of[rows[i].which] = (char *)"one";
		c = judged(&a, &b, 0);
		assert_int_equal(c.reasons.nr, 0);
		comparable_release(&c);
	}
}

TEST(times_and_clocks)
{
	struct conditions a = CONDITIONS_INIT, b = CONDITIONS_INIT;
	struct comparable c;
	int64_t day = INT64_C(86400000000000);

	a.clock_hz = 2e9;
	b.clock_hz = 2.09e9;
	a.started_ns = 100 * day;
	b.started_ns = 106 * day;
	c = judged(&a, &b, 0);
	assert_int_equal(c.reasons.nr, 0);
	comparable_release(&c);
	b.clock_hz = 2.2e9;
	b.started_ns = 108 * day;
	c = judged(&a, &b, 0);
	assert_int_equal(c.reasons.nr, 2);
	assert_has(c.reasons.v[0], "2000 MHz in A, 2200 MHz in B");
	assert_has(c.reasons.v[1], "8 days lie between A and B");
	assert_true(fabs(c.score - 0.81) < 1e-12);
	comparable_release(&c);
	b.partial = (char *)"the rest";
	c = judged(&a, &b, 0);
	assert_true(c.score <= 0 && c.hard == 1);
	comparable_release(&c);
}

TEST(a_side_of_several_things)
{
	struct conditions a1 = CONDITIONS_INIT, a2 = CONDITIONS_INIT, b = CONDITIONS_INIT;
	struct conditions *const va[] = { &a1, &a2 }, *const vb[] = { &b };
	struct comparable c = COMPARABLE_INIT;

	a1.clock_hz = a2.clock_hz = b.clock_hz = NAN;
	a1.of[CONDITION_TOOLS] = b.of[CONDITION_TOOLS] = (char *)"none";
	a2.of[CONDITION_TOOLS] = (char *)"perf";
	a1.of[CONDITION_NODE] = b.of[CONDITION_NODE] = (char *)"n1";
	a2.of[CONDITION_NODE] = (char *)"n2";
	conditions_compare(&(struct condition_side){ "A", va, 2 },
			   &(struct condition_side){ "B", vb, 1 }, 0, NULL, NULL, &c);
	assert_int_equal(c.reasons.nr, 2);
	assert_has(c.reasons.v[0], "tools: runs of A differ among themselves: none and 1 more");
	assert_has(c.reasons.v[1], "node: n1 and 1 more in A, n1 in B");
	assert_int_equal(c.hard, 1);
	comparable_release(&c);
}

static bool only_speed(const void *ctx, const char *metric)
{
	return strcmp(metric, ctx) == 0;
}

TEST(how_a_metric_is_found)
{
	struct conditions a = CONDITIONS_INIT, b = CONDITIONS_INIT;
	struct conditions *const va[] = { &a }, *const vb[] = { &b };
	struct comparable c = COMPARABLE_INIT;

	a.clock_hz = b.clock_hz = NAN;
	strvec_pushl(&a.metrics, "speed", "loss", NULL);
	strvec_pushl(&a.defined, "workload last", "workload last", NULL);
	strvec_pushl(&b.metrics, "loss", "speed", NULL);
	strvec_pushl(&b.defined, "workload last", "workload median", NULL);
	conditions_compare(&(struct condition_side){ "A", va, 1 },
			   &(struct condition_side){ "B", vb, 1 }, 0, only_speed, "loss", &c);
	assert_int_equal(c.reasons.nr, 0);
	conditions_compare(&(struct condition_side){ "A", va, 1 },
			   &(struct condition_side){ "B", vb, 1 }, 0, only_speed, "speed", &c);
	assert_int_equal(c.hard, 1);
	assert_has(c.reasons.v[0], "workload last in A, workload median in B");
	comparable_release(&c);
	conditions_release(&a);
	conditions_release(&b);
}

/* A long text is shown where it differs. */
TEST(long_values)
{
	struct conditions a = CONDITIONS_INIT, b = CONDITIONS_INIT;
	struct comparable c;
	char one[300], two[300];

	memset(one, 'x', sizeof(one));
	one[299] = 0;
	memcpy(two, one, sizeof(two));
	one[200] = '1';
	two[200] = '2';
	a.clock_hz = b.clock_hz = NAN;
	a.of[CONDITION_COMMAND] = one;
	b.of[CONDITION_COMMAND] = two;
	c = judged(&a, &b, 0);
	assert_has(c.reasons.v[0], "…xxxxxxxxxxxx1xxx", "…xxxxxxxxxxxx2xxx");
	assert_true(strlen(c.reasons.v[0]) < 200);
	comparable_release(&c);
}

static void clock_run(struct conditions *c, double mhz, const char *source, uint32_t block,
		      const char *campaign)
{
	*c = (struct conditions)CONDITIONS_INIT;
	c->clock_hz = NAN;
	c->block = block;
	c->campaign = (char *)campaign;
	c->clock[0].mhz = mhz;
	c->clock[0].source = (char *)source;
}

#define PAIRS 3
/* Three blocks of each side, and what they say against each other. */
static void clocks_say(const double a[PAIRS], const double b[PAIRS], const char *source_b,
		       const char *campaign_b, uint32_t exempt, const char *want)
{
	struct conditions runs[2 * PAIRS], *va[PAIRS], *vb[PAIRS];
	struct comparable c = COMPARABLE_INIT;

	for (size_t i = 0; i < PAIRS; i++) {
		va[i] = &runs[i];
		vb[i] = &runs[PAIRS + i];
		clock_run(va[i], a[i], a[i] > 0 ? "cycles" : NULL, (uint32_t)i + 1, "k");
		clock_run(vb[i], b[i], b[i] > 0 ? source_b : NULL, (uint32_t)i + 1, campaign_b);
	}
	conditions_compare(&(struct condition_side){ "A", va, PAIRS },
			   &(struct condition_side){ "B", vb, PAIRS }, exempt, NULL, NULL, &c);
	assert_int_equal(c.reasons.nr, want ? 1 : 0);
	if (want) {
		assert_string_equal(c.reasons.v[0], want);
		assert_true(c.score == CONDITION_SOFT && !c.hard);
	}
	comparable_release(&c);
}

TEST(mean_clocks)
{
	static const double even[] = { 2000, 2010, 1990 }, near[] = { 2050, 2060, 2040 },
			    fast[] = { 2150, 2160, 2140 }, one[] = { 2000, 2150, 1990 },
			    two[] = { 1900, 2150, 1990 }, none[] = { 0, 0, 0 },
			    last[] = { 0, 0, 2200 };

	clocks_say(even, near, "cycles", "k", 0, NULL);
	clocks_say(even, fast, "cycles", "k", 0,
		   "clock of processors: 2000 MHz in A, 2150 MHz in B");
	clocks_say(fast, even, "cycles", "k", 0,
		   "clock of processors: 2150 MHz in A, 2000 MHz in B");
	clocks_say(even, one, "cycles", "k", 0,
		   "clock of processors: differs 7.0 % within block 2, 2010 to 2150 MHz");
	clocks_say(even, two, "cycles", "k", 0,
		   "clock of processors: differs up to 7.0 % within 2 blocks, in block 2 2010 to "
		   "2150 MHz");
	/* the axis that varies it */
	clocks_say(even, fast, "cycles", "k", conditions_exempt("vars.cpu_freq"), NULL);
	/* blocks of another campaign are others */
	clocks_say(even, one, "cycles", "other", 0, NULL);
	clocks_say(even, fast, "cycles", "other", 0,
		   "clock of processors: 2000 MHz in A, 2150 MHz in B");
	/* found in another way, or not at all */
	clocks_say(even, fast, "scaling_cur_freq", "k", 0, NULL);
	clocks_say(even, none, "cycles", "k", 0, NULL);
	clocks_say(none, even, "cycles", "k", 0, NULL);
	clocks_say(even, last, "cycles", "k", 0,
		   "clock of processors: 2000 MHz in A, 2200 MHz in B");
}

TEST_IN(clocks_of_a_run, dir)
{
	struct conditions c;

	test_put(dir, "r/run.json",
		 "{\"schema\":\"profrig.run/1\",\"status\":\"success\",\"metrics\":["
		 "{\"name\":\"clock_mhz\",\"value\":9,\"unit\":\"MHz\",\"source\":\"workload\"},"
		 "{\"name\":\"gpu_clock_mhz\",\"value\":1980,\"unit\":\"MHz\",\"source\":\"nvml\"},"
		 "{\"name\":\"clock_mhz\",\"value\":-1,\"unit\":\"MHz\",\"source\":\"cycles\"},"
		 "{\"name\":\"clock_mhz\",\"value\":2345.5,\"source\":\"cycles\"},"
		 "{\"name\":\"clock_mhz\",\"value\":7,\"source\":\"cycles\"}]}");
	c = read_of(in_dir(dir, "r"));
	assert_true(c.clock[0].mhz == 2345.5 && c.clock[1].mhz == 1980);
	assert_string_equal(c.clock[0].source, "cycles");
	assert_string_equal(c.clock[1].source, "nvml");
	conditions_release(&c);
}

TEST(what_axes_vary)
{
	assert_int_equal(conditions_exempt("env.GPU_CLOCK"), CONDITION_EXEMPT_CLOCKS);
	assert_true(conditions_exempt("gpus") & CONDITION_EXEMPT_CLOCKS);
	assert_int_equal(conditions_exempt("env.OMP_NUM_THREADS"), 0);
	assert_true(conditions_exempt("tools") & 1u << CONDITION_TOOLS);
	assert_true(conditions_exempt("tools[0].options.x") & 1u << CONDITION_TOOLS);
	assert_true(conditions_exempt("image") & 1u << CONDITION_IMAGE);
	assert_true(conditions_exempt("model.command") & 1u << CONDITION_COMMAND);
	assert_true(conditions_exempt("env.BATCH_SIZE") & 1u << CONDITION_BATCH);
	assert_false(conditions_exempt("env.TOOLS_OFF") & 1u << CONDITION_TOOLS);
}
