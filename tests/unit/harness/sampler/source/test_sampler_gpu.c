/*
 * amdgpu on folders that play a machine, nvml on a stand-in library (tests/fakes), and what "auto"
 * makes of them.
 */
#include "sampler_gpu_test.h"

#include <dlfcn.h>

/* --- amdgpu --- */

static const struct gm_values busy = { .power_w = 305,
				       .busy = 87,
				       .mem_busy = 41,
				       .hotspot = 66,
				       .energy = UINT64_C(65536) * 1234567 + 32768 };

/* Every revision the table knows, with no text file beside it: all comes from the blob. */
GPU_TEST(amdgpu_revisions)
{
	for (unsigned content = 0; content <= 8; content++) {
		CLEANUP(xfreep) char *pci = xasprintf("0000:%02x:00.0", 0x10 + content);
		CLEANUP(xfreep) char *dir = machine_card(root, content, pci, "0x1002\n");

		machine_card_metrics(dir, 1, content, &busy);
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	CLEANUP(source_close) struct opened s = source_opened("amdgpu", NULL);
	assert_int_equal(s.nr, 9);
	for (size_t d = 0; d < 9; d++) {
		assert_has(s.dev[d].facts, textf("gpu_metrics 1.%zu", d));
		/* 1.0 counts energy in a unit that is not stated */
		assert_string_equal(names_of(&s, d, &b),
				    d == 0 ? "power busy mem_busy temperature"
					   : "power energy busy mem_busy temperature");
		assert_true(source_value(&s, d, "power") == 305);
		assert_true(source_value(&s, d, "busy") == 87);
		assert_true(source_value(&s, d, "mem_busy") == 41);
		assert_true(source_value(&s, d, "temperature") == 66);
		if (d > 0)
			assert_true(source_value(&s, d, "energy") == 1234567.5);
	}
}

static char *full_card(unsigned card, const char *pci, unsigned content)
{
	char *dir = machine_card(root, card, pci, "0x1002\n");

	machine_card_metrics(dir, 1, content, &busy);
	machine_text(dir, "250000000\n", "hwmon/hwmon5/power1_average");
	machine_text(dir, "260500000\n", "hwmon/hwmon5/power1_input");
	machine_text(dir, "41000\n", "hwmon/hwmon5/temp1_input");
	machine_text(dir, "47500\n", "hwmon/hwmon5/temp2_input");
	machine_text(dir, "1700000000\n", "hwmon/hwmon5/freq1_input");
	machine_text(dir, "34359738368\n", "mem_info_vram_used");
	machine_text(dir, "68719476736\n", "mem_info_vram_total");
	machine_text(dir, "55\n", "gpu_busy_percent");
	machine_text(dir, "33\n", "mem_busy_percent");
	machine_text(dir, "AMD Instinct MI250X\n", "product_name");
	return dir;
}

GPU_TEST(amdgpu_full)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0", 3);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct opened s;

	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	assert_string_equal(names_of(&s, 0, &b), "power power_instant energy vram_used vram_total "
						 "busy mem_busy temperature clock");
	assert_string_equal(s.dev[0].facts,
			    "AMD Instinct MI250X, pci 0000:c1:00.0, gpu_metrics 1.3, energy counts "
			    "2^-16 J");
	/* what gpu_metrics has comes from there, the rest from text files */
	assert_true(source_value(&s, 0, "power") == 305);
	assert_true(source_value(&s, 0, "power_instant") == 260.5);
	assert_true(source_value(&s, 0, "temperature") == 66);
	assert_true(source_value(&s, 0, "clock") == 1.7e9);
	assert_true(source_value(&s, 0, "energy") == 1234567.5);
	assert_true(source_value(&s, 0, "vram_used") == 32 * GIB);
	assert_true(source_value(&s, 0, "vram_total") == 64 * GIB);
	assert_true(source_value(&s, 0, "busy") == 87);
	assert_true(source_value(&s, 0, "mem_busy") == 41);
	/* values move */
	machine_text(dir, "34359738369\n", "mem_info_vram_used");
	assert_true(source_value(&s, 0, "vram_used") == 32 * GIB + 1);
	struct gm_values later = busy;
	later.energy += 65536;
	machine_card_metrics(dir, 1, 3, &later);
	assert_true(source_value(&s, 0, "energy") == 1234568.5);
	source_close(&s);
	/* no gpu_metrics and only power_input: then it is the power */
	unlink(in_dir(dir, "hwmon/hwmon5/power1_average"));
	unlink(in_dir(dir, "gpu_metrics"));
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	assert_true(source_value(&s, 0, "power") == 260.5);
	assert_int_equal(series_index(&s, 0, "power_instant"), -1);
	source_close(&s);
}

