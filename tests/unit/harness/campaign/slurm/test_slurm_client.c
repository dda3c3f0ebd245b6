/*
 * The client on stand-ins for Slurm's programs (tests/fakes/slurm), whose queue is a file: what
 * becomes of jobs, and each way in which the programs may answer otherwise.
 */
#include "slurm_test.h"

#include <stdlib.h>
#include <sys/stat.h>

static char *path_was;

static int bench_begin(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));
	CLEANUP(xfreep) char *fakes = fs_abs("tests/fakes/slurm"), *path = NULL;

	b->dir = test_dir();
	strvec_init(&b->names);
	slurm_settings_init(&b->settings);
	if (!path_was)
		path_was = xstrdup(getenv("PATH"));
	path = xasprintf("%s:%s", fakes, path_was);
	setenv("PATH", path, 1);
	setenv("FAKE_SLURM", b->dir, 1);
	unsetenv("FAKE_ACCOUNTING");
	unsetenv("FAKE_MAX_ARRAY");
	*state = b;
	return 0;
}

static int bench_end(void **state)
{
	struct bench *b = *state;

	scheduler_slurm.close(b->s);
	slurm_settings_release(&b->settings);
	strvec_release(&b->names);
	setenv("PATH", path_was, 1);
	test_dir_done(&b->dir);
	free(b);
	return 0;
}

#define BENCH_TEST(name) TEST_OF(name, struct bench *b, bench_begin, bench_end)

static const struct sched_opts fast = { .poll_min_s = 0.05,
					.poll_max_s = 0.2,
					.lost_after_s = 0.5 };

static void bench_open(struct bench *b)
{
	struct err e = ERR_INIT;

	if (bench_open_as(b, &fast, &e) < 0)
		fail_msg("%s", e.msg);
}

static void bench_until(struct bench *b, const char *text)
{
	bench_until_s(b, text, 20);
}

/* The queue, as a whole: a reader sees the old or the new one. */
static void queue_put(struct bench *b, const char *rows)
{
	test_put(b->dir, "rows", rows);
}

static char *calls(struct bench *b)
{
	return kept(test_get(b->dir, "calls"));
}

static size_t calls_of(struct bench *b, const char *program)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	size_t n = 0;

	strvec_split(&lines, calls(b), "\n");
	for (size_t i = 0; i < lines.nr; i++)
		n += !strncmp(lines.v[i], program, strlen(program)) &&
		     lines.v[i][strlen(program)] == ' ';
	return n;
}

BENCH_TEST(jobs_that_go_well)
{
	bench_open(b);
	bench_submit(b, "x7", 2, 2);
	assert_string_equal(bench_views(b),
			    "x7/0 submitting - - - - []; x7/1 submitting - - - - []; ");
	bench_until(b, "x7/0 pending - 10_0 - PENDING [Priority]; x7/1 pending - 10_1 - PENDING");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n10|1|11|RUNNING|None|n2|pr-x7\n");
	bench_until(b, "x7/0 running - 10_0 n1 RUNNING [None]; x7/1 running - 10_1 n2");
	bench_record(b, "c0-1.1", "success");
	bench_record(b, "c0-2.1", "failed");
	bench_record(b, "c1-1.1", "success");
	bench_record(b, "c1-2.1", "running");
	/* the first one may go to the end at once; the second one still writes */
	queue_put(b, "10|0|10|COMPLETED|None|n1|pr-x7\n10|1|11|COMPLETING|None|n2|pr-x7\n");
	bench_until(b, "x7/0 ended ok 10_0 n1 COMPLETED [None]; x7/1 running");
	queue_put(b, "");
	bench_run(b, 0.2);
	assert_has(bench_views(b), "x7/1 running");
	bench_record(b, "c1-2.1", "partial");
	bench_until(b, "x7/1 ended ok 10_1 n2");
	assert_string_equal(scheduler_slurm.trouble(b->s), "");
	assert_has(calls(b), "sbatch --parsable --no-requeue", "--array=0-1", "--job-name=pr-x7");
	assert_int_equal(calls_of(b, "sbatch"), 1);
	/* nothing lives any more: nothing is asked */
	bench_run(b, 0.2);
	size_t asked = calls_of(b, "squeue");
	bench_run(b, 0.5);
	assert_int_equal(calls_of(b, "squeue"), asked);
	assert_int_equal(scheduler_slurm.counts(b->s).odd_rows, 0);
}

