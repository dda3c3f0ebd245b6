/* The plan as text for people: one block per topic, names and values in columns, the origin of each
 * value at the end of its line. */
#include "plan_flat.h"

#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"

#define VALUE_WIDTH 56 /* wider values push their origin to the right, the others stay aligned */

/* The width on a screen; the text is UTF-8. */
static size_t text_places(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static size_t text_wider(size_t have, const char *s)
{
	size_t n = text_places(s);

	return n > have && n <= VALUE_WIDTH ? n : have;
}

static int text_padded(size_t n, const char *s)
{
	return (int)(n + strlen(s) - text_places(s));
}

/* Rows of three columns, the first two padded. */
struct rows {
	VEC(struct flat_row) v;
};

static void rows_push(struct rows *r, const char *name, const char *value, const char *origin)
{
	struct strbuf quoted = STRBUF_INIT;

	if (!strcmp(value, "***"))
		strbuf_addstr(&quoted, value);
	else
		strbuf_add_shell(&quoted, value);
	VEC_PUSH(&r->v,
		 ((struct flat_row){ xstrdup(name), strbuf_steal(&quoted), xstrdup(origin) }));
}

static void rows_flush(struct rows *r, const char *indent, FILE *f)
{
	size_t name = 0, value = 0;

	for (size_t i = 0; i < r->v.nr; i++) {
		name = text_wider(name, r->v.v[i].key);
		value = text_wider(value, r->v.v[i].value);
	}
	for (size_t i = 0; i < r->v.nr; i++) {
		struct flat_row *row = &r->v.v[i];

		fprintf(f, "%s%-*s  ", indent, text_padded(name, row->key), row->key);
		if (*row->origin)
			fprintf(f, "%-*s  %s\n", text_padded(value, row->value), row->value,
				row->origin);
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

		VEC_PUSH(&r.v, ((struct flat_row){ xstrdup(row->key), xstrdup(row->value),
						   xstrdup(row->origin) }));
	}
	rows_flush(&r, "  ", f);
	flat_release(&flat);
}

/* The GPUs that the run may use, as far as they are known on this machine. */
static void print_gpus(const struct plan *pl, FILE *f)
{
	const struct runconf *c = pl->conf;
	const struct devices *d = pl->devices;
	enum gpu_vendor v = gpu_vendor_of(pl->spec.gpu_vendor);

	v = v || !d ? v : devices_vendor(d);
	if (!c->gpus || !d || !devices_count(d, v))
		return;
	fprintf(f, "\ngpus\n");
	for (size_t i = 0; i < d->gpus.nr; i++) {
		const struct gpu *g = &d->gpus.v[i];
		bool asked = !c->gpu_list.nr;

		for (size_t k = 0; k < c->gpu_list.nr; k++)
			asked |= c->gpu_list.v[k] == g->index;
		if (g->vendor == v && asked)
			fprintf(f, "  %d  %s%s%s%s%s\n", g->index, g->name,
				*g->arch && !strstr(g->name, g->arch) ? ", " : "",
				strstr(g->name, g->arch) ? "" : g->arch, *g->pci ? ", pci " : "",
				g->pci);
	}
}

static void print_privileges(const struct plan *pl, const char *tool, FILE *f)
{
	for (size_t i = 0; i < pl->privileges.nr; i++) {
		const struct plan_privilege *p = &pl->privileges.v[i];
		const char *kind = p->security ? "security option" : "capability";
		const char *why = p->why ? p->why : "the tool asks for it";

		if (strcmp(p->tool, tool) != 0)
			continue;
		if (p->by)
			fprintf(f, "      gives the container the %s %s (%s): %s\n", kind, p->what,
				p->by, why);
		else
			fprintf(f, "      %s the %s %s, which --privileged-profiling gives: %s\n",
				p->wanted ? "would use" : "lacks", kind, p->what, why);
	}
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
			rows_push(&r, t->options.v[k].name, t->options.v[k].value,
				  t->options.v[k].origin);
		rows_flush(&r, "      ", f);
		if (t->passes > 1)
			fprintf(f, "      runs the workload at least %llu times: %s\n",
				(unsigned long long)t->passes, t->passes_why ? t->passes_why : "");
		else if (t->passes_why)
			fprintf(f, "      may run the workload several times: %s\n", t->passes_why);
		print_privileges(pl, t->tool->name, f);
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
		rows_push(&r, s->env.v[i].name, plan_env_value(&s->env.v[i]), s->env.v[i].origin);
	for (size_t i = 0; i < s->unset.nr; i++)
		VEC_PUSH(&r.v, ((struct flat_row){ xstrdup(s->unset.v[i].name),
						   xstrdup("(not inherited)"),
						   xstrdup(s->unset.v[i].origin) }));
	rows_flush(&r, "          ", f);
}

static const char *control_words(const struct plan_control *c)
{
	switch (c->kind) {
	case TOOL_CONTROL_NONE:
		break;
	case TOOL_CONTROL_FLAG:
		return "told by $PROFRIG_RECORD";
	case TOOL_CONTROL_FIFO:
		return "told by a pipe";
	case TOOL_CONTROL_SCRIPT:
		return "told by a script";
	case TOOL_CONTROL_COMMAND:
		return "told by a program";
	}
	return "records always: it has no switch, analysis leaves out what is outside";
}

static void print_record(const struct plan *pl, FILE *f)
{
	const struct runconf_record *r = &pl->conf->record;

	if (!r->given)
		return;
	fprintf(f, "\nrecording, %s%s%s", r->mark ? "from the mark '" : "", r->mark ? r->mark : "",
		r->mark    ? "' on"
		: r->begin ? "from the workload's start"
			   : "when 'profrig ctl RUN start' says so");
	if (r->after_s > 0)
		fprintf(f, ", %g s later", r->after_s);
	if (r->for_s > 0)
		fprintf(f, ", for %g s", r->for_s);
	fprintf(f, "%s\n", r->samplers ? "; samplers pause too" : "");
	for (size_t i = 0; i < pl->controls.nr; i++)
		fprintf(f, "  %s: %s\n", pl->controls.v[i].tool, control_words(&pl->controls.v[i]));
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

		CLEANUP(xfreep) char *lines = strvec_shell(&o->match);
		CLEANUP(xfreep)
		char *as = o->match.nr ? xasprintf("lines with %s", lines)
				       : xstrdup(o->reader ? o->reader : "what it is");

		fprintf(f, "  %s: %s/%s, %s, read as %s, at least %llu record%s\n", o->tool,
			below_run(pl, o->dir), o->glob,
			o->if_any     ? "if there is one"
			: o->group    ? "this or another of its group"
			: o->required ? "required"
				      : "optional",
			as, (unsigned long long)o->min_records, o->min_records == 1 ? "" : "s");
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
	if (pl->replay)
		plan_replay_text(pl->replay, f);
	plan_source_text(pl, f);
	print_config(pl, f);
	print_gpus(pl, f);
	print_tools(pl, f);
	fprintf(f, "\nsteps\n");
	for (size_t i = 0; i < pl->steps.nr; i++)
		print_step(pl, &pl->steps.v[i], i + 1, f);
	print_record(pl, f);
	print_samplers(pl, f);
	print_outputs(pl, f);
}

/* Masked, as a user may have written a secret into a command. */
void plan_print_text(const struct plan *pl, FILE *f)
{
	redact_through(f, print_text, pl);
}
