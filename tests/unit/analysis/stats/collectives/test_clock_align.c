#include "jax_csv.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/mix.h"
#include "profrig/base/sort.h"
#include "profrig/stats/clock_align.h"

/* --- known answers --- */

struct ends {
	VEC(struct clock_event) v;
};

static void end_at(struct ends *e, uint32_t instance, uint32_t rank, int64_t t)
{
	VEC_PUSH(&e->v, ((struct clock_event){ instance, rank, t }));
}

/* nsys-jax's synthetic case, in ms: offsets of four ranks, and of two of them */
TEST(test_offsets_of_four_ranks)
{
	static const int64_t ms = 1000000, offset[] = { 0, 5, -3, 1 };
	static const int64_t want[] = { -750000, 4250000, -3750000, 250000 };
	struct ends e = { VEC_INIT };
	struct clock_alignment ca;

	for (uint32_t i = 0; i < 8; i++)
		for (uint32_t r = 0; r < 4; r++)
			end_at(&e, i, r, (int64_t)(i + 1) * 100 * ms + offset[r] * ms);
	clock_align(e.v.v, e.v.nr, 4, &ca);
	assert_int_equal(ca.components.nr, 1);
	for (uint32_t r = 0; r < 4; r++) {
		assert_int_equal(ca.ranks.v[r].offset_ns, want[r]);
		assert_true(ca.ranks.v[r].residual_max_ns == 0);
		assert_int_equal(clock_common_ns(&ca.ranks.v[r], 100 * ms + offset[r] * ms),
				 100 * ms + 750000);
	}
	assert_true(ca.components.v[0].offset_sum_ns == 0 && !ca.components.v[0].drifts);
	clock_alignment_release(&ca);
	clock_align(e.v.v, 0, 4, &ca);
	assert_int_equal(ca.components.nr, 0);
	clock_alignment_release(&ca);
	VEC_CLEAR(&e.v);
	for (uint32_t i = 0; i < 8; i++) {
		end_at(&e, i, 0, (int64_t)i * ms);
		end_at(&e, i, 1, (int64_t)i * ms + 5 * ms);
	}
	clock_align(e.v.v, e.v.nr, 4, &ca);
	assert_int_equal(ca.ranks.v[0].offset_ns, -2500000);
	assert_int_equal(ca.ranks.v[1].offset_ns, 2500000);
	assert_int_equal(ca.ranks.v[2].component, CLOCK_ALONE);
	assert_int_equal(ca.ranks.v[3].offset_ns, 0);
	clock_alignment_release(&ca);
	VEC_RELEASE(&e.v);
}

/* --- laws --- */

/* A random trace without noise: which ranks take part, when, and what their clocks say. */
struct random_clocks {
	uint32_t ranks, instances, groups;
	int64_t offset[64];
	double drift[64];
	uint32_t group_of[64]; /* ranks of different ones never meet */
	struct ends ends;
};

static uint64_t below(uint64_t *seed, uint64_t n)
{
	return splitmix64(seed) % n;
}

static int64_t clock_says(const struct random_clocks *rc, uint32_t r, int64_t t)
{
	return t + rc->offset[r] + llround(rc->drift[r] * (double)t);
}

static void random_clocks_make(struct random_clocks *rc, uint64_t *seed, bool drift)
{
	int64_t t = 0;

	*rc = (struct random_clocks){ .ends = { VEC_INIT } };
	rc->ranks = (uint32_t)(2 + below(seed, 15));
	rc->groups = (uint32_t)(1 + below(seed, 3));
	rc->instances = (uint32_t)(rc->ranks * 3 + below(seed, 60));
	for (uint32_t r = 0; r < rc->ranks; r++) {
		rc->offset[r] = (int64_t)below(seed, 2000000000000) - 1000000000000;
		rc->drift[r] = drift ? ((double)below(seed, 200001) - 100000) * 1e-9 : 0;
		rc->group_of[r] = (uint32_t)below(seed, rc->groups);
	}
	for (uint32_t i = 0; i < rc->instances; i++) {
		uint32_t g = (uint32_t)below(seed, rc->groups);

		t += 1000000 + (int64_t)below(seed, 1000000000);
		for (uint32_t r = 0; r < rc->ranks; r++)
			if (rc->group_of[r] == g && below(seed, 4))
				end_at(&rc->ends, i, r, clock_says(rc, r, t));
	}
}

