/*
 * manifest_models: the models and images that a manifest names, for `run --manifest`.
 *
 * Each image of the manifest is one run of its model; MODEL words and tags pick some of them. A
 * word with arguments (X:key=value) replaces those of the build, and several words of one model are
 * a run each. The image is the local one, else that of the registry, which the run pulls. The
 * engine is the manifest's unless the command line names another. The context of a manifest of
 * madengine applies to the run, too. manifest_where.h finds the models.
 */
#ifndef MANIFEST_MODELS_H
#define MANIFEST_MODELS_H

#include "prepare.h"

struct build_set;
struct image_job;

/*
 * As models_pick: o->manifest is read; o->images and o->builds_s get as many entries as models.
 */
int manifest_models(struct run_options *o, const struct strvec *operands,
		    struct catalog **ret_catalog, struct strvec *models, struct said *said,
		    struct err *err);
/* -EBADMSG: the i-th model is another than the one its image was built for. */
int manifest_same_model(const struct run_options *o, const struct runconf *rc, size_t i,
			struct err *err);
/* Adds to o->unbuilt what a build that failed did not make; whether it made anything. */
bool unbuilt_add(struct run_options *o, const struct build_set *set);
/* The runs of an image that would be built, for `plan`. */
void planned_add(struct run_options *o, const struct build_set *set, const struct image_job *j,
		 struct strvec *models);

#endif
