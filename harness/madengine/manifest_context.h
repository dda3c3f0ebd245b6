/*
 * manifest_context: the --additional-context of a build, kept in the manifest for its runs: env,
 * mounts, GPUs, tools and scripts apply to the run, too. The run's own context overrides it, key by
 * key.
 */
#ifndef MANIFEST_CONTEXT_H
#define MANIFEST_CONTEXT_H

#include "run_options.h"

#include "profrig/image/image.h"

/*
 * ip->context from the options of a build whose jobs are all planned. Build arguments are the
 * build's alone. Secrets, by their names or their values, stay out; their keys are added to
 * left_out.
 */
void manifest_context_keep(const struct run_options *o, struct image_plan *ip,
			   struct strvec *left_out);
/* o->manifest_context from the manifest, ours or madengine's. */
void manifest_context_take(struct run_options *o, const struct manifest *m);

#endif
