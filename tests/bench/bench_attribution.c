/*
 * bench_attribution: how fast energy is attributed to calls, without reading any trace: lanes made
 * in memory, counters sampled at 1 kHz. Prints calls per second of CPU time, the median of several
 * rounds of measuring.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profrig/base/mix.h"
#include "profrig/base/vec.h"
#include "profrig/energy/energy.h"
#include "profrig/model/sink.h"

#define CALLS 2000000
#define NODES 100
#define COUNTERS 8
#define DEPTH 8
#define REPEATS 7
#define SAMPLE_NS 1000000
#define MEAN_NS 500
#define BAR 20 /* M calls/s */

static uint64_t seed = 7;

static uint32_t below(uint32_t n)
{
	return (uint32_t)(splitmix64(&seed) % n);
}

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

struct events {
	VEC(struct lane_event) v;
};

/* Random nesting inside one main. */
static void make_events(struct events *e)
{
	uint32_t stack[DEPTH] = { 0 }, depth = 1;
	int64_t t = 0;

	VEC_PUSH(&e->v, (struct lane_event){ 0, 0, 1 });
	for (int left = CALLS; left > 0 || depth > 1;) {
		bool enter = left > 0 && (depth == 1 || (depth < DEPTH && below(2)));

		t += 1 + below(2 * MEAN_NS);
		if (enter) {
			stack[depth++] = 1 + below(NODES - 1);
			left--;
		} else {
			depth--;
		}
		VEC_PUSH(&e->v, (struct lane_event){ t, stack[depth - 1], 0 });
	}
	VEC_PUSH(&e->v, (struct lane_event){ t, NODE_NONE, -1 });
}

static struct model *make_model(int64_t end_ns, bool same_times)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	char name[64];

	s->ops->input(s, "bench", "bench");
	s->ops->clock(s);
	d.kind = TRACK_THREAD;
	d.pid = d.tid = 1;
	d.host = "node";
	s->ops->track(s, &d);
	for (int c = 0; c < COUNTERS; c++) {
		struct series_def sd = { .name = name, .track = TRACK_NONE };
		series_id id;
		double v = 0;

		snprintf(name, sizeof(name), "A2rocm_smi:::energy_count:device=%d", c);
		id = s->ops->series(s, &sd);
		for (int64_t t = same_times ? 0 : below(SAMPLE_NS); t < end_ns + SAMPLE_NS;
		     t += SAMPLE_NS) {
			s->ops->sample(s, id, t, v);
			v += 100000 + below(400000);
		}
	}
	s->ops->input_end(s);
	model_finish(m);
	return m;
}

static double attribution_measure(const struct model *m, const struct events *e)
{
	struct energy_opts o = { .integration = INTEGRATE_LINEAR };
	struct lane_def lane = { 0, LANE_CALLS, 0 };
	struct lane_feed feed = {
		.v = e->v.v, .nr = e->v.nr, .changes = e->v.nr, .nodes = NODES, .rows = NODES
	};
	struct energy_job jobs[COUNTERS];
	struct energy_totals totals;
	struct energy_run *run;
	double start, took;

	for (series_id c = 0; c < COUNTERS; c++)
		jobs[c] = (struct energy_job){ c, VIEW_HOST };
	if (energy_run_new(m, jobs, COUNTERS, &lane, 1, &o, &run, NULL) < 0)
		exit(1);
	start = cpu_s();
	energy_run_round(run, &feed, INT64_MAX, NULL);
	took = cpu_s() - start;
	energy_run_job(run, 0, &totals);
	if (totals.error_rel > 1e-9 || totals.attributed_j < 0.9 * totals.total_j)
		exit(1);
	energy_run_free(run);
	return took;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void attribution_report(const char *what, const struct model *m, const struct events *e)
{
	double took[REPEATS], rate;

	for (int i = 0; i < REPEATS; i++)
		took[i] = attribution_measure(m, e);
	qsort(took, REPEATS, sizeof(*took), by_value);
	rate = CALLS / took[REPEATS / 2] * 1e-6;
	printf("attribution, %d energy counters %-29s %6.1f M calls/s, %5.1f ns per call  "
	       "[>= %d: %s]\n",
	       COUNTERS, what, rate, 1e3 / rate, BAR, rate >= BAR ? "met" : "MISSED");
}

int main(void)
{
	struct events e = { VEC_INIT };

	make_events(&e);
	for (int same = 1; same >= 0; same--) {
		struct model *m = make_model(e.v.v[e.v.nr - 1].t_ns, same);

		attribution_report(same ? "sampled together:" : "each sampled at other times:", m,
				   &e);
		model_free(m);
	}
	VEC_RELEASE(&e.v);
	return 0;
}
