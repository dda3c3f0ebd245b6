/*
 * What reading a PyTorch trace into a model costs, beside what JSON libraries need for its text
 * alone: simdjson's DOM (tef_dom, where simdjson was there when it was built) and jansson's
 * (tef_jansson). bench_tef BUILD_DIR; from the environment, besides what bench_run.h has:
 *
 *	BENCH_EVENTS=1000000	events of the trace, some 260 bytes each (make_tef)
 */
#include "bench_run.h"

#define MIN_SIMDJSON 1.3
#define MIN_JANSSON 20
#define MAX_RSS 1.0 /* of the file */

static char *trace(const struct bench *b)
{
	char *path = xasprintf("%s/bench/tef-%" PRIu64 ".json", b->build, b->events);
	CLEANUP(xfreep) char *dir = xasprintf("%s/bench", b->build);
	CLEANUP(xfreep)
	char *line =
		xasprintf("%s/tests/bench/make_tef %" PRIu64 " >%s", b->build, b->events, path);
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

	fs_mkdirs(dir, 0755, NULL);
	strvec_pushl(&argv, "/bin/sh", "-c", line, NULL);
	if (!fs_exists(path))
		must_run(&argv);
	return path;
}

static double mib(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (double)st.st_size / (1 << 20) : 0;
}

int main(int argc, char **argv)
{
	static struct program p[3] = { { .name = "profrig info", .argv = STRVEC_INIT },
				       { .name = "jansson alone", .argv = STRVEC_INIT },
				       { .name = "simdjson DOM alone", .argv = STRVEC_INIT } };
	struct bench b = { .name = "tef", .build = argc > 1 ? argv[1] : "build" };
	CLEANUP(xfreep) char *dom = xasprintf("%s/tests/bench/tef_dom", b.build);
	CLEANUP(xfreep) char *path = NULL;
	bool simdjson = fs_exists(dom);

	setvbuf(stdout, NULL, _IOLBF, 0);
	b.events = number("BENCH_EVENTS", 1000000, 100000000);
	b.runs = number("BENCH_RUNS", 5, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	path = trace(&b);
	strvec_pushf(&p[0].argv, "%s/profrig", b.build);
	strvec_pushl(&p[0].argv, "-q", "info", path, NULL);
	strvec_pushf(&p[1].argv, "%s/tests/bench/tef_jansson", b.build);
	strvec_push(&p[1].argv, path);
	strvec_push(&p[2].argv, dom);
	strvec_push(&p[2].argv, path);
	printf("tef: %g M events, %.0f MiB, %s\n", (double)b.events * 1e-6, mib(path), path);
	measure(&b, p, simdjson ? 3 : 2);
	if (simdjson)
		bar_least(&b, "simdjson / profrig:", p[2].median.s / p[0].median.s, MIN_SIMDJSON);
	else
		puts("tef: no simdjson (libsimdjson-dev) when this was built: not compared");
	bar_least(&b, "jansson / profrig:", p[1].median.s / p[0].median.s, MIN_JANSSON);
	bar(&b, "peak memory / file:", p[0].median.rss_mib / mib(path), MAX_RSS, "x");
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
	return b.strict && b.missed;
}
