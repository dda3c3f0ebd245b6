/* campaign export: the results of a campaign as one table, or as one document. */
#include "campaign_dir.h"
#include "out_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"

struct export
{
	const struct command *c;
	const char *format, *output, *campaigns;
	bool old;
};

static int format_of(const struct export *x, enum store_format *ret)
{
	static const char *const names[] = {
		[STORE_CSV] = "csv", [STORE_JSON] = "json", [STORE_NDJSON] = "ndjson"
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], x->format)) {
			*ret = (enum store_format)i;
			return -1;
		}
	return cli_usage(x->c, "--format '%s' is none: csv, json or ndjson", x->format);
}

static int file_write(const struct export *x, struct store *s, enum store_format format,
		      struct store_exported *ret)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	CLEANUP(xfreep) char *dir = fs_dir(x->output);
	struct err err = ERR_INIT;
	int r = out_file_open(dir, fs_base(x->output), &o, &err);

	if (r == 0) {
		r = store_export(s, format, x->old, o.f, ret, &err);
		if (r < 0)
			return campaign_store_failed(x->c, r, &err);
		r = out_file_commit(&o, &err);
	}
	if (r < 0) {
		cli_write_failed(&err, true);
		return EXIT_MISSING;
	}
	return -1;
}

static int store_write(const struct export *x, struct store *s, enum store_format format)
{
	struct store_exported done;
	struct store_summary sum;
	struct err err = ERR_INIT;
	int code = -1, r;

	if (strcmp(x->output, "-") != 0) {
		code = file_write(x, s, format, &done);
	} else {
		r = store_export(s, format, x->old, stdout, &done, &err);
		if (r < 0)
			code = campaign_store_failed(x->c, r, &err);
	}
	if (code >= 0)
		return code;
	log_info("%" PRIu64 " rows: %" PRIu64 " figures, %" PRIu64 " attempts that do not count",
		 done.rows, done.metrics, done.uncommitted);
	if (done.old_left_out)
		log_warn("%" PRIu64 " runs of earlier plans are left out (--old adds them)",
			 done.old_left_out);
	if (store_summary(s, &sum, NULL) == 0)
		campaign_store_lacks(&sum);
	return EXIT_DONE;
}

static int export_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = NULL;
	struct export x = { .c = c, .format = "csv", .output = "-" };
	enum store_format format = STORE_CSV;
	struct store *s = NULL;
	const struct opt opts[] = {
		{ "format", 0, OPT_STR, &x.format, "FORMAT", "csv (default), json or ndjson" },
		{ "output", 'o', OPT_STR, &x.output, "FILE", "where to write; -: standard output" },
		{ "old", 0, OPT_FLAG, &x.old, NULL, "runs of earlier plans, too" },
		CAMPAIGNS_OPT(&x.campaigns, 0),
		{ 0 },
	};
	int code = cli_parse(c, opts, NULL, argc, argv, &operands, NULL);

	if (code < 0)
		code = format_of(&x, &format);
	if (code < 0)
		code = campaign_dir_of(c, &operands, 0, x.campaigns, &dir);
	if (code < 0)
		code = campaign_store_open(c, dir, true, &s);
	if (code < 0)
		code = store_write(&x, s, format);
	store_close(s);
	return code;
}

extern const struct command cmd_campaign_export;
const struct command cmd_campaign_export = {
	"campaign export", "FILE|DIR", "the results of a campaign as CSV, JSON or NDJSON",
	"profrig campaign export campaigns/blas-on-mlp -o results.csv", export_main
};