/* Words without a record decide, after a while; what is gone without both is lost. */
BENCH_TEST(classes_of_jobs_without_a_record)
{
	bench_open(b);
	bench_submit(b, "x7", 8, 1);
	bench_until(b, "x7/7 pending");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n10|7|17|RUNNING|None|n1|pr-x7\n"
		     "10|6|16|RUNNING|None|n1|pr-x7\n");
	bench_until(b, "x7/7 running");
	/* the reasons are those of real ones: neither they nor exit codes decide */
	queue_put(b, "10|0|10|NODE_FAIL|NodeDown|n1|pr-x7\n"
		     "10|1|11|FAILED|JobLaunchFailure|n1|pr-x7\n"
		     "10|2|12|TIMEOUT|TimeLimit|n1|pr-x7\n"
		     "10|3|13|PREEMPTED|None|n1|pr-x7\n"
		     "10|4|14|CANCELLED|None|n2|pr-x7\n"
		     "10|5|15|COMPLETED|None|n1|pr-x7\n"
		     "10|6|16|OUT_OF_MEMORY|OutOfMemory|n1|pr-x7\n");
	bench_until(b, "x7/7 lost");
	assert_has(bench_views(b), "x7/0 ended infrastructure 10_0 n1 NODE_FAIL",
		   "x7/1 ended workload 10_1", "x7/2 ended workload", "x7/3 ended infrastructure",
		   "x7/4 ended infrastructure",
		   "x7/5 lost infrastructure 10_5 n1 COMPLETED [is COMPLETED, as Slurm says, and "
		   "left no record within 0 s]",
		   "x7/6 ended workload",
		   "x7/7 lost infrastructure 10_7 n1 RUNNING [is gone from Slurm without a word, "
		   "and");
}

/* A missing row that is there again was no end. */
BENCH_TEST(a_job_that_comes_back)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n");
	bench_until(b, "running");
	queue_put(b, "");
	bench_run(b, 0.25);
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n");
	bench_run(b, 1);
	assert_has(bench_views(b), "x7/0 running - 10_0 n1 RUNNING");
}

/* ---- hazards of sbatch ---- */

BENCH_TEST(sbatch_times_out_after_queueing)
{
	test_put(b->dir, "sbatch.after",
		 "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv "
		 "operation' >&2; exit 1\n");
	bench_open(b);
	bench_submit(b, "x7", 2, 1);
	/* found by its name, with the number that sbatch did not print */
	bench_until(b, "x7/0 pending - 10_0 - PENDING [Priority]; x7/1 pending - 10_1");
	bench_run(b, 0.8);
	assert_int_equal(calls_of(b, "sbatch"), 1);
	assert_has(bench_views(b), "x7/0 pending - 10_0");
}

BENCH_TEST(sbatch_times_out_without_queueing)
{
	test_put(b->dir, "sbatch.do",
		 "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv "
		 "operation' >&2; exit 1\n");
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b,
		    "x7/0 refused - - - - later [not queued, as two look-ups by name say; sbatch: "
		    "sbatch: error: Batch job submission failed: Socket timed out");
	assert_true(scheduler_slurm.counts(b->s).lookups >= 2);
	/* should it be queued yet, it does nothing */
	assert_true(fs_exists(in_dir(b->dir, "submit/x7.stop")));
	/* the same nonce again: its name finds whatever the first try left */
	unlink(in_dir(b->dir, "sbatch.do"));
	bench_submit(b, "x7", 1, 1);
	assert_false(fs_exists(in_dir(b->dir, "submit/x7.stop")));
	bench_until(b, "x7/0 pending - 10_0");
	assert_int_equal(calls_of(b, "sbatch"), 2);
}

