/*
 * man: manual pages from the tables by which the command line is parsed, so that the two always
 * agree. `profrig __man WORD [FILE]` prints one: WORD is profrig, a command, or profrig.yaml for
 * the keys of a configuration. FILE holds the text that no table has, in roff: the part before the
 * options, and behind a line "=after" the part that follows them. `make man` calls it (mk/man.mk).
 */
#include "cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/text.h"

#define MAX_EXTRA ((size_t)256 << 10)
#define AFTER "\n=after\n"

/*
 * Escapes roff's special characters: '-' is a hyphen, '\' an escape, a line's first '.' a request.
 */
static void put_text(const char *s)
{
	bool start = true;

	for (; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		if (*s == '-')
			fputs("\\-", stdout);
		else if (*s == '\\')
			fputs("\\e", stdout);
		else if (!strncmp(s, "…", strlen("…")))
			fputs("\\&...", stdout), s += strlen("…") - 1;
		else if (*s == '\n')
			putchar(' ');
		else
			putchar(*s);
		start = false;
	}
}

static void put_sentence(const char *s)
{
	size_t n = strlen(s);

	put_text(s);
	puts((n && strchr(".?!", s[n - 1])) || text_suffix(s, "…") ? "" : ".");
}

static void page_head(const char *name, const char *section, const char *about)
{
	CLEANUP(xfreep) char *title = xstrdup(name);
	const char *date = getenv("PROFRIG_MAN_DATE"); /* of the release, from make */

	for (char *s = title; *s; s++)
		*s = (char)toupper((unsigned char)*s);
	fputs(".TH ", stdout);
	put_text(title);
	printf(" %s \"%s\" \"profrig %s\" \"profrig manual\"\n.SH NAME\n", section,
	       date ? date : "", PROFRIG_VERSION);
	put_text(name);
	fputs(" \\- ", stdout);
	put_text(about);
	putchar('\n');
}

static void see_also(const char *self)
{
	char word[64];

	puts(".SH SEE ALSO");
	if (strcmp(self, "profrig") != 0)
		puts(".BR profrig (1),");
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, self) != 0)
			printf(".BR profrig\\-%s (1),\n", command_word(commands[i], word));
	puts(".BR profrig.yaml (5)");
}

/* --- a command --- */

struct page {
	const char *before, *after; /* roff from FILE; "" none */
};

static void put_option(const struct opt *o)
{
	puts(".TP");
	if (o->letter)
		printf("\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", stdout);
	put_text(o->name);
	fputs("\\fR", stdout);
	if (o->arg) {
		fputs(" \\fI", stdout);
		put_text(o->arg);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	put_sentence(o->help);
}

static void command_described(void *ctx, const struct command *c, const struct opt *opts, bool json)
{
	const struct page *p = ctx;
	char word[64];
	CLEANUP(xfreep) char *name = xasprintf("profrig-%s", command_word(c, word));
	CLEANUP(strvec_release) struct strvec usage = STRVEC_INIT;

	page_head(name, "1", c->about);
	puts(".SH SYNOPSIS");
	printf(".B profrig %s\n[\\fIoptions\\fR]\n", c->name);
	strvec_split(&usage, c->usage, "\n ");
	for (size_t i = 0; i < usage.nr; i++) {
		put_text(usage.v[i]);
		putchar('\n');
	}
	puts(".SH DESCRIPTION");
	if (*p->before) {
		puts(p->before);
	} else {
		CLEANUP(xfreep) char *about = xstrdup(c->about);

		about[0] = (char)toupper((unsigned char)about[0]);
		put_sentence(about);
	}
	puts(".SH OPTIONS");
	for (; opts && opts->name; opts++)
		if (opts->help)
			put_option(opts);
	if (json)
		put_option(&(struct opt){ .name = "json", .help = "print JSON" });
	put_option(&(struct opt){ .name = "quiet", .letter = 'q', .help = "errors only" });
	put_option(&(struct opt){
		.name = "verbose", .letter = 'v', .help = "say more; twice: debug" });
	put_option(&(struct opt){ .name = "help", .letter = 'h', .help = "explain it shortly" });
	if (*p->after)
		puts(p->after);
	if (*c->example) {
		puts(".SH EXAMPLES\n.nf");
		put_text(c->example);
		puts("\n.fi");
	}
	see_also(c->name);
}

/* --- profrig(1), profrig.yaml(5) --- */

static void page_overview(const struct page *p)
{
	page_head("profrig", "1", "profiled model runs, and where their time and energy went");
	puts(".SH SYNOPSIS\n.B profrig\n\\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION");
	puts(p->before);
	puts(".SH COMMANDS");
	for (size_t i = 0; commands[i]; i++) {
		char word[64];

		printf(".TP\n.BR profrig\\-%s (1)\n", command_word(commands[i], word));
		put_sentence(commands[i]->about);
	}
	puts(p->after);
	see_also("profrig");
}

static void page_keys(const struct page *p)
{
	page_head("profrig.yaml", "5", "what a profiled run does");
	puts(".SH DESCRIPTION");
	puts(p->before);
	puts(".SH KEYS");
	for (const struct schema_key *k = schema_table; k->path; k++) {
		fputs(".TP\n\\fB", stdout);
		put_text(k->path);
		fputs("\\fR (", stdout);
		put_text(k->choices ? k->choices : k->type);
		if (k->def) {
			fputs(", default ", stdout);
			put_text(k->def);
		}
		puts(")");
		put_sentence(k->about);
	}
	puts(p->after);
	see_also("profrig.yaml");
}

static int print_page(const char *word, const struct page *p)
{
	char name[64];

	if (!strcmp(word, "profrig")) {
		page_overview(p);
		return EXIT_DONE;
	}
	if (!strcmp(word, "profrig.yaml")) {
		page_keys(p);
		return EXIT_DONE;
	}
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(command_word(commands[i], name), word)) {
			cli_describe(commands[i], command_described, (void *)p);
			return EXIT_DONE;
		}
	log_error("no command '%s'", word);
	return EXIT_USAGE;
}

static int man_main(const struct command *c, int argc, char **argv)
{
	struct page p = { "", "" };
	struct err err = ERR_INIT;
	char word[64];
	CLEANUP(xfreep) char *text = NULL;
	char *after;

	/* Lists the pages, for make. */
	if (argc < 2) {
		puts("profrig\nprofrig.yaml");
		for (size_t i = 0; commands[i]; i++)
			puts(command_word(commands[i], word));
		return EXIT_DONE;
	}
	if (argc > 2 && fs_exists(argv[2])) {
		if (fs_read(argv[2], MAX_EXTRA, &text, NULL, &err) < 0)
			return cli_usage(c, "%s", err.msg);
		after = strstr(text, AFTER);
		if (after) {
			*after = '\0';
			p.after = after + strlen(AFTER);
		}
		p.before = text;
	}
	return print_page(argv[1], &p);
}

extern const struct command cmd_man;
const struct command cmd_man = { "__man", "WORD [FILE]", "print a manual page", "", man_main };
