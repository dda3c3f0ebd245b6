/*
 * fs: files and directories. Descriptors are O_CLOEXEC. Files that matter are written to a
 * temporary name in the same directory, fsynced and renamed, so a reader sees the old or the new
 * content and never half of it.
 */
#ifndef PROFRIG_FS_H
#define PROFRIG_FS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"

/*
 * Whole file into a NUL-terminated buffer owned by the caller; larger than max is -EFBIG. ret_len
 * may be NULL. A FIFO, a device or a socket is -EINVAL at once, a folder -EISDIR. Names
 * below /dev and /proc (a pipe that the caller hands over) are read to their end.
 */
int fs_read(const char *path, size_t max, char **ret_data, size_t *ret_len, struct err *err);
/*
 * A path in dir for a temporary file or folder, which is renamed or removed later; unique in this
 * process. Owned. The name begins with a dot and holds the writer's pid: FS_TEMP_PATTERN matches
 * the last component, fs_temp_pid returns the pid (0 for other names).
 */
char *fs_temp_name(const char *dir);
#define FS_TEMP_PATTERN ".profrig-*.tmp"
pid_t fs_temp_pid(const char *name);
/*
 * Whether such a file or folder is left over: its writer is dead, and nothing in it was written for
 * FS_TEMP_QUIET_S seconds (the writer may live on another machine that shares the disk).
 */
#define FS_TEMP_QUIET_S 300
bool fs_temp_abandoned(const char *path);
/* Removes those of the calling user from a directory; returns how many, adds their bytes. */
size_t fs_temp_sweep(const char *dir, int64_t *bytes);
/* All of it to a descriptor; -errno. */
int fs_write_all(int fd, const void *data, size_t n);
/* Mode 0644 less the umask. */
int fs_write_atomic(const char *path, const void *data, size_t n, struct err *err);
/*
 * The same with a choice of what survives a crash of the machine; a crash of the program loses
 * nothing. FS_KEEP_NOTHING: no fsync, the file may be empty; FS_KEEP_DATA: the old or the new
 * content; FS_KEEP_NAME (as fs_write_atomic): the new content.
 */
enum fs_keep { FS_KEEP_NOTHING, FS_KEEP_DATA, FS_KEEP_NAME };
int fs_write_kept(const char *path, const void *data, size_t n, enum fs_keep keep, struct err *err);
/* Also creates parents; an existing directory is success. */
int fs_mkdirs(const char *path, mode_t mode, struct err *err);
/*
 * Removes a file or a whole tree, never following links; absent is success. "/", "." and ".." are
 * -EINVAL. Folders of the caller without permissions get them first.
 */
int fs_remove_tree(const char *path, struct err *err);
/* Copies one file, replacing `to`: its length at the start counts; holes stay. */
int fs_copy_file(const char *from, const char *to, mode_t mode, struct err *err);
/*
 * Copies the entries below `from` into the folder `to`, replacing files there. Links are followed,
 * broken ones copied; permissions stay; sockets, pipes and devices are left out. The folder `but`
 * is not entered by any path (NULL: none). -ELOOP over 64 levels.
 */
int fs_copy_tree(const char *from, const char *to, const char *but, struct err *err);
/*
 * Changes owner and group of all entries below a directory to those of the directory: entries that
 * changed since since_ns (CLOCK_REALTIME; 0: all), links themselves and not their targets. -errno
 * when the directory cannot be opened; failed entries are counted. Programs lose their set-user-ID
 * and set-group-ID bits, devices all their permissions.
 */
struct fs_owned {
	uint64_t changed, failed;
};
int fs_own_below(const char *dir, int64_t since_ns, struct fs_owned *ret);
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
bool fs_is_file(const char *path);
int64_t fs_size(const char *path); /* bytes, -1 when absent */
/*
 * Disk usage of everything below a directory, in bytes; links are not followed. ret_least (may be
 * NULL): true when a part could not be read and is missing from the sum.
 */
int64_t fs_usage(const char *path, bool *ret_least);
int64_t fs_mtime_ns(const char *path);            /* CLOCK_REALTIME, -1 when absent */
char *fs_join(const char *dir, const char *name); /* name absolute → name; owned */
/*
 * Absolute and lexically clean, links not resolved; owned. Where the working directory was removed
 * a relative path stays as it is.
 */
char *fs_abs(const char *path);
/* The part of path behind dir and its '/', "" for dir itself; NULL when it is not below dir. */
const char *fs_below(const char *dir, const char *path);
const char *fs_base(const char *path); /* after the last '/', borrowed */
char *fs_dir(const char *path);        /* dirname, owned */
/* Entries of a directory without . and .., sorted by bytes, behind what out holds already. */
int fs_list(const char *dir, struct strvec *out, struct err *err);
/*
 * Files below dir whose path relative to dir matches pattern; '*' and '?' stay inside one
 * component, '**' crosses. Sorted, relative. Links are listed when they point to files; directories
 * behind links are not entered.
 */
int fs_glob(const char *dir, const char *pattern, struct strvec *out, struct err *err);
/* The same, but directories below dir that cannot be read are passed over; lost gets the reason of
 * each, with its path. */
int fs_glob_all(const char *dir, const char *pattern, struct strvec *out, struct strvec *lost,
		struct err *err);
/*
 * A program named like execvp would find it (or a path), owned; NULL when absent. path_env NULL =
 * $PATH.
 */
char *fs_which(const char *name, const char *path_env);
/*
 * Lower-case hex of SHA-256, 64 characters + NUL, of as much of a file as there is when it begins.
 * -EINTR once *interrupt is set (NULL: no such thing).
 */
int fs_sha256(const char *path, const volatile sig_atomic_t *interrupt, char ret_hex[65],
	      struct err *err);
void fs_sha256_text(const void *text, size_t n, char ret_hex[65]);
/* Of bytes that come piece by piece: begin, add any number of times, end (which frees it). */
struct fs_sha256;
struct fs_sha256 *fs_sha256_begin(void);
void fs_sha256_add(struct fs_sha256 *s, const void *data, size_t n);
void fs_sha256_end(struct fs_sha256 *s, char ret_hex[65]);
/*
 * $XDG_RUNTIME_DIR/profrig, else /tmp/profrig-<uid>: made with mode 0700 when it is not there, ours
 * and no other user's when it is. Owned; NULL with err.
 */
char *fs_runtime_dir(struct err *err);
/*
 * Where this user's programs keep what can be had again: $XDG_CACHE_HOME/profrig/NAME, else
 * ~/.cache/profrig/NAME; nothing is made. Owned; NULL: neither variable has an absolute path.
 */
char *fs_cache_path(const char *name);
/* The directory of the running binary, owned. */
char *fs_self_dir(void);

#endif
