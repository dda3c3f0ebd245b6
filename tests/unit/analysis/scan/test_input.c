#include "readers_test.h"

#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <zstd.h>

#include "profrig/base/workers.h"
#include "profrig/scan/input.h"

static void assert_map(const char *path, const char *data, size_t n)
{
	struct input_map m;
	struct err e = ERR_INIT;

	assert_int_equal(input_map(path, 0, &m, &e), 0);
	assert_int_equal(m.len, n);
	assert_memory_equal(m.data, data, n);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(m.data[n + i], 0);
	input_unmap(&m);
	assert_null(m.data);
}

static char *pattern(size_t n)
{
	char *p = xmalloc(n + 1);
	uint32_t x = 12345;

	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (char)('a' + (x >> 24) % 20);
	}
	p[n] = 0;
	return p;
}

static size_t gzip_of(const char *data, size_t n, uint8_t *out, size_t room)
{
	struct isal_zstream z;

	isal_deflate_stateless_init(&z);
	z.gzip_flag = IGZIP_GZIP;
	z.next_in = (uint8_t *)(uintptr_t)data;
	z.avail_in = (uint32_t)n;
	z.next_out = out;
	z.avail_out = (uint32_t)room;
	z.end_of_stream = 1;
	assert_int_equal(isal_deflate_stateless(&z), COMP_OK);
	return z.total_out;
}

static char *folder;

static int set_up(void **state UNUSED)
{
	folder = test_dir();
	return 0;
}

static int tear_down(void **state UNUSED)
{
	test_dir_done(&folder);
	return 0;
}

#define INPUT_TEST(f) TEST_WITH(f, set_up, tear_down)

/* The path of a file with these bytes, the test's only one: the next one takes its place. */
static const char *file_of(const void *data, size_t n)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/input", folder);
	unlink(path);
	assert_int_equal(fs_write_atomic(path, data, n, NULL), 0);
	return path;
}

INPUT_TEST(plain_sizes)
{
	/* around a page: the zeros behind the data come from its tail or from the next page */
	static const size_t sizes[] = { 0, 1, 4031, 4032, 4033, 4095, 4096, 4097, 8192, 65536 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		CLEANUP(xfreep) char *data = pattern(sizes[i]);
		const char *path = file_of(data, sizes[i]);

		assert_map(path, data, sizes[i]);
	}
}

INPUT_TEST(not_files)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *fifo = fs_join(dir, "pipe");
	struct input_map m;
	struct err e = ERR_INIT;
	char buf[8];

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(input_map(dir, 0, &m, &e), -EISDIR);
	assert_int_equal(input_map(fifo, 0, &m, &e), -EINVAL);
	assert_has(e.msg, "not a regular file");
	assert_int_equal(input_head(fifo, buf, sizeof(buf), &e), -EINVAL);
	assert_int_equal(input_map("/tmp/profrig-no-such-file", 0, &m, &e), -ENOENT);
	assert_has(e.msg, "/tmp/profrig-no-such-file");
}

INPUT_TEST(gzip_members)
{
	size_t n = 300000, a, b;
	CLEANUP(xfreep) char *data = pattern(n);
	const char *path;
	CLEANUP(xfreep) uint8_t *z = xcalloc(1, n * 2 + 4096);

	a = gzip_of(data, 100000, z, n);
	b = gzip_of(data + 100000, n - 100000, z + a, n);
	path = file_of(z, a + b);
	assert_map(path, data, n);
	/* tapes and block devices pad with zeros */
	path = file_of(z, a + b + 512);
	assert_map(path, data, n);
}

INPUT_TEST(gzip_damage)
{
	size_t n = 50000, k;
	CLEANUP(xfreep) char *data = pattern(n);
	const char *path;
	CLEANUP(xfreep) uint8_t *z = xcalloc(1, n * 2);
	struct input_map m;
	struct err e = ERR_INIT;

	k = gzip_of(data, n, z, n * 2);

	z[k] = 'x'; /* something else behind the member */
	path = file_of(z, k + 1);
	assert_int_equal(input_map(path, 0, &m, &e), 0);
	assert_true(m.truncated && m.compressed && m.len == n);
	assert_has(m.why, "no further gzip member");
	input_unmap(&m);

	z[k - 6] ^= 1; /* in the checksum */
	path = file_of(z, k);
	assert_int_equal(input_map(path, 0, &m, &e), 0);
	assert_true(m.truncated && m.len == n);
	assert_has(m.why, "checksum");
	input_unmap(&m);

	z[k / 2] ^= 0x55; /* in the data: what came before it is there */
	path = file_of(z, k);
	assert_int_equal(input_map(path, 0, &m, &e), 0);
	assert_true(m.truncated);
	assert_true(m.len > n / 4);
	assert_memory_equal(m.data, data, n / 4);
	input_unmap(&m);
}

typedef size_t pack_fn(const char *data, size_t n, uint8_t *out, size_t room);

