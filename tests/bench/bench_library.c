/*
 * bench_library: what counting the calls of a library's log costs, beside grep, sort and uniq -c,
 * which count equal lines only: whole processes on one file. bench_library BUILD_DIR; from the
 * environment, besides what bench_run.h has:
 *
 *	BENCH_MB=1000		size of the log
 *	BENCH_CONFIGS=10000	different rocblas-bench lines in it, in random order
 *
 * "bench_library --read FILE" is the program that is measured.
 */
#include "bench_run.h"

#include "profrig/base/mix.h"
#include "profrig/library/library_log.h"

#define MIN_MB_PER_S 500
#define MIN_SORT 4 /* grep | sort | uniq -c, of profrig */
#define MAX_MIB 64

static int log_read(const char *path)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	struct library_counts n;
	struct err e = ERR_INIT;

	if (library_log_read(path, calls, &n, &e) != 0) {
		fprintf(stderr, "bench: %s\n", e.msg);
		return 1;
	}
	printf("%" PRIu64 " records, %" PRIu64 " distinct\n", n.records, calls->distinct);
	return n.records != n.lines;
}

static size_t line_make(char *buf, size_t size, uint64_t config)
{
	unsigned m = 64 + (unsigned)(config % 100) * 8, n = 16 + (unsigned)(config / 100) * 4;

	return (size_t)snprintf(
		buf, size,
		"./rocblas-bench -f gemm_ex --transposeA N --transposeB %c -m %u -n "
		"%u -k 1024 --alpha 1 --a_type f16_r --lda %u --b_type f16_r --ldb "
		"%u --beta 0 --c_type f16_r --ldc %u --d_type f16_r --ldd %u "
		"--compute_type f32_r --algo 0 --solution_index 0 --flags 0\n",
		config % 2 ? 'T' : 'N', m, n, m, config % 2 ? n : 1024, m, m);
}

static uint64_t log_make(const char *path, uint64_t bytes, uint64_t configs)
{
	FILE *f = fopen(path, "we");
	uint64_t seed = 3, lines = 0;
	char line[512];

	if (!f) {
		perror(path);
		exit(1);
	}
	for (uint64_t done = 0; done < bytes; lines++) {
		size_t n = line_make(line, sizeof(line), splitmix64(&seed) % configs);

		fwrite(line, 1, n, f);
		done += n;
	}
	if (fclose(f) != 0) {
		perror(path);
		exit(1);
	}
	return lines;
}

int main(int argc, char **argv)
{
	static struct program p[] = { { .name = "profrig", .argv = STRVEC_INIT },
				      { .name = "grep | sort | uniq -c", .argv = STRVEC_INIT } };
	struct bench b = { .name = "library", .build = argc > 1 ? argv[1] : "build" };
	uint64_t mb = number("BENCH_MB", 1000, 100000);
	CLEANUP(xfreep) char *dir = xasprintf("%s/bench", b.build), *path = NULL;

	if (argc == 3 && !strcmp(argv[1], "--read"))
		return log_read(argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	b.runs = number("BENCH_RUNS", 3, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	fs_mkdirs(dir, 0755, NULL);
	path = xasprintf("%s/library.log", dir);
	b.events = log_make(path, mb * 1000000, number("BENCH_CONFIGS", 10000, 10000000));
	strvec_pushl(&p[0].argv, argv[0], "--read", path, NULL);
	strvec_pushl(&p[1].argv, "/bin/sh", "-c",
		     "export LC_ALL=C; grep rocblas-bench \"$0\" | sort --parallel=1 | uniq -c",
		     path, NULL);
	measure(&b, p, ARRAY_LEN(p));
	bar_least(&b, "MB/s:", (double)mb / p[0].median.s, MIN_MB_PER_S);
	bar_least(&b, "grep | sort | uniq -c / profrig:", p[1].median.s / p[0].median.s, MIN_SORT);
	bar(&b, "peak memory:", p[0].median.rss_mib, MAX_MIB, " MiB");
	if (!getenv("BENCH_KEEP"))
		unlink(path);
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
	return b.strict && b.missed;
}
