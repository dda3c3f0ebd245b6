/*
 * sample: samplers alone, around a command or until they are stopped; no run directory.
 */
#include "sample.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/cfg.h"
#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/proc.h"
#include "profrig/base/progress.h"

#define LOOK_MS 250
/* Ctrl-C in a terminal also reaches the command: it is passed on only when the command still runs
 * after this time. */
#define OWN_END_MS 500

struct asked {
	const char *sources, *device, *output, *fields, *storage, *compat;
	double period_s, duration_s, idle_s; /* duration_s < 0: not given */
	struct strvec words;                 /* --option NAME=VALUE */
	VEC(struct sampler_option) options;  /* parsed from words; owned */
	bool realtime, propagate, live, json;
};

/* The state of the command. */
struct child {
	pid_t pid; /* 0: no command was given */
	bool ended;
	struct proc_exit how;
	int told; /* signals that were passed on */
	int64_t tell_ns;
};

static void asked_release(struct asked *a)
{
	for (size_t i = 0; i < a->options.nr; i++) {
		free(a->options.v[i].name);
		free(a->options.v[i].value);
	}
	VEC_RELEASE(&a->options);
	strvec_release(&a->words);
}

/* --- sources --- */

static void source_release(struct sample_source *s)
{
	sampling_free(s->sampling);
	sampling_stats_release(&s->stats);
	VEC_RELEASE(&s->opts.options);
	free(s->path);
	free(s->option_file);
}

static void sample_release(struct sample *s)
{
	for (size_t i = 0; i < s->source.nr; i++)
		source_release(&s->source.v[i]);
	VEC_RELEASE(&s->source);
	strvec_release(&s->views);
}

static void add_option(struct sample_source *s, char *name, const char *value)
{
	if (value)
		VEC_PUSH(&s->opts.options,
			 ((struct sampler_option){ name, (char *)(uintptr_t)value }));
}

/* The options borrow from a and from s. */
static void set_options(const struct asked *a, struct sample_source *s)
{
	static char file[] = "file", fields[] = "fields", storage[] = "storage";
	static char realtime[] = "realtime";

	s->opts.device = a->device;
	s->opts.period_s = a->period_s;
	add_option(s, file, s->option_file);
	add_option(s, fields, a->fields);
	add_option(s, storage, a->storage);
	add_option(s, realtime, a->realtime ? "yes" : NULL);
	for (size_t i = 0; i < a->options.nr; i++)
		add_option(s, a->options.v[i].name, a->options.v[i].value);
}

static int unknown_source(const struct command *c, const char *word)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *hint = NULL;

	strvec_push(&names, "auto");
	for (size_t i = 0; samplers[i]; i++)
		strvec_push(&names, samplers[i]->name);
	hint = cfg_hint(word, (const char *const *)names.v, ": 'profrig list samplers' shows them");
	return cli_usage(c, "unknown source '%s'%s", word, hint);
}

/* Adds "nvml" or "replay:old.csv". 0, or -errno with err set, or an exit code after printing the
 * reason. */
static int add_source(const struct command *c, const struct asked *a, const char *word,
		      struct sample *s, struct err *err)
{
	struct sample_source src = { 0 };
	const char *colon = strchr(word, ':');
	CLEANUP(xfreep) char *name = xstrndup(word, colon ? (size_t)(colon - word) : strlen(word));
	int r;

	if (strcmp(name, "auto") != 0 && !sampler_find(name))
		return unknown_source(c, name);
	if (colon && strcmp(name, "replay") != 0)
		return cli_usage(c, "only replay takes a file: --source replay:FILE");
	if (colon)
		src.option_file = xstrdup(colon + 1);
	set_options(a, &src);
	r = sampler_resolve(name, &src.opts, &src.sampler, err);
	if (r == 0)
		VEC_PUSH(&s->source, src);
	else
		source_release(&src);
	return r;
}