/* On the common clock all ends of an instance are one. */
static void expect_one_end(const struct random_clocks *rc, const struct clock_alignment *ca,
			   int64_t within, uint64_t seed)
{
	for (size_t i = 0; i < rc->ends.v.nr; i++) {
		const struct clock_event *a = &rc->ends.v.v[i];

		for (size_t k = i; k < rc->ends.v.nr; k++) {
			const struct clock_event *b = &rc->ends.v.v[k];
			int64_t apart;

			if (b->instance != a->instance)
				continue;
			apart = clock_common_ns(&ca->ranks.v[a->rank], a->t_ns) -
				clock_common_ns(&ca->ranks.v[b->rank], b->t_ns);
			if (apart > within || apart < -within)
				fail_msg("seed %" PRIu64 ": instance %u of ranks %u, %u: %" PRId64,
					 seed, a->instance, a->rank, b->rank, apart);
		}
	}
}

TEST(test_exact_without_noise)
{
	uint64_t cases = test_cases(400);

	for (uint64_t n = 0; n < cases; n++) {
		uint64_t seed = n, with = n;
		struct random_clocks rc;
		struct clock_alignment ca;

		random_clocks_make(&rc, &with, false);
		clock_align(rc.ends.v.v, rc.ends.v.nr, rc.ranks, &ca);
		expect_one_end(&rc, &ca, 0, seed);
		for (size_t c = 0; c < ca.components.nr; c++) {
			int64_t sum = 0, ranks = 0;

			assert_true(ca.components.v[c].offset_sum_ns == 0);
			assert_false(ca.components.v[c].drifts);
			for (uint32_t r = 0; r < rc.ranks; r++)
				if (ca.ranks.v[r].component == c) {
					sum += ca.ranks.v[r].offset_ns;
					ranks++;
				}
			assert_true(sum >= 0 && sum < ranks);
		}
		clock_alignment_release(&ca);
		VEC_RELEASE(&rc.ends.v);
	}
}

/*
 * Drifts up to 100 ppm over some minutes: what is left is what rounding to ns does. Found whenever
 * there are enough instances, whatever ranks are missing.
 */
TEST(test_drift_without_noise)
{
	uint64_t cases = test_cases(200), found = 0;

	for (uint64_t n = 0; n < cases; n++) {
		uint64_t with = n + 1000000;
		struct random_clocks rc;
		struct clock_alignment ca;

		random_clocks_make(&rc, &with, true);
		clock_align(rc.ends.v.v, rc.ends.v.nr, rc.ranks, &ca);
		for (size_t c = 0; c < ca.components.nr; c++) {
			const struct clock_component *cc = &ca.components.v[c];

			if (cc->instances >= 6 && cc->events > 4 * cc->ranks && !cc->drifts)
				fail_msg("case %" PRIu64 ": no drift", n);
			if (!cc->drifts)
				continue;
			found++;
			if (cc->drift_sum_ns > 2 * (double)cc->events)
				fail_msg("case %" PRIu64 ": %g ns are left of %g", n,
					 cc->drift_sum_ns, cc->offset_sum_ns);
		}
		for (uint32_t r = 1; r < rc.ranks; r++) {
			const struct clock_rank *a = &ca.ranks.v[r], *b = &ca.ranks.v[r - 1];
			/* between two ranks, as rates of their clocks */
			double want = (1 + rc.drift[r]) / (1 + rc.drift[r - 1]);

			if (a->component == CLOCK_ALONE || a->component != b->component ||
			    !ca.components.v[a->component].drifts || a->events < 10 ||
			    b->events < 10)
				continue;
			if (fabs((1 - b->drift) / (1 - a->drift) - want) > 1e-8)
				fail_msg("case %" PRIu64 ": rank %u: %.12g, not %.12g", n, r,
					 (1 - b->drift) / (1 - a->drift), want);
		}
		clock_alignment_release(&ca);
		VEC_RELEASE(&rc.ends.v);
	}
	assert_true(found > cases / 2);
}

