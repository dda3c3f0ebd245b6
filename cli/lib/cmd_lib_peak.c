/* lib peak: what this machine can do at most, by type and number of threads. */
#include "cli.h"
#include "lib_peaks.h"
#include "out_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"

#define THREADS_MAX 4096
#define COUNTS_MAX 64 /* numbers of threads */

struct lib_peak {
	const struct command *c;
	const char *output;
	struct strvec threads;
	bool json, again;
	VEC(unsigned) counts;
	VEC(struct measured {
		struct bench_peaks peaks;
		bool stored;
	}) v;
};

/* ---- options ---- */

static void count_add(struct lib_peak *lp, unsigned n)
{
	if (!VEC_FIND(&lp->counts, k, *k == n))
		VEC_PUSH(&lp->counts, n);
}

static int counts_read(struct lib_peak *lp)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	uint64_t n;

	for (size_t i = 0; i < lp->threads.nr; i++)
		strvec_split(&words, lp->threads.v[i], ",");
	for (size_t i = 0; i < words.nr; i++) {
		if (num_u64(words.v[i], strlen(words.v[i]), &n) < 0 || n < 1 || n > THREADS_MAX)
			return cli_usage(lp->c, "--threads wants 1 or more, not '%.40s'",
					 words.v[i]);
		count_add(lp, (unsigned)n);
	}
	if (lp->threads.nr && !words.nr)
		return cli_usage(lp->c, "--threads wants 1 or more");
	if (lp->counts.nr > COUNTS_MAX)
		return cli_usage(lp->c, "--threads wants at most %d numbers", COUNTS_MAX);
	if (!lp->counts.nr) {
		count_add(lp, 1);
		count_add(lp, bench_peaks_processors());
	}
	return EXIT_DONE;
}

/* ---- output ---- */

/* Three digits or more, "-" where it is unknown. */
static const char *figure(double v, char buf[32])
{
	if (isnan(v))
		return "-";
	snprintf(buf, 32, v < 100 ? "%.2f" : "%.1f", v);
	return buf;
}

static void row_say(const struct bench_peaks *p, enum bench_type type)
{
	const struct bench_peak *k = &p->of[type];
	char gflops[32], gbps[32], ridge[32];

	printf("  %-5s %7u %10s %8s %10s  %-9s %.10s\n", bench_type_name(type), p->threads,
	       figure(k->gflops, gflops), figure(p->gbps, gbps),
	       figure(bench_peak_ridge(p, type), ridge), *k->unit ? k->unit : "-", p->measured);
}

static void say_text(const struct lib_peak *lp)
{
	CLEANUP(xfreep) char *processor = bench_peaks_processor(), *host = bench_peaks_host();

	cli_put(stdout, *processor ? processor : "unknown processor", 0);
	printf(" on ");
	cli_put(stdout, host, 0);
	printf("\n  %-5s %7s %10s %8s %10s  %-9s %s\n", "type", "threads", "GFLOP/s", "GB/s",
	       "flops/byte", "unit", "measured");
	for (size_t i = 0; i < lp->v.nr; i++)
		for (int t = 0; t < BENCH_PEAK_TYPES; t++)
			row_say(&lp->v.v[i].peaks, (enum bench_type)t);
}

static void json_row(struct json_out *j, const struct measured *m, enum bench_type type)
{
	const struct bench_peaks *p = &m->peaks;
	const struct bench_peak *k = &p->of[type];

	json_obj(j, NULL);
	json_str(j, "dtype", bench_type_name(type));
	json_u64(j, "threads", p->threads);
	json_str(j, "unit", *k->unit ? k->unit : NULL);
	json_f64(j, "gflops", k->gflops);
	json_f64(j, "gflops_median", k->gflops_median);
	json_f64(j, "gbps", p->gbps);
	json_f64(j, "gbps_median", p->gbps_median);
	json_f64(j, "ridge", bench_peak_ridge(p, type));
	json_str(j, "stores", *p->stores ? p->stores : NULL);
	json_u64(j, "array_bytes", p->array_bytes);
	json_str(j, "measured", p->measured);
	json_bool(j, "stored", m->stored);
	json_str(j, "status", bench_status_name(k->status));
	json_str(j, "reason", k->reason);
	json_end(j);
}

