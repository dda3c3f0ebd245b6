/* The plan for people: one block per thing, names and values in columns, where each value came from
 * at the end of its line. */
#include "plan_flat.h"

#include <string.h>

#include "profrig/fs.h"
#include "profrig/num.h"
#include "profrig/redact.h"
#include "profrig/strbuf.h"

#define VALUE_WIDTH 56 /* wider values push their origin to the right, the others stay aligned */

static size_t wider(size_t have, const char *s)
{
	size_t n = strlen(s);

	return n > have && n <= VALUE_WIDTH ? n : have;
}

/* Rows of three columns, the first two padded. */
struct rows {
	VEC(struct flat_row) v;
};

static void push(struct rows *r, const char *name, const char *value, const char *origin)
{
	struct strbuf quoted = STRBUF_INIT;

	if (!strcmp(value, "***"))
		strbuf_addstr(&quoted, value);
	else
		strbuf_add_shell(&quoted, value);
	VEC_PUSH(&r->v,
		 ((struct flat_row){ xstrdup(name), strbuf_steal(&quoted), xstrdup(origin) }));
}

static void flush(struct rows *r, const char *indent, FILE *f)
{
	size_t name = 0, value = 0;

	for (size_t i = 0; i < r->v.nr; i++) {
		name = wider(name, r->v.v[i].key);
		value = wider(value, r->v.v[i].value);
	}
	for (size_t i = 0; i < r->v.nr; i++) {
		struct flat_row *row = &r->v.v[i];

		fprintf(f, "%s%-*s  ", indent, (int)name, row->key);
		if (*row->origin)
			fprintf(f, "%-*s  %s\n", (int)value, row->value, row->origin);
		else
			fprintf(f, "%s\n", row->value);
		free(row->key);
		free(row->value);
		free(row->origin);
	}
	VEC_RELEASE(&r->v);
}

static void print_argv(const struct strvec *argv, FILE *f)
{
	CLEANUP(xfreep) char *line = strvec_shell(argv);

	fprintf(f, "%s\n", line);
}

static void print_config(const struct plan *pl, FILE *f)
{
	struct flat flat;
	struct rows r = { VEC_INIT };

	plan_flatten(pl->conf, &flat);
	fprintf(f, "\nconfiguration\n");
	for (size_t i = 0; i < flat.rows.nr; i++) {
		struct flat_row *row = &flat.rows.v[i];

		/* Lists are words already. */
		VEC_PUSH(&r.v, ((struct flat_row){ xstrdup(row->key), xstrdup(row->value),
						   xstrdup(row->origin) }));
	}
	flush(&r, "  ", f);
	flat_release(&flat);
}

static void print_tools(const struct plan *pl, FILE *f)
{
	const struct runconf *c = pl->conf;

	fprintf(f, "\ntools, innermost first%s\n", c->tools.nr ? "" : ": none");
	for (size_t i = 0; i < c->tools.nr; i++) {
		const struct runconf_tool *t = &c->tools.v[i];
		struct rows r = { VEC_INIT };

		fprintf(f, "  %s (%s) %s\n", t->tool->name, tool_class_name(t->tool->class),
			t->tool->file);
		for (size_t k = 0; k < t->options.nr; k++)
			push(&r, t->options.v[k].name, t->options.v[k].value,
			     t->options.v[k].origin);
		flush(&r, "      ", f);
		for (size_t k = 0; pl->engine->container && k < t->tool->caps.nr; k++)
			fprintf(f, "      gives the container the capability %s\n",
				t->tool->caps.v[k]);
	}
}

static void print_timeout(double timeout_s, FILE *f)
{
	char number[32];

	if (timeout_s <= 0)
		return;
	num_fmt_f64(number, timeout_s);
	fprintf(f, ", at most %s s", number);
}

static const char *below_run(const struct plan *pl, const char *path)
{
	const char *rest = fs_below(pl->run_dir, path);

	return rest && *rest ? rest : path;
}

static void print_step(const struct plan *pl, const struct plan_step *s, size_t nr, FILE *f)
{
	struct rows r = { VEC_INIT };
	const char *outer = pl->engine->container ? "image" : "caller";

	fprintf(f, "\n  %02zu %s", nr, s->name);
	if (s->tool)
		fprintf(f, " of %s", s->tool);
	print_timeout(s->timeout_s, f);
	fprintf(f, "\n     in   %s\n     run  ", s->cwd);
	print_argv(&s->argv, f);
	fprintf(f, "     out  %s, %s\n", below_run(pl, s->out), below_run(pl, s->err));
	if (s->inherit_env)
		fprintf(f, "     env  the %s's, and over it\n", outer);
	else
		fprintf(f, "     env  nothing but\n");
	for (size_t i = 0; i < s->env.nr; i++)
		push(&r, s->env.v[i].name, plan_env_value(&s->env.v[i]), s->env.v[i].origin);
	flush(&r, "          ", f);
}

static void print_samplers(const struct plan *pl, FILE *f)
{
	char idle[32];

	num_fmt_f64(idle, pl->conf->idle_s);
	if (pl->samplers.nr && pl->conf->idle_s > 0)
		fprintf(f, "\nsamplers, beside the workload and %s s before and after it\n", idle);
	else if (pl->samplers.nr)
		fprintf(f, "\nsamplers, beside the workload\n");
	for (size_t i = 0; i < pl->samplers.nr; i++) {
		const struct plan_sampler *s = &pl->samplers.v[i];
		char number[32];

		num_fmt_f64(number, s->period_s);
		fprintf(f, "  %s: %s, devices %s, every %s s, to %s\n", s->tool, s->kind, s->device,
			number, below_run(pl, s->out));
	}
}

static void print_outputs(const struct plan *pl, FILE *f)
{
	if (pl->outputs.nr)
		fprintf(f, "\noutputs\n");
	for (size_t i = 0; i < pl->outputs.nr; i++) {
		const struct plan_output *o = &pl->outputs.v[i];

		fprintf(f, "  %s: %s/%s, %s, read as %s, at least %llu record%s\n", o->tool,
			below_run(pl, o->dir), o->glob, o->required ? "required" : "optional",
			o->reader ? o->reader : "what it is", (unsigned long long)o->min_records,
			o->min_records == 1 ? "" : "s");
	}
	if (pl->needs.nr)
		fprintf(f, "\nmust exist where the workload runs\n");
	for (size_t i = 0; i < pl->needs.nr; i++)
		fprintf(f, "  %s: %s\n", pl->needs.v[i].tool, pl->needs.v[i].what);
}

static void print_text(const void *ctx, FILE *f)
{
	const struct plan *pl = ctx;
	const struct runconf *c = pl->conf;

	fprintf(f, "run        %s\ndirectory  %s\nmodel      %s, in %s\nengine     %s (%s)\n",
		pl->run_id, pl->run_dir, c->model_name, c->dir, pl->engine->name, c->engine_where);
	if (pl->engine->container)
		fprintf(f, "image      %s\n", c->image);
	fprintf(f, "start      ");
	print_argv(&pl->engine_argv, f);
	plan_source_text(pl, f);
	print_config(pl, f);
	print_tools(pl, f);
	fprintf(f, "\nsteps\n");
	for (size_t i = 0; i < pl->steps.nr; i++)
		print_step(pl, &pl->steps.v[i], i + 1, f);
	print_samplers(pl, f);
	print_outputs(pl, f);
}

/* A user may have spelled a secret out in a command. */
void plan_print_text(const struct plan *pl, FILE *f)
{
	redact_through(f, print_text, pl);
}
