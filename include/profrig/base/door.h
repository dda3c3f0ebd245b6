/*
 * door: the one way into folders in which others may write.
 *
 * A workload can write into its run directory and into the model's folder. A path string is no safe
 * name for a file there: any part of it may have become a link, a FIFO or a hard link by the time
 * it is used. So such a folder is held before the workload starts: door_hold opens it, and from
 * then on each call of this header (and of fs.h, input.h, csv.h, which use it) treats a path in a
 * held folder only as a name below that descriptor:
 *
 *	- no symbolic link is followed, neither inside nor at the end of the path, and the path
 *	  does not leave the folder: openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and
 *	  RESOLVE_NO_MAGICLINKS, or component by component with O_NOFOLLOW where the kernel or a
 *	  seccomp filter has no openat2;
 *	- only a regular file with one name (st_nlink 1) and an expected owner (door_expect) is
 *	  opened; its type is checked first, so no open waits for a FIFO or calls a driver;
 *	- a file that is nearly all holes is refused (door_is_hollow): one call makes a file a
 *	  terabyte long, and reading that takes hours;
 *	- door_stat describes a link itself, not its target.
 *
 * Other paths are passed to the kernel unchanged. A held folder is found by the name given to
 * door_hold and by its absolute name; the innermost one counts. Holding costs two descriptors at
 * most; a folder is held until it is let go or the process ends. Any thread.
 *
 * Calls that open return a descriptor (O_CLOEXEC) or −1, the others 0 or −1, with errno, as the
 * system calls of their names do. Refusals have their own errno values; err_sys has their words:
 */
#ifndef PROFRIG_DOOR_H
#define PROFRIG_DOOR_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "profrig/base/err.h"

#define DOOR_LINK ELOOP       /* a symbolic link, inside or at the end of the path */
#define DOOR_OUTSIDE EXDEV    /* the way leads out of the folder ("..") */
#define DOOR_NO_FILE EBADFD   /* a FIFO, a device, a socket */
#define DOOR_HARD_LINK EMLINK /* the file has a second name */
#define DOOR_OWNER EOWNERDEAD /* the file belongs to a user that is not expected */
#define DOOR_HOLLOW ENOTUNIQ  /* nearly all of the file was never written */

/*
 * Holds a folder; its own name may lead through links, which are resolved now. Held twice it has to
 * be let go twice. -ENOTDIR and the like when it cannot be opened.
 */
int door_hold(const char *dir, struct err *err);
void door_let_go(const char *dir);
/*
 * Exempts a folder inside a held one that the workload does not use (a copy of /sys): paths in it
 * are passed to the kernel unchanged, until the process ends.
 */
void door_leave_out(const char *dir);
/* Whether the path is in a held folder, or is one. */
bool door_holds(const char *path);
/*
 * Users whose files are expected in a held folder: [first, first + count). Without any call all
 * are. The caller, the superuser and the folder's own owner always are.
 */
void door_expect(const char *dir, uid_t first, uid_t count);

/* As open(2). Directories by O_DIRECTORY or O_PATH only. */
int door_open(const char *path, int flags, mode_t mode);
/* As fopen(3) with "r", "w" or "a", each with "e". */
FILE *door_fopen(const char *path, const char *mode);
/* A FIFO that the caller made in a held folder: -1 with DOOR_NO_FILE when it is none any more. */
int door_open_fifo(const char *path, int flags);
DIR *door_opendir(const char *path);
int door_stat(const char *path, struct stat *ret);
int door_lstat(const char *path, struct stat *ret);
int door_mkdir(const char *path, mode_t mode);
int door_mkfifo(const char *path, mode_t mode);
int door_rmdir(const char *path);
int door_unlink(const char *path);
int door_rename(const char *from, const char *to);
/* Each gets the name of the other, at once (renameat2(2), RENAME_EXCHANGE). */
int door_exchange(const char *a, const char *b);
/* A second name of a file, itself, not of what a link leads to; EEXIST: the name is taken. */
int door_link(const char *from, const char *to);
int door_symlink(const char *target, const char *path);
ssize_t door_readlink(const char *path, char *buf, size_t size);
/* Of regular files, FIFOs and folders; never through a link. */
int door_chmod(const char *path, mode_t mode);

/*
 * Whether an open file is longer than 1 GiB, and more than 15 parts of 16 of it are holes. Smaller
 * ones are quickly read, and programs leave some holes in good faith.
 */
bool door_is_hollow(int fd);

/*
 * For the calls of the *at family: the folder of the last name of a path (O_PATH, to be closed),
 * and that name (owned). For a path that is not held: AT_FDCWD and the whole path.
 */
int door_parent(const char *path, int *ret_dir, char **ret_name);
/* A path below a descriptor of the caller's own, under the same rules for the way. */
int door_open_beneath(int dir, const char *rel, int flags, mode_t mode);

#endif
