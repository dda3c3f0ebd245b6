/* Which GPUs a machine has: trees as the kernel's drivers show them, one of each kind. */
#include "test.h"

#include <sys/stat.h>

#include "profrig/devices/devices.h"

#define NODES "sys/class/kfd/kfd/topology/nodes/"

static void put_node(const char *root, int node, const char *gpu_id, const char *properties)
{
	test_put(root, textf(NODES "%d/gpu_id", node), gpu_id);
	test_put(root, textf(NODES "%d/properties", node), properties);
}

/* Two CPUs, an MI300X, an MI250X of ROCm's names "gfx90a", in the order 2, 10. */
static void amd_machine(const char *root)
{
	put_node(root, 0, "0\n", "cpu_cores_count 64\nsimd_count 0\n");
	put_node(root, 1, "0\n", "cpu_cores_count 64\nsimd_count 0\n");
	put_node(root, 10, "21947\n",
		 "cpu_cores_count 0\nsimd_count 440\ngfx_target_version 90010\nvendor_id 4098\n"
		 "location_id 50432\ndomain 1\ndrm_render_minor 129\nunique_id 0\n");
	put_node(root, 2, "28851\n",
		 "cpu_cores_count 0\nsimd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\n"
		 "vendor_id 4098\ndevice_id 29857\nlocation_id 49664\ndomain 0\n"
		 "drm_render_minor 136\nunique_id 11154838521263123456\n");
	test_put(root, NODES "2/mem_banks/0/properties",
		 "heap_type 1\nsize_in_bytes 206141652992\nflags 0\n");
	test_put(root, NODES "10/mem_banks/0/properties", "heap_type 2\nsize_in_bytes 1000\n");
	test_put(root, NODES "10/mem_banks/1/properties", "heap_type 1\nsize_in_bytes 24\n");
	test_put(root, NODES "10/mem_banks/2/properties", "heap_type 4\nsize_in_bytes 500\n");
	test_put(root, "sys/class/drm/renderD136/device/device", "0x74a1\n");
	test_put(root, "sys/class/drm/renderD136/device/revision", "0x00\n");
	test_put(root, "sys/class/drm/renderD129/device/product_name", "AMD INSTINCT MI250X\n");
	test_put(root, "usr/share/libdrm/amdgpu.ids",
		 "# ids\n1.0.0\n74A0,\t00,\tAMD Instinct MI300A\n74A1,\t01,\tno\n"
		 "74A1,\t00,\tAMD Instinct MI300X OAM\n");
	test_put(root, "dev/kfd", "");
	test_put(root, "opt/rocm/.info/version", "6.4.1-83\n");
}

static void nvidia_machine(const char *root)
{
	test_put(root, "proc/driver/nvidia/gpus/0000:c1:00.0/information",
		 "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 300\n"
		 "GPU UUID: \t GPU-22222222-0000-0000-0000-000000000000\n"
		 "Bus Location: \t 0000:c1:00.0\nDevice Minor: \t 1\nGPU Excluded:\t No\n");
	test_put(root, "proc/driver/nvidia/gpus/0000:04:00.0/information",
		 "Model: \t\t NVIDIA H100 80GB HBM3\n"
		 "GPU UUID: \t GPU-11111111-0000-0000-0000-000000000000\nDevice Minor: \t 3\n");
	test_put(root, "proc/driver/nvidia/version",
		 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 "
		 "UTC 2023\nGCC version: gcc 12.2.0\n");
	test_put(root, "dev/nvidiactl", "");
}

static const struct gpu *gpu(const struct devices *d, enum gpu_vendor v, int index)
{
	const struct gpu *g = devices_gpu(d, v, index);

	if (g)
		return g;
	fail_msg("no GPU %d", index);
	abort();
}

static void nodes_are(const struct devices *d, enum gpu_vendor v, const int *list, size_t nr,
		      const char *want)
{
	CLEANUP(strvec_release) struct strvec nodes = STRVEC_INIT;

	devices_nodes(d, v, list, nr, &nodes);
	assert_string_equal(kept(strvec_shell(&nodes)), want);
}

static void env_is(const struct devices *d, int runtime, const char *want)
{
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT;

	devices_mad_env(d, runtime, &env);
	assert_string_equal(kept(strvec_shell(&env)), want);
}

