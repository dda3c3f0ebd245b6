/*
 * amdgpu at speed and when things change under it: how often files are read, what stands in for
 * what, cards that go and come back, and the facts of a card at the start.
 */
#include "sampler_gpu_test.h"

#include <signal.h>
#include <sys/wait.h>

static const struct gm_values busy = {
	.power_w = 305, .busy = 87, .mem_busy = 41, .hotspot = 66, .energy = UINT64_C(65536) * 1000
};

static char *full_card(unsigned card, const char *pci)
{
	char *dir = machine_card(root, card, pci, "0x1002\n");

	machine_card_metrics(dir, 1, 3, &busy);
	machine_text(dir, "250000000\n", "hwmon/hwmon5/power1_average");
	machine_text(dir, "47500\n", "hwmon/hwmon5/temp2_input");
	machine_text(dir, "55\n", "gpu_busy_percent");
	machine_text(dir, "33\n", "mem_busy_percent");
	machine_text(dir, "1000\n", "mem_info_vram_used");
	return dir;
}

/* Calls of read and pread that this process has made. */
static int64_t reads_made(void)
{
	char text[512];
	int64_t n = 0;
	CLEANUP(xfreep) char *data = NULL;
	size_t len;
	const char *at;

	assert_int_equal(fs_read("/proc/self/io", sizeof(text), &data, &len, NULL), 0);
	at = strstr(data, "syscr: ");
	assert_non_null(at);
	assert_int_equal(num_i64(at + 7, strcspn(at + 7, "\n"), &n), 0);
	return n;
}

/* Power, energy, busy, memory activity and temperature of eight cards: one call for each card. */
GPU_TEST(one_read_for_all)
{
	enum { CARDS = 8, ROUNDS = 50 };
	CLEANUP(options_release) struct sampler_opts o;
	double v[SAMPLER_MAX_SERIES];
	int64_t before, looking;

	for (unsigned i = 0; i < CARDS; i++) {
		CLEANUP(xfreep) char *dir = full_card(i, textf("0000:%02x:00.0", 0x10 + i));
	}
	sampler_options(&o, "all", 0.001, "fields", "power,energy,busy,mem_busy,temperature", NULL);
	CLEANUP(source_close) struct opened s = source_opened("amdgpu", &o);
	assert_int_equal(s.nr, CARDS);
	assert_int_equal(s.dev[0].nr, 5);
	looking = reads_made();
	before = reads_made();
	looking = before - looking; /* what it takes to ask */
	for (int i = 0; i < ROUNDS; i++)
		for (size_t d = 0; d < CARDS; d++) {
			source_read(&s, d, v);
			assert_true(v[0] == 305 && v[1] == 1000);
		}
	assert_int_equal(reads_made() - before - looking, ROUNDS * CARDS);
}

/* What gpu_metrics fails to say at a read, a text file does. */
GPU_TEST(text_stands_in)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0");
	struct gm_values silent = { 0xffff, 0xffff, 41, 0xffff, UINT64_MAX };
	struct gm_values hundredths = busy;
	double v[SAMPLER_MAX_SERIES];

	CLEANUP(source_close) struct opened s = source_opened("amdgpu", NULL);
	assert_true(source_value(&s, 0, "busy") == 87);
	machine_card_metrics(dir, 1, 3, &silent);
	assert_true(source_value(&s, 0, "power") == 250);
	assert_true(source_value(&s, 0, "busy") == 55);
	assert_true(source_value(&s, 0, "temperature") == 47.5);
	assert_true(source_value(&s, 0, "mem_busy") == 41);
	source_read(&s, 0, v);
	assert_true(isnan(v[series_index(&s, 0, "energy")]));
	assert_string_equal(s.reason, "gpu_metrics has no value");
	/* idle when it was opened, so it could not be known that it counts hundredths */
	hundredths.busy = 8700;
	machine_card_metrics(dir, 1, 3, &hundredths);
	assert_true(source_value(&s, 0, "busy") == 55);
}

/* Of different magnitude: then the text file, which states its unit, is right from the start. */
GPU_TEST(units_of_its_own)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0");
	struct gm_values milli = busy;

	milli.power_w = 30500;
	machine_card_metrics(dir, 1, 3, &milli);
	CLEANUP(source_close) struct opened s = source_opened("amdgpu", NULL);
	assert_true(source_value(&s, 0, "power") == 250);
	assert_true(source_value(&s, 0, "busy") == 87);
}

/* A card whose power of the moment is in gpu_metrics (1.4) and whose average is a text file. */
GPU_TEST(average_and_moment)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0");
	struct opened s;

	machine_card_metrics(dir, 1, 4, &busy);
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	assert_true(source_value(&s, 0, "power") == 250);
	assert_true(source_value(&s, 0, "power_instant") == 305);
	source_close(&s);
	unlink(in_dir(dir, "hwmon/hwmon5/power1_average"));
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	assert_true(source_value(&s, 0, "power") == 305);
	assert_int_equal(series_index(&s, 0, "power_instant"), -1);
	source_close(&s);
}

