/* The directory of an archive, which says what is in it and is believed only after these checks. */
#include "zip_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"
#include "profrig/base/zip.h"

/* Of names, sizes and comments; a directory of a million plain names takes 100 MB. */
#define DIRECTORY_MAX ((uint64_t)512 << 20)
#define MAX_32 UINT32_C(0xffffffff)
#define ENCRYPTED (1 | 1 << 6 | 1 << 13)

struct zip_place {
	uint64_t at, size, nr; /* of the directory */
	uint64_t behind;       /* where it must end */
};

/* ---- names ---- */

int zip_path_cmp(const char *a, const char *b)
{
	int x, y;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	x = !*a ? 0 : *a == '/' ? 1 : 1 + (unsigned char)*a;
	y = !*b ? 0 : *b == '/' ? 1 : 1 + (unsigned char)*b;
	return (x > y) - (x < y);
}

static const char *name_fault(const char *path, size_t n)
{
	size_t depth = 0;

	if (n == 0 || n > ZIP_NAME_MAX)
		return "empty or too long";
	if (*path == '/')
		return "absolute";
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)path[i] < 32 || path[i] == 127)
			return "control bytes";
		if (path[i] == '\\')
			return "a backslash";
	}
	for (size_t i = 0, k; i <= n; i = k + 1) {
		for (k = i; k < n && path[k] != '/';)
			k++;
		if (k == i || (k - i <= 2 && strspn(path + i, ".") >= k - i))
			return "an empty part, '.' or '..'";
		if (++depth > ZIP_DEPTH_MAX)
			return "too deep";
	}
	return utf8_valid(path) ? NULL : "no UTF-8";
}

int zip_name_check(const char *path, size_t n, struct err *err)
{
	CLEANUP(xfreep) char *name = xstrndup(path, n <= ZIP_NAME_MAX ? n : 40);
	const char *fault = name_fault(name, n <= ZIP_NAME_MAX ? strlen(name) : n);

	if (!fault && strlen(name) != n)
		fault = "control bytes";
	return fault ? err_set(err, EINVAL, "the name '%.80s': %s", name, fault) : 0;
}

/* ---- where the directory is ---- */

static int bytes_at(const struct zip *z, void *to, size_t n, uint64_t at, struct err *err)
{
	ssize_t r = pread(z->fd, to, n, (off_t)at);

	if (r < 0)
		return err_sys(err, errno, "%s", z->name);
	return (size_t)r == n ? 0 : err_set(err, EINVAL, "%s: cut off", z->name);
}

static int large_place(const struct zip *z, uint64_t locator_at, struct zip_place *p,
		       struct err *err)
{
	uint8_t l[ZIP_LOCATOR_SIZE], e[ZIP_END64_SIZE];
	uint64_t at;
	int r = bytes_at(z, l, sizeof(l), locator_at, err);

	if (r < 0)
		return r;
	at = zip_u64(l + 8);
	if (zip_u32(l + 4) != 0 || zip_u32(l + 16) > 1 || at > locator_at ||
	    locator_at - at < ZIP_END64_SIZE)
		return err_set(err, EINVAL, "%s: damaged zip64 end", z->name);
	r = bytes_at(z, e, sizeof(e), at, err);
	if (r < 0)
		return r;
	if (zip_u32(e) != ZIP_END64_SIG || zip_u32(e + 16) != 0 || zip_u32(e + 20) != 0 ||
	    zip_u64(e + 24) != zip_u64(e + 32) || zip_u64(e + 4) != locator_at - at - 12)
		return err_set(err, EINVAL, "%s: damaged zip64 end", z->name);
	*p = (struct zip_place){ zip_u64(e + 48), zip_u64(e + 40), zip_u64(e + 24), at };
	return 0;
}

/* The last place whose comment reaches to the end of the file. */
static const uint8_t *end_find(const uint8_t *tail, size_t n)
{
	for (size_t i = n - ZIP_END_SIZE + 1; i-- > 0;)
		if (zip_u32(tail + i) == ZIP_END_SIG &&
		    zip_u16(tail + i + 20) == n - i - ZIP_END_SIZE)
			return tail + i;
	return NULL;
}

