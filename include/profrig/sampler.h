/*
 * sampler: power, energy, memory and utilisation read beside the workload, on the host side.
 * Registry: harness/sampler/samplers.c.
 *
 * A sampler is one source (const struct of functions); `sampling` is one running instance of it: a
 * thread that ticks on absolute times, reads device after device, stamps each read with the
 * midpoint of CLOCK_MONOTONIC before and after it, and streams rows to a CSV file
 * (docs/contract.md, Sampling files), written at least once a second, always in whole lines.
 * Nothing here prints.
 *
 *	sampling_open(&opts, &sp, err)	finds devices, opens them, writes the header (−ENODEV /
 *					−ENOENT with words when the source does not work here)
 *	sampling_start(sp)		thread; all signals are blocked in it
 *	sampling_target(sp, pid)	the workload's root process, for sources that follow a
 *					process tree; may come at any time, any thread
 *	sampling_pause(sp, true)	ticks go on without reading, until false; any thread
 *	sampling_mark(sp, "name")	a comment line "# mark: <t_ns> name"; any thread; never
 *					waits for a read
 *	sampling_stop(sp, &stats)	one last read of every device, file closed and fsynced;
 *					within one period. A read that hangs is given up after 2 s
 *	sampling_free(sp)		stops too; a thread that still hangs in a read frees the
 *					rest when it comes back
 *
 * open, start, stop and free are for one thread, which outlives the sampling (a source may have a
 * child process that ends with the thread that opened it).
 *
 * A missing reading is a value: NaN → "NA" with a reason counted; "not supported" is found at open
 * and the series does not exist. When the source is gone or the file cannot be written, the thread
 * ends, rows before are intact, and stats.error says why.
 */
#ifndef PROFRIG_SAMPLER_H
#define PROFRIG_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "profrig/err.h"
#include "profrig/strvec.h"
#include "profrig/vec.h"

#define SAMPLER_MAX_SERIES 64 /* per device */
#define SAMPLER_ABSENT (-__builtin_inf())

struct sampler_opts {
	const char *device; /* "all" (or NULL), "0,2-4", "gpu1" */
	double period_s;    /* 0 = 0.1 */
	VEC(struct sampler_option {
		char *name, *value;
	}) options; /* of the tool, e.g. idle_w, max_w, file, fields */
};
const char *sampler_option(const struct sampler_opts *o, const char *name, const char *def);

struct sampler_series {
	char name[48]; /* "power.gpu0" */
	char unit[16]; /* "W" */
};

/* One device of an opened source; series are fixed at open. */
struct sampler_device {
	char id[32];        /* "gpu0", "proc", "pkg0" */
	char facts[256];    /* "AMD MI300X, pci 0000:03:00.0, …": one header comment line */
	bool estimated;     /* as of the sampler, for a source that only knows at open (replay) */
	bool change_points; /* rows hold changes only: "storage: change" */
	size_t nr;
	struct sampler_series series[SAMPLER_MAX_SERIES];
};

struct sampler_state; /* the source's own */

struct sampler {
	const char *name; /* procfs estimate rapl amdgpu rocm_smi nvml replay */
	const char *about;
	const char *vendor; /* cpu amd nvidia any */
	bool estimated;     /* what it gives is a model's guess */
	/*
	 * 0 when it would work here, else −errno and words (doctor, and before a run: exit 4). NULL
	 * options = defaults.
	 */
	int (*probe)(const struct sampler_opts *o, struct err *err);
	int (*open)(const struct sampler_opts *o, struct sampler_state **ret, struct err *err);
	size_t (*devices)(struct sampler_state *st, const struct sampler_device **ret);
	/*
	 * Reads device d: v[i] for its series i (NaN = failed, reason: a short word counted by the
	 * loop; SAMPLER_ABSENT = not read this time). Returns 0; 1 when there is nothing to read at
	 * this moment (no row is written); 2 when a row was read and another one, of any device, is
	 * due already (the loop goes round again at once); or -errno when the source is gone for
	 * good (the loop stops and says so, with the reason when there is one). Reasons are valid
	 * until the next call.
	 */
	int (*read)(struct sampler_state *st, size_t d, double *v, const char **reason);
	/* NULL: does not care. Called from the sampling thread */
	void (*target)(struct sampler_state *st, pid_t pid);
	/* A source with its own times (replay): stamp of the last read; NULL: the loop stamps */
	int64_t (*stamp)(struct sampler_state *st);
	void (*close)(struct sampler_state *st);
};

extern const struct sampler *const samplers[];
const struct sampler *sampler_find(const char *name); /* NULL when unknown */
/*
 * What a tool's sampler kind means: a source by name, or "auto": the first GPU source whose probe
 * works with these options, in the order amdgpu, rocm_smi, nvml. -ENOENT for an unknown name;
 * -ENODEV when no GPU source works, the message saying why of each.
 */
int sampler_resolve(const char *name, const struct sampler_opts *o, const struct sampler **ret,
		    struct err *err);

struct sampling_opts {
	const struct sampler *sampler;
	struct sampler_opts source;
	const char *path;   /* CSV file */
	const char *run_id; /* header; may be NULL */
};

struct sampling_stats {
	uint64_t ticks, rows;
	uint64_t failed;          /* readings that were NA */
	uint64_t overruns;        /* ticks skipped because the one before took too long */
	int64_t period_ns;        /* asked */
	int64_t median_period_ns; /* achieved, between reads of one device */
	int64_t max_gap_ns;       /* longest time without a row of a device that had one before */
	double read_ns_mean;      /* how long one device read takes */
	int64_t read_ns_max;
	double cpu_s; /* of the thread (rocm_smi's child process not included) */
	VEC(struct sampling_reason {
		char text[48];
		uint64_t count;
	}) reasons;
	int error; /* −errno when the source ended early */
	char error_text[256];
};
void sampling_stats_release(struct sampling_stats *s);

struct sampling;
int sampling_open(const struct sampling_opts *o, struct sampling **ret, struct err *err);
/* What was opened; valid until sampling_free. */
size_t sampling_devices(const struct sampling *sp, const struct sampler_device **ret);
int sampling_start(struct sampling *sp, struct err *err);
void sampling_pause(struct sampling *sp, bool pause);
void sampling_target(struct sampling *sp, pid_t pid);
void sampling_mark(struct sampling *sp, const char *name);
void sampling_stop(struct sampling *sp, struct sampling_stats *ret);
void sampling_free(struct sampling *sp);

/*
 * Host pids of a container's (or host run's) agent: the process whose command line is
 * "…/profrig-init --run <run id>". 0 when absent. Reads /proc.
 */
pid_t sampler_find_agent(const char *run_id);

#endif
