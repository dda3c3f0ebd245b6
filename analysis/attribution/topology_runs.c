/*
 * What a run showed its processes: lists of devices, each inside what the one before it leaves.
 *
 *	a container's devices, in ascending order whatever the order they were asked for in
 *	ROCR_VISIBLE_DEVICES: the driver's devices, so all that ROCm's tools number
 *	HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES (AMD's runtime asks for the first one first,
 *	NVIDIA's knows only the second), else GPU_DEVICE_ORDINAL: the runtime's
 *
 * In all of them the first index that does not exist ends the list. A device by its UUID may be any,
 * so such a list says nothing.
 */
#include "topology_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/num.h"
#include "profrig/sort.h"

#define MAX_GPU 4095

static bool list_has(const struct device_list *l, int64_t gpu)
{
	for (size_t i = 0; i < l->v.nr; i++)
		if (l->v.v[i] == gpu)
			return true;
	return false;
}

static void list_copy(const struct device_list *from, struct device_list *to)
{
	to->all = from->all;
	for (size_t i = 0; i < from->v.nr; i++)
		VEC_PUSH(&to->v, from->v.v[i]);
}

/* The n-th device of a list, −1 when there is none. */
static int64_t list_at(const struct device_list *l, int64_t n)
{
	if (n < 0 || n > MAX_GPU)
		return -1;
	if (l->all)
		return n;
	return (size_t)n < l->v.nr ? l->v.v[n] : -1;
}

/* false: the text names devices in a way that does not tell their numbers. */
static bool list_inside(const struct device_list *outer, const char *text, struct device_list *ret)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	strvec_split(&words, text, ",");
	ret->all = false;
	for (size_t i = 0; i < words.nr; i++) {
		int64_t n, gpu;

		if (num_i64(words.v[i], strlen(words.v[i]), &n) < 0)
			return false;
		gpu = list_at(outer, n);
		if (gpu < 0)
			break;
		if (list_has(ret, gpu))
			return false;
		VEC_PUSH(&ret->v, gpu);
	}
	return words.nr > 0;
}

/* "0,2-4", "all", "none", as a run's configuration has it. */
static bool list_of_container(const char *text, struct device_list *ret)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	if (!text || strcmp(text, "all") == 0)
		return true;
	strvec_split(&words, strcmp(text, "none") == 0 ? "" : text, ",");
	ret->all = false;
	for (size_t i = 0; i < words.nr; i++) {
		const char *w = words.v[i], *dash = strchr(w, '-');
		size_t n = dash ? (size_t)(dash - w) : strlen(w);
		int64_t first, last;

		if (num_i64(w, n, &first) < 0 || first < 0 || first > MAX_GPU)
			return false;
		last = first;
		if (dash && (num_i64(dash + 1, strlen(dash + 1), &last) < 0 || last < first ||
			     last > MAX_GPU))
			return false;
		for (int64_t gpu = first; gpu <= last; gpu++)
			if (!list_has(ret, gpu))
				VEC_PUSH(&ret->v, gpu);
	}
	sort_i64(ret->v.v, ret->v.nr);
	return true;
}

/* Which variable decides inside the driver's list; *ret_name NULL: none. */
static bool runtime_variable(const struct topology_env *e, const char **ret_name,
			     const char **ret_value)
{
	bool hip = e->hip && *e->hip;

	*ret_name = hip                         ? "HIP_VISIBLE_DEVICES"
		    : e->cuda                   ? "CUDA_VISIBLE_DEVICES"
		    : e->ordinal && *e->ordinal ? "GPU_DEVICE_ORDINAL"
						: NULL;
	*ret_value = hip ? e->hip : e->cuda ? e->cuda : e->ordinal;
	return !hip || !e->cuda || strcmp(e->hip, e->cuda) == 0;
}

static char *lists_make(struct topology_run *run, const struct topology_env *e)
{
	struct device_list outer = { .all = true };
	const char *name, *value;
	char *why = NULL;

	if (!list_of_container(e->gpus, &outer))
		why = xasprintf("gpus '%.100s' is no list of indexes", e->gpus);
	else if (e->rocr && !list_inside(&outer, e->rocr, &run->driver))
		why = xasprintf("ROCR_VISIBLE_DEVICES='%.100s' is no list of indexes", e->rocr);
	else if (!e->rocr)
		list_copy(&outer, &run->driver);
	VEC_RELEASE(&outer.v);
	if (why)
		return why;
	if (!runtime_variable(e, &name, &value))
		return xasprintf("HIP_VISIBLE_DEVICES='%.100s' and CUDA_VISIBLE_DEVICES='%.100s' "
				 "differ",
				 e->hip, e->cuda);
	if (!name)
		list_copy(&run->driver, &run->runtime);
	else if (!list_inside(&run->driver, value, &run->runtime))
		return xasprintf("%s='%.100s' is no list of indexes", name, value);
	return NULL;
}

void topology_add_env(struct topology *tp, const struct topology_env *e)
{
	struct topology_run run = {
		.first = e->first, .end = e->end, .driver.all = true, .runtime.all = true
	};

	if (tp->runs.nr == MAX_RUNS)
		return;
	run.host = xstrdup(e->host ? e->host : "");
	run.unknown = lists_make(&run, e);
	if (run.unknown) {
		run.driver.all = run.runtime.all = true;
		VEC_CLEAR(&run.driver.v);
		VEC_CLEAR(&run.runtime.v);
	}
	VEC_PUSH(&tp->runs, run);
}
