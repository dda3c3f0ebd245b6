/*
 * A file is a sequence of chunks of one size; the last one may be shorter. A chunk:
 *
 *	03 B first:8 last:8	header; B = 42 little endian, 23 big endian; numbers of its first
 *				and last record (event files)
 *	05 time:8		the time of the events after it (event files)
 *	06 len …		attributes of the event after it, behind its time (event files)
 *	type len …		a record, type >= 10 in event files; len is one byte, or ff and
 *				eight bytes
 *	00			the chunk ends here, the next one begins at its own offset
 *	02			the file ends here
 *
 * Some event records are one compressed number without a length of their own: its first byte says
 * how many follow, and ff means none there.
 */
#include "otf2_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/map_guard.h"
#include "profrig/base/xalloc.h"

#define MARK_CHUNK_END 0
#define MARK_FILE_END 2
#define MARK_HEADER 3
#define MARK_TIME 5
#define MARK_ATTRIBUTES 6
#define HEADER_BYTES 18
#define FIRST_EVENT 10
#define EVENT_ENTER 12
#define EVENT_LEAVE 13
#define EVENT_CONTEXT_ENTER 66
#define FIRST_DEFINITION 5

/* Mapped pages count as memory of the process: no more than this of a file is mapped at a time. */
#define KEEP_BYTES ((size_t)4 << 20)

struct walk {
	const unsigned char *data;
	size_t size, at;
	size_t dropped;   /* pages before it are unmapped */
	size_t chunk_end; /* where the chunk would end, at most the end of the file */
	bool big_endian, events;
	/* of this chunk; libotf2 trusts the header, and behind its last record takes arbitrary
	 * memory for a chunk */
	uint64_t records, stated;
	bool announced;     /* a time or attributes came, and now their event */
	bool to_call, call; /* only to the first call; it came */
	bool to_time;       /* only to the first time */
	uint64_t ticks;     /* of that */
	struct otf2_scan *scan;
};

