/* A report from its campaign's directory: read, compared, laid out, and written at the end. */
#include "campaign_dir.h"
#include "out_file.h"
#include "report_show.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/xalloc.h"

#define DOTS_MAX 20000

/* Below the campaign's directory: the report of an attempt, its folder, or nothing. */
static void link_find(struct report_shown *s, const char *attempt)
{
	static const char *const parts[] = { "analysis/report.html", "node-0/analysis/report.html",
					     "" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		CLEANUP(xfreep) char *rel = xasprintf("runs/%s/%s", attempt, parts[i]);
		CLEANUP(xfreep) char *path = fs_join(s->dir, rel);

		if (*parts[i] ? fs_is_file(path) : fs_is_dir(path)) {
			strvec_push(&s->links, rel);
			return;
		}
	}
	strvec_push(&s->links, "");
}

static void links_find(struct report_shown *s)
{
	for (size_t i = 0; i < s->r.runs.nr; i++) {
		uint32_t at = s->r.runs.v[i].attempt;

		if (at == REPORT_NONE)
			strvec_push(&s->links, "");
		else
			link_find(s, s->r.attempts.v[at].id);
	}
}

int report_shown_make(const char *dir, const struct strvec *wanted, bool live,
		      struct report_shown *ret, struct err *err)
{
	struct strvec said = STRVEC_INIT;
	struct store_opts o = campaign_store_opts(true, &said);
	struct store *store = NULL;
	int r = store_open(dir, &o, &store, err);

	*ret = (struct report_shown){
		.live = live, .said = said, .links = STRVEC_INIT, .dots = DOTS_MAX
	};
	if (r == 0)
		r = campaign_report_read(store, wanted, &ret->r, err);
	store_close(store);
	if (r < 0) {
		strvec_release(&ret->said);
		return r;
	}
	ret->dir = fs_abs(dir);
	r = report_judge(dir, &ret->r, &ret->g, err);
	if (r < 0) {
		campaign_report_release(&ret->r);
		strvec_release(&ret->said);
		free(ret->dir);
		return r;
	}
	report_grid_make(&ret->r, &ret->grid);
	links_find(ret);
	report_words_make(ret);
	return 0;
}

void report_shown_release(struct report_shown *s)
{
	report_grid_release(&s->grid);
	report_judgement_release(&s->g);
	campaign_report_release(&s->r);
	strvec_release(&s->said);
	strvec_release(&s->links);
	free(s->dir);
	free(s->lead);
	free(s->state);
}

static size_t clocks_say(const struct report_shown *s)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	size_t n = report_clocks(s, &words);

	if (n)
		log_warn("%s%s", words.v[0], n > 1 ? " The report lists more such blocks." : "");
	return n;
}

size_t campaign_report_at_end(const char *dir)
{
	CLEANUP(strvec_release) struct strvec wanted = STRVEC_INIT;
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	CLEANUP(xfreep) char *at = fs_abs(dir);
	struct report_shown s;
	struct err err = ERR_INIT;
	int r = report_shown_make(dir, &wanted, false, &s, &err);
	size_t clocks = 0;

	if (r == 0) {
		clocks = clocks_say(&s);
		r = out_file_open(dir, "report.html", &o, &err);
		if (r == 0)
			report_page(&s, at, o.f);
		if (r == 0)
			r = out_file_commit(&o, &err);
		report_shown_release(&s);
	}
	if (r < 0)
		log_warn("there is no report: %s; 'profrig campaign report %s' makes it", err.msg,
			 dir);
	else
		log_notice("report: %s/report.html", dir);
	return clocks;
}
