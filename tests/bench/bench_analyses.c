/*
 * What all analyses, tables and the page cost, beside reading the trace they are made of: a
 * training job of PyTorch (make_tef). bench_analyses BUILD_DIR; from the environment, besides what
 * bench_run.h has:
 *
 *	BENCH_SPANS=1000000	of the job
 *	BENCH_MODEL=10000000	calls of an archive that is read into a model; 0: not
 *
 * Programs run in turn, on two threads each:
 *
 *	read		bench_analyses --count: a sink that counts
 *	model		bench_analyses --model: a model with all facts, finished
 *	analyze		profrig analyze: the model, all analyses, all writers
 *
 *	pandas		tests/bench/trace_pandas.py with Debian's python3-pandas, where that is
 *			there: kernels, idle time and overlap alone, beside profrig with those alone
 *
 * Wall times are those of a quiet machine only when it is quiet; bars that compare are of user and
 * system time. Shares of analyses are of the user time of one process that analyses several times
 * with one thread.
 */
#include "bench_run.h"

#include <math.h>

#include "profrig/base/mix.h"
#include "profrig/base/vec.h"
#include "profrig/base/workers.h"
#include "profrig/model/counts.h"
#include "profrig/profile/profile.h"
#include "profrig/readers/reader.h"
#include "profrig/session/session.h"

#define THREADS 2
#define MAX_OF_READ 2.0  /* analyses and writers, of the read */
#define MAX_WALL_S 1.5   /* analyze */
#define MIN_STACKS 20    /* M spans/s */
#define MAX_MODEL_MB 800 /* of 10 M spans; 10^6 bytes */
#define MAX_REPORT_S 4.0 /* of the same */
#define STACK_CALLS 4000000
#define STACK_DEPTH 12
#define STACK_NAMES 200
#define MIN_PANDAS 20 /* pandas, of profrig */
#define PANDAS_RUNS 3 /* it takes long */
#define LEAST_SHARE 0.01

static double user_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return timeval_s(u.ru_utime);
}

static void must(int r, const struct err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "bench: %s\n", err->msg);
	exit(1);
}

/* ---- programs ---- */

static int count(const char *path)
{
	struct workers *w = workers_new(THREADS);
	struct counter *c = counter_new();
	const struct read_opts ro = { .workers = w };
	const struct reader *rd;
	struct err err = ERR_INIT;
	struct counts got;

	must(reader_detect(path, &rd, &err), &err);
	must(reader_read(rd, path, counter_sink(c), &ro, &err), &err);
	counter_get(c, &got);
	printf("%" PRIu64 " spans\n", got.spans);
	counter_free(c);
	workers_free(w);
	return 0;
}

static int model(const char *path)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct session_trace t;
	struct session_opts o;
	struct err err = ERR_INIT;

	strvec_push(&inputs, path);
	session_opts_init(&o);
	o.threads = THREADS;
	must(session_read(&inputs, &o, &t, &err), &err);
	printf("%zu spans\n", t.m->spans.nr);
	session_trace_release(&t);
	session_opts_release(&o);
	return 0;
}

/* ---- shares ---- */

struct part {
	char *name;
	enum session_phase phase;
	double s[MAX_RUNS];
};

struct parts {
	VEC(struct part) v;
	uint64_t run;
	double at;
};

static void parts_begin(void *ctx, const struct model *m)
{
	struct parts *p = ctx;

	(void)m;
	p->at = user_s();
}

static void parts_take(void *ctx, enum session_phase phase, const char *name)
{
	struct parts *p = ctx;
	struct part *part = VEC_FIND(&p->v, x, x->phase == phase && strcmp(x->name, name) == 0);
	double now = user_s();

	if (!part) {
		VEC_PUSH(&p->v, ((struct part){ xstrdup(name), phase, { 0 } }));
		part = &p->v.v[p->v.nr - 1];
	}
	part->s[p->run] = now - p->at;
	p->at = now;
}

