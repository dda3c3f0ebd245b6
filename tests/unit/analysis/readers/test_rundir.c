#include "readers_test.h"

#include <sys/stat.h>

#define FIX "tests/fixtures/rundir/"

static const struct rundir_input *input_of(const struct rundir *rd, const char *tool)
{
	for (size_t i = 0; i < rd->inputs.nr; i++)
		if (strcmp(rd->inputs.v[i].tool, tool) == 0)
			return &rd->inputs.v[i];
	return NULL;
}

static void assert_input(const struct rundir *rd, size_t i, const char *tool, const char *reader,
			 const char *path)
{
	assert_true(i < rd->inputs.nr);
	assert_string_equal(rd->inputs.v[i].tool, tool);
	assert_string_equal(rd->inputs.v[i].reader, reader);
	assert_string_equal(rd->inputs.v[i].path, path);
}

TEST(complete)
{
	struct rundir rd;

	assert_true(rundir_is(FIX "complete"));
	assert_int_equal(rundir_open(FIX "complete", &rd, NULL), 0);
	assert_string_equal(rd.path, FIX "complete");
	assert_string_equal(rd.id, "20240101T000000Z-mlp-0a1b2c");
	assert_string_equal(rd.model, "mlp");
	assert_string_equal(rd.status, "success");
	assert_string_equal(rd.host, "node1");
	assert_true(rd.container);
	assert_int_equal(rd.anchors.nr, 2);
	assert_int_equal(rd.anchors.v[1].realtime_ns, 1700000001000000010);
	assert_int_equal(rd.anchors.v[1].boottime_ns, 6000000100);
	assert_int_equal(rd.workload_start_ns, 5000000100);
	assert_int_equal(rd.workload_end_ns, 5900000000);
	assert_int_equal(rd.idle_before_ns[0], 5000000030);
	assert_int_equal(rd.idle_before_ns[1], 5000000090);
	assert_int_equal(rd.idle_after_ns[0], 5900000010);
	assert_int_equal(rd.idle_after_ns[1], 5990000000);
	assert_int_equal(rd.root_pid, 77);
	assert_true(rd.estimated);
	/* artifacts in their order, damaged ones too, empty and missing ones not; then the samples
	 */
	assert_int_equal(rd.inputs.nr, 4);
	assert_input(&rd, 0, "blas_trace", "tef", FIX "complete/artifacts/blas_trace/blas-77.json");
	assert_input(&rd, 1, "rocprof", "tef", FIX "complete/artifacts/rocprof/trace.json");
	assert_input(&rd, 2, "cpu_power", "samples", FIX "complete/samples/cpu_power.csv");
	assert_input(&rd, 3, "gpu_power", "samples", FIX "complete/samples/gpu_power.csv");
	rundir_release(&rd);
	assert_null(rd.path);
}

/* Killed before it could list anything: what lies there is found, and what is not known is 0 or "".
 */
TEST(interrupted)
{
	CLEANUP(rundir_release) struct rundir rd;

	assert_int_equal(rundir_open(FIX "interrupted", &rd, NULL), 0);
	assert_string_equal(rd.status, "running");
	assert_string_equal(rd.model, "");
	assert_string_equal(rd.host, "");
	assert_false(rd.container);
	assert_int_equal(rd.anchors.nr, 1);
	assert_int_equal(rd.anchors.v[0].boottime_ns, 10);
	assert_int_equal(rd.workload_start_ns, 500);
	assert_int_equal(rd.workload_end_ns, 0);
	assert_int_equal(rd.root_pid, 0);
	assert_false(rd.estimated);
	assert_int_equal(rd.inputs.nr, 2);
	assert_input(&rd, 0, "roctx_trace", "tef",
		     FIX "interrupted/artifacts/roctx_trace/roctx-9.json");
	assert_input(&rd, 1, "procfs", "samples", FIX "interrupted/samples/procfs.csv");
}

