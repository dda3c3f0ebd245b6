/* rocm_smi: the child process with a stand-in library, and with the real one where it is. */
#include "sampler_gpu_test.h"

#include <signal.h>
#include <sys/wait.h>

static void check_rsmi_values(struct opened *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;

	assert_int_equal(s->nr, 2);
	assert_string_equal(names_of(s, 0, &b),
			    "power energy vram_used vram_total busy temperature");
	/* without an average, the power of the moment is the power */
	assert_string_equal(names_of(s, 1, &b), "power energy vram_used vram_total busy");
	assert_string_equal(s->dev[0].facts,
			    "AMD Fake MI250X, pci 0000:c1:00.0, energy counts 15.3 uJ");
	assert_string_equal(s->dev[1].facts,
			    "AMD Fake MI300X, pci 0001:26:03.1, energy counts 15.3 uJ");
	assert_true(source_value(s, 0, "power") == 305.25);
	assert_true(source_value(s, 1, "power") == 689);
	assert_true(source_value(s, 0, "vram_used") == 1 * GIB);
	assert_true(source_value(s, 1, "vram_used") == 2 * GIB);
	assert_true(source_value(s, 0, "vram_total") == 64 * GIB);
	assert_true(source_value(s, 0, "busy") == 55);
	assert_true(source_value(s, 1, "busy") == 99);
	assert_true(source_value(s, 0, "temperature") == 71.5);
}

GPU_TEST(rsmi_values)
{
	if (!have_child())
		skip();
	drm_exists();
	CLEANUP(source_close) struct opened s = source_opened("rocm_smi", NULL);
	check_rsmi_values(&s);
	assert_true(energy_rises_at(&s, 0, 300));
}

GPU_TEST(rsmi_selection)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;

	if (!have_child())
		skip();
	drm_exists();
	sampler_options(&o, "gpu1", 0.1, "fields", "power,energy", NULL);
	assert_int_equal(source_open("rocm_smi", &o, &s, NULL), 0);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.dev[0].id, "gpu1");
	assert_string_equal(names_of(&s, 0, &b), "power energy");
	assert_true(source_value(&s, 0, "power") == 689);
	source_close(&s);
	o.device = "9";
	assert_int_equal(source_open("rocm_smi", &o, &s, &err), -ENODEV);
	assert_string_equal(err.msg, "there is no device 9: 2 found");
	options_release(&o);
	sampler_options(&o, "all", 0.1, "timeout_s", "soon", NULL);
	assert_int_equal(source_open("rocm_smi", &o, &s, &err), -EINVAL);
	options_release(&o);
}

/* What the library prints reaches neither us nor the terminal. */
GPU_TEST(rsmi_garbage)
{
	struct opened s;
	struct caught c;
	char text[8192];
	int out[2], saved;

	if (!have_child())
		skip();
	drm_exists();
	setenv("FAKE_RSMI_MODE", "garbage", 1);
	fflush(stdout);
	assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
	saved = dup(1);
	dup2(out[1], 1);
	c = catch_stderr();
	assert_int_equal(source_open("rocm_smi", NULL, &s, NULL), 0);
	assert_true(source_value(&s, 0, "power") == 305.25);
	assert_true(source_value(&s, 1, "busy") == 99);
	source_close(&s);
	assert_string_equal(caught_next(&c, text), "");
	caught_end(&c);
	dup2(saved, 1);
	close(saved);
	close(out[1]);
	assert_int_equal(read(out[0], text, sizeof(text)), 0);
	close(out[0]);
}

GPU_TEST(rsmi_open_failures)
{
	static const struct {
		const char *mode, *timeout_s, *words;
	} rows[] = {
		{ "abort", "200", "its process ended by SIGABRT" },
		{ "init_fail", "200", "rsmi_init: fake: cannot initialise" },
		{ "none", "200", "none of 0 devices" },
		{ "hang", "0.3", "librocm_smi64 did not start in 0.3 s" },
	};
	int64_t t = clock_monotonic_ns();

	if (!have_child())
		skip();
	drm_exists();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(options_release) struct sampler_opts o;
		struct opened s;
		struct err err = ERR_INIT;

		sampler_options(&o, "all", 0.1, "timeout_s", rows[i].timeout_s, NULL);
		setenv("FAKE_RSMI_MODE", rows[i].mode, 1);
		if (source_open("rocm_smi", &o, &s, &err) >= 0 || !strstr(err.msg, rows[i].words))
			ROW_FAIL(i, "%s", err.msg);
	}
	assert_true(clock_monotonic_ns() - t < 100 * NS_PER_S);
	/* no child is left, not even a dead one */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static bool has_ended(const char *path)
{
	struct samples_file f;
	bool ended;

	samples_read(path, &f);
	ended = samples_header(&f, "error") != NULL;
	samples_release(&f);
	return ended;
}

/*
 * The library goes wrong while the loop runs: the sampling ends with words, the program does not
 * (SIGPIPE has its default here).
 */
