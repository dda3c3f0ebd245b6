/*
 * pick_models: what a single word may stand for, for those who say where it stands themselves (a
 * batch file); pick_models (cli.h) is of the words of a command line.
 */
#ifndef PICK_MODELS_H
#define PICK_MODELS_H

#include "cli.h"

/* A file, or a folder that holds a model. */
bool pick_is_path(const char *word);
/* What all paths of one model have in common, whatever their arguments: a folder or its file, with
 * a ./ in front or not. Owned. */
char *pick_model_key(const char *path);
/* Why a word stands for no model, with the one that may be meant; path: it might have been a file
 * too. Owned. */
char *pick_unknown(const struct catalog *cat, const char *word, bool path);

#endif
