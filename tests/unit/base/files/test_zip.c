/* zip: what is written comes back equal; archives that no careful program writes are refused. */
#include "base_test.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/zip.h"

/* ---- helpers ---- */

static int take_text(void *ctx, const void *data, size_t n, struct err *err UNUSED)
{
	strbuf_add(ctx, data, n);
	return 0;
}

static void member_put(struct zip_writer *w, const char *path, const void *data, size_t n,
		       enum zip_method method)
{
	zip_begin(w, path, 1700000000, method);
	zip_put(w, data, n);
	zip_end(w, NULL, NULL);
}

/* An archive of "a/b.txt" (deflated), "a/c" (stored) and "d" (empty). */
static char *archive(size_t *n)
{
	int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zip_writer *w = zip_writer_new(fd, "mem");
	struct err err = ERR_INIT;
	char *bytes;

	member_put(w, "a/b.txt", "hello hello hello hello", 23, ZIP_DEFLATE);
	member_put(w, "a/c", "stored", 6, ZIP_STORE);
	member_put(w, "d", "", 0, ZIP_DEFLATE);
	assert_int_equal(zip_finish(w, &err), 0);
	zip_writer_free(w);
	*n = (size_t)lseek(fd, 0, SEEK_END);
	bytes = xmalloc(*n);
	assert_int_equal(pread(fd, bytes, *n, 0), (ssize_t)*n);
	close(fd);
	return bytes;
}

static int open_bytes(const char *bytes, size_t n, struct zip *z, struct err *err)
{
	int fd = memfd_create("zip", MFD_CLOEXEC);

	assert_int_equal(fs_write_all(fd, bytes, n), 0);
	return zip_open_fd(fd, "t.zip", z, err);
}

static int read_text(struct zip *z, const char *path, struct strbuf *to, struct err *err)
{
	const struct zip_entry *e = zip_find(z, path);

	assert_non_null(e);
	strbuf_clear(to);
	return zip_read(z, e, take_text, to, err);
}

/* ---- round trips ---- */

TEST(members_come_back)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct zip z;
	size_t n;
	CLEANUP(xfreep) char *bytes = archive(&n);

	assert_int_equal(open_bytes(bytes, n, &z, &err), 0);
	assert_int_equal(z.nr, 3);
	assert_int_equal(z.bytes, 29);
	assert_int_equal(read_text(&z, "a/b.txt", &sb, &err), 0);
	assert_string_equal(sb.buf, "hello hello hello hello");
	assert_int_equal(read_text(&z, "a/c", &sb, &err), 0);
	assert_string_equal(sb.buf, "stored");
	assert_int_equal(read_text(&z, "d", &sb, &err), 0);
	assert_int_equal(sb.len, 0);
	assert_int_equal(zip_find(&z, "a/c")->mtime_s, 1700000000);
	assert_null(zip_find(&z, "a"));
	zip_release(&z);
}

TEST(large_and_random_members_come_back)
{
	const size_t n = (size_t)3 << 20;
	CLEANUP(xfreep) char *data = xmalloc(n);
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zip_writer *w = zip_writer_new(fd, "mem");
	struct err err = ERR_INIT;
	uint64_t seed = 7, packed;
	struct zip z;

	for (size_t i = 0; i < n; i++)
		data[i] = (char)(i < n / 2 ? "abcd"[rnd(&seed) % 4] : (char)rnd(&seed));
	zip_begin(w, "x", 0, ZIP_DEFLATE);
	for (size_t at = 0; at < n;) {
		size_t part = 1 + rnd(&seed) % 100000;

		part = part < n - at ? part : n - at;
		zip_put(w, data + at, part);
		at += part;
	}
	zip_end(w, NULL, &packed);
	assert_true(packed < n * 3 / 4);
	assert_int_equal(zip_finish(w, &err), 0);
	zip_writer_free(w);
	assert_int_equal(zip_open_fd(fd, "mem", &z, &err), 0);
	assert_int_equal(read_text(&z, "x", &sb, &err), 0);
	assert_int_equal(sb.len, n);
	assert_memory_equal(sb.buf, data, n);
	assert_int_equal(z.entry[0].mtime_s, 315532800); /* 1980 */
	zip_release(&z);
}

