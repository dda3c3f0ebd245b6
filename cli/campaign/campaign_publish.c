#include "campaign_publish.h"
#include "cli.h"

#include <errno.h>

#include "profrig/base/cfg.h"
#include "profrig/base/clock.h"
#include "profrig/base/log.h"
#include "profrig/publish/publish.h"

#define BUDGET_S 10.0
#define EVERY_NS (30 * NS_PER_S) /* a target that hangs holds up no campaign for long */

void campaign_publish_begin(struct campaign_publishing *p, const struct campaign_job *j)
{
	struct problems problems = PROBLEMS_INIT;
	struct err err = ERR_INIT;

	*p = (struct campaign_publishing){ .dir = NULL };
	if (!cfg_get(j->file.run.root, "publish"))
		return;
	if (publishconf_load(j->file.path, &p->conf, &problems, &err) == 0 && !problems.lines.nr)
		p->dir = j->dir;
	else
		log_warn("nothing is published: %s",
			 problems.lines.nr ? problems.lines.v[0] : err.msg);
	p->sent_ns = clock_monotonic_ns();
	problems_release(&problems);
}

static void send(struct campaign_publishing *p, bool all)
{
	CLEANUP(publish_told_release) struct publish_told told = PUBLISH_TOLD_INIT;
	const struct publish_opts o = { .interrupt = &cli_interrupt,
					.all = all,
					.budget_s = BUDGET_S };
	struct err err = ERR_INIT;
	int r = publish_send(p->dir, &p->conf, &o, &told, &err);

	p->sent_ns = clock_monotonic_ns();
	if (r < 0 && r != -EINTR)
		log_warn("not published: %s", err.msg);
	if (all && told.waiting)
		log_warn("%llu results wait to be published ('profrig publish --status %s' lists "
			 "them): %s",
			 (unsigned long long)told.waiting, p->dir,
			 told.why.nr ? told.why.v[0] : "their targets do not answer");
}

void campaign_publish_run(struct campaign_publishing *p, const char *run, uint32_t attempt)
{
	CLEANUP(xfreep) char *dir = NULL;
	struct err err = ERR_INIT;

	if (!p->dir)
		return;
	dir = xasprintf("%s/runs/%s.%u", p->dir, run, attempt);
	if (publish_enqueue(p->dir, &p->conf, dir, false, NULL, &err) < 0)
		log_warn("%s.%u is not published: %s", run, attempt, err.msg);
	if (clock_monotonic_ns() - p->sent_ns > EVERY_NS)
		send(p, false);
}

void campaign_publish_end(struct campaign_publishing *p)
{
	if (p->dir)
		send(p, true);
	publish_conf_release(&p->conf);
	p->dir = NULL;
}
