#include "cli.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/cfg.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/base/redact.h"
#include "profrig/base/text.h"

#define MAX_OPTS 96

int exit_worse(int a, int b)
{
	static const int order[] = { 143,           130,          EXIT_USAGE,
				     EXIT_CONFIG,   EXIT_MISSING, EXIT_UNREADABLE,
				     EXIT_WORKLOAD, EXIT_GATE,    EXIT_PARTIAL };

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a > b ? a : b;
}

int cli_usage(const struct command *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_error("%s: %s ('profrig %s --help' shows how)", c->name, text, c->name);
	return EXIT_USAGE;
}

void cli_problems(const struct problems *p)
{
	for (size_t i = 0; i < p->lines.nr; i++)
		log_error("%s", p->lines.v[i]);
	if (p->lines.nr > 1)
		log_error("%zu problems in the configuration; nothing was started", p->lines.nr);
}

char *cli_si(double v, const char *unit, char *buf)
{
	static const struct {
		double mul;
		const char *prefix;
	} steps[] = { { 1e12, "T" }, { 1e9, "G" },  { 1e6, "M" },  { 1e3, "k" },
		      { 1, "" },     { 1e-3, "m" }, { 1e-6, "µ" }, { 1e-9, "n" } };
	size_t i = 0;

	if (!isfinite(v)) {
		snprintf(buf, 32, "– %s", unit);
		return buf;
	}
	/* the step whose rounded value still reads below 1000 */
	while (i + 1 < ARRAY_LEN(steps) && fabs(v) < 0.9995 * steps[i].mul)
		i++;
	if (v == 0)
		i = 4;
	/* seconds have no kilo- and mega- in daily use */
	if (strcmp(unit, "s") == 0 && i < 4)
		i = 4;
	double x = v / steps[i].mul;
	int digits = fabs(x) >= 99.95 ? 0 : fabs(x) >= 9.995 ? 1 : 2;
	/* beyond the prefixes at both ends */
	if (fabs(x) >= 1e7 || (v != 0 && fabs(x) < 0.01))
		snprintf(buf, 32, "%.3g %s%s", x, steps[i].prefix, unit);
	else
		snprintf(buf, 32, "%.*f %s%s", digits, x, steps[i].prefix, unit);
	return buf;
}

void cli_put(FILE *f, const char *s, size_t max)
{
	size_t n = strlen(s);
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT, plain = STRBUF_INIT;
	bool cut = max > 0 && n > max;

	for (n = cut ? max : n; cut && n > 0 && (s[n] & 0xc0) == 0x80;)
		n--;
	strbuf_add(&plain, s, n);
	plain.len = redact(plain.buf, plain.len, REDACT_SURE);
	text_visible(&clean, plain.buf, plain.len, "");
	fprintf(f, "%s%s", clean.buf, cut ? "…" : "");
}

static int seconds_of(const struct command *c, const struct opt *o, const char *arg, double *ret)
{
	if (num_seconds(arg, strlen(arg), ret) < 0 || !(*ret >= 0))
		return cli_usage(c, "--%s wants a duration such as 90, 1.5s or 2m, not '%s'",
				 o->name, arg);
	return -1;
}

static int store_conf(const struct command *c, const struct opt *o, const char *arg)
{
	const struct opt_conf *to = o->to;
	char number[32];
	double s;

	switch (o->kind) {
	case OPT_CONF_FLAG:
		runconf_give(to->given, to->path, to->value ? CFG_STR : CFG_BOOL,
			     to->value ? to->value : "true");
		return -1;
	case OPT_CONF_SECONDS:
		if (seconds_of(c, o, arg, &s) >= 0)
			return EXIT_USAGE;
		num_fmt_f64(number, s);
		runconf_give(to->given, to->path, CFG_FLOAT, number);
		return -1;
	default:
		runconf_give(to->given, to->path, o->kind == OPT_CONF_STR ? CFG_STR : CFG_SEQ, arg);
		return -1;
	}
}