GPU_TEST(amdgpu_fields)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0", 3);
	static const char *const rows[][2] = {
		{ "power,energy", "power power_instant energy" },
		{ "vram_used,vram_total", "vram_used vram_total" },
		{ "vram", "vram_used vram_total" },
		{ "energy", "energy" },
	};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		sampler_options(&o, "all", 0.1, "fields", rows[i][0], NULL);
		assert_int_equal(source_open("amdgpu", &o, &s, NULL), 0);
		assert_string_equal(names_of(&s, 0, &b), rows[i][1]);
		if (series_index(&s, 0, "energy") >= 0)
			assert_true(source_value(&s, 0, "energy") == 1234567.5);
		source_close(&s);
		options_release(&o);
	}
	sampler_options(&o, "all", 0.1, "fields", "mem_clock", NULL);
	assert_int_equal(source_open("amdgpu", &o, &s, &err), -ENODEV);
	options_release(&o);
	sampler_options(&o, "all", 0.1, "fields", "power,enrgy", NULL);
	assert_int_equal(source_open("amdgpu", &o, &s, &err), -EINVAL);
	assert_has(err.msg, "no field 'enrgy': there are power, ");
	assert_int_equal(source_open("nvml", &o, &s, &err), -EINVAL);
	drm_exists();
	assert_int_equal(source_open("rocm_smi", &o, &s, &err), -EINVAL);
	options_release(&o);
}

/*
 * Not numbered by card: the one with the lower address comes first. What is no AMD GPU is passed
 * over.
 */
GPU_TEST(amdgpu_order_and_selection)
{
	CLEANUP(xfreep) char *a = full_card(0, "0000:43:00.0", 3);
	CLEANUP(xfreep) char *b = full_card(1, "0000:03:00.0", 4);
	CLEANUP(xfreep) char *intel = machine_card(root, 2, "0000:00:02.0", "0x8086\n");
	CLEANUP(xfreep) char *bare = machine_card(root, 3, "0000:01:00.0", "0x1002\n");
	struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;

	fs_mkdirs(in_dir(root, "sys/class/drm/card0-DP-1"), 0755, NULL);
	fs_mkdirs(in_dir(root, "sys/class/drm/renderD128"), 0755, NULL);
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	/* gpu0 is the one that gives nothing */
	assert_int_equal(s.nr, 2);
	assert_string_equal(s.dev[0].id, "gpu1");
	assert_has(s.dev[0].facts, "pci 0000:03:00.0, gpu_metrics 1.4");
	assert_string_equal(s.dev[0].series[0].name, "power.gpu1");
	assert_string_equal(s.dev[1].id, "gpu2");
	assert_has(s.dev[1].facts, "pci 0000:43:00.0, gpu_metrics 1.3");
	source_close(&s);
	sampler_options(&o, "2", 0.1, NULL);
	assert_int_equal(source_open("amdgpu", &o, &s, NULL), 0);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.dev[0].id, "gpu2");
	source_close(&s);
	o.device = "0,7";
	assert_int_equal(source_open("amdgpu", &o, &s, &err), -ENODEV);
	assert_string_equal(err.msg, "there is no device 7: 3 found");
	o.device = "0";
	assert_int_equal(source_open("amdgpu", &o, &s, &err), -ENODEV);
	assert_string_equal(err.msg, "none of 3 AMD GPUs was selected or gives a reading");
}

