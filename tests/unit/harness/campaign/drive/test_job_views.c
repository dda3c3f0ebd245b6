/* What the end of a job means for its attempts, and what jobs wait for. */
#include "job_views.h"
#include "test.h"

#define RUN "0123456789ab-1"
#define SUCCESS "{\"status\":\"success\"}"
#define RUNNING "{\"status\":\"running\"}"
#define INTERRUPTED "{\"status\":\"interrupted\",\"reason\":\"by SIGTERM\"}"
#define FAILED(step) \
	"{\"status\":\"failed\",\"reason\":\"so\",\"steps\":[{\"kind\":\"workload\"," step "}]}"
#define OF_SIGNAL(name) FAILED("\"signal\":\"" name "\"")
#define OF_EXIT(code) FAILED("\"exit_code\":" #code)

enum { ATTEMPTS = 3 };

static void attempts_make(struct driven a[ATTEMPTS])
{
	memset(a, 0, ATTEMPTS * sizeof(*a));
	for (uint32_t i = 0; i < ATTEMPTS; i++)
		attempt_name_make("0123456789ab", 1, i + 1, &a[i].name);
}

/* NULL: it has left nothing. */
static void records_put(const char *dir, const char *const json[ATTEMPTS])
{
	for (size_t i = 0; i < ATTEMPTS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "runs/" RUN ".%zu/run.json", i + 1);
		unlink(in_dir(dir, name));
		if (json[i])
			test_put(dir, name, json[i]);
	}
}

struct end {
	const char *json[ATTEMPTS];
	enum sched_state state;
	enum sched_class class;
	const char *word, *reason;
	/* "class kind[: reason]" of each; a reason that is not given is not looked at */
	const char *want[ATTEMPTS];
};