static int place_find(const struct zip *z, struct zip_place *ret, struct err *err)
{
	size_t n = z->size < ZIP_END_SIZE + ZIP_COMMENT_MAX ? (size_t)z->size
							    : ZIP_END_SIZE + ZIP_COMMENT_MAX;
	CLEANUP(xfreep) uint8_t *tail = xmalloc(n + 1);
	uint64_t end_at;
	const uint8_t *e;
	uint8_t sig[4];
	int r = bytes_at(z, tail, n, z->size - n, err);

	if (r < 0)
		return r;
	e = n >= ZIP_END_SIZE ? end_find(tail, n) : NULL;
	if (!e)
		return err_set(err, EINVAL, "%s: no zip archive, or cut off: no directory",
			       z->name);
	end_at = z->size - n + (uint64_t)(e - tail);
	if (end_at >= ZIP_LOCATOR_SIZE &&
	    bytes_at(z, sig, sizeof(sig), end_at - ZIP_LOCATOR_SIZE, NULL) == 0 &&
	    zip_u32(sig) == ZIP_LOCATOR_SIG)
		return large_place(z, end_at - ZIP_LOCATOR_SIZE, ret, err);
	if (zip_u16(e + 4) != 0 || zip_u16(e + 6) != 0 || zip_u16(e + 8) != zip_u16(e + 10))
		return err_set(err, EINVAL, "%s: one part of an archive in several", z->name);
	*ret = (struct zip_place){ zip_u32(e + 16), zip_u32(e + 12), zip_u16(e + 10), end_at };
	return 0;
}

static int place_check(const struct zip *z, const struct zip_place *p, struct err *err)
{
	if (p->nr > ZIP_MEMBERS_MAX)
		return err_set(err, EINVAL, "%s: %" PRIu64 " members are more than %d", z->name,
			       p->nr, ZIP_MEMBERS_MAX);
	if (p->at > z->size || p->size > z->size - p->at || p->at + p->size != p->behind ||
	    p->size > DIRECTORY_MAX || p->nr > p->size / ZIP_CENTRAL_SIZE)
		return err_set(err, EINVAL, "%s: the directory does not lie in front of its end",
			       z->name);
	return 0;
}

/* ---- entries ---- */

static int entry_bad(const struct zip *z, const struct zip_entry *e, const char *why,
		     struct err *err)
{
	return err_set(err, EINVAL, "%s: member %.200s: %s", z->name, e->path, why);
}

static int64_t unix_time(uint32_t dos)
{
	struct tm tm = { .tm_year = 80 + (int)(dos >> 25),
			 .tm_mon = (int)(dos >> 21 & 15) - 1,
			 .tm_mday = (int)(dos >> 16 & 31),
			 .tm_hour = (int)(dos >> 11 & 31),
			 .tm_min = (int)(dos >> 5 & 63),
			 .tm_sec = 2 * (int)(dos & 31) };

	return timegm(&tm);
}

/* Takes the values that did not fit from the extra field; false: it has too few. */
static bool large_sizes(const uint8_t *extra, size_t n, struct zip_entry *e)
{
	uint64_t *const to[] = { &e->bytes, &e->packed, &e->at };
	size_t size = 0;

	for (; n >= 4 && zip_u16(extra) != ZIP64_EXTRA; n -= 4 + size, extra += 4 + size) {
		size = zip_u16(extra + 2);
		if (size > n - 4)
			return false;
	}
	size = n >= 4 ? zip_u16(extra + 2) : 0;
	if (n >= 4 && size > n - 4)
		return false;
	for (size_t i = 0, at = 4; i < ARRAY_LEN(to); i++) {
		if (*to[i] != MAX_32)
			continue;
		if (n < 4 || at + 8 > 4 + size)
			return false;
		*to[i] = zip_u64(extra + at);
		at += 8;
	}
	return true;
}

/* What the type of a file is on the system that made the archive; 0: not said. */
static uint32_t type_of(const uint8_t *h)
{
	return h[5] == ZIP_MADE_BY_UNIX ? zip_u32(h + 38) >> 16 & S_IFMT : 0;
}

static int entry_check(const struct zip *z, const uint8_t *h, const struct zip_entry *e,
		       struct err *err)
{
	uint32_t type = type_of(h);

	if (zip_u16(h + 8) & ENCRYPTED)
		return entry_bad(z, e, "encrypted", err);
	if (type == S_IFLNK)
		return entry_bad(z, e, "a symbolic link", err);
	if (type && type != (e->is_dir ? S_IFDIR : S_IFREG))
		return entry_bad(z, e, "neither a file nor a folder", err);
	if (zip_u16(h + 34) != 0)
		return entry_bad(z, e, "in another part of the archive", err);
	if (e->is_dir && e->bytes)
		return entry_bad(z, e, "a folder with contents", err);
	return 0;
}

/* One record; its length in *used. to has room for its name. */
static int entry_take(struct zip *z, const uint8_t *h, size_t left, char *to, size_t *used,
		      struct err *err)
{
	struct zip_entry *e = &z->entry[z->nr];
	size_t n, extra;
	struct err why = ERR_INIT;