/* Queued after both look-ups, and submitted again: one of the two goes. */
BENCH_TEST(a_submission_that_turns_up_late)
{
	test_put(b->dir, "sbatch.do",
		 "echo 'sbatch: error: Unable to contact slurm controller' >&2; exit 1\n");
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 refused");
	unlink(in_dir(b->dir, "sbatch.do"));
	bench_submit(b, "y8", 1, 1);
	bench_until(b, "y8/0 pending - 10_0");
	queue_put(b, "10|0|10|PENDING|None||pr-y8\n9|0|9|RUNNING|None|n1|pr-x7\n");
	for (int i = 0;
	     i < 400 && !strstr(kept(test_get(b->dir, "rows")), "CANCELLED|None|n1|pr-x7"); i++)
		bench_run(b, 0.05);
	assert_has(calls(b), textf("scancel -u %u --name=pr-x7 9\n", geteuid()));
	assert_has(kept(test_get(b->dir, "rows")), "9|0|9|CANCELLED|None|n1|pr-x7",
		   "10|0|10|PENDING|None||pr-y8");
	assert_int_equal(scheduler_slurm.counts(b->s).strays, 1);
	/* and with the same nonce */
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 11_0");
	queue_put(b, "11|0|11|RUNNING|None|n2|pr-x7\n12|0|12|RUNNING|None|n3|pr-x7\n");
	for (int i = 0; i < 400 && !strstr(calls(b), "--name=pr-x7 12\n"); i++)
		bench_run(b, 0.05);
	assert_has(calls(b), "--name=pr-x7 12\n");
	assert_has(bench_views(b), "x7/0 running - 11_0 n2");
}

/* The job table is full: sbatch sleeps until it is killed; its group goes with it. */
BENCH_TEST(sbatch_hangs)
{
	test_put(b->dir, "sbatch.do",
		 "echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping and "
		 "retrying' >&2; sleep 1000 & echo $! >\"$FAKE/sleeper\"; wait\n");
	b->settings.command_timeout_s = 1;
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "later [not queued, as two look-ups by name say; sbatch: sbatch gave no "
		       "answer in 1 s: sbatch: error: Slurm temporarily unable to accept job");
	CLEANUP(xfreep) char *pid = test_get(b->dir, "sleeper");
	assert_false(test_alive((pid_t)strtol(pid, NULL, 10)));
	assert_int_equal(scheduler_slurm.counts(b->s).timeouts, 1);
}

BENCH_TEST(sbatch_refuses)
{
	struct err e = ERR_INIT;

	test_put(b->dir, "sbatch.do",
		 "echo 'sbatch: error: Batch job submission failed: Invalid account or "
		 "account/partition combination specified' >&2; exit 1\n");
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 refused - - - - [sbatch: error: Batch job submission failed: Invalid "
		       "account");
	assert_lacks(bench_views(b), "later");
	assert_int_equal(scheduler_slurm.submit(b->s, "x7", bench_jobs(b, 1, 1), 1, &e), -EINVAL);
	assert_string_equal(e.msg, "submission x7 is in use");
	test_put(b->dir, "sbatch.do",
		 "echo 'sbatch: error: QOSMaxSubmitJobPerUserLimit' >&2; exit 1\n");
	bench_submit(b, "y8", 1, 1);
	bench_until(b, "y8/0 refused - - - - later [sbatch: error: QOSMaxSubmit");
	assert_int_equal(calls_of(b, "squeue"), 0);
}

/* A wrapper of the site that greets, one that prints something else, one in another language. */
BENCH_TEST(sbatch_says_more)
{
	test_put(b->dir, "sbatch.do", "echo 'Willkommen! 3 Knoten sind frei.'\n");
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	test_put(b->dir, "sbatch.after", "echo 'Auftrag eingereicht'; exit 0\n");
	bench_submit(b, "y8", 1, 1);
	bench_until(b, "y8/0 pending - 11_0 - PENDING");
	test_put(b->dir, "sbatch.do", "echo 'Fehler: Zugang verweigert' >&2; exit 1\n");
	bench_submit(b, "z9", 1, 1);
	bench_until(b,
		    "z9/0 refused - - - - later [not queued, as two look-ups by name say; sbatch: "
		    "Fehler: Zugang verweigert]");
}

