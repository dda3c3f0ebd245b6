/*
 * said: messages of a preparation that may still succeed, in the order in which they came up. The
 * command line prints them (cli_said); an error that ends a preparation is an err.
 *
 *	struct said s = SAID_INIT;	said_add(&s, SAID_NOTICE, …);	said_release(&s);
 */
#ifndef SAID_H
#define SAID_H

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

enum said_level {
	SAID_NOTICE,
	SAID_WARNING,
	SAID_WARNING_ONCE, /* several models may have the same; printed once by a process */
};
struct said_line {
	enum said_level level;
	char *text;
};
struct said {
	VEC(struct said_line) v;
};
#define SAID_INIT \
	{ \
		VEC_INIT \
	}
void said_add(struct said *s, enum said_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void said_once(struct said *s, const struct strvec *lines);
void said_release(struct said *s);

#endif
