/* Parts of tools besides argv and environment: files that options name, outputs that depend on
 * options, and scripts that put the tools in front of one program of the workload. */
#include "plan_int.h"

#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"

/* --- files --- */

char *plan_files_dir(const struct maker *m, const char *tool)
{
	return xasprintf("%s/files/%s", m->rq->run_dir, tool);
}

static char *file_copy(const struct maker *m, const struct runconf_tool *t,
		       const struct runconf_option *o)
{
	CLEANUP(xfreep) char *dir = plan_files_dir(m, t->tool->name);

	return fs_join(dir, fs_base(o->path));
}

const char *plan_option_value(const struct maker *m, const struct runconf_tool *t,
			      const struct runconf_option *o, char **ret_path)
{
	if (!o->path)
		return o->value;
	free(*ret_path);
	*ret_path = file_copy(m, t, o);
	return *ret_path;
}

void plan_files(struct maker *m, const struct runconf_tool *t)
{
	for (size_t i = 0; i < t->options.nr; i++) {
		const struct runconf_option *o = &t->options.v[i];

		if (!o->path)
			continue;
		strvec_push_take(&m->pl->mkdirs, plan_files_dir(m, t->tool->name));
		VEC_PUSH(&m->pl->copies,
			 ((struct plan_copy){ xstrdup(o->path), file_copy(m, t, o) }));
	}
}

bool plan_output_asked(const struct runconf_tool *t, const struct tool_output *o)
{
	for (size_t i = 0; o->when_option && i < t->options.nr; i++)
		if (!strcmp(t->options.v[i].name, o->when_option))
			return !strcmp(t->options.v[i].value, o->when_value);
	return true;
}

/* --- in front of one program --- */

static bool any_wrap(const struct maker *m)
{
	return VEC_FIND(&m->conf->tools, t, (t->has_wrap ? &t->wrap : &t->tool->wrap)->nr);
}

bool plan_wrap_at(const struct maker *m)
{
	return m->conf->wrap_at.nr && any_wrap(m);
}

/* An image's PATH is unknown here, so the new one is made where the workload starts. */
void plan_wrap_start(struct maker *m, struct strvec *argv)
{
	strvec_pushl(argv, SCRIPT_SHELL, "-c", "PATH=$0:$PATH; export PATH; exec \"$@\"", NULL);
	strvec_pushf(argv, "%s/wrap", m->rq->run_dir);
}

/*
 * The script takes its folder out of PATH and its library out of LD_PRELOAD: so it finds the
 * program itself, and the programs that this one starts are not wrapped again.
 */
static char *wrap_script(struct maker *m, const char *program)
{
	CLEANUP(strvec_release) struct strvec wrap = STRVEC_INIT;
	CLEANUP(xfreep) char *own = xasprintf("%s/wrap", m->rq->run_dir);
	CLEANUP(xfreep) char *log = fs_join(m->rq->run_dir, PLAN_WRAP_LOG);
	CLEANUP(xfreep) char *library = plan_library(m, PLAN_WRAP_LIBRARY);
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = m->conf->tools.nr; i-- > 0;)
		if (!plan_wrapped_already(m, i))
			plan_wrap(m, &m->conf->tools.v[i], &wrap);
	CLEANUP(xfreep) char *words = strvec_shell(&wrap);

	/* Names that no workload uses: any other name may be one of its own. */
	strbuf_addstr(&sb, "#!/bin/sh\nset -f\n{ echo ");
	strbuf_add_shell(&sb, program);
	strbuf_addstr(&sb, " >>");
	strbuf_add_shell(&sb, log);
	strbuf_addstr(&sb,
		      "; } 2>/dev/null\n__profrig_without() {\n\t__profrig_rest=\n\tIFS=:\n"
		      "\tfor __profrig_part in $2; do\n\t\t[ \"$__profrig_part\" = \"$1\" ] || "
		      "__profrig_rest=${__profrig_rest:+$__profrig_rest:}$__profrig_part\n"
		      "\tdone\n\tunset IFS\n}\n__profrig_without ");
	strbuf_add_shell(&sb, own);
	strbuf_addstr(&sb, " \"$PATH\"\nPATH=$__profrig_rest\nexport PATH\n__profrig_without ");
	strbuf_add_shell(&sb, library);
	strbuf_addstr(&sb, " \"$LD_PRELOAD\"\nif [ -n \"$__profrig_rest\" ]; then "
			   "LD_PRELOAD=$__profrig_rest; else unset LD_PRELOAD; fi\n"
			   "__profrig_program=");
	strbuf_add_shell(&sb, program);
	strbuf_addf(&sb,
		    "\n[ -z \"$PROFRIG_WRAPPED\" ] || __profrig_program=$PROFRIG_WRAPPED\n"
		    "unset PROFRIG_WRAP PROFRIG_WRAPPED __profrig_rest __profrig_part\nset +f\n"
		    "exec %s \"$__profrig_program\" \"$@\"\n",
		    words);
	return strbuf_steal(&sb);
}

void plan_wrap_files(struct maker *m)
{
	const struct strvec *at = &m->conf->wrap_at;

	if (!plan_wrap_at(m))
		return;
	strvec_pushf(&m->pl->mkdirs, "%s/wrap", m->rq->run_dir);
	for (size_t i = 0; i < at->nr; i++) {
		if (strchr(at->v[i], '/') || !*at->v[i] || !strcmp(at->v[i], ".") ||
		    !strcmp(at->v[i], "..")) {
			plan_problem(m, NULL,
				     "wrap_at: '%.200s': want the name of a program, as the "
				     "workload finds it in PATH",
				     at->v[i]);
			continue;
		}
		VEC_PUSH(&m->pl->made,
			 ((struct plan_made){ xasprintf("%s/wrap/%s", m->rq->run_dir, at->v[i]),
					      wrap_script(m, at->v[i]) }));
	}
}