BENCH_TEST(array_limits)
{
	struct err e = ERR_INIT;

	setenv("FAKE_MAX_ARRAY", "64", 1);
	bench_open(b);
	assert_int_equal(scheduler_slurm.submission_max(b->s), 64);
	assert_int_equal(scheduler_slurm.submit(b->s, "x7", bench_jobs(b, 65, 1), 65, &e), -E2BIG);
	assert_string_equal(e.msg,
			    "submission x7 has 65 jobs; an array of this cluster has at most "
			    "64 (MaxArraySize)");
	bench_submit(b, "x7", 64, 1);
	bench_until(b, "x7/63 pending - 10_63");
}

BENCH_TEST(no_arrays)
{
	setenv("FAKE_MAX_ARRAY", "0", 1);
	bench_open(b);
	assert_int_equal(scheduler_slurm.submission_max(b->s), 1);
	bench_submit(b, "x7", 1, 2);
	bench_until(b, "x7/0 pending - 10 - PENDING");
	assert_lacks(calls(b), "--array");
	queue_put(b, "10|N/A|10|RUNNING|None|n1|pr-x7\n");
	bench_until(b, "x7/0 running - 10 n1");
}

/* ---- hazards of squeue ---- */

/* sbatch printed a number, the controller forgot the job, and gave the number to another one. */
BENCH_TEST(a_number_that_another_job_has)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-other\n");
	bench_until(b, "x7/0 lost infrastructure 10_0 -");
	assert_lacks(calls(b), "scancel");
	/* it had been seen; one that never was says so */
	test_put(b->dir, "sbatch.after", ": >\"$FAKE/rows\"\n");
	bench_submit(b, "y8", 1, 1);
	bench_until(b, "y8/0 lost infrastructure 11_0 - - [was never seen in Slurm, and left no");
}

BENCH_TEST(squeue_fails_and_hangs)
{
	size_t asked;

	b->settings.command_timeout_s = 1;
	bench_open(b);
	bench_submit(b, "x7", 2, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n10|1|11|RUNNING|None|n2|pr-x7\n");
	bench_until(b, "x7/1 running");
	/* what it prints when it fails is no answer */
	test_put(b->dir, "squeue.do",
		 "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect "
		 "failure)' >&2; exit 1\n");
	asked = calls_of(b, "squeue");
	bench_run(b, 1.2);
	assert_has(scheduler_slurm.trouble(b->s),
		   "squeue failed: slurm_load_jobs error: Unable to contact slurm controller");
	assert_has(bench_views(b), "x7/0 running", "x7/1 running");
	/* at most one every 0.2 s by now */
	assert_true(calls_of(b, "squeue") - asked <= 8);
	/* a record counts also while nothing answers */
	bench_record(b, "c0-1.1", "success");
	bench_until(b, "x7/0 ended ok");
	test_put(b->dir, "squeue.do", "sleep 1000\n");
	bench_run(b, 2.5);
	assert_has(scheduler_slurm.trouble(b->s), "squeue gave no answer in 1 s");
	assert_has(bench_views(b), "x7/1 running");
	unlink(in_dir(b->dir, "squeue.do"));
	bench_run(b, 1.5);
	assert_string_equal(scheduler_slurm.trouble(b->s), "");
	assert_has(bench_views(b), "x7/1 running");
}

/* What is no row is counted and proves nothing about the jobs that it may be about. */
BENCH_TEST(squeue_prints_junk)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	test_put(b->dir, "squeue.do", "printf '10|0|10|RUN\\033[2JNING|x7 pr-x7\\n'; exit 0\n");
	bench_run(b, 1);
	assert_has(bench_views(b), "x7/0 pending - 10_0");
	assert_has(scheduler_slurm.trouble(b->s),
		   "squeue: 1 lines of its answer are no rows, such as '10|0|10|RUN [2JNING|");
	assert_true(scheduler_slurm.counts(b->s).odd_rows > 0);
	/* a greeting above the rows does no harm */
	test_put(b->dir, "squeue.do", "echo 'Maintenance on Friday'\n");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n");
	bench_until(b, "x7/0 running - 10_0 n1");
	/* more than it may print */
	test_put(b->dir, "squeue.do", "head -c 20000000 /dev/zero | tr '\\0' 'x'; exit 0\n");
	bench_run(b, 1.5);
	assert_has(scheduler_slurm.trouble(b->s), "squeue");
	assert_has(bench_views(b), "x7/0 running");
}

