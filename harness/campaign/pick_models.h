/*
 * pick_models: from the words of a command line, or of a batch file, to models.
 */
#ifndef PICK_MODELS_H
#define PICK_MODELS_H

#include "run_options.h"

#include "profrig/base/cfg.h"
#include "profrig/base/err.h"
#include "profrig/config/runconf.h"

/*
 * Resolves words (files, folders, names, tags) and o->tags into models for prepare. The catalog is
 * read when a word needs it, and is *ret_catalog then (owned; catalog_free), else NULL. Errors as
 * in prepare.h; faults of models that a word names are added to problems (empty before). A file or
 * folder that is no model is left to prepare. command: "run", for messages.
 */
int models_pick(const char *command, const struct run_options *o, const struct strvec *words,
		struct catalog **ret_catalog, struct strvec *models, struct problems *problems,
		struct err *err);
void catalog_free(struct catalog *cat);
/* A file, or a folder that holds a model. */
bool pick_is_path(const char *word);
/* Canonical path of a model: without arguments, the same for a folder or its file, with or without
 * a ./ in front. Owned. */
char *pick_model_key(const char *path);
/* Error text for a word that names no model, with a suggestion; path: it could be a file. Owned. */
char *pick_unknown(const struct catalog *cat, const char *word, bool path);

#endif
