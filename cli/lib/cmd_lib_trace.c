/*
 * lib trace: logs of libraries → library_trace.csv, and a summary. Which inputs there are, and how
 * they are read, is the business of a session; a named file is taken for a log whatever it looks
 * like.
 */
#include "cli.h"
#include "out_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/library/library_csv.h"
#include "profrig/model/warnings.h"
#include "profrig/scan/input.h"

#define SHOWN 10

struct lib_trace {
	const struct command *c;
	struct session_opts o;
	const char *output, *model;
	bool json;
	/* sessions: one for all logs, one for each run, as the clocks of runs differ */
	VEC(struct session_trace) traces;
	struct library_calls *calls; /* of all */
	struct library_totals all;
	bool read; /* some session read something */
	int code;  /* the worst of the sessions */
};

/* A fact of the reader (read_library_log.c), over all inputs. */
static uint64_t fact_sum(const struct lib_trace *lt, const char *key)
{
	uint64_t sum = 0;

	for (size_t t = 0; t < lt->traces.nr; t++) {
		const struct model *m = lt->traces.v[t].m;

		for (size_t i = 0; i < m->inputs.nr; i++)
			for (size_t k = 0; k < m->inputs.v[i].facts.nr; k++)
				if (!strcmp(m->inputs.v[i].facts.v[k].key, key))
					sum += (uint64_t)m->inputs.v[i].facts.v[k].value;
	}
	return sum;
}

/* The next warning of all sessions; NULL: no more. Begin with *trace = *at = 0. */
static const struct warning *warning_next(const struct lib_trace *lt, size_t *trace, size_t *at)
{
	for (; *trace < lt->traces.nr; (*trace)++, *at = 0) {
		const struct model *m = lt->traces.v[*trace].m;

		if (*at < m->warnings.nr)
			return &m->warnings.v[(*at)++];
	}
	return NULL;
}

/* ---- the file ---- */

/* The model of the runs among the inputs, when they are of one; owned. */
static char *model_of(const struct strvec *inputs)
{
	char *model = NULL;

	for (size_t i = 0; i < inputs->nr; i++) {
		CLEANUP(rundir_release) struct rundir run = { 0 };

		if (!run_dir_held(inputs->v[i]) || rundir_open(inputs->v[i], &run, NULL) < 0 ||
		    !run.model)
			continue;
		if (model && strcmp(model, run.model) != 0) {
			free(model);
			return xstrdup("");
		}
		free(model);
		model = xstrdup(run.model);
	}
	return model;
}

static int csv_to(const struct lib_trace *lt, const struct library_csv_facts *facts,
		  struct err *err)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	CLEANUP(xfreep) char *dir = fs_dir(lt->output);
	int r = out_file_open(dir, fs_base(lt->output), &o, err);

	if (r < 0)
		return r;
	library_csv_write(lt->calls, facts, o.f);
	return out_file_commit(&o, err);
}

static int csv_write(const struct lib_trace *lt, const struct strvec *inputs)
{
	CLEANUP(xfreep) char *of_run = model_of(inputs);
	const char *of_env = getenv("MAD_MODEL_NAME");
	struct library_csv_facts facts;
	struct err err = ERR_INIT;

	library_csv_facts(lt->model ? lt->model : of_run ? of_run : of_env ? of_env : "", &facts);
	if (!strcmp(lt->output, "-")) {
		library_csv_write(lt->calls, &facts, stdout);
		return EXIT_DONE;
	}
	if (csv_to(lt, &facts, &err) == 0)
		return EXIT_DONE;
	cli_write_failed(&err, true);
	return EXIT_MISSING;
}

/* ---- the summary ---- */

struct operation {
	const char *library, *name;
	uint64_t calls, configurations;
	library_sum flops;
};

struct operations {
	VEC(struct operation) v;
};

static int by_work(const void *a, const void *b)
{
	const struct operation *x = a, *y = b;

	if (x->flops != y->flops)
		return x->flops > y->flops ? -1 : 1;
	return (x->calls < y->calls) - (x->calls > y->calls);
}

static void operations_sum(const struct library_calls *lc, bool by_library, struct operations *ret)
{
	for (size_t i = 0; i < lc->rows.nr; i++) {
		const struct library_row *r = &lc->rows.v[i];
		struct operation *o =
			VEC_FIND(&ret->v, k,
				 !strcmp(k->name, r->operation) &&
					 (!by_library || !strcmp(k->library, r->library)));

		if (!o) {
			VEC_PUSH(&ret->v,
				 ((struct operation){ r->library, r->operation, 0, 0, 0 }));
			o = &ret->v.v[ret->v.nr - 1];
		}
		o->calls += r->calls;
		o->configurations++;
		o->flops += r->all_flops;
	}
	if (ret->v.nr)
		qsort(ret->v.v, ret->v.nr, sizeof(*ret->v.v), by_work);
}

