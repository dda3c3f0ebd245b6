/* Mean clocks while the workload ran: of the sides, and within blocks of a campaign. */
#include "condition_clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/block_spread.h"
#include "profrig/base/xalloc.h"

static const struct {
	const char *metric, *words;
} clocks[CONDITION_CLOCK_KINDS] = {
	{ "clock_mhz", "clock of processors" },
	{ "gpu_clock_mhz", "clock of GPUs" },
};

bool condition_clock_is(const char *metric)
{
	for (size_t i = 0; i < ARRAY_LEN(clocks); i++)
		if (!strcmp(metric, clocks[i].metric))
			return true;
	return false;
}

/* What a workload prints under this name is no clock that was measured. */
void condition_clock_take(struct conditions *c, const char *metric, const char *source, double mhz)
{
	for (size_t i = 0; i < ARRAY_LEN(clocks); i++)
		if (!strcmp(metric, clocks[i].metric) && *source &&
		    strcmp(source, "workload") != 0 && strcmp(source, "results.csv") != 0 &&
		    mhz > 0 && isfinite(mhz) && !c->clock[i].source)
			c->clock[i] = (struct condition_clock){ mhz, xstrdup(source) };
}

/* Runs of a side whose clock is known by that source; returns the mean. */
static double side_take(const struct condition_side *s, size_t kind, const char *source,
			struct sample *to, size_t *nr)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct condition_clock *c = &s->runs[i]->clock[kind];

		if (!c->source || strcmp(c->source, source) != 0)
			continue;
		to[(*nr)++] = (struct sample){ c->mhz, s->runs[i]->block };
		sum += c->mhz;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

/* Numbers of blocks say something within one campaign. */
static bool one_campaign(const struct condition_side *s, const char *campaign)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!s->runs[i]->campaign || strcmp(s->runs[i]->campaign, campaign) != 0)
			return false;
	return true;
}

static bool have_blocks(const struct condition_side *a, const struct condition_side *b)
{
	const char *campaign = a->nr ? a->runs[0]->campaign : NULL;

	return campaign && *campaign && one_campaign(a, campaign) && one_campaign(b, campaign);
}

static void blocks_compare(const struct sample *v, size_t nr, size_t kind, struct comparable *ret)
{
	CLEANUP(xfreep) struct block_spread *b = NULL;
	size_t n = block_spreads(v, nr, CONDITION_CLOCKS, &b), worst = 0;

	for (size_t i = 1; i < n; i++)
		if (b[i].high / b[i].low > b[worst].high / b[worst].low)
			worst = i;
	if (n == 1)
		comparable_add(ret, false, "%s: differs %.1f %% within block %u, %.0f to %.0f MHz",
			       clocks[kind].words, 100 * (b[0].high / b[0].low - 1), b[0].block,
			       b[0].low, b[0].high);
	else if (n)
		comparable_add(ret, false,
			       "%s: differs up to %.1f %% within %zu blocks, in block %u %.0f to "
			       "%.0f MHz",
			       clocks[kind].words, 100 * (b[worst].high / b[worst].low - 1), n,
			       b[worst].block, b[worst].low, b[worst].high);
}

static const char *source_of(const struct condition_side *s, size_t kind)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->runs[i]->clock[kind].source)
			return s->runs[i]->clock[kind].source;
	return NULL;
}

/* One reason at most: the sides, else blocks. */
static void clock_compare(const struct condition_side *a, const struct condition_side *b,
			  size_t kind, struct comparable *ret)
{
	const char *source = source_of(a, kind);
	CLEANUP(xfreep) struct sample *v = xcalloc(a->nr + b->nr + 1, sizeof(*v));
	size_t nr = 0;
	double ca, cb;

	if (!source)
		return;
	ca = side_take(a, kind, source, v, &nr);
	cb = side_take(b, kind, source, v, &nr);
	if (isnan(ca) || isnan(cb))
		return;
	if (fmax(ca, cb) / fmin(ca, cb) - 1 > CONDITION_CLOCKS)
		comparable_add(ret, false, "%s: %.0f MHz in %s, %.0f MHz in %s", clocks[kind].words,
			       ca, a->name, cb, b->name);
	else if (have_blocks(a, b))
		blocks_compare(v, nr, kind, ret);
}

void condition_clocks_compare(const struct condition_side *a, const struct condition_side *b,
			      struct comparable *ret)
{
	for (size_t i = 0; i < CONDITION_CLOCK_KINDS; i++)
		clock_compare(a, b, i, ret);
}
