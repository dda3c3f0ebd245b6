/*
 * Prints the messages of preparing runs and builds: lines, errors and exit codes for the results of
 * harness/campaign.
 */
#include "cli.h"
#include "pick_models.h"

#include <errno.h>

#include "profrig/base/log.h"

void warn_once(const struct strvec *lines)
{
	static struct strvec told = STRVEC_INIT;

	for (size_t i = 0; i < lines->nr; i++) {
		if (strvec_has(&told, lines->v[i]))
			continue;
		strvec_push(&told, lines->v[i]);
		log_warn("%s", lines->v[i]);
	}
}

void cli_said(struct said *s)
{
	for (size_t i = 0; i < s->v.nr; i++) {
		struct said_line *l = &s->v.v[i];

		if (l->level == SAID_WARNING_ONCE)
			warn_once(&(struct strvec){ .v = &l->text, .nr = 1 });
		else if (l->level == SAID_WARNING)
			log_warn("%s", l->text);
		else
			log_notice("%s", l->text);
	}
	said_release(s);
}

int cli_failed(const struct command *c, int r, const struct err *err)
{
	if (r == 0)
		return EXIT_DONE;
	if (r == -EINVAL)
		return cli_usage(c, "%s", err->msg);
	if (*err->msg)
		log_error("%s", err->msg);
	return r == -ENOENT ? EXIT_USAGE : r == -ENODEV ? EXIT_MISSING : EXIT_CONFIG;
}

int load_tools(const struct command *c, const struct strvec *dirs, struct tool_set *ret)
{
	struct said said = SAID_INIT;
	struct err err = ERR_INIT;
	int r = tools_load(dirs, ret, &said, &err);

	cli_said(&said);
	return cli_failed(c, r, &err);
}

int pick_models(const struct command *c, const struct run_options *o, const struct strvec *words,
		struct catalog **ret_catalog, struct strvec *models)
{
	struct problems problems = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	int r = models_pick(c->name, o, words, ret_catalog, models, &problems, &err);
	int code = cli_failed(c, r, &err);

	if (r == -EBADMSG)
		cli_problems(&problems);
	problems_release(&problems);
	return r < 0 ? code : -1;
}

int cli_prepare(const struct command *c, const struct run_options *o, const char *model,
		char *const *cmd, struct prepared *p, struct problems *problems)
{
	struct said said = SAID_INIT;
	struct err err = ERR_INIT;
	int r = prepare(o, model, cmd, p, problems, &said, &err);

	cli_said(&said);
	return cli_failed(c, r, &err);
}
