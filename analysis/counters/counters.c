#include "attribution_private.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"

/*
 * The table of known counters: first match wins, '*' matches any text, case does not matter.
 * Families of names:
 *
 *	PAPI components, often behind a recorder's prefix	A2rocm_smi:::energy_count:device=3
 *	kernel hwmon files					hwmon5:power1_input
 *	Cray PM files						craypm:accel0_energy
 *	RAPL through PAPI, powercap or perf			rapl:::PACKAGE_ENERGY:PACKAGE0
 *	profrig's own sample files				power.gpu0 with unit W
 *
 * Limits of power are far above the real power of such a package and far below that of a misread
 * counter.
 */

#define GPU_MAX_W 1500
#define CPU_MAX_W 1500
#define NODE_MAX_W 20000

#define ENERGY(name, to_j, max_w, ...) \
	{ \
		.pattern = (name), .kind = SERIES_CUMULATIVE, .quantity = QUANTITY_ENERGY, \
		.unit = "J", .scale = (to_j), .max_rate = (max_w), ##__VA_ARGS__ \
	}
#define POWER(name, to_w, max_w, ...) \
	{ \
		.pattern = (name), .kind = SERIES_GAUGE, .quantity = QUANTITY_POWER, .unit = "W", \
		.scale = (to_w), .max_rate = (max_w), ##__VA_ARGS__ \
	}
#define GAUGE(name, of, to, ...) \
	{ \
		.pattern = (name), .kind = SERIES_GAUGE, .unit = (of), .scale = (to), \
		##__VA_ARGS__ \
	}
#define COUNT(name, of, to, ...) \
	{ \
		.pattern = (name), .kind = SERIES_CUMULATIVE, .unit = (of), .scale = (to), \
		##__VA_ARGS__ \
	}

/* AMD's SMI libraries count 15.3 µJ for a step of 2^-16 J. */
#define AMD_STEP .step_raw = 15.3, .step = 0x1p-16
/* One-pole filters fitted to public recordings: of an MI250X, of an MI300A. */
#define MI250X_TAU .tau_hint_s = 1.6
#define MI300A_TAU .tau_hint_s = 0.1
/* Cray PM refreshes ten times a second however fast it is read; RAPL about every millisecond. */
#define CRAY .period_s = 0.1
#define RAPL .period_s = 0.001