static size_t zstd_of(const char *data, size_t n, uint8_t *out, size_t room)
{
	size_t k = ZSTD_compress(out, room, data, n, 3);

	assert_false(ZSTD_isError(k));
	return k;
}

/* Every prefix of a packed file gives a prefix of the data and says that it was cut, or an error
 * when nothing came out. */
static void cut_everywhere(pack_fn *pack)
{
	size_t n = 3000, k;
	CLEANUP(xfreep) char *data = pattern(n);
	CLEANUP(xfreep) uint8_t *z = xcalloc(1, n * 2 + 512);

	k = pack(data, n, z, n * 2);
	for (size_t i = 4; i < k; i++) {
		const char *path = file_of(z, i);
		struct input_map m;
		struct err e = ERR_INIT;
		int r = input_map(path, 0, &m, &e);

		if (r < 0) {
			char head[8];

			assert_int_equal(r, -EBADMSG);
			assert_has(e.msg, path);
			/* so that a look at the beginning alone does not take it for empty */
			assert_int_equal(input_head(path, head, sizeof(head), &e), -EBADMSG);
			assert_has(e.msg, "cannot be read");
		} else {
			assert_true(m.truncated);
			assert_true(m.len <= n);
			assert_memory_equal(m.data, data, m.len);
			input_unmap(&m);
		}
	}
}

INPUT_TEST(gzip_cut)
{
	cut_everywhere(gzip_of);
}

INPUT_TEST(zstd_cut)
{
	cut_everywhere(zstd_of);
}

INPUT_TEST(zstd_frames)
{
	size_t n = 200000, a, b;
	CLEANUP(xfreep) char *data = pattern(n);
	const char *path;
	CLEANUP(xfreep) uint8_t *z = xcalloc(1, n * 2 + 4096);
	static const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z' };

	memcpy(z, skippable, sizeof(skippable));
	a = sizeof(skippable) + zstd_of(data, 1000, z + sizeof(skippable), n);
	b = zstd_of(data + 1000, n - 1000, z + a, n);
	path = file_of(z, a + b);
	assert_map(path, data, n);
	path = file_of(z, a + b + 100);
	assert_map(path, data, n);
}

/* A small file that inflates to very much is an error at the limit, and exactly the limit is none.
 */
INPUT_TEST(limits)
{
	static pack_fn *const packs[] = { gzip_of, zstd_of };
	size_t n = (size_t)4 << 20;
	CLEANUP(xfreep) char *data = xcalloc(1, n);
	CLEANUP(xfreep) uint8_t *z = xmalloc(n);

	memset(data, 'a', n);
	for (size_t i = 0; i < ARRAY_LEN(packs); i++) {
		const char *path = file_of(z, packs[i](data, n, z, n));
		struct input_map m;
		struct err e = ERR_INIT;

		assert_int_equal(input_map(path, n - 1, &m, &e), -EFBIG);
		assert_has(e.msg, "limit of 4194303 bytes");
		assert_int_equal(input_map(path, n, &m, &e), 0);
		assert_int_equal(m.len, n);
		assert_false(m.truncated);
		input_unmap(&m);
	}
}

INPUT_TEST(heads)
{
	size_t n = 100000, k;
	CLEANUP(xfreep) char *data = pattern(n), *buf = xmalloc(n + 1);
	const char *path;
	CLEANUP(xfreep) uint8_t *z = xmalloc(n * 2);

	path = file_of(data, n);
	assert_int_equal(input_head(path, buf, 1000, NULL), 1000);
	assert_memory_equal(buf, data, 1000);
	assert_int_equal(input_head(path, buf, n + 1, NULL), n);
	/* the head of a chain may reach over its first members */
	k = gzip_of(data, 10, z, n);
	k += gzip_of(data + 10, n - 10, z + k, n);
	path = file_of(z, k);
	assert_int_equal(input_head(path, buf, 70000, NULL), 70000);
	assert_memory_equal(buf, data, 70000);
	path = file_of(z, zstd_of(data, n, z, n * 2));
	assert_int_equal(input_head(path, buf, 70000, NULL), 70000);
	assert_memory_equal(buf, data, 70000);
}

/* Large enough for another thread to make the memory; whole, and with its end cut off. */
INPUT_TEST(with_threads)
{
	size_t n = (size_t)40 << 20, packed;
	CLEANUP(xfreep) char *data = pattern(n);
	CLEANUP(xfreep) uint8_t *z = xmalloc(n);
	struct workers *w = workers_new(2);

	packed = gzip_of(data, n, z, n);
	for (int cut = 0; cut < 2; cut++) {
		const char *path = file_of(z, cut ? packed / 2 : packed);
		struct input_map m;

		assert_int_equal(input_map_by(w, path, 0, &m, NULL), 0);
		assert_int_equal(m.truncated, cut);
		assert_true(cut ? m.len < n : m.len == n);
		assert_memory_equal(m.data, data, m.len);
		for (int i = 0; i < 64; i++)
			assert_int_equal(m.data[m.len + i], 0);
		input_unmap(&m);
	}
	workers_free(w);
}
