/* The fit of powers where data tell little or nothing, or are very many. */
#include "power_laws.h"

#include <time.h>

/* By time: nothing is separable, and the interval holds all that a class may have had. */
static void assert_by_time(const struct power_data *d, const struct power_fit *fit)
{
	CLEANUP(xfreep) double *j = by_time_j(d);
	CLEANUP(xfreep) double *most = xcalloc((size_t)d->classes + 1, sizeof(*most));

	for (size_t i = 0; i < d->n; i++) {
		for (size_t k = d->first[i]; k < d->first[i + 1]; k++)
			most[d->parts[k].class_id] += d->energy_j[i];
	}
	for (uint32_t f = 0; f < d->classes; f++) {
		const struct power_class *k = &fit->classes[f];

		assert_near(k->energy_j, j[f], 1e-9 * (j[f] + 1e-9));
		assert_false(k->separable);
		assert_true(k->energy_j - k->half_width_j <= 1e-9 * j[f]);
		assert_true(k->energy_j + k->half_width_j >= most[f] * (1 - 1e-9));
	}
}

/* Intervals that are all alike, of one second, with an energy each. */
static struct power_sim alike(size_t n, uint32_t classes, double j)
{
	struct power_sim s;

	power_sim_new(&s, n, classes);
	for (size_t i = 0; i < n; i++) {
		s.energy_j[i] = j;
		for (uint32_t f = 0; f < classes; f++) {
			*time_of(&s, i, f) = 2. * (f + 1) / (classes * (classes + 1.));
			*border_of(&s, i, f) = f == 0;
		}
	}
	power_sim_pack(&s);
	return s;
}

TEST(too_little_is_by_time)
{
	static const struct {
		size_t n;
		uint32_t classes;
		double j;
		enum power_used used;
	} rows[] = {
		{ 0, 0, 0, POWER_FEW },     { 0, 3, 0, POWER_FEW },    { 1, 1, 100, POWER_FEW },
		{ 1, 3, 100, POWER_FEW },   { 2, 3, 100, POWER_FEW },  { 5, 0, 0, POWER_FEW },
		{ 50, 3, 0, POWER_FEW },    { 3, 3, 100, POWER_POOR }, { 50, 3, 100, POWER_POOR },
		{ 50, 1, 100, POWER_POOR },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(power_sim_release)
		struct power_sim s = alike(rows[i].n, rows[i].classes, rows[i].j);
		CLEANUP(power_fit_release) struct power_fit fit = fit_of(&s.data);

		if (fit.used != rows[i].used)
			ROW_FAIL(i, "is %s", power_used_name(fit.used));
		assert_by_time(&s.data, &fit);
	}
	assert_string_equal(power_used_name(POWER_USED), "power");
	assert_string_equal(power_used_name(POWER_FEW), "few");
	assert_string_equal(power_used_name(POWER_POOR), "poor");
}

/* Programs that are hard: how many classes' intervals do not hold the truth. */
static size_t classes_missed(const struct power_sim *s, const struct power_fit *fit)
{
	size_t missed = 0;

	for (uint32_t f = 0; f < s->classes; f++) {
		const struct power_class *k = &fit->classes[f];

		missed += fabs(k->energy_j - s->truth_j[f]) > k->half_width_j;
	}
	return missed;
}

TEST(hard_programs_have_wide_intervals)
{
	static const struct power_plan plans[] = {
		{ .name = "more classes than intervals",
		  .functions = 60,
		  .rounds = 1,
		  .from_s = .002,
		  .period_s = .02 },
		{ .name = "never alone",
		  .functions = 6,
		  .from_s = .0005,
		  .period_s = .1,
		  .rounds = 1000 },
		{ .name = "in turn, many times an interval",
		  .functions = 6,
		  .from_s = .0005,
		  .period_s = .1,
		  .rounds = 3000,
		  .pattern = true },
	};

	for (size_t k = 0; k < ARRAY_LEN(plans); k++) {
		size_t missed = 0, classes = 0;

		seed = 77;
		for (int run = 0; run < 20; run++) {
			CLEANUP(fitted_release) struct fitted x = fitted(&plans[k]);

			missed += classes_missed(&x.s, &x.fit);
			classes += x.s.classes;
		}
		print_message("# %s: %zu of %zu missed\n", plans[k].name, missed, classes);
		if (missed * 1000 > classes * 65)
			ROW_FAIL(k, "%zu of %zu classes are missed", missed, classes);
	}
}

TEST(an_interval_of_an_hour)
{
	static const struct power_plan plan = { .functions = 8, .gap_s = .02 };
	uint32_t idle = 8;
	size_t at;

	seed = 3;
	CLEANUP(power_sim_release) struct power_sim s = power_sim_of(&plan);

	at = s.n / 2;
	s.length_s[at] += 3600;
	s.energy_j[at] += 3600 * IDLE_W;
	s.truth_j[idle] += 3600 * IDLE_W;
	*time_of(&s, at, idle) += 3600;
	free(s.first);
	free(s.parts);
	power_sim_pack(&s);
	CLEANUP(power_fit_release) struct power_fit fit = fit_of(&s.data);

	assert_int_equal(fit.used, POWER_USED);
	assert_energies(&s, &fit, 0.03);
	assert_true(classes_missed(&s, &fit) <= 1);
	assert_near(fit.classes[idle].w, IDLE_W, 0.01);
}

/* Ten calls in each interval, none of a class that was there before. */
static struct power_sim once_each(size_t n)
{
	struct power_sim s;

	power_sim_new(&s, n, 0);
	s.first = xcalloc(n + 1, sizeof(*s.first));
	s.parts = xcalloc(10 * n, sizeof(*s.parts));
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 10 * i; k < 10 * i + 10; k++) {
			s.parts[k] = (struct power_part){ (uint32_t)k, 0.1F, k == 10 * i,
							  k == 10 * i + 9, 0 };
			s.energy_j[i] += 0.1 * uniform(60, 500);
		}
		s.first[i + 1] = 10 * (i + 1);
	}
	s.data = (struct power_data){ .n = n,
				      .number = s.number,
				      .energy_j = s.energy_j,
				      .length_s = s.length_s,
				      .first = s.first,
				      .parts = s.parts,
				      .classes = (uint32_t)(10 * n),
				      .always = POWER_NO_CLASS,
				      .known = POWER_NO_CLASS };
	return s;
}

TEST(a_hundred_thousand_classes_with_one_call_each)
{
	clock_t began = clock();

	seed = 17;
	CLEANUP(power_sim_release) struct power_sim s = once_each(10000);
	CLEANUP(power_fit_release) struct power_fit fit = fit_of(&s.data);

	print_message("# %.2f s, %s\n", (double)(clock() - began) / CLOCKS_PER_SEC,
		      power_used_name(fit.used));
	assert_true(clock() - began < 30 * CLOCKS_PER_SEC);
	for (uint32_t f = 0; f < s.data.classes; f++)
		assert_true(fit.classes[f].half_width_j >= 0.2 * fit.classes[f].energy_j);
}
