#include "run_collect.h"
#include "run_priv.h"

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"

/* The scripts in front of wrap_at's programs (plan_tool.c) write a line there. */
void run_wrap_at_check(struct run *rn)
{
	CLEANUP(xfreep) char *dir = fs_join(rn->pl->run_dir, "wrap");
	CLEANUP(xfreep) char *log = fs_join(rn->pl->run_dir, PLAN_WRAP_LOG);
	CLEANUP(xfreep) char *words = NULL;
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	const struct strvec *at = rn->pl->conf ? &rn->pl->conf->wrap_at : NULL;

	if (!at || !at->nr || !rn->workload_done || !fs_is_dir(dir) || fs_size(log) > 0)
		return;
	for (size_t i = 0; i < at->nr; i++)
		strbuf_addf(&names, "%s'%s'", i ? " or " : "", at->v[i]);
	words = xasprintf(
		"wrap_at: the tools were in front of nothing, as nothing called %.80s was seen to "
		"start: correct the name ('python' is not 'python3'); what a statically linked "
		"program starts by a path is not seen: name that program, or do without wrap_at",
		names.buf);
	outcome_warn(&rn->outcome, W_WRAP_AT, "warning", "%s", words);
	if (rn->o->notes)
		strvec_push(rn->o->notes, words);
}
