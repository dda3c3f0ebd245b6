/*
 * buildconf: the parts of a run's configuration (runconf.h) about a model's image and data, typed.
 * Filled by runconf_load, released with the runconf.
 */
#ifndef PROFRIG_BUILDCONF_H
#define PROFRIG_BUILDCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

/* A word with its place: "profrig.yaml:7", "command line", "built-in". */
struct conf_word {
	char *name, *value, *origin;
};

/* What a build may read and no image keeps. */
struct build_secret {
	char *id;
	char *value;  /* secret */
	char *origin; /* file:line */
};

struct build_conf {
	VEC(struct conf_word) args;       /* build.args */
	VEC(struct build_secret) secrets; /* build.secrets, and secrets: of the run */
	VEC(struct conf_word) context;    /* what a Dockerfile's "# CONTEXT" is compared with */
	char *folder;                     /* build.context, absolute; NULL: the Dockerfile's */
	char *target, *network;
	struct strvec options;
	struct strvec archs; /* build.target_archs */
	double timeout_s;    /* 0: none */
	char *dockerfile_where;
	struct {
		char *name, *repository; /* NULL: none */
		char *user;              /* NULL: the engine's own login is used */
		char *password;          /* secret */
		bool insecure;
	} registry;
};

/*
 * Providers of data by name. The name of a cache folder depends on the number of its provider, so a
 * new one stands at the end.
 */
/* clang-format off */
#define DATA_PROVIDERS(X) \
	X(DATA_SCRIPT, "script") X(DATA_LOCAL, "local") X(DATA_S3, "s3") X(DATA_NAS, "nas") \
	X(DATA_HTTP, "http")
#define DATA_PROVIDER_ENUM(value, name) value,
#define DATA_PROVIDER_CHOICE(value, name) "|" name
/* clang-format on */
enum data_provider { DATA_PROVIDERS(DATA_PROVIDER_ENUM) };
/* "script|local|…" */
#define DATA_PROVIDER_CHOICES (&(DATA_PROVIDERS(DATA_PROVIDER_CHOICE))[1])

/* One place where a data set can be had. */
struct data_source {
	enum data_provider provider;
	char *path;                    /* in the provider's form (data.h); files absolute */
	char *sha256;                  /* NULL: not given; 64 lower-case hex digits */
	char *endpoint, *region;       /* of s3; NULL */
	char *mirror;                  /* absolute folder for the copy; NULL: the cache */
	char *user, *password, *token; /* secret; NULL */
	struct strvec args;            /* of a script */
	double timeout_s;              /* of a script */
	char *where;                   /* file:line of the entry */
};

/* A data set: its sources in the order they are tried. */
struct data_set {
	char *name;
	char *variable; /* "PROFRIG_DATA_IMAGENET" */
	char *home;     /* absolute: where a container sees it */
	bool optional;
	VEC(struct data_source) sources;
};

struct data_conf {
	VEC(struct data_set) sets;
	char *cache; /* absolute folder */
};

const char *data_provider_name(enum data_provider p);

#endif
