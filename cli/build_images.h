/*
 * build_images: images on the command line: planned, built, shown. Functions that return -1 mean
 * "go on"; everything else is an exit code, and the reason is printed.
 */
#ifndef BUILD_IMAGES_H
#define BUILD_IMAGES_H

#include "cli.h"
#include "image_prepare.h"

/* build_prepare, with its messages printed: an exit code. */
int build_plan(const struct command *c, const struct run_options *o, const struct build_request *rq,
	       const struct strvec *words, struct build_set *ret);
/*
 * Builds, pushes, writes the manifest (absolute; NULL: beside the logs of this build, into
 * *ret_manifest, owned). Exit code.
 */
int build_run(const struct command *c, struct build_set *s, const struct build_request *rq,
	      const char *builds_dir, const char *manifest, char **ret_manifest);
/* Builds the images of the words' models first; sets o->manifest. */
int build_first(const struct command *c, struct run_options *o, const struct strvec *words);
/* For `plan`: the models and images that building first would give; nothing is built. */
int build_foresee(const struct command *c, struct run_options *o, const struct strvec *words,
		  bool tell, struct strvec *models);
/* The models and images of o->manifest. */
int choose_images(const struct command *c, struct run_options *o, const struct strvec *words,
		  struct catalog **ret_catalog, struct strvec *models);
/*
 * For entries of models.json with a dockerfile and no image, builds the image, as `madengine run
 * --tags` does. dry: only names the images. models may become more, o->images gets an entry for
 * each.
 */
int package_images(const struct command *c, struct run_options *o, bool dry, struct strvec *models);

#endif
