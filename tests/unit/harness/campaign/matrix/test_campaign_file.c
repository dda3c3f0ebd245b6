/* Campaign files: what each key becomes, and what is wrong with others. */
#include "campaign_text.h"

#include "profrig/base/strbuf.h"

TEST(defaults)
{
	struct campaign_text t;

	campaign_text_read(&t, HEAD, NULL);
	assert_int_equal(t.r, 0);
	assert_string_equal(t.file.name, "x");
	assert_string_equal(t.file.path, "/nowhere/c.yaml");
	assert_string_equal(t.file.dir, "/nowhere");
	assert_int_equal(t.file.repeat, 5);
	assert_int_equal(t.file.order, ORDER_INTERLEAVED);
	assert_int_equal(t.file.seed, 1);
	assert_int_equal(t.file.retry.infrastructure, 3);
	assert_int_equal(t.file.retry.workload, 0);
	assert_string_equal(t.file.scheduler, "local");
	assert_true(t.file.analyze && !t.file.slots && !t.file.baseline && !t.file.gates.nr);
	assert_int_equal(t.file.retry.invalid, 2);
	assert_false(t.file.steady);
	assert_true(t.file.cooldown_s == 0 && t.file.budget_s == 0 && t.file.budget_runs == 0);
	assert_string_equal(cfg_text(t.file.run.root, "engine"), "host");
	assert_null(cfg_get(t.file.tree.root, "engine"));
	assert_int_equal(campaign_nodes(&t.file), 1);
	campaign_text_release(&t);
}

TEST(each_key)
{
	struct campaign_text t;

	campaign_text_read(
		&t,
		HEAD "axes: {env.A: [1, 2]}\nbaseline: {env.A: 1}\n"
		     "gate: [speed, {metric: performance, threshold: 2.5%}, "
		     "{metric: q, threshold: 0.1}]\nmetrics: a.b, c\nrepeat: 7\n"
		     "order: random\nseed: 9\ncooldown: 90s\nbudget: 2h\n"
		     "budget_runs: 12\nretry: {infrastructure: 1, invalid: 0, on: [exit, oom]}\n"
		     "slots: [{gpus: \"0\"}, {gpus: \"1\"}]\nanalyze: false\n",
		NULL);
	assert_string_equal(campaign_text_said(&t), "");
	assert_int_equal(t.file.repeat, 7);
	assert_int_equal(t.file.order, ORDER_RANDOM);
	assert_int_equal(t.file.gates.nr, 3);
	assert_string_equal(t.file.gates.v[0].metric, "speed");
	assert_true(t.file.gates.v[0].threshold == 0.05);
	assert_true(t.file.gates.v[1].threshold == 0.025);
	assert_true(t.file.gates.v[2].threshold == 0.1);
	assert_int_equal(t.file.metrics.nr, 2);
	assert_false(t.file.steady);
	assert_true(t.file.cooldown_s == 90 && t.file.budget_s == 7200);
	assert_int_equal(t.file.budget_runs, 12);
	assert_int_equal(t.file.retry.infrastructure, 1);
	assert_int_equal(t.file.retry.workload, 1);
	assert_int_equal(t.file.retry.invalid, 0);
	assert_int_equal(t.file.slots->nr, 2);
	assert_false(t.file.analyze);
	campaign_text_release(&t);
}

