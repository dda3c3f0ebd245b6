/* lib trace: logs of libraries → library_trace.csv, and a summary. */
#include "cli.h"
#include "lib_inputs.h"
#include "out_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/library/library_csv.h"
#include "profrig/model/warnings.h"

#define SHOWN 10

struct lib_trace {
	const struct command *c;
	const char *output, *model;
	bool json;
	struct lib_inputs in;
	struct library_totals all;
};

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
	library_csv_write(lt->in.calls, facts, o.f);
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
		library_csv_write(lt->in.calls, &facts, stdout);
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
	const struct library_calls *lc = lt->in.calls;
	struct operations ops = { VEC_INIT };
	const struct warning *w;
	struct json_out j;

	operations_sum(lc, false, &ops);
	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_u64(&j, "records", lt->all.calls);
	json_u64(&j, "distinct", lc->distinct);
	json_u64(&j, "torn", lib_inputs_fact(&lt->in, "torn"));
	json_u64(&j, "doubled", lib_inputs_fact(&lt->in, "doubled"));
	json_u64(&j, "foreign", lib_inputs_fact(&lt->in, "other_lines"));
	json_u64(&j, "bad", lib_inputs_fact(&lt->in, "bad"));
	json_u64(&j, "joined", lib_inputs_fact(&lt->in, "joined"));
	json_u64(&j, "nested", lt->all.nested);
	json_obj(&j, "operations");
	for (size_t i = 0; i < ops.v.nr; i++)
		json_u64(&j, ops.v.v[i].name, ops.v.v[i].calls);
	json_end(&j);
	json_sum(&j, "flops", lt->all.flops);
	json_sum(&j, "bytes", lt->all.bytes);
	json_arr(&j, "warnings");
	for (size_t t = 0, at = 0; (w = lib_inputs_warning(&lt->in, &t, &at));) {
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

	operations_sum(lt->in.calls, true, &ops);
	if (strcmp(lt->output, "-") != 0) {
		cli_put(f, lt->output, 0);
		fputs(": ", f);
	}
	count_word(f, lt->all.calls, "call", "calls");
	fputs(" of ", f);
	count_word(f, lt->in.calls->distinct, "configuration", "configurations");
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

	for (size_t t = 0, at = 0; (w = lib_inputs_warning(&lt->in, &t, &at));) {
		if (!strcmp(w->code, W_TORN_RECORD) || !strcmp(w->code, W_BAD_CALL) ||
		    !strcmp(w->code, W_LIBRARY_ROWS))
			log_warn("%" PRIu64 " %s", w->count, w->text);
		else if (w->severity == SEV_ERROR && strcmp(w->code, W_UNREADABLE) != 0)
			log_warn("%s", w->text);
	}
}

/* ---- the command ---- */

static int inputs_trace(struct lib_trace *lt, const struct strvec *inputs)
{
	int code = lib_inputs_read(inputs, &lt->in);

	if (code != EXIT_DONE && code != EXIT_PARTIAL)
		return code;
	lt->all = library_calls_totals(lt->in.calls);
	code = exit_worse(csv_write(lt, inputs), code);
	if (code != EXIT_DONE && code != EXIT_PARTIAL)
		return code;
	say_losses(lt);
	if (lib_inputs_fact(&lt->in, "torn") || lib_inputs_fact(&lt->in, "bad") ||
	    lt->in.calls->over_calls)
		code = EXIT_PARTIAL;
	if (lt->json)
		say_json(lt);
	else
		say_text(lt, strcmp(lt->output, "-") ? stdout : stderr);
	return code;
}

static int lib_trace_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct lib_trace lt = { .c = c, .output = "library_trace.csv" };
	char **rest;
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
	lib_inputs_release(&lt.in);
	return code;
}

extern const struct command cmd_lib_trace;
const struct command cmd_lib_trace = { "lib trace", "LOG…|RUN…",
				       "library calls of a model, counted from its logs",
				       "profrig lib trace rocblas.log nccl.*.log", lib_trace_main };