TEST(an_undone_member_leaves_nothing)
{
	int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zip_writer *w = zip_writer_new(fd, "mem");
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct zip z;

	member_put(w, "a", "aaa", 3, ZIP_STORE);
	zip_begin(w, "b", 0, ZIP_STORE);
	zip_put(w, "secret of some length", 21);
	zip_undo(w);
	member_put(w, "c", "long long long", 14, ZIP_STORE);
	zip_undo(w);
	member_put(w, "e", "e", 1, ZIP_STORE);
	assert_int_equal(zip_finish(w, &err), 0);
	zip_writer_free(w);
	assert_int_equal(zip_open_fd(fd, "mem", &z, &err), 0);
	assert_int_equal(z.nr, 2);
	assert_int_equal(read_text(&z, "e", &sb, &err), 0);
	assert_string_equal(sb.buf, "e");
	zip_release(&z);
}

TEST(more_members_than_16_bits_count)
{
	int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zip_writer *w = zip_writer_new(fd, "mem");
	struct err err = ERR_INIT;
	struct zip z;

	for (unsigned i = 0; i < 70000; i++)
		member_put(w, textf("m%u", i), &i, sizeof(i), ZIP_STORE);
	assert_int_equal(zip_finish(w, &err), 0);
	zip_writer_free(w);
	assert_int_equal(zip_open_fd(fd, "mem", &z, &err), 0);
	assert_int_equal(z.nr, 70000);
	assert_non_null(zip_find(&z, "m69999"));
	zip_release(&z);
}

TEST(a_failed_write_is_reported)
{
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	struct zip_writer *w = zip_writer_new(fd, "full.zip");
	struct err err = ERR_INIT;

	member_put(w, "a", "aaa", 3, ZIP_STORE);
	assert_int_equal(zip_finish(w, &err), -ENOSPC);
	assert_has(err.msg, "full.zip");
	zip_writer_free(w);
	close(fd);
}

/* ---- names ---- */

TEST(names_that_lead_out_are_refused)
{
	static const char *const bad[] = { "",    "/a", "../a", "a/../b", "a//b", "a/",   "./a",
					   "a/.", "..", "a\\b", "a\nb",   "\xff", "\x7f", "a/.." };
	static const char *const good[] = { "a", "a/b", "...", "a/..b", ".a", "\xc3\xa4" };
	CLEANUP(strbuf_release) struct strbuf deep = STRBUF_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (zip_name_check(bad[i], strlen(bad[i]), &err) != -EINVAL)
			ROW_FAIL(i, "'%s' is taken", bad[i]);
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (zip_name_check(good[i], strlen(good[i]), &err) != 0)
			ROW_FAIL(i, "'%s' is refused", good[i]);
	assert_int_equal(zip_name_check("a\0b", 3, &err), -EINVAL);
	for (int i = 0; i < ZIP_DEPTH_MAX; i++)
		strbuf_addstr(&deep, "d/");
	strbuf_addstr(&deep, "x");
	assert_int_equal(zip_name_check(deep.buf, deep.len, &err), -EINVAL);
	assert_int_equal(zip_name_check(deep.buf + 2, deep.len - 2, &err), 0);
}

/* ---- damage ---- */

/* Each byte of an archive in turn gets other values: an error, or contents as they were. */
TEST(no_changed_byte_goes_unnoticed)
{
	size_t n;
	CLEANUP(xfreep) char *bytes = archive(&n);
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	static const char *const names[] = { "a/b.txt", "a/c", "d" };
	static const char *const texts[] = { "hello hello hello hello", "stored", "" };

	for (size_t i = 0; i < n; i++)
		for (int v = 1; v < 256; v += 51) {
			struct err err = ERR_INIT;
			struct zip z;

			bytes[i] = (char)(bytes[i] ^ v);
			if (open_bytes(bytes, n, &z, &err) == 0) {
				for (size_t k = 0; k < ARRAY_LEN(names); k++)
					if (zip_find(&z, names[k]) &&
					    read_text(&z, names[k], &sb, &err) == 0 &&
					    strcmp(sb.buf, texts[k]) != 0)
						ROW_FAIL(i, "%s became '%s'", names[k], sb.buf);
				zip_release(&z);
			}
			bytes[i] = (char)(bytes[i] ^ v);
		}
}

TEST(a_cut_archive_is_refused)
{
	size_t n;
	CLEANUP(xfreep) char *bytes = archive(&n);

	for (size_t k = 0; k < n; k++) {
		struct err err = ERR_INIT;
		struct zip z;

		if (open_bytes(bytes, k, &z, &err) != -EINVAL)
			ROW_FAIL(k, "a prefix of an archive is taken");
	}
}

