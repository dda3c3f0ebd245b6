/*
 * The plan as a POSIX shell script. On the host it can be run by hand: same folders, scripts,
 * environment and order, and post scripts also after a failure. For a container it holds the steps
 * that run inside. Samplers, timeouts and the judging of outputs need profrig and appear as
 * comments. Secrets are taken from the environment of the script's caller.
 */
#include "plan_flat.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"

static void sh_word(const char *s, FILE *f)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_add_shell(&sb, s);
	fputs(sb.buf, f);
}

static void sh_line(const char *command, const char *a, const char *b, FILE *f)
{
	fprintf(f, "%s ", command);
	sh_word(a, f);
	if (b) {
		fputc(' ', f);
		sh_word(b, f);
	}
	fputc('\n', f);
}

/* A line end in the text would end the comment. */
static void sh_comment(const char *label, const char *text, FILE *f)
{
	fprintf(f, "# %s", label);
	for (; *text; text++)
		fputc(*text == '\n' || *text == '\r' ? ' ' : *text, f);
	fputc('\n', f);
}

/* The variable of the script's caller that holds a secret. */
static const char *sh_holder(const struct plan_env *e)
{
	return e->from ? e->from : e->name;
}

static void step_comment(const struct plan_step *s, size_t nr, FILE *f)
{
	char number[32];

	num_fmt_f64(number, s->timeout_s);
	fprintf(f, "\n# step %zu: %s", nr, s->name);
	if (s->timeout_s > 0)
		fprintf(f, ", ended after %s s", number);
	fputc('\n', f);
	for (size_t i = 0; i < s->env.nr; i++)
		if (s->env.v[i].secret)
			fprintf(f, "# %s=***: a secret, taken from your own %s\n", s->env.v[i].name,
				sh_holder(&s->env.v[i]));
}

/* Checked at the start, as the script does not hold their values. */
static void sh_secrets(const struct plan *pl, FILE *f)
{
	for (size_t i = 0; i < pl->steps.nr; i++)
		for (size_t k = 0; k < pl->steps.v[i].env.nr; k++) {
			const struct plan_env *e = &pl->steps.v[i].env.v[k];

			if (e->secret)
				fprintf(f, ": \"${%s?holds a secret of this run: export it}\"\n",
					sh_holder(e));
		}
}

static void sh_step(const struct plan_step *s, size_t nr, FILE *f)
{
	CLEANUP(xfreep) char *argv = strvec_shell(&s->argv);

	step_comment(s, nr, f);
	if (s->kind != STEP_POST)
		fprintf(f, "if [ \"$status\" -eq 0 ]; then\n");
	fprintf(f, "(\n");
	fputs("cd ", f);
	sh_word(s->cwd, f);
	fputs(" || exit\n", f);
	/* By assignment: arguments of env would be visible in its argv. */
	for (size_t i = 0; i < s->env.nr; i++) {
		const struct plan_env *e = &s->env.v[i];

		if (e->secret && strcmp(sh_holder(e), e->name) != 0)
			fprintf(f, "%s=$%s\nexport %s\n", e->name, sh_holder(e), e->name);
	}
	fprintf(f, "exec env%s \\\n", s->inherit_env ? "" : " -i");
	for (size_t i = 0; s->inherit_env && i < s->unset.nr; i++)
		fprintf(f, "\t-u %s \\\n", s->unset.v[i].name);
	for (size_t i = 0; i < s->env.nr; i++) {
		const struct plan_env *e = &s->env.v[i];

		if (e->secret)
			continue;
		fprintf(f, "\t%s=", e->name);
		sh_word(e->value, f);
		fprintf(f, " \\\n");
	}
	fprintf(f, "\t%s\n) </dev/null >", argv);
	sh_word(s->out, f);
	fputs(" 2>", f);
	sh_word(s->err, f);
	fprintf(f, " || failed $?\n");
	if (s->kind != STEP_POST)
		fprintf(f, "fi\n");
}

static void print_made_file(const struct plan_made *c, FILE *f)
{
	fputs("printf %s ", f);
	sh_word(c->text, f);
	fputs(" >", f);
	sh_word(c->to, f);
	sh_line("\nchmod 755", c->to, NULL, f);
}

static void sh_head(const struct plan *pl, FILE *f)
{
	CLEANUP(xfreep) char *start = strvec_shell(&pl->engine_argv);

	fprintf(f, "#!/bin/sh\n");
	sh_comment("run ", pl->run_id, f);
	sh_comment("model ", pl->conf->model_name, f);
	if (pl->engine->container) {
		sh_comment("engine ", pl->engine->name, f);
		sh_comment("the steps below run inside what this starts: ", start, f);
	}
	fprintf(f, "status=0\n# the first failure is the one that counts\n"
		   "failed() { [ \"$status\" -ne 0 ] || status=$1; }\n");
	sh_secrets(pl, f);
	fputc('\n', f);
	for (size_t i = 0; i < pl->mkdirs.nr; i++)
		sh_line("mkdir -p", pl->mkdirs.v[i], NULL, f);
	for (size_t i = 0; i < pl->copies.nr; i++)
		sh_line("cp", pl->copies.v[i].from, pl->copies.v[i].to, f);
	for (size_t i = 0; i < pl->made.nr; i++)
		print_made_file(&pl->made.v[i], f);
	plan_source_sh(pl, f);
}

static void sh_tail(const struct plan *pl, FILE *f)
{
	fputc('\n', f);
	for (size_t i = 0; i < pl->samplers.nr; i++)
		sh_comment(pl->conf->idle_s > 0
				   ? "sampled beside the workload, and for a while around it: "
				   : "sampled beside the workload: ",
			   pl->samplers.v[i].tool, f);
	for (size_t i = 0; i < pl->outputs.nr; i++) {
		CLEANUP(xfreep)
		char *path = xasprintf("%s/%s", pl->outputs.v[i].dir, pl->outputs.v[i].glob);

		sh_comment(pl->outputs.v[i].required ? "required output: " : "optional output: ",
			   path, f);
	}
	if (pl->source_dir && !pl->conf->source.keep)
		sh_line("rm -rf", pl->source_dir, NULL, f);
	fprintf(f, "exit \"$status\"\n");
}

static void print_sh(const void *ctx, FILE *f)
{
	const struct plan *pl = ctx;
	sh_head(pl, f);
	for (size_t i = 0; i < pl->steps.nr; i++)
		sh_step(&pl->steps.v[i], i + 1, f);
	sh_tail(pl, f);
}

/* Masked, as a user may have written a secret into a command. */
void plan_print_sh(const struct plan *pl, FILE *f)
{
	redact_through(f, print_sh, pl);
}