static int option_store(const struct command *c, const struct opt *o, const char *arg)
{
	int64_t i;

	switch (o->kind) {
	case OPT_ANSWER:
		return cli_usage(c, "--%s is madengine's: here it is %s", o->name, o->arg);
	case OPT_IDLE:
		log_info("--%s: it is always so", o->name);
		return -1;
	case OPT_FLAG:
		*(bool *)o->to = true;
		return -1;
	case OPT_STR:
		*(const char **)o->to = arg;
		return -1;
	case OPT_MAYBE:
		*(const char **)o->to = arg ? arg : "";
		return -1;
	case OPT_LIST:
		strvec_push(o->to, arg);
		return -1;
	case OPT_SECONDS:
		return seconds_of(c, o, arg, o->to);
	case OPT_INT:
		if (num_i64(arg, strlen(arg), &i) < 0 || i < 1 || i > 1000000)
			return cli_usage(c, "--%s wants a whole number from 1, not '%s'", o->name,
					 arg);
		*(long *)o->to = (long)i;
		return -1;
	case OPT_CONF_FLAG:
	case OPT_CONF_STR:
	case OPT_CONF_WORDS:
	case OPT_CONF_SECONDS:
		return store_conf(c, o, arg);
	}
	return -1;
}

/* The options of one command, as getopt_long wants them. */
struct grammar {
	struct option longs[MAX_OPTS + 8];
	char shorts[3 * MAX_OPTS + 16];
	size_t nr, nr_shorts;
};

/* the values that getopt_long returns */
enum { OPERAND = 1, IN_TABLE = 0x1000, JSON };

static bool is_flag(const struct opt *o)
{
	return o->kind == OPT_FLAG || o->kind == OPT_CONF_FLAG;
}

static void grammar_letter(struct grammar *g, char letter, int has_arg)
{
	g->shorts[g->nr_shorts++] = letter;
	for (int i = 0; i < has_arg; i++) /* "x", "x:", "x::" */
		g->shorts[g->nr_shorts++] = ':';
	g->shorts[g->nr_shorts] = '\0';
}

static void grammar_add(struct grammar *g, const char *name, int has_arg, int value)
{
	g->longs[g->nr++] = (struct option){ name, has_arg, NULL, value };
}

static void grammar_make(struct grammar *g, const struct opt *opts, bool json)
{
	*g = (struct grammar){ .nr = 0 };
	/*
	 * operands are returned in their places; ':' tells a missing value from an unknown option
	 */
	g->nr_shorts = (size_t)snprintf(g->shorts, sizeof(g->shorts), "-:hqv");
	for (const struct opt *o = opts; o && o->name; o++) {
		int has_arg = is_flag(o) || o->kind == OPT_IDLE               ? no_argument
			      : o->kind == OPT_MAYBE || o->kind == OPT_ANSWER ? optional_argument
									      : required_argument;

		assert(g->nr < MAX_OPTS);
		grammar_add(g, o->name, has_arg, IN_TABLE);
		if (o->letter)
			grammar_letter(g, o->letter, has_arg);
	}
	grammar_add(g, "help", no_argument, 'h');
	grammar_add(g, "quiet", no_argument, 'q');
	grammar_add(g, "verbose", no_argument, 'v');
	if (json)
		grammar_add(g, "json", no_argument, JSON);
}

static int unknown_option(const struct command *c, const struct option *longs, const char *word)
{
	const char *names[MAX_OPTS + 8];
	size_t n = 0;

	for (; longs[n].name; n++)
		names[n] = longs[n].name;
	names[n] = NULL;
	const char *near = strncmp(word, "--", 2) == 0 ? cfg_did_you_mean(word + 2, names) : NULL;
	if (near)
		return cli_usage(c, "unknown option '%s'; did you mean '--%s'?", word, near);
	return cli_usage(c, "unknown option '%s'", word);
}

/*
 * getopt_long takes unique prefixes of options. They are refused, because a script that uses one
 * breaks when a later option shares the prefix.
 */
static int refuse_abbreviations(const struct command *c, const struct option *longs, int argc,
				char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t len = strcspn(argv[i], "="), k = 0;
		if (strncmp(argv[i], "--", 2) != 0)
			continue;
		while (longs[k].name && (strlen(longs[k].name) != len - 2 ||
					 memcmp(longs[k].name, argv[i] + 2, len - 2) != 0))
			k++;
		if (!longs[k].name)
			return unknown_option(c, longs, argv[i]);
		if (longs[k].has_arg == no_argument && argv[i][len] == '=')
			return cli_usage(c, "option '--%s' takes no value", longs[k].name);
		i += longs[k].has_arg == required_argument && argv[i][len] != '=';
	}
	return -1;
}