/* A third of the ends of each rank is late by up to a second, at random: clocks stay exact. */
TEST(test_late_ends_move_no_clock)
{
	for (uint64_t n = 0; n < 50; n++) {
		uint64_t seed = n + 7;
		struct ends e = { VEC_INIT };
		struct clock_alignment ca;
		int64_t offset[6];

		for (uint32_t r = 0; r < 6; r++)
			offset[r] = (int64_t)below(&seed, 1000000000);
		for (uint32_t i = 0; i < 400; i++)
			for (uint32_t r = 0; r < 6; r++)
				end_at(&e, i, r,
				       i * INT64_C(5000000) + offset[r] +
					       (below(&seed, 3)
							? 0
							: (int64_t)below(&seed, 1000000000)));
		clock_align(e.v.v, e.v.nr, 6, &ca);
		for (uint32_t r = 1; r < 6; r++)
			assert_int_equal(ca.ranks.v[r].offset_ns - ca.ranks.v[0].offset_ns,
					 offset[r] - offset[0]);
		clock_alignment_release(&ca);
		VEC_RELEASE(&e.v);
	}
}

static void add_noise(struct random_clocks *rc, uint64_t *seed)
{
	for (size_t i = 0; i < rc->ends.v.nr; i++)
		rc->ends.v.v[i].t_ns += (int64_t)below(seed, 1000000);
}

/* Neither the order of events matters, nor the numbers of instances, nor a shift of all times. */
TEST(test_order_does_not_matter)
{
	for (uint64_t n = 0; n < 100; n++) {
		uint64_t seed = n + 31;
		struct random_clocks rc;
		struct clock_alignment a, b;

		random_clocks_make(&rc, &seed, n % 2);
		add_noise(&rc, &seed);
		clock_align(rc.ends.v.v, rc.ends.v.nr, rc.ranks, &a);
		for (size_t i = rc.ends.v.nr; i > 1; i--) {
			size_t k = below(&seed, i);
			struct clock_event x = rc.ends.v.v[i - 1];
			rc.ends.v.v[i - 1] = rc.ends.v.v[k];
			rc.ends.v.v[k] = x;
		}
		for (size_t i = 0; i < rc.ends.v.nr; i++) {
			struct clock_event *x = &rc.ends.v.v[i];
			x->instance = rc.instances - x->instance;
			x->t_ns += 12345;
		}
		clock_align(rc.ends.v.v, rc.ends.v.nr, rc.ranks, &b);
		assert_int_equal(a.components.nr, b.components.nr);
		for (uint32_t r = 0; r < rc.ranks; r++) {
			assert_int_equal(a.ranks.v[r].component, b.ranks.v[r].component);
			assert_int_equal(a.ranks.v[r].offset_ns, b.ranks.v[r].offset_ns);
			assert_true(a.ranks.v[r].drift == b.ranks.v[r].drift);
			assert_true(a.ranks.v[r].residual_sum_ns == b.ranks.v[r].residual_sum_ns);
		}
		for (size_t c = 0; c < a.components.nr; c++)
			assert_true(a.components.v[c].offset_sum_ns <=
				    a.components.v[c].raw_sum_ns);
		clock_alignment_release(&a);
		clock_alignment_release(&b);
		VEC_RELEASE(&rc.ends.v);
	}
}

