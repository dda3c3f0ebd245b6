/* AMD's GPUs: KFD's topology, and names from DRM. */
#include "devices_int.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes"
#define IDS "/usr/share/libdrm/amdgpu.ids"
#define MAX_BANKS 16

static char *read_raw(const char *dir, const char *file)
{
	CLEANUP(xfreep) char *path = fs_join(dir, file);
	char *text = NULL;

	return fs_read(path, DEVICE_FILE_MAX, &text, NULL, NULL) == 0 ? text : NULL;
}

/* gfx_target_version has two decimal digits for each part; the name has one hexadecimal digit. */
static void put_arch(struct gpu *g, int64_t version)
{
	if (version > 0 && version < 1000000)
		snprintf(g->arch, sizeof(g->arch), "gfx%d%x%x", (int)(version / 10000),
			 (unsigned)(version / 100 % 100), (unsigned)(version % 100));
}

static void put_pci(struct gpu *g, const char *properties)
{
	int64_t domain = device_number(properties, "domain");
	int64_t where = device_number(properties, "location_id");

	if (where >= 0)
		snprintf(g->pci, sizeof(g->pci), "%04x:%02x:%02x.%x",
			 (unsigned)(domain < 0 ? 0 : domain & 0xffffffff),
			 (unsigned)(where >> 8 & 0xff), (unsigned)(where >> 3 & 0x1f),
			 (unsigned)(where & 7));
}

/* Local memory is in banks of heap type 1 (visible to the host) and 2 (not visible). */
static int64_t memory_of(const char *node)
{
	int64_t total = 0;

	for (int i = 0; i < MAX_BANKS; i++) {
		CLEANUP(xfreep) char *file = xasprintf("mem_banks/%d/properties", i);
		CLEANUP(xfreep) char *text = read_raw(node, file);
		int64_t heap, size;

		if (!text)
			break;
		heap = device_number(text, "heap_type");
		size = device_number(text, "size_in_bytes");
		if ((heap == 1 || heap == 2) && size > 0 && size < INT64_MAX - total)
			total += size;
	}
	return total;
}

/* Lines of the file: "74A1,	00,	AMD Instinct MI300X OAM", numbers in hexadecimal. */
static bool name_of_id(const char *root, const char *device, const char *revision, char *ret,
		       size_t n)
{
	CLEANUP(xfreep) char *path = xasprintf("%s" IDS, root);
	CLEANUP(xfreep) char *text = NULL;
	size_t dl = strlen(device), rl = strlen(revision);

	if (fs_read(path, DEVICE_FILE_MAX, &text, NULL, NULL) < 0)
		return false;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *at;

		line += *line == '\n';
		if (strncasecmp(line, device, dl) != 0 || line[dl] != ',')
			continue;
		at = line + dl + 1 + strspn(line + dl + 1, " \t");
		if (strncasecmp(at, revision, rl) != 0 || at[rl] != ',')
			continue;
		at += rl + 1 + strspn(at + rl + 1, " \t");
		snprintf(ret, n, "%.*s", (int)strcspn(at, "\r\n"), at);
		text_no_controls(ret, ' ');
		return *ret != '\0';
	}
	return false;
}

/* "74a1" from "0x74a1\n"; a revision has at least two digits. */
static char *hex_of(const char *dir, const char *file, size_t digits)
{
	CLEANUP(xfreep) char *path = fs_join(dir, file);
	CLEANUP(xfreep) char *text = device_text(path);
	const char *s = text ? text : "";

	s += !strncasecmp(s, "0x", 2) ? 2 : 0;
	return xasprintf("%s%s", strlen(s) < digits ? "0" : "", s);
}

static void put_name(struct gpu *g, const char *root)
{
	CLEANUP(xfreep)
	char *dir = xasprintf("%s/sys/class/drm/renderD%d/device", root, g->render_minor);
	CLEANUP(xfreep) char *path = fs_join(dir, "product_name");
	CLEANUP(xfreep) char *product = device_text(path);

	if (product && *product) {
		snprintf(g->name, sizeof(g->name), "%s", product);
		return;
	}
	CLEANUP(xfreep) char *device = hex_of(dir, "device", 4);
	CLEANUP(xfreep) char *revision = hex_of(dir, "revision", 2);

	if (!*device || !name_of_id(root, device, revision, g->name, sizeof(g->name)))
		snprintf(g->name, sizeof(g->name), "AMD GPU%s%s", *g->arch ? " " : "", g->arch);
}

static void put_group(struct gpu *g, const char *root)
{
	CLEANUP(xfreep)
	char *node = xasprintf("%s/dev/dri/renderD%d", root, g->render_minor);
	struct stat st;

	g->group = stat(node, &st) == 0 && st.st_gid != 0 ? (int)st.st_gid : -1;
}

static void add_gpu(struct devices *d, const char *root, const char *node, const char *properties)
{
	struct gpu g = { .vendor = GPU_AMD, .index = (int)devices_count(d, GPU_AMD) };
	char id[32];
	uint64_t unique;
	int64_t minor = device_number(properties, "drm_render_minor");

	g.render_minor = minor >= 128 && minor < 1 << 20 ? (int)minor : -1;
	put_arch(&g, device_number(properties, "gfx_target_version"));
	put_pci(&g, properties);
	if (device_line(properties, "unique_id", " ", id, sizeof(id)) &&
	    num_u64(id, strlen(id), &unique) == 0 && unique)
		snprintf(g.id, sizeof(g.id), "0x%016llx", (unsigned long long)unique);
	g.memory_bytes = memory_of(node);
	put_name(&g, root);
	put_group(&g, root);
	VEC_PUSH(&d->gpus, g);
}

/* Node 10 comes after node 9. */
static int by_number(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t nx = strlen(x), ny = strlen(y);

	return nx != ny ? (nx > ny) - (nx < ny) : strcmp(x, y);
}

void devices_find_amd(struct devices *d, const char *root)
{
	CLEANUP(xfreep) char *nodes = xasprintf("%s" NODES, root);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	size_t hidden = 0;

	fs_list(nodes, &names, NULL);
	if (names.nr)
		qsort(names.v, names.nr, sizeof(*names.v), by_number);
	for (size_t i = 0; i < names.nr && d->gpus.nr < DEVICES_MAX; i++) {
		CLEANUP(xfreep) char *dir = fs_join(nodes, names.v[i]);
		CLEANUP(xfreep) char *gpu_id = read_raw(dir, "gpu_id");
		CLEANUP(xfreep) char *properties = NULL;

		/* A CPU has gpu_id 0 and no target; a GPU outside of this process's cgroup cannot
		 * be read. */
		if (gpu_id && !strncmp(gpu_id, "0\n", 2))
			continue;
		properties = read_raw(dir, "properties");
		if (!properties || !*properties)
			hidden++;
		else if (device_number(properties, "gfx_target_version") > 0)
			add_gpu(d, root, dir, properties);
	}
	if (!devices_count(d, GPU_AMD) && hidden)
		snprintf(d->amd_why, sizeof(d->amd_why),
			 "the AMD GPUs of this machine may not be used by this user or container");
	else if (!devices_count(d, GPU_AMD))
		snprintf(d->amd_why, sizeof(d->amd_why), "no AMD GPU in %s", NODES);
	else
		device_opens(root, "/dev/kfd", "amdgpu", "render", d->amd_why, sizeof(d->amd_why));
}