BENCH_TEST(squeue_in_another_language)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "10|0|10|L\xc3\x84UFT|Keiner|n1|pr-x7\n");
	bench_run(b, 1);
	assert_has(bench_views(b), "x7/0 pending - 10_0 n1 L");
	assert_has(scheduler_slurm.trouble(b->s),
		   "UFT' is no state that profrig knows; is a wrapper in PATH?");
	bench_record(b, "c0-1.1", "success");
	queue_put(b, "");
	bench_until(b, "x7/0 ended ok");
}

BENCH_TEST(rows_of_others)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "10|5|10|RUNNING|None|n1|pr-x7\n10|0|10|RUNNING|None|n1|pr-x7\n");
	bench_until(b, "x7/0 running");
	assert_true(scheduler_slurm.counts(b->s).odd_rows > 0);
}

/* ---- requeues, holds, jobs that cannot start ---- */

BENCH_TEST(a_job_that_is_requeued)
{
	bench_open(b);
	bench_submit(b, "x7", 3, 1);
	bench_until(b, "x7/1 pending - 10_1");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n10|1|11|PENDING|launch failed requeued "
		     "held||pr-x7\n10|2|12|RUNNING|None|n2|pr-x7\n");
	bench_until(b, "x7/0 running");
	queue_put(b, "10|0|10|PENDING|BeginTime||pr-x7\n10|1|11|PENDING|launch failed requeued "
		     "held||pr-x7\n10|2|12|RUNNING|None|n2|pr-x7\n");
	bench_until(b, "x7/0 ended infrastructure");
	bench_until(b, "x7/1 ended infrastructure");
	/* the other job of the submission is spared */
	bench_run(b, 0.3);
	assert_has(calls(b), "scancel 10_1\n", "scancel 10_0\n");
	assert_has(bench_views(b), "x7/2 running");
}

BENCH_TEST(a_job_that_can_never_start)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "10|0|10|PENDING|PartitionNodeLimit||pr-x7\n");
	bench_until(b, "x7/0 pending - 10_0 - PENDING stuck [PartitionNodeLimit]");
}

/* ---- cancelling ---- */

BENCH_TEST(cancelled_by_us)
{
	bench_open(b);
	bench_submit(b, "w6", 1, 1);
	scheduler_slurm.cancel(b->s, "w6", SCHED_ALL);
	assert_has(bench_views(b), "w6/0 ended cancelled");
	bench_submit(b, "x7", 3, 1);
	bench_until(b, "x7/2 pending - 10_2");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n10|1|11|PENDING|None||pr-x7\n"
		     "10|2|12|PENDING|None||pr-x7\n");
	bench_until(b, "x7/0 running");
	scheduler_slurm.cancel(b->s, "x7", 1);
	/* it never ran: nothing is waited for */
	bench_until(b, "x7/1 ended cancelled");
	assert_has(calls(b), "scancel 10_1\n");
	bench_run(b, 0.3);
	assert_has(bench_views(b), "x7/0 running", "x7/2 pending");
	assert_true(fs_exists(in_dir(b->dir, "submit/x7.1.stop")));
	assert_false(fs_exists(in_dir(b->dir, "submit/x7.stop")));
	/* a controller that was killed has forgotten it */
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n10|1|11|PENDING|None||pr-x7\n"
		     "10|2|12|PENDING|None||pr-x7\n");
	for (int i = 0; i < 400 && strstr(kept(test_get(b->dir, "rows")), "10|1|"); i++)
		bench_run(b, 0.05);
	assert_lacks(kept(test_get(b->dir, "rows")), "10|1|");
	assert_has(bench_views(b), "x7/1 ended cancelled", "x7/2 pending");
	scheduler_slurm.cancel(b->s, "x7", SCHED_ALL);
	bench_until(b, "x7/2 ended cancelled 10_2 - CANCELLED");
	bench_until(b, "x7/0 ended cancelled 10_0 n1 CANCELLED");
	assert_has(calls(b), textf("scancel -u %u --name=pr-x7\n", geteuid()));
	assert_true(fs_exists(in_dir(b->dir, "submit/x7.2.stop")));
	/* none of the first one was handed over */
	assert_int_equal(calls_of(b, "sbatch"), 1);
	assert_lacks(calls(b), "pr-w6");
}