TEST(cool_downs_that_wait)
{
	static const struct {
		const char *text;
		double seconds, temperature_k, power, limit_s;
	} rows[] = {
		{ "{}", 0, 3, 0.05, 300 },
		{ "{seconds: 10, temperature: 2.5, power: 10%, limit: 1m}", 10, 2.5, 0.1, 60 },
		{ "{temperature: 4, power: 0.2}", 0, 4, 0.2, 300 },
		/* a pause that is longer than the usual limit */
		{ "{seconds: 10m, temperature: null, limit: null}", 600, 3, 0.05, 600 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct campaign_text t;

		campaign_text_read(&t, textf(HEAD "cooldown: %s\n", rows[i].text), NULL);
		if (t.r < 0 || !t.file.steady || t.file.cooldown_s != rows[i].seconds ||
		    t.file.steady_rule.temperature_k != rows[i].temperature_k ||
		    t.file.steady_rule.power != rows[i].power ||
		    t.file.steady_rule.limit_s != rows[i].limit_s)
			ROW_FAIL(i, "'%s' %g %g %g %g", campaign_text_said(&t), t.file.cooldown_s,
				 t.file.steady_rule.temperature_k, t.file.steady_rule.power,
				 t.file.steady_rule.limit_s);
		campaign_text_release(&t);
	}
}

TEST(files_that_are_extended_stand_below)
{
	struct campaign_text t;

	campaign_text_read(&t, "extends: [1.yaml, 2.yaml]\nname: top\nenv: {A: top}\n",
			   "name: one\nrepeat: 2\nseed: 3\nenv: {A: one, B: one, C: one}\n"
			   "models: [{name: m, command: [a]}]\n",
			   "extends: 3.yaml\nrepeat: 4\nenv: {B: two}\n",
			   "env: {B: three, D: three}\n", NULL);
	assert_string_equal(campaign_text_said(&t), "");
	assert_string_equal(t.file.name, "top");
	assert_int_equal(t.file.repeat, 4);
	assert_int_equal(t.file.seed, 3);
	assert_int_equal(t.file.sources.v.nr, 4);
	assert_string_equal(cfg_path(t.file.run.root, "env.A")->s, "top");
	assert_string_equal(cfg_path(t.file.run.root, "env.B")->s, "two");
	assert_string_equal(cfg_path(t.file.run.root, "env.C")->s, "one");
	assert_string_equal(cfg_path(t.file.run.root, "env.D")->s, "three");
	campaign_text_release(&t);
	campaign_text_read(&t, HEAD "extends: 1.yaml, 2.yaml\n", "repeat: 2\n", "seed: 8\n", NULL);
	assert_string_equal(campaign_text_said(&t), "");
	assert_int_equal(t.file.repeat, 2);
	assert_int_equal(t.file.seed, 8);
	campaign_text_release(&t);
}

TEST(files_that_extend_each_other)
{
	struct campaign_text t;

	campaign_text_read(&t, HEAD "extends: 1.yaml\n", "extends: c.yaml\n", NULL);
	assert_int_equal(t.r, -EINVAL);
	assert_has(campaign_text_said(&t), "extends goes round",
		   "/nowhere/c.yaml → /nowhere/1.yaml → /nowhere/c.yaml");
	campaign_text_release(&t);
	/* 2 to the 40th copies would be read */
	campaign_text_read(&t, HEAD "extends: [1.yaml, 1.yaml]\n", "extends: [2.yaml, 2.yaml]\n",
			   "extends: [3.yaml, 3.yaml]\n", "extends: [4.yaml, 4.yaml]\n",
			   "extends: [5.yaml, 5.yaml]\n", "extends: [6.yaml, 6.yaml]\n", "{}\n",
			   NULL);
	assert_int_equal(t.r, -EINVAL);
	assert_has(campaign_text_said(&t), "more than 32 files");
	campaign_text_release(&t);
}

TEST(a_file_without_a_copy)
{
	struct campaign_text t;

	campaign_text_read(&t, HEAD "extends: other.yaml\n", NULL);
	assert_int_equal(t.r, -EINVAL);
	assert_has(campaign_text_said(&t), "no copy of '/nowhere/other.yaml'");
	campaign_text_release(&t);
}

TEST(what_is_wrong_is_said)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "needs a name" },
		{ "name: x\n", "no model" },
		{ "name: [x]\n", "name: want a text" },
		{ "name: .x\nmodels: [a]\n", "name '.x'" },
		{ "name: a/b\nmodels: [a]\n", "name 'a/b'" },
		{ "name: x\nmodels: [[a]]\n", "a model is a name, a path, or a map" },
		{ "name: x\nmodels: [{command: [a]}]\n", "needs a name" },
		{ "name: x\nmodels: [a, b/a]\n", "two models are called 'a'" },
		{ "name: x\nmodels: [\"\"]\n", "a model is a name" },
		{ HEAD "repeats: 3\n", "unknown key 'repeats'; did you mean 'repeat'" },
		{ HEAD "repeat: 0\n", "not between 1 and 10000" },
		{ HEAD "repeat: 10001\n", "not between 1 and 10000" },
		{ HEAD "order: up\n", "order" },
		{ HEAD "axes: []\n", "'axes' wants a map" },
		{ HEAD "axes: {env.A: 1}\n", "wants a list of values" },
		{ HEAD "zip: {a: b}\n", "'zip' wants a list of lists" },
		{ HEAD "zip: [[a]]\n", "list of two axes or more" },
		{ HEAD "exclude: [7]\n", "an entry of 'exclude' is a map" },
		{ HEAD "include: {a: 1}\n", "'include' wants a list of maps" },
		{ HEAD "gate: [{metric: a}]\n", "a gate needs a baseline" },
		{ HEAD "baseline: {}\n", "'baseline' wants a map" },
		{ HEAD "baseline: {env.A: 1}\n", "which is no axis" },
		{ HEAD "axes: {env.A: [1]}\nbaseline: {env.A: 1}\ngate: [{metric: a, threshold: "
		       "-5%}]\n",
		  "threshold '-5%'" },
		{ HEAD "axes: {env.A: [1]}\nbaseline: {env.A: 1}\ngate: [{metric: a, threshold: "
		       "nan}]\n",
		  "threshold 'nan'" },
		{ HEAD "retry: {on: [exits]}\n", "retry.on 'exits'" },
		{ HEAD "slots: []\n", "'slots' wants a list" },
		{ HEAD "slots: [{}]\n", "a slot is a map" },
		{ HEAD "slots: [{gpus: \"0\"}]\nscheduler: slurm\n", "local scheduler" },
		{ HEAD "scheduler: pbs\n", "scheduler" },
		{ HEAD "slurm: 3\n", "slurm: want a map" },
		{ HEAD "vars: {a: [1]}\n", "vars.a: want a text" },
		{ HEAD "cooldown: soon\n", "cooldown: want a time" },
		{ HEAD "cooldown: [1]\n", "cooldown: want a map" },
		{ HEAD "cooldown: true\n", "cooldown: want a time" },
		{ HEAD "cooldown: {temperature: -1}\n", "cooldown.temperature" },
		{ HEAD "cooldown: {limit: 0}\n", "cooldown.limit" },
		{ HEAD "cooldown: {power: 0}\n", "cooldown.power" },
		{ HEAD "cooldown: {warmth: 3}\n", "unknown key 'warmth'" },
		{ HEAD "cooldown: {seconds: 10, limit: 9}\n", "limit is less" },
		{ HEAD "cooldown: {}\nslots: [{gpus: 0}, {gpus: 1}]\n", "other slots" },
		{ HEAD "cooldown: {}\nscheduler: slurm\n", "made by slurm" },
		{ HEAD "retry: {invalid: -1}\n", "retry.invalid" },
		{ HEAD "name: y\n", "is there already" },
		{ "name: \"x\n", "c.yaml:" },
		{ "[1, 2]\n", "c.yaml" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct campaign_text t;

		campaign_text_read(&t, rows[i].text, NULL);
		if (t.r == 0 || !strstr(campaign_text_said(&t), rows[i].want))
			ROW_FAIL(i, "%d '%s' lacks '%s'", t.r, campaign_text_said(&t),
				 rows[i].want);
		campaign_text_release(&t);
	}
}

