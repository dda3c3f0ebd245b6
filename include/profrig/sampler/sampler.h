/*
 * sampler: power, energy, memory and utilisation read beside the workload, on the host side.
 * Registry: the list in harness/sampler/samplers_private.h.
 *
 * A sampler is one source (const struct of functions); `sampling` is one running instance of it: a
 * thread that ticks on absolute times, reads device after device, stamps each read with the
 * midpoint of CLOCK_MONOTONIC before and after it, and streams rows to a CSV file
 * (docs/contract.md, Sampling files), written at least once a second, always in whole lines.
 * Nothing here prints. Ticks that were made, late and skipped are counted, with the worst error, in
 * the file's last line and in sampling_stats.
 *
 *	sampling_open(&opts, &sp, err)	finds devices, opens them, writes the header (−ENODEV /
 *					−ENOENT with err when the source does not work here)
 *	sampling_start(sp)		thread; all signals are blocked in it
 *	sampling_target(sp, pid)	the workload's root process, for sources that follow a
 *					process tree; may come at any time, any thread
 *	sampling_pause(sp, true)	ticks go on without reading, until false; any thread
 *	sampling_mark(sp, "name")	a comment line "# mark: <t_ns> name"; any thread; never
 *					waits for a read
 *	sampling_summary(sp, d, i, &s)	summary of series i of device d so far; any thread
 *	sampling_stop(sp, &stats)	one last read of every device, file closed and fsynced;
 *					within one period. A read that hangs is given up after 2 s
 *	sampling_free(sp)		stops too; a thread that still hangs in a read frees the
 *					rest when it returns
 *
 * open, start, stop and free are for one thread, which outlives the sampling (a source may have a
 * child process that ends with the thread that opened it).
 *
 * Options that every source has (sampler_opts.options):
 *	storage		"every" (default) or "change": a field is written when its value changes,
 *			and at least once a second
 *	realtime	"yes": the thread requests a real-time priority; without permission it runs
 *			on normally (stats.realtime_error)
 *
 * A missing reading is a value: NaN → "NA" with a reason counted; "not supported" is found at open
 * and the series does not exist. When the source is gone or the file cannot be written, the thread
 * ends, earlier rows are intact, and stats.error has the reason.
 */
#ifndef PROFRIG_SAMPLER_H
#define PROFRIG_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "profrig/base/err.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

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
	char pci[32];       /* "0000:03:00.0", as the source writes it; "": not known */
	bool estimated;     /* as of the sampler, for a source that finds it at open (replay) */
	bool change_points; /* rows hold changes only: "storage: change" */
	size_t nr;
	struct sampler_series series[SAMPLER_MAX_SERIES];
};

/*
 * Facts of a device at the start: driver, versions, limits, clocks, temperature, other users. A
 * value is a number (text "") or a word. Names, where a source has them:
 *	pci driver vbios uuid power_cap_w power_cap_default_w power_cap_max_w clock_hz clock_max_hz
 *	mem_clock_hz mem_clock_max_hz temperature_degc ecc ecc_errors mig compute_partition
 *	memory_partition performance_level
 */
#define SAMPLER_MAX_FACTS 20
#define SAMPLER_MAX_USERS 8
struct sampler_facts {
	size_t nr;
	struct sampler_fact {
		char name[24], text[64];
		double number;
	} fact[SAMPLER_MAX_FACTS];
	/* processes that hold the device, before the workload does */
	size_t users; /* all of them; the first ones are described */
	struct sampler_user {
		pid_t pid;
		char name[32];
		double vram_bytes; /* NaN: not known */
	} user[SAMPLER_MAX_USERS];
};
void sampler_fact_number(struct sampler_facts *f, const char *name, double v); /* NaN: left out */
void sampler_fact_text(struct sampler_facts *f, const char *name, const char *text);
const struct sampler_fact *sampler_fact(const struct sampler_facts *f, const char *name);
/* " name=value name=value": numbers shortest, words in quotes when they hold blanks. */
void sampler_facts_text(const struct sampler_facts *f, struct strbuf *to);
/*
 * Facts that affect a measurement, a line each: other processes on the device (*ret_shared), a
 * power cap below the default (*ret_capped). Owned, NULL without any.
 */
void sampler_facts_judge(const struct sampler_facts *f, const char *device, char **ret_shared,
			 char **ret_capped);

struct sampler_state; /* the source's own */

