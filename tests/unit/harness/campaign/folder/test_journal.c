/* The journal: what is read back, torn ends, damage, full disks. */
#include "journal.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

struct seen {
	struct strbuf text;
	int64_t last_ns;
};

static int on_event(void *ctx, const struct journal_event *e, struct err *err)
{
	struct seen *s = ctx;

	(void)err;
	assert_true(e->t_ns > 0 && e->t_ns >= s->last_ns && e->boot_id[0]);
	s->last_ns = e->t_ns;
	strbuf_addf(&s->text, "%d %s %s %d %s; ", (int)e->seq, e->ev, e->run ? e->run : "-",
		    (int)e->attempt,
		    json_is_string(json_object_get(e->all, "node"))
			    ? json_string_value(json_object_get(e->all, "node"))
			    : "-");
	return 0;
}

/* Opens, reads all, and returns what was read; closes it again unless *ret. */
static int open_all(const char *path, struct seen *s, struct journal **ret,
		    struct journal_said *said, struct err *err)
{
	struct journal *j;
	int r;

	*s = (struct seen){ .text = STRBUF_INIT };
	r = journal_open(path, on_event, s, &j, said, err);
	if (ret)
		*ret = j;
	else
		journal_close(j);
	return r;
}

#define THREE "1 open - 0 -; 2 intend a-1 1 n\n\"4; 3 ended a-1 1 -; "

static void three_write(const char *path)
{
	struct journal *j;
	struct err e = ERR_INIT;

	assert_int_equal(journal_open(path, NULL, NULL, &j, NULL, &e), 0);
	assert_int_equal(journal_append(j, "open", NULL, 0, NULL, &e), 0);
	assert_int_equal(
		journal_append(j, "intend", "a-1", 1, json_pack("{s:s}", "node", "n\n\"4"), &e), 0);
	assert_int_equal(journal_append(j, "ended", "a-1", 1, json_pack("{s:i}", "exit", 0), &e),
			 0);
	assert_int_equal(journal_events(j), 3);
	journal_close(j);
}

TEST_IN(events_come_back, dir)
{
	const char *path = textf("%s/journal.ndjson", dir);
	struct journal_said said;
	struct err e = ERR_INIT;
	struct journal *j;
	struct seen s;

	three_write(path);
	assert_int_equal(open_all(path, &s, &j, &said, &e), 0);
	assert_string_equal(s.text.buf, THREE);
	assert_int_equal(said.events, 3);
	assert_int_equal(said.torn_bytes, 0);
	strbuf_release(&s.text);
	assert_int_equal(journal_append(j, "committed", "a-1", 1, NULL, &e), 0);
	journal_close(j);
	assert_int_equal(open_all(path, &s, NULL, &said, &e), 0);
	assert_string_equal(s.text.buf, THREE "4 committed a-1 1 -; ");
	strbuf_release(&s.text);
}

/* The check sum is that of zlib and gzip. */
TEST(crc)
{
	assert_int_equal(journal_crc("123456789", 9), 0xcbf43926);
	assert_int_equal(journal_crc("", 0), 0);
}

/* Cut at each byte: whole lines stay, the rest is moved away, and the next event follows them. */
TEST_IN(torn_at_every_byte, dir)
{
	const char *path = textf("%s/journal.ndjson", dir), *torn = textf("%s.torn", path);
	char *text;
	size_t n;
	struct err e = ERR_INIT;

	three_write(path);
	assert_int_equal(fs_read(path, 1 << 20, &text, &n, &e), 0);
	for (size_t cut = 0; cut < n; cut++) {
		size_t lines = 0, whole = 0, got;
		struct journal_said said;
		struct journal *j;
		char *moved;
		struct seen s;

		for (size_t i = 0; i < cut; i++)
			if (text[i] == '\n') {
				lines++;
				whole = i + 1;
			}
		remove(torn);
		assert_int_equal(fs_write_atomic(path, text, cut, &e), 0);
		assert_int_equal(open_all(path, &s, &j, &said, &e), 0);
		assert_int_equal(said.events, lines);
		assert_int_equal(said.torn_bytes, cut - whole);
		assert_int_equal(fs_size(path), whole);
		if (cut > whole) {
			assert_int_equal(fs_read(torn, 1 << 20, &moved, &got, &e), 0);
			assert_int_equal(got, cut - whole);
			assert_memory_equal(moved, text + whole, got);
			free(moved);
		}
		assert_int_equal(journal_append(j, "open", NULL, 0, NULL, &e), 0);
		assert_int_equal(journal_events(j), lines + 1);
		journal_close(j);
		strbuf_release(&s.text);
		assert_int_equal(open_all(path, &s, NULL, &said, &e), 0);
		assert_int_equal(said.events, lines + 1);
		assert_int_equal(said.torn_bytes, 0);
		strbuf_release(&s.text);
	}
	free(text);
}

