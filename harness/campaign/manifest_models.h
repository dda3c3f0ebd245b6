/*
 * manifest_models: the models and images that a manifest names, for `run --manifest`.
 *
 * Each image of the manifest is one run of its model; MODEL words and tags pick some of them. A
 * word with arguments (X:key=value) gives the model these instead of those it was built with, and
 * several words of one model are a run each. The image is
 * the one that is here, else that of the registry, which the run pulls. The engine is the
 * manifest's unless the command line says another. Of a manifest of madengine the context is one of
 * the run, too. Where the models are: manifest_where.h.
 */
#ifndef MANIFEST_MODELS_H
#define MANIFEST_MODELS_H

#include "cli.h"

/*
 * As pick_models: o->manifest is read; o->images and o->builds_s get as many entries as models. -1
 * to go on, or 2, 3 after saying why.
 */
int manifest_models(const struct command *c, struct run_options *o, const struct strvec *operands,
		    struct catalog **ret_catalog, struct strvec *models);
/* 0, or 3 after saying that the i-th model is another than the one its image was built for. */
int manifest_same_model(const struct run_options *o, const struct runconf *rc, size_t i);
/* Builds the images of the words' models first; o->manifest is then what was written. -1 or an exit
 * code. */
int build_first(const struct command *c, struct run_options *o, const struct strvec *words);
/* The runs of an image that would be built, for `plan`. */
struct build_set;
struct image_job;
void add_planned(struct run_options *o, const struct build_set *set, const struct image_job *j,
		 struct strvec *models);
/* For `plan`: the models and images that building first would give; nothing is built. */
int plan_build_first(const struct command *c, struct run_options *o, const struct strvec *words,
		     struct strvec *models);

#endif
