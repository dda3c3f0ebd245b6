/*
 * profrig: the command table and the way in.
 */
#include "cli.h"

#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/cfg.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/base/redact.h"
#include "profrig/base/temps.h"
#include "profrig/base/xalloc.h"
#include "profrig/config/runconf.h"
#include "profrig/devices/devices.h"
#include "profrig/readers/reader.h"
#include "profrig/sampler/sampler.h"

#define THREAD_STACK ((size_t)512 << 10)

/* In the order of --help; the hidden commands are for profrig's own scripts. */
/* clang-format off */
#define COMMANDS(X) \
	X(run) X(plan) X(discover) X(build) X(analyze) X(report) X(info) X(convert) X(compare) \
	X(lib_trace) X(lib_perf) X(lib_peak) X(lib_compare) X(campaign_init) X(campaign_plan) \
	X(campaign_run) X(campaign_resume) X(campaign_status) X(campaign_cancel) \
	X(campaign_retry) X(campaign_logs) X(campaign_report) X(campaign_query) \
	X(campaign_export) X(campaign_rebuild) X(publish) X(pack) X(list) X(prune) X(doctor) \
	X(ctl) X(mark) X(sample) \
	X(completion)
#define HIDDEN_COMMANDS(X) X(complete) X(man) X(bench_child) X(campaign_work)
#define COMMAND_DECLARE(name) extern const struct command cmd_##name;
COMMANDS(COMMAND_DECLARE)
HIDDEN_COMMANDS(COMMAND_DECLARE)
/* clang-format on */

#define COMMAND_AT(name) &cmd_##name,
const struct command *const commands[] = { COMMANDS(COMMAND_AT) NULL };
static const struct command *const hidden_commands[] = { HIDDEN_COMMANDS(COMMAND_AT) NULL };

volatile sig_atomic_t cli_interrupt;
static const char *volatile last_words; /* NULL: a signal is only noted */
static bool on_terminal;                /* a line of progress may be shown there */

volatile sig_atomic_t cli_forward[2];

int cli_interrupt_code(int sig)
{
	return 128 + (sig == SIGTERM || sig == SIGALRM ? SIGTERM : SIGINT);
}

/* Schedulers announce the end of the time with these signals: they are passed to the workload. */
static void on_user_signal(int sig)
{
	cli_forward[sig == SIGUSR2] = 1;
}

static void on_signal(int sig)
{
	const char *words = last_words;

	if (words) {
		ssize_t r = on_terminal ? write(2, "\n", 1) : 0;

		r += write(2, words, strlen(words));
		(void)r;
		temps_remove();
		_exit(cli_interrupt_code(sig));
	}
	cli_interrupt = sig;
}

void cli_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal }, was;
	struct sigaction user = { .sa_handler = on_user_signal };

	on_terminal = isatty(2);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGQUIT, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGUSR1, &user, NULL);
	sigaction(SIGUSR2, &user, NULL);
	/* Ignored when nohup started profrig, so that it outlives the terminal. */
	if (sigaction(SIGHUP, NULL, &was) < 0 || was.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

void cli_exit_at_signal(const char *words)
{
	last_words = words;
}

static void print_help(FILE *f)
{
	fputs("profrig: profiled model runs, and where their time and energy went\n\n"
	      "usage: profrig COMMAND [options]\n\n",
	      f);
	for (size_t i = 0; commands[i]; i++)
		cli_print_row(f, commands[i]->name, commands[i]->about, 19);
	fputs("\nprofrig COMMAND --help explains one. First steps:\n"
	      "  profrig doctor                      what works on this machine\n"
	      "  profrig run examples/mlp            a profiled run\n"
	      "  profrig run --tools cpu_power -- ./program\n",
	      f);
}

static void print_version(void)
{
	printf("profrig %s\nengines:", PROFRIG_VERSION);
	for (size_t i = 0; engines[i]; i++)
		printf(" %s", engines[i]->name);
	printf("\nsamplers:");
	for (size_t i = 0; samplers[i]; i++)
		printf(" %s", samplers[i]->name);
	printf("\nreaders:");
	for (size_t i = 0; readers[i]; i++)
		printf(" %s", readers[i]->name);
	printf("\nreports:");
	for (size_t i = 0; writers[i]; i++)
		printf(" %s", writers[i]->name);
	putchar('\n');
	printf("page: %s\n",
	       page_html(NULL) ? "built in" : "not built in (PAGE=0): reports are plain tables");
}

const char *command_word(const struct command *c, char buf[64])
{
	char *blank;

	snprintf(buf, 64, "%s", c->name);
	blank = strchr(buf, ' ');
	if (blank)
		*blank = '-';
	return buf;
}

int command_named(const struct command *c, int argc, char *const *argv)
{
	const char *blank = strchr(c->name, ' ');
	char buf[64];
	size_t n = blank ? (size_t)(blank - c->name) : 0;

	if (argc > 0 && strcmp(command_word(c, buf), argv[0]) == 0)
		return 1;
	return n && argc > 1 && strlen(argv[0]) == n && !memcmp(argv[0], c->name, n) &&
			       strcmp(argv[1], blank + 1) == 0
		       ? 2
		       : 0;
}

/* "profrig lib", and what that is followed by: the commands that begin so; false: there is none. */
static bool print_family(const char *word, const char *next, int *ret_code)
{
	bool help = next && (!strcmp(next, "--help") || !strcmp(next, "-h"));
	size_t n = strlen(word), found = 0;

	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;

		if (strncmp(name, word, n) != 0 || name[n] != ' ')
			continue;
		if (found++ == 0 && !help)
			log_error(next ? "no command '%s %.40s'" : "'%s' needs one more word", word,
				  next);
		cli_print_row(help ? stdout : stderr, name, commands[i]->about, 19);
	}
	*ret_code = help ? EXIT_DONE : EXIT_USAGE;
	return found > 0;
}

