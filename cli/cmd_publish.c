/*
 * publish: runs and campaigns, and what waits in an outbox, sent to where their results are kept;
 * and what the outbox holds (publish.h).
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_fields.h"
#include "profrig/base/log.h"
#include "profrig/base/table.h"
#include "profrig/base/text.h"
#include "profrig/publish/publish.h"

#define DEFAULT_CONFIG "profrig.yaml"
#define MAX_COMMIT ((size_t)4096)
#define MAX_WHY 20

struct publishing {
	const char *config, *runs_dir;
	struct strvec only;
	bool status, json;
	/* what came of it */
	struct publish_conf conf;
	struct strvec folders; /* whose outboxes are sent */
	uint64_t entered, left_out;
	struct publish_told told;
	int code;
};

/* --- which runs --- */

static void folder_add(struct publishing *pb, const char *folder)
{
	if (!strvec_has(&pb->folders, folder))
		strvec_push(&pb->folders, folder);
}

static void run_enter(struct publishing *pb, const char *folder, const char *dir)
{
	struct err err = ERR_INIT;
	int r = publish_enqueue(folder, &pb->conf, dir, true, &pb->only, &err);

	folder_add(pb, folder);
	if (r >= 0) {
		pb->entered++;
		return;
	}
	log_error("%s: %s", dir, err.msg);
	pb->code = exit_worse(pb->code, r == -EBUSY ? EXIT_PARTIAL : EXIT_UNREADABLE);
}

static bool is_campaign(const char *dir)
{
	CLEANUP(xfreep) char *journal = fs_join(dir, "journal.ndjson");
	CLEANUP(xfreep) char *runs = fs_join(dir, "runs");

	return fs_is_file(journal) && fs_is_dir(runs);
}

/* The attempt that results/<run> names: a plain name of its run. Owned; NULL: there is none. */
static char *attempt_committed(const char *results, const char *run)
{
	CLEANUP(xfreep) char *path = fs_join(results, run);
	CLEANUP(xfreep) char *text = NULL;
	size_t n = strlen(run);

	if (fs_read(path, MAX_COMMIT, &text, NULL, NULL) < 0)
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	return !strncmp(text, run, n) && text[n] == '.' && !strchr(text, '/') ? STEAL(text) : NULL;
}

/*
 * Of a run that is committed the attempt that was, of others every attempt that has ended: their
 * status says that they failed. Superseded attempts count nowhere and are left out.
 */
static void campaign_enter(struct publishing *pb, const char *dir)
{
	CLEANUP(xfreep) char *runs = fs_join(dir, "runs"), *results = fs_join(dir, "results");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct err err = ERR_INIT;

	if (fs_list(runs, &names, &err) < 0) {
		log_error("%s", err.msg);
		pb->code = exit_worse(pb->code, EXIT_UNREADABLE);
		return;
	}
	folder_add(pb, dir);
	for (size_t i = 0; i < names.nr && !cli_interrupt; i++) {
		const char *dot = strrchr(names.v[i], '.');
		CLEANUP(xfreep) char *run = NULL, *committed = NULL;
		CLEANUP(xfreep) char *path = fs_join(runs, names.v[i]);

		if (!dot || dot == names.v[i] || !fs_is_dir(path))
			continue;
		run = xstrndup(names.v[i], (size_t)(dot - names.v[i]));
		committed = attempt_committed(results, run);
		if (committed && strcmp(committed, names.v[i]) != 0)
			pb->left_out++;
		else
			run_enter(pb, dir, path);
	}
}

static void operand_enter(struct publishing *pb, const char *word)
{
	CLEANUP(xfreep) char *below = fs_join(pb->runs_dir, word);
	CLEANUP(xfreep) char *dir = xrealpath(fs_is_dir(word) ? word : below);
	CLEANUP(xfreep) char *run_json = dir ? fs_join(dir, "run.json") : NULL;
	CLEANUP(xfreep) char *above = dir ? fs_dir(dir) : NULL;
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	if (dir && fs_exists(run_json)) {
		CLEANUP(xfreep) char *folder = publish_outbox_dir(above);

		run_enter(pb, folder, dir);
	} else if (dir && is_campaign(dir)) {
		campaign_enter(pb, dir);
	} else if (dir && runs_names(dir, &names, NULL) >= 0 && names.nr) {
		CLEANUP(xfreep) char *folder = publish_outbox_dir(dir);

		for (size_t i = 0; i < names.nr && !cli_interrupt; i++) {
			CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);

			run_enter(pb, folder, path);
		}
	} else {
		log_error("'%s' is no run, no campaign and no folder of runs (nor one in %s)", word,
			  pb->runs_dir);
		pb->code = exit_worse(pb->code, EXIT_UNREADABLE);
	}
}

