/*
 * list runs: the runs in a folder, the newest last.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profrig/base/cfg.h"
#include "profrig/base/json_fields.h"
#include "profrig/base/log.h"
#include "profrig/base/table.h"

char *cli_bytes(int64_t v, char *buf)
{
	static const char *const units[] = { "B", "K", "M", "G", "T" };
	double x = (double)v;
	size_t i = 0;

	for (; x >= 999.5 && i + 1 < ARRAY_LEN(units); i++)
		x /= 1024;
	snprintf(buf, 32, i && x < 9.95 ? "%.1f%s" : "%.0f%s", x, units[i]);
	return buf;
}

/* 95 s → "1m35s": for durations that need no milliseconds. */
static void duration_text(double s, char *buf, size_t n)
{
	int64_t whole = isfinite(s) && s >= 0 && s < 1e12 ? (int64_t)(s + 0.5) : 0;

	if (!isfinite(s) || s < 0)
		buf[0] = '\0';
	else if (s < 60)
		snprintf(buf, n, "%.1fs", s);
	else if (whole < 3600)
		snprintf(buf, n, "%" PRId64 "m%02" PRId64 "s", whole / 60, whole % 60);
	else
		snprintf(buf, n, "%" PRId64 "h%02" PRId64 "m", whole / 3600, whole / 60 % 60);
}

bool cli_known_status(const struct command *c, const char *word)
{
	const char *names[RUN_SKIPPED + 2] = { NULL };
	CLEANUP(xfreep) char *hint = NULL;

	for (int i = 0; i <= RUN_SKIPPED; i++) {
		names[i] = run_status_name((enum run_status)i);
		if (!word || !strcmp(names[i], word))
			return true;
	}
	hint = cfg_hint(word, names,
			" (success, failed, timeout, interrupted, partial, skipped, running)");
	cli_usage(c, "there is no status '%s'%s", word, hint);
	return false;
}

static void runs_text(const struct run_list *rl)
{
	struct table *t = table_of_texts("runs", "run", "status", "model", "when (UTC)", "duration",
					 "size", "result", "tools", "labels");
	struct winsize w;
	size_t width = isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;

	for (size_t i = 0; i < rl->v.nr; i++) {
		const struct run_info *r = &rl->v.v[i];
		CLEANUP(xfreep) char *tools = strvec_join(&r->tools, ",");
		CLEANUP(xfreep) char *labels = strvec_join(&r->labels, ",");
		CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT;
		char took[32], size[32], when[20];

		snprintf(when, sizeof(when), "%.19s", r->started_utc);
		if (strlen(when) == 19)
			when[10] = ' ';
		duration_text(r->duration_s, took, sizeof(took));
		if (r->bytes >= 0)
			strbuf_addf(&room, "%s%s", r->bytes_least ? "≥ " : "",
				    cli_bytes(r->bytes, size));
		table_texts(t, r->dir, r->status, r->model, when, took, room.buf, r->result, tools,
			    labels);
	}
	table_write_text(t, stdout, 0, width);
	table_free(t);
}

static void run_json(struct json_out *j, const struct run_info *r)
{
	json_obj(j, NULL);
	json_str(j, "id", r->id);
	json_str(j, "run", r->dir);
	json_str(j, "status", r->status);
	json_str(j, "reason", *r->reason ? r->reason : NULL);
	json_put(j, struct run_info, r, live, model, engine, started_utc, duration_s);
	json_str(j, "result", *r->result ? r->result : NULL);
	json_i64(j, "bytes", r->bytes);
	json_bool(j, "bytes_complete", !r->bytes_least);
	json_words(j, "tools", &r->tools);
	json_obj(j, "labels");
	for (size_t i = 0; i < r->labels.nr; i++) {
		const char *eq = strchr(r->labels.v[i], '=');
		CLEANUP(xfreep) char *key = xstrndup(r->labels.v[i], (size_t)(eq - r->labels.v[i]));

		json_str(j, key, eq + 1);
	}
	json_end(j);
	json_end(j);
}

static void runs_json(const struct run_list *rl)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_arr(&j, NULL);
	for (size_t i = 0; i < rl->v.nr; i++)
		run_json(&j, &rl->v.v[i]);
	json_end(&j);
	putchar('\n');
}

int list_runs(const char *dir, const struct run_filter *f, bool json)
{
	struct run_list rl = RUN_LIST_INIT;
	struct err err = ERR_INIT;
	int r = runs_load(dir, f, &rl, &err);

	/* Without a first run there is no folder, which is no error. */
	if (r == -ENOENT && !strcmp(dir, "runs"))
		r = 0;
	if (r < 0) {
		log_error("%s", err.msg);
		run_list_release(&rl);
		return EXIT_UNREADABLE;
	}
	for (size_t i = 0; i < rl.odd.nr; i++)
		log_warn("%s", rl.odd.v[i]);
	if (json)
		runs_json(&rl);
	else if (rl.v.nr)
		runs_text(&rl);
	else
		log_notice("no such run in %s", dir);
	run_list_release(&rl);
	return EXIT_DONE;
}
