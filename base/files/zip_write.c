#include "zip_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/gz.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"
#include "profrig/base/zip.h"

#define OUT_ROOM ((size_t)256 << 10)
#define MAX_32 UINT32_C(0xffffffff)
/* The local header always has room for sizes of 64 bits, as it is written before they are known. */
#define LOCAL_EXTRA 20

struct zip_written {
	char *path;
	uint64_t at, bytes, packed;
	uint32_t crc, time; /* time: date and time of MS-DOS */
	uint16_t method;
};

struct zip_writer {
	const char *name;
	int fd, failed; /* errno of the first write that failed */
	bool open;      /* the last member takes data */
	uint64_t at;    /* where the next byte goes */
	struct gz_deflater *deflater;
	VEC(struct zip_written) members;
	char out[OUT_ROOM];
};

struct zip_writer *zip_writer_new(int fd, const char *name)
{
	struct zip_writer *w = xcalloc(1, sizeof(*w));

	w->fd = fd;
	w->name = name;
	return w;
}

void zip_writer_free(struct zip_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->members.nr; i++)
		free(w->members.v[i].path);
	VEC_RELEASE(&w->members);
	gz_deflater_free(w->deflater);
	free(w);
}

/* ---- bytes ---- */

static void write_at(struct zip_writer *w, const void *data, size_t n, uint64_t at)
{
	const char *from = data;

	while (n > 0 && !w->failed) {
		ssize_t r = pwrite(w->fd, from, n, (off_t)at);

		if (r > 0) {
			from += r;
			at += (uint64_t)r;
			n -= (size_t)r;
		} else if (r == 0 || errno != EINTR) {
			w->failed = r < 0 ? errno : EIO;
		}
	}
}

static void write_next(struct zip_writer *w, const void *data, size_t n)
{
	write_at(w, data, n, w->at);
	w->at += n;
}

static void add_int(struct strbuf *to, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		strbuf_addch(to, (int)(v >> 8 * i & 255));
}

static uint32_t cut_32(uint64_t v)
{
	return v < MAX_32 ? (uint32_t)v : MAX_32;
}

static uint32_t dos_time(int64_t mtime_s)
{
	const uint32_t first = UINT32_C(1) << 21 | 1 << 16; /* 1 January 1980 */
	time_t t = (time_t)mtime_s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || tm.tm_year < 80)
		return first;
	if (tm.tm_year > 207)
		return UINT32_C(0xff9fbf7d); /* the last of 2107 */
	return (uint32_t)(tm.tm_year - 80) << 25 | (uint32_t)(tm.tm_mon + 1) << 21 |
	       (uint32_t)tm.tm_mday << 16 | (uint32_t)tm.tm_hour << 11 | (uint32_t)tm.tm_min << 5 |
	       (uint32_t)tm.tm_sec / 2;
}

/* The fields that the local header and the directory share, from `version needed` on. */
static void add_facts(struct strbuf *to, const struct zip_written *m)
{
	add_int(to, ZIP_VERSION_64, 2);
	add_int(to, ZIP_UTF8, 2);
	add_int(to, m->method, 2);
	add_int(to, m->time, 4);
	add_int(to, m->crc, 4);
}

static void write_local(struct zip_writer *w, const struct zip_written *m)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	bool large = m->bytes >= MAX_32 || m->packed >= MAX_32;

	add_int(&sb, ZIP_LOCAL_SIG, 4);
	add_facts(&sb, m);
	add_int(&sb, large ? MAX_32 : m->packed, 4);
	add_int(&sb, large ? MAX_32 : m->bytes, 4);
	add_int(&sb, strlen(m->path), 2);
	add_int(&sb, LOCAL_EXTRA, 2);
	strbuf_addstr(&sb, m->path);
	/* without need of it the room is a field that no program knows ("pf") */
	add_int(&sb, large ? ZIP64_EXTRA : 0x6670, 2);
	add_int(&sb, LOCAL_EXTRA - 4, 2);
	add_int(&sb, large ? m->bytes : 0, 8);
	add_int(&sb, large ? m->packed : 0, 8);
	write_at(w, sb.buf, sb.len, m->at);
}

/* ---- members ---- */

static size_t local_length(const struct zip_written *m)
{
	return ZIP_LOCAL_SIZE + strlen(m->path) + LOCAL_EXTRA;
}

void zip_begin(struct zip_writer *w, const char *path, int64_t mtime_s, enum zip_method method)
{
	struct zip_written m = { .path = xstrdup(path),
				 .at = w->at,
				 .time = dos_time(mtime_s),
				 .method = (uint16_t)method };

	VEC_PUSH(&w->members, m);
	w->open = true;
	w->at += local_length(&m);
	gz_deflater_free(w->deflater);
	w->deflater = method == ZIP_DEFLATE ? gz_deflater_new(GZ_FAST, GZ_BARE) : NULL;
}

