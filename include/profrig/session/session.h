/*
 * session: what `analyze` does. Inputs (run directories, folders, trace files) are read into a
 * model, or into a profile when they are larger than memory; analyses make tables of it, writers
 * make files of those. Several run directories become an ensemble.
 *
 * Life cycle:
 *	1. session_opts_init(&o); set what is wanted
 *	2. session_analyze(inputs, &o, "out", &result, &err): inputs → files in out
 *	   or session_read(inputs, &o, &trace, &err): inputs → model or profile
 *	3. session_result_release(&result) or session_trace_release(&trace)
 *	4. session_opts_release(&o)
 *
 * Nothing is printed and no exit code is chosen here. Messages for the user go as notes to the
 * listener of the options while the work goes on; the outcome counts the notes by kind and says
 * how the session ended. A function that fails returns -errno with a message, and the outcome's end
 * gives the kind of failure.
 *
 * Ranks (comm.h): all ranks call session_analyze with the same arguments. Rank 0 writes; the others
 * read along and always return 0 without a report. They share the locations of an archive that is
 * streamed, else the files, which then are all in rank 0's model.
 *
 * Threads: one session at a time; the listener is called by the calling thread.
 */
#ifndef PROFRIG_SESSION_H
#define PROFRIG_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/comm.h"
#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/model/model.h"
#include "profrig/profile/profile.h"
#include "profrig/readers/reader.h"
#include "profrig/report/writer.h"
#include "profrig/stats/analysis.h"
#include "profrig/topology/topology.h"

/* ---- options ---- */

enum sink_choice { SINK_AUTO, SINK_MODEL, SINK_PROFILE };

enum session_note_kind {
	SESSION_UNREADABLE,        /* an input, or a part of a run or folder */
	SESSION_REPEATED,          /* an input was named before */
	SESSION_LEFT_OUT,          /* a file whose recording is read in another format */
	SESSION_NO_RUN,            /* an earlier analysis among runs is skipped */
	SESSION_ONE_RANK,          /* why rank 0 reads alone */
	SESSION_SHARED,            /* how many files other ranks have read for rank 0 */
	SESSION_SWEPT,             /* half-written files of killed processes were removed; bytes */
	SESSION_ANALYSIS_FAILED,   /* its tables are missing */
	SESSION_ANALYSIS_LEFT_OUT, /* it needs what a profile does not keep */
	SESSION_ANALYSIS_SKIPPED,  /* what it reads is not in the inputs */
	SESSION_CHECK_FAILED,      /* a law of the tables does not hold */
	SESSION_STRICT,            /* a kind of warning, when options are strict */
	SESSION_MEMBER_FAILED,     /* the analysis of one run of an ensemble */
	SESSION_NOT_WRITTEN,       /* a report or table; code, first */
	SESSION_NOTE_KINDS
};

struct session_note {
	enum session_note_kind kind;
	const char *text; /* borrowed for the call */
	int code;         /* positive errno of SESSION_NOT_WRITTEN, 0 unknown */
	bool first;       /* of the files that could not be written */
	int64_t bytes;    /* of SESSION_SWEPT */
};

enum session_phase { SESSION_COMPARE, SESSION_READ, SESSION_ANALYSE, SESSION_WRITE };

/* Each function may be NULL. */
struct session_listener {
	void (*note)(void *ctx, const struct session_note *n);
	/* what: the file's name in the first two, else "" */
	void (*phase)(void *ctx, enum session_phase phase, const char *what);
	/* all inputs are in the model (finished); analyses follow */
	void (*have_read)(void *ctx, const struct model *m);
	/* a part of a phase has ended: an analysis or a writer, by name, or "profile", which
	 * several analyses read */
	void (*done)(void *ctx, enum session_phase phase, const char *part);
	void *ctx;
};

