/*
 * Facts about a GPU, other than readings, in the AMD driver's files:
 *
 *	vbios_version unique_id current_compute_partition current_memory_partition
 *	power_dpm_force_performance_level	words
 *	pp_dpm_sclk, pp_dpm_mclk		"1: 1700Mhz *" a line for each level, slowest first
 *	ras/umc_err_count		"ue: 0\nce: 3": memory errors, uncorrected first
 *	hwmon/hwmon<M>/power1_cap, power1_cap_default, power1_cap_max	µW
 *	hwmon/hwmon<M>/freq1_input, freq2_input (memory) Hz, temp2_input or temp1_input m°C
 *	/sys/module/amdgpu/version		of a driver that does not come with the kernel
 */
#include "samplers_private.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static void text_fact(struct sampler_facts *f, const char *dir, const char *file, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, file);
	char text[64];

	if (sampler_read_text(path, text, sizeof(text)) > 0)
		sampler_fact_text(f, name, text);
}

static void number_fact(struct sampler_facts *f, const char *dir, const char *file,
			const char *name, double scale)
{
	CLEANUP(xfreep) char *path = fs_join(dir, file);
	double v;

	if (!sampler_fact(f, name) && sampler_read_number(path, &v) == 0)
		sampler_fact_number(f, name, v * scale);
}

/* The fastest level is the last one. */
static void clock_fact(struct sampler_facts *f, const char *dir, const char *file, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, file);
	char text[1024];
	const char *last;
	double mhz;

	if (sampler_read_text(path, text, sizeof(text)) <= 0)
		return;
	last = strrchr(text, '\n');
	last = strstr(last ? last : text, ": ");
	if (last && num_f64(last + 2, strspn(last + 2, "0123456789."), &mhz) == 0)
		sampler_fact_number(f, name, mhz * 1e6);
}

static void ecc_fact(struct sampler_facts *f, const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "ras/umc_err_count");
	char text[64];
	double errors;

	if (sampler_read_text(path, text, sizeof(text)) > 0 && strncmp(text, "ue: ", 4) == 0 &&
	    num_f64(text + 4, strspn(text + 4, "0123456789"), &errors) == 0)
		sampler_fact_number(f, "ecc_errors", errors);
}

static void driver_fact(struct sampler_facts *f)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/sys/module/amdgpu/version", sampler_root());
	char version[48], words[64];
	struct utsname un;

	if (sampler_read_text(path, version, sizeof(version)) > 0)
		snprintf(words, sizeof(words), "amdgpu %s", version);
	else if (uname(&un) == 0)
		snprintf(words, sizeof(words), "amdgpu of Linux %.40s", un.release);
	else
		return;
	sampler_fact_text(f, "driver", words);
}

static void hwmon_facts(struct sampler_facts *f, const char *dir)
{
	CLEANUP(xfreep) char *base = fs_join(dir, "hwmon");
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;

	fs_list(base, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++) {
		CLEANUP(xfreep) char *hw = fs_join(base, entries.v[i]);

		number_fact(f, hw, "power1_cap", "power_cap_w", 1e-6);
		number_fact(f, hw, "power1_cap_default", "power_cap_default_w", 1e-6);
		number_fact(f, hw, "power1_cap_max", "power_cap_max_w", 1e-6);
		number_fact(f, hw, "freq1_input", "clock_hz", 1);
		number_fact(f, hw, "freq2_input", "mem_clock_hz", 1);
		number_fact(f, hw, "temp2_input", "temperature_degc", 1e-3);
		number_fact(f, hw, "temp1_input", "temperature_degc", 1e-3);
	}
}

void amdgpu_facts(const char *dir, const char *pci, struct sampler_facts *ret)
{
	sampler_fact_text(ret, "pci", pci);
	driver_fact(ret);
	text_fact(ret, dir, "vbios_version", "vbios");
	text_fact(ret, dir, "unique_id", "uuid");
	hwmon_facts(ret, dir);
	clock_fact(ret, dir, "pp_dpm_sclk", "clock_max_hz");
	clock_fact(ret, dir, "pp_dpm_mclk", "mem_clock_max_hz");
	ecc_fact(ret, dir);
	text_fact(ret, dir, "current_compute_partition", "compute_partition");
	text_fact(ret, dir, "current_memory_partition", "memory_partition");
	text_fact(ret, dir, "power_dpm_force_performance_level", "performance_level");
	sampler_drm_users(pci, ret);
}
