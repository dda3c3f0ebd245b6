/*
 * completion: scripts for shells, and the command that they ask.
 *
 * The scripts hold no names. They pass the words of the line to `profrig __complete WORD…`; the
 * last word is the one being typed. They show its output, a candidate a line with a tab and a
 * description. A line ":files" or ":dirs" leaves the rest to the shell. So every shell offers every
 * command and option, from the tables by which the command line is parsed.
 */
#include "cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/bench/bench_back_end.h"
#include "profrig/bench/bench_vendor.h"
#include "profrig/compare/figures.h"
#include "profrig/publish/publish.h"
#include "profrig/readers/reader.h"
#include "profrig/report/convert.h"
#include "profrig/sampler/sampler.h"

#define MAX_RUNS 200

/* completion/profrig.bash, .zsh and .fish (mk/embed.mk). */
extern const char embedded_profrig_bash[], embedded_profrig_zsh[], embedded_profrig_fish[];

/* --- candidates --- */

struct asking {
	const char *cur;   /* the word typed so far */
	size_t skip;       /* bytes of cur in front of the part to complete, as in "a,b,c" */
	size_t operands;   /* how many operands come before it */
	const char *first; /* first operand, or NULL */
	struct strvec out;
};

/* about: the description, of which the first line is shown; NULL: none. */
static void word_offer(struct asking *a, const char *word, const char *about)
{
	size_t n = about ? strcspn(about, "\n") : 0;

	if (strncmp(word, a->cur + a->skip, strlen(a->cur + a->skip)) != 0)
		return;
	strvec_pushf(&a->out, "%.*s%s%s%.*s", (int)a->skip, a->cur, word, n ? "\t" : "", (int)n,
		     about ? about : "");
}

static void offer_words(struct asking *a, const char *list)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	strvec_split(&words, list, " ");
	for (size_t i = 0; i < words.nr; i++)
		word_offer(a, words.v[i], NULL);
}

static void offer_files(struct asking *a)
{
	strvec_push(&a->out, ":files");
}

static void offer_dirs(struct asking *a)
{
	strvec_push(&a->out, ":dirs");
}

static void offer_tools(struct asking *a)
{
	CLEANUP(strvec_release) struct strvec none = STRVEC_INIT;
	struct tool_set ts;

	if (tool_set_load(&ts, &none, NULL) < 0)
		return;
	for (size_t i = 0; i < ts.tools.nr; i++)
		word_offer(a, ts.tools.v[i]->name, ts.tools.v[i]->about);
	tool_set_release(&ts);
}

/* Completes behind the last comma; names before it are not offered again. */
static void offer_tool_list(struct asking *a)
{
	CLEANUP(strvec_release) struct strvec used = STRVEC_INIT;
	const char *list = a->cur + a->skip, *comma = strrchr(list, ',');
	CLEANUP(xfreep) char *before = xstrndup(list, comma ? (size_t)(comma - list) : 0);

	a->skip = comma ? (size_t)(comma + 1 - a->cur) : a->skip;
	strvec_split(&used, before, ",");
	offer_tools(a);
	for (size_t i = a->out.nr; i-- > 0;) {
		const char *name = a->out.v[i] + a->skip;
		CLEANUP(xfreep) char *plain = xstrndup(name, strcspn(name, "\t"));

		if (strvec_has(&used, plain))
			strvec_remove(&a->out, i);
	}
}

static void offer_samplers(struct asking *a)
{
	word_offer(a, "auto", "the GPUs");
	for (size_t i = 0; samplers[i]; i++)
		word_offer(a, samplers[i]->name, samplers[i]->about);
}

static void offer_models(struct asking *a)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	struct catalog cat = { .models = VEC_INIT };

	if (catalog_load_files(&cat, cwd, NULL) < 0)
		return;
	for (size_t i = 0; i < cat.models.nr; i++)
		word_offer(a, cat.models.v[i].name, cat.models.v[i].about);
	catalog_release(&cat);
}

static void offer_runs(struct asking *a)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	runs_names("runs", &names, NULL);
	if (names.nr)
		word_offer(a, "runs/latest", NULL);
	for (size_t i = 0; i < names.nr && i < MAX_RUNS; i++) {
		CLEANUP(xfreep) char *path = fs_join("runs", names.v[i]);

		word_offer(a, path, NULL);
	}
}