/* --- sending --- */

static void outbox_send(struct publishing *pb, const char *folder)
{
	const struct publish_opts o = { .interrupt = &cli_interrupt,
					.only = &pb->only,
					.all = true };
	struct err err = ERR_INIT;
	uint64_t waited = pb->told.waiting;
	int r = publish_send(folder, &pb->conf, &o, &pb->told, &err);

	pb->told.waiting += waited;
	if (r < 0 && r != -EINTR) {
		log_error("%s", err.msg);
		pb->code = exit_worse(pb->code, EXIT_PARTIAL);
	}
}

static void told_json(const struct publishing *pb)
{
	const struct publish_told *t = &pb->told;
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_put(&j, struct publish_told, t, sent, waiting, refused, gone, superseded);
	json_u64(&j, "metrics_left_out", t->unvalued);
	json_u64(&j, "attempts_left_out", pb->left_out);
	json_words(&j, "errors", &t->why);
	json_end(&j);
	putchar('\n');
}

static void told_text(const struct publishing *pb)
{
	const struct publish_told *t = &pb->told;

	for (size_t i = 0; i < t->why.nr && i < MAX_WHY; i++)
		log_error("%s", t->why.v[i]);
	if (t->why.nr > MAX_WHY)
		log_error("%zu more such errors", t->why.nr - MAX_WHY);
	printf("%" PRIu64 " sent, %" PRIu64 " waiting, %" PRIu64 " refused", t->sent, t->waiting,
	       t->refused);
	if (t->superseded)
		printf(", %" PRIu64 " behind a later run", t->superseded);
	if (t->gone)
		printf(", %" PRIu64 " whose run was removed", t->gone);
	putchar('\n');
	if (t->unvalued)
		log_notice("metrics that are no finite numbers, or too many: %" PRIu64 " left out",
			   t->unvalued);
	if (pb->left_out)
		log_notice("superseded attempts: %" PRIu64 " left out", pb->left_out);
}

/* Whether each word of --to is one of the targets. */
static int known_targets(const struct command *c, const struct publishing *pb)
{
	for (size_t i = 0; i < pb->only.nr; i++) {
		const char *word = pb->only.v[i];
		CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
		CLEANUP(xfreep) char *list = NULL;

		for (size_t k = 0; k < pb->conf.targets.nr; k++)
			if (!strvec_has(&names, pb->conf.targets.v[k].to))
				strvec_push(&names, pb->conf.targets.v[k].to);
		list = strvec_join(&names, ", ");
		if (!VEC_FIND(&pb->conf.targets, t, !strcmp(t->to, word) || !strcmp(t->name, word)))
			return cli_usage(c, "--to '%s': publish: in the configuration has %s", word,
					 *list ? list : "no entry");
	}
	return -1;
}

static int config_load(const struct command *c, struct publishing *pb)
{
	CLEANUP(problems_release) struct problems problems = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	int r;

	if (!pb->config && !fs_is_file(DEFAULT_CONFIG))
		return cli_usage(c, "say where to: --config FILE, which has the key publish: (a "
				    "run's or a campaign's configuration)");
	pb->config = pb->config ? pb->config : DEFAULT_CONFIG;
	r = publishconf_load(pb->config, &pb->conf, &problems, &err);
	if (problems.lines.nr) {
		cli_problems(&problems);
		return EXIT_CONFIG;
	}
	if (r < 0) {
		log_error("%s", err.msg);
		return r == -ENOENT ? EXIT_USAGE : EXIT_CONFIG;
	}
	if (!pb->conf.targets.nr)
		return cli_usage(c,
				 "%s has no key publish: or nothing in it; name another file by "
				 "--config",
				 pb->config);
	return known_targets(c, pb);
}

static int publish_words(const struct command *c, struct publishing *pb, const struct strvec *words)
{
	int code = config_load(c, pb);

	if (code >= 0)
		return code;
	cli_catch_signals();
	for (size_t i = 0; i < words->nr && !cli_interrupt; i++)
		operand_enter(pb, words->v[i]);
	if (!words->nr && fs_is_dir(pb->runs_dir)) {
		CLEANUP(xfreep) char *folder = publish_outbox_dir(pb->runs_dir);

		folder_add(pb, folder);
	}
	for (size_t i = 0; i < pb->folders.nr && !cli_interrupt; i++)
		outbox_send(pb, pb->folders.v[i]);
	if (pb->json)
		told_json(pb);
	else
		told_text(pb);
	if (pb->told.why.nr || pb->told.gone)
		pb->code = exit_worse(pb->code, EXIT_PARTIAL);
	return cli_interrupt ? cli_interrupt_code(cli_interrupt) : pb->code;
}

