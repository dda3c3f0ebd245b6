/*
 * seen_inputs: the inputs that a session has read, identified by device and inode, so that an input
 * named by several paths counts once.
 *
 * Life cycle: { .places = VEC_INIT }, seen_before of each input before it is read,
 * seen_inputs_release.
 */
#ifndef PROFRIG_SEEN_INPUTS_H
#define PROFRIG_SEEN_INPUTS_H

#include <sys/types.h>

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/readers/reader.h"

struct seen_inputs {
	VEC(struct seen_place {
		dev_t dev, parent_dev;
		ino_t ino, parent_ino;
		const struct reader *reader;
		bool is_dir;
	}) places;
	struct u64map by_place, by_parent; /* → places */
};

/*
 * Whether the path was asked before, also as an archive's folder and the file in it that stands for
 * the archive. Remembers it. False for what cannot be looked at. reader: of a file or an archive;
 * NULL.
 */
bool seen_before(struct seen_inputs *seen, const char *path, const struct reader *reader);
void seen_inputs_release(struct seen_inputs *seen);

#endif
