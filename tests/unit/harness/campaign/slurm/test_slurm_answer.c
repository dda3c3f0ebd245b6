/* What Slurm's programs print: states, rows, numbers, and what is none of these. */
#include "slurm_answer.h"
#include "test.h"

#include "profrig/base/strbuf.h"

static void row_note(void *ctx, const struct slurm_row *row)
{
	struct strbuf *sb = ctx;

	strbuf_addf(sb, "%llu", (unsigned long long)row->id);
	if (row->task != SLURM_NO_TASK)
		strbuf_addf(sb, "_%zu", row->task);
	strbuf_addf(sb, " %s %s(%d,%s) '%s' '%s'\n", row->name, row->word, (int)row->state->phase,
		    sched_class_word(row->state->class), row->reason, row->node);
}

static void rows_are(struct slurm_read (*read)(const char *, size_t, slurm_row_seen *, void *),
		     const char *text, const char *want, size_t odd, bool doubt)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct slurm_read r = read(text, strlen(text), row_note, &sb);

	assert_string_equal(sb.buf, want);
	assert_int_equal(r.odd, odd);
	assert_int_equal(r.doubt, doubt);
}

TEST(squeue_rows)
{
	rows_are(slurm_squeue_read,
		 "10|0|11|RUNNING|None|n1|pr-abc\n"
		 "10|1|12|PENDING|Resources||pr-abc\n"
		 "12|N/A|12|COMPLETED|None|n[1-2,7]|pr-one\n"
		 /* a reason with bars, as plug-ins write them */
		 "13|2|15|PENDING|a|b||pr-x\n",
		 "10_0 pr-abc RUNNING(2,) 'None' 'n1'\n"
		 "10_1 pr-abc PENDING(1,) 'Resources' ''\n"
		 "12 pr-one COMPLETED(3,ok) 'None' 'n[1-2,7]'\n"
		 "13_2 pr-x PENDING(1,) 'a|b' ''\n",
		 0, false);
	rows_are(slurm_squeue_read, "", "", 0, false);
}

TEST(squeue_rows_of_another_kind)
{
	static const struct {
		const char *text;
		bool doubt;
	} rows[] = {
		{ "Welcome to the cluster!\n", false },
		{ "JOBID PARTITION NAME USER ST TIME NODES\n", false },
		{ "slurm_load_jobs error: Unable to contact\n", false },
		{ "10|0|11|RUNNING|None|n1|pr-abc", true }, /* cut */
		{ "10|0|11|RUNNING|None\n", false },
		{ "10|x|11|RUNNING|None|n1|pr-abc\n", true },
		{ "0|0|11|RUNNING|None|n1|pr-abc\n", true },
		{ "-1|0|11|RUNNING|None|n1|pr-abc\n", true },
		{ "99999999999999999999|0|11|RUNNING|None|n1|pr-abc\n", true },
		{ "10|[3-9%3]|11|PENDING|None||pr-abc\n", true },
		{ "10|0|11||None|n1|pr-abc\n", true },
		{ "|||||||||||||\n", false },
		{ "\x01\xff\xfe\n", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		struct slurm_read r =
			slurm_squeue_read(rows[i].text, strlen(rows[i].text), row_note, &sb);

		if (sb.len || r.odd != 1 || r.doubt != rows[i].doubt || !r.sample[0])
			ROW_FAIL(i, "'%s' %zu %d '%s'", sb.buf, r.odd, r.doubt, r.sample);
	}
}

/* Texts that come from elsewhere do not reach a terminal as they are. */
TEST(texts_are_bounded)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT, text = STRBUF_INIT;
	struct slurm_read r;

	strbuf_addstr(&text, "10|0|11|RUNNING|\x1b[2Jred|n1;rm -rf|pr-a\n10|1|11|");
	for (size_t i = 0; i < 5000; i++)
		strbuf_addch(&text, 'X');
	strbuf_addstr(&text, "|");
	for (size_t i = 0; i < 5000; i++)
		strbuf_addch(&text, 'y');
	strbuf_addstr(&text, "|n2|pr-a\n");
	r = slurm_squeue_read(text.buf, text.len, row_note, &sb);
	assert_int_equal(r.rows, 2);
	assert_has(sb.buf, "10_0 pr-a RUNNING(2,) ' [2Jred' ''\n", "(0,) 'yyyyy", "' 'n2'\n");
	assert_true(sb.len < 400);
	/* a NUL inside */
	strbuf_clear(&sb);
	r = slurm_squeue_read("10|0|11|RUNNING|a\0b|n1|pr-a\n", 28, row_note, &sb);
	assert_true(r.odd == 1 && r.doubt && sb.len == 0);
}

