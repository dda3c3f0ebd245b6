/*
 * Options that both command lines have but madengine gives another meaning. Options that only
 * madengine has are rows of the option tables (MAD_RUN_OPTS, MAD_BUILD_OPTS), so that they take
 * every spelling of an option. docs/madengine.md has the table for users;
 * tests/cli/mad_documentation.sh checks it.
 */
#include "cli.h"
#include "mad_report.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "profrig/base/fs.h"
#include "profrig/base/text.h"

static const struct opt *option_named(const struct opt *opts, const char *name)
{
	for (; opts && opts->name; opts++)
		if (strcmp(opts->name, name) == 0)
			return opts;
	return NULL;
}

static bool is_table(const char *path)
{
	size_t n = strlen(path);

	return n > 4 && strcasecmp(path + n - 4, ".csv") == 0 && !fs_is_dir(path);
}

bool mad_value(const struct opt *opts, const struct opt **o, const char *value)
{
	const struct opt *table = option_named(opts, "perf-csv");

	/* only run and plan have a table of results */
	if (!table)
		return true;
	if (strcmp((*o)->name, "output") == 0 && is_table(value))
		*o = table;
	if (strcmp((*o)->name, "timeout") == 0 && strcmp(value, "-1") == 0) {
		const struct opt_conf *to = (*o)->to;

		runconf_give(to->given, to->path, CFG_NULL, NULL);
		return false;
	}
	return true;
}

/* gfx942, sm_90: no model has such a name. */
static bool is_arch(const char *s)
{
	return (strncmp(s, "gfx", 3) == 0 && isxdigit((unsigned char)s[3])) ||
	       (strncmp(s, "sm_", 3) == 0 && isdigit((unsigned char)s[3]));
}

bool mad_more_values(const struct opt *o, const char *word)
{
	return strcmp(o->name, "target-archs") == 0 && is_arch(word);
}

static int to_html(const struct command *c, const struct mad_report *m, struct strvec *inputs)
{
	if (m->directory)
		return cli_usage(c, "--directory goes with to-email");
	if (!m->table)
		return cli_usage(c, "to-html wants --csv-file-path FILE");
	strvec_push(inputs, m->table);
	return -1;
}

static int to_email(const struct command *c, const struct mad_report *m, struct strvec *inputs)
{
	const char *dir = m->directory ? m->directory : ".";
	CLEANUP(strvec_release) struct strvec tables = STRVEC_INIT;

	if (m->table)
		return cli_usage(c, "--csv-file-path goes with to-html");
	fs_glob(dir, "*.csv", &tables, NULL);
	if (!tables.nr)
		return cli_usage(c, "no CSV file is in '%s'", dir);
	for (size_t i = 0; i < tables.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, tables.v[i]);

		strvec_push(inputs, path);
	}
	return -1;
}

int mad_report_words(const struct command *c, const struct mad_report *m, struct strvec *inputs,
		     struct strvec *formats, const char **output)
{
	bool mail = inputs->nr && strcmp(inputs->v[0], "to-email") == 0;

	if (!mail && (!inputs->nr || strcmp(inputs->v[0], "to-html") != 0)) {
		if (m->table || m->directory)
			return cli_usage(c, "--csv-file-path goes with to-html, --directory with "
					    "to-email");
		return -1;
	}
	if (inputs->nr > 1)
		return cli_usage(c, "%s takes '%s' as %s", inputs->v[0], inputs->v[1],
				 mail ? "--directory DIR" : "--csv-file-path FILE");
	strvec_clear(inputs);
	if (!mail)
		return to_html(c, m, inputs);
	if (!*output)
		*output = "run_results.html";
	if (!formats->nr)
		strvec_push(formats, "mail");
	return to_email(c, m, inputs);
}
