/* lib compare: files of lib perf, side by side. */
#include "cli.h"
#include "compare_file.h"
#include "compare_show.h"
#include "compare_tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/scan/input.h"

struct lib_compare {
	const struct command *c;
	const char *by, *threshold, *confidence, *output, *html;
	bool gate, json;
	struct bench_compare_opts o;
	struct compare_tuning tuning;
	struct bench_tables t;
	struct bench_comparison r;
};

/* ---- options ---- */

/* "5%" or "0.05" */
static bool share_parse(const char *text, double *ret)
{
	return num_percent(text, strlen(text), ret) == 0 || num_f64(text, strlen(text), ret) == 0;
}

static int options_read(struct lib_compare *lc)
{
	if (lc->by && strcmp(lc->by, "calls") != 0 && strcmp(lc->by, "time") != 0)
		return cli_usage(lc->c, "--by is calls or time, not '%.40s'", lc->by);
	lc->o.by_calls = lc->by && !strcmp(lc->by, "calls");
	if (lc->threshold && !(share_parse(lc->threshold, &lc->o.threshold) &&
			       lc->o.threshold >= 0 && lc->o.threshold < 1))
		return cli_usage(lc->c, "--threshold wants a share such as 5%%, not '%.40s'",
				 lc->threshold);
	if (lc->confidence && !(share_parse(lc->confidence, &lc->o.confidence) &&
				lc->o.confidence > 0 && lc->o.confidence < 1))
		return cli_usage(lc->c, "--confidence wants a share such as 0.95, not '%.40s'",
				 lc->confidence);
	if (lc->json && lc->output && !strcmp(lc->output, "-"))
		return cli_usage(lc->c, "--json and -o - both write to standard output");
	return compare_tuning_check(&lc->tuning, lc->c);
}

/* ---- files ---- */

/* A table of solutions, for which one side is enough. */
static bool is_table_alone(const struct lib_compare *lc)
{
	return compare_tuning_wanted(&lc->tuning) && !lc->output && !lc->html && !lc->json &&
	       !lc->gate;
}

/* Plain or compressed. A file without any row says nothing of its side, so it is an error. */
static int file_read(struct lib_compare *lc, const char *path)
{
	struct input_map m = { 0 };
	const struct bench_table_file *file;
	struct err err = ERR_INIT;
	int r = input_map(path, 0, &m, &err);

	if (r == 0)
		r = bench_tables_add(&lc->t, path, m.data, m.len, &err);
	if (r < 0) {
		log_error("%s", err.msg);
		input_unmap(&m);
		return EXIT_UNREADABLE;
	}
	file = &lc->t.files.v[lc->t.files.nr - 1];
	if (m.truncated)
		log_warn("%s: %s", path, m.why);
	if (file->bad)
		log_warn("%s: %zu damaged %s left out: %s", path, file->bad,
			 file->bad == 1 ? "row is" : "rows are", file->first_bad);
	if (!file->rows)
		log_error("%s: no row of it can be compared; 'profrig lib perf' writes them", path);
	r = !file->rows ? EXIT_UNREADABLE : m.truncated || file->bad ? EXIT_PARTIAL : EXIT_DONE;
	input_unmap(&m);
	return r;
}

static int inputs_read(struct lib_compare *lc, const struct strvec *inputs)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < inputs->nr && code != EXIT_UNREADABLE; i++)
		code = exit_worse(code, file_read(lc, inputs->v[i]));
	if (code == EXIT_UNREADABLE)
		return code;
	if (lc->t.sides.nr > 1 || (lc->t.sides.nr == 1 && is_table_alone(lc)))
		return code;
	return cli_usage(lc->c, "there is one back end, in one file: nothing to compare it with");
}

static void csv_write(const void *ctx, FILE *f)
{
	const struct lib_compare *lc = ctx;

	compare_csv(&lc->t, &lc->r, f);
}

static void html_write(const void *ctx, FILE *f)
{
	const struct lib_compare *lc = ctx;

	compare_html(&lc->t, &lc->r, f);
}

static int outputs_write(const struct lib_compare *lc)
{
	bool to_stdout = lc->output && !strcmp(lc->output, "-");
	int code = EXIT_DONE;

	if (to_stdout)
		compare_csv(&lc->t, &lc->r, stdout);
	else if (lc->output)
		code = compare_file_write(lc->output, csv_write, lc);
	if (lc->html)
		code = exit_worse(code, compare_file_write(lc->html, html_write, lc));
	if (lc->json)
		compare_json(&lc->t, &lc->r, stdout);
	else
		compare_text(&lc->t, &lc->r, to_stdout ? stderr : stdout);
	return code;
}