TEST(every_beginning_of_an_answer)
{
	static const char text[] = "10|0|11|RUNNING|None|n1|pr-abc\n"
				   "10|1|12|NODE_FAIL|NodeDown|n2|pr-abc\n";

	for (size_t n = 0; n < sizeof(text); n++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		CLEANUP(xfreep) char *part = xmemdup(text, n ? n : 1);
		struct slurm_read r = slurm_squeue_read(part, n, row_note, &sb);

		assert_true(r.rows + r.odd <= 2 && r.odd <= 1);
		assert_true(r.odd == 0 || r.doubt);
	}
}

TEST(states)
{
	static const struct {
		const char *text;
		enum slurm_phase phase;
		enum sched_class class;
	} rows[] = {
		{ "PENDING", SLURM_WAITS, SCHED_NONE },
		{ "COMPLETING", SLURM_RUNS, SCHED_NONE },
		{ "SUSPENDED", SLURM_RUNS, SCHED_NONE },
		{ "COMPLETED", SLURM_LEFT, SCHED_OK },
		{ "FAILED", SLURM_LEFT, SCHED_WORKLOAD },
		{ "TIMEOUT", SLURM_LEFT, SCHED_WORKLOAD },
		{ "OUT_OF_MEMORY", SLURM_LEFT, SCHED_WORKLOAD },
		{ "OUT_OF_ME+", SLURM_LEFT, SCHED_WORKLOAD },
		{ "DEADLINE", SLURM_LEFT, SCHED_WORKLOAD },
		{ "CANCELLED by 1000", SLURM_LEFT, SCHED_INFRASTRUCTURE },
		{ "CANCELLED+", SLURM_LEFT, SCHED_INFRASTRUCTURE },
		{ "NODE_FAIL", SLURM_LEFT, SCHED_INFRASTRUCTURE },
		{ "BOOT_FAIL", SLURM_LEFT, SCHED_INFRASTRUCTURE },
		{ "PREEMPTED", SLURM_LEFT, SCHED_INFRASTRUCTURE },
		{ "REVOKED", SLURM_LEFT, SCHED_INFRASTRUCTURE },
		{ "REQUEUED", SLURM_HELD, SCHED_INFRASTRUCTURE },
		{ "RESV_DEL_HOLD", SLURM_HELD, SCHED_INFRASTRUCTURE },
		{ "COMPLETE", SLURM_UNKNOWN, SCHED_NONE },
		{ "completed", SLURM_UNKNOWN, SCHED_NONE },
		{ "ABGESCHLOSSEN", SLURM_UNKNOWN, SCHED_NONE },
		{ "", SLURM_UNKNOWN, SCHED_NONE },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct slurm_state *s = slurm_state_find(rows[i].text);

		if (s->phase != rows[i].phase || s->class != rows[i].class)
			ROW_FAIL(i, "%s: %d %d", rows[i].text, (int)s->phase, (int)s->class);
	}
	assert_non_null(slurm_reason_stuck("PartitionNodeLimit"));
	assert_non_null(slurm_reason_stuck("QOSMaxCpuPerJobLimit"));
	assert_non_null(slurm_reason_stuck("DependencyNeverSatisfied"));
	assert_string_equal(slurm_reason_stuck("JobHeldAdmin"), "an administrator holds it");
	assert_non_null(slurm_reason_stuck("ReqNodeNotAvail, UnavailableNodes:n[3-4]"));
	assert_null(slurm_reason_stuck("Resources"));
	assert_null(slurm_reason_stuck("Priority"));
	assert_true(slurm_reason_failed("launch failed requeued held"));
	assert_false(slurm_reason_failed("JobLaunchFailure"));
}

TEST(sacct_rows)
{
	rows_are(slurm_sacct_read,
		 "10_0|pr-abc|COMPLETED|0:0|0:0|1764250000|1764250009|n1\n"
		 "10_1|pr-abc|CANCELLED by 0|0:0|0:0|Unknown|Unknown|None assigned\n"
		 "10_[2-7%2]|pr-abc|PENDING|0:0|0:0|Unknown|Unknown|None assigned\n"
		 "12|pr-one|NODE_FAIL|1:0|0:0|1764250000|Unknown|n[1-2]\n",
		 "10_0 pr-abc COMPLETED(3,ok) '' 'n1'\n"
		 "10_1 pr-abc CANCELLED(3,infrastructure) '' ''\n"
		 "12 pr-one NODE_FAIL(3,infrastructure) '' 'n[1-2]'\n",
		 0, false);
	rows_are(slurm_sacct_read,
		 "JobID|JobName|State\n10.batch|pr-a|COMPLETED|0:0|0:0|1|2|n1\n"
		 "10_0|pr-a|COMPLETED|0:0|0:0|1|2|n1|more\n",
		 "", 3, true);
}

