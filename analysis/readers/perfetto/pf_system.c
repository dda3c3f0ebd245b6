/*
 * What the system says beside the tracks of programs:
 *
 *	ftrace bundles	of one CPU: sched_switch events, or the same in rows of deltas
 *			(compact_sched). What runs on a CPU from one switch to the next is a span
 *			of the CPU's track; the idle task is none
 *	process trees	names of processes and threads
 *	process stats	memory of processes, samples in bytes
 *	trace stats	what the recorder lost
 */
#include "perfetto.h"

#include <inttypes.h>

#define CPUS_MAX 4096
#define COMPACT_TABLE_MAX 4096

enum { FB_CPU = 1, FB_EVENT = 2, FB_LOST = 3, FB_COMPACT = 4, FB_CLOCK = 5 };
enum { FE_TIME = 1, FE_SWITCH = 4 };
enum { CS_TIME = 1, CS_PID = 3, CS_TABLE = 5, CS_NAME = 6 };

static struct pf_cpu *cpu_of(struct pf *p, uint32_t cpu)
{
	struct track_def d = TRACK_DEF_INIT;
	char name[32];

	if (cpu >= CPUS_MAX)
		return NULL;
	while (p->cpus.nr <= cpu)
		VEC_PUSH(&p->cpus, ((struct pf_cpu){ .track = TRACK_NONE, .name = STR_NONE }));
	if (p->cpus.v[cpu].track == TRACK_NONE) {
		snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
		d.kind = TRACK_COUNTER;
		d.name = name;
		d.key = pf_mix('C', cpu);
		p->cpus.v[cpu].track = track_limit_make(&p->limit, p->sink, &d);
	}
	return &p->cpus.v[cpu];
}

/* pid 0: the idle task. */
static void cpu_switch(struct pf *p, struct pf_cpu *cpu, int64_t t_ns, int64_t pid, str_id name)
{
	struct span_def d = { .track = cpu->track,
			      .start_ns = cpu->since_ns,
			      .end_ns = t_ns,
			      .name = cpu->name,
			      .kind = SPAN_ANNOTATION,
			      .args = STR_NONE };

	d.category = sink_puts(p->sink, "sched");
	if (cpu->name != STR_NONE && !pf_memory(p, PF_SPAN_BYTES))
		p->n.no_memory++;
	else if (cpu->name != STR_NONE)
		p->sink->ops->span(p->sink, &d);
	cpu->name = pid ? name : STR_NONE;
	cpu->since_ns = t_ns;
	cpu->pid = pid;
}

static bool ftrace_time(struct pf *p, uint64_t time, uint64_t clock, int64_t *ret_ns)
{
	if (time > INT64_MAX || !pf_time_convert(p, clock, (int64_t)time, ret_ns)) {
		p->n.no_clock++;
		return false;
	}
	return true;
}

static void switch_take(struct pf *p, struct pf_cpu *cpu, struct pf_bytes b, int64_t t_ns)
{
	struct pb_cursor c = pf_cursor(b);
	struct pf_bytes comm = { NULL, 0 };
	int64_t pid = 0;
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == 5 && pb_is_bytes(&f))
			comm = pf_bytes_of(&f);
		else if (f.number == 6 && pb_is_number(&f))
			pid = (int32_t)f.u64;
	cpu_switch(p, cpu, t_ns, pid, pf_string(p, comm));
}

static void ftrace_event(struct pf *p, struct pf_cpu *cpu, struct pf_bytes b, uint64_t clock)
{
	struct pf_bytes sched = { NULL, 0 };
	struct pb_cursor c = pf_cursor(b);
	uint64_t time = 0;
	struct pb_field f;
	int64_t t_ns;

	while (pb_next(&c, &f))
		if (f.number == FE_TIME && pb_is_number(&f))
			time = f.u64;
		else if (f.number == FE_SWITCH && pb_is_bytes(&f))
			sched = pf_bytes_of(&f);
		else if (pb_is_bytes(&f))
			p->n.ftrace_unknown++;
	if (c.problem)
		pf_bad(p, c.problem);
	else if (sched.p && ftrace_time(p, time, clock, &t_ns))
		switch_take(p, cpu, sched, t_ns);
}

/* Three rows of equal length, and a table of names. */
static void compact_take(struct pf *p, struct pf_cpu *cpu, struct pf_bytes b, uint64_t clock)
{
	struct pb_packed times = { .single = false }, pids = times, names = times;
	struct pb_cursor c = pf_cursor(b);
	VEC(str_id) table = VEC_INIT;
	uint64_t time = 0, delta, pid, name;
	struct pb_field f;
	int64_t t_ns;

	while (pb_next(&c, &f))
		if (f.number == CS_TIME)
			times = pb_packed_of(&f);
		else if (f.number == CS_PID)
			pids = pb_packed_of(&f);
		else if (f.number == CS_NAME)
			names = pb_packed_of(&f);
		else if (f.number == CS_TABLE && pb_is_bytes(&f) && table.nr < COMPACT_TABLE_MAX)
			VEC_PUSH(&table, pf_string(p, pf_bytes_of(&f)));
	while (pb_packed_next(&times, &delta) && pb_packed_next(&pids, &pid) &&
	       pb_packed_next(&names, &name)) {
		time += delta;
		if (ftrace_time(p, time, clock, &t_ns))
			cpu_switch(p, cpu, t_ns, (int32_t)pid,
				   name < table.nr ? table.v[name] : p->empty);
	}
	if (c.problem || times.c.problem || pids.c.problem || names.c.problem)
		pf_bad(p, "a damaged bundle of scheduler switches");
	VEC_RELEASE(&table);
}

