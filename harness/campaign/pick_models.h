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
 * What words (files, folders, names, tags) and o->tags stand for, as prepare takes it. The catalog
 * is read when a word needs it, and is *ret_catalog then (owned; catalog_free), else NULL. Errors
 * as in prepare.h; faults of models that a word names are added to problems (empty before). A file
 * or folder that is no model is left to prepare. command: "run", for messages.
 */
int models_pick(const char *command, const struct run_options *o, const struct strvec *words,
		struct catalog **ret_catalog, struct strvec *models, struct problems *problems,
		struct err *err);
void catalog_free(struct catalog *cat);
/* A file, or a folder that holds a model. */
bool pick_is_path(const char *word);
/* What all paths of one model have in common, whatever their arguments: a folder or its file, with
 * a ./ in front or not. Owned. */
char *pick_model_key(const char *path);
/* Why a word stands for no model, with the one that may be meant; path: it might have been a file
 * too. Owned. */
char *pick_unknown(const struct catalog *cat, const char *word, bool path);

#endif
