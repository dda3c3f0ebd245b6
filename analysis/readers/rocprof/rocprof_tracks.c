/*
 * Tracks: a thread is (process, thread), a queue is (device, process, stream) where the file has a
 * Stream_Id, else its queue. Files without a process take that of their group.
 */
#include "rocprof_csv.h"

#include <math.h>
#include <xxhash.h>

#define MAX_SERIES 32768
#define MAX_TOTALS 1024

enum { KEY_THREAD = 1, KEY_QUEUE };

static uint64_t hash_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t v[4] = { a, b, c, d };

	return XXH3_64bits(v, sizeof(v));
}

int64_t rocprof_pid(struct rocprof_csv *rc)
{
	int64_t pid;

	if (rocprof_has(rc, COL_PROCESS) && rocprof_number(rc, COL_PROCESS, &pid) && pid >= 0)
		return pid;
	return rc->group.pid;
}

track_id rocprof_process(struct rocprof_csv *rc, int64_t pid)
{
	struct track_def d = TRACK_DEF_INIT;
	uint32_t *at;

	if (pid == PID_NONE)
		return TRACK_NONE;
	at = u64map_at(&rc->processes, (uint64_t)pid);
	if (*at == U64MAP_NONE) {
		d.kind = TRACK_PROCESS;
		d.pid = pid;
		*at = track_limit_make(&rc->tracks, rc->sink, &d);
	}
	return *at;
}

static track_id thread_new(struct rocprof_csv *rc, int64_t pid, int64_t tid, uint64_t key)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_THREAD;
	d.pid = pid;
	d.tid = tid;
	d.key = key;
	d.parent = rocprof_process(rc, pid);
	return track_limit_make(&rc->tracks, rc->sink, &d);
}

static track_id thread_of(struct rocprof_csv *rc)
{
	int64_t pid = rocprof_pid(rc), tid;
	uint64_t key;
	uint32_t *at;

	if (!rocprof_number(rc, COL_THREAD, &tid) || tid < 0)
		tid = pid; /* the main thread's, on Linux */
	key = hash_of(KEY_THREAD, (uint64_t)pid, (uint64_t)tid, 0);
	if (track_limit_shares(&rc->tracks, &rc->threads, key))
		return thread_new(rc, PID_NONE, PID_NONE, key);
	at = u64map_at(&rc->threads, key);
	if (*at == U64MAP_NONE) {
		track_id t = thread_new(rc, pid, tid, key);

		at = u64map_at(&rc->threads, key);
		*at = t;
	}
	return *at;
}

/* Both numbers as one text where the columns are adjacent: few threads have all the rows. */
track_id rocprof_thread(struct rocprof_csv *rc)
{
	struct rocprof_text *t =
		rc->head.kind == ROCPROF_CALLS ? rocprof_text(rc, TEXT_THREAD) : NULL;

	uint64_t bad = rc->bad_numbers.nr;
	track_id r;

	if (t && t->track)
		return t->track - 1;
	r = thread_of(rc);
	/* problems are counted for each row */
	if (t && rc->bad_numbers.nr == bad && rc->tracks.asked <= MAX_TRACKS)
		t->track = r + 1;
	return r;
}

static track_id queue_new(struct rocprof_csv *rc, size_t device, int64_t pid, int64_t tid,
			  uint64_t key)
{
	const struct rocprof_device *dev = &rc->devices.v[device];
	struct track_def d = TRACK_DEF_INIT;
	char name[64];

	snprintf(name, sizeof(name), "%s copies", dev->name);
	d.kind = TRACK_QUEUE;
	d.parent = dev->track;
	d.pid = pid;
	d.tid = tid;
	d.device = dev->name;
	d.pci = dev->pci[0] ? dev->pci : NULL;
	d.owner = rocprof_process(rc, pid);
	d.key = key;
	d.name = rc->head.kind == ROCPROF_COPIES && tid == PID_NONE ? name : NULL;
	return track_limit_make(&rc->tracks, rc->sink, &d);
}

track_id rocprof_queue(struct rocprof_csv *rc, size_t device)
{
	int64_t pid = rocprof_pid(rc), tid = PID_NONE;
	struct rocprof_queue *seen;
	uint64_t key;
	uint32_t *at;

	if (rocprof_has(rc, COL_STREAM))
		rocprof_number(rc, COL_STREAM, &tid);
	else if (rocprof_has(rc, COL_QUEUE))
		rocprof_number(rc, COL_QUEUE, &tid);
	if (tid < 0)
		tid = PID_NONE;
	seen = &rc->queues_seen[((uint64_t)tid ^ device * 8) % ROCPROF_SEEN];
	if (seen->device == device + 1 && seen->pid == pid && seen->tid == tid)
		return seen->track;
	key = hash_of(KEY_QUEUE, rc->devices.v[device].track,
		      pid == PID_NONE ? rc->guid_salt : (uint64_t)pid, (uint64_t)tid);
	if (track_limit_shares(&rc->tracks, &rc->queues, key))
		return queue_new(rc, device, PID_NONE, PID_NONE, key);
	at = u64map_at(&rc->queues, key);
	if (*at == U64MAP_NONE) {
		track_id t = queue_new(rc, device, pid, tid, key);

		at = u64map_at(&rc->queues, key);
		*at = t;
	}
	*seen = (struct rocprof_queue){ device + 1, pid, tid, *at };
	return *at;
}

void rocprof_sample(struct rocprof_csv *rc, size_t device, track_id queue, int64_t t_ns,
		    struct csv_text counter, double value)
{
	str_id name = rocprof_string(rc, counter);
	uint64_t key = u64map_pair(queue, name);
	uint32_t *at;

	if (rc->series.nr >= MAX_SERIES && u64map_get(&rc->series, key) == U64MAP_NONE) {
		rocprof_fault(rc, &rc->many);
		return;
	}
	at = u64map_at(&rc->series, key);
	if (*at == U64MAP_NONE) {
		CLEANUP(xfreep) char *text = xstrndup(counter.p, counter.n);
		struct series_def d = { .name = text,
					.device = rc->devices.v[device].name,
					.track = queue,
					.kind = SERIES_UNKNOWN };

		*at = rc->sink->ops->series(rc->sink, &d);
	}
	rc->sink->ops->sample(rc->sink, *at, t_ns, value);
}

void rocprof_total(struct rocprof_csv *rc, struct csv_text counter, double value)
{
	size_t i = rc->total;
	str_id name;

	if (rc->head.timed || !isfinite(value))
		return;
	name = rocprof_string(rc, counter);
	if (i >= rc->totals.nr || rc->totals.v[i].name != name) {
		for (i = 0; i < rc->totals.nr && rc->totals.v[i].name != name; i++)
			;
		if (i == MAX_TOTALS)
			return;
		if (i == rc->totals.nr)
			VEC_PUSH(&rc->totals,
				 (struct rocprof_total){ .name = name,
							 .text = xstrndup(counter.p, counter.n) });
	}
	rc->total = i;
	rc->totals.v[i].sum += value;
}
