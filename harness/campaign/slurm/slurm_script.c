#include "slurm_script.h"

#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/config/runconf.h"

#define SIGNAL_FROM_S 300 /* shorter jobs would be told to end when they begin */
#define SIGNAL_BEFORE_S 60

char *slurm_job_name(const char *nonce)
{
	return xasprintf("pr-%s", nonce);
}

/* ---- sbatch ---- */

static void word_push(struct strvec *argv, const char *option, const char *value)
{
	if (value)
		strvec_pushf(argv, "--%s=%s", option, value);
}

static void list_push(struct strvec *argv, const char *option, const struct strvec *a,
		      const struct strvec *b)
{
	CLEANUP(strvec_release) struct strvec all = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;

	strvec_pushv(&all, a->v);
	for (size_t i = 0; b && i < b->nr; i++)
		if (!strvec_has(&all, b->v[i]))
			strvec_push(&all, b->v[i]);
	text = strvec_join(&all, ",");
	if (all.nr)
		word_push(argv, option, text);
}

/* Slurm replaces %X in the name of the output; a backslash would end that for the whole name. */
static char *output_name(const struct slurm_submission *sub)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (const char *s = sub->dir; *s; s++)
		strbuf_addf(&sb, *s == '%' ? "%%%%" : "%c", *s);
	strbuf_addf(&sb, "/logs/pr-%s%s.out", sub->nonce, sub->array ? "_%a" : "");
	return strbuf_steal(&sb);
}

static double time_limit(const struct slurm_settings *s, const struct slurm_submission *sub)
{
	double most = s->time_s;
	bool own = false;

	for (size_t i = 0; i < sub->nr; i++) {
		if (sub->jobs[i].time_s > 0 && (!own || sub->jobs[i].time_s > most))
			most = sub->jobs[i].time_s;
		own |= sub->jobs[i].time_s > 0;
	}
	return most;
}

static void resources_push(const struct slurm_settings *s, const struct slurm_submission *sub,
			   struct strvec *argv)
{
	double time_s = time_limit(s, sub);

	word_push(argv, "partition", s->partition);
	word_push(argv, "account", s->account);
	word_push(argv, "qos", s->qos);
	word_push(argv, "reservation", s->reservation);
	word_push(argv, "constraint", s->constraint);
	strvec_pushf(argv, "--nodes=%d", s->nodes);
	strvec_pushf(argv, "--ntasks-per-node=%d",
		     s->launcher == SLURM_MPIRUN ? slurm_processes(s) : 1);
	word_push(argv, "gpus", s->gpus);
	word_push(argv, "gpus-per-node", s->gpus_per_node);
	if (s->cpus > 0)
		strvec_pushf(argv, "--cpus-per-task=%d", s->cpus);
	word_push(argv, "mem", s->mem);
	if (s->exclusive)
		strvec_push(argv, "--exclusive");
	if (time_s > 0)
		strvec_pushf(argv, "--time=%lld:%02lld", (long long)time_s / 60,
			     (long long)time_s % 60);
	if (time_s >= SIGNAL_FROM_S)
		strvec_pushf(argv, "--signal=B:USR1@%d", SIGNAL_BEFORE_S);
	list_push(argv, "nodelist", &s->nodelist, NULL);
	list_push(argv, "exclude", &s->exclude, sub->exclude);
}

void slurm_sbatch_argv(const struct slurm_settings *s, const struct slurm_submission *sub,
		       struct strvec *argv)
{
	CLEANUP(xfreep) char *output = output_name(sub), *name = slurm_job_name(sub->nonce);

	strvec_pushl(argv, "sbatch", "--parsable", "--no-requeue", "--export=ALL",
		     "--open-mode=append", NULL);
	strvec_pushf(argv, "--job-name=%s", name);
	strvec_pushf(argv, "--comment=profrig campaign %s", sub->name);
	word_push(argv, "output", output);
	word_push(argv, "chdir", sub->dir);
	if (sub->array && s->max_running > 0)
		strvec_pushf(argv, "--array=0-%zu%%%d", sub->nr - 1, s->max_running);
	else if (sub->array)
		strvec_pushf(argv, "--array=0-%zu", sub->nr - 1);
	resources_push(s, sub, argv);
	/* Last, so that an option of the user's outranks a key. */
	strvec_pushv(argv, s->options.v);
	strvec_push(argv, sub->script);
}

/* ---- the job script ---- */

