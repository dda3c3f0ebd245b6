/*
 * What `doctor` says of runs that were killed: a row each, before them nothing.
 */
#include "cli.h"

#include <stdio.h>

#include "profrig/fs.h"
#include "profrig/leftovers.h"
#include "profrig/log.h"

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

	table_str(t, l->done ? "gone" : l->kept ? "kept" : "left");
	table_str(t, "leftover");
	table_str(t, l->what);
	table_str(t, detail);
	table_str(t, l->done || l->kept ? "" : "profrig doctor --fix");
	table_str(t, l->bytes >= 0 ? bytes : "");
	table_row(t);
}

void doctor_leftovers(struct table *t, const char *runs_dir, bool fix)
{
	CLEANUP(xfreep) char *dir = fs_abs(runs_dir);
	struct leftovers_opts o = { .runs_dir = dir, .fix = fix, .all = true };
	struct leftovers found = { VEC_INIT };
	struct err err = ERR_INIT;
	size_t gone = 0, left = 0;

	if (leftovers_find(&o, &found, &err) < 0)
		log_warn("leftovers of killed runs: %s", err.msg);
	for (size_t i = 0; i < found.rows.nr; i++) {
		row_of(t, &found.rows.v[i]);
		gone += found.rows.v[i].done != NULL;
		left += !found.rows.v[i].done && !found.rows.v[i].kept;
	}
	if (left)
		log_notice("killed runs left %zu thing%s behind%s", left, left == 1 ? "" : "s",
			   fix ? ", which could not be removed"
			       : ": 'profrig doctor --fix' removes them");
	if (gone)
		log_notice("what killed runs left behind: %zu thing%s finished off or removed",
			   gone, gone == 1 ? "" : "s");
	leftovers_release(&found);
}
