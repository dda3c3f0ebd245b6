/*
 * lib perf: library calls of a model, measured with other libraries → library_perf.csv, and the
 * fastest one of each configuration. Also the hidden command by which a child loads a library.
 */
#include "cli.h"
#include "lib_peaks.h"
#include "perf_input.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/base/text.h"
#include "profrig/bench/bench.h"
#include "profrig/bench/bench_child.h"

#define SHOWN 20
#define KEY_SHOWN 56
#define PEAK_OVER 1.05 /* what noise of a measurement explains */

struct best {
	const struct bench_config *config;
	const char *back_end; /* of the row's end, which lives as long as the run */
	struct bench_figures figures;
	double gflops, peak_share;
	size_t measured; /* back ends */
};

struct lib_perf {
	const struct command *c;
	struct bench_opts o;
	struct strvec names;
	const char *cache, *precision, *budget, *min_share;
	long threads, top;
	bool json, no_peak;
	struct bench_peaks peaks;
	size_t above; /* rows with more flops than the peak */
	struct bench_set set;
	struct bench_outcome out;
	VEC(struct best) best; /* in the order in which they were measured */
};

/* ---- options ---- */

static int share_of(const struct lib_perf *lp, const char *option, const char *text, double *ret)
{
	if (!text)
		return EXIT_DONE;
	if ((num_percent(text, strlen(text), ret) == 0 || num_f64(text, strlen(text), ret) == 0) &&
	    *ret >= 0 && *ret < 1)
		return EXIT_DONE;
	return cli_usage(lp->c, "--%s wants a share such as 2%%, not '%.40s'", option, text);
}

static int options_read(struct lib_perf *lp)
{
	int code = share_of(lp, "precision", lp->precision, &lp->o.precision);

	if (code == EXIT_DONE)
		code = share_of(lp, "min-share", lp->min_share, &lp->o.min_share);
	if (code != EXIT_DONE)
		return code;
	if (!(lp->o.precision > 0))
		return cli_usage(lp->c, "--precision wants more than 0");
	if (lp->cache && !bench_cache_parse(lp->cache, &lp->o.cache))
		return cli_usage(lp->c, "--cache is warm, cold or weights-cold, not '%.40s'",
				 lp->cache);
	if (lp->threads < 1 || lp->threads > 4096)
		return cli_usage(lp->c, "--threads wants 1 or more");
	if (lp->top < 0)
		return cli_usage(lp->c, "--top wants a number");
	if (lp->budget && (num_seconds(lp->budget, strlen(lp->budget), &lp->o.budget_s) < 0 ||
			   !(lp->o.budget_s > 0)))
		return cli_usage(lp->c, "--budget wants a time such as 20 or 10m, not '%.40s'",
				 lp->budget);
	if (!(lp->o.timeout_s > 0 && lp->o.timeout_s <= 86400))
		return cli_usage(lp->c, "--timeout wants a time");
	lp->o.threads = (unsigned)lp->threads;
	lp->o.top = (uint64_t)lp->top;
	return EXIT_DONE;
}

/* ---- while it runs ---- */

static void on_config(void *ctx, const struct bench_config *c, size_t at, size_t of)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const char *text = *c->key ? c->key : c->config;

	(void)ctx;
	text_visible(&sb, text, strnlen(text, KEY_SHOWN), "");
	progress_phase("%zu of %zu: %s", at + 1, of, sb.buf);
}

/* Memory as the limit does not count here: operands in caches have more bandwidth. */
static bool is_above(const struct lib_perf *lp, const struct bench_row *r)
{
	struct bench_op op;

	return lp->o.peaks && r->peak_share > PEAK_OVER &&
	       bench_op_parse(r->config->key, &op, NULL) == 0 &&
	       r->gflops > PEAK_OVER * bench_peak_gflops(lp->o.peaks, op.type);
}