static void deflate_more(struct zip_writer *w, struct zip_written *m, const void *data, size_t n,
			 bool end)
{
	struct gz_io io = { .in = data, .in_left = n };
	enum gz_step step;

	do {
		io.out = w->out;
		io.out_left = sizeof(w->out);
		step = gz_deflate(w->deflater, &io, end);
		write_next(w, w->out, sizeof(w->out) - io.out_left);
		m->packed += sizeof(w->out) - io.out_left;
		if (step == GZ_BAD && !w->failed)
			w->failed = EIO;
	} while (!w->failed && step == GZ_MORE && (end || io.in_left || !io.out_left));
}

void zip_put(struct zip_writer *w, const void *data, size_t n)
{
	struct zip_written *m = &w->members.v[w->members.nr - 1];

	if (w->failed || n == 0)
		return;
	m->crc = gz_crc32(m->crc, data, n);
	m->bytes += n;
	if (w->deflater) {
		deflate_more(w, m, data, n, false);
		return;
	}
	write_next(w, data, n);
	m->packed += n;
}

void zip_end(struct zip_writer *w, uint64_t *ret_bytes, uint64_t *ret_packed)
{
	struct zip_written *m = &w->members.v[w->members.nr - 1];

	if (w->deflater)
		deflate_more(w, m, "", 0, true);
	write_local(w, m);
	w->open = false;
	if (ret_bytes)
		*ret_bytes = m->bytes;
	if (ret_packed)
		*ret_packed = m->packed;
}

/* The bytes stay until others are written over them; zip_finish cuts the file behind the last. */
void zip_undo(struct zip_writer *w)
{
	struct zip_written *m = &w->members.v[w->members.nr - 1];

	w->at = m->at;
	w->open = false;
	free(m->path);
	w->members.nr--;
}

/* ---- the directory ---- */

static void add_central(struct strbuf *to, const struct zip_written *m)
{
	bool large = m->bytes >= MAX_32 || m->packed >= MAX_32 || m->at >= MAX_32;

	add_int(to, ZIP_CENTRAL_SIG, 4);
	add_int(to, ZIP_MADE_BY_UNIX << 8 | ZIP_VERSION_64, 2);
	add_facts(to, m);
	add_int(to, large ? MAX_32 : m->packed, 4);
	add_int(to, large ? MAX_32 : m->bytes, 4);
	add_int(to, strlen(m->path), 2);
	add_int(to, large ? 28 : 0, 2);
	add_int(to, 0, 2); /* comment */
	add_int(to, 0, 2); /* disk */
	add_int(to, 0, 2); /* internal attributes */
	add_int(to, (uint64_t)(S_IFREG | 0644) << 16, 4);
	add_int(to, large ? MAX_32 : m->at, 4);
	strbuf_addstr(to, m->path);
	if (!large)
		return;
	add_int(to, ZIP64_EXTRA, 2);
	add_int(to, 24, 2);
	add_int(to, m->bytes, 8);
	add_int(to, m->packed, 8);
	add_int(to, m->at, 8);
}

static void add_end64(struct strbuf *to, const struct zip_writer *w, uint64_t at, uint64_t size)
{
	uint64_t end64 = at + size;

	add_int(to, ZIP_END64_SIG, 4);
	add_int(to, ZIP_END64_SIZE - 12, 8);
	add_int(to, ZIP_MADE_BY_UNIX << 8 | ZIP_VERSION_64, 2);
	add_int(to, ZIP_VERSION_64, 2);
	add_int(to, 0, 8); /* disks */
	add_int(to, w->members.nr, 8);
	add_int(to, w->members.nr, 8);
	add_int(to, size, 8);
	add_int(to, at, 8);
	add_int(to, ZIP_LOCATOR_SIG, 4);
	add_int(to, 0, 4);
	add_int(to, end64, 8);
	add_int(to, 1, 4);
}

int zip_finish(struct zip_writer *w, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	uint64_t at = w->at, size;
	size_t nr = w->members.nr;

	for (size_t i = 0; i < nr; i++) {
		add_central(&sb, &w->members.v[i]);
		if (sb.len >= OUT_ROOM) {
			write_next(w, sb.buf, sb.len);
			strbuf_clear(&sb);
		}
	}
	size = w->at + sb.len - at;
	if (nr >= 0xffff || size >= MAX_32 || at >= MAX_32)
		add_end64(&sb, w, at, size);
	add_int(&sb, ZIP_END_SIG, 4);
	add_int(&sb, 0, 4); /* disks */
	add_int(&sb, nr < 0xffff ? nr : 0xffff, 2);
	add_int(&sb, nr < 0xffff ? nr : 0xffff, 2);
	add_int(&sb, cut_32(size), 4);
	add_int(&sb, cut_32(at), 4);
	add_int(&sb, 0, 2);
	write_next(w, sb.buf, sb.len);
	if (!w->failed && ftruncate(w->fd, (off_t)w->at) < 0)
		w->failed = errno;
	return w->failed ? err_sys(err, w->failed, "%s", w->name) : 0;
}
