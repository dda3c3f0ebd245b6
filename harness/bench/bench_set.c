/* Configurations, their order, and names (bench.h). */
#include "bench_set.h"

#include <math.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_driver.h"

const char *bench_cache_name(enum bench_cache c)
{
	static const char *const names[] = { "warm", "cold", "weights-cold" };

	return names[c];
}

bool bench_cache_parse(const char *name, enum bench_cache *ret)
{
	for (int i = BENCH_WARM; i <= BENCH_WEIGHTS_COLD; i++)
		if (!strcmp(bench_cache_name((enum bench_cache)i), name)) {
			*ret = (enum bench_cache)i;
			return true;
		}
	return false;
}

const char *bench_status_name(enum bench_status s)
{
	static const char *const names[BENCH_STATUSES] = { "ok",      "failed", "crashed",
							   "timeout", "wrong",  "unsupported",
							   "skipped" };

	return names[s];
}

static char *clean_copy(const char *s)
{
	char *copy = xstrdup(s ? s : "");

	text_no_controls(copy, ' ');
	return copy;
}

/* The configuration of a key, NULL: there is none yet. */
static struct bench_config *config_find(struct bench_set *set, const char *key)
{
	str_id id;

	if (!set->keys)
		set->keys = intern_new();
	id = intern_puts(set->keys, key);
	while (set->config_of.nr <= id)
		VEC_PUSH(&set->config_of, UINT32_MAX);
	if (set->config_of.v[id] != UINT32_MAX)
		return &set->v.v[set->config_of.v[id]];
	if (set->v.nr < BENCH_CONFIGS_MAX)
		set->config_of.v[id] = (uint32_t)set->v.nr;
	return NULL;
}

bool bench_config_add(struct bench_set *set, const struct bench_config *c)
{
	/* a damaged row must not stand in the place of its key: it may be there, whole */
	char *key = clean_copy(c->problem ? "" : c->key);
	struct bench_config *same = *key ? config_find(set, key) : NULL;
	struct bench_work work;
	double flops = c->flops;

	if (*key && bench_work(key, &work, NULL) == 0)
		flops = (double)work.flops * (double)c->calls;
	if (same) {
		if (__builtin_add_overflow(same->calls, c->calls, &same->calls))
			same->calls = UINT64_MAX;
		same->flops += flops;
		free(key);
		return true;
	}
	if (set->v.nr >= BENCH_CONFIGS_MAX) {
		free(key);
		return false;
	}
	VEC_PUSH(&set->v, ((struct bench_config){ .library = clean_copy(c->library),
						  .config = clean_copy(c->config),
						  .key = key,
						  .problem = xstrdup_null(c->problem),
						  .calls = c->calls,
						  .flops = flops }));
	return true;
}

void bench_set_release(struct bench_set *set)
{
	for (size_t i = 0; i < set->v.nr; i++) {
		free(set->v.v[i].library);
		free(set->v.v[i].config);
		free(set->v.v[i].key);
		free(set->v.v[i].problem);
	}
	VEC_RELEASE(&set->v);
	VEC_RELEASE(&set->config_of);
	intern_free(STEAL(set->keys));
}

/* Known flops in front, the most first; then by calls; else as they came. */
static int by_weight(const void *a, const void *b)
{
	const struct bench_config *x = *(const struct bench_config *const *)a;
	const struct bench_config *y = *(const struct bench_config *const *)b;
	bool known_x = !isnan(x->flops), known_y = !isnan(y->flops);

	if (known_x != known_y)
		return known_x ? -1 : 1;
	if (known_x && x->flops != y->flops)
		return x->flops > y->flops ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return (x > y) - (x < y);
}

void bench_set_choose(const struct bench_set *set, uint64_t top, double min_share,
		      struct bench_choice *ret)
{
	double flops = 0, calls = 0;
	size_t kept = 0;

	for (size_t i = 0; i < set->v.nr; i++) {
		const struct bench_config *c = &set->v.v[i];

		VEC_PUSH(&ret->v, c);
		flops += isnan(c->flops) ? 0 : c->flops;
		calls += (double)c->calls;
	}
	if (ret->v.nr)
		qsort(ret->v.v, ret->v.nr, sizeof(*ret->v.v), by_weight);
	for (size_t i = 0; i < ret->v.nr && (!top || kept < top); i++) {
		const struct bench_config *c = ret->v.v[i];
		bool known = !isnan(c->flops) && flops > 0;
		double share = known ? c->flops / flops : (double)c->calls / calls;

		if (share >= min_share || min_share <= 0)
			ret->v.v[kept++] = c;
	}
	ret->v.nr = kept;
}