/* The kernel's clocks by the number of a bundle: global is BOOTTIME's default, mono_raw … */
static uint64_t bundle_clock(uint64_t number)
{
	static const uint32_t clocks[] = { PF_BOOTTIME, PF_BOOTTIME, PF_MONOTONIC, PF_MONOTONIC,
					   5 };

	return number < ARRAY_LEN(clocks) ? clocks[number] : PF_BOOTTIME;
}

void pf_ftrace(struct pf *p, const struct pf_packet *k)
{
	struct pb_cursor c = pf_cursor(k->body), again = c;
	uint64_t clock = PF_BOOTTIME;
	uint32_t number = 0;
	struct pf_cpu *cpu;
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == FB_CPU && pb_is_number(&f))
			number = (uint32_t)f.u64;
		else if (f.number == FB_LOST && f.u64)
			p->n.lost++;
		else if (f.number == FB_CLOCK && pb_is_number(&f))
			clock = bundle_clock(f.u64);
	cpu = cpu_of(p, number);
	if (c.problem || !cpu) {
		pf_bad(p, c.problem ? c.problem : "a bundle of an impossible CPU");
		return;
	}
	while (pb_next(&again, &f))
		if (f.number == FB_EVENT && pb_is_bytes(&f))
			ftrace_event(p, cpu, pf_bytes_of(&f), clock);
		else if (f.number == FB_COMPACT && pb_is_bytes(&f))
			compact_take(p, cpu, pf_bytes_of(&f), clock);
}

/* What still runs at the end is not known to have ended. */
void pf_ftrace_end(struct pf *p)
{
	VEC_RELEASE(&p->cpus);
}

/* ---- processes ---- */

static void tree_process(struct pf *p, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pf_bytes command = { NULL, 0 };
	int64_t pid = PID_NONE;
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f))
			pid = (int32_t)f.u64;
		else if (f.number == 3 && pb_is_bytes(&f) && !command.p)
			command = pf_bytes_of(&f);
	if (pid >= 0 && command.p)
		pf_name_process(p, pid, command);
}

static void tree_thread(struct pf *p, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pf_bytes name = { NULL, 0 };
	int64_t tid = PID_NONE;
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f))
			tid = (int32_t)f.u64;
		else if (f.number == 2 && pb_is_bytes(&f))
			name = pf_bytes_of(&f);
	if (tid >= 0 && name.p)
		pf_name_thread(p, tid, name);
}

void pf_process_tree(struct pf *p, struct pf_bytes body)
{
	struct pb_cursor c = pf_cursor(body);
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_bytes(&f))
			tree_process(p, pf_bytes_of(&f));
		else if (f.number == 2 && pb_is_bytes(&f))
			tree_thread(p, pf_bytes_of(&f));
	if (c.problem)
		pf_bad(p, c.problem);
}

/* kB of a process, by the field's number. */
static const char *const memory_names[] = {
	[2] = "vm_size",   [3] = "vm_rss",  [4] = "rss_anon",  [5] = "rss_file",
	[6] = "rss_shmem", [7] = "vm_swap", [8] = "vm_locked", [9] = "vm_hwm",
};

static void memory_sample(struct pf *p, int64_t pid, uint32_t field, int64_t t_ns, uint64_t kb)
{
	uint64_t key = pf_mix((uint64_t)pid, 0x6d656d00 + field);
	uint32_t known = u64map_get(&p->series_at, key);
	struct series_def d = { .name = memory_names[field],
				.unit = "bytes",
				.kind = SERIES_GAUGE,
				.change_points = true };

	if (!pf_memory(p, known == U64MAP_NONE ? 300 : 32)) {
		p->n.no_memory++;
		return;
	}
	if (known == U64MAP_NONE) {
		d.track = pf_process(p, pid);
		known = *u64map_at(&p->series_at, key) = p->sink->ops->series(p->sink, &d);
	}
	p->sink->ops->sample(p->sink, known, t_ns, (double)kb * 1024);
}

void pf_process_stats(struct pf *p, struct pf_bytes body, int64_t t_ns)
{
	struct pb_cursor c = pf_cursor(body);
	struct pb_field f, m;

	while (pb_next(&c, &f)) {
		struct pb_cursor in = pb_inside(&f);
		int64_t pid = PID_NONE;

		while (f.number == 1 && pb_next(&in, &m))
			if (m.number == 1 && pb_is_number(&m))
				pid = (int32_t)m.u64;
			else if (m.number >= 2 && m.number < ARRAY_LEN(memory_names) &&
				 pb_is_number(&m) && pid >= 0)
				memory_sample(p, pid, m.number, t_ns, m.u64);
	}
	if (c.problem)
		pf_bad(p, c.problem);
}

/* ---- what was lost ---- */

/* The last packet of them has all: its numbers count from the start. */
void pf_trace_stats(struct pf *p, struct pf_bytes body)
{
	struct pb_cursor c = pf_cursor(body);
	struct pb_field f, m;

	memset(p->n.buffer_lost, 0, sizeof(p->n.buffer_lost));
	while (pb_next(&c, &f)) {
		struct pb_cursor in = pb_inside(&f);

		while (f.number == 1 && pb_next(&in, &m)) {
			if (!pb_is_number(&m))
				continue;
			if (m.number == 3)
				p->n.buffer_lost[0] += m.u64;
			else if (m.number == 18)
				p->n.buffer_lost[1] += m.u64;
			else if (m.number == 19)
				p->n.buffer_lost[2] += m.u64;
		}
	}
	if (c.problem)
		pf_bad(p, c.problem);
}
