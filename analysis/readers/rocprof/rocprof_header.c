/*
 * A file's kind follows from its columns alone: names of files are the user's. Column names differ
 * by release in case and separators ("Lds_Block_Size", "gpu-id", "GPU_ID"), so these are not
 * compared.
 */
#include "rocprof_csv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	enum rocprof_column column;
} words[] = {
	{ "kind", COL_KIND },
	{ "guid", COL_GUID },
	{ "agentid", COL_AGENT },
	{ "gpuid", COL_AGENT },
	{ "queueid", COL_QUEUE },
	{ "streamid", COL_STREAM },
	{ "processid", COL_PROCESS },
	{ "pid", COL_PROCESS },
	{ "threadid", COL_THREAD },
	{ "tid", COL_THREAD },
	{ "dispatchid", COL_DISPATCH },
	{ "kernelname", COL_KERNEL },
	{ "correlationid", COL_CORRELATION },
	{ "starttimestamp", COL_START },
	{ "beginns", COL_START },
	{ "endtimestamp", COL_END },
	{ "endns", COL_END },
	{ "domain", COL_DOMAIN },
	{ "function", COL_FUNCTION },
	{ "direction", COL_DIRECTION },
	{ "sourceagentid", COL_SOURCE },
	{ "destinationagentid", COL_DESTINATION },
	{ "operation", COL_OPERATION },
	{ "allocationsize", COL_ALLOCATED },
	{ "address", COL_ADDRESS },
	{ "allocflags", COL_ALLOC_FLAGS },
	{ "countername", COL_COUNTER },
	{ "countervalue", COL_VALUE },
	{ "sampletimestamp", COL_SAMPLED },
	{ "instruction", COL_INSTRUCTION },
	{ "name", COL_NAME },
	{ "calls", COL_CALLS },
	{ "totaldurationns", COL_TOTAL },
	{ "totalduration(ns)", COL_TOTAL },
	{ "nodeid", COL_NODE },
	{ "logicalnodeid", COL_LOGICAL_NODE },
	{ "agenttype", COL_AGENT_TYPE },
	{ "locationid", COL_LOCATION },
	{ "index", COL_INDEX },
	{ "queueindex", COL_FACT },
	{ "grd", COL_FACT },
	{ "wgr", COL_FACT },
	{ "lds", COL_FACT },
	{ "scr", COL_FACT },
	{ "vgpr", COL_FACT },
	{ "archvgpr", COL_FACT },
	{ "accumvgpr", COL_FACT },
	{ "sgpr", COL_FACT },
	{ "fbar", COL_FACT },
	{ "wavesize", COL_FACT },
	{ "sig", COL_FACT },
	{ "obj", COL_FACT },
	{ "dispatchns", COL_FACT },
	{ "completens", COL_FACT },
	{ "durationns", COL_FACT },
	{ "duration", COL_FACT },
	{ "kernelid", COL_FACT },
	{ "gridsize", COL_FACT },
	{ "workgroupsize", COL_FACT },
	{ "ldsblocksize", COL_FACT },
	{ "ldsperworkgroup", COL_FACT },
	{ "scratchsize", COL_FACT },
	{ "scratchperworkitem", COL_FACT },
	{ "vgprcount", COL_FACT },
	{ "archvgprcount", COL_FACT },
	{ "accumvgprcount", COL_FACT },
	{ "sgprcount", COL_FACT },
};

/* The name as it is compared; false when it is too long to be one of ours. */
static bool name_fold(struct csv_text name, char *buf, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (c == '_' || c == '-' || c == ' ' || c == '\t')
			continue;
		if (n + 1 == cap)
			return false;
		buf[n++] = (char)tolower((unsigned char)c);
	}
	buf[n] = '\0';
	return true;
}

static enum rocprof_column column_of(struct csv_text name)
{
	char word[40];

	for (size_t i = 0; name_fold(name, word, sizeof(word)) && i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i].word) == 0)
			return words[i].column;
	return COL_OTHER;
}

bool rocprof_names_counter(struct csv_text name)
{
	return column_of(name) == COL_OTHER;
}

static bool header_has(const struct rocprof_header *h, enum rocprof_column c)
{
	return h->at[c] >= 0;
}

static enum rocprof_kind kind_of(const struct rocprof_header *h)
{
	if (header_has(h, COL_NODE) && header_has(h, COL_AGENT_TYPE))
		return ROCPROF_AGENTS;
	if (header_has(h, COL_NAME) && header_has(h, COL_CALLS) && header_has(h, COL_TOTAL))
		return ROCPROF_STATS;
	if (header_has(h, COL_SAMPLED) && header_has(h, COL_INSTRUCTION))
		return ROCPROF_PC;
	if (header_has(h, COL_COUNTER) && header_has(h, COL_VALUE))
		return ROCPROF_COUNTERS;
	if (header_has(h, COL_FUNCTION) &&
	    (header_has(h, COL_DOMAIN) || header_has(h, COL_CORRELATION)))
		return ROCPROF_CALLS;
	if (header_has(h, COL_DIRECTION) &&
	    (header_has(h, COL_SOURCE) || header_has(h, COL_DESTINATION)))
		return ROCPROF_COPIES;
	if (header_has(h, COL_OPERATION) && header_has(h, COL_ADDRESS))
		return ROCPROF_ALLOCATIONS;
	if (header_has(h, COL_OPERATION) && header_has(h, COL_AGENT) && header_has(h, COL_KIND))
		return ROCPROF_SCRATCH;
	if (!header_has(h, COL_KERNEL))
		return ROCPROF_NONE;
	if (header_has(h, COL_KIND) || header_has(h, COL_GUID))
		return ROCPROF_KERNELS;
	return header_has(h, COL_AGENT) || header_has(h, COL_INDEX) || header_has(h, COL_DISPATCH)
		       ? ROCPROF_WIDE
		       : ROCPROF_NONE;
}

