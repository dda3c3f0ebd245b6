/*
 * base_test: what the tests of base share: test.h, and what was written to stderr.
 */
#ifndef PROFRIG_BASE_TEST_H
#define PROFRIG_BASE_TEST_H

#include "test.h"

#include <fcntl.h>

/* A vector for exec from literals, which are const here. */
#define ARGV(...) ((char *const *)(const char *const[]){ __VA_ARGS__, NULL })

static inline void test_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* stderr turned into a pipe of packets: a packet is a write(2). */
struct caught {
	int saved, from;
};

static inline struct caught catch_stderr(void)
{
	struct caught c;
	int fds[2];

	fflush(stderr);
	assert_int_equal(pipe2(fds, O_DIRECT | O_CLOEXEC | O_NONBLOCK), 0);
	c.saved = dup(STDERR_FILENO);
	c.from = fds[0];
	assert_true(c.saved >= 0 && dup2(fds[1], STDERR_FILENO) >= 0);
	close(fds[1]);
	return c;
}

/* The next packet, or "" when there is none. buf holds 8192. */
static inline const char *caught_next(struct caught *c, char *buf)
{
	ssize_t n = read(c->from, buf, 8191);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static inline void caught_end(struct caught *c)
{
	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
	close(c->from);
}

#endif