TEST_IN(test_none, root)
{
	CLEANUP(devices_release) struct devices d;
	const char *why;

	devices_find(&d, root);
	assert_int_equal(d.gpus.nr, 0);
	assert_int_equal(devices_vendor(&d), GPU_NONE);
	assert_false(devices_usable(&d, GPU_AMD, &why));
	assert_string_equal(why, "no AMD GPU in /sys/class/kfd/kfd/topology/nodes");
	assert_false(devices_usable(&d, GPU_NVIDIA, &why));
	assert_string_equal(why, "no NVIDIA GPU in /proc/driver/nvidia/gpus");
	assert_null(devices_gpu(&d, GPU_AMD, 0));
	env_is(&d, -1, "MAD_SYSTEM_NGPUS=0 MAD_RUNTIME_NGPUS=0");
}

TEST_IN(test_amd, root)
{
	static const int both[] = { 1, 0 }, second[] = { 1, 7 };
	CLEANUP(devices_release) struct devices d;

	amd_machine(root);
	devices_find(&d, root);
	assert_int_equal(d.gpus.nr, 2);
	assert_int_equal(devices_vendor(&d), GPU_AMD);
	const struct gpu *g = gpu(&d, GPU_AMD, 0);
	assert_string_equal(g->arch, "gfx942");
	assert_string_equal(g->name, "AMD Instinct MI300X OAM");
	assert_string_equal(g->pci, "0000:c2:00.0");
	assert_string_equal(g->id, "0x9acdf288c2bb6c00");
	assert_int_equal(g->render_minor, 136);
	assert_true(g->memory_bytes == INT64_C(206141652992));
	g = gpu(&d, GPU_AMD, 1);
	assert_string_equal(g->arch, "gfx90a");
	assert_string_equal(g->name, "AMD INSTINCT MI250X");
	assert_string_equal(g->pci, "0001:c5:00.0");
	assert_string_equal(g->id, "");
	assert_int_equal(g->memory_bytes, 1024);
	nodes_are(&d, GPU_AMD, both, 2, "/dev/kfd /dev/dri/renderD129 /dev/dri/renderD136");
	nodes_are(&d, GPU_AMD, second, 2, "/dev/kfd /dev/dri/renderD129");
	nodes_are(&d, GPU_AMD, NULL, 0, "/dev/kfd /dev/dri/renderD136 /dev/dri/renderD129");
	env_is(&d, 1,
	       "MAD_SYSTEM_NGPUS=2 MAD_RUNTIME_NGPUS=1 MAD_GPU_VENDOR=AMD "
	       "MAD_SYSTEM_GPU_ARCHITECTURE=gfx942 "
	       "'MAD_SYSTEM_GPU_PRODUCT_NAME=AMD Instinct MI300X OAM' "
	       "MAD_SYSTEM_HIP_VERSION=6.4.1-83");
}

TEST(test_amd_not_ours)
{
	CLEANUP(test_dir_done) char *root = test_dir();
	struct devices d;
	const char *why;

	amd_machine(root);
	unlink(in_dir(root, "dev/kfd"));
	devices_find(&d, root);
	assert_int_equal(d.gpus.nr, 2);
	assert_false(devices_usable(&d, GPU_AMD, &why));
	assert_string_equal(why, "/dev/kfd is not there: is the driver amdgpu loaded?");
	assert_int_equal(devices_vendor(&d), GPU_NONE);
	devices_release(&d);
	/* Nodes whose files may not be read, as in a container with other devices. */
	CLEANUP(test_dir_done) char *other = test_dir();
	test_put(other, NODES "1/name", "");
	devices_find(&d, other);
	assert_int_equal(d.gpus.nr, 0);
	devices_usable(&d, GPU_AMD, &why);
	assert_has(why, "may not be used by this user or container");
	devices_release(&d);
}