/* --- hot unplug --- */

/*
 * Files of sysfs answer ENODEV once their device is gone, which files of a folder never do. Those
 * of a process that has ended answer ESRCH, which is the same kind of thing.
 */
static pid_t some_process(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void link_to_process(const char *dir, const char *file, pid_t pid)
{
	unlink(in_dir(dir, file));
	assert_int_equal(symlink(textf("/proc/%d/oom_score_adj", (int)pid), in_dir(dir, file)), 0);
}

static double gpu_read(struct opened *s, const char *name)
{
	double v[SAMPLER_MAX_SERIES];
	int i = series_index(s, 0, name);

	source_read(s, 0, v);
	return v[i];
}

GPU_TEST(unplugged)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0"), *again = NULL;
	pid_t pid = some_process();
	struct gm_values later = busy;

	link_to_process(dir, "mem_info_vram_used", pid);
	CLEANUP(source_close) struct opened s = source_opened("amdgpu", NULL);
	assert_true(gpu_read(&s, "vram_used") >= -1000);
	assert_true(gpu_read(&s, "energy") == 1000);
	end_process(pid);
	fs_remove_tree(in_dir(root, "sys/class/drm"), NULL);
	fs_remove_tree(in_dir(root, "sys/devices"), NULL);
	assert_true(isnan(gpu_read(&s, "vram_used")));
	assert_string_equal(s.reason, "device gone");
	/* then the others are not asked any more, and nothing of the old files is believed */
	assert_true(isnan(gpu_read(&s, "energy")));
	assert_string_equal(s.reason, "device gone");
	/* there again, with other numbers */
	later.energy = UINT64_C(65536) * 5;
	again = machine_card(root, 3, "0000:c1:00.0", "0x1002\n");
	machine_card_metrics(again, 1, 4, &later);
	machine_text(again, "120000000\n", "hwmon/hwmon9/power1_average");
	machine_text(again, "4711\n", "mem_info_vram_used");
	WAIT_UNTIL(!isnan(gpu_read(&s, "energy")));
	assert_true(gpu_read(&s, "energy") == 5);
	assert_true(gpu_read(&s, "vram_used") == 4711);
}

/* Another card at another address is not taken for it. */
GPU_TEST(replaced)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0");
	pid_t pid = some_process();

	link_to_process(dir, "mem_info_vram_used", pid);
	CLEANUP(source_close) struct opened s = source_opened("amdgpu", NULL);
	end_process(pid);
	fs_remove_tree(in_dir(root, "sys/class/drm"), NULL);
	CLEANUP(xfreep) char *other = full_card(0, "0000:c6:00.0");
	for (int i = 0; i < 4; i++) {
		assert_true(isnan(gpu_read(&s, "energy")) || i == 0);
		sleep_ms(120);
	}
	assert_string_equal(s.reason, "device gone");
}

/* A sampling over it: NA with the reason while it is away, numbers again afterwards. */
GPU_TEST(unplugged_while_sampling)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0"), *path = fs_join(root, "s.csv");
	pid_t pid = some_process();
	struct sampling_opts o = { .sampler = sampler_find("amdgpu"),
				   .source.period_s = 0.002,
				   .path = path };
	struct sampling_summary sum;
	CLEANUP(sampling_stats_release) struct sampling_stats st;
	struct sampling *sp;
	uint64_t before;

	link_to_process(dir, "mem_info_vram_used", pid);
	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	assert_int_equal(sampling_start(sp, NULL), 0);
	WAIT_UNTIL((sampling_summary(sp, 0, 0, &sum), sum.samples > 5));
	end_process(pid);
	WAIT_UNTIL((sampling_summary(sp, 0, 0, &sum), sum.failed > 5));
	machine_text(dir, "1\n", "x");
	CLEANUP(xfreep) char *text = fs_join(dir, "mem_info_vram_used");
	unlink(text);
	machine_text(dir, "1000\n", "mem_info_vram_used");
	before = sum.samples;
	WAIT_UNTIL((sampling_summary(sp, 0, 0, &sum), sum.samples > before + 5));
	assert_true(sum.samples > before + 5);
	sampling_stop(sp, &st);
	sampling_free(sp);
	assert_int_equal(st.error, 0);
	assert_int_equal(st.reasons.nr, 1);
	assert_string_equal(st.reasons.v[0].text, "device gone");
}

/* --- facts --- */

/* One process as /proc shows it, with a handle of the GPU at pci. */
static void proc_user(int pid, const char *comm, int fd, const char *pci, const char *vram)
{
	CLEANUP(xfreep) char *link = xasprintf("%s/%d", textf("%s/proc/%d/fd", root, pid), fd);
	CLEANUP(xfreep)
	char *info = xasprintf("pos:\t0\nflags:\t02\ndrm-driver:\tamdgpu\ndrm-client-id:\t%d\n"
			       "drm-pdev:\t%s\n%s",
			       fd, pci, vram);

	assert_int_equal(fs_mkdirs(textf("%s/proc/%d/fd", root, pid), 0755, NULL), 0);
	assert_int_equal(symlink("/dev/dri/renderD128", link), 0);
	machine_text(root, info, "proc/%d/fdinfo/%d", pid, fd);
	machine_text(root, comm, "proc/%d/comm", pid);
}