/* A changed byte in the middle: an error with its line, and the file stays as it is. */
TEST_IN(damage_in_the_middle, dir)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/journal.ndjson", dir);
	char *text;
	size_t n;
	struct err e = ERR_INIT;

	three_write(path);
	assert_int_equal(fs_read(path, 1 << 20, &text, &n, &e), 0);
	for (size_t i = 0; i < n; i++) {
		char keep = text[i];
		size_t line = 1;
		bool last;
		struct journal_said said;
		struct seen s;
		int r;

		if (keep == '\n')
			continue;
		for (size_t k = 0; k < i; k++)
			line += text[k] == '\n';
		last = line == 3;
		text[i] = (char)(keep ^ 1);
		assert_int_equal(fs_write_atomic(path, text, n, &e), 0);
		r = open_all(path, &s, NULL, &said, &e);
		if (r != (last ? 0 : -EBADMSG))
			ROW_FAIL(i, "%d", r);
		if (!last)
			assert_non_null(strstr(e.msg, textf("journal.ndjson:%zu: damaged", line)));
		assert_int_equal(fs_size(path) == (int64_t)n, !last);
		strbuf_release(&s.text);
		text[i] = keep;
	}
	free(text);
}

/* A whole line that is missing, or there twice. */
TEST_IN(numbers_follow_each_other, dir)
{
	const char *path = textf("%s/journal.ndjson", dir);
	CLEANUP(strbuf_release) struct strbuf two = STRBUF_INIT;
	struct err e = ERR_INIT;
	char *text, *second, *third;
	struct seen s;

	three_write(path);
	assert_int_equal(fs_read(path, 1 << 20, &text, NULL, &e), 0);
	second = strchr(text, '\n') + 1;
	third = strchr(second, '\n') + 1;
	strbuf_add(&two, text, (size_t)(second - text));
	strbuf_addstr(&two, third);
	strbuf_addstr(&two, third);
	assert_int_equal(fs_write_atomic(path, two.buf, two.len, &e), 0);
	assert_int_equal(open_all(path, &s, NULL, NULL, &e), -EBADMSG);
	assert_non_null(strstr(e.msg, ":2: damaged: its number is not the next one"));
	strbuf_release(&s.text);
	free(text);
}

/* A disk without room: the event is an error, and the file as before. */
TEST_IN(no_room, dir)
{
	const char *path = textf("%s/journal.ndjson", dir);
	struct rlimit before, tight;
	struct err e = ERR_INIT;
	struct journal *j;
	struct seen s;
	int64_t size;

	three_write(path);
	size = fs_size(path);
	assert_int_equal(journal_open(path, NULL, NULL, &j, NULL, &e), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (int more = 0; more < 100; more += 33) {
		tight = before;
		tight.rlim_cur = (rlim_t)(size + more);
		setrlimit(RLIMIT_FSIZE, &tight);
		assert_true(journal_append(j, "ended", "a-1", 1, NULL, &e) < 0);
		setrlimit(RLIMIT_FSIZE, &before);
		assert_int_equal(fs_size(path), size);
	}
	assert_int_equal(journal_append(j, "ended", "a-2", 1, NULL, &e), 0);
	journal_close(j);
	assert_int_equal(open_all(path, &s, NULL, NULL, &e), 0);
	assert_string_equal(s.text.buf, THREE "4 ended a-2 1 -; ");
	strbuf_release(&s.text);
	signal(SIGXFSZ, SIG_DFL);
}

TEST_IN(what_is_no_journal, dir)
{
	const char *link_path = textf("%s/link", dir);
	struct err e = ERR_INIT;
	struct journal *j;

	assert_int_equal(journal_open(dir, NULL, NULL, &j, NULL, &e), -EISDIR);
	assert_null(j);
	assert_int_equal(symlink("/etc/passwd", link_path), 0);
	assert_int_equal(journal_open(link_path, NULL, NULL, &j, NULL, &e), -ELOOP);
}

/* ---- followed by others ---- */

/* At each length of the file: whole lines, once, and no change. */
TEST_IN(followed_at_every_byte, dir)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/journal.ndjson", dir), *text = NULL;
	struct seen s = { .text = STRBUF_INIT };
	struct journal_place place = { 0 };
	struct err e = ERR_INIT;
	size_t n, lines = 0;

	three_write(path);
	assert_int_equal(fs_read(path, 1 << 20, &text, &n, &e), 0);
	for (size_t cut = 0; cut <= n; cut++) {
		lines += cut > 0 && text[cut - 1] == '\n';
		assert_int_equal(fs_write_atomic(path, text, cut, &e), 0);
		assert_int_equal(journal_follow(path, &place, on_event, &s, &e), 0);
		assert_int_equal(place.events, lines);
		assert_true(place.bytes <= (int64_t)cut);
		assert_int_equal(fs_size(path), cut);
	}
	assert_string_equal(s.text.buf, THREE);
	assert_int_equal(place.bytes, n);
	assert_false(fs_exists(textf("%s.torn", path)));
	strbuf_release(&s.text);
	/* shorter than it was, gone, no file */
	assert_int_equal(fs_write_atomic(path, text, 10, &e), 0);
	assert_int_equal(journal_follow(path, &place, NULL, NULL, &e), -ESTALE);
	assert_int_equal(remove(path), 0);
	assert_int_equal(journal_follow(path, &place, NULL, NULL, &e), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(journal_follow(path, &place, NULL, NULL, &e), -EINVAL);
}

static int on_third(void *ctx, const struct journal_event *e, struct err *err)
{
	int64_t *ends = ctx;

	ends[e->seq - 1] = e->end;
	return e->seq == 3 ? err_set(err, EIO, "enough") : 0;
}

TEST_IN(a_follower_may_stop, dir)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/journal.ndjson", dir), *text = NULL;
	struct journal_place place = { 0 };
	struct err e = ERR_INIT;
	int64_t ends[3] = { 0 };

	three_write(path);
	text = test_get(dir, "journal.ndjson");
	assert_int_equal(journal_follow(path, &place, on_third, ends, &e), -EIO);
	assert_int_equal(place.events, 2);
	assert_int_equal(place.bytes, ends[1]);
	assert_int_equal(text[ends[0] - 1], '\n');
	assert_int_equal(ends[2], strlen(text));
	/* damage behind the place */
	text[ends[0] + 5] ^= 1;
	test_put(dir, "journal.ndjson", text);
	place = (struct journal_place){ 0 };
	assert_int_equal(journal_follow(path, &place, NULL, NULL, &e), -EBADMSG);
	assert_non_null(strstr(e.msg, "journal.ndjson:2: damaged: its crc is wrong"));
	assert_int_equal(place.events, 1);
}