static struct {
	cli_described_fn *fn;
	void *ctx;
} describing;

void cli_describe(const struct command *c, cli_described_fn *fn, void *ctx)
{
	CLEANUP(xfreep) char *name = xstrdup(c->name);
	char *argv[] = { name, NULL };

	describing.fn = fn;
	describing.ctx = ctx;
	c->main(c, 1, argv);
	describing.fn = NULL;
}

/*
 * Relative names, ./tools.d and the workload need the working directory. A workload may have
 * removed its own and can still use mark and ctl.
 */
static int standing_somewhere(const struct command *c)
{
	static const char *const anywhere[] = { "ctl", "mark", "completion", "__complete",
						"__man" };
	char cwd[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(anywhere); i++)
		if (!strcmp(c->name, anywhere[i]))
			return -1;
	if (getcwd(cwd, sizeof(cwd)) || errno == ERANGE)
		return -1;
	log_error("%s: the working directory is not there any more: %s; 'cd' to one that is",
		  c->name, strerror(errno));
	return EXIT_MISSING;
}

struct parse {
	const struct command *c;
	const struct opt *opts;
	bool *json;
	struct strvec *operands;
	const struct opt *last; /* the option of the word before; NULL */
	int verbose;
};

static int take_value(struct parse *p, const struct opt *o, const char *value)
{
	p->last = o;
	return !value || mad_value(p->opts, &o, value) ? option_store(p->c, o, value) : -1;
}

static int take_operand(struct parse *p, const char *word)
{
	if (p->last && mad_more_values(p->last, word))
		return option_store(p->c, p->last, word);
	p->last = NULL;
	strvec_push(p->operands, word);
	return -1;
}

/* Handles a result of getopt_long. Returns an exit code, or -1 to go on. */
static int option_take(struct parse *p, const struct grammar *g, int o, const struct opt *which,
		       const char *word)
{
	char letter[] = { '-', (char)optopt, '\0' };

	if (o == OPERAND)
		return take_operand(p, optarg);
	p->last = NULL;
	switch (o) {
	case IN_TABLE:
		return take_value(p, which, optarg);
	case JSON:
		*p->json = true;
		return -1;
	case 'h':
		cli_print_help(p->c, p->opts, p->json != NULL);
		return EXIT_DONE;
	case 'q':
		p->verbose = 0;
		return -1;
	case 'v':
		p->verbose = p->verbose < 2 ? 2 : 3;
		return -1;
	case ':':
		return cli_usage(p->c, "option '%s' wants an argument", word);
	case '?':
		/* of grouped letters only the unknown one is named */
		return unknown_option(p->c, g->longs, optopt > 0 && optopt < 0x80 ? letter : word);
	}
	for (const struct opt *i = p->opts; i && i->name; i++)
		if (i->letter == o)
			return take_value(p, i, optarg);
	return -1;
}

int cli_parse(const struct command *c, const struct opt *opts, bool *json, int argc, char **argv,
	      struct strvec *operands, char ***ret_rest)
{
	char **unwanted;

	ret_rest = ret_rest ? ret_rest : &unwanted;
	if (describing.fn) {
		*ret_rest = NULL;
		describing.fn(describing.ctx, c, opts, json != NULL);
		return EXIT_DONE;
	}
	struct parse p = { c, opts, json, operands, NULL, log_level() };
	struct grammar g;
	int o, which = 0, code;

	*ret_rest = NULL;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			*ret_rest = argv + i + 1;
			argc = i;
			break;
		}
	grammar_make(&g, opts, json != NULL);

	char *saved_end = argv[argc]; /* getopt wants NULL there, where "--" may be */
	argv[argc] = NULL;
	optind = 0;
	opterr = 0;
	code = refuse_abbreviations(c, g.longs, argc, argv);
	while (code < 0 && (o = getopt_long(argc, argv, g.shorts, g.longs, &which)) != -1)
		code = option_take(&p, &g, o, &opts[which], argv[optind - 1]);
	argv[argc] = saved_end;
	if (p.verbose != log_level()) {
		if (comm_rank(cli_comm) > 0)
			p.verbose = -1;
		log_setup(p.verbose, isatty(2));
		progress_setup(p.verbose <= 0 ? 0 : log_terminal() ? 2 : 1);
	}
	return code < 0 ? standing_somewhere(c) : code;
}
