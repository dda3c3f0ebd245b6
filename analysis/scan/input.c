/*
 * A plain file is mapped over an anonymous reservation that is longer than it: the zero bytes
 * behind the data come from the tail of the last page or, where the size leaves no tail, from the
 * page after it.
 *
 * Compressed input is mapped the same way and inflated from there at once. Both formats may be a
 * chain (gzip members, zstd frames); bytes behind the last one are padding when they are all zeros,
 * else damage.
 */
#include "profrig/scan/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "profrig/base/door.h"
#include "profrig/base/gz.h"
#include "profrig/base/map_guard.h"
#include "profrig/base/spill.h"
#include "profrig/base/workers.h"
#include "profrig/base/xalloc.h"

#define GUARD_BYTES 64
#define FIRST_OUT ((size_t)1 << 16)
/* Deflate's limit; what promises more is not believed. */
#define MAX_RATIO 1032
/* Step of progress, and memory faulted in ahead: a file may state more than it has. */
#define OUT_STEP ((size_t)1 << 20)
#define AHEAD_MAX ((size_t)16 << 20)

enum packing { PACK_NONE, PACK_GZIP, PACK_ZSTD };

/* Where inflated bytes go: a buffer of the caller (fixed), or a mapping that grows up to max. */
struct out_buf {
	char *p;
	size_t len, cap;
	size_t max;
	bool fixed;
	bool full;
	bool spilled;            /* in a file (spill.h): mremap cannot make it longer */
	atomic_size_t *progress; /* len, for the thread that faults in memory; NULL */
};

static size_t page_round(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

static uint64_t quarter_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	if (pages <= 0 || size <= 0)
		return UINT64_C(1) << 30;
	return (uint64_t)pages * (uint64_t)size / 4;
}

static int open_regular(const char *path, size_t *ret_len, struct err *err)
{
	struct stat st;
	/* Without O_NONBLOCK the open of a pipe without a writer would wait for ever. */
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	int r;

	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, EISDIR, "%s: is a directory", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: not a regular file", path);
	if (door_is_hollow(fd))
		return err_sys(err, DOOR_HOLLOW, "%s", path);
	if ((uint64_t)st.st_size > SIZE_MAX / 2)
		return err_set(err, EFBIG, "%s: too large to map", path);
	*ret_len = (size_t)st.st_size;
	r = fd;
	fd = -1;
	return r;
}