	if (left < ZIP_CENTRAL_SIZE || zip_u32(h) != ZIP_CENTRAL_SIG)
		return err_set(err, EINVAL, "%s: damaged directory", z->name);
	n = zip_u16(h + 28);
	extra = zip_u16(h + 30);
	*used = ZIP_CENTRAL_SIZE + n + extra + zip_u16(h + 32);
	if (*used > left)
		return err_set(err, EINVAL, "%s: damaged directory", z->name);
	*e = (struct zip_entry){ .path = to,
				 .bytes = zip_u32(h + 24),
				 .packed = zip_u32(h + 20),
				 .at = zip_u32(h + 42),
				 .crc = zip_u32(h + 16),
				 .mtime_s = unix_time(zip_u32(h + 12)),
				 .method = zip_u16(h + 10) };
	memcpy(to, h + ZIP_CENTRAL_SIZE, n);
	e->is_dir = n > 0 && to[n - 1] == '/';
	n -= e->is_dir;
	to[n] = '\0';
	if (zip_name_check(to, n, &why) < 0)
		return err_set(err, EINVAL, "%s: %s", z->name, why.msg);
	if (!large_sizes(h + ZIP_CENTRAL_SIZE + zip_u16(h + 28), extra, e))
		return entry_bad(z, e, "damaged sizes", err);
	z->nr++;
	return entry_check(z, h, e, err);
}

static int entries_take(struct zip *z, const uint8_t *dir, const struct zip_place *p,
			struct err *err)
{
	size_t at = 0, used = 0;
	char *to = z->names;

	for (uint64_t i = 0; i < p->nr; i++) {
		int r = entry_take(z, dir + at, (size_t)p->size - at, to, &used, err);

		if (r < 0)
			return r;
		at += used;
		to += strlen(to) + 1;
	}
	return at == p->size ? 0 : err_set(err, EINVAL, "%s: more members than it says", z->name);
}

/* ---- what holds between them ---- */

static int by_place(const void *pa, const void *pb)
{
	const struct zip_entry *a = pa, *b = pb;

	return (a->at > b->at) - (a->at < b->at);
}

static int by_path(const void *pa, const void *pb)
{
	return zip_path_cmp(((const struct zip_entry *)pa)->path,
			    ((const struct zip_entry *)pb)->path);
}

static int places_check(struct zip *z, const struct zip_place *p, struct err *err)
{
	for (size_t i = 0; i < z->nr; i++) {
		struct zip_entry *e = &z->entry[i];
		uint64_t least = ZIP_LOCAL_SIZE + strlen(e->path) + e->is_dir;

		e->end = i + 1 < z->nr ? z->entry[i + 1].at : p->at;
		if (e->end > p->at || e->at > e->end || least > e->end - e->at ||
		    e->packed > e->end - e->at - least)
			return entry_bad(z, e, "its data reach into others", err);
		z->bytes += e->bytes;
		if (e->bytes > ZIP_SLACK + ZIP_RATIO * z->size ||
		    z->bytes > ZIP_SLACK + ZIP_RATIO * z->size)
			return err_set(err, EINVAL,
				       "%s: contents of more than %d times its size, at member "
				       "%.200s",
				       z->name, ZIP_RATIO, e->path);
	}
	return 0;
}

static int names_check(const struct zip *z, struct err *err)
{
	for (size_t i = 1; i < z->nr; i++) {
		const struct zip_entry *a = &z->entry[i - 1], *b = &z->entry[i];
		size_t n = strlen(a->path);

		if (strcmp(a->path, b->path) == 0)
			return entry_bad(z, b, "its name is there twice", err);
		if (!a->is_dir && strncmp(a->path, b->path, n) == 0 && b->path[n] == '/')
			return entry_bad(z, a, "a file and a folder have this name", err);
	}
	return 0;
}

static int entries_check(struct zip *z, const struct zip_place *p, struct err *err)
{
	int r;

	if (z->nr)
		qsort(z->entry, z->nr, sizeof(*z->entry), by_place);
	r = places_check(z, p, err);
	if (r < 0)
		return r;
	if (z->nr)
		qsort(z->entry, z->nr, sizeof(*z->entry), by_path);
	return names_check(z, err);
}

int zip_directory_read(struct zip *z, struct err *err)
{
	CLEANUP(xfreep) uint8_t *dir = NULL;
	struct zip_place p = { 0 };
	int r = place_find(z, &p, err);

	if (r == 0)
		r = place_check(z, &p, err);
	if (r < 0)
		return r;
	dir = xmalloc((size_t)p.size + 1);
	r = bytes_at(z, dir, (size_t)p.size, p.at, err);
	if (r < 0)
		return r;
	/* a record is longer than its name with a NUL */
	z->names = xmalloc((size_t)p.size + 1);
	z->entry = xcalloc((size_t)p.nr + 1, sizeof(*z->entry));
	r = entries_take(z, dir, &p, err);
	return r < 0 ? r : entries_check(z, &p, err);
}