struct session_opts {
	struct analysis_opts analysis;
	enum sink_choice sink;
	long threads;          /* 0: as many as there are processors */
	struct strvec only;    /* names of analyses; empty: all */
	struct strvec formats; /* of reports; empty: csv json folded html */
	/* which processes share which device, by a file and by run directories; owned, serves one
	 * analysis at a time */
	struct topology *topology;
	const struct reader *reader;    /* of named files; NULL: the one that recognises them */
	const char *dialect;            /* of that reader; NULL: as it is recognised */
	struct counter_rules *counters; /* borrowed; NULL: none */
	const struct kernel_classes *classes; /* borrowed; NULL: the built-in rules */
	bool raw_names;                       /* names of ranges stay as recorded (range_name.h) */
	const char *window;                   /* window.h; NULL: the windows of the run */
	bool steady;                          /* only the iterations behind the warm-up */
	long skip_first;                      /* iterations of each group that are left out */
	bool align;                           /* clocks of ranks (clock_inputs.h) */
	bool strict;                          /* a warning makes the outcome partial */
	bool keep_args;                       /* raw arguments of spans are wanted */
	bool file_facts;                      /* what files say of devices is wanted */
	/* a folder that archives were unpacked into: inputs are named without it; NULL: none */
	const char *unpacked;
	/* whether an input is wanted; others are left out silently. NULL: all are */
	bool (*wants)(const char *path, const struct reader *reader);
	struct comm *comm; /* borrowed; NULL: alone */
	bool member;       /* set by the session: the inputs are one run of an ensemble */
	struct session_listener listener;
};
void session_opts_init(struct session_opts *o);
void session_opts_release(struct session_opts *o);
/* -EINVAL: `formats` holds a name that is no report format. */
int session_formats_check(const struct strvec *formats, struct err *err);

/* ---- results ---- */

/* From good to bad; of two the larger one stands. */
enum session_end {
	SESSION_WHOLE,
	SESSION_PARTIAL,      /* results are there, but something is missing: see the notes */
	SESSION_NOTHING_READ, /* no input could be read; notes say why */
	SESSION_NO_OUTPUT,    /* the output folder cannot be made or written to */
	SESSION_BAD_REQUEST,  /* options or inputs that do not go together */
};

struct session_outcome {
	enum session_end end;
	uint64_t read;    /* inputs of which something was read; a run counts too */
	uint64_t partial; /* of those, with parts that could not be read */
	uint64_t noted[SESSION_NOTE_KINDS];
	char last_error[512]; /* text of the last note of an error; "" none */
};
void session_worsen(struct session_outcome *out, enum session_end end);

struct session_result {
	struct session_outcome outcome; /* of an ensemble: with those of its runs */
	struct report report;           /* dir is NULL when nothing was written */
};
void session_result_release(struct session_result *r);

/*
 * Reads, analyses and writes everything into the folder `out`; what an earlier analysis wrote there
 * is replaced. 0: the report is there, and ret->outcome.end says whether it is whole (in an
 * ensemble: the worst end of its runs). *ret is filled in any case.
 */
int session_analyze(const struct strvec *inputs, const struct session_opts *o, const char *out,
		    struct session_result *ret, struct err *err);

struct session_trace {
	struct model *m;         /* finished unless session_read failed */
	struct profile *profile; /* calls, when the inputs were streamed; not finished; NULL */
	struct session_outcome outcome;
};
void session_trace_release(struct session_trace *t);

/*
 * Reads inputs without analysing them. 0: something was read. An input that cannot be read is noted
 * and stands in the model as a partial input with W_UNREADABLE; what is named twice counts once.
 */
int session_read(const struct strvec *inputs, const struct session_opts *o,
		 struct session_trace *ret, struct err *err);
/* Notes every kind of warning of m; any makes the outcome partial. */
void session_strict(const struct model *m, const struct session_opts *o,
		    struct session_outcome *out);

/* ---- output ---- */

/* 0 when dir can be made and written to. */
int session_output_check(const char *dir, struct err *err);
/* Removes half-written files that killed processes left in dir and beside it. */
void session_output_sweep(const char *dir, const struct session_opts *o,
			  struct session_outcome *out);
/* Writes o->formats of a report; a failure is noted and makes the outcome partial. */
void session_write_formats(const struct report *r, const struct session_opts *o,
			   struct session_outcome *out);

/* ---- runs ---- */

/*
 * Whether a path is a run directory. Such a directory is held (door.h) until this process ends:
 * reads and writes in it go through one descriptor.
 */
bool run_dir_held(const char *path);
/* Adds the marks and windows of a run and the measured cost of its tools. */
void run_marks_take(const struct rundir *run, struct analysis_marks *am);

#endif