GPU_TEST(facts_of_a_card)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0"), *shared = NULL, *capped = NULL;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct sampler_facts f = { 0 };
	struct opened s;

	machine_text(dir, "300000000\n", "hwmon/hwmon5/power1_cap");
	machine_text(dir, "560000000\n", "hwmon/hwmon5/power1_cap_default");
	machine_text(dir, "560000000\n", "hwmon/hwmon5/power1_cap_max");
	machine_text(dir, "800000000\n", "hwmon/hwmon5/freq1_input");
	machine_text(dir, "113-D65201-048\n", "vbios_version");
	machine_text(dir, "SPX\n", "current_compute_partition");
	machine_text(dir, "NPS1\n", "current_memory_partition");
	machine_text(dir, "auto\n", "power_dpm_force_performance_level");
	machine_text(dir, "0: 500Mhz\n1: 800Mhz *\n2: 1700Mhz\n", "pp_dpm_sclk");
	machine_text(dir, "ue: 2\nce: 7\n", "ras/umc_err_count");
	machine_text(root, "6.3.6\n", "sys/module/amdgpu/version");
	proc_user(100, "python3\n", 5, "0000:c1:00.0", "drm-memory-vram:\t2048 KiB\n");
	proc_user(100, "python3\n", 6, "0000:c1:00.0", "drm-memory-vram:\t1 MiB\n");
	proc_user(200, "other\n", 5, "0000:c6:00.0", "drm-memory-vram:\t1 MiB\n");
	proc_user(300, "Xorg\n", 9, "0000:c1:00.0",
		  "drm-memory-vram:\t1 KiB\ndrm-resident-vram:\t7 MiB\n");
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	s.s->facts(s.st, 0, &f);
	source_close(&s);
	sampler_facts_text(&f, &text);
	assert_string_equal(text.buf,
			    " pci=0000:c1:00.0 driver=\"amdgpu 6.3.6\" vbios=113-D65201-048"
			    " power_cap_w=300 power_cap_default_w=560 power_cap_max_w=560"
			    " clock_hz=800000000 temperature_degc=47.5 clock_max_hz=1700000000"
			    " ecc_errors=2 compute_partition=SPX memory_partition=NPS1"
			    " performance_level=auto other_processes=2");
	assert_int_equal(f.users, 2);
	for (size_t i = 0; i < 2; i++) {
		bool first = f.user[i].pid == 100;

		assert_string_equal(f.user[i].name, first ? "python3" : "Xorg");
		assert_true(f.user[i].vram_bytes == (first ? 2048 * 1024 : 7 * 1048576));
	}
	sampler_facts_judge(&f, "gpu0", &shared, &capped);
	assert_has(shared, "gpu0 is in use by 2 other processes: ", "python3 (pid 100, 2 MB)");
	assert_has(capped, "gpu0 may draw 300 W at most, its default is 560 W");
}

GPU_TEST(facts_of_a_bare_card)
{
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0"), *shared = NULL, *capped = NULL;
	struct sampler_facts f = { 0 };
	struct opened s;

	machine_text(dir, "560000000\n", "hwmon/hwmon5/power1_cap");
	machine_text(dir, "garbage", "pp_dpm_sclk");
	machine_text(dir, "evil\nfact", "vbios_version");
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	s.s->facts(s.st, 0, &f);
	source_close(&s);
	assert_null(sampler_fact(&f, "clock_max_hz"));
	assert_null(sampler_fact(&f, "power_cap_default_w"));
	assert_string_equal(sampler_fact(&f, "vbios")->text, "evil fact");
	sampler_facts_judge(&f, "gpu0", &shared, &capped);
	assert_null(shared);
	assert_null(capped);
}

/* More than are kept are counted. */
GPU_TEST(many_users)
{
	CLEANUP(xfreep) char *shared = NULL, *capped = NULL;
	struct sampler_facts f = { 0 };

	for (int i = 0; i < 100; i++)
		sampler_fact_number(&f, "x", i);
	assert_int_equal(f.nr, SAMPLER_MAX_FACTS);
	for (int pid = 10; pid < 30; pid++)
		proc_user(pid, "p\n", 3, "0000:c1:00.0", "");
	CLEANUP(xfreep) char *dir = full_card(0, "0000:c1:00.0");
	struct opened s;
	f = (struct sampler_facts){ 0 };
	assert_int_equal(source_open("amdgpu", NULL, &s, NULL), 0);
	s.s->facts(s.st, 0, &f);
	source_close(&s);
	assert_int_equal(f.users, 20);
	assert_true(isnan(f.user[0].vram_bytes));
	sampler_facts_judge(&f, "gpu0", &shared, &capped);
	assert_has(shared, "20 other processes", ", …");
}
