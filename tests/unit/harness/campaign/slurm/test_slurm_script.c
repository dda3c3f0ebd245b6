/* sbatch's words, the job script (run by bash, with a stand-in for srun), the environment. */
#include "slurm_script.h"
#include "test.h"

#include <signal.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/base/proc.h"

static char a1[] = "a-1.1", b1[] = "b-1.1", a2[] = "a-2.1", b2[] = "b-2.1";
static char *const packed[] = { a1, b1, a2, NULL };
static char *const alone[] = { b2, NULL };
static const struct sched_job two_jobs[] = { { packed, 0 }, { alone, 0 } };

static struct slurm_submission submission(const char *dir)
{
	return (struct slurm_submission){ .nonce = "x7",
					  .jobs = two_jobs,
					  .nr = 2,
					  .dir = dir,
					  .name = "demo",
					  .program = "/opt/pro frig",
					  .script = "/c/submit/x7.sh",
					  .array = true };
}

static char *words_of(const struct slurm_settings *s, const struct slurm_submission *sub)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

	slurm_sbatch_argv(s, sub, &argv);
	return kept(strvec_join(&argv, "|"));
}

TEST(plain_words)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	struct slurm_submission sub = submission("/c/100%");

	slurm_settings_init(&s);
	assert_string_equal(words_of(&s, &sub),
			    "sbatch|--parsable|--no-requeue|--export=ALL|--open-mode=append|"
			    "--job-name=pr-x7|--comment=profrig campaign demo|"
			    "--output=/c/100%%/logs/pr-x7_%a.out|--chdir=/c/100%|--array=0-1|"
			    "--nodes=1|--ntasks-per-node=1|/c/submit/x7.sh");
	sub.array = false;
	sub.nr = 1;
	assert_has(words_of(&s, &sub), "|--output=/c/100%%/logs/pr-x7.out|");
	assert_lacks(words_of(&s, &sub), "--array");
}

TEST(all_words)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	CLEANUP(strvec_release) struct strvec bad = STRVEC_INIT;
	struct slurm_submission sub = submission("/c");

	slurm_settings_init(&s);
	s.partition = xstrdup("gpu");
	s.account = xstrdup("p7");
	s.gpus_per_node = xstrdup("a100:4");
	s.mem = xstrdup("64G");
	s.time_s = 3605;
	s.nodes = 2;
	s.cpus = 8;
	s.exclusive = true;
	s.max_running = 3;
	strvec_push(&s.exclude, "n9");
	strvec_push(&s.nodelist, "n[1-4]");
	strvec_push(&s.options, "--nice");
	strvec_pushl(&bad, "n3", "n9", NULL);
	sub.exclude = &bad;
	assert_has(words_of(&s, &sub),
		   "|--array=0-1%3|--partition=gpu|--account=p7|--nodes=2|--ntasks-per-node=1|"
		   "--gpus-per-node=a100:4|--cpus-per-task=8|--mem=64G|--exclusive|--time=60:05|"
		   "--signal=B:USR1@60|--nodelist=n[1-4]|--exclude=n9,n3|--nice|/c/submit/x7.sh");
	/* the slots of mpirun */
	s.launcher = SLURM_MPIRUN;
	assert_has(words_of(&s, &sub), "|--ntasks-per-node=4|");
}

/* Jobs of an array have one limit: the longest one's. A short job is not told to end at once. */
TEST(time_of_jobs)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	struct sched_job jobs[] = { { alone, 30 }, { packed, 90 } };
	struct slurm_submission sub = submission("/c");

	slurm_settings_init(&s);
	s.time_s = 7200;
	sub.jobs = jobs;
	assert_has(words_of(&s, &sub), "|--time=1:30|");
	assert_lacks(words_of(&s, &sub), "--signal");
}

/* ---- the script, run ---- */

