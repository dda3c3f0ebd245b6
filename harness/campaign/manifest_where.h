/*
 * manifest_where: where the models of a manifest are now.
 *
 * A manifest names models as they were reached from the folder in which it was built. Looked at
 * are the manifest's own folder, the one it was built in, the packages that MODEL_DIR named then,
 * and the one here, in this order; the models are taken from the first of those in which most of
 * them are, by their paths and names. Of a manifest of madengine the entries of built_models stand
 * for models that no package has; their scripts are looked for from that folder (or $MODEL_DIR).
 */
#ifndef MANIFEST_WHERE_H
#define MANIFEST_WHERE_H

#include "profrig/image/image.h"

/* The catalog of that folder, owned (catalog_free); each image that has its model there gets `at`,
 * as `prepare` takes it. path: the manifest's. */
struct catalog *manifest_where(struct manifest *m, const char *path);

#endif
