/*
 * nvml against every error its library has words for, at open and later; libraries of old drivers;
 * instances; and the facts of a GPU at the start.
 */
#include "sampler_gpu_test.h"

#include <dlfcn.h>

/* nvmlReturn_t, as far as it was given out; 3 is not supported. */
static const int codes[] = { 1,  2,  4,  5,  6,  7,  8,  9,  10, 11, 12,
			     13, 14, 15, 16, 17, 18, 19, 20, 21, 999 };

/* What each call gives. */
static const struct {
	const char *call, *series[2];
} calls[] = {
	{ "nvmlDeviceGetPowerUsage", { "power", NULL } },
	{ "nvmlDeviceGetFieldValues", { "power_instant", NULL } },
	{ "nvmlDeviceGetTotalEnergyConsumption", { "energy", NULL } },
	{ "nvmlDeviceGetMemoryInfo", { "vram_used", "vram_total" } },
	{ "nvmlDeviceGetUtilizationRates", { "busy", "mem_busy" } },
	{ "nvmlDeviceGetTemperature", { "temperature", NULL } },
	{ "nvmlDeviceGetClockInfo", { "clock", "mem_clock" } },
};

static void *library;
static void (*fail_call)(const char *, int);
static const char *(*error_string)(int);

static int load_library(void **state)
{
	set_up(state);
	library = dlopen(kept(build_path("tests/fakes/fake_nvml.so")), RTLD_NOW);
	assert_non_null(library);
	*(void **)&fail_call = dlsym(library, "fake_nvml_fail");
	*(void **)&error_string = dlsym(library, "nvmlErrorString");
	assert_true(fail_call && error_string);
	return 0;
}

static int unload_library(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		fail_call(calls[i].call, 0);
	dlclose(library);
	return tear_down(state);
}

#define LIB_TEST(f) TEST_WITH(f, load_library, unload_library)

/* A call that fails while the source is opened has no series, whatever the code. */
LIB_TEST(errors_at_open)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		for (size_t k = 0; k < ARRAY_LEN(codes); k++) {
			struct opened s;

			fail_call(calls[i].call, codes[k]);
			assert_int_equal(source_open("nvml", NULL, &s, NULL), 0);
			for (int j = 0; j < 2 && calls[i].series[j]; j++)
				if (series_index(&s, 0, calls[i].series[j]) >= 0)
					ROW_FAIL(i, "code %d: series %s is there", codes[k],
						 calls[i].series[j]);
			assert_true(source_value(&s, 0, i ? "power" : "busy") > 0);
			source_close(&s);
			fail_call(calls[i].call, 0);
		}
}

/* One that fails later is NaN with the library's words; the others are there. */
LIB_TEST(errors_later)
{
	double v[SAMPLER_MAX_SERIES];

	CLEANUP(source_close) struct opened s = source_opened("nvml", NULL);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		for (size_t k = 0; k < ARRAY_LEN(codes); k++) {
			size_t failed = 0;

			fail_call(calls[i].call, codes[k]);
			source_read(&s, 0, v);
			for (size_t n = 0; n < s.dev[0].nr; n++)
				failed += isnan(v[n]);
			if (failed != (calls[i].series[1] ? 2 : 1) ||
			    !isnan(v[series_index(&s, 0, calls[i].series[0])]) ||
			    strcmp(s.reason, error_string(codes[k])) != 0)
				ROW_FAIL(i, "code %d: %zu failed, '%s'", codes[k], failed,
					 s.reason ? s.reason : "");
			fail_call(calls[i].call, 0);
			source_read(&s, 0, v);
			for (size_t n = 0; n < s.dev[0].nr; n++)
				assert_false(isnan(v[n]));
		}
}

/* Everything fails from one moment on, and comes back: counted in a sampling, by its words. */
LIB_TEST(lost_and_found)
{
	CLEANUP(xfreep) char *path = fs_join(root, "n.csv");
	struct sampling_opts o = { .sampler = sampler_find("nvml"),
				   .source.period_s = 0.002,
				   .source.device = "0",
				   .path = path };
	struct sampling_summary sum;
	CLEANUP(sampling_stats_release) struct sampling_stats st;
	struct sampling *sp;
	uint64_t before;

	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	assert_int_equal(sampling_start(sp, NULL), 0);
	WAIT_UNTIL((sampling_summary(sp, 0, 0, &sum), sum.samples > 5));
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		fail_call(calls[i].call, 15);
	WAIT_UNTIL((sampling_summary(sp, 0, 9, &sum), sum.failed > 5));
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		fail_call(calls[i].call, 0);
	sampling_summary(sp, 0, 9, &sum);
	before = sum.samples;
	WAIT_UNTIL((sampling_summary(sp, 0, 9, &sum), sum.samples > before + 5));
	sampling_stop(sp, &st);
	sampling_free(sp);
	assert_int_equal(st.error, 0);
	assert_true(st.failed >= 10 * 5);
	assert_int_equal(st.reasons.nr, 1);
	assert_string_equal(st.reasons.v[0].text, "GPU is lost");
}

/* --- old drivers --- */

