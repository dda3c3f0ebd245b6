/*
 * reader: one file format, recognised and pushed into a sink. The registry is the
 * list in base/reader_names.h.
 *
 * probe looks at the path and the first bytes (decompressed when the file is gzip or zstd) and
 * returns its certainty; the highest wins. read pushes everything it can:
 *	0		all of it was read
 *	READ_PARTIAL	results were pushed, but part of the input could not be read; a
 *			severity-error warning names it (exit 6)
 *	< 0		nothing could be read (exit 5); err has the cause with file and offset or
 *			line
 * Readers never change or create a file beside the input, never print, and bound every buffer.
 */
#ifndef PROFRIG_READER_H
#define PROFRIG_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/clock.h"
#include "profrig/base/err.h"
#include "profrig/base/pool.h"
#include "profrig/base/strvec.h"
#include "profrig/base/workers.h"
#include "profrig/model/counts.h"
#include "profrig/model/sink.h"

#define READ_PARTIAL 1
#define PROBE_BYTES 65536

struct probe {
	const char *path;
	const char *name; /* base name without .gz/.zst */
	bool is_dir;
	const unsigned char *head; /* first bytes, after decompression; NULL for a directory */
	size_t head_len;
};

struct read_opts {
	bool keep_args;     /* raw arguments of spans are wanted (convert) */
	bool keep_shapes;   /* else of kernels how they were launched (launch_shape.h) */
	bool facts;         /* typed facts of spans are wanted (facts.h) */
	bool file_facts;    /* of those only what is said of the file: devices, the job */
	double soc_mhz;     /* of cycle counters that the file cannot tell; 0: the format's own */
	const char *device; /* device id to use where the file has none; NULL */
	/* one of the reader's dialects, chosen by the user; NULL: the recognised one */
	const char *dialect;
	/* threads that may help; borrowed, NULL: none. Results do not depend on them. */
	struct workers *workers;
};

struct reader {
	const char *name; /* pinned: otf2 tef samples … */
	const char *about;
	const char *suffixes;                /* for people: ".otf2", ".json[.gz]" */
	int (*probe)(const struct probe *p); /* 0 no … 100 certain */
	int (*read)(const char *path, struct sink *s, const struct read_opts *o, struct err *err);
	/*
	 * For a directory input: paths of this format inside it are claimed by name. NULL: files
	 * are probed one by one. Returns true when `rel` belongs to an input already listed (an
	 * archive's members) and must not be read by itself.
	 */
	bool (*claims)(const char *dir, const char *rel);
	/*
	 * Estimate of the number of records, without reading them; 0 unknown. NULL: the format
	 * offers no sources (sink.h), so it can only be read into memory as a whole.
	 */
	uint64_t (*records)(const char *path);
	bool counters_only; /* its inputs hold samples and no calls */
	/*
	 * its kernels have an order and no times. Beside kernels of other inputs it adds none:
	 * their counters go to those (work/kernel_join.h).
	 */
	bool order_only;
	/* values of read_opts.dialect, NULL-terminated; NULL: the format has one only */
	const char *const *dialects;
	/*
	 * Some tools write one recording in several formats, file beside file; read together, they
	 * would count everything once for each. The name of a file's recording, equal in all its
	 * formats and no path of a file, owned; NULL: it has no others.
	 */
	char *(*recording)(const struct probe *p);
	int richness; /* of such formats: the more it can hold, the larger */
};

/* The reader's read. -EIO: the file became shorter meanwhile, so the results are invalid. */
int reader_read(const struct reader *rd, const char *path, struct sink *s,
		const struct read_opts *o, struct err *err);

/*
 * Counts a file's records in memory that does not grow with its events (counts.h). Returns as
 * reader_read; ret is filled in any case. *ret_problem, owned: why the input is partial; untouched
 * when it is whole, or when nothing could be read.
 */
int reader_count(const struct reader *rd, const char *path, struct counts *ret, char **ret_problem,
		 struct err *err);

extern const struct reader *const readers[]; /* NULL-terminated */

