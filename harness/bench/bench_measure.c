#include "bench_measure.h"
#include "bench_machine.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"

#define BLOCK_S 0.01
#define CALLS_MAX 1e6 /* of a block */
#define WARM_UP_S 0.5
#define WARM_UP_CHANGE 0.03
#define WARM_UP_BLOCKS 3 /* at most, of a process behind the first */
/* Of three the scatter between processes is hardly known: Student's t is 4.3, of five 2.8. */
#define ROUNDS_WANTED 5
#define PASSES_FIRST 2 /* A B B A, in each of the first BENCH_ROUNDS_MIN rounds */
#define PASSES_MORE 8
#define BUDGET_OVER 3 /* how many times its seconds the first rounds may take */
/* The slowest that is not taken for hung. */
#define SLOW_FLOPS_S 1e8
#define SLOW_BYTES_S 1e7
#define SLOWER 20 /* than it was before */
#define ENERGY_CHANGES 20
#define ENERGY_MIN_S 0.3
#define ENERGY_MAX_S 2.0

static double seconds_since(int64_t begin_ns)
{
	return (double)(clock_monotonic_ns() - begin_ns) / 1e9;
}

/* What the side's process says of its end becomes the side's. */
static void side_ends(struct bench_side *s)
{
	s->status = s->process.status;
	snprintf(s->reason, sizeof(s->reason), "%s", s->process.reason);
}

static double number_of(const char *text)
{
	double v;

	return num_f64(text, strlen(text), &v) == 0 && v >= 0 && v < 1e18 ? v : NAN;
}

/* A number of ns in an answer, which a library in the child may have damaged. */
static bool answer_ns(struct bench_side *s, size_t field, double *ret)
{
	*ret = number_of(s->process.line.field[field]);
	if (!isnan(*ret))
		return true;
	bench_process_end(&s->process);
	s->status = BENCH_FAILED;
	snprintf(s->reason, sizeof(s->reason), "its answer is none");
	return false;
}

static double slowest_s(const struct bench_side *s)
{
	return (double)s->work.flops / SLOW_FLOPS_S + (double)s->work.bytes / SLOW_BYTES_S;
}

static void speed_add(struct bench_side *s)
{
	double mhz, gflops;

	if (s->process.line.nr < 5)
		return;
	mhz = number_of(s->process.line.field[3]);
	gflops = number_of(s->process.line.field[4]);
	if (mhz > 0 && gflops > 0) {
		VEC_PUSH(&s->clocks, mhz);
		VEC_PUSH(&s->loops, gflops);
	}
}

/* False: the side is out. */
static bool block_run(struct bench_measure *m, struct bench_side *s, uint64_t n, double *ret_us)
{
	double call_s = s->call_s > 0 ? s->call_s * SLOWER : slowest_s(s), ns, all_ns;

	if (bench_process_ask(&s->process, m->o->timeout_s + call_s * (double)(n + 1),
			      "block\t%" PRIu64, n) != BENCH_OK) {
		side_ends(s);
		return false;
	}
	if (!answer_ns(s, 1, &ns) || !answer_ns(s, 2, &all_ns))
		return false;
	m->work_ns += (int64_t)all_ns;
	speed_add(s);
	s->call_s = ns / 1e9 / (double)n;
	*ret_us = ns / 1e3 / (double)n;
	if (m->o->threads > 1)
		bench_process_rest(&s->process);
	return true;
}

/* Until a block takes about BLOCK_S. */
static bool block_size_find(struct bench_measure *m, struct bench_side *s)
{
	uint64_t n = 1;
	double us;

	for (int tries = 0; tries < 8; tries++) {
		double want;

		if (!block_run(m, s, n, &us))
			return false;
		want = s->call_s > 0 ? BLOCK_S / s->call_s : (double)n * 100;
		want = fmin(fmin(want, (double)n * 100), CALLS_MAX);
		s->block_calls = want < 1 ? 1 : (uint64_t)want;
		if (s->block_calls <= n + n / 2)
			return true;
		n = s->block_calls;
	}
	return true;
}

static bool warm_up(struct bench_measure *m, struct bench_side *s)
{
	int64_t begin = clock_monotonic_ns();
	/* where blocks never agree, other work disturbs them: time is better spent on processes */
	unsigned left = s->block_calls ? WARM_UP_BLOCKS : UINT_MAX;
	double before = NAN, us;

	if (!s->block_calls && !block_size_find(m, s))
		return false;
	do {
		if (!block_run(m, s, s->block_calls, &us))
			return false;
		if (fabs(us / before - 1) < WARM_UP_CHANGE)
			break;
		before = us;
	} while (--left && seconds_since(begin) < WARM_UP_S);
	return true;
}

static bool side_check(struct bench_measure *m, struct bench_side *s)
{
	double ns;

	if (bench_process_ask(&s->process, m->o->timeout_s + slowest_s(s), "check") != BENCH_OK) {
		side_ends(s);
		return false;
	}
	if (!answer_ns(s, 2, &ns))
		return false;
	m->work_ns += (int64_t)ns;
	return true;
}

/* An answer of a process: one that differs from those before means that there is no such number. */
static void solution_note(struct bench_side *s)
{
	const char *text = s->process.line.nr > 4 ? s->process.line.field[4] : "";
	bool first = !s->block_calls;
	int64_t n;

	if (num_i64(text, strlen(text), &n) < 0 || n < 0 || n > INT32_MAX)
		n = BENCH_SOLUTION_NONE;
	if (first)
		s->solution = (int32_t)n;
	else if (s->solution != n)
		s->solution = BENCH_SOLUTION_NONE;
}

