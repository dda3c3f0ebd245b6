/*
 * data_priv: the parts of data among themselves.
 *
 *	data.c		which source; the order of things
 *	data_sync.c	a listing of what there should be → the cache
 *	data_slots.c	several files at a time
 *	data_entry.c	entry.json: what a cache folder holds, and whether it still does
 *	data_local.c	folders of this machine: counting, hashing, copying
 *	data_http.c	one file from a server, with resumption and patience
 *	data_s3.c	addresses and listings of S3
 *	data_script.c	a user's script
 *	http.c		libcurl
 */
#ifndef DATA_PRIV_H
#define DATA_PRIV_H

#include <stdatomic.h>

#include "profrig/base/strvec.h"
#include "profrig/data/data.h"
#include "profrig/data/http.h"

/* One file: of a listing (what there should be) or of an entry (what there is). */
struct data_file {
	char *rel;     /* its path below data/ */
	char *from;    /* URL, or path; NULL in an entry */
	char *tag;     /* ETag, date, or "size mtime": changes with the content; NULL: not known */
	int64_t bytes; /* -1: not known */
	int64_t mtime_ns; /* of ours, in an entry */
	char sha256[65];  /* in an entry */
};
typedef VEC(struct data_file) data_files;
void data_files_release(data_files *f);
void data_files_add(data_files *f, const char *rel, const char *from, const char *tag,
		    int64_t bytes);
/* By the bytes of rel. */
void data_files_sort(data_files *f);

/* Properties of a folder's listing; zero is empty. */
struct local_more {
	struct strvec dirs; /* its folders, relative, each behind the one that holds it */
	struct strvec
		left_out; /* entries that are neither file nor folder, with the reason: "x/y: …" */
	bool linked;      /* a link led to some of it */
};
void local_more_init(struct local_more *m);
void local_more_release(struct local_more *m);
/* One sentence about entries that were left out, owned; NULL: none were. */
char *local_left_out(const struct local_more *m);

/* One data set from one source. */
struct fetch {
	const struct data_source *s;
	const struct data_opts *o;
	char *dir; /* cache folder of this source */
	struct http *http;
	struct data_result *ret;
	struct local_more more;  /* of the listing, of a local folder */
	uint64_t done, total;    /* bytes, of all files; total 0: not known */
	char tag[256];           /* of the file that came last; "": the server gave none */
	const atomic_bool *stop; /* true: others have failed, give up (-ECANCELED); NULL */
};
bool fetch_interrupted(const struct fetch *f);
/* f->ret names what the copy lacks. */
void data_left_out(struct fetch *f);

/* --- data_entry.c --- */

/* 0 and the existing entry; -ENOENT: no usable one. */
int entry_read(const char *dir, data_files *ret);
int entry_write(const char *dir, const char *source, const data_files *files, double seconds,
		struct err *err);
/* Whether a file of an entry is unchanged: by size and time, else by its hash. */
bool entry_file_good(const char *dir, const struct data_file *f);
/* Fills f->ret when all of it is as it was, else -ENOENT. */
int entry_use(struct fetch *f);
/* SHA-256 of one file, or of the list of several. */
void entry_hash(const data_files *files, char ret_hex[65]);

/* --- data_sync.c --- */

/* Fetches one file into `part`, continuing an earlier transfer. */
typedef int data_get(struct fetch *f, const struct data_file *file, const char *part,
		     struct err *err);
/* Makes dir/data equal to the listing, reusing good files; sets the hashes of files. */
int data_sync(struct fetch *f, const data_files *listing, data_get *get, struct err *err);

/* A file that has to come: `want` of the listing becomes `file` of the entry. */
struct data_job {
	const struct data_file *want;
	struct data_file *file;
	bool done;
};
/* Brings it and puts it in place. */
int data_fetch_one(struct fetch *f, struct data_job *job, data_get *get, struct err *err);

/* --- data_slots.c --- */

/* Runs all jobs, several at a time: 0, or the first error; sets each job's done. */
int data_slots(struct fetch *f, struct data_job *jobs, size_t nr, data_get *get, struct err *err);

/* --- data_local.c --- */

/*
 * Files below path (or path itself), at most max of them and of folders: more is -E2BIG. Links are
 * followed, as `find -L` does: one that leads to a folder above it is left out, like broken ones.
 */
int local_list(const char *path, size_t max, data_files *ret, struct local_more *more,
	       struct err *err);
/* Makes the folders below dir those of the listing; folders that still hold something stay. */
int local_folders(const char *dir, const struct local_more *more, struct err *err);
int local_copy(struct fetch *f, const struct data_file *file, const char *part, struct err *err);

/* --- data_http.c --- */

struct http_access data_access(const struct data_source *s);
/* One answer to HEAD, or to GET of nothing where HEAD is refused. -ENOENT: it is not there. */
int data_head(struct fetch *f, const char *url, struct http_reply *ret, struct err *err);
int http_list(struct fetch *f, data_files *ret, struct err *err);
int http_fetch(struct fetch *f, const struct data_file *file, const char *part, struct err *err);

/* --- data_s3.c --- */

/* Objects that path names: the one of that key, or all below it. -ENOENT: none. */
int s3_list(struct fetch *f, data_files *ret, struct err *err);
/*
 * "https://bucket.s3.region.amazonaws.com/" or "<endpoint>/bucket/", then the encoded key; owned.
 */
char *s3_url(const struct data_source *s, const char *key);
/*
 * One page of an answer to list-objects-v2: its objects behind those there are, and the token of
 * the next page (owned, NULL: it was the last). prefix: keys that are neither it nor below it are
 * left out. -EPROTO: that is no such answer, or a key leads out of its folder.
 */
int s3_parse_page(const char *xml, const struct data_source *s, const char *prefix, data_files *ret,
		  char **ret_next, struct err *err);

/* --- data_script.c --- */

int script_check(const struct data_source *s, struct err *err);
int script_fetch(struct fetch *f, const char *name, struct err *err);

#endif
