/*
 * compare_test: run directories for the tests of this room.
 *
 *	run_put(dir, "a/1", "\"status\":\"success\",…", 12.5);	a run.json with a metric `speed`
 */
#ifndef COMPARE_TEST_H
#define COMPARE_TEST_H

#include "test.h"

#include "profrig/base/strbuf.h"

/* more: members of run.json, "" none; with a comma behind. speed: of the metric, in items/s. */
static inline void run_put(const char *dir, const char *name, const char *more, double speed)
{
	char value[32];

	num_fmt_f64(value, speed);
	test_put(dir, textf("%s/run.json", name),
		 textf("{\"schema\":\"profrig.run/1\",\"id\":\"%s\",%s\"status\":\"success\","
		       "\"metrics\":[{\"name\":\"speed\",\"value\":%s,\"unit\":\"items/s\","
		       "\"source\":\"workload\"}]}",
		       name, more, value));
}

#endif
