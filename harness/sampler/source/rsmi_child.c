/*
 * profrig-rsmi: the process in which librocm_smi64 runs.
 *
 * The library may print, abort on trees that it does not expect, and leave files in /dev/shm; here
 * it can harm only this process. The parent (rocm_smi.c) talks to it over stdin and stdout, which
 * are taken away from the library before it is loaded:
 *	at start	device <index> <PCI address> <facts>
 *			series <name> <unit>		of the device named last
 *			ready				or: error <words>, and the end
 *	r <n>\n		reads the n-th device that was announced; answers one line: values separated
 *			by blanks, "nan" for a failed one
 * It ends when stdin closes. Arguments: devices ("all", "0,2-4"), fields ("" = everything).
 */
#include "samplers_private.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <rocm_smi/rocm_smi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profrig/base/dynlib.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define MUST_LIST(X) \
	X(rsmi_init) \
	X(rsmi_shut_down) \
	X(rsmi_status_string) \
	X(rsmi_num_monitor_devices)
#define MAY_LIST(X) \
	X(rsmi_dev_name_get) \
	X(rsmi_dev_pci_id_get) \
	X(rsmi_dev_power_ave_get) \
	X(rsmi_dev_energy_count_get) \
	X(rsmi_dev_memory_usage_get) \
	X(rsmi_dev_memory_total_get) \
	X(rsmi_dev_busy_percent_get) \
	X(rsmi_dev_temp_metric_get) \
	X(rsmi_dev_current_socket_power_get)

/* Newer than Debian's header (ROCm 6): power of the moment in µW. */
rsmi_status_t rsmi_dev_current_socket_power_get(uint32_t dv_ind, uint64_t *socket_power);

struct rsmi {
	DYNLIB_MEMBERS(MUST_LIST)
	DYNLIB_MEMBERS(MAY_LIST)
};

#define MUST(f) DYNLIB_SYM(struct rsmi, f),
#define MAY(f) DYNLIB_SYM_OPT(struct rsmi, f),
static const struct dynlib_sym symbols[] = { MUST_LIST(MUST) MAY_LIST(MAY) };

enum reading { POWER, SOCKET_POWER, ENERGY, VRAM_USED, VRAM_TOTAL, BUSY, TEMPERATURE, READINGS };

static const struct {
	const char *name, *unit;
} series_of[READINGS] = {
	[POWER] = { "power", "W" },
	[SOCKET_POWER] = { "power_instant", "W" },
	[ENERGY] = { "energy", "J" },
	[VRAM_USED] = { "vram_used", "bytes" },
	[VRAM_TOTAL] = { "vram_total", "bytes" },
	[BUSY] = { "busy", "%" },
	[TEMPERATURE] = { "temperature", "degC" },
};

struct device {
	uint32_t index;
	size_t nr;
	enum reading what[READINGS];
};

/* The result of an optional call. */
#define CALL(s, f, ...) ((s)->f ? (s)->f(__VA_ARGS__) : RSMI_STATUS_NOT_SUPPORTED)

static rsmi_status_t device_energy(const struct rsmi *s, uint32_t dev, double *ret,
				   double *ret_step_uj)
{
	uint64_t count = 0, stamp = 0;
	float step_uj = 0;
	rsmi_status_t r = CALL(s, rsmi_dev_energy_count_get, dev, &count, &step_uj, &stamp);

	*ret = (double)count * (double)step_uj * 1e-6;
	*ret_step_uj = (double)step_uj;
	return r;
}

static rsmi_status_t device_vram(const struct rsmi *s, uint32_t dev, enum reading what,
				 uint64_t *ret)
{
	return what == VRAM_USED ? CALL(s, rsmi_dev_memory_usage_get, dev, RSMI_MEM_TYPE_VRAM, ret)
				 : CALL(s, rsmi_dev_memory_total_get, dev, RSMI_MEM_TYPE_VRAM, ret);
}

/* NaN when the call failed. */
static double rsmi_take(const struct rsmi *s, uint32_t dev, enum reading what)
{
	rsmi_status_t r = RSMI_STATUS_NOT_SUPPORTED;
	double v = NAN, step_uj;
	uint64_t u = 0;
	uint32_t percent = 0;
	int64_t milli = 0;

	switch (what) {
	case POWER:
		r = CALL(s, rsmi_dev_power_ave_get, dev, 0, &u);
		v = (double)u * 1e-6;
		break;
	case SOCKET_POWER:
		r = CALL(s, rsmi_dev_current_socket_power_get, dev, &u);
		v = (double)u * 1e-6;
		break;
	case ENERGY:
		r = device_energy(s, dev, &v, &step_uj);
		break;
	case VRAM_USED:
	case VRAM_TOTAL:
		r = device_vram(s, dev, what, &u);
		v = (double)u;
		break;
	case BUSY:
		r = CALL(s, rsmi_dev_busy_percent_get, dev, &percent);
		v = percent;
		break;
	case TEMPERATURE:
		r = CALL(s, rsmi_dev_temp_metric_get, dev, RSMI_TEMP_TYPE_JUNCTION,
			 RSMI_TEMP_CURRENT, &milli);
		v = (double)milli * 1e-3;
		break;
	case READINGS:
		break;
	}
	return r == RSMI_STATUS_SUCCESS ? v : NAN;
}

static bool device_reads(const struct device *d, enum reading what)
{
	for (size_t i = 0; i < d->nr; i++)
		if (d->what[i] == what)
			return true;
	return false;
}

