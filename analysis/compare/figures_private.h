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
/* ---- figure_tables.c ---- */

#define FIGURE_VALUES_MAX 3
#define FIGURE_KEYS_MAX 3

enum figure_key_form {
	KEY_PLAIN,  /* the first column */
	KEY_SERIES, /* a counter, with its device where the name does not tell it */
	KEY_OF,     /* "NAME (SERIES)" */
	KEY_PAIR,   /* "FIRST SECOND" */
	KEY_LIST    /* all that are not empty, with blanks between */
};

/* A table that lacks a column which rows need. */
enum figure_lack {
	LACK_PROBLEM, /* is one, and is not read */
	LACK_NONE,    /* has no rows that count */
	LACK_ALL      /* all count, where `where` is what it lacks */
};

/* Figures out of one table. */
struct figure_source {
	const char *file;
	const char *keys[FIGURE_KEYS_MAX];
	const char *where, *is; /* rows whose column has this text; NULL: all */
	const char *or_is;      /* or this one; NULL: there is no other */
	enum figure_lack lack;
	enum figure_key_form form;
	bool usual; /* in the selection of nothing */
	bool once;  /* rows of equal keys repeat one value (views of a counter) */
	struct figure_value {
		const char *name, *column, *unit;
		enum figure_better better;
	} values[FIGURE_VALUES_MAX];
};
/* dir/FILE.csv, where it is there and any of its figures is selected. */
void figure_source_read(const struct figure_source *s, const char *dir,
			const struct strvec *selection, struct figures *f);
/* dir/TABLE.csv, those that are selected and there. */
void figure_tables_read(const char *dir, const struct strvec *selection, struct figures *f);

#endif