/* Σ |residual| of events in the order of instances, each with a correction by rank. */
static double sum_with(const struct ends *e, const int64_t *by)
{
	double sum = 0;

	for (size_t i = 0, end; i < e->v.nr; i = end) {
		CLEANUP(xfreep) int64_t *t = xcalloc(64, sizeof(*t));
		size_t n = 0;

		for (end = i; end < e->v.nr && e->v.v[end].instance == e->v.v[i].instance; end++)
			t[n++] = e->v.v[end].t_ns - by[e->v.v[end].rank];
		sort_i64(t, n);
		for (size_t k = 0; k < n / 2; k++)
			sum += (double)(t[n - 1 - k] - t[k]);
	}
	return sum;
}

static size_t drifts_in(const struct clock_alignment *ca)
{
	size_t n = 0;

	for (size_t c = 0; c < ca->components.nr; c++)
		n += ca->components.v[c].drifts;
	return n;
}

/* No further offset of one rank, of ±1 to ±2^20 ns, makes the sum smaller than it is. */
TEST(test_no_single_move_helps)
{
	for (uint64_t n = 0; n < 60; n++) {
		uint64_t seed = n + 77;
		struct random_clocks rc;
		struct clock_alignment ca;
		int64_t by[64] = { 0 };
		double sum = 0, least;

		random_clocks_make(&rc, &seed, false);
		add_noise(&rc, &seed);
		clock_align(rc.ends.v.v, rc.ends.v.nr, rc.ranks, &ca);
		for (size_t c = 0; c < ca.components.nr; c++)
			sum += ca.components.v[c].offset_sum_ns;
		for (uint32_t r = 0; r < rc.ranks; r++)
			by[r] = ca.ranks.v[r].offset_ns;
		least = sum_with(&rc.ends, by);
		/* medians of even numbers are rounded */
		if (!drifts_in(&ca))
			assert_float_equal(least, sum, rc.ends.v.nr);
		for (uint32_t r = 0; r < rc.ranks && !drifts_in(&ca); r++) {
			for (int k = 0; k < 42; k++) {
				int64_t off = (INT64_C(1) << k / 2) * (k % 2 ? 1 : -1);

				by[r] += off;
				if (sum_with(&rc.ends, by) < least - (double)rc.ends.v.nr)
					fail_msg("case %" PRIu64 ": rank %u by %" PRId64, n, r,
						 off);
				by[r] -= off;
			}
		}
		clock_alignment_release(&ca);
		VEC_RELEASE(&rc.ends.v);
	}
}

/* Noise alone is taken for drift in less than one of 60 traces. */
TEST(test_noise_is_no_drift)
{
	size_t drifts = 0, components = 0;

	for (uint64_t n = 0; n < 600; n++) {
		uint64_t seed = n + 5000;
		struct random_clocks rc;
		struct clock_alignment ca;

		random_clocks_make(&rc, &seed, false);
		add_noise(&rc, &seed);
		clock_align(rc.ends.v.v, rc.ends.v.nr, rc.ranks, &ca);
		drifts += drifts_in(&ca);
		components += ca.components.nr;
		clock_alignment_release(&ca);
		VEC_RELEASE(&rc.ends.v);
	}
	assert_true(drifts * 60 < components);
}

/* The extremes of time, one event, one rank: no overflow, nothing but rest. */
TEST(test_absurd_times)
{
	static const int64_t t[] = { INT64_MIN, INT64_MAX, 0, INT64_C(1) << 61, -1 };
	struct ends e = { VEC_INIT };
	struct clock_alignment ca;

	for (uint32_t i = 0; i < 20; i++)
		for (uint32_t r = 0; r < 4; r++)
			if ((i + r) % 3)
				end_at(&e, i, r, t[(i * 7 + r * 3) % ARRAY_LEN(t)]);
	clock_align(e.v.v, e.v.nr, 4, &ca);
	for (uint32_t r = 0; r < 4; r++)
		for (size_t i = 0; i < ARRAY_LEN(t); i++)
			clock_common_ns(&ca.ranks.v[r], t[i]);
	clock_alignment_release(&ca);
	clock_align(e.v.v, 1, 4, &ca);
	assert_int_equal(ca.components.nr, 0);
	clock_alignment_release(&ca);
	VEC_RELEASE(&e.v);
}