static void on_row(void *ctx, const struct bench_row *r)
{
	struct lib_perf *lp = ctx;
	struct best *b = lp->best.nr ? &lp->best.v[lp->best.nr - 1] : NULL;

	if (r->status != BENCH_OK && *r->reason)
		log_info("%s: %s: %s", r->back_end, bench_status_name(r->status), r->reason);
	if (!b || b->config != r->config) {
		VEC_PUSH(&lp->best, ((struct best){ .config = r->config }));
		b = &lp->best.v[lp->best.nr - 1];
	}
	if (r->status != BENCH_OK)
		return;
	lp->above += is_above(lp, r);
	if (!b->measured++ || r->figures.mean < b->figures.mean) {
		b->back_end = r->back_end;
		b->figures = r->figures;
		b->gflops = r->gflops;
		b->peak_share = r->peak_share;
	}
}

/* ---- the summary ---- */

/* Half of the interval, in per cent of the mean. */
static double spread(const struct bench_figures *f)
{
	return (f->high - f->mean) / f->mean * 100;
}

static void best_say(const struct best *b)
{
	const char *text = *b->config->key ? b->config->key : b->config->config;

	printf("  ");
	if (b->measured) {
		char plus[16] = "?", share[16] = "-";

		if (!isnan(b->figures.high))
			snprintf(plus, sizeof(plus), "%.1f", spread(&b->figures));
		if (!isnan(b->peak_share))
			snprintf(share, sizeof(share), "%.1f", b->peak_share * 100);
		/* the end of a path says more than its beginning */
		printf("%-18.18s %11.2f %9.2f %6s %6s  ", fs_base(b->back_end), b->figures.mean,
		       b->gflops, plus, share);
	} else {
		printf("%-18s %11s %9s %6s %6s  ", "-", "-", "-", "-", "-");
	}
	cli_put(stdout, text, KEY_SHOWN);
	putchar('\n');
}

static void statuses_say(const struct bench_outcome *out)
{
	const char *between = ": ";

	for (int i = 0; i < BENCH_STATUSES; i++)
		if (out->of[i]) {
			printf("%s%zu %s", between, out->of[i],
			       bench_status_name((enum bench_status)i));
			between = ", ";
		}
	putchar('\n');
}

static void say_text(const struct lib_perf *lp)
{
	cli_put(stdout, lp->o.output, 0);
	printf(": %zu new %s of %zu %s", lp->out.rows, lp->out.rows == 1 ? "row" : "rows",
	       lp->best.nr, lp->best.nr == 1 ? "configuration" : "configurations");
	statuses_say(&lp->out);
	if (lp->out.resumed)
		printf("  %zu %s already (--again measures anew)\n", lp->out.resumed,
		       lp->out.resumed == 1 ? "configuration had its rows"
					    : "configurations had their rows");
	if (lp->best.nr)
		printf("  %-18s %11s %9s %6s %6s  %s\n", "fastest", "µs", "GFLOP/s", "± %",
		       "peak %", "configuration");
	for (size_t i = 0; i < lp->best.nr && i < SHOWN; i++)
		best_say(&lp->best.v[i]);
	if (lp->best.nr > SHOWN)
		printf("  … and %zu more\n", lp->best.nr - SHOWN);
}

static void say_json(const struct lib_perf *lp)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "path", lp->o.output);
	json_u64(&j, "configurations", lp->out.chosen);
	json_u64(&j, "rows", lp->out.rows);
	json_u64(&j, "resumed", lp->out.resumed);
	json_u64(&j, "left", lp->out.left);
	json_f64(&j, "overhead_s", lp->out.overhead_s);
	json_u64(&j, "pairs", lp->out.pairs);
	json_obj(&j, "status");
	for (int i = 0; i < BENCH_STATUSES; i++)
		json_u64(&j, bench_status_name((enum bench_status)i), lp->out.of[i]);
	json_end(&j);
	json_arr(&j, "fastest");
	for (size_t i = 0; i < lp->best.nr; i++) {
		const struct best *b = &lp->best.v[i];

		json_obj(&j, NULL);
		json_str(&j, "key", b->config->key);
		json_str(&j, "backend", b->measured ? b->back_end : NULL);
		json_f64(&j, "mean_us", b->measured ? b->figures.mean : NAN);
		json_f64(&j, "gflops", b->measured ? b->gflops : NAN);
		json_f64(&j, "peak_share", b->measured ? b->peak_share : NAN);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putchar('\n');
}

