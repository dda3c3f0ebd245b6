/*
 * writer: what people and programs get to see. The registry is writers_private.h.
 *
 * A report is tables + two JSON texts; writers know nothing else, so `profrig report` can rewrite
 * any format from a directory that `analyze` wrote earlier (report_load). Each writer puts its
 * files below dir:
 *	csv	tables/<name>.csv
 *	json	analysis.json (always written) and report.json: all tables in one document, column
 *		by column
 *	folded	folded/<metric>.folded: FlameGraph stacks, integer ns or µJ: time, device,
 *		energy-<counter>-<device>
 *	html	report.html: one file, no network
 */
#ifndef PROFRIG_WRITER_H
#define PROFRIG_WRITER_H

#include "profrig/base/err.h"
#include "profrig/stats/analysis.h"

struct report {
	char *dir;
	const char *final; /* where dir goes when it is whole, if it is a stage; borrowed */
	struct table_set tables;
	char *analysis_json; /* schema profrig.analysis/1 */
	char *run_json;      /* schema profrig.run/1, NULL when the input was no run */
	char *run_dir;       /* where steps/ output lies, NULL */
	const char *sink;    /* what the trace was read into: "profile"; NULL: "model" */
	const char *window;  /* that was asked for; NULL: none was */
	struct model_windowed windowed;
};
#define REPORT_INIT \
	{ \
		.dir = NULL \
	}

struct writer {
	const char *name;
	const char *about;
	int (*write)(const struct report *r, struct err *err);
	const char *shown; /* to a person: a file or folder below dir */
	const char *file;  /* all it writes is this file below dir; NULL: there is more */
};

extern const struct writer *const writers[]; /* NULL-terminated */
const struct writer *writer_find(const char *name);
/* Where a report of the writer lies; owned. */
char *writer_path(const struct writer *w, const struct report *r);

struct report_timings {
	double read_s, model_s, attribute_s, stats_s, write_s;
};
/* analysis.json of a finished model, of the tables made of it and of its run. Owned text. */
char *report_analysis_json(const struct model *m, const struct report *r,
			   const struct report_timings *t);
/*
 * Reads back what `analyze` wrote: dir/analysis.json and its tables, and the run that was analysed:
 * the directory around dir, else the one that analysis.json names while it still holds that run.
 * -ENOENT when dir is no analysis.
 */
int report_load(const char *dir, struct report *ret, struct err *err);
void report_release(struct report *r);
/*
 * Adds a table (taken over) to what `analyze` wrote into dir, in place of one of its name, and
 * writes again what shows tables.
 */
int report_add_table(const char *dir, struct table *take, struct err *err);
/*
 * Removes what an earlier analysis wrote into dir: its tables, folded stacks and reports, and in
 * each/ those of the runs of an ensemble; nothing when there is no analysis.json of profrig.
 */
void report_clear(const char *dir);
/* Whether a writer, or analyze itself, gives a file below dir this name. */
bool report_file_is_own(const char *name);
/* Whether nothing else lies there. */
bool report_owns_all(const char *dir);
/*
 * Gives the files of others in dir a second name in the folder `to`, unless it has one of that
 * name. False when it cannot be done so: a folder of others, a file system without links.
 */
bool report_adopt(const char *dir, const char *to);
/*
 * A new result is written beside the folder that it is meant for, and takes its place when it is
 * whole: report_stage makes an empty folder (owned name; NULL with errno), report_commit moves it.
 * A kill at any moment leaves the old result or the new one. Where other files lie in dir,
 * or it is a mount point or the folder that profrig runs in, only its files are exchanged, one
 * after the other, analysis.json last. The stage is gone afterwards, or is a temporary name
 * (fs_temp_abandoned).
 */
char *report_stage(const char *dir);
int report_commit(const char *stage, const char *dir, struct err *err);

/* The page's shell, embedded at build time; NULL when built with PAGE=0. */
const char *page_html(size_t *ret_len);

#endif