static void quoted(struct strbuf *out, const char *before, const char *word, const char *after)
{
	strbuf_addstr(out, before);
	strbuf_add_shell(out, word);
	strbuf_addstr(out, after);
}

static void modules_text(const struct slurm_settings *s, struct strbuf *out)
{
	if (!s->modules.nr)
		return;
	strbuf_addstr(out, "if ! type module >/dev/null 2>&1; then\n"
			   "\tfor init in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh "
			   "/etc/profile.d/z00_lmod.sh /usr/share/modules/init/bash "
			   "/usr/share/lmod/lmod/init/bash; do\n"
			   "\t\t[ ! -r \"$init\" ] || { . \"$init\"; break; }\n"
			   "\tdone\n"
			   "fi\n");
	for (size_t i = 0; i < s->modules.nr; i++) {
		quoted(out, "module load ", s->modules.v[i], " || { echo 'profrig: module load ");
		/* a module's name has no quote (slurm_settings.c) */
		strbuf_addf(out, "%s failed' >&2; exit 70; }\n", s->modules.v[i]);
	}
}

static void setup_text(const struct slurm_settings *s, struct strbuf *out)
{
	modules_text(s, out);
	for (size_t i = 0; i < s->setup.nr; i++)
		strbuf_addf(out, "%s\n", s->setup.v[i]);
}

/* attempts=A,B of this task */
static void attempts_text(const struct slurm_submission *sub, struct strbuf *out)
{
	strbuf_addstr(out, "case ${SLURM_ARRAY_TASK_ID:-0} in\n");
	for (size_t i = 0; i < sub->nr; i++) {
		strbuf_addf(out, "%zu) attempts=", i);
		for (char *const *a = sub->jobs[i].attempts; *a; a++)
			strbuf_addf(out, "%s%s", a == sub->jobs[i].attempts ? "" : ",", *a);
		strbuf_addstr(out, " ;;\n");
	}
	strbuf_addstr(out, "*) echo \"profrig: no such task: $SLURM_ARRAY_TASK_ID\" >&2; exit 70 "
			   ";;\nesac\n");
}

static void launcher_text(const struct slurm_settings *s, struct strbuf *out)
{
	if (s->launcher == SLURM_PLAIN && s->nodes <= 1)
		return;
	strbuf_addstr(out, "export MASTER_ADDR MASTER_PORT NNODES NPROC_PER_NODE NODE_RANK=0\n"
			   "MASTER_ADDR=$(hostname)\n");
	if (s->master_port > 0)
		strbuf_addf(out, "MASTER_PORT=%d\n", s->master_port);
	else
		strbuf_addstr(out, "MASTER_PORT=$((15000 + ${SLURM_JOB_ID:-0} % 15000))\n");
	strbuf_addf(out, "NNODES=${SLURM_JOB_NUM_NODES:-%d}\nNPROC_PER_NODE=%d\n", s->nodes,
		    slurm_processes(s));
}

/*
 * One srun for each attempt, so that all nodes begin it together. bash waits for a child in the
 * background, because a trap runs only between commands; a wait that a signal ends is repeated.
 */
static void nodes_text(const struct slurm_submission *sub, struct strbuf *out)
{
	strbuf_addstr(out,
		      "step= drain=\n"
		      "forward() { drain=1; [ -z \"$step\" ] || kill -USR1 \"$step\" 2>/dev/null; "
		      "}\n"
		      "trap forward USR1 TERM\n"
		      "for attempt in ${attempts//,/ }; do\n"
		      "\t[ -z \"$drain\" ] || break\n"
		      "\tsrun --nodes=\"$NNODES\" --ntasks=\"$NNODES\" --ntasks-per-node=1 "
		      "--kill-on-bad-exit=1 "
		      "${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} \\\n"
		      "\t\tbash -c 'export NODE_RANK=$SLURM_NODEID; exec \"$@\" --node "
		      "\"$SLURM_NODEID\" --nodes \"$NNODES\"' profrig \\\n"
		      "\t\t");
	strbuf_add_shell(out, sub->program);
	quoted(out, " campaign work ", sub->dir, " --attempts \"$attempt\" &\n");
	strbuf_addstr(out, "\tstep=$!\n"
			   "\twhile kill -0 \"$step\" 2>/dev/null; do wait \"$step\"; done\n"
			   "\tstep=\n"
			   "done\n"
			   "exit 0\n");
}

