/*
 * prune: removes run directories by age, by size, by status.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"

struct pruning {
	const char *dir, *larger;
	struct run_filter filter;
	struct prune_rule rule;
	long keep;
	bool dry;
};

static int bad_rule(const struct command *c, struct pruning *p)
{
	bool filtered =
		p->filter.status || p->filter.model || p->filter.tool || p->filter.labels.nr;

	if (p->larger && num_bytes(p->larger, strlen(p->larger), &p->rule.larger_bytes) < 0)
		return cli_usage(c, "--larger-than wants a size such as 500M or 10G, not '%s'",
				 p->larger);
	if (p->rule.older_s < 0 && p->rule.larger_bytes < 0 && !p->keep && !filtered)
		return cli_usage(c, "say which: --older-than 30d, --larger-than 10G, --keep N, "
				    "--status failed, --model NAME, --tool NAME or --label K=V");
	if (!cli_known_status(c, p->filter.status))
		return EXIT_USAGE;
	p->rule.keep = p->keep;
	return -1;
}

static int one_by_one(const struct pruning *p, struct run_list *rl)
{
	int64_t bytes, all = 0;
	size_t nr = 0;
	int code = EXIT_DONE;
	char b[32];

	for (size_t i = 0; i < rl->v.nr && !cli_interrupt; i++) {
		const struct run_info *r = &rl->v.v[i];
		struct err err = ERR_INIT;
		int e = 0;

		if (!r->doomed)
			continue;
		bytes = r->bytes;
		if (!p->dry)
			e = run_remove(p->dir, r, &bytes, &err);
		if (e < 0) {
			log_error("%s", err.msg);
			code = exit_worse(code, EXIT_PARTIAL);
			continue;
		}
		cli_put(stdout, r->dir, 0);
		printf("  %s  ", cli_bytes(bytes, b));
		cli_put(stdout, r->status, 60);
		putchar('\n');
		all += bytes;
		nr++;
	}
	log_notice("%s %zu run%s, %s%s", p->dry ? "would remove" : "removed", nr,
		   nr == 1 ? "" : "s", cli_bytes(all, b),
		   p->dry ? "; --dry-run removes nothing" : "");
	return code;
}

static void say_spared(const struct run_list *rl)
{
	size_t live = 0, kept = 0;

	for (size_t i = 0; i < rl->v.nr; i++) {
		live += rl->v.v[i].live;
		kept += rl->v.v[i].kept && !rl->v.v[i].live;
	}
	if (live)
		log_notice("%zu run%s still running", live, live == 1 ? " is" : "s are");
	if (kept)
		log_notice("%zu run%s kept by %s label 'keep'", kept, kept == 1 ? " is" : "s are",
			   kept == 1 ? "its" : "their");
	for (size_t i = 0; i < rl->odd.nr; i++)
		log_warn("%s: left alone", rl->odd.v[i]);
}

static int runs_prune(const struct pruning *p)
{
	struct run_list rl = RUN_LIST_INIT;
	CLEANUP(strvec_release) struct strvec failed = STRVEC_INIT;
	struct err err = ERR_INIT;
	int64_t freed = 0;
	size_t left;
	char b[32];
	int code, r = runs_load(p->dir, &p->filter, &rl, &err);

	if (r < 0) {
		log_error("%s", err.msg);
		run_list_release(&rl);
		return EXIT_UNREADABLE;
	}
	left = runs_sweep_removed(p->dir, p->dry, &freed, &failed);
	if (left)
		log_notice("%s %zu run%s whose removal was interrupted, %s",
			   p->dry ? "would finish removing" : "finished removing", left,
			   left == 1 ? "" : "s", cli_bytes(freed, b));
	for (size_t i = 0; i < failed.nr; i++)
		log_error("%s", failed.v[i]);
	say_spared(&rl);
	runs_choose(&rl, &p->rule, clock_realtime_ns());
	cli_catch_signals();
	code = one_by_one(p, &rl);
	if (failed.nr)
		code = exit_worse(code, EXIT_PARTIAL);
	if (!p->dry)
		runs_relink_latest(p->dir);
	run_list_release(&rl);
	return cli_interrupt ? cli_interrupt_code(cli_interrupt) : code;
}

static int prune_main(const struct command *c, int argc, char **argv)
{
	struct pruning p = { .dir = "runs",
			     .filter = { .labels = STRVEC_INIT, .sizes = true },
			     .rule = { .older_s = -1, .larger_bytes = -1 } };
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	char **rest;
	const struct opt opts[] = {
		{ "older-than", 0, OPT_SECONDS, &p.rule.older_s, "AGE",
		  "runs that began longer ago than this: 12h, 30d, 2w" },
		{ "larger-than", 0, OPT_STR, &p.larger, "SIZE",
		  "the oldest runs, until the rest is no larger than this: 500M, 10G" },
		{ "keep", 0, OPT_INT, &p.keep, "N", "never the newest N" },
		{ "status", 0, OPT_STR, &p.filter.status, "STATUS",
		  "only runs with this status: failed, timeout, …" },
		{ "model", 0, OPT_STR, &p.filter.model, "NAME", "only runs of this model" },
		{ "tool", 0, OPT_STR, &p.filter.tool, "NAME", "only runs with this tool" },
		{ "label", 0, OPT_LIST, &p.filter.labels, "K[=V]",
		  "only runs with this label (repeatable)" },
		{ "dry-run", 'n', OPT_FLAG, &p.dry, NULL,
		  "show what would go, and remove nothing" },
		{ 0 },
	};
	int code = cli_parse(c, opts, NULL, argc, argv, &dirs, &rest);

	if (code < 0 && (dirs.nr > 1 || rest))
		code = cli_usage(c, "one folder of runs at a time");
	if (code < 0)
		code = bad_rule(c, &p);
	if (code < 0) {
		p.dir = dirs.nr ? dirs.v[0] : p.dir;
		code = runs_prune(&p);
	}
	strvec_release(&p.filter.labels);
	return code;
}

extern const struct command cmd_prune;
const struct command cmd_prune = { "prune", "[RUNS_DIR]",
				   "remove old run directories, never one that runs",
				   "profrig prune --older-than 30d --keep 10 --dry-run",
				   prune_main };