static int add_named(const struct command *c, const struct asked *a, struct sample *s)
{
	CLEANUP(xfreep) char *list = xstrdup(a->sources);
	char *rest = list, *word;

	while ((word = strsep(&rest, ","))) {
		struct err err = ERR_INIT;
		int r = add_source(c, a, word, s, &err);

		if (r > 0)
			return r;
		if (r < 0) {
			log_error("%s", err.msg);
			return EXIT_MISSING;
		}
	}
	return -1;
}

/* Without --source: the GPUs, else the processor's counters, and the processes of the command. */
static int add_default(const struct command *c, const struct asked *a, bool with_command,
		       struct sample *s)
{
	const struct sampler *rapl = sampler_find("rapl");
	struct err gpu = ERR_INIT, cpu = ERR_INIT;

	if (add_source(c, a, "auto", s, &gpu) < 0) {
		bool power = sampler_probe(rapl, NULL, &cpu) == 0;

		if (power)
			add_source(c, a, "rapl", s, NULL);
		if (power || with_command)
			log_notice("no GPU is sampled (%s)%s", gpu.msg,
				   power ? ""
					 : ", and no power or energy: there is no counter of the "
					   "processor either");
	}
	if (with_command)
		add_source(c, a, "procfs", s, NULL);
	if (s->source.nr)
		return -1;
	log_error("%s", gpu.msg);
	log_error("no power counter of the processor: %s", cpu.msg);
	log_notice("name a source with --source ('profrig list samplers'), such as estimate with "
		   "--option idle_w=… --option max_w=…");
	return EXIT_MISSING;
}

/* --- files --- */

static bool is_folder(const char *path)
{
	size_t n = strlen(path);

	return (n && path[n - 1] == '/') || fs_is_dir(path);
}

static char *path_in(const struct sample *s, size_t index, const char *dir)
{
	const char *name = s->source.v[index].sampler->name;
	size_t before = 0;
	char *file, *path;

	for (size_t i = 0; i < index; i++)
		before += s->source.v[i].sampler == s->source.v[index].sampler;
	file = before ? xasprintf("%s-%zu.csv", name, before + 1) : xasprintf("%s.csv", name);
	path = fs_join(dir, file);
	free(file);
	return path;
}

/* Several files need a folder; an output that names one file is none. */
static bool wants_folder(const struct asked *a, const struct sample *s)
{
	size_t n = a->output ? strlen(a->output) : 0;

	if (!a->output || s->source.nr > 1 || is_folder(a->output))
		return a->output != NULL;
	return a->compat && !(n > 4 && strcmp(a->output + n - 4, ".csv") == 0);
}

/* An option that no source reads is an error and is not ignored. */
static int check_options(const struct command *c, const struct asked *a, const struct sample *s)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	strvec_pushl(&names, "storage", "realtime", NULL);
	for (size_t i = 0; i < s->source.nr; i++) {
		const char *const *own = s->source.v[i].sampler->options;

		while (own && *own)
			strvec_push(&names, *own++);
	}
	for (size_t i = 0; i < a->options.nr; i++) {
		const char *name = a->options.v[i].name;
		CLEANUP(xfreep) char *hint = cfg_hint(name, (const char *const *)names.v, "");

		if (!strvec_has(&names, name))
			return cli_usage(c, "--option: no source here has '%s'%s", name, hint);
	}
	return -1;
}

