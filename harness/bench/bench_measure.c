#include "bench_measure.h"
#include "bench_machine.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"
#include "profrig/base/paired.h"

#define BLOCK_S 0.0025    /* of one thread of this machine: many, to choose the fastest from */
#define BLOCK_LONG_S 0.01 /* threads have to be woken, a device goes from process to process */
#define CALLS_MAX 1e6     /* of a block */
#define WARM_UP_S 0.5
#define WARM_UP_CHANGE 0.03
#define WARM_UP_BLOCKS 3 /* at most, of a process behind the first */
/* Of three the scatter between processes is hardly known: Student's t is 4.3, of five 2.8. */
#define ROUNDS_WANTED 5
#define PASSES_MAX 24  /* A B B A … of a round */
#define PASSES_FIRST 2 /* at least, in each of the first BENCH_ROUNDS_MIN rounds */
#define PASSES_MORE 8  /* at least, behind them */
#define PASSES_S 0.08  /* of a side in a round, where there is time for more than the least */
#define BUDGET_OVER 3  /* how many times its seconds the first rounds may take */
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

/* As times, as those of blocks are: of the block that was measured last. */
static void speed_add(struct bench_side *s, unsigned round)
{
	double mhz, gflops;

	if (s->process.line.nr < 5)
		return;
	mhz = number_of(s->process.line.field[3]);
	gflops = number_of(s->process.line.field[4]);
	if (mhz > 0 && gflops > 0) {
		VEC_PUSH(&s->cycles, ((struct bench_block){ .us = 1e6 / mhz, .process = round }));
		VEC_PUSH(&s->loops, ((struct bench_block){ .us = 1e6 / gflops, .process = round }));
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
	s->call_s = ns / 1e9 / (double)n;
	*ret_us = ns / 1e3 / (double)n;
	if (m->o->threads > 1)
		bench_process_rest(&s->process);
	return true;
}

static double block_seconds(const struct bench_measure *m, const struct bench_side *s)
{
	bool here = !strcmp(s->end->driver->timer, "host");

	return here && m->o->threads == 1 ? BLOCK_S : BLOCK_LONG_S;
}

/* Until a block takes about as long as it should. */
static bool block_size_find(struct bench_measure *m, struct bench_side *s)
{
	double block_s = block_seconds(m, s), us;
	uint64_t n = 1;

	for (int tries = 0; tries < 8; tries++) {
		double want;

		if (!block_run(m, s, n, &us))
			return false;
		want = s->call_s > 0 ? block_s / s->call_s : (double)n * 100;
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
		speed_add(s, round);
	}
}

static unsigned passes_of(const struct bench_measure *m, unsigned round)
{
	unsigned least = round < BENCH_ROUNDS_MIN ? PASSES_FIRST : PASSES_MORE;
	double pass_s = 0, passes;

	for (size_t i = 0; i < m->nr; i++)
		if (m->sides[i].status == BENCH_OK)
			pass_s += m->sides[i].call_s * (double)m->sides[i].block_calls;
	passes = PASSES_S * (double)sides_live(m) / pass_s;
	/* NaN, where no side is left, becomes the least */
	return (unsigned)fmin(fmax(passes, least), PASSES_MAX);
}

/* False: the time is up. */
static bool round_run(struct bench_measure *m, unsigned round, int64_t begin)
{
	double most = m->seconds * (round < BENCH_ROUNDS_MIN ? BUDGET_OVER : 1);
	size_t live = sides_live(m);
	unsigned passes;

	for (size_t i = 0; i < m->nr; i++)
		if (m->sides[i].status == BENCH_OK)
			side_begin(m, &m->sides[i], live, round == 0);
	passes = passes_of(m, round);
	for (unsigned p = 0; p < passes; p++) {
		pass_run(m, round, (p + round) % 2);
		if (seconds_since(begin) > most)
			break;
	}
	for (size_t i = 0; i < m->nr; i++)
		side_close(m, &m->sides[i]);
	return seconds_since(begin) < most;
}

enum { OF_BLOCKS, OF_CYCLES, OF_LOOPS };

/* NULL: the side is out, or does not tell. */
static struct bench_turns turns_of(const struct bench_side *s, int of)
{
	if (s->status != BENCH_OK)
		return (struct bench_turns){ NULL, 0 };
	switch (of) {
	case OF_CYCLES:
		return (struct bench_turns){ s->cycles.v, s->cycles.nr };
	case OF_LOOPS:
		return (struct bench_turns){ s->loops.v, s->loops.nr };
	default:
		return (struct bench_turns){ s->blocks.v, s->blocks.nr };
	}
}

/*
 * Levels of all sides that have them, BENCH_ROUNDS_MAX for each side, where it lies. It returns the
 * number of processes.
 */
static size_t levels_find(const struct bench_measure *m, int of, double *ret)
{
	struct bench_turns *turns = xcalloc(m->nr, sizeof(*turns));
	double *levels = xcalloc(m->nr * BENCH_ROUNDS_MAX, sizeof(*levels));
	size_t nr = 0, processes;

	for (size_t i = 0; i < m->nr; i++) {
		turns[nr] = turns_of(&m->sides[i], of);
		nr += turns[nr].nr > 0;
	}
	processes = bench_levels(turns, nr, levels, BENCH_ROUNDS_MAX);
	nr = 0;
	for (size_t i = 0; i < m->nr; i++)
		if (turns_of(&m->sides[i], of).nr)
			memcpy(ret + i * BENCH_ROUNDS_MAX, levels + nr++ * BENCH_ROUNDS_MAX,
			       BENCH_ROUNDS_MAX * sizeof(*ret));
	free(turns);
	free(levels);
	return processes;
}

static void sides_level(struct bench_measure *m)
{
	double *levels = xcalloc(m->nr * BENCH_ROUNDS_MAX, sizeof(*levels));
	size_t processes = levels_find(m, OF_BLOCKS, levels);

	for (size_t i = 0; i < m->nr; i++) {
		m->sides[i].processes = processes;
		memcpy(m->sides[i].levels, levels + i * BENCH_ROUNDS_MAX,
		       sizeof(m->sides[i].levels));
	}
	free(levels);
}

/* By levels, as a phase of the host may be beside most blocks of one side. */
static void speeds_find(struct bench_measure *m)
{
	double *cycles = xcalloc(m->nr * BENCH_ROUNDS_MAX, sizeof(*cycles));
	double *loops = xcalloc(m->nr * BENCH_ROUNDS_MAX, sizeof(*loops));
	size_t nr_cycles = levels_find(m, OF_CYCLES, cycles);
	size_t nr_loops = levels_find(m, OF_LOOPS, loops);

	for (size_t i = 0; i < m->nr; i++) {
		struct bench_side *s = &m->sides[i];
		bool tells = s->cycles.nr > 0;

		/* NaN of no processes */
		s->clock_mhz =
			1e6 / bench_median(cycles + i * BENCH_ROUNDS_MAX, tells ? nr_cycles : 0);
		s->loop_gflops =
			1e6 / bench_median(loops + i * BENCH_ROUNDS_MAX, tells ? nr_loops : 0);
	}
	free(cycles);
	free(loops);
}

/* The ratio of two sides that took turns. */
static bool pair_precise(const struct bench_measure *m, const struct bench_side *a,
			 const struct bench_side *b)
{
	struct paired_ratio p;

	paired_ratio_trimmed(b->levels, a->levels, a->processes, BENCH_LEVELS_TRIMMED,
			     BENCH_CONFIDENCE, &p);
	return log(p.high / p.ratio) <= 2 * m->o->precision;
}

static bool pairs_precise(const struct bench_measure *m)
{
	const struct bench_side *first = NULL;

	for (size_t i = 0; i < m->nr; i++) {
		if (m->sides[i].status != BENCH_OK)
			continue;
		if (first && !pair_precise(m, first, &m->sides[i]))
			return false;
		if (!first)
			first = &m->sides[i];
	}
	return true;
}

static bool means_precise(const struct bench_measure *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		const struct bench_figures *f = &m->sides[i].figures;

		/* of few processes the error itself is not well known: by the interval */
		if (m->sides[i].status == BENCH_OK &&
		    !(f->high - f->mean <= 2 * m->o->precision * f->mean))
			return false;
	}
	return true;
}

