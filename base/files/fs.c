#include "profrig/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/temps.h"
#include "profrig/base/xalloc.h"

#define READ_STEP ((size_t)65536)
#define HASH_BLOCK ((size_t)1 << 20)

/* read(2) until n bytes or the end; returns the bytes, or -errno. */
static ssize_t read_full(int fd, void *buf, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = read(fd, (char *)buf + got, n - got);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

int fs_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t r = write(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? -errno : -EIO;
		p += r;
		n -= (size_t)r;
	}
	return 0;
}

static const char *kind_of(mode_t mode)
{
	return S_ISFIFO(mode)   ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
	       : S_ISDIR(mode)  ? "a folder"
				: "a device";
}

/* The caller hands over pipes under these names; a FIFO elsewhere may be a trap. */
static bool is_stream_name(const char *path)
{
	return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
}

static int open_read(const char *path, int *ret_fd, struct err *err)
{
	bool stream = is_stream_name(path);
	int fd = door_open(path, O_RDONLY | (stream ? 0 : O_NONBLOCK), 0);
	struct stat st;

	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	if (!stream && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "%s: is %s, no file",
			       path, kind_of(st.st_mode));
	}
	*ret_fd = fd;
	return 0;
}

int fs_read(const char *path, size_t max, char **ret_data, size_t *ret_len, struct err *err)
{
	CLEANUP(xclosep) int fd = -1;
	CLEANUP(xfreep) char *data = NULL;
	size_t len = 0, cap = 0;
	struct stat st;
	int r = open_read(path, &fd, err);

	if (r < 0)
		return r;
	/* The size is a hint: files in /proc say 0, and a file may grow meanwhile. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if ((uint64_t)st.st_size > max)
			return err_set(err, EFBIG, "%s: larger than %zu bytes", path, max);
		cap = (size_t)st.st_size + 2;
	}
	for (;;) {
		ssize_t n;

		if (cap < len + 2)
			cap = len + len / 2 + READ_STEP;
		data = xrealloc(data, cap);
		n = read_full(fd, data + len, cap - len - 1);
		if (n < 0)
			return err_sys(err, (int)-n, "%s", path);
		len += (size_t)n;
		if (len > max)
			return err_set(err, EFBIG, "%s: larger than %zu bytes", path, max);
		if (len < cap - 1)
			break;
	}
	data[len] = '\0';
	*ret_data = STEAL(data);
	if (ret_len)
		*ret_len = len;
	return 0;
}

/* The mode goes through the umask, which mkstemp does not apply. */
static int open_temp(const char *dir, char **ret_path)
{
	for (;;) {
		char *path = fs_temp_name(dir);
		int fd;

		temps_hold(path);
		fd = door_open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd >= 0) {
			*ret_path = path;
			return fd;
		}
		temps_let_go(path);
		free(path);
		if (errno != EEXIST)
			return -errno;
	}
}

static int fill_temp(int fd, const void *data, size_t n, enum fs_keep keep)
{
	int r = fs_write_all(fd, data, n);

	if (r == 0 && keep != FS_KEEP_NOTHING && fsync(fd) < 0 && errno != EINVAL)
		r = -errno;
	return r;
}

int fs_write_atomic(const char *path, const void *data, size_t n, struct err *err)
{
	return fs_write_kept(path, data, n, FS_KEEP_NAME, err);
}

int fs_write_kept(const char *path, const void *data, size_t n, enum fs_keep keep, struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_dir(path);
	CLEANUP(xfreep) char *temp = NULL;
	CLEANUP(xclosep) int fd = open_temp(dir, &temp);
	CLEANUP(xclosep) int dir_fd = -1;
	int r, plain;

	if (fd < 0)
		return err_sys(err, -fd, "%s", path);
	r = fill_temp(fd, data, n, keep);
	/* Some file systems report a failed write only here. */
	plain = fd;
	fd = -1;
	if (close(plain) < 0 && r == 0 && errno != EINTR)
		r = -errno;
	if (r == 0 && door_rename(temp, path) < 0)
		r = -errno;
	if (r < 0) {
		door_unlink(temp);
		temps_let_go(temp);
		return err_sys(err, -r, "%s", path);
	}
	temps_let_go(temp);
	if (keep == FS_KEEP_NAME)
		dir_fd = door_open(dir, O_RDONLY | O_DIRECTORY, 0);
	if (dir_fd >= 0)
		fsync(dir_fd);
	return 0;
}

