/*
 * What `profrig compare` takes for two analyses with a million functions each, all names different
 * and the times of B some per cent off those of A. bench_compare BUILD_DIR; from the environment,
 * besides what bench_run.h has:
 *
 *	BENCH_ROWS=1000000	of each table
 *
 * Wall times are those of a quiet machine only when it is quiet.
 */
#include "bench_run.h"

#include "profrig/base/mix.h"

#define MAX_WALL_S 2.0 /* of a million rows */

/* As analyses write it, rows by falling time; in B each function has its own factor 0.9 … 1.1. */
static void table_write(FILE *f, uint64_t rows, bool is_b)
{
	fputs("scope,name,category,calls,inclusive_ns,exclusive_ns,min_ns,mean_ns,median_ns,"
	      "p95_ns,max_ns,stddev_ns,share,variants\n",
	      f);
	for (uint64_t i = 0; i < rows; i++) {
		uint64_t at = is_b ? i ^ mix64(i / 4096) % 4096 : i;
		uint64_t name = at < rows ? at : i, calls = name % 1000 + 1;
		double by = is_b ? 0.9 + 0.2 * (double)(mix64(name) % 1000) / 1000 : 1;
		uint64_t ns = (uint64_t)((double)((rows - name) * 1000) * by);

		fprintf(f,
			"host,\"function_%016" PRIx64 "<float, %" PRIu64 ">\",cpu,%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",0,%.9g,1\n",
			mix64(name), name, calls, ns + calls, ns, ns / calls, ns / calls,
			ns / calls, ns / calls, ns / calls, 1 / (double)rows);
	}
}

static FILE *must_open(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

/* An analysis directory with this table; its path, owned. */
static char *analysis_make(const struct bench *b, bool is_b)
{
	char *dir =
		xasprintf("%s/bench/compare-%" PRIu64 "-%c", b->build, b->events, is_b ? 'b' : 'a');
	CLEANUP(xfreep) char *tables = xasprintf("%s/tables", dir);
	CLEANUP(xfreep) char *table = xasprintf("%s/functions.csv", tables);
	CLEANUP(xfreep) char *facts = xasprintf("%s/analysis.json", dir);
	FILE *f;

	fs_mkdirs(tables, 0755, NULL);
	f = must_open(facts);
	fputs("{\"schema\":\"profrig.analysis/1\"}\n", f);
	fclose(f);
	f = must_open(table);
	table_write(f, b->events, is_b);
	if (fclose(f) != 0) {
		perror(table);
		exit(1);
	}
	return dir;
}

int main(int argc, char **argv)
{
	static struct program p[] = {
		{ .name = "one metric", .argv = STRVEC_INIT },
		{ .name = "as it is called", .argv = STRVEC_INIT },
	};
	struct bench b = { .name = "compare", .build = argc > 1 ? argv[1] : "build" };
	CLEANUP(xfreep) char *dir_a = NULL, *dir_b = NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	b.events = number("BENCH_ROWS", 1000000, 10000000);
	b.runs = number("BENCH_RUNS", 5, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	dir_a = analysis_make(&b, false);
	dir_b = analysis_make(&b, true);
	for (size_t i = 0; i < ARRAY_LEN(p); i++) {
		strvec_pushf(&p[i].argv, "%s/profrig", b.build);
		strvec_pushl(&p[i].argv, "-q", "compare", dir_a, dir_b, NULL);
	}
	strvec_pushl(&p[0].argv, "--metric", "functions.exclusive_ns", NULL);
	printf("compare: %g M functions a side\n", (double)b.events * 1e-6);
	measure(&b, p, ARRAY_LEN(p));
	for (size_t i = 0; i < ARRAY_LEN(p); i++) {
		printf("compare: %s: %.2f s of processors\n", p[i].name, p[i].median.cpu_s);
		bar(&b, "wall time on a quiet machine:", p[i].median.s,
		    MAX_WALL_S * (double)b.events * 1e-6, " s");
		strvec_release(&p[i].argv);
	}
	fs_remove_tree(dir_a, NULL);
	fs_remove_tree(dir_b, NULL);
	return b.strict && b.missed;
}