/* ---- the command ---- */

static int run_failed(const struct lib_perf *lp, int r, const struct err *err)
{
	switch (r) {
	case -ERANGE:
		return cli_usage(lp->c, "--threads: %s", err->msg);
	case -EINVAL:
		return cli_usage(lp->c, "-o: %s", err->msg);
	case -ENODEV:
		log_error("%s%s", err->msg,
			  lp->names.nr ? "; 'profrig lib perf' without --backends takes what is "
					 "installed"
				       : "; 'apt-get install libopenblas0-pthread' has one");
		return EXIT_MISSING;
	case -EBUSY:
		log_error("%s", err->msg);
		return EXIT_MISSING;
	default:
		break;
	}
	cli_write_failed(err, true);
	if (!lp->out.rows)
		return EXIT_MISSING;
	log_warn("%zu new %s there: when there is room, the same command goes on behind them",
		 lp->out.rows, lp->out.rows == 1 ? "row is" : "rows are");
	return EXIT_PARTIAL;
}

/* Without them shares are unknown. That there are less processors is said by bench_run. */
static void peaks_get(struct lib_perf *lp)
{
	struct err err = ERR_INIT;
	bool stored;

	if (lp->no_peak || lib_peaks_get(lp->o.threads, false, &lp->peaks, &stored, &err) < 0)
		return;
	lp->o.peaks = &lp->peaks;
	for (int t = 0; t < BENCH_PEAK_TYPES; t++)
		if (lp->peaks.of[t].status != BENCH_OK)
			log_warn("shares of the peak of %s are not known: %s",
				 bench_type_name((enum bench_type)t), lp->peaks.of[t].reason);
}

static int set_measure(struct lib_perf *lp, struct bench_back_ends *ends)
{
	CLEANUP(xfreep) char *dir = fs_dir(lp->o.output);
	struct err err = ERR_INIT;
	int r;

	if (!strcmp(lp->o.output, "-"))
		return cli_usage(lp->c, "-o wants a file: rows are added to it, and found there "
					"by the next run");
	if (fs_mkdirs(dir, 0777, &err) < 0) {
		cli_write_failed(&err, true);
		return EXIT_MISSING;
	}
	cli_catch_signals();
	cli_exit_at_signal("profrig: interrupted: finished rows are there, the same command goes "
			   "on behind them\n");
	peaks_get(lp);
	r = bench_run(&lp->set, ends, &lp->o, &lp->out, &err);
	progress_end();
	if (r < 0)
		return run_failed(lp, r, &err);
	if (lp->json)
		say_json(lp);
	else
		say_text(lp);
	if (lp->out.pairs)
		log_info("%.1f ms beside measuring for each of %zu pairs",
			 lp->out.overhead_s * 1e3 / (double)lp->out.pairs, lp->out.pairs);
	if (lp->above)
		log_warn("rows that are faster than the peak of this machine: %zu; it was measured "
			 "while others used it: 'profrig lib peak --threads %u --again'",
			 lp->above, lp->o.threads);
	if (!lp->out.left)
		return EXIT_DONE;
	log_warn("the budget is used up: %zu %s left, the same command goes on with %s",
		 lp->out.left, lp->out.left == 1 ? "configuration is" : "configurations are",
		 lp->out.left == 1 ? "it" : "them");
	return EXIT_PARTIAL;
}