GPU_TEST(amdgpu_unknown_blobs)
{
	static const struct {
		unsigned format, content;
		const char *note;
	} rows[] = {
		{ 1, 9, "gpu_metrics 1.9 is not known: energy counter not read" },
		{ 7, 7, "gpu_metrics 7.7 is not known: energy counter not read" },
		{ 2, 0, "gpu_metrics 2.0 (APU): no energy counter" },
		{ 2, 1, "gpu_metrics 2.1 (APU): no energy counter" },
		{ 2, 2, "gpu_metrics 2.2 (APU): no energy counter" },
		{ 2, 3, "gpu_metrics 2.3 (APU): no energy counter" },
		{ 2, 4, "gpu_metrics 2.4 (APU): no energy counter" },
		{ 3, 0, "gpu_metrics 3.0 (APU): no energy counter" },
	};
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0", 3);
	struct opened s;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		machine_card_metrics(dir, rows[i].format, rows[i].content, &busy);
		assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
		assert_has(s.dev[0].facts, rows[i].note);
		assert_int_equal(series_index(&s, 0, "energy"), -1);
		assert_true(source_value(&s, 0, "power") == 250);
		assert_true(source_value(&s, 0, "busy") == 55);
		source_close(&s);
	}
}

/* Blobs that are short, say nothing, or are none. */
GPU_TEST(amdgpu_hostile_blobs)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0", 3);
	struct gm_values none = { 0xffff, 0xffff, 0xffff, 0xffff, UINT64_MAX };
	struct gm_values hundredths = busy;
	unsigned char blob[4096];
	struct opened s;

	machine_metrics(blob, 1, 3, &busy);
	for (size_t n = 0; n < 32; n++) {
		machine_write(in_dir(dir, "gpu_metrics"), blob, n);
		assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
		/* the accumulator ends at byte 32 */
		assert_int_equal(series_index(&s, 0, "energy"), -1);
		source_close(&s);
	}
	machine_card_metrics(dir, 1, 3, &none);
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	assert_int_equal(series_index(&s, 0, "energy"), -1);
	source_close(&s);
	/* activity of 87.00 % in hundredths is no % */
	unlink(in_dir(dir, "gpu_busy_percent"));
	hundredths.busy = 8700;
	machine_card_metrics(dir, 1, 3, &hundredths);
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	assert_int_equal(series_index(&s, 0, "busy"), -1);
	source_close(&s);
}

GPU_TEST(amdgpu_failing_reads)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0", 3);
	static const char *const bad[] = { "", "nan\n", "inf\n", "0x10\n", "12 W\n", "-\n" };
	double v[SAMPLER_MAX_SERIES];
	int used, energy, power;

	CLEANUP(source_close) struct opened s = source_opened("amdgpu", NULL);
	used = series_index(&s, 0, "vram_used");
	power = series_index(&s, 0, "power");
	energy = series_index(&s, 0, "energy");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		machine_text(dir, bad[i], "mem_info_vram_used");
		source_read(&s, 0, v);
		if (!isnan(v[used]) || strcmp(s.reason, "not a number") != 0 ||
		    v[energy] != 1234567.5)
			ROW_FAIL(i, "'%s' read as %g", bad[i], v[used]);
	}
	machine_text(dir, "251\n", "mem_info_vram_used");
	assert_true(source_value(&s, 0, "vram_used") == 251);
	/* another layout all at once: the text file stands in for what it can */
	machine_card_metrics(dir, 1, 4, &busy);
	source_read(&s, 0, v);
	assert_true(isnan(v[energy]) && v[power] == 250);
	assert_string_equal(s.reason, "gpu_metrics changed its revision");
	/* half of it */
	machine_write(in_dir(dir, "gpu_metrics"), "\x78\x00\x01\x03zz", 6);
	source_read(&s, 0, v);
	assert_true(isnan(v[energy]));
	assert_string_equal(s.reason, "gpu_metrics has no value");
	machine_write(in_dir(dir, "gpu_metrics"), "", 0);
	source_read(&s, 0, v);
	assert_true(isnan(v[energy]));
}

GPU_TEST(amdgpu_absent)
{
	struct opened s;
	struct err err = ERR_INIT;

	assert_int_equal(source_open("amdgpu", NULL, &s, &err), -ENODEV);
	assert_has(err.msg, "no AMD GPU in");
	assert_int_equal(sampler_probe(sampler_find("amdgpu"), NULL, &err), -ENODEV);
}

