/*
 * help: the text of --help, in two columns within 80 cells. A left word that is longer than its
 * column gets a line of its own.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/text.h"

#define WIDTH 80
#define TEXT_AT 28 /* column where the description of an option begins */

static size_t text_columns(const char *s, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += ((unsigned char)s[i] & 0xc0) != 0x80;
	return w;
}

/* Bytes of s for one line: up to a blank, which is dropped, or up to and with a '|'. */
static size_t piece_length(const char *s)
{
	size_t n = strcspn(s, " |");

	return s[n] == '|' ? n + 1 : n;
}

/* Prints text from column `at`, where the cursor is, wrapped to column `indent`. */
static void put_wrapped(FILE *f, const char *text, size_t at, size_t indent)
{
	bool blank = false;

	while (*text) {
		size_t n = piece_length(text), w = text_columns(text, n);

		if (at > indent && at + blank + w > WIDTH) {
			fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
			blank = false;
		}
		fprintf(f, "%s%.*s", blank ? " " : "", (int)n, text);
		at += blank + w;
		text += n;
		blank = *text == ' ';
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

void cli_print_row(FILE *f, const char *left, const char *text, size_t text_at)
{
	size_t at = 2 + text_columns(left, strlen(left));

	fprintf(f, "  %s", left);
	if (at + 2 > text_at) {
		fputc('\n', f);
		at = 0;
	}
	fprintf(f, "%*s", (int)(text_at - at), "");
	put_wrapped(f, text, text_at, text_at);
}

static void put_option(const struct opt *o)
{
	bool maybe = o->kind == OPT_MAYBE;
	char letter[] = { '-', o->letter, ',', ' ', '\0' };
	CLEANUP(xfreep)
	char *left = xasprintf("%s--%s%s%s%s", o->letter ? letter : "    ", o->name,
			       !o->arg ? ""
			       : maybe ? "[="
				       : " ",
			       o->arg ? o->arg : "", maybe ? "]" : "");

	if (o->help)
		cli_print_row(stdout, left, o->help, TEXT_AT);
}

bool cli_helped;

void cli_print_help(const struct command *c, const struct opt *opts, bool json)
{
	CLEANUP(xfreep) char *title = xasprintf("profrig %s: %s", c->name, c->about);
	CLEANUP(xfreep) char *start = xasprintf("usage: profrig %s", c->name);
	CLEANUP(xfreep) char *words = xasprintf(" [options]%s%s", *c->usage ? " " : "", c->usage);

	put_wrapped(stdout, title, 0, 0);
	printf("\n%s", start);
	put_wrapped(stdout, words, strlen(start), strlen(start) + 1);
	putchar('\n');
	for (; opts && opts->name; opts++)
		put_option(opts);
	if (json)
		put_option(&(struct opt){ .name = "json", .help = "print JSON" });
	put_option(&(struct opt){ .name = "quiet", .letter = 'q', .help = "errors only" });
	put_option(&(struct opt){
		.name = "verbose", .letter = 'v', .help = "say more; twice: debug" });
	put_option(&(struct opt){ .name = "help", .letter = 'h', .help = "print this" });
	printf("\nexample: %s\n", c->example);
	cli_helped = true;
}
