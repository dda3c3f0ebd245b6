/*
 * What reading a PyTorch trace into a model costs, beside what JSON libraries need for its text
 * alone: simdjson's DOM (tef_dom, where simdjson was there when it was built) and jansson's
 * (tef_jansson). bench_tef BUILD_DIR; from the environment, besides what bench_run.h has:
 *
 *	BENCH_EVENTS=1000000	events of the trace, some 240 bytes each (make_tef)
 *
 * Of profrig there are three: one thread, two, and two with the trace as gzip -6 makes it smaller.
 */
#include "bench_run.h"

#define MIN_SIMDJSON 1.3
#define MIN_JANSSON 20
#define MAX_RSS 1.0     /* of the file */
#define MIN_THREADS 1.6 /* two, of one */
#define MIN_GZIP 0.8    /* on two threads, of one with the file as it is */

static char *packed(const char *path)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	char *gz = xasprintf("%s.gz", path);

	strvec_pushl(&argv, "gzip", "-6", "-k", "-f", path, NULL);
	if (!is_newer(gz, path))
		must_run(&argv);
	return gz;
}

static double mib(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (double)st.st_size / (1 << 20) : 0;
}

enum { ONE, TWO, GZIP, JANSSON, SIMDJSON, PROGRAMS };

static void info(struct program *p, const struct bench *b, const char *threads, const char *path)
{
	strvec_pushf(&p->argv, "%s/profrig", b->build);
	strvec_pushl(&p->argv, "-q", "info", "--threads", threads, path, NULL);
}

static void bars(struct bench *b, const struct program *p, bool simdjson, double file_mib)
{
	double one = p[ONE].median.s;

	if (simdjson)
		bar_least(b, "simdjson / profrig:", p[SIMDJSON].median.s / one, MIN_SIMDJSON);
	else
		puts("tef: no simdjson (libsimdjson-dev) when this was built: not compared");
	bar_least(b, "jansson / profrig:", p[JANSSON].median.s / one, MIN_JANSSON);
	bar_least(b, "one thread / two:", one / p[TWO].median.s, MIN_THREADS);
	bar_least(b, "one thread / gzip on two:", one / p[GZIP].median.s, MIN_GZIP);
	bar(b, "peak memory / file:", p[ONE].median.rss_mib / file_mib, MAX_RSS, "x");
}

int main(int argc, char **argv)
{
	static struct program p[PROGRAMS] = {
		[ONE] = { .name = "profrig, 1 thread", .argv = STRVEC_INIT },
		[TWO] = { .name = "profrig, 2 threads", .argv = STRVEC_INIT },
		[GZIP] = { .name = "profrig, 2, gzip", .argv = STRVEC_INIT },
		[JANSSON] = { .name = "jansson alone", .argv = STRVEC_INIT },
		[SIMDJSON] = { .name = "simdjson DOM alone", .argv = STRVEC_INIT },
	};
	struct bench b = { .name = "tef", .build = argc > 1 ? argv[1] : "build" };
	CLEANUP(xfreep) char *dom = xasprintf("%s/tests/bench/tef_dom", b.build);
	CLEANUP(xfreep) char *path = NULL, *gz = NULL;
	bool simdjson = fs_exists(dom);

	setvbuf(stdout, NULL, _IOLBF, 0);
	b.events = number("BENCH_EVENTS", 1000000, 100000000);
	b.runs = number("BENCH_RUNS", 5, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	path = made_trace(&b, "tef", "");
	gz = packed(path);
	info(&p[ONE], &b, "1", path);
	info(&p[TWO], &b, "2", path);
	info(&p[GZIP], &b, "2", gz);
	strvec_pushf(&p[JANSSON].argv, "%s/tests/bench/tef_jansson", b.build);
	strvec_push(&p[JANSSON].argv, path);
	strvec_push(&p[SIMDJSON].argv, dom);
	strvec_push(&p[SIMDJSON].argv, path);
	printf("tef: %g M events, %.0f MiB, %s\n", (double)b.events * 1e-6, mib(path), path);
	measure(&b, p, simdjson ? PROGRAMS : SIMDJSON);
	bars(&b, p, simdjson, mib(path));
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
	return b.strict && b.missed;
}