/* NULL: there is none; else *ret_words are its name. */
static const struct command *command_of(const struct command *const *table, int argc,
					char *const *argv, int *ret_words)
{
	for (; *table; table++) {
		*ret_words = command_named(*table, argc, argv);
		if (*ret_words > 0)
			return *table;
	}
	return NULL;
}

static int unknown_command(const char *word)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *hint = NULL;

	for (size_t i = 0; commands[i]; i++)
		strvec_push(&names, commands[i]->name);
	hint = cfg_hint(word, (const char *const *)names.v, "; 'profrig --help' lists them");
	if (strcmp(word, "database") == 0)
		log_error("'database' is madengine's: here it is 'mongoimport --db DB "
			  "--collection NAME --type csv --headerline --file perf.csv'");
	else
		log_error("unknown command '%s'%s", word, hint);
	return EXIT_USAGE;
}

/*
 * A standard stream that the caller closed would give its number to the next opened file, and
 * progress would be written into that file. Standard output is opened with O_RDONLY, so that
 * printing to it stays an error.
 */
static void open_standard_streams(void)
{
	static const int flags[] = { O_RDONLY, O_RDONLY, O_WRONLY };

	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
			_exit(EXIT_MISSING);
}

/*
 * Values of the caller's variables may be written out on a command line, which goes into plans and
 * run.json. Short values, and paths of files that hold a secret, are none. Base64 may begin with a
 * '/' too, so a path counts only when the file exists.
 */
static void learn_secrets(void)
{
	for (char **e = environ; *e; e++) {
		size_t n = strcspn(*e, "=");
		CLEANUP(xfreep) char *name = xstrndup(*e, n);
		const char *value = (*e)[n] ? *e + n + 1 : "";

		if (strlen(value) >= REDACT_SURE && !(*value == '/' && fs_exists(value)) &&
		    runconf_is_secret_name(name))
			redact_learn(value);
	}
}

struct comm *cli_comm;

/* Only analyze works with several ranks. */
static int ranks_check(const char *command)
{
	if (comm_alone(cli_comm) || strcmp(command, "analyze") == 0)
		return EXIT_DONE;
	log_error("%d ranks only do 'analyze' together; run 'profrig %s' without mpirun",
		  cli_comm->size, command);
	return EXIT_USAGE;
}

/* These commands start no process that needs an orderly end: a signal ends them at once. */
static bool only_reads_and_writes(const struct command *c)
{
	return c == &cmd_analyze || c == &cmd_report || c == &cmd_info || c == &cmd_convert ||
	       c == &cmd_pack || c == &cmd_lib_trace || c == &cmd_lib_compare ||
	       c == &cmd_compare || c == &cmd_campaign_export || c == &cmd_campaign_rebuild ||
	       c == &cmd_campaign_report;
}

#define MORE_MEMORY "leave it more memory (other programs, ulimit -v)"