int fs_mkdirs(const char *path, mode_t mode, struct err *err)
{
	CLEANUP(xfreep) char *part = xstrdup(path);
	char *p = part;

	if (!*part)
		return err_set(err, ENOENT, "cannot make directory ''");
	for (;;) {
		char *end;
		char c;

		p += strspn(p, "/");
		end = strchrnul(p, '/');
		c = *end;
		*end = '\0';
		/*
		 * Parents need write and search permission, whatever the mode of the last one. An
		 * existing folder is fine, also on a read-only file system, where mkdir gives
		 * another code.
		 */
		if (end > p && door_mkdir(part, c ? mode | 0300 : mode) < 0) {
			int code = errno;

			if (!fs_is_dir(part))
				return err_sys(err, code == EEXIST ? ENOTDIR : code,
					       "cannot make directory '%s'", part);
		}
		if (!c)
			return 0;
		*end = c;
		p = end;
	}
}

bool fs_exists(const char *path)
{
	struct stat st;

	return door_stat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
	struct stat st;

	return door_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool fs_is_file(const char *path)
{
	struct stat st;

	return door_stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int64_t fs_size(const char *path)
{
	struct stat st;

	return door_stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

int64_t fs_mtime_ns(const char *path)
{
	struct stat st;

	if (door_stat(path, &st) < 0)
		return -1;
	return (int64_t)st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
}

char *fs_which(const char *name, const char *path_env)
{
	const char *path = path_env ? path_env : getenv("PATH");
	struct stat st;

	if (!*name)
		return NULL;
	if (strchr(name, '/'))
		path = NULL;
	else if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		const char *end = path ? strchrnul(path, ':') : NULL;
		char *full;

		if (!path)
			full = xstrdup(name);
		else if (end == path)
			full = xasprintf("./%s", name);
		else
			full = xasprintf("%.*s/%s", (int)(end - path), path, name);
		if (stat(full, &st) == 0 && S_ISREG(st.st_mode) &&
		    faccessat(AT_FDCWD, full, X_OK, AT_EACCESS) == 0)
			return full;
		free(full);
		if (!path || !*end)
			return NULL;
		path = end + 1;
	}
}

static void to_hex(const uint8_t digest[SHA256_DIGEST_SIZE], char ret_hex[65])
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++) {
		ret_hex[2 * i] = hex[digest[i] >> 4];
		ret_hex[2 * i + 1] = hex[digest[i] & 15];
	}
	ret_hex[64] = '\0';
}

struct fs_sha256 {
	struct sha256_ctx ctx;
};

struct fs_sha256 *fs_sha256_begin(void)
{
	struct fs_sha256 *s = xmalloc(sizeof(*s));

	sha256_init(&s->ctx);
	return s;
}

void fs_sha256_add(struct fs_sha256 *s, const void *data, size_t n)
{
	sha256_update(&s->ctx, n, data);
}

void fs_sha256_end(struct fs_sha256 *s, char ret_hex[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(&s->ctx, sizeof(digest), digest);
	to_hex(digest, ret_hex);
	free(s);
}

void fs_sha256_text(const void *text, size_t n, char ret_hex[65])
{
	struct fs_sha256 *s = fs_sha256_begin();

	fs_sha256_add(s, text, n);
	fs_sha256_end(s, ret_hex);
}

/* Where to stop: a file to which others keep adding would have no end. */
static off_t end_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? st.st_size
									    : INT64_MAX;
}

int fs_sha256(const char *path, const volatile sig_atomic_t *interrupt, char ret_hex[65],
	      struct err *err)
{
	CLEANUP(xclosep) int fd = -1;
	CLEANUP(xfreep) uint8_t *block = NULL;
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	int r = open_read(path, &fd, err);
	off_t end;
	ssize_t n;

	if (r < 0)
		return r;
	end = end_of(fd);
	block = xmalloc(HASH_BLOCK);
	sha256_init(&ctx);
	for (off_t at = 0; at < end; at += n) {
		size_t want = end - at < (off_t)HASH_BLOCK ? (size_t)(end - at) : HASH_BLOCK;

		if (interrupt && *interrupt)
			return err_set(err, EINTR, "%s: interrupted", path);
		n = read_full(fd, block, want);
		if (n < 0)
			return err_sys(err, (int)-n, "%s", path);
		if (n == 0)
			break;
		sha256_update(&ctx, (size_t)n, block);
	}
	sha256_digest(&ctx, sizeof(digest), digest);
	to_hex(digest, ret_hex);
	return 0;
}