/* What the rounds tell, and whether they are enough. */
static bool rounds_enough(struct bench_measure *m, unsigned rounds)
{
	sides_level(m);
	for (size_t i = 0; i < m->nr; i++)
		if (m->sides[i].status == BENCH_OK)
			bench_stats(m->sides[i].blocks.v, m->sides[i].blocks.nr,
				    &m->sides[i].figures);
	return rounds >= ROUNDS_WANTED && pairs_precise(m) &&
	       (rounds >= BENCH_ROUNDS_MEANS || means_precise(m));
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
	/* what is done between blocks uses energy, too: long ones */
	double want = s->call_s > 0 ? fmin(BLOCK_LONG_S / s->call_s, CALLS_MAX) : 0, us, seconds;
	uint64_t n = want > (double)s->block_calls ? (uint64_t)want : s->block_calls;

	do {
		double j;

		if (!block_run(m, s, n, &us))
			return NAN;
		j = bench_meter_joules(s->meter);
		if (isnan(j))
			return NAN;
		metered_add(&e, j, n);
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

		enough = rounds_enough(m, round + 1);
		if (!time)
			break;
		if (round + 1 >= BENCH_ROUNDS_MIN && seconds_since(begin) >= m->seconds)
			break;
	}
	speeds_find(m);
	machine_moment(&to);
	m->others = machine_others(&from, &to);
	for (size_t i = 0; i < m->nr; i++)
		side_meter(m, &m->sides[i]);
}
