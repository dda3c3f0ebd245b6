/*
 * rocprofv3 writes one file per kind of record and process: DIR/PREFIX_<kind>.csv, PREFIX being the
 * pid by default. Files of one prefix belong together: they number their correlations together, one
 * of them names the devices, and rows of one may have the process that rows of another lack. A file
 * whose name is the kind alone was renamed and belongs to no group.
 */
#include "rocprof_csv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"

static const char *const kinds[] = {
	"kernel_trace",
	"hip_api_trace",
	"hip_trace",
	"hip_runtime_trace",
	"hip_runtime_api_trace",
	"hip_compiler_trace",
	"hip_compiler_api_trace",
	"hsa_api_trace",
	"hsa_core_api_trace",
	"hsa_amd_api_trace",
	"marker_api_trace",
	"rccl_api_trace",
	"rocdecode_api_trace",
	"rocjpeg_api_trace",
	"memory_copy_trace",
	"memory_allocation_trace",
	"scratch_memory_trace",
	"counter_collection",
	"agent_info",
	"pc_sampling_host_trap",
	"pc_sampling_stochastic",
	"ompt_trace",
	"kokkos_trace",
	"api_trace",
};

/* Files whose rows have the process. */
static const char *const process_describe[] = { "hip_api_trace",    "hsa_api_trace",
						"marker_api_trace", "rccl_api_trace",
						"hip_trace",        "counter_collection" };

/* "1234_kernel_trace.csv.gz" → "1234", owned; NULL: it has none. */
static char *prefix_of(const char *name)
{
	const char *end = strstr(name, ".csv");
	size_t n = end ? (size_t)(end - name) : 0, best = 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t k = strlen(kinds[i]);

		if (k > best && n > k + 1 && name[n - k - 1] == '_' &&
		    strncmp(name + n - k, kinds[i], k) == 0)
			best = k;
	}
	return best ? xstrndup(name, n - best - 1) : NULL;
}

static char *sibling_path(const struct rocprof_group *g, const char *kind)
{
	static const char *const packed[] = { "", ".gz", ".zst" };

	for (size_t i = 0; g->prefix && i < ARRAY_LEN(packed); i++) {
		CLEANUP(xfreep)
		char *name = xasprintf("%s_%s.csv%s", g->prefix, kind, packed[i]);
		char *path = fs_join(g->dir, name);

		if (fs_is_file(path))
			return path;
		free(path);
	}
	return NULL;
}

bool rocprof_group_has(const struct rocprof_group *g, const char *kind)
{
	CLEANUP(xfreep) char *path = sibling_path(g, kind);

	return path != NULL;
}

/* Counter files before 2025 have no times; a kernel trace of the same run has those of its
 * dispatches. */
void rocprof_group_ends(const struct rocprof_group *g, struct rocprof_ends *ret)
{
	CLEANUP(xfreep) char *path = sibling_path(g, "kernel_trace");
	CLEANUP(input_unmap) struct input_map map = { .data = NULL };
	CLEANUP(rocprof_header_release) struct rocprof_header h = { .names = VEC_INIT };
	CLEANUP(csv_scan_release) struct csv_scan scan = { .data = NULL };
	struct csv_record r;

	if (!path || input_map(path, 0, &map, NULL) < 0)
		return;
	csv_scan_init(&scan, map.data, map.len);
	if (csv_scan_next(&scan, &r) > 0)
		rocprof_header_read(&h, &r);
	if (h.kind != ROCPROF_KERNELS || h.at[COL_DISPATCH] < 0 || h.at[COL_END] < 0)
		return;
	while (csv_scan_next(&scan, &r) > 0) {
		int64_t id, end_ns;
		struct csv_text t;
		bool ended;

		if (r.nr != h.nr || r.broken) {
			csv_scan_line(&scan, &r, &ended);
			continue;
		}
		t = csv_field(&r, (size_t)h.at[COL_DISPATCH]);
		if (num_i64(t.p, t.n, &id) < 0 || ret->at.nr >= UINT32_MAX / 2)
			continue;
		t = csv_field(&r, (size_t)h.at[COL_END]);
		if (num_i64(t.p, t.n, &end_ns) < 0 || end_ns <= 0)
			continue;
		*u64map_at(&ret->at, (uint64_t)id) = (uint32_t)ret->end_ns.nr;
		VEC_PUSH(&ret->end_ns, end_ns);
	}
}

/* The process of a file's first row. */
static bool first_process(const char *path, int64_t *ret)
{
	CLEANUP(xfreep) char *head = xmalloc(PROBE_BYTES);
	int64_t n = input_head(path, head, PROBE_BYTES, NULL);
	CLEANUP(csv_scan_release) struct csv_scan scan;
	CLEANUP(rocprof_header_release) struct rocprof_header h = { .names = VEC_INIT };
	struct csv_record r;
	bool found = false;

	csv_scan_init(&scan, head, n > 0 ? (size_t)n : 0);
	if (csv_scan_next(&scan, &r) > 0) {
		rocprof_header_read(&h, &r);
		if (h.kind != ROCPROF_NONE && h.at[COL_PROCESS] >= 0 &&
		    csv_scan_next(&scan, &r) > 0 && r.nr == h.nr) {
			struct csv_text t = csv_field(&r, (size_t)h.at[COL_PROCESS]);

			found = num_i64(t.p, t.n, ret) == 0 && *ret >= 0;
		}
	}
	return found;
}

static void find_process(struct rocprof_group *g)
{
	int64_t pid;

	if (num_i64(g->prefix, strlen(g->prefix), &pid) == 0 && pid > 0) {
		g->pid = pid;
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(process_describe); i++) {
		CLEANUP(xfreep) char *path = sibling_path(g, process_describe[i]);

		if (path && first_process(path, &g->pid))
			return;
	}
}

char *rocprof_group_name(const struct probe *p)
{
	CLEANUP(xfreep) char *whole = fs_abs(p->path);
	CLEANUP(xfreep) char *dir = fs_dir(whole);
	CLEANUP(xfreep) char *prefix = prefix_of(p->name);

	return prefix ? fs_join(dir, prefix) : NULL;
}

void rocprof_group_find(struct rocprof_group *g, const char *path, const struct rocprof_header *h)
{
	CLEANUP(xfreep) char *whole = fs_abs(path);
	CLEANUP(xfreep) char *name = NULL, *agents = NULL;

	g->pid = PID_NONE;
	g->prefix = prefix_of(fs_base(path));
	if (!g->prefix)
		return;
	g->dir = fs_dir(whole);
	name = fs_join(g->dir, g->prefix);
	g->key = XXH3_64bits(name, strlen(name)) | 1;
	if (h->kind == ROCPROF_AGENTS)
		return;
	if (h->at[COL_PROCESS] < 0)
		find_process(g);
	agents = sibling_path(g, "agent_info");
	if (agents)
		rocprof_agents_read(g, agents);
}

void rocprof_group_release(struct rocprof_group *g)
{
	free(g->dir);
	free(g->prefix);
	VEC_RELEASE(&g->agents);
}
