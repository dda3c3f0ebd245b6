#include "otf2_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/xalloc.h"

#define MARK_CHUNK_END 0
#define MARK_FILE_END 2
#define MARK_HEADER 3
#define MARK_ATTRIBUTES 6
#define HEADER_BYTES 18
#define TIME_BYTES 9
#define FIRST_EVENT 10
#define FIRST_DEFINITION 5

static bool number_alone(unsigned char type)
{
	switch (type) {
	case OTF2_EVENT_ENTER:
	case OTF2_EVENT_LEAVE:
	case 16:
	case 17: /* MPI isend complete, irecv request */
	case 20:
	case 21: /* MPI request test, cancelled */
	case 24: /* OpenMP fork */
	case 28:
	case 29:
	case 30: /* OpenMP task create, switch, complete */
		return true;
	default:
		return false;
	}
}

/* ---- bytes of the file ---- */

static uint64_t walk_at(const struct otf2_walk *w)
{
	return w->next - (uint64_t)(w->end - w->p);
}

static bool walk_stop(struct otf2_walk *w, const char *what)
{
	snprintf(w->why, sizeof(w->why), "%s at byte %" PRIu64 " of %" PRIu64, what, walk_at(w),
		 w->size);
	w->end = w->p;
	w->chunk_end = w->next = w->size;
	return false;
}

static uint64_t chunk_rest(const struct otf2_walk *w)
{
	return w->chunk_end - walk_at(w);
}

/* Fills the buffer, of this chunk only: n bytes or more are at hand then, or the walk stops. */
static bool walk_have(struct otf2_walk *w, uint64_t n)
{
	size_t have = (size_t)(w->end - w->p), want;

	if (have >= n)
		return true;
	if (n > chunk_rest(w))
		return walk_stop(w, w->chunk_end == w->size ? "the file is cut in a record"
							    : "a record goes beyond its chunk");
	if (n > w->room) {
		unsigned char *buf = xmalloc((size_t)n);

		memcpy(buf, w->p, have);
		free(w->buf);
		w->buf = buf;
		w->room = (size_t)n;
	} else {
		memmove(w->buf, w->p, have);
	}
	w->p = w->buf;
	w->end = w->buf + have;
	want = w->chunk_end - w->next < w->room - have ? (size_t)(w->chunk_end - w->next)
						       : w->room - have;
	while (have < n) {
		ssize_t got = pread(w->fd, w->buf + have, want, (off_t)w->next);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return walk_stop(w, got < 0 ? strerror(errno)
						    : "the file became shorter while it was read");
		have += (size_t)got;
		want -= (size_t)got;
		w->end += got;
		w->next += (uint64_t)got;
	}
	return true;
}

static bool walk_pass(struct otf2_walk *w, uint64_t n)
{
	uint64_t have = (uint64_t)(w->end - w->p);

	if (n > chunk_rest(w))
		return walk_have(w, n);
	if (n > have)
		w->next += n - have;
	w->p = n > have ? w->end : w->p + n;
	return true;
}

/* ---- chunks ---- */

static bool chunk_begin(struct otf2_walk *w)
{
	uint64_t first, last;

	w->p = w->end = w->buf;
	w->next = w->chunk_end;
	if (w->next == w->size)
		return walk_stop(w, "the file is cut after a chunk");
	w->chunk_end = w->chunk_bytes < w->size - w->next ? w->next + w->chunk_bytes : w->size;
	if (w->chunk_end - w->next < HEADER_BYTES)
		return walk_stop(w, "the file is cut in a chunk's header");
	if (!walk_have(w, HEADER_BYTES))
		return false;
	if (w->p[0] != MARK_HEADER || (w->p[1] != 0x42 && w->p[1] != 0x23))
		return walk_stop(w, "no chunk header");
	w->big_endian = w->p[1] == 0x23;
	first = otf2_bytes(w->p + 2, 8, w->big_endian);
	last = otf2_bytes(w->p + 10, 8, w->big_endian);
	w->left = last < first ? 0 : last - first + 1;
	w->announced = false;
	w->p += HEADER_BYTES;
	return true;
}

static bool chunk_counted(struct otf2_walk *w)
{
	if (w->announced)
		return walk_stop(w, "a time without an event");
	if (w->kind == OTF2_FILE_EVENTS && w->left)
		return walk_stop(w, "a chunk has fewer records than its header states");
	return true;
}

/* At a mark that ends a chunk. True when another one began. */
static bool chunk_end(struct otf2_walk *w)
{
	if (*w->p == MARK_FILE_END) {
		w->complete = chunk_counted(w);
		w->end = w->p;
		return false;
	}
	if (w->chunk_end == w->size)
		return walk_stop(w, "the file is cut after a chunk");
	return chunk_counted(w) && chunk_begin(w);
}

