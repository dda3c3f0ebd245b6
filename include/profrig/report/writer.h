/*
 * writer: a report as files. The registry is writers_private.h.
 *
 * A report is tables and two JSON texts; writers use nothing else, so `profrig report` can rewrite
 * any format from a directory that `analyze` wrote earlier (report_load). Each writer writes its
 * files below dir:
 *	csv	tables/<name>.csv
 *	json	analysis.json (always written) and report.json: all tables in one document, column
 *		by column
 *	folded	folded/<metric>.folded: FlameGraph stacks, integer ns or µJ: time, device,
 *		source, energy-<counter>-<device>
 *	pgle	pgle.pbtxt: costs of the operations of compiled programs, for XLA's scheduler;
 *		where there are any
 *	html	report.html: one file, no network
 */
#ifndef PROFRIG_WRITER_H
#define PROFRIG_WRITER_H

#include "profrig/base/err.h"
#include "profrig/stats/analysis.h"

struct report {
	char *dir;
	const char *final; /* the folder that a stage will replace; NULL: no stage; borrowed */
	struct table_set tables;
	char *analysis_json; /* schema profrig.analysis/1 */
	char *run_json;      /* schema profrig.run/1, NULL when the input was no run */
	char *run_dir;       /* with the output of steps/; NULL */
	const char *sink;    /* "profile" or NULL: "model" */
	const char *window;  /* of the options; NULL: none */
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
	const char *shown; /* a file or folder below dir, for messages */
	const char *file;  /* its only file below dir; NULL: there are more */
};

extern const struct writer *const writers[]; /* NULL-terminated */
const struct writer *writer_find(const char *name);
/* Path of the writer's report; owned. */
char *writer_path(const struct writer *w, const struct report *r);

struct report_timings {
	double read_s, model_s, attribute_s, stats_s, write_s;
};
/* analysis.json of a finished model, of the tables made of it and of its run. Owned text. */
char *report_analysis_json(const struct model *m, const struct report *r,
			   const struct report_timings *t);
/*
 * Reads the output of `analyze`: dir/analysis.json and its tables, and the run that was analysed:
 * the directory around dir, else the one that analysis.json names if it still holds that run.
 * -ENOENT when dir is no analysis.
 */
int report_load(const char *dir, struct report *ret, struct err *err);
void report_release(struct report *r);
/*
 * Adds a table (taken over) to the output of `analyze` in dir, in place of one of its name, and
 * rewrites the reports that show tables.
 */
int report_add_table(const char *dir, struct table *take, struct err *err);
/*
 * Removes the output of an earlier analysis from dir: its tables, folded stacks and reports, and in
 * each/ those of the runs of an ensemble; nothing without an analysis.json of profrig.
 */
void report_clear(const char *dir);
/* Whether a writer, or analyze itself, gives a file below dir this name. */
bool report_file_is_own(const char *name);
/* Whether dir holds only such files. */
bool report_owns_all(const char *dir);
/*
 * Links the foreign files in dir into the folder `to`, unless it has a file of that name. False
 * when links are impossible: a foreign folder, a file system without links.
 */
bool report_adopt(const char *dir, const char *to);
/*
 * A new result is written beside its folder and replaces it when it is whole: report_stage makes an
 * empty folder (owned name; NULL with errno), report_commit moves it. A kill at any moment leaves
 * the old result or the new one. Where dir holds foreign files, is a mount point or the working
 * directory, only its own files are exchanged, one by one, analysis.json last. The stage is gone
 * afterwards, or has a temporary name (fs_temp_abandoned).
 */
char *report_stage(const char *dir);
int report_commit(const char *stage, const char *dir, struct err *err);

/* The page's shell, embedded at build time; NULL when built with PAGE=0. */
const char *page_html(size_t *ret_len);

#endif
