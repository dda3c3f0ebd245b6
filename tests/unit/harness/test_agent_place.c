/* Where profrig-init puts a step, and to whom it gives files. */
#include "agent_rig.h"

#include <sched.h>
#include <sys/stat.h>

static json_t *step(struct rig *g, int id, const char *cpus)
{
	json_t *rq = json_pack("{s:s, s:i, s:[s,s,s], s:[s], s:o, s:s}", "op", "start", "id", id,
			       "argv", "/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status",
			       "env", "PATH=/usr/bin:/bin", "out",
			       json_sprintf("%s/%d.out", g->dir, id), "cpus", cpus);
	CLEANUP(xfreep) char *line = json_dumps(rq, JSON_COMPACT);

	json_decref(rq);
	say(g, "%s", line);
	return next_event(g, PATIENCE_MS);
}

static void processors(void **state)
{
	struct rig *g = *state;
	cpu_set_t mine;
	int first = 0;
	json_t *ev;

	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	while (!CPU_ISSET(first, &mine))
		first++;
	CLEANUP(xfreep) char *cpu = xasprintf("%d", first);
	CLEANUP(xfreep) char *want = xasprintf("Cpus_allowed_list:\t%d\n", first);
	ev = step(g, 1, cpu);
	assert_string_equal(name_of(ev), "started");
	json_decref(ev);
	json_decref(expect(g, "exited"));
	CLEANUP(xfreep) char *out = test_get(g->dir, "1.out");
	assert_string_equal(out, want);
	/* It was the step's alone. */
	say_sh(g, 2, "grep -c . /dev/null; grep Cpus_allowed_list /proc/$PPID/status");
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
	CLEANUP(xfreep) char *ours = test_get(g->dir, "2.out");
	if (CPU_COUNT(&mine) > 1)
		assert_null(strstr(ours, want));
	ev = step(g, 3, "x-y");
	assert_string_equal(name_of(ev), "failed");
	assert_non_null(strstr(text(ev, "text"), "cpus: 'x-y'"));
	json_decref(ev);
	ev = step(g, 4, "1000-1001");
	assert_string_equal(name_of(ev), "failed");
	json_decref(ev);
}

static void needs_of_either(void **state)
{
	struct rig *g = *state;
	json_t *ev;

	say(g, "%s",
	    "{\"op\":\"probe\",\"id\":1,\"inherit\":true,\"needs\":[\"no-such|sh\","
	    "\"no-such|libno-such.so.1\",\"/no/such|/dev/null\"]}");
	ev = expect(g, "probe");
	assert_int_equal(json_array_size(json_object_get(ev, "missing")), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(ev, "missing"), 0)),
			    "no-such|libno-such.so.1");
	json_decref(ev);
}

static uid_t owner(const struct rig *g, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(g->dir, name);
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_uid;
}

static void giving_files(void **state)
{
	struct rig *g = *state;
	CLEANUP(xfreep) char *theirs = fs_join(g->dir, "run/theirs");
	CLEANUP(xfreep) char *link = fs_join(g->dir, "run/link");
	json_t *ev;

	test_put(g->dir, "outside", "");
	test_put(g->dir, "run/deep/er/file", "");
	test_put(g->dir, "run/theirs", "");
	assert_int_equal(symlink("../outside", link), 0);
	if (geteuid() != 0)
		test_lacks("root", "giving files away takes root");
	assert_int_equal(chown(theirs, 4321, 4321), 0);
	say(g, "{\"op\":\"own\",\"id\":9,\"path\":\"%s/run\",\"uid\":1234,\"gid\":1235}", g->dir);
	ev = expect(g, "owned");
	assert_int_equal(num(ev, "id"), 9);
	assert_int_equal(num(ev, "given"), 4);
	assert_int_equal(num(ev, "failed"), 0);
	json_decref(ev);
	assert_int_equal(owner(g, "run/deep/er/file"), 1234);
	assert_int_equal(owner(g, "run/deep"), 1234);
	assert_int_equal(owner(g, "run/link"), 1234);
	/* Not what belongs to somebody else, nor what a link leads to. */
	assert_int_equal(owner(g, "run/theirs"), 4321);
	assert_int_equal(owner(g, "outside"), 0);
	say(g, "{\"op\":\"own\",\"id\":9,\"path\":\"%s/none\",\"uid\":1,\"gid\":1}", g->dir);
	json_decref(expect(g, "error"));
	say(g, "%s", "{\"op\":\"own\",\"id\":9,\"path\":\"/\"}");
	ev = expect(g, "error");
	assert_non_null(strstr(text(ev, "text"), "want path, uid and gid"));
	json_decref(ev);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(processors),
		T(needs_of_either),
		T(giving_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