static bool number_alone(unsigned char type)
{
	switch (type) {
	case EVENT_ENTER:
	case EVENT_LEAVE:
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

static uint64_t number_at(const struct walk *w, size_t at)
{
	uint64_t v = 0;

	for (size_t i = 0; i < 8; i++)
		v = v << 8 | w->data[at + (w->big_endian ? i : 7 - i)];
	return v;
}

static bool walk_stop(struct walk *w, const char *what)
{
	snprintf(w->scan->why, sizeof(w->scan->why), "%s at byte %zu of %zu", what, w->at, w->size);
	return false;
}

static bool header_pass(struct walk *w)
{
	uint64_t first, last;

	if (w->size - w->at < HEADER_BYTES)
		return walk_stop(w, "the file is cut in a chunk's header");
	if (w->data[w->at] != MARK_HEADER ||
	    (w->data[w->at + 1] != 0x42 && w->data[w->at + 1] != 0x23))
		return walk_stop(w, "no chunk header");
	w->big_endian = w->data[w->at + 1] == 0x23;
	first = number_at(w, w->at + 2);
	last = number_at(w, w->at + 10);
	w->records = 0;
	w->announced = false;
	w->stated = last < first ? 0 : last - first + 1;
	w->at += HEADER_BYTES;
	return true;
}

static bool bytes_pass(struct walk *w, uint64_t n)
{
	if (n > w->chunk_end - w->at)
		return walk_stop(w, w->chunk_end == w->size ? "the file is cut in a record"
							    : "a record goes beyond its chunk");
	w->at += n;
	return true;
}

/* Which one it is becomes part of the arithmetic: of ?: a compiler may make a branch. */
static inline size_t either(bool first, size_t a, size_t b)
{
	return b ^ ((a ^ b) & -(size_t)first);
}

/*
 * Most of a file: a time, then an enter or leave whose length is a byte and at most eight. The rest
 * of the chunk is checked once for all three. A record depends only on the end of the one before
 * it, so lengths are read at both possible offsets, with a time and without: no chain of loads, and
 * no unpredictable branch where times are left out.
 */
static void usual_pass(struct walk *w)
{
	const unsigned char *p = w->data + w->at, *end = w->data + w->chunk_end;
	uint64_t left = w->stated - w->records, records = 0;

	/* two times in a row are no event */
	if (w->announced && *p == MARK_TIME)
		return;
	for (; end - p >= 32 && records < left; records++) {
		bool timed = *p == MARK_TIME;
		const unsigned char *record = p + either(timed, 9, 0);
		size_t length = either(timed, p[10], p[1]);

		if ((*record != EVENT_ENTER && *record != EVENT_LEAVE) || length > 8)
			break;
		p = record + 2 + length;
	}
	w->announced &= records == 0;
	w->at = (size_t)(p - w->data);
	w->records += records;
	w->scan->records += records;
}

/* Reads type and length and skips the rest. */
static bool record_pass(struct walk *w)
{
	unsigned char type = w->data[w->at];
	size_t left = w->chunk_end - w->at;
	uint64_t length;

	if (w->events && type == MARK_TIME) {
		if (w->announced)
			return walk_stop(w, "a time without an event");
		w->announced = true;
		if (w->to_time && left >= 9)
			w->ticks = number_at(w, w->at + 1);
		return !w->to_time && bytes_pass(w, 9);
	}
	if (type < (w->events ? FIRST_EVENT : FIRST_DEFINITION) &&
	    !(w->events && type == MARK_ATTRIBUTES))
		return walk_stop(w, "unknown mark");
	if (left < 2)
		return walk_stop(w, "the file is cut in a record");
	length = w->data[w->at + 1];
	if (length == 0xff && w->events && number_alone(type))
		length = 0;
	else if (length == 0xff && left < 10)
		return walk_stop(w, "the file is cut in a record");
	else if (length == 0xff) {
		length = number_at(w, w->at + 2);
		w->at += 8;
	}
	w->at += 2;
	if (!bytes_pass(w, length))
		return false;
	w->announced = w->events && type == MARK_ATTRIBUTES;
	if (w->announced)
		return true;
	if (w->events && w->records == w->stated)
		return walk_stop(w, "a chunk has more records than its header states");
	w->records++;
	w->scan->records++;
	w->call = type == EVENT_ENTER || type == EVENT_CONTEXT_ENTER;
	return !(w->to_call && w->call);
}

static bool all_passed(struct walk *w)
{
	if (w->announced)
		return walk_stop(w, "a time without an event");
	if (w->events && w->records < w->stated)
		return walk_stop(w, "a chunk has fewer records than its header states");
	return true;
}

/* True when another chunk follows. */
static bool chunk_pass(struct walk *w)
{
	if (!header_pass(w))
		return false;
	while (w->at < w->chunk_end) {
		unsigned char mark;

		if (w->events && !w->to_call && !w->to_time)
			usual_pass(w);
		mark = w->data[w->at];
		if (mark == MARK_FILE_END) {
			w->scan->complete = all_passed(w);
			return false;
		}
		if (mark == MARK_CHUNK_END && w->chunk_end == w->size)
			return walk_stop(w, "the file is cut after a chunk");
		if (mark == MARK_CHUNK_END)
			return all_passed(w);
		if (!record_pass(w))
			return false;
	}
	return walk_stop(w, "a chunk without an end");
}

static void drop_before(struct walk *w, size_t at)
{
	size_t page = at & ~(KEEP_BYTES - 1);

	if (page <= w->dropped)
		return;
	madvise((void *)(uintptr_t)(w->data + w->dropped), page - w->dropped, MADV_DONTNEED);
	w->dropped = page;
}

static void chunks_walk(struct walk *w, uint64_t chunk_bytes)
{
	for (size_t begin = 0; begin < w->size;) {
		w->at = begin;
		w->chunk_end =
			chunk_bytes < w->size - begin ? begin + (size_t)chunk_bytes : w->size;
		if (!chunk_pass(w))
			return;
		begin = w->chunk_end;
		drop_before(w, begin);
	}
	w->at = w->size;
	walk_stop(w, "the file is cut after a chunk");
}

static int file_walk(const char *path, uint64_t chunk_bytes, struct walk *w, struct err *err)
{
	CLEANUP(xclosep) int fd = -1;
	struct stat st;
	void *map;

	fd = door_open(path, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EBADMSG, "%s: not a regular file", path);
	if (st.st_size < HEADER_BYTES)
		return err_set(err, EBADMSG,
			       "%s: has %" PRId64 " bytes, which is less than a header", path,
			       (int64_t)st.st_size);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "%s", path);
	map_guard(map, (size_t)st.st_size, path);
	madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
	w->data = map;
	w->size = (size_t)st.st_size;
	chunks_walk(w, chunk_bytes);
	map_let_go(map);
	munmap(map, (size_t)st.st_size);
	return 0;
}

int otf2_scan_file(const char *path, uint64_t chunk_bytes, enum otf2_file_kind kind,
		   struct otf2_scan *ret, struct err *err)
{
	struct walk w = { .scan = ret, .events = kind == OTF2_FILE_EVENTS };

	*ret = (struct otf2_scan){ .records = 0 };
	return file_walk(path, chunk_bytes, &w, err);
}

bool otf2_scan_calls(const char *path, uint64_t chunk_bytes)
{
	struct otf2_scan scan = { .records = 0 };
	struct walk w = { .scan = &scan, .events = true, .to_call = true };
	struct err err = ERR_INIT;

	return file_walk(path, chunk_bytes, &w, &err) == 0 && w.call;
}

uint64_t otf2_scan_first_ticks(const char *path, uint64_t chunk_bytes)
{
	struct otf2_scan scan = { .records = 0 };
	struct walk w = { .scan = &scan, .events = true, .to_time = true };
	struct err err = ERR_INIT;

	return file_walk(path, chunk_bytes, &w, &err) == 0 ? w.ticks : 0;
}
