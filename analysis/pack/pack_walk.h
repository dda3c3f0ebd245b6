/* What a packing takes: the regular files of its inputs, and what it leaves out, with reasons. */
#ifndef PACK_WALK_H
#define PACK_WALK_H

#include "bundle_manifest.h"

#include "profrig/pack/pack.h"

struct pack_file {
	char *path, *from; /* in the bundle; where it is */
	int64_t rank;
};

struct pack_walk {
	struct bundle_manifest *m; /* inputs, runs, left_out go there */
	struct pack_result *said;  /* left_out, lost */
	int64_t rank;              /* --rank, or RANK_UNKNOWN */
	dev_t dev;                 /* of an output that is there and may lie among the inputs */
	ino_t ino;
	struct strvec names; /* of inputs, in the bundle */
	struct strvec held;  /* folders that are held (door.h) */
	VEC(struct pack_file) files;
};

/* One input. -ENOENT and the like: it cannot be read at all. */
int pack_walk_input(struct pack_walk *w, const char *input, struct err *err);
void pack_walk_release(struct pack_walk *w);
/* Notes a file that is not in the bundle and should be. */
void pack_walk_lost(struct pack_walk *w, const char *path, const char *why);

#endif