/* Offsets of the fields of the n-th record of the directory. */
static size_t central_at(const char *bytes, size_t n, int which)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (memcmp(bytes + i, "PK\1\2", 4) == 0 && which-- == 0)
			return i;
	fail();
	return 0;
}

static void refused(size_t row, const char *bytes, size_t n, const char *words)
{
	struct err err = ERR_INIT;
	struct zip z;

	if (open_bytes(bytes, n, &z, &err) != -EINVAL || !strstr(err.msg, words))
		ROW_FAIL(row, "%s: '%s'", words, err.msg);
}

TEST(hostile_directories_are_refused)
{
	static const struct {
		int which;
		size_t at;
		const char *bytes;
		size_t n;
		const char *words;
	} rows[] = {
		{ 0, 8, "\1", 1, "encrypted" },
		{ 0, 40, "\xff\xa1", 2, "symbolic link" },
		{ 0, 40, "\xff\x11", 2, "neither a file nor a folder" },
		{ 0, 34, "\1", 1, "another part" },
		{ 0, 46, "/", 1, "absolute" },
		{ 0, 46, "../", 3, "'.' or '..'" },
		{ 1, 46, "d/x", 3, "a file and a folder" },
		{ 1, 42, "\0\0\0\0", 4, "reach into others" },
		{ 1, 20, "\xff\0\0\0", 4, "reach into others" },
		{ 0, 24, "\0\0\0\x40", 4, "more than 256 times its size" },
		{ 0, 24, "\xff\xff\xff\xff", 4, "damaged sizes" },
		{ 2, 0, "x", 1, "damaged directory" },
	};
	size_t n;
	CLEANUP(xfreep) char *bytes = archive(&n);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *copy = xmemdup(bytes, n);

		memcpy(copy + central_at(copy, n, rows[i].which) + rows[i].at, rows[i].bytes,
		       rows[i].n);
		refused(i, copy, n, rows[i].words);
	}
}

TEST(a_name_twice_is_refused)
{
	int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zip_writer *w = zip_writer_new(fd, "mem");
	struct err err = ERR_INIT;
	struct zip z;

	member_put(w, "a-b", "1", 1, ZIP_STORE);
	member_put(w, "a", "2", 1, ZIP_STORE);
	member_put(w, "a", "3", 1, ZIP_STORE);
	assert_int_equal(zip_finish(w, &err), 0);
	zip_writer_free(w);
	assert_int_equal(zip_open_fd(fd, "t.zip", &z, &err), -EINVAL);
	assert_has(err.msg, "member a: its name is there twice");
}

TEST(a_method_that_is_not_known)
{
	size_t n;
	CLEANUP(xfreep) char *bytes = archive(&n);
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct zip z;

	bytes[central_at(bytes, n, 1) + 10] = 95;
	assert_int_equal(open_bytes(bytes, n, &z, &err), 0);
	assert_int_equal(read_text(&z, "a/c", &sb, &err), -EINVAL);
	assert_has(err.msg, "its header is of another one");
	bytes[zip_find(&z, "a/c")->at + 8] = 95;
	zip_release(&z);
	assert_int_equal(open_bytes(bytes, n, &z, &err), 0);
	assert_int_equal(read_text(&z, "a/c", &sb, &err), -ENOTSUP);
	assert_has(err.msg, "method 95");
	zip_release(&z);
}

static int take_none(void *ctx UNUSED, const void *data UNUSED, size_t n UNUSED, struct err *err)
{
	return err_set(err, ENOSPC, "no room");
}

TEST(a_consumer_ends_the_reading)
{
	size_t n;
	CLEANUP(xfreep) char *bytes = archive(&n);
	struct err err = ERR_INIT;
	struct zip z;

	assert_int_equal(open_bytes(bytes, n, &z, &err), 0);
	assert_int_equal(zip_read(&z, zip_find(&z, "a/b.txt"), take_none, NULL, &err), -ENOSPC);
	assert_string_equal(err.msg, "no room");
	zip_release(&z);
}

TEST_IN(an_archive_is_known_by_its_first_bytes, dir)
{
	size_t n;
	CLEANUP(xfreep) char *bytes = archive(&n);
	struct err err = ERR_INIT;

	assert_int_equal(fs_write_atomic(in_dir(dir, "z"), bytes, n, &err), 0);
	test_put(dir, "t", "PK is no archive");
	assert_true(zip_is(in_dir(dir, "z")));
	assert_false(zip_is(in_dir(dir, "t")));
	assert_false(zip_is(in_dir(dir, "none")));
	assert_false(zip_is(dir));
	assert_false(zip_is("/dev/null"));
}
