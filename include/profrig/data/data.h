/*
 * data: fetches the data of a workload (docs/data.md).
 *
 * A data set (struct data_set) has sources, tried in the order script, local, s3 with an endpoint
 * of its own, nas, s3, http. data_check finds one that is available; data_fetch fetches it:
 *
 *	local	a file or folder of this machine, used as it is
 *	nas	the same on a mounted file system, or a copy of it with mirrorlocal
 *	http	one file
 *	s3	one object, or all below a prefix, signed with SigV4 (without credentials: unsigned)
 *	script	run with bash (/bin/sh where there is none) and PROFRIG_DATA_DIR, which it fills
 *
 * Fetched data is in <cache>/<provider>-<16 hex>/: `data/` for workloads, `part/` for unfinished
 * transfers, entry.json (schema profrig.data/1) with its facts; the 16 digits are the hash of its
 * source. A lock keeps two runs from fetching one thing twice. A part is continued when the server
 * still has the same file (ETag, If-Range), else begun again. An entry is valid when its files have
 * the recorded sizes and times; changed files are hashed, and damaged ones are fetched again.
 *
 * SHA-256 of a folder: of the text "<sha256>  <path>\n" of all its files, sorted by path's bytes.
 *
 * Credentials reach libcurl and nothing else: no argv, no log, no file.
 */
#ifndef PROFRIG_DATA_H
#define PROFRIG_DATA_H

#include <signal.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/config/buildconf.h"

struct data_opts {
	const volatile sig_atomic_t *interrupt; /* may be NULL */
	/* may be NULL: "fetch imagenet from http://…", bytes so far and in all (0: not known),
	 * a line of a script; a few times a second */
	void (*phase)(void *ctx, const char *phase);
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void (*note)(void *ctx, const char *text);
	void (*tick)(void *ctx);
	void *ctx;
};

/* The found or fetched source of a set. */
struct data_result {
	char *name;
	const char *provider; /* NULL: none of its sources is there */
	char *source;         /* for people: no credentials, no query of an URL */
	char *path;           /* absolute: the file or folder to read; NULL: none */
	char *error;          /* why not, or NULL */
	char *note;           /* message about a deviation from the configuration; NULL */
	char *left_out;       /* for people: what the copy of a folder lacks; NULL */
	char sha256[65];      /* "": not known */
	uint64_t files, bytes, fetched_bytes;
	bool at_least; /* files and bytes: counting them was given up, there are more */
	double seconds;
	bool cached; /* nothing was fetched */
	int lock_fd; /* keeps others from changing it; -1 */
};
void data_result_release(struct data_result *r);

/*
 * 0 when one of the sources is available, -ENOENT with every reason when none is, -EINTR. Fetches
 * nothing; a server gets one request for a head.
 */
int data_check(const struct data_conf *c, const struct data_set *d, const struct data_opts *o,
	       struct err *err);
/*
 * 0 and *ret; -ENOENT as data_check; -EINTR; else -errno of the last source that was tried. *ret
 * is filled either way.
 */
int data_fetch(const struct data_conf *c, const struct data_set *d, const struct data_opts *o,
	       struct data_result *ret, struct err *err);

/* 0 when libcurl is here, which http and s3 need. */
int data_transfer_works(struct err *err);

#endif
