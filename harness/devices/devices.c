#include "profrig/devices/devices.h"
#include "devices_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"

const char *devices_root(void)
{
	const char *root = getenv("PROFRIG_SYSFS_ROOT");

	return root ? root : "";
}

const char *gpu_vendor_name(enum gpu_vendor v)
{
	static const char *const names[] = { "", "amd", "nvidia" };

	return names[v];
}

enum gpu_vendor gpu_vendor_of(const char *word)
{
	if (word && !strcmp(word, "amd"))
		return GPU_AMD;
	return word && !strcmp(word, "nvidia") ? GPU_NVIDIA : GPU_NONE;
}

/* --- small files --- */

char *device_text(const char *path)
{
	char *text = NULL;
	size_t n;

	if (fs_read(path, DEVICE_FILE_MAX, &text, &n, NULL) < 0)
		return NULL;
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		text[--n] = '\0';
	text_no_controls(text, ' ');
	return text;
}

bool device_line(const char *text, const char *key, const char *sep, char *ret, size_t n)
{
	size_t len = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) != 0 || !strchr(sep, line[len]) || !line[len])
			continue;
		line += len + strspn(line + len, sep);
		line += strspn(line, " \t");
		snprintf(ret, n, "%.*s", (int)strcspn(line, "\r\n"), line);
		text_no_controls(ret, ' ');
		return true;
	}
	return false;
}

int64_t device_number(const char *text, const char *key)
{
	char value[32];
	int64_t v;

	if (!device_line(text, key, " ", value, sizeof(value)) ||
	    num_i64(value, strlen(value), &v) < 0)
		return -1;
	return v;
}

/* Whether the file may be opened; why gets the reason when not. */
bool device_opens(const char *root, const char *file, const char *driver, const char *group,
		  char *why, size_t n)
{
	CLEANUP(xfreep) char *path = xasprintf("%s%s", root, file);

	/* Asked without opening: that would register this process with the driver of /dev/kfd. */
	if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
		return true;
	if (errno == ENOENT)
		snprintf(why, n, "%s is not there: is the driver %s loaded?", file, driver);
	else if (errno == EACCES || errno == EPERM)
		snprintf(why, n, "%s may not be opened%s%s%s", file,
			 *group ? ": add yourself to the group " : "", group,
			 *group ? ", then log in again" : "");
	else
		snprintf(why, n, "%s: %s", file, strerror(errno));
	return false;
}

/* --- the list --- */

void devices_find(struct devices *ret, const char *root)
{
	CLEANUP(xfreep) char *rocm = xasprintf("%s/opt/rocm/.info/version", root);
	CLEANUP(xfreep) char *version = NULL;

	memset(ret, 0, sizeof(*ret));
	devices_find_amd(ret, root);
	devices_find_nvidia(ret, root);
	version = device_text(rocm);
	if (version)
		snprintf(ret->rocm, sizeof(ret->rocm), "%s", version);
}

void devices_release(struct devices *d)
{
	VEC_RELEASE(&d->gpus);
}

size_t devices_count(const struct devices *d, enum gpu_vendor v)
{
	size_t n = 0;

	for (size_t i = 0; i < d->gpus.nr; i++)
		n += d->gpus.v[i].vendor == v;
	return n;
}

const struct gpu *devices_gpu(const struct devices *d, enum gpu_vendor v, int index)
{
	return VEC_FIND(&d->gpus, x, x->vendor == v && x->index == index);
}

bool devices_usable(const struct devices *d, enum gpu_vendor v, const char **ret_why)
{
	const char *why = v == GPU_AMD ? d->amd_why : v == GPU_NVIDIA ? d->nvidia_why : "no vendor";

	if (ret_why)
		*ret_why = why;
	return !*why;
}

enum gpu_vendor devices_vendor(const struct devices *d)
{
	if (devices_usable(d, GPU_AMD, NULL))
		return GPU_AMD;
	return devices_usable(d, GPU_NVIDIA, NULL) ? GPU_NVIDIA : GPU_NONE;
}

static void add_node(const struct gpu *g, struct strvec *out)
{
	/* NVIDIA's minor number is that of /dev/nvidia<n>; its render nodes are not needed. */
	if (g->render_minor >= 0)
		strvec_pushf(out, g->vendor == GPU_AMD ? "/dev/dri/renderD%d" : "/dev/nvidia%d",
			     g->render_minor);
}

void devices_nodes(const struct devices *d, enum gpu_vendor v, const int *list, size_t nr,
		   struct strvec *out)
{
	if (v == GPU_AMD)
		strvec_push(out, "/dev/kfd");
	else
		strvec_pushl(out, "/dev/nvidiactl", "/dev/nvidia-uvm", NULL);
	for (size_t i = 0; nr == 0 && i < d->gpus.nr; i++)
		if (d->gpus.v[i].vendor == v)
			add_node(&d->gpus.v[i], out);
	for (size_t i = 0; i < nr; i++) {
		const struct gpu *g = devices_gpu(d, v, list[i]);

		if (g)
			add_node(g, out);
	}
}

void devices_groups(const struct devices *d, struct strvec *out)
{
	for (size_t i = 0; i < d->gpus.nr; i++) {
		const struct gpu *g = &d->gpus.v[i];
		CLEANUP(xfreep) char *number = xasprintf("%d", g->group);

		if (g->vendor == GPU_AMD && g->group > 0 && !strvec_has(out, number))
			strvec_push(out, number);
	}
}

void devices_mad_env(const struct devices *d, int runtime_ngpus, struct strvec *out)
{
	enum gpu_vendor v = devices_vendor(d);
	const struct gpu *first = NULL;
	size_t nr = devices_count(d, v);

	for (size_t i = 0; !first && i < d->gpus.nr; i++)
		if (d->gpus.v[i].vendor == v)
			first = &d->gpus.v[i];
	strvec_pushf(out, "MAD_SYSTEM_NGPUS=%zu", nr);
	strvec_pushf(out, "MAD_RUNTIME_NGPUS=%zu",
		     runtime_ngpus < 0 || (size_t)runtime_ngpus > nr ? nr : (size_t)runtime_ngpus);
	if (!first)
		return;
	strvec_pushf(out, "MAD_GPU_VENDOR=%s", v == GPU_AMD ? "AMD" : "NVIDIA");
	strvec_pushf(out, "MAD_SYSTEM_GPU_ARCHITECTURE=%s",
		     v == GPU_AMD ? first->arch : first->name);
	strvec_pushf(out, "MAD_SYSTEM_GPU_PRODUCT_NAME=%s", first->name);
	strvec_pushf(out, "MAD_SYSTEM_HIP_VERSION=%s", v == GPU_AMD ? d->rocm : d->driver);
}