static int by_number(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

static int by_median(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	return by_number(&b->s[0], &a->s[0]);
}

/* Afterwards s[0] of each part is its median. */
static void parts_print(struct parts *p, uint64_t runs)
{
	double all = 0, rest = 0;

	for (size_t i = 0; i < p->v.nr; i++) {
		qsort(p->v.v[i].s, runs, sizeof(double), by_number);
		p->v.v[i].s[0] = p->v.v[i].s[runs / 2];
		all += p->v.v[i].s[0];
	}
	qsort(p->v.v, p->v.nr, sizeof(*p->v.v), by_median);
	for (size_t i = 0; i < p->v.nr; i++) {
		const struct part *x = &p->v.v[i];

		if (x->s[0] < LEAST_SHARE * all)
			rest += x->s[0];
		else
			printf("analyses: %-8s %-22s %7.1f ms user  %5.1f %%\n",
			       x->phase == SESSION_WRITE ? "writer" : "analysis", x->name,
			       x->s[0] * 1e3, 100 * x->s[0] / all);
	}
	printf("analyses: the others, below %g %% each   %7.1f ms user  %5.1f %%\n",
	       100 * LEAST_SHARE, rest * 1e3, 100 * rest / all);
}

static void shares(const struct bench *b, const char *path, const char *out)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct parts p = { .v = VEC_INIT };
	struct session_opts o;

	strvec_push(&inputs, path);
	for (p.run = 0; p.run < b->runs; p.run++) {
		struct session_result r;
		struct err err = ERR_INIT;

		session_opts_init(&o);
		o.threads = 1;
		o.listener = (struct session_listener){ .have_read = parts_begin,
							.done = parts_take,
							.ctx = &p };
		must(session_analyze(&inputs, &o, out, &r, &err), &err);
		session_result_release(&r);
		session_opts_release(&o);
	}
	parts_print(&p, b->runs);
	for (size_t i = 0; i < p.v.nr; i++)
		free(p.v.v[i].name);
	VEC_RELEASE(&p.v);
}

/* ---- call stacks ---- */

struct call {
	int64_t start_ns;
	str_id name;
};

/* One thread with random nesting. */
static struct model *stacks_make(void)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	struct call open[STACK_DEPTH];
	str_id names[STACK_NAMES];
	uint64_t seed = 3;
	size_t depth = 0;
	track_id t;
	int64_t now = 0;

	s->ops->input(s, "bench", "bench");
	s->ops->clock(s);
	d.kind = TRACK_THREAD;
	d.pid = d.tid = 1;
	t = s->ops->track(s, &d);
	for (int i = 0; i < STACK_NAMES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%d", i);
		names[i] = sink_puts(s, name);
	}
	for (uint64_t left = STACK_CALLS; left > 0 || depth > 0;) {
		uint64_t x = splitmix64(&seed);

		now += 1 + (int64_t)(x >> 8 & 1023);
		if (left > 0 && depth < STACK_DEPTH && (depth == 0 || x & 1)) {
			/* a function calls two others: some thousand paths */
			uint64_t of = depth ? open[depth - 1].name * 7 + (x >> 32 & 1) : 0;

			open[depth++] = (struct call){ now, names[of % STACK_NAMES] };
			left--;
		} else {
			const struct call *c = &open[--depth];

			s->ops->span(s, &(struct span_def){ .track = t,
							    .start_ns = c->start_ns,
							    .end_ns = now,
							    .name = c->name,
							    .category = STR_NONE,
							    .args = STR_NONE });
		}
	}
	s->ops->input_end(s);
	model_finish_flat(m);
	return m;
}

