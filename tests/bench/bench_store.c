/*
 * bench_store: what the store of a campaign costs: kept beside 1000 runs, made again and asked for
 * its counts with many (BENCH_RUNS=100000). Bare seconds inform; `status` has an aim.
 */
#include "store.h"
#include "store_sim.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"

#define LIVE_RUNS 1000
#define STATUS_AIM_S 0.3

static double since(int64_t t_ns)
{
	return (double)(clock_monotonic_ns() - t_ns) / 1e9;
}

static long rss_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss >> 10;
}

static void must(int r, const struct err *err)
{
	if (r < 0)
		sim_die(err->msg);
}

/* A campaign that follows each of its events. */
static void live(const char *dir)
{
	struct store_opts o = { 0 };
	struct err err = ERR_INIT;
	int64_t spent_ns = 0, t;
	struct store *s;
	struct sim m;

	sim_begin(&m, dir, LIVE_RUNS / 10, 10, "[]");
	must(store_open(dir, &o, &s, &err), &err);
	for (int i = 0; i < LIVE_RUNS; i++) {
		char *run = sim_run_id((size_t)i / 10, i % 10 + 1);
		CLEANUP(xfreep) char *id = xasprintf("%s.1", run);

		sim_intend(&m, (size_t)i / 10, i % 10 + 1, 1);
		t = clock_monotonic_ns();
		must(store_follow(s, &err), &err);
		spent_ns += clock_monotonic_ns() - t;
		sim_run_json(&m, id, i);
		sim_event(&m, "ended", run, 1, "\"state\":\"success\",\"class\":\"ok\",\"exit\":0");
		sim_commit(&m, run, 1);
		t = clock_monotonic_ns();
		must(store_follow(s, &err), &err);
		spent_ns += clock_monotonic_ns() - t;
	}
	t = clock_monotonic_ns();
	store_close(s);
	printf("live: %.0f us for each of %d runs, close %.1f ms\n",
	       (double)spent_ns / 1e3 / LIVE_RUNS, LIVE_RUNS, since(t) * 1e3);
	sim_end(&m);
}

static void many_make(const char *dir, size_t runs)
{
	size_t cells = runs / 10;
	struct sim m;

	sim_begin(&m, dir, cells, 10, "[]");
	for (int repeat = 1; repeat <= 10; repeat++)
		for (size_t c = 0; c < cells; c++)
			sim_run(&m, c, repeat, 1, (double)c);
	sim_end(&m);
}

static double status_s(const char *dir, struct store_summary *sum)
{
	struct store_opts o = { .read = true };
	struct err err = ERR_INIT;
	int64_t t = clock_monotonic_ns();
	struct store *s;

	must(store_open(dir, &o, &s, &err), &err);
	must(store_summary(s, sum, &err), &err);
	store_close(s);
	return since(t);
}

static void export_time(const char *dir, enum store_format format, const char *name)
{
	struct store_opts o = { .read = true };
	struct err err = ERR_INIT;
	struct store_exported done;
	int64_t t = clock_monotonic_ns();
	FILE *f = fopen("/dev/null", "we");
	struct store *s;

	must(store_open(dir, &o, &s, &err), &err);
	must(store_export(s, format, false, f, &done, &err), &err);
	printf("export %s: %.2f s, %" PRIu64 " rows\n", name, since(t), done.rows);
	store_close(s);
	fclose(f);
}

int main(void)
{
	const char *want = getenv("BENCH_RUNS"), *base = getenv("TMPDIR");
	CLEANUP(xfreep) char *top = xasprintf("%s/bench-store-XXXXXX", base ? base : "/tmp");
	CLEANUP(xfreep) char *few = NULL, *many = NULL, *file = NULL;
	uint64_t runs = 100000;
	struct store_summary sum;
	struct err err = ERR_INIT;
	double best = 1e9;
	int64_t t;

	if (want && num_u64(want, strlen(want), &runs) < 0)
		sim_die("BENCH_RUNS is no number");
	if (!mkdtemp(top))
		sim_die(top);
	few = fs_join(top, "few");
	many = fs_join(top, "many");
	file = fs_join(many, STORE_FILE);
	must(fs_mkdirs(few, 0755, &err), &err);
	must(fs_mkdirs(many, 0755, &err), &err);
	live(few);
	t = clock_monotonic_ns();
	many_make(many, runs);
	printf("%" PRIu64 " runs were written in %.1f s (not of the store)\n", runs, since(t));
	t = clock_monotonic_ns();
	must(store_rebuild(many, NULL, NULL, &err), &err);
	printf("rebuild: %.2f s, %.1f MB, at most %ld MiB of memory\n", since(t),
	       (double)fs_size(file) / 1e6, rss_mib());
	for (int i = 0; i < 5; i++) {
		double s = status_s(many, &sum);

		best = s < best ? s : best;
	}
	printf("status: %.3f s, %" PRIu64 " of %" PRIu64 " runs committed (aim: %g s)%s\n", best,
	       sum.committed, sum.runs, STATUS_AIM_S, best > STATUS_AIM_S ? " MISSED" : "");
	export_time(many, STORE_CSV, "csv");
	export_time(many, STORE_NDJSON, "ndjson");
	export_time(many, STORE_JSON, "json");
	printf("at most %ld MiB of memory\n", rss_mib());
	fs_remove_tree(top, NULL);
	return best > STATUS_AIM_S;
}
