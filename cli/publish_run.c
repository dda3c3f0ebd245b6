#include "publish_run.h"

#include <errno.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/publish/publish.h"

/* For what earlier runs left. */
#define BUDGET_S 10.0

static void publish_warn(const struct prepared *p, const char *text, bool note)
{
	struct err err = ERR_INIT;

	log_warn("%s", text);
	if (note && run_note_warning(p->run_dir, W_PUBLISH, "warning", text, &err) < 0)
		log_error("%s", err.msg);
}

static void say_told(const struct prepared *p, const char *folder, const struct publish_told *told)
{
	CLEANUP(xfreep) char *text = NULL;

	if (told->unvalued)
		log_notice("%llu metric%s published: no finite number, or too many",
			   (unsigned long long)told->unvalued,
			   told->unvalued == 1 ? " is not" : "s are not");
	if (!told->why.nr)
		return;
	text = xasprintf("not all is published (%llu wait%s in %s/" PUBLISH_OUTBOX
			 "; 'profrig publish --status' lists them): %s%s",
			 (unsigned long long)told->waiting, told->waiting == 1 ? "s" : "", folder,
			 told->why.v[0], told->why.nr > 1 ? "; and more" : "");
	publish_warn(p, text, told->first_failed > 0);
}

/* A target's file, or its folder, that was led elsewhere since profrig began; borrowed, NULL. */
static const char *path_moved(const struct prepared *p)
{
	for (size_t i = 0; i < p->conf.publish.targets.nr; i++) {
		const char *path = p->conf.publish.targets.v[i].path;
		CLEANUP(xfreep) char *dir = path ? fs_dir(path) : NULL;

		if (path && (!pin_holds(p, dir) || !pin_holds(p, path)))
			return path;
	}
	return NULL;
}

void publish_run_end(const struct prepared *p)
{
	CLEANUP(publish_told_release) struct publish_told told = PUBLISH_TOLD_INIT;
	CLEANUP(xfreep) char *folder = NULL;
	const struct publish_opts o = { .interrupt = &cli_interrupt,
					.first = p->run_dir,
					.budget_s = BUDGET_S };
	struct err err = ERR_INIT;
	const char *moved;
	int r;

	if (!p->conf.publish.targets.nr || !fs_is_dir(p->run_dir))
		return;
	progress_phase("publish");
	folder = publish_outbox_dir(p->runs_dir);
	r = publish_enqueue(folder, &p->conf.publish, p->run_dir, false, NULL, &err);
	moved = path_moved(p);
	if (r >= 0 && moved)
		r = err_set(&err, ELOOP, "'%s' leads elsewhere now, and did not when profrig began",
			    moved);
	if (r >= 0)
		r = publish_send(folder, &p->conf.publish, &o, &told, &err);
	if (r == 0)
		say_told(p, folder, &told);
	else if (r != -EINTR) {
		CLEANUP(xfreep)
		char *text = xasprintf("not published: %s ('profrig publish %s' tries it again)",
				       err.msg, p->run_dir);

		publish_warn(p, text, true);
	}
}
