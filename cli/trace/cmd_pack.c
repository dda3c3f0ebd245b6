/*
 * pack: run directories, traces and logs → one checked bundle; bundles → one; a bundle → whether it
 * is what was packed.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/json_fields.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/pack/pack.h"

struct packing {
	const struct command *c;
	const char *output, *rank_word;
	bool force, merge, check, json;
	int64_t rank; /* -1: not said */
};

/* ---- messages ---- */

static void say_lines(const char *path, const struct strvec *lines, const char *one,
		      const char *more, bool bad)
{
	const size_t shown = 10;

	for (size_t i = 0; i < lines->nr && i < shown; i++) {
		if (bad)
			log_error("%s: %s: %s", path, one, lines->v[i]);
		else
			log_notice("%s: %s: %s", path, one, lines->v[i]);
	}
	if (lines->nr > shown)
		log_notice("%s: %zu more %s (--json lists all)", path, lines->nr - shown, more);
}

static void result_json(const struct packing *p, const struct pack_result *n)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "path", p->output);
	json_put(&j, struct pack_result, n, members, bytes, packed, left_out, lost, differing);
	json_end(&j);
	putchar('\n');
}

static int result_say(const struct packing *p, const struct pack_result *n)
{
	char size[32], packed[32];

	say_lines(p->output, &n->lost, "not packed", "not packed", true);
	say_lines(p->output, &n->left_out, "left out", "left out", false);
	say_lines(p->output, &n->differing, "kept side by side", "names with several contents",
		  false);
	if (p->json) {
		result_json(p, n);
	} else {
		cli_put(stdout, p->output, 0);
		printf(": %" PRIu64 " files, %s in %s\n", n->members,
		       cli_si((double)n->bytes, "B", size), cli_si((double)n->packed, "B", packed));
	}
	return n->lost.nr ? EXIT_PARTIAL : EXIT_DONE;
}

static int failed(const struct packing *p, int r, const struct err *err)
{
	if (r == -EEXIST)
		return cli_usage(p->c, "%s", err->msg);
	log_error("%s", err->msg);
	log_notice("nothing was written");
	return r == -ENOSPC || r == -EDQUOT || r == -EROFS || r == -EFBIG ? EXIT_MISSING
									  : EXIT_UNREADABLE;
}

/* ---- what is asked ---- */

static int bundle_make(const struct packing *p, const struct strvec *inputs)
{
	const struct pack_opts o = { .force = p->force, .rank = p->rank };
	struct pack_result n = { .left_out = STRVEC_INIT };
	struct err err = ERR_INIT;
	int r, code;

	progress_phase("%s", p->merge ? "merge" : "pack");
	r = (p->merge ? pack_merge : pack_create)(inputs, p->output, &o, &n, &err);
	progress_end();
	code = r < 0 ? failed(p, r, &err) : result_say(p, &n);
	pack_result_release(&n);
	return code;
}

static void checked_json(const char *path, const struct pack_checked *n)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "path", path);
	json_bool(&j, "manifest", n->has_manifest);
	json_put(&j, struct pack_checked, n, members, bytes, problems);
	json_end(&j);
	putchar('\n');
}

static int bundle_check(const struct packing *p, const char *path)
{
	struct pack_checked n;
	struct err err = ERR_INIT;
	char size[32];
	int r, code;

	progress_phase("check");
	r = pack_check(path, &n, &err);
	progress_end();
	if (r < 0) {
		log_error("%s", err.msg);
		pack_checked_release(&n);
		return EXIT_UNREADABLE;
	}
	for (size_t i = 0; i < n.problems.nr; i++)
		log_error("%s", n.problems.v[i]);
	if (!n.has_manifest)
		log_notice("%s: no bundle of profrig: without a manifest only sizes and CRC-32 "
			   "are checked",
			   path);
	code = n.problems.nr ? EXIT_GATE : EXIT_DONE;
	if (p->json) {
		checked_json(path, &n);
	} else {
		cli_put(stdout, path, 0);
		printf(": %" PRIu64 " files, %s, %s\n", n.members,
		       cli_si((double)n.bytes, "B", size),
		       n.problems.nr    ? "damaged"
		       : n.has_manifest ? "as packed"
					: "whole");
	}
	pack_checked_release(&n);
	return code;
}

static int packing_checked(struct packing *p, const struct strvec *inputs)
{
	struct err err = ERR_INIT;
	int r;

	if (p->check && (p->merge || p->output || p->force))
		return cli_usage(p->c, "--check only reads: it goes without --merge, --force, -o");
	if (p->check && inputs->nr != 1)
		return cli_usage(p->c, "--check takes one bundle");
	if (p->check)
		return bundle_check(p, inputs->v[0]);
	if (!inputs->nr)
		return cli_usage(p->c, "no input");
	if (!p->output || !*p->output)
		return cli_usage(p->c, "no output: -o BUNDLE.zip");
	if (p->rank_word &&
	    (num_i64(p->rank_word, strlen(p->rank_word), &p->rank) < 0 || p->rank < 0))
		return cli_usage(p->c, "--rank wants a number from 0 on, not '%.40s'",
				 p->rank_word);
	if (p->merge && p->rank_word)
		return cli_usage(p->c, "--rank goes without --merge: bundles have their ranks");
	r = pack_output_check(p->output, p->force, &err);
	if (r == -EEXIST)
		return cli_usage(p->c, "%s", err.msg);
	if (r < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	return bundle_make(p, inputs);
}

static int pack_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct packing p = { .c = c, .rank = -1 };
	char **rest;
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &p.output, "FILE", "the bundle, BUNDLE.zip" },
		{ "force", 'f', OPT_FLAG, &p.force, NULL, "replace an output that is there" },
		{ "rank", 0, OPT_STR, &p.rank_word, "N", "the rank that all of it is of" },
		{ "merge", 0, OPT_FLAG, &p.merge, NULL,
		  "the inputs are bundles: make one of them" },
		{ "check", 0, OPT_FLAG, &p.check, NULL,
		  "read a bundle and compare it with its manifest" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &p.json, argc, argv, &inputs, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&inputs, *rest);
	return code < 0 ? packing_checked(&p, &inputs) : code;
}

extern const struct command cmd_pack;
const struct command cmd_pack = { "pack", "RUN|FILE|DIR… -o BUNDLE.zip",
				  "runs and traces → one bundle that can be checked",
				  "profrig pack runs/latest -o bundle.zip", pack_main };
