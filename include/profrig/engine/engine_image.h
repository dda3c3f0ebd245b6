/*
 * engine_image: the values that the image commands of an engine are made of (engine.h: build,
 * ENGINE_LOGIN and the questions after it); harness/image runs the commands.
 *
 * No value of a secret is ever a word: a build secret is named by its id and a private file, a
 * password goes to a login on stdin, and what the login learns is kept in the folder of image_auth
 * and nowhere else.
 *
 * docker takes build secrets through BuildKit alone. Debian's client 20.10 has it built in, newer
 * ones need the buildx plug-in; `build` without an image tells (its output then holds "--secret").
 * Without it the classic builder is asked, which can do all but secrets.
 */
#ifndef PROFRIG_ENGINE_IMAGE_H
#define PROFRIG_ENGINE_IMAGE_H

#include <stdbool.h>

#include "profrig/base/strvec.h"

struct image_build {
	const char *image;                /* its name */
	const char *dockerfile, *context; /* absolute */
	const char *target, *network;     /* NULL: the last stage, the engine's default */
	const struct strvec *args;        /* "K=V" each */
	const struct strvec *labels;      /* "K=V" each */
	const struct strvec *secrets;     /* "id=ID,src=FILE" each */
	const struct strvec *options;     /* the user's, word by word, last */
	bool no_cache;
	bool secrets_work; /* what `build` without an image said */
};

/* Where an engine finds, and leaves, logins. */
struct image_auth {
	const char *dir; /* a private folder; NULL: the caller's own logins */
	bool insecure;   /* plain HTTP, or an unknown certificate */
};

/*
 * A registry on this machine ("localhost:5000", "127.0.0.1/x", "[::1]:5000"): docker speaks plain
 * HTTP to those by itself; podman gets an option for it.
 */
bool image_registry_is_local(const char *registry);

#endif
