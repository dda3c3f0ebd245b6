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
 * may be NULL. What is no file (a FIFO, a device, a socket) is -EINVAL at once, a folder -EISDIR;
 * names below /dev and /proc, as of a pipe that the caller hands over, are read to their end.
 */
int fs_read(const char *path, size_t max, char **ret_data, size_t *ret_len, struct err *err);
/*
 * A path in dir for what is to be renamed when it is whole, or goes at the end: a dot in front, so
 * that it is not taken for the thing itself, and the writer's pid, so that a sweep knows whose it
 * is (FS_TEMP_PATTERN matches its last component, and fs_temp_pid reads it: 0 for other names).
 * No other caller in this process is given the same. Owned.
 */
char *fs_temp_name(const char *dir);
#define FS_TEMP_PATTERN ".profrig-*.tmp"
pid_t fs_temp_pid(const char *name);
/*
 * Whether a file or folder of such a name is left over: its writer is dead, and nothing in it was
 * written for FS_TEMP_QUIET_S, as the writer may live on another machine of a shared disk.
 */
#define FS_TEMP_QUIET_S 300
bool fs_temp_abandoned(const char *path);
/* Removes those of a directory that belong to our user: how many, and their bytes are added. */
size_t fs_temp_sweep(const char *dir, int64_t *bytes);
/* Mode 0644 less the umask. */
int fs_write_atomic(const char *path, const void *data, size_t n, struct err *err);
/*
 * The same with a choice of what a machine that dies may take with it; a program that dies takes
 * nothing, whatever the choice. FS_KEEP_NOTHING: nothing is waited for, the file may be empty after
 * a power cut; FS_KEEP_DATA: the new content or the old one is there; FS_KEEP_NAME
 * (fs_write_atomic): the new one is.
 */
enum fs_keep { FS_KEEP_NOTHING, FS_KEEP_DATA, FS_KEEP_NAME };
int fs_write_kept(const char *path, const void *data, size_t n, enum fs_keep keep, struct err *err);
/* Also creates parents; an existing directory is success. */
int fs_mkdirs(const char *path, mode_t mode, struct err *err);
/*
 * Removes a file or a whole tree, never following links; absent is success. "/", "." and ".." are
 * -EINVAL. Folders of ours that are closed to us are opened up on the way.
 */
int fs_remove_tree(const char *path, struct err *err);
/* Copies one file, over what is there: as much of it as there is when it begins; holes stay. */
int fs_copy_file(const char *from, const char *to, mode_t mode, struct err *err);
/*
 * Copies what is below `from` into the folder `to`, over what is there. Links are followed, those
 * that lead nowhere copied; permissions stay; sockets, pipes and devices are left out. The folder
 * `but`, by whatever path, is not entered (NULL: none). -ELOOP over 64 levels.
 */
int fs_copy_tree(const char *from, const char *to, const char *but, struct err *err);
/*
 * Gives all that lies below a directory to the directory's owner and group; only what changed since
 * then (CLOCK_REALTIME; 0: ever), links themselves and not what they lead to. -errno when the
 * directory cannot be opened; what could not be given away is counted. Programs lose their
 * set-user-ID and set-group-ID bits, devices all their permissions.
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
 * What lies below a directory takes on the disk, in bytes; links are not followed. ret_least (may
 * be NULL): true when not all of it could be looked at.
 */
int64_t fs_usage(const char *path, bool *ret_least);
int64_t fs_mtime_ns(const char *path);            /* CLOCK_REALTIME, -1 when absent */
char *fs_join(const char *dir, const char *name); /* name absolute → name; owned */
/*
 * Absolute and lexically clean, links not resolved; owned. Where the working directory was removed
 * a relative path stays as it is: there is nothing it could lead to.
 */
char *fs_abs(const char *path);
/* What of path comes after dir and its '/', "" for dir itself; NULL when it lies elsewhere. */
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
/*
 * $XDG_RUNTIME_DIR/profrig, else /tmp/profrig-<uid>: made with mode 0700 when it is not there, ours
 * and no other user's when it is. Owned; NULL with err.
 */
char *fs_runtime_dir(struct err *err);
/* The directory of the running binary, owned. */
char *fs_self_dir(void);

#endif
