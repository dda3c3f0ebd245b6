/*
 * pack: run directories, traces, dumps and logs in one file that can be checked: a bundle.
 *
 * A bundle is a zip archive (zip.h) whose last member, manifest.json, says what is in it
 * (schema profrig.bundle/1):
 *	profrig, host		the program and the machine that packed it
 *	inputs[]		what was named: path (in the bundle), origin, kind run|folder|file
 *	runs[]			run directories: path, id, model, status, host, started_utc, rank,
 *				versions, clocks (the anchors of their run.json)
 *	bundles[]		of a merged one: name, origin
 *	members[]		path, bytes, sha256, origin, rank, bundles (those that had it)
 *	left_out[]		path, why
 * A rank is that of --rank, of a run's label `rank`, or stands in a name as in "rank3",
 * "worker_3"; else null. Equal inputs give equal bundles: no time of packing is in them.
 *
 * Nothing of a folder is followed: links, FIFOs, sockets and devices are left out (door.h). A file
 * that holds the value of a secret variable (redact.h) is lost, and so is one that cannot be read;
 * a file that changes while it is read ends the packing, and nothing is written. An output that
 * exists is refused before any work unless `force` is set; it appears whole or not at all.
 */
#ifndef PROFRIG_PACK_H
#define PROFRIG_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"

#define PACK_MANIFEST "manifest.json"

struct pack_opts {
	bool force;
	int64_t rank; /* of all inputs; -1: not said */
};

struct pack_result {
	uint64_t members, bytes; /* of contents, without the manifest */
	uint64_t packed;         /* size of the bundle */
	struct strvec left_out;  /* "PATH: why": links and the like */
	struct strvec lost;      /* "PATH: why": the bundle is not whole */
	struct strvec differing; /* of a merge: names that had several contents */
};
void pack_result_release(struct pack_result *r);

/* -EEXIST: there is such a file already; other errors: it cannot be written there. */
int pack_output_check(const char *output, bool force, struct err *err);

/*
 * Packs run directories, folders and files. Their base names are their names in the bundle; an
 * equal one gets "-2". -EBUSY: a file changed meanwhile; -ENODATA: nothing to pack.
 */
int pack_create(const struct strvec *inputs, const char *output, const struct pack_opts *o,
		struct pack_result *ret, struct err *err);

/*
 * Bundles (or other zip archives) of the ranks of one program, in one. Members of one name and one
 * SHA-256 are there once; contents that differ are kept as NAME/STEM, where STEM is the file name
 * of their archive without its ending (with its folder's, or a number, where that is not unique). A
 * run directory and an OTF2 archive go as a whole. Every member of every input is read and checked
 * before anything is written. Time: linear in members and bytes.
 */
int pack_merge(const struct strvec *inputs, const char *output, const struct pack_opts *o,
	       struct pack_result *ret, struct err *err);

struct pack_checked {
	uint64_t members, bytes;
	bool has_manifest;      /* else only sizes and CRC-32 were checked */
	struct strvec problems; /* each names a member */
};
void pack_checked_release(struct pack_checked *c);
/* Reads all of a bundle. 0 also when there are problems; -EINVAL: no archive that is taken. */
int pack_check(const char *path, struct pack_checked *ret, struct err *err);

/* What of an archive no reader of profrig reads, by the kind of the file. */
struct pack_unread {
	const char *kind, *why; /* ".parquet", … */
	uint64_t nr;
	char first[256];
};
#define PACK_UNREAD_KINDS 4

struct unpacked {
	struct strvec inputs; /* for a session: run directories, else the folder */
	struct strvec others; /* beside several runs: what is not analysed with them */
	uint64_t files, bytes;
	struct pack_unread unread[PACK_UNREAD_KINDS];
};
void unpacked_release(struct unpacked *u);
/*
 * Unpacks an archive, a bundle or one of nsys-jax, into a folder that exists and is empty. Names,
 * sizes, checksums and, with a manifest, SHA-256 are checked; what no reader reads stays packed and
 * is counted. -ENOSPC: its contents do not fit.
 */
int pack_unpack(const char *path, const char *dir, struct unpacked *ret, struct err *err);

#endif