TEST(limits)
{
	CLEANUP(strbuf_release)
	struct strbuf axes = STRBUF_INIT, values = STRBUF_INIT, slots = STRBUF_INIT;
	struct campaign_text t;

	strbuf_addstr(&axes, HEAD "axes:\n");
	for (int i = 0; i < 300; i++)
		strbuf_addf(&axes, "  env.V%d: [1]\n", i);
	campaign_text_read(&t, axes.buf, NULL);
	assert_has(campaign_text_said(&t), "more than 256 axes");
	campaign_text_release(&t);
	strbuf_addstr(&values, HEAD "axes: {env.A: [");
	for (int i = 0; i < 10001; i++)
		strbuf_addf(&values, "%d,", i);
	strbuf_addstr(&values, "]}\n");
	campaign_text_read(&t, values.buf, NULL);
	assert_has(campaign_text_said(&t), "axis 'env.A' has more than 10000 values");
	campaign_text_release(&t);
	strbuf_addstr(&slots, HEAD "slots: [");
	for (int i = 0; i < 257; i++)
		strbuf_addstr(&slots, "{gpus: \"0\"},");
	strbuf_addstr(&slots, "]\n");
	campaign_text_read(&t, slots.buf, NULL);
	assert_has(campaign_text_said(&t), "more than 256 slots");
	campaign_text_release(&t);
}

TEST(keys_of_a_slot)
{
	struct campaign_text t;
	struct cfg given;

	campaign_text_read(&t, HEAD "slots: [{gpus: \"0\", env: {S: a}}, {gpus: \"1\"}]\n", NULL);
	cfg_init(&given);
	campaign_slot_config(&t.file, 2, &given);
	assert_null(given.root);
	campaign_slot_config(&t.file, 0, &given);
	assert_string_equal(cfg_text(given.root, "gpus"), "0");
	assert_string_equal(cfg_path(given.root, "env.S")->s, "a");
	cfg_release(&given);
	campaign_text_release(&t);
}

#define RECORDED \
	"{name: m, recorded: {mad_model: true, configuration: {model: {name: m}, env: {A: " \
	"\"{var.n}\"}}, left_out: [env.T]}}"

TEST(a_recorded_model)
{
	struct campaign_text t;
	const struct campaign_model_entry *m;

	campaign_text_read(&t, "name: x\nmodels: [" RECORDED ", {name: n, command: [a]}]\n", NULL);
	assert_string_equal(campaign_text_said(&t), "");
	m = &t.file.models.v[0];
	assert_string_equal(m->label, "m");
	assert_true(m->recorded.mad_model && m->recorded.tree == m->recorded_tree);
	assert_ptr_equal(m->recorded.left_out, &m->left_out);
	assert_string_equal(m->left_out.v[0], "env.T");
	assert_string_equal(cfg_path(m->recorded.tree->root, "env.A")->s, "{var.n}");
	assert_int_equal(cfg_path(m->recorded.tree->root, "env.A")->layer, LAYER_MODEL);
	assert_null(t.file.models.v[1].recorded.tree);
	campaign_text_release(&t);
}

TEST(recorded_models_that_are_none)
{
	static const char *const rows[] = {
		"{name: m, recorded: 3}",
		"{name: m, recorded: {configuration: [a]}}",
		"{name: m, recorded: {left_out: []}}",
		"{name: m, recorded: {configuration: {}}, command: [a]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *text = xasprintf("name: x\nmodels: [%s]\n", rows[i]);
		struct campaign_text t;

		campaign_text_read(&t, text, NULL);
		if (t.r != -EINVAL ||
		    !strstr(campaign_text_said(&t), "'recorded' wants a configuration"))
			ROW_FAIL(i, "%s: '%s'", rows[i], campaign_text_said(&t));
		campaign_text_release(&t);
	}
}
