/*
 * campaign_text: a campaign's file that is a text, read as one at /nowhere/c.yaml.
 *
 *	struct campaign_text t;
 *	campaign_text_read(&t, "name: x\n…", "of 1.yaml", …, NULL);	t.r, t.file, t.problems
 *	campaign_text_release(&t);
 */
#ifndef CAMPAIGN_TEXT_H
#define CAMPAIGN_TEXT_H

#include "campaign_file.h"
#include "test.h"

#define HEAD "name: x\nengine: host\nmodels: [{name: m, command: [\"true\"]}]\n"

struct campaign_text {
	struct campaign_sources sources;
	struct campaign_file file;
	struct problems problems;
	struct err err;
	int r;
};

static inline __attribute__((sentinel)) void campaign_text_read(struct campaign_text *t,
								const char *text, ...)
{
	va_list ap;

	*t = (struct campaign_text){ .problems = PROBLEMS_INIT };
	va_start(ap, text);
	for (size_t i = 0; text; i++, text = va_arg(ap, const char *)) {
		struct campaign_source s = { .text = xstrdup(text), .n = strlen(text) };

		s.path = i ? xasprintf("/nowhere/%zu.yaml", i) : xstrdup("/nowhere/c.yaml");
		VEC_PUSH(&t->sources.v, s);
	}
	va_end(ap);
	t->r = campaign_file_read("/nowhere/c.yaml", &t->sources, &t->file, &t->problems, &t->err);
}

/* Its first problem, or error; "" none. */
static inline const char *campaign_text_said(const struct campaign_text *t)
{
	return t->problems.lines.nr ? t->problems.lines.v[0] : t->err.msg;
}

static inline void campaign_text_release(struct campaign_text *t)
{
	campaign_file_release(&t->file);
	campaign_sources_release(&t->sources);
	problems_release(&t->problems);
}

#endif
