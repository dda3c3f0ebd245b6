/* On which processors profrig-init puts a step. */
#include "agent_rig.h"

#include <sched.h>

static json_t *step(struct rig *g, int id, const char *cpus)
{
	json_t *rq = json_pack("{s:s, s:i, s:[s,s,s], s:[s], s:o, s:s}", "op", "start", "id", id,
			       "argv", "/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status",
			       "env", "PATH=/usr/bin:/bin", "out",
			       json_sprintf("%s/%d.out", g->dir, id), "cpus", cpus);
	CLEANUP(xfreep) char *line = json_dumps(rq, JSON_COMPACT);

	json_decref(rq);
	rig_say(g, "%s", line);
	return next_event(g, PATIENCE_MS);
}

RIG_TEST(processors)
{
	cpu_set_t mine;
	int first = 0;
	json_t *ev;

	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	while (!CPU_ISSET(first, &mine))
		first++;
	ev = step(g, 1, textf("%d", first));
	assert_string_equal(name_of(ev), "started");
	json_decref(ev);
	json_decref(expect(g, "exited"));
	CLEANUP(xfreep) char *out = test_get(g->dir, "1.out");
	assert_string_equal(out, textf("Cpus_allowed_list:\t%d\n", first));
	/* It was the step's alone. */
	say_sh(g, 2, "grep -c . /dev/null; grep Cpus_allowed_list /proc/$PPID/status");
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
	CLEANUP(xfreep) char *ours = test_get(g->dir, "2.out");
	if (CPU_COUNT(&mine) > 1)
		assert_lacks(ours, textf("Cpus_allowed_list:\t%d\n", first));
	ev = step(g, 3, "x-y");
	assert_string_equal(name_of(ev), "failed");
	assert_has(text(ev, "text"), "cpus: 'x-y'");
	json_decref(ev);
	ev = step(g, 4, "1000-1001");
	assert_string_equal(name_of(ev), "failed");
	json_decref(ev);
}

RIG_TEST(needs_of_either)
{
	json_t *ev;

	rig_say(g, "%s",
		"{\"op\":\"probe\",\"id\":1,\"inherit\":true,\"needs\":[\"no-such|sh\","
		"\"no-such|libno-such.so.1\",\"/no/such|/dev/null\"]}");
	ev = expect(g, "probe");
	assert_int_equal(json_array_size(json_object_get(ev, "missing")), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(ev, "missing"), 0)),
			    "no-such|libno-such.so.1");
	json_decref(ev);
}
