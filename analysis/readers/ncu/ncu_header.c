#include "ncu_csv.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

static const char *const names[NCU_COLUMNS] = {
	[NCU_ID] = "ID",
	[NCU_PID] = "Process ID",
	[NCU_PROCESS] = "Process Name",
	[NCU_HOST] = "Host Name",
	[NCU_KERNEL] = "Kernel Name",
	[NCU_STREAM] = "Stream",
	[NCU_BLOCK] = "Block Size",
	[NCU_GRID] = "Grid Size",
	[NCU_DEVICE] = "Device",
	[NCU_CC] = "CC",
	[NCU_SECTION] = "Section Name",
	[NCU_METRIC] = "Metric Name",
	[NCU_UNIT] = "Metric Unit",
	[NCU_VALUE] = "Metric Value",
};

/* Columns of a kernel that are no metrics and of no use here. */
static bool is_passed_over(struct csv_text t)
{
	static const char *const others[] = { "Context",          "Kernel Time",
					      "Rule Name",        "Rule Type",
					      "Rule Description", "Estimated Speedup Type",
					      "Estimated Speedup" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (csv_text_is(t, others[i]))
			return true;
	/* ranges of NVTX: "thread Domain:Push/Pop_Range:…", "Id:Domain:Start/Stop_Range:…" */
	return t.n == 0 || memmem(t.p, t.n, "Domain:", 7) != NULL;
}

static void column_take(struct ncu_header *h, size_t i, struct csv_text t)
{
	for (int c = 0; c < NCU_COLUMNS; c++) {
		if (!csv_text_is(t, names[c]))
			continue;
		if (h->at[c] < 0)
			h->at[c] = (int)i;
		return;
	}
	h->metric[i] = !is_passed_over(t);
}

static enum ncu_form form_of(const struct ncu_header *h, const struct csv_record *r)
{
	bool summary = false;

	if (h->at[NCU_KERNEL] < 0 || h->at[NCU_PID] < 0)
		return NCU_NONE;
	for (size_t i = 0; i < h->nr; i++)
		summary |= csv_text_is(csv_field(r, i), "Invocations");
	if (summary)
		return NCU_SUMMARY;
	if (h->at[NCU_ID] < 0)
		return NCU_NONE;
	if (h->at[NCU_METRIC] >= 0 && h->at[NCU_VALUE] >= 0)
		return NCU_LONG;
	/* rocprof's wide files have a kernel's name and counters, too, but none of these */
	return h->at[NCU_METRIC] < 0 && h->at[NCU_PROCESS] >= 0 && h->at[NCU_HOST] >= 0 ? NCU_WIDE
											: NCU_NONE;
}

void ncu_header_read(struct ncu_header *h, const struct csv_record *r)
{
	*h = (struct ncu_header){ .nr = r->nr };
	for (int c = 0; c < NCU_COLUMNS; c++)
		h->at[c] = -1;
	if (r->broken || r->nr > NCU_MAX_COLUMNS || r->nr < 4)
		return;
	h->metric = xcalloc(r->nr, sizeof(*h->metric));
	for (size_t i = 0; i < r->nr; i++)
		column_take(h, i, csv_field(r, i));
	h->form = form_of(h, r);
}

void ncu_header_release(struct ncu_header *h)
{
	free(h->metric);
	h->metric = NULL;
}
