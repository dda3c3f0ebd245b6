/*
 * image_priv: the parts of image among themselves: a Dockerfile's text; folders that no other
 * process may look into, for secrets and logins while they are used.
 */
#ifndef IMAGE_PRIV_H
#define IMAGE_PRIV_H

#include "profrig/image/image.h"

/* Parses a Dockerfile's text in place; d->path and d->context are set before. */
int dockerfile_parse(struct dockerfile *d, char *text, struct err *err);
void dockerfile_release(struct dockerfile *d);

struct private_dir {
	char *path; /* NULL: none */
	int lock;   /* held while it is used */
};
#define PRIVATE_DIR_INIT \
	{ \
		NULL, -1 \
	}
int private_dir_make(struct private_dir *d, struct err *err);
/* Removes it. Also a CLEANUP function. */
void private_dir_remove(struct private_dir *d);
/* A file of mode 0600 in it; its path, owned. NULL with err. */
char *private_file(const struct private_dir *d, const char *name, const char *text,
		   struct err *err);

/* A login in a folder of its own, or none when no user is given (then auth->dir is NULL). */
int image_login(const struct engine *e, const struct build_conf *b, const struct image_opts *o,
		struct private_dir *d, struct image_auth *auth, struct err *err);

/* The last line of a command's output that is not empty, for an error. Borrowed from tail. */
const char *image_last_words(const struct strvec *tail);

#endif