struct sampler {
	const char *name;
	const char *about;
	const char *vendor;         /* cpu amd nvidia any */
	bool estimated;             /* values come from a model */
	bool no_energy;             /* it reads neither power nor energy anywhere */
	const char *const *options; /* names of its own options, NULL at the end; NULL: none */
	/* See sampler_probe. NULL: it works when it can be opened. */
	int (*probe)(const struct sampler_opts *o, struct err *err);
	int (*open)(const struct sampler_opts *o, struct sampler_state **ret, struct err *err);
	size_t (*devices)(struct sampler_state *st, const struct sampler_device **ret);
	/*
	 * Reads device d: v[i] for its series i (NaN = failed, reason: a short word counted by the
	 * loop; SAMPLER_ABSENT = not read this time). Returns 0; 1 when there is nothing to read at
	 * this moment (no row is written); 2 when a row was read and another one, of any device, is
	 * due already (the loop repeats at once); or -errno when the source is permanently gone
	 * (the loop stops and reports it, with the reason when there is one). Reasons stay valid
	 * (they are literals, or a library's own).
	 */
	int (*read)(struct sampler_state *st, size_t d, double *v, const char **reason);
	/* NULL: does not care. Called from the sampling thread */
	void (*target)(struct sampler_state *st, pid_t pid);
	/* NULL: no facts. Called once, before the first read; may take some milliseconds */
	void (*facts)(struct sampler_state *st, size_t d, struct sampler_facts *ret);
	/* A source with its own times (replay): stamp of the last read; NULL: the loop stamps */
	int64_t (*stamp)(struct sampler_state *st);
	void (*close)(struct sampler_state *st);
};

/*
 * Root below which sources look for the files of devices, in /sys and /proc: "" or
 * $PROFRIG_SYSFS_ROOT (tests play a machine with it). The workload's processes and the CPUs' ticks
 * are always those of /proc.
 */
const char *sampler_root(void);
extern const struct sampler *const samplers[];
const struct sampler *sampler_find(const char *name); /* NULL when unknown */
/* 0 when it would work here, else −errno and err. NULL options = defaults. */
int sampler_probe(const struct sampler *s, const struct sampler_opts *o, struct err *err);
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
	uint64_t failed;   /* readings that were NA */
	uint64_t overruns; /* ticks skipped because the one before took too long */
	uint64_t late;     /* ticks that began more than half a period after their time */
	/* how long after its time a tick began, of all that were made */
	int64_t tick_error_median_ns, tick_error_p99_ns, tick_error_max_ns;
	int64_t period_ns;        /* asked */
	int64_t median_period_ns; /* achieved, between reads of one device */
	int64_t max_gap_ns;       /* longest time without a row of a device that had one before */
	double read_ns_mean;      /* how long one device read takes */
	int64_t read_ns_max;
	double cpu_s;       /* of the thread (rocm_smi's child process not included) */
	bool realtime;      /* it ran with a real-time priority */
	int realtime_error; /* -errno: it was requested and not allowed */
	VEC(struct sampling_reason {
		char text[48];
		uint64_t count;
	}) reasons;
	int error; /* −errno when the source ended early */
	char error_text[256];
};
void sampling_stats_release(struct sampling_stats *s);

/* One series, from its first reading to its last. */
struct sampling_summary {
	uint64_t samples, failed;
	int64_t first_ns, last_ns;
	double first, last, min, max, sum;
	double integral; /* over time in s, trapezoids between readings: W → J */
};

struct sampling;
int sampling_open(const struct sampling_opts *o, struct sampling **ret, struct err *err);
/* The opened devices; valid until sampling_free. */
size_t sampling_devices(const struct sampling *sp, const struct sampler_device **ret);
/* Of device d, as they were when it was opened. */
const struct sampler_facts *sampling_facts(const struct sampling *sp, size_t d);
int sampling_start(struct sampling *sp, struct err *err);
void sampling_pause(struct sampling *sp, bool pause);
void sampling_target(struct sampling *sp, pid_t pid);
void sampling_mark(struct sampling *sp, const char *name);
void sampling_summary(struct sampling *sp, size_t d, size_t i, struct sampling_summary *ret);
void sampling_stop(struct sampling *sp, struct sampling_stats *ret);
void sampling_free(struct sampling *sp);

/*
 * Writes a samples file in the form of madengine's tools, as up to two files in dir:
 *	gpu_info_power_profiler_output.csv	time,Power(Watt) GPU0,…	when a GPU has power
 *	gpu_info_vram_profiler_output.csv	time,vram(%) GPU0,…	when it has memory
 * One row per tick, in local time. Power is in W, memory in % of the GPU's total, both rounded to
 * two decimals; a failed or unknown value is an empty field. Existing files of these names are
 * overwritten. The paths of the files are added to `written`. -ENODATA when the samples have
 * neither power nor memory of a GPU.
 */
int sampler_compat_write(const char *samples, const char *dir, struct strvec *written,
			 struct err *err);

#endif