static int map_plain(const char *path, struct input_map *ret, struct err *err)
{
	size_t len = 0, map_len;
	CLEANUP(xclosep) int fd = open_regular(path, &len, err);
	char *p;

	if (fd < 0)
		return fd;
	map_len = page_round(len + GUARD_BYTES);
	p = mmap(NULL, map_len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return err_sys(err, errno, "%s", path);
	if (len > 0 &&
	    mmap(p, len, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED) {
		int e = errno;

		munmap(p, map_len);
		return err_sys(err, e, "%s", path);
	}
	map_guard(p, len, path);
	*ret = (struct input_map){ .data = p, .len = len, .map_len = map_len };
	return 0;
}

static enum packing packing_of(const char *data, size_t n)
{
	const unsigned char *p = (const unsigned char *)data;

	if (n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8)
		return PACK_GZIP;
	if (n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd)
		return PACK_ZSTD;
	/* a skippable frame may stand first */
	if (n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
		return PACK_ZSTD;
	return PACK_NONE;
}

/* Pages for cap bytes and the guard; in a file when the budget says so. */
static char *buf_pages(size_t cap, bool *ret_spilled, struct err *err)
{
	size_t n = page_round(cap + GUARD_BYTES);
	bool spills = spill_wanted(n);
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	if (p == MAP_FAILED) {
		err_sys(err, errno, "inflating %zu bytes", cap);
		return NULL;
	}
	*ret_spilled = spills && spill_map(p, n);
	return p;
}

static int buf_move(struct out_buf *b, size_t cap, struct err *err)
{
	bool spilled;
	char *p = buf_pages(cap, &spilled, err);

	if (!p)
		return -ENOMEM;
	memcpy(p, b->p, b->len);
	munmap(b->p, page_round(b->cap + GUARD_BYTES));
	b->p = p;
	b->cap = cap;
	b->spilled = spilled;
	return 0;
}

/* max is one more than the caller allows, so that a stream of exactly the limit still gets to its
 * end. */
static int too_large(const struct out_buf *b, struct err *err)
{
	return err_set(err, EFBIG, "inflates to more than the limit of %zu bytes", b->max - 1);
}

static int buf_room(struct out_buf *b, struct err *err)
{
	size_t cap;
	char *p;

	if (b->len < b->cap)
		return 0;
	if (b->fixed || b->cap >= b->max) {
		b->full = true;
		return b->fixed ? 0 : too_large(b, err);
	}
	cap = b->cap > b->max / 2 ? b->max : b->cap * 2;
	if (b->spilled || spill_wanted(cap))
		return buf_move(b, cap, err);
	p = mremap(b->p, page_round(b->cap + GUARD_BYTES), page_round(cap + GUARD_BYTES),
		   MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return err_sys(err, errno, "inflating %zu bytes", cap);
	b->p = p;
	b->cap = cap;
	return 0;
}

static bool all_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static void note_damage(struct input_map *m, const char *what, size_t at)
{
	m->truncated = true;
	snprintf(m->why, sizeof(m->why), "%s at byte %zu of the compressed file", what, at);
}

static void gz_freep(struct gz_inflater **p)
{
	gz_inflater_free(*p);
}

/* One gzip member from in[*pos]. 1: it ended, go on behind it; 0: stop (output full or damage,
 * noted); < 0: error. */
static int gzip_member(struct gz_inflater *z, const char *in, size_t n, size_t *pos,
		       struct out_buf *out, struct input_map *note, struct err *err)
{
	enum gz_step step = GZ_MORE;

	while (step == GZ_MORE) {
		const char *why = NULL;
		struct gz_io io;
		size_t room;
		int r = buf_room(out, err);

		if (r < 0)
			return r;
		if (out->full)
			return 0;
		room = out->cap - out->len < OUT_STEP ? out->cap - out->len : OUT_STEP;
		io = (struct gz_io){ in + *pos, n - *pos, out->p + out->len, room };
		step = gz_inflate(z, &io, &why);
		*pos = n - io.in_left;
		out->len += room - io.out_left;
		if (out->progress)
			atomic_store_explicit(out->progress, out->len, memory_order_relaxed);
		if (step == GZ_MORE && *pos == n && io.out_left > 0) {
			step = GZ_BAD;
			why = "cut short";
		}
		if (step == GZ_BAD) {
			note_damage(note, why, *pos);
			return 0;
		}
	}
	return 1;
}

static int inflate_gzip(const char *in, size_t n, struct out_buf *out, struct input_map *note,
			struct err *err)
{
	CLEANUP(gz_freep) struct gz_inflater *z = gz_inflater_new(GZ_WRAPPED);
	size_t pos = 0;

	while (pos < n) {
		int r;

		if (packing_of(in + pos, n - pos) != PACK_GZIP) {
			if (!all_zero(in + pos, n - pos))
				note_damage(note, "no further gzip member", pos);
			return 0;
		}
		r = gzip_member(z, in, n, &pos, out, note, err);
		if (r <= 0)
			return r;
	}
	return 0;
}

static void zstd_freep(ZSTD_DStream **p)
{
	ZSTD_freeDStream(*p);
}

static int inflate_zstd(const char *in, size_t n, struct out_buf *out, struct input_map *note,
			struct err *err)
{
	CLEANUP(zstd_freep) ZSTD_DStream *ds = ZSTD_createDStream();
	ZSTD_inBuffer ib = { .src = in, .size = n };
	size_t left = 0;

	if (!ds)
		return err_set(err, ENOMEM, "no memory for zstd");
	while (ib.pos < n || left > 0) {
		ZSTD_outBuffer ob;
		size_t at = ib.pos;
		int r = buf_room(out, err);

		if (r < 0)
			return r;
		if (out->full)
			return 0;
		if (left == 0 && all_zero(in + ib.pos, n - ib.pos))
			return 0;
		ob = (ZSTD_outBuffer){ .dst = out->p + out->len, .size = out->cap - out->len };
		left = ZSTD_decompressStream(ds, &ob, &ib);
		if (ZSTD_isError(left)) {
			note_damage(note, ZSTD_getErrorName(left), at);
			return 0;
		}
		out->len += ob.pos;
		if (left > 0 && ib.pos == n && ob.pos < ob.size) {
			note_damage(note, "cut short", n);
			return 0;
		}
	}
	return 0;
}

static int inflate_into(enum packing how, const struct input_map *in, struct out_buf *out,
			struct input_map *note, struct err *err)
{
	return how == PACK_GZIP ? inflate_gzip(in->data, in->len, out, note, err)
				: inflate_zstd(in->data, in->len, out, note, err);
}

/* The buffer is larger than the text: frees the pages behind it, and zeroes the bytes behind the
 * data. */
static int finish_map(struct out_buf *out, struct input_map *ret, struct err *err)
{
	size_t have = page_round(out->cap + GUARD_BYTES), want = page_round(out->len + GUARD_BYTES);
	char *p = mremap(out->p, have, want, 0);

	if (p == MAP_FAILED)
		return err_sys(err, errno, "mremap");
	memset(p + out->len, 0, want - out->len);
	ret->data = p;
	ret->len = out->len;
	ret->map_len = want;
	return 0;
}

/* The stated inflated size; 0 without one, or when it is impossible. */
static size_t size_said(enum packing how, const struct input_map *in)
{
	unsigned long long n = 0;

	if (how == PACK_GZIP && in->len >= 8) {
		const unsigned char *p = (const unsigned char *)in->data + in->len - 4;

		n = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		    (uint32_t)p[3] << 24;
	} else if (how == PACK_ZSTD) {
		n = ZSTD_getFrameContentSize(in->data, in->len);
	}
	return n / MAX_RATIO <= in->len ? (size_t)n : 0;
}

struct inflating {
	enum packing how;
	const struct input_map *in;
	struct out_buf *out;
	struct input_map *note;
	struct err *err;
	int r;
	char *p; /* its start; the buffer may move when it grows, and this memory is then unused */
	size_t cap;
	atomic_size_t progress;
	atomic_bool done;
};

/* Faults in pages a little ahead of inflating. */
static void make_ahead(struct inflating *f)
{
	size_t at = 0;

	while (at + OUT_STEP <= f->cap && !atomic_load(&f->done)) {
		size_t so_far = atomic_load_explicit(&f->progress, memory_order_relaxed);

		if (at >= so_far + AHEAD_MAX) {
			sched_yield();
			continue;
		}
		if (at >= so_far && madvise(f->p + at, OUT_STEP, MADV_POPULATE_WRITE) < 0)
			return; /* the system does not know it */
		at += OUT_STEP;
	}
}

static void inflate_job(void *ctx, size_t i, unsigned worker)
{
	struct inflating *f = ctx;

	(void)worker;
	if (i > 0) {
		make_ahead(f);
		return;
	}
	f->r = inflate_into(f->how, f->in, f->out, f->note, f->err);
	atomic_store(&f->done, true);
}

static int inflate_by(struct workers *w, enum packing how, const struct input_map *in,
		      struct out_buf *out, struct input_map *note, struct err *err)
{
	struct inflating f = { .how = how,
			       .in = in,
			       .out = out,
			       .note = note,
			       .err = err,
			       .p = out->p,
			       .cap = out->cap };

	if (!w || workers_count(w) < 2 || out->cap < AHEAD_MAX)
		return inflate_into(how, in, out, note, err);
	out->progress = &f.progress;
	workers_run(w, 2, inflate_job, &f);
	out->progress = NULL;
	return f.r;
}

static int map_inflated(struct workers *w, enum packing how, const struct input_map *in,
			uint64_t max_bytes, struct input_map *ret, struct err *err)
{
	struct out_buf out = { .cap = FIRST_OUT };
	struct input_map m = { .compressed = true };
	int r;

	if (max_bytes == 0)
		max_bytes = quarter_of_memory();
	out.max = max_bytes < SIZE_MAX / 4 ? (size_t)max_bytes + 1 : SIZE_MAX / 4;
	if (out.cap < size_said(how, in))
		out.cap = size_said(how, in) + FIRST_OUT;
	if (out.cap > out.max)
		out.cap = out.max;
	out.p = buf_pages(out.cap, &out.spilled, err);
	if (!out.p)
		return -ENOMEM;
	r = inflate_by(w, how, in, &out, &m, err);
	if (r == 0 && out.len >= out.max)
		r = too_large(&out, err);
	if (r == 0 && m.truncated && out.len == 0)
		r = err_set(err, EBADMSG, "compressed data cannot be read: %s", m.why);
	if (r == 0)
		r = finish_map(&out, &m, err);
	if (r < 0) {
		munmap(out.p, page_round(out.cap + GUARD_BYTES));
		return r;
	}
	*ret = m;
	return 0;
}

int input_map(const char *path, uint64_t max_bytes, struct input_map *ret, struct err *err)
{
	return input_map_by(NULL, path, max_bytes, ret, err);
}

int input_map_by(struct workers *w, const char *path, uint64_t max_bytes, struct input_map *ret,
		 struct err *err)
{
	struct input_map plain;
	enum packing how;
	int r = map_plain(path, &plain, err);

	if (r < 0)
		return r;
	how = packing_of(plain.data, plain.len);
	if (how == PACK_NONE) {
		*ret = plain;
		return 0;
	}
	r = map_inflated(w, how, &plain, max_bytes, ret, err);
	input_unmap(&plain);
	return r < 0 ? err_wrap(err, r, "%s", path) : 0;
}

/* Mapped pages count as memory of the process: at most this much of a file is resident. */
#define WALK_BYTES ((size_t)4 << 20)

size_t input_walk(const struct input_map *m, size_t at)
{
	size_t from = at & ~(WALK_BYTES - 1), next = from + WALK_BYTES;

	if (m->compressed)
		return SIZE_MAX;
	if (from > 0)
		madvise((void *)(uintptr_t)(m->data + from - WALK_BYTES), WALK_BYTES,
			MADV_DONTNEED);
	return next;
}

void input_rewind(const struct input_map *m)
{
	if (!m->compressed && m->map_len > 0)
		madvise((void *)(uintptr_t)m->data, m->map_len, MADV_DONTNEED);
}

void input_unmap(struct input_map *m)
{
	map_let_go(m->data);
	if (m->map_len > 0)
		munmap((void *)(uintptr_t)m->data, m->map_len);
	*m = (struct input_map){ .data = NULL };
}

int64_t input_head(const char *path, void *buf, size_t n, struct err *err)
{
	struct out_buf out = { .p = buf, .cap = n, .max = n, .fixed = true };
	struct input_map plain, note = { .data = NULL };
	enum packing how;
	int r = map_plain(path, &plain, err);

	if (r < 0)
		return r;
	how = packing_of(plain.data, plain.len);
	if (how == PACK_NONE) {
		out.len = plain.len < n ? plain.len : n;
		memcpy(buf, plain.data, out.len);
	} else {
		r = inflate_into(how, &plain, &out, &note, err);
	}
	input_unmap(&plain);
	if (r == 0 && note.truncated && out.len == 0)
		r = err_set(err, EBADMSG, "compressed data cannot be read: %s", note.why);
	if (r < 0)
		return err_wrap(err, r, "%s", path);
	return (int64_t)out.len;
}