static int inputs_measure(struct lib_perf *lp, const struct strvec *inputs)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct bench_back_ends ends = { VEC_INIT };
	struct err err = ERR_INIT;
	int r, code;

	for (size_t i = 0; i < lp->names.nr; i++)
		strvec_split(&names, lp->names.v[i], ",");
	if (lp->names.nr && !names.nr)
		return cli_usage(lp->c, "--backends names none");
	r = bench_back_ends_find(&names, &ends, &err);
	if (r == -EINVAL) {
		code = cli_usage(lp->c, "--backends: %s", err.msg);
	} else {
		code = perf_inputs_read(inputs, &lp->set);
		if (code != EXIT_UNREADABLE && r < 0) {
			log_error("%s", err.msg);
			code = EXIT_MISSING;
		} else if (code == EXIT_DONE || code == EXIT_PARTIAL) {
			code = exit_worse(code, set_measure(lp, &ends));
		}
	}
	bench_back_ends_release(&ends);
	return code;
}

static int lib_perf_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct lib_perf lp = { .c = c, .o = BENCH_OPTS_INIT, .names = STRVEC_INIT, .threads = 1 };
	char **rest;
	const struct opt opts[] = {
		{ "backends", 'b', OPT_LIST, &lp.names, "A,B,…",
		  "libraries: openblas, blis, atlas, reference, gsl, onednn, cublas, cublaslt, "
		  "rocblas, hipblaslt, one flavour such as blis-serial, or /PATH; programs: "
		  "rocblas-bench, hipblaslt-bench, miopen-driver, rccl-tests, nccl-tests, "
		  "benchdnn, "
		  "cutlass-profiler, or the /PATH of one; else all libraries that are installed" },
		{ "cache", 0, OPT_STR, &lp.cache, "MODE",
		  "warm, cold, or weights-cold (as it is): what changes from call to call" },
		{ "threads", 0, OPT_INT, &lp.threads, "N", "threads of the library, pinned (1)" },
		{ "precision", 0, OPT_STR, &lp.precision, "SHARE",
		  "standard error at which measuring ends (2%)" },
		{ "budget", 0, OPT_STR, &lp.budget, "TIME",
		  "for everything, as 20 (seconds) or 10m; else 10 s for each configuration" },
		{ "top", 0, OPT_INT, &lp.top, "N", "the N configurations with most flops alone" },
		{ "min-share", 0, OPT_STR, &lp.min_share, "SHARE",
		  "those with at least this share of all flops, as 1%" },
		{ "timeout", 0, OPT_SECONDS, &lp.o.timeout_s, "TIME",
		  "in which a library answers, beside what its work takes (10)" },
		{ "again", 0, OPT_FLAG, &lp.o.again, NULL,
		  "measure also what has a row; the last row counts" },
		{ "no-peak", 0, OPT_FLAG, &lp.no_peak, NULL,
		  "without peak_share; else peaks that are not stored are measured, for a second" },
		{ "output", 'o', OPT_STR, &lp.o.output, "FILE",
		  "where rows are added (library_perf.csv here)" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &lp.json, argc, argv, &inputs, &rest);

	lp.o.listener = (struct bench_listener){ on_config, on_row, &lp };
	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&inputs, *rest);
	if (code < 0 && !inputs.nr)
		code = cli_usage(c, "no library_trace.csv, no log and no run");
	if (code < 0) {
		code = options_read(&lp);
		if (code == EXIT_DONE)
			code = inputs_measure(&lp, &inputs);
	}
	progress_end();
	VEC_RELEASE(&lp.best);
	strvec_release(&lp.names);
	bench_set_release(&lp.set);
	return code;
}

static int bench_child(const struct command *c, int argc, char **argv)
{
	uint64_t fd;

	(void)c;
	if (argc != 5 || num_u64(argv[1], strlen(argv[1]), &fd) < 0 || fd > INT32_MAX)
		return EXIT_USAGE;
	bench_child_main((int)fd, argv[2], argv[3], argv[4]);
}

extern const struct command cmd_lib_perf, cmd_bench_child;
const struct command cmd_lib_perf = { "lib perf", "FILE…|RUN…",
				      "library calls of a model, measured with other libraries",
				      "profrig lib perf library_trace.csv --backends openblas,blis",
				      lib_perf_main };
const struct command cmd_bench_child = { BENCH_CHILD_COMMAND, "FD CPUS DRIVER LIBRARY",
					 "calls one library for lib perf", "", bench_child };
