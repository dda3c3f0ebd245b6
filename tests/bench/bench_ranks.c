/*
 * What an analysis of many rank files takes, all in memory and beyond a budget (spill.h): a PyTorch
 * job of so many ranks, one .json.gz each (make_tef). bench_ranks BUILD_DIR; from the environment,
 * besides what bench_run.h has:
 *
 *	BENCH_RANKS=20		files; 1000 take 4 GB with BENCH_SPANS=100000
 *	BENCH_SPANS=20000	of each file
 *	BENCH_MEMORY=64M	the budget
 *
 * Both analyses must have the same tables. The figures are of this disk and of what else it does.
 */
#include "bench_run.h"

#define MAX_TIMES 4.0   /* wall time, of the one in memory */
#define MAX_BUDGETS 2.0 /* resident memory, of the budget */

static void files_make(const struct bench *b, uint64_t ranks, const char *dir)
{
	for (uint64_t r = 0; r < ranks; r++) {
		CLEANUP(xfreep) char *path = xasprintf("%s/rank-%04" PRIu64 ".json.gz", dir, r);
		CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

		if (fs_exists(path))
			continue;
		strvec_pushl(&argv, "/bin/sh", "-c", NULL);
		strvec_pushf(&argv,
			     "%s/tests/bench/make_tef -s -r %" PRIu64 " -w %" PRIu64 " %" PRIu64
			     " | gzip -1 >%s.part && mv %s.part %s",
			     b->build, r, ranks, b->events / ranks, path, path, path);
		must_run(&argv);
	}
}

static char *analysis_of(struct program *p, const struct bench *b, const char *memory,
			 const char *dir)
{
	char *out = xasprintf("%s-out-%s", dir, memory);

	strvec_pushf(&p->argv, "%s/profrig", b->build);
	strvec_pushl(&p->argv, "-q", "analyze", "--threads", "2", "--memory", memory, dir, "-o",
		     out, NULL);
	return out;
}

static void tables_compare(const char *a, const char *b)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

	strvec_pushl(&argv, "diff", "-r", NULL);
	strvec_pushf(&argv, "%s/tables", a);
	strvec_pushf(&argv, "%s/tables", b);
	must_run(&argv);
	puts("ranks: the tables are the same");
}

int main(int argc, char **argv)
{
	static struct program p[] = {
		{ .name = "all in memory", .argv = STRVEC_INIT },
		{ .name = "beyond a budget", .argv = STRVEC_INIT },
	};
	struct bench b = { .name = "ranks", .build = argc > 1 ? argv[1] : "build" };
	const char *given = getenv("BENCH_MEMORY"), *memory = given ? given : "64M";
	uint64_t ranks = number("BENCH_RANKS", 20, 10000);
	uint64_t spans = number("BENCH_SPANS", 20000, 10000000);
	CLEANUP(xfreep) char *dir = NULL, *all = NULL, *some = NULL;
	int64_t budget;

	if (num_bytes(memory, strlen(memory), &budget) < 0 || budget == 0) {
		fprintf(stderr, "bench: BENCH_MEMORY=%s\n", memory);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	b.events = ranks * spans;
	b.runs = number("BENCH_RUNS", 3, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	dir = xasprintf("%s/bench/ranks-%" PRIu64 "-%" PRIu64, b.build, ranks, spans);
	fs_mkdirs(dir, 0755, NULL);
	files_make(&b, ranks, dir);
	all = analysis_of(&p[0], &b, "0", dir);
	some = analysis_of(&p[1], &b, memory, dir);
	printf("ranks: %" PRIu64 " files of %" PRIu64 " spans, budget %s\n", ranks, spans, memory);
	measure(&b, p, ARRAY_LEN(p));
	tables_compare(all, some);
	bar(&b, "wall time, beyond the budget / in memory:", p[1].median.s / p[0].median.s,
	    MAX_TIMES, "x");
	bar(&b, "resident memory / budget:", p[1].median.rss_mib * 1048576 / (double)budget,
	    MAX_BUDGETS, "x");
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
	return b.strict && b.missed;
}