TEST(sbatch_answers)
{
	static const struct {
		int code;
		const char *out, *errs;
		enum slurm_submitted want;
		uint64_t id;
	} rows[] = {
		{ 0, "28\n", "", SLURM_ACCEPTED, 28 },
		{ 0, "28;cluster\n", "", SLURM_ACCEPTED, 28 },
		{ 0, "28", "", SLURM_ACCEPTED, 28 },
		{ 0, "Your project has 3 hours left\n12 nodes are down\n29\n", "", SLURM_ACCEPTED,
		  29 },
		{ 0, "Submitted batch job 28\n", "", SLURM_DOUBTFUL, 0 },
		{ 0, "", "", SLURM_DOUBTFUL, 0 },
		{ 0, "0\n", "", SLURM_DOUBTFUL, 0 },
		{ 0, "99999999999\n", "", SLURM_DOUBTFUL, 0 },
		{ 0, "-5\n", "", SLURM_DOUBTFUL, 0 },
		/* what queued it, the timeout notwithstanding */
		{ 1, "",
		  "sbatch: error: Batch job submission failed: Socket timed out on send/recv "
		  "operation\n",
		  SLURM_DOUBTFUL, 0 },
		{ 1, "",
		  "sbatch: error: Batch job submission failed: Unable to contact slurm controller "
		  "(connect failure)\n",
		  SLURM_DOUBTFUL, 0 },
		{ -1, "", "sbatch: error: Invalid account\n", SLURM_DOUBTFUL, 0 },
		/* another language, or words of a later version */
		{ 1, "", "sbatch: Fehler: Zeitüberschreitung\n", SLURM_DOUBTFUL, 0 },
		{ 1, "", "", SLURM_DOUBTFUL, 0 },
		{ 1, "",
		  "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job "
		  "submission failed: Invalid partition name specified\n",
		  SLURM_REFUSED, 0 },
		{ 1, "",
		  "sbatch: error: Batch job submission failed: Invalid job array specification\n",
		  SLURM_REFUSED, 0 },
		{ 255, "", "sbatch: unrecognized option '--frob'\nTry \"sbatch --help\"\n",
		  SLURM_REFUSED, 0 },
		{ 1, "",
		  "sbatch: error: Batch job submission failed: Requested node configuration is not "
		  "available\n",
		  SLURM_REFUSED, 0 },
		{ 1, "",
		  "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission "
		  "failed: Job violates accounting/QOS policy (job submit limit, user's size "
		  "and/or time limits)\n",
		  SLURM_BUSY, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t id = 0;
		enum slurm_submitted got =
			slurm_sbatch_read(rows[i].code, rows[i].out, rows[i].errs, &id);

		if (got != rows[i].want || id != rows[i].id)
			ROW_FAIL(i, "%d, %llu", (int)got, (unsigned long long)id);
	}
}

static struct slurm_site site_of(const char *text)
{
	return slurm_config_read(text, strlen(text));
}

TEST(config)
{
	struct slurm_site s =
		site_of("Configuration data as of 2026-03-04\n"
			"AccountingStorageType   = accounting_storage/slurmdbd\n"
			"ClusterName             = s4\nMaxArraySize            = 64\n"
			"SLURM_VERSION           = 22.05.8\nSlurmctld(primary) at x is UP\n");

	assert_true(s.known && s.accounting && s.max_array == 64);
	assert_string_equal(s.version, "22.05.8");
	assert_string_equal(s.cluster, "s4");
	s = site_of("MaxArraySize = 1001\nAccountingStorageType = accounting_storage/none\n");
	assert_true(s.known && !s.accounting && s.max_array == 1001);
	s = site_of("MaxArraySize = 1001\nAccountingStorageType = (null)\n");
	assert_false(s.accounting);
	s = site_of("MaxArraySize = viele\nMaxArraySize\n=\n = \n");
	assert_true(!s.known && s.max_array == 1001);
}