/* ---- records ---- */

static bool time_take(struct otf2_walk *w)
{
	if (w->announced)
		return walk_stop(w, "a time without an event");
	if (!walk_have(w, TIME_BYTES))
		return false;
	w->ticks = otf2_bytes(w->p + 1, 8, w->big_endian);
	w->p += TIME_BYTES;
	w->announced = true;
	return true;
}

/* Type and length are passed over; what remains is the record. */
static bool length_take(struct otf2_walk *w, unsigned char type, uint64_t *ret)
{
	bool events = w->kind == OTF2_FILE_EVENTS;
	uint64_t n;

	if (chunk_rest(w) < 2)
		return walk_stop(w, "the file is cut in a record");
	if (!walk_have(w, 2))
		return false;
	n = w->p[1];
	if (events && number_alone(type)) {
		w->p++;
		*ret = n == 0xff ? 1 : n + 1;
		return true;
	}
	if (n == 0xff) {
		if (chunk_rest(w) < 10)
			return walk_stop(w, "the file is cut in a record");
		if (!walk_have(w, 10))
			return false;
		n = otf2_bytes(w->p + 2, 8, w->big_endian);
		w->p += 8;
	}
	w->p += 2;
	*ret = n;
	return true;
}

static bool attributes_take(struct otf2_walk *w, uint64_t n)
{
	if (!walk_have(w, n))
		return false;
	for (uint64_t i = 0; i < n; i++)
		VEC_PUSH(&w->extras, w->p[i]);
	w->p += n;
	w->announced = true;
	return true;
}

static bool record_take(struct otf2_walk *w, unsigned char type, uint64_t n,
			struct otf2_record *ret)
{
	bool events = w->kind == OTF2_FILE_EVENTS;

	if (events && !walk_have(w, n))
		return false;
	if (!events && !walk_pass(w, n))
		return false;
	w->announced = false;
	if (events && w->left == 0)
		return walk_stop(w, "a chunk has more records than its header states");
	w->left -= events;
	w->records++;
	*ret = (struct otf2_record){ .type = type, .ticks = w->ticks };
	if (events) {
		ret->fields = (struct otf2_fields){ w->p, w->p + n, w->big_endian, false };
		w->p += n;
	}
	return true;
}

/* otf2_walk_next, of anything. */
bool otf2_walk_step(struct otf2_walk *w, struct otf2_record *ret)
{
	bool events = w->kind == OTF2_FILE_EVENTS;

	VEC_CLEAR(&w->extras);
	if (w->complete || *w->why)
		return false;
	for (;;) {
		unsigned char type;
		uint64_t n = 0;

		if (walk_at(w) == w->chunk_end)
			return walk_stop(w, "a chunk without an end");
		if (!walk_have(w, 1))
			return false;
		type = *w->p;
		if (type == MARK_CHUNK_END || type == MARK_FILE_END) {
			if (!chunk_end(w))
				return false;
			continue;
		}
		if (events && type == OTF2_MARK_TIME) {
			if (!time_take(w))
				return false;
			continue;
		}
		if (type < (events ? FIRST_EVENT : FIRST_DEFINITION) &&
		    !(events && type == MARK_ATTRIBUTES))
			return walk_stop(w, "unknown mark");
		if (!length_take(w, type, &n))
			return false;
		if (!events || type != MARK_ATTRIBUTES)
			return record_take(w, type, n, ret);
		if (!attributes_take(w, n))
			return false;
	}
}

void otf2_walk_refuse(struct otf2_walk *w)
{
	w->records--;
	w->complete = false;
	walk_stop(w, "a record that cannot be read ends");
}

/* ---- life ---- */

int otf2_walk_open(struct otf2_walk *w, const char *path, uint64_t chunk_bytes,
		   enum otf2_file_kind kind, struct err *err)
{
	struct stat st;

	*w = (struct otf2_walk){ .kind = kind, .chunk_bytes = chunk_bytes };
	w->fd = door_open(path, O_RDONLY | O_NONBLOCK, 0);
	if (w->fd < 0 || fstat(w->fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EBADMSG, "%s: not a regular file", path);
	if (st.st_size < HEADER_BYTES)
		return err_set(err, EBADMSG,
			       "%s: has %" PRId64 " bytes, which is less than a header", path,
			       (int64_t)st.st_size);
	w->size = (uint64_t)st.st_size;
	w->room = OTF2_WALK_BUFFER;
	w->buf = xmalloc(w->room);
	chunk_begin(w);
	return 0;
}

void otf2_walk_close(struct otf2_walk *w)
{
	xclosep(&w->fd);
	free(w->buf);
	VEC_RELEASE(&w->extras);
	w->buf = NULL;
	w->p = w->end = NULL;
}
