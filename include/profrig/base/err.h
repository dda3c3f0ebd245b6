/*
 * err: error codes with a message.
 *
 * A function that can fail returns 0 (or a count) on success and -errno on failure, and takes
 * `struct err *err` as its last parameter. err may be NULL (no message wanted) and is
 * untouched on success.
 *
 *	return err_set(err, EINVAL, "no column '%s'", name);	makes the message, returns -EINVAL
 *	return err_wrap(err, r, "%s", path);			puts context in front: "path: no
 *								column 'x'"
 *
 * Messages are lower case, without a final dot, user text in '…', file and line or offset where
 * there is one. Text that does not fit ends in "+". Libraries never print: the command line prints
 * once.
 */
#ifndef PROFRIG_ERR_H
#define PROFRIG_ERR_H

struct err {
	int code; /* errno value, positive; 0 = never set */
	char msg[512];
};

#define ERR_INIT \
	{ \
		0, "" \
	}

/* code: positive errno value. Returns -code. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set with ": strerror(code)" appended. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What err_sys appends for a code. Borrowed. */
const char *err_words(int code);

/*
 * Prefixes "<fmt>: " to the message already there (or, when there is none, to strerror(-r)).
 * Returns r unchanged.
 */
int err_wrap(struct err *err, int r, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
