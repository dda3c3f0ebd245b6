#include "otf2_files.h"

#include <errno.h>
#include <otf2/otf2.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

/* Chunk header, byte order mark, then the name of the format. */
#define ANCHOR_HEAD 6
#define ANCHOR_MAX (1 << 20)
/* Offsets in it. */
#define AT_FORMAT 7
#define AT_EVENT_CHUNK 12
#define AT_DEF_CHUNK 20
#define AT_SUBSTRATE 28
#define AT_COMPRESSION 29
#define AT_STRINGS 46
#define FILE_END 2

bool otf2_has_suffix(const char *name)
{
	return text_suffix(name, OTF2_SUFFIX) != NULL;
}

bool otf2_is_anchor(const unsigned char *head, size_t n)
{
	return head && n >= ANCHOR_HEAD && head[0] == 3 && (head[1] == 0x42 || head[1] == 0x23) &&
	       memcmp(head + 2, "OTF2", 4) == 0;
}

int otf2_find_anchor(const char *path, char **ret_anchor, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *found = NULL;
	int e;

	if (!fs_is_dir(path)) {
		*ret_anchor = xstrdup(path);
		return 0;
	}
	e = fs_list(path, &names, err);
	if (e < 0)
		return err_wrap(err, e, "%s", path);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *full = NULL;

		if (!otf2_has_suffix(names.v[i]))
			continue;
		full = fs_join(path, names.v[i]);
		if (!fs_is_file(full))
			continue;
		if (found)
			return err_set(err, EINVAL, "%s: holds several archives, name one of them",
				       path);
		found = STEAL(full);
	}
	if (!found)
		return err_set(err, ENOENT, "%s: holds no file ending in " OTF2_SUFFIX, path);
	*ret_anchor = STEAL(found);
	return 0;
}

static uint64_t number_at(const char *data, size_t at, size_t bytes)
{
	bool big_endian = data[1] == 0x23;
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | (unsigned char)data[at + (big_endian ? i : bytes - 1 - i)];
	return v;
}

/* Passes over n strings; false when the file ends before them. */
static bool strings_pass(const char *data, size_t n, size_t *at, uint64_t strings)
{
	for (; strings; strings--) {
		const char *nul = *at < n ? memchr(data + *at, 0, n - *at) : NULL;

		if (!nul)
			return false;
		*at = (size_t)(nul - data) + 1;
	}
	return true;
}

/*
 * Three strings; from format 2 on a number, that many pairs of strings (libotf2 reads on for that
 * many, however short the file is) and the trace's number; from format 3 on two counts. Then an end
 * mark. Later formats only add to the end.
 */
static bool anchor_whole(const char *data, size_t n)
{
	unsigned char format = (unsigned char)data[AT_FORMAT];
	size_t at = AT_STRINGS;
	uint64_t pairs;

	if (n < AT_STRINGS || !strings_pass(data, n, &at, 3))
		return false;
	if (format < 2)
		return true;
	if (n - at < 4)
		return false;
	pairs = number_at(data, at, 4);
	at += 4;
	if (!strings_pass(data, n, &at, 2 * pairs))
		return false;
	at += format < 3 ? 8 : 16;
	return n > at && (format > 3 || data[at] == FILE_END);
}

static bool chunk_size_sane(uint64_t bytes)
{
	return bytes >= OTF2_CHUNK_SIZE_MIN && bytes <= OTF2_CHUNK_SIZE_MAX;
}

/* libotf2 fails on each of these too, but not before it took memory that it then forgets. */
static int anchor_fields_check(const char *anchor, const char *data, size_t n, struct err *err)
{
	if (!anchor_whole(data, n))
		return err_set(err, EBADMSG, "%s: the anchor ends early or is damaged", anchor);
	if (data[AT_SUBSTRATE] != OTF2_SUBSTRATE_POSIX)
		return err_set(err, EOPNOTSUPP,
			       "%s: an archive in one container must be unpacked first", anchor);
	if (data[AT_COMPRESSION] != OTF2_COMPRESSION_NONE)
		return err_set(err, EOPNOTSUPP, "%s: the archive's files are compressed one by one",
			       anchor);
	/* the bounds that libotf2 keeps when it writes; it takes the memory when it reads */
	if (!chunk_size_sane(number_at(data, AT_EVENT_CHUNK, 8)) ||
	    !chunk_size_sane(number_at(data, AT_DEF_CHUNK, 8)))
		return err_set(err, EBADMSG, "%s: the anchor names a chunk size out of bounds",
			       anchor);
	return 0;
}

int otf2_check_anchor(const char *anchor, struct err *err)
{
	CLEANUP(xfreep) char *data = NULL;
	size_t n;
	int e;

	if (!otf2_has_suffix(anchor))
		return err_set(err, EINVAL, "%s: an archive's name ends in " OTF2_SUFFIX, anchor);
	if (!fs_is_file(anchor))
		return err_set(err, fs_exists(anchor) ? EINVAL : ENOENT, "%s: no such file",
			       anchor);
	e = fs_read(anchor, ANCHOR_MAX, &data, &n, err);
	if (e == -EFBIG)
		return err_set(err, EBADMSG, "%s: too large for the anchor of an archive", anchor);
	if (e < 0)
		return e;
	if (!otf2_is_anchor((const unsigned char *)data, n) || n <= AT_FORMAT ||
	    data[AT_FORMAT] == 0)
		return err_set(err, EBADMSG, "%s: not the anchor of an OTF2 archive", anchor);
	return anchor_fields_check(anchor, data, n, err);
}

static bool anchor_beside(const char *dir, const char *rel, size_t n)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/%.*s" OTF2_SUFFIX, dir, (int)n, rel);

	return fs_is_file(path);
}

/* NAME.def and files in NAME/ belong to NAME.otf2, anywhere below dir. */
bool otf2_claims(const char *dir, const char *rel)
{
	size_t n = strlen(rel);

	for (size_t i = 1; i < n; i++) {
		if (rel[i] == '/' && anchor_beside(dir, rel, i))
			return true;
	}
	return n > 4 && strcmp(rel + n - 4, ".def") == 0 && anchor_beside(dir, rel, n - 4);
}
