/*
 * madengine's own command line: what its documentation shows works as it stands, or is answered
 * with what to write instead. Only words in front of "--" count; docs/madengine.md has this table
 * for people, tests/cli/mad_documentation.sh goes through both.
 */
#include "cli.h"

#include <ctype.h>
#include <string.h>

#include "profrig/fs.h"
#include "profrig/log.h"
#include "profrig/text.h"

enum meaning {
	SAME,     /* another word for it */
	VALUED,   /* the same, with a value */
	TABLE,    /* VALUED, where the value is a CSV file */
	NOTHING,  /* it is so anyway */
	NOWHERE,  /* what to write instead */
	NOWHERE_V /* the same, with a value */
};

static const struct word {
	const char *command, *word, *letter;
	enum meaning meaning;
	const char *here;
} words[] = {
	{ "run", "--live-output", "-l", SAME, "--live" },
	{ "run", "--keep-alive", NULL, SAME, "--keep" },
	{ "run", "--manifest-file", "-m", VALUED, "--manifest" },
	{ "run", "--output", "-o", TABLE, "--perf-csv" },
	{ "run", "--sys-env-details", NULL, NOTHING, NULL },
	{ "run", "--ignore-deprecated", NULL, NOTHING, NULL },
	{ "run", "--cleanup-perf", NULL, NOWHERE, "a new --perf-csv FILE" },
	{ "run", "--clean-docker-cache", NULL, NOWHERE, "'profrig build --clean-cache', then run" },
	{ "run", "--registry", "-r", NOWHERE_V, "'profrig build --registry HOST', then run" },
	{ "run", "--manifest-output", NULL, NOWHERE_V, "'profrig build --manifest-output FILE'" },
	{ "run", "--summary-output", "-s", NOWHERE_V, "--json" },
	{ "run", "--data-config", NULL, NOWHERE_V, "--config FILE with 'data:' (docs/data.md)" },
	{ "run", "--force-mirror-local", NULL, NOWHERE_V, "--set data[0].mirrorlocal=PATH" },
	{ "build", "--live-output", "-l", SAME, "--live" },
	{ "build", "--clean-docker-cache", NULL, SAME, "--clean-cache" },
	{ "build", "--summary-output", "-s", NOWHERE_V, "--json" },
	{ "build", "--build-on-compute", NULL, NOWHERE, "'profrig build' on that node" },
};

/* What each call made: options point into it for as long as the program runs. */
struct holder {
	struct strvec words;
	struct holder *before;
};
static struct holder *all;
static struct strvec *made; /* by the present one */

static const struct word *word_of(const struct command *c, const char *arg, const char **ret_value)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const struct word *w = &words[i];
		size_t n = strlen(w->word);

		if (strcmp(w->command, c->name) != 0)
			continue;
		*ret_value = NULL;
		if (strcmp(arg, w->word) == 0 || (w->letter && strcmp(arg, w->letter) == 0))
			return w;
		*ret_value = arg + n + 1;
		if (strncmp(arg, w->word, n) == 0 && arg[n] == '=')
			return w;
	}
	return NULL;
}

/* gfx942, sm_90: no model has such a name. */
static bool is_arch(const char *s)
{
	return (strncmp(s, "gfx", 3) == 0 && isxdigit((unsigned char)s[3])) ||
	       (strncmp(s, "sm_", 3) == 0 && isdigit((unsigned char)s[3]));
}

/* --target-archs a b, which is written with a comma here. */
static size_t take_archs(const char *option, char **argv, size_t i, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;

	strvec_push(made, option);
	for (; i + 1 < n && is_arch(argv[i + 1]); i++)
		strbuf_addf(&list, "%s%s", list.len ? "," : "", argv[i + 1]);
	if (list.len)
		strvec_push(made, list.buf);
	return i;
}