const struct reader *reader_find(const char *name);
/*
 * Parses "NAME" or "NAME:DIALECT". *ret_dialect is one of the reader's dialects, NULL when none is
 * named. -EINVAL: no such reader or dialect; err lists the known ones.
 */
int reader_parse(const char *text, const struct reader **ret, const char **ret_dialect,
		 struct err *err);
/*
 * Best reader for a path; -ENOENT no such file, -EINVAL nothing recognises it ("not a trace that
 * profrig knows: …").
 */
int reader_detect(const char *path, const struct reader **ret, struct err *err);

/*
 * The reader of a file and the name of its recording (above), owned; 0 with *ret_name NULL when it
 * has none. Errors as reader_detect.
 */
int reader_recording(const char *path, const struct reader **ret, char **ret_name, struct err *err);

/*
 * Checks an artifact by counting its records (contract: an empty trace is a failure). The harness
 * uses it through a callback. A file whose reader is not built in cannot be checked: it is valid
 * when it has bytes, and unread.
 */
struct artifact_check {
	const char *verdict; /* "valid", "empty", "damaged" */
	char reader[32];     /* that read it; "" when none fits (then valid when it has bytes) */
	bool unread;
	uint64_t records;          /* spans + samples + calls of library logs */
	int64_t first_ns, last_ns; /* own clock; 0, 0 when empty */
	char reason[256];          /* why damaged, empty or unread */
};
void reader_check(const char *path, const char *reader_name, uint64_t min_records,
		  struct artifact_check *ret);

/* A finished run directory, as far as reading it needs. */
struct rundir {
	struct pool texts; /* all texts below live in it */
	const char *path;
	const char *id, *model, *status, *host;
	VEC(struct clock_anchor) anchors;
	/* valid artifacts, damaged ones too (partial), then samples */
	VEC(struct rundir_input {
		const char *path, *reader, *tool;
		struct clock_origin origin; /* from a file of the tool */
	}) inputs;
	/* listed and unreadable: paths that are missing or lead out of the directory, unknown
	 * readers, directories that cannot be entered */
	VEC(struct rundir_lost { const char *path, *why; }) lost;
	int64_t workload_start_ns, workload_end_ns; /* CLOCK_MONOTONIC; 0 when it never ran */
	/* samplers alone, before and after the workload; CLOCK_MONOTONIC, 0 when there was none */
	int64_t idle_before_ns[2], idle_after_ns[2];
	/* marks, and windows of recording; CLOCK_MONOTONIC, by time */
	VEC(struct rundir_mark {
		const char *name, *by;
		int64_t t_ns, uncertainty_ns; /* -1 unknown */
		bool made;                    /* the time was taken where it was made */
	}) marks;
	/* none: the whole run */
	VEC(struct rundir_window {
		const char *name, *by;
		int64_t start_ns, end_ns;
	}) windows;
	/* cost of tools, from baseline.json; NaN unknown */
	VEC(struct rundir_overhead {
		const char *tools, *unit, *verdict;
		bool alone;
		uint64_t pairs;
		double overhead, ci_low, ci_high, baseline_s, tools_s, baseline_performance,
			tools_performance, performance_ratio, performance_low, performance_high,
			budget;
	}) overhead;
	int64_t root_pid; /* of the workload, 0 unknown */
	bool estimated;
	bool container; /* the workload ran in one, with a host name of its own */
	/* of the sampled devices: "amd", "nvidia"; "" both, neither or not known */
	const char *gpu_vendor;
	/* devices visible to the workload, from plan.json; NULL = not stated */
	struct rundir_visible {
		const char *gpus; /* of the container: "0,2-4", "all", "none" */
		const char *rocr, *hip, *cuda,
			*ordinal; /* ROCR_VISIBLE_DEVICES … GPU_DEVICE_ORDINAL */
	} visible;
};
/* Whether it has a run.json of profrig, whole or not. */
bool rundir_is(const char *path);
int rundir_open(const char *path, struct rundir *ret, struct err *err);
void rundir_release(struct rundir *r);

#endif
