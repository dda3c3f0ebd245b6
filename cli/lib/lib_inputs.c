#include "lib_inputs.h"

#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/scan/input.h"

uint64_t lib_inputs_fact(const struct lib_inputs *li, const char *key)
{
	uint64_t sum = 0;

	for (size_t t = 0; t < li->traces.nr; t++) {
		const struct model *m = li->traces.v[t].m;

		for (size_t i = 0; i < m->inputs.nr; i++)
			for (size_t k = 0; k < m->inputs.v[i].facts.nr; k++)
				if (!strcmp(m->inputs.v[i].facts.v[k].key, key))
					sum += (uint64_t)m->inputs.v[i].facts.v[k].value;
	}
	return sum;
}

const struct warning *lib_inputs_warning(const struct lib_inputs *li, size_t *trace, size_t *at)
{
	for (; *trace < li->traces.nr; (*trace)++, *at = 0) {
		const struct model *m = li->traces.v[*trace].m;

		if (*at < m->warnings.nr)
			return &m->warnings.v[(*at)++];
	}
	return NULL;
}

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

/* One session; what was read is in li. */
static void session_trace(struct lib_inputs *li, const struct session_opts *o,
			  const struct strvec *inputs)
{
	struct session_trace t = { 0 };
	struct err err = ERR_INIT;
	int code;

	if (session_read(inputs, o, &t, &err) < 0)
		code = cli_session_failed(&t.outcome, &err);
	else
		code = cli_session_code(&t.outcome);
	if (t.m && t.m->library)
		library_calls_merge(li->calls, t.m->library);
	li->read |= code == EXIT_DONE || code == EXIT_PARTIAL;
	li->code = exit_worse(li->code, code);
	if (t.m)
		VEC_PUSH(&li->traces, t);
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

static void sessions_read(struct lib_inputs *li, const struct session_opts *o,
			  const struct strvec *inputs)
{
	CLEANUP(strvec_release) struct strvec logs = STRVEC_INIT;

	for (size_t i = 0; i < inputs->nr; i++)
		if (!run_dir_held(inputs->v[i]))
			strvec_push(&logs, inputs->v[i]);
	if (logs.nr)
		session_trace(li, o, &logs);
	for (size_t i = 0; i < inputs->nr; i++) {
		CLEANUP(strvec_release) struct strvec run = STRVEC_INIT;

		if (!run_dir_held(inputs->v[i]))
			continue;
		if (named_before(inputs, i)) {
			log_warn("%s was read already; it counts once", inputs->v[i]);
			continue;
		}
		strvec_push(&run, inputs->v[i]);
		session_trace(li, o, &run);
	}
}

/* Records of any kind and other lines of libraries; spans of the BLAS tracer have no facts. */
static uint64_t lines_of_libraries(const struct lib_inputs *li)
{
	static const char *const facts[] = { "library_calls", "doubled", "torn", "bad",
					     "library_lines" };
	uint64_t n = library_calls_totals(li->calls).calls;

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		n += lib_inputs_fact(li, facts[i]);
	return n;
}

static void say_no_calls(const struct lib_inputs *li)
{
	bool said = false;

	for (size_t t = 0; t < li->traces.nr; t++) {
		const struct model *m = li->traces.v[t].m;

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

int lib_inputs_read(const struct strvec *inputs, struct lib_inputs *ret)
{
	struct session_opts o;

	*ret = (struct lib_inputs){ .calls = library_calls_new() };
	cli_session_opts(&o);
	o.sink = SINK_MODEL;
	o.reader = reader_find("library_log");
	o.wants = may_have_calls;
	sessions_read(ret, &o, inputs);
	progress_end();
	session_opts_release(&o);
	/* of several, one that cannot be read is a part that is missing */
	if (ret->code == EXIT_UNREADABLE && ret->read)
		ret->code = EXIT_PARTIAL;
	if ((ret->code == EXIT_DONE || ret->code == EXIT_PARTIAL) && lines_of_libraries(ret) == 0) {
		say_no_calls(ret);
		ret->code = EXIT_UNREADABLE;
	}
	return ret->code;
}

void lib_inputs_release(struct lib_inputs *li)
{
	for (size_t i = 0; i < li->traces.nr; i++)
		session_trace_release(&li->traces.v[i]);
	VEC_RELEASE(&li->traces);
	library_calls_free(li->calls);
}
