/* campaign report: what a campaign has measured, as a page, a mail or JSON. */
#include "campaign_dir.h"
#include "campaign_lock.h"
#include "out_file.h"
#include "report_show.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/text.h"

struct report_args {
	const struct command *c;
	const char *campaigns, *output, *mail;
	struct strvec metrics;
	bool json;
	char *dir, *page; /* page: absolute; NULL: none is written */
};

enum report_kind { REPORT_PAGE, REPORT_MAIL };

static int file_write(struct report_args *a, struct report_shown *s, const char *path,
		      enum report_kind kind)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	CLEANUP(xfreep) char *at = fs_abs(path);
	CLEANUP(xfreep) char *dir = fs_dir(at);
	struct err err = ERR_INIT;
	int r = out_file_open(dir, fs_base(at), &o, &err);

	if (r == 0) {
		if (kind == REPORT_PAGE)
			report_page(s, dir, o.f);
		else if (text_suffix(path, ".eml"))
			report_mail_message(s, a->page, o.f);
		else
			report_mail_html(s, a->page, o.f);
		r = out_file_commit(&o, &err);
	}
	if (r < 0) {
		log_error("%s: %s", a->c->name, err.msg);
		return EXIT_MISSING;
	}
	if (!a->json)
		printf("%s\n", path);
	return EXIT_DONE;
}

static int report_write(struct report_args *a, struct report_shown *s)
{
	CLEANUP(xfreep) char *beside = fs_join(a->dir, "report.html");
	const char *page = a->output ? a->output : a->json || a->mail ? NULL : beside;
	int code = EXIT_DONE;

	if (page)
		code = file_write(a, s, page, REPORT_PAGE);
	a->page = fs_abs(page ? page : beside);
	if (!page && !fs_is_file(beside))
		free(STEAL(a->page));
	if (code == EXIT_DONE && a->mail)
		code = file_write(a, s, a->mail, REPORT_MAIL);
	if (code == EXIT_DONE && a->json)
		report_json(s, stdout);
	return code;
}

/* -1 to go on. */
static int metrics_check(const struct report_args *a, const struct report_shown *s)
{
	CLEANUP(xfreep) char *known = NULL;

	if (!a->metrics.nr || s->r.figures.nr || !s->r.sum.committed)
		return -1;
	known = strvec_join(&s->r.known, ", ");
	return cli_usage(a->c, "no run has '%s'; there are: %s", a->metrics.v[0], known);
}

static int report_make(struct report_args *a)
{
	struct report_shown s;
	struct err err = ERR_INIT;
	char host[65];
	pid_t pid;
	bool live = campaign_lock_holder(a->dir, &pid, host) != 0;
	int r = report_shown_make(a->dir, &a->metrics, live, &s, &err), code;

	if (r < 0)
		return campaign_store_failed(a->c, r, &err);
	for (size_t i = 0; i < s.said.nr; i++)
		log_warn("%s", s.said.v[i]);
	for (size_t i = 0; i < s.r.absent.nr && s.r.figures.nr; i++)
		log_warn("no run has '%s'", s.r.absent.v[i]);
	for (size_t i = 0; i < s.g.problems.nr; i++)
		log_warn("%s", s.g.problems.v[i]);
	code = metrics_check(a, &s);
	if (code < 0) {
		log_notice("%s", s.lead);
		code = report_write(a, &s);
		if (code == EXIT_DONE && (campaign_store_lacks(&s.r.sum) || s.g.problems.nr))
			code = EXIT_PARTIAL;
	}
	report_shown_release(&s);
	return code;
}

/* "a,b" is two; a key behind a colon may have commas. */
static void metrics_split(struct report_args *a, const struct strvec *given)
{
	for (size_t i = 0; i < given->nr; i++) {
		if (strchr(given->v[i], ':'))
			strvec_push(&a->metrics, given->v[i]);
		else
			strvec_split(&a->metrics, given->v[i], ",");
	}
}

static int campaign_report_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT, given = STRVEC_INIT;
	struct report_args a = { .c = c, .metrics = STRVEC_INIT };
	const struct opt opts[] = {
		{ "metric", 0, OPT_LIST, &given, "A,B",
		  "these figures, NAME:KEY for a row of a table (those of gates and of the file)" },
		{ "output", 'o', OPT_STR, &a.output, "FILE.html",
		  "where to write the page (report.html of the campaign)" },
		{ "mail", 0, OPT_STR, &a.mail, "FILE",
		  "write it for mail programs: HTML, or with .eml a message of two parts" },
		CAMPAIGNS_OPT(&a.campaigns, 0),
		{ 0 },
	};
	int code = cli_parse(c, opts, &a.json, argc, argv, &operands, NULL);

	if (code < 0)
		code = campaign_dir_of(c, &operands, 0, a.campaigns, &a.dir);
	if (code < 0) {
		metrics_split(&a, &given);
		code = report_make(&a);
	}
	strvec_release(&a.metrics);
	free(a.dir);
	free(a.page);
	return code;
}

extern const struct command cmd_campaign_report;
const struct command cmd_campaign_report = {
	"campaign report", "FILE|DIR", "what a campaign has measured, as a page, a mail or JSON",
	"profrig campaign report campaigns/blas --mail blas.html", campaign_report_main
};
