/* sampler_gpu_test: a folder as /sys and stand-in libraries around each test of a GPU source. */
#ifndef PROFRIG_SAMPLER_GPU_TEST_H
#define PROFRIG_SAMPLER_GPU_TEST_H

#include "sampler_test.h"
#include "tests/fakes/machine.h"

#include <sys/stat.h>

#define GIB (1024.0 * 1024 * 1024)

static char *root;

static inline int set_up(void **state)
{
	CLEANUP(xfreep) char *lib = build_path(""), *nvml = build_path("tests/fakes/fake_nvml.so");
	CLEANUP(xfreep) char *rsmi = build_path("tests/fakes/fake_rsmi.so");

	(void)state;
	root = test_dir();
	setenv("PROFRIG_SYSFS_ROOT", root, 1);
	setenv("PROFRIG_LIB_DIR", lib, 1);
	setenv("PROFRIG_NVML_LIB", nvml, 1);
	setenv("PROFRIG_RSMI_LIB", rsmi, 1);
	return 0;
}

static inline int tear_down(void **state)
{
	static const char *const names[] = {
		"PROFRIG_SYSFS_ROOT",   "PROFRIG_LIB_DIR",   "PROFRIG_NVML_LIB",
		"PROFRIG_RSMI_LIB",     "FAKE_NVML_INIT",    "FAKE_NVML_COUNT",
		"FAKE_NVML_LOST_AFTER", "FAKE_NVML_SLOW_US", "FAKE_NVML_ULL",
		"FAKE_NVML_NAME",       "FAKE_NVML_HANDLE1", "FAKE_RSMI_MODE",
		"FAKE_NVML_MIG",        "FAKE_NVML_CAP_MW",  "FAKE_NVML_USERS",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unsetenv(names[i]);
	fs_remove_tree(root, NULL);
	free(root);
	return 0;
}

#define GPU_TEST(f) TEST_WITH(f, set_up, tear_down)

/* The names of a device's series, "a b c". */
static inline UNUSED const char *names_of(const struct opened *s, size_t d, struct strbuf *buf)
{
	strbuf_clear(buf);
	for (size_t i = 0; i < s->dev[d].nr; i++) {
		const char *name = s->dev[d].series[i].name;

		strbuf_addf(buf, "%s%.*s", i ? " " : "", (int)strcspn(name, "."), name);
	}
	return buf->buf;
}

static inline UNUSED bool have_child(void)
{
	CLEANUP(xfreep) char *path = build_path("profrig-rsmi");

	if (access(path, X_OK) == 0)
		return true;
	print_message("profrig-rsmi was not built (no rocm_smi.h)\n");
	return false;
}

static inline UNUSED void drm_exists(void)
{
	CLEANUP(xfreep) char *drm = fs_join(root, "sys/class/drm");

	assert_int_equal(fs_mkdirs(drm, 0755, NULL), 0);
}

#endif