/* RUN start|stop|mark|status */
static void offer_ctl(struct asking *a)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (a->operands == 1)
		offer_words(a, "start stop mark status");
	if (a->operands > 0)
		return;
	word_offer(a, "latest", "the run that began last");
	runs_names("runs", &names, NULL);
	for (size_t i = 0; i < names.nr && i < MAX_RUNS; i++)
		word_offer(a, names.v[i], NULL);
}

static void offer_engines(struct asking *a)
{
	word_offer(a, "auto", "a container engine when there is an image");
	for (size_t i = 0; engines[i]; i++)
		word_offer(a, engines[i]->name, engines[i]->about);
}

static void offer_figures(struct asking *a)
{
	CLEANUP(table_freep) struct table *t = figures_known();
	const char *comma = strrchr(a->cur + a->skip, ',');

	a->skip = comma ? (size_t)(comma + 1 - a->cur) : a->skip;
	offer_words(a, "performance duration metrics functions kernels operators energy");
	for (size_t i = 0; i < table_rows(t); i++)
		word_offer(a, table_get_str(t, i, 0), NULL);
}

static void offer_readers(struct asking *a)
{
	for (size_t i = 0; readers[i]; i++)
		word_offer(a, readers[i]->name, readers[i]->about);
}

static void offer_analyses(struct asking *a)
{
	for (size_t i = 0; analyses[i]; i++)
		word_offer(a, analyses[i]->name, analyses[i]->about);
}

static void offer_reports(struct asking *a)
{
	for (size_t i = 0; writers[i]; i++)
		word_offer(a, writers[i]->name, writers[i]->about);
}

static void offer_converters(struct asking *a)
{
	for (size_t i = 0; converters[i]; i++)
		word_offer(a, converters[i]->name, converters[i]->about);
}

static void offer_publishers(struct asking *a)
{
	for (size_t i = 0; publishers[i]; i++)
		word_offer(a, publishers[i]->name, publishers[i]->about);
}

static void offer_back_ends(struct asking *a)
{
	offer_words(a, BENCH_FAMILIES_DEFAULT);
	for (const struct bench_back_end *b = bench_back_ends; b->name; b++)
		if (strcmp(b->name, b->family) != 0)
			word_offer(a, b->name, b->package);
	for (const char *const *n = bench_vendor_names; *n; n++)
		word_offer(a, *n, NULL);
}

static void offer_statuses(struct asking *a)
{
	for (int i = 0; i <= RUN_SKIPPED; i++)
		word_offer(a, run_status_name((enum run_status)i), NULL);
}

static const struct {
	const char *command, *option; /* command NULL: any command */
	void (*offer)(struct asking *a);
	const char *words;
} values[] = {
	{ "plan", "format", NULL, "text json sh" },
	{ "campaign query", "format", NULL, "text csv json ndjson" },
	{ "campaign export", "format", NULL, "csv json ndjson" },
	{ NULL, "format", offer_reports, NULL },
	{ "convert", "to", offer_converters, NULL },
	{ "convert", "dialect", NULL, "torch tensorboard" },
	{ NULL, "replay", offer_runs, NULL },
	{ NULL, "source", offer_samplers, NULL },
	{ NULL, "storage", NULL, "every change" },
	{ NULL, "compat", NULL, "madengine" },
	{ NULL, "tools", offer_tool_list, NULL },
	{ NULL, "tool", offer_tools, NULL },
	{ NULL, "model", offer_models, NULL },
	{ NULL, "engine", offer_engines, NULL },
	{ NULL, "status", offer_statuses, NULL },
	{ NULL, "reader", offer_readers, NULL },
	{ NULL, "analysis", offer_analyses, NULL },
	{ NULL, "sink", NULL, "auto model profile" },
	{ NULL, "integration", NULL, "linear previous trapezoid" },
	{ NULL, "attribution", NULL, "shared independent" },
	{ NULL, "estimate", NULL, "both time power" },
	{ "lib perf", "cache", NULL, "warm cold weights-cold" },
	{ "lib perf", "backends", offer_back_ends, NULL },
	{ "lib compare", "by", NULL, "time calls" },
	{ "compare", "gate", NULL, "strict" },
	{ "compare", "metric", offer_figures, NULL },
	{ "campaign report", "metric", offer_figures, NULL },
	{ "compare", "history", offer_figures, NULL },
	{ "publish", "to", offer_publishers, NULL },
};

