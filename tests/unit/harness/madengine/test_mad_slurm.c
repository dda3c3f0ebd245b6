/* madengine's section `slurm`, as settings of a campaign. */
#include "mad_int.h"
#include "mad_slurm.h"
#include "slurm_settings.h"
#include "test.h"

/* Settings of {"slurm": …, "distributed": …, "model": {as an entry has them}}; problems, notes,
 * joined. */
static char *settings_of(const char *json, bool lenient, struct slurm_settings *s)
{
	CLEANUP(strvec_release) struct strvec notes = STRVEC_INIT;
	struct problems p = PROBLEMS_INIT;
	const struct cfg_node *slurm, *entry;
	struct cfg c, to;
	struct err e = ERR_INIT;
	char *all;

	cfg_init(&c);
	if (cfg_parse_text(&c, json, strlen(json), "c.json", true, LAYER_FILE, &e) < 0)
		fail_msg("%s", e.msg);
	mad_tree_init(&to, LAYER_FILE);
	slurm = cfg_get(c.root, "slurm");
	entry = cfg_get(c.root, "model");
	if (entry)
		mad_slurm_config(cfg_get(entry, "slurm"), cfg_get(entry, "distributed"), lenient,
				 &to, &p, &notes);
	mad_slurm_config(slurm, cfg_get(c.root, "distributed"), lenient, &to, &p, &notes);
	if (!p.lines.nr)
		mad_slurm_defaults(&to, slurm, &notes);
	slurm_settings_read(cfg_get(to.root, "slurm"), s, &p);
	strvec_pushv(&p.lines, notes.v);
	all = strvec_join(&p.lines, "\n");
	problems_release(&p);
	cfg_release(&to);
	cfg_release(&c);
	return kept(all);
}

TEST(all_keys)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	const char *said = settings_of(
		"{\"slurm\": {\"partition\": \"mi300\", \"nodes\": \"2\", \"gpus_per_node\": 4, "
		"\"time\": \"1-02:00:00\", \"exclusive\": false, \"nodelist\": \"n[1-4,7]\", "
		"\"exclude\": [\"n9\", \"n8\"], \"constraint\": \"mi300x\", \"qos\": \"high\", "
		"\"account\": \"p7\", \"modules\": [\"rocm/6.2\"], \"mem\": \"64G\", "
		"\"mail_user\": \"me@here\", \"mail_type\": \"END\", "
		"\"network_interface\": \"ib0\", \"output_dir\": \"./out\", "
		"\"enable_node_check\": true}, "
		"\"distributed\": {\"launcher\": \"megatron-lm\", \"nnodes\": 2, "
		"\"nproc_per_node\": 4, \"port\": 29501}}",
		false, &s);

	assert_string_equal(said, "c.json:1: slurm.output_dir: has no effect\n"
				  "c.json:1: slurm.enable_node_check: has no effect");
	assert_string_equal(s.partition, "mi300");
	assert_string_equal(s.gpus_per_node, "4");
	assert_string_equal(s.nodelist.v[0], "n[1-4,7]");
	assert_true(s.exclude.nr == 2 && s.modules.nr == 1 && !s.exclusive && s.nodes == 2 &&
		    s.time_s == 93600 && s.nproc_per_node == 4 && s.master_port == 29501);
	assert_int_equal(s.launcher, SLURM_TORCHRUN);
	assert_string_equal(s.options.v[0], "--mail-user=me@here");
	assert_string_equal(s.options.v[1], "--mail-type=END");
	assert_string_equal(s.setup.v[0], "export NCCL_SOCKET_IFNAME=ib0 GLOO_SOCKET_IFNAME=ib0");
	assert_string_equal(s.mem, "64G");
}