/* Returns how far it came, or n with *code set. */
static size_t take(const struct command *c, char **argv, size_t i, size_t n, int *code)
{
	const char *value, *arg = argv[i];
	const struct word *w = word_of(c, arg, &value);
	bool takes = w && (w->meaning == VALUED || w->meaning == TABLE || w->meaning == NOWHERE_V);

	if (!w || (takes && !value && i + 1 == n)) {
		strvec_push(made, arg);
		return i;
	}
	if (takes && !value)
		value = argv[++i];
	switch (w->meaning) {
	case SAME:
		strvec_push(made, w->here);
		break;
	case TABLE:
		if (!text_suffix(value, ".csv") || fs_is_dir(value)) {
			strvec_pushl(made, "--output", value, NULL);
			break;
		}
		/* fallthrough */
	case VALUED:
		strvec_pushl(made, w->here, value, NULL);
		break;
	case NOTHING:
		log_info("%s: it is always so", w->word);
		break;
	case NOWHERE:
	case NOWHERE_V:
		*code = cli_usage(c, "%s is madengine's: here it is %s", w->word, w->here);
		return n;
	}
	return i;
}

/* report to-html --csv-file-path F, report to-email --directory D --output F */
static int take_report(const struct command *c, char **argv, size_t n)
{
	bool mail = strcmp(argv[1], "to-email") == 0;
	const char *dir = ".", *table = NULL, *out = "run_results.html";
	CLEANUP(strvec_release) struct strvec tables = STRVEC_INIT;

	for (size_t i = 2; i < n; i++) {
		bool more = i + 1 < n;

		if (mail && more && text_in_list("--directory|--dir", '|', argv[i]))
			dir = argv[++i];
		else if (mail && more && text_in_list("--output|-o", '|', argv[i]))
			out = argv[++i];
		else if (!mail && more && text_in_list("--csv-file-path|--csv-file", '|', argv[i]))
			table = argv[++i];
		else
			return cli_usage(c, "%s does not know '%s'", argv[1], argv[i]);
	}
	strvec_push(made, argv[0]);
	if (!mail && !table)
		return cli_usage(c, "to-html wants --csv-file-path FILE");
	if (!mail) {
		strvec_push(made, table);
		return -1;
	}
	fs_glob(dir, "*.csv", &tables, NULL);
	if (!tables.nr)
		return cli_usage(c, "no CSV file is in '%s'", dir);
	for (size_t i = 0; i < tables.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, tables.v[i]);

		strvec_push(made, path);
	}
	strvec_pushl(made, "--format", "mail", "-o", out, NULL);
	return -1;
}

int cli_mad_words(const struct command *c, int *argc, char ***argv)
{
	char **from = *argv;
	size_t n = (size_t)*argc, end = 1;
	int code = -1;

	struct holder *now = xcalloc(1, sizeof(*now));

	strvec_init(&now->words);
	now->before = all;
	all = now;
	made = &now->words;
	while (end < n && strcmp(from[end], "--") != 0)
		end++;
	if (strcmp(c->name, "report") == 0 && end > 1 &&
	    text_in_list("to-html|to-email", '|', from[1])) {
		code = take_report(c, from, end);
	} else {
		for (size_t i = 0; i < end && code < 0; i++) {
			if (i + 1 < end && strcmp(c->name, "run") == 0 &&
			    strcmp(from[i], "--timeout") == 0 && strcmp(from[i + 1], "-1") == 0)
				i++; /* as if it were not there */
			else if (i > 0 && strcmp(c->name, "build") == 0 &&
				 text_in_list("--target-archs|-a", '|', from[i]) && i + 1 < end &&
				 is_arch(from[i + 1]))
				i = take_archs(from[i], from, i, end);
			else
				i = i ? take(c, from, i, end, &code)
				      : (strvec_push(made, from[0]), i);
		}
	}
	for (size_t i = end; i < n; i++)
		strvec_push(made, from[i]);
	*argc = (int)made->nr;
	*argv = made->v;
	return code;
}