BENCH_TEST(scancel_fails_once)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	test_put(b->dir, "scancel.do", "exit 1\n");
	scheduler_slurm.cancel(b->s, "x7", SCHED_ALL);
	bench_run(b, 0.5);
	assert_has(bench_views(b), "x7/0 pending");
	unlink(in_dir(b->dir, "scancel.do"));
	bench_until(b, "x7/0 ended cancelled");
}

/* ---- accounting ---- */

BENCH_TEST(accounting_tells_how_it_ended)
{
	setenv("FAKE_ACCOUNTING", "accounting_storage/slurmdbd", 1);
	bench_open(b);
	bench_submit(b, "x7", 2, 1);
	bench_until(b, "x7/1 pending - 10_1");
	queue_put(b, "10|0|10|RUNNING|None|n1|pr-x7\n10|1|11|RUNNING|None|n1|pr-x7\n");
	bench_until(b, "x7/1 running");
	test_put(b->dir, "ended",
		 "10_0|pr-x7|TIMEOUT|0:0|0:0|1764250000|1764250009|n1\n"
		 "10_1|pr-x7|RUNNING|0:0|0:0|1764250000|Unknown|n1\n");
	queue_put(b, "");
	bench_until(b, "x7/0 ended workload 10_0 n1 TIMEOUT");
	/* accounting has missed the end of the other one */
	bench_until(b, "x7/1 lost infrastructure");
}

BENCH_TEST(accounting_that_is_disabled)
{
	setenv("FAKE_ACCOUNTING", "accounting_storage/slurmdbd", 1);
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "");
	bench_until(b, "x7/0 lost infrastructure");
	assert_int_equal(calls_of(b, "sacct"), 1);
	assert_string_equal(scheduler_slurm.trouble(b->s), "");
}

BENCH_TEST(no_accounting)
{
	bench_open(b);
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	queue_put(b, "");
	bench_record(b, "c0-1.1", "success");
	bench_until(b, "x7/0 ended ok");
	assert_int_equal(calls_of(b, "sacct"), 0);
}

/* ---- another process ---- */

BENCH_TEST(submissions_of_an_earlier_process)
{
	struct err e = ERR_INIT;
	const struct scheduler *sl = &scheduler_slurm;

	queue_put(b, "20|0|20|RUNNING|None|n1|pr-a\n20|1|21|CANCELLED|None|n1|pr-a\n"
		     "21|0|22|PENDING|None||pr-b\n");
	bench_record(b, "c1-1.1", "success");
	bench_open(b);
	/* announced and acknowledged; announced only, and it was queued; not queued; forgotten */
	assert_int_equal(sl->adopt(b->s, "a", bench_jobs(b, 2, 1), 2, true, 1, &e), 0);
	assert_int_equal(sl->adopt(b->s, "b", bench_jobs(b, 1, 1), 1, false, 1, &e), 0);
	assert_int_equal(sl->adopt(b->s, "c", bench_jobs(b, 1, 1), 1, false, 1, &e), 0);
	assert_int_equal(sl->adopt(b->s, "d", bench_jobs(b, 1, 1), 1, true, 1, &e), 0);
	assert_int_equal(sl->adopt(b->s, "a", bench_jobs(b, 1, 1), 1, true, 1, &e), -EINVAL);
	sl->cancelled(b->s, "a", 1);
	bench_until(b, "a/0 running - 20_0 n1 RUNNING [None]; a/1 ended cancelled 20_1");
	bench_until(b, "b/0 pending - 21_0");
	bench_until(b, "c/0 refused - - - - later [not queued, as two look-ups by name say]");
	bench_until(b, "d/0 lost infrastructure - - - [was never seen in Slurm");
	if (fs_exists(in_dir(b->dir, "calls")))
		assert_int_equal(calls_of(b, "sbatch"), 0);
}

