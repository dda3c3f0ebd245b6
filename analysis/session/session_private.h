/* State of one analysis of one set of inputs, shared by the files of the session. */
#ifndef PROFRIG_SESSION_PRIVATE_H
#define PROFRIG_SESSION_PRIVATE_H

#include "profrig/session/session.h"

struct session {
	const struct session_opts *o;
	struct session_outcome *out;
	const char *output; /* absolute folder of results, which are no inputs; NULL: none */
	struct model *m;
	struct profile *profile;       /* takes the calls of a streamed archive; NULL */
	struct profile *of_model;      /* aggregates of the calls in the model; NULL */
	struct energy_stream *energy;  /* of the calls of either */
	struct analysis_opts ao;       /* completed by what a run directory says */
	struct hlo_programs *programs; /* of dumps of compilers, owned; NULL: none */
	struct report_timings times;
	char *run_dir; /* the run directory among the inputs, owned; NULL */
	bool lanes;    /* ranks share the model, and each has the calls of some files */
	bool left;     /* they do not, as rank 0 found: this rank has nothing to do */
	char *alone;   /* why one rank reads a streamable archive alone, owned; NULL */
};

/* Seconds since *at, which moves to now. */
double session_lap_s(int64_t *at);

/* Whether readers keep the launch shapes of kernels: energy by power distinguishes them. */
bool session_wants_shapes(const struct session *s);
/* Whether an analysis looks at single calls, and may want their facts (facts.h); not to convert. */
bool session_wants_facts(const struct session *s);

/* ---- notes.c ---- */

/* Counts a note and hands it to the listener. n->text is made of fmt. */
void session_note_put(const struct session_opts *o, struct session_outcome *out,
		      struct session_note n, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define session_note(o, out, note_kind, ...) \
	session_note_put(o, out, (struct session_note){ .kind = (note_kind) }, __VA_ARGS__)
void session_phase(const struct session_opts *o, enum session_phase phase, const char *what);
void session_done(const struct session_opts *o, enum session_phase phase, const char *part);
/* Sets the end and returns r. */
int session_fail(struct session_outcome *out, enum session_end end, int r);

/* ---- pick_sink.c ---- */

/* The reader of an input: that of the options, else as reader_detect. */
int session_detect(const struct session_opts *o, const char *path, const struct reader **ret,
		   struct err *err);
/* A profile into s->m, by as many threads and ranks as there are. */
void session_stream(struct session *s, struct lane_reader lanes);
/*
 * Sets s->profile when the inputs are to be streamed. *ret_fits: SINK_AUTO chose, and the calls
 * would fit into memory as well; NULL: it then streams only what does not. -EINVAL: the inputs
 * cannot be streamed, and SINK_PROFILE was asked for.
 */
int session_pick_sink(struct session *s, const struct strvec *inputs, struct lane_reader lanes,
		      bool *ret_fits, struct err *err);

/* ---- inputs.c ---- */

/* Reads into s->m and finishes it. */
int session_read_inputs(struct session *s, const struct strvec *inputs, struct err *err);

/* ---- analyze_runs.c ---- */

/* The distinct run directories among the inputs (borrowed words), and an input that is none, NULL.
 */
size_t session_runs_of(const struct strvec *inputs, const struct session_opts *o,
		       struct session_outcome *out, struct strvec *ret, const char **ret_other);
/* Several runs as an ensemble into ret->report.dir. */
int session_analyze_runs(const struct strvec *runs, const struct session_opts *o,
			 struct session_result *ret, struct err *err);

/* ---- run_analyses.c ---- */

/* nr of the analyses, in their order, into out. Sets s->ao.shared for the call. */
void session_run_analyses(struct session *s, const struct analysis *const *v, size_t nr,
			  struct table_set *out);

/* ---- output.c ---- */

/* Tables and reports of rep, analysis.json last. */
void session_write(struct report *rep, const struct model *m, struct report_timings *times,
		   const struct session_opts *o, struct session_outcome *out);

static inline bool session_wants_steady(const struct session_opts *o)
{
	return o->steady || o->skip_first > 0;
}
/* Cuts the model to the iterations that the options want. */
int session_steady_cut(struct session *s, struct model_windowed *ret, struct err *err);

#endif