/* Every field of a wrong type, and paths that lead out of the directory. */
TEST(hostile)
{
	CLEANUP(rundir_release) struct rundir rd;

	assert_int_equal(rundir_open(FIX "hostile", &rd, NULL), 0);
	assert_string_equal(rd.id, "");
	assert_string_equal(rd.status, "");
	assert_string_equal(rd.host, "");
	assert_int_equal(rd.anchors.nr, 0);
	assert_int_equal(rd.idle_before_ns[1], 0);
	assert_int_equal(rd.idle_after_ns[1], 0);
	assert_int_equal(rd.inputs.nr, 1);
	assert_input(&rd, 0, "", "tef", FIX "hostile/artifacts/x/ok.json");
	/* three that lead outside and one for a reader there is not: told, not dropped */
	assert_int_equal(rd.lost.nr, 4);
	for (size_t i = 0; i < 3; i++)
		assert_has(rd.lost.v[i].why, "leads out of the run directory");
	assert_string_equal(rd.lost.v[1].path, "/etc/passwd");
	assert_has(rd.lost.v[3].why, "'artifacts/x/ok.json' wants reader 'no-such");
}

/* No link is followed, wherever it leads, listed or found. */
TEST_IN(links_out, dir)
{
	CLEANUP(xfreep) char *link_a = NULL, *link_s = NULL, *link_in = NULL;
	struct rundir rd;

	test_put(dir, "out.json", "[{\"ph\":\"X\"}]");
	test_put(dir, "out.csv", "t_ns,a\n1,2\n");
	test_put(dir, "run/artifacts/a/in.json", "[{\"ph\":\"X\",\"ts\":1,\"dur\":1}]");
	test_put(dir, "run/samples/in.csv", "t_ns,a\n1,2\n");
	test_put(dir, "run/run.json",
		 "{\"artifacts\": [{\"tool\": \"a\", \"path\": \"artifacts/a/l.json\", \"reader\": "
		 "\"tef\", \"verdict\": \"valid\"},"
		 "{\"tool\": \"b\", \"path\": \"artifacts/a/ok.json\", \"reader\": \"tef\", "
		 "\"verdict\": \"valid\"}]}");
	link_a = fs_join(dir, "run/artifacts/a/l.json");
	link_in = fs_join(dir, "run/artifacts/a/ok.json");
	link_s = fs_join(dir, "run/samples/l.csv");
	assert_int_equal(symlink("../../../out.json", link_a), 0);
	assert_int_equal(symlink("in.json", link_in), 0);
	assert_int_equal(symlink("../../out.csv", link_s), 0);

	assert_int_equal(rundir_open(in_dir(dir, "run"), &rd, NULL), 0);
	assert_int_equal(rd.inputs.nr, 1);
	assert_null(input_of(&rd, "a"));
	assert_null(input_of(&rd, "b"));
	assert_non_null(input_of(&rd, "in"));
	assert_int_equal(rd.lost.nr, 3);
	assert_string_equal(rd.lost.v[0].path, "artifacts/a/l.json");
	assert_string_equal(rd.lost.v[1].path, "artifacts/a/ok.json");
	assert_has(rd.lost.v[2].why, "'samples/l.csv' is a link or leads out");
	rundir_release(&rd);
	test_put(dir, "run/run.json", "{}");
	assert_int_equal(rundir_open(in_dir(dir, "run"), &rd, NULL), 0);
	assert_int_equal(rd.inputs.nr, 2); /* in.json and in.csv, no link */
	for (size_t i = 0; i < rd.inputs.nr; i++)
		assert_lacks(rd.inputs.v[i].path, "/l.");
	rundir_release(&rd);
}

/* A listed artifact that is gone is lost; one that the run found missing or empty is not. */
TEST_IN(lost_artifacts, dir)
{
	CLEANUP(rundir_release) struct rundir rd;

	test_put(dir, "run.json",
		 "{\"schema\": \"profrig.run/1\", \"artifacts\": ["
		 "{\"path\": \"artifacts/a/gone.json\", \"reader\": \"tef\", \"verdict\": "
		 "\"valid\"},"
		 "{\"path\": \"artifacts/a/*.json\", \"reader\": \"tef\", \"verdict\": "
		 "\"missing\"},"
		 "{\"path\": \"artifacts/a/none.json\", \"reader\": \"tef\", \"verdict\": "
		 "\"empty\"},"
		 "{\"path\": \"artifacts/a/notes.txt\", \"reader\": \"\", \"verdict\": "
		 "\"valid\"}]}");
	assert_int_equal(rundir_open(dir, &rd, NULL), 0);
	assert_int_equal(rd.inputs.nr, 0);
	assert_int_equal(rd.lost.nr, 1);
	assert_string_equal(rd.lost.v[0].path, "artifacts/a/gone.json");
}

