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

#include "profrig/cfg.h"
#include "profrig/log.h"
#include "profrig/num.h"
#include "profrig/progress.h"
#include "profrig/redact.h"
#include "profrig/text.h"

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

static void help_line(const struct opt *o)
{
	char left[64];
	int beyond = 0; /* bytes that take no column of their own: "A,B,…" */

	snprintf(left, sizeof(left), "%s%c%s--%s%s%s%s", o->letter ? "-" : "",
		 o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name,
		 !o->arg                ? ""
		 : o->kind == OPT_MAYBE ? "[="
					: " ",
		 o->arg ? o->arg : "", o->arg && o->kind == OPT_MAYBE ? "]" : "");
	for (const char *s = left; *s; s++)
		beyond += ((unsigned char)*s & 0xc0) == 0x80;
	printf("  %-*s %s\n", 24 + beyond, left, o->help);
}

static int print_command_help(const struct command *c, const struct opt *opts, bool json)
{
	printf("profrig %s: %s\n\nusage: profrig %s [options] %s\n\n", c->name, c->about, c->name,
	       c->usage);
	for (; opts && opts->name; opts++)
		help_line(opts);
	if (json)
		help_line(&(struct opt){ .name = "json", .help = "print JSON" });
	help_line(&(struct opt){ .name = "quiet", .letter = 'q', .help = "errors only" });
	help_line(&(struct opt){
		.name = "verbose", .letter = 'v', .help = "say more; twice: debug" });
	printf("\nexample: %s\n", c->example);
	return EXIT_DONE;
}

static int store(const struct command *c, const struct opt *o, const char *arg)
{
	double s;
	int64_t i;

	switch (o->kind) {
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
		if (num_seconds(arg, strlen(arg), &s) < 0 || !(s >= 0))
			return cli_usage(c,
					 "--%s wants a duration such as 90, 1.5s or 2m, not '%s'",
					 o->name, arg);
		*(double *)o->to = s;
		return -1;
	case OPT_INT:
		if (num_i64(arg, strlen(arg), &i) < 0 || i < 1 || i > 1000000)
			return cli_usage(c, "--%s wants a whole number from 1, not '%s'", o->name,
					 arg);
		*(long *)o->to = (long)i;
		return -1;
	}
	return -1;
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
 * getopt_long takes unique prefixes for options; a script that relies on one breaks with the next
 * option added, so they are refused.
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
 * Relative names, ./tools.d and the workload depend on it. A workload may have removed its own and
 * still mark, and be spoken to.
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

int cli_parse(const struct command *c, const struct opt *opts, bool *json, int argc, char **argv,
	      struct strvec *operands, char ***ret_rest)
{
	if (describing.fn) {
		*ret_rest = NULL;
		describing.fn(describing.ctx, c, opts, json != NULL);
		return EXIT_DONE;
	}
	struct option longs[MAX_OPTS + 8];
	char shorts[2 * MAX_OPTS + 16] = ":hqv";
	size_t n = 0, ns = strlen(shorts);
	int o, which, verbose = log_level(), code = -1;

	*ret_rest = NULL;
	code = cli_mad_words(c, &argc, &argv);
	if (code >= 0)
		return code;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			*ret_rest = argv + i + 1;
			argc = i;
			break;
		}
	for (; opts && opts[n].name; n++) {
		assert(n < MAX_OPTS);
		longs[n] = (struct option){ opts[n].name,
					    opts[n].kind == OPT_FLAG    ? no_argument
					    : opts[n].kind == OPT_MAYBE ? optional_argument
									: required_argument,
					    NULL, 0x1000 };
		if (opts[n].letter) {
			shorts[ns++] = opts[n].letter;
			if (opts[n].kind != OPT_FLAG)
				shorts[ns++] = ':';
		}
	}
	shorts[ns] = 0;
	size_t nl = n;
	longs[nl++] = (struct option){ "help", no_argument, NULL, 'h' };
	longs[nl++] = (struct option){ "quiet", no_argument, NULL, 'q' };
	longs[nl++] = (struct option){ "verbose", no_argument, NULL, 'v' };
	if (json)
		longs[nl++] = (struct option){ "json", no_argument, NULL, 0x1001 };
	longs[nl] = (struct option){ 0 };

	char *saved_end = argv[argc]; /* getopt wants NULL there, "--" may stand */
	argv[argc] = NULL;
	optind = 0;
	opterr = 0;
	code = refuse_abbreviations(c, longs, argc, argv);
	while (code < 0 && (o = getopt_long(argc, argv, shorts, longs, &which)) != -1) {
		if (o == 0x1000) {
			code = store(c, &opts[which], optarg);
		} else if (o == 0x1001) {
			*json = true;
		} else if (o == 'h') {
			code = print_command_help(c, opts, json != NULL);
		} else if (o == 'q') {
			verbose = 0;
		} else if (o == 'v') {
			verbose = verbose < 2 ? 2 : 3;
		} else if (o == ':') {
			code = cli_usage(c, "option '%s' wants an argument", argv[optind - 1]);
		} else if (o == '?') {
			code = unknown_option(c, longs, argv[optind - 1]);
		} else {
			for (size_t i = 0; i < n; i++)
				if (opts[i].letter == o)
					code = store(c, &opts[i], optarg);
		}
	}
	if (code < 0)
		for (int i = optind; i < argc; i++)
			strvec_push(operands, argv[i]);
	argv[argc] = saved_end;
	if (verbose != log_level()) {
		if (comm_rank(cli_comm) > 0)
			verbose = -1;
		log_setup(verbose, isatty(2));
		progress_setup(verbose <= 0 ? 0 : log_terminal() ? 2 : 1);
	}
	return code < 0 ? standing_somewhere(c) : code;
}
