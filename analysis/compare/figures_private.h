/* figures_private: what figures.c and figure_tables.c share. */
#ifndef COMPARE_FIGURES_PRIVATE_H
#define COMPARE_FIGURES_PRIVATE_H

#include <jansson.h>

#include "profrig/compare/figures.h"

#define RUN_DOCUMENT_MAX ((size_t)64 << 20)

/* run.json of a directory that is held; -ENOENT: there is none. json_decref it. */
int run_document_read(const char *dir, json_t **ret, struct err *err);
void run_document_drop(json_t **doc);

void figures_add(struct figures *f, const char *name, const char *key, size_t key_len,
		 const char *unit, enum figure_better better, double value);
/* dir/TABLE.csv, those that are selected and there. */
void figure_tables_read(const char *dir, const struct strvec *selection, struct figures *f);

#endif
