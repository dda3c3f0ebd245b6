/*
 * image: images of models: finding Dockerfiles, building, pushing and pulling, and the manifest of
 * the images, which `run` reads.
 *
 * Dockerfiles. model.dockerfile is a file; a folder, whose Dockerfile, Dockerfile.* and
 * *.Dockerfile count; or a prefix, which stands for PREFIX.*. In its first five lines a Dockerfile
 * may have "# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU'}": it is kept when every key that
 * the configuration's context has too is equal there (case does not count). All that are kept are
 * built, so a model may have several images.
 *
 * Names. ci-<model>_<Dockerfile>[_<architecture>], in lower case, with '_' for '/' and invalid
 * characters, without ".Dockerfile". A model with model.image and one Dockerfile gets that name
 * instead. In a registry: <registry>/[<repository>:]<image>.
 *
 * Architectures. A Dockerfile that declares ARG MAD_SYSTEM_GPU_ARCHITECTURE is built once for each
 * of the requested architectures, others once.
 *
 * Secrets (struct build_secret) are in files of mode 0600 in a private folder below the runtime
 * directory while a build runs, logins in another; both folders are locked while they are used, and
 * image_sweep removes those of a killed profrig. They are masked in build logs.
 */
#ifndef PROFRIG_IMAGE_H
#define PROFRIG_IMAGE_H

#include <signal.h>

#include "profrig/config/runconf.h"
#include "profrig/engine/engine.h"

#define IMAGE_ARCH_ARG "MAD_SYSTEM_GPU_ARCHITECTURE"
#define IMAGE_BASE_ARG "BASE_DOCKER"
#define MANIFEST_SCHEMA "profrig.manifest/1"

/* --- dockerfile.c --- */

struct dockerfile {
	char *path;
	char *why;                  /* it is not kept: "wants gpu_vendor NVIDIA"; NULL: it is */
	struct cfg context;         /* of its comment; root NULL: it has none */
	VEC(struct conf_word) args; /* ARG: name, default or NULL, "file:line" */
	char *from;                 /* the image its last stage begins with, as written; NULL */
	bool secrets;               /* a step mounts some */
};
struct dockerfiles {
	VEC(struct dockerfile) v; /* by path */
};
/*
 * All Dockerfiles of a path, filtered by the context. -ENOENT: there is none; -EINVAL: one has a
 * CONTEXT that is no map.
 */
int dockerfiles_find(const char *path, const struct build_conf *b, struct dockerfiles *ret,
		     struct err *err);
void dockerfiles_release(struct dockerfiles *all);
/* The value of a build argument: the configuration's, else the Dockerfile's default; NULL. */
const char *dockerfile_arg(const struct dockerfile *d, const struct build_conf *b,
			   const char *name);

/* --- image_plan.c --- */

enum image_status { IMAGE_PLANNED, IMAGE_BUILT, IMAGE_PREBUILT, IMAGE_FAILED };

/* One image to be. */
struct image_job {
	const struct runconf *conf;   /* borrowed: the model's */
	char *word;                   /* by which the command line named the model */
	char *image, *registry_image; /* registry_image NULL: it is pushed nowhere */
	char *dockerfile, *context;   /* NULL for one that is not built */
	char *arch;                   /* NULL */
	char *base;                   /* the image it is made from; NULL */
	struct strvec args;           /* "K=V" */
	bool secrets;                 /* a step mounts some of the configuration's */
	/* what became of it */
	enum image_status status;
	bool pushed;
	char *command; /* as a shell would need it */
	char *log;     /* absolute */
	char *vendor;  /* of GPUs, from its Dockerfile; NULL: any */
	char *error;   /* why it could not be built; NULL */
	char *push_error;
	char *id, *digest, *base_id; /* NULL: not known */
	double build_s;
	struct strvec tail; /* last lines of the log of a failure */
};
struct image_plan {
	VEC(struct image_job) jobs;
	struct strvec notes; /* for people */
	char *context;       /* JSON that the manifest keeps for its runs; NULL */
};
/*
 * Adds the images of a model. Problems go to p: no Dockerfile stated, none that fits (with the
 * reason for each), names that collide. use_image: no build, that image is used as it is.
 */
void image_plan_add(struct image_plan *ip, const struct runconf *conf, const char *word,
		    const char *use_image, struct problems *p);
/*
 * Sets the registry's name of the image of the jobs from `from` on to `name`, with the registry in
 * front unless name has one (image_registry_len). Problems, at `where`: several images, or no known
 * registry. An image that is not built keeps its location.
 */
void image_plan_call(struct image_plan *ip, size_t from, const char *name, const char *where,
		     struct problems *p);
void image_plan_release(struct image_plan *ip);
/* "ci-…" as above; arch NULL: none. Owned. */
char *image_name(const char *model, const char *dockerfile, const char *arch);
/* <registry>/[<repository>:]<image>; owned. */
char *image_registry_name(const char *registry, const char *repository, const char *image);
/* How long the registry in front of an image's name is: "r:5000/a/b" 6, "a/b" 0. */
size_t image_registry_len(const char *image);

/* --- image_build.c --- */

struct image_opts {
	const struct engine *engine;
	const char *builds_dir; /* absolute: logs go there */
	bool no_cache;
	const volatile sig_atomic_t *interrupt;
	/* "build ci-a (2 of 3)", "push …", "login …" */
	void (*phase)(void *ctx, const char *phase);
	void (*line)(void *ctx, const char *line); /* each line of a build or push */
	void (*tick)(void *ctx);
	void *ctx;
};
/*
 * Builds, names and pushes one after the other; a failure is noted in its job and the others go on.
 * 0, -EINTR, or -errno before the first one (login refused, secrets and no builder for them).
 */
int image_build_all(struct image_plan *ip, const struct image_opts *o, struct err *err);
/*
 * Id and name by digest of an image that is here; NULL both when it is not. Of several names by
 * digest it is that of `repository` (with or without a tag), else the last. Owned.
 */
void image_facts(const struct engine *e, const char *image, const char *repository, char **ret_id,
		 char **ret_digest);
/*
 * Pulls with the registry's login (b may be NULL: the engine's own). -ETIMEDOUT, -EINTR, -EIO with
 * the engine's last line.
 */
int image_pull(const struct engine *e, const struct build_conf *b, const char *image,
	       double timeout_s, const struct image_opts *events, struct err *err);

/* --- image_private.c --- */

/* Removes folders of secrets whose owners died. */
void image_sweep(void);

/* --- manifest.c --- */

/* One image that can be run. */
struct manifest_image {
	char *image;               /* its name here */
	char *registry_image, *id; /* NULL: not told */
	char *model;               /* name */
	char *word;                /* by which it was found when it was built; NULL: use the name */
	char *at;                  /* NULL, or where it is now; the caller fills it in */
	char *dockerfile, *base;   /* what it was made of, and from; NULL: not told */
	double build_s;            /* NAN: not told */
};
struct manifest {
	bool ours; /* written by profrig */
	VEC(struct manifest_image) images;
	char *folder;         /* in which it was built, where words begin; NULL: not told */
	struct strvec failed; /* images that could not be built */
	struct cfg tree;      /* the whole, as read */
};
/* Atomically. The keys that the reference's readers use are all there. */
int manifest_write(const struct image_plan *ip, const char *engine, const char *build_id,
		   const char *version, const char *path, struct err *err);
/* -ENOENT; -EINVAL when it is no manifest. */
int manifest_read(struct manifest *m, const char *path, struct err *err);
void manifest_release(struct manifest *m);

#endif
