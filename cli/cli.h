/*
 * cli: shared by the commands: option tables, exit codes, output. Private to cli/, the only room
 * that includes both halves and the only printer of errors.
 */
#ifndef PROFRIG_CLI_H
#define PROFRIG_CLI_H

#include "prepare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profrig/base/comm.h"
#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/run/run.h"
#include "profrig/run/runs.h"
#include "profrig/session/session.h"

/* contract: exit codes */
enum {
	EXIT_DONE = 0,
	EXIT_WORKLOAD = 1,
	EXIT_USAGE = 2,
	EXIT_CONFIG = 3,
	EXIT_MISSING = 4,
	EXIT_UNREADABLE = 5,
	EXIT_PARTIAL = 6,
	EXIT_GATE = 7,
};

/*
 * The worse of two by the contract's order 130/143, 3, 4, 1, 7, 6, 0 (2 and 5 before all but
 * signals).
 */
int exit_worse(int a, int b);

enum opt_kind {
	OPT_FLAG,
	OPT_STR,
	OPT_MAYBE,
	OPT_LIST,
	OPT_SECONDS,
	OPT_INT,
	/* the value goes to a key of the run's configuration */
	OPT_CONF_FLAG, /* true, or the row's own value */
	OPT_CONF_STR,
	OPT_CONF_WORDS, /* "A,B" is a list */
	OPT_CONF_SECONDS,
	OPT_ANSWER, /* refused; arg has the replacement */
	OPT_IDLE,   /* accepted, without effect */
};

/* Where an option OPT_CONF_… puts its value (runconf_give). */
struct opt_conf {
	struct cfg *given;
	const char *path;  /* "model.timeout" */
	const char *value; /* of a flag, instead of true; NULL */
};
/* The `to` of such a row, for the table of a function. o: struct run_options *. */
#define GIVEN(o, ...) (&(struct opt_conf){ .given = &(o)->conf.given, .path = __VA_ARGS__ })

struct opt {
	const char *name; /* without "--"; NULL ends a table */
	char letter;      /* 0 none */
	enum opt_kind kind;
	/* OPT_MAYBE: as OPT_STR, its value (behind '=' alone) may be left out and is "" then */
	void *to; /* bool *, const char **, struct strvec *, double *, long *, struct opt_conf * */
	const char *arg; /* "DIR", for help */
	/* NULL: a word of madengine's. It is parsed; help, completion and manuals leave it out. */
	const char *help;
};

struct command {
	const char *name;  /* a word, or two: "lib trace" */
	const char *usage; /* "MODEL… | -- CMD ARG…" */
	const char *about; /* one line */
	const char *example;
	/* argv[0] is the command's name */
	int (*main)(const struct command *c, int argc, char **argv);
};

extern const struct command *const commands[]; /* NULL-terminated */

/* The name as one word: "lib-trace". buf holds 64. */
const char *command_word(const struct command *c, char buf[64]);
/*
 * Whether argv begins with a command's name, as one word or as two; returns how many words that
 * takes, 0: it does not.
 */
int command_named(const struct command *c, int argc, char *const *argv);

/*
 * Where madengine means something else by a value (mad_words.c): may replace the option. False:
 * there is nothing to store.
 */
bool mad_value(const struct opt *opts, const struct opt **o, const char *value);
/* Whether the operand word is one more value of the option o in front of it. */
bool mad_more_values(const struct opt *o, const char *word);
/*
 * Parses argv by the table and the common options (--help, -q, -v, --json when json is not NULL).
 * Operands are returned in order; those behind the first "--" in *ret_rest (NULL without "--");
 * ret_rest may be NULL. Returns -1 to go on, else an exit code after printing: help, a usage error,
 * or a missing working directory.
 */
int cli_parse(const struct command *c, const struct opt *opts, bool *json, int argc, char **argv,
	      struct strvec *operands, char ***ret_rest);
/*
 * Hands the option table of a command to fn, without running it: for completion and manuals. Works
 * because every command parses its options before it does anything else.
 */
typedef void cli_described_fn(void *ctx, const struct command *c, const struct opt *opts,
			      bool json);