/* More than is read at a time, and a line that is too long for one. */
TEST_IN(a_long_journal_is_followed, dir)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/journal.ndjson", dir), *big = NULL;
	struct journal_place place = { 0 };
	struct err e = ERR_INIT;
	struct journal *j;
	FILE *f;

	assert_int_equal(journal_open(path, NULL, NULL, &j, NULL, &e), 0);
	big = xmalloc(900001);
	memset(big, 'x', 900000);
	big[900000] = 0;
	for (int i = 0; i < 12; i++)
		assert_int_equal(
			journal_append(j, "stop", NULL, 0, json_pack("{s:s}", "why", big), &e), 0);
	journal_close(j);
	assert_int_equal(journal_follow(path, &place, NULL, NULL, &e), 0);
	assert_int_equal(place.events, 12);
	assert_int_equal(place.bytes, fs_size(path));
	f = fopen(path, "ae");
	for (int i = 0; i < 8; i++)
		fputs(big, f);
	fclose(f);
	assert_int_equal(journal_follow(path, &place, NULL, NULL, &e), -EBADMSG);
	assert_non_null(strstr(e.msg, ":13: damaged: too long"));
}

TEST_IN(a_reader_follows_no_link_and_waits_for_nothing, dir)
{
	const char *path = textf("%s/journal.ndjson", dir), *away = textf("%s/away", dir);
	struct err e = ERR_INIT;

	three_write(away);
	assert_int_equal(journal_look(path, NULL, NULL, NULL, &e), -ENOENT);
	assert_int_equal(symlink("away", path), 0);
	assert_int_equal(journal_look(path, NULL, NULL, NULL, &e), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_int_equal(journal_look(path, NULL, NULL, NULL, &e), -EINVAL);
	assert_has(e.msg, "no regular file");
}

TEST_IN(events_that_belong_together, dir)
{
	const char *path = textf("%s/journal.ndjson", dir);
	struct err e = ERR_INIT;
	struct journal *j;
	struct seen s;

	three_write(path);
	assert_int_equal(journal_open(path, NULL, NULL, &j, NULL, &e), 0);
	assert_int_equal(journal_bytes(j), fs_size(path));
	assert_int_equal(journal_append_more(j, "ended", "a-2", 1, NULL, &e), 0);
	assert_int_equal(journal_append(j, "committed", "a-2", 1, NULL, &e), 0);
	assert_int_equal(journal_events(j), 5);
	assert_int_equal(journal_bytes(j), fs_size(path));
	journal_close(j);
	assert_int_equal(open_all(path, &s, NULL, NULL, &e), 0);
	assert_string_equal(s.text.buf, THREE "4 ended a-2 1 -; 5 committed a-2 1 -; ");
	strbuf_release(&s.text);
}

TEST(times)
{
	static const struct {
		const char *utc;
		int64_t ns;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T00:00:01.5Z", 1500000000 },
		{ "2001-09-09T01:46:40.000000001Z", 1000000000000000001 },
		{ "2001-09-09T01:46:40.0000000019Z", 1000000000000000001 },
		{ "9999-01-01T00:00:00Z", 0 },
		{ "0000-01-01T00:00:00Z", 0 },
		{ "yesterday", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (journal_time_ns(rows[i].utc) != rows[i].ns)
			ROW_FAIL(i, "%lld", (long long)journal_time_ns(rows[i].utc));
	assert_int_equal(journal_time_ns(NULL), 0);
}
