/* Prints the notes of a session as messages and maps its end to an exit code. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"

void cli_write_failed(const struct err *err, bool advise)
{
	bool full = err->code == ENOSPC || err->code == EDQUOT;

	log_error("%s%s", err->msg,
		  full && advise ? ": make room there, or name another place, and write it again"
				 : "");
}

static void say_not_written(const struct session_note *n)
{
	struct err err = ERR_INIT;

	err_set(&err, n->code, "%s", n->text);
	cli_write_failed(&err, n->first);
}

static void say_note(void *ctx, const struct session_note *n)
{
	char size[32];

	(void)ctx;
	switch (n->kind) {
	case SESSION_NOT_WRITTEN:
		say_not_written(n);
		break;
	case SESSION_STRICT:
		log_error("--strict: %s", n->text);
		break;
	case SESSION_REPEATED:
	case SESSION_LEFT_OUT:
	case SESSION_ANALYSIS_LEFT_OUT:
		log_warn("%s", n->text);
		break;
	case SESSION_ONE_RANK:
		log_notice("%s", n->text);
		break;
	case SESSION_SWEPT:
		log_notice("%s, %s", n->text, cli_si((double)n->bytes, "B", size));
		break;
	case SESSION_SHARED:
	case SESSION_ANALYSIS_SKIPPED:
	case SESSION_NO_RUN:
		log_info("%s", n->text);
		break;
	default:
		log_error("%s", n->text);
	}
}

static void say_phase(void *ctx, enum session_phase phase, const char *what)
{
	static const char *const words[] = { "compare ", "read ", "analyse", "write reports" };

	(void)ctx;
	progress_phase("%s%s", words[phase], what);
}

/* -v: the inputs, and every kind of warning. */
static void say_read(void *ctx, const struct model *m)
{
	(void)ctx;
	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];

		log_info("%s: reader %s, %" PRIu64 " spans, %" PRIu64 " samples, %" PRIu64
			 " tracks%s",
			 in->path, in->reader, in->spans, in->samples, in->tracks,
			 in->partial ? ", partial" : "");
	}
	for (size_t i = 0; i < m->warnings.nr; i++)
		log_info("%s, %" PRIu64 " of them, the first: %s", m->warnings.v[i].code,
			 m->warnings.v[i].count, m->warnings.v[i].text);
}

void cli_session_opts(struct session_opts *o)
{
	session_opts_init(o);
	o->comm = cli_comm;
	o->listener = (struct session_listener){ .note = say_note,
						 .phase = say_phase,
						 .have_read = say_read };
}

int cli_session_code(const struct session_outcome *out)
{
	static const int codes[] = { EXIT_DONE, EXIT_PARTIAL, EXIT_UNREADABLE, EXIT_MISSING,
				     EXIT_USAGE };

	return codes[out->end];
}

int cli_session_failed(const struct session_outcome *out, const struct err *err)
{
	/* the reason was printed already */
	if (out->end != SESSION_NOTHING_READ)
		log_error("%s", err->msg);
	return cli_session_code(out);
}

int analyze_to(const struct strvec *inputs, const struct session_opts *o, const char *out,
	       struct report *ret)
{
	struct session_result result;
	struct err err = ERR_INIT;

	if (session_analyze(inputs, o, out, &result, &err) < 0)
		cli_session_failed(&result.outcome, &err);
	*ret = result.report;
	return cli_session_code(&result.outcome);
}

int analyze_runs(const struct strvec *runs, const char *out, struct report *ret)
{
	struct session_opts o;
	int code;

	cli_session_opts(&o);
	code = analyze_to(runs, &o, out, ret);
	session_opts_release(&o);
	return code;
}

int output_code(const char *dir)
{
	struct err err = ERR_INIT;

	if (session_output_check(dir, &err) == 0)
		return EXIT_DONE;
	log_error("%s", err.msg);
	return EXIT_MISSING;
}

/* Prints the path of a report that was requested and exists. */
static bool say_report(const struct writer *w, const struct report *r, const struct strvec *formats)
{
	CLEANUP(xfreep) char *path = writer_path(w, r);

	if ((formats->nr && !strvec_has(formats, w->name)) || !fs_exists(path))
		return false;
	printf("%s\n", path);
	return true;
}

void say_written(const struct report *r, const struct strvec *formats)
{
	static const char *const first[] = { "html", "csv", "json" };

	for (size_t i = 0; i < ARRAY_LEN(first); i++)
		if (say_report(writer_find(first[i]), r, formats))
			return;
	for (size_t i = 0; writers[i]; i++)
		if (writers[i]->file && say_report(writers[i], r, formats))
			return;
	if (fs_exists(r->dir))
		printf("%s\n", r->dir);
}
