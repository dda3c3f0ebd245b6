#include "compare_test.h"

#include <math.h>
#include <sys/stat.h>

#include "profrig/compare/operands.h"

static struct compare_operand read_of(const char *word)
{
	struct compare_operand o = OPERAND_INIT;
	struct err err = ERR_INIT;

	if (operand_read(word, &o, &err) < 0)
		fail_msg("%s", err.msg);
	return o;
}

static void refused(const char *word, const char *why)
{
	struct compare_operand o = OPERAND_INIT;
	struct err err = ERR_INIT;

	assert_true(operand_read(word, &o, &err) < 0);
	assert_has(err.msg, why);
}

static void started_put(const char *dir, const char *name, int at)
{
	run_put(dir, name, textf("\"clocks\":[{\"realtime_ns\":%d}],", at), 1);
}

TEST_IN(runs_and_folders, dir)
{
	struct compare_operand o;

	started_put(dir, "runs/b", 1);
	started_put(dir, "runs/a", 2);
	test_put(dir, "runs/f/run.json", "{\"schema\":\"profrig.run/1\",\"status\":\"failed\"}");
	test_put(dir, "runs/odd/run.json", "{");
	test_put(dir, "runs/none/file", "");
	assert_int_equal(symlink("b", in_dir(dir, "runs/latest")), 0);
	assert_int_equal(symlink("b", in_dir(dir, "runs/another")), 0);
	o = read_of(in_dir(dir, "runs/b"));
	assert_int_equal(o.kind, OPERAND_RUN);
	assert_int_equal(o.sets.v[0].runs.nr, 1);
	operand_release(&o);
	o = read_of(in_dir(dir, "runs"));
	assert_int_equal(o.kind, OPERAND_FOLDER);
	assert_int_equal(o.sets.nr, 1);
	assert_int_equal(o.sets.v[0].runs.nr, 2);
	assert_string_equal(fs_base(o.sets.v[0].runs.v[0].dir), "b"); /* that began first */
	assert_int_equal(o.sets.v[0].failed.nr, 1);
	assert_has(o.sets.v[0].failed.v[0], "f: failed");
	assert_int_equal(o.problems.nr, 1);
	assert_has(o.problems.v[0], "odd/run.json:1");
	operand_release(&o);
	o = read_of(in_dir(dir, "runs/latest"));
	assert_int_equal(o.kind, OPERAND_RUN);
	operand_release(&o);
	refused(in_dir(dir, "nothing"), "nothing");
	refused(in_dir(dir, "runs/odd"), "run.json:1");
	refused(in_dir(dir, "runs:b"), "runs:b");
}

TEST_IN(other_kinds, dir)
{
	struct compare_operand o;

	test_put(dir, "perf.csv", "library,config,backend,device,calls\n");
	test_put(dir, "trace.json", "[]");
	test_put(dir, "an/analysis.json", "{\"schema\":\"profrig.analysis/1\"}");
	test_put(dir, "folder/x.json", "[]");
	test_put(dir, "ens/analysis.json", "{\"schema\":\"profrig.analysis/1\"}");
	test_put(dir, "ens/each/r1/analysis.json", "{\"schema\":\"profrig.analysis/1\"}");
	test_put(dir, "ens/each/r2/analysis.json", "{\"schema\":\"profrig.analysis/1\"}");
	test_put(dir, "ens/each/odd/file", "");
	o = read_of(in_dir(dir, "ens"));
	assert_int_equal(o.kind, OPERAND_ANALYSIS);
	assert_int_equal(o.sets.nr, 1);
	assert_int_equal(o.sets.v[0].runs.nr, 2);
	operand_release(&o);
	o = read_of(in_dir(dir, "perf.csv"));
	assert_int_equal(o.kind, OPERAND_LIBRARY);
	operand_release(&o);
	o = read_of(in_dir(dir, "trace.json"));
	assert_int_equal(o.kind, OPERAND_TRACE);
	assert_int_equal(o.sets.nr, 0);
	operand_release(&o);
	o = read_of(in_dir(dir, "an"));
	assert_int_equal(o.kind, OPERAND_ANALYSIS);
	assert_int_equal(o.sets.v[0].runs.nr, 1);
	operand_release(&o);
	o = read_of(in_dir(dir, "folder"));
	assert_int_equal(o.kind, OPERAND_TRACE);
	operand_release(&o);
}

#define PLAN \
	"{\"schema\":\"profrig.campaign/1\",\"name\":\"k\",\"repeat\":2,\"cells\":[" \
	"{\"id\":\"aa1111111111\",\"label\":\"T=1\",\"model\":\"mlp\",\"axes\":{\"env.T\":\"1\"," \
	"\"tools\":[]},\"is_baseline\":true,\"baseline\":null}," \
	"{\"id\":\"aa2222222222\",\"label\":\"T=2\",\"model\":\"mlp\",\"axes\":{\"env.T\":\"2\"," \
	"\"tools\":[\"perf\"]},\"is_baseline\":false,\"baseline\":\"aa1111111111\"}]," \
	"\"gate\":[{\"metric\":\"speed\",\"threshold\":\"10%\"},{\"metric\":\"loss\"}]}"

