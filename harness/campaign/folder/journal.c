#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define CRC_KEY ",\"crc\":\""
#define CRC_TAIL (sizeof(CRC_KEY) - 1 + 8 + 2) /* up to "\"}" */

struct journal {
	char *path, *boot_id;
	int fd;
	uint64_t events;
	off_t size;
	int64_t last_ns;
};

/* A byte at a time, eight bits of the remainder at once (Sarwate, 1988). */
uint32_t journal_crc(const void *data, size_t n)
{
	static uint32_t table[256]; /* equal in whichever thread fills it */
	const unsigned char *p = data;
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t v = i;

		for (int bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? UINT32_C(0xedb88320) : 0);
		table[i] = v;
	}
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ p[i]) & 0xff];
	return ~crc;
}

/* ---- reading ---- */

static bool crc_holds(const char *line, size_t n)
{
	char want[CRC_TAIL + 1];

	if (n <= CRC_TAIL)
		return false;
	snprintf(want, sizeof(want), CRC_KEY "%08" PRIx32 "\"}", journal_crc(line, n - CRC_TAIL));
	return !memcmp(line + n - CRC_TAIL, want, CRC_TAIL);
}

int64_t journal_time_ns(const char *utc)
{
	struct tm tm = { 0 };
	const char *rest = utc ? strptime(utc, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int64_t ns = 0, unit = NS_PER_S / 10, s;

	if (!rest)
		return 0;
	for (rest += *rest == '.'; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
		ns += unit * (*rest - '0');
	/* of year 2262, beyond which there are no ns */
	return __builtin_mul_overflow((int64_t)timegm(&tm), NS_PER_S, &s) ||
			       __builtin_add_overflow(s, ns, &s)
		       ? 0
		       : s;
}

/* Why a line is none; NULL: it is one, and *ret has it. */
static const char *event_read(const char *line, size_t n, uint64_t seq, json_t **ret)
{
	*ret = NULL;
	if (n > JOURNAL_LINE_MAX)
		return "too long";
	if (!crc_holds(line, n))
		return "its crc is wrong";
	*ret = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(*ret) || !json_is_string(json_object_get(*ret, "ev")))
		return "no event";
	if (json_integer_value(json_object_get(*ret, "seq")) != (json_int_t)seq)
		return "its number is not the next one";
	return NULL;
}

static int event_take(json_t *all, int64_t end, journal_seen *seen, void *ctx, struct err *err)
{
	struct journal_event e = {
		.seq = (uint64_t)json_integer_value(json_object_get(all, "seq")),
		.t_ns = journal_time_ns(json_string_value(json_object_get(all, "t"))),
		.boot_id = json_string_value(json_object_get(all, "boot_id")),
		.ev = json_string_value(json_object_get(all, "ev")),
		.run = json_string_value(json_object_get(all, "run")),
		.attempt = json_integer_value(json_object_get(all, "attempt")),
		.end = end,
		.all = all,
	};

	return seen ? seen(ctx, &e, err) : 0;
}

#define PIECE ((size_t)4 << 20) /* at least two lines */

/* The whole lines of a piece; *used: their bytes. last: the file ends with the piece. */
static int piece_take(const char *path, struct journal_place *place, const char *text, size_t n,
		      bool last, size_t *used, journal_seen *seen, void *ctx, struct err *err)
{
	const char *end;

	for (*used = 0; (end = memchr(text + *used, '\n', n - *used));) {
		const char *line = text + *used, *why;
		size_t len = (size_t)(end - line);
		json_t *all = NULL;
		int r;

		why = event_read(line, len, place->events + 1, &all);
		if (why) {
			json_decref(all);
			if (last && line + len + 1 == text + n)
				return 0;
			return err_set(err, EBADMSG, "%s:%" PRIu64 ": damaged: %s", path,
				       place->events + 1, why);
		}
		r = event_take(all, place->bytes + (int64_t)len + 1, seen, ctx, err);
		json_decref(all);
		if (r < 0)
			return r;
		place->bytes += (int64_t)len + 1;
		place->events++;
		*used += len + 1;
	}
	return 0;
}

static ssize_t piece_read(int fd, char *buf, size_t n, int64_t at)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = pread(fd, buf + have, n - have, (off_t)(at + (int64_t)have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

static int pieces_take(int fd, const char *path, int64_t size, struct journal_place *place,
		       journal_seen *seen, void *ctx, struct err *err)
{
	CLEANUP(xfreep) char *buf = NULL;

	while (place->bytes < size) {
		size_t left = (size_t)(size - place->bytes), n = left < PIECE ? left : PIECE, used;
		ssize_t got;
		int r;

		buf = buf ? buf : xmalloc(n);
		got = piece_read(fd, buf, n, place->bytes);
		if (got < 0)
			return err_sys(err, (int)-got, "%s", path);
		r = piece_take(path, place, buf, (size_t)got, (size_t)got < n || n == left, &used,
			       seen, ctx, err);
		if (r < 0)
			return r;
		if (used == 0 && n == PIECE && left > PIECE)
			return err_set(err, EBADMSG, "%s:%" PRIu64 ": damaged: too long", path,
				       place->events + 1);
		if (used == 0)
			break;
	}
	return 0;
}

/* The torn end of the file is kept beside it, then cut off. */
static int torn_move(struct journal *j, size_t n, struct err *err)
{
	CLEANUP(xfreep) char *path = xasprintf("%s.torn", j->path);
	CLEANUP(xfreep) char *text = xmalloc(n);
	ssize_t got = piece_read(j->fd, text, n, j->size);
	int fd = door_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	int r = fd < 0 ? -errno : got < 0 ? (int)got : fs_write_all(fd, text, (size_t)got);

	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return err_sys(err, -r, "%s", path);
	if (ftruncate(j->fd, j->size) < 0 || fdatasync(j->fd) < 0)
		return err_sys(err, errno, "%s", j->path);
	return 0;
}

static int journal_read(struct journal *j, journal_seen *seen, void *ctx, struct journal_said *said,
			struct err *err)
{
	struct journal_place place = { 0 };
	struct stat st;
	int r;

	if (fstat(j->fd, &st) < 0)
		return err_sys(err, errno, "%s", j->path);
	r = pieces_take(j->fd, j->path, st.st_size, &place, seen, ctx, err);
	j->events = said->events = place.events;
	j->size = (off_t)place.bytes;
	if (r < 0 || place.bytes >= st.st_size)
		return r;
	/* at most a piece: what is longer is damage */
	said->torn_bytes = (size_t)(st.st_size - place.bytes);
	return torn_move(j, said->torn_bytes, err);
}

int journal_open(const char *path, journal_seen *seen, void *ctx, struct journal **ret,
		 struct journal_said *said, struct err *err)
{
	struct journal_said ignored;
	struct journal *j = xcalloc(1, sizeof(*j));
	struct stat st;
	int r = 0;

	said = said ? said : &ignored;
	*said = (struct journal_said){ 0 };
	*ret = NULL;
	j->path = xstrdup(path);
	j->boot_id = proc_boot_id();
	j->fd = door_open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (j->fd < 0 || fstat(j->fd, &st) < 0)
		r = err_sys(err, errno, "%s", path);
	else if (!S_ISREG(st.st_mode))
		r = err_set(err, EINVAL, "%s: no regular file", path);
	else
		r = journal_read(j, seen, ctx, said, err);
	if (r < 0)
		journal_close(j);
	else
		*ret = j;
	return r;
}

int journal_follow(const char *path, struct journal_place *place, journal_seen *seen, void *ctx,
		   struct err *err)
{
	CLEANUP(xclosep)
	int fd = door_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: no regular file", path);
	if (st.st_size < place->bytes)
		return err_set(err, ESTALE, "%s: shorter than it was: it is another journal", path);
	return pieces_take(fd, path, st.st_size, place, seen, ctx, err);
}

int journal_look(const char *path, journal_seen *seen, void *ctx, struct journal_said *said,
		 struct err *err)
{
	struct journal_place place = { 0 };
	int r = journal_follow(path, &place, seen, ctx, err);
	int64_t size = fs_size(path);

	if (said)
		*said = (struct journal_said){ place.events, size > place.bytes
								     ? (size_t)(size - place.bytes)
								     : 0 };
	return r;
}

const char *journal_boot(const struct journal *j)
{
	return j->boot_id;
}

int64_t journal_last_ns(const struct journal *j)
{
	return j->last_ns;
}

int64_t journal_bytes(const struct journal *j)
{
	return (int64_t)j->size;
}

uint64_t journal_events(const struct journal *j)
{
	return j->events;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	free(j->boot_id);
	free(j);
}

/* ---- writing ---- */

/* The line of an event, with its end. */
static char *line_make(const struct journal *j, int64_t now, const char *ev, const char *run,
		       int64_t attempt, json_t *fields)
{
	json_int_t seq = (json_int_t)j->events + 1;
	json_t *all = json_pack("{s:I, s:s, s:s, s:s}", "seq", seq, "t", "", "boot_id", j->boot_id,
				"ev", ev);
	char utc[32], t[64];
	char *text, *line;

	clock_utc(now, utc);
	snprintf(t, sizeof(t), "%.19s.%09" PRId64 "Z", utc, now % NS_PER_S);
	json_object_set_new(all, "t", json_string(t));
	if (run)
		json_object_set_new(all, "run", json_string(run));
	if (attempt)
		json_object_set_new(all, "attempt", json_integer(attempt));
	if (fields)
		json_object_update_missing(all, fields);
	json_decref(fields);
	text = json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(all);
	if (!text)
		return NULL;
	text[strlen(text) - 1] = 0; /* the brace */
	line = xasprintf("%s" CRC_KEY "%08" PRIx32 "\"}\n", text, journal_crc(text, strlen(text)));
	free(text);
	return line;
}

/* 0, or why not all of it is on the disk. */
static int line_write(const struct journal *j, const char *line, size_t n, bool sync)
{
	ssize_t got;

	do
		got = write(j->fd, line, n);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)n)
		return got < 0 ? errno : ENOSPC;
	return sync && fdatasync(j->fd) < 0 ? errno : 0;
}

static int event_append(struct journal *j, const char *ev, const char *run, int64_t attempt,
			json_t *fields, bool sync, struct err *err)
{
	int64_t now = clock_realtime_ns();
	CLEANUP(xfreep) char *line = line_make(j, now, ev, run, attempt, fields);
	size_t n = line ? strlen(line) : 0;
	int code;

	if (n == 0 || n > JOURNAL_LINE_MAX + 1)
		return err_set(err, EINVAL, "%s: event '%s' is no line of text", j->path, ev);
	code = line_write(j, line, n, sync);
	if (code) {
		if (ftruncate(j->fd, j->size) < 0)
			return err_sys(err, code, "%s, whose last line is torn", j->path);
		return err_sys(err, code, "%s", j->path);
	}
	j->size += (off_t)n;
	j->events++;
	j->last_ns = now;
	return 0;
}

int journal_append(struct journal *j, const char *ev, const char *run, int64_t attempt,
		   json_t *fields, struct err *err)
{
	return event_append(j, ev, run, attempt, fields, true, err);
}

int journal_append_more(struct journal *j, const char *ev, const char *run, int64_t attempt,
			json_t *fields, struct err *err)
{
	return event_append(j, ev, run, attempt, fields, false, err);
}