/* The message for the end of memory, until a command sets a better one: nothing lasting is done
 * yet. */
static void plan_last_words(const struct command *c)
{
	if (only_reads_and_writes(c))
		xalloc_last_words("what was not finished is not there; leave it more memory (other "
				  "programs, ulimit -v), or give it fewer inputs",
				  EXIT_UNREADABLE);
	else
		xalloc_last_words(MORE_MEMORY, EXIT_MISSING);
}

static char out_buffer[1 << 16];

static bool is_pipe_without_reader(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

/* Output that could not be written makes the exit code non-zero. */
static int code_printed(const struct command *c, int code)
{
	bool results = (c == &cmd_run || c == &cmd_build) && !cli_helped;

	if (!fflush(stdout) && !ferror(stdout))
		return code;
	/*
	 * a cut list, as in "doctor | head", is fine; the place of a run or an image must be seen
	 */
	if (!results && is_pipe_without_reader(STDOUT_FILENO))
		return code;
	log_error("cannot write to standard output");
	return code ? code : EXIT_WORKLOAD;
}

static int command_run(const struct command *c, int argc, char **argv)
{
	int code = ranks_check(c->name);

	plan_last_words(c);
	if (only_reads_and_writes(c) && comm_alone(cli_comm)) {
		cli_catch_signals();
		cli_exit_at_signal(
			"profrig: interrupted: what was not finished is not there, run it again\n");
	}
	if (code == EXIT_DONE)
		code = c->main(c, argc, argv);
	progress_end();
	return code_printed(c, code);
}

static int cli_main(int argc, char **argv)
{
	const struct command *found;
	int level = 1, at = 1, words, code;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (strcmp(argv[at], "-q") == 0 || strcmp(argv[at], "--quiet") == 0)
			level = 0;
		else if (strcmp(argv[at], "-v") == 0 || strcmp(argv[at], "--verbose") == 0)
			level = level < 2 ? 2 : 3;
		else if (strcmp(argv[at], "-vv") == 0)
			level = 3;
		else
			break;
	}
	if (comm_rank(cli_comm) > 0)
		level = -1;
	log_setup(level, isatty(2));
	progress_setup(level <= 0 ? 0 : log_terminal() ? 2 : 1);
	if (at >= argc) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[at], "--version") == 0) {
		print_version();
		return code_printed(NULL, EXIT_DONE);
	}
	if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0 ||
	    strcmp(argv[at], "help") == 0) {
		print_help(stdout);
		return code_printed(NULL, EXIT_DONE);
	}
	if (argv[at][0] == '-') {
		log_error("unknown option '%s'; 'profrig --help' shows the commands", argv[at]);
		return EXIT_USAGE;
	}
	found = command_of(commands, argc - at, argv + at, &words);
	if (!found)
		found = command_of(hidden_commands, argc - at, argv + at, &words);
	if (found)
		return command_run(found, argc - at - words + 1, argv + at + words - 1);
	if (print_family(argv[at], argv[at + 1], &code))
		return code_printed(NULL, code);
	return unknown_command(argv[at]);
}

/* By default the stack limit (ulimit -s) sets the size of thread stacks, which may be too small. */
static void give_threads_room(void)
{
	pthread_attr_t attr;
	size_t n;

	if (pthread_getattr_default_np(&attr) != 0)
		return;
	if (pthread_attr_getstacksize(&attr, &n) == 0 && n < THREAD_STACK &&
	    pthread_attr_setstacksize(&attr, THREAD_STACK) == 0)
		pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	int code;

	helper_take_over(argc, argv);
	xalloc_last_words(MORE_MEMORY, EXIT_MISSING);
	give_threads_room();
	open_standard_streams();
	xalloc_last_act(temps_remove);
	signal(SIGPIPE, SIG_IGN);
	/* so that the end of memory is not reported as a bad document */
	json_set_alloc_funcs(xmalloc, free);
	/* whole lines, also where stdout and stderr are one file */
	setvbuf(stdout, out_buffer, _IOLBF, sizeof(out_buffer));
	learn_secrets();
	if (*devices_root())
		door_leave_out(devices_root());
	/* A file at its size limit (ulimit -f) then gives the error EFBIG. */
	signal(SIGXFSZ, SIG_IGN);
	cli_comm = ranks_open(&argc, &argv);
	code = cli_main(argc, argv);
	return ranks_close(cli_comm, code);
}