/* Names of kernels, functions and instructions hold commas, and in some releases bare quotes. */
static int text_column(const struct rocprof_header *h)
{
	static const enum rocprof_column order[] = { COL_KERNEL, COL_FUNCTION, COL_INSTRUCTION,
						     COL_NAME };

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (header_has(h, order[i]))
			return h->at[order[i]];
	return -1;
}

static void text_set(struct rocprof_header *h, size_t i, enum rocprof_column first,
		     enum rocprof_column last)
{
	h->texts[i] = (struct rocprof_columns){ h->at[first], h->at[last] };
}

/* A thread is the pair of its process's number and its own, where the columns are adjacent. */
static void texts_set(struct rocprof_header *h)
{
	for (size_t i = 0; i < ROCPROF_TEXTS; i++)
		h->texts[i].first = -1;
	switch (h->kind) {
	case ROCPROF_CALLS:
		text_set(h, TEXT_DOMAIN, COL_DOMAIN, COL_DOMAIN);
		text_set(h, TEXT_FUNCTION, COL_FUNCTION, COL_FUNCTION);
		if (header_has(h, COL_PROCESS) && h->at[COL_PROCESS] + 1 == h->at[COL_THREAD])
			text_set(h, TEXT_THREAD, COL_PROCESS, COL_THREAD);
		break;
	case ROCPROF_KERNELS:
		text_set(h, TEXT_WORK, COL_KERNEL, COL_KERNEL);
		text_set(h, TEXT_KIND, COL_KIND, COL_KIND);
		break;
	case ROCPROF_COPIES:
		text_set(h, TEXT_WORK, COL_DIRECTION, COL_DIRECTION);
		text_set(h, TEXT_KIND, COL_KIND, COL_KIND);
		break;
	default:
		break;
	}
}

static void shape_set(struct rocprof_header *h, size_t column)
{
	const char *name = h->names.v[column].name;
	int at = launch_shape_field(name, strlen(name));

	if (at >= 0 && h->shape[at] < 0)
		h->shape[at] = (int)column;
}

void rocprof_header_read(struct rocprof_header *h, const struct csv_record *r)
{
	for (size_t i = 0; i < COL_NR; i++)
		h->at[i] = -1;
	for (size_t i = 0; i < LAUNCH_SHAPE_FIELDS; i++)
		h->shape[i] = -1;
	h->text = -1;
	if (r->nr > ROCPROF_MAX_COLUMNS || r->broken)
		return;
	h->nr = r->nr;
	for (size_t i = 0; i < r->nr; i++) {
		struct csv_text t = csv_field(r, i);
		struct rocprof_name name = { column_of(t), xstrndup(t.p, t.n) };

		if (name.column < COL_NR && header_has(h, name.column))
			name.column = COL_FACT; /* a second one is ignored */
		if (name.column < COL_NR)
			h->at[name.column] = (int)i;
		VEC_PUSH(&h->names, name);
		shape_set(h, i);
	}
	h->kind = kind_of(h);
	h->timed = header_has(h, COL_START) && header_has(h, COL_END);
	h->v1 = h->kind == ROCPROF_WIDE && header_has(h, COL_INDEX);
	h->text = text_column(h);
	texts_set(h);
}

void rocprof_header_release(struct rocprof_header *h)
{
	for (size_t i = 0; i < h->names.nr; i++)
		free(h->names.v[i].name);
	VEC_RELEASE(&h->names);
}

const char *rocprof_header_lacks(const struct rocprof_header *h)
{
	switch (h->kind) {
	case ROCPROF_KERNELS:
	case ROCPROF_CALLS:
	case ROCPROF_COPIES:
	case ROCPROF_ALLOCATIONS:
	case ROCPROF_SCRATCH:
		if (!header_has(h, COL_START))
			return "Start_Timestamp";
		return header_has(h, COL_END) ? NULL : "End_Timestamp";
	case ROCPROF_COUNTERS:
		if (!header_has(h, COL_KERNEL))
			return "Kernel_Name";
		return header_has(h, COL_DISPATCH) ? NULL : "Dispatch_Id";
	case ROCPROF_WIDE:
	case ROCPROF_PC:
	case ROCPROF_STATS:
	case ROCPROF_AGENTS:
	case ROCPROF_NONE:
		break;
	}
	return NULL;
}

const char *rocprof_kind_name(const struct rocprof_header *h)
{
	switch (h->kind) {
	case ROCPROF_KERNELS:
		return "rocprofv3 CSV, kernel trace";
	case ROCPROF_CALLS:
		return "rocprofv3 CSV, API trace";
	case ROCPROF_COPIES:
		return "rocprofv3 CSV, memory copies";
	case ROCPROF_ALLOCATIONS:
		return "rocprofv3 CSV, memory allocations";
	case ROCPROF_SCRATCH:
		return "rocprofv3 CSV, scratch memory";
	case ROCPROF_COUNTERS:
		return "rocprofv3 CSV, counter collection";
	case ROCPROF_WIDE:
		return h->v1 ? "rocprof v1 CSV" : "rocprof CSV, counters in columns";
	case ROCPROF_PC:
		return "rocprofv3 CSV, PC samples";
	case ROCPROF_STATS:
		return "rocprof CSV, summary";
	case ROCPROF_AGENTS:
		return "rocprofv3 CSV, agents";
	case ROCPROF_NONE:
		break;
	}
	return "CSV";
}
