/*
 * bench_library: what counting the calls of a library's log costs, for each form of log that
 * profrig reads. Whole processes on one file: beside grep -F -c, which only finds the records, and
 * for rocblas-bench lines beside grep, sort and uniq -c, which count equal lines only. What is
 * compared is processor time: that of one core, whatever else the machine does. bench_library
 * BUILD_DIR; from the environment, besides what bench_run.h has:
 *
 *	BENCH_MB=200		size of each log
 *	BENCH_CONFIGS=…		different configurations in it, in random order; otherwise 10000
 *				where equal calls are equal lines, as of rocblas-bench, else 1000
 *	BENCH_ONLY=nccl		one form of log
 *
 * "bench_library --read FILE RECORDS" is the program that is measured.
 */
#include "bench_run.h"
#include "tests/fixtures/gen/library_lines.c"

#include "profrig/library/library_log.h"

#define MIN_MB_PER_S 500
#define MIN_SORT 4 /* grep | sort | uniq -c, of profrig */
#define MAX_MIB 64

/* records: that the log has. */
static int log_read(const char *path, uint64_t records)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	struct library_counts n;
	struct err e = ERR_INIT;

	if (library_log_read(path, calls, &n, &e) != 0) {
		fprintf(stderr, "bench: %s\n", e.msg);
		return 1;
	}
	if (n.records == records && n.foreign == 0 && n.torn == 0)
		return 0;
	fprintf(stderr, "bench: %s: %" PRIu64 " of %" PRIu64 " records, %" PRIu64 " foreign\n",
		path, n.records, records, n.foreign);
	return 1;
}

/* Returns the number of records. */
static uint64_t log_make(const struct library_family *of, const char *path, uint64_t bytes,
			 uint64_t configs)
{
	FILE *f = fopen(path, "we");
	uint64_t seed = 3, records = 0;
	char record[LINES_RECORD_MAX];

	if (!f) {
		perror(path);
		exit(1);
	}
	fputs(of->begin, f);
	for (uint64_t done = 0; done < bytes; records++) {
		uint64_t config = splitmix64(&seed) % configs;
		size_t n = of->record(record, sizeof(record), config, &seed);

		fwrite(record, 1, n, f);
		done += n;
	}
	if (fclose(f) != 0) {
		perror(path);
		exit(1);
	}
	return records;
}

static void family_measure(struct bench *b, const struct library_family *of, const char *self,
			   uint64_t mb)
{
	struct program p[] = { { .name = "profrig", .argv = STRVEC_INIT },
			       { .name = "grep -c", .argv = STRVEC_INIT },
			       { .name = "grep | sort | uniq -c", .argv = STRVEC_INIT } };
	CLEANUP(xfreep) char *path = xasprintf("%s/bench/%s.log", b->build, of->name);
	bool sorted = !strcmp(of->name, "rocblas_bench");
	char records[24];

	b->name = of->name;
	b->events = log_make(of, path, mb * 1000000,
			     number("BENCH_CONFIGS", of->same ? 10000 : 1000, 1000000));
	num_fmt_u64(records, b->events);
	strvec_pushl(&p[0].argv, self, "--read", path, records, NULL);
	strvec_pushl(&p[1].argv, "/bin/sh", "-c",
		     "export LC_ALL=C; grep -F -c -e \"$0\" \"$1\" | cat", of->marker, path, NULL);
	strvec_pushl(&p[2].argv, "/bin/sh", "-c",
		     "export LC_ALL=C; grep rocblas-bench \"$0\" | sort --parallel=1 | uniq -c",
		     path, NULL);
	measure(b, p, sorted ? 3 : 2);
	bar_least(b, "MB/s:", (double)mb / p[0].median.cpu_s, MIN_MB_PER_S);
	printf("%s: profrig / grep -c: %.2f\n", b->name, p[0].median.cpu_s / p[1].median.cpu_s);
	if (sorted)
		bar_least(b,
			  "grep | sort | uniq -c / profrig:", p[2].median.cpu_s / p[0].median.cpu_s,
			  MIN_SORT);
	bar(b, "peak memory:", p[0].median.rss_mib, MAX_MIB, " MiB");
	if (!getenv("BENCH_KEEP"))
		unlink(path);
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
}

int main(int argc, char **argv)
{
	struct bench b = { .build = argc > 1 ? argv[1] : "build" };
	const char *only = getenv("BENCH_ONLY");
	CLEANUP(xfreep) char *dir = xasprintf("%s/bench", b.build);
	uint64_t mb = number("BENCH_MB", 200, 100000), records;
	size_t measured = 0;

	if (argc == 4 && !strcmp(argv[1], "--read") &&
	    num_u64(argv[3], strlen(argv[3]), &records) == 0)
		return log_read(argv[2], records);
	setvbuf(stdout, NULL, _IOLBF, 0);
	b.runs = number("BENCH_RUNS", 3, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	fs_mkdirs(dir, 0755, NULL);
	for (const struct library_family *of = library_families; of->name; of++)
		if (!only || !strcmp(only, of->name)) {
			family_measure(&b, of, argv[0], mb);
			measured++;
		}
	if (measured == 0) {
		fprintf(stderr, "bench: BENCH_ONLY=%s\n", only);
		return 2;
	}
	return b.strict && b.missed;
}
