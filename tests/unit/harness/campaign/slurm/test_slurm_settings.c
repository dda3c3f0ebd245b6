/* The map `slurm:`: its keys, and what each of them refuses. */
#include "slurm_settings.h"
#include "test.h"

/* Problems of a map, joined; "" none. */
static char *settings_of(const char *yaml, struct slurm_settings *s)
{
	struct problems p = PROBLEMS_INIT;
	struct cfg c;
	struct err e = ERR_INIT;
	char *all;

	cfg_init(&c);
	if (cfg_parse_text(&c, yaml, strlen(yaml), "c.yaml", false, LAYER_FILE, &e) < 0)
		fail_msg("%s", e.msg);
	slurm_settings_read(c.root, s, &p);
	all = strvec_join(&p.lines, "\n");
	problems_release(&p);
	cfg_release(&c);
	return kept(all);
}

TEST(all_keys)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;

	assert_string_equal(
		settings_of("{partition: gpu, account: p7, qos: high, reservation: r, "
			    "constraint: 'a100&nvlink', nodes: 2, gpus_per_node: 'a100:4', "
			    "cpus: 8, mem: 64G, exclusive: true, time: 1-02:30:00, "
			    "nodelist: ['n[1-2]'], exclude: [n9], modules: [rocm/6.2], "
			    "setup: ['ulimit -c 0'], options: [--mail-user=me, --nice], "
			    "export: [HF_TOKEN], launcher: torchrun, master_port: 29500, pack: 6, "
			    "max_jobs: 20, max_running: 3, program: /opt/profrig, "
			    "command_timeout: 1m}",
			    &s),
		"");
	assert_string_equal(s.partition, "gpu");
	assert_string_equal(s.constraint, "a100&nvlink");
	assert_string_equal(s.setup.v[0], "ulimit -c 0");
	assert_string_equal(s.program, "/opt/profrig");
	assert_true(s.time_s == 95400 && s.command_timeout_s == 60 && s.exclusive);
	assert_true(s.nodes == 2 && s.cpus == 8 && s.pack == 6 && s.max_jobs == 20 &&
		    s.max_running == 3 && s.master_port == 29500);
	assert_int_equal(s.launcher, SLURM_TORCHRUN);
	assert_int_equal(slurm_processes(&s), 4);
	assert_int_equal(slurm_run_nodes(&s), 2);
	s.launcher = SLURM_MPIRUN;
	assert_int_equal(slurm_run_nodes(&s), 1);
}

TEST(defaults)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;

	slurm_settings_read(NULL, &s, NULL);
	assert_true(s.nodes == 1 && s.pack == 1 && s.max_jobs == 1000 && s.time_s == 0 &&
		    s.command_timeout_s == 30 && !s.partition && s.launcher == SLURM_PLAIN);
	assert_int_equal(slurm_processes(&s), 1);
}

TEST(refused)
{
	static const struct {
		const char *yaml, *want;
	} rows[] = {
		{ "{partion: x}", "unknown key 'partion'; did you mean 'partition'?" },
		{ "{nodes: 0}", "nodes: 0 is not between 1" },
		{ "{nodes: two}", "nodes: want a whole number" },
		{ "{time: 90}", "slurm.time: 90 has no unit: write 90s, 90m or 90h" },
		{ "{time: soon}", "slurm.time: want a time such as" },
		{ "{time: '1-2-3'}", "slurm.time: want a time such as" },
		{ "{time: 0s}", "slurm.time: want a time such as" },
		{ "{gpus: lots}", "slurm.gpus: want N or TYPE:N, not 'lots'" },
		{ "{gpus: '0'}", "slurm.gpus: want N or TYPE:N" },
		{ "{gpus: '2', gpus_per_node: '1'}", "and gpus_per_node, too" },
		{ "{mem: 64X}", "slurm.mem: want a size" },
		{ "{partition: '--uid=0'}", "slurm.partition: want a name" },
		{ "{partition: \"a\\nb\"}", "slurm.partition: want a name" },
		{ "{options: [--uid=0]}", "slurm.options[0]: '--uid=0': is given by profrig" },
		{ "{options: [--nice, -p]}", "slurm.options[1]: '-p': want --NAME" },
		{ "{options: [script.sh]}", "want --NAME or --NAME=VALUE" },
		{ "{options: [--requeue]}", "is given by profrig itself" },
		/* getopt_long takes abbreviations */
		{ "{options: [--requ]}", "is given by profrig itself" },
		{ "{options: [--wra=x]}", "is given by profrig itself" },
		{ "{options: [--arr=0-9]}", "is given by profrig itself" },
		{ "{options: [\"--a\\nb\"]}", "control characters" },
		{ "{options: ['--na me']}", "want --NAME or --NAME=VALUE" },
		{ "{modules: ['a; rm -rf /']}", "slurm.modules[0]: 'a; rm -rf /': want a module" },
		{ "{modules: [-x]}", "want a module's name" },
		{ "{setup: [\"a\\nb\"]}", "slurm.setup[0]" },
		{ "{nodelist: ['n1 n2']}", "want a node's name" },
		{ "{nodelist: [n1], exclude: [n1]}", "'n1' is in nodelist, too" },
		{ "{export: ['A=b']}", "slurm.export[0]: 'A=b': want a variable's name" },
		{ "{launcher: mpi}", "launcher: unknown 'mpi'" },
		{ "{program: profrig}", "slurm.program: want an absolute path" },
		{ "{pack: 0}", "pack: 0 is not between" },
		{ "{command_timeout: 0.1}", "command_timeout: 0.1 is not between" },
		{ "{master_port: 80}", "master_port: 80 is not between" },
		{ "{exclusive: yes please}", "exclusive: want true or false" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(slurm_settings_release) struct slurm_settings s;
		const char *got = settings_of(rows[i].yaml, &s);

		if (!strstr(got, rows[i].want) || strncmp(got, "c.yaml:1: ", 10) != 0)
			ROW_FAIL(i, "%s: '%s'", rows[i].yaml, got);
	}
}

TEST(no_map)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	struct problems p = PROBLEMS_INIT;
	struct cfg_node n = { .kind = CFG_STR, .s = "gpu", .file = "c.yaml", .line = 3 };

	slurm_settings_read(&n, &s, &p);
	assert_int_equal(p.lines.nr, 1);
	assert_string_equal(p.lines.v[0], "c.yaml:3: slurm: want a map");
	problems_release(&p);
}

TEST(times)
{
	static const struct {
		const char *text;
		double want;
	} rows[] = {
		{ "90", 5400 },        { "90:30", 5430 },
		{ "2:00:00", 7200 },   { "1-12", 129600 },
		{ "1-12:30", 131400 }, { "1-12:30:05", 131405 },
		{ "24:00:00", 86400 }, { "", -1 },
		{ "-1", -1 },          { "1-", -1 },
		{ "1:2:3:4", -1 },     { "a", -1 },
		{ "1::2", -1 },        { "9999999999", -1 },
		{ "999-00", -1 },      { "UNLIMITED", -1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double s = -1;
		int r = slurm_time_parse(rows[i].text, &s);

		if (s != rows[i].want || (r < 0) != (rows[i].want < 0))
			ROW_FAIL(i, "%s: %d %g", rows[i].text, r, s);
	}
}

/* Each key has a row that says what it is for; defaults of the table and of the code agree. */
TEST(table)
{
	for (const struct schema_key *k = slurm_schema; k->path; k++)
		assert_true(k->about && *k->about && strcmp(k->type, "any") != 0);
}