void slurm_script_text(const struct slurm_settings *s, const struct slurm_submission *sub,
		       struct strbuf *out)
{
	strbuf_addf(out, "#!/bin/bash\n# profrig campaign %s, submission %s\n", sub->name,
		    sub->nonce);
	strbuf_addstr(out, "[ \"${SLURM_RESTART_COUNT:-0}\" = 0 ] || {\n"
			   "\techo 'profrig: started a second time, which is left alone: the first "
			   "may still run' >&2\n"
			   "\texit 0\n"
			   "}\n");
	/* sbatch itself ran with LC_ALL=C (slurm_environment). */
	strbuf_addstr(out, "unset LC_ALL\n"
			   "[ -z \"${PROFRIG_LC_ALL+x}\" ] || { export LC_ALL=\"$PROFRIG_LC_ALL\"; "
			   "unset PROFRIG_LC_ALL; }\n");
	/* Folders of the machine where sbatch ran. */
	strbuf_addstr(out, "[ -d \"${XDG_RUNTIME_DIR:-/}\" ] || unset XDG_RUNTIME_DIR\n"
			   "[ -d \"${TMPDIR:-/}\" ] || unset TMPDIR\n");
	quoted(out, "cd ", sub->dir, " || exit 70\n");
	strbuf_addf(out,
		    "for stop in submit/%s.stop \"submit/%s.${SLURM_ARRAY_TASK_ID:-0}.stop\"; do\n"
		    "\t[ ! -e \"$stop\" ] || { echo \"profrig: given up: $stop\" >&2; exit 0; }\n"
		    "done\n",
		    sub->nonce, sub->nonce);
	attempts_text(sub, out);
	setup_text(s, out);
	launcher_text(s, out);
	if (slurm_run_nodes(s) > 1) {
		nodes_text(sub, out);
		return;
	}
	quoted(out, "exec ", sub->program, " campaign work ");
	strbuf_add_shell(out, sub->dir);
	strbuf_addstr(out, " --attempts \"$attempts\"\n");
}

char *slurm_stop_path(const char *dir, const char *nonce, size_t task)
{
	return task == SCHED_ALL ? xasprintf("%s/submit/%s.stop", dir, nonce)
				 : xasprintf("%s/submit/%s.%zu.stop", dir, nonce, task);
}

/* As output_name, which Slurm completes. */
char *slurm_log_path(const char *dir, const char *nonce, size_t task)
{
	return task == SCHED_ALL ? xasprintf("%s/logs/pr-%s.out", dir, nonce)
				 : xasprintf("%s/logs/pr-%s_%zu.out", dir, nonce, task);
}

/* ---- environment ---- */

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* What Slurm's programs take from it: how they print, whom they ask, and of which job they are. */
static bool steers_slurm(const char *var)
{
	static const char *const kept[] = { "SLURM_CONF=", "SLURM_JWT=", "SLURM_CONF_SERVER=" };
	static const char *const dropped[] = { "SLURM_", "SBATCH_",  "SQUEUE_", "SACCT_",
					       "SRUN_",  "SCANCEL_", "SALLOC_", "SINFO_" };

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (begins(var, kept[i]))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
		if (begins(var, dropped[i]))
			return true;
	return false;
}

/* What users of sbatch set once and for all; the command line outranks it. */
static bool asks_sbatch(const char *var)
{
	static const char *const wishes[] = { "SBATCH_PARTITION=",  "SBATCH_ACCOUNT=",
					      "SBATCH_QOS=",        "SBATCH_RESERVATION=",
					      "SBATCH_CONSTRAINT=", "SBATCH_TIMELIMIT=" };

	for (size_t i = 0; i < ARRAY_LEN(wishes); i++)
		if (begins(var, wishes[i]))
			return true;
	return false;
}

void slurm_environment(const struct slurm_settings *s, char *const *from, bool jobs,
		       struct strvec *env)
{
	for (; *from; from++) {
		CLEANUP(xfreep) char *name = xstrndup(*from, strcspn(*from, "="));

		if (steers_slurm(*from) && !(jobs && asks_sbatch(*from)))
			continue;
		if (begins(*from, "LC_ALL=")) {
			if (jobs)
				strvec_pushf(env, "PROFRIG_%s", *from);
			continue;
		}
		if (jobs && runconf_is_secret_name(name) && !begins(*from, "SLURM_JWT=") &&
		    !strvec_has(&s->export, name))
			continue;
		strvec_push(env, *from);
	}
	strvec_push(env, "LC_ALL=C");
	if (!jobs)
		strvec_push(env, "SLURM_TIME_FORMAT=%s");
}
