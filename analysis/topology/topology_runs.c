/*
 * The devices visible to the processes of a run: lists, each of which indexes the one before it.
 *
 *	a container's devices, in ascending order for any order of its options
 *	ROCR_VISIBLE_DEVICES: the driver's devices, so all that ROCm's tools number
 *	HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES, else GPU_DEVICE_ORDINAL: the runtime's
 *
 * NVIDIA's runtime reads CUDA_VISIBLE_DEVICES alone.
 * In all of them the first index that does not exist ends the list. A UUID may be any device, so a
 * list with one cannot be followed.
 */
#include "topology_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/sort.h"

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

/* false: the text names devices other than by number. */
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

static bool same_list(const struct device_list *a, const struct device_list *b)
{
	bool same = a->all == b->all && a->v.nr == b->v.nr;

	for (size_t i = 0; same && i < a->v.nr; i++)
		same = a->v.v[i] == b->v.v[i];
	return same;
}

/* A list without valid indexes that is not empty on purpose is of another numbering. */
static char *list_narrow(const struct device_list *outer, const char *name, const char *value,
			 struct device_list *ret)
{
	if (!value) {
		list_copy(outer, ret);
		return NULL;
	}
	if (!list_inside(outer, value, ret))
		return xasprintf("%s='%.100s' is no list of indexes", name, value);
	if (ret->v.nr == 0 && *value != '-')
		return xasprintf("%s='%.100s' shows no device", name, value);
	return NULL;
}

static char *read_as_amd(const struct topology_env *e, const struct device_list *outer,
			 struct topology_run *run)
{
	char *why = list_narrow(outer, "ROCR_VISIBLE_DEVICES", e->rocr, &run->driver);

	if (why)
		return why;
	if (e->hip && *e->hip)
		return list_narrow(&run->driver, "HIP_VISIBLE_DEVICES", e->hip, &run->runtime);
	if (e->cuda)
		return list_narrow(&run->driver, "CUDA_VISIBLE_DEVICES", e->cuda, &run->runtime);
	return list_narrow(&run->driver, "GPU_DEVICE_ORDINAL",
			   e->ordinal && *e->ordinal ? e->ordinal : NULL, &run->runtime);
}

static char *read_as_nvidia(const struct topology_env *e, const struct device_list *outer,
			    struct topology_run *run)
{
	list_copy(outer, &run->driver);
	return list_narrow(outer, "CUDA_VISIBLE_DEVICES", e->cuda, &run->runtime);
}

static void run_init(struct topology_run *run)
{
	VEC_RELEASE(&run->driver.v);
	VEC_RELEASE(&run->runtime.v);
	run->driver.all = run->runtime.all = true;
}

/* Schedulers set the variables of all vendors; where the vendor is unknown, both readings must
 * agree. */
static char *lists_make(struct topology_run *run, const struct topology_env *e)
{
	struct topology_run other = { .host = NULL };
	struct device_list outer = { .all = true };
	char *why = NULL;

	run_init(&other);
	if (!list_of_container(e->gpus, &outer))
		why = xasprintf("gpus '%.100s' is no list of indexes", e->gpus);
	else if (e->vendor == TOPOLOGY_NVIDIA)
		why = read_as_nvidia(e, &outer, run);
	else
		why = read_as_amd(e, &outer, run);
	if (!why && e->vendor == TOPOLOGY_ANY && e->cuda) {
		why = read_as_nvidia(e, &outer, &other);
		if (!why && !same_list(&run->runtime, &other.runtime))
			why = xstrdup("the run's variables show AMD's runtime other devices than "
				      "NVIDIA's, and nothing tells whose these are");
	}
	run_init(&other);
	VEC_RELEASE(&outer.v);
	return why;
}

void topology_add_env(struct topology *tp, const struct topology_env *e)
{
	struct topology_run run = { .first = e->first, .end = e->end };

	if (tp->runs.nr == MAX_RUNS)
		return;
	run_init(&run);
	run.host = xstrdup(e->host ? e->host : "");
	run.unknown = lists_make(&run, e);
	if (run.unknown)
		run_init(&run);
	VEC_PUSH(&tp->runs, run);
}