/* An option without a row here takes what its word in --help names: a DIR or a FILE. */
static void offer_value(struct asking *a, const struct command *c, const struct opt *o)
{
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		if (strcmp(values[i].option, o->name) != 0 ||
		    (values[i].command && strcmp(values[i].command, c->name) != 0))
			continue;
		if (values[i].offer)
			values[i].offer(a);
		else
			offer_words(a, values[i].words);
		return;
	}
	if (o->arg && strstr(o->arg, "DIR"))
		offer_dirs(a);
	else if (o->arg && strstr(o->arg, "FILE"))
		offer_files(a);
}

static const struct {
	const char *command;
	void (*offer)(struct asking *a);
	bool files, dirs;
} operands[] = {
	{ "run", offer_models, true, false },   { "plan", offer_models, true, false },
	{ "build", offer_models, true, false }, { "discover", offer_models, false, false },
	{ "analyze", offer_runs, true, false }, { "report", offer_runs, true, false },
	{ "info", offer_runs, true, false },    { "convert", offer_runs, true, false },
	{ "compare", offer_runs, true, false }, { "ctl", offer_ctl, false, false },
	{ "mark", NULL, false, false },         { "prune", NULL, false, true },
	{ "doctor", NULL, false, false },       { "sample", NULL, false, false },
	{ "lib peak", NULL, false, false },     { "publish", offer_runs, true, false },
	{ "pack", offer_runs, true, false },
};

/* A usage such as "a|b|c" lists the words to offer. */
static bool offer_usage(struct asking *a, const struct command *c)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	if (!strchr(c->usage, '|') || !islower((unsigned char)*c->usage))
		return false;
	strvec_split(&words, c->usage, "|\n ");
	if (a->operands && strcmp(a->first, "tool") == 0)
		offer_tools(a);
	/* words in capitals (NAME…) are chosen by the user */
	for (size_t i = 0; i < words.nr && !a->operands; i++)
		if (islower((unsigned char)*words.v[i]))
			word_offer(a, words.v[i], NULL);
	return true;
}

static void offer_operand(struct asking *a, const struct command *c)
{
	if (offer_usage(a, c))
		return;
	for (size_t i = 0; i < ARRAY_LEN(operands); i++) {
		if (strcmp(operands[i].command, c->name) != 0)
			continue;
		if (operands[i].offer)
			operands[i].offer(a);
		if (operands[i].dirs)
			offer_dirs(a);
		if (operands[i].files)
			offer_files(a);
		return;
	}
	offer_files(a);
}

/* --- the line --- */

static void offer_options(struct asking *a, const struct opt *opts, bool json)
{
	for (; opts && opts->name; opts++) {
		CLEANUP(xfreep) char *word = xasprintf("--%s", opts->name);

		if (opts->help)
			word_offer(a, word, opts->help);
	}
	if (json)
		word_offer(a, "--json", "print JSON");
	word_offer(a, "--help", "explain it");
	word_offer(a, "--quiet", "errors only");
	word_offer(a, "--verbose", "say more");
}

static const struct opt *option_of(const struct opt *opts, const char *word)
{
	bool is_long = !strncmp(word, "--", 2);

	for (; opts && opts->name; opts++)
		if (is_long ? !strcmp(opts->name, word + 2)
			    : word[0] == '-' && word[1] && word[1] == opts->letter && !word[2])
			return opts->kind == OPT_FLAG || opts->kind == OPT_CONF_FLAG ? NULL : opts;
	return NULL;
}

struct line {
	struct asking *a;
	char *const *words; /* behind the command; the last is a->cur */
	size_t nr;
};