static void say_json(const struct lib_peak *lp)
{
	CLEANUP(xfreep) char *processor = bench_peaks_processor(), *host = bench_peaks_host();
	CLEANUP(xfreep) char *store = bench_peaks_file(NULL);
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "processor", processor);
	json_str(&j, "host", host);
	json_str(&j, "store", store);
	json_arr(&j, "peaks");
	for (size_t i = 0; i < lp->v.nr; i++)
		for (int t = 0; t < BENCH_PEAK_TYPES; t++)
			json_row(&j, &lp->v.v[i], (enum bench_type)t);
	json_end(&j);
	json_end(&j);
	putchar('\n');
}

static void csv_print(const struct lib_peak *lp, FILE *f)
{
	fputs(BENCH_PEAK_COLUMNS "\n", f);
	for (size_t i = 0; i < lp->v.nr; i++)
		bench_peaks_write(&lp->v.v[i].peaks, f);
}

static int csv_to(const struct lib_peak *lp, struct err *err)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	CLEANUP(xfreep) char *dir = fs_dir(lp->output);
	int r = out_file_open(dir, fs_base(lp->output), &o, err);

	if (r < 0)
		return r;
	csv_print(lp, o.f);
	return out_file_commit(&o, err);
}

static int all_written(const struct lib_peak *lp)
{
	bool to_stdout = lp->output && !strcmp(lp->output, "-");
	struct err err = ERR_INIT;

	if (lp->json)
		say_json(lp);
	else if (to_stdout)
		csv_print(lp, stdout);
	else
		say_text(lp);
	if (!lp->output || to_stdout || csv_to(lp, &err) == 0)
		return EXIT_DONE;
	cli_write_failed(&err, true);
	return EXIT_MISSING;
}

/* ---- the command ---- */

static int failures_say(const struct lib_peak *lp)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < lp->v.nr; i++)
		for (int t = 0; t < BENCH_PEAK_TYPES; t++) {
			const struct bench_peaks *p = &lp->v.v[i].peaks;
			const struct bench_peak *k = &p->of[t];

			if (*k->reason)
				log_warn("%s, %u thread%s: %s: %s",
					 bench_type_name((enum bench_type)t), p->threads,
					 p->threads == 1 ? "" : "s", bench_status_name(k->status),
					 k->reason);
			if (k->status != BENCH_OK)
				code = EXIT_PARTIAL;
		}
	return code;
}

static int peaks_get(struct lib_peak *lp)
{
	struct err err = ERR_INIT;

	cli_catch_signals();
	cli_exit_at_signal("profrig: interrupted: peaks that were not finished are not stored\n");
	for (size_t i = 0; i < lp->counts.nr; i++) {
		struct measured m;
		int r = lib_peaks_get(lp->counts.v[i], lp->again, &m.peaks, &m.stored, &err);

		if (r == -ERANGE)
			return cli_usage(lp->c, "--threads: %s", err.msg);
		if (r < 0) {
			log_error("%s", err.msg);
			return EXIT_MISSING;
		}
		VEC_PUSH(&lp->v, m);
	}
	return exit_worse(all_written(lp), failures_say(lp));
}

static int lib_peak_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	struct lib_peak lp = { .c = c, .threads = STRVEC_INIT };
	const struct opt opts[] = {
		{ "threads", 0, OPT_LIST, &lp.threads, "N,…",
		  "numbers of threads (1, and that of all processors)" },
		{ "again", 0, OPT_FLAG, &lp.again, NULL,
		  "measure anew what is stored; on a quiet machine" },
		{ "output", 'o', OPT_STR, &lp.output, "FILE",
		  "also as CSV; -: standard output, in place of the table" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &lp.json, argc, argv, &words, NULL);

	if (code < 0 && words.nr)
		code = cli_usage(c, "it takes no '%.40s'", words.v[0]);
	if (code < 0 && lp.json && lp.output && !strcmp(lp.output, "-"))
		code = cli_usage(c, "--json and -o - both write to standard output");
	if (code < 0) {
		code = counts_read(&lp);
		if (code == EXIT_DONE)
			code = peaks_get(&lp);
	}
	progress_end();
	strvec_release(&lp.threads);
	VEC_RELEASE(&lp.counts);
	VEC_RELEASE(&lp.v);
	return code;
}

extern const struct command cmd_lib_peak;
const struct command cmd_lib_peak = { "lib peak", "",
				      "what this machine can do at most: flops and memory",
				      "profrig lib peak --threads 1", lib_peak_main };