/* --- nvml --- */

GPU_TEST(nvml_devices)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct opened s;

	assert_int_equal(source_open("nvml", NULL, &s, NULL), 0);
	assert_int_equal(s.nr, 2);
	assert_string_equal(names_of(&s, 0, &b), "power power_instant energy vram_used vram_total "
						 "busy mem_busy temperature clock mem_clock");
	assert_string_equal(names_of(&s, 1, &b), "power vram_used vram_total clock mem_clock");
	assert_string_equal(s.dev[0].facts, "NVIDIA Fake H100, pci 00000000:01:00.0, GPU-0000, "
					    "driver 550.54.15");
	assert_string_equal(s.dev[1].series[0].name, "power.gpu1");
	assert_true(source_value(&s, 0, "power") == 200.25);
	assert_true(source_value(&s, 0, "power_instant") == 310.125);
	assert_true(source_value(&s, 0, "vram_used") == 20 * GIB);
	assert_true(source_value(&s, 0, "vram_total") == 80 * GIB);
	assert_true(source_value(&s, 0, "busy") == 87);
	assert_true(source_value(&s, 0, "mem_busy") == 41);
	assert_true(source_value(&s, 0, "temperature") == 64);
	assert_true(source_value(&s, 0, "clock") == 1980e6);
	assert_true(source_value(&s, 0, "mem_clock") == 2619e6);
	assert_true(source_value(&s, 1, "power") == 75.5);
	assert_true(source_value(&s, 1, "vram_used") == 1 * GIB);
	source_close(&s);
	/* the field's value comes in either integer type */
	setenv("FAKE_NVML_ULL", "1", 1);
	assert_int_equal(source_open("nvml", NULL, &s, NULL), 0);
	assert_true(source_value(&s, 0, "power_instant") == 5000000.125);
	source_close(&s);
}

GPU_TEST(nvml_energy)
{
	CLEANUP(source_close) struct opened s = source_opened("nvml", NULL);
	assert_true(energy_rises_at(&s, 0, 200)); /* mJ are J */
}

/* What one call gives for two series is asked once. */
GPU_TEST(nvml_calls)
{
	void *h = dlopen(getenv("PROFRIG_NVML_LIB"), RTLD_NOW | RTLD_LOCAL);
	double v[SAMPLER_MAX_SERIES];
	CLEANUP(options_release) struct sampler_opts o;
	struct opened s;
	_Atomic int *calls;

	assert_non_null(h);
	calls = dlsym(h, "fake_nvml_calls");
	assert_int_equal(source_open("nvml", NULL, &s, NULL), 0);
	*calls = 0;
	source_read(&s, 0, v);
	assert_int_equal(*calls, 8); /* ten series */
	source_close(&s);
	sampler_options(&o, "0", 0.1, "fields", "vram_used,vram_total", NULL);
	assert_int_equal(source_open("nvml", &o, &s, NULL), 0);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.dev[0].nr, 2);
	*calls = 0;
	source_read(&s, 0, v);
	assert_int_equal(*calls, 1);
	source_close(&s);
	dlclose(h);
}