/* --- what there is --- */

static void status_json(const struct publish_list *l)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_arr(&j, NULL);
	for (size_t i = 0; i < l->rows.nr; i++) {
		const struct publish_row *r = &l->rows.v[i];
		char when[32];

		json_obj(&j, NULL);
		json_put(&j, struct publish_row, r, run, target, state, tries);
		json_str(&j, "next_utc",
			 strcmp(r->state, "waiting") ? NULL : clock_utc(r->next_ns, when));
		json_str(&j, "error", *r->error ? r->error : NULL);
		json_str(&j, "dir", r->dir);
		json_end(&j);
	}
	json_end(&j);
	putchar('\n');
}

static void status_text(const struct publish_list *l, const char *folder)
{
	struct table *t =
		table_of_texts("outbox", "run", "target", "state", "tries", "next (UTC)", "why");
	size_t sent = 0, waiting = 0;

	for (size_t i = 0; i < l->rows.nr; i++) {
		const struct publish_row *r = &l->rows.v[i];
		bool waits = !strcmp(r->state, "waiting");
		char tries[24], when[32] = "";

		waiting += waits;
		if (!strcmp(r->state, "sent")) {
			sent++;
			continue;
		}
		snprintf(tries, sizeof(tries), "%" PRId64, r->tries);
		if (waits && r->next_ns)
			clock_utc(r->next_ns, when)[19] = '\0';
		table_texts(t, r->run, r->target, r->state, tries, when, r->error);
	}
	if (table_rows(t))
		table_write_text(t, stdout, 0, 0);
	table_free(t);
	log_notice("%zu sent, %zu waiting in %s/" PUBLISH_OUTBOX "%s", sent, waiting, folder,
		   waiting ? "; 'profrig publish --config FILE' sends them" : "");
}

static int status_show(struct publishing *pb, const struct strvec *words)
{
	const char *word = words->nr ? words->v[0] : pb->runs_dir;
	CLEANUP(xfreep) char *folder = publish_outbox_dir(word);
	CLEANUP(publish_list_release) struct publish_list l = { .rows = VEC_INIT };
	struct err err = ERR_INIT;
	int r;

	if (!words->nr && !fs_is_dir(folder)) {
		log_notice("there is no folder %s, so nothing waits", folder);
		return EXIT_DONE;
	}
	r = publish_list(folder, &l, &err);
	if (r < 0) {
		log_error("%s", err.msg);
		return EXIT_UNREADABLE;
	}
	if (pb->json)
		status_json(&l);
	else
		status_text(&l, folder);
	return EXIT_DONE;
}

static int publish_main(const struct command *c, int argc, char **argv)
{
	struct publishing pb = { .runs_dir = "runs",
				 .only = STRVEC_INIT,
				 .folders = STRVEC_INIT,
				 .told = PUBLISH_TOLD_INIT };
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	char **rest;
	const struct opt opts[] = {
		{ "config", 0, OPT_STR, &pb.config, "FILE",
		  "has the key publish: (./" DEFAULT_CONFIG ")" },
		{ "to", 0, OPT_LIST, &pb.only, "NAME,…",
		  "only to these targets, as pushgateway, influxdb, postgres, ndjson" },
		{ "output", 'o', OPT_STR, &pb.runs_dir, "DIR",
		  "the folder of runs whose outbox is sent (./runs)" },
		{ "status", 0, OPT_FLAG, &pb.status, NULL,
		  "show what waits, and why; sends nothing" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &pb.json, argc, argv, &words, &rest);

	if (code < 0 && (rest || (pb.status && words.nr > 1)))
		code = cli_usage(c, pb.status ? "one folder of runs, or one campaign, at a time"
					      : "runs and campaigns are named without --");
	if (code < 0)
		code = pb.status ? status_show(&pb, &words) : publish_words(c, &pb, &words);
	publish_conf_release(&pb.conf);
	publish_told_release(&pb.told);
	strvec_release(&pb.only);
	strvec_release(&pb.folders);
	return code;
}

extern const struct command cmd_publish;
const struct command cmd_publish = { "publish", "[RUN|CAMPAIGN…]",
				     "send results to databases, or show what waits",
				     "profrig publish --config publish.yaml runs/latest",
				     publish_main };