GPU_TEST(rsmi_later_failures)
{
	static const struct {
		const char *mode, *timeout_s, *words;
	} rows[] = {
		{ "abort_later", "60", "gpu0: its process ended by SIGABRT" },
		{ "die_later", "60", "gpu0: its process ended with status 3" },
		{ "hang_later", "2", "gpu0: librocm_smi64 hangs" },
	};

	if (!have_child())
		skip();
	drm_exists();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *path = fs_join(root, "rsmi.csv");
		struct sampling_opts o = { .sampler = sampler_find("rocm_smi"), .path = path };
		struct sampling *sp;
		struct sampling_stats st;

		setenv("FAKE_RSMI_MODE", rows[i].mode, 1);
		sampler_options(&o.source, "0", 0.01, "timeout_s", rows[i].timeout_s, NULL);
		assert_int_equal(sampling_open(&o, &sp, NULL), 0);
		assert_int_equal(sampling_start(sp, NULL), 0);
		WAIT_UNTIL(has_ended(path));
		sampling_stop(sp, &st);
		sampling_free(sp);
		if (strcmp(st.error_text, rows[i].words) != 0 || st.rows != 2)
			ROW_FAIL(i, "%s, %d rows", st.error_text, (int)st.rows);
		CLEANUP(samples_release) struct samples_file f = samples_of(path);
		assert_int_equal(f.t_ns.nr, 2);
		assert_true(samples_cell(&f, 1, samples_column(&f, "power.gpu0[W]")) == 305.25);
		options_release(&o.source);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* A single call that fails is a hole, not an end. */
GPU_TEST(rsmi_failing_call)
{
	double v[SAMPLER_MAX_SERIES];

	if (!have_child())
		skip();
	drm_exists();
	setenv("FAKE_RSMI_MODE", "fail_later", 1);
	CLEANUP(source_close) struct opened s = source_opened("rocm_smi", NULL);
	for (int i = 0; i < 4; i++)
		source_read(&s, 0, v);
	assert_true(isnan(v[0]));
	assert_string_equal(s.reason, "librocm_smi64 gave no value");
	assert_true(v[2] == 1 * GIB);
}

/* Debian's own library, on a machine without a GPU: an error, and not a word on stderr. */
GPU_TEST(rsmi_real_library)
{
	struct opened s;
	struct err err = ERR_INIT;
	struct caught c;
	char text[8192];
	int r;

	if (!have_child())
		skip();
	unsetenv("PROFRIG_RSMI_LIB");
	if (fs_is_dir("/sys/class/drm") || fs_is_dir("/sys/class/kfd")) {
		print_message("this machine has a GPU driver\n");
		skip();
	}
	/* without PROFRIG_SYSFS_ROOT the library is not even loaded */
	unsetenv("PROFRIG_SYSFS_ROOT");
	assert_int_equal(source_open("rocm_smi", NULL, &s, &err), -ENODEV);
	assert_string_equal(err.msg, "no /sys/class/drm: no GPU driver is loaded");
	setenv("PROFRIG_SYSFS_ROOT", root, 1);
	drm_exists();
	c = catch_stderr();
	r = source_open("rocm_smi", NULL, &s, &err);
	assert_string_equal(caught_next(&c, text), "");
	caught_end(&c);
	assert_int_equal(r < 0, 1);
	if (r == -ENODEV && strstr(err.msg, "cannot open shared object file")) {
		print_message("librocm_smi64 is not installed\n");
		skip();
	}
	assert_has(err.msg, "rsmi_init: ");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

GPU_TEST(rsmi_missing_parts)
{
	struct opened s;
	struct err err = ERR_INIT;

	assert_int_equal(source_open("rocm_smi", NULL, &s, &err), -ENODEV);
	assert_has(err.msg, "no GPU driver is loaded");
	drm_exists();
	setenv("PROFRIG_LIB_DIR", root, 1);
	assert_int_equal(source_open("rocm_smi", NULL, &s, &err), -ENOENT);
	assert_has(err.msg, "profrig-rsmi is not installed");
	if (!have_child())
		skip();
	setenv("PROFRIG_LIB_DIR", kept(build_path("")), 1);
	setenv("PROFRIG_RSMI_LIB", "/nonexistent/librocm_smi64.so", 1);
	assert_int_equal(source_open("rocm_smi", NULL, &s, &err), -ENODEV);
	assert_has(err.msg, "/nonexistent/librocm_smi64.so");
	/* a program that is not the child says other things, or nothing */
	machine_write(in_dir(root, "profrig-rsmi"), "#!/bin/sh\necho hello there\nread x\n", 33);
	chmod(in_dir(root, "profrig-rsmi"), 0755);
	setenv("PROFRIG_LIB_DIR", root, 1);
	assert_int_equal(source_open("rocm_smi", NULL, &s, &err), -EPROTO);
	assert_string_equal(err.msg, "profrig-rsmi said 'hello'");
}
