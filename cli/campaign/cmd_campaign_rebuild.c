/* campaign rebuild: the store of a campaign, made again from its journal and its runs. */
#include "campaign_dir.h"

#include <inttypes.h>
#include <stdio.h>

#include "profrig/base/json_out.h"
#include "profrig/base/log.h"

static void say_json(const struct store_summary *sum)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_u64(&j, "events", sum->events);
	json_u64(&j, "cells", sum->cells);
	json_u64(&j, "runs", sum->runs);
	json_u64(&j, "committed", sum->committed);
	json_u64(&j, "failed", sum->failed);
	json_u64(&j, "left", sum->left);
	json_u64(&j, "superseded", sum->superseded);
	json_u64(&j, "unread", sum->unread);
	json_u64(&j, "disputed", sum->disputed);
	json_u64(&j, "unknown", sum->unknown);
	json_end(&j);
	putchar('\n');
}

static int dir_rebuild(const struct command *c, const char *dir, bool json)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = campaign_store_opts(false, &said);
	struct store_summary sum;
	struct err err = ERR_INIT;
	int r = store_rebuild(dir, &o, &sum, &err);

	for (size_t i = 0; i < said.nr; i++)
		log_warn("%s", said.v[i]);
	if (r < 0)
		return campaign_store_failed(c, r, &err);
	if (json) {
		say_json(&sum);
	} else {
		cli_put(stdout, dir, 0);
		printf("/" STORE_FILE ": %" PRIu64 " events, %" PRIu64 " cells, %" PRIu64
		       " of %" PRIu64 " runs committed, %" PRIu64 " failed\n",
		       sum.events, sum.cells, sum.committed, sum.runs, sum.failed);
	}
	return campaign_store_lacks(&sum) ? EXIT_PARTIAL : EXIT_DONE;
}

static int rebuild_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = NULL;
	const char *campaigns = NULL;
	bool json = false;
	const struct opt opts[] = { CAMPAIGNS_OPT(&campaigns, 'o'), { 0 } };
	int code = cli_parse(c, opts, &json, argc, argv, &operands, NULL);

	if (code < 0)
		code = campaign_dir_of(c, &operands, 0, campaigns, &dir);
	return code < 0 ? dir_rebuild(c, dir, json) : code;
}

extern const struct command cmd_campaign_rebuild;
const struct command cmd_campaign_rebuild = {
	"campaign rebuild", "FILE|DIR", "a campaign's store, made again from its journal and runs",
	"profrig campaign rebuild campaigns/blas-on-mlp", rebuild_main
};