/* Which devices the workload was shown; a container's list counts only where there was one. */
TEST_IN(visible_devices, dir)
{
	static const char plan[] =
		"{\"schema\": \"profrig.plan/1\", \"configuration\": [{\"key\": \"gpus\", "
		"\"value\": \"2,3\"}], \"steps\": [{\"name\": \"pre-x\", \"env\": [{\"name\": "
		"\"HIP_VISIBLE_DEVICES\", \"value\": \"9\"}]}, {\"name\": \"workload\", \"env\": ["
		"{\"name\": \"ROCR_VISIBLE_DEVICES\", \"value\": \"0,1\"}, "
		"{\"name\": \"HIP_VISIBLE_DEVICES\", \"value\": \"1\"}, "
		"{\"name\": \"GPU_DEVICE_ORDINAL\", \"value\": null}, 5]}]}";
	struct rundir rd;

	test_put(dir, "plan.json", plan);
	for (int container = 0; container < 2; container++) {
		test_put(
			dir, "run.json",
			container
				? "{\"schema\": \"profrig.run/1\", \"engine\": \"docker\", "
				  "\"devices\": [{\"source\": \"procfs\"}, {\"source\": \"nvml\"}]}"
				: "{\"schema\": \"profrig.run/1\", \"engine\": \"host\"}");
		assert_int_equal(rundir_open(dir, &rd, NULL), 0);
		assert_string_equal(rd.gpu_vendor, container ? "nvidia" : "");
		assert_string_equal(rd.visible.rocr, "0,1");
		assert_string_equal(rd.visible.hip, "1");
		assert_null(rd.visible.cuda);
		assert_null(rd.visible.ordinal);
		if (container)
			assert_string_equal(rd.visible.gpus, "2,3");
		else
			assert_null(rd.visible.gpus);
		rundir_release(&rd);
	}
	for (size_t n = sizeof(plan) - 1; n > 0; n -= n > 9 ? 9 : n) {
		test_put(dir, "plan.json", kept(xstrndup(plan, n - 1)));
		assert_int_equal(rundir_open(dir, &rd, NULL), 0);
		assert_null(rd.visible.rocr);
		rundir_release(&rd);
	}
}

TEST_IN(no_run, dir)
{
	struct rundir rd;
	struct err e = ERR_INIT;

	assert_false(rundir_is(FIX));
	assert_false(rundir_is(FIX "complete/run.json"));
	assert_int_equal(rundir_open(FIX, &rd, &e), -ENOENT);
	/* of another program */
	test_put(dir, "run.json", "{\"id\": \"x\"}");
	assert_false(rundir_is(dir));
	test_put(dir, "run.json", "{\"schema\": \"profrig.run/1\",\n \"model\": ");
	assert_true(rundir_is(dir));
	assert_int_equal(rundir_open(dir, &rd, &e), -EINVAL);
	assert_has(e.msg, "run.json:2: ");
	test_put(dir, "run.json", "[1]");
	assert_int_equal(rundir_open(dir, &rd, &e), -EINVAL);
	test_put(dir, "run.json", "{\"schema\": \"other/1\"}");
	assert_int_equal(rundir_open(dir, &rd, &e), -EINVAL);
	assert_has(e.msg, "'other/1'");
	test_put(dir, "run.json", "{\"schema\": \"profrig.run/2\"}");
	assert_true(rundir_is(dir));
	assert_int_equal(rundir_open(dir, &rd, &e), -EINVAL);
	assert_has(e.msg, "'profrig.run/2' is not the one");
}

/* Cut after every byte, run.json is an error or a smaller run, never a crash. */
TEST_IN(cut_everywhere, dir)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;

	assert_int_equal(fs_read(FIX "complete/run.json", 65536, &text, &n, NULL), 0);
	while (n > 0) {
		struct rundir rd;
		struct err e = ERR_INIT;

		text[--n] = '\0';
		test_put(dir, "run.json", text);
		if (rundir_open(dir, &rd, &e) == 0)
			rundir_release(&rd);
		else
			assert_has(e.msg, "run.json:");
		if (n > 64)
			n -= 6;
	}
}