static bool side_begin(struct bench_measure *m, struct bench_side *s, size_t live, bool check)
{
	uint64_t memory = machine_memory_free() / live, rotate = 2 * machine_cache_bytes();
	double ns;

	if (rotate > memory / 4)
		rotate = memory / 4;
	if (bench_process_start(&s->process, s->end, m->cpus, m->o) != BENCH_OK ||
	    bench_process_ask(&s->process, m->o->timeout_s + (double)memory / 1e8,
			      "op\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s", bench_cache_name(m->o->cache),
			      rotate, memory / 4 * 3, m->key) != BENCH_OK) {
		side_ends(s);
		return false;
	}
	if (!answer_ns(s, 2, &ns))
		return false;
	m->work_ns += (int64_t)ns;
	snprintf(s->chosen, sizeof(s->chosen), "%s",
		 s->process.line.nr > 3 ? s->process.line.field[3] : "");
	solution_note(s);
	return (!check || side_check(m, s)) && warm_up(m, s);
}

/* Memory is part of filling, not of what measuring costs beside it. */
static void side_close(struct bench_measure *m, struct bench_side *s)
{
	if (s->status == BENCH_OK &&
	    bench_process_ask(&s->process, m->o->timeout_s, "drop") == BENCH_OK)
		m->work_ns += (int64_t)fmax(number_of(s->process.line.field[1]), 0);
	bench_process_end(&s->process);
}

static size_t sides_live(const struct bench_measure *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nr; i++)
		n += m->sides[i].status == BENCH_OK;
	return n;
}

static void pass_run(struct bench_measure *m, unsigned round, bool backwards)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct bench_side *s = &m->sides[backwards ? m->nr - 1 - i : i];
		double us;

		if (s->status != BENCH_OK || !block_run(m, s, s->block_calls, &us))
			continue;
		s->repeats += s->block_calls;
		VEC_PUSH(&s->blocks, ((struct bench_block){ .us = us, .process = round }));
	}
}

/* False: the time is up. */
static bool round_run(struct bench_measure *m, unsigned round, int64_t begin)
{
	unsigned passes = round < BENCH_ROUNDS_MIN ? PASSES_FIRST : PASSES_MORE;
	double most = m->seconds * (round < BENCH_ROUNDS_MIN ? BUDGET_OVER : 1);
	size_t live = sides_live(m);

	for (size_t i = 0; i < m->nr; i++)
		if (m->sides[i].status == BENCH_OK)
			side_begin(m, &m->sides[i], live, round == 0);
	for (unsigned p = 0; p < passes; p++) {
		pass_run(m, round, (p + round) % 2);
		if (seconds_since(begin) > most)
			break;
	}
	for (size_t i = 0; i < m->nr; i++)
		side_close(m, &m->sides[i]);
	return seconds_since(begin) < most;
}

static bool precise(struct bench_measure *m)
{
	bool all = true;

	for (size_t i = 0; i < m->nr; i++) {
		struct bench_side *s = &m->sides[i];

		if (s->status != BENCH_OK)
			continue;
		bench_stats(s->blocks.v, s->blocks.nr, &s->figures);
		/* of few processes the error itself is not well known: by the interval */
		all &= s->figures.high - s->figures.mean <= 2 * m->o->precision * s->figures.mean;
	}
	return all;
}

/* ---- energy ---- */

/* From the first change of the counter to the last one. */
struct metered {
	double before_j, first_j, last_j;
	uint64_t calls, last_calls; /* since the first change */
	unsigned changes;
};

static void metered_add(struct metered *e, double j, uint64_t calls)
{
	e->calls += calls;
	if (j <= e->before_j)
		return;
	e->before_j = j;
	if (isnan(e->first_j)) {
		e->first_j = j;
		e->calls = 0;
		return;
	}
	e->last_j = j;
	e->last_calls = e->calls;
	e->changes++;
}

/* NaN: the counter did not change, or the side is out. */
static double blocks_metered(struct bench_measure *m, struct bench_side *s)
{
	struct metered e = { .before_j = bench_meter_joules(s->meter), .first_j = NAN };
	int64_t begin = clock_monotonic_ns();
	double us, seconds;

	do {
		double j;

		if (!block_run(m, s, s->block_calls, &us))
			return NAN;
		j = bench_meter_joules(s->meter);
		if (isnan(j))
			return NAN;
		metered_add(&e, j, s->block_calls);
		seconds = seconds_since(begin);
	} while (seconds < ENERGY_MIN_S || (e.changes < ENERGY_CHANGES && seconds < ENERGY_MAX_S));
	return e.changes ? (e.last_j - e.first_j) / (double)e.last_calls : NAN;
}

static void side_meter(struct bench_measure *m, struct bench_side *s)
{
	s->energy_j = s->temperature_c = NAN;
	if (s->status != BENCH_OK || !s->meter)
		return;
	if (side_begin(m, s, 1, false)) {
		s->energy_j = blocks_metered(m, s);
		s->temperature_c = bench_meter_temperature(s->meter);
	}
	side_close(m, s);
}

void bench_measure(struct bench_measure *m)
{
	struct machine_moment from, to;
	int64_t begin = clock_monotonic_ns();
	bool enough = false;

	machine_moment(&from);
	m->work_ns = 0;
	for (unsigned round = 0; round < BENCH_ROUNDS_MAX && !enough && sides_live(m); round++) {
		bool time = round_run(m, round, begin);

		enough = precise(m) && round + 1 >= ROUNDS_WANTED;
		if (!time)
			break;
		if (round + 1 >= BENCH_ROUNDS_MIN && seconds_since(begin) >= m->seconds)
			break;
	}
	machine_moment(&to);
	m->others = machine_others(&from, &to);
	for (size_t i = 0; i < m->nr; i++)
		side_meter(m, &m->sides[i]);
}
