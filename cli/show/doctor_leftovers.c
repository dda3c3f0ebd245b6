/*
 * The rows of `doctor` about runs that were killed. Registered runs are finished off as the next
 * run would do it. Unregistered leftovers (a folder of runs after a reboot, containers and
 * processes of unknown runs) are listed, and removed with --fix.
 */
#include "cli.h"

#include <stdio.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/run/leftovers.h"

static char *human_bytes(int64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < ARRAY_LEN(units)) {
		v /= 1024;
		u++;
	}
	return xasprintf(u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void row_of(struct table *t, const struct leftover *l)
{
	CLEANUP(xfreep) char *size = l->bytes >= 0 ? human_bytes(l->bytes) : NULL;
	CLEANUP(xfreep) char *bytes = xasprintf("%lld", (long long)l->bytes);
	CLEANUP(xfreep)
	char *detail =
		xasprintf("%s: %s%s%s%s%s%s", l->kind, l->of, size ? ", " : "", size ? size : "",
			  l->error ? " (" : "", l->error ? l->error : "", l->error ? ")" : "");

	table_texts(t,
		    l->done   ? "gone"
		    : l->kept ? "kept"
			      : "left",
		    "leftover", l->what, detail, l->done || l->kept ? "" : "profrig doctor --fix",
		    l->bytes >= 0 ? bytes : "");
}

struct tally {
	size_t gone, left;
};

/* done_only: lists finished-off leftovers only, as another call lists the rest. */
static void leftovers_look(struct table *t, const struct leftovers_opts *o, bool done_only,
			   struct tally *tally)
{
	struct leftovers found = { VEC_INIT };
	struct err err = ERR_INIT;

	/* The other call reports it. */
	if (leftovers_find(o, &found, &err) < 0 && !done_only)
		log_warn("leftovers of killed runs: %s", err.msg);
	for (size_t i = 0; i < found.rows.nr; i++) {
		const struct leftover *l = &found.rows.v[i];

		if (done_only && !l->done)
			continue;
		row_of(t, l);
		tally->gone += l->done != NULL;
		tally->left += !l->done && !l->kept;
	}
	leftovers_release(&found);
}

void doctor_leftovers(struct table *t, const char *runs_dir, bool fix)
{
	CLEANUP(xfreep) char *dir = fs_abs(runs_dir);
	struct tally n = { 0 };

	if (!fix)
		leftovers_look(t, &(struct leftovers_opts){ .fix = true }, true, &n);
	leftovers_look(t, &(struct leftovers_opts){ .runs_dir = dir, .fix = fix, .all = true },
		       false, &n);
	if (n.left)
		log_notice("killed runs left %zu thing%s behind%s", n.left, n.left == 1 ? "" : "s",
			   fix ? ", which could not be removed"
			       : ": 'profrig doctor --fix' removes them");
	if (n.gone)
		log_notice("what killed runs left behind: %zu thing%s finished off or removed",
			   n.gone, n.gone == 1 ? "" : "s");
}
