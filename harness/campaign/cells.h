/*
 * cells: the cells of a campaign, resolved: each a configuration that can run, an id, and the cell
 * that it is compared with.
 *
 *	cells_make(&o, &file, limit, &cells, &problems, &said, &err)	nothing starts
 *	cells_identify(&cells, …)	ids: reads the files of models, asks engines for images
 *	cells_release(&cells)
 *
 * An id is the first 12 hexadecimal digits of SHA-256 over what decides what a run computes: the
 * resolved configuration and the contents of the model's folder, of scripts and of tools' files,
 * and the image. Host, time, labels, order and where results go are not in it. The configuration is
 * canonical JSON: keys in byte order, scalars as texts, no blanks, secrets as "***".
 */
#ifndef CELLS_H
#define CELLS_H

#include "campaign_file.h"
#include "contents.h"
#include "prepare.h"

#define CELL_ID_LEN 12
#define CELL_NONE UINT32_MAX

/* What an id is made of; "" unknown, or there is none. */
struct cell_parts {
	char config[65], files[65], scripts[65], tools[65];
	char image[128];
};

struct cell {
	char id[CELL_ID_LEN + 1];
	char *label; /* "mlp OMP_NUM_THREADS=1 tools=[]"; of a zip its first path alone */
	const struct campaign_model_entry *model;
	const struct matrix_cell *axes;
	char *config; /* canonical JSON */
	struct cell_parts parts;
	uint32_t dir;                /* of cells.dirs; CELL_NONE: no folder counts */
	char *image;                 /* NULL: it runs without one */
	const struct engine *engine; /* of the registry */
	uint32_t baseline;           /* the cell that it is compared with; CELL_NONE */
	bool is_baseline;
	struct cfg over;        /* what is laid over its model */
	struct prepared *ready; /* owned; NULL: not kept */
};

/* The contents of a model's folder, which several cells share. */
struct cell_dir {
	char *path;
	struct contents c;
};

struct cells {
	VEC(struct cell) v;
	VEC(struct cell_dir) dirs;
	struct strvec unused; /* axes whose values change nothing */
};
#define CELLS_INIT \
	{ \
		.unused = STRVEC_INIT \
	}

/*
 * o: its conf.sets and tools_dirs count for all cells; runs_dir is where attempts go. Cells are in
 * the order of models, then of the matrix. The file's matrix is expanded here. Errors as in
 * prepare.h.
 */
int cells_make(const struct run_options *o, struct campaign_file *f, uint64_t limit,
	       struct cells *ret, struct problems *problems, struct said *said, struct err *err);
/* but: the folder of campaigns, which is not part of a model's contents. */
int cells_identify(struct cells *c, const struct campaign_file *f, const char *but,
		   const volatile sig_atomic_t *interrupt, struct err *err);
/* The cell's configuration, prepared for one attempt: owned by the cell, the same one each time. */
struct prepared *cell_ready(const struct run_options *o, struct cell *c, struct err *err);
void cells_release(struct cells *c);

/* A value as labels have it: 1, [a,b], {k: v}. */
void cell_value_add(struct strbuf *to, const struct cfg_node *n);

#endif
