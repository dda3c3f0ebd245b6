/*
 * image_prepare: what `build` and `run --build` share, and what `run --manifest` reads.
 */
#ifndef IMAGE_PREPARE_H
#define IMAGE_PREPARE_H

#include "prepare.h"

#include "profrig/image/image.h"

struct build_request {
	struct strvec args;  /* --build-arg */
	struct strvec archs; /* --target-archs, with commas in them */
	const char *registry, *use_image;
	const char *batch; /* --batch-manifest; NULL */
	bool no_cache, live;
};
void build_request_init(struct build_request *rq);
void build_request_release(struct build_request *rq);

/* A model of a build and what becomes of it. */
struct build_item {
	char *word;           /* as prepare takes it; NULL: the model of --config */
	char *registry;       /* destination of images; NULL: that of the configuration */
	char *registry_image; /* what its one image is called there; NULL: as images are called */
	char *use_image;      /* that image is taken, nothing is built; NULL */
	char *where;          /* of the batch file; NULL */
};
struct build_items {
	VEC(struct build_item) v;
};
/*
 * The models of a batch file; its faults are added to p. The catalog is read as by models_pick.
 * -EINVAL: there is no such file, and ret is empty.
 */
int batch_models(const struct run_options *o, const struct build_request *rq,
		 struct catalog **ret_catalog, struct build_items *ret, struct problems *p,
		 struct said *said, struct err *err);
/* A password that one variable holds goes to one registry. */
void batch_check_logins(const struct image_plan *ip, struct problems *p);

/* The configurations of some models and the images they ask for. Must not move. */
struct build_set {
	struct catalog *catalog;
	VEC(struct runconf *) confs;
	struct tool_set tools;
	struct image_plan plan;
	struct strvec words; /* as chosen: one model with several arguments has one image */
	const struct engine *engine;
	bool tried; /* building began, and the manifest says how it went */
};
/*
 * words and o->tags: models; none: the one of --config. Errors as in prepare.h; problems of all
 * configurations are in p. command: "build" or "run", for messages.
 */
int build_prepare(const char *command, const struct run_options *o, const struct build_request *rq,
		  const struct strvec *words, struct build_set *ret, struct problems *p,
		  struct said *said, struct err *err);
/* Which engine builds: s->engine. -ENOENT, -ENODEV. */
int build_engine(struct build_set *s, struct err *err);
/* The words that name the job's model; each is a run of its image. */
void build_words_of(const struct build_set *s, const struct image_job *j, struct strvec *ret);
void build_set_release(struct build_set *s);

#endif