static int check_sources(const struct command *c, const struct asked *a, bool with_command,
			 const struct sample *s)
{
	for (size_t i = 0; i < s->source.nr; i++)
		if (!with_command && !strcmp(s->source.v[i].sampler->name, "procfs"))
			return cli_usage(c, "procfs reads the processes of a command: give one "
					    "behind --, or leave the source out");
	return check_options(c, a, s);
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return door_stat(a, &x) == 0 && door_stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* A recording that is played must not be overwritten. */
static int check_recordings(const struct command *c, const struct sample *s)
{
	for (size_t i = 0; s->keeps && i < s->source.nr; i++)
		for (size_t k = 0; k < s->source.nr; k++) {
			const char *played = sampler_option(&s->source.v[k].opts, "file", NULL);

			if (played && same_file(played, s->source.v[i].path))
				return cli_usage(c,
						 "'%s' is played and would be written over: "
						 "name another place with -o",
						 played);
		}
	return -1;
}

/* -1 to go on, or an exit code. */
static int name_files(const struct asked *a, struct sample *s)
{
	bool folder = wants_folder(a, s);
	struct err err = ERR_INIT;

	s->keeps = a->output != NULL;
	if (folder && fs_mkdirs(a->output, 0755, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	for (size_t i = 0; i < s->source.nr; i++)
		s->source.v[i].path = folder ? path_in(s, i, a->output)
					     : xstrdup(a->output ? a->output : "/dev/null");
	return -1;
}

static void say_facts(const struct sample_source *src)
{
	const struct sampler_device *d;
	size_t n = sampling_devices(src->sampling, &d);

	for (size_t i = 0; i < n; i++) {
		CLEANUP(xfreep) char *shared = NULL;
		CLEANUP(xfreep) char *capped = NULL;

		log_info("%s: %s", d[i].id, d[i].facts);
		sampler_facts_judge(sampling_facts(src->sampling, i), d[i].id, &shared, &capped);
		if (shared)
			log_warn("%s", shared);
		if (capped)
			log_warn("%s", capped);
	}
}

static int sources_open(const struct command *c, struct sample *s)
{
	for (size_t i = 0; i < s->source.nr; i++) {
		struct sample_source *src = &s->source.v[i];
		struct sampling_opts o = { .sampler = src->sampler,
					   .source = src->opts,
					   .path = src->path };
		struct err err = ERR_INIT;
		int r = sampling_open(&o, &src->sampling, &err);

		if (r == -EINVAL)
			return cli_usage(c, "%s", err.msg);
		if (r < 0) {
			log_error("%s", err.msg);
			return EXIT_MISSING;
		}
		say_facts(src);
	}
	return -1;
}

/* The views of two sources have the same names, so every source after the first gets a folder. */
static int write_views(const struct asked *a, struct sample *s)
{
	CLEANUP(xfreep)
	char *beside = is_folder(a->output) ? xstrdup(a->output) : fs_dir(a->output);
	size_t before = 0;

	for (size_t i = 0; i < s->source.nr; i++) {
		struct sample_source *src = &s->source.v[i];
		CLEANUP(xfreep)
		char *dir = before ? fs_join(beside, src->sampler->name) : xstrdup(beside);
		struct err err = ERR_INIT;
		int r = fs_mkdirs(dir, 0755, &err);

		if (r == 0)
			r = sampler_compat_write(src->path, dir, &s->views, &err);
		if (r == -ENODATA)
			continue;
		if (r < 0) {
			log_error("%s", err.msg);
			return EXIT_PARTIAL;
		}
		before++;
	}
	if (before)
		return EXIT_DONE;
	log_error("no view for madengine: no source has the power of a GPU, or its memory");
	return EXIT_PARTIAL;
}

/* --- while sampling --- */

static void mark_all(struct sample *s, const char *name)
{
	for (size_t i = 0; i < s->source.nr; i++)
		sampling_mark(s->source.v[i].sampling, name);
}

static int sources_start(struct sample *s)
{
	s->started_ns = clock_monotonic_ns();
	for (size_t i = 0; i < s->source.nr; i++) {
		struct err err = ERR_INIT;

		if (sampling_start(s->source.v[i].sampling, &err) < 0) {
			log_error("%s", err.msg);
			return EXIT_MISSING;
		}
	}
	return -1;
}

/* A command that ends before the second tick leaves no reading, which is no error. */
static int source_judge(const struct sample *s, const struct sample_source *src)
{
	const struct sampling_stats *st = &src->stats;

	if (!st->error && st->rows)
		return EXIT_DONE;
	if (!st->error && s->lasted_s < 2e-9 * (double)st->period_ns) {
		log_notice("%s: it was over before the first reading", src->sampler->name);
		return EXIT_DONE;
	}
	log_error("%s: %s", src->sampler->name,
		  st->error ? st->error_text : "not one reading was made");
	return EXIT_PARTIAL;
}

static int sources_stop(struct sample *s)
{
	int code = EXIT_DONE;

	s->lasted_s = (double)(clock_monotonic_ns() - s->started_ns) / 1e9;
	for (size_t i = 0; i < s->source.nr; i++) {
		struct sample_source *src = &s->source.v[i];

		if (src->stopped)
			continue;
		sampling_stop(src->sampling, &src->stats);
		src->stopped = true;
		if (src->stats.realtime_error)
			log_warn("%s: no real-time priority: %s (needs root, CAP_SYS_NICE or an "
				 "rtprio limit)",
				 src->sampler->name, strerror(-src->stats.realtime_error));
		code = exit_worse(code, source_judge(s, src));
	}
	return code;
}

static int child_spawn(char *const *cmd, const char *program, struct child *ch)
{
	struct proc_opts o = PROC_OPTS_INIT;
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct err err = ERR_INIT;

	strvec_push(&argv, program);
	strvec_pushv(&argv, cmd + 1);
	o.argv = argv.v;
	o.fd_in = 0;
	o.fd_out = 1;
	o.fd_err = 2;
	/* so that the command gets a terminal's signals and input as it does without profrig */
	o.same_group = true;
	if (proc_spawn(&o, &ch->pid, &err) == 0)
		return -1;
	log_error("%s", err.msg);
	return EXIT_MISSING;
}

static void signals_forward(const struct child *ch)
{
	static const int sigs[] = { SIGUSR1, SIGUSR2 };

	for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
		if (cli_forward[i] && ch->pid && !ch->ended)
			kill(ch->pid, sigs[i]);
		cli_forward[i] = 0;
	}
}

static void pass_on(struct child *ch)
{
	int sig = cli_interrupt;
	int64_t now = clock_monotonic_ns();

	if (!sig || !ch->pid || ch->ended)
		return;
	if (!ch->tell_ns)
		ch->tell_ns = now + OWN_END_MS * NS_PER_MS;
	if (now >= ch->tell_ns && ch->told == 0) {
		kill(ch->pid, sig);
		ch->told++;
	}
}

/* Waits in short pieces, until the command ends, a signal comes, or until_ns. */
static void child_watch(struct sample *s, struct child *ch, struct sample_live *live,
			int64_t until_ns)
{
	while (!ch->ended && !(cli_interrupt && !ch->pid)) {
		int64_t left = until_ns - clock_monotonic_ns();
		int piece = left < LOOK_MS * NS_PER_MS ? (int)(left / NS_PER_MS) + 1 : LOOK_MS;

		if (left <= 0)
			break;
		pass_on(ch);
		signals_forward(ch);
		if (ch->pid)
			ch->ended = proc_wait(ch->pid, piece, &ch->how, NULL) != -ETIMEDOUT;
		else
			poll(NULL, 0, piece);
		if (live && !ch->ended) {
			CLEANUP(xfreep)
			char *line = sample_live_line(live, s, sample_terminal_width() - 1);

			progress_phase("%s", line);
		}
	}
}

static void sample_idle(struct sample *s, double seconds, struct sample_live *live)
{
	struct child none = { 0 };

	if (!(seconds > 0) || cli_interrupt)
		return;
	mark_all(s, "idle_start");
	child_watch(s, &none, live, clock_monotonic_ns() + (int64_t)(seconds * 1e9));
	mark_all(s, "idle_end");
}

static int command_watch(const struct asked *a, struct sample *s, char *const *cmd,
			 const char *program, struct child *ch, struct sample_live *live)
{
	bool bounded = a->duration_s >= 0;
	int64_t until;
	int code = -1;

	sample_idle(s, a->idle_s, live);
	if (cli_interrupt)
		return -1;
	until = bounded ? clock_monotonic_ns() + (int64_t)(a->duration_s * 1e9) : INT64_MAX;
	if (cmd) {
		mark_all(s, "workload_start");
		code = child_spawn(cmd, program, ch);
		for (size_t i = 0; code < 0 && i < s->source.nr; i++)
			sampling_target(s->source.v[i].sampling, ch->pid);
	}
	if (code >= 0)
		return code;
	child_watch(s, ch, live, until);
	if (cmd)
		mark_all(s, ch->ended ? "workload_end" : "sampling_end");
	if (!cmd || ch->ended)
		sample_idle(s, a->idle_s, live);
	return -1;
}

/* The command may run on after the time for sampling is over. */
static void child_wait(struct child *ch)
{
	while (ch->pid && !ch->ended) {
		pass_on(ch);
		ch->ended = proc_wait(ch->pid, LOOK_MS, &ch->how, NULL) != -ETIMEDOUT;
	}
}

static int child_code(const struct asked *a, const struct child *ch)
{
	if (!ch->ended || (ch->how.code == 0 && !ch->how.signal))
		return EXIT_DONE;
	if (!a->propagate)
		return EXIT_WORKLOAD;
	return ch->how.signal ? 128 + ch->how.signal : ch->how.code;
}

/* A line that is redrawn would mix with the output of a command on the same terminal. */
static bool shows_live(const struct asked *a, bool with_command)
{
	if (log_level() <= 0 || !log_terminal())
		return false;
	return a->live || !with_command || !isatty(1);
}

static int sample_and_show(const struct asked *a, struct sample *s, char *const *cmd,
			   const char *program)
{
	struct sample_live live;
	struct child ch = { 0 };
	int code = sources_start(s), bad;

	sample_live_init(&live);
	if (code < 0)
		code = command_watch(a, s, cmd, program, &ch, shows_live(a, cmd) ? &live : NULL);
	bad = sources_stop(s);
	progress_end();
	if (code >= 0)
		return code;
	child_wait(&ch);
	code = exit_worse(child_code(a, &ch), bad);
	if (a->propagate && child_code(a, &ch))
		code = child_code(a, &ch);
	if (a->compat)
		code = exit_worse(code, write_views(a, s));
	/* Ctrl-C is the normal end when there is no command and no duration */
	if (cli_interrupt && (cmd || a->duration_s >= 0 || cli_interrupt != SIGINT))
		code = exit_worse(code, cli_interrupt_code(cli_interrupt));
	sample_print_summary(s);
	if (a->json)
		sample_print_json(s, code, ch.how.code, ch.how.signal);
	return code;
}

/* --- the command --- */

static int take_options(const struct command *c, struct asked *a)
{
	for (size_t i = 0; i < a->words.nr; i++) {
		const char *word = a->words.v[i], *eq = strchr(word, '=');

		if (!eq || eq == word)
			return cli_usage(c, "--option wants NAME=VALUE, not '%s'", word);
		VEC_PUSH(&a->options, ((struct sampler_option){ xstrndup(word, (size_t)(eq - word)),
								xstrdup(eq + 1) }));
	}
	return -1;
}

static int bad_call(const struct command *c, const struct asked *a, const struct strvec *operands,
		    char *const *cmd)
{
	if (operands->nr)
		return cli_usage(c,
				 "'%s': the command stands behind --, as in profrig sample -- %s",
				 operands->v[0], operands->v[0]);
	if (cmd && !*cmd)
		return cli_usage(c, "no command after --");
	if (a->output && !*a->output)
		return cli_usage(c, "-o names no file");
	if (a->compat && strcmp(a->compat, "madengine") != 0)
		return cli_usage(c, "--compat knows madengine, not '%s'", a->compat);
	if (a->compat && !a->output)
		return cli_usage(c, "--compat writes files: say where with -o");
	if (a->period_s >= 0 && !(a->period_s >= 1e-4 && a->period_s <= 3600))
		return cli_usage(c, "--period is from 0.0001 to 3600 seconds");
	return -1;
}

static int sample_run(const struct command *c, const struct asked *a, char *const *cmd)
{
	CLEANUP(xfreep) char *program = cmd ? fs_which(cmd[0], NULL) : NULL;
	struct sample s = { .views = STRVEC_INIT };
	int code = -1;

	if (cmd && !program) {
		log_error("there is no program '%s'", cmd[0]);
		return EXIT_MISSING;
	}
	code = a->sources ? add_named(c, a, &s) : add_default(c, a, cmd != NULL, &s);
	if (code < 0)
		code = check_sources(c, a, cmd != NULL, &s);
	if (code < 0)
		code = name_files(a, &s);
	if (code < 0)
		code = check_recordings(c, &s);
	if (code < 0)
		code = sources_open(c, &s);
	if (code < 0)
		code = sample_and_show(a, &s, cmd, program);
	sample_release(&s);
	return code;
}

static int sample_main(const struct command *c, int argc, char **argv)
{
	struct asked a = {
		.device = "all", .period_s = -1, .duration_s = -1, .words = STRVEC_INIT
	};
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	/* clang-format off */
	const struct opt opts[] = {
		{ "source", 's', OPT_STR, &a.sources, "A,B,…",
		  "what to read: auto (the GPUs), nvml, rapl, procfs, replay:FILE, …" },
		{ "device", 'd', OPT_STR, &a.device, "LIST", "all, or indexes such as 0,2-4" },
		{ "period", 'p', OPT_SECONDS, &a.period_s, "S", "time between two reads (0.1)" },
		{ "output", 'o', OPT_STR, &a.output, "FILE",
		  "file, or folder for several files; none: only a summary" },
		{ "duration", 0, OPT_SECONDS, &a.duration_s, "S", "how long to sample" },
		{ "idle", 0, OPT_SECONDS, &a.idle_s, "S",
		  "sample S seconds before and after the command" },
		{ "fields", 0, OPT_STR, &a.fields, "A,B,…",
		  "series of GPUs, such as power,energy (all)" },
		{ "storage", 0, OPT_STR, &a.storage, "HOW",
		  "every read, or change: what is new (every)" },
		{ "realtime", 0, OPT_FLAG, &a.realtime, NULL,
		  "sample with a real-time priority, where that is allowed" },
		{ "option", 0, OPT_LIST, &a.words, "K=V", "an option of the source (repeatable)" },
		{ "compat", 0, OPT_STR, &a.compat, "NAME",
		  "also as madengine's files gpu_info_*_profiler_output.csv" },
		{ "live", 0, OPT_FLAG, &a.live, NULL,
		  "the live line also where the command writes to the terminal" },
		{ "propagate", 0, OPT_FLAG, &a.propagate, NULL,
		  "exit with the command's own status instead of 1" },
		{ 0 },
	};
	/* clang-format on */
	char **cmd;
	int code = cli_parse(c, opts, &a.json, argc, argv, &operands, &cmd);

	if (code < 0)
		code = bad_call(c, &a, &operands, cmd);
	if (code < 0)
		code = take_options(c, &a);
	if (a.period_s < 0)
		a.period_s = 0;
	if (code < 0) {
		cli_catch_signals();
		code = sample_run(c, &a, cmd);
	}
	asked_release(&a);
	return code;
}

const struct command cmd_sample = {
	"sample",
	"[-- CMD ARG…]",
	"power, energy, memory and utilisation, sampled around a command or until Ctrl-C",
	"profrig sample --source nvml,procfs --period 0.001 -o samples/ -- ./train",
	sample_main,
};