static void stacks(struct bench *b)
{
	struct model *m = stacks_make();
	double took[MAX_RUNS];

	for (uint64_t k = 0; k < b->runs; k++) {
		double at = user_s();
		struct profile *p = profile_of_model(m, &(struct profile_opts){ .threads = 1 });

		took[k] = user_s() - at;
		profile_free(p);
	}
	qsort(took, b->runs, sizeof(*took), by_number);
	bar_least(b, "call stacks, M spans per s of user time:",
		  STACK_CALLS / took[b->runs / 2] * 1e-6, MIN_STACKS);
	model_free(m);
}

/* ---- a large model ---- */

/* Seconds behind the read, as analysis.json has them. */
static double report_s(const char *out)
{
	CLEANUP(xfreep) char *path = fs_join(out, "analysis.json");
	static const char *const keys[] = { "attribute", "stats", "write" };
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	double sum = 0;

	must(fs_read(path, (size_t)64 << 20, &text, NULL, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		CLEANUP(xfreep) char *key = xasprintf("\"%s\":", keys[i]);
		const char *timings = strstr(text, "\"timings_s\"");
		const char *at = timings ? strstr(timings, key) : NULL;

		sum += at ? strtod(at + strlen(key), NULL) : NAN;
	}
	return sum;
}

static void large(struct bench *b, uint64_t calls, const char *out)
{
	CLEANUP(xfreep)
	char *dir = xasprintf("%s/bench/analyses-%" PRIu64, b->build, calls);
	CLEANUP(xfreep) char *archive = fs_join(dir, "traces.otf2");
	CLEANUP(strvec_release) struct strvec make = STRVEC_INIT, argv = STRVEC_INIT;
	double took[MAX_RUNS];
	struct cost c = { 0 };

	strvec_pushf(&make, "%s/tests/fixtures/gen/make_otf2", b->build);
	strvec_pushl(&make, "--threads", "4", "--queues", "1", "--roots", "1", "--events", NULL);
	strvec_pushf(&make, "%" PRIu64, calls * 2 / 5);
	strvec_push(&make, dir);
	if (!fs_exists(archive))
		must_run(&make);
	strvec_pushf(&argv, "%s/profrig", b->build);
	strvec_pushl(&argv, "-q", "analyze", "--sink", "model", "--threads", "2", archive, "-o",
		     out, NULL);
	for (uint64_t k = 0; k < b->runs; k++) {
		c = must_run(&argv);
		took[k] = report_s(out);
	}
	qsort(took, b->runs, sizeof(*took), by_number);
	printf("analyses: a model of %g M calls: %.2f s in all, %.2f s of processors\n",
	       (double)calls * 1e-6, c.s, c.cpu_s);
	printf("analyses: its peak memory: %.0f MiB\n", c.rss_mib);
	bar(b, "the same:", c.rss_mib * 1.048576, MAX_MODEL_MB * (double)calls * 1e-7, " MB");
	bar(b, "its report:", took[b->runs / 2], MAX_REPORT_S * (double)calls * 1e-7, " s");
}

/* ---- the bench ---- */

enum { READ, MODEL, ANALYZE, PROGRAMS };

static void bars(struct bench *b, const struct program *p)
{
	const struct cost *read = &p[READ].median, *in = &p[MODEL].median,
			  *all = &p[ANALYZE].median;

	printf("analyses: processors: read %.2f s, model %.2f s, analyze %.2f s\n", read->cpu_s,
	       in->cpu_s, all->cpu_s);
	bar(b,
	    "analyses and writers / read, of processors:", (all->cpu_s - in->cpu_s) / read->cpu_s,
	    MAX_OF_READ, "x");
	bar(b, "analyses and writers / model, of processors:", (all->cpu_s - in->cpu_s) / in->cpu_s,
	    MAX_OF_READ, "x");
	bar(b, "analyses and writers / read, of wall time:", (all->s - in->s) / read->s,
	    MAX_OF_READ, "x");
	bar(b, "analyze, wall time on a quiet machine:", all->s,
	    MAX_WALL_S * (double)b->events * 1e-6, " s");
}

/* The same questions in pandas, which other tools are written with. */
static void beside_pandas(struct bench *b, const struct program *all, const char *path,
			  const char *out)
{
	static struct program p[] = {
		{ .name = "pandas, some", .argv = STRVEC_INIT },
		{ .name = "profrig, the same", .argv = STRVEC_INIT },
	};
	CLEANUP(strvec_release) struct strvec probe = STRVEC_INIT;
	struct bench few = *b;
	struct cost c;

	strvec_pushl(&probe, "/usr/bin/python3", "-c", "import pandas", NULL);
	if (program_run(&probe, true, &c) != 0) {
		puts("analyses: no pandas (python3-pandas): not compared");
		return;
	}
	few.runs = few.runs < PANDAS_RUNS ? few.runs : PANDAS_RUNS;
	strvec_pushl(&p[0].argv, "/usr/bin/python3", "tests/bench/trace_pandas.py", path, NULL);
	strvec_pushf(&p[1].argv, "%s/profrig", b->build);
	strvec_pushl(&p[1].argv, "-q", "analyze", "--threads", "2", "--analysis",
		     "kernels,kernel_classes,busy,overlap,idle", "--format", "csv", path, "-o", out,
		     NULL);
	measure(&few, p, ARRAY_LEN(p));
	bar_least(b, "pandas / profrig with the same analyses, of processors:",
		  p[0].median.cpu_s / p[1].median.cpu_s, MIN_PANDAS);
	bar_least(b, "the same, of wall time:", p[0].median.s / p[1].median.s, MIN_PANDAS);
	printf("analyses: pandas with some / profrig with all and the page: %.1f of processors, "
	       "%.1f of wall time\n",
	       p[0].median.cpu_s / all->median.cpu_s, p[0].median.s / all->median.s);
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
}

static void programs_make(struct program *p, const struct bench *b, const char *self,
			  const char *path, const char *out)
{
	strvec_pushl(&p[READ].argv, self, "--count", path, NULL);
	strvec_pushl(&p[MODEL].argv, self, "--model", path, NULL);
	strvec_pushf(&p[ANALYZE].argv, "%s/profrig", b->build);
	strvec_pushl(&p[ANALYZE].argv, "-q", "analyze", "--threads", "2", path, "-o", out, NULL);
}

int main(int argc, char **argv)
{
	static struct program p[PROGRAMS] = {
		[READ] = { .name = "read, counting", .argv = STRVEC_INIT },
		[MODEL] = { .name = "read into a model", .argv = STRVEC_INIT },
		[ANALYZE] = { .name = "analyze", .argv = STRVEC_INIT },
	};
	struct bench b = { .name = "analyses", .build = argc > 1 ? argv[1] : "build" };
	CLEANUP(xfreep) char *out = NULL, *path = NULL;
	const char *calls;

	if (argc == 3 && strcmp(argv[1], "--count") == 0)
		return count(argv[2]);
	if (argc == 3 && strcmp(argv[1], "--model") == 0)
		return model(argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	b.events = number("BENCH_SPANS", 1000000, 100000000);
	b.runs = number("BENCH_RUNS", 5, MAX_RUNS);
	b.strict = getenv("BENCH_STRICT") != NULL;
	path = made_trace(&b, "job", "-s");
	out = xasprintf("%s/bench/analyses-out", b.build);
	programs_make(p, &b, argv[0], path, out);
	printf("analyses: %g M spans, %s\n", (double)b.events * 1e-6, path);
	measure(&b, p, PROGRAMS);
	bars(&b, p);
	beside_pandas(&b, &p[ANALYZE], path, out);
	shares(&b, path, out);
	stacks(&b);
	calls = getenv("BENCH_MODEL");
	if (!calls || strcmp(calls, "0") != 0)
		large(&b, number("BENCH_MODEL", 10000000, 1000000000), out);
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		strvec_release(&p[i].argv);
	return b.strict && b.missed;
}
