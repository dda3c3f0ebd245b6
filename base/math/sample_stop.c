#include "profrig/base/sample_stop.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

#define NEEDED_MAX 1e9

static size_t logs_of(const double *v, size_t n, double *to)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i]) && v[i] > 0)
			to[nr++] = log(v[i]);
	return nr;
}

static double deviation(const double *v, size_t n)
{
	double mean = values_mean(v, n), squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return sqrt(squares / (double)(n - 1));
}

/* stage: how many values tell the deviation; at most n. */
static void stop_judge(const double *logs, size_t stage, const struct sample_stop_rule *rule,
		       struct sample_stop *ret)
{
	double t_s = student_t(rule->confidence, stage - 1) * deviation(logs, stage);
	double root = t_s / log1p(rule->half), half = t_s / sqrt((double)ret->n);

	ret->needed = (size_t)fmin(fmax(ceil(root * root), (double)stage), NEEDED_MAX);
	ret->low = ret->value * exp(-half);
	ret->high = ret->value * exp(half);
}

static void stop_decide(const double *v, size_t n, const struct sample_stop_rule *rule,
			size_t least, bool all, struct sample_stop *ret)
{
	double *logs = xcalloc(n + 1, sizeof(*logs));
	size_t first = rule->first > least ? rule->first : least;

	*ret = (struct sample_stop){ .needed = first, .value = NAN, .low = NAN, .high = NAN };
	ret->n = logs_of(v, n, logs);
	ret->left_out = n - ret->n;
	if (ret->n > 0)
		ret->value = exp(values_mean(logs, ret->n));
	if (ret->n >= first)
		stop_judge(logs, all ? ret->n : first, rule, ret);
	ret->capped = rule->most > 0 && ret->needed > rule->most;
	if (ret->capped)
		ret->needed = rule->most;
	ret->done = ret->n >= ret->needed;
	free(logs);
}

void sample_stop_stein(const double *v, size_t n, const struct sample_stop_rule *rule,
		       struct sample_stop *ret)
{
	stop_decide(v, n, rule, SAMPLE_STOP_FIRST, false, ret);
}

void sample_stop_looking(const double *v, size_t n, const struct sample_stop_rule *rule,
			 struct sample_stop *ret)
{
	stop_decide(v, n, rule, SAMPLE_STOP_LOOKS, true, ret);
}