static const struct end ends[] = {
	/* its record decides, whatever Slurm says */
	ROW(LIST(SUCCESS, SUCCESS, SUCCESS), SCHED_ENDED, SCHED_INFRASTRUCTURE, "NODE_FAIL", "None",
	    LIST("ok ", "ok ", "ok ")),
	ROW(LIST(SUCCESS, OF_EXIT(3), SUCCESS), SCHED_ENDED, SCHED_OK, "COMPLETED", "None",
	    LIST("ok ", "workload exit: so", "ok ")),
	/* one was running, and none behind it has begun */
	ROW(LIST(SUCCESS, INTERRUPTED, NULL), SCHED_ENDED, SCHED_INFRASTRUCTURE, "PREEMPTED",
	    "None",
	    LIST("ok ", "infrastructure : 7_2: PREEMPTED",
		 "interrupted : 7_2: the job ended before it began")),
	ROW(LIST(RUNNING, NULL, NULL), SCHED_ENDED, SCHED_WORKLOAD, "TIMEOUT", "TimeLimit",
	    LIST("workload timeout: 7_2: TIMEOUT (TimeLimit)", "interrupted ", "interrupted ")),
	ROW(LIST(RUNNING, NULL, NULL), SCHED_ENDED, SCHED_WORKLOAD, "OUT_OF_MEMORY", "OutOfMemory",
	    LIST("workload oom: 7_2: OUT_OF_MEMORY (OutOfMemory)", "interrupted ", "interrupted ")),
	ROW(LIST(RUNNING, NULL, NULL), SCHED_ENDED, SCHED_WORKLOAD, "DEADLINE", "None",
	    LIST("workload timeout: 7_2: DEADLINE", "interrupted ", "interrupted ")),
	ROW(LIST(SUCCESS, NULL, NULL), SCHED_LOST, SCHED_INFRASTRUCTURE, "COMPLETED",
	    "left no record", LIST("ok ", "interrupted ", "interrupted ")),
	/* profrig's own death */
	ROW(LIST(RUNNING, NULL, NULL), SCHED_ENDED, SCHED_WORKLOAD, "FAILED", "NonZeroExitCode",
	    LIST("infrastructure : 7_2: FAILED (NonZeroExitCode)", "interrupted ", "interrupted ")),
	/* Slurm's signal, which the workload had first; an earlier attempt's is its own */
	ROW(LIST(OF_SIGNAL("SIGTERM"), OF_SIGNAL("SIGTERM"), NULL), SCHED_ENDED,
	    SCHED_INFRASTRUCTURE, "PREEMPTED", "None",
	    LIST("workload signal: so", "infrastructure : 7_2: PREEMPTED", "interrupted ")),
	ROW(LIST(OF_EXIT(143), NULL, NULL), SCHED_ENDED, SCHED_WORKLOAD, "TIMEOUT", "TimeLimit",
	    LIST("workload timeout: 7_2: TIMEOUT (TimeLimit)", "interrupted ", "interrupted ")),
	ROW(LIST(OF_EXIT(1), NULL, NULL), SCHED_ENDED, SCHED_INFRASTRUCTURE, "PREEMPTED", "None",
	    LIST("workload exit: so", "interrupted ", "interrupted ")),
	ROW(LIST(OF_SIGNAL("SIGSEGV"), NULL, NULL), SCHED_ENDED, SCHED_WORKLOAD, "TIMEOUT", "None",
	    LIST("workload signal: so", "interrupted ", "interrupted ")),
	ROW(LIST(OF_SIGNAL("SIGKILL"), NULL, NULL), SCHED_ENDED, SCHED_WORKLOAD, "FAILED", "None",
	    LIST("workload signal: so", "interrupted ", "interrupted ")),
	/* nothing began: the job's last line tells more */
	ROW(LIST(NULL, NULL, NULL), SCHED_ENDED, SCHED_INFRASTRUCTURE, "CANCELLED", "None",
	    LIST("infrastructure : 7_2: CANCELLED, not by this campaign: Error running slurm "
		 "prolog: 1",
		 "infrastructure ", "infrastructure ")),
	ROW(LIST(NULL, NULL, NULL), SCHED_LOST, SCHED_INFRASTRUCTURE, "", "was never seen in Slurm",
	    LIST("infrastructure : 7_2: was never seen in Slurm: Error running slurm prolog: 1",
		 "infrastructure ", "infrastructure ")),
	ROW(LIST(NULL, NULL, NULL), SCHED_ENDED, SCHED_CANCELLED, "CANCELLED", "None",
	    LIST("interrupted ", "interrupted ", "interrupted ")),
	ROW(LIST(NULL, NULL, NULL), SCHED_REFUSED, SCHED_NONE, "", "sbatch: no",
	    LIST("infrastructure : 7_2: sbatch: no", "infrastructure ", "infrastructure ")),
};

TEST_IN(ends_of_jobs, dir)
{
	const struct attempt_where w = { dir, NULL, 1 };
	struct driven a[ATTEMPTS];

	attempts_make(a);
	test_put(dir, "log", "first\nError running slurm prolog: 1\n");
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const struct sched_view v = { .state = ends[i].state,
					      .class = ends[i].class,
					      .job = "7_2",
					      .word = ends[i].word,
					      .reason = ends[i].reason,
					      .node = "n3" };
		struct attempt_outcome o[ATTEMPTS];

		records_put(dir, ends[i].json);
		job_outcomes(&w, &v, in_dir(dir, "log"), false, a, ATTEMPTS, o);
		for (size_t k = 0; k < ATTEMPTS; k++) {
			char got[300];

			snprintf(got, sizeof(got), "%s %s: %s", attempt_class_name(o[k].class),
				 o[k].kind, o[k].reason);
			if (strncmp(got, ends[i].want[k], strlen(ends[i].want[k])) != 0)
				ROW_FAIL(i, "attempt %zu: %s", k + 1, got);
			if (strstr(got, "PREEMPTED") && strcmp(o[k].node, "n3") != 0)
				ROW_FAIL(i, "node '%s'", o[k].node);
		}
	}
}