TEST_IN(test_nvidia, root)
{
	static const int second[] = { 1 };
	CLEANUP(devices_release) struct devices d;

	nvidia_machine(root);
	devices_find(&d, root);
	assert_int_equal(d.gpus.nr, 2);
	assert_int_equal(devices_vendor(&d), GPU_NVIDIA);
	assert_string_equal(d.driver, "535.104.05");
	const struct gpu *g = gpu(&d, GPU_NVIDIA, 0);
	assert_string_equal(g->name, "NVIDIA H100 80GB HBM3");
	assert_string_equal(g->pci, "0000:04:00.0");
	assert_string_equal(g->id, "GPU-11111111-0000-0000-0000-000000000000");
	nodes_are(&d, GPU_NVIDIA, second, 1, "/dev/nvidiactl /dev/nvidia-uvm /dev/nvidia1");
	nodes_are(&d, GPU_NVIDIA, NULL, 0,
		  "/dev/nvidiactl /dev/nvidia-uvm /dev/nvidia3 /dev/nvidia1");
	env_is(&d, -1,
	       "MAD_SYSTEM_NGPUS=2 MAD_RUNTIME_NGPUS=2 MAD_GPU_VENDOR=NVIDIA "
	       "'MAD_SYSTEM_GPU_ARCHITECTURE=NVIDIA H100 80GB HBM3' "
	       "'MAD_SYSTEM_GPU_PRODUCT_NAME=NVIDIA H100 80GB HBM3' "
	       "MAD_SYSTEM_HIP_VERSION=535.104.05");
}

/* No folder in /proc, as under WSL: the library is asked. */
TEST_IN(test_nvidia_by_library, root)
{
	CLEANUP(xfreep) char *path = build_path("tests/fakes/fake_nvml.so");
	struct devices d;

	setenv("PROFRIG_NVML_LIB", path, 1);
	devices_find(&d, root);
	assert_int_equal(d.gpus.nr, 0); /* nothing says that there is one: it is not even loaded */
	devices_release(&d);
	test_put(root, "dev/nvidiactl", "");
	devices_find(&d, root);
	assert_int_equal(devices_count(&d, GPU_NVIDIA), 2);
	assert_true(gpu(&d, GPU_NVIDIA, 0)->memory_bytes > 0);
	assert_true(*gpu(&d, GPU_NVIDIA, 0)->id && *d.driver);
	assert_true(devices_usable(&d, GPU_NVIDIA, NULL));
	devices_release(&d);
	setenv("FAKE_NVML_INIT", "9", 1);
	devices_find(&d, root);
	assert_int_equal(d.gpus.nr, 0);
	devices_release(&d);
	unsetenv("FAKE_NVML_INIT");
	unsetenv("PROFRIG_NVML_LIB");
}

TEST_IN(test_both, root)
{
	CLEANUP(devices_release) struct devices d;

	amd_machine(root);
	nvidia_machine(root);
	devices_find(&d, root);
	assert_int_equal(d.gpus.nr, 4);
	assert_int_equal(devices_vendor(&d), GPU_AMD);
	assert_int_equal(gpu(&d, GPU_NVIDIA, 1)->render_minor, 1);
}

/* Files that lie or are torn: no GPU is made up, and nothing breaks. */
TEST_IN(test_hostile, root)
{
	CLEANUP(devices_release) struct devices d;

	put_node(root, 1, "77\n",
		 "simd_count 4\ngfx_target_version 99999999999999\ndrm_render_minor -5\n"
		 "unique_id x\nlocation_id 18446744073709551615\n");
	put_node(root, 2, "78", "");
	test_put(root, NODES "1/mem_banks/0/properties",
		 "heap_type 1\nsize_in_bytes 9223372036854775807\n");
	test_put(root, NODES "1/mem_banks/1/properties",
		 "heap_type 1\nsize_in_bytes 9223372036854775807\n");
	test_put(root, "proc/driver/nvidia/gpus/x/information", "Model:\nDevice Minor: 9999999\n");
	test_put(root, "proc/driver/nvidia/version", "what");
	devices_find(&d, root);
	const struct gpu *g = gpu(&d, GPU_AMD, 0);
	assert_string_equal(g->arch, "");
	assert_string_equal(g->pci, "");
	assert_string_equal(g->id, "");
	assert_string_equal(g->name, "AMD GPU");
	assert_int_equal(g->render_minor, -1);
	assert_int_equal(gpu(&d, GPU_NVIDIA, 0)->render_minor, -1);
	assert_string_equal(d.driver, "");
}

TEST(test_words)
{
	assert_int_equal(gpu_vendor_of("amd"), GPU_AMD);
	assert_int_equal(gpu_vendor_of("nvidia"), GPU_NVIDIA);
	assert_int_equal(gpu_vendor_of("any"), GPU_NONE);
	assert_int_equal(gpu_vendor_of(NULL), GPU_NONE);
	assert_string_equal(gpu_vendor_name(GPU_NVIDIA), "nvidia");
}
