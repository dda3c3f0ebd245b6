#include "agent_priv.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/num.h"

int place_take(const json_t *rq, cpu_set_t *was, struct err *err)
{
	const char *cpus = json_string_value(json_object_get(rq, "cpus"));
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	uint64_t first, last;
	cpu_set_t set;

	if (!cpus)
		return 0;
	CPU_ZERO(&set);
	strvec_split(&words, cpus, ",");
	for (size_t i = 0; i < words.nr; i++) {
		if (num_range(words.v[i], CPU_SETSIZE - 1, &first, &last) < 0)
			return err_set(err, EINVAL, "cpus: '%s'", cpus);
		for (; first <= last; first++)
			CPU_SET(first, &set);
	}
	if (sched_getaffinity(0, sizeof(*was), was) < 0 ||
	    sched_setaffinity(0, sizeof(set), &set) < 0)
		return err_sys(err, errno, "processors %s", cpus);
	return 1;
}

void place_back(const cpu_set_t *was)
{
	sched_setaffinity(0, sizeof(*was), was);
}