/* Writes dir/profrig, which notes its words and environment, and the script; runs it as Slurm. */
static char *script_run(const char *dir, const struct slurm_settings *s, const char *const *env,
			struct proc_exit *ret)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;
	CLEANUP(strvec_release) struct strvec vars = STRVEC_INIT, argv = STRVEC_INIT;
	CLEANUP(xfreep) char *fakes = fs_abs("tests/fakes/slurm");
	struct proc_opts o = PROC_OPTS_INIT;
	struct slurm_submission sub = submission(dir);
	struct err e = ERR_INIT;

	test_put(
		dir, "pro frig",
		"#!/bin/bash\n"
		"echo \"$PWD|$*|${NODE_RANK-}|${NNODES-}|${NPROC_PER_NODE-}|${MASTER_PORT-}|"
		"${LC_ALL-}|${MODULE-}|${SET-}${TMPDIR-}${XDG_RUNTIME_DIR-}\" >>\"$OLDPWD_OUT\"\n");
	assert_int_equal(chmod(in_dir(dir, "pro frig"), 0755), 0);
	sub.program = in_dir(dir, "pro frig");
	slurm_script_text(s, &sub, &text);
	test_put(dir, "job.sh", text.buf);
	test_put(dir, "out", "");
	strvec_pushf(&vars, "PATH=%s:/usr/bin:/bin", fakes);
	strvec_pushf(&vars, "FAKE_SLURM=%s", dir);
	strvec_pushf(&vars, "OLDPWD_OUT=%s/out", dir);
	for (; *env; env++)
		strvec_push(&vars, *env);
	strvec_pushl(&argv, "bash", in_dir(dir, "job.sh"), NULL);
	o.argv = argv.v;
	o.env = vars.v;
	if (proc_capture_opts(&o, 20000, 65536, &out, &out, ret, &e) < 0)
		fail_msg("%s", e.msg);
	if (ret->code != 0)
		return kept(strbuf_steal(&out));
	return kept(test_get(dir, "out"));
}

TEST_IN(script_of_one_node, dir)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	struct proc_exit e;
	static const char *const first[] = { "SLURM_ARRAY_TASK_ID=0", NULL },
				 *const second[] = { "SLURM_ARRAY_TASK_ID=1",
						     "LC_ALL=C",
						     "PROFRIG_LC_ALL=de_DE",
						     "TMPDIR=/nowhere",
						     "XDG_RUNTIME_DIR=/run/nowhere",
						     NULL },
				 *const third[] = { "SLURM_ARRAY_TASK_ID=2", NULL },
				 *const again[] = { "SLURM_ARRAY_TASK_ID=0",
						    "SLURM_RESTART_COUNT=1", NULL };

	slurm_settings_init(&s);
	strvec_push(&s.setup, "export SET='it is'");
	assert_string_equal(
		script_run(dir, &s, first, &e),
		textf("%s|campaign work %s --attempts a-1.1,b-1.1,a-2.1|||||||it is\n", dir, dir));
	assert_string_equal(
		script_run(dir, &s, second, &e),
		textf("%s|campaign work %s --attempts b-2.1|||||de_DE||it is\n", dir, dir));
	assert_has(script_run(dir, &s, third, &e), "no such task: 2");
	assert_int_equal(e.code, 70);
	/* given up, one task and all of them */
	test_put(dir, "submit/x7.1.stop", "");
	assert_string_equal(script_run(dir, &s, second, &e), "");
	assert_has(script_run(dir, &s, first, &e), "a-1.1");
	test_put(dir, "submit/x7.stop", "");
	assert_string_equal(script_run(dir, &s, first, &e), "");
	assert_int_equal(unlink(in_dir(dir, "submit/x7.stop")), 0);
	/* Slurm started it again, against our wish */
	assert_string_equal(script_run(dir, &s, again, &e), "");
	assert_int_equal(e.code, 0);
}

TEST_IN(script_with_modules, dir)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	struct proc_exit e;
	static const char *const env[] = {
		"SLURM_ARRAY_TASK_ID=1",
		"BASH_FUNC_module%%=() { export MODULE=\"${MODULE-}$*;\"; "
		"[ \"$2\" != none ]; }",
		NULL
	};

	slurm_settings_init(&s);
	strvec_pushl(&s.modules, "rocm/6.2", "gcc", NULL);
	assert_has(script_run(dir, &s, env, &e), "|load rocm/6.2;load gcc;|");
	strvec_push(&s.modules, "none");
	assert_has(script_run(dir, &s, env, &e), "profrig: module load none failed");
	assert_int_equal(e.code, 70);
}

static int line_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

TEST_IN(script_of_several_nodes, dir)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	struct proc_exit e;
	static const char *const env[] = { "SLURM_ARRAY_TASK_ID=0",
					   "SLURM_JOB_NUM_NODES=2",
					   "SLURM_JOB_ID=15007",
					   "SLURM_CPUS_PER_TASK=4",
					   "LC_ALL=C",
					   "PROFRIG_LC_ALL=C",
					   NULL };
	const char *out;

	slurm_settings_init(&s);
	s.nodes = 2;
	s.gpus_per_node = xstrdup("4");
	out = script_run(dir, &s, env, &e);
	strvec_split(&lines, out, "\n");
	assert_int_equal(lines.nr, 6);
	/* all nodes have done with an attempt before the next one begins */
	for (size_t i = 0; i < 3; i++) {
		qsort(lines.v + 2 * i, 2, sizeof(*lines.v), line_order);
		for (size_t k = 0; k < 2; k++)
			assert_string_equal(
				lines.v[2 * i + k],
				textf("%s|campaign work %s --attempts %s --node %zu --nodes "
				      "2|%zu|2|4|15007|C||",
				      dir, dir, packed[i], k, k));
	}
	assert_has(kept(test_get(dir, "calls")),
		   "srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --kill-on-bad-exit=1 "
		   "--cpus-per-task=4 bash -c");
	/* mpirun: once, where the script runs */
	s.launcher = SLURM_MPIRUN;
	s.master_port = 29500;
	assert_string_equal(
		script_run(dir, &s, env, &e),
		textf("%s|campaign work %s --attempts a-1.1,b-1.1,a-2.1|0|2|4|29500|C||\n", dir,
		      dir));
}

