/*
 * Rows name a device by its agent. "GPU 1" counts GPUs; "Agent 4" and the bare 4 of older releases
 * count CPUs too, by the driver's nodes or by those visible to the process. The file agent_info of
 * the same run resolves them; without it the number is kept, as equal cells are equal devices.
 */
#include "rocprof_csv.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"

#define MAX_AGENTS 4096
/* Of one file; a cell longer than this names none. */
#define MAX_DEVICES 256
#define MAX_SAID 64
#define AGENT_INFO_MAX (UINT64_C(1) << 24)

static bool cell_number(const struct rocprof_header *h, const struct csv_record *r,
			enum rocprof_column c, int64_t *ret)
{
	struct csv_text t;

	if (h->at[c] < 0)
		return false;
	t = csv_field(r, (size_t)h->at[c]);
	return num_i64(t.p, t.n, ret) == 0 && *ret >= 0;
}

/* The driver packs bus, device and function; its "Domain" is the PCI one. */
static void agent_locate(struct rocprof_agent *a, const struct rocprof_header *h,
			 const struct csv_record *r)
{
	int64_t where, domain = 0;

	if (!a->gpu || !cell_number(h, r, COL_LOCATION, &where))
		return;
	cell_number(h, r, COL_DOMAIN, &domain);
	if (where == 0 || !model_pci(domain, where >> 8, where >> 3 & 31, a->pci))
		a->pci[0] = '\0';
}

static void take_agent(struct rocprof_group *g, const struct rocprof_header *h,
		       const struct csv_record *r)
{
	struct rocprof_agent a = { .logical = -1 };

	if (g->agents.nr == MAX_AGENTS || r->nr != h->nr || !cell_number(h, r, COL_NODE, &a.node))
		return;
	cell_number(h, r, COL_LOGICAL_NODE, &a.logical);
	a.gpu = csv_text_is(csv_field(r, (size_t)h->at[COL_AGENT_TYPE]), "GPU");
	agent_locate(&a, h, r);
	VEC_PUSH(&g->agents, a);
}

static int by_node(const void *va, const void *vb)
{
	const struct rocprof_agent *a = va, *b = vb;

	return a->node < b->node ? -1 : a->node > b->node;
}

void rocprof_agents_read(struct rocprof_group *g, const char *path)
{
	CLEANUP(input_unmap) struct input_map map = { .data = NULL };
	CLEANUP(rocprof_header_release) struct rocprof_header h = { .names = VEC_INIT };
	CLEANUP(csv_scan_release) struct csv_scan scan = { .data = NULL };
	struct csv_record r;
	uint32_t seen[2] = { 0, 0 };

	if (input_map(path, AGENT_INFO_MAX, &map, NULL) < 0)
		return;
	csv_scan_init(&scan, map.data, map.len);
	if (csv_scan_next(&scan, &r) > 0)
		rocprof_header_read(&h, &r);
	if (h.kind != ROCPROF_AGENTS)
		return;
	while (csv_scan_next(&scan, &r) > 0)
		take_agent(g, &h, &r);
	if (g->agents.nr > 1)
		qsort(g->agents.v, g->agents.nr, sizeof(*g->agents.v), by_node);
	for (size_t i = 0; i < g->agents.nr; i++)
		g->agents.v[i].index = seen[g->agents.v[i].gpu]++;
}

/* By the number in "Agent 4": that of the process, else that of the driver. */
static const struct rocprof_agent *by_number(const struct rocprof_group *g, int64_t number)
{
	for (size_t i = 0; i < g->agents.nr; i++)
		if (g->agents.v[i].logical == number)
			return &g->agents.v[i];
	for (size_t i = 0; i < g->agents.nr; i++)
		if (g->agents.v[i].node == number)
			return &g->agents.v[i];
	return NULL;
}

static const struct rocprof_agent *by_index(const struct rocprof_group *g, bool gpu, int64_t index)
{
	for (size_t i = 0; i < g->agents.nr; i++)
		if (g->agents.v[i].gpu == gpu && g->agents.v[i].index == index)
			return &g->agents.v[i];
	return NULL;
}

/* "Agent 4", "agent-4", "Agent_4", "GPU 0", "4": the word and the number. */
static bool word_split(struct csv_text said, struct csv_text *word, int64_t *number)
{
	size_t at = said.n;

	while (at > 0 && isdigit((unsigned char)said.p[at - 1]))
		at--;
	if (num_i64(said.p + at, said.n - at, number) < 0)
		return false;
	while (at > 0 && strchr(" _-\t", said.p[at - 1]))
		at--;
	*word = (struct csv_text){ said.p, at };
	return true;
}

static void device_name(struct rocprof_csv *rc, struct csv_text said, struct rocprof_device *d)
{
	const struct rocprof_agent *a;
	struct csv_text word;
	int64_t number;

	if (said.n == 0 || !word_split(said, &word, &number) || number > 65535) {
		snprintf(d->name, sizeof(d->name), "%.20s",
			 rc->opts->device ? rc->opts->device
			 : d->gpu         ? "gpu0"
					  : "cpu0");
		return;
	}
	if (word.n == 3 &&
	    (strncasecmp(word.p, "gpu", 3) == 0 || strncasecmp(word.p, "cpu", 3) == 0)) {
		d->gpu = tolower((unsigned char)*word.p) == 'g';
		a = by_index(&rc->group, d->gpu, number);
	} else {
		a = by_number(&rc->group, number);
		if (a) {
			d->gpu = a->gpu;
			number = a->index;
		}
	}
	if (a)
		memcpy(d->pci, a->pci, sizeof(d->pci));
	snprintf(d->name, sizeof(d->name), "%s%" PRId64, d->gpu ? "gpu" : "cpu", number);
}

size_t rocprof_device(struct rocprof_csv *rc, struct csv_text said, bool gpu)
{
	struct rocprof_device d = { .gpu = gpu };
	struct track_def td = TRACK_DEF_INIT;
	size_t i;

	if (said.n > MAX_SAID)
		said.n = 0;
	if (rc->device < rc->devices.nr && csv_text_same(rc->devices.v[rc->device].said, said))
		return rc->device;
	for (i = 0; i < rc->devices.nr; i++)
		if (csv_text_same(rc->devices.v[i].said, said))
			return rc->device = i;
	if (i == MAX_DEVICES) {
		rocprof_fault(rc, &rc->many);
		return 0;
	}
	device_name(rc, said, &d);
	d.said = (struct csv_text){ xmemdup(said.p, said.n), said.n };
	td.kind = TRACK_DEVICE;
	td.device = d.name;
	td.pci = d.pci[0] ? d.pci : NULL;
	td.key = i + 1;
	/* two ways of naming one device give one track */
	for (size_t k = 0; k < i; k++)
		if (strcmp(rc->devices.v[k].name, d.name) == 0)
			td.key = k + 1;
	d.track = rc->sink->ops->track(rc->sink, &td);
	VEC_PUSH(&rc->devices, d);
	return rc->device = i;
}