const struct counter_fact counter_facts[] = {
	/* ROCm SMI: everything in micro-units. */
	ENERGY("*rocm_smi:*energy_count*", 1e-6, GPU_MAX_W, AMD_STEP),
	POWER("*rocm_smi:*power_average*", 1e-6, GPU_MAX_W, MI250X_TAU),
	POWER("*rocm_smi:*current_socket_power*", 1e-6, GPU_MAX_W, MI300A_TAU),
	GAUGE("*rocm_smi:*power_cap*", "W", 1e-6),
	GAUGE("*rocm_smi:*temp_*", "degC", 1e-3),
	GAUGE("*rocm_smi:*volt_*", "V", 1e-3),
	GAUGE("*rocm_smi:*clk_freq_*", "Hz", 1),
	GAUGE("*rocm_smi:*busy_percent*", "%", 1),
	GAUGE("*rocm_smi:*mem_usage_*", "bytes", 1),
	GAUGE("*rocm_smi:*mem_total_*", "bytes", 1),
	GAUGE("*rocm_smi:*fan_rpms*", "rpm", 1),
	COUNT("*rocm_smi:*pci_replay_counter*", "count", 1),

	/* AMD SMI: energy in µJ but power in W. */
	ENERGY("*amd_smi:*energy_consumed*", 1e-6, GPU_MAX_W, AMD_STEP),
	POWER("*amd_smi:*power_average*", 1, GPU_MAX_W, MI250X_TAU),
	POWER("*amd_smi:*current_socket_power*", 1, GPU_MAX_W, MI300A_TAU),
	POWER("*amd_smi:*average_socket_power*", 1, GPU_MAX_W),
	GAUGE("*amd_smi:*power_cap*", "", 1),
	GAUGE("*amd_smi:*_activity*", "%", 1),
	GAUGE("*amd_smi:*mem_usage_*", "bytes", 1),
	GAUGE("*amd_smi:*mem_total_*", "bytes", 1),

	/* NVML through PAPI, and DCGM's field names. */
	ENERGY("*nvml:*total_energy_consumption*", 1e-3, GPU_MAX_W),
	GAUGE("*nvml:*power_management_limit*", "W", 1e-3),
	POWER("*nvml:*:power", 1e-3, GPU_MAX_W),
	GAUGE("*nvml:*temperature*", "degC", 1),
	GAUGE("*nvml:*_clock*", "Hz", 1e6),
	GAUGE("*nvml:*_utilization*", "%", 1),
	GAUGE("*nvml:*_memory*", "bytes", 1),
	GAUGE("*nvml:*fan_speed*", "%", 1),
	ENERGY("*dcgm_fi_dev_total_energy_consumption*", 1e-3, GPU_MAX_W),
	POWER("*dcgm_fi_dev_power_usage*", 1, GPU_MAX_W),

	/* Cray PM: J and W. */
	COUNT("*craypm:*freshness*", "count", 1, CRAY),
	GAUGE("*craypm:*power_cap*", "W", 1),
	ENERGY("*craypm:accel*_energy", 1, GPU_MAX_W, CRAY),
	ENERGY("*craypm:*_energy", 1, NODE_MAX_W, CRAY),
	ENERGY("*craypm:*energy", 1, NODE_MAX_W, CRAY, .node = true),
	POWER("*craypm:accel*_power", 1, GPU_MAX_W, CRAY),
	POWER("*craypm:*_power", 1, NODE_MAX_W, CRAY),
	POWER("*craypm:*power", 1, NODE_MAX_W, CRAY, .node = true),
	GAUGE("*craypm:*temp*", "degC", 1),

	/* RAPL: PAPI's component in nJ, powercap files in µJ, perf's raw event in 2^-32 J. */
	ENERGY("*rapl:::*_energy:*", 1e-9, CPU_MAX_W, RAPL),
	ENERGY("*powercap:::energy_uj:*", 1e-6, CPU_MAX_W, RAPL),
	ENERGY("*rapl::rapl_energy_*", 0x1p-32, CPU_MAX_W, RAPL),

	/* hwmon files: power and energy in micro-units, the rest in milli-units, clocks in Hz. */
	ENERGY("*hwmon*energy*_input", 1e-6, GPU_MAX_W),
	POWER("*hwmon*power*_input", 1e-6, GPU_MAX_W),
	POWER("*hwmon*power*_average", 1e-6, GPU_MAX_W),
	GAUGE("*hwmon*power*_cap*", "W", 1e-6),
	GAUGE("*hwmon*temp*_input", "degC", 1e-3),
	GAUGE("*hwmon*in*_input", "V", 1e-3),
	GAUGE("*hwmon*curr*_input", "A", 1e-3),
	GAUGE("*hwmon*freq*_input", "Hz", 1),
	GAUGE("*hwmon*fan*_input", "rpm", 1),

	/* What adapters of programming models record. */
	GAUGE("hip memory", "bytes", 1),
	GAUGE("cuda memory", "bytes", 1),
	GAUGE("process memory usage", "bytes", 1),
	GAUGE("allocation size", "bytes", 1),
	COUNT("papi_*", "count", 1),

	/* Of accelerators whose traces tell how much work is being prepared (tef_flex_series.c). */
	GAUGE("preparing.gpu*", "", 1),

	/* profrig's own, with the unit in the file. */
	ENERGY("energy.gpu*", 0, GPU_MAX_W),
	ENERGY("energy.cpu*", 0, CPU_MAX_W),
	ENERGY("energy.pkg*", 0, CPU_MAX_W),
	POWER("power.gpu*", 0, GPU_MAX_W),
	POWER("power.cpu*", 0, CPU_MAX_W),
	POWER("power_instant.gpu*", 0, GPU_MAX_W),
	ENERGY("energy", 0, NODE_MAX_W, .node = true),
	ENERGY("energy.*", 0, NODE_MAX_W),
	POWER("power", 0, NODE_MAX_W, .node = true),
	POWER("power.*", 0, NODE_MAX_W),
	POWER("power_instant", 0, NODE_MAX_W, .node = true),
	POWER("power_instant.*", 0, NODE_MAX_W),
	GAUGE("processes", "count", 1),
	GAUGE("processes.*", "count", 1),
	{ .pattern = NULL },
};

static const struct unit {
	const char *name;
	const char *base;
	double scale;
} units[] = {
	{ "W", "W", 1 },          { "mW", "W", 1e-3 },
	{ "uW", "W", 1e-6 },      { "kW", "W", 1e3 },
	{ "J", "J", 1 },          { "mJ", "J", 1e-3 },
	{ "uJ", "J", 1e-6 },      { "kJ", "J", 1e3 },
	{ "Wh", "J", 3600 },      { "kWh", "J", 3.6e6 },
	{ "%", "%", 1 },          { "bytes", "bytes", 1 },
	{ "B", "bytes", 1 },      { "kB", "bytes", 1e3 },
	{ "KiB", "bytes", 1024 }, { "MiB", "bytes", 1 << 20 },
	{ "Hz", "Hz", 1 },        { "kHz", "Hz", 1e3 },
	{ "MHz", "Hz", 1e6 },     { "GHz", "Hz", 1e9 },
	{ "degC", "degC", 1 },    { "mdegC", "degC", 1e-3 },
	{ "V", "V", 1 },          { "mV", "V", 1e-3 },
	{ "A", "A", 1 },          { "mA", "A", 1e-3 },
	{ "rpm", "rpm", 1 },      { "count", "count", 1 },
};

bool counter_unit(const char *name, const char **ret_base, double *ret_scale)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(units[i].name, name) != 0)
			continue;
		*ret_base = units[i].base;
		*ret_scale = units[i].scale;
		return true;
	}
	return false;
}

/* Cache of unknown names: matching each of them with all rows again would take minutes. */
#define LONGEST_KNOWN 1024