/* Its records are there: it ran, though Slurm knows nothing of it. */
BENCH_TEST(an_earlier_submission_that_slurm_forgot)
{
	struct err e = ERR_INIT;

	bench_record(b, "c0-1.1", "failed");
	bench_open(b);
	assert_int_equal(scheduler_slurm.adopt(b->s, "a", bench_jobs(b, 2, 1), 2, false, 1, &e), 0);
	bench_until(b, "a/0 ended ok");
	bench_until(b, "a/1 lost infrastructure");
}

/* ---- nodes ---- */

BENCH_TEST(nodes_that_fail_twice)
{
	bench_open(b);
	scheduler_slurm.blame(b->s, "n3");
	scheduler_slurm.blame(b->s, "n[1-2]");
	scheduler_slurm.blame(b->s, "n[1-2]");
	bench_submit(b, "x7", 2, 1);
	bench_until(b, "x7/1 pending - 10_1");
	assert_lacks(calls(b), "--exclude");
	queue_put(b, "10|0|10|NODE_FAIL|None|n3|pr-x7\n10|1|11|TIMEOUT|None|n4|pr-x7\n");
	bench_until(b, "x7/0 ended infrastructure");
	bench_until(b, "x7/1 ended workload");
	scheduler_slurm.blame(b->s, "n4");
	strvec_push(&b->settings.exclude, "n9");
	bench_submit(b, "y8", 1, 1);
	bench_until(b, "y8/0 pending");
	assert_has(calls(b), "--exclude=n9,n3 ");
}

/* Whose end it is not the node's fault. */
BENCH_TEST(nodes_that_are_taken_away)
{
	bench_open(b);
	bench_submit(b, "x7", 4, 1);
	bench_until(b, "x7/3 pending - 10_3");
	queue_put(b, "10|0|10|PREEMPTED|None|n3|pr-x7\n10|1|11|CANCELLED|None|n3|pr-x7\n"
		     "10|2|12|REVOKED|None|n3|pr-x7\n10|3|13|PREEMPTED|None|n3|pr-x7\n");
	bench_until(b, "x7/0 ended infrastructure");
	bench_until(b, "x7/3 ended infrastructure");
	bench_submit(b, "y8", 1, 1);
	bench_until(b, "y8/0 pending");
	assert_lacks(calls(b), "--exclude");
}

/* All nodes of a partition have failed, or the user names one of them. */
BENCH_TEST(nodes_that_cannot_be_left_out)
{
	bench_open(b);
	scheduler_slurm.blame(b->s, "n3");
	scheduler_slurm.blame(b->s, "n3");
	test_put(b->dir, "sbatch.do",
		 "case \" $* \" in *--exclude=*)\n"
		 "\techo 'sbatch: error: Batch job submission failed: Requested node configuration "
		 "is not available' >&2\n\texit 1 ;;\nesac\n");
	bench_submit(b, "x7", 1, 1);
	bench_until(b, "x7/0 pending - 10_0");
	assert_int_equal(calls_of(b, "sbatch"), 2);
	assert_has(calls(b), "--exclude=n3 ");
	bench_submit(b, "y8", 1, 1);
	bench_until(b, "y8/0 pending");
	assert_int_equal(calls_of(b, "sbatch"), 3);
}

/* ---- opening ---- */

