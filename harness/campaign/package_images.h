/*
 * package_images: builds the images of entries of models.json that have a dockerfile and no image,
 * as `madengine run --tags` does: `run --build` for these entries alone.
 */
#ifndef PACKAGE_IMAGES_H
#define PACKAGE_IMAGES_H

#include "prepare.h"

/*
 * Those of models (as models_pick chose them, with o->catalog) whose images are to be built first:
 * none with --image, --manifest or on the host; where no container engine answers a warning.
 */
void package_images_wanted(const struct run_options *o, const struct strvec *models,
			   struct strvec *wanted, struct said *said);
/*
 * The new value of models: built ones, which have images now, then the others as they are ("" in
 * o->images).
 */
void package_images_join(struct run_options *o, const struct strvec *wanted, struct strvec *built,
			 struct strvec *models);

#endif
