/*
 * conf_test: a folder of its own for a test, and the files it is about.
 */
#ifndef PROFRIG_CONF_TEST_H
#define PROFRIG_CONF_TEST_H

#include "test.h"

#include <sys/stat.h>

#include "profrig/base/strbuf.h"
#include "profrig/config/runconf.h"

struct sandbox {
	char *dir; /* absolute */
};

static inline void sandbox_init(struct sandbox *sb)
{
	sb->dir = test_dir();
}

static inline void sandbox_release(struct sandbox *sb)
{
	test_dir_done(&sb->dir);
}

static inline void sandbox_write(const struct sandbox *sb, const char *rel, const char *text)
{
	test_put(sb->dir, rel, text);
}

/* Exactly these lines, in this order; NULL ends them. */
static inline void assert_problems(const struct problems *p, const char *const *want)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT, wanted = STRBUF_INIT;

	for (size_t i = 0; i < p->lines.nr; i++)
		strbuf_addf(&all, "%s\n", p->lines.v[i]);
	for (; *want; want++)
		strbuf_addf(&wanted, "%s\n", *want);
	assert_string_equal(all.buf, wanted.buf);
}

static inline bool problems_hold(const struct problems *p, const char *words)
{
	for (size_t i = 0; i < p->lines.nr; i++)
		if (strstr(p->lines.v[i], words))
			return true;
	return false;
}

#endif