static void command_described(void *ctx, const struct command *c, const struct opt *opts, bool json)
{
	struct line *l = ctx;
	struct asking *a = l->a;
	const char *prev = l->nr > 1 ? l->words[l->nr - 2] : "";
	const struct opt *o = option_of(opts, prev);
	const char *eq = !strncmp(a->cur, "--", 2) ? strchr(a->cur, '=') : NULL;

	for (size_t i = 0; i + 1 < l->nr; i++)
		if (!strcmp(l->words[i], "--")) {
			offer_files(a);
			return;
		}
	for (size_t i = 0; i + 1 < l->nr; i++) {
		if (*l->words[i] == '-' || (i > 0 && option_of(opts, l->words[i - 1])))
			continue;
		a->first = a->operands++ ? a->first : l->words[i];
	}
	/* bash splits "--engine=docker" into three words, and "--engine=" into two. */
	if (!strcmp(prev, "=") && l->nr > 2) {
		o = option_of(opts, l->words[l->nr - 3]);
	} else if (!strcmp(a->cur, "=") && o) {
		a->cur = "";
	} else if (eq) {
		CLEANUP(xfreep) char *name = xstrndup(a->cur, (size_t)(eq - a->cur));

		o = option_of(opts, name);
		a->skip = (size_t)(eq + 1 - a->cur);
	}
	if (o)
		offer_value(a, c, o);
	else if (*a->cur == '-')
		offer_options(a, opts, json);
	else
		offer_operand(a, c);
}

/* The word of a command's name that follows `first`, "" for its first one; once for each word. */
static void command_offer(struct asking *a, const struct command *c, const char *first)
{
	const char *blank = strchr(c->name, ' ');
	size_t n = blank ? (size_t)(blank - c->name) : 0;
	CLEANUP(xfreep) char *family = xstrndup(c->name, n);

	if (*first) {
		if (blank && !strcmp(family, first))
			word_offer(a, blank + 1, c->about);
	} else if (!blank) {
		word_offer(a, c->name, c->about);
	} else if (!strvec_has(&a->out, family)) {
		word_offer(a, family, NULL);
	}
}

static int complete_main(const struct command *self, int argc, char **argv)
{
	struct asking a = { .cur = argc > 1 ? argv[argc - 1] : "", .out = STRVEC_INIT };
	int at = 1;

	(void)self;
	while (at < argc - 1 && argv[at][0] == '-')
		at++;
	if (at >= argc - 1) {
		for (size_t i = 0; commands[i]; i++)
			command_offer(&a, commands[i], "");
		if (*a.cur == '-')
			offer_words(&a, "--help --version --quiet --verbose");
	}
	for (size_t i = 0; at < argc - 1 && commands[i]; i++) {
		int words = command_named(commands[i], argc - 1 - at, argv + at);
		struct line l = { &a, argv + at + words, (size_t)(argc - at - words) };

		if (words > 0)
			cli_describe(commands[i], command_described, &l);
		else if (at == argc - 2)
			command_offer(&a, commands[i], argv[at]);
	}
	for (size_t i = 0; i < a.out.nr; i++)
		puts(a.out.v[i]);
	strvec_release(&a.out);
	return EXIT_DONE;
}

static int completion_main(const struct command *c, int argc, char **argv)
{
	static const struct {
		const char *shell, *script;
	} shells[] = { { "bash", embedded_profrig_bash },
		       { "zsh", embedded_profrig_zsh },
		       { "fish", embedded_profrig_fish } };
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	char **rest;
	int code = cli_parse(c, NULL, NULL, argc, argv, &words, &rest);

	if (code >= 0)
		return code;
	for (size_t i = 0; words.nr == 1 && i < ARRAY_LEN(shells); i++)
		if (!strcmp(shells[i].shell, words.v[0])) {
			puts(shells[i].script);
			return EXIT_DONE;
		}
	return cli_usage(c, "name a shell: bash, zsh or fish");
}

extern const struct command cmd_completion, cmd_complete;
const struct command cmd_completion = { "completion", "bash|zsh|fish",
					"print a completion script for a shell",
					"source <(profrig completion bash)", completion_main };
const struct command cmd_complete = { "__complete", "WORD…", "what may stand there", "",
				      complete_main };