static void attempt_put(const char *dir, const char *run, int attempt, bool commit)
{
	run_put(dir, textf("k/runs/%s.%d", run, attempt),
		"\"labels\":{\"campaign\":\"k\",\"block\":\"1\"},", attempt);
	if (commit)
		test_put(dir, textf("k/results/%s", run), textf("%s.%d\n", run, attempt));
}

TEST_IN(campaigns, dir)
{
	struct compare_operand o;

	test_put(dir, "k/plan.json", PLAN);
	attempt_put(dir, "aa1111111111-1", 1, false);
	attempt_put(dir, "aa1111111111-1", 2, true);
	attempt_put(dir, "aa1111111111-2", 1, true);
	attempt_put(dir, "aa2222222222-1", 1, true);
	attempt_put(dir, "aa2222222222-3", 1, true); /* beyond the plan */
	attempt_put(dir, "bb3333333333-1", 1, true); /* of an older plan */
	o = read_of(in_dir(dir, "k"));
	assert_int_equal(o.kind, OPERAND_CAMPAIGN);
	assert_int_equal(o.sets.nr, 2);
	assert_int_equal(o.problems.nr, 0);
	assert_int_equal(o.sets.v[0].runs.nr, 2);
	assert_string_equal(fs_base(o.sets.v[0].runs.v[0].dir), "aa1111111111-1.2");
	assert_int_equal(o.sets.v[1].runs.nr, 1);
	assert_int_equal(o.sets.v[1].missing, 1);
	assert_string_equal(o.sets.v[1].baseline, "aa1111111111");
	assert_true(run_sets_blocked(&o.sets.v[0], &o.sets.v[1]));
	assert_true(run_sets_exempt(&o.sets.v[0], &o.sets.v[1]) & 1u << CONDITION_TOOLS);
	assert_false(run_sets_exempt(&o.sets.v[0], &o.sets.v[1]) & 1u << CONDITION_COMMAND);
	assert_int_equal(run_sets_exempt(&o.sets.v[0], &o.sets.v[0]), 0);
	assert_int_equal(o.gates.nr, 2);
	assert_true(o.thresholds.v[0] == 0.1 && isnan(o.thresholds.v[1]));
	operand_release(&o);
	for (size_t i = 0; i < 3; i++) {
		static const char *const words[] = { "aa22", "aa2222222222", "T=2" };

		o = read_of(textf("%s/k:%s", dir, words[i]));
		assert_int_equal(o.kind, OPERAND_CELL);
		assert_int_equal(o.sets.nr, 1);
		assert_string_equal(o.sets.v[0].cell, "aa2222222222");
		operand_release(&o);
	}
	refused(textf("%s/k:aa", dir), "several cells' ids begin so");
	refused(textf("%s/k:zz", dir), "no cell has this id or label");
	refused(textf("%s/k:", dir), "no cell has this id or label");
}

TEST_IN(odd_campaigns, dir)
{
	static const struct {
		const char *name, *text;
	} odd[] = LIST({ "aa1111111111-1", "../../elsewhere\n" }, { "aa1111111111-2", "" },
		       { "aa2222222222-1", "aa2222222222-2.1\n" },
		       { "aa2222222222-2", "aa2222222222-2.1/../../x\n" });
	struct compare_operand o;

	test_put(dir, "k/plan.json", PLAN);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		test_put(dir, textf("k/results/%s", odd[i].name), odd[i].text);
	test_put(dir, "k/results/nothing", "x");
	test_put(dir, "k/results/aa1111111111-x", "x");
	o = read_of(in_dir(dir, "k"));
	assert_int_equal(o.problems.nr, 4);
	assert_int_equal(o.sets.v[0].runs.nr + o.sets.v[1].runs.nr, 0);
	assert_int_equal(o.sets.v[0].missing, 2);
	operand_release(&o);
	test_put(dir, "k/results/aa1111111111-1", "aa1111111111-1.7");
	o = read_of(in_dir(dir, "k"));
	assert_int_equal(o.problems.nr, 4); /* one names a directory that there is not */
	operand_release(&o);
	test_put(dir, "k/plan.json", "{\"schema\":\"profrig.campaign/2\"}");
	refused(in_dir(dir, "k"), "schema 'profrig.campaign/2'");
	test_put(dir, "k/plan.json", "{\"schema\":\"profrig.campaign/1\",\"cells\":3}");
	refused(in_dir(dir, "k"), "no list of at most");
	test_put(dir, "k/plan.json", "{\"schema\":\"profrig.campaign/1\",");
	refused(in_dir(dir, "k"), "plan.json:1");
}