/* 1000 ranks × 1000 instances */
TEST(test_many_ranks)
{
	enum { RANKS = 1000, INSTANCES = 1000 };
	struct clock_event *v = xcalloc((size_t)RANKS * INSTANCES, sizeof(*v));
	int64_t *offset = xcalloc(RANKS, sizeof(*offset)), worst = 0;
	struct clock_alignment ca;
	uint64_t seed = 5;
	size_t nr = 0;

	for (uint32_t r = 0; r < RANKS; r++)
		offset[r] = (int64_t)below(&seed, 1000000000);
	for (uint32_t i = 0; i < INSTANCES; i++)
		for (uint32_t r = 0; r < RANKS; r++)
			if (i < 200 || below(&seed, 10))
				v[nr++] = (struct clock_event){ i, r,
								i * INT64_C(10000000) + offset[r] +
									(int64_t)below(&seed,
										       20000) };
	clock_align(v, nr, RANKS, &ca);
	assert_int_equal(ca.components.nr, 1);
	assert_false(ca.components.v[0].drifts);
	for (uint32_t r = 1; r < RANKS; r++) {
		int64_t off =
			ca.ranks.v[r].offset_ns - ca.ranks.v[0].offset_ns - (offset[r] - offset[0]);
		worst = llabs(off) > worst ? llabs(off) : worst;
	}
	/* the median of 1000 uniform values of 20 µs */
	assert_true(worst < 2500);
	clock_alignment_release(&ca);
	free(offset);
	free(v);
}

/* --- a recording --- */

TEST(test_jax_alignment)
{
	static const double want_ms[] = { -25.631663, -54.172364, -200.045704, 279.849732 };
	struct jax_parts p;
	struct ends e = { VEC_INIT };
	struct clock_alignment ca;
	static const double drift[] = { 0.0085e-6, 0.0016e-6, -0.0036e-6, -0.0065e-6 };
	double max = 0, sum = 0, drift_sum;

	jax_parts_read(&p);
	assert_int_equal(p.v.nr, 480);
	for (size_t i = 0; i < p.v.nr; i++)
		end_at(&e, p.v.v[i].instance, p.v.v[i].device, p.v.v[i].end_ns);
	clock_align(e.v.v, e.v.nr, 4, &ca);
	assert_int_equal(ca.components.nr, 1);
	assert_int_equal(ca.components.v[0].instances, 120);
	for (uint32_t r = 0; r < 4; r++) {
		assert_float_equal((double)ca.ranks.v[r].offset_ns, want_ms[r] * 1e6, 3);
		max = fmax(max, ca.ranks.v[r].residual_max_ns);
		sum += ca.ranks.v[r].residual_sum_ns;
	}
	assert_float_equal(ca.components.v[0].offset_sum_ns, 2145411, 3);
	assert_float_equal(sum, 2145411, 3);
	assert_float_equal(max, 58216, 3);
	assert_false(ca.components.v[0].drifts);
	/* 0.2 % better */
	assert_float_equal(1 - ca.components.v[0].drift_sum_ns / 2145411, 0.002, 0.0005);
	drift_sum = ca.components.v[0].drift_sum_ns;
	clock_alignment_release(&ca);
	/* the drifts of exact code: without them offsets leave what drifts here leave */
	for (size_t i = 0; i < e.v.nr; i++)
		e.v.v[i].t_ns -=
			llround(drift[e.v.v[i].rank] * (double)(e.v.v[i].t_ns - p.v.v[0].end_ns));
	clock_align(e.v.v, e.v.nr, 4, &ca);
	assert_float_equal(ca.components.v[0].offset_sum_ns / drift_sum, 1, 2e-4);
	clock_alignment_release(&ca);
	VEC_RELEASE(&e.v);
	jax_parts_release(&p);
}
