/*
 * Rows about devices: dispatches, copies, scratch memory, counters.
 *
 * Counters are values of a dispatch. The model has samples of series, so a value becomes a sample
 * of a series of the dispatch's queue at the dispatch's end; nothing integrates it, as its kind is
 * unknown. Where the run has a kernel trace too, the dispatches come from that; it also has the
 * times that counter files of older releases lack.
 */
#include "rocprof_csv.h"

#include <string.h>
#include <xxhash.h>

#include "profrig/base/num.h"

static void push_work(struct rocprof_csv *rc, enum span_kind kind, track_id queue, int64_t start_ns,
		      int64_t end_ns, str_id name, str_id category)
{
	struct span_def d = { .track = queue,
			      .start_ns = start_ns,
			      .end_ns = end_ns,
			      .name = name,
			      .category = category,
			      .correlation = rocprof_correlation(rc),
			      .kind = kind,
			      .args = kind == SPAN_KERNEL ? rocprof_kernel_args(rc)
							  : rocprof_args(rc) };

	rc->sink->ops->span(rc->sink, &d);
}

void rocprof_kernel(struct rocprof_csv *rc)
{
	int64_t start_ns, end_ns;
	size_t device;

	if (!rocprof_times(rc, &start_ns, &end_ns))
		return;
	device = rocprof_device(rc, rocprof_cell(rc, COL_AGENT), true);
	push_work(rc, SPAN_KERNEL, rocprof_queue(rc, device), start_ns, end_ns,
		  rocprof_column_string(rc, TEXT_WORK, COL_KERNEL),
		  rocprof_column_string(rc, TEXT_KIND, COL_KIND));
}

static bool text_contains(struct csv_text t, const char *word)
{
	return memmem(t.p, t.n, word, strlen(word)) != NULL;
}

/* A copy from the host runs on the destination device, any other on the source device. */
static size_t copy_device(struct rocprof_csv *rc, struct csv_text direction)
{
	bool from_host = text_contains(direction, "HOST_TO");

	if (from_host && text_contains(direction, "TO_DEVICE"))
		return rocprof_device(rc, rocprof_cell(rc, COL_DESTINATION), true);
	return rocprof_device(rc, rocprof_cell(rc, COL_SOURCE), !from_host);
}

void rocprof_copy(struct rocprof_csv *rc)
{
	struct csv_text direction = rocprof_cell(rc, COL_DIRECTION);
	int64_t start_ns, end_ns;

	if (!rocprof_times(rc, &start_ns, &end_ns))
		return;
	push_work(rc, SPAN_COPY, rocprof_queue(rc, copy_device(rc, direction)), start_ns, end_ns,
		  rocprof_column_string(rc, TEXT_WORK, COL_DIRECTION),
		  rocprof_column_string(rc, TEXT_KIND, COL_KIND));
}

void rocprof_scratch(struct rocprof_csv *rc)
{
	int64_t start_ns, end_ns;
	size_t device;

	if (!rocprof_times(rc, &start_ns, &end_ns))
		return;
	device = rocprof_device(rc, rocprof_cell(rc, COL_AGENT), true);
	push_work(rc, SPAN_ANNOTATION, rocprof_queue(rc, device), start_ns, end_ns,
		  rocprof_string(rc, rocprof_cell(rc, COL_OPERATION)),
		  rocprof_category(rc, rocprof_cell(rc, COL_KIND)));
}

static bool value_of(struct rocprof_csv *rc, struct csv_text t, double *ret)
{
	if (num_f64(t.p, t.n, ret) == 0)
		return true;
	rocprof_fault(rc, &rc->bad_numbers);
	return false;
}

/* Whether the row is the first of its dispatch. */
static bool is_new_dispatch(struct rocprof_csv *rc)
{
	struct csv_text id = rocprof_cell(rc, COL_DISPATCH);
	uint64_t key[3] = { (uint64_t)rocprof_pid(rc), rc->guid_salt, XXH3_64bits(id.p, id.n) };
	uint32_t *at = u64map_at(&rc->dispatches, XXH3_64bits(key, sizeof(key)));

	if (*at != U64MAP_NONE)
		return false;
	*at = 1;
	return true;
}

/* When the dispatch of a row without times ended. */
static bool end_elsewhere(struct rocprof_csv *rc, int64_t *ret)
{
	uint32_t at;
	int64_t id;

	if (rc->dispatch_ends.at.nr == 0 || !rocprof_number(rc, COL_DISPATCH, &id))
		return false;
	at = u64map_get(&rc->dispatch_ends.at, (uint64_t)id);
	if (at == U64MAP_NONE) {
		rocprof_fault(rc, &rc->no_time);
		return false;
	}
	*ret = rc->dispatch_ends.end_ns.v[at];
	return true;
}

void rocprof_counter(struct rocprof_csv *rc)
{
	struct csv_text counter = rocprof_cell(rc, COL_COUNTER);
	int64_t start_ns = 0, end_ns;
	size_t device;
	track_id queue;
	double value;
	bool fresh;

	if (!value_of(rc, rocprof_cell(rc, COL_VALUE), &value))
		return;
	rocprof_correlation(rc); /* checks the guid */
	fresh = is_new_dispatch(rc);
	rocprof_total(rc, counter, value);
	if (rc->head.timed ? !rocprof_times(rc, &start_ns, &end_ns) : !end_elsewhere(rc, &end_ns))
		return;
	device = rocprof_device(rc, rocprof_cell(rc, COL_AGENT), true);
	queue = rocprof_queue(rc, device);
	if (fresh && !rc->dispatches_elsewhere)
		push_work(rc, SPAN_KERNEL, queue, start_ns, end_ns,
			  rocprof_string(rc, rocprof_cell(rc, COL_KERNEL)),
			  rocprof_category(rc, (struct csv_text){ "KERNEL_DISPATCH", 15 }));
	rocprof_sample(rc, device, queue, end_ns, counter, value);
}

void rocprof_wide(struct rocprof_csv *rc)
{
	int64_t start_ns = 0, end_ns = 0;
	bool timed = rc->head.timed && rocprof_times(rc, &start_ns, &end_ns);
	size_t device = 0;
	track_id queue = TRACK_NONE;

	if (timed) {
		device = rocprof_device(rc, rocprof_cell(rc, COL_AGENT), true);
		queue = rocprof_queue(rc, device);
		push_work(rc, SPAN_KERNEL, queue, start_ns, end_ns,
			  rocprof_string(rc, rocprof_cell(rc, COL_KERNEL)),
			  rocprof_category(rc, (struct csv_text){ "KERNEL_DISPATCH", 15 }));
	}
	for (size_t i = 0; i < rc->head.nr; i++) {
		const char *name = rc->head.names.v[i].name;
		struct csv_text t = rocprof_field(rc, i), counter = { name, strlen(name) };
		double value;

		if (rc->head.names.v[i].column != COL_OTHER || num_f64(t.p, t.n, &value) < 0)
			continue;
		rocprof_total(rc, counter, value);
		if (timed)
			rocprof_sample(rc, device, queue, end_ns, counter, value);
	}
}
