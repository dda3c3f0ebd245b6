/*
 * What `profrig analyze` costs for a large OTF2 archive, as it is called by default (every
 * analysis, every writer), measured by what libotf2 itself needs to deliver its events on one
 * thread (otf2_count). bench_otf2 BUILD_DIR; from the environment:
 *
 *	BENCH_EVENTS=100000000	enters and leaves of all 16 threads together
 *	BENCH_RUNS=5		of each program, in turn; medians are shown
 *	BENCH_SHAPE=NAME	only that shape
 *	BENCH_STRICT=1		a missed bar is a failure
 *
 * An archive has 16 threads of 4 processes and 8 energy counters at 1 kHz, in two shapes:
 *	deep	510 call paths a thread and 100 root calls
 *	roots	nothing but root calls, 50 000 per thread and second: each of the 1600 events
 *		between two samples changes which threads share the devices
 * It is made once in BUILD_DIR/bench, and one twice as long beside it. Peak memory is that of the
 * child (wait4). What energy by power costs is the default against --estimate time. With 4 MPI
 * ranks (profrig-mpi, where it was built) the time is that of mpirun, its own start included. Every
 * rank works out who shares the devices from the changes of all, which is most of the work in
 * `roots`: ranks gain nothing there where processors are fewer, so that has no bar.
 *
 * Memory holds call paths, and the samples of counters with their sums. `roots` has one sample of
 * each counter per 1600 events: 66 bytes each, of 8 counters, are 31 MiB per 100 M events.
 */
#include "bench_run.h"

#define THREADS 16
#define MAX_RATIO_POWER 1.25 /* what energy by power adds to all */
#define MAX_RSS_MIB 200

static const struct shape {
	const char *name;
	const char *const *make;                          /* words for make_otf2 */
	double max_ratio_1, max_ratio_2, max_ratio_model; /* of the count */
	double max_ratio_ranks;                           /* of two threads; 0: no bar */
	double max_growth;                                /* of memory when the archive doubles */
} shapes[] = {
	{ "deep", (const char *const[]){ "--recursion", "0", "--roots", "100", NULL }, 2.0, 1.25,
	  3.5, 1.15, 1.1 },
	{ "roots",
	  (const char *const[]){ "--depth", "1", "--fanout", "16", "--gaps", "0", "--touching", "0",
				 "--spacing_ns", "10000", NULL },
	  2.5, 1.5, 3.5, 0, 1.5 },
};

/* ---- archives ---- */

/* Made anew when the generator is. */
static char *archive(const struct bench *b, const struct shape *shape, uint64_t events)
{
	char *dir = xasprintf("%s/bench/otf2-%s-%" PRIu64, b->build, shape->name, events);
	CLEANUP(xfreep) char *anchor = fs_join(dir, "traces.otf2");
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct cost c;

	strvec_pushf(&argv, "%s/tests/fixtures/gen/make_otf2", b->build);
	if (is_newer(anchor, argv.v[0]))
		return dir;
	fs_remove_tree(dir, NULL);
	fs_mkdirs(dir, 0755, NULL);
	strvec_pushl(&argv, "--processes", "4", "--threads", "4", "--devices", "8", "--together",
		     "1", "--events", NULL);
	strvec_pushf(&argv, "%" PRIu64, events / THREADS);
	for (const char *const *word = shape->make; *word; word++)
		strvec_push(&argv, *word);
	strvec_push(&argv, dir);
	c = must_run(&argv);
	printf("otf2: %g M events made in %.1f s (%.1f M/s), %.0f MiB\n", (double)events * 1e-6,
	       c.s, (double)events * 1e-6 / c.s, c.rss_mib);
	return dir;
}

/* ---- programs ---- */

static void count_argv(const struct bench *b, const char *dir, struct strvec *ret)
{
	strvec_pushf(ret, "%s/tests/bench/otf2_count", b->build);
	strvec_pushf(ret, "%s/traces.otf2", dir);
}

static void analyze_argv(const struct bench *b, const char *dir, const char *program,
			 const char *threads, struct strvec *ret)
{
	strvec_pushf(ret, "%s/%s", b->build, program);
	strvec_pushl(ret, "-q", "analyze", "--threads", threads, "-o", NULL);
	strvec_pushf(ret, "%s/bench/otf2-out", b->build);
	strvec_push(ret, dir);
}

/* False where there is no MPI. */
static bool ranks_argv(const struct bench *b, const char *dir, struct strvec *ret)
{
	CLEANUP(xfreep) char *program = xasprintf("%s/profrig-mpi", b->build);

	if (!fs_exists(program))
		return false;
	/* for Open MPI: one machine, so no network is looked for, which takes 0.2 s */
	setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
	setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
	setenv("OMPI_MCA_pml", "ob1", 0);
	setenv("OMPI_MCA_btl", "self,vader", 0);
	setenv("OMPI_MCA_mtl", "^ofi", 0);
	strvec_pushl(ret, "mpirun", "--oversubscribe", "-n", "4", NULL);
	analyze_argv(b, dir, "profrig-mpi", "1", ret);
	return true;
}