void cli_describe(const struct command *c, cli_described_fn *fn, void *ctx);
/* A row of help: left, and text from column text_at, wrapped to lines of 80. */
void cli_print_row(FILE *f, const char *left, const char *text, size_t text_at);
/* What --help of a command prints. */
extern bool cli_helped; /* it was printed, and nothing else was done */
void cli_print_help(const struct command *c, const struct opt *opts, bool json);
/* Prints "profrig COMMAND: message" and the hint to --help; returns EXIT_USAGE. */
int cli_usage(const struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_problems(const struct problems *p);

/* 1.24 ms, 1.84 kJ, 3.4 MB: three significant digits with an SI prefix. buf holds 32. */
char *cli_si(double v, const char *unit, char *buf);

/* 3.4M, 120K, powers of 1024. buf holds 32. */
char *cli_bytes(int64_t v, char *buf);
/* Prints the runs of a folder; exit code. */
int list_runs(const char *dir, const struct run_filter *f, bool json);
/* The campaigns of a folder, NULL: ./campaigns; exit code (6: one of them cannot be read). */
int list_campaigns(const char *folder, bool json);
/* False after an error message when word is no status of a run; NULL is fine. */
bool cli_known_status(const struct command *c, const char *word);

/*
 * Text of a trace for a terminal: control bytes become '?', and a text longer than max bytes (0: no
 * limit) ends in "…".
 */
void cli_put(FILE *f, const char *s, size_t max);

/* Options of commands that choose models of a package (mad.h), as rows of a table. */
/* clang-format off */
#define PACKAGE_OPTS(o) \
	{ "tags", 't', OPT_LIST, &(o)->tags, "A,B,…", \
	  "models by name or tag: X, SCOPE/X, all, X:key=value" }, \
	{ "additional-context", 'c', OPT_STR, &(o)->conf.context, "TEXT", \
	  "madengine's context, JSON or Python" }, \
	{ "additional-context-file", 'f', OPT_STR, &(o)->conf.context_file, "FILE", \
	  "the same from a file; -c wins key by key" }, \
	{ "lenient", 0, OPT_FLAG, &(o)->conf.lenient, NULL, \
	  "treat unknown keys of contexts and models.json as warnings" }
#define PACKAGE_RUN_OPTS(o) \
	{ "tools-config", 0, OPT_STR, &(o)->tools_config, "FILE", \
	  "take tools from this tools.json first" }, \
	{ "keep-model-dir", 0, OPT_CONF_FLAG, GIVEN(o, "model.keep_dir"), NULL, \
	  "keep the run's own copy of the model" }
/* What madengine's documentation shows beside them; docs/madengine.md has the table for people. */
#define MAD_RUN_OPTS(o) \
	{ "live-output", 'l', OPT_CONF_FLAG, GIVEN(o, "live"), NULL, NULL }, \
	{ "keep-alive", 0, OPT_CONF_FLAG, GIVEN(o, "keep"), NULL, NULL }, \
	{ "manifest-file", 'm', OPT_STR, &(o)->manifest, "FILE", NULL }, \
	{ "sys-env-details", 0, OPT_IDLE, NULL, NULL, NULL }, \
	{ "ignore-deprecated", 0, OPT_IDLE, NULL, NULL, NULL }, \
	{ "cleanup-perf", 0, OPT_ANSWER, NULL, "a new --perf-csv FILE", NULL }, \
	{ "clean-docker-cache", 0, OPT_ANSWER, NULL, \
	  "'profrig build --clean-cache', then run", NULL }, \
	{ "registry", 'r', OPT_ANSWER, NULL, "'profrig build --registry HOST', then run", NULL }, \
	{ "manifest-output", 0, OPT_ANSWER, NULL, \
	  "'profrig build --manifest-output FILE'", NULL }, \
	{ "summary-output", 's', OPT_ANSWER, NULL, "--json", NULL }, \
	{ "data-config", 0, OPT_ANSWER, NULL, "--config FILE with 'data:' (docs/data.md)", NULL }, \
	{ "force-mirror-local", 0, OPT_ANSWER, NULL, "--set data[0].mirrorlocal=PATH", NULL }
#define MAD_BUILD_OPTS(o) \
	{ "live-output", 'l', OPT_FLAG, &(o)->rq.live, NULL, NULL }, \
	{ "clean-docker-cache", 0, OPT_FLAG, &(o)->rq.no_cache, NULL, NULL }, \
	{ "summary-output", 's', OPT_ANSWER, NULL, "--json", NULL }, \
	{ "build-on-compute", 0, OPT_ANSWER, NULL, "'profrig build' on that node", NULL }
/* clang-format on */

#define MAX_RUN_JSON ((size_t)64 << 20)
/*
 * The models of words and o->tags (models_pick): -1 to go on, or an exit code after an error
 * message.
 */
int pick_models(const struct command *c, const struct run_options *o, const struct strvec *words,
		struct catalog **ret_catalog, struct strvec *models);
/* Prints and empties it. */
void cli_said(struct said *s);
/* The exit code of what harness/campaign returned (prepare.h); a message is printed. */
int cli_failed(const struct command *c, int r, const struct err *err);
/* prepare, with its messages printed: 0 or an exit code; 3 may have its reasons in problems. */
int cli_prepare(const struct command *c, const struct run_options *o, const char *model,
		char *const *cmd, struct prepared *p, struct problems *problems);
/* The tools of --tools-dir and of the search path; 0, or an exit code (2 3) after printing why. */
int load_tools(const struct command *c, const struct strvec *dirs, struct tool_set *ret);
/* Prints each warning once per process. */
void warn_once(const struct strvec *lines);
/* Rows of what killed runs left (doctor_leftovers.c); fix: removes it. */
void doctor_leftovers(struct table *t, const char *runs_dir, bool fix);
/*
 * Whether a run on host with this tool would start. When not, why (detail) and what would help
 * (*ret_fix, never NULL).
 */
bool tool_works(const struct command *c, const struct strvec *dirs, const struct tool *tool,
		struct strbuf *detail, const char **ret_fix);
/* When nothing more is to be asked of it. */
void tool_works_end(void);
/* Table of all tools, with their needs and whether they work here; NULL with an exit code. */
struct table *tools_table(const struct command *c, const struct strvec *dirs, bool json,
			  int *ret_code);
/* Everything about the tools of these names (NULL: all). Exit code. */
int tools_print(const struct command *c, const struct strvec *dirs, const struct strvec *names,
		bool json);

/* ---- sessions: analyses of inputs (session.h), their notes printed as they come ---- */

/*
 * How much memory this command may take before its large arrays lie in files (spill.h). size:
 * --memory, NULL: $PROFRIG_MEMORY, else 3/4 of what the system allows. output: what the command
 * writes, NULL: nothing; files lie beside it, unless TMPDIR names a folder. 0, or 2 after an error
 * message.
 */
int cli_memory(const struct command *c, const char *size, const char *output);
/* -v: what came of it. */
void cli_memory_say(void);
#define MEMORY_OPT(to) \
	{ \
		"memory", 0, OPT_STR, to, "SIZE", \
			"beyond this much (3/4 of what the system allows) large arrays lie in " \
			"files: 4G; 0: never" \
	}

/* session_opts_init, with the ranks of this job and a listener that prints. */
void cli_session_opts(struct session_opts *o);
/* --reader: 0, or 2 after an error message. text may be NULL. */
int parse_reader(const struct command *c, const char *text, struct session_opts *ret);
int cli_session_code(const struct session_outcome *out);
/* Prints why a session failed, unless its notes did; exit code. */
int cli_session_failed(const struct session_outcome *out, const struct err *err);
/*
 * session_analyze, with its error printed. Fills *ret (report_release it); its dir is NULL when
 * there was nothing to write. Exit code.
 */
int analyze_to(const struct strvec *inputs, const struct session_opts *o, const char *out,
	       struct report *ret);
/* The same of runs, with options as they are by default. */
int analyze_runs(const struct strvec *runs, const char *out, struct report *ret);
/*
 * A run that has just ended, into its analysis/; code_so_far is that of the run without it. Exit
 * code of the analysis alone.
 */
int analyze_run(const char *run_dir, int code_so_far, struct report *rep);
/* Prints why something was not written; advise: with advice when the disk is full. */
void cli_write_failed(const struct err *err, bool advise);
/* 0, or 4 after saying why dir cannot be made or written to. */
int output_code(const char *dir);
/* Prints the path of the most telling of the formats that were written. */
void say_written(const struct report *r, const struct strvec *formats);

/* Five lines on stderr after a run. rep may be empty. */
/* Prints the closing lines of an analysis; missing parts also with -q. fresh: made now, not
 * loaded. */
void print_analysis(const struct report *rep, bool fresh);
/* The same for a conversion, which only reads. */
void print_inputs(const struct model *m);
struct baseline;
void print_summary(const struct prepared *p, const struct run_result *r, const struct report *rep,
		   const struct baseline *base);

/*
 * The ranks of this job. ranks_none.c is linked into profrig, which has one process (NULL),
 * ranks_mpi.c into profrig-mpi. At the end of the program; returns the exit code.
 */
extern struct comm *cli_comm;
struct comm *ranks_open(int *argc, char ***argv);
int ranks_close(struct comm *c, int code);

/*
 * First of all in main. helper_none.c is linked into profrig; helper_exec.c into the static profrig
 * of a portable build, which goes on as profrig-dynamic (and does not return) where the command may
 * load libraries and that program starts.
 */
void helper_take_over(int argc, char **argv);

/* The signal that came (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM) once they are caught, else 0. */
extern volatile sig_atomic_t cli_interrupt;
/* Whether SIGUSR1, SIGUSR2 came: they end nothing and are forwarded to the workload. */
extern volatile sig_atomic_t cli_forward[2];
void cli_catch_signals(void);
/* contract: 143 after SIGTERM and SIGALRM, 130 after all others */
int cli_interrupt_code(int sig);
/*
 * From now on a signal prints `words`, removes half-written files (temps.h) and ends profrig at
 * once. NULL: it is only noted, as before.
 */
void cli_exit_at_signal(const char *words);

#endif