/* The signal before the limit reaches the running attempt, and no further attempt begins. */
TEST_IN(script_hands_signals_on, dir)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT, argv = STRVEC_INIT;
	CLEANUP(xfreep) char *fakes = fs_abs("tests/fakes/slurm"), *out = NULL;
	struct slurm_submission sub = submission(dir);
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit e;
	struct err err = ERR_INIT;
	pid_t pid;

	slurm_settings_init(&s);
	s.nodes = 2;
	sub.program = in_dir(dir, "work");
	test_put(dir, "work",
		 "#!/bin/bash\n"
		 "trap 'echo drained $5 $7 >>out; exit 0' USR1\n"
		 "echo began $5 $7 >>out\nfor i in {1..400}; do sleep 0.05; done\n");
	assert_int_equal(chmod(sub.program, 0755), 0);
	slurm_script_text(&s, &sub, &text);
	test_put(dir, "job.sh", text.buf);
	strvec_pushl(&argv, "bash", in_dir(dir, "job.sh"), NULL);
	strvec_pushf(&env, "PATH=%s:/usr/bin:/bin", fakes);
	strvec_pushf(&env, "FAKE_SLURM=%s", dir);
	strvec_pushl(&env, "SLURM_ARRAY_TASK_ID=0", "SLURM_JOB_NUM_NODES=2", "PROFRIG_LC_ALL=C",
		     NULL);
	o.argv = argv.v;
	o.env = env.v;
	assert_int_equal(proc_spawn(&o, &pid, &err), 0);
	for (int i = 0; i < 400; i++) {
		free(STEAL(out));
		if (fs_exists(in_dir(dir, "out")))
			out = test_get(dir, "out");
		if (out && strstr(out, "a-1.1 0\n") && strstr(out, "a-1.1 1\n"))
			break;
		usleep(20000);
	}
	assert_int_equal(kill(pid, SIGUSR1), 0);
	assert_int_equal(proc_wait(pid, 15000, &e, &err), 0);
	assert_int_equal(e.code, 0);
	free(STEAL(out));
	out = test_get(dir, "out");
	assert_has(out, "drained a-1.1 0\n", "drained a-1.1 1\n");
	assert_lacks(out, "b-1.1");
}

/* ---- environment ---- */

static char *environment_of(struct slurm_settings *s, char *const *from, bool jobs)
{
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT;

	slurm_environment(s, from, jobs, &env);
	return kept(strvec_join(&env, " "));
}

TEST(environment)
{
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	CLEANUP(strvec_release) struct strvec vars = STRVEC_INIT;
	char *const *from;

	strvec_pushl(&vars, "HOME=/h", "LC_ALL=de_DE.UTF-8", "SLURM_CONF=/c", "SLURM_JOB_ID=7",
		     "SQUEUE_FORMAT=%i", "SLURM_TIME_FORMAT=relative", "SBATCH_WAIT=1",
		     "SBATCH_ACCOUNT=p7", "SACCT_FORMAT=x", "HF_TOKEN=secret",
		     "AWS_SECRET_ACCESS_KEY=secret", "TOKENIZERS_PARALLELISM=0", NULL);
	from = vars.v;
	slurm_settings_init(&s);
	assert_string_equal(environment_of(&s, from, true),
			    "HOME=/h PROFRIG_LC_ALL=de_DE.UTF-8 SLURM_CONF=/c SBATCH_ACCOUNT=p7 "
			    "TOKENIZERS_PARALLELISM=0 LC_ALL=C");
	assert_has(environment_of(&s, from, false), "SLURM_TIME_FORMAT=%s", "LC_ALL=C");
	assert_lacks(environment_of(&s, from, false), "de_DE", "SBATCH", "SQUEUE", "relative");
	strvec_push(&s.export, "HF_TOKEN");
	assert_has(environment_of(&s, from, true), "HF_TOKEN=secret");
	assert_lacks(environment_of(&s, from, true), "AWS_SECRET");
}
