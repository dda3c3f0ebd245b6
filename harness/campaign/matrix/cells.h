/*
 * cells: the cells of a campaign, resolved: each a configuration that can run, an id, and the cell
 * that it is compared with.
 *
 *	cells_make(&o, &file, limit, &cells, …)	each is planned, nothing starts
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
	struct cfg over;        /* what is laid over its model, while ready is there */
	struct prepared *ready; /* owned; NULL: not kept */
};

/* The contents of a model's folder, which several cells share. */
struct cell_dir {
	char *path;
	struct contents c;
};

/* A file that several cells have in their ids: a script, a tool's. */
struct cell_file {
	char *path;
	char sha[65];
};

struct cells {
	VEC(struct cell) v;
	const struct campaign_file *file; /* borrowed */
	struct tool_set tools;            /* of all cells */
	VEC(struct cell_file) files;
	bool has_tools;
	size_t config_bytes;
	VEC(size_t) ready; /* cells that are prepared, the oldest first */
	VEC(struct cell_dir) dirs;
};
#define CELLS_INIT \
	{ \
		.file = NULL \
	}
#define CELLS_CONFIG_MAX ((size_t)64 << 20) /* of all configurations together */
#define CELLS_RUNS_MAX ((size_t)10000000)
#define CELLS_READY_MAX 64
#define CELL_LABEL_MAX 200 /* bytes; a longer one is cut, and ends with a digest of itself */

/*
 * o: its conf.sets and tools_dirs count for all cells; runs_dir is where attempts go. Cells are in
 * the order of models, then of the matrix. The file's matrix is expanded here. -EBADMSG: see
 * problems; a word of --tools-dir that is none -EINVAL; others as in prepare.h.
 */
int cells_make(const struct run_options *o, struct campaign_file *f, uint64_t limit,
	       struct cells *ret, struct problems *problems, struct said *said, struct err *err);
/* but: the folder of campaigns, which is not part of a model's contents. */
int cells_identify(struct cells *c, const char *but, const volatile sig_atomic_t *interrupt,
		   struct problems *problems, struct err *err);
/*
 * Models, values and labels of the cells alone, for a worker: it knows ids from the plan, and
 * prepares only what it runs.
 */
int cells_list(const struct run_options *o, struct campaign_file *f, uint64_t limit,
	       struct cells *ret, struct problems *problems, struct said *said, struct err *err);
/*
 * The cell's configuration, prepared for one attempt: owned by the cell, the same one each time,
 * valid until CELLS_READY_MAX others were prepared.
 */
struct prepared *cell_ready(const struct run_options *o, struct cells *c, struct cell *cell,
			    struct err *err);
void cells_release(struct cells *c);

/*
 * What the job script says of a run's nodes (slurm_script.h), read from the environment, as the
 * run's own: MASTER_ADDR, MASTER_PORT, NNODES, NPROC_PER_NODE, NODE_RANK, since a container has
 * what its configuration names alone; and madengine's MAD_MULTI_NODE_RUNNER, where the recorded
 * configuration has one for a single machine. A program prints its figures once: those of the
 * first node count, so on the others `results` wants none, and adds no row to a table. Nothing,
 * elsewhere than in such a job.
 */
void cell_nodes_config(const struct campaign_file *f, const struct campaign_model_entry *m,
		       struct cfg *over);

/* A value as labels have it: 1, [a,b], {k:v}; for a terminal (text_visible). */
void cell_value_add(struct strbuf *to, const struct cfg_node *n);

#endif