GPU_TEST(nvml_failures)
{
	static const struct {
		const char *env, *value, *words;
	} rows[] = {
		{ "FAKE_NVML_INIT", "9", "Driver Not Loaded" },
		{ "FAKE_NVML_COUNT", "0", "none of 0 NVIDIA devices" },
		{ "PROFRIG_NVML_LIB", "/nonexistent/libnvidia-ml.so.1",
		  "no NVIDIA driver library" },
		{ "PROFRIG_NVML_LIB", "libm.so.6", "symbol 'nvmlInit_v2' is missing" },
	};
	struct sampler_opts o;
	struct opened s;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep)
		char *before = getenv(rows[i].env) ? xstrdup(getenv(rows[i].env)) : NULL;

		setenv(rows[i].env, rows[i].value, 1);
		if (source_open("nvml", NULL, &s, &err) >= 0 || !strstr(err.msg, rows[i].words))
			ROW_FAIL(i, "%s", err.msg);
		assert_int_equal(sampler_probe(sampler_find("nvml"), NULL, &err) < 0, 1);
		if (before)
			setenv(rows[i].env, before, 1);
		else
			unsetenv(rows[i].env);
	}
	sampler_options(&o, "5", 0.1, NULL);
	assert_int_equal(source_open("nvml", &o, &s, &err), -ENODEV);
	assert_string_equal(err.msg, "there is no device 5: 2 found");
	o.device = "1,";
	assert_int_equal(source_open("nvml", &o, &s, &err), 0);
	source_close(&s);
	o.device = "0-2";
	assert_int_equal(source_open("nvml", &o, &s, &err), -ENODEV);
	assert_string_equal(err.msg, "there is no device 2: 2 found");
	o.device = "0,x";
	assert_int_equal(source_open("nvml", &o, &s, &err), -EINVAL);
	assert_string_equal(err.msg, "device '0,x' is not all or a list as 0,2-4");
	/* a GPU that is not ours is left out, one that is broken is not */
	setenv("FAKE_NVML_HANDLE1", "4", 1);
	assert_int_equal(source_open("nvml", NULL, &s, &err), 0);
	assert_int_equal(s.nr, 1);
	source_close(&s);
	setenv("FAKE_NVML_HANDLE1", "15", 1);
	assert_int_equal(source_open("nvml", NULL, &s, &err), -ENODEV);
	assert_string_equal(err.msg, "GPU 1 of 2 does not answer: GPU is lost");
	o.device = "0";
	assert_int_equal(source_open("nvml", &o, &s, &err), 0);
	source_close(&s);
	unsetenv("FAKE_NVML_HANDLE1");
	unsetenv("PROFRIG_NVML_LIB");
	if (source_open("nvml", NULL, &s, &err) == 0) {
		source_close(&s); /* a machine that has one */
		return;
	}
	assert_has(err.msg, "libnvidia-ml.so.1");
}

GPU_TEST(nvml_lost)
{
	double v[SAMPLER_MAX_SERIES];

	setenv("FAKE_NVML_LOST_AFTER", "2", 1);
	CLEANUP(source_close) struct opened s = source_opened("nvml", NULL);
	source_read(&s, 0, v);
	assert_true(v[0] == 200.25 && !s.reason);
	source_read(&s, 0, v);
	assert_true(isnan(v[0]));
	assert_string_equal(s.reason, "GPU is lost");
	assert_true(v[3] == 20 * GIB); /* the rest is read on */
}

/* --- auto --- */

GPU_TEST(resolve)
{
	const struct sampler *s = NULL;
	struct err err = ERR_INIT;
	struct sampler_opts o;

	assert_int_equal(sampler_resolve("procfs", NULL, &s, NULL), 0);
	assert_string_equal(s->name, "procfs");
	assert_int_equal(sampler_resolve("gpu", NULL, &s, &err), -ENOENT);
	assert_string_equal(err.msg, "no sampler 'gpu'");
	setenv("FAKE_NVML_INIT", "9", 1);
	assert_int_equal(sampler_resolve("auto", NULL, &s, &err), -ENODEV);
	assert_has(err.msg, "no GPU that profrig can read: amdgpu: no AMD GPU in ",
		   "; rocm_smi: no ", "; nvml: nvmlInit: Driver Not Loaded");
	unsetenv("FAKE_NVML_INIT");
	assert_int_equal(sampler_resolve("auto", NULL, &s, &err), 0);
	assert_string_equal(s->name, "nvml");
	if (have_child()) {
		drm_exists();
		assert_int_equal(sampler_resolve("auto", NULL, &s, &err), 0);
		assert_string_equal(s->name, "rocm_smi");
	}
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0", 3);
	assert_int_equal(sampler_resolve("auto", NULL, &s, &err), 0);
	assert_string_equal(s->name, "amdgpu");
	/* the options count: there is no second AMD GPU, but a second NVIDIA one */
	setenv("PROFRIG_RSMI_LIB", "/nonexistent", 1);
	sampler_options(&o, "1", 0.1, NULL);
	assert_int_equal(sampler_resolve("auto", &o, &s, &err), 0);
	assert_string_equal(s->name, "nvml");
}