/* Slurm's daemons count memory, and end all that is in the job. */
TEST_IN(a_job_that_is_too_big, dir)
{
	const struct attempt_where w = { dir, NULL, 1 };
	struct sched_view v = { .state = SCHED_ENDED,
				.class = SCHED_WORKLOAD,
				.job = "3",
				.word = "FAILED",
				.reason = "JobLaunchFailure",
				.node = "n3" };
	struct attempt_outcome o[ATTEMPTS];
	struct driven a[ATTEMPTS];

	attempts_make(a);
	test_put(dir, "log",
		 "slurmstepd-n1: error: StepId=3.batch exceeded memory limit (13 > 10), being "
		 "killed\nslurmstepd-n1: error: *** JOB 3 ON n1 CANCELLED ***\n");
	records_put(dir, (const char *const[])LIST(SUCCESS, RUNNING, NULL));
	job_outcomes(&w, &v, in_dir(dir, "log"), false, a, ATTEMPTS, o);
	assert_int_equal(o[0].class, ATTEMPT_OK);
	assert_int_equal(o[1].class, ATTEMPT_WORKLOAD);
	assert_string_equal(o[1].kind, "oom");
	assert_string_equal(o[1].reason,
			    "3: FAILED (JobLaunchFailure): slurmstepd-n1: error: StepId=3.batch "
			    "exceeded memory limit (13 > 10), being killed");
	assert_int_equal(o[2].class, ATTEMPT_INTERRUPTED);
	/* no word of another end */
	v.word = "NODE_FAIL";
	v.class = SCHED_INFRASTRUCTURE;
	job_outcomes(&w, &v, in_dir(dir, "log"), false, a, ATTEMPTS, o);
	assert_int_equal(o[1].class, ATTEMPT_INFRASTRUCTURE);
}

/* A campaign that stops keeps the end that its record has. */
TEST_IN(a_stop, dir)
{
	const struct attempt_where w = { dir, NULL, 1 };
	const struct sched_view v = { .state = SCHED_ENDED,
				      .class = SCHED_INFRASTRUCTURE,
				      .job = "7",
				      .word = "CANCELLED",
				      .reason = "None",
				      .node = "n[1-2]" };
	struct attempt_outcome o[ATTEMPTS];
	struct driven a[ATTEMPTS];

	attempts_make(a);
	records_put(dir, (const char *const[])LIST(INTERRUPTED, NULL, NULL));
	job_outcomes(&w, &v, "/nowhere", true, a, 1, o);
	assert_string_equal(o[0].reason, "by SIGTERM");
	assert_string_equal(o[0].node, "");
}

/* ---- waiting ---- */

static struct sched_view pending(const char *job, const char *reason, const char *stuck)
{
	return (struct sched_view){
		.state = SCHED_PENDING, .job = job, .reason = reason, .stuck = stuck
	};
}

static void says(struct job_waits *w, const struct sched_view *v, size_t nr, const char *want)
{
	CLEANUP(xfreep) char *got = job_waits_next(w, v, nr);

	assert_string_equal(got ? got : "", want);
}

TEST(each_reason_once)
{
	struct job_waits w = { 0 };
	struct sched_view v[] = { pending("1_0", "Resources", NULL),
				  pending("1_1", "JobHeldAdmin", "it is held"),
				  pending("1_2", "QOSMaxWall", "a limit"),
				  pending("1_3", "JobHeldAdmin", "it is held") };

	says(&w, v, 1, "");
	says(&w, v, 4, "2 jobs wait, such as 1_1: JobHeldAdmin: it is held");
	says(&w, v, 4, "job 1_2 waits: QOSMaxWall: a limit");
	says(&w, v, 4, "");
	/* it had gone meanwhile */
	v[2] = pending("1_2", "Priority", NULL);
	says(&w, v, 4, "");
	v[2] = pending("1_2", "QOSMaxWall", "a limit");
	says(&w, v, 4, "job 1_2 waits: QOSMaxWall: a limit");
	job_waits_release(&w);
}