/* ---- the verdict ---- */

static int verdict_code(const struct lib_compare *lc)
{
	size_t slower = 0, lost = 0;
	bool refused = false, by_force = false;

	for (size_t i = 0; i < lc->r.versus.nr; i++) {
		const struct bench_versus *v = &lc->r.versus.v[i];

		refused |= !v->comparable;
		by_force |= v->refused > 0;
		slower += v->of[BENCH_SLOWER];
		lost += v->left[BENCH_ONLY_A];
	}
	for (size_t i = 0; i < lc->r.reasons.nr; i++)
		if (refused)
			log_error("%s", lc->r.reasons.v[i]);
		else
			log_warn("%s", lc->r.reasons.v[i]);
	if (refused)
		log_error("not comparable%s", by_force ? "; --force compares what differs in cache "
							 "mode, threads, types or clocks"
						       : "");
	if (lc->gate && slower)
		log_error("gate: %zu %s slower by more than %g %%", slower,
			  slower == 1 ? "call is" : "calls are", lc->o.threshold * 100);
	if (lc->gate && lost)
		log_warn("gate: %zu %s of A %s no time in another side, and %s not judged", lost,
			 lost == 1 ? "call" : "calls", lost == 1 ? "has" : "have",
			 lost == 1 ? "is" : "are");
	return refused || (lc->gate && slower) ? EXIT_GATE : EXIT_DONE;
}

static int inputs_compare(struct lib_compare *lc, const struct strvec *inputs)
{
	int code = inputs_read(lc, inputs), tuned = EXIT_DONE;

	if (code != EXIT_DONE && code != EXIT_PARTIAL)
		return code;
	if (compare_tuning_wanted(&lc->tuning))
		tuned = compare_tuning_write(&lc->tuning, &lc->t);
	if (tuned == EXIT_USAGE || tuned == EXIT_UNREADABLE)
		return tuned;
	code = exit_worse(code, tuned);
	if (lc->t.sides.nr < 2)
		return code;
	bench_compare(&lc->t, &lc->o, &lc->r);
	code = exit_worse(code, outputs_write(lc));
	code = exit_worse(code, verdict_code(lc));
	bench_comparison_release(&lc->r);
	return code;
}

static int lib_compare_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct lib_compare lc = { .c = c, .o = BENCH_COMPARE_OPTS_INIT, .t = BENCH_TABLES_INIT };
	char **rest;
	const struct opt opts[] = {
		{ "by", 0, OPT_STR, &lc.by, "WHAT",
		  "what ranks calls: time (what they would save, as it is) or calls" },
		{ "threshold", 0, OPT_STR, &lc.threshold, "SHARE",
		  "smaller differences are none (5%)" },
		{ "confidence", 0, OPT_STR, &lc.confidence, "SHARE", "of intervals (0.95)" },
		{ "force", 0, OPT_FLAG, &lc.o.force, NULL,
		  "compare also other cache modes, threads, types, clocks" },
		{ "gate", 0, OPT_FLAG, &lc.gate, NULL, "exit with 7 when a call is slower" },
		{ "output", 'o', OPT_STR, &lc.output, "FILE",
		  "write the calls as CSV, too; -: standard output" },
		{ "html", 0, OPT_STR, &lc.html, "FILE", "a page: roofline, A against B, effects" },
		{ "tunableop", 0, OPT_STR, &lc.tuning.tunableop, "FILE",
		  "write the fastest solution of each product for PyTorch's TunableOp" },
		{ "tunableop-validators", 0, OPT_STR, &lc.tuning.validators, "FILE",
		  "a file of PyTorch's TunableOp, whose validators that table gets" },
		{ "hipblaslt-tuning", 0, OPT_STR, &lc.tuning.hipblaslt, "FILE",
		  "write them as a tuning file of hipBLASLt" },
		{ "hipblaslt-revision", 0, OPT_STR, &lc.tuning.revision, "REV",
		  "of the hipBLASLt that was measured, where its rows do not tell" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &lc.json, argc, argv, &inputs, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&inputs, *rest);
	if (code < 0 && !inputs.nr)
		code = cli_usage(c, "no library_perf.csv");
	if (code < 0) {
		code = options_read(&lc);
		if (code == EXIT_DONE)
			code = inputs_compare(&lc, &inputs);
	}
	bench_tables_release(&lc.t);
	return code;
}

extern const struct command cmd_lib_compare;
const struct command cmd_lib_compare = { "lib compare", "A.csv [B.csv…]",
					 "measured library calls, side by side",
					 "profrig lib compare before.csv after.csv --gate",
					 lib_compare_main };