BENCH_TEST(what_it_does_not_open)
{
	struct err e = ERR_INIT;

	test_put(b->dir, "scontrol.do",
		 "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect "
		 "failure)' >&2; exit 1\n");
	assert_int_equal(bench_open_as(b, &fast, &e), -EAGAIN);
	assert_string_equal(e.msg, "slurm: scontrol show config failed: slurm_load_ctl_conf error: "
				   "Unable to contact slurm controller (connect failure); is the "
				   "controller up ('scontrol ping')?");
	test_put(b->dir, "scontrol.do", "echo 'MaxArraySize: viele'; exit 0\n");
	assert_int_equal(bench_open_as(b, &fast, &e), -EAGAIN);
	assert_has(e.msg, "names no MaxArraySize: is this Slurm's scontrol?");
	b->settings.command_timeout_s = 1;
	test_put(b->dir, "scontrol.do", "sleep 1000\n");
	assert_int_equal(bench_open_as(b, &fast, &e), -EAGAIN);
	assert_has(e.msg, "scontrol show config gave no answer in 1 s");
	setenv("PATH", b->dir, 1);
	assert_int_equal(bench_open_as(b, &fast, &e), -ENOENT);
	assert_has(e.msg, "slurm: no 'sbatch' in PATH; run this where Slurm's commands are");
}

BENCH_TEST(names_that_it_does_not_take)
{
	struct err e = ERR_INIT;
	static char odd[] = "../x";
	static char *const attempts[] = { odd, NULL }, *const none[] = { NULL };
	const struct sched_job jobs[] = { { attempts, 0 }, { none, 0 } };

	bench_open(b);
	assert_int_equal(scheduler_slurm.submit(b->s, "a,b", bench_jobs(b, 1, 1), 1, &e), -EINVAL);
	assert_string_equal(e.msg, "'a,b' is no nonce");
	assert_int_equal(scheduler_slurm.submit(b->s, "a", jobs, 1, &e), -EINVAL);
	assert_string_equal(e.msg, "'../x' is no attempt's name");
	assert_int_equal(scheduler_slurm.submit(b->s, "a", jobs + 1, 1, &e), -EINVAL);
	assert_string_equal(e.msg, "job 0 of submission a has no attempts");
	assert_int_equal(scheduler_slurm.submit(b->s, "a", jobs, 0, &e), -EINVAL);
}

/* ---- records ---- */

BENCH_TEST(records)
{
	bench_record(b, "a-1.1", "success");
	bench_record(b, "a-1.2", "running");
	assert_true(sched_settled(b->dir, "a-1.1", 1));
	assert_false(sched_settled(b->dir, "a-1.2", 1));
	assert_false(sched_settled(b->dir, "a-1.3", 1));
	assert_false(sched_settled(b->dir, "../runs/a-1.1", 1));
	bench_record(b, "m-1.1/node-0", "success");
	assert_false(sched_settled(b->dir, "m-1.1", 2));
	bench_record(b, "m-1.1/node-1", "failed");
	assert_true(sched_settled(b->dir, "m-1.1", 2));
	/* what a workload can put there */
	test_put(b->dir, "runs/b/run.json", "{\"status\": ");
	assert_false(sched_settled(b->dir, "b", 1));
	test_put(b->dir, "runs/c/x", "");
	assert_int_equal(
		symlink(in_dir(b->dir, "runs/a-1.1/run.json"), in_dir(b->dir, "runs/c/run.json")),
		0);
	assert_false(sched_settled(b->dir, "c", 1));
	test_put(b->dir, "runs/d/x", "");
	assert_int_equal(mkfifo(in_dir(b->dir, "runs/d/run.json"), 0644), 0);
	assert_false(sched_settled(b->dir, "d", 1));
	assert_int_equal(symlink(in_dir(b->dir, "runs/a-1.1"), in_dir(b->dir, "runs/e")), 0);
	assert_false(sched_settled(b->dir, "e", 1));
}

TEST(registry)
{
	assert_ptr_equal(scheduler_find("slurm"), &scheduler_slurm);
	assert_null(scheduler_find("pbs"));
	for (size_t i = 0; schedulers[i]; i++)
		assert_true(*schedulers[i]->name && *schedulers[i]->about && schedulers[i]->open &&
			    schedulers[i]->step && schedulers[i]->close);
}