TEST(its_defaults)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s, t;

	assert_string_equal(settings_of("{\"slurm\": {}}", false, &s),
			    "c.json:1: slurm.partition: amd-rccl, as in madengine\n"
			    "c.json:1: slurm.nodes: 1, as in madengine\n"
			    "c.json:1: slurm.gpus_per_node: 8, as in madengine\n"
			    "c.json:1: slurm.time: 24:00:00, as in madengine\n"
			    "c.json:1: slurm.exclusive: true, as in madengine");
	assert_true(s.nodes == 1 && s.exclusive && s.time_s == 86400 && s.pack == 1);
	assert_string_equal(s.partition, "amd-rccl");
	assert_string_equal(s.gpus_per_node, "8");
	/* nodes of the launcher; minutes, as Slurm means a number */
	settings_of("{\"slurm\": {\"time\": 90}, \"distributed\": {\"launcher\": \"vllm\", "
		    "\"nnodes\": 4}}",
		    false, &t);
	assert_true(t.nodes == 4 && t.time_s == 5400);
	assert_int_equal(t.launcher, SLURM_PLAIN);
}

/* The context's keys above the model's, and madengine's defaults below both. */
TEST(a_model_of_its_own)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	const char *said = settings_of(
		"{\"slurm\": {\"partition\": \"here\", \"gpus_per_node\": 0, "
		"\"exclusive\": false}, "
		"\"model\": {\"slurm\": {\"partition\": \"there\", \"time\": \"10:00\"}, "
		"\"distributed\": {\"launcher\": \"torchrun\", \"nnodes\": 2, "
		"\"nproc_per_node\": 4}}}",
		false, &s);

	assert_string_equal(said, "");
	assert_string_equal(s.partition, "here");
	assert_null(s.gpus_per_node);
	assert_true(s.time_s == 600 && s.nodes == 2 && !s.exclusive);
	assert_int_equal(s.launcher, SLURM_TORCHRUN);
	assert_int_equal(slurm_processes(&s), 4);
}

TEST(refused)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{ "{\"slurm\": 3}", "slurm: want a map" },
		{ "{\"slurm\": {\"partion\": \"x\"}}", "unknown key 'partion'; did you mean" },
		{ "{\"slurm\": {\"nodes\": \"two\"}}", "slurm.nodes: want a whole number" },
		{ "{\"slurm\": {\"nodes\": 0}}", "nodes: 0 is not between" },
		{ "{\"slurm\": {\"time\": \"2h\"}}", "slurm.time: want a time as Slurm writes it" },
		{ "{\"slurm\": {\"exclusive\": \"maybe\"}}",
		  "slurm.exclusive: want true or false" },
		{ "{\"slurm\": {\"gpus_per_node\": \"many\"}}", "slurm.gpus_per_node: want N" },
		{ "{\"slurm\": {\"network_interface\": \"ib0; rm -rf /\"}}",
		  "slurm.network_interface: want the name" },
		{ "{\"slurm\": {\"mail_user\": \"a\\nb\"}}", "control characters" },
		{ "{\"slurm\": {\"modules\": [\"$(id)\"]}}", "want a module's name" },
		{ "{\"slurm\": {\"nodes\": 2}, \"distributed\": {\"nnodes\": 3}}",
		  "distributed.nnodes: and slurm.nodes differ" },
		{ "{\"slurm\": {}, \"distributed\": {\"port\": \"x\"}}",
		  "distributed.port: want a whole number" },
		{ "{\"slurm\": {}, \"distributed\": []}", "distributed: want a map" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(slurm_settings_release) struct slurm_settings s;
		const char *got = settings_of(rows[i].json, false, &s);

		if (!strstr(got, rows[i].want) || strncmp(got, "c.json:1: ", 10) != 0)
			ROW_FAIL(i, "%s: '%s'", rows[i].json, got);
	}
}

TEST(lenient)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	const char *said =
		settings_of("{\"slurm\": {\"colour\": 1, \"partition\": \"x\"}}", true, &s);

	assert_has(said, "unknown key 'colour'");
	assert_string_equal(s.partition, "x");
}
