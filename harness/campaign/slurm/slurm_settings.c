#include "slurm_settings.h"
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define YEAR_S 31536000.0
#define TEXT_MAX 1000
#define LIST_MAX 200

const struct schema_key slurm_schema[] = {
	KEY("partition", "string", "queue; default: the cluster's"),
	KEY("account", "string", "the account that is charged"),
	KEY("qos", "string", "quality of service"),
	KEY("reservation", "string", "nodes that were set aside under this name"),
	KEY("constraint", "string", "features that nodes must have, such as 'a100&nvlink'"),
	KEY("nodes", "int", "nodes of one run; each has a profrig of its own", .def = "1", .min = 1,
	    .max = 65536),
	KEY("gpus", "string", "GPUs of a job, N or TYPE:N"),
	KEY("gpus_per_node", "string", "GPUs on each node, N or TYPE:N"),
	KEY("cpus", "int", "processors of each task", .min = 1, .max = 65536),
	KEY("mem", "string", "memory on each node, such as 64G; 0: all of it"),
	KEY("exclusive", "bool", "nodes are shared with no other job", .def = "false"),
	KEY("time", "scalar",
	    "limit of a job: 90s, 30m, 2h, or as Slurm writes it, 1-12:00:00; default: the "
	    "partition's"),
	KEY("nodelist", "list of strings", "nodes that a job must have"),
	KEY("exclude", "list of strings",
	    "nodes that a job must not have; those that failed twice are added"),
	KEY("modules", "list of strings", "'module load' of each, before profrig starts"),
	KEY("setup", "list of strings", "lines of the job script (bash), before profrig starts"),
	KEY("options", "list of strings",
	    "more options of sbatch, --NAME=VALUE; those that profrig gives itself are refused"),
	KEY("export", "list of strings",
	    "variables with a secret's name that jobs get all the same; Slurm keeps them in files"),
	KEY("launcher", "string", "what starts the processes of a run", .def = "plain",
	    .choices = "plain|torchrun|mpirun"),
	KEY("nproc_per_node", "int",
	    "processes on each node, for the launcher; default: as many as gpus_per_node", .min = 1,
	    .max = 65536),
	KEY("master_port", "int", "for torchrun; default: made of the job's number", .min = 1024,
	    .max = 65535),
	KEY("pack", "int",
	    "runs in one job, one after the other; only these are interleaved on one node",
	    .def = "1", .min = 1, .max = 1000),
	KEY("max_jobs", "int", "jobs that are queued or run at once", .def = "1000", .min = 1,
	    .max = 100000),
	KEY("max_running", "int", "jobs of one array that run at once", .min = 1, .max = 100000),
	KEY("program", "path", "profrig on the nodes; default: this one"),
	KEY("command_timeout", "seconds", "one sbatch, squeue or sacct is given up after this time",
	    .def = "30", .min = 1, .max = 600),
	{ .path = NULL },
};

void slurm_settings_init(struct slurm_settings *s)
{
	*s = (struct slurm_settings){
		.nodelist = STRVEC_INIT,
		.exclude = STRVEC_INIT,
		.modules = STRVEC_INIT,
		.setup = STRVEC_INIT,
		.options = STRVEC_INIT,
		.export = STRVEC_INIT,
		.command_timeout_s = 30,
		.nodes = 1,
		.pack = 1,
		.max_jobs = 1000,
	};
}

void slurm_settings_release(struct slurm_settings *s)
{
	char **texts[] = { &s->partition,     &s->account,    &s->qos,
			   &s->reservation,   &s->constraint, &s->gpus,
			   &s->gpus_per_node, &s->mem,        &s->program };
	struct strvec *lists[] = { &s->nodelist, &s->exclude, &s->modules,
				   &s->setup,    &s->options, &s->export };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		free(STEAL(*texts[i]));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		strvec_release(lists[i]);
}

/* ---- checks ---- */

static bool has_controls(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return true;
	return false;
}

static bool only(const char *s, const char *more)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr(more, *s))
			return false;
	return true;
}

/* N, TYPE:N */
static bool is_gpus(const char *s)
{
	const char *colon = strrchr(s, ':'), *n = colon ? colon + 1 : s;
	CLEANUP(xfreep) char *type = colon ? xstrndup(s, (size_t)(colon - s)) : xstrdup("x");
	uint64_t count;

	return num_u64(n, strlen(n), &count) == 0 && count >= 1 && count <= 65536 &&
	       only(type, "_.-:");
}

/* 0, N with K, M, G, T or without, as sbatch reads it. */
static bool is_mem(const char *s)
{
	size_t n = strlen(s);
	uint64_t v;

	if (n && strchr("KMGTkmgt", s[n - 1]))
		n--;
	return n && n <= 15 && num_u64(s, n, &v) == 0;
}

static bool is_word(const char *s)
{
	return strlen(s) <= TEXT_MAX && !has_controls(s) && *s != '-' && *s;
}

static bool is_line(const char *s)
{
	return strlen(s) <= 4 * TEXT_MAX && !has_controls(s);
}

