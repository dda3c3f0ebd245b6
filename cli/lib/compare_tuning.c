#include "compare_tuning.h"
#include "compare_file.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/log.h"
#include "profrig/bench/bench_tuning.h"

struct table {
	const char *path; /* NULL: not wanted */
	const char *revision;
	struct bench_tuning tuning;
	struct bench_validators validators;
};

int compare_tuning_check(const struct compare_tuning *o, const struct command *c)
{
	if (o->validators && !o->tunableop)
		return cli_usage(c, "--tunableop-validators without --tunableop");
	if (o->tunableop && o->hipblaslt && !strcmp(o->tunableop, o->hipblaslt))
		return cli_usage(c, "--tunableop and --hipblaslt-tuning both write %s",
				 o->tunableop);
	if (o->revision && !o->hipblaslt)
		return cli_usage(c, "--hipblaslt-revision without --hipblaslt-tuning");
	if (o->revision && !bench_revision_is_one(o->revision))
		return cli_usage(c,
				 "--hipblaslt-revision wants a revision such as a9c5cc7, not "
				 "'%.40s'",
				 o->revision);
	return EXIT_DONE;
}

/* ---- what is left out ---- */

static void left_say(const struct table *w)
{
	const struct bench_tuning *u = &w->tuning;

	for (size_t i = 0; i < u->left.nr; i++) {
		const struct bench_tuning_left *l = &u->left.v[i];

		log_warn("%s: %zu %s (%" PRIu64 " %s) %s left out: %s", w->path, l->keys,
			 l->keys == 1 ? "key" : "keys", l->calls, l->calls == 1 ? "call" : "calls",
			 l->keys == 1 ? "is" : "are", l->reason);
	}
	if (!u->lines.nr)
		log_warn("%s: no product has a solution with a number: it is not written", w->path);
}

/* PyTorch wants exactly its own. */
static void validators_say(const struct table *w)
{
	const char *told = bench_validators_find(&w->validators, "HIPBLASLT_VERSION");

	if (!w->tuning.lines.nr)
		return;
	if (!w->validators.v.nr)
		log_warn("%s: PyTorch rejects it until its lines Validator,PT_VERSION,… are added: "
			 "--tunableop-validators takes them from a tunableop_results.csv, which "
			 "PyTorch writes where PYTORCH_TUNABLEOP_ENABLED=1",
			 w->path);
	else if (!bench_validators_find(&w->validators, "PT_VERSION"))
		log_warn("%s: PyTorch rejects it: there is no validator PT_VERSION", w->path);
	if (told && *w->tuning.version && strcmp(told, w->tuning.version) != 0)
		log_warn("%s: its numbers are those of hipBLASLt %s, and the validators say %s: "
			 "they may mean other kernels there, or none",
			 w->path, w->tuning.version, told);
}

/* ---- the tables ---- */

static int table_refused(const struct table *w, const char *why)
{
	log_error("%s: %s", w->path, why);
	return EXIT_USAGE;
}

static int table_choose(const struct bench_tables *t, enum bench_tuning_form form, struct table *w)
{
	struct err err = ERR_INIT;

	if (!w->path || bench_tuning_choose(t, form, &w->tuning, &err) == 0)
		return EXIT_DONE;
	return table_refused(w, err.msg);
}

static int revision_choose(struct table *w)
{
	const char *told = w->tuning.revision;

	if (!w->tuning.lines.nr)
		return EXIT_DONE;
	if (w->revision && *told && strcmp(w->revision, told) != 0) {
		log_error("%s: its numbers are those of hipBLASLt's revision %s, not of %s",
			  w->path, told, w->revision);
		return EXIT_USAGE;
	}
	if (!w->revision)
		w->revision = told;
	if (*w->revision)
		return EXIT_DONE;
	return table_refused(w, "its rows do not tell hipBLASLt's revision, without which "
				"hipBLASLt rejects it: give --hipblaslt-revision");
}

static void table_print(const void *ctx, FILE *f)
{
	const struct table *w = ctx;

	bench_tuning_write(&w->tuning, &w->validators, w->revision, f);
}

static int table_write(const struct table *w)
{
	if (!w->path)
		return EXIT_DONE;
	left_say(w);
	return w->tuning.lines.nr ? compare_file_write(w->path, table_print, w) : EXIT_DONE;
}

static int validators_get(const struct compare_tuning *o, struct table *w)
{
	struct err err = ERR_INIT;

	if (!o->validators || bench_validators_read(o->validators, &w->validators, &err) == 0)
		return EXIT_DONE;
	log_error("%s", err.msg);
	return EXIT_UNREADABLE;
}

static void table_release(struct table *w)
{
	bench_tuning_release(&w->tuning);
	bench_validators_release(&w->validators);
}

int compare_tuning_write(const struct compare_tuning *o, const struct bench_tables *t)
{
	CLEANUP(table_release)
	struct table op = { .path = o->tunableop, .tuning = BENCH_TUNING_INIT };
	CLEANUP(table_release)
	struct table lt = { .path = o->hipblaslt,
			    .revision = o->revision,
			    .tuning = BENCH_TUNING_INIT };
	int code = validators_get(o, &op);

	if (code == EXIT_DONE)
		code = table_choose(t, BENCH_TUNABLEOP, &op);
	if (code == EXIT_DONE)
		code = table_choose(t, BENCH_HIPBLASLT_TUNING, &lt);
	if (code == EXIT_DONE)
		code = revision_choose(&lt);
	if (code != EXIT_DONE)
		return code;
	validators_say(&op);
	code = table_write(&op);
	return exit_worse(code, table_write(&lt));
}
