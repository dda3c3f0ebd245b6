/*
 * package_images: entries of models.json that have a dockerfile and no image run in what is built
 * of it, as madengine's users expect of `run --tags`: what `run --build` does, for them alone.
 */
#ifndef PACKAGE_IMAGES_H
#define PACKAGE_IMAGES_H

#include "cli.h"

/*
 * models: as pick_models chose them, o->catalog included. Nothing with --image, --manifest or on
 * the host; where no container engine answers a warning. dry: nothing is built, and the images are
 * those that would be. o->images gets an entry for each of models, which may become more: "" for
 * those that run as they are. -1 to go on, or an exit code.
 */
int package_images(const struct command *c, struct run_options *o, bool dry, struct strvec *models);

#endif