static void json_sum(struct json_out *j, const char *key, library_sum v)
{
	char digits[48];

	library_sum_fmt(digits, v);
	json_raw(j, key, digits);
}

static void say_json(const struct lib_trace *lt)
{
	const struct library_calls *lc = lt->calls;
	struct operations ops = { VEC_INIT };
	const struct warning *w;
	struct json_out j;

	operations_sum(lc, false, &ops);
	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_u64(&j, "records", lt->all.calls);
	json_u64(&j, "distinct", lc->distinct);
	json_u64(&j, "torn", fact_sum(lt, "torn"));
	json_u64(&j, "doubled", fact_sum(lt, "doubled"));
	json_u64(&j, "foreign", fact_sum(lt, "other_lines"));
	json_u64(&j, "bad", fact_sum(lt, "bad"));
	json_u64(&j, "joined", fact_sum(lt, "joined"));
	json_u64(&j, "nested", lt->all.nested);
	json_obj(&j, "operations");
	for (size_t i = 0; i < ops.v.nr; i++)
		json_u64(&j, ops.v.v[i].name, ops.v.v[i].calls);
	json_end(&j);
	json_sum(&j, "flops", lt->all.flops);
	json_sum(&j, "bytes", lt->all.bytes);
	json_arr(&j, "warnings");
	for (size_t t = 0, at = 0; (w = warning_next(lt, &t, &at));) {
		json_obj(&j, NULL);
		json_str(&j, "code", w->code);
		json_u64(&j, "count", w->count);
		json_str(&j, "text", w->text);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putchar('\n');
	VEC_RELEASE(&ops.v);
}

static void count_word(FILE *f, uint64_t n, const char *one, const char *many)
{
	fprintf(f, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

static void say_text(const struct lib_trace *lt, FILE *f)
{
	struct operations ops = { VEC_INIT };
	char flops[32];

	operations_sum(lt->calls, true, &ops);
	if (strcmp(lt->output, "-") != 0) {
		cli_put(f, lt->output, 0);
		fputs(": ", f);
	}
	count_word(f, lt->all.calls, "call", "calls");
	fputs(" of ", f);
	count_word(f, lt->calls->distinct, "configuration", "configurations");
	fprintf(f, ", %s\n", cli_si((double)lt->all.flops, "flop", flops));
	for (size_t i = 0; i < ops.v.nr && i < SHOWN; i++) {
		const struct operation *o = &ops.v.v[i];

		fprintf(f, "  %-10s %-32s %12" PRIu64 " %s of %" PRIu64, o->library, o->name,
			o->calls, o->calls == 1 ? "call " : "calls", o->configurations);
		if (o->flops)
			fprintf(f, "  %s", cli_si((double)o->flops, "flop", flops));
		fputc('\n', f);
	}
	if (ops.v.nr > SHOWN)
		fprintf(f, "  … and %zu more operations\n", ops.v.nr - SHOWN);
	VEC_RELEASE(&ops.v);
}

/* What is lost; that an input cannot be read at all was said already. */
static void say_losses(const struct lib_trace *lt)
{
	const struct warning *w;

	for (size_t t = 0, at = 0; (w = warning_next(lt, &t, &at));) {
		if (!strcmp(w->code, W_TORN_RECORD) || !strcmp(w->code, W_BAD_CALL) ||
		    !strcmp(w->code, W_LIBRARY_ROWS))
			log_warn("%" PRIu64 " %s", w->count, w->text);
		else if (w->severity == SEV_ERROR && strcmp(w->code, W_UNREADABLE) != 0)
			log_warn("%s", w->text);
	}
}

/* Records of any kind and other lines of libraries; spans of the BLAS tracer have no facts. */
static uint64_t lines_of_libraries(const struct lib_trace *lt)
{
	static const char *const facts[] = { "library_calls", "doubled", "torn", "bad",
					     "library_lines" };
	uint64_t n = lt->all.calls;

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		n += fact_sum(lt, facts[i]);
	return n;
}

static void say_no_calls(const struct lib_trace *lt)
{
	bool said = false;

	for (size_t t = 0; t < lt->traces.nr; t++) {
		const struct model *m = lt->traces.v[t].m;

		for (size_t i = 0; i < m->inputs.nr; i++) {
			if (strcmp(m->inputs.v[i].reader, "library_log") != 0)
				continue;
			log_error("%s: no line of it is of a library", m->inputs.v[i].path);
			said = true;
		}
	}
	if (!said)
		log_error("no log of a library: record calls with onednn_trace, rocblas_trace, "
			  "blas_trace … ('profrig list tools')");
}

/* ---- the command ---- */

/* Of a run and of a folder: logs of libraries, and traces of profrig's BLAS tracer. */
static bool may_have_calls(const char *path, const struct reader *reader)
{
	char head[4096];
	int64_t n;

	if (strcmp(reader->name, "library_log") == 0)
		return true;
	if (strcmp(reader->name, "tef") != 0)
		return false;
	n = input_head(path, head, sizeof(head), NULL);
	return n > 0 && memmem(head, (size_t)n, "\"tracer\":\"blas\"", 15);
}

/* One session; what was read is in lt. */
static void session_trace(struct lib_trace *lt, const struct strvec *inputs)
{
	struct session_trace t = { 0 };
	struct err err = ERR_INIT;
	int code;

	if (session_read(inputs, &lt->o, &t, &err) < 0)
		code = cli_session_failed(&t.outcome, &err);
	else
		code = cli_session_code(&t.outcome);
	if (t.m && t.m->library)
		library_calls_merge(lt->calls, t.m->library);
	lt->read |= code == EXIT_DONE || code == EXIT_PARTIAL;
	lt->code = exit_worse(lt->code, code);
	if (t.m)
		VEC_PUSH(&lt->traces, t);
	else
		session_trace_release(&t);
}

static bool named_before(const struct strvec *inputs, size_t at)
{
	struct stat a, b;

	for (size_t i = 0; i < at; i++)
		if (door_stat(inputs->v[i], &a) == 0 && door_stat(inputs->v[at], &b) == 0 &&
		    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return true;
	return false;
}

static void inputs_read(struct lib_trace *lt, const struct strvec *inputs)
{
	CLEANUP(strvec_release) struct strvec logs = STRVEC_INIT;

	for (size_t i = 0; i < inputs->nr; i++)
		if (!run_dir_held(inputs->v[i]))
			strvec_push(&logs, inputs->v[i]);
	if (logs.nr)
		session_trace(lt, &logs);
	for (size_t i = 0; i < inputs->nr; i++) {
		CLEANUP(strvec_release) struct strvec run = STRVEC_INIT;

		if (!run_dir_held(inputs->v[i]))
			continue;
		if (named_before(inputs, i)) {
			log_warn("%s was read already; it counts once", inputs->v[i]);
			continue;
		}
		strvec_push(&run, inputs->v[i]);
		session_trace(lt, &run);
	}
	lt->all = library_calls_totals(lt->calls);
}

static int inputs_trace(struct lib_trace *lt, const struct strvec *inputs)
{
	int code;

	lt->calls = library_calls_new();
	inputs_read(lt, inputs);
	progress_end();
	/* of several, one that cannot be read is a part that is missing */
	if (lt->code == EXIT_UNREADABLE && lt->read)
		lt->code = EXIT_PARTIAL;
	if (lt->code != EXIT_DONE && lt->code != EXIT_PARTIAL)
		return lt->code;
	if (lines_of_libraries(lt) == 0) {
		say_no_calls(lt);
		return EXIT_UNREADABLE;
	}
	code = csv_write(lt, inputs);
	if (code != EXIT_DONE)
		return code;
	say_losses(lt);
	if (fact_sum(lt, "torn") || fact_sum(lt, "bad") || lt->calls->over_calls)
		lt->code = EXIT_PARTIAL;
	if (lt->json)
		say_json(lt);
	else
		say_text(lt, strcmp(lt->output, "-") ? stdout : stderr);
	return lt->code;
}

static int lib_trace_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct lib_trace lt = { .c = c, .output = "library_trace.csv" };
	char **rest;

	cli_session_opts(&lt.o);
	lt.o.sink = SINK_MODEL;
	lt.o.reader = reader_find("library_log");
	lt.o.wants = may_have_calls;
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &lt.output, "FILE",
		  "where to write (library_trace.csv here); -: standard output" },
		{ "model", 0, OPT_STR, &lt.model, "NAME",
		  "the model's name in the table; else that of the run, or $MAD_MODEL_NAME" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &lt.json, argc, argv, &inputs, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&inputs, *rest);
	if (code < 0 && !inputs.nr)
		code = cli_usage(c, "no log and no run");
	if (code < 0 && lt.json && !strcmp(lt.output, "-"))
		code = cli_usage(c, "--json and -o - both write to standard output");
	if (code < 0)
		code = inputs_trace(&lt, &inputs);
	progress_end();
	for (size_t i = 0; i < lt.traces.nr; i++)
		session_trace_release(&lt.traces.v[i]);
	VEC_RELEASE(&lt.traces);
	library_calls_free(lt.calls);
	session_opts_release(&lt.o);
	return code;
}

extern const struct command cmd_lib_trace;
const struct command cmd_lib_trace = { "lib trace", "LOG…|RUN…",
				       "library calls of a model, counted from its logs",
				       "profrig lib trace rocblas.log nccl.*.log", lib_trace_main };