const struct counter_fact *counter_fact_find(const char *name)
{
	if (strlen(name) > LONGEST_KNOWN)
		return NULL;
	for (const struct counter_fact *f = counter_facts; f->pattern; f++)
		if (counter_matches(f->pattern, name))
			return f;
	return NULL;
}

static const struct device_word {
	const char *word, *id;
} device_words[] = {
	/* names of a GPU runtime's devices, most specific first */
	{ "device", "gpu" },
	{ "gpu", "gpu" },
	{ "hip context", "gpu" },
	{ "cuda context", "gpu" },
	{ "hip", "gpu" },
	{ "cuda", "gpu" },
	/* of counters only: Cray PM's accelerator N is a whole card, which may be two devices */
	{ "accel", "accel" },
	{ "hwmon", "hwmon" },
	{ "package", "pkg" },
	{ "pkg", "pkg" },
	{ "zone", "zone" },
};

/* "word", at most two separators, up to five digits that end there: the number, or -1. */
static long number_after(const char *s, size_t word_len)
{
	const char *p = s + word_len;
	uint64_t number;
	size_t n = 0;

	for (int i = 0; i < 2 && *p && strchr(" =_:[#-", *p); i++)
		p++;
	while (n < 6 && isdigit((unsigned char)p[n]))
		n++;
	if (n == 0 || n == 6 || isalpha((unsigned char)p[n]))
		return -1;
	if (p[n] == '.' && isdigit((unsigned char)p[n + 1]))
		return -1; /* a version, not a device */
	return num_u64(p, n, &number) == 0 ? (long)number : -1;
}

static bool word_number(const char *name, const char *word, long *ret)
{
	size_t len = strlen(word);

	for (const char *s = name; (s = strcasestr(s, word)); s++) {
		if (s > name && isalnum((unsigned char)s[-1]))
			continue;
		*ret = number_after(s, len);
		if (*ret >= 0)
			return true;
	}
	return false;
}

static bool device_from(const char *name, char *buf, size_t n)
{
	long number;

	for (size_t i = 0; i < ARRAY_LEN(device_words); i++) {
		if (!word_number(name, device_words[i].word, &number))
			continue;
		int len = snprintf(buf, n, "%s%ld", device_words[i].id, number);
		return len > 0 && (size_t)len < n;
	}
	return false;
}

static void find_device(const struct model *m, const struct series *se, struct counter_info *ci)
{
	const char *device = model_str(m, se->device);

	if (*device && strlen(device) < sizeof(ci->device)) {
		snprintf(ci->device, sizeof(ci->device), "%s", device);
		return;
	}
	if (!device_from(model_str(m, se->name), ci->device, sizeof(ci->device)))
		ci->device[0] = '\0';
}

static void from_fact(struct counter_info *ci, const struct counter_fact *f, double unit_scale)
{
	ci->kind = f->kind;
	ci->quantity = f->quantity;
	ci->unit = f->unit;
	ci->scale = f->scale != 0 ? f->scale : unit_scale;
	ci->modulus = f->modulus;
	ci->max_rate = f->max_rate;
	ci->period_s = f->period_s;
	ci->tau_hint_s = f->tau_hint_s;
	ci->step_raw = f->step_raw;
	ci->step = f->step;
	ci->node = f->node;
}

bool counter_is_of_node(const struct counter_info *ci)
{
	const char *colon = strrchr(ci->device, ':'), *id = colon ? colon + 1 : ci->device;

	if (!*ci->device)
		return ci->node;
	return strncmp(id, "node", 4) == 0 && id[4 + strspn(id + 4, "0123456789")] == '\0';
}

struct counter_info counter_info(const struct model *m, series_id s)
{
	const struct series *se = &m->series.v[s];
	const struct counter_fact *f = counter_fact_find(model_str(m, se->name));
	struct counter_info ci = { .kind = SERIES_UNKNOWN, .unit = "", .scale = 1 };
	const char *base = "";
	double scale = 1;
	bool has_unit = counter_unit(model_str(m, se->unit), &base, &scale);

	find_device(m, se, &ci);
	if (f && f->scale == 0 && (!has_unit || strcmp(base, f->unit) != 0))
		f = NULL;
	if (f) {
		from_fact(&ci, f, scale);
	} else if (se->kind == SERIES_GAUGE && has_unit) {
		/* A gauge with a real unit can be shown; it is not integrated, so believing the
		 * file costs nothing. */
		ci.kind = SERIES_GAUGE;
		ci.unit = base;
		ci.scale = scale;
	}
	rules_apply(m, s, f != NULL, &ci);
	return ci;
}

bool counter_holds(const struct model *m, series_id s, const struct counter_info *ci)
{
	bool energy = ci->kind == SERIES_CUMULATIVE && ci->quantity == QUANTITY_ENERGY;

	return m->series.v[s].change_points && !energy;
}

double counter_value(const struct counter_info *ci, double raw)
{
	return ci->step_raw > 0 ? nearbyint(raw / ci->step_raw) * ci->step : raw * ci->scale;
}
