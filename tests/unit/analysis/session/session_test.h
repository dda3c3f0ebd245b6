/*
 * session_test: a folder of inputs, options whose listener keeps what it hears, and a recorded
 * session of them.
 *
 *	SESSION_TEST(name) { … }	a test with a `struct heard *h`
 *
 * A test that wants several takes `CLEANUP(heard_end) struct heard h;` and heard_begin(&h).
 */
#ifndef PROFRIG_SESSION_TEST_H
#define PROFRIG_SESSION_TEST_H

#include "expect_model.h"

#include "profrig/session/session.h"

struct heard {
	char *dir;
	struct session_opts o;
	struct strvec notes, phases; /* one line each */
	size_t models;               /* that were said to be read */
	struct session_result r;     /* what came of an analysis, or of reading */
	struct session_trace t;
	struct err err;
};

static inline void heard_note(void *ctx, const struct session_note *n)
{
	struct heard *h = ctx;

	strvec_pushf(&h->notes, "%d %s", (int)n->kind, n->text);
}

static inline void heard_phase(void *ctx, enum session_phase phase, const char *what)
{
	static const char *const words[] = { "compare", "read", "analyse", "write" };
	struct heard *h = ctx;

	strvec_pushf(&h->phases, "%s %s", words[phase], what);
}

static inline void heard_model(void *ctx, const struct model *m)
{
	struct heard *h = ctx;

	h->models += m->inputs.nr > 0;
}

static inline void heard_begin(struct heard *h)
{
	*h = (struct heard){ .dir = test_dir(), .notes = STRVEC_INIT, .phases = STRVEC_INIT };
	session_opts_init(&h->o);
	h->o.threads = 1;
	h->o.listener = (struct session_listener){
		.note = heard_note, .phase = heard_phase, .have_read = heard_model, .ctx = h
	};
}

static inline void heard_end(struct heard *h)
{
	session_result_release(&h->r);
	session_trace_release(&h->t);
	session_opts_release(&h->o);
	strvec_release(&h->notes);
	strvec_release(&h->phases);
	test_dir_done(&h->dir);
}

static inline int heard_set_up(void **state)
{
	heard_begin(*state = xmalloc(sizeof(struct heard)));
	return 0;
}

static inline int heard_tear_down(void **state)
{
	heard_end(*state);
	free(*state);
	return 0;
}

#define SESSION_TEST(name) TEST_OF(name, struct heard *h, heard_set_up, heard_tear_down)

/* Paths below h->dir, or of fixtures when they begin with "tests/"; owned by the caller. */
static inline struct strvec heard_inputs(const struct heard *h, const char *const *names)
{
	struct strvec v = STRVEC_INIT;

	for (; *names; names++) {
		if (strncmp(*names, "tests/", 6) == 0)
			strvec_push(&v, *names);
		else
			strvec_pushf(&v, "%s/%s", h->dir, *names);
	}
	return v;
}

/* How many lines hold the words. */
static inline size_t lines_with(const struct strvec *lines, const char *words)
{
	size_t nr = 0;

	for (size_t i = 0; i < lines->nr; i++)
		nr += strstr(lines->v[i], words) != NULL;
	return nr;
}

/* A run directory in which f took so many µs; more: further members of run.json, or "". */
static inline void run_put(const struct heard *h, const char *name, int us, const char *more)
{
	CLEANUP(xfreep)
	char *trace = xasprintf("[{\"ph\":\"X\",\"name\":\"f\",\"pid\":7,\"tid\":7,\"ts\":0,"
				"\"dur\":%d}]",
				us),
	     *run = xasprintf("{\"schema\":\"profrig.run/1\",\"id\":\"%s\",\"model\":\"m\","
			      "\"status\":\"success\",%s\"artifacts\":[{\"tool\":\"t\",\"path\":"
			      "\"artifacts/t/t.json\",\"reader\":\"tef\",\"verdict\":\"valid\"}]}",
			      name, more);
	CLEANUP(xfreep) char *at = xasprintf("%s/artifacts/t/t.json", name);
	CLEANUP(xfreep) char *json = xasprintf("%s/run.json", name);

	test_put(h->dir, at, trace);
	test_put(h->dir, json, run);
}

#endif