/* ---- bars ---- */

/* The model takes 20 bytes an event: what fits is measured, however many the archive has. */
#define MODEL_EVENTS UINT64_C(100000000)

static void speed_model(struct bench *b, const struct shape *shape)
{
	static struct program p[2] = { { .name = "count only", .argv = STRVEC_INIT },
				       { .name = "--sink model", .argv = STRVEC_INIT } };
	struct bench part = *b;
	CLEANUP(xfreep) char *dir = NULL;

	part.events = b->events < MODEL_EVENTS ? b->events : MODEL_EVENTS;
	dir = archive(&part, shape, part.events);
	count_argv(b, dir, &p[0].argv);
	analyze_argv(b, dir, "profrig", "1", &p[1].argv);
	strvec_pushl(&p[1].argv, "--sink", "model", NULL);
	measure(&part, p, 2);
	bar(b, "model / count, 1 thread:", p[1].median.s / p[0].median.s, shape->max_ratio_model,
	    "");
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
}

static void speed(struct bench *b, const struct shape *shape, const char *dir)
{
	static struct program p[5] = { { .name = "count only", .argv = STRVEC_INIT },
				       { .name = "analyze, 1 thread", .argv = STRVEC_INIT },
				       { .name = "--estimate time", .argv = STRVEC_INIT },
				       { .name = "analyze, 2 threads", .argv = STRVEC_INIT },
				       { .name = "analyze, 4 MPI ranks", .argv = STRVEC_INIT } };
	bool ranks = ranks_argv(b, dir, &p[4].argv);

	count_argv(b, dir, &p[0].argv);
	analyze_argv(b, dir, "profrig", "1", &p[1].argv);
	analyze_argv(b, dir, "profrig", "1", &p[2].argv);
	strvec_pushl(&p[2].argv, "--estimate", "time", NULL);
	analyze_argv(b, dir, "profrig", "2", &p[3].argv);
	measure(b, p, ranks ? 5 : 4);
	bar(b, "analyze / count, 1 thread:", p[1].median.s / p[0].median.s, shape->max_ratio_1, "");
	bar(b, "analyze / count, 2 threads:", p[3].median.s / p[0].median.s, shape->max_ratio_2,
	    "");
	bar(b,
	    "energy by power, analyze / --estimate time, 1 thread:", p[1].median.s / p[2].median.s,
	    MAX_RATIO_POWER, "");
	if (ranks && shape->max_ratio_ranks > 0)
		bar(b, "4 MPI ranks / 2 threads:", p[4].median.s / p[3].median.s,
		    shape->max_ratio_ranks, "");
	else if (ranks)
		printf("otf2: 4 MPI ranks / 2 threads: %.2f\n", p[4].median.s / p[3].median.s);
	else
		puts("otf2: no MPI when this was built: ranks are not measured");
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
}

static double rss(const struct bench *b, const char *dir)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

	analyze_argv(b, dir, "profrig", "2", &argv);
	return must_run(&argv).rss_mib;
}

static void memory(struct bench *b, const struct shape *shape, const char *dir)
{
	CLEANUP(xfreep) char *twice = archive(b, shape, 2 * b->events);
	double one = rss(b, dir), two = rss(b, twice);

	bar(b, "peak memory:", one, MAX_RSS_MIB, " MiB");
	bar(b, "peak memory, twice the events:", two, MAX_RSS_MIB, " MiB");
	bar(b, "growth when the archive doubles:", two / one, shape->max_growth, "x");
}

static void bench_shape(struct bench *b, const struct shape *shape)
{
	CLEANUP(xfreep) char *dir = archive(b, shape, b->events);

	printf("otf2: %s, %g M events, 16 threads, 8 counters, %s\n", shape->name,
	       (double)b->events * 1e-6, dir);
	speed(b, shape, dir);
	speed_model(b, shape);
	memory(b, shape, dir);
}

int main(int argc, char **argv)
{
	struct bench b = { .name = "otf2", .build = argc > 1 ? argv[1] : "build" };
	const char *only = getenv("BENCH_SHAPE");

	setvbuf(stdout, NULL, _IOLBF, 0);
	b.events = number("BENCH_EVENTS", 100000000, UINT64_C(100000000000));
	b.runs = number("BENCH_RUNS", 5, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (!only || strcmp(only, shapes[i].name) == 0)
			bench_shape(&b, &shapes[i]);
	return b.strict && b.missed;
}