static void describe_device(const struct rsmi *s, const struct device *d, FILE *out)
{
	char name[128] = "AMD GPU", pci[40];
	uint64_t bdf = 0;
	double j, step_uj;

	if (s->rsmi_dev_name_get)
		s->rsmi_dev_name_get(d->index, name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	name[strcspn(name, "\r\n")] = '\0';
	if (s->rsmi_dev_pci_id_get)
		s->rsmi_dev_pci_id_get(d->index, &bdf);
	snprintf(pci, sizeof(pci), "%04llx:%02llx:%02llx.%llu", (unsigned long long)(bdf >> 32),
		 (unsigned long long)(bdf >> 8 & 0xff), (unsigned long long)(bdf >> 3 & 0x1f),
		 (unsigned long long)(bdf & 7));
	fprintf(out, "device %u %s %s, pci %s", d->index, pci, name, pci);
	if (device_reads(d, ENERGY) &&
	    device_energy(s, d->index, &j, &step_uj) == RSMI_STATUS_SUCCESS)
		fprintf(out, ", energy counts %g uJ", step_uj);
	fputc('\n', out);
}

/* False when the device has none of the wanted series. */
static bool announce_devices(const struct rsmi *s, uint32_t index, const char *fields,
			     struct device *d, FILE *out)
{
	*d = (struct device){ .index = index };
	for (enum reading w = 0; w < READINGS; w++)
		if (sampler_wants(fields, series_of[w].name) && !isnan(rsmi_take(s, index, w)))
			d->what[d->nr++] = w;
	if (!d->nr)
		return false;
	describe_device(s, d, out);
	for (size_t i = 0; i < d->nr; i++) {
		enum reading w = d->what[i];
		/* without an average, power is the power of the moment */
		bool alone = w == SOCKET_POWER && !device_reads(d, POWER);

		fprintf(out, "series %s %s\n", series_of[alone ? POWER : w].name,
			series_of[w].unit);
	}
	return true;
}

static void serve_parent(const struct rsmi *s, const struct device *devices, size_t nr, FILE *in,
			 FILE *out)
{
	char line[64], text[32];
	int64_t n;

	while (fgets(line, sizeof(line), in)) {
		size_t len = strcspn(line, "\n");

		if (len < 3 || line[0] != 'r' || num_i64(line + 2, len - 2, &n) < 0 || n < 0 ||
		    (size_t)n >= nr)
			return;
		for (size_t k = 0; k < devices[n].nr; k++) {
			num_fmt_f64(text, rsmi_take(s, devices[n].index, devices[n].what[k]));
			fprintf(out, "%s%s", k ? " " : "", text);
		}
		fputc('\n', out);
		fflush(out);
	}
}

static int rsmi_load(struct rsmi *s, struct err *err)
{
	static const char *const found[] = { "librocm_smi64.so.7",
					     "librocm_smi64.so.6",
					     "librocm_smi64.so.5",
					     "librocm_smi64.so.1",
					     "/opt/rocm/lib/librocm_smi64.so",
					     NULL };
	const char *given = getenv("PROFRIG_RSMI_LIB"); /* tests put a stand-in here */
	const char *const one[] = { given, NULL };
	rsmi_status_t code;
	void *handle;
	int r = dynlib_open(given && *given ? one : found, &handle, err);

	if (r == 0)
		r = dynlib_load(handle, symbols, ARRAY_LEN(symbols), s, err);
	if (r < 0)
		return r;
	code = s->rsmi_init(0);
	if (code != RSMI_STATUS_SUCCESS) {
		const char *text = "unknown";

		s->rsmi_status_string(code, &text);
		return err_set(err, ENODEV, "rsmi_init: %.200s", text);
	}
	return 0;
}

/* Output of the library goes to /dev/null. */
static int take_channel(int fd, const char *mode, FILE **ret)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (kept < 0 || null < 0 || dup2(null, fd) < 0)
		return -errno;
	close(null);
	*ret = fdopen(kept, mode);
	return *ret ? 0 : -ENOMEM;
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "all", *fields = argc > 2 ? argv[2] : "";
	struct rlimit no_core = { 0, 0 };
	struct device devices[256];
	struct err err = ERR_INIT;
	struct rsmi s = { 0 };
	uint32_t count = 0;
	size_t nr = 0;
	FILE *in, *out;

	setrlimit(RLIMIT_CORE, &no_core);
	if (take_channel(0, "r", &in) < 0 || take_channel(1, "w", &out) < 0)
		return 2;
	if (rsmi_load(&s, &err) < 0) {
		fprintf(out, "error %s\n", err.msg);
		fclose(out);
		return 1;
	}
	s.rsmi_num_monitor_devices(&count);
	if (count && sampler_check_selection(which, count, &err) < 0) {
		fprintf(out, "error %s\n", err.msg);
		fclose(out);
		s.rsmi_shut_down();
		return 1;
	}
	for (uint32_t i = 0; i < count && nr < ARRAY_LEN(devices); i++)
		if (sampler_selects(which, i) && announce_devices(&s, i, fields, &devices[nr], out))
			nr++;
	if (nr)
		fputs("ready\n", out);
	else
		fprintf(out, "error none of %u devices was selected or gives a reading\n", count);
	fflush(out);
	if (nr)
		serve_parent(&s, devices, nr, in, out);
	s.rsmi_shut_down();
	return nr ? 0 : 1;
}