static bool is_node(const char *s)
{
	return strlen(s) <= TEXT_MAX && only(s, "._-[],") && *s != '-';
}

static bool is_module(const char *s)
{
	return strlen(s) <= TEXT_MAX && only(s, "._-/+:@=") && *s != '-';
}

static bool is_option(const char *s)
{
	return !slurm_option_problem(s);
}

static bool is_program(const char *s)
{
	return is_word(s) && *s == '/';
}

static bool is_variable(const char *s)
{
	return schema_env_name(s);
}

/*
 * What profrig itself relies on: the name, the array, where it runs, that it is not requeued, that
 * sbatch returns at once and prints the number alone.
 */
const char *slurm_option_problem(const char *option)
{
	static const char *const ours[] = {
		"array",       "job-name",     "parsable",
		"requeue",     "no-requeue",   "wrap",
		"output",      "error",        "input",
		"open-mode",   "comment",      "export",
		"wait",        "test-only",    "chdir",
		"help",        "usage",        "version",
		"clusters",    "cluster",      "signal",
		"export-file", "uid",          "gid",
		"bbf",         "get-user-env", "partition",
		"time",        "nodes",        "exclude",
		"nodelist",    "ntasks",       "ntasks-per-node",
	};
	size_t n;

	if (strlen(option) > TEXT_MAX || has_controls(option))
		return "is too long, or has control characters";
	if (strncmp(option, "--", 2) != 0 || !isalpha((unsigned char)option[2]))
		return "want --NAME or --NAME=VALUE";
	n = strcspn(option + 2, "=");
	/* getopt_long takes the beginning of a name for the name. */
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (strncmp(option + 2, ours[i], n) == 0)
			return "is given by profrig itself, or has a key of its own";
	if (strspn(option + 2,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != n)
		return "want --NAME or --NAME=VALUE";
	return NULL;
}

/* ---- time ---- */

/* Up to three numbers between colons; how many there are, or -EINVAL. */
static int colons_parse(const char *s, double v[3])
{
	int n = 0;

	for (;;) {
		size_t len = strcspn(s, ":");
		uint64_t u;

		if (n == 3 || len > 9 || num_u64(s, len, &u) < 0)
			return -EINVAL;
		v[n++] = (double)u;
		if (!s[len])
			return n;
		s += len + 1;
	}
}

/* minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S */
int slurm_time_parse(const char *text, double *ret_s)
{
	const char *dash = strchr(text, '-');
	double v[3] = { 0, 0, 0 }, s;
	uint64_t days = 0;
	int n;

	if (dash && (dash - text > 5 || num_u64(text, (size_t)(dash - text), &days) < 0))
		return -EINVAL;
	n = colons_parse(dash ? dash + 1 : text, v);
	if (n < 0)
		return -EINVAL;
	if (dash || n == 3)
		s = (double)days * 86400 + v[0] * 3600 + v[1] * 60 + v[2];
	else
		s = v[0] * 60 + v[1];
	if (s > YEAR_S)
		return -EINVAL;
	*ret_s = s;
	return 0;
}

/* A plain number is Slurm's minutes elsewhere and seconds in profrig: a unit is wanted. */
static void time_read(const struct cfg_node *n, struct slurm_settings *s, struct problems *p)
{
	bool odd;

	if (!n || n->kind == CFG_NULL)
		return;
	if (n->kind == CFG_INT || n->kind == CFG_FLOAT) {
		cfg_problem(p, n, "slurm.time: %.40s has no unit: write %.40ss, %.40sm or %.40sh",
			    n->s, n->s, n->s, n->s);
		return;
	}
	odd = n->kind != CFG_STR || (strpbrk(n->s, ":-") ? slurm_time_parse(n->s, &s->time_s) < 0
							 : schema_seconds(n, &s->time_s) < 0);
	if (odd || !(s->time_s >= 1 && s->time_s <= YEAR_S))
		cfg_problem(p, n,
			    "slurm.time: want a time such as 90s, 30m, 2h or 1-12:00:00%s%.40s",
			    n->kind == CFG_STR ? ", not " : "", n->kind == CFG_STR ? n->s : "");
}

/* ---- reading ---- */

static void text_read(const struct cfg_node *map, const char *key, bool (*ok)(const char *),
		      const char *want, char **to, struct problems *p)
{
	const char *text = cfg_text(map, key);

	if (!text)
		return;
	if (!ok(text))
		cfg_problem(p, cfg_get(map, key), "slurm.%s: want %s, not '%.80s'", key, want,
			    text);
	free(*to);
	*to = xstrdup(text);
}

static void list_read(const struct cfg_node *map, const char *key, bool (*ok)(const char *),
		      const char *want, struct strvec *to, struct problems *p)
{
	const struct cfg_node *list = cfg_get(map, key);

	if (list && list->kind == CFG_SEQ && list->nr > LIST_MAX) {
		cfg_problem(p, list, "slurm.%s: has %zu entries; at most %d", key, list->nr,
			    LIST_MAX);
		return;
	}
	strvec_clear(to);
	cfg_words(map, key, to);
	for (size_t i = 0; i < to->nr; i++)
		if (!ok(to->v[i]))
			cfg_problem(p, list, "slurm.%s[%zu]: '%.80s': %s", key, i, to->v[i],
				    ok == is_option ? slurm_option_problem(to->v[i]) : want);
}

/* The schema has refused what is no number, or out of range. */
static void int_read(const struct cfg_node *map, const char *key, int *to)
{
	const struct cfg_node *n = cfg_get(map, key);

	if (n && n->kind == CFG_INT && n->i >= 0 && n->i <= 1000000)
		*to = (int)n->i;
}

static void texts_read(const struct cfg_node *map, struct slurm_settings *s, struct problems *p)
{
	text_read(map, "partition", is_word, "a name", &s->partition, p);
	text_read(map, "account", is_word, "a name", &s->account, p);
	text_read(map, "qos", is_word, "a name", &s->qos, p);
	text_read(map, "reservation", is_word, "a name", &s->reservation, p);
	text_read(map, "constraint", is_word, "features of nodes", &s->constraint, p);
	text_read(map, "gpus", is_gpus, "N or TYPE:N", &s->gpus, p);
	text_read(map, "gpus_per_node", is_gpus, "N or TYPE:N", &s->gpus_per_node, p);
	text_read(map, "mem", is_mem, "a size such as 64G", &s->mem, p);
	text_read(map, "program", is_program, "an absolute path", &s->program, p);
}

static void lists_read(const struct cfg_node *map, struct slurm_settings *s, struct problems *p)
{
	list_read(map, "nodelist", is_node, "want a node's name, or n[1-4]", &s->nodelist, p);
	list_read(map, "exclude", is_node, "want a node's name, or n[1-4]", &s->exclude, p);
	list_read(map, "modules", is_module, "want a module's name", &s->modules, p);
	list_read(map, "setup", is_line, "want one line of bash", &s->setup, p);
	list_read(map, "options", is_option, "", &s->options, p);
	list_read(map, "export", is_variable, "want a variable's name", &s->export, p);
}

/* Keys that contradict each other. */
static void pairs_check(const struct cfg_node *map, const struct slurm_settings *s,
			struct problems *p)
{
	if (s->gpus && s->gpus_per_node)
		cfg_problem(p, cfg_get(map, "gpus"),
			    "slurm.gpus: and gpus_per_node, too: want one");
	for (size_t i = 0; i < s->nodelist.nr; i++)
		if (strvec_has(&s->exclude, s->nodelist.v[i]))
			cfg_problem(p, cfg_get(map, "exclude"),
				    "slurm.exclude: '%.80s' is in nodelist, too", s->nodelist.v[i]);
}

void slurm_settings_read(const struct cfg_node *map, struct slurm_settings *s, struct problems *p)
{
	const struct cfg_node *n;
	const char *launcher;

	slurm_settings_init(s);
	if (!map || map->kind == CFG_NULL)
		return;
	if (map->kind != CFG_MAP) {
		cfg_problem(p, map, "slurm: want a map");
		return;
	}
	schema_check(map, slurm_schema, p);
	texts_read(map, s, p);
	lists_read(map, s, p);
	time_read(cfg_get(map, "time"), s, p);
	int_read(map, "nodes", &s->nodes);
	int_read(map, "cpus", &s->cpus);
	int_read(map, "pack", &s->pack);
	int_read(map, "max_jobs", &s->max_jobs);
	int_read(map, "max_running", &s->max_running);
	int_read(map, "nproc_per_node", &s->nproc_per_node);
	int_read(map, "master_port", &s->master_port);
	n = cfg_get(map, "exclusive");
	s->exclusive = n && n->kind == CFG_BOOL && n->b;
	n = cfg_get(map, "command_timeout");
	if (n && n->kind != CFG_NULL)
		schema_seconds(n, &s->command_timeout_s);
	if (!(s->command_timeout_s >= 1 && s->command_timeout_s <= 600))
		s->command_timeout_s = 30; /* said by the schema */
	launcher = cfg_text(map, "launcher");
	if (launcher && !strcmp(launcher, "torchrun"))
		s->launcher = SLURM_TORCHRUN;
	else if (launcher && !strcmp(launcher, "mpirun"))
		s->launcher = SLURM_MPIRUN;
	pairs_check(map, s, p);
}

int slurm_processes(const struct slurm_settings *s)
{
	const char *colon = s->gpus_per_node ? strrchr(s->gpus_per_node, ':') : NULL;
	const char *n = colon ? colon + 1 : s->gpus_per_node;
	uint64_t v;

	if (s->nproc_per_node > 0)
		return s->nproc_per_node;
	return n && num_u64(n, strlen(n), &v) == 0 && v >= 1 && v <= 65536 ? (int)v : 1;
}

size_t slurm_run_nodes(const struct slurm_settings *s)
{
	return s->launcher == SLURM_MPIRUN || s->nodes < 1 ? 1 : (size_t)s->nodes;
}