GPU_TEST(old_library)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct sampler_facts f = { 0 };

	setenv("PROFRIG_NVML_LIB", kept(build_path("tests/fakes/fake_nvml_old.so")), 1);
	setenv("FAKE_NVML_USERS", "1234", 1);
	CLEANUP(source_close) struct opened s = source_opened("nvml", NULL);
	assert_string_equal(names_of(&s, 0, &b),
			    "power energy vram_used vram_total busy mem_busy temperature clock "
			    "mem_clock");
	assert_true(source_value(&s, 0, "power") == 200.25);
	s.s->facts(s.st, 0, &f);
	assert_null(sampler_fact(&f, "mig"));
	assert_non_null(sampler_fact(&f, "power_cap_w"));
	assert_int_equal(f.users, 0);
}

/* A library without what everything rests on. */
GPU_TEST(no_such_library)
{
	struct opened s;
	struct err err = ERR_INIT;

	setenv("PROFRIG_NVML_LIB", kept(build_path("tests/fakes/fake_rsmi.so")), 1);
	assert_true(source_open("nvml", NULL, &s, &err) < 0);
	assert_has(err.msg, "nvmlInit_v2");
}

/* --- instances --- */

/* Of a GPU that is cut into instances, the whole has power and memory but no utilisation. */
GPU_TEST(instances)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct sampler_facts f = { 0 };

	setenv("FAKE_NVML_MIG", "1", 1);
	CLEANUP(source_close) struct opened s = source_opened("nvml", NULL);
	assert_string_equal(names_of(&s, 0, &b), "power power_instant energy vram_used vram_total "
						 "temperature clock mem_clock");
	s.s->facts(s.st, 0, &f);
	assert_string_equal(sampler_fact(&f, "mig")->text, "on");
}

/* --- facts --- */

GPU_TEST(facts)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(xfreep) char *shared = NULL, *capped = NULL;
	struct sampler_facts f = { 0 };

	setenv("FAKE_NVML_CAP_MW", "350000", 1);
	setenv("FAKE_NVML_USERS", textf("%d,99", (int)getpid()), 1);
	CLEANUP(source_close) struct opened s = source_opened("nvml", NULL);
	s.s->facts(s.st, 0, &f);
	sampler_facts_text(&f, &text);
	assert_string_equal(text.buf,
			    " pci=00000000:01:00.0 driver=550.54.15 vbios=96.00.74.00.01 "
			    "uuid=GPU-0000 power_cap_w=350 power_cap_default_w=700 "
			    "power_cap_max_w=710 clock_hz=1980000000 clock_max_hz=1981000000 "
			    "mem_clock_hz=2619000000 mem_clock_max_hz=2620000000 "
			    "temperature_degc=64 ecc=on ecc_errors=3 mig=off performance_level=P0 "
			    "other_processes=2");
	/* in both lists, and counted once with what it holds most */
	assert_int_equal(f.users, 2);
	assert_int_equal(f.user[0].pid, getpid());
	assert_true(f.user[0].vram_bytes == 2 * GIB);
	assert_true(strlen(f.user[0].name) > 3);
	assert_true(isnan(f.user[1].vram_bytes));
	sampler_facts_judge(&f, "gpu0", &shared, &capped);
	assert_has(shared, "2 other processes");
	assert_has(capped, "350 W at most, its default is 700 W");
	/* the other GPU has less to tell, and no process on it */
	f = (struct sampler_facts){ 0 };
	s.s->facts(s.st, 1, &f);
	strbuf_clear(&text);
	sampler_facts_text(&f, &text);
	assert_string_equal(text.buf,
			    " pci=00000000:41:00.0 driver=550.54.15 vbios=90.04.84.00.01 "
			    "uuid=GPU-1111 power_cap_w=70 power_cap_default_w=70 "
			    "power_cap_max_w=70 clock_hz=1980000000 clock_max_hz=1981000000 "
			    "mem_clock_hz=2619000000 mem_clock_max_hz=2620000000 "
			    "performance_level=P8 other_processes=0");
}

/* Each fact's call may fail by itself. */
LIB_TEST(facts_that_fail)
{
	static const char *const rows[][2] = {
		{ "nvmlDeviceGetVbiosVersion", "vbios" },
		{ "nvmlDeviceGetPowerManagementLimit", "power_cap_w" },
		{ "nvmlDeviceGetPowerManagementDefaultLimit", "power_cap_default_w" },
		{ "nvmlDeviceGetPowerManagementLimitConstraints", "power_cap_max_w" },
		{ "nvmlDeviceGetMaxClockInfo", "clock_max_hz" },
		{ "nvmlDeviceGetEccMode", "ecc" },
		{ "nvmlDeviceGetTotalEccErrors", "ecc_errors" },
		{ "nvmlDeviceGetMigMode", "mig" },
		{ "nvmlDeviceGetPerformanceState", "performance_level" },
		{ "nvmlDeviceGetPciInfo_v3", "pci" },
		{ "nvmlDeviceGetUUID", "uuid" },
		{ "nvmlSystemGetDriverVersion", "driver" },
	};

	CLEANUP(source_close) struct opened s = source_opened("nvml", NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sampler_facts f = { 0 };

		fail_call(rows[i][0], 4);
		s.s->facts(s.st, 0, &f);
		fail_call(rows[i][0], 0);
		if (sampler_fact(&f, rows[i][1]) || f.nr < 14)
			ROW_FAIL(i, "%s: %zu facts", rows[i][1], f.nr);
	}
}
